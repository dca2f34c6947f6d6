//! `orchestrate-select [--critical-path] <spec-dir>` (`contract/core.md §5.1`).

use camino::Utf8Path;
use orchestrate_core::select::select;
use orchestrate_tower::preflight::read_bundle;
use orchestrate_tower::step::survey;

use super::{FAIL_CLOSED, open, state};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;

const NONE_READY: u8 = 1;
const EVIDENCE_HOLD: u8 = 3;

pub(crate) fn run(
    critical_path: bool,
    directory: &Utf8Path,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let (session, spec) = open(directory, environment, printer)?;
    let refuse = |failure: Failure| failure.with_exit(FAIL_CLOSED);
    let (bundle, _) = read_bundle(&session.world, &spec).map_err(|reasons| refuse(reasons.into()))?;
    if critical_path {
        for task in bundle.graph().critical_path() {
            printer.record(&[task.as_str()]);
        }
        return Ok(0);
    }
    let survey = survey(&session.world, &session.request(spec, true), &bundle).map_err(|fault| refuse(fault.into()))?;
    if let Some(why) = state::first_unknown(&survey) {
        printer.talk(&format!(
            "orchestrate-select: transient evidence failure - {why}; dispatching nothing (REQ-B1.5)"
        ));
        return Ok(EVIDENCE_HOLD);
    }
    match select(&survey.graph, &survey.state) {
        Some(choice) => {
            printer.record(&[choice.task.as_str()]);
            Ok(0)
        }
        None => Ok(NONE_READY),
    }
}
