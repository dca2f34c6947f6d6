//! Sign-off records as the contract writes them, and as people do.

use super::*;
use crate::anchor::{CommandError, snapshot_anchor, whole_files_anchor};
use crate::edit::with_status;
use crate::{BundleTexts, Status};

const HASH: &str = "0123456789abcdef0123456789abcdef01234567";

fn spec() -> SpecId {
    SpecId::parse("alpha").expect("spec")
}

fn texts() -> BundleTexts {
    let text = |body: &str| format!("**Status:** Ready\n{body}\n").into_bytes();
    BundleTexts {
        requirements: text("a"),
        design: text("b"),
        tasks: text("c"),
        test_spec: text("d"),
    }
}

fn record(class: &str, rest: &str, anchor: &str) -> String {
    format!("## 8. Sign-off\n\n{rest}\nClass: {class}\n{anchor}\n")
}

fn two_lines(command: &str) -> String {
    format!("Anchor: `{HASH}` — computed as\n`{command}`")
}

fn read(brief: &str) -> Result<SignOffRecord, BriefErrorReason> {
    parse_sign_off(&spec(), brief.as_bytes()).map_err(|error| error.reason)
}

#[test]
fn both_layouts_and_every_sanctioned_command_are_read() {
    let whole = "git hash-object requirements.md design.md tasks.md test-spec.md | git hash-object --stdin";
    for (command, form) in [
        ("scripts/spec-anchor.sh specs/alpha", AnchorForm::Canonical),
        ("spec-anchor.sh specs/alpha", AnchorForm::Canonical),
        (whole, AnchorForm::WholeFiles),
    ] {
        for anchor in [two_lines(command), format!("Anchor: {HASH} (`{command}`)")] {
            let found = read(&record("meaning", "Lens-pass: above", &anchor)).expect("a record");
            assert_eq!(
                (found.class, found.form, found.anchor.as_str()),
                (RecordClass::Meaning, form, HASH),
                "{anchor}"
            );
        }
    }
}

/// Verifies REQ-B1.7.
#[test]
fn commands_that_are_not_sanctioned_are_refused() {
    let other = read(&record(
        "meaning",
        "Lens-pass: a",
        &two_lines("scripts/spec-anchor.sh specs/beta"),
    ));
    assert_eq!(other, Err(BriefErrorReason::Command(CommandError::OtherBundle)));
    assert_eq!(
        read(&record(
            "meaning",
            "Lens-pass: a",
            &two_lines("./scripts/spec-anchor.sh specs/alpha")
        )),
        Err(BriefErrorReason::Command(CommandError::Unknown))
    );
}

/// Verifies REQ-B1.7.
#[test]
fn the_last_anchor_line_decides() {
    let good = record("meaning", "Lens-pass: a", &two_lines("spec-anchor.sh specs/alpha"));
    let halt = record("n/a (halt)", "", "Anchor: (none — fail closed)");
    assert_eq!(read(&format!("{good}{halt}")), Err(BriefErrorReason::DeliberateHalt));
    assert_eq!(read(&format!("{halt}{good}")).map(|found| found.line), Ok(10));
    assert_eq!(read("# Brief\n\n Anchor: indented\n"), Err(BriefErrorReason::Absent));
    assert_eq!(read(&format!("{good}```\n{halt}```\n")).map(|found| found.line), Ok(5));
    assert_eq!(read(&format!("{good}```\n{halt}")), Err(BriefErrorReason::OpenFence));
    let command = Err(BriefErrorReason::NoCommand);
    assert_eq!(
        read(&format!(
            "{good}Anchor: `{HASH}` — computed as\n\n`spec-anchor.sh specs/alpha`\n"
        )),
        command
    );
    assert_eq!(read(&good.replace('\n', "\r\n")), command);
    assert_eq!(
        read(&good.replace("0123456789abcdef0123456789abcdef01234567", &format!("{HASH}8"))),
        Err(BriefErrorReason::NoHash)
    );
    assert!(matches!(read("a\0"), Err(BriefErrorReason::NotText(_))));
}

