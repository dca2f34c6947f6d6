//! The laws, each judged at the very effect that would break it (architecture §2).
//!
//! The judge knows more than a tower can: who really lives, who really took a lock, what each tower was told. It
//! convicts only for what the tower could have known when it looked: an obstacle counts when it was there before the
//! tower took the lock and still is.

use orchestrate_core::identifier::{CommitId, UnitName};
use orchestrate_core::place::{MarkerHome, Place};
use orchestrate_core::record::dispatch::DispatchRecord;
use orchestrate_core::record::marker;

use super::host::{LockTruth, Taker};
use super::law::Law;
use super::mind::{Query, Tenure, shares_a_task};
use super::obstacles::blocks;
use super::universe::Universe;

impl Universe {
    /// Judges a durable effect on a unit: branch, registration, record or marker.
    fn judge_durable(&mut self, tower: usize, name: &UnitName, what: &str) {
        if !self.minds[tower].holds_or_was_robbed() {
            self.convict(Law::Lock, || {
                format!("tower {tower} {what} of {name} without holding the lock")
            });
            return;
        }
        if self.scenario.changed_after_sign_off {
            self.convict(Law::Gate, || {
                format!("tower {tower} {what} of {name} although the bundle changed after it was signed")
            });
        }
        let unread = self.minds[tower].unread_about(name).cloned();
        if let Some(query) = unread {
            self.convict(Law::Unknown, || {
                format!("tower {tower} {what} of {name} although it could not read {query}")
            });
        }
        self.judge_after_writing(tower, what);
        self.judge_obstacles(tower, name, what);
    }

    fn judge_obstacles(&mut self, tower: usize, name: &UnitName, what: &str) {
        let mind = &self.minds[tower];
        let Some(tenure) = mind.tenure.as_ref().filter(|tenure| !tenure.robbed) else {
            return;
        };
        for task in name.unit.tasks() {
            let before = tenure.obstacles.get(task).map(Vec::as_slice).unwrap_or_default();
            if before.is_empty() {
                continue;
            }
            let now = self.obstacles(mind.host, tower, task);
            let found = before
                .iter()
                .find(|obstacle| now.contains(obstacle) && blocks(obstacle, mind.latest, self.scenario.stale_minutes));
            if let Some(obstacle) = found.cloned() {
                self.convict(obstacle.law(), || {
                    format!("tower {tower} {what} of {name} although {obstacle}")
                });
                return;
            }
        }
    }

    /// Judges that the gate was passed in this tenure: exactly at `at` for a start commit, or at an ancestor of it for
    /// a branch that a late worker may have moved on.
    fn judge_gate(&mut self, tower: usize, at: &CommitId, exactly: bool, what: &str) {
        let Some(commit) = self.commits.find(at) else { return };
        let Some(tenure) = &self.minds[tower].tenure else {
            return;
        };
        let passed = tenure
            .gates
            .iter()
            .any(|gate| *gate == commit || (!exactly && self.commits.contains(commit, *gate)));
        if !passed {
            self.convict(Law::Order, || {
                format!(
                    "tower {tower} {what} at {} before it read the sign-off there under the lock",
                    at.short()
                )
            });
        }
    }

    pub(super) fn judge_branch(&mut self, tower: usize, name: &UnitName, at: &CommitId) {
        self.judge_durable(tower, name, "makes the branch");
        self.judge_fence(tower, name, "makes the branch");
        self.judge_gate(tower, at, true, "makes a branch");
    }

    pub(super) fn judge_advance(&mut self, tower: usize, name: &UnitName, to: &CommitId) {
        self.judge_durable(tower, name, "moves the branch");
        self.judge_fence(tower, name, "moves the branch");
        self.judge_gate(tower, to, true, "moves a branch");
        let worktree = self.hosts[self.minds[tower].host].worktrees.get(name);
        if worktree.is_some_and(|worktree| worktree.complete) {
            self.convict(Law::Work, || {
                format!("tower {tower} moves the branch of {name} under its worktree")
            });
        }
    }

