//! The real step, judged by the simulated World: crashes, races, four outcomes of every effect (architecture §9).
//!
//! `ORCHESTRATE_SCHEDULES` runs more or fewer of each; `cargo xtask simulate` runs as many as wanted with seeds of its
//! own. A violation prints its seed and its trace.

#![expect(clippy::print_stdout, reason = "the numbers of a run are its result")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use orchestrate_config::FencePolicy;
use orchestrate_core::declaration::Declarations;
use orchestrate_core::fetch::FetchTerms;
use orchestrate_core::identifier::{BackendName, Pair, SpecId, TaskId, UnitName};
use orchestrate_core::plan::HaltReason;
use orchestrate_core::record::dispatch::{LaunchManner, LaunchOrder};
use orchestrate_core::world::World;
use orchestrate_spec::Bundle;
use orchestrate_testkit::simulation::{RunReport, Scenario, Statistics, Tower, TowerEnd, fingerprint, run_many};
use orchestrate_tower::fetch::FetchRequest;
use orchestrate_tower::step::{Launch, Launcher, StepOutcome, StepRequest, step};

/// Schedules of each scenario: those of one host, or of two that do not fence, are more than 100,000, and those of many
/// hosts at least 200,000.
const ONE_TASK: u64 = 50_000;
const OLDER_RUNNERS: u64 = 15_000;
const STANDARD: u64 = 30_000;
const WITHOUT_REFLOGS: u64 = 10_000;
const PAIRS: u64 = 8_000;
const FENCED: u64 = 60_000;
const FENCED_TASK: u64 = 60_000;
const FENCED_PAIRS: u64 = 25_000;
const BESIDE_PLANWRIGHT: u64 = 60_000;
const BY_COMMAND: u64 = 1_000_000;
/// How many schedules a command runs before it says how far it is.
const PORTION: u64 = 10_000;
const TOLD_TWICE: u64 = 50;

/// Every worker is the same.
struct AnyWorker;

impl Launcher for AnyWorker {
    fn order(&self, _: &Bundle, _: &UnitName) -> Result<Launch, HaltReason> {
        let backend = BackendName::parse("command").expect("a backend name");
        let order = LaunchOrder {
            backend,
            manner: LaunchManner::Background,
            argv: vec!["/bin/worker".to_owned()],
            prompt: "work".to_owned(),
        };
        Ok(Launch { order, note: None })
    }

    fn may_reuse(&self, _: &str) -> bool {
        true
    }

    fn may_part(&self, _: &TaskId, _: &str) -> bool {
        true
    }
}

/// Towers that decide by evidence alone.
fn tower(fence: FencePolicy) -> Tower {
    declaring(fence, |_| Declarations::default())
}

/// Towers of which each declares something else: nothing, a pair, two that share a task, or a task to prefer.
fn declaring_towers(fence: FencePolicy) -> Tower {
    declaring(fence, |world| {
        let pair = |text: &str| Pair::parse(text).expect("a pair");
        let task = TaskId::parse("2").expect("a task id");
        let (preferred, pairs) = match world.identity().pid % 5 {
            0 => (Vec::new(), Vec::new()),
            1 | 2 => (Vec::new(), vec![pair("1-2")]),
            3 => (vec![task], vec![pair("1-2"), pair("3-4")]),
            _ => (vec![task], vec![pair("1-2"), pair("2-3")]),
        };
        Declarations::default().with_flags(preferred, pairs)
    })
}

