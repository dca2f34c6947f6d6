//! `doctor` about what towers and killed processes left: locks, markers, records, fences, worktrees, litter.

use std::fs;
use std::os::unix::fs::symlink;

use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_host::clock;
use serde_json::Value;

use crate::doctor::{clone_with_settings, found_in, make_old, mends, mends_in, text, the_finding};
use crate::{alpha, sandbox, single};

const LOCK: &str = "specs/alpha/.orchestrate.lock";
const MARKERS: &str = "specs/alpha/.orchestrate/markers";
const SHARED_MARKERS: &str = ".git/planwright/orchestrate/alpha/markers";
const TOKEN: &str = "0123456789abcdef0123456789abcdef";

fn acquire(sandbox: &Sandbox) {
    let _ = sandbox
        .orchestrate(&["plumbing", "orchestrate-lock", "acquire", "specs/alpha"])
        .exits(0);
}

/// Leaves the lock of a tower that was killed in its window.
fn leave_a_dead_towers_lock(sandbox: &Sandbox) {
    acquire(sandbox);
    let owner = sandbox.read(&format!("{LOCK}/owner"));
    sandbox.write(&format!("{LOCK}/owner"), &owner.replace("\"detached\"", "\"process\""));
}

fn none_left(sandbox: &Sandbox, check: &str) {
    assert_eq!(found_in(sandbox, &sandbox.repository(), check), Vec::<Value>::new());
}

/// Verifies REQ-F2.4.
#[test]
fn locks_are_named_by_who_holds_them_and_mended() {
    let sandbox = sandbox(&single());
    leave_a_dead_towers_lock(&sandbox);
    let before = sandbox.listing();
    let _ = sandbox
        .orchestrate(&["doctor", "--fix", "--dry-run"])
        .exits(0)
        .says("would be fixed: the lock of specs/alpha is broken");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
    mends(&sandbox, "locks", "note", "is dead and left it");
    assert!(!sandbox.path(LOCK).exists());

    acquire(&sandbox);
    mends(&sandbox, "locks", "note", "orchestrate-lock acquire (pid ");
    // The reference leaves no name.
    fs::create_dir(sandbox.path(LOCK)).expect("a directory");
    mends(
        &sandbox,
        "locks",
        "note",
        "a tower that leaves no name, such as planwright's holds it",
    );
    fs::create_dir(sandbox.path(LOCK)).expect("a directory");
    make_old(&sandbox, LOCK);
    mends(&sandbox, "locks", "note", "counts as stale; the next step breaks it");
    fs::create_dir(sandbox.path(LOCK)).expect("a directory");
    let _ = sandbox.shell(&format!("touch -d '2 hours' {LOCK}")).exits(0);
    mends(&sandbox, "locks", "warning", "lies in the future");

    leave_a_dead_towers_lock(&sandbox);
    let owner = sandbox.read(&format!("{LOCK}/owner"));
    let host = serde_json::from_str::<Value>(&owner).expect("JSON")["process"]["host"].to_string();
    sandbox.write(&format!("{LOCK}/owner"), &owner.replace(&host, "\"elsewhere\""));
    mends(&sandbox, "locks", "warning", "on elsewhere");

    symlink("nowhere", sandbox.path(LOCK)).expect("a link");
    mends(&sandbox, "locks", "fault", "a symbolic link stands there");
    fs::write(sandbox.path(LOCK), "").expect("a file");
    mends(&sandbox, "locks", "fault", "a file stands there");
    none_left(&sandbox, "locks");
}

