//! The changelog of `requirements.md` (`contract/core.md §1.4`).

/// One dated entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangelogEntry {
    /// Its date as written, `YYYY-MM-DD`.
    pub date: String,
    /// Its text behind the date, with its line breaks.
    pub text: String,
    /// The line of its bullet in `requirements.md`.
    pub line: u32,
}
