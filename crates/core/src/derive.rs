//! Evidence → state: the one table of architecture §7, row by row.
//!
//! For each task the first row that decides wins. A row decides only from what is known; an unknown answer above it
//! keeps the task unknown, unless the row is one that stands on its own (★ in the table).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

pub use crate::answer::{Answer, Finding, Progress, ProgressKind};
pub use crate::decision::TaskState;
use crate::decision::{Decision, decide};
use crate::evidence::Evidence;
use crate::graph::{Parking, TaskGraph};
use crate::identifier::{CommitId, TaskId};
pub use crate::row::Row;
pub use crate::row::{FenceOf, is_merged_head, merged_pull_request_of, pull_request_of};
use crate::row::{answer, fence_of};
use crate::time::Timestamp;

/// One task's state and how it was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskReport {
    /// The state.
    pub state: TaskState,
    /// Every row with its answer, in order.
    pub rows: Vec<(Row, Answer)>,
    /// The row that decided, none for ready, blocked and unknown.
    pub decided_by: Option<Row>,
    /// A worker still lives although the task has landed.
    pub worker_still_running: bool,
    /// The reference bullet that parks the task, if one does.
    pub parked: Option<Parking>,
    /// When what decided came to be, where that is known.
    pub at: Option<Timestamp>,
    /// Whose its fence at origin is, where there is one.
    pub fence: Option<FenceOf>,
}

impl TaskReport {
    /// Returns what a person can do about the task, where something holds it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match &self.state {
            TaskState::InProgress(progress) => progress.hint.clone(),
            TaskState::Unknown(why) => why.hint.clone(),
            TaskState::Landed { .. } | TaskState::Ready | TaskState::Blocked { .. } => None,
        }
    }
}

/// The derived state of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpecState {
    /// Each task of the bundle.
    pub tasks: BTreeMap<TaskId, TaskReport>,
}

impl SpecState {
    /// Returns the tasks that have landed, each with the commit that shows it.
    #[must_use]
    pub fn landed(&self) -> BTreeMap<TaskId, CommitId> {
        let landing = |(task, report): (&TaskId, &TaskReport)| match &report.state {
            TaskState::Landed { commit } => Some((task.clone(), commit.clone())),
            TaskState::InProgress(_) | TaskState::Unknown(_) | TaskState::Ready | TaskState::Blocked { .. } => None,
        };
        self.tasks.iter().filter_map(landing).collect()
    }

    /// Returns how many tasks count against the cap: those in progress, and those that may be.
    #[must_use]
    pub fn occupied(&self) -> usize {
        let counts = |report: &&TaskReport| match report.state {
            // What waits for a person takes no place: one poison unit must not stop the others (law L12).
            TaskState::InProgress(ref progress) => {
                !matches!(progress.kind, ProgressKind::Ended | ProgressKind::Reverted)
            }
            TaskState::Unknown(_) => true,
            TaskState::Landed { .. } | TaskState::Ready | TaskState::Blocked { .. } => false,
        };
        self.tasks.values().filter(counts).count()
    }

    /// Returns how many of these nothing but another clone's fence speaks of.
    #[must_use]
    pub fn fenced_elsewhere(&self) -> usize {
        let is_unread = |(row, answer): &(Row, Answer)| *row != Row::Fence && matches!(answer, Answer::Unknown(_));
        let is_of_another = |report: &&TaskReport| {
            matches!(report.state, TaskState::Unknown(_))
                && report.fence == Some(FenceOf::AnotherClone)
                && !report.rows.iter().any(is_unread)
        };
        self.tasks.values().filter(is_of_another).count()
    }

    /// Returns whether this clone has fenced the task already.
    #[must_use]
    pub fn is_fenced_here(&self, task: &TaskId) -> bool {
        let report = self.tasks.get(task);
        report.is_some_and(|report| report.fence == Some(FenceOf::ThisClone))
    }
}

/// Returns the state of every task of the bundle.
#[must_use]
pub fn derive(graph: &TaskGraph, evidence: &Evidence) -> SpecState {
    let decided: BTreeMap<TaskId, (Vec<(Row, Answer)>, Decision)> = graph
        .tasks
        .iter()
        .map(|task| {
            let rows: Vec<(Row, Answer)> = Row::ORDER
                .into_iter()
                .map(|row| (row, answer(row, &task.id, evidence)))
                .collect();
            let decision = decide(&task.id, &rows, evidence);
            (task.id.clone(), (rows, decision))
        })
        .collect();
    let landed: BTreeSet<TaskId> = decided
        .iter()
        .filter(|(_, (_, decision))| decision.is_landed())
        .map(|(task, _)| task.clone())
        .collect();
    let tasks = graph.tasks.iter().filter_map(|task| {
        let (rows, decision) = decided.get(&task.id)?.clone();
        let worker_still_running = decision.is_landed() && says_yes(&rows, Row::WorkerLease);
        let decided_by = decision.row();
        let decision = decision.with_pull_request(&rows);
        let at = decision.at();
        let state = decision.state(|| {
            let needs: Vec<TaskId> = task
                .dependencies
                .iter()
                .filter(|dependency| !landed.contains(*dependency))
                .cloned()
                .collect();
            if needs.is_empty() {
                TaskState::Ready
            } else {
                TaskState::Blocked { needs }
            }
        });
        // Where a snapshot put a task that somebody has, or may have, nobody parked it: the evidence says more.
        let is_told = matches!(state, TaskState::InProgress(_) | TaskState::Unknown(_));
        let parked = graph.parked.get(&task.id);
        let parked = parked
            .filter(|parking| !(is_told && parking.place.is_snapshot()))
            .cloned();
        Some((
            task.id.clone(),
            TaskReport {
                state,
                rows,
                decided_by,
                worker_still_running,
                parked,
                at,
                fence: fence_of(&task.id, evidence),
            },
        ))
    });
    SpecState { tasks: tasks.collect() }
}

fn says_yes(rows: &[(Row, Answer)], wanted: Row) -> bool {
    rows.iter()
        .any(|(row, answer)| *row == wanted && matches!(answer, Answer::Yes(_)))
}
