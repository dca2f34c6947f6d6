//! The reference's scripts under their names: arguments, records on standard output and exit numbers of
//! `contract/core.md §20.6`. Messages to people go to standard error.

mod anchor;
mod catalog;
mod commit_messages;
mod commit_trailers;
mod config_get;
mod config_knob;
mod dispatch_fetch;
mod fleet_fence;
mod ledger;
mod lock;
mod marker;
mod migrate;
mod overlay_root;
mod rule_doc;
mod run_worker;
mod select;
mod spec_graph;
mod spec_model;
mod spec_status;
mod spec_validate;
mod state;
mod tasks_pr_sync;

use std::io::Read as _;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::SpecId;
use orchestrate_host::world::RealWorld;

use crate::arguments::Plumbing;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::Session;

/// Fail closed: nothing useful on standard output, nothing written.
const FAIL_CLOSED: u8 = 2;

/// The verbs that are scripts of the reference; each has a shim in `scripts/`.
const NAMES: &[&str] = &[
    "check-commit-msgs",
    "check-ledger",
    "config-get",
    "dispatch-fetch",
    "fleet-fence",
    "migrate-format-version",
    "orchestrate-lock",
    "orchestrate-marker",
    "orchestrate-select",
    "orchestrate-state",
    "planwright-commit-trailers",
    "resolve-catalog",
    "resolve-config-knob",
    "resolve-overlay-root",
    "resolve-rule-doc",
    "spec-anchor",
    "spec-graph",
    "spec-model",
    "spec-status",
    "spec-validate",
    "tasks-pr-sync",
];

/// Runs the verb and returns its exit number.
pub(crate) fn run(verb: Plumbing, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    match verb {
        Plumbing::ConfigGet { explain, key } => config_get::run(&key, explain, environment, printer),
        Plumbing::ResolveCatalog { explain, name } => catalog::run(&name, explain, environment, printer),
        Plumbing::ResolveConfigKnob {
            key,
            kind,
            values,
            fallback,
        } => config_knob::run(&key, kind, values.as_deref(), &fallback, environment, printer),
        Plumbing::ResolveOverlayRoot { layer, contain } => {
            overlay_root::run(layer, contain.as_deref(), environment, printer)
        }
        Plumbing::ResolveRuleDoc {
            explain,
            built_in,
            name,
        } => rule_doc::run(&name, explain, built_in, environment, printer),
        Plumbing::DispatchFetch {
            spec,
            best_effort,
            repository_root,
        } => dispatch_fetch::run(spec.as_deref(), best_effort, &repository_root, environment, printer),
        Plumbing::OrchestrateState { spec_directory } => state::run(&spec_directory, environment, printer),
        Plumbing::OrchestrateSelect {
            critical_path,
            spec_directory,
        } => select::run(critical_path, &spec_directory, environment, printer),
        Plumbing::OrchestrateLock { verb, spec_directory } => lock::run(verb, &spec_directory, environment, printer),
        Plumbing::OrchestrateMarker {
            verb,
            spec_directory,
            tasks,
        } => marker::run(verb, &spec_directory, &tasks, environment, printer),
        Plumbing::FleetFence { verb } => fleet_fence::run(&verb, environment, printer),
        Plumbing::CheckCommitMsgs {
            max_length,
            marker,
            source,
        } => commit_messages::run(max_length, &source, marker, environment, printer),
        Plumbing::PlanwrightCommitTrailers { references } => commit_trailers::run(&references, environment, printer),
        Plumbing::CheckLedger { files } => ledger::run(&files, environment, printer),
        Plumbing::MigrateFormatVersion { target } => migrate::run(target.as_deref(), environment, printer),
        Plumbing::SpecAnchor { spec_directory } => anchor::run(&spec_directory, environment, printer),
        Plumbing::SpecGraph { spec_directory } => spec_graph::run(&spec_directory, environment, printer),
        Plumbing::SpecModel { spec_directory } => spec_model::run(&spec_directory, environment, printer),
        Plumbing::SpecStatus { spec_directory } => spec_status::run(&spec_directory, environment, printer),
        Plumbing::SpecValidate {
            baseline,
            check_id,
            target,
        } => spec_validate::run(
            check_id.as_deref(),
            target.as_deref().unwrap_or_default(),
            baseline.as_deref(),
            environment,
            printer,
        ),
        Plumbing::TasksPrSync { verb, spec_directory } => {
            tasks_pr_sync::run(verb, spec_directory.as_deref(), environment, printer)
        }
        Plumbing::RunWorker { spec, unit, attempt } => {
            run_worker::run(&spec, &unit, attempt.as_deref(), environment, printer)
        }
        Plumbing::List => {
            for name in NAMES {
                printer.record(&[name]);
            }
            Ok(0)
        }
    }
}

