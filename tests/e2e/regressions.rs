//! What an adversarial test of the finished program once broke, one test for each break.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc::channel;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_e2e::listing::Listing;
use orchestrate_e2e::running::PATIENCE;
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_testkit::bundle::BundleFixture;

use crate::{PROGRAM, alpha, sandbox, single, state_of};

const PLACE: &str = ".claude/worktrees/alpha-task-1";
const BRANCH: &str = "planwright/alpha/task-1";
const EXCLUDE: &str = ".git/info/exclude";

/// Returns a bundle in which 2 needs 1, and nothing else is there to be dispatched.
fn chain() -> BundleFixture {
    BundleFixture::new("alpha")
        .task("1", "first part", &[], "1 day")
        .task("2", "second part", &["1"], "1 day")
}

/// Dispatches task 1 and waits for its worker's end.
fn worked(sandbox: &Sandbox) {
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
}

/// A person gives task 1 free.
fn clear(sandbox: &Sandbox) {
    let _ = sandbox
        .orchestrate(&["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"])
        .exits(0);
}

/// Returns the state of the first task of a checkout of the bundle.
fn first_state_in(sandbox: &Sandbox, directory: &Utf8Path) -> String {
    let status = sandbox.orchestrate_in(directory, &["status", "alpha", "--format", "json"]);
    let value = status.exits(0).json();
    value["tasks"][0]["state"].as_str().expect("a state").to_owned()
}

/// Copies the machine-local settings, which no clone brings along.
fn configure_in(sandbox: &Sandbox, checkout: &Utf8Path) {
    let settings = ".claude/planwright.local.yml";
    fs::create_dir_all(checkout.join(".claude")).expect("a directory");
    fs::copy(sandbox.path(settings), checkout.join(settings)).expect("copied");
}

/// Waits until nobody holds a lease any more. It was opened before somebody took its name away.
fn wait_for_lease(lease: File) {
    let (sender, free) = channel();
    std::thread::spawn(move || sender.send(fd_lock::RwLock::new(lease).read().map(drop)));
    free.recv_timeout(PATIENCE)
        .expect("the worker ends")
        .expect("its lease can be waited for");
}

fn mode_of(path: &Utf8Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

/// Verifies REQ-E1.5.
#[test]
fn a_submodule_cannot_choose_a_program() {
    let sandbox = sandbox(&single());
    let submodule = sandbox.root().join("submodule");
    let stolen = sandbox.desk().join("stolen");
    let _ = sandbox.git_in(&submodule, &["init", "--quiet", "--initial-branch=main"]);
    let theft = format!("dispatch_backend: command\ncommand_backend: [\"/bin/sh\", \"-c\", \"touch {stolen}\"]\n");
    fs::write(submodule.join("planwright.local.yml"), theft).expect("a file");
    let _ = sandbox.commit_all_in(&submodule, "settings");
    fs::remove_dir_all(sandbox.path(".claude")).expect("removed");
    let _ = sandbox.git(&["submodule", "--quiet", "add", submodule.as_str(), ".claude"]);
    let _ = sandbox.commit_all("a submodule");
    sandbox.add_origin();
    let clone = sandbox.clone_origin("clone", &["--recurse-submodules"]);
    assert!(clone.join(".claude/planwright.local.yml").is_file());
    for checkout in [sandbox.repository(), clone] {
        let _ = sandbox
            .orchestrate_in(&checkout, &["plumbing", "dispatch-fetch", "."])
            .exits(0);
        let before = Listing::of(&checkout);
        let _ = sandbox
            .orchestrate_in(&checkout, &["alpha", "--backend", "command"])
            .exits(4)
            .says("no command is configured")
            .says("command_backend is ignored");
        let _ = sandbox.git_in(&checkout, &["checkout", "--quiet", "--", "specs"]);
        // The lock's file, and the index that the restoring touched.
        let mut changes = Listing::of(&checkout).changes_since(&before);
        changes.retain(|change| !change.contains(".git/orchestrate") && !change.ends_with("/index"));
        assert_eq!(changes, [""; 0]);
    }
    assert!(!stolen.exists());
}

/// Verifies REQ-C1.3.
#[test]
fn a_branch_that_was_only_moved_never_lands() {
    let moves: [(&str, &[&[&str]]); 7] = [
        ("merge", &[&["merge", "--quiet", "main"]]),
        ("rebase", &[&["rebase", "--quiet", "main"]]),
        ("pull --rebase", &[&["pull", "--quiet", "--rebase", ".", "main"]]),
        (
            "fetch",
            &[
                &["checkout", "--quiet", "--detach"],
                &["fetch", "--quiet", ".", "main:planwright/alpha/task-1"],
                &["checkout", "--quiet", BRANCH],
            ],
        ),
        ("cherry-pick", &[&["cherry-pick", "--ff", "main"]]),
        (
            "update-ref",
            &[&["update-ref", "refs/heads/planwright/alpha/task-1", "main"]],
        ),
        (
            "push",
            &[
                &["checkout", "--quiet", "--detach"],
                &["push", "--quiet", ".", "main:planwright/alpha/task-1"],
                &["checkout", "--quiet", BRANCH],
            ],
        ),
    ];
    for (what, commands) in moves {
        let sandbox = sandbox(&chain());
        worked(&sandbox);
        let main = sandbox.commit_all("unrelated");
        for command in commands {
            let _ = sandbox.git_in(&sandbox.path(PLACE), command);
        }
        assert_eq!(sandbox.commit_of(BRANCH), main, "{what}");
        let ended = state_of(&sandbox, "1");
        assert!(
            ended.starts_with("held: ") || ended.starts_with("unknown: "),
            "{what}: {ended}"
        );
        let step = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]);
        assert!([10, 12].contains(&step.exit), "{what}: {step}");
        assert_eq!(sandbox.starts(), ["alpha 1"], "{what}");
        clear(&sandbox);
        let given_free = state_of(&sandbox, "1");
        assert!(
            given_free == "ready" || given_free.starts_with("unknown: "),
            "{what}: {given_free}"
        );
    }
}

