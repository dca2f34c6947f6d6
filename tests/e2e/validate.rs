//! `validate` and `plumbing spec-validate`: bundles, roots, baselines, and what lies where a bundle belongs.

use std::fs;
use std::os::unix::fs::symlink;

use orchestrate_e2e::listing::Listing;
use orchestrate_e2e::sandbox::Sandbox;

use crate::{PROGRAM, alpha, check, sandbox, single};

/// Edits a file of the bundle `alpha` in the working copy.
fn edit(sandbox: &Sandbox, file: &str, from: &str, to: &str) {
    let path = format!("specs/alpha/{file}");
    let before = sandbox.read(&path);
    let after = before.replace(from, to);
    assert_ne!(before, after, "{from:?} is not in {file}");
    sandbox.write(&path, &after);
}

/// Sets the status in all four files.
fn set_status(sandbox: &Sandbox, status: &str) {
    for file in ["requirements.md", "design.md", "tasks.md", "test-spec.md"] {
        edit(sandbox, file, "**Status:** Ready", &format!("**Status:** {status}"));
    }
}

/// Runs the plumbing verb.
fn plumbing(sandbox: &Sandbox, arguments: &[&str]) -> orchestrate_e2e::output::Output {
    sandbox.orchestrate(&[&["plumbing", "spec-validate"], arguments].concat())
}

/// Verifies REQ-B2.1.
#[test]
fn a_bundle_without_findings_is_named_in_one_line() {
    let sandbox = sandbox(&alpha());
    for target in [
        &[][..],
        &["alpha"],
        &["specs/alpha"],
        &["specs/alpha/"],
        &["./specs/alpha"],
        &["specs"],
        &["specs/"],
    ] {
        let output = sandbox.orchestrate(&[&["validate"], target].concat()).exits(0);
        assert_eq!(output.stdout, "1 bundle: no findings\n", "{target:?}");
        assert_eq!(output.stderr, "", "{target:?}");
    }
    let inside = sandbox.path("specs/alpha");
    let output = sandbox.orchestrate_in(&inside, &["validate", "."]).exits(0);
    assert_eq!(output.stdout, "1 bundle: no findings\n");
    let output = sandbox.orchestrate_in(&inside, &["validate"]).exits(0);
    assert_eq!(output.stdout, "1 bundle: no findings\n", "the checkout's own specs");
}

