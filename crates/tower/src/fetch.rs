//! The fetch before a decision (architecture §6, `contract/core.md §7.2`): nothing is dispatched from what origin may have
//! changed since.
//!
//! It happens before anything is read and outside of every lock (law L6). What came of it is asked for where a dispatch
//! would follow: a step that has nothing to dispatch needs no origin.

use orchestrate_core::fetch::{Fetch, FetchTerms};
use orchestrate_core::observed::Why;
use orchestrate_core::plan::{HaltReason, HoldReason, NoDispatch};
use orchestrate_core::world::{Fault, World};

use crate::step::machine;

/// What a step is told of fetching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchRequest {
    /// How origin is asked.
    pub terms: FetchTerms,
    /// `dispatch_fetch_park_after`: the failed fetches in a row after which a person is needed; 0 for never.
    pub park_after: u32,
}

/// How recent what is known of origin is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "what was not fetched may be outdated"]
pub enum Freshness {
    /// There is no origin, or it was fetched now or a moment ago.
    Current,
    /// It was not asked, because nothing will be dispatched: a dry run.
    NotAsked,
    /// It could not be fetched.
    Stale {
        /// Why.
        why: Why,
        /// How many fetches in a row have failed.
        in_a_row: u32,
    },
    /// This machine did not let it be fetched.
    Refused(Fault),
}

/// Proof that origin was fetched, or that nothing is written whatever is decided. The gate does not open without it.
#[derive(Debug, Clone, Copy)]
pub struct Fetched(());

/// Fetches origin, unless the step is a dry run.
pub fn refresh(world: &mut dyn World, request: &FetchRequest, dry_run: bool) -> Freshness {
    if dry_run {
        return Freshness::NotAsked;
    }
    match world.fetch(&request.terms) {
        Fetch::NoRemote | Fetch::Fresh | Fetch::Fetched => Freshness::Current,
        Fetch::Failed { why, in_a_row } => Freshness::Stale { why, in_a_row },
        Fetch::Refused(fault) => Freshness::Refused(fault),
    }
}

impl Freshness {
    /// Returns the proof for the gate.
    ///
    /// # Errors
    /// The hold for an origin that could not be fetched; the halt after `park_after` of them in a row; the machine's
    /// own fault.
    pub fn require(&self, request: &FetchRequest) -> Result<Fetched, NoDispatch> {
        match self {
            Self::Current | Self::NotAsked => Ok(Fetched(())),
            Self::Refused(fault) => Err(machine(fault.clone())),
            Self::Stale { why, in_a_row } => {
                let (why, in_a_row) = (why.clone(), *in_a_row);
                let is_over = request.park_after > 0 && in_a_row >= request.park_after;
                Err(if is_over {
                    NoDispatch::Halt(vec![HaltReason::OriginUnreached { why, in_a_row }])
                } else {
                    NoDispatch::Hold(HoldReason::OriginUnreached { why, in_a_row })
                })
            }
        }
    }

    /// Returns what a person should know although it changed nothing.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        match self {
            Self::Current | Self::NotAsked => None,
            Self::Stale { why, .. } => Some(format!(
                "origin cannot be fetched: {why}; what is said of it is as it was last fetched"
            )),
            Self::Refused(fault) => Some(format!(
                "origin cannot be fetched: {fault}; what is said of it is as it was last fetched"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    fn stale(in_a_row: u32, park_after: u32) -> NoDispatch {
        let request = FetchRequest {
            terms: FetchTerms {
                fresh_seconds: 120,
                attempts: 3,
                attempt_limit: Duration::from_secs(60),
                pause: Duration::ZERO,
                future_is_fresh: false,
            },
            park_after,
        };
        let why = Why::new("it is gone");
        let freshness = Freshness::Stale { why, in_a_row };
        freshness.require(&request).expect_err("stale")
    }

    /// Verifies REQ-D2.2.
    #[test]
    fn a_failing_origin_holds_before_it_halts() {
        for in_a_row in [1, 2] {
            assert!(matches!(stale(in_a_row, 3), NoDispatch::Hold(_)), "{in_a_row}");
        }
        for in_a_row in [3, 4, u32::MAX] {
            assert!(matches!(stale(in_a_row, 3), NoDispatch::Halt(_)), "{in_a_row}");
        }
        assert!(matches!(stale(1, 1), NoDispatch::Halt(_)));
        assert!(matches!(stale(u32::MAX, 0), NoDispatch::Hold(_)));
        assert!(stale(3, 3).remedy().is_some() && stale(1, 3).remedy().is_some());
    }
}
