//! Task branches as they were found.

use alloc::vec::Vec;

use crate::identifier::CommitId;
use crate::observed::Observed;

/// Where a branch lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchSide {
    /// `refs/heads/…`
    Local,
    /// `refs/remotes/origin/…`
    Remote,
}

/// One task branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchFacts {
    /// Where it lives.
    pub side: BranchSide,
    /// Its commit.
    pub tip: CommitId,
    /// How many of its commits are on neither base nor its counterpart.
    pub ahead: usize,
    /// The commits it has of its own since it started, landed or not.
    /// Absent where nothing records the start, as with remote branches.
    pub own: Observed<Vec<CommitId>>,
}
