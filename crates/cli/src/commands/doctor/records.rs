//! Our own records: those that cannot be read, and those of units that are gone.

use orchestrate_core::evidence::UnitRecords;
use orchestrate_core::identifier::{SpecId, UnitName};
use orchestrate_core::observed::Observed;
use orchestrate_core::place::Place;
use orchestrate_core::words::count;
use orchestrate_core::world::World;
use orchestrate_host::shell::word;
use orchestrate_tower::gather;

use super::finding::{Finding, Looked, Mend, Weight};
use super::surroundings::{Ground, Surroundings};

/// Where the records of each bundle lie, below our own directory.
const KINDS: [&str; 3] = ["dispatch", "intent", "redo"];
/// So many names are looked at in each.
const MOST_NAMES: usize = 1000;

pub(super) fn look(surroundings: &Surroundings<'_>) -> Looked {
    let Some(ground) = surroundings.ground else {
        return Looked::nothing();
    };
    let (mut number, mut findings) = (0, Vec::new());
    for spec in ground.specs {
        match gather::records(ground.world, spec) {
            Observed::Known(records) if records.is_empty() => {}
            Observed::Known(records) => {
                let tasks = ground.tasks(spec);
                number += records.len();
                for (unit, records) in &records {
                    let is_known = tasks
                        .as_ref()
                        .is_none_or(|tasks| unit.tasks().all(|task| tasks.contains(task)));
                    let name = UnitName {
                        spec: spec.clone(),
                        unit: unit.clone(),
                    };
                    findings.extend(of_unit(&ground, &name, records, is_known));
                }
            }
            Observed::Absent(_) => {}
            Observed::Unknown(why) => {
                let directory = Place::RecordDirectory(spec.clone());
                let problem = format!("{why}; every task is held");
                let command = ground.world.command_aside(&directory);
                let mend = Mend::provided("if nobody works on the bundle", command);
                findings.push(Finding::new(Weight::Fault, ground.shown(&directory), problem, mend));
            }
        }
    }
    findings.extend(of_bundles_that_are_gone(&ground));
    Looked::new(count(number, "record"), findings)
}

fn of_unit(ground: &Ground<'_>, name: &UnitName, records: &UnitRecords, is_known: bool) -> Option<Finding> {
    let place = ground.shown(&Place::DispatchRecord(name.clone()));
    let tasks: Vec<String> = name.unit.tasks().map(ToString::to_string).collect();
    let clear = format!(
        "orchestrate plumbing orchestrate-marker clear specs/{} {}",
        name.spec,
        tasks.join(" ")
    );
    let unreadable = match (&records.dispatch, &records.launch) {
        (Observed::Unknown(why), _) | (_, Observed::Unknown(why)) => Some(why),
        (_, _) => None,
    };
    if let Some(why) = unreadable {
        let problem = format!("{why}; the unit is held");
        let mend = Mend::provided("if nobody works on it", clear);
        return Some(Finding::new(Weight::Fault, place, problem, mend));
    }
    if is_known {
        return None;
    }
    let problem = format!("the bundle has no task {}", tasks.join(" or "));
    Some(Finding::new(Weight::Note, place, problem, Mend::command(clear)))
}

fn of_bundles_that_are_gone(ground: &Ground<'_>) -> Vec<Finding> {
    let state = ground.layout().state();
    let mut findings = Vec::new();
    for kind in KINDS {
        let directory = state.join(kind);
        // One that is not there holds nothing; one that cannot be listed is told of by its bundles.
        let Ok(entries) = directory.read_dir_utf8() else {
            continue;
        };
        let names = entries
            .take(MOST_NAMES)
            .filter_map(|entry| SpecId::parse(entry.ok()?.file_name()).ok());
        let mut gone: Vec<SpecId> = names
            .filter(|spec| !ground.specs.contains(spec))
            .filter(|spec| !ground.layout().primary.join("specs").join(spec.as_str()).exists())
            .collect();
        gone.sort();
        findings.extend(gone.into_iter().map(|spec| {
            let place = ground.layout().shown(&directory.join(spec.as_str()));
            let problem = format!("this checkout has no bundle specs/{spec}");
            let command = format!("rm -r {}", word(&place));
            let mend = Mend::provided("if no branch has the bundle either", command);
            Finding::new(Weight::Note, place, problem, mend)
        }));
    }
    findings
}
