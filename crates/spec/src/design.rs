//! `design.md` (`contract/core.md §1.5, §2.3` check 13): the decisions.

use std::collections::BTreeSet;

use crate::BundleFile;
use crate::check::Check;
use crate::citation::is_decision_id;
use crate::diagnostic::{Findings, Spot};
use crate::text::{Document, Line, Span};

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Its id, as in `D-7`.
    pub id: String,
    /// Its title, without the origin tag in parentheses at its end.
    pub title: String,
    /// The origin tag, without its parentheses.
    pub origin: Option<String>,
    /// The text under its heading, with its line breaks.
    pub text: String,
    /// The text behind `**Decision:**`, with its line breaks; empty when there is none. So the next two.
    pub decision: String,
    /// The text behind `**Alternatives considered:**`.
    pub alternatives: String,
    /// The text behind `**Chosen because:**`.
    pub chosen_because: String,
    /// The line of its heading in `design.md`.
    pub line: u32,
    /// The span of its id.
    pub id_span: Span,
}

const MARK: &str = "### ";
const FIELDS: [(&str, &str); 3] = [
    ("Decision", "**Decision:**"),
    ("Alternatives considered", "**Alternatives considered:**"),
    ("Chosen because", "**Chosen because:**"),
];

/// A decision that is being read.
struct Reading<'a> {
    decision: Decision,
    text: Vec<&'a str>,
    fields: [Option<Vec<&'a str>>; 3],
    current: Option<usize>,
}

/// Returns the decisions in file order. What the format asks of them and they lack is a finding.
pub(crate) fn read<'a>(body: impl Iterator<Item = Line<'a>>, findings: &mut Findings) -> Vec<Decision> {
    let mut decisions = Vec::new();
    let mut seen = BTreeSet::new();
    let mut current: Option<Reading<'_>> = None;
    for line in body {
        let is_heading = line.text.starts_with("## ") || line.text.starts_with(MARK);
        if line.fenced || !is_heading {
            if let Some(reading) = &mut current {
                reading.line(&line);
            }
            continue;
        }
        decisions.extend(current.take().map(|reading| reading.finish(findings)));
        match heading(&line) {
            Some(decision) => {
                if !seen.insert(decision.id.clone()) {
                    findings.add(
                        Check::DecisionDuplicate,
                        Spot::span(BundleFile::Design, decision.id_span.clone()),
                        format!("duplicate D-ID {}", decision.id),
                        "give it an id of its own",
                    );
                }
                current = Some(Reading {
                    decision,
                    text: Vec::new(),
                    fields: [const { None }; 3],
                    current: None,
                });
            }
            None if line.text.starts_with("### D-") => findings.add(
                Check::DecisionHeading,
                Spot::span(BundleFile::Design, line.visible()),
                format!(
                    "malformed decision heading at design.md:{} (expected ### D-<number>: <title>)",
                    line.number
                ),
                "write `### D-<number>: <title>`",
            ),
            None => {}
        }
    }
    decisions.extend(current.map(|reading| reading.finish(findings)));
    decisions
}

/// Returns the ids of all decisions (`contract/core.md §2.4`).
pub(crate) fn ids(text: &Document<'_>) -> Vec<String> {
    text.lines()
        .filter(|line| !line.fenced)
        .filter_map(|line| heading(&line).map(|decision| decision.id))
        .collect()
}

fn heading(line: &Line<'_>) -> Option<Decision> {
    let (id, title) = line.text.strip_prefix(MARK)?.split_once(':')?;
    if !is_decision_id(id) {
        return None;
    }
    let (title, origin) = split_origin(title.trim());
    Some(Decision {
        id: id.to_owned(),
        title: title.to_owned(),
        origin: origin.map(str::to_owned),
        text: String::new(),
        decision: String::new(),
        alternatives: String::new(),
        chosen_because: String::new(),
        line: line.number,
        id_span: line.span(MARK.len()..MARK.len() + id.len()),
    })
}

