//! Why a step dispatches nothing: one variant for each sentence the user will read, each with its remedy.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::finding::BundleFinding;
use crate::identifier::{CommitId, TaskId, Unit};
use crate::observed::Why;
use crate::words::count;
use crate::world::Fault;

/// Why there is nothing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdleReason {
    /// Every task has landed, or is parked for another time.
    Finished {
        /// How many landed.
        landed: usize,
        /// How many are parked.
        parked: usize,
    },
    /// No task is ready.
    NothingReady {
        /// Each open task with what it waits for.
        waiting: Vec<Waiting>,
    },
    /// As many units are in progress as the cap allows.
    AtCap {
        /// How many are.
        occupied: usize,
        /// The cap, `max_parallel_units`.
        cap: u32,
        /// What would have been taken.
        next: Unit,
        /// The tasks that are in progress, each with what it waits for.
        waiting: Vec<Waiting>,
    },
    /// The cap is 0.
    Paused,
}

/// An open task that is not ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The task.
    pub task: TaskId,
    /// What it waits for.
    pub what: String,
    /// What a person can do, where one is needed.
    pub hint: Option<String>,
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
    /// No task is known to be ready, and of some it is not known what they are.
    NotKnown {
        /// Those of which it is not known, for the same reason.
        tasks: Vec<TaskId>,
        /// Why.
        why: Why,
        /// The other open tasks, each with what it waits for.
        waiting: Vec<Waiting>,
    },
    /// Origin could not be fetched, so what it has may be newer than what is known here.
    OriginUnreached {
        /// Why.
        why: Why,
        /// How many fetches in a row have failed.
        in_a_row: u32,
    },
    /// A dependency has landed, but not in what the branch would start from.
    DependencyNotInBase {
        /// The dependency.
        dependency: TaskId,
        /// The commit that completes it.
        landed: CommitId,
        /// The commit the branch would start at.
        start: CommitId,
        /// The base branch, for people.
        base: String,
        /// Whether that is origin's branch.
        at_origin: bool,
    },
    /// Origin's base has another version of the bundle, which the local base lacks.
    BaseBehind {
        /// The bundle.
        spec: String,
        /// The base.
        base: String,
    },
    /// The unit changed between the decision and the lock.
    Moved {
        /// What is seen now.
        now: String,
    },
    /// An earlier unit that shares a task with this one still holds another task.
    EarlierUnit {
        /// The bundle.
        spec: String,
        /// The earlier unit.
        unit: Unit,
        /// The other task.
        task: TaskId,
    },
    /// A person did not want a task to be dispatched without the one that it was declared to belong to.
    PartingDeclined {
        /// Why the two do not go together.
        why: String,
    },
    /// Another tower has taken the unit at origin.
    Fenced {
        /// The task whose fence it holds.
        task: TaskId,
        /// Who it is, as far as it says.
        owner: String,
    },
    /// Origin does not let the fence be made, although nobody holds it.
    FenceRefused {
        /// The unit that was to be fenced.
        unit: Unit,
        /// What origin said.
        why: String,
    },
    /// Origin has something that this clone has not seen yet.
    OriginAhead {
        /// What, in words.
        what: String,
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
        /// The bundle.
        spec: String,
        /// What keeps it from being read.
        findings: Vec<BundleFinding>,
    },
    /// The sign-off record is missing or not valid.
    SignOff {
        /// The bundle.
        spec: String,
        /// What is wrong.
        fault: String,
        /// What to do; it names the command that signs.
        remedy: String,
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
        /// The base, for people.
        base: String,
        /// The command that brings what is committed to the base, where it is origin's.
        push: Option<String>,
        /// Whether the files are committed on the local base as they are.
        is_committed: bool,
    },
    /// Origin does not have the base.
    NotAtOrigin {
        /// The base.
        base: String,
    },
    /// Origin could not be fetched several times in a row: waiting alone does not help.
    OriginUnreached {
        /// Why.
        why: Why,
        /// How many fetches in a row have failed.
        in_a_row: u32,
    },
    /// A rule document cannot be resolved.
    Doctrine {
        /// Its name.
        name: String,
        /// What was consulted.
        why: String,
        /// The edit that helps.
        remedy: String,
    },
    /// The backend cannot start a worker.
    Backend {
        /// Its name.
        backend: String,
        /// Why.
        why: Why,
    },
    /// The launch guard refuses what the backend would start.
    LaunchRefused {
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
    Machine(Fault),
}

/// What helps where git does not say it itself.
const UNREACHED: &str = "see what stops it: git fetch origin";

/// Returns whether a text holds an absolute path or an address.
fn is_of_a_machine(text: &str) -> bool {
    let is_path = |word: &str| word.trim_start_matches(['"', '\'', '`', '(']).starts_with('/');
    text.contains("://") || text.split_whitespace().any(is_path)
}

