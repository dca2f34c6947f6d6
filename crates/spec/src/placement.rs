//! Where the tasks of format version 1 stand in `tasks.md` (`contract/core.md §8.2, §8.3, §14.2`).
//!
//! Version 1 stores in a section what version 2 derives. The one writer of that snapshot works here, as a function of the
//! text and of what the evidence says: bytes in, bytes out, no definition of a task changed, no block and no word of a
//! person lost. Pure; the caller reads, locks and writes. Owns no state.

mod cut;
mod status;

use std::collections::BTreeMap;

use orchestrate_core::graph::ParkingPlace;
use orchestrate_core::identifier::{TaskId, printable};
use orchestrate_core::words::one_line;

use self::cut::{Block, Cut, cut};
use crate::anchor::task_definitions;
use crate::edit::line_end;
use crate::{Completion, Section};

pub use status::{derived_status, stored_status, with_stored_status};

/// What the evidence says of a task, as far as its place depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It has landed, with the stamp of its landing where one is known.
    Completed(Option<Stamp>),
    /// Somebody works on it, or may.
    InProgress,
    /// Nobody does, and it has not landed.
    Open,
    /// It could not be told: the block stays where it is (law L4).
    Unknown,
}

/// When a task landed, and by which pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// The number of the pull request, where one landed it.
    pub pull_request: Option<u64>,
    /// The day.
    pub merged: crate::Date,
}

impl Stamp {
    fn line(&self) -> String {
        match self.pull_request {
            Some(number) => format!("{STATUS}Completed · PR #{number} merged {}", self.merged),
            None => format!("{STATUS}Completed · merged {}", self.merged),
        }
    }
}

/// How the annotation begins that says where a task stands.
const STATUS: &str = "- **Status:** ";

/// Returns the section of a person's that the place is, and what the annotation of a task that is parked there begins with.
const fn parking(place: ParkingPlace) -> Option<(Section, &'static str)> {
    match place {
        ParkingPlace::AwaitingInput => Some((Section::AwaitingInput, "awaiting input — ")),
        ParkingPlace::Deferred => Some((Section::Deferred, "deferred — ")),
        ParkingPlace::OutOfScope => Some((Section::OutOfScope, "out of scope — ")),
        ParkingPlace::InProgress | ParkingPlace::Completed | ParkingPlace::Elsewhere => None,
    }
}

/// Why a file of format version 1 is left as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    /// The bytes are no text.
    #[error("line {line} holds {what}")]
    NotText {
        /// Where.
        line: u32,
        /// What is there.
        what: &'static str,
    },
    /// A code fence is open at the end of the file.
    #[error("the code fence of line {0} is never closed")]
    OpenFence(u32),
    /// A heading stands in a code fence: readers that know no fences would take it for one.
    #[error("a heading stands in the code fence around line {0}")]
    FencedHeading(u32),
    /// Two blocks of one task say different things; neither is dropped.
    #[error("tasks.md:{line}: task {task} is defined a second time, otherwise")]
    Differs {
        /// The task.
        task: String,
        /// The heading of the second block.
        line: u32,
    },
    /// Two blocks of one task are annotated otherwise, in words of a person's; neither is dropped.
    #[error("tasks.md:{line}: this annotation of task {task}, defined a second time, is not in the first block")]
    Annotated {
        /// The task.
        task: String,
        /// The annotation of the second block.
        line: u32,
    },
    /// Nothing would be left.
    #[error("nothing would be left of it")]
    Empty,
    /// The task definitions would not be the same to the byte.
    #[error("the definition of a task would change")]
    Definition,
    /// No task has that id, or its block stands where no halt moves it from.
    #[error("there is no block of task {0} to be moved")]
    NoBlock(TaskId),
    /// There is no such section.
    #[error("there is no section `## {}`", .0.section())]
    NoSection(ParkingPlace),
    /// The reason holds nothing that can be read.
    #[error("the reason is empty")]
    NoReason,
}

