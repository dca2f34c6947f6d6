//! Pull requests of a bundle's units: what the forge said of them. What the evidence table makes of it is
//! [`crate::derive`]'s affair.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::branch::BranchSide;
use crate::identifier::{CommitId, Unit};
use crate::observed::Observed;
use crate::time::Timestamp;

/// What one request to the forge brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequests {
    /// The repository that was asked, as `owner/name`.
    pub repository: String,
    /// Who owns the repository that task branches are pushed to.
    pub head_owner: String,
    /// When it was asked.
    pub asked: Timestamp,
    /// How many requests that took.
    pub requests: usize,
    /// The pull requests of each unit that was asked for, the newest first; unknown where the forge did not say all.
    pub by_unit: BTreeMap<Unit, Observed<Vec<PullRequest>>>,
    /// Those of units that git alone shows landed, as far as one request had room for them. They are shown, and decide
    /// nothing: whether a forge was asked changes no state that git tells.
    pub beside: BTreeMap<Unit, Vec<PullRequest>>,
    /// How the head of a merged pull request and the unit's branches lie to each other, by its number. Filled by who
    /// gathers, because the forge knows nothing of the branches here.
    pub relations: BTreeMap<u64, Vec<(BranchSide, Observed<TipRelation>)>>,
}

/// One pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// Its number.
    pub number: u64,
    /// Whether it is open, merged or closed.
    pub state: PullRequestState,
    /// The branch that it is to be merged into.
    pub base: String,
    /// Who owns the repository of its head; nobody when that was deleted.
    pub head_owner: Option<String>,
    /// The last commit of its head that the forge knows.
    pub head: CommitId,
    /// What its checks say.
    pub checks: Checks,
    /// What is shown of it, and decides nothing.
    pub shown: Shown,
}

/// What people are shown of a pull request beside its state; what the forge does not say is not there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Shown {
    /// Its page.
    pub url: Option<String>,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// When anything of it changed last.
    pub updated: Option<Timestamp>,
    /// When it was merged.
    pub merged: Option<Timestamp>,
    /// How it was merged, where that can be told.
    pub manner: Option<MergeManner>,
}

/// How a pull request was merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeManner {
    /// By a merge commit.
    Merge,
    /// As one new commit.
    Squash,
    /// Its commits anew on base.
    Rebase,
}

impl MergeManner {
    /// Returns the manner in a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Merge => "merged",
            Self::Squash => "squashed",
            Self::Rebase => "rebased",
        }
    }
}

/// Where a pull request stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PullRequestState {
    /// It waits.
    Open {
        /// Its author does not ask for a merge yet.
        draft: bool,
    },
    /// It has been merged, in this commit where the forge names one.
    Merged(Option<CommitId>),
    /// It was closed without a merge: no evidence of anything.
    Closed,
}

/// What the checks of a pull request's last commit say. Nothing but [`Checks::Passed`] is green.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checks {
    /// All have passed.
    Passed,
    /// At least one has failed.
    Failed,
    /// Some have not ended.
    Pending,
    /// There are none.
    None,
    /// They could not be read.
    Unknown,
}

impl Checks {
    /// Returns the checks in one word: `passed`, `failed`, `pending`, `none`, `unknown`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Pending => "pending",
            Self::None => "none",
            Self::Unknown => "unknown",
        }
    }

    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Passed => "checks passed",
            Self::Failed => "checks failed",
            Self::Pending => "checks pending",
            Self::None => "no checks",
            Self::Unknown => "checks unknown",
        }
    }
}

/// How a pull request's head and a branch lie to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TipRelation {
    /// The branch is the head or an ancestor of it.
    Within,
    /// The branch goes on from the head.
    Beyond,
    /// Neither is an ancestor of the other.
    Apart,
}
