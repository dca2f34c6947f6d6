//! What happened in a demo, in order, with times counted from its start.

use core::fmt;
use std::time::Duration;

use camino::Utf8PathBuf;
use orchestrate_core::identifier::{CommitId, TaskId};

/// How the person brought a branch into main.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Landing {
    /// Main was moved to the branch's tip.
    FastForward,
    /// A commit with two parents.
    MergeCommit,
    /// One new commit with the branch's whole change, the worker's trailer kept.
    Squash,
}

impl Landing {
    /// Every way.
    pub const ALL: [Self; 3] = [Self::FastForward, Self::MergeCommit, Self::Squash];

    /// Returns the way's name, for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FastForward => "fast-forward",
            Self::MergeCommit => "merge commit",
            Self::Squash => "squash",
        }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
    /// The repository was made, with the spec unsigned.
    Made {
        /// Where it lies.
        directory: Utf8PathBuf,
    },
    /// The tower halted at the unsigned spec.
    Refused {
        /// Its exit status.
        exit: i32,
        /// What it printed.
        lines: Vec<String>,
    },
    /// The person signed the spec.
    Signed {
        /// The anchor of the signed content, 40 hex digits.
        anchor: String,
        /// The commit that holds the sign-off.
        commit: CommitId,
    },
    /// The tower ran one step; main stayed where it was.
    Stepped {
        /// What it printed.
        lines: Vec<String>,
        /// The tasks whose worker it started.
        dispatched: Vec<TaskId>,
        /// The tasks that were finished before the step and waited for the person all the while.
        in_review: Vec<TaskId>,
    },
    /// A worker ended.
    WorkerEnded {
        /// Its task.
        task: TaskId,
    },
    /// The person reviewed a branch and merged it.
    Merged {
        /// Its task.
        task: TaskId,
        /// How.
        landing: Landing,
        /// Main's commit afterwards.
        commit: CommitId,
    },
    /// The tower said of a task that it has landed.
    Acknowledged {
        /// The task.
        task: TaskId,
        /// By what evidence, in the tower's words.
        evidence: String,
    },
}

/// Something that happened, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoEvent {
    /// The time since the demo's start.
    pub at: Duration,
    /// What happened.
    pub what: Happening,
}

impl fmt::Display for DemoEvent {
    /// The event for people who watch: a time, who acted, and what was done; further lines of the tower are indented.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = format!("{:.1} s", self.at.as_secs_f64());
        write!(formatter, "{seconds:>7}  ")?;
        match &self.what {
            Happening::Made { directory } => {
                write!(
                    formatter,
                    "demo    made {directory}, with an unsigned spec of five tasks"
                )
            }
            Happening::Refused { lines, .. } | Happening::Stepped { lines, .. } => {
                formatter.write_str("tower   ")?;
                if lines.is_empty() {
                    formatter.write_str("printed nothing")?;
                }
                for (index, line) in lines.iter().enumerate() {
                    if index > 0 {
                        write!(formatter, "\n{:17}", "")?;
                    }
                    formatter.write_str(line)?;
                }
                Ok(())
            }
            Happening::Signed { anchor, .. } => {
                write!(
                    formatter,
                    "person  signed the spec, anchor {}",
                    anchor.get(..7).unwrap_or(anchor)
                )
            }
            Happening::WorkerEnded { task } => write!(formatter, "worker  of task {task} ended"),
            Happening::Merged { task, landing, commit } => {
                let landing = landing.name();
                write!(
                    formatter,
                    "person  reviewed and merged task {task}: {landing}, main is at {}",
                    commit.short()
                )
            }
            Happening::Acknowledged { task, evidence } => {
                write!(formatter, "tower   says task {task} has landed: {evidence}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_read_as_a_log() {
        let at = Duration::from_millis(12_345);
        let task = TaskId::parse("4").expect("task");
        let commit = CommitId::parse(&"3f1c2ab0".repeat(5)).expect("commit");
        let lines = vec!["dispatched hello-tower task 4".to_owned(), "  branch  x".to_owned()];
        let show = |what| DemoEvent { at, what }.to_string();
        assert_eq!(
            show(Happening::Stepped {
                lines,
                dispatched: vec![task.clone()],
                in_review: vec![]
            }),
            " 12.3 s  tower   dispatched hello-tower task 4\n                   branch  x"
        );
        assert_eq!(
            show(Happening::Merged {
                task,
                landing: Landing::Squash,
                commit: commit.clone()
            }),
            " 12.3 s  person  reviewed and merged task 4: squash, main is at 3f1c2ab"
        );
        assert_eq!(
            show(Happening::Signed {
                anchor: "0123456789".repeat(4),
                commit
            }),
            " 12.3 s  person  signed the spec, anchor 0123456"
        );
        assert_eq!(
            show(Happening::Refused { exit: 4, lines: vec![] }),
            " 12.3 s  tower   printed nothing"
        );
    }
}