/// Verifies REQ-B2.1.
#[test]
fn findings_show_their_line_and_what_helps() {
    let sandbox = sandbox(&single());
    edit(&sandbox, "tasks.md", "### Task 1 — only", "### Task 1: only");
    let before = sandbox.listing();
    check!(sandbox, sandbox.orchestrate(&["validate", "alpha"]), @r#"
        exit 1
        --- out
        specs/alpha · Ready · 1 error

        error: specs/alpha/tasks.md:10: malformed task id at tasks.md:10 (":" stands right behind the id 1)
           10 | ### Task 1: only part
              |          ^^
        hint: write `### Task 1 — only part`

        1 bundle: 1 error
        "#);
    // The same lines are shown by whoever meets them.
    for command in [&["status", "alpha"][..], &["why", "alpha", "1"], &["alpha"]] {
        let output = sandbox.orchestrate(command).exits(4);
        let _ = output.says("   10 | ### Task 1: only part\n      |          ^^\n");
    }
    let value = sandbox
        .orchestrate(&["status", "alpha", "--format", "json"])
        .exits(4)
        .json();
    assert_eq!(value["findings"][0]["line"], 10, "{value}");
    let value = sandbox
        .orchestrate(&["validate", "alpha", "--format", "json"])
        .exits(1)
        .json();
    assert_eq!(
        (&value["outcome"], &value["errors"]),
        (&"invalid".into(), &1.into()),
        "{value}"
    );
    let finding = &value["bundles"][0]["findings"][0];
    assert_eq!(finding["severity"], "error", "{value}");
    assert_eq!(finding["path"], "specs/alpha/tasks.md", "{value}");
    assert_eq!(
        (&finding["line"], &finding["excerpt"]),
        (&10.into(), &"### Task 1: only part".into()),
        "{value}"
    );
    assert_eq!(sandbox.changes_since(&before), [""; 0], "it only reads");
}

/// Verifies REQ-B2.5.
#[test]
fn gaps_are_warnings_in_a_draft_and_errors_once_it_is_signed() {
    let sandbox = sandbox(&single());
    edit(&sandbox, "tasks.md", "- **Done when:** part 1 is there\n", "");
    let _ = sandbox.orchestrate(&["validate", "alpha"]).exits(1).says("1 error");
    set_status(&sandbox, "Draft");
    let _ = sandbox
        .orchestrate(&["validate", "alpha"])
        .exits(0)
        .says("no errors, 1 warning");
    check!(sandbox, plumbing(&sandbox, &["specs/alpha"]), @r"
        exit 0
        --- out
        spec-validate: WARN alpha: Task 1 missing field: Done when
        spec-validate: 0 error(s), 1 warning(s)
        ");
}

/// Verifies REQ-B2.2.
#[test]
fn every_entry_of_a_root_has_its_answer() {
    let sandbox = sandbox(&single());
    let specs = sandbox.path("specs");
    for directory in ["_observations", "_Bad", "Beta", "empty", ".hidden", "a b"] {
        fs::create_dir(specs.join(directory)).expect("a directory");
    }
    fs::write(specs.join("README.md"), "text\n").expect("a file");
    symlink("alpha", specs.join("linked")).expect("a link");
    symlink("README.md", specs.join("to-file")).expect("a link");
    symlink("nowhere", specs.join("dangling")).expect("a link");
    let output = plumbing(&sandbox, &["specs"]).exits(1);
    check!(sandbox, output, @r"
        exit 1
        --- out
        spec-validate: ERROR Beta: the directory's name is not a spec's name (a-z, 0-9 and '-', at most 64, not starting with '-')
        spec-validate: ERROR _Bad: the directory's name is not an accumulator's name (_, then a-z, 0-9 and '-', at most 64)
        spec-validate: ERROR a b: the directory's name is not a spec's name (a-z, 0-9 and '-', at most 64, not starting with '-')
        spec-validate: WARN empty: missing file: requirements.md
        spec-validate: WARN empty: missing file: design.md
        spec-validate: WARN empty: missing file: tasks.md
        spec-validate: WARN empty: missing file: test-spec.md
        spec-validate: ERROR empty: missing or empty Format-version: declaration (expected 1 or 2)
        spec-validate: ERROR linked: a symbolic link stands where a bundle belongs; bundles must be real directories
        spec-validate: 5 error(s), 4 warning(s)
        ");
    let output = sandbox.orchestrate(&["validate"]).exits(1);
    check!(sandbox, output, @r"
        exit 1
        --- out
        error: specs/Beta: the directory's name is not a spec's name (a-z, 0-9 and '-', at most 64, not starting with '-')
        hint: rename it, or move it out of the directory of bundles

        error: specs/_Bad: the directory's name is not an accumulator's name (_, then a-z, 0-9 and '-', at most 64)
        hint: rename it, or move it out of the directory of bundles

        error: specs/a b: the directory's name is not a spec's name (a-z, 0-9 and '-', at most 64, not starting with '-')
        hint: rename it, or move it out of the directory of bundles

        specs/empty · 1 error, 4 warnings

        warning: specs/empty/requirements.md: missing file: requirements.md
        hint: a bundle has four files

        warning: specs/empty/design.md: missing file: design.md
        hint: a bundle has four files

        warning: specs/empty/tasks.md: missing file: tasks.md
        hint: a bundle has four files

        warning: specs/empty/test-spec.md: missing file: test-spec.md
        hint: a bundle has four files

        error: specs/empty/requirements.md: missing or empty Format-version: declaration (expected 1 or 2)
        hint: declare `**Format-version:** 2` once, in the header block at the top of every file

        error: specs/linked: a symbolic link stands where a bundle belongs; bundles must be real directories
        hint: put the directory itself there, or move the link elsewhere

        2 bundles: 5 errors, 4 warnings
        ");
}

/// Verifies REQ-B2.2.
#[test]
fn hostile_names_in_a_root_drive_no_terminal() {
    use std::os::unix::ffi::OsStringExt;
    let sandbox = sandbox(&single());
    for name in [
        &b"a\x1b[31mb"[..],
        b"two\nlines",
        b"\xff\xfe",
        b"-rf",
        b"$(touch pwned)",
        b"caf\xc3\xa9",
    ] {
        let name = std::ffi::OsString::from_vec(name.to_vec());
        fs::create_dir(sandbox.path("specs").as_std_path().join(name)).expect("a directory");
    }
    let before = Listing::of(&sandbox.path(".git"));
    for arguments in [&["validate"][..], &["plumbing", "spec-validate", "specs"]] {
        let output = sandbox.orchestrate(arguments).exits(1);
        assert!(
            output.text().matches("the directory's name is not").count() == 6,
            "{output}"
        );
        let text = output.text();
        let bad = text
            .chars()
            .find(|character| character.is_control() && *character != '\n');
        assert_eq!(bad, None, "{text:?}");
    }
    let value = sandbox.orchestrate(&["validate", "--format", "json"]).exits(1).json();
    assert_eq!(value["errors"], 6, "{value}");
    assert_eq!(Listing::of(&sandbox.path(".git")).changes_since(&before), [""; 0]);
}

/// Verifies REQ-B2.4.
#[test]
fn what_is_no_readable_file_is_named_and_not_waited_for() {
    let sandbox = sandbox(&single());
    let specs = sandbox.path("specs");
    let tasks = specs.join("alpha/tasks.md");
    let replace = |make: &dyn Fn()| {
        fs::remove_file(&tasks).expect("removed");
        make();
        let output = sandbox.orchestrate(&["validate", "alpha"]).exits(1);
        let same = plumbing(&sandbox, &["specs/alpha"]).exits(1);
        assert!(same.stdout.contains("tasks.md"), "{same}");
        output
    };
    let moved = specs.join("elsewhere.md");
    fs::copy(&tasks, &moved).expect("copied");
    let _ = replace(&|| symlink(&moved, &tasks).expect("a link")).says("symbolic link");
    let mode = rustix::fs::Mode::RWXU;
    let pipe = || {
        rustix::fs::mknodat(
            rustix::fs::CWD,
            tasks.as_std_path(),
            rustix::fs::FileType::Fifo,
            mode,
            0,
        )
        .expect("a pipe");
    };
    let _ = replace(&pipe).says("no regular file");
    let sparse = || {
        fs::File::create(&tasks)
            .and_then(|file| file.set_len(100 << 20))
            .expect("a large file");
    };
    let _ = replace(&sparse).says("104857600 bytes");
    let _ = replace(&|| fs::write(&tasks, b"# A\n\n\0binary\n").expect("bytes")).says("tasks.md");
    let _ = replace(&|| fs::create_dir(&tasks).expect("a directory")).says("directory");
}

#[test]
fn a_linked_bundle_is_an_error_here_and_followed_where_the_reference_follows_it() {
    let sandbox = sandbox(&single());
    let elsewhere = sandbox.root().join("beta");
    fs::rename(sandbox.path("specs/alpha"), &elsewhere).expect("moved");
    symlink(&elsewhere, sandbox.path("specs/beta")).expect("a link");
    let _ = sandbox
        .orchestrate(&["validate", "specs/beta"])
        .exits(1)
        .says("symbolic link");
    let output = plumbing(&sandbox, &["specs/beta/"]).exits(0);
    assert_eq!(output.stdout, "spec-validate: 0 error(s), 0 warning(s)\n");
}

/// Verifies REQ-B2.2.
#[test]
fn the_verb_has_the_contracts_exit_numbers() {
    let sandbox = sandbox(&single());
    for good in ["alpha", "0", "a-", &"x".repeat(64)] {
        let output = plumbing(&sandbox, &["--check-id", good]).exits(0);
        assert_eq!(output.text(), "", "{good}");
    }
    for bad in [
        "",
        "-x",
        "Alpha",
        "a_b",
        "_a",
        "a/b",
        "..",
        "a\nb",
        "\u{1b}[31m",
        &"x".repeat(65),
    ] {
        let output = plumbing(&sandbox, &["--check-id", bad]).exits(1);
        assert_eq!(output.stdout, "", "{bad:?}");
        assert_eq!(output.stderr.lines().count(), 1, "{bad:?} {output}");
        assert!(bad.len() < 3 || !output.stderr.contains(bad), "{bad:?} {output}");
    }
    for usage in [
        &[][..],
        &["--check-id"],
        &["--check-id", "alpha", "specs"],
        &["--check-id", "alpha", "--baseline", "HEAD"],
        &["--baseline", "HEAD"],
        &["--baseline"],
        &["-x", "specs"],
        &["--force", "specs"],
        &["specs", "specs/alpha"],
        &["missing"],
        &["specs/alpha/tasks.md"],
        &["/"],
        &[""],
        &["--baseline", "no-such-ref", "specs"],
        &["--baseline", "-x", "specs"],
        &["--baseline", "", "specs"],
    ] {
        let output = plumbing(&sandbox, usage).exits(2);
        assert_eq!(output.stdout, "", "{usage:?}");
        assert!(!output.stderr.is_empty(), "{usage:?}");
    }
    let output = plumbing(&sandbox, &["--baseline", "HEAD", "specs///"]).exits(0);
    assert_eq!(output.stdout, "spec-validate: 0 error(s), 0 warning(s)\n");
}

/// Verifies REQ-B2.3.
#[test]
fn a_baseline_shows_what_was_removed() {
    let sandbox = sandbox(&alpha());
    let text = sandbox.read("specs/alpha/tasks.md");
    let start = text.find("### Task 3").expect("the task");
    let end = text.find("## Awaiting input").expect("the section");
    sandbox.write("specs/alpha/tasks.md", &format!("{}{}", &text[..start], &text[end..]));
    let _ = sandbox.orchestrate(&["validate"]).exits(0).says("no findings");
    let output = sandbox.orchestrate(&["validate", "--baseline", "HEAD"]).exits(1);
    check!(sandbox, output, @r"
        exit 1
        --- out
        specs/alpha · Ready · 1 error

        error: specs/alpha/tasks.md: Task 3 renumbered or removed since HEAD (stable IDs are never reused; retire the task with a dated Changelog entry that names it)
        hint: restore it, or add `- <YYYY-MM-DD> … Task 3 …` under `## Changelog` of requirements.md

        1 bundle: 1 error
        ");
    let output = plumbing(&sandbox, &["--baseline", "main", "specs"]).exits(1);
    check!(sandbox, output, @r"
        exit 1
        --- out
        spec-validate: ERROR alpha: Task 3 renumbered or removed since main (stable IDs are never reused; retire the task with a dated Changelog entry that names it)
        spec-validate: 1 error(s), 0 warning(s)
        ");
    // The usual ref is taken without being named, once it is there.
    let head = sandbox.commit_of("main");
    let _ = sandbox.git(&["update-ref", "refs/remotes/origin/main", &head]);
    let _ = plumbing(&sandbox, &["specs/alpha"]).exits(1).says("Task 3");
    let _ = plumbing(&sandbox, &["--baseline", "main~1", "specs/alpha"]).exits(0);
    let inside = sandbox.path("specs/alpha");
    let _ = sandbox
        .orchestrate_in(&inside, &["validate", "."])
        .exits(1)
        .says("Task 3");
}

/// Verifies REQ-B2.3.
#[test]
fn a_baseline_that_is_missing_is_passed_over_unless_it_was_named() {
    let sandbox = Sandbox::empty(PROGRAM);
    let outside = sandbox.root().join("outside");
    single().write_into(&outside).expect("written");
    let validate = |arguments: &[&str]| sandbox.orchestrate_in(&outside, &[&["validate"], arguments].concat());
    let _ = validate(&[]).exits(0).says("no findings");
    let output = validate(&["--baseline", "HEAD"]).exits(2);
    check!(sandbox, output, @r"
        exit 2
        --- err
        error: cannot compare with HEAD: it names no commit here
        hint: name a commit of the repository that the bundles lie in, such as origin/main or HEAD
        ");
    let sandbox = crate::sandbox(&single());
    let _ = sandbox.orchestrate(&["validate"]).exits(0);
    for named in ["origin/main", "no-such-ref", "HEAD:specs"] {
        let output = sandbox.orchestrate(&["validate", "--baseline", named]).exits(2);
        assert_eq!(output.stdout, "", "{named}");
    }
}

/// Verifies REQ-B2.3.
#[test]
fn a_partial_clone_gets_the_earlier_texts_from_origin() {
    let sandbox = sandbox(&alpha());
    let _ = sandbox.git(&["config", "uploadpack.allowFilter", "true"]);
    edit(&sandbox, "tasks.md", "### Task 3 — third", "### Task 4 — third");
    let _ = sandbox.commit_all("another number");
    let clone = sandbox.root().join("clone");
    let source = format!("file://{}", sandbox.repository());
    let _ = sandbox.git_in(
        sandbox.root(),
        &["clone", "--quiet", "--filter=blob:none", &source, clone.as_str()],
    );
    let output = sandbox
        .orchestrate_in(&clone, &["validate", "--baseline", "HEAD~1"])
        .exits(1);
    let _ = output.says("Task 3");
}

/// Verifies REQ-F1.6.
#[test]
fn a_target_that_is_nothing_is_a_slip() {
    let sandbox = sandbox(&single());
    check!(sandbox, sandbox.orchestrate(&["validate", "alpah"]), @r"
        exit 2
        --- err
        error: there is no bundle and no directory alpah
        hint: did you mean specs/alpha?
        ");
    check!(sandbox, sandbox.orchestrate(&["validate", "specs/alpha/tasks.md"]), @r"
        exit 2
        --- err
        error: specs/alpha/tasks.md is no directory
        hint: name a bundle's directory, a spec's name, or a directory of bundles
        ");
    let output = sandbox.orchestrate(&["validate", "../\u{1b}[31m"]).exits(2);
    assert!(!output.text().contains('\u{1b}'), "{output:?}");
    fs::rename(sandbox.path("specs"), sandbox.path("other")).expect("moved");
    let _ = sandbox.orchestrate(&["validate"]).exits(2).says("no directory specs");
    let _ = sandbox.orchestrate(&["validate", "other"]).exits(0).says("1 bundle");
}
