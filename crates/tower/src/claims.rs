//! Claiming units from outside a step, and giving them up: the claims on them go, so that nothing holds them but what is
//! durable elsewhere.
//!
//! A person's act, or a script's: the plumbing's `orchestrate-marker`, and `unpark` of what was reverted.

use std::collections::BTreeSet;

use orchestrate_core::identifier::{CommitId, SpecId, TaskId, Unit, UnitName};
use orchestrate_core::observed::Observed;
use orchestrate_core::orphan::suspects;
use orchestrate_core::place::{MarkerHome, Place};
use orchestrate_core::record::{marker, redo};
use orchestrate_core::world::{Fault, Reading, World};
use orchestrate_spec::Bundle;

use crate::step::{StepRequest, Survey, survey};

/// Returns the places of the tasks' markers, in both homes.
#[must_use]
pub fn markers(spec: &SpecId, tasks: &[TaskId]) -> Vec<Place> {
    let of = |home| {
        tasks
            .iter()
            .map(move |task| Place::Marker(spec.clone(), task.clone(), home))
    };
    MarkerHome::ALL.into_iter().flat_map(of).collect()
}

/// Writes markers of now for the tasks into both homes, or none: where the bundle's own home cannot be written, those that
/// were written before are put back as they were. Returns why the shared home was not written, if it was not: other
/// worktrees then see less, and nobody else does (`contract/later.md §15`).
///
/// # Errors
/// When anything but a file stands at one of the places, or the bundle's home cannot be written.
pub fn write(world: &mut dyn World, spec: &SpecId, tasks: &[TaskId]) -> Result<Option<Fault>, Fault> {
    let mut earlier: Vec<(Place, Option<Vec<u8>>)> = Vec::new();
    for place in markers(spec, tasks) {
        match world.read(&place) {
            Reading::Absent => earlier.push((place, None)),
            Reading::File { bytes, .. } => earlier.push((place, Some(bytes))),
            Reading::Directory { .. } | Reading::Symlink | Reading::Special | Reading::Unreadable(_) => {
                return Err(Fault::new(
                    format!("cannot write {place}"),
                    "something that is no marker stands there",
                )
                .with_hint("look at it and move it away; no marker was written"));
            }
        }
    }
    let bytes = marker::render(world.now());
    let shared = write_home(world, spec, tasks, MarkerHome::Shared, &bytes).err();
    if let Err(fault) = write_home(world, spec, tasks, MarkerHome::Bundle, &bytes) {
        let mut left = None;
        for (place, before) in earlier {
            if let Err(fault) = put_back(world, &place, before.as_deref()) {
                left.get_or_insert(fault);
            }
        }
        return Err(match left {
            None => fault,
            Some(more) => fault.with_hint(format!("some markers are written all the same: {more}")),
        });
    }
    Ok(shared)
}

fn put_back(world: &mut dyn World, place: &Place, before: Option<&[u8]>) -> Result<(), Fault> {
    match (world.read(place), before) {
        (Reading::Absent, None) => Ok(()),
        (Reading::File { bytes, .. }, Some(before)) if bytes == before => Ok(()),
        (_, Some(before)) => world.write(place, before),
        (_, None) => world.remove(place),
    }
}

fn write_home(
    world: &mut dyn World,
    spec: &SpecId,
    tasks: &[TaskId],
    home: MarkerHome,
    bytes: &[u8],
) -> Result<(), Fault> {
    world.create_directory(&Place::MarkerDirectory(spec.clone(), home))?;
    tasks
        .iter()
        .try_for_each(|task| world.write(&Place::Marker(spec.clone(), task.clone(), home), bytes))
}

