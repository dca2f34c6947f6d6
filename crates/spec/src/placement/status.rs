//! The stored status of a bundle of format version 1 (`contract/core.md §8.3`).

use std::collections::BTreeMap;

use orchestrate_core::identifier::TaskId;

use super::Standing;
use crate::edit::{EditErrorReason, raw_lines, with_header_value};
use crate::header::{self, Lookup};
use crate::{Section, Status};

/// Returns the status that the tasks of a bundle come to: nothing where there is no task, or where what decides could not
/// be told (law L4). A block counts by the section that it stands in.
#[must_use]
pub fn derived_status(tasks: &[u8], standings: &BTreeMap<TaskId, Standing>) -> Option<Status> {
    let sections = sections(tasks);
    if sections.is_empty() {
        return None;
    }
    let (mut open, mut waits, mut is_unknown) = (false, false, false);
    let mut has_started = false;
    for (task, section) in sections {
        match section {
            Section::AwaitingInput => waits = true,
            Section::Deferred | Section::OutOfScope => {}
            Section::Preamble
            | Section::Tasks
            | Section::ForwardPlan
            | Section::InProgress
            | Section::Completed
            | Section::Other => match standings.get(&task) {
                Some(Standing::Completed(_)) => has_started = true,
                Some(Standing::InProgress) => {
                    has_started = true;
                    waits = true;
                }
                Some(Standing::Open) => open = true,
                Some(Standing::Unknown) | None => is_unknown = true,
            },
        }
    }
    match (open || waits, has_started) {
        (true, true) => Some(Status::Active),
        (_, _) if is_unknown => None,
        (true, false) => Some(Status::Ready),
        (false, _) => Some(Status::Done),
    }
}

/// Returns the section of each task, that of the last block where there are several.
fn sections(tasks: &[u8]) -> BTreeMap<TaskId, Section> {
    let mut found = BTreeMap::new();
    let mut section = Section::Preamble;
    for line in raw_lines(tasks).iter().filter(|line| !line.fenced) {
        let text = String::from_utf8_lossy(line.text);
        if let Some(name) = text.strip_prefix("## ") {
            section = Section::from_name(name.trim_end()).unwrap_or(Section::Other);
        } else if let Some(rest) = text.strip_prefix("### Task ")
            && let Some(Ok(task)) = rest.split_ascii_whitespace().next().map(TaskId::parse)
        {
            found.insert(task, section);
        }
    }
    found
}

/// Returns the status that a file's header declares, once and by its name.
#[must_use]
pub fn stored_status(bytes: &[u8]) -> Option<Status> {
    match header::parse(bytes).load_bearing("Status") {
        Lookup::One(entry) => Status::from_name(&entry.value),
        Lookup::Missing | Lookup::Duplicate(_) => None,
    }
}

/// Returns a file with that stored status; nothing where it says so already, or declares none.
///
/// # Errors
/// When its header block declares the status more than once.
pub fn with_stored_status(bytes: &[u8], status: Status) -> Result<Option<Vec<u8>>, EditErrorReason> {
    match header::parse(bytes).load_bearing("Status") {
        Lookup::Missing => Ok(None),
        Lookup::One(entry) if entry.value == status.name() => Ok(None),
        Lookup::One(_) => with_header_value(bytes, "Status", status.name()).map(Some),
        Lookup::Duplicate(_) => Err(EditErrorReason::DuplicateKey("Status")),
    }
}
