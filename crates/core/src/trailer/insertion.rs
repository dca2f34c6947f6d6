//! Adding task trailers to a message, where git adds its own (`contract/core.md §14.4`).

use alloc::borrow::Cow;
use alloc::format;
use alloc::vec::Vec;

use super::{TaskTrailers, collect, last_paragraph, without_carriage_return};
use crate::identifier::{SpecId, TaskId};

/// Returns the message with a trailer for each of the tasks, in their order. One that the last paragraph names already is
/// left out.
///
/// They go to the end of the last paragraph where git takes that for trailers, and into a paragraph of their own
/// otherwise: before the comments and the scissors that an editor's template ends with, where git would cut them off. What
/// was there stays as it is, byte for byte. `comment` is what starts a comment, see [`COMMENT`](super::COMMENT).
#[must_use]
pub fn with_tasks<'a>(message: &'a [u8], comment: &[u8], tasks: &[(SpecId, TaskId)]) -> Cow<'a, [u8]> {
    let lines: Vec<&[u8]> = message
        .split(|byte| *byte == b'\n')
        .map(without_carriage_return)
        .collect();
    let block = last_paragraph(&lines, comment);
    let mut named = TaskTrailers::default();
    collect(&lines[block.clone()], &mut named);
    let mut missing: Vec<&(SpecId, TaskId)> = Vec::new();
    for task in tasks {
        if !named.tasks.contains(task) && !missing.contains(&task) {
            missing.push(task);
        }
    }
    if missing.is_empty() {
        return Cow::Borrowed(message);
    }
    let at = offset_of(message, block.end);
    let mut whole = message[..at].to_vec();
    if whole.last().is_some_and(|byte| *byte != b'\n') {
        whole.push(b'\n');
    }
    if block.is_empty() {
        whole.push(b'\n');
    }
    // As git signs off: a person types the subject into the first line, and a blank one has to follow it.
    if whole == b"\n" {
        whole.push(b'\n');
    }
    for (spec, task) in missing {
        whole.extend_from_slice(format!("Planwright-Task: {spec}/{task}\n").as_bytes());
    }
    whole.extend_from_slice(&message[at..]);
    Cow::Owned(whole)
}

