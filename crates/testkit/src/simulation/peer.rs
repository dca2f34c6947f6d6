//! Reference towers that share a clone (`contract/core.md §6`): they take the lock by a bare `mkdir` or by our
//! detached plumbing verb, break any lock by age alone, write bare markers, and release by `rmdir`. Later ones also
//! fence their units at origin, and these start workers of their own.

use orchestrate_core::identifier::{Nonce, TaskId, Unit};
use orchestrate_core::place::{LockDirectory, MarkerHome, Place};
use orchestrate_core::record::lock_owner::{LockKind, LockOwner};
use orchestrate_core::record::marker;
use orchestrate_core::time::Timestamp;

use super::host::{BASE, LockTruth, Node, Taker};
use super::obstacles::Obstacle;
use super::universe::Universe;

/// Where a reference tower stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PeerStage {
    Idle,
    /// Holds the lock, and has chosen nothing yet.
    Locked,
    /// Has chosen what to fence.
    Chosen(TaskId),
    /// Has won the fence.
    Fenced(TaskId),
    /// Has made the branch.
    Branched(TaskId),
    /// Is about to release, and to start a worker on what it has fenced.
    Marked(Option<TaskId>),
}

/// One reference tower.
#[derive(Debug, Clone)]
pub(super) struct Peer {
    pub(super) host: usize,
    stage: PeerStage,
    /// It uses our plumbing verb, which leaves an `owner` of kind `detached`.
    detached: bool,
    /// It fences its units at origin, and starts a worker on what it has fenced.
    fences: bool,
}

impl Peer {
    pub(super) fn new(host: usize, detached: bool, fences: bool) -> Self {
        Self {
            host,
            stage: PeerStage::Idle,
            detached,
            fences,
        }
    }

    /// Does the next act, or dies where it stands and starts over later.
    pub(super) fn turn(&mut self, universe: &mut Universe) {
        if universe.random.chance(universe.faults.kill) {
            universe.trace.note("peer", || format!("dies at {:?}", self.stage));
            self.stage = PeerStage::Idle;
            return;
        }
        let next = match &self.stage {
            PeerStage::Idle if self.fences && universe.random.chance(100) => {
                universe.collect_as_a_peer(self.host);
                PeerStage::Idle
            }
            // Those that start workers leave something for others.
            PeerStage::Idle if self.fences && !universe.random.chance(150) => PeerStage::Idle,
            PeerStage::Idle => self.acquire(universe),
            PeerStage::Locked => self.choose(universe),
            PeerStage::Chosen(task) if universe.fence_as_a_peer(self.host, task) => PeerStage::Fenced(task.clone()),
            PeerStage::Chosen(_) => PeerStage::Marked(None),
            PeerStage::Fenced(task) => self.branch(universe, task.clone()),
            PeerStage::Branched(task) => self.mark(universe, task),
            PeerStage::Marked(task) => self.release(universe, task.as_ref()),
        };
        universe
            .trace
            .note("peer", || format!("on host {}: {next:?}", self.host + 1));
        self.stage = next;
    }

    fn acquire(&self, universe: &mut Universe) -> PeerStage {
        let spec = universe.bundle().spec.clone();
        let now = universe.now(self.host);
        let lock = Place::Lock(spec.clone());
        if let Some(Node::Directory { modified, .. }) = universe.hosts[self.host].files.get(&lock) {
            if (now - modified).div_euclid(60) <= universe.scenario.stale_minutes {
                return PeerStage::Idle;
            }
            let directory = LockDirectory::Published(spec.clone());
            if let Some(truth) = universe.hosts[self.host].remove_lock_directory(&directory) {
                universe.end_tenure(truth.by, true);
            }
        }
        let truth = LockTruth {
            incarnation: universe.trace.moment(),
            by: Taker::Peer,
        };
        let node = Node::Directory {
            modified: now,
            lock: Some(truth),
        };
        universe.hosts[self.host].files.insert(lock, node);
        if self.detached {
            let identity = universe.hosts[self.host].start_process(false);
            universe.hosts[self.host].end_process(&identity);
            let nonce = Nonce::from_bytes(universe.random.sixteen());
            let owner = LockOwner::new(LockKind::Detached, identity, nonce).render();
            let place = LockDirectory::Published(spec).owner();
            universe.hosts[self.host].put_file(place, owner, now);
        }
        PeerStage::Locked
    }

    /// Chooses by what its own clone shows; of other hosts a reference tower knows the fences only.
    fn choose(&self, universe: &mut Universe) -> PeerStage {
        let elsewhere = |obstacle: &Obstacle| matches!(obstacle, Obstacle::LiveWorker(worker) if universe.workers[*worker].host != self.host);
        let tasks = universe.task_ids();
        let free = tasks.into_iter().find(|task| {
            let obstacles = universe.obstacles(self.host, usize::MAX, task);
            obstacles.iter().all(elsewhere)
        });
        match free {
            None => PeerStage::Marked(None),
            Some(task) if self.fences => PeerStage::Chosen(task),
            Some(task) => self.branch(universe, task),
        }
    }

    fn branch(&self, universe: &mut Universe, task: TaskId) -> PeerStage {
        let reference = universe.unit_name(Unit::single(task.clone())).reference();
        let host = &universe.hosts[self.host];
        if !host.refs.contains_key(&reference)
            && let Some(base) = host.refs.get(BASE).copied()
        {
            universe.move_branch(self.host, reference, base);
        }
        PeerStage::Branched(task)
    }

    fn mark(&self, universe: &mut Universe, task: &TaskId) -> PeerStage {
        let now = universe.now(self.host);
        let spec = universe.bundle().spec.clone();
        let directory = Place::MarkerDirectory(spec.clone(), MarkerHome::Bundle);
        let node = Node::Directory {
            modified: now,
            lock: None,
        };
        let clone = &mut universe.hosts[self.host];
        clone.files.entry(directory).or_insert(node);
        let place = Place::Marker(spec, task.clone(), MarkerHome::Bundle);
        clone.put_file(place, marker::render(Timestamp::from_seconds(now)), now);
        PeerStage::Marked(self.fences.then(|| task.clone()))
    }

    /// `rmdir`: whoever's lock it is, if it is empty; the detached verb removes its own with its `owner`.
    fn release(&self, universe: &mut Universe, fenced: Option<&TaskId>) -> PeerStage {
        let spec = universe.bundle().spec.clone();
        let directory = LockDirectory::Published(spec.clone());
        let clone = &universe.hosts[self.host];
        let empty = clone.file(&directory.owner()).is_none();
        let own = self.detached && clone.lock(&spec).is_some_and(|truth| truth.by == Taker::Peer);
        if (empty || own)
            && let Some(truth) = universe.hosts[self.host].remove_lock_directory(&directory)
        {
            universe.end_tenure(truth.by, true);
        }
        if let Some(task) = fenced {
            universe.start_peer_worker(self.host, task);
        }
        PeerStage::Idle
    }
}
