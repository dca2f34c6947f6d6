//! What stands against a start. A refusal writes nothing.

use libtest_mimic::Trial;
use orchestrate_core::identifier::Nonce;
use orchestrate_core::place::Place;
use orchestrate_core::record::dispatch::LaunchManner;
use orchestrate_core::record::launch::LaunchRecord;
use orchestrate_host::{clock, files};

use crate::fixture::{Fixture, INHERIT_NOTHING, git};
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("without_a_worktree", without_a_worktree),
        trial("in_the_primary_checkout", in_the_primary_checkout),
        trial(
            "in_a_directory_that_is_not_the_worktree",
            in_a_directory_that_is_not_the_worktree,
        ),
        trial("in_an_incomplete_checkout", in_an_incomplete_checkout),
        trial("a_superseded_attempt", a_superseded_attempt),
        trial("a_branch_that_has_moved_since", a_branch_that_has_moved_since),
        trial("without_a_readable_record", without_a_readable_record),
        trial("beside_an_unreadable_launch_record", beside_an_unreadable_launch_record),
        trial("while_somebody_works_there", while_somebody_works_there),
        trial("past_the_launch_guard", past_the_launch_guard),
        trial("a_printed_command_starts_once", a_printed_command_starts_once),
    ]
}

/// Asserts that the runner refuses with those words and leaves no trace of a start.
fn refuses(fixture: &Fixture, words: &str) {
    let before = fixture.launch();
    let why = fixture.refused(None);
    assert!(why.contains(words), "{why:?} does not hold {words:?}");
    assert_eq!(fixture.launch(), before);
    assert!(!orchestrate_workers::runner::prompt_file(&fixture.git_directory).exists());
}

fn without_a_worktree() {
    let fixture = Fixture::new();
    fixture.dispatch(1, "exit 0");
    git(&fixture.worktree, &["switch", "--quiet", "-c", "other"]);
    refuses(&fixture, "no worktree is registered for planwright/alpha/task-1");
}

fn in_the_primary_checkout() {
    let fixture = Fixture::new();
    fixture.dispatch(1, "exit 0");
    git(&fixture.worktree, &["switch", "--quiet", "--detach"]);
    git(
        &fixture.layout.primary,
        &["switch", "--quiet", "planwright/alpha/task-1"],
    );
    refuses(&fixture, "no worktree is registered");
}

fn in_a_directory_that_is_not_the_worktree() {
    let fixture = Fixture::new();
    fixture.dispatch(1, "exit 0");
    // Without its own .git file the directory belongs to the primary checkout, and a worker would commit there.
    std::fs::remove_file(fixture.worktree.join(".git")).expect("remove");
    refuses(&fixture, "is not the worktree that git has registered");
    std::fs::remove_dir(&fixture.worktree).expect("remove");
    refuses(&fixture, "is not there");
}

fn in_an_incomplete_checkout() {
    let fixture = Fixture::new();
    fixture.dispatch(1, "exit 0");
    std::fs::remove_file(fixture.git_directory.join("index")).expect("remove");
    refuses(&fixture, "not complete");
}

fn a_superseded_attempt() {
    let fixture = Fixture::new();
    let first = fixture.dispatch(1, "exit 0");
    fixture.dispatch(2, "exit 0");
    let why = fixture.refused(Some(&first));
    assert!(why.contains("superseded"), "{why}");
    assert_eq!(fixture.launch(), None);
    assert!(
        fixture
            .refused(Some(&Nonce::from_bytes([9; 16])))
            .contains("superseded")
    );
}

fn a_branch_that_has_moved_since() {
    let fixture = Fixture::new();
    fixture.dispatch(1, "exit 0");
    git(
        &fixture.worktree,
        &["commit", "--quiet", "--allow-empty", "-m", "somebody's"],
    );
    refuses(&fixture, "the dispatch recorded");
}

