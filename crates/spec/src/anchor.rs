//! The content anchor: the hash a person signs (`contract/core.md §3.1–§3.3`).
//!
//! Works on bytes exactly as they are stored, because the same hash must come out on every machine. Owns no state.

use core::fmt::Write as _;
use std::collections::BTreeMap;

use sha1::{Digest as _, Sha1};

use crate::header::{HeaderLine, classify};
use crate::text::{byte_lines, is_fence};
use crate::{BundleFile, BundleTexts};

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

/// Returns the hash over the four whole files (`contract/core.md §3.6`, form 2).
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
fn blob_hash(bytes: &[u8]) -> String {
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

/// Whether lines in a code fence count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fences {
    Skipped,
    Read,
}

/// Returns the task definitions, by task number: each heading and the lines of its five fields (`contract/core.md §3.2`).
fn definitions(bytes: &[u8], fences: Fences) -> Result<Vec<u8>, AnchorErrorReason> {
    refuse_nul(bytes)?;
    let mut records: BTreeMap<SortKey, Vec<u8>> = BTreeMap::new();
    let mut current: Option<SortKey> = None;
    let mut keeping = false;
    let mut in_fence = false;
    for line in byte_lines(bytes) {
        if fences == Fences::Skipped {
            let delimiter = is_fence(line);
            in_fence ^= delimiter;
            if delimiter || in_fence {
                continue;
            }
        }
        if line.starts_with(b"## ") || line.starts_with(b"### ") {
            current = sort_key(line);
            keeping = false;
            if let Some(key) = &current
                && records.insert(key.clone(), with_line_feed(line)).is_some()
            {
                return Err(AnchorErrorReason::DuplicateTask);
            }
            continue;
        }
        if line.starts_with(b"- ") {
            keeping = is_field(line);
        } else if !is_continuation(line) {
            keeping = false;
        }
        if keeping && let Some(record) = current.as_ref().and_then(|key| records.get_mut(key)) {
            record.extend(with_line_feed(line));
        }
    }
    if in_fence {
        return Err(AnchorErrorReason::OpenFence);
    }
    Ok(records.into_values().flatten().collect())
}

fn with_line_feed(line: &[u8]) -> Vec<u8> {
    let mut line = line.to_vec();
    line.push(b'\n');
    line
}

fn is_field(line: &[u8]) -> bool {
    let fields: [&[u8]; 5] = [
        b"Deliverables",
        b"Done when",
        b"Dependencies",
        b"Citations",
        b"Estimated effort",
    ];
    line.strip_prefix(b"- **").is_some_and(|rest| {
        fields
            .iter()
            .any(|field| rest.strip_prefix(*field).is_some_and(|rest| rest.starts_with(b":**")))
    })
}

fn is_continuation(line: &[u8]) -> bool {
    let is_blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
    line.first().is_some_and(is_blank) && !line.iter().all(is_blank)
}

/// A number of any size: its length without leading zeroes, then its digits.
type Number = (usize, Vec<u8>);
type SortKey = (Number, Number);

/// Returns the key of a heading that starts a record: the first two numbers of its third word.
fn sort_key(heading: &[u8]) -> Option<SortKey> {
    let rest = heading.strip_prefix(b"### Task ")?;
    if !rest.first()?.is_ascii_digit() {
        return None;
    }
    let word = rest.split(|byte| *byte == b' ' || *byte == b'\t').next()?;
    let mut components = word.split(|byte| *byte == b'.').map(leading_number);
    let first = components.next()?;
    Some((first, components.next().unwrap_or_default()))
}

