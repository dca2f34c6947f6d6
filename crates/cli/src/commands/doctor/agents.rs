//! The agents: which are installed, and which one a step would start, and why.

use std::collections::BTreeMap;

use orchestrate_core::identifier::BackendName;
use orchestrate_workers::backend::{self, FULL_SESSION};
use orchestrate_workers::programs::Programs;

use super::finding::{Finding, Looked, Mend, Weight};
use super::surroundings::Surroundings;

/// The programs that backends of this build or of the reference start.
const PROGRAMS: [&str; 3] = ["claude", "codex", "tmux"];

pub(super) fn look(surroundings: &Surroundings<'_>) -> Looked {
    let programs = &surroundings.environment.programs;
    let settings = surroundings.settings;
    let command = &settings.command_backend.value;
    // Each choice once, with the key that makes it.
    let mut choices = BTreeMap::from([(
        settings.dispatch_backend.value.to_string(),
        ("dispatch_backend", settings.dispatch_backend.origin),
    )]);
    for choice in settings.dispatch_backend_per_spec.value.values() {
        let by = ("dispatch_backend_per_spec", settings.dispatch_backend_per_spec.origin);
        choices.entry(choice.to_string()).or_insert(by);
    }
    let (mut said, mut findings) = (Vec::new(), Vec::new());
    for (choice, (key, layer)) in choices {
        let resolved = BackendName::parse(&choice)
            .map_err(|error| orchestrate_core::observed::Why::new(error.to_string()))
            .and_then(|name| backend::resolve(&name, command, programs));
        match resolved {
            Ok(resolved) => {
                let why = resolved
                    .note
                    .unwrap_or_else(|| format!("{key} in the {layer} layer says so"));
                said.push(format!("a step uses {}: {why}", resolved.backend.name()));
            }
            Err(why) => {
                said.push(format!("{choice} cannot be used"));
                let mend = match &why.hint {
                    Some(hint) => Mend::of_hint(hint),
                    None => Mend::ByHand(format!("set {key} to {FULL_SESSION}")),
                };
                findings.push(Finding::new(Weight::Fault, key, why.reason, mend));
            }
        }
    }
    let installed = PROGRAMS.iter().map(|name| match programs.resolve(name) {
        Some(path) => format!("{name} at {path}"),
        None => format!("no {name}"),
    });
    said.extend(installed);
    Looked::new(said.join("; "), findings)
}