/// Verifies REQ-F2.4.
#[test]
fn markers_that_cannot_be_read_or_claim_nothing_are_cleared() {
    let sandbox = sandbox(&single());
    let now = clock::now().seconds();
    sandbox.write(&format!("{MARKERS}/1"), "soon\n");
    mends(&sandbox, "markers", "fault", "it is not a number of seconds");
    sandbox.write(&format!("{SHARED_MARKERS}/1"), &format!("{}\n", now + 86_400));
    mends(&sandbox, "markers", "fault", "it lies in the future");
    sandbox.write(&format!("{MARKERS}/1/x"), "");
    mends(&sandbox, "markers", "fault", "it is a directory");
    let _ = sandbox.shell(&format!("mkfifo {MARKERS}/1")).exits(0);
    mends(&sandbox, "markers", "fault", "it is no regular file");
    sandbox.write(&format!("{MARKERS}/1"), &format!("{}\n", now - 10_000));
    mends(&sandbox, "markers", "note", "claims nothing any more");
    sandbox.write(&format!("{MARKERS}/9"), &format!("{now}\n"));
    mends(&sandbox, "markers", "note", "the bundle has no such task");
    sandbox.write(&format!("{MARKERS}/1"), &format!("{now}\n"));
    mends(
        &sandbox,
        "markers",
        "note",
        "a tower that keeps no record here, such as planwright's",
    );
    fs::rename(sandbox.path(MARKERS), sandbox.root().join("elsewhere")).expect("moved");
    symlink(sandbox.root().join("elsewhere"), sandbox.path(MARKERS)).expect("a link");
    mends(&sandbox, "markers", "fault", "its markers cannot be read");
    none_left(&sandbox, "markers");
}

/// Verifies REQ-F2.4.
#[test]
fn records_that_cannot_be_read_or_speak_of_nothing_are_cleared() {
    let sandbox = sandbox(&single());
    let directory = ".git/orchestrate/dispatch/alpha";
    sandbox.write(&format!("{directory}/1.json"), "{\"schema\":");
    mends(&sandbox, "records", "fault", "the unit is held");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    sandbox.wait_for_worker("alpha", "1");
    none_left(&sandbox, "records");
    let record = sandbox.read(&format!("{directory}/1.json"));
    sandbox.write(
        &format!("{directory}/9.json"),
        &record.replace("\"unit\": \"1\"", "\"unit\": \"9\""),
    );
    mends(&sandbox, "records", "note", "the bundle has no task 9");
    sandbox.write(".git/orchestrate/dispatch/gone/1.json", &record);
    mends(&sandbox, "records", "note", "this checkout has no bundle specs/gone");
    sandbox.write(&format!("{directory}/1.launch.json"), "torn");
    mends(&sandbox, "records", "fault", "1.launch.json cannot be read");
    let _ = sandbox
        .shell(&format!("rm -r {directory} && touch {directory}"))
        .exits(0);
    mends(&sandbox, "records", "fault", "every task is held");
}

#[test]
fn leases_that_cannot_be_read_and_processes_without_one_are_told() {
    let sandbox = sandbox(&single());
    sandbox.close_gate("1");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    let gate = sandbox.worker_at_gate("1");
    let output = sandbox.orchestrate(&["doctor"]).exits(0);
    let _ = output.says("a worker in alpha-task-1 (pid ");
    drop(gate);
    sandbox.wait_for_worker("alpha", "1");
    let worktree = sandbox.path(".claude/worktrees/alpha-task-1");
    let sleeper = sandbox.start_program("sleep", &worktree, &["600"]);
    let finding = the_finding(&sandbox, "workers", "(sleep) works in it and holds no lease");
    assert_eq!(text(&finding, "command"), format!("kill {}", sleeper.pid()));
    let _ = sandbox.shell(text(&finding, "command")).exits(0);
    let _ = sleeper.finish();
    none_left(&sandbox, "workers");
    let lease = ".git/worktrees/alpha-task-1/orchestrate.lease";
    let _ = sandbox.shell(&format!("rm -f {lease} && mkfifo {lease}")).exits(0);
    mends(&sandbox, "workers", "warning", "whether a worker lives cannot be told");
}

