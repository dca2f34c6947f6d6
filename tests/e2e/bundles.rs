//! The gate and what is before it: only a bundle that reads, is signed and unchanged is dispatched from. No bypass.

use orchestrate_core::place::BundleFile;
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_testkit::bundle::write_texts;

use crate::{PROGRAM, alpha, check, sandbox, single};

/// A sandbox with the bundle's texts changed before they were committed.
fn with_texts(change: impl Fn(BundleFile, String) -> Option<String>) -> Sandbox {
    let sandbox = Sandbox::empty(PROGRAM);
    sandbox.initialise(&[]);
    let fixture = single();
    let texts: Vec<(BundleFile, String)> = fixture
        .signed_texts()
        .into_iter()
        .filter_map(|(file, text)| Some((file, change(file, text)?)))
        .collect();
    write_texts(fixture.spec(), &texts, &sandbox.repository()).expect("written");
    let _ = sandbox.commit_all("spec alpha");
    sandbox.configure("");
    sandbox
}

/// Edits one file of the committed bundle.
fn with_file(file: BundleFile, change: impl Fn(&str) -> String) -> Sandbox {
    with_texts(|this, text| Some(if this == file { change(&text) } else { text }))
}

/// The step must halt before it takes the lock.
fn writes_nothing(sandbox: &Sandbox) -> orchestrate_e2e::output::Output {
    let before = sandbox.listing();
    let output = sandbox.orchestrate(&["alpha"]);
    assert_eq!(sandbox.changes_since(&before), [""; 0], "{output}");
    output
}

