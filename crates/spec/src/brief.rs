//! The sign-off records of `kickoff-brief.md`, and whether the last one still holds (`contract/core.md §3.4–§3.8`).
//!
//! A recorded command is compared, never run. Owns no state.

use core::fmt;

use orchestrate_core::identifier::SpecId;

use crate::anchor::{AnchorError, content_anchor, snapshot_anchor, whole_files_anchor};
use crate::text::{Line, Text};
use crate::{BundleFile, BundleTexts};

/// What a record signs (`contract/core.md §3.7`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordClass {
    /// What the bundle means; only a person signs it.
    Meaning,
    /// Only how the bundle is worded.
    ExpressionOnly,
}

/// How a record's hash was computed (`contract/core.md §3.6`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AnchorForm {
    /// The content anchor.
    Canonical,
    /// The hash over the four whole files.
    WholeFiles,
}

/// The record that decides whether a bundle may be executed: the last one of its brief.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignOffRecord {
    /// What it signs.
    pub class: RecordClass,
    /// How its hash was computed.
    pub form: AnchorForm,
    /// The hash, 40 lower-case hex digits.
    pub anchor: String,
    /// The line of `Anchor:` in `kickoff-brief.md`.
    pub line: u32,
}

/// Why a brief holds no sign-off that may be acted on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct BriefError {
    /// The line, where the reason has one.
    pub line: Option<u32>,
    /// What is wrong.
    pub reason: BriefErrorReason,
}

impl fmt::Display for BriefError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", BundleFile::KickoffBrief)?;
        if let Some(line) = self.line {
            write!(formatter, ":{line}")?;
        }
        write!(formatter, ": {}", self.reason)
    }
}

/// What is wrong with a brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BriefErrorReason {
    /// It cannot be decoded.
    #[error("cannot read the brief as text: it holds {0}")]
    NotText(&'static str),
    /// No `Anchor:` line: the kickoff is not finished.
    #[error("there is no sign-off record with an `Anchor:` line")]
    Absent,
    /// A fence that is never closed hides an `Anchor:` line.
    #[error("an `Anchor:` line stands in a code fence that is never closed")]
    OpenFence,
    /// The last `Anchor:` line has no hash of 40 digits.
    #[error("the last `Anchor:` line has no hash of 40 lower-case hex digits")]
    NoHash,
    /// The last `Anchor:` line has no command.
    #[error("the last `Anchor:` line names no command, on it or alone on the next line")]
    NoCommand,
    /// The command is none of the sanctioned ones (`contract/core.md §3.6`).
    #[error("the recorded command is not one that the format knows")]
    UnknownCommand,
    /// The command anchors another bundle.
    #[error("the recorded command anchors another bundle")]
    OtherBundle,
    /// No `Class:` line, or one that makes the record no sign-off.
    #[error("the record's class is neither `meaning` nor `expression-only`")]
    NoClass,
    /// A meaning record without its lens pass.
    #[error("the record of class `meaning` names no lens pass")]
    NoLensPass,
    /// An expression-only record that cites no changelog line.
    #[error("the record of class `expression-only` does not cite its changelog line")]
    NoChangelog,
}

/// Returns the record that decides: the one of the last `Anchor:` line (`contract/core.md §16`, A-4, A-27).
///
/// # Errors
/// When there is none, or when it is not complete; an earlier record never stands in for it.
pub fn parse_sign_off(spec: &SpecId, brief: &[u8]) -> Result<SignOffRecord, BriefError> {
    let text = crate::text::read(brief).map_err(|unreadable| BriefError {
        line: Some(unreadable.line),
        reason: BriefErrorReason::NotText(unreadable.what),
    })?;
    if let Some(open) = text.open_fence
        && let Some(hidden) = text
            .lines
            .iter()
            .find(|line| line.number > open && line.text.starts_with("Anchor:"))
    {
        return Err(BriefError {
            line: Some(hidden.number),
            reason: BriefErrorReason::OpenFence,
        });
    }
    let last = text
        .lines
        .iter()
        .rposition(|line| !line.fenced && line.text.starts_with("Anchor:"));
    let Some((index, line)) = last.and_then(|index| text.lines.get(index).map(|line| (index, line))) else {
        return Err(BriefError {
            line: None,
            reason: BriefErrorReason::Absent,
        });
    };
    let fail = |reason| BriefError {
        line: Some(line.number),
        reason,
    };
    let anchor = hash_in(line.text).ok_or(fail(BriefErrorReason::NoHash))?;
    let command = command_on(line.text)
        .or_else(|| {
            text.lines
                .get(index + 1)
                .and_then(|next| whole_line_command(&text, next))
        })
        .ok_or(fail(BriefErrorReason::NoCommand))?;
    let form = sanctioned_form(spec, command).map_err(fail)?;
    let class = class_of(&region_above(&text, index)).map_err(fail)?;
    Ok(SignOffRecord {
        class,
        form,
        anchor: anchor.to_owned(),
        line: line.number,
    })
}

/// Returns the first run of exactly 40 hex digits.
fn hash_in(line: &str) -> Option<&str> {
    let is_hex = |character: char| character.is_ascii_digit() || ('a'..='f').contains(&character);
    line.split(|character| !is_hex(character)).find(|run| run.len() == 40)
}

/// Returns the content of the first ``(`…`)`` on the line.
fn command_on(line: &str) -> Option<&str> {
    line.match_indices("(`").find_map(|(start, open)| {
        let (command, rest) = line[start + open.len()..].split_once('`')?;
        if rest.starts_with(')') && !command.is_empty() {
            Some(command)
        } else {
            None
        }
    })
}

