//! `orchestrate sign` on a real pseudo-terminal: a person reads, answers, leaves, comes back and signs.

use std::fs;

use orchestrate_e2e::listing::Listing;
use orchestrate_e2e::output::Output;
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_e2e::terminal::{CTRL_C, CTRL_D, Terminal};
use rustix::process::Signal;

use crate::{PROGRAM, check};

pub(crate) const LENS_PASS: &str = "read by two of us, notes in the wiki";
pub(crate) const CONFIRM: &str = "type the word sign";

/// What a person writes over what `orchestrate new` made: the file, what it says there, and what it says then.
const WRITTEN: [(&str, &str, &str); 15] = [
    (
        "requirements",
        "Say in a few sentences what",
        "In a few sentences: what",
    ),
    ("requirements", "One sentence about the result", "The result"),
    ("requirements", "A second one, which may build", "The second one builds"),
    ("design", "What is done, in one or two sentences.", "A shell script."),
    ("design", "What else could have been done, each", "A program, each"),
    ("design", "What tipped the balance.", "The shell is there."),
    ("tasks", "what will be there afterwards: files", "`bin/greet`: files"),
    (
        "tasks",
        "what a reviewer checks, such as",
        "it greets, which is shown by",
    ),
    ("tasks", "the next part.", "the usage line."),
    ("tasks", "its own check passes", "the check of its usage passes"),
    ("test-spec", "What is set up", "One name is set up"),
    ("test-spec", "The steps for a person", "Three steps for a person"),
    ("test-spec", "what is shown [test]", "greeted [test]"),
    ("test-spec", "what is shown by hand", "told by hand"),
    ("design", "A short name for the first decision", "A shell script"),
];

/// A sandbox with a bundle that nobody has signed: what a person wrote over what `orchestrate new alpha` makes, committed.
pub(crate) fn drafted() -> Sandbox {
    let sandbox = Sandbox::empty(PROGRAM);
    sandbox.initialise(&[]);
    let _ = sandbox.orchestrate(&["new", "alpha"]).exits(0);
    for (file, from, to) in WRITTEN {
        let name = format!("specs/alpha/{file}.md");
        let text = sandbox.read(&name);
        assert!(text.contains(from), "{from}: {text}");
        sandbox.write(&name, &text.replace(from, to));
    }
    let _ = sandbox.commit_all("draft alpha");
    sandbox.configure("");
    sandbox
}

/// Presses Enter at every prompt until one says that, and returns what was shown.
#[track_caller]
pub(crate) fn read_until(terminal: &mut Terminal, prompt: &str) -> String {
    let mut shown = String::new();
    for _ in 0..200 {
        let page = terminal.wait_for("leaves");
        shown.push_str(&page);
        if page.contains(prompt) {
            return shown;
        }
        terminal.line("");
    }
    panic!("{prompt:?} is not asked, only:\n{shown}");
}

/// Reads everything and signs it as one of meaning.
#[track_caller]
pub(crate) fn sign(sandbox: &Sandbox, spec: &str) -> (String, Output) {
    let mut terminal = sandbox.terminal(&["sign", spec]);
    let mut shown = read_until(&mut terminal, "class ");
    terminal.line("meaning");
    shown.push_str(&terminal.answer("lens pass (", LENS_PASS));
    shown.push_str(&terminal.answer(CONFIRM, "sign"));
    (shown, terminal.finish())
}

pub(crate) fn bundle(sandbox: &Sandbox) -> Listing {
    Listing::of(&sandbox.path("specs/alpha"))
}

pub(crate) fn passes_the_gate(sandbox: &Sandbox, spec: &str) {
    let output = sandbox.orchestrate(&[&format!("specs/{spec}"), "--dry-run"]).exits(0);
    assert!(output.text().contains("would dispatch"), "{output}");
}

