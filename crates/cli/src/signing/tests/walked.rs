//! A person at a walk.

use std::collections::BTreeSet;

use orchestrate_spec::anchor::{content_anchor, snapshot_anchor};

use super::super::pages::Size;
use super::super::sections::sections;
use super::super::subject::judge;
use super::super::walk::{Effect, Input, Walk};
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
        let sections = sections(&matter.purpose, &matter.files.texts, drawn(), &[]);
        let mut walk = Walk::new(
            matter,
            sections,
            read,
            Size::DEFAULT,
            "Then it is committed.".to_owned(),
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
