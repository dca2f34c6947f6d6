//! The four layers: which one speaks, what is malformed, what is ignored.

mod model;

use proptest::prelude::*;

use super::*;

pub(crate) fn text(layer: Layer, content: &str) -> LayerText {
    let (path, provenance) = match layer {
        Layer::Core => ("defaults.yml", Provenance::Machine),
        Layer::Adopter => ("overlay/planwright.yml", Provenance::Machine),
        Layer::RepositoryTracked => (".claude/planwright.yml", Provenance::Repository),
        Layer::MachineLocal => (".claude/planwright.local.yml", Provenance::Machine),
    };
    LayerText {
        layer,
        path: path.to_owned(),
        provenance,
        text: LayerSource::Bytes(content.as_bytes().to_vec()),
    }
}

pub(crate) fn load(texts: Vec<LayerText>) -> (Configuration, Vec<Warning>) {
    Configuration::load(texts).expect("the layers load")
}

fn unreadable(layer: Layer) -> LayerText {
    LayerText {
        text: LayerSource::Unreadable("is a directory".to_owned()),
        ..text(layer, "")
    }
}

fn absent(layer: Layer) -> LayerText {
    LayerText {
        text: LayerSource::Absent,
        ..text(layer, "")
    }
}

const LAYERS: [Layer; 4] = [
    Layer::Core,
    Layer::Adopter,
    Layer::RepositoryTracked,
    Layer::MachineLocal,
];

#[test]
fn without_files_every_key_has_its_default_from_the_core() {
    let (configuration, warnings) = load(LAYERS.map(absent).to_vec());
    assert_eq!(warnings, []);
    for key in keys::KEYS {
        let explained = configuration.explain(key.name).expect("set in the core");
        assert_eq!(
            (explained.layer, explained.value, explained.warnings.len()),
            (Layer::Core, key.default, 0),
            "{}",
            key.name
        );
    }
}

#[test]
fn a_key_of_another_product_can_be_read() {
    let (configuration, _) = load(vec![text(Layer::RepositoryTracked, "version_file: VERSION")]);
    assert_eq!(configuration.get("version_file"), Ok("VERSION"));
}

#[test]
fn an_explicit_empty_value_wins() {
    let (configuration, _) = load(vec![
        text(Layer::Adopter, "base_branch: dev"),
        text(Layer::RepositoryTracked, "base_branch:"),
    ]);
    let explained = configuration.explain("base_branch").expect("set");
    assert_eq!(
        (explained.layer, explained.value, explained.place.as_str()),
        (Layer::RepositoryTracked, "", ".claude/planwright.yml:1")
    );
}

#[test]
fn look_ups_fail_with_the_contracts_numbers() {
    let (configuration, _) = load(vec![]);
    for (key, exit) in [
        ("unheard_of", 3),
        ("", 2),
        ("Max", 2),
        ("a-b", 2),
        ("_a", 2),
        ("1a", 2),
        ("a b", 2),
        ("max_parallel_units\n", 2),
    ] {
        assert_eq!(
            configuration
                .explain(key)
                .map_err(LookupError::exit_class)
                .map(|found| found.value.to_owned()),
            Err(exit),
            "{key:?}"
        );
    }
}

/// Verifies REQ-G1.2.
#[test]
fn a_malformed_file_is_an_error_only_in_the_repository() {
    for bad in [
        text(Layer::RepositoryTracked, "max_parallel_units: 5\n- a"),
        unreadable(Layer::RepositoryTracked),
    ] {
        let error =
            Configuration::load(vec![text(Layer::MachineLocal, "max_parallel_units: 7"), bad]).expect_err("malformed");
        assert_eq!(error.exit_class(), 4);
    }
    for layer in [Layer::MachineLocal, Layer::Adopter] {
        for (bad, ours, references) in [
            (unreadable(layer), "5", "5"),
            (
                text(layer, "max_parallel_units: 7\n- a"),
                if layer == Layer::MachineLocal { "7" } else { "5" },
                "5",
            ),
        ] {
            let texts = vec![bad, text(Layer::RepositoryTracked, "max_parallel_units: 5")];
            let (configuration, warnings) = load(texts.clone());
            assert_eq!(configuration.get("max_parallel_units"), Ok(ours));
            assert_eq!(
                warnings.iter().map(|warning| warning.layer).collect::<Vec<_>>(),
                [layer]
            );
            let (configuration, warnings) = Configuration::load_as_the_reference(texts).expect("loads");
            assert_eq!(configuration.get("max_parallel_units"), Ok(references));
            assert_eq!(warnings.len(), 1);
        }
    }
}

