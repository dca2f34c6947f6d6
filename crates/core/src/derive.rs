//! Evidence → state: the one table of architecture §7, row by row.
//!
//! For each task the first row that decides wins. A row decides only from what is known; an unknown answer above it
//! keeps the task unknown, unless the row is one that stands on its own (★ in the table).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub use crate::answer::{Answer, Finding, Progress, ProgressKind};
use crate::claim;
use crate::content;
use crate::evidence::{BranchFacts, BranchSide, Evidence, Lease};
use crate::graph::{Parking, TaskGraph};
use crate::identifier::{CommitId, TaskId, Unit};
use crate::observed::{Observed, Why};
use crate::pull_request;
use crate::revert::Reverts;
use crate::words::count;

/// The rows of the table, in the order in which they decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Row {
    /// Row 1: a merged pull request.
    MergedPullRequest,
    /// Row 2 ★: a trailer on base or its counterpart.
    Trailer,
    /// Row 3 ★: the branch's own commits are all on base.
    OwnCommitsLanded,
    /// Row 4 ★: a worker lease is held.
    WorkerLease,
    /// Row 5: own commits that are on base as other ones.
    Rebased,
    /// Row 6: all changes together are on base.
    Squashed,
    /// Row 7: own commits that have not landed.
    OwnCommits,
    /// Row 8: an open pull request.
    OpenPullRequest,
    /// Row 9: a dispatch marker or record.
    Claim,
}

impl Row {
    const ORDER: [Self; 9] = [
        Self::MergedPullRequest,
        Self::Trailer,
        Self::OwnCommitsLanded,
        Self::WorkerLease,
        Self::Rebased,
        Self::Squashed,
        Self::OwnCommits,
        Self::OpenPullRequest,
        Self::Claim,
    ];

    /// Returns the row's name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MergedPullRequest => "merged pull request",
            Self::Trailer => "trailer on base",
            Self::OwnCommitsLanded => "own commits landed",
            Self::WorkerLease => "worker lease",
            Self::Rebased => "rebased onto base",
            Self::Squashed => "squashed onto base",
            Self::OwnCommits => "own commits",
            Self::OpenPullRequest => "open pull request",
            Self::Claim => "dispatch marker",
        }
    }

    /// Returns whether the row decides although a row above it could not be read (★ in architecture §7).
    const fn stands_alone(self) -> bool {
        match self {
            Self::Trailer | Self::OwnCommitsLanded | Self::WorkerLease => true,
            Self::MergedPullRequest
            | Self::Rebased
            | Self::Squashed
            | Self::OwnCommits
            | Self::OpenPullRequest
            | Self::Claim => false,
        }
    }
}

/// The state of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskState {
    /// On base.
    Landed {
        /// The commit that shows it.
        commit: CommitId,
    },
    /// Held by somebody's work.
    InProgress(Progress),
    /// Could not be established; never dispatched.
    Unknown(Why),
    /// Nothing holds it and every dependency has landed.
    Ready,
    /// Nothing holds it, but these dependencies have not landed.
    Blocked {
        /// The dependencies, in the order written.
        needs: Vec<TaskId>,
    },
}

/// One task's state and how it was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskReport {
    /// The state.
    pub state: TaskState,
    /// Every row with its answer, in order.
    pub rows: Vec<(Row, Answer)>,
    /// The row that decided, none for ready, blocked and unknown.
    pub decided_by: Option<Row>,
    /// A worker still lives although the task has landed.
    pub worker_still_running: bool,
    /// The reference bullet that parks the task, if one does.
    pub parked: Option<Parking>,
}

impl TaskReport {
    /// Returns what a person can do about the task, where something holds it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match &self.state {
            TaskState::InProgress(progress) => progress.hint.clone(),
            TaskState::Unknown(why) => why.hint.clone(),
            TaskState::Landed { .. } | TaskState::Ready | TaskState::Blocked { .. } => None,
        }
    }
}

/// The derived state of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpecState {
    /// Each task of the bundle.
    pub tasks: BTreeMap<TaskId, TaskReport>,
}

impl SpecState {
    /// Returns the tasks that have landed, each with the commit that shows it.
    #[must_use]
    pub fn landed(&self) -> BTreeMap<TaskId, CommitId> {
        let landing = |(task, report): (&TaskId, &TaskReport)| match &report.state {
            TaskState::Landed { commit } => Some((task.clone(), commit.clone())),
            TaskState::InProgress(_) | TaskState::Unknown(_) | TaskState::Ready | TaskState::Blocked { .. } => None,
        };
        self.tasks.iter().filter_map(landing).collect()
    }

