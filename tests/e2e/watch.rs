//! `--watch`: goes on where a step can, waits where it must, and ends when nothing is ready or a person is needed.

use orchestrate_testkit::bundle::BundleFixture;
use rustix::process::Signal;

use crate::{check, sandbox, single};

/// Two tasks, one after the other.
fn chain() -> BundleFixture {
    BundleFixture::new("alpha")
        .task("1", "first", &[], "1 day")
        .task("2", "second", &["1"], "1 day")
}

/// Two tasks that need nothing.
fn pair() -> BundleFixture {
    BundleFixture::new("alpha")
        .task("1", "first", &[], "1 day")
        .task("2", "second", &[], "1 day")
}

/// Verifies REQ-F1.4.
#[test]
fn it_waits_at_the_cap_and_goes_on_when_a_branch_is_merged() {
    let sandbox = sandbox(&pair());
    sandbox.configure("max_parallel_units: 1\nwatch_interval_seconds: 1\n");
    for unit in ["1", "2"] {
        sandbox.act_commit(unit, "work\n");
    }
    let mut watch = sandbox.start(&["alpha", "--watch"]);
    for unit in ["1", "2"] {
        let _ = watch.wait_for(&format!("dispatched alpha task {unit}"));
        if unit == "1" {
            let _ = watch.wait_for("max_parallel_units is 1");
        }
        sandbox.wait_for_worker("alpha", unit);
        let branch = format!("planwright/alpha/task-{unit}");
        let _ = sandbox.git(&["merge", "--quiet", "--no-ff", &branch]);
    }
    let output = watch.finish().exits(0);
    assert!(output.stderr.contains("watch ended: nothing is ready"), "{output}");
    assert_eq!(sandbox.starts(), ["alpha 1", "alpha 2"]);
    let waits: Vec<&str> = output.stdout.split("nothing to dispatch: ").skip(1).collect();
    let is_told_again = waits.windows(2).any(|pair| pair[0] == pair[1]);
    assert!(
        !waits.is_empty() && !is_told_again,
        "the same reason is told once: {output}"
    );
    let said = "waiting: it looks again when something changes here, and every 1 s";
    assert!(output.stderr.contains(said), "{output}");
}

#[test]
fn it_ends_when_nothing_is_ready() {
    let sandbox = sandbox(&chain());
    sandbox.close_gate("1");
    let output = sandbox.orchestrate(&["alpha", "--watch"]);
    let worker = sandbox.worker_at_gate("1");
    check!(sandbox, output, @r"
        exit 0
        --- out
        dispatched alpha task 1
          branch    planwright/alpha/task-1 at [SHORT] (base main)
          worktree  .claude/worktrees/alpha-task-1
          worker    command, pid [PID]
          log       .git/orchestrate/logs/alpha-task-1.log
          why 1     head of the critical path 1 → 2 (2 days); also ready: none
        nothing to dispatch: nothing is ready
          1     a worker runs (pid [PID])
          2     needs 1 (running)
        --- err
        watch ended: nothing is ready: 1: a worker runs (pid [PID]); 2: needs 1 (running)
        ");
    drop(worker);
    sandbox.wait_for_worker("alpha", "1");
    let _ = sandbox
        .orchestrate(&["alpha", "--watch", "--detailed-exitcode"])
        .exits(10);
    assert_eq!(sandbox.starts(), ["alpha 1"]);
}

/// Verifies REQ-F1.4.
#[test]
fn it_ends_at_a_halt_with_4() {
    let sandbox = sandbox(&single().status("Draft"));
    check!(sandbox, sandbox.orchestrate(&["alpha", "--watch"]), @r"
        exit 4
        --- out
        halted: specs/alpha is Draft
        hint: review and sign it: orchestrate sign specs/alpha
        --- err
        watch ended: a person is needed
        ");
}

/// Verifies REQ-D1.2.
#[test]
fn a_spec_that_is_changed_while_it_runs_ends_it() {
    let sandbox = sandbox(&pair());
    sandbox.configure("max_parallel_units: 1\nwatch_interval_seconds: 1\n");
    sandbox.act_commit("1", "work\n");
    let mut watch = sandbox.start(&["alpha", "--watch"]);
    let _ = watch.wait_for("max_parallel_units is 1");
    sandbox.wait_for_worker("alpha", "1");
    let text = sandbox
        .read("specs/alpha/design.md")
        .replace("Each task is one part.", "Each task is two parts.");
    // In one step, as editors do: the loop must not see half a file.
    sandbox.write("design.new", &text);
    std::fs::rename(sandbox.path("design.new"), sandbox.path("specs/alpha/design.md")).expect("the file is moved");
    let _ = sandbox.git(&["merge", "--quiet", "--no-ff", "planwright/alpha/task-1"]);
    let output = watch.finish().exits(4);
    assert!(
        output.stdout.contains("in the working copy differs from main"),
        "{output}"
    );
    assert_eq!(sandbox.starts(), ["alpha 1"]);
}

#[test]
fn a_held_lock_is_waited_for() {
    let sandbox = sandbox(&single());
    sandbox.configure("watch_interval_seconds: 1\n");
    let lock = sandbox.path("specs/alpha/.orchestrate.lock");
    std::fs::create_dir(&lock).expect("a peer's lock");
    let mut watch = sandbox.start(&["alpha", "--watch"]);
    let _ = watch.wait_for("held: specs/alpha is locked");
    std::fs::remove_dir(&lock).expect("released");
    let _ = watch.wait_for("dispatched alpha task 1");
    let _ = watch.finish().exits(0);
    sandbox.wait_for_worker("alpha", "1");
}

#[test]
fn an_interrupt_ends_it_and_leaves_the_worker_alone() {
    for signal in [Signal::INT, Signal::TERM] {
        let sandbox = sandbox(&pair());
        sandbox.configure("max_parallel_units: 1\n");
        sandbox.close_gate("1");
        let mut watch = sandbox.start(&["alpha", "--watch"]);
        let worker = sandbox.worker_at_gate("1");
        let _ = watch.wait_for("max_parallel_units is 1");
        watch.signal(signal);
        let output = watch.finish().exits(0);
        assert!(output.stderr.contains("watch ended: interrupted"), "{output}");
        assert!(sandbox.is_leased("alpha", "1"), "the worker goes on");
        drop(worker);
        sandbox.wait_for_worker("alpha", "1");
    }
}
