//! `tasks.md` of format version 1 as preamble and sections, the blocks of the sections that store a state apart.

use std::borrow::Cow;
use std::collections::BTreeMap;

use orchestrate_core::identifier::TaskId;

use super::{PlacementError, STATUS, completion};
use crate::edit::{RawLine, raw_lines};
use crate::park::PLACEHOLDER;
use crate::text::line_number;
use crate::{AnnotationKind, Section};

/// The order in which the sections that have a place are written.
const ORDER: [Section; 6] = [
    Section::ForwardPlan,
    Section::InProgress,
    Section::AwaitingInput,
    Section::Completed,
    Section::Deferred,
    Section::OutOfScope,
];

/// A line without its end, and whether it is part of an illustration.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line<'a> {
    number: u32,
    text: Cow<'a, [u8]>,
    fenced: bool,
}

impl Line<'_> {
    fn is_blank(&self) -> bool {
        !self.fenced && self.text.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
    }

    fn starts(&self, prefix: &str) -> bool {
        !self.fenced && self.text.starts_with(prefix.as_bytes())
    }

    fn is_placeholder(&self) -> bool {
        !self.fenced && self.text.trim_ascii_end() == PLACEHOLDER.as_bytes()
    }

    fn is_continuation(&self) -> bool {
        !self.is_blank() && !self.fenced && matches!(self.text.first(), Some(b' ' | b'\t'))
    }
}

/// A task block: its heading and everything up to the next heading, without blank lines at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block<'a> {
    lines: Vec<Line<'a>>,
}

impl<'a> Block<'a> {
    fn new(lines: &[Line<'a>]) -> Self {
        let kept = lines.len() - lines.iter().rev().take_while(|line| line.is_blank()).count();
        Self {
            lines: lines.get(..kept).unwrap_or_default().to_vec(),
        }
    }

    /// The third word of the heading.
    fn word(&self) -> String {
        let heading = self
            .lines
            .first()
            .map(|line| String::from_utf8_lossy(&line.text).into_owned());
        heading
            .as_deref()
            .and_then(|heading| heading.split_ascii_whitespace().nth(2))
            .unwrap_or_default()
            .to_owned()
    }

    pub(super) fn id(&self) -> Option<TaskId> {
        TaskId::parse(&self.word()).ok()
    }

    /// Returns the first line of the block that begins so, with what follows on it.
    pub(super) fn annotation(&self, prefix: &str) -> Option<(usize, String)> {
        let index = self.lines.iter().position(|line| line.starts(prefix))?;
        let text = self.lines.get(index)?.text.get(prefix.len()..)?;
        Some((index, String::from_utf8_lossy(text).trim_end().to_owned()))
    }

    pub(super) fn replace(&mut self, index: usize, text: String) {
        if let Some(line) = self.lines.get_mut(index) {
            line.text = Cow::Owned(text.into_bytes());
        }
    }

    pub(super) fn push(&mut self, text: String) {
        self.lines.push(Line {
            number: 0,
            text: Cow::Owned(text.into_bytes()),
            fenced: false,
        });
    }

    /// Removes every annotation that begins so, with the lines that it is wrapped over.
    pub(super) fn remove_annotations(&mut self, prefix: &str) {
        let mut inside = false;
        self.lines.retain(|line| {
            inside = line.starts(prefix) || (inside && line.is_continuation());
            !inside
        });
    }

    /// Returns the block without its annotations.
    fn definition(&self) -> Vec<&[u8]> {
        let lines = self.annotated().filter(|(is_annotation, _)| !is_annotation);
        lines.map(|(_, line)| line.text.as_ref()).collect()
    }

    /// Returns the annotations, each with the lines that it is wrapped over, and the number of its first line.
    fn annotations(&self) -> Vec<(u32, Vec<&[u8]>)> {
        let mut found: Vec<(u32, Vec<&[u8]>)> = Vec::new();
        for (_, line) in self.annotated().filter(|(is_annotation, _)| *is_annotation) {
            let text = line.text.trim_ascii_end();
            match found.last_mut() {
                Some((_, lines)) if line.is_continuation() => lines.push(text),
                Some(_) | None => found.push((line.number, vec![text])),
            }
        }
        found
    }

    /// Returns the lines that are not blank, each with whether it is part of an annotation.
    fn annotated(&self) -> impl Iterator<Item = (bool, &Line<'a>)> {
        let mut inside = false;
        let annotated = self.lines.iter().map(move |line| {
            let mut kinds = AnnotationKind::ALL.into_iter();
            let begins = kinds.any(|kind| line.starts(&format!("- **{}:**", kind.name())));
            inside = begins || (inside && line.is_continuation());
            (inside, line)
        });
        annotated.filter(|(_, line)| !line.is_blank())
    }

    /// Returns the line of the first annotation that would be lost if the other block stood for this one. What this tool
    /// wrote of a completion follows from the evidence, and is not lost.
    fn lost_annotation(&self, kept: &Self) -> Option<u32> {
        let kept = kept.annotations();
        let is_kept = |lines: &[&[u8]]| kept.iter().any(|(_, others)| others == lines);
        let is_ours = |lines: &[&[u8]]| {
            let [line] = lines else { return false };
            let text = line.strip_prefix(STATUS.as_bytes());
            text.and_then(|text| core::str::from_utf8(text).ok())
                .is_some_and(|text| completion(text).is_some())
        };
        let mut annotations = self.annotations().into_iter();
        let lost = annotations.find(|(_, lines)| !is_kept(lines) && !is_ours(lines));
        lost.map(|(number, _)| number)
    }
}

/// What kind of section a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartKind {
    /// Its blocks are placed by the evidence.
    Stored(Section),
    /// A person's: what stands in it stays.
    Persons(Section),
    /// A section of another name: likewise.
    Other,
}