/// Verifies REQ-F2.4.
#[test]
fn worktrees_that_a_person_must_do_something_about_are_mended() {
    let sandbox = sandbox(&alpha());
    sandbox.act_commit("1", "feat: one\n");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    none_left(&sandbox, "worktrees");
    let worktree = ".claude/worktrees/alpha-task-1";
    let git = |arguments: &[&str]| sandbox.git_in(&sandbox.path(worktree), arguments);
    let _ = git(&["switch", "--quiet", "--create", "other"]);
    mends(
        &sandbox,
        "worktrees",
        "warning",
        "it is on other and not on planwright/alpha/task-1",
    );
    let _ = git(&["switch", "--quiet", "--detach"]);
    mends(&sandbox, "worktrees", "warning", "it is on a detached HEAD");
    assert!(sandbox.refs("refs/heads/rescue-1").len() == 1, "its commits are kept");
    let _ = git(&["switch", "--quiet", "--detach"]);
    let _ = git(&["branch", "--delete", "--force", "planwright/alpha/task-1"]);
    mends(&sandbox, "worktrees", "warning", "it is on a detached HEAD");

    let elsewhere = sandbox.root().join("elsewhere");
    let _ = git(&["switch", "--quiet", "--detach"]);
    let _ = sandbox.git(&[
        "worktree",
        "add",
        "--quiet",
        elsewhere.as_str(),
        "planwright/alpha/task-1",
    ]);
    let all = found_in(&sandbox, &sandbox.repository(), "worktrees");
    assert!(
        all.iter()
            .any(|finding| text(finding, "problem").contains("is checked out here")),
        "{all:#?}"
    );
    let _ = sandbox.git(&["worktree", "remove", elsewhere.as_str()]);
    let _ = git(&["switch", "--quiet", "planwright/alpha/task-1"]);

    // Git's own way of removing one was not taken.
    fs::rename(sandbox.path(worktree), &elsewhere).expect("moved");
    mends(&sandbox, "worktrees", "warning", "its directory is gone");
    fs::create_dir_all(sandbox.path(".git/worktrees/alpha-task-1")).expect("a directory");
    mends(&sandbox, "worktrees", "warning", "a killed git left it");
    sandbox.write(&format!("{worktree}/notes.txt"), "somebody's\n");
    mends(&sandbox, "worktrees", "warning", "stands where a unit's belongs");
    sandbox.write(".claude/worktrees/mine/notes.txt", "somebody's\n");
    mends(&sandbox, "worktrees", "note", "it is no worktree of this repository");
}

#[test]
fn planwrights_worktrees_and_cut_short_checkouts_are_noted() {
    let sandbox = sandbox(&single());
    let bare = ".claude/worktrees/task-1";
    let _ = sandbox.git(&["worktree", "add", "--quiet", "-b", "planwright/alpha/task-1", bare]);
    mends(&sandbox, "worktrees", "note", "planwright made it");
    let _ = sandbox.git(&["worktree", "remove", ".claude/worktrees/alpha-task-1"]);
    let _ = sandbox.git(&["branch", "--delete", "planwright/alpha/task-1"]);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    sandbox.wait_for_worker("alpha", "1");
    // As a kill in mid-checkout leaves it, with the tower that was at it.
    let _ = sandbox
        .orchestrate(&["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"])
        .exits(0);
    fs::remove_file(sandbox.path(".git/worktrees/alpha-task-1/index")).expect("removed");
    sandbox.write(
        ".git/worktrees/alpha-task-1/locked",
        "orchestrate: checkout not complete\n",
    );
    mends(&sandbox, "worktrees", "note", "its checkout was cut short");
}

#[test]
fn a_repository_that_was_moved_with_its_worktrees_is_repaired() {
    let sandbox = sandbox(&single());
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    sandbox.wait_for_worker("alpha", "1");
    let moved = sandbox.root().join("moved");
    fs::rename(sandbox.repository(), &moved).expect("moved");
    fs::create_dir(sandbox.repository()).expect("a directory");
    mends_in(&sandbox, &moved, "worktrees", "warning", "git believes that it lies at");
}

