//! The worker runner and its worker, as an actor that takes one small act for each turn.
//!
//! It follows the protocol of the real runner (architecture §6, "Worker lease"): take the lease or refuse; refuse a
//! superseded or repeated attempt; record the launch; work; record the end; let the lease go.

use orchestrate_core::identifier::{CommitId, Nonce, TaskId, Unit, UnitName};
use orchestrate_core::place::Place;
use orchestrate_core::process::ProcessIdentity;
use orchestrate_core::record::dispatch::DispatchRecord;
use orchestrate_core::record::launch::{LaunchRecord, WorkerEnd};
use orchestrate_core::time::Timestamp;
use orchestrate_core::world::WorktreeDirectory;

use super::host::Worktree;
use super::mind::shares_a_task;
use super::universe::Universe;

/// Where a runner stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Started, and has done nothing yet.
    Spawned,
    /// Holds the lease.
    Leased,
    /// Has found that it may start.
    Checked,
    /// Works, with that many commits to make.
    Working(usize),
    /// Has finished.
    Ending,
    /// Has recorded its end.
    Recorded,
    /// The runner is dead, its client works on and still holds the lease.
    Orphaned(usize),
    /// Runner and client are dead; a tool they started runs on in the worktree, for that many turns.
    Stray(usize),
    /// Nothing is left.
    Gone,
}

/// What the runner told the tower that started it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Told {
    Started,
    Refused(String),
}

/// One runner.
#[derive(Debug, Clone)]
pub(super) struct Worker {
    pub(super) host: usize,
    pub(super) name: UnitName,
    pub(super) identity: ProcessIdentity,
    pub(super) stage: Stage,
    pub(super) told: Option<Told>,
    pub(super) commits: usize,
    /// For how many turns the machine has not got round to it: a late runner is the interesting race.
    pub(super) delay: usize,
    /// A reference tower started it: it takes no lease, looks at no record and writes none.
    pub(super) of_a_peer: bool,
    attempt: Nonce,
    trailer: bool,
}

impl Worker {
    /// Returns whether a worker lives: from the moment it holds the lease until nothing of it is left.
    pub(super) fn lives(&self) -> bool {
        match self.stage {
            Stage::Leased
            | Stage::Checked
            | Stage::Working(_)
            | Stage::Ending
            | Stage::Recorded
            | Stage::Orphaned(_)
            | Stage::Stray(_) => true,
            Stage::Spawned | Stage::Gone => false,
        }
    }

    /// Returns whether it has begun to work. A late runner of an earlier unit may still hold the lease of that unit, and
    /// will find that it must not.
    pub(super) fn has_begun(&self) -> bool {
        match self.stage {
            Stage::Working(_) | Stage::Ending | Stage::Recorded | Stage::Orphaned(_) | Stage::Stray(_) => true,
            Stage::Spawned | Stage::Leased | Stage::Checked | Stage::Gone => false,
        }
    }

    /// Returns whether the tower that started it need not wait any longer.
    pub(super) fn has_answered(&self) -> bool {
        self.told.is_some() || self.stage == Stage::Gone
    }

    /// Everything of it dies with its machine.
    pub(super) fn vanish(&mut self) {
        self.stage = Stage::Gone;
    }
}

impl Universe {
    /// Starts a runner and returns its number.
    pub(super) fn start_runner(&mut self, host: usize, record: &DispatchRecord) -> usize {
        let reuse = self.random.chance(200);
        let identity = self.hosts[host].start_process(reuse);
        self.statistics.runners += 1;
        let delay = if !self.calm && self.random.chance(300) {
            self.random.between(20, 250)
        } else {
            0
        };
        self.workers.push(Worker {
            host,
            name: record.name(),
            identity,
            stage: Stage::Spawned,
            told: None,
            commits: 0,
            delay,
            of_a_peer: false,
            attempt: record.attempt.clone(),
            trailer: self.calm || !self.random.chance(250),
        });
        self.workers.len() - 1
    }

    /// Starts the worker of a reference tower, in a worktree that it makes or finds.
    pub(super) fn start_peer_worker(&mut self, host: usize, task: &TaskId) {
        let name = self.unit_name(Unit::single(task.clone()));
        let number = self.workers.len();
        let identity = self.hosts[host].start_process(false);
        let worktree = Worktree {
            locked: false,
            complete: true,
            directory: WorktreeDirectory::Populated,
            changes: Vec::new(),
            lease: None,
            half_retired: None,
        };
        let there = self.hosts[host].worktrees.entry(name.clone()).or_insert(worktree);
        there.complete = true;
        there.locked = false;
        there.directory = WorktreeDirectory::Populated;
        self.statistics.peer_workers += 1;
        let commits = self.random.below(4);
        self.workers.push(Worker {
            host,
            name,
            identity,
            stage: Stage::Working(commits),
            told: Some(Told::Started),
            commits: 0,
            delay: 0,
            of_a_peer: true,
            attempt: Nonce::from_bytes([0; 16]),
            trailer: !self.random.chance(250),
        });
        self.note_worker(number, || "is started by a reference tower".to_owned());
        self.judge_peer_start(number);
    }

