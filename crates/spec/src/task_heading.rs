//! The heading of a task block (`contract/core.md §1.7`): the one spelling, and what others make of near misses.

use orchestrate_core::identifier::{TaskId, printable};

use crate::lookalike::resembles_task_heading;
use crate::text::{Document, Line, Span};

pub(crate) const HEADING_HELP: &str =
    "write `### Task <number> — <title>`: three hashes in column 0, single blanks, an em dash (U+2014)";

const MARK: &str = "### Task ";

/// What a line is as a task's heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TaskHeading<'a> {
    /// It is none.
    None,
    /// It is one.
    Exact { id: TaskId, id_span: Span, title: &'a str },
    /// Every reader of the format takes it for one, but it is not spelled as one.
    Near { id: TaskId, id_span: Span, title: &'a str },
    /// Every reader of the format takes it for one without an id.
    BadId(BadId<'a>),
    /// A person would take it for one, the format would not.
    Lookalike,
}

/// A heading whose third word is no task id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadId<'a> {
    /// The third word, or the line where there is none.
    pub(crate) span: Span,
    /// The id that the word begins with, where only a mark stands too close behind it.
    pub(crate) meant: Option<Meant<'a>>,
}

/// What a heading would say if a blank, an em dash and a blank stood behind its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Meant<'a> {
    pub(crate) id: TaskId,
    pub(crate) mark: char,
    title: &'a str,
}

impl Meant<'_> {
    /// Returns what helps: the line as it should be written.
    pub(crate) fn help(&self) -> String {
        const LONGEST: usize = 80;
        let title = printable(self.title);
        if self.title.is_empty() || title.chars().count() > LONGEST {
            return format!("write `### Task {} — <title>`", self.id);
        }
        format!("write `### Task {} — {title}`", self.id)
    }
}

/// Returns what the line is as a task's heading.
pub(crate) fn task_heading<'a>(line: &Line<'a>) -> TaskHeading<'a> {
    let Some(rest) = line.text.strip_prefix(MARK) else {
        return if resembles_task_heading(line.text) {
            TaskHeading::Lookalike
        } else {
            TaskHeading::None
        };
    };
    // The id is the third word, as the format's own readers split a line.
    let visible = rest.trim_start_matches([' ', '\t']);
    let word = visible.split([' ', '\t']).next().unwrap_or_default();
    let start = line.text.len() - visible.len();
    let Ok(id) = TaskId::parse(word) else {
        let span = if word.is_empty() {
            line.visible()
        } else {
            line.span(start..start + word.len())
        };
        return TaskHeading::BadId(BadId {
            span,
            meant: meant(visible),
        });
    };
    let id_span = line.span(start..start + word.len());
    let behind = visible.get(word.len()..).unwrap_or_default();
    match behind.strip_prefix(" — ").map(str::trim) {
        Some(title) if !title.is_empty() && visible.len() == rest.len() => TaskHeading::Exact { id, id_span, title },
        Some(_) | None => TaskHeading::Near {
            id,
            id_span,
            title: behind.trim_matches(is_dash),
        },
    }
}

fn is_dash(character: char) -> bool {
    character.is_whitespace() || matches!(character, '-' | '–' | '—' | ':')
}

/// Returns what the text behind `### Task ` means where a mark of punctuation stands right behind an id. A hyphen might
/// join two ids, a dot might lead to a third number.
fn meant(text: &str) -> Option<Meant<'_>> {
    let digits = text.trim_start_matches(|character: char| character.is_ascii_digit() || character == '.');
    let id = text.strip_suffix(digits)?.trim_end_matches('.');
    let behind = text.strip_prefix(id)?;
    let mark = behind.chars().next()?;
    if !matches!(mark, ':' | '.' | ',' | ';' | ')' | '–' | '—') {
        return None;
    }
    let title = behind.trim_start_matches(mark);
    if title.starts_with(|character: char| character.is_ascii_digit()) {
        return None;
    }
    Some(Meant {
        id: TaskId::parse(id).ok()?,
        mark,
        title: title.trim_matches(is_dash),
    })
}

/// Returns the ids of all task headings with a well-formed id (`contract/core.md §2.4`).
pub(crate) fn ids(text: &Document<'_>) -> Vec<TaskId> {
    text.lines()
        .filter(|line| !line.fenced)
        .filter_map(|line| match task_heading(&line) {
            TaskHeading::Exact { id, .. } | TaskHeading::Near { id, .. } => Some(id),
            TaskHeading::None | TaskHeading::BadId(_) | TaskHeading::Lookalike => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        let text = Document::new(line);
        let line = text.lines().next().expect("a line");
        match task_heading(&line) {
            TaskHeading::None => "none".to_owned(),
            TaskHeading::Exact { id, id_span, title } => format!("{id} at {}: {title}", id_span.columns.start),
            TaskHeading::Near { id, id_span, title } => format!("near {id} at {}: {title}", id_span.columns.start),
            TaskHeading::BadId(BadId { span, meant: None }) => format!("bad at {:?}", span.columns),
            TaskHeading::BadId(BadId {
                span,
                meant: Some(meant),
            }) => format!("bad at {:?}, {}: {}", span.columns, meant.mark, meant.help()),
            TaskHeading::Lookalike => "lookalike".to_owned(),
        }
    }

    #[test]
    fn headings_of_a_task() {
        for (line, expected) in [
            ("### Task 1 — a — b ", "1 at 10: a — b"),
            ("### Task 2.5 — a", "2.5 at 10: a"),
            ("### Task 1 – a", "near 1 at 10: a"),
            ("### Task 1 - a", "near 1 at 10: a"),
            ("### Task 1", "near 1 at 10: "),
            ("### Task 1 — ", "near 1 at 10: "),
            ("### Task 1 —a", "near 1 at 10: a"),
            ("### Task  1 — a", "near 1 at 11: a"),
            ("### Task 1\t— a", "near 1 at 10: a"),
            ("### Task 1: a", "bad at 10..12, :: write `### Task 1 — a`"),
            ("### Task 2.5:a b", "bad at 10..15, :: write `### Task 2.5 — a b`"),
            ("### Task 1. — a", "bad at 10..12, .: write `### Task 1 — a`"),
            ("### Task 1:", "bad at 10..12, :: write `### Task 1 — <title>`"),
            ("### Task 1— a", "bad at 10..12, —: write `### Task 1 — a`"),
            ("### Task 2.5.1 — a", "bad at 10..15"),
            ("### Task 2-3 — a", "bad at 10..13"),
            ("### Task 2–3 — a", "bad at 10..13"),
            ("### Task 1a — a", "bad at 10..12"),
            ("### Task six — a", "bad at 10..13"),
            ("### Task é1 — a", "bad at 10..12"),
            ("### Task ", "bad at 1..9"),
            ("### Task", "lookalike"),
            ("#### Task 1 — a", "lookalike"),
            ("### Notes", "none"),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }
}
