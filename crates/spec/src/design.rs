//! `design.md` (`contract/core.md §1.5`): the decisions.

use std::collections::BTreeSet;

use crate::BundleFile;
use crate::diagnostic::Findings;
use crate::requirements::is_decision_id;
use crate::text::Text;

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Its id, as in `D-7`.
    pub id: String,
    /// Its title, without the origin tag in parentheses at its end.
    pub title: String,
    /// The text under its heading, with its line breaks.
    pub text: String,
    /// The line of its heading in `design.md`.
    pub line: u32,
}

/// Returns the decisions in file order; a repeated id is a finding.
pub(crate) fn read(text: &Text<'_>, body_from: usize, findings: &mut Findings<'_>) -> Vec<Decision> {
    let mut decisions: Vec<Decision> = Vec::new();
    let mut inside = false;
    for line in text.lines.iter().skip(body_from) {
        if !line.fenced && (line.text.starts_with("## ") || line.text.starts_with("### ")) {
            let decision = decision_heading(line.text, line.number);
            inside = decision.is_some();
            decisions.extend(decision);
        } else if inside && let Some(decision) = decisions.last_mut() {
            decision.text.push_str(line.text);
            decision.text.push('\n');
        }
    }
    let mut seen = BTreeSet::new();
    for decision in &mut decisions {
        decision.text = decision.text.trim().to_owned();
        if !seen.insert(decision.id.clone()) {
            let place = (BundleFile::Design, Some(decision.line));
            findings.add(
                "decision-duplicate",
                place,
                format!("{} is defined a second time", decision.id),
                "give it an id of its own",
            );
        }
    }
    decisions
}

fn decision_heading(line: &str, number: u32) -> Option<Decision> {
    let (id, title) = line.strip_prefix("### ")?.split_once(':')?;
    if !is_decision_id(id) {
        return None;
    }
    Some(Decision {
        id: id.to_owned(),
        title: without_origin_tag(title.trim()).to_owned(),
        text: String::new(),
        line: number,
    })
}

fn without_origin_tag(title: &str) -> &str {
    let tag = title.strip_suffix(')').and_then(|open| open.rsplit_once('('));
    match tag {
        Some((start, inner)) if !inner.contains(')') => start.trim_end(),
        Some(_) | None => title,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orchestrate_core::identifier::SpecId;

    #[test]
    fn decisions_have_a_title_and_a_text() {
        let spec = SpecId::parse("x").expect("spec");
        let mut findings = Findings::new(&spec);
        let source = "## Decision log\n\n### D-1: Take it (all) (N)\n\n**Decision:** yes\n\n```\n### D-9: no\n```\n### D-x: no\ntext\n### D-2: b\n### D-1: again\n";
        let text = crate::text::read(source.as_bytes()).expect("text");
        let found = read(&text, 0, &mut findings);
        assert_eq!(
            found
                .iter()
                .map(|decision| (decision.id.as_str(), decision.title.as_str(), decision.line))
                .collect::<Vec<_>>(),
            [("D-1", "Take it (all)", 3), ("D-2", "b", 12), ("D-1", "again", 13)]
        );
        assert_eq!(found[0].text, "**Decision:** yes\n\n```\n### D-9: no\n```");
        assert_eq!(
            findings.into_sorted()[0].to_string(),
            "specs/x/design.md:13: D-1 is defined a second time"
        );
    }
}
