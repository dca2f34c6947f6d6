//! Our own dispatch record, `<git-common-dir>/orchestrate/dispatch/<spec>/<ids>.json` (architecture §6).
//!
//! It is the whole plan of one dispatch: the executor has no choice left, and a later step finds in it where the
//! branch started and which tower wrote it.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{RecordFault, SCHEMA, parse_json, render_json};
use crate::identifier::{BackendName, BaseName, CommitId, Nonce, SpecId, Unit, UnitName};
use crate::process::ProcessIdentity;
use crate::time::Timestamp;

/// How the worker is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LaunchManner {
    /// In the background; the step exits when the worker holds its lease.
    Background,
    /// In this terminal; the step waits for its end.
    Foreground,
    /// By a person, who pastes the printed command.
    Printed,
}

/// What the worker runner starts, word by word; never through a shell (law L8).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchOrder {
    /// The backend that composed it.
    pub backend: BackendName,
    /// How it is started.
    pub manner: LaunchManner,
    /// The program, as an absolute path, and its arguments. The prompt is never among them: it goes by stdin.
    pub argv: Vec<String>,
    /// The text given to the worker.
    pub prompt: String,
}

/// One dispatch of one unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchRecord {
    schema: u32,
    /// The bundle.
    pub spec: SpecId,
    /// The unit.
    pub unit: Unit,
    /// The base branch that was gated.
    pub base: BaseName,
    /// The commit that the gate compared, at which the branch starts.
    pub start: CommitId,
    /// The sign-off anchor that the gate accepted.
    pub anchor: String,
    /// The tower that wrote the record.
    pub tower: ProcessIdentity,
    /// What tells this attempt from every other; the worker runner refuses to start for a superseded one.
    pub attempt: Nonce,
    /// What to start.
    pub launch: LaunchOrder,
    /// When it was written.
    pub dispatched: Timestamp,
}

/// The parts of a [`DispatchRecord`] that are decided under the lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The tower.
    pub tower: ProcessIdentity,
    /// The attempt's token.
    pub attempt: Nonce,
    /// Now.
    pub dispatched: Timestamp,
}

impl DispatchRecord {
    /// Returns the record of one attempt.
    #[must_use]
    pub fn new(
        name: UnitName,
        base: BaseName,
        start: CommitId,
        anchor: String,
        attempt: Attempt,
        launch: LaunchOrder,
    ) -> Self {
        let Attempt {
            tower,
            attempt,
            dispatched,
        } = attempt;
        Self {
            schema: SCHEMA,
            spec: name.spec,
            unit: name.unit,
            base,
            start,
            anchor,
            tower,
            attempt,
            launch,
            dispatched,
        }
    }

    /// Returns the unit's full name.
    #[must_use]
    pub fn name(&self) -> UnitName {
        UnitName {
            spec: self.spec.clone(),
            unit: self.unit.clone(),
        }
    }

    /// Returns the record in those bytes.
    ///
    /// # Errors
    /// When they are not a dispatch record, or one of a later version.
    pub fn parse(bytes: &[u8]) -> Result<Self, RecordFault> {
        parse_json("dispatch record", bytes)
    }

    /// Returns the record's bytes.
    #[must_use]
    pub fn render(&self) -> Vec<u8> {
        render_json(self)
    }
}
