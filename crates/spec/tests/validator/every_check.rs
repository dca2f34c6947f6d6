//! Every check, produced once in a draft and once in a signed bundle.

use std::collections::BTreeSet;

use orchestrate_spec::BundleFile::{Design, Requirements, Tasks, TestSpec};
use orchestrate_spec::{BundleFile, BundleFiles, Class, Diagnostic, FileText, LARGEST_FILE, Severity, checks};

use crate::common::{spec, task};
use crate::{edited, file, findings, good, with_file};

/// How a bundle comes to have the finding.
enum Fault {
    Edit(BundleFile, &'static str, &'static str),
    /// Text at the end of a file.
    Append(BundleFile, &'static str),
    Replace(BundleFile, FileText),
    Made(fn(BundleFiles) -> BundleFiles),
    /// Against an earlier state, which differs by that edit.
    Since(BundleFile, &'static str, &'static str),
}
use Fault::{Append, Edit, Made, Replace, Since};

fn faults() -> Vec<(&'static str, Fault, &'static str)> {
    let dependencies = "- **Dependencies:** 1";
    vec![
        (
            "file-missing",
            Replace(Design, FileText::Missing),
            "missing file: design.md",
        ),
        (
            "open-fence",
            Append(Design, "```\n"),
            "design.md: the code fence that opens at line 17 is never closed; the rest of the file parses as illustration",
        ),
        (
            "fence-unknown",
            Replace(TestSpec, FileText::Unreadable("permission denied".to_owned())),
            "test-spec.md: could not establish whether its code fences are balanced: permission denied",
        ),
        (
            "header-unreadable",
            Append(TestSpec, "a\0"),
            "test-spec.md: could not read the header block (the file is refused): it contains a NUL byte",
        ),
        (
            "version-conflict",
            Made(|files| {
                let files = with_file(files, Requirements, FileText::Missing);
                edited(files, Tasks, "version:** 2", "version:** 1")
            }),
            "conflicting Format-version declarations across sibling files (design.md: 2, tasks.md: 1, test-spec.md: 2)",
        ),
        (
            "header-duplicate",
            Edit(Design, "**Format", "**Format-version:** 2\n**Format"),
            "design.md: unparseable Format-version: declaration (more than one in-header declaration, the second at line 6)",
        ),
        (
            "requirement-lost",
            Edit(Requirements, "## Changelog", "### REQ-A1.2 — b\n\n## Changelog"),
            "\"### REQ-A1.2 — b\" looks like a requirement, but none is read from it",
        ),
        (
            "requirements-section",
            Edit(Requirements, "## Goal", "## Goals"),
            "there is no `## Goal` section",
        ),
        (
            "mirror-version",
            Edit(Tasks, "version:** 2", "version:** 1"),
            "tasks.md: Format-version mirror mismatch: 1 (requirements.md declares 2)",
        ),
        (
            "requirement-duplicate",
            Edit(
                Requirements,
                "## Changelog",
                "- **REQ-A1.1** b *(Cites: D-1.)*\n\n## Changelog",
            ),
            "duplicate REQ-ID REQ-A1.1",
        ),
        (
            "requirement-citation",
            Edit(Requirements, "(Cites:", "(See:"),
            "REQ-A1.1 has no citation annotation (*(Cites: ...)*)",
        ),
        (
            "requirement-bullet",
            Edit(Requirements, "## Changelog", "- prose\n\n## Changelog"),
            "prose-only bullet or non-conforming REQ-ID at requirements.md:17 (a bullet of a REQ group starts with its id in bold)",
        ),
        (
            "format-version",
            Made(|files| {
                let all = [Requirements, Design, Tasks, TestSpec];
                all.into_iter()
                    .fold(files, |files, file| edited(files, file, "version:** 2", "version:** 3"))
            }),
            "unsupported format-version: 3 (1 and 2 are supported)",
        ),
        (
            "execution-line",
            Edit(Design, "derived — see", "derived - see"),
            "design.md: non-canonical **Execution:** pointer line: derived - see the status render (compared byte by byte)",
        ),
        (
            "execution-missing",
            Edit(TestSpec, "**Execution:** derived — see the status render\n", ""),
            "test-spec.md: missing **Execution:** pointer line (format-version 2 header)",
        ),
        (
            "decision-duplicate",
            Append(
                Design,
                "### D-1: b\n**Decision:** a\n**Alternatives considered:** b\n**Chosen because:** c\n",
            ),
            "duplicate D-ID D-1",
        ),
        (
            "decision-field",
            Edit(Design, "**Chosen because:**", "**Because:**"),
            "D-1 missing field: Chosen because",
        ),
        (
            "decision-heading",
            Append(Design, "### D-x: b\n"),
            "malformed decision heading at design.md:17 (expected ### D-<number>: <title>)",
        ),
        (
            "task-duplicate",
            Edit(Tasks, "### Task 2 —", "### Task 1 —"),
            "duplicate task id: Task 1",
        ),
        (
            "task-field",
            Edit(Tasks, "- **Done when:** done\n", ""),
            "Task 1 missing field: Done when",
        ),
        (
            "task-id",
            Edit(Tasks, "### Task 2 —", "### Task 2: —"),
            "malformed task id at tasks.md:19 (\":\" stands right behind the id 2)",
        ),
        (
            "placement-section",
            Append(Tasks, "## Completed\n"),
            "placement section \"## Completed\" at tasks.md:39 does not exist in format-version 2",
        ),
        (
            "state-annotation",
            Edit(Tasks, "1 day\n", "1 day\n- **Status:** Completed\n"),
            "state annotation bullet \"Status\" on Task 1 does not exist in format-version 2",
        ),
        (
            "reference-unknown",
            Append(Tasks, "- **Task 9** — x\n"),
            "reference bullet at tasks.md:39 names unknown task id 9 (Out of scope)",
        ),
        (
            "reference-twice",
            Edit(Tasks, "(none yet)", "- **Task 1** — x\n- **Task 1** — y"),
            "Task 1 is named by more than one reference bullet (twice in Awaiting input; one bullet parks a task)",
        ),
        (
            "reference-rejected",
            Append(Tasks, "- **Task six** — x\n"),
            "reference bullet task id at tasks.md:39 fails the task-id grammar and is rejected: six",
        ),
        (
            "reference-map",
            Append(Tasks, "```\n"),
            "tasks.md: the reference-bullet parse failed (no task is known to be parked): a code fence is never closed",
        ),
        (
            "requirement-untested",
            Edit(TestSpec, "### REQ-A1.1", "### REQ-A1.10"),
            "REQ-A1.1 has no test-spec entry",
        ),
        (
            "baseline-fence",
            Since(Tasks, "## Out of scope", "```\n## Out of scope"),
            "tasks.md at origin/main has a code fence at line 36 that is never closed; its ids are taken from all of it",
        ),
        (
            "baseline-status",
            Since(Requirements, "**Status:**", "**Status:** Retired\n**Status:**"),
            "requirements.md at origin/main has an unparseable Status: declaration; the terminal-status check could not run",
        ),
        (
            "requirement-removed",
            Since(Requirements, "REQ-A1.1", "REQ-A1.2"),
            "REQ-A1.2 renumbered or removed since origin/main (stable IDs are never reused)",
        ),
        (
            "decision-removed",
            Since(Design, "### D-1:", "### D-2:"),
            "D-2 renumbered or removed since origin/main (stable IDs are never reused)",
        ),
        (
            "task-removed",
            Since(Tasks, "### Task 2 —", "### Task 3 —"),
            "Task 3 renumbered or removed since origin/main (stable IDs are never reused; retire the task with a dated Changelog entry that names it)",
        ),
        (
            "file-too-large",
            Replace(TestSpec, FileText::Present(vec![b'\n'; LARGEST_FILE + 1])),
            "test-spec.md has 8388609 bytes, more than the 8 MiB that are read",
        ),
        (
            "byte-order-mark",
            Made(|mut files| {
                if let FileText::Present(bytes) = file(&mut files, Design) {
                    bytes.splice(0..0, *b"\xef\xbb\xbf");
                }
                files
            }),
            "design.md begins with a byte order mark, behind which other readers and the anchor find no header",
        ),
        (
            "file-encoding",
            Made(|mut files| {
                if let FileText::Present(bytes) = file(&mut files, Design) {
                    bytes.extend(b"\xff\n");
                }
                files
            }),
            "the file is not text: it holds bytes that are not UTF-8",
        ),
        (
            "carriage-return",
            Edit(Tasks, "## Deferred", "a\rb\n\n## Deferred"),
            "\"ab\" holds a carriage return inside the line",
        ),
        (
            "section-heading",
            Edit(Tasks, "## Deferred", "## deferred"),
            "\"## deferred\" is not spelled as a section",
        ),
        (
            "section-missing",
            Edit(Tasks, "## Tasks", "## Work"),
            "there is no `## Tasks` section",
        ),
        (
            "task-heading",
            Edit(Tasks, "### Task 2 —", "### Task 2 –"),
            "\"### Task 2 – title 2\" is not a task heading",
        ),
        (
            "task-number",
            Edit(Tasks, "### Task 2 —", "### Task 01 —"),
            "task 01 has the same number as task 1 at line 10",
        ),
        (
            "task-placement",
            Edit(Tasks, "### Task 2 —", "## Other\n\n### Task 2 —"),
            "task 2 stands outside of `## Tasks`",
        ),
        (
            "disputed-line",
            Edit(Tasks, "### Task 2 —", "~~~\n### Task 2 —"),
            "\"### Task 2 — title 2\" can be read in two ways: it is in a code block that is never closed",
        ),
        (
            "field-orphan",
            Edit(Tasks, "### Task 2 —", "### Tusk 2 —"),
            "\"- **Deliverables:** one\" belongs to no task",
        ),
        (
            "field-empty",
            Edit(Tasks, "- **Citations:** D-1 · REQ-A1.1", "- **Citations:** "),
            "task 1 has nothing in its field Citations",
        ),
        (
            "effort-number",
            Edit(Tasks, "effort:** 1 day", "effort:** a while"),
            "\"a while\" names no number of days, so it counts as 1 day",
        ),
        (
            "dependency-field",
            Edit(Tasks, dependencies, "* **Dependencies:** 1"),
            "\"* **Dependencies:** 1\" looks like a dependency field but is not spelled as one",
        ),
        (
            "dependency-field-twice",
            Edit(Tasks, dependencies, "- **Dependencies:** 1\n- **Dependencies:** 1"),
            "\"- **Dependencies:** 1\" is a second dependency field of the same task",
        ),
        (
            "dependency-spelling",
            Edit(Tasks, dependencies, "- **Dependencies**: 1"),
            "a signature does not cover \"- **Dependencies**: 1\", spelled with its colon outside of the bold",
        ),
        (
            "dependency-unsigned",
            Edit(Tasks, dependencies, "- **Note:** x\n  - **Dependencies:** 1"),
            "\"- **Dependencies:** 1\" is outside of every field, so a signature would not cover it",
        ),
        (
            "dependency-continuation",
            Edit(Tasks, dependencies, "- **Dependencies:** none\nbut 1"),
            "\"but 1\" follows the dependencies without being indented",
        ),
        (
            "dependency-text",
            Edit(Tasks, dependencies, "- **Dependencies:** 1, T1"),
            "\"1, T1\" holds \"T1\", which is not a task id",
        ),
        (
            "dependency-self",
            Edit(Tasks, dependencies, "- **Dependencies:** 2"),
            "task 2 depends on itself",
        ),
        (
            "dependency-dangling",
            Edit(Tasks, dependencies, "- **Dependencies:** 7"),
            "task 2 depends on task 7, which does not exist",
        ),
        (
            "dependency-circle",
            Edit(Tasks, "- **Dependencies:** none", "- **Dependencies:** 2"),
            "tasks depend on each other in a circle: 1 → 2 → 1",
        ),
        (
            "reference-misplaced",
            Append(Tasks, "* **Task 1** — x\n"),
            "\"* **Task 1** — x\" looks like a bullet that parks a task, but would not park it",
        ),
        (
            "gate-malformed",
            Append(Tasks, "- **A.** **Gate:** GATE(when: task 9 completed)\n"),
            "a gate cannot be evaluated: unknown task in atom: task 9 completed",
        ),
        (
            "citation-unknown",
            Edit(Tasks, "D-1 · REQ-A1.1", "D-1 · REQ-A1.7"),
            "task 1 cites REQ-A1.7, which this bundle does not define",
        ),
        (
            "test-tag",
            Edit(TestSpec, "[test]", "[tests]"),
            "\"tests\" is no tag of a test entry",
        ),
    ]
}

/// Checks whose findings stay warnings in a signed bundle.
const ALWAYS_WARNINGS: [&str; 6] = [
    "byte-order-mark",
    "citation-unknown",
    "effort-number",
    "gate-malformed",
    "requirements-section",
    "test-tag",
];

/// Checks of which the status itself is a part; they are made by hand in `headers` and `baseline`.
const OF_THE_STATUS: [&str; 7] = [
    "mirror-status",
    "status-derived",
    "status-missing",
    "status-unknown",
    "superseded-by",
    "superseded-unlogged",
    "terminal-status",
];

fn findings_of(fault: &Fault, status: &str) -> Vec<Diagnostic> {
    let files = good(status);
    let files = match fault {
        Edit(name, from, to) => edited(files, *name, from, to),
        Append(name, text) => {
            let mut files = files;
            if let FileText::Present(bytes) = file(&mut files, *name) {
                bytes.extend(text.as_bytes());
            }
            files
        }
        Replace(name, text) => with_file(files, *name, text.clone()),
        Made(make) => make(files),
        Since(name, from, to) => {
            let before = edited(files.clone(), *name, from, to);
            return orchestrate_spec::compare_with_baseline(&spec("x"), &files, &before, "origin/main");
        }
    };
    findings(&files)
}

/// Verifies REQ-B2.5.
#[test]
fn every_check_is_made() {
    let classes = checks();
    let mut made = BTreeSet::new();
    for (code, fault, message) in faults() {
        made.insert(code);
        let class = classes
            .iter()
            .find(|(other, _)| *other == code)
            .map(|(_, class)| *class);
        for status in ["Draft", "Ready"] {
            let found = findings_of(&fault, status);
            let finding = found
                .iter()
                .find(|finding| finding.code == code)
                .unwrap_or_else(|| panic!("{code} is not found: {found:?}"));
            assert_eq!(finding.message, message, "{code}");
            assert_eq!(Some(finding.class), class, "{code}");
            let is_error = match finding.class {
                Class::Hard => true,
                Class::Gap => status == "Ready" && !ALWAYS_WARNINGS.contains(&code),
            };
            assert_eq!(
                finding.severity == Severity::Error,
                is_error,
                "{code} in a {status} bundle"
            );
            assert!(!message.chars().any(char::is_control), "{code}");
        }
    }
    made.extend(OF_THE_STATUS);
    let all: BTreeSet<&str> = classes.iter().map(|(code, _)| *code).collect();
    assert_eq!(made, all);
}

#[test]
fn a_good_bundle_has_no_finding() {
    for status in ["Draft", "Ready", "Retired"] {
        assert_eq!(findings(&good(status)), []);
    }
    assert!(good("Ready") != good("Draft"));
    assert!(task("2", "1").contains("Dependencies"));
}
