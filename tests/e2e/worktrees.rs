//! The place of a unit's worktree: taken, dirty, missing, or somebody else's. Nothing there is ever destroyed (law L5).

use std::fs;

use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_e2e::surroundings::{failpoint_binary, skipped};

use crate::{alpha, check, sandbox, single};

const PLACE: &str = ".claude/worktrees/alpha-task-1";
const BRANCH: &str = "planwright/alpha/task-1";

/// What a step that parks a task changes, beside the lock's own file.
pub(crate) const BULLET: &str = "~ specs/alpha/tasks.md";

/// The step must halt for a person, and leave no more than the window's lock file and the bullet that says so.
fn halts(sandbox: &Sandbox) -> orchestrate_e2e::output::Output {
    let before = sandbox.listing();
    let output = sandbox.orchestrate(&["alpha"]).exits(4);
    let changes = sandbox.changes_since(&before);
    assert!(
        changes
            .iter()
            .all(|change| change.starts_with("+ .git/orchestrate/") || change == BULLET),
        "{changes:?} {output}"
    );
    assert_eq!(sandbox.starts(), [""; 0]);
    output
}

#[test]
fn a_file_at_the_place_halts() {
    let sandbox = sandbox(&single());
    sandbox.write(PLACE, "somebody's notes\n");
    check!(sandbox, halts(&sandbox), @r"
        exit 4
        --- out
        halted: a file stands at .claude/worktrees/alpha-task-1
        hint: move it away; nothing there was touched
        parked task 1 under Awaiting input
          when that is done: orchestrate unpark alpha 1
        nothing was committed, and nothing was dispatched; the next step goes on
        ");
}

#[test]
fn a_directory_with_files_at_the_place_halts() {
    let sandbox = sandbox(&single());
    sandbox.write(&format!("{PLACE}/notes.txt"), "somebody's notes\n");
    check!(sandbox, halts(&sandbox), @r"
        exit 4
        --- out
        halted: a directory that is no worktree of this unit stands at .claude/worktrees/alpha-task-1
        hint: move it away; nothing there was touched
        parked task 1 under Awaiting input
          when that is done: orchestrate unpark alpha 1
        nothing was committed, and nothing was dispatched; the next step goes on
        ");
}

#[test]
fn an_empty_directory_at_the_place_is_used() {
    let sandbox = sandbox(&single());
    fs::create_dir_all(sandbox.path(PLACE)).expect("a directory");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
}

#[test]
fn another_worktree_at_the_place_halts() {
    let sandbox = sandbox(&single());
    let _ = sandbox.git(&["worktree", "add", "--quiet", "-b", "topic", PLACE]);
    check!(sandbox, halts(&sandbox), @r"
        exit 4
        --- out
        halted: .claude/worktrees/alpha-task-1 is registered as a worktree on topic
        hint: its commits stay on topic; if they are this task's: git -C .claude/worktrees/alpha-task-1 switch --create planwright/alpha/task-1; else move the worktree away
        parked task 1 under Awaiting input
          when that is done: orchestrate unpark alpha 1
        nothing was committed, and nothing was dispatched; the next step goes on
        ");
}

#[test]
fn another_worktree_of_the_same_name_halts() {
    let sandbox = sandbox(&single());
    let elsewhere = sandbox.root().join("alpha-task-1");
    let _ = sandbox.git(&["worktree", "add", "--quiet", "-b", "topic", elsewhere.as_str()]);
    assert!(sandbox.path(".git/worktrees/alpha-task-1").is_dir());
    let _ = halts(&sandbox).says("is registered as a worktree on topic");
}

#[test]
fn the_units_branch_in_the_primary_checkout_halts() {
    let sandbox = sandbox(&single());
    let _ = sandbox.git(&["switch", "--quiet", "--create", BRANCH]);
    check!(sandbox, halts(&sandbox), @r"
        exit 4
        --- out
        halted: planwright/alpha/task-1 is checked out at the primary checkout
        hint: switch that checkout to another branch; git worktree repair, if it was moved
        parked task 1 under Awaiting input
          when that is done: orchestrate unpark alpha 1
        nothing was committed, and nothing was dispatched; the next step goes on
        ");
}

/// Verifies REQ-D1.8.
#[test]
fn the_units_branch_in_another_worktree_halts() {
    let sandbox = sandbox(&single());
    let elsewhere = sandbox.root().join("mine");
    let _ = sandbox.git(&["worktree", "add", "--quiet", "-b", BRANCH, elsewhere.as_str()]);
    let _ = halts(&sandbox).says("planwright/alpha/task-1 is checked out at ../mine");
}

#[test]
fn the_references_own_place_is_used_where_it_is_the_units_worktree() {
    let sandbox = sandbox(&single());
    let _ = sandbox.git(&["worktree", "add", "--quiet", "-b", BRANCH, ".claude/worktrees/task-1"]);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    let _ = orchestrate_e2e::listing::Listing::of(&sandbox.desk());
    let lease = sandbox.path(".git/worktrees/task-1/orchestrate.lease");
    assert!(lease.is_file());
    assert!(!sandbox.path(PLACE).exists());
}

/// What a worker commits off its branch is not called "no commit", and the halt names the way that keeps it.
#[test]
fn commits_of_a_worker_off_its_branch_are_kept() {
    for (act, way) in [
        (
            "git switch --quiet --detach; echo 1 > kept.txt; git add kept.txt; git commit --quiet --message work",
            "rescue-1",
        ),
        (
            "git switch --quiet --create other; echo 1 > kept.txt; git add kept.txt; git commit --quiet --message work",
            "other",
        ),
    ] {
        let sandbox = sandbox(&single());
        sandbox.act("1", act);
        let _ = sandbox.orchestrate(&["alpha"]).exits(0);
        sandbox.wait_for_worker("alpha", "1");
        let state = crate::state_of(&sandbox, "1");
        let said =
            "held: its worker ended and left no commit on its branch (exit 0); .claude/worktrees/alpha-task-1 is";
        assert!(state.starts_with(said), "{act}: {state}");
        let _ = sandbox
            .orchestrate(&["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"])
            .exits(0);
        let git = format!("git -C {PLACE}");
        let _ = sandbox
            .orchestrate(&["alpha"])
            .exits(4)
            .says(&format!("{git} switch {BRANCH}"))
            .says(&format!("{git} merge {way}"));
        if way == "rescue-1" {
            let _ = sandbox.git(&["-C", PLACE, "branch", way]);
        }
        let _ = sandbox.git(&["-C", PLACE, "switch", "--quiet", BRANCH]);
        let _ = sandbox.git(&["-C", PLACE, "merge", "--quiet", way]);
        assert!(sandbox.path(PLACE).join("kept.txt").is_file(), "{act}");
    }
}

/// A dispatched unit whose worker ended without a commit, given free by a person.
fn given_free(act: &str) -> Sandbox {
    let sandbox = sandbox(&single());
    sandbox.act("1", act);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    sandbox.wait_for_worker("alpha", "1");
    sandbox.act("1", "");
    let _ = sandbox
        .orchestrate(&["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"])
        .exits(0);
    sandbox
}

/// Verifies REQ-D1.8.
#[test]
fn a_clean_worktree_is_used_again() {
    let sandbox = given_free("");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(sandbox.starts(), ["alpha 1", "alpha 1"]);
}

/// Verifies REQ-A1.5.
#[test]
fn uncommitted_work_in_the_worktree_halts_and_is_kept() {
    for (what, act, shown) in [
        ("untracked", "echo precious > new.txt\n", "new.txt"),
        (
            "modified",
            "echo precious >> specs/alpha/tasks.md\n",
            "specs/alpha/tasks.md",
        ),
        ("deleted", "rm specs/alpha/tasks.md\n", "specs/alpha/tasks.md"),
        ("staged", "echo precious > new.txt; git add new.txt\n", "new.txt"),
        (
            "in the middle of a merge",
            "git branch -q side; echo a > f; git add f; git commit -qm a; git switch -q side; echo b > f; git add f; git commit -qm b; \
             git switch -q planwright/alpha/task-1; git merge side; git update-ref -m 'reset: moving to main' refs/heads/planwright/alpha/task-1 main\n",
            "",
        ),
    ] {
        let sandbox = given_free(act);
        let before = sandbox.listing();
        let output = sandbox.orchestrate(&["alpha"]).exits(4).says(shown).says("hint: ");
        let changes = sandbox.changes_since(&before);
        assert_eq!(changes, [BULLET], "{what}: {output}");
        assert_eq!(sandbox.starts(), ["alpha 1"], "{what}");
    }
}

#[test]
fn a_worktree_whose_directory_is_gone_halts() {
    let sandbox = given_free("");
    fs::rename(sandbox.path(PLACE), sandbox.root().join("moved")).expect("moved");
    let before = sandbox.listing();
    check!(sandbox, sandbox.orchestrate(&["alpha"]), @r"
        exit 4
        --- out
        halted: .claude/worktrees/alpha-task-1 is registered as the unit's worktree but its directory is gone
        hint: if it was removed on purpose: git worktree remove .claude/worktrees/alpha-task-1
        parked task 1 under Awaiting input
          when that is done: orchestrate unpark alpha 1
        nothing was committed, and nothing was dispatched; the next step goes on
        ");
    assert_eq!(sandbox.changes_since(&before), [BULLET]);
    let _ = sandbox.git(&["worktree", "prune"]);
    let _ = sandbox.orchestrate(&["unpark", "alpha", "1"]).exits(0);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
}

/// What a killed checkout left starts too early once the spec has been signed anew. Git takes it for a locked worktree
/// in which everything was changed, and what the hint says removes it all the same.
///
/// Verifies REQ-D1.8.
#[test]
fn a_checkout_that_was_cut_short_and_starts_too_early_is_removed_as_the_hint_says() {
    let Some(binary) = failpoint_binary() else {
        return skipped("kills at named points (ORCHESTRATE_FAILPOINT_BINARY is not set)");
    };
    for (point, is_locked, is_complete) in [
        ("checkout.half", true, false),
        ("checkout.indexed", true, true),
        ("checkout.after", false, true),
    ] {
        let sandbox = Sandbox::with(&binary, &single());
        let _ = sandbox.orchestrate_with(&sandbox.repository(), &["alpha"], &[("ORCHESTRATE_FAILPOINT", point)]);
        assert_eq!(sandbox.starts(), [""; 0], "{point}");
        let design = sandbox.read("specs/alpha/design.md");
        sandbox.write("specs/alpha/design.md", &format!("{design}\nOne more thought.\n"));
        crate::records::sign(&sandbox, "alpha");
        let _ = sandbox.commit_all("docs: the spec is signed anew");
        let mut command = format!("git worktree remove {PLACE} && git branch -d {BRANCH}");
        if !is_complete {
            sandbox.write(&format!("{PLACE}/theirs.txt"), "precious\n");
            command = format!("mv {PLACE} {PLACE}.aside && {command}");
        }
        if is_locked {
            command = format!("git worktree unlock {PLACE} && {command}");
        }
        let output = sandbox.orchestrate(&["alpha"]).exits(4);
        let said = output.says(&format!(
            "if nothing in it is needed, ignored files included: {command}\n"
        ));
        assert!(
            said.text().contains("the spec there is not the signed one"),
            "{point}: {said}"
        );
        let _ = sandbox.shell(&command).exits(0);
        if !is_complete {
            assert_eq!(sandbox.read(&format!("{PLACE}.aside/theirs.txt")), "precious\n");
        }
        let _ = sandbox.orchestrate(&["unpark", "alpha", "1"]).exits(0);
        let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
        sandbox.wait_for_worker("alpha", "1");
        assert_eq!(sandbox.starts(), ["alpha 1"], "{point}");
    }
}

/// Verifies REQ-D1.8.
#[test]
fn a_process_in_the_worktree_holds_it() {
    let sandbox = given_free("");
    sandbox.close_gate("other");
    let gate = sandbox.desk().join("other.gate");
    let other = sandbox.start_program("sh", &sandbox.path(PLACE), &["-c", &format!("read -r line < {gate}")]);
    let at_gate = sandbox.worker_at_gate("other");
    let _ = sandbox
        .orchestrate(&["alpha", "--detailed-exitcode"])
        .exits(12)
        .says(&format!("pid {} (sh)", other.pid()));
    drop(at_gate);
    let _ = other.finish();
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
}

#[test]
fn a_persons_lock_on_a_worktree_stays() {
    let sandbox = given_free("");
    let _ = sandbox.git(&["worktree", "lock", "--reason", "mine", PLACE]);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(sandbox.read(".git/worktrees/alpha-task-1/locked").trim_end(), "mine");
}

#[test]
fn two_specs_with_the_same_task_do_not_collide() {
    let sandbox = sandbox(&single());
    sandbox.add_bundle(&orchestrate_testkit::bundle::BundleFixture::new("beta").task("1", "other", &[], "1 day"));
    for spec in ["alpha", "beta"] {
        let _ = sandbox
            .orchestrate(&[spec])
            .exits(0)
            .says(&format!("dispatched {spec} task 1"));
        sandbox.wait_for_worker(spec, "1");
    }
    assert_eq!(sandbox.starts(), ["alpha 1", "beta 1"]);
}

#[test]
fn a_hook_of_the_repository_does_not_run_at_the_checkout() {
    let sandbox = sandbox(&alpha());
    let hook = sandbox.path(".git/hooks/post-checkout");
    fs::write(&hook, format!("#!/bin/sh\ntouch {}/hook\n", sandbox.desk())).expect("a hook");
    let _ = sandbox.shell("chmod +x .git/hooks/post-checkout").exits(0);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    sandbox.wait_for_worker("alpha", "1");
    assert!(!sandbox.desk().join("hook").exists());
}

#[test]
fn attributes_and_modes_are_honoured_by_the_checkout() {
    let sandbox = sandbox(&single());
    sandbox.write(".gitattributes", "*.crlf eol=crlf\n");
    sandbox.write("lines.crlf", "one\ntwo\n");
    sandbox.write("run.sh", "#!/bin/sh\n");
    let _ = sandbox
        .shell("chmod +x run.sh && ln -s run.sh link && git add . && git commit -qm files")
        .exits(0);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(sandbox.read(&format!("{PLACE}/lines.crlf")), "one\r\ntwo\r\n");
    assert!(sandbox.path(&format!("{PLACE}/link")).is_symlink());
    let _ = sandbox.shell(&format!("test -x {PLACE}/run.sh")).exits(0);
    assert_eq!(sandbox.git_in(&sandbox.path(PLACE), &["status", "--porcelain"]), "");
}
