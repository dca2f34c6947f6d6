//! What is measured, and against what.

/// One row: our command against a yardstick, both in the same repository.
pub(super) struct Row {
    /// Its name.
    pub(super) name: &'static str,
    /// Our arguments.
    pub(super) ours: &'static [&'static str],
    /// The yardstick's program and arguments.
    pub(super) yardstick: &'static [&'static str],
    /// Where both run.
    pub(super) place: RowPlace,
    /// What earlier runs may have kept for ours.
    pub(super) kept: Kept,
    /// What the ratio of the medians shall be (architecture §10), or that there is no budget.
    pub(super) budget: &'static str,
}

/// What each run of ours finds in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// What the run before kept.
    Everything,
    /// Nothing: it is removed before each run.
    Nothing,
}

/// Where a row runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowPlace {
    /// The usual repository: 20 tasks, 400 commits with trailers.
    Small,
    /// A repository with a bundle of 400 tasks.
    ManyTasks,
    /// A repository of 80,000 commits and 5,000 branches, 400 of them of one bundle; only with `--large`.
    Large,
    /// The real bundles beside the repository, where they are at hand.
    Corpus,
}

const TRUE: &[&str] = &["/usr/bin/true"];
const LOG: &[&str] = &["git", "log", "--format=%B"];
/// Reads and hashes the bytes of bundles.
const SUM: &[&str] = &[
    "sh",
    "-c",
    "cd specs/synthetic && cat requirements.md design.md tasks.md test-spec.md | sha1sum",
];
const SUM_HERE: &[&str] = &[
    "sh",
    "-c",
    "cat */requirements.md */design.md */tasks.md */test-spec.md | sha1sum",
];

const STATUS: &[&str] = &["status", "specs/synthetic"];
/// Everything before the lock.
const STEP: &[&str] = &["specs/synthetic", "--dry-run"];

/// The table. Add a row when a command gets a budget.
pub(super) const ROWS: &[Row] = &[
    Row {
        name: "start",
        ours: &["--version"],
        yardstick: TRUE,
        place: RowPlace::Small,
        kept: Kept::Everything,
        budget: "none",
    },
    Row {
        name: "status, cold",
        ours: STATUS,
        yardstick: LOG,
        place: RowPlace::Small,
        kept: Kept::Nothing,
        budget: "2.5",
    },
    Row {
        name: "status, warm",
        ours: STATUS,
        yardstick: TRUE,
        place: RowPlace::Small,
        kept: Kept::Everything,
        budget: "3, and 5 ms",
    },
    Row {
        name: "step, cold",
        ours: STEP,
        yardstick: LOG,
        place: RowPlace::Small,
        kept: Kept::Nothing,
        budget: "3",
    },
    Row {
        name: "step, warm",
        ours: STEP,
        yardstick: LOG,
        place: RowPlace::Small,
        kept: Kept::Everything,
        budget: "3",
    },
    Row {
        name: "step, 400 tasks",
        ours: STEP,
        yardstick: LOG,
        place: RowPlace::ManyTasks,
        kept: Kept::Nothing,
        budget: "none: its history is short",
    },
    Row {
        name: "validate",
        ours: &["validate", "specs/synthetic"],
        yardstick: SUM,
        place: RowPlace::Small,
        kept: Kept::Everything,
        budget: "none",
    },
    Row {
        name: "validate, 400 tasks",
        ours: &["validate", "specs/synthetic"],
        yardstick: SUM,
        place: RowPlace::ManyTasks,
        kept: Kept::Everything,
        budget: "none",
    },
    Row {
        name: "validate, corpus",
        ours: &["validate", "."],
        yardstick: SUM_HERE,
        place: RowPlace::Corpus,
        kept: Kept::Everything,
        budget: "4",
    },
    Row {
        name: "status, large, cold",
        ours: STATUS,
        yardstick: LOG,
        place: RowPlace::Large,
        kept: Kept::Nothing,
        budget: "2",
    },
    Row {
        name: "status, large, warm",
        ours: STATUS,
        yardstick: TRUE,
        place: RowPlace::Large,
        kept: Kept::Everything,
        budget: "none",
    },
    Row {
        name: "step, large, cold",
        ours: STEP,
        yardstick: LOG,
        place: RowPlace::Large,
        kept: Kept::Nothing,
        budget: "3",
    },
    Row {
        name: "step, large, warm",
        ours: STEP,
        yardstick: LOG,
        place: RowPlace::Large,
        kept: Kept::Everything,
        budget: "3",
    },
];