fn count_times(times: u32) -> String {
    count(usize::try_from(times).unwrap_or(usize::MAX), "time")
}

/// What helps where what refused a launch does not say it itself.
const OTHER_BACKEND: &str = "mend that, or set dispatch_backend to another backend";

fn origin_unreached(why: &Why, in_a_row: u32) -> String {
    match in_a_row {
        0 | 1 => format!("origin cannot be fetched: {why}"),
        several => format!("origin cannot be fetched, {several} times in a row: {why}"),
    }
}

impl fmt::Display for IdleReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished { landed, parked: 0 } => {
                write!(formatter, "all {landed} tasks have landed")
            }
            Self::Finished { landed, parked } => {
                let (has, is) = (
                    if *landed == 1 { "has" } else { "have" },
                    if *parked == 1 { "is" } else { "are" },
                );
                write!(
                    formatter,
                    "{} {has} landed, {parked} {is} parked",
                    count(*landed, "task")
                )
            }
            Self::NothingReady { waiting } => {
                formatter.write_str("nothing is ready")?;
                for (index, Waiting { task, what, .. }) in waiting.iter().enumerate() {
                    write!(formatter, "{}{task}: {what}", if index == 0 { ": " } else { "; " })?;
                }
                Ok(())
            }
            Self::AtCap {
                occupied, cap, next, ..
            } => {
                write!(
                    formatter,
                    "{} in progress and max_parallel_units is {cap}; next would be {next}{}",
                    count(*occupied, "unit"),
                    if next.size() == 2 { ", which counts as two" } else { "" }
                )
            }
            Self::Paused => formatter.write_str("paused: max_parallel_units is 0"),
        }
    }
}

impl IdleReason {
    /// Returns the open tasks that are told of, each with what it waits for.
    #[must_use]
    pub fn waiting(&self) -> &[Waiting] {
        match self {
            Self::NothingReady { waiting } | Self::AtCap { waiting, .. } => waiting,
            Self::Finished { .. } | Self::Paused => &[],
        }
    }
}

impl fmt::Display for HoldReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LockBusy(why) => write!(formatter, "{why}"),
            Self::Evidence { of, why } => write!(formatter, "cannot tell {of}: {why}"),
            Self::NotKnown { tasks, why, .. } => match tasks.as_slice() {
                [task] => write!(formatter, "cannot tell what is done of task {task}: {why}"),
                [] | [_, ..] => write!(formatter, "cannot tell what is done: {why}"),
            },
            Self::OriginUnreached { why, in_a_row } => {
                write!(formatter, "{}", origin_unreached(why, *in_a_row))
            }
            Self::DependencyNotInBase {
                dependency,
                landed,
                start,
                base,
                ..
            } => write!(
                formatter,
                "dependency {dependency} landed in {}, which is not in {base} at {}",
                landed.short(),
                start.short()
            ),
            Self::BaseBehind { spec, base } => {
                write!(
                    formatter,
                    "origin's {base} has another version of specs/{spec}, which your local {base} lacks"
                )
            }
            Self::Moved { now } => write!(formatter, "the unit changed before the lock was taken: {now}"),
            Self::EarlierUnit { unit, task, .. } => write!(
                formatter,
                "a worker of the earlier unit {unit} was started, and task {task} of it was not given up"
            ),
            Self::PartingDeclined { why } => write!(formatter, "{why}"),
            Self::Fenced { task, owner } => write!(formatter, "{owner} has taken task {task}"),
            Self::FenceRefused { unit, why } => write!(formatter, "origin refuses the fence of task {unit}: {why}"),
            Self::OriginAhead { what } => write!(formatter, "origin has {what}, which is not in this clone"),
            Self::ReuseDeclined { path } => write!(formatter, "{path} is not to be used again"),
            Self::WorktreeOccupied { path, processes } => {
                write!(formatter, "processes still run in {path}: {}", processes.join(", "))
            }
        }
    }
}

impl HoldReason {
    /// Returns the open tasks that are told of beside it, each with what it waits for.
    #[must_use]
    pub fn waiting(&self) -> &[Waiting] {
        match self {
            Self::NotKnown { waiting, .. } => waiting,
            Self::LockBusy(_)
            | Self::Evidence { .. }
            | Self::OriginUnreached { .. }
            | Self::DependencyNotInBase { .. }
            | Self::BaseBehind { .. }
            | Self::Moved { .. }
            | Self::EarlierUnit { .. }
            | Self::PartingDeclined { .. }
            | Self::Fenced { .. }
            | Self::FenceRefused { .. }
            | Self::OriginAhead { .. }
            | Self::ReuseDeclined { .. }
            | Self::WorktreeOccupied { .. } => &[],
        }
    }

