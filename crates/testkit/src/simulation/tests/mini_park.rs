//! How a wrong tower parks tasks.

use orchestrate_core::derive::{ProgressKind, TaskState, derive};
use orchestrate_core::evidence::Lease;
use orchestrate_core::graph::{ParkingPlace, TaskGraph};
use orchestrate_core::identifier::{SpecId, TaskId, Unit};
use orchestrate_core::observed::Observed;
use orchestrate_core::place::{BundleFile, MarkerHome, Place};
use orchestrate_core::world::{Reading, World};
use orchestrate_spec::park::park;

use super::mini_gather::gather;
use super::mini_lock::{lock, unlock};
use super::mini_tower::{Flaw, Stop, stop};

/// Parks what the flaw makes the tower park; every other tower parks nothing.
pub(super) fn sweep(world: &mut dyn World, spec: &SpecId, graph: &TaskGraph, flaw: Flaw) -> Result<(), Stop> {
    let parks = matches!(
        flaw,
        Flaw::ParksTheLiving
            | Flaw::ParksTheUnread
            | Flaw::ParksTwice
            | Flaw::ParksAndDispatches
            | Flaw::DispatchesTheParked
    );
    if !parks || chosen(world, spec, graph, flaw)?.is_none() {
        return Ok(());
    }
    let nonce = lock(world, spec, flaw)?;
    let written = write(world, spec, graph, flaw);
    unlock(world, spec, &nonce, flaw);
    if written? && flaw != Flaw::ParksAndDispatches {
        return stop("a task was parked");
    }
    Ok(())
}

fn write(world: &mut dyn World, spec: &SpecId, graph: &TaskGraph, flaw: Flaw) -> Result<bool, Stop> {
    let Some(task) = chosen(world, spec, graph, flaw)? else {
        return Ok(false);
    };
    let place = Place::BundleFile(spec.clone(), BundleFile::Tasks);
    let Reading::File { bytes, .. } = world.read(&place) else {
        return stop("tasks.md cannot be read");
    };
    let edited = match park(&bytes, &task, ParkingPlace::AwaitingInput, "gone") {
        Ok(edited) => edited,
        Err(_) if flaw == Flaw::ParksTwice => {
            let bullet = format!("- **Task {task}** — gone\n");
            String::from_utf8_lossy(&bytes)
                .replacen(&bullet, &format!("{bullet}{bullet}"), 1)
                .into_bytes()
        }
        Err(_) => return Ok(false),
    };
    world.write(&place, &edited)?;
    if flaw == Flaw::DispatchesTheParked {
        // As if the bullet said nothing: the next step finds the task free.
        for home in MarkerHome::ALL {
            world.remove(&Place::Marker(spec.clone(), task.clone(), home))?;
        }
    }
    Ok(true)
}

/// Returns the first task that the flaw makes the tower park.
fn chosen(world: &dyn World, spec: &SpecId, graph: &TaskGraph, flaw: Flaw) -> Result<Option<TaskId>, Stop> {
    let evidence = gather(world, spec, flaw)?;
    let state = derive(graph, &evidence);
    let lease = |task: &TaskId| match &evidence.leases {
        Observed::Known(leases) => leases.get(&Unit::single(task.clone())).cloned(),
        Observed::Absent(_) | Observed::Unknown(_) => None,
    };
    let has_ended = |task: &TaskId| {
        state.tasks.get(task).is_some_and(
            |report| matches!(&report.state, TaskState::InProgress(progress) if progress.kind == ProgressKind::Ended),
        )
    };
    let is_wrong = |task: &&TaskId| {
        if flaw == Flaw::ParksTheLiving {
            matches!(lease(task), Some(Observed::Known(Lease::Held { .. })))
        } else if flaw == Flaw::ParksTheUnread {
            matches!(lease(task), Some(Observed::Unknown(_)))
        } else {
            has_ended(task)
        }
    };
    Ok(graph.tasks.iter().map(|task| &task.id).find(is_wrong).cloned())
}
