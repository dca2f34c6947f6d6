//! How the small tower retires the worktrees of landed units, rightly and wrongly.

use orchestrate_core::derive::derive;
use orchestrate_core::evidence::{BranchSide, Evidence};
use orchestrate_core::finished::{Retirable, retirable};
use orchestrate_core::graph::TaskGraph;
use orchestrate_core::identifier::{SpecId, UnitName};
use orchestrate_core::observed::Observed;
use orchestrate_core::world::{Retirement, World};

use super::mini_gather::gather;
use super::mini_lock::{lock, unlock};
use super::mini_tower::{Flaw, Stop};

/// Retires what may go, and throws it away.
pub(super) fn sweep(world: &mut dyn World, spec: &SpecId, graph: &TaskGraph, flaw: Flaw) -> Result<(), Stop> {
    // What cannot be thrown away today can be tomorrow.
    let _ = world.clear_retired();
    let before = chosen(world, spec, graph, flaw)?;
    if before.is_empty() {
        return Ok(());
    }
    if flaw == Flaw::RetiresWithoutTheLock {
        return retire(world, before);
    }
    let nonce = lock(world, spec, flaw)?;
    let again = if flaw == Flaw::RetiresBeforeItLooks {
        Ok(before)
    } else {
        chosen(world, spec, graph, flaw)
    };
    let retired = again.and_then(|again| retire(world, again));
    if flaw == Flaw::ClearsInsideTheLock {
        let _ = world.clear_retired();
    }
    unlock(world, spec, &nonce, flaw);
    let _ = world.clear_retired();
    retired
}

fn retire(world: &mut dyn World, chosen: Vec<(UnitName, Retirable)>) -> Result<(), Stop> {
    for (name, one) in chosen {
        let _ = world.retire_worktree(&name, &one.tip)?;
    }
    Ok(())
}

fn chosen(world: &dyn World, spec: &SpecId, graph: &TaskGraph, flaw: Flaw) -> Result<Vec<(UnitName, Retirable)>, Stop> {
    let evidence = gather(world, spec, flaw)?;
    let candidates = if flaw == Flaw::RetiresTheUnlanded {
        with_branch(&evidence)
    } else {
        retirable(&evidence, &derive(graph, &evidence))
    };
    let may_go = |name: &UnitName, one: &Retirable| match world.retirement(name, &one.tip) {
        Observed::Known(Retirement::Free) => true,
        Observed::Known(Retirement::Kept { .. }) => flaw == Flaw::RetiresTheKept,
        Observed::Unknown(_) => flaw == Flaw::RetiresTheUnread,
        Observed::Absent(_) => false,
    };
    let named = candidates.into_iter().map(|one| {
        let unit = one.unit.clone();
        let name = UnitName {
            spec: spec.clone(),
            unit,
        };
        (name, one)
    });
    Ok(named.filter(|(name, one)| may_go(name, one)).collect())
}

/// Every unit with a branch here, landed or not.
fn with_branch(evidence: &Evidence) -> Vec<Retirable> {
    let Observed::Known(branches) = &evidence.branches else {
        return Vec::new();
    };
    let here = branches.by_unit.iter().filter_map(|(unit, facts)| {
        let local = facts.iter().find(|facts| facts.side == BranchSide::Local)?;
        Some(Retirable {
            unit: unit.clone(),
            tip: local.tip.clone(),
        })
    });
    here.collect()
}
