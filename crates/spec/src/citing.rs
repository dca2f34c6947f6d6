//! Citations of decisions and requirements that the bundle does not define.
//!
//! Real bundles cite each other, with the other bundle's name before the id: `bootstrap REQ-K1.5`, and one name may stand
//! for several ids. So only an id with no such word before it, in its part of the list, is one of this bundle for
//! certain.

use core::ops::Range;
use std::collections::BTreeSet;

use crate::check::Check;
use crate::citation::{is_citation, is_decision_id};
use crate::diagnostic::{Findings, Spot};
use crate::{BundleFile, Decision, Requirement, Span, Task};

/// An id that a text cites as one of its own bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnCitation {
    pub(crate) id: String,
    pub(crate) span: Span,
}

/// Returns the ids that a list of citations names as its own bundle's, in the order written, and where in the text.
pub(crate) fn own_citations(text: &str) -> Vec<(&str, Range<usize>)> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '-');
    let mut found = Vec::new();
    let mut is_foreign = false;
    let mut follows_an_id = false;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let start = text.len() - rest.len();
        if !is_part(first) {
            if matches!(first, ';' | '·') || rest.starts_with("\n- ") {
                (is_foreign, follows_an_id) = (false, false);
            }
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
            continue;
        }
        let after = rest.trim_start_matches(is_part);
        let word = rest.strip_suffix(after).unwrap_or(rest);
        let word = word.strip_suffix('.').unwrap_or(word);
        rest = after;
        if is_citation(word) {
            follows_an_id = !is_foreign;
            if !is_foreign {
                found.push((word, start..start + word.len()));
            }
        } else if says_something(word) {
            if follows_an_id && matches!(word, "of" | "in" | "from") {
                found.pop();
            }
            (is_foreign, follows_an_id) = (true, false);
        }
    }
    found
}

/// Returns whether the word might name another bundle or a source.
fn says_something(word: &str) -> bool {
    const LISTS: [&str; 8] = ["cites", "and", "or", "see", "also", "task", "tasks", "obs"];
    let is_uid = word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    word.contains(|character: char| character.is_ascii_alphabetic())
        && !is_uid
        && !LISTS.into_iter().any(|other| word.eq_ignore_ascii_case(other))
}

/// Adds a finding for every id of this bundle that is cited and not defined. Where no decision or no requirement at all
/// could be read, nothing can be said of theirs.
pub(crate) fn check(requirements: &[Requirement], decisions: &[Decision], tasks: &[Task], findings: &mut Findings) {
    let known_requirements: BTreeSet<&str> = requirements.iter().map(|known| known.id.as_str()).collect();
    let known_decisions: BTreeSet<&str> = decisions.iter().map(|known| known.id.as_str()).collect();
    let is_known = |id: &str| {
        let known = if is_decision_id(id) {
            &known_decisions
        } else {
            &known_requirements
        };
        known.is_empty() || known.contains(id)
    };
    for requirement in requirements {
        let owner = &requirement.id;
        refuse(
            BundleFile::Requirements,
            owner,
            &requirement.own_citations,
            is_known,
            findings,
        );
    }
    for task in tasks {
        let owner = format!("task {}", task.id);
        refuse(BundleFile::Tasks, &owner, &task.own_citations, is_known, findings);
    }
}

fn refuse(
    file: BundleFile,
    owner: &str,
    cited: &[OwnCitation],
    is_known: impl Fn(&str) -> bool,
    findings: &mut Findings,
) {
    let mut seen = BTreeSet::new();
    for citation in cited.iter().filter(|citation| !is_known(&citation.id)) {
        if seen.insert(&citation.id) {
            findings.add(
                Check::CitationUnknown,
                Spot::span(file, citation.span.clone()),
                format!("{owner} cites {}, which this bundle does not define", citation.id),
                &format!(
                    "cite what is defined here; an id of another bundle follows its name, as in `other-spec {}`",
                    citation.id
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_behind_a_name_are_of_another_bundle() {
        for (text, expected) in [
            ("D-1, REQ-A1.2. D-3", "D-1 REQ-A1.2 D-3"),
            ("D-1 · other-spec REQ-B1.1, REQ-B1.2 (Source) · D-2", "D-1 D-2"),
            ("(Cites: D-1; bootstrap REQ-K1.5 (portability); D-8.)*", "D-1 D-8"),
            ("fleet-autonomy REQ-G1.2/D-18 (Sources)", ""),
            ("`other` D-1; see also D-2 and D-3", "D-2 D-3"),
            ("D-1, Task 2.5, obs:12345678, D-2", "D-1 D-2"),
            ("D-1 of the other bundle", ""),
            ("other D-1\n- D-2\nD-3", "D-2 D-3"),
            ("é D-1, REQ-a1.1 D-2", "D-1"),
            ("", ""),
        ] {
            let found = own_citations(text);
            let ids: Vec<&str> = found.iter().map(|(id, _)| *id).collect();
            assert_eq!(ids.join(" "), expected, "{text}");
            assert!(found.iter().all(|(id, at)| text.get(at.clone()) == Some(id)), "{text}");
        }
    }
}
