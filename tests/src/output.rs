//! What a program left: its exit code and both outputs.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// What a program that ended left.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a program that ended may have failed"]
pub struct Output {
    /// Its exit code; 128 and the signal's number, as in a shell, for one that was killed.
    pub exit: i32,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
}

impl Output {
    pub(crate) fn new(status: ExitStatus, stdout: &[u8], stderr: &[u8]) -> Self {
        let exit = status
            .code()
            .or_else(|| status.signal().map(|signal| 128 + signal))
            .unwrap_or(-1);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            exit,
            stdout: text(stdout),
            stderr: text(stderr),
        }
    }

    /// Returns the output, if the program ended with that code.
    ///
    /// # Panics
    /// When it ended with another one.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.exit, code, "{self}");
        self
    }

    /// Returns both outputs, standard output first.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// Returns the output, if one of its two streams contains the text.
    ///
    /// # Panics
    /// When neither does.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(self.text().contains(text), "nothing says {text:?}\n{self}");
        self
    }

    /// Returns the value that standard output is as JSON.
    ///
    /// # Panics
    /// When it is not exactly one value of schema 1.
    #[must_use]
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        match serde_json::from_str::<serde_json::Value>(&self.stdout) {
            Ok(value) => {
                assert_eq!(value["schema"], 1, "{self}");
                value
            }
            Err(error) => panic!("standard output is not JSON: {error}\n{self}"),
        }
    }
}

impl fmt::Display for Output {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "exit {}", self.exit)?;
        for (name, text) in [("out", &self.stdout), ("err", &self.stderr)] {
            if !text.is_empty() {
                write!(formatter, "--- {name}\n{text}")?;
                if !text.ends_with('\n') {
                    writeln!(formatter, "\n(no line end)")?;
                }
            }
        }
        Ok(())
    }
}
