//! What holds for every migration: no definition changes, no line is lost, and a second one changes nothing.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

use super::*;
use crate::anchor::task_definitions;
use crate::brief::AnchorForm;

/// Returns the lines of the old list that the new one has not as often. The rule drops annotations with what continues
/// them, the headings of the sections that go, and what says that a section is empty.
fn lost_lines(before: &[u8], after: &[u8]) -> Vec<String> {
    let mut rest: Vec<String> = text(after).lines().map(str::to_owned).collect();
    let mut lost = Vec::new();
    let mut in_annotation = false;
    let annotations = ["- **Status:**", "- **Last activity:**", "- **Dispatch:**"];
    for line in text(before).lines() {
        let starts = |starts: &[&str]| starts.iter().any(|start| line.starts_with(start));
        in_annotation = starts(&annotations) || (in_annotation && line.starts_with([' ', '\t']));
        let may_go = in_annotation
            || line.trim().is_empty()
            || line.trim().starts_with("(none")
            || starts(&["**Status:**", "**Format-version:**"])
            || starts(&["## Forward plan", "## In progress", "## Completed"]);
        match rest.iter().position(|kept| kept == line) {
            Some(index) => {
                rest.remove(index);
            }
            None if may_go => {}
            None => lost.push(line.to_owned()),
        }
    }
    lost
}

/// The annotations of a block; the last ones make it one that is refused.
fn annotations() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        4 => Just(""),
        4 => Just("- **Status:** Completed · merged 2026-11-02\n"),
        4 => Just("- **Status:** waits\n  for more\n- **Last activity:** 2026-11-02\n"),
        4 => Just("- **Dispatch:** x\n"),
        2 => Just("\n- **Citations:** REQ-A1.1 again\n  wrapped\n"),
        1 => Just("\nprose\n\n```\ncode\n```\n"),
        1 => Just("- **Status:** a\n\n  loose\n"),
    ]
}

/// A section's text before its blocks, and what its blocks have behind their fields.
fn section_body() -> impl Strategy<Value = (&'static str, Vec<&'static str>)> {
    let before = prop_oneof![
        12 => Just(""),
        4 => Just("(none yet)\n\n"),
        4 => Just("\n\n\n"),
        1 => Just("- **Later.** words\n  **Gate:** x\n\n"),
        1 => Just("- **Task 3** — parked\n\n"),
    ];
    (before, prop::collection::vec(annotations(), 0..3))
}

fn task_list() -> impl Strategy<Value = String> {
    let ids: Vec<String> = (0..18)
        .map(|number| match number % 3 {
            0 => number.to_string(),
            rest => format!("{}.{rest}", number / 3),
        })
        .collect();
    let bodies = prop::collection::vec(section_body(), 6);
    (Just(ids).prop_shuffle(), bodies, any::<bool>(), any::<bool>()).prop_map(|(ids, bodies, reversed, has_intro)| {
        let names = [
            "Forward plan",
            "In progress",
            "Awaiting input",
            "Completed",
            "Deferred",
            "Out of scope",
        ];
        let mut ids = ids.iter();
        let mut block = |annotations: &str| task(ids.next().expect("enough ids"), "none", annotations);
        let mut parts: Vec<String> = Vec::new();
        for (name, (before, blocks)) in names.into_iter().zip(bodies) {
            let blocks: String = blocks.into_iter().map(&mut block).collect();
            parts.push(format!("## {name}\n\n{before}{blocks}"));
        }
        if reversed {
            parts.reverse();
        }
        let intro = if has_intro { "prose\n\n" } else { "" };
        format!("{intro}{}", parts.concat())
    })
}

/// The property below would hold of a migration that refuses everything.
#[test]
fn most_random_lists_are_migrated() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let lists = (0..200).map(|_| task_list().new_tree(&mut runner).expect("a list").current());
    let migrated = lists.filter(|list| {
        let texts = bundle(list);
        run_with(&texts, &signed(&texts)).is_ok()
    });
    assert!(migrated.count() > 50);
}

/// Checks what holds for every migration, and returns whether it was one.
fn holds(texts: &BundleTexts, brief: &[u8]) -> Result<bool, TestCaseError> {
    let Ok(Migration::Migrated {
        texts: after,
        brief: Some(anchored),
    }) = run_with(texts, brief)
    else {
        return Ok(false);
    };
    prop_assert_eq!(task_definitions(&texts.tasks), task_definitions(&after.tasks));
    prop_assert_eq!(run_with(&after, &anchored), Ok(Migration::AlreadyVersion2));
    let record = parse_sign_off(&spec(), &anchored).expect("a record");
    prop_assert_eq!(record.form, AnchorForm::Canonical);
    prop_assert_eq!(freshness(&record, &after), Ok(Freshness::Matches));
    prop_assert_eq!(lost_lines(&texts.tasks, &after.tasks), Vec::<String>::new());
    for (before, after) in [(&texts.design, &after.design), (&texts.test_spec, &after.test_spec)] {
        let expected = text(before)
            .replacen("**Status:** Active", "**Status:** Ready", 1)
            .replacen(
                "**Format-version:** 1\n",
                &format!("**Format-version:** 2\n{EXECUTION}\n"),
                1,
            );
        prop_assert_eq!(text(after), expected);
    }
    Ok(true)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_migration_changes_no_definition_and_loses_no_line(tasks in task_list()) {
        let texts = bundle(&tasks);
        if content_anchor(&texts).is_ok() {
            holds(&texts, &signed(&texts))?;
        }
    }

    #[test]
    fn a_mutated_list_is_migrated_whole_or_refused(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0_usize..3), 1..4)
    ) {
        let pieces: [&[u8]; 9] = [b"", b"\n", b"`", b"```\n", b"## ", b"### Task 1", b"- **", b" ", b"\r"];
        let mut texts = bundle(&usual());
        for (place, piece, length) in edits {
            let start = place.index(texts.tasks.len());
            let end = (start + length).min(texts.tasks.len());
            texts.tasks.splice(start..end, piece.get(&pieces).iter().copied());
        }
        // The header may have lost its status or version; then there is nothing to compare.
        let whole = core::str::from_utf8(&texts.tasks).is_ok() && content_anchor(&texts).is_ok();
        if whole && text(&texts.tasks).starts_with(&header("Tasks")) {
            holds(&texts, &signed(&texts))?;
        } else {
            let _ = run_with(&texts, b"");
        }
    }
}
