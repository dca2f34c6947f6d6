//! The settings of this run: configuration and rule documents, put together from their layers.

use orchestrate_config::doctrine;
use orchestrate_config::{Configuration, ConfigurationError, Settings};
use orchestrate_core::plan::HaltReason;
use orchestrate_host::repository::Repository;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::layers::Layers;

/// Reads the four layers (`contract/core.md §12.1`), and returns the settings with what a person should be told.
///
/// # Errors
/// When the repository's layer or a supplied core layer is broken; any other layer only warns.
pub(crate) fn load(environment: &Environment, repository: &Repository) -> Result<(Settings, Vec<String>), Failure> {
    let layers = Layers::of_primary(environment, Some(repository));
    let (configuration, mut warnings) = Configuration::load(layers.configuration()).map_err(|error| broken(&error))?;
    let (settings, more) = configuration.settings().map_err(|error| broken(&error))?;
    warnings.extend(more);
    let told = warnings.iter().map(ToString::to_string);
    Ok((settings, layers.adopter_fault.iter().cloned().chain(told).collect()))
}

/// Returns the failure of a configuration that cannot be used.
pub(crate) fn broken(error: &ConfigurationError) -> Failure {
    let hint = error.hint();
    Failure::failed(error.to_string()).with_hint(hint)
}

/// Resolves the rule documents a dispatch needs and returns the worker's own, `execute-task`.
///
/// # Errors
/// The halt for the first document that cannot be resolved (law of the dispatch path: fail closed).
pub(crate) fn rules(environment: &Environment, repository: &Repository) -> Result<(String, Vec<String>), HaltReason> {
    let layers = Layers::of_primary(environment, Some(repository));
    let mut notes = Vec::new();
    let mut execute_task = String::new();
    for name in doctrine::required_for_dispatch() {
        let purpose = doctrine::purpose_on_dispatch(&name);
        let (document, warnings) =
            doctrine::resolve(&name, purpose, layers.document(&name)).map_err(|error| HaltReason::Doctrine {
                name: name.to_string(),
                why: error.to_string(),
                remedy: error.hint(),
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
