//! Lines of `requirements.md` that a person would take for a requirement and that the format passes over.
//!
//! The format reads bullets with `- ` in column 0 under `## REQ-` headings and says something only of those bullets
//! (`contract/core.md §1.4, §2.3` check 8c). A requirement in any other shape would vanish.

use std::collections::BTreeSet;

use super::Requirement;
use crate::BundleFile;
use crate::changelog::is_changelog;
use crate::check::Check;
use crate::citation::is_requirement_id;
use crate::diagnostic::{Findings, Spot, quoted};
use crate::lookalike::{is_invisible, without_list_marker};
use crate::text::Line;

/// What the section around a line holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    /// Requirements.
    Group,
    /// Texts about requirements, those that are gone or of other bundles too.
    History,
    Other,
}

/// Adds a finding for each line that begins like a requirement of which nothing was read.
pub(crate) fn check<'a>(body: impl Iterator<Item = Line<'a>>, requirements: &[Requirement], findings: &mut Findings) {
    let known: BTreeSet<&str> = requirements.iter().map(|known| known.id.as_str()).collect();
    let mut section = Section::Other;
    for line in body.filter(|line| !line.fenced) {
        if let Some(heading) = line.text.strip_prefix("## ") {
            section = if heading.starts_with("REQ-") {
                Section::Group
            } else if is_changelog(heading) || heading.trim() == "Sources" {
                Section::History
            } else {
                Section::Other
            };
        }
        let Some(id) = id_of(&line, section).filter(|id| !known.contains(id)) else {
            continue;
        };
        findings.add(
            Check::RequirementLost,
            Spot::span(BundleFile::Requirements, line.visible()),
            format!(
                "{} looks like a requirement, but none is read from it",
                quoted(line.text)
            ),
            &format!("write `- **{id}** …` in column 0, under a `## REQ-<letter> — <theme>` heading"),
        );
    }
}

/// Returns the id of the requirement that the line seems to define.
fn id_of<'a>(line: &Line<'a>, section: Section) -> Option<&'a str> {
    let text = line.text.trim_start_matches(is_invisible);
    let is_indented = text.len() < line.text.len();
    let behind_hashes = text.trim_start_matches('#');
    let item = without_list_marker(text);
    let is_bold = |text: &str| text.starts_with("**") || text.starts_with("__");
    let (is_meant, start) = match (section, item) {
        (Section::History, _) => return None,
        _heading if behind_hashes.len() < text.len() => (true, behind_hashes),
        // Those that are read, and those that the format itself refuses.
        (Section::Group, Some(_)) if line.text.starts_with("- ") => return None,
        (Section::Group, Some(item)) => (is_bold(item) || !is_indented, item),
        (Section::Other, Some(item)) => (is_bold(item) && !is_indented, item),
        (Section::Group, None) => (is_bold(text) && !is_indented, text),
        (Section::Other, None) => return None,
    };
    if is_meant { first_id(start) } else { None }
}

fn first_id(text: &str) -> Option<&str> {
    let is_part = |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '-');
    let text =
        text.trim_start_matches(|character: char| is_invisible(character) || matches!(character, '*' | '_' | '`'));
    let word = text.strip_suffix(text.trim_start_matches(is_part))?;
    let id = word.trim_end_matches('.');
    is_requirement_id(id).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requirements::read;
    use crate::text::Document;

    fn lines_lost(source: &str) -> Vec<u32> {
        let document = Document::new(source);
        let requirements = read(document.lines(), &mut Findings::default());
        let mut findings = Findings::default();
        check(document.lines(), &requirements, &mut findings);
        let spec = orchestrate_core::identifier::SpecId::parse("x").expect("spec");
        let found = findings.finish(&spec, None);
        assert!(found.iter().all(|finding| finding.code == "requirement-lost"));
        found.into_iter().filter_map(|finding| finding.line).collect()
    }

    #[test]
    fn requirements_that_vanish() {
        for line in [
            "### REQ-A1.2 — a",
            "### **REQ-A1.2** a",
            "#### REQ-A1.2",
            "###REQ-A1.2: a",
            "* **REQ-A1.2** a",
            "+ REQ-A1.2 a",
            "1. **REQ-A1.2** a",
            "-\t**REQ-A1.2** a",
            " - **REQ-A1.2** a",
            "**REQ-A1.2** a",
            "## REQ-A1.2 — a",
            "## Other\n- **REQ-A1.2** a",
            "## Other\n### REQ-A1.2",
        ] {
            let source = format!("## REQ-A — a\n- **REQ-A1.1** a (Cites: D-1)\n{line}\n");
            let last = 2 + u32::try_from(line.lines().count()).expect("a count");
            assert_eq!(lines_lost(&source), [last], "{line}");
        }
    }

    #[test]
    fn lines_that_only_speak_of_requirements() {
        for line in [
            "### REQ-A1.1 — its heading",
            "- REQ-A1.2 is refused by the format",
            "  REQ-A1.2 in a wrapped line",
            "REQ-A1.2 in prose",
            "  - REQ-K1.5 in a list of references",
            "  - **REQ-A1.1** again",
            "### REQ-A — a group",
            "```\n### REQ-A1.2\n```",
            "## Changelog\n- **REQ-A1.2** went\n### REQ-A1.2",
            "## Sources\n- **REQ-K1.5** of another",
            "## Scope\n- REQ-A1.2 is out",
        ] {
            let source = format!("## REQ-A — a\n- **REQ-A1.1** a (Cites: D-1)\n{line}\n");
            assert_eq!(lines_lost(&source), [0_u32; 0], "{line}");
        }
    }
}
