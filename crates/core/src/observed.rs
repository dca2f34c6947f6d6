//! Three-valued evidence (law L4): what was read, what is known not to be there, what could not be read.

use alloc::string::String;
use core::fmt;

/// Why something is not there, or could not be read; with the command that helps, where one does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// A lowercase fragment, fit to stand behind a colon.
    pub reason: String,
    /// What a person can do about it.
    pub hint: Option<String>,
}

impl Why {
    /// Returns a reason without a remedy.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            hint: None,
        }
    }

    /// Returns the reason together with what a person can do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Why {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}

/// One piece of evidence. There is no conversion from `Unknown` to `Absent`: "could not look" never becomes "no".
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "evidence that is not read decides nothing"]
pub enum Observed<T> {
    /// It was read.
    Known(T),
    /// It is known to be nothing.
    Absent(Why),
    /// It could not be looked at.
    Unknown(Why),
}

impl<T> Observed<T> {
    /// Returns the evidence as a reference.
    pub fn as_ref(&self) -> Observed<&T> {
        match self {
            Self::Known(value) => Observed::Known(value),
            Self::Absent(why) => Observed::Absent(why.clone()),
            Self::Unknown(why) => Observed::Unknown(why.clone()),
        }
    }

    /// Returns the evidence with its value changed; absence and ignorance stay what they are.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Observed<U> {
        match self {
            Self::Known(value) => Observed::Known(change(value)),
            Self::Absent(why) => Observed::Absent(why),
            Self::Unknown(why) => Observed::Unknown(why),
        }
    }

    /// Returns what is known, `None` where it is known to be nothing.
    ///
    /// # Errors
    /// The reason, where it could not be read.
    pub fn known(self) -> Result<Option<T>, Why> {
        match self {
            Self::Known(value) => Ok(Some(value)),
            Self::Absent(_) => Ok(None),
            Self::Unknown(why) => Err(why),
        }
    }
}
