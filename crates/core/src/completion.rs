//! When a task was completed, and by which pull request (`contract/core.md §4.7`): what `orchestrate-state` prints, and
//! what a block of format version 1 is stamped with.

use alloc::string::{String, ToString};

use crate::branch::BranchSide;
use crate::derive::{TaskReport, TaskState};
use crate::evidence::Evidence;
use crate::identifier::TaskId;
use crate::observed::Observed;
use crate::row::merged_pull_request_of;

/// A completion, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The merged pull request's number; it stands only where its day is known.
    pub pull_request: Option<u64>,
    /// The day, as `YYYY-MM-DD`.
    pub day: String,
}

/// Returns what is known of a completion: the merged pull request and its day, else the day of the tip of the branch
/// that is still here, else nothing.
#[must_use]
pub fn completion(task: &TaskId, report: &TaskReport, evidence: &Evidence) -> Option<Completion> {
    if !matches!(report.state, TaskState::Landed { .. }) {
        return None;
    }
    if let Some(found) = merged_pull_request_of(task, evidence)
        && let Some(merged) = found.shown.merged
    {
        return Some(Completion {
            pull_request: Some(found.number),
            day: merged.to_string().get(..10)?.to_string(),
        });
    }
    let Observed::Known(branches) = &evidence.branches else {
        return None;
    };
    let mut of_task = branches.by_unit.iter().filter(|(unit, _)| unit.contains(task));
    let here = of_task.find_map(|(_, all)| all.iter().find(|facts| facts.side == BranchSide::Local))?;
    Some(Completion {
        pull_request: None,
        day: evidence.times.get(&here.tip)?.day(),
    })
}