/// One section.
#[derive(Debug, Clone)]
struct Part<'a> {
    kind: PartKind,
    heading: Line<'a>,
    /// Everything of a section that stays; of another what stands before its first heading.
    body: Vec<Line<'a>>,
    blocks: Vec<Block<'a>>,
    /// Headings that are no tasks', with their text: no word of a person is dropped.
    notes: Vec<Block<'a>>,
}

/// The whole file.
#[derive(Debug, Clone)]
pub(super) struct Cut<'a> {
    preamble: Vec<Line<'a>>,
    parts: Vec<Part<'a>>,
}

/// Cuts the file.
pub(super) fn cut(bytes: &[u8]) -> Result<Cut<'_>, PlacementError> {
    let text = crate::text::read(bytes).map_err(|unreadable| PlacementError::NotText {
        line: unreadable.line,
        what: unreadable.what,
    })?;
    if let Some(line) = text.open_fence {
        return Err(PlacementError::OpenFence(line));
    }
    let lines = without_conflicts(&raw_lines(bytes));
    let is_heading = |line: &Line<'_>| line.text.starts_with(b"## ") || line.text.starts_with(b"### ");
    if let Some(line) = lines.iter().find(|line| line.fenced && is_heading(line)) {
        return Err(PlacementError::FencedHeading(line.number));
    }
    let first = lines
        .iter()
        .position(|line| kind(line).is_some_and(|kind| kind != PartKind::Other))
        .unwrap_or(lines.len());
    let (preamble, rest) = lines.split_at(first);
    let mut file = Cut {
        preamble: preamble.to_vec(),
        parts: Vec::new(),
    };
    let mut seen: BTreeMap<String, Block<'_>> = BTreeMap::new();
    for part in rest.chunk_by(|_, next| kind(next).is_none()) {
        if let Some((heading, body)) = part.split_first()
            && let Some(kind) = kind(heading)
        {
            file.read_part(kind, heading, body, &mut seen)?;
        }
    }
    Ok(file)
}

fn kind(line: &Line<'_>) -> Option<PartKind> {
    let name = line.text.strip_prefix(b"## ").filter(|_| !line.fenced)?;
    let section = core::str::from_utf8(name.trim_ascii_end())
        .ok()
        .and_then(Section::from_name);
    Some(match section {
        Some(section @ (Section::ForwardPlan | Section::InProgress | Section::Completed)) => PartKind::Stored(section),
        Some(section @ (Section::AwaitingInput | Section::Deferred | Section::OutOfScope)) => {
            PartKind::Persons(section)
        }
        Some(Section::Preamble | Section::Tasks | Section::Other) | None => PartKind::Other,
    })
}

