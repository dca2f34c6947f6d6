//! The per-spec lock, against peers of the reference that only know `mkdir` and `rmdir` (contract/core.md §6.1).

use std::fs;
use std::os::unix::fs::PermissionsExt;

use orchestrate_core::process::ProcessIdentity;
use orchestrate_core::record::lock_owner::{LockKind, LockOwner};
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_host::identity;

use crate::{alpha, check, sandbox, single};

const LOCK: &str = "specs/alpha/.orchestrate.lock";

fn plumbing(sandbox: &Sandbox, verb: &str) -> i32 {
    sandbox
        .orchestrate(&["plumbing", "orchestrate-lock", verb, "specs/alpha"])
        .exit
}

/// Sets the lock's age as the reference sees it.
fn age(sandbox: &Sandbox, ago: &str) {
    let _ = sandbox.shell(&format!("touch -h -d '{ago}' {LOCK}")).exits(0);
}

/// Makes a lock as a process of ours leaves it when it is killed.
fn leave_lock_of(sandbox: &Sandbox, kind: LockKind, process: ProcessIdentity) {
    let nonce = orchestrate_core::identifier::Nonce::from_bytes([7; 16]);
    let owner = LockOwner::new(kind, process, nonce).render();
    fs::create_dir(sandbox.path(LOCK)).expect("a directory");
    fs::write(sandbox.path(LOCK).join("owner"), owner).expect("an owner");
}

/// A process of this machine that has ended.
fn dead_process() -> ProcessIdentity {
    let own = identity::current().expect("this process");
    ProcessIdentity {
        start: own.start + 1,
        ..own
    }
}

