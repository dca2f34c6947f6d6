//! Sign-off records as the contract writes them, and as people do.

use super::*;

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

#[test]
fn commands_that_are_not_sanctioned_are_refused() {
    let other = read(&record(
        "meaning",
        "Lens-pass: a",
        &two_lines("scripts/spec-anchor.sh specs/beta"),
    ));
    assert_eq!(other, Err(BriefErrorReason::OtherBundle));
    for command in [
        "./scripts/spec-anchor.sh specs/alpha",
        "scripts/spec-anchor.sh specs/alpha/",
        "scripts/spec-anchor.sh  specs/alpha",
        "scripts/spec-anchor.sh specs/alpha; ls",
        "$X/spec-anchor.sh specs/alpha",
        "scripts/scripts/spec-anchor.sh specs/alpha",
        "git hash-object requirements.md",
        "/scripts/spec-anchor.sh specs/alpha",
        "scripts/spec-anchor.sh specs/../alpha",
    ] {
        assert_eq!(
            read(&record("meaning", "Lens-pass: a", &two_lines(command))),
            Err(BriefErrorReason::UnknownCommand),
            "{command}"
        );
    }
}

#[test]
fn the_last_anchor_line_decides() {
    let good = record("meaning", "Lens-pass: a", &two_lines("spec-anchor.sh specs/alpha"));
    let halt = record("n/a (halt)", "", "Anchor: (none — fail closed)");
    assert_eq!(read(&format!("{good}{halt}")), Err(BriefErrorReason::NoHash));
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
        Err(BriefErrorReason::NoClass)
    );
    assert_eq!(read(&format!("# B\n{anchor}\n")), Err(BriefErrorReason::NoClass));
    // The nearest class counts.
    assert_eq!(
        class("meaning", "Class: expression-only\nLens-pass: a"),
        Ok(RecordClass::Meaning)
    );
}

#[test]
fn an_error_names_its_line() {
    let error = parse_sign_off(&spec(), record("n/a", "", "Anchor: none").as_bytes()).expect_err("no record");
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
