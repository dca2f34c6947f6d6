//! Worktrees of landed units: they go where nothing in them is lost, and stay wherever that is not known (law L5).

use std::fs;

use fd_lock::RwLock;
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_e2e::surroundings::{failpoint_binary, skipped};

use crate::forge::{merged, with_each_gh};
use crate::{alpha, sandbox};

const PLACE: &str = ".claude/worktrees/alpha-task-1";
const LEAVING: &str = ".claude/worktrees/.orchestrate-leaving-alpha-task-1";
const BRANCH: &str = "planwright/alpha/task-1";
const SWEPT: &str = "swept: the worktree of task 1 is removed";

/// Runs the worker of task 1, which commits with the task's trailer and then does what the script says.
fn worked_in(sandbox: &Sandbox, script: &str) {
    sandbox.act_commit("1", "work\n\nPlanwright-Task: alpha/1\n");
    let act = sandbox.desk().join("1.act");
    let commits = fs::read_to_string(&act).expect("the act");
    sandbox.act("1", &format!("{commits}\n{script}\n"));
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
}

fn merge(sandbox: &Sandbox) {
    let _ = sandbox.git(&["merge", "--quiet", "--no-ff", "--message", "merge", BRANCH]);
}

/// A sandbox in which task 1 has landed by a merge, after its worker also did what the script says.
fn landed(script: &str) -> Sandbox {
    let sandbox = sandbox(&alpha());
    worked_in(&sandbox, script);
    merge(&sandbox);
    sandbox
}

/// The worktree is gone without a trace, and its branch is not.
#[track_caller]
fn is_gone(sandbox: &Sandbox) {
    assert!(!sandbox.path(PLACE).exists());
    assert!(!sandbox.path(".git/worktrees/alpha-task-1").exists());
    let listed = sandbox.git(&["worktree", "list", "--porcelain"]);
    assert!(!listed.contains("alpha-task-1\n"), "{listed}");
    assert_eq!(sandbox.git(&["worktree", "prune", "--dry-run", "--verbose"]), "");
    assert_eq!(sandbox.refs(&format!("refs/heads/{BRANCH}")).len(), 1);
    assert_eq!(leftovers(sandbox), [""; 0]);
    let _ = sandbox.git(&["fsck", "--strict"]);
}

/// What a retirement leaves to be thrown away or put back.
fn leftovers(sandbox: &Sandbox) -> Vec<String> {
    let names = |place: &str| -> Vec<String> {
        let Ok(entries) = sandbox.path(place).read_dir_utf8() else {
            return Vec::new();
        };
        entries
            .map(|entry| entry.expect("read").file_name().to_owned())
            .collect()
    };
    let mut all = names(".claude/worktrees");
    all.retain(|name| name.starts_with('.'));
    all.extend(names(".git/orchestrate/retired"));
    all
}

/// Returns why the worktree of task 1 stays, as `why` tells; nothing where it goes.
#[track_caller]
fn stays(sandbox: &Sandbox) -> Option<String> {
    let value = sandbox
        .orchestrate(&["why", "alpha", "1", "--format", "json"])
        .exits(0)
        .json();
    let worktree = &value["worktree"];
    assert!(worktree.is_object(), "{value}");
    worktree["stays"].as_str().map(str::to_owned)
}

/// One step leaves everything in the worktree as it is, and dispatches what comes next.
#[track_caller]
fn is_kept(sandbox: &Sandbox, because: &str) {
    let why = stays(sandbox).unwrap_or_else(|| panic!("it would go, in spite of {because}"));
    assert!(why.contains(because), "{because}: {why}");
    let before = sandbox.listing();
    let output = sandbox.orchestrate(&["alpha"]).exits(0);
    assert!(!output.to_string().contains("swept"), "{because}: {output}");
    let changed = sandbox.changes_since(&before);
    let touched = changed.iter().find(|change| change.contains("alpha-task-1"));
    assert_eq!(touched, None, "{because}: {changed:?}");
    assert_eq!(leftovers(sandbox), [""; 0], "{because}");
    if sandbox.lease("alpha", "2").exists() {
        sandbox.wait_for_worker("alpha", "2");
    }
}

