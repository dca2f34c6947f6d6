//! The line rules of a configuration file (`contract/core.md §12.2`). YAML has no say here: what it would read
//! differently (`a#b`, a quoted `#`, a second `key:`) is read as the contract says.

/// One `key: value` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) value: String,
    /// The 1-based line.
    pub(crate) line: usize,
    /// Whether a `#` ended the value.
    pub(crate) cut: bool,
}

/// A line that makes the whole file unusable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// The 1-based line.
    pub(crate) line: usize,
    pub(crate) reason: &'static str,
}

/// Returns the entries of a file whose every line is checked.
pub(crate) fn read_checked(bytes: &[u8]) -> Result<Vec<Entry>, Malformed> {
    match lines(bytes).find_map(|(line, text)| malformed_because(text).map(|reason| Malformed { line, reason })) {
        Some(malformed) => Err(malformed),
        None => Ok(read_unchecked(bytes)),
    }
}

/// Returns the entries of a file that is taken as it is, as the core's is; the first line of a key is its entry.
pub(crate) fn read_unchecked(bytes: &[u8]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for (line, text) in lines(bytes) {
        if let Some(entry) = entry_of(line, text)
            && entries.iter().all(|earlier| earlier.key != entry.key)
        {
            entries.push(entry);
        }
    }
    entries
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

fn malformed_because(line: &[u8]) -> Option<&'static str> {
    let indented = line.first().is_some_and(|byte| is_blank(*byte));
    match trim_end(trim_start(line)) {
        [] | [b'#', ..] => None,
        [b'-'] => Some("a list item; lists are written inline, as `key: [a, b]`"),
        [b'-', next, ..] if is_blank(*next) => Some("a list item; lists are written inline, as `key: [a, b]`"),
        b"---" | b"..." if !indented => None,
        _ if indented => Some("an indented line; every key starts its line"),
        text if text.contains(&b':') => None,
        _ => Some("a line without a colon; every line is `key: value`"),
    }
}

fn entry_of(line: usize, text: &[u8]) -> Option<Entry> {
    let colon = text.iter().position(|byte| *byte == b':')?;
    let (key, rest) = text.split_at_checked(colon)?;
    let raw = trim_start(rest.get(1..)?);
    if !is_key_name(key) {
        return None;
    }
    let end = raw.iter().position(|byte| *byte == b'#');
    let kept = trim_end(raw.get(..end.unwrap_or(raw.len()))?);
    let value = without_quotes(without_quotes(kept, b'"'), b'\'');
    Some(Entry {
        key: String::from_utf8_lossy(key).into_owned(),
        value: String::from_utf8_lossy(value).into_owned(),
        line,
        cut: end.is_some(),
    })
}

fn without_quotes(text: &[u8], quote: u8) -> &[u8] {
    match text {
        [first, inner @ .., last] if *first == quote && *last == quote => inner,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value_of(file: &str, key: &str) -> Option<String> {
        read_unchecked(file.as_bytes())
            .into_iter()
            .find(|entry| entry.key == key)
            .map(|entry| entry.value)
    }

    #[test]
    fn values_follow_the_line_rules() {
        let cases: &[(&str, Option<&str>)] = &[
            ("k: 5", Some("5")),
            ("k:5", Some("5")),
            ("k:\t 5 \t", Some("5")),
            ("k:", Some("")),
            ("k:   ", Some("")),
            ("k: # only a comment", Some("")),
            ("k: 5 # why", Some("5")),
            ("k: a#b", Some("a")),
            ("k: \"a # b\"", Some("\"a")),
            ("k: \"7\"", Some("7")),
            ("k: '7'", Some("7")),
            ("k: \"'7'\"", Some("7")),
            ("k: '\"7\"'", Some("\"7\"")),
            ("k: \"\"7\"\"", Some("\"7\"")),
            ("k: \"7", Some("\"7")),
            ("k: \"", Some("\"")),
            ("k: \" 7 \"", Some(" 7 ")),
            ("k: 5\r\n", Some("5")),
            ("k: 5\nk: 6", Some("5")),
            ("k:\nk: 6", Some("")),
            ("k: a: b", Some("a: b")),
            ("k: [a, b]", Some("[a, b]")),
            ("\u{feff}k: 5", Some("5")),
            ("kk: 5", None),
            ("k : 5", None),
            (" k: 5", None),
            ("#k: 5", None),
            ("K: 5", None),
            ("", None),
        ];
        for (file, expected) in cases {
            assert_eq!(value_of(file, "k").as_deref(), *expected, "{file:?}");
        }
    }

    #[test]
    fn a_value_that_is_not_utf8_stays_a_value() {
        let entries = read_unchecked(b"k: a\xffb\nm: 1");
        assert_eq!(entries[0].value, "a\u{fffd}b");
        assert_eq!((entries[1].key.as_str(), entries[1].line), ("m", 2));
    }

    #[test]
    fn files_are_malformed_by_the_contracts_test() {
        for good in [
            "",
            "\n\n",
            "# c",
            "  # c",
            "---\nk: 5\n...",
            "--- \r\n",
            "k: 5\r\n\r\n",
            "Some Title: x",
            "-a: b",
            "{a: b}",
            "k: [a,\nx: b]",
        ] {
            assert!(read_checked(good.as_bytes()).is_ok(), "{good:?}");
        }
        for (bad, line) in [
            ("- a", 1),
            ("-", 1),
            ("k: 5\n  - a", 2),
            ("-\ta: b", 1),
            ("- a: b", 1),
            ("word", 1),
            ("k: 5\n\nword", 3),
            (" k: 5", 1),
            (" ---", 1),
            ("----", 1),
            ("k:\n  child: 1", 2),
            ("k: [a,\n b]", 2),
        ] {
            assert_eq!(
                read_checked(bad.as_bytes()).map_err(|malformed| malformed.line),
                Err(line),
                "{bad:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let entries = read_unchecked(&bytes);
            let line_count = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
            prop_assert!(entries.iter().all(|entry| entry.line <= line_count && !entry.value.contains('\n')));
            prop_assert!(read_checked(&bytes).is_ok_and(|checked| checked == entries) || read_checked(&bytes).is_err());
        }

        #[test]
        fn the_first_line_of_a_key_is_its_entry(lines in proptest::collection::vec("(ka|kb):[ 0-9#'\"]{0,5}", 0..12)) {
            let file = lines.join("\n");
            for key in ["ka", "kb"] {
                let first = lines.iter().find(|line| line.starts_with(&format!("{key}:")));
                prop_assert_eq!(value_of(&file, key), first.and_then(|line| value_of(line, key)));
            }
        }
    }
}
