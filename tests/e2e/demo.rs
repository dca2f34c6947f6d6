//! `orchestrate demo`, as somebody who has just built the program runs it.

use orchestrate_e2e::listing::Listing;
use orchestrate_e2e::sandbox::Sandbox;

use crate::PROGRAM;

/// Verifies REQ-F2.1.
#[test]
fn the_demo_lands_five_tasks_in_a_directory_of_its_own() {
    let sandbox = Sandbox::empty(PROGRAM);
    let before = Listing::of(sandbox.root());
    let output = sandbox.orchestrate_in(sandbox.root(), &["demo", "demo"]).exits(0);
    let changes = Listing::of(sandbox.root()).changes_since(&before);
    assert!(
        changes.iter().all(|change| change.starts_with("+ demo/")),
        "{changes:?}"
    );
    let demo = sandbox.root().join("demo");
    let checkout = if demo.join(".git").exists() {
        demo
    } else {
        first_repository(&demo)
    };
    let log = sandbox.git_in(
        &checkout,
        &["log", "--format=%(trailers:key=Planwright-Task,valueonly)", "main"],
    );
    let mut landed: Vec<&str> = log.lines().filter(|line| !line.is_empty()).collect();
    landed.sort_unstable();
    landed.dedup();
    assert_eq!(landed.len(), 5, "{landed:?} {output}");
    let status = sandbox.orchestrate_in(&checkout, &["status"]).exits(0);
    assert!(status.stdout.contains("5 of 5 landed"), "{status}");
}

/// The repository that somebody would go to: the one with a checkout.
fn first_repository(directory: &camino::Utf8Path) -> camino::Utf8PathBuf {
    let entries = directory.read_dir_utf8().expect("the directory is listed");
    let mut found = entries.filter_map(Result::ok).map(camino::Utf8DirEntry::into_path);
    found.find(|path| path.join(".git").exists()).expect("a repository")
}
