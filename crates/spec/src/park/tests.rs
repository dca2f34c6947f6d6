//! Parking and unparking: what is written, what stays, what is refused.

use orchestrate_core::identifier::SpecId;
use proptest::prelude::*;

use super::*;
use crate::anchor::content_anchor;
use crate::template::new_bundle;
use crate::{Bundle, BundleTexts, parse_bundle};

fn id(text: &str) -> TaskId {
    TaskId::parse(text).expect("a task id")
}

fn texts() -> BundleTexts {
    new_bundle("Alpha", "2026-11-30").expect("a bundle")
}

fn with_tasks(tasks: Vec<u8>) -> BundleTexts {
    BundleTexts { tasks, ..texts() }
}

fn read(texts: &BundleTexts) -> Bundle {
    parse_bundle(&SpecId::parse("alpha").expect("a name"), texts).expect("the bundle reads")
}

fn string(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("text")
}

/// Ways in which a section may look before a task is parked in it.
const SECTIONS: [&str; 9] = [
    "## Deferred\n\n(none yet)\n\n",
    "## Deferred\n(none yet)\n",
    "## Deferred \n\n(none yet)  \n\n",
    "## Deferred\n\n- **Task 1** — first\n  and wrapped\n\n",
    "## Deferred\n\n- **Later.** Prose.\n\n",
    "## Deferred\n\nAn introduction.\n\n",
    "## Deferred\n\n",
    "## Deferred\n",
    "## Deferred\n\n```\n- **Task 2** — no\n```\n\n",
];

/// Empty sections that no template writes.
const ODD: [&str; 12] = [
    "## Deferred\n\n\n(none yet)\n\n",
    "## Deferred\n\n  (none yet)\n\n",
    "## Deferred\n\n(none yet)\t\n\n",
    "## Deferred\n\n(None yet)\n\n",
    "## Deferred\n\nNone yet.\n",
    "## Deferred\n\n*(none yet)*\n\n\n",
    "## Deferred\n\nWhat waits for spring.\n\n(none yet)\n\n",
    "## Deferred\n\n(none yet)\n\n(none yet)\n\n",
    "## Deferred\n\n(none yet)\n\nWhat waits for spring.\n\n",
    "## Deferred\n\n- **Later.** Prose.\n\n(none yet)\n\n",
    "## Deferred\n  \n\t\n",
    "## Deferred\n\n\n\n",
];

fn file(section: &str) -> Vec<u8> {
    let text = string(texts().tasks);
    let (before, after) = text.split_once("## Deferred\n\n(none yet)\n\n").expect("the section");
    format!("{before}{section}{after}").into_bytes()
}

/// Verifies REQ-B3.4.
#[test]
fn a_task_is_parked_in_every_kind_of_section_and_the_anchor_stays() {
    for section in SECTIONS {
        for end in ["\n", "\r\n"] {
            let before = string(file(section)).replace('\n', end).into_bytes();
            let after = park(&before, &id("2"), ParkingPlace::Deferred, "until\n the\tspring").expect("parked");
            let text = string(after.clone());
            // Blanks at the end of the placeholder stay there.
            let blanks = if section.contains("(none yet)  ") { "  " } else { "" };
            assert!(
                text.contains(&format!("{end}- **Task 2** — until the spring{blanks}{end}")),
                "{text}"
            );
            assert_eq!(
                text.matches("\r\n").count(),
                if end == "\n" { 0 } else { text.matches('\n').count() }
            );
            assert_eq!(
                content_anchor(&with_tasks(before.clone())).expect("an anchor"),
                content_anchor(&with_tasks(after.clone())).expect("an anchor")
            );
            let bundle = read(&with_tasks(after.clone()));
            let parked: Vec<_> = bundle.parked.iter().filter(|bullet| bullet.task == id("2")).collect();
            assert_eq!(parked.len(), 1, "{text}");
            assert_eq!(
                (parked[0].place, parked[0].note.trim_end()),
                (ParkingPlace::Deferred, "— until the spring")
            );
            let back = unpark(&after, &id("2")).expect("unparked");
            assert!(
                read(&with_tasks(back.clone()))
                    .parked
                    .iter()
                    .all(|bullet| bullet.task != id("2"))
            );
            let again = park(&back, &id("2"), ParkingPlace::Deferred, "until the spring").expect("parked again");
            assert_eq!(string(again), text, "{section:?}");
        }
    }
}

/// Verifies REQ-B3.4.
#[test]
fn unparking_gives_the_file_back() {
    for section in ODD.iter().chain(&SECTIONS) {
        let before = file(section);
        let after = park(&before, &id("2"), ParkingPlace::Deferred, "x").expect("parked");
        assert_eq!(
            string(unpark(&after, &id("2")).expect("unparked")),
            string(before),
            "{section:?}"
        );
    }
}

