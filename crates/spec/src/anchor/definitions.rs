//! What of `tasks.md` is hashed: the task definitions (`contract/core.md §3.2`).

use std::collections::BTreeMap;

use super::{AnchorErrorReason, refuse_nul};
use crate::text::{byte_lines, is_fence};

/// Whether lines in a code fence count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fences {
    Skipped,
    Read,
}

/// Returns the task definitions, by task number: each heading and the lines of its five fields (`contract/core.md §3.2`).
pub(super) fn definitions(bytes: &[u8], fences: Fences) -> Result<Vec<u8>, AnchorErrorReason> {
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
/// By what the definitions are ordered, and what makes two tasks the same one.
pub(crate) type SortKey = (Number, Number);

/// Returns the key of a heading that starts a record: the first two numbers of its third word.
pub(crate) fn sort_key(heading: &[u8]) -> Option<SortKey> {
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
