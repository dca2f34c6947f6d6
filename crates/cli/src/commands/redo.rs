//! `orchestrate unpark SPEC TASK` of a task that was reverted: a person wants it done again.

use std::collections::BTreeSet;

use orchestrate_core::derive::Answer;
use orchestrate_core::identifier::{CommitId, SpecId, TaskId};
use orchestrate_core::world::Fault;
use orchestrate_spec::Bundle;
use orchestrate_tower::claims;
use orchestrate_tower::step::survey;

use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::Session;

/// Returns the reverts because of which a task is held, with those that a person has spoken of before; none when none
/// holds it.
///
/// # Errors
/// When the evidence cannot be gathered.
pub(super) fn reverts_that_hold(
    session: &Session,
    bundle: &Bundle,
    task: &TaskId,
) -> Result<BTreeSet<CommitId>, Fault> {
    let survey = survey(&session.world, &session.request(bundle.spec.clone(), true), bundle)?;
    let rows = survey.state.tasks.get(task).map(|report| report.rows.as_slice());
    let undone = rows.unwrap_or_default().iter().filter_map(|(_, answer)| match answer {
        Answer::Undone { by, .. } => Some(by.clone()),
        Answer::Yes(_) | Answer::No(_) | Answer::Unknown(_) => None,
    });
    let mut reverts: BTreeSet<CommitId> = undone.collect();
    if !reverts.is_empty() {
        reverts.extend(survey.evidence.redo.get(task).into_iter().flatten().cloned());
    }
    Ok(reverts)
}

/// Writes the wish down, on this machine.
pub(super) fn want_again(
    session: &mut Session,
    spec: &SpecId,
    task: &TaskId,
    reverts: &BTreeSet<CommitId>,
    printer: &mut Printer,
) -> Result<(), Failure> {
    session.under_lock(spec, printer, |world, held| {
        claims::want_again(world, held.spec(), task, reverts).map_err(Failure::from)
    })?;
    printer.line(&format!(
        "task {task} of specs/{spec} may be done again on this machine, although it was reverted"
    ));
    Ok(())
}
