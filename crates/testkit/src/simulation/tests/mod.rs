//! The judge, judged: a correct tower passes, and every wrong one is convicted of the law it breaks.

mod mini_fence;
mod mini_gather;
mod mini_lock;
mod mini_park;
mod mini_retire;
mod mini_tower;

use std::sync::Arc;

use super::*;
use mini_tower::{Flaw, step};

fn tower(flaw: Flaw) -> Tower {
    Arc::new(move |world| step(world, flaw))
}

/// Verifies REQ-H1.1.
#[test]
fn a_correct_tower_keeps_the_laws() {
    for scenario in [Scenario::standard(), Scenario::one_task().on_hosts(1..=1)] {
        let report = match run_many(0..3000, 2, &scenario, &tower(Flaw::Nothing)) {
            Ok(report) => report,
            Err(violation) => panic!("{violation}"),
        };
        println!("{report}");
        let sums = report.statistics;
        assert_eq!(sums.schedules, 3000);
        assert_eq!(sums.landed, sums.tasks);
        assert_eq!((sums.double_dispatches, sums.lost_commits, sums.stuck), (0, 0, 0));
        let seen = [
            sums.kills,
            sums.torn,
            sums.unknown,
            sums.applied_but_failed,
            sums.restarts,
            sums.locks_broken,
        ];
        assert!(seen.iter().all(|count| *count > 100), "{sums}");
    }
}

/// Returns the law for which the flawed tower was convicted, and in which schedule.
fn convicted(flaw: Flaw, scenario: &Scenario, seeds: u64) -> Option<(Law, u64)> {
    let tower = tower(flaw);
    (0..seeds).find_map(|seed| {
        let violation = run_schedule(seed, scenario, &tower).err()?;
        println!(
            "{flaw:?}: {} in seed {seed}: {}",
            violation.law.name(),
            violation.message
        );
        assert_eq!(violation.seed, seed);
        assert!(violation.trace.len() > 5, "{violation}");
        Some((violation.law, seed))
    })
}

/// Verifies REQ-H1.1.
#[test]
fn every_flaw_is_convicted() {
    let standard = Scenario::standard();
    let readable = Faults {
        unknown: 0,
        ..Faults::STANDARD
    };
    let one_task = Scenario::one_task().on_hosts(1..=1).with_faults(readable);
    let deadly = Faults {
        worker_death: 250,
        ..Faults::NONE
    };
    let mut mortal_workers = one_task.clone().with_faults(deadly);
    mortal_workers.steps = 20..=40;
    let changed = Scenario::changed_after_sign_off();
    let fenced = Scenario::fenced();
    let beside_planwright = Scenario::fenced_beside_planwright();
    let lies = Faults {
        false_report: 300,
        ..Faults::NONE
    };
    let lying = Scenario::fenced().with_faults(lies);
    let lags = Faults {
        stale: 400,
        ..Faults::NONE
    };
    let mut lagging = Scenario::fenced().with_faults(lags);
    lagging.steps = 20..=40;
    let unreadable = Faults {
        unknown: 40,
        ..Faults::NONE
    };
    let mut hard_to_read = Scenario::one_task().on_hosts(1..=1).with_faults(unreadable);
    hard_to_read.steps = 6..=12;
    let cases: &[(Flaw, &Scenario, &[Law])] = &[
        (Flaw::NoLock, &standard, &[Law::Lock]),
        (Flaw::MarkerBeforeBranch, &standard, &[Law::Order]),
        (Flaw::RegistersAfterMarker, &standard, &[Law::Order]),
        (Flaw::UnreadableMarkerIsNoMarker, &standard, &[Law::Unknown]),
        (Flaw::UnreadableRecordIsNoRecord, &standard, &[Law::Unknown]),
        (Flaw::UnknownBranchesAreNone, &standard, &[Law::Unknown]),
        (Flaw::UnknownLeasesAreFree, &standard, &[Law::Unknown]),
        (Flaw::BreaksEveryLock, &standard, &[Law::Lock]),
        (Flaw::BreaksWithoutWindow, &standard, &[Law::Lock]),
        (Flaw::BreaksFreshBareLocks, &standard, &[Law::Lock]),
        (Flaw::ForgetsTheLock, &standard, &[Law::Lock]),
        (Flaw::NeverBreaksLocks, &standard, &[Law::Convergence]),
        (Flaw::SpawnsInsideTheLock, &standard, &[Law::Lock]),
        (Flaw::ChecksOutInsideTheLock, &standard, &[Law::Lock]),
        (Flaw::SpawnsBeforeCheckout, &standard, &[Law::Order]),
        (Flaw::IgnoresWorkers, &one_task, &[Law::OneWorker]),
        (Flaw::IgnoresOccupants, &mortal_workers, &[Law::OneWorker]),
        (Flaw::IgnoresMarkers, &one_task, &[Law::OneWorker, Law::Unknown]),
        (Flaw::NoLookUnderTheLock, &one_task, &[Law::OneWorker]),
        (Flaw::NoLookAfterTheRecord, &one_task, &[Law::OneWorker]),
        (Flaw::LeavesMarkersBehind, &one_task, &[Law::Convergence]),
        (Flaw::GateBeforeTheLock, &standard, &[Law::Order]),
        (Flaw::NoGate, &standard, &[Law::Order]),
        (Flaw::NoGate, &changed, &[Law::Gate]),
        (Flaw::IgnoresDependencies, &standard, &[Law::Dependencies]),
        (Flaw::WritesTheBundle, &standard, &[Law::Bundle]),
        (Flaw::MovesEveryBranch, &standard, &[Law::Work]),
        (Flaw::NeverReusesWorktrees, &standard, &[Law::Convergence]),
        (Flaw::FetchesNothing, &standard, &[Law::Unknown]),
        (Flaw::IgnoresFailedFetches, &standard, &[Law::Unknown]),
        (Flaw::ParksTheLiving, &standard, &[Law::Parking]),
        (Flaw::ParksTheUnread, &hard_to_read, &[Law::Unknown]),
        (Flaw::ParksTwice, &mortal_workers, &[Law::Bundle]),
        (Flaw::ParksAndDispatches, &standard, &[Law::Bundle]),
        (Flaw::DispatchesTheParked, &mortal_workers, &[Law::Parking]),
        (Flaw::NoFence, &fenced, &[Law::Order, Law::OneWorker]),
        (Flaw::BranchBeforeFence, &fenced, &[Law::Order, Law::OneWorker]),
        (Flaw::PushesBeforeTheIntent, &fenced, &[Law::Order]),
        (Flaw::TakesTheFenceAway, &fenced, &[Law::OneWorker]),
        (Flaw::AdoptsThePeersFence, &fenced, &[Law::OneWorker]),
        (Flaw::ForgetsItsFence, &fenced, &[Law::Convergence]),
        (Flaw::NoLookAtOriginAgain, &fenced, &[Law::Order, Law::OneWorker]),
        (Flaw::UnknownOriginHasNotMoved, &fenced, &[Law::Unknown]),
        (Flaw::CollectsBeforeOriginHasIt, &fenced, &[Law::OneWorker]),
        (Flaw::RetiresTheUnlanded, &standard, &[Law::Work]),
        (Flaw::RetiresTheKept, &mortal_workers, &[Law::Work]),
        (Flaw::RetiresTheUnread, &hard_to_read, &[Law::Unknown]),
        (Flaw::RetiresBeforeItLooks, &standard, &[Law::Work]),
        (Flaw::RetiresWithoutTheLock, &standard, &[Law::Lock]),
        (Flaw::ClearsInsideTheLock, &standard, &[Law::Lock]),
        (Flaw::TrustsAMadeAnswer, &fenced, &[Law::Order, Law::OneWorker]),
        (Flaw::ForgetsWhatWasRefused, &fenced, &[Law::Convergence]),
        (Flaw::TrustsADeletion, &lying, &[Law::Convergence]),
        (Flaw::PushesAGivenBackFenceAgain, &lagging, &[Law::OneWorker]),
        (Flaw::TakesTheTipFenceAway, &beside_planwright, &[Law::OneWorker]),
        (Flaw::Panics, &standard, &[Law::Panic]),
    ];
    let mut wrong = Vec::new();
    for (flaw, scenario, laws) in cases {
        match convicted(*flaw, scenario, 5000) {
            Some((law, _)) if laws.contains(&law) => {}
            other => wrong.push((flaw, other)),
        }
    }
    assert!(wrong.is_empty(), "not convicted, or of another law: {wrong:?}");
}

