//! The content anchor: the hash a person signs (`contract/core.md §3.1–§3.3`).
//!
//! Works on bytes exactly as they are stored, because the same hash must come out on every machine. Owns no state.

mod definitions;
mod form;

use core::fmt::Write as _;

use sha1::{Digest as _, Sha1};

use crate::header::{HeaderLine, classify};
use crate::{BundleFile, BundleTexts};

pub(crate) use definitions::sort_key;
use definitions::{Fences, definitions};
pub use form::{AnchorForm, CommandError};

/// Why a bundle has no anchor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot anchor {file}: {reason}")]
pub struct AnchorError {
    /// The file that cannot be hashed.
    pub file: BundleFile,
    /// What is wrong with it.
    pub reason: AnchorErrorReason,
}

/// What is wrong with a file that cannot be hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AnchorErrorReason {
    /// A NUL byte.
    #[error("it holds a NUL byte")]
    Nul,
    /// Two task headings have ids that are the same number, such as `7` and `007`.
    #[error("two tasks share one number")]
    DuplicateTask,
    /// More than one `**Status:**` line in the header block.
    #[error("its header declares Status more than once")]
    DuplicateStatus,
    /// A code fence is still open at the end of the file.
    #[error("a code fence is never closed")]
    OpenFence,
    /// There is no header block, or nothing after it.
    #[error("it has no header block followed by a body")]
    Header,
}

impl AnchorError {
    /// Returns the exit status with which `spec-anchor` reports this failure (`contract/core.md §3.1`).
    #[must_use]
    pub const fn exit_class(&self) -> u8 {
        match self.reason {
            AnchorErrorReason::Nul | AnchorErrorReason::DuplicateTask => 1,
            AnchorErrorReason::DuplicateStatus | AnchorErrorReason::OpenFence => 3,
            AnchorErrorReason::Header => 4,
        }
    }
}

/// Returns the content anchor, 40 lower-case hex digits: the files without their status lines, and of `tasks.md` the
/// task definitions only.
///
/// # Errors
/// When a file cannot be hashed; see [`AnchorErrorReason`].
pub fn content_anchor(texts: &BundleTexts) -> Result<String, AnchorError> {
    let mut hashes = Vec::new();
    for (file, bytes) in texts.files() {
        let hashed = match file {
            BundleFile::Tasks => definitions(bytes, Fences::Skipped),
            BundleFile::Requirements | BundleFile::Design | BundleFile::TestSpec | BundleFile::KickoffBrief => {
                refuse_nul(bytes).and_then(|()| without_status_line(bytes))
            }
        };
        hashes.push(blob_hash(&hashed.map_err(|reason| AnchorError { file, reason })?));
    }
    Ok(hash_of_hashes(&hashes))
}

/// Returns the hash by the older rule, which hashed the status lines too and did not know fences
/// (`contract/core.md §17.1`). It only serves to recognise a record made by that rule.
///
/// # Errors
/// When a file holds a NUL byte, or two tasks share a number.
pub fn snapshot_anchor(texts: &BundleTexts) -> Result<String, AnchorError> {
    let mut hashes = Vec::new();
    for (file, bytes) in texts.files() {
        let hashed = match file {
            BundleFile::Tasks => definitions(bytes, Fences::Read),
            BundleFile::Requirements | BundleFile::Design | BundleFile::TestSpec | BundleFile::KickoffBrief => {
                refuse_nul(bytes).map(|()| bytes.to_vec())
            }
        };
        hashes.push(blob_hash(&hashed.map_err(|reason| AnchorError { file, reason })?));
    }
    Ok(hash_of_hashes(&hashes))
}

/// Returns the hash over the four whole files, every byte of them (`contract/core.md §3.6`, form 2).
#[must_use]
pub fn whole_files_anchor(texts: &BundleTexts) -> String {
    let hashes: Vec<String> = texts.files().iter().map(|(_, bytes)| blob_hash(bytes)).collect();
    hash_of_hashes(&hashes)
}

fn hash_of_hashes(hashes: &[String]) -> String {
    let mut lines = hashes.join("\n");
    lines.push('\n');
    blob_hash(lines.as_bytes())
}

/// Returns the name git gives a blob of these bytes; always SHA-1, whatever the repository uses.
pub(crate) fn blob_hash(bytes: &[u8]) -> String {
    let mut hasher = Sha1::new();
    hasher.update(format!("blob {}\0", bytes.len()));
    hasher.update(bytes);
    let mut hex = String::with_capacity(40);
    for byte in hasher.finalize() {
        // Writing into a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

fn refuse_nul(bytes: &[u8]) -> Result<(), AnchorErrorReason> {
    if bytes.contains(&0) {
        Err(AnchorErrorReason::Nul)
    } else {
        Ok(())
    }
}

/// Returns the bytes without the status line of the header block; nothing else changes.
fn without_status_line(bytes: &[u8]) -> Result<Vec<u8>, AnchorErrorReason> {
    let mut status = None;
    let mut start = 0;
    let mut has_body = false;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match classify(line.strip_suffix(b"\n").unwrap_or(line)) {
            HeaderLine::Blank | HeaderLine::Title(_) => {}
            HeaderLine::Key { key, .. } => {
                if key == b"Status" && status.replace(start..start + line.len()).is_some() {
                    return Err(AnchorErrorReason::DuplicateStatus);
                }
            }
            HeaderLine::Body => {
                has_body = start > 0;
                break;
            }
        }
        start += line.len();
    }
    if !has_body {
        return Err(AnchorErrorReason::Header);
    }
    let mut kept = bytes.to_vec();
    if let Some(range) = status {
        kept.drain(range);
    }
    Ok(kept)
}

/// Returns the task definitions of a `tasks.md` by both rules, with fences read and not: what no rewriting of the file
/// may change (`contract/core.md §8.6`).
pub(crate) fn task_definitions(bytes: &[u8]) -> Result<[Vec<u8>; 2], AnchorErrorReason> {
    Ok([definitions(bytes, Fences::Skipped)?, definitions(bytes, Fences::Read)?])
}

#[cfg(test)]
mod tests;
