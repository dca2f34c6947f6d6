//! Why a bundle is not migrated (`contract/core.md §8.6`): whatever a program cannot carry over without a decision.

use orchestrate_core::identifier::TaskId;

use crate::anchor::AnchorError;
use crate::brief::{AppendError, BriefError};
use crate::edit::EditErrorReason;
use crate::{AnnotationKind, BundleFile, Section};

/// Why a bundle is not migrated. Nothing of it was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A file is not there.
    #[error("{0} is missing")]
    Missing(BundleFile),
    /// A file is a symbolic link: the rename that replaces it would replace the link.
    #[error("{0} is a symbolic link")]
    Symlink(BundleFile),
    /// A file cannot be read.
    #[error("{file} cannot be read: {cause}")]
    Unreadable {
        /// The file.
        file: BundleFile,
        /// What is in the way.
        cause: String,
    },
    /// A file is no text.
    #[error("{file} holds {what}")]
    NotText {
        /// The file.
        file: BundleFile,
        /// What it holds.
        what: &'static str,
    },
    /// A header block lacks a key, or declares it twice.
    #[error("{file}: {reason}")]
    Header {
        /// The file.
        file: BundleFile,
        /// What is wrong with it.
        reason: EditErrorReason,
    },
    /// The format version is neither 1 nor 2.
    #[error("requirements.md declares format-version {0:?}")]
    Version(String),
    /// The status is none of the format's.
    #[error("requirements.md declares the status {0:?}")]
    Status(String),
    /// A file's header says something else than that of `requirements.md`.
    #[error("{file} declares {key} {found:?}, requirements.md {expected:?}")]
    Mirror {
        /// The file.
        file: BundleFile,
        /// The key.
        key: &'static str,
        /// Its value there.
        found: String,
        /// The value in `requirements.md`.
        expected: String,
    },
    /// The status says that the bundle is signed, but there is no brief with a record.
    #[error("the bundle is signed, but there is no kickoff-brief.md")]
    NoBrief,
    /// The last record of the brief is none that may be acted on, so there is nothing to anchor again.
    #[error("{0}")]
    Record(BriefError),
    /// The content is not what was signed; anchoring it again would sign an edit that nobody has looked at.
    #[error("its content is not what the last record of kickoff-brief.md signed; sign it first")]
    Stale,
    /// The record cannot be added to the brief.
    #[error("cannot add the re-anchor entry to kickoff-brief.md: {0}")]
    Brief(AppendError),
    /// There is no `## Changelog` to tell of the migration.
    #[error("requirements.md has no `## Changelog`")]
    NoChangelog,
    /// A code fence is never closed.
    #[error("tasks.md:{line}: the code fence is never closed")]
    OpenFence {
        /// The line of the fence.
        line: u32,
    },
    /// A heading stands in a code fence, where some readers see it and others do not.
    #[error("tasks.md:{line}: a heading stands in a code fence")]
    FencedHeading {
        /// The line of the heading.
        line: u32,
    },
    /// A section that version 1 does not have.
    #[error("tasks.md:{line}: unrecognised section {name:?}")]
    UnknownSection {
        /// The line of the heading.
        line: u32,
        /// The heading's text.
        name: String,
    },
    /// A section that is there already.
    #[error("tasks.md:{line}: a second section {name:?}", name = section.name())]
    SecondSection {
        /// The line of the heading.
        line: u32,
        /// The section.
        section: Section,
    },
    /// A heading of the third level that is no task.
    #[error("tasks.md:{line}: a heading that is no task heading")]
    OtherHeading {
        /// The line of the heading.
        line: u32,
    },
    /// A task heading without an id of the format.
    #[error("tasks.md:{line}: malformed task id")]
    TaskId {
        /// The line of the heading.
        line: u32,
    },
    /// Two tasks of one id, or of one number.
    #[error("tasks.md:{line}: duplicate task id {task}")]
    DuplicateTask {
        /// The line of the second heading.
        line: u32,
        /// The id there.
        task: TaskId,
    },
    /// A task or another heading before the first section.
    #[error("tasks.md:{line}: content before the first section")]
    BeforeSections {
        /// The line.
        line: u32,
    },
    /// Text in a section that only holds task blocks, and that does not exist any more in version 2.
    #[error("tasks.md:{line}: text that belongs to no task in {name:?}", name = section.name())]
    Prose {
        /// The line.
        line: u32,
        /// The section.
        section: Section,
    },
    /// Text in `## Awaiting input` that parks no task.
    #[error("tasks.md:{line}: text in \"Awaiting input\" that is no bullet of a task")]
    AwaitingText {
        /// The line.
        line: u32,
    },
    /// Text behind the fields of a parked task: it may be the task's or the section's.
    #[error("tasks.md:{line}: text behind the fields of the parked task {task}")]
    ParkedText {
        /// The line.
        line: u32,
        /// The task.
        task: TaskId,
    },
    /// A state annotation that says more than the state.
    #[error("tasks.md:{line}: the annotation {name:?} says more than where the task stands", name = kind.name())]
    Annotation {
        /// The line.
        line: u32,
        /// The annotation.
        kind: AnnotationKind,
    },
    /// A bullet that names a task by something that is no id.
    #[error("tasks.md:{line}: malformed task id in a bullet")]
    BulletId {
        /// The line.
        line: u32,
    },
    /// A bullet that names a task which is not there.
    #[error("tasks.md:{line}: a bullet names task {task}, which is not there")]
    BulletWithoutTask {
        /// The line.
        line: u32,
        /// The id.
        task: TaskId,
    },
    /// A task would be parked by two bullets.
    #[error("tasks.md:{line}: task {task} would be parked twice")]
    ParkedTwice {
        /// The line of the second bullet, or of the block that would become it.
        line: u32,
        /// The task.
        task: TaskId,
    },
    /// The texts cannot be hashed.
    #[error("{0}")]
    Anchor(AnchorError),
    /// The task definitions would not stay the same to the byte.
    #[error("the task definitions would change")]
    Definitions,
    /// The bundle has a fault already, so that what it means is not certain.
    #[error("the bundle is not valid as it is: {0}")]
    Invalid(String),
    /// The migrated bundle would have a fault that this one has not.
    #[error("the migrated bundle would not be valid: {0}")]
    NewFinding(String),
}