#[test]
fn classes_need_their_evidence() {
    let anchor = two_lines("spec-anchor.sh specs/alpha");
    let class = |class: &str, rest: &str| read(&record(class, rest, &anchor)).map(|found| found.class);
    assert_eq!(
        class("meaning-class (delta)", "Lens-pass:\n  wrapped"),
        Ok(RecordClass::Meaning)
    );
    assert_eq!(class("meaning", ""), Err(BriefErrorReason::NoLensPass));
    assert_eq!(class("meaning", "Lens-pass:"), Err(BriefErrorReason::NoLensPass));
    assert_eq!(
        class("meaning", "Lens-pass: a\n### later"),
        Err(BriefErrorReason::NoLensPass)
    );
    assert_eq!(
        class("expression-only", "**Cites the Changelog line:** x"),
        Ok(RecordClass::ExpressionOnly)
    );
    assert_eq!(class("expression-only", "x"), Err(BriefErrorReason::NoChangelog));
    assert_eq!(
        class("n/a (fail closed)", "Lens-pass: a"),
        Err(BriefErrorReason::DeliberateHalt)
    );
    assert_eq!(class("later", "Lens-pass: a"), Err(BriefErrorReason::NoClass));
    assert_eq!(read(&format!("# B\n{anchor}\n")), Err(BriefErrorReason::NoClass));
    // The nearest class counts.
    assert_eq!(
        class("meaning", "Class: expression-only\nLens-pass: a"),
        Ok(RecordClass::Meaning)
    );
}

#[test]
fn an_error_names_its_line() {
    let error = parse_sign_off(&spec(), record("meaning", "", "Anchor: later").as_bytes()).expect_err("no record");
    assert_eq!(
        error.to_string(),
        "kickoff-brief.md:5: the last `Anchor:` line has no hash of 40 lower-case hex digits"
    );
}

#[test]
fn a_rendered_record_is_read_and_matches() {
    let texts = texts();
    let rendered = render_sign_off(&spec(), &texts, "review of\n2026-11-29,\nAnchor: none").expect("rendered");
    let found =
        parse_sign_off(&spec(), format!("# Brief\n\n## 8. Sign-off\n\n{rendered}").as_bytes()).expect("a record");
    assert_eq!(
        (found.class, found.form, found.line),
        (RecordClass::Meaning, AnchorForm::Canonical, 7)
    );
    assert_eq!(freshness(&found, &texts), Ok(Freshness::Matches));
    let changed = BundleTexts {
        design: b"**Status:** Ready\nB\n".to_vec(),
        ..texts.clone()
    };
    assert!(matches!(freshness(&found, &changed), Ok(Freshness::Changed { .. })));
    let restated = BundleTexts {
        design: b"**Status:** Draft\nb\n".to_vec(),
        ..texts.clone()
    };
    assert_eq!(freshness(&found, &restated), Ok(Freshness::Matches));
    let broken = BundleTexts {
        design: b"b\n".to_vec(),
        ..texts.clone()
    };
    assert_eq!(freshness(&found, &broken).map_err(|error| error.exit_class()), Err(4));
    assert_eq!(render_sign_off(&spec(), &texts, " \n"), Err(SignOffError::NoLensPass));
}

