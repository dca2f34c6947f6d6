//! The real step, judged by the simulated World: crashes, races, four outcomes of every effect (architecture §9).
//!
//! `ORCHESTRATE_SCHEDULES` runs more of each; a violation prints its seed and its trace.

#![expect(clippy::print_stdout, reason = "the numbers of a run are its result")]

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
use orchestrate_testkit::simulation::{Scenario, Statistics, Tower, TowerEnd, fingerprint, run_many};
use orchestrate_tower::fetch::FetchRequest;
use orchestrate_tower::step::{Launch, Launcher, StepOutcome, StepRequest, step};

/// Schedules of each scenario; together at least 100,000.
const ONE_TASK: u64 = 50_000;
const OLDER_RUNNERS: u64 = 15_000;
const STANDARD: u64 = 30_000;
const WITHOUT_REFLOGS: u64 = 10_000;
const PAIRS: u64 = 8_000;
const FENCED: u64 = 10_000;
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
                park_after: 3,
            },
            fence,
            cleanup_paused: false,
            dry_run: false,
            unattended: true,
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
fn schedules(at_least: u64) -> u64 {
    std::env::var("ORCHESTRATE_SCHEDULES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(at_least)
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
    let report = match run_many(0..schedules(count), 2, scenario, tower) {
        Ok(report) => report,
        Err(violation) => panic!("{violation}"),
    };
    println!("{report}");
    let sums = &report.statistics;
    assert_eq!(
        (sums.double_dispatches, sums.lost_commits, sums.stuck),
        (0, 0, 0),
        "{sums}"
    );
    assert_eq!(sums.landed, sums.tasks, "{sums}");
    assert!(sums.kills > 0 && sums.applied_but_failed > 0 && sums.torn > 0, "{sums}");
    assert!(sums.retired > 0, "{sums}");
    report.statistics
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

/// Three hosts with two towers each and an origin that fails, lags and reports falsely: one worker, one branch and one
/// landing of each unit over all of them.
/// Verifies REQ-D2.1.
#[test]
fn three_hosts_and_one_origin() {
    judge(&as_the_real_runner(Scenario::fenced()), FENCED);
}

/// Verifies REQ-D2.1.
#[test]
fn three_hosts_and_pairs() {
    let mut scenario = as_the_real_runner(Scenario::pairs().on_hosts(3..=3));
    scenario.fence_at_origin();
    let sums = judge_towers(&scenario, PAIRS, &declaring_towers(FencePolicy::Auto));
    assert!(sums.pairs > 0 && sums.fences > 0, "{sums}");
}

/// A tower that looked at anything but its World could not be judged again from its seed.
/// Verifies REQ-H1.1.
#[test]
fn a_seed_is_one_history() {
    let mut fenced_pairs = Scenario::pairs();
    fenced_pairs.fence_at_origin();
    let cases = [
        ("one task", Scenario::one_task(), tower(FencePolicy::Off)),
        ("standard", Scenario::standard(), tower(FencePolicy::Off)),
        ("pairs", Scenario::pairs(), declaring_towers(FencePolicy::Off)),
        ("fenced", Scenario::fenced(), tower(FencePolicy::Auto)),
        ("fenced pairs", fenced_pairs, declaring_towers(FencePolicy::Auto)),
    ];
    for (name, scenario, tower) in cases {
        let scenario = as_the_real_runner(scenario);
        let histories = || (0..schedules(TOLD_TWICE)).map(|seed| fingerprint(seed, &scenario, &tower));
        let first: Vec<Option<u64>> = histories().collect();
        let sum = first.iter().flatten().fold(0_u64, |sum, one| sum.rotate_left(1) ^ one);
        println!("{name}: {} histories, {sum:016x}", first.len());
        assert!(first.iter().all(Option::is_some) && first[0] != first[1], "{name}");
        assert!(histories().eq(first), "{name}");
    }
}
