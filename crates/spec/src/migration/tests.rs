//! Bundles of version 1 that are migrated, and each reason for which one is not.

mod properties;
mod refused;

use super::*;
use crate::anchor::snapshot_anchor;
use crate::brief::{Freshness, append_record, freshness, parse_sign_off, render_sign_off};
use crate::edit::with_status;
use crate::parse_bundle;

const DATE: &str = "2026-11-29";

fn spec() -> SpecId {
    SpecId::parse("alpha").expect("spec")
}

fn header(title: &str) -> String {
    format!("# Alpha — {title}\n\n**Status:** Active\n**Last reviewed:** 2026-11-01\n**Format-version:** 1\n\n")
}

fn task(id: &str, dependencies: &str, annotations: &str) -> String {
    format!(
        "### Task {id} — title {id}\n\n- **Deliverables:** one\n  more\n- **Done when:** done\n- **Dependencies:** {dependencies}\n- **Citations:** D-1 · REQ-A1.1\n- **Estimated effort:** 1 day\n{annotations}\n"
    )
}

/// A bundle whose `tasks.md` is its header block and then the given text.
fn bundle(tasks: &str) -> BundleTexts {
    BundleTexts {
        requirements: format!(
            "{}## Goal\n\nTo be small.\n\n## REQ-A — All\n\n- **REQ-A1.1** It SHALL be small.\n  *(Cites: D-1.)*\n\n## Changelog\n\n- 2026-11-01 — Born.\n\n## Sources\n\n- none\n",
            header("Requirements")
        )
        .into_bytes(),
        design: format!(
            "{}## Decision log\n\n### D-1: Small (N)\n\n**Decision:** small.\n**Alternatives considered:** large.\n**Chosen because:** it is small.\n",
            header("Design")
        )
        .into_bytes(),
        tasks: format!("{}{tasks}", header("Tasks")).into_bytes(),
        test_spec: format!("{}## REQ-A — All\n\n### REQ-A1.1 — small [test]\n\nLook.\n", header("Test spec")).into_bytes(),
    }
}

fn sections(forward: &str, progress: &str, awaiting: &str, completed: &str, deferred: &str, out: &str) -> String {
    let names = [
        "Forward plan",
        "In progress",
        "Awaiting input",
        "Completed",
        "Deferred",
        "Out of scope",
    ];
    let texts = [forward, progress, awaiting, completed, deferred, out];
    let section = |(name, text): (&str, &str)| {
        let text = if text.is_empty() { "(none yet)\n\n" } else { text };
        format!("## {name}\n\n{text}")
    };
    names.into_iter().zip(texts).map(section).collect()
}

fn usual() -> String {
    sections(
        &task("10", "2", ""),
        &task(
            "2",
            "1",
            "- **Status:** In progress · PR #4 open\n- **Last activity:** 2026-11-02\n",
        ),
        &task("3", "none", "- **Status:** awaiting input — which\n  colour?\n"),
        &task(
            "1",
            "none",
            "- **Status:** Completed · PR #2 merged 2026-11-02\n- **Dispatch:** backend=tmux · x ·\n  branch b\n",
        ),
        &format!(
            "- **Later.** When it hurts.\n  **Gate:** somebody asks.\n\n{}",
            task("2.5", "2", "")
        ),
        "- Everything else.\n",
    )
}

fn signed(texts: &BundleTexts) -> Vec<u8> {
    let record = render_sign_off(&spec(), texts, "the review of November").expect("rendered");
    append_record(&spec(), b"# Alpha - Kickoff brief\n", "## 8. Sign-off", &record).expect("appended")
}

fn run_with(texts: &BundleTexts, brief: &[u8]) -> Result<Migration, Refusal> {
    migrate(&spec(), texts, Some(brief), DATE)
}