/// Drops the marks of a conflict, exactly those: a line of seven equal signs elsewhere underlines a heading.
fn without_conflicts<'a>(raw: &[RawLine<'a>]) -> Vec<Line<'a>> {
    let is_mark = |text: &[u8], mark: u8| {
        text.get(..7)
            .is_some_and(|start| start.iter().all(|byte| *byte == mark))
            && matches!(text.get(7), None | Some(b' ' | b'\t'))
    };
    let mut in_conflict = false;
    let mut kept = Vec::new();
    for (index, line) in raw.iter().enumerate() {
        let opens = is_mark(line.text, b'<');
        let closes = in_conflict && is_mark(line.text, b'>');
        let divides = in_conflict && (is_mark(line.text, b'=') || is_mark(line.text, b'|'));
        if !line.fenced && (opens || closes || divides) {
            in_conflict = !closes;
            continue;
        }
        kept.push(Line {
            number: line_number(index),
            text: Cow::Borrowed(line.text),
            fenced: line.fenced,
        });
    }
    kept
}

impl<'a> Cut<'a> {
    fn read_part(
        &mut self,
        kind: PartKind,
        heading: &Line<'a>,
        body: &[Line<'a>],
        seen: &mut BTreeMap<String, Block<'a>>,
    ) -> Result<(), PlacementError> {
        let known = self
            .parts
            .iter()
            .position(|part| part.kind == kind && (kind != PartKind::Other || part.heading.text == heading.text));
        let index = known.unwrap_or(self.parts.len());
        if known.is_none() {
            self.parts.push(Part {
                kind,
                heading: heading.clone(),
                body: Vec::new(),
                blocks: Vec::new(),
                notes: Vec::new(),
            });
        }
        let Some(part) = self.parts.get_mut(index) else {
            return Ok(());
        };
        let PartKind::Stored(_) = kind else {
            part.body.extend_from_slice(body);
            return Ok(());
        };
        let first = body.iter().position(|line| line.starts("### ")).unwrap_or(body.len());
        let (loose, blocks) = body.split_at(first);
        part.body
            .extend(loose.iter().filter(|line| !line.is_placeholder()).cloned());
        for lines in blocks.chunk_by(|_, next| !next.starts("### ")) {
            let block = Block::new(lines);
            let number = lines.first().map_or(0, |line| line.number);
            let is_task = lines.first().is_some_and(|line| {
                let rest = line.text.strip_prefix(b"### Task ");
                rest.and_then(<[u8]>::first).is_some_and(u8::is_ascii_digit)
            });
            let word = block.word();
            match seen.get(&word) {
                _ if !is_task => part.notes.push(block),
                Some(earlier) if earlier.definition() == block.definition() => {
                    if let Some(line) = block.lost_annotation(earlier) {
                        return Err(PlacementError::Annotated { task: word, line });
                    }
                }
                Some(_) => {
                    return Err(PlacementError::Differs {
                        task: word,
                        line: number,
                    });
                }
                None => {
                    seen.insert(word, block.clone());
                    part.blocks.push(block);
                }
            }
        }
        Ok(())
    }

    /// Takes the blocks of the sections that store a state, in file order.
    pub(super) fn take_blocks(&mut self) -> Vec<(Section, Block<'a>)> {
        let mut taken: Vec<(Section, Block<'a>)> = Vec::new();
        for part in &mut self.parts {
            if let PartKind::Stored(section) = part.kind {
                taken.extend(part.blocks.drain(..).map(|block| (section, block)));
            }
        }
        // A section that was written twice is one part: the order is that of the lines.
        taken.sort_by_key(|(_, block)| block.lines.first().map_or(0, |line| line.number));
        taken
    }

    /// Takes one of these blocks.
    pub(super) fn take_block(&mut self, task: &TaskId) -> Option<Block<'a>> {
        let blocks = self.parts.iter_mut().map(|part| &mut part.blocks);
        blocks.into_iter().find_map(|blocks| {
            let index = blocks.iter().position(|block| block.id().as_ref() == Some(task))?;
            Some(blocks.remove(index))
        })
    }

    /// Takes a block from a section of a person's.
    pub(super) fn take_parked(&mut self, section: Section, task: &TaskId) -> Option<Block<'a>> {
        let part = self
            .parts
            .iter_mut()
            .find(|part| part.kind == PartKind::Persons(section))?;
        let is_start = |line: &Line<'_>| {
            line.starts("### Task ")
                && Block {
                    lines: vec![line.clone()],
                }
                .id()
                .as_ref()
                    == Some(task)
        };
        let start = part.body.iter().position(is_start)?;
        let behind = part.body.get(start + 1..)?;
        let length = behind
            .iter()
            .position(|line| line.starts("### "))
            .unwrap_or(behind.len());
        let lines: Vec<Line<'a>> = part.body.drain(start..start + 1 + length).collect();
        Some(Block::new(&lines))
    }

    pub(super) fn has(&self, section: Section) -> bool {
        self.part(section).is_some()
    }

    fn part(&self, section: Section) -> Option<&Part<'a>> {
        let is_it = |kind| matches!(kind, PartKind::Stored(found) | PartKind::Persons(found) if found == section);
        self.parts.iter().find(|part| is_it(part.kind))
    }

    /// Puts a block at the end of a section, which is made where it is not there.
    pub(super) fn put(&mut self, section: Section, block: Block<'a>) {
        let is_it = |kind| matches!(kind, PartKind::Stored(found) | PartKind::Persons(found) if found == section);
        if let Some(part) = self.parts.iter_mut().find(|part| is_it(part.kind)) {
            let is_empty = part.body.iter().all(|line| line.is_blank() || line.is_placeholder());
            if matches!(part.kind, PartKind::Persons(_)) && is_empty {
                part.body.clear();
            }
            part.blocks.push(block);
            return;
        }
        let heading = Line {
            number: 0,
            text: Cow::Owned(format!("## {}", section.name()).into_bytes()),
            fenced: false,
        };
        self.parts.push(Part {
            kind: PartKind::Stored(section),
            heading,
            body: Vec::new(),
            blocks: vec![block],
            notes: Vec::new(),
        });
    }

    /// Puts a block before the first one of a higher number in a section, so that it stands where it stood among tasks that
    /// are in order.
    pub(super) fn put_in_order(&mut self, section: Section, block: Block<'a>) {
        let id = block.id();
        self.put(section, block);
        let is_it = |part: &&mut Part<'a>| part.kind == PartKind::Stored(section);
        if let Some(part) = self.parts.iter_mut().find(is_it)
            && let Some(index) = part.blocks.iter().position(|other| other.id() > id)
        {
            part.blocks[index..].rotate_right(1);
        }
    }

    /// Returns the file's bytes.
    pub(super) fn render(&self, end: &str) -> Vec<u8> {
        let mut page = Page {
            bytes: Vec::new(),
            gap: false,
            end,
        };
        page.lines(&self.preamble);
        let ordered = ORDER.into_iter().filter_map(|section| self.part(section));
        let others = self.parts.iter().filter(|part| part.kind == PartKind::Other);
        for part in ordered.chain(others) {
            page.gap = true;
            page.line(&part.heading);
            page.gap = true;
            page.lines(&part.body);
            for block in part.blocks.iter().chain(&part.notes) {
                page.gap = true;
                page.lines(&block.lines);
            }
            let is_empty = part.body.iter().all(Line::is_blank) && part.blocks.is_empty() && part.notes.is_empty();
            if is_empty && part.kind != PartKind::Other {
                page.gap = true;
                page.line(&Line {
                    number: 0,
                    text: Cow::Borrowed(PLACEHOLDER.as_bytes()),
                    fenced: false,
                });
            }
        }
        page.bytes
    }
}

/// Lines being written: one blank line where there were several, none at either end.
struct Page<'e> {
    bytes: Vec<u8>,
    gap: bool,
    end: &'e str,
}

impl Page<'_> {
    fn lines(&mut self, lines: &[Line<'_>]) {
        for line in lines {
            if line.is_blank() {
                self.gap = true;
            } else {
                self.line(line);
            }
        }
    }

    fn line(&mut self, line: &Line<'_>) {
        if self.gap && !self.bytes.is_empty() {
            self.bytes.extend(self.end.as_bytes());
        }
        self.gap = false;
        self.bytes.extend(line.text.as_ref());
        self.bytes.extend(self.end.as_bytes());
    }
}
