//! Placement: the contract's examples, and what no placement may lose.

use proptest::prelude::*;

use super::*;
use crate::{Date, Status};

const AWAITING: ParkingPlace = ParkingPlace::AwaitingInput;

fn id(text: &str) -> TaskId {
    TaskId::parse(text).expect("a task id")
}

fn stamp(pull_request: Option<u64>) -> Option<Stamp> {
    let merged = Date::parse("2026-07-15").expect("a day");
    Some(Stamp { pull_request, merged })
}

fn block(task: &str) -> String {
    format!(
        "### Task {task} — part {task}\n\n- **Deliverables:** it\n- **Done when:** done\n- **Dependencies:** none\n- \
         **Citations:** D-1\n- **Estimated effort:** 1 day\n"
    )
}

const HEADER: &str = "# Alpha — Tasks\n\n**Status:** Ready\n**Last reviewed:** 2026-01-01\n**Format-version:** 1\n\n";

/// The fixture `alpha` of `contract/core.md §18`, as far as it matters here.
fn alpha() -> String {
    let blocks: Vec<String> = ["1", "2", "2.5", "3"].map(block).to_vec();
    format!(
        "{HEADER}## Forward plan\n\n{}\n## In progress\n\n(none yet)\n\n## Awaiting input\n\n(none yet)\n\n## \
         Completed\n\n(none yet)\n\n## Deferred\n\n- **Later** — **Gate:** `date >= 2026-07-01`\n\n## Out of \
         scope\n\n(none yet)\n",
        blocks.join("\n")
    )
}

fn standings(pairs: &[(&str, Standing)]) -> BTreeMap<TaskId, Standing> {
    pairs
        .iter()
        .map(|(task, standing)| (id(task), standing.clone()))
        .collect()
}

fn seen() -> BTreeMap<TaskId, Standing> {
    standings(&[
        ("1", Standing::Completed(stamp(Some(17)))),
        ("2", Standing::InProgress),
        ("2.5", Standing::Open),
        ("3", Standing::Completed(None)),
    ])
}

fn placed(text: &str, standings: &BTreeMap<TaskId, Standing>) -> String {
    let bytes = place(text.as_bytes(), standings).expect("placed");
    String::from_utf8(bytes).expect("text")
}

/// Returns each section with what is in it, a line for a heading or a status.
fn outline(text: &str) -> Vec<&str> {
    text.lines()
        .filter(|line| line.starts_with("## ") || line.starts_with("### ") || line.starts_with(STATUS))
        .collect()
}

#[test]
fn the_example_of_the_contract() {
    let text = placed(&alpha(), &seen());
    assert_eq!(
        outline(&text),
        [
            "## Forward plan",
            "### Task 2.5 — part 2.5",
            "## In progress",
            "### Task 2 — part 2",
            "## Awaiting input",
            "## Completed",
            "### Task 1 — part 1",
            "- **Status:** Completed · PR #17 merged 2026-07-15",
            "### Task 3 — part 3",
            "## Deferred",
            "## Out of scope",
        ]
    );
    assert_eq!(placed(&text, &seen()), text);
    assert!(text.contains("## Awaiting input\n\n(none yet)\n\n## Completed\n\n### Task 1"));
    assert!(!text.contains("\n\n\n") && text.ends_with("(none yet)\n"));
}

#[test]
fn what_a_broken_merge_left_is_mended() {
    let broken = placed(&alpha(), &seen())
        .replace(
            "## In progress\n",
            &format!("<<<<<<< ours\n## In progress\n=======\n{}>>>>>>> theirs\n", block("1")),
        )
        .replace("PR #17", "PR #99")
        .replace("# Alpha", "# Alpha\n=======\n#")
        + &format!("\n## Notes\n\nkept\n\n{}", block("9"));
    let text = placed(&broken, &seen());
    assert!(!text.contains("<<<<") && !text.contains(">>>>"));
    assert!(
        text.contains("# Alpha\n=======\n"),
        "an underline is no mark of a conflict"
    );
    assert_eq!(text.matches("### Task 1 ").count(), 1);
    assert!(text.contains("PR #17") && !text.contains("PR #99"));
    assert!(text.ends_with(&format!("## Notes\n\nkept\n\n{}", block("9"))));
}

