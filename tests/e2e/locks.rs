//! The per-spec lock, against peers of the reference that only know `mkdir` and `rmdir` (contract/core.md §6.1).

use std::fs;
use std::os::unix::fs::PermissionsExt;

use orchestrate_core::process::ProcessIdentity;
use orchestrate_core::record::lock_owner::{LockKind, LockOwner};
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_e2e::surroundings::{read_only, skipped};
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
    let (reached, pipe) = (origin.join("reached"), origin.join("pipe"));
    for fifo in [&reached, &pipe] {
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, fifo.as_std_path(), kind, mode, 0).expect("a pipe");
    }
    let hook = origin.join("hooks/pre-receive");
    fs::create_dir_all(origin.join("hooks")).expect("a directory");
    let script = format!("#!/bin/sh\necho >'{reached}'\ncat '{pipe}' >/dev/null\n");
    fs::write(&hook, script).expect("the hook is written");
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

    // A tower that is killed before it pushes sends nothing that could arrive late.
    let _ = fs::read(&reached).expect("the push has come to origin");
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

/// `contract/core.md §6.1`: `rmdir`, errors ignored.
#[test]
fn a_release_empties_nobodys_directory() {
    let sandbox = sandbox(&single());
    let _ = sandbox
        .shell(&format!("mkdir {LOCK} && echo precious > {LOCK}/notes"))
        .exits(0);
    let before = sandbox.listing();
    assert_eq!(plumbing(&sandbox, "release"), 0);
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
    // Stale, it is out of the way, and what is in it stays.
    age(&sandbox, "3 hours ago");
    assert_eq!(plumbing(&sandbox, "acquire"), 0);
    assert!(sandbox.path(LOCK).join("owner").is_file());
    let found = sandbox.shell("cat specs/alpha/.orchestrate.lock.old-*/notes").exits(0);
    assert_eq!(found.stdout, "precious\n");
}

#[test]
fn a_configuration_that_cannot_be_used_costs_nobody_the_lock() {
    let sandbox = sandbox(&single());
    let verb = |verb: &str| sandbox.orchestrate(&["plumbing", "orchestrate-lock", verb, "specs/alpha"]);
    for (file, text) in [
        (".claude/planwright.yml", "stale_lock_threshold: [\n"),
        (".claude/planwright.local.yml", "stale_lock_threshold: soon\n"),
    ] {
        sandbox.write(file, text);
        let output = verb("acquire").exits(0);
        assert!(
            output.stderr.contains("orchestrate-lock: warning: "),
            "{file}: {output}"
        );
        assert_eq!(output.stdout, "");
        age(&sandbox, "15 minutes ago 30 seconds ago");
        let _ = verb("acquire").exits(1);
        age(&sandbox, "16 minutes ago");
        let _ = verb("acquire").exits(0);
        let output = verb("release").exits(0);
        assert_eq!(output.text(), "", "{file}");
        assert!(!sandbox.path(LOCK).exists());
        std::fs::remove_file(sandbox.path(file)).expect("mended");
    }
    sandbox.write(
        ".claude/planwright.local.yml",
        "stale_lock_threshold: 99999999999999m\n",
    );
    let _ = sandbox.shell(&format!("mkdir {LOCK}")).exits(0);
    age(&sandbox, "2020-01-01");
    let _ = verb("acquire").exits(1);
}

/// `contract/core.md §6.1` and the worked examples: what is refused, and where the lock is taken.
#[test]
fn where_the_verb_takes_the_lock() {
    let sandbox = sandbox(&single());
    let worktree = sandbox.root().join("worktree");
    let _ = sandbox.git(&["worktree", "add", "--quiet", "--detach", worktree.as_str(), "HEAD"]);
    let at = |directory: &camino::Utf8Path, arguments: &[&str]| {
        sandbox.orchestrate_in(directory, &[&["plumbing", "orchestrate-lock"], arguments].concat())
    };
    let home = sandbox.repository();
    std::os::unix::fs::symlink("specs/alpha", sandbox.path("linked")).expect("a link");
    for (directory, path) in [
        (home.clone(), "specs/alpha"),
        (home.clone(), "specs/alpha/"),
        (home.clone(), "linked"),
        (home.join("specs"), "alpha"),
        (home.join("specs/alpha"), "."),
        (sandbox.root().to_path_buf(), "repository/specs/alpha"),
        // The primary checkout's bundle is the one that has a lock.
        (worktree.clone(), "specs/alpha"),
    ] {
        let output = at(&directory, &["acquire", path]).exits(0);
        assert_eq!(output.text(), "", "{path}");
        assert!(sandbox.path(LOCK).is_dir(), "{directory} {path}");
        assert_eq!(at(&home, &["acquire", "specs/alpha"]).exit, 1);
        let output = at(&directory, &["release", path]).exits(0);
        assert_eq!(output.text(), "", "{path}");
        assert!(!sandbox.path(LOCK).exists());
    }
    let outside = sandbox.root().join("desk/specs/alpha");
    std::fs::create_dir_all(&outside).expect("made");
    let before = orchestrate_e2e::listing::Listing::of(sandbox.root());
    for arguments in [
        &["acquire"][..],
        &["acquire", "specs/alpha", "specs/alpha"],
        &["break", "specs/alpha"],
        &["", "specs/alpha"],
        &["acquire", "specs/alpha/tasks.md"],
        &["acquire", "specs"],
        &["acquire", "specs/none"],
        &["release", "specs/none"],
        &["release", ""],
        &["acquire", outside.as_str()],
    ] {
        let output = at(&home, arguments).exits(2);
        assert_eq!(output.stdout, "", "{arguments:?}");
    }
    let changes = orchestrate_e2e::listing::Listing::of(sandbox.root()).changes_since(&before);
    assert_eq!(changes, [""; 0]);
}

#[test]
fn a_place_that_cannot_be_written_is_refused_and_not_busy() {
    let sandbox = sandbox(&single());
    let Some(mounted) = read_only(&sandbox, &sandbox.path("specs")) else {
        skipped("a read-only specs directory");
        return;
    };
    assert_eq!(plumbing(&sandbox, "acquire"), 2);
    assert_eq!(plumbing(&sandbox, "release"), 0);
    drop(mounted);
    assert_eq!(plumbing(&sandbox, "acquire"), 0);
}
