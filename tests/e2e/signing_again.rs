//! `orchestrate sign` once more: what changed since, what was cut off, what others do meanwhile, and where the tower looks.

use std::fs;

use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_e2e::surroundings::{corpus, failpoint_binary, skipped};

use crate::signing::{CONFIRM, LENS_PASS, bundle, drafted, passes_the_gate, read_until, sign};
use crate::{PROGRAM, alpha, sandbox};

/// Verifies REQ-B3.3.
#[test]
fn a_change_after_the_signature_is_shown_and_signed() {
    let sandbox = sandbox(&alpha());
    let text = sandbox.read("specs/alpha/requirements.md");
    sandbox.write(
        "specs/alpha/requirements.md",
        &text.replace("is delivered.", "is delivered twice."),
    );
    let _ = sandbox.commit_all("say it twice");
    let _ = sandbox
        .orchestrate(&["alpha", "--dry-run"])
        .exits(4)
        .says("orchestrate sign specs/alpha");
    let signed = sandbox.read("specs/alpha/kickoff-brief.md");
    let (shown, output) = sign(&sandbox, "alpha");
    let output = output
        .exits(0)
        .says("signed specs/alpha")
        .says("committed 1 file of specs/alpha");
    assert!(shown.contains("requirements.md · REQ-A — Parts (changed)"), "{output}");
    assert!(
        shown.contains("- - **REQ-A1.1** Each part is delivered. *(Cites: D-1.)*"),
        "{output}"
    );
    assert!(
        shown.contains("+ - **REQ-A1.1** Each part is delivered twice. *(Cites: D-1.)*"),
        "{output}"
    );
    assert!(!shown.contains("Task 1"), "{output}");
    let brief = sandbox.read("specs/alpha/kickoff-brief.md");
    assert!(
        brief.starts_with(&signed) && brief.contains("— Delta sign-off\n"),
        "{brief}"
    );
    assert_eq!(
        sandbox.git(&["show", "--name-only", "--format=", "HEAD"]),
        "specs/alpha/kickoff-brief.md"
    );
    passes_the_gate(&sandbox, "alpha");
    // Signed as it lies there: nothing is asked and nothing is written.
    let head = sandbox.commit_of("HEAD");
    let _ = sandbox
        .terminal(&["sign", "alpha"])
        .finish()
        .exits(0)
        .says("is signed as it lies here")
        .says("nothing to do");
    assert_eq!(sandbox.commit_of("HEAD"), head);
}

#[test]
fn a_change_of_wording_cites_its_changelog_line() {
    let sandbox = sandbox(&alpha());
    let text = sandbox.read("specs/alpha/requirements.md");
    sandbox.write(
        "specs/alpha/requirements.md",
        &text.replace("is delivered.", "gets delivered."),
    );
    let mut terminal = sandbox.terminal(&["sign", "alpha"]);
    read_until(&mut terminal, "class (meaning or expression-only)");
    terminal.line("expression-only");
    terminal.answer("what changed (", "a plainer verb");
    terminal.answer(CONFIRM, "sign");
    let _ = terminal.finish().exits(0).says("signed specs/alpha");
    let changelog = sandbox.read("specs/alpha/requirements.md");
    assert!(changelog.contains(" — a plainer verb\n\n## Sources"), "{changelog}");
    passes_the_gate(&sandbox, "alpha");
}

#[test]
fn a_line_that_a_person_wrote_first_is_cited_and_no_second_one_is_added() {
    let sandbox = sandbox(&alpha());
    let text = sandbox.read("specs/alpha/requirements.md");
    let text = text.replace("is delivered.", "gets delivered.");
    let text = text.replace("\n\n## Sources", "\n- 2999-01-01 — a plainer verb\n\n## Sources");
    assert!(text.contains("a plainer verb"), "{text}");
    sandbox.write("specs/alpha/requirements.md", &text);
    let mut terminal = sandbox.terminal(&["sign", "alpha"]);
    terminal.wait_for("the changelog line of 2999-01-01 is dated in the future");
    read_until(&mut terminal, "class (meaning or expression-only)");
    terminal.line("expression-only");
    terminal.answer("[Enter] cites this line", "");
    terminal.answer(CONFIRM, "sign");
    let _ = terminal.finish().exits(0).says("signed specs/alpha");
    assert_eq!(sandbox.read("specs/alpha/requirements.md"), text);
    passes_the_gate(&sandbox, "alpha");
}

