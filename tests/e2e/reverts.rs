//! What is undone on base has not landed, and is done again only when a person wants it.

use orchestrate_e2e::sandbox::Sandbox;

use crate::{alpha, sandbox, state_of};

/// How a person lands a unit's work, and what undoes it is later called.
#[derive(Debug, Clone, Copy)]
enum Landing {
    Merge,
    FastForward,
    /// A squash as GitHub writes it, for pull request 5.
    Squash,
}

/// Lands task 1 and returns the commit that did.
fn land(sandbox: &Sandbox, landing: Landing) -> String {
    let branch = "planwright/alpha/task-1";
    let _ = sandbox.git(&["switch", "--quiet", "--create", branch, "main"]);
    sandbox.write("work/first.txt", "first\n");
    let _ = sandbox.commit_all("feat: first half");
    sandbox.write("work/second.txt", "second\n");
    let _ = sandbox.commit_all("feat: second half\n\nPlanwright-Task: alpha/1\n");
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    match landing {
        Landing::Merge => drop(sandbox.git(&["merge", "--quiet", "--no-ff", "--no-edit", branch])),
        Landing::FastForward => drop(sandbox.git(&["merge", "--quiet", "--ff-only", branch])),
        Landing::Squash => {
            let _ = sandbox.git(&["merge", "--quiet", "--squash", branch]);
            let _ = sandbox.commit_all("feat: first part (#5)\n\nPlanwright-Task: alpha/1\n");
            let _ = sandbox.git(&["branch", "--quiet", "-D", branch]);
        }
    }
    assert!(state_of(sandbox, "1").starts_with("landed"), "{landing:?}");
    sandbox.commit_of("main")
}

fn revert(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let _ = sandbox.git(&[&["revert", "--no-edit"], arguments].concat());
    sandbox.commit_of("main")
}

fn held_by(sandbox: &Sandbox, by: &str) -> bool {
    let state = state_of(sandbox, "1");
    state.starts_with("held") && state.ends_with(&format!("reverted by {}", &by[..7]))
}

/// Verifies REQ-C3.2.
#[test]
fn a_landing_that_was_reverted_is_held_for_a_person() {
    let revert_merge: &[&str] = &["-m", "1"];
    for (landing, arguments) in [
        (Landing::Merge, revert_merge),
        (Landing::FastForward, &[]),
        (Landing::Squash, &[]),
    ] {
        let sandbox = sandbox(&alpha());
        let landed = land(&sandbox, landing);
        let by = revert(&sandbox, &[arguments, &[landed.as_str()]].concat());
        assert!(held_by(&sandbox, &by), "{landing:?}: {}", state_of(&sandbox, "1"));
        assert!(state_of(&sandbox, "2").starts_with("blocked"), "{landing:?}");
        // It is not done again, and the others go on.
        let output = sandbox.orchestrate(&["alpha", "--format", "json"]).exits(0);
        assert_eq!(output.json()["unit"], "3", "{landing:?} {output}");
        sandbox.wait_for_worker("alpha", "3");
    }
}

/// Without a trailer the branch waits as before it came to base: whoever is told to merge it is told that it was undone.
/// Verifies REQ-C3.2.
#[test]
fn a_branch_whose_squash_was_reverted_says_so_where_it_waits() {
    let sandbox = sandbox(&alpha());
    sandbox.act_commit("1", "feat: work\n");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    let _ = sandbox.git(&["merge", "--quiet", "--squash", "planwright/alpha/task-1"]);
    let _ = sandbox.commit_all("feat: work (#5)\n");
    assert!(
        state_of(&sandbox, "1").starts_with("landed"),
        "{}",
        state_of(&sandbox, "1")
    );
    let by = revert(&sandbox, &["HEAD"]);
    let state = state_of(&sandbox, "1");
    assert!(
        state.starts_with("in progress: 1 commit on task-1, not on main; "),
        "{state}"
    );
    assert!(state.ends_with(&format!("reverted by {}", &by[..7])), "{state}");
    let _ = sandbox
        .orchestrate(&["why", "alpha", "1"])
        .exits(0)
        .says("if it is to stay undone: orchestrate park specs/alpha 1")
        .says("it back: review planwright/alpha/task-1");
}

