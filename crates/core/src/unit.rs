//! Units, and the names by which their branches, worktrees and records are known.

use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::identifier::{InvalidName, SpecId, TaskId, serde_by_text};

/// Two different tasks that are to be one unit, in the order of its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    first: TaskId,
    second: TaskId,
}

impl Pair {
    /// Returns the checked pair of the form `1-2`.
    ///
    /// # Errors
    /// When the text is not two different task ids joined by `-`.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        let ids = text
            .split_once('-')
            .map(|(first, second)| (TaskId::parse(first), TaskId::parse(second)));
        match ids {
            Some((Ok(first), Ok(second))) if first != second => Ok(Self { first, second }),
            Some((Ok(_) | Err(_), _)) | None => Err(InvalidName {
                kind: "pair of tasks",
                expected: "two different task ids joined by '-'",
            }),
        }
    }

    /// Returns the task that is named first.
    #[must_use]
    pub const fn first(&self) -> &TaskId {
        &self.first
    }

    /// Returns the task that is named second.
    #[must_use]
    pub const fn second(&self) -> &TaskId {
        &self.second
    }

    /// Returns the other task, where this one is in the pair.
    #[must_use]
    pub fn partner_of(&self, task: &TaskId) -> Option<&TaskId> {
        if *task == self.first {
            Some(&self.second)
        } else if *task == self.second {
            Some(&self.first)
        } else {
            None
        }
    }

    /// Returns a task that both pairs have.
    #[must_use]
    pub fn shared_with(&self, other: &Self) -> Option<&TaskId> {
        [&self.first, &self.second]
            .into_iter()
            .find(|task| other.partner_of(task).is_some())
    }

    /// Returns the unit of the two.
    #[must_use]
    pub fn unit(&self) -> Unit {
        Unit {
            first: self.first.clone(),
            second: Some(self.second.clone()),
        }
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.first, self.second)
    }
}

/// What one step dispatches: one task, or a bundle of two (`contract/core.md §0.3`, §5.5).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unit {
    first: TaskId,
    second: Option<TaskId>,
}

impl Unit {
    /// Returns the unit of one task.
    #[must_use]
    pub fn single(task: TaskId) -> Self {
        Self {
            first: task,
            second: None,
        }
    }

    /// Returns the checked unit named by a branch's task segment: `1`, `2.5` or `1-2`.
    ///
    /// # Errors
    /// When the text is not one or two different task ids joined by `-`.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        let invalid = InvalidName {
            kind: "unit",
            expected: "one task id, or two different ones joined by '-'",
        };
        let unit = if text.contains('-') {
            Pair::parse(text).map(|pair| pair.unit())
        } else {
            TaskId::parse(text).map(Self::single)
        };
        unit.map_err(|_| invalid)
    }

    /// Returns the tasks of the unit, in the order of its name.
    pub fn tasks(&self) -> impl Iterator<Item = &TaskId> {
        core::iter::once(&self.first).chain(self.second.as_ref())
    }

    /// Returns how many tasks the unit has: one or two.
    #[must_use]
    pub fn size(&self) -> usize {
        self.tasks().count()
    }

    /// Returns whether the two are different units that have a task in common.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self != other && self.tasks().any(|task| other.contains(task))
    }

    /// Returns whether the task belongs to the unit.
    #[must_use]
    pub fn contains(&self, task: &TaskId) -> bool {
        self.tasks().any(|member| member == task)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.first.as_str())?;
        match &self.second {
            None => Ok(()),
            Some(second) => write!(formatter, "-{second}"),
        }
    }
}

/// A unit of one bundle: the key of its branch, worktree, record and lease.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitName {
    /// The bundle.
    pub spec: SpecId,
    /// The unit in it.
    pub unit: Unit,
}

