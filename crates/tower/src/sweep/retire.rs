//! The worktrees of units that have landed: they go where nothing in them is lost, the branch stays (decision 71).

use orchestrate_core::derive::TaskState;
use orchestrate_core::finished::{Retirable, kept_by_commits, retirable};
use orchestrate_core::identifier::{TaskId, UnitName};
use orchestrate_core::observed::Observed;
use orchestrate_core::world::{Retirement, World};

use crate::lock::Held;
use crate::step::{StepRequest, Survey};

/// How many worktrees one step retires: each is looked at while the lock is held.
const MOST: usize = 4;

/// Returns the worktrees that may go, of these alone where some are given. Of one that stays nothing is said: it would be
/// said in each step.
pub(super) fn found(
    world: &dyn World,
    request: &StepRequest,
    survey: &Survey,
    among: Option<&[Retirable]>,
) -> Vec<Retirable> {
    if request.cleanup_paused {
        return Vec::new();
    }
    let may_go = |one: &Retirable| {
        let name = request.name_of(one.unit.clone());
        world.retirement(&name, &one.tip) == Observed::Known(Retirement::Free)
    };
    retirable(&survey.evidence, &survey.state)
        .into_iter()
        .filter(|one| among.is_none_or(|among| among.contains(one)))
        .filter(may_go)
        .take(MOST)
        .collect()
}

/// Returns what becomes of the worktree of a task that has landed, for people; nothing where it has none.
#[must_use]
pub fn outlook(world: &dyn World, request: &StepRequest, survey: &Survey, task: &TaskId) -> Option<Outlook> {
    let (evidence, state) = (&survey.evidence, &survey.state);
    let has_landed = |task: &TaskId| {
        let report = state.tasks.get(task);
        report.is_some_and(|report| matches!(report.state, TaskState::Landed { .. }))
    };
    let Observed::Known(leases) = &evidence.leases else {
        return None;
    };
    let unit = leases.keys().find(|unit| unit.contains(task))?;
    if !has_landed(task) {
        return None;
    }
    let stays = |why: String| Some(Outlook::Stays(why));
    if request.cleanup_paused {
        return stays("fleet_daemon_pause is true".to_owned());
    }
    if let Some(waiting) = unit.tasks().find(|task| !has_landed(task)) {
        return stays(format!("task {waiting} of the same unit has not landed"));
    }
    if let Some(one) = retirable(evidence, state).into_iter().find(|one| one.unit == *unit) {
        return match world.retirement(&request.name_of(one.unit), &one.tip) {
            Observed::Known(Retirement::Free) => Some(Outlook::Goes),
            Observed::Known(Retirement::Kept { why }) => stays(why),
            Observed::Absent(why) | Observed::Unknown(why) => stays(why.reason),
        };
    }
    if kept_by_commits(evidence, state).contains(unit) {
        return stays("not every commit of its branch has landed, as far as git and the forge tell".to_owned());
    }
    stays("a worker has it, or may yet be started in it".to_owned())
}

/// What becomes of the worktree of a landed unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outlook {
    /// The next step removes it.
    Goes,
    /// It stays, for this reason.
    Stays(String),
}

/// Retires one, and returns what is to be told of it.
///
/// # Errors
/// With what is to be told of one that stays: it keeps nobody from going on.
pub(super) fn retire(
    world: &mut dyn World,
    held: &Held<'_>,
    request: &StepRequest,
    one: &Retirable,
) -> Result<String, String> {
    debug_assert!(*held.spec() == request.spec);
    let name = request.name_of(one.unit.clone());
    match world.retire_worktree(&name, &one.tip) {
        Ok(Retirement::Free) => Ok(format!("swept: {} is removed, {}", place(&name), why(&name))),
        Ok(Retirement::Kept { why }) => Err(format!("{} stays: {why}", place(&name))),
        Err(fault) => Err(fault.to_string()),
    }
}

/// Returns what a dry run says of one.
pub(super) fn would_go(request: &StepRequest, one: &Retirable) -> String {
    let name = request.name_of(one.unit.clone());
    format!("would remove {}, {}", place(&name), why(&name))
}

/// Throws away what was retired, by this tower or by one that was killed.
pub(super) fn clear(world: &mut dyn World, request: &StepRequest, notes: &mut Vec<String>) {
    if request.cleanup_paused || request.dry_run {
        return;
    }
    if let Err(fault) = world.clear_retired() {
        notes.push(fault.to_string());
    }
}

fn place(name: &UnitName) -> String {
    format!("the worktree of task {}", name.unit)
}

fn why(name: &UnitName) -> String {
    format!("which has landed; its branch {} stays", name.branch())
}
