//! The rows of the evidence table, in order: what each says of a task (architecture §7).

mod branches;
mod claim;
mod content;
mod fence;
mod landing;
mod lease;
mod pull_request;
mod trailer;

use crate::answer::Answer;
use crate::evidence::Evidence;
use crate::identifier::TaskId;
pub use fence::FenceOf;
pub(crate) use fence::fence_of;
pub use pull_request::{is_merged_head, merged_pull_request_of, pull_request_of};

/// The rows of the table, in the order in which they decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Row {
    /// Row 1: a merged pull request.
    MergedPullRequest,
    /// Row 2 ★: a trailer on base or its counterpart.
    Trailer,
    /// Row 3 ★: the branch's own commits are all on base.
    OwnCommitsLanded,
    /// Row 4 ★: a worker lease is held.
    WorkerLease,
    /// Row 5: own commits that are on base as other ones.
    Rebased,
    /// Row 6: all changes together are on base.
    Squashed,
    /// Row 7: own commits that have not landed.
    OwnCommits,
    /// Row 8: an open pull request.
    OpenPullRequest,
    /// Row 9: a dispatch marker or record.
    Claim,
    /// Row 10: a fence at origin.
    Fence,
}

impl Row {
    pub(crate) const ORDER: [Self; 10] = [
        Self::MergedPullRequest,
        Self::Trailer,
        Self::OwnCommitsLanded,
        Self::WorkerLease,
        Self::Rebased,
        Self::Squashed,
        Self::OwnCommits,
        Self::OpenPullRequest,
        Self::Claim,
        Self::Fence,
    ];

    /// Returns the row's name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MergedPullRequest => "merged pull request",
            Self::Trailer => "trailer on base",
            Self::OwnCommitsLanded => "own commits landed",
            Self::WorkerLease => "worker lease",
            Self::Rebased => "rebased onto base",
            Self::Squashed => "squashed onto base",
            Self::OwnCommits => "own commits",
            Self::OpenPullRequest => "open pull request",
            Self::Claim => "dispatch marker",
            Self::Fence => "fence at origin",
        }
    }

    /// Returns whether the row decides although a row above it could not be read (★ in architecture §7).
    pub(crate) const fn stands_alone(self) -> bool {
        match self {
            Self::Trailer | Self::OwnCommitsLanded | Self::WorkerLease => true,
            Self::MergedPullRequest
            | Self::Rebased
            | Self::Squashed
            | Self::OwnCommits
            | Self::OpenPullRequest
            | Self::Claim
            | Self::Fence => false,
        }
    }
}

/// Returns what a row says of a task.
pub(crate) fn answer(row: Row, task: &TaskId, evidence: &Evidence) -> Answer {
    match row {
        Row::MergedPullRequest => pull_request::merged(task, evidence),
        Row::Trailer => trailer::answer(task, evidence),
        Row::OwnCommitsLanded => branches::own_commits_landed(task, evidence),
        Row::WorkerLease => lease::answer(task, evidence),
        Row::Rebased => content::rebased(task, evidence),
        Row::Squashed => content::squashed(task, evidence),
        Row::OwnCommits => branches::own_commits(task, evidence),
        Row::OpenPullRequest => pull_request::open(task, evidence),
        Row::Claim => claim::answer(task, evidence),
        Row::Fence => fence::answer(task, evidence),
    }
}
