//! The typed readers, key by key and layer by layer.

use super::*;
use crate::configuration::tests::{load, text};
use crate::keys::KEYS;
use crate::layer::{LayerSource, LayerText, Provenance};

fn configuration(texts: &[(Layer, &str)]) -> Configuration {
    load(texts.iter().map(|(layer, content)| text(*layer, content)).collect()).0
}

fn settings(texts: &[(Layer, &str)]) -> (Settings, Vec<String>) {
    let (settings, warnings) = configuration(texts).settings().expect("the settings are legal");
    (settings, warnings.iter().map(ToString::to_string).collect())
}

/// A value that no key admits.
const ILLEGAL: &str = "-{";

#[test]
fn the_defaults_are_the_tables() {
    let (settings, warnings) = settings(&[]);
    assert_eq!(warnings, [""; 0]);
    assert_eq!(
        settings.dispatch_backend,
        Setting {
            value: BackendChoice::FullSession,
            origin: Layer::Core
        }
    );
    assert_eq!(settings.dispatch_backend_per_spec.value, BTreeMap::new());
    assert_eq!(settings.command_backend.value, Vec::<String>::new());
    assert_eq!(settings.base_branch.value, None);
    assert_eq!(settings.dispatch_fence.value, FencePolicy::Auto);
    assert_eq!(settings.max_parallel_units.value, 3);
    assert_eq!(settings.stale_lock_threshold.value, Minutes::new(15));
    assert_eq!(settings.stale_marker_threshold.value, Minutes::new(15));
    assert_eq!(settings.watch_interval.value, Duration::from_secs(30));
}

#[test]
fn a_core_that_sets_nothing_leaves_the_tables_defaults() {
    let unreadable = LayerText {
        layer: Layer::Core,
        path: "nowhere".to_owned(),
        provenance: Provenance::Machine,
        text: LayerSource::Unreadable("no such file".to_owned()),
    };
    let (without_core, warnings) = load(vec![unreadable]).0.settings().expect("defaults");
    // Who cannot be asked whether something may be cleaned up has not said so.
    assert!(without_core.fleet_daemon_pause.value);
    let mut defaults = settings(&[]).0;
    assert!(!defaults.fleet_daemon_pause.value);
    defaults.fleet_daemon_pause.value = true;
    assert_eq!(without_core, defaults);
    let shared = KEYS.iter().filter(|key| key.shared).count();
    assert_eq!(warnings.len(), shared);
    assert_eq!(
        warnings[0].message,
        "commit_on_kickoff is not set, so the default `true` is used"
    );
}

/// Verifies REQ-G1.1.
#[test]
fn every_setting_knows_its_layer() {
    let (settings, warnings) = settings(&[
        (
            Layer::Adopter,
            "dispatch_backend: tmux\nmax_parallel_units: 11\ncommand_backend: [mine, '-v']",
        ),
        (
            Layer::RepositoryTracked,
            "max_parallel_units: 0\nbase_branch: trunk\nstale_lock_threshold: 20",
        ),
        (
            Layer::MachineLocal,
            "watch_interval_seconds: \" 5 \" # fast\ndispatch_backend_per_spec: {alpha: print}",
        ),
    ]);
    assert_eq!(warnings, [""; 0]);
    assert_eq!(
        (
            settings.dispatch_backend.value.to_string().as_str(),
            settings.dispatch_backend.origin
        ),
        ("tmux", Layer::Adopter)
    );
    assert_eq!(
        settings.max_parallel_units,
        Setting {
            value: 0,
            origin: Layer::RepositoryTracked
        }
    );
    assert_eq!(
        settings.base_branch.value.map(|name| name.to_string()),
        Some("trunk".to_owned())
    );
    assert_eq!(
        settings.stale_lock_threshold,
        Setting {
            value: Minutes::new(20),
            origin: Layer::RepositoryTracked
        }
    );
    assert_eq!(
        settings.watch_interval,
        Setting {
            value: Duration::from_secs(5),
            origin: Layer::MachineLocal
        }
    );
    assert_eq!(
        settings.command_backend,
        Setting {
            value: vec!["mine".to_owned(), "-v".to_owned()],
            origin: Layer::Adopter
        }
    );
}

/// Reads the whole settings with one key set in one layer; the warnings, or the exit number.
fn outcome(layer: Layer, key: &Key, value: &str) -> Result<Vec<Warning>, u8> {
    let content = format!("{}: {value}", key.name);
    configuration(&[(layer, &content)])
        .settings()
        .map(|(_, warnings)| warnings)
        .map_err(|error| error.exit_class())
}

#[test]
fn an_illegal_value_follows_the_keys_policy_in_each_layer() {
    for key in KEYS {
        let is_refused_from_clones = key.layers == keys::AllowedLayers::MachineLocalAndAdopter;
        for layer in [Layer::MachineLocal, Layer::Adopter] {
            let warnings = outcome(layer, key, ILLEGAL).expect("degrades");
            assert_eq!(warnings.len(), 1, "{} {layer}", key.name);
            assert_eq!(warnings[0].layer, layer);
        }
        let in_repository = outcome(Layer::RepositoryTracked, key, ILLEGAL).map(|warnings| warnings.len());
        match key.illegal_value {
            IllegalValue::ByLayer if is_refused_from_clones => {
                assert_eq!(in_repository, Ok(1), "{}", key.name);
            }
            IllegalValue::ByLayer => assert_eq!(in_repository, Err(4), "{}", key.name),
            IllegalValue::BuiltInDefault => assert_eq!(in_repository, Ok(1), "{}", key.name),
        }
    }
}

