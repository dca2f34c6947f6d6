//! `planwright-commit-trailers` and `check-commit-msgs`, by hand and as hooks of a real git (contract/core.md §14.4).

use std::fs;
use std::os::unix::fs::PermissionsExt;

use camino::Utf8Path;
use orchestrate_e2e::output::Output;
use orchestrate_e2e::sandbox::Sandbox;

use crate::{PROGRAM, alpha, check, sandbox, single};

/// Runs a verb on these bytes.
fn on(sandbox: &Sandbox, input: &[u8], verb: &str) -> Output {
    let file = sandbox.root().join("input");
    fs::write(&file, input).expect("written");
    sandbox.shell(&format!("orchestrate plumbing {verb} < '{file}'"))
}

fn trailers(sandbox: &Sandbox, input: &[u8], references: &str) -> Output {
    on(sandbox, input, &format!("planwright-commit-trailers {references}"))
}

fn subjects(sandbox: &Sandbox, input: &[u8], arguments: &str) -> Output {
    on(sandbox, input, &format!("check-commit-msgs {arguments} --stdin"))
}

/// The contract's worked examples (§18, "commits").
#[test]
fn the_contracts_examples() {
    let sandbox = sandbox(&single());
    check!(sandbox, trailers(&sandbox, b"feat: x\n\nwords\n", "beta/1 beta/2.5"), @r"
        exit 0
        --- out
        feat: x

        words

        Planwright-Task: beta/1
        Planwright-Task: beta/2.5
        ");
    check!(sandbox, trailers(&sandbox, b"feat: x\n\nPlanwright-Task: beta/1\n", "beta/1 beta/2"), @r"
        exit 0
        --- out
        feat: x

        Planwright-Task: beta/1
        Planwright-Task: beta/2
        ");
    for bad in ["beta/1-2", "'be ta/1'"] {
        let output = trailers(&sandbox, b"feat: x\n", bad).exits(2);
        assert_eq!(output.stdout, "", "{output}");
    }
    check!(sandbox, subjects(&sandbox, b"bad subject\n", ""), @r"
        exit 1
        --- err
        check-commit-msgs: line 1: it is not `type(scope): text`, with one of the known types: bad subject
        check-commit-msgs: 1 of 1 subject(s) do not conform
        ");
    check!(sandbox, subjects(&sandbox, b"feat: a [pending-sign-off]\n", "--marker subject"), @r"
        exit 0
        --- out
        check-commit-msgs: 1 subject(s) conform
        ");
    check!(sandbox, subjects(&sandbox, b"feat: a [pending-sign-off]\n", "--marker title"), @r"
        exit 1
        --- err
        check-commit-msgs: line 1: [pending-sign-off] stands in a title: feat: a [pending-sign-off]
        check-commit-msgs: 1 of 1 subject(s) do not conform
        ");
    check!(sandbox, subjects(&sandbox, b"", ""), @r"
        exit 2
        --- err
        error: check-commit-msgs: there is no subject to look at
        ");
}

#[test]
fn a_reference_that_is_none_is_refused_and_not_repeated() {
    let sandbox = sandbox(&single());
    let long = format!("{}/1", "x".repeat(65));
    for bad in [
        "",
        "/",
        "beta",
        "beta/",
        "/1",
        "beta/1/2",
        "Beta/1",
        "../x/1",
        "beta/1\n",
        "beta\n/1",
        "-x",
        "--x",
        "--",
        "-e/1",
        "beta/$(touch pwned)",
        "beta/\u{1b}[31m",
        "béta/1",
        &long,
    ] {
        let output = sandbox.orchestrate(&["plumbing", "planwright-commit-trailers", "beta/1", bad]);
        assert_eq!(output.exit, 2, "{bad:?} {output}");
        let is_shown = bad.len() > 2 && output.text().contains(bad.trim());
        assert!(!is_shown && !output.text().contains('\u{1b}'), "{bad:?} {output}");
        assert_eq!(output.stdout, "", "{bad:?}");
    }
    let _ = sandbox
        .orchestrate(&["plumbing", "planwright-commit-trailers"])
        .exits(2);
}

#[test]
fn messages_of_any_bytes_are_passed_on_as_they_are() {
    let sandbox = sandbox(&single());
    let whole = |input: &[u8]| {
        let file = sandbox.root().join("whole");
        let _ = trailers(&sandbox, input, &format!("beta/1 > '{file}'")).exits(0);
        fs::read(file).expect("written")
    };
    assert_eq!(
        whole(b"feat: \xff\xfe\r\n"),
        b"feat: \xff\xfe\r\n\nPlanwright-Task: beta/1\n"
    );
    assert_eq!(whole(b""), b"\n\nPlanwright-Task: beta/1\n");
    let long = [b"feat: x\n\n".as_slice(), &b"words \n".repeat(1_000_000)].concat();
    let found = whole(&long);
    assert!(found.starts_with(&long) && found.ends_with(b"\n\nPlanwright-Task: beta/1\n"));
    for (what, input) in [
        ("a NUL byte", b"feat: x\0y\n".to_vec()),
        ("too much", vec![b'x'; 16 * 1024 * 1024 + 1]),
    ] {
        let output = trailers(&sandbox, &input, "beta/1").exits(2);
        assert_eq!(output.stdout, "", "{what}");
        let _ = subjects(&sandbox, &input, "").exits(2);
    }
    let output =
        sandbox.shell("printf 'feat: x\\n' | orchestrate plumbing planwright-commit-trailers beta/1 > /dev/full");
    assert_eq!(output.exit, 1, "{output}");
}

/// Verifies REQ-C1.2.
#[test]
fn what_is_added_completes_the_task() {
    let sandbox = sandbox(&alpha());
    let command = "printf 'feat: both\\n\\nWhy.\\n' | orchestrate plumbing planwright-commit-trailers alpha/1 alpha/3 \
                   | git commit --quiet --allow-empty --file=-";
    let _ = sandbox.shell(command).exits(0);
    let read = sandbox.git(&[
        "log",
        "-1",
        "--format=%(trailers:key=Planwright-Task,valueonly,separator=%x2C)",
    ]);
    assert_eq!(read, "alpha/1,alpha/3");
    for (task, state) in [("1", "landed"), ("2", "ready"), ("3", "landed")] {
        assert!(crate::state_of(&sandbox, task).starts_with(state), "{task}");
    }
}

fn install_hook(sandbox: &Sandbox, name: &str, script: &str) {
    let hook = sandbox.path(".git/hooks").join(name);
    fs::create_dir_all(hook.parent().expect("a directory")).expect("made");
    fs::write(&hook, format!("#!/bin/sh\nset -e\n{script}")).expect("written");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("mode");
}

/// Adds the trailer of the branch's unit to whatever is committed on it.
const TRAILERS: &str = r#"
branch=$(git symbolic-ref --short HEAD)
case $branch in planwright/*/task-*)
    spec=${branch#planwright/}; spec=${spec%%/*}
    orchestrate plumbing planwright-commit-trailers "$spec/${branch##*/task-}" < "$1" > "$1.new"
    mv "$1.new" "$1"
esac
"#;

const CHECK: &str = r#"
git stripspace --strip-comments < "$1" | sed -n 1p | orchestrate plumbing check-commit-msgs --max-length 72 --stdin >&2
"#;

/// Commits in a directory as a person would, with an editor that does what the script says.
fn commit(sandbox: &Sandbox, directory: &Utf8Path, editor: &str, settings: &str) -> Output {
    sandbox.install("editor", editor);
    sandbox.shell(&format!(
        "cd '{directory}' && date >> file && git add file && GIT_EDITOR=editor git {settings} commit --quiet"
    ))
}

/// A repository with a worktree on the branch of task 1.
fn with_worktree() -> (Sandbox, camino::Utf8PathBuf) {
    let sandbox = sandbox(&single());
    let worktree = sandbox.root().join("worktree");
    let _ = sandbox.git(&[
        "worktree",
        "add",
        "--quiet",
        "-b",
        "planwright/alpha/task-1",
        worktree.as_str(),
    ]);
    (sandbox, worktree)
}

const TYPES: &str = "sed -i '1s/.*/feat: typed/' \"$1\"\n";

/// Every way in which git hands a message to a hook: comments, another comment character, and the diff below scissors.
#[test]
fn as_a_hook_it_writes_where_git_keeps_it() {
    let (sandbox, worktree) = with_worktree();
    for hook in ["prepare-commit-msg", "commit-msg"] {
        install_hook(&sandbox, hook, TRAILERS);
        for settings in [
            "",
            "-c core.commentChar=';'",
            "-c core.commentChar=auto",
            "-c commit.verbose=true",
            "-c commit.verbose=true -c core.commentChar=%",
            "-c commit.cleanup=scissors",
        ] {
            let _ = commit(&sandbox, &worktree, TYPES, settings).exits(0);
            let message = sandbox.git_in(&worktree, &["log", "-1", "--format=%B"]);
            let expected = "feat: typed\n\nPlanwright-Task: alpha/1";
            assert_eq!(message.trim_end(), expected, "{hook} {settings}");
            // A second time changes nothing.
            let again = format!("cd '{worktree}' && git commit --amend --no-edit --quiet");
            let _ = sandbox.shell(&again).exits(0);
            assert_eq!(
                sandbox.git_in(&worktree, &["log", "-1", "--format=%B"]),
                message,
                "{hook} {settings}"
            );
        }
        fs::remove_file(sandbox.path(".git/hooks").join(hook)).expect("removed");
    }
}

#[test]
fn as_a_hook_the_check_keeps_a_commit_from_being_made() {
    let (sandbox, worktree) = with_worktree();
    install_hook(&sandbox, "commit-msg", &format!("{TRAILERS}{CHECK}"));
    for directory in [&worktree, &sandbox.repository()] {
        let _ = commit(&sandbox, directory, TYPES, "").exits(0);
        let before = sandbox.git_in(directory, &["log", "-1", "--format=%H %B"]);
        assert_eq!(before.contains("Planwright-Task"), directory == &worktree, "{before}");
        let output = commit(&sandbox, directory, "sed -i '1s/.*/typed in haste/' \"$1\"\n", "");
        assert_ne!(output.exit, 0, "{output}");
        assert!(
            output.stderr.contains("check-commit-msgs: line 1: it is not"),
            "{output}"
        );
        assert_eq!(sandbox.git_in(directory, &["log", "-1", "--format=%H %B"]), before);
    }
}

#[test]
fn the_comment_string_of_the_repository_counts() {
    let sandbox = sandbox(&single());
    let _ = sandbox.git(&["config", "core.commentString", "//"]);
    let _ = sandbox.git(&["config", "core.commentChar", ";"]);
    let output = trailers(&sandbox, b"feat: x\n\n; comment\n", "beta/1").exits(0);
    assert_eq!(
        output.stdout, "feat: x\n\nPlanwright-Task: beta/1\n\n; comment\n",
        "the last one counts"
    );
    let outside = sandbox.root().join("home");
    fs::write(sandbox.root().join("input"), "feat: x\n\n# comment\n").expect("written");
    let output = sandbox.shell(&format!(
        "cd '{outside}' && orchestrate plumbing planwright-commit-trailers beta/1 < ../input"
    ));
    assert_eq!(
        output.stdout, "feat: x\n\nPlanwright-Task: beta/1\n\n# comment\n",
        "{output}"
    );
}

#[test]
fn a_range_leaves_merges_out_and_skips_reverts() {
    let sandbox = sandbox(&single());
    let start = sandbox.commit_all("chore: start");
    let range = |range: &str| sandbox.orchestrate(&["plumbing", "check-commit-msgs", range]);
    check!(sandbox, range(&format!("{start}..HEAD")), @r"
        exit 2
        --- err
        error: check-commit-msgs: there is no subject to look at
        ");
    let _ = sandbox.commit_all("feat(scope)!: one\ncontinued\n\nbody");
    let _ = sandbox.git(&["switch", "--quiet", "--create", "side"]);
    let _ = sandbox.commit_all("fix: two");
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    let _ = sandbox.commit_all("docs: three");
    let _ = sandbox.git(&["merge", "--quiet", "--no-ff", "-m", "whatever git says", "side"]);
    let _ = sandbox.commit_all("Revert \"docs: three\"");
    check!(sandbox, range(&format!("{start}..")), @r"
        exit 0
        --- out
        check-commit-msgs: 3 subject(s) conform
        ");
    check!(sandbox, range("side...main"), @r"
        exit 0
        --- out
        check-commit-msgs: 1 subject(s) conform
        ");
    let _ = sandbox.commit_all(&format!("no subject \u{1b}[31m of any kind {}\n", "x".repeat(200)));
    let _ = sandbox.commit_all("feat: last");
    check!(sandbox, range(&format!("{start}..")), @r"
        exit 1
        --- err
        check-commit-msgs: [SHORT]: it is not `type(scope): text`, with one of the known types: no subject [31m of any kind xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
        check-commit-msgs: 1 of 5 subject(s) do not conform
        ");
    check!(sandbox, sandbox.orchestrate(&["plumbing", "check-commit-msgs", "--max-length", "9", "HEAD~1..HEAD"]), @r"
        exit 1
        --- err
        check-commit-msgs: [SHORT]: it has 10 bytes, and at most 9 fit: feat: last
        check-commit-msgs: 1 of 1 subject(s) do not conform
        ");
    check!(sandbox, range("HEAD"), @r"
        exit 1
        --- err
        check-commit-msgs: [SHORT]: it is not `type(scope): text`, with one of the known types: no subject [31m of any kind xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
        check-commit-msgs: [SHORT]: it is not `type(scope): text`, with one of the known types: spec alpha
        check-commit-msgs: [SHORT]: it is not `type(scope): text`, with one of the known types: first commit
        check-commit-msgs: 3 of 8 subject(s) do not conform
        ");
    // From anywhere in the repository, and from a worktree.
    let worktree = sandbox.root().join("worktree");
    let _ = sandbox.git(&["worktree", "add", "--quiet", "--detach", worktree.as_str(), "HEAD"]);
    let _ = sandbox
        .orchestrate_in(&worktree, &["plumbing", "check-commit-msgs", "HEAD~1.."])
        .exits(0);
}

#[test]
fn usage_of_the_check() {
    let sandbox = sandbox(&single());
    for arguments in [
        &[][..],
        &["--stdin", "HEAD"],
        &["--marker", "subject", "HEAD"],
        &["--marker", "body", "--stdin"],
        &["--max-length", "0", "HEAD"],
        &["--max-length", "x", "HEAD"],
        &["--max-length", "+7", "HEAD"],
        &["--max-length", "99999999999999999999999", "HEAD"],
        &["--max-length"],
        &["--output=x"],
        &["-1"],
        &["", "HEAD"],
        &["HEAD", "HEAD"],
        &["nothing..HEAD"],
        &["HEAD:specs"],
        &["HEAD..HEAD"],
        &[""],
        &["--", "--output=x"],
        &["$(touch pwned)"],
    ] {
        let whole = [&["plumbing", "check-commit-msgs"][..], arguments].concat();
        let output = sandbox.orchestrate(&whole);
        assert_eq!(output.exit, 2, "{arguments:?} {output}");
        assert_eq!(output.stdout, "", "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
    let outside = Sandbox::empty(PROGRAM);
    check!(outside, outside.orchestrate(&["plumbing", "check-commit-msgs", "HEAD"]), @r#"
        exit 2
        --- err
        error: cannot read the commits of "HEAD": [SANDBOX]/repository is in no git repository
        hint: run this inside a git repository
        "#);
}

#[test]
fn lines_of_any_kind() {
    let sandbox = sandbox(&single());
    let conform = b"\n  \nfeat: a\r\n\nfix(x): \xff\xfe\nMerge branch 'x'\nRevert \"y\"\nrevert: z";
    check!(sandbox, subjects(&sandbox, conform, ""), @r"
        exit 0
        --- out
        check-commit-msgs: 3 subject(s) conform
        ");
    check!(sandbox, subjects(&sandbox, b"Merge x\n", "--marker title"), @r"
        exit 0
        --- out
        check-commit-msgs: 0 subject(s) conform
        ");
    check!(sandbox, subjects(&sandbox, b"\n \t\r\n", ""), @r"
        exit 2
        --- err
        error: check-commit-msgs: there is no subject to look at
        ");
    let bad = "feat: a [pending-sign-off] [pending-sign-off]\r\nfeat(A): \u{1b}[2J\u{202e}\nfeat:  b\n".as_bytes();
    check!(sandbox, subjects(&sandbox, bad, "--marker subject --max-length 20"), @r"
        exit 1
        --- err
        check-commit-msgs: line 1: it has 45 bytes, and at most 20 fit: feat: a [pending-sign-off] [pending-sign-off]
        check-commit-msgs: line 1: [pending-sign-off] stands more than once: feat: a [pending-sign-off] [pending-sign-off]
        check-commit-msgs: line 2: it is not `type(scope): text`, with one of the known types: feat(A): [2J
        check-commit-msgs: line 3: it is not `type(scope): text`, with one of the known types: feat:  b
        check-commit-msgs: 3 of 3 subject(s) do not conform
        ");
    let long = [b"feat: ".as_slice(), &vec![b'x'; 3_000_000]].concat();
    let _ = subjects(&sandbox, &long, "").exits(0);
    let output = subjects(&sandbox, &long, "--max-length 72").exits(1);
    assert!(output.stderr.len() < 400, "{}", output.stderr.len());
}
