//! What stands in the way of dispatching a task, by the judge's own knowledge (architecture §7).
//!
//! Deliberately not the product's derivation: it reads the model directly, so that a fault in the derivation shows.

use std::fmt;

use orchestrate_core::identifier::{Nonce, TaskId, Unit};
use orchestrate_core::place::{MarkerHome, Place};
use orchestrate_core::record::dispatch::DispatchRecord;
use orchestrate_core::record::fence::FenceIntent;
use orchestrate_core::record::launch::LaunchRecord;
use orchestrate_core::record::marker;

use super::law::Law;
use super::mind::shares_a_task;
use super::scenario::LawScope;
use super::universe::Universe;

/// One thing in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// A worker, or what is left of one, lives.
    LiveWorker(usize),
    /// Its work is on a ref that the clone has.
    Landed,
    /// A branch has commits that are not on base.
    OwnCommits,
    /// Another tower has recorded it and lives.
    TowerAtWork(Nonce),
    /// It reached a worker, which ended; no person has cleared it.
    HandedOver(Nonce),
    /// A claim that cannot be read.
    Unreadable(Place),
    /// A marker without a record of ours, of that time.
    Marker(i64),
    /// Its worktree holds changes that nobody committed.
    Uncommitted,
    /// A bullet parks it.
    Parked,
    /// A dependency has not landed.
    Dependency(TaskId),
}

impl Obstacle {
    /// Returns the law that a dispatch in spite of it breaks.
    pub(super) fn law(&self) -> Law {
        match self {
            Self::LiveWorker(_)
            | Self::Landed
            | Self::OwnCommits
            | Self::TowerAtWork(_)
            | Self::HandedOver(_)
            | Self::Marker(_) => Law::OneWorker,
            Self::Unreadable(_) => Law::Unknown,
            Self::Uncommitted => Law::Work,
            Self::Parked => Law::Parking,
            Self::Dependency(_) => Law::Dependencies,
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LiveWorker(worker) => write!(formatter, "worker {worker} lives"),
            Self::Landed => formatter.write_str("it has landed"),
            Self::OwnCommits => formatter.write_str("its branch has commits"),
            Self::TowerAtWork(_) => formatter.write_str("another tower is dispatching it"),
            Self::HandedOver(_) => formatter.write_str("its worker ended and no person cleared it"),
            Self::Unreadable(place) => write!(formatter, "{place} cannot be read"),
            Self::Marker(at) => write!(formatter, "a marker of {at} holds it"),
            Self::Uncommitted => formatter.write_str("its worktree holds uncommitted changes"),
            Self::Parked => formatter.write_str("a bullet parks it"),
            Self::Dependency(task) => write!(formatter, "task {task} has not landed"),
        }
    }
}

/// Returns whether the obstacle forbids a dispatch; only a bare marker ever ages. `latest` is the latest instant
/// that the tower was told.
pub(super) fn blocks(obstacle: &Obstacle, latest: Option<i64>, stale_minutes: i64) -> bool {
    match obstacle {
        Obstacle::Marker(at) => latest.is_none_or(|now| now - at <= stale_minutes * 60),
        Obstacle::LiveWorker(_)
        | Obstacle::Landed
        | Obstacle::OwnCommits
        | Obstacle::TowerAtWork(_)
        | Obstacle::HandedOver(_)
        | Obstacle::Unreadable(_)
        | Obstacle::Uncommitted
        | Obstacle::Parked
        | Obstacle::Dependency(_) => true,
    }
}

/// How far a dispatch of ours has come.
enum Claim {
    Launched,
    Abandoned,
    AtWork,
}

