//! All that is read of a bundle, and in which encodings.

use crate::common::{bundle_with_tasks, parse, spec, task};
use crate::{BODY, after_task_1, answer};
use orchestrate_spec::{BundleFiles, BundleTexts, Status, examine};

#[test]
fn a_whole_bundle_is_read() {
    let bundle = parse(&bundle_with_tasks(&after_task_1(&task("2", "1")))).expect("a bundle");
    assert_eq!(
        (bundle.title.as_str(), bundle.goal.as_str(), bundle.status),
        ("X", "To be small.", Status::Ready)
    );
    let decision = bundle.decision("D-1").expect("a decision");
    assert_eq!(
        [
            &decision.title,
            &decision.decision,
            &decision.alternatives,
            &decision.chosen_because
        ],
        ["Small", "small.", "large.", "it fits."]
    );
    assert_eq!(decision.origin.as_deref(), Some("N"));
    assert_eq!(
        (bundle.tests[0].requirements.clone(), bundle.tests[0].tags.clone()),
        (vec!["REQ-A1.1".to_owned()], vec!["test".to_owned()])
    );
    assert_eq!(
        (bundle.changelog[0].date.as_str(), bundle.changelog[0].text.as_str()),
        ("2026-11-29", "Born.")
    );
    assert_eq!(
        bundle
            .requirement("REQ-A1.1")
            .map(|requirement| requirement.text.as_str()),
        Some("It SHALL be small.\n*(Cites: D-1.)*")
    );
    let second = &bundle.tasks[1];
    assert_eq!(
        (
            second.title.as_str(),
            second.deliverables.as_str(),
            second.done_when.as_str()
        ),
        ("title 2", "one\nmore", "done")
    );
    assert_eq!(
        (second.citations.clone(), second.citations_text.as_str()),
        (vec!["D-1".to_owned(), "REQ-A1.1".to_owned()], "D-1 · REQ-A1.1")
    );
    assert_eq!((second.estimated_effort.as_str(), second.line), ("1 day", BODY + 11));
}

/// Verifies REQ-B1.4.
#[test]
fn line_ends_and_byte_order_marks_are_read() {
    let texts = bundle_with_tasks(&after_task_1(&task("2", "none, but\n  1")));
    let changed = |change: &dyn Fn(&[u8]) -> Vec<u8>| BundleTexts {
        requirements: change(&texts.requirements),
        design: change(&texts.design),
        tasks: change(&texts.tasks),
        test_spec: change(&texts.test_spec),
    };
    let crlf = |bytes: &[u8]| {
        String::from_utf8(bytes.to_vec())
            .expect("text")
            .replace('\n', "\r\n")
            .into_bytes()
    };
    let mark = |bytes: &[u8]| ["\u{feff}".as_bytes(), bytes].concat();
    let cut = |bytes: &[u8]| bytes.strip_suffix(b"\n").unwrap_or(bytes).to_vec();
    for changed in [changed(&crlf), changed(&cut)] {
        assert_eq!(answer(&changed), "1; 2: 1");
    }
    // The marks are findings, and change nothing in what is read.
    let examination = examine(&spec("x"), &BundleFiles::from(changed(&mark)));
    let codes: Vec<&str> = examination.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["byte-order-mark"; 4]);
    assert_eq!(examination.bundle, parse(&texts).ok());
}
