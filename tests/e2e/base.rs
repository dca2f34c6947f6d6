//! Which branch units start from, and repositories of every kind.

use camino::Utf8Path;
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_e2e::surroundings::skipped;

use crate::{PROGRAM, check, sandbox, single};

/// A sandbox whose bundle is on a branch of that name.
fn on_branch(name: &str) -> Sandbox {
    let sandbox = sandbox(&single());
    let _ = sandbox.git(&["branch", "--quiet", "--move", "main", name]);
    sandbox
}

/// Dispatches, and returns base and start commit.
fn dispatched(sandbox: &Sandbox, variables: &[(&str, &str)]) -> (String, String) {
    let output = sandbox
        .orchestrate_with(&sandbox.repository(), &["alpha", "--format", "json"], variables)
        .exits(0);
    let value = output.json();
    assert_eq!(value["outcome"], "dispatched", "{output}");
    sandbox.wait_for_worker("alpha", "1");
    let text = |name: &str| value[name].as_str().expect("a text").to_owned();
    assert_eq!(sandbox.commit_of("planwright/alpha/task-1"), text("start"));
    (text("base"), text("start"))
}

/// Verifies REQ-C1.8.
#[test]
fn the_only_usual_name_is_the_base_whatever_is_checked_out() {
    for name in ["main", "master", "develop"] {
        let sandbox = on_branch(name);
        let base = sandbox.commit_of(name);
        let _ = sandbox.git(&["switch", "--quiet", "--create", "topic"]);
        let _ = sandbox.commit_all("on the topic");
        assert_eq!(dispatched(&sandbox, &[]), (name.to_owned(), base));
    }
}

#[test]
fn a_detached_head_in_the_primary_checkout_is_fine() {
    let sandbox = sandbox(&single());
    let main = sandbox.commit_of("main");
    let _ = sandbox.git(&["switch", "--quiet", "--detach", "main"]);
    assert_eq!(dispatched(&sandbox, &[]), ("main".to_owned(), main));
}

