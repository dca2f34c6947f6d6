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
}

/// Where a row runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowPlace {
    /// The usual repository: 20 tasks, 400 commits with trailers.
    Small,
    /// A repository with a bundle of 400 tasks.
    ManyTasks,
    /// A repository of 80,000 commits and 5,000 branches; only with `--large`.
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

/// The table. Add a row when a command gets a budget.
pub(super) const ROWS: &[Row] = &[
    Row {
        name: "start",
        ours: &["--version"],
        yardstick: TRUE,
        place: RowPlace::Small,
    },
    Row {
        name: "status",
        ours: &["status", "specs/synthetic"],
        yardstick: LOG,
        place: RowPlace::Small,
    },
    Row {
        name: "step",
        ours: &["specs/synthetic", "--dry-run"],
        yardstick: LOG,
        place: RowPlace::Small,
    },
    Row {
        name: "validate",
        ours: &["validate", "specs/synthetic"],
        yardstick: SUM,
        place: RowPlace::Small,
    },
    Row {
        name: "validate, 400 tasks",
        ours: &["validate", "specs/synthetic"],
        yardstick: SUM,
        place: RowPlace::ManyTasks,
    },
    Row {
        name: "validate, corpus",
        ours: &["validate", "."],
        yardstick: SUM_HERE,
        place: RowPlace::Corpus,
    },
    Row {
        name: "status, large",
        ours: &["status", "specs/synthetic"],
        yardstick: LOG,
        place: RowPlace::Large,
    },
    Row {
        name: "step, large",
        ours: &["specs/synthetic", "--dry-run"],
        yardstick: LOG,
        place: RowPlace::Large,
    },
];
