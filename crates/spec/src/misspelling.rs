//! Labels of a task's fields that are nearly right.
//!
//! The format passes over a bullet whose label it does not know, so a slip in a label costs the task the whole field.

use crate::block::Field;
use crate::lookalike::{is_invisible, without_list_marker};
use crate::text::{Line, Span};

/// So many slips of the pen are one label still.
const SLIPS: usize = 2;
/// No label is longer, however it is spelled.
const LONGEST: usize = 30;

/// A line that begins as a field would, if its label were spelled as the format has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misspelt {
    pub(crate) field: Field,
    pub(crate) span: Span,
}

/// Returns the field that a line in column 0 seems to mean, where it does not begin one.
pub(crate) fn field(line: &Line<'_>) -> Option<Misspelt> {
    if line.indentation() > 0 || Field::starting(line.text).is_some() {
        return None;
    }
    let label = label(without_list_marker(line.text).unwrap_or(line.text))?;
    Some(Misspelt {
        field: nearest(&label)?,
        span: line.visible(),
    })
}

/// Returns whether the text begins with a label that nearly is that of the dependencies.
pub(crate) fn resembles_dependencies(text: &str) -> bool {
    label(text).is_some_and(|label| is_near(&label, Field::Dependencies))
}

/// Returns the words before the first colon, in small letters and without emphasis.
fn label(text: &str) -> Option<String> {
    let is_decoration = |character: char| is_invisible(character) || matches!(character, '*' | '_');
    let start: String = text.chars().take(LONGEST).collect();
    let (label, _) = start.split_once([':', '：'])?;
    let label = label.trim_matches(is_decoration).to_lowercase();
    if label.is_empty() { None } else { Some(label) }
}

fn nearest(label: &str) -> Option<Field> {
    let by_word = match label {
        "cites" | "cited" => Some(Field::Citations),
        "done" => Some(Field::DoneWhen),
        "effort" | "estimate" | "estimation" => Some(Field::EstimatedEffort),
        _other_word => None,
    };
    by_word.or_else(|| Field::ALL.into_iter().find(|field| is_near(label, *field)))
}

fn is_near(label: &str, field: Field) -> bool {
    let name = field.name();
    // What is another label, letter for letter, is no slip of this one.
    if Field::ALL
        .into_iter()
        .any(|other| other != field && other.name().eq_ignore_ascii_case(label))
    {
        return false;
    }
    // A slip changes the length by one at most. Most lines are told apart by that alone.
    label.chars().count().abs_diff(name.chars().count()) <= SLIPS
        && strsim::damerau_levenshtein(label, &name.to_lowercase()) <= SLIPS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Document;

    #[test]
    fn labels_that_are_nearly_right() {
        let meant = |text: &str| {
            let document = Document::new(text);
            let line = document.lines().next().expect("a line");
            field(&line).map(|found| found.field)
        };
        for (line, expected) in [
            ("- **Deliverable:** x", Field::Deliverables),
            ("- **Deliverables**: x", Field::Deliverables),
            ("* **Deliverables:** x", Field::Deliverables),
            ("- Deliverables: x", Field::Deliverables),
            ("- **Done When:** x", Field::DoneWhen),
            ("- **Done-when:** x", Field::DoneWhen),
            ("**Citation:** D-1", Field::Citations),
            ("- **Cites:** D-1", Field::Citations),
            ("- **Estimated Effort:** 1 day", Field::EstimatedEffort),
            ("- **Effort:** 1 day", Field::EstimatedEffort),
            ("- **Dependancies:** 1", Field::Dependencies),
        ] {
            assert_eq!(meant(line), Some(expected), "{line}");
        }
        for line in [
            "- **Deliverables:** x",
            "  - **Deliverable:** x",
            "- **Note:** the deliverable: x",
            "- **Status:** x",
            "Done when it is done",
            "- **Dependents:** 1",
            ": x",
        ] {
            assert_eq!(meant(line), None, "{line}");
        }
    }
}