    /// Returns the runners of which something is left.
    pub(super) fn active_workers(&self) -> Vec<usize> {
        let active = |(number, worker): (usize, &Worker)| (worker.stage != Stage::Gone).then_some(number);
        self.workers.iter().enumerate().filter_map(active).collect()
    }

    /// Returns whether a worker of this host has committed on the unit, or on one that shares a task with it.
    pub(super) fn worked_here(&self, host: usize, unit: &Unit) -> bool {
        self.workers
            .iter()
            .any(|worker| worker.host == host && shares_a_task(&worker.name.unit, unit) && worker.commits > 0)
    }

    /// Lets one runner do its next act, or die.
    pub(super) fn worker_turn(&mut self, number: usize) {
        if self.random.chance(self.faults.worker_death) {
            self.worker_death(number);
            return;
        }
        match self.workers[number].stage {
            Stage::Spawned => self.take_lease(number),
            Stage::Leased => self.check(number),
            Stage::Checked => self.launch(number),
            Stage::Working(0) => self.set(number, Stage::Ending),
            Stage::Working(left) => {
                self.commit(number, left == 1);
                self.set(number, Stage::Working(left - 1));
            }
            Stage::Ending if self.workers[number].of_a_peer => self.finish(number),
            Stage::Ending => {
                self.write_launch(number, true);
                self.set(number, Stage::Recorded);
            }
            Stage::Recorded | Stage::Orphaned(0) => self.finish(number),
            Stage::Orphaned(left) => {
                self.commit(number, left == 1);
                self.set(number, Stage::Orphaned(left - 1));
            }
            Stage::Stray(0) => self.set(number, Stage::Gone),
            Stage::Stray(left) => {
                if self.random.chance(10) {
                    self.commit(number, false);
                }
                self.set(number, Stage::Stray(left - 1));
            }
            Stage::Gone => {}
        }
    }

    fn set(&mut self, number: usize, stage: Stage) {
        self.workers[number].stage = stage;
        self.note_worker(number, || format!("is now {stage:?}"));
    }

    fn note_worker(&mut self, number: usize, text: impl FnOnce() -> String) {
        let name = &self.workers[number].name;
        self.trace.note(format_args!("worker {number} ({name})"), text);
    }

    fn take_lease(&mut self, number: usize) {
        let (host, name) = (self.workers[number].host, self.workers[number].name.clone());
        let worktree = self.hosts[host].worktrees.get_mut(&name);
        let worktree = worktree.filter(|worktree| worktree.directory != WorktreeDirectory::Missing);
        match worktree.map(|worktree| worktree.lease.get_or_insert(number)) {
            None => self.refuse(number, "its worktree is gone"),
            Some(holder) if *holder != number => self.refuse(number, "another worker holds the lease"),
            Some(_) => self.set(number, Stage::Leased),
        }
    }

    fn check(&mut self, number: usize) {
        let worker = &self.workers[number];
        let host = &self.hosts[worker.host];
        let record = host
            .file(&Place::DispatchRecord(worker.name.clone()))
            .map(DispatchRecord::parse);
        let launch = host
            .file(&Place::LaunchRecord(worker.name.clone()))
            .map(LaunchRecord::parse);
        let tip = host
            .refs
            .get(&worker.name.reference())
            .map(|tip| &self.commits.get(*tip).id);
        let moved = |start: &CommitId| self.scenario.runner.requires_start_commit && tip != Some(start);
        let refusal = match (record, launch) {
            (None | Some(Err(_)), _) => Some("its record cannot be read"),
            (Some(Ok(record)), _) if record.attempt != worker.attempt => Some("a later attempt superseded it"),
            (Some(Ok(record)), _) if record.given_up => Some("its tower has given it up"),
            (Some(Ok(_)), Some(Err(_))) => Some("the launch record cannot be read"),
            (Some(Ok(_)), Some(Ok(launch))) if launch.attempt == worker.attempt && launch.runner.is_some() => {
                Some("this attempt has started before")
            }
            (Some(Ok(record)), _) if moved(&record.start) => Some("the branch has moved since"),
            (Some(Ok(_)), _) => None,
        };
        match refusal {
            Some(why) => self.refuse(number, why),
            None => self.set(number, Stage::Checked),
        }
    }

    fn refuse(&mut self, number: usize, why: &str) {
        self.statistics.refused += 1;
        self.note_worker(number, || format!("refuses: {why}"));
        self.workers[number].told = Some(Told::Refused(why.to_owned()));
        self.finish(number);
    }

