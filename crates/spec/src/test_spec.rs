//! `test-spec.md` (`contract/core.md §1.12, §2.3` check 17): how each requirement is verified.

use std::collections::BTreeSet;

use crate::check::Check;
use crate::citation::{citations, is_requirement_id};
use crate::diagnostic::{Findings, Spot, quoted};
use crate::text::Line;
use crate::{BundleFile, Requirement};

/// One heading of level 3 in `test-spec.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestEntry {
    /// The requirement ids that the heading names, in the order written; empty for a heading that names none.
    pub requirements: Vec<String>,
    /// The heading, without its hashes.
    pub heading: String,
    /// The tags in the bracket at the heading's end, as in `test` or `manual`; empty without a bracket.
    pub tags: Vec<String>,
    /// The line of the heading in `test-spec.md`.
    pub line: u32,
}

/// Returns the entries in file order.
pub(crate) fn read<'a>(lines: impl Iterator<Item = Line<'a>>) -> Vec<TestEntry> {
    lines
        .filter(|line| !line.fenced)
        .filter_map(|line| {
            let heading = line.text.strip_prefix("### ")?.trim();
            Some(TestEntry {
                requirements: citations(heading)
                    .into_iter()
                    .filter(|id| is_requirement_id(id))
                    .collect(),
                heading: heading.to_owned(),
                tags: tags(heading),
                line: line.number,
            })
        })
        .collect()
}

fn tags(heading: &str) -> Vec<String> {
    let bracket = heading.strip_suffix(']').and_then(|open| open.rsplit_once('['));
    let Some((_, inner)) = bracket else {
        return Vec::new();
    };
    let tags = inner.split('+').map(str::trim).filter(|tag| !tag.is_empty());
    tags.map(str::to_owned).collect()
}

/// The tags of the format (`contract/core.md §1.12`).
const TAGS: [&str; 4] = ["test", "manual", "design-level", "Gherkin"];
const TAG_HELP: &str =
    "end the heading with `[test]`, `[manual]`, `[design-level]` or `[Gherkin]`, or several as in `[test + manual]`";

/// Adds a finding for every heading of an entry that does not say, in the format's words, how its requirement is
/// verified.
pub(crate) fn check_tags<'a>(lines: impl Iterator<Item = Line<'a>>, findings: &mut Findings) {
    for line in lines.filter(|line| !line.fenced) {
        let Some(heading) = line.text.strip_prefix("### ") else {
            continue;
        };
        let Some(id) = citations(heading).into_iter().find(|id| is_requirement_id(id)) else {
            continue;
        };
        // Behind the bracket there may be a remark, such as the requirement that replaces this one.
        let bracket = heading.rsplit_once('[').and_then(|(_, open)| open.split_once(']'));
        let Some((inner, _)) = bracket.filter(|(inner, _)| !inner.trim().is_empty()) else {
            let message = format!("the entry of {id} has no tag that says how it is verified");
            let spot = Spot::span(BundleFile::TestSpec, line.visible());
            findings.add(Check::TestTag, spot, message, TAG_HELP);
            continue;
        };
        let start = line.text.rfind('[').map_or(0, |bracket| bracket + 1);
        for tag in inner.split('+').map(str::trim).filter(|tag| !TAGS.contains(tag)) {
            let near = |known: &&str| strsim::damerau_levenshtein(&tag.to_lowercase(), &known.to_lowercase()) <= 1;
            let help = TAGS
                .into_iter()
                .find(near)
                .map_or_else(|| TAG_HELP.to_owned(), |known| format!("write `{known}`"));
            let spot = Spot::span(BundleFile::TestSpec, line.span(start..start + inner.len()));
            let message = format!("{} is no tag of a test entry", quoted(tag));
            findings.add(Check::TestTag, spot, message, &help);
        }
    }
}

/// Adds a finding for every requirement in force that no entry names.
pub(crate) fn check_coverage(requirements: &[Requirement], entries: &[TestEntry], findings: &mut Findings) {
    let covered: BTreeSet<&str> = entries
        .iter()
        .flat_map(|entry| entry.requirements.iter().map(String::as_str))
        .collect();
    for requirement in requirements.iter().filter(|requirement| !requirement.superseded) {
        if !covered.contains(requirement.id.as_str()) {
            findings.add(
                Check::RequirementUntested,
                Spot::span(BundleFile::Requirements, requirement.id_span.clone()),
                format!("{} has no test-spec entry", requirement.id),
                &format!("add `### {} — <name> [test]` to test-spec.md", requirement.id),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Document;

    #[test]
    fn tags_are_those_of_the_format() {
        for (heading, expected) in [
            ("### REQ-A1.1 — a [test]", ""),
            ("### REQ-A1.1 — a [x] [test + manual]", ""),
            ("### REQ-A1.1 — a [design-level + Gherkin] (superseded by REQ-A1.2)", ""),
            ("### Notes", ""),
            ("## REQ-A1.1", ""),
            ("### REQ-A1.1 — a [tests]", "write `test`"),
            ("### REQ-A1.1 — a [gherkin]", "write `Gherkin`"),
            ("### REQ-A1.1 — a [test, manual]", TAG_HELP),
            ("### REQ-A1.1 — a", TAG_HELP),
            ("### REQ-A1.1 — a []", TAG_HELP),
        ] {
            let mut findings = Findings::default();
            check_tags(Document::new(heading).lines(), &mut findings);
            let spec = orchestrate_core::identifier::SpecId::parse("x").expect("spec");
            let found = findings.finish(&spec, None);
            let helps: Vec<String> = found.into_iter().filter_map(|finding| finding.help).collect();
            assert_eq!(helps.join(", "), expected, "{heading}");
        }
    }

    #[test]
    fn entries_name_requirements_and_tags() {
        let source = "## REQ-A\n### REQ-A1.1, REQ-A1.2 — a, see D-1 [test + manual]\n```\n### REQ-A1.3 — no [test]\n```\n### Notes\n### REQ-A1.4–A1.6: b [x] more\n#### REQ-A1.7\n";
        let entries = read(Document::new(source).lines());
        let shown: Vec<String> = entries
            .iter()
            .map(|entry| {
                format!(
                    "{}: {} [{}]",
                    entry.line,
                    entry.requirements.join(" "),
                    entry.tags.join(" ")
                )
            })
            .collect();
        assert_eq!(
            shown,
            ["2: REQ-A1.1 REQ-A1.2 [test manual]", "6:  []", "7: REQ-A1.4 []"]
        );
    }
}
