//! Rows 5 and 6: work that lies on base under other commits, rebased or squashed (architecture §7).
//!
//! Only a branch of which every commit is the unit's own is compared, and never one that somebody still works on: what is
//! on base now may not be all that is to come.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use crate::answer::Answer;
use crate::derive::{landed_unless_undone, reverts};
use crate::evidence::{BranchFacts, BranchSide, Evidence};
use crate::identifier::{CommitId, TaskId, Unit};
use crate::observed::Observed;
use crate::words::count;

/// What a comparison of a branch's changes with base found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Each of its commits that changes anything is on base as another one: these, in no order.
    Rebased(Vec<CommitId>),
    /// What it changes together is on base in this commit.
    Squashed(CommitId),
    /// Every file that it changes is on base as it left it.
    Contained,
    /// It holds something that base does not, or it changes nothing.
    Different,
}

/// Returns the branch whose changes can tell: the unit's own here, with commits that are not on base, all of them its
/// own.
#[must_use]
pub fn comparable(branches: &[BranchFacts]) -> Option<&BranchFacts> {
    let ahead = |facts: &&BranchFacts| facts.ahead > 0;
    let here = branches
        .iter()
        .filter(ahead)
        .find(|facts| facts.side == BranchSide::Local)?;
    let all_own = matches!(&here.own, Observed::Known(own) if facts_are_own(here, own));
    // What was pushed must be no other work than what is here.
    let same = |facts: &BranchFacts| facts.side == BranchSide::Local || facts.tip == here.tip;
    (all_own && branches.iter().filter(ahead).all(same)).then_some(here)
}

fn facts_are_own(facts: &BranchFacts, own: &[CommitId]) -> bool {
    facts.ahead <= own.len()
}

/// Row 5.
pub(crate) fn rebased(task: &TaskId, evidence: &Evidence) -> Answer {
    ask(task, evidence, |unit, content| match content {
        Content::Rebased(on_base) => {
            let detail = format!(
                "{} of task-{unit} on {} as {}",
                count(on_base.len(), "commit"),
                evidence.base.name,
                on_base.last().map(CommitId::short).unwrap_or_default()
            );
            Some((on_base.clone(), detail))
        }
        Content::Squashed(_) | Content::Contained | Content::Different => None,
    })
}

/// Row 6.
pub(crate) fn squashed(task: &TaskId, evidence: &Evidence) -> Answer {
    ask(task, evidence, |unit, content| match content {
        Content::Squashed(commit) => Some((
            [commit.clone()].to_vec(),
            format!("task-{unit} is on {} in {}", evidence.base.name, commit.short()),
        )),
        Content::Contained => Some((
            Vec::new(),
            format!("{} holds every file as task-{unit} left it", evidence.base.name),
        )),
        Content::Rebased(_) | Content::Different => None,
    })
}

fn ask(
    task: &TaskId,
    evidence: &Evidence,
    landing: impl Fn(&Unit, &Content) -> Option<(Vec<CommitId>, alloc::string::String)>,
) -> Answer {
    let mut result = Answer::No("no branch to compare with base".to_string());
    for (unit, content) in evidence.content.iter().filter(|(unit, _)| unit.contains(task)) {
        let answer = match content {
            Observed::Known(content) => landing(unit, content).map_or_else(
                || Answer::No(format!("the changes of task-{unit} are not on {}", evidence.base.name)),
                |(on_base, detail)| landed(task, evidence, &on_base, detail),
            ),
            Observed::Absent(why) => Answer::No(why.reason.clone()),
            Observed::Unknown(why) => Answer::Unknown(why.clone()),
        };
        match (&result, answer) {
            (_, yes @ Answer::Yes(_)) => return yes,
            (Answer::Unknown(_), _) | (Answer::Undone { .. }, Answer::No(_)) => {}
            (Answer::Yes(_) | Answer::No(_) | Answer::Undone { .. }, other) => result = other,
        }
    }
    result
}

fn landed(task: &TaskId, evidence: &Evidence, on_base: &[CommitId], detail: alloc::string::String) -> Answer {
    match reverts(evidence) {
        Ok(reverts) => {
            let by = on_base.iter().find_map(|commit| reverts.commits.get(commit));
            let commit = on_base.last().unwrap_or(&evidence.base.commit).clone();
            landed_unless_undone(task, evidence, by, (commit, detail))
        }
        Err(why) => Answer::Unknown(why.clone()),
    }
}
