//! Bytes to lines: decoding, line ends, and the fence rule (`contract/core.md §0.2, §1.3`).

use core::ops::Range;

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// The line, counted from 1.
    pub line: u32,
    /// The part: in characters of the line, counted from 1, the end excluded.
    pub columns: Range<u32>,
}

impl Span {
    /// Returns the span of a line's bytes, which begin and end between characters.
    pub(crate) fn of(line: u32, text: &str, bytes: Range<usize>) -> Self {
        let column = |offset: usize| {
            let before = text.get(..offset).unwrap_or(text).chars().count();
            line_number(before)
        };
        let start = column(bytes.start);
        Self {
            line,
            columns: start..column(bytes.end).max(start),
        }
    }
}

/// One line, without its end; exactly one carriage return before the line feed is part of the end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Counted from 1.
    pub(crate) number: u32,
    /// The offset of the line's first byte in [`Document::source`].
    pub(crate) start: usize,
    pub(crate) text: &'a str,
    /// The line is part of a fenced illustration, the fences themselves included.
    pub(crate) fenced: bool,
}

impl Line<'_> {
    /// Returns the offset in the source of the first byte that is no blank.
    pub(crate) fn first_visible(&self) -> usize {
        self.start + self.indentation()
    }

    /// Returns how many blanks the line begins with.
    pub(crate) fn indentation(&self) -> usize {
        self.text.len() - self.text.trim_start_matches([' ', '\t']).len()
    }

    /// Returns the span of a part of the line, in bytes of its text.
    pub(crate) fn span(&self, bytes: Range<usize>) -> Span {
        Span::of(self.number, self.text, bytes)
    }

    /// Returns the span of the line without the blanks around it.
    pub(crate) fn visible(&self) -> Span {
        let end = self.text.trim_end().len();
        self.span(self.indentation().min(end)..end)
    }

    /// Returns the span of a part of the line's text that was sliced out of it and reaches to its end, without the
    /// blanks around it.
    pub(crate) fn tail(&self, part: &str) -> Span {
        let start = self.text.len() - part.trim_start().len();
        self.span(start..start + part.trim().len())
    }
}

/// A decoded file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Document<'a> {
    pub(crate) source: &'a str,
    /// The line of a fence that no other fence closes.
    pub(crate) open_fence: Option<u32>,
    /// Fences are lines like others.
    ignores_fences: bool,
}

impl<'a> Document<'a> {
    /// Returns the text of a decoded file.
    pub(crate) fn new(source: &'a str) -> Self {
        let mut text = Self {
            source,
            open_fence: None,
            ignores_fences: false,
        };
        let mut open = None;
        for line in text.lines().filter(|line| is_fence(line.text.as_bytes())) {
            open = if open.is_some() { None } else { Some(line.number) };
        }
        text.open_fence = open;
        text
    }

    /// Returns the same text, with fences as lines like others.
    pub(crate) fn ignoring_fences(self) -> Self {
        Self {
            ignores_fences: true,
            ..self
        }
    }

    /// Returns the lines. They are not kept: a file of nothing but line ends would take forty times its size.
    pub(crate) fn lines(&self) -> Lines<'a> {
        Lines {
            rest: self.source,
            start: 0,
            number: 0,
            in_fence: false,
            ignores_fences: self.ignores_fences,
        }
    }
}

/// The lines of a text.
#[derive(Debug, Clone)]
pub(crate) struct Lines<'a> {
    rest: &'a str,
    start: usize,
    number: u32,
    in_fence: bool,
    ignores_fences: bool,
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.find('\n').map_or(self.rest.len(), |feed| feed + 1);
        let (whole, rest) = self.rest.split_at(end);
        let text = whole.strip_suffix('\n').unwrap_or(whole);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let delimiter = !self.ignores_fences && is_fence(text.as_bytes());
        self.number = self.number.saturating_add(1);
        let line = Line {
            number: self.number,
            start: self.start,
            text,
            fenced: delimiter || self.in_fence,
        };
        self.in_fence ^= delimiter;
        self.start += whole.len();
        self.rest = rest;
        Some(line)
    }
}

/// A decoded file of which all lines are kept: a small one.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    pub(crate) source: &'a str,
    pub(crate) lines: Vec<Line<'a>>,
    /// The line of a fence that no other fence closes.
    pub(crate) open_fence: Option<u32>,
}

/// Why bytes are no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable {
    pub(crate) line: u32,
    pub(crate) what: &'static str,
}

