//! Findings about a bundle's text: where, what, and what helps.

use core::fmt;
use core::ops::Range;

use orchestrate_core::identifier::{SpecId, printable};
use orchestrate_core::place::BundleFile;

/// What a finding means for a bundle (`contract/core.md §2.2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// An error, whatever the bundle's status.
    Hard,
    /// An error in a bundle that is `Ready`, `Active` or `Done`, else a warning.
    Gap,
}

/// Whether a bundle with the finding may be acted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It may.
    Warning,
    /// It must not.
    Error,
}

/// A finding about a bundle. Texts quoted from the bundle are already free of control characters.
///
/// The message of a check that the format itself names keeps the format's words (`contract/core.md §2.3, §2.4`); that of
/// a stricter check of ours is a lowercase fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The bundle.
    pub spec: SpecId,
    /// The file of the bundle.
    pub file: BundleFile,
    /// The line, counted from 1; `None` when the finding is about the whole file.
    pub line: Option<u32>,
    /// The part of the line that offends: in characters of the line, counted from 1, the end excluded. `None` when the
    /// finding is about the whole line or file.
    pub columns: Option<Range<u32>>,
    /// What the finding means for a bundle.
    pub class: Class,
    /// What it means for this one.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// What a person can do about it.
    pub help: Option<String>,
    /// A stable word for the rule that was broken, for machines.
    pub code: &'static str,
}

impl fmt::Display for Diagnostic {
    /// `specs/<spec>/tasks.md:41: <message>`; the help is the caller's to print.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "specs/{}/{}", self.spec, self.file)?;
        if let Some(line) = self.line {
            write!(formatter, ":{line}")?;
        }
        write!(formatter, ": {}", self.message)
    }
}

/// The findings of one reading, in the order they are found.
pub(crate) struct Findings<'a> {
    spec: &'a SpecId,
    found: Vec<Diagnostic>,
}

impl<'a> Findings<'a> {
    pub(crate) fn new(spec: &'a SpecId) -> Self {
        Self {
            spec,
            found: Vec::new(),
        }
    }

    /// Adds a finding; an empty help is none.
    pub(crate) fn add(
        &mut self,
        code: &'static str,
        (file, line): (BundleFile, Option<u32>),
        message: String,
        help: &str,
    ) {
        let help = if help.is_empty() { None } else { Some(help.to_owned()) };
        self.found.push(Diagnostic {
            spec: self.spec.clone(),
            file,
            line,
            columns: None,
            class: Class::Hard,
            severity: Severity::Error,
            message,
            help,
            code,
        });
    }

    /// Returns the findings by file and line.
    pub(crate) fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|finding| (finding.file, finding.line));
        self.found
    }
}

/// Returns the text in quotes for a message: without control characters and not longer than a person reads.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 80;
    let text = printable(text.trim());
    if text.chars().count() <= LONGEST {
        return format!("\"{text}\"");
    }
    let start: String = text.chars().take(LONGEST).collect();
    format!("\"{start}…\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_names_its_place() {
        let spec = SpecId::parse("x").expect("spec");
        let mut findings = Findings::new(&spec);
        findings.add(
            "b",
            (BundleFile::Tasks, Some(41)),
            format!("{} is not a task heading", quoted("### Task\u{1b}[2J 1 ")),
            "write it so",
        );
        findings.add("a", (BundleFile::Design, None), "is empty".to_owned(), "");
        let found = findings.into_sorted();
        assert_eq!(found[0].to_string(), "specs/x/design.md: is empty");
        assert_eq!(found[0].help, None);
        assert_eq!(
            found[1].to_string(),
            "specs/x/tasks.md:41: \"### Task[2J 1\" is not a task heading"
        );
    }

    #[test]
    fn long_quotes_are_cut_between_characters() {
        assert_eq!(quoted(&"é".repeat(90)).chars().count(), 83);
    }
}
