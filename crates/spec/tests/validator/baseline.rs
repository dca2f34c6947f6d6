//! The comparison with an earlier state (`contract/core.md §2.4`).

use orchestrate_spec::BundleFile::{Design, Requirements, Tasks, TestSpec};
use orchestrate_spec::{BundleFiles, FileText, compare_with_baseline};

use crate::common::spec;
use crate::{edited, good, shown, with_file};

fn compared(now: &BundleFiles, before: &BundleFiles) -> Vec<String> {
    compare_with_baseline(&spec("x"), now, before, "main")
        .iter()
        .map(shown)
        .collect()
}

fn start(found: &[String]) -> Vec<&str> {
    found
        .iter()
        .map(|line| line.split(" (").next().unwrap_or_default())
        .collect()
}

#[test]
fn the_same_is_no_loss() {
    assert_eq!(compared(&good("Ready"), &good("Ready")), [""; 0]);
    assert_eq!(compared(&good("Ready"), &good("Draft")), [""; 0]);
    let none = [Requirements, Design, Tasks, TestSpec]
        .into_iter()
        .fold(good("Ready"), |files, file| with_file(files, file, FileText::Missing));
    assert_eq!(compared(&good("Ready"), &none), [""; 0]);
    assert_eq!(
        start(&compared(
            &with_file(good("Ready"), Requirements, FileText::Missing),
            &good("Ready")
        )),
        ["ERROR REQ-A1.1 renumbered or removed since main"]
    );
}

#[test]
fn a_terminal_status_is_left_by_no_one() {
    for old in ["Retired", "Superseded"] {
        for now in ["Ready", "Draft", "Active", "Other"] {
            assert_eq!(
                compared(&good(now), &good(old))[0],
                format!("ERROR transition out of terminal status (was {old} at main, now {now})")
            );
        }
        assert_eq!(compared(&good(old), &good(old)), [""; 0]);
    }
    assert_eq!(
        compared(&good("Retired"), &good("Superseded")),
        ["ERROR transition out of terminal status (was Superseded at main, now Retired)"]
    );
    let undeclared = edited(good("Retired"), Requirements, "**Status:** Retired\n", "");
    assert_eq!(
        compared(&undeclared, &good("Retired")),
        ["ERROR transition out of terminal status (was Retired at main, now Draft)"]
    );
    let gone = with_file(good("Retired"), Requirements, FileText::Missing);
    assert_eq!(
        start(&compared(&gone, &good("Retired"))),
        ["WARN REQ-A1.1 renumbered or removed since main"]
    );
}

#[test]
fn requirements_stay() {
    // Moved out of its group, a bullet is no requirement any more; in an earlier state it was one anywhere.
    let moved = edited(good("Ready"), Requirements, "## REQ-A — All", "## Other");
    assert_eq!(
        start(&compared(&moved, &good("Ready"))),
        ["ERROR REQ-A1.1 renumbered or removed since main"]
    );
    assert_eq!(compared(&good("Ready"), &moved), [""; 0]);
    let draft = edited(good("Draft"), Requirements, "REQ-A1.1", "REQ-A1.2");
    assert_eq!(
        start(&compared(&draft, &good("Ready"))),
        ["WARN REQ-A1.1 renumbered or removed since main"]
    );
}

#[test]
fn who_is_superseded_is_logged() {
    let superseded = |entry: &str| {
        let files = edited(
            good("Ready"),
            Requirements,
            "SHALL be small.",
            "SHALL be small. **Superseded-by: REQ-A1.2**",
        );
        edited(
            files,
            Requirements,
            "- 2026-11-29 Born.",
            &format!("- 2026-11-29 Born.\n{entry}"),
        )
    };
    let loss = ["ERROR REQ-A1.1 newly superseded since main without a matching Changelog entry"];
    for entry in [
        "",
        "- A1.1 went\n",
        "- 2026-11-30 A1.10 went\n",
        "- 2026-11-30 x\n- A1.1\n",
    ] {
        assert_eq!(start(&compared(&superseded(entry), &good("Ready"))), loss, "{entry}");
    }
    for entry in ["- 2026-11-30 REQ-A1.1 went\n", "- 2026-11-30: it\n  went (A1.1).\n"] {
        assert_eq!(compared(&superseded(entry), &good("Ready")), [""; 0], "{entry}");
    }
    assert_eq!(compared(&superseded(""), &superseded("")), [""; 0]);
}

/// Verifies REQ-B2.3.
#[test]
fn tasks_and_decisions_stay() {
    let renamed = |entry: &str| {
        let files = edited(good("Ready"), Tasks, "### Task 2 —", "### Task 8 —");
        edited(
            files,
            Requirements,
            "- 2026-11-29 Born.",
            &format!("- 2026-11-29 Born.\n{entry}"),
        )
    };
    let loss = ["ERROR Task 2 renumbered or removed since main"];
    for entry in [
        "",
        "- Task 2 went\n",
        "- 2026-11-30 tasks 1 and 2 went\n",
        "- 2026-11-30 Task\n- 2 went\n",
    ] {
        assert_eq!(start(&compared(&renamed(entry), &good("Ready"))), loss, "{entry}");
    }
    for entry in ["- 2026-11-30 Task 2 went\n", "- 2026-11-30 retired Task\n  2.\n"] {
        assert_eq!(compared(&renamed(entry), &good("Ready")), [""; 0], "{entry}");
    }
    let renamed = edited(good("Ready"), Design, "### D-1:", "### D-3:");
    assert_eq!(
        start(&compared(&renamed, &good("Ready"))),
        ["ERROR D-1 renumbered or removed since main"]
    );
    // A heading that is not well-formed has no id to lose, or to keep.
    let malformed = edited(good("Ready"), Tasks, "### Task 2 —", "### Task 2: —");
    assert_eq!(start(&compared(&malformed, &good("Ready"))), loss);
    assert_eq!(compared(&good("Ready"), &malformed), [""; 0]);
}

#[test]
fn fences_of_the_earlier_state() {
    let fenced = edited(
        good("Ready"),
        Tasks,
        "### Task 1",
        "```\n### Task 7 — mock\n```\n### Task 1",
    );
    assert_eq!(compared(&good("Ready"), &fenced), [""; 0]);
    let open = edited(good("Ready"), Tasks, "### Task 1", "```\n### Task 7 — x\n### Task 1");
    assert_eq!(
        start(&compared(&good("Ready"), &open)),
        [
            "ERROR tasks.md at main has a code fence at line 10 that is never closed; its ids are taken from all of it",
            "ERROR Task 7 renumbered or removed since main"
        ]
    );
    let unreadable = with_file(good("Ready"), Design, FileText::Unreadable("torn".to_owned()));
    assert_eq!(
        compared(&good("Ready"), &unreadable),
        [
            "ERROR design.md at main cannot be read, so nothing is known of its code fences; its ids are taken from all of it"
        ]
    );
}
