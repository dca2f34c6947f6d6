//! What a check says: findings, each with what mends it, and one line about what it looked at.

use std::collections::BTreeSet;

use orchestrate_core::world::Fault;

use super::repair::Repair;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// Good to know; nothing waits for it.
    Note,
    /// It works, less well than it could; or it could not be looked at, so that nobody knows (law L4).
    Warning,
    /// Something that somebody wrote does not do what it says, or stops a dispatch.
    Fault,
}

impl Weight {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Fault => "fault",
        }
    }
}

/// What mends a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mend {
    /// An edit, or a choice that only a person can make, in words.
    ByHand(String),
    /// A command for a shell in the primary checkout.
    Command {
        /// What has to be true first: `if nobody works on it`.
        provided: Option<String>,
        command: String,
    },
    /// Harmless, so `--fix` does it.
    Fix(Repair),
}

/// The command that does everything harmless.
pub(super) const FIX: &str = "orchestrate doctor --fix";

impl Mend {
    pub(super) fn command(command: impl Into<String>) -> Self {
        Self::Command {
            provided: None,
            command: command.into(),
        }
    }

    pub(super) fn provided(provided: &str, command: impl Into<String>) -> Self {
        Self::Command {
            provided: Some(provided.to_owned()),
            command: command.into(),
        }
    }

    /// Returns what a hint of the product says: its command, where it ends with one.
    pub(super) fn of_hint(hint: &str) -> Self {
        let is_command = |text: &str| {
            ["git ", "rm ", "mv ", "orchestrate ", "gh "]
                .iter()
                .any(|word| text.starts_with(word))
        };
        match hint.split_once(": ") {
            _ if is_command(hint) && !hint.contains([',', ';']) => Self::command(hint),
            Some((provided, command)) if is_command(command) && !command.contains([',', ';']) => {
                Self::provided(provided, command)
            }
            Some(_) | None => Self::ByHand(hint.to_owned()),
        }
    }

    /// Returns it as one line.
    pub(super) fn text(&self) -> String {
        match self {
            Self::ByHand(text) => text.clone(),
            Self::Command {
                provided: Some(provided),
                command,
            } => format!("{provided}: {command}"),
            Self::Command {
                provided: None,
                command,
            } => command.clone(),
            Self::Fix(_) => FIX.to_owned(),
        }
    }

    /// Returns the command to run, where there is one.
    pub(super) fn to_run(&self) -> Option<&str> {
        match self {
            Self::ByHand(_) => None,
            Self::Command { command, .. } => Some(command),
            Self::Fix(_) => Some(FIX),
        }
    }
}

/// Something that a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) weight: Weight,
    /// The file or thing, from the primary checkout on, with `:line` where one line is meant.
    pub(super) place: String,
    /// What is wrong, as a lowercase fragment.
    pub(super) problem: String,
    /// What mends it.
    pub(super) mend: Mend,
}

impl Finding {
    pub(super) fn new(weight: Weight, place: impl Into<String>, problem: impl Into<String>, mend: Mend) -> Self {
        Self {
            weight,
            place: place.into(),
            problem: problem.into(),
            mend,
        }
    }

    /// Returns the finding of a look that failed: nobody knows, and that is said.
    pub(super) fn unseen(place: impl Into<String>, fault: &Fault) -> Self {
        let mend = match &fault.hint {
            Some(hint) => Mend::of_hint(hint),
            None => Mend::ByHand("look at it, and run orchestrate doctor again".to_owned()),
        };
        Self::new(Weight::Warning, place, fault.to_string(), mend)
    }
}

/// What one check says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Looked {
    /// What it looked at, in a few words.
    pub(super) at: String,
    /// There was nothing to look at.
    pub(super) skipped: bool,
    /// What it found.
    pub(super) findings: Vec<Finding>,
}

impl Looked {
    pub(super) fn new(at: impl Into<String>, findings: Vec<Finding>) -> Self {
        Self {
            at: at.into(),
            skipped: false,
            findings,
        }
    }

    /// Returns what is said where there is no repository to look at.
    pub(super) fn nothing() -> Self {
        Self {
            at: "not in a repository that can be used".to_owned(),
            skipped: true,
            findings: Vec::new(),
        }
    }
}

/// Returns several words joined for people, each once.
pub(super) fn listed(words: impl IntoIterator<Item = String>) -> String {
    let all: BTreeSet<String> = words.into_iter().collect();
    all.into_iter().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_that_ends_with_a_command_is_one() {
        let command = |hint: &str| Mend::of_hint(hint).to_run().map(str::to_owned);
        assert_eq!(
            command("git fetch --unshallow").as_deref(),
            Some("git fetch --unshallow")
        );
        assert_eq!(
            command("take it away: rm .git/refs/x").as_deref(),
            Some("rm .git/refs/x")
        );
        for other in [
            "install git, or add its directory to PATH",
            "git remote add origin ADDRESS, or set dispatch_fence: auto",
            "look at it: it may be somebody's",
        ] {
            assert_eq!(command(other), None, "{other}");
            assert_eq!(Mend::of_hint(other).text(), other);
        }
        assert_eq!(Mend::of_hint("take it away: rm x").text(), "take it away: rm x");
    }
}
