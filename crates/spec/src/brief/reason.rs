//! Why a brief holds no sign-off that may be acted on, each reason with its remedy (`contract/core.md §3.5–§3.8`).
//!
//! There is no way around a reason: each remedy ends in the command with which a person signs (law L9).

use core::fmt;

use orchestrate_core::identifier::SpecId;

use crate::BundleFile;
use crate::anchor::CommandError;

/// Why a brief holds no sign-off that may be acted on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct BriefError {
    /// The line, where the reason has one.
    pub line: Option<u32>,
    /// What is wrong.
    pub reason: BriefErrorReason,
}

impl fmt::Display for BriefError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", BundleFile::KickoffBrief)?;
        if let Some(line) = self.line {
            write!(formatter, ":{line}")?;
        }
        write!(formatter, ": {}", self.reason)
    }
}

/// What is wrong with a brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BriefErrorReason {
    /// It cannot be decoded.
    #[error("cannot read the brief as text: it holds {0}")]
    NotText(&'static str),
    /// No `Anchor:` line: the kickoff is not finished, whatever sections of it are signed.
    #[error("there is no sign-off record with an `Anchor:` line")]
    Absent,
    /// A fence that is never closed hides an `Anchor:` line.
    #[error("an `Anchor:` line stands in a code fence that is never closed")]
    OpenFence,
    /// Somebody recorded that nothing may be run: class `n/a`, or an anchor `(none …)` (`contract/core.md §16`, A-28).
    #[error("the last record is a deliberate halt: it says that nothing may be run")]
    DeliberateHalt,
    /// The last `Anchor:` line has no hash of 40 digits.
    #[error("the last `Anchor:` line has no hash of 40 lower-case hex digits")]
    NoHash,
    /// The last `Anchor:` line has no command.
    #[error("the last `Anchor:` line names no command, on it or alone on the next line")]
    NoCommand,
    /// The command is none of the sanctioned ones for this bundle (`contract/core.md §3.6`).
    #[error(transparent)]
    Command(CommandError),
    /// No `Class:` line, or one that makes the record no sign-off.
    #[error("the record's class is neither `meaning` nor `expression-only`")]
    NoClass,
    /// A meaning record without its lens pass.
    #[error("the record of class `meaning` names no lens pass")]
    NoLensPass,
    /// An expression-only record that cites no changelog line.
    #[error("the record of class `expression-only` does not cite its changelog line")]
    NoChangelog,
}

impl BriefErrorReason {
    /// Returns what a person can do about it.
    #[must_use]
    pub fn remedy(self, spec: &SpecId) -> String {
        let first = match self {
            Self::NotText(_) => "make kickoff-brief.md UTF-8 text without NUL bytes, then sign again",
            Self::OpenFence => "close the fence, then sign again",
            Self::DeliberateHalt => "resolve what the record names, then sign again",
            Self::Absent => "review and sign it",
            Self::NoHash
            | Self::NoCommand
            | Self::Command(_)
            | Self::NoClass
            | Self::NoLensPass
            | Self::NoChangelog => "sign it again; the record that is there stays as it is",
        };
        format!("{first}: orchestrate sign specs/{spec}")
    }
}
