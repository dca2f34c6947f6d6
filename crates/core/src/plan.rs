//! Plans and their reasons: one variant for each sentence the user will read (architecture §3).
//!
//! Before the lock there is an [`Intent`]. Under the lock everything is read again, and from that the [`StepPlan`] is
//! made, which leaves no choice to the executor.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::declaration::Declarations;
use crate::derive::{SpecState, TaskReport, TaskState};
use crate::evidence::{Base, BranchFacts, BranchSide};
use crate::graph::{ParkingPlace, TaskGraph};
use crate::identifier::{CommitId, TaskId, Unit, UnitName};
use crate::observed::{Observed, Why};
pub use crate::reason::{HaltReason, HoldReason, IdleReason, Waiting};
use crate::record::dispatch::DispatchRecord;
use crate::select::{Choice, Company, select_beside};
use crate::standing::waits_for;
use crate::words::count;
use crate::world::{RegisteredWorktree, WorktreeDirectory, WorktreeFacts};

/// What the step wants to do, decided before the lock and checked again under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// The unit.
    pub name: UnitName,
    /// Why this one.
    pub choice: Choice,
}

/// What the step does: dispatch exactly one plan, or nothing for a stated reason.
pub type StepPlan = Result<DispatchPlan, NoDispatch>;

/// Why the step dispatches nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "an unread reason helps nobody"]
pub enum NoDispatch {
    /// Cleanly nothing to do.
    Idle(IdleReason),
    /// Not now; a later step looks again.
    Hold(HoldReason),
    /// A person is needed.
    Halt(Vec<HaltReason>),
}

impl core::fmt::Display for NoDispatch {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Idle(reason) => write!(formatter, "{reason}"),
            Self::Hold(reason) => write!(formatter, "{reason}"),
            Self::Halt(reasons) => {
                for (index, reason) in reasons.iter().enumerate() {
                    write!(formatter, "{}{reason}", if index == 0 { "" } else { "; " })?;
                }
                Ok(())
            }
        }
    }
}

impl NoDispatch {
    /// Returns the hold for something that changed between the decision and the lock.
    pub fn moved(now: impl Into<String>) -> Self {
        Self::Hold(HoldReason::Moved { now: now.into() })
    }

    /// Returns the hold for evidence that could not be read (law L4).
    pub fn unread(of: impl Into<String>, why: Why) -> Self {
        Self::Hold(HoldReason::Evidence { of: of.into(), why })
    }

    /// Returns what a person can do about it.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Idle(_) => None,
            Self::Hold(reason) => reason.remedy(),
            Self::Halt(reasons) => reasons.iter().find_map(HaltReason::remedy),
        }
    }
}

/// A dispatch without choices left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DispatchPlan {
    /// The record to write; it names unit, start commit, attempt and launch.
    pub record: DispatchRecord,
    /// What happens to the branch.
    pub branch: BranchAct,
    /// What happens to the worktree.
    pub worktree: WorktreeAct,
}

/// What a dispatch does to the unit's branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchAct {
    /// It is created at the start commit.
    Create,
    /// It is there at the start commit.
    Keep,
    /// It is there without commits of its own, and is moved to the start commit.
    Advance {
        /// Where it is now.
        from: CommitId,
    },
}

/// What a dispatch does to the unit's worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorktreeAct {
    /// It is registered.
    Register,
    /// It is registered, and its checkout still has to be completed.
    Complete,
    /// It is registered, complete and clean.
    Keep,
}

/// What a decision is made from.
#[derive(Debug, Clone, Copy)]
pub struct Selection<'a> {
    /// The task graph.
    pub graph: &'a TaskGraph,
    /// The derived state.
    pub state: &'a SpecState,
    /// What a person declared about the choice.
    pub declarations: &'a Declarations,
    /// `max_parallel_units`.
    pub cap: u32,
}