#[test]
fn records_of_the_older_rule_are_recognised() {
    let texts = texts();
    let now = content_anchor(&texts).expect("anchored");
    let of = |anchor: String, form| SignOffRecord {
        class: RecordClass::Meaning,
        form,
        anchor,
        line: 1,
    };
    let snapshot = snapshot_anchor(&texts).expect("anchored");
    assert_eq!(
        freshness(&of(snapshot.clone(), AnchorForm::Canonical), &texts),
        Ok(Freshness::PreChange {
            recorded: snapshot,
            now: now.clone()
        })
    );
    let whole = whole_files_anchor(&texts);
    assert_eq!(
        freshness(&of(whole.clone(), AnchorForm::WholeFiles), &texts),
        Ok(Freshness::Matches)
    );
    assert_eq!(
        freshness(&of(whole.clone(), AnchorForm::Canonical), &texts),
        Ok(Freshness::PreChange {
            recorded: whole.clone(),
            now: now.clone()
        })
    );
    assert_eq!(
        freshness(&of(now.clone(), AnchorForm::WholeFiles), &texts),
        Ok(Freshness::Changed {
            recorded: now,
            now: whole
        })
    );
}

#[test]
fn a_status_that_moved_on_is_no_change_of_what_was_signed() {
    let signed = texts();
    let moved = with_status(&signed, Status::Active).expect("restated");
    let edited = BundleTexts {
        design: b"**Status:** Active\nB\n".to_vec(),
        ..moved.clone()
    };
    for (anchor, form) in [
        (snapshot_anchor(&signed).expect("anchored"), AnchorForm::Canonical),
        (whole_files_anchor(&signed), AnchorForm::Canonical),
        (whole_files_anchor(&signed), AnchorForm::WholeFiles),
    ] {
        let record = SignOffRecord {
            class: RecordClass::Meaning,
            form,
            anchor,
            line: 1,
        };
        assert!(
            matches!(freshness(&record, &moved), Ok(Freshness::PreChange { .. })),
            "{record:?}"
        );
        assert!(
            matches!(freshness(&record, &edited), Ok(Freshness::Changed { .. })),
            "{record:?}"
        );
    }
}

#[test]
fn deliberate_halts_are_told_from_broken_records() {
    let command = "spec-anchor.sh specs/alpha";
    for (class, anchor, reason) in [
        (
            "n/a (halt)",
            "Anchor: (none — fail closed)".to_owned(),
            BriefErrorReason::DeliberateHalt,
        ),
        (
            "meaning",
            "Anchor: (none — fail closed)".to_owned(),
            BriefErrorReason::DeliberateHalt,
        ),
        ("meaning", "Anchor: `none`".to_owned(), BriefErrorReason::DeliberateHalt),
        ("n/a", two_lines(command), BriefErrorReason::DeliberateHalt),
        ("meaning", "Anchor:".to_owned(), BriefErrorReason::NoHash),
        ("meaning", "Anchor: 0123".to_owned(), BriefErrorReason::NoHash),
    ] {
        assert_eq!(
            read(&record(class, "Lens-pass: a", &anchor)),
            Err(reason),
            "{class} {anchor}"
        );
    }
}

#[test]
fn every_reason_ends_in_the_command_that_signs() {
    let reasons = [
        BriefErrorReason::NotText("a NUL byte"),
        BriefErrorReason::Absent,
        BriefErrorReason::OpenFence,
        BriefErrorReason::DeliberateHalt,
        BriefErrorReason::NoHash,
        BriefErrorReason::NoCommand,
        BriefErrorReason::Command(CommandError::Unknown),
        BriefErrorReason::Command(CommandError::OtherBundle),
        BriefErrorReason::NoClass,
        BriefErrorReason::NoLensPass,
        BriefErrorReason::NoChangelog,
    ];
    let sentences: std::collections::BTreeSet<String> = reasons.iter().map(ToString::to_string).collect();
    assert_eq!(sentences.len(), reasons.len());
    for reason in reasons {
        assert!(
            reason.remedy(&spec()).ends_with(": orchestrate sign specs/alpha"),
            "{reason}"
        );
    }
}

