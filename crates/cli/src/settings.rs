//! The settings of this run: configuration and rule documents, read from their layers.

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_config::doctrine::{self, DocumentReading, DocumentSource, Root};
use orchestrate_config::{Configuration, Layer, LayerSource, LayerText, Provenance, Settings, Warning};
use orchestrate_core::plan::HaltReason;
use orchestrate_host::overlay::{self, OverlayReading};
use orchestrate_host::repository::Repository;

use crate::environment::Environment;
use crate::failure::Failure;

/// Reads the four layers (`contract/core.md §12.1`).
///
/// # Errors
/// When the repository's layer or a supplied core layer is broken; any other layer only warns.
pub(crate) fn load(environment: &Environment, repository: &Repository) -> Result<(Settings, Vec<Warning>), Failure> {
    let root = environment
        .repository_root
        .clone()
        .unwrap_or_else(|| repository.layout.primary.clone());
    let local = environment
        .local_configuration
        .clone()
        .unwrap_or_else(|| root.join(".claude").join("planwright.local.yml"));
    let mut texts = vec![
        layer(Layer::MachineLocal, &local, provenance(repository, &local)),
        layer(
            Layer::RepositoryTracked,
            &root.join(".claude").join("planwright.yml"),
            Provenance::Repository,
        ),
    ];
    if let Some(adopter) = adopter_root(environment) {
        let path = adopter.join("planwright.yml");
        texts.push(layer(Layer::Adopter, &path, provenance(repository, &path)));
    }
    texts.extend(core_layer(environment));
    let broken = |error: orchestrate_config::ConfigurationError| {
        let hint = error.hint();
        Failure::failed(error.to_string()).with_hint(hint)
    };
    let (configuration, mut warnings) = Configuration::load(texts).map_err(broken)?;
    let (settings, more) = configuration.settings().map_err(broken)?;
    warnings.extend(more);
    Ok((settings, warnings))
}

fn layer(layer: Layer, path: &Utf8Path, provenance: Provenance) -> LayerText {
    let text = match overlay::read(path) {
        OverlayReading::Bytes(bytes) => LayerSource::Bytes(bytes),
        OverlayReading::Absent => LayerSource::Absent,
        OverlayReading::Unreadable(why) => LayerSource::Unreadable(why),
        OverlayReading::Escapes => LayerSource::Unreadable("it leads outside its directory".to_owned()),
    };
    LayerText {
        layer,
        path: path.to_string(),
        provenance,
        text,
    }
}

fn provenance(repository: &Repository, path: &Utf8Path) -> Provenance {
    if repository.may_track(path) {
        Provenance::Repository
    } else {
        Provenance::Machine
    }
}

/// A core layer of planwright's own, where one is installed; otherwise the embedded defaults are the core.
fn core_layer(environment: &Environment) -> Option<LayerText> {
    if let Some(path) = &environment.default_configuration {
        let mut text = layer(Layer::Core, path, Provenance::Machine);
        if text.text == LayerSource::Absent {
            text.text = LayerSource::Unreadable("PLANWRIGHT_CONFIG_DEFAULTS names it and it is not there".to_owned());
        }
        return Some(text);
    }
    let installed = environment
        .core_roots
        .iter()
        .map(|root| root.join("config").join("defaults.yml"));
    installed
        .map(|path| layer(Layer::Core, &path, Provenance::Machine))
        .find(|text| text.text != LayerSource::Absent)
}

/// Returns the adopter overlay's root (`contract/core.md §12.1`).
fn adopter_root(environment: &Environment) -> Option<Utf8PathBuf> {
    if let Some(root) = &environment.adopter_overlay {
        return Some(root.clone());
    }
    let installed = environment.claude_directory.as_ref()?.join("planwright");
    let OverlayReading::Bytes(manifest) = overlay::read(&installed.join("plugin.json")) else {
        return None;
    };
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).ok()?;
    let name = orchestrate_core::identifier::BackendName::parse(manifest.get("name")?.as_str()?).ok()?;
    Some(installed.join(name.as_str()).join("overlay"))
}

/// Resolves the rule documents a dispatch needs and returns the worker's own, `execute-task`.
///
/// # Errors
/// The halt for the first document that cannot be resolved (law of the dispatch path: fail closed).
pub(crate) fn rules(environment: &Environment, repository: &Repository) -> Result<(String, Vec<String>), HaltReason> {
    let mut notes = Vec::new();
    let mut execute_task = String::new();
    for name in doctrine::required_for_dispatch() {
        let readings = doctrine::candidates(&name).into_iter().filter_map(|candidate| {
            let root = match candidate.root {
                Root::Repository => repository.layout.primary.clone(),
                Root::Adopter => adopter_root(environment)?,
            };
            let source = match overlay::read_contained(&root, &candidate.relative_path) {
                OverlayReading::Bytes(bytes) => DocumentSource::Bytes(bytes),
                OverlayReading::Absent => DocumentSource::Absent,
                OverlayReading::Unreadable(why) => DocumentSource::Unreadable(why),
                OverlayReading::Escapes => DocumentSource::Escapes,
            };
            let path = root.join(&candidate.relative_path).into_string();
            Some(DocumentReading {
                layer: candidate.layer,
                path,
                source,
            })
        });
        let (document, warnings) =
            doctrine::resolve(&name, readings.collect()).map_err(|error| HaltReason::Doctrine {
                name: name.to_string(),
                why: error.to_string(),
            })?;
        notes.extend(warnings.iter().map(ToString::to_string));
        if name.as_str() == "execute-task" {
            execute_task = document.text.into_owned();
        }
    }
    Ok((execute_task, notes))
}

/// Returns whether the skill `/execute-task` is installed where Claude Code looks for it.
pub(crate) fn has_skill(environment: &Environment, repository: &Repository) -> bool {
    let project = repository.layout.primary.join(".claude");
    let plugin = environment.core_roots.iter().cloned();
    let roots = [Some(project), environment.claude_directory.clone()]
        .into_iter()
        .flatten()
        .chain(plugin);
    roots
        .into_iter()
        .any(|root| root.join("skills").join("execute-task").join("SKILL.md").is_file())
}
