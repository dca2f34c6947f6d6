//! The fence at origin: clones of one bare repository, with real pushes (architecture §6; contract/later.md §2).

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_e2e::surroundings::{failpoint_binary, skipped};
use orchestrate_testkit::bundle::BundleFixture;

use crate::{PROGRAM, alpha, check, sandbox, single};

const FENCE: &str = "refs/planwright-fence/alpha/1";

/// A sandbox with an origin, and a second clone of it that is set up in the same way.
fn two_clones(program: &str) -> (Sandbox, Utf8PathBuf) {
    let sandbox = Sandbox::with(program, &alpha());
    sandbox.add_origin();
    let clone = another_clone(&sandbox, "clone");
    (sandbox, clone)
}

fn another_clone(sandbox: &Sandbox, name: &str) -> Utf8PathBuf {
    let clone = sandbox.clone_origin(name, &[]);
    let local = ".claude/planwright.local.yml";
    std::fs::create_dir_all(clone.join(".claude")).expect("a directory");
    std::fs::copy(sandbox.path(local), clone.join(local)).expect("the same settings");
    clone
}

/// The fences at origin, each with what it leads to.
fn fences(sandbox: &Sandbox) -> Vec<String> {
    let origin = sandbox.root().join("origin.git");
    let listed = sandbox.git_in(
        &origin,
        &["for-each-ref", "--format=%(refname)", "refs/planwright-fence"],
    );
    listed.lines().map(str::to_owned).collect()
}

fn intents(directory: &Utf8Path) -> Vec<String> {
    let Ok(entries) = directory.join(".git/orchestrate/intent/alpha").read_dir_utf8() else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().to_owned())
        .collect();
    names.sort();
    names
}

fn fleet_fence(sandbox: &Sandbox, checkout: &Utf8Path, verb: &str, more: &[&str]) -> orchestrate_e2e::output::Output {
    let place = ["plumbing", "fleet-fence", verb, "--checkout", checkout.as_str()];
    sandbox.orchestrate(&[&place, more].concat())
}

/// Verifies REQ-D2.1.
#[test]
fn of_two_clones_each_takes_its_own_unit_and_names_the_other() {
    let (sandbox, clone) = two_clones(PROGRAM);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    assert_eq!(fences(&sandbox), [FENCE]);
    assert_eq!(intents(&sandbox.repository()), ["1"]);
    let origin = sandbox.root().join("origin.git");
    let message = sandbox.git_in(&origin, &["log", "-1", "--format=%an|%P|%B", FENCE]);
    assert!(
        message.starts_with("orchestrate||orchestrate: a tower takes this unit"),
        "{message}"
    );
    assert_eq!(sandbox.git_in(&origin, &["ls-tree", FENCE]), "");

    let _ = sandbox
        .orchestrate_in(&clone, &["alpha"])
        .exits(0)
        .says("dispatched alpha task 3");
    let _ = sandbox
        .orchestrate_in(&clone, &["alpha", "--detailed-exitcode"])
        .exits(12)
        .says("held: cannot tell what is done of task 1: a tower on ")
        .says("has fenced it, and nothing of its work is seen here")
        .says("its worker may be at work in that tower's clone")
        .says(&format!("if that clone is gone for good: git push origin :{FENCE}"))
        // What else is open, each with why.
        .says("\n  2     needs 1 (unknown)\n")
        .says("\n  3     ");
    let why = sandbox.orchestrate_in(&clone, &["why", "alpha", "1"]).exits(0);
    assert!(why.text().contains("has fenced it"), "{why}");
    // This clone's step sees the other's fence; of its own it does not say that there is none.
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("has fenced it");
    let own = sandbox.orchestrate(&["why", "alpha", "1"]).exits(0);
    assert!(
        own.text().contains("no fence of another clone; this one has fenced it"),
        "{own}"
    );
    let _ = sandbox
        .orchestrate_in(&clone, &["alpha", "--dry-run"])
        .exits(0)
        .says("cannot tell what is done of task 1");
    let status = sandbox.orchestrate_in(&clone, &["status", "alpha"]).exits(0);
    assert!(status.text().contains("a tower on "), "{status}");
    sandbox.wait_for_worker("alpha", "1");
}

