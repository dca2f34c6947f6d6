//! Edits of a bundle's texts that leave every other byte as it is: header values and Changelog entries.
//!
//! Used by the migration and by signing. Pure; works on bytes, so that a byte order mark, line ends and what is no text
//! stay. Owns no state.

use std::collections::BTreeSet;

use crate::header::{HeaderLine, Lookup, classify};
use crate::text::{Document, is_fence, without_carriage_return};
use crate::{BundleFile, BundleTexts, ChangelogEntry, Status, changelog};

/// Why a text cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot edit {file}: {reason}")]
pub struct EditError {
    /// The file.
    pub file: BundleFile,
    /// What is wrong with it.
    pub reason: EditErrorReason,
}

/// Why a text cannot be edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EditErrorReason {
    /// The header block does not declare the key.
    #[error("its header does not declare {0}")]
    NoKey(&'static str),
    /// The header block declares the key more than once.
    #[error("its header declares {0} more than once")]
    DuplicateKey(&'static str),
    /// There is no `## Changelog`.
    #[error("it has no `## Changelog`")]
    NoChangelog,
}

/// Returns the texts with that status in the header block of each of the four files.
///
/// # Errors
/// When a file declares no status, or more than one.
pub fn with_status(texts: &BundleTexts, status: Status) -> Result<BundleTexts, EditError> {
    map_texts(texts, |bytes| with_header_value(bytes, "Status", status.name()))
}

/// Applies one edit to each of the four files.
pub(crate) fn map_texts(
    texts: &BundleTexts,
    edit: impl Fn(&[u8]) -> Result<Vec<u8>, EditErrorReason>,
) -> Result<BundleTexts, EditError> {
    let of = |file, bytes: &[u8]| edit(bytes).map_err(|reason| EditError { file, reason });
    Ok(BundleTexts {
        requirements: of(BundleFile::Requirements, &texts.requirements)?,
        design: of(BundleFile::Design, &texts.design)?,
        tasks: of(BundleFile::Tasks, &texts.tasks)?,
        test_spec: of(BundleFile::TestSpec, &texts.test_spec)?,
    })
}

/// Returns the bytes with another value of a header key.
pub(crate) fn with_header_value(bytes: &[u8], key: &'static str, value: &str) -> Result<Vec<u8>, EditErrorReason> {
    let declared = header_line(bytes, key)?;
    let mut edited = bytes[..declared.value.start].to_vec();
    edited.extend_from_slice(value.as_bytes());
    edited.extend_from_slice(&bytes[declared.value.end..]);
    Ok(edited)
}

/// Returns the value that a file's header declares for a key, as it is compared; nothing where it declares none.
///
/// # Errors
/// When it declares it more than once.
pub fn declared(bytes: &[u8], key: &'static str) -> Result<Option<String>, EditErrorReason> {
    match crate::header::parse(bytes).load_bearing(key) {
        Lookup::Missing => Ok(None),
        Lookup::One(entry) => Ok(Some(entry.value.clone())),
        Lookup::Duplicate(_) => Err(EditErrorReason::DuplicateKey(key)),
    }
}

/// Where a header key is declared, in bytes from the start of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declared {
    /// The value, without the blanks around it.
    pub(crate) value: core::ops::Range<usize>,
    /// The offset after the line's end.
    pub(crate) line_end: usize,
}

/// Returns the one declaration of a header key.
pub(crate) fn header_line(bytes: &[u8], key: &'static str) -> Result<Declared, EditErrorReason> {
    let mut found = None;
    for line in raw_lines(bytes) {
        match classify(line.whole.strip_suffix(b"\n").unwrap_or(line.whole)) {
            HeaderLine::Blank | HeaderLine::Title(_) => {}
            HeaderLine::Key { key: declared, value } if declared == key.as_bytes() => {
                // `**key:**`, then blanks, then the value.
                let after = declared.len() + "**:**".len();
                let blanks = line.whole[after..]
                    .iter()
                    .take_while(|byte| matches!(byte, b' ' | b'\t'))
                    .count();
                // A value of nothing stands right after the key, so that what is put there is no part of the line's end.
                let start = line.start + after + if value.is_empty() { 0 } else { blanks };
                let declared = Declared {
                    value: start..start + value.len(),
                    line_end: line.start + line.whole.len(),
                };
                if found.replace(declared).is_some() {
                    return Err(EditErrorReason::DuplicateKey(key));
                }
            }
            HeaderLine::Key { .. } => {}
            HeaderLine::Body => break,
        }
    }
    found.ok_or(EditErrorReason::NoKey(key))
}

