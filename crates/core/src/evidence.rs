//! Everything a decision may look at, as one value (architecture §3, §7).
//!
//! Gathered by the tower from the World, never changed afterwards. Each piece says whether it was read (law L4).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub use crate::branch::{BranchFacts, BranchSide, Branches};
use crate::content::Content;
use crate::identifier::{BaseName, CommitId, SpecId, TaskId, Unit};
use crate::observed::{Observed, Why};
use crate::process::Liveness;
use crate::pull_request::PullRequests;
use crate::record::dispatch::DispatchRecord;
use crate::record::fence::{OriginFence, OwnFences};
use crate::record::launch::LaunchRecord;
use crate::revert::Reverts;
use crate::time::{CommitTime, Timestamp};

/// Which rule named the base (architecture §6, "Base and start"). HEAD and `init.defaultBranch` never do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseSource {
    /// `PLANWRIGHT_BASE_REF`.
    Environment,
    /// The key `base_branch`.
    Configuration,
    /// `refs/remotes/origin/HEAD`.
    OriginHead,
    /// What the remote itself says, asked by `ls-remote --symref origin HEAD`.
    RemoteHead,
    /// The only one there of main, master and develop.
    OnlyCandidate,
}

/// The branch that work lands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// Its short name.
    pub name: BaseName,
    /// Which rule named it.
    pub source: BaseSource,
    /// The local branch's commit, or the remote-tracking one's where there is no local branch.
    pub commit: CommitId,
    /// The commit of the remote-tracking counterpart, where there is one.
    pub counterpart: Option<CommitId>,
    /// What `origin`, the one remote that is fetched, has of it.
    pub origin: AtOrigin,
}

/// What origin has of the base, as last fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtOrigin {
    /// Nothing to go by: there is no origin, or the base follows a branch of another remote.
    NotAsked,
    /// The base's counterpart is origin's branch.
    Has,
    /// There is an origin, and it has no such branch.
    Lacks,
}

impl Base {
    /// Returns the commit that the gate compares and that task branches start at: origin's base as it was fetched, and
    /// without one there the local one (`contract/core.md §3.8`).
    #[must_use]
    pub fn gated(&self) -> &CommitId {
        let fetched = self.counterpart.as_ref().filter(|_| self.origin == AtOrigin::Has);
        fetched.unwrap_or(&self.commit)
    }

    /// Returns the name of the branch of [`Self::gated`] for people: `main`, or `origin's main`.
    #[must_use]
    pub fn gated_name(&self) -> String {
        match self.origin {
            AtOrigin::Has => format!("origin's {}", self.name),
            AtOrigin::NotAsked | AtOrigin::Lacks => self.name.to_string(),
        }
    }
}

/// What one walk of base and its counterpart found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// The tasks of this bundle named by trailers, each with the commits that name it, the newest first.
    pub trailers: BTreeMap<TaskId, Vec<CommitId>>,
    /// What was undone.
    pub reverts: Reverts,
    /// Trailer values that name no task, printable.
    pub refused: Vec<String>,
    /// How many commits were walked.
    pub walked: usize,
    /// Set when commits are missing (a shallow clone): what was found counts, absence does not.
    pub incomplete: Option<Why>,
}

/// The kernel lock of one unit's worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lease {
    /// Somebody holds it: a worker, or what is left of one, lives.
    Held {
        /// Who, as far as the lease file tells.
        holder: String,
        /// Since when, as far as the lease file tells.
        since: Option<Timestamp>,
    },
    /// Nobody does.
    Free,
}

/// Our records of one unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitRecords {
    /// The dispatch record; unknown when it is there and cannot be read.
    pub dispatch: Observed<DispatchRecord>,
    /// The launch record, likewise.
    pub launch: Observed<LaunchRecord>,
    /// Whether the tower that the dispatch record names still lives.
    pub tower: Observed<Liveness>,
    /// Whether the worker runner that the launch record names still lives; absent where none is named.
    pub runner: Observed<Liveness>,
}

/// What origin answered when it was asked about a bundle, in one request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// Where the base branch is there; nothing where origin has none of that name.
    pub base: Option<CommitId>,
    /// Where the bundle's task branches are there.
    pub branches: BTreeMap<Unit, CommitId>,
    /// The fences by task.
    pub fences: BTreeMap<TaskId, OriginFence>,
}

/// The markers of one task, one entry for each place that holds one; unknown when it cannot be read.
pub type Markers = Vec<Observed<Timestamp>>;

/// All evidence of one bundle at one instant.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// The bundle.
    pub spec: SpecId,
    /// When it was gathered.
    pub now: Timestamp,
    /// The base it was gathered against.
    pub base: Base,
    /// The walk of base.
    pub history: Observed<History>,
    /// The task branches by unit.
    pub branches: Observed<Branches>,
    /// Pull requests; absent where there is no forge to ask.
    pub pull_requests: Observed<PullRequests>,
    /// Worker leases by unit, for every unit that has a worktree.
    pub leases: Observed<BTreeMap<Unit, Observed<Lease>>>,
    /// Dispatch markers by task.
    pub markers: Observed<BTreeMap<TaskId, Markers>>,
    /// How the changes of branches compare with base, for the units that nothing stronger speaks for.
    pub content: BTreeMap<Unit, Observed<Content>>,
    /// Our own records by unit.
    pub records: Observed<BTreeMap<Unit, UnitRecords>>,
    /// When the commits were committed that a row may name. One that is missing shows no age.
    pub times: BTreeMap<CommitId, CommitTime>,
    /// The reverts after which a person wants a task done again. What cannot be read is not wanted.
    pub redo: BTreeMap<TaskId, BTreeSet<CommitId>>,
    /// What origin answered; absent where no fences are taken.
    pub origin: Observed<Origin>,
    /// What this clone has pushed as its fences, or was about to, by task.
    pub own_fences: Observed<BTreeMap<TaskId, Observed<OwnFences>>>,
    /// The age at which a readable marker without a record of ours stops holding, in seconds.
    pub stale_marker_seconds: i64,
}
