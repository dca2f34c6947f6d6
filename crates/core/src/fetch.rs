//! The fetch before a decision: how it is asked for, and how it ended (`contract/core.md §7.1`).

use core::time::Duration;

use crate::observed::Why;
use crate::world::Fault;

/// How a fetch is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchTerms {
    /// For how many seconds an earlier fetch stands for a new one; 0 asks origin always.
    pub fresh_seconds: i64,
    /// How often origin is asked before it counts as failed, at least once.
    pub attempts: u32,
    /// How long one attempt may take.
    pub attempt_limit: Duration,
    /// The pause between two attempts.
    pub pause: Duration,
    /// Whether a stamp of the future counts as fresh, as the reference's verb has it. A tower, whose clock may have
    /// been set back, asks again.
    pub future_is_fresh: bool,
}

/// How a fetch ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "what was not fetched may be outdated"]
pub enum Fetch {
    /// There is no remote named `origin`.
    NoRemote,
    /// An earlier fetch, of this tower or of any other on this clone, is young enough.
    Fresh,
    /// Origin answered.
    Fetched,
    /// Origin did not answer, or not in time. What is here is as it was last fetched, or in part newer.
    Failed {
        /// Why.
        why: Why,
        /// How many fetches of this clone have failed in a row, this one included.
        in_a_row: u32,
    },
    /// This machine refused what a fetch needs, as a disk that is full or read-only does. Nothing is counted against
    /// origin.
    Refused(Fault),
}

impl Fetch {
    /// Returns the word of the `fetch` record (`contract/core.md §7.1`).
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::NoRemote => "no-remote",
            Self::Fresh => "fresh-within-ttl",
            Self::Fetched => "fetched",
            Self::Failed { .. } | Self::Refused(_) => "stale-transient",
        }
    }
}