    /// Returns what a person can do about it.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::LockBusy(why) | Self::Evidence { why, .. } | Self::NotKnown { why, .. } => why.hint.clone(),
            Self::OriginUnreached { why, .. } => why.hint.clone().or_else(|| Some(UNREACHED.to_string())),
            Self::DependencyNotInBase { at_origin: true, .. } => {
                Some("bring it there: merge its pull request, or push the branch it landed on".to_string())
            }
            Self::DependencyNotInBase {
                base, at_origin: false, ..
            }
            | Self::BaseBehind { base, .. } => Some(format!(
                "update your local {base}: git pull --ff-only where it is checked out, or --no-rebase if it has commits of its \
                 own; git fetch origin {base}:{base} elsewhere"
            )),
            Self::EarlierUnit { spec, unit, .. } => {
                let tasks: Vec<String> = unit.tasks().map(ToString::to_string).collect();
                Some(format!(
                    "if nobody works on it: orchestrate plumbing orchestrate-marker clear specs/{spec} {}",
                    tasks.join(" ")
                ))
            }
            Self::PartingDeclined { .. } => Some("declare another pair, or none".to_string()),
            Self::Moved { .. } | Self::Fenced { .. } => None,
            Self::FenceRefused { .. } => Some(
                "orchestrate doctor names a ref that is in its way; else let origin take refs below \
                 refs/planwright-fence, or set dispatch_fence: off where one clone alone dispatches"
                    .to_string(),
            ),
            Self::OriginAhead { .. } => Some("git fetch origin, then step again".to_string()),
            Self::ReuseDeclined { .. } => Some("remove that worktree, then step again".to_string()),
            Self::WorktreeOccupied { .. } => Some("let them end, or end them".to_string()),
        }
    }
}

