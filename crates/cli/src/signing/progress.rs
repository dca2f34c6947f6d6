//! How far a person has read in a bundle that is not signed yet, kept on this machine only.
//!
//! It holds hashes of what was read, so a part that changes is shown again. Losing it loses nothing but the reading.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Progress {
    schema: u32,
    /// The keys of the parts that were read.
    pub(crate) read: BTreeSet<String>,
}

const SCHEMA: u32 = 1;

/// Reads it; bytes that are none count as nothing read.
pub(crate) fn parse(bytes: &[u8]) -> Progress {
    let progress: Option<Progress> = serde_json::from_slice(bytes).ok();
    progress
        .filter(|progress| progress.schema == SCHEMA)
        .unwrap_or_default()
}

/// Returns its bytes.
pub(crate) fn render(read: &BTreeSet<String>) -> Vec<u8> {
    let value = serde_json::json!({ "schema": SCHEMA, "read": read });
    format!("{value}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_what_it_writes_and_nothing_else() {
        let read: BTreeSet<String> = ["a".to_owned(), "b".to_owned()].into();
        assert_eq!(parse(&render(&read)).read, read);
        for bytes in [
            &b""[..],
            b"\xff",
            b"{\"schema\":2,\"read\":[\"a\"]}",
            b"{\"read\":[\"a\"]}",
            b"[]",
        ] {
            assert_eq!(parse(bytes).read, BTreeSet::new());
        }
    }
}
