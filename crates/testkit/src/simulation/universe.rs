//! The shared model of one schedule: hosts, origin, commits, workers and what the judge knows of each tower.
//!
//! Owned by one schedule and borrowed for one call at a time; nobody keeps a borrow across a suspension.

use std::collections::BTreeMap;

use orchestrate_core::identifier::{TaskId, Unit, UnitName};

use super::commits::{CommitIndex, CommitSet, Commits};
use super::host::{BASE, COUNTERPART, Host, Taker};
use super::law::Law;
use super::mind::Mind;
use super::network::Network;
use super::origin::FencedOrigin;
use super::random::Random;
use super::scenario::{Faults, Scenario, SimulatedBundle};
use super::statistics::Statistics;
use super::trace::{Keeping, Trace};
use super::worker::Worker;

/// The whole model.
pub(super) struct Universe {
    pub(super) scenario: Scenario,
    bundle: usize,
    pub(super) random: Random,
    /// What this schedule's faults are; none once they have stopped.
    pub(super) faults: Faults,
    /// Whether the faults have stopped: everything that runs now runs to its end.
    pub(super) calm: bool,
    pub(super) commits: Commits,
    /// What origin has; none where there is no origin.
    pub(super) origin: Option<BTreeMap<String, CommitIndex>>,
    /// The fences at the origin, and the pushes that are on their way.
    pub(super) fences: FencedOrigin,
    /// What lies between the clones and origin.
    pub(super) network: Network,
    pub(super) hosts: Vec<Host>,
    /// The schedule's clock, in seconds since the epoch.
    pub(super) clock: i64,
    /// The commits that are work on each task, squash commits included: what has really landed.
    pub(super) work: BTreeMap<TaskId, CommitSet>,
    pub(super) workers: Vec<Worker>,
    /// What the judge knows of each tower process.
    pub(super) minds: Vec<Mind>,
    pub(super) trace: Trace,
    pub(super) statistics: Statistics,
    pub(super) violation: Option<(Law, String)>,
}

impl Universe {
    pub(super) fn new(seed: u64, scenario: &Scenario, keeping: Keeping) -> Self {
        let mut random = Random::new(seed);
        let scenario = scenario.clone();
        let bundle = random.below(scenario.bundles.len());
        let faults = draw_faults(&mut random, scenario.faults);
        let mut commits = Commits::default();
        let root = commits.add(&[], b"root", &scenario.bundles[bundle].spec);
        let count = random.between(*scenario.hosts.start(), *scenario.hosts.end());
        // Several hosts have an origin between them; one may work without.
        let has_origin = count > 1 || random.chance(600);
        let hosts = (1..=count).map(|number| Host::new(number, root, has_origin)).collect();
        Self {
            bundle,
            faults,
            calm: false,
            origin: has_origin.then(|| BTreeMap::from([(BASE.to_owned(), root)])),
            commits,
            fences: FencedOrigin::default(),
            network: Network::default(),
            hosts,
            clock: 1_796_000_000 + random.seconds(0, 86_400),
            work: BTreeMap::new(),
            workers: Vec::new(),
            minds: Vec::new(),
            trace: Trace::new(keeping),
            statistics: Statistics::default(),
            violation: None,
            random,
            scenario,
        }
    }

    pub(super) fn bundle(&self) -> &SimulatedBundle {
        &self.scenario.bundles[self.bundle]
    }

    pub(super) fn task_ids(&self) -> Vec<TaskId> {
        let tasks = self.bundle().tasks.iter();
        tasks.map(|(task, _)| task.clone()).collect()
    }

    /// Returns the name of a unit of this schedule's bundle.
    pub(super) fn unit_name(&self, unit: Unit) -> UnitName {
        UnitName {
            spec: self.bundle().spec.clone(),
            unit,
        }
    }

    /// Returns what a host's clock shows.
    pub(super) fn now(&self, host: usize) -> i64 {
        self.clock + self.hosts[host].clock_offset
    }

    /// Records the first broken law; what follows is no longer judged.
    pub(super) fn convict(&mut self, law: Law, message: impl FnOnce() -> String) {
        if self.violation.is_none() {
            let message = message();
            self.trace
                .note("judge", || format!("{} is broken: {message}", law.name()));
            self.violation = Some((law, message));
        }
    }

    /// Starts a tower's process and returns its number.
    pub(super) fn start_tower(&mut self, host: usize) -> usize {
        let reuse = self.random.chance(300);
        let identity = self.hosts[host].start_process(reuse);
        let number = self.minds.len();
        self.statistics.steps += 1;
        self.trace.note(format_args!("tower {number}"), || {
            format!("starts a step as {identity} (boot {})", identity.boot)
        });
        self.minds.push(Mind::new(host, identity));
        number
    }

