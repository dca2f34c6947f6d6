//! The people: who merge, clear, tidy, pull and push, on any host and at any time. What a person removes is a
//! person's affair; the laws judge towers.

use orchestrate_core::identifier::{TaskId, Unit, UnitName};
use orchestrate_core::place::{MarkerHome, Place};
use orchestrate_core::record::dispatch::DispatchRecord;
use orchestrate_core::record::launch::LaunchRecord;

use super::commits::CommitIndex;
use super::host::{BASE, COUNTERPART};
use super::obstacles::Obstacle;
use super::universe::Universe;

impl Universe {
    /// Lets somebody do one thing on some host.
    pub(super) fn person_turn(&mut self) {
        let host = self.random.below(self.hosts.len());
        match self.random.below(6) {
            0 | 1 => self.land_one(host),
            2 => self.synchronise(host),
            3 => self.fetch(host),
            4 => self.clear_what_needs_a_person(host),
            _ => {
                self.tidy(host);
                self.clear_what_needs_a_person(host);
            }
        }
    }

    fn note_person(&mut self, host: usize, text: impl FnOnce() -> String) {
        self.trace.note(format_args!("person on host {}", host + 1), text);
    }

    /// Lands every branch that has something to land.
    pub(super) fn land_everything(&mut self, host: usize) {
        for unit in self.landable(host) {
            self.land(host, &unit);
        }
    }

    fn land_one(&mut self, host: usize) {
        let units = self.landable(host);
        if !units.is_empty() {
            let unit = units[self.random.below(units.len())].clone();
            self.land(host, &unit);
        }
    }

    fn landable(&self, host: usize) -> Vec<Unit> {
        let branches = self.hosts[host].task_branches(&self.bundle().spec);
        branches
            .into_iter()
            .map(|(unit, _)| unit)
            .filter(|unit| self.ahead(host, unit) > 0)
            .filter(|unit| !self.trailer_on_base(host, unit))
            .collect()
    }

    fn trailer_on_base(&self, host: usize, unit: &Unit) -> bool {
        let history = self.base_history(host);
        unit.tasks().all(|task| {
            history
                .iter()
                .any(|commit| self.commits.get(commit).trailers.contains(task))
        })
    }

    fn land(&mut self, host: usize, unit: &Unit) {
        let name = self.unit_name(unit.clone());
        let refs = &self.hosts[host].refs;
        let (Some(base), Some(tip)) = (refs.get(BASE).copied(), refs.get(&name.reference()).copied()) else {
            return;
        };
        match self.random.below(4) {
            0 => {
                self.squash(host, &name, base);
                let is_over = self.live_workers(host, unit).is_empty();
                if is_over && self.random.chance(500) {
                    self.delete_branch(host, &name);
                }
            }
            1 if self.commits.contains(tip, base) && self.hosts.len() == 1 => {
                self.set_base(host, tip);
                self.note_person(host, || format!("fast-forwards main to {name} at {tip}"));
            }
            _ => self.merge(host, &name, base, tip),
        }
    }

    fn squash(&mut self, host: usize, name: &UnitName, base: CommitIndex) {
        let message = format!("feat: {name} (#1)\n\n* feat: one\n\n* feat: two\n\n{}", trailers(name));
        let commit = self.work_commit(&[base], &message, name);
        self.set_base(host, commit);
        self.note_person(host, || format!("squashes {name} into main as {commit}"));
    }

    /// Merges; where other clones have only main to go by, the merge commit carries the trailer.
    fn merge(&mut self, host: usize, name: &UnitName, base: CommitIndex, tip: CommitIndex) {
        let alone = self.hosts.len() == 1;
        let trailers = if alone { String::new() } else { trailers(name) };
        let message = format!("Merge branch '{}'\n\n{trailers}", name.branch());
        let commit = if alone {
            self.commits.add(&[base, tip], message.as_bytes(), &name.spec)
        } else {
            self.work_commit(&[base, tip], &message, name)
        };
        self.set_base(host, commit);
        self.note_person(host, || format!("merges {name} at {tip} into main as {commit}"));
    }

    fn work_commit(&mut self, parents: &[CommitIndex], message: &str, name: &UnitName) -> CommitIndex {
        let commit = self.commits.add(parents, message.as_bytes(), &name.spec);
        for task in name.unit.tasks() {
            self.work.entry(task.clone()).or_default().insert(commit);
        }
        commit
    }

    fn set_base(&mut self, host: usize, commit: CommitIndex) {
        self.hosts[host].objects.insert(commit);
        self.hosts[host].refs.insert(BASE.to_owned(), commit);
    }

