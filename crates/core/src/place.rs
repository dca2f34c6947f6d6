//! Every file the tower reads or writes, named by checked parts only.
//!
//! A [`Place`] is the only thing a [`World`](crate::world::World) takes for a file, so an unchecked string cannot
//! reach a path. Where a place lies on a disk is the real World's affair.

use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::identifier::{Nonce, SpecId, TaskId, UnitName};

/// The files of a bundle, in canonical order (`contract/core.md §1.1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BundleFile {
    /// What must be true; home of the status.
    Requirements,
    /// Decisions.
    Design,
    /// Task definitions and reference bullets.
    Tasks,
    /// Verification paths.
    TestSpec,
    /// The signed contract; not part of the anchor.
    KickoffBrief,
}

impl BundleFile {
    /// The four authored files, in canonical order.
    pub const AUTHORED: [Self; 4] = [Self::Requirements, Self::Design, Self::Tasks, Self::TestSpec];

    /// All five, in canonical order.
    pub const ALL: [Self; 5] = [
        Self::Requirements,
        Self::Design,
        Self::Tasks,
        Self::TestSpec,
        Self::KickoffBrief,
    ];

    /// Returns the file's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Requirements => "requirements.md",
            Self::Design => "design.md",
            Self::Tasks => "tasks.md",
            Self::TestSpec => "test-spec.md",
            Self::KickoffBrief => "kickoff-brief.md",
        }
    }
}

impl fmt::Display for BundleFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The two homes of a dispatch marker (`contract/core.md §6.2`). Both are written and both are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MarkerHome {
    /// `specs/<spec>/.orchestrate/markers`, where the reference looks.
    Bundle,
    /// `<git-common-dir>/planwright/orchestrate/<spec>/markers`, shared by all worktrees.
    Shared,
}

impl MarkerHome {
    /// Both homes.
    pub const ALL: [Self; 2] = [Self::Bundle, Self::Shared];
}

/// A file or directory of the tower's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A file of a bundle in the primary checkout.
    BundleFile(SpecId, BundleFile),
    /// `.orchestrate.lock`.
    Lock(SpecId),
    /// The lock while it is prepared, before it is published.
    LockStaging(SpecId, Nonce),
    /// A lock moved out of the way, before it is removed.
    LockAside(SpecId, Nonce),
    /// The `owner` file in one of the three directories above.
    OwnerIn(LockDirectory),
    /// A directory of markers.
    MarkerDirectory(SpecId, MarkerHome),
    /// One task's marker.
    Marker(SpecId, TaskId, MarkerHome),
    /// The directory of our own records of a bundle.
    RecordDirectory(SpecId),
    /// Our dispatch record of a unit.
    DispatchRecord(UnitName),
    /// The launch record of a unit.
    LaunchRecord(UnitName),
    /// The directory of what a person wants done again in a bundle.
    RedoDirectory(SpecId),
    /// The reverts after which a person wants a task done again.
    Redo(SpecId, TaskId),
    /// The directory of this clone's fence intents of a bundle.
    IntentDirectory(SpecId),
    /// What this clone pushes as the fence of a task.
    Intent(SpecId, TaskId),
    /// The fence of a task that this clone has given back last.
    GivenBack(SpecId, TaskId),
    /// The fences of other clones, as the last step saw them at origin: for showing, never for deciding.
    ForeignFences(SpecId),
    /// What sweeps have told of fences that nobody answers for, and since when.
    FenceSightings(SpecId),
}

/// What the name of a fence that was given back ends with, after its task.
const GIVEN_BACK: &str = ".given-back";

/// Returns the name of a fence that was given back, in the directory of intents.
#[must_use]
pub fn given_back_name(task: &TaskId) -> String {
    format!("{task}{GIVEN_BACK}")
}

/// Returns the task whose fence an entry in the directory of intents is about; nothing for every other entry.
#[must_use]
pub fn intent_task(name: &str) -> Option<TaskId> {
    TaskId::parse(name.strip_suffix(GIVEN_BACK).unwrap_or(name)).ok()
}

/// A directory that may hold an `owner` file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockDirectory {
    /// The published lock.
    Published(SpecId),
    /// A prepared one.
    Staging(SpecId, Nonce),
    /// One moved out of the way.
    Aside(SpecId, Nonce),
}

impl LockDirectory {
    /// Returns the directory itself.
    #[must_use]
    pub fn place(&self) -> Place {
        match self.clone() {
            Self::Published(spec) => Place::Lock(spec),
            Self::Staging(spec, nonce) => Place::LockStaging(spec, nonce),
            Self::Aside(spec, nonce) => Place::LockAside(spec, nonce),
        }
    }

    /// Returns the `owner` file in it.
    #[must_use]
    pub fn owner(&self) -> Place {
        Place::OwnerIn(self.clone())
    }
}

impl fmt::Display for Place {
    /// The place for people, relative to the primary checkout.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BundleFile(spec, file) => write!(formatter, "specs/{spec}/{}", file.name()),
            Self::Lock(spec) => write!(formatter, "specs/{spec}/.orchestrate.lock"),
            Self::LockStaging(spec, nonce) => {
                write!(formatter, "specs/{spec}/.orchestrate.lock.new-{nonce}")
            }
            Self::LockAside(spec, nonce) => {
                write!(formatter, "specs/{spec}/.orchestrate.lock.old-{nonce}")
            }
            Self::OwnerIn(directory) => write!(formatter, "{}/owner", directory.place()),
            Self::MarkerDirectory(spec, MarkerHome::Bundle) => {
                write!(formatter, "specs/{spec}/.orchestrate/markers")
            }
            Self::MarkerDirectory(spec, MarkerHome::Shared) => {
                write!(formatter, ".git/planwright/orchestrate/{spec}/markers")
            }
            Self::Marker(spec, task, home) => {
                write!(formatter, "{}/{task}", Self::MarkerDirectory(spec.clone(), *home))
            }
            Self::RecordDirectory(spec) => write!(formatter, ".git/orchestrate/dispatch/{spec}"),
            Self::DispatchRecord(name) => {
                write!(formatter, ".git/orchestrate/dispatch/{}/{}.json", name.spec, name.unit)
            }
            Self::LaunchRecord(name) => {
                write!(
                    formatter,
                    ".git/orchestrate/dispatch/{}/{}.launch.json",
                    name.spec, name.unit
                )
            }
            Self::RedoDirectory(spec) => write!(formatter, ".git/orchestrate/redo/{spec}"),
            Self::Redo(spec, task) => write!(formatter, ".git/orchestrate/redo/{spec}/{task}"),
            Self::IntentDirectory(spec) => write!(formatter, ".git/orchestrate/intent/{spec}"),
            Self::Intent(spec, task) => write!(formatter, ".git/orchestrate/intent/{spec}/{task}"),
            Self::GivenBack(spec, task) => {
                write!(formatter, ".git/orchestrate/intent/{spec}/{}", given_back_name(task))
            }
            Self::ForeignFences(spec) => write!(formatter, ".git/orchestrate/intent/{spec}/foreign.json"),
            Self::FenceSightings(spec) => write!(formatter, ".git/orchestrate/intent/{spec}/sightings.json"),
        }
    }
}