/// Verifies REQ-F2.4.
#[test]
fn fences_that_nobody_answers_for_are_removed_as_printed() {
    let sandbox = sandbox(&alpha());
    sandbox.add_origin();
    let clone = clone_with_settings(&sandbox, "clone", &[]);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    none_left(&sandbox, "fences");
    // Its tower has ended, as each does when it has dispatched: that alone is nothing to be warned of.
    let at_work = "its worker may be at work in that tower's clone, and nothing of its work is at origin yet";
    mends_in(&sandbox, &clone, "fences", "note", at_work);
    let fence = [
        "plumbing",
        "fleet-fence",
        "fence",
        "--checkout",
        clone.as_str(),
        "--spec",
    ];
    let _ = sandbox.orchestrate(&[&fence, &["gone", "1"][..]].concat()).exits(0);
    mends_in(
        &sandbox,
        &clone,
        "fences",
        "note",
        "this checkout has no bundle specs/gone",
    );
    let push = |name: &str| {
        let reference = format!("main:refs/planwright-fence/alpha/{name}");
        let _ = sandbox.git(&["push", "--quiet", "origin", &reference]);
    };
    push("odd.name");
    mends_in(&sandbox, &clone, "fences", "note", "its name says no unit");
    push("3");
    // What this clone has pushed, and a person has removed.
    let clear = ["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"];
    let _ = sandbox.orchestrate(&clear).exits(0);
    mends(&sandbox, "fences", "note", "origin has no such fence");
    mends(&sandbox, "fences", "note", "a tower that does not say which it is");
    none_left(&sandbox, "fences");
    sandbox.write(".git/orchestrate/intent/alpha/1", "torn");
    mends(&sandbox, "fences", "fault", "cannot be read");
}

#[test]
fn a_branch_at_origin_that_nobody_fenced_is_noted() {
    let sandbox = sandbox(&alpha());
    sandbox.add_origin();
    let clone = clone_with_settings(&sandbox, "clone", &[]);
    let _ = sandbox.git_in(&clone, &["switch", "--quiet", "--create", "planwright/alpha/task-3"]);
    let _ = sandbox.commit_all_in(&clone, "work of a planwright that does not fence");
    let _ = sandbox.git_in(&clone, &["push", "--quiet", "origin", "planwright/alpha/task-3"]);
    let _ = sandbox.git(&["fetch", "--quiet", "origin"]);
    let finding = the_finding(&sandbox, "fences", "by a tower that takes no fences");
    assert_eq!(text(&finding, "weight"), "note");
    assert!(text(&finding, "place").contains("planwright/alpha/task-3"), "{finding}");
    let land = "planwright/alpha/task-3:main";
    let _ = sandbox.git_in(&clone, &["push", "--quiet", "origin", land]);
    let _ = sandbox.git(&["fetch", "--quiet", "origin"]);
    assert_eq!(found_in(&sandbox, &sandbox.repository(), "fences"), Vec::<Value>::new());
}

#[test]
fn what_is_this_machines_is_excluded() {
    let sandbox = sandbox(&single());
    sandbox.write(".gitignore", "");
    sandbox.write(&format!("{MARKERS}/.keep"), "");
    let finding = the_finding(&sandbox, "ignore-rules", ".claude/planwright.local.yml");
    assert!(
        text(&finding, "problem").contains("specs/alpha/.orchestrate/"),
        "{finding}"
    );
    mends(&sandbox, "ignore-rules", "warning", "git add --all would add");
    assert!(sandbox.read(".git/info/exclude").contains("/.claude/*.local.yml\n"));
    assert_eq!(sandbox.git(&["status", "--porcelain"]), " M .gitignore");
    // What cannot be done is said, and is no success.
    fs::remove_file(sandbox.path(".git/info/exclude")).expect("removed");
    fs::create_dir(sandbox.path(".git/info/exclude")).expect("a directory");
    let _ = sandbox
        .orchestrate(&["doctor", "--fix"])
        .says("not fixed: cannot write .git/info/exclude");
}

#[test]
fn what_was_mended_is_told_as_it_is_now() {
    let sandbox = sandbox(&single());
    sandbox.write(".gitignore", "");
    let staged = "specs/alpha/.orchestrate-partial-Ab3dEf";
    sandbox.write(staged, "half");
    make_old(&sandbox, staged);
    let looked_at = |arguments: &[&str], check: &str| {
        let value = sandbox
            .orchestrate(&[&["doctor", "--format", "json"], arguments].concat())
            .exits(0)
            .json();
        let mut checks = value["checks"].as_array().expect("checks").iter();
        let found = checks.find(|one| one["name"] == check).expect("the check");
        text(found, "looked_at").to_owned()
    };
    assert_eq!(looked_at(&[], "ignore-rules"), "what is this machine's is not ignored");
    assert_eq!(looked_at(&["--fix", "--dry-run"], "litter"), "1 thing left behind");
    assert_eq!(looked_at(&["--fix"], "litter"), "0 things left behind");
    let _ = sandbox.shell("rm .git/info/exclude").exits(0);
    assert_eq!(
        looked_at(&["--fix"], "ignore-rules"),
        "what is this machine's is ignored"
    );
}

