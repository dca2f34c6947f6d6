//! The lines that `check` and `test` print: every step by name, and last how many passed.

use crate::failure::Result;

/// How one step ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing wrong was found; the note says how much was looked at.
    Passed(String),
    /// What is wrong, one line each.
    Failed(Vec<String>),
    /// The thing to look at does not exist yet, or a tool for it is missing.
    NotRun(String),
}

/// The steps that ran so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    passed: usize,
    failed: usize,
}

impl Report {
    /// Prints the step's end and counts it. A step that could not look has failed.
    pub(crate) fn record(&mut self, name: &str, outcome: Result<Outcome>) {
        let outcome = outcome.unwrap_or_else(|failure| Outcome::Failed(vec![failure.to_string()]));
        println!("{}", render(name, &outcome));
        match outcome {
            Outcome::Passed(_) => self.passed += 1,
            Outcome::Failed(_) => self.failed += 1,
            Outcome::NotRun(_) => {}
        }
    }

    /// Adds counts from a test runner that reported its own results.
    pub(crate) fn add(&mut self, passed: usize, failed: usize) {
        self.passed += passed;
        self.failed += failed;
    }

    /// Returns whether nothing failed.
    pub(crate) fn is_good(&self) -> bool {
        self.failed == 0
    }

    /// Returns the last line: `N passed, N failed`.
    pub(crate) fn summary(&self) -> String {
        format!("{} passed, {} failed", self.passed, self.failed)
    }
}

fn render(name: &str, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Passed(note) if note.is_empty() => format!("ok      {name}"),
        Outcome::Passed(note) => format!("ok      {name}: {note}"),
        Outcome::NotRun(why) => why.clone(),
        Outcome::Failed(findings) => {
            let mut text = format!("FAILED  {name}");
            for finding in findings {
                text.push_str("\n        ");
                text.push_str(finding);
            }
            text
        }
    }
}

/// Returns the outcome of a step that collected what is wrong.
pub(crate) fn judged(findings: Vec<String>, note: impl Into<String>) -> Outcome {
    if findings.is_empty() {
        Outcome::Passed(note.into())
    } else {
        Outcome::Failed(findings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Failure;

    #[test]
    fn a_step_that_could_not_look_counts_as_failed() {
        let mut report = Report::default();
        report.record("a", Ok(Outcome::Passed(String::new())));
        report.record("b", Err(Failure::new("cannot look")));
        report.record("c", Ok(Outcome::NotRun("not yet: c".into())));
        assert_eq!(report.summary(), "1 passed, 1 failed");
        assert!(!report.is_good());
    }

    #[test]
    fn findings_are_listed_below_the_name() {
        let outcome = judged(vec!["x.rs:1: bad".into()], "1 file");
        assert_eq!(render("rule", &outcome), "FAILED  rule\n        x.rs:1: bad");
        assert_eq!(render("rule", &judged(vec![], "1 file")), "ok      rule: 1 file");
    }
}
