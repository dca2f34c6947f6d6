//! `Planwright-Task:` trailers in commit messages (architecture §7 row 2, `contract/core.md §4.5`).
//!
//! Where a line counts is git's own decision: the last paragraph by the rule of `git interpret-trailers`, and, in a
//! commit with a single parent, any paragraph made of nothing but trailers, because squash merges put them there.
//! Messages are bytes: nothing here assumes an encoding.

mod insertion;

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::identifier::{InvalidName, SpecId, TaskId, printable};

pub use insertion::with_tasks;

/// What starts a comment in a message, unless `core.commentChar` says otherwise.
pub const COMMENT: &[u8] = b"#";

/// The tasks that one commit message says it completes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskTrailers {
    /// The accepted values.
    pub tasks: BTreeSet<(SpecId, TaskId)>,
    /// Values of the right key that name no task, made printable.
    pub refused: Vec<String>,
}

/// Returns the task trailers of a commit message.
#[must_use]
pub fn task_trailers(message: &[u8], single_parent: bool) -> TaskTrailers {
    let lines: Vec<&[u8]> = message
        .split(|byte| *byte == b'\n')
        .map(without_carriage_return)
        .collect();
    let mut found = TaskTrailers::default();
    // Most messages complete nothing, and history is long.
    if !lines.iter().any(|line| task_value(line).is_some()) {
        return found;
    }
    let last = &lines[last_paragraph(&lines, COMMENT)];
    if single_parent {
        for paragraph in pure_paragraphs(&lines) {
            collect(paragraph, &mut found);
        }
    }
    // A last paragraph that is pure was collected above already.
    if !(single_parent && is_pure(last)) {
        collect(last, &mut found);
    }
    found
}

/// Returns the task that a trailer's value, or a person, names as `<spec>/<id>`.
///
/// # Errors
/// When the text is not a spec's name, one slash and a task's id.
pub fn parse_reference(text: &str) -> Result<(SpecId, TaskId), InvalidName> {
    let named = || {
        let (spec, task) = text.split_once('/')?;
        Some((SpecId::parse(spec).ok()?, TaskId::parse(task).ok()?))
    };
    named().ok_or(InvalidName {
        kind: "task reference",
        expected: "a spec's name, '/' and a task's id",
    })
}

fn without_carriage_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn collect(paragraph: &[&[u8]], found: &mut TaskTrailers) {
    for (index, line) in paragraph.iter().enumerate() {
        if let Some(value) = task_value(line) {
            let value = folded_value(value, &paragraph[index + 1..]);
            match referenced(&value) {
                Some(task) => {
                    found.tasks.insert(task);
                }
                None => found.refused.push(printable(&String::from_utf8_lossy(&value))),
            }
        }
    }
}

/// Returns the value with the lines that continue it, each joined by one blank.
fn folded_value(first: &[u8], following: &[&[u8]]) -> Vec<u8> {
    let mut value = first.to_vec();
    for line in following.iter().take_while(|line| starts_blank(line)) {
        value.push(b' ');
        value.extend_from_slice(line.trim_ascii());
    }
    value.trim_ascii().to_vec()
}

/// Returns what stands after the colon of a `Planwright-Task:` line at column 0; the key's case does not matter.
fn task_value(line: &[u8]) -> Option<&[u8]> {
    const KEY: &[u8] = b"planwright-task";
    let (key, rest) = line.split_at_checked(KEY.len())?;
    let value = rest.trim_ascii_start().strip_prefix(b":")?;
    key.eq_ignore_ascii_case(KEY).then(|| value.trim_ascii())
}

