//! The stored placement and status of format version 1, from the derived state (`contract/core.md §8.2, §8.3`).

use std::collections::BTreeMap;

use orchestrate_core::completion::{Completion, completion};
use orchestrate_core::derive::{TaskReport, TaskState};
use orchestrate_core::evidence::Evidence;
use orchestrate_core::identifier::TaskId;
use orchestrate_core::place::BundleFile;
use orchestrate_spec::placement::{self, PlacementError, Stamp, Standing, derived_status, with_stored_status};
use orchestrate_spec::{BundleTexts, Date, Status};

use crate::step::Survey;

/// A bundle with its placement brought up to date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The files as they are to be.
    pub texts: BundleTexts,
    /// Those that change.
    pub files: Vec<BundleFile>,
    /// Files whose header declares the status more than once: they are left alone, the others are not.
    pub refused: Vec<BundleFile>,
}

/// Returns the bundle with each task block where the evidence says, and the stored status that follows.
///
/// # Errors
/// Why `tasks.md` is left as it is.
pub fn place(texts: &BundleTexts, survey: &Survey) -> Result<Placed, PlacementError> {
    let standings = standings(survey);
    let mut placed = store_status(texts, &standings);
    placed.texts.tasks = placement::place(&placed.texts.tasks, &standings)?;
    Ok(with_changed(placed, texts))
}

/// Returns the bundle with the stored status that follows from where its blocks stand; nothing where it has no task.
#[must_use]
pub fn place_status(texts: &BundleTexts, survey: &Survey) -> Placed {
    with_changed(store_status(texts, &standings(survey)), texts)
}

fn with_changed(mut placed: Placed, before: &BundleTexts) -> Placed {
    let pairs = before.files().into_iter().zip(placed.texts.files());
    let changed = pairs.filter(|((_, before), (_, after))| before != after);
    placed.files = changed.map(|((file, _), _)| file).collect();
    placed
}

/// A bundle that is finished stays so; one that is no longer, or not yet, a tower's is left alone.
fn store_status(texts: &BundleTexts, standings: &BTreeMap<TaskId, Standing>) -> Placed {
    let mut placed = Placed {
        texts: texts.clone(),
        files: Vec::new(),
        refused: Vec::new(),
    };
    let stored = placement::stored_status(&texts.requirements);
    let derived = derived_status(&texts.tasks, standings);
    let status = match (stored, derived) {
        (Some(Status::Ready | Status::Active), Some(status)) | (Some(Status::Done), Some(status @ Status::Done)) => {
            status
        }
        (
            Some(Status::Draft | Status::Ready | Status::Active | Status::Done | Status::Retired | Status::Superseded)
            | None,
            _,
        ) => return placed,
    };
    let BundleTexts {
        requirements,
        design,
        tasks,
        test_spec,
    } = &mut placed.texts;
    let files = [
        (BundleFile::Requirements, requirements),
        (BundleFile::Design, design),
        (BundleFile::Tasks, tasks),
        (BundleFile::TestSpec, test_spec),
    ];
    for (file, bytes) in files {
        match with_stored_status(bytes, status) {
            Ok(Some(edited)) => *bytes = edited,
            Ok(None) => {}
            Err(_) => placed.refused.push(file),
        }
    }
    placed
}

fn standings(survey: &Survey) -> BTreeMap<TaskId, Standing> {
    let standing = |(task, report): (&TaskId, &TaskReport)| {
        let standing = match &report.state {
            TaskState::Landed { .. } => Standing::Completed(stamp(task, report, &survey.evidence)),
            TaskState::InProgress(_) => Standing::InProgress,
            TaskState::Unknown(_) => Standing::Unknown,
            TaskState::Ready | TaskState::Blocked { .. } => Standing::Open,
        };
        (task.clone(), standing)
    };
    survey.state.tasks.iter().map(standing).collect()
}

fn stamp(task: &TaskId, report: &TaskReport, evidence: &Evidence) -> Option<Stamp> {
    let Completion { pull_request, day } = completion(task, report, evidence)?;
    Some(Stamp {
        pull_request,
        merged: Date::parse(&day)?,
    })
}
