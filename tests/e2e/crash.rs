//! Kills at the worst moments: the next step converges, and nothing is lost (law L11).

use std::fs;
use std::time::Instant;

use orchestrate_e2e::running::{PATIENCE, children_of, kill_process_and_wait};
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_e2e::surroundings::{failpoint_binary, skipped};
use orchestrate_testkit::bundle::BundleFixture;

use crate::{alpha, check, sandbox, single, state_of};

const PLACE: &str = ".claude/worktrees/alpha-task-1";

/// A tower killed in the checkout, right before git was to run that subcommand.
fn killed_before(bundle: &BundleFixture, subcommand: &str) -> Sandbox {
    let sandbox = sandbox(bundle);
    sandbox.intercept_git(subcommand, 1);
    let tower = sandbox.start(&["alpha"]);
    let gate = sandbox.worker_at_gate("git");
    tower.kill();
    kill_process_and_wait(sandbox.intercepted());
    drop(gate);
    sandbox
}

/// Verifies REQ-C1.6.
#[test]
fn a_tower_killed_before_the_launch_is_continued_at_once_in_the_same_worktree() {
    for subcommand in ["read-tree", "checkout-index", "update-index"] {
        let sandbox = killed_before(&alpha(), subcommand);
        let branch = sandbox.commit_of("planwright/alpha/task-1");
        assert!(
            sandbox.path("specs/alpha/.orchestrate/markers/1").is_file(),
            "the claim was written"
        );
        assert!(sandbox.path(".git/worktrees/alpha-task-1/locked").is_file());
        assert_eq!(sandbox.starts(), [""; 0]);
        assert_eq!(
            state_of(&sandbox, "1"),
            "ready",
            "{subcommand}: the claim of a dead tower is void at once"
        );
        let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
        sandbox.wait_for_worker("alpha", "1");
        assert_eq!(sandbox.starts(), ["alpha 1"], "{subcommand}");
        assert_eq!(sandbox.commit_of("planwright/alpha/task-1"), branch);
        assert_eq!(sandbox.git_in(&sandbox.path(PLACE), &["status", "--porcelain"]), "");
        assert!(!sandbox.path(".git/worktrees/alpha-task-1/locked").exists());
        assert_eq!(sandbox.git(&["worktree", "list"]).lines().count(), 2);
    }
}

#[test]
fn while_the_dead_towers_git_still_writes_nobody_takes_the_worktree() {
    let sandbox = sandbox(&single());
    sandbox.intercept_git("checkout-index", 1);
    let tower = sandbox.start(&["alpha"]);
    let gate = sandbox.worker_at_gate("git");
    tower.kill();
    let git = sandbox.intercepted();
    let _ = sandbox
        .orchestrate(&["alpha", "--detailed-exitcode"])
        .exits(12)
        .says(&format!("pid {git}"));
    kill_process_and_wait(git);
    drop(gate);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(sandbox.starts(), ["alpha 1"]);
}

#[test]
fn a_living_tower_in_its_checkout_is_waited_for() {
    let sandbox = sandbox(&single());
    sandbox.intercept_git("read-tree", 1);
    let tower = sandbox.start(&["alpha"]);
    let gate = sandbox.worker_at_gate("git");
    assert!(state_of(&sandbox, "1").starts_with("dispatched: a tower is dispatching it (pid "));
    let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(10);
    assert!(
        !sandbox.path("specs/alpha/.orchestrate.lock").exists(),
        "no lock is held across the checkout"
    );
    drop(gate);
    let _ = tower.finish().exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(sandbox.starts(), ["alpha 1"]);
}

