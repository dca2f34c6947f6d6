//! `requirements.md` (`contract/core.md §1.4, §2.3` check 8): the goal and the requirement bullets.

use std::collections::BTreeSet;

use crate::BundleFile;
use crate::changelog::is_changelog;
use crate::check::Check;
use crate::citation::{citations, is_requirement_id};
use crate::citing::{OwnCitation, own_citations};
use crate::diagnostic::{Findings, Spot};
use crate::field::FieldText;
use crate::source::Source;
use crate::text::{Document, Line, Span, dedented};

pub(crate) mod unread;

/// One requirement bullet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// Its id, as in `REQ-A1.2`.
    pub id: String,
    /// The heading of its group, without the hashes, as in `REQ-A — Reading`.
    pub group: String,
    /// Its text behind the id, with its line breaks, citation included.
    pub text: String,
    /// The decision and requirement ids that it cites, in the order written; repetitions stay.
    pub citations: Vec<String>,
    /// Those of them that name no other bundle beside them.
    pub(crate) own_citations: Vec<OwnCitation>,
    /// It names a requirement that replaces it.
    pub superseded: bool,
    /// The line of its bullet in `requirements.md`.
    pub line: u32,
    /// The span of its id.
    pub id_span: Span,
}

/// A bullet that is being read.
struct Bullet<'a> {
    id: &'a str,
    group: &'a str,
    id_span: Span,
    lines: Vec<&'a str>,
    /// The lines that are no illustration.
    live: FieldText<'a>,
}

/// Returns the requirements in file order. What the format asks of them and they lack is a finding.
pub(crate) fn read<'a>(body: impl Iterator<Item = Line<'a>>, findings: &mut Findings) -> Vec<Requirement> {
    let mut requirements = Vec::new();
    let mut seen = BTreeSet::new();
    let mut group: Option<&str> = None;
    let mut current: Option<Bullet<'_>> = None;
    let mut finish = |bullet: Option<Bullet<'_>>, findings: &mut Findings| {
        requirements.extend(bullet.map(|bullet| bullet.finish(findings)));
    };
    for line in body {
        if line.fenced {
            // An illustration is a part of the text, but nothing in it means anything.
            if let Some(bullet) = &mut current {
                bullet.lines.push(dedented(line.text));
            }
        } else if let Some(heading) = line.text.strip_prefix("## ") {
            finish(current.take(), findings);
            group = heading.starts_with("REQ-").then(|| heading.trim());
        } else if line.text.starts_with("- ") {
            finish(current.take(), findings);
            let Some(group) = group else { continue };
            match bullet(&line) {
                Some((id, id_span, rest)) => {
                    check_duplicate(id, &id_span, &mut seen, findings);
                    let mut live = FieldText::default();
                    live.push(&line, rest);
                    current = Some(Bullet {
                        id,
                        group,
                        id_span,
                        lines: vec![rest],
                        live,
                    });
                }
                None => refuse_bullet(&line, findings),
            }
        } else if let Some(bullet) = &mut current {
            bullet.lines.push(dedented(line.text));
            bullet.live.push(&line, line.text);
        }
    }
    finish(current, findings);
    requirements
}

/// Returns the id of a requirement bullet, its span, and the text behind it.
fn bullet<'a>(line: &Line<'a>) -> Option<(&'a str, Span, &'a str)> {
    const MARK: &str = "- **";
    let (id, rest) = line.text.strip_prefix(MARK)?.split_once("**")?;
    is_requirement_id(id).then(|| (id, line.span(MARK.len()..MARK.len() + id.len()), rest))
}

/// Returns the ids of all requirement bullets, in whatever section they stand (`contract/core.md §2.4`).
pub(crate) fn ids_anywhere(text: &Document<'_>) -> Vec<String> {
    text.lines()
        .filter(|line| !line.fenced)
        .filter_map(|line| bullet(&line).map(|(id, _, _)| id.to_owned()))
        .collect()
}