/// Verifies REQ-D1.4.
#[test]
fn a_peers_lock_holds_the_step() {
    let sandbox = sandbox(&single());
    let _ = sandbox.shell(&format!("mkdir {LOCK}")).exits(0);
    let before = sandbox.listing();
    check!(sandbox, sandbox.orchestrate(&["alpha"]), @r"
        exit 0
        --- out
        held: specs/alpha is locked by a tower that leaves no name, since [AGE]; nothing was dispatched
        hint: it counts as stale after 15 min
        ");
    let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(12);
    let expected = [
        "+ .git/orchestrate/",
        "+ .git/orchestrate/lock/",
        "+ .git/orchestrate/lock/alpha",
    ];
    assert_eq!(
        sandbox.changes_since(&before),
        expected,
        "the peer's lock is untouched, and nothing is left of ours"
    );
    let _ = sandbox.shell(&format!("rmdir {LOCK}")).exits(0);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    assert!(!sandbox.path(LOCK).exists(), "released");
}

/// Verifies REQ-D1.4.
#[test]
fn our_lock_holds_a_peer_and_survives_its_late_release() {
    let sandbox = sandbox(&single());
    assert_eq!(plumbing(&sandbox, "acquire"), 0);
    assert_ne!(sandbox.shell(&format!("mkdir {LOCK}")).exit, 0);
    assert_ne!(
        sandbox.shell(&format!("rmdir {LOCK}")).exit,
        0,
        "a late release of a peer leaves ours alone"
    );
    assert_eq!(plumbing(&sandbox, "acquire"), 1);
    check!(sandbox, sandbox.orchestrate(&["alpha", "--detailed-exitcode"]), @r"
        exit 12
        --- out
        held: specs/alpha is locked by pid [PID] on [HOST], since [AGE]; nothing was dispatched
        hint: it counts as stale after 15 min
        ");
    assert_eq!(plumbing(&sandbox, "release"), 0);
    assert!(!sandbox.path(LOCK).exists());
    assert_eq!(plumbing(&sandbox, "release"), 0, "twice is fine");
    let _ = sandbox.shell(&format!("mkdir {LOCK}")).exits(0);
    assert_eq!(plumbing(&sandbox, "acquire"), 1);
    assert_eq!(plumbing(&sandbox, "release"), 0);
    assert!(
        !sandbox.path(LOCK).exists(),
        "as in the contract, the verb releases a peer's bare lock too"
    );
}

#[test]
fn a_stale_lock_is_broken_by_age_and_not_earlier() {
    for (ago, broken) in [
        ("15 minutes ago", false),
        ("15 minutes ago 30 seconds ago", false),
        ("16 minutes ago", true),
    ] {
        let sandbox = sandbox(&single());
        let _ = sandbox.shell(&format!("mkdir {LOCK}")).exits(0);
        age(&sandbox, ago);
        let output = sandbox
            .orchestrate(&["alpha", "--detailed-exitcode"])
            .exits(if broken { 0 } else { 12 });
        assert_eq!(output.stdout.contains("dispatched alpha"), broken, "{ago}: {output}");
        if broken {
            sandbox.wait_for_worker("alpha", "1");
            assert!(!sandbox.path(LOCK).exists());
            let leftovers = sandbox.shell("ls -A specs/alpha").stdout;
            assert!(!leftovers.contains(".orchestrate.lock"), "{leftovers}");
        }
    }
}

#[test]
fn the_plumbing_breaks_and_keeps_by_the_same_rule() {
    for (ago, exit) in [("15 minutes ago 30 seconds ago", 1), ("16 minutes ago", 0)] {
        let sandbox = sandbox(&single());
        let _ = sandbox.shell(&format!("mkdir {LOCK}")).exits(0);
        age(&sandbox, ago);
        assert_eq!(plumbing(&sandbox, "acquire"), exit, "{ago}");
    }
    let sandbox = sandbox(&single());
    sandbox.configure("stale_lock_threshold: 60\n");
    let _ = sandbox.shell(&format!("mkdir {LOCK}")).exits(0);
    age(&sandbox, "50 minutes ago");
    assert_eq!(plumbing(&sandbox, "acquire"), 1);
    age(&sandbox, "61 minutes ago");
    assert_eq!(plumbing(&sandbox, "acquire"), 0);
}

#[test]
fn a_lock_from_the_future_is_busy_and_says_so() {
    let sandbox = sandbox(&single());
    let _ = sandbox.shell(&format!("mkdir {LOCK}")).exits(0);
    age(&sandbox, "2 hours");
    check!(sandbox, sandbox.orchestrate(&["alpha", "--detailed-exitcode"]), @r"
        exit 12
        --- out
        held: the lock of a tower that leaves no name lies in the future; nothing was dispatched
        hint: check the clock; remove specs/alpha/.orchestrate.lock if nobody holds it
        ");
    assert!(sandbox.path(LOCK).is_dir());
}

/// Verifies REQ-A1.6.
#[test]
fn anything_else_at_the_place_is_busy_and_never_removed() {
    for (what, make) in [
        ("a file", format!("echo mine > {LOCK}")),
        ("a dangling link", format!("ln -s owner-token {LOCK}")),
        ("a pipe", format!("mkfifo {LOCK}")),
    ] {
        let sandbox = sandbox(&single());
        let _ = sandbox.shell(&make).exits(0);
        age(&sandbox, "3 hours ago");
        let before = sandbox.listing();
        let _ = sandbox
            .orchestrate(&["alpha", "--detailed-exitcode"])
            .exits(12)
            .says("hint: ");
        assert_eq!(plumbing(&sandbox, "acquire"), 1, "{what}");
        assert_eq!(plumbing(&sandbox, "release"), 0, "{what}");
        let changes = sandbox.changes_since(&before);
        assert!(
            changes.iter().all(|change| change.starts_with("+ .git/orchestrate/")),
            "{what}: {changes:?}"
        );
        assert_eq!(sandbox.starts(), [""; 0]);
    }
}

#[test]
fn a_stale_lock_that_holds_files_of_others_is_not_removed() {
    let sandbox = sandbox(&single());
    let _ = sandbox
        .shell(&format!("mkdir {LOCK} && echo precious > {LOCK}/notes"))
        .exits(0);
    age(&sandbox, "3 hours ago");
    let output = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]);
    let found = sandbox.shell("cat specs/alpha/.orchestrate.lock*/notes").exits(0);
    assert_eq!(found.stdout, "precious\n", "{output}");
}

/// Verifies REQ-A1.6.
#[test]
fn the_lock_of_a_killed_process_is_broken_at_once() {
    let sandbox = sandbox(&single());
    leave_lock_of(&sandbox, LockKind::Process, dead_process());
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    assert!(!sandbox.path(LOCK).exists());
}

#[test]
fn the_lock_of_another_host_or_of_the_plumbing_is_not_broken_before_its_time() {
    let elsewhere = ProcessIdentity {
        host: "elsewhere".to_owned(),
        ..dead_process()
    };
    for (kind, process) in [(LockKind::Process, elsewhere), (LockKind::Detached, dead_process())] {
        let sandbox = sandbox(&single());
        leave_lock_of(&sandbox, kind, process);
        let _ = sandbox
            .orchestrate(&["alpha", "--detailed-exitcode"])
            .exits(12)
            .says("is locked by pid");
        age(&sandbox, "16 minutes ago");
        let _ = sandbox
            .orchestrate(&["alpha", "--detailed-exitcode"])
            .exits(0)
            .says("dispatched");
        sandbox.wait_for_worker("alpha", "1");
    }
}

/// Returns when a bundle's lock has been published. `act` causes that, and is called once it is watched for.
fn await_lock<T>(sandbox: &Sandbox, act: impl FnOnce() -> T) -> T {
    use rustix::fs::inotify;
    let watcher = inotify::init(inotify::CreateFlags::CLOEXEC).expect("a watcher");
    let directory = sandbox.path("specs/alpha");
    inotify::add_watch(&watcher, directory.as_std_path(), inotify::WatchFlags::MOVED_TO).expect("watched");
    let acted = act();
    let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
    let mut events = inotify::Reader::new(&watcher, &mut buffer);
    loop {
        let event = events.next().expect("an event");
        if event.file_name() == Some(c".orchestrate.lock") {
            return acted;
        }
    }
}

/// Verifies REQ-A1.6.
#[test]
fn a_tower_killed_inside_the_window_blocks_nobody() {
    let sandbox = sandbox(&alpha());
    // Origin takes a push only when somebody writes into the pipe: who fences its unit waits there, inside the window.
    sandbox.add_origin();
    let origin = sandbox.root().join("origin.git");
    let (pipe, hook) = (origin.join("pipe"), origin.join("hooks/pre-receive"));
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, pipe.as_std_path(), kind, mode, 0).expect("a pipe");
    fs::create_dir_all(origin.join("hooks")).expect("a directory");
    fs::write(&hook, format!("#!/bin/sh\ncat '{pipe}' >/dev/null\n")).expect("the hook is written");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("the hook may be run");
    let tower = await_lock(&sandbox, || sandbox.start(&["alpha"]));
    assert!(sandbox.path(LOCK).join("owner").is_file(), "the window is open");
    let _ = sandbox
        .orchestrate(&["alpha", "--detailed-exitcode"])
        .exits(12)
        .says("is in the dispatch window");
    assert_eq!(plumbing(&sandbox, "acquire"), 1);
    assert_eq!(plumbing(&sandbox, "release"), 0);
    assert!(
        sandbox.path(LOCK).join("owner").is_file(),
        "nobody but its owner releases it"
    );

    tower.kill();
    fs::remove_file(&hook).expect("the hook is removed");
    // What the dead tower had sent arrives late.
    drop(
        fs::OpenOptions::new()
            .write(true)
            .open(&pipe)
            .expect("origin waits for it"),
    );
    assert!(
        sandbox.path(LOCK).join("owner").is_file(),
        "a kill leaves the lock behind"
    );
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    assert!(!sandbox.path(LOCK).exists());
    assert_eq!(sandbox.starts(), ["alpha 1"]);
}
