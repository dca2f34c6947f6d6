//! What a row of the evidence table says of a task, and what a deciding row found.

use alloc::string::String;

use crate::identifier::CommitId;
use crate::observed::Why;
use crate::time::Timestamp;

/// What a row says of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The row decides.
    Yes(Finding),
    /// The row knows of nothing; the words say where it looked.
    No(String),
    /// The row could not be read.
    Unknown(Why),
    /// The row found a landing, and a later commit on base undoes it.
    Undone {
        /// The landing, in words.
        landing: String,
        /// The commit that undoes it.
        by: CommitId,
        /// When that was committed, where it is known.
        at: Option<Timestamp>,
    },
}

impl Answer {
    /// Returns when the evidence that the row found came to be; nothing where the row found none, or nothing tells.
    #[must_use]
    pub const fn at(&self) -> Option<Timestamp> {
        match self {
            Self::Yes(finding) => finding.at(),
            Self::Undone { at, .. } => *at,
            Self::No(_) | Self::Unknown(_) => None,
        }
    }
}

/// What a deciding row found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// The work is on base.
    Landed {
        /// The commit that shows it.
        commit: CommitId,
        /// In words.
        detail: String,
        /// When it landed, where that is known.
        at: Option<Timestamp>,
    },
    /// Somebody works on it, or may.
    InProgress(Progress),
}

impl Finding {
    /// Returns when the evidence came to be, where that is known.
    #[must_use]
    pub const fn at(&self) -> Option<Timestamp> {
        match self {
            Self::Landed { at, .. } => *at,
            Self::InProgress(progress) => progress.at,
        }
    }
}

/// Why a task counts as in progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// What kind of progress.
    pub kind: ProgressKind,
    /// In words.
    pub detail: String,
    /// What a person can do, where one is needed.
    pub hint: Option<String>,
    /// When its evidence came to be: the lease was taken, the last commit made, the pull request changed, the unit
    /// dispatched. Nothing where nothing tells. It is shown, and decides nothing.
    pub at: Option<Timestamp>,
}

/// The kinds of progress, by what holds the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressKind {
    /// A worker lives.
    Running,
    /// Commits wait to be landed.
    Committed,
    /// A pull request waits to be merged.
    Submitted,
    /// A tower, a fresh marker or a printed command holds it.
    Claimed,
    /// Its worker has ended and its work has not been seen to land: a person decides.
    Ended,
    /// A claim cannot be read: somebody may work on it, and a person decides.
    Unreadable,
    /// Somebody has undone it: a person decides whether it is done again.
    Reverted,
}

impl ProgressKind {
    /// Returns the kind in a word or two.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Committed => "in progress",
            Self::Submitted => "submitted",
            Self::Claimed => "dispatched",
            Self::Ended | Self::Unreadable | Self::Reverted => "held",
        }
    }
}