impl UnitName {
    /// Returns the unit that a branch `planwright/<spec>/task-<ids>` names, short or in full.
    ///
    /// # Errors
    /// When the name is not of that form; `planwright/<spec>/spec` is the authoring branch and no unit.
    pub fn from_branch(name: &str) -> Result<Self, InvalidName> {
        let invalid = InvalidName {
            kind: "task branch",
            expected: "planwright/<spec>/task-<ids>",
        };
        let short = name.strip_prefix("refs/heads/").unwrap_or(name);
        let rest = short.strip_prefix("planwright/").ok_or_else(|| invalid.clone())?;
        let (spec, segment) = rest.split_once('/').ok_or_else(|| invalid.clone())?;
        let ids = segment.strip_prefix("task-").ok_or_else(|| invalid.clone())?;
        match (SpecId::parse(spec), Unit::parse(ids)) {
            (Ok(spec), Ok(unit)) => Ok(Self { spec, unit }),
            (Ok(_) | Err(_), _) => Err(invalid),
        }
    }

    /// Returns the checked name of the form `<spec>:task-<ids>` or, as older records have it, `<spec>:<ids>`.
    ///
    /// # Errors
    /// When the text is not of that form.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        let invalid = InvalidName {
            kind: "worker scope",
            expected: "<spec>:task-<ids>",
        };
        let (spec, ids) = text.split_once(':').ok_or_else(|| invalid.clone())?;
        match (
            SpecId::parse(spec),
            Unit::parse(ids.strip_prefix("task-").unwrap_or(ids)),
        ) {
            (Ok(spec), Ok(unit)) => Ok(Self { spec, unit }),
            (Ok(_) | Err(_), _) => Err(invalid),
        }
    }

    /// Returns the unit of a bundle whose worktree is called `<spec>-task-<ids>`.
    #[must_use]
    pub fn from_worktree(spec: &SpecId, directory: &str) -> Option<Self> {
        let ids = directory.strip_prefix(spec.as_str())?.strip_prefix("-task-")?;
        Unit::parse(ids).ok().map(|unit| Self {
            spec: spec.clone(),
            unit,
        })
    }

    /// Returns the short branch name, `planwright/<spec>/task-<ids>`.
    #[must_use]
    pub fn branch(&self) -> String {
        format!("planwright/{}/task-{}", self.spec, self.unit)
    }

    /// Returns the full ref name of the branch. Short names are never given to git: a tag may share them.
    #[must_use]
    pub fn reference(&self) -> String {
        format!("refs/heads/{}", self.branch())
    }

    /// Returns the worktree's directory name, `<spec>-task-<ids>`: without the spec two bundles would collide.
    #[must_use]
    pub fn worktree(&self) -> String {
        format!("{}-task-{}", self.spec, self.unit)
    }
}

impl fmt::Display for UnitName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:task-{}", self.spec, self.unit)
    }
}

serde_by_text!(Unit);
serde_by_text!(UnitName);

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    #[test]
    fn branches_name_units() {
        let name = UnitName::from_branch("refs/heads/planwright/alpha/task-2.5-3").expect("a task branch");
        assert_eq!((name.spec.as_str(), name.unit.to_string().as_str()), ("alpha", "2.5-3"));
        for bad in [
            "planwright/alpha/spec",
            "planwright/alpha/task-1-2-3",
            "planwright/alpha/task-1-1",
            "x/alpha/task-1",
            "planwright/Alpha/task-1",
            "planwright/alpha/task-1/x",
        ] {
            assert!(UnitName::from_branch(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        /// The hand-written grammars accept exactly what the contract's regular languages do.
        #[test]
        fn unit_names_round_trip(spec in "[a-z0-9][a-z0-9-]{0,20}", first in "[0-9]{1,3}(\\.[0-9]{1,2})?", second in proptest::option::of("[0-9]{1,3}(\\.[0-9]{1,2})?")) {
            let segment = match &second { Some(second) => format!("{first}-{second}"), None => first.clone() };
            let branch = format!("planwright/{spec}/task-{segment}");
            let parsed = UnitName::from_branch(&branch);
            if second.as_ref() == Some(&first) {
                prop_assert!(parsed.is_err());
            } else {
                let parsed = parsed.expect("well formed");
                prop_assert_eq!(parsed.branch(), branch);
                prop_assert_eq!(UnitName::parse(&parsed.to_string()).expect("scope"), parsed);
            }
        }
    }
}
