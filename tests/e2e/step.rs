//! One step: what it writes, what it selects, and what it says.

use std::os::unix::fs::PermissionsExt;

use orchestrate_testkit::bundle::BundleFixture;

use crate::{alpha, check, sandbox, single};

/// Verifies REQ-A1.7 and REQ-D1.1.
#[test]
fn a_dispatch_writes_the_whole_record_and_nothing_else() {
    let sandbox = sandbox(&alpha());
    let main = sandbox.commit_of("main");
    let before = sandbox.listing();
    let output = sandbox.orchestrate(&["specs/alpha"]);
    check!(sandbox, output, @r"
        exit 0
        --- out
        dispatched alpha task 1
          branch    planwright/alpha/task-1 at [SHORT] (base main)
          worktree  .claude/worktrees/alpha-task-1
          worker    command, pid [PID]
          log       .git/orchestrate/logs/alpha-task-1.log
          why 1     head of the critical path 1 → 2 (2 days); also ready: 3
        ");
    sandbox.wait_for_worker("alpha", "1");

    assert_eq!(sandbox.commit_of("refs/heads/planwright/alpha/task-1"), main);
    assert_eq!(sandbox.commit_of("main"), main);
    assert_eq!(sandbox.starts(), ["alpha 1"]);
    let worktree = sandbox.path(".claude/worktrees/alpha-task-1");
    assert_eq!(sandbox.noted("1", "directory").trim_end(), worktree);
    assert_eq!(sandbox.git_in(&worktree, &["status", "--porcelain"]), "");
    assert_eq!(
        sandbox.git_in(&worktree, &["symbolic-ref", "HEAD"]),
        "refs/heads/planwright/alpha/task-1"
    );
    check!(sandbox, sandbox.changes_since(&before).join("\n"), @r"
        + .claude/worktrees/
        + .claude/worktrees/alpha-task-1/
        + .claude/worktrees/alpha-task-1/.git
        + .claude/worktrees/alpha-task-1/.gitignore
        + .claude/worktrees/alpha-task-1/specs/
        + .claude/worktrees/alpha-task-1/specs/alpha/
        + .claude/worktrees/alpha-task-1/specs/alpha/design.md
        + .claude/worktrees/alpha-task-1/specs/alpha/kickoff-brief.md
        + .claude/worktrees/alpha-task-1/specs/alpha/requirements.md
        + .claude/worktrees/alpha-task-1/specs/alpha/tasks.md
        + .claude/worktrees/alpha-task-1/specs/alpha/test-spec.md
        ~ .git/info/exclude
        + .git/logs/refs/heads/planwright/
        + .git/logs/refs/heads/planwright/alpha/
        + .git/logs/refs/heads/planwright/alpha/task-1
        + .git/orchestrate-staging/
        + .git/orchestrate/
        + .git/orchestrate/dispatch/
        + .git/orchestrate/dispatch/alpha/
        + .git/orchestrate/dispatch/alpha/1.json
        + .git/orchestrate/dispatch/alpha/1.launch.json
        + .git/orchestrate/lock/
        + .git/orchestrate/lock/alpha
        + .git/orchestrate/logs/
        + .git/orchestrate/logs/alpha-task-1.log
        + .git/orchestrate/worker-settings.json
        + .git/planwright/
        + .git/planwright/orchestrate/
        + .git/planwright/orchestrate/alpha/
        + .git/planwright/orchestrate/alpha/markers/
        + .git/planwright/orchestrate/alpha/markers/1
        + .git/refs/heads/planwright/
        + .git/refs/heads/planwright/alpha/
        + .git/refs/heads/planwright/alpha/task-1
        + .git/worktrees/
        + .git/worktrees/alpha-task-1/
        + .git/worktrees/alpha-task-1/HEAD
        + .git/worktrees/alpha-task-1/commondir
        + .git/worktrees/alpha-task-1/gitdir
        + .git/worktrees/alpha-task-1/index
        + .git/worktrees/alpha-task-1/orchestrate.lease
        + .git/worktrees/alpha-task-1/orchestrate.prompt.md
        + specs/alpha/.orchestrate/
        + specs/alpha/.orchestrate/markers/
        + specs/alpha/.orchestrate/markers/1
        ");
    assert_eq!(
        sandbox.git(&["status", "--porcelain"]),
        "",
        "the primary checkout stays clean"
    );
    assert_eq!(
        sandbox
            .git(&["worktree", "list", "--porcelain"])
            .matches("locked")
            .count(),
        0
    );
    assert_eq!(sandbox.try_git(&sandbox.repository(), &["fsck", "--strict"]).exit, 0);
}

/// Verifies REQ-D1.1.
#[test]
fn both_markers_hold_one_epoch_and_are_private() {
    let sandbox = sandbox(&single());
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    let places = [
        "specs/alpha/.orchestrate/markers/1",
        ".git/planwright/orchestrate/alpha/markers/1",
    ];
    let texts = places.map(|place| {
        let mode = std::fs::metadata(sandbox.path(place))
            .expect("the marker is there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o7777, 0o600, "{place}");
        sandbox.read(place)
    });
    assert_eq!(texts[0], texts[1]);
    let digits = texts[0].strip_suffix('\n').expect("one line");
    assert!(
        digits.len() == 10 && digits.bytes().all(|byte| byte.is_ascii_digit()),
        "{digits:?}"
    );
    let record: serde_json::Value =
        serde_json::from_str(&sandbox.read(".git/orchestrate/dispatch/alpha/1.json")).expect("a record");
    assert_eq!(record["start"], sandbox.commit_of("main"));
    assert_eq!(record["launch"]["manner"], "background");
    sandbox.wait_for_worker("alpha", "1");
}

#[test]
fn a_tower_inside_anothers_git_environment_works_on_its_own_repository() {
    let sandbox = sandbox(&single());
    let other = sandbox.root().join("other");
    let _ = sandbox.git_in(&other, &["init", "--quiet"]);
    let index = other.join("index");
    let git_directory = other.join(".git");
    let before = orchestrate_e2e::listing::Listing::of(&other);
    let hostile = [
        ("GIT_DIR", git_directory.as_str()),
        ("GIT_WORK_TREE", other.as_str()),
        ("GIT_INDEX_FILE", index.as_str()),
        ("GIT_OBJECT_DIRECTORY", other.as_str()),
        ("GIT_COMMON_DIR", git_directory.as_str()),
        ("GIT_NAMESPACE", "stranger"),
        ("GIT_PREFIX", "stranger/"),
    ];
    sandbox.act_commit("1", "part 1\n\nPlanwright-Task: alpha/1\n");
    let _ = sandbox
        .orchestrate_with(&sandbox.repository(), &["alpha"], &hostile)
        .exits(0)
        .says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");

    let seen = sandbox.noted("1", "environment");
    let named: Vec<&str> = seen
        .lines()
        .filter(|line| hostile.iter().any(|(name, _)| line.starts_with(name)))
        .collect();
    assert!(named.is_empty(), "{named:?}");
    assert_eq!(
        sandbox.git(&["log", "--format=%s", "main..planwright/alpha/task-1"]),
        "part 1"
    );
    assert_eq!(orchestrate_e2e::listing::Listing::of(&other), before);
}

/// Verifies REQ-E1.4.
#[test]
fn a_worker_is_told_who_it_is_and_reads_its_prompt_from_standard_input() {
    let sandbox = sandbox(&single());
    let _ = sandbox
        .orchestrate_with(
            &sandbox.repository(),
            &["alpha"],
            &[("CLAUDECODE", "1"), ("PWD", "/elsewhere")],
        )
        .exits(0);
    sandbox.wait_for_worker("alpha", "1");
    let prompt = sandbox.noted("1", "prompt");
    assert!(prompt.starts_with("# Unit 1 of specs/alpha\n"), "{prompt}");
    assert!(prompt.contains("Planwright-Task: alpha/1"), "{prompt}");
    let environment = sandbox.noted("1", "environment");
    let worktree = sandbox.path(".claude/worktrees/alpha-task-1");
    for line in [
        "ORCHESTRATE_SPEC=alpha",
        "ORCHESTRATE_UNIT=1",
        &format!("ORCHESTRATE_WORKTREE={worktree}"),
        &format!("PWD={worktree}"),
        "PLANWRIGHT_WORKER_SCOPE=alpha:task-1",
    ] {
        assert!(environment.lines().any(|there| there == line), "{line}\n{environment}");
    }
    assert!(!environment.contains("CLAUDECODE="), "{environment}");
}

#[test]
fn a_second_step_on_the_same_state_idles_and_writes_nothing() {
    let sandbox = sandbox(&single());
    sandbox.close_gate("1");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    let worker = sandbox.worker_at_gate("1");
    let before = sandbox.listing();
    let output = sandbox.orchestrate(&["alpha"]);
    check!(sandbox, output, @r"
        exit 0
        --- out
        nothing to dispatch: nothing is ready
          1     a worker runs (pid [PID])
        ");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
    drop(worker);
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(sandbox.starts(), ["alpha 1"]);
}

/// Verifies REQ-C2.1.
#[test]
fn dependencies_critical_path_and_file_order_decide() {
    // 4 heads the heaviest chain; 1 and 3 are equal, and 1 stands first; 2 and 5 wait.
    let bundle = BundleFixture::new("alpha")
        .task("1", "small", &[], "1 day")
        .task("2", "needs both", &["1", "3"], "1 day")
        .task("3", "small too", &[], "1 day")
        .task("4", "long", &[], "3 days")
        .task("5", "after long", &["4"], "1 day");
    let sandbox = sandbox(&bundle);
    sandbox.configure("max_parallel_units: 9\n");
    let mut order = Vec::new();
    for _ in 0..3 {
        let value = sandbox.orchestrate(&["alpha", "--format", "json"]).exits(0).json();
        let unit = value["unit"].as_str().expect("a unit").to_owned();
        sandbox.wait_for_worker("alpha", &unit);
        order.push((
            unit,
            value["why"]["chain"].to_string(),
            value["why"]["also_ready"].to_string(),
        ));
    }
    let expected = [
        ("4", r#"["4","5"]"#, r#"["1","3"]"#),
        ("1", r#"["1","2"]"#, r#"["3"]"#),
        ("3", r#"["3","2"]"#, "[]"),
    ];
    let expected = expected.map(|(unit, chain, also)| (unit.to_owned(), chain.to_owned(), also.to_owned()));
    assert_eq!(order, expected);
    check!(sandbox, sandbox.orchestrate(&["alpha"]), @r"
        exit 0
        --- out
        nothing to dispatch: nothing is ready
          1     its worker ended and left no commit on its branch (exit 0)
                → look at .git/orchestrate/logs/alpha-task-1.log, then let it be dispatched again: orchestrate plumbing orchestrate-marker clear specs/alpha 1
          2     needs 1 (held) and 3 (held)
          3     its worker ended and left no commit on its branch (exit 0)
                → look at .git/orchestrate/logs/alpha-task-3.log, then let it be dispatched again: orchestrate plumbing orchestrate-marker clear specs/alpha 3
          4     its worker ended and left no commit on its branch (exit 0)
                → look at .git/orchestrate/logs/alpha-task-4.log, then let it be dispatched again: orchestrate plumbing orchestrate-marker clear specs/alpha 4
          5     needs 4 (held)
        ");
}

/// Verifies REQ-C2.3.
#[test]
fn at_the_cap_and_when_paused_nothing_is_dispatched() {
    let sandbox = sandbox(&alpha());
    sandbox.configure("max_parallel_units: 1\n");
    sandbox.close_gate("1");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    let worker = sandbox.worker_at_gate("1");
    let before = sandbox.listing();
    check!(sandbox, sandbox.orchestrate(&["alpha", "--detailed-exitcode"]), @r"
        exit 11
        --- out
        nothing to dispatch: 1 unit in progress and max_parallel_units is 1; next would be 3
          1     a worker runs (pid [PID])
        ");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);

    sandbox.configure("max_parallel_units: 0\n");
    let before = sandbox.listing();
    check!(sandbox, sandbox.orchestrate(&["alpha", "--detailed-exitcode"]), @r"
        exit 11
        --- out
        nothing to dispatch: paused: max_parallel_units is 0
        ");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
    assert_eq!(sandbox.starts(), ["alpha 1"]);
    drop(worker);
    sandbox.wait_for_worker("alpha", "1");
}

/// Verifies REQ-D1.7.
#[test]
fn a_dry_run_decides_and_writes_nothing() {
    let sandbox = sandbox(&alpha());
    let before = sandbox.listing();
    check!(sandbox, sandbox.orchestrate(&["alpha", "--dry-run"]), @r"
        exit 0
        --- out
        would dispatch alpha task 1
          branch    planwright/alpha/task-1 at [SHORT] (main)
          why 1     head of the critical path 1 → 2 (2 days); also ready: 3
          nothing was written: no lock, no branch, no worktree
        ");
    let value = sandbox
        .orchestrate(&["alpha", "--dry-run", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(
        (&value["outcome"], &value["unit"]),
        (&"would-dispatch".into(), &"1".into())
    );
    let output = sandbox.orchestrate(&["alpha", "--dry-run", "--watch"]).exits(0);
    check!(sandbox, output, @r"
        exit 0
        --- out
        would dispatch alpha task 1
          branch    planwright/alpha/task-1 at [SHORT] (main)
          why 1     head of the critical path 1 → 2 (2 days); also ready: 3
          nothing was written: no lock, no branch, no worktree
        --- err
        watch ended: a dry run looks once
        ");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
}

#[test]
fn the_spec_is_found_without_its_name_only_where_one_is_open() {
    let sandbox = sandbox(&single());
    let _ = sandbox
        .orchestrate(&["--dry-run"])
        .exits(0)
        .says("would dispatch alpha task 1");
    let beta = BundleFixture::new("beta").task("1", "other", &[], "1 day");
    sandbox.add_bundle(&beta);
    check!(sandbox, sandbox.orchestrate(&["--dry-run"]), @r"
        exit 4
        --- err
        error: several bundles are open: alpha, beta
        hint: name one: orchestrate specs/alpha
        ");
    let _ = sandbox.git(&["switch", "--quiet", "--create", "planwright/beta/task-1"]);
    let _ = sandbox.orchestrate(&["--dry-run"]).says("beta");
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    let draft = sandbox
        .read("specs/beta/requirements.md")
        .replace("**Status:** Ready", "**Status:** Draft");
    sandbox.write("specs/beta/requirements.md", &draft);
    let _ = sandbox
        .orchestrate(&["--dry-run"])
        .exits(0)
        .says("would dispatch alpha task 1");
}

#[test]
fn a_step_from_a_subdirectory_or_a_worktree_acts_on_the_primary_checkout() {
    let sandbox = sandbox(&alpha());
    let _ = sandbox
        .orchestrate_in(&sandbox.path("specs/alpha"), &["alpha"])
        .exits(0);
    sandbox.wait_for_worker("alpha", "1");
    let worktree = sandbox.path(".claude/worktrees/alpha-task-1");
    let _ = sandbox
        .orchestrate_in(&worktree, &["specs/alpha"])
        .exits(0)
        .says("dispatched alpha task 3");
    sandbox.wait_for_worker("alpha", "3");
    assert!(
        sandbox
            .path(".claude/worktrees/alpha-task-3/specs/alpha/tasks.md")
            .is_file()
    );
    assert!(!worktree.join(".claude").exists());
    assert_eq!(sandbox.starts(), ["alpha 1", "alpha 3"]);
}
