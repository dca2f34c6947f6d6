//! Rows 1 and 8: merged and open pull requests.
//!
//! A pull request speaks for a unit when its head is the unit's branch in the repository we push to and its base is our
//! base. A merged one counts for the commits it had: work beyond them has not landed.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::landing::{landed_unless_undone, reverts, unseen};
use crate::answer::{Answer, Finding, Progress, ProgressKind};
use crate::evidence::{BranchFacts, BranchSide, Evidence};
use crate::identifier::{CommitId, TaskId, Unit};
use crate::observed::{Observed, Why};
use crate::pull_request::{Checks, MergeManner, PullRequest, PullRequestState, PullRequests, TipRelation};

/// Row 1: a merged pull request of the task's unit.
pub(super) fn merged(task: &TaskId, evidence: &Evidence) -> Answer {
    speak(task, evidence, |unit, pull_request, all| match &pull_request.state {
        PullRequestState::Merged(commit) => Some(
            stands_apart(unit, pull_request, all, evidence)
                .unwrap_or_else(|| landed(task, pull_request, commit.as_ref(), evidence)),
        ),
        PullRequestState::Open { .. } | PullRequestState::Closed => None,
    })
}

/// Row 8: an open pull request of the task's unit.
pub(super) fn open(task: &TaskId, evidence: &Evidence) -> Answer {
    speak(task, evidence, |_, pull_request, _| match &pull_request.state {
        PullRequestState::Open { draft } => Some(Answer::Yes(Finding::InProgress(Progress {
            kind: ProgressKind::Submitted,
            detail: format!(
                "PR #{} open{}, {}",
                pull_request.number,
                if *draft { ", draft" } else { "" },
                pull_request.checks.words()
            ),
            hint: Some(next_act(pull_request, *draft)),
            at: pull_request.shown.updated.or(pull_request.shown.created),
        }))),
        PullRequestState::Merged(_) | PullRequestState::Closed => None,
    })
}

/// What a person can do about an open pull request.
fn next_act(pull_request: &PullRequest, draft: bool) -> String {
    let number = pull_request.number;
    match (pull_request.checks, draft) {
        (Checks::Failed, _) => format!("mend what the checks of PR #{number} say"),
        (Checks::Pending, _) => format!("when its checks have ended: review PR #{number} and merge it"),
        (Checks::Passed | Checks::None | Checks::Unknown, true) => {
            format!("review PR #{number}, which is still a draft, and merge it")
        }
        (Checks::Passed | Checks::None | Checks::Unknown, false) => format!("review PR #{number} and merge it"),
    }
}

/// Returns the pull request of the task's unit that people are shown: an open one, else the newest merged one.
#[must_use]
pub fn pull_request_of<'a>(task: &TaskId, evidence: &'a Evidence) -> Option<&'a PullRequest> {
    let is_open = |found: &&PullRequest| matches!(found.state, PullRequestState::Open { .. });
    let open = all_of(task, evidence).into_iter().find(is_open);
    open.or_else(|| merged_pull_request_of(task, evidence))
}

/// Returns the newest merged pull request of the task's unit.
#[must_use]
pub fn merged_pull_request_of<'a>(task: &TaskId, evidence: &'a Evidence) -> Option<&'a PullRequest> {
    let is_merged = |found: &&PullRequest| matches!(found.state, PullRequestState::Merged(_));
    all_of(task, evidence).into_iter().find(is_merged)
}

/// Returns whether a merged pull request of exactly this unit, into our base, had that commit as the last of its head.
#[must_use]
pub fn is_merged_head(unit: &Unit, tip: &CommitId, evidence: &Evidence) -> bool {
    let Observed::Known(all) = &evidence.pull_requests else {
        return false;
    };
    let asked = match all.by_unit.get(unit) {
        Some(Observed::Known(found)) => found.as_slice(),
        Some(Observed::Absent(_) | Observed::Unknown(_)) | None => &[],
    };
    let beside = all.beside.get(unit).map(Vec::as_slice).unwrap_or_default();
    asked.iter().chain(beside).any(|found| {
        matches!(found.state, PullRequestState::Merged(_))
            && found.head == *tip
            && is_for_base(found, evidence)
            && matches!(owner(found, all), Owner::Ours)
    })
}

