//! A landing that a row found: what was undone since has not landed (architecture §7, "Reverts").

use alloc::format;
use alloc::string::String;

use crate::answer::{Answer, Finding};
use crate::evidence::Evidence;
use crate::identifier::{CommitId, TaskId};
use crate::observed::{Observed, Why};
use crate::revert::Reverts;

/// Returns the answer of a row that found a landing: what was undone has not landed, and what a person wants done
/// again is as if it had never been.
pub(super) fn landed_unless_undone(
    task: &TaskId,
    evidence: &Evidence,
    by: Option<&CommitId>,
    (commit, detail): (CommitId, String),
) -> Answer {
    let Some(by) = by else {
        let at = evidence.times.get(&commit).map(|time| time.at);
        return Answer::Yes(Finding::Landed { commit, detail, at });
    };
    if evidence.redo.get(task).is_some_and(|wanted| wanted.contains(by)) {
        return Answer::No(format!("{detail}, reverted by {}, and wanted again", by.short()));
    }
    Answer::Undone {
        landing: detail,
        by: by.clone(),
        at: evidence.times.get(by).map(|time| time.at),
    }
}

/// Returns why what was not found on base may be there all the same: commits are missing.
pub(super) fn unseen(evidence: &Evidence) -> Option<&Why> {
    match &evidence.history {
        Observed::Known(history) => history.incomplete.as_ref(),
        Observed::Absent(_) | Observed::Unknown(_) => None,
    }
}

/// Returns the reverts on base. Without them no landing is certain.
pub(super) fn reverts(evidence: &Evidence) -> Result<&Reverts, &Why> {
    match &evidence.history {
        Observed::Known(history) => Ok(&history.reverts),
        Observed::Absent(why) | Observed::Unknown(why) => Err(why),
    }
}
