//! The questions of a walk: what is asked, which answers there are, and what each of them does.

use super::pages;

/// A question that waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// Whether to begin.
    Start {
        /// Something was read before.
        has_read: bool,
    },
    /// Whether a page was read.
    Page {
        /// Another page of the same part follows.
        has_more: bool,
    },
    /// The class of the record.
    Class {
        /// There is no earlier record, so that only one class is possible.
        is_first: bool,
    },
    /// Who looked at the bundle.
    LensPass,
    /// What changed in the wording.
    Wording,
    /// Whether the record cites the line that the changelog has already.
    Line,
    /// Whether to sign.
    Confirm,
}

/// An answer, and what it does.
type Key = (&'static str, &'static str);

const BACK: Key = ("b", "goes back to what was before this question");
const LEAVE: Key = (
    "q",
    "ends the walk: nothing is written, and what you have read is remembered",
);
const TEXT: &str = "a line of text";

impl Question {
    /// Returns the question as it is asked, without a line end.
    pub(crate) const fn prompt(self) -> &'static str {
        match self {
            Self::Start { has_read: false } => "[Enter] begins, q leaves: ",
            Self::Start { has_read: true } => "[Enter] goes on, a shows all again, q leaves: ",
            Self::Page { has_more: true } => "[Enter] more, b goes back, q leaves: ",
            Self::Page { has_more: false } => "[Enter] read, next, b goes back, q leaves: ",
            Self::Class { is_first: true } => "class [Enter: meaning], b goes back, q leaves: ",
            Self::Class { is_first: false } => "class (meaning or expression-only), b goes back, q leaves: ",
            Self::LensPass => "lens pass (b goes back, q leaves): ",
            Self::Wording => "what changed (b goes back, q leaves): ",
            Self::Line => "[Enter] cites this line, b goes back, q leaves: ",
            Self::Confirm => "type the word sign to sign it, b goes back, q leaves: ",
        }
    }

    fn keys(self) -> Vec<Key> {
        match self {
            Self::Start { has_read: false } => vec![("Enter", "shows the first part"), LEAVE],
            Self::Start { has_read: true } => vec![
                ("Enter", "goes on with the first part that you have not read"),
                ("a", "forgets what you have read and shows all parts again"),
                LEAVE,
            ],
            Self::Page { has_more: true } => vec![("Enter", "shows the next page of this part"), BACK, LEAVE],
            Self::Page { has_more: false } => {
                vec![("Enter", "says that you have read this part, and goes on"), BACK, LEAVE]
            }
            Self::Class { is_first: true } => vec![
                ("Enter", "takes the class meaning, the only one of a first record"),
                ("meaning", "does the same"),
                BACK,
                LEAVE,
            ],
            Self::Class { is_first: false } => vec![
                (
                    "meaning",
                    "says that something now means something else; asks for a lens pass",
                ),
                (
                    "expression-only",
                    "says that only the wording changed; the record cites a line of the changelog",
                ),
                BACK,
                LEAVE,
            ],
            Self::LensPass => vec![
                (
                    TEXT,
                    "says who looked at the bundle, from which sides, and where that is recorded",
                ),
                BACK,
                LEAVE,
            ],
            Self::Wording => vec![
                (TEXT, "says what changed, and becomes a line of the changelog"),
                BACK,
                LEAVE,
            ],
            Self::Line => vec![
                (
                    "Enter",
                    "makes the record cite the line; to cite another one, write it first",
                ),
                BACK,
                LEAVE,
            ],
            Self::Confirm => vec![("sign", "writes what is shown above"), BACK, LEAVE],
        }
    }

    /// Returns what is said to an answer that is none, on one line.
    pub(crate) fn expected(self) -> String {
        let names: Vec<&str> = self.keys().into_iter().map(|(name, _)| name).collect();
        let (last, others) = names.split_last().unwrap_or((&"q", &[]));
        format!("Expected: {} or {last}. ? tells what each does.", others.join(", "))
    }

    /// Returns what each answer does, in lines of that width.
    pub(crate) fn help(self, width: usize) -> Vec<String> {
        let keys = self.keys();
        let widest = keys.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        let line = |(name, what): &Key| pages::lines(&format!("  {name:<widest$}  {what}"), width);
        keys.iter().flat_map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Question; 10] = [
        Question::Start { has_read: false },
        Question::Start { has_read: true },
        Question::Page { has_more: true },
        Question::Page { has_more: false },
        Question::Class { is_first: true },
        Question::Class { is_first: false },
        Question::LensPass,
        Question::Wording,
        Question::Line,
        Question::Confirm,
    ];

    #[test]
    fn every_key_of_a_prompt_is_explained() {
        for question in ALL {
            let names: Vec<&str> = question.keys().into_iter().map(|(name, _)| name).collect();
            let prompt = question.prompt();
            for (mark, name) in [
                ("[Enter", "Enter"),
                ("a shows", "a"),
                ("b goes back", "b"),
                ("q leaves", "q"),
                ("meaning", "meaning"),
                ("expression-only", "expression-only"),
                ("word sign", "sign"),
            ] {
                assert_eq!(prompt.contains(mark), names.contains(&name), "{prompt} {name}");
            }
        }
    }

    #[test]
    fn what_is_expected_fits_a_line() {
        assert_eq!(
            Question::Page { has_more: false }.expected(),
            "Expected: Enter, b or q. ? tells what each does."
        );
        for question in ALL {
            assert!(question.expected().chars().count() <= 80, "{}", question.expected());
            assert!(question.prompt().chars().count() <= 80, "{}", question.prompt());
        }
    }

    #[test]
    fn the_help_has_a_line_for_each_answer() {
        assert_eq!(
            Question::Confirm.help(80),
            [
                "  sign  writes what is shown above",
                "  b     goes back to what was before this question",
                "  q     ends the walk: nothing is written, and what you have read is remembered",
            ]
        );
    }
}