#[test]
fn an_expression_only_record_is_read_and_matches() {
    let texts = texts();
    for (changelog, why) in [
        ("2026-11-29 — wording", "only words"),
        ("# a\n```\nAnchor: x", "Class: n/a\nAnchor: (none)"),
    ] {
        let rendered = render_expression_only(&spec(), &texts, changelog, why).expect("rendered");
        let brief = append_record(&spec(), b"# Brief\n", "### later", &rendered).expect("appended");
        let found = parse_sign_off(&spec(), &brief).expect("a record");
        assert_eq!(found.class, RecordClass::ExpressionOnly);
        assert_eq!(freshness(&found, &texts), Ok(Freshness::Matches));
    }
    assert_eq!(
        render_expression_only(&spec(), &texts, "\n", "a"),
        Err(SignOffError::NoChangelog)
    );
    assert_eq!(
        render_expression_only(&spec(), &texts, "a", " "),
        Err(SignOffError::NoReason)
    );
}

#[test]
fn a_record_is_added_and_every_byte_stays() {
    let rendered = render_sign_off(&spec(), &texts(), "above").expect("rendered");
    for brief in [
        "",
        "# B",
        "# B\n",
        "# B\n\n",
        "# B\r\n\r\n## 8. Sign-off\r\nx",
        "# B\r\n\r\n",
        "\u{feff}# B\n```\n# x\n```\n",
    ] {
        let added = append_record(&spec(), brief.as_bytes(), "## 8. Sign-off", &rendered).expect("appended");
        let added = String::from_utf8(added).expect("text");
        let record = added.strip_prefix(brief).expect("the bytes stay");
        assert_eq!(record.contains('\r'), brief.contains('\r'), "{added:?}");
        assert!(!record.replace("\r\n", "").contains('\r'), "{added:?}");
        assert!(added.ends_with('\n') && !added.contains("\n\n\n"), "{added:?}");
        let found = parse_sign_off(&spec(), added.as_bytes()).expect("a record");
        assert_eq!(freshness(&found, &texts()), Ok(Freshness::Matches), "{added:?}");
        // The anchor line is the last, with its command.
        let tail = added.lines().rev().take(2).last().unwrap_or_default();
        assert!(
            tail.starts_with("Anchor:")
                || added
                    .lines()
                    .next_back()
                    .is_some_and(|line| line.starts_with("Anchor:"))
        );
    }
}

#[test]
fn a_record_that_would_not_count_is_not_added() {
    let rendered = render_sign_off(&spec(), &texts(), "above").expect("rendered");
    let append = |brief: &str, heading: &str, record: &str| append_record(&spec(), brief.as_bytes(), heading, record);
    assert_eq!(append("```\n", "## S", &rendered), Err(AppendError::OpenFence(1)));
    assert_eq!(
        append("a\0", "## S", &rendered),
        Err(AppendError::NotText("a NUL byte"))
    );
    for heading in ["", "S", "##", "## ", "## a\n# b", "##S"] {
        assert_eq!(append("", heading, &rendered), Err(AppendError::Heading), "{heading:?}");
    }
    let old = append("", "## S", &rendered).expect("appended");
    let old = String::from_utf8(old).expect("text");
    for (record, reason) in [
        ("nothing", BriefErrorReason::Absent),
        ("Class: meaning\nAnchor: none\n", BriefErrorReason::DeliberateHalt),
        ("```\n", BriefErrorReason::Absent),
    ] {
        assert_eq!(
            append(&old, "## S", record),
            Err(AppendError::Record(reason)),
            "{record:?}"
        );
    }
}

#[test]
fn every_anchor_line_is_listed() {
    let listed =
        recorded_anchors(format!("Anchor: `{HASH}`\n```\nAnchor: x\n```\n Anchor: y\nAnchor: none\n").as_bytes());
    assert_eq!(
        listed,
        [
            RecordedAnchor {
                line: 1,
                hash: Some(HASH.to_owned())
            },
            RecordedAnchor { line: 6, hash: None }
        ]
    );
    assert_eq!(recorded_anchors(b"Anchor: \0"), []);
}
