//! Dispatch markers of any kind and of any writer: a claim that cannot be read is a claim.

use std::os::unix::fs::{PermissionsExt, symlink};

use camino::Utf8Path;
use orchestrate_core::process::ProcessIdentity;
use orchestrate_core::record::lock_owner::{LockKind, LockOwner};
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_e2e::surroundings::{ignores_modes, read_only, skipped};
use orchestrate_host::{clock, identity};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::{check, sandbox, single, state_of};

const HOMES: [&str; 2] = [
    "specs/alpha/.orchestrate/markers",
    ".git/planwright/orchestrate/alpha/markers",
];

fn with_marker(home: &str, text: &str) -> Sandbox {
    let sandbox = sandbox(&single());
    sandbox.write(&format!("{home}/1"), text);
    sandbox
}

/// The unit must be held, with a hint, and be free after `orchestrate-marker clear`.
fn is_held_until_cleared(sandbox: &Sandbox, what: &str) {
    let before = sandbox.listing();
    let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(10);
    assert_eq!(sandbox.changes_since(&before), [""; 0], "{what}");
    assert!(
        state_of(sandbox, "1").starts_with("held: "),
        "{what}: {}",
        state_of(sandbox, "1")
    );
    let status = sandbox.orchestrate(&["status", "alpha"]).exits(0);
    let hint = status
        .stdout
        .lines()
        .find(|line| line.contains("orchestrate plumbing orchestrate-marker clear"));
    assert!(hint.is_some_and(|hint| hint.contains(" 1")), "{what}: {status}");
    let _ = sandbox
        .orchestrate(&["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"])
        .exits(0);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(sandbox.starts(), ["alpha 1"], "{what}");
}

/// Verifies REQ-C1.4.
#[test]
fn an_unreadable_marker_holds_until_it_is_cleared() {
    let future = format!("{}\n", clock::now().seconds() + 86_400);
    let kinds = [
        ("empty", ""),
        ("line end only", "\n"),
        ("CRLF", "1700000000\r\n"),
        ("future", future.as_str()),
        ("words", "soon\n"),
        ("negative", "-5\n"),
        ("torn by zero bytes", "17000\0\0\0\0\0"),
        ("too large", "99999999999999999999999\n"),
        ("two lines", "1700000000\n1700000000\n"),
    ];
    for (what, text) in kinds {
        is_held_until_cleared(&with_marker(HOMES[0], text), what);
    }
    is_held_until_cleared(&with_marker(HOMES[1], ""), "empty, in the shared home");
}

#[test]
fn a_link_or_a_pipe_as_a_marker_holds_until_it_is_cleared() {
    for what in ["link to a stale marker", "dangling link", "pipe"] {
        let sandbox = sandbox(&single());
        let marker = sandbox.path(HOMES[0]).join("1");
        std::fs::create_dir_all(sandbox.path(HOMES[0])).expect("a directory");
        let target = sandbox.root().join("target");
        match what {
            "pipe" => mknodat(CWD, marker.as_str(), FileType::Fifo, Mode::RUSR, 0).expect("a pipe"),
            "dangling link" => symlink(&target, &marker).expect("a link"),
            _ => {
                std::fs::write(&target, "1000000000\n").expect("a file");
                symlink(&target, &marker).expect("a link");
            }
        }
        is_held_until_cleared(&sandbox, what);
        if what.contains("stale") {
            assert_eq!(std::fs::read_to_string(target).expect("untouched"), "1000000000\n");
        }
    }
}

