//! The task graph of a bundle and its critical path (`contract/core.md §5.3, §5.4`).
//!
//! Pure: the spec crate builds a [`TaskGraph`] from a bundle's text, selection and drawing read it.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::identifier::TaskId;

/// An effort in thousandths of a day, so that sums compare exactly (`contract/core.md §5.4`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Effort(u64);

impl Effort {
    /// One day: the weight of a task whose effort names no number.
    pub const ONE_DAY: Self = Self(1000);

    /// Returns the effort of that many thousandths of a day.
    #[must_use]
    pub const fn from_milli_days(milli_days: u64) -> Self {
        Self(milli_days)
    }

    /// Returns the thousandths of a day.
    #[must_use]
    pub const fn milli_days(self) -> u64 {
        self.0
    }

    /// Returns the weight of an effort text (`contract/core.md §1.10`): `half` anywhere is half a day, else the
    /// first decimal number is days, else one day. Digits after the third decimal are cut.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        if text.contains("half") {
            return Self(500);
        }
        let Some(start) = text.find(|character: char| character.is_ascii_digit()) else {
            return Self::ONE_DAY;
        };
        let (whole, rest) = split_digits(&text[start..]);
        let fraction = rest.strip_prefix('.').map_or("", |rest| split_digits(rest).0);
        let days: u64 = whole.parse().unwrap_or(u64::MAX / 4000);
        let mut thousandths = 0_u64;
        for position in 0..3 {
            let digit = fraction
                .as_bytes()
                .get(position)
                .map_or(0, |byte| u64::from(byte - b'0'));
            thousandths = thousandths * 10 + digit;
        }
        Self(days.saturating_mul(1000).saturating_add(thousandths))
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl core::fmt::Display for Effort {
    /// Days for people: `3 days`, `1 day`, `0.5 days`.
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (days, rest) = (self.0 / 1000, self.0 % 1000);
        match (days, rest) {
            (1, 0) => formatter.write_str("1 day"),
            (days, 0) => write!(formatter, "{days} days"),
            (days, rest) => {
                let digits = alloc::format!("{rest:03}");
                write!(formatter, "{days}.{} days", digits.trim_end_matches('0'))
            }
        }
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(text.len());
    text.split_at(end)
}

/// What selection knows of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskNode {
    /// The task's id.
    pub id: TaskId,
    /// Its title, for people.
    pub title: String,
    /// The ids it depends on, in the order written, without repetition. One that names no task is never satisfied.
    pub dependencies: Vec<TaskId>,
    /// Its weight on the critical path.
    pub effort: Effort,
}

/// What keeps a task out of selection: a person's word, or in format version 1 the section of its block
/// (`contract/core.md §1.8, §5.3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ParkingPlace {
    /// `## Awaiting input`.
    AwaitingInput,
    /// `## Deferred`.
    Deferred,
    /// `## Out of scope`: the task also no longer weighs on the critical path.
    OutOfScope,
    /// `## In progress` of format version 1: a snapshot, which only the reference's reconcile moves.
    InProgress,
    /// `## Completed` of format version 1: a snapshot too.
    Completed,
    /// Any other place outside of `## Forward plan` in format version 1.
    Elsewhere,
}

impl ParkingPlace {
    /// The sections in which a bullet parks a task, in their order.
    pub const BULLETS: [Self; 3] = [Self::AwaitingInput, Self::Deferred, Self::OutOfScope];

    /// Returns whether the place is a section in which only people, and halts, put something.
    #[must_use]
    pub const fn is_a_persons(self) -> bool {
        match self {
            Self::AwaitingInput | Self::Deferred | Self::OutOfScope => true,
            Self::InProgress | Self::Completed | Self::Elsewhere => false,
        }
    }

    /// Returns whether the place is a section of format version 1 that stores what the evidence said, and that the next
    /// reconcile moves blocks out of.
    #[must_use]
    pub const fn is_snapshot(self) -> bool {
        match self {
            Self::InProgress | Self::Completed => true,
            Self::AwaitingInput | Self::Deferred | Self::OutOfScope | Self::Elsewhere => false,
        }
    }

    /// Returns the section's name.
    #[must_use]
    pub const fn section(self) -> &'static str {
        match self {
            Self::AwaitingInput => "Awaiting input",
            Self::Deferred => "Deferred",
            Self::OutOfScope => "Out of scope",
            Self::InProgress => "In progress",
            Self::Completed => "Completed",
            Self::Elsewhere => "Outside of Forward plan",
        }
    }
}

/// Why a task is out of selection: usually a live reference bullet, by which a person, or a halt, has taken it out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parking {
    /// The section that holds the bullet, or the block.
    pub place: ParkingPlace,
    /// The bullet's text after the id, as written; of a block, what its status annotation says.
    pub note: String,
}

