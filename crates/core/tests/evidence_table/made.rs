//! Evidence that gives the answers.

use std::collections::{BTreeMap, BTreeSet};

use orchestrate_core::content::Content;
use orchestrate_core::evidence::{
    AtOrigin, Base, BaseSource, BranchFacts, BranchSide, Branches, Evidence, History, Lease, Origin, UnitRecords,
};
use orchestrate_core::identifier::{BackendName, BaseName, CommitId, Nonce, SpecId, TaskId, Unit, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::process::{Liveness, ProcessIdentity};
use orchestrate_core::pull_request::{Checks, PullRequest, PullRequestState, PullRequests, Shown, TipRelation};
use orchestrate_core::record::dispatch::{Attempt, DispatchRecord, LaunchManner, LaunchOrder};
use orchestrate_core::record::fence::{Fence, FenceIntent, OriginFence, OwnFences};
use orchestrate_core::record::launch::LaunchRecord;
use orchestrate_core::revert::Reverts;
use orchestrate_core::time::{CommitTime, Timestamp};

use crate::answers::{Branch, Changes, Claim, Fencing, Forge, Head, Trailer, Worker};

pub(crate) const NOW: i64 = 1_000_000;
pub(crate) const STALE_AFTER: i64 = 900;

pub(crate) fn commit(digit: char) -> CommitId {
    CommitId::parse(&digit.to_string().repeat(40)).expect("commit")
}

pub(crate) fn nonce(digit: char) -> Nonce {
    Nonce::parse(&digit.to_string().repeat(32)).expect("nonce")
}

pub(crate) fn why() -> Why {
    Why::new("test")
}

pub(crate) fn task() -> TaskId {
    TaskId::parse("1").expect("id")
}

pub(crate) fn unit() -> Unit {
    Unit::single(task())
}

pub(crate) fn branch_facts(branch: Branch) -> Observed<Branches> {
    let facts = |side, ahead, own| BranchFacts {
        side,
        tip: commit('b'),
        ahead,
        own,
    };
    let of = |facts| Observed::Known(Branches::from(BTreeMap::from([(unit(), vec![facts])])));
    match branch {
        Branch::None => Observed::Known(Branches::new()),
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

pub(crate) fn leases(worker: Worker) -> Observed<BTreeMap<Unit, Observed<Lease>>> {
    let of = |lease| Observed::Known(BTreeMap::from([(unit(), lease)]));
    match worker {
        Worker::NoWorktree => Observed::Known(BTreeMap::new()),
        Worker::Free => of(Observed::Known(Lease::Free)),
        Worker::Held => of(Observed::Known(Lease::Held {
            holder: "pid 1".to_owned(),
            since: Some(Timestamp::from_seconds(NOW - 8)),
        })),
        Worker::Unknown => of(Observed::Unknown(why())),
    }
}

pub(crate) fn record() -> DispatchRecord {
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
        launched_before: Some(nonce('2')),
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

pub(crate) type Claims = (
    Observed<BTreeMap<TaskId, Vec<Observed<Timestamp>>>>,
    Observed<BTreeMap<Unit, UnitRecords>>,
);

pub(crate) fn claims(claim: Claim) -> Claims {
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
    let records_of = |dispatch: DispatchRecord, launch, liveness| {
        let records = UnitRecords {
            dispatch: Observed::Known(dispatch),
            launch,
            tower: liveness,
            runner: Observed::Known(Liveness::Dead),
        };
        Observed::Known(BTreeMap::from([(unit(), records)]))
    };
    let records = |launch, liveness| records_of(record(), launch, liveness);
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
        Claim::LaunchedLate => (none_markers(), records(launch('3'), dead)),
        Claim::GivenUp => (ours, records_of(record().give_up(), not_launched(), alive)),
        Claim::GivenUpAndLaunched => (none_markers(), records_of(record().give_up(), launch('1'), dead)),
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

pub(crate) fn none_markers() -> Observed<BTreeMap<TaskId, Vec<Observed<Timestamp>>>> {
    Observed::Absent(why())
}

pub(crate) fn pull_requests(forge: Forge, branch: Branch) -> Observed<PullRequests> {
    let answer = |unit_answer, relations| {
        Observed::Known(PullRequests {
            repository: "o/r".to_owned(),
            head_owner: "o".to_owned(),
            asked: Timestamp::from_seconds(NOW),
            requests: 1,
            beside: BTreeMap::new(),
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
            shown: Shown {
                merged: Some(Timestamp::from_seconds(NOW - 30)),
                updated: Some(Timestamp::from_seconds(NOW - 20)),
                ..Shown::default()
            },
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

pub(crate) fn content(branch: Branch) -> BTreeMap<Unit, Observed<Content>> {
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

pub(crate) fn evidence(forge: Forge, trailer: Trailer, branch: Branch, worker: Worker, claim: Claim) -> Evidence {
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
            origin: AtOrigin::NotAsked,
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
        times: BTreeMap::from([(commit('b'), committed(NOW - 40)), (commit('d'), committed(NOW - 50))]),
        redo: if trailer == Trailer::RevertedAndWanted {
            BTreeMap::from([(task(), BTreeSet::from([commit('7')]))])
        } else {
            BTreeMap::new()
        },
        origin: Observed::Absent(why()),
        own_fences: Observed::Known(BTreeMap::new()),
        stale_marker_seconds: STALE_AFTER,
    }
}

fn committed(seconds: i64) -> CommitTime {
    CommitTime {
        at: Timestamp::from_seconds(seconds),
        offset_minutes: 0,
    }
}

/// Returns the evidence with what origin says of fences.
pub(crate) fn fenced(mut evidence: Evidence, fencing: Fencing) -> Evidence {
    let fence = |digit: char| OriginFence {
        commit: commit(digit),
        message: Some(our_fence().message().into_bytes()),
    };
    let origin = |task: TaskId, digit| {
        Observed::Known(Origin {
            fences: BTreeMap::from([(task, fence(digit))]),
            ..Origin::default()
        })
    };
    let own = |digit: char, given_back: Option<char>| {
        let intent = |digit| FenceIntent::new(our_fence(), commit(digit));
        Observed::Known(OwnFences {
            intent: Some(intent(digit)),
            given_back: given_back.map(intent),
        })
    };
    let intent = |digit| own(digit, None);
    let intents = |intent| Observed::Known(BTreeMap::from([(task(), intent)]));
    let other = TaskId::parse("2").expect("id");
    let none = || Observed::Known(BTreeMap::new());
    (evidence.origin, evidence.own_fences) = match fencing {
        Fencing::Off => (Observed::Absent(why()), intents(intent('4'))),
        Fencing::Unknown => (Observed::Unknown(why()), none()),
        Fencing::None => (origin(other, '4'), none()),
        Fencing::OnlyIntended => (origin(other, '4'), intents(intent('4'))),
        Fencing::Own => (origin(task(), '4'), intents(intent('4'))),
        Fencing::GivenBack => (origin(task(), '4'), intents(own('6', Some('4')))),
        Fencing::Foreign => (origin(task(), '5'), none()),
        Fencing::ForeignBesideAnIntent => (origin(task(), '5'), intents(intent('4'))),
        Fencing::IntentUnreadable => (origin(other, '4'), intents(Observed::Unknown(why()))),
        Fencing::IntentsUnknown => (origin(other, '4'), Observed::Unknown(why())),
    };
    evidence
}

fn our_fence() -> Fence {
    let tower = record().tower;
    Fence::new(tower, nonce('2'), nonce('3'), Timestamp::from_seconds(NOW))
}