#[test]
fn a_wrapped_bullet_goes_as_a_whole() {
    let before = file("## Deferred\n\n- **Task 1** — first\n  and wrapped\n- **Later.** Prose.\n\n");
    let after = string(unpark(&before, &id("1")).expect("unparked"));
    assert!(
        after.contains("## Deferred\n\n- **Later.** Prose.\n\n## Out of scope"),
        "{after}"
    );
}

#[test]
fn every_paragraph_of_a_bullet_goes_with_it() {
    for rest in [
        "\n  Waits for Bob. **Gate:** GATE(when: after 2020-01-01)\n",
        "  wrapped\n\n  - nested\n    more\n\n\n  last\n",
        "lazily wrapped\n",
        "\n      code\n",
    ] {
        for (above, below) in [
            ("- **Task 2** — y\n", ""),
            ("- **Task 2** — y\n\n", "\nProse.\n"),
            ("", "- **Later.** z\n"),
        ] {
            let before = file(&format!("## Deferred\n\n{above}- **Task 1** — x\n{rest}{below}\n"));
            let after = string(unpark(&before, &id("1")).expect("unparked"));
            let expected = string(file(&format!(
                "## Deferred\n\n{}{below}\n",
                above.replace("\n\n", "\n")
            )));
            assert_eq!(after, expected, "{rest:?}");
        }
    }
    let alone = file("## Deferred\n\n- **Task 1** — x\n\n  Waits.\n\n");
    assert_eq!(
        string(unpark(&alone, &id("1")).expect("unparked")),
        string(file("## Deferred\n\n(none yet)\n\n"))
    );
}

#[test]
fn a_bullet_whose_end_is_unclear_is_left_with_its_lines_named() {
    for (rest, lines) in [
        (" # Heading\n", 1),
        (" # Heading\n  more\n", 2),
        (" > quoted\n", 1),
        ("  wrapped\n * other\n", 1),
    ] {
        let before = file(&format!("## Deferred\n\n- **Task 1** — x\n{rest}\n"));
        match unpark(&before, &id("1")) {
            Err(ParkError::UnclearEnd { from, to, .. }) => assert_eq!(to + 1 - from, lines, "{rest:?}"),
            other => panic!("{rest:?}: {other:?}"),
        }
    }
    // A line of dashes would make a heading of the paragraph above the bullet.
    let before = file("## Deferred\n\nProse.\n- **Task 1** — x\n---\n\n");
    assert!(matches!(unpark(&before, &id("1")), Err(ParkError::Joined { .. })));
}

/// Verifies REQ-B3.4.
#[test]
fn mixed_line_ends_come_back() {
    for section in [&SECTIONS[..2], &SECTIONS[3..6]].concat() {
        let lines: Vec<&str> = section.split_inclusive('\n').collect();
        for bits in 0..1_u32 << lines.len() {
            let mixed: String = lines
                .iter()
                .enumerate()
                .map(|(index, line)| match bits >> index & 1 {
                    0 => (*line).to_owned(),
                    _ => line.replace('\n', "\r\n"),
                })
                .collect();
            let before = file(&mixed);
            let after = park(&before, &id("2"), ParkingPlace::Deferred, "x").expect("parked");
            assert_eq!(
                string(unpark(&after, &id("2")).expect("unparked")),
                string(before),
                "{mixed:?}"
            );
        }
    }
}

#[test]
fn the_last_section_of_a_file_without_a_final_line_end() {
    for tail in [
        "## Out of scope",
        "## Out of scope\n\n(none yet)",
        "## Out of scope\n\n- **Task 1** — x",
    ] {
        let text = string(texts().tasks);
        let (before, _) = text.split_once("## Out of scope").expect("the section");
        let file = format!("{before}{tail}").into_bytes();
        let after = park(&file, &id("2"), ParkingPlace::OutOfScope, "never").expect("parked");
        assert!(string(after.clone()).ends_with("\n- **Task 2** — never"), "{tail:?}");
        assert_eq!(unpark(&after, &id("2")), Ok(file.clone()), "{tail:?}");
        assert!(
            read(&with_tasks(after))
                .parked
                .iter()
                .any(|bullet| bullet.task == id("2"))
        );
    }
}

#[test]
fn a_byte_order_mark_stays() {
    let mut before = "\u{feff}".as_bytes().to_vec();
    before.extend(texts().tasks);
    let after = park(&before, &id("2"), ParkingPlace::AwaitingInput, "x").expect("parked");
    assert!(string(after).starts_with("\u{feff}# Alpha"));
}

