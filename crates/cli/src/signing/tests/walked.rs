//! A person at a walk.

use std::collections::BTreeSet;

use orchestrate_spec::template::untouched;

use super::super::pages::Size;
use super::super::sections::sections;
use super::super::walk::{Effect, Input, Surroundings, Walk};
use super::*;

/// A person at a walk: what was shown, and how it ended.
struct Person {
    walk: Walk,
    screen: String,
    kept: BTreeSet<String>,
    signed: Option<Signing>,
    left: bool,
    dropped: bool,
}

impl Person {
    fn at(matter: Matter, read: &BTreeSet<String>) -> Self {
        let sections = sections(&matter, drawn(), &[]);
        let mut walk = Walk::new(
            matter,
            sections,
            read,
            Size::DEFAULT,
            Surroundings {
                remarks: vec!["the tower reads main.".to_owned()],
                afterwards: "Then it is committed.".to_owned(),
            },
        );
        let effects = walk.begin();
        let mut person = Self {
            walk,
            screen: String::new(),
            kept: read.clone(),
            signed: None,
            left: false,
            dropped: false,
        };
        person.perform(effects);
        person
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Show(line) | Effect::Ask(line) => {
                    assert!(line.chars().count() <= 80, "{line}");
                    assert!(
                        line.is_empty() || !line.trim().is_empty(),
                        "a line of blanks cannot be shown"
                    );
                    self.screen.push_str(&line);
                    self.screen.push('\n');
                }
                Effect::Keep(read) => self.kept = read,
                Effect::DropTyped => self.dropped = true,
                Effect::Sign(signing) => self.signed = Some(*signing),
                Effect::Leave => self.left = true,
            }
        }
    }

    /// Types a line and returns what is shown then.
    fn types(&mut self, line: &str) -> String {
        self.screen.clear();
        let effects = self.walk.handle(Input::Line(line.to_owned()));
        self.perform(effects);
        self.screen.clone()
    }

    /// Presses Enter until that is shown.
    fn reads_to(&mut self, text: &str) -> String {
        let mut all = String::new();
        for _ in 0..200 {
            if self.screen.contains(text) {
                return all;
            }
            all.push_str(&self.types(""));
        }
        panic!("{text} was never shown, only:\n{all}");
    }
}

#[test]
fn a_person_reads_everything_and_signs() {
    let mut person = Person::at(matter(files(draft(), None), first()), &BTreeSet::new());
    let seen = person.reads_to("class [Enter: meaning]");
    for text in [
        "requirements.md · Goal",
        "D-1:",
        "the task graph",
        "critical path",
        "Task 2",
        "REQ-A1.2",
        "findings",
    ] {
        assert!(seen.contains(text), "{text}");
    }
    assert!(person.types("expression-only").contains("no earlier record"));
    assert!(person.types("").contains("Lens pass"));
    assert!(person.types("  ").contains("lens pass"));
    let preview = person.types("two of us, notes in the wiki");
    for text in [
        "design.md: Status Draft becomes Ready",
        "kickoff-brief.md: made",
        "Lens-pass: two of us, notes in the wiki",
        "Then it is committed.",
    ] {
        assert!(preview.contains(text), "{text}: {preview}");
    }
    assert!(person.dropped, "what was typed ahead answers no later question");
    for answer in ["", "y", "yes", "SIGN", "sign it"] {
        person.types(answer);
        assert_eq!((person.signed.is_some(), person.left), (false, false), "{answer}");
    }
    person.types("sign");
    assert!(person.signed.is_some());
}

#[test]
fn enter_alone_never_signs() {
    let mut person = Person::at(matter(files(draft(), None), first()), &BTreeSet::new());
    for _ in 0..300 {
        person.types("");
    }
    assert!(person.signed.is_none() && !person.left);
}

#[test]
fn every_prompt_can_be_left_and_nothing_is_signed() {
    for leave in [Input::Line("q".to_owned()), Input::Line(" q ".to_owned()), Input::Gone] {
        for steps in 0..40 {
            let mut person = Person::at(matter(files(draft(), None), first()), &BTreeSet::new());
            for step in 0..steps {
                let line = if person.screen.contains("lens pass") {
                    "read"
                } else {
                    ""
                };
                person.types(line);
                assert!(!person.left, "{step}");
            }
            let effects = person.walk.handle(leave.clone());
            person.perform(effects);
            assert!(person.left && person.signed.is_none(), "{steps}");
            person.types("sign");
            assert!(person.signed.is_none(), "a walk that was left is over");
        }
    }
}