/// Verifies REQ-A1.5.
#[test]
fn a_landed_units_worktree_goes_and_its_branch_stays() {
    let sandbox = landed("");
    let tip = sandbox.commit_of(BRANCH);
    assert_eq!(stays(&sandbox), None);
    let before = sandbox.listing();
    let _ = sandbox
        .orchestrate(&["alpha", "--dry-run"])
        .exits(0)
        .says("would remove the worktree of task 1");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
    let _ = sandbox
        .orchestrate(&["alpha"])
        .exits(0)
        .says("dispatched alpha task 2")
        .says(SWEPT);
    is_gone(&sandbox);
    assert_eq!(sandbox.commit_of(BRANCH), tip);
    sandbox.wait_for_worker("alpha", "2");
    let output = sandbox.orchestrate(&["alpha"]).exits(0);
    assert!(!output.to_string().contains("swept"), "{output}");
}

/// What is in a worktree that only it has.
/// Verifies REQ-A1.5.
#[test]
fn what_only_the_worktree_holds_keeps_it() {
    for (script, because) in [
        ("echo more >> part-1.txt", "it holds uncommitted work: part-1.txt"),
        ("echo more > notes.txt", "it holds uncommitted work: notes.txt"),
        (
            "mkdir -p a/b; echo more > a/b/notes.txt",
            "it holds uncommitted work: a/b/notes.txt",
        ),
        (
            "echo more > new.txt; git add new.txt",
            "it holds uncommitted work: new.txt",
        ),
        ("rm part-1.txt", "it holds uncommitted work: part-1.txt"),
        (
            "echo more >> part-1.txt; git add part-1.txt; git show HEAD:part-1.txt > part-1.txt",
            "it holds uncommitted work: part-1.txt",
        ),
        (
            "echo .env >> \"$(git rev-parse --git-common-dir)/info/exclude\"; echo KEY=1 > .env",
            "it holds ignored files: .env",
        ),
        (
            "echo build/ >> \"$(git rev-parse --git-common-dir)/info/exclude\"; mkdir build; echo x > build/out",
            "it holds ignored files: build/",
        ),
        (
            "git update-index --assume-unchanged part-1.txt; echo more >> part-1.txt",
            "git is told not to look at part-1.txt",
        ),
        (
            "git update-index --skip-worktree part-1.txt; echo more >> part-1.txt",
            "git is told not to look at part-1.txt",
        ),
        ("git bisect start", "git has BISECT_"),
        (
            "git branch side HEAD~1; git merge --quiet --no-commit --no-ff --strategy=ours \
             \"$(git commit-tree -p HEAD~1 -m side HEAD~1^{tree})\"",
            "git has MERGE_",
        ),
        (
            "GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase --quiet --interactive HEAD~1",
            "no worktree is on its branch",
        ),
        ("git switch --quiet --detach", "no worktree is on its branch"),
        ("git switch --quiet --create other", "no worktree is on its branch"),
        (
            "git switch --quiet --detach; git commit --quiet --allow-empty --message aside; git switch --quiet -",
            "which was made in it",
        ),
        (
            "git update-ref refs/worktree/mine HEAD",
            "it has a ref of its own, worktree/mine",
        ),
        (
            "git config extensions.worktreeConfig true; git config --worktree user.name somebody",
            "git has config.worktree for it",
        ),
        ("git worktree lock .", "it is locked"),
        (
            "git init --quiet ../../../../inner; git -C ../../../../inner commit --quiet --allow-empty --message x; \
             git -c protocol.file.allow=always submodule --quiet add \"$(realpath ../../../../inner)\" inner; \
             git commit --quiet --message submodule",
            "git has modules for it",
        ),
    ] {
        let sandbox = landed(script);
        is_kept(&sandbox, because);
    }
}

