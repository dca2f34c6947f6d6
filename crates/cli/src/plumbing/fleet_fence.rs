//! `fleet-fence refname|check|fence|gc|list|sweep` (`contract/later.md §2`).
//!
//! A fence that this verb takes is its caller's: no intent is written, so no step of this clone goes on from it.

mod sweep;

use std::collections::BTreeMap;

use camino::Utf8Path;
use orchestrate_core::identifier::{CommitId, SpecId, Unit};
use orchestrate_core::observed::Observed;
use orchestrate_core::record::fence::{Fence, unit_reference};
use orchestrate_core::world::{Fault, Pushed, World};
use orchestrate_host::origin;
use orchestrate_host::world::RealWorld;

use crate::arguments::{FenceFeedback, FencePlace, FenceVerb};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;

const VERB: &str = "fleet-fence";
/// Not fenced.
const UNFENCED: u8 = 1;
/// Somebody else has it.
const TAKEN: u8 = 3;
/// Origin fails: nothing is to be dispatched.
const DEGRADED: u8 = 4;
/// There is no origin: nothing is to be fenced.
const SOLO: u8 = 5;
/// The record of a fence that was removed.
const COLLECTED: &str = "gc";
/// The longest id of a unit.
const LONGEST_UNIT: usize = 32;

type Fences = BTreeMap<String, CommitId>;

pub(crate) fn run(verb: &FenceVerb, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    match verb {
        FenceVerb::Refname { spec, unit } => {
            printer.record(&[&unit_reference(&spec_of(spec)?, &unit_of(unit)?)]);
            Ok(0)
        }
        FenceVerb::Check { at, unit } => check(at, unit, environment, printer),
        FenceVerb::Fence { at, units } => fence(at, units, environment, printer),
        FenceVerb::Gc { at, feedback, units } => collect(at, feedback, units, environment, printer),
        FenceVerb::List { checkout, spec } => {
            let spec = spec.as_deref().map(spec_of).transpose()?;
            let world = open(checkout, environment)?;
            match standing(&world, spec.as_ref(), printer) {
                Ok(fences) => {
                    fences.keys().for_each(|reference| printer.record(&[reference]));
                    Ok(0)
                }
                Err(exit) => Ok(exit),
            }
        }
        FenceVerb::Sweep {
            at,
            by,
            grace,
            min_interval,
            feedback,
        } => {
            let terms = sweep::terms(by, grace, min_interval)?;
            check_feedback(feedback, printer)?;
            sweep::run(at, &terms, environment, printer)
        }
    }
}

fn check(at: &FencePlace, unit: &str, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    let spec = spec_of(&at.spec)?;
    let reference = unit_reference(&spec, &unit_of(unit)?);
    let world = open(&at.checkout, environment)?;
    Ok(match standing(&world, Some(&spec), printer) {
        Ok(fences) if fences.contains_key(&reference) => {
            printer.record(&["fenced", &reference]);
            0
        }
        Ok(_) => {
            printer.record(&["unfenced", &reference]);
            UNFENCED
        }
        Err(exit) => exit,
    })
}

fn fence(at: &FencePlace, units: &[String], environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    let spec = spec_of(&at.spec)?;
    let references = references(&spec, units)?;
    let mut world = open(&at.checkout, environment)?;
    let before = match standing(&world, Some(&spec), printer) {
        Ok(fences) => fences,
        Err(exit) => return Ok(exit),
    };
    if let Some(taken) = references.iter().find(|reference| before.contains_key(*reference)) {
        printer.record(&["taken", taken]);
        return Ok(TAKEN);
    }
    let fence = Fence::new(world.identity(), world.clone_id(), world.nonce()?, world.now());
    let own = origin::create(world.repository(), &fence)?;
    let wanted: Fences = references
        .iter()
        .map(|reference| (reference.clone(), own.clone()))
        .collect();
    let why = match origin::push(world.repository(), world.git(), &wanted) {
        Ok(pushed)
            if pushed
                .values()
                .all(|answer| matches!(answer, Pushed::Made | Pushed::Same)) =>
        {
            return Ok(told(&references, "fenced", 0, printer));
        }
        Ok(_) => "origin refuses the fence".to_owned(),
        Err(fault) => fault.to_string(),
    };
    // What was answered may be wrong, or nothing was: what stands at origin decides.
    let now = match standing(&world, Some(&spec), printer) {
        Ok(fences) => fences,
        Err(exit) => return Ok(exit),
    };
    if references.iter().all(|reference| now.get(reference) == Some(&own)) {
        return Ok(told(&references, "fenced", 0, printer));
    }
    let is_foreign = |reference: &&String| now.get(*reference).is_some_and(|there| *there != own);
    let taken: Vec<String> = references.iter().filter(is_foreign).cloned().collect();
    if taken.is_empty() {
        printer.talk(&format!("{VERB}: {why}"));
        return Ok(DEGRADED);
    }
    Ok(told(&taken, "taken", TAKEN, printer))
}

fn told(references: &[String], word: &str, exit: u8, printer: &mut Printer) -> u8 {
    for reference in references {
        printer.record(&[word, reference]);
    }
    exit
}

