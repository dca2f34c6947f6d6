//! A bundle in parts that a person can read one after the other, and what differs between two states of it.
//!
//! The parts of a file are all of its text, in order, without the status line: what a signature covers is never left
//! out. Headings in fences are text. Owns no state.

use std::collections::BTreeMap;

use crate::anchor::blob_hash;
use crate::header::{HeaderLine, classify};
use crate::park::PLACEHOLDER;
use crate::text::is_fence;
use crate::{BundleFile, BundleTexts};

/// One part of a file: what is above its first heading, or a heading and what follows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The file.
    pub file: BundleFile,
    /// The heading's text; empty for what is above the first one.
    pub title: String,
    /// The line of its first line, counted from 1.
    pub line: u32,
    /// Its lines as they stand, the heading included, without the status line and without blank lines at its end.
    pub text: String,
    /// It is nothing but a heading, header keys, a placeholder and blank lines.
    pub bare: bool,
    /// By what it is the same part in another state of the file: its id where it has one, else its heading.
    identity: String,
}

impl Part {
    /// Returns a hash of its file and text: it changes when, and only when, one of them does.
    #[must_use]
    pub fn key(&self) -> String {
        text_key(self.file.name(), &self.text)
    }
}

/// Returns a hash of a named text.
#[must_use]
pub fn text_key(name: &str, text: &str) -> String {
    blob_hash(format!("{name}\n{text}").as_bytes())
}

/// Returns the parts of the four files, in canonical order. Bytes that are no text are shown by a replacement character.
#[must_use]
pub fn outline(texts: &BundleTexts) -> Vec<Part> {
    texts
        .files()
        .into_iter()
        .flat_map(|(file, bytes)| parts(file, bytes))
        .collect()
}

/// The deepest heading that starts a part: decisions and tasks are parts of their own.
const fn deepest(file: BundleFile) -> usize {
    match file {
        BundleFile::Design | BundleFile::Tasks => 3,
        BundleFile::Requirements | BundleFile::TestSpec | BundleFile::KickoffBrief => 2,
    }
}

fn parts(file: BundleFile, bytes: &[u8]) -> Vec<Part> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut parts = vec![empty(file, "", 1)];
    let (mut fenced, mut in_header) = (false, true);
    for (index, line) in text.lines().enumerate() {
        let number = crate::text::line_number(index);
        let kind = classify(line.as_bytes());
        in_header = in_header && kind != HeaderLine::Body;
        let is_status = matches!(kind, HeaderLine::Key { key: b"Status", .. });
        if in_header && is_status {
            continue;
        }
        let delimiter = is_fence(line.as_bytes());
        let heading = heading(line, deepest(file)).filter(|_| !fenced && !delimiter);
        fenced ^= delimiter;
        if let Some(title) = heading {
            parts.push(empty(file, title, number));
        }
        if let Some(part) = parts.last_mut() {
            part.bare &= heading.is_some() || in_header || line.trim().is_empty() || line.trim() == PLACEHOLDER;
            part.text.push_str(line);
            part.text.push('\n');
        }
    }
    finished(parts)
}

fn empty(file: BundleFile, title: &str, line: u32) -> Part {
    Part {
        file,
        title: title.to_owned(),
        line,
        text: String::new(),
        bare: true,
        identity: identity(title),
    }
}

/// Drops a part without any text, and numbers those that have the same identity.
fn finished(parts: Vec<Part>) -> Vec<Part> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut kept = Vec::new();
    for mut part in parts {
        part.text.truncate(without_blank_end(&part.text).len());
        if part.text.is_empty() {
            continue;
        }
        let count = seen.entry(part.identity.clone()).or_default();
        *count += 1;
        if *count > 1 {
            part.identity = format!("{} ({count})", part.identity);
        }
        kept.push(part);
    }
    kept
}

/// Returns the text without the blank lines at its end. Blanks at the end of its last line stay: a line is the same
/// whether another one follows it or not.
fn without_blank_end(text: &str) -> &str {
    let mut kept = text;
    while let Some((above, last)) = kept.rsplit_once('\n') {
        if !last.trim().is_empty() {
            return kept;
        }
        kept = above;
    }
    if kept.trim().is_empty() { "" } else { kept }
}

/// Returns the text of a heading that starts a part.
fn heading(line: &str, deepest: usize) -> Option<&str> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line.get(level..)?.strip_prefix(' ')?;
    (2..=deepest).contains(&level).then(|| title.trim())
}

/// Returns the id with which a heading starts, so that a part keeps its identity when its title changes.
fn identity(title: &str) -> String {
    let mut words = title.split(|character: char| character.is_whitespace() || character == ':');
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if first == "Task" {
        format!("{first} {second}")
    } else if first.starts_with("D-") || first.starts_with("REQ-") {
        first.to_owned()
    } else {
        title.to_owned()
    }
}

/// One part that is not the same in two states of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub file: BundleFile,
    /// Its heading now, or before where it is gone.
    pub title: String,
    /// Its text before; nothing where it is new.
    pub before: Option<String>,
    /// Its text now; nothing where it is gone.
    pub after: Option<String>,
}

