//! Work that lies on base under other commits: rebased, cherry-picked or squashed, without a trailer.

use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_testkit::bundle::BundleFixture;

use crate::{alpha, sandbox, state_of};

const BRANCH: &str = "planwright/alpha/task-1";

/// A sandbox whose task 1 has a branch with two commits, none of them with a trailer, and base has moved on.
fn worked() -> Sandbox {
    let sandbox = sandbox(&alpha());
    let _ = sandbox.git(&["switch", "--quiet", "--create", BRANCH, "main"]);
    sandbox.write("work/first.txt", "one\ntwo\nthree\n");
    let _ = sandbox.commit_all("feat: first half");
    sandbox.write("work/second.txt", "second\n");
    let _ = sandbox.commit_all("feat: second half");
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    sandbox.write("elsewhere.txt", "other\n");
    let _ = sandbox.commit_all("chore: elsewhere");
    assert_eq!(state_of(&sandbox, "1"), "in progress: 2 commits on task-1, not on main");
    sandbox
}

fn squash(sandbox: &Sandbox) -> String {
    let _ = sandbox.git(&["merge", "--quiet", "--squash", BRANCH]);
    sandbox.commit_all("feat: first part (#5)")
}

fn pick(sandbox: &Sandbox, commits: &[&str]) {
    let _ = sandbox.git(&[&["cherry-pick"], commits].concat());
}

/// Verifies REQ-C3.3.
#[test]
fn rebased_commits_have_landed() {
    let sandbox = worked();
    pick(&sandbox, &[&format!("{BRANCH}~1"), BRANCH]);
    let state = state_of(&sandbox, "1");
    assert!(state.starts_with("landed: 2 commits of task-1 on main as "), "{state}");
    let output = sandbox.orchestrate(&["alpha", "--format", "json"]).exits(0);
    assert_eq!(output.json()["unit"], "2", "{output}");
    sandbox.wait_for_worker("alpha", "2");
}

/// Verifies REQ-C3.3.
#[test]
fn half_of_the_commits_is_not_the_work() {
    let sandbox = worked();
    pick(&sandbox, &[BRANCH]);
    assert_eq!(state_of(&sandbox, "1"), "in progress: 2 commits on task-1, not on main");
}

/// Verifies REQ-C3.3.
#[test]
fn a_squash_without_a_trailer_has_landed() {
    let sandbox = worked();
    let commit = squash(&sandbox);
    let expected = format!("landed: task-1 is on main in {}", &commit[..7]);
    assert_eq!(state_of(&sandbox, "1"), expected);
    // And stays so when the same lines are changed later.
    sandbox.write("work/first.txt", "one\ntwo and a half\nthree\n");
    let _ = sandbox.commit_all("chore: later");
    assert_eq!(state_of(&sandbox, "1"), expected);
}

/// Two units in one commit: no patch of base is that of the branch, but every file is as it left it.
#[test]
fn files_that_are_on_base_as_the_branch_left_them_have_landed() {
    let sandbox = worked();
    let _ = sandbox.git(&["merge", "--quiet", "--squash", BRANCH]);
    sandbox.write("more.txt", "of another unit\n");
    let _ = sandbox.commit_all("feat: two parts in one");
    let state = state_of(&sandbox, "1");
    assert_eq!(state, "landed: main holds every file as task-1 left it");
}

#[test]
fn a_squash_that_was_changed_on_the_way_is_not_known_to_have_landed() {
    let sandbox = worked();
    let _ = sandbox.git(&["merge", "--quiet", "--squash", BRANCH]);
    sandbox.write("work/second.txt", "changed in review\n");
    let _ = sandbox.commit_all("feat: first part, changed");
    assert_eq!(state_of(&sandbox, "1"), "in progress: 2 commits on task-1, not on main");
}

#[test]
fn the_work_of_a_squash_that_was_reverted_is_in_progress_again() {
    let sandbox = worked();
    let _ = squash(&sandbox);
    let _ = sandbox.git(&["revert", "--no-edit", "HEAD"]);
    let state = state_of(&sandbox, "1");
    // The branch still holds the work: somebody may land it again, who has to know that it was undone.
    assert!(
        state.starts_with("in progress: 2 commits on task-1, not on main; "),
        "{state}"
    );
    assert!(state.contains(", reverted by "), "{state}");
}

#[test]
fn work_that_goes_on_after_a_squash_is_in_progress() {
    let sandbox = worked();
    let _ = squash(&sandbox);
    let _ = sandbox.git(&["switch", "--quiet", BRANCH]);
    sandbox.write("work/third.txt", "third\n");
    let _ = sandbox.commit_all("feat: third half");
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    assert_eq!(state_of(&sandbox, "1"), "in progress: 3 commits on task-1, not on main");
}

#[test]
fn a_branch_that_changes_nothing_is_on_no_base() {
    let sandbox = sandbox(&alpha());
    let _ = sandbox.git(&["switch", "--quiet", "--create", BRANCH, "main"]);
    let _ = sandbox.git(&["commit", "--quiet", "--allow-empty", "-m", "chore: nothing"]);
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    assert_eq!(state_of(&sandbox, "1"), "in progress: 1 commit on task-1, not on main");
    // Nor one that takes back what it did.
    let _ = sandbox.git(&["switch", "--quiet", BRANCH]);
    sandbox.write("work/first.txt", "first\n");
    let _ = sandbox.commit_all("feat: first");
    let _ = sandbox.git(&["revert", "--no-edit", "HEAD"]);
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    assert_eq!(state_of(&sandbox, "1"), "in progress: 3 commits on task-1, not on main");
}

/// A branch that was started from other work that has not landed: when that work lands, the unit has still done nothing.
#[test]
fn the_work_of_others_under_a_branch_is_not_the_units() {
    let sandbox = sandbox(&alpha());
    let _ = sandbox.git(&["switch", "--quiet", "--create", "topic", "main"]);
    sandbox.write("topic.txt", "topic\n");
    let _ = sandbox.commit_all("feat: topic");
    let _ = sandbox.git(&["branch", "--quiet", BRANCH, "topic"]);
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    sandbox.write("elsewhere.txt", "other\n");
    let _ = sandbox.commit_all("chore: elsewhere");
    pick(&sandbox, &["topic"]);
    assert_eq!(state_of(&sandbox, "1"), "in progress: 1 commit on task-1, not on main");
}

#[test]
fn a_worktree_with_uncommitted_work_keeps_the_unit_in_progress() {
    let sandbox = sandbox(&BundleFixture::new("alpha").task("1", "only part", &[], "1 day"));
    sandbox.act_commit("1", "feat: work\n");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    sandbox.wait_for_worker("alpha", "1");
    sandbox.write("elsewhere.txt", "other\n");
    let _ = sandbox.commit_all("chore: elsewhere");
    let _ = squash(&sandbox);
    sandbox.write(".claude/worktrees/alpha-task-1/more.txt", "not committed\n");
    assert_eq!(state_of(&sandbox, "1"), "in progress: 1 commit on task-1, not on main");
    std::fs::remove_file(sandbox.path(".claude/worktrees/alpha-task-1/more.txt")).expect("removed");
    let state = state_of(&sandbox, "1");
    assert!(state.starts_with("landed: "), "{state}");
}

/// Nothing is written by looking: not even objects.
#[test]
fn a_look_writes_nothing() {
    let sandbox = worked();
    let _ = squash(&sandbox);
    let before = sandbox.listing();
    let _ = sandbox.orchestrate(&["status", "alpha"]).exits(0);
    assert_eq!(sandbox.changes_since(&before), Vec::<String>::new());
}
