//! What the judge knows of one tower process: what it was told, what it holds, what it has claimed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use orchestrate_core::identifier::{CommitId, Nonce, TaskId, Unit, UnitName};
use orchestrate_core::place::{BundleFile, Place};
use orchestrate_core::process::ProcessIdentity;

use super::commits::CommitIndex;
use super::host::{Node, directory_of};
use super::obstacles::Obstacle;

/// One question to the World, with everything that tells it from others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Query {
    /// What origin has, which a fetch brings.
    Fences,
    Base,
    History,
    Branches,
    PullRequests,
    Origin,
    Contains(CommitId, CommitId),
    Content(CommitId),
    Committed(CommitId, BundleFile),
    Worktree(UnitName),
    Leases,
    Lease(Unit),
    Occupants(UnitName),
    Retirement(UnitName),
    Liveness {
        host: String,
        pid: u32,
        start: u64,
    },
    Read(Place),
    List(Place),
}

impl Query {
    pub(super) fn liveness(identity: &ProcessIdentity) -> Self {
        Self::Liveness {
            host: identity.host.clone(),
            pid: identity.pid,
            start: identity.start,
        }
    }

    /// Returns whether a dispatch of the unit rests on the answer. The liveness of a process is judged where the
    /// process is known, and a lock's `owner` where the lock is broken.
    pub(super) fn bears_on(&self, name: &UnitName) -> bool {
        match self {
            Self::Origin
            | Self::Base
            | Self::History
            | Self::Branches
            | Self::PullRequests
            | Self::Fences
            | Self::Leases
            | Self::Committed(..)
            | Self::List(
                Place::MarkerDirectory(..)
                | Place::RecordDirectory(_)
                | Place::BundleFile(..)
                | Place::Lock(_)
                | Place::OwnerIn(_)
                | Place::Marker(..)
                | Place::DispatchRecord(_)
                | Place::LaunchRecord(_)
                | Place::IntentDirectory(_)
                | Place::ForeignFences(_)
                | Place::FenceSightings(_)
                | Place::Intent(..)
                | Place::GivenBack(..),
            )
            | Self::Read(Place::BundleFile(..)) => true,
            Self::Worktree(other)
            | Self::Occupants(other)
            | Self::Read(Place::DispatchRecord(other) | Place::LaunchRecord(other)) => {
                shares_a_task(&other.unit, &name.unit)
            }
            Self::Lease(unit) => shares_a_task(unit, &name.unit),
            Self::Read(Place::Marker(_, task, _) | Place::Intent(_, task) | Place::GivenBack(_, task)) => {
                name.unit.contains(task)
            }
            // What a person wants again is never wanted because it could not be read.
            // What is left in a lock directory that was moved away only litters.
            Self::List(Place::RedoDirectory(_) | Place::Redo(..) | Place::LockStaging(..) | Place::LockAside(..))
            | Self::Retirement(_)
            | Self::Contains(..)
            | Self::Content(_)
            | Self::Liveness { .. }
            | Self::Read(
                Place::Lock(_)
                | Place::LockStaging(..)
                | Place::LockAside(..)
                | Place::OwnerIn(_)
                | Place::MarkerDirectory(..)
                | Place::RedoDirectory(_)
                | Place::Redo(..)
                | Place::RecordDirectory(_)
                | Place::IntentDirectory(_)
                | Place::ForeignFences(_)
                | Place::FenceSightings(_),
            ) => false,
        }
    }
}

impl fmt::Display for Query {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fences => formatter.write_str("the fences at origin"),
            Self::Base => formatter.write_str("the base"),
            Self::History => formatter.write_str("the history of base"),
            Self::Branches => formatter.write_str("the task branches"),
            Self::Origin => formatter.write_str("what origin has"),
            Self::PullRequests => formatter.write_str("pull requests"),
            Self::Content(tip) => write!(formatter, "the changes of {}", tip.short()),
            Self::Contains(descendant, ancestor) => {
                write!(formatter, "whether {} holds {}", descendant.short(), ancestor.short())
            }
            Self::Committed(commit, file) => write!(formatter, "{} at {}", file.name(), commit.short()),
            Self::Worktree(name) => write!(formatter, "the worktree of {name}"),
            Self::Leases => formatter.write_str("the leases"),
            Self::Lease(unit) => write!(formatter, "the lease of task-{unit}"),
            Self::Retirement(name) => write!(formatter, "whether the worktree of {name} may go"),
            Self::Occupants(name) => write!(formatter, "who works in the worktree of {name}"),
            Self::Liveness { host, pid, .. } => write!(formatter, "whether pid {pid} lives on {host}"),
            Self::Read(place) => write!(formatter, "{place}"),
            Self::List(place) => write!(formatter, "what is in {place}"),
        }
    }
}

/// Returns whether two units have a task in common.
pub(super) fn shares_a_task(left: &Unit, right: &Unit) -> bool {
    left.tasks().any(|task| right.contains(task))
}