#[test]
fn what_was_read_is_not_shown_again_unless_it_changed() {
    let mut person = Person::at(matter(files(draft(), None), first()), &BTreeSet::new());
    person.types("");
    person.types("");
    person.types("");
    let kept = person.kept.clone();
    assert_eq!(kept.len(), 2);
    let mut again = Person::at(matter(files(draft(), None), first()), &kept);
    assert!(
        again.screen.contains("2 of 15 parts were read before"),
        "{}",
        again.screen
    );
    let seen = again.reads_to("class [");
    assert!(
        !seen.contains("requirements.md · Goal") && seen.contains("REQ-A — The first theme"),
        "{seen}"
    );
    // The same words under another status are the same; other words are not.
    let mut ready_now = Person::at(matter(files(ready(), None), first()), &kept);
    assert!(!ready_now.reads_to("class [").contains("requirements.md · Goal"));
    let edited = changed(&draft(), "for whom", "for everybody");
    let mut edited = Person::at(matter(files(edited, None), first()), &kept);
    assert!(edited.reads_to("class [").contains("requirements.md · Goal"));
    let mut all = Person::at(matter(files(draft(), None), first()), &kept);
    all.types("a");
    assert!(all.screen.contains("requirements.md · Goal"));
}

#[test]
fn a_delta_shows_what_changed_and_asks_for_its_class() {
    let texts = changed(&ready(), "for whom", "for everybody");
    let signed = brief(&content_anchor(&ready()).expect("an anchor"));
    let purpose = Purpose::Delta(baseline(ready()).expect("it"));
    let mut person = Person::at(matter(files(texts, Some(signed)), purpose), &BTreeSet::new());
    let seen = person.reads_to("class (meaning or expression-only)");
    assert!(seen.contains("requirements.md · Goal (changed)"), "{seen}");
    assert!(
        seen.contains("- Say in a few sentences what will be true when this is done, and for whom. A"),
        "{seen}"
    );
    assert!(
        seen.contains("+ Say in a few sentences what will be true when this is done, and for everybody."),
        "{seen}"
    );
    assert!(!seen.contains("critical path") && !seen.contains("REQ-A1.2"), "{seen}");
    assert!(person.types("").contains("class ("), "a class has to be said");
    assert!(person.types("b").contains("findings"));
    assert!(person.types("").contains("class ("));
    assert!(person.types("expression-only").contains("for the changelog"));
    assert!(person.types("b").contains("class ("));
    let _ = person.types("expression-only");
    let preview = person.types("says who it is for");
    assert!(
        preview.contains("requirements.md: a changelog entry of 2026-12-01: says who it is for"),
        "{preview}"
    );
    assert!(preview.contains("Class: expression-only"), "{preview}");
    person.types("sign");
    assert!(person.signed.is_some());
}

#[test]
fn long_sections_come_in_pages() {
    let long = changed(
        &draft(),
        "for whom.",
        &format!("for whom.\n\n{}", "- a line of it\n".repeat(60)),
    );
    let mut person = Person::at(matter(files(long, None), first()), &BTreeSet::new());
    person.types("");
    assert!(
        person.screen.contains("page 1 of 4") && person.screen.contains("[Enter] more"),
        "{}",
        person.screen
    );
    assert!(person.screen.lines().count() <= 26, "{}", person.screen);
    person.types("");
    assert!(person.screen.contains("page 2 of 4"));
    assert!(person.types("b").contains("page 1 of 4"));
    assert!(
        person.types("b").contains("page 1 of 4"),
        "there is nothing before the first"
    );
    assert_eq!(person.kept.len(), 0, "it is read when its last page was");
}

#[test]
fn a_re_anchoring_is_asked_once_and_confirmed() {
    let anchor = snapshot_anchor(&ready()).expect("an anchor");
    let files = files(ready(), Some(brief(&anchor)));
    let purpose = to_sign(judge(&spec(), &files, &[], none()));
    let mut person = Person::at(matter(files, purpose), &BTreeSet::new());
    assert!(
        person.screen.contains("Nothing that was signed has changed"),
        "{}",
        person.screen
    );
    person.types("");
    let preview = person.types("");
    assert!(
        preview.contains("Class: expression-only") && preview.contains("changelog entry of 2026-12-01"),
        "{preview}"
    );
    assert!(person.types("b").contains("findings"));
    person.types("");
    person.types("sign");
    assert!(person.signed.is_some());
}

