//! Bytes to lines: decoding, line ends, and the fence rule (`contract/core.md §0.2, §1.3`).

/// One line, without its end; exactly one carriage return before the line feed is part of the end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Counted from 1.
    pub(crate) number: u32,
    /// The offset of the line's first byte in [`Text::source`].
    pub(crate) start: usize,
    pub(crate) text: &'a str,
    /// The line is part of a fenced illustration, the fences themselves included.
    pub(crate) fenced: bool,
}

impl Line<'_> {
    /// Returns the offset of the first byte that is no blank.
    pub(crate) fn first_visible(&self) -> usize {
        self.start + self.text.len() - self.text.trim_start_matches([' ', '\t']).len()
    }
}

/// A decoded file.
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

/// Returns the decoded text; a byte order mark is no part of it.
pub(crate) fn read(bytes: &[u8]) -> Result<Text<'_>, Unreadable> {
    if let Some(offset) = bytes.iter().position(|byte| *byte == 0) {
        return Err(Unreadable {
            line: line_of(bytes, offset),
            what: "a NUL byte",
        });
    }
    let source = core::str::from_utf8(bytes).map_err(|error| Unreadable {
        line: line_of(bytes, error.valid_up_to()),
        what: "bytes that are not UTF-8",
    })?;
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let mut lines = Vec::new();
    let mut open_fence = None;
    let mut start = 0;
    for (index, whole) in source.split_inclusive('\n').enumerate() {
        let text = whole.strip_suffix('\n').unwrap_or(whole);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let number = line_number(index);
        let delimiter = is_fence(text.as_bytes());
        lines.push(Line {
            number,
            start,
            text,
            fenced: delimiter || open_fence.is_some(),
        });
        if delimiter {
            open_fence = if open_fence.is_some() { None } else { Some(number) };
        }
        start += whole.len();
    }
    Ok(Text {
        source,
        lines,
        open_fence,
    })
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
        let text = read("\u{feff}a\r\nb\r\r\n\nc".as_bytes()).expect("text");
        let lines: Vec<&str> = text.lines.iter().map(|line| line.text).collect();
        assert_eq!(lines, ["a", "b\r", "", "c"]);
        assert!(
            text.lines
                .iter()
                .all(|line| text.source[line.start..].starts_with(line.text))
        );
    }

    #[test]
    fn fences_toggle_in_column_0_only() {
        let text = read(b"a\n```x\nb\n````\nc\n ```\nd\n~~~\ne\n```\nf").expect("text");
        let fenced: Vec<bool> = text.lines.iter().map(|line| line.fenced).collect();
        assert_eq!(
            fenced,
            [false, true, true, true, false, false, false, false, false, true, true]
        );
        assert_eq!(text.open_fence, Some(10));
    }

    #[test]
    fn what_is_no_text_is_named_with_its_line() {
        assert_eq!(
            read(b"a\nb\0").expect_err("NUL"),
            Unreadable {
                line: 2,
                what: "a NUL byte"
            }
        );
        assert_eq!(
            read(b"a\n\n\xff").expect_err("bytes"),
            Unreadable {
                line: 3,
                what: "bytes that are not UTF-8"
            }
        );
    }
}
