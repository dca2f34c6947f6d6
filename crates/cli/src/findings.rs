//! How findings about a bundle are shown: the place, what is wrong, the line with the part that offends, what helps.
//!
//! Every command that shows findings shows them through here.

use std::ops::Range;

use anstyle::{AnsiColor, Style};
use orchestrate_core::finding::BundleFinding;
use orchestrate_core::identifier::{is_printable, printable};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthChar;

/// So many columns of a line are shown.
const WIDTH: usize = 100;
/// So many of them may stand before the part that offends.
const BEFORE: usize = 40;
/// A command that only met the findings shows so many.
const FEW: usize = 20;

/// Whether styles are put into the text. They never carry meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    /// Plain text.
    Plain,
    /// With terminal styles.
    Styled,
}

impl Paint {
    fn put(self, style: Style, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Styled => format!("{style}{text}{style:#}"),
        }
    }
}

/// Returns one finding about a file of a bundle in that directory, each line with its end.
pub(crate) fn render(directory: &str, finding: &BundleFinding, paint: Paint) -> String {
    let place = match finding.line {
        Some(line) => format!("{directory}/{}:{line}", finding.file),
        None => format!("{directory}/{}", finding.file),
    };
    // The format's own messages may begin with the file's name, which stands in the place already.
    let prefix = format!("{}: ", finding.file);
    let message = finding.message.strip_prefix(&prefix).unwrap_or(&finding.message);
    let mut text = first_line(finding.is_error, &place, message, paint);
    if let (Some(line), Some(excerpt)) = (finding.line, &finding.excerpt) {
        text.push_str(&excerpt_lines(line, excerpt, finding.columns.as_ref(), paint));
    }
    if let Some(help) = &finding.help {
        text.push_str(&format!("hint: {}\n", printable(help)));
    }
    text
}

/// Returns what is said of something that stands where a bundle belongs and is none.
pub(crate) fn render_refusal(place: &str, why: &str, help: &str, paint: Paint) -> String {
    format!("{}hint: {}\n", first_line(true, place, why, paint), printable(help))
}

fn first_line(is_error: bool, place: &str, message: &str, paint: Paint) -> String {
    let severity = if is_error {
        paint.put(AnsiColor::Red.on_default().bold(), "error")
    } else {
        paint.put(AnsiColor::Yellow.on_default().bold(), "warning")
    };
    format!("{severity}: {}: {}\n", printable(place), printable(message))
}

/// Returns the first findings of many, and how many are left.
pub(crate) fn render_few(directory: &str, findings: &[BundleFinding], paint: Paint) -> String {
    let mut text: String = findings
        .iter()
        .take(FEW)
        .map(|finding| render(directory, finding, paint))
        .collect();
    if let Some(hidden) = findings.len().checked_sub(FEW).filter(|hidden| *hidden > 0) {
        text.push_str(&format!("… and {hidden} more\n"));
    }
    text
}

/// Returns a finding as a value for machines.
pub(crate) fn as_json(directory: &str, finding: &BundleFinding) -> Value {
    let columns = finding
        .columns
        .as_ref()
        .map(|columns| json!([columns.start, columns.end]));
    json!({
        "severity": if finding.is_error { "error" } else { "warning" }, "code": finding.code,
        "path": format!("{directory}/{}", finding.file), "file": finding.file.name(), "line": finding.line,
        "columns": columns, "message": finding.message, "excerpt": finding.excerpt, "help": finding.help,
    })
}

/// The line under its number, and below it the mark.
fn excerpt_lines(number: u32, excerpt: &str, columns: Option<&Range<u32>>, paint: Paint) -> String {
    let number = number.to_string();
    let margin = " ".repeat(number.len());
    let cells: Vec<Cell> = excerpt.chars().map(Cell::of).collect();
    let offending = columns.and_then(|columns| positions(columns, cells.len()));
    let window = window(&cells, offending.as_ref());
    let lead = if window.start > 0 { "…" } else { "" };
    let tail = if window.end < cells.len() { "…" } else { "" };
    let shown: String = cells
        .iter()
        .take(window.end)
        .skip(window.start)
        .map(|cell| cell.shown)
        .collect();
    let line = format!("{lead}{shown}{tail}");
    let bar = paint.put(AnsiColor::Blue.on_default().bold(), "|");
    let mut text = format!("   {number} {bar} {}\n", line.trim_end());
    if let Some(offending) = offending {
        let width = |range: Range<usize>| -> usize {
            cells
                .iter()
                .take(range.end)
                .skip(range.start)
                .map(|cell| cell.width)
                .sum()
        };
        let end = offending.end.min(window.end);
        let blanks = " ".repeat(width(window.start..offending.start) + lead.chars().count());
        let carets = "^".repeat(width(offending.start..end).max(1));
        let carets = paint.put(AnsiColor::Red.on_default().bold(), &carets);
        text.push_str(&format!("   {margin} {bar} {blanks}{carets}\n"));
    }
    text
}

/// One character of a line as it is shown: a tab is a blank, and what could drive a terminal is a mark.
#[derive(Debug, Clone, Copy)]
struct Cell {
    shown: char,
    width: usize,
}

