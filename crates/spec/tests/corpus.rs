//! The ten real bundles of `shared/corpus`, against the values the reference gives for them.
#![allow(missing_docs, reason = "a test")]

mod common;

use orchestrate_core::identifier::TaskId;
use orchestrate_spec::anchor::content_anchor;
use orchestrate_spec::brief::{AnchorForm, Freshness, freshness, parse_sign_off};
use orchestrate_spec::{BundleFiles, examine};

use common::{read_texts, shared, spec};

/// Verifies REQ-B1.6.
#[test]
fn real_bundles_give_the_golden_values() {
    let Some(folder) = shared().map(|shared| shared.join("corpus")) else {
        println!("skipped: the shared corpus");
        return;
    };
    let golden = std::fs::read_to_string(folder.join("golden.tsv")).expect("golden values");
    let mut bundles = 0;
    for row in golden.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let [
            name,
            version,
            status,
            tasks,
            requirements,
            _validator,
            anchor,
            critical_path,
        ] = columns[..]
        else {
            panic!("a row of eight columns: {row}");
        };
        let texts = read_texts(&folder.join(name));
        assert_eq!(content_anchor(&texts).as_deref(), Ok(anchor), "{name}");
        let examination = examine(&spec(name), &BundleFiles::from(texts));
        let found: String = examination
            .findings
            .iter()
            .map(|finding| format!("{finding}\n"))
            .collect();
        assert_eq!(found, "", "{name}");
        bundles += 1;
        let bundle = examination.bundle.expect("a bundle");
        assert_eq!(bundle.version.to_string(), version, "{name}");
        assert_eq!(bundle.status.name(), status, "{name}");
        assert_eq!(bundle.tasks.len().to_string(), tasks, "{name}");
        assert_eq!(bundle.requirements.len().to_string(), requirements, "{name}");
        let path: Vec<String> = bundle.graph().critical_path().iter().map(TaskId::to_string).collect();
        assert_eq!(path.join(" "), critical_path, "{name}");
        assert!(
            !bundle.goal.is_empty() && !bundle.title.contains("Requirements"),
            "{name}: {}",
            bundle.title
        );
        for task in &bundle.tasks {
            assert!(
                !task.citations.is_empty() && !task.deliverables.is_empty() && !task.done_when.is_empty(),
                "{name} {}",
                task.id
            );
            // Some also cite a requirement of another bundle, so not every id is found.
            let found = task
                .citations
                .iter()
                .filter(|cited| bundle.requirement(cited).is_some() || bundle.decision(cited).is_some());
            assert!(
                found.count() > 0,
                "{name}: task {} cites nothing of its bundle",
                task.id
            );
        }
    }
    assert_eq!(bundles, 10);
}

#[test]
fn real_briefs_have_a_record_that_decides() {
    let Some(folder) = shared().map(|shared| shared.join("corpus")) else {
        println!("skipped: the shared corpus");
        return;
    };
    let mut briefs = 0;
    let mut changed: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("the corpus") {
        let bundle = entry.expect("an entry").path();
        let Ok(brief) = std::fs::read(bundle.join("kickoff-brief.md")) else {
            continue;
        };
        let name = bundle.file_name().and_then(|name| name.to_str()).expect("a name");
        let record = parse_sign_off(&spec(name), &brief).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(record.form, AnchorForm::Canonical, "{name}");
        let fresh = freshness(&record, &read_texts(&bundle)).expect("anchored");
        // The corpus was signed by the older rule, and the status of some has moved on since.
        match fresh {
            Freshness::PreChange { .. } => {}
            Freshness::Changed { .. } => changed.push(name.to_owned()),
            Freshness::Matches => panic!("{name} was signed by the older rule"),
        }
        briefs += 1;
    }
    assert_eq!(briefs, 10);
    // Those of version 1 that were edited after their last record, when they were done.
    changed.sort();
    assert_eq!(changed, ["bootstrap", "orchestration-concurrency", "prompt-hygiene"]);
}
