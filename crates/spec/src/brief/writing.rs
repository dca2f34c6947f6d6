//! Writing records: a text that the reader accepts again, put at the end of a brief.
//!
//! A brief is only ever added to. A brief with CRLF line ends keeps them: its records take the layout with the command
//! on the `Anchor:` line, since a command on a line of its own may not have a carriage return (`contract/core.md §3.5`).

use orchestrate_core::identifier::SpecId;
use orchestrate_core::words::one_line;

use super::reason::BriefErrorReason;
use super::{content_anchor, parse_sign_off};
use crate::BundleTexts;
use crate::anchor::{AnchorError, AnchorForm};
use crate::edit::line_end;

/// Why a record cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignOffError {
    /// The texts cannot be hashed.
    #[error(transparent)]
    Anchor(#[from] AnchorError),
    /// A meaning record needs to say where its lens pass is recorded.
    #[error("the lens pass is empty: say where the review of the bundle is recorded")]
    NoLensPass,
    /// An expression-only record needs the line of the Changelog that tells of the change.
    #[error("the changelog line is empty: name the entry that tells of the change")]
    NoChangelog,
    /// An expression-only record needs to say why the meaning is the same.
    #[error("the reason is empty: say why the meaning is the same")]
    NoReason,
}

/// Returns the lines of a sign-off record of class `meaning`, to be put below a heading of its own at the end of
/// the brief. The lens pass says, in one line, where the review is recorded; line breaks in it become blanks.
///
/// # Errors
/// When the texts cannot be hashed, or the lens pass is empty.
pub fn render_sign_off(spec: &SpecId, texts: &BundleTexts, lens_pass: &str) -> Result<String, SignOffError> {
    let lens_pass = words(lens_pass, SignOffError::NoLensPass)?;
    let anchor = anchor_lines(spec, texts)?;
    Ok(format!("Class: meaning\nLens-pass: {lens_pass}\n{anchor}"))
}

/// Returns the lines of a record of class `expression-only`, to be put below a heading of its own at the end of the
/// brief: the texts mean what the record before it signed. `changelog_line` names the entry of the Changelog that tells
/// of the change, `why` says why the meaning is the same; line breaks in both become blanks.
///
/// # Errors
/// When the texts cannot be hashed, or one of the two is empty.
pub fn render_expression_only(
    spec: &SpecId,
    texts: &BundleTexts,
    changelog_line: &str,
    why: &str,
) -> Result<String, SignOffError> {
    let changelog_line = words(changelog_line, SignOffError::NoChangelog)?;
    let why = words(why, SignOffError::NoReason)?;
    let anchor = anchor_lines(spec, texts)?;
    // The bold leads keep both texts from being a heading, a fence or a key of the record.
    Ok(format!(
        "**Why the meaning is the same:** {why}\n\n**Cites the changelog line:** {changelog_line}\n\nClass: expression-only\n{anchor}"
    ))
}

fn anchor_lines(spec: &SpecId, texts: &BundleTexts) -> Result<String, AnchorError> {
    let anchor = content_anchor(texts)?;
    let command = AnchorForm::Canonical.command(spec);
    Ok(format!("Anchor: `{anchor}` — computed as\n`{command}`\n"))
}

/// Why a record cannot be added to a brief.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The brief is no text.
    #[error("cannot read the brief as text: it holds {0}")]
    NotText(&'static str),
    /// A fence that is never closed would hide the record.
    #[error("the brief's code fence of line {0} is never closed, so a record below it would be hidden")]
    OpenFence(u32),
    /// The heading is not one line that starts with `#` and names something.
    #[error("the record's heading is not one line of `#` and a text")]
    Heading,
    /// The text is no complete record.
    #[error("the record is not complete: {0}")]
    Record(BriefErrorReason),
}

/// Returns the brief with a record below a heading of its own at its end. Every byte that is there stays.
///
/// # Errors
/// When the brief cannot be added to, or the text is not a record that [`parse_sign_off`] accepts there.
pub fn append_record(spec: &SpecId, brief: &[u8], heading: &str, record: &str) -> Result<Vec<u8>, AppendError> {
    let text = crate::text::read(brief).map_err(|unreadable| AppendError::NotText(unreadable.what))?;
    if let Some(line) = text.open_fence {
        return Err(AppendError::OpenFence(line));
    }
    let is_heading = heading
        .trim_start_matches('#')
        .strip_prefix(' ')
        .is_some_and(|name| heading.starts_with('#') && !name.trim().is_empty() && !name.contains(char::is_control));
    if !is_heading {
        return Err(AppendError::Heading);
    }
    let end = line_end(brief);
    let mut added = String::new();
    if !text.source.is_empty() {
        if !text.source.ends_with('\n') {
            added.push('\n');
        }
        if text.lines.last().is_some_and(|line| !line.text.trim().is_empty()) {
            added.push('\n');
        }
    }
    added.push_str(&format!("{heading}\n\n"));
    added.push_str(&if end == "\r\n" {
        with_command_on_the_anchor_line(record)
    } else {
        record.to_owned()
    });
    let mut whole = brief.to_vec();
    whole.extend(added.replace('\n', end).into_bytes());
    let before = text.lines.len();
    match parse_sign_off(spec, &whole) {
        Ok(found) if usize::try_from(found.line).is_ok_and(|line| line > before) => Ok(whole),
        Ok(_) => Err(AppendError::Record(BriefErrorReason::Absent)),
        Err(error) => Err(AppendError::Record(error.reason)),
    }
}

/// Returns the record in the other layout of the format, if it has the first one.
fn with_command_on_the_anchor_line(record: &str) -> String {
    let joined = record
        .trim_end_matches('\n')
        .rsplit_once('\n')
        .and_then(|(above, command)| Some(format!("{} ({command})\n", above.strip_suffix(" — computed as")?)));
    joined.unwrap_or_else(|| record.to_owned())
}

/// Returns the text on one line.
fn words(text: &str, missing: SignOffError) -> Result<String, SignOffError> {
    let words = one_line(text);
    if words.is_empty() { Err(missing) } else { Ok(words) }
}
