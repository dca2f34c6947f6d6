//! The stored placement and status of format version 1, from the derived state (`contract/core.md §8.2, §8.3`).

use std::collections::{BTreeMap, BTreeSet};

use orchestrate_core::derive::{Row, TaskReport, TaskState};
use orchestrate_core::evidence::{BranchSide, Evidence};
use orchestrate_core::identifier::{CommitId, TaskId, Unit};
use orchestrate_core::observed::Observed;
use orchestrate_core::place::BundleFile;
use orchestrate_core::pull_request::{PullRequest, PullRequestState};
use orchestrate_core::time::Timestamp;
use orchestrate_core::world::World;
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
pub fn place(world: &dyn World, texts: &BundleTexts, survey: &Survey) -> Result<Placed, PlacementError> {
    let standings = standings(world, survey);
    let mut placed = store_status(texts, &standings);
    placed.texts.tasks = placement::place(&placed.texts.tasks, &standings)?;
    Ok(with_changed(placed, texts))
}

/// Returns the bundle with the stored status that follows from where its blocks stand; nothing where it has no task.
#[must_use]
pub fn place_status(world: &dyn World, texts: &BundleTexts, survey: &Survey) -> Placed {
    with_changed(store_status(texts, &standings(world, survey)), texts)
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

fn standings(world: &dyn World, survey: &Survey) -> BTreeMap<TaskId, Standing> {
    let times = world.commit_times(&datable(&survey.evidence));
    let standing = |(task, report): (&TaskId, &TaskReport)| {
        let standing = match &report.state {
            TaskState::Landed { .. } => Standing::Completed(stamp(task, report, &survey.evidence, &times)),
            TaskState::InProgress(_) => Standing::InProgress,
            TaskState::Unknown(_) => Standing::Unknown,
            TaskState::Ready | TaskState::Blocked { .. } => Standing::Open,
        };
        (task.clone(), standing)
    };
    survey.state.tasks.iter().map(standing).collect()
}

/// When a task landed (`contract/core.md §4.7`): its merged pull request with the day of its commit, else the day of its
/// branch's last commit, else nothing that is known.
fn stamp(
    task: &TaskId,
    report: &TaskReport,
    evidence: &Evidence,
    times: &BTreeMap<CommitId, Timestamp>,
) -> Option<Stamp> {
    let day = |commit: &CommitId| times.get(commit).and_then(|at| date_of(*at));
    let merged = merged_pull_request(task, evidence)
        .filter(|_| report.decided_by == Some(Row::MergedPullRequest))
        .and_then(|(number, commit)| {
            let merged = day(&commit)?;
            Some(Stamp {
                pull_request: Some(number),
                merged,
            })
        });
    merged.or_else(|| {
        let merged = day(local_tip(task, evidence)?)?;
        Some(Stamp {
            pull_request: None,
            merged,
        })
    })
}

fn date_of(at: Timestamp) -> Option<Date> {
    Date::parse(at.to_string().get(..10)?)
}

fn merged_pull_request(task: &TaskId, evidence: &Evidence) -> Option<(u64, CommitId)> {
    let Observed::Known(answer) = &evidence.pull_requests else {
        return None;
    };
    let of_task = answer.by_unit.iter().filter(|(unit, _)| unit.contains(task));
    let known = of_task.filter_map(|(_, found)| match found {
        Observed::Known(found) => Some(found.iter()),
        Observed::Absent(_) | Observed::Unknown(_) => None,
    });
    let merged = |request: &PullRequest| match &request.state {
        PullRequestState::Merged(Some(commit)) => Some((request.number, commit.clone())),
        PullRequestState::Merged(None) | PullRequestState::Open { .. } | PullRequestState::Closed => None,
    };
    known.flatten().find_map(merged)
}

fn local_tip<'a>(task: &TaskId, evidence: &'a Evidence) -> Option<&'a CommitId> {
    let Observed::Known(branches) = &evidence.branches else {
        return None;
    };
    let facts = branches.by_unit.get(&Unit::single(task.clone()))?;
    let local = facts.iter().find(|facts| facts.side == BranchSide::Local)?;
    Some(&local.tip)
}

/// Returns the commits by which a completion may be dated.
fn datable(evidence: &Evidence) -> BTreeSet<CommitId> {
    let mut commits = BTreeSet::new();
    if let Observed::Known(branches) = &evidence.branches {
        commits.extend(branches.by_unit.values().flatten().map(|facts| facts.tip.clone()));
    }
    if let Observed::Known(answer) = &evidence.pull_requests {
        let tasks = answer.by_unit.keys().flat_map(Unit::tasks);
        commits.extend(
            tasks
                .filter_map(|task| merged_pull_request(task, evidence))
                .map(|(_, commit)| commit),
        );
    }
    commits
}