/// Verifies REQ-F2.4.
#[test]
fn what_killed_processes_left_is_removed_where_it_is_nobodys() {
    let sandbox = sandbox(&single());
    let staged = "specs/alpha/.orchestrate-partial-Ab3dEf";
    let staging = format!(".git/orchestrate/staging/{TOKEN}");
    let lock = format!("{LOCK}.new-{TOKEN}");
    let aside = ".git/orchestrate/migration/alpha.aside";
    sandbox.write(staged, "half");
    sandbox.write(&format!("{staging}/HEAD"), "ref: refs/heads/planwright/alpha/task-1\n");
    sandbox.write(&format!("{aside}/before/tasks.md"), "");
    none_left(&sandbox, "litter");
    for path in [staged, staging.as_str(), aside] {
        make_old(&sandbox, path);
    }
    leave_a_dead_towers_lock(&sandbox);
    fs::rename(sandbox.path(LOCK), sandbox.path(&lock)).expect("moved");
    assert_eq!(found_in(&sandbox, &sandbox.repository(), "litter").len(), 4);
    let before = sandbox.listing();
    let _ = sandbox
        .orchestrate(&["doctor", "--fix", "--dry-run"])
        .exits(0)
        .says("would be fixed: it is removed");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
    let _ = sandbox
        .orchestrate(&["doctor", "--fix"])
        .exits(0)
        .says("nothing is wrong, 4 fixed");
    none_left(&sandbox, "litter");
    for path in [staged, staging.as_str(), lock.as_str(), aside] {
        assert!(!sandbox.path(path).exists(), "{path}");
    }
    sandbox.write(".git/packed-refs.lock", "");
    make_old(&sandbox, ".git/packed-refs.lock");
    mends(&sandbox, "litter", "warning", "a lock of git's");
    leave_a_dead_towers_lock(&sandbox);
    fs::rename(sandbox.path(LOCK), sandbox.path(&lock)).expect("moved");
    let owner = sandbox.read(&format!("{lock}/owner"));
    let host = serde_json::from_str::<Value>(&owner).expect("JSON")["process"]["host"].to_string();
    sandbox.write(&format!("{lock}/owner"), &owner.replace(&host, "\"elsewhere\""));
    make_old(&sandbox, &lock);
    mends(&sandbox, "litter", "note", "whose it is cannot be told");
}

#[test]
fn a_cache_that_cannot_be_read_is_discarded() {
    let sandbox = sandbox(&single());
    sandbox.write(".git/orchestrate/cache/history", "torn");
    mends(&sandbox, "caches", "note", "it is torn");
    fs::create_dir_all(sandbox.path(".git/orchestrate/cache/history")).expect("a directory");
    mends(&sandbox, "caches", "note", "it is a directory");
}

#[test]
fn towers_that_run_here_are_named() {
    let sandbox = sandbox(&alpha());
    // At its cap a loop waits.
    sandbox.configure("max_parallel_units: 1\nwatch_interval_seconds: 3600\n");
    sandbox.close_gate("1");
    let mut watch = sandbox.start_program("orchestrate", &sandbox.repository(), &["alpha", "--watch"]);
    let _ = watch.wait_for("dispatched alpha task 1");
    let _ = sandbox
        .orchestrate(&["doctor"])
        .exits(0)
        .says("1 running tower")
        .says(" watches alpha");
    let elsewhere = sandbox.root().join("elsewhere");
    let _ = sandbox.git_in(sandbox.root(), &["init", "--quiet", elsewhere.as_str()]);
    let _ = sandbox
        .orchestrate_in(&elsewhere, &["doctor"])
        .exits(1)
        .says("0 running towers");
    watch.kill();
    drop(sandbox.worker_at_gate("1"));
    let _ = sandbox.orchestrate(&["doctor"]).exits(0).says("0 running towers");
}
