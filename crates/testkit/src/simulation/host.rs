//! One machine with one clone: its files, refs, worktrees, locks and processes. State only; who may do what is
//! judged elsewhere.

use std::collections::BTreeMap;

use orchestrate_core::identifier::{SpecId, Unit, UnitName};
use orchestrate_core::place::{LockDirectory, Place, given_back_name};
use orchestrate_core::process::ProcessIdentity;
use orchestrate_core::world::WorktreeDirectory;

use super::commits::{CommitIndex, CommitSet};

/// The full name of the base branch.
pub(super) const BASE: &str = "refs/heads/main";
/// The full name of its remote-tracking counterpart.
pub(super) const COUNTERPART: &str = "refs/remotes/origin/main";

/// Who took a lock directory, as the judge knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taker {
    /// A tower process, by its number.
    Tower(usize),
    /// A reference tower.
    Peer,
}

/// The judge's own label on a lock directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LockTruth {
    /// Tells this acquisition from every other.
    pub(super) incarnation: usize,
    /// Who made it.
    pub(super) by: Taker,
}

/// What stands at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    File { bytes: Vec<u8>, modified: i64 },
    Directory { modified: i64, lock: Option<LockTruth> },
}

/// A registered worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Worktree {
    pub(super) locked: bool,
    pub(super) complete: bool,
    pub(super) directory: WorktreeDirectory,
    pub(super) changes: Vec<String>,
    /// The worker that holds the lease, by its number.
    pub(super) lease: Option<usize>,
    /// How far a tower came that was retiring it, and was killed.
    pub(super) half_retired: Option<HalfRetired>,
}

/// What a kill leaves of a worktree that is being retired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HalfRetired {
    /// Out of its place, and not looked at.
    Leaving,
    /// Looked at, and taken away; only its registration is left.
    Left,
}

/// One entry of the processes table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProcessEntry {
    start: u64,
    alive: bool,
}

/// One machine with one clone.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) name: String,
    boots: u32,
    boot: String,
    /// How far its clock is from the schedule's.
    pub(super) clock_offset: i64,
    pub(super) files: BTreeMap<Place, Node>,
    /// Left-over temporary files, by directory.
    pub(super) debris: BTreeMap<Place, usize>,
    pub(super) refs: BTreeMap<String, CommitIndex>,
    /// The reflog: where each branch was last set without a commit being made on it.
    pub(super) moved_to: BTreeMap<String, CommitIndex>,
    pub(super) objects: CommitSet,
    /// How many fetches have failed in a row.
    pub(super) failed_fetches: u32,
    pub(super) worktrees: BTreeMap<UnitName, Worktree>,
    /// What retired worktrees left to be thrown away.
    pub(super) retired: usize,
    /// Who holds the kernel's window lock of a bundle, by tower number.
    pub(super) windows: BTreeMap<SpecId, usize>,
    processes: BTreeMap<u32, ProcessEntry>,
    next_pid: u32,
    ticks: u64,
}

impl Host {
    pub(super) fn new(number: usize, root: CommitIndex, has_origin: bool) -> Self {
        let mut objects = CommitSet::default();
        objects.insert(root);
        let mut refs = BTreeMap::from([(BASE.to_owned(), root)]);
        if has_origin {
            refs.insert(COUNTERPART.to_owned(), root);
        }
        Self {
            name: format!("host-{number}"),
            boots: 1,
            boot: "boot-1".to_owned(),
            clock_offset: 0,
            files: BTreeMap::new(),
            debris: BTreeMap::new(),
            refs,
            moved_to: BTreeMap::new(),
            objects,
            failed_fetches: 0,
            worktrees: BTreeMap::new(),
            retired: 0,
            windows: BTreeMap::new(),
            processes: BTreeMap::new(),
            next_pid: 100,
            ticks: 0,
        }
    }

    /// Starts a process; `reuse` asks for the number of a dead one.
    pub(super) fn start_process(&mut self, reuse: bool) -> ProcessIdentity {
        self.ticks += 1;
        let dead = |(pid, entry): (&u32, &ProcessEntry)| (!entry.alive).then_some(*pid);
        let reused = reuse.then(|| self.processes.iter().find_map(dead)).flatten();
        let pid = reused.unwrap_or_else(|| {
            self.next_pid += 1;
            self.next_pid
        });
        let entry = ProcessEntry {
            start: self.ticks,
            alive: true,
        };
        self.processes.insert(pid, entry);
        ProcessIdentity {
            host: self.name.clone(),
            boot: self.boot.clone(),
            pid,
            start: self.ticks,
        }
    }

    pub(super) fn end_process(&mut self, identity: &ProcessIdentity) {
        if let Some(entry) = self.processes.get_mut(&identity.pid)
            && entry.start == identity.start
        {
            entry.alive = false;
        }
    }

    pub(super) fn is_alive(&self, identity: &ProcessIdentity) -> bool {
        identity.host == self.name
            && identity.boot == self.boot
            && self
                .processes
                .get(&identity.pid)
                .is_some_and(|entry| entry.alive && entry.start == identity.start)
    }

