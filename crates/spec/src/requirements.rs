//! `requirements.md` (`contract/core.md §1.4`): the goal and the requirement bullets.

use std::collections::BTreeSet;

use crate::BundleFile;
use crate::diagnostic::Findings;
use crate::text::{Text, dedented};

/// One requirement bullet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// Its id, as in `REQ-A1.2`.
    pub id: String,
    /// Its text behind the id, with its line breaks, citation included.
    pub text: String,
    /// The decision and requirement ids that it cites, in the order written; repetitions stay.
    pub citations: Vec<String>,
    /// It names a requirement that replaces it.
    pub superseded: bool,
    /// The line of its bullet in `requirements.md`.
    pub line: u32,
}

/// Returns whether the word is a decision's or a requirement's id (`contract/core.md §0.3`).
pub(crate) fn is_citation(word: &str) -> bool {
    is_decision_id(word) || is_requirement_id(word)
}

pub(crate) fn is_decision_id(word: &str) -> bool {
    word.strip_prefix("D-").is_some_and(is_number)
}

fn is_requirement_id(word: &str) -> bool {
    let Some(rest) = word.strip_prefix("REQ-") else {
        return false;
    };
    let Some(numbers) = rest.strip_prefix(|letter: char| letter.is_ascii_uppercase()) else {
        return false;
    };
    numbers
        .split_once('.')
        .is_some_and(|(group, member)| is_number(group) && is_number(member))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the decision and requirement ids that a text names (`contract/core.md §1.4`).
pub(crate) fn citations(text: &str) -> Vec<String> {
    text.split(|character: char| !(character.is_ascii_alphanumeric() || matches!(character, '.' | '-')))
        .map(|word| word.strip_suffix('.').unwrap_or(word))
        .filter(|word| is_citation(word))
        .map(str::to_owned)
        .collect()
}

/// Returns the requirements in file order; a repeated id is a finding.
pub(crate) fn read(text: &Text<'_>, body_from: usize, findings: &mut Findings<'_>) -> Vec<Requirement> {
    let mut bullets: Vec<(String, u32, Vec<&str>)> = Vec::new();
    let mut in_group = false;
    let mut in_bullet = false;
    for line in text.lines.iter().skip(body_from) {
        if !line.fenced && line.text.starts_with("## ") {
            in_group = line.text.starts_with("## REQ-");
            in_bullet = false;
        } else if !line.fenced && line.text.starts_with("- ") {
            let bullet = if in_group { requirement_bullet(line.text) } else { None };
            in_bullet = bullet.is_some();
            if let Some((id, rest)) = bullet {
                bullets.push((id.to_owned(), line.number, vec![rest]));
            }
        } else if in_bullet && let Some((_, _, body)) = bullets.last_mut() {
            body.push(dedented(line.text));
        }
    }
    let mut seen = BTreeSet::new();
    bullets
        .into_iter()
        .map(|(id, line, body)| {
            if !seen.insert(id.clone()) {
                let place = (BundleFile::Requirements, Some(line));
                findings.add(
                    "requirement-duplicate",
                    place,
                    format!("{id} is defined a second time"),
                    "give it an id of its own",
                );
            }
            requirement(id, line, &body.join("\n"))
        })
        .collect()
}

fn requirement_bullet(line: &str) -> Option<(&str, &str)> {
    let (id, rest) = line.strip_prefix("- **")?.split_once("**")?;
    if is_requirement_id(id) { Some((id, rest)) } else { None }
}

fn requirement(id: String, line: u32, body: &str) -> Requirement {
    let text = body.trim().to_owned();
    let cited = text
        .find("(Cites:")
        .map(|start| citations(&text[start..]))
        .unwrap_or_default();
    Requirement {
        citations: cited.into_iter().filter(|cited| *cited != id).collect(),
        superseded: text.contains("**Superseded-by: REQ-"),
        id,
        text,
        line,
    }
}

/// Returns the text under `## Goal`, with its line breaks; empty when there is none.
pub(crate) fn goal(text: &Text<'_>, body_from: usize) -> String {
    let is_heading = |line: &&crate::text::Line<'_>| !line.fenced && line.text.starts_with("## ");
    let lines: Vec<&str> = text
        .lines
        .iter()
        .skip(body_from)
        .skip_while(|line| !(is_heading(line) && line.text.trim_end() == "## Goal"))
        .skip(1)
        .take_while(|line| !is_heading(line))
        .map(|line| line.text)
        .collect();
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use orchestrate_core::identifier::SpecId;

    fn requirements(source: &str) -> (Vec<Requirement>, usize) {
        let spec = SpecId::parse("x").expect("spec");
        let mut findings = Findings::new(&spec);
        let text = crate::text::read(source.as_bytes()).expect("text");
        let found = read(&text, 0, &mut findings);
        (found, findings.into_sorted().len())
    }

    #[test]
    fn bullets_of_requirement_groups() {
        let (found, findings) = requirements(
            "## Goal\n- **REQ-A1.1** not here\n## REQ-A — a\n- **REQ-A1.1** The tool SHALL\n  do it.\n  *(Cites: D-1, REQ-A1.1, REQ-B2.3; obs:12345678.)*\n- prose\n  more\n```\n- **REQ-A1.9** no\n```\n- **REQ-A1.2** old **Superseded-by: REQ-A1.1**\n\n## Changelog\n- **REQ-A1.3** no\n",
        );
        assert_eq!(findings, 0);
        assert_eq!(
            found
                .iter()
                .map(|requirement| (requirement.id.as_str(), requirement.line, requirement.superseded))
                .collect::<Vec<_>>(),
            [("REQ-A1.1", 4, false), ("REQ-A1.2", 12, true)]
        );
        assert_eq!(found[0].citations, ["D-1", "REQ-B2.3"]);
        assert_eq!(
            found[0].text,
            "The tool SHALL\ndo it.\n*(Cites: D-1, REQ-A1.1, REQ-B2.3; obs:12345678.)*"
        );
    }

    #[test]
    fn a_repeated_id_is_a_finding() {
        assert_eq!(requirements("## REQ-A\n- **REQ-A1.1** a\n- **REQ-A1.1** b\n").1, 1);
    }

    #[test]
    fn ids_are_whole_words() {
        assert_eq!(
            citations("D-1, D-, D-1a, XD-1, REQ-A1.2. REQ-a1.2 REQ-A1 REQ-AB1.2 (D-07)"),
            ["D-1", "REQ-A1.2", "D-07"]
        );
    }
}
