//! The sweep's verdict: all three conditions, and each of them missing in turn.

use std::collections::BTreeMap;

use orchestrate_core::derive::derive;
use orchestrate_core::evidence::{BranchFacts, BranchSide, Branches, Evidence};
use orchestrate_core::finished::{finished, kept_by_commits, retirable};
use orchestrate_core::graph::{Parking, ParkingPlace};
use orchestrate_core::observed::Observed;
use orchestrate_core::orphan::{Orphan, Suspect, suspects};
use orchestrate_core::process::Liveness;
use orchestrate_core::record::launch::{LaunchRecord, WorkerEnd};
use orchestrate_core::time::Timestamp;

use crate::answers::{BRANCHES, Branch, CLAIMS, Claim, FORGES, Forge, TRAILERS, Trailer, WORKERS, Worker};
use crate::made::{NOW, commit, evidence, task, unit, why};
use crate::one_task;

/// Later by the grace than everything in the records.
const GRACE: i64 = 8;

/// Evidence of a worker that died and left nothing.
fn orphaned() -> Evidence {
    let mut evidence = evidence(
        Forge::NoPullRequest,
        Trailer::No,
        Branch::None,
        Worker::Free,
        Claim::Launched,
    );
    evidence.branches = branch_at('c');
    evidence
}

fn branch_at(digit: char) -> Observed<Branches> {
    let facts = BranchFacts {
        side: BranchSide::Local,
        tip: commit(digit),
        ahead: 0,
        own: Observed::Known(Vec::new()),
    };
    Observed::Known(BTreeMap::from([(unit(), vec![facts])]).into())
}

fn verdict(evidence: &Evidence, grace: i64) -> Option<Orphan> {
    let graph = one_task();
    let state = derive(&graph, evidence);
    let suspect: Suspect = suspects(&graph, evidence, &state, grace).pop()?;
    suspect.judged(&Observed::Known(Vec::new()))
}

fn changed(change: impl FnOnce(&mut Evidence)) -> Option<Orphan> {
    let mut evidence = orphaned();
    change(&mut evidence);
    verdict(&evidence, GRACE)
}

fn with_launch(change: impl FnOnce(&mut LaunchRecord)) -> Option<Orphan> {
    changed(|evidence| {
        if let Observed::Known(records) = &mut evidence.records
            && let Some(records) = records.get_mut(&unit())
            && let Observed::Known(launch) = &mut records.launch
        {
            change(launch);
        }
    })
}

fn with_runner(runner: Observed<Liveness>) -> Option<Orphan> {
    changed(|evidence| {
        if let Observed::Known(records) = &mut evidence.records
            && let Some(records) = records.get_mut(&unit())
        {
            records.runner = runner;
        }
    })
}

/// Verifies REQ-C3.4.
#[test]
fn all_three_conditions_make_an_orphan() {
    let orphan = changed(|_| {}).expect("an orphan");
    assert_eq!((orphan.unit.clone(), orphan.tasks.clone()), (unit(), vec![task()]));
    assert_eq!(
        orphan.note(&task()),
        "orphaned: command worker pid 2 gone (evidence: its process is dead, its lease is free, no commit on its branch), last activity \
         1970-01-12T13:46:31Z; re-dispatch is a human decision: look at .git/orchestrate/logs/a-task-1.log, then \
         orchestrate unpark a 1"
    );
    let ended = with_launch(|launch| {
        launch.ended = Some(WorkerEnd {
            at: Timestamp::from_seconds(NOW - 9),
            status: "exit 1".to_owned(),
        });
    });
    assert!(ended.is_some_and(|orphan| {
        let note = orphan.note(&task());
        note.starts_with("ended and left no commit on its branch: command worker pid 2 (exit 1), last activity 1970-")
    }));
}