#[test]
fn a_worker_whose_branch_is_moved_runs_on() {
    let sandbox = sandbox(&chain());
    sandbox.close_gate("1");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    let worker = sandbox.worker_at_gate("1");
    let _ = sandbox.commit_all("unrelated");
    let _ = sandbox.git_in(&sandbox.path(PLACE), &["rebase", "--quiet", "main"]);
    assert!(state_of(&sandbox, "1").starts_with("running: "));
    let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(10);
    drop(worker);
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(sandbox.starts(), ["alpha 1"]);
}

#[test]
fn a_worker_whose_worktree_is_removed_has_not_ended() {
    for prune in [false, true] {
        let sandbox = sandbox(&chain());
        sandbox.close_gate("1");
        let _ = sandbox.orchestrate(&["alpha"]).exits(0);
        let worker = sandbox.worker_at_gate("1");
        let lease = File::open(sandbox.lease("alpha", "1")).expect("its lease");
        if prune {
            fs::remove_dir_all(sandbox.path(PLACE)).expect("removed");
            let _ = sandbox.git(&["worktree", "prune", "--expire=now"]);
        } else {
            let _ = sandbox.git(&["worktree", "remove", "--force", "--force", PLACE]);
        }
        assert!(!sandbox.path(".git/worktrees/alpha-task-1").exists());
        let state = state_of(&sandbox, "1");
        assert!(state.contains("its worker runner lives (pid "), "{state}");
        let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(10);
        assert_eq!(sandbox.starts(), ["alpha 1"]);
        drop(worker);
        wait_for_lease(lease);
    }
}

#[test]
fn a_worker_that_leaves_its_branch_still_runs() {
    for leave in [
        &["switch", "--quiet", "--detach"][..],
        &["switch", "--quiet", "--create", "feature/x"],
    ] {
        let sandbox = sandbox(&chain());
        sandbox.close_gate("1");
        let _ = sandbox.orchestrate(&["alpha"]).exits(0);
        let worker = sandbox.worker_at_gate("1");
        let _ = sandbox.git_in(&sandbox.path(PLACE), leave);
        assert!(state_of(&sandbox, "1").starts_with("running: "), "{leave:?}");
        clear(&sandbox);
        assert!(state_of(&sandbox, "1").starts_with("running: "), "{leave:?}");
        let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(10);
        drop(worker);
        sandbox.wait_for_worker("alpha", "1");
        assert_eq!(sandbox.starts(), ["alpha 1"]);
    }
}

