//! The walk without a terminal: what is shown, what is asked, and what each answer writes.

use std::collections::BTreeSet;

use orchestrate_core::identifier::SpecId;
use orchestrate_core::place::BundleFile;
use orchestrate_spec::anchor::{content_anchor, snapshot_anchor, whole_files_anchor};
use orchestrate_spec::brief::{Freshness, RecordClass, freshness, parse_sign_off, render_sign_off};
use orchestrate_spec::edit::with_status;
use orchestrate_spec::template::new_bundle;
use orchestrate_spec::{BundleTexts, ChangelogEntry, Status, parse_bundle};

use super::pages::Size;
use super::record::{Choice, Matter, Signing, compose};
use super::sections::{Section, difference, graph, sections};
use super::subject::{Baseline, Files, Purpose, Verdict, as_ready, judge};
use super::walk::{Effect, Input, Walk};

fn spec() -> SpecId {
    SpecId::parse("alpha").expect("a name")
}

fn draft() -> BundleTexts {
    new_bundle("Alpha", "2026-11-30").expect("a bundle")
}

fn ready() -> BundleTexts {
    as_ready(&draft())
}

fn changed(texts: &BundleTexts, from: &str, to: &str) -> BundleTexts {
    let requirements = String::from_utf8(texts.requirements.clone()).expect("text");
    assert!(requirements.contains(from));
    BundleTexts {
        requirements: requirements.replace(from, to).into_bytes(),
        ..texts.clone()
    }
}

/// A brief whose last record holds that anchor.
fn brief(anchor: &str) -> Vec<u8> {
    format!("# Brief\n\n## Sign-off\n\nClass: meaning\nLens-pass: x\nAnchor: `{anchor}` — computed as\n`scripts/spec-anchor.sh specs/alpha`\n").into_bytes()
}

fn files(texts: BundleTexts, brief: Option<Vec<u8>>) -> Files {
    Files { texts, brief }
}

fn baseline(texts: BundleTexts) -> Result<Baseline, String> {
    Ok(Baseline {
        commit: "3f1c2ab".to_owned(),
        texts,
    })
}

fn none() -> Result<Baseline, String> {
    Err("nothing is committed yet".to_owned())
}

fn matter(files: Files, purpose: Purpose) -> Matter {
    Matter {
        spec: spec(),
        title: "Alpha".to_owned(),
        today: "2026-12-01".to_owned(),
        files,
        purpose,
    }
}

fn first() -> Purpose {
    Purpose::Whole {
        why: "it was never signed".to_owned(),
        first: true,
    }
}

fn to_sign(verdict: Verdict) -> Purpose {
    match verdict {
        Verdict::ToSign(purpose) => purpose,
        Verdict::Signed(record) => panic!("signed: {record:?}"),
    }
}

/// The bundle that a signature leaves.
fn after(matter: &Matter, signing: &Signing) -> Files {
    let mut files = matter.files.clone();
    for (file, bytes) in &signing.changes {
        let target = match file {
            BundleFile::Requirements => &mut files.texts.requirements,
            BundleFile::Design => &mut files.texts.design,
            BundleFile::Tasks => &mut files.texts.tasks,
            BundleFile::TestSpec => &mut files.texts.test_spec,
            BundleFile::KickoffBrief => files.brief.get_or_insert_default(),
        };
        target.clone_from(bytes);
    }
    files
}

fn entries(texts: &BundleTexts) -> Vec<ChangelogEntry> {
    let text = String::from_utf8(texts.requirements.clone()).expect("text");
    let dated = |(index, line): (usize, &str)| {
        let (date, text) = line.strip_prefix("- 2026-")?.split_at_checked(5)?;
        Some(ChangelogEntry {
            date: format!("2026-{date}"),
            text: text.to_owned(),
            line: u32::try_from(index).ok()? + 1,
        })
    };
    text.lines().enumerate().filter_map(dated).collect()
}

fn drawn() -> Section {
    graph(&parse_bundle(&spec(), &draft()).expect("it reads"), 80, true)
}

fn meaning(words: &str) -> Choice {
    Choice {
        class: RecordClass::Meaning,
        words: words.to_owned(),
    }
}