impl Bullet<'_> {
    fn finish(self, findings: &mut Findings) -> Requirement {
        let text = self.lines.join("\n").trim().to_owned();
        let live = self.live.as_str();
        let cites = live.find("(Cites:");
        let superseded = live.contains("**Superseded-by: REQ-");
        if cites.is_none() && !superseded {
            findings.add(
                Check::RequirementCitation,
                Spot::span(BundleFile::Requirements, self.id_span.clone()),
                format!("{} has no citation annotation (*(Cites: ...)*)", self.id),
                "end the bullet with the decisions or sources it stands on, as in `*(Cites: D-1.)*`",
            );
        }
        let start = cites.unwrap_or(live.len());
        let cited = live.get(start..).unwrap_or_default();
        let own: Vec<_> = own_citations(annotation(cited))
            .into_iter()
            .filter(|(id, _)| *id != self.id)
            .collect();
        let places = own.iter().map(|(_, at)| start + at.start..start + at.end);
        let own_citations = own
            .iter()
            .zip(self.live.spans(places))
            .map(|((id, _), span)| OwnCitation {
                id: (*id).to_owned(),
                span,
            })
            .collect();
        let cited = citations(cited);
        Requirement {
            own_citations,
            citations: cited.into_iter().filter(|cited| cited != self.id).collect(),
            superseded,
            id: self.id.to_owned(),
            group: self.group.to_owned(),
            text,
            line: self.id_span.line,
            id_span: self.id_span,
        }
    }
}

/// Returns the citation alone, of the text that begins with it: up to its last star, else to the end of its paragraph.
fn annotation(text: &str) -> &str {
    let paragraph = text.split_once("\n\n").map_or(text, |(start, _)| start);
    paragraph.split_once(")*").map_or(paragraph, |(start, _)| start)
}

fn check_duplicate<'a>(id: &'a str, span: &Span, seen: &mut BTreeSet<&'a str>, findings: &mut Findings) {
    if !seen.insert(id) {
        findings.add(
            Check::RequirementDuplicate,
            Spot::span(BundleFile::Requirements, span.clone()),
            format!("duplicate REQ-ID {id}"),
            "give it an id of its own",
        );
    }
}

fn refuse_bullet(line: &Line<'_>, findings: &mut Findings) {
    findings.add(
        Check::RequirementBullet,
        Spot::span(BundleFile::Requirements, line.visible()),
        format!(
            "prose-only bullet or non-conforming REQ-ID at requirements.md:{} (a bullet of a REQ group starts with its id in bold)",
            line.number
        ),
        "write `- **REQ-<letter><number>.<number>** …`, or make it a paragraph",
    );
}

/// Returns the text under `## Goal`, with its line breaks; empty when there is none.
pub(crate) fn goal<'a>(body: impl Iterator<Item = Line<'a>>) -> String {
    let is_heading = |line: &Line<'_>| !line.fenced && line.text.starts_with("## ");
    let lines: Vec<&str> = body
        .skip_while(|line| !(is_heading(line) && line.text.trim_end() == "## Goal"))
        .skip(1)
        .take_while(|line| !is_heading(line))
        .map(|line| line.text)
        .collect();
    lines.join("\n").trim().to_owned()
}

