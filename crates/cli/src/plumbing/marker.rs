//! `orchestrate-marker write|clear <spec-dir> <id>…` (`contract/core.md §6.2`).

use camino::Utf8Path;
use orchestrate_core::evidence::Lease;
use orchestrate_core::identifier::{SpecId, TaskId, Unit};
use orchestrate_core::observed::Observed;
use orchestrate_core::place::{MarkerHome, Place};
use orchestrate_core::record::marker;
use orchestrate_core::world::{Fault, Reading, World};
use orchestrate_tower::claims::{clear, markers};
use orchestrate_tower::lock::{self, LockRefusal};

use super::{FAIL_CLOSED, open};
use crate::arguments::MarkerVerb;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;

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
        .map(|task| {
            TaskId::parse(task).map_err(|error| refuse(Failure::failed(format!("orchestrate-marker: {error}"))))
        })
        .collect::<Result<_, _>>()?;
    let (mut session, spec) = open(directory, environment, printer)?;
    let result = match verb {
        MarkerVerb::Write => write(&mut session.world, &spec, &tasks),
        MarkerVerb::Clear => {
            let stale_minutes = session.settings.stale_lock_threshold.value.seconds() / 60;
            let cleared = lock::with(&mut session.world, &spec, stale_minutes, |world, _| {
                clear(world, &spec, &tasks)
            });
            match cleared {
                Ok(released) => released.value,
                Err(LockRefusal::Fault(fault)) => Err(fault),
                Err(LockRefusal::Busy(why)) => Err(Fault::new("cannot clear while a tower is at work", why.reason)
                    .with_hint("clear again in a moment")),
            }
        }
    };
    for worker in living_workers(&session.world, &spec, &tasks) {
        printer.talk(&format!(
            "orchestrate-marker: note: {worker}; the unit stays with it until it ends"
        ));
    }
    result.map(|()| 0).map_err(|fault| refuse(fault.into()))
}

/// Writes all or, when anything but a file stands at one of the places, none.
fn write(world: &mut dyn World, spec: &SpecId, tasks: &[TaskId]) -> Result<(), Fault> {
    for place in markers(spec, tasks) {
        match world.read(&place) {
            Reading::Absent | Reading::File { .. } => {}
            Reading::Directory { .. } | Reading::Symlink | Reading::Special | Reading::Unreadable(_) => {
                return Err(Fault::new(
                    format!("cannot write {place}"),
                    "something that is no marker stands there",
                )
                .with_hint("look at it and move it away; no marker was written"));
            }
        }
    }
    for home in MarkerHome::ALL {
        world.create_directory(&Place::MarkerDirectory(spec.clone(), home))?;
    }
    let bytes = marker::render(world.now());
    markers(spec, tasks)
        .iter()
        .try_for_each(|place| world.write(place, &bytes))
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
