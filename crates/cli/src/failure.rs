//! The one error type at the edge: what failed, why, what helps, and the exit code.

use orchestrate_core::exit;
use orchestrate_core::plan::HaltReason;
use orchestrate_core::world::Fault;

/// A command that did not do its job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What failed and why, as a lowercase fragment.
    pub(crate) message: String,
    /// The command or act that helps.
    pub(crate) hint: Option<String>,
    /// The exit code.
    pub(crate) exit: u8,
}

impl Failure {
    /// Returns a failure of input, output or the program.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            exit: exit::FAILED,
        }
    }

    /// Returns a failure of the command line.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            exit: exit::USAGE,
        }
    }

    /// Returns a failure that a person has to resolve.
    pub(crate) fn halted(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
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
        }
    }
}

impl From<Vec<HaltReason>> for Failure {
    fn from(reasons: Vec<HaltReason>) -> Self {
        let messages: Vec<String> = reasons.iter().map(ToString::to_string).collect();
        let hint = reasons.iter().find_map(HaltReason::remedy);
        Self {
            message: messages.join("; "),
            hint,
            exit: exit::HALTED,
        }
    }
}