    pub(super) fn delete_branch(&mut self, host: usize, name: &UnitName) {
        self.hosts[host].worktrees.remove(name);
        self.hosts[host].refs.remove(&name.reference());
        self.hosts[host].moved_to.remove(&name.reference());
        self.note_person(host, || format!("deletes the worktree and the branch of {name}"));
    }

    /// Pushes a task branch as it is here.
    pub(super) fn push_branch(&mut self, host: usize, name: &UnitName) {
        if !self.reaches_origin(host) {
            return;
        }
        self.keep_past();
        let tip = self.hosts[host].refs.get(&name.reference()).copied();
        let (Some(tip), Some(origin)) = (tip, &mut self.origin) else {
            return;
        };
        origin.insert(name.reference(), tip);
        let tracking = format!("refs/remotes/origin/{}", name.branch());
        self.hosts[host].refs.insert(tracking, tip);
    }

    pub(super) fn fetch(&mut self, host: usize) {
        if !self.reaches_origin(host) {
            return;
        }
        let before = self.hosts[host].refs.clone();
        self.bring(host, usize::MAX);
        if self.hosts[host].refs != before {
            self.note_person(host, || "fetches".to_owned());
        }
    }

    /// Brings that many of origin's branches to the host, in the order of their names.
    pub(super) fn bring(&mut self, host: usize, most: usize) {
        let branches: Vec<(String, CommitIndex)> = self.origin.iter().flatten().take(most).map(owned).collect();
        self.bring_these(host, &branches);
    }

    /// Sets what the host knows of origin's branches.
    pub(super) fn bring_these(&mut self, host: usize, branches: &[(String, CommitIndex)]) {
        for (reference, tip) in branches {
            let short = reference.strip_prefix("refs/heads/").unwrap_or(reference);
            let clone = &mut self.hosts[host];
            clone.objects.add_all(&self.commits.get(*tip).history);
            clone.refs.insert(format!("refs/remotes/origin/{short}"), *tip);
        }
    }

    /// Pulls main, by a merge where it has diverged, and pushes it.
    pub(super) fn synchronise(&mut self, host: usize) {
        if !self.reaches_origin(host) {
            return;
        }
        self.fetch(host);
        let refs = &self.hosts[host].refs;
        let (Some(here), Some(there)) = (refs.get(BASE).copied(), refs.get(COUNTERPART).copied()) else {
            return;
        };
        let spec = self.bundle().spec.clone();
        let tip = if self.commits.contains(here, there) {
            here
        } else if self.commits.contains(there, here) {
            there
        } else {
            self.commits
                .add(&[here, there], b"Merge remote-tracking branch 'origin/main'\n", &spec)
        };
        if here == there {
            return;
        }
        self.set_base(host, tip);
        self.hosts[host].refs.insert(COUNTERPART.to_owned(), tip);
        self.keep_past();
        if let Some(origin) = &mut self.origin {
            origin.insert(BASE.to_owned(), tip);
        }
        self.note_person(host, || format!("pulls and pushes main at {tip}"));
    }

    /// Clears the claims that only a person may clear: of a worker that ended without a commit, and what cannot be
    /// read. Everything else has to free itself.
    pub(super) fn clear_what_needs_a_person(&mut self, host: usize) {
        for task in self.task_ids() {
            // People see who holds the lease; a tool that outlived its worker they overlook.
            let is_leased = self.hosts[host]
                .worktrees
                .iter()
                .any(|(name, worktree)| name.unit.contains(&task) && worktree.lease.is_some());
            let branches = self.hosts[host].task_branches(&self.bundle().spec);
            let has_commits = branches
                .iter()
                .any(|(unit, _)| unit.contains(&task) && self.ahead(host, unit) > 0);
            let busy = is_leased || has_commits || self.landed_on(host, &task);
            if busy {
                continue;
            }
            self.clear_lonely_launches(host, &task);
            let obstacles = self.obstacles(host, usize::MAX, &task);
            let far = self.now(host) + self.scenario.stale_minutes * 60;
            let needs_person = obstacles.iter().any(|obstacle| match obstacle {
                Obstacle::HandedOver(_) | Obstacle::Unreadable(_) | Obstacle::Parked => true,
                Obstacle::Marker(at) => *at > far,
                Obstacle::LiveWorker(_)
                | Obstacle::Landed
                | Obstacle::OwnCommits
                | Obstacle::TowerAtWork(_)
                | Obstacle::Uncommitted
                | Obstacle::Dependency(_) => false,
            });
            if needs_person {
                self.clear(host, &task, &obstacles);
            }
        }
    }

