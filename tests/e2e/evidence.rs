//! What counts as done, what as in progress, and what as neither (architecture §7).

use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_testkit::bundle::BundleFixture;

use crate::{PROGRAM, alpha, check, sandbox, single, state_of};

const BRANCH: &str = "planwright/alpha/task-1";

/// A sandbox in which the worker of task 1 has committed one file with that message, and ended.
fn worked(bundle: &BundleFixture, message: &str) -> Sandbox {
    let sandbox = sandbox(bundle);
    sandbox.act_commit("1", message);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(state_of(&sandbox, "1"), "in progress: 1 commit on task-1, not on main");
    sandbox
}

/// Makes git's answers in a state the same on every run.
fn shown(state: &str) -> String {
    let hex = |word: &str| word.len() == 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words: Vec<&str> = state
        .split(' ')
        .map(|word| if hex(word) { "[SHORT]" } else { word })
        .collect();
    words.join(" ")
}

#[test]
fn a_trailer_in_the_last_paragraph_lands_and_the_dependent_follows() {
    let sandbox = worked(&alpha(), "work\n\nPlanwright-Task: alpha/1\n");
    let _ = sandbox.git(&["merge", "--quiet", "--squash", BRANCH]);
    let _ = sandbox.commit_all("part 1 (#7)\n\nText.\n\nPlanwright-Task: alpha/1\nSigned-off-by: A <a@b>\n");
    assert_eq!(shown(&state_of(&sandbox, "1")), "landed: trailer in [SHORT] on main");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 2");
    sandbox.wait_for_worker("alpha", "2");
    assert!(
        sandbox.path(".claude/worktrees/alpha-task-2/part-1.txt").is_file(),
        "it starts from the landed work"
    );
}

/// Verifies REQ-C1.3.
#[test]
fn a_fast_forward_or_a_merge_without_a_trailer_lands_by_own_commits() {
    for merge in [
        ["merge", "--quiet", "--ff-only", BRANCH],
        ["merge", "--quiet", "--no-ff", BRANCH],
    ] {
        let sandbox = worked(&single(), "work without a trailer\n");
        let _ = sandbox.git(&merge);
        assert_eq!(
            state_of(&sandbox, "1"),
            "landed: 1 own commit of task-1 on main",
            "{merge:?}"
        );
        let _ = sandbox
            .orchestrate(&["alpha", "--detailed-exitcode"])
            .exits(10)
            .says("all 1 tasks have landed");
        assert_eq!(
            sandbox.refs("refs/heads/planwright"),
            [format!("refs/heads/{BRANCH}")],
            "the branch is kept"
        );
    }
}

#[test]
fn more_commits_after_a_merge_are_in_progress_again() {
    let sandbox = worked(&single(), "work\n");
    let _ = sandbox.git(&["merge", "--quiet", "--no-ff", BRANCH]);
    let worktree = sandbox.path(".claude/worktrees/alpha-task-1");
    let _ = sandbox.commit_all_in(&worktree, "more work");
    assert_eq!(state_of(&sandbox, "1"), "in progress: 1 commit on task-1, not on main");
}

#[test]
fn a_landing_without_a_trailer_is_never_dispatched_again() {
    let squashed = worked(&single(), "work\n");
    let _ = squashed.git(&["merge", "--quiet", "--squash", BRANCH]);
    let _ = squashed.commit_all("part 1 without a trailer");
    let rebased = worked(&single(), "work\n");
    let _ = rebased.commit_all("something between");
    let _ = rebased.git(&["cherry-pick", BRANCH]);
    let changed = worked(&single(), "work\n");
    let _ = changed.git(&["merge", "--quiet", "--squash", BRANCH]);
    changed.write("part-1.txt", "changed in review\n");
    let _ = changed.commit_all("part 1, changed, without a trailer");
    let deleted = worked(&single(), "work\n");
    let _ = deleted.git(&["merge", "--quiet", "--ff-only", BRANCH]);
    let _ = deleted.git(&["worktree", "remove", ".claude/worktrees/alpha-task-1"]);
    let _ = deleted.git(&["branch", "--quiet", "--delete", BRANCH]);
    for (sandbox, state) in [
        (squashed, "landed"),
        (rebased, "landed"),
        (changed, "in progress"),
        (deleted, "held"),
    ] {
        assert!(
            state_of(&sandbox, "1").starts_with(state),
            "{}",
            state_of(&sandbox, "1")
        );
        let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(10);
        assert_eq!(sandbox.starts(), ["alpha 1"]);
    }
}

