//! `orchestrate park|unpark SPEC TASK`: a person takes a task out of selection, or puts it back; [`redo`] has the case
//! of a task that was reverted.
//!
//! One bullet of `tasks.md` is written or removed, or in format version 1 the task's block is moved, under the bundle's lock;
//! what a signature covers does not change.

use camino::Utf8Path;
use orchestrate_core::exit;
use orchestrate_core::graph::ParkingPlace;
use orchestrate_core::identifier::{SpecId, TaskId, quoted};
use orchestrate_core::place::BundleFile;
use orchestrate_core::world::World;
use orchestrate_host::authored::{Replaced, Replacement, replace_files};
use orchestrate_host::shell;
use orchestrate_spec::anchor::content_anchor;
use orchestrate_spec::park::{self as parking, ParkError};
use orchestrate_spec::placement::{self, PlacementError};
use orchestrate_spec::{Bundle, BundleFiles, BundleTexts, FormatVersion};
use orchestrate_tower::preflight::{read_bundle, whole_bundle};
use orchestrate_tower::{claims, gate};

use super::redo;
use crate::arguments::ParkingSection;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::Session;

/// What is done to the task.
enum Act<'a> {
    Park(ParkingPlace, &'a str),
    Unpark,
}

/// Parks a task.
pub(crate) fn park(
    (spec, task): (&str, &str),
    section: ParkingSection,
    reason: &str,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let act = Act::Park(section.place(), reason);
    let (session, spec, task) = open((spec, task), environment, printer)?;
    run(session, (spec, task), &act, environment, printer)
}

/// Puts a parked task back, and lets one that was reverted be done again.
pub(crate) fn unpark(names: (&str, &str), environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    let (mut session, spec, task) = open(names, environment, printer)?;
    let (bundle, _) = read_bundle(&session.world, &spec)?;
    let graph = bundle.graph();
    let is_parked = graph
        .parked
        .get(&task)
        .is_some_and(|parking| parking.place.is_a_persons());
    match redo::reverts_that_hold(&session, &bundle, &task) {
        Ok(reverts) if !reverts.is_empty() => {
            redo::want_again(&mut session, &spec, &task, &reverts, printer)?;
            if !is_parked {
                return Ok(exit::DONE);
            }
        }
        Ok(_) => {}
        Err(fault) if is_parked => printer.talk(&format!("note: whether it was reverted cannot be told: {fault}")),
        Err(fault) => return Err(fault.into()),
    }
    run(session, (spec, task), &Act::Unpark, environment, printer)
}

fn open(
    (spec, task): (&str, &str),
    environment: &Environment,
    printer: &mut Printer,
) -> Result<(Session, SpecId, TaskId), Failure> {
    let session = Session::open(environment, &environment.directory, printer)?;
    let spec = session.resolve_spec(Some(spec))?;
    let task = TaskId::parse(task).map_err(|error| Failure::usage(format!("{} is {error}", quoted(task))))?;
    Ok((session, spec, task))
}

fn run(
    mut session: Session,
    (spec, task): (SpecId, TaskId),
    act: &Act<'_>,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let layout = session.world.repository().layout.clone();
    let request = session.request(spec.clone(), false);
    // What can refuse refuses before anything is written, the lock included; under the lock it is read again.
    changed(&session.world, &spec, &task, act)?;
    let gave_up = session.under_lock(&spec, printer, |world, held| {
        let tasks = changed(&*world, held.spec(), &task, act)?;
        // Before the bullet goes: until then it holds the task, whatever happens in between.
        let mut gave_up = false;
        if matches!(act, Act::Unpark) {
            let (bundle, _) = read_bundle(&*world, held.spec())?;
            gave_up = claims::clear_ended(world, &request, &bundle, &task)?;
        }
        match replace_files(&layout, held.spec(), &[tasks])? {
            Replaced::All => Ok(gave_up),
            Replaced::Changed(file) => Err(Failure::failed(format!(
                "specs/{}/{file} has changed since it was read; it was not written",
                held.spec()
            ))
            .with_hint("the same command again, when it is saved")),
        }
    })?;
    let said = match act {
        Act::Park(place, _) => format!("parked task {task} of specs/{spec} under {}", place.section()),
        Act::Unpark => format!("task {task} of specs/{spec} is parked no longer"),
    };
    printer.line(&said);
    if gave_up {
        printer
            .line("its worker had ended and left no commit: that attempt is given up, and it may be dispatched again");
    }
    if is_committed(&session, &spec) {
        printer.line("the tower sees it at once; tasks.md is as it was committed");
        return Ok(exit::DONE);
    }
    printer.line("the tower sees it at once, and what was signed is unchanged; to keep it:");
    let git = git_from(&environment.directory, &layout.primary);
    printer.line(&format!("  {git} add specs/{spec}/tasks.md"));
    let subject = match act {
        Act::Park(..) => format!("park task {task}"),
        Act::Unpark => format!("unpark task {task}"),
    };
    printer.line(&format!(
        "  {git} commit -m \"chore({spec}): {subject}\" -- specs/{spec}/tasks.md"
    ));
    Ok(exit::DONE)
}

/// Returns whether base has `tasks.md` as it is now: then there is nothing to commit.
fn is_committed(session: &Session, spec: &SpecId) -> bool {
    let world = &session.world;
    let base_branch = session.request(spec.clone(), false).base_branch;
    let base = world.base(base_branch.as_ref());
    base.is_ok_and(|base| gate::is_committed(world, spec, &base.commit, &[BundleFile::Tasks]))
}

