//! End-to-end tests: the real binary, real git, real workers, in a sandbox each.
//!
//! One module for each area. A test asserts the exit code, what was said, and what was written and what was not.

mod answers;
mod authoring;
mod backends;
mod base;
mod bundles;
mod clones;
mod commit_messages;
mod concurrency;
mod config_commands;
mod config_plumbing;
mod configuration;
mod content;
mod crash;
mod crash_points;
mod demo;
mod disks;
mod doctor;
mod doctor_remains;
mod doctrine;
mod documents;
mod evidence;
mod fence;
mod fetch;
mod forge;
mod gate;
mod graph;
mod halts;
mod hostile;
mod links;
mod locks;
mod markers;
mod naming;
mod pairs;
mod plumbing;
mod records;
mod regressions;
mod retire;
mod reverts;
mod signing;
mod signing_again;
mod signing_edges;
mod spec_records;
mod status;
mod status_words;
mod step;
mod sweep;
mod validate;
mod watch;
mod worktrees;

use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_testkit::bundle::BundleFixture;

/// The binary under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_orchestrate-under-test");

/// Compares an output with an inline snapshot, after what differs from run to run was replaced.
macro_rules! check {
    ($sandbox:expr, $output:expr, @$expected:literal) => {
        insta::with_settings!({ filters => $sandbox.filters() }, {
            insta::assert_snapshot!($output.to_string(), @$expected);
        })
    };
}
use check;

/// Returns the bundle most tests use: 2 needs 1, and 3 stands alone.
fn alpha() -> BundleFixture {
    BundleFixture::new("alpha")
        .task("1", "first part", &[], "1 day")
        .task("2", "second part", &["1"], "1 day")
        .task("3", "third part", &[], "1 day")
}

/// Returns a bundle with one task.
fn single() -> BundleFixture {
    BundleFixture::new("alpha").task("1", "only part", &[], "1 day")
}

/// Returns a sandbox with that bundle on `main` and the scripted worker as its backend.
fn sandbox(bundle: &BundleFixture) -> Sandbox {
    Sandbox::with(PROGRAM, bundle)
}

/// Returns what `status` says of a task: its state and the evidence.
fn state_of(sandbox: &Sandbox, task: &str) -> String {
    let value = sandbox
        .orchestrate(&["status", "alpha", "--format", "json"])
        .exits(0)
        .json();
    let tasks = value["tasks"].as_array().expect("tasks");
    let found = tasks
        .iter()
        .find(|candidate| candidate["id"] == task)
        .expect("the task");
    let (state, detail) = (
        found["state"].as_str().expect("a state"),
        found["detail"].as_str().expect("a detail"),
    );
    if detail.is_empty() {
        state.to_owned()
    } else {
        format!("{state}: {detail}")
    }
}

/// A module that is not declared above compiles nowhere and tests nothing.
#[test]
fn no_module_is_forgotten() {
    let directory = camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("e2e");
    let text = std::fs::read_to_string(directory.join("main.rs")).expect("this file");
    let declared: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
        .collect();
    let mut present: Vec<String> = directory
        .read_dir_utf8()
        .expect("the directory is listed")
        .map(|entry| {
            entry
                .expect("the entry is read")
                .path()
                .file_stem()
                .expect("a name")
                .to_owned()
        })
        .filter(|name| name != "main" && !name.starts_with('.'))
        .collect();
    present.sort();
    assert_eq!(declared, present);
}
