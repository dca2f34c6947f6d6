//! Where findings point.

use orchestrate_spec::BundleFile::{Design, Requirements, Tasks, TestSpec};
use orchestrate_spec::{BundleFile, FileText};

use crate::{edited, file, findings, good};

/// The part of the line that a finding points at.
fn pointed_at(name: BundleFile, from: &str, to: &str) -> Option<String> {
    let mut files = edited(good("Ready"), name, from, to);
    let finding = findings(&files).into_iter().next()?;
    let FileText::Present(bytes) = file(&mut files, name) else {
        return None;
    };
    let text = String::from_utf8(bytes.clone()).expect("text");
    let line = text.lines().nth(usize::try_from(finding.line?).ok()?.checked_sub(1)?)?;
    let columns = finding.columns?;
    let part = line.chars().skip(usize::try_from(columns.start).ok()? - 1);
    Some(part.take(columns.len()).collect())
}

#[test]
fn findings_point_at_the_offending_part() {
    let dependencies = "- **Dependencies:** 1";
    for (name, from, to, part) in [
        (Design, "Status:** Ready", "Status:**  Draft", "Draft"),
        (
            Requirements,
            "- **REQ-A1.1** It",
            "- **REQ-A1.1** It\n- **REQ-A1.1** é",
            "REQ-A1.1",
        ),
        (Tasks, "### Task 2 —", "### Task 2: —", "2:"),
        (Tasks, "### Task 2 —", "### Task 1 —", "1"),
        (Tasks, dependencies, "- **Dependencies:** 1 (é) and T1", "T1"),
        (Tasks, dependencies, "- **Dependencies:** none, é,\n  but  7 too", "7"),
        (Tasks, dependencies, "- **Dependencies:** 1,\n  2, 1", "2"),
        (
            Tasks,
            dependencies,
            "- **Dependencies:** the first\n  of all",
            "the first",
        ),
        (Tasks, "(none yet)", "- **Task six** é", "six"),
        (
            Tasks,
            "- **Deliverables:** one",
            "- **Deliverable:** é",
            "- **Deliverable:** é",
        ),
        (Tasks, "D-1 · REQ-A1.1", "é; D-1,\n  D-9, D-9", "D-9"),
        (Requirements, "(Cites: D-1.)", "é (Cites: D-1,\n  D-9.)", "D-9"),
        (Tasks, "effort:** 1 day", "effort:** é day", "é day"),
        (TestSpec, "[test]", "[tests] (é)", "tests"),
        (Tasks, "(none yet)", "- é **Gate:** GATE(when: )", "**Gate:**"),
        (Tasks, "## Deferred", "  ##  Deferred", "##  Deferred"),
    ] {
        assert_eq!(pointed_at(name, from, to).as_deref(), Some(part), "{to}");
    }
}
