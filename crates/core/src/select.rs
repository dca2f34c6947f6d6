//! State → the one unit to dispatch (`contract/core.md §5`): critical path first, file order among equals.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::derive::{SpecState, TaskState};
use crate::graph::{Effort, ParkingPlace, TaskGraph, heaviest};
use crate::identifier::TaskId;

/// The selected task and why it was selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The task.
    pub task: TaskId,
    /// The heaviest chain of unlanded tasks that starts with it.
    pub chain: Vec<TaskId>,
    /// That chain's weight.
    pub weight: Effort,
    /// The other tasks that could have been taken, in file order.
    pub also_ready: Vec<TaskId>,
}

/// Returns the task to dispatch next, or nothing when none is ready.
///
/// As [`select_beside`], with nothing set aside.
#[must_use]
pub fn select(graph: &TaskGraph, state: &SpecState) -> Option<Choice> {
    select_beside(graph, state, &BTreeSet::new())
}

/// Returns the task to dispatch next beside those that were set aside, or nothing when none is ready.
///
/// A task named by a reference bullet is never a candidate, whatever its evidence (§1.8). A dependency counts as
/// met when it has landed, parked or not (§5.3).
#[must_use]
pub fn select_beside(graph: &TaskGraph, state: &SpecState, set_aside: &BTreeSet<TaskId>) -> Option<Choice> {
    let weights = graph.critical_weights(&terminal(graph, state));
    let ready: Vec<TaskId> = graph
        .tasks
        .iter()
        .filter(|task| {
            state
                .tasks
                .get(&task.id)
                .is_some_and(|report| report.state == TaskState::Ready && report.parked.is_none())
                && !set_aside.contains(&task.id)
        })
        .map(|task| task.id.clone())
        .collect();
    let task = heaviest(&ready, &weights)?.clone();
    let chain = graph.heaviest_chain(&task, &terminal(graph, state));
    let weight = weights.get(&task).copied().unwrap_or_default();
    let also_ready = ready.into_iter().filter(|other| *other != task).collect();
    Some(Choice {
        task,
        chain,
        weight,
        also_ready,
    })
}

/// Returns the tasks that no longer weigh: landed ones, and those a person put out of scope.
fn terminal(graph: &TaskGraph, state: &SpecState) -> BTreeSet<TaskId> {
    let out_of_scope = graph
        .parked
        .iter()
        .filter(|(_, parking)| parking.place == ParkingPlace::OutOfScope)
        .map(|(id, _)| id.clone());
    state.landed().into_keys().chain(out_of_scope).collect()
}
