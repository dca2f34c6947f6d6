//! The overlay chain of rule documents, and the embedded ones.

use super::*;

fn name(text: &str) -> DocumentName {
    DocumentName::parse(text).expect("a document's name")
}

fn reading(layer: Layer, source: DocumentSource) -> DocumentReading {
    DocumentReading {
        layer,
        path: format!("{layer}.md"),
        source,
    }
}

fn bytes(layer: Layer, text: &str) -> DocumentReading {
    reading(layer, DocumentSource::Bytes(text.as_bytes().to_vec()))
}

fn unreadable(layer: Layer) -> DocumentReading {
    reading(layer, DocumentSource::Unreadable("is a directory".to_owned()))
}

/// What the resolution of a document comes to: layer, text and number of warnings, or the exit number.
fn outcome(document: &str, readings: Vec<DocumentReading>) -> Result<(Layer, String, usize), u8> {
    outcome_for(Purpose::Reference, document, readings)
}

fn outcome_for(purpose: Purpose, document: &str, readings: Vec<DocumentReading>) -> Result<(Layer, String, usize), u8> {
    resolve(&name(document), purpose, readings)
        .map(|(found, warnings)| (found.layer, found.text.into_owned(), warnings.len()))
        .map_err(|error| error.exit_class())
}

#[test]
fn names_can_stand_in_a_path() {
    for (text, expected) in [
        ("spec-format", "spec-format"),
        ("spec-format.md", "spec-format"),
        ("0", "0"),
        ("a-", "a-"),
    ] {
        assert_eq!(name(text).as_str(), expected);
    }
    for bad in [
        "", ".md", "-a", "A", "a/b", "..", "../a", "a.b", "a b", "a\n", "a.md.md", "é",
    ] {
        assert_eq!(DocumentName::parse(bad), Err(DoctrineError::InvalidName), "{bad:?}");
    }
}

#[test]
fn candidates_are_in_order_of_precedence() {
    let found: Vec<(Layer, Root, String)> = candidates(&name("gate-wiring"))
        .map(|candidate| (candidate.layer, candidate.root, candidate.relative_path))
        .to_vec();
    assert_eq!(
        found,
        [
            (
                Layer::MachineLocal,
                Root::Repository,
                "doctrine.local/gate-wiring.md".to_owned()
            ),
            (
                Layer::RepositoryTracked,
                Root::Repository,
                "doctrine/gate-wiring.md".to_owned()
            ),
            (Layer::Adopter, Root::Adopter, "doctrine/gate-wiring.md".to_owned()),
        ]
    );
}

#[test]
fn the_highest_layer_that_holds_the_document_speaks() {
    let all = || {
        vec![
            bytes(Layer::Adopter, "adopter"),
            bytes(Layer::MachineLocal, "local"),
            bytes(Layer::RepositoryTracked, "repository"),
        ]
    };
    let said = |layer, text: &str| Ok((layer, text.to_owned(), 0));
    assert_eq!(outcome("house-rules", all()), said(Layer::MachineLocal, "local"));
    assert_eq!(
        outcome(
            "house-rules",
            vec![
                reading(Layer::MachineLocal, DocumentSource::Absent),
                bytes(Layer::Adopter, "a")
            ]
        ),
        said(Layer::Adopter, "a")
    );
    assert_eq!(
        outcome("execute-task", vec![]),
        said(Layer::Core, embedded(&name("execute-task")).expect("embedded"))
    );
}