    pub(super) fn judge_registration(&mut self, tower: usize, name: &UnitName) {
        self.judge_durable(tower, name, "registers the worktree");
        match self.branch_tip(tower, name) {
            Some(tip) => self.judge_gate(tower, &tip, false, "registers a worktree"),
            None if self.had(tower, |tenure| tenure.had_branch.contains(name)) => {}
            None => self.convict(Law::Order, || {
                format!("tower {tower} registers the worktree of {name} before its branch")
            }),
        }
    }

    pub(super) fn judge_write(&mut self, tower: usize, place: &Place, bytes: &[u8]) {
        match place {
            Place::BundleFile(..) => self.judge_bundle(tower, place, bytes),
            Place::Marker(..) => self.judge_marker(tower, place),
            Place::DispatchRecord(name) => self.judge_record(tower, name, bytes),
            Place::OwnerIn(directory) if matches!(directory.place(), Place::Lock(_)) => {
                self.judge_taking_away(tower, "rewrites the owner of");
            }
            Place::OwnerIn(_)
            | Place::LaunchRecord(_)
            | Place::RedoDirectory(_)
            | Place::Redo(..)
            | Place::Lock(_)
            | Place::LockStaging(..)
            | Place::LockAside(..)
            | Place::MarkerDirectory(..)
            | Place::RecordDirectory(_)
            | Place::IntentDirectory(_)
            | Place::ForeignFences(_)
            | Place::FenceSightings(_) => {}
            Place::Intent(..) | Place::GivenBack(..) => self.judge_intent(tower, place),
        }
    }

    fn judge_record(&mut self, tower: usize, name: &UnitName, bytes: &[u8]) {
        let parsed = DispatchRecord::parse(bytes);
        // An earlier attempt's record that is put back claims the unit for whoever may work on it: it starts nothing, and
        // what could not be read is the reason for it.
        let is_put_back =
            |record: &DispatchRecord| self.minds.iter().any(|mind| mind.attempts.contains(&record.attempt));
        if parsed.as_ref().is_ok_and(is_put_back) && self.minds[tower].holds_or_was_robbed() {
            return;
        }
        self.judge_durable(tower, name, "writes the record");
        self.judge_fence(tower, name, "writes the record");
        let Ok(record) = parsed else {
            return;
        };
        self.judge_gate(tower, &record.start, true, "records a dispatch");
        self.judge_dependencies(tower, name, &record.start);
        self.minds[tower].attempts.push(record.attempt);
    }

    /// Judges that what the branch starts from holds the work of every dependency.
    fn judge_dependencies(&mut self, tower: usize, name: &UnitName, start: &CommitId) {
        let Some(start) = self.commits.find(start) else { return };
        let tasks = &self.bundle().tasks;
        let dependencies = tasks.iter().filter(|(task, _)| name.unit.contains(task));
        let missing = dependencies.flat_map(|(_, needs)| needs).find(|need| {
            let history = &self.commits.get(start).history;
            !self.work.get(*need).is_some_and(|work| work.meets(history))
        });
        if let Some(missing) = missing.cloned() {
            self.convict(Law::Dependencies, || {
                format!("tower {tower} records {name}, whose start does not hold task {missing}")
            });
        }
    }

    fn judge_marker(&mut self, tower: usize, place: &Place) {
        let Place::Marker(spec, task, _) = place else { return };
        if !self.minds[tower].holds_or_was_robbed() {
            self.convict(Law::Lock, || {
                format!("tower {tower} writes {place} without holding the lock")
            });
            return;
        }
        let branches = self.hosts[self.minds[tower].host].task_branches(spec);
        let here = branches.into_iter().map(|(unit, _)| self.unit_name(unit));
        let before = self.minds[tower]
            .tenure
            .iter()
            .flat_map(|tenure| tenure.had_branch.iter().cloned());
        let named: Vec<UnitName> = here.chain(before).filter(|name| name.unit.contains(task)).collect();
        // A pair and its members may each have a branch. The claim is of the unit that this tower has recorded.
        let recorded = named.iter().find(|name| self.has_recorded(tower, name));
        let Some(name) = recorded.or(named.first()).cloned() else {
            self.convict(Law::Order, || format!("tower {tower} writes {place} before the branch"));
            return;
        };
        self.judge_durable(tower, &name, "writes the marker");
        if !self.had(tower, |tenure| tenure.had_worktree.contains(&name)) {
            self.convict(Law::Order, || {
                format!("tower {tower} writes {place} before the worktree is registered")
            });
        }
        if let Some(tip) = self.branch_tip(tower, &name) {
            self.judge_gate(tower, &tip, false, "writes a marker");
        }
    }