/// Commits that base has already are not merged again: what brings them back is to revert what undid them.
/// Verifies REQ-C3.2.
#[test]
fn what_was_merged_and_undone_is_brought_back_as_the_hint_says() {
    let sandbox = sandbox(&alpha());
    let landed = land(&sandbox, Landing::Merge);
    let by = revert(&sandbox, &["-m", "1", &landed]);
    let branch = "planwright/alpha/task-1";
    let _ = sandbox.git(&["switch", "--quiet", branch]);
    sandbox.write("work/third.txt", "third\n");
    let _ = sandbox.commit_all("feat: third\n");
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    assert!(!sandbox.path("work/first.txt").exists());
    let by = &by[..7];
    let why = sandbox
        .orchestrate(&["why", "alpha", "1", "--format", "json"])
        .exits(0)
        .json();
    let hint = why["hint"].as_str().expect("a hint");
    let back = format!(
        "to bring it back: git revert {by} where main is checked out; then review {branch}, and merge it into main"
    );
    assert!(hint.ends_with(&back), "{hint}");
    let _ = sandbox.git(&["revert", "--no-edit", by]);
    let _ = sandbox.git(&["merge", "--quiet", "--no-edit", branch]);
    for file in ["work/first.txt", "work/third.txt"] {
        assert!(sandbox.path(file).exists(), "{file}");
    }
    assert!(
        state_of(&sandbox, "1").starts_with("landed"),
        "{}",
        state_of(&sandbox, "1")
    );
}

/// The commit that says it completes the task still stands; where only the branch tells, any of its commits counts.
#[test]
fn half_a_landing_that_was_reverted_is_held_where_no_trailer_stands() {
    let sandbox = sandbox(&alpha());
    let _ = land(&sandbox, Landing::FastForward);
    let _ = revert(&sandbox, &["HEAD~1"]);
    let state = state_of(&sandbox, "1");
    assert!(state.starts_with("landed: trailer"), "{state}");
    let bare = crate::sandbox(&alpha());
    let branch = "planwright/alpha/task-1";
    let _ = bare.git(&["switch", "--quiet", "--create", branch, "main"]);
    bare.write("work/first.txt", "first\n");
    let first = bare.commit_all("feat: first half");
    bare.write("work/second.txt", "second\n");
    let _ = bare.commit_all("feat: second half");
    let _ = bare.git(&["switch", "--quiet", "main"]);
    let _ = bare.git(&["merge", "--quiet", "--ff-only", branch]);
    let by = revert(&bare, &[&first]);
    assert!(held_by(&bare, &by), "{}", state_of(&bare, "1"));
}

#[test]
fn a_revert_that_github_writes_counts() {
    for message in [
        "Revert \"feat: first part (#5)\" (#6)\n\nReverts o/r#5",
        "Revert \"feat: first part\"\n\nReverts #5.\n",
    ] {
        let sandbox = sandbox(&alpha());
        let _ = land(&sandbox, Landing::Squash);
        let _ = sandbox.git(&["rm", "--quiet", "-r", "work"]);
        let by = sandbox.commit_all(message);
        assert!(held_by(&sandbox, &by), "{message}: {}", state_of(&sandbox, "1"));
    }
}

#[test]
fn a_revert_with_a_short_hash_counts() {
    let sandbox = sandbox(&alpha());
    let landed = land(&sandbox, Landing::Squash);
    let _ = sandbox.git(&["rm", "--quiet", "-r", "work"]);
    let by = sandbox.commit_all(&format!(
        "Revert it\n\nThis reverts commit {} (feat: first part).\n",
        &landed[..10]
    ));
    assert!(held_by(&sandbox, &by), "{}", state_of(&sandbox, "1"));
}

