//! What a person wants done again after it was reverted: the ids of the reverts, a line each.
//!
//! It names the very reverts that were seen, so that a later one holds the task again.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::RecordFault;
use crate::identifier::CommitId;

/// Reads the ids.
///
/// # Errors
/// When a line is no commit id, or the last one has no end: nothing is wanted that cannot be read.
pub fn parse(bytes: &[u8]) -> Result<BTreeSet<CommitId>, RecordFault> {
    let fault = |cause: String| RecordFault {
        record: "redo record",
        cause,
    };
    let text = core::str::from_utf8(bytes).map_err(|error| fault(error.to_string()))?;
    if !text.is_empty() && !text.ends_with('\n') {
        return Err(fault("its last line has no end".to_string()));
    }
    let commit = |line: &str| CommitId::parse(line).map_err(|error| fault(error.to_string()));
    text.lines().map(commit).collect()
}

/// Returns the bytes of a redo record.
#[must_use]
pub fn render(reverts: &BTreeSet<CommitId>) -> Vec<u8> {
    let lines: String = reverts.iter().map(|commit| format!("{commit}\n")).collect();
    lines.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_back_and_what_is_torn_does_not() {
        let reverts: BTreeSet<CommitId> = ["a", "b"]
            .iter()
            .map(|digit| CommitId::parse(&digit.repeat(40)).expect("commit"))
            .collect();
        let bytes = render(&reverts);
        assert_eq!(parse(&bytes), Ok(reverts));
        for length in 1..bytes.len() {
            if length % 41 != 0 {
                assert!(parse(&bytes[..length]).is_err(), "{length}");
            }
        }
        assert!(parse(b"x\n").is_err());
        assert!(parse(b"\xff\n").is_err());
    }
}