#[test]
fn messages_name_the_file_the_line_and_the_remedy() {
    let error = Configuration::load(vec![text(Layer::RepositoryTracked, "a: 1\n  - b")]).expect_err("malformed");
    assert_eq!(
        error.to_string(),
        "cannot read the repository's configuration: .claude/planwright.yml:2: a list item; lists are written inline, as `key: [a, b]`"
    );
    assert_eq!(
        error.hint(),
        "repair .claude/planwright.yml:2: each line is `key: value`, blank or a comment"
    );
    let (_, warnings) = load(vec![text(Layer::MachineLocal, "\n\nwhat")]);
    assert_eq!(
        warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [".claude/planwright.local.yml:3: the line is ignored: a line without a colon; every line is `key: value`"]
    );
    let (_, warnings) =
        Configuration::load_as_the_reference(vec![text(Layer::MachineLocal, "\n\nwhat")]).expect("loads");
    assert_eq!(
        warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            ".claude/planwright.local.yml:3: the whole machine-local configuration is skipped: a line without a colon; every line is `key: value`"
        ]
    );
}

#[test]
fn a_supplied_core_is_taken_unchecked_and_completed_by_our_own_keys() {
    let (configuration, warnings) = load(vec![text(
        Layer::Core,
        "- not: checked\nmax_parallel_units: 9\ncommand_backend: [evil]",
    )]);
    assert_eq!(configuration.get("max_parallel_units"), Ok("9"));
    assert_eq!(configuration.get("stale_lock_threshold"), Err(LookupError::Unset));
    assert_eq!(configuration.get("watch_interval_seconds"), Ok("30"));
    assert_eq!(configuration.get("command_backend"), Ok("[]"));
    assert_eq!(
        warnings
            .iter()
            .map(|warning| warning.place.as_str())
            .collect::<Vec<_>>(),
        ["defaults.yml:3"]
    );
}

#[test]
fn a_core_that_cannot_be_read_has_no_fallback_for_planwrights_keys() {
    let (configuration, warnings) = load(vec![unreadable(Layer::Core)]);
    assert_eq!(configuration.get("max_parallel_units"), Err(LookupError::Unset));
    assert_eq!(configuration.get("command_backend"), Ok("[]"));
    assert_eq!(warnings.len(), 1);
}

#[test]
fn the_first_text_of_a_layer_that_is_there_counts() {
    let (configuration, _) = load(vec![
        absent(Layer::Core),
        text(Layer::Core, "max_parallel_units: 8"),
        text(Layer::Core, "max_parallel_units: 9"),
    ]);
    assert_eq!(configuration.get("max_parallel_units"), Ok("8"));
    let (configuration, warnings) = load(vec![
        unreadable(Layer::Adopter),
        text(Layer::Adopter, "max_parallel_units: 8"),
    ]);
    assert_eq!((configuration.get("max_parallel_units"), warnings.len()), (Ok("3"), 1));
}

#[test]
fn a_clone_cannot_choose_a_program() {
    let repository = || text(Layer::RepositoryTracked, "command_backend: [evil]");
    let committed = || LayerText {
        provenance: Provenance::Repository,
        ..text(Layer::MachineLocal, "command_backend: [evil]")
    };
    let adopter = || text(Layer::Adopter, "command_backend: [mine]");
    let cases = [
        (vec![repository()], "[]", vec![Layer::RepositoryTracked]),
        (vec![committed()], "[]", vec![Layer::MachineLocal]),
        (
            vec![committed(), repository(), adopter()],
            "[mine]",
            vec![Layer::MachineLocal, Layer::RepositoryTracked],
        ),
        (
            vec![
                text(Layer::MachineLocal, "command_backend: [local]"),
                repository(),
                adopter(),
            ],
            "[local]",
            vec![],
        ),
        (
            vec![LayerText {
                provenance: Provenance::Repository,
                ..adopter()
            }],
            "[]",
            vec![Layer::Adopter],
        ),
    ];
    for (texts, value, ignored) in cases {
        let (configuration, _) = load(texts);
        let explained = configuration.explain("command_backend").expect("set in the core");
        assert_eq!(explained.value, value);
        assert_eq!(
            explained
                .warnings
                .iter()
                .map(|warning| warning.layer)
                .collect::<Vec<_>>(),
            ignored
        );
        assert!(
            explained
                .warnings
                .iter()
                .all(|warning| { warning.message.contains("a cloned repository cannot choose a program") })
        );
    }
}

