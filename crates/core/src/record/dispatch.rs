//! Our own dispatch record, `<git-common-dir>/orchestrate/dispatch/<spec>/<ids>.json` (architecture §6).
//!
//! It is the whole plan of one dispatch: the executor has no choice left, and a later step finds in it where the
//! branch started and which tower wrote it.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::launch::LaunchRecord;
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
    /// The attempt of the launch record that was there before: that one is over. A launch record of any other attempt is
    /// of a runner that started late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    launched_before: Option<Nonce>,
    /// Whether the tower has given it up before the launch, and lives on.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub given_up: bool,
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
    /// The attempt that the unit's launch record is of, which is over.
    pub launched_before: Option<Nonce>,
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
            launched_before,
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
            launched_before,
            given_up: false,
        }
    }

    /// Returns the record of the same attempt when its tower gives it up before the launch.
    #[must_use]
    pub fn give_up(&self) -> Self {
        Self {
            given_up: true,
            ..self.clone()
        }
    }

    /// Returns whether a worker was launched by this attempt, or by an earlier one whose runner started late: then the
    /// unit is that worker's, whichever record speaks for it.
    #[must_use]
    pub fn was_launched(&self, launch: &LaunchRecord) -> bool {
        launch.attempt == self.attempt || self.launched_before.as_ref() != Some(&launch.attempt)
    }

    /// Returns whether that launch is known to nobody but this record: its markers went with the attempt before, or were
    /// never written.
    #[must_use]
    pub fn is_late(&self, launch: &LaunchRecord) -> bool {
        self.was_launched(launch) && (self.given_up || launch.attempt != self.attempt)
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
