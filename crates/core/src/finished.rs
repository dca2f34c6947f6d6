//! Which of our records of a unit have nothing left to say: the merged-window clean-up of the sweep.
//!
//! Only a landing that base itself names, by a trailer, makes them so. Every other row is found by what a record keeps
//! (where the branch started), by a branch that may be deleted, or by a forge that may not answer tomorrow: there the
//! record is what holds the unit, should the evidence go (laws L3 and L5).

use alloc::vec::Vec;

use crate::derive::{Row, SpecState, TaskReport, TaskState};
use crate::evidence::{Evidence, Lease, UnitRecords};
use crate::identifier::Unit;
use crate::observed::Observed;
use crate::process::Liveness;

/// Returns the units whose claims can go: landed by a trailer, launched, and with nobody left who could work on them.
/// Who works in their worktrees is not looked at here.
#[must_use]
pub fn finished(evidence: &Evidence, state: &SpecState) -> Vec<Unit> {
    let Observed::Known(records) = &evidence.records else {
        return Vec::new();
    };
    records
        .iter()
        .filter(|(unit, records)| is_over(records) && is_lease_free(unit, evidence) && has_landed(unit, state))
        .map(|(unit, _)| unit.clone())
        .collect()
}

/// A launched attempt whose runner is dead; whoever pasted a printed command became a runner.
fn is_over(records: &UnitRecords) -> bool {
    let (Observed::Known(dispatch), Observed::Known(launch)) = (&records.dispatch, &records.launch) else {
        return false;
    };
    launch.attempt == dispatch.attempt && records.runner == Observed::Known(Liveness::Dead)
}

/// A unit without a worktree has no lease to hold.
fn is_lease_free(unit: &Unit, evidence: &Evidence) -> bool {
    match &evidence.leases {
        Observed::Known(leases) => matches!(leases.get(unit), None | Some(Observed::Known(Lease::Free))),
        Observed::Absent(_) | Observed::Unknown(_) => false,
    }
}

fn has_landed(unit: &Unit, state: &SpecState) -> bool {
    let by_trailer = |report: &TaskReport| {
        matches!(report.state, TaskState::Landed { .. })
            && !report.worker_still_running
            && report
                .rows
                .iter()
                .any(|(row, answer)| *row == Row::Trailer && matches!(answer, crate::derive::Answer::Yes(_)))
    };
    unit.tasks().all(|task| state.tasks.get(task).is_some_and(by_trailer))
}
