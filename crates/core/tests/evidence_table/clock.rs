//! A clock that is set: by hours back or forward, between what is recorded and what is asked.

use std::collections::BTreeMap;

use orchestrate_core::derive::{Answer, ProgressKind, Row, TaskReport, TaskState, derive};
use orchestrate_core::evidence::{Branches, Evidence};
use orchestrate_core::identifier::{TaskId, Unit};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::time::Timestamp;

use crate::answers::{BRANCHES, Branch, CLAIMS, Claim, FORGES, Forge, Head, Trailer, WORKERS, Worker};
use crate::made::{NOW, evidence, task};
use crate::one_task;

const STEPS: [i64; 6] = [-86_400, -3_600, -60, 60, 3_600, 86_400];

fn at(mut evidence: Evidence, now: i64) -> (Evidence, TaskReport) {
    evidence.now = Timestamp::from_seconds(now);
    let report = derive(&one_task(), &evidence).tasks[&task()].clone();
    (evidence, report)
}

/// Only a bare marker has an age that decides: everything else says the same under every clock.
#[test]
fn nothing_but_a_bare_marker_looks_at_the_clock() {
    let is_bare = |claim: &Claim| matches!(claim, Claim::FreshBare | Claim::StaleBare | Claim::FutureMarker);
    for forge in FORGES {
        for branch in BRANCHES {
            for worker in WORKERS {
                for claim in CLAIMS.into_iter().filter(|claim| !is_bare(claim)) {
                    // The marker of another tower beside our record is as bare as one without a record.
                    if claim == Claim::OurTowerDeadMarkerOfAnother {
                        continue;
                    }
                    let (_, before) = at(evidence(forge, Trailer::No, branch, worker, claim), NOW);
                    for step in STEPS {
                        let (_, after) = at(evidence(forge, Trailer::No, branch, worker, claim), NOW + step);
                        assert_eq!(
                            (&before.state, before.decided_by, before.at),
                            (&after.state, after.decided_by, after.at),
                            "{forge:?} {branch:?} {worker:?} {claim:?} {step}"
                        );
                    }
                }
            }
        }
    }
}

/// A marker that a clock has put far into the future is a claim that cannot be read; one of the past is void.
#[test]
fn a_bare_marker_holds_while_it_is_near_and_when_it_lies_in_the_future() {
    for (now, kind) in [
        (NOW - 86_400, Some(ProgressKind::Unreadable)),
        (NOW - 901 - 900, Some(ProgressKind::Unreadable)),
        (NOW - 900 - 900, Some(ProgressKind::Claimed)),
        (NOW - 901, Some(ProgressKind::Claimed)),
        (NOW, Some(ProgressKind::Claimed)),
        (NOW + 1, None),
        (NOW + 86_400, None),
    ] {
        // Its time is NOW - 900.
        let fresh = evidence(
            Forge::NotConfigured,
            Trailer::No,
            Branch::None,
            Worker::NoWorktree,
            Claim::FreshBare,
        );
        let (_, report) = at(fresh, now);
        let got = match &report.state {
            TaskState::InProgress(progress) => Some(progress.kind),
            TaskState::Ready => None,
            other @ (TaskState::Landed { .. } | TaskState::Unknown(_) | TaskState::Blocked { .. }) => {
                panic!("{other:?}")
            }
        };
        assert_eq!(got, kind, "{}", now - NOW);
    }
}

/// Each state names when its evidence came to be, and no words break where that lies ahead.
#[test]
fn every_deciding_row_says_when_its_evidence_came_to_be() {
    let none = (
        Forge::NotConfigured,
        Trailer::No,
        Branch::None,
        Worker::NoWorktree,
        Claim::None,
    );
    let cases = [
        (
            (Forge::Merged(Head::Within), none.1, none.2, none.3, none.4),
            Row::MergedPullRequest,
            -30,
        ),
        ((none.0, Trailer::Yes, none.2, none.3, none.4), Row::Trailer, -50),
        (
            (none.0, none.1, Branch::OwnCommitsLanded, none.3, none.4),
            Row::OwnCommitsLanded,
            -40,
        ),
        ((none.0, none.1, none.2, Worker::Held, none.4), Row::WorkerLease, -8),
        ((none.0, none.1, Branch::Ahead, none.3, none.4), Row::OwnCommits, -40),
        ((Forge::Open, none.1, none.2, none.3, none.4), Row::OpenPullRequest, -20),
        (
            (Forge::Open, none.1, Branch::Ahead, none.3, none.4),
            Row::OwnCommits,
            -20,
        ),
        ((none.0, none.1, none.2, none.3, Claim::OurTowerAlive), Row::Claim, -10),
        ((none.0, none.1, none.2, none.3, Claim::Launched), Row::Claim, -9),
        ((none.0, none.1, none.2, none.3, Claim::FreshBare), Row::Claim, -900),
    ];
    for ((forge, trailer, branch, worker, claim), row, seconds) in cases {
        let (_, report) = at(evidence(forge, trailer, branch, worker, claim), NOW);
        assert_eq!(report.decided_by, Some(row));
        assert_eq!(report.at, Some(Timestamp::from_seconds(NOW + seconds)), "{row:?}");
        let (past, report) = at(evidence(forge, trailer, branch, worker, claim), NOW - 86_400);
        let ages = report.rows.iter().filter_map(|(_, answer)| answer.at());
        for age in ages.map(|at| at.ago_at(past.now)) {
            assert_eq!(age, "in the future");
        }
        for (_, answer) in &report.rows {
            if let Answer::No(said) = answer {
                assert!(!said.contains("future ago"), "{said}");
            }
        }
    }
}

/// A branch that cannot be read is unknown for the units that it speaks for, and for no other (law L12).
#[test]
fn an_unreadable_branch_is_unknown_for_its_own_unit_alone() {
    for (named, expected) in [("1", true), ("1-2", true), ("2", false)] {
        let mut evidence = evidence(
            Forge::NotConfigured,
            Trailer::No,
            Branch::None,
            Worker::NoWorktree,
            Claim::None,
        );
        evidence.branches = Observed::Known(Branches {
            by_unit: BTreeMap::new(),
            unreadable: BTreeMap::from([(Unit::parse(named).expect("unit"), Why::new("torn"))]),
        });
        let (_, report) = at(evidence, NOW);
        assert_eq!(matches!(report.state, TaskState::Unknown(_)), expected, "{named}");
        assert_eq!(report.state == TaskState::Ready, !expected, "{named}");
    }
    assert_eq!(TaskId::parse("1").expect("id"), task());
}