/// A sandbox with a real bundle of the corpus; nothing where there is no corpus.
pub(crate) fn with_corpus(bundle: &str) -> Option<Sandbox> {
    let source = corpus(bundle)?;
    let sandbox = Sandbox::empty(PROGRAM);
    sandbox.initialise(&[]);
    for entry in source.read_dir_utf8().expect("listed") {
        let path = entry.expect("read").into_path();
        let name = path.file_name().expect("a name");
        let text = fs::read_to_string(&path).expect("text");
        sandbox.write(&format!("specs/{bundle}/{name}"), &text);
    }
    let _ = sandbox.commit_all(&format!("spec {bundle}"));
    sandbox.configure("");
    Some(sandbox)
}

#[test]
fn a_real_bundle_with_an_older_anchor_is_re_anchored() {
    let Some(sandbox) = with_corpus("fleet-autonomy") else {
        return skipped("the corpus");
    };
    let brief = sandbox.read("specs/fleet-autonomy/kickoff-brief.md");
    let _ = sandbox
        .orchestrate(&["fleet-autonomy", "--dry-run"])
        .exits(4)
        .says("orchestrate sign specs/fleet-autonomy");
    let mut terminal = sandbox.terminal(&["sign", "fleet-autonomy"]);
    terminal.wait_for("Nothing that was signed has changed");
    let shown = read_until(&mut terminal, CONFIRM);
    assert!(shown.contains("requirements.md: a changelog entry of"), "{shown}");
    assert!(shown.contains("Class: expression-only"), "{shown}");
    terminal.line("sign");
    let _ = terminal.finish().exits(0).says("signed specs/fleet-autonomy");
    assert!(
        sandbox
            .read("specs/fleet-autonomy/kickoff-brief.md")
            .starts_with(&brief)
    );
    assert_eq!(
        sandbox
            .git(&["show", "--numstat", "--format=%s", "HEAD"])
            .lines()
            .count(),
        4,
        "two files and the subject"
    );
    passes_the_gate(&sandbox, "fleet-autonomy");
}

#[test]
fn files_that_change_under_the_reader_are_not_signed() {
    let sandbox = drafted();
    let mut terminal = sandbox.terminal(&["sign", "alpha"]);
    read_until(&mut terminal, "class ");
    terminal.line("");
    terminal.answer("lens pass (", LENS_PASS);
    terminal.wait_for(CONFIRM);
    let text = sandbox.read("specs/alpha/design.md");
    sandbox.write("specs/alpha/design.md", &format!("{text}\nAnd more.\n"));
    let before = bundle(&sandbox);
    terminal.line("sign");
    let _ = terminal
        .finish()
        .exits(1)
        .says("design.md changed while you were reading; nothing was written")
        .says("orchestrate sign specs/alpha");
    assert_eq!(bundle(&sandbox).changes_since(&before), [""; 0]);
    let mut terminal = sandbox.terminal(&["sign", "alpha"]);
    let shown = read_until(&mut terminal, "class ");
    assert!(shown.contains("And more.") && !shown.contains("REQ-A1.1"), "{shown}");
}

#[test]
fn a_hook_that_refuses_leaves_what_was_signed_and_the_next_run_commits_it() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = drafted();
    let hook = sandbox.path(".git/hooks/pre-commit");
    sandbox.write(
        ".git/hooks/pre-commit",
        "#!/bin/sh\necho no commits today >&2\nexit 1\n",
    );
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("set");
    let head = sandbox.commit_of("HEAD");
    let (_, output) = sign(&sandbox, "alpha");
    let _ = output
        .exits(1)
        .says("no commits today")
        .says("only the commit is missing");
    assert_eq!(sandbox.commit_of("HEAD"), head);
    fs::remove_file(hook).expect("removed");
    let _ = sandbox
        .terminal(&["sign", "alpha"])
        .finish()
        .exits(0)
        .says("is signed as it lies here")
        .says("committed 5 files of specs/alpha");
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
    passes_the_gate(&sandbox, "alpha");
}

#[test]
fn bytes_that_git_converts_are_told() {
    let sandbox = drafted();
    let text = sandbox.read("specs/alpha/design.md").replace('\n', "\r\n");
    sandbox.write("specs/alpha/design.md", &text);
    sandbox.write(".gitattributes", "specs/** text\n");
    let (_, output) = sign(&sandbox, "alpha");
    let _ = output.exits(1).says("the commit holds other bytes");
}

