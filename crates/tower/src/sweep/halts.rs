//! What stands in the way of a unit, written once where people look (`contract/core.md §14.1, §14.2`).

use std::collections::BTreeSet;

use orchestrate_core::derive::TaskState;
use orchestrate_core::evidence::Lease;
use orchestrate_core::graph::{ParkingPlace, TaskGraph};
use orchestrate_core::identifier::{SpecId, TaskId, Unit};
use orchestrate_core::observed::Observed;
use orchestrate_core::place::Place;
use orchestrate_core::plan::{HaltReason, NoDispatch};
use orchestrate_core::pull_request::PullRequests;
use orchestrate_core::record::dispatch::DispatchRecord;
use orchestrate_core::world::{Reading, World};

use super::bullets::{Edited, Entry, park_all};
use super::{Aside, Swept};
use crate::fitness::{Refusal, Situation, choose};
use crate::gate;
use crate::gather::launch_record;
use crate::lock::{self, Held, LockRefusal, Released};
use crate::preflight::open_bundle;
use crate::step::{StepRequest, Survey, machine, survey_again};

/// What the note of a halt begins with that stops every unit. One of them is enough: wherever it stands, no second unit is
/// parked for it, or a loop would park one after the other.
pub const OF_EVERY_UNIT: &str = "halted for every task: ";

/// Records the halts of units that could not be dispatched, where nobody is there to be told, and returns what was
/// written. A person who is there is told instead, and may have it written: that is what waits for an answer.
///
/// # Errors
/// What the step says where nothing is recorded: why nothing was dispatched.
pub(crate) fn record(
    world: &mut dyn World,
    request: &StepRequest,
    refusal: Refusal,
    asked: &Observed<PullRequests>,
    told: &mut Aside,
) -> Result<Swept, NoDispatch> {
    let wanted = entries(request, &refusal);
    if wanted.is_empty() {
        return Err(refusal.reason);
    }
    if !request.unattended {
        told.waiting.extend(wanted.into_iter().map(Entry::parked));
        return Err(refusal.reason);
    }
    if request.dry_run {
        return Ok(would_park(request, wanted));
    }
    let released = lock::with(world, &request.spec, request.stale_lock_minutes, |world, held| {
        under_lock(world, &held, request, asked)
    });
    let released = match released {
        Ok(released) => released,
        // A later step finds it in the way again.
        Err(LockRefusal::Busy(_)) => return Err(refusal.reason),
        Err(LockRefusal::Fault(fault)) => return Err(unwritten(refusal.reason, machine(fault), told)),
    };
    let (swept, notes) = match released.value {
        Ok(value) => value,
        Err(why) => return Err(unwritten(refusal.reason, why, told)),
    };
    told.notes.extend(notes);
    match released.kept {
        Some(fault) => Err(machine(fault)),
        None => Ok(swept),
    }
}

fn would_park(request: &StepRequest, wanted: Vec<Entry>) -> Swept {
    Swept {
        spec: request.spec.clone(),
        placed: Vec::new(),
        parked: wanted.into_iter().map(Entry::parked).collect(),
        lifted: Vec::new(),
        dry_run: true,
    }
}

/// Records what stops every unit, once, on the unit that was selected (`contract/core.md §14.1`): the gate, an origin that
/// does not answer, a backend that is not there. A person who is there is told instead.
///
/// # Errors
/// What the step says where nothing is recorded: also where one such halt stands in the ledger already.
pub(crate) fn record_of_every_unit(
    world: &mut dyn World,
    request: &StepRequest,
    unit: &Unit,
    reason: NoDispatch,
    (seen, told): (&Survey, &mut Aside),
) -> Result<Swept, NoDispatch> {
    let wanted = |reason: &NoDispatch| -> Option<Vec<Entry>> {
        let NoDispatch::Halt(reasons) = reason else { return None };
        let is_recorded = reasons.iter().all(HaltReason::is_of_every_unit);
        let entry = |task: &TaskId| entry_of_every_unit(request, unit, task, reasons.clone());
        is_recorded.then(|| unit.tasks().map(entry).collect())
    };
    let Some(entries) = wanted(&reason).filter(|_| !is_recorded(&seen.graph)) else {
        return Err(reason);
    };
    if !request.unattended {
        told.waiting.extend(entries.into_iter().map(Entry::parked));
        return Err(reason);
    }
    if request.dry_run {
        return Ok(would_park(request, entries));
    }
    let asked = &seen.evidence.pull_requests;
    let released = lock::with(world, &request.spec, request.stale_lock_minutes, |world, held| {
        let (bundle, texts) = open_bundle(world, &request.spec).map_err(NoDispatch::Halt)?;
        let survey = survey_again(world, request, bundle.graph(), asked).map_err(machine)?;
        if !unit.tasks().all(|task| is_free(&survey, task)) || is_recorded(&survey.graph) {
            return Err(reason.clone());
        }
        let mut edited = Edited::unchanged(bundle.spec.clone(), bundle.version, &texts);
        let refused = park_all(&mut edited, entries);
        if edited.is_unchanged() {
            return Err(reason.clone());
        }
        edited.write(world, &held).map_err(machine)?;
        Ok((edited.swept(false), refused))
    });
    match released {
        Ok(Released { value: Err(why), .. }) => Err(unwritten(reason, why, told)),
        Ok(Released {
            value: Ok((swept, refused)),
            kept,
        }) => {
            told.notes.extend(refused.iter().map(ToString::to_string));
            kept.map_or(Ok(swept), |fault| Err(machine(fault)))
        }
        // A later step finds it in the way again.
        Err(LockRefusal::Busy(_)) => Err(reason),
        Err(LockRefusal::Fault(fault)) => Err(unwritten(reason, machine(fault), told)),
    }
}

