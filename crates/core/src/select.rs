//! State → the one unit to dispatch (`contract/core.md §5`): critical path first, file order among equals.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::chains::heaviest;
use crate::declaration::{Cohesion, Declarations, Preference};
use crate::derive::SpecState;
use crate::graph::{Effort, ParkingPlace, TaskGraph};
use crate::identifier::{TaskId, Unit};
use crate::standing::{has_landed, is_ready, standing};

/// The selected task and why it was selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The task.
    pub task: TaskId,
    /// The preference that decided, with the task that would have been taken without it, where that is another.
    pub preferred: Option<(Preference, TaskId)>,
    /// Whether another task is taken along.
    pub company: Company,
    /// The heaviest chain of unlanded tasks that starts with it.
    pub chain: Vec<TaskId>,
    /// That chain's weight.
    pub weight: Effort,
    /// The other tasks that could have been taken, in file order.
    pub also_ready: Vec<TaskId>,
}

impl Choice {
    /// Returns what is dispatched: the task, or the pair that it belongs to.
    #[must_use]
    pub fn unit(&self) -> Unit {
        match &self.company {
            Company::Pair(cohesion) => cohesion.pair.unit(),
            Company::Alone | Company::Refused(_) => Unit::single(self.task.clone()),
        }
    }
}

/// Whether the selected task takes another one along (`contract/core.md §5.5`): only a declared one, never more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Company {
    /// Nothing was declared for it.
    Alone,
    /// It goes as one unit with another.
    Pair(Cohesion),
    /// Something was declared for it that cannot be followed, or not unambiguously: why.
    Refused(String),
}

/// Returns the task to dispatch next, or nothing when none is ready.
///
/// As [`select_beside`], with nothing declared and nothing set aside: the selector of `contract/core.md §5`.
#[must_use]
pub fn select(graph: &TaskGraph, state: &SpecState) -> Option<Choice> {
    select_beside(graph, state, &Declarations::default(), &BTreeSet::new())
}

/// Returns the task to dispatch next beside the units that were set aside, or nothing when none is ready.
///
/// A task named by a reference bullet is never a candidate, whatever its evidence (§1.8). A dependency counts as
/// met when it has landed, parked or not (§5.3). The first preferred task that is ready comes before the head of the
/// critical path (§5.5).
#[must_use]
pub fn select_beside(
    graph: &TaskGraph,
    state: &SpecState,
    declarations: &Declarations,
    set_aside: &BTreeSet<Unit>,
) -> Option<Choice> {
    let terminal = terminal(graph, state);
    let weights = graph.critical_weights(&terminal);
    let ready: Vec<TaskId> = graph
        .tasks
        .iter()
        .map(|task| &task.id)
        .filter(|task| is_ready(state, task) && !set_aside.contains(&Unit::single((*task).clone())))
        .cloned()
        .collect();
    let raw = heaviest(&ready, &weights)?.clone();
    let mut preferences = declarations.preferences.iter();
    let preference = preferences.find(|preference| ready.contains(&preference.task)).cloned();
    let task = preference.as_ref().map_or(&raw, |preference| &preference.task).clone();
    let company = company(graph, state, declarations, &task, set_aside);
    let chain = graph.heaviest_chain(&task, &terminal);
    let weight = weights.get(&task).copied().unwrap_or_default();
    let mut choice = Choice {
        task,
        preferred: preference.map(|preference| (preference, raw)),
        company,
        chain,
        weight,
        also_ready: Vec::new(),
    };
    let unit = choice.unit();
    choice.also_ready = ready.into_iter().filter(|other| !unit.contains(other)).collect();
    Some(choice)
}

/// Returns what the selected task takes along.
fn company(
    graph: &TaskGraph,
    state: &SpecState,
    declarations: &Declarations,
    head: &TaskId,
    set_aside: &BTreeSet<Unit>,
) -> Company {
    // A pair of which one task has landed, or was never there, asks for nothing any more.
    let is_open = |cohesion: &&Cohesion| {
        let mut tasks = [cohesion.pair.first(), cohesion.pair.second()].into_iter();
        tasks.all(|task| graph.task(task).is_some() && !has_landed(state, task))
    };
    let open: Vec<&Cohesion> = declarations.in_force().into_iter().filter(is_open).collect();
    let Some((cohesion, partner)) = open
        .iter()
        .find_map(|cohesion| Some((*cohesion, cohesion.pair.partner_of(head)?)))
    else {
        return Company::Alone;
    };
    let others = open.iter().filter(|other| **other != cohesion);
    let rival = others
        .filter_map(|other| Some((*other, cohesion.pair.shared_with(&other.pair)?)))
        .next();
    if let Some((rival, shared)) = rival {
        return Company::Refused(format!("{cohesion} and {rival} both name task {shared}"));
    }
    if !follows(graph, state, cohesion.pair.first(), cohesion.pair.second()) {
        let (first, second) = (cohesion.pair.first(), cohesion.pair.second());
        return Company::Refused(format!(
            "{cohesion} names no consecutive tasks: {second} does not come next after {first}"
        ));
    }
    if !is_ready(state, partner) {
        let standing = standing(state, partner);
        return Company::Refused(format!("{cohesion} is not ready as a whole: task {partner} {standing}"));
    }
    if set_aside.contains(&cohesion.pair.unit()) {
        return Company::Refused(format!("{cohesion} was set aside"));
    }
    Company::Pair(cohesion.clone())
}

/// Returns whether one task is the next after another in the file, what has landed passed over.
fn follows(graph: &TaskGraph, state: &SpecState, first: &TaskId, second: &TaskId) -> bool {
    let mut open = graph
        .tasks
        .iter()
        .map(|task| &task.id)
        .filter(|task| !has_landed(state, task));
    open.any(|task| task == first) && open.next() == Some(second)
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
