//! Reference bullets written and removed (`contract/core.md §1.8, §14.2`): how a person parks a task of format version 2.
//!
//! Takes the bytes of `tasks.md` and returns them with that one change; every other byte stays, line ends included.
//! Owns no state.

use core::ops::Range;

use orchestrate_core::graph::ParkingPlace;
use orchestrate_core::identifier::{TaskId, printable};
use orchestrate_core::words::one_line;

use crate::commonmark::{Blocks, outer_blocks};
use crate::parking::{Bullet, bullet};
use crate::text::{Line, Text, is_blank, is_continuation, line_number};

/// What stands in a section that holds nothing.
pub const PLACEHOLDER: &str = "(none yet)";

/// Why a task was not parked or unparked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParkError {
    /// The bytes are no text.
    #[error("tasks.md cannot be changed: line {line} holds {what}")]
    NotText {
        /// Where.
        line: u32,
        /// What is there.
        what: &'static str,
    },
    /// A code fence is open at the end of the file, so its sections cannot be told.
    #[error("tasks.md cannot be changed: the code fence of line {0} is never closed")]
    OpenFence(u32),
    /// There is no such section.
    #[error("tasks.md has no section `## {}`", .0.section())]
    NoSection(ParkingPlace),
    /// No task has that id.
    #[error("there is no task {0}")]
    NoTask(TaskId),
    /// The task is parked already.
    #[error("task {task} is parked already, under {} (line {line})", .place.section())]
    Parked {
        /// The task.
        task: TaskId,
        /// Where.
        place: ParkingPlace,
        /// The line of the bullet.
        line: u32,
    },
    /// The task is not parked.
    #[error("task {0} is not parked")]
    NotParked(TaskId),
    /// The task is parked by more than one bullet.
    #[error("task {task} is parked by {count} bullets")]
    ParkedTwice {
        /// The task.
        task: TaskId,
        /// How many there are.
        count: usize,
    },
    /// Lines that the format takes for a part of the bullet are rendered as something else.
    #[error("where the bullet of task {task} ends is unclear: {}, but not as it is rendered", belong(*.from, *.to))]
    UnclearEnd {
        /// The task.
        task: TaskId,
        /// The first of these lines.
        from: u32,
        /// The last of them.
        to: u32,
    },
    /// Without the bullet, what stands behind it would be rendered as a part of something else.
    #[error("without the bullet of task {task}, line {line} would be rendered as a part of what stands above it")]
    Joined {
        /// The task.
        task: TaskId,
        /// The line behind the bullet.
        line: u32,
    },
    /// The reason holds nothing that can be read.
    #[error("the reason is empty: say why the task is parked")]
    NoReason,
}

fn belong(from: u32, to: u32) -> String {
    if from == to {
        format!("line {from} belongs to it by its indentation")
    } else {
        format!("lines {from} to {to} belong to it by their indentation")
    }
}

/// Returns `tasks.md` with a bullet that parks the task. Every other line stays, but for a placeholder it replaces.
///
/// # Errors
/// When there is no such task or section, the task is parked already, or the reason is empty.
pub fn park(tasks: &[u8], task: &TaskId, place: ParkingPlace, reason: &str) -> Result<Vec<u8>, ParkError> {
    let source = Source::read(tasks)?;
    let reason = one_line(reason);
    if reason.is_empty() {
        return Err(ParkError::NoReason);
    }
    let reason = printable(&reason);
    if !has_task(&source, task) {
        return Err(ParkError::NoTask(task.clone()));
    }
    if let Some((place, index)) = bullets(&source, task).first() {
        return Err(ParkError::Parked {
            task: task.clone(),
            place: *place,
            line: line_number(*index),
        });
    }
    let section = section(&source, place).ok_or(ParkError::NoSection(place))?;
    let bullet = format!("- **Task {task}** — {reason}");
    Ok(match site(&source, &section) {
        Site::Placeholder(index) => {
            let (blanks, end) = source.tail(index);
            source.replace(index..index + 1, &format!("{bullet}{blanks}{end}"))
        }
        Site::Behind { index, gap } => {
            // The bullet ends as the line above it does; behind a file without a final line end, there is none after it.
            let end = source.line_end(index);
            let gap = end.repeat(gap);
            let is_final = index + 1 == source.text.lines.len() && !source.bytes.ends_with(b"\n");
            let tail = if is_final { "" } else { end };
            source.replace(index + 1..index + 1, &format!("{gap}{bullet}{tail}"))
        }
    })
}

