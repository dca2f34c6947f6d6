//! Edits change what they say and nothing else.

use super::*;

fn changelog(before: &str, date: &str) -> String {
    let edited = with_changelog_entry(before.as_bytes(), date, "new text").expect("a changelog");
    String::from_utf8(edited).expect("text")
}

#[test]
fn a_header_value_is_replaced_where_it_stands() {
    let edit = |text: &str| {
        with_header_value(text.as_bytes(), "Status", "Ready").map(|bytes| String::from_utf8(bytes).expect("text"))
    };
    for (before, after) in [
        ("**Status:** Draft\nbody", "**Status:** Ready\nbody"),
        (
            "# T\r\n\r\n**Status:**\tDraft \t\r\nx\r\n",
            "# T\r\n\r\n**Status:**\tReady \t\r\nx\r\n",
        ),
        ("**Status:** Draft", "**Status:** Ready"),
        ("**Status:**Draft\n", "**Status:**Ready\n"),
    ] {
        assert_eq!(edit(before).as_deref(), Ok(after), "{before:?}");
    }
    for body in ["body\n**Status:** Draft\n", "```\n**Status:** Draft\n```\n", ""] {
        assert_eq!(edit(body), Err(EditErrorReason::NoKey("Status")), "{body:?}");
    }
    assert_eq!(
        edit("**Status:** Draft\n**Status:** Draft\n"),
        Err(EditErrorReason::DuplicateKey("Status"))
    );
    let bytes = b"**Status:** Draft\n\xff\n";
    assert_eq!(
        with_header_value(bytes, "Status", "Ready").as_deref(),
        Ok(&b"**Status:** Ready\n\xff\n"[..])
    );
}

#[test]
fn every_file_is_restated_or_none() {
    let texts = BundleTexts {
        requirements: b"**Status:** Draft\nr\n".to_vec(),
        design: b"**Status:** Draft\nd\n".to_vec(),
        tasks: b"**Status:** Draft\nt\n".to_vec(),
        test_spec: b"**Status:** Draft\ns\n".to_vec(),
    };
    let restated = with_status(&texts, Status::Ready).expect("restated");
    for ((file, before), (_, after)) in texts.files().into_iter().zip(restated.files()) {
        assert_eq!(after, [b"**Status:** Ready\n", &before[18..]].concat(), "{file}");
    }
    let torn = BundleTexts {
        test_spec: b"s\n".to_vec(),
        ..texts
    };
    assert_eq!(
        with_status(&torn, Status::Ready).map_err(|error| error.to_string()),
        Err("cannot edit test-spec.md: its header does not declare Status".to_owned())
    );
}

#[test]
fn an_entry_follows_the_direction_of_the_log() {
    let new = "- 2026-03-01 — new text\n";
    for (before, after) in [
        // From the newest to the oldest.
        (
            "## Changelog\n\n- 2026-02-02 b\n  more\n- 2026-01-01 a\n\n## Sources\n",
            format!("## Changelog\n\n{new}- 2026-02-02 b\n  more\n- 2026-01-01 a\n\n## Sources\n"),
        ),
        (
            "## Changelog\n\n- 2026-02-02 b\n\n- 2026-01-01 a\n",
            format!("## Changelog\n\n{new}\n- 2026-02-02 b\n\n- 2026-01-01 a\n"),
        ),
        (
            "## Changelog\n- 2026-02-02 b\n- 2026-01-01 a\n",
            format!("## Changelog\n\n{new}- 2026-02-02 b\n- 2026-01-01 a\n"),
        ),
        // From the oldest to the newest, or not to be told.
        (
            "## Changelog\n\n- 2026-01-01 a\n- 2026-02-02 b\n  more\n\n## Sources\n",
            format!("## Changelog\n\n- 2026-01-01 a\n- 2026-02-02 b\n  more\n{new}\n## Sources\n"),
        ),
        (
            "## Changelog\n\n- 2026-01-01 a\n\n- 2026-01-01 b",
            format!("## Changelog\n\n- 2026-01-01 a\n\n- 2026-01-01 b\n\n{new}"),
        ),
        (
            "## Changelog\n\n- 2026-01-01 a\n",
            format!("## Changelog\n\n- 2026-01-01 a\n{new}"),
        ),
        (
            "## changelog and more\n## Sources\n",
            format!("## changelog and more\n\n{new}\n## Sources\n"),
        ),
        ("## Changelog", format!("## Changelog\n\n{new}")),
        (
            "```\n## Changelog\n```\n## Changelog\n\n- 2026-01-01 a\n```\n- 2025-01-01 x\n## No\n```\n",
            format!("```\n## Changelog\n```\n## Changelog\n\n- 2026-01-01 a\n```\n- 2025-01-01 x\n## No\n```\n{new}"),
        ),
    ] {
        assert_eq!(changelog(before, "2026-03-01"), after, "{before:?}");
    }
    assert_eq!(
        changelog("## Changelog\r\n\r\n- 2026-01-01 a\r\n", "2026-03-01"),
        "## Changelog\r\n\r\n- 2026-01-01 a\r\n- 2026-03-01 — new text\r\n"
    );
    for without in [
        "",
        "# Changelog\n",
        "### Changelog\n",
        "## History\n",
        "```\n## Changelog\n",
    ] {
        assert_eq!(
            with_changelog_entry(without.as_bytes(), "2026-03-01", "x").map_err(|error| error.reason),
            Err(EditErrorReason::NoChangelog),
            "{without:?}"
        );
    }
}

