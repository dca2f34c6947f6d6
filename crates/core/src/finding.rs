//! What is said of one place in a bundle, with the line it is about.
//!
//! Made by the reader of bundles and carried to whoever shows it; nothing is decided from it.

use alloc::string::String;
use core::fmt;
use core::ops::Range;

use crate::place::BundleFile;

/// A finding about a bundle, complete for showing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleFinding {
    /// The file.
    pub file: BundleFile,
    /// The line, counted from 1; nothing when the finding is about the whole file.
    pub line: Option<u32>,
    /// The part of the line that offends: in characters, counted from 1, the end excluded.
    pub columns: Option<Range<u32>>,
    /// The line's text without its end, cut when it is very long. It may hold any character.
    pub excerpt: Option<String>,
    /// Whether the bundle must not be acted on because of it.
    pub is_error: bool,
    /// A stable word for the rule that was broken.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What a person can do about it.
    pub help: Option<String>,
}

impl fmt::Display for BundleFinding {
    /// `tasks.md:41: <message>`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(formatter, ":{line}")?;
        }
        write!(formatter, ": {}", self.message)
    }
}