fn collect(
    at: &FencePlace,
    feedback: &FenceFeedback,
    units: &[String],
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let spec = spec_of(&at.spec)?;
    let references = references(&spec, units)?;
    check_feedback(feedback, printer)?;
    let world = open(&at.checkout, environment)?;
    let standing_now = match standing(&world, Some(&spec), printer) {
        Ok(fences) => fences,
        Err(exit) => return Ok(exit),
    };
    let (present, absent): (Vec<String>, Vec<String>) = references
        .into_iter()
        .partition(|reference| standing_now.contains_key(reference));
    let mut removed = standing_now;
    removed.retain(|reference, _| present.contains(reference));
    let exit = match remove(&world, &spec, &removed, printer) {
        Ok(()) => told(&present, COLLECTED, 0, printer),
        Err(exit) => exit,
    };
    told(&absent, "gc-absent", exit, printer);
    Ok(exit)
}

/// Removes all fences in one push. Where one has vanished git refuses the whole push, so those that are left are
/// removed one by one then.
fn remove(world: &RealWorld, spec: &SpecId, fences: &Fences, printer: &mut Printer) -> Result<(), u8> {
    if fences.is_empty() || origin::delete(world.repository(), world.git(), fences).is_ok() {
        return Ok(());
    }
    let left = standing(world, Some(spec), printer)?;
    for (reference, commit) in left.iter().filter(|(reference, _)| fences.contains_key(*reference)) {
        if let Err(fault) = remove_one(world, reference, commit) {
            printer.talk(&format!("{VERB}: {fault}"));
            return Err(DEGRADED);
        }
    }
    Ok(())
}

fn remove_one(world: &RealWorld, reference: &str, commit: &CommitId) -> Result<(), Fault> {
    let one = Fences::from([(reference.to_owned(), commit.clone())]);
    origin::delete(world.repository(), world.git(), &one)
}

/// Returns the fences that stand at origin, or the exit number where they cannot be asked for.
fn standing(world: &RealWorld, spec: Option<&SpecId>, printer: &mut Printer) -> Result<Fences, u8> {
    match origin::fences(world.repository(), world.git(), spec) {
        Observed::Known(fences) => Ok(fences),
        Observed::Absent(_) => {
            printer.record(&["solo", "no-origin"]);
            Err(SOLO)
        }
        Observed::Unknown(why) => {
            printer.talk(&format!("{VERB}: {why}"));
            Err(DEGRADED)
        }
    }
}

fn open(checkout: &Utf8Path, environment: &Environment) -> Result<RealWorld, Failure> {
    check_checkout(checkout)?;
    RealWorld::open(checkout, environment.world_settings())
        .map_err(|fault| Failure::from(fault).with_exit(super::FAIL_CLOSED))
}

fn check_checkout(checkout: &Utf8Path) -> Result<(), Failure> {
    if checkout.is_absolute() && checkout.is_dir() {
        return Ok(());
    }
    let message = format!("{VERB}: --checkout is not the absolute path of a directory");
    Err(Failure::usage(message))
}

fn spec_of(text: &str) -> Result<SpecId, Failure> {
    SpecId::parse(text).map_err(|invalid| Failure::usage(format!("{VERB}: {invalid}")))
}

fn unit_of(text: &str) -> Result<Unit, Failure> {
    if text.len() > LONGEST_UNIT {
        return Err(Failure::usage(format!(
            "{VERB}: a unit's id has at most {LONGEST_UNIT} characters"
        )));
    }
    Unit::parse(text).map_err(|invalid| Failure::usage(format!("{VERB}: {invalid}")))
}

fn references(spec: &SpecId, units: &[String]) -> Result<Vec<String>, Failure> {
    let mut references = Vec::new();
    for unit in units {
        let reference = unit_reference(spec, &unit_of(unit)?);
        if references.contains(&reference) {
            return Err(Failure::usage(format!("{VERB}: a unit is named twice")));
        }
        references.push(reference);
    }
    Ok(references)
}

/// Checks the flags of the feedback, which is never fatal: nothing in this build evaluates it.
fn check_feedback(feedback: &FenceFeedback, printer: &mut Printer) -> Result<(), Failure> {
    let FenceFeedback {
        alloc_key,
        obs_scope,
        obs_dir,
    } = feedback;
    let is_token = |text: &String| {
        !text.is_empty()
            && text.len() <= 128
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte))
    };
    match (alloc_key, obs_scope) {
        (None, None) if obs_dir.is_none() => Ok(()),
        (Some(key), Some(scope)) if is_token(key) && is_token(scope) => {
            printer.talk(&format!(
                "{VERB}: note: nothing here evaluates --alloc-key; no observation is made"
            ));
            Ok(())
        }
        (Some(_), Some(_)) => Err(Failure::usage(format!(
            "{VERB}: --alloc-key and --obs-scope take letters, digits and '._:-'"
        ))),
        (_, _) => Err(Failure::usage(format!(
            "{VERB}: --alloc-key and --obs-scope go together, and --obs-dir with them"
        ))),
    }
}