type Files = [Vec<u8>; 4];

/// Bytes for each layer, behind a line that sets one of our keys to hostile text.
fn hostile_files() -> impl Strategy<Value = Files> {
    let line = (0..keys::KEYS.len(), "[\\[{]?\\PC{0,20}[\\]}]?")
        .prop_map(|(key, value)| format!("{}: {value}\n", keys::KEYS[key].name));
    let rest = proptest::array::uniform4(proptest::collection::vec(any::<u8>(), 0..60));
    (line, rest).prop_map(|(line, files)| files.map(|bytes| [line.clone().into_bytes(), bytes].concat()))
}

proptest! {
    /// Verifies REQ-G1.1.
    #[test]
    fn the_highest_layer_that_sets_a_key_wins(
        values in proptest::array::uniform4(proptest::option::of("[a-z0-9 ]{0,4}")),
        order in Just(vec![0_usize, 1, 2, 3]).prop_shuffle(),
    ) {
        let mut written = LAYERS.into_iter().zip(&values).filter_map(|(layer, value)| Some((layer, value.as_ref()?)));
        let expected = written.next_back().map(|(layer, value)| (layer, value.trim().to_owned()));
        let file = |index: usize| match &values[index] {
            Some(value) => text(LAYERS[index], &format!("other: 1\nsome_key: {value}")),
            None => text(LAYERS[index], "other: 1"),
        };
        let (configuration, _) = load(order.into_iter().map(file).collect());
        let found = configuration.explain("some_key").ok().map(|found| (found.layer, found.value.to_owned()));
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn lines_and_layers_follow_the_model(files in proptest::array::uniform4(proptest::collection::vec(model::line(), 0..8))) {
        let texts: Vec<LayerText> = LAYERS
            .into_iter()
            .zip(&files)
            .map(|(layer, lines)| text(layer, &model::render(lines)))
            .collect();
        let by_layer: Vec<(Layer, &[model::Line])> = LAYERS.into_iter().zip(files.iter().map(Vec::as_slice)).collect();
        let repository_is_bad = files[2].iter().any(model::is_bad);
        match Configuration::load(texts.clone()) {
            Err(error) => {
                prop_assert!(repository_is_bad);
                prop_assert_eq!(error.exit_class(), 4);
                prop_assert!(Configuration::load_as_the_reference(texts).is_err());
            }
            Ok((configuration, _)) => {
                prop_assert!(!repository_is_bad);
                let (reference, _) = Configuration::load_as_the_reference(texts).expect("as good for the reference");
                for key in model::KEYS {
                    let ours = configuration.get(key).ok().map(str::to_owned);
                    prop_assert_eq!(ours, model::ours(&by_layer, key), "{}", key);
                    let theirs = reference.get(key).ok().map(str::to_owned);
                    prop_assert_eq!(theirs, model::references(&by_layer, key), "{}", key);
                }
            }
        }
    }

    #[test]
    fn no_bytes_break_loading_or_reading(files in hostile_files()) {
        let file = |(layer, bytes)| LayerText { text: LayerSource::Bytes(bytes), ..text(layer, "") };
        let texts = LAYERS.into_iter().zip(files).map(file).collect();
        let settings = Configuration::load(texts).and_then(|(configuration, _)| configuration.settings());
        match settings {
            Ok((settings, _)) => prop_assert_ne!(settings.command_backend.origin, Layer::RepositoryTracked),
            Err(error) => prop_assert!([4, 5].contains(&error.exit_class())),
        }
    }
}
