//! The line rules: values, malformed files, and which key a bad line costs.

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
        assert_eq!(malformed(good.as_bytes()), None, "{good:?}");
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
        ("k: a\0b", 1),
    ] {
        assert_eq!(
            malformed(bad.as_bytes()).map(|malformed| malformed.line),
            Some(line),
            "{bad:?}"
        );
    }
}

/// What a file comes to: each entry, `!` after a broken one, and the line of each stray.
fn charged(file: &str) -> (Vec<String>, Vec<usize>) {
    let reading = read(file.as_bytes());
    let shown = |entry: &Entry| match &entry.broken {
        Some(bad) => format!("{}={}!{}", entry.key, entry.value, bad.line),
        None => format!("{}={}", entry.key, entry.value),
    };
    let line = |stray: &Stray| match stray {
        Stray::Line(Malformed { line, .. }) | Stray::Again { line, .. } | Stray::Name { line, .. } => *line,
    };
    (
        reading.entries.iter().map(shown).collect(),
        reading.strays.iter().map(line).collect(),
    )
}

#[test]
fn a_bad_line_is_charged_to_the_key_above_it() {
    let cases: &[(&str, &[&str], &[usize])] = &[
        ("k:\n  - a\n  - b\nm: 1", &["k=!2", "m=1"], &[]),
        ("k:\n- a\nm: 1", &["k=!2", "m=1"], &[]),
        ("k: 5\n- a\nm: 1", &["k=5", "m=1"], &[2]),
        ("k: 5\n  more\nm: 1", &["k=5!2", "m=1"], &[]),
        ("k:\n\n# c\n\tchild: 1\nm: 1", &["k=!4", "m=1"], &[]),
        ("  lost: 1\nm: 1", &["m=1"], &[1]),
        ("m: 1\nword\n  - a", &["m=1"], &[2, 3]),
        ("m: 1\nm: 2\n  - a", &["m=1"], &[2]),
        ("M: 1\n  - a\nm: 2", &["m=2"], &[1]),
        ("a\0: 1\nm: 2", &["m=2"], &[1]),
        ("k: 1\0\nm: 2", &["k=1\0!1", "m=2"], &[]),
        ("k: {a: 1,\n  b: 2}", &["k={a: 1,!2"], &[]),
    ];
    for (file, entries, strays) in cases {
        let (found, stray) = charged(file);
        assert_eq!(
            (found.as_slice(), stray.as_slice()),
            (
                entries
                    .iter()
                    .map(|entry| (*entry).to_owned())
                    .collect::<Vec<_>>()
                    .as_slice(),
                *strays
            ),
            "{file:?}"
        );
    }
    assert_eq!(
        read(b"k: a\xffb").entries[0].broken.as_ref().map(|bad| bad.line),
        Some(1)
    );
}

#[test]
fn a_number_sign_ends_a_value_with_or_without_a_blank() {
    for (file, cut) in [
        ("k: a", Cut::No),
        ("k: a # b", Cut::Comment),
        ("k: # b", Cut::Comment),
        ("k:#b", Cut::Comment),
        ("k: a#b", Cut::Glued),
        ("k: a\t#b", Cut::Comment),
    ] {
        assert_eq!(read(file.as_bytes()).entries[0].cut, cut, "{file:?}");
    }
}

proptest! {
    #[test]
    fn no_bytes_break_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let entries = read_unchecked(&bytes);
        let line_count = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
        prop_assert!(entries.iter().all(|entry| entry.line <= line_count && !entry.value.contains('\n')));
        let charged = read(&bytes);
        prop_assert_eq!(charged.entries.len(), entries.len());
        if malformed(&bytes).is_none() {
            prop_assert!(charged.entries.iter().all(|entry| entry.broken.as_ref().is_none_or(|bad| bad.reason == NOT_TEXT)));
            prop_assert!(charged.strays.iter().all(|stray| !matches!(stray, Stray::Line(_))));
        }
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