/// Returns what the step says where a halt could not be written down: what the machine refused hides nothing of why a person
/// is needed; anything else that was found under the lock is more recent.
fn unwritten(reason: NoDispatch, found: NoDispatch, told: &mut Aside) -> NoDispatch {
    let faults: Option<Vec<String>> = match &found {
        NoDispatch::Halt(reasons) => reasons.iter().map(fault_of).collect(),
        NoDispatch::Idle(_) | NoDispatch::Hold(_) => None,
    };
    match faults {
        Some(faults) if matches!(reason, NoDispatch::Halt(_)) => {
            let notes = faults
                .into_iter()
                .map(|fault| format!("this is not written down: {fault}"));
            told.notes.extend(notes);
            reason
        }
        Some(_) | None => found,
    }
}

fn fault_of(reason: &HaltReason) -> Option<String> {
    match reason {
        HaltReason::Machine(fault) => Some(match &fault.hint {
            Some(hint) => format!("{fault}; {hint}"),
            None => fault.to_string(),
        }),
        HaltReason::Status { .. }
        | HaltReason::BundleInvalid { .. }
        | HaltReason::SignOff { .. }
        | HaltReason::Changed { .. }
        | HaltReason::WorkingCopyDiffers { .. }
        | HaltReason::NotAtOrigin { .. }
        | HaltReason::OriginUnreached { .. }
        | HaltReason::Doctrine { .. }
        | HaltReason::Backend { .. }
        | HaltReason::LaunchRefused { .. }
        | HaltReason::WorktreeTaken { .. }
        | HaltReason::UncommittedWork { .. } => None,
    }
}

/// Returns whether a halt of every unit stands in the ledger.
fn is_recorded(graph: &TaskGraph) -> bool {
    let mut parked = graph.parked.values();
    parked.any(|parking| parking.place == ParkingPlace::AwaitingInput && parking.note.contains(OF_EVERY_UNIT))
}

/// Returns whether a task is still to be dispatched.
fn is_free(survey: &Survey, task: &TaskId) -> bool {
    let report = survey.state.tasks.get(task);
    report.is_some_and(|report| report.state == TaskState::Ready && report.parked.is_none())
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
    told: &mut Aside,
) -> Result<Swept, NoDispatch> {
    let NoDispatch::Halt(reasons) = &reason else {
        return Err(reason);
    };
    // A runner that refused to start says what may pass: a disk that was full, a lease that was held.
    if !reasons.iter().all(HaltReason::is_of_a_unit) {
        return Err(reason);
    }
    let tasks = record.unit.tasks();
    let entries: Vec<Entry> = tasks
        .map(|task| entry(request, &record.unit, task, reasons.clone()))
        .collect();
    if !request.unattended {
        told.waiting.extend(entries.into_iter().map(Entry::parked));
        return Err(reason);
    }
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
        Observed::Known(launch) => !record.was_launched(&launch),
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

/// Returns how the note of a halt ends: with what puts its task back.
pub(super) fn command_back(spec: &SpecId, task: &TaskId) -> String {
    format!("; then orchestrate unpark {spec} {task}")
}

fn entry(request: &StepRequest, unit: &Unit, task: &TaskId, halted: Vec<HaltReason>) -> Entry {
    entry_with("halted: ", request, (unit, task), halted)
}

fn entry_of_every_unit(request: &StepRequest, unit: &Unit, task: &TaskId, halted: Vec<HaltReason>) -> Entry {
    entry_with(OF_EVERY_UNIT, request, (unit, task), halted)
}

fn entry_with(lead: &str, request: &StepRequest, (unit, task): (&Unit, &TaskId), halted: Vec<HaltReason>) -> Entry {
    let said: Vec<String> = halted.iter().map(HaltReason::recorded).collect();
    let what = format!("{lead}{}", said.join("; "));
    Entry {
        unit: unit.clone(),
        task: task.clone(),
        // The bullet holds the task back: a step before it is gone would do nothing.
        note: format!("{what}{}", command_back(&request.spec, task)),
        what,
        halted,
    }
}
