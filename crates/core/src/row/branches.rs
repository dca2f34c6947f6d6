//! Rows 3 ★ and 7: the commits that the unit's branches have of their own.

use alloc::format;
use alloc::string::{String, ToString};

use super::landing::{landed_unless_undone, reverts, unseen};
use crate::answer::{Answer, Finding, Progress, ProgressKind};
use crate::evidence::{BranchFacts, BranchSide, Evidence};
use crate::identifier::{TaskId, Unit, UnitName};
use crate::observed::{Observed, Why};
use crate::words::count;

/// Row 3: all of them are on base.
pub(super) fn own_commits_landed(task: &TaskId, evidence: &Evidence) -> Answer {
    with_branches(task, evidence, landed)
}

/// Row 7: some are not.
pub(super) fn own_commits(task: &TaskId, evidence: &Evidence) -> Answer {
    with_branches(task, evidence, waiting)
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
    if let Some((_, why)) = branches.unreadable.iter().find(|(unit, _)| unit.contains(task)) {
        result = Answer::Unknown(why.clone());
    }
    let speaking = branches.by_unit.iter().filter(|(unit, _)| unit.contains(task));
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

fn landed(task: &TaskId, unit: &Unit, facts: &BranchFacts, evidence: &Evidence) -> Answer {
    let base = &evidence.base.name;
    if facts.ahead > 0 {
        if let Some(why) = unseen(evidence) {
            return Answer::Unknown(why.clone());
        }
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
        Observed::Absent(why) => contained(
            unit,
            facts,
            evidence,
            &format!("where it started is not recorded ({why})"),
        ),
        Observed::Unknown(why) => contained(
            unit,
            facts,
            evidence,
            &format!("which commits are its own cannot be told ({why})"),
        ),
    }
}

/// The branch is landed work, or nothing.
fn contained(unit: &Unit, facts: &BranchFacts, evidence: &Evidence, but: &str) -> Answer {
    let reason = format!(
        "branch task-{unit} at {} is contained in {}, but {but}",
        facts.tip.short(),
        evidence.base.name
    );
    let hint = match facts.side {
        BranchSide::Local => "delete the branch if its work never landed, or land a commit with the task's trailer",
        // A fetch of ours removes no tracking branch, which may be the only trace of work.
        BranchSide::Remote => {
            "if its work never landed, delete the branch at the remote, then git fetch --prune in each clone; \
             else land a commit with the task's trailer"
        }
    };
    Answer::Unknown(Why::new(reason).with_hint(hint))
}

fn branch_of(unit: &Unit, evidence: &Evidence) -> String {
    let name = UnitName {
        spec: evidence.spec.clone(),
        unit: unit.clone(),
    };
    name.branch()
}

fn waiting(_task: &TaskId, unit: &Unit, facts: &BranchFacts, evidence: &Evidence) -> Answer {
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
    if let Some(why) = unseen(evidence) {
        return Answer::Unknown(why.clone());
    }
    Answer::Yes(Finding::InProgress(Progress {
        kind: ProgressKind::Committed,
        detail: format!(
            "{} on {place}task-{unit}, not on {}",
            count(facts.ahead, "commit"),
            evidence.base.name
        ),
        hint: Some(format!(
            "review {}, and merge it into {}",
            branch_of(unit, evidence),
            evidence.base.name
        )),
        at: evidence.times.get(&facts.tip).map(|time| time.at),
    }))
}
