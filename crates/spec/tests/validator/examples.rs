//! The verified examples of `contract/core.md §18` that are about one bundle, and input that no one should write.

use orchestrate_spec::BundleFile::{Design, Requirements, Tasks, TestSpec};
use orchestrate_spec::{BundleFiles, BundleTexts, FileText, LARGEST_FILE, examine};

use crate::common::{bundle_with_tasks, spec};
use crate::{edited, file, findings, good, shown, with_file};

fn shown_of(files: &BundleFiles) -> Vec<String> {
    findings(files).iter().map(shown).collect()
}

#[test]
fn a_nul_byte_in_the_requirements() {
    let mut files = good("Ready");
    if let FileText::Present(bytes) = file(&mut files, Requirements) {
        bytes.extend(b"a\0b");
    }
    let found = shown_of(&files);
    assert_eq!(
        found[..3],
        [
            "ERROR requirements.md: could not establish whether its code fences are balanced: it contains a NUL byte",
            "ERROR requirements.md: could not read the header block (the file is refused): it contains a NUL byte",
            "WARN missing Status: header (defaulting to Draft)",
        ]
    );
    assert_eq!(
        found.last().map(String::as_str),
        Some("ERROR missing or empty Format-version: declaration (expected 1 or 2)")
    );
    assert_eq!(found.len(), 7, "{found:?}");
}

#[test]
fn an_open_fence_in_the_tasks() {
    let mut files = good("Draft");
    if let FileText::Present(bytes) = file(&mut files, Tasks) {
        bytes.extend(b"```\n");
    }
    assert_eq!(
        shown_of(&files),
        [
            "WARN tasks.md: the code fence that opens at line 39 is never closed; the rest of the file parses as illustration",
            "ERROR tasks.md: the reference-bullet parse failed (no task is known to be parked): a code fence is never closed",
        ]
    );
}

#[test]
fn line_ends_and_byte_order_marks() {
    let changed = |change: &dyn Fn(Vec<u8>) -> Vec<u8>| {
        let mut files = good("Ready");
        for name in [Requirements, Design, Tasks, TestSpec] {
            if let FileText::Present(bytes) = file(&mut files, name) {
                *bytes = change(std::mem::take(bytes));
            }
        }
        files
    };
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    let crlf = changed(&|bytes| text(bytes).replace('\n', "\r\n").into_bytes());
    let mark = changed(&|bytes| ["\u{feff}".as_bytes(), &bytes].concat());
    let both = changed(&|bytes| format!("\u{feff}{}", text(bytes).replace('\n', "\r\n")).into_bytes());
    for (files, expected) in [(crlf, 0), (mark, 4), (both, 4)] {
        let codes: Vec<&str> = findings(&files).iter().map(|finding| finding.code).collect();
        assert_eq!(codes, vec!["byte-order-mark"; expected]);
        let plain = examine(&spec("x"), &good("Ready")).bundle.expect("a bundle");
        let bundle = examine(&spec("x"), &files).bundle.expect("a bundle");
        assert_eq!(bundle, plain);
    }
}

#[test]
fn the_order_of_the_findings_is_the_formats() {
    let files = good("Ready");
    let files = edited(files, Tasks, "### Task 2 —", "### Task 2 –");
    let files = edited(files, Tasks, "- **Done when:** done\n", "");
    let files = edited(files, TestSpec, "### REQ-A1.1", "### REQ-A1.2");
    let files = edited(files, Design, "**Decision:**", "**Decided:**");
    let files = edited(files, Requirements, "(Cites:", "(See:");
    let files = with_file(files, Design, FileText::Missing);
    let codes: Vec<&str> = findings(&files).iter().map(|finding| finding.code).collect();
    assert_eq!(
        codes,
        [
            "file-missing",
            "requirement-citation",
            "task-field",
            "task-heading",
            "requirement-untested"
        ]
    );
}