    /// Returns how many tasks count against the cap: those in progress, and those that may be.
    #[must_use]
    pub fn occupied(&self) -> usize {
        let counts = |report: &&TaskReport| match report.state {
            // What waits for a person takes no place: one poison unit must not stop the others (law L12).
            TaskState::InProgress(ref progress) => {
                !matches!(progress.kind, ProgressKind::Ended | ProgressKind::Reverted)
            }
            TaskState::Unknown(_) => true,
            TaskState::Landed { .. } | TaskState::Ready | TaskState::Blocked { .. } => false,
        };
        self.tasks.values().filter(counts).count()
    }
}

/// Returns the state of every task of the bundle.
#[must_use]
pub fn derive(graph: &TaskGraph, evidence: &Evidence) -> SpecState {
    let decided: BTreeMap<TaskId, (Vec<(Row, Answer)>, Decision)> = graph
        .tasks
        .iter()
        .map(|task| {
            let rows: Vec<(Row, Answer)> = Row::ORDER
                .into_iter()
                .map(|row| (row, answer(row, &task.id, evidence)))
                .collect();
            let decision = decide(&task.id, &rows, evidence);
            (task.id.clone(), (rows, decision))
        })
        .collect();
    let landed: BTreeSet<TaskId> = decided
        .iter()
        .filter(|(_, (_, decision))| decision.is_landed())
        .map(|(task, _)| task.clone())
        .collect();
    let tasks = graph.tasks.iter().filter_map(|task| {
        let (rows, decision) = decided.get(&task.id)?.clone();
        let worker_still_running = decision.is_landed() && says_yes(&rows, Row::WorkerLease);
        let decided_by = decision.row();
        let decision = decision.with_pull_request(&rows);
        let state = decision.state(|| {
            let needs: Vec<TaskId> = task
                .dependencies
                .iter()
                .filter(|dependency| !landed.contains(*dependency))
                .cloned()
                .collect();
            if needs.is_empty() {
                TaskState::Ready
            } else {
                TaskState::Blocked { needs }
            }
        });
        let parked = graph.parked.get(&task.id).cloned();
        Some((
            task.id.clone(),
            TaskReport {
                state,
                rows,
                decided_by,
                worker_still_running,
                parked,
            },
        ))
    });
    SpecState { tasks: tasks.collect() }
}

#[derive(Debug, Clone)]
enum Decision {
    Decided(Row, Finding),
    Unknown(Why),
    Open,
}

impl Decision {
    fn is_landed(&self) -> bool {
        matches!(self, Self::Decided(_, Finding::Landed { .. }))
    }

    fn row(&self) -> Option<Row> {
        match self {
            Self::Decided(row, _) => Some(*row),
            Self::Unknown(_) | Self::Open => None,
        }
    }

    /// A pull request says more of commits that wait than the commits do.
    fn with_pull_request(self, rows: &[(Row, Answer)]) -> Self {
        let submitted = rows.iter().find_map(|(row, answer)| match (row, answer) {
            (Row::OpenPullRequest, Answer::Yes(finding)) => Some(finding.clone()),
            _ => None,
        });
        match (self, submitted) {
            (Self::Decided(row @ Row::OwnCommits, _), Some(finding)) => Self::Decided(row, finding),
            (decision, _) => decision,
        }
    }

    fn state(self, open: impl FnOnce() -> TaskState) -> TaskState {
        match self {
            Self::Decided(_, Finding::Landed { commit, .. }) => TaskState::Landed { commit },
            Self::Decided(_, Finding::InProgress(progress)) => TaskState::InProgress(progress),
            Self::Unknown(why) => TaskState::Unknown(why),
            Self::Open => open(),
        }
    }
}