    fn has_recorded(&self, tower: usize, name: &UnitName) -> bool {
        let mind = &self.minds[tower];
        let record = self.hosts[mind.host]
            .file(&Place::DispatchRecord(name.clone()))
            .map(DispatchRecord::parse);
        matches!(record, Some(Ok(record)) if !record.given_up && mind.attempts.contains(&record.attempt))
    }

    fn had(&self, tower: usize, asked: impl FnOnce(&Tenure) -> bool) -> bool {
        self.minds[tower].tenure.as_ref().is_some_and(asked)
    }

    pub(super) fn judge_removal(&mut self, tower: usize, place: &Place) {
        match place {
            Place::BundleFile(..) => self.convict(Law::Bundle, || format!("tower {tower} removes {place}")),
            Place::Lock(_) => self.judge_taking_away(tower, "removes"),
            Place::Marker(..) | Place::LaunchRecord(_) | Place::Intent(..) | Place::GivenBack(..) => {
                self.judge_removal_of_claim(tower, place);
            }
            Place::DispatchRecord(name) => {
                self.judge_removal_of_claim(tower, place);
                self.judge_orphans(tower, name);
            }
            Place::OwnerIn(directory) if matches!(directory.place(), Place::Lock(_)) => {
                self.judge_taking_away(tower, "removes the owner of");
            }
            Place::OwnerIn(_)
            | Place::LockStaging(..)
            | Place::LockAside(..)
            | Place::MarkerDirectory(..)
            | Place::RedoDirectory(_)
            | Place::Redo(..)
            | Place::RecordDirectory(_)
            | Place::IntentDirectory(_)
            | Place::ForeignFences(_)
            | Place::FenceSightings(_) => {}
        }
    }

    fn judge_intent(&mut self, tower: usize, place: &Place) {
        if !self.minds[tower].holds_or_was_robbed() {
            self.convict(Law::Lock, || {
                format!("tower {tower} writes {place} without holding the lock")
            });
        }
    }

    fn judge_removal_of_claim(&mut self, tower: usize, place: &Place) {
        if !self.minds[tower].holds_or_was_robbed() {
            self.convict(Law::Lock, || {
                format!("tower {tower} removes {place} without holding the lock")
            });
        }
    }

    /// Judges that a worktree is retired of a unit alone that has landed with every commit of its branch, and only by who was
    /// told, with the lock held, that nothing keeps it: no change in it and no worker.
    pub(super) fn judge_retirement(&mut self, tower: usize, name: &UnitName, tip: &CommitId) {
        let host = self.minds[tower].host;
        if !self.minds[tower].holds_or_was_robbed() {
            self.convict(Law::Lock, || {
                format!("tower {tower} retires the worktree of {name} without holding the lock")
            });
            return;
        }
        if let Some(query) = self.minds[tower].unread_about_landing(name).cloned() {
            self.convict(Law::Unknown, || {
                format!("tower {tower} retires the worktree of {name} although it could not read {query}")
            });
            return;
        }
        if !self.had(tower, |tenure| tenure.told_free.contains(name)) {
            self.convict(Law::Work, || {
                format!("tower {tower} retires the worktree of {name} without having been told that nothing keeps it")
            });
            return;
        }
        let landed = name.unit.tasks().all(|task| self.landed_on(host, task));
        let ahead = self.commits.find(tip).map_or(0, |tip| {
            let history = &self.commits.get(tip).history;
            history.without(&self.base_history(host)).len()
        });
        if !landed || ahead > 0 {
            self.convict(Law::Work, || {
                format!("tower {tower} retires the worktree of {name}: landed {landed}, {ahead} commits have not")
            });
        }
    }