fn leading_number(component: &[u8]) -> Number {
    let digits: Vec<u8> = component
        .iter()
        .copied()
        .take_while(u8::is_ascii_digit)
        .skip_while(|digit| *digit == b'0')
        .collect();
    (digits.len(), digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn g1() -> BundleTexts {
        let head = |title: &str| format!("# {title}\n\n**Status:** Ready\n**Format-version:** 2\n\n");
        let fields = |first: &str, rest: &str| format!("- **Deliverables:** {first}\n- **Done when:** {rest}");
        let two = fields(
            "two\n  more",
            "x\n- **Status:** nope\n- **Dependencies:** 1\n- **Citations:** D-1\n- **Estimated effort:** 1 day\n\n",
        );
        let one = fields(
            "one",
            "y\n- **Dependencies:** none\n- **Citations:** D-1\n- **Estimated effort:** half day\n\n",
        );
        let payload = "## Awaiting input\n\n(none yet)\n\n## Deferred\n\n(none yet)\n\n## Out of scope\n\n(none yet)\n";
        BundleTexts {
            requirements: format!("{}req body\n", head("R")).into_bytes(),
            design: format!("{}des body\n", head("D")).into_bytes(),
            tasks: format!(
                "{}## Tasks\n\n### Task 2 — b\n\n{two}### Task 1 — a\n\n{one}{payload}",
                head("T")
            )
            .into_bytes(),
            test_spec: format!("{}tst body", head("S")).into_bytes(),
        }
    }

    fn with_requirements(text: &str) -> BundleTexts {
        BundleTexts {
            requirements: text.as_bytes().to_vec(),
            ..g1()
        }
    }

    fn edited(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
        String::from_utf8(bytes.to_vec())
            .expect("text")
            .replace(from, to)
            .into_bytes()
    }

    fn reason(texts: &BundleTexts) -> (BundleFile, AnchorErrorReason, u8) {
        let error = content_anchor(texts).expect_err("no anchor");
        (error.file, error.reason, error.exit_class())
    }

    #[test]
    fn golden_vectors_of_the_contract() {
        let g1 = g1();
        let g2 = BundleTexts {
            requirements: edited(&g1.requirements, "Ready", "Draft"),
            design: edited(&g1.design, "Ready", "Draft"),
            tasks: edited(&g1.tasks, "Ready", "Draft"),
            test_spec: edited(&g1.test_spec, "Ready", "Draft"),
        };
        let g3 = BundleTexts {
            requirements: edited(&g1.requirements, "**Status:** Ready\n", ""),
            ..g1.clone()
        };
        let g4 = with_requirements("**Status:** Ready\nbody\n");
        let g7 = BundleTexts {
            requirements: edited(&g1.requirements, "\n", "\r\n"),
            ..g1.clone()
        };
        let unchanged = "5181af5c9db27000816dcfe7c10b3f832f6d15fd";
        let cases = [
            (g1, unchanged, "630ae86d37437409ae2cecb721530efc1ccff337"),
            (g2, unchanged, "703935200deac6bd70b810723f5f5ed0c4b4004f"),
            (g3, unchanged, "08992693a91c376a39b0da239d3bbfccb15c8b92"),
            (
                g4,
                "9d8d356fa1737b3056fa2a2b50e22cf52ada250b",
                "203c98a5dff580f4249c3a0ddf14e3affc6827f8",
            ),
            (
                g7,
                "40ba495e1b277fd5b7976e95bb61a4ff8c7722d5",
                "ad52705fd03c940c6382c18db1da1d740ad2c133",
            ),
        ];
        for (number, (texts, content, snapshot)) in cases.into_iter().enumerate() {
            assert_eq!(content_anchor(&texts).as_deref(), Ok(content), "case {number}");
            assert_eq!(snapshot_anchor(&texts).as_deref(), Ok(snapshot), "case {number}");
        }
        // g5, g6
        for text in ["body first\n**Status:** Ready\n", "# only\n**Status:** Ready\n", ""] {
            let texts = with_requirements(text);
            assert_eq!(
                reason(&texts),
                (BundleFile::Requirements, AnchorErrorReason::Header, 4),
                "{text:?}"
            );
            assert!(snapshot_anchor(&texts).is_ok(), "{text:?}");
        }
    }

    #[test]
    fn parts_of_the_golden_vector() {
        let g1 = g1();
        assert_eq!(
            blob_hash(&without_status_line(&g1.requirements).expect("text")),
            "aa6d5d8258dae14e2b549dd4bd06c0c907cbb35d"
        );
        assert_eq!(
            blob_hash(&definitions(&g1.tasks, Fences::Skipped).expect("tasks")),
            "f46a4c02be76d9392d3975c1e84e5516ba1ede01"
        );
        assert_eq!(blob_hash(b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    }

    #[test]
    fn what_cannot_be_hashed_has_the_exit_class_of_the_contract() {
        let with_tasks = |text: &str| BundleTexts {
            tasks: text.as_bytes().to_vec(),
            ..g1()
        };
        assert_eq!(
            reason(&with_requirements("**Status:** a\nb\0")),
            (BundleFile::Requirements, AnchorErrorReason::Nul, 1)
        );
        assert_eq!(
            reason(&with_requirements("**Status:** a\n**Status:** a\nb")),
            (BundleFile::Requirements, AnchorErrorReason::DuplicateStatus, 3)
        );
        assert_eq!(
            reason(&with_tasks("a\0")),
            (BundleFile::Tasks, AnchorErrorReason::Nul, 1)
        );
        for text in [
            "### Task 1 — a\n### Task 01 — b\n",
            "### Task 2 — a\n### Task 2.0 — b\n",
            "### Task 1 — a\n### Task 1: b\n",
        ] {
            assert_eq!(
                reason(&with_tasks(text)),
                (BundleFile::Tasks, AnchorErrorReason::DuplicateTask, 1),
                "{text}"
            );
        }
        assert_eq!(
            reason(&with_tasks("```\n")),
            (BundleFile::Tasks, AnchorErrorReason::OpenFence, 3)
        );
    }

    #[test]
    fn definitions_are_sorted_and_without_noise() {
        let source = "### Task 10 — d\n### Task 2.5 — b\n- **Deliverables:** x\n\n  lost\n- **Done when:** y\n\tkept\nprose\n  lost\n- **Status:** s\n  lost\n#### Task 3\n### Task x\n- **Citations:** lost\n```\n### Task 4 — fenced\n```\n## Deferred\n- **Citations:** lost\n### Task 2 — a\r\n- **Dependencies:** 1\r\n### Task 9 — c";
        let expected = "### Task 2 — a\r\n- **Dependencies:** 1\r\n### Task 2.5 — b\n- **Deliverables:** x\n- **Done when:** y\n\tkept\n### Task 9 — c\n### Task 10 — d\n";
        let found = definitions(source.as_bytes(), Fences::Skipped).expect("definitions");
        assert_eq!(String::from_utf8(found).expect("text"), expected);
        let blind = definitions(source.as_bytes(), Fences::Read).expect("definitions");
        assert!(
            String::from_utf8(blind)
                .expect("text")
                .contains("### Task 4 — fenced\n")
        );
    }

    #[test]
    fn the_whole_file_form_counts_every_byte() {
        let before = whole_files_anchor(&g1());
        let after = whole_files_anchor(&BundleTexts {
            requirements: edited(&g1().requirements, "Ready", "Draft"),
            ..g1()
        });
        assert_ne!(before, after);
        let hashes = "aaaa\nbbbb\n";
        assert_eq!(
            hash_of_hashes(&["aaaa".to_owned(), "bbbb".to_owned()]),
            blob_hash(hashes.as_bytes())
        );
    }
}
