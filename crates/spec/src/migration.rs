//! Format version 1 to 2, once, by rule or not at all (`contract/core.md §8.6`).
//!
//! Version 1 stores where a task stands; version 2 derives it. The migration moves every block under `## Tasks`, drops
//! what is derived now, turns parked blocks into bullets, and leaves each byte that the rule does not name as it is. What
//! a program cannot carry over without a decision is a [`Refusal`], and then nothing changes. Task definitions stay the
//! same to the byte, so what was signed is still what stands there; the brief gets a record that says so, but only if its
//! last record did sign the content that was there before. Pure; the caller reads, locks and writes. Owns no state.

mod list;
mod record;
mod refusal;
mod render;

use std::collections::BTreeMap;

use orchestrate_core::identifier::SpecId;

use crate::anchor::{AnchorError, content_anchor, task_definitions};
use crate::edit::{self, EditErrorReason, header_line, line_end, map_texts, raw_lines, with_header_value};
use crate::header::{self, Header, Lookup};
use crate::mirror::EXECUTION;
use crate::{BundleFile, BundleFiles, BundleTexts, LARGEST_FILE, Severity, Status, examine};

pub use refusal::Refusal;

/// What the migration does to a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Migration {
    /// It becomes one of version 2.
    Migrated {
        /// Its files, to be written in the order of [`WRITING_ORDER`].
        texts: BundleTexts,
        /// Its brief with the re-anchor entry, to be written last; `None` where nothing was signed, so that the brief
        /// stays as it is.
        brief: Option<Vec<u8>>,
    },
    /// It is of version 2; only the re-anchor entry of an earlier migration is missing.
    Repaired {
        /// Its brief with the entry.
        brief: Vec<u8>,
    },
    /// It is of version 2, and nothing is missing.
    AlreadyVersion2,
    /// It is finished or given up, so nothing will be derived from it.
    NotLive(Status),
}

/// In which order the files are written: `requirements.md`, which decides the version, after all others.
pub const WRITING_ORDER: [BundleFile; 4] = [
    BundleFile::Design,
    BundleFile::TestSpec,
    BundleFile::Tasks,
    BundleFile::Requirements,
];

/// What the Changelog entry of a migration contains.
const MIGRATED: &str = "Migrated to format-version 2";

/// Migrates a bundle. `brief` is its `kickoff-brief.md`, if there is one; `date` is the day of the entries, `YYYY-MM-DD`.
///
/// # Errors
/// Why it cannot be migrated by rule.
pub fn migrate(spec: &SpecId, texts: &BundleTexts, brief: Option<&[u8]>, date: &str) -> Result<Migration, Refusal> {
    for (file, bytes) in texts.files() {
        if bytes.len() > LARGEST_FILE {
            let cause = format!("it has {} bytes", bytes.len());
            return Err(Refusal::Unreadable { file, cause });
        }
        crate::text::read(bytes).map_err(|unreadable| Refusal::NotText {
            file,
            what: unreadable.what,
        })?;
    }
    let requirements = header::parse(&texts.requirements);
    let version = declared(&requirements, BundleFile::Requirements, "Format-version")?;
    let status_text = declared(&requirements, BundleFile::Requirements, "Status")?;
    let status = Status::from_name(status_text).ok_or_else(|| Refusal::Status(status_text.to_owned()))?;
    match version {
        "1" => {}
        "2" => return record::repair(spec, texts, status, brief, date),
        other => return Err(Refusal::Version(other.to_owned())),
    }
    if !matches!(status, Status::Draft | Status::Ready | Status::Active) {
        return Ok(Migration::NotLive(status));
    }
    refuse_mirrors(texts, version, status_text)?;
    let is_signed = status != Status::Draft;
    let signed = if is_signed {
        Some(record::signing(spec, texts, brief.ok_or(Refusal::NoBrief)?)?)
    } else {
        None
    };
    let migrated = converted(texts, status, date)?;
    refuse_invalid(spec, texts)?;
    refuse_other_definitions(texts, &migrated)?;
    refuse_new_findings(spec, texts, &migrated)?;
    let brief = match signed {
        Some(brief) => Some(record::with_entry(spec, &migrated, brief, date)?),
        None => None,
    };
    Ok(Migration::Migrated { texts: migrated, brief })
}

