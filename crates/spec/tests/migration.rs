//! The real bundles of `shared/corpus`, migrated.
#![allow(missing_docs, reason = "a test")]

mod common;

use orchestrate_spec::anchor::content_anchor;
use orchestrate_spec::brief::{Freshness, append_record, freshness, parse_sign_off, render_sign_off};
use orchestrate_spec::edit::with_status;
use orchestrate_spec::migration::{Migration, Refusal, migrate};
use orchestrate_spec::{BundleTexts, Status, parse_bundle};

use common::{read_texts, shared, spec};

const DATE: &str = "2026-11-29";

fn corpus(name: &str) -> Option<(BundleTexts, Vec<u8>)> {
    let folder = shared()?.join("corpus").join(name);
    let brief = std::fs::read(folder.join("kickoff-brief.md")).expect("a brief");
    Some((read_texts(&folder), brief))
}

/// Signs the texts again, as a person would who edited them.
fn signed_again(name: &str, texts: &BundleTexts, brief: &[u8]) -> Vec<u8> {
    let record = render_sign_off(&spec(name), texts, "a review for this test").expect("rendered");
    append_record(&spec(name), brief, "## Signed again", &record).expect("appended")
}

#[test]
fn live_bundles_of_version_1_are_migrated_or_refused_by_name() {
    for (name, tasks, refusal) in [
        ("autopilot-reflex", 11, None),
        (
            "bootstrap",
            20,
            Some("tasks.md:13: unrecognised section \"Dependency graph\""),
        ),
        (
            "orchestration-concurrency",
            8,
            Some("requirements.md has no `## Changelog`"),
        ),
        ("prompt-hygiene", 9, None),
    ] {
        let Some((texts, brief)) = corpus(name) else {
            println!("skipped: the shared corpus");
            return;
        };
        assert_eq!(
            migrate(&spec(name), &texts, Some(&brief), DATE),
            Ok(Migration::NotLive(Status::Done))
        );
        for status in [Status::Ready, Status::Active] {
            let live = with_status(&texts, status).expect("restated");
            // What was edited after its last record is not signed by a migration.
            let is_signed = name == "autopilot-reflex";
            let outcome = migrate(&spec(name), &live, Some(&brief), DATE);
            assert_eq!(outcome == Err(Refusal::Stale), !is_signed, "{name}");
            let brief = if is_signed {
                brief.clone()
            } else {
                signed_again(name, &live, &brief)
            };
            match (migrate(&spec(name), &live, Some(&brief), DATE), refusal) {
                (Err(refused), Some(refusal)) => assert_eq!(refused.to_string(), refusal, "{name}"),
                (
                    Ok(Migration::Migrated {
                        texts: after,
                        brief: Some(anchored),
                    }),
                    None,
                ) => {
                    let bundle = parse_bundle(&spec(name), &after).unwrap_or_else(|found| panic!("{name}: {found:?}"));
                    assert_eq!((bundle.tasks.len(), bundle.status), (tasks, Status::Ready), "{name}");
                    assert!(anchored.starts_with(&brief), "{name}");
                    let record = parse_sign_off(&spec(name), &anchored).expect("a record");
                    assert_eq!(freshness(&record, &after), Ok(Freshness::Matches), "{name}");
                    assert_eq!(
                        migrate(&spec(name), &after, Some(&anchored), DATE),
                        Ok(Migration::AlreadyVersion2)
                    );
                    // A migration that was killed before it wrote the brief is repaired.
                    assert_eq!(
                        migrate(&spec(name), &after, Some(&brief), DATE),
                        Ok(Migration::Repaired { brief: anchored }),
                        "{name}"
                    );
                }
                (outcome, _) => panic!("{name}: {outcome:?}"),
            }
        }
    }
}

#[test]
fn real_bundles_of_version_2_are_unchanged() {
    for name in [
        "fleet-autonomy",
        "inception",
        "invariant-tasks",
        "release-hardening",
        "skill-rigor",
        "worker-permission-ergonomics",
    ] {
        let Some((texts, brief)) = corpus(name) else {
            println!("skipped: the shared corpus");
            return;
        };
        assert_eq!(
            migrate(&spec(name), &texts, Some(&brief), DATE),
            Ok(Migration::AlreadyVersion2),
            "{name}"
        );
        assert!(content_anchor(&texts).is_ok());
    }
}
