//! The sections of `tasks.md` in both format versions (`contract/core.md §1.6`), and what version 1 writes into a task.

use orchestrate_core::graph::ParkingPlace;

use crate::Date;

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

impl Annotation {
    /// Returns what the annotation of a completed task says, in either of its two exact forms.
    #[must_use]
    pub fn completion(&self) -> Option<Completion> {
        if self.kind != AnnotationKind::Status {
            return None;
        }
        let rest = self.text.strip_prefix("Completed · ")?;
        let (pull_request, rest) = match rest.strip_prefix("PR #") {
            Some(numbered) => {
                let (number, rest) = numbered.split_once(' ')?;
                (Some(number.parse().ok()?), rest)
            }
            None => (None, rest),
        };
        let merged = Date::parse(rest.strip_prefix("merged ")?)?;
        Some(Completion { pull_request, merged })
    }
}

/// What the annotation of a completed task says (`contract/core.md §1.7`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The number of the pull request.
    pub pull_request: Option<u64>,
    /// The day it was merged.
    pub merged: Date,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_have_two_forms() {
        let completion = |text: &str| {
            let annotation = Annotation {
                kind: AnnotationKind::Status,
                text: text.to_owned(),
                line: 1,
            };
            let completion = annotation.completion()?;
            Some((completion.pull_request, completion.merged.to_string()))
        };
        let day = || "2026-01-02".to_owned();
        assert_eq!(
            completion("Completed · PR #12 merged 2026-01-02"),
            Some((Some(12), day()))
        );
        assert_eq!(completion("Completed · merged 2026-01-02"), Some((None, day())));
        for text in [
            "Completed",
            "Completed · PR #x merged 2026-01-02",
            "Done · merged 2026-01-02",
            "Completed · merged 2026-02-30",
        ] {
            assert_eq!(completion(text), None, "{text}");
        }
    }

    #[test]
    fn only_two_sections_hold_candidates() {
        let candidates: Vec<&str> = Section::NAMED
            .into_iter()
            .filter(|section| section.parking().is_none())
            .map(Section::name)
            .collect();
        assert_eq!(candidates, ["Tasks", "Forward plan"]);
        assert!(
            Section::NAMED
                .into_iter()
                .all(|section| Section::from_name(section.name()) == Some(section))
        );
    }
}
