//! What is measured, and against what.

/// One row: our command against a yardstick, both in the same repository.
pub(super) struct Row {
    /// Its name.
    pub(super) name: &'static str,
    /// Our arguments.
    pub(super) ours: &'static [&'static str],
    /// The yardstick's program and arguments.
    pub(super) yardstick: &'static [&'static str],
    /// Whether it runs in the large repository.
    pub(super) large: bool,
}

const TRUE: &[&str] = &["/usr/bin/true"];
const LOG: &[&str] = &["git", "log", "--format=%B"];

/// The table. Add a row when a command gets a budget.
pub(super) const ROWS: &[Row] = &[
    Row {
        name: "start",
        ours: &["--version"],
        yardstick: TRUE,
        large: false,
    },
    Row {
        name: "status",
        ours: &["status", "specs/synthetic"],
        yardstick: LOG,
        large: false,
    },
    Row {
        name: "step",
        ours: &["specs/synthetic", "--dry-run"],
        yardstick: LOG,
        large: false,
    },
    Row {
        name: "status, large",
        ours: &["status", "specs/synthetic"],
        yardstick: LOG,
        large: true,
    },
    Row {
        name: "step, large",
        ours: &["specs/synthetic", "--dry-run"],
        yardstick: LOG,
        large: true,
    },
];
