//! The sweep: orphans and halts are parked once, version 1 is placed, what has landed is cleaned up.

use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_testkit::bundle::BundleFixture;

use crate::{alpha, check, sandbox, single};

const RECORD: &str = ".git/orchestrate/dispatch/alpha/1.json";
const LAUNCH: &str = ".git/orchestrate/dispatch/alpha/1.launch.json";

/// Lets the records and markers of a unit look two days older.
fn age(sandbox: &Sandbox, unit: &str) {
    for name in [format!("{unit}.json"), format!("{unit}.launch.json")] {
        let path = format!(".git/orchestrate/dispatch/alpha/{name}");
        let text = sandbox.read(&path);
        let aged: Vec<String> = text
            .lines()
            .map(|line| {
                let is_time = ["\"dispatched\"", "\"launched\"", "\"at\""]
                    .iter()
                    .any(|key| line.trim_start().starts_with(key));
                match line.split_once(": \"").filter(|_| is_time) {
                    Some((key, rest)) => format!("{key}: \"2026-01-02T03:04:05Z{}", &rest[20..]),
                    None => line.to_owned(),
                }
            })
            .collect();
        sandbox.write(&path, &(aged.join("\n") + "\n"));
    }
    for home in [
        "specs/alpha/.orchestrate/markers",
        ".git/planwright/orchestrate/alpha/markers",
    ] {
        sandbox.write(&format!("{home}/{unit}"), "1767323045\n");
    }
}

/// A dispatched unit whose worker ended long ago and left nothing.
fn orphaned(bundle: &BundleFixture) -> Sandbox {
    let sandbox = sandbox(bundle);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    age(&sandbox, "1");
    sandbox
}

fn bullets(sandbox: &Sandbox) -> usize {
    sandbox.read("specs/alpha/tasks.md").matches("- **Task 1** — ").count()
}

