//! Units that share a task with the one to be dispatched: `1-2` beside `1`.
//!
//! Each has a branch, a worktree and records of its own, but a task has one worker (law L3). What an earlier one left
//! behind is looked at before the dispatch, and its claim goes with it, so that no late runner of it can start.

use std::collections::{BTreeMap, BTreeSet};

use orchestrate_core::derive::TaskState;
use orchestrate_core::evidence::{BranchFacts, BranchSide, Evidence, Lease, UnitRecords};
use orchestrate_core::identifier::{CommitId, Unit, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::{MarkerHome, Place};
use orchestrate_core::plan::{HaltReason, HoldReason, NoDispatch};
use orchestrate_core::record::dispatch::DispatchRecord;
use orchestrate_core::record::launch::LaunchRecord;
use orchestrate_core::record::marker;
use orchestrate_core::time::Timestamp;
use orchestrate_core::world::{Branches, Fault, Reading, RegisteredWorktree, WorktreeFacts, World};

use crate::fitness::Situation;
use crate::gather;

/// A unit that shares a task with another one, as it was seen under the lock.
#[derive(Debug, Clone)]
pub(crate) struct Neighbour {
    name: UnitName,
    /// Its record, where there is one. One that cannot be read holds its tasks, so here is none of those.
    record: Option<DispatchRecord>,
    launch: Option<Observed<LaunchRecord>>,
    tip: Option<CommitId>,
}

/// Returns the units of the evidence that share a task with this one.
fn overlapping<'a>(evidence: &'a Evidence, unit: &'a Unit) -> BTreeSet<&'a Unit> {
    let mut found: BTreeSet<&Unit> = BTreeSet::new();
    if let Observed::Known(leases) = &evidence.leases {
        found.extend(leases.keys());
    }
    if let Observed::Known(records) = &evidence.records {
        found.extend(records.keys());
    }
    if let Observed::Known(branches) = &evidence.branches {
        found.extend(branches.units());
    }
    found.retain(|other| other.overlaps(unit));
    found
}

/// Returns what the evidence says of the units that share a task with this one.
pub(crate) fn seen(evidence: &Evidence, name: &UnitName) -> Vec<Neighbour> {
    let as_seen = |unit: &Unit| {
        let records = match &evidence.records {
            Observed::Known(records) => records.get(unit),
            Observed::Absent(_) | Observed::Unknown(_) => None,
        };
        let record = records.and_then(|records| match &records.dispatch {
            Observed::Known(record) => Some(record.clone()),
            Observed::Absent(_) | Observed::Unknown(_) => None,
        });
        let branches = match &evidence.branches {
            Observed::Known(branches) => Some(branches),
            Observed::Absent(_) | Observed::Unknown(_) => None,
        };
        Neighbour {
            name: UnitName {
                spec: name.spec.clone(),
                unit: unit.clone(),
            },
            record,
            launch: records.map(|records| records.launch.clone()),
            tip: branches.and_then(|branches| local_tip(branches, unit)),
        }
    };
    overlapping(evidence, &name.unit).into_iter().map(as_seen).collect()
}

fn local_tip(branches: &Branches, unit: &Unit) -> Option<CommitId> {
    let all = branches.by_unit.get(unit).map(Vec::as_slice).unwrap_or_default();
    let is_local = |facts: &&BranchFacts| facts.side == BranchSide::Local;
    all.iter().find(is_local).map(|facts| facts.tip.clone())
}

/// Holds a unit whose tasks an earlier one may not be done with: somebody is in its worktree, work in it was never
/// committed, or its record still holds another task.
pub(crate) fn stand_aside(world: &dyn World, situation: &Situation<'_>, name: &UnitName) -> Result<(), NoDispatch> {
    for unit in overlapping(situation.evidence, &name.unit) {
        let neighbour = UnitName {
            spec: name.spec.clone(),
            unit: unit.clone(),
        };
        match world.worktree(&neighbour) {
            Observed::Known(WorktreeFacts::Ours(worktree)) => nobody_inside(world, &neighbour, &worktree)?,
            Observed::Known(
                WorktreeFacts::Free
                | WorktreeFacts::BranchElsewhere { .. }
                | WorktreeFacts::Strayed { .. }
                | WorktreeFacts::Taken { .. },
            ) => {}
            Observed::Absent(why) | Observed::Unknown(why) => {
                return Err(NoDispatch::unread(format!("the worktree of {unit}"), why));
            }
        }
        holds_nothing_else(situation, name, unit)?;
    }
    Ok(())
}

fn nobody_inside(world: &dyn World, name: &UnitName, worktree: &RegisteredWorktree) -> Result<(), NoDispatch> {
    let path = worktree.place().to_owned();
    match world.occupants(name) {
        Observed::Known(processes) if !processes.is_empty() => {
            return Err(NoDispatch::Hold(HoldReason::WorktreeOccupied { path, processes }));
        }
        Observed::Known(_) | Observed::Absent(_) => {}
        Observed::Unknown(why) => return Err(NoDispatch::unread(format!("who works in {path}"), why)),
    }
    if !worktree.complete {
        return Ok(());
    }
    match &worktree.changes {
        Observed::Known(changes) if !changes.is_empty() => {
            let changes = changes.clone();
            Err(NoDispatch::Halt(vec![HaltReason::UncommittedWork { path, changes }]))
        }
        Observed::Known(_) | Observed::Absent(_) => Ok(()),
        Observed::Unknown(why) => Err(NoDispatch::unread(format!("whether {path} is clean"), why.clone())),
    }
}

/// The record of an earlier pair may hold the task that is not dispatched now: its worker was started, and no person
/// has cleared that task. The record must not go then.
fn holds_nothing_else(situation: &Situation<'_>, name: &UnitName, neighbour: &Unit) -> Result<(), NoDispatch> {
    let Situation { evidence, state, .. } = situation;
    let Observed::Known(records) = &evidence.records else {
        return Ok(());
    };
    let Some(UnitRecords {
        dispatch: Observed::Known(record),
        launch: Observed::Known(launch),
        ..
    }) = records.get(neighbour)
    else {
        return Ok(());
    };
    let others = neighbour.tasks().filter(|task| !name.unit.contains(task));
    for task in others.filter(|_| record.was_launched(launch)) {
        let is_marked = match &evidence.markers {
            Observed::Known(markers) => markers
                .get(task)
                .is_some_and(|found| found.iter().any(|marker| speaks_for(marker, record))),
            Observed::Absent(_) | Observed::Unknown(_) => false,
        };
        let is_open = state
            .tasks
            .get(task)
            .is_some_and(|report| !matches!(report.state, TaskState::Landed { .. }));
        if is_marked && is_open {
            return Err(NoDispatch::Hold(HoldReason::EarlierUnit {
                spec: name.spec.to_string(),
                unit: neighbour.clone(),
                task: task.clone(),
            }));
        }
    }
    Ok(())
}

fn speaks_for(marker: &Observed<Timestamp>, record: &DispatchRecord) -> bool {
    match marker {
        Observed::Known(at) => *at <= record.dispatched,
        Observed::Absent(_) | Observed::Unknown(_) => false,
    }
}

/// Removes the void claims of the neighbours: from then on no late runner of theirs is admitted.
///
/// Markers go before the record that speaks for them; a newer one is somebody else's and stays.
///
/// # Errors
/// When something cannot be removed.
pub(crate) fn forget(world: &mut dyn World, neighbours: &[Neighbour]) -> Result<(), Fault> {
    for neighbour in neighbours {
        let Some(record) = &neighbour.record else { continue };
        let name = &neighbour.name;
        for home in MarkerHome::ALL {
            for task in name.unit.tasks() {
                let place = Place::Marker(name.spec.clone(), task.clone(), home);
                if is_spoken_for(world, &place, record)? {
                    world.remove(&place)?;
                }
            }
        }
        world.remove(&Place::DispatchRecord(name.clone()))?;
    }
    Ok(())
}

/// # Errors
/// When the marker cannot be read: without the record nothing would speak for it any more.
fn is_spoken_for(world: &dyn World, place: &Place, record: &DispatchRecord) -> Result<bool, Fault> {
    match world.read(place) {
        Reading::File { bytes, .. } => Ok(marker::parse(&bytes).is_ok_and(|at| at <= record.dispatched)),
        Reading::Unreadable(cause) => Err(Fault::new(format!("cannot read {place}"), cause)),
        Reading::Absent | Reading::Directory { .. } | Reading::Symlink | Reading::Special => Ok(false),
    }
}

/// Looks once more, after their claims are gone, whether one of them has started since it was seen.
///
/// # Errors
/// What has moved, or could not be read.
pub(crate) fn stayed(
    world: &dyn World,
    neighbours: &[Neighbour],
    leases: &Observed<BTreeMap<Unit, Observed<Lease>>>,
    branches: &Branches,
) -> Result<(), NoDispatch> {
    let unread = |why: Why| NoDispatch::unread("whether a worker has started", why);
    for neighbour in neighbours {
        let unit = &neighbour.name.unit;
        let started = || NoDispatch::moved(format!("a worker of the earlier unit {unit} has started"));
        if let Observed::Known(leases) = leases {
            match leases.get(unit) {
                Some(Observed::Known(Lease::Held { .. })) => return Err(started()),
                Some(Observed::Unknown(why)) => return Err(unread(why.clone())),
                Some(Observed::Known(Lease::Free) | Observed::Absent(_)) | None => {}
            }
        }
        if let Some(before) = &neighbour.launch {
            match (gather::launch_record(world, &neighbour.name), before) {
                (Observed::Unknown(why), _) => return Err(unread(why)),
                (Observed::Known(now), Observed::Known(before)) if now == *before => {}
                (Observed::Absent(_), Observed::Absent(_)) => {}
                (Observed::Known(_) | Observed::Absent(_), _) => return Err(started()),
            }
        }
        if local_tip(branches, unit) != neighbour.tip {
            return Err(NoDispatch::moved(format!(
                "the branch of the earlier unit {unit} has moved"
            )));
        }
    }
    Ok(())
}
