//! The evidence table of architecture §7, for every combination of answers, against a model written row by row.

mod answers;
mod clock;
mod made;
mod model;
mod orphans;

use std::collections::BTreeMap;

use orchestrate_core::derive::{ProgressKind, Row, TaskReport, TaskState, derive};
use orchestrate_core::evidence::{BranchFacts, BranchSide, Branches};
use orchestrate_core::graph::{Effort, TaskGraph, TaskNode};
use orchestrate_core::identifier::{TaskId, Unit};
use orchestrate_core::observed::Observed;

use answers::{BRANCHES, Branch, CLAIMS, Claim, FENCINGS, FORGES, Fencing, Forge, TRAILERS, Trailer, WORKERS, Worker};
use made::{commit, evidence, fenced, task};
use model::{Expected, model, model_with};

fn one_task() -> TaskGraph {
    let node = TaskNode {
        id: task(),
        title: "t".to_owned(),
        dependencies: Vec::new(),
        effort: Effort::ONE_DAY,
    };
    TaskGraph {
        tasks: vec![node],
        parked: BTreeMap::new(),
    }
}

fn got(report: &TaskReport) -> Expected {
    match (&report.state, report.decided_by) {
        (TaskState::Landed { .. }, Some(row)) => Expected::Landed(row),
        (TaskState::InProgress(_), Some(row)) => Expected::InProgress(row),
        (TaskState::Unknown(_), None) => Expected::Unknown,
        (TaskState::Ready, None) => Expected::Ready,
        (other, row) => panic!("{other:?} decided by {row:?}"),
    }
}

/// Verifies REQ-C1.1.
#[test]
fn every_combination_of_answers_gives_what_the_table_says() {
    let graph = one_task();
    let mut seen = 0;
    for forge in FORGES {
        for trailer in TRAILERS {
            for branch in BRANCHES {
                for worker in WORKERS {
                    for claim in CLAIMS {
                        for fencing in [Fencing::Own, Fencing::Foreign] {
                            let evidence = fenced(evidence(forge, trailer, branch, worker, claim), fencing);
                            let state = derive(&graph, &evidence);
                            let report = &state.tasks[&task()];
                            let expected = model_with(forge, trailer, branch, worker, (claim, fencing));
                            assert_eq!(
                                got(report),
                                expected,
                                "{forge:?} {trailer:?} {branch:?} {worker:?} {claim:?} {fencing:?}"
                            );
                            let landed = matches!(expected, Expected::Landed(_));
                            assert_eq!(report.worker_still_running, landed && worker == Worker::Held);
                            seen += 1;
                        }
                    }
                }
            }
        }
    }
    assert_eq!(seen, 15 * 7 * 16 * 4 * 19 * 2);
}

/// Row 10 decides last, so that beside everything that origin can say of fences the other rows vary less.
/// Verifies REQ-C1.1.
#[test]
fn every_answer_about_fences_gives_what_the_table_says() {
    let graph = one_task();
    for (branch, worker) in BRANCHES
        .into_iter()
        .flat_map(|branch| WORKERS.map(|worker| (branch, worker)))
    {
        for (claim, fencing) in CLAIMS
            .into_iter()
            .flat_map(|claim| FENCINGS.map(|fencing| (claim, fencing)))
        {
            for (forge, trailer) in [
                (Forge::NotConfigured, Trailer::No),
                (Forge::Open, Trailer::Reverted),
                (Forge::Unknown, Trailer::Yes),
            ] {
                let evidence = fenced(evidence(forge, trailer, branch, worker, claim), fencing);
                let report = &derive(&graph, &evidence).tasks[&task()];
                let expected = model_with(forge, trailer, branch, worker, (claim, fencing));
                assert_eq!(
                    got(report),
                    expected,
                    "{forge:?} {trailer:?} {branch:?} {worker:?} {claim:?} {fencing:?}"
                );
            }
        }
    }
}

