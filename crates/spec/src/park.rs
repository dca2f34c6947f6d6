//! Reference bullets written and removed (`contract/core.md §1.8, §14.2`): how a person parks a task of format version 2.
//!
//! Takes the bytes of `tasks.md` and returns them with that one change; every other byte stays, line ends included.
//! Owns no state.

use orchestrate_core::graph::ParkingPlace;
use orchestrate_core::identifier::{TaskId, printable};
use orchestrate_core::words::one_line;

use crate::parking::{Bullet, bullet};
use crate::text::{Line, Text, is_blank, is_continuation, line_number};

/// What stands in a section that holds nothing.
pub(crate) const PLACEHOLDER: &str = "(none yet)";

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
    /// The reason holds nothing that can be read.
    #[error("the reason is empty: say why the task is parked")]
    NoReason,
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
    let end = source.line_end(section.start.saturating_sub(1));
    let line = format!("- **Task {task}** — {reason}{end}");
    if let Some(index) = section.clone().find(|index| is_placeholder(&source, *index)) {
        return Ok(source.replace(index..index + 1, &line));
    }
    match section.clone().rfind(|index| has_text(&source, *index)) {
        Some(last) => {
            let follows_list = source
                .text
                .lines
                .get(last)
                .is_some_and(|line| line.text.starts_with("- ") || line.text.starts_with([' ', '\t']));
            let gap = if follows_list { "" } else { end };
            Ok(source.replace(last + 1..last + 1, &format!("{gap}{line}")))
        }
        None => {
            let blanks = section.len();
            let tail = if section.end < source.text.lines.len() && blanks < 2 {
                end
            } else {
                ""
            };
            let start = section.start + blanks.min(1);
            let gap = if blanks == 0 { end } else { "" };
            Ok(source.replace(start..start, &format!("{gap}{line}{tail}")))
        }
    }
}

/// Returns `tasks.md` without the bullet that parks the task, its wrapped lines included. A section that has nothing
/// else gets its placeholder back.
///
/// # Errors
/// When no bullet parks the task, or more than one does.
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
    let wrapped = source.text.lines.get(start + 1..).unwrap_or_default();
    let wrapped = wrapped.iter().take_while(|line| is_continuation(line.text));
    let end = start + 1 + wrapped.count();
    let section = section_around(&source, place, start).ok_or(ParkError::NoSection(place))?;
    let is_alone = !section
        .filter(|index| !(start..end).contains(index))
        .any(|index| has_text(&source, index));
    if is_alone {
        let placeholder = format!("{PLACEHOLDER}{}", source.line_end(start));
        return Ok(source.replace(start..end, &placeholder));
    }
    let is_blank_line = |index: usize| index < source.text.lines.len() && !has_text(&source, index);
    // The blank line that stood before it and the one behind it would be two.
    let stands_apart = start.checked_sub(1).is_some_and(is_blank_line) && is_blank_line(end);
    Ok(source.replace(start..end + usize::from(stands_apart), ""))
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

    /// Returns the offset in the bytes at which a line starts; the end for the index behind the last line.
    fn start_of(&self, index: usize) -> usize {
        let mark = self.bytes.len() - self.text.source.len();
        let line = self.text.lines.get(index);
        line.map_or(self.bytes.len(), |line| mark + line.start)
    }

    /// Returns the line end that the file uses at a line: that line's own, or that of the first line where it has none.
    fn line_end(&self, index: usize) -> &'static str {
        let line = |index: usize| &self.bytes[self.start_of(index)..self.start_of(index + 1)];
        let own = line(index);
        let end = if own.ends_with(b"\n") { own } else { line(0) };
        if end.ends_with(b"\r\n") { "\r\n" } else { "\n" }
    }

    /// Returns the file with whole lines in place of the lines of a range. A last line without an end gets one before
    /// lines are put behind it.
    fn replace(&self, range: core::ops::Range<usize>, lines: &str) -> Vec<u8> {
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
fn sections(source: &Source<'_>) -> Vec<(ParkingPlace, core::ops::Range<usize>)> {
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

fn section(source: &Source<'_>, wanted: ParkingPlace) -> Option<core::ops::Range<usize>> {
    sections(source)
        .into_iter()
        .find(|(place, _)| *place == wanted)
        .map(|(_, lines)| lines)
}

fn section_around(source: &Source<'_>, wanted: ParkingPlace, index: usize) -> Option<core::ops::Range<usize>> {
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
