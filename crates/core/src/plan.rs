//! Plans and their reasons: one variant for each sentence the user will read (architecture §3).
//!
//! Before the lock there is an [`Intent`]. Under the lock everything is read again, and from that the [`StepPlan`] is
//! made, which leaves no choice to the executor.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::derive::{Progress, SpecState, TaskState};
use crate::evidence::{Base, BranchFacts, BranchSide};
use crate::graph::TaskGraph;
use crate::identifier::{CommitId, TaskId, Unit, UnitName};
use crate::observed::{Observed, Why};
use crate::record::dispatch::DispatchRecord;
use crate::select::{Choice, select};
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

/// Why there is nothing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdleReason {
    /// Every task has landed or is parked.
    Finished {
        /// How many landed.
        landed: usize,
        /// How many are parked.
        parked: usize,
    },
    /// No task is ready.
    NothingReady {
        /// Each open task with what it waits for.
        waiting: Vec<(TaskId, String)>,
    },
    /// As many units are in progress as the cap allows.
    AtCap {
        /// How many are.
        occupied: usize,
        /// The cap, `max_parallel_units`.
        cap: u32,
        /// What would have been taken.
        next: TaskId,
    },
    /// The cap is 0.
    Paused,
}

/// Why the step waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HoldReason {
    /// Another tower is in the window.
    LockBusy(Why),
    /// Evidence could not be read.
    Evidence {
        /// Of what.
        of: String,
        /// Why.
        why: Why,
    },
    /// A dependency has landed, but not in what the branch would start from.
    DependencyNotInBase {
        /// The dependency.
        dependency: TaskId,
        /// The commit that completes it.
        landed: CommitId,
        /// The commit the branch would start at.
        start: CommitId,
        /// The base branch.
        base: String,
    },
    /// The unit changed between the decision and the lock.
    Moved {
        /// What is seen now.
        now: String,
    },
    /// A person did not want the worktree of an earlier attempt to be used again.
    ReuseDeclined {
        /// Its path.
        path: String,
    },
    /// Processes still work in the unit's worktree.
    WorktreeOccupied {
        /// Its path.
        path: String,
        /// The processes.
        processes: Vec<String>,
    },
}

/// Why a person is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HaltReason {
    /// The bundle is not signed off, or finished.
    Status {
        /// The bundle.
        spec: String,
        /// The stored status.
        status: String,
        /// What to do.
        remedy: String,
    },
    /// The bundle cannot be read.
    BundleInvalid {
        /// Each finding, with file and line.
        findings: Vec<String>,
    },
    /// The sign-off record is missing or not valid.
    SignOff {
        /// The bundle.
        spec: String,
        /// What is wrong.
        fault: String,
    },
    /// The content changed after it was signed.
    Changed {
        /// The bundle.
        spec: String,
        /// The signed anchor.
        signed: String,
        /// The anchor at the start commit.
        now: String,
        /// Which commit was compared.
        at: String,
        /// The record was made by an older anchor of unchanged content.
        pre_change: bool,
    },
    /// The working copy of the bundle differs from the base's.
    WorkingCopyDiffers {
        /// The bundle.
        spec: String,
        /// The base.
        base: String,
    },
    /// A rule document cannot be resolved.
    Doctrine {
        /// Its name.
        name: String,
        /// What was consulted.
        why: String,
    },
    /// The backend cannot start a worker.
    Backend {
        /// Its name.
        backend: String,
        /// Why.
        why: Why,
    },
    /// The place of the worktree, or its branch, is in use by something else.
    WorktreeTaken {
        /// What is in the way.
        by: String,
        /// What to do.
        remedy: String,
    },
    /// The unit's worktree holds work that is not committed.
    UncommittedWork {
        /// Its path.
        path: String,
        /// Some of the changed paths.
        changes: Vec<String>,
    },
    /// The machine refused something the step cannot do without.
    Machine(crate::world::Fault),
}

/// Returns what to do, from the derived state alone.
///
/// # Errors
/// The reason, where nothing is to be dispatched.
pub fn intend(
    name: impl Fn(Unit) -> UnitName,
    graph: &TaskGraph,
    state: &SpecState,
    cap: u32,
) -> Result<Intent, NoDispatch> {
    let Some(choice) = select(graph, state) else {
        return Err(nothing_ready(graph, state));
    };
    if cap == 0 {
        return Err(NoDispatch::Idle(IdleReason::Paused));
    }
    let occupied = state.occupied();
    if u32::try_from(occupied).is_ok_and(|occupied| occupied < cap) {
        Ok(Intent {
            name: name(Unit::single(choice.task.clone())),
            choice,
        })
    } else {
        Err(NoDispatch::Idle(IdleReason::AtCap {
            occupied,
            cap,
            next: choice.task,
        }))
    }
}