/// How many blank lines stand before a bullet that took no placeholder's place, where one could have stood there: by them
/// [`unpark`] tells, so that parking and unparking give the file back.
const NO_PLACEHOLDER: usize = 2;

/// Where the bullet of a task goes.
enum Site {
    /// In the place of the placeholder of that line.
    Placeholder(usize),
    /// Behind that line, the section's last one with text or its heading.
    Behind {
        index: usize,
        /// The number of blank lines between.
        gap: usize,
    },
}

/// Returns where the bullet of a task goes in a section. A placeholder is replaced where it is the last text of the section
/// and stands for its whole list; one that does not is a person's word.
fn site(source: &Source<'_>, section: &Range<usize>) -> Site {
    let last = section.clone().rfind(|index| has_text(source, *index));
    let Some(last) = last else {
        return Site::Behind {
            index: section.start.saturating_sub(1),
            gap: NO_PLACEHOLDER,
        };
    };
    if is_placeholder(source, last) && stands_for_a_list(source, section, last) {
        return Site::Placeholder(last);
    }
    let gap = if is_of_a_list(source, last) { 0 } else { NO_PLACEHOLDER };
    Site::Behind { index: last, gap }
}

/// Returns whether a line stands where the list of a section begins: below the heading, or a blank line below text that
/// is no list.
fn stands_for_a_list(source: &Source<'_>, section: &Range<usize>, index: usize) -> bool {
    let above = (section.start..index).rfind(|above| has_text(source, *above));
    match above {
        Some(above) => index - above == 2 && !is_of_a_list(source, above),
        None => index - section.start != NO_PLACEHOLDER,
    }
}

/// Returns whether a line is rendered as part of a bullet.
fn is_of_a_list(source: &Source<'_>, index: usize) -> bool {
    let start = source.offset(index);
    let items = outer_blocks(source.text.source).items;
    items.iter().any(|item| (item.start..item.end).contains(&start))
}

/// Returns `tasks.md` without the bullet that parks the task, the whole list item that it begins. A section
/// that has nothing else gets its placeholder back.
///
/// # Errors
/// When no bullet parks the task, or more than one does, or when it cannot be told what goes with the bullet.
pub fn unpark(tasks: &[u8], task: &TaskId) -> Result<Vec<u8>, ParkError> {
    let source = Source::read(tasks)?;
    let found = bullets(&source, task);
    let (place, start) = match found.as_slice() {
        [only] => *only,
        [] => return Err(ParkError::NotParked(task.clone())),
        several => {
            return Err(ParkError::ParkedTwice {
                task: task.clone(),
                count: several.len(),
            });
        }
    };
    let end = item_end(&source, start, task)?;
    let section = section_around(&source, place, start).ok_or(ParkError::NoSection(place))?;
    let is_last = !(end..section.end).any(|index| has_text(&source, index));
    if is_last && stands_for_a_list(&source, &section, start) {
        let (blanks, _) = source.tail(start);
        let (_, line_end) = source.tail(end - 1);
        return Ok(source.replace(start..end, &format!("{PLACEHOLDER}{blanks}{line_end}")));
    }
    let is_blank_line = |index: usize| section.contains(&index) && !has_text(&source, index);
    let gap = (section.start..start)
        .rev()
        .take_while(|index| is_blank_line(*index))
        .count();
    let above = start - gap;
    let stood_apart = is_last && (above == section.start || !is_of_a_list(&source, above - 1));
    let removed_gap = if stood_apart && gap == NO_PLACEHOLDER {
        gap
    } else {
        // The blank line that stood before it and the one behind it would be two.
        usize::from(gap > 0 && is_blank_line(end))
    };
    let removed = start - removed_gap..end;
    let mut changed = source.replace(removed.clone(), "");
    if end == source.text.lines.len() && !source.bytes.ends_with(b"\n") {
        without_final_end(&mut changed);
    }
    refuse_joined(&source, removed, &changed, task)?;
    Ok(changed)
}

