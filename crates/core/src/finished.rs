//! What of a landed unit has nothing left to say: the merged-window clean-up of the sweep (decisions 61 and 71).
//!
//! **Records.** //! Only a landing that base itself names, by a trailer, makes them so. Every other row is found by what a record keeps
//! (where the branch started), by a branch that may be deleted, or by a forge that may not answer tomorrow: there the
//! record is what holds the unit, should the evidence go (laws L3 and L5).
//!
//! **Worktrees.** They are evidence of nothing, so every landing will do; but each commit of the unit's branch must have
//! landed, by git's own word or as the head of a merged pull request. What the worktree itself holds is the World's to say.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::derive::{Answer, Row, SpecState, TaskReport, TaskState, is_merged_head};
use crate::evidence::{BranchFacts, BranchSide, Evidence, Lease, UnitRecords};
use crate::identifier::{CommitId, Unit};
use crate::observed::Observed;
use crate::process::Liveness;
use crate::time::Timestamp;

/// Returns the units whose claims can go: landed by a trailer, launched, and with nobody left who could work on them.
/// Who works in their worktrees is not looked at here.
#[must_use]
pub fn finished(evidence: &Evidence, state: &SpecState) -> Vec<Unit> {
    let Observed::Known(records) = &evidence.records else {
        return Vec::new();
    };
    records
        .iter()
        .filter(|(unit, records)| is_over(records) && is_lease_free(unit, evidence) && has_trailers(unit, state))
        .map(|(unit, _)| unit.clone())
        .collect()
}

/// A launched attempt whose runner is dead; whoever pasted a printed command became a runner.
fn is_over(records: &UnitRecords) -> bool {
    let (Observed::Known(dispatch), Observed::Known(launch)) = (&records.dispatch, &records.launch) else {
        return false;
    };
    dispatch.was_launched(launch) && records.runner == Observed::Known(Liveness::Dead)
}

/// A unit without a worktree has no lease to hold.
fn is_lease_free(unit: &Unit, evidence: &Evidence) -> bool {
    match &evidence.leases {
        Observed::Known(leases) => matches!(leases.get(unit), None | Some(Observed::Known(Lease::Free))),
        Observed::Absent(_) | Observed::Unknown(_) => false,
    }
}

fn has_trailers(unit: &Unit, state: &SpecState) -> bool {
    has_landed(unit, state, |report| {
        let is_trailer = |(row, answer): &(Row, Answer)| *row == Row::Trailer && matches!(answer, Answer::Yes(_));
        report.rows.iter().any(is_trailer)
    })
}

fn has_landed(unit: &Unit, state: &SpecState, also: impl Fn(&TaskReport) -> bool) -> bool {
    unit.tasks().all(|task| {
        state.tasks.get(task).is_some_and(|report| {
            matches!(report.state, TaskState::Landed { .. }) && !report.worker_still_running && also(report)
        })
    })
}

/// A worktree that nothing in the evidence keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retirable {
    /// Whose it is.
    pub unit: Unit,
    /// Where its branch is, of which every commit has landed.
    pub tip: CommitId,
}

/// Returns the worktrees of units that have landed with every commit of their branch, and that no worker has, may have or
/// may yet be given. What lies in them is not looked at here.
#[must_use]
pub fn retirable(evidence: &Evidence, state: &SpecState) -> Vec<Retirable> {
    let candidates = landed_worktrees(evidence, state).into_iter();
    candidates
        .filter(|(unit, facts)| facts.ahead == 0 || is_merged_head(unit, &facts.tip, evidence))
        .map(|(unit, facts)| Retirable {
            unit,
            tip: facts.tip.clone(),
        })
        .collect()
}

/// Returns the units whose worktree is kept by nothing but commits that git does not show to have landed: whether a pull
/// request brought them is for the forge to say.
#[must_use]
pub fn kept_by_commits(evidence: &Evidence, state: &SpecState) -> BTreeSet<Unit> {
    let candidates = landed_worktrees(evidence, state).into_iter();
    candidates
        .filter(|(_, facts)| facts.ahead > 0)
        .map(|(unit, _)| unit)
        .collect()
}

/// Returns the landed units that have a worktree and nobody who could work in it, each with its branch here.
fn landed_worktrees<'a>(evidence: &'a Evidence, state: &SpecState) -> Vec<(Unit, &'a BranchFacts)> {
    let (Observed::Known(leases), Observed::Known(branches)) = (&evidence.leases, &evidence.branches) else {
        return Vec::new();
    };
    let free = leases
        .iter()
        .filter(|(_, lease)| **lease == Observed::Known(Lease::Free));
    free.filter(|(unit, _)| has_landed(unit, state, |_| true) && is_nobodys(unit, evidence))
        .filter_map(|(unit, _)| {
            let Observed::Known(facts) = branches.of(unit) else {
                return None;
            };
            let here = facts.iter().find(|facts| facts.side == BranchSide::Local)?;
            Some((unit.clone(), here))
        })
        .collect()
}

/// Returns whether no claim on the unit is left that a worker could still come of: a launched attempt is over, and without
/// a record of ours no marker is fresh or unreadable.
fn is_nobodys(unit: &Unit, evidence: &Evidence) -> bool {
    let (Observed::Known(records), Observed::Known(markers)) = (&evidence.records, &evidence.markers) else {
        return false;
    };
    if let Some(records) = records.get(unit) {
        return is_over(records);
    }
    let is_stale = |marker: &Observed<Timestamp>| matches!(marker, Observed::Known(at) if evidence.now.seconds_since(*at) > evidence.stale_marker_seconds);
    unit.tasks()
        .filter_map(|task| markers.get(task))
        .flatten()
        .all(is_stale)
}