fn referenced(value: &[u8]) -> Option<(SpecId, TaskId)> {
    parse_reference(core::str::from_utf8(value).ok()?).ok()
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

fn starts_blank(line: &[u8]) -> bool {
    line.first().is_some_and(u8::is_ascii_whitespace)
}

/// Returns whether git takes the line for a trailer: a token of letters, digits and hyphens, then a colon.
fn is_trailer(line: &[u8]) -> bool {
    let Some(colon) = line.iter().position(|byte| *byte == b':') else {
        return false;
    };
    let token = line[..colon].trim_ascii_end();
    !token.is_empty() && token.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
}

/// Lines that git writes itself; one of them lets a mixed last paragraph count.
fn is_generated(line: &[u8]) -> bool {
    line.starts_with(b"Signed-off-by: ") || line.starts_with(b"(cherry picked from commit ")
}

/// Returns the index of the first line after the title paragraph, which never holds trailers.
fn end_of_title(lines: &[&[u8]], comment: &[u8]) -> usize {
    lines
        .iter()
        .position(|line| !line.starts_with(comment) && is_blank(line))
        .unwrap_or(lines.len())
}

/// Returns where the message ends for git: before the scissors of a verbose commit, and before the comments, blank
/// lines and list of conflicts that an editor's template left at the bottom.
fn end_of_message(lines: &[&[u8]], comment: &[u8]) -> usize {
    const SCISSORS: &[u8] = b" ------------------------ >8 ------------------------";
    let is_cut = |line: &&[u8]| line.strip_prefix(comment) == Some(SCISSORS);
    let cut = lines.iter().position(is_cut).unwrap_or(lines.len());
    let (mut end, mut in_conflicts) = (0, false);
    for (index, line) in lines[..cut].iter().enumerate() {
        in_conflicts |= *line == b"Conflicts:";
        if is_blank(line) || line.starts_with(comment) || (in_conflicts && is_conflict(line)) {
            continue;
        }
        in_conflicts = false;
        end = index + 1;
    }
    end
}

fn is_conflict(line: &[u8]) -> bool {
    line == b"Conflicts:" || line.starts_with(b"\t")
}

/// Returns the lines of the trailer block at the end of the message; where git sees none it is empty, and is where one
/// would begin.
fn last_paragraph(lines: &[&[u8]], comment: &[u8]) -> Range<usize> {
    let title = end_of_title(lines, comment);
    let end = end_of_message(lines, comment);
    if end <= title {
        return end..end;
    }
    let start = lines[..end]
        .iter()
        .rposition(|line| is_blank(line))
        .map_or(0, |blank| blank + 1);
    if start > title && is_trailer_block(&lines[start..end], comment) {
        start..end
    } else {
        end..end
    }
}

/// Git's rule for the last paragraph: all trailers, or a quarter of it trailers and one of them git's own.
fn is_trailer_block(paragraph: &[&[u8]], comment: &[u8]) -> bool {
    let (mut trailers, mut others, mut continuations, mut generated) = (0_usize, 0_usize, 0_usize, false);
    for line in paragraph.iter().rev() {
        if line.starts_with(comment) {
            others += continuations;
            continuations = 0;
        } else if is_generated(line) || (is_trailer(line) && !starts_blank(line)) {
            generated |= is_generated(line);
            trailers += 1;
            continuations = 0;
        } else if starts_blank(line) {
            continuations += 1;
        } else {
            others += 1 + continuations;
            continuations = 0;
        }
    }
    others += continuations;
    (generated && trailers * 3 >= others) || (trailers > 0 && others == 0)
}

/// Returns whether every line is a trailer or the continuation of one.
fn is_pure(paragraph: &[&[u8]]) -> bool {
    paragraph.first().is_some_and(|line| !starts_blank(line))
        && paragraph
            .iter()
            .all(|line| is_generated(line) || is_trailer(line) || starts_blank(line))
}

/// Returns the paragraphs after the title that are pure and not inside a closed code fence.
fn pure_paragraphs<'a, 'b>(lines: &'a [&'b [u8]]) -> Vec<&'a [&'b [u8]]> {
    let fenced = fenced_lines(lines);
    let mut paragraphs = Vec::new();
    let mut start = end_of_title(lines, COMMENT);
    while start < lines.len() {
        let end = lines[start..]
            .iter()
            .position(|line| is_blank(line))
            .map_or(lines.len(), |offset| start + offset);
        let paragraph = &lines[start..end];
        if is_pure(paragraph) && !fenced[start..end].contains(&true) {
            paragraphs.push(paragraph);
        }
        start = end + 1;
    }
    paragraphs
}

