//! The text of a `Dependencies` field to task ids (`contract/core.md §1.9`, the newer tokenizer).
//!
//! Prose around the ids is read over; whatever might name a task and is no id is refused, so that no dependency is lost.

use core::ops::Range;
use std::collections::BTreeSet;

use orchestrate_core::identifier::{SpecId, TaskId};

use crate::citation::is_citation;
use crate::diagnostic::quoted;

/// A task that a dependency text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) id: TaskId,
    /// Where in the text.
    pub(crate) at: Range<usize>,
}

/// Why a dependency text cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) message: String,
    pub(crate) help: &'static str,
    /// Where in the text.
    pub(crate) at: Range<usize>,
}

const WRITE_IDS: &str = "write task ids separated by commas, such as `1, 2.5`, or `none`";

/// Returns the first line of a field, where the reference's engine finds a word in it that is no task id: it reads no
/// other line, and knows no words but `none`.
pub(crate) fn malformed_for_the_engine(text: &str) -> Option<String> {
    let line = text.lines().next().unwrap_or_default().replace('\t', " ");
    let is_known = |word: &str| {
        let word = word.trim_end_matches('.');
        word.is_empty() || matches!(word, "none" | "None" | "NONE") || TaskId::parse(word).is_ok()
    };
    let all_known = line.split([',', ' ']).all(is_known);
    (!all_known).then(|| line.trim().to_owned())
}

/// Returns the tasks that the text of the whole field names, in the order written, each once.
pub(crate) fn read(text: &str) -> Result<Vec<Named>, Problem> {
    let whole = 0..text.len();
    if let Some(start) = text.find("<!--") {
        let at = start..start + "<!--".len();
        return Err(problem(
            text,
            at,
            "hides part of its text in a comment",
            "delete the comment",
        ));
    }
    let unmarked = without_bullets(text)?;
    let parts = split_at_parentheses(text, &unmarked)?;
    let mut named: Vec<Named> = Vec::new();
    let mut seen: BTreeSet<TaskId> = BTreeSet::new();
    let mut head = Tokens::new(parts.head);
    while let Some((start, token)) = head.next() {
        let at = start..start + token.len();
        if let Some(id) = id_of(token) {
            refuse_range(&id, &at, head.clone(), text)?;
            if seen.insert(id.clone()) {
                let end = start + id.as_str().len();
                named.push(Named { id, at: start..end });
            }
        } else {
            refuse_unread(token, at, head.clone(), text)?;
        }
    }
    refuse_ids_after_parentheses(&parts.tail, text)?;
    if named.is_empty() && !says_none(&unmarked) {
        return Err(problem(text, whole, "names no task and does not say `none`", WRITE_IDS));
    }
    Ok(named)
}

fn problem(text: &str, at: Range<usize>, what: &str, help: &'static str) -> Problem {
    let shown = if text.trim().is_empty() {
        "the empty dependency text".to_owned()
    } else {
        quoted(text)
    };
    Problem {
        message: format!("{shown} {what}"),
        help,
        at,
    }
}

/// Returns the text with blanks in place of the markers of a list in it; a numbered list would read as ids.
fn without_bullets(text: &str) -> Result<String, Problem> {
    let mut unmarked = String::with_capacity(text.len());
    for whole in text.split_inclusive('\n') {
        let start = unmarked.len();
        let line = whole.trim_start();
        let indentation = whole.len() - line.len();
        let number = line.split_once(". ").map(|(number, _)| number.trim_start_matches('0'));
        if start > 0 && number == Some("1") {
            let at = start + indentation..start + whole.trim_end().len();
            return Err(problem(
                text,
                at,
                "holds a numbered list, whose numbers look like ids",
                WRITE_IDS,
            ));
        }
        let is_item = ["- ", "* ", "+ "].into_iter().any(|marker| line.starts_with(marker));
        if is_item {
            unmarked.push_str(&whole[..indentation]);
            unmarked.push(' ');
            unmarked.push_str(&line[1..]);
        } else {
            unmarked.push_str(whole);
        }
    }
    Ok(unmarked)
}

/// The text before the first parenthesis, and what stands outside of parentheses after it.
struct Parts<'a> {
    head: &'a str,
    /// As long as the whole text, with blanks for what is not part of it.
    tail: String,
}

