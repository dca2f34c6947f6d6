//! Every answer that each kind of evidence can give.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forge {
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
pub(crate) enum Head {
    Within,
    Beyond,
    Apart,
    NotCompared,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trailer {
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
pub(crate) enum Branch {
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
pub(crate) enum Changes {
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
pub(crate) enum Worker {
    NoWorktree,
    Free,
    Held,
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
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
    /// A runner of an attempt that this one did not know of has started, and no marker speaks of it.
    LaunchedLate,
    /// Our tower has given it up and lives on.
    GivenUp,
    /// It gave it up for a worker of the same attempt, whose markers are gone.
    GivenUpAndLaunched,
    UnreadableRecord,
    UnreadableLaunch,
    Unknown,
}

/// What origin says of fences, and what this clone has written of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fencing {
    /// No fences are taken.
    Off,
    /// Origin did not answer.
    Unknown,
    /// There is none of this task; another task has one.
    None,
    /// There is none, and an intent of ours was never pushed, or its fence is gone.
    OnlyIntended,
    /// It leads to the commit of our intent.
    Own,
    /// It leads to the fence that we have given back, and we intend another one.
    GivenBack,
    /// It leads elsewhere, and we never meant to take one.
    Foreign,
    /// It leads elsewhere than our intent.
    ForeignBesideAnIntent,
    /// Our intent cannot be read.
    IntentUnreadable,
    /// Our intents cannot be listed.
    IntentsUnknown,
}

pub(crate) const FENCINGS: [Fencing; 10] = [
    Fencing::Off,
    Fencing::Unknown,
    Fencing::None,
    Fencing::OnlyIntended,
    Fencing::Own,
    Fencing::GivenBack,
    Fencing::Foreign,
    Fencing::ForeignBesideAnIntent,
    Fencing::IntentUnreadable,
    Fencing::IntentsUnknown,
];
pub(crate) const FORGES: [Forge; 15] = [
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
pub(crate) const TRAILERS: [Trailer; 7] = [
    Trailer::Yes,
    Trailer::Reverted,
    Trailer::RevertedAndLandedAgain,
    Trailer::RevertedAndWanted,
    Trailer::No,
    Trailer::Shallow,
    Trailer::Unknown,
];
pub(crate) const BRANCHES: [Branch; 16] = [
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
pub(crate) const WORKERS: [Worker; 4] = [Worker::NoWorktree, Worker::Free, Worker::Held, Worker::Unknown];
pub(crate) const CLAIMS: [Claim; 19] = [
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
    Claim::LaunchedLate,
    Claim::GivenUp,
    Claim::GivenUpAndLaunched,
    Claim::UnreadableRecord,
    Claim::UnreadableLaunch,
    Claim::Unknown,
];