#[test]
fn long_entries_are_wrapped_between_words() {
    let text = wrapped("- 2026-03-01 — one two three", 18);
    assert_eq!(text, "- 2026-03-01 — one\n  two three\n");
}

#[test]
fn what_was_before_an_entry_is_among_the_candidates() {
    for before in [
        "## Changelog\n\n- 2026-01-01 — a\n- 2026-01-02: b\n  c\n\n## Sources\n",
        "## Changelog\n\n- 2026-01-02 — b\n\n- 2026-01-01 — a\n\n## Sources\n",
        "## Changelog\n\n- 2026-01-01 — b\n\n- 2026-01-02 — a\n\n## Sources\n",
        "## Changelog\r\n\r\n- 2026-01-02 — b\r\n- 2026-01-01 — a\r\n",
        "## Changelog\n\n## Sources\n",
        "## Changelog\n",
    ] {
        let added = with_changelog_entry(before.as_bytes(), "2026-11-30", "new").expect("added");
        let text = String::from_utf8(added.clone()).expect("text");
        let line = text
            .lines()
            .position(|line| line.starts_with("- 2026-11-30"))
            .expect("the entry")
            + 1;
        let line = u32::try_from(line).expect("a line");
        let candidates = before_changelog_entry(&added, line);
        assert!(
            candidates.iter().any(|candidate| candidate == before.as_bytes()),
            "{text}"
        );
        assert_eq!(before_changelog_entry(&added, 1), Vec::<Vec<u8>>::new());
        assert_eq!(before_changelog_entry(&added, 0), Vec::<Vec<u8>>::new());
    }
}

#[test]
fn entries_that_are_new_are_found_in_either_direction() {
    let new = |before: &str, after: &str| {
        let entries = new_changelog_entries(before.as_bytes(), after.as_bytes()).into_iter();
        entries
            .map(|entry| format!("{}{}", entry.date, entry.text))
            .collect::<Vec<_>>()
    };
    let (a, b) = ("- 2026-01-01 a\n  more\n", "- 2026-02-02 b\n");
    let log = |entries: &[&str]| format!("## Changelog\n\n{}\n## Sources\n- 2026-09-09 no\n", entries.concat());
    assert_eq!(new(&log(&[a]), &log(&[a])), [""; 0]);
    assert_eq!(
        new(&log(&[a]), &log(&["- 2026-01-01 a more\n"])),
        [""; 0],
        "only broken otherwise"
    );
    assert_eq!(new(&log(&[a]), &log(&[a, b])), ["2026-02-02b"]);
    assert_eq!(new(&log(&[a]), &log(&[b, a])), ["2026-02-02b"]);
    let twice = "- 2026-02-02 c\n";
    assert_eq!(new(&log(&[a]), &log(&[a, b, twice])), ["2026-02-02c", "2026-02-02b"]);
    assert_eq!(new(&log(&[a]), &log(&[twice, b, a])), ["2026-02-02c", "2026-02-02b"]);
    assert_eq!(new("", &log(&[a])), ["2026-01-01a\nmore"]);
}
