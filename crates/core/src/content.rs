//! How the changes of a branch compare with base: work may lie there under other commits, rebased or squashed
//! (architecture §7 rows 5 and 6).
//!
//! Only a branch of which every commit is the unit's own is compared, and never one that somebody still works on: what is
//! on base now may not be all that is to come.

use alloc::vec::Vec;

use crate::branch::{BranchFacts, BranchSide};
use crate::identifier::CommitId;
use crate::observed::Observed;

/// What a comparison of a branch's changes with base found.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// Each of its commits that changes anything is on base as another one: these, in no order.
    Rebased(Vec<CommitId>),
    /// What it changes together is on base in this commit.
    Squashed(CommitId),
    /// Every file that it changes is on base as it left it.
    Contained,
    /// It holds something that base does not, or it changes nothing.
    Different,
}

/// Returns the branch whose changes can tell: the unit's own here, with commits that are not on base, all of them its
/// own.
#[must_use]
pub fn comparable(branches: &[BranchFacts]) -> Option<&BranchFacts> {
    let ahead = |facts: &&BranchFacts| facts.ahead > 0;
    let here = branches
        .iter()
        .filter(ahead)
        .find(|facts| facts.side == BranchSide::Local)?;
    let all_own = matches!(&here.own, Observed::Known(own) if facts_are_own(here, own));
    // What was pushed must be no other work than what is here.
    let same = |facts: &BranchFacts| facts.side == BranchSide::Local || facts.tip == here.tip;
    (all_own && branches.iter().filter(ahead).all(same)).then_some(here)
}

fn facts_are_own(facts: &BranchFacts, own: &[CommitId]) -> bool {
    facts.ahead <= own.len()
}
