//! What lies in the worktrees of tasks that are held for a person, and who is in them: no row of evidence tells of either,
//! and what the person is asked to do depends on it.

use std::collections::{BTreeMap, BTreeSet};

use orchestrate_core::identifier::{TaskId, Unit, UnitName};
use orchestrate_core::observed::Observed;
use orchestrate_core::plan::{self, HaltReason, NoDispatch};
use orchestrate_core::standing::word;
use orchestrate_core::world::World;
use orchestrate_tower::step::Survey;

/// The word for a task that waits for a person.
const HELD: &str = "held";

/// What a person comes upon.
#[derive(Debug, Clone, Default)]
pub(crate) struct Remains {
    /// The processes that work there although no worker holds it.
    pub(crate) occupants: Vec<String>,
    /// What would stand in the way of the next dispatch, once the task is given free.
    pub(crate) in_the_way: Vec<HaltReason>,
}

impl Remains {
    /// Returns what is said of a task, and what a person can do, with what lies there.
    pub(crate) fn told(&self, mut detail: String, mut hint: Option<String>) -> (String, Option<String>) {
        for reason in &self.in_the_way {
            detail = format!("{detail}; {reason}");
            hint = first(reason.remedy(), hint);
        }
        if !self.occupants.is_empty() {
            let inside = self.occupants.join(", ");
            detail = format!("processes still run in its worktree: {inside}; {detail}");
            hint = first(Some("let them end, or end them".to_owned()), hint);
        }
        (detail, hint)
    }
}

fn first(what: Option<String>, then: Option<String>) -> Option<String> {
    match (what, then) {
        (Some(what), Some(then)) => Some(format!("{what}; then {then}")),
        (what, then) => what.or(then),
    }
}

/// Looks into the worktrees of what is held.
pub(crate) fn look(world: &dyn World, survey: &Survey) -> BTreeMap<TaskId, Remains> {
    let evidence = &survey.evidence;
    let mut units: BTreeSet<Unit> = BTreeSet::new();
    if let Observed::Known(records) = &evidence.records {
        units.extend(records.keys().cloned());
    }
    if let Observed::Known(branches) = &evidence.branches {
        units.extend(branches.by_unit.keys().cloned());
    }
    let held = survey.state.tasks.keys();
    held.filter(|task| word(&survey.state, task) == HELD)
        .map(|task| {
            let mut remains = Remains::default();
            for unit in units.iter().filter(|unit| unit.contains(task)) {
                let name = UnitName {
                    spec: evidence.spec.clone(),
                    unit: unit.clone(),
                };
                look_into(world, &name, &mut remains);
            }
            (task.clone(), remains)
        })
        .collect()
}

fn look_into(world: &dyn World, name: &UnitName, remains: &mut Remains) {
    match world.occupants(name) {
        Observed::Known(processes) => remains.occupants.extend(processes),
        Observed::Absent(_) => {}
        Observed::Unknown(why) => remains.occupants.push(format!("cannot be told: {why}")),
    }
    // Who is in it was told; what lies there is asked as if nobody were.
    let nobody = Observed::Known(Vec::new());
    if let Observed::Known(facts) = world.worktree(name)
        && let Err(NoDispatch::Halt(reasons)) = plan::worktree(name, &facts, &nobody)
    {
        remains.in_the_way.extend(reasons);
    }
}
