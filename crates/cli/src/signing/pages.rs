//! Text on a terminal: lines that fit, and pages that fit.

use orchestrate_core::identifier::printable;

/// The widest a text is set: eyes lose a longer line.
const WIDEST: usize = 100;
/// A narrower terminal than this has to break lines itself.
const NARROWEST: usize = 40;
/// What a page leaves of the screen: its title, a blank line and the prompt.
const AROUND: usize = 4;
/// A page has at least so many lines, however low the screen is.
const SHORTEST: usize = 8;

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    /// Columns.
    pub(crate) columns: usize,
    /// Rows.
    pub(crate) rows: usize,
}

impl Size {
    /// The size of a terminal that does not tell it.
    pub(crate) const DEFAULT: Self = Self { columns: 80, rows: 24 };

    /// Returns how wide text is set.
    pub(crate) fn width(self) -> usize {
        self.columns.clamp(NARROWEST, WIDEST)
    }

    /// Returns how many lines a page has.
    pub(crate) fn page(self) -> usize {
        self.rows.saturating_sub(AROUND).max(SHORTEST)
    }
}

/// Returns the lines of a text as they are shown: free of control characters, broken between words where they are too
/// wide, with the indentation of the line they belong to.
pub(crate) fn lines(text: &str, width: usize) -> Vec<String> {
    text.lines().flat_map(|line| broken(line, width)).collect()
}

fn broken(line: &str, width: usize) -> Vec<String> {
    let line = line.replace('\t', "    ");
    if line.trim().is_empty() {
        return vec![String::new()];
    }
    let line = printable(&line);
    let content = line.trim_start();
    let indent = line.len() - content.len();
    let marker = if content.starts_with("- ") || content.starts_with("+ ") {
        2
    } else {
        0
    };
    let hanging = " ".repeat((indent + marker).min(width / 2));
    let options = textwrap::Options::new(width)
        .subsequent_indent(&hanging)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(&line, options)
        .into_iter()
        .map(std::borrow::Cow::into_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_below_their_bullet() {
        assert_eq!(
            lines("- one two three four five six seven eight\n\n\u{1b}[2Jx\n", 20),
            ["- one two three four", "  five six seven", "  eight", "", "[2Jx"]
        );
    }

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(lines("漢字 漢字 漢字", 9), ["漢字 漢字", "漢字"]);
    }

    #[test]
    fn a_terminal_of_any_size_gets_pages() {
        let size = |columns, rows| Size { columns, rows };
        assert_eq!((size(0, 0).width(), size(0, 0).page()), (40, 8));
        assert_eq!((size(80, 24).width(), size(80, 24).page()), (80, 20));
        assert_eq!((size(500, 100).width(), size(500, 100).page()), (100, 96));
    }
}
