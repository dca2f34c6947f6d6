//! The sign-off records of `kickoff-brief.md`, and whether the last one still holds (`contract/core.md §3.4–§3.8`).
//!
//! A recorded command is compared, never run. Owns no state.

mod freshness;
mod reason;
mod writing;

use orchestrate_core::identifier::SpecId;

pub use crate::anchor::AnchorForm;
use crate::anchor::content_anchor;
use crate::text::{Line, Text};

pub use freshness::{Freshness, freshness};
pub use reason::{BriefError, BriefErrorReason};
pub use writing::{AppendError, SignOffError, append_record, render_expression_only, render_sign_off};

/// What a record signs (`contract/core.md §3.7`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordClass {
    /// What the bundle means; only a person signs it.
    Meaning,
    /// Only how the bundle is worded.
    ExpressionOnly,
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
    let region = region_above(&text, index);
    if is_deliberate_halt(line.text, class_text(&region)) {
        return Err(fail(BriefErrorReason::DeliberateHalt));
    }
    let anchor = hash_in(line.text).ok_or(fail(BriefErrorReason::NoHash))?;
    let command = command_on(line.text)
        .or_else(|| {
            text.lines
                .get(index + 1)
                .and_then(|next| whole_line_command(&text, next))
        })
        .ok_or(fail(BriefErrorReason::NoCommand))?;
    let form = AnchorForm::from_command(spec, command).map_err(|error| fail(BriefErrorReason::Command(error)))?;
    let class = class_of(&region).map_err(fail)?;
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

/// Returns the lines between the last heading above the line and the line, without fenced ones.
fn region_above<'a, 'b>(text: &'b Text<'a>, index: usize) -> Vec<&'b Line<'a>> {
    let above = &text.lines[..index];
    let start = above
        .iter()
        .rposition(|line| !line.fenced && line.text.starts_with('#'))
        .map_or(0, |heading| heading + 1);
    above[start..].iter().filter(|line| !line.fenced).collect()
}

/// Returns the text of the nearest class above the anchor line; empty without one.
fn class_text<'a>(region: &[&Line<'a>]) -> &'a str {
    region
        .iter()
        .rev()
        .find_map(|line| line.text.strip_prefix("Class:"))
        .unwrap_or_default()
        .trim()
}

/// Returns whether somebody recorded on purpose that nothing may be run.
fn is_deliberate_halt(anchor_line: &str, class: &str) -> bool {
    let anchor = anchor_line.strip_prefix("Anchor:").unwrap_or(anchor_line);
    let anchor = anchor.trim_start_matches([' ', '\t', '`', '*', '(']);
    class.starts_with("n/a")
        || (hash_in(anchor_line).is_none() && (anchor.starts_with("none") || anchor.starts_with("n/a")))
}

fn class_of(region: &[&Line<'_>]) -> Result<RecordClass, BriefErrorReason> {
    let class = class_text(region);
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

/// An `Anchor:` line of a brief, complete or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedAnchor {
    /// The line in `kickoff-brief.md`.
    pub line: u32,
    /// The hash on it, 40 lower-case hex digits, if it has one.
    pub hash: Option<String>,
}

/// Returns every `Anchor:` line of a brief, in file order: what a walk through a brief's history compares, to find the
/// commit that brought a record. A brief that is no text has none.
#[must_use]
pub fn recorded_anchors(brief: &[u8]) -> Vec<RecordedAnchor> {
    let Ok(text) = crate::text::read(brief) else {
        return Vec::new();
    };
    text.lines
        .iter()
        .filter(|line| !line.fenced && line.text.starts_with("Anchor:"))
        .map(|line| RecordedAnchor {
            line: line.number,
            hash: hash_in(line.text).map(str::to_owned),
        })
        .collect()
}

#[cfg(test)]
mod tests;