/// Verifies REQ-D2.1.
#[test]
fn a_fence_goes_when_its_unit_has_landed_at_origin_and_not_before() {
    let (sandbox, clone) = two_clones(PROGRAM);
    sandbox.act_commit("1", "feat: one\n\nPlanwright-Task: alpha/1");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    sandbox.wait_for_worker("alpha", "1");
    let _ = sandbox.git(&[
        "merge",
        "--quiet",
        "--no-ff",
        "-m",
        "land it",
        "planwright/alpha/task-1",
    ]);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    assert!(fences(&sandbox).contains(&FENCE.to_owned()), "it has landed only here");

    let _ = sandbox.git(&["push", "--quiet", "origin", "main"]);
    // Whoever has seen the landing there collects the fence.
    let _ = sandbox
        .orchestrate_in(&clone, &["alpha"])
        .exits(0)
        .says("dispatched alpha task 2");
    assert!(!fences(&sandbox).contains(&FENCE.to_owned()));
}

/// What only the branch of one clone tells, the others do not see: without the fence they would begin the task again.
/// Verifies REQ-D2.1.
#[test]
fn a_landing_that_other_clones_cannot_see_keeps_its_fence() {
    let (sandbox, clone) = two_clones(PROGRAM);
    sandbox.act_commit("1", "feat: one");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    let _ = sandbox.git(&["merge", "--quiet", "--ff-only", "planwright/alpha/task-1"]);
    let _ = sandbox.git(&["push", "--quiet", "origin", "main"]);
    let told = "git commit --allow-empty -m \"chore: task 1 has landed\" -m \"Planwright-Task: alpha/1\", \
                then git push origin main";
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says(told);
    assert!(fences(&sandbox).contains(&FENCE.to_owned()));
    let _ = sandbox
        .orchestrate_in(&clone, &["alpha"])
        .exits(0)
        .says("dispatched alpha task 3");

    let _ = sandbox.commit_all("chore: task 1 has landed\n\nPlanwright-Task: alpha/1");
    let _ = sandbox.git(&["push", "--quiet", "origin", "main"]);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    assert!(!fences(&sandbox).contains(&FENCE.to_owned()));
}

/// Verifies REQ-C1.3.
#[test]
fn an_empty_branch_that_was_pushed_is_no_work_to_the_clone_that_made_it() {
    let (sandbox, clone) = two_clones(PROGRAM);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    let _ = sandbox.git(&["push", "--quiet", "origin", "planwright/alpha/task-1"]);
    let _ = sandbox.git(&["fetch", "--quiet", "origin"]);
    let _ = sandbox.git_in(&clone, &["fetch", "--quiet", "origin"]);
    let said = |directory: &Utf8Path| {
        let why = sandbox.orchestrate_in(directory, &["why", "alpha", "1", "--format", "json"]);
        why.exits(0).json()
    };
    let here = said(&sandbox.repository());
    assert_eq!(here["decided_by"], "dispatch marker", "{here}");
    let there = said(&clone);
    assert_eq!(there["state"], "unknown", "{there}");
    assert!(
        there["hint"]
            .as_str()
            .is_some_and(|hint| hint.contains("git fetch --prune")),
        "{there}"
    );
    // Nor does a branch that somebody makes of it say where it started.
    let branch = ["planwright/alpha/task-1", "origin/planwright/alpha/task-1"];
    let _ = sandbox.git_in(&clone, &[&["branch", "--quiet"], &branch[..]].concat());
    let there = said(&clone);
    assert_eq!(there["state"], "unknown", "{there}");
}

