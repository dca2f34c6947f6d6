//! How the small tower fences a unit at origin.

use std::collections::BTreeMap;

use orchestrate_core::derive::{SpecState, TaskState};
use orchestrate_core::evidence::{Base, Evidence, Origin};
use orchestrate_core::identifier::{CommitId, SpecId, TaskId, UnitName};
use orchestrate_core::observed::Observed;
use orchestrate_core::place::Place;
use orchestrate_core::record::fence::{Fence, FenceIntent};
use orchestrate_core::world::{Fault, Pushed, World};

use super::mini_gather::observed;
use super::mini_tower::{Flaw, Stop, stop};

pub(super) fn intents(world: &dyn World, spec: &SpecId) -> Observed<BTreeMap<TaskId, Observed<FenceIntent>>> {
    world.list(&Place::IntentDirectory(spec.clone())).map(|names| {
        let tasks = names.iter().filter_map(|name| TaskId::parse(name).ok());
        let read = |task: TaskId| {
            let intent = observed(world.read(&Place::Intent(spec.clone(), task.clone())), |bytes| {
                FenceIntent::parse(bytes).map_err(|fault| fault.to_string())
            });
            (task, intent)
        };
        tasks.map(read).collect()
    })
}

pub(super) fn take(world: &mut dyn World, name: &UnitName, evidence: &Evidence, flaw: Flaw) -> Result<(), Stop> {
    let Observed::Known(_) = &evidence.origin else {
        return Ok(());
    };
    let task = name.unit.tasks().next().expect("a unit has a task").clone();
    let (commit, is_new) = intend(world, name, &task, evidence, flaw)?;
    let fences = BTreeMap::from([(task.clone(), commit.clone())]);
    let mut pushed = world.push_fences(&name.spec, &fences)?;
    if flaw == Flaw::TakesTheFenceAway && matches!(pushed.get(&task), Some(Pushed::Refused { .. })) {
        world.delete_fence(&name.spec, &task)?;
        pushed = world.push_fences(&name.spec, &fences)?;
    }
    if flaw == Flaw::TakesTheTipFenceAway
        && let Observed::Known(before) = world.origin(&name.spec, &evidence.base)
        && before.fences.get(&task).is_some_and(|fence| fence.message.is_none())
    {
        world.delete_fence(&name.spec, &task)?;
        pushed = world.push_fences(&name.spec, &fences)?;
    }
    let answer = pushed.get(&task);
    if flaw == Flaw::NoLookAtOriginAgain && matches!(answer, Some(Pushed::Made)) {
        return Ok(());
    }
    if flaw == Flaw::ForgetsWhatWasRefused && is_new && matches!(answer, Some(Pushed::Refused { .. })) {
        world.remove(&Place::Intent(name.spec.clone(), task))?;
        return stop("origin refuses the fence");
    }
    let now = match world.origin(&name.spec, &evidence.base) {
        Observed::Known(now) => now,
        Observed::Unknown(_) if flaw == Flaw::UnknownOriginHasNotMoved => return Ok(()),
        Observed::Absent(why) | Observed::Unknown(why) => return Err(why.into()),
    };
    let is_ours = now.fences.get(&task).is_some_and(|fence| fence.commit == commit);
    let is_trusted = flaw == Flaw::AdoptsThePeersFence
        || (flaw == Flaw::TrustsAMadeAnswer && matches!(answer, Some(Pushed::Made | Pushed::Same)));
    if !is_ours && !is_trusted {
        return stop("another tower has the fence, or origin does not show it");
    }
    if !is_seen(world, &evidence.base, &now) {
        if is_new {
            give_back(world, name, evidence, flaw)?;
        }
        return stop("the base has moved at origin");
    }
    Ok(())
}

/// Removes the fence, and the intent of it when it is seen to be gone.
fn give_back(world: &mut dyn World, name: &UnitName, evidence: &Evidence, flaw: Flaw) -> Result<(), Stop> {
    for task in name.unit.tasks() {
        world.delete_fence(&name.spec, task)?;
        let is_gone = match world.origin(&name.spec, &evidence.base) {
            Observed::Known(after) => !after.fences.contains_key(task),
            Observed::Absent(_) | Observed::Unknown(_) => false,
        };
        if is_gone || flaw == Flaw::TrustsADeletion {
            world.remove(&Place::Intent(name.spec.clone(), task.clone()))?;
        }
    }
    Ok(())
}

fn intend(
    world: &mut dyn World,
    name: &UnitName,
    task: &TaskId,
    evidence: &Evidence,
    flaw: Flaw,
) -> Result<(CommitId, bool), Fault> {
    if let Observed::Known(intents) = &evidence.intents
        && let Some(Observed::Known(intent)) = intents.get(task)
        && flaw != Flaw::ForgetsItsFence
    {
        return Ok((intent.commit.clone(), false));
    }
    let fence = Fence::new(world.identity(), world.clone_id(), world.nonce()?, world.now());
    let commit = world.create_fence(&fence)?;
    if flaw == Flaw::PushesBeforeTheIntent {
        let fences = BTreeMap::from([(task.clone(), commit.clone())]);
        let _ = world.push_fences(&name.spec, &fences)?;
    }
    world.create_directory(&Place::IntentDirectory(name.spec.clone()))?;
    let intent = FenceIntent::new(fence, commit.clone()).render();
    world.write(&Place::Intent(name.spec.clone(), task.clone()), &intent)?;
    Ok((commit, true))
}

fn is_seen(world: &dyn World, base: &Base, origin: &Origin) -> bool {
    let Some(there) = &origin.base else { return true };
    core::iter::once(&base.commit)
        .chain(&base.counterpart)
        .any(|here| here == there || world.contains(here, there) == Observed::Known(true))
}

/// Removes the fences of what has landed at origin.
pub(super) fn collect(world: &mut dyn World, spec: &SpecId, evidence: &Evidence, state: &SpecState, flaw: Flaw) {
    let Observed::Known(origin) = &evidence.origin else {
        return;
    };
    for task in origin.fences.keys() {
        let Some(TaskState::Landed { commit }) = state.tasks.get(task).map(|report| &report.state) else {
            continue;
        };
        let at_origin = origin
            .base
            .as_ref()
            .is_some_and(|base| world.contains(base, commit) == Observed::Known(true));
        if at_origin || flaw == Flaw::CollectsBeforeOriginHasIt {
            // One that stays is collected by the next step.
            let _ = world.delete_fence(spec, task);
        }
    }
}