/// Verifies REQ-B3.3.
#[test]
fn a_draft_is_read_signed_committed_and_passes_the_gate() {
    let sandbox = drafted();
    let _ = sandbox.orchestrate(&["alpha"]).exits(4);
    sandbox.write("staged.txt", "somebody's own work\n");
    let _ = sandbox.git(&["add", "staged.txt"]);
    let (shown, output) = sign(&sandbox, "alpha");
    let output = output
        .exits(0)
        .says("signed specs/alpha")
        .says("committed 5 files of specs/alpha: docs(alpha): sign off the bundle")
        .says("next: orchestrate specs/alpha --dry-run");
    for text in [
        "In a few sentences",
        "D-1:",
        "the task graph",
        "Task 2 — what builds on it",
        "REQ-A1.2",
        "The checks found nothing",
    ] {
        assert!(shown.contains(text), "{text}: {output}");
    }
    assert!(
        shown.lines().all(|line| line.chars().count() <= 80 && line != "?"),
        "{output}"
    );
    assert_eq!(
        sandbox.git(&["show", "--name-only", "--format=%s%n%(trailers)", "HEAD"]),
        "docs(alpha): sign off the bundle\n\n\nspecs/alpha/design.md\nspecs/alpha/kickoff-brief.md\nspecs/alpha/requirements.md\nspecs/alpha/tasks.md\nspecs/alpha/test-spec.md"
    );
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "A  staged.txt");
    for file in ["requirements", "design", "tasks", "test-spec"] {
        assert!(
            sandbox
                .read(&format!("specs/alpha/{file}.md"))
                .contains("\n**Status:** Ready\n")
        );
    }
    let brief = sandbox.read("specs/alpha/kickoff-brief.md");
    assert!(
        brief.contains(&format!("Class: meaning\nLens-pass: {LENS_PASS}\nAnchor: `")),
        "{brief}"
    );
    assert!(brief.ends_with("`scripts/spec-anchor.sh specs/alpha`\n"), "{brief}");
    assert!(!sandbox.path(".git/orchestrate/signing-alpha.json").exists());
    passes_the_gate(&sandbox, "alpha");
}

/// Verifies REQ-B3.3.
#[test]
fn what_nobody_wrote_is_not_signed() {
    let sandbox = Sandbox::empty(PROGRAM);
    sandbox.initialise(&[]);
    let _ = sandbox.orchestrate(&["new", "alpha"]).exits(0);
    let _ = sandbox.commit_all("draft alpha");
    let valid = sandbox.orchestrate(&["validate", "specs/alpha"]).exits(0);
    assert!(!valid.text().contains("orchestrate new"), "{valid}");
    let before = bundle(&sandbox);
    let mut terminal = sandbox.terminal(&["sign", "alpha"]);
    let shown = terminal.wait_for("leaves: ");
    terminal.line("");
    for _ in 0..15 {
        terminal.wait_for("leaves: ");
        terminal.line("");
    }
    let output = terminal.finish().exits(4).says("It cannot be signed yet: REQ-A1.1");
    assert!(
        output.text().contains("Task 2 is still as orchestrate new wrote it"),
        "{output}"
    );
    assert!(shown.contains("it can be read, but not signed yet"), "{shown}");
    assert_eq!(bundle(&sandbox).changes_since(&before), [""; 0]);
}

#[test]
fn without_a_commit_the_commands_are_printed_and_do_it() {
    let sandbox = drafted();
    sandbox.configure("commit_on_kickoff: false\n");
    let head = sandbox.commit_of("HEAD");
    let (_, output) = sign(&sandbox, "alpha");
    let output = output.exits(0).says("signed specs/alpha");
    assert_eq!(sandbox.commit_of("HEAD"), head);
    let commands: Vec<&str> = output
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("  git "))
        .collect();
    assert_eq!(commands.len(), 2, "{output}");
    assert!(commands.iter().all(|command| command.starts_with("-C ")), "{output}");
    for command in commands {
        // A person stands wherever they stand.
        let _ = sandbox.shell(&format!("cd specs/alpha && git {command}")).exits(0);
    }
    passes_the_gate(&sandbox, "alpha");
}

