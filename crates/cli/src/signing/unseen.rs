//! Changes that a person cannot see when lines are shown: line ends, blanks, invisible characters, the order of parts.
//!
//! A signature covers bytes, so each of them is named, by file and line.

use std::collections::BTreeSet;

use orchestrate_core::identifier::is_printable;
use orchestrate_core::words::count;
use orchestrate_spec::outline::Change;
use orchestrate_spec::{BundleFile, BundleTexts};
use similar::{ChangeTag, TextDiff};

/// So many line numbers are named one by one.
const NAMED: usize = 12;

/// Returns what changed in the files without being seen in a line, one note each: `design.md: line ends of 16 lines …`.
pub(crate) fn notes(before: &BundleTexts, after: &BundleTexts, changes: &[Change]) -> Vec<String> {
    let pairs = before.files().into_iter().zip(after.files());
    let noted = pairs.flat_map(|((file, before), (_, after))| {
        let is_shown = changes.iter().any(|change| change.file == file);
        of_file(file, before, after, is_shown)
    });
    noted.collect()
}

/// Returns in what two lines differ that look the same; nothing when they look different, or are the same.
pub(crate) fn reason(before: &str, after: &str) -> Option<String> {
    if before == after || visible(before) != visible(after) {
        return None;
    }
    let (before, after) = (Line::of(before), Line::of(after));
    let mut kinds = Vec::new();
    if before.end != after.end {
        kinds.push("line ends".to_owned());
    }
    if before.blanks != after.blanks {
        kinds.push("blanks at the end".to_owned());
    }
    if before.core != after.core {
        let names = names(before.core.chars().chain(after.core.chars()));
        kinds.push(format!("invisible characters: {names}"));
    }
    Some(kinds.join(", "))
}

/// A line in three pieces.
struct Line<'text> {
    core: &'text str,
    blanks: &'text str,
    end: &'text str,
}

impl<'text> Line<'text> {
    fn of(line: &'text str) -> Self {
        let (body, end) = line.split_at(line.trim_end_matches(['\n', '\r']).len());
        let (core, blanks) = body.split_at(body.trim_end().len());
        Self { core, blanks, end }
    }
}

/// Returns the line as an eye takes it: every blank is a blank, and what has no width is not there.
fn visible(line: &str) -> String {
    let spread = line.replace('\t', "    ");
    let seen = spread.chars().filter(|character| !has_no_width(*character));
    let seen: String = seen
        .map(|character| if character.is_whitespace() { ' ' } else { character })
        .collect();
    seen.trim_end().to_owned()
}

/// Returns whether a character is not shown, or shown with no width.
fn has_no_width(character: char) -> bool {
    let is_ignorable = matches!(
        character,
        '\u{ad}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2064}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    );
    is_ignorable || (!is_printable(character) && !character.is_whitespace())
}

/// Returns whether a character is one that an eye does not tell from nothing, or from a blank.
fn is_deceptive(character: char) -> bool {
    has_no_width(character) || (character.is_whitespace() && !matches!(character, ' ' | '\n' | '\r'))
}

/// Returns the deceptive characters by their code points, each once.
fn names(characters: impl Iterator<Item = char>) -> String {
    let points: BTreeSet<u32> = characters
        .filter(|character| is_deceptive(*character))
        .map(u32::from)
        .collect();
    let names: Vec<String> = points.into_iter().map(|point| format!("U+{point:04X}")).collect();
    names.join(", ")
}

/// What was found in a file, by the numbers of its lines now.
#[derive(Default)]
struct Found {
    ends: Vec<usize>,
    blanks: Vec<usize>,
    characters: Vec<(usize, String)>,
    blank_lines: Vec<usize>,
    gone_blank_lines: usize,
    moved: Vec<usize>,
    has_lost: bool,
}

fn of_file(file: BundleFile, before: &[u8], after: &[u8], is_shown: bool) -> Vec<String> {
    if before == after {
        return Vec::new();
    }
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let (old, new): (Vec<&str>, Vec<&str>) = (lines(&before), lines(&after));
    let (seen_old, seen_new): (Vec<String>, Vec<String>) = (
        old.iter().map(|line| visible(line)).collect(),
        new.iter().map(|line| visible(line)).collect(),
    );
    let (seen_old, seen_new): (Vec<&str>, Vec<&str>) = (
        seen_old.iter().map(String::as_str).collect(),
        seen_new.iter().map(String::as_str).collect(),
    );
    let mut found = Found::default();
    for change in TextDiff::from_slices(&seen_old, &seen_new).iter_all_changes() {
        let earlier = change.old_index().and_then(|index| old.get(index)).copied();
        let later = change.new_index().and_then(|index| new.get(index)).copied();
        let number = change.new_index().map_or(0, |index| index + 1);
        match change.tag() {
            ChangeTag::Equal => found.compare(earlier.unwrap_or_default(), later.unwrap_or_default(), number),
            ChangeTag::Insert => found.came(later.unwrap_or_default(), number),
            ChangeTag::Delete => found.went(earlier.unwrap_or_default()),
        }
    }
    let (blank_before, blank_after) = (blank_end(&old), blank_end(&new));
    let end = (blank_before != blank_after)
        .then(|| format!("blank lines at the end ({blank_after} now, {blank_before} before)"));
    let told = found.told(is_shown, new.len().saturating_sub(blank_after));
    let mut told: Vec<String> = end.into_iter().chain(told).collect();
    let differs = |line: &&&str| !line.starts_with("**Status:**");
    if told.is_empty() && !is_shown && !old.iter().filter(differs).eq(new.iter().filter(differs)) {
        told.push("bytes that lines do not show".to_owned());
    }
    told.into_iter().map(|what| format!("{file}: {what}")).collect()
}

/// Returns the lines with their ends.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn blank_end(lines: &[&str]) -> usize {
    lines.iter().rev().take_while(|line| line.trim().is_empty()).count()
}