/// Returns what to do, from the derived state alone. Units that were set aside, because something of their own stands
/// in the way, do not keep the others from being taken (law L12).
///
/// The cap counts tasks (`contract/core.md §5.5`), so a pair takes two places. It waits until both are free, and is
/// parted only under a cap that never has two.
///
/// # Errors
/// The reason, where nothing is to be dispatched.
pub fn intend(
    name: impl Fn(Unit) -> UnitName,
    selection: &Selection<'_>,
    set_aside: &BTreeSet<Unit>,
) -> Result<Intent, NoDispatch> {
    let Selection {
        graph,
        state,
        declarations,
        cap,
    } = *selection;
    let Some(mut choice) = select_beside(graph, state, declarations, set_aside) else {
        return Err(nothing_ready(graph, state));
    };
    if cap == 0 {
        return Err(NoDispatch::Idle(IdleReason::Paused));
    }
    if let (Company::Pair(cohesion), 1) = (&choice.company, cap) {
        choice.company = Company::Refused(format!("{cohesion} takes two places, and max_parallel_units is 1"));
    }
    let unit = choice.unit();
    let occupied = state.occupied();
    let fits = |occupied: usize, unit: &Unit| u32::try_from(occupied + unit.size()).is_ok_and(|needed| needed <= cap);
    if fits(occupied, &unit) {
        let name = name(unit);
        return Ok(Intent { name, choice });
    }
    // What this clone has fenced already has its place. Two clones whose towers were killed behind their fences would
    // else wait for each other for ever.
    let mut others = set_aside.clone();
    let not_fenced_here = |task: &&TaskId| !state.is_fenced_here(task);
    others.extend(state.tasks.keys().filter(not_fenced_here).cloned().map(Unit::single));
    if let Some(choice) = select_beside(graph, state, declarations, &others)
        && fits(occupied - state.fenced_elsewhere(), &choice.unit())
    {
        let name = name(choice.unit());
        return Ok(Intent { name, choice });
    }
    Err(NoDispatch::Idle(IdleReason::AtCap {
        occupied,
        cap,
        next: unit,
        waiting: waiting(graph, state, |report| {
            matches!(report.state, TaskState::InProgress(_) | TaskState::Unknown(_))
        }),
    }))
}

/// Returns what the open tasks wait for of which that holds, in file order.
fn waiting(graph: &TaskGraph, state: &SpecState, is_told: impl Fn(&TaskReport) -> bool) -> Vec<Waiting> {
    let tasks = graph.tasks.iter();
    tasks
        .filter_map(|task| {
            let report = state.tasks.get(&task.id).filter(|report| is_told(report))?;
            Some(Waiting {
                task: task.id.clone(),
                what: waits_for(state, &task.id)?,
                hint: report.hint(),
            })
        })
        .collect()
}

fn nothing_ready(graph: &TaskGraph, state: &SpecState) -> NoDispatch {
    let unread = state.tasks.values().find_map(|report| report.state.unread());
    let is_unread = |report: &TaskReport| unread.is_some() && report.state.unread() == unread;
    let mut waiting = waiting(graph, state, |report| !is_unread(report));
    let awaited = |(task, report)| awaits_input(task, report);
    waiting.extend(state.tasks.iter().filter_map(awaited));
    match unread {
        Some(why) => {
            let tasks = graph.tasks.iter().map(|task| &task.id);
            NoDispatch::Hold(HoldReason::NotKnown {
                tasks: tasks
                    .filter(|task| state.tasks.get(*task).is_some_and(is_unread))
                    .cloned()
                    .collect(),
                why: why.clone(),
                waiting,
            })
        }
        None if waiting.is_empty() => {
            let landed = state.landed().len();
            NoDispatch::Idle(IdleReason::Finished {
                landed,
                parked: state.tasks.len() - landed,
            })
        }
        None => NoDispatch::Idle(IdleReason::NothingReady { waiting }),
    }
}

/// Returns a task that waits for a person's answer, with what is asked, and what is done when it is given.
fn awaits_input(task: &TaskId, report: &TaskReport) -> Option<Waiting> {
    let parking = report.parked.as_ref()?;
    let is_open = !matches!(report.state, TaskState::Landed { .. });
    (is_open && parking.place == ParkingPlace::AwaitingInput).then(|| Waiting {
        task: task.clone(),
        what: format!("parked: {}", parking.words()),
        hint: None,
    })
}

/// Returns the commit the branch starts at and what happens to the branch, for a unit that derives ready.
///
/// # Errors
/// The reason, where the branch cannot be used.
pub fn start(
    branches: &[BranchFacts],
    base: &Base,
    worktree: &WorktreeFacts,
) -> Result<(CommitId, BranchAct), NoDispatch> {
    let local = branches.iter().find(|facts| facts.side == BranchSide::Local);
    match (local, worktree) {
        (None, _) => Ok((base.gated().clone(), BranchAct::Create)),
        (Some(facts), _) if facts.ahead > 0 => {
            let now = format!("{} on its branch", count(facts.ahead, "commit"));
            Err(NoDispatch::Hold(HoldReason::Moved { now }))
        }
        // A worktree may hold files of the branch's commit: its branch is not moved under it.
        (Some(facts), WorktreeFacts::Ours(ours)) if holds_files(ours) => Ok((facts.tip.clone(), BranchAct::Keep)),
        (Some(facts), _) if facts.tip == *base.gated() => Ok((facts.tip.clone(), BranchAct::Keep)),
        (Some(facts), _) => Ok((
            base.gated().clone(),
            BranchAct::Advance {
                from: facts.tip.clone(),
            },
        )),
    }
}