#[test]
fn what_is_refused() {
    let tasks = texts().tasks;
    let place = ParkingPlace::Deferred;
    assert_eq!(park(&tasks, &id("9"), place, "x"), Err(ParkError::NoTask(id("9"))));
    assert_eq!(park(&tasks, &id("1"), place, " \n"), Err(ParkError::NoReason));
    assert_eq!(unpark(&tasks, &id("1")), Err(ParkError::NotParked(id("1"))));
    let parked = park(&tasks, &id("1"), ParkingPlace::AwaitingInput, "x").expect("parked");
    let line = line_number(
        string(parked.clone())
            .lines()
            .position(|line| line.starts_with("- **Task 1**"))
            .expect("the bullet"),
    );
    assert_eq!(
        park(&parked, &id("1"), place, "x"),
        Err(ParkError::Parked {
            task: id("1"),
            place: ParkingPlace::AwaitingInput,
            line
        })
    );
    let no_section = string(tasks.clone())
        .replace("## Deferred", "## Deferred (old)")
        .into_bytes();
    assert_eq!(
        park(&no_section, &id("1"), place, "x"),
        Err(ParkError::NoSection(place))
    );
    let mut open = tasks;
    open.extend(b"```\n");
    assert!(matches!(
        park(&open, &id("1"), place, "x"),
        Err(ParkError::OpenFence(_))
    ));
    let twice = string(parked)
        .replace("## Deferred\n\n(none yet)", "## Deferred\n\n- **Task 1** — y")
        .into_bytes();
    assert_eq!(
        unpark(&twice, &id("1")),
        Err(ParkError::ParkedTwice {
            task: id("1"),
            count: 2
        })
    );
}

/// Lines of a section, each in forms that people write.
fn section_line() -> impl Strategy<Value = String> {
    let lines = [
        "",
        "",
        "",
        "  ",
        "(none yet)",
        "(none yet)",
        "(none yet) ",
        "  (none yet)",
        "(None yet)",
        "- **Later.** Prose.",
        "- **Task 1** — first",
        "  wrapped",
        "lazy",
        "    deep",
        "> quoted",
        "* other",
        "1. first",
        "#### heading",
        "---",
        "```\n- **Task 2** — shown\n```",
    ];
    (0..lines.len()).prop_map(move |index| lines[index].to_owned())
}

/// A file with such a section, in which each line ends as it likes and the last one may have no end.
fn ledger() -> impl Strategy<Value = (Vec<u8>, ParkingPlace)> {
    let lines = proptest::collection::vec((section_line(), 0_u8..8), 0..7);
    (lines, 0_usize..3, any::<bool>(), any::<bool>()).prop_map(|(lines, place, crlf, has_final_end)| {
        let place = ParkingPlace::BULLETS[place];
        let whole: Vec<String> = lines
            .into_iter()
            .flat_map(|(line, end)| {
                let end = if (end == 0) == crlf { "\n" } else { "\r\n" };
                line.split('\n').map(|line| format!("{line}{end}")).collect::<Vec<_>>()
            })
            .collect();
        let end = if crlf { "\r\n" } else { "\n" };
        let text = string(texts().tasks).replace('\n', end);
        let heading = format!("## {}{end}", place.section());
        let (before, rest) = text.split_once(&heading).expect("the section");
        let after = rest.find("## ").map_or("", |next| &rest[next..]);
        let mut text = format!("{before}{heading}{}{after}", whole.concat());
        if !has_final_end {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        (text.into_bytes(), place)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever the section holds, unparking gives back the very bytes: the ledger of a person is left as it was found.
    /// Verifies REQ-B3.4.
    #[test]
    fn unparking_gives_back_every_byte((before, place) in ledger()) {
        let Ok(after) = park(&before, &id("2"), place, "waits") else { return Ok(()) };
        match unpark(&after, &id("2")) {
            Ok(back) => prop_assert_eq!(string(back), string(before)),
            Err(error) => prop_assert!(false, "{} in {:?}", error, string(after)),
        }
    }

    /// Two tasks that are parked one after the other come back in the other order.
    #[test]
    fn the_last_one_parked_comes_back_first((before, place) in ledger()) {
        let Ok(one) = park(&before, &id("2"), place, "waits") else { return Ok(()) };
        let Ok(two) = park(&one, &id("1"), place, "waits too") else { return Ok(()) };
        let back = unpark(&two, &id("1"));
        prop_assert_eq!(back.map(string), Ok(string(one)));
    }
}