#[test]
fn stamps_replace_what_says_less() {
    let full = "- **Status:** Completed · PR #17 merged 2026-07-15";
    let only_date = "- **Status:** Completed · merged 2026-07-15";
    let near = "- **Status:** Completed · PR #17 merged 2026-07-15 (late)";
    for (stored, standing, expected) in [
        ("", stamp(None), vec![only_date]),
        (full, stamp(None), vec![full]),
        (near, stamp(None), vec![only_date]),
        (only_date, stamp(Some(17)), vec![full]),
        ("- **Status:** in review", None, vec!["- **Status:** in review"]),
        (
            "- **Status:** a\n- **Last activity:** b\n- **Status:** c",
            stamp(Some(17)),
            vec![full, "- **Status:** c"],
        ),
    ] {
        let text = format!("{HEADER}## Forward plan\n\n{}{stored}\n", block("1"));
        let text = placed(&text, &standings(&[("1", Standing::Completed(standing))]));
        let found: Vec<&str> = text.lines().filter(|line| line.starts_with(STATUS)).collect();
        assert_eq!(found, expected, "{stored}");
    }
}

/// Verifies REQ-C3.4.
#[test]
fn what_could_not_be_told_moves_nothing() {
    let text = placed(&alpha(), &seen());
    let unknown = standings(&[("1", Standing::Unknown), ("2", Standing::Unknown)]);
    assert_eq!(placed(&text, &unknown), text);
    assert_eq!(derived_status(text.as_bytes(), &unknown), None);
}

#[test]
fn a_persons_sections_and_words_stay() {
    let text = alpha()
        .replace(
            "## Awaiting input\n\n(none yet)",
            &format!("## Awaiting input\n\n{}", block("4")),
        )
        .replace("## Forward plan\n", "## Forward plan\n\nFirst the plan.\n")
        .replace("## Completed\n\n(none yet)", "## Completed\n\n### History\n\nLong ago.");
    let mut all = seen();
    all.insert(id("4"), Standing::Completed(stamp(Some(4))));
    let text = placed(&text, &all);
    assert!(text.contains(&format!("## Awaiting input\n\n{}\n## Completed", block("4"))));
    assert!(text.contains("## Forward plan\n\nFirst the plan.\n\n### Task 2.5"));
    assert!(text.contains("\n### History\n\nLong ago.\n\n## Deferred"));
    assert_eq!(placed(&text, &all), text);
}

#[test]
fn what_is_not_understood_is_refused() {
    let refusal = |text: &str| place(text.as_bytes(), &seen()).expect_err("refused");
    let twice = alpha() + &format!("\n## Completed\n\n{}", block("2").replace("it\n", "another\n"));
    assert!(matches!(refusal(&twice), PlacementError::Differs { task, .. } if task == "2"));
    let fenced = alpha().replace("(none yet)", "```\n### Task 9 — shown\n```");
    assert!(matches!(refusal(&fenced), PlacementError::FencedHeading(_)));
    assert!(matches!(refusal(&(alpha() + "```\n")), PlacementError::OpenFence(_)));
    assert!(matches!(refusal(""), PlacementError::Empty));
    assert!(place(b"\xff", &seen()).is_err());
    let mixed = alpha().replace("- **Done when:** done\n", "- **Done when:** done\r\n");
    assert!(matches!(refusal(&mixed), PlacementError::Definition));
}

#[test]
fn an_annotation_of_a_second_block_is_never_lost() {
    let text = |first: &str, second: &str| {
        let header = format!("{HEADER}## Forward plan\n\n");
        format!("{header}{}{first}\n## Completed\n\n{}{second}", block("1"), block("1"))
    };
    let wrapped = "- **Status:** done by Alice\n  never run this twice\n";
    let ours = "- **Status:** Completed · PR #17 merged 2026-07-15\n";
    let activity = "- **Last activity:** yesterday\n";
    for (first, second, lost) in [
        ("", wrapped, Some(26)),
        ("- **Status:** done by Alice\n", wrapped, Some(27)),
        (wrapped, "- **Status:** done by Alice\n", Some(28)),
        ("", activity, Some(26)),
        ("", "- **Dispatch:** by hand\n", Some(26)),
        (wrapped, &format!("{wrapped}{activity}"), Some(30)),
        (
            "",
            "- **Status:** Completed · PR #17 merged 2026-07-15 (late)\n",
            Some(26),
        ),
        ("", &format!("{ours}  after a long fight\n"), Some(26)),
        (wrapped, wrapped, None),
        (wrapped, "", None),
        ("", ours, None),
        (wrapped, ours, None),
        ("- **Status:** Completed · merged 2026-07-14\n", ours, None),
    ] {
        let text = text(first, second);
        let placed = place(text.as_bytes(), &standings(&[("1", Standing::Open)]));
        match (placed, lost) {
            (Ok(placed), None) => {
                let placed = String::from_utf8(placed).expect("text");
                assert_eq!(placed.matches("### Task 1 ").count(), 1, "{text}");
                assert!(placed.contains(first), "{text}");
            }
            (placed, lost) => {
                let refusal = lost.map(|line| PlacementError::Annotated {
                    task: "1".to_owned(),
                    line,
                });
                assert_eq!(placed.err(), refusal, "{text}");
            }
        }
    }
}