fn split_at_parentheses<'a>(text: &str, unmarked: &'a str) -> Result<Parts<'a>, Problem> {
    let Some(first) = unmarked.find('(') else {
        return Ok(Parts {
            head: unmarked,
            tail: String::new(),
        });
    };
    let mut depth = 0_u32;
    let mut opened = first;
    let mut tail = " ".repeat(first);
    for (offset, character) in unmarked[first..].char_indices() {
        match character {
            '(' => {
                if depth == 0 {
                    opened = first + offset;
                }
                depth += 1;
            }
            ')' if depth > 0 => depth -= 1,
            outside if depth == 0 => {
                tail.push(outside);
                continue;
            }
            _inside => {}
        }
        tail.extend(core::iter::repeat_n(' ', character.len_utf8()));
    }
    if depth > 0 {
        return Err(problem(
            text,
            opened..opened + 1,
            "has a parenthesis that is never closed",
            "close it; text in parentheses is not read",
        ));
    }
    Ok(Parts {
        head: &unmarked[..first],
        tail,
    })
}

/// The words of a text, each with its offset; commas and semicolons separate as blanks do.
#[derive(Clone)]
struct Tokens<'a> {
    rest: &'a str,
    offset: usize,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text, offset: 0 }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<(usize, &'a str)> {
        let separates = |character: char| character.is_whitespace() || matches!(character, ',' | ';');
        let start = self.rest.trim_start_matches(separates);
        let offset = self.offset + self.rest.len() - start.len();
        let end = start.find(separates).unwrap_or(start.len());
        let (token, rest) = start.split_at(end);
        self.rest = rest;
        self.offset = offset + end;
        if token.is_empty() { None } else { Some((offset, token)) }
    }
}

fn id_of(token: &str) -> Option<TaskId> {
    TaskId::parse(token.trim_end_matches('.')).ok()
}

/// Refuses `1 to 3`, which would be read as two tasks.
fn refuse_range(first: &TaskId, at: &Range<usize>, mut after: Tokens<'_>, text: &str) -> Result<(), Problem> {
    const UNTIL: [&str; 10] = ["to", "through", "thru", "until", "-", "–", "—", "…", "..", "..."];
    let says_until = after
        .next()
        .is_some_and(|(_, word)| UNTIL.iter().any(|until| word.eq_ignore_ascii_case(until)));
    if !says_until {
        return Ok(());
    }
    let last = after
        .find(|(_, word)| !is_the_word_task(word))
        .filter(|(_, word)| id_of(word).is_some());
    let Some((start, word)) = last else {
        return Ok(());
    };
    let what = format!("gives a range from task {first}");
    Err(problem(
        text,
        at.start..start + word.len(),
        &what,
        "list every id: `1, 2, 3`",
    ))
}

fn is_the_word_task(word: &str) -> bool {
    word.eq_ignore_ascii_case("task") || word.eq_ignore_ascii_case("tasks")
}

/// Refuses a word that may name a task but is no id.
fn refuse_unread(token: &str, at: Range<usize>, mut after: Tokens<'_>, text: &str) -> Result<(), Problem> {
    const SPELLED: [&str; 12] = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    ];
    if is_citation(token.trim_end_matches('.')) {
        return Ok(());
    }
    if token.chars().any(char::is_numeric) {
        let what = format!("holds {}, which is not a task id", quoted(token));
        return Err(problem(text, at, &what, WRITE_IDS));
    }
    if is_foreign(token) {
        let what = format!("names another bundle's task before any parenthesis ({})", quoted(token));
        return Err(problem(
            text,
            at,
            &what,
            "put what is about other bundles in parentheses",
        ));
    }
    if is_the_word_task(token) {
        let next = after.next().map(|(_, word)| word);
        let is_spelled = next.is_some_and(|word| {
            SPELLED
                .iter()
                .any(|number| word.trim_end_matches('.').eq_ignore_ascii_case(number))
        });
        if is_spelled || (token.starts_with('T') && next.and_then(id_of).is_none()) {
            let what = format!("has no task id after {}", quoted(token));
            return Err(problem(text, at, &what, WRITE_IDS));
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
    while let Some((start, token)) = tokens.next() {
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
            let at = start..start + token.len();
            return Err(problem(text, at, &what, "put every id before the first parenthesis"));
        }
    }
    Ok(())
}

/// Returns whether a text without ids says that there are none.
fn says_none(text: &str) -> bool {
    const NONE: [&str; 4] = ["none", "nothing", "n/a", "nil"];
    let first = Tokens::new(text).next().map_or("", |(_, word)| word);
    let word = first.trim_matches(|character: char| !character.is_alphanumeric());
    NONE.iter().any(|none| word.eq_ignore_ascii_case(none)) || matches!(text.trim(), "-" | "–" | "—")
}

#[cfg(test)]
mod tests;