fn without_a_readable_record() {
    let fixture = Fixture::new();
    refuses(&fixture, "not dispatched");
    let place = Place::DispatchRecord(fixture.name.clone());
    for torn in ["", "{", "{\"schema\": 2}", "\0\0\0"] {
        files::write(&fixture.layout, &place, torn.as_bytes()).expect("write");
        refuses(&fixture, "unreadable dispatch record");
    }
    fixture.dispatch(1, "exit 0");
    let path = fixture.layout.path(&place);
    let moved = fixture.root.join("moved.json");
    std::fs::rename(&path, &moved).expect("rename");
    std::os::unix::fs::symlink(&moved, &path).expect("link");
    refuses(&fixture, "symbolic link");
}

fn beside_an_unreadable_launch_record() {
    let fixture = Fixture::new();
    fixture.dispatch(1, "exit 0");
    let place = Place::LaunchRecord(fixture.name.clone());
    files::write(&fixture.layout, &place, b"{").expect("write");
    let why = fixture.refused(None);
    assert!(why.contains("unreadable launch record"), "{why}");
    assert_eq!(std::fs::read(fixture.layout.path(&place)).expect("record"), b"{");
}

fn while_somebody_works_there() {
    let fixture = Fixture::new();
    let (ready, go) = (fixture.pipe("ready"), fixture.pipe("go"));
    // A client that ends at once and leaves a tool behind, which holds no lease, under a runner that is killed.
    let tool = format!("{INHERIT_NOTHING}; echo up > \"$1\"; read -r line < \"$2\"");
    fixture.dispatch(1, &format!("setsid sh -c '{tool}' sh {ready} {go} & exit 0"));
    let runner = i32::try_from(fixture.started())
        .ok()
        .and_then(rustix::process::Pid::from_raw)
        .expect("pid");
    assert_eq!(ready.read(), "up\n");
    rustix::process::kill_process(runner, rustix::process::Signal::KILL).expect("kill");
    fixture.wait_until_free();
    let later = fixture.dispatch(2, "exit 0");
    let why = fixture.refused(Some(&later));
    assert!(why.contains("processes still run in") && why.contains("(sh)"), "{why}");
    go.release();
}

fn past_the_launch_guard() {
    let fixture = Fixture::new();
    for (argv, words) in [
        (&["/bin/claude", "--print"][..], "permission mode"),
        (
            &["/bin/claude", "--permission-mode", "bypassPermissions"],
            "bypassPermissions",
        ),
        (
            &["/bin/claude", "--settings", "/nowhere/settings.json"],
            "cannot be read",
        ),
        (&["claude"], "relative path"),
        (&[], "names no program"),
    ] {
        let argv = argv.iter().map(|word| (*word).to_owned()).collect();
        fixture.dispatch_as(1, LaunchManner::Background, argv, "do it");
        refuses(&fixture, words);
    }
}

fn a_printed_command_starts_once() {
    use orchestrate_host::process::{RunOptions, run_bounded};
    let fixture = Fixture::new();
    let argv = ["/bin/sh", "-c", "echo started"].map(str::to_owned).to_vec();
    let attempt = fixture.dispatch_as(1, LaunchManner::Printed, argv, "do it");
    let printed = LaunchRecord::new(attempt.clone(), clock::now(), None);
    files::write(
        &fixture.layout,
        &Place::LaunchRecord(fixture.name.clone()),
        &printed.render(),
    )
    .expect("record");
    let paste = || {
        let program = crate::fixture::this_program();
        let arguments = [
            "-c".to_owned(),
            // A shell that waits for it, and does not become it.
            "\"$0\" \"$@\"; exit $?".to_owned(),
            program.to_string(),
            "run-worker".to_owned(),
            fixture.layout.primary.to_string(),
            fixture.name.to_string(),
            attempt.to_string(),
        ];
        // A person pastes it where they look at the worker's files; their shell works there too.
        let options = RunOptions {
            directory: Some(&fixture.worktree),
            ..RunOptions::default()
        };
        run_bounded(camino::Utf8Path::new("/bin/sh"), &arguments, &options).expect("runner")
    };
    let first = paste();
    assert_eq!(
        (first.status.code(), first.stdout.as_slice()),
        (Some(0), &b"started\n"[..]),
        "{first:?}"
    );
    let second = paste();
    assert_eq!(second.status.code(), Some(12));
    assert!(
        String::from_utf8_lossy(&second.stdout).starts_with("refused this attempt was started"),
        "{second:?}"
    );
}
