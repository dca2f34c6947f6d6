//! Reference bullets: how a person, or a halt, takes a task out of selection (`contract/core.md §1.8, §2.3` check 16).

use std::collections::{BTreeMap, BTreeSet};

use orchestrate_core::graph::ParkingPlace;
use orchestrate_core::identifier::{TaskId, printable};

use crate::check::Check;
use crate::commonmark::Markdown;
use crate::diagnostic::{Findings, Spot, quoted};
use crate::lookalike::{names_a_task, without_list_marker};
use crate::text::{Line, Span, is_continuation};
use crate::{BundleFile, FormatVersion, Section};

/// A bullet that parks a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceBullet {
    /// The task.
    pub task: TaskId,
    /// The section that holds the bullet.
    pub place: ParkingPlace,
    /// The text of the bullet's first line after the bold id, tabs as blanks; usually it starts with an em dash.
    pub note: String,
    /// The line of the bullet in `tasks.md`.
    pub line: u32,
    /// The last line of the bullet's text, which may be wrapped.
    pub last_line: u32,
    /// The span of the task's id.
    pub task_span: Span,
}

/// What a bullet is to the parked tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Bullet<'a> {
    Prose,
    Reference {
        task: TaskId,
        note: String,
    },
    /// It names a task, but not by an id.
    Rejected(&'a str),
}

const MARK: &str = "- **Task ";

/// Returns what a line in column 0 is to the parked tasks.
pub(crate) fn bullet(line: &str) -> Bullet<'_> {
    let Some((token, rest)) = line.strip_prefix(MARK).and_then(|rest| rest.split_once("**")) else {
        return Bullet::Prose;
    };
    let is_blank = |character: char| character == ' ' || character == '\t';
    if token.contains(is_blank) {
        let is_near_miss = TaskId::parse(token.trim_matches(is_blank)).is_ok()
            || token
                .chars()
                .all(|character| character.is_ascii_digit() || character == '.' || is_blank(character));
        return if is_near_miss {
            Bullet::Rejected(token)
        } else {
            Bullet::Prose
        };
    }
    match TaskId::parse(token) {
        Ok(task) => Bullet::Reference {
            task,
            note: rest.trim_start_matches(is_blank).replace('\t', " "),
        },
        Err(_) => Bullet::Rejected(token),
    }
}

/// Collects the reference bullets while the lines of `tasks.md` go by.
#[derive(Default)]
pub(crate) struct ParkingReader<'a> {
    references: Vec<ReferenceBullet>,
    rejected: Vec<(&'a str, Span)>,
    /// The line before belongs to the last reference.
    is_open: bool,
}

impl<'a> ParkingReader<'a> {
    /// Takes the next line that is no illustration and no heading.
    pub(crate) fn line(
        &mut self,
        line: &Line<'a>,
        section: Section,
        version: Option<FormatVersion>,
        markdown: &Markdown,
        findings: &mut Findings,
    ) {
        let parking = section.parking().filter(|place| place.is_a_persons());
        let is_two = version == Some(FormatVersion::Two);
        let is_passed_over = parking.is_some() && is_two && resembles_reference(line, markdown);
        if self.is_open && is_continuation(line.text) && !is_passed_over {
            if let Some(reference) = self.references.last_mut() {
                reference.last_line = line.number;
            }
            return;
        }
        self.is_open = false;
        let span = |token: &str| line.span(MARK.len()..MARK.len() + token.len());
        match (parking, bullet(line.text)) {
            (Some(_), Bullet::Prose) if is_passed_over => {
                let what = "looks like a bullet that parks a task, but would not park it";
                misplaced(
                    line,
                    what,
                    "write `- **Task <id>** — <why>` in column 0, or begin with another word",
                    findings,
                );
            }
            (Some(place), Bullet::Reference { task, note }) => {
                self.references.push(ReferenceBullet {
                    task_span: span(task.as_str()),
                    task,
                    place,
                    note,
                    line: line.number,
                    last_line: line.number,
                });
                self.is_open = true;
            }
            (Some(_), Bullet::Rejected(token)) => self.rejected.push((token, span(token))),
            (None, Bullet::Reference { .. }) if is_two && section != Section::Preamble => {
                let help = "move it under `## Awaiting input`, `## Deferred` or `## Out of scope`";
                misplaced(
                    line,
                    "names a task but would not park it in this section",
                    help,
                    findings,
                );
            }
            (_, Bullet::Prose) | (None, Bullet::Reference { .. } | Bullet::Rejected(_)) => {}
        }
    }

    /// Returns the names, as written, in bullets that look as if they parked a task and park none.
    pub(crate) fn rejected(&self) -> Vec<String> {
        self.rejected.iter().map(|(token, _)| (*token).to_owned()).collect()
    }