/// Verifies REQ-A1.9.
#[test]
fn a_draft_halts() {
    let sandbox = Sandbox::empty(PROGRAM);
    sandbox.initialise(&[]);
    sandbox.add_bundle(&single().status("Draft"));
    sandbox.configure("");
    check!(sandbox, writes_nothing(&sandbox), @r"
        exit 4
        --- out
        halted: specs/alpha is Draft
        hint: review and sign it: orchestrate sign specs/alpha
        ");
}

#[test]
fn a_finished_bundle_halts() {
    for status in ["Done", "Retired", "Superseded"] {
        let sandbox = with_texts(|_, text| Some(text.replace("**Status:** Ready", &format!("**Status:** {status}"))));
        let _ = writes_nothing(&sandbox).exits(4);
    }
}

#[test]
fn a_missing_brief_halts() {
    let sandbox = with_texts(|file, text| (file != BundleFile::KickoffBrief).then_some(text));
    check!(sandbox, writes_nothing(&sandbox), @r"
        exit 4
        --- out
        halted: specs/alpha is not validly signed: specs/alpha/kickoff-brief.md is missing
        hint: review and sign it: orchestrate sign specs/alpha
        ");
}

#[test]
fn an_unsigned_brief_halts() {
    let sandbox = with_file(BundleFile::KickoffBrief, |text| {
        text.split("## 8. Sign-off").next().unwrap_or_default().to_owned() + "## 8. Sign-off\n\n(not yet)\n"
    });
    check!(sandbox, writes_nothing(&sandbox), @r"
        exit 4
        --- out
        halted: specs/alpha is not validly signed: kickoff-brief.md: there is no sign-off record with an `Anchor:` line
        hint: review and sign it: orchestrate sign specs/alpha
        ");
}

/// Verifies REQ-D1.2.
#[test]
fn a_change_after_the_sign_off_halts() {
    let sandbox = with_file(BundleFile::Requirements, |text| {
        text.replace("is delivered.", "is delivered twice.")
    });
    check!(sandbox, sandbox.orchestrate(&["alpha"]), @r"
        exit 4
        --- out
        halted: the spec changed after it was signed (signed [SHORT], main at [SHORT] has [SHORT])
        hint: review the change and sign it: orchestrate sign specs/alpha
        parked task 1 under Awaiting input
          when that is done: orchestrate unpark alpha 1
        nothing was committed, and nothing was dispatched; the next step goes on
        ");
}

/// Verifies REQ-D1.2.
#[test]
fn an_edit_that_is_not_committed_halts() {
    let sandbox = sandbox(&single());
    let text = sandbox
        .read("specs/alpha/requirements.md")
        .replace("is delivered.", "is delivered twice.");
    sandbox.write("specs/alpha/requirements.md", &text);
    check!(sandbox, writes_nothing(&sandbox), @r"
        exit 4
        --- out
        halted: specs/alpha in the working copy differs from main
        hint: commit the change, signed, and bring it to main (orchestrate sign specs/alpha), or restore the files
        ");
}

#[test]
fn what_the_anchor_leaves_out_may_change_without_a_commit() {
    let sandbox = sandbox(&alpha());
    let text = sandbox.read("specs/alpha/tasks.md");
    let parked = text.replace("## Deferred\n\n(none yet)", "## Deferred\n\n- **Task 1** — until later");
    assert_ne!(text, parked);
    sandbox.write("specs/alpha/tasks.md", &parked);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 3");
    sandbox.wait_for_worker("alpha", "3");
}

#[test]
fn a_bundle_that_is_not_on_the_base_halts() {
    let sandbox = Sandbox::empty(PROGRAM);
    sandbox.initialise(&[]);
    single().write_into(&sandbox.repository()).expect("written");
    sandbox.configure("");
    check!(sandbox, writes_nothing(&sandbox), @r"
        exit 4
        --- out
        halted: specs/alpha in the working copy differs from main
        hint: commit the change, signed, and bring it to main (orchestrate sign specs/alpha), or restore the files
        ");
}

/// Verifies REQ-D1.6.
#[test]
fn several_failures_are_told_together() {
    let sandbox = with_texts(|file, text| match file {
        BundleFile::KickoffBrief => None,
        BundleFile::Design => None,
        BundleFile::Tasks => {
            Some(text.replace("### Task 1 — only part", "### Task 1: only part\n\n#### Task 2 – other"))
        }
        BundleFile::Requirements | BundleFile::TestSpec => Some(text),
    });
    check!(sandbox, writes_nothing(&sandbox), @r#####"
        exit 4
        --- out
        halted: specs/alpha cannot be read
        error: specs/alpha/design.md: missing file: design.md
        hint: a bundle has four files
        error: specs/alpha/tasks.md:10: malformed task id at tasks.md:10 (":" stands right behind the id 1)
           10 | ### Task 1: only part
              |          ^^
        hint: write `### Task 1 — only part`
        error: specs/alpha/tasks.md:12: "#### Task 2 – other" is not a task heading
           12 | #### Task 2 – other
              | ^^^^^^^^^^^^^^^^^^^
        hint: write `### Task <number> — <title>`: three hashes in column 0, single blanks, an em dash (U+2014)
        hint: mend the lines that are named; orchestrate validate specs/alpha shows what is left
        halted: specs/alpha is not validly signed: specs/alpha/kickoff-brief.md is missing
        hint: review and sign it: orchestrate sign specs/alpha
        "#####);
    let sandbox = with_texts(|file, text| match file {
        BundleFile::Tasks => {
            Some(text.replace("### Task 1 — only part", "### Task 1: only part\n\n#### Task 2 – other"))
        }
        BundleFile::KickoffBrief | BundleFile::Design | BundleFile::Requirements | BundleFile::TestSpec => Some(text),
    });
    check!(sandbox, writes_nothing(&sandbox), @r#####"
        exit 4
        --- out
        halted: specs/alpha cannot be read
        error: specs/alpha/tasks.md:10: malformed task id at tasks.md:10 (":" stands right behind the id 1)
           10 | ### Task 1: only part
              |          ^^
        hint: write `### Task 1 — only part`
        error: specs/alpha/tasks.md:12: "#### Task 2 – other" is not a task heading
           12 | #### Task 2 – other
              | ^^^^^^^^^^^^^^^^^^^
        hint: write `### Task <number> — <title>`: three hashes in column 0, single blanks, an em dash (U+2014)
        hint: mend the lines that are named; orchestrate validate specs/alpha shows what is left
        "#####);
}

/// The bundle in format version 1, its block in that section.
fn version_1(section: &str) -> Sandbox {
    let sandbox = with_texts(|_, text| {
        let older = text.replace("**Format-version:** 2", "**Format-version:** 1");
        Some(older.replace("## Tasks", section))
    });
    let anchor = sandbox
        .orchestrate(&["plumbing", "spec-anchor", "specs/alpha"])
        .exits(0)
        .stdout;
    let brief = sandbox.read("specs/alpha/kickoff-brief.md");
    let (start, _) = brief.rsplit_once("Anchor: `").expect("a record");
    let record = format!(
        "Anchor: `{}` — computed as\n`scripts/spec-anchor.sh specs/alpha`\n",
        anchor.trim()
    );
    sandbox.write("specs/alpha/kickoff-brief.md", &format!("{start}{record}"));
    let _ = sandbox.commit_all("signed again");
    sandbox
}

#[test]
fn format_version_1_dispatches_from_its_forward_plan() {
    let sandbox = version_1("## Forward plan");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    for section in ["## In progress", "## Awaiting input", "## Completed", "## Deferred"] {
        let _ = version_1(section).orchestrate(&["alpha"]).exits(0).says("nothing");
    }
    let _ = writes_nothing(&version_1("## Tasks"))
        .exits(4)
        .says("specs/alpha/tasks.md:10: task 1 stands outside of every section of format version 1");
}

/// Verifies REQ-B1.1.
#[test]
fn a_dependency_that_could_be_lost_is_refused() {
    let sandbox = Sandbox::empty(PROGRAM);
    sandbox.initialise(&[]);
    alpha().write_into(&sandbox.repository()).expect("written");
    let text = sandbox
        .read("specs/alpha/tasks.md")
        .replace("- **Dependencies:** 1\n", "- **Dependencies：** 1\n");
    sandbox.write("specs/alpha/tasks.md", &text);
    let _ = sandbox.commit_all("spec alpha");
    sandbox.configure("");
    let _ = writes_nothing(&sandbox).exits(4).says("specs/alpha/tasks.md:");
}

#[test]
fn a_task_in_a_fence_or_a_comment_is_no_task() {
    let extra = "\n```text\n### Task 8 — phantom\n\n- **Dependencies:** none\n```\n";
    let sandbox = with_file(BundleFile::Requirements, |text| {
        text.replace("## Changelog", &format!("{extra}\n## Changelog"))
    });
    let value = sandbox
        .orchestrate(&["status", "alpha", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(value["tasks"].as_array().map(Vec::len), Some(1), "{value}");
}

/// Verifies REQ-A1.9.
#[test]
fn no_flag_bypasses_anything() {
    let sandbox = sandbox(&single());
    let help = sandbox.orchestrate(&["--help"]).exits(0).stdout;
    let plumbing = sandbox.orchestrate(&["plumbing", "--help"]).exits(0).stdout;
    for word in [
        "force",
        "skip",
        "ignore",
        "bypass",
        "no-verify",
        "allow",
        "override",
        "unsafe",
        "yolo",
    ] {
        for text in [&help, &plumbing] {
            let flag = text
                .split_whitespace()
                .find(|part| part.starts_with("--") && part.contains(word));
            assert_eq!(flag, None, "{text}");
        }
        let _ = sandbox.orchestrate(&["alpha", &format!("--{word}")]).exits(2);
    }
    assert_eq!(sandbox.starts(), [""; 0]);
}