/// Verifies REQ-D2.1.
#[test]
fn an_origin_that_has_moved_since_it_was_fetched_is_fetched_again() {
    let (sandbox, clone) = two_clones(PROGRAM);
    let _ = sandbox
        .orchestrate_in(&clone, &["alpha"])
        .exits(0)
        .says("dispatched alpha task 1");
    let moved = sandbox.commit_all("something else");
    let _ = sandbox.git(&["push", "--quiet", "origin", "main"]);
    let _ = sandbox
        .orchestrate_in(&clone, &["alpha"])
        .exits(0)
        .says("dispatched alpha task 3");
    assert_eq!(sandbox.git_in(&clone, &["rev-parse", "origin/main"]), moved);
    assert_eq!(fences(&sandbox), [FENCE, "refs/planwright-fence/alpha/3"]);
}

/// Verifies REQ-D2.1.
#[test]
fn a_reference_towers_tip_fence_holds_and_ours_holds_it() {
    let (sandbox, clone) = two_clones(PROGRAM);
    let tip = |directory: &Utf8Path, task: &str| {
        // What the reference does: the tip of the base, where nothing may be yet.
        let reference = format!("refs/planwright-fence/alpha/{task}");
        let lease = format!("--force-with-lease={reference}:{}", "0".repeat(40));
        let push = ["push", "--porcelain", "--atomic", &lease, "origin"];
        sandbox.try_git(directory, &[&push[..], &[&format!("origin/main:{reference}")]].concat())
    };
    let _ = tip(&clone, "1").exits(0);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 3");
    let why = sandbox.orchestrate(&["why", "alpha", "1"]).exits(0);
    assert!(why.text().contains("a tower that does not say which it is"), "{why}");
    let refused = tip(&clone, "3");
    assert_eq!(refused.exit, 1, "{refused}");
    assert!(refused.text().contains("!\t"), "{refused}");
}

/// Verifies REQ-D2.1.
#[test]
fn an_origin_that_fails_holds_and_one_that_refuses_says_so() {
    let (sandbox, _) = two_clones(PROGRAM);
    let hook = "../origin.git/hooks/pre-receive";
    let _ = sandbox
        .shell(&format!(
            "printf '#!/bin/sh\\necho only heads here\\nexit 1\\n' > {hook} && chmod +x {hook}"
        ))
        .exits(0);
    let _ = sandbox
        .orchestrate(&["alpha", "--detailed-exitcode"])
        .exits(12)
        .says("origin refuses the fence of task 1: [remote rejected] (pre-receive hook declined): only heads here")
        .says("dispatch_fence: off");
    let _ = sandbox.git(&["remote", "set-url", "origin", "/no/such/place"]);
    let _ = sandbox
        .orchestrate(&["alpha", "--detailed-exitcode"])
        .exits(12)
        .says("origin cannot be asked: ");
    assert_eq!(sandbox.refs("refs/heads/planwright"), [""; 0]);
    sandbox.configure("base_branch: main\ndispatch_fence: off\n");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
}

/// What origin refuses of one unit holds that unit, and the next one is taken.
/// Verifies REQ-D2.1.
#[test]
fn a_fence_that_is_refused_sets_its_own_unit_aside() {
    let (sandbox, _) = two_clones(PROGRAM);
    let _ = sandbox.git(&["push", "--quiet", "origin", &format!("main:{FENCE}/beneath")]);
    let _ = sandbox
        .orchestrate(&["alpha"])
        .exits(0)
        .says("task 1 is set aside: origin refuses the fence of task 1: [remote rejected]")
        .says("orchestrate doctor names a ref that is in its way")
        .says("dispatched alpha task 3");
    sandbox.wait_for_worker("alpha", "3");
    let _ = sandbox
        .orchestrate(&["doctor"])
        .says(&format!("git push origin :{FENCE}/beneath"));
    let _ = sandbox.git(&["push", "--quiet", "origin", &format!(":{FENCE}/beneath")]);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
}