/// Verifies REQ-C1.3.
#[test]
fn a_branch_without_commits_is_no_evidence_even_after_a_foxtrot_merge() {
    let sandbox = sandbox(&single());
    let _ = sandbox.git(&["branch", BRANCH, "main"]);
    // Main becomes the second parent of its own next commit, and the task branch an ancestor of it.
    let _ = sandbox.git(&["switch", "--quiet", "--create", "side", "main~1"]);
    let _ = sandbox.commit_all("on the side");
    let _ = sandbox.git(&["merge", "--quiet", "--no-ff", "--message", "foxtrot", "main"]);
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    let _ = sandbox.git(&["merge", "--quiet", "--ff-only", "side"]);
    assert_eq!(state_of(&sandbox, "1"), "ready");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(
        sandbox.commit_of(BRANCH),
        sandbox.commit_of("main"),
        "it starts where main is now"
    );
}

#[test]
fn a_contained_branch_of_unknown_start_is_held() {
    let sandbox = sandbox(&single());
    let _ = sandbox.git(&["-c", "core.logAllRefUpdates=false", "branch", BRANCH, "main"]);
    let before = sandbox.listing();
    check!(sandbox, sandbox.orchestrate(&["alpha", "--detailed-exitcode"]), @r"
        exit 12
        --- out
        held: cannot tell what is done of task 1: branch task-1 at [SHORT] is contained in main, but where it started is not recorded (the reflog does not tell how it came to be where it is); nothing was dispatched
        hint: delete the branch if its work never landed, or land a commit with the task's trailer
        ");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
}

/// Verifies REQ-C1.2.
#[test]
fn where_a_trailer_counts_and_where_it_does_not() {
    let trailer = "Planwright-Task: alpha/1";
    let cases = [
        ("last paragraph", format!("s\n\n{trailer}\n"), true),
        (
            "last paragraph, other case",
            "s\n\nplanwright-task:   alpha/1  \n".to_owned(),
            true,
        ),
        (
            "squash: middle of the body",
            format!("s\n\n* one\n\n{trailer}\n\n* two\n\nmore text\n"),
            true,
        ),
        ("fence", format!("s\n\n```\n\n{trailer}\n\n```\n\nend\n"), false),
        (
            "fence without blank lines",
            format!("s\n\n```\n{trailer}\n```\n"),
            false,
        ),
        ("tilde fence", format!("s\n\n~~~\n\n{trailer}\n\n~~~\n\nend\n"), false),
        ("quote", format!("s\n\n> {trailer}\n"), false),
        ("indented", format!("s\n\n    {trailer}\n"), false),
        (
            "in a sentence's paragraph",
            format!("s\n\nThis is not done:\n{trailer}\nbut nearly.\n\nend\n"),
            false,
        ),
        ("subject", format!("{trailer}\n"), false),
        ("another spec", "s\n\nPlanwright-Task: beta/1\n".to_owned(), false),
        ("another task", "s\n\nPlanwright-Task: alpha/11\n".to_owned(), false),
    ];
    for (case, message, lands) in cases {
        let sandbox = sandbox(&single());
        let _ = sandbox.commit_all(&message);
        let state = state_of(&sandbox, "1");
        assert_eq!(state.starts_with("landed: trailer"), lands, "{case}: {state}");
        let _ = sandbox
            .orchestrate(&["alpha", "--dry-run", "--detailed-exitcode"])
            .exits(if lands { 10 } else { 0 });
    }
}

#[test]
fn a_trailer_in_the_middle_of_a_merge_commits_message_does_not_count() {
    let sandbox = sandbox(&single());
    let _ = sandbox.git(&["switch", "--quiet", "--create", "side"]);
    let _ = sandbox.commit_all("on the side");
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    let message = "merge\n\nPlanwright-Task: alpha/1\n\nnot what was merged\n";
    let _ = sandbox.git(&["merge", "--quiet", "--no-ff", "--message", message, "side"]);
    assert_eq!(state_of(&sandbox, "1"), "ready");
}

#[test]
fn a_malformed_trailer_is_told_and_lands_nothing() {
    let sandbox = sandbox(&single());
    let _ = sandbox.commit_all("s\n\nPlanwright-Task: alpha/\u{1b}[31m1\n");
    let output = sandbox
        .orchestrate(&["alpha", "--dry-run"])
        .exits(0)
        .says("would dispatch alpha task 1");
    assert!(
        output.stderr.contains("names no task") && !output.text().contains('\u{1b}'),
        "{output}"
    );
}

/// Verifies REQ-C1.9.
#[test]
fn a_bundle_branch_speaks_for_both_its_tasks() {
    let sandbox = sandbox(&alpha());
    let branch = "planwright/alpha/task-1-2";
    let _ = sandbox.git(&["switch", "--quiet", "--create", branch]);
    sandbox.write("both.txt", "both\n");
    let _ = sandbox.commit_all("both parts");
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    for task in ["1", "2"] {
        assert_eq!(
            state_of(&sandbox, task),
            "in progress: 1 commit on task-1-2, not on main"
        );
    }
    let _ = sandbox
        .orchestrate(&["alpha", "--dry-run"])
        .says("would dispatch alpha task 3");
    let _ = sandbox.git(&["merge", "--quiet", "--no-ff", branch]);
    for task in ["1", "2"] {
        assert_eq!(state_of(&sandbox, task), "landed: 1 own commit of task-1-2 on main");
    }
}

/// Verifies REQ-C1.9.
#[test]
fn a_branch_pushed_from_another_clone_is_in_progress() {
    let sandbox = sandbox(&single());
    sandbox.add_origin();
    let clone = sandbox.clone_origin("clone", &[]);
    let _ = sandbox.git_in(&clone, &["switch", "--quiet", "--create", BRANCH]);
    let _ = sandbox.commit_all_in(&clone, "work elsewhere");
    let _ = sandbox.git_in(&clone, &["push", "--quiet", "origin", BRANCH]);
    let _ = sandbox.orchestrate(&["plumbing", "dispatch-fetch", "."]).exits(0);
    assert_eq!(
        state_of(&sandbox, "1"),
        "in progress: 1 commit on origin's task-1, not on main"
    );
    let before = sandbox.listing();
    let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(10);
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
    assert_eq!(sandbox.starts(), [""; 0]);
}

#[test]
fn a_worker_that_runs_after_its_work_landed_is_shown() {
    let sandbox = sandbox(&alpha());
    sandbox.close_gate("1");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    let worker = sandbox.worker_at_gate("1");
    assert!(state_of(&sandbox, "1").starts_with("running: a worker runs (pid "));
    let _ = sandbox.commit_all("part 1\n\nPlanwright-Task: alpha/1\n");
    assert_eq!(
        shown(&state_of(&sandbox, "1")),
        "landed: trailer in [SHORT] on main, a worker still runs"
    );
    drop(worker);
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(shown(&state_of(&sandbox, "1")), "landed: trailer in [SHORT] on main");
}

/// Verifies REQ-C1.5.
#[test]
fn a_worker_that_ends_without_a_commit_is_held_for_a_person() {
    for (act, end) in [("", "exit 0"), ("exit 3\n", "exit 3"), ("kill -9 $$\n", "signal 9")] {
        let sandbox = sandbox(&single());
        sandbox.act("1", act);
        let _ = sandbox.orchestrate(&["alpha"]).exits(0);
        sandbox.wait_for_worker("alpha", "1");
        assert_eq!(
            state_of(&sandbox, "1"),
            format!("held: its worker ended and left no commit on its branch ({end})")
        );
        for _ in 0..3 {
            let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(10);
        }
        assert_eq!(sandbox.starts(), ["alpha 1"]);
        let _ = sandbox
            .orchestrate(&["status", "alpha"])
            .exits(0)
            .says("orchestrate-marker clear specs/alpha 1");
        let _ = sandbox
            .orchestrate(&["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"])
            .exits(0);
        let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
        sandbox.wait_for_worker("alpha", "1");
        assert_eq!(sandbox.starts(), ["alpha 1", "alpha 1"]);
    }
}

/// Verifies REQ-C1.7.
#[test]
fn in_a_shallow_clone_an_absent_trailer_is_unknown_and_a_present_one_counts() {
    let sandbox = sandbox(&alpha());
    let _ = sandbox.commit_all("part 3\n\nPlanwright-Task: alpha/3\n");
    let _ = sandbox.commit_all("later");
    let _ = sandbox.commit_all("part 1\n\nPlanwright-Task: alpha/1\n");
    sandbox.add_origin();
    let clone = sandbox.clone_origin("clone", &["--depth=1"]);
    std::fs::create_dir_all(clone.join(".claude")).expect("a directory");
    std::fs::copy(
        sandbox.path(".claude/planwright.local.yml"),
        clone.join(".claude/planwright.local.yml"),
    )
    .expect("copied");
    let output = sandbox.orchestrate_in(&clone, &["status", "alpha"]);
    check!(sandbox, output, @r"
        exit 0
        --- out
        alpha · Ready · 1 of 3 landed · 2 unknown

          1  first part   landed   trailer in [SHORT] on main, [AGE]
          2  second part  unknown  the clone is shallow, so a landing could be unseen
                                   → git fetch --unshallow
          3  third part   unknown  the clone is shallow, so a landing could be unseen
                                   → git fetch --unshallow

        next: nothing is ready · critical path 1 → 2
        base main at [SHORT] · 1 commit walked, more are missing · no request: origin is on no forge
        ");
    check!(sandbox, sandbox.orchestrate_in(&clone, &["alpha", "--detailed-exitcode"]), @r"
        exit 12
        --- out
        held: cannot tell what is done: the clone is shallow, so a landing could be unseen; nothing was dispatched
        hint: git fetch --unshallow
        ");
    let _ = sandbox.git_in(&clone, &["fetch", "--quiet", "--unshallow"]);
    let _ = sandbox
        .orchestrate_in(&clone, &["alpha", "--dry-run"])
        .exits(0)
        .says("would dispatch alpha task 2");
    assert_eq!(sandbox.starts(), [""; 0]);
}

/// A sandbox with an origin, and two tasks in a row.
fn chain_with_origin() -> Sandbox {
    let bundle = BundleFixture::new("alpha")
        .task("1", "first", &[], "1 day")
        .task("2", "second", &["1"], "1 day");
    let sandbox = sandbox(&bundle);
    sandbox.add_origin();
    sandbox
}

/// Verifies REQ-D1.3.
#[test]
fn what_landed_at_origin_is_fetched_and_built_upon_while_the_local_main_stays() {
    let sandbox = chain_with_origin();
    let clone = sandbox.clone_origin("clone", &[]);
    let landed = sandbox.commit_all_in(&clone, "part 1\n\nPlanwright-Task: alpha/1\n");
    let _ = sandbox.git_in(&clone, &["push", "--quiet", "origin", "main"]);
    let main = sandbox.commit_of("refs/heads/main");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 2");
    sandbox.wait_for_worker("alpha", "2");
    assert_eq!(sandbox.starts(), ["alpha 2"]);
    assert_eq!(sandbox.commit_of("refs/heads/planwright/alpha/task-2"), landed);
    assert_eq!(sandbox.commit_of("refs/heads/main"), main);
}

/// Verifies REQ-D1.3.
#[test]
fn a_dependency_that_landed_only_here_holds_until_origin_has_it() {
    let sandbox = chain_with_origin();
    let _ = sandbox.commit_all("part 1\n\nPlanwright-Task: alpha/1\n");
    check!(sandbox, sandbox.orchestrate(&["alpha", "--detailed-exitcode"]), @r"
        exit 12
        --- out
        held: dependency 1 landed in [SHORT], which is not in origin's main at [SHORT]; nothing was dispatched
        hint: bring it there: merge its pull request, or push the branch it landed on
        ");
    let _ = sandbox.git(&["push", "--quiet", "origin", "main"]);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 2");
    sandbox.wait_for_worker("alpha", "2");
    assert_eq!(sandbox.starts(), ["alpha 2"]);
}

/// Verifies REQ-D1.3.
#[test]
fn a_stale_local_main_completes_nothing() {
    let sandbox = sandbox(&single());
    sandbox.add_origin();
    let clone = sandbox.clone_origin("clone", &[]);
    let _ = sandbox.commit_all_in(&clone, "unrelated");
    let _ = sandbox.git_in(&clone, &["push", "--quiet", "origin", "main"]);
    let _ = sandbox.git(&["fetch", "--quiet", "origin"]);
    // The branch starts at origin's main, ahead of the local one, and has no commit of its own.
    let _ = sandbox.git(&["branch", "--no-track", BRANCH, "origin/main"]);
    assert_eq!(state_of(&sandbox, "1"), "ready");
    let _ = sandbox.git(&["update-ref", "-d", &format!("refs/heads/{BRANCH}")]);
    // A branch of work that is on no main.
    let _ = sandbox.git(&["switch", "--quiet", "--no-track", "--create", BRANCH, "origin/main"]);
    let _ = sandbox.commit_all("work");
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    assert_eq!(state_of(&sandbox, "1"), "in progress: 1 commit on task-1, not on main");
}

#[test]
fn a_repository_without_commits_of_the_spec_history_is_walked_whole() {
    let sandbox = Sandbox::empty(PROGRAM);
    sandbox.initialise(&[]);
    let _ = sandbox.commit_all("before the spec\n\nPlanwright-Task: alpha/1\n");
    sandbox.add_bundle(&single());
    sandbox.configure("");
    assert_eq!(shown(&state_of(&sandbox, "1")), "landed: trailer in [SHORT] on main");
}