#[test]
fn a_directory_as_a_marker_holds_and_is_never_removed() {
    let sandbox = sandbox(&single());
    sandbox.write(&format!("{}/1/keep.txt", HOMES[0]), "somebody's\n");
    let before = sandbox.listing();
    assert!(state_of(&sandbox, "1").starts_with("held: "));
    let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(10);
    check!(sandbox, sandbox.orchestrate(&["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"]), @r"
        exit 2
        --- err
        error: cannot remove specs/alpha/.orchestrate/markers/1: it is a directory
        hint: move it away: mv specs/alpha/.orchestrate/markers/1 specs/alpha/.orchestrate/markers/1.aside
        ");
    // Clearing takes the lock, whose kernel file stays.
    let changes = sandbox.changes_since(&before);
    assert!(
        changes.iter().all(|change| change.starts_with("+ .git/orchestrate/")),
        "{changes:?}"
    );
    std::fs::remove_dir_all(sandbox.path(HOMES[0]).join("1")).expect("a person moves it away");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched");
    sandbox.wait_for_worker("alpha", "1");
}

#[test]
fn a_marker_that_may_not_be_read_holds() {
    let sandbox = with_marker(HOMES[0], "1000000000\n");
    let marker = sandbox.path(HOMES[0]).join("1");
    std::fs::set_permissions(&marker, std::fs::Permissions::from_mode(0o000)).expect("mode");
    if ignores_modes() {
        skipped("a marker of mode 000 (this user reads it all the same)");
        assert_eq!(
            state_of(&sandbox, "1"),
            "ready",
            "who can read it reads that it is stale"
        );
    } else {
        is_held_until_cleared(&sandbox, "mode 000");
    }
}

/// Verifies REQ-C1.6.
#[test]
fn a_stale_marker_of_the_reference_frees_and_a_fresh_one_holds() {
    let ago = |seconds: i64| format!("{}\n", clock::now().seconds() - seconds);
    for (home, age, held) in [
        (HOMES[0], 60, true),
        (HOMES[1], 60, true),
        (HOMES[0], 1000, false),
        (HOMES[1], 1000, false),
    ] {
        let sandbox = with_marker(home, &ago(age));
        let state = state_of(&sandbox, "1");
        assert_eq!(
            state.starts_with("dispatched: dispatched "),
            held,
            "{home} {age}: {state}"
        );
        let _ = sandbox
            .orchestrate(&["alpha", "--dry-run", "--detailed-exitcode"])
            .exits(if held { 10 } else { 0 });
    }
    // The threshold is a setting.
    let sandbox = with_marker(HOMES[0], &ago(1000));
    sandbox.configure("stale_marker_threshold: 60m\n");
    assert!(state_of(&sandbox, "1").starts_with("dispatched: "));
}

#[test]
fn names_outside_the_grammar_are_no_claims() {
    let sandbox = sandbox(&single());
    for name in ["1-2", "one", ".marker.Ab3dEf", "01x", "1 "] {
        sandbox.write(&format!("{}/{name}", HOMES[0]), "garbage");
    }
    assert_eq!(state_of(&sandbox, "1"), "ready");
}

/// Verifies REQ-A1.4.
#[test]
fn a_marker_directory_that_cannot_be_read_holds_every_task() {
    for what in ["a file", "a link"] {
        let sandbox = sandbox(&single());
        let directory = sandbox.path(HOMES[0]);
        std::fs::create_dir_all(directory.parent().expect("a parent")).expect("a directory");
        if what == "a file" {
            std::fs::write(&directory, "").expect("a file");
        } else {
            let elsewhere = sandbox.root().join("elsewhere");
            std::fs::create_dir(&elsewhere).expect("a directory");
            symlink(&elsewhere, &directory).expect("a link");
        }
        let before = sandbox.listing();
        let _ = sandbox
            .orchestrate(&["alpha", "--detailed-exitcode"])
            .exits(12)
            .says(HOMES[0].rsplit('/').next().expect("a name"));
        assert_eq!(sandbox.changes_since(&before), [""; 0], "{what}");
    }
}

/// Verifies REQ-C1.4.
#[test]
fn an_unreadable_dispatch_record_holds_until_it_is_cleared() {
    for (file, text) in [
        ("1.json", ""),
        ("1.json", "{\"schema\":2}"),
        ("1.json", "{\"schema\":1}"),
        ("1.json", "\0\0\0\0"),
    ] {
        let sandbox = sandbox(&single());
        sandbox.write(&format!(".git/orchestrate/dispatch/alpha/{file}"), text);
        is_held_until_cleared(&sandbox, text);
    }
}

#[test]
fn a_torn_launch_record_holds_until_it_is_cleared() {
    let sandbox = sandbox(&single());
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    sandbox.wait_for_worker("alpha", "1");
    sandbox.write(".git/orchestrate/dispatch/alpha/1.launch.json", "{\"schema\":");
    assert!(
        state_of(&sandbox, "1").starts_with("held: "),
        "{}",
        state_of(&sandbox, "1")
    );
    let _ = sandbox
        .orchestrate(&["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"])
        .exits(0);
    assert_eq!(state_of(&sandbox, "1"), "ready");
}

#[test]
fn the_tests_override_moves_the_bundles_marker_directory() {
    let sandbox = sandbox(&single());
    let elsewhere = sandbox.root().join("state");
    let variables = [("PLANWRIGHT_ORCH_STATE_DIR", elsewhere.as_str())];
    let _ = sandbox
        .orchestrate_with(&sandbox.repository(), &["alpha"], &variables)
        .exits(0);
    sandbox.wait_for_worker("alpha", "1");
    assert!(Utf8Path::new(&elsewhere).join("1").is_file());
    assert!(HOMES.iter().all(|home| !sandbox.path(home).exists()), "the only one");
    let marker = |verb: &str| {
        let arguments = ["plumbing", "orchestrate-marker", verb, "specs/alpha", "1"];
        sandbox.orchestrate_with(&sandbox.repository(), &arguments, &variables)
    };
    let _ = marker("clear").exits(0);
    assert!(!elsewhere.join("1").exists());
    let _ = marker("write").exits(0);
    assert!(elsewhere.join("1").is_file());
    assert!(HOMES.iter().all(|home| !sandbox.path(home).exists()));
    // What stands in the homes themselves says nothing then.
    let _ = marker("clear").exits(0);
    sandbox.write(&format!("{}/1", HOMES[1]), "garbage");
    let output = sandbox.orchestrate_with(&sandbox.repository(), &["status", "alpha"], &variables);
    assert!(output.stdout.contains("ready"), "{output}");
}

fn marker(sandbox: &Sandbox, verb: &str, tasks: &[&str]) -> i32 {
    let fixed = ["plumbing", "orchestrate-marker", verb, "specs/alpha"];
    sandbox.orchestrate(&[&fixed[..], tasks].concat()).exit
}

#[test]
fn a_marker_is_private_and_says_when() {
    let sandbox = sandbox(&single());
    let before = clock::now().seconds();
    let output = sandbox
        .orchestrate(&["plumbing", "orchestrate-marker", "write", "specs/alpha", "1", "2.5"])
        .exits(0);
    assert_eq!(output.text(), "");
    for path in HOMES
        .iter()
        .flat_map(|home| ["1", "2.5"].map(|task| sandbox.path(home).join(task)))
    {
        let text = std::fs::read_to_string(&path).expect("a marker");
        let seconds: i64 = text.strip_suffix('\n').expect("a line").parse().expect("seconds");
        assert!((before..=clock::now().seconds()).contains(&seconds), "{path}");
        let mode = std::fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{path}");
    }
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}

/// A script gives up what it could not dispatch, inside the window that it opened with the verb or with `mkdir`.
#[test]
fn markers_are_cleared_under_a_scripts_own_lock() {
    let lock = "specs/alpha/.orchestrate.lock";
    let sandbox = sandbox(&single());
    for open in [
        "orchestrate plumbing orchestrate-lock acquire specs/alpha",
        "mkdir specs/alpha/.orchestrate.lock",
    ] {
        let _ = sandbox.shell(open).exits(0);
        assert_eq!(marker(&sandbox, "write", &["1"]), 0);
        assert_eq!(marker(&sandbox, "clear", &["1"]), 0, "{open}");
        assert!(HOMES.iter().all(|home| !sandbox.path(home).join("1").exists()));
        assert!(sandbox.path(lock).is_dir(), "the lock is the script's");
        let _ = sandbox
            .shell("orchestrate plumbing orchestrate-lock release specs/alpha")
            .exits(0);
        assert!(!sandbox.path(lock).exists());
    }
    // Not in the window of a tower: of this machine's it is told by the kernel, of another's by its name.
    let process = ProcessIdentity {
        host: "elsewhere".to_owned(),
        ..identity::current().expect("this process")
    };
    let nonce = orchestrate_core::identifier::Nonce::from_bytes([7; 16]);
    let owner = LockOwner::new(LockKind::Process, process, nonce).render();
    std::fs::create_dir(sandbox.path(lock)).expect("a lock");
    std::fs::write(sandbox.path(lock).join("owner"), owner).expect("an owner");
    assert_eq!(marker(&sandbox, "write", &["1"]), 0);
    assert_eq!(marker(&sandbox, "clear", &["1"]), 2);
    assert!(sandbox.path(HOMES[0]).join("1").exists());
}

#[test]
fn a_home_that_cannot_be_written() {
    let sandbox = sandbox(&single());
    assert_eq!(marker(&sandbox, "write", &["1"]), 0);
    let shared = sandbox.path(HOMES[1]);
    let bundle = sandbox.path(HOMES[0]);
    for home in [&bundle, &shared] {
        std::fs::write(home.join("1"), "1700000000\n").expect("an older one");
    }
    {
        let Some(_mounted) = read_only(&sandbox, &bundle) else {
            skipped("a read-only directory of markers");
            return;
        };
        assert_eq!(marker(&sandbox, "write", &["1", "2"]), 2);
        assert_eq!(
            std::fs::read_to_string(shared.join("1")).expect("there"),
            "1700000000\n",
            "put back"
        );
        assert!(!shared.join("2").exists() && !bundle.join("2").exists());
        assert_eq!(marker(&sandbox, "clear", &["1"]), 2);
    }
    let _mounted = read_only(&sandbox, &shared).expect("as before");
    let arguments = ["plumbing", "orchestrate-marker", "write", "specs/alpha", "1", "2"];
    let output = sandbox.orchestrate(&arguments).exits(0);
    assert!(
        output.stderr.contains("warning: linked worktrees do not see"),
        "{output}"
    );
    assert!(bundle.join("2").is_file());
}
