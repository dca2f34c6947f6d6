//! Symbolic links where the tower reads and writes: never followed, never written through.

use std::fs;
use std::os::unix::fs::symlink;

use camino::Utf8PathBuf;
use orchestrate_e2e::listing::Listing;
use orchestrate_e2e::sandbox::Sandbox;

use crate::{sandbox, single};

/// Puts a link to a directory of its own at a path of the repository, and returns the directory.
fn link_directory(sandbox: &Sandbox, relative: &str) -> Utf8PathBuf {
    let elsewhere = sandbox.root().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a directory");
    link(sandbox, relative, &elsewhere);
    elsewhere
}

fn link(sandbox: &Sandbox, relative: &str, target: &Utf8PathBuf) {
    let path = sandbox.path(relative);
    fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
    symlink(target, path).expect("a link");
}

/// The step must dispatch nothing, and write nothing behind the link.
fn refuses(sandbox: &Sandbox, elsewhere: &Utf8PathBuf, exit: i32, says: &str) {
    let behind = Listing::of(elsewhere);
    let output = sandbox
        .orchestrate(&["alpha", "--detailed-exitcode"])
        .exits(exit)
        .says(says);
    assert_eq!(Listing::of(elsewhere).changes_since(&behind), [""; 0], "{output}");
    assert_eq!(sandbox.starts(), [""; 0]);
    assert_eq!(sandbox.refs("refs/heads/planwright"), [""; 0], "{output}");
}

#[test]
fn a_linked_bundle_is_refused() {
    let sandbox = sandbox(&single());
    let elsewhere = sandbox.root().join("elsewhere");
    fs::rename(sandbox.path("specs/alpha"), &elsewhere).expect("moved");
    link(&sandbox, "specs/alpha", &elsewhere);
    refuses(&sandbox, &elsewhere, 1, "not a real directory");
    let output = sandbox
        .orchestrate(&["plumbing", "orchestrate-lock", "acquire", "specs/alpha"])
        .exits(2);
    assert!(!elsewhere.join(".orchestrate.lock").exists(), "{output}");
}

/// Verifies REQ-D1.9.
#[test]
fn linked_files_of_a_bundle_are_refused() {
    for file in ["tasks.md", "requirements.md", "kickoff-brief.md"] {
        let sandbox = sandbox(&single());
        let elsewhere = sandbox.root().join("elsewhere");
        fs::create_dir(&elsewhere).expect("a directory");
        let target = elsewhere.join(file);
        fs::rename(sandbox.path("specs/alpha").join(file), &target).expect("moved");
        link(&sandbox, &format!("specs/alpha/{file}"), &target);
        refuses(&sandbox, &elsewhere, 4, "symbolic link");
    }
}

#[test]
fn a_link_as_the_lock_is_busy_and_stays() {
    let sandbox = sandbox(&single());
    let elsewhere = link_directory(&sandbox, "specs/alpha/.orchestrate.lock");
    refuses(&sandbox, &elsewhere, 12, "a symbolic link stands there");
    let _ = sandbox
        .orchestrate(&["plumbing", "orchestrate-lock", "release", "specs/alpha"])
        .exits(0);
    assert!(sandbox.path("specs/alpha/.orchestrate.lock").is_symlink());
}

#[test]
fn linked_marker_directories_are_refused() {
    for directory in [
        "specs/alpha/.orchestrate",
        "specs/alpha/.orchestrate/markers",
        ".git/planwright",
        ".git/planwright/orchestrate",
        ".git/planwright/orchestrate/alpha/markers",
    ] {
        let sandbox = sandbox(&single());
        let elsewhere = link_directory(&sandbox, directory);
        refuses(&sandbox, &elsewhere, 12, "cannot tell what is done");
        let output = sandbox
            .orchestrate(&["plumbing", "orchestrate-marker", "write", "specs/alpha", "1"])
            .exits(2);
        assert_eq!(
            Listing::of(&elsewhere).changes_since(&Listing::of(&elsewhere)),
            [""; 0],
            "{output}"
        );
        assert_eq!(
            fs::read_dir(&elsewhere).expect("listed").count(),
            0,
            "{directory}: {output}"
        );
    }
}

