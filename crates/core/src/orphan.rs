//! Which dispatched units have lost their worker (`contract/core.md §8.5`): the sweep's verdict.
//!
//! Three conditions, all of them: the dispatch is older than the grace; this machine can see whether its worker lives; and
//! what it sees is that the worker is dead and has left nothing. Age alone never calls anything dead, and nothing that
//! could not be looked at does (law L4). Pull requests come first: with one, open or not, a unit is no orphan.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::derive::{ProgressKind, Row, SpecState, TaskReport, TaskState};
use crate::evidence::{BranchFacts, BranchSide, Evidence, Lease, UnitRecords};
use crate::graph::TaskGraph;
use crate::identifier::{BackendName, SpecId, TaskId, Unit};
use crate::observed::Observed;
use crate::process::Liveness;
use crate::record::dispatch::DispatchRecord;
use crate::record::launch::LaunchRecord;
use crate::time::Timestamp;

/// A unit that is an orphan unless something still works in its worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspect(Orphan);

/// A dispatched unit whose worker is gone and has left neither a commit nor a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// The unit.
    pub unit: Unit,
    /// Its tasks that are not parked yet; never none.
    pub tasks: Vec<TaskId>,
    spec: SpecId,
    backend: BackendName,
    pid: u32,
    /// How the worker ended, where that was recorded.
    end: Option<String>,
    last_activity: Timestamp,
}

impl Suspect {
    /// Returns the unit.
    #[must_use]
    pub fn unit(&self) -> &Unit {
        &self.0.unit
    }

    /// Returns the orphan, if nobody works in the unit's worktree. One that is not there, or cannot be looked into, is
    /// no place where that can be seen.
    #[must_use]
    pub fn judged(self, occupants: &Observed<Vec<String>>) -> Option<Orphan> {
        match occupants {
            Observed::Known(processes) if processes.is_empty() => Some(self.0),
            Observed::Known(_) | Observed::Absent(_) | Observed::Unknown(_) => None,
        }
    }
}

impl Orphan {
    /// Returns why a task of the unit waits for a person (`contract/core.md §14.3`): one line without a host's name, with
    /// the command that has the task done again.
    #[must_use]
    pub fn note(&self, task: &TaskId) -> String {
        let Self { unit, spec, .. } = self;
        format!(
            "{}; re-dispatch is a human decision: look at .git/orchestrate/logs/{spec}-task-{unit}.log, then orchestrate \
             unpark {spec} {task}",
            self.what()
        )
    }

    /// Returns what happened, in one line.
    #[must_use]
    pub fn what(&self) -> String {
        let Self {
            backend,
            pid,
            end,
            last_activity,
            ..
        } = self;
        let what = match end {
            Some(end) => format!("ended and left no commit on its branch: {backend} worker pid {pid} ({end})"),
            None => format!(
                "orphaned: {backend} worker pid {pid} gone (evidence: its process is dead, its lease is free, no commit on its branch)"
            ),
        };
        format!("{what}, last activity {last_activity}")
    }
}

/// Returns the units that may be orphans. The grace is in seconds.
#[must_use]
pub fn suspects(graph: &TaskGraph, evidence: &Evidence, state: &SpecState, grace_seconds: i64) -> Vec<Suspect> {
    let Observed::Known(records) = &evidence.records else {
        return Vec::new();
    };
    records
        .iter()
        .filter_map(|(unit, records)| suspect(unit, records, (graph, evidence, state), grace_seconds))
        .collect()
}

fn suspect(
    unit: &Unit,
    records: &UnitRecords,
    (graph, evidence, state): (&TaskGraph, &Evidence, &SpecState),
    grace_seconds: i64,
) -> Option<Suspect> {
    let (Observed::Known(dispatch), Observed::Known(launch)) = (&records.dispatch, &records.launch) else {
        return None;
    };
    // A printed command has no process that could be seen to be gone.
    let runner = launch.runner.as_ref().filter(|_| dispatch.was_launched(launch))?;
    let last_activity = last_activity(dispatch, launch);
    let is_old = evidence.now.seconds_since(last_activity) > grace_seconds;
    let is_dead = records.runner == Observed::Known(Liveness::Dead);
    if !is_old || !is_dead || !is_lease_free(unit, evidence) || !has_nothing(unit, dispatch, evidence) {
        return None;
    }
    let members: Vec<(&TaskId, &TaskReport)> = unit
        .tasks()
        .filter_map(|task| Some((task, state.tasks.get(task)?)))
        .collect();
    // Of two members one may have landed by itself; of none may anything else be known, or unknown.
    let is_told = |report: &TaskReport| match &report.state {
        TaskState::InProgress(progress) => {
            report.decided_by == Some(Row::Claim) && progress.kind == ProgressKind::Ended
        }
        TaskState::Landed { .. } => true,
        TaskState::Unknown(_) | TaskState::Ready | TaskState::Blocked { .. } => false,
    };
    if members.len() != unit.tasks().count() || !members.iter().all(|(_, report)| is_told(report)) {
        return None;
    }
    let waits = |(task, report): &(&TaskId, &TaskReport)| {
        matches!(report.state, TaskState::InProgress(_)) && !parked_by_a_person(graph, task)
    };
    let tasks: Vec<TaskId> = members
        .iter()
        .filter(|member| waits(member))
        .map(|(task, _)| (*task).clone())
        .collect();
    (!tasks.is_empty()).then(|| {
        Suspect(Orphan {
            unit: unit.clone(),
            tasks,
            spec: evidence.spec.clone(),
            backend: dispatch.launch.backend.clone(),
            pid: runner.pid,
            end: launch.ended.as_ref().map(|end| end.status.clone()),
            last_activity,
        })
    })
}

/// The sections of version 1 that store a state park nothing for a person.
fn parked_by_a_person(graph: &TaskGraph, task: &TaskId) -> bool {
    graph
        .parked
        .get(task)
        .is_some_and(|parking| parking.place.is_a_persons())
}

fn last_activity(dispatch: &DispatchRecord, launch: &LaunchRecord) -> Timestamp {
    let ended = launch.ended.as_ref().map(|end| end.at);
    let latest = dispatch.dispatched.max(launch.launched);
    ended.map_or(latest, |ended| ended.max(latest))
}

fn is_lease_free(unit: &Unit, evidence: &Evidence) -> bool {
    match &evidence.leases {
        Observed::Known(leases) => leases.get(unit) == Some(&Observed::Known(Lease::Free)),
        Observed::Absent(_) | Observed::Unknown(_) => false,
    }
}

/// Returns whether the unit is known to have left nothing: its branch is where it started, nobody pushed it, and the
/// forge, where there is one, knows of no pull request of it.
fn has_nothing(unit: &Unit, dispatch: &DispatchRecord, evidence: &Evidence) -> bool {
    let Observed::Known(branches) = &evidence.branches else {
        return false;
    };
    let Observed::Known(facts) = branches.of(unit) else {
        return false;
    };
    let at_start = |facts: &BranchFacts| facts.side == BranchSide::Local && facts.tip == dispatch.start;
    if facts.is_empty() || !facts.iter().all(at_start) {
        return false;
    }
    match &evidence.pull_requests {
        Observed::Known(answer) => {
            matches!(answer.by_unit.get(unit), Some(Observed::Known(of_unit)) if of_unit.is_empty())
        }
        Observed::Absent(_) => true,
        Observed::Unknown(_) => false,
    }
}
