//! The bundle that a person starts from: four texts that read as a Draft without a finding (`contract/core.md §1`).
//!
//! Owns no state; the texts are compiled in.

use orchestrate_core::identifier::SpecId;

use crate::BundleTexts;

mod untouched;

pub use untouched::{Untouched, untouched};

/// The longest title, in characters: a heading, not a paragraph.
const LONGEST_TITLE: usize = 100;

/// Why a text is no title.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TitleError {
    /// Nothing but blanks.
    #[error("it is empty")]
    Empty,
    /// Too long for a heading.
    #[error("it has more than {LONGEST_TITLE} characters")]
    Long,
    /// A line break or another control character.
    #[error("it holds a line break or another control character")]
    Control,
}

/// Returns the texts of a new bundle, status `Draft`, format version 2. `today` is the date as `YYYY-MM-DD`.
///
/// # Errors
/// When the title cannot stand in a heading.
pub fn new_bundle(title: &str, today: &str) -> Result<BundleTexts, TitleError> {
    let title = title.trim();
    if title.is_empty() {
        return Err(TitleError::Empty);
    }
    if title.chars().count() > LONGEST_TITLE {
        return Err(TitleError::Long);
    }
    if title.chars().any(char::is_control) || title != orchestrate_core::identifier::printable(title) {
        return Err(TitleError::Control);
    }
    Ok(filled(title, today))
}

fn filled(title: &str, today: &str) -> BundleTexts {
    let fill = |text: &str| {
        text.replace("{{today}}", today)
            .replace("{{title}}", title)
            .into_bytes()
    };
    BundleTexts {
        requirements: fill(include_str!("template/requirements.md")),
        design: fill(include_str!("template/design.md")),
        tasks: fill(include_str!("template/tasks.md")),
        test_spec: fill(include_str!("template/test-spec.md")),
    }
}

/// Returns a title for a spec that was given none: its name, written as words.
#[must_use]
pub fn title_of(spec: &SpecId) -> String {
    let words: Vec<&str> = spec.as_str().split('-').filter(|word| !word.is_empty()).collect();
    let mut letters = words.join(" ").chars().collect::<Vec<char>>().into_iter();
    letters
        .next()
        .map(|first| first.to_ascii_uppercase())
        .into_iter()
        .chain(letters)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Status, parse_bundle};

    fn spec(name: &str) -> SpecId {
        SpecId::parse(name).expect("a spec name")
    }

    /// Verifies REQ-B3.2.
    #[test]
    fn a_new_bundle_reads_as_a_draft_with_every_construct() {
        let texts = new_bundle("Billing: the second try", "2026-11-30").expect("a title");
        let bundle = parse_bundle(&spec("billing"), &texts).expect("it reads");
        assert_eq!(bundle.status, Status::Draft);
        assert_eq!(bundle.title, "Billing: the second try");
        assert_eq!(bundle.requirements.len(), 2);
        assert!(bundle.requirements.iter().all(|each| !each.citations.is_empty()));
        assert_eq!(bundle.decisions.len(), 1);
        let tasks: Vec<_> = bundle
            .graph()
            .tasks
            .into_iter()
            .map(|task| (task.id.to_string(), task.dependencies.len()))
            .collect();
        assert_eq!(tasks, [("1".to_owned(), 0), ("2".to_owned(), 1)]);
        for (_, bytes) in texts.files() {
            let text = String::from_utf8(bytes.to_vec()).expect("text");
            assert!(!text.contains("{{"), "{text}");
            assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{text}");
        }
    }

    #[test]
    fn a_title_may_hold_what_a_template_would_replace() {
        let texts = new_bundle("{{today}}", "2026-11-30").expect("a title");
        assert!(texts.design.starts_with("# {{today}} — Design\n".as_bytes()));
    }

    #[test]
    fn titles_that_are_none() {
        assert_eq!(new_bundle(" \t", "2026-11-30"), Err(TitleError::Empty));
        assert_eq!(
            new_bundle("a\n**Status:** Ready", "2026-11-30"),
            Err(TitleError::Control)
        );
        assert_eq!(new_bundle("a\u{202e}b", "2026-11-30"), Err(TitleError::Control));
        assert_eq!(new_bundle(&"x".repeat(101), "2026-11-30"), Err(TitleError::Long));
    }

    #[test]
    fn a_name_reads_as_a_title() {
        assert_eq!(title_of(&spec("hello-tower")), "Hello tower");
        assert_eq!(title_of(&spec("2fa--x-")), "2fa x");
        assert_eq!(title_of(&spec("0")), "0");
    }
}
