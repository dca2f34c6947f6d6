//! Signing without a terminal: what the last record says, and what each choice writes; below, what is shown and asked.

use orchestrate_core::identifier::SpecId;
use orchestrate_core::place::BundleFile;
use orchestrate_spec::anchor::{content_anchor, snapshot_anchor, whole_files_anchor};
use orchestrate_spec::brief::{Freshness, RecordClass, freshness, parse_sign_off, render_sign_off};
use orchestrate_spec::edit::with_status;
use orchestrate_spec::template::new_bundle;
use orchestrate_spec::{BundleTexts, ChangelogEntry, Status, parse_bundle};

use super::record::{Choice, Matter, Signing, compose};
use super::sections::{Section, graph};
use super::subject::{Baseline, Files, Purpose, Verdict, as_ready, judge};

mod shown;
mod walked;

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
        untouched: Vec::new(),
        halts: Vec::new(),
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
        cites: None,
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
            cites: None,
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
        cites: None,
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
        let again = Matter {
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
            cites: None,
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
