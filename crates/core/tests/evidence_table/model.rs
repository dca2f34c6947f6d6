//! The table of architecture §7, written once more, row by row.

use orchestrate_core::derive::Row;

use crate::answers::{Branch, Changes, Claim, Fencing, Forge, Head, Trailer, Worker};

/// What a row says, in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    Landed,
    InProgress,
    No,
    Undone,
    Unknown,
}

/// The states, as far as the table tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    Landed(Row),
    InProgress(Row),
    Unknown,
    Ready,
}

/// Row 1: a branch with nothing that base lacks holds no more than what was merged.
pub(crate) fn merged_says(forge: Forge, branch: Branch, trailer: Trailer) -> Says {
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
pub(crate) fn content_says(branch: Branch, trailer: Trailer, rebased: bool) -> Says {
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

pub(crate) fn is_reverted(forge: Forge) -> bool {
    matches!(
        forge,
        Forge::MergedAndRevertedByCommit | Forge::MergedAndRevertedByNumber
    )
}

pub(crate) fn open_says(forge: Forge) -> Says {
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

pub(crate) fn model(forge: Forge, trailer: Trailer, branch: Branch, worker: Worker, claim: Claim) -> Expected {
    model_with(forge, trailer, branch, worker, (claim, Fencing::Off))
}

pub(crate) fn model_with(
    forge: Forge,
    trailer: Trailer,
    branch: Branch,
    worker: Worker,
    (claim, fencing): (Claim, Fencing),
) -> Expected {
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
                | Claim::LaunchedByAnOlderAttempt
                | Claim::GivenUp => Says::No,
                Claim::Unknown => Says::Unknown,
                Claim::FreshBare
                | Claim::UnreadableMarker
                | Claim::FutureMarker
                | Claim::OurTowerAlive
                | Claim::OurTowerUnknown
                | Claim::OurTowerDeadMarkerOfAnother
                | Claim::Launched
                | Claim::LaunchedLate
                | Claim::GivenUpAndLaunched
                | Claim::UnreadableRecord
                | Claim::UnreadableLaunch => Says::InProgress,
            },
        ),
        (
            Row::Fence,
            false,
            match fencing {
                Fencing::Off | Fencing::None | Fencing::OnlyIntended | Fencing::Own | Fencing::GivenBack => Says::No,
                Fencing::Unknown
                | Fencing::Foreign
                | Fencing::ForeignBesideAnIntent
                | Fencing::IntentUnreadable
                | Fencing::IntentsUnknown => Says::Unknown,
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