/// Returns what differs, by file; in each file the parts of now in their order, then those that are gone. Parts that
/// only stand elsewhere in their file do not differ.
#[must_use]
pub fn changes(before: &BundleTexts, after: &BundleTexts) -> Vec<Change> {
    let (before, after) = (outline(before), outline(after));
    let find = |parts: &[Part], wanted: &Part| {
        parts
            .iter()
            .find(|part| part.file == wanted.file && part.identity == wanted.identity)
            .map(|part| part.text.clone())
    };
    let mut changes = Vec::new();
    for file in BundleFile::AUTHORED {
        for part in after.iter().filter(|part| part.file == file) {
            let earlier = find(&before, part);
            if earlier.as_ref() != Some(&part.text) {
                changes.push(Change {
                    file,
                    title: part.title.clone(),
                    before: earlier,
                    after: Some(part.text.clone()),
                });
            }
        }
        for part in before.iter().filter(|part| part.file == file) {
            if find(&after, part).is_none() {
                changes.push(Change {
                    file,
                    title: part.title.clone(),
                    before: Some(part.text.clone()),
                    after: None,
                });
            }
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::new_bundle;

    fn texts() -> BundleTexts {
        new_bundle("Alpha", "2026-11-30").expect("a bundle")
    }

    fn titles(parts: &[Part], file: BundleFile) -> Vec<&str> {
        parts
            .iter()
            .filter(|part| part.file == file)
            .map(|part| part.title.as_str())
            .collect()
    }

    #[test]
    fn every_line_but_the_status_is_in_one_part() {
        let texts = texts();
        let parts = outline(&texts);
        for (file, bytes) in texts.files() {
            let shown: Vec<&str> = parts
                .iter()
                .filter(|part| part.file == file)
                .flat_map(|part| part.text.lines())
                .filter(|line| !line.is_empty())
                .collect();
            let text = String::from_utf8(bytes.to_vec()).expect("text");
            let expected: Vec<&str> = text
                .lines()
                .filter(|line| !line.is_empty() && *line != "**Status:** Draft")
                .collect();
            assert_eq!(shown, expected);
        }
        assert_eq!(
            titles(&parts, BundleFile::Requirements),
            ["", "Goal", "Scope", "REQ-A — The first theme", "Changelog", "Sources"]
        );
        assert_eq!(
            titles(&parts, BundleFile::Design),
            [
                "",
                "Decision log",
                "D-1: A short name for the first decision (drafting, 2026-11-30)",
                "Cross-cutting concerns"
            ]
        );
        let bare: Vec<&str> = parts
            .iter()
            .filter(|part| part.bare)
            .map(|part| part.title.as_str())
            .collect();
        assert_eq!(
            bare,
            [
                "",
                "",
                "Decision log",
                "Tasks",
                "Awaiting input",
                "Deferred",
                "Out of scope"
            ]
        );
    }

    #[test]
    fn headings_in_fences_and_statuses_in_the_body_are_text() {
        let text = "# T\n\n**Status:** Draft\n\n## A\n```\n## B\n```\n**Status:** x\n#### C\n##D\n";
        let parts = parts(BundleFile::Requirements, text.as_bytes());
        let shown: Vec<_> = parts.iter().map(|part| (part.line, part.text.as_str())).collect();
        assert_eq!(
            shown,
            [(1, "# T"), (5, "## A\n```\n## B\n```\n**Status:** x\n#### C\n##D")]
        );
    }

    #[test]
    fn a_key_follows_the_text_and_not_the_status() {
        let keys = |texts: &BundleTexts| outline(texts).iter().map(Part::key).collect::<Vec<_>>();
        let before = texts();
        let mut after = before.clone();
        after.design = String::from_utf8(after.design)
            .expect("text")
            .replace("**Status:** Draft", "**Status:** Ready")
            .into_bytes();
        assert_eq!(keys(&before), keys(&after));
        after.design.extend(b"\nmore\n");
        let differing = keys(&before)
            .iter()
            .zip(&keys(&after))
            .filter(|(left, right)| left != right)
            .count();
        assert_eq!(differing, 1);
    }

    #[test]
    fn what_differs_is_told_by_part() {
        let before = texts();
        let mut after = before.clone();
        let tasks = String::from_utf8(before.tasks.clone()).expect("text");
        after.tasks = tasks
            .replace("### Task 2 — what builds on it", "### Task 2 — what follows")
            .replace(
                "### Task 1 — the smallest part that stands on its own",
                "### Task 3 — new",
            )
            .into_bytes();
        let shown: Vec<_> = changes(&before, &after)
            .into_iter()
            .map(|change| (change.title, change.before.is_some(), change.after.is_some()))
            .collect();
        assert_eq!(
            shown,
            [
                ("Task 3 — new".to_owned(), false, true),
                ("Task 2 — what follows".to_owned(), true, true),
                (
                    "Task 1 — the smallest part that stands on its own".to_owned(),
                    true,
                    false
                ),
            ]
        );
        assert_eq!(changes(&before, &before), []);
    }

    #[test]
    fn a_last_line_is_the_same_whatever_follows_it() {
        let text = |text: &str| {
            parts(BundleFile::Requirements, text.as_bytes())
                .pop()
                .map(|part| part.text)
        };
        assert_eq!(text("## A\nx  \n\n \t\n").as_deref(), Some("## A\nx  "));
        assert_eq!(text("## A\nx  \ny\n").as_deref(), Some("## A\nx  \ny"));
        assert_eq!(text("## A\nx").as_deref(), Some("## A\nx"));
        assert_eq!(text(" \n\n"), None);
    }

    #[test]
    fn two_parts_of_one_name_are_two() {
        let text = "## A\nx\n## A\ny\n";
        let parts = parts(BundleFile::Requirements, text.as_bytes());
        assert_eq!(parts.len(), 2);
        assert_ne!(parts[0].identity, parts[1].identity);
    }

    #[test]
    fn bytes_that_are_no_text_give_parts_all_the_same() {
        assert_eq!(parts(BundleFile::Design, b"## A\xff\nx").len(), 1);
        assert_eq!(parts(BundleFile::Design, b"").len(), 0);
    }
}
