//! The fetch record: how many fetches failed in a row, and what origin calls its own head.
//!
//! It lies beside nothing that matters: one that is gone or cannot be read counts as a new one.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{RecordFault, SCHEMA, parse_json, render_json};
use crate::identifier::BaseName;

/// What a clone remembers of its fetches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchRecord {
    schema: u32,
    /// How many fetches have failed since the last one that did not.
    pub failures: u32,
    /// The branch that origin's HEAD names, asked for where nothing here says it (architecture §6, "Base and start").
    pub remote_head: Option<BaseName>,
}

impl Default for FetchRecord {
    fn default() -> Self {
        Self {
            schema: SCHEMA,
            failures: 0,
            remote_head: None,
        }
    }
}

impl FetchRecord {
    /// Returns the record in those bytes.
    ///
    /// # Errors
    /// When they are not a fetch record, or one of a later version.
    pub fn parse(bytes: &[u8]) -> Result<Self, RecordFault> {
        parse_json("fetch record", bytes)
    }

    /// Returns the record's bytes.
    #[must_use]
    pub fn render(&self) -> Vec<u8> {
        render_json(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let record = FetchRecord {
            failures: 2,
            remote_head: BaseName::parse("trunk").ok(),
            ..FetchRecord::default()
        };
        assert_eq!(FetchRecord::parse(&record.render()), Ok(record));
        for bad in [
            &b""[..],
            b"{",
            b"{\"schema\": 2}",
            b"{\"schema\": 1, \"failures\": 1, \"remote_head\": \"a b\"}",
        ] {
            assert!(FetchRecord::parse(bad).is_err(), "{bad:?}");
        }
    }
}
