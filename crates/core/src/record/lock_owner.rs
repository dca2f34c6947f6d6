//! The `owner` file inside `.orchestrate.lock` (architecture §6, "Lock").

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{RecordFault, SCHEMA, parse_json, render_json};
use crate::identifier::Nonce;
use crate::process::ProcessIdentity;

/// How long the owner keeps the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LockKind {
    /// A process that lives as long as it holds the lock, and holds the kernel's window lock beside it.
    Process,
    /// The plumbing verb, which exits while it holds; only age can free such a lock.
    Detached,
}

/// Who holds the per-spec lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockOwner {
    schema: u32,
    /// How long the owner keeps it.
    pub kind: LockKind,
    /// The process that took it.
    pub process: ProcessIdentity,
    /// What tells this acquisition from every other.
    pub nonce: Nonce,
}

impl LockOwner {
    /// Returns the owner record of one acquisition.
    #[must_use]
    pub fn new(kind: LockKind, process: ProcessIdentity, nonce: Nonce) -> Self {
        Self {
            schema: SCHEMA,
            kind,
            process,
            nonce,
        }
    }

    /// Returns the record in those bytes.
    ///
    /// # Errors
    /// When they are not an owner record, or one of a later version.
    pub fn parse(bytes: &[u8]) -> Result<Self, RecordFault> {
        parse_json("lock owner", bytes)
    }

    /// Returns the record's bytes.
    #[must_use]
    pub fn render(&self) -> Vec<u8> {
        render_json(self)
    }
}