impl Refusal {
    /// Returns what a person can do about it, where the reason does not say it; `spec` is the bundle's name.
    #[must_use]
    pub fn remedy(&self, spec: &str) -> Option<String> {
        match self {
            Self::NoBrief | Self::Record(_) | Self::Stale => {
                Some(format!("review and sign it: orchestrate sign specs/{spec}"))
            }
            Self::Invalid(_) => Some(format!("see all of it: orchestrate validate specs/{spec}")),
            Self::Mirror {
                key: "Format-version", ..
            } => Some(format!(
                "where another program's migration was cut short, see what it changed: git diff HEAD -- :/specs/{spec}; \
                 then let the four files be of one version, by hand"
            )),
            Self::Missing(_)
            | Self::Symlink(_)
            | Self::Unreadable { .. }
            | Self::NotText { .. }
            | Self::Header { .. }
            | Self::Version(_)
            | Self::Status(_)
            | Self::Mirror { .. }
            | Self::Brief(_)
            | Self::NoChangelog
            | Self::OpenFence { .. }
            | Self::FencedHeading { .. }
            | Self::UnknownSection { .. }
            | Self::SecondSection { .. }
            | Self::OtherHeading { .. }
            | Self::TaskId { .. }
            | Self::DuplicateTask { .. }
            | Self::BeforeSections { .. }
            | Self::Prose { .. }
            | Self::AwaitingText { .. }
            | Self::ParkedText { .. }
            | Self::Annotation { .. }
            | Self::BulletId { .. }
            | Self::BulletWithoutTask { .. }
            | Self::ParkedTwice { .. }
            | Self::Anchor(_)
            | Self::Definitions
            | Self::NewFinding(_) => None,
        }
    }
}
