//! The plumbing that reads bundles for other programs: spec-graph, spec-model and spec-status (contract/core.md §9).

use std::fs;

use orchestrate_testkit::bundle::BundleFixture;

use crate::{check, sandbox};

#[test]
fn the_records_of_spec_graph() {
    let bundle = BundleFixture::new("alpha")
        .task("1", "one", &[], "half day")
        .task("2", "two", &["1"], "1 day")
        .task("2.5", "two and a half", &["2"], "3–4 days (grew)")
        .task("3", "three", &["1"], "2 days");
    let sandbox = sandbox(&bundle);
    let tasks = sandbox.read("specs/alpha/tasks.md");
    let tasks = tasks.replace("**Dependencies:** 2\n", "**Dependencies:** Task 2.\n");
    sandbox.write(
        "specs/alpha/tasks.md",
        &tasks.replace("**Dependencies:** 1\n", "**Dependencies:** 1 (see D-1; other 7)\n"),
    );
    let graph = |directory: &str| sandbox.orchestrate(&["plumbing", "spec-graph", directory]);
    check!(sandbox, graph("specs/alpha"), @r"
        exit 0
        --- out
        GRAPHMETA	692	154	builtin	180	44
        GRAPHCRIT	1 2 2.5
        GRAPHNODE	1	22	22	1	one
        GRAPHNODE	2	256	22	1	two
        GRAPHNODE	2.5	490	22	1	two and a half
        GRAPHNODE	3	256	88	0	three
        GRAPHEDGE	1	2	1
        GRAPHEDGE	2	2.5	1
        GRAPHEDGE	1	3	0
        ");
    for bad in ["specs/missing", "specs/alpha/tasks.md", "/"] {
        let output = graph(bad).exits(2);
        assert_eq!(output.stdout, "", "{bad}");
    }
}

#[test]
fn the_records_of_spec_model() {
    let bundle = BundleFixture::new("alpha")
        .task("1", "one", &[], "half day")
        .task("2.5", "two", &["1"], "1 day");
    let sandbox = sandbox(&bundle);
    let model = |directory: &str| sandbox.orchestrate(&["plumbing", "spec-model", directory]);
    check!(sandbox, model("specs/alpha"), @r"
        exit 0
        --- out
        BUNDLE	alpha	Ready
        FILE	requirements.md	present
        FILE	design.md	present
        FILE	tasks.md	present
        FILE	test-spec.md	present
        REQCITE	REQ-A1.1	D-1
        REQ	REQ-A1.1	REQ-A — Parts	live	Each part is delivered.
        DEC	D-1	founding	Parts are small
        DECFIELD	D-1	decision	Each task is one part.
        DECFIELD	D-1	alternatives	One large part.
        DECFIELD	D-1	chosen	Small parts land on their own.
        TASK	1	Tasks	one
        TASKFIELD	1	deliverables	part 1
        TASKFIELD	1	donewhen	part 1 is there
        TASKCITE	1	D-1
        TASKCITE	1	REQ-A1.1
        TASKFIELD	1	effort	half day
        TASK	2.5	Tasks	two
        TASKFIELD	2.5	deliverables	part 2.5
        TASKFIELD	2.5	donewhen	part 2.5 is there
        TASKDEP	2.5	1
        TASKCITE	2.5	D-1
        TASKCITE	2.5	REQ-A1.1
        TASKFIELD	2.5	effort	1 day
        TEST	REQ-A1.1
        ");
    fs::remove_file(sandbox.path("specs/alpha/design.md")).expect("removed");
    sandbox.write("specs/alpha/tasks.md", "\0");
    let output = model("specs/alpha").exits(0);
    assert!(output.stdout.contains("FILE\tdesign.md\tabsent\n") && output.stdout.contains("\nREQ\tREQ-A1.1\t"));
    for bad in ["specs/missing", "/"] {
        assert_eq!(model(bad).exits(2).stdout, "", "{bad}");
    }
}

#[test]
fn spec_status_has_the_contracts_lines_and_exits() {
    let bundle = BundleFixture::new("beta")
        .task("1", "one", &[], "1 day")
        .task("2", "two", &["1"], "2 days")
        .task("3", "three", &[], "3 days")
        .task("4", "four", &[], "9 days")
        .awaiting("4", "which colour?");
    let sandbox = sandbox(&bundle);
    let status = || sandbox.orchestrate(&["plumbing", "spec-status", "specs/beta"]);
    check!(sandbox, status(), @r"
        exit 0
        --- out
        spec: beta
        format-version: 2
        stored status: Ready
        task 1 ready (deps-met)
        task 2 blocked (deps-unmet)
        task 3 ready (deps-met)
        task 4 awaiting-input (bullet: — which colour?)
        bundle status: Ready (derived)
        ");
    let _ = sandbox.commit_all("one\n\nPlanwright-Task: beta/1\nPlanwright-Task: beta/x\nPlanwright-Task: beta/4\n");
    check!(sandbox, status(), @r"
        exit 0
        --- out
        spec: beta
        format-version: 2
        stored status: Ready
        task 1 completed (trailer)
        task 2 ready (deps-met)
        task 3 ready (deps-met)
        task 4 awaiting-input (bullet: — which colour?)
        anomaly: task 4 is parked (awaiting-input) but derives completed (trailer)
        note: refused trailer value beta/x
        bundle status: Active (derived)
        ");
    sandbox.write(".git/orchestrate/dispatch/beta", "no directory\n");
    check!(sandbox, status(), @r"
        exit 3
        --- out
        spec: beta
        format-version: 2
        stored status: Ready
        spec-status: transient evidence failure — .git/orchestrate/dispatch/beta is not a directory
        the state of the tasks is not shown: what could not be read may have landed; ask again later
        parked: task 4 awaiting-input — which colour?
        ");
    fs::remove_file(sandbox.path(".git/orchestrate/dispatch/beta")).expect("removed");
    let _ = sandbox.commit_all("rest\n\nPlanwright-Task: beta/2\nPlanwright-Task: beta/3\n");
    let _ = status().exits(0).says("bundle status: Active (derived)");
    let retired = |status: &str| {
        for file in ["requirements.md", "design.md", "tasks.md", "test-spec.md"] {
            let path = format!("specs/beta/{file}");
            let text = sandbox.read(&path);
            let line = text
                .lines()
                .find(|line| line.starts_with("**Status:**"))
                .expect("a status")
                .to_owned();
            sandbox.write(&path, &text.replace(&line, &format!("**Status:** {status}")));
        }
    };
    retired("Retired");
    check!(sandbox, status(), @r"
        exit 0
        --- out
        spec: beta
        format-version: 2
        stored status: Retired (no execution claim; the stored state is the whole report)
        ");
    retired("Active");
    let output = status().exits(2);
    assert_eq!(output.stdout, "");
    for bad in ["specs/missing", "specs", "/"] {
        assert_eq!(sandbox.orchestrate(&["plumbing", "spec-status", bad]).exit, 2, "{bad}");
    }
}

#[test]
fn a_block_of_version_one_is_parked_by_its_section() {
    let bundle = BundleFixture::new("beta")
        .task("1", "one", &[], "1 day")
        .task("2", "two", &["1"], "2 days")
        .task("3", "three", &[], "3 days");
    let sandbox = sandbox(&bundle);
    for file in ["requirements.md", "design.md", "tasks.md", "test-spec.md"] {
        let path = format!("specs/beta/{file}");
        let text = sandbox
            .read(&path)
            .replace(
                "**Format-version:** 2\n**Execution:** derived — see the status render\n",
                "**Format-version:** 1\n",
            )
            .replace("## Tasks\n", "## Forward plan\n")
            .replace("\n## Awaiting input\n\n(none yet)\n", "")
            .replace(
                "### Task 3",
                "## In progress\n\n(none yet)\n\n## Awaiting input\n\n### Task 3",
            )
            .replace("## Deferred\n", "## Completed\n\n(none yet)\n\n## Deferred\n");
        sandbox.write(&path, &text);
    }
    check!(sandbox, sandbox.orchestrate(&["plumbing", "spec-status", "specs/beta"]), @r"
        exit 0
        --- out
        spec: beta
        format-version: 1
        stored status: Ready
        task 1 ready (deps-met)
        task 2 blocked (deps-unmet)
        task 3 awaiting-input (parked)
        bundle status: Ready (derived)
        ");
    check!(sandbox, sandbox.orchestrate(&["graph", "beta", "--no-state"]), @r"
        exit 0
        --- out
        beta · Ready · 3 tasks in 2 layers · 6 days of work, 3 critical

          ○    1*  one            1 d
          ┃ ◇  3   three  parked  3 d
          ○    2*  two            2 d  after 1

        critical path (*): 1 → 2
        ");
}

#[test]
fn spec_status_of_a_bundle_without_open_tasks() {
    let bundle = BundleFixture::new("beta")
        .task("1", "one", &[], "1 day")
        .task("2", "two", &[], "1 day")
        .out_of_scope("2", "never");
    let first = sandbox(&bundle);
    let _ = first.commit_all("one\n\nPlanwright-Task: beta/1\n");
    let _ = first
        .orchestrate(&["plumbing", "spec-status", "specs/beta"])
        .exits(0)
        .says("bundle status: Done (derived)");
    let empty = sandbox(&BundleFixture::new("beta"));
    check!(empty, empty.orchestrate(&["plumbing", "spec-status", "specs/beta"]), @r"
        exit 0
        --- out
        spec: beta
        format-version: 2
        stored status: Ready
        no tasks: the bundle defines no task blocks
        bundle status: Ready (stored; no tasks — never derives Done)
        ");
}