fn migrated(texts: &BundleTexts, brief: &[u8]) -> (BundleTexts, Vec<u8>) {
    match migrate(&spec(), texts, Some(brief), DATE) {
        Ok(Migration::Migrated {
            texts,
            brief: Some(brief),
        }) => (texts, brief),
        other => panic!("not migrated: {other:?}"),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// Verifies REQ-B3.1.
#[test]
fn a_bundle_is_migrated_by_rule() {
    let texts = bundle(&format!("About these tasks.\n\n{}", usual()));
    let brief = signed(&texts);
    let (after, anchored) = migrated(&texts, &brief);
    let fields = |id: &str, dependencies: &str| task(id, dependencies, "");
    let head = "# Alpha — Tasks\n\n**Status:** Ready\n**Last reviewed:** 2026-11-01\n**Format-version:** 2\n**Execution:** derived — see the status render\n\nAbout these tasks.\n\n";
    let expected = [
        head,
        "## Tasks\n\n",
        &fields("1", "none"),
        &fields("2", "1"),
        &fields("2.5", "2"),
        &fields("3", "none"),
        &fields("10", "2"),
        "## Awaiting input\n\n- **Task 3** — awaiting input — which colour? *(converted from a relocated v1 task block at the format-version 2 migration.)*\n\n",
        "## Deferred\n\n- **Later.** When it hurts.\n  **Gate:** somebody asks.\n- **Task 2.5** — parked in the v1 \"## Deferred\" section. *(converted from a relocated v1 task block at the format-version 2 migration.)*\n\n",
        "## Out of scope\n\n- Everything else.\n",
    ]
    .concat();
    assert_eq!(text(&after.tasks), expected);
    let requirements = text(&after.requirements);
    let (above, entry) = requirements.split_once("- 2026-11-01 — Born.\n").expect("the log");
    assert!(above.contains("**Status:** Ready\n") && above.contains("**Format-version:** 2\n**Execution:** derived"));
    assert!(
        entry.starts_with("- 2026-11-29 — Migrated to format-version 2 by"),
        "{entry}"
    );
    assert!(entry.ends_with("expression-only.\n\n## Sources\n\n- none\n"), "{entry}");
    let parsed = parse_bundle(&spec(), &after).expect("it is valid");
    assert_eq!((parsed.tasks.len(), parsed.parked.len()), (5, 2));
    // The brief is only added to, and its last record signs what stands there now.
    let added = text(&anchored);
    let added = added.strip_prefix(&text(&brief)).expect("every byte stays");
    assert!(
        added.starts_with("\n### 2026-11-29 — Expression-only self-re-anchor (format-version 2 migration)\n\n"),
        "{added}"
    );
    assert!(added.ends_with("\n`scripts/spec-anchor.sh specs/alpha`\n"), "{added}");
    let record = parse_sign_off(&spec(), &anchored).expect("a record");
    assert_eq!(freshness(&record, &after), Ok(Freshness::Matches));
    assert_eq!(
        migrate(&spec(), &after, Some(&anchored), DATE),
        Ok(Migration::AlreadyVersion2)
    );
}

#[test]
fn empty_sections_and_missing_ones() {
    let (after, _) = {
        let texts = bundle("## Forward plan\n\n(none)\n\n## Out of scope\n- x");
        migrated(&texts, &signed(&texts))
    };
    let tasks = text(&after.tasks);
    let body = tasks.split_once("render\n\n").expect("a header").1;
    assert_eq!(
        body,
        "## Tasks\n\n(none yet)\n\n## Awaiting input\n\n(none yet)\n\n## Deferred\n\n(none yet)\n\n## Out of scope\n- x\n"
    );
}

#[test]
fn line_ends_stay_as_they_are() {
    let texts = bundle(&usual());
    let crlf = |bytes: &[u8]| text(bytes).replace('\n', "\r\n").into_bytes();
    let texts = BundleTexts {
        requirements: crlf(&texts.requirements),
        design: crlf(&texts.design),
        tasks: crlf(&texts.tasks),
        test_spec: crlf(&texts.test_spec),
    };
    let record = render_sign_off(&spec(), &texts, "the review of November").expect("rendered");
    let brief = append_record(&spec(), b"# Alpha\r\n", "## 8. Sign-off", &record).expect("appended");
    let (after, brief) = migrated(&texts, &brief);
    for (file, bytes) in after.files() {
        let text = text(bytes);
        assert!(!text.replace("\r\n", "").contains(['\r', '\n']), "{file}: {text:?}");
    }
    assert!(!text(&brief).replace("\r\n", "").contains('\n'));
}

#[test]
fn a_draft_is_migrated_without_signing_anything() {
    let texts = with_status(&bundle(&usual()), Status::Draft).expect("restated");
    for brief in [None, Some(&b"# Brief\n\n## 8. Sign-off\n"[..])] {
        let outcome = migrate(&spec(), &texts, brief, DATE).expect("migrated");
        let Migration::Migrated { texts: after, brief } = outcome else {
            panic!("not migrated: {outcome:?}")
        };
        assert_eq!(brief, None);
        assert!(text(&after.design).contains("**Status:** Draft\n"));
    }
}

#[test]
fn bundles_that_are_not_live_stay() {
    for status in [Status::Done, Status::Retired, Status::Superseded] {
        let texts = with_status(&bundle(&usual()), status).expect("restated");
        assert_eq!(migrate(&spec(), &texts, None, DATE), Ok(Migration::NotLive(status)));
    }
}

#[test]
fn a_record_of_the_older_rule_is_anchored_again() {
    let texts = bundle(&usual());
    // It was signed when it was Ready, by the rule that hashed the status.
    let ready = with_status(&texts, Status::Ready).expect("restated");
    let now = parse_sign_off(&spec(), &signed(&texts)).expect("a record").anchor;
    let older = snapshot_anchor(&ready).expect("anchored");
    let brief = text(&signed(&texts)).replace(&now, &older);
    let (after, brief) = migrated(&texts, brief.as_bytes());
    let record = parse_sign_off(&spec(), &brief).expect("a record");
    assert_eq!(freshness(&record, &after), Ok(Freshness::Matches));
}

#[test]
fn the_placeholder_of_the_amendment_log_goes() {
    let texts = bundle(&usual());
    let brief = text(&signed(&texts)) + "\n## 9. Amendment log\n\n(none yet; amendments\nfollow)\n\n\n";
    let (_, after) = migrated(&texts, brief.as_bytes());
    let after = text(&after);
    assert!(
        after.contains("## 9. Amendment log\n\n### 2026-11-29 — Expression-only"),
        "{after}"
    );
    assert!(!after.contains("(none yet"), "{after}");
    let elsewhere = text(&signed(&texts)) + "\n## 9. Risks\n\n(none yet)\n";
    let (_, after) = migrated(&texts, elsewhere.as_bytes());
    assert!(text(&after).starts_with(&elsewhere));
}

#[test]
fn a_lost_entry_is_repaired_and_nothing_else_is_signed() {
    let logs = [
        "- 2026-11-01 — Born.\n",
        "- 2026-11-02 — Later.\n- 2026-11-01 — Born.\n",
        "- 2026-11-02 — Later.\n\n- 2026-11-01 — Born.\n",
        "- 2026-11-01 — Born.\n\n- 2026-11-02 — Later.\n",
    ];
    for log in logs {
        let texts = bundle(&usual());
        let texts = BundleTexts {
            requirements: text(&texts.requirements)
                .replace("- 2026-11-01 — Born.\n", log)
                .into_bytes(),
            ..texts
        };
        let before = signed(&texts);
        let (after, anchored) = migrated(&texts, &before);
        assert_eq!(
            migrate(&spec(), &after, Some(&before), DATE),
            Ok(Migration::Repaired {
                brief: anchored.clone()
            }),
            "{log:?}"
        );
        // An edit behind the migration is not signed by a repair.
        let edited = BundleTexts {
            design: text(&after.design).replace("small", "large").into_bytes(),
            ..after.clone()
        };
        assert_eq!(migrate(&spec(), &edited, Some(&before), DATE), Err(Refusal::Stale));
        // A person who has signed since needs no repair.
        assert_eq!(
            migrate(&spec(), &edited, Some(&signed(&edited)), DATE),
            Ok(Migration::AlreadyVersion2)
        );
        assert_eq!(migrate(&spec(), &after, None, DATE), Ok(Migration::AlreadyVersion2));
    }
}

#[test]
fn an_execution_line_that_is_there_is_not_doubled() {
    let texts = bundle(&usual());
    let texts = BundleTexts {
        design: text(&texts.design)
            .replace(
                "**Format-version:** 1\n",
                &format!("{EXECUTION}\n**Format-version:** 1\n"),
            )
            .into_bytes(),
        ..texts
    };
    let (after, _) = migrated(&texts, &signed(&texts));
    assert_eq!(text(&after.design).matches("**Execution:**").count(), 1);
}
