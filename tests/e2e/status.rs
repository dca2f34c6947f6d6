//! `orchestrate status`: why each task is where it is.

use orchestrate_testkit::bundle::BundleFixture;

use crate::{alpha, check, sandbox, single};

/// Verifies REQ-C4.1.
#[test]
fn every_state_says_why() {
    let bundle = BundleFixture::new("alpha")
        .task("1", "landed part", &[], "1 day")
        .task("2", "committed part", &[], "1 day")
        .task("3", "running part", &[], "3 days")
        .task(
            "4",
            "blocked part with a title that is far too long for one line of a terminal",
            &["2", "3"],
            "1 day",
        )
        .task("5", "free part", &["1"], "1 day")
        .task("6", "parked part", &[], "1 day")
        .deferred("6", "until the vendor answers");
    let sandbox = sandbox(&bundle);
    let _ = sandbox.commit_all("one\n\nPlanwright-Task: alpha/1\n");
    let _ = sandbox.git(&["switch", "--quiet", "--create", "planwright/alpha/task-2"]);
    let _ = sandbox.commit_all("two");
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    sandbox.close_gate("3");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 3");
    let worker = sandbox.worker_at_gate("3");
    let before = sandbox.listing();
    check!(sandbox, sandbox.orchestrate(&["status", "alpha"]), @r"
        exit 0
        --- out
        alpha · Ready · 1 of 6 landed · 1 running · 1 in progress · 1 parked

          1  landed part                       landed       trailer in [SHORT] on main, [AGE]
          2  committed part                    in progress  1 commit on task-2, not on main, [AGE]
             → review planwright/alpha/task-2, and merge it into main
          3  running part                      running      a worker runs (pid [PID]), [AGE]
          4  blocked part wit…e of a terminal  blocked      needs 2 (in progress) and 3 (running)
          5  free part                         ready        next
          6  parked part                       parked       Deferred — until the vendor answers

        next: 5 · critical path 3 → 4
        base main at [SHORT] · 3 commits walked · no request: there is no origin
        ");
    assert_eq!(sandbox.changes_since(&before), [""; 0], "status writes nothing");
    drop(worker);
    sandbox.wait_for_worker("alpha", "3");
}

/// Verifies REQ-C2.2.
#[test]
fn a_parked_task_is_never_dispatched_and_may_still_land() {
    let bundle = BundleFixture::new("alpha")
        .task("1", "deferred", &[], "1 day")
        .task("2", "out of scope", &[], "1 day")
        .task("3", "waits for input", &[], "1 day")
        .deferred("1", "later")
        .out_of_scope("2", "never")
        .awaiting("3", "a decision");
    let sandbox = sandbox(&bundle);
    let before = sandbox.listing();
    check!(sandbox, sandbox.orchestrate(&["alpha", "--detailed-exitcode"]), @r"
        exit 10
        --- out
        nothing to dispatch: nothing is ready
          3     parked: Awaiting input — a decision
        ");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
    let _ = sandbox.commit_all("one\n\nPlanwright-Task: alpha/1\n");
    let _ = sandbox.orchestrate(&["status", "alpha"]).exits(0).says("1 of 3 landed");
}

/// Verifies REQ-C4.1.
#[test]
fn status_works_over_a_draft_and_over_degraded_evidence() {
    let sandbox = sandbox(&alpha());
    let tasks = sandbox
        .read("specs/alpha/requirements.md")
        .replace("**Status:** Ready", "**Status:** Draft");
    sandbox.write("specs/alpha/requirements.md", &tasks);
    let _ = sandbox.orchestrate(&["status", "alpha"]).exits(0).says("Draft");
    sandbox.write(".git/orchestrate/dispatch/alpha", "no directory\n");
    let _ = sandbox.orchestrate(&["status", "alpha"]).exits(0).says("unknown");
}

/// Verifies REQ-F1.3.
#[test]
fn an_unknown_spec_is_named_with_those_that_are_there() {
    let sandbox = sandbox(&alpha());
    check!(sandbox, sandbox.orchestrate(&["status", "alpah"]), @r"
        exit 2
        --- err
        error: there is no specs/alpah
        hint: did you mean specs/alpha?
        ");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let sandbox = sandbox(&alpha());
    let output = sandbox.shell("orchestrate status alpha | head -c 1").exits(0);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("a", ""));
}

/// What a step would be stopped by, status says too.
#[test]
fn a_spec_whose_sign_off_does_not_hold_has_no_next_task() {
    let sandbox = sandbox(&alpha());
    let _ = sandbox.orchestrate(&["status", "alpha"]).exits(0).says("next: 1 ");
    let text = sandbox.read("specs/alpha/requirements.md");
    sandbox.write(
        "specs/alpha/requirements.md",
        &text.replace("## Goal", "## Goal\n\nMore than was signed."),
    );
    let _ = sandbox.commit_all("docs: more");
    let output = sandbox.orchestrate(&["status", "alpha"]).exits(0);
    assert!(output.to_string().contains("next: nothing, "), "{output}");
    let _ = output.says("→ review the change and sign it: orchestrate sign specs/alpha");
    let value = sandbox
        .orchestrate(&["status", "alpha", "--format", "json"])
        .exits(0)
        .json();
    assert!(value["closed"].is_string() && value["remedy"].is_string(), "{value}");
    let _ = sandbox.orchestrate(&["alpha"]).exits(4);
}

/// A person is asked whether somebody works on it: a process in its worktree is the answer.
#[test]
fn who_works_in_the_worktree_of_a_held_unit_is_named() {
    let sandbox = sandbox(&single());
    sandbox.act("1", "exit 0");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    sandbox.wait_for_worker("alpha", "1");
    let worktree = sandbox.path(".claude/worktrees/alpha-task-1");
    let inside = sandbox.start_program("tail", &worktree, &["-f", "/dev/null"]);
    // Where lines break depends on the length of the process's id.
    for columns in ["100", "40"] {
        let output = sandbox.orchestrate_with(&sandbox.repository(), &["status", "alpha"], &[("COLUMNS", columns)]);
        let text = output.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = format!(
            "held processes still run in its worktree: pid {} (tail); its worker ended and left no commit on its branch \
             (exit 0), ",
            inside.pid()
        );
        assert!(text.contains(&said), "{output}");
        let hint = "→ let them end, or end them; then look at .git/orchestrate/logs/alpha-task-1.log, then let it be \
                    dispatched again: orchestrate plumbing orchestrate-marker clear specs/alpha 1";
        assert!(text.contains(hint), "{output}");
        let width: usize = columns.parse().expect("a number");
        let too_wide = output.stdout.lines().filter(|line| line.chars().count() > width);
        assert!(too_wide.into_iter().all(|line| !line.trim().contains(' ')), "{output}");
    }
    let value = sandbox
        .orchestrate(&["status", "alpha", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(
        value["tasks"][0]["occupants"][0],
        format!("pid {} (tail)", inside.pid())
    );
    inside.kill();
    let output = sandbox.orchestrate(&["status", "alpha"]).exits(0);
    assert!(!output.stdout.contains("processes still run"), "{output}");
}

/// What a worker left lying in the worktree is said where the task is held, and not only once it was given free.
/// Verifies REQ-F2.1.
#[test]
fn what_lies_in_the_worktree_of_a_held_task_is_said() {
    for (act, said, helps) in [
        (
            "echo precious > new.txt\n",
            ".claude/worktrees/alpha-task-1 holds uncommitted work: new.txt",
            "commit it on the unit's branch, or move it away; then look at",
        ),
        (
            "cd .. && mv alpha-task-1 moved\n",
            "its directory is gone",
            "if it was removed on purpose: git worktree remove .claude/worktrees/alpha-task-1; then look at",
        ),
    ] {
        let sandbox = sandbox(&crate::single());
        sandbox.act("1", act);
        let _ = sandbox.orchestrate(&["alpha"]).exits(0);
        sandbox.wait_for_worker("alpha", "1");
        let shown = sandbox
            .orchestrate(&["status", "alpha", "--format", "json"])
            .exits(0)
            .json();
        let task = &shown["tasks"][0];
        let (detail, hint) = (&task["detail"], &task["hint"]);
        assert_eq!(task["state"], "held", "{task}");
        let detail = detail.as_str().expect("a detail");
        assert!(
            detail.starts_with("its worker ended and left no commit") && detail.contains(said),
            "{detail}"
        );
        assert!(hint.as_str().is_some_and(|hint| hint.contains(helps)), "{hint}");
    }
}
