//! The stored placement and status of one bundle brought up to date on their own: the plumbing's `tasks-pr-sync`.

use std::collections::BTreeMap;

use orchestrate_core::place::BundleFile;
use orchestrate_core::world::{Fault, World};
use orchestrate_spec::placement::{self, PlacementError};
use orchestrate_spec::{Bundle, BundleFiles, BundleTexts, FileText};

use super::bullets::{Edited, refuse_other_content};
use super::{Placed, place, place_status};
use crate::lock::Held;
use crate::preflight::{whole_bundle, working_files};
use crate::step::{StepRequest, survey};

/// What is brought up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Where the blocks stand, and the stored status.
    Placement,
    /// The stored status only.
    Status,
}

/// Why nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReconcileError {
    /// The text cannot be placed.
    #[error(transparent)]
    Text(#[from] PlacementError),
    /// The bundle cannot be read, or its evidence cannot be gathered.
    #[error("{0}")]
    Unread(String),
    /// It has no task, so no status follows from anything.
    #[error("it has no task")]
    NoTask,
    /// The machine refuses.
    #[error(transparent)]
    Write(#[from] Fault),
}

/// Brings a bundle of format version 1 up to date, and returns the files that changed and those that were left alone
/// because their header declares the status more than once. What a broken merge left in `tasks.md` is mended first, so that
/// there is something to read.
///
/// # Errors
/// Why nothing, or not everything, was written.
pub fn reconcile(
    world: &mut dyn World,
    held: &Held<'_>,
    request: &StepRequest,
    scope: Scope,
) -> Result<Placed, ReconcileError> {
    let texts = texts(world, request)?;
    let mended = BundleTexts {
        tasks: match scope {
            Scope::Placement => placement::place(&texts.tasks, &BTreeMap::new())?,
            Scope::Status => texts.tasks.clone(),
        },
        ..texts.clone()
    };
    let bundle = bundle(request, &mended)?;
    if bundle.tasks.is_empty() {
        return Err(ReconcileError::NoTask);
    }
    let survey = survey(&*world, request, &bundle)?;
    let placed = match scope {
        Scope::Placement => place(&mended, &survey)?,
        Scope::Status => place_status(&mended, &survey),
    };
    refuse_other_content(&bundle.spec, &mended, &placed.texts).map_err(ReconcileError::Unread)?;
    let placed = Placed {
        files: changed(&texts, &placed.texts),
        ..placed
    };
    let mut edited = Edited::unchanged(bundle.spec.clone(), bundle.version, &texts);
    edited.place(placed.clone());
    edited.write(world, held)?;
    Ok(placed)
}

fn changed(before: &BundleTexts, after: &BundleTexts) -> Vec<BundleFile> {
    let pairs = before.files().into_iter().zip(after.files());
    let changed = pairs.filter(|((_, before), (_, after))| before != after);
    changed.map(|((file, _), _)| file).collect()
}

fn bundle(request: &StepRequest, texts: &BundleTexts) -> Result<Bundle, ReconcileError> {
    match whole_bundle(&request.spec, BundleFiles::from(texts.clone())) {
        Ok((bundle, _)) => Ok(bundle),
        Err(reasons) => {
            let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
            Err(ReconcileError::Unread(reasons.join("; ")))
        }
    }
}

fn texts(world: &dyn World, request: &StepRequest) -> Result<BundleTexts, ReconcileError> {
    let BundleFiles {
        requirements,
        design,
        tasks,
        test_spec,
    } = working_files(world, &request.spec);
    let bytes = |file: BundleFile, text: FileText| match text {
        FileText::Present(bytes) => Ok(bytes),
        FileText::Missing => Err(ReconcileError::Unread(format!("{file} is missing"))),
        FileText::Unreadable(why) => Err(ReconcileError::Unread(format!("{file} cannot be read: {why}"))),
    };
    Ok(BundleTexts {
        requirements: bytes(BundleFile::Requirements, requirements)?,
        design: bytes(BundleFile::Design, design)?,
        tasks: bytes(BundleFile::Tasks, tasks)?,
        test_spec: bytes(BundleFile::TestSpec, test_spec)?,
    })
}
