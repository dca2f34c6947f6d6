//! A whole bundle as one value, and the task graph that it defines.

use core::fmt;
use std::collections::BTreeMap;

use orchestrate_core::graph::{Effort, Parking, ParkingPlace, TaskGraph, TaskNode};
use orchestrate_core::identifier::{SpecId, TaskId};

use crate::{ChangelogEntry, Decision, Gate, ReferenceBullet, Requirement, Section, Task, TestEntry};

/// Where a bundle stands (`contract/core.md §1.2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Not signed; nothing is dispatched from it.
    Draft,
    /// Signed.
    Ready,
    /// Some task has started. Derived, never stored, in format version 2.
    Active,
    /// Every task is finished. Derived, never stored, in format version 2.
    Done,
    /// Given up.
    Retired,
    /// Replaced by another bundle.
    Superseded,
}

impl Status {
    /// All of them, in the order of a bundle's life.
    pub const ALL: [Self; 6] = [
        Self::Draft,
        Self::Ready,
        Self::Active,
        Self::Done,
        Self::Retired,
        Self::Superseded,
    ];

    /// Returns the status as it is written in a header block.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Draft => "Draft",
            Self::Ready => "Ready",
            Self::Active => "Active",
            Self::Done => "Done",
            Self::Retired => "Retired",
            Self::Superseded => "Superseded",
        }
    }

    /// Returns the status of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The version of the format that a bundle declares (`contract/core.md §1.2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FormatVersion {
    /// A task's section says where the task stands.
    One,
    /// Every task stays in one section; where it stands is derived from evidence.
    Two,
}

impl FormatVersion {
    /// Returns the number: 1 or 2.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }
}

impl fmt::Display for FormatVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.number())
    }
}

/// A bundle of either format version.
///
/// What is said here of ids and dependencies holds when the bundle was read without an error
/// ([`Examination::errors`](crate::Examination::errors)); a bundle with one must not be acted on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// Its name.
    pub spec: SpecId,
    /// The format version that it declares.
    pub version: FormatVersion,
    /// Its stored status; `Draft` when it declares none. In format version 2 one of `Draft`, `Ready`, `Retired` and
    /// `Superseded`.
    pub status: Status,
    /// Its title, without ` — Requirements`; the spec's name when there is no title.
    pub title: String,
    /// The text under `## Goal`, with its line breaks; may be empty.
    pub goal: String,
    /// The requirements, in file order, each id once.
    pub requirements: Vec<Requirement>,
    /// The decisions, in file order, each id once.
    pub decisions: Vec<Decision>,
    /// The tasks, in file order, each id once; every dependency is one of them, and there is no circle.
    pub tasks: Vec<Task>,
    /// The bullets that park tasks, in file order, at most one for each task.
    pub parked: Vec<ReferenceBullet>,
    /// The deferral gates of `tasks.md`, in file order.
    pub gates: Vec<Gate>,
    /// The entries of `test-spec.md`, in file order.
    pub tests: Vec<TestEntry>,
    /// The dated entries of the changelog of `requirements.md`, in file order.
    pub changelog: Vec<ChangelogEntry>,
}

impl Bundle {
    /// Returns the task graph.
    ///
    /// A task that may not be selected is parked in it: one that a bullet names, and in format version 1 every task
    /// outside of `## Forward plan` (`contract/core.md §5.3`).
    #[must_use]
    pub fn graph(&self) -> TaskGraph {
        graph_of(self.version, &self.tasks, &self.parked)
    }

    /// Returns the task with that id.
    #[must_use]
    pub fn task(&self, id: &TaskId) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == *id)
    }

    /// Returns the requirement with that id, as in `REQ-A1.2`.
    #[must_use]
    pub fn requirement(&self, id: &str) -> Option<&Requirement> {
        self.requirements.iter().find(|requirement| requirement.id == id)
    }

    /// Returns the decision with that id, as in `D-7`.
    #[must_use]
    pub fn decision(&self, id: &str) -> Option<&Decision> {
        self.decisions.iter().find(|decision| decision.id == id)
    }
}

/// Returns the graph of a task list.
pub(crate) fn graph_of(version: FormatVersion, tasks: &[Task], bullets: &[ReferenceBullet]) -> TaskGraph {
    let nodes = tasks.iter().map(|task| TaskNode {
        id: task.id.clone(),
        title: task.title.clone(),
        dependencies: task.dependencies.clone(),
        effort: Effort::parse(&task.estimated_effort),
    });
    let mut parked: BTreeMap<TaskId, Parking> = BTreeMap::new();
    for task in tasks {
        let is_candidate = match version {
            FormatVersion::One => task.section == Section::ForwardPlan,
            // The sections of version 1 mean nothing here; a block in one of them is a finding.
            FormatVersion::Two => true,
        };
        if is_candidate {
            continue;
        }
        let place = task.section.parking().unwrap_or(ParkingPlace::Elsewhere);
        let note = task.stored_state().unwrap_or_default().to_owned();
        parked.insert(task.id.clone(), Parking { place, note });
    }
    for bullet in bullets {
        let by_bullet = Parking {
            place: bullet.place,
            note: bullet.note.clone(),
        };
        // A person's block in a person's section says more than a bullet; a snapshot says less.
        let is_persons = |parking: &Parking| parking.place.is_a_persons();
        if !parked.get(&bullet.task).is_some_and(is_persons) {
            parked.insert(bullet.task.clone(), by_bullet);
        }
    }
    TaskGraph {
        tasks: nodes.collect(),
        parked,
    }
}
