//! The demo's tests: the whole play in a real repository with real git, with a tower that is played too.
//!
//! The product itself is run by the end-to-end tests; here the tower is a few lines, so that the person, the worker
//! and the order of things are tested without it.

mod played;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::{TaskId, UnitName};
use orchestrate_core::world::Fault;
use orchestrate_host::process::{RunOptions, run_bounded};

use crate::event::{DemoEvent, Happening};
use crate::git::{Actor, Git};
use crate::project::SCRIPTS;
use crate::repository::{is_ours, make_directory, read, write};
use crate::tower::Tower;
use crate::{Demo, Symbols, WorkerInput, person, worker};
use played::{Manner, PlayedTower, input};

struct Stage {
    _keep: tempfile::TempDir,
    directory: Utf8PathBuf,
    tower: PlayedTower,
    demo: Demo,
}

fn stage(manner: Manner) -> Stage {
    let keep = tempfile::tempdir().expect("directory");
    let root = Utf8PathBuf::try_from(keep.path().to_path_buf()).expect("utf8");
    let directory = make_directory(Some(root.join("demo"))).expect("empty");
    let tower = PlayedTower {
        directory: directory.clone(),
        manner,
        log: Vec::new(),
    };
    let demo = Demo::in_directory("/opt/orchestrate".into(), directory.clone());
    Stage {
        _keep: keep,
        directory,
        tower,
        demo,
    }
}

fn failure(manner: Manner) -> Fault {
    let Stage {
        _keep,
        mut tower,
        mut demo,
        ..
    } = stage(manner);
    let result = demo
        .prepare_with(&mut tower)
        .and_then(|()| demo.run_with(&mut tower, &mut |_| {}));
    result.expect_err("a tower that misbehaves")
}

/// Verifies REQ-F2.1.
#[test]
fn five_tasks_land() {
    let Stage {
        _keep,
        directory,
        mut tower,
        mut demo,
    } = stage(Manner::Good);
    demo.prepare_with(&mut tower).expect("prepared");
    let mut events: Vec<DemoEvent> = Vec::new();
    let summary = demo
        .run_with(&mut tower, &mut |event| events.push(event.clone()))
        .expect("landed");

    let mut merged = Vec::new();
    let mut acts = Vec::new();
    for event in &events {
        match &event.what {
            Happening::Merged { task, .. } => merged.push(task.to_string()),
            Happening::Refused { exit, .. } => acts.push(format!("refused {exit}")),
            Happening::Signed { .. } => acts.push("signed".to_owned()),
            Happening::Made { .. }
            | Happening::Stepped { .. }
            | Happening::WorkerEnded { .. }
            | Happening::Acknowledged { .. } => {}
        }
    }
    assert_eq!(merged, ["1", "4", "2", "3", "5"]);
    assert_eq!(acts, ["refused 4", "signed"]);
    assert!(summary.events.is_sorted_by_key(|event| event.at));
    assert!(
        summary
            .render(80, Symbols::Ascii)
            .starts_with("5 of 5 tasks of hello-tower landed in ")
    );

    let git = Git {
        directory: &directory,
        actor: Actor::Person,
    };
    assert_eq!(git.text(&["status", "--porcelain"]), Ok(String::new()));
    // Every landed file is what its check expects, in the checkout a person sees.
    for script in SCRIPTS {
        for file in script.files {
            let bytes = read(&directory.join(file.path)).expect("readable");
            assert_eq!(bytes.as_deref(), Some(file.text.as_bytes()), "{}", file.path);
        }
    }
    let parents = git
        .text(&["log", "--merges", "--format=%s", "refs/heads/main"])
        .expect("log");
    assert_eq!(parents, "Merge task 3: command line\nMerge task 4: translations");
    let authors = git
        .text(&[
            "log",
            "--no-merges",
            "--format=%an: %s",
            "--first-parent",
            "-4",
            "refs/heads/main",
        ])
        .expect("log");
    assert_eq!(
        authors.lines().collect::<Vec<_>>(),
        [
            "Scripted Worker: docs(notes): show how to try it",
            "Scripted Worker: docs(notes): say what the program does",
            "A Person of the Demo: feat: render the greeting",
            "Scripted Worker: feat(parse): add the English word",
        ]
    );
    assert!(
        tower
            .log
            .iter()
            .any(|line| line == "check: checks/1.expect differs from line 5 on"),
        "{:?}",
        tower.log
    );

    let program = run_bounded(
        Utf8Path::new("/bin/sh"),
        &["bin/hello", "Ada", "fr"],
        &RunOptions {
            directory: Some(&directory),
            ..RunOptions::default()
        },
    );
    assert_eq!(program.expect("runs").stdout, b"Bonjour, Ada!\n");
}