/// One line of a file as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawLine<'a> {
    /// The offset of its first byte.
    pub(crate) start: usize,
    /// With its end.
    pub(crate) whole: &'a [u8],
    /// Without its end; one carriage return before the line feed is part of the end.
    pub(crate) text: &'a [u8],
    /// Part of a fenced illustration.
    pub(crate) fenced: bool,
}

impl RawLine<'_> {
    pub(crate) fn is_blank(&self) -> bool {
        self.text.iter().all(|byte| matches!(byte, b' ' | b'\t'))
    }
}

/// Returns the lines of the bytes.
pub(crate) fn raw_lines(bytes: &[u8]) -> Vec<RawLine<'_>> {
    let mut lines = Vec::new();
    let (mut start, mut in_fence) = (0, false);
    for whole in bytes.split_inclusive(|byte| *byte == b'\n') {
        let text = without_carriage_return(whole.strip_suffix(b"\n").unwrap_or(whole));
        let delimiter = is_fence(text);
        lines.push(RawLine {
            start,
            whole,
            text,
            fenced: delimiter || in_fence,
        });
        in_fence ^= delimiter;
        start += whole.len();
    }
    lines
}

/// Returns how the lines of a file end, by its first one.
pub(crate) fn line_end(bytes: &[u8]) -> &'static str {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) if bytes[..end].ends_with(b"\r") => "\r\n",
        Some(_) | None => "\n",
    }
}

/// The longest line of an entry, where its words allow.
const ENTRY_WIDTH: usize = 100;

/// Returns `requirements.md` with a dated entry in its Changelog: `- <date> — <text>`, wrapped. It goes first where the
/// entries run from the newest to the oldest, and last otherwise (`contract/core.md §8.6`).
///
/// # Errors
/// When there is no `## Changelog`.
pub fn with_changelog_entry(requirements: &[u8], date: &str, text: &str) -> Result<Vec<u8>, EditError> {
    let lines = raw_lines(requirements);
    let changelog = Changelog::find(&lines).ok_or(EditError {
        file: BundleFile::Requirements,
        reason: EditErrorReason::NoChangelog,
    })?;
    let end = line_end(requirements);
    let mut entry = wrapped(&format!("- {date} — {text}"), ENTRY_WIDTH).replace('\n', end);
    let (index, before, after) = changelog.place(&lines);
    if after {
        entry.push_str(end);
    }
    if before {
        entry.insert_str(0, end);
    }
    let offset = lines.get(index).map_or(requirements.len(), |line| line.start);
    let mut edited = requirements[..offset].to_vec();
    if !edited.is_empty() && !edited.ends_with(b"\n") {
        edited.extend_from_slice(end.as_bytes());
    }
    edited.extend_from_slice(entry.as_bytes());
    edited.extend_from_slice(&requirements[offset..]);
    Ok(edited)
}

/// Returns the dated entries that one state of `requirements.md` has and the earlier one has not, the newest first; of
/// those of one day the one first that stands nearer to the newest end of the log.
#[must_use]
pub fn new_changelog_entries(before: &[u8], after: &[u8]) -> Vec<ChangelogEntry> {
    let read = |bytes: &[u8]| changelog::read(Document::new(&String::from_utf8_lossy(bytes)).lines());
    let words = |entry: &ChangelogEntry| {
        let words: Vec<String> = entry.text.split_whitespace().map(str::to_owned).collect();
        (entry.date.clone(), words)
    };
    let known: BTreeSet<_> = read(before).iter().map(words).collect();
    let mut entries = read(after);
    let dates = (entries.first(), entries.last());
    let runs_backwards = matches!(dates, (Some(first), Some(last)) if first.date > last.date);
    if !runs_backwards {
        entries.reverse();
    }
    entries.retain(|entry| !known.contains(&words(entry)));
    entries.sort_by(|left, right| right.date.cmp(&left.date));
    entries
}