/// Work that has not landed keeps it, though the branch would keep the commits.
#[test]
fn commits_that_have_not_landed_keep_it() {
    let beyond = landed("");
    let _ = beyond
        .shell(&format!(
            "cd {PLACE} && git commit --quiet --allow-empty --message more"
        ))
        .exits(0);
    is_kept(&beyond, "not every commit of its branch has landed");

    let squashed = sandbox(&alpha());
    worked_in(&squashed, "");
    let _ = squashed.git(&["merge", "--quiet", "--squash", BRANCH]);
    let _ = squashed.git(&[
        "commit",
        "--quiet",
        "--message",
        "work (#1)\n\nPlanwright-Task: alpha/1",
    ]);
    is_kept(&squashed, "not every commit of its branch has landed");
}

#[test]
fn who_is_in_it_keeps_it() {
    let leased = landed("");
    // No process of another test inherits this one.
    let file = fs::File::open(leased.lease("alpha", "1")).expect("the lease");
    let mut lock = RwLock::new(file);
    let hold = lock.try_write().expect("taken");
    is_kept(&leased, "a worker has it");
    drop(hold);
    let _ = leased.orchestrate(&["alpha"]).exits(0).says(SWEPT);
    is_gone(&leased);

    let entered = landed("");
    let mut shell = entered.start_program("sh", &entered.path(PLACE), &["-c", "echo in; sleep 600"]);
    let _ = shell.wait_for("in");
    is_kept(&entered, "works in it");
    shell.kill();

    let opened = landed("");
    let script = format!("exec 9>> {PLACE}/part-1.txt; echo opened; sleep 600");
    let mut shell = opened.start_program("sh", &opened.repository(), &["-c", &script]);
    let _ = shell.wait_for("opened");
    is_kept(&opened, "works in it");
    shell.kill();
}

/// A step that is run from inside the worktree does not saw off the branch it sits on.
#[test]
fn a_tower_started_in_it_keeps_it() {
    let sandbox = landed("");
    let output = sandbox.orchestrate_in(&sandbox.path(PLACE), &["alpha"]).exits(0);
    assert!(!output.to_string().contains("swept"), "{output}");
    assert!(sandbox.path(PLACE).join("part-1.txt").is_file());
    sandbox.wait_for_worker("alpha", "2");
}

#[test]
fn nothing_goes_while_the_daemons_are_paused() {
    let sandbox = landed("");
    let configured = sandbox.read(".claude/planwright.local.yml");
    sandbox.write(
        ".claude/planwright.local.yml",
        &format!("{configured}fleet_daemon_pause: true\n"),
    );
    is_kept(&sandbox, "fleet_daemon_pause is true");
    assert!(sandbox.path(".git/orchestrate/dispatch/alpha/1.json").is_file());
    sandbox.write(".claude/planwright.local.yml", &configured);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says(SWEPT);
    is_gone(&sandbox);
}

/// What a directory that calls itself a cache holds can be made again.
#[test]
fn caches_and_amended_commits_keep_nothing() {
    let sandbox = landed(
        "echo target/ >> \"$(git rev-parse --git-common-dir)/info/exclude\"; mkdir target; echo x > target/out\n\
         echo 'Signature: 8a477f597d28d172789f06886806bc55' > target/CACHEDIR.TAG\n\
         git commit --quiet --amend --no-edit --date=2026-01-02T03:04:05Z",
    );
    assert_eq!(stays(&sandbox), None);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says(SWEPT);
    is_gone(&sandbox);
    sandbox.wait_for_worker("alpha", "2");
}

/// A worktree whose directory somebody else removed stays registered: git's own prune is a person's.
#[test]
fn a_directory_that_somebody_removed_is_left_to_them() {
    let sandbox = landed("");
    fs::remove_dir_all(sandbox.path(PLACE)).expect("removed");
    is_kept(&sandbox, "its directory is gone");
    assert!(sandbox.path(".git/worktrees/alpha-task-1").is_dir());
}