fn holds_files(worktree: &RegisteredWorktree) -> bool {
    worktree.complete || worktree.directory == WorktreeDirectory::Populated
}

/// Returns what happens to the worktree of a unit that derives ready.
///
/// # Errors
/// The reason, where the worktree cannot be used.
pub fn worktree(
    name: &UnitName,
    facts: &WorktreeFacts,
    occupants: &Observed<Vec<String>>,
) -> Result<WorktreeAct, NoDispatch> {
    let ours = match facts {
        WorktreeFacts::Free => return Ok(WorktreeAct::Register),
        WorktreeFacts::Taken { by } => {
            return Err(taken(by, "move it away; nothing there was touched"));
        }
        WorktreeFacts::Strayed { path, on, has_branch } => {
            let on = on.as_deref();
            let by = format!(
                "{path} is registered as a worktree on {}",
                on.unwrap_or("a detached HEAD")
            );
            return Err(taken(&by, &way_back(name, on, *has_branch)));
        }
        WorktreeFacts::BranchElsewhere { path } => {
            let by = format!("{} is checked out at {path}", name.branch());
            return Err(taken(
                &by,
                "switch that checkout to another branch; git worktree repair, if it was moved",
            ));
        }
        WorktreeFacts::Ours(ours) => ours,
    };
    match occupants {
        Observed::Known(processes) if !processes.is_empty() => {
            let reason = HoldReason::WorktreeOccupied {
                path: ours.path.clone(),
                processes: processes.clone(),
            };
            return Err(NoDispatch::Hold(reason));
        }
        Observed::Known(_) | Observed::Absent(_) => {}
        Observed::Unknown(why) => {
            let reason = HoldReason::Evidence {
                of: format!("who works in {}", ours.path),
                why: why.clone(),
            };
            return Err(NoDispatch::Hold(reason));
        }
    }
    reuse(ours)
}

/// What keeps the commits of a worktree that left the unit's branch. No branch may lead to those of a detached HEAD: they
/// are named before anything is moved.
fn way_back(name: &UnitName, on: Option<&str>, has_branch: bool) -> String {
    let git = format!("git -C .claude/worktrees/{}", name.worktree());
    let (branch, unit) = (name.branch(), &name.unit);
    match (on, has_branch) {
        (Some(on), true) => format!(
            "its commits stay on {on}: {git} switch {branch}; then {git} merge {on}, if they are this task's; or move the \
             worktree away"
        ),
        (None, true) => format!(
            "keep its commits first: {git} branch rescue-{unit}; to remove the worktree before would orphan them; then \
             {git} switch {branch}; and {git} merge rescue-{unit}, if they are wanted"
        ),
        (Some(on), false) => format!(
            "its commits stay on {on}; if they are this task's: {git} switch --create {branch}; else move the worktree away"
        ),
        (None, false) => {
            format!("keep its commits: {git} switch --create {branch}; to remove the worktree before would orphan them")
        }
    }
}

fn reuse(ours: &RegisteredWorktree) -> Result<WorktreeAct, NoDispatch> {
    if !ours.complete {
        return Ok(WorktreeAct::Complete);
    }
    match (&ours.changes, ours.directory) {
        (_, WorktreeDirectory::Missing) => Err(taken(
            &format!(
                "{} is registered as the unit's worktree but its directory is gone",
                ours.place()
            ),
            &format!("if it was removed on purpose: {}", ours.removal()),
        )),
        (Observed::Known(changes), _) if !changes.is_empty() => {
            let reason = HaltReason::UncommittedWork {
                path: ours.place().to_string(),
                changes: changes.clone(),
            };
            Err(NoDispatch::Halt(alloc::vec![reason]))
        }
        (Observed::Known(_) | Observed::Absent(_), _) => Ok(WorktreeAct::Keep),
        (Observed::Unknown(why), _) => Err(NoDispatch::Hold(HoldReason::Evidence {
            of: format!("whether {} is clean", ours.path),
            why: why.clone(),
        })),
    }
}

fn taken(by: &str, remedy: &str) -> NoDispatch {
    NoDispatch::Halt(alloc::vec![HaltReason::WorktreeTaken {
        by: by.to_string(),
        remedy: remedy.to_string()
    }])
}
