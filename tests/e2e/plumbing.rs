//! The reference's scripts under their names: arguments, records and exit numbers (contract/core.md §20.6).

use std::fs;

use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_testkit::bundle::BundleFixture;

use crate::{alpha, check, sandbox, single};

/// Verifies REQ-F1.5.
#[test]
fn the_lock_verb_has_the_contracts_exit_numbers() {
    let sandbox = sandbox(&single());
    let lock = |verb: &str, directory: &str| {
        sandbox
            .orchestrate(&["plumbing", "orchestrate-lock", verb, directory])
            .exit
    };
    sandbox.write("elsewhere/alpha/tasks.md", "");
    for verb in ["acquire", "release"] {
        for directory in [
            "specs/missing",
            "elsewhere/alpha",
            "specs",
            ".",
            "specs/alpha/tasks.md",
            "/",
            "/tmp",
        ] {
            assert_eq!(lock(verb, directory), 2, "{verb} {directory}");
        }
    }
    assert_eq!(lock("break", "specs/alpha"), 2);
    assert_eq!(
        sandbox.orchestrate(&["plumbing", "orchestrate-lock", "acquire"]).exit,
        2
    );
    // Other spellings of the same directory, and a link to it, are the same lock.
    std::os::unix::fs::symlink("alpha", sandbox.path("specs/beta")).expect("a link");
    for (spelled, acquired) in [("specs/alpha/", 0), ("./specs/../specs/alpha", 1), ("specs/beta", 1)] {
        assert_eq!(lock("acquire", spelled), acquired, "{spelled}");
    }
    assert!(sandbox.path("specs/alpha/.orchestrate.lock").is_dir());
    assert_eq!(lock("release", "specs/beta"), 0);
    assert!(!sandbox.path("specs/alpha/.orchestrate.lock").exists());
    let absolute = sandbox.path("specs/alpha");
    assert_eq!(lock("acquire", absolute.as_str()), 0);
}

#[test]
fn markers_are_written_all_or_none() {
    let sandbox = sandbox(&alpha());
    let marker = |arguments: &[&str]| {
        let fixed = ["plumbing", "orchestrate-marker"];
        sandbox.orchestrate(&[&fixed[..], arguments].concat()).exit
    };
    let bundle = sandbox.path("specs/alpha/.orchestrate/markers");
    assert_eq!(marker(&["write", "specs/alpha", "1", "1-2"]), 2);
    assert_eq!(marker(&["write", "specs/alpha"]), 2);
    assert_eq!(marker(&["touch", "specs/alpha", "1"]), 2);
    assert_eq!(marker(&["write", "specs/missing", "1"]), 2);
    assert!(!bundle.exists());
    fs::create_dir_all(bundle.join("3")).expect("a directory in the way");
    assert_eq!(marker(&["write", "specs/alpha", "1", "2", "3"]), 2);
    assert!(!bundle.join("1").exists() && !bundle.join("2").exists());
    fs::remove_dir(bundle.join("3")).expect("out of the way");
    assert_eq!(marker(&["write", "specs/alpha", "1", "2", "3"]), 0);
    let texts = ["1", "2", "3"].map(|task| fs::read_to_string(bundle.join(task)).expect("a marker"));
    assert!(texts[0] == texts[1] && texts[1] == texts[2], "{texts:?}");
    assert_eq!(
        fs::read_dir(&bundle).expect("listed").count(),
        3,
        "nothing staged is left"
    );
    assert_eq!(
        marker(&["clear", "specs/alpha", "2", "7"]),
        0,
        "a missing one is no failure"
    );
    assert!(bundle.join("1").exists() && !bundle.join("2").exists());
}

#[test]
fn a_cleared_unit_of_a_living_worker_stays_its_own() {
    let sandbox = sandbox(&single());
    sandbox.close_gate("1");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    let worker = sandbox.worker_at_gate("1");
    let _ = sandbox
        .orchestrate(&["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"])
        .exits(0);
    let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(10);
    assert!(crate::state_of(&sandbox, "1").starts_with("running: "));
    drop(worker);
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(sandbox.starts(), ["alpha 1"]);
}