/// Each would wait for the other's unit to make place, and nobody would ever begin. (Torture, seed 101, round 217.)
/// Verifies REQ-D2.1.
#[test]
fn two_clones_that_were_killed_behind_their_fences_do_not_wait_for_each_other() {
    let Some(program) = failpoint_binary() else {
        return skipped("kills at named points (ORCHESTRATE_FAILPOINT_BINARY is not set)");
    };
    let (sandbox, clone) = two_clones(&program);
    let settings = |cap: u32| {
        let local = ".claude/planwright.local.yml";
        sandbox.configure(&format!("max_parallel_units: {cap}\n"));
        std::fs::copy(sandbox.path(local), clone.join(local)).expect("the same settings");
    };
    settings(2);
    let killed = [("ORCHESTRATE_FAILPOINT", "push-fences.after")];
    for place in [&sandbox.repository(), &clone] {
        let _ = sandbox.orchestrate_with(place, &["alpha"], &killed).exits(137);
    }
    assert_eq!(fences(&sandbox), [FENCE, "refs/planwright-fence/alpha/3"]);
    settings(1);
    for (place, own) in [(&clone, "3"), (&sandbox.repository(), "1")] {
        let _ = sandbox
            .orchestrate_in(place, &["alpha"])
            .exits(0)
            .says(&format!("dispatched alpha task {own}"));
    }
    // What is not fenced here still waits for its place.
    let _ = sandbox
        .orchestrate_in(&clone, &["alpha", "--detailed-exitcode"])
        .exits(12);
}

/// However many fences origin refuses, no step begins with the same ones again and never comes to the unit after them.
/// Verifies REQ-D2.1.
#[test]
fn more_refused_fences_than_a_step_decides_do_not_stop_the_unit_after_them() {
    let ids = ["1", "2", "3", "4", "5", "6"];
    let bundle = ids.iter().fold(BundleFixture::new("alpha"), |bundle, id| {
        bundle.task(id, &format!("part {id}"), &[], "1 day")
    });
    let sandbox = Sandbox::with(PROGRAM, &bundle);
    sandbox.add_origin();
    for id in &ids[..5] {
        let beneath = format!("main:refs/planwright-fence/alpha/{id}/beneath");
        let _ = sandbox.git(&["push", "--quiet", "origin", &beneath]);
    }
    let _ = sandbox
        .orchestrate(&["alpha"])
        .exits(0)
        .says("task 5 is set aside: origin refuses the fence of task 5")
        .says("dispatched alpha task 6");
    sandbox.wait_for_worker("alpha", "6");
}

/// A branch without a commit of its own announces work: that its commit is in base says nothing of it.
/// Verifies REQ-D2.1.
#[test]
fn a_branch_that_was_pushed_since_the_fetch_undoes_the_dispatch() {
    let (sandbox, clone) = two_clones(PROGRAM);
    sandbox.configure("dispatch_fetch_ttl: 10m\n");
    let _ = sandbox
        .orchestrate(&["alpha", "--prefer", "3"])
        .exits(0)
        .says("dispatched alpha task 3");
    sandbox.wait_for_worker("alpha", "3");
    let branch = "planwright/alpha/task-1";
    let _ = sandbox.git_in(&clone, &["switch", "--quiet", "--create", branch]);
    let _ = sandbox.git_in(&clone, &["push", "--quiet", "origin", branch]);
    let _ = sandbox
        .orchestrate(&["alpha", "--detailed-exitcode"])
        .exits(12)
        .says("is contained in main, but where it started is not recorded");
    assert_eq!(sandbox.starts(), ["alpha 3"]);
    assert_eq!(fences(&sandbox), ["refs/planwright-fence/alpha/3"]);
}

/// Verifies REQ-D2.1.
#[test]
fn a_fence_that_is_demanded_needs_an_origin() {
    let sandbox = sandbox(&single());
    sandbox.configure("dispatch_fence: on\n");
    let _ = sandbox
        .orchestrate(&["alpha", "--detailed-exitcode"])
        .exits(12)
        .says("there is no origin, and dispatch_fence is on");
    sandbox.configure("");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    assert_eq!(intents(&sandbox.repository()), [""; 0]);
    sandbox.wait_for_worker("alpha", "1");
}