/// Verifies REQ-C3.2.
#[test]
fn a_revert_of_the_revert_lands_it_again() {
    let sandbox = sandbox(&alpha());
    let landed = land(&sandbox, Landing::Merge);
    let first = revert(&sandbox, &["-m", "1", &landed]);
    let second = revert(&sandbox, &[&first]);
    assert!(
        state_of(&sandbox, "1").starts_with("landed"),
        "{}",
        state_of(&sandbox, "1")
    );
    let third = revert(&sandbox, &[&second]);
    assert!(held_by(&sandbox, &first), "{third}: {}", state_of(&sandbox, "1"));
}

#[test]
fn a_revert_that_came_by_a_merge_counts_and_so_does_its_undoing() {
    let sandbox = sandbox(&alpha());
    let landed = land(&sandbox, Landing::Squash);
    let _ = sandbox.git(&["switch", "--quiet", "--create", "undo"]);
    let by = {
        let _ = sandbox.git(&["revert", "--no-edit", &landed]);
        sandbox.commit_of("undo")
    };
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    let _ = sandbox.git(&[
        "merge",
        "--quiet",
        "--no-ff",
        "-m",
        "Merge pull request #6 from o/undo",
        "undo",
    ]);
    assert!(held_by(&sandbox, &by), "{}", state_of(&sandbox, "1"));
    let _ = revert(&sandbox, &["-m", "1", "HEAD"]);
    assert!(
        state_of(&sandbox, "1").starts_with("landed"),
        "{}",
        state_of(&sandbox, "1")
    );
}

#[test]
fn a_later_trailer_completes_it_again() {
    let sandbox = sandbox(&alpha());
    let landed = land(&sandbox, Landing::Merge);
    let _ = revert(&sandbox, &["-m", "1", &landed]);
    sandbox.write("work/again.txt", "again\n");
    let again = sandbox.commit_all("feat: first part, again\n\nPlanwright-Task: alpha/1\n");
    let state = state_of(&sandbox, "1");
    assert!(
        state.starts_with(&format!("landed: trailer in {}", &again[..7])),
        "{state}"
    );
}

/// Verifies REQ-C3.2.
#[test]
fn what_reverts_something_else_undoes_nothing() {
    let sandbox = sandbox(&alpha());
    sandbox.write("other.txt", "other\n");
    let other = sandbox.commit_all("chore: other");
    let _ = land(&sandbox, Landing::Squash);
    let _ = revert(&sandbox, &[&other]);
    let nowhere = "1234567890123456789012345678901234567890";
    sandbox.write("talk.txt", "talk\n");
    let _ = sandbox.commit_all(&format!(
        "Revert \"x\"\n\nThis reverts commit {nowhere}.\n\nReverts o/r#77\n"
    ));
    let state = state_of(&sandbox, "1");
    assert!(state.starts_with("landed"), "{state}");
}

/// A branch may undo its own commit and do it again before it lands.
#[test]
fn a_revert_inside_the_branch_is_the_branchs_own_affair() {
    let sandbox = sandbox(&alpha());
    let branch = "planwright/alpha/task-1";
    let _ = sandbox.git(&["switch", "--quiet", "--create", branch, "main"]);
    sandbox.write("work/first.txt", "wrong\n");
    let wrong = sandbox.commit_all("feat: wrong\n\nPlanwright-Task: alpha/1\n");
    let _ = sandbox.git(&["revert", "--no-edit", &wrong]);
    sandbox.write("work/first.txt", "right\n");
    let _ = sandbox.commit_all("feat: right\n\nPlanwright-Task: alpha/1\n");
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    let _ = sandbox.git(&["merge", "--quiet", "--no-ff", "--no-edit", branch]);
    let state = state_of(&sandbox, "1");
    assert!(state.starts_with("landed: trailer"), "{state}");
}