/// Runs a script of the shell right before the n-th `git status` that a step starts.
fn before_status(sandbox: &Sandbox, nth: u32, script: &str) {
    let found = sandbox.shell("command -v git").exits(0);
    let (git, calls) = (found.stdout.trim_end(), sandbox.desk().join("status.calls"));
    sandbox.install(
        "git",
        &format!(
            "case \" $* \" in *\" status \"*)\n    echo >> {calls}\n    \
             if [ \"$(wc -l < {calls})\" -eq {nth} ]; then\n        (cd {} && {script})\n    fi\nesac\nexec {git} \"$@\"\n",
            sandbox.repository()
        ),
    );
}

/// The looks of one step: before the lock, under it, right before the worktree is moved, and behind that.
const BEFORE_THE_MOVE: u32 = 3;
const BEHIND_THE_MOVE: u32 = 4;

/// What an agent writes there meanwhile, in its place or by a directory that it still has, is lost at no moment.
#[test]
fn what_is_written_meanwhile_is_kept() {
    for (nth, place) in [(BEFORE_THE_MOVE, PLACE), (BEHIND_THE_MOVE, LEAVING)] {
        let sandbox = landed("");
        before_status(&sandbox, nth, &format!("echo late > {place}/late.txt"));
        let _ = sandbox
            .orchestrate(&["alpha"])
            .exits(0)
            .says("the worktree of task 1 stays: it holds uncommitted work: late.txt");
        assert_eq!(sandbox.read(&format!("{PLACE}/late.txt")), "late\n");
        assert_eq!(leftovers(&sandbox), [""; 0]);
        sandbox.wait_for_worker("alpha", "2");
        assert!(sandbox.git(&["worktree", "list"]).contains("alpha-task-1 "));
        is_kept(&sandbox, "late.txt");
        fs::remove_file(sandbox.path(&format!("{PLACE}/late.txt"))).expect("removed");
        let _ = sandbox.orchestrate(&["alpha"]).exits(0).says(SWEPT);
        is_gone(&sandbox);
    }
}

/// A directory that was made at the place while the worktree was out of it: neither is touched, and a person is told.
#[test]
fn what_cannot_be_put_back_is_told_and_kept() {
    let sandbox = landed("");
    let script = format!("mkdir {PLACE} && echo new > {PLACE}/new.txt && echo late > {LEAVING}/late.txt");
    before_status(&sandbox, BEHIND_THE_MOVE, &script);
    let told = format!("cannot put {LEAVING} back to {PLACE}: something was made there meanwhile");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says(&told);
    sandbox.wait_for_worker("alpha", "2");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says(&told);
    assert_eq!(sandbox.read(&format!("{LEAVING}/late.txt")), "late\n");
    assert_eq!(sandbox.read(&format!("{PLACE}/new.txt")), "new\n");
    fs::remove_dir_all(sandbox.path(PLACE)).expect("a person decides");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    assert_eq!(sandbox.read(&format!("{PLACE}/late.txt")), "late\n");
    assert_eq!(leftovers(&sandbox), [""; 0]);
    assert_eq!(stays(&sandbox).as_deref(), Some("it holds uncommitted work: late.txt"));
}