/// Verifies REQ-A1.4.
#[test]
fn an_empty_ref_file_is_not_an_absent_branch() {
    for side in ["refs/heads", "refs/remotes/origin"] {
        let sandbox = sandbox(&chain());
        sandbox.write(&format!(".git/{side}/{BRANCH}"), "");
        let before = sandbox.listing();
        assert!(state_of(&sandbox, "1").starts_with("unknown: "), "{side}");
        let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(12);
        assert_eq!(sandbox.changes_since(&before), [""; 0], "{side}");
        assert_eq!(sandbox.starts(), [""; 0], "{side}");
    }
}

#[test]
fn a_branch_that_is_gone_does_not_say_that_there_was_no_commit() {
    let sandbox = sandbox(&chain());
    sandbox.act_commit("1", "work\n");
    worked(&sandbox);
    let _ = sandbox.git(&["merge", "--quiet", "--no-ff", BRANCH]);
    let _ = sandbox.git(&["worktree", "remove", PLACE]);
    let _ = sandbox.git(&["branch", "--quiet", "--delete", BRANCH]);
    assert_eq!(
        state_of(&sandbox, "1"),
        "held: its worker ended (exit 0) and its branch is gone: whether its work landed cannot be told"
    );
    let _ = sandbox
        .orchestrate(&["alpha", "--detailed-exitcode"])
        .exits(10)
        .says("look in main first");
    assert_eq!(sandbox.starts(), ["alpha 1"]);
    let _ = sandbox.commit_all("part 1 is there\n\nPlanwright-Task: alpha/1\n");
    assert!(state_of(&sandbox, "1").starts_with("landed: "));
}

#[test]
fn work_at_a_remote_of_another_name_is_in_progress() {
    let sandbox = sandbox(&chain());
    sandbox.add_origin();
    let _ = sandbox.git(&["switch", "--quiet", "--create", BRANCH]);
    let _ = sandbox.commit_all("work");
    let _ = sandbox.git(&["push", "--quiet", "origin", BRANCH]);
    let clone = sandbox.clone_origin("clone", &["--origin=upstream"]);
    configure_in(&sandbox, &clone);
    assert_eq!(first_state_in(&sandbox, &clone), "in progress");
    let before = Listing::of(&clone);
    let _ = sandbox
        .orchestrate_in(&clone, &["alpha", "--detailed-exitcode"])
        .exits(10);
    assert_eq!(Listing::of(&clone).changes_since(&before), [""; 0]);
}

#[test]
fn a_file_that_git_always_calls_modified_stops_no_dispatch() {
    let sandbox = sandbox(&single());
    sandbox.write("lines.txt", "one\r\ntwo\r\n");
    let _ = sandbox.commit_all("line ends of another system");
    sandbox.write(".gitattributes", "* text eol=lf\n");
    let _ = sandbox.git(&["add", ".gitattributes"]);
    let _ = sandbox.git(&["commit", "--quiet", "--message", "attributes"]);
    let committed = sandbox.git(&["ls-files", "--eol", "lines.txt"]);
    assert!(committed.starts_with("i/crlf"), "{committed}");
    worked(&sandbox);
    assert_eq!(sandbox.starts(), ["alpha 1"]);
    let state = state_of(&sandbox, "1");
    let said = "held: its worker ended and left no commit on its branch (exit 0)";
    assert!(state.starts_with(said), "{state}");
}