/// Returns every pull request that is the task's unit's own, into our base.
fn all_of<'a>(task: &TaskId, evidence: &'a Evidence) -> Vec<&'a PullRequest> {
    let Observed::Known(all) = &evidence.pull_requests else {
        return Vec::new();
    };
    let asked = all.by_unit.iter().filter_map(|(unit, found)| match found {
        Observed::Known(found) => Some((unit, found)),
        Observed::Absent(_) | Observed::Unknown(_) => None,
    });
    asked
        .chain(&all.beside)
        .filter(|(unit, _)| unit.contains(task))
        .flat_map(|(_, found)| found)
        .filter(|found| is_for_base(found, evidence) && matches!(owner(found, all), Owner::Ours))
        .collect()
}

/// Asks every pull request that speaks for the task. The first that decides wins; what could not be read comes before
/// what says no.
fn speak(
    task: &TaskId,
    evidence: &Evidence,
    ask: impl Fn(&Unit, &PullRequest, &PullRequests) -> Option<Answer>,
) -> Answer {
    let all = match &evidence.pull_requests {
        Observed::Known(all) => all,
        Observed::Absent(why) => return Answer::No(why.reason.clone()),
        Observed::Unknown(why) => return Answer::Unknown(why.clone()),
    };
    let mut result = Answer::No(format!(
        "none for the task's branch in {} (asked {})",
        all.repository,
        all.asked.ago_at(evidence.now)
    ));
    for (unit, found) in all.by_unit.iter().filter(|(unit, _)| unit.contains(task)) {
        let found = match found {
            Observed::Known(found) => found.as_slice(),
            Observed::Absent(why) => {
                result = Answer::No(why.reason.clone());
                continue;
            }
            Observed::Unknown(why) => {
                result = Answer::Unknown(why.clone());
                continue;
            }
        };
        for pull_request in found.iter().filter(|pull_request| is_for_base(pull_request, evidence)) {
            let answer = match owner(pull_request, all) {
                Owner::Ours => ask(unit, pull_request, all),
                Owner::Gone => Some(ownerless(pull_request)),
                Owner::Other => None,
            };
            let Some(answer) = answer else { continue };
            match (&result, answer) {
                (_, yes @ Answer::Yes(_)) => return yes,
                (Answer::Unknown(_), _) | (Answer::Undone { .. }, Answer::No(_)) => {}
                (Answer::Yes(_) | Answer::No(_) | Answer::Undone { .. }, other) => result = other,
            }
        }
    }
    result
}

fn is_for_base(pull_request: &PullRequest, evidence: &Evidence) -> bool {
    pull_request.base == evidence.base.name.as_str()
}

/// Whose the head of a pull request is.
enum Owner {
    Ours,
    Other,
    /// The head's repository was deleted, and somebody with the right to has merged it.
    Gone,
}

fn owner(pull_request: &PullRequest, all: &PullRequests) -> Owner {
    match &pull_request.head_owner {
        Some(owner) if owner.eq_ignore_ascii_case(&all.head_owner) => Owner::Ours,
        None if matches!(pull_request.state, PullRequestState::Merged(_)) => Owner::Gone,
        Some(_) | None => Owner::Other,
    }
}

fn ownerless(pull_request: &PullRequest) -> Answer {
    let reason = format!(
        "PR #{} is merged, but the repository of its head is gone, so whether it was this unit cannot be told",
        pull_request.number
    );
    Answer::Unknown(Why::new(reason).with_hint("if it was, land an empty commit with the task's trailer"))
}