/// The first condition: younger than the grace, by any of its times.
/// Verifies REQ-C3.4.
#[test]
fn a_young_dispatch_is_no_orphan() {
    assert!(verdict(&orphaned(), GRACE + 1).is_none());
    let ends = |at| {
        with_launch(|launch| {
            launch.ended = Some(WorkerEnd {
                at: Timestamp::from_seconds(at),
                status: "exit 1".to_owned(),
            });
        })
    };
    assert!(ends(NOW - GRACE - 1).is_some());
    assert!(ends(NOW - GRACE).is_none());
    assert!(ends(NOW + 100).is_none(), "a clock that was set back");
}

/// The second condition: what cannot be seen from here is never judged.
/// Verifies REQ-C3.4.
#[test]
fn what_cannot_be_seen_is_no_orphan() {
    assert!(with_runner(Observed::Unknown(why())).is_none());
    assert!(
        with_launch(|launch| launch.runner = None).is_none(),
        "a printed command"
    );
    assert!(changed(|evidence| evidence.leases = Observed::Unknown(why())).is_none());
    assert!(changed(|evidence| evidence.leases = Observed::Known(BTreeMap::new())).is_none());
    assert!(changed(|evidence| evidence.pull_requests = Observed::Unknown(why())).is_none());
    assert!(changed(|evidence| evidence.pull_requests = Observed::Absent(why())).is_some());
    let graph = one_task();
    let evidence = orphaned();
    let suspect = || {
        suspects(&graph, &evidence, &derive(&graph, &evidence), GRACE)
            .pop()
            .expect("a suspect")
    };
    assert_eq!(suspect().unit(), &unit());
    for occupants in [
        Observed::Known(vec!["pid 9".to_owned()]),
        Observed::Absent(why()),
        Observed::Unknown(why()),
    ] {
        assert!(suspect().judged(&occupants).is_none(), "{occupants:?}");
    }
}

/// The third condition: the worker is dead, and has left nothing.
/// Verifies REQ-C3.4.
#[test]
fn who_lives_or_left_something_is_no_orphan() {
    assert!(with_runner(Observed::Known(Liveness::Alive)).is_none());
    for digit in ['b', 'a'] {
        assert!(changed(|evidence| evidence.branches = branch_at(digit)).is_none());
    }
    assert!(changed(|evidence| evidence.branches = Observed::Known(Branches::new())).is_none());
    let unreadable = |evidence: &mut Evidence| {
        if let Observed::Known(branches) = &mut evidence.branches {
            branches.unreadable.insert(unit(), why());
        }
    };
    assert!(changed(unreadable).is_none());
    assert!(
        changed(|evidence| {
            if let Observed::Known(branches) = &mut evidence.branches
                && let Some(facts) = branches.by_unit.get_mut(&unit())
            {
                facts.push(BranchFacts {
                    side: BranchSide::Remote,
                    ..facts[0].clone()
                });
            }
        })
        .is_none()
    );
}

/// Whatever the evidence is: an orphan has a dead worker's launch record, and nothing that was not known.
/// Verifies REQ-C3.4.
#[test]
fn no_other_combination_makes_an_orphan() {
    let mut seen = 0;
    for forge in FORGES {
        for trailer in TRAILERS {
            for worker in WORKERS {
                for claim in CLAIMS {
                    let mut evidence = evidence(forge, trailer, Branch::None, worker, claim);
                    evidence.branches = branch_at('c');
                    let is_orphan = verdict(&evidence, GRACE).is_some();
                    let expected = matches!(forge, Forge::NotConfigured | Forge::NoPullRequest)
                        && matches!(trailer, Trailer::No)
                        && worker == Worker::Free
                        && was_launched(claim)
                        && claim != Claim::LaunchedAndCleared;
                    let redone = trailer == Trailer::RevertedAndWanted;
                    assert!(
                        is_orphan == expected || redone,
                        "{forge:?} {trailer:?} {worker:?} {claim:?}"
                    );
                    seen += usize::from(is_orphan);
                }
            }
        }
    }
    assert!(seen >= 2);
    for branch in BRANCHES {
        let evidence = evidence(Forge::NoPullRequest, Trailer::No, branch, Worker::Free, Claim::Launched);
        assert!(verdict(&evidence, GRACE).is_none(), "{branch:?}");
    }
}

