//! `tasks.md` of format version 1, cut into what moves and what stays, or refused.

use std::collections::BTreeSet;

use orchestrate_core::identifier::TaskId;

use super::Refusal;
use crate::anchor::sort_key;
use crate::block::Field;
use crate::commonmark::{Blocks, outer_blocks};
use crate::edit::{RawLine, raw_lines};
use crate::parking::{Bullet, bullet};
use crate::text::{is_continuation, line_number};
use crate::{AnnotationKind, Section};

/// The sections that version 2 keeps, in its order.
pub(super) const KEPT: [Section; 3] = [Section::AwaitingInput, Section::Deferred, Section::OutOfScope];

/// A line with its number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) number: u32,
    pub(super) raw: RawLine<'a>,
}

impl<'a> Line<'a> {
    pub(super) fn text(&self) -> &'a str {
        // The file was found to be text before it was cut.
        core::str::from_utf8(self.raw.text).unwrap_or_default()
    }
}

/// A task block.
#[derive(Debug, Clone)]
pub(super) struct Block<'a> {
    pub(super) id: TaskId,
    pub(super) section: Section,
    pub(super) line: u32,
    /// The lines that stay, without the blank ones at the end.
    pub(super) lines: Vec<Line<'a>>,
    /// What its `Status` annotation says, on one line.
    pub(super) status: Option<String>,
}

/// A section that stays.
#[derive(Debug, Clone)]
pub(super) struct Kept<'a> {
    pub(super) section: Section,
    pub(super) heading: Line<'a>,
    /// What stands before the first block.
    pub(super) lines: Vec<Line<'a>>,
}

/// `tasks.md` of format version 1.
#[derive(Debug, Clone, Default)]
pub(super) struct List<'a> {
    /// Header block and prose before the first section.
    pub(super) intro: Vec<Line<'a>>,
    pub(super) kept: Vec<Kept<'a>>,
    pub(super) blocks: Vec<Block<'a>>,
}

/// What CommonMark makes of the file.
struct Rendered {
    blocks: Blocks,
    /// How many bytes stand before the text: a byte order mark.
    mark: usize,
}

impl Rendered {
    fn of(bytes: &[u8]) -> Self {
        // The file was found to be text before it was cut.
        let source = crate::text::read(bytes).map_or("", |text| text.source);
        Self {
            blocks: outer_blocks(source),
            mark: bytes.len() - source.len(),
        }
    }

    /// Returns whether the lines from one to another are a bullet of one paragraph, no more and no less. What goes with
    /// a bullet would otherwise be more than the bullet says, or less.
    fn is_paragraph(&self, first: &Line<'_>, last: &Line<'_>) -> bool {
        let end = last.raw.start + last.text().trim_end().len();
        let start = first.raw.start.checked_sub(self.mark);
        start
            .and_then(|start| self.blocks.item_at(start))
            .is_some_and(|item| item.is_one_paragraph && item.end + self.mark == end)
    }
}

/// Cuts the file.
pub(super) fn read(bytes: &[u8]) -> Result<List<'_>, Refusal> {
    let lines: Vec<Line<'_>> = raw_lines(bytes)
        .into_iter()
        .enumerate()
        .map(|(index, raw)| Line {
            number: line_number(index),
            raw,
        })
        .collect();
    refuse_fences(&lines)?;
    let rendered = Rendered::of(bytes);
    let first = lines
        .iter()
        .position(|line| line.text().starts_with("## "))
        .unwrap_or(lines.len());
    let (intro, rest) = lines.split_at(first);
    if let Some(line) = intro.iter().find(|line| line.text().starts_with("### ")) {
        return Err(Refusal::BeforeSections { line: line.number });
    }
    let mut list = List {
        intro: intro.to_vec(),
        ..List::default()
    };
    let mut seen = Vec::new();
    for part in rest.chunk_by(|_, next| !next.text().starts_with("## ")) {
        let Some((heading, body)) = part.split_first() else {
            continue;
        };
        let section = section_of(heading)?;
        if seen.contains(&section) {
            return Err(Refusal::SecondSection {
                line: heading.number,
                section,
            });
        }
        seen.push(section);
        read_section(section, heading, body, &rendered, &mut list)?;
    }
    refuse_ids(&list)?;
    Ok(list)
}