/// Gives the units up: their markers and our own records go, so that nothing claims them any more. A worker that
/// lives keeps its lease, and with it the unit.
///
/// # Errors
/// The first removal that failed; the others were tried all the same.
pub fn clear(world: &mut dyn World, spec: &SpecId, tasks: &[TaskId]) -> Result<(), Fault> {
    // A unit is given up as a whole: without its record, the marker of its other task would hold that until it is stale.
    let units = units(world, spec, tasks)?;
    let mut given_up: BTreeSet<TaskId> = tasks.iter().cloned().collect();
    given_up.extend(units.iter().flat_map(|name| name.unit.tasks().cloned()));
    let record = |name: UnitName| [Place::LaunchRecord(name.clone()), Place::DispatchRecord(name)];
    let mut places: Vec<Place> = units.into_iter().flat_map(record).collect();
    // The markers go last: until then they hold the unit, whatever happens in between.
    places.extend(markers(spec, &given_up.into_iter().collect::<Vec<_>>()));
    let mut first_fault = None;
    for place in places {
        let removed = match world.read(&place) {
            // Whatever is in it is no claim, and may be somebody's.
            Reading::Directory { .. } => Err(Fault::new(format!("cannot remove {place}"), "it is a directory")
                .with_hint(format!("move it away: {}", world.command_aside(&place)))),
            Reading::Absent | Reading::File { .. } | Reading::Symlink | Reading::Special | Reading::Unreadable(_) => {
                world.remove(&place)
            }
        };
        if let Err(fault) = removed {
            first_fault.get_or_insert(fault);
        }
    }
    first_fault.map_or(Ok(()), Err)
}

/// Gives up the attempt of a task whose worker is known to have ended without leaving anything, and returns whether there
/// was one: what proved that nobody works on it must not park it again.
///
/// # Errors
/// When the evidence cannot be gathered, or a claim cannot be removed.
pub fn clear_ended(
    world: &mut dyn World,
    request: &StepRequest,
    bundle: &Bundle,
    task: &TaskId,
) -> Result<bool, Fault> {
    let Survey {
        mut graph,
        evidence,
        state,
    } = survey(&*world, request, bundle)?;
    graph.parked.remove(task);
    let ended = suspects(&graph, &evidence, &state, i64::MIN)
        .into_iter()
        .filter(|suspect| suspect.unit().contains(task))
        .find_map(|suspect| {
            let occupants = world.occupants(&request.name_of(suspect.unit().clone()));
            suspect.judged(&occupants)
        });
    match ended {
        Some(orphan) => clear(world, &request.spec, &orphan.tasks).map(|()| true),
        None => Ok(false),
    }
}

/// Writes down that a person wants a task done again after these reverts, and gives up what claimed it before.
///
/// The wish comes last: until it is there the task stays held, whatever happens in between.
///
/// # Errors
/// When a claim cannot be removed, or the wish cannot be written.
pub fn want_again(
    world: &mut dyn World,
    spec: &SpecId,
    task: &TaskId,
    reverts: &BTreeSet<CommitId>,
) -> Result<(), Fault> {
    clear(world, spec, std::slice::from_ref(task))?;
    world.create_directory(&Place::RedoDirectory(spec.clone()))?;
    world.write(&Place::Redo(spec.clone(), task.clone()), &redo::render(reverts))
}

/// Returns the units with a record that hold one of the tasks.
fn units(world: &dyn World, spec: &SpecId, tasks: &[TaskId]) -> Result<BTreeSet<UnitName>, Fault> {
    let names = match world.list(&Place::RecordDirectory(spec.clone())) {
        Observed::Known(names) => names,
        Observed::Absent(_) => return Ok(BTreeSet::new()),
        Observed::Unknown(why) => return Err(Fault::new("cannot read the dispatch records", why.reason)),
    };
    let mut units = BTreeSet::new();
    for name in names {
        let stem = name.strip_suffix(".launch.json").or_else(|| name.strip_suffix(".json"));
        let Some(unit) = stem.and_then(|stem| Unit::parse(stem).ok()) else {
            continue;
        };
        if unit.tasks().any(|member| tasks.contains(member)) {
            units.insert(UnitName {
                spec: spec.clone(),
                unit,
            });
        }
    }
    Ok(units)
}