fn nothing_ready(graph: &TaskGraph, state: &SpecState) -> NoDispatch {
    let waiting: Vec<(TaskId, String)> = graph
        .tasks
        .iter()
        .filter_map(|task| Some((task.id.clone(), waits_for(state, &task.id)?)))
        .collect();
    let unread = state.tasks.values().find_map(|report| match &report.state {
        TaskState::Unknown(why) => Some(why.clone()),
        TaskState::Landed { .. } | TaskState::InProgress(_) | TaskState::Ready | TaskState::Blocked { .. } => None,
    });
    match unread {
        Some(why) => NoDispatch::Hold(HoldReason::Evidence {
            of: "what is done".to_string(),
            why,
        }),
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

/// Returns what an open task waits for, nothing for one that has landed or is parked.
#[must_use]
pub fn waits_for(state: &SpecState, task: &TaskId) -> Option<String> {
    let report = state.tasks.get(task)?;
    if report.parked.is_some() {
        return None;
    }
    match &report.state {
        TaskState::Landed { .. } => None,
        TaskState::Ready => Some("ready".to_string()),
        TaskState::InProgress(Progress { detail, .. }) => Some(detail.clone()),
        TaskState::Unknown(why) => Some(format!("unknown: {why}")),
        TaskState::Blocked { needs } => {
            let needs: Vec<String> = needs
                .iter()
                .map(|need| format!("{need} ({})", word(state, need)))
                .collect();
            Some(format!("needs {}", needs.join(" and ")))
        }
    }
}

/// Returns the state of a task in one word.
#[must_use]
pub fn word(state: &SpecState, task: &TaskId) -> &'static str {
    let Some(report) = state.tasks.get(task) else {
        return "no such task";
    };
    match &report.state {
        TaskState::Landed { .. } => "landed",
        _ if report.parked.is_some() => "parked",
        TaskState::InProgress(progress) => progress.kind.word(),
        TaskState::Unknown(_) => "unknown",
        TaskState::Ready => "ready",
        TaskState::Blocked { .. } => "blocked",
    }
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
        (None, _) => Ok((base.commit.clone(), BranchAct::Create)),
        (Some(facts), _) if facts.ahead > 0 => {
            let now = format!("{} commits on its branch", facts.ahead);
            Err(NoDispatch::Hold(HoldReason::Moved { now }))
        }
        // A worktree may hold files of the branch's commit: its branch is not moved under it.
        (Some(facts), WorktreeFacts::Ours(_)) => Ok((facts.tip.clone(), BranchAct::Keep)),
        (Some(facts), _) if facts.tip == base.commit => Ok((facts.tip.clone(), BranchAct::Keep)),
        (Some(facts), _) => Ok((
            base.commit.clone(),
            BranchAct::Advance {
                from: facts.tip.clone(),
            },
        )),
    }
}

