//! The changelog of `requirements.md` (`contract/core.md §1.4, §2.4`).

use crate::text::{Line, dedented};

/// One dated entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangelogEntry {
    /// Its date as written, `YYYY-MM-DD`.
    pub date: String,
    /// Its text behind the date, with its line breaks.
    pub text: String,
    /// The line of its bullet in `requirements.md`.
    pub line: u32,
}

impl ChangelogEntry {
    /// Returns whether the entry names a requirement, with `REQ-` before its number or without
    /// (`contract/core.md §2.4`).
    #[must_use]
    pub fn names_requirement(&self, id: &str) -> bool {
        let number = id.strip_prefix("REQ-").unwrap_or(id);
        tokens(&self.text).any(|token| token == number)
    }

    /// Returns whether the entry names a task: the word `Task` right before its id (`contract/core.md §2.4`).
    #[must_use]
    pub fn names_task(&self, id: &str) -> bool {
        let mut tokens = tokens(&self.text).peekable();
        while let Some(token) = tokens.next() {
            if token == "Task" && tokens.peek() == Some(&id) {
                return true;
            }
        }
        false
    }
}

fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !(character.is_ascii_alphanumeric() || character == '.'))
        .filter(|token| !token.is_empty())
        .map(|token| token.strip_suffix('.').unwrap_or(token))
}

/// Returns the dated entries in file order.
pub(crate) fn read<'a>(body: impl Iterator<Item = Line<'a>>) -> Vec<ChangelogEntry> {
    let mut entries: Vec<ChangelogEntry> = Vec::new();
    let mut in_changelog = false;
    let mut in_entry = false;
    for line in body.filter(|line| !line.fenced) {
        if let Some(heading) = line.text.strip_prefix("## ") {
            in_changelog = is_changelog(heading);
            in_entry = false;
        } else if line.text.starts_with("- ") {
            let entry = dated(line.text).filter(|_| in_changelog);
            in_entry = entry.is_some();
            entries.extend(entry.map(|(date, text)| ChangelogEntry {
                date: date.to_owned(),
                text: text.trim().to_owned(),
                line: line.number,
            }));
        } else if in_entry && let Some(entry) = entries.last_mut() {
            entry.text.push('\n');
            entry.text.push_str(dedented(line.text));
        }
    }
    for entry in &mut entries {
        entry.text.truncate(entry.text.trim_end().len());
    }
    entries
}

/// Returns whether the text of a heading of level 2 is that of the changelog.
pub(crate) fn is_changelog(heading: &str) -> bool {
    const NAME: &str = "changelog";
    heading
        .get(..NAME.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(NAME))
}

/// Splits a dated bullet into its date and the text behind it.
fn dated(line: &str) -> Option<(&str, &str)> {
    let (date, text) = line.strip_prefix("- ")?.split_at_checked(10)?;
    let is_date = date.bytes().enumerate().all(|(index, byte)| match index {
        4 | 7 => byte == b'-',
        _digit => byte.is_ascii_digit(),
    });
    is_date.then_some((date, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Document;

    #[test]
    fn dated_entries_of_the_changelog() {
        let source = "## Goal\n- 2026-01-01 no\n## Changelog (all)\n- 2026-01-02: one\n  more.\n\n```\n- 2026-01-03 no\n```\n- no date\n  no\n- 2026-1-2 no\n## CHANGELOG\n- 2026-01-04\n## Sources\n- 2026-01-05 no\n";
        let entries = read(Document::new(source).lines());
        let shown: Vec<(&str, &str, u32)> = entries
            .iter()
            .map(|entry| (entry.date.as_str(), entry.text.as_str(), entry.line))
            .collect();
        assert_eq!(shown, [("2026-01-02", ": one\nmore.", 4), ("2026-01-04", "", 14)]);
    }

    #[test]
    fn names_are_whole_words() {
        let entry = |text: &str| ChangelogEntry {
            date: "2026-01-01".to_owned(),
            text: text.to_owned(),
            line: 1,
        };
        for text in ["REQ-A1.2 went", "bare A1.2.", "(A1.2)"] {
            assert!(entry(text).names_requirement("REQ-A1.2"), "{text}");
        }
        assert!(!entry("A1.20 and A1").names_requirement("REQ-A1.2"));
        for text in ["retired Task 2.5.", "retired Task\n2.5, and", "`Task 2.5`"] {
            assert!(entry(text).names_task("2.5"), "{text}");
        }
        for text in ["task 2.5", "Tasks 2.5", "Task the 2.5", "Task 2.50", "Task"] {
            assert!(!entry(text).names_task("2.5"), "{text}");
        }
    }
}
