//! Row 2 ★: a trailer on base or its counterpart names the task.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::landing::landed_unless_undone;
use crate::answer::Answer;
use crate::evidence::Evidence;
use crate::identifier::{CommitId, TaskId};
use crate::observed::Observed;
use crate::words::count;

pub(super) fn answer(task: &TaskId, evidence: &Evidence) -> Answer {
    let history = match &evidence.history {
        Observed::Known(history) => history,
        Observed::Absent(why) => return Answer::No(why.reason.clone()),
        Observed::Unknown(why) => return Answer::Unknown(why.clone()),
    };
    let named = history.trailers.get(task).map(Vec::as_slice).unwrap_or_default();
    let undone = |commit: &&CommitId| history.reverts.commits.contains_key(*commit);
    match (
        named.iter().find(|commit| !undone(commit)).or(named.first()),
        &history.incomplete,
    ) {
        (Some(commit), _) => landed_unless_undone(
            task,
            evidence,
            history.reverts.commits.get(commit),
            (
                commit.clone(),
                format!("trailer in {} on {}", commit.short(), where_base(evidence)),
            ),
        ),
        (None, Some(why)) => Answer::Unknown(why.clone()),
        (None, None) => Answer::No(format!(
            "walked {} of {} at {}",
            count(history.walked, "commit"),
            evidence.base.name,
            evidence.base.commit.short()
        )),
    }
}

/// Base, and its counterpart where that is another commit: a landing may be in either.
fn where_base(evidence: &Evidence) -> String {
    let base = &evidence.base;
    match &base.counterpart {
        Some(counterpart) if *counterpart != base.commit => format!("{} or at origin", base.name),
        Some(_) | None => base.name.to_string(),
    }
}