#[test]
fn what_a_person_has_parked_is_not_parked_again() {
    let evidence = orphaned();
    for place in [
        ParkingPlace::AwaitingInput,
        ParkingPlace::Deferred,
        ParkingPlace::OutOfScope,
        ParkingPlace::InProgress,
    ] {
        let mut graph = one_task();
        let parking = Parking {
            place,
            note: String::new(),
        };
        graph.parked.insert(task(), parking);
        let found = suspects(&graph, &evidence, &derive(&graph, &evidence), GRACE);
        assert_eq!(found.is_empty(), place.is_a_persons(), "{place:?}");
    }
}

/// What is left of an attempt goes when base itself names the landing and nobody is left; never otherwise.
#[test]
fn only_a_trailer_makes_records_superfluous() {
    let mut found = 0;
    for forge in FORGES {
        for trailer in TRAILERS {
            for branch in BRANCHES {
                for worker in WORKERS {
                    for claim in CLAIMS {
                        let evidence = evidence(forge, trailer, branch, worker, claim);
                        let is_finished = !finished(&evidence, &derive(&one_task(), &evidence)).is_empty();
                        let named = matches!(trailer, Trailer::Yes | Trailer::RevertedAndLandedAgain);
                        let nobody = matches!(worker, Worker::Free | Worker::NoWorktree);
                        let launched = was_launched(claim);
                        let expected = named && nobody && launched;
                        // Commits beyond a merged head keep the unit in progress.
                        assert!(
                            expected || !is_finished,
                            "{forge:?} {trailer:?} {branch:?} {worker:?} {claim:?}"
                        );
                        found += usize::from(is_finished);
                    }
                }
            }
        }
    }
    assert!(found > 100, "{found}");
}

fn was_launched(claim: Claim) -> bool {
    matches!(
        claim,
        Claim::Launched | Claim::LaunchedAndCleared | Claim::LaunchedLate | Claim::GivenUpAndLaunched
    )
}

/// A worktree goes of a landed unit alone, of whose branch here every commit has landed, and that nobody has or may get.
#[test]
fn only_a_landed_unit_without_a_commit_too_many_loses_its_worktree() {
    let (mut found, mut by_pull_request) = (0, 0);
    for forge in FORGES {
        for trailer in TRAILERS {
            for branch in BRANCHES {
                for worker in WORKERS {
                    for claim in CLAIMS {
                        let evidence = evidence(forge, trailer, branch, worker, claim);
                        let state = derive(&one_task(), &evidence);
                        let goes = retirable(&evidence, &state);
                        let case = format!("{forge:?} {trailer:?} {branch:?} {worker:?} {claim:?}");
                        assert!(goes.len() <= 1, "{case}");
                        let Some(one) = goes.first() else { continue };
                        assert_eq!(one.unit, unit(), "{case}");
                        assert!(state.landed().contains_key(&task()), "{case}");
                        assert_eq!(worker, Worker::Free, "{case}");
                        let is_nobodys = matches!(claim, Claim::None | Claim::StaleBare) || was_launched(claim);
                        assert!(is_nobodys, "{case}");
                        let has_commits = matches!(branch, Branch::Ahead | Branch::AheadWith(_));
                        let is_merged = matches!(
                            forge,
                            Forge::Merged(_) | Forge::MergedAndRevertedByCommit | Forge::MergedAndRevertedByNumber
                        );
                        assert!(!has_commits || is_merged, "{case}");
                        assert_eq!(
                            kept_by_commits(&evidence, &state).contains(&unit()),
                            has_commits,
                            "{case}"
                        );
                        found += 1;
                        by_pull_request += usize::from(has_commits);
                    }
                }
            }
        }
    }
    assert!(found > 100, "{found}");
    println!("{found} go, {by_pull_request} of them by a pull request");
}