    /// Returns the bullets that park a task, in file order, one for each task.
    pub(crate) fn finish(
        self,
        tasks: &BTreeSet<&TaskId>,
        version: Option<FormatVersion>,
        findings: &mut Findings,
    ) -> Vec<ReferenceBullet> {
        let is_two = version == Some(FormatVersion::Two);
        let mut first: BTreeMap<TaskId, ParkingPlace> = BTreeMap::new();
        let mut kept = Vec::new();
        for reference in self.references {
            let is_unknown = !tasks.contains(&reference.task);
            if is_unknown && is_two {
                refuse_unknown(&reference, findings);
            }
            match first.get(&reference.task) {
                Some(place) if is_two => refuse_second(&reference, *place, findings),
                // In version 1 such a bullet is prose: the section of the block decides.
                Some(_) => {}
                None if is_unknown && !is_two => {}
                None => {
                    first.insert(reference.task.clone(), reference.place);
                    kept.push(reference);
                }
            }
        }
        for (token, span) in self.rejected.iter().filter(|_| is_two) {
            refuse_rejected(token, span, findings);
        }
        kept
    }
}

fn misplaced(line: &Line<'_>, what: &str, help: &str, findings: &mut Findings) {
    findings.add(
        Check::ReferenceMisplaced,
        Spot::span(BundleFile::Tasks, line.visible()),
        format!("{} {what}", quoted(line.text)),
        help,
    );
}

fn refuse_unknown(reference: &ReferenceBullet, findings: &mut Findings) {
    findings.add(
        Check::ReferenceUnknown,
        Spot::span(BundleFile::Tasks, reference.task_span.clone()),
        format!(
            "reference bullet at tasks.md:{} names unknown task id {} ({})",
            reference.line,
            reference.task,
            reference.place.section()
        ),
        "name a task under `## Tasks`",
    );
}

fn refuse_second(reference: &ReferenceBullet, first: ParkingPlace, findings: &mut Findings) {
    let here = reference.place.section();
    let places = if first == reference.place {
        format!("twice in {here}")
    } else {
        format!("{} and {here}", first.section())
    };
    findings.add(
        Check::ReferenceTwice,
        Spot::span(BundleFile::Tasks, reference.task_span.clone()),
        format!(
            "Task {} is named by more than one reference bullet ({places}; one bullet parks a task)",
            reference.task
        ),
        "keep one bullet for each parked task",
    );
}

fn refuse_rejected(token: &str, span: &Span, findings: &mut Findings) {
    let is_shown = token
        .chars()
        .any(|character| !character.is_control() && !character.is_whitespace());
    let shown = if is_shown {
        printable(token)
    } else {
        "(empty or unprintable)".to_owned()
    };
    findings.add(
        Check::ReferenceRejected,
        Spot::span(BundleFile::Tasks, span.clone()),
        format!(
            "reference bullet task id at tasks.md:{} fails the task-id grammar and is rejected: {shown}",
            span.line
        ),
        "write `- **Task <id>** — <why>`",
    );
}

/// Returns whether a line, rendered, is a bullet that begins with a task, while the format passes it over: indented, with
/// another marker, or without the exact bold. A bullet inside another one only when the task is in bold: the others are
/// notes.
fn resembles_reference(line: &Line<'_>, markdown: &Markdown) -> bool {
    let start = line.first_visible();
    let lead = || {
        let lead = markdown.leads(line).find(|lead| lead.begins_item);
        lead.filter(|lead| names_a_task(&lead.text))
    };
    if markdown.is_outer_item(start) {
        let body = line.text.trim_start_matches([' ', '\t']);
        without_list_marker(body).is_some_and(names_a_task) || lead().is_some()
    } else {
        markdown.is_item(start) && lead().is_some_and(|lead| lead.is_bold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bullets_of_the_contract() {
        let id = |text: &str| TaskId::parse(text).expect("id");
        let cases = [
            (
                "- **Task 1** — q\tr",
                Bullet::Reference {
                    task: id("1"),
                    note: "— q r".to_owned(),
                },
            ),
            (
                "- **Task 2.5**",
                Bullet::Reference {
                    task: id("2.5"),
                    note: String::new(),
                },
            ),
            ("- **Task 5. ** x", Bullet::Rejected("5. ")),
            ("- **Task 1 2** x", Bullet::Rejected("1 2")),
            ("- **Task six** x", Bullet::Rejected("six")),
            ("- **Task ** x", Bullet::Rejected("")),
            ("- **Task 4.** x", Bullet::Rejected("4.")),
            ("- **Task a b** x", Bullet::Prose),
            ("- **Task force red.** x", Bullet::Prose),
            ("- **Task 7 unterminated", Bullet::Prose),
            (" - **Task 7** x", Bullet::Prose),
        ];
        for (line, expected) in cases {
            assert_eq!(bullet(line), expected, "{line}");
        }
    }
}
