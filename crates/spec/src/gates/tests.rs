//! Gates by the examples of the contract.

use super::*;
use crate::text::Document;

fn gates(source: &str) -> (Vec<Gate>, usize) {
    let one = TaskId::parse("1").expect("id");
    let text = Document::new(source);
    let mut reader = GateReader::default();
    for line in text.lines() {
        reader.line(&line);
    }
    let mut findings = Findings::default();
    let gates = reader.finish(&BTreeSet::from([&one]), &mut findings);
    let spec = SpecId::parse("x").expect("spec");
    (gates, findings.finish(&spec, Some(Status::Ready)).len())
}

fn condition_of(text: &str) -> String {
    let (gates, findings) = gates(&format!("- **A.** b **Gate:** {text}\n"));
    let shown = match &gates[0].condition {
        GateCondition::Prose => "prose".to_owned(),
        GateCondition::All(atoms) => {
            let atoms: Vec<String> = atoms.iter().map(ToString::to_string).collect();
            atoms.join(" & ")
        }
        GateCondition::Malformed(reasons) => format!("malformed: {}", reasons.join("; ")),
    };
    assert_eq!(findings > 0, shown.starts_with("malformed"), "{text}");
    shown
}

#[test]
fn conditions_of_the_contract() {
    let cases = [
        ("when the moon is blue", "prose"),
        ("not `GATE(when: x)`", "prose"),
        ("GATE(when: task 1 completed)", "task 1 completed"),
        ("GATE(when:  task  1\n  completed ).", "task 1 completed"),
        (
            "GATE(when: task 1 completed and after 2026-01-01 and spec beta ready) Citations: D-1",
            "task 1 completed & after 2026-01-01 & spec beta ready",
        ),
        ("GATE(when: task 1 completed", "malformed: unterminated GATE(when: ...)"),
        (
            "GATE(when: task 1 completed) soon",
            "malformed: trailing content after the closing parenthesis",
        ),
        ("GATE(when: )", "malformed: empty condition"),
        (
            "GATE(when: task 9 completed and after 2026-02-29)",
            "malformed: invalid date in atom: after 2026-02-29",
        ),
        (
            "GATE(when: task 9 completed and spec beta ready)",
            "malformed: unknown task in atom: task 9 completed",
        ),
        (
            "GATE(when: task x completed and it rains)",
            "malformed: unknown task in atom: task x completed; unrecognized atom: it rains",
        ),
        (
            "GATE(when: spec Beta ready)",
            "malformed: unknown spec in atom: spec Beta ready",
        ),
        (
            "GATE(when: it rains)",
            "malformed: no atom is in the closed grammar; a condition that it cannot express is written as plain prose after **Gate:**",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(condition_of(text), expected, "{text}");
    }
}

#[test]
fn bullets_hold_gates() {
    let (gates, findings) = gates(
        "- **Later thing.** Why. Confidence: low\n\n  and more\n  **Gate:** when  asked\n- **Gate:** no title\n- Confidence: higher **Gate:** x\nprose **Gate:** lost\n- none\n",
    );
    let shown: Vec<String> = gates
        .iter()
        .map(|gate| {
            format!(
                "{} {}:{} {} {:?} {}",
                gate.line,
                gate.mark.line,
                gate.mark.columns.start,
                gate.title.as_deref().unwrap_or("-"),
                gate.confidence,
                gate.text
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "1 4:3 Later thing Some(Low) when asked",
            "5 5:3 - None no title",
            "6 6:22 - None x",
            "7 7:7 - None lost",
        ]
    );
    assert_eq!(findings, 1);
}
