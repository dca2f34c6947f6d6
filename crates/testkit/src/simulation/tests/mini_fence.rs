//! How the small tower fences a unit at origin.

use std::collections::BTreeMap;

use orchestrate_core::derive::{SpecState, TaskState};
use orchestrate_core::evidence::{Base, Evidence, Origin};
use orchestrate_core::identifier::{SpecId, TaskId, UnitName};
use orchestrate_core::observed::Observed;
use orchestrate_core::place::{Place, intent_task};
use orchestrate_core::record::fence::{Fence, FenceIntent, OwnFences};
use orchestrate_core::world::{Fault, Pushed, World};

use super::mini_gather::observed;
use super::mini_tower::{Flaw, Stop, stop};

pub(super) fn own_fences(world: &dyn World, spec: &SpecId) -> Observed<BTreeMap<TaskId, Observed<OwnFences>>> {
    world.list(&Place::IntentDirectory(spec.clone())).map(|names| {
        let read = |task: TaskId| {
            let one = |place: Place| {
                let parse = |bytes: &[u8]| FenceIntent::parse(bytes).map_err(|fault| fault.to_string());
                observed(world.read(&place), parse).known()
            };
            let intent = one(Place::Intent(spec.clone(), task.clone()));
            let given_back = one(Place::GivenBack(spec.clone(), task.clone()));
            let own = match (intent, given_back) {
                (Ok(intent), Ok(given_back)) => Observed::Known(OwnFences { intent, given_back }),
                (Err(why), _) | (_, Err(why)) => Observed::Unknown(why),
            };
            (task, own)
        };
        names.iter().filter_map(|name| intent_task(name)).map(read).collect()
    })
}

pub(super) fn take(world: &mut dyn World, name: &UnitName, evidence: &Evidence, flaw: Flaw) -> Result<(), Stop> {
    let Observed::Known(_) = &evidence.origin else {
        return Ok(());
    };
    let task = name.unit.tasks().next().expect("a unit has a task").clone();
    remove_given_back(world, name, &task, evidence)?;
    let (intent, is_new) = intend(world, name, &task, evidence, flaw)?;
    let fences = BTreeMap::from([(task.clone(), intent.commit.clone())]);
    let mut pushed = world.push_fences(&name.spec, &fences)?;
    if flaw == Flaw::TakesTheFenceAway
        && matches!(pushed.get(&task), Some(Pushed::Refused { .. }))
        && let Observed::Known(before) = world.origin(&name.spec, &evidence.base)
        && let Some(fence) = before.fences.get(&task)
    {
        world.delete_fence(&name.spec, &task, &fence.commit)?;
        pushed = world.push_fences(&name.spec, &fences)?;
    }
    if flaw == Flaw::TakesTheTipFenceAway
        && let Observed::Known(before) = world.origin(&name.spec, &evidence.base)
        && let Some(fence) = before.fences.get(&task).filter(|fence| fence.message.is_none())
    {
        world.delete_fence(&name.spec, &task, &fence.commit)?;
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
    let is_ours = now.fences.get(&task).is_some_and(|fence| fence.commit == intent.commit);
    let is_trusted = flaw == Flaw::AdoptsThePeersFence
        || (flaw == Flaw::TrustsAMadeAnswer && matches!(answer, Some(Pushed::Made | Pushed::Same)));
    if !is_ours && !is_trusted {
        return stop("another tower has the fence, or origin does not show it");
    }
    if !is_seen(world, &evidence.base, &now) {
        if is_new {
            give_back(world, name, &task, &intent, flaw)?;
        }
        return stop("the base has moved at origin");
    }
    Ok(())
}

/// Returns what this clone knows of its own fences.
fn known<'e>(evidence: &'e Evidence, task: &TaskId) -> Option<&'e OwnFences> {
    let Observed::Known(own) = &evidence.own_fences else {
        return None;
    };
    match own.get(task) {
        Some(Observed::Known(own)) => Some(own),
        Some(Observed::Absent(_) | Observed::Unknown(_)) | None => None,
    }
}

fn remove_given_back(world: &mut dyn World, name: &UnitName, task: &TaskId, evidence: &Evidence) -> Result<(), Fault> {
    let Some(own) = known(evidence, task) else {
        return Ok(());
    };
    match &evidence.origin {
        Observed::Known(origin) => match origin.fences.get(task) {
            Some(fence) if own.has_given_back(&fence.commit) => world.delete_fence(&name.spec, task, &fence.commit),
            Some(_) | None => Ok(()),
        },
        Observed::Absent(_) | Observed::Unknown(_) => Ok(()),
    }
}

/// Writes down that the fence is given back, and removes it.
fn give_back(
    world: &mut dyn World,
    name: &UnitName,
    task: &TaskId,
    intent: &FenceIntent,
    flaw: Flaw,
) -> Result<(), Stop> {
    if flaw != Flaw::TrustsADeletion {
        let place = Place::GivenBack(name.spec.clone(), task.clone());
        world.write(&place, &intent.render())?;
    }
    world.delete_fence(&name.spec, task, &intent.commit)?;
    if flaw == Flaw::TrustsADeletion {
        world.remove(&Place::Intent(name.spec.clone(), task.clone()))?;
    }
    Ok(())
}

fn intend(
    world: &mut dyn World,
    name: &UnitName,
    task: &TaskId,
    evidence: &Evidence,
    flaw: Flaw,
) -> Result<(FenceIntent, bool), Fault> {
    let own = known(evidence, task).filter(|_| flaw != Flaw::ForgetsItsFence);
    let pushes_again = flaw == Flaw::PushesAGivenBackFenceAgain;
    let earlier = own.and_then(|own| {
        if pushes_again {
            own.intent.as_ref()
        } else {
            own.current()
        }
    });
    if let Some(intent) = earlier {
        return Ok((intent.clone(), false));
    }
    let fence = Fence::new(world.identity(), world.clone_id(), world.nonce()?, world.now());
    let commit = world.create_fence(&fence)?;
    if flaw == Flaw::PushesBeforeTheIntent {
        let fences = BTreeMap::from([(task.clone(), commit.clone())]);
        let _ = world.push_fences(&name.spec, &fences)?;
    }
    world.create_directory(&Place::IntentDirectory(name.spec.clone()))?;
    let intent = FenceIntent::new(fence, commit);
    world.write(&Place::Intent(name.spec.clone(), task.clone()), &intent.render())?;
    Ok((intent, true))
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
    for (task, fence) in &origin.fences {
        let Some(TaskState::Landed { commit }) = state.tasks.get(task).map(|report| &report.state) else {
            continue;
        };
        let at_origin = origin
            .base
            .as_ref()
            .is_some_and(|base| world.contains(base, commit) == Observed::Known(true));
        if at_origin || flaw == Flaw::CollectsBeforeOriginHasIt {
            // One that stays is collected by the next step.
            let _ = world.delete_fence(spec, task, &fence.commit);
        }
    }
}