#[test]
fn a_broken_candidate_is_an_error_only_in_the_repository() {
    assert_eq!(
        outcome(
            "house-rules",
            vec![unreadable(Layer::RepositoryTracked), bytes(Layer::Adopter, "a")]
        ),
        Err(3)
    );
    assert_eq!(
        outcome(
            "house-rules",
            vec![unreadable(Layer::MachineLocal), bytes(Layer::Adopter, "a")]
        ),
        Ok((Layer::Adopter, "a".to_owned(), 1))
    );
    assert_eq!(
        outcome("execute-task", vec![unreadable(Layer::Adopter)]).map(|found| (found.0, found.2)),
        Ok((Layer::Core, 1))
    );
    // Below the document that speaks nobody looks.
    assert_eq!(
        outcome(
            "house-rules",
            vec![bytes(Layer::MachineLocal, "l"), unreadable(Layer::RepositoryTracked)]
        ),
        Ok((Layer::MachineLocal, "l".to_owned(), 0))
    );
    // The reference looks whether a file can be read, not what it says.
    assert_eq!(
        outcome("house-rules", vec![bytes(Layer::RepositoryTracked, "")]),
        Ok((Layer::RepositoryTracked, String::new(), 0))
    );
}

#[test]
fn a_prompt_is_made_of_text_or_not_at_all() {
    let empty = |layer| bytes(layer, " \n");
    let not_text = |layer| reading(layer, DocumentSource::Bytes(vec![0xff]));
    let nul = |layer| bytes(layer, "a\0b");
    for broken in [unreadable, empty, not_text, nul] {
        for layer in [Layer::MachineLocal, Layer::RepositoryTracked, Layer::Adopter] {
            assert_eq!(
                outcome_for(Purpose::Prompt, "execute-task", vec![broken(layer)]),
                Err(3),
                "{layer}"
            );
        }
    }
    assert_eq!(purpose_on_dispatch(&name("execute-task")), Purpose::Prompt);
    assert_eq!(purpose_on_dispatch(&name("proportionality")), Purpose::Reference);
}

#[test]
fn a_candidate_outside_its_root_is_refused_in_every_layer() {
    for layer in [Layer::MachineLocal, Layer::RepositoryTracked, Layer::Adopter] {
        assert_eq!(
            outcome("execute-task", vec![reading(layer, DocumentSource::Escapes)]),
            Err(2),
            "{layer}"
        );
    }
}

/// Verifies REQ-G1.4.
#[test]
fn a_missing_document_names_the_chain() {
    let absent = [Layer::MachineLocal, Layer::RepositoryTracked, Layer::Adopter]
        .map(|layer| reading(layer, DocumentSource::Absent));
    let error = resolve(&name("house-rules"), Purpose::Reference, absent.to_vec()).expect_err("nowhere");
    assert_eq!(error.exit_class(), 1);
    assert_eq!(
        error.to_string(),
        "cannot find the rule document house-rules: looked at machine-local.md, repo-tracked.md, adopter.md, the built-in documents"
    );
}

#[test]
fn replacing_a_document_of_weight_warns() {
    for (document, expected) in [
        ("gate-wiring", 1),
        ("security-posture", 1),
        ("spec-format", 2),
        ("proportionality", 1),
        ("execute-task", 0),
        ("house-rules", 0),
    ] {
        for layer in [Layer::MachineLocal, Layer::RepositoryTracked, Layer::Adopter] {
            assert_eq!(
                outcome(document, vec![bytes(layer, "x")]),
                Ok((layer, "x".to_owned(), expected)),
                "{document} {layer}"
            );
        }
    }
    assert_eq!(outcome("spec-format", vec![]).map(|found| found.2), Ok(0));
}

#[test]
fn a_dispatch_finds_all_it_needs_in_the_binary() {
    for required in required_for_dispatch() {
        assert_eq!(DocumentName::parse(required.as_str()).as_ref(), Ok(&required));
        let text = embedded(&required).expect("embedded");
        assert!(text.starts_with("# ") && text.ends_with('\n'), "{required}");
        assert!(text.lines().count() <= 60, "{required}");
    }
    assert_eq!(EMBEDDED.len(), required_for_dispatch().len());
}

#[test]
fn the_workers_instructions_name_the_record_and_the_refusals() {
    let text = embedded(&name("execute-task")).expect("embedded").to_lowercase();
    for needed in [
        "planwright-task: <spec>/<id>",
        "last paragraph",
        "force-push",
        "amend",
        "rebase",
        "squash",
        "merge",
        "tasks.md",
        "done when",
    ] {
        assert!(text.contains(needed), "{needed}");
    }
}