#[test]
fn a_changed_bundle_is_never_dispatched_by_a_correct_tower() {
    let report = run_many(0..500, 2, &Scenario::changed_after_sign_off(), &tower(Flaw::Nothing));
    let sums = match report {
        Ok(report) => report.statistics,
        Err(violation) => panic!("{violation}"),
    };
    assert_eq!(sums.runners, 0);
    assert!(sums.locks > 100, "{sums}");
}

#[test]
fn a_violation_is_told_from_its_seed() {
    let scenario = Scenario::standard();
    let flawed = tower(Flaw::MarkerBeforeBranch);
    let tell = || {
        run_many(0..200, 2, &scenario, &flawed)
            .expect_err("convicted")
            .to_string()
    };
    let seed = run_many(0..200, 1, &scenario, &flawed).expect_err("convicted").seed;
    let told = run_schedule(seed, &scenario, &flawed).expect_err("again").to_string();
    assert!(told.starts_with(&format!("seed {seed} breaks L2 (order): ")), "{told}");
    assert!(told.contains("starts a step"), "{told}");
    assert!(tell().contains("breaks L2 (order)"));
}

#[test]
fn across_hosts_one_worker_needs_the_fence() {
    let mut scenario = Scenario::one_task().on_hosts(2..=2);
    scenario.scope = LawScope::Origin;
    let law = convicted(Flaw::Nothing, &scenario, 200).map(|(law, _)| law);
    assert_eq!(law, Some(Law::OneWorker));
}

/// Verifies REQ-D2.1.
#[test]
fn with_the_fence_one_worker_holds_across_hosts() {
    for scenario in [Scenario::fenced(), Scenario::fenced_beside_planwright()] {
        let report = match run_many(0..1500, 2, &scenario, &tower(Flaw::Nothing)) {
            Ok(report) => report,
            Err(violation) => panic!("{violation}"),
        };
        println!("{report}");
        let sums = report.statistics;
        assert_eq!(sums.landed, sums.tasks);
        assert!(sums.fences > 1000 && sums.unknown > 100 && sums.kills > 100, "{sums}");
        let has_peers = scenario.peers_fence;
        assert_eq!(sums.peer_fences > 100 && sums.strands > 100, has_peers, "{sums}");
    }
}
