//! The fetch, by its verb and in a step: bounded, shared, and harmless (contract/core.md §7, architecture §6).

use std::fs;

use camino::Utf8Path;
use orchestrate_e2e::output::Output;
use orchestrate_e2e::sandbox::Sandbox;

use crate::{alpha, check, sandbox, single};

/// No test waits between two attempts.
const AT_ONCE: (&str, &str) = ("PLANWRIGHT_DISPATCH_FETCH_RETRY_SLEEP", "0");
const ALWAYS: (&str, &str) = ("PLANWRIGHT_DISPATCH_FETCH_TTL", "0");
const STAMP: &str = ".claude/orchestrate.local/last-fetch";

fn with_origin() -> Sandbox {
    let sandbox = sandbox(&single());
    sandbox.add_origin();
    sandbox
}

fn fetch_in(sandbox: &Sandbox, directory: &Utf8Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let arguments = [&["plumbing", "dispatch-fetch"], arguments, &["."]].concat();
    sandbox.orchestrate_with(directory, &arguments, &[variables, &[AT_ONCE]].concat())
}

fn fetch(sandbox: &Sandbox, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    fetch_in(sandbox, &sandbox.repository(), arguments, variables)
}

fn step(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    let arguments = [&["alpha", "--detailed-exitcode"], arguments].concat();
    sandbox.orchestrate_with(&sandbox.repository(), &arguments, &[AT_ONCE])
}

/// Counts the `git fetch` that are started, and lets each of them go on with real git.
fn count_fetches(sandbox: &Sandbox) {
    let found = sandbox.shell("command -v git").exits(0);
    let (git, desk) = (found.stdout.trim_end(), sandbox.desk());
    sandbox.install(
        "git",
        &format!("if [ \"$1\" = fetch ]; then echo >> {desk}/fetches; fi\nexec {git} \"$@\"\n"),
    );
}

fn fetches(sandbox: &Sandbox) -> usize {
    fs::read_to_string(sandbox.desk().join("fetches")).map_or(0, |text| text.lines().count())
}

/// What keeps git from fetching is not always origin.
/// Verifies REQ-D2.2.
#[test]
fn a_ref_that_git_cannot_read_is_not_blamed_on_origin() {
    let sandbox = sandbox(&alpha());
    sandbox.add_origin();
    sandbox.write(".git/refs/heads/planwright/alpha/task-1", "");
    let _ = sandbox
        .orchestrate(&["alpha"])
        .exits(0)
        .says("held: origin cannot be fetched: bad object refs/heads/planwright/alpha/task-1")
        .says("a ref of this clone cannot be read");
}