/// Verifies REQ-C3.4.
#[test]
fn an_orphan_is_parked_once_and_comes_back_when_it_is_unparked() {
    let sandbox = orphaned(&single());
    let head = sandbox.commit_of("HEAD");
    check!(sandbox, sandbox.orchestrate(&["alpha", "--dry-run"]), @r"
        exit 4
        --- out
        would park task 1 under Awaiting input
          ended and left no commit on its branch: command worker pid [PID] (exit 0), last activity [TIME]; re-dispatch is a human decision: look at .git/orchestrate/logs/alpha-task-1.log, then orchestrate unpark alpha 1
        nothing was written; such a step dispatches nothing, and the next one goes on
        ");
    assert_eq!(bullets(&sandbox), 0);
    check!(sandbox, sandbox.orchestrate(&["alpha"]), @r"
        exit 4
        --- out
        parked task 1 under Awaiting input
          ended and left no commit on its branch: command worker pid [PID] (exit 0), last activity [TIME]; re-dispatch is a human decision: look at .git/orchestrate/logs/alpha-task-1.log, then orchestrate unpark alpha 1
        nothing was committed, and nothing was dispatched; the next step goes on
        ");
    assert_eq!(bullets(&sandbox), 1);
    let _ = sandbox
        .orchestrate(&["alpha", "--detailed-exitcode"])
        .exits(10)
        .says("1     parked: Awaiting input");
    assert_eq!((bullets(&sandbox), sandbox.starts().len()), (1, 1));
    assert_eq!(sandbox.commit_of("HEAD"), head, "nothing is committed");
    let _ = sandbox.orchestrate(&["unpark", "alpha", "1"]).exits(0);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    assert_eq!(bullets(&sandbox), 0);
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(sandbox.starts(), ["alpha 1", "alpha 1"]);
}

/// Verifies REQ-C3.4.
#[test]
fn what_is_young_or_lives_or_left_something_is_not_parked() {
    let young = sandbox(&single());
    let _ = young.orchestrate(&["alpha"]).exits(0);
    young.wait_for_worker("alpha", "1");
    let _ = young.orchestrate(&["alpha"]).exits(0);
    assert_eq!(bullets(&young), 0);

    let living = sandbox(&single());
    living.close_gate("1");
    let _ = living.orchestrate(&["alpha"]).exits(0);
    let worker = living.worker_at_gate("1");
    age(&living, "1");
    let _ = living.orchestrate(&["alpha"]).exits(0);
    assert_eq!(bullets(&living), 0);
    drop(worker);
    living.wait_for_worker("alpha", "1");

    let committed = sandbox(&single());
    committed.act_commit("1", "work\n");
    let _ = committed.orchestrate(&["alpha"]).exits(0);
    committed.wait_for_worker("alpha", "1");
    age(&committed, "1");
    let _ = committed.orchestrate(&["alpha"]).exits(0);
    assert_eq!(bullets(&committed), 0);

    let unread = orphaned(&single());
    unread.write(LAUNCH, "{");
    let _ = unread.orchestrate(&["alpha"]).exits(0);
    assert_eq!(bullets(&unread), 0);

    // What it did may lie at origin.
    let away = orphaned(&single());
    away.add_origin();
    let _ = away.git(&["remote", "set-url", "origin", "/no/such/place"]);
    let _ = away.orchestrate(&["alpha"]).exits(0);
    assert_eq!(bullets(&away), 0);
    let origin = away.root().join("origin.git");
    let _ = away.git(&["remote", "set-url", "origin", origin.as_str()]);
    let _ = away.orchestrate(&["alpha"]).exits(4);
    assert_eq!(bullets(&away), 1);

    let pushed = orphaned(&single());
    pushed.add_origin();
    let _ = pushed.git(&["push", "--quiet", "origin", "planwright/alpha/task-1"]);
    let _ = pushed.orchestrate(&["alpha"]).exits(0);
    assert_eq!(bullets(&pushed), 0);
}

/// Law L12: the loop parks the one and dispatches the other.
/// Verifies REQ-C3.4.
#[test]
fn a_loop_goes_on_with_the_others() {
    let two = BundleFixture::new("alpha")
        .task("1", "first", &[], "2 days")
        .task("2", "second", &[], "1 day");
    let sandbox = orphaned(&two);
    let output = sandbox.orchestrate(&["alpha", "--watch"]).exits(4);
    assert!(output.stdout.contains("parked task 1 under Awaiting input"), "{output}");
    assert!(output.stdout.contains("dispatched alpha task 2"), "{output}");
    sandbox.wait_for_worker("alpha", "2");
    assert_eq!(bullets(&sandbox), 1);
}

/// Verifies REQ-D2.3.
#[test]
fn a_halt_is_recorded_once_and_only_when_nothing_else_is_ready() {
    let sandbox = sandbox(&alpha());
    sandbox.act("1", "echo precious > new.txt\n");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    let _ = sandbox
        .orchestrate(&["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"])
        .exits(0);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 3");
    sandbox.wait_for_worker("alpha", "3");
    assert_eq!(bullets(&sandbox), 0);
    check!(sandbox, sandbox.orchestrate(&["alpha"]), @r"
        exit 4
        --- out
        halted: .claude/worktrees/alpha-task-1 holds uncommitted work: new.txt
        hint: commit it on the unit's branch, or move it away
        parked task 1 under Awaiting input
          when that is done: orchestrate unpark alpha 1
        nothing was committed, and nothing was dispatched; the next step goes on
        ");
    for _ in 0..2 {
        let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    }
    assert_eq!(bullets(&sandbox), 1);
    assert!(sandbox.path(".claude/worktrees/alpha-task-1/new.txt").is_file());
    // What stands in the way is still there: it is told again, once.
    let _ = sandbox.orchestrate(&["unpark", "alpha", "1"]).exits(0);
    let _ = sandbox.orchestrate(&["alpha"]).exits(4).says("holds uncommitted work");
    assert_eq!(bullets(&sandbox), 1);
    let _ = sandbox.shell("rm .claude/worktrees/alpha-task-1/new.txt").exits(0);
    let _ = sandbox.orchestrate(&["unpark", "alpha", "1"]).exits(0);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
}

/// What somebody is at work on, or what the machine refuses, is told, and parks nothing.
/// Verifies REQ-D2.3.
#[test]
fn what_concerns_every_unit_parks_none() {
    let sandbox = sandbox(&single());
    sandbox.write(
        "specs/alpha/design.md",
        &(sandbox.read("specs/alpha/design.md") + "\nMore.\n"),
    );
    let _ = sandbox.orchestrate(&["alpha", "--unattended"]).exits(4);
    assert_eq!(bullets(&sandbox), 0);
    assert_eq!(
        sandbox.git(&["status", "--porcelain"]).trim(),
        "M specs/alpha/design.md"
    );
    let _ = sandbox.git(&["checkout", "--quiet", "--", "specs"]);
    std::fs::create_dir_all(sandbox.path(".claude/doctrine.local/execute-task.md")).expect("a directory");
    let _ = sandbox.orchestrate(&["alpha", "--unattended"]).exits(4);
    assert_eq!(bullets(&sandbox), 0);
}

#[test]
fn what_has_landed_by_its_trailer_is_cleaned_up() {
    let sandbox = sandbox(&alpha());
    sandbox.act_commit("1", "work\n\nPlanwright-Task: alpha/1\n");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    sandbox.wait_for_worker("alpha", "1");
    let _ = sandbox.git(&["merge", "--quiet", "--no-ff", "planwright/alpha/task-1"]);
    assert!(sandbox.path(RECORD).is_file());
    let _ = sandbox.orchestrate(&["alpha", "--dry-run"]).exits(0);
    assert!(sandbox.path(RECORD).is_file());
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 2");
    for gone in [RECORD, LAUNCH, "specs/alpha/.orchestrate/markers/1"] {
        assert!(!sandbox.path(gone).exists(), "{gone}");
    }
    assert!(!sandbox.path(".claude/worktrees/alpha-task-1").exists());
    assert_eq!(sandbox.refs("refs/heads/planwright/alpha/task-1").len(), 1);
    sandbox.wait_for_worker("alpha", "2");
}

/// What a landing can only be seen by stays (law L4).
#[test]
fn records_stay_where_a_landing_is_seen_by_them() {
    let sandbox = sandbox(&alpha());
    sandbox.act_commit("1", "work\n");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    sandbox.wait_for_worker("alpha", "1");
    let _ = sandbox.git(&["merge", "--quiet", "--no-ff", "planwright/alpha/task-1"]);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 2");
    assert!(sandbox.path(RECORD).is_file());
    // The worktree is evidence of nothing.
    assert!(!sandbox.path(".claude/worktrees/alpha-task-1").exists());
    sandbox.wait_for_worker("alpha", "2");
}

fn section_of(sandbox: &Sandbox, task: &str) -> String {
    let text = sandbox.read("specs/alpha/tasks.md");
    let heading = format!("\n### Task {task} ");
    let before = text.split(&heading).next().unwrap_or_default();
    let (_, section) = before.rsplit_once("\n## ").expect("a section");
    section.lines().next().unwrap_or_default().to_owned()
}

/// Version 1: a step that moved a block dispatches nothing, the next one does (law L7).
#[test]
fn version_1_is_placed_step_by_step() {
    let sandbox = sandbox(&alpha().of_version_1());
    sandbox.act_commit("1", "work\n\nPlanwright-Task: alpha/1\n");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(section_of(&sandbox, "1"), "Forward plan");
    check!(sandbox, sandbox.orchestrate(&["alpha"]), @r"
        exit 0
        --- out
        brought up to date in specs/alpha, by the evidence: requirements.md, design.md, tasks.md, test-spec.md
        nothing was committed, and nothing was dispatched; the next step goes on
        ");
    assert_eq!(section_of(&sandbox, "1"), "In progress");
    assert!(
        sandbox
            .read("specs/alpha/requirements.md")
            .contains("**Status:** Active")
    );
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 3");
    sandbox.wait_for_worker("alpha", "3");
    age(&sandbox, "3");
    let _ = sandbox.git(&["stash", "--quiet"]);
    let _ = sandbox.git(&["merge", "--quiet", "--no-ff", "planwright/alpha/task-1"]);
    let _ = sandbox.git(&["stash", "pop", "--quiet"]);
    let _ = sandbox.orchestrate(&["alpha"]).exits(4).says("parked task 3");
    assert_eq!(section_of(&sandbox, "1"), "Completed");
    assert_eq!(section_of(&sandbox, "3"), "Awaiting input");
    let parked = crate::state_of(&sandbox, "3");
    assert!(parked.starts_with("parked: Awaiting input — ended and"), "{parked}");
    let shown = sandbox.orchestrate(&["status", "alpha"]).exits(0).stdout;
    assert!(
        !shown.contains("marker clear"),
        "it would not give a parked task back: {shown}"
    );
    let text = sandbox.read("specs/alpha/tasks.md");
    assert!(text.contains("- **Status:** Completed · merged 2026-"), "{text}");
    assert!(
        text.contains("- **Status:** awaiting input — ended and left no commit on its branch: "),
        "{text}"
    );
    let _ = sandbox.orchestrate(&["unpark", "alpha", "3"]).exits(0);
    assert_eq!(section_of(&sandbox, "3"), "Forward plan");
    let _ = sandbox.orchestrate(&["validate", "alpha"]).exits(0);
    // Every step before the one that dispatches only writes down what is.
    let dispatches = (0..3).any(|_| {
        sandbox
            .orchestrate(&["alpha"])
            .stdout
            .contains("dispatched alpha task ")
    });
    assert!(dispatches);
}

/// Nobody parked what a step wrote under `## In progress`: the evidence says how it stands.
#[test]
fn version_1_in_progress_is_no_parking_place() {
    let sandbox = sandbox(&alpha().of_version_1());
    sandbox.act("1", "");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("brought up to date");
    assert_eq!(section_of(&sandbox, "1"), "In progress");
    assert_eq!(
        crate::state_of(&sandbox, "1"),
        "held: its worker ended and left no commit on its branch (exit 0)"
    );
    let _ = sandbox
        .orchestrate(&["unpark", "alpha", "1"])
        .exits(1)
        .says("hint: what holds it: orchestrate why alpha 1");
    let _ = sandbox
        .orchestrate(&["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"])
        .exits(0);
    assert_eq!(
        crate::state_of(&sandbox, "1"),
        "ready",
        "as it stands where the next step puts it"
    );
}

const SYNC: &str = "tasks-pr-sync";

/// `contract/core.md §18`, reconcile.
#[test]
fn the_plumbing_reconciles_version_1() {
    let sandbox = sandbox(&alpha().of_version_1());
    let sync = |arguments: &[&str]| sandbox.orchestrate(&[&["plumbing", SYNC], arguments].concat());
    let _ = sandbox.git(&[
        "commit",
        "--quiet",
        "--allow-empty",
        "-m",
        "x\n\nPlanwright-Task: alpha/3",
    ]);
    let _ = sandbox.git(&["branch", "planwright/alpha/task-1"]);
    check!(sandbox, sync(&["reconcile", "specs/alpha"]), @r"
        exit 0
        --- err
        tasks-pr-sync: reconciled placement in specs/alpha/tasks.md
        ");
    assert_eq!(section_of(&sandbox, "3"), "Completed");
    assert_eq!(sync(&["reconcile", "specs/alpha"]).exits(0).stderr, "");
    let text = sandbox.read("specs/alpha/tasks.md");
    let (block, _) = text.split_once("### Task 2 ").expect("task 2");
    let (_, block) = block.split_once("### Task 1 ").expect("task 1");
    let broken =
        format!("{text}\n## Forward plan\n\n<<<<<<< a\n### Task 1 {block}=======\n>>>>>>> b\n\n## Notes\n\nmine\n");
    sandbox.write("specs/alpha/tasks.md", &broken);
    let _ = sync(&["reconcile", "specs/alpha"]).exits(0);
    assert_eq!(
        sandbox.read("specs/alpha/tasks.md"),
        format!("{text}\n## Notes\n\nmine\n")
    );
    let _ = sync(&["reconcile-status", "specs/alpha"]).exits(0);
    let held = sandbox.path("specs/alpha/.orchestrate.lock");
    std::fs::create_dir(&held).expect("a lock");
    let _ = sync(&["reconcile", "specs/alpha"]).exits(0).says("the lock is held");
    std::fs::remove_dir(&held).expect("released");
    for arguments in [
        &["reconcile"][..],
        &["reconcile", "specs/none"],
        &["other", "specs/alpha"],
    ] {
        assert_eq!(sync(arguments).exit, 2, "{arguments:?}");
    }
    sandbox.write(
        "specs/alpha/tasks.md",
        &text.replace("**Format-version:** 1", "**Format-version:** 3"),
    );
    let _ = sync(&["reconcile", "specs/alpha"]).exits(2);
    sandbox.write(
        "specs/alpha/tasks.md",
        &text.replace("**Format-version:** 1", "**Format-version:** 2"),
    );
    let _ = sync(&["reconcile", "specs/alpha"]).exits(2).says("requirements.md");
    std::fs::remove_file(sandbox.path("specs/alpha/tasks.md")).expect("removed");
    let _ = sync(&["reconcile", "specs/alpha"]).exits(2);
    std::os::unix::fs::symlink("design.md", sandbox.path("specs/alpha/tasks.md")).expect("linked");
    let _ = sync(&["reconcile", "specs/alpha"]).exits(2).says("symbolic link");
}

#[test]
fn the_plumbing_writes_nothing_in_version_2() {
    let sandbox = sandbox(&alpha());
    let before = sandbox.listing();
    for verb in ["reconcile", "reconcile-status"] {
        let _ = sandbox
            .orchestrate(&["plumbing", SYNC, verb, "specs/alpha"])
            .exits(0)
            .says("stores no derived state");
    }
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
}

#[test]
fn the_hook_reconciles_and_never_fails() {
    let sandbox = sandbox(&alpha().of_version_1());
    let hook = |tool: &str, command: &str, output: &str| {
        let message = format!(
            r#"{{"tool_name":"{tool}","tool_input":{{"command":"{command}"}},"tool_response":{{"stdout":"{output}"}}}}"#
        );
        sandbox
            .shell(&format!("printf '%s' '{message}' | orchestrate plumbing tasks-pr-sync"))
            .exits(0)
    };
    let moves = |what: &str, expected: bool| {
        let moved = section_of(&sandbox, "3") == "Completed";
        assert_eq!(moved, expected, "{what}");
        let _ = sandbox.git(&["checkout", "--quiet", "main", "--", "specs"]);
    };
    let _ = sandbox.git(&[
        "commit",
        "--quiet",
        "--allow-empty",
        "-m",
        "x\n\nPlanwright-Task: alpha/3",
    ]);
    let _ = hook("Bash", "gh pr create", "");
    moves("on main", false);
    let _ = sandbox.git(&["switch", "--quiet", "-c", "planwright/alpha/task-1"]);
    for (tool, command, expected) in [
        ("Bash", "gh pr create --draft", true),
        ("Bash", "cd x && gh pr merge 18", true),
        ("Bash", "echo gh pr create", false),
        ("Edit", "gh pr create", false),
    ] {
        let _ = hook(tool, command, "");
        moves(command, expected);
    }
    for branch in [
        "planwright/alpha/spec",
        "planwright/alpha/task-1-2-3",
        "planwright/../task-1",
    ] {
        if sandbox
            .try_git(&sandbox.repository(), &["switch", "--quiet", "-c", branch])
            .exit
            == 0
        {
            let _ = hook("Bash", "gh pr create", "");
            moves(branch, false);
        }
    }
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    sandbox.install("gh", "echo \"$@\" >> ../gh.calls; echo planwright/alpha/task-1-2\n");
    let _ = hook("Bash", "gh pr merge", "https://github.com/o/r/pull/17");
    moves("by its number", true);
    let calls = std::fs::read_to_string(sandbox.root().join("gh.calls")).expect("asked");
    assert_eq!(calls, "pr view 17 --json headRefName --jq .headRefName\n");
    let _ = sandbox
        .shell("printf '{' | orchestrate plumbing tasks-pr-sync")
        .exits(0);
}