fn decide(task: &TaskId, rows: &[(Row, Answer)], evidence: &Evidence) -> Decision {
    let mut unknown: Option<&Why> = None;
    let mut undone: Option<Decision> = None;
    for (row, answer) in rows {
        // The claims of an attempt that has landed outlive it: what was undone since is what counts.
        if *row == Row::Claim && unknown.is_none() && undone.is_some() {
            break;
        }
        match answer {
            Answer::Yes(finding) if unknown.is_none() || row.stands_alone() => {
                return Decision::Decided(*row, finding.clone());
            }
            Answer::Unknown(why) => unknown = unknown.or(Some(why)),
            Answer::Undone { landing, by } => {
                undone.get_or_insert_with(|| Decision::Decided(*row, held_by_revert(task, landing, by, evidence)));
            }
            Answer::Yes(_) | Answer::No(_) => {}
        }
    }
    match (unknown, undone) {
        (Some(why), _) => Decision::Unknown(why.clone()),
        (None, Some(undone)) => undone,
        (None, None) => Decision::Open,
    }
}

/// Nobody does again by himself what somebody has removed.
fn held_by_revert(task: &TaskId, landing: &str, by: &CommitId, evidence: &Evidence) -> Finding {
    Finding::InProgress(Progress {
        kind: ProgressKind::Reverted,
        detail: format!("{landing}, reverted by {}", by.short()),
        hint: Some(format!(
            "to have it done again: orchestrate unpark specs/{} {task}",
            evidence.spec
        )),
    })
}

/// Returns the answer of a row that found a landing: what was undone has not landed, and what a person wants done
/// again is as if it had never been.
pub(crate) fn landed_unless_undone(
    task: &TaskId,
    evidence: &Evidence,
    by: Option<&CommitId>,
    (commit, detail): (CommitId, String),
) -> Answer {
    let Some(by) = by else {
        return Answer::Yes(Finding::Landed { commit, detail });
    };
    if evidence.redo.get(task).is_some_and(|wanted| wanted.contains(by)) {
        return Answer::No(format!("{detail}, reverted by {}, and wanted again", by.short()));
    }
    Answer::Undone {
        landing: detail,
        by: by.clone(),
    }
}

/// Returns the reverts on base. Without them no landing is certain.
pub(crate) fn reverts(evidence: &Evidence) -> Result<&Reverts, &Why> {
    match &evidence.history {
        Observed::Known(history) => Ok(&history.reverts),
        Observed::Absent(why) | Observed::Unknown(why) => Err(why),
    }
}

fn says_yes(rows: &[(Row, Answer)], wanted: Row) -> bool {
    rows.iter()
        .any(|(row, answer)| *row == wanted && matches!(answer, Answer::Yes(_)))
}

fn answer(row: Row, task: &TaskId, evidence: &Evidence) -> Answer {
    match row {
        Row::MergedPullRequest => pull_request::merged(task, evidence),
        Row::Trailer => trailer(task, evidence),
        Row::OwnCommitsLanded => with_branches(task, evidence, own_commits_landed),
        Row::WorkerLease => worker_lease(task, evidence),
        Row::Rebased => content::rebased(task, evidence),
        Row::Squashed => content::squashed(task, evidence),
        Row::OwnCommits => with_branches(task, evidence, own_commits),
        Row::OpenPullRequest => pull_request::open(task, evidence),
        Row::Claim => claim::answer(task, evidence),
    }
}

fn trailer(task: &TaskId, evidence: &Evidence) -> Answer {
    let history = match &evidence.history {
        Observed::Known(history) => history,
        Observed::Absent(why) => return Answer::No(why.reason.clone()),
        Observed::Unknown(why) => return Answer::Unknown(why.clone()),
    };
    let named = history.trailers.get(task).map(Vec::as_slice).unwrap_or_default();
    let undone = |commit: &&CommitId| history.reverts.commits.contains_key(*commit);
    match (
        named.iter().find(|commit| !undone(commit)).or(named.first()),
        &history.incomplete,
    ) {
        (Some(commit), _) => landed_unless_undone(
            task,
            evidence,
            history.reverts.commits.get(commit),
            (
                commit.clone(),
                format!("trailer in {} on {}", commit.short(), where_base(evidence)),
            ),
        ),
        (None, Some(why)) => Answer::Unknown(why.clone()),
        (None, None) => Answer::No(format!(
            "walked {} commits of {} at {}",
            history.walked,
            evidence.base.name,
            evidence.base.commit.short()
        )),
    }
}

/// Base, and its counterpart where that is another commit: a landing may be in either.
fn where_base(evidence: &Evidence) -> String {
    let base = &evidence.base;
    match &base.counterpart {
        Some(counterpart) if *counterpart != base.commit => format!("{} or its counterpart at origin", base.name),
        Some(_) | None => base.name.to_string(),
    }
}

