//! The text of a `Dependencies` field to task ids (`contract/core.md §1.9`, the newer tokenizer).
//!
//! Prose around the ids is read over; whatever might name a task and is no id is refused, so that no dependency is lost.

use orchestrate_core::identifier::{SpecId, TaskId};

use crate::diagnostic::quoted;
use crate::requirements::is_citation;

/// Why a dependency text cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) message: String,
    pub(crate) help: &'static str,
}

const WRITE_IDS: &str = "write task ids separated by commas, such as `1, 2.5`, or `none`";

/// Returns the ids that the text of the whole field names, in the order written, each once.
pub(crate) fn read(text: &str) -> Result<Vec<TaskId>, Problem> {
    if text.contains("<!--") {
        return Err(problem(
            text,
            "hides part of its text in a comment",
            "delete the comment",
        ));
    }
    let text = &without_bullets(text)?;
    let parts = split_at_parentheses(text)?;
    let mut ids: Vec<TaskId> = Vec::new();
    let mut head = Tokens::new(parts.head);
    while let Some(token) = head.next() {
        if let Some(id) = id_of(token) {
            refuse_range(&id, head.clone(), text)?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        } else {
            refuse_unread(token, head.clone(), text)?;
        }
    }
    refuse_ids_after_parentheses(&parts.tail, text)?;
    if ids.is_empty() && !says_none(text) {
        return Err(problem(text, "names no task and does not say `none`", WRITE_IDS));
    }
    Ok(ids)
}

fn problem(text: &str, what: &str, help: &'static str) -> Problem {
    let shown = if text.trim().is_empty() {
        "the empty dependency text".to_owned()
    } else {
        quoted(text)
    };
    Problem {
        message: format!("{shown} {what}"),
        help,
    }
}

/// Returns the text with the markers of a list in it removed; a numbered list would read as ids.
fn without_bullets(text: &str) -> Result<String, Problem> {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        let number = line.split_once(". ").map(|(number, _)| number.trim_start_matches('0'));
        if !lines.is_empty() && number == Some("1") {
            return Err(problem(
                text,
                "holds a numbered list, whose numbers look like ids",
                WRITE_IDS,
            ));
        }
        let item = ["- ", "* ", "+ "]
            .into_iter()
            .find_map(|marker| line.strip_prefix(marker));
        lines.push(item.unwrap_or(line));
    }
    Ok(lines.join("\n"))
}

/// The text before the first parenthesis, and what stands outside of parentheses after it.
struct Parts<'a> {
    head: &'a str,
    tail: String,
}

fn split_at_parentheses(text: &str) -> Result<Parts<'_>, Problem> {
    let Some((head, _)) = text.split_once('(') else {
        return Ok(Parts {
            head: text,
            tail: String::new(),
        });
    };
    let mut depth = 0_u32;
    let mut tail = String::new();
    for character in text[head.len()..].chars() {
        match character {
            '(' => depth += 1,
            ')' if depth > 0 => {
                depth -= 1;
                tail.push(' ');
            }
            outside if depth == 0 => tail.push(outside),
            _inside => {}
        }
    }
    if depth > 0 {
        return Err(problem(
            text,
            "has a parenthesis that is never closed",
            "close it; text in parentheses is not read",
        ));
    }
    Ok(Parts { head, tail })
}

/// The words of a text; commas and semicolons separate as blanks do.
#[derive(Clone)]
struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let separates = |character: char| character.is_whitespace() || matches!(character, ',' | ';');
        let start = self.rest.trim_start_matches(separates);
        let end = start.find(separates).unwrap_or(start.len());
        let (token, rest) = start.split_at(end);
        self.rest = rest;
        if token.is_empty() { None } else { Some(token) }
    }
}

fn id_of(token: &str) -> Option<TaskId> {
    TaskId::parse(token.trim_end_matches('.')).ok()
}

/// Refuses `1 to 3`, which would be read as two tasks.
fn refuse_range(first: &TaskId, mut after: Tokens<'_>, text: &str) -> Result<(), Problem> {
    const UNTIL: [&str; 10] = ["to", "through", "thru", "until", "-", "–", "—", "…", "..", "..."];
    let is_range = after
        .next()
        .is_some_and(|word| UNTIL.iter().any(|until| word.eq_ignore_ascii_case(until)))
        && after
            .find(|word| !is_the_word_task(word))
            .is_some_and(|word| id_of(word).is_some());
    if is_range {
        let what = format!("gives a range from task {first}");
        return Err(problem(text, &what, "list every id: `1, 2, 3`"));
    }
    Ok(())
}

fn is_the_word_task(word: &str) -> bool {
    word.eq_ignore_ascii_case("task") || word.eq_ignore_ascii_case("tasks")
}

