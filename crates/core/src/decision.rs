//! From the rows' answers to a decision: the first row that decides wins, an unknown one above it keeps the task unknown.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::answer::{Answer, Finding, Progress, ProgressKind};
use crate::evidence::Evidence;
use crate::identifier::{CommitId, TaskId};
use crate::observed::Why;
use crate::row::Row;
use crate::time::Timestamp;

/// The state of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskState {
    /// On base.
    Landed {
        /// The commit that shows it.
        commit: CommitId,
    },
    /// Held by somebody's work.
    InProgress(Progress),
    /// Could not be established; never dispatched.
    Unknown(Why),
    /// Nothing holds it and every dependency has landed.
    Ready,
    /// Nothing holds it, but these dependencies have not landed.
    Blocked {
        /// The dependencies, in the order written.
        needs: Vec<TaskId>,
    },
}

impl TaskState {
    /// Returns why the state could not be established, where it could not.
    #[must_use]
    pub const fn unread(&self) -> Option<&Why> {
        match self {
            Self::Unknown(why) => Some(why),
            Self::Landed { .. } | Self::InProgress(_) | Self::Ready | Self::Blocked { .. } => None,
        }
    }
}

/// What the rows come to.
#[derive(Debug, Clone)]
pub(crate) enum Decision {
    Decided(Row, Finding),
    Unknown(Why),
    Open,
}

impl Decision {
    pub(crate) fn is_landed(&self) -> bool {
        matches!(self, Self::Decided(_, Finding::Landed { .. }))
    }

    pub(crate) fn row(&self) -> Option<Row> {
        match self {
            Self::Decided(row, _) => Some(*row),
            Self::Unknown(_) | Self::Open => None,
        }
    }

    /// A pull request says more of commits that wait than the commits do.
    pub(crate) fn with_pull_request(self, rows: &[(Row, Answer)]) -> Self {
        let submitted = rows.iter().find_map(|(row, answer)| match (row, answer) {
            (Row::OpenPullRequest, Answer::Yes(finding)) => Some(finding.clone()),
            _ => None,
        });
        match (self, submitted) {
            (Self::Decided(row @ Row::OwnCommits, _), Some(finding)) => Self::Decided(row, finding),
            (decision, _) => decision,
        }
    }

    /// Returns when what decided came to be, where that is known.
    pub(crate) fn at(&self) -> Option<Timestamp> {
        match self {
            Self::Decided(_, finding) => finding.at(),
            Self::Unknown(_) | Self::Open => None,
        }
    }

    pub(crate) fn state(self, open: impl FnOnce() -> TaskState) -> TaskState {
        match self {
            Self::Decided(_, Finding::Landed { commit, .. }) => TaskState::Landed { commit },
            Self::Decided(_, Finding::InProgress(progress)) => TaskState::InProgress(progress),
            Self::Unknown(why) => TaskState::Unknown(why),
            Self::Open => open(),
        }
    }
}

/// Decides from the answers of all rows, in order.
pub(crate) fn decide(task: &TaskId, rows: &[(Row, Answer)], evidence: &Evidence) -> Decision {
    let mut unknown: Option<&Why> = None;
    let mut undone: Option<Reverted<'_>> = None;
    for (row, answer) in rows {
        // The claims of an attempt that has landed outlive it: what was undone since is what counts.
        if *row == Row::Claim && unknown.is_none() && undone.is_some() {
            break;
        }
        match answer {
            Answer::Yes(finding) if unknown.is_none() || row.stands_alone() => {
                let finding = if *row == Row::OwnCommits {
                    beside_revert(finding.clone(), undone.as_ref(), task, evidence)
                } else {
                    finding.clone()
                };
                return Decision::Decided(*row, finding);
            }
            Answer::Unknown(why) => unknown = unknown.or(Some(why)),
            Answer::Undone { landing, by, at } => {
                undone.get_or_insert(Reverted {
                    row: *row,
                    landing,
                    by,
                    at: *at,
                });
            }
            Answer::Yes(_) | Answer::No(_) => {}
        }
    }
    match (unknown, undone) {
        (Some(why), _) => Decision::Unknown(why.clone()),
        (None, Some(undone)) => Decision::Decided(undone.row, held_by_revert(task, &undone, evidence)),
        (None, None) => Decision::Open,
    }
}

/// A landing that was undone, as a row found it.
struct Reverted<'a> {
    row: Row,
    landing: &'a str,
    by: &'a CommitId,
    at: Option<Timestamp>,
}

impl Reverted<'_> {
    fn words(&self) -> String {
        format!("{}, reverted by {}", self.landing, self.by.short())
    }

    /// Returns what brings it back. Commits that are on base are not merged a second time; what came as other ones is.
    fn way_back(&self, review: &str, evidence: &Evidence) -> String {
        if matches!(self.row, Row::Rebased | Row::Squashed) {
            review.to_string()
        } else {
            let (by, base) = (self.by.short(), &evidence.base.name);
            format!("git revert {by} where {base} is checked out; then {review}")
        }
    }
}

/// Commits that wait on a branch may be what came to base and was undone there: who merges them again has to know it.
fn beside_revert(finding: Finding, undone: Option<&Reverted<'_>>, task: &TaskId, evidence: &Evidence) -> Finding {
    let (Finding::InProgress(progress), Some(reverted)) = (&finding, undone) else {
        return finding;
    };
    let review = progress.hint.as_deref().unwrap_or_default();
    Finding::InProgress(Progress {
        kind: progress.kind,
        detail: format!("{}; {}", progress.detail, reverted.words()),
        hint: Some(format!(
            "if it is to stay undone: {}; to bring it back: {}",
            out_of_scope(task, evidence),
            reverted.way_back(review, evidence)
        )),
        at: progress.at,
    })
}

/// Returns the command with which a person says that a task is not to be done.
fn out_of_scope(task: &TaskId, evidence: &Evidence) -> String {
    format!(
        "orchestrate park specs/{} {task} --in out-of-scope --reason \"…\"",
        evidence.spec
    )
}

/// Nobody does again by himself what somebody has removed.
fn held_by_revert(task: &TaskId, reverted: &Reverted<'_>, evidence: &Evidence) -> Finding {
    Finding::InProgress(Progress {
        kind: ProgressKind::Reverted,
        detail: reverted.words(),
        hint: Some(format!(
            "to have it done again: orchestrate unpark specs/{} {task}; if it is to stay undone: {}",
            evidence.spec,
            out_of_scope(task, evidence)
        )),
        at: reverted.at,
    })
}