/// Verifies REQ-A1.5.
#[test]
fn what_a_person_wrote_into_an_unfinished_worktree_is_named_and_kept() {
    let sandbox = killed_before(&single(), "checkout-index");
    sandbox.write(&format!("{PLACE}/specs/alpha/tasks.md"), "a person's text\n");
    sandbox.write(&format!("{PLACE}/notes.txt"), "a person's notes\n");
    check!(sandbox, sandbox.orchestrate(&["alpha"]), @r"
        exit 4
        --- out
        halted: files in .claude/worktrees/alpha-task-1 are in the way: specs/alpha/tasks.md
        hint: move them away; nothing was overwritten
        parked task 1 under Awaiting input
          when that is done: orchestrate unpark alpha 1
        nothing was committed, and nothing was dispatched; the next step goes on
        ");
    let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(10);
    let _ = sandbox.orchestrate(&["unpark", "alpha", "1"]).exits(0);
    let _ = sandbox.orchestrate(&["alpha"]).exits(4);
    assert_eq!(
        sandbox.read(&format!("{PLACE}/specs/alpha/tasks.md")),
        "a person's text\n"
    );
    assert_eq!(sandbox.starts(), [""; 0]);
    fs::remove_file(sandbox.path(&format!("{PLACE}/specs/alpha/tasks.md"))).expect("moved away");
    let _ = sandbox.orchestrate(&["unpark", "alpha", "1"]).exits(0);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(
        sandbox.git_in(&sandbox.path(PLACE), &["status", "--porcelain"]),
        "?? notes.txt"
    );
    assert_eq!(sandbox.read(&format!("{PLACE}/notes.txt")), "a person's notes\n");
}

/// Verifies REQ-E1.1.
#[test]
fn the_lease_survives_a_kill_of_the_runner_for_as_long_as_the_client_lives() {
    let sandbox = sandbox(&alpha());
    sandbox.configure("max_parallel_units: 1\n");
    sandbox.close_gate("1");
    let value = sandbox.orchestrate(&["alpha", "--format", "json"]).exits(0).json();
    let runner = value["worker"]["pid"]
        .as_u64()
        .and_then(|pid| u32::try_from(pid).ok())
        .expect("a process id");
    let client = sandbox.worker_at_gate("1");
    kill_process_and_wait(runner);
    assert!(sandbox.is_leased("alpha", "1"), "the client inherited it");
    let ended = format!("running: a worker runs (its runner, pid {runner}, has ended)");
    assert_eq!(state_of(&sandbox, "1"), ended);
    let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(11);
    let _ = sandbox.orchestrate(&["plumbing", "run-worker", "alpha", "1"]).exits(4);
    drop(client);
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(
        state_of(&sandbox, "1"),
        "held: its worker ended and left no commit on its branch (its end was not recorded)"
    );
    // It takes no place under the cap, and is not done again.
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 3");
    sandbox.wait_for_worker("alpha", "3");
    assert_eq!(sandbox.starts(), ["alpha 1", "alpha 3"]);
}

#[test]
fn a_kill_of_the_tower_after_the_launch_leaves_the_worker_alone() {
    let sandbox = sandbox(&single());
    sandbox.close_gate("1");
    sandbox.act_commit("1", "work\n\nPlanwright-Task: alpha/1\n");
    let watch = sandbox.start(&["alpha", "--watch"]);
    let worker = sandbox.worker_at_gate("1");
    watch.kill();
    assert!(sandbox.is_leased("alpha", "1"));
    let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(10);
    drop(worker);
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(state_of(&sandbox, "1"), "in progress: 1 commit on task-1, not on main");
    assert_eq!(sandbox.starts(), ["alpha 1"]);
}

/// Verifies REQ-E1.1.
#[test]
fn what_a_killed_client_left_running_holds_the_worktree() {
    let sandbox = sandbox(&single());
    sandbox.close_gate("left");
    let gate = sandbox.desk().join("left.gate");
    // A child that has closed what it inherited, as tools of real clients do, and outlives both runner and client.
    sandbox.act(
        "1",
        &format!("setsid sh -c 'exec 0<&- 1>&- 2>&- 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; read -r line < {gate}' &\n"),
    );
    let value = sandbox.orchestrate(&["alpha", "--format", "json"]).exits(0).json();
    let left = sandbox.worker_at_gate("left");
    let runner = value["worker"]["pid"]
        .as_u64()
        .and_then(|pid| u32::try_from(pid).ok())
        .expect("a process id");
    kill_process_and_wait(runner);
    let _ = sandbox
        .orchestrate(&["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"])
        .exits(0);
    sandbox.wait_for_worker("alpha", "1");
    let output = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(12);
    assert!(
        output.stdout.contains("processes still run in") && output.stdout.contains("(sh)"),
        "{output}"
    );
    assert_eq!(sandbox.starts(), ["alpha 1"]);
    drop(left);
    // The last process in it ends on its own; then the worktree is used again.
    let asked = Instant::now();
    while sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exit == 12 {
        assert!(asked.elapsed() < PATIENCE, "it ends");
    }
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(sandbox.starts(), ["alpha 1", "alpha 1"]);
}

#[test]
fn a_git_that_dies_under_the_tower_is_told_and_the_next_step_goes_on() {
    for subcommand in ["read-tree", "checkout-index"] {
        let sandbox = sandbox(&single());
        sandbox.intercept_git(subcommand, 1);
        let tower = sandbox.start(&["alpha"]);
        let gate = sandbox.worker_at_gate("git");
        kill_process_and_wait(sandbox.intercepted());
        drop(gate);
        let output = tower.finish().exits(1);
        assert!(
            output.text().contains("hint: ") && output.text().contains("signal 9"),
            "{output}"
        );
        assert_eq!(sandbox.starts(), [""; 0]);
        let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
        sandbox.wait_for_worker("alpha", "1");
        assert_eq!(sandbox.starts(), ["alpha 1"]);
    }
}

/// A unit whose tower was killed before the worker started. The next tower stops in the window when it pushes the fence:
/// that is under the lock, after everything was read there.
fn killed_before_its_worker(program: &str) -> Sandbox {
    let sandbox = Sandbox::with(program, &single());
    sandbox.add_origin();
    let killed = [("ORCHESTRATE_FAILPOINT", "spawn.before")];
    let _ = sandbox
        .orchestrate_with(&sandbox.repository(), &["alpha"], &killed)
        .exits(137);
    sandbox.intercept_git("push", 1);
    sandbox
}

/// Its tower is dead, and another one is already in the window with the same unit.
/// Verifies REQ-A1.11.
#[test]
fn a_runner_that_starts_while_its_unit_is_dispatched_again_keeps_it() {
    let Some(program) = failpoint_binary() else {
        return skipped("kills at named points (ORCHESTRATE_FAILPOINT_BINARY is not set)");
    };
    let sandbox = killed_before_its_worker(&program);
    let tower = sandbox.start(&["alpha", "--detailed-exitcode"]);
    let window = sandbox.worker_at_gate("git");
    let _ = sandbox.orchestrate(&["plumbing", "run-worker", "alpha", "1"]).exits(0);
    assert_eq!(sandbox.starts(), ["alpha 1"]);
    drop(window);
    let _ = tower
        .finish()
        .exits(10)
        .says("its worker ended and left no commit on its branch");
    assert!(state_of(&sandbox, "1").starts_with("held: its worker ended and left no commit"));
    let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(10);
    assert_eq!(sandbox.starts(), ["alpha 1"]);
}

/// Two kills, each where it hurts most: the first tower before its worker starts, the second between its record and the
/// look that would show it that the worker has started meanwhile.
/// Verifies REQ-A1.11.
#[test]
fn a_late_runner_keeps_its_unit_when_the_second_tower_is_killed_too() {
    let Some(program) = failpoint_binary() else {
        return skipped("kills at named points (ORCHESTRATE_FAILPOINT_BINARY is not set)");
    };
    let sandbox = killed_before_its_worker(&program);
    let record = || fs::read(sandbox.path(".git/orchestrate/dispatch/alpha/1.json")).expect("a record");
    let first = record();
    let at_its_record = "ORCHESTRATE_FAILPOINT=write.after:2";
    let tower = sandbox.start_program("env", &sandbox.repository(), &[at_its_record, &program, "alpha"]);
    let window = sandbox.worker_at_gate("git");
    let _ = sandbox.orchestrate(&["plumbing", "run-worker", "alpha", "1"]).exits(0);
    assert_eq!(sandbox.starts(), ["alpha 1"]);
    assert_eq!(record(), first);
    drop(window);
    let _ = tower.finish().exits(137);
    assert_ne!(record(), first, "the second record is there, and nothing after it");
    let held = "held: its worker ended and left no commit";
    assert!(state_of(&sandbox, "1").starts_with(held));
    let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(10);
    assert_eq!(sandbox.starts(), ["alpha 1"]);
    let _ = sandbox
        .orchestrate(&["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"])
        .exits(0);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
}

fn content(index: usize) -> String {
    format!("file {index}\n").repeat(8)
}

fn relative(index: usize) -> String {
    format!("files/{:03}/{index:05}.txt", index / 100)
}

/// A repository with that many committed files; the primary checkout goes without them, which is nobody's business.
fn many_files(count: usize) -> Sandbox {
    let sandbox = sandbox(&single());
    let header = "commit refs/heads/main\ncommitter A <a@test.invalid> 1800000000 +0000\ndata 10\nmany files\nfrom refs/heads/main^0\n";
    let files = (0..count).map(|index| {
        let text = content(index);
        format!("M 100644 inline {}\ndata {}\n{text}\n", relative(index), text.len())
    });
    let stream = sandbox.desk().join("stream");
    fs::write(&stream, header.to_owned() + &files.collect::<String>()).expect("the stream is written");
    let _ = sandbox
        .shell(&format!("git fast-import --quiet < {stream} && git reset --quiet"))
        .exits(0);
    sandbox
}

/// Verifies REQ-D1.5.
#[test]
fn a_kill_in_mid_checkout_of_20_000_files_loses_none() {
    const COUNT: usize = 20_000;
    let sandbox = many_files(COUNT);
    let tower = sandbox.start(&["alpha"]);
    let place = sandbox.path(PLACE);
    let started = Instant::now();
    while !place.join("files").is_dir() {
        assert!(started.elapsed() < PATIENCE, "the checkout begins");
        std::thread::yield_now();
    }
    let gits = children_of(tower.pid());
    tower.kill();
    for git in gits {
        kill_process_and_wait(git);
    }
    let written = (0..COUNT)
        .filter(|index| place.join(relative(*index)).is_file())
        .count();
    assert!(written < COUNT, "the kill came in the middle");
    // A torn write: a beginning of what was to be written.
    let torn = place.join(relative(0));
    fs::create_dir_all(torn.parent().expect("a parent")).expect("directories");
    fs::write(&torn, "file 0\nfil").expect("a file");

    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    let wrong: Vec<String> = (0..COUNT)
        .map(|index| (relative(index), content(index)))
        .filter(|(path, text)| fs::read_to_string(place.join(path)).ok().as_ref() != Some(text))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(wrong, [""; 0]);
    assert_eq!(sandbox.git_in(&place, &["status", "--porcelain"]), "");
    assert_eq!(sandbox.git_in(&place, &["ls-files", "files"]).lines().count(), COUNT);
    assert_eq!(sandbox.starts(), ["alpha 1"]);
}
