//! The line rules of a configuration file (`contract/core.md §12.2`). YAML has no say here: what it would read
//! differently (`a#b`, a quoted `#`, a second `key:`) is read as the contract says.
//!
//! A file is read in two ways. [`malformed`] is the reference's test of a whole file, which the plumbing and the
//! repository's file follow. [`read`] charges a bad line to the key it stands under, and to nothing else.

use std::collections::BTreeMap;

/// One `key: value` line: the first of its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) value: String,
    /// The 1-based line; 0 for a value that no file holds.
    pub(crate) line: usize,
    /// Whether a `#` ended the value.
    pub(crate) cut: Cut,
    /// What keeps the value from being used.
    pub(crate) broken: Option<Malformed>,
}

/// Whether a `#` ended a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// There is none.
    No,
    /// After a blank, as comments are written.
    Comment,
    /// In the middle of a word: what follows is lost all the same.
    Glued,
}

/// A line that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// The 1-based line.
    pub(crate) line: usize,
    pub(crate) reason: &'static str,
}

/// A line that changes nothing, though somebody wrote it to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stray {
    /// It belongs to no key.
    Line(Malformed),
    /// Its key was set before, by an earlier line.
    Again { line: usize, key: String, first: usize },
    /// What stands before its colon can be no key.
    Name { line: usize, name: String },
}

/// What a file says, line by line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Reading {
    pub(crate) entries: Vec<Entry>,
    pub(crate) strays: Vec<Stray>,
}

const LIST_ITEM: &str = "a list item; lists are written inline, as `key: [a, b]`";
const INDENTED: &str = "an indented line; every key starts its line, and its value ends with it";
const NO_COLON: &str = "a line without a colon; every line is `key: value`";
const NUL: &str = "a value with a NUL byte";
const NOT_TEXT: &str = "a value that is not UTF-8 text";

/// Returns the first line that makes the file malformed for the reference.
pub(crate) fn malformed(bytes: &[u8]) -> Option<Malformed> {
    lines(bytes).find_map(|(line, text)| match shape_of(text) {
        Shape::Bad(reason) | Shape::Continuation(reason) | Shape::Item(reason) => Some(Malformed { line, reason }),
        Shape::Pair if text.contains(&0) => Some(Malformed { line, reason: NUL }),
        Shape::Nothing | Shape::Pair => None,
    })
}

/// Returns what a file says, each bad line charged to the key that it stands under.
pub(crate) fn read(bytes: &[u8]) -> Reading {
    let mut reading = Reading::default();
    let mut first_lines = FirstLines::new();
    let mut owner = Owner::Nobody;
    for (line, text) in lines(bytes) {
        let (reason, is_item) = match shape_of(text) {
            Shape::Nothing => continue,
            Shape::Pair => {
                owner = take_pair(&mut reading, &mut first_lines, line, text);
                continue;
            }
            Shape::Bad(reason) => {
                owner = Owner::Nobody;
                (reason, false)
            }
            Shape::Continuation(reason) => (reason, false),
            Shape::Item(reason) => (reason, true),
        };
        let malformed = Malformed { line, reason };
        let entry = match owner {
            Owner::Ignored => continue,
            Owner::Nobody => None,
            Owner::Entry(index) => reading.entries.get_mut(index),
        };
        match entry {
            // An item at the margin continues a key without a value, as YAML has it, and nothing else.
            Some(entry) if !is_item || entry.value.is_empty() => {
                entry.broken.get_or_insert(malformed);
            }
            Some(_) | None => reading.strays.push(Stray::Line(malformed)),
        }
    }
    reading
}

/// Returns the entries of a file that is taken as it is, as the core's is and as the reference reads a value.
pub(crate) fn read_unchecked(bytes: &[u8]) -> Vec<Entry> {
    let mut reading = Reading::default();
    let mut first_lines = FirstLines::new();
    for (line, text) in lines(bytes) {
        if shape_of(text) == Shape::Pair {
            let _ = take_pair(&mut reading, &mut first_lines, line, text);
        }
    }
    for entry in &mut reading.entries {
        entry.broken = None;
    }
    reading.entries
}

/// Whose value a line that starts no key would go on with.
#[derive(Debug, Clone, Copy)]
enum Owner {
    /// No key's.
    Nobody,
    /// That entry's.
    Entry(usize),
    /// A line's that counts for nothing itself.
    Ignored,
}

