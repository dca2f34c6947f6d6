//! `test-spec.md` (`contract/core.md §1.12`): how each requirement is verified.

/// One heading of level 3 in `test-spec.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestEntry {
    /// The requirement ids that the heading names, in the order written; empty for a heading that names none.
    pub requirements: Vec<String>,
    /// The heading, without its hashes.
    pub heading: String,
    /// The tags in the bracket at the heading's end, as in `test` or `manual`; empty without a bracket.
    pub tags: Vec<String>,
    /// The line of the heading in `test-spec.md`.
    pub line: u32,
}