#[test]
fn a_kill_between_two_files_leaves_the_gate_closed_and_signing_again_completes_it() {
    let Some(program) = failpoint_binary() else {
        return skipped("the build with failpoints");
    };
    for passing in 1..=8 {
        let sandbox = drafted();
        let mut terminal = sandbox.terminal(&["sign", "alpha"]);
        read_until(&mut terminal, "class ");
        terminal.line("q");
        let _ = terminal.finish().exits(4);
        let point = format!("write.staged:{passing}");
        let variables = [("ORCHESTRATE_FAILPOINT", point.as_str())];
        let mut terminal = sandbox.terminal_of(&program, &sandbox.repository(), &["sign", "alpha"], &variables);
        terminal.answer("[Enter] goes on", "");
        terminal.answer("class ", "");
        terminal.answer("lens pass (", LENS_PASS);
        terminal.answer(CONFIRM, "sign");
        let output = terminal.finish();
        if output.exit == 0 {
            assert_eq!(passing, 7, "the lock and five files are written: {output}");
            return;
        }
        assert_eq!(output.exit, 137, "{output}");
        let _ = sandbox.commit_all("whatever is there");
        let halted = sandbox.orchestrate(&["alpha", "--dry-run"]);
        assert_eq!(halted.exit, 4, "{point}: {halted}");
        let mut terminal = sandbox.terminal(&["sign", "alpha"]);
        terminal.wait_for("15 of 15 parts were read before");
        terminal.line("");
        terminal.answer("class ", "");
        terminal.answer("lens pass (", LENS_PASS);
        terminal.answer(CONFIRM, "sign");
        let _ = terminal.finish().exits(0).says("signed specs/alpha");
        let names: Vec<String> = sandbox
            .path("specs/alpha")
            .read_dir_utf8()
            .expect("listed")
            .map(|entry| entry.expect("read").file_name().to_owned())
            .filter(|name| name.contains("staged"))
            .collect();
        assert_eq!(names, [""; 0], "nothing staged is left");
        passes_the_gate(&sandbox, "alpha");
    }
    panic!("the point is passed more often than there are files");
}

#[test]
fn a_clone_that_ends_before_the_signature_shows_everything() {
    let origin = sandbox(&alpha());
    let text = origin.read("specs/alpha/requirements.md");
    origin.write(
        "specs/alpha/requirements.md",
        &text.replace("is delivered.", "is delivered twice."),
    );
    let _ = origin.commit_all("say it twice");
    origin.add_origin();
    let clone = origin.clone_origin("shallow", &["--depth", "1"]);
    let mut terminal = origin.terminal_in(&clone, &["sign", "alpha"], &[]);
    terminal.wait_for("cannot be found, so everything");
    terminal.wait_for("shallow");
    let shown = read_until(&mut terminal, "class (meaning or expression-only)");
    assert!(shown.contains("Task 3") && shown.contains("D-1"), "{shown}");
}

#[test]
fn a_signature_that_was_never_committed_shows_everything() {
    let sandbox = drafted();
    sandbox.configure("commit_on_kickoff: false\n");
    let _ = sign(&sandbox, "alpha").1.exits(0);
    let text = sandbox.read("specs/alpha/design.md");
    sandbox.write("specs/alpha/design.md", &format!("{text}\nAnd more.\n"));
    let mut terminal = sandbox.terminal(&["sign", "alpha"]);
    terminal.wait_for("cannot be found, so everything");
    let shown = read_until(&mut terminal, "class (meaning or expression-only)");
    assert!(shown.contains("And more.") && shown.contains("REQ-A1.1"), "{shown}");
}

#[test]
fn every_real_bundle_of_version_2_is_offered_its_re_anchoring() {
    for bundle in [
        "inception",
        "invariant-tasks",
        "release-hardening",
        "skill-rigor",
        "worker-permission-ergonomics",
    ] {
        let Some(sandbox) = with_corpus(bundle) else {
            return skipped("the corpus");
        };
        let mut terminal = sandbox.terminal(&["sign", bundle]);
        terminal.wait_for("Nothing that was signed has changed");
        let shown = read_until(&mut terminal, CONFIRM);
        assert!(shown.contains("Class: expression-only"), "{bundle}: {shown}");
        terminal.line("q");
        let _ = terminal.finish().exits(4);
    }
}

#[test]
fn a_finished_bundle_of_version_1_is_not_signed() {
    let Some(sandbox) = with_corpus("orchestration-concurrency") else {
        return skipped("the corpus");
    };
    let before = sandbox.listing();
    let _ = sandbox
        .terminal(&["sign", "orchestration-concurrency"])
        .finish()
        .exits(1)
        .says("is Done: there is nothing to sign");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
}

#[test]
fn on_a_branch_of_its_own_it_says_where_the_tower_reads() {
    let sandbox = drafted();
    let _ = sandbox.git(&["switch", "--quiet", "-c", "planwright/alpha/spec"]);
    let (shown, output) = sign(&sandbox, "alpha");
    let (before, _) = shown.split_once("[Enter] begins").expect("the first question");
    assert!(
        before.contains("the tower reads main, and this checkout is on planwright/alpha/spec"),
        "{shown}"
    );
    let _ = output.exits(0).says("next: bring it to main");
    assert_eq!(
        sandbox.git(&["log", "-1", "--format=%s"]),
        "docs(alpha): sign off the bundle"
    );
}
