//! The only place that prints: data to standard output, talk to standard error.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Write};

use orchestrate_core::exit;
use orchestrate_core::identifier::{is_printable, printable};

use crate::arguments::Format;
use crate::failure::{Failure, Unreadable};
use crate::findings::Paint;

/// Prints results.
pub(crate) struct Printer {
    format: Format,
    closed: bool,
    /// Data was lost that somebody wanted.
    lost: bool,
    told: BTreeSet<String>,
}

impl Printer {
    pub(crate) fn new(format: Format) -> Self {
        Self {
            format,
            closed: false,
            lost: false,
            told: BTreeSet::new(),
        }
    }

    /// Returns how results are printed.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Prints a line of data, for people: control characters never reach a terminal.
    pub(crate) fn line(&mut self, text: &str) {
        self.raw(format!("{}\n", shown(text)).as_bytes());
    }

    /// Prints a record of a machine stream exactly as it is.
    pub(crate) fn record(&mut self, columns: &[&str]) {
        self.raw(format!("{}\n", columns.join("\t")).as_bytes());
    }

    /// Prints bytes exactly as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.raw(bytes);
    }

    /// Prints one value as JSON on one line.
    pub(crate) fn json(&mut self, value: &serde_json::Value) {
        self.raw(format!("{}\n", without_controls(&value.to_string())).as_bytes());
    }

    /// Prints a text that was made for the screen, line breaks included.
    pub(crate) fn screen(&mut self, text: &str) {
        self.raw(text.as_bytes());
    }

    /// Tells the findings that keep a bundle from being read, without styles.
    pub(crate) fn unreadable(&mut self, unreadable: &Unreadable) {
        // As in `talk`: there is nowhere left to say that saying it failed.
        let _ = write!(std::io::stderr().lock(), "{}", unreadable.render(Paint::Plain));
    }

    /// Prints what the grammar of the command line answers, and returns the exit code: help and the version are data, and
    /// what is wrong with a command line may quote anything.
    pub(crate) fn grammar(&mut self, answer: &clap::Error) -> u8 {
        if answer.use_stderr() {
            for line in answer.render().to_string().lines() {
                // As in `talk`.
                let _ = writeln!(std::io::stderr().lock(), "{}", shown(line));
            }
            return exit::USAGE;
        }
        let written = answer.print().and_then(|()| std::io::stdout().flush());
        self.wrote(written);
        self.exit(exit::DONE)
    }

    fn raw(&mut self, bytes: &[u8]) {
        if self.closed {
            return;
        }
        let mut out = std::io::stdout().lock();
        let written = out.write_all(bytes).and_then(|()| out.flush());
        drop(out);
        self.wrote(written);
    }

    /// Takes down how writing to standard output went.
    fn wrote(&mut self, written: std::io::Result<()>) {
        let Err(error) = written else {
            return;
        };
        // A reader that went away wants no more; anything else is told once.
        self.closed = true;
        if error.kind() != ErrorKind::BrokenPipe {
            self.lost = true;
            self.talk(&format!("error: cannot write to standard output: {error}"));
        }
    }

    /// Prints a remark to standard error.
    pub(crate) fn talk(&mut self, text: &str) {
        // There is nowhere left to say that saying it failed.
        let _ = writeln!(std::io::stderr().lock(), "{}", printable(text));
    }

    /// Prints a record to standard error, for a verb that passes on what another one prints.
    pub(crate) fn talk_record(&mut self, columns: &[&str]) {
        let shown: Vec<String> = columns.iter().map(|column| printable(column)).collect();
        // As in `talk`.
        let _ = writeln!(std::io::stderr().lock(), "{}", shown.join("\t"));
    }

    /// Prints a remark to standard error, unless this process has said the same before: a loop reads everything afresh
    /// each time.
    pub(crate) fn talk_once(&mut self, text: &str) {
        if self.told.insert(text.to_owned()) {
            self.talk(text);
        }
    }

    /// Returns the exit code of a command that ended so: what could not be told was not done.
    pub(crate) fn exit(&self, code: u8) -> u8 {
        let is_success = matches!(code, exit::DONE | exit::IDLE | exit::CAPPED | exit::HELD);
        if self.lost && is_success { exit::FAILED } else { code }
    }

    /// Prints a failure and returns its exit code.
    pub(crate) fn failure(&mut self, failure: &Failure) -> u8 {
        if self.format == Format::Json {
            let mut value = serde_json::json!({
                "schema": 1, "outcome": "failed", "message": failure.message, "hint": failure.hint,
            });
            if let (Some(object), Some(unreadable)) = (value.as_object_mut(), &failure.unreadable) {
                object.insert("findings".to_owned(), unreadable.as_json());
            }
            self.json(&value);
        }
        self.talk(&format!("error: {}", failure.message));
        if let Some(unreadable) = &failure.unreadable {
            self.unreadable(unreadable);
        }
        if let Some(hint) = &failure.hint {
            self.talk(&format!("hint: {hint}"));
        }
        failure.exit
    }
}

/// Returns a line for people; an empty one stays empty.
fn shown(line: &str) -> String {
    if line.is_empty() {
        String::new()
    } else {
        printable(line)
    }
}

/// Returns JSON in which what could drive a terminal is escaped: such characters stand in strings only.
fn without_controls(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        if is_printable(character) {
            text.push(character);
        } else {
            text.push_str(&format!("\\u{:04x}", u32::from(character)));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_that_is_shown_drives_no_terminal_and_says_the_same() {
        let value = serde_json::json!({ "title": "a\u{9b}2J\u{7f}\u{202e}b\u{1b}\nc — é 漢" });
        let shown = without_controls(&value.to_string());
        assert!(shown.chars().all(is_printable), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).expect("JSON"), value);
    }
}