#[test]
fn what_the_last_record_says() {
    let anchor = content_anchor(&ready()).expect("an anchor");
    let verdict = |texts: &BundleTexts, brief: Option<Vec<u8>>, baseline| {
        judge(&spec(), &files(texts.clone(), brief), &entries(texts), baseline)
    };
    assert!(matches!(
        verdict(&ready(), Some(brief(&anchor)), none()),
        Verdict::Signed(_)
    ));
    assert!(matches!(
        to_sign(verdict(&draft(), None, none())),
        Purpose::Whole { first: true, .. }
    ));
    assert!(matches!(
        to_sign(verdict(&ready(), Some(b"# Brief\n\nAnchor: (none)\n".to_vec()), none())),
        Purpose::Whole { first: true, .. }
    ));
    // A Draft whose content was signed before has to be signed again, however little changed.
    let Purpose::Delta(same) = to_sign(verdict(&draft(), Some(brief(&anchor)), none())) else {
        panic!("a delta");
    };
    assert_eq!(same.texts, draft());
    let edited = changed(&ready(), "for whom", "for everybody");
    assert!(matches!(
        to_sign(verdict(&edited, Some(brief(&anchor)), none())),
        Purpose::Whole { first: false, .. }
    ));
    assert!(matches!(
        to_sign(verdict(&edited, Some(brief(&anchor)), baseline(edited.clone()))),
        Purpose::Whole { first: false, .. }
    ));
    assert_eq!(
        to_sign(verdict(&edited, Some(brief(&anchor)), baseline(ready()))),
        Purpose::Delta(baseline(ready()).expect("it"))
    );
}

#[test]
fn older_anchors_of_unchanged_content_are_re_anchored() {
    let older = [
        snapshot_anchor(&ready()).expect("an anchor"),
        whole_files_anchor(&ready()),
        snapshot_anchor(&draft()).expect("an anchor"),
    ];
    for anchor in older {
        let files = files(ready(), Some(brief(&anchor)));
        let purpose = to_sign(judge(&spec(), &files, &[], none()));
        assert!(matches!(&purpose, Purpose::ReAnchor { cites: None, .. }), "{purpose:?}");
        let matter = matter(files, purpose);
        let choice = Choice {
            class: RecordClass::ExpressionOnly,
            words: String::new(),
        };
        let signing = compose(&matter, &choice).expect("it is written");
        let left = after(&matter, &signing);
        let text = String::from_utf8(left.texts.requirements.clone()).expect("text");
        assert!(
            text.contains("- 2026-11-30 — First draft.\n- 2026-12-01 — Re-anchored (expression-only)"),
            "{text}"
        );
        let verdict = judge(&spec(), &left, &entries(&left.texts), none());
        let Verdict::Signed(record) = verdict else {
            panic!("signed: {verdict:?}")
        };
        assert_eq!(record.class, RecordClass::ExpressionOnly);
        let order: Vec<BundleFile> = signing.changes.iter().map(|(file, _)| *file).collect();
        assert_eq!(order, [BundleFile::Requirements, BundleFile::KickoffBrief]);
    }
}

#[test]
fn a_re_anchoring_that_was_cut_off_is_completed_without_a_second_entry() {
    let anchor = snapshot_anchor(&ready()).expect("an anchor");
    let begun = files(ready(), Some(brief(&anchor)));
    let purpose = to_sign(judge(&spec(), &begun, &[], none()));
    let choice = Choice {
        class: RecordClass::ExpressionOnly,
        words: String::new(),
    };
    let whole = matter(begun.clone(), purpose);
    let signing = compose(&whole, &choice).expect("it is written");
    let cut = Signing {
        changes: signing.changes[..1].to_vec(),
        ..signing
    };
    let left = after(&whole, &cut);
    let purpose = to_sign(judge(&spec(), &left, &entries(&left.texts), none()));
    assert!(
        matches!(&purpose, Purpose::ReAnchor { cites: Some(_), .. }),
        "{purpose:?}"
    );
    let rest = matter(left, purpose);
    let signing = compose(&rest, &choice).expect("it is written");
    let order: Vec<BundleFile> = signing.changes.iter().map(|(file, _)| *file).collect();
    assert_eq!(order, [BundleFile::KickoffBrief]);
    let left = after(&rest, &signing);
    assert!(matches!(
        judge(&spec(), &left, &entries(&left.texts), none()),
        Verdict::Signed(_)
    ));
}

