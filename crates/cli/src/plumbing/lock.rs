//! `orchestrate-lock acquire|release <spec-dir>` (`contract/core.md §6.1`).

use camino::Utf8Path;
use orchestrate_tower::lock::{LockRefusal, acquire_detached, release_detached};

use super::{FAIL_CLOSED, open};
use crate::arguments::LockVerb;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;

const BUSY: u8 = 1;

pub(crate) fn run(
    verb: LockVerb,
    directory: &Utf8Path,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let (mut session, spec) = open(directory, environment, printer)?;
    let stale_minutes = session.settings.stale_lock_threshold.value.seconds() / 60;
    let refuse = |failure: Failure| failure.with_exit(FAIL_CLOSED);
    match verb {
        LockVerb::Acquire => match acquire_detached(&mut session.world, &spec, stale_minutes) {
            Ok(()) => Ok(0),
            Err(LockRefusal::Busy(why)) => {
                printer.talk(&format!("orchestrate-lock: busy: {why}"));
                Ok(BUSY)
            }
            Err(LockRefusal::Fault(fault)) => Err(refuse(fault.into())),
        },
        LockVerb::Release => {
            // The contract's release never fails once its arguments are good; what stays is told.
            if let Err(fault) = release_detached(&mut session.world, &spec) {
                printer.talk(&format!("orchestrate-lock: not released: {fault}"));
            }
            Ok(0)
        }
    }
}