/// Folds the answers of every branch that speaks for the task; a bundle branch speaks for each member.
fn with_branches(
    task: &TaskId,
    evidence: &Evidence,
    ask: fn(&TaskId, &Unit, &BranchFacts, &Evidence) -> Answer,
) -> Answer {
    let branches = match &evidence.branches {
        Observed::Known(branches) => branches,
        Observed::Absent(why) => return Answer::No(why.reason.clone()),
        Observed::Unknown(why) => return Answer::Unknown(why.clone()),
    };
    let mut result = Answer::No("no task branch".to_string());
    let speaking = branches.iter().filter(|(unit, _)| unit.contains(task));
    for (unit, facts) in speaking.flat_map(|(unit, all)| all.iter().map(move |facts| (unit, facts))) {
        result = match (result, ask(task, unit, facts, evidence)) {
            (yes @ Answer::Yes(_), _) | (_, yes @ Answer::Yes(_)) => yes,
            (unknown @ Answer::Unknown(_), _) | (_, unknown @ Answer::Unknown(_)) => unknown,
            (undone @ Answer::Undone { .. }, _) | (_, undone @ Answer::Undone { .. }) => undone,
            (Answer::No(_), no @ Answer::No(_)) => no,
        };
    }
    result
}

fn own_commits_landed(task: &TaskId, unit: &Unit, facts: &BranchFacts, evidence: &Evidence) -> Answer {
    let base = &evidence.base.name;
    if facts.ahead > 0 {
        return Answer::No(format!(
            "{} of task-{unit} not on {base}",
            count(facts.ahead, "own commit")
        ));
    }
    match &facts.own {
        Observed::Known(own) if own.is_empty() => Answer::No(format!("task-{unit} has no own commits")),
        Observed::Known(own) => match reverts(evidence) {
            Ok(reverts) => landed_unless_undone(
                task,
                evidence,
                own.iter().find_map(|commit| reverts.commits.get(commit)),
                (
                    facts.tip.clone(),
                    format!("{} of task-{unit} on {base}", count(own.len(), "own commit")),
                ),
            ),
            Err(why) => Answer::Unknown(why.clone()),
        },
        Observed::Absent(why) | Observed::Unknown(why) => Answer::Unknown(
            Why::new(format!(
                "branch task-{unit} at {} is contained in {base}, but where it started is not recorded ({why})",
                facts.tip.short()
            ))
            .with_hint("delete the branch if its work never landed, or land a commit with the task's trailer"),
        ),
    }
}

fn own_commits(_task: &TaskId, unit: &Unit, facts: &BranchFacts, evidence: &Evidence) -> Answer {
    let place = match facts.side {
        BranchSide::Local => "",
        BranchSide::Remote => "origin's ",
    };
    if facts.ahead == 0 {
        return Answer::No(format!(
            "{place}task-{unit} has nothing that is not on {}",
            evidence.base.name
        ));
    }
    Answer::Yes(Finding::InProgress(Progress {
        kind: ProgressKind::Committed,
        detail: format!(
            "{} on {place}task-{unit}, not on {}",
            count(facts.ahead, "commit"),
            evidence.base.name
        ),
        hint: None,
    }))
}

fn worker_lease(task: &TaskId, evidence: &Evidence) -> Answer {
    let leases = match &evidence.leases {
        Observed::Known(leases) => leases,
        Observed::Absent(why) => return Answer::No(why.reason.clone()),
        Observed::Unknown(why) => return Answer::Unknown(why.clone()),
    };
    let mut result = Answer::No("no worktree, so no worker".to_string());
    for (unit, lease) in leases.iter().filter(|(unit, _)| unit.contains(task)) {
        match lease {
            Observed::Known(Lease::Held { holder }) => {
                return Answer::Yes(Finding::InProgress(Progress {
                    kind: ProgressKind::Running,
                    detail: format!("the worker lease of task-{unit} is held ({holder})"),
                    hint: None,
                }));
            }
            Observed::Unknown(why) => result = Answer::Unknown(why.clone()),
            Observed::Known(Lease::Free) | Observed::Absent(_) => {
                if matches!(result, Answer::No(_)) {
                    result = Answer::No("the worker lease is free".to_string());
                }
            }
        }
    }
    result
}
