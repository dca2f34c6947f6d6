//! Hostile names and texts: data, never a path, a command or a control sequence (law L8).

use camino::Utf8Path;
use orchestrate_e2e::listing::Listing;
use orchestrate_e2e::output::Output;
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_testkit::bundle::BundleFixture;

use crate::{sandbox, single};

fn hostile_names() -> Vec<String> {
    let mut names: Vec<String> = [
        "../x",
        "..",
        ".",
        "/etc",
        "a/../../x",
        "$(touch pwned)",
        "`touch pwned`",
        "; touch pwned",
        "a b",
        "Alpha",
        "alpha\u{301}",
        "älpha",
        "alpha\n",
        "alpha\u{1b}[31m",
        "\u{202e}ahpla",
        "specs/../alpha",
        "specs//alpha",
        "specs/specs/alpha",
        "alpha/tasks.md",
        "%s%n",
        "",
    ]
    .map(str::to_owned)
    .to_vec();
    names.push("x".repeat(65));
    names.push("x".repeat(5000));
    names
}

/// Verifies REQ-A1.8.
#[test]
fn hostile_spec_names_are_refused_everywhere_and_touch_nothing() {
    let sandbox = sandbox(&single());
    let before = Listing::of(sandbox.root());
    for name in hostile_names() {
        for arguments in [
            vec!["--", &name],
            vec!["status", "--", &name],
            vec!["--watch", "--", &name],
        ] {
            let output = sandbox.orchestrate(&arguments);
            assert!(matches!(output.exit, 1 | 2), "{name:?} {output}");
            assert!(
                !output.text().contains('\u{1b}') && !output.text().contains('\u{202e}'),
                "{name:?} {output:?}"
            );
        }
    }
    for flag_like in ["-x", "--x", "-rf"] {
        let _ = sandbox.orchestrate(&[flag_like]).exits(2);
        let _ = sandbox.orchestrate(&["--", flag_like]).exits(2);
    }
    assert_eq!(Listing::of(sandbox.root()).changes_since(&before), [""; 0]);
}

#[test]
fn hostile_names_are_refused_by_every_plumbing_verb() {
    let sandbox = sandbox(&single());
    let before = Listing::of(sandbox.root());
    for name in hostile_names()
        .into_iter()
        .filter(|name| !matches!(name.as_str(), "specs//alpha" | "specs/../alpha"))
    {
        let directory = format!("specs/{name}");
        for verb in [
            vec!["orchestrate-state", "--", &directory],
            vec!["orchestrate-select", "--", &directory],
            vec!["orchestrate-lock", "--", "acquire", &directory],
            vec!["orchestrate-lock", "--", "release", &directory],
            vec!["orchestrate-marker", "--", "write", &directory, "1"],
            vec!["orchestrate-marker", "--", "clear", &directory, "1"],
            vec!["run-worker", "--", &name, "1"],
        ] {
            let output = sandbox.orchestrate(&[vec!["plumbing"], verb.clone()].concat());
            assert_eq!(output.exit, 2, "{verb:?} {output}");
            assert_eq!(output.stdout, "", "{verb:?}");
            assert!(!output.text().contains('\u{1b}'), "{verb:?} {output:?}");
        }
        let output = sandbox.orchestrate(&["plumbing", "spec-anchor", "--", &directory]);
        assert!(output.exit != 0 && output.stdout.is_empty(), "{directory:?} {output}");
    }
    assert_eq!(Listing::of(sandbox.root()).changes_since(&before), [""; 0]);
}

#[test]
fn hostile_task_ids_are_refused_before_anything_is_touched() {
    let sandbox = sandbox(&single());
    let before = Listing::of(sandbox.root());
    for id in [
        "",
        ".",
        "..",
        "../1",
        "1/2",
        "1-2",
        "-1",
        "$(touch pwned)",
        "1\n",
        "1\0",
        "١",
        "1.2.3.4.5.6 ",
        "x",
        "1 2",
    ] {
        if id.contains('\0') {
            continue; // No argument can hold one.
        }
        for verb in ["write", "clear"] {
            let output = sandbox.orchestrate(&["plumbing", "orchestrate-marker", "--", verb, "specs/alpha", "1", id]);
            assert_eq!(output.exit, 2, "{id:?} {output}");
        }
        let unit = sandbox.orchestrate(&["plumbing", "run-worker", "--", "alpha", id]);
        assert!(unit.exit == 2 || (id == "1-2" && unit.exit == 4), "{id:?} {unit}");
        let attempt = sandbox.orchestrate(&["plumbing", "run-worker", "alpha", "1", &format!("--attempt={id}")]);
        assert_eq!(attempt.exit, 2, "{id:?} {attempt}");
    }
    let changes = Listing::of(sandbox.root()).changes_since(&before);
    let allowed = [
        "+ repository/.git/orchestrate/",
        "+ repository/.git/orchestrate/worker-settings.json",
    ];
    assert!(
        changes.iter().all(|change| allowed.contains(&change.as_str())),
        "{changes:?}"
    );
}