/// Law L4 in one line: adding an unknown anywhere never makes a task ready or landed that was neither.
/// Verifies REQ-A1.4.
#[test]
fn an_unknown_never_frees_a_task() {
    for branch in BRANCHES {
        for worker in WORKERS {
            for claim in CLAIMS {
                let known = model(Forge::NotConfigured, Trailer::No, branch, worker, claim);
                for (forge, trailer) in [(Forge::Unknown, Trailer::No), (Forge::NotConfigured, Trailer::Unknown)] {
                    let state = derive(&one_task(), &evidence(forge, trailer, branch, worker, claim));
                    let now = &state.tasks[&task()].state;
                    assert!(*now != TaskState::Ready, "{branch:?} {worker:?} {claim:?}");
                    if !matches!(known, Expected::Landed(_)) {
                        assert!(
                            !matches!(now, TaskState::Landed { .. }),
                            "{branch:?} {worker:?} {claim:?}"
                        );
                    }
                }
            }
        }
    }
}

/// Verifies REQ-F1.3.
#[test]
fn who_needs_a_person_says_what_to_do() {
    for claim in [
        Claim::UnreadableMarker,
        Claim::FutureMarker,
        Claim::UnreadableRecord,
        Claim::UnreadableLaunch,
        Claim::Launched,
    ] {
        let evidence = evidence(Forge::NotConfigured, Trailer::No, Branch::None, Worker::Free, claim);
        let state = derive(&one_task(), &evidence);
        let TaskState::InProgress(progress) = &state.tasks[&task()].state else {
            panic!("{claim:?} does not hold")
        };
        let expected = if claim == Claim::Launched {
            ProgressKind::Ended
        } else {
            ProgressKind::Unreadable
        };
        assert_eq!(progress.kind, expected, "{claim:?}");
        assert!(
            progress
                .hint
                .as_ref()
                .is_some_and(|hint| hint.contains("orchestrate-marker clear")),
            "{claim:?}"
        );
    }
}

/// Verifies REQ-D2.1.
#[test]
fn a_fence_of_somebody_else_names_its_owner_and_what_ends_it() {
    let free = evidence(
        Forge::NotConfigured,
        Trailer::No,
        Branch::None,
        Worker::NoWorktree,
        Claim::None,
    );
    let state = derive(&one_task(), &fenced(free.clone(), Fencing::Foreign));
    let TaskState::Unknown(why) = &state.tasks[&task()].state else {
        panic!("a fenced unit is not free")
    };
    assert_eq!(
        why.reason,
        "a tower on h (pid 1, since 1970-01-12T13:46:40Z) has fenced it, and nothing of its work is seen here"
    );
    assert_eq!(
        why.hint.as_deref(),
        Some(
            "its worker may be at work in that tower's clone, and it ends when the unit lands; if that clone is gone for good: git push origin :refs/planwright-fence/a/1"
        )
    );
    let state = derive(&one_task(), &fenced(free, Fencing::Own));
    assert_eq!(state.tasks[&task()].state, TaskState::Ready);
}

/// Verifies REQ-C1.9.
#[test]
fn a_bundle_branch_speaks_for_each_member() {
    let mut graph = one_task();
    let second = TaskId::parse("2").expect("id");
    graph.tasks.push(TaskNode {
        id: second.clone(),
        title: "t".to_owned(),
        dependencies: Vec::new(),
        effort: Effort::ONE_DAY,
    });
    let mut evidence = evidence(
        Forge::NotConfigured,
        Trailer::No,
        Branch::None,
        Worker::NoWorktree,
        Claim::None,
    );
    let facts = BranchFacts {
        side: BranchSide::Local,
        tip: commit('b'),
        ahead: 1,
        own: Observed::Known(vec![commit('b')]),
    };
    evidence.branches = Observed::Known(Branches::from(BTreeMap::from([(
        Unit::parse("1-2").expect("unit"),
        vec![facts],
    )])));
    let state = derive(&graph, &evidence);
    for task in [task(), second] {
        assert_eq!(state.tasks[&task].decided_by, Some(Row::OwnCommits));
    }
}