#[test]
fn a_submodule_may_be_the_project() {
    let sandbox = sandbox(&single());
    let outer = sandbox.root().join("outer");
    let _ = sandbox.git_in(&outer, &["init", "--quiet", "--initial-branch=main"]);
    let upstream = sandbox.repository();
    let _ = sandbox.git_in(&outer, &["submodule", "--quiet", "add", upstream.as_str(), "inner"]);
    let _ = sandbox.commit_all_in(&outer, "a submodule");
    let inner = outer.join("inner");
    configure_in(&sandbox, &inner);
    sandbox.close_gate("1");
    let _ = sandbox
        .orchestrate_in(&inner, &["alpha"])
        .exits(0)
        .says("dispatched alpha task 1");
    let worker = sandbox.worker_at_gate("1");
    let lease = outer.join(".git/modules/inner/worktrees/alpha-task-1/orchestrate.lease");
    let lease = File::open(lease).expect("its lease");
    assert_eq!(sandbox.noted("1", "directory").trim_end(), inner.join(PLACE).as_str());
    assert_eq!(first_state_in(&sandbox, &inner), "running");
    assert_eq!(sandbox.git_in(&outer, &["status", "--porcelain"]), "");
    drop(worker);
    wait_for_lease(lease);
    assert_eq!(sandbox.starts(), ["alpha 1"]);
}

#[test]
fn a_separate_git_directory_is_refused_before_anything_is_written() {
    let sandbox = Sandbox::empty(PROGRAM);
    let apart: Utf8PathBuf = sandbox.root().join("apart/git");
    fs::create_dir(sandbox.root().join("apart")).expect("a directory");
    sandbox.initialise(&["--separate-git-dir", apart.as_str()]);
    sandbox.add_bundle(&single());
    sandbox.configure("");
    // What stands beside the git directory is no project of this repository.
    single()
        .write_into(&sandbox.root().join("apart"))
        .expect("the bundle is written");
    let before = (sandbox.listing(), Listing::of(&sandbox.root().join("apart")));
    let _ = sandbox
        .orchestrate(&["alpha"])
        .exits(1)
        .says("--separate-git-dir")
        .says("hint: ");
    assert_eq!(sandbox.changes_since(&before.0), [""; 0]);
    assert_eq!(
        Listing::of(&sandbox.root().join("apart")).changes_since(&before.1),
        [""; 0]
    );
}

/// Verifies REQ-A1.12.
#[test]
fn a_unit_that_cannot_be_dispatched_is_set_aside_for_the_next() {
    let taken = sandbox(&alpha());
    taken.write(&format!("{PLACE}/notes.txt"), "somebody's notes\n");
    let dirty = sandbox(&alpha());
    dirty.act("1", "echo precious > new.txt\n");
    worked(&dirty);
    clear(&dirty);
    for (sandbox, file, remedy) in [(taken, "notes.txt", "move it away"), (dirty, "new.txt", "commit")] {
        let output = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 3");
        sandbox.wait_for_worker("alpha", "3");
        assert!(
            output.stderr.contains("task 1 is set aside: ") && output.stderr.contains(remedy),
            "{output}"
        );
        assert_eq!(sandbox.starts().last().map(String::as_str), Some("alpha 3"));
        assert!(sandbox.path(PLACE).join(file).is_file());
        // Nothing else is ready now.
        let _ = sandbox.orchestrate(&["alpha"]).exits(4).says("hint: ");
        assert_eq!(sandbox.starts().last().map(String::as_str), Some("alpha 3"));
    }
}

/// Verifies REQ-A1.12.
#[test]
fn what_stands_in_the_place_of_a_workers_files_concerns_its_unit_alone() {
    let log = ".git/orchestrate/logs/alpha-task-1.log";
    let a_pipe = sandbox(&alpha());
    fs::create_dir_all(a_pipe.path(".git/orchestrate/logs")).expect("a directory");
    let _ = a_pipe.shell(&format!("mkfifo {log}")).exits(0);
    let a_directory = sandbox(&alpha());
    fs::create_dir_all(a_directory.path(log)).expect("a directory");
    for sandbox in [a_pipe, a_directory] {
        let _ = sandbox
            .orchestrate(&["alpha"])
            .exits(0)
            .says(&format!(
                "task 1 is set aside: cannot tell its worktree: {log} stands in the place of its worker's log"
            ))
            .says(&format!("move it away: mv {log} {log}.aside"))
            .says("dispatched alpha task 3");
        sandbox.wait_for_worker("alpha", "3");
        let _ = sandbox.shell(&format!("mv {log} {log}.aside")).exits(0);
        let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
        sandbox.wait_for_worker("alpha", "1");
    }
}