    fn launch(&mut self, number: usize) {
        self.judge_worker_start(number);
        self.write_launch(number, false);
        self.statistics.workers += 1;
        if self.workers[number].name.unit.size() == 2 {
            self.statistics.pairs += 1;
        }
        self.workers[number].told = Some(Told::Started);
        let commits = if self.calm { 1 } else { self.random.below(4) };
        self.set(number, Stage::Working(commits));
    }

    fn write_launch(&mut self, number: usize, ended: bool) {
        let worker = &self.workers[number];
        let (host, name) = (worker.host, worker.name.clone());
        let now = self.now(host);
        let place = Place::LaunchRecord(name);
        let earlier = self.hosts[host].file(&place).map(LaunchRecord::parse);
        let mut record = match earlier {
            Some(Ok(record)) if ended && record.attempt == worker.attempt => record,
            Some(_) | None => LaunchRecord::new(
                worker.attempt.clone(),
                Timestamp::from_seconds(now),
                Some(worker.identity.clone()),
            ),
        };
        if ended {
            record.ended = Some(WorkerEnd {
                at: Timestamp::from_seconds(now),
                status: "exit 0".to_owned(),
            });
        }
        self.hosts[host].put_file(place, record.render(), now);
    }

    /// Commits on the unit's branch; the last commit of most workers carries the trailers.
    fn commit(&mut self, number: usize, last: bool) {
        let worker = &self.workers[number];
        let (host, name, trailer) = (worker.host, worker.name.clone(), worker.trailer);
        let Some(tip) = self.hosts[host].refs.get(&name.reference()).copied() else {
            return;
        };
        let mut message = format!("feat: work on {name}\n");
        if last && trailer {
            message.push('\n');
            for task in name.unit.tasks() {
                message.push_str(&format!("Planwright-Task: {}/{task}\n", name.spec));
            }
        }
        let commit = self.commits.add(&[tip], message.as_bytes(), &name.spec);
        self.hosts[host].refs.insert(name.reference(), commit);
        self.hosts[host].objects.insert(commit);
        for task in name.unit.tasks() {
            self.work.entry(task.clone()).or_default().insert(commit);
        }
        self.workers[number].commits += 1;
        self.note_worker(number, || {
            format!(
                "commits {commit}{}",
                if last && trailer { " with the trailer" } else { "" }
            )
        });
    }

    fn finish(&mut self, number: usize) {
        let worker = self.workers[number].clone();
        self.free_lease(number);
        self.hosts[worker.host].end_process(&worker.identity);
        if worker.commits > 0 && self.random.chance(500) {
            self.push_branch(worker.host, &worker.name);
        }
        self.set(number, Stage::Gone);
    }

    fn free_lease(&mut self, number: usize) {
        let worker = &self.workers[number];
        let worktrees = &mut self.hosts[worker.host].worktrees;
        if let Some(worktree) = worktrees.get_mut(&worker.name)
            && worktree.lease == Some(number)
        {
            worktree.lease = None;
        }
    }

    /// Kills a runner: the whole tree of processes, or the runner alone, or all but a tool it started.
    fn worker_death(&mut self, number: usize) {
        let worker = self.workers[number].clone();
        self.note_worker(number, || "is killed".to_owned());
        self.hosts[worker.host].end_process(&worker.identity);
        if worker.stage == Stage::Checked && self.random.chance(300) {
            let cut = self.random.below(40);
            let now = self.now(worker.host);
            let bytes = LaunchRecord::new(worker.attempt, Timestamp::from_seconds(now), None).render();
            let torn = bytes.get(..cut).unwrap_or(&bytes).to_vec();
            self.hosts[worker.host].put_file(Place::LaunchRecord(worker.name.clone()), torn, now);
        }
        let at_work = match worker.stage {
            Stage::Working(left) | Stage::Orphaned(left) => Some(left),
            Stage::Spawned
            | Stage::Leased
            | Stage::Checked
            | Stage::Ending
            | Stage::Recorded
            | Stage::Stray(_)
            | Stage::Gone => None,
        };
        let next = match (at_work, self.random.below(3)) {
            (Some(left), 0) => Stage::Orphaned(left),
            (Some(_), 1) => Stage::Stray(self.random.between(1, 300)),
            (Some(_) | None, _) => Stage::Gone,
        };
        if !matches!(next, Stage::Orphaned(_)) {
            self.free_lease(number);
        }
        if at_work.is_some() && self.random.chance(300) {
            let worktrees = &mut self.hosts[worker.host].worktrees;
            if let Some(worktree) = worktrees.get_mut(&worker.name) {
                worktree.changes = vec!["half-done.txt".to_owned()];
            }
        }
        self.set(number, next);
    }
}
