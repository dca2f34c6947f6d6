//! Preferred tasks and declared pairs: what is taken, what is said, and what a kill in the middle leaves.

use std::fs;

use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_e2e::surroundings::{failpoint_binary, skipped};
use orchestrate_testkit::bundle::BundleFixture;

use crate::{alpha, check, sandbox, state_of};

/// Two free tasks, a heavier third, and one behind both.
fn four() -> BundleFixture {
    BundleFixture::new("alpha")
        .task("1", "first part", &[], "1 day")
        .task("2", "second part", &[], "1 day")
        .task("3", "third part", &[], "9 days")
        .task("4", "fourth part", &["1", "2"], "1 day")
}

fn marked(sandbox: &Sandbox) -> Vec<String> {
    let directory = sandbox.path("specs/alpha/.orchestrate/markers");
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Verifies REQ-C2.1.
#[test]
fn a_preferred_task_comes_before_the_head_of_the_critical_path() {
    let sandbox = sandbox(&four());
    check!(sandbox, sandbox.orchestrate(&["alpha", "--dry-run", "--prefer", "4", "--prefer", "2", "--prefer", "9"]), @r"
        exit 0
        --- out
        would dispatch alpha task 2
          branch    planwright/alpha/task-2 at [SHORT] (main)
          why 2     preferred by --prefer; the raw pick would be 3; its chain is 2 → 4 (2 days); also ready: 1, 3
          nothing was written: no lock, no branch, no worktree
        --- err
        note: --prefer 4 changes nothing: task 4 needs 1 (ready) and 2 (ready)
        note: --prefer 9 changes nothing: there is no task 9
        ");
    sandbox.configure("prefer_units: [beta/2, alpha/1]\n");
    let value = sandbox
        .orchestrate(&["alpha", "--dry-run", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(value["unit"], "1");
    assert_eq!(value["why"]["preferred"]["by"], "prefer_units");
    assert_eq!(value["why"]["preferred"]["raw_pick"], "3");
    let _ = sandbox
        .orchestrate(&["status", "alpha"])
        .exits(0)
        .says("next: 1 (preferred by prefer_units; the raw pick would be 3)");
    let flag = sandbox.orchestrate(&["alpha", "--dry-run", "--prefer", "3"]).exits(0);
    let _ = flag.says("preferred by --prefer; the raw pick is the same");
    // The selector of the reference knows no preferences.
    let raw = sandbox
        .orchestrate(&["plumbing", "orchestrate-select", "specs/alpha"])
        .exits(0);
    assert_eq!(raw.stdout, "3\n");
}

#[test]
fn slips_on_the_command_line_are_told_before_anything_is_read() {
    let sandbox = sandbox(&alpha());
    check!(sandbox, sandbox.orchestrate(&["alpha", "--bundle", "1-2-3"]), @r#"
        exit 2
        --- err
        error: --bundle "1-2-3": not a pair of tasks: expected two different task ids joined by '-'
        hint: name two tasks, as --bundle 1-2; a unit has no more
        "#);
    for arguments in [
        ["--bundle", "1"],
        ["--bundle", "1-1"],
        ["--prefer", "1-2"],
        ["--prefer", "x"],
    ] {
        let _ = sandbox.orchestrate(&[&["alpha"][..], &arguments].concat()).exits(2);
    }
    assert_eq!(sandbox.starts(), [""; 0]);
    sandbox.configure("bundle_units: [1-2]\n");
    let _ = sandbox
        .orchestrate(&["alpha", "--dry-run"])
        .exits(0)
        .says("bundle_units: expected every entry to name its spec, as [spec/1-2]");
}

/// Verifies REQ-C2.1 and REQ-D1.1.
#[test]
fn a_declared_pair_is_one_branch_one_record_and_a_marker_for_each() {
    let sandbox = sandbox(&four());
    sandbox.close_gate("1-2");
    check!(sandbox, sandbox.orchestrate(&["alpha", "--prefer", "1", "--bundle", "1-2"]), @r"
        exit 0
        --- out
        dispatched alpha task 1-2
          branch    planwright/alpha/task-1-2 at [SHORT] (base main)
          worktree  .claude/worktrees/alpha-task-1-2
          worker    command, pid [PID]
          log       .git/orchestrate/logs/alpha-task-1-2.log
          why 1     preferred by --prefer; the raw pick would be 3; its chain is 1 → 4 (2 days); one unit by --bundle 1-2; also ready: 3
        ");
    let worker = sandbox.worker_at_gate("1-2");
    assert_eq!(marked(&sandbox), ["1", "2"]);
    let places = ["1", "2"].map(|task| sandbox.read(&format!("specs/alpha/.orchestrate/markers/{task}")));
    assert_eq!(places[0], places[1]);
    let records = fs::read_dir(sandbox.path(".git/orchestrate/dispatch/alpha")).expect("records");
    let mut names: Vec<String> = records
        .map(|entry| entry.expect("listed").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["1-2.json", "1-2.launch.json"]);
    let prompt = sandbox.noted("1-2", "prompt");
    for line in [
        "Planwright-Task: alpha/1",
        "Planwright-Task: alpha/2",
        "## Task 1 ",
        "## Task 2 ",
    ] {
        assert!(prompt.contains(line), "{line}: {prompt}");
    }
    for task in ["1", "2"] {
        assert!(
            state_of(&sandbox, task).starts_with("running: a worker runs (pid "),
            "{task}"
        );
    }
    // Neither task is taken again while its worker lives: not alone, and not together.
    for arguments in [
        &["--prefer", "1"][..],
        &["--prefer", "2"],
        &["--bundle", "1-2", "--prefer", "2"],
    ] {
        let value = sandbox
            .orchestrate(&[&["alpha", "--dry-run", "--format", "json"][..], arguments].concat())
            .exits(0)
            .json();
        assert_eq!(value["unit"], "3", "{arguments:?}");
    }
    sandbox.act_commit("1-2", "both\n\nPlanwright-Task: alpha/1\nPlanwright-Task: alpha/2\n");
    drop(worker);
    sandbox.wait_for_worker("alpha", "1-2");
    let _ = sandbox.git(&["merge", "--quiet", "--no-edit", "planwright/alpha/task-1-2"]);
    for task in ["1", "2"] {
        assert!(state_of(&sandbox, task).starts_with("landed"), "{task}");
    }
    assert_eq!(sandbox.starts(), ["alpha 1-2"]);
}

/// Verifies REQ-C2.1.
#[test]
fn an_ambiguous_pair_is_told_and_the_head_goes_alone() {
    let sandbox = sandbox(&four());
    sandbox.configure("bundle_units: [alpha/1-2, alpha/2-3]\n");
    check!(sandbox, sandbox.orchestrate(&["alpha", "--dry-run"]), @r"
        exit 0
        --- out
        would dispatch alpha task 3
          branch    planwright/alpha/task-3 at [SHORT] (main)
          why 3     head of the critical path 3 (9 days); also ready: 1, 2
          nothing was written: no lock, no branch, no worktree
        --- err
        note: bundle_units 2-3 and bundle_units 1-2 both name task 2, so 3 is taken alone
        ");
    let flag = sandbox.orchestrate(&["alpha", "--dry-run", "--bundle", "2-3"]).exits(0);
    let _ = flag
        .says("would dispatch alpha task 2-3")
        .says("note: bundle_units 1-2 does not count beside --bundle 2-3");
    let _ = sandbox
        .orchestrate(&["alpha", "--dry-run", "--bundle", "3-4"])
        .exits(0)
        .says("--bundle 3-4 is not ready as a whole: task 4 needs 1 (ready) and 2 (ready), so 3 is taken alone");
}

/// The cap counts tasks.
/// Verifies REQ-C2.3.
#[test]
fn a_pair_waits_for_two_places() {
    let sandbox = sandbox(&four());
    sandbox.configure("max_parallel_units: 2\nprefer_units: [alpha/1]\nbundle_units: [alpha/1-2]\n");
    sandbox.close_gate("3");
    let _ = sandbox.orchestrate(&["alpha", "--prefer", "3"]).exits(0);
    let worker = sandbox.worker_at_gate("3");
    check!(sandbox, sandbox.orchestrate(&["alpha", "--detailed-exitcode"]), @r"
        exit 11
        --- out
        nothing to dispatch: 1 unit in progress and max_parallel_units is 2; next would be 1-2, which counts as two
          3     a worker runs (pid [PID])
        ");
    drop(worker);
    sandbox.wait_for_worker("alpha", "3");
    sandbox.configure("max_parallel_units: 1\nbundle_units: [alpha/1-2]\n");
    let _ = sandbox
        .orchestrate(&["alpha", "--dry-run"])
        .exits(0)
        .says("would dispatch alpha task 1\n")
        .says("bundle_units 1-2 takes two places, and max_parallel_units is 1, so 1 is taken alone");
}

/// Work that lies in the worktree of one task keeps the pair from being dispatched, and is named.
/// Verifies REQ-A1.5.
#[test]
fn work_of_an_earlier_attempt_at_one_of_the_two_is_kept_and_named() {
    let sandbox = sandbox(&four());
    let _ = sandbox.orchestrate(&["alpha", "--prefer", "2"]).exits(0).says("task 2");
    sandbox.wait_for_worker("alpha", "2");
    sandbox.write(".claude/worktrees/alpha-task-2/notes.txt", "half done\n");
    let _ = sandbox
        .orchestrate(&["plumbing", "orchestrate-marker", "clear", "specs/alpha", "2"])
        .exits(0);
    check!(sandbox, sandbox.orchestrate(&["alpha", "--prefer", "1", "--bundle", "1-2"]), @r"
        exit 0
        --- out
        dispatched alpha task 1
          branch    planwright/alpha/task-1 at [SHORT] (base main)
          worktree  .claude/worktrees/alpha-task-1
          worker    command, pid [PID]
          log       .git/orchestrate/logs/alpha-task-1.log
          why 1     preferred by --prefer; the raw pick would be 3; its chain is 1 → 4 (2 days); also ready: 2, 3
        --- err
        note: task 1-2 is set aside: .claude/worktrees/alpha-task-2 holds uncommitted work: notes.txt
        note:   commit it on the unit's branch, or move it away
        note: --bundle 1-2 was set aside, so 1 is taken alone
        ");
    assert_eq!(sandbox.read(".claude/worktrees/alpha-task-2/notes.txt"), "half done\n");
    sandbox.wait_for_worker("alpha", "1");
}

/// A pair is given up as a whole.
#[test]
fn clearing_one_task_of_a_pair_gives_up_both() {
    let sandbox = sandbox(&four());
    let _ = sandbox
        .orchestrate(&["alpha", "--prefer", "1", "--bundle", "1-2"])
        .exits(0);
    sandbox.wait_for_worker("alpha", "1-2");
    for task in ["1", "2"] {
        assert!(
            state_of(&sandbox, task).starts_with("held: its worker ended and left no commit on its branch"),
            "{task}"
        );
    }
    let _ = sandbox
        .orchestrate(&["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"])
        .exits(0);
    assert_eq!([state_of(&sandbox, "1"), state_of(&sandbox, "2")], ["ready", "ready"]);
    assert_eq!(marked(&sandbox), [""; 0]);
    // The tasks go on alone: the pair's empty branch and its clean worktree hold nobody.
    let _ = sandbox
        .orchestrate(&["alpha", "--prefer", "1"])
        .exits(0)
        .says("task 1\n");
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(sandbox.starts(), ["alpha 1-2", "alpha 1"]);
}

/// Kills a tower that dispatches the pair at that point.
fn killed_at(binary: &str, point: &str) -> Sandbox {
    let sandbox = Sandbox::with(binary, &four());
    let log = sandbox.desk().join("killed");
    let variables = [
        ("ORCHESTRATE_FAILPOINT", point),
        ("ORCHESTRATE_FAILPOINT_LOG", log.as_str()),
    ];
    let arguments = ["alpha", "--prefer", "1", "--bundle", "1-2"];
    let _ = sandbox.orchestrate_with(&sandbox.repository(), &arguments, &variables);
    assert!(log.is_file(), "{point} was passed");
    sandbox
}

/// The writes under the lock are the lock's owner, the record, and the four markers.
const MARKER_WRITES: std::ops::RangeInclusive<usize> = 2..=6;

/// Verifies REQ-A1.11.
#[test]
fn a_kill_between_the_markers_converges_together_and_apart() {
    let Some(binary) = failpoint_binary() else {
        return skipped("kills at named points (ORCHESTRATE_FAILPOINT_BINARY is not set)");
    };
    for write in MARKER_WRITES {
        for again in [
            &["--prefer", "1", "--bundle", "1-2"][..],
            &["--prefer", "1"],
            &["--prefer", "2"],
        ] {
            let sandbox = killed_at(&binary, &format!("write.after:{write}"));
            for task in ["1", "2"] {
                assert_eq!(
                    state_of(&sandbox, task),
                    "ready",
                    "{write}: the claim of a dead tower is void"
                );
            }
            let unit = if again.len() == 4 { "1-2" } else { again[1] };
            let _ = sandbox
                .orchestrate(&[&["alpha"][..], again].concat())
                .exits(0)
                .says(&format!("dispatched alpha task {unit}\n"));
            sandbox.wait_for_worker("alpha", unit);
            // The other task of a pair that was given up is free, and the pair's claims are gone.
            let record = sandbox.path(".git/orchestrate/dispatch/alpha/1-2.json");
            assert_eq!(record.exists(), unit == "1-2", "{write} {again:?}");
            let marks: Vec<&str> = if unit == "1-2" { vec!["1", "2"] } else { vec![unit] };
            assert_eq!(marked(&sandbox), marks, "{write} {again:?}");
            let other = if unit == "1" { "2" } else { "1" };
            if unit != "1-2" {
                let _ = sandbox.orchestrate(&["alpha", "--prefer", other]).exits(0);
                sandbox.wait_for_worker("alpha", other);
            }
            let starts = sandbox.starts();
            let expected = if unit == "1-2" {
                vec!["alpha 1-2".to_owned()]
            } else {
                vec![format!("alpha {unit}"), format!("alpha {other}")]
            };
            assert_eq!(starts, expected, "{write} {again:?}");
        }
    }
}

/// A runner that a killed tower had started comes late: by then its pair was parted.
/// Verifies REQ-A1.11.
#[test]
fn a_late_runner_of_a_pair_that_was_parted_starts_nothing() {
    let Some(binary) = failpoint_binary() else {
        return skipped("kills at named points (ORCHESTRATE_FAILPOINT_BINARY is not set)");
    };
    let sandbox = killed_at(&binary, "spawn.before");
    let record: serde_json::Value =
        serde_json::from_str(&sandbox.read(".git/orchestrate/dispatch/alpha/1-2.json")).expect("a record");
    let attempt = record["attempt"].as_str().expect("an attempt");
    let _ = sandbox
        .orchestrate(&["alpha", "--prefer", "1"])
        .exits(0)
        .says("dispatched alpha task 1\n");
    sandbox.wait_for_worker("alpha", "1");
    let _ = sandbox
        .orchestrate(&["plumbing", "run-worker", "alpha", "1-2", "--attempt", attempt])
        .exits(4)
        .says("not dispatched");
    assert_eq!(sandbox.starts(), ["alpha 1"]);
}

/// One tower takes the pair, another takes the tasks one by one, at once: each task has one worker.
/// Verifies REQ-A1.3.
#[test]
fn two_towers_of_which_one_bundles_give_each_task_one_worker() {
    for round in 0..6 {
        let sandbox = sandbox(&four());
        let towers = [
            sandbox.start(&["alpha", "--prefer", "1", "--bundle", "1-2"]),
            sandbox.start(&["alpha", "--prefer", if round % 2 == 0 { "1" } else { "2" }]),
        ];
        for tower in towers {
            let _ = tower.finish();
        }
        let starts = || sandbox.starts();
        for unit in ["1", "2", "1-2", "3"] {
            if sandbox.lease("alpha", unit).is_file() {
                sandbox.wait_for_worker("alpha", unit);
            }
        }
        for task in ["1", "2", "3"] {
            let on_it = starts()
                .iter()
                .filter(|start| {
                    start
                        .trim_start_matches("alpha ")
                        .split('-')
                        .any(|member| member == task)
                })
                .count();
            assert!(on_it <= 1, "task {task}: {:?}", starts());
        }
        assert!(!starts().is_empty());
        assert!(!sandbox.path("specs/alpha/.orchestrate.lock").exists());
    }
}

/// A person at the terminal is asked before a declared pair is parted, and *no* writes nothing.
/// Verifies REQ-C2.1.
#[test]
fn a_person_is_asked_before_a_pair_is_parted() {
    let sandbox = sandbox(&four());
    let arguments = ["alpha", "--bundle", "3-4"];
    let question = "Dispatch task 3 alone? [y/N]";
    let mut terminal = sandbox.terminal(&arguments);
    let _ = terminal.answer(question, "n");
    let shown = terminal.finish().exits(0).text();
    assert!(shown.contains("held: --bundle 3-4 is not ready as a whole"), "{shown}");
    assert_eq!(sandbox.git(&["branch", "--list", "planwright/*"]), "");
    assert!(!sandbox.path(".git/orchestrate/dispatch").exists() && !sandbox.path("specs/alpha/.orchestrate").exists());
    let mut terminal = sandbox.terminal(&arguments);
    let _ = terminal.answer(question, "y");
    let _ = terminal.finish().exits(0);
    sandbox.wait_for_worker("alpha", "3");
    assert_eq!(sandbox.starts(), ["alpha 3"]);
}
