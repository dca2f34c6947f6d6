//! The launch record: that a dispatch reached its worker, and how the worker ended.
//!
//! The worker runner writes it while it holds the worker's lease, so it exists if and only if a worker was started
//! for that attempt; for a printed command the tower writes it, because a person now holds the unit.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{RecordFault, SCHEMA, parse_json, render_json};
use crate::identifier::Nonce;
use crate::process::ProcessIdentity;
use crate::time::Timestamp;

/// How a worker ended. Only a description: whether the unit is done is decided by evidence, never by an exit code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerEnd {
    /// When.
    pub at: Timestamp,
    /// `exit 0`, `signal 9`, or why it could not be started.
    pub status: String,
}

/// The hand-over of one attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRecord {
    schema: u32,
    /// The attempt it belongs to; a record of another attempt says nothing.
    pub attempt: Nonce,
    /// When the worker was started, or the command printed.
    pub launched: Timestamp,
    /// The worker runner; none where the command was printed.
    pub runner: Option<ProcessIdentity>,
    /// How it ended, once it has.
    pub ended: Option<WorkerEnd>,
}

impl LaunchRecord {
    /// Returns the record of a start.
    #[must_use]
    pub fn new(attempt: Nonce, launched: Timestamp, runner: Option<ProcessIdentity>) -> Self {
        Self {
            schema: SCHEMA,
            attempt,
            launched,
            runner,
            ended: None,
        }
    }

    /// Returns the record in those bytes.
    ///
    /// # Errors
    /// When they are not a launch record, or one of a later version.
    pub fn parse(bytes: &[u8]) -> Result<Self, RecordFault> {
        parse_json("launch record", bytes)
    }

    /// Returns the record's bytes.
    #[must_use]
    pub fn render(&self) -> Vec<u8> {
        render_json(self)
    }
}