/// Verifies REQ-B3.3.
#[test]
fn a_walk_that_was_left_goes_on_where_it_was() {
    let sandbox = drafted();
    let before = bundle(&sandbox);
    let mut terminal = sandbox.terminal(&["sign", "alpha"]);
    terminal.answer("[Enter] begins", "");
    terminal.answer("[Enter] read, next", "");
    terminal.answer("[Enter] read, next", "");
    terminal.answer("[Enter] read, next", "q");
    let _ = terminal.finish().exits(4).says("left: nothing was written");
    assert_eq!(bundle(&sandbox).changes_since(&before), [""; 0]);
    let mut terminal = sandbox.terminal(&["sign", "alpha"]);
    terminal.wait_for("2 of 15 parts were read before and are the same");
    let shown = read_until(&mut terminal, "class ");
    assert!(
        !shown.contains("requirements.md · Goal") && shown.contains("requirements.md · REQ-A"),
        "{shown}"
    );
    terminal.line("q");
    let _ = terminal.finish().exits(4);
    // What was read and changed since is shown again; forgetting it all loses nothing but the reading.
    let text = sandbox
        .read("specs/alpha/requirements.md")
        .replace("for whom", "for everybody");
    sandbox.write("specs/alpha/requirements.md", &text);
    let mut terminal = sandbox.terminal(&["sign", "alpha"]);
    terminal.wait_for("14 of 15 parts were read before");
    let shown = read_until(&mut terminal, "class ");
    assert!(
        shown.contains("requirements.md · Goal") && !shown.contains("REQ-A1.1"),
        "{shown}"
    );
    terminal.line("q");
    let _ = terminal.finish().exits(4);
    fs::remove_file(sandbox.path(".git/orchestrate/signing-alpha.json")).expect("it was kept");
    let mut terminal = sandbox.terminal(&["sign", "alpha"]);
    terminal.wait_for("15 parts to read");
    terminal.line("q");
    let _ = terminal.finish().exits(4);
}

#[test]
fn however_a_person_goes_nothing_is_written() {
    let sandbox = drafted();
    let before = bundle(&sandbox);
    let at_the_last_question = || {
        let mut terminal = sandbox.terminal(&["sign", "alpha"]);
        read_until(&mut terminal, "class ");
        terminal.line("");
        terminal.answer("lens pass (", LENS_PASS);
        terminal.wait_for(CONFIRM);
        terminal.wait_for("leaves: ");
        terminal
    };
    for key in [CTRL_C, CTRL_D] {
        let mut terminal = at_the_last_question();
        terminal.type_in(key);
        let _ = terminal.finish().exits(4).says("left: nothing was written");
        assert_eq!(bundle(&sandbox).changes_since(&before), [""; 0]);
    }
    let terminal = at_the_last_question();
    terminal.signal(Signal::TERM);
    let _ = terminal.finish().exits(4);
    let terminal = at_the_last_question();
    let _ = terminal.hang_up();
    let terminal = at_the_last_question();
    terminal.signal(Signal::KILL);
    let _ = terminal.finish().exits(137);
    assert_eq!(bundle(&sandbox).changes_since(&before), [""; 0]);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    // And all of it can still be signed.
    let mut terminal = sandbox.terminal(&["sign", "alpha"]);
    terminal.wait_for("15 of 15 parts were read before");
    terminal.line("");
    terminal.answer("class ", "");
    terminal.answer("lens pass (", LENS_PASS);
    terminal.answer(CONFIRM, "sign");
    let _ = terminal.finish().exits(0).says("signed specs/alpha");
}

#[test]
fn what_is_typed_ahead_signs_nothing() {
    let sandbox = drafted();
    let before = bundle(&sandbox);
    let mut terminal = sandbox.terminal(&["sign", "alpha"]);
    read_until(&mut terminal, "class ");
    terminal.type_in(&format!("\n{LENS_PASS}\nsign\nsign\n"));
    terminal.wait_for(CONFIRM);
    terminal.wait_for("leaves: ");
    terminal.line("no");
    terminal.answer(CONFIRM, "q");
    let _ = terminal.finish().exits(4);
    assert_eq!(bundle(&sandbox).changes_since(&before), [""; 0]);
}