/// Verifies REQ-B3.3.
#[test]
fn a_signature_flips_every_header_and_the_brief_is_last() {
    let matter = matter(files(draft(), None), first());
    let signing = compose(&matter, &meaning("read by two")).expect("it is written");
    let order: Vec<BundleFile> = signing.changes.iter().map(|(file, _)| *file).collect();
    assert_eq!(
        order,
        [
            BundleFile::Design,
            BundleFile::Tasks,
            BundleFile::TestSpec,
            BundleFile::Requirements,
            BundleFile::KickoffBrief
        ]
    );
    let left = after(&matter, &signing);
    assert_eq!(left.texts, with_status(&draft(), Status::Ready).expect("flipped"));
    let brief = String::from_utf8(left.brief.clone().expect("a brief")).expect("text");
    assert!(brief.ends_with("`scripts/spec-anchor.sh specs/alpha`\n"), "{brief}");
    assert!(brief.contains("\n### 2026-12-01 — Sign-off\n\nClass: meaning\nLens-pass: read by two\nAnchor: `"));
    assert!(matches!(judge(&spec(), &left, &[], none()), Verdict::Signed(_)));
}

#[test]
fn whatever_was_written_before_a_crash_nothing_counts_as_signed_until_the_brief_is() {
    let matter = matter(files(draft(), None), first());
    let signing = compose(&matter, &meaning("read")).expect("it is written");
    for written in 0..signing.changes.len() {
        let cut = Signing {
            changes: signing.changes[..written].to_vec(),
            ..signing.clone()
        };
        let left = after(&matter, &cut);
        let purpose = to_sign(judge(&spec(), &left, &[], none()));
        assert!(matches!(&purpose, Purpose::Whole { first: true, .. }), "{written}");
        // Signing again completes it, with the same files in the end.
        let again = super::record::Matter {
            files: left,
            ..matter.clone()
        };
        let rest = compose(&again, &meaning("read")).expect("it is written");
        assert_eq!(after(&again, &rest), after(&matter, &signing));
    }
}

#[test]
fn a_brief_that_is_there_is_only_added_to() {
    let old = render_sign_off(&spec(), &draft(), "x").expect("a record");
    let old = format!("# Mine\n\n## 8. Sign-off\n\n{old}").into_bytes();
    let texts = changed(&ready(), "for whom", "for everybody");
    let matter = matter(
        files(texts, Some(old.clone())),
        Purpose::Delta(baseline(ready()).expect("it")),
    );
    for (class, heading) in [
        (RecordClass::Meaning, "### 2026-12-01 — Delta sign-off"),
        (RecordClass::ExpressionOnly, "### 2026-12-01 — Expression-only sign-off"),
    ] {
        let choice = Choice {
            class,
            words: "clearer words".to_owned(),
        };
        let signing = compose(&matter, &choice).expect("it is written");
        let left = after(&matter, &signing);
        let brief = left.brief.expect("a brief");
        assert!(brief.starts_with(&old));
        assert!(signing.record.starts_with(heading), "{}", signing.record);
        let record = parse_sign_off(&spec(), &brief).expect("a record");
        assert_eq!(record.class, class);
        assert_eq!(freshness(&record, &left.texts), Ok(Freshness::Matches));
        let requirements = String::from_utf8(left.texts.requirements).expect("text");
        assert_eq!(
            requirements.contains("- 2026-12-01 — clearer words\n"),
            class == RecordClass::ExpressionOnly
        );
    }
}

#[test]
fn every_line_that_is_signed_is_shown() {
    let shown: String = sections(&first(), &draft(), drawn(), &[])
        .into_iter()
        .map(|section| section.text + "\n")
        .collect();
    for (_, bytes) in draft().files() {
        let text = String::from_utf8(bytes.to_vec()).expect("text");
        for line in text.lines().filter(|line| !line.starts_with("**Status:**")) {
            assert!(shown.lines().any(|other| other == line), "{line}");
        }
    }
}

#[test]
fn a_difference_is_signed_and_short() {
    let before = (0..30).map(|number| format!("{number}\n")).collect::<String>();
    let after = before.replace("\n4\n", "\nfour\n").replace("\n25\n", "\n");
    assert_eq!(
        difference(&before, &after),
        "  1\n  2\n  3\n- 4\n+ four\n  5\n  6\n  7\n  ⋮\n  22\n  23\n  24\n- 25\n  26\n  27\n  28\n"
    );
}

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

#[test]
fn another_width_of_the_terminal_makes_no_other_graph() {
    let bundle = parse_bundle(&spec(), &draft()).expect("it reads");
    let (narrow, wide) = (graph(&bundle, 40, false), graph(&bundle, 120, true));
    assert_ne!(narrow.text, wide.text);
    assert_eq!(narrow.key, wide.key);
}