/// Returns the one value that a header block declares for a key.
fn declared<'a>(header: &'a Header, file: BundleFile, key: &'static str) -> Result<&'a str, Refusal> {
    let refuse = |reason| Refusal::Header { file, reason };
    match header.load_bearing(key) {
        Lookup::One(entry) => Ok(&entry.value),
        Lookup::Missing => Err(refuse(EditErrorReason::NoKey(key))),
        Lookup::Duplicate(_) => Err(refuse(EditErrorReason::DuplicateKey(key))),
    }
}

fn refuse_mirrors(texts: &BundleTexts, version: &str, status: &str) -> Result<(), Refusal> {
    // The version first: where it differs, a migration was cut short, and the rest follows from that.
    for (key, expected) in [("Format-version", version), ("Status", status)] {
        for (file, bytes) in texts.files() {
            let header = header::parse(bytes);
            let found = declared(&header, file, key)?;
            if found != expected {
                return Err(Refusal::Mirror {
                    file,
                    key,
                    found: found.to_owned(),
                    expected: expected.to_owned(),
                });
            }
        }
    }
    Ok(())
}

/// Returns the four files in version 2.
fn converted(texts: &BundleTexts, status: Status, date: &str) -> Result<BundleTexts, Refusal> {
    let entry = format!(
        "{MIGRATED} by `orchestrate plumbing migrate-format-version`: every task block stands under `## Tasks`, \
         state annotations are gone, parked blocks are bullets, the header stores only what a person decides. \
         The task definitions are the same to the byte, so the re-anchor in `kickoff-brief.md` is expression-only."
    );
    let requirements =
        edit::with_changelog_entry(&texts.requirements, date, &entry).map_err(|_| Refusal::NoChangelog)?;
    let tasks = render::render(list::read(&texts.tasks)?, line_end(&texts.tasks));
    let moved = BundleTexts {
        requirements,
        tasks,
        ..texts.clone()
    };
    // Where tasks stand is derived now, so a started bundle is a signed one.
    let status = if status == Status::Active {
        Status::Ready
    } else {
        status
    };
    let header = |bytes: &[u8]| {
        let bytes = with_header_value(bytes, "Status", status.name())?;
        with_execution(&with_header_value(&bytes, "Format-version", "2")?)
    };
    map_texts(&moved, header).map_err(|error| Refusal::Header {
        file: error.file,
        reason: error.reason,
    })
}

/// Returns the bytes with the line that says that execution is derived, unless they have it.
fn with_execution(bytes: &[u8]) -> Result<Vec<u8>, EditErrorReason> {
    if raw_lines(bytes).iter().any(|line| line.text == EXECUTION.as_bytes()) {
        return Ok(bytes.to_vec());
    }
    let end = header_line(bytes, "Format-version")?.line_end;
    let (above, below) = bytes.split_at(end);
    Ok([above, EXECUTION.as_bytes(), line_end(bytes).as_bytes(), below].concat())
}

fn refuse_other_definitions(before: &BundleTexts, after: &BundleTexts) -> Result<(), Refusal> {
    let definitions = |texts: &BundleTexts| {
        task_definitions(&texts.tasks).map_err(|reason| {
            Refusal::Anchor(AnchorError {
                file: BundleFile::Tasks,
                reason,
            })
        })
    };
    if definitions(before)? == definitions(after)? {
        content_anchor(after).map(|_| ()).map_err(Refusal::Anchor)
    } else {
        Err(Refusal::Definitions)
    }
}

/// Refuses a bundle that its own version's rules do not read: what a program does not understand it does not move.
fn refuse_invalid(spec: &SpecId, texts: &BundleTexts) -> Result<(), Refusal> {
    let findings = examine(spec, &BundleFiles::from(texts.clone())).findings;
    let error = findings.iter().find(|finding| finding.severity == Severity::Error);
    error.map_or(Ok(()), |error| Err(Refusal::Invalid(error.to_string())))
}

/// Refuses to make a bundle that has a fault which the old one has not.
fn refuse_new_findings(spec: &SpecId, before: &BundleTexts, after: &BundleTexts) -> Result<(), Refusal> {
    let findings = |texts: &BundleTexts| examine(spec, &BundleFiles::from(texts.clone())).findings;
    let mut known: BTreeMap<&'static str, usize> = BTreeMap::new();
    for finding in findings(before) {
        *known.entry(finding.code).or_default() += 1;
    }
    for finding in findings(after) {
        match known.get_mut(finding.code) {
            Some(left) if *left > 0 => *left -= 1,
            Some(_) | None => return Err(Refusal::NewFinding(finding.to_string())),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