/// Verifies REQ-B3.3.
#[test]
fn without_a_terminal_nobody_signs() {
    let sandbox = drafted();
    let before = sandbox.listing();
    check!(sandbox, sandbox.orchestrate(&["sign", "alpha"]), @r"
        exit 2
        --- err
        error: a signature is a person's: standard input and standard output have to be a terminal
        hint: run it yourself in a terminal; no flag stands in for you
        ");
    let piped = sandbox.shell("yes '' | orchestrate sign alpha").exits(2);
    let _ = piped.says("a signature is a person's");
    for flag in [
        "--yes",
        "--force",
        "--unattended",
        "--non-interactive",
        "--class=meaning",
        "--lens-pass=x",
    ] {
        let _ = sandbox.orchestrate(&["sign", "alpha", flag]).exits(2);
    }
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
}

#[test]
fn what_does_not_read_is_not_signed() {
    let sandbox = drafted();
    let text = sandbox.read("specs/alpha/tasks.md");
    sandbox.write(
        "specs/alpha/tasks.md",
        &text.replace("- **Dependencies:** 1\n", "- **Dependencies:** 7\n"),
    );
    let before = bundle(&sandbox);
    let _ = sandbox
        .terminal(&["sign", "alpha"])
        .finish()
        .exits(1)
        .says("specs/alpha/tasks.md:")
        .says("cannot be signed: 1 finding to be mended first");
    sandbox.write(
        "specs/alpha/tasks.md",
        &text.replace("**Format-version:** 2", "**Format-version:** 1"),
    );
    let _ = sandbox
        .terminal(&["sign", "alpha"])
        .finish()
        .exits(1)
        .says("cannot be signed");
    fs::remove_file(sandbox.path("specs/alpha/tasks.md")).expect("removed");
    let _ = sandbox
        .terminal(&["sign", "alpha"])
        .finish()
        .exits(1)
        .says("cannot be signed");
    for status in ["Retired", "Superseded"] {
        sandbox.write("specs/alpha/tasks.md", &text);
        for file in ["requirements", "design", "tasks", "test-spec"] {
            let name = format!("specs/alpha/{file}.md");
            let superseded = "**Status:** Superseded\n**Superseded-by:** specs/beta/";
            let line = if status == "Retired" {
                "**Status:** Retired"
            } else {
                superseded
            };
            let text = sandbox.read(&name).replace("**Status:** Draft", line);
            sandbox.write(&name, &text);
        }
        let _ = sandbox
            .terminal(&["sign", "alpha"])
            .finish()
            .exits(1)
            .says("there is nothing to sign");
        let _ = sandbox.git(&["checkout", "--quiet", "--", "specs"]);
    }
    assert!(
        bundle(&sandbox)
            .changes_since(&before)
            .iter()
            .all(|change| !change.contains("brief"))
    );
}

#[test]
fn where_a_signature_would_not_count_it_is_not_given() {
    let sandbox = drafted();
    let linked = sandbox.root().join("linked");
    let _ = sandbox.git(&["worktree", "add", "--quiet", "-b", "topic", linked.as_str()]);
    let _ = sandbox
        .terminal_in(&linked, &["sign", "alpha"], &[])
        .finish()
        .exits(1)
        .says("is a linked worktree");
    let _ = sandbox.git(&["switch", "--quiet", "-c", "planwright/alpha/task-1"]);
    let _ = sandbox
        .terminal(&["sign", "alpha"])
        .finish()
        .exits(1)
        .says("on planwright/alpha/task-1, a worker's branch");
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    sandbox.write("a", "1\n");
    let _ = sandbox.commit_all("one");
    let _ = sandbox.git(&["switch", "--quiet", "-c", "other", "HEAD~1"]);
    sandbox.write("a", "2\n");
    let _ = sandbox.commit_all("two");
    let _ = sandbox.try_git(&sandbox.repository(), &["merge", "main"]);
    let _ = sandbox
        .terminal(&["sign", "alpha"])
        .finish()
        .exits(1)
        .says("in the middle of a merge");
}
