//! What of a person's declarations changed nothing, and why.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::declaration::{Cohesion, Declarations, DeclaredBy, Preference};
use crate::derive::{SpecState, TaskState};
use crate::graph::TaskGraph;
use crate::identifier::TaskId;
use crate::select::Choice;
use crate::standing::{has_landed, is_ready, standing};

impl Declarations {
    /// Returns what changed nothing, and why. Keys stay when their tasks have landed, so of those nothing is said.
    #[must_use]
    pub fn remarks(&self, graph: &TaskGraph, state: &SpecState, choice: Option<&Choice>) -> Vec<String> {
        let unmet = self
            .preferences
            .iter()
            .filter_map(|preference| unmet(preference, graph, state));
        let unused = self
            .in_force()
            .into_iter()
            .filter_map(|cohesion| unused(cohesion, graph, state, choice));
        let overruled = self
            .cohesions
            .iter()
            .filter(|cohesion| cohesion.by == DeclaredBy::Key)
            .filter_map(|cohesion| self.overruled(cohesion));
        unmet.chain(unused).chain(overruled).collect()
    }

    fn overruled(&self, cohesion: &Cohesion) -> Option<String> {
        let flags = self.cohesions.iter().filter(|other| other.by == DeclaredBy::Flag);
        let rival = flags
            .filter(|flag| flag.pair != cohesion.pair)
            .find(|flag| flag.pair.shared_with(&cohesion.pair).is_some())?;
        Some(format!("{cohesion} does not count beside {rival}"))
    }
}

fn unmet(preference: &Preference, graph: &TaskGraph, state: &SpecState) -> Option<String> {
    let Preference { task, by } = preference;
    if graph.task(task).is_none() {
        return Some(format!("{preference} changes nothing: there is no task {task}"));
    }
    if is_ready(state, task) || (has_landed(state, task) && *by == DeclaredBy::Key) {
        return None;
    }
    Some(format!(
        "{preference} changes nothing: task {task} {}",
        standing(state, task)
    ))
}

/// A pair that names the chosen task is told with the choice.
fn unused(cohesion: &Cohesion, graph: &TaskGraph, state: &SpecState, choice: Option<&Choice>) -> Option<String> {
    let pair = &cohesion.pair;
    let tasks = [pair.first(), pair.second()];
    if let Some(unknown) = tasks.into_iter().find(|task| graph.task(task).is_none()) {
        return Some(format!("{cohesion} changes nothing: there is no task {unknown}"));
    }
    let landed = tasks.into_iter().find(|task| has_landed(state, task));
    match (landed, cohesion.by, choice) {
        (_, DeclaredBy::Key, _) => None,
        (Some(landed), DeclaredBy::Flag, _) => Some(format!("{cohesion} changes nothing: task {landed} has landed")),
        (None, DeclaredBy::Flag, Some(choice)) if pair.partner_of(&choice.task).is_some() => None,
        (None, DeclaredBy::Flag, Some(choice)) => {
            let held = tasks.into_iter().find(|task| is_held_by_itself(state, task));
            let why = held.map_or_else(
                || format!("{} comes first", choice.task),
                |held| format!("task {held} {}", standing(state, held)),
            );
            Some(format!("{cohesion} changes nothing now: {why}"))
        }
        (None, DeclaredBy::Flag, None) => Some(format!("{cohesion} changes nothing: neither task is ready")),
    }
}

/// What could not be taken, whatever else there were to take. A task that is blocked may yet follow its partner.
fn is_held_by_itself(state: &SpecState, task: &TaskId) -> bool {
    state.tasks.get(task).is_some_and(|report| match &report.state {
        TaskState::InProgress(_) | TaskState::Unknown(_) => true,
        TaskState::Landed { .. } | TaskState::Ready | TaskState::Blocked { .. } => report.parked.is_some(),
    })
}
