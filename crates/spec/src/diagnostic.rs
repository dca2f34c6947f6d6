//! Findings about a bundle's text: where, what, and what helps.

use core::fmt;
use core::ops::Range;

use orchestrate_core::identifier::{SpecId, printable};
use orchestrate_core::place::BundleFile;

use crate::check::{Check, Origin};
use crate::{Span, Status};

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
    /// What it means for this one. What loses no task and no requirement may be a warning always, as a malformed gate is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// What a person can do about it.
    pub help: Option<String>,
    /// A stable word for the rule that was broken, for machines.
    pub code: &'static str,
}

impl Diagnostic {
    /// Returns whether the format's own validator knows the check (`contract/core.md §2.3, §2.4`); the others are
    /// stricter checks of ours.
    #[must_use]
    pub fn is_of_the_format(&self) -> bool {
        Check::of_code(self.code).is_some_and(|check| matches!(check.origin(), Origin::Format(_)))
    }
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

/// The place of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    file: BundleFile,
    line: Option<u32>,
    columns: Option<Range<u32>>,
}

impl Spot {
    pub(crate) fn file(file: BundleFile) -> Self {
        Self {
            file,
            line: None,
            columns: None,
        }
    }

    pub(crate) fn line(file: BundleFile, line: u32) -> Self {
        Self {
            file,
            line: Some(line),
            columns: None,
        }
    }

    pub(crate) fn span(file: BundleFile, span: Span) -> Self {
        Self {
            file,
            line: Some(span.line),
            columns: Some(span.columns).filter(|columns| !columns.is_empty()),
        }
    }
}

/// The findings of one reading.
#[derive(Default)]
pub(crate) struct Findings {
    found: Vec<Found>,
}

struct Found {
    check: Check,
    spot: Spot,
    message: String,
    help: String,
}

impl Findings {
    /// Adds a finding; an empty help is none.
    pub(crate) fn add(&mut self, check: Check, spot: Spot, message: String, help: &str) {
        self.found.push(Found {
            check,
            spot,
            message,
            help: help.to_owned(),
        });
    }

    /// Returns the first finding of such a check, with its place.
    pub(crate) fn first_of(&self, wanted: impl Fn(Check) -> bool) -> Option<String> {
        let found = self.found.iter().find(|found| wanted(found.check))?;
        Some(match found.spot.line {
            Some(line) => format!("{}:{line}: {}", found.spot.file, found.message),
            None => found.message.clone(),
        })
    }

    /// Returns the findings in the format's order, with what they mean for a bundle of that status; `None` is one that
    /// is in no vocabulary.
    pub(crate) fn finish(mut self, spec: &SpecId, status: Option<Status>) -> Vec<Diagnostic> {
        // Those of the format stay in the order in which they were found, ours are put in the order of the lines.
        self.found.sort_by_key(|found| match found.check.origin() {
            Origin::Format(number) => (number, false, 0),
            Origin::Ours(number) => (number, true, found.spot.line.unwrap_or(0)),
        });
        let is_in_force = matches!(status, Some(Status::Ready | Status::Active | Status::Done));
        let diagnostic = |found: Found| {
            let class = found.check.class();
            let is_error = (class == Class::Hard || is_in_force) && !found.check.is_always_a_warning();
            Diagnostic {
                spec: spec.clone(),
                file: found.spot.file,
                line: found.spot.line,
                columns: found.spot.columns,
                class,
                severity: if is_error { Severity::Error } else { Severity::Warning },
                message: found.message,
                help: Some(found.help).filter(|help| !help.is_empty()),
                code: found.check.code(),
            }
        };
        self.found.into_iter().map(diagnostic).collect()
    }
}

/// Returns the text in quotes for a message: without control characters and not longer than a person reads.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 80;
    // Only the start is looked at: a line may be as long as a file.
    let start: String = text.trim().chars().take(LONGEST + 1).collect();
    let shown = printable(&start);
    if shown.chars().count() <= LONGEST {
        return format!("\"{shown}\"");
    }
    let start: String = shown.chars().take(LONGEST).collect();
    format!("\"{start}…\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_names_its_place() {
        let spec = SpecId::parse("x").expect("spec");
        let mut findings = Findings::default();
        findings.add(
            Check::TaskHeading,
            Spot::line(BundleFile::Tasks, 41),
            format!("{} is not a task heading", quoted("### Task\u{1b}[2J 1 ")),
            "write it so",
        );
        findings.add(
            Check::FileMissing,
            Spot::file(BundleFile::Design),
            "is missing".to_owned(),
            "",
        );
        let found = findings.finish(&spec, Some(Status::Draft));
        assert_eq!(found[0].to_string(), "specs/x/design.md: is missing");
        assert_eq!((found[0].help.as_ref(), found[0].severity), (None, Severity::Warning));
        assert_eq!(
            found[1].to_string(),
            "specs/x/tasks.md:41: \"### Task[2J 1\" is not a task heading"
        );
        assert_eq!(found[1].severity, Severity::Error);
        assert!(found[0].is_of_the_format() && !found[1].is_of_the_format());
    }

    #[test]
    fn long_quotes_are_cut_between_characters() {
        assert_eq!(quoted(&"é".repeat(90)).chars().count(), 83);
    }
}