/// Returns the decoded text with its lines; a byte order mark is no part of it.
pub(crate) fn read(bytes: &[u8]) -> Result<Text<'_>, Unreadable> {
    match decode(bytes) {
        Decoded::Text(source) => {
            let document = Document::new(source);
            Ok(Text {
                source,
                lines: document.lines().collect(),
                open_fence: document.open_fence,
            })
        }
        Decoded::Mended(_, line) => Err(Unreadable {
            line,
            what: "bytes that are not UTF-8",
        }),
        Decoded::Nul(line) => Err(Unreadable {
            line,
            what: "a NUL byte",
        }),
    }
}

/// What bytes are as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decoded<'a> {
    /// Text, without a byte order mark.
    Text(&'a str),
    /// Text with a replacement for each byte that is none; the first of them is on that line.
    Mended(String, u32),
    /// A NUL byte on that line: nothing behind it can be trusted to be seen by every reader.
    Nul(u32),
}

/// Decodes a file.
pub(crate) fn decode(bytes: &[u8]) -> Decoded<'_> {
    if let Some(offset) = bytes.iter().position(|byte| *byte == 0) {
        return Decoded::Nul(line_of(bytes, offset));
    }
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    match core::str::from_utf8(bytes) {
        Ok(text) => Decoded::Text(text),
        Err(error) => {
            let line = line_of(bytes, error.valid_up_to());
            Decoded::Mended(String::from_utf8_lossy(bytes).into_owned(), line)
        }
    }
}

/// Returns a count as a line number; files of four thousand million lines share the last one.
pub(crate) fn line_number(index: usize) -> u32 {
    u32::try_from(index.saturating_add(1)).unwrap_or(u32::MAX)
}

/// Returns the line that holds the offset.
fn line_of(bytes: &[u8], offset: usize) -> u32 {
    line_number(bytes[..offset].iter().filter(|byte| **byte == b'\n').count())
}

/// Returns the lines of the bytes, each without its line feed.
pub(crate) fn byte_lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\n").unwrap_or(line))
}

/// Returns the line without one carriage return at its end.
pub(crate) fn without_carriage_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Returns whether a line opens or closes an illustration: three backticks in column 0, whatever follows.
pub(crate) fn is_fence(line: &[u8]) -> bool {
    line.starts_with(b"```")
}

/// Returns whether a line continues the field above it: blanks, then something.
pub(crate) fn is_continuation(line: &str) -> bool {
    line.starts_with([' ', '\t']) && !is_blank(line)
}

pub(crate) fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| byte == b' ' || byte == b'\t')
}

/// Returns the text of a line with at most the indentation of a bullet's continuation removed.
pub(crate) fn dedented(line: &str) -> &str {
    line.strip_prefix("  ").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_in_lf_or_crlf() {
        let text = Document::new("a\r\nb\r\r\n\nc");
        let lines: Vec<&str> = text.lines().map(|line| line.text).collect();
        assert_eq!(lines, ["a", "b\r", "", "c"]);
        assert!(
            text.lines()
                .all(|line| text.source[line.start..].starts_with(line.text))
        );
    }

    #[test]
    fn fences_toggle_in_column_0_only() {
        let text = Document::new("a\n```x\nb\n````\nc\n ```\nd\n~~~\ne\n```\nf");
        let fenced: Vec<bool> = text.lines().map(|line| line.fenced).collect();
        assert_eq!(
            fenced,
            [false, true, true, true, false, false, false, false, false, true, true]
        );
        assert_eq!(text.open_fence, Some(10));
        assert!(text.ignoring_fences().lines().all(|line| !line.fenced));
    }

    #[test]
    fn what_is_no_text_is_named_with_its_line() {
        assert_eq!(decode(b"a\nb\0"), Decoded::Nul(2));
        assert_eq!(decode(b"a\n\n\xffb"), Decoded::Mended("a\n\n\u{fffd}b".to_owned(), 3));
        assert_eq!(decode("\u{feff}a".as_bytes()), Decoded::Text("a"));
    }

    #[test]
    fn spans_count_characters() {
        let line = Document::new("  — éa b").lines().next().expect("a line");
        let span = line.visible();
        assert_eq!((span.line, span.columns), (1, 3..9));
        assert_eq!(line.tail("a b").columns, 6..9);
        assert_eq!(line.span(2..5).columns, 3..4);
    }
}