#[test]
fn a_prompt_that_cannot_be_written_stops_nothing_that_was_recorded() {
    let sandbox = sandbox(&alpha());
    worked(&sandbox);
    clear(&sandbox);
    let prompt = ".git/worktrees/alpha-task-1/orchestrate.prompt.md";
    fs::remove_file(sandbox.path(prompt)).expect("removed");
    fs::create_dir(sandbox.path(prompt)).expect("a directory");
    let _ = sandbox
        .orchestrate(&["alpha"])
        .exits(0)
        .says(&format!("{prompt} stands in the place of its worker's prompt"))
        .says("dispatched alpha task 3");
    sandbox.wait_for_worker("alpha", "3");
}

/// Where no log can be written nothing is dispatched, and nothing is written down as if it were.
#[test]
fn without_a_place_for_logs_nothing_is_recorded() {
    let sandbox = sandbox(&single());
    fs::create_dir_all(sandbox.path(".git/orchestrate")).expect("a directory");
    sandbox.write(".git/orchestrate/logs", "");
    let _ = sandbox
        .orchestrate(&["alpha"])
        .exits(0)
        .says("held: ")
        .says("the directory of the workers' logs")
        .says("mv .git/orchestrate/logs .git/orchestrate/logs.aside");
    assert!(!sandbox.path(".git/orchestrate/dispatch").exists());
}

#[test]
fn an_empty_registration_halts_until_it_is_moved_away() {
    let sandbox = sandbox(&single());
    fs::create_dir_all(sandbox.path(".git/worktrees/alpha-task-1")).expect("a directory");
    let before = sandbox.listing();
    let _ = sandbox
        .orchestrate(&["alpha"])
        .exits(4)
        .says("is what a killed git left");
    let changes = sandbox.changes_since(&before);
    assert!(
        changes
            .iter()
            .all(|change| change.starts_with("+ .git/orchestrate/") || change == crate::worktrees::BULLET),
        "{changes:?}"
    );
    let aside = "mv .git/worktrees/alpha-task-1 .git/alpha-task-1.aside";
    let _ = sandbox.orchestrate(&["doctor"]).says(aside);
    let _ = sandbox.shell(aside).exits(0);
    let _ = sandbox.orchestrate(&["unpark", "alpha", "1"]).exits(0);
    worked(&sandbox);
    assert_eq!(sandbox.starts(), ["alpha 1"]);
}

#[test]
fn a_shared_repository_stays_readable_for_others() {
    let sandbox = sandbox(&single());
    sandbox.write(EXCLUDE, "# shared\n");
    let exclude = sandbox.path(EXCLUDE);
    fs::set_permissions(&exclude, Permissions::from_mode(0o664)).expect("its mode is set");
    let _ = sandbox.shell("umask 022 && exec orchestrate alpha").exits(0);
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(mode_of(&exclude), 0o664);
    assert!(sandbox.read(EXCLUDE).starts_with("# shared\n"));
    assert!(sandbox.read(EXCLUDE).len() > "# shared\n".len(), "it was written");
    for file in ["HEAD", "commondir", "gitdir", "index"] {
        let path = sandbox.path(".git/worktrees/alpha-task-1").join(file);
        assert_eq!(mode_of(&path), 0o644, "{file}");
    }
}

#[test]
fn plumbing_takes_no_bundle_deeper_in_the_checkout_for_the_one_at_the_top() {
    let sandbox = sandbox(&single());
    single()
        .write_into(&sandbox.path("svc"))
        .expect("the bundle is written");
    let _ = sandbox.commit_all("a service");
    let _ = sandbox
        .orchestrate(&["plumbing", "orchestrate-marker", "write", "specs/alpha", "1"])
        .exits(0);
    let before = sandbox.listing();
    for arguments in [
        &["orchestrate-marker", "clear", "svc/specs/alpha", "1"][..],
        &["orchestrate-marker", "write", "svc/specs/alpha", "1"],
        &["orchestrate-state", "svc/specs/alpha"],
        &["orchestrate-select", "svc/specs/alpha"],
        &["orchestrate-lock", "acquire", "svc/specs/alpha"],
        &["orchestrate-lock", "release", "svc/specs/alpha"],
    ] {
        let output = sandbox.orchestrate(&[&["plumbing"], arguments].concat()).exits(2);
        assert_eq!(output.stdout, "", "{arguments:?}");
        assert_eq!(sandbox.changes_since(&before), [""; 0], "{arguments:?}");
    }
    // From inside the service, the relative name is the deeper bundle too.
    let _ = sandbox
        .orchestrate_in(
            &sandbox.path("svc"),
            &["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"],
        )
        .exits(2);
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
}

