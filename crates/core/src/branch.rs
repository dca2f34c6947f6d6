//! Task branches as they were found.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::identifier::{CommitId, Unit};
use crate::observed::{Observed, Why};

/// Where a branch lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchSide {
    /// `refs/heads/…`
    Local,
    /// `refs/remotes/origin/…`
    Remote,
}

/// The task branches of a bundle by unit, each unit with all the places that hold it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Branches {
    /// Those that were read.
    pub by_unit: BTreeMap<Unit, Vec<BranchFacts>>,
    /// The units with a branch that is there and cannot be read: such a ref is not one that is not there (law L4), and
    /// it is unknown for its own unit alone (law L12).
    pub unreadable: BTreeMap<Unit, Why>,
}

impl Branches {
    /// Returns no branches.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            by_unit: BTreeMap::new(),
            unreadable: BTreeMap::new(),
        }
    }

    /// Returns the branches of a unit; unknown where one of them cannot be read.
    pub fn of(&self, unit: &Unit) -> Observed<&[BranchFacts]> {
        match self.unreadable.get(unit) {
            Some(why) => Observed::Unknown(why.clone()),
            None => Observed::Known(self.by_unit.get(unit).map(Vec::as_slice).unwrap_or_default()),
        }
    }

    /// Returns the units that have a branch, whether or not it can be read.
    pub fn units(&self) -> impl Iterator<Item = &Unit> {
        self.by_unit.keys().chain(self.unreadable.keys())
    }
}

impl From<BTreeMap<Unit, Vec<BranchFacts>>> for Branches {
    fn from(by_unit: BTreeMap<Unit, Vec<BranchFacts>>) -> Self {
        Self {
            by_unit,
            unreadable: BTreeMap::new(),
        }
    }
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