/// Returns for each line whether it stands in a closed code fence. A fence left open hides nothing: a slip in the
/// body must not make a landed unit look undone.
fn fenced_lines(lines: &[&[u8]]) -> Vec<bool> {
    let mut fenced = alloc::vec![false; lines.len()];
    let mut open: Option<(usize, u8)> = None;
    for (index, line) in lines.iter().enumerate() {
        let text = line.trim_ascii_start();
        let Some(mark) = [b'`', b'~']
            .into_iter()
            .find(|mark| text.starts_with(&[*mark, *mark, *mark]))
        else {
            continue;
        };
        match open {
            None => open = Some((index, mark)),
            Some((start, opened)) if opened == mark => {
                fenced[start..=index].fill(true);
                open = None;
            }
            Some(_) => {}
        }
    }
    fenced
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;

    fn tasks(message: &str, single_parent: bool) -> Vec<String> {
        task_trailers(message.as_bytes(), single_parent)
            .tasks
            .iter()
            .map(|(spec, task)| format!("{spec}/{task}"))
            .collect()
    }

    /// Verifies REQ-C1.2.
    #[test]
    fn where_a_trailer_counts() {
        let mixed = "feat: x\n\nbody\n\nsome prose\nPlanwright-Task: a/1\nSigned-off-by: x <x@y>\n";
        let squash = "feat: x (#3)\n\n* feat: one\n\nPlanwright-Task: a/1\n\n* feat: two\n\nwords\n";
        let cases: &[(&str, bool, &[&str])] = &[
            ("feat: x\n\nPlanwright-Task: a/1\n", true, &["a/1"]),
            ("feat: x\n\nPlanwright-Task: a/1\n", false, &["a/1"]),
            ("feat: x\r\n\r\nplanwright-task:a/1\r\n", true, &["a/1"]),
            (
                "feat: x\n\nPlanwright-Task: a/1\nPlanwright-Task: a/2.5\n\n\n",
                true,
                &["a/1", "a/2.5"],
            ),
            ("Planwright-Task: a/1\n", true, &[]),
            ("feat: x\nPlanwright-Task: a/1\n", true, &[]),
            ("feat: x\n\nwords\nPlanwright-Task: a/1\n", true, &[]),
            (mixed, true, &["a/1"]),
            (squash, true, &["a/1"]),
            (squash, false, &[]),
            ("feat: x\n\n```\n\nPlanwright-Task: a/1\n\n```\n\nend\n", true, &[]),
            ("feat: x\n\n```\nopen\n\nPlanwright-Task: a/1\n", true, &["a/1"]),
            ("feat: x\n\n> Planwright-Task: a/1\n", true, &[]),
            ("feat: x\n\n    Planwright-Task: a/1\n", true, &[]),
            ("feat: x\n\nKey: v\n Planwright-Task: a/1\n", true, &[]),
            ("feat: x\n\nPlanwright-Task: a/1\n\nThis reverts nothing.\n", false, &[]),
            ("feat: x\n\nPlanwright-Task: a/1\n\n# a comment\n", false, &["a/1"]),
            ("\nPlanwright-Task: a/1\n\n# a comment\n", false, &["a/1"]),
            (
                "feat: x\n\nPlanwright-Task: a/1\n\nConflicts:\n\tsrc/x\n",
                false,
                &["a/1"],
            ),
            ("feat: x\n\nPlanwright-Task: a/1\n\nConflicts:\nsrc/x\n", false, &[]),
            (
                "feat: x\n\nPlanwright-Task: a/1\n# ------------------------ >8 ------------------------\ndiff\n",
                false,
                &["a/1"],
            ),
            ("feat: x\n\nPlanwright-Task:\n a/1\n", false, &["a/1"]),
            ("feat: x\n\nPlanwright-Task: a/1\n and more\n", false, &[]),
        ];
        for (message, single_parent, expected) in cases {
            assert_eq!(&tasks(message, *single_parent), expected, "{message:?}");
        }
    }

    #[test]
    fn values_that_name_no_task_are_refused_by_name() {
        let found = task_trailers(b"x\n\nPlanwright-Task: Beta/1\nPlanwright-Task: beta/3.x\nPlanwright-Task: \x1b[2J\nPlanwright-Task: beta/../1\n", true);
        assert!(found.tasks.is_empty());
        assert_eq!(
            found.refused,
            ["Beta/1", "beta/3.x", "[2J", "beta/../1"].map(ToString::to_string)
        );
    }
}