impl Found {
    fn compare(&mut self, before: &str, after: &str, number: usize) {
        let (earlier, later) = (Line::of(before), Line::of(after));
        if earlier.end != later.end {
            self.ends.push(number);
        }
        if earlier.blanks != later.blanks {
            self.blanks.push(number);
        }
        if earlier.core != later.core {
            let characters = earlier.core.chars().chain(later.core.chars());
            self.characters.push((number, names(characters)));
        }
    }

    fn came(&mut self, line: &str, number: usize) {
        let core = Line::of(line).core;
        if core.is_empty() {
            self.blank_lines.push(number);
        } else if !core.starts_with("**Status:**") {
            self.moved.push(number);
        }
        if core.chars().any(has_no_width) {
            self.characters.push((number, names(core.chars())));
        }
    }

    fn went(&mut self, line: &str) {
        let core = Line::of(line).core;
        if core.is_empty() {
            self.gone_blank_lines += 1;
        } else if !core.starts_with("**Status:**") {
            self.has_lost = true;
        }
    }

    /// Returns the notes. Blank lines and the order of lines are told where no part of the file is shown; `last` is the
    /// last line that is not blank.
    fn told(self, is_shown: bool, last: usize) -> Vec<String> {
        let mut told = Vec::new();
        if !self.ends.is_empty() {
            told.push(format!("line ends of {}", numbered(&self.ends)));
        }
        if !self.blanks.is_empty() {
            told.push(format!("blanks at the end of {}", numbered(&self.blanks)));
        }
        for (number, names) in self.characters {
            told.push(format!("invisible characters: {names} in line {number}"));
        }
        if is_shown {
            return told;
        }
        let inner: Vec<usize> = self.blank_lines.into_iter().filter(|number| *number <= last).collect();
        if !inner.is_empty() {
            told.push(format!("blank lines that came: {}", numbered(&inner)));
        } else if self.gone_blank_lines > 0 && told.is_empty() {
            told.push(format!("blank lines that went: {}", self.gone_blank_lines));
        }
        if !self.moved.is_empty() && self.has_lost {
            told.push(format!("another order of its parts: {}", numbered(&self.moved)));
        }
        told
    }
}

/// Names lines: `2 lines (7, 9)`.
fn numbered(numbers: &[usize]) -> String {
    let named: Vec<String> = numbers.iter().take(NAMED).map(usize::to_string).collect();
    let more = if numbers.len() > NAMED { ", …" } else { "" };
    format!("{} ({}{more})", count(numbers.len(), "line"), named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(before: &str, after: &str) -> Vec<String> {
        of_file(BundleFile::Design, before.as_bytes(), after.as_bytes(), false)
    }

    #[test]
    fn each_kind_is_named_with_its_lines() {
        for (before, after, note) in [
            ("a\nb\n", "a\r\nb\r\n", "line ends of 2 lines (1, 2)"),
            ("a\nb\n", "a\nb", "line ends of 1 line (2)"),
            ("a\n", "a\n\n\n", "blank lines at the end (2 now, 0 before)"),
            ("a\n\n", "a\n", "blank lines at the end (0 now, 1 before)"),
            ("a\nb\nc\n", "a  \nb\nc\t\n", "blanks at the end of 2 lines (1, 3)"),
            ("a\nbb\n", "a\nb\u{202e}b\n", "invisible characters: U+202E in line 2"),
            ("b c\n", "b\u{a0}c\n", "invisible characters: U+00A0 in line 1"),
            ("a\nb\n", "a\n\nb\n", "blank lines that came: 1 line (2)"),
            ("a\n\nb\n", "a\nb\n", "blank lines that went: 1"),
            ("a\nb\n", "b\na\n", "another order of its parts: 1 line (1)"),
        ] {
            let told = noted(before, after);
            assert_eq!(
                told.first(),
                Some(&format!("design.md: {note}")),
                "{before:?} {after:?} {told:?}"
            );
        }
        assert_eq!(
            noted("a\n**Status:** Draft\n", "a\n**Status:** Ready\n"),
            Vec::<String>::new()
        );
        assert_eq!(noted("a\n", "a\n"), Vec::<String>::new());
    }

    #[test]
    fn two_lines_that_look_the_same_are_told_apart() {
        assert_eq!(reason("a\n", "a  \n").as_deref(), Some("blanks at the end"));
        assert_eq!(reason("a\n", "a\r\n").as_deref(), Some("line ends"));
        assert_eq!(
            reason("ab", "a\u{200b}b").as_deref(),
            Some("invisible characters: U+200B")
        );
        assert_eq!(reason("a", "b"), None);
        assert_eq!(reason("a", "a"), None);
    }
}