/// Verifies REQ-A1.8.
#[test]
fn control_characters_in_titles_never_reach_a_terminal() {
    let title = "red \u{1b}[31m title \u{7} \u{9b}2J \u{202e}back \u{2066}isolated";
    let bundle = BundleFixture::new("alpha")
        .task("1", title, &[], "1 day")
        .task("2", "plain", &["1"], "1 day");
    let sandbox = sandbox(&bundle);
    for arguments in [
        &["alpha", "--dry-run"][..],
        &["status", "alpha"],
        &["plumbing", "orchestrate-state", "specs/alpha"],
        &["plumbing", "orchestrate-select", "specs/alpha"],
        &["alpha"],
        &["alpha"],
    ] {
        let output = sandbox.orchestrate(arguments);
        let bad = output.text().chars().find(|character| {
            (character.is_control() && !matches!(character, '\n' | '\t'))
                || matches!(character, '\u{202e}' | '\u{2066}')
        });
        assert_eq!(bad, None, "{arguments:?} {:?}", output.text());
    }
    let output = sandbox.orchestrate(&["status", "alpha", "--format", "json"]);
    assert!(!output.stdout.contains('\u{1b}'), "JSON escapes it: {output:?}");
}

/// Verifies REQ-A1.8.
#[test]
fn shell_text_in_a_bundle_reaches_the_worker_as_text() {
    let title = "$(touch pwned) `touch pwned` ; touch pwned | 'quoted' \"twice\"";
    let sandbox = sandbox(&BundleFixture::new("alpha").task("1", title, &[], "1 day"));
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    sandbox.wait_for_worker("alpha", "1");
    assert!(sandbox.noted("1", "prompt").contains(title));
    let found = sandbox
        .run("find", &[sandbox.root().as_str(), "-name", "pwned"])
        .expect("find")
        .exits(0);
    assert_eq!(found.stdout, "");
}

#[test]
fn a_branch_name_from_elsewhere_is_never_taken_for_a_unit() {
    let sandbox = sandbox(&single());
    let commit = sandbox.commit_of("main");
    for name in [
        "planwright/alpha/task-x",
        "planwright/alpha/task-1-2-3",
        "planwright/alpha/task-1/deeper",
        "planwright/alpha2/task-9",
    ] {
        let _ = sandbox.git(&["update-ref", &format!("refs/heads/{name}"), &commit]);
    }
    let output = sandbox.orchestrate(&["status", "alpha"]).exits(0);
    assert!(output.stdout.contains("ready"), "{output}");
}

/// Runs the program in a directory, and ends it when it waits for what will never come.
fn bounded(sandbox: &Sandbox, directory: &Utf8Path, command: &str) -> Output {
    let output = sandbox.shell(&format!("cd '{directory}' && exec timeout 20 orchestrate {command}"));
    assert_ne!(output.exit, 124, "{command} waits in {directory}: {output}");
    output
}

/// Puts a named pipe in the place of a file, and gives back what stood there.
fn pipe_in_place_of(path: &Utf8Path) -> Option<Vec<u8>> {
    let before = std::fs::read(path).ok();
    if before.is_some() {
        std::fs::remove_file(path).expect("out of the way");
    }
    std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        path.as_std_path(),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .expect("a pipe");
    before
}

fn put_back(path: &Utf8Path, before: Option<Vec<u8>>) {
    std::fs::remove_file(path).expect("the pipe is taken away");
    if let Some(bytes) = before {
        std::fs::write(path, bytes).expect("put back");
    }
}