impl Parking {
    /// Returns where the task is parked, and why. A status of format version 1 begins with the section itself
    /// (`contract/core.md §14.2`), which is not said twice.
    #[must_use]
    pub fn words(&self) -> String {
        let section = self.place.section();
        let said = self.note.get(..section.len());
        match said.filter(|said| said.eq_ignore_ascii_case(section)) {
            Some(_) => alloc::format!("{section}{}", self.note.get(section.len()..).unwrap_or_default()),
            None => alloc::format!("{section} {}", self.note),
        }
    }
}

/// The tasks of one bundle in file order, and which of them are parked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskGraph {
    /// The tasks, in file order, each id once.
    pub tasks: Vec<TaskNode>,
    /// The parked tasks.
    pub parked: BTreeMap<TaskId, Parking>,
}

impl TaskGraph {
    /// Returns the task with that id.
    #[must_use]
    pub fn task(&self, id: &TaskId) -> Option<&TaskNode> {
        self.tasks.iter().find(|task| &task.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::string::ToString;
    use proptest::prelude::*;

    fn id(text: &str) -> TaskId {
        TaskId::parse(text).expect("id")
    }

    pub(crate) fn graph(tasks: &[(&str, &[&str], &str)]) -> TaskGraph {
        let tasks = tasks
            .iter()
            .map(|(name, dependencies, effort)| TaskNode {
                id: id(name),
                title: name.to_string(),
                dependencies: dependencies.iter().map(|dependency| id(dependency)).collect(),
                effort: Effort::parse(effort),
            })
            .collect();
        TaskGraph {
            tasks,
            parked: BTreeMap::new(),
        }
    }

    #[test]
    fn efforts_of_the_contract() {
        let cases = [
            ("half day", 500),
            ("1 day", 1000),
            ("1.5 days", 1500),
            ("0.5d", 500),
            ("0.25 day", 250),
            ("3–4 days (grew …)", 3000),
            ("", 1000),
            ("soon", 1000),
            ("2.", 2000),
            ("1.23456", 1234),
        ];
        for (text, milli_days) in cases {
            assert_eq!(Effort::parse(text).milli_days(), milli_days, "{text}");
        }
        assert_eq!(
            [Effort(500), Effort(1000), Effort(1250), Effort(3000)].map(|effort| effort.to_string()),
            ["0.5 days", "1 day", "1.25 days", "3 days"]
        );
        assert!(Effort::parse(&"9".repeat(60)).milli_days() > 0);
    }

    #[test]
    fn the_verified_example_of_the_contract() {
        let tasks = graph(&[
            ("1", &[], "1d"),
            ("2", &[], "1d"),
            ("3", &["1"], "1d"),
            ("4", &["2"], "5d"),
        ]);
        assert_eq!(tasks.critical_path(), [id("2"), id("4")]);
    }

    /// Verifies REQ-B1.8.
    #[test]
    fn a_cycle_ends() {
        let tasks = graph(&[("1", &["2"], "1d"), ("2", &["1"], "1d"), ("3", &["3"], "1d")]);
        assert_eq!(tasks.critical_path().len(), 2);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let names: Vec<String> = (0..3_000).map(|number| number.to_string()).collect();
        let tasks = TaskGraph {
            tasks: names
                .iter()
                .enumerate()
                .map(|(index, name)| TaskNode {
                    id: id(name),
                    title: String::new(),
                    dependencies: if index == 0 {
                        Vec::new()
                    } else {
                        alloc::vec![id(&names[index - 1])]
                    },
                    effort: Effort::ONE_DAY,
                })
                .collect(),
            parked: BTreeMap::new(),
        };
        assert_eq!(tasks.critical_path().len(), 3_000);
    }

    /// The plainest meaning of the rule: the longest chain by trying every dependent.
    fn model_weight(tasks: &TaskGraph, task: &TaskId) -> u64 {
        let own = tasks.task(task).expect("task").effort.milli_days();
        let after = tasks
            .tasks
            .iter()
            .filter(|other| other.dependencies.contains(task))
            .map(|other| model_weight(tasks, &other.id))
            .max();
        own + after.unwrap_or(0)
    }

    proptest! {
        #[test]
        fn weights_match_the_model(edges in proptest::collection::vec((0usize..8, 0usize..8), 0..14), efforts in proptest::collection::vec(1u64..5, 8)) {
            // Edges only from a later task to an earlier one, so that the graph has no cycle.
            let tasks = TaskGraph {
                tasks: (0..8).map(|index| TaskNode {
                    id: id(&index.to_string()),
                    title: String::new(),
                    dependencies: edges.iter().filter(|(from, to)| *from == index && to < from).map(|(_, to)| id(&to.to_string())).collect(),
                    effort: Effort::from_milli_days(efforts[index] * 500),
                }).collect(),
                parked: BTreeMap::new(),
            };
            let weights = tasks.critical_weights(&BTreeSet::new());
            for task in &tasks.tasks {
                prop_assert_eq!(weights[&task.id].milli_days(), model_weight(&tasks, &task.id));
            }
            let path_weight: u64 = tasks.critical_path().iter().map(|task| tasks.task(task).expect("task").effort.milli_days()).sum();
            prop_assert_eq!(path_weight, weights.values().max().expect("some").milli_days());
        }
    }
}
