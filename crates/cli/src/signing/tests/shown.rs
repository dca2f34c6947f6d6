//! What is shown of a bundle, and of what changed in it.

use super::super::sections::{difference, sections};
use super::*;

#[test]
fn every_line_that_is_signed_is_shown() {
    let shown: String = sections(&matter(files(draft(), None), first()), drawn(), &[])
        .into_iter()
        .map(|section| section.text + "\n")
        .collect();
    for (_, bytes) in draft().files() {
        let text = String::from_utf8(bytes.to_vec()).expect("text");
        for line in text.lines().filter(|line| !line.starts_with("**Status:**")) {
            assert!(shown.lines().any(|other| other == line), "{line}");
        }
    }
}

#[test]
fn a_title_names_every_part_that_is_shown() {
    let all = sections(&matter(files(draft(), None), first()), drawn(), &[]);
    let titles: Vec<&str> = all.iter().map(|section| section.title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "requirements.md · Goal",
            "requirements.md · Scope",
            "requirements.md · REQ-A — The first theme",
            "requirements.md · Changelog",
            "requirements.md · Sources",
            "design.md · D-1: A short name for the first decision (drafting, 2026-11-30)",
            "design.md · Cross-cutting concerns",
            "the task graph",
            "tasks.md",
            "tasks.md · Task 1 — the smallest part that stands on its own",
            "tasks.md · Task 2 — what builds on it",
            "tasks.md · Awaiting input, Deferred, Out of scope",
            "test-spec.md",
            "test-spec.md · REQ-A — The first theme",
            "findings",
        ]
    );
}

#[test]
fn a_difference_is_signed_and_short() {
    let before = (0..30).map(|number| format!("{number}\n")).collect::<String>();
    let after = before.replace("\n4\n", "\nfour\n").replace("\n25\n", "\n");
    assert_eq!(
        difference(&before, &after),
        "  1\n  2\n  3\n- 4\n+ four\n  5\n  6\n  7\n  ⋮\n  22\n  23\n  24\n- 25\n  26\n  27\n  28\n"
    );
}

#[test]
fn a_line_that_did_not_change_is_never_shown_as_changed() {
    for (before, after, shown) in [
        ("a\nlast", "a\nlast\nnew", "  a\n  last\n+ new\n"),
        ("a\nlast\nold", "a\nlast", "  a\n  last\n- old\n"),
        ("last\n", "last\n\nnew", "  last\n+ \n+ new\n"),
        ("", "new", "+ new\n"),
        ("old", "", "- old\n"),
    ] {
        assert_eq!(difference(before, after), shown, "{before:?} {after:?}");
    }
    // As the walk has it: the parts of a bundle, and a line behind the last one of a section.
    let first = "- 2026-11-30 — First draft.";
    let texts = changed(&ready(), first, &format!("{first}\n- 2026-12-01 — More."));
    let delta = Purpose::Delta(baseline(ready()).expect("it"));
    let all = sections(&matter(files(texts, None), delta), drawn(), &[]);
    let shown = all.first().map(|section| section.text.as_str());
    assert_eq!(
        shown,
        Some("  ## Changelog\n  \n  - 2026-11-30 — First draft.\n+ - 2026-12-01 — More.\n")
    );
}

#[test]
fn another_width_of_the_terminal_makes_no_other_graph() {
    let bundle = parse_bundle(&spec(), &draft()).expect("it reads");
    let (narrow, wide) = (graph(&bundle, 40, false), graph(&bundle, 120, true));
    assert_ne!(narrow.text, wide.text);
    assert_eq!(narrow.key, wide.key);
}