#[test]
fn linked_worktree_places_are_refused() {
    for (place, exit) in [(".claude/worktrees", 12), (".claude/worktrees/alpha-task-1", 4)] {
        let sandbox = sandbox(&single());
        let elsewhere = link_directory(&sandbox, place);
        refuses(&sandbox, &elsewhere, exit, "symbolic link");
    }
    let sandbox = sandbox(&single());
    let elsewhere = sandbox.root().join("elsewhere");
    fs::rename(sandbox.path(".claude"), &elsewhere).expect("moved");
    link(&sandbox, ".claude", &elsewhere);
    refuses(&sandbox, &elsewhere, 12, "symbolic link");
}

#[test]
fn linked_places_of_our_own_state_are_refused() {
    for (place, exit) in [
        (".git/orchestrate", 12),
        (".git/orchestrate/dispatch", 12),
        (".git/orchestrate/dispatch/alpha", 12),
        (".git/orchestrate/lock", 1),
        (".git/orchestrate/lock/alpha", 1),
    ] {
        let sandbox = sandbox(&single());
        let elsewhere = link_directory(&sandbox, place);
        refuses(&sandbox, &elsewhere, exit, "");
    }
}

/// Verifies REQ-D1.9.
#[test]
fn places_written_after_the_branch_are_never_written_through() {
    for place in [".git/worktrees", ".git/orchestrate-staging", ".git/orchestrate/logs"] {
        let sandbox = sandbox(&single());
        let elsewhere = link_directory(&sandbox, place);
        let output = sandbox.orchestrate(&["alpha"]);
        assert_eq!(
            fs::read_dir(&elsewhere).expect("listed").count(),
            0,
            "{place}: {output}"
        );
        assert_eq!(sandbox.starts(), [""; 0], "{place}: {output}");
        // With the link gone the next step goes on from there.
        fs::remove_file(sandbox.path(place)).expect("removed");
        let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
        sandbox.wait_for_worker("alpha", "1");
        assert_eq!(sandbox.starts(), ["alpha 1"]);
    }
}

#[test]
fn a_linked_record_or_marker_is_a_claim_and_is_not_followed() {
    for place in [
        ".git/orchestrate/dispatch/alpha/1.json",
        "specs/alpha/.orchestrate/markers/1",
    ] {
        let sandbox = sandbox(&single());
        let target = sandbox.root().join("target");
        fs::write(&target, "1000000000\n").expect("a file");
        link(&sandbox, place, &target);
        let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(10);
        let _ = sandbox
            .orchestrate(&["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"])
            .exits(0);
        assert_eq!(fs::read_to_string(&target).expect("untouched"), "1000000000\n");
        assert!(!sandbox.path(place).is_symlink());
    }
}

#[test]
fn a_linked_exclude_file_is_never_written_through() {
    let sandbox = sandbox(&single());
    let target = sandbox.root().join("my-excludes");
    fs::write(&target, "*.swp\n").expect("a file");
    let exclude = sandbox.path(".git/info/exclude");
    fs::remove_file(&exclude).expect("removed");
    symlink(&target, &exclude).expect("a link");
    let output = sandbox.orchestrate(&["alpha"]);
    assert_eq!(fs::read_to_string(&target).expect("untouched"), "*.swp\n", "{output}");
    let _ = output.exits(0).says("dispatched");
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(
        fs::read_to_string(&exclude).expect("readable"),
        "*.swp\n/.claude/worktrees/\n/.claude/*.local/\n/.claude/*.local.yml\n.orchestrate*\n"
    );
}

#[test]
fn an_exclude_file_of_any_bytes_is_kept() {
    let sandbox = sandbox(&single());
    let exclude = sandbox.path(".git/info/exclude");
    fs::write(&exclude, b"*.\xe4\xf6\xfc").expect("a file");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched");
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(
        fs::read(&exclude).expect("readable"),
        b"*.\xe4\xf6\xfc\n/.claude/worktrees/\n/.claude/*.local/\n/.claude/*.local.yml\n.orchestrate*\n"
    );
}