/// Git's own files are opened by everything that opens a repository: a named pipe there is told by name, with what helps,
/// and nothing waits on it.
/// Verifies REQ-A1.8.
#[test]
fn a_named_pipe_among_gits_files_is_named_by_every_command() {
    let sandbox = sandbox(&single());
    let worktree = sandbox.root().join("worktree");
    let _ = sandbox.git(&["worktree", "add", "--quiet", "--detach", worktree.as_str(), "HEAD"]);
    let (home, linked) = (sandbox.repository(), worktree);
    for (directory, file) in [
        (&home, "HEAD"),
        (&home, "commondir"),
        (&home, "config"),
        (&home, "index"),
        (&home, "info/attributes"),
        (&home, "info/exclude"),
        (&home, "info/grafts"),
        (&home, "logs/HEAD"),
        (&home, "objects/info/alternates"),
        (&home, "packed-refs"),
        (&home, "refs/heads/main"),
        (&home, "shallow"),
        (&linked, "config"),
        (&linked, "packed-refs"),
        (&linked, "worktrees/worktree/HEAD"),
        (&linked, "worktrees/worktree/commondir"),
        (&linked, "worktrees/worktree/gitdir"),
        (&linked, "worktrees/worktree/index"),
    ] {
        let path = sandbox.path(".git").join(file);
        let before = pipe_in_place_of(&path);
        for command in [
            "alpha",
            "alpha --dry-run",
            "status alpha",
            "why alpha 1",
            "park alpha 1 --in deferred --reason later",
            "plumbing check-commit-msgs HEAD",
            "plumbing dispatch-fetch .",
            "plumbing orchestrate-lock acquire specs/alpha",
            "plumbing orchestrate-lock release specs/alpha",
            "plumbing orchestrate-marker write specs/alpha 1",
            "plumbing orchestrate-state specs/alpha",
            "plumbing spec-validate specs",
            "validate",
        ] {
            let output = bounded(&sandbox, directory, command);
            assert!(output.exit == 1 || output.exit == 2, "{file}, {command}: {output}");
            assert!(output.stderr.contains("is a named pipe"), "{file}, {command}: {output}");
            assert!(
                output.stderr.contains(&format!("rm .git/{file}")),
                "{file}, {command}: {output}"
            );
        }
        for command in ["config list", "doctor", "plumbing config-get max_parallel_units"] {
            let _ = bounded(&sandbox, directory, command);
        }
        put_back(&path, before);
        assert!(sandbox.git(&["status", "--porcelain"]).is_empty(), "{file}");
        let _ = bounded(&sandbox, directory, "status alpha").exits(0);
    }
    assert_eq!(sandbox.starts(), [""; 0]);
}

/// What stands in another worktree's files is told by whoever looks into it.
#[test]
fn a_named_pipe_among_a_worktrees_files_keeps_nobody_waiting() {
    let sandbox = sandbox(&single());
    sandbox.act("1", "exit 0");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    sandbox.wait_for_worker("alpha", "1");
    let _ = sandbox
        .orchestrate(&["plumbing", "orchestrate-marker", "clear", "specs/alpha", "1"])
        .exits(0);
    for file in ["HEAD", "commondir", "gitdir", "index", "locked"] {
        let path = sandbox.path(".git/worktrees/alpha-task-1").join(file);
        let before = pipe_in_place_of(&path);
        let output = bounded(&sandbox, &sandbox.repository(), "alpha --detailed-exitcode");
        assert_ne!(output.exit, 0, "{file}: {output}");
        assert!(output.text().contains(file), "{file}: {output}");
        let _ = bounded(&sandbox, &sandbox.repository(), "status alpha");
        put_back(&path, before);
    }
    assert_eq!(sandbox.starts().len(), 1);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
}

/// A crash may leave the file empty; then no branch that was packed is there.
#[test]
fn emptied_packed_refs() {
    let sandbox = sandbox(&single());
    let _ = sandbox.git(&["pack-refs", "--all"]);
    sandbox.write(".git/packed-refs", "");
    crate::check!(sandbox, sandbox.orchestrate(&["status", "alpha"]), @r"
        exit 1
        --- err
        error: cannot resolve the base branch: .git/packed-refs is empty: the branches that it held are lost
        hint: the checkout was last at this commit: git update-ref refs/heads/main [HASH]; .git/logs/refs names the others
        ");
    let output = sandbox.orchestrate(&["alpha"]).exits(1);
    let (_, command) = output.stdout.split_once("git update-ref").expect("what helps");
    let command = command.split(';').next().expect("a command");
    let _ = sandbox.shell(&format!("git update-ref{command}")).exits(0);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
}