#[test]
fn values_are_shown_without_what_a_terminal_obeys() {
    let hostile = edited(
        good("Ready"),
        Design,
        "Status:** Ready",
        "Status:** \u{1b}[2JRea\u{202e}dy\u{7}",
    );
    assert_eq!(
        shown_of(&hostile),
        ["ERROR design.md: Status mirror mismatch: [2JReady (requirements.md resolves Ready)"]
    );
    let hostile = edited(
        good("Ready"),
        Tasks,
        "(none yet)",
        "- **Task \u{1b}\u{1b}** — x\n- **Task \u{1b}]2;x\u{7}** — x",
    );
    assert_eq!(
        shown_of(&hostile),
        [
            "ERROR reference bullet task id at tasks.md:30 fails the task-id grammar and is rejected: (empty or unprintable)",
            "ERROR reference bullet task id at tasks.md:31 fails the task-id grammar and is rejected: ]2;x",
        ]
    );
}

#[test]
fn large_files_are_refused_before_they_are_parsed() {
    let largest = with_file(good("Draft"), TestSpec, FileText::Present(vec![b'\n'; LARGEST_FILE]));
    assert!(
        findings(&largest)
            .iter()
            .all(|finding| finding.code != "file-too-large")
    );
    let too_large = with_file(good("Draft"), Tasks, FileText::Present(vec![b'#'; LARGEST_FILE + 1]));
    let found = shown_of(&too_large);
    assert!(found[0].starts_with("ERROR tasks.md has "), "{found:?}");
}

/// Ten thousand tasks, each with up to twenty dependencies, and the same in a circle. What grows faster than the input
/// would not end in the time of a test; `relations` counts the steps.
#[test]
fn ten_thousand_tasks() {
    const TASKS: usize = 10_000;
    let list = |first: &str| {
        let mut text = "## Tasks\n\n".to_owned();
        for number in 1..=TASKS {
            let ids: Vec<String> = (number.saturating_sub(20).max(1)..number)
                .map(|id| id.to_string())
                .collect();
            let ids = if number == 1 { first.to_owned() } else { ids.join(", ") };
            text.push_str(&format!(
                "### Task {number} — t\n- **Deliverables:** a\n- **Done when:** b\n- **Dependencies:** {ids}\n- **Citations:** D-1\n- **Estimated effort:** 1 day\n"
            ));
        }
        bundle_with_tasks(&text)
    };
    let read = |texts: BundleTexts| examine(&spec("x"), &BundleFiles::from(texts));
    let examination = read(list("none"));
    assert_eq!(examination.findings, []);
    let bundle = examination.bundle.expect("a bundle");
    assert_eq!(bundle.tasks.len(), TASKS);
    assert_eq!(bundle.graph().critical_path().len(), TASKS);
    let circle = read(list("10000"));
    assert_eq!(circle.findings.len(), 1);
    assert!(
        circle.findings[0]
            .message
            .starts_with("tasks depend on each other in a circle: 1 → 10000 → ")
    );
    let dangling = read(list(
        &(20_000..40_000).map(|id| id.to_string()).collect::<Vec<_>>().join(" "),
    ));
    assert_eq!(dangling.findings.len(), 20_000);
}

/// Shapes that cost a careless reader quadratic time.
#[test]
fn long_lines_and_deep_nesting() {
    const SIZE: usize = 50_000;
    for unit in [
        "(",
        ")",
        "[",
        "*",
        "**",
        "`",
        "> ",
        "- ",
        "<!--",
        "task ",
        "1 to ",
        "(a) ",
        "**Dependencies:** ",
        "1,",
        "\u{200b}",
        "```\n",
        "~~~\n",
        "- a\n ",
        "1. ",
        "## \n",
        "### Task \n",
        "<div>\n",
        "-->\n",
        "&",
        "![](",
    ] {
        let text = unit.repeat(SIZE / unit.len());
        for body in [
            format!("## Tasks\n\n{text}\n"),
            format!("## Tasks\n\n### Task 1 — a\n- **Dependencies:** {text}\n"),
        ] {
            let examination = examine(&spec("x"), &BundleFiles::from(bundle_with_tasks(&body)));
            let longest = examination.findings.iter().map(|finding| finding.message.len()).max();
            assert!(longest.unwrap_or(0) < 600, "{unit:?}");
        }
    }
}
