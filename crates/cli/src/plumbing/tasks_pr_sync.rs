//! `tasks-pr-sync [reconcile|reconcile-status <spec-dir>]` (`contract/core.md §8.1`): the stored placement and status of
//! format version 1, brought up to date. Without an argument it is a hook: it reads on standard input which command was
//! run, and always exits with 0.

mod hook;

use std::io::Read as _;

use camino::Utf8Path;
use orchestrate_core::identifier::{SpecId, UnitName};
use orchestrate_core::place::{BundleFile, Place};
use orchestrate_core::world::{Reading, World};
use orchestrate_host::forge;
use orchestrate_spec::edit::declared;
use orchestrate_tower::lock::{self, LockRefusal};
use orchestrate_tower::sweep::{ReconcileError, Scope, reconcile};

use self::hook::{Action, Trigger};
use super::{FAIL_CLOSED, open};
use crate::arguments::SyncVerb;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::Session;

/// The status could not be written everywhere.
const PARTIAL: u8 = 1;
/// The longest message of a hook that is read.
const LONGEST_MESSAGE: u64 = 16 * 1024 * 1024;

pub(crate) fn run(
    verb: Option<SyncVerb>,
    directory: Option<&Utf8Path>,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let scope = match verb {
        None => {
            on_hook(environment, printer);
            return Ok(0);
        }
        Some(SyncVerb::Reconcile) => Scope::Placement,
        Some(SyncVerb::ReconcileStatus) => Scope::Status,
    };
    let Some(directory) = directory else {
        return Err(refuse("name the bundle's directory"));
    };
    if environment.absolute(directory).is_symlink() {
        return Err(refuse("the bundle's directory is a symbolic link"));
    }
    let (mut session, spec) = open(directory, environment, printer)?;
    sync(&mut session, &spec, scope, printer)
}

fn refuse(message: impl std::fmt::Display) -> Failure {
    Failure::failed(format!("tasks-pr-sync: {message}")).with_exit(FAIL_CLOSED)
}

fn sync(session: &mut Session, spec: &SpecId, scope: Scope, printer: &mut Printer) -> Result<u8, Failure> {
    if version(&session.world, spec).map_err(refuse)? == 2 {
        printer.talk("tasks-pr-sync: format version 2 stores no derived state; nothing was written");
        return Ok(0);
    }
    let request = session.request(spec.clone(), false);
    let minutes = request.stale_lock_minutes;
    let released = lock::with(&mut session.world, spec, minutes, |world, held| {
        version(&*world, spec).map_err(ReconcileError::Unread)?;
        reconcile(world, &held, &request, scope)
    });
    let released = match released {
        Ok(released) => released,
        Err(LockRefusal::Busy(why)) => {
            printer.talk(&format!("tasks-pr-sync: the lock is held: {why}"));
            return Ok(0);
        }
        Err(LockRefusal::Fault(fault)) => return Err(refuse(fault)),
    };
    if let Some(fault) = released.kept {
        printer.talk(&format!("tasks-pr-sync: the lock was not released: {fault}"));
    }
    let failed = if scope == Scope::Status { PARTIAL } else { 0 };
    let place = Place::BundleFile(spec.clone(), BundleFile::Tasks);
    match released.value {
        Ok(placed) => {
            if !placed.files.is_empty() {
                let what = match scope {
                    Scope::Placement => format!("reconciled placement in {place}"),
                    Scope::Status => format!("reconciled the status of specs/{spec}"),
                };
                printer.talk(&format!("tasks-pr-sync: {what}"));
            }
            for file in &placed.refused {
                printer.talk(&format!(
                    "tasks-pr-sync: {file} declares its status more than once and is left alone"
                ));
            }
            Ok(if placed.refused.is_empty() { 0 } else { failed })
        }
        Err(error) => {
            printer.talk(&format!("tasks-pr-sync: {place} is left as it is: {error}"));
            Ok(failed)
        }
    }
}

/// Returns the format version that a bundle's files agree on.
fn version(world: &dyn World, spec: &SpecId) -> Result<u8, String> {
    let bytes = |file| match world.read(&Place::BundleFile(spec.clone(), file)) {
        Reading::File { bytes, .. } => Ok(Some(bytes)),
        Reading::Absent => Ok(None),
        Reading::Symlink => Err(format!("{file} is a symbolic link")),
        Reading::Directory { .. } | Reading::Special => Err(format!("{file} is no regular file")),
        Reading::Unreadable(cause) => Err(format!("{file} cannot be read: {cause}")),
    };
    let of = |file, bytes: &[u8]| declared(bytes, "Format-version").map_err(|error| format!("{file}: {error}"));
    let tasks = bytes(BundleFile::Tasks)?.ok_or("there is no tasks.md")?;
    let version = match of(BundleFile::Tasks, &tasks)?.as_deref() {
        Some("1") => 1,
        Some("2") => 2,
        Some(other) => return Err(format!("tasks.md declares format version {other:?}")),
        None => return Err("tasks.md declares no format version".to_owned()),
    };
    if let Some(requirements) = bytes(BundleFile::Requirements)?
        && let Some(other) = of(BundleFile::Requirements, &requirements)?
        && other != version.to_string()
    {
        return Err(format!(
            "tasks.md declares format version {version} and requirements.md {other:?}"
        ));
    }
    Ok(version)
}

/// Reconciles after a pull request was made or merged; in any doubt nothing is done.
fn on_hook(environment: &Environment, printer: &mut Printer) {
    let mut message = Vec::new();
    let read = std::io::stdin().lock().take(LONGEST_MESSAGE).read_to_end(&mut message);
    let Some(trigger) = read.ok().and_then(|_| hook::trigger(&message)) else {
        return;
    };
    if let Err(failure) = after(&trigger, environment, printer) {
        printer.talk(&format!("tasks-pr-sync: nothing was done: {}", failure.message));
    }
}

fn after(trigger: &Trigger, environment: &Environment, printer: &mut Printer) -> Result<(), Failure> {
    let mut session = Session::open(environment, &environment.directory, printer)?;
    let here = current_branch(&session);
    let is_ours = here.as_deref().is_some_and(|branch| branch.starts_with("planwright/"));
    let branch = match trigger.action {
        Action::Merge { number } if !is_ours => {
            forge::head_of(&environment.forge, &session.world.repository().layout.primary, number)
        }
        Action::Merge { .. } | Action::Create => here,
    };
    let Some(Ok(name)) = branch.as_deref().map(UnitName::from_branch) else {
        return Ok(());
    };
    let specs = session.world.repository().layout.primary.join("specs");
    let physical = specs.join(name.spec.as_str()).canonicalize_utf8();
    if physical.is_ok_and(|physical| physical == specs.join(name.spec.as_str())) {
        sync(&mut session, &name.spec, Scope::Placement, printer)?;
    }
    Ok(())
}

fn current_branch(session: &Session) -> Option<String> {
    let head = session.world.repository().git.head().ok()?;
    let name = head.name().ok()?;
    name.strip_prefix("refs/heads/").map(str::to_owned)
}
