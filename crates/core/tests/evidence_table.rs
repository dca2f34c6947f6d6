//! The evidence table of architecture §7, for every combination of answers, against a model written row by row.

use std::collections::{BTreeMap, BTreeSet};

use orchestrate_core::content::Content;
use orchestrate_core::derive::{ProgressKind, Row, TaskState, derive};
use orchestrate_core::evidence::{Base, BaseSource, BranchFacts, BranchSide, Evidence, History, Lease, UnitRecords};
use orchestrate_core::graph::{Effort, TaskGraph, TaskNode};
use orchestrate_core::identifier::{BackendName, BaseName, CommitId, Nonce, SpecId, TaskId, Unit, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::process::{Liveness, ProcessIdentity};
use orchestrate_core::pull_request::{Checks, PullRequest, PullRequestState, PullRequests, TipRelation};
use orchestrate_core::record::dispatch::{Attempt, DispatchRecord, LaunchManner, LaunchOrder};
use orchestrate_core::record::launch::LaunchRecord;
use orchestrate_core::revert::Reverts;
use orchestrate_core::time::Timestamp;

const NOW: i64 = 1_000_000;
const STALE_AFTER: i64 = 900;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Forge {
    NotConfigured,
    Unknown,
    /// Nothing was said of this unit.
    UnitUnknown,
    NoPullRequest,
    Open,
    Closed,
    /// Merged, and its head and a branch that is ahead lie so to each other.
    Merged(Head),
    MergedAndRevertedByCommit,
    MergedAndRevertedByNumber,
    MergedIntoAnotherBase,
    MergedFromAnotherOwner,
    MergedFromADeletedRepository,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Head {
    Within,
    Beyond,
    Apart,
    NotCompared,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trailer {
    Yes,
    /// Named by a commit that was reverted.
    Reverted,
    /// Named by a commit that was reverted, and again by a later one.
    RevertedAndLandedAgain,
    /// Reverted, and a person wants it done again.
    RevertedAndWanted,
    No,
    /// Not found, and the clone is shallow.
    Shallow,
    /// History could not be walked.
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Branch {
    None,
    Ahead,
    /// Ahead, and its changes compare so with base.
    AheadWith(Changes),
    RemoteAhead,
    OwnCommitsLanded,
    /// One of its landed commits was reverted.
    OwnCommitsReverted,
    NoOwnCommits,
    ContainedStartUnknown,
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Changes {
    Rebased,
    RebasedAndReverted,
    Squashed,
    SquashedAndReverted,
    Contained,
    Different,
    NotAsked,
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Worker {
    NoWorktree,
    Free,
    Held,
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Claim {
    None,
    FreshBare,
    StaleBare,
    UnreadableMarker,
    FutureMarker,
    OurTowerAlive,
    OurTowerUnknown,
    OurTowerDead,
    OurTowerDeadOlderMarkerLeft,
    OurTowerDeadMarkerOfAnother,
    Launched,
    LaunchedAndCleared,
    LaunchedByAnOlderAttempt,
    UnreadableRecord,
    UnreadableLaunch,
    Unknown,
}

const FORGES: [Forge; 15] = [
    Forge::NotConfigured,
    Forge::Unknown,
    Forge::UnitUnknown,
    Forge::NoPullRequest,
    Forge::Open,
    Forge::Closed,
    Forge::Merged(Head::Within),
    Forge::Merged(Head::Beyond),
    Forge::Merged(Head::Apart),
    Forge::Merged(Head::NotCompared),
    Forge::MergedAndRevertedByCommit,
    Forge::MergedAndRevertedByNumber,
    Forge::MergedIntoAnotherBase,
    Forge::MergedFromAnotherOwner,
    Forge::MergedFromADeletedRepository,
];
const TRAILERS: [Trailer; 7] = [
    Trailer::Yes,
    Trailer::Reverted,
    Trailer::RevertedAndLandedAgain,
    Trailer::RevertedAndWanted,
    Trailer::No,
    Trailer::Shallow,
    Trailer::Unknown,
];
const BRANCHES: [Branch; 16] = [
    Branch::None,
    Branch::Ahead,
    Branch::AheadWith(Changes::Rebased),
    Branch::AheadWith(Changes::RebasedAndReverted),
    Branch::AheadWith(Changes::Squashed),
    Branch::AheadWith(Changes::SquashedAndReverted),
    Branch::AheadWith(Changes::Contained),
    Branch::AheadWith(Changes::Different),
    Branch::AheadWith(Changes::NotAsked),
    Branch::AheadWith(Changes::Unknown),
    Branch::RemoteAhead,
    Branch::OwnCommitsLanded,
    Branch::OwnCommitsReverted,
    Branch::NoOwnCommits,
    Branch::ContainedStartUnknown,
    Branch::Unknown,
];
const WORKERS: [Worker; 4] = [Worker::NoWorktree, Worker::Free, Worker::Held, Worker::Unknown];
const CLAIMS: [Claim; 16] = [
    Claim::None,
    Claim::FreshBare,
    Claim::StaleBare,
    Claim::UnreadableMarker,
    Claim::FutureMarker,
    Claim::OurTowerAlive,
    Claim::OurTowerUnknown,
    Claim::OurTowerDead,
    Claim::OurTowerDeadOlderMarkerLeft,
    Claim::OurTowerDeadMarkerOfAnother,
    Claim::Launched,
    Claim::LaunchedAndCleared,
    Claim::LaunchedByAnOlderAttempt,
    Claim::UnreadableRecord,
    Claim::UnreadableLaunch,
    Claim::Unknown,
];

/// What a row says, in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Landed,
    InProgress,
    No,
    Undone,
    Unknown,
}

/// The states, as far as the table tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Landed(Row),
    InProgress(Row),
    Unknown,
    Ready,
}

/// Row 1: a branch with nothing that base lacks holds no more than what was merged.
fn merged_says(forge: Forge, branch: Branch, trailer: Trailer) -> Says {
    // Without history nobody knows what was reverted; the person who wants it again speaks of the same revert.
    let landed = if trailer == Trailer::Unknown {
        Says::Unknown
    } else if is_reverted(forge) && trailer == Trailer::RevertedAndWanted {
        Says::No
    } else if is_reverted(forge) {
        Says::Undone
    } else {
        Says::Landed
    };
    match (forge, branch) {
        (Forge::Unknown | Forge::UnitUnknown | Forge::MergedFromADeletedRepository, _) => Says::Unknown,
        (Forge::Merged(_), Branch::Unknown) => Says::Unknown,
        (Forge::Merged(head), Branch::Ahead | Branch::AheadWith(_) | Branch::RemoteAhead) => match head {
            Head::Within => landed,
            Head::Beyond => Says::InProgress,
            Head::Apart => Says::No,
            Head::NotCompared => Says::Unknown,
        },
        (Forge::MergedAndRevertedByCommit | Forge::MergedAndRevertedByNumber, Branch::Unknown) => Says::Unknown,
        (Forge::Merged(_) | Forge::MergedAndRevertedByCommit | Forge::MergedAndRevertedByNumber, _) => landed,
        (
            Forge::NotConfigured
            | Forge::NoPullRequest
            | Forge::Open
            | Forge::Closed
            | Forge::MergedIntoAnotherBase
            | Forge::MergedFromAnotherOwner,
            _,
        ) => Says::No,
    }
}

/// Rows 5 and 6, the first when `rebased`.
fn content_says(branch: Branch, trailer: Trailer, rebased: bool) -> Says {
    let Branch::AheadWith(changes) = branch else {
        return Says::No;
    };
    let (found, reverted) = match changes {
        Changes::Rebased => (rebased, false),
        Changes::RebasedAndReverted => (rebased, true),
        Changes::Squashed | Changes::Contained => (!rebased, false),
        Changes::SquashedAndReverted => (!rebased, true),
        Changes::Different | Changes::NotAsked => (false, false),
        Changes::Unknown => return Says::Unknown,
    };
    match (found, reverted, trailer) {
        (false, _, _) => Says::No,
        (true, _, Trailer::Unknown) => Says::Unknown,
        (true, false, _) => Says::Landed,
        (true, true, Trailer::RevertedAndWanted) => Says::No,
        (true, true, _) => Says::Undone,
    }
}

fn is_reverted(forge: Forge) -> bool {
    matches!(
        forge,
        Forge::MergedAndRevertedByCommit | Forge::MergedAndRevertedByNumber
    )
}

fn open_says(forge: Forge) -> Says {
    match forge {
        Forge::Open => Says::InProgress,
        Forge::Unknown | Forge::UnitUnknown | Forge::MergedFromADeletedRepository => Says::Unknown,
        Forge::NotConfigured
        | Forge::NoPullRequest
        | Forge::Closed
        | Forge::Merged(_)
        | Forge::MergedAndRevertedByCommit
        | Forge::MergedAndRevertedByNumber
        | Forge::MergedIntoAnotherBase
        | Forge::MergedFromAnotherOwner => Says::No,
    }
}

fn model(forge: Forge, trailer: Trailer, branch: Branch, worker: Worker, claim: Claim) -> Expected {
    let rows = [
        (Row::MergedPullRequest, false, merged_says(forge, branch, trailer)),
        (
            Row::Trailer,
            true,
            match trailer {
                Trailer::Yes | Trailer::RevertedAndLandedAgain => Says::Landed,
                Trailer::Reverted => Says::Undone,
                Trailer::No | Trailer::RevertedAndWanted => Says::No,
                Trailer::Shallow | Trailer::Unknown => Says::Unknown,
            },
        ),
        (
            Row::OwnCommitsLanded,
            true,
            match branch {
                Branch::OwnCommitsLanded | Branch::OwnCommitsReverted if trailer == Trailer::Unknown => Says::Unknown,
                Branch::OwnCommitsLanded => Says::Landed,
                Branch::OwnCommitsReverted if trailer == Trailer::RevertedAndWanted => Says::No,
                Branch::OwnCommitsReverted => Says::Undone,
                Branch::ContainedStartUnknown | Branch::Unknown => Says::Unknown,
                Branch::None | Branch::Ahead | Branch::AheadWith(_) | Branch::RemoteAhead | Branch::NoOwnCommits => {
                    Says::No
                }
            },
        ),
        (
            Row::WorkerLease,
            true,
            match worker {
                Worker::Held => Says::InProgress,
                Worker::Unknown => Says::Unknown,
                Worker::NoWorktree | Worker::Free => Says::No,
            },
        ),
        (Row::Rebased, false, content_says(branch, trailer, true)),
        (Row::Squashed, false, content_says(branch, trailer, false)),
        (
            Row::OwnCommits,
            false,
            match branch {
                Branch::Ahead | Branch::AheadWith(_) | Branch::RemoteAhead => Says::InProgress,
                Branch::Unknown => Says::Unknown,
                Branch::None
                | Branch::OwnCommitsLanded
                | Branch::OwnCommitsReverted
                | Branch::NoOwnCommits
                | Branch::ContainedStartUnknown => Says::No,
            },
        ),
        (Row::OpenPullRequest, false, open_says(forge)),
        (
            Row::Claim,
            false,
            match claim {
                Claim::None
                | Claim::StaleBare
                | Claim::OurTowerDead
                | Claim::OurTowerDeadOlderMarkerLeft
                | Claim::LaunchedAndCleared
                | Claim::LaunchedByAnOlderAttempt => Says::No,
                Claim::Unknown => Says::Unknown,
                Claim::FreshBare
                | Claim::UnreadableMarker
                | Claim::FutureMarker
                | Claim::OurTowerAlive
                | Claim::OurTowerUnknown
                | Claim::OurTowerDeadMarkerOfAnother
                | Claim::Launched
                | Claim::UnreadableRecord
                | Claim::UnreadableLaunch => Says::InProgress,
            },
        ),
    ];
    let mut unknown = false;
    let mut undone = None;
    for (row, stands_alone, says) in rows {
        if row == Row::Claim && !unknown && undone.is_some() {
            break;
        }
        match says {
            Says::Undone => undone = undone.or(Some(row)),
            Says::Unknown => unknown = true,
            Says::Landed if !unknown || stands_alone => return Expected::Landed(row),
            Says::InProgress if !unknown || stands_alone => return Expected::InProgress(row),
            Says::Landed | Says::InProgress | Says::No => {}
        }
    }
    match (unknown, undone) {
        (true, _) => Expected::Unknown,
        (false, Some(row)) => Expected::InProgress(row),
        (false, None) => Expected::Ready,
    }
}

fn commit(digit: char) -> CommitId {
    CommitId::parse(&digit.to_string().repeat(40)).expect("commit")
}

fn nonce(digit: char) -> Nonce {
    Nonce::parse(&digit.to_string().repeat(32)).expect("nonce")
}

fn why() -> Why {
    Why::new("test")
}

fn task() -> TaskId {
    TaskId::parse("1").expect("id")
}

fn unit() -> Unit {
    Unit::single(task())
}

fn branch_facts(branch: Branch) -> Observed<BTreeMap<Unit, Vec<BranchFacts>>> {
    let facts = |side, ahead, own| BranchFacts {
        side,
        tip: commit('b'),
        ahead,
        own,
    };
    let of = |facts| Observed::Known(BTreeMap::from([(unit(), vec![facts])]));
    match branch {
        Branch::None => Observed::Known(BTreeMap::new()),
        Branch::Ahead => of(facts(
            BranchSide::Local,
            2,
            Observed::Known(vec![commit('b'), commit('9')]),
        )),
        Branch::AheadWith(_) => of(facts(BranchSide::Local, 1, Observed::Known(vec![commit('b')]))),
        Branch::RemoteAhead => of(facts(BranchSide::Remote, 1, Observed::Absent(why()))),
        Branch::OwnCommitsLanded => of(facts(
            BranchSide::Local,
            0,
            Observed::Known(vec![commit('b'), commit('9')]),
        )),
        Branch::OwnCommitsReverted => of(facts(
            BranchSide::Local,
            0,
            Observed::Known(vec![commit('b'), commit('8')]),
        )),
        Branch::NoOwnCommits => of(facts(BranchSide::Local, 0, Observed::Known(Vec::new()))),
        Branch::ContainedStartUnknown => of(facts(BranchSide::Local, 0, Observed::Absent(why()))),
        Branch::Unknown => Observed::Unknown(why()),
    }
}

fn leases(worker: Worker) -> Observed<BTreeMap<Unit, Observed<Lease>>> {
    let of = |lease| Observed::Known(BTreeMap::from([(unit(), lease)]));
    match worker {
        Worker::NoWorktree => Observed::Known(BTreeMap::new()),
        Worker::Free => of(Observed::Known(Lease::Free)),
        Worker::Held => of(Observed::Known(Lease::Held {
            holder: "pid 1".to_owned(),
        })),
        Worker::Unknown => of(Observed::Unknown(why())),
    }
}

fn record() -> DispatchRecord {
    let name = UnitName {
        spec: SpecId::parse("a").expect("spec"),
        unit: unit(),
    };
    let launch = LaunchOrder {
        backend: BackendName::parse("command").expect("backend"),
        manner: LaunchManner::Background,
        argv: vec!["/bin/true".to_owned()],
        prompt: String::new(),
    };
    let tower = ProcessIdentity {
        host: "h".to_owned(),
        boot: "b".to_owned(),
        pid: 1,
        start: 1,
    };
    let attempt = Attempt {
        tower,
        attempt: nonce('1'),
        dispatched: Timestamp::from_seconds(NOW - 10),
    };
    DispatchRecord::new(
        name,
        BaseName::parse("main").expect("base"),
        commit('c'),
        "0".repeat(40),
        attempt,
        launch,
    )
}

type Claims = (
    Observed<BTreeMap<TaskId, Vec<Observed<Timestamp>>>>,
    Observed<BTreeMap<Unit, UnitRecords>>,
);

fn claims(claim: Claim) -> Claims {
    let marker = |marker| Observed::Known(BTreeMap::from([(task(), vec![marker])]));
    let at = |seconds| marker(Observed::Known(Timestamp::from_seconds(seconds)));
    let ours = at(NOW - 10);
    let none = || Observed::Known(BTreeMap::new());
    let runner = Some(ProcessIdentity {
        host: "h".to_owned(),
        boot: "b".to_owned(),
        pid: 2,
        start: 1,
    });
    let launch = |digit| {
        Observed::Known(LaunchRecord::new(
            nonce(digit),
            Timestamp::from_seconds(NOW - 9),
            runner.clone(),
        ))
    };
    let records = |launch, liveness| {
        let records = UnitRecords {
            dispatch: Observed::Known(record()),
            launch,
            tower: liveness,
            runner: Observed::Known(Liveness::Dead),
        };
        Observed::Known(BTreeMap::from([(unit(), records)]))
    };
    let not_launched = || Observed::Absent(why());
    let (alive, dead) = (Observed::Known(Liveness::Alive), Observed::Known(Liveness::Dead));
    match claim {
        Claim::None => (none_markers(), none()),
        Claim::FreshBare => (at(NOW - STALE_AFTER), none()),
        Claim::StaleBare => (at(NOW - STALE_AFTER - 1), none()),
        Claim::UnreadableMarker => (marker(Observed::Unknown(why())), none()),
        Claim::FutureMarker => (at(NOW + STALE_AFTER + 1), none()),
        Claim::OurTowerAlive => (ours, records(not_launched(), alive)),
        Claim::OurTowerUnknown => (ours, records(not_launched(), Observed::Unknown(why()))),
        Claim::OurTowerDead => (ours, records(not_launched(), dead)),
        Claim::OurTowerDeadOlderMarkerLeft => (at(NOW - 20), records(not_launched(), dead)),
        Claim::OurTowerDeadMarkerOfAnother => (at(NOW - 5), records(not_launched(), dead)),
        Claim::Launched => (ours, records(launch('1'), dead)),
        Claim::LaunchedAndCleared => (none_markers(), records(launch('1'), dead)),
        Claim::LaunchedByAnOlderAttempt => (ours, records(launch('2'), dead)),
        Claim::UnreadableRecord => {
            let unreadable = UnitRecords {
                dispatch: Observed::Unknown(why()),
                launch: not_launched(),
                tower: Observed::Unknown(why()),
                runner: Observed::Absent(why()),
            };
            (none_markers(), Observed::Known(BTreeMap::from([(unit(), unreadable)])))
        }
        Claim::UnreadableLaunch => (ours, records(Observed::Unknown(why()), dead)),
        Claim::Unknown => (Observed::Unknown(why()), none()),
    }
}

fn none_markers() -> Observed<BTreeMap<TaskId, Vec<Observed<Timestamp>>>> {
    Observed::Absent(why())
}

fn pull_requests(forge: Forge, branch: Branch) -> Observed<PullRequests> {
    let answer = |unit_answer, relations| {
        Observed::Known(PullRequests {
            repository: "o/r".to_owned(),
            head_owner: "o".to_owned(),
            asked: Timestamp::from_seconds(NOW),
            by_unit: BTreeMap::from([(unit(), unit_answer)]),
            relations,
        })
    };
    let with = |state, base: &str, owner: Option<&str>, relations| {
        let one = PullRequest {
            number: 5,
            state,
            base: base.to_owned(),
            head_owner: owner.map(str::to_owned),
            head: commit('e'),
            checks: Checks::Passed,
        };
        answer(Observed::Known(vec![one]), relations)
    };
    let merged = PullRequestState::Merged(Some(commit('f')));
    let none = BTreeMap::new();
    match forge {
        Forge::NotConfigured => Observed::Absent(why()),
        Forge::Unknown => Observed::Unknown(why()),
        Forge::UnitUnknown => answer(Observed::Unknown(why()), none),
        Forge::NoPullRequest => answer(Observed::Known(Vec::new()), none),
        Forge::Open => with(PullRequestState::Open { draft: false }, "main", Some("o"), none),
        Forge::Closed => with(PullRequestState::Closed, "main", Some("o"), none),
        Forge::MergedIntoAnotherBase => with(merged, "release", Some("o"), none),
        Forge::MergedFromAnotherOwner => with(merged, "main", Some("stranger"), none),
        Forge::MergedFromADeletedRepository => with(merged, "main", None, none),
        Forge::MergedAndRevertedByNumber | Forge::MergedAndRevertedByCommit => {
            let commit = if forge == Forge::MergedAndRevertedByCommit {
                commit('8')
            } else {
                commit('f')
            };
            let within = Observed::Known(TipRelation::Within);
            let sides = [BranchSide::Local, BranchSide::Remote].map(|side| (side, within.clone()));
            let state = PullRequestState::Merged(Some(commit));
            with(state, "main", Some("o"), BTreeMap::from([(5, sides.to_vec())]))
        }
        Forge::Merged(head) => {
            let relation = match head {
                Head::Within => Observed::Known(TipRelation::Within),
                Head::Beyond => Observed::Known(TipRelation::Beyond),
                Head::Apart => Observed::Known(TipRelation::Apart),
                Head::NotCompared => Observed::Unknown(why()),
            };
            let side = if branch == Branch::RemoteAhead {
                BranchSide::Remote
            } else {
                BranchSide::Local
            };
            with(merged, "main", Some("O"), BTreeMap::from([(5, vec![(side, relation)])]))
        }
    }
}

fn content(branch: Branch) -> BTreeMap<Unit, Observed<Content>> {
    let Branch::AheadWith(changes) = branch else {
        return BTreeMap::new();
    };
    let content = match changes {
        Changes::Rebased => Observed::Known(Content::Rebased(vec![commit('6')])),
        Changes::RebasedAndReverted => Observed::Known(Content::Rebased(vec![commit('8'), commit('6')])),
        Changes::Squashed => Observed::Known(Content::Squashed(commit('6'))),
        Changes::SquashedAndReverted => Observed::Known(Content::Squashed(commit('8'))),
        Changes::Contained => Observed::Known(Content::Contained),
        Changes::Different => Observed::Known(Content::Different),
        Changes::NotAsked => Observed::Absent(why()),
        Changes::Unknown => Observed::Unknown(why()),
    };
    BTreeMap::from([(unit(), content)])
}

fn evidence(forge: Forge, trailer: Trailer, branch: Branch, worker: Worker, claim: Claim) -> Evidence {
    let history = History {
        trailers: match trailer {
            Trailer::Yes => BTreeMap::from([(task(), vec![commit('d')])]),
            Trailer::Reverted | Trailer::RevertedAndWanted => BTreeMap::from([(task(), vec![commit('8')])]),
            Trailer::RevertedAndLandedAgain => BTreeMap::from([(task(), vec![commit('8'), commit('d')])]),
            Trailer::No | Trailer::Shallow | Trailer::Unknown => BTreeMap::new(),
        },
        reverts: Reverts {
            commits: BTreeMap::from([(commit('8'), commit('7'))]),
            pull_requests: if forge == Forge::MergedAndRevertedByNumber {
                BTreeMap::from([(5, commit('7'))])
            } else {
                BTreeMap::new()
            },
        },
        refused: Vec::new(),
        walked: 7,
        incomplete: (trailer == Trailer::Shallow).then(why),
    };
    let (markers, records) = claims(claim);
    Evidence {
        spec: SpecId::parse("a").expect("spec"),
        now: Timestamp::from_seconds(NOW),
        base: Base {
            name: BaseName::parse("main").expect("base"),
            source: BaseSource::OnlyCandidate,
            commit: commit('a'),
            counterpart: None,
        },
        history: if trailer == Trailer::Unknown {
            Observed::Unknown(why())
        } else {
            Observed::Known(history)
        },
        branches: branch_facts(branch),
        pull_requests: pull_requests(forge, branch),
        leases: leases(worker),
        markers,
        content: content(branch),
        records,
        redo: if trailer == Trailer::RevertedAndWanted {
            BTreeMap::from([(task(), BTreeSet::from([commit('7')]))])
        } else {
            BTreeMap::new()
        },
        stale_marker_seconds: STALE_AFTER,
    }
}

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
                        let evidence = evidence(forge, trailer, branch, worker, claim);
                        let state = derive(&graph, &evidence);
                        let report = &state.tasks[&task()];
                        let got = match (&report.state, report.decided_by) {
                            (TaskState::Landed { .. }, Some(row)) => Expected::Landed(row),
                            (TaskState::InProgress(_), Some(row)) => Expected::InProgress(row),
                            (TaskState::Unknown(_), None) => Expected::Unknown,
                            (TaskState::Ready, None) => Expected::Ready,
                            (other, row) => panic!("{other:?} decided by {row:?}"),
                        };
                        let expected = model(forge, trailer, branch, worker, claim);
                        assert_eq!(got, expected, "{forge:?} {trailer:?} {branch:?} {worker:?} {claim:?}");
                        let landed = matches!(expected, Expected::Landed(_));
                        assert_eq!(report.worker_still_running, landed && worker == Worker::Held);
                        seen += 1;
                    }
                }
            }
        }
    }
    assert_eq!(seen, 15 * 7 * 16 * 4 * 16);
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
    evidence.branches = Observed::Known(BTreeMap::from([(Unit::parse("1-2").expect("unit"), vec![facts])]));
    let state = derive(&graph, &evidence);
    for task in [task(), second] {
        assert_eq!(state.tasks[&task].decided_by, Some(Row::OwnCommits));
    }
}