    /// Judges that no marker stays behind that a record speaks for: without the record only age would free the unit,
    /// and no person would be told.
    fn judge_orphans(&mut self, tower: usize, name: &UnitName) {
        let mind = &self.minds[tower];
        let host = &self.hosts[mind.host];
        let record = host
            .file(&Place::DispatchRecord(name.clone()))
            .map(DispatchRecord::parse);
        let Some(Ok(record)) = record else { return };
        if mind.tenure.as_ref().is_none_or(|tenure| tenure.robbed) {
            return;
        }
        let orphan = MarkerHome::ALL
            .into_iter()
            .flat_map(|home| name.unit.tasks().map(move |task| (home, task)))
            .map(|(home, task)| Place::Marker(name.spec.clone(), task.clone(), home))
            .find(|marker| {
                let at = host.file(marker).map(marker::parse);
                at.is_some_and(|at| at.is_ok_and(|at| at <= record.dispatched))
            });
        if let Some(marker) = orphan {
            self.convict(Law::Convergence, || {
                format!("tower {tower} removes the record of {name} before {marker}")
            });
        }
    }

    /// Judges that the published lock may be taken away: by its owner; from a dead tower, with the kernel's window
    /// lock held, so that only one breaks it; or by the age rule from whoever left no living process to ask.
    pub(super) fn judge_taking_away(&mut self, tower: usize, act: &str) {
        let host = self.minds[tower].host;
        let spec = self.bundle().spec.clone();
        let Some(truth) = self.hosts[host].lock(&spec) else {
            return;
        };
        if truth.by == Taker::Tower(tower) || self.swapped_by_a_peer(tower, truth) {
            return;
        }
        if let Some(why) = self.why_not_taken_away(tower, truth) {
            self.convict(Law::Lock, || {
                format!("tower {tower} {act} the lock of somebody else: {why}")
            });
            return;
        }
        let owner = orchestrate_core::place::LockDirectory::Published(spec.clone()).owner();
        // Who holds the window lock knows from the kernel that the owner is dead, whatever its pid would say.
        let knows_by_the_window = self.hosts[host].windows.get(&spec) == Some(&tower);
        let mut asked = vec![Query::Read(Place::Lock(spec)), Query::Read(owner)];
        if let Taker::Tower(other) = truth.by
            && !knows_by_the_window
        {
            asked.push(Query::liveness(&self.minds[other].identity));
        }
        if let Some(query) = asked.into_iter().find(|query| self.minds[tower].unread.contains(query)) {
            self.convict(Law::Unknown, || {
                format!("tower {tower} {act} the lock although it could not read {query}")
            });
        }
        self.statistics.locks_broken += 1;
    }

    /// A reference tower may break a lock and take it between any look and any act; no protocol of ours closes that.
    fn swapped_by_a_peer(&self, tower: usize, truth: LockTruth) -> bool {
        truth.by == Taker::Peer && self.minds[tower].lock_seen != Some(truth.incarnation)
    }

    fn why_not_taken_away(&self, tower: usize, truth: LockTruth) -> Option<String> {
        let mind = &self.minds[tower];
        let spec = &self.bundle().spec;
        let host = &self.hosts[mind.host];
        let owner = orchestrate_core::place::LockDirectory::Published(spec.clone()).owner();
        match truth.by {
            Taker::Tower(other) if host.file(&owner).is_some() => {
                if self.runs(other) {
                    Some(format!("tower {other} lives"))
                } else if host.windows.get(spec) != Some(&tower) {
                    Some("the window lock is not held, so two could break it".to_owned())
                } else {
                    None
                }
            }
            Taker::Tower(_) | Taker::Peer => {
                let age = self.lock_age(mind.host, mind.latest);
                (age.div_euclid(60) <= self.scenario.stale_minutes)
                    .then(|| format!("nobody is named in it and it is only {age} s old"))
            }
        }
    }

