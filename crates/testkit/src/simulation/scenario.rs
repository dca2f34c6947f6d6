//! What a schedule is drawn from: sizes, fault rates, who else is there, and how far the laws reach.

use std::ops::RangeInclusive;
use std::sync::Arc;

use orchestrate_core::identifier::{SpecId, TaskId};
use orchestrate_core::place::BundleFile;

use crate::bundle::BundleFixture;

/// How often things go wrong, in thousandths. A schedule draws which kinds it has at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Faults {
    /// Per observation: it is answered with "unknown" or a fault.
    pub unknown: u32,
    /// Per effect: it does not happen.
    pub not_applied: u32,
    /// Per effect: it happens and is reported failed.
    pub reported_failed: u32,
    /// Per effect: it happens in part.
    pub torn: u32,
    /// Per call: the tower is killed before it, or after it.
    pub kill: u32,
    /// Per turn of the scheduler: a host restarts, and everything that runs on it dies.
    pub restart: u32,
    /// Per turn of the scheduler: a host's clock is set, forwards or backwards.
    pub clock_step: u32,
    /// Per turn of a worker: it dies, wholly or in part.
    pub worker_death: u32,
    /// Per turn of the scheduler: origin answers some host, or none, for many turns.
    pub outage: u32,
    /// Per look at origin, and per fetch: it is answered by a replica that lags.
    pub stale: u32,
    /// Per push of a fence: it is refused although the fence is free. Now and then a hook refuses one task for long.
    pub refused: u32,
    /// Per push or deletion of a fence, for each way to do so: origin says something else than it does.
    pub false_report: u32,
}

impl Faults {
    /// Nothing goes wrong.
    pub const NONE: Self = Self {
        unknown: 0,
        not_applied: 0,
        reported_failed: 0,
        torn: 0,
        kill: 0,
        restart: 0,
        clock_step: 0,
        worker_death: 0,
        outage: 0,
        stale: 0,
        refused: 0,
        false_report: 0,
    };

    /// Enough of everything that most schedules see something, and few see nothing but faults.
    pub const STANDARD: Self = Self {
        unknown: 15,
        not_applied: 20,
        reported_failed: 20,
        torn: 20,
        kill: 12,
        restart: 2,
        clock_step: 5,
        worker_death: 60,
        outage: 2,
        stale: 80,
        refused: 20,
        false_report: 40,
    };
}

/// Between whom "at most one worker" holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LawScope {
    /// Between the towers of one clone, which need no origin.
    PerHost,
    /// Between all towers that share the origin, by the fence.
    Origin,
}

/// What the worker runner looks at before it starts, beside its lease, its attempt and the launch record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunnerRules {
    /// It refuses when the branch is no longer at the dispatch record's start commit.
    pub requires_start_commit: bool,
}

/// One bundle of a scenario, ready to be read.
#[derive(Debug, Clone)]
pub(super) struct SimulatedBundle {
    pub(super) spec: SpecId,
    pub(super) tasks: Vec<(TaskId, Vec<TaskId>)>,
    texts: Vec<(BundleFile, Vec<u8>)>,
}

impl SimulatedBundle {
    fn of(fixture: &BundleFixture, texts: Vec<(BundleFile, String)>) -> Self {
        Self {
            spec: fixture.spec().clone(),
            tasks: fixture.graph(),
            texts: texts
                .into_iter()
                .map(|(file, text)| (file, text.into_bytes()))
                .collect(),
        }
    }

    /// Returns the file's bytes.
    pub(super) fn text(&self, file: BundleFile) -> Option<&[u8]> {
        let entry = self.texts.iter().find(|(name, _)| *name == file);
        entry.map(|(_, bytes)| bytes.as_slice())
    }
}

/// What schedules are drawn from. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// How many hosts.
    pub hosts: RangeInclusive<usize>,
    /// How many towers run at once, over all hosts.
    pub towers: RangeInclusive<usize>,
    /// How many steps they make in all before the faults stop.
    pub steps: RangeInclusive<usize>,
    /// How many reference towers share the clones.
    pub peers: RangeInclusive<usize>,
    /// Whether the reference towers fence their units at origin (`contract/later.md §2`) and start workers.
    pub peers_fence: bool,
    /// How many turns the scheduler gives at most before the faults stop.
    pub turns: usize,
    /// How often things go wrong.
    pub faults: Faults,
    /// Whether a person merges, clears and pulls while the towers run.
    pub person: bool,
    /// How far "at most one worker" reaches.
    pub scope: LawScope,
    /// What the runner looks at.
    pub runner: RunnerRules,
    /// Whether a worker that starts on a branch with finished work counts as a second one (law L3), although no
    /// worker lives any more. It happens when an earlier attempt's late runner does the whole work between the
    /// dispatching tower's look under its lock and its spawn.
    pub late_landing: bool,
    /// Whether the towers fence units at origin.
    pub fence: bool,
    /// Whether the clones keep reflogs, as git does unless it is told otherwise.
    pub reflogs: bool,
    /// Whether a person finally removes the worktree and the branch of a unit without commits whose branch starts
    /// before the current base. The product keeps such a branch where it is; when a dependency's evidence is newer
    /// than it, the unit is held until somebody does this.
    pub person_frees_outdated: bool,
    /// The age at which a bare lock or marker goes stale, in minutes (`contract/core.md §6.1`).
    pub stale_minutes: i64,
    /// Whether the bundles changed after they were signed; then nothing durable may ever be written (law L9).
    pub(super) changed_after_sign_off: bool,
    pub(super) bundles: Arc<[SimulatedBundle]>,
}