/// The time in which a tower holds the per-spec lock.
#[derive(Debug, Clone)]
pub(super) struct Tenure {
    /// A reference tower took the lock away by its age rule, which nobody can prevent: from then on the tower cannot
    /// be blamed for what only the lock could have kept apart.
    pub(super) robbed: bool,
    /// The commits at which it read the brief.
    pub(super) gates: Vec<CommitIndex>,
    /// The units whose worktree was registered when it began; only there can anybody be at work.
    pub(super) registered: BTreeSet<UnitName>,
    /// The tasks whose fence it won after they had landed on origin's base.
    pub(super) fenced_too_late: BTreeSet<TaskId>,
    /// The units that had a branch, and a worktree, at any time in it. People may take both away at any moment.
    pub(super) had_branch: BTreeSet<UnitName>,
    pub(super) had_worktree: BTreeSet<UnitName>,
    /// The units of which it was told that their worktree may go.
    pub(super) told_free: BTreeSet<UnitName>,
    /// What stood in the way of each task when it began.
    pub(super) obstacles: BTreeMap<TaskId, Vec<Obstacle>>,
    /// The tasks whose claims a person cleared meanwhile, who needs no lock: it may have read them before.
    pub(super) cleared: BTreeSet<TaskId>,
}

/// One tower process.
#[derive(Debug)]
pub(super) struct Mind {
    pub(super) host: usize,
    pub(super) identity: ProcessIdentity,
    pub(super) running: bool,
    /// Questions whose last answer was "unknown".
    pub(super) unread: BTreeSet<Query>,
    /// The latest instant it was told.
    pub(super) latest: Option<i64>,
    pub(super) tenure: Option<Tenure>,
    /// The acquisition of the published lock that it last saw.
    pub(super) lock_seen: Option<usize>,
    /// A lock effect of its own was reported failed, so a lock it leaves behind is no slip.
    pub(super) excused: bool,
    /// The attempts it has recorded.
    pub(super) attempts: Vec<Nonce>,
    /// It has written in the bundle, or tried to.
    pub(super) wrote_bundle: bool,
    /// The bundle's tasks as it last read them.
    pub(super) tasks_read: Option<Vec<u8>>,
}

impl Mind {
    pub(super) fn new(host: usize, identity: ProcessIdentity) -> Self {
        Self {
            host,
            identity,
            running: true,
            // Nobody has fetched for it yet.
            unread: BTreeSet::from([Query::Origin]),
            latest: None,
            tenure: None,
            lock_seen: None,
            excused: false,
            attempts: Vec::new(),
            wrote_bundle: false,
            tasks_read: None,
        }
    }

    /// Returns a question on which a dispatch of the unit rests and which was last answered with "unknown".
    pub(super) fn unread_about(&self, name: &UnitName) -> Option<&Query> {
        let nobody_there = |query: &Query| {
            let registered = |name| {
                self.tenure
                    .as_ref()
                    .is_some_and(|tenure| tenure.registered.contains(name))
            };
            matches!(query, Query::Occupants(name) if self.tenure.is_some() && !registered(name))
        };
        self.unread
            .iter()
            .find(|query| query.bears_on(name) && !nobody_there(query))
    }

    /// Returns a question on which it rests that the unit has landed and that nobody could work on it, and which was last
    /// answered with "unknown".
    pub(super) fn unread_about_landing(&self, name: &UnitName) -> Option<&Query> {
        self.unread.iter().find(|query| match query {
            Query::Base
            | Query::History
            | Query::Branches
            | Query::Leases
            | Query::List(Place::MarkerDirectory(..) | Place::RecordDirectory(_)) => true,
            Query::Lease(unit) => *unit == name.unit,
            Query::Retirement(of) | Query::Read(Place::DispatchRecord(of) | Place::LaunchRecord(of)) => of == name,
            Query::Fences
            | Query::PullRequests
            | Query::Origin
            | Query::Contains(..)
            | Query::Content(_)
            | Query::Committed(..)
            | Query::Worktree(_)
            | Query::Occupants(_)
            | Query::Liveness { .. }
            | Query::Read(_)
            | Query::List(_) => false,
        })
    }

    /// A list was read: what it does not name need not be read any more.
    pub(super) fn forget_gone(&mut self, directory: &Place, files: &BTreeMap<Place, Node>) {
        let is_gone = |query: &Query| {
            matches!(query, Query::Read(place)
                if !files.contains_key(place) && directory_of(place).as_ref() == Some(directory))
        };
        self.unread.retain(|query| !is_gone(query));
    }

    /// Returns whether it holds the lock, or would if no reference tower had taken it away.
    pub(super) fn holds_or_was_robbed(&self) -> bool {
        self.tenure.is_some()
    }

    /// Returns whether it holds the lock.
    pub(super) fn holds(&self) -> bool {
        self.tenure.as_ref().is_some_and(|tenure| !tenure.robbed)
    }
}
