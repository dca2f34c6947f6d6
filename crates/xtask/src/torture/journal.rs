//! The journal of a round: what workers and the person did, one JSON line each, in the order in which it happened.
//!
//! Every line is appended with one write, so that lines of processes that run at once never mix, and a kill leaves
//! whole lines only.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::failure::{Context, Failure, Result};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(super) enum Event {
    /// A tower reported a dispatch.
    Dispatched {
        /// The unit.
        unit: String,
        /// The attempt.
        attempt: String,
    },
    /// A worker began; written by itself before it does anything.
    Started {
        /// The unit.
        unit: String,
        /// The attempt that its lease names.
        attempt: String,
        /// The worker's process id.
        pid: u32,
        /// The branch that is checked out where it runs.
        branch: String,
        /// Where it runs.
        worktree: String,
        /// Whether no other worker of the unit lives.
        alone: bool,
        /// How many commits its branch had that main did not.
        ahead: usize,
        /// Paths that were not as committed.
        unclean: Vec<String>,
    },
    /// A worker, or the person for it, made a commit.
    Committed {
        /// The unit.
        unit: String,
        /// The commit.
        commit: String,
        /// The checkout that it was made in.
        place: String,
    },
    /// A worker ends by itself.
    Ended {
        /// The unit.
        unit: String,
        /// Its process id.
        pid: u32,
    },
    /// A worker or a filter is about to kill something.
    Killed {
        /// What.
        what: String,
    },
    /// The person is about to land the unit.
    Landing {
        /// The unit.
        unit: String,
        /// The checkout whose branch is landed.
        place: String,
    },
    /// The person has landed the unit.
    Landed {
        /// The unit.
        unit: String,
    },
    /// A unit, or the whole bundle, waited for the person, who did what was said.
    Helped {
        /// What it was about.
        unit: String,
        /// What the person did.
        act: String,
    },
    /// The person is about to remove the fence of a tower that is gone for good.
    Cleared {
        /// The unit.
        unit: String,
    },
    /// Origin was asked to change a ref, and is about to do so unless another change of it is quicker.
    Pushed {
        /// Whose push it is.
        who: String,
        /// The ref.
        reference: String,
        /// What it leads to; zeroes when it is not there.
        old: String,
        /// What it is to lead to; zeroes when it is to go.
        new: String,
    },
}

/// Where a journal lies.
#[derive(Debug, Clone)]
pub(super) struct Journal(PathBuf);

impl Journal {
    /// Returns the journal of a round's folder.
    pub(super) fn of(folder: &Path) -> Self {
        Self(folder.join("journal"))
    }

    /// Adds an event.
    pub(super) fn add(&self, event: &Event) -> Result<()> {
        let operation = || format!("cannot write {}", self.0.display());
        let mut line = serde_json::to_string(event).context(operation)?;
        line.push('\n');
        let mut file = File::options()
            .append(true)
            .create(true)
            .open(&self.0)
            .context(operation)?;
        file.write_all(line.as_bytes()).context(operation)
    }

    /// Returns every event so far.
    pub(super) fn read(&self) -> Result<Vec<Event>> {
        let operation = || format!("cannot read {}", self.0.display());
        let text = match std::fs::read_to_string(&self.0) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Failure::new(format!("{}: {error}", operation()))),
        };
        text.lines()
            .map(|line| serde_json::from_str(line).context(operation))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::of(folder.path());
        assert_eq!(journal.read().unwrap(), []);
        let landing = Event::Landing {
            unit: "1".to_owned(),
            place: "host-0".to_owned(),
        };
        let ended = Event::Ended {
            unit: "2".to_owned(),
            pid: 7,
        };
        journal.add(&landing).unwrap();
        journal.add(&ended).unwrap();
        assert_eq!(journal.read().unwrap(), [landing, ended]);
    }

    #[test]
    fn a_line_that_is_no_event_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("journal"), "{\"event\":\"other\"}\n").unwrap();
        assert!(Journal::of(folder.path()).read().is_err());
    }
}