fn declaring(fence: FencePolicy, declarations: fn(&dyn World) -> Declarations) -> Tower {
    Arc::new(move |world: &mut dyn World| {
        let request = StepRequest {
            spec: SpecId::parse("demo").expect("a spec name"),
            cap: 3,
            stale_lock_minutes: 15,
            stale_marker_seconds: 900,
            base_branch: None,
            declarations: declarations(world),
            fetch: FetchRequest {
                terms: FetchTerms {
                    fresh_seconds: 0,
                    attempts: 1,
                    attempt_limit: Duration::ZERO,
                    pause: Duration::ZERO,
                    future_is_fresh: false,
                },
                park_after: 2,
            },
            fence,
            cleanup_paused: false,
            dry_run: false,
            unattended: true,
            set_aside: BTreeMap::new(),
        };
        match step(world, &request, &AnyWorker).outcome {
            StepOutcome::Dispatched(dispatched) => TowerEnd::Dispatched(dispatched.record.name()),
            StepOutcome::WouldDispatch { .. } => TowerEnd::Failed("a dry run that nobody asked for".to_owned()),
            StepOutcome::Swept(swept) => TowerEnd::Nothing(format!("{swept:?}")),
            StepOutcome::Nothing(reason) => TowerEnd::Nothing(format!("{reason:?}")),
        }
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "a longer run by hand is asked for through the environment"
)]
fn asked(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn schedules(otherwise: u64) -> u64 {
    asked("ORCHESTRATE_SCHEDULES").map_or(otherwise, |text| text.parse().expect("a number of schedules"))
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, Into::into)
}

fn judge(scenario: &Scenario, count: u64) {
    let fence = if scenario.fence {
        FencePolicy::Auto
    } else {
        FencePolicy::Off
    };
    judge_towers(scenario, count, &tower(fence));
}

fn judge_towers(scenario: &Scenario, count: u64, tower: &Tower) -> Statistics {
    let seeds = 0..schedules(count);
    let report = match run_many(seeds, threads(), scenario, tower) {
        Ok(report) => report,
        Err(violation) => panic!("{violation}"),
    };
    println!("{report}");
    nothing_lost(&report.statistics);
    report.statistics
}

fn nothing_lost(sums: &Statistics) {
    assert_eq!(
        (sums.double_dispatches, sums.lost_commits, sums.stuck),
        (0, 0, 0),
        "{sums}"
    );
    assert_eq!(sums.landed, sums.tasks, "{sums}");
    assert!(sums.kills > 0 && sums.applied_but_failed > 0 && sums.torn > 0, "{sums}");
    assert!(sums.retired > 0, "{sums}");
}

/// What the real runner looks at (`workers::runner`).
fn as_the_real_runner(mut scenario: Scenario) -> Scenario {
    scenario.runner.requires_start_commit = true;
    scenario
}

/// Verifies REQ-A1.3.
#[test]
fn one_task_many_towers() {
    judge(&as_the_real_runner(Scenario::one_task().on_hosts(1..=1)), ONE_TASK);
}

/// The tower keeps the laws even beside runners that look at their lease and attempt only.
/// Verifies REQ-A1.11.
#[test]
fn one_task_beside_older_runners() {
    judge(&Scenario::one_task().on_hosts(1..=1), OLDER_RUNNERS);
}

/// Verifies REQ-A1.2.
#[test]
fn five_tasks_two_hosts_peers_and_a_person() {
    judge(&as_the_real_runner(Scenario::standard()), STANDARD);
}

/// Verifies REQ-H1.1.
#[test]
fn without_reflogs_nothing_is_taken_for_landed() {
    let mut scenario = as_the_real_runner(Scenario::one_task().on_hosts(1..=1));
    scenario.reflogs = false;
    judge(&scenario, WITHOUT_REFLOGS);
}

/// Towers that take tasks 1 and 2 as one unit run beside towers that take them one by one.
/// Verifies REQ-A1.3.
#[test]
fn pairs_beside_single_tasks() {
    let scenario = as_the_real_runner(Scenario::pairs());
    let sums = judge_towers(&scenario, PAIRS, &declaring_towers(FencePolicy::Off));
    assert!(sums.pairs > 0, "{sums}");
}

/// Verifies REQ-A1.11.
#[test]
fn pairs_beside_older_runners() {
    let sums = judge_towers(
        &Scenario::pairs().on_hosts(1..=1),
        PAIRS,
        &declaring_towers(FencePolicy::Off),
    );
    assert!(sums.pairs > 0, "{sums}");
}

/// A scenario of many hosts and one origin, with the towers that run in it.
struct ManyHosts {
    name: &'static str,
    scenario: Scenario,
    tower: Tower,
}

impl ManyHosts {
    fn all() -> [Self; 4] {
        let named = |name, scenario, tower| Self {
            name,
            scenario: as_the_real_runner(scenario),
            tower,
        };
        let mut one_task = Scenario::one_task();
        one_task.fence_at_origin();
        let mut pairs = Scenario::pairs();
        pairs.fence_at_origin();
        [
            named("fenced", Scenario::fenced(), tower(FencePolicy::Auto)),
            named("fenced-task", one_task, tower(FencePolicy::Auto)),
            named("fenced-pairs", pairs, declaring_towers(FencePolicy::Auto)),
            named(
                "beside-planwright",
                Scenario::fenced_beside_planwright(),
                tower(FencePolicy::Auto),
            ),
        ]
    }

    fn judge(name: &str, count: u64) -> Statistics {
        let mut all = Self::all().into_iter();
        let Self { scenario, tower, .. } = all.find(|one| one.name == name).expect("a scenario of many hosts");
        let sums = judge_towers(&scenario, count, &tower);
        every_fault_is_seen(&sums);
        sums
    }
}

/// Whatever origin can do wrong, it did. A short run by hand need not see all of it.
fn every_fault_is_seen(sums: &Statistics) {
    if sums.schedules < 10_000 {
        return;
    }
    let seen = [
        sums.fences,
        sums.outages,
        sums.origin_unanswered,
        sums.stale_looks,
        sums.fetches_behind,
        sums.late_pushes,
        sums.refused_free,
        sums.untrue_refused,
        sums.untrue_made,
        sums.untrue_deleted,
        sums.parked,
        sums.lifted,
    ];
    assert!(seen.iter().all(|count| *count > 0), "{sums}");
}

/// Two to four hosts with some towers each, and an origin that fails, lags, refuses and reports falsely: one worker, one
/// branch and one landing of each unit over all of them.
/// Verifies REQ-D2.1.
/// Verifies REQ-H1.7.
#[test]
fn many_hosts_and_one_origin() {
    ManyHosts::judge("fenced", FENCED);
}

/// Verifies REQ-D2.1.
#[test]
fn many_hosts_and_one_task() {
    ManyHosts::judge("fenced-task", FENCED_TASK);
}

/// Verifies REQ-D2.1.
#[test]
fn many_hosts_and_pairs() {
    let sums = ManyHosts::judge("fenced-pairs", FENCED_PAIRS);
    assert!(sums.pairs > 0, "{sums}");
}

/// Reference towers that fence as well, by a lease on the tip of base, and start workers without any record of ours.
/// Verifies REQ-D2.1.
#[test]
fn many_hosts_beside_planwright() {
    let sums = ManyHosts::judge("beside-planwright", BESIDE_PLANWRIGHT);
    let beside = [sums.peer_fences, sums.peer_workers, sums.strands];
    assert!(beside.iter().all(|count| *count > 0), "{sums}");
}

/// As many schedules as `cargo xtask simulate` asks for, of one scenario of many hosts or of all in turn.
#[test]
#[ignore = "runs for hours: cargo xtask simulate"]
fn by_command() {
    let wanted = schedules(BY_COMMAND);
    let from: u64 = asked("ORCHESTRATE_SEED_FROM").map_or(0, |text| text.parse().expect("a seed"));
    let name = asked("ORCHESTRATE_SCENARIO").unwrap_or_else(|| "all".to_owned());
    let chosen: Vec<ManyHosts> = ManyHosts::all()
        .into_iter()
        .filter(|one| name == "all" || name == one.name)
        .collect();
    assert!(!chosen.is_empty(), "there is no scenario {name} of many hosts");
    let started = std::time::Instant::now();
    let mut sums = Statistics::default();
    let (mut done, mut portion) = (0, 0_u64);
    for one in chosen.iter().cycle() {
        let round = portion / u64::try_from(chosen.len()).expect("a few scenarios");
        let first = from + round * PORTION;
        let size = PORTION.min(wanted - done);
        match run_many(first..first + size, threads(), &one.scenario, &one.tower) {
            Ok(report) => sums += report.statistics,
            Err(violation) => panic!("scenario {}: {violation}", one.name),
        }
        nothing_lost(&sums);
        (done, portion) = (done + size, portion + 1);
        let report = RunReport {
            statistics: sums,
            took: started.elapsed(),
        };
        if done == wanted {
            println!("simulation: {report}");
            return;
        }
        println!(
            "simulation: {done} of {wanted} schedules, {} per second, no law broken",
            report.rate()
        );
    }
}

/// A tower that looked at anything but its World could not be judged again from its seed.
/// Verifies REQ-H1.1.
#[test]
fn a_seed_is_one_history() {
    let alone = [
        ("one task", Scenario::one_task(), tower(FencePolicy::Off)),
        ("standard", Scenario::standard(), tower(FencePolicy::Off)),
        ("pairs", Scenario::pairs(), declaring_towers(FencePolicy::Off)),
    ];
    let many = ManyHosts::all().map(|one| (one.name, one.scenario, one.tower));
    for (name, scenario, tower) in alone.into_iter().chain(many) {
        let scenario = as_the_real_runner(scenario);
        let histories = || (0..schedules(TOLD_TWICE)).map(|seed| fingerprint(seed, &scenario, &tower));
        let first: Vec<Option<u64>> = histories().collect();
        let sum = first.iter().flatten().fold(0_u64, |sum, one| sum.rotate_left(1) ^ one);
        println!("{name}: {} histories, {sum:016x}", first.len());
        assert!(first.iter().all(Option::is_some) && first[0] != first[1], "{name}");
        assert!(histories().eq(first), "{name}");
    }
}