/// A tower that is killed around its push goes on from its own fence; a peer never does.
/// Verifies REQ-D2.1.
#[test]
fn a_tower_that_was_killed_adopts_its_own_fence_only() {
    let Some(program) = failpoint_binary() else {
        return skipped("kills at named points (ORCHESTRATE_FAILPOINT_BINARY is not set)");
    };
    for point in [
        "create-fence.before",
        "create-fence.after",
        "push-fences.before",
        "push-fences.after",
        "create-branch.before",
        "create-branch.after",
    ] {
        let (sandbox, clone) = two_clones(&program);
        let killed = sandbox.orchestrate_with(&sandbox.repository(), &["alpha"], &[("ORCHESTRATE_FAILPOINT", point)]);
        assert_ne!(killed.exit, 0, "{point}: {killed}");
        let is_fenced = !fences(&sandbox).is_empty();
        let taken = if is_fenced { "3" } else { "1" };
        let _ = sandbox
            .orchestrate_in(&clone, &["alpha"])
            .exits(0)
            .says(&format!("dispatched alpha task {taken}"));
        let own = if is_fenced { "1" } else { "3" };
        let _ = sandbox
            .orchestrate(&["alpha"])
            .exits(0)
            .says(&format!("dispatched alpha task {own}"));
        sandbox.wait_for_worker("alpha", own);
        let mut starts = sandbox.starts();
        starts.sort();
        assert_eq!(starts, ["alpha 1", "alpha 3"], "{point}");
    }
}

/// A fence that origin still shows after it was given back is removed, and the next one is another one (decision 86).
/// Verifies REQ-D2.1.
#[test]
fn a_fence_that_was_given_back_is_never_taken_for_a_later_one() {
    let Some(program) = failpoint_binary() else {
        return skipped("kills at named points (ORCHESTRATE_FAILPOINT_BINARY is not set)");
    };
    let (sandbox, clone) = two_clones(&program);
    let point = [("ORCHESTRATE_FAILPOINT", "push-fences.after")];
    let killed = sandbox.orchestrate_with(&sandbox.repository(), &["alpha"], &point);
    assert_ne!(killed.exit, 0, "{killed}");
    let origin = sandbox.root().join("origin.git");
    let standing = || sandbox.git_in(&origin, &["rev-parse", FENCE]);
    let given_back = standing();
    let intent = sandbox.path(".git/orchestrate/intent/alpha/1");
    std::fs::copy(&intent, format!("{intent}.given-back")).expect("given back, and the removal lost");
    let _ = sandbox
        .orchestrate_in(&clone, &["alpha"])
        .exits(0)
        .says("dispatched alpha task 3");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    assert_ne!(standing(), given_back);
    assert!(
        std::fs::read_to_string(&intent)
            .expect("an intent")
            .contains(standing().trim())
    );
    sandbox.wait_for_worker("alpha", "1");
}

/// Verifies REQ-D2.1, REQ-F1.5.
#[test]
fn of_twelve_racers_on_four_refs_each_has_one_winner() {
    let sandbox = sandbox(&alpha());
    sandbox.add_origin();
    let clones: Vec<Utf8PathBuf> = (0..12)
        .map(|number| another_clone(&sandbox, &format!("clone-{number}")))
        .collect();
    let running: Vec<(usize, Vec<_>)> = clones
        .iter()
        .enumerate()
        .map(|(number, clone)| {
            let start = |task: &str| {
                let arguments = [
                    "plumbing",
                    "fleet-fence",
                    "fence",
                    "--checkout",
                    clone.as_str(),
                    "--spec",
                    "alpha",
                ];
                sandbox.start(&[&arguments[..], &[task]].concat())
            };
            (number, ["1", "2", "3", "4"].map(start).into_iter().collect())
        })
        .collect();
    let mut won = [0; 4];
    for (_, racers) in running {
        for (task, racer) in racers.into_iter().enumerate() {
            let output = racer.finish();
            match output.exit {
                0 => {
                    won[task] += 1;
                    assert!(
                        output.text().contains("fenced\trefs/planwright-fence/alpha/"),
                        "{output}"
                    );
                }
                3 => assert!(
                    output.text().contains("taken\trefs/planwright-fence/alpha/"),
                    "{output}"
                ),
                _ => panic!("{output}"),
            }
        }
    }
    assert_eq!(won, [1; 4]);
}