/// Returns the content of a line that is one code span and nothing else, not even a carriage return.
fn whole_line_command<'a>(text: &Text<'a>, line: &Line<'a>) -> Option<&'a str> {
    let has_carriage_return = text.source[line.start + line.text.len()..].starts_with('\r');
    let command = line.text.strip_prefix('`')?.strip_suffix('`')?;
    if has_carriage_return || command.is_empty() || command.contains('`') {
        None
    } else {
        Some(command)
    }
}

const WHOLE_FILES_COMMAND: &str =
    "git hash-object requirements.md design.md tasks.md test-spec.md | git hash-object --stdin";

/// Returns the form that the command stands for, when it is exactly a known one for this bundle.
fn sanctioned_form(spec: &SpecId, command: &str) -> Result<AnchorForm, BriefErrorReason> {
    if command == WHOLE_FILES_COMMAND {
        return Ok(AnchorForm::WholeFiles);
    }
    let script = command.strip_prefix("scripts/").unwrap_or(command);
    let named = script
        .strip_prefix("spec-anchor.sh specs/")
        .ok_or(BriefErrorReason::UnknownCommand)?;
    match SpecId::parse(named) {
        Ok(named) if named == *spec => Ok(AnchorForm::Canonical),
        Ok(_) => Err(BriefErrorReason::OtherBundle),
        Err(_) => Err(BriefErrorReason::UnknownCommand),
    }
}

/// Returns the lines between the last heading above the line and the line, without fenced ones.
fn region_above<'a, 'b>(text: &'b Text<'a>, index: usize) -> Vec<&'b Line<'a>> {
    let above = &text.lines[..index];
    let start = above
        .iter()
        .rposition(|line| !line.fenced && line.text.starts_with('#'))
        .map_or(0, |heading| heading + 1);
    above[start..].iter().filter(|line| !line.fenced).collect()
}

fn class_of(region: &[&Line<'_>]) -> Result<RecordClass, BriefErrorReason> {
    let class = region
        .iter()
        .rev()
        .find_map(|line| line.text.strip_prefix("Class:"))
        .unwrap_or_default()
        .trim();
    if class.starts_with("expression-only") {
        let cites = region.iter().any(|line| line.text.to_lowercase().contains("changelog"));
        return if cites {
            Ok(RecordClass::ExpressionOnly)
        } else {
            Err(BriefErrorReason::NoChangelog)
        };
    }
    if !class.starts_with("meaning") {
        return Err(BriefErrorReason::NoClass);
    }
    let next = region.iter().skip(1).map(|line| line.text).chain([""]);
    let has_lens_pass = region.iter().zip(next).any(|(line, next)| {
        let text = line.text.strip_prefix("Lens-pass:");
        text.is_some_and(|text| !text.trim().is_empty() || is_wrapped_text(next))
    });
    if has_lens_pass {
        Ok(RecordClass::Meaning)
    } else {
        Err(BriefErrorReason::NoLensPass)
    }
}

fn is_wrapped_text(line: &str) -> bool {
    !line.trim().is_empty()
        && !["Class:", "Anchor:", "Lens-pass:"]
            .iter()
            .any(|key| line.starts_with(key))
}

/// Whether a record still signs the texts (`contract/core.md §3.8`).
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a stale sign-off must stop the step"]
pub enum Freshness {
    /// The texts are the ones that were signed.
    Matches,
    /// The texts have changed since.
    Changed {
        /// The hash in the record.
        recorded: String,
        /// The hash of the texts now, by the record's form.
        now: String,
    },
    /// The texts are the ones that were signed, by the older rule that hashed the status lines too
    /// (`contract/core.md §3.7`); somebody has to sign once more.
    PreChange {
        /// The hash in the record.
        recorded: String,
        /// The content anchor of the texts now.
        now: String,
    },
}

/// Compares a record with the texts of the same commit.
///
/// # Errors
/// When the texts cannot be hashed; then they are not the ones that were signed.
pub fn freshness(record: &SignOffRecord, texts: &BundleTexts) -> Result<Freshness, AnchorError> {
    let now = match record.form {
        AnchorForm::Canonical => content_anchor(texts)?,
        AnchorForm::WholeFiles => whole_files_anchor(texts),
    };
    let recorded = record.anchor.clone();
    if now == recorded {
        return Ok(Freshness::Matches);
    }
    let is_older_rule = record.form == AnchorForm::Canonical
        && (recorded == whole_files_anchor(texts) || snapshot_anchor(texts).is_ok_and(|older| older == recorded));
    Ok(if is_older_rule {
        Freshness::PreChange { recorded, now }
    } else {
        Freshness::Changed { recorded, now }
    })
}

/// Why a record cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignOffError {
    /// The texts cannot be hashed.
    #[error(transparent)]
    Anchor(#[from] AnchorError),
    /// A meaning record needs to say where its lens pass is recorded.
    #[error("the lens pass is empty: say where the review of the bundle is recorded")]
    NoLensPass,
}

/// Returns the lines of a sign-off record of class `meaning`, to be put below a heading of its own at the end of
/// the brief. The lens pass says, in one line, where the review is recorded; line breaks in it become blanks.
///
/// # Errors
/// When the texts cannot be hashed, or the lens pass is empty.
pub fn render_sign_off(spec: &SpecId, texts: &BundleTexts, lens_pass: &str) -> Result<String, SignOffError> {
    let words: Vec<&str> = lens_pass
        .split(|character: char| character.is_whitespace() || character.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    if words.is_empty() {
        return Err(SignOffError::NoLensPass);
    }
    let anchor = content_anchor(texts)?;
    Ok(format!(
        "Class: meaning\nLens-pass: {}\nAnchor: `{anchor}` — computed as\n`scripts/spec-anchor.sh specs/{spec}`\n",
        words.join(" ")
    ))
}

#[cfg(test)]
mod tests;
