//! The brief's part of a migration: the record that was there, and the one that is added.
//!
//! A re-anchor entry says that the meaning is what the record before it signed. So one is only written behind a record
//! that did sign the content from before the migration; an edit that nobody signed stays unsigned (law L9).

use orchestrate_core::identifier::SpecId;

use super::{MIGRATED, Migration, Refusal};
use crate::anchor::content_anchor;
use crate::brief::{
    Freshness, SignOffError, SignOffRecord, append_record, freshness, parse_sign_off, render_expression_only,
};
use crate::edit::{Changelog, RawLine, header_line, map_texts, raw_lines, with_header_value};
use crate::mirror::EXECUTION;
use crate::{BundleTexts, Status};

/// What every heading of a migration's entry contains.
const HEADING: &str = "format-version 2 migration";

/// Returns the brief, if its last record signs the texts.
pub(super) fn signing<'a>(spec: &SpecId, texts: &BundleTexts, brief: &'a [u8]) -> Result<&'a [u8], Refusal> {
    let record = parse_sign_off(spec, brief).map_err(Refusal::Record)?;
    if signs(&record, texts)? {
        Ok(brief)
    } else {
        Err(Refusal::Stale)
    }
}

fn signs(record: &SignOffRecord, texts: &BundleTexts) -> Result<bool, Refusal> {
    match freshness(record, texts).map_err(Refusal::Anchor)? {
        Freshness::Matches | Freshness::PreChange { .. } => Ok(true),
        Freshness::Changed { .. } => Ok(false),
    }
}

/// Returns the brief with the entry that anchors the migrated texts.
pub(super) fn with_entry(spec: &SpecId, texts: &BundleTexts, brief: &[u8], date: &str) -> Result<Vec<u8>, Refusal> {
    let changelog_line = format!("the {date} `## Changelog` entry in `requirements.md` (\"{MIGRATED}\")");
    let why = "the migration to format version 2 moved task blocks and dropped what is derived now; every task definition \
               is the same to the byte, which was checked before anything was written.";
    let record = render_expression_only(spec, texts, &changelog_line, why).map_err(|error| match error {
        SignOffError::Anchor(error) => Refusal::Anchor(error),
        SignOffError::NoLensPass | SignOffError::NoChangelog | SignOffError::NoReason => Refusal::Definitions,
    })?;
    let heading = format!("### {date} — Expression-only self-re-anchor ({HEADING})");
    append_record(spec, &ready_for_an_entry(brief), &heading, &record).map_err(Refusal::Brief)
}

/// Returns the brief without the placeholder of an empty amendment log, and without blank lines at its end.
fn ready_for_an_entry(brief: &[u8]) -> Vec<u8> {
    let lines = raw_lines(brief);
    let mut kept: Vec<&[u8]> = Vec::new();
    let (mut in_log, mut in_placeholder) = (false, false);
    for line in &lines {
        if !line.fenced && line.text.starts_with(b"## ") {
            in_log = String::from_utf8_lossy(line.text).contains("Amendment log");
        }
        in_placeholder = in_log && !line.is_blank() && (in_placeholder || line.text.starts_with(b"(none yet"));
        if !in_placeholder {
            kept.push(line.whole);
        }
    }
    while kept.last().is_some_and(|line| line.iter().all(u8::is_ascii_whitespace)) {
        kept.pop();
    }
    kept.concat()
}

/// Returns what a bundle of version 2 lacks of an earlier migration: nothing, or the entry in its brief, which is
/// written last and may have been lost.
pub(super) fn repair(
    spec: &SpecId,
    texts: &BundleTexts,
    status: Status,
    brief: Option<&[u8]>,
    date: &str,
) -> Result<Migration, Refusal> {
    let entries = migration_entries(texts);
    let (Some(brief), Status::Ready, false) = (brief, status, entries.is_empty()) else {
        return Ok(Migration::AlreadyVersion2);
    };
    let has_entry = raw_lines(brief).iter().any(|line| {
        !line.fenced && line.text.starts_with(b"#") && String::from_utf8_lossy(line.text).contains(HEADING)
    });
    if has_entry {
        return Ok(Migration::AlreadyVersion2);
    }
    let record = parse_sign_off(spec, brief).map_err(Refusal::Record)?;
    if signs(&record, texts)? {
        return Ok(Migration::AlreadyVersion2);
    }
    for entry in entries {
        if let Some(before) = before_migration(texts, entry)
            && content_anchor(&before).is_ok()
            && signs(&record, &before)?
        {
            let brief = with_entry(spec, texts, brief, date)?;
            return Ok(Migration::Repaired { brief });
        }
    }
    Err(Refusal::Stale)
}

/// Returns the bytes in `requirements.md` that a migration's Changelog entry may have brought: the entry alone, and with
/// the blank line before or after it.
fn migration_entries(texts: &BundleTexts) -> Vec<core::ops::Range<usize>> {
    let lines = raw_lines(&texts.requirements);
    let Some(changelog) = Changelog::find(&lines) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for first in &changelog.entries {
        let range = changelog.entry_lines(&lines, *first);
        let text: Vec<u8> = lines[range.clone()]
            .iter()
            .flat_map(|line| [line.text, b" "].concat())
            .collect();
        let text = String::from_utf8_lossy(&text);
        let words: Vec<&str> = text.split_whitespace().collect();
        if !words.join(" ").contains(MIGRATED) {
            continue;
        }
        let offset = |index: usize| lines.get(index).map_or(texts.requirements.len(), |line| line.start);
        let is_blank = |index: usize| lines.get(index).is_some_and(RawLine::is_blank);
        found.push(offset(range.start)..offset(range.end));
        if is_blank(range.end) {
            found.push(offset(range.start)..offset(range.end + 1));
        }
        if range.start > 0 && is_blank(range.start - 1) {
            found.push(offset(range.start - 1)..offset(range.end));
        }
    }
    found
}

/// Returns the texts as they were before the migration, as far as the anchor covers them: task blocks may stand anywhere.
fn before_migration(texts: &BundleTexts, entry: core::ops::Range<usize>) -> Option<BundleTexts> {
    let mut requirements = texts.requirements.clone();
    requirements.drain(entry);
    let without_entry = BundleTexts {
        requirements,
        ..texts.clone()
    };
    let header = |bytes: &[u8]| {
        let bytes = with_header_value(bytes, "Format-version", "1")?;
        let end = header_line(&bytes, "Format-version")?.line_end;
        let (above, below) = bytes.split_at(end);
        let length = raw_lines(below)
            .first()
            .filter(|line| line.text == EXECUTION.as_bytes())
            .map_or(0, |line| line.whole.len());
        Ok([above, &below[length..]].concat())
    };
    map_texts(&without_entry, header).ok()
}