/// Some readers of the format know fences and some do not; a file on which they differ is nothing to move around.
fn refuse_fences(lines: &[Line<'_>]) -> Result<(), Refusal> {
    let is_heading =
        |line: &&Line<'_>| line.raw.fenced && (line.text().starts_with("## ") || line.text().starts_with("### "));
    if let Some(line) = lines.iter().find(is_heading) {
        return Err(Refusal::FencedHeading { line: line.number });
    }
    let fences = lines.iter().filter(|line| line.text().starts_with("```"));
    let (count, last) = fences.fold((0_usize, 0), |(count, _), line| (count + 1, line.number));
    if count % 2 == 1 {
        return Err(Refusal::OpenFence { line: last });
    }
    Ok(())
}

fn section_of(heading: &Line<'_>) -> Result<Section, Refusal> {
    let name = heading
        .text()
        .strip_prefix("## ")
        .unwrap_or_default()
        .trim_end_matches([' ', '\t']);
    match Section::from_name(name) {
        Some(
            section @ (Section::ForwardPlan
            | Section::InProgress
            | Section::AwaitingInput
            | Section::Completed
            | Section::Deferred
            | Section::OutOfScope),
        ) => Ok(section),
        Some(Section::Tasks | Section::Preamble | Section::Other) | None => Err(Refusal::UnknownSection {
            line: heading.number,
            name: name.to_owned(),
        }),
    }
}

fn read_section<'a>(
    section: Section,
    heading: &Line<'a>,
    body: &[Line<'a>],
    rendered: &Rendered,
    list: &mut List<'a>,
) -> Result<(), Refusal> {
    let first = body
        .iter()
        .position(|line| line.text().starts_with("### "))
        .unwrap_or(body.len());
    let (before, blocks) = body.split_at(first);
    if KEPT.contains(&section) {
        refuse_bullets(section, before)?;
        list.kept.push(Kept {
            section,
            heading: *heading,
            lines: before.to_vec(),
        });
    } else if let Some(line) = before.iter().find(|line| !is_empty(line)) {
        return Err(Refusal::Prose {
            line: line.number,
            section,
        });
    }
    for block in blocks.chunk_by(|_, next| !next.text().starts_with("### ")) {
        list.blocks.push(read_block(section, block, rendered)?);
    }
    Ok(())
}

/// Returns whether a line says that a section is empty, or nothing.
pub(super) fn is_empty(line: &Line<'_>) -> bool {
    let text = line.text().trim();
    text.is_empty() || (text.starts_with("(none") && text.ends_with(')'))
}

/// Refuses what stands between a heading and the first block and would park nothing, or the wrong thing.
fn refuse_bullets(section: Section, lines: &[Line<'_>]) -> Result<(), Refusal> {
    let mut in_reference = false;
    for line in lines {
        match bullet(line.text()) {
            _ if line.raw.fenced => in_reference = false,
            Bullet::Reference { .. } => in_reference = true,
            Bullet::Rejected(_) => return Err(Refusal::BulletId { line: line.number }),
            Bullet::Prose => {
                let continues = in_reference && is_continuation(line.text());
                if section == Section::AwaitingInput && !continues && !is_empty(line) {
                    return Err(Refusal::AwaitingText { line: line.number });
                }
                in_reference = continues;
            }
        }
    }
    Ok(())
}

fn read_block<'a>(section: Section, lines: &[Line<'a>], rendered: &Rendered) -> Result<Block<'a>, Refusal> {
    let (heading, body) = lines.split_first().ok_or(Refusal::Definitions)?;
    let id = task_id(heading)?;
    let mut block = Block {
        id,
        section,
        line: heading.number,
        lines: vec![*heading],
        status: None,
    };
    let mut rest = body;
    while let Some((line, after)) = rest.split_first() {
        let Some(kind) = annotation(line) else {
            block.lines.push(*line);
            rest = after;
            continue;
        };
        let length = after.iter().take_while(|line| is_continuation(line.text())).count();
        let (continuation, after) = after.split_at(length);
        if !rendered.is_paragraph(line, continuation.last().unwrap_or(line)) {
            return Err(Refusal::Annotation {
                line: line.number,
                kind,
            });
        }
        read_annotation(kind, line, continuation, &mut block)?;
        refuse_loose_continuation(kind, after)?;
        rest = after;
    }
    while block.lines.last().is_some_and(|line| line.raw.is_blank()) {
        block.lines.pop();
    }
    if KEPT.contains(&section) {
        refuse_text_behind_fields(&block)?;
    }
    Ok(block)
}