#[test]
fn a_broken_core_stops_only_the_keys_that_trust_it() {
    let broken = |key: &Key| configuration(&[(Layer::Core, &format!("{}: {ILLEGAL}", key.name))]);
    assert_eq!(
        broken(&keys::DISPATCH_BACKEND)
            .dispatch_backend()
            .map_err(|error| error.exit_class())
            .map(drop),
        Err(5)
    );
    assert_eq!(
        broken(&keys::DISPATCH_BACKEND_PER_SPEC)
            .dispatch_backend_per_spec()
            .map_err(|error| error.exit_class())
            .map(drop),
        Err(5)
    );
    assert_eq!(
        broken(&keys::WATCH_INTERVAL_SECONDS)
            .watch_interval()
            .map_err(|error| error.exit_class())
            .map(drop),
        Err(5)
    );
    assert_eq!(
        broken(&keys::MAX_PARALLEL_UNITS)
            .max_parallel_units()
            .map(|resolved| resolved.setting.value),
        Ok(3)
    );
    assert_eq!(
        broken(&keys::STALE_LOCK_THRESHOLD)
            .stale_lock_threshold()
            .map(|resolved| resolved.setting.value),
        Ok(Minutes::new(15))
    );
}

#[test]
fn a_bad_overlay_falls_to_the_core_and_not_to_the_next_overlay() {
    let resolved = configuration(&[
        (Layer::Core, "dispatch_backend: print"),
        (Layer::Adopter, "dispatch_backend: tmux"),
        (Layer::RepositoryTracked, "dispatch_backend: subagent"),
        (Layer::MachineLocal, "dispatch_backend: Not A Name"),
    ])
    .dispatch_backend()
    .expect("degrades");
    assert_eq!(
        resolved.setting,
        Setting {
            value: BackendChoice::parse("print").expect("a name"),
            origin: Layer::Core
        }
    );
    assert_eq!(
        resolved.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            ".claude/planwright.local.yml:1: dispatch_backend: expected full-session or a backend's name of a-z, 0-9 and '-', at most 64, found `Not A Name`; the core's value is used"
        ]
    );
}

#[test]
fn a_bad_overlay_over_a_broken_core_is_a_broken_installation() {
    let error = configuration(&[
        (Layer::Core, "dispatch_backend: A"),
        (Layer::Adopter, "dispatch_backend: B"),
    ])
    .dispatch_backend();
    assert_eq!(error.map_err(|error| error.exit_class()).map(drop), Err(5));
}

#[test]
fn minutes_and_the_cap_fall_to_the_built_in_default_and_not_to_the_core_file() {
    let configuration = configuration(&[
        (Layer::Core, "max_parallel_units: 9\nstale_marker_threshold: 40m"),
        (
            Layer::RepositoryTracked,
            "max_parallel_units: 03\nstale_marker_threshold: soon",
        ),
    ]);
    let cap = configuration.max_parallel_units().expect("never fails");
    assert_eq!((cap.setting.value, cap.warnings.len()), (3, 1));
    let threshold = configuration.stale_marker_threshold().expect("never fails");
    assert_eq!(
        (threshold.setting.value, threshold.warnings.len()),
        (Minutes::new(15), 1)
    );
}

#[test]
fn a_list_that_a_comment_cuts_says_so() {
    let (settings, warnings) = settings(&[(Layer::MachineLocal, "command_backend: [\"worker\", \"#1\"]")]);
    assert_eq!(settings.command_backend.value, Vec::<String>::new());
    assert_eq!(
        warnings,
        [
            ".claude/planwright.local.yml:1: command_backend: expected an inline list [\"program\", \"argument\"] on one line, found `[\"worker\", \"` (a value ends at the first `#`); the core's value is used"
        ]
    );
}

#[test]
fn a_specs_own_entry_beats_the_global_key_whatever_their_layers() {
    let spec = |name: &str| SpecId::parse(name).expect("a spec's name");
    let (settings, _) = settings(&[
        (
            Layer::Adopter,
            "dispatch_backend_per_spec: {alpha: print, beta: full-session}",
        ),
        (Layer::MachineLocal, "dispatch_backend: tmux"),
    ]);
    for (name, choice, source, origin) in [
        ("alpha", "print", DispatchSource::PerSpec, Layer::Adopter),
        ("beta", "full-session", DispatchSource::PerSpec, Layer::Adopter),
        ("gamma", "tmux", DispatchSource::Global, Layer::MachineLocal),
    ] {
        let backend = settings.dispatch_backend_for(&spec(name));
        assert_eq!(
            (backend.choice.to_string().as_str(), backend.source, backend.origin),
            (choice, source, origin),
            "{name}"
        );
    }
}

#[test]
fn the_highest_layer_supplies_the_whole_map() {
    let (settings, _) = settings(&[
        (Layer::RepositoryTracked, "dispatch_backend_per_spec: {alpha: print}"),
        (Layer::MachineLocal, "dispatch_backend_per_spec: {}"),
    ]);
    assert_eq!(
        settings.dispatch_backend_per_spec,
        Setting {
            value: BTreeMap::new(),
            origin: Layer::MachineLocal
        }
    );
}