/// Returns what `requirements.md` may have been before the dated entry whose bullet stands on that line was added: without
/// it, and without it and a blank line beside it. Nothing where no dated entry stands there.
#[must_use]
pub fn before_changelog_entry(requirements: &[u8], line: u32) -> Vec<Vec<u8>> {
    let lines = raw_lines(requirements);
    let index = usize::try_from(line).ok().and_then(|line| line.checked_sub(1));
    let entry = Changelog::find(&lines).and_then(|changelog| {
        let first = index.filter(|index| changelog.entries.contains(index))?;
        Some(changelog.entry_lines(&lines, first))
    });
    let Some(entry) = entry else {
        return Vec::new();
    };
    let start = |index: usize| lines.get(index).map_or(requirements.len(), |line| line.start);
    let without = |from: usize, to: usize| [&requirements[..start(from)], &requirements[start(to)..]].concat();
    let is_blank = |index: Option<usize>| index.and_then(|index| lines.get(index)).is_some_and(RawLine::is_blank);
    let mut candidates = vec![without(entry.start, entry.end)];
    if is_blank(entry.start.checked_sub(1)) {
        candidates.push(without(entry.start - 1, entry.end));
    }
    if is_blank(Some(entry.end)) {
        candidates.push(without(entry.start, entry.end + 1));
    }
    candidates
}

/// The Changelog's lines.
pub(crate) struct Changelog {
    /// The lines below its heading, as indices.
    pub(crate) body: core::ops::Range<usize>,
    /// The first line of each dated entry.
    pub(crate) entries: Vec<usize>,
}

impl Changelog {
    /// Returns the first Changelog of a file (`contract/core.md §1.4`).
    pub(crate) fn find(lines: &[RawLine<'_>]) -> Option<Self> {
        let is_heading = |line: &RawLine<'_>| !line.fenced && line.text.starts_with(b"## ");
        let heading = lines.iter().position(|line| {
            is_heading(line)
                && line
                    .text
                    .get(3..12)
                    .is_some_and(|name| name.eq_ignore_ascii_case(b"changelog"))
        })?;
        let start = heading + 1;
        let rest = lines.get(start..)?;
        let end = rest
            .iter()
            .position(is_heading)
            .map_or(lines.len(), |length| start + length);
        let is_entry = |index: &usize| {
            lines
                .get(*index)
                .is_some_and(|line| !line.fenced && date_of(line.text).is_some())
        };
        Some(Self {
            body: start..end,
            entries: (start..end).filter(is_entry).collect(),
        })
    }

    /// Returns the lines of a dated entry: up to the next bullet, without the blank lines at its end.
    pub(crate) fn entry_lines(&self, lines: &[RawLine<'_>], first: usize) -> core::ops::Range<usize> {
        let is_next = |line: &RawLine<'_>| !line.fenced && line.text.starts_with(b"- ");
        let length = lines[first + 1..self.body.end].iter().position(is_next);
        let end = length.map_or(self.body.end, |length| first + 1 + length);
        let blank = lines[first..end]
            .iter()
            .rev()
            .take_while(|line| line.is_blank())
            .count();
        first..end - blank
    }

    /// Returns before which line an entry goes, and whether a blank line goes before and after it.
    fn place(&self, lines: &[RawLine<'_>]) -> (usize, bool, bool) {
        let date = |index: Option<&usize>| index.and_then(|index| date_of(lines.get(*index)?.text));
        let (first, last) = (date(self.entries.first()), date(self.entries.last()));
        let body = &lines[self.body.clone()];
        let is_spaced = self
            .entries
            .get(1)
            .and_then(|second| lines.get(second.checked_sub(1)?))
            .is_some_and(RawLine::is_blank);
        if first > last {
            let blank = body.iter().take_while(|line| line.is_blank()).count();
            return (self.body.start + blank, blank == 0, is_spaced);
        }
        let blank = body.iter().rev().take_while(|line| line.is_blank()).count();
        let index = self.body.end - blank;
        let is_first = index == self.body.start || self.entries.is_empty();
        let runs_into_a_heading = blank == 0 && self.body.end < lines.len();
        (index, is_spaced || is_first, runs_into_a_heading)
    }
}

/// Returns the date with which a dated entry starts.
pub(crate) fn date_of(line: &[u8]) -> Option<&[u8]> {
    let date = line.strip_prefix(b"- ")?.get(..10)?;
    let is_date = date.iter().enumerate().all(|(index, byte)| match index {
        4 | 7 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    is_date.then_some(date)
}

/// Returns the words of a bullet in lines of at most that many characters, the later ones indented by two blanks.
pub(crate) fn wrapped(text: &str, width: usize) -> String {
    let mut wrapped = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let size = word.chars().count();
        if length > 0 && length + 1 + size > width {
            wrapped.push_str("\n  ");
            length = 2;
        } else if length > 0 {
            wrapped.push(' ');
            length += 1;
        }
        wrapped.push_str(word);
        length += size;
    }
    wrapped.push('\n');
    wrapped
}

#[cfg(test)]
mod tests;
