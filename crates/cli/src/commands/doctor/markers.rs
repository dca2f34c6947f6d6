//! Dispatch markers: those that cannot be read, those that claim nothing any more, those of towers that keep no record.

use orchestrate_core::identifier::{SpecId, TaskId};
use orchestrate_core::observed::Observed;
use orchestrate_core::place::{MarkerHome, Place};
use orchestrate_core::words::count;
use orchestrate_core::world::{Reading, World};
use orchestrate_tower::gather;

use super::finding::{Finding, Looked, Mend, Weight};
use super::surroundings::{Ground, Surroundings};

pub(super) fn look(surroundings: &Surroundings<'_>) -> Looked {
    let Some(ground) = surroundings.ground else {
        return Looked::nothing();
    };
    let (mut number, mut findings) = (0, Vec::new());
    for spec in ground.specs {
        match gather::markers(ground.world, spec) {
            Observed::Known(markers) if markers.is_empty() => {}
            Observed::Known(markers) => {
                let tasks = ground.tasks(spec);
                let recorded = recorded(&ground, spec);
                for (task, found) in markers {
                    number += 1;
                    let is_known = tasks.as_ref().is_none_or(|tasks| tasks.contains(&task));
                    let has_record = recorded.as_ref().is_none_or(|tasks| tasks.contains(&task));
                    let judged = Judged { is_known, has_record };
                    findings.extend(of_marker(&ground, (spec, &task), &found, &judged));
                }
            }
            Observed::Absent(_) => {}
            Observed::Unknown(why) => findings.push(Finding::new(
                Weight::Fault,
                format!("specs/{spec}"),
                format!("its markers cannot be read, so every task is held: {why}"),
                unreadable_directory(&ground, spec),
            )),
        }
    }
    Looked::new(count(number, "marker"), findings)
}

/// What is known of a marker's task.
struct Judged {
    /// The bundle has it, or cannot be read.
    is_known: bool,
    /// We have a record of it, or the records cannot be read.
    has_record: bool,
}

/// Returns the tasks that we have records of; nothing where these cannot be read.
fn recorded(ground: &Ground<'_>, spec: &SpecId) -> Option<Vec<TaskId>> {
    match gather::records(ground.world, spec) {
        Observed::Known(records) => Some(records.keys().flat_map(|unit| unit.tasks().cloned()).collect()),
        Observed::Absent(_) => Some(Vec::new()),
        Observed::Unknown(_) => None,
    }
}

fn of_marker(
    ground: &Ground<'_>,
    (spec, task): (&SpecId, &TaskId),
    found: &[Observed<orchestrate_core::time::Timestamp>],
    judged: &Judged,
) -> Option<Finding> {
    let place = format!("the marker of task {task} of specs/{spec}");
    let clear = format!("orchestrate plumbing orchestrate-marker clear specs/{spec} {task}");
    let stale = ground.settings.stale_marker_threshold.value.seconds();
    let now = ground.now();
    let newest = found.iter().filter_map(|marker| match marker {
        Observed::Known(at) => Some(*at),
        Observed::Absent(_) | Observed::Unknown(_) => None,
    });
    let newest = newest.max();
    let unreadable = found.iter().find_map(|marker| match marker {
        Observed::Unknown(why) => Some(why.reason.clone()),
        Observed::Known(_) | Observed::Absent(_) => None,
    });
    let is_future = newest.is_some_and(|at| now.seconds_since(at) < -stale);
    if let Some(why) = unreadable.or_else(|| is_future.then(|| "it lies in the future".to_owned())) {
        let mend = match directory_of_marker(ground, spec, task) {
            Some(directory) => Mend::provided("if nobody works on it", ground.world.command_aside(&directory)),
            None => Mend::provided("if nobody works on it", clear),
        };
        return Some(Finding::new(
            Weight::Fault,
            place,
            format!("{why}; the task is held"),
            mend,
        ));
    }
    let at = newest?;
    if !judged.is_known {
        let problem = "the bundle has no such task".to_owned();
        return Some(Finding::new(Weight::Note, place, problem, Mend::command(clear)));
    }
    if judged.has_record {
        return None;
    }
    if now.seconds_since(at) > stale {
        let problem = format!("it was written {} and claims nothing any more", at.ago_at(now));
        return Some(Finding::new(Weight::Note, place, problem, Mend::command(clear)));
    }
    let problem = format!(
        "a tower that keeps no record here, such as planwright's, dispatched it {}",
        at.ago_at(now)
    );
    Some(Finding::new(
        Weight::Note,
        place,
        problem,
        Mend::provided("if nobody works on it", clear),
    ))
}

/// Returns where a directory stands in the place of a marker: no command of ours removes it.
fn directory_of_marker(ground: &Ground<'_>, spec: &SpecId, task: &TaskId) -> Option<Place> {
    let mut markers = MarkerHome::ALL
        .into_iter()
        .map(|home| Place::Marker(spec.clone(), task.clone(), home));
    markers.find(|place| matches!(ground.world.read(place), Reading::Directory { .. }))
}

fn unreadable_directory(ground: &Ground<'_>, spec: &SpecId) -> Mend {
    let mut homes = MarkerHome::ALL
        .into_iter()
        .map(|home| Place::MarkerDirectory(spec.clone(), home));
    let in_the_way = homes.find(|place| {
        let metadata = std::fs::symlink_metadata(ground.layout().path(place));
        metadata.is_ok_and(|metadata| !metadata.is_dir())
    });
    match in_the_way {
        Some(place) => Mend::provided("if nobody works on the bundle", ground.world.command_aside(&place)),
        None => Mend::ByHand("make it a real directory that can be read".to_owned()),
    }
}