/// Runs the play above once more, in a process with these surroundings.
fn play_again(removed: &[&str], environment: &[(&str, &str)]) {
    let own = Utf8PathBuf::try_from(std::env::current_exe().expect("this test")).expect("utf8");
    let mut arguments: Vec<&str> = removed.iter().flat_map(|name| ["-u", name]).collect();
    arguments.extend([own.as_str(), "--exact", "play::five_tasks_land"]);
    let options = RunOptions {
        environment,
        ..RunOptions::default()
    };
    let output = run_bounded(Utf8Path::new("env"), &arguments, &options).expect("runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_users_surroundings_do_not_matter() {
    play_again(&["HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME"], &[]);

    let keep = tempfile::tempdir().expect("directory");
    let home = Utf8PathBuf::try_from(keep.path().to_path_buf()).expect("utf8");
    let hook = home.join("template/hooks/pre-commit");
    write(&hook, "#!/bin/sh\nexit 1\n").expect("hook");
    write(&home.join("bin/pre-commit"), "#!/bin/sh\nexit 1\n").expect("hook");
    write(&home.join("ignored"), "*\n").expect("ignored");
    let hostile = format!(
        "[user]\nuseConfigOnly = true\n[commit]\ngpgSign = true\ntemplate = /nowhere\n[gpg]\nprogram = /bin/false\n\
         [core]\nautocrlf = true\nhooksPath = {home}/bin\nexcludesFile = {home}/ignored\neditor = /bin/false\n\
         [init]\ndefaultBranch = trunk\ntemplateDir = {home}/template\n[merge]\nff = only\nverifySignatures = true\n\
         [color]\nui = always\n[status]\nshowUntrackedFiles = no\n[log]\nshowSignature = true\n"
    );
    write(&home.join(".gitconfig"), &hostile).expect("settings");
    let surroundings = [
        ("HOME", home.as_str()),
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "commit.gpgSign"),
        ("GIT_CONFIG_VALUE_0", "true"),
        ("GIT_DIR", "/nowhere"),
        ("GIT_AUTHOR_NAME", "Somebody Else"),
        ("GIT_DEFAULT_HASH", "sha256"),
    ];
    play_again(&["XDG_CONFIG_HOME"], &surroundings);
}

#[test]
fn a_tower_that_misbehaves_ends_the_demo() {
    let unsigned = failure(Manner::StartsUnsigned);
    assert_eq!(
        unsigned.cause,
        "the tower did not halt: exit 0\ndispatched hello-tower task 1"
    );
    assert_eq!(failure(Manner::MovesMain).cause, "main moved while the tower ran");
    let lazy = failure(Manner::WorkerGivesUp);
    assert_eq!(lazy.cause, "its worker ended without completing task 1");
    assert!(lazy.hint.is_some_and(|hint| hint.contains("hello-tower-task-1.log")));
    let blind = failure(Manner::SeesNoLanding);
    assert!(
        blind
            .cause
            .starts_with("task 1 was merged and has not landed; the tower says\n  1  ready"),
        "{blind}"
    );
}

#[test]
fn the_worker_acts_nowhere_but_in_its_own_worktree() {
    let Stage {
        _keep,
        directory,
        mut tower,
        mut demo,
    } = stage(Manner::WorkerGivesUp);
    demo.prepare_with(&mut tower).expect("prepared");
    tower.step().expect("a worktree");
    let worktree = directory.join(".claude/worktrees/hello-tower-task-1");
    let refusal = |input: WorkerInput| worker(&input, &mut |_| {}).expect_err("refused").to_string();

    let branch = "it is not the worktree of planwright/hello-tower/task-1";
    assert!(refusal(input("1", &directory)).ends_with(branch));
    assert!(refusal(input("1", &worktree.join("checks"))).ends_with(branch));
    assert!(refusal(input("2", &worktree)).ends_with("it is not the worktree of planwright/hello-tower/task-2"));
    assert!(
        refusal(WorkerInput {
            spec: "billing".to_owned(),
            ..input("1", &worktree)
        })
        .contains("knows hello-tower only")
    );
    assert!(refusal(input("", &worktree)).contains("ORCHESTRATE_UNIT"));

    let mark = directory.join(".git/orchestrate-demo");
    assert!(is_ours(&directory.join(".git")));
    std::fs::remove_file(&mark).expect("removed");
    assert!(refusal(input("1", &worktree)).ends_with("the repository was not made by the demo"));
    let git = Git {
        directory: &worktree,
        actor: Actor::Worker,
    };
    assert_eq!(git.text(&["status", "--porcelain"]), Ok(String::new()));
}

#[test]
fn a_worker_that_was_killed_goes_on_where_it_stopped() {
    let Stage {
        _keep,
        directory,
        mut tower,
        mut demo,
    } = stage(Manner::WorkerGivesUp);
    demo.prepare_with(&mut tower).expect("prepared");
    tower.step().expect("a worktree");
    let worktree = directory.join(".claude/worktrees/hello-tower-task-1");
    let name = UnitName::parse("hello-tower:task-1").expect("name");
    let task = TaskId::parse("1").expect("task");
    let git = Git {
        directory: &worktree,
        actor: Actor::Worker,
    };
    let rules = worktree.join("greeting/parse.rules");
    write(
        &rules,
        &SCRIPTS[0].text_of(SCRIPTS[0].stages[0].edits[0]).expect("text"),
    )
    .expect("write");
    git.text(&["add", "--all"]).expect("add");
    git.commit(&format!("{}\n", SCRIPTS[0].stages[0].subject))
        .expect("commit");
    assert_eq!(person::is_finished(&directory, &name, &task), Ok(false));
    assert!(person::review(&directory, &name, &task).is_err());

    for _ in 0..2 {
        worker(&input("1", &worktree), &mut |_| {}).expect("done");
        assert_eq!(person::is_finished(&directory, &name, &task), Ok(true));
        let count = git.text(&["rev-list", "--count", "refs/heads/main..HEAD"]);
        assert_eq!(count, Ok("2".to_owned()));
    }
    assert_eq!(person::review(&directory, &name, &task), Ok(()));

    write(&worktree.join("README.md"), "mine\n").expect("write");
    git.text(&["add", "--all"]).expect("add");
    git.commit("chore: touch more\n\nPlanwright-Task: hello-tower/1\n")
        .expect("commit");
    let refused = person::review(&directory, &name, &task).expect_err("too much");
    assert_eq!(refused.cause, "it changes README.md, which is no part of task 1");
}
