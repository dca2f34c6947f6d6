//! What stands in the way of a unit, written once where people look (`contract/core.md §14.1, §14.2`).

use std::collections::BTreeSet;

use orchestrate_core::evidence::Lease;
use orchestrate_core::identifier::{TaskId, Unit};
use orchestrate_core::observed::Observed;
use orchestrate_core::place::Place;
use orchestrate_core::plan::{HaltReason, NoDispatch};
use orchestrate_core::pull_request::PullRequests;
use orchestrate_core::record::dispatch::DispatchRecord;
use orchestrate_core::world::{Reading, World};

use super::Swept;
use super::bullets::{Edited, Entry, park_all};
use crate::fitness::{Refusal, Situation, choose};
use crate::gate;
use crate::gather::launch_record;
use crate::lock::{self, Held, LockRefusal, Released};
use crate::preflight::open_bundle;
use crate::step::{StepRequest, Survey, machine, survey_again};

/// Records the halts of units that could not be dispatched, where nobody is there to be told, and returns what was
/// written. A person who is there is told instead.
///
/// # Errors
/// What the step says where nothing is recorded: why nothing was dispatched.
pub(crate) fn record(
    world: &mut dyn World,
    request: &StepRequest,
    refusal: Refusal,
    asked: &Observed<PullRequests>,
    notes: &mut Vec<String>,
) -> Result<Swept, NoDispatch> {
    let wanted = entries(request, &refusal);
    if !request.unattended || wanted.is_empty() {
        return Err(refusal.reason);
    }
    if request.dry_run {
        return Ok(Swept {
            spec: request.spec.clone(),
            placed: Vec::new(),
            parked: wanted.into_iter().map(Entry::parked).collect(),
            dry_run: true,
        });
    }
    let released = lock::with(world, &request.spec, request.stale_lock_minutes, |world, held| {
        under_lock(world, &held, request, asked)
    });
    let released = match released {
        Ok(released) => released,
        // A later step finds it in the way again.
        Err(LockRefusal::Busy(_)) => return Err(refusal.reason),
        Err(LockRefusal::Fault(fault)) => return Err(machine(fault)),
    };
    let (swept, told) = released.value?;
    notes.extend(told);
    match released.kept {
        Some(fault) => Err(machine(fault)),
        None => Ok(swept),
    }
}

fn under_lock(
    world: &mut dyn World,
    held: &Held<'_>,
    request: &StepRequest,
    asked: &Observed<PullRequests>,
) -> Result<(Swept, Vec<String>), NoDispatch> {
    let (bundle, texts) = open_bundle(world, &request.spec).map_err(NoDispatch::Halt)?;
    let survey = survey_again(world, request, bundle.graph(), asked).map_err(machine)?;
    let Survey { graph, evidence, state } = &survey;
    let signed = gate::compare(world, &request.spec, &evidence.base, &texts)?;
    let situation = Situation {
        request,
        graph,
        state,
        evidence,
        signed: &signed,
    };
    let refusal = match choose(world, &situation) {
        Ok(chosen) => {
            return Err(NoDispatch::moved(format!(
                "{} can be dispatched",
                chosen.intent.name.unit
            )));
        }
        Err(refusal) => refusal,
    };
    let mut edited = Edited::unchanged(bundle.spec.clone(), bundle.version, &texts);
    let refused = park_all(&mut edited, entries(request, &refusal));
    if edited.is_unchanged() {
        return Err(refusal.reason);
    }
    edited.write(world, held).map_err(machine)?;
    Ok((edited.swept(false), refused.iter().map(ToString::to_string).collect()))
}

