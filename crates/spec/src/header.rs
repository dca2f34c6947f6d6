//! The header block at the top of a file (`contract/core.md §1.2`).
//!
//! Works on bytes, because the anchor hashes files that may not be text.

use crate::text::{byte_lines, line_number, without_carriage_return};

/// What one line is to the header block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeaderLine<'a> {
    Blank,
    Title(&'a [u8]),
    /// A key in bold. Keys with blanks belong to the block, but nobody can look them up.
    Key {
        key: &'a [u8],
        value: &'a [u8],
    },
    /// The first line after the block.
    Body,
}

/// Returns what the line is; it may still have its carriage return.
pub(crate) fn classify(line: &[u8]) -> HeaderLine<'_> {
    let line = without_carriage_return(line);
    if line.iter().all(|byte| is_blank(*byte)) {
        return HeaderLine::Blank;
    }
    if let Some(title) = line.strip_prefix(b"# ") {
        return HeaderLine::Title(title);
    }
    match key_and_value(line) {
        Some((key, value)) => HeaderLine::Key { key, value },
        None => HeaderLine::Body,
    }
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Splits `**Key:** value`: the key has no star and is not empty.
fn key_and_value(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = line.strip_prefix(b"**")?;
    let star = rest.iter().position(|byte| *byte == b'*')?;
    let key = rest[..star].strip_suffix(b":").filter(|key| !key.is_empty())?;
    let value = rest[star..].strip_prefix(b"**")?;
    let start = value.iter().position(|byte| !is_blank(*byte)).unwrap_or(value.len());
    let end = value
        .iter()
        .rposition(|byte| !is_blank(*byte) && *byte != b'\r')
        .map_or(start, |last| last + 1);
    Some((key, &value[start..end.max(start)]))
}

/// One key of a header block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) line: u32,
}

/// A file's header block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Header {
    pub(crate) title: Option<String>,
    pub(crate) entries: Vec<Entry>,
    /// How many lines the block has, so that the body starts at that index.
    pub(crate) line_count: usize,
}

/// What looking up a load-bearing key gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lookup<'a> {
    Missing,
    One(&'a Entry),
    /// Declared again on that line: no declaration counts.
    Duplicate(u32),
}

impl Header {
    pub(crate) fn load_bearing(&self, key: &str) -> Lookup<'_> {
        let mut declarations = self.entries.iter().filter(|entry| entry.key == key);
        match (declarations.next(), declarations.next()) {
            (None, _) => Lookup::Missing,
            (Some(entry), None) => Lookup::One(entry),
            (Some(_), Some(second)) => Lookup::Duplicate(second.line),
        }
    }
}

/// Returns the header block of the bytes.
pub(crate) fn parse(bytes: &[u8]) -> Header {
    let mut header = Header::default();
    for (index, line) in byte_lines(bytes).enumerate() {
        match classify(line) {
            HeaderLine::Blank => {}
            HeaderLine::Title(title) => {
                header
                    .title
                    .get_or_insert_with(|| String::from_utf8_lossy(title).trim().to_owned());
            }
            HeaderLine::Key { key, value } => header.entries.push(Entry {
                key: String::from_utf8_lossy(key).into_owned(),
                value: visible(value),
                line: line_number(index),
            }),
            HeaderLine::Body => break,
        }
        header.line_count = index + 1;
    }
    header
}

/// Returns a header value as it is compared: printable ASCII only, without blanks at its end (`contract/core.md §2.2`).
pub(crate) fn visible(value: &[u8]) -> String {
    let kept: String = value
        .iter()
        .filter(|byte| matches!(byte, 0x20..=0x7e))
        .map(|byte| char::from(*byte))
        .collect();
    kept.trim_end_matches([' ', '\t']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_ends_before_its_first_other_line() {
        let header = parse(
            b"# T\n\n**Status:**   Ready  \r\n**Last reviewed:** 2026-01-01\n\n## Tasks\n**Format-version:** 2\n",
        );
        assert_eq!(header.title.as_deref(), Some("T"));
        assert_eq!(header.line_count, 5);
        let Lookup::One(status) = header.load_bearing("Status") else {
            panic!("one status")
        };
        assert_eq!((status.value.as_str(), status.line), ("Ready", 3));
        assert_eq!(header.load_bearing("Format-version"), Lookup::Missing);
    }

    #[test]
    fn a_second_declaration_is_a_duplicate() {
        let header = parse(b"**Status:** Ready\n**Status:** Draft\nx");
        assert_eq!(header.load_bearing("Status"), Lookup::Duplicate(2));
    }

    #[test]
    fn lines_that_are_no_keys() {
        for line in [
            "<!-- x -->",
            "```",
            "**:** x",
            "**a*b:** x",
            "**a** : x",
            " **Status:** Ready",
            "**Status:",
            "- **Status:** x",
        ] {
            assert_eq!(classify(line.as_bytes()), HeaderLine::Body, "{line}");
        }
        assert_eq!(classify(b"**a:**"), HeaderLine::Key { key: b"a", value: b"" });
        assert_eq!(classify(b"\t \r"), HeaderLine::Blank);
    }
}