/// Returns what stands on standard input, for verbs that read a text there: at most 16 MiB, and no NUL byte, which no
/// commit message can hold.
fn standard_input() -> Result<Vec<u8>, String> {
    const LARGEST: u64 = 16 * 1024 * 1024;
    let mut text = Vec::new();
    let read = std::io::stdin().lock().take(LARGEST + 1).read_to_end(&mut text);
    let length = read.map_err(|error| format!("cannot read standard input: {error}"))?;
    if u64::try_from(length).map_or(true, |length| length > LARGEST) {
        return Err(format!("standard input has more than {LARGEST} bytes"));
    }
    if text.contains(&0) {
        return Err("standard input holds a NUL byte".to_owned());
    }
    Ok(text)
}

/// Opens the repository of a bundle's directory, reads its settings, and returns the bundle's name.
fn open(directory: &Utf8Path, environment: &Environment, printer: &mut Printer) -> Result<(Session, SpecId), Failure> {
    let (physical, spec) = bundle_at(directory, environment)?;
    let session = Session::open(environment, &physical, printer).map_err(|failure| failure.with_exit(FAIL_CLOSED))?;
    refuse_deeper(&session.world, &physical, &spec)?;
    Ok((session, spec))
}

/// As [`open`], for verbs that do their job whatever the configuration says.
fn open_world(directory: &Utf8Path, environment: &Environment) -> Result<(RealWorld, SpecId), Failure> {
    let (physical, spec) = bundle_at(directory, environment)?;
    let world = RealWorld::open(&physical, environment.world_settings())
        .map_err(|fault| Failure::from(fault).with_exit(FAIL_CLOSED))?;
    refuse_deeper(&world, &physical, &spec)?;
    Ok((world, spec))
}

/// Keeps what a verb writes into a bundle's directory out of `git status`. Where that fails the verb does its job.
fn exclude_our_files(world: &RealWorld, verb: &str, printer: &mut Printer) {
    if let Err(fault) = world.repository().exclude_our_files() {
        printer.talk(&format!("{verb}: warning: {fault}"));
    }
}

fn refused(message: String) -> Failure {
    Failure::failed(message).with_exit(FAIL_CLOSED)
}

/// Returns where a bundle's directory really lies, and its name. It has to lie directly under a directory named `specs`.
fn bundle_at(directory: &Utf8Path, environment: &Environment) -> Result<(Utf8PathBuf, SpecId), Failure> {
    let physical = environment
        .absolute(directory)
        .canonicalize_utf8()
        .map_err(|error| refused(format!("cannot open the bundle's directory: {error}")))?;
    if !physical.is_dir() {
        return Err(refused("the bundle's directory is no directory".to_owned()));
    }
    let spec = physical
        .file_name()
        .and_then(|name| SpecId::parse(name).ok())
        .ok_or_else(|| refused("the directory's name is no spec name".to_owned()))?;
    if physical.parent().and_then(Utf8Path::file_name) != Some("specs") {
        return Err(refused(format!(
            "{spec} does not lie directly under a directory named specs"
        )));
    }
    Ok((physical, spec))
}

/// Another `specs` deeper in the checkout is not where bundles are: the one at the top must not be taken for it.
fn refuse_deeper(world: &RealWorld, physical: &Utf8Path, spec: &SpecId) -> Result<(), Failure> {
    let top = world.repository().git.workdir().and_then(|top| top.canonicalize().ok());
    if top.is_some_and(|top| physical == top.join("specs").join(spec.as_str())) {
        Ok(())
    } else {
        Err(refused(format!(
            "{spec} does not lie in the specs directory at the top of its checkout"
        )))
    }
}
