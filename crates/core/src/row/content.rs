//! Rows 5 and 6: work that lies on base under other commits.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::landing::{landed_unless_undone, reverts, unseen};
use crate::answer::Answer;
use crate::content::{Content, comparable};
use crate::evidence::Evidence;
use crate::identifier::{CommitId, TaskId, Unit};
use crate::observed::Observed;
use crate::words::count;

/// Row 5.
pub(super) fn rebased(task: &TaskId, evidence: &Evidence) -> Answer {
    let no = "not each commit of it is on base as another one";
    ask(task, evidence, no, |unit, content| match content {
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
pub(super) fn squashed(task: &TaskId, evidence: &Evidence) -> Answer {
    let no = "what it changes together is not on base";
    ask(task, evidence, no, |unit, content| match content {
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
    no: &str,
    landing: impl Fn(&Unit, &Content) -> Option<(Vec<CommitId>, String)>,
) -> Answer {
    let mut result = Answer::No("no branch with commits beyond base".to_string());
    for (unit, content) in evidence.content.iter().filter(|(unit, _)| unit.contains(task)) {
        let answer = match content {
            Observed::Known(content) => landing(unit, content).map_or_else(
                || match unseen(evidence) {
                    Some(why) => Answer::Unknown(why.clone()),
                    None => Answer::No(format!("task-{unit}: {no}")),
                },
                |(on_base, detail)| landed(task, unit, evidence, (&on_base, detail)),
            ),
            Observed::Absent(why) => Answer::No(format!("not asked: {}", why.reason)),
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

/// What of the branch came to base before and was undone there is still undone, whatever came later.
fn landed(task: &TaskId, unit: &Unit, evidence: &Evidence, (on_base, detail): (&[CommitId], String)) -> Answer {
    match reverts(evidence) {
        Ok(reverts) => {
            let mut counted = on_base.iter().chain(own_commits(unit, evidence));
            let by = counted.find_map(|commit| reverts.commits.get(commit));
            let commit = on_base.last().unwrap_or(&evidence.base.commit).clone();
            landed_unless_undone(task, evidence, by, (commit, detail))
        }
        Err(why) => Answer::Unknown(why.clone()),
    }
}

fn own_commits<'a>(unit: &Unit, evidence: &'a Evidence) -> &'a [CommitId] {
    let Observed::Known(branches) = &evidence.branches else {
        return &[];
    };
    let facts = branches.by_unit.get(unit).and_then(|all| comparable(all));
    match facts.map(|facts| &facts.own) {
        Some(Observed::Known(own)) => own,
        Some(Observed::Absent(_) | Observed::Unknown(_)) | None => &[],
    }
}