/// Returns how git is called, in a shell in that directory, so that paths are those of the primary checkout.
fn git_from(directory: &Utf8Path, primary: &Utf8Path) -> String {
    if directory
        .canonicalize_utf8()
        .is_ok_and(|directory| directory == *primary)
    {
        return "git".to_owned();
    }
    format!("git -C {}", shell::word(primary.as_str()))
}

/// Returns `tasks.md` with the act done, if the bundle reads before and after and its anchor stays.
fn changed(world: &dyn World, spec: &SpecId, task: &TaskId, act: &Act<'_>) -> Result<Replacement, Failure> {
    let (bundle, texts) = read_bundle(world, spec)?;
    let tasks = match bundle.version {
        FormatVersion::One => moved(&bundle, &texts, task, act)?,
        FormatVersion::Two => match act {
            Act::Unpark => parking::unpark(&texts.tasks, task),
            Act::Park(place, reason) => parking::park(&texts.tasks, task, *place, reason),
        }
        .map_err(|error| refused(spec, task, &error))?,
    };
    let after = BundleTexts {
        tasks: tasks.clone(),
        ..texts.clone()
    };
    let _ = whole_bundle(spec, BundleFiles::from(after.clone()))?;
    let anchor = |texts: &BundleTexts| content_anchor(texts).map_err(|error| Failure::failed(error.to_string()));
    if anchor(&after)? == anchor(&texts)? {
        Ok(Replacement {
            file: BundleFile::Tasks,
            before: Some(texts.tasks),
            after: tasks,
        })
    } else {
        Err(Failure::failed(
            "the change would touch what was signed; nothing was written",
        ))
    }
}

/// Returns `tasks.md` of format version 1 with the block of the task moved. A bullet that somebody wrote about it parks it
/// too, and goes like one of version 2.
fn moved(bundle: &Bundle, texts: &BundleTexts, task: &TaskId, act: &Act<'_>) -> Result<Vec<u8>, Failure> {
    let spec = &bundle.spec;
    let refused = |error: ParkError| refused(spec, task, &error);
    let found = bundle
        .task(task)
        .ok_or_else(|| refused(ParkError::NoTask(task.clone())))?;
    let parked = found.section.parking().filter(|place| place.is_a_persons());
    let bullet = bundle.parked.iter().find(|bullet| bullet.task == *task);
    match (act, parked, bullet) {
        (Act::Unpark, None, Some(_)) => return parking::unpark(&texts.tasks, task).map_err(refused),
        (Act::Unpark, None, None) => return Err(refused(ParkError::NotParked(task.clone()))),
        (Act::Park(..), Some(place), _) => {
            return Err(refused(ParkError::Parked {
                task: task.clone(),
                place,
                line: found.line,
            }));
        }
        (Act::Park(..), None, Some(bullet)) => {
            return Err(refused(ParkError::Parked {
                task: task.clone(),
                place: bullet.place,
                line: bullet.line,
            }));
        }
        (Act::Unpark, Some(_), _) | (Act::Park(..), None, None) => {}
    }
    let moved = match act {
        Act::Unpark => placement::unpark_block(&texts.tasks, task),
        Act::Park(place, reason) => placement::park_block(&texts.tasks, task, *place, reason),
    };
    moved.map_err(|error| match error {
        PlacementError::NoSection(place) => refused(ParkError::NoSection(place)),
        PlacementError::NoReason => refused(ParkError::NoReason),
        error @ (PlacementError::NotText { .. }
        | PlacementError::OpenFence(_)
        | PlacementError::FencedHeading(_)
        | PlacementError::Differs { .. }
        | PlacementError::Annotated { .. }
        | PlacementError::Empty
        | PlacementError::Definition
        | PlacementError::NoBlock(_)) => Failure::failed(format!("the block of task {task} cannot be moved: {error}"))
            .with_hint(format!("mend specs/{spec}/tasks.md, or move the block by hand")),
    })
}

fn refused(spec: &SpecId, task: &TaskId, error: &ParkError) -> Failure {
    let message = error.to_string();
    match error {
        ParkError::NoReason => Failure::usage(message).with_hint("--reason \"why, and what it waits for\""),
        ParkError::NoTask(_) => {
            Failure::usage(message).with_hint(format!("its tasks: orchestrate status specs/{spec}"))
        }
        ParkError::Parked { .. } => Failure::failed(message).with_hint(format!(
            "to park it elsewhere: orchestrate unpark {spec} {task}, then park it"
        )),
        ParkError::NotParked(_) => {
            Failure::failed(message).with_hint(format!("what holds it: orchestrate why {spec} {task}"))
        }
        ParkError::ParkedTwice { .. } => {
            Failure::failed(message).with_hint(format!("leave one of them in specs/{spec}/tasks.md"))
        }
        ParkError::NoSection(place) => Failure::failed(message).with_hint(format!(
            "add `## {}` with the line `(none yet)` to specs/{spec}/tasks.md",
            place.section()
        )),
        ParkError::UnclearEnd { .. } | ParkError::Joined { .. } => {
            Failure::failed(message).with_hint(format!("remove the bullet by hand; it is in specs/{spec}/tasks.md"))
        }
        ParkError::NotText { .. } | ParkError::OpenFence(_) => Failure::failed(message),
    }
}