/// Returns what happens to the worktree of a unit that derives ready.
///
/// # Errors
/// The reason, where the worktree cannot be used.
pub fn worktree(facts: &WorktreeFacts, occupants: &Observed<Vec<String>>) -> Result<WorktreeAct, NoDispatch> {
    let ours = match facts {
        WorktreeFacts::Free => return Ok(WorktreeAct::Register),
        WorktreeFacts::Taken { by } => {
            return Err(taken(by, "move it away; nothing there was touched"));
        }
        WorktreeFacts::BranchElsewhere { path } => {
            let by = format!("the unit's branch is checked out at {path}");
            return Err(taken(&by, "switch that checkout to another branch"));
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

fn reuse(ours: &RegisteredWorktree) -> Result<WorktreeAct, NoDispatch> {
    if !ours.complete {
        return Ok(WorktreeAct::Complete);
    }
    match (&ours.changes, ours.directory) {
        (_, WorktreeDirectory::Missing) => Err(taken(
            &format!(
                "{} is registered as the unit's worktree but its directory is gone",
                ours.path
            ),
            "git worktree prune, if it was removed on purpose",
        )),
        (Observed::Known(changes), _) if !changes.is_empty() => {
            let reason = HaltReason::UncommittedWork {
                path: ours.path.clone(),
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

impl fmt::Display for IdleReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished { landed, parked: 0 } => {
                write!(formatter, "all {landed} tasks have landed")
            }
            Self::Finished { landed, parked } => {
                write!(formatter, "{landed} tasks have landed, {parked} are parked")
            }
            Self::NothingReady { waiting } => {
                formatter.write_str("nothing is ready")?;
                for (index, (task, what)) in waiting.iter().enumerate() {
                    write!(formatter, "{}{task}: {what}", if index == 0 { ": " } else { "; " })?;
                }
                Ok(())
            }
            Self::AtCap { occupied, cap, next } => {
                write!(
                    formatter,
                    "{occupied} units are in progress and max_parallel_units is {cap}; next would be {next}"
                )
            }
            Self::Paused => formatter.write_str("paused: max_parallel_units is 0"),
        }
    }
}

impl fmt::Display for HoldReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LockBusy(why) => write!(formatter, "{why}"),
            Self::Evidence { of, why } => write!(formatter, "cannot tell {of}: {why}"),
            Self::DependencyNotInBase {
                dependency,
                landed,
                start,
                base,
            } => write!(
                formatter,
                "dependency {dependency} landed in {}, which is not in {base} at {}",
                landed.short(),
                start.short()
            ),
            Self::Moved { now } => write!(formatter, "the unit changed before the lock was taken: {now}"),
            Self::ReuseDeclined { path } => write!(formatter, "{path} is not to be used again"),
            Self::WorktreeOccupied { path, processes } => {
                write!(formatter, "processes still run in {path}: {}", processes.join(", "))
            }
        }
    }
}

impl HoldReason {
    /// Returns what a person can do about it.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::LockBusy(why) | Self::Evidence { why, .. } => why.hint.clone(),
            Self::DependencyNotInBase { base, .. } => {
                Some(format!("update your local {base}, for example: git pull --ff-only"))
            }
            Self::Moved { .. } => None,
            Self::ReuseDeclined { .. } => Some("remove that worktree, then step again".to_string()),
            Self::WorktreeOccupied { .. } => Some("let them end, or end them".to_string()),
        }
    }
}

impl fmt::Display for HaltReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status { spec, status, .. } => write!(formatter, "specs/{spec} is {status}"),
            Self::BundleInvalid { findings } => {
                write!(formatter, "the bundle cannot be read: {}", findings.join("; "))
            }
            Self::SignOff { spec, fault } => {
                write!(formatter, "specs/{spec} is not validly signed: {fault}")
            }
            Self::Changed {
                signed,
                now,
                at,
                pre_change,
                ..
            } => {
                formatter.write_str(if *pre_change {
                    "the sign-off was recorded with an older form of the anchor"
                } else {
                    "the spec changed after it was signed"
                })?;
                let short = |hash: &str| hash.get(..7).unwrap_or(hash).to_string();
                write!(formatter, " (signed {}, {at} has {})", short(signed), short(now))
            }
            Self::WorkingCopyDiffers { spec, base } => {
                write!(formatter, "specs/{spec} in the working copy differs from {base}")
            }
            Self::Doctrine { name, why } => {
                write!(formatter, "cannot resolve the rule document {name}: {why}")
            }
            Self::Backend { backend, why } => {
                write!(formatter, "backend {backend} cannot start a worker: {why}")
            }
            Self::WorktreeTaken { by, .. } => write!(formatter, "{by}"),
            Self::UncommittedWork { path, changes } => {
                write!(formatter, "{path} holds uncommitted work: {}", changes.join(", "))
            }
            Self::Machine(fault) => write!(formatter, "{fault}"),
        }
    }
}

impl HaltReason {
    /// Returns what a person can do about it.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Status { remedy, .. } | Self::WorktreeTaken { remedy, .. } => Some(remedy.clone()),
            Self::BundleInvalid { .. } => Some("mend the lines named above".to_string()),
            Self::SignOff { spec, .. } => Some(format!(
                "complete or repair the sign-off record in specs/{spec}/kickoff-brief.md"
            )),
            Self::Changed {
                spec, pre_change: true, ..
            } => Some(format!(
                "record the current anchor as an expression-only entry in specs/{spec}/kickoff-brief.md"
            )),
            Self::Changed {
                spec,
                pre_change: false,
                ..
            } => Some(format!("review the change and sign specs/{spec} again")),
            Self::WorkingCopyDiffers { base, .. } => Some(format!(
                "commit the change and bring it to {base}, or restore the files"
            )),
            Self::Doctrine { .. } => None,
            Self::Backend { why, .. } => why.hint.clone(),
            Self::UncommittedWork { .. } => {
                Some("commit it on the unit's branch, or move it away; then step again".to_string())
            }
            Self::Machine(fault) => fault.hint.clone(),
        }
    }
}
