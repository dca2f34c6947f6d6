//! What a person declares about the choice of the next unit: tasks to prefer, and tasks that are one deliverable.
//!
//! The reference's tower judges both from prose (`contract/core.md §5.5`); ours takes them from `--prefer`, `--bundle`
//! and their keys, and says what became of each.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::derive::{SpecState, TaskState};
use crate::graph::TaskGraph;
use crate::identifier::TaskId;
use crate::plan::{waits_for, word};
use crate::select::Choice;
use crate::unit::Pair;

/// Where something was declared. What a flag says comes before what a key says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeclaredBy {
    /// On the command line of this run.
    Flag,
    /// In a layer of the configuration.
    Key,
}

/// A task to prefer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preference {
    /// The task.
    pub task: TaskId,
    /// Who said so.
    pub by: DeclaredBy,
}

impl fmt::Display for Preference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.source(), self.task)
    }
}

impl Preference {
    /// Returns the flag or the key.
    #[must_use]
    pub const fn source(&self) -> &'static str {
        match self.by {
            DeclaredBy::Flag => "--prefer",
            DeclaredBy::Key => "prefer_units",
        }
    }
}

/// Two tasks that are to be dispatched as one unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cohesion {
    /// The tasks.
    pub pair: Pair,
    /// Who said so.
    pub by: DeclaredBy,
}

impl fmt::Display for Cohesion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.source(), self.pair)
    }
}

impl Cohesion {
    /// Returns the flag or the key.
    #[must_use]
    pub const fn source(&self) -> &'static str {
        match self.by {
            DeclaredBy::Flag => "--bundle",
            DeclaredBy::Key => "bundle_units",
        }
    }
}

/// Everything that is declared for one bundle.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Declarations {
    /// The tasks to prefer, the strongest wish first.
    pub preferences: Vec<Preference>,
    /// The pairs.
    pub cohesions: Vec<Cohesion>,
}

impl Declarations {
    /// Returns the declarations with those of the command line before those of the keys.
    #[must_use]
    pub fn with_flags(self, preferred: Vec<TaskId>, pairs: Vec<Pair>) -> Self {
        let by = DeclaredBy::Flag;
        let preferences = preferred.into_iter().map(|task| Preference { task, by });
        let cohesions = pairs.into_iter().map(|pair| Cohesion { pair, by });
        Self {
            preferences: preferences.chain(self.preferences).collect(),
            cohesions: cohesions.chain(self.cohesions).collect(),
        }
    }

    /// Returns the pairs that count: each once, and of a key only those that have no task in common with a flag's.
    #[must_use]
    pub fn in_force(&self) -> Vec<&Cohesion> {
        let mut kept: Vec<&Cohesion> = Vec::new();
        for cohesion in &self.cohesions {
            let is_settled = kept.iter().any(|earlier| {
                earlier.pair == cohesion.pair
                    || (earlier.by < cohesion.by && earlier.pair.shared_with(&cohesion.pair).is_some())
            });
            if !is_settled {
                kept.push(cohesion);
            }
        }
        kept
    }

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
    let Some(report) = state.tasks.get(task).filter(|_| graph.task(task).is_some()) else {
        return Some(format!("{preference} changes nothing: there is no task {task}"));
    };
    let has_landed = matches!(report.state, TaskState::Landed { .. });
    let is_ready = report.state == TaskState::Ready && report.parked.is_none();
    if is_ready || (has_landed && *by == DeclaredBy::Key) {
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

pub(crate) fn has_landed(state: &SpecState, task: &TaskId) -> bool {
    let report = state.tasks.get(task);
    report.is_some_and(|report| matches!(report.state, TaskState::Landed { .. }))
}

/// Returns how a task stands that cannot be taken, to follow its name: `needs 1 (ready)`, `is parked`.
pub(crate) fn standing(state: &SpecState, task: &TaskId) -> String {
    let blocked = state
        .tasks
        .get(task)
        .filter(|report| report.parked.is_none() && matches!(report.state, TaskState::Blocked { .. }));
    match blocked.and_then(|_| waits_for(state, task)) {
        Some(needs) => needs,
        None => match word(state, task) {
            "landed" => String::from("has landed"),
            other => format!("is {other}"),
        },
    }
}