impl Cell {
    fn of(character: char) -> Self {
        let shown = match character {
            '\t' => ' ',
            character if is_printable(character) => character,
            _ => '\u{fffd}',
        };
        Self {
            shown,
            width: shown.width().unwrap_or(1),
        }
    }
}

/// Returns the offending characters counted from 0; the mark may stand behind the last one, where something is missing.
fn positions(columns: &Range<u32>, length: usize) -> Option<Range<usize>> {
    let start = usize::try_from(columns.start).ok()?.checked_sub(1)?;
    let end = usize::try_from(columns.end).ok()?.checked_sub(1)?;
    (start <= length).then(|| start..end.clamp(start, length))
}

/// Returns the part of the line that is shown.
fn window(cells: &[Cell], offending: Option<&Range<usize>>) -> Range<usize> {
    let fits = |start: usize| {
        let mut width = 0;
        let count = cells
            .iter()
            .skip(start)
            .take_while(|cell| {
                width += cell.width;
                width <= WIDTH
            })
            .count();
        start + count
    };
    let whole = fits(0);
    let wanted = offending.map_or(0, |offending| offending.start);
    if wanted < whole {
        return 0..whole;
    }
    let start = wanted.saturating_sub(BEFORE);
    start..fits(start)
}

#[cfg(test)]
mod tests {
    use orchestrate_core::place::BundleFile;

    use super::*;

    fn finding(excerpt: &str, columns: Option<Range<u32>>) -> BundleFinding {
        BundleFinding {
            file: BundleFile::Tasks,
            line: Some(41),
            columns,
            excerpt: Some(excerpt.to_owned()),
            is_error: true,
            code: "task-heading",
            message: "it is no task heading".to_owned(),
            help: Some("write it so".to_owned()),
        }
    }

    fn shown(excerpt: &str, columns: Option<Range<u32>>) -> String {
        render("specs/a", &finding(excerpt, columns), Paint::Plain)
    }

    #[test]
    fn the_mark_stands_below_what_offends() {
        assert_eq!(
            shown("### Task 3: retries", Some(11..12)),
            "error: specs/a/tasks.md:41: it is no task heading\n   \
             41 | ### Task 3: retries\n      |           ^\nhint: write it so\n"
        );
        let marks = |text: &str, columns: Range<u32>| {
            let shown = shown(text, Some(columns));
            shown.lines().nth(2).map(str::to_owned).unwrap_or_default()
        };
        assert_eq!(marks("abc", 1..4), "      | ^^^");
        assert_eq!(marks("abc", 4..4), "      |    ^", "where something is missing");
        assert_eq!(
            marks("日本語x", 4..5),
            "      |       ^",
            "wide characters take two columns"
        );
        assert_eq!(marks("a\tb", 3..4), "      |   ^");
        assert_eq!(
            shown("abc", Some(9..10)).lines().count(),
            3,
            "no mark outside of the line"
        );
        assert_eq!(shown("abc", None).lines().count(), 3);
    }

    #[test]
    fn a_file_is_named_once() {
        let mut finding = finding("", None);
        finding.message = "tasks.md: could not read it".to_owned();
        finding.line = None;
        finding.help = None;
        let text = render("specs/a", &finding, Paint::Plain);
        assert_eq!(text, "error: specs/a/tasks.md: could not read it\n");
    }

    #[test]
    fn a_long_line_shows_the_part_that_offends() {
        let line = format!("{}HERE{}", "a".repeat(500), "b".repeat(500));
        let text = shown(&line, Some(501..505));
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[1].contains("…aaa") && lines[1].contains("HEREbbb") && lines[1].ends_with('…'),
            "{text}"
        );
        assert_eq!(
            lines[1].find("HERE").map(|at| at - "…".len() + 1),
            lines[2].find("^^^^"),
            "{text}"
        );
        assert!(lines.iter().all(|line| line.chars().count() < WIDTH + 12), "{text}");
    }

    #[test]
    fn nothing_in_a_finding_drives_a_terminal() {
        let mut hostile = finding("a\u{1b}[31m\u{202e}b\u{7}c", Some(9..10));
        hostile.message = "b\u{1b}[2J".to_owned();
        hostile.help = Some("c\u{9b}2J".to_owned());
        let text = render("specs/\u{1b}x", &hostile, Paint::Plain);
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{9b}', '\u{7}']), "{text:?}");
        assert!(text.contains("a\u{fffd}[31m\u{fffd}b\u{fffd}c"), "{text}");
    }

    #[test]
    fn styles_are_put_around_words_only() {
        let plain = shown("abc", Some(1..2));
        let styled = render("specs/a", &finding("abc", Some(1..2)), Paint::Styled);
        assert!(styled.contains("\u{1b}["), "{styled:?}");
        assert_eq!(anstream::adapter::strip_str(&styled).to_string(), plain);
    }

    #[test]
    fn many_findings_are_counted() {
        let findings = vec![finding("x", None); FEW + 3];
        let text = render_few("specs/a", &findings, Paint::Plain);
        assert!(text.ends_with("… and 3 more\n"), "{text}");
        assert_eq!(text.matches("error: ").count(), FEW);
    }
}
