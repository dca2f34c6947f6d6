//! The arguments of `plumbing check-commit-msgs` (`contract/core.md §14.4`).

use clap::{Args, ValueEnum};

/// Where `check-commit-msgs` finds subjects.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct SubjectSource {
    /// The commits: A..B, A...B, or one with all before it. Merges are left out.
    pub(crate) range: Option<String>,
    /// Read one subject from each line of standard input.
    #[arg(long)]
    pub(crate) stdin: bool,
}

/// What a subject on standard input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SubjectKind {
    /// A commit's.
    Subject,
    /// A pull request's title.
    Title,
}

/// Reads a number from 1.
pub(super) fn positive(text: &str) -> Result<usize, String> {
    let number = text
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| text.parse().ok());
    number
        .flatten()
        .filter(|number| *number > 0)
        .ok_or_else(|| "not a whole number from 1".to_owned())
}