    fn lock_age(&self, host: usize, latest: Option<i64>) -> i64 {
        let lock = Place::Lock(self.bundle().spec.clone());
        match self.hosts[host].files.get(&lock) {
            Some(super::host::Node::Directory { modified, .. }) => latest.unwrap_or_else(|| self.now(host)) - modified,
            Some(super::host::Node::File { .. }) | None => i64::MAX,
        }
    }

    /// Judges that a long act does not happen under the lock.
    pub(super) fn judge_outside_lock(&mut self, tower: usize, what: &str) {
        let holds_window = {
            let mind = &self.minds[tower];
            self.hosts[mind.host].windows.values().any(|holder| *holder == tower)
        };
        if self.minds[tower].holds() || holds_window {
            self.convict(Law::Lock, || format!("tower {tower} {what} while it holds the lock"));
        }
    }

    pub(super) fn judge_spawn(&mut self, tower: usize, record: &DispatchRecord) {
        self.judge_outside_lock(tower, "spawns a worker");
        self.judge_after_writing(tower, "spawns a worker");
        if !self.minds[tower].attempts.contains(&record.attempt) {
            self.convict(Law::Order, || {
                format!("tower {tower} spawns a worker for an attempt it never recorded")
            });
        }
    }

    /// Judges the moment at which a worker begins to work.
    pub(super) fn judge_worker_start(&mut self, worker: usize) {
        let (host, name) = (self.workers[worker].host, self.workers[worker].name.clone());
        let other = self
            .live_workers(host, &name.unit)
            .into_iter()
            .find(|other| *other != worker && self.workers[*other].has_begun());
        if let Some(other) = other {
            self.statistics.double_dispatches += 1;
            self.convict(Law::OneWorker, || {
                format!("worker {worker} starts on {name} while worker {other} lives")
            });
        }
        if !self.hosts[host]
            .worktrees
            .get(&name)
            .is_some_and(|worktree| worktree.complete)
        {
            self.convict(Law::Order, || {
                format!("worker {worker} starts on {name} before its checkout is complete")
            });
        }
        let branches = self.hosts[host].task_branches(&name.spec);
        let has_work = name.unit.tasks().any(|task| self.landed_on(host, task))
            || branches
                .iter()
                .any(|(unit, _)| shares_a_task(unit, &name.unit) && self.ahead(host, unit) > 0);
        if has_work && self.scenario.late_landing && self.worked_here(host, &name.unit) {
            self.statistics.double_dispatches += 1;
            self.convict(Law::OneWorker, || {
                format!("worker {worker} starts on {name}, whose work another worker has done")
            });
        }
    }

    /// Judges the moment at which the worker of a reference tower begins: its fence would have been refused, had not a
    /// tower of ours taken its own away from a unit that is worked on.
    pub(super) fn judge_peer_start(&mut self, worker: usize) {
        let (host, name) = (self.workers[worker].host, self.workers[worker].name.clone());
        let live = self.live_workers(host, &name.unit);
        let other = live
            .into_iter()
            .find(|other| *other != worker && self.workers[*other].has_begun() && !self.workers[*other].of_a_peer);
        let has_landed = name.unit.tasks().any(|task| self.landed_at_origin(task));
        if let Some(other) = other.filter(|_| !has_landed) {
            self.statistics.double_dispatches += 1;
            self.convict(Law::OneWorker, || {
                format!("a reference tower's worker {worker} starts on {name} while worker {other} lives")
            });
        }
    }

    /// Judges a tower that ended on its own.
    pub(super) fn judge_end(&mut self, tower: usize) {
        if self.minds[tower].holds() && !self.minds[tower].excused {
            self.convict(Law::Lock, || {
                format!("tower {tower} ends its step and leaves its lock behind")
            });
        }
    }

    fn branch_tip(&self, tower: usize, name: &UnitName) -> Option<CommitId> {
        let host = &self.hosts[self.minds[tower].host];
        let tip = host.refs.get(&name.reference())?;
        Some(self.commits.get(*tip).id.clone())
    }
}
