//! Row 10 of the evidence table: a fence at origin.
//!
//! It is there before anything else of a dispatch and tells nothing of a worker, so it never says that somebody works.
//! One that is not this clone's own, while no other row knows of the unit, is a peer that has only begun, or one that
//! is gone: a person can tell which, the tower cannot, and never takes the unit from it.

use alloc::format;
use alloc::string::{String, ToString};

use crate::answer::Answer;
use crate::evidence::Evidence;
use crate::identifier::{SpecId, TaskId};
use crate::observed::{Observed, Why};
use crate::record::fence::{owner, reference};

/// Whose a fence at origin is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FenceOf {
    /// This clone's own, by what it wrote down before it pushed.
    ThisClone,
    /// Another clone's.
    AnotherClone,
}

/// Returns whose the fence of a task is; nothing where there is none, or where that cannot be told.
pub(crate) fn fence_of(task: &TaskId, evidence: &Evidence) -> Option<FenceOf> {
    let (Observed::Known(origin), Observed::Known(own)) = (&evidence.origin, &evidence.own_fences) else {
        return None;
    };
    let fence = origin.fences.get(task)?;
    match own.get(task) {
        Some(Observed::Known(own)) if own.owns(&fence.commit) => Some(FenceOf::ThisClone),
        Some(Observed::Known(_) | Observed::Absent(_)) | None => Some(FenceOf::AnotherClone),
        Some(Observed::Unknown(_)) => None,
    }
}

pub(super) fn answer(task: &TaskId, evidence: &Evidence) -> Answer {
    let origin = match &evidence.origin {
        Observed::Known(origin) => origin,
        Observed::Absent(why) => return Answer::No(why.reason.clone()),
        Observed::Unknown(why) => return Answer::Unknown(why.clone()),
    };
    // What this clone has pushed is part of the answer: without it no fence can be told, nor a new one be taken.
    let own = match &evidence.own_fences {
        Observed::Known(own) => own.get(task),
        Observed::Absent(_) => None,
        Observed::Unknown(why) => return Answer::Unknown(why.clone()),
    };
    let own = match own {
        Some(Observed::Known(own)) => Some(own),
        Some(Observed::Absent(_)) | None => None,
        Some(Observed::Unknown(why)) => return Answer::Unknown(why.clone()),
    };
    match origin.fences.get(task) {
        None if own.is_some_and(|own| own.current().is_some()) => {
            Answer::No("no fence of another clone; this one has fenced it".to_string())
        }
        None => Answer::No("no fence of another clone at origin".to_string()),
        Some(fence) if own.is_some_and(|own| own.owns(&fence.commit)) => {
            Answer::No("the fence at origin is this clone's own".to_string())
        }
        Some(fence) => {
            let by = owner(&fence.commit, fence.message.as_deref());
            let why = Why::new(format!("{by} has fenced it, and nothing of its work is seen here"));
            Answer::Unknown(why.with_hint(foreign_hint(&evidence.spec, task)))
        }
    }
}

fn foreign_hint(spec: &SpecId, task: &TaskId) -> String {
    format!(
        "its worker may be at work in that tower's clone, and it ends when the unit lands; if that clone is gone for good: \
         git push origin :{}",
        reference(spec, task)
    )
}