/// Returns the answer where a branch of the unit holds other work than what was merged, or may.
fn stands_apart(unit: &Unit, pull_request: &PullRequest, all: &PullRequests, evidence: &Evidence) -> Option<Answer> {
    let number = pull_request.number;
    let branches = match &evidence.branches {
        Observed::Known(branches) => match branches.of(unit).known() {
            Ok(branches) => branches.unwrap_or_default(),
            Err(why) => return Some(uncompared(unit, number, &why.reason)),
        },
        Observed::Absent(_) => &[],
        Observed::Unknown(why) => return Some(Answer::Unknown(why.clone())),
    };
    let relations = all.relations.get(&number).map(Vec::as_slice).unwrap_or_default();
    let relation = |side: BranchSide| {
        relations
            .iter()
            .find(|(of, _)| *of == side)
            .map(|(_, relation)| relation)
    };
    // A branch without anything that base lacks cannot hold work that the pull request did not bring.
    for facts in branches.iter().filter(|facts| facts.ahead > 0) {
        match relation(facts.side) {
            Some(Observed::Known(TipRelation::Within)) => {}
            Some(Observed::Known(TipRelation::Beyond)) => return Some(beyond(unit, pull_request, facts, evidence)),
            Some(Observed::Known(TipRelation::Apart)) => {
                if let Some(why) = unseen(evidence) {
                    return Some(Answer::Unknown(why.clone()));
                }
                return Some(Answer::No(format!(
                    "PR #{number} merged another branch of the name task-{unit}"
                )));
            }
            Some(Observed::Absent(why) | Observed::Unknown(why)) => return Some(uncompared(unit, number, &why.reason)),
            None => return Some(uncompared(unit, number, "they were not compared")),
        }
    }
    None
}

fn landed(task: &TaskId, pull_request: &PullRequest, commit: Option<&CommitId>, evidence: &Evidence) -> Answer {
    let number = pull_request.number;
    let reverts = match reverts(evidence) {
        Ok(reverts) => reverts,
        Err(why) => return Answer::Unknown(why.clone()),
    };
    let by = commit
        .and_then(|commit| reverts.commits.get(commit))
        .or_else(|| reverts.pull_requests.get(&number));
    let manner = match pull_request.shown.manner {
        Some(manner @ (MergeManner::Squash | MergeManner::Rebase)) => format!(" ({})", manner.word()),
        Some(MergeManner::Merge) | None => String::new(),
    };
    let detail = match commit {
        Some(commit) => format!("PR #{number} merged{manner} in {}", commit.short()),
        None => format!("PR #{number} merged{manner}"),
    };
    let landing = commit.unwrap_or(&pull_request.head).clone();
    match landed_unless_undone(task, evidence, by, (landing, detail)) {
        // The forge knows when it was merged, also where the commit is not here.
        Answer::Yes(Finding::Landed { commit, detail, at }) => Answer::Yes(Finding::Landed {
            commit,
            detail,
            at: pull_request.shown.merged.or(at),
        }),
        other @ (Answer::Yes(Finding::InProgress(_)) | Answer::No(_) | Answer::Unknown(_) | Answer::Undone { .. }) => {
            other
        }
    }
}

fn beyond(unit: &Unit, pull_request: &PullRequest, facts: &BranchFacts, evidence: &Evidence) -> Answer {
    Answer::Yes(Finding::InProgress(Progress {
        kind: ProgressKind::Committed,
        detail: format!(
            "PR #{} is merged, but task-{unit} goes on beyond {} (unlanded, at {})",
            pull_request.number,
            pull_request.head.short(),
            facts.tip.short()
        ),
        hint: Some("land what came after the merge, or delete it from the branch".to_string()),
        at: evidence.times.get(&facts.tip).map(|time| time.at),
    }))
}

fn uncompared(unit: &Unit, number: u64, why: &str) -> Answer {
    let reason =
        format!("PR #{number} is merged, but whether task-{unit} holds more than it did cannot be told: {why}");
    Answer::Unknown(Why::new(reason).with_hint("fetch: git fetch origin, so that the merged commits are here"))
}