#[test]
fn select_has_the_contracts_exit_numbers() {
    let sandbox = sandbox(&alpha());
    let select = |arguments: &[&str]| {
        let fixed = ["plumbing", "orchestrate-select"];
        sandbox.orchestrate(&[&fixed[..], arguments].concat())
    };
    check!(sandbox, select(&["specs/alpha"]), @r"
        exit 0
        --- out
        1
        ");
    check!(sandbox, select(&["--critical-path", "specs/alpha"]), @r"
        exit 0
        --- out
        1
        2
        ");
    let _ = sandbox.commit_all("all\n\nPlanwright-Task: alpha/1\nPlanwright-Task: alpha/2\nPlanwright-Task: alpha/3\n");
    check!(sandbox, select(&["specs/alpha"]), @"exit 1");
    let _ = select(&["specs/missing"]).exits(2);
    sandbox.write("specs/alpha/tasks.md", "torn");
    let output = select(&["specs/alpha"]).exits(2);
    assert_eq!(output.stdout, "");
}

/// The bundle `q` of `contract/core.md §5.6`.
fn q() -> BundleFixture {
    BundleFixture::new("alpha")
        .task("1", "first", &[], "1 day")
        .task("2", "second", &[], "1 day")
        .task("3", "third", &["1"], "1 day")
        .task("4", "fourth", &["2"], "5 days")
}

/// Verifies REQ-C2.1.
#[test]
fn select_gives_the_verified_examples() {
    let select = |sandbox: &Sandbox, arguments: &[&str]| {
        let fixed = ["plumbing", "orchestrate-select"];
        sandbox.orchestrate(&[&fixed[..], arguments].concat())
    };
    let picks = |bundle: &BundleFixture| {
        let sandbox = sandbox(bundle);
        let unit = select(&sandbox, &["specs/alpha"]).exits(0).stdout;
        let path = select(&sandbox, &["--critical-path", "specs/alpha"]).exits(0).stdout;
        (unit, path)
    };
    let both = |unit: &str| (unit.to_owned(), "2\n4\n".to_owned());
    assert_eq!(picks(&q().out_of_scope("4", "— no")), both("1\n"));
    assert_eq!(
        picks(&q().deferred("4", "— later")),
        both("2\n"),
        "it still counts in the chain"
    );
    assert_eq!(picks(&q()), both("2\n"));

    let sandbox = sandbox(&q());
    let tasks = sandbox.read("specs/alpha/tasks.md");
    let write = |text: &str| sandbox.write("specs/alpha/tasks.md", text);
    let first = tasks.find("### Task 1").expect("a first block");
    let second = tasks.find("### Task 2").expect("a second block");
    let block = &tasks[first..second];
    // A circle: nothing in it is ever ready, and the path ends.
    write(
        &tasks
            .replacen("- **Dependencies:** none", "- **Dependencies:** 2", 1)
            .replacen("- **Dependencies:** none", "- **Dependencies:** 1", 1),
    );
    let _ = select(&sandbox, &["specs/alpha"]).exits(1);
    let _ = select(&sandbox, &["--critical-path", "specs/alpha"]).exits(0);
    // The later of two blocks counts, and what does not exist is never satisfied.
    let again = block.replace("- **Dependencies:** none", "- **Dependencies:** 2");
    let missing = block
        .replace("### Task 1", "### Task 2")
        .replace("- **Dependencies:** none", "- **Dependencies:** 9");
    let end = tasks.find("## Awaiting input").expect("a section of parked tasks");
    write(&format!("{}{again}{missing}{}", &tasks[..end], &tasks[end..]));
    check!(sandbox, select(&sandbox, &["specs/alpha"]), @"exit 1");
    // A near miss does not park.
    write(&tasks.replace("## Deferred\n\n", "## Deferred\n\n- **Task 2. ** x\n- **Task six** y\n"));
    check!(sandbox, select(&sandbox, &["specs/alpha"]), @r"
        exit 0
        --- out
        2
        --- err
        orchestrate-select: reference bullet rejected - task id '2. ' violates the task-id grammar
        orchestrate-select: reference bullet rejected - task id 'six' violates the task-id grammar
        ");
    write(&format!("{tasks}\n```\n"));
    for arguments in [&["specs/alpha"][..], &["--critical-path", "specs/alpha"]] {
        let output = select(&sandbox, arguments).exits(2);
        assert_eq!(output.stdout, "", "{arguments:?}");
    }
}

#[test]
fn select_fails_closed_by_what_tasks_md_says_alone() {
    let sandbox = sandbox(&q());
    let select = |arguments: &[&str]| {
        let fixed = ["plumbing", "orchestrate-select"];
        sandbox.orchestrate(&[&fixed[..], arguments].concat())
    };
    let tasks = sandbox.read("specs/alpha/tasks.md");
    for bad in [
        tasks.replace("**Format-version:** 2\n", ""),
        tasks.replace(
            "**Format-version:** 2\n",
            "**Format-version:** 2\n**Format-version:** 2\n",
        ),
        tasks.replace("**Format-version:** 2\n", "**Format-version:** 3\n"),
        format!("{tasks}\0"),
        String::new(),
    ] {
        sandbox.write("specs/alpha/tasks.md", &bad);
        for arguments in [&["specs/alpha"][..], &["--critical-path", "specs/alpha"]] {
            let output = select(arguments).exits(2);
            assert_eq!(output.stdout, "", "{bad:?}");
        }
    }
    // The path comes second: behind it the flag is no flag of the reference, and one argument too many.
    let _ = select(&[]).exits(2);
    let _ = select(&["specs/alpha", "specs/alpha"]).exits(2);
    // The other files are no business of the selector, and the path needs no repository.
    sandbox.write("specs/alpha/tasks.md", &tasks);
    fs::remove_file(sandbox.path("specs/alpha/design.md")).expect("removed");
    assert_eq!(select(&["specs/alpha"]).exits(0).stdout, "2\n");
    let elsewhere = sandbox.root().join("copy");
    fs::rename(sandbox.path("specs/alpha"), &elsewhere).expect("moved");
    let path = sandbox.orchestrate_in(
        sandbox.root(),
        &["plumbing", "orchestrate-select", "--critical-path", "copy"],
    );
    assert_eq!(path.exits(0).stdout, "2\n4\n");
    let _ = sandbox
        .orchestrate_in(sandbox.root(), &["plumbing", "orchestrate-select", "copy"])
        .exits(2);
}

/// In version 1 the selector goes on and passes the record along (`contract/core.md §4.8`).
#[test]
fn select_goes_on_with_version_1_on_evidence_that_cannot_be_read() {
    let sandbox = sandbox(&q());
    let tasks = sandbox.read("specs/alpha/tasks.md");
    let older = tasks
        .replace("**Format-version:** 2", "**Format-version:** 1")
        .replace("## Tasks", "## Forward plan");
    sandbox.write("specs/alpha/tasks.md", &older);
    let _ = sandbox.git(&["update-ref", "refs/heads/planwright/alpha/task-1", "main"]);
    fs::remove_file(sandbox.path(".git/logs/refs/heads/planwright/alpha/task-1")).unwrap_or_default();
    check!(sandbox, sandbox.orchestrate(&["plumbing", "orchestrate-select", "specs/alpha"]), @r"
        exit 0
        --- out
        2
        --- err
        degraded	evidence	branch task-1 at [SHORT] is contained in main, but where it started is not recorded (the reflog does not tell how it came to be where it is)
        ");
}

#[test]
fn select_and_state_hold_on_evidence_that_cannot_be_read() {
    let sandbox = sandbox(&alpha());
    sandbox.write("specs/alpha/.orchestrate/markers", "no directory\n");
    check!(sandbox, sandbox.orchestrate(&["plumbing", "orchestrate-select", "specs/alpha"]), @r"
        exit 3
        --- err
        orchestrate-select: transient evidence failure - specs/alpha/.orchestrate/markers is not a directory; dispatching nothing (REQ-B1.5)
        ");
    check!(sandbox, sandbox.orchestrate(&["plumbing", "orchestrate-state", "specs/alpha"]), @r"
        exit 0
        --- out
        degraded	evidence	specs/alpha/.orchestrate/markers is not a directory
        task	1	in-progress	unobservable-specs-alpha-orchestrate-markers
        task	2	in-progress	unobservable-specs-alpha-orchestrate-markers
        task	3	in-progress	unobservable-specs-alpha-orchestrate-markers
        ");
}

/// Verifies REQ-F1.5.
#[test]
fn state_prints_the_contracts_records() {
    let bundle = BundleFixture::new("alpha")
        .task("1", "landed", &[], "1 day")
        .task("2", "with commits", &[], "1 day")
        .task("3", "claimed", &[], "1 day")
        .task("4", "waits", &["2"], "1 day")
        .task("5", "free", &["1"], "1 day");
    let sandbox = sandbox(&bundle);
    let _ = sandbox.commit_all("one\n\nPlanwright-Task: alpha/1\nPlanwright-Task: Alpha/2\n");
    let _ = sandbox.git(&["switch", "--quiet", "--create", "planwright/alpha/task-2"]);
    let _ = sandbox.commit_all("two");
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    let _ = sandbox
        .orchestrate(&["plumbing", "orchestrate-marker", "write", "specs/alpha", "3"])
        .exits(0);
    let before = sandbox.listing();
    check!(sandbox, sandbox.orchestrate(&["plumbing", "orchestrate-state", "specs/alpha"]), @r"
        exit 0
        --- out
        refused	Planwright-Task	Alpha/2
        task	1	completed	trailer
        task	2	in-progress	branch-commits
        task	3	in-progress	marker-fresh
        task	4	blocked	deps-unmet
        task	5	ready	deps-met
        ");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
    // Read by us, and malformed for the reference's engine.
    let tasks = sandbox.read("specs/alpha/tasks.md");
    sandbox.write(
        "specs/alpha/tasks.md",
        &tasks.replace("- **Dependencies:** 2\n", "- **Dependencies:** Task 2; after a look\n"),
    );
    let _ = sandbox
        .orchestrate(&["plumbing", "orchestrate-state", "specs/alpha"])
        .exits(0)
        .says("malformed-deps\t4\tTask 2; after a look\n")
        .says("task\t4\tblocked\tdeps-unmet\n");
}

#[test]
fn the_anchor_needs_no_repository() {
    let sandbox = sandbox(&single());
    let here = sandbox
        .orchestrate(&["plumbing", "spec-anchor", "specs/alpha"])
        .exits(0)
        .stdout;
    let elsewhere = sandbox.root().join("copy");
    fs::rename(sandbox.path("specs/alpha"), &elsewhere).expect("moved");
    let there = sandbox
        .orchestrate_in(sandbox.root(), &["plumbing", "spec-anchor", "copy"])
        .exits(0)
        .stdout;
    assert_eq!(here, there);
    assert!(
        fs::read_to_string(elsewhere.join("kickoff-brief.md"))
            .expect("a brief")
            .contains(here.trim_end())
    );
    fs::remove_file(elsewhere.join("design.md")).expect("removed");
    let _ = sandbox
        .orchestrate_in(sandbox.root(), &["plumbing", "spec-anchor", "copy"])
        .exits(1)
        .says("design.md");
}

/// Verifies REQ-E1.2.
#[test]
fn run_worker_starts_nothing_that_was_not_dispatched() {
    let sandbox = sandbox(&single());
    check!(sandbox, sandbox.orchestrate(&["plumbing", "run-worker", "alpha", "1"]), @r"
        exit 4
        --- out
        refused no worktree is registered for planwright/alpha/task-1
        --- err
        run-worker: not started: no worktree is registered for planwright/alpha/task-1
        hint: step alpha again
        ");
    let _ = sandbox
        .orchestrate(&["plumbing", "run-worker", "no-such-spec", "1"])
        .exits(4);
    assert_eq!(sandbox.starts(), [""; 0]);
}

#[test]
fn every_listed_verb_is_there() {
    let sandbox = sandbox(&single());
    let list = sandbox.orchestrate(&["plumbing", "list"]).exits(0).stdout;
    assert!(!list.is_empty());
    for verb in list.lines() {
        let _ = sandbox.orchestrate(&["plumbing", verb, "--help"]).exits(0);
    }
}
