//! How the tasks of a derived state stand, in words and in yes or no.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::derive::{Progress, SpecState, TaskState};
use crate::identifier::TaskId;

/// Returns what an open task waits for, nothing for one that has landed or is parked.
#[must_use]
pub fn waits_for(state: &SpecState, task: &TaskId) -> Option<String> {
    let report = state.tasks.get(task)?;
    if report.parked.is_some() {
        return None;
    }
    match &report.state {
        TaskState::Landed { .. } => None,
        TaskState::Ready => Some("ready".to_string()),
        TaskState::InProgress(Progress { detail, .. }) => Some(detail.clone()),
        TaskState::Unknown(why) => Some(format!("unknown: {why}")),
        TaskState::Blocked { needs } => {
            let needs: Vec<String> = needs
                .iter()
                .map(|need| format!("{need} ({})", word(state, need)))
                .collect();
            Some(format!("needs {}", needs.join(" and ")))
        }
    }
}

/// Returns the state of a task in one word.
#[must_use]
pub fn word(state: &SpecState, task: &TaskId) -> &'static str {
    let Some(report) = state.tasks.get(task) else {
        return "no such task";
    };
    match &report.state {
        TaskState::Landed { .. } => "landed",
        _ if report.parked.is_some() => "parked",
        TaskState::InProgress(progress) => progress.kind.word(),
        TaskState::Unknown(_) => "unknown",
        TaskState::Ready => "ready",
        TaskState::Blocked { .. } => "blocked",
    }
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

pub(crate) fn is_ready(state: &SpecState, task: &TaskId) -> bool {
    let report = state.tasks.get(task);
    report.is_some_and(|report| report.state == TaskState::Ready && report.parked.is_none())
}