impl fmt::Display for HaltReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status { spec, status, .. } => write!(formatter, "specs/{spec} is {status}"),
            Self::BundleInvalid { spec, findings } => {
                write!(formatter, "specs/{spec} cannot be read")?;
                match findings.as_slice() {
                    [] => Ok(()),
                    [only] => write!(formatter, ": {only}"),
                    [first, others @ ..] => write!(formatter, ": {first} (and {} more)", others.len()),
                }
            }
            Self::SignOff { spec, fault, .. } => {
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
                    "pre-change entry: the sign-off was recorded by an older rule of the anchor"
                } else {
                    "the spec changed after it was signed"
                })?;
                let short = |hash: &str| hash.get(..7).unwrap_or(hash).to_string();
                write!(formatter, " (signed {}, {at} has {})", short(signed), short(now))
            }
            Self::WorkingCopyDiffers { spec, base, .. } => {
                write!(formatter, "specs/{spec} in the working copy differs from {base}")
            }
            Self::NotAtOrigin { base } => write!(formatter, "origin has no branch {base}"),
            Self::OriginUnreached { why, in_a_row } => {
                write!(formatter, "{}", origin_unreached(why, *in_a_row))
            }
            Self::Doctrine { name, why, .. } => {
                write!(formatter, "cannot resolve the rule document {name}: {why}")
            }
            Self::Backend { backend, why } | Self::LaunchRefused { backend, why } => {
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
    /// Returns whether the reason lies in one unit alone, so that the unit can be parked and the others go on. Everything
    /// else concerns the bundle or the machine, and would park one unit after the other.
    #[must_use]
    pub const fn is_of_a_unit(&self) -> bool {
        match self {
            Self::WorktreeTaken { .. } | Self::UncommittedWork { .. } => true,
            Self::Status { .. }
            | Self::BundleInvalid { .. }
            | Self::SignOff { .. }
            | Self::Changed { .. }
            | Self::WorkingCopyDiffers { .. }
            | Self::NotAtOrigin { .. }
            | Self::OriginUnreached { .. }
            | Self::Doctrine { .. }
            | Self::Backend { .. }
            | Self::LaunchRefused { .. }
            | Self::Machine(_) => false,
        }
    }

    /// Returns whether the reason stops the dispatch of every unit until a person has answered it. It is written down
    /// once, on the unit that was selected, and never on a second one (`contract/core.md §14.1`). What is no unit's (the
    /// pre-flight), what a person is at work on (the working copy), what the launch guard refuses, and what the machine
    /// refuses, is told only.
    #[must_use]
    pub const fn is_of_every_unit(&self) -> bool {
        match self {
            Self::SignOff { .. } | Self::Changed { .. } | Self::OriginUnreached { .. } | Self::Backend { .. } => true,
            Self::Status { .. }
            | Self::BundleInvalid { .. }
            | Self::WorkingCopyDiffers { .. }
            | Self::NotAtOrigin { .. }
            | Self::Doctrine { .. }
            | Self::LaunchRefused { .. }
            | Self::WorktreeTaken { .. }
            | Self::UncommittedWork { .. }
            | Self::Machine(_) => false,
        }
    }

    /// Returns the reason with its remedy as it is written into a bundle, which names no host and no path of this machine
    /// (`contract/core.md §14.2`).
    #[must_use]
    pub fn recorded(&self) -> String {
        let with = |reason: String, remedy: Option<String>| match remedy {
            Some(remedy) => format!("{reason}; {remedy}"),
            None => reason,
        };
        match self {
            Self::OriginUnreached { in_a_row, .. } => with(
                format!("origin cannot be fetched, {} in a row", count_times(*in_a_row)),
                Some(UNREACHED.to_string()),
            ),
            Self::Backend { backend, why } => {
                let reason = format!("backend {backend} cannot start a worker");
                if is_of_a_machine(&why.reason) {
                    return with(reason, Some("the next step says why".to_string()));
                }
                let remedy = self.remedy().filter(|hint| !is_of_a_machine(hint));
                with(format!("{reason}: {}", why.reason), remedy)
            }
            Self::Status { .. }
            | Self::BundleInvalid { .. }
            | Self::SignOff { .. }
            | Self::Changed { .. }
            | Self::WorkingCopyDiffers { .. }
            | Self::NotAtOrigin { .. }
            | Self::Doctrine { .. }
            | Self::LaunchRefused { .. }
            | Self::WorktreeTaken { .. }
            | Self::UncommittedWork { .. }
            | Self::Machine(_) => with(self.to_string(), self.remedy()),
        }
    }

    /// Returns what a person can do about it.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Status { remedy, .. }
            | Self::SignOff { remedy, .. }
            | Self::WorktreeTaken { remedy, .. }
            | Self::Doctrine { remedy, .. } => Some(remedy.clone()),
            Self::BundleInvalid { spec, .. } => Some(format!(
                "mend the lines that are named; orchestrate validate specs/{spec} shows what is left"
            )),
            Self::Changed {
                spec, pre_change: true, ..
            } => Some(format!(
                "nothing that was signed has changed; record that once: orchestrate sign specs/{spec}"
            )),
            Self::Changed {
                spec,
                pre_change: false,
                ..
            } => Some(format!("review the change and sign it: orchestrate sign specs/{spec}")),
            Self::WorkingCopyDiffers {
                push: Some(push),
                is_committed: true,
                ..
            } => Some(format!("it is committed here and not pushed: {push}")),
            Self::WorkingCopyDiffers {
                spec,
                base,
                push: Some(push),
                ..
            } => Some(format!(
                "commit the change, signed (orchestrate sign specs/{spec}), and bring it to {base} ({push}), or restore \
                 the files"
            )),
            Self::WorkingCopyDiffers {
                spec, base, push: None, ..
            } => Some(format!(
                "commit the change, signed, and bring it to {base} (orchestrate sign specs/{spec}), or restore the files"
            )),
            Self::NotAtOrigin { base } => Some(format!("push it: git push origin {base}")),
            Self::OriginUnreached { why, .. } => why.hint.clone().or_else(|| Some(UNREACHED.to_string())),
            Self::Backend { why, .. } | Self::LaunchRefused { why, .. } => {
                why.hint.clone().or_else(|| Some(OTHER_BACKEND.to_string()))
            }
            Self::UncommittedWork { .. } => Some("commit it on the unit's branch, or move it away".to_string()),
            Self::Machine(fault) => fault.hint.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_into_a_bundle_names_no_host_and_no_path_of_a_machine() {
        let why = Why::new("Could not resolve host: git.corp.example").with_hint("ping git.corp.example");
        let origin = HaltReason::OriginUnreached { why, in_a_row: 3 };
        assert_eq!(
            origin.recorded(),
            "origin cannot be fetched, 3 times in a row; see what stops it: git fetch origin"
        );
        let backend = |reason: &str, hint: &str| {
            let (backend, why) = ("command".to_string(), Why::new(reason).with_hint(hint));
            HaltReason::Backend { backend, why }.recorded()
        };
        assert_eq!(
            backend("claude is not on the search path", "install it"),
            "backend command cannot start a worker: claude is not on the search path; install it"
        );
        assert_eq!(
            backend("claude is not there", "chmod +x /home/me/claude"),
            "backend command cannot start a worker: claude is not there"
        );
        assert_eq!(
            backend("`/home/me/claude` is no program", "x"),
            "backend command cannot start a worker; the next step says why"
        );
    }
}
