//! What a person is told about configuration and doctrine: warnings to print, and errors with their exit numbers.

use core::fmt;

use orchestrate_core::identifier::printable;

use crate::layer::Layer;

/// Something was skipped, ignored or replaced by a default, and the work goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The layer it is about.
    pub layer: Layer,
    /// The file, with `:line` where one line is meant.
    pub place: String,
    /// What happened, as a lowercase fragment.
    pub message: String,
    /// The edit that ends it.
    pub remedy: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.message)
    }
}

/// Why the configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigurationError {
    /// The file that everybody who clones the repository shares is not flat `key: value` text.
    #[error("cannot read the repository's configuration: {place}: {reason}")]
    MalformedRepositoryFile {
        /// The file, with `:line` where one line is meant.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The repository sets a key to something the key does not admit.
    #[error("cannot use the repository's configuration: {place}: {key}: {reason}")]
    IllegalRepositoryValue {
        /// The file and line.
        place: String,
        /// The key.
        key: &'static str,
        /// What was expected, and what was found.
        reason: String,
    },
    /// The shipped defaults hold something the key does not admit.
    #[error("cannot use the core defaults, the installation is broken: {place}: {key}: {reason}")]
    BrokenCore {
        /// The file and line.
        place: String,
        /// The key.
        key: &'static str,
        /// What was expected, and what was found.
        reason: String,
    },
}

impl ConfigurationError {
    /// Returns the exit number of the plumbing readers: 4 for the repository's file, 5 for a broken installation
    /// (`contract/core.md §12.2, §12.3`).
    #[must_use]
    pub const fn exit_class(&self) -> u8 {
        match self {
            Self::MalformedRepositoryFile { .. } | Self::IllegalRepositoryValue { .. } => 4,
            Self::BrokenCore { .. } => 5,
        }
    }

    /// Returns the file, with `:line` where one line is meant.
    #[must_use]
    pub fn place(&self) -> &str {
        match self {
            Self::MalformedRepositoryFile { place, .. }
            | Self::IllegalRepositoryValue { place, .. }
            | Self::BrokenCore { place, .. } => place,
        }
    }

    /// Returns what a person can do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::MalformedRepositoryFile { place, .. } => {
                format!("repair {place}: each line is `key: value`, blank or a comment")
            }
            Self::IllegalRepositoryValue { key, place, .. } => {
                format!("correct or remove `{key}` at {place}")
            }
            Self::BrokenCore { place, .. } => {
                format!("repair {place}, or unset the variable that names it to use the built-in defaults")
            }
        }
    }
}

/// Returns a value as a message may show it: without control characters, in backticks, at most 60 characters.
pub(crate) fn shown(value: &str) -> String {
    const LONGEST: usize = 60;
    if value.is_empty() {
        return "an empty value".to_owned();
    }
    let clean = printable(value);
    let head: String = clean.chars().take(LONGEST).collect();
    if head.len() < clean.len() {
        format!("`{head}…`")
    } else {
        format!("`{head}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_value_cannot_drive_a_terminal_or_flood_it() {
        assert_eq!(shown("a\u{1b}[31mb"), "`a[31mb`");
        assert_eq!(shown(""), "an empty value");
        assert_eq!(shown(&"é".repeat(100)), format!("`{}…`", "é".repeat(60)));
    }
}