    /// Removes a launch record that cannot be read and that no dispatch record stands beside.
    fn clear_lonely_launches(&mut self, host: usize, task: &TaskId) {
        let files = &mut self.hosts[host].files;
        let lonely = |place: &&Place| {
            let Place::LaunchRecord(name) = place else { return false };
            name.unit.contains(task) && !files.contains_key(&Place::DispatchRecord(name.clone()))
        };
        let lonely: Vec<Place> = files.keys().filter(lonely).cloned().collect();
        for place in lonely {
            let unreadable = |bytes: &[u8]| LaunchRecord::parse(bytes).is_err();
            if self.hosts[host].file(&place).is_some_and(unreadable) {
                self.statistics.cleared += 1;
                self.hosts[host].files.remove(&place);
            }
        }
    }

    fn clear(&mut self, host: usize, task: &TaskId, obstacles: &[Obstacle]) {
        self.statistics.cleared += 1;
        self.note_person(host, || format!("clears the claim on task {task}"));
        self.unpark(host, task);
        let beside = self.minds.iter_mut().filter(|mind| mind.host == host);
        for tenure in beside.filter_map(|mind| mind.tenure.as_mut()) {
            tenure.cleared.insert(task.clone());
        }
        let spec = self.bundle().spec.clone();
        for name in self.late_launches(host, task) {
            self.hosts[host].files.remove(&Place::LaunchRecord(name.clone()));
            self.hosts[host].files.remove(&Place::DispatchRecord(name));
        }
        for home in MarkerHome::ALL {
            let marker = Place::Marker(spec.clone(), task.clone(), home);
            self.hosts[host].files.remove(&marker);
        }
        for obstacle in obstacles {
            if let Obstacle::Unreadable(place) = obstacle {
                self.hosts[host].files.remove(place);
            }
        }
    }

    /// Returns the units of the task whose worker no marker speaks of: only a tower's own command gives them up.
    fn late_launches(&self, host: usize, task: &TaskId) -> Vec<UnitName> {
        let files = &self.hosts[host];
        let is_late = |name: &&UnitName| {
            let launch = files
                .file(&Place::LaunchRecord((*name).clone()))
                .map(LaunchRecord::parse);
            let record = files
                .file(&Place::DispatchRecord((*name).clone()))
                .map(DispatchRecord::parse);
            matches!((record, launch), (Some(Ok(record)), Some(Ok(launch))) if record.is_late(&launch))
        };
        let of_task = |place: &Place| {
            let Place::DispatchRecord(name) = place else {
                return None;
            };
            name.unit.contains(task).then(|| name.clone())
        };
        let names: Vec<UnitName> = files.files.keys().filter_map(of_task).collect();
        names.iter().filter(is_late).cloned().collect()
    }

    /// Removes worktrees and branches without commits that start before the current base, and, where no reflog tells
    /// where a branch started, those that a tower cannot tell from landed ones.
    pub(super) fn free_outdated(&mut self, host: usize) {
        let branches: Vec<UnitName> = self.hosts[host]
            .refs
            .keys()
            .filter_map(|name| UnitName::from_branch(name).ok())
            .collect();
        for name in branches {
            let refs = &self.hosts[host].refs;
            let outdated = refs
                .get(&name.reference())
                .is_some_and(|tip| refs.get(BASE).is_some_and(|base| !self.commits.contains(*tip, *base)));
            let landed = name.unit.tasks().all(|task| self.landed_on(host, task));
            let busy = self.ahead(host, &name.unit) > 0 || !self.live_workers(host, &name.unit).is_empty();
            let untold = !self.scenario.reflogs;
            if (outdated || untold) && !landed && !busy {
                self.statistics.freed += 1;
                self.delete_branch(host, &name);
            }
        }
    }

    /// Moves uncommitted changes away from worktrees in which nobody works.
    pub(super) fn tidy(&mut self, host: usize) {
        for name in self.hosts[host].worktrees.keys().cloned().collect::<Vec<_>>() {
            let idle = self.live_workers(host, &name.unit).is_empty();
            if let Some(worktree) = self.hosts[host].worktrees.get_mut(&name)
                && idle
                && !worktree.changes.is_empty()
            {
                worktree.changes.clear();
                self.note_person(host, || format!("moves the changes of {name} away"));
            }
        }
    }
}

/// Returns a ref with where it leads.
pub(super) fn owned((reference, tip): (&String, &CommitIndex)) -> (String, CommitIndex) {
    (reference.clone(), *tip)
}

fn trailers(name: &UnitName) -> String {
    let lines = name
        .unit
        .tasks()
        .map(|task| format!("Planwright-Task: {}/{task}\n", name.spec));
    lines.collect()
}