    /// Ends a tower's process: the kernel frees what it held, everything else stays.
    pub(super) fn end_tower(&mut self, tower: usize) {
        let host = self.minds[tower].host;
        self.minds[tower].running = false;
        self.hosts[host].end_process(&self.minds[tower].identity);
        self.hosts[host].windows.retain(|_, holder| *holder != tower);
    }

    /// Returns whether a tower's process still runs.
    pub(super) fn runs(&self, tower: usize) -> bool {
        self.minds[tower].running
    }

    /// Restarts a host: its towers and workers die, and the kernel's locks with them.
    pub(super) fn restart(&mut self, host: usize) {
        self.statistics.restarts += 1;
        self.trace
            .note(format_args!("host {}", host + 1), || "restarts".to_owned());
        for worker in self.workers.iter_mut().filter(|worker| worker.host == host) {
            worker.vanish();
        }
        for mind in self.minds.iter_mut().filter(|mind| mind.host == host) {
            mind.running = false;
        }
        self.hosts[host].restart();
    }

    /// Ends the tenure of whoever held a lock that was just taken away or released.
    pub(super) fn end_tenure(&mut self, taker: Taker, taken_by_peer: bool) {
        let Taker::Tower(tower) = taker else { return };
        let mind = &mut self.minds[tower];
        match &mut mind.tenure {
            Some(tenure) if taken_by_peer && mind.running => {
                tenure.robbed = true;
                self.statistics.locks_lost_to_peers += 1;
            }
            Some(_) | None => mind.tenure = None,
        }
    }

    /// Returns whether work on the task is on the host's base or its counterpart.
    pub(super) fn landed_on(&self, host: usize, task: &TaskId) -> bool {
        let Some(work) = self.work.get(task) else {
            return false;
        };
        [BASE, COUNTERPART]
            .into_iter()
            .filter_map(|name| self.hosts[host].refs.get(name))
            .any(|tip| self.commits.get(*tip).history.meets(work))
    }

    /// Returns everything on the host's base and its counterpart.
    pub(super) fn base_history(&self, host: usize) -> CommitSet {
        let mut history = CommitSet::default();
        for tip in [BASE, COUNTERPART]
            .into_iter()
            .filter_map(|name| self.hosts[host].refs.get(name))
        {
            history.add_all(&self.commits.get(*tip).history);
        }
        history
    }

    /// Returns how many commits of the unit's local branch are on neither base nor its counterpart.
    pub(super) fn ahead(&self, host: usize, unit: &Unit) -> usize {
        let reference = self.unit_name(unit.clone()).reference();
        match self.hosts[host].refs.get(&reference) {
            Some(tip) => self.commits.get(*tip).history.without(&self.base_history(host)).len(),
            None => 0,
        }
    }

    /// Returns everything that any ref of any clone, or of the origin, reaches.
    pub(super) fn reachable(&self) -> CommitSet {
        let mut reachable = CommitSet::default();
        let local = self.hosts.iter().flat_map(|host| host.refs.values());
        for tip in local.chain(self.origin.iter().flat_map(BTreeMap::values)) {
            reachable.add_all(&self.commits.get(*tip).history);
        }
        reachable
    }
}

/// A schedule has all the faults, one kind of them, or none, so that each kind is also seen alone; and beside them an
/// origin that is not to be trusted, or one that is.
fn draw_faults(random: &mut Random, all: Faults) -> Faults {
    let none = Faults::NONE;
    let here = match random.below(8) {
        0 => none,
        1 => Faults {
            kill: all.kill * 2,
            ..none
        },
        2 => Faults {
            kill: all.kill,
            worker_death: all.worker_death,
            ..none
        },
        3 => Faults {
            unknown: all.unknown * 3,
            ..none
        },
        4 => Faults {
            not_applied: all.not_applied,
            reported_failed: all.reported_failed,
            torn: all.torn,
            ..none
        },
        5 => Faults {
            clock_step: all.clock_step * 2,
            worker_death: all.worker_death,
            ..none
        },
        _ => Faults {
            outage: 0,
            stale: 0,
            refused: 0,
            false_report: 0,
            ..all
        },
    };
    if random.chance(500) {
        return here;
    }
    Faults {
        outage: all.outage,
        stale: all.stale,
        refused: all.refused,
        false_report: all.false_report,
        ..here
    }
}