/// Verifies REQ-F1.5.
#[test]
fn the_verbs_have_the_contracts_records_and_exit_numbers() {
    let (sandbox, clone) = two_clones(PROGRAM);
    let here = sandbox.repository();
    let verb = |verb: &str, more: &[&str]| fleet_fence(&sandbox, &here, verb, &[&["--spec", "alpha"], more].concat());
    let _ = sandbox
        .orchestrate(&["plumbing", "fleet-fence", "refname", "--spec", "alpha", "1-2"])
        .exits(0)
        .says("refs/planwright-fence/alpha/1-2");
    check!(sandbox, verb("check", &["1"]), @r"
        exit 1
        --- out
        unfenced	refs/planwright-fence/alpha/1
        ");
    check!(sandbox, verb("fence", &["1", "2"]), @r"
        exit 0
        --- out
        fenced	refs/planwright-fence/alpha/1
        fenced	refs/planwright-fence/alpha/2
        ");
    check!(sandbox, verb("check", &["1"]), @r"
        exit 0
        --- out
        fenced	refs/planwright-fence/alpha/1
        ");
    check!(sandbox, verb("fence", &["3", "2"]), @r"
        exit 3
        --- out
        taken	refs/planwright-fence/alpha/2
        ");
    check!(sandbox, fleet_fence(&sandbox, &clone, "list", &[]), @r"
        exit 0
        --- out
        refs/planwright-fence/alpha/1
        refs/planwright-fence/alpha/2
        ");
    check!(sandbox, verb("gc", &["1", "3"]), @r"
        exit 0
        --- out
        gc	refs/planwright-fence/alpha/1
        gc-absent	refs/planwright-fence/alpha/3
        ");
    check!(sandbox, verb("gc", &["2", "--alloc-key", "execution", "--obs-scope", "alpha"]), @r"
        exit 0
        --- out
        gc	refs/planwright-fence/alpha/2
        --- err
        fleet-fence: note: nothing here evaluates --alloc-key; no observation is made
        ");
    for wrong in [
        &["1", "1"][..],
        &["x"],
        &["1-1"],
        &["--obs-dir", "x", "1"],
        &["--alloc-key", "", "--obs-scope", "", "1"],
        &["--grace", "3", "1"],
        &[],
    ] {
        let output = verb("gc", wrong);
        assert_eq!(output.exit, 2, "{wrong:?}: {output}");
        assert_eq!(output.stdout, "", "{wrong:?}");
    }
    let nowhere = sandbox.root().join("bin");
    assert_eq!(fleet_fence(&sandbox, &nowhere, "list", &[]).exit, 2);
    assert_eq!(fleet_fence(&sandbox, Utf8Path::new("."), "list", &[]).exit, 2);
    let _ = sandbox.git(&["remote", "set-url", "origin", "/no/such/place"]);
    assert_eq!(verb("fence", &["1"]).exit, 4);
    let _ = sandbox.git(&["remote", "remove", "origin"]);
    check!(sandbox, verb("fence", &["1"]), @r"
        exit 5
        --- out
        solo	no-origin
        ");
}

/// Verifies REQ-F1.5.
#[test]
fn the_sweep_collects_what_has_landed_and_names_who_does_not_answer() {
    let (sandbox, clone) = two_clones(PROGRAM);
    let origin = sandbox.root().join("origin.git");
    let _ = sandbox.git_in(&origin, &["update-ref", "refs/planwright-fence/alpha/odd", "main"]);
    let _ = sandbox.git_in(&origin, &["update-ref", "refs/planwright-fence/alpha/2", "main"]);
    let _ = sandbox
        .orchestrate_in(&clone, &["alpha"])
        .exits(0)
        .says("dispatched alpha task 1");
    let _ = fleet_fence(&sandbox, &clone, "fence", &["--spec", "alpha", "3"]).exits(0);
    let sweep = |directory: &Utf8Path| fleet_fence(&sandbox, directory, "sweep", &["--spec", "alpha", "--pid", "7"]);
    let _ = sweep(&clone)
        .exits(0)
        .says("honored\trefs/planwright-fence/alpha/1\t")
        .says("anomaly\trefs/planwright-fence/alpha/odd\toff-grammar-unit-id")
        .says("tentative\trefs/planwright-fence/alpha/2\n")
        .says("strand\trefs/planwright-fence/alpha/3\t")
        .says("summary\tfences=4\tstrands=1");
    let _ = sandbox.commit_all("feat: one\n\nPlanwright-Task: alpha/1");
    let _ = sweep(&sandbox.repository())
        .exits(0)
        .says("gc\trefs/planwright-fence/alpha/1")
        .says("summary\tfences=4\tstrands=1");
    let usage = fleet_fence(&sandbox, &clone, "sweep", &["--spec", "alpha"]);
    assert_eq!(usage.exit, 2, "{usage}");
}

/// Verifies REQ-F1.5.
#[test]
fn a_fence_without_an_owner_is_watched_then_told_of_and_then_kept_quiet() {
    const LONG: &str = "999999999999";
    let (sandbox, clone) = two_clones(PROGRAM);
    let origin = sandbox.root().join("origin.git");
    let _ = sandbox.git_in(&origin, &["update-ref", "refs/planwright-fence/alpha/2", "main"]);
    let sweep = |grace: &str, interval: &str| {
        let terms = ["--pid", "7", "--grace", grace, "--min-interval", interval];
        fleet_fence(&sandbox, &clone, "sweep", &[&["--spec", "alpha"][..], &terms].concat()).exits(0)
    };
    let told = |output: &orchestrate_e2e::output::Output| output.stdout.lines().next().map(str::to_owned);
    let tentative = Some("tentative\trefs/planwright-fence/alpha/2".to_owned());
    let strand = Some("strand\trefs/planwright-fence/alpha/2\tunknown-owner\torphan".to_owned());
    assert_eq!(told(&sweep("0", "0")), tentative, "a first sighting");
    assert_eq!(told(&sweep(LONG, LONG)), tentative, "its grace is not over");
    assert_eq!(told(&sweep("0", LONG)), strand);
    let quiet = sweep("0", LONG).says("summary\tfences=1\tstrands=0");
    assert_eq!(
        told(&quiet).as_deref(),
        Some("suppressed\trefs/planwright-fence/alpha/2")
    );
    assert_eq!(told(&sweep(LONG, "0")), strand, "what was a strand stays one");

    let sightings = clone.join(".git/orchestrate/intent/alpha/sightings.json");
    std::fs::write(&sightings, "{").expect("written");
    let anew = sweep("0", "0").says("is not used: unreadable record of sightings");
    assert_eq!(told(&anew), tentative, "a record that does not read tells nothing");

    let _ = sandbox.git_in(&origin, &["update-ref", "-d", "refs/planwright-fence/alpha/2"]);
    check!(sandbox, sweep("0", LONG), @r"
        exit 0
        --- out
        summary	fences=0	strands=0
        ");
    let left = std::fs::read_to_string(&sightings).expect("a record");
    assert!(!left.contains("planwright-fence"), "{left}");
    // The next fence of the same name is another one.
    let _ = sandbox.git_in(&origin, &["update-ref", "refs/planwright-fence/alpha/2", "main"]);
    assert_eq!(told(&sweep("0", LONG)), tentative);
}
