//! What base and its counterpart hold: all their commits, what their messages complete, and what they undo.
//!
//! One walk serves every bundle. What it finds follows from the tips alone, so it is kept in a file that may be thrown
//! away (`cache`), and extended by the commits that are new. Owns that file.

mod cache;
mod commits;
mod span;
#[cfg(test)]
mod tests;
mod undone;
mod walk;

use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;

use orchestrate_core::evidence::{Base, History};
use orchestrate_core::identifier::{SpecId, TaskId};

use crate::content::{Answers, Changes};
use crate::layout::Layout;
use crate::repository::Repository;

pub(crate) use commits::{Commits, Grafts, Id, id};
pub(crate) use span::{Parents, Span};
pub(crate) use walk::Ahead;

/// All that base and its counterpart hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Past {
    /// The tips of which none is in the history of another one.
    heads: Vec<Id>,
    /// Every commit.
    pub(crate) commits: Set,
    /// The messages that complete tasks, the newest first.
    trailers: Vec<Trailers>,
    /// The messages that undo something, the newest first.
    reverts: Vec<Revert>,
}

/// Commits, each with its generation: one more than the largest of its parents'.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Set {
    sorted: Vec<(Id, u32)>,
}

/// A commit, and what tells how new it is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    commit: Id,
    /// The committer's time, in seconds since 1970.
    time: i64,
    generation: u32,
}

/// One message with task trailers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Trailers {
    at: Place,
    tasks: Vec<(SpecId, TaskId)>,
    /// Values that name no task, printable.
    refused: Vec<String>,
}

/// One message that undoes something.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Revert {
    at: Place,
    /// The commits, all that a merge brought in among them.
    undoes: Vec<Id>,
    pull_requests: Vec<u64>,
}

impl Place {
    /// Orders the newer before the older. It follows from the commits alone, so that it does not matter how they were
    /// come by.
    fn newest_first(left: &Self, right: &Self) -> Ordering {
        let key = |place: &Self| (place.time, place.generation, place.commit);
        key(right).cmp(&key(left))
    }
}

impl Set {
    /// Returns whether there is none.
    fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// Returns whether the commit is one of them.
    pub(crate) fn contains(&self, id: &Id) -> bool {
        self.generation(id).is_some()
    }

    fn generation(&self, id: &Id) -> Option<u32> {
        let at = self.position(id)?;
        self.sorted.get(at).map(|(_, generation)| *generation)
    }

    /// Returns where the commit stands among them.
    fn index(&self, id: &Id) -> Option<u32> {
        u32::try_from(self.position(id)?).ok()
    }

    fn position(&self, id: &Id) -> Option<usize> {
        self.sorted.binary_search_by(|(one, _)| one.cmp(id)).ok()
    }

    fn add(&mut self, more: impl Iterator<Item = (Id, u32)>) {
        self.sorted.extend(more);
        self.sorted.sort();
    }
}

/// So many commits have to be read anew before they are kept: fewer are read as fast as a file is, and a repository in
/// which little happens is not written to.
const WORTH_KEEPING: usize = 256;

/// What this process knows already, so that a step that looks twice walks once.
pub(crate) struct Memory {
    past: RefCell<Option<Remembered>>,
    /// The parents of commits that were read for comparing branches.
    pub(crate) parents: span::Parents,
    /// What single commits change.
    pub(crate) changes: Changes,
    /// What branches were compared with base, and what came of it.
    pub(crate) answers: Answers,
    worth_keeping: usize,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            past: RefCell::default(),
            parents: span::Parents::default(),
            changes: Changes::default(),
            answers: Answers::default(),
            worth_keeping: WORTH_KEEPING,
        }
    }
}

impl Memory {
    /// Keeps what was found out by comparing branches for later processes, where that is worth it.
    pub(crate) fn keep(&self, layout: &Layout) {
        self.changes.keep(layout);
        self.answers.keep(layout);
    }
}

struct Remembered {
    tips: Vec<Id>,
    grafts: Rc<Grafts>,
    past: Rc<Past>,
}

/// Returns all that base and its counterpart hold.
pub(crate) fn past(
    repository: &Repository,
    memory: &Memory,
    base: &Base,
) -> Result<(Rc<Past>, Rc<Grafts>), git2::Error> {
    let grafts = Rc::new(Grafts::read(&repository.git)?);
    let tips: Vec<Id> = std::iter::once(&base.commit)
        .chain(&base.counterpart)
        .map(commits::id_of)
        .collect::<Result<_, _>>()?;
    if let Some(known) = memory.past.borrow().as_ref()
        && known.tips == tips
        && known.grafts == grafts
    {
        return Ok((Rc::clone(&known.past), grafts));
    }
    let commits = Commits::open(&repository.git, Rc::clone(&grafts))?;
    // Where commits have other parents than they were stored with, their names do not tell what they hold.
    let cached = grafts.is_empty().then(|| cache::read(&repository.layout)).flatten();
    let walked = walk::walk(&commits, &tips, cached.unwrap_or_default())?;
    if grafts.is_empty() && walked.graph.ids.len() >= memory.worth_keeping {
        cache::write(&repository.layout, &walked.past);
    }
    let past = Rc::new(walked.past);
    memory.parents.begin(walked.is_complete.then_some(walked.graph));
    *memory.past.borrow_mut() = Some(Remembered {
        tips,
        grafts: Rc::clone(&grafts),
        past: Rc::clone(&past),
    });
    Ok((past, grafts))
}

impl Past {
    /// Returns what of it a bundle is told.
    pub(crate) fn of(&self, spec: &SpecId, grafts: &Grafts) -> Result<History, git2::Error> {
        let mut history = History {
            trailers: std::collections::BTreeMap::new(),
            reverts: undone::standing(&self.reverts)?,
            refused: Vec::new(),
            walked: self.commits.sorted.len(),
            incomplete: grafts.cut(),
        };
        for found in &self.trailers {
            history.refused.extend(found.refused.iter().cloned());
            for (_, task) in found.tasks.iter().filter(|(of, _)| of == spec) {
                let landed = commits::name(&found.at.commit)?;
                history.trailers.entry(task.clone()).or_default().push(landed);
            }
        }
        Ok(history)
    }
}