/// A file whose last line has no end keeps none.
fn without_final_end(bytes: &mut Vec<u8>) {
    if bytes.ends_with(b"\n") {
        bytes.pop();
        if bytes.ends_with(b"\r") {
            bytes.pop();
        }
    }
}

/// Returns the index behind the last line of the bullet that begins at a line: the whole list item, with every paragraph
/// it holds. Refused where the lines that the format takes for it are rendered as something else.
fn item_end(source: &Source<'_>, start: usize, task: &TaskId) -> Result<usize, ParkError> {
    let lines = &source.text.lines;
    let behind = lines.get(start + 1..).unwrap_or_default();
    let wrapped = start + 1 + behind.iter().take_while(|line| is_continuation(line.text)).count();
    let unclear = |from: usize, to: usize| ParkError::UnclearEnd {
        task: task.clone(),
        from: line_number(from),
        to: line_number(to.saturating_sub(1)),
    };
    let item = lines
        .get(start)
        .and_then(|line| outer_blocks(source.text.source).item_at(line.start));
    let Some(item) = item else {
        return Err(unclear(start, wrapped));
    };
    let end = lines.partition_point(|line| line.start < item.end);
    if end < wrapped {
        Err(unclear(end, wrapped))
    } else {
        Ok(end)
    }
}

/// Refuses a removal after which what is left is rendered as other blocks than before: a line behind the bullet would
/// belong to what stands above it.
fn refuse_joined(source: &Source<'_>, removed: Range<usize>, changed: &[u8], task: &TaskId) -> Result<(), ParkError> {
    let (first, last) = (source.offset(removed.start), source.offset(removed.end));
    let moved = |start: usize| if start < last { start } else { start - (last - first) };
    let starts = |blocks: Blocks| -> (Vec<usize>, Vec<usize>) {
        let items = blocks.items.iter().map(|item| item.start).collect();
        (items, blocks.others)
    };
    let (items, others) = starts(outer_blocks(source.text.source));
    let is_left = |start: &usize| !(first..last).contains(start);
    let expected: (Vec<usize>, Vec<usize>) = (
        items.into_iter().filter(is_left).map(moved).collect(),
        others.into_iter().filter(is_left).map(moved).collect(),
    );
    // Cutting out whole lines leaves text.
    let found = crate::text::read(changed).map(|text| starts(outer_blocks(text.source)));
    if found.is_ok_and(|found| found == expected) {
        Ok(())
    } else {
        Err(ParkError::Joined {
            task: task.clone(),
            line: line_number(removed.end),
        })
    }
}

/// The file that is changed: its bytes, and its text without a byte order mark.
struct Source<'a> {
    bytes: &'a [u8],
    text: Text<'a>,
}

impl<'a> Source<'a> {
    /// Reads the file; one whose sections cannot be told is refused.
    fn read(bytes: &'a [u8]) -> Result<Self, ParkError> {
        let text = crate::text::read(bytes).map_err(|unreadable| ParkError::NotText {
            line: unreadable.line,
            what: unreadable.what,
        })?;
        match text.open_fence {
            Some(line) => Err(ParkError::OpenFence(line)),
            None => Ok(Self { bytes, text }),
        }
    }

    /// Returns the offset in the text at which a line starts; the end for the index behind the last line.
    fn offset(&self, index: usize) -> usize {
        let line = self.text.lines.get(index);
        line.map_or(self.text.source.len(), |line| line.start)
    }

    /// The same in the bytes.
    fn start_of(&self, index: usize) -> usize {
        self.bytes.len() - self.text.source.len() + self.offset(index)
    }

