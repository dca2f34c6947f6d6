//! Each reason for which a bundle is not migrated.

use super::*;

/// Each reason that lies in `tasks.md`, and a text that has it.
/// Verifies REQ-B3.1.
#[test]
fn what_a_program_cannot_decide_is_refused() {
    let forward = |text: &str| sections(text, "", "", "", "", "");
    let awaiting = |text: &str| sections(&task("1", "none", ""), "", text, "", "", "");
    let deferred = |text: &str| sections(&task("1", "none", ""), "", "", "", text, "");
    let annotated = |annotation: &str| forward(&task("1", "none", annotation));
    let after_fields = |text: &str| deferred(&format!("{}{text}\n", task("3", "none", "")));
    for (tasks, reason) in [
        (
            format!("### Task 1 — early\n\n{}", forward("")),
            "content before the first section",
        ),
        (
            format!("### Notes\n\n{}", forward("")),
            "content before the first section",
        ),
        (
            format!("{}\n## Dependency graph\n\nx\n", usual()),
            "unrecognised section \"Dependency graph\"",
        ),
        (
            format!("{}\n## Deferred (old)\n", usual()),
            "unrecognised section \"Deferred (old)\"",
        ),
        (format!("{}\n## Tasks\n", usual()), "unrecognised section \"Tasks\""),
        (format!("{}\n## Deferred \n", usual()), "a second section \"Deferred\""),
        (forward("### Notes\n\n"), "a heading that is no task heading"),
        (deferred("### Notes\n\n"), "a heading that is no task heading"),
        (forward("### Task 1: x\n\n"), "malformed task id"),
        (forward("### Task one — x\n\n"), "malformed task id"),
        (forward("### Task 1.2.3 — x\n\n"), "malformed task id"),
        (
            forward(&(task("1", "none", "") + &task("1", "none", ""))),
            "duplicate task id 1",
        ),
        (
            forward(&(task("1", "none", "") + &task("01", "none", ""))),
            "duplicate task id 01",
        ),
        (
            forward(&(task("2", "none", "") + &task("2.0", "none", ""))),
            "duplicate task id 2.0",
        ),
        (
            sections(&task("1", "none", ""), "", "", &task("1", "none", ""), "", ""),
            "duplicate task id 1",
        ),
        (
            forward("First things first.\n\n"),
            "text that belongs to no task in \"Forward plan\"",
        ),
        (
            sections("", "- a bullet\n\n", "", "", "", ""),
            "text that belongs to no task in \"In progress\"",
        ),
        (
            sections("", "", "", "(none) but\n\n", "", ""),
            "text that belongs to no task in \"Completed\"",
        ),
        (
            awaiting("Which colour?\n\n"),
            "text in \"Awaiting input\" that is no bullet of a task",
        ),
        (
            awaiting("- which colour?\n\n"),
            "text in \"Awaiting input\" that is no bullet of a task",
        ),
        (
            awaiting("- **Task 1** — why\n  more\nprose\n\n"),
            "text in \"Awaiting input\" that is no bullet of a task",
        ),
        (awaiting("- **Task one** — why\n\n"), "malformed task id in a bullet"),
        (deferred("- **Task 1. ** — why\n\n"), "malformed task id in a bullet"),
        (
            awaiting("- **Task 9** — why\n\n"),
            "a bullet names task 9, which is not there",
        ),
        (
            awaiting("- **Task 1** — why\n- **Task 1** — why\n\n"),
            "task 1 would be parked twice",
        ),
        (
            deferred(&format!("- **Task 3** — why\n\n{}", task("3", "none", ""))),
            "task 3 would be parked twice",
        ),
        (after_fields("prose"), "text behind the fields of the parked task 3"),
        (
            after_fields("- **Other.** A gate of the section."),
            "text behind the fields of the parked task 3",
        ),
        (
            annotated("- **Status:** a\n- **Status:** b\n"),
            "the annotation \"Status\" says more",
        ),
        (
            annotated("- **Status:** a\n  - nested\n"),
            "the annotation \"Status\" says more",
        ),
        (
            annotated("- **Status:** a\n\n  more\n"),
            "the annotation \"Status\" says more",
        ),
        (
            annotated("- **Status:** superseded by Task 2\n"),
            "the annotation \"Status\" says more",
        ),
        (
            annotated("- **Status:** Retired — of no use\n"),
            "the annotation \"Status\" says more",
        ),
        (
            annotated("- **Last activity:** yesterday\n"),
            "the annotation \"Last activity\" says more",
        ),
        (
            annotated("- **Last activity:** 2026-11-02, late\n"),
            "the annotation \"Last activity\" says more",
        ),
        (
            annotated("- **Dispatch:** x\n  **Gate:** y\n"),
            "the annotation \"Dispatch\" says more",
        ),
        (
            annotated("- **Dispatch:** x\n ## Awaiting input\n"),
            "the annotation \"Dispatch\" says more",
        ),
        (
            annotated("- **Dispatch:** x\n  ### Task 9 — z\n"),
            "the annotation \"Dispatch\" says more",
        ),
        (
            annotated("- **Status:** a\n  ===\n"),
            "the annotation \"Status\" says more",
        ),
        (
            annotated("- **Status:** a\n 1. nested\n"),
            "the annotation \"Status\" says more",
        ),
        (
            annotated("- **Status:** a\n  > quoted\n"),
            "the annotation \"Status\" says more",
        ),
        (
            annotated("- **Status:** a\n ***\n"),
            "the annotation \"Status\" says more",
        ),
        (
            annotated("- **Status:** a\n  <!-- hidden -->\n"),
            "the annotation \"Status\" says more",
        ),
        (
            annotated("- **Status:** a\nlazily continued\n"),
            "the annotation \"Status\" says more",
        ),
        (format!("{}\n```\n", usual()), "the code fence is never closed"),
        (
            format!("{}\n```\n### Task 9 — mock\n```\n", usual()),
            "a heading stands in a code fence",
        ),
        (
            format!("```\n## Tasks\n```\n{}", usual()),
            "a heading stands in a code fence",
        ),
        (
            annotated("- **Task 1** — later\n"),
            "the migrated bundle would not be valid",
        ),
    ] {
        let texts = bundle(&tasks);
        // A draft, so that nothing but the text can be the reason.
        let draft = with_status(&texts, Status::Draft).expect("restated");
        let refusal = migrate(&spec(), &draft, None, DATE).expect_err(&tasks).to_string();
        assert!(refusal.contains(reason), "{refusal:?} is not {reason:?}\n{tasks}");
        if reason != "the migrated bundle would not be valid" {
            assert!(refusal.starts_with("tasks.md:"), "{refusal}");
        }
    }
}