/// Records the halt of a unit that was recorded and could not be handed over: otherwise each step would take it first, and
/// halt again. A launch that reached a worker is left alone.
///
/// # Errors
/// What the step says where nothing is recorded: why no worker was started.
pub(crate) fn record_unlaunched(
    world: &mut dyn World,
    request: &StepRequest,
    record: &DispatchRecord,
    reason: NoDispatch,
) -> Result<Swept, NoDispatch> {
    let NoDispatch::Halt(reasons) = &reason else {
        return Err(reason);
    };
    if !request.unattended || !reasons.iter().all(HaltReason::is_of_a_unit) {
        return Err(reason);
    }
    let tasks = record.unit.tasks();
    let entries: Vec<Entry> = tasks
        .map(|task| entry(request, &record.unit, task, reasons.clone()))
        .collect();
    let released = lock::with(world, &request.spec, request.stale_lock_minutes, |world, held| {
        if !is_still_unlaunched(world, record) {
            return Ok(None);
        }
        let (bundle, texts) = open_bundle(world, &request.spec).map_err(NoDispatch::Halt)?;
        let mut edited = Edited::unchanged(bundle.spec.clone(), bundle.version, &texts);
        let _ = park_all(&mut edited, entries);
        if edited.is_unchanged() {
            return Ok(None);
        }
        edited.write(world, &held).map_err(machine)?;
        Ok(Some(edited.swept(false)))
    });
    match released {
        Ok(Released {
            value: Ok(Some(swept)), ..
        }) => Ok(swept),
        Ok(Released { value: Err(reason), .. }) => Err(reason),
        Ok(Released { value: Ok(None), .. }) | Err(LockRefusal::Busy(_) | LockRefusal::Fault(_)) => Err(reason),
    }
}

/// Returns whether the record is the unit's latest and nobody has started for it.
fn is_still_unlaunched(world: &dyn World, record: &DispatchRecord) -> bool {
    let name = record.name();
    let is_latest = match world.read(&Place::DispatchRecord(name.clone())) {
        Reading::File { bytes, .. } => DispatchRecord::parse(&bytes).is_ok_and(|found| found == *record),
        Reading::Absent | Reading::Directory { .. } | Reading::Symlink | Reading::Special | Reading::Unreadable(_) => {
            false
        }
    };
    let is_free = match world.leases(&record.spec) {
        Observed::Known(leases) => leases.get(&record.unit) == Some(&Observed::Known(Lease::Free)),
        Observed::Absent(_) | Observed::Unknown(_) => false,
    };
    let is_unlaunched = match launch_record(world, &name) {
        Observed::Known(launch) => launch.attempt != record.attempt,
        Observed::Absent(_) => true,
        Observed::Unknown(_) => false,
    };
    is_latest && is_free && is_unlaunched
}

/// Returns what is to be written of each task that was set aside by halts of its units alone: a task of a pair that could
/// still be taken by itself, once something is known, waits for that.
fn entries(request: &StepRequest, refusal: &Refusal) -> Vec<Entry> {
    let halts = |reason: &NoDispatch| match reason {
        NoDispatch::Halt(reasons) => reasons.iter().all(HaltReason::is_of_a_unit).then(|| reasons.clone()),
        NoDispatch::Hold(_) | NoDispatch::Idle(_) => None,
    };
    let tasks: BTreeSet<&TaskId> = refusal.set_aside.keys().flat_map(Unit::tasks).collect();
    let mut entries = Vec::new();
    for task in tasks {
        let of_task = refusal.set_aside.iter().filter(|(unit, _)| unit.contains(task));
        let halted: Option<Vec<(&Unit, Vec<HaltReason>)>> =
            of_task.map(|(unit, reason)| Some((unit, halts(reason)?))).collect();
        // A task by itself is named before a pair, and says more of the task.
        let alone = Unit::single(task.clone());
        let chosen = halted.and_then(|halted| {
            let index = halted.iter().position(|(unit, _)| **unit == alone).unwrap_or_default();
            halted.into_iter().nth(index)
        });
        if let Some((unit, reasons)) = chosen {
            entries.push(entry(request, unit, task, reasons));
        }
    }
    entries
}

fn entry(request: &StepRequest, unit: &Unit, task: &TaskId, halted: Vec<HaltReason>) -> Entry {
    let said = halted.iter().map(|reason| match reason.remedy() {
        Some(remedy) => format!("{reason}; {remedy}"),
        None => reason.to_string(),
    });
    let what = format!("halted: {}", said.collect::<Vec<_>>().join("; "));
    Entry {
        unit: unit.clone(),
        task: task.clone(),
        // The bullet holds the task back: a step before it is gone would do nothing.
        note: format!("{what}; then orchestrate unpark {} {task}", request.spec),
        what,
        halted,
    }
}