    /// Returns the line end that the file uses at a line: that line's own, or that of the first line where it has none.
    fn line_end(&self, index: usize) -> &'static str {
        let line = |index: usize| &self.bytes[self.start_of(index)..self.start_of(index + 1)];
        let own = line(index);
        let end = if own.ends_with(b"\n") { own } else { line(0) };
        if end.ends_with(b"\r\n") { "\r\n" } else { "\n" }
    }

    /// Returns the blanks at the end of a line, and its own line end.
    fn tail(&self, index: usize) -> (&'a str, &'static str) {
        let line = self.text.lines.get(index).map_or("", |line| line.text);
        let blanks = line.trim_end_matches([' ', '\t']).len();
        let own = &self.bytes[self.start_of(index)..self.start_of(index + 1)];
        let end = match own {
            [.., b'\r', b'\n'] => "\r\n",
            [.., b'\n'] => "\n",
            _ => "",
        };
        (line.get(blanks..).unwrap_or_default(), end)
    }

    /// Returns the file with whole lines in place of the lines of a range. A last line without an end gets one before
    /// lines are put behind it.
    fn replace(&self, range: Range<usize>, lines: &str) -> Vec<u8> {
        let mut changed = self.bytes[..self.start_of(range.start)].to_vec();
        if !lines.is_empty() && changed.last().is_some_and(|last| *last != b'\n') {
            changed.extend(self.line_end(0).as_bytes());
        }
        changed.extend(lines.as_bytes());
        changed.extend(&self.bytes[self.start_of(range.end)..]);
        changed
    }
}

/// Returns the payload section that a line opens, and whether it opens any section.
fn heading(line: &Line<'_>) -> Option<Option<ParkingPlace>> {
    let name = line.text.strip_prefix("## ").filter(|_| !line.fenced)?;
    let name = name.trim_end_matches([' ', '\t']);
    Some(ParkingPlace::BULLETS.into_iter().find(|place| place.section() == name))
}

/// Returns the lines of every payload section, with its place.
fn sections(source: &Source<'_>) -> Vec<(ParkingPlace, Range<usize>)> {
    let lines = &source.text.lines;
    let headings: Vec<(usize, Option<ParkingPlace>)> = lines
        .iter()
        .enumerate()
        .filter_map(|(index, line)| Some((index, heading(line)?)))
        .collect();
    let ends = headings.iter().skip(1).map(|(index, _)| *index).chain([lines.len()]);
    headings
        .iter()
        .zip(ends)
        .filter_map(|((index, place), end)| Some(((*place)?, index + 1..end)))
        .collect()
}

fn section(source: &Source<'_>, wanted: ParkingPlace) -> Option<Range<usize>> {
    sections(source)
        .into_iter()
        .find(|(place, _)| *place == wanted)
        .map(|(_, lines)| lines)
}

fn section_around(source: &Source<'_>, wanted: ParkingPlace, index: usize) -> Option<Range<usize>> {
    sections(source)
        .into_iter()
        .find(|(place, lines)| *place == wanted && lines.contains(&index))
        .map(|(_, lines)| lines)
}

/// Returns the lines of the bullets that park the task.
fn bullets(source: &Source<'_>, task: &TaskId) -> Vec<(ParkingPlace, usize)> {
    let mut found = Vec::new();
    for (place, lines) in sections(source) {
        for index in lines {
            let Some(line) = source.text.lines.get(index).filter(|line| !line.fenced) else {
                continue;
            };
            match bullet(line.text) {
                Bullet::Reference { task: named, .. } if named == *task => found.push((place, index)),
                Bullet::Reference { .. } | Bullet::Rejected(_) | Bullet::Prose => {}
            }
        }
    }
    found
}

fn has_task(source: &Source<'_>, task: &TaskId) -> bool {
    let lines = source.text.lines.iter().filter(|line| !line.fenced);
    lines
        .filter_map(|line| line.text.strip_prefix("### Task "))
        .any(|rest| rest.split([' ', '\t']).next() == Some(task.as_str()))
}

fn has_text(source: &Source<'_>, index: usize) -> bool {
    source.text.lines.get(index).is_some_and(|line| !is_blank(line.text))
}

fn is_placeholder(source: &Source<'_>, index: usize) -> bool {
    source
        .text
        .lines
        .get(index)
        .is_some_and(|line| !line.fenced && line.text.trim_end_matches([' ', '\t']) == PLACEHOLDER)
}

#[cfg(test)]
mod tests;