/// Adds a finding for each section that a reader of format version 2 looks for and does not find.
pub(crate) fn check_sections(source: &Source<'_>, findings: &mut Findings) {
    if source.is_missing || source.is_refused || source.text.open_fence.is_some() {
        return;
    }
    let (mut has_goal, mut has_changelog) = (false, false);
    for line in source.body().filter(|line| !line.fenced) {
        has_goal |= line.text.trim_end() == "## Goal";
        has_changelog |= line.text.strip_prefix("## ").is_some_and(is_changelog);
    }
    for (is_there, name, help) in [
        (
            has_goal,
            "Goal",
            "add it, and say in it what will be true when all is done",
        ),
        (
            has_changelog,
            "Changelog",
            "add it, with a `- YYYY-MM-DD …` bullet for each change",
        ),
    ] {
        if !is_there {
            let message = format!("there is no `## {name}` section");
            findings.add(Check::RequirementsSection, source.spot(), message, help);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Status;
    use orchestrate_core::identifier::SpecId;

    fn requirements(source: &str) -> (Vec<Requirement>, Vec<String>) {
        let mut findings = Findings::default();
        let found = read(Document::new(source).lines(), &mut findings);
        let shown = findings
            .finish(&SpecId::parse("x").expect("spec"), Some(Status::Ready))
            .into_iter()
            .map(|finding| finding.message)
            .collect();
        (found, shown)
    }

    #[test]
    fn bullets_of_requirement_groups() {
        let (found, findings) = requirements(
            "## Goal\n- **REQ-A1.1** not here\n## REQ-A — a\n- **REQ-A1.1** The tool SHALL\n  do it.\n  *(Cites: D-1, REQ-A1.1, REQ-B2.3; obs:12345678.)*\n```\n- **REQ-A1.9** no\n```\n- **REQ-A1.2** old **Superseded-by: REQ-A1.1**\n\n## Changelog\n- **REQ-A1.3** no\n",
        );
        assert_eq!(findings, [""; 0]);
        assert_eq!(
            found
                .iter()
                .map(|requirement| (requirement.id.as_str(), requirement.line, requirement.superseded))
                .collect::<Vec<_>>(),
            [("REQ-A1.1", 4, false), ("REQ-A1.2", 10, true)]
        );
        assert_eq!(
            (found[0].group.as_str(), found[0].id_span.columns.clone()),
            ("REQ-A — a", 5..13)
        );
        assert_eq!(found[0].citations, ["D-1", "REQ-B2.3"]);
        assert!(
            found[0]
                .text
                .starts_with("The tool SHALL\ndo it.\n*(Cites: D-1, REQ-A1.1, REQ-B2.3; obs:12345678.)*")
        );
    }

    #[test]
    fn own_citations_end_with_the_annotation() {
        let own = |source: &str| {
            let (found, _) = requirements(source);
            let cited = found.iter().flat_map(|requirement| &requirement.own_citations);
            cited
                .map(|cited| format!("{} {}:{}", cited.id, cited.span.line, cited.span.columns.start))
                .collect::<Vec<String>>()
                .join(", ")
        };
        let start = "## REQ-A\n- **REQ-A1.1** é *(Cites: D-1, REQ-A1.1,\n";
        assert_eq!(own(&format!("{start}  D-2.)* D-3\n")), "D-1 2:27, D-2 3:3");
        assert_eq!(own(&format!("{start}  D-2)\n\n### REQ-A1.2\n")), "D-1 2:27, D-2 3:3");
        assert_eq!(own("## REQ-A\n- **REQ-A1.1** D-1\n"), "");
    }

    #[test]
    fn what_the_format_asks_of_a_bullet() {
        let (_, findings) = requirements(
            "## REQ-A\n- **REQ-A1.1** a (Cites: D-1)\n- **REQ-A1.1** b\n- prose\n- **REQ-a1** c\n- **REQ-A1.2 **\n## Other\n- prose\n",
        );
        let starts: Vec<&str> = findings
            .iter()
            .map(|message| message.split(" (").next().unwrap_or_default())
            .collect();
        assert_eq!(
            starts,
            [
                "duplicate REQ-ID REQ-A1.1",
                "REQ-A1.1 has no citation annotation",
                "prose-only bullet or non-conforming REQ-ID at requirements.md:4",
                "prose-only bullet or non-conforming REQ-ID at requirements.md:5",
                "prose-only bullet or non-conforming REQ-ID at requirements.md:6",
            ]
        );
    }

    #[test]
    fn ids_of_an_earlier_state_count_in_every_section() {
        let text = Document::new("## Goal\n- **REQ-A1.1** a\n```\n- **REQ-A1.2** b\n```\n");
        assert_eq!(ids_anywhere(&text), ["REQ-A1.1"]);
        assert_eq!(ids_anywhere(&text.ignoring_fences()), ["REQ-A1.1", "REQ-A1.2"]);
    }
}
