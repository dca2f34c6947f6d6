//! The one error type of xtask: what could not be done, and why.

use std::fmt;

/// What could not be done: a lowercase fragment naming the operation, then the cause.
#[derive(Debug)]
pub(crate) struct Failure(String);

/// The result of everything in xtask that can fail.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// Returns the failure of an operation without an error behind it.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Names the operation that failed.
pub(crate) trait Context<T> {
    /// Puts `what` in front of the error.
    fn context(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: fmt::Display> Context<T> for std::result::Result<T, E> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Failure(format!("{}: {error}", what())))
    }
}
