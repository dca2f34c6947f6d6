//! The sections of `tasks.md` in both format versions (`contract/core.md §1.6`), and what version 1 writes into a task.

use orchestrate_core::graph::ParkingPlace;

/// Where in `tasks.md` something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// Before the first section.
    Preamble,
    /// `## Tasks`: every task of format version 2.
    Tasks,
    /// `## Forward plan` (version 1): what has not started.
    ForwardPlan,
    /// `## In progress` (version 1): a snapshot of what runs.
    InProgress,
    /// `## Awaiting input`.
    AwaitingInput,
    /// `## Completed` (version 1): a snapshot of what has landed.
    Completed,
    /// `## Deferred`.
    Deferred,
    /// `## Out of scope`.
    OutOfScope,
    /// A section of another name.
    Other,
}

impl Section {
    /// The sections that have a name of their own.
    pub const NAMED: [Self; 7] = [
        Self::Tasks,
        Self::ForwardPlan,
        Self::InProgress,
        Self::AwaitingInput,
        Self::Completed,
        Self::Deferred,
        Self::OutOfScope,
    ];

    /// Returns the section's name, as written behind `## `.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Preamble => "(before the first section)",
            Self::Tasks => "Tasks",
            Self::ForwardPlan => "Forward plan",
            Self::InProgress => "In progress",
            Self::AwaitingInput => "Awaiting input",
            Self::Completed => "Completed",
            Self::Deferred => "Deferred",
            Self::OutOfScope => "Out of scope",
            Self::Other => "(another section)",
        }
    }

    /// Returns the section of exactly that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|section| section.name() == name)
    }

    /// Returns how a block in the section is kept out of selection; `None` where it may be selected.
    #[must_use]
    pub const fn parking(self) -> Option<ParkingPlace> {
        match self {
            Self::Tasks | Self::ForwardPlan => None,
            Self::InProgress => Some(ParkingPlace::InProgress),
            Self::AwaitingInput => Some(ParkingPlace::AwaitingInput),
            Self::Completed => Some(ParkingPlace::Completed),
            Self::Deferred => Some(ParkingPlace::Deferred),
            Self::OutOfScope => Some(ParkingPlace::OutOfScope),
            Self::Preamble | Self::Other => Some(ParkingPlace::Elsewhere),
        }
    }
}

/// What a state annotation of format version 1 is about (`contract/core.md §1.7`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AnnotationKind {
    /// `- **Status:** …`.
    Status,
    /// `- **Last activity:** …`.
    LastActivity,
    /// `- **Dispatch:** …`.
    Dispatch,
}

impl AnnotationKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Status, Self::LastActivity, Self::Dispatch];

    /// Returns the annotation's name, as written in bold.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Status => "Status",
            Self::LastActivity => "Last activity",
            Self::Dispatch => "Dispatch",
        }
    }
}

/// A state annotation of a task of format version 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// What it is about.
    pub kind: AnnotationKind,
    /// Its text, with its line breaks.
    pub text: String,
    /// Its line in `tasks.md`.
    pub line: u32,
}

/// What the annotation of a completed task says (`contract/core.md §1.7`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The number of the pull request.
    pub pull_request: Option<u64>,
    /// The day it was merged, as written, `YYYY-MM-DD`.
    pub merged: String,
}
