//! `orchestrate-marker write|clear <spec-dir> <id>…` (`contract/core.md §6.2`).

use camino::Utf8Path;
use orchestrate_core::evidence::Lease;
use orchestrate_core::identifier::{SpecId, TaskId, Unit};
use orchestrate_core::observed::Observed;
use orchestrate_core::world::{Fault, World};
use orchestrate_tower::claims;
use orchestrate_tower::lock::{self, LockRefusal};

use super::{FAIL_CLOSED, exclude_our_files, open_world};
use crate::arguments::MarkerVerb;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;

const VERB: &str = "orchestrate-marker";

pub(crate) fn run(
    verb: MarkerVerb,
    directory: &Utf8Path,
    tasks: &[String],
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let refuse = |failure: Failure| failure.with_exit(FAIL_CLOSED);
    let tasks: Vec<TaskId> = tasks
        .iter()
        .map(|task| TaskId::parse(task).map_err(|error| refuse(Failure::failed(format!("{VERB}: {error}")))))
        .collect::<Result<_, _>>()?;
    let (mut world, spec) = open_world(directory, environment)?;
    let result =
        match verb {
            MarkerVerb::Write => claims::write(&mut world, &spec, &tasks).map(|shared| {
                exclude_our_files(&world, VERB, printer);
                if let Some(fault) = shared {
                    printer.talk(&format!(
                        "{VERB}: warning: linked worktrees do not see the markers: {fault}"
                    ));
                }
            }),
            // A script that holds the lock gives up what it could not dispatch.
            MarkerVerb::Clear => match lock::beside(&mut world, &spec, |world| claims::clear(world, &spec, &tasks)) {
                Ok(cleared) => cleared,
                Err(LockRefusal::Fault(fault)) => Err(fault),
                Err(LockRefusal::Busy(why)) => Err(Fault::new("cannot clear while a tower is at work", why.reason)
                    .with_hint("clear again in a moment")),
            },
        };
    for worker in living_workers(&world, &spec, &tasks) {
        printer.talk(&format!("{VERB}: note: {worker}; the unit stays with it until it ends"));
    }
    result.map(|()| 0).map_err(|fault| refuse(fault.into()))
}

/// Returns the workers that live all the same, in words.
fn living_workers(world: &dyn World, spec: &SpecId, tasks: &[TaskId]) -> Vec<String> {
    let Observed::Known(leases) = world.leases(spec) else {
        return Vec::new();
    };
    let living = |(unit, lease): (Unit, Observed<Lease>)| match lease {
        Observed::Known(Lease::Held { holder, .. }) if unit.tasks().any(|task| tasks.contains(task)) => {
            Some(format!("a worker of task-{unit} lives ({holder})"))
        }
        Observed::Known(_) | Observed::Absent(_) | Observed::Unknown(_) => None,
    };
    leases.into_iter().filter_map(living).collect()
}
