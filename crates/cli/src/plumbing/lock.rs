//! `orchestrate-lock acquire|release <spec-dir>` (`contract/core.md §6.1`).

use camino::Utf8Path;
use orchestrate_host::repository::Repository;
use orchestrate_tower::lock::{LockRefusal, acquire_detached, release_detached};

use super::{FAIL_CLOSED, exclude_our_files, open_world};
use crate::arguments::LockVerb;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::settings;

const VERB: &str = "orchestrate-lock";
const BUSY: u8 = 1;
/// What holds where the configuration does not say: the contract's number of minutes.
const STALE_MINUTES: i64 = 15;

pub(crate) fn run(
    verb: LockVerb,
    directory: &Utf8Path,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let (mut world, spec) = open_world(directory, environment)?;
    match verb {
        LockVerb::Acquire => {
            let stale_minutes = stale_minutes(environment, world.repository(), printer);
            match acquire_detached(&mut world, &spec, stale_minutes) {
                Ok(()) => {
                    exclude_our_files(&world, VERB, printer);
                    Ok(0)
                }
                Err(LockRefusal::Busy(why)) => {
                    printer.talk(&format!("{VERB}: busy: {why}"));
                    Ok(BUSY)
                }
                Err(LockRefusal::Fault(fault)) => Err(Failure::from(fault).with_exit(FAIL_CLOSED)),
            }
        }
        LockVerb::Release => {
            // The contract's release never fails once its arguments are good; what stays is told.
            if let Err(fault) = release_detached(&mut world, &spec) {
                printer.talk(&format!("{VERB}: not released: {fault}"));
            }
            Ok(0)
        }
    }
}

/// Returns after how many minutes a lock counts as stale. A configuration that cannot be used costs nobody the lock.
fn stale_minutes(environment: &Environment, repository: &Repository, printer: &mut Printer) -> i64 {
    match settings::load(environment, repository) {
        Ok((settings, warnings)) => {
            for warning in warnings {
                printer.talk_once(&format!("{VERB}: warning: {warning}"));
            }
            settings.stale_lock_threshold.value.seconds() / 60
        }
        Err(failure) => {
            printer.talk(&format!(
                "{VERB}: warning: {}; a lock counts as stale after {STALE_MINUTES} min",
                failure.message
            ));
            STALE_MINUTES
        }
    }
}
