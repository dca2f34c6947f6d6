//! The one error type at the edge: what failed, why, what helps, and the exit code.

use orchestrate_core::exit;
use orchestrate_core::finding::BundleFinding;
use orchestrate_core::plan::HaltReason;
use orchestrate_core::world::Fault;

use crate::findings::{self, Paint};

/// A command that did not do its job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What failed and why, as a lowercase fragment.
    pub(crate) message: String,
    /// The command or act that helps.
    pub(crate) hint: Option<String>,
    /// The exit code.
    pub(crate) exit: u8,
    /// The bundle that could not be read, with every reason.
    pub(crate) unreadable: Option<Unreadable>,
}

/// A bundle that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// Its name.
    pub(crate) spec: String,
    /// Why it could not.
    pub(crate) findings: Vec<BundleFinding>,
}

impl Unreadable {
    /// Returns the findings as they are shown.
    pub(crate) fn render(&self, paint: Paint) -> String {
        findings::render_few(&self.directory(), &self.findings, paint)
    }

    /// Returns the findings for machines.
    pub(crate) fn as_json(&self) -> serde_json::Value {
        let directory = self.directory();
        let values = self
            .findings
            .iter()
            .map(|finding| findings::as_json(&directory, finding));
        values.collect()
    }

    fn directory(&self) -> String {
        format!("specs/{}", self.spec)
    }
}

impl Failure {
    /// Returns a failure of input, output or the program.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            unreadable: None,
            exit: exit::FAILED,
        }
    }

    /// Returns a failure of the command line.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            unreadable: None,
            exit: exit::USAGE,
        }
    }

    /// Returns a failure that a person has to resolve.
    pub(crate) fn halted(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            unreadable: None,
            exit: exit::HALTED,
        }
    }

    /// Returns the failure together with what helps.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the failure with another exit code.
    pub(crate) fn with_exit(mut self, exit: u8) -> Self {
        self.exit = exit;
        self
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self {
            message: fault.to_string(),
            hint: fault.hint,
            exit: exit::FAILED,
            unreadable: None,
        }
    }
}

impl From<Vec<HaltReason>> for Failure {
    fn from(reasons: Vec<HaltReason>) -> Self {
        let hint = reasons.iter().find_map(HaltReason::remedy);
        let mut unreadable = None;
        let mut messages = Vec::new();
        for reason in reasons {
            if let HaltReason::BundleInvalid { spec, findings } = reason {
                messages.push(format!("specs/{spec} cannot be read"));
                unreadable = Some(Unreadable { spec, findings });
            } else {
                messages.push(reason.to_string());
            }
        }
        Self {
            message: messages.join("; "),
            hint,
            exit: exit::HALTED,
            unreadable,
        }
    }
}
