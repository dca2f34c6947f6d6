//! Bundles written and read back.

use orchestrate_core::identifier::SpecId;

use super::*;
use crate::{Annotation, AnnotationKind, ChangelogEntry, GateCondition, Span, parse_bundle};

mod properties;

fn id(text: &str) -> TaskId {
    TaskId::parse(text).expect("id")
}

fn requirement(id: &str, group: &str, text: &str) -> Requirement {
    Requirement {
        id: id.to_owned(),
        group: group.to_owned(),
        text: text.to_owned(),
        own_citations: Vec::new(),
        citations: crate::citation::citations(text.split_once("(Cites:").map_or("", |(_, cites)| cites)),
        superseded: false,
        line: 0,
        id_span: Span::default(),
    }
}

fn task(name: &str, title: &str, dependencies: &[&str], section: Section) -> Task {
    Task {
        id: id(name),
        title: title.to_owned(),
        deliverables: "one file\nand another".to_owned(),
        done_when: "both are there".to_owned(),
        dependencies: dependencies.iter().map(|name| id(name)).collect(),
        malformed_for_the_engine: None,
        dependency_spans: Vec::new(),
        citations: vec!["D-1".to_owned(), "REQ-A1.1".to_owned()],
        own_citations: Vec::new(),
        citations_text: "D-1 · REQ-A1.1".to_owned(),
        estimated_effort: "half day".to_owned(),
        line: 0,
        id_span: Span::default(),
        section,
        annotations: Vec::new(),
    }
}

fn gate(title: &str, text: &str, condition: GateCondition) -> Gate {
    Gate {
        line: 0,
        mark: Span::default(),
        is_in_bullet: true,
        title: Some(title.to_owned()),
        confidence: Some(Confidence::Low),
        text: text.to_owned(),
        condition,
    }
}

/// A bundle in which everything is said that a bundle can say.
fn everything() -> Bundle {
    Bundle {
        spec: SpecId::parse("demo").expect("spec"),
        version: FormatVersion::Two,
        status: Status::Ready,
        title: "Demo".to_owned(),
        goal: "Show every part.\n\n```\n## not a heading\n```".to_owned(),
        requirements: vec![
            requirement("REQ-A1.1", "REQ-A — Parts", "Each part is there.\n*(Cites: D-1.)*"),
            requirement("REQ-B1.1", "REQ-B — Whole", "The whole too, (Cites: D-1, REQ-A1.1)"),
        ],
        decisions: vec![Decision {
            id: "D-1".to_owned(),
            title: "Parts (small ones)".to_owned(),
            origin: Some("drafting".to_owned()),
            text: String::new(),
            decision: "Take parts.".to_owned(),
            alternatives: "A whole.".to_owned(),
            chosen_because: "Parts land alone.".to_owned(),
            line: 0,
            id_span: Span::default(),
        }],
        tasks: vec![
            task("1", "first", &[], Section::Tasks),
            task("2.5", "second — with a dash", &["1"], Section::Tasks),
            task("2", "third", &["1", "2.5"], Section::Tasks),
        ],
        parked: vec![ReferenceBullet {
            task: id("2"),
            place: ParkingPlace::Deferred,
            note: "— until somebody asks".to_owned(),
            line: 0,
            last_line: 0,
            task_span: Span::default(),
        }],
        gates: vec![
            gate("Later", "when it hurts", GateCondition::Prose),
            gate(
                "Task 2",
                "GATE(when: task 1 completed)",
                GateCondition::All(vec![crate::Atom::TaskCompleted(id("1"))]),
            ),
        ],
        tests: vec![TestEntry {
            requirements: vec!["REQ-A1.1".to_owned(), "REQ-B1.1".to_owned()],
            heading: "REQ-A1.1, REQ-B1.1 — both [test + manual]".to_owned(),
            tags: vec!["test".to_owned(), "manual".to_owned()],
            line: 0,
        }],
        changelog: vec![ChangelogEntry {
            date: "2026-11-29".to_owned(),
            text: ": first draft,\nin two lines.".to_owned(),
            line: 0,
        }],
    }
}

