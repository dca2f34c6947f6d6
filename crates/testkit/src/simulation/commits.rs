//! The commit graph of a schedule. Commits are content: every clone and the origin share one store, and each clone
//! has the set of those that it holds.

use std::collections::BTreeSet;

use orchestrate_core::identifier::{CommitId, SpecId, TaskId};
use orchestrate_core::trailer::task_trailers;

/// A commit, by its position in the store.
pub(super) type CommitIndex = usize;

/// A set of commits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CommitSet(Vec<u64>);

impl CommitSet {
    pub(super) fn insert(&mut self, commit: CommitIndex) {
        let word = commit / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (commit % 64);
    }

    pub(super) fn contains(&self, commit: CommitIndex) -> bool {
        self.0
            .get(commit / 64)
            .is_some_and(|word| word & (1 << (commit % 64)) != 0)
    }

    pub(super) fn add_all(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    /// Returns what is in this set and not in the other.
    pub(super) fn without(&self, other: &Self) -> Self {
        let keep = |(index, word): (usize, &u64)| word & !other.0.get(index).copied().unwrap_or(0);
        Self(self.0.iter().enumerate().map(keep).collect())
    }

    pub(super) fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(left, right)| left & right != 0)
    }

    pub(super) fn len(&self) -> usize {
        self.iter().count()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Returns the commits, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = CommitIndex> + '_ {
        self.0.iter().enumerate().flat_map(|(index, word)| {
            (0..64)
                .filter(move |bit| word & (1 << bit) != 0)
                .map(move |bit| index * 64 + bit)
        })
    }
}

/// One commit.
#[derive(Debug, Clone)]
pub(super) struct Commit {
    /// Its id.
    pub(super) id: CommitId,
    /// The tasks of the schedule's bundle that its message names, by the product's own reader.
    pub(super) trailers: BTreeSet<TaskId>,
    /// Everything reachable from it, itself included.
    pub(super) history: CommitSet,
}

/// The store.
#[derive(Debug, Clone, Default)]
pub(super) struct Commits(Vec<Commit>);

impl Commits {
    /// Adds a commit and returns its position.
    pub(super) fn add(&mut self, parents: &[CommitIndex], message: &[u8], spec: &SpecId) -> CommitIndex {
        let index = self.0.len();
        let mut history = CommitSet::default();
        for parent in parents {
            history.add_all(&self.0[*parent].history);
        }
        history.insert(index);
        let trailers = task_trailers(message, parents.len() == 1)
            .tasks
            .into_iter()
            .filter(|(named, _)| named == spec)
            .map(|(_, task)| task)
            .collect();
        self.0.push(Commit {
            id: id_of(index),
            trailers,
            history,
        });
        index
    }

    pub(super) fn get(&self, index: CommitIndex) -> &Commit {
        &self.0[index]
    }

    pub(super) fn find(&self, id: &CommitId) -> Option<CommitIndex> {
        let digits = id.as_str().get(8..)?;
        let index = usize::from_str_radix(digits, 16).ok()?;
        (self.0.get(index)?.id == *id).then_some(index)
    }

    /// Returns whether `ancestor` is `descendant` or one of its ancestors.
    pub(super) fn contains(&self, descendant: CommitIndex, ancestor: CommitIndex) -> bool {
        self.0[descendant].history.contains(ancestor)
    }
}

/// Returns an id whose first digits tell commits apart and whose last ones hold the position.
fn id_of(index: CommitIndex) -> CommitId {
    let low = u32::try_from(index).unwrap_or(u32::MAX);
    let scattered = low.wrapping_add(1).wrapping_mul(0x9e37_79b1);
    let text = format!("{scattered:08x}{index:032x}");
    match CommitId::parse(&text) {
        Ok(id) => id,
        Err(fault) => unreachable!("forty hex digits are an id: {fault}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reachability_and_trailers() {
        let spec = SpecId::parse("demo").expect("spec");
        let mut commits = Commits::default();
        let root = commits.add(&[], b"root", &spec);
        let left = commits.add(
            &[root],
            b"left\n\nPlanwright-Task: demo/1\nPlanwright-Task: other/2\n",
            &spec,
        );
        let right = commits.add(&[root], b"right", &spec);
        let merge = commits.add(&[left, right], b"merge", &spec);
        assert!(commits.contains(merge, root) && commits.contains(left, left));
        assert!(!commits.contains(left, right));
        let own = commits.get(merge).history.without(&commits.get(left).history);
        assert_eq!(own.iter().collect::<Vec<_>>(), [right, merge]);
        let named: Vec<_> = commits.get(left).trailers.iter().map(TaskId::as_str).collect();
        assert_eq!(named, ["1"]);
        assert_eq!(commits.find(&commits.get(merge).id), Some(merge));
    }
}