/// The line of the first entry of each key so far.
type FirstLines<'a> = BTreeMap<&'a [u8], usize>;

fn take_pair<'a>(reading: &mut Reading, first_lines: &mut FirstLines<'a>, line: usize, text: &'a [u8]) -> Owner {
    let Some((name, raw)) = split_pair(text) else {
        return Owner::Nobody;
    };
    let name_text = String::from_utf8_lossy(name).into_owned();
    if !is_key_name(name) {
        reading.strays.push(Stray::Name { line, name: name_text });
        return Owner::Ignored;
    }
    if let Some(first) = first_lines.get(name) {
        reading.strays.push(Stray::Again {
            line,
            first: *first,
            key: name_text,
        });
        return Owner::Ignored;
    }
    first_lines.insert(name, line);
    reading.entries.push(entry_of(line, name_text, raw));
    Owner::Entry(reading.entries.len().saturating_sub(1))
}

/// Returns whether the text is a key's name: `^[a-z][a-z0-9_]*$` (`contract/core.md §0.3`).
pub(crate) fn is_key_name(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_lowercase)
        && text
            .iter()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_')
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    // An editor's byte order mark would otherwise hide the first key, silently.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes
        .split(|byte| *byte == b'\n')
        .enumerate()
        .map(|(index, line)| (index.saturating_add(1), line))
}

fn is_blank(byte: u8) -> bool {
    // CR is one, so that a file with CRLF endings means the same.
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

fn trim_start(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && is_blank(*first)
    {
        text = rest;
    }
    text
}

fn trim_end(mut text: &[u8]) -> &[u8] {
    while let [rest @ .., last] = text
        && is_blank(*last)
    {
        text = rest;
    }
    text
}

/// What a line is, before anything of it is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Blank, a comment, or a document marker.
    Nothing,
    /// A name, a colon and a value.
    Pair,
    /// A list item at the margin.
    Item(&'static str),
    /// Indented: it goes on with what stands above it.
    Continuation(&'static str),
    /// Nothing that a file may hold.
    Bad(&'static str),
}

fn shape_of(line: &[u8]) -> Shape {
    let indented = line.first().is_some_and(|byte| is_blank(*byte));
    match trim_end(trim_start(line)) {
        [] | [b'#', ..] => Shape::Nothing,
        [b'-'] if !indented => Shape::Item(LIST_ITEM),
        [b'-', next, ..] if !indented && is_blank(*next) => Shape::Item(LIST_ITEM),
        [b'-'] => Shape::Continuation(LIST_ITEM),
        [b'-', next, ..] if is_blank(*next) => Shape::Continuation(LIST_ITEM),
        b"---" | b"..." if !indented => Shape::Nothing,
        _ if indented => Shape::Continuation(INDENTED),
        text if !text.contains(&b':') => Shape::Bad(NO_COLON),
        _ => Shape::Pair,
    }
}

/// Returns the name and what follows the colon, leading blanks off.
fn split_pair(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, rest) = line.split_at_checked(colon)?;
    Some((name, trim_start(rest.get(1..)?)))
}

fn entry_of(line: usize, key: String, raw: &[u8]) -> Entry {
    let end = raw.iter().position(|byte| *byte == b'#');
    let (kept, comment) = raw.split_at_checked(end.unwrap_or(raw.len())).unwrap_or((raw, &[]));
    let cut = match kept.last() {
        _ if comment.is_empty() => Cut::No,
        Some(last) if !is_blank(*last) => Cut::Glued,
        Some(_) | None => Cut::Comment,
    };
    let value = without_quotes(without_quotes(trim_end(kept), b'"'), b'\'');
    let reason = match core::str::from_utf8(value) {
        Ok(text) => text.contains('\0').then_some(NUL),
        Err(_) => Some(NOT_TEXT),
    };
    Entry {
        key,
        value: String::from_utf8_lossy(value).into_owned(),
        line,
        cut,
        broken: reason.map(|reason| Malformed { line, reason }),
    }
}

fn without_quotes(text: &[u8], quote: u8) -> &[u8] {
    match text {
        [first, inner @ .., last] if *first == quote && *last == quote => inner,
        _ => text,
    }
}

#[cfg(test)]
mod tests;