#[test]
fn the_canonical_layout() {
    let texts = render(&everything()).expect("texts");
    let shown: Vec<String> = texts
        .files()
        .into_iter()
        .map(|(file, bytes)| format!("==> {file}\n{}", String::from_utf8_lossy(bytes)))
        .collect();
    insta::assert_snapshot!(shown.concat(), @r"
        ==> requirements.md
        # Demo — Requirements

        **Status:** Ready
        **Format-version:** 2
        **Execution:** derived — see the status render

        ## Goal

        Show every part.

        ```
        ## not a heading
        ```

        ## Scope

        ### In scope

        (none yet)

        ### Out of scope

        (none yet)

        ## REQ-A — Parts

        - **REQ-A1.1** Each part is there.
          *(Cites: D-1.)*

        ## REQ-B — Whole

        - **REQ-B1.1** The whole too, (Cites: D-1, REQ-A1.1)

        ## Changelog

        - 2026-11-29: first draft,
          in two lines.

        ## Sources

        (none yet)
        ==> design.md
        # Demo — Design

        **Status:** Ready
        **Format-version:** 2
        **Execution:** derived — see the status render

        ## Decision log

        ### D-1: Parts (small ones) (drafting)

        **Decision:** Take parts.

        **Alternatives considered:** A whole.

        **Chosen because:** Parts land alone.
        ==> tasks.md
        # Demo — Tasks

        **Status:** Ready
        **Format-version:** 2
        **Execution:** derived — see the status render

        ## Tasks

        ### Task 1 — first

        - **Deliverables:** one file
          and another
        - **Done when:** both are there
        - **Dependencies:** none
        - **Citations:** D-1 · REQ-A1.1
        - **Estimated effort:** half day

        ### Task 2.5 — second — with a dash

        - **Deliverables:** one file
          and another
        - **Done when:** both are there
        - **Dependencies:** 1
        - **Citations:** D-1 · REQ-A1.1
        - **Estimated effort:** half day

        ### Task 2 — third

        - **Deliverables:** one file
          and another
        - **Done when:** both are there
        - **Dependencies:** 1, 2.5
        - **Citations:** D-1 · REQ-A1.1
        - **Estimated effort:** half day

        ## Awaiting input

        (none yet)

        ## Deferred

        - **Task 2** — until somebody asks
          Confidence: low. **Gate:** GATE(when: task 1 completed)
        - **Later.** Confidence: low. **Gate:** when it hurts

        ## Out of scope

        (none yet)
        ==> test-spec.md
        # Demo — Test Spec

        **Status:** Ready
        **Format-version:** 2
        **Execution:** derived — see the status render

        How each requirement is verified.

        ## REQ-A — Parts

        ### REQ-A1.1, REQ-B1.1 — both [test + manual]
        ");
}

#[test]
fn what_is_written_is_valid_and_says_the_same() {
    let bundle = everything();
    let read = parse_bundle(&bundle.spec, &render(&bundle).expect("texts")).expect("a valid bundle");
    assert_eq!(difference(&bundle, &read), None);
    // What was read is written as it was.
    assert_eq!(render(&read), render(&bundle));
}

#[test]
fn an_empty_draft() {
    let bundle = Bundle {
        status: Status::Draft,
        goal: String::new(),
        requirements: Vec::new(),
        decisions: Vec::new(),
        tasks: Vec::new(),
        parked: Vec::new(),
        gates: Vec::new(),
        tests: Vec::new(),
        changelog: Vec::new(),
        ..everything()
    };
    let texts = render(&bundle).expect("texts");
    let read = examine(&bundle.spec, &BundleFiles::from(texts));
    assert_eq!(read.errors(), 0);
}

#[test]
fn blocks_of_version_one_keep_their_order_and_their_annotations() {
    let mut late = task("1", "late", &[], Section::Completed);
    late.annotations.push(Annotation {
        kind: AnnotationKind::Status,
        text: "Completed · merged 2026-01-01".to_owned(),
        line: 0,
    });
    let bundle = Bundle {
        version: FormatVersion::One,
        tasks: vec![
            late,
            task("2", "early", &["1"], Section::ForwardPlan),
            task("3", "parked", &[], Section::Deferred),
        ],
        parked: Vec::new(),
        gates: vec![gate("Later", "when it hurts", GateCondition::Prose)],
        ..everything()
    };
    let texts = render(&bundle).expect("texts");
    let tasks = String::from_utf8(texts.tasks.clone()).expect("text");
    let sections: Vec<&str> = tasks.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(
        sections,
        [
            "Completed",
            "Forward plan",
            "Deferred",
            "In progress",
            "Awaiting input",
            "Out of scope"
        ]
    );
    let read = parse_bundle(&bundle.spec, &texts).expect("valid");
    assert_eq!(difference(&bundle, &read), None);
}

type Change = fn(&mut Bundle);

#[test]
fn what_the_format_cannot_say_is_refused() {
    let cases: [(Change, &str); 9] = [
        (
            |bundle| bundle.title = "two\nlines".to_owned(),
            "it without a finding: ",
        ),
        (|bundle| bundle.goal = "a\n## REQ-Z — b".to_owned(), "the goal"),
        (
            |bundle| bundle.requirements[0].superseded = true,
            "requirement REQ-A1.1",
        ),
        (|bundle| bundle.decisions[0].origin = None, "decision D-1"),
        (
            |bundle| bundle.decisions[0].decision = "a\n### D-2: b".to_owned(),
            "decision D-1",
        ),
        (|bundle| bundle.tasks[0].title = " padded ".to_owned(), "task 1"),
        (|bundle| bundle.tasks[0].done_when = "a\n\nb".to_owned(), "task 1"),
        (
            |bundle| bundle.status = Status::Superseded,
            "which bundle succeeds this one",
        ),
        (
            |bundle| bundle.tests[0].heading = "two\nlines".to_owned(),
            "the test entry",
        ),
    ];
    for (change, expected) in cases {
        let mut bundle = everything();
        change(&mut bundle);
        let what = render(&bundle).map_or_else(|error| error.what, |_| "everything".to_owned());
        assert!(what.starts_with(expected), "{expected}: {what}");
    }
}
