//! The record formats this product writes, each parsed and rendered in one place.
//!
//! The bytes are the host's to move; what they mean is decided here.

pub mod dispatch;
pub mod fence;
pub mod fetch;
pub mod fetch_stamp;
pub mod launch;
pub mod lock_owner;
pub mod marker;
pub mod redo;
pub mod sighting;

use alloc::string::String;
use alloc::vec::Vec;

/// A record that cannot be read. It is still a claim: whoever wrote it may hold the unit (architecture §7 row 9).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unreadable {record}: {cause}")]
pub struct RecordFault {
    /// Which record.
    pub record: &'static str,
    /// What is wrong with it.
    pub cause: String,
}

/// The version that this build writes into its own records.
pub(crate) const SCHEMA: u32 = 1;

fn render_json<T: serde::Serialize>(value: &T) -> Vec<u8> {
    // Every record is a tree of strings and numbers, which always serialises.
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

fn parse_json<T: serde::de::DeserializeOwned>(record: &'static str, bytes: &[u8]) -> Result<T, RecordFault> {
    use alloc::string::ToString;
    #[derive(serde::Deserialize)]
    struct Versioned {
        schema: u32,
    }
    let fault = |error: serde_json::Error| RecordFault {
        record,
        cause: error.to_string(),
    };
    let version: Versioned = serde_json::from_slice(bytes).map_err(fault)?;
    if version.schema > SCHEMA {
        let cause = alloc::format!("it has schema {}, this build reads up to {SCHEMA}", version.schema);
        return Err(RecordFault { record, cause });
    }
    serde_json::from_slice(bytes).map_err(fault)
}