/// The dependencies of the tasks of one bundle: the tasks are numbered from 1.
type Shape = &'static [&'static [u8]];

const SHAPES: &[Shape] = &[
    &[&[]],
    &[&[], &[]],
    &[&[], &[1]],
    &[&[], &[1], &[2]],
    &[&[], &[1], &[1]],
    &[&[], &[], &[1, 2]],
    &[&[], &[], &[1], &[1, 2]],
    &[&[], &[1], &[1], &[2, 3], &[4]],
    &[&[], &[], &[], &[1, 2, 3], &[]],
];

/// Bundles in which towers may take two tasks as one unit.
const PAIRS: &[Shape] = &[
    &[&[], &[]],
    &[&[], &[], &[1]],
    &[&[], &[], &[1, 2]],
    &[&[], &[], &[]],
    &[&[], &[], &[1], &[1]],
];

impl Scenario {
    /// Returns the standard scenario over bundles whose first two tasks are free, for towers that take pairs.
    #[must_use]
    pub fn pairs() -> Self {
        Self::over(PAIRS, false)
    }

    /// Returns the scenario of the product's laws: one to two hosts, one to three towers, one to five tasks.
    #[must_use]
    pub fn standard() -> Self {
        Self::over(SHAPES, false)
    }

    /// Returns the standard scenario with bundles of one task: the most towers for one unit.
    #[must_use]
    pub fn one_task() -> Self {
        Self::over(&SHAPES[..1], false)
    }

    /// Returns the scenario of the fence: some hosts with some towers, one origin, and one worker, branch and landing of
    /// a unit over all of them.
    #[must_use]
    pub fn fenced() -> Self {
        let mut scenario = Self::over(&SHAPES[..5], false);
        scenario.fence_at_origin();
        scenario
    }

    /// Returns the scenario of the fence with reference towers that fence as well, by a lease on the tip of base.
    #[must_use]
    pub fn fenced_beside_planwright() -> Self {
        let mut scenario = Self::fenced();
        scenario.peers = 1..=2;
        scenario.peers_fence = true;
        scenario
    }

    /// Makes it a scenario of several hosts whose towers fence units at origin, without reference towers.
    pub fn fence_at_origin(&mut self) {
        self.hosts = 2..=4;
        self.peers = 0..=0;
        self.scope = LawScope::Origin;
        self.fence = true;
        self.towers = 2..=6;
        self.steps = 4..=14;
        self.turns = 3000;
    }

    /// Returns the standard scenario with bundles that changed after they were signed.
    #[must_use]
    pub fn changed_after_sign_off() -> Self {
        Self::over(&SHAPES[..3], true)
    }

    /// Returns the scenario without reference towers.
    #[must_use]
    pub fn without_peers(mut self) -> Self {
        self.peers = 0..=0;
        self
    }

    /// Returns the scenario on that many hosts.
    #[must_use]
    pub fn on_hosts(mut self, hosts: RangeInclusive<usize>) -> Self {
        self.hosts = hosts;
        self
    }

    /// Returns the scenario with those fault rates.
    #[must_use]
    pub fn with_faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    fn over(shapes: &[Shape], changed_after_sign_off: bool) -> Self {
        let bundles = shapes
            .iter()
            .map(|shape| bundle(shape, changed_after_sign_off))
            .collect();
        Self {
            hosts: 1..=2,
            towers: 1..=3,
            steps: 2..=7,
            peers: 0..=1,
            peers_fence: false,
            turns: 1500,
            faults: Faults::STANDARD,
            person: true,
            scope: LawScope::PerHost,
            runner: RunnerRules {
                requires_start_commit: false,
            },
            late_landing: true,
            fence: false,
            reflogs: true,
            person_frees_outdated: true,
            stale_minutes: 15,
            changed_after_sign_off,
            bundles,
        }
    }
}

fn bundle(shape: Shape, changed_after_sign_off: bool) -> SimulatedBundle {
    let mut fixture = BundleFixture::new("demo");
    for (index, dependencies) in shape.iter().enumerate() {
        let id = (index + 1).to_string();
        let dependencies: Vec<String> = dependencies.iter().map(u8::to_string).collect();
        let dependencies: Vec<&str> = dependencies.iter().map(String::as_str).collect();
        let title = format!("part {id}");
        fixture = fixture.task(&id, &title, &dependencies, "1 day");
    }
    let texts = if changed_after_sign_off {
        fixture.texts_changed_after_sign_off()
    } else {
        fixture.signed_texts()
    };
    SimulatedBundle::of(&fixture, texts)
}
