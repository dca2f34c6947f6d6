//! Many towers at once on one bundle: each unit gets one worker (law L3).

use std::collections::BTreeMap;

use orchestrate_e2e::running::Running;
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_testkit::bundle::BundleFixture;

use crate::sandbox;

const UNITS: [&str; 5] = ["1", "2", "3", "4", "5"];

fn five() -> BundleFixture {
    UNITS.iter().fold(BundleFixture::new("alpha"), |bundle, unit| {
        bundle.task(unit, "independent", &[], "1 day")
    })
}

/// Every unit has one start, one branch, one worktree, and its worker ended.
fn each_unit_once(sandbox: &Sandbox) {
    for unit in UNITS {
        sandbox.wait_for_worker("alpha", unit);
    }
    let mut starts = BTreeMap::new();
    for start in sandbox.starts() {
        *starts.entry(start).or_insert(0) += 1;
    }
    let expected: BTreeMap<String, i32> = UNITS.map(|unit| (format!("alpha {unit}"), 1)).into();
    assert_eq!(starts, expected);
    let branches: Vec<String> = UNITS
        .map(|unit| format!("refs/heads/planwright/alpha/task-{unit}"))
        .to_vec();
    assert_eq!(sandbox.refs("refs/heads/planwright"), branches);
    let worktrees = sandbox.git(&["worktree", "list", "--porcelain"]);
    assert_eq!(
        worktrees.matches("\nbranch refs/heads/planwright/alpha/").count(),
        UNITS.len(),
        "{worktrees}"
    );
    assert!(
        !worktrees.contains("locked") && !worktrees.contains("prunable"),
        "{worktrees}"
    );
    let leftovers = sandbox
        .shell("ls -A specs/alpha; ls -A .git/orchestrate-staging")
        .stdout;
    let left = ".orchestrate\ndesign.md\nkickoff-brief.md\nrequirements.md\ntasks.md\ntest-spec.md\n";
    assert_eq!(leftovers, left, "no lock and nothing staged stays");
    let _ = sandbox.git(&["fsck", "--strict"]);
}

/// Verifies REQ-A1.3.
#[test]
fn ten_towers_dispatch_each_unit_once() {
    for round in 0..3 {
        let sandbox = sandbox(&five());
        sandbox.configure("max_parallel_units: 10\n");
        let mut dispatched = Vec::new();
        for _ in 0..UNITS.len() {
            let towers: Vec<Running> = (0..10).map(|_| sandbox.start(&["alpha"])).collect();
            for tower in towers {
                let output = tower.finish().exits(0);
                let line = output.stdout.lines().next().unwrap_or_default().to_owned();
                let known = ["dispatched alpha task ", "held: ", "nothing to dispatch: "];
                assert!(
                    known.iter().any(|start| line.starts_with(start)),
                    "round {round}: {output}"
                );
                dispatched.extend(line.strip_prefix("dispatched alpha task ").map(str::to_owned));
            }
            if dispatched.len() == UNITS.len() {
                break;
            }
        }
        dispatched.sort();
        assert_eq!(dispatched, UNITS, "round {round}");
        each_unit_once(&sandbox);
    }
}

#[test]
fn two_loops_at_once_dispatch_each_unit_once() {
    let sandbox = sandbox(&five());
    sandbox.configure("max_parallel_units: 10\nwatch_interval_seconds: 1\n");
    let loops = [
        sandbox.start(&["alpha", "--watch"]),
        sandbox.start(&["alpha", "--watch"]),
    ];
    let mut dispatched = 0;
    for running in loops {
        let output = running.finish().exits(0);
        assert!(output.stderr.contains("watch ended: nothing is ready"), "{output}");
        dispatched += output.stdout.matches("dispatched alpha task ").count();
    }
    assert_eq!(dispatched, UNITS.len());
    each_unit_once(&sandbox);
}

/// Verifies REQ-C2.3.
#[test]
fn the_cap_holds_under_a_race() {
    let sandbox = sandbox(&five());
    sandbox.configure("max_parallel_units: 2\n");
    for unit in UNITS {
        sandbox.close_gate(unit);
    }
    for _ in 0..3 {
        let towers: Vec<Running> = (0..6).map(|_| sandbox.start(&["alpha"])).collect();
        for tower in towers {
            let _ = tower.finish().exits(0);
        }
    }
    let workers = [sandbox.worker_at_gate("1"), sandbox.worker_at_gate("2")];
    let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(11);
    assert_eq!(sandbox.refs("refs/heads/planwright").len(), 2);
    drop(workers);
    for unit in ["1", "2"] {
        sandbox.wait_for_worker("alpha", unit);
    }
    assert_eq!(sandbox.starts().len(), 2);
}

/// Verifies REQ-A1.12.
#[test]
fn towers_of_different_specs_do_not_wait_for_each_other() {
    let sandbox = sandbox(&five());
    sandbox.add_bundle(&BundleFixture::new("beta").task("1", "other", &[], "1 day"));
    std::fs::create_dir(sandbox.path("specs/alpha/.orchestrate.lock")).expect("a peer's lock");
    let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(12);
    let _ = sandbox
        .orchestrate(&["beta", "--detailed-exitcode"])
        .exits(0)
        .says("dispatched beta task 1");
    sandbox.wait_for_worker("beta", "1");
}
