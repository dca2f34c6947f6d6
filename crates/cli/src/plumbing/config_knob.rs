//! `resolve-config-knob --key K --type enum|posint [--values '…'] --fallback F` (`contract/core.md §12.3`).

use orchestrate_config::knob::{KnobError, KnobKind, KnobRequest};

use super::config_get::{load, tell};
use crate::arguments::KnobType;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;

const VERB: &str = "resolve-config-knob";

pub(crate) fn run(
    key: &str,
    kind: KnobType,
    values: Option<&str>,
    fallback: &str,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let failed = |error: KnobError| Failure::failed(format!("{VERB}: {error}")).with_exit(error.exit_class());
    let kind = match (kind, values) {
        (KnobType::Enum, words) => {
            let words = words.unwrap_or_default().split_ascii_whitespace();
            KnobKind::Enum(words.map(str::to_owned).collect())
        }
        (KnobType::Posint, None) => KnobKind::PositiveInteger,
        (KnobType::Posint, Some(_)) => {
            let message = "--values goes with --type enum only".to_owned();
            return Err(failed(KnobError::Request(message)));
        }
    };
    let request = KnobRequest::new(key, kind, fallback).map_err(failed)?;
    let configuration = load(VERB, environment, printer)?;
    let (value, warnings) = configuration.knob(&request).map_err(failed)?;
    tell(VERB, &warnings, printer);
    printer.record(&[&value]);
    Ok(0)
}