/// Returns where the line of that index begins; the end of the message where there is none.
fn offset_of(message: &[u8], line: usize) -> usize {
    let Some(before) = line.checked_sub(1) else {
        return 0;
    };
    let mut ends = message.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    ends.nth(before).map_or(message.len(), |(end, _)| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trailer::{COMMENT, parse_reference, task_trailers};
    use proptest::prelude::*;

    fn references(names: &[&str]) -> Vec<(SpecId, TaskId)> {
        names
            .iter()
            .map(|name| parse_reference(name).expect("a reference"))
            .collect()
    }

    #[test]
    fn where_a_trailer_goes() {
        let cases: &[(&str, &[&str], &str)] = &[
            (
                "feat: x\n",
                &["b/1", "b/2.5"],
                "feat: x\n\nPlanwright-Task: b/1\nPlanwright-Task: b/2.5\n",
            ),
            ("feat: x", &["b/1"], "feat: x\n\nPlanwright-Task: b/1\n"),
            ("feat: x\n\n\n", &["b/1"], "feat: x\n\nPlanwright-Task: b/1\n\n\n"),
            (
                "feat: x\n\nPlanwright-Task: b/1\n",
                &["b/1"],
                "feat: x\n\nPlanwright-Task: b/1\n",
            ),
            (
                "feat: x\n\nplanwright-task:b/1",
                &["b/1"],
                "feat: x\n\nplanwright-task:b/1",
            ),
            (
                "feat: x\n\nPlanwright-Task: b/1",
                &["b/2", "b/1", "b/2"],
                "feat: x\n\nPlanwright-Task: b/1\nPlanwright-Task: b/2\n",
            ),
            (
                "feat: x\n\nSigned-off-by: a <a@b>\n\n# comment\n",
                &["b/1"],
                "feat: x\n\nSigned-off-by: a <a@b>\nPlanwright-Task: b/1\n\n# comment\n",
            ),
            (
                "feat: x\n\nwords\n# ------------------------ >8 ------------------------\ndiff\n",
                &["b/1"],
                "feat: x\n\nwords\n\nPlanwright-Task: b/1\n# ------------------------ >8 ------------------------\ndiff\n",
            ),
            // Not in the last paragraph: it says nothing there of a commit with two parents.
            (
                "feat: x\n\nPlanwright-Task: b/1\n\nwords\n",
                &["b/1"],
                "feat: x\n\nPlanwright-Task: b/1\n\nwords\n\nPlanwright-Task: b/1\n",
            ),
            (
                "Planwright-Task: b/1\n",
                &["b/1"],
                "Planwright-Task: b/1\n\nPlanwright-Task: b/1\n",
            ),
            ("", &["b/1"], "\n\nPlanwright-Task: b/1\n"),
            ("\n# comment\n", &["b/1"], "\n\nPlanwright-Task: b/1\n\n# comment\n"),
        ];
        for (message, tasks, expected) in cases {
            let found = with_tasks(message.as_bytes(), COMMENT, &references(tasks));
            assert_eq!(core::str::from_utf8(&found), Ok(*expected), "{message:?}");
        }
    }

    #[test]
    fn the_comments_are_those_of_the_repository() {
        let message = b"feat: x\n\n; ------------------------ >8 ------------------------\n";
        let found = with_tasks(message, b";", &references(&["b/1"]));
        assert!(
            found.starts_with(b"feat: x\n\nPlanwright-Task: b/1\n\n; --"),
            "{found:?}"
        );
        let found = with_tasks(b"feat: x\n\n// comment\n", b"//", &references(&["b/1"]));
        assert_eq!(found, &b"feat: x\n\nPlanwright-Task: b/1\n\n// comment\n"[..]);
        let found = with_tasks(b"feat: x\n\n# text\n", b";", &references(&["b/1"]));
        assert_eq!(found, &b"feat: x\n\n# text\n\nPlanwright-Task: b/1\n"[..]);
    }

    #[test]
    fn a_reference_has_one_slash_and_both_parts() {
        for bad in [
            "",
            "/",
            "b",
            "b/",
            "/1",
            "b/1/2",
            "b//1",
            "b/1-2",
            "be ta/1",
            "b/1\n",
            "b\n/1",
            "B/1",
            "../1",
            "b/1.",
            "b/١",
            &alloc::format!("{}/1", "x".repeat(65)),
            &alloc::format!("b/{}", "9".repeat(33)),
        ] {
            let refused = parse_reference(bad).expect_err(bad);
            assert!(!alloc::format!("{refused}").contains("be ta"), "never repeated");
        }
        assert!(parse_reference(&alloc::format!("{}/2.5", "x".repeat(64))).is_ok());
    }

    const PARTS: &[&[u8]] = &[
        b"\n",
        b"\r\n",
        b" ",
        b"#",
        b"word",
        b"Key: v\n",
        b"\xff",
        b"Planwright-Task: a/1\n",
        b"\nSigned-off-by: x\n",
        b"Conflicts:\n\tx\n",
        b"# ------------------------ >8 ------------------------\n",
    ];

    proptest! {
        /// Whatever the bytes: nothing is taken away, the tasks are read, and a second time changes nothing.
        #[test]
        fn what_was_there_stays(parts in proptest::collection::vec(proptest::sample::select(PARTS), 0..12)) {
            let message: Vec<u8> = parts.concat();
            let tasks = references(&["a/1", "b/2.5"]);
            let once = with_tasks(&message, COMMENT, &tasks).into_owned();
            let added = once.len() - message.len();
            let pure = (0..=message.len()).any(|at| once[..at] == message[..at] && once[at + added..] == message[at..]);
            prop_assert!(pure, "{:?} {:?}", message, once);
            let read = task_trailers(&once, false).tasks;
            prop_assert!(tasks.iter().all(|task| read.contains(task)), "{:?}", once);
            prop_assert_eq!(with_tasks(&once, COMMENT, &tasks).into_owned(), once);
        }
    }
}