    /// Restarts the machine: no process and no kernel lock survives.
    pub(super) fn restart(&mut self) {
        self.boots += 1;
        self.boot = format!("boot-{}", self.boots);
        self.processes.clear();
        self.windows.clear();
        for worktree in self.worktrees.values_mut() {
            worktree.lease = None;
        }
    }

    pub(super) fn file(&self, place: &Place) -> Option<&[u8]> {
        match self.files.get(place) {
            Some(Node::File { bytes, .. }) => Some(bytes),
            Some(Node::Directory { .. }) | None => None,
        }
    }

    pub(super) fn put_file(&mut self, place: Place, bytes: Vec<u8>, modified: i64) {
        self.files.insert(place, Node::File { bytes, modified });
    }

    /// Returns the judge's label of the published lock.
    pub(super) fn lock(&self, spec: &SpecId) -> Option<LockTruth> {
        match self.files.get(&Place::Lock(spec.clone())) {
            Some(Node::Directory { lock, .. }) => *lock,
            Some(Node::File { .. }) | None => None,
        }
    }

    /// Removes a lock directory with its `owner` file, and returns its label.
    pub(super) fn remove_lock_directory(&mut self, directory: &LockDirectory) -> Option<LockTruth> {
        self.files.remove(&directory.owner());
        match self.files.remove(&directory.place()) {
            Some(Node::Directory { lock, .. }) => lock,
            Some(Node::File { .. }) | None => None,
        }
    }

    /// Returns the local task branches of a bundle with their commits.
    pub(super) fn task_branches(&self, spec: &SpecId) -> Vec<(Unit, CommitIndex)> {
        self.refs
            .iter()
            .filter(|(name, _)| name.starts_with("refs/heads/planwright/"))
            .filter_map(|(name, at)| Some((UnitName::from_branch(name).ok()?, *at)))
            .filter(|(name, _)| &name.spec == spec)
            .map(|(name, at)| (name.unit, at))
            .collect()
    }
}

/// Returns the directory that an entry is listed in, none for places that no observation lists.
pub(super) fn directory_of(place: &Place) -> Option<Place> {
    match place {
        Place::Marker(spec, _, home) => Some(Place::MarkerDirectory(spec.clone(), *home)),
        Place::DispatchRecord(name) | Place::LaunchRecord(name) => Some(Place::RecordDirectory(name.spec.clone())),
        Place::Redo(spec, _) => Some(Place::RedoDirectory(spec.clone())),
        Place::Intent(spec, _)
        | Place::GivenBack(spec, _)
        | Place::ForeignFences(spec)
        | Place::FenceSightings(spec) => Some(Place::IntentDirectory(spec.clone())),
        Place::OwnerIn(directory) => Some(directory.place()),
        Place::BundleFile(..)
        | Place::Lock(_)
        | Place::LockStaging(..)
        | Place::LockAside(..)
        | Place::MarkerDirectory(..)
        | Place::RecordDirectory(_)
        | Place::RedoDirectory(_)
        | Place::IntentDirectory(_) => None,
    }
}

/// Returns the entry's name in its directory.
pub(super) fn entry_name(place: &Place) -> Option<String> {
    match place {
        Place::Marker(_, task, _) | Place::Redo(_, task) | Place::Intent(_, task) => Some(task.to_string()),
        Place::DispatchRecord(name) => Some(format!("{}.json", name.unit)),
        Place::LaunchRecord(name) => Some(format!("{}.launch.json", name.unit)),
        Place::OwnerIn(_) => Some("owner".to_owned()),
        Place::GivenBack(_, task) => Some(given_back_name(task)),
        Place::ForeignFences(_) => Some("foreign.json".to_owned()),
        Place::FenceSightings(_) => Some("sightings.json".to_owned()),
        Place::BundleFile(..)
        | Place::Lock(_)
        | Place::LockStaging(..)
        | Place::LockAside(..)
        | Place::MarkerDirectory(..)
        | Place::RecordDirectory(_)
        | Place::RedoDirectory(_)
        | Place::IntentDirectory(_) => None,
    }
}

/// Returns the lock directory that a place names.
pub(super) fn lock_directory(place: &Place) -> Option<LockDirectory> {
    match place {
        Place::Lock(spec) => Some(LockDirectory::Published(spec.clone())),
        Place::LockStaging(spec, nonce) => Some(LockDirectory::Staging(spec.clone(), nonce.clone())),
        Place::LockAside(spec, nonce) => Some(LockDirectory::Aside(spec.clone(), nonce.clone())),
        Place::BundleFile(..)
        | Place::OwnerIn(_)
        | Place::MarkerDirectory(..)
        | Place::Marker(..)
        | Place::RecordDirectory(_)
        | Place::DispatchRecord(_)
        | Place::LaunchRecord(_)
        | Place::RedoDirectory(_)
        | Place::Redo(..)
        | Place::IntentDirectory(_)
        | Place::Intent(..)
        | Place::GivenBack(..)
        | Place::ForeignFences(_)
        | Place::FenceSightings(_) => None,
    }
}