#[test]
fn sections_that_differ_in_blanks_behind_the_name_are_one() {
    let text = alpha() + "\n## Completed  \n\nLong ago.\n\n## Deferred \n\nNot now.\n";
    let text = placed(&text, &seen());
    assert!(
        text.contains("\nLong ago.\n") && text.contains("\nNot now.\n"),
        "{text}"
    );
    assert_eq!(text.matches("## Completed").count(), 1);
}

#[test]
fn line_ends_are_kept() {
    let unix = placed(&alpha(), &seen());
    let windows = placed(&alpha().replace('\n', "\r\n"), &seen());
    assert_eq!(windows, unix.replace('\n', "\r\n"));
}

#[test]
fn a_halted_block_goes_and_comes_back() {
    let text = placed(&alpha(), &seen());
    let parked = park_block(text.as_bytes(), &id("2"), AWAITING, "orphaned:\nlook at it").expect("parked");
    let parked = String::from_utf8(parked).expect("text");
    assert!(parked.contains("## In progress\n\n(none yet)\n"));
    assert!(parked.contains("1 day\n- **Status:** awaiting input — orphaned: look at it\n\n## Completed"));
    assert_eq!(placed(&parked, &seen()), parked, "it is a person's now");
    assert!(matches!(
        park_block(parked.as_bytes(), &id("2"), AWAITING, "x"),
        Err(PlacementError::NoBlock(_))
    ));
    let back = unpark_block(parked.as_bytes(), &id("2")).expect("unparked");
    let mut open = seen();
    open.insert(id("2"), Standing::Open);
    assert_eq!(
        outline(&String::from_utf8(back).expect("text"))[..3],
        ["## Forward plan", "### Task 2 — part 2", "### Task 2.5 — part 2.5"]
    );
    let none = alpha().replace("## Awaiting input", "## Elsewhere");
    assert!(matches!(
        park_block(none.as_bytes(), &id("2"), AWAITING, "x"),
        Err(PlacementError::NoSection(_))
    ));
}

#[test]
fn a_block_that_waits_for_a_second_time_says_one_thing() {
    let text = alpha().replace(
        "1 day\n\n### Task 2 ",
        "1 day\n- **Status:** running\n  since noon\n\n### Task 2 ",
    );
    let parked = park_block(text.as_bytes(), &id("1"), AWAITING, "r").expect("parked");
    let parked = String::from_utf8(parked).expect("text");
    let lines: Vec<&str> = parked
        .lines()
        .filter(|line| line.contains("noon") || line.starts_with(STATUS))
        .collect();
    assert_eq!(lines, ["- **Status:** awaiting input — r"]);
}

#[test]
fn the_stored_status_follows() {
    let status = |text: &str, pairs: &[(&str, Standing)]| derived_status(text.as_bytes(), &standings(pairs));
    let two = format!("## Forward plan\n\n{}\n## Deferred\n\n{}", block("1"), block("2"));
    let awaiting = format!("{two}\n## Awaiting input\n\n{}", block("3"));
    let done = Standing::Completed(None);
    assert_eq!(status(&two, &[("1", Standing::Open)]), Some(Status::Ready));
    assert_eq!(status(&two, &[("1", Standing::InProgress)]), Some(Status::Active));
    assert_eq!(status(&two, &[("1", done.clone())]), Some(Status::Done));
    assert_eq!(status(&two, &[("1", Standing::Unknown)]), None);
    assert_eq!(
        status(&awaiting, &[("1", done.clone()), ("3", done)]),
        Some(Status::Active)
    );
    assert_eq!(status("## Deferred\n\n### Task 2 — x\n", &[]), Some(Status::Done));
    assert_eq!(status("", &[]), None);
    let file = b"# A\n\n**Status:** Ready\n\nx\n";
    let active = with_stored_status(file, Status::Active).expect("edited");
    assert_eq!(active.as_deref(), Some(&b"# A\n\n**Status:** Active\n\nx\n"[..]));
    assert_eq!(with_stored_status(file, Status::Ready), Ok(None));
    assert_eq!(with_stored_status(b"# A\n\nx\n", Status::Ready), Ok(None));
    assert!(with_stored_status(b"**Status:** a\n**Status:** b\n\nx\n", Status::Ready).is_err());
}

fn standing() -> impl Strategy<Value = Standing> {
    prop_oneof![
        Just(Standing::Completed(stamp(Some(3)))),
        Just(Standing::Completed(stamp(None))),
        Just(Standing::Completed(None)),
        Just(Standing::InProgress),
        Just(Standing::Open),
        Just(Standing::Unknown),
    ]
}

