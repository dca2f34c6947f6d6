//! `config-get [--explain] <key>` (`contract/core.md §12.2`): raw values, by the reference's rules.

use orchestrate_config::configuration::check_key_name;
use orchestrate_config::{Configuration, ConfigurationError, Warning};
use orchestrate_host::repository;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::layers::Layers;
use crate::printer::Printer;

pub(crate) fn run(key: &str, explain: bool, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    // A bad name is refused before any file is read.
    check_key_name(key).map_err(|error| refusal(&error, error.exit_class()))?;
    let configuration = load("config-get", environment, printer)?;
    let found = configuration
        .explain(key)
        .map_err(|error| refusal(&error, error.exit_class()))?;
    tell("config-get", &found.warnings, printer);
    if explain {
        printer.record(&[found.layer.as_str(), found.value]);
    } else {
        printer.record(&[found.value]);
    }
    Ok(0)
}

fn refusal(error: &impl ToString, exit: u8) -> Failure {
    Failure::failed(format!("config-get: {}", error.to_string())).with_exit(exit)
}

/// Reads the four layers as the reference's scripts do, from the checkout they are started in.
pub(super) fn load(verb: &str, environment: &Environment, printer: &mut Printer) -> Result<Configuration, Failure> {
    let repository = repository::discover(&environment.directory).ok();
    let layers = Layers::of_checkout(environment, repository.as_ref());
    if let Some(fault) = &layers.adopter_fault {
        printer.talk(&format!("{verb}: warning: {fault}"));
    }
    let broken = |error: ConfigurationError| {
        let (exit, hint) = (error.exit_class(), error.hint());
        Failure::failed(format!("{verb}: {error}"))
            .with_hint(hint)
            .with_exit(exit)
    };
    let (configuration, warnings) = Configuration::load_as_the_reference(layers.configuration()).map_err(broken)?;
    tell(verb, &warnings, printer);
    Ok(configuration)
}

/// Prints warnings under the script's name.
pub(super) fn tell(verb: &str, warnings: &[Warning], printer: &mut Printer) {
    for warning in warnings {
        printer.talk(&format!("{verb}: warning: {warning}"));
    }
}