#[test]
fn what_is_wrong_elsewhere_is_refused() {
    let good = bundle(&usual());
    let edit = |file: BundleFile, from: &str, to: &str| {
        let mut texts = good.clone();
        let bytes = match file {
            BundleFile::Requirements => &mut texts.requirements,
            BundleFile::Design => &mut texts.design,
            BundleFile::Tasks => &mut texts.tasks,
            BundleFile::TestSpec | BundleFile::KickoffBrief => &mut texts.test_spec,
        };
        *bytes = text(bytes).replacen(from, to, 1).into_bytes();
        assert_ne!(texts, good, "{from}");
        texts
    };
    let (status, version) = ("**Status:** Active\n", "**Format-version:** 1\n");
    for (texts, reason) in [
        (
            edit(BundleFile::Requirements, status, ""),
            "requirements.md: its header does not declare Status",
        ),
        (
            edit(BundleFile::Requirements, version, ""),
            "requirements.md: its header does not declare Format-version",
        ),
        (
            edit(BundleFile::Design, version, &version.repeat(2)),
            "design.md: its header declares Format-version more than once",
        ),
        (
            edit(BundleFile::Tasks, status, &status.repeat(2)),
            "tasks.md: its header declares Status more than once",
        ),
        (
            edit(BundleFile::Requirements, "version:** 1", "version:** 3"),
            "requirements.md declares format-version \"3\"",
        ),
        (
            edit(BundleFile::Requirements, "Active", "Busy"),
            "requirements.md declares the status \"Busy\"",
        ),
        (
            edit(BundleFile::Tasks, "Active", "Ready"),
            "tasks.md declares Status \"Ready\", requirements.md \"Active\"",
        ),
        (
            edit(BundleFile::TestSpec, "version:** 1", "version:** 2"),
            "test-spec.md declares Format-version \"2\", requirements.md \"1\"",
        ),
        (
            edit(BundleFile::Design, "small", "sm\0all"),
            "design.md holds a NUL byte",
        ),
        (
            edit(BundleFile::Requirements, "## Changelog", "## History"),
            "requirements.md has no `## Changelog`",
        ),
        (
            edit(BundleFile::Requirements, "small", "large"),
            "its content is not what the last record",
        ),
    ] {
        let refusal = migrate(&spec(), &texts, Some(&signed(&good)), DATE)
            .expect_err(reason)
            .to_string();
        let first_of_two = reason.contains("Changelog");
        // Without its log the content is not what was signed either; the log is told of a draft.
        let refusal = if first_of_two {
            let draft = with_status(&texts, Status::Draft).expect("restated");
            migrate(&spec(), &draft, None, DATE).expect_err(reason).to_string()
        } else {
            refusal
        };
        assert!(refusal.starts_with(reason), "{refusal:?} is not {reason:?}");
    }
    let utf8 = BundleTexts {
        design: b"\xff".to_vec(),
        ..good.clone()
    };
    assert!(matches!(run_with(&utf8, &signed(&good)), Err(Refusal::NotText { .. })));
    let large = BundleTexts {
        design: vec![b' '; crate::LARGEST_FILE + 1],
        ..good.clone()
    };
    assert!(matches!(
        run_with(&large, &signed(&good)),
        Err(Refusal::Unreadable { .. })
    ));
}

#[test]
fn a_signed_bundle_needs_a_record_that_signs_it() {
    let texts = bundle(&usual());
    assert_eq!(migrate(&spec(), &texts, None, DATE), Err(Refusal::NoBrief));
    for brief in ["", "# Brief\n\n## 8. Sign-off\n\n(none yet)\n", "```\n"] {
        assert!(
            matches!(run_with(&texts, brief.as_bytes()), Err(Refusal::Record(_))),
            "{brief:?}"
        );
    }
    let open = text(&signed(&texts)) + "```\n";
    assert!(matches!(run_with(&texts, open.as_bytes()), Err(Refusal::Brief(_))));
}

/// Verifies REQ-B3.1.
#[test]
fn a_bundle_that_its_own_rules_do_not_read_is_refused() {
    let good = bundle(&usual());
    let dangling = BundleTexts {
        tasks: text(&good.tasks)
            .replacen("**Dependencies:** 2\n", "**Dependencies:** 99\n", 1)
            .into_bytes(),
        ..good
    };
    let draft = with_status(&dangling, Status::Draft).expect("restated");
    for texts in [dangling, draft] {
        let refusal = run_with(&texts, &signed(&texts)).expect_err("refused");
        assert!(
            refusal
                .to_string()
                .starts_with("the bundle is not valid as it is: specs/alpha/tasks.md:"),
            "{refusal}"
        );
        assert!(
            refusal.to_string().contains("task 99, which does not exist"),
            "{refusal}"
        );
    }
}