/// Pieces of a file, put together in any order.
fn pieces() -> impl Strategy<Value = String> {
    let headings = [
        "Forward plan",
        "In progress",
        "Awaiting input",
        "Completed",
        "Deferred",
        "Out of scope",
        "Notes",
    ];
    let piece = prop_oneof![
        3 => (0_usize..7).prop_map(move |index| format!("## {}\n", headings[index])),
        4 => (0_u8..5).prop_map(|task| block(&task.to_string())),
        1 => Just("### Notes of a person\n\nwords\n".to_owned()),
        1 => Just("loose words\n".to_owned()),
        1 => Just("(none yet)\n".to_owned()),
        1 => Just("- **Status:** Completed · PR #3 merged 2026-07-15\n".to_owned()),
        1 => Just("\n\n".to_owned()),
        1 => Just("```\ncode\n\n\n```\n".to_owned()),
        1 => Just("- **Task 1** — later\n".to_owned()),
    ];
    proptest::collection::vec(piece, 0..16).prop_map(|pieces| HEADER.to_owned() + &pieces.join("\n"))
}

/// The lines that a person, or an author, wrote: all but what only says where something stands.
fn words(text: &str) -> Vec<String> {
    let is_snapshot = |line: &&str| {
        line.trim().is_empty() || line.starts_with("## ") || line.starts_with(STATUS) || line.trim() == "(none yet)"
    };
    let mut words: Vec<String> = text
        .lines()
        .filter(|line| !is_snapshot(line))
        .map(str::to_owned)
        .collect();
    words.sort();
    words
}

/// Returns the tasks of a section, in file order.
fn tasks_of(text: &str, section: &str) -> Vec<TaskId> {
    let (_, behind) = text.split_once(&format!("## {section}\n")).unwrap_or_default();
    let lines = behind.lines().take_while(|line| !line.starts_with("## "));
    lines
        .filter_map(|line| line.strip_prefix("### Task "))
        .filter_map(|rest| TaskId::parse(rest.split(' ').next()?).ok())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// A task that is parked and put back leaves a ledger that is in order as it was found.
    /// Verifies REQ-B3.4.
    #[test]
    fn putting_back_gives_back_every_byte(
        text in pieces(),
        standings in proptest::collection::btree_map((0_u8..5).prop_map(|task| id(&task.to_string())), standing(), 0..5),
        place in 0_usize..3,
    ) {
        let before = text + "\n## Awaiting input\n\n## Deferred\n\n## Out of scope\n";
        let Ok(before) = super::place(before.as_bytes(), &standings) else { return Ok(()) };
        let before = String::from_utf8(before).expect("text");
        let place = ParkingPlace::BULLETS[place];
        let forward = tasks_of(&before, "Forward plan");
        if !forward.is_sorted() {
            return Ok(());
        }
        for task in forward {
            let heading = format!("### Task {task} ");
            // Such a bundle does not read.
            if before.matches(&heading).count() > 1 {
                continue;
            }
            let block = before.split(&heading).nth(1).and_then(|rest| rest.split("\n#").next()).expect("a block");
            let Ok(parked) = park_block(before.as_bytes(), &task, place, "waits") else { continue };
            let parked = String::from_utf8(parked).expect("text");
            prop_assert!(tasks_of(&parked, place.section()).contains(&task), "{}", parked);
            // What the annotation said before is gone: there is one at a time (contract/core.md §14.2).
            if block.contains(STATUS) || tasks_of(&before, place.section()).contains(&task) {
                continue;
            }
            let back = unpark_block(parked.as_bytes(), &task).map(|bytes| String::from_utf8(bytes).expect("text"));
            prop_assert_eq!(back, Ok(before.clone()));
        }
    }

    /// A second placement changes nothing, and neither a block nor a word is lost.
    #[test]
    fn placing_is_idempotent_and_loses_nothing(
        text in pieces(),
        standings in proptest::collection::btree_map((0_u8..5).prop_map(|task| id(&task.to_string())), standing(), 0..5),
    ) {
        let Ok(bytes) = place(text.as_bytes(), &standings) else { return Ok(()) };
        prop_assert_eq!(place(&bytes, &standings).expect("again"), bytes.clone());
        let after = String::from_utf8(bytes).expect("text");
        let ids = |text: &str| {
            let mut ids: Vec<String> = text.lines().filter(|line| line.starts_with("### ")).map(str::to_owned).collect();
            ids.sort();
            ids.dedup();
            ids
        };
        prop_assert_eq!(ids(&after), ids(&text));
        let mut before = words(&text);
        let mut found = words(&after);
        // A block that stood there twice, word for word, stands there once.
        before.dedup();
        found.dedup();
        prop_assert_eq!(found, before);
    }

    #[test]
    fn any_bytes_end_in_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(once) = place(&bytes, &BTreeMap::new()) {
            prop_assert_eq!(place(&once, &BTreeMap::new()).expect("again"), once);
        }
    }
}
