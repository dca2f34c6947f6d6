//! What a person declares about the choice of the next unit: tasks to prefer, and tasks that are one deliverable.
//!
//! The reference's tower judges both from prose (`contract/core.md §5.5`); ours takes them from `--prefer`, `--bundle`
//! and their keys, and says what became of each.

use alloc::vec::Vec;
use core::fmt;

use crate::identifier::TaskId;
use crate::unit::Pair;

/// Where something was declared. What a flag says comes before what a key says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeclaredBy {
    /// On the command line of this run.
    Flag,
    /// In a layer of the configuration.
    Key,
}

/// A task to prefer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preference {
    /// The task.
    pub task: TaskId,
    /// Who said so.
    pub by: DeclaredBy,
}

impl fmt::Display for Preference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.source(), self.task)
    }
}

impl Preference {
    /// Returns the flag or the key.
    #[must_use]
    pub const fn source(&self) -> &'static str {
        match self.by {
            DeclaredBy::Flag => "--prefer",
            DeclaredBy::Key => "prefer_units",
        }
    }
}

/// Two tasks that are to be dispatched as one unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cohesion {
    /// The tasks.
    pub pair: Pair,
    /// Who said so.
    pub by: DeclaredBy,
}

impl fmt::Display for Cohesion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.source(), self.pair)
    }
}

impl Cohesion {
    /// Returns the flag or the key.
    #[must_use]
    pub const fn source(&self) -> &'static str {
        match self.by {
            DeclaredBy::Flag => "--bundle",
            DeclaredBy::Key => "bundle_units",
        }
    }
}

/// Everything that is declared for one bundle.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Declarations {
    /// The tasks to prefer, the strongest wish first.
    pub preferences: Vec<Preference>,
    /// The pairs.
    pub cohesions: Vec<Cohesion>,
}

impl Declarations {
    /// Returns the declarations with those of the command line before those of the keys.
    #[must_use]
    pub fn with_flags(self, preferred: Vec<TaskId>, pairs: Vec<Pair>) -> Self {
        let by = DeclaredBy::Flag;
        let preferences = preferred.into_iter().map(|task| Preference { task, by });
        let cohesions = pairs.into_iter().map(|pair| Cohesion { pair, by });
        Self {
            preferences: preferences.chain(self.preferences).collect(),
            cohesions: cohesions.chain(self.cohesions).collect(),
        }
    }

    /// Returns the pairs that count: each once, and of a key only those that have no task in common with a flag's.
    #[must_use]
    pub fn in_force(&self) -> Vec<&Cohesion> {
        let mut kept: Vec<&Cohesion> = Vec::new();
        for cohesion in &self.cohesions {
            let is_settled = kept.iter().any(|earlier| {
                earlier.pair == cohesion.pair
                    || (earlier.by < cohesion.by && earlier.pair.shared_with(&cohesion.pair).is_some())
            });
            if !is_settled {
                kept.push(cohesion);
            }
        }
        kept
    }
}