impl Universe {
    /// Returns what stands in the way of a dispatch of the task by that tower.
    pub(super) fn obstacles(&self, host: usize, tower: usize, task: &TaskId) -> Vec<Obstacle> {
        let unit = Unit::single(task.clone());
        let mut found: Vec<Obstacle> = self
            .live_workers(host, &unit)
            .into_iter()
            .map(Obstacle::LiveWorker)
            .collect();
        if self.landed_on(host, task) {
            found.push(Obstacle::Landed);
        }
        if self.has_own_commits(host, task) {
            found.push(Obstacle::OwnCommits);
        }
        self.claims(host, tower, task, &mut found);
        let spec = &self.bundle().spec;
        for place in [
            Place::Intent(spec.clone(), task.clone()),
            Place::GivenBack(spec.clone(), task.clone()),
        ] {
            let bytes = self.hosts[host].file(&place);
            if bytes.is_some_and(|bytes| FenceIntent::parse(bytes).is_err()) {
                found.push(Obstacle::Unreadable(place));
            }
        }
        let worktrees = self.hosts[host].worktrees.iter();
        let dirty = worktrees
            .filter(|(name, _)| name.unit.contains(task))
            .any(|(_, worktree)| worktree.complete && !worktree.changes.is_empty());
        if dirty {
            found.push(Obstacle::Uncommitted);
        }
        if self.bullets(host).contains_key(task) {
            found.push(Obstacle::Parked);
        }
        let needs = self.bundle().tasks.iter().filter(|(id, _)| id == task);
        let unmet = needs
            .flat_map(|(_, needs)| needs)
            .filter(|need| !self.landed_on(host, need));
        found.extend(unmet.cloned().map(Obstacle::Dependency));
        found
    }

    /// Returns the workers that live on a unit, within the reach of the law.
    pub(super) fn live_workers(&self, host: usize, unit: &Unit) -> Vec<usize> {
        let in_reach = |other: usize| match self.scenario.scope {
            LawScope::PerHost => other == host,
            LawScope::Origin => true,
        };
        self.workers
            .iter()
            .enumerate()
            .filter(|(_, worker)| worker.lives() && in_reach(worker.host) && shares_a_task(&worker.name.unit, unit))
            .map(|(number, _)| number)
            .collect()
    }

    /// Returns whether a branch of the task, here or as pushed, has commits that are not on base.
    fn has_own_commits(&self, host: usize, task: &TaskId) -> bool {
        let history = self.base_history(host);
        self.task_tips(host)
            .into_iter()
            .filter(|(unit, _)| unit.contains(task))
            .any(|(_, tip)| !self.commits.get(tip).history.without(&history).is_empty())
    }

    fn claims(&self, host: usize, tower: usize, task: &TaskId, found: &mut Vec<Obstacle>) {
        let mut recorded: Vec<(i64, Nonce, Claim)> = Vec::new();
        for place in self.hosts[host].files.keys() {
            let Place::DispatchRecord(name) = place else {
                continue;
            };
            if !name.unit.contains(task) {
                continue;
            }
            let launch_place = Place::LaunchRecord(name.clone());
            let parsed = self.hosts[host].file(place).map(DispatchRecord::parse);
            let Some(Ok(record)) = parsed else {
                found.push(Obstacle::Unreadable(place.clone()));
                continue;
            };
            let launch = self.hosts[host].file(&launch_place).map(LaunchRecord::parse);
            let claim = match launch {
                Some(Err(_)) => {
                    found.push(Obstacle::Unreadable(launch_place));
                    continue;
                }
                Some(Ok(launch)) if record.is_late(&launch) => {
                    found.push(Obstacle::HandedOver(record.attempt.clone()));
                    Claim::Launched
                }
                Some(Ok(launch)) if record.was_launched(&launch) => Claim::Launched,
                Some(Ok(_)) | None if !record.given_up && self.hosts[host].is_alive(&record.tower) => Claim::AtWork,
                Some(Ok(_)) | None => Claim::Abandoned,
            };
            let own = self.minds.get(tower).is_some_and(|mind| mind.identity == record.tower);
            if matches!(claim, Claim::AtWork) && !own {
                found.push(Obstacle::TowerAtWork(record.attempt.clone()));
            }
            recorded.push((record.dispatched.seconds(), record.attempt.clone(), claim));
        }
        self.marks(host, task, &recorded, found);
    }

    fn marks(&self, host: usize, task: &TaskId, recorded: &[(i64, Nonce, Claim)], found: &mut Vec<Obstacle>) {
        for home in MarkerHome::ALL {
            let place = Place::Marker(self.bundle().spec.clone(), task.clone(), home);
            let Some(bytes) = self.hosts[host].file(&place) else {
                continue;
            };
            match marker::parse(bytes) {
                Err(_) => found.push(Obstacle::Unreadable(place)),
                Ok(at) => match recorded.iter().find(|(recorded, ..)| *recorded >= at.seconds()) {
                    Some((_, attempt, Claim::Launched)) => found.push(Obstacle::HandedOver(attempt.clone())),
                    Some((_, _, Claim::Abandoned | Claim::AtWork)) => {}
                    None => found.push(Obstacle::Marker(at.seconds())),
                },
            }
        }
    }
}