fn task_id(heading: &Line<'_>) -> Result<TaskId, Refusal> {
    let Some(rest) = heading.text().strip_prefix("### Task ") else {
        return Err(Refusal::OtherHeading { line: heading.number });
    };
    let word = rest.split([' ', '\t']).next().unwrap_or_default();
    TaskId::parse(word).map_err(|_| Refusal::TaskId { line: heading.number })
}

fn annotation(line: &Line<'_>) -> Option<AnnotationKind> {
    let rest = line.text().strip_prefix("- **").filter(|_| !line.raw.fenced)?;
    AnnotationKind::ALL.into_iter().find(|kind| {
        rest.strip_prefix(kind.name())
            .is_some_and(|rest| rest.starts_with(":**"))
    })
}

/// Reads an annotation, which goes away; what would be lost with it is refused.
fn read_annotation<'a>(
    kind: AnnotationKind,
    line: &Line<'a>,
    continuation: &[Line<'a>],
    block: &mut Block<'a>,
) -> Result<(), Refusal> {
    let odd = Refusal::Annotation {
        line: line.number,
        kind,
    };
    let is_nested = |line: &Line<'_>| {
        let text = line.text().trim_start();
        ["- ", "* ", "+ ", "```", "~~~", "**Gate:**", "**Dependencies"]
            .iter()
            .any(|start| text.starts_with(start))
    };
    if continuation.iter().any(is_nested) {
        return Err(odd);
    }
    let first = line.text().split_once(":**").map_or("", |(_, text)| text);
    let texts = core::iter::once(first).chain(continuation.iter().map(Line::text));
    let words: Vec<&str> = texts.flat_map(str::split_whitespace).collect();
    let text = words.join(" ");
    match kind {
        AnnotationKind::Status => {
            let lower = text.to_lowercase();
            // In version 2 a task that is given up or replaced is named by a bullet, which a person writes.
            let is_given_up = lower.starts_with("superseded") || lower.starts_with("retired");
            if block.status.is_some() || (is_given_up && !KEPT.contains(&block.section)) {
                return Err(odd);
            }
            block.status = Some(text);
        }
        AnnotationKind::LastActivity => {
            let is_date = crate::edit::date_of(format!("- {text}").as_bytes()).is_some();
            if !is_date || text.len() != "2026-01-01".len() {
                return Err(odd);
            }
        }
        AnnotationKind::Dispatch => {}
    }
    Ok(())
}

/// Refuses an indented paragraph behind an annotation: it is rendered as part of it, but would be left behind.
fn refuse_loose_continuation(kind: AnnotationKind, after: &[Line<'_>]) -> Result<(), Refusal> {
    match after.iter().find(|line| !line.raw.is_blank()) {
        Some(line) if is_continuation(line.text()) => Err(Refusal::Annotation {
            line: line.number,
            kind,
        }),
        Some(_) | None => Ok(()),
    }
}

fn refuse_text_behind_fields(block: &Block<'_>) -> Result<(), Refusal> {
    let mut in_field = false;
    for line in block.lines.iter().skip(1) {
        if Field::starting(line.text()).is_some() {
            in_field = true;
        } else if !(line.raw.is_blank() || in_field && is_continuation(line.text())) {
            return Err(Refusal::ParkedText {
                line: line.number,
                task: block.id.clone(),
            });
        }
    }
    Ok(())
}

fn refuse_ids(list: &List<'_>) -> Result<(), Refusal> {
    let mut numbers = BTreeSet::new();
    for block in &list.blocks {
        let number = block.lines.first().and_then(|heading| sort_key(heading.raw.text));
        if !numbers.insert(number) {
            return Err(Refusal::DuplicateTask {
                line: block.line,
                task: block.id.clone(),
            });
        }
    }
    let ids: BTreeSet<&TaskId> = list.blocks.iter().map(|block| &block.id).collect();
    let converted = list.blocks.iter().filter(|block| KEPT.contains(&block.section));
    let mut parked: BTreeSet<TaskId> = converted.map(|block| block.id.clone()).collect();
    for line in list.kept.iter().flat_map(|kept| &kept.lines) {
        let Bullet::Reference { task, .. } = bullet(line.text()) else {
            continue;
        };
        if line.raw.fenced {
            continue;
        }
        let line = line.number;
        if !ids.contains(&task) {
            return Err(Refusal::BulletWithoutTask { line, task });
        }
        if !parked.insert(task.clone()) {
            return Err(Refusal::ParkedTwice { line, task });
        }
    }
    Ok(())
}