/// Law L11: a kill at any point leaves a whole worktree or one that git calls prunable, and the next step completes it.
#[test]
fn a_kill_at_any_point_is_completed_by_the_next_step() {
    let Some(binary) = failpoint_binary() else {
        return skipped("kills at named points (ORCHESTRATE_FAILPOINT_BINARY is not set)");
    };
    for point in [
        "retire-worktree.before",
        "retire-worktree.moved",
        "retire-worktree.looked",
        "retire-worktree.left",
        "retire-worktree.after",
        "clear-retired.before:2",
        "clear-retired.half",
        "clear-retired.registration",
        "clear-retired.after:2",
    ] {
        let sandbox = Sandbox::with(&binary, &alpha());
        worked_in(&sandbox, "");
        merge(&sandbox);
        let variables = [("ORCHESTRATE_FAILPOINT", point)];
        let killed = sandbox.orchestrate_with(&sandbox.repository(), &["alpha"], &variables);
        assert_ne!(killed.exit, 0, "{point}: {killed}");
        if sandbox.path(PLACE).exists() {
            assert_eq!(
                sandbox.git_in(&sandbox.path(PLACE), &["status", "--porcelain"]),
                "",
                "{point}"
            );
        } else if sandbox.path(".git/worktrees/alpha-task-1").exists() {
            let prunable = sandbox.git(&["worktree", "list", "--porcelain"]);
            assert!(prunable.contains("prunable"), "{point}: {prunable}");
        }
        let _ = sandbox.orchestrate(&["alpha"]).exits(0);
        if sandbox.lease("alpha", "2").exists() {
            sandbox.wait_for_worker("alpha", "2");
        }
        is_gone(&sandbox);
        assert!(!sandbox.path("specs/alpha/.orchestrate.lock").exists(), "{point}");
    }
}

/// What a killed tower had only moved is put back, with what was written there since.
#[test]
fn what_was_written_after_a_kill_is_kept() {
    let Some(binary) = failpoint_binary() else {
        return skipped("kills at named points (ORCHESTRATE_FAILPOINT_BINARY is not set)");
    };
    for point in ["retire-worktree.moved", "retire-worktree.looked"] {
        let sandbox = Sandbox::with(&binary, &alpha());
        worked_in(&sandbox, "");
        merge(&sandbox);
        let variables = [("ORCHESTRATE_FAILPOINT", point)];
        let _ = sandbox.orchestrate_with(&sandbox.repository(), &["alpha"], &variables);
        sandbox.write(&format!("{LEAVING}/late.txt"), "late\n");
        let _ = sandbox.orchestrate(&["alpha"]).exits(0);
        sandbox.wait_for_worker("alpha", "2");
        assert_eq!(sandbox.read(&format!("{PLACE}/late.txt")), "late\n", "{point}");
        is_kept(&sandbox, "late.txt");
    }
}

/// A squash-merged pull request whose head is where the branch is; with another head the worktree stays.
#[test]
fn a_merged_pull_request_vouches_for_the_head_it_had() {
    with_each_gh(&alpha(), |forge| {
        let sandbox = &forge.sandbox;
        sandbox.act_commit("1", "work\n");
        let _ = forge.run(&["alpha"]).exits(0).says("dispatched alpha task 1");
        sandbox.wait_for_worker("alpha", "1");
        let head = sandbox.commit_of(BRANCH);
        let _ = sandbox.git(&["push", "--quiet", "origin", BRANCH]);
        let _ = sandbox.git(&["merge", "--quiet", "--squash", BRANCH]);
        let _ = sandbox.git(&[
            "commit",
            "--quiet",
            "--message",
            "work (#4)\n\nPlanwright-Task: alpha/1",
        ]);
        let _ = sandbox.git(&["push", "--quiet", "origin", "main"]);
        let squash = sandbox.commit_of("main");
        let other = sandbox.commit_of("main~1");
        forge.says("1", vec![merged(4, &other, &squash)]);
        let output = forge.run(&["alpha"]).exits(0);
        assert!(!output.to_string().contains("swept"), "{output}");
        assert!(sandbox.path(PLACE).is_dir());
        if sandbox.lease("alpha", "2").exists() {
            sandbox.wait_for_worker("alpha", "2");
        }
        forge.says("1", vec![merged(4, &head, &squash)]);
        let _ = forge.run(&["alpha"]).exits(0).says(SWEPT);
        is_gone(sandbox);
        assert_eq!(sandbox.commit_of(BRANCH), head);
    });
}