/// Returns `tasks.md` with every block of a section that stores a state in the section that the evidence names, and with
/// the stamps of what has landed. A task that is not in the map counts as unknown.
///
/// # Errors
/// Why the file is left as it is.
pub fn place(tasks: &[u8], standings: &BTreeMap<TaskId, Standing>) -> Result<Vec<u8>, PlacementError> {
    let mut file = cut(tasks)?;
    let end = line_end(tasks);
    let blocks = file.take_blocks();
    for (from, mut block) in blocks {
        let standing = block
            .id()
            .and_then(|id| standings.get(&id))
            .unwrap_or(&Standing::Unknown);
        let target = match standing {
            Standing::Completed(stamp) => {
                if let Some(stamp) = stamp {
                    stamp_block(&mut block, stamp);
                }
                Section::Completed
            }
            Standing::InProgress => Section::InProgress,
            Standing::Open => Section::ForwardPlan,
            Standing::Unknown => from,
        };
        file.put(target, block);
    }
    written(tasks, &file, end)
}

/// Returns `tasks.md` with the whole block of a task in a section of a person's, with the reason as its only status.
///
/// # Errors
/// Why the file is left as it is: also when the task's block already stands in a section of a person's.
pub fn park_block(tasks: &[u8], task: &TaskId, place: ParkingPlace, reason: &str) -> Result<Vec<u8>, PlacementError> {
    let reason = one_line(reason);
    if reason.is_empty() {
        return Err(PlacementError::NoReason);
    }
    let mut file = cut(tasks)?;
    let Some((section, lead)) = parking(place).filter(|(section, _)| file.has(*section)) else {
        return Err(PlacementError::NoSection(place));
    };
    let mut block = file
        .take_block(task)
        .ok_or_else(|| PlacementError::NoBlock(task.clone()))?;
    block.remove_annotations(STATUS);
    block.push(format!("{STATUS}{lead}{}", printable(&reason)));
    file.put(section, block);
    written(tasks, &file, line_end(tasks))
}

/// Returns `tasks.md` with the block of a parked task back under `## Forward plan`, before the first task of a higher
/// number, and without the status that says why it was parked.
///
/// # Errors
/// Why the file is left as it is: also when no such block stands in a section of a person's.
pub fn unpark_block(tasks: &[u8], task: &TaskId) -> Result<Vec<u8>, PlacementError> {
    let mut file = cut(tasks)?;
    let parked = ParkingPlace::BULLETS
        .into_iter()
        .filter_map(parking)
        .find_map(|(section, lead)| {
            let block = file.take_parked(section, task)?;
            Some((block, lead))
        });
    let (mut block, lead) = parked.ok_or_else(|| PlacementError::NoBlock(task.clone()))?;
    block.remove_annotations(&format!("{STATUS}{lead}"));
    file.put_in_order(Section::ForwardPlan, block);
    written(tasks, &file, line_end(tasks))
}

/// A stamp with a pull request says more than one without, and is never replaced by it.
fn stamp_block(block: &mut Block<'_>, stamp: &Stamp) {
    let is_full = |text: &str| {
        matches!(
            completion(text),
            Some(Completion {
                pull_request: Some(_),
                ..
            })
        )
    };
    match block.annotation(STATUS) {
        Some((_, stored)) if stamp.pull_request.is_none() && is_full(&stored) => {}
        Some((index, _)) => block.replace(index, stamp.line()),
        None => block.push(stamp.line()),
    }
}

/// Returns what a status line says of a completion, in its exact form.
fn completion(text: &str) -> Option<Completion> {
    let annotation = crate::Annotation {
        kind: crate::AnnotationKind::Status,
        text: text.to_owned(),
        line: 0,
    };
    annotation.completion()
}

fn written(before: &[u8], file: &Cut<'_>, end: &str) -> Result<Vec<u8>, PlacementError> {
    let after = file.render(end);
    if after.iter().all(u8::is_ascii_whitespace) {
        return Err(PlacementError::Empty);
    }
    // A task that stands there twice has no anchor before; afterwards it may stand there once.
    match task_definitions(before) {
        Ok(definitions) if task_definitions(&after) != Ok(definitions.clone()) => Err(PlacementError::Definition),
        Ok(_) | Err(_) => Ok(after),
    }
}

#[cfg(test)]
mod tests;