#[test]
fn the_template_can_be_read_and_not_signed() {
    let bundle = parse_bundle(&spec(), &draft()).expect("it reads");
    let matter = Matter {
        untouched: untouched(&bundle, &draft()),
        ..matter(files(draft(), None), first())
    };
    let mut person = Person::at(matter, &BTreeSet::new());
    assert!(
        person
            .screen
            .contains("Remark: it can be read, but not signed yet: REQ-A1.1, REQ-A1.2, D-1,"),
        "{}",
        person.screen
    );
    let seen = person.reads_to("It cannot be signed yet");
    for text in [
        "- specs/alpha/requirements.md:8: the goal is still as orchestrate new wrote it",
        "REQ-A1.2 is still as orchestrate new wrote it\n  write it over; the bundle cannot be signed before",
        "the test of REQ-A1.1 is still",
    ] {
        assert!(seen.contains(text), "{text}: {seen}");
    }
    assert!(person.left && !person.screen.contains("class"), "{}", person.screen);
}

#[test]
fn a_line_that_the_changelog_has_is_offered_and_no_second_one_is_written() {
    let line = "- 2026-12-05 — says who\n  it is for";
    let texts = changed(&ready(), "for whom", "for everybody");
    let texts = changed(&texts, "— First draft.", &format!("— First draft.\n{line}"));
    let signed = brief(&content_anchor(&ready()).expect("an anchor"));
    let purpose = Purpose::Delta(baseline(ready()).expect("it"));
    let mut person = Person::at(matter(files(texts, Some(signed)), purpose), &BTreeSet::new());
    let remark = "Remark: the changelog line of 2026-12-05 is dated in the future: today is\n2026-12-01.";
    assert!(person.screen.contains(remark), "{}", person.screen);
    person.reads_to("class (");
    let offer = person.types("expression-only");
    assert!(
        offer.contains("- 2026-12-05 — says who it is for\n") && offer.contains(remark),
        "{offer}"
    );
    assert!(person.types("my own words").contains("Expected: Enter, b or q."));
    let preview = person.types("");
    assert!(
        preview.contains("(\"says who it is for\")") && !preview.contains("a changelog entry of"),
        "{preview}"
    );
    assert!(person.types("b").contains("[Enter] cites this line"));
    person.types("");
    person.types("sign");
    let signing = person.signed.expect("signed");
    let order: Vec<BundleFile> = signing.changes.iter().map(|(file, _)| *file).collect();
    assert_eq!(order, [BundleFile::KickoffBrief]);
    assert!(
        signing.record.contains("the 2026-12-05 `## Changelog` entry"),
        "{}",
        signing.record
    );
}

#[test]
fn an_answer_that_is_none_is_told_what_is_expected() {
    let mut person = Person::at(matter(files(draft(), None), first()), &BTreeSet::new());
    let wrong = |person: &mut Person, answers: &[&str], expected: &str, prompt: &str| {
        for answer in answers {
            assert_eq!(person.types(answer), format!("{expected}\n{prompt}\n"), "{answer:?}");
        }
        let help = person.types("?");
        assert!(help.contains("  q") && help.contains("ends the walk"), "{help}");
        assert!(help.ends_with(&format!("{prompt}\n")), "{help}");
    };
    let begin = "[Enter] begins, q leaves: ";
    wrong(
        &mut person,
        &["banana", "y", "b"],
        "Expected: Enter or q. ? tells what each does.",
        begin,
    );
    person.types("");
    let page = "[Enter] read, next, b goes back, q leaves: ";
    wrong(
        &mut person,
        &["banana", "y"],
        "Expected: Enter, b or q. ? tells what each does.",
        page,
    );
    person.reads_to("class [");
    let class = "class [Enter: meaning], b goes back, q leaves: ";
    let expected = "Expected: Enter, meaning, b or q. ? tells what each does.";
    wrong(&mut person, &["banana", "y"], expected, class);
    person.types("");
    let pass = "lens pass (b goes back, q leaves): ";
    wrong(
        &mut person,
        &["", " \t"],
        "Expected: a line of text, b or q. ? tells what each does.",
        pass,
    );
    person.types("two of us");
    let sign = "type the word sign to sign it, b goes back, q leaves: ";
    let expected = "Expected: sign, b or q. ? tells what each does.";
    wrong(&mut person, &["banana", "y", "", "Sign"], expected, sign);
    assert!(person.types("b").contains("Lens pass"), "back to the question before");
    assert!(person.types("b").contains("class ["));
    assert!(person.signed.is_none() && !person.left);
}

#[test]
fn what_is_known_of_the_place_is_said_before_the_reading() {
    let person = Person::at(matter(files(draft(), None), first()), &BTreeSet::new());
    assert!(
        person.screen.contains("Remark: the tower reads main.\n"),
        "{}",
        person.screen
    );
}

#[test]
fn one_part_is_one() {
    let mut person = Person::at(matter(files(draft(), None), first()), &BTreeSet::new());
    person.types("");
    person.types("");
    let again = Person::at(matter(files(draft(), None), first()), &person.kept);
    assert!(
        again.screen.contains("1 of 15 parts was read before and is the same."),
        "{}",
        again.screen
    );
}