/// Verifies REQ-D2.2.
#[test]
fn the_first_fetch_asks_origin_and_the_next_takes_it() {
    let sandbox = with_origin();
    count_fetches(&sandbox);
    check!(sandbox, fetch(&sandbox, &["--spec", "specs/alpha"], &[]), @r"
        exit 0
        --- out
        fetch	fetched
        anchor	[HASH]	origin/main
        ");
    check!(sandbox, fetch(&sandbox, &["--spec=specs/alpha"], &[]), @r"
        exit 0
        --- out
        fetch	fresh-within-ttl
        anchor	[HASH]	origin/main
        ");
    assert_eq!(fetches(&sandbox), 1);
    let text = sandbox.read(STAMP);
    assert!(
        text.ends_with('\n') && text.trim_end().bytes().all(|byte| byte.is_ascii_digit()),
        "{text}"
    );
    let anchor = sandbox
        .orchestrate(&["plumbing", "spec-anchor", "specs/alpha"])
        .exits(0);
    let _ = fetch(&sandbox, &["--spec", "specs/alpha"], &[]).says(anchor.stdout.trim_end());
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    // A stamp past its time, and one that is none.
    for stamp in ["1000\n", "0123\n", "soon\n", ""] {
        sandbox.write(STAMP, stamp);
        let _ = fetch(&sandbox, &[], &[]).exits(0).says("fetch\tfetched");
    }
    assert_eq!(fetches(&sandbox), 5);
    // The reference's rule for a clock that was set back.
    sandbox.write(STAMP, "9999999999\n");
    let _ = fetch(&sandbox, &[], &[]).exits(0).says("fetch\tfresh-within-ttl");
    let _ = fetch(&sandbox, &[], &[ALWAYS]).exits(0).says("fetch\tfetched");
    let elsewhere = sandbox.root().join("elsewhere");
    let directory = ("PLANWRIGHT_DISPATCH_FETCH_STATE_DIR", elsewhere.as_str());
    let _ = fetch(&sandbox, &[], &[directory]).exits(0).says("fetch\tfetched");
    assert!(elsewhere.join("last-fetch").is_file());
}

#[test]
fn a_malformed_time_is_noted_and_the_key_counts() {
    let sandbox = with_origin();
    let malformed = ("PLANWRIGHT_DISPATCH_FETCH_TTL", "07");
    check!(sandbox, fetch(&sandbox, &[], &[malformed]), @r#"
        exit 0
        --- out
        fetch	fetched
        --- err
        dispatch-fetch: note: PLANWRIGHT_DISPATCH_FETCH_TTL is "07", which is no number of seconds without leading zeroes; dispatch_fetch_ttl is used
        "#);
    let _ = fetch(&sandbox, &[], &[malformed]).exits(0).says("fresh-within-ttl");
    sandbox.configure("dispatch_fetch_ttl: 0\n");
    let _ = fetch(&sandbox, &[], &[]).exits(0).says("fetch\tfetched");
    sandbox.configure("dispatch_fetch_ttl: 02m\n");
    let _ = fetch(&sandbox, &[], &[])
        .exits(0)
        .says("dispatch_fetch_ttl")
        .says("fresh-within-ttl");
}

#[test]
fn slips_are_refused_before_anything_is_asked() {
    let sandbox = with_origin();
    count_fetches(&sandbox);
    for arguments in [
        &["--spec", "alpha", "."][..],
        &["--spec", "specs/../x", "."],
        &["--spec", "specs/alpha/", "."],
        &["--spec", "specs/a/b", "."],
        &["--spec", "", "."],
        &["--spec=", "."],
        &["--fast", "."],
        &["-x"],
        &[],
        &[".", "."],
        &["/"],
        &["no-such-directory"],
    ] {
        let arguments = [&["plumbing", "dispatch-fetch"], arguments].concat();
        let output = sandbox.orchestrate(&arguments).exits(2);
        assert_eq!(output.stdout, "", "{arguments:?}");
    }
    assert_eq!(fetches(&sandbox), 0);
    let _ = sandbox.orchestrate(&["plumbing", "dispatch-fetch", "--", "."]).exits(0);
}

#[test]
fn a_bundle_that_is_not_there_has_no_anchor() {
    let sandbox = with_origin();
    let _ = fetch(&sandbox, &["--spec", "specs/nope"], &[])
        .exits(5)
        .says("fetch\tfetched");
    check!(sandbox, fetch(&sandbox, &["--spec", "specs/nope"], &[]), @r"
        exit 5
        --- out
        fetch	fresh-within-ttl
        --- err
        dispatch-fetch: no anchor of specs/nope: specs/nope/requirements.md is not in [SHORT]
        ");
    let _ = sandbox.git(&["remote", "remove", "origin"]);
    check!(sandbox, fetch(&sandbox, &["--spec", "specs/alpha"], &[]), @r"
        exit 3
        --- out
        fetch	no-remote
        anchor	[HASH]	main
        ");
    let _ = fetch(&sandbox, &["--spec", "specs/nope"], &[])
        .exits(5)
        .says("fetch\tno-remote");
    let _ = fetch(&sandbox, &[], &[]).exits(3).says("fetch\tno-remote");
    // Without a branch that could be the base, HEAD is looked at.
    let _ = sandbox.git(&["switch", "--quiet", "--detach"]);
    let _ = sandbox.git(&["branch", "--quiet", "-D", "main"]);
    let _ = fetch(&sandbox, &["--spec", "specs/alpha"], &[])
        .exits(3)
        .says("\tHEAD\n");
}

/// Verifies REQ-D2.2.
#[test]
fn a_failing_origin_is_tried_so_often_and_no_more() {
    let sandbox = with_origin();
    let _ = sandbox.git(&["remote", "set-url", "origin", "/no/such/\u{1b}[31mplace"]);
    count_fetches(&sandbox);
    let output = fetch(&sandbox, &["--spec", "specs/alpha"], &[]).exits(4);
    assert_eq!(output.stdout, "fetch\tstale-transient\n");
    assert!(!output.text().contains('\u{1b}'), "{output:?}");
    let _ = output.says("does not appear to be a git repository");
    assert_eq!(fetches(&sandbox), 3);
    let _ = fetch(&sandbox, &["--best-effort"], &[]).exits(4);
    assert_eq!(fetches(&sandbox), 4);
    let _ = fetch(&sandbox, &[], &[("PLANWRIGHT_DISPATCH_FETCH_RETRIES", "1")]).exits(4);
    assert_eq!(fetches(&sandbox), 6);
    assert!(!sandbox.path(STAMP).exists());
}

/// Verifies REQ-D2.2.
#[test]
fn a_fetch_moves_no_branch_of_ours_and_removes_nothing() {
    let sandbox = with_origin();
    let clone = sandbox.clone_origin("clone", &[]);
    let _ = sandbox.commit_all_in(&clone, "news");
    let _ = sandbox.git_in(&clone, &["push", "--quiet", "origin", "main", "main:other"]);
    // A clone that was told to do all of it, and a branch that is gone at origin.
    for (key, value) in [
        ("remote.origin.fetch", "+refs/heads/*:refs/heads/*"),
        ("fetch.prune", "true"),
        ("remote.origin.prune", "true"),
    ] {
        let _ = sandbox.git(&["config", key, value]);
    }
    let main = sandbox.commit_of("refs/heads/main");
    let _ = sandbox.git(&["update-ref", "refs/remotes/origin/gone", &main]);
    let _ = sandbox.git(&["branch", "other"]);
    sandbox.write("staged.txt", "staged\n");
    let _ = sandbox.git(&["add", "staged.txt"]);
    sandbox.write("staged.txt", "changed again\n");
    let status = sandbox.git(&["status", "--porcelain"]);
    let heads = sandbox.git(&["for-each-ref", "refs/heads"]);
    let index = sandbox.git(&["ls-files", "--stage"]);
    let _ = fetch(&sandbox, &[], &[]).exits(0).says("fetch\tfetched");
    assert_eq!(sandbox.git(&["for-each-ref", "refs/heads"]), heads);
    assert_eq!(sandbox.git(&["ls-files", "--stage"]), index);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), status);
    assert_eq!(sandbox.read("staged.txt"), "changed again\n");
    assert_eq!(sandbox.commit_of("refs/remotes/origin/gone"), main);
    let news = sandbox.git_in(&clone, &["rev-parse", "HEAD"]);
    for name in ["main", "other"] {
        assert_eq!(sandbox.commit_of(&format!("refs/remotes/origin/{name}")), news);
    }
    assert!(!sandbox.path(".git/FETCH_HEAD").exists());
}

#[test]
fn a_clone_of_one_branch_gets_origins_base() {
    let sandbox = with_origin();
    let _ = sandbox.git(&["push", "--quiet", "origin", "main:side"]);
    let clone = sandbox.clone_origin("clone", &["--single-branch", "--branch=side"]);
    let news = sandbox.commit_all("news");
    let _ = sandbox.git(&["push", "--quiet", "origin", "main"]);
    let output = fetch_in(
        &sandbox,
        &clone,
        &["--spec", "specs/alpha"],
        &[("PLANWRIGHT_BASE_REF", "main")],
    );
    let _ = output.exits(0).says("\torigin/main\n");
    assert_eq!(sandbox.git_in(&clone, &["rev-parse", "refs/remotes/origin/main"]), news);
}

/// Verifies REQ-D2.2.
#[test]
fn a_stamp_is_never_written_through_a_link() {
    let sandbox = with_origin();
    let target = sandbox.root().join("target");
    fs::write(&target, "9999999999\n").expect("written");
    fs::create_dir_all(sandbox.path(".claude/orchestrate.local")).expect("a directory");
    std::os::unix::fs::symlink(&target, sandbox.path(STAMP)).expect("a link");
    for _ in 0..2 {
        let _ = fetch(&sandbox, &[], &[]).exits(0).says("fetch\tfetched");
    }
    assert_eq!(fs::read_to_string(&target).expect("there"), "9999999999\n");
    let elsewhere = sandbox.root().join("elsewhere");
    fs::rename(sandbox.path(".claude/orchestrate.local"), &elsewhere).expect("moved");
    fs::remove_file(elsewhere.join("last-fetch")).expect("removed");
    std::os::unix::fs::symlink(&elsewhere, sandbox.path(".claude/orchestrate.local")).expect("a link");
    let _ = fetch(&sandbox, &[], &[]).exits(0).says("fetch\tfetched");
    assert!(!elsewhere.join("last-fetch").exists());
}

/// Verifies REQ-D2.2.
#[test]
fn towers_that_come_while_one_fetches_take_what_it_got() {
    let sandbox = with_origin();
    count_fetches(&sandbox);
    let found = fs::read_to_string(sandbox.root().join("bin/git")).expect("the counter");
    let desk = sandbox.desk();
    sandbox.close_gate("git");
    // The first one waits at the gate, with the lock of the fetch.
    sandbox.install(
        "git",
        &found.replace("#!/bin/sh\n", "").replacen(
            "exec",
            &format!("if [ \"$1\" = fetch ]; then echo $$ > {desk}/git.pid; read -r line < {desk}/git.gate; fi\nexec"),
            1,
        ),
    );
    let arguments = ["plumbing", "dispatch-fetch", "."];
    let first = sandbox.start(&arguments);
    let gate = sandbox.worker_at_gate("git");
    let others = [sandbox.start(&arguments), sandbox.start(&arguments)];
    drop(gate);
    let _ = first.finish().exits(0).says("fetch\tfetched");
    for other in others {
        let _ = other.finish().exits(0).says("fetch\tfresh-within-ttl");
    }
    assert_eq!(fetches(&sandbox), 1);
}

/// Verifies REQ-D2.2.
#[test]
fn a_step_holds_on_a_failing_origin_and_asks_for_a_person_in_the_end() {
    let sandbox = with_origin();
    let _ = sandbox.git(&["remote", "set-url", "origin", "/no/such/place"]);
    check!(sandbox, step(&sandbox, &[]), @r"
        exit 12
        --- out
        held: origin cannot be fetched: '/no/such/place' does not appear to be a git repository; nothing was dispatched
        hint: see what stops it: git fetch origin
        ");
    let _ = step(&sandbox, &[]).exits(12);
    check!(sandbox, step(&sandbox, &[]), @r"
        exit 4
        --- out
        halted: origin cannot be fetched, 3 times in a row: '/no/such/place' does not appear to be a git repository
        hint: see what stops it: git fetch origin
        parked task 1 under Awaiting input
          when that is done: orchestrate unpark alpha 1
        nothing was committed, and nothing was dispatched; the next step goes on
        ");
    let tasks = sandbox.read("specs/alpha/tasks.md");
    let bullet = "\n- **Task 1** — halted for every task: origin cannot be fetched, 3 times in a row; see what stops it: git \
                  fetch origin; then orchestrate unpark alpha 1\n";
    assert!(tasks.contains(bullet), "{tasks}");
    // An outage that has passed costs nobody a night.
    let origin = sandbox.root().join("origin.git");
    let _ = sandbox.git(&["remote", "set-url", "origin", origin.as_str()]);
    let _ = step(&sandbox, &[])
        .exits(0)
        .says("task 1 is put back: what halted every task has passed");
    assert!(!sandbox.read("specs/alpha/tasks.md").contains("halted"));
    let _ = sandbox.git(&["remote", "set-url", "origin", "/no/such/place"]);
    fs::remove_file(sandbox.path(STAMP)).expect("a stamp");
    for exit in [12, 12, 4] {
        let _ = step(&sandbox, &[]).exits(exit);
    }
    let _ = sandbox.orchestrate(&["unpark", "alpha", "1"]).exits(0);
    sandbox.configure("dispatch_fetch_park_after: 0\n");
    let _ = step(&sandbox, &[]).exits(12).says("4 times in a row");
    assert_eq!(sandbox.refs("refs/heads/planwright"), [""; 0]);
    // What only looks asks nobody, and neither does a step that has nothing to dispatch anyway.
    let _ = step(&sandbox, &["--dry-run"])
        .exits(0)
        .says("would dispatch alpha task 1");
    let _ = sandbox.orchestrate(&["status", "alpha"]).exits(0);
    sandbox.configure("max_parallel_units: 0\n");
    let _ = step(&sandbox, &[]).exits(11).says("note: origin cannot be fetched");
    sandbox.configure("");
    let _ = sandbox.git(&["remote", "set-url", "origin", origin.as_str()]);
    let _ = step(&sandbox, &[]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    // One that answered ends the row.
    let _ = sandbox.git(&["remote", "set-url", "origin", "/no/such/place"]);
    fs::remove_file(sandbox.path(STAMP)).expect("a stamp");
    let _ = fetch(&sandbox, &[], &[]).exits(4);
    assert!(
        sandbox
            .read(".git/orchestrate/fetch/record.json")
            .contains("\"failures\": 1")
    );
}

#[test]
fn a_step_whose_clock_was_set_back_asks_origin_again() {
    let sandbox = with_origin();
    sandbox.write(STAMP, "9999999999\n");
    let _ = sandbox.git(&["remote", "set-url", "origin", "/no/such/place"]);
    let _ = step(&sandbox, &[]).exits(12).says("origin cannot be fetched");
}

/// Verifies REQ-D1.2.
#[test]
fn what_is_signed_here_only_is_not_dispatched_before_origin_has_it() {
    let sandbox = with_origin();
    let next = sandbox.root().join("next");
    alpha().write_into(&next).expect("written");
    let _ = sandbox.shell("cp -R ../next/specs/alpha specs/").exits(0);
    let _ = sandbox.commit_all("signed again");
    check!(sandbox, step(&sandbox, &[]), @r"
        exit 4
        --- out
        halted: specs/alpha in the working copy differs from origin's main
        hint: it is committed here and not pushed: git push origin main
        ");
    let _ = sandbox.git(&["push", "--quiet", "origin", "main"]);
    let _ = step(&sandbox, &["--dry-run"])
        .exits(0)
        .says("would dispatch alpha task 1");
}

/// Verifies REQ-D1.3.
#[test]
fn a_bundle_that_changed_at_origin_holds_until_it_is_pulled() {
    let sandbox = with_origin();
    let clone = sandbox.clone_origin("clone", &[]);
    let text = sandbox.read("specs/alpha/requirements.md");
    fs::write(
        clone.join("specs/alpha/requirements.md"),
        text.replace("Ready", "Retired"),
    )
    .expect("written");
    let _ = sandbox.commit_all_in(&clone, "retired");
    let _ = sandbox.git_in(&clone, &["push", "--quiet", "origin", "main"]);
    check!(sandbox, step(&sandbox, &[]), @r"
        exit 12
        --- out
        held: origin's main has another version of specs/alpha, which your local main lacks; nothing was dispatched
        hint: update your local main: git pull --ff-only where it is checked out, or --no-rebase if it has commits of its own; git fetch origin main:main elsewhere
        ");
    let _ = sandbox.git(&["pull", "--quiet", "--ff-only", "origin", "main"]);
    let _ = step(&sandbox, &[]).exits(4).says("specs/alpha is Retired");
}

/// Verifies REQ-D1.2.
#[test]
fn a_partial_clone_gets_what_the_gate_compares_from_origin() {
    let sandbox = with_origin();
    let _ = sandbox.git_in(
        &sandbox.root().join("origin.git"),
        &["config", "uploadpack.allowFilter", "true"],
    );
    let clone = sandbox.clone_origin("clone", &["--filter=blob:none", "--no-checkout"]);
    let _ = sandbox.git_in(&clone, &["config", "extensions.partialClone", "origin"]);
    let _ = sandbox.git_in(&clone, &["checkout", "--quiet", "main"]);
    // A later commit of the same spec, whose texts are only at origin.
    let text = sandbox.read("specs/alpha/kickoff-brief.md");
    sandbox.write("specs/alpha/kickoff-brief.md", &format!("{text}\n"));
    let _ = sandbox.commit_all("a blank line");
    let _ = sandbox.git(&["push", "--quiet", "origin", "main"]);
    let settings = ".claude/planwright.local.yml";
    fs::create_dir_all(clone.join(".claude")).expect("a directory");
    fs::copy(sandbox.path(settings), clone.join(settings)).expect("copied");
    let output = sandbox.orchestrate_in(&clone, &["alpha", "--detailed-exitcode"]);
    let _ = output
        .exits(12)
        .says("origin's main has another version of specs/alpha");
    let _ = sandbox.git_in(&clone, &["pull", "--quiet", "--ff-only"]);
    // What is checked out then comes from there as well.
    sandbox.write("news.txt", "news\n");
    let news = sandbox.commit_all("news");
    let _ = sandbox.git(&["push", "--quiet", "origin", "main"]);
    let _ = sandbox
        .orchestrate_with(&clone, &["alpha"], &[ALWAYS])
        .exits(0)
        .says("dispatched alpha task 1");
    let worktree = clone.join(".claude/worktrees/alpha-task-1");
    assert_eq!(fs::read_to_string(worktree.join("news.txt")).expect("there"), "news\n");
    assert_eq!(sandbox.git_in(&worktree, &["rev-parse", "HEAD"]), news);
}