/// Refuses a word that may name a task but is no id.
fn refuse_unread(token: &str, mut after: Tokens<'_>, text: &str) -> Result<(), Problem> {
    const SPELLED: [&str; 12] = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    ];
    if is_citation(token.trim_end_matches('.')) {
        return Ok(());
    }
    if token.chars().any(char::is_numeric) {
        let what = format!("holds {}, which is not a task id", quoted(token));
        return Err(problem(text, &what, WRITE_IDS));
    }
    if is_foreign(token) {
        let what = format!("names another bundle's task before any parenthesis ({})", quoted(token));
        return Err(problem(text, &what, "put what is about other bundles in parentheses"));
    }
    if is_the_word_task(token) {
        let next = after.next();
        let is_spelled = next.is_some_and(|word| {
            SPELLED
                .iter()
                .any(|number| word.trim_end_matches('.').eq_ignore_ascii_case(number))
        });
        if is_spelled || (token.starts_with('T') && next.and_then(id_of).is_none()) {
            let what = format!("has no task id after {}", quoted(token));
            return Err(problem(text, &what, WRITE_IDS));
        }
    }
    Ok(())
}

/// Returns whether a word starts a reference to a task of another bundle, such as `other/Task 2`.
fn is_foreign(token: &str) -> bool {
    if let Some(path) = token.strip_prefix("specs/") {
        return !path.is_empty();
    }
    let is_task = |task: &str| is_the_word_task(task) || id_of(task).is_some();
    token
        .split_once('/')
        .is_some_and(|(spec, task)| SpecId::parse(spec).is_ok() && is_task(task))
}

/// Refuses ids behind a parenthesis: every reader of the format stops at the first one.
fn refuse_ids_after_parentheses(tail: &str, text: &str) -> Result<(), Problem> {
    let mut tokens = Tokens::new(tail);
    while let Some(token) = tokens.next() {
        if is_foreign(token) {
            let names_its_task_next = token.rsplit('/').next().is_some_and(is_the_word_task);
            if names_its_task_next {
                tokens.next();
            }
            continue;
        }
        if token.chars().any(char::is_numeric) && !is_citation(token.trim_end_matches('.')) {
            let what = format!(
                "holds {} after a parenthesis, where it would not be read",
                quoted(token)
            );
            return Err(problem(text, &what, "put every id before the first parenthesis"));
        }
    }
    Ok(())
}

/// Returns whether a text without ids says that there are none.
fn says_none(text: &str) -> bool {
    const NONE: [&str; 4] = ["none", "nothing", "n/a", "nil"];
    let first = Tokens::new(text).next().unwrap_or_default();
    let word = first.trim_matches(|character: char| !character.is_alphanumeric());
    NONE.iter().any(|none| word.eq_ignore_ascii_case(none)) || matches!(text.trim(), "-" | "–" | "—")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match read(text) {
            Ok(ids) => ids.iter().map(TaskId::as_str).collect::<Vec<_>>().join(" "),
            Err(problem) => format!("refused: {}", problem.message),
        }
    }

    #[test]
    fn the_forms_of_the_contract() {
        let cases = [
            ("none", ""),
            ("None", ""),
            ("NONE", ""),
            ("none.", ""),
            ("1, 2", "1 2"),
            ("1 2", "1 2"),
            ("Task 1.", "1"),
            ("Tasks 1, 2.5.", "1 2.5"),
            ("1; 2", "1 2"),
            ("1 (REQ-A1.8 / D-9; other 7)", "1"),
            ("1, D-9", "1"),
            ("1, 2 to start; also exercise 4, 5 as those land", "1 2 4 5"),
            ("Task 3; plus cross-spec (hard): other/Task 2", "3"),
            ("—", ""),
            ("-", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn more_that_is_read() {
        let cases = [
            ("  1,\n  2", "1 2"),
            ("1 and 2", "1 2"),
            ("1, 1", "1"),
            ("Task 1, Task 2 and Task 3", "1 2 3"),
            ("none (Task 1 helps)", ""),
            ("(none yet)", ""),
            ("`none`", ""),
            ("- 1\n- 2", "1 2"),
            ("\n- 1\n- Task 2", "1 2"),
            ("1,\n2. as well", "1 2"),
            ("1 - the floor", "1"),
            ("1,\u{a0}2", "1 2"),
            ("none, REQ-A1.2", ""),
            ("1 (a (b) c) as well", "1"),
            ("n/a", ""),
            ("1 and/or 2", "1 2"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn what_may_name_a_task_and_cannot_be_read_is_refused() {
        for text in [
            "",
            "see above",
            "all",
            "x",
            "Task six",
            "1 and task two",
            "Task A",
            "1-3",
            "1 to 3",
            "1 – Task 3",
            "1..3",
            "1.2.3",
            "#1",
            "`1`",
            "**1**",
            "[1]",
            "１",
            "1，2",
            "1, ②",
            "2x",
            "T1",
            "Task-1",
            "1 (first), 2 (second)",
            "1 (see 2",
            "1, other/Task 2",
            "specs/other/2",
            "1 <!-- 2 -->",
            "1, Task",
            "1\u{200b}2",
            "1+2",
            "1/2",
            "\n1. Task 2",
            "1 (a),\n2",
            "00000000000000000000000000000000001",
        ] {
            assert!(read(text).is_err(), "{text} {:?}", read(text));
        }
    }
}
