//! `run-worker <spec> <ids>`: what every backend starts, and what a printed command is.
//!
//! Standard output belongs to the runner's answer to the tower; remarks go to standard error.

use orchestrate_core::identifier::{Nonce, SpecId, Unit, UnitName};
use orchestrate_host::{files, repository};
use orchestrate_tower::launch::settings_file;
use orchestrate_workers::runner::{ClientEnd, RunOutcome, RunRequest, refuse, run_worker};
use orchestrate_workers::worker_settings;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;

/// Nothing was started: somebody else works on the unit, or the attempt is over.
const REFUSED: u8 = 4;

pub(crate) fn run(
    spec: &str,
    unit: &str,
    attempt: Option<&str>,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let usage = |error: orchestrate_core::identifier::InvalidName| Failure::usage(format!("run-worker: {error}"));
    let name = UnitName {
        spec: SpecId::parse(spec).map_err(usage)?,
        unit: Unit::parse(unit).map_err(usage)?,
    };
    let attempt = attempt.map(Nonce::parse).transpose().map_err(usage)?;
    let prepared = repository::discover(&environment.directory).and_then(|repository| {
        let layout = repository.layout;
        files::write_state(&layout, &settings_file(&layout), worker_settings().as_bytes())
    });
    prepared.inspect_err(refuse)?;
    let request = RunRequest {
        directory: environment.directory.clone(),
        name,
        attempt,
    };
    match run_worker(&request)? {
        RunOutcome::Refused(why) => {
            printer.talk(&format!("run-worker: not started: {why}"));
            if let Some(hint) = why.hint {
                printer.talk(&format!("hint: {hint}"));
            }
            Ok(REFUSED)
        }
        RunOutcome::NotStarted(why) => Err(Failure::failed(format!("the worker could not be started: {why}"))),
        RunOutcome::Ended(end) => {
            printer.talk(&format!("run-worker: the worker ended: {end}"));
            Ok(match end {
                ClientEnd::Exit(code) => u8::try_from(code).unwrap_or(1),
                ClientEnd::Signal(_) | ClientEnd::Unseen => 1,
            })
        }
    }
}