#[test]
fn without_git_nothing_is_written() {
    let sandbox = sandbox(&single());
    let empty = sandbox.root().join("empty");
    fs::create_dir(&empty).expect("a directory");
    let before = sandbox.listing();
    let variables = [("PATH", empty.as_str())];
    let _ = sandbox
        .orchestrate_with(&sandbox.repository(), &["alpha"], &variables)
        .exits(1)
        .says("git is not on the search path")
        .says("hint: ");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
}

#[test]
fn the_repositorys_own_git_is_never_run() {
    let sandbox = sandbox(&single());
    let stolen = sandbox.desk().join("stolen");
    let script = format!("#!/bin/sh\ntouch {stolen}\nexec /usr/bin/git \"$@\"\n");
    sandbox.write("git", &script);
    fs::set_permissions(sandbox.path("git"), Permissions::from_mode(0o755)).expect("it may be run");
    let _ = sandbox.commit_all("a program");
    let _ = sandbox.shell("PATH=.:$PATH exec orchestrate alpha").exits(0);
    sandbox.wait_for_worker("alpha", "1");
    let _ = sandbox.shell("PATH=:$PATH exec orchestrate status alpha").exits(0);
    assert!(!stolen.exists());
}

#[test]
fn a_pipe_where_git_keeps_its_exclusions_is_an_error_and_blocks_nobody() {
    let sandbox = sandbox(&single());
    let _ = sandbox
        .shell(&format!("mkdir -p .git/info && rm -f {EXCLUDE} && mkfifo {EXCLUDE}"))
        .exits(0);
    for _ in 0..2 {
        let _ = sandbox.start(&["alpha"]).finish().exits(1).says(EXCLUDE);
        assert!(!sandbox.path("specs/alpha/.orchestrate.lock").exists());
        eprintln!(
            "PROBE {} {:?}",
            sandbox.orchestrate(&["status", "alpha"]),
            sandbox.refs("refs/heads")
        );
    }
    assert_eq!(sandbox.starts(), [""; 0]);
    fs::remove_file(sandbox.path(EXCLUDE)).expect("removed");
    worked(&sandbox);
    assert_eq!(sandbox.starts(), ["alpha 1"]);
}

/// Verifies REQ-D1.7.
#[test]
fn a_dry_run_tells_the_halt_of_the_step() {
    let requirements = "specs/alpha/requirements.md";
    let edit = |sandbox: &Sandbox| {
        let text = sandbox
            .read(requirements)
            .replace("is delivered.", "is delivered twice.");
        sandbox.write(requirements, &text);
    };
    let uncommitted = sandbox(&single());
    edit(&uncommitted);
    let changed = sandbox(&single());
    edit(&changed);
    let _ = changed.commit_all("an edit");
    let dirty = sandbox(&single());
    dirty.act("1", "echo precious > new.txt\n");
    worked(&dirty);
    clear(&dirty);
    for (sandbox, halt, is_parked) in [
        (uncommitted, "differs from main", false),
        (changed, "changed after it was signed", true),
        (dirty, "new.txt", true),
    ] {
        let before = sandbox.listing();
        let dry_run = sandbox.orchestrate(&["alpha", "--dry-run"]).exits(4).says(halt);
        assert_eq!(sandbox.changes_since(&before), [""; 0]);
        let step = sandbox.orchestrate(&["alpha"]).exits(4).says(halt);
        assert_eq!(dry_run.stdout.contains("would park task 1"), is_parked, "{dry_run}");
        assert_eq!(step.stdout.contains("parked task 1"), is_parked, "{step}");
        assert!(is_parked || step == dry_run, "{step}");
    }
}
