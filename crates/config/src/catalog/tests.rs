//! The merge of catalogs, layer by layer, and what a broken one does.

use super::*;
use proptest::prelude::*;

fn reading(layer: Layer, text: &str) -> CatalogReading {
    CatalogReading {
        layer,
        path: format!("{layer}.yaml"),
        source: Ok(text.as_bytes().to_vec()),
    }
}

const CORE: &str = "# seeds\nguards:\n  - id: one\n    why: first   # kept\n    also:\n      - deep\n  - id: two\n    why: second\nothers:\n  - id: three\n";

fn merged(readings: Vec<CatalogReading>) -> (String, Vec<String>) {
    let (catalog, warnings) = merge(readings).expect("the catalogs merge");
    (catalog.render(), warnings.iter().map(ToString::to_string).collect())
}

#[test]
fn one_layer_is_printed_as_it_is_without_comments() {
    let (text, warnings) = merged(vec![reading(Layer::Core, CORE)]);
    assert_eq!(text, CORE.replace("# seeds\n", ""));
    assert_eq!(warnings, [""; 0]);
    assert_eq!(merged(vec![]), (String::new(), vec![]));
}

#[test]
fn higher_layers_add_and_replace_in_place() {
    let team =
        "guards:\r\n  - id: four\r\n  - id: \"one\"\r\n    supersede: true\r\n    why: better\r\nnew:\n  - id: five\n";
    let (text, warnings) = merged(vec![
        reading(Layer::RepositoryTracked, team),
        reading(Layer::Core, CORE),
    ]);
    assert_eq!(
        text,
        "guards:\n  - id: one\n    why: better\n  - id: two\n    why: second\n  - id: four\nothers:\n  - id: three\nnew:\n  - id: five\n"
    );
    assert_eq!(warnings, [""; 0]);
    let (catalog, _) = merge(vec![
        reading(Layer::RepositoryTracked, team),
        reading(Layer::Core, CORE),
    ])
    .expect("the catalogs merge");
    let origins: Vec<String> = catalog
        .entries
        .iter()
        .map(|entry| format!("{} {}", entry.id, entry.layer))
        .collect();
    assert_eq!(
        origins,
        [
            "one repo-tracked",
            "two core",
            "three core",
            "four repo-tracked",
            "five repo-tracked"
        ]
    );
}

#[test]
fn what_clashes_is_told_or_refused_by_its_layer() {
    let duplicate = "guards:\n  - id: one\n    why: mine\n";
    let unknown = "guards:\n  - id: none\n    supersede: true\n";
    for layer in [Layer::Adopter, Layer::RepositoryTracked, Layer::MachineLocal] {
        let (text, warnings) = merged(vec![reading(Layer::Core, CORE), reading(layer, duplicate)]);
        assert!(text.contains("why: first"));
        assert_eq!(
            warnings,
            [format!(
                "{layer}.yaml:2: the entry `one` is skipped: the core layer has one of that id"
            )]
        );
        let outcome = merge(vec![reading(Layer::Core, CORE), reading(layer, unknown)]);
        match outcome {
            Ok((_, warnings)) => {
                assert_ne!(layer, Layer::RepositoryTracked);
                assert_eq!(warnings.len(), 1);
            }
            Err(error) => {
                assert_eq!(layer, Layer::RepositoryTracked);
                assert_eq!(
                    error.to_string(),
                    "cannot use the repo-tracked catalog: repo-tracked.yaml:2: the entry `none` is skipped: it supersedes one that is not there"
                );
            }
        }
    }
}

#[test]
fn a_file_without_an_entry_is_broken() {
    for broken in [
        Ok(b"".to_vec()),
        Ok(b"guards:\n".to_vec()),
        Ok(b"  - id: x\n".to_vec()),
        Ok(b"guards:\n- id: x\n".to_vec()),
        Ok(b"guards:\n  - id:\n".to_vec()),
        Ok(b"guards:\n  - id: a\0b\n".to_vec()),
        Ok(b"guards:\n  - id: a\xff\n".to_vec()),
        Err("it is no regular file".to_owned()),
    ] {
        for layer in [
            Layer::Core,
            Layer::Adopter,
            Layer::RepositoryTracked,
            Layer::MachineLocal,
        ] {
            let reading = CatalogReading {
                source: broken.clone(),
                ..reading(layer, "")
            };
            match merge(vec![reading]) {
                Ok((catalog, warnings)) => {
                    assert!(may_break(layer), "{layer} {broken:?}");
                    assert_eq!((catalog.entries.len(), warnings.len()), (0, 1));
                }
                Err(error) => assert!(!may_break(error.layer), "{layer} {broken:?}"),
            }
        }
    }
}

#[test]
fn lines_that_are_nothing_are_named() {
    let text = "version: 1\nguards:\n  - id: one\n  what: x\nword\n    lost: 1\n";
    let (_, warnings) = merged(vec![reading(Layer::Core, text)]);
    let lines: Vec<&str> = warnings
        .iter()
        .filter_map(|warning| warning.split(": ").next())
        .collect();
    assert_eq!(lines, ["core.yaml:1", "core.yaml:4", "core.yaml:5", "core.yaml:6"]);
}

#[test]
fn names_can_stand_in_a_path() {
    for good in ["guard-catalog", "0", &"a".repeat(64)] {
        assert!(is_catalog_name(good), "{good}");
    }
    for bad in ["", "-a", "A", "a/b", "..", "a.yaml", "a\n", "é", &"a".repeat(65)] {
        assert!(!is_catalog_name(bad), "{bad}");
    }
}

proptest! {
    #[test]
    fn no_bytes_break_the_merge(bytes in proptest::collection::vec(any::<u8>(), 0..200), lines in "(g:\n|  - id: [ab]\n|    supersede: true\n|    f: \\PC{0,5}\n){0,12}") {
        for layer in [Layer::Adopter, Layer::MachineLocal] {
            let (catalog, _) = merge(vec![
                reading(Layer::Adopter, &lines),
                CatalogReading { source: Ok(bytes.clone()), ..reading(layer, "") },
            ]).expect("these layers only warn");
            let mut ids: Vec<&str> = catalog.entries.iter().map(|entry| entry.id.as_str()).collect();
            ids.sort_unstable();
            let count = ids.len();
            ids.dedup();
            prop_assert_eq!(ids.len(), count, "an id is one entry");
        }
    }

    /// What was merged and printed reads as the same again.
    #[test]
    fn a_rendered_catalog_renders_the_same(lines in "g:\n(  - id: [a-d]\n|    f: [a-z]{0,5}\n|h:\n){1,12}") {
        if let Ok((catalog, _)) = merge(vec![reading(Layer::Core, &lines)]) {
            let text = catalog.render();
            let (again, warnings) = merge(vec![reading(Layer::Core, &text)]).expect("it has entries");
            prop_assert_eq!(again.render(), text);
            prop_assert!(warnings.is_empty());
        }
    }
}