fn split_origin(title: &str) -> (&str, Option<&str>) {
    let tag = title.strip_suffix(')').and_then(|open| open.rsplit_once('('));
    match tag {
        Some((start, inner)) if !inner.contains(')') => (start.trim_end(), Some(inner)),
        Some(_) | None => (title, None),
    }
}

impl<'a> Reading<'a> {
    fn line(&mut self, line: &Line<'a>) {
        self.text.push(line.text);
        let started = FIELDS.iter().enumerate().find_map(|(index, (_, label))| {
            let rest = line.text.strip_prefix(label).filter(|_| !line.fenced)?;
            Some((index, rest))
        });
        if started.is_none() && !line.fenced && line.text.starts_with("- **") {
            self.current = None;
        }
        let (index, text) = match (started, self.current) {
            (Some(started), _) => started,
            (None, Some(current)) => (current, line.text),
            (None, None) => return,
        };
        self.current = Some(index);
        if let Some(field) = self.fields.get_mut(index) {
            field.get_or_insert_default().push(text);
        }
    }

    fn finish(self, findings: &mut Findings) -> Decision {
        let mut decision = self.decision;
        for ((name, label), field) in FIELDS.iter().zip(&self.fields) {
            if field.is_none() {
                findings.add(
                    Check::DecisionField,
                    Spot::span(BundleFile::Design, decision.id_span.clone()),
                    format!("{} missing field: {name}", decision.id),
                    &format!("start a line below the heading with `{label}`"),
                );
            }
        }
        let joined = |lines: Option<Vec<&str>>| lines.unwrap_or_default().join("\n").trim().to_owned();
        let [chosen, alternatives, because] = self.fields;
        decision.text = self.text.join("\n").trim().to_owned();
        decision.decision = joined(chosen);
        decision.alternatives = joined(alternatives);
        decision.chosen_because = joined(because);
        decision
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;
    use orchestrate_core::identifier::SpecId;

    #[test]
    fn decisions_have_a_title_and_fields() {
        let source = "## Decision log\n\n### D-1: Take it (all) (N)\n\n**Decision:** yes,\nall\n\n```\n### D-9: no\n```\n**Alternatives considered:** none\n- **Note:** x\n**Chosen because:**\nwhy\n### D-x: no\ntext\n### D-2: b\n### D-1: again\n## Other\n**Decision:** no\n";
        let mut findings = Findings::default();
        let found = read(Document::new(source).lines(), &mut findings);
        assert_eq!(
            found
                .iter()
                .map(|decision| (decision.id.as_str(), decision.title.as_str(), decision.line))
                .collect::<Vec<_>>(),
            [("D-1", "Take it (all)", 3), ("D-2", "b", 17), ("D-1", "again", 18)]
        );
        let first = &found[0];
        assert_eq!(
            (first.origin.as_deref(), first.id_span.columns.clone()),
            (Some("N"), 5..8)
        );
        assert_eq!(
            (
                first.decision.as_str(),
                first.alternatives.as_str(),
                first.chosen_because.as_str()
            ),
            ("yes,\nall\n\n```\n### D-9: no\n```", "none", "why")
        );
        let messages: Vec<String> = findings
            .finish(&SpecId::parse("x").expect("spec"), Some(Status::Ready))
            .into_iter()
            .map(|finding| finding.message)
            .collect();
        assert_eq!(
            messages,
            [
                "malformed decision heading at design.md:15 (expected ### D-<number>: <title>)",
                "D-2 missing field: Decision",
                "D-2 missing field: Alternatives considered",
                "D-2 missing field: Chosen because",
                "duplicate D-ID D-1",
                "D-1 missing field: Decision",
                "D-1 missing field: Alternatives considered",
                "D-1 missing field: Chosen because",
            ]
        );
        assert_eq!(ids(&Document::new(source)), ["D-1", "D-2", "D-1"]);
    }
}