/// Verifies REQ-C1.8.
#[test]
fn another_name_or_several_are_refused_with_what_helps() {
    let sandbox = on_branch("trunk");
    let before = sandbox.listing();
    check!(sandbox, sandbox.orchestrate(&["alpha"]), @r"
        exit 1
        --- out
        error: cannot resolve the base branch: there is no branch named main, master or develop, and origin names none
        hint: commit something first, or set base_branch in .claude/planwright.yml, or PLANWRIGHT_BASE_REF
        ");
    let _ = sandbox.git(&["branch", "main", "trunk"]);
    let _ = sandbox.git(&["branch", "master", "trunk"]);
    check!(sandbox, sandbox.orchestrate(&["alpha"]), @r"
        exit 1
        --- out
        error: cannot resolve the base branch: it could be any of main, master
        hint: set base_branch in .claude/planwright.yml, or PLANWRIGHT_BASE_REF
        ");
    let _ = sandbox.git(&["branch", "--quiet", "-D", "main", "master"]);
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
    assert_eq!(sandbox.starts(), [""; 0]);
}

#[test]
fn the_variable_wins_over_the_key_and_the_key_over_origin() {
    let sandbox = sandbox(&single());
    sandbox.add_origin();
    let _ = sandbox.git(&["remote", "set-head", "origin", "main"]);
    for name in ["by-key", "by-variable"] {
        let _ = sandbox.git(&["switch", "--quiet", "--create", name, "main"]);
        let _ = sandbox.commit_all(name);
    }
    let _ = sandbox.git(&["push", "--quiet", "origin", "by-key", "by-variable"]);
    let _ = sandbox.git(&["branch", "only-here"]);
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    let would = |variables: &[(&str, &str)]| {
        let output = sandbox.orchestrate_with(
            &sandbox.repository(),
            &["alpha", "--dry-run", "--format", "json"],
            variables,
        );
        output.exits(0).json()["base"].as_str().expect("a base").to_owned()
    };
    assert_eq!(would(&[]), "main", "origin/HEAD");
    sandbox.configure("base_branch: by-key\n");
    assert_eq!(would(&[]), "by-key");
    for spelled in ["by-variable", "refs/heads/by-variable"] {
        assert_eq!(would(&[("PLANWRIGHT_BASE_REF", spelled)]), "by-variable", "{spelled}");
    }
    assert_eq!(would(&[("PLANWRIGHT_BASE_REF", "")]), "by-key");
    assert_eq!(would(&[("PLANWRIGHT_BASE_REF", "origin/main")]), "main");
    for bad in ["no-such-branch", "../../main", "-x", "main:main", "@{-1}"] {
        let output = sandbox.orchestrate_with(&sandbox.repository(), &["alpha"], &[("PLANWRIGHT_BASE_REF", bad)]);
        let _ = output.exits(1).says("cannot resolve the base branch");
    }
    // Nobody else sees what only this clone has: no pull request could be made against it.
    let _ = sandbox
        .orchestrate_with(
            &sandbox.repository(),
            &["alpha"],
            &[("PLANWRIGHT_BASE_REF", "only-here")],
        )
        .exits(4)
        .says("origin has no branch only-here")
        .says("hint: push it: git push origin only-here");
    let variables = [("PLANWRIGHT_BASE_REF", "by-variable")];
    assert_eq!(
        dispatched(&sandbox, &variables),
        ("by-variable".to_owned(), sandbox.commit_of("by-variable"))
    );
}

#[test]
fn origins_head_names_the_base_known_here_or_asked_for() {
    let sandbox = on_branch("trunk");
    let origin = sandbox.root().join("origin.git");
    let _ = sandbox.git(&["init", "--quiet", "--bare", "--initial-branch=trunk", origin.as_str()]);
    let _ = sandbox.git(&["remote", "add", "origin", origin.as_str()]);
    let _ = sandbox.git(&["push", "--quiet", "origin", "trunk"]);
    let would = || {
        sandbox
            .orchestrate(&["alpha", "--dry-run", "--format", "json"])
            .exits(0)
            .json()["base"]
            .clone()
    };
    // Nothing here names it before origin was asked, which a dry run never does.
    let unasked = sandbox.orchestrate(&["alpha", "--dry-run"]).exits(1);
    let _ = unasked.says("cannot resolve the base branch");
    let _ = sandbox.orchestrate(&["plumbing", "dispatch-fetch", "."]).exits(0);
    let _ = sandbox.git(&["update-ref", "-d", "refs/remotes/origin/HEAD"]);
    assert_eq!(would(), "trunk", "asked for, and kept");
    let _ = sandbox.git(&["remote", "set-head", "origin", "--auto"]);
    let _ = sandbox.git(&["remote", "set-url", "origin", "/no/such/place"]);
    // Without an answer of origin no unit is fenced.
    sandbox.configure("dispatch_fence: off\n");
    assert_eq!(would(), "trunk", "known here");
    let _ = sandbox.git(&["remote", "set-head", "origin", "--delete"]);
    assert_eq!(would(), "trunk", "still kept");
    let _ = sandbox.shell("rm -r .git/orchestrate/fetch").exits(0);
    let _ = sandbox.orchestrate(&["alpha"]).exits(1).says("hint: ");
}

/// Verifies REQ-C1.8.
#[test]
fn tags_of_the_same_names_mislead_nobody() {
    let sandbox = sandbox(&single());
    let main = sandbox.commit_of("refs/heads/main");
    for name in ["main", "planwright/alpha/task-1", "origin/main", "HEAD"] {
        let _ = sandbox.git(&["update-ref", &format!("refs/tags/{name}"), &format!("{main}~1")]);
    }
    let output = sandbox.orchestrate(&["alpha", "--format", "json"]).exits(0).json();
    assert_eq!(output["start"], main);
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(sandbox.commit_of("refs/heads/planwright/alpha/task-1"), main);
    let worktree = sandbox.path(".claude/worktrees/alpha-task-1");
    assert_eq!(sandbox.git_in(&worktree, &["rev-parse", "HEAD"]), main);
}

#[test]
fn an_unborn_head_says_that_nothing_was_committed() {
    let sandbox = Sandbox::empty(PROGRAM);
    let _ = sandbox.git(&["init", "--quiet", "--initial-branch=main"]);
    single().write_into(&sandbox.repository()).expect("written");
    sandbox.configure("");
    let before = sandbox.listing();
    check!(sandbox, sandbox.orchestrate(&["alpha"]), @r"
        exit 1
        --- out
        error: cannot resolve the base branch: there is no branch named main, master or develop, and origin names none
        hint: commit something first, or set base_branch in .claude/planwright.yml, or PLANWRIGHT_BASE_REF
        ");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
}

#[test]
fn outside_a_repository_and_in_a_bare_one_is_refused_with_a_hint() {
    let sandbox = Sandbox::empty(PROGRAM);
    check!(sandbox, sandbox.orchestrate(&["alpha"]), @r"
        exit 1
        --- err
        error: cannot open the repository: [SANDBOX]/repository is in no git repository
        hint: run this inside a git repository
        ");
    let _ = sandbox.git(&["init", "--quiet", "--bare", "--initial-branch=main", "."]);
    check!(sandbox, sandbox.orchestrate(&["alpha"]), @r"
        exit 1
        --- err
        error: cannot open the repository: [SANDBOX]/repository is a bare repository
        hint: clone it, and step in the clone: a tower needs a primary checkout
        ");
    let _ = sandbox.orchestrate(&["status"]).exits(1).says("bare repository");
}

#[test]
fn a_worktree_of_a_bare_repository_is_refused() {
    let sandbox = sandbox(&single());
    let bare = sandbox.root().join("bare.git");
    let _ = sandbox.git(&["clone", "--quiet", "--bare", ".", bare.as_str()]);
    let worktree = sandbox.root().join("checkout");
    let _ = sandbox.git_in(&bare, &["worktree", "add", "--quiet", worktree.as_str(), "main"]);
    let _ = sandbox.orchestrate_in(&worktree, &["alpha"]).exits(1).says("hint: ");
    assert_eq!(sandbox.starts(), [""; 0]);
}

fn refused_format(arguments: &[&str], what: &str) {
    let sandbox = Sandbox::empty(PROGRAM);
    let probe = sandbox.try_git(
        &sandbox.repository(),
        &[&["init", "--quiet", "--initial-branch=main"], arguments].concat(),
    );
    if probe.exit != 0 {
        return skipped(what);
    }
    single().write_into(&sandbox.repository()).expect("written");
    let _ = sandbox.commit_all("spec");
    sandbox.configure("");
    let before = sandbox.listing();
    for command in [
        &["alpha"][..],
        &["status", "alpha"],
        &["plumbing", "orchestrate-state", "specs/alpha"],
    ] {
        let output = sandbox.orchestrate(command);
        assert!(matches!(output.exit, 1 | 2), "{what}: {output}");
        let _ = output.says("cannot open the repository").says("hint: ");
    }
    assert_eq!(sandbox.changes_since(&before), [""; 0], "{what}");
}

#[test]
fn a_sha_256_repository_is_refused_by_name() {
    refused_format(
        &["--object-format=sha256"],
        "a SHA-256 repository (this git makes none)",
    );
}

#[test]
fn a_reftable_repository_is_refused_by_name() {
    refused_format(
        &["--ref-format=reftable"],
        "a reftable repository (this git makes none)",
    );
}

#[test]
fn a_repository_with_packed_refs_and_no_loose_objects_works() {
    let sandbox = sandbox(&single());
    let _ = sandbox.git(&["gc", "--quiet", "--prune=now"]);
    let _ = sandbox.git(&["pack-refs", "--all"]);
    let main = sandbox.commit_of("main");
    assert_eq!(dispatched(&sandbox, &[]), ("main".to_owned(), main));
}

#[test]
fn paths_with_blanks_quotes_and_umlauts_work() {
    let sandbox = sandbox(&single());
    let odd = sandbox.root().join("it's a \"töst\" $HOME; x");
    std::fs::rename(sandbox.repository(), &odd).expect("moved");
    sandbox.close_gate("1");
    let _ = sandbox
        .orchestrate_in(Utf8Path::new(&odd), &["alpha"])
        .exits(0)
        .says("dispatched alpha task 1");
    drop(sandbox.worker_at_gate("1"));
    std::fs::rename(&odd, sandbox.repository()).expect("moved back");
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(
        sandbox.noted("1", "directory").trim_end(),
        odd.join(".claude/worktrees/alpha-task-1")
    );
}