#[test]
fn a_person_may_want_it_again_until_it_is_reverted_again() {
    let sandbox = sandbox(&alpha());
    let landed = land(&sandbox, Landing::Squash);
    let by = revert(&sandbox, &[&landed]);
    let _ = sandbox
        .orchestrate(&["unpark", "alpha", "1"])
        .exits(0)
        .says("although it was reverted");
    assert_eq!(sandbox.read(".git/orchestrate/redo/alpha/1"), format!("{by}\n"));
    assert!(
        state_of(&sandbox, "1").starts_with("ready"),
        "{}",
        state_of(&sandbox, "1")
    );
    sandbox.write("work/again.txt", "again\n");
    let again = sandbox.commit_all("feat: again\n\nPlanwright-Task: alpha/1\n");
    let second = revert(&sandbox, &[&again]);
    assert!(held_by(&sandbox, &second), "{}", state_of(&sandbox, "1"));
    let _ = sandbox.orchestrate(&["unpark", "alpha", "1"]).exits(0);
    let both = sandbox.read(".git/orchestrate/redo/alpha/1");
    assert!(both.contains(&by) && both.contains(&second), "{both}");
    // A record that is torn wants nothing.
    sandbox.write(".git/orchestrate/redo/alpha/1", &second[..20]);
    assert!(held_by(&sandbox, &second), "{}", state_of(&sandbox, "1"));
}

/// The whole way: a worker's landed work is reverted, held, wanted again, and done again from where base is now.
#[test]
fn wanted_work_is_done_again_from_base() {
    let sandbox = sandbox(&crate::single());
    sandbox.act_commit("1", "feat: work\n\nPlanwright-Task: alpha/1\n");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    let _ = sandbox.git(&["merge", "--quiet", "--no-ff", "--no-edit", "planwright/alpha/task-1"]);
    let by = revert(&sandbox, &["-m", "1", "HEAD"]);
    assert!(held_by(&sandbox, &by), "{}", state_of(&sandbox, "1"));
    let hint = "orchestrate unpark specs/alpha 1";
    let _ = sandbox.orchestrate(&["status", "alpha"]).exits(0).says(hint);
    let _ = sandbox.orchestrate(&["unpark", "specs/alpha", "1"]).exits(0);
    // The old worktree holds the work that was reverted: a person removes it, the tower never does.
    let _ = sandbox
        .orchestrate(&["alpha"])
        .exits(4)
        .says("it holds the work that was reverted")
        .says("git worktree remove .claude/worktrees/alpha-task-1");
    // Nobody sat before it, so what stands in the way is written down until a person says that it is gone.
    let _ = sandbox
        .orchestrate(&["alpha"])
        .exits(0)
        .says("1     parked: Awaiting input");
    let _ = sandbox.git(&["worktree", "remove", ".claude/worktrees/alpha-task-1"]);
    let _ = sandbox.git(&["branch", "--quiet", "-d", "planwright/alpha/task-1"]);
    let _ = sandbox.orchestrate(&["unpark", "specs/alpha", "1"]).exits(0);
    sandbox.act_commit("1", "feat: better work\n\nPlanwright-Task: alpha/1\n");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(state_of(&sandbox, "1"), "in progress: 1 commit on task-1, not on main");
    let start = sandbox.git(&["merge-base", "main", "planwright/alpha/task-1"]);
    assert_eq!(start.trim(), by);
}

#[test]
fn unpark_of_what_is_neither_parked_nor_reverted_says_so() {
    let sandbox = sandbox(&alpha());
    let before = sandbox.listing();
    let output = sandbox.orchestrate(&["unpark", "alpha", "1"]);
    assert_ne!(output.exit, 0, "{output}");
    assert_eq!(sandbox.changes_since(&before), Vec::<String>::new());
}
