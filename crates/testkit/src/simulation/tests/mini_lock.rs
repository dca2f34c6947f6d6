//! How the small tower takes and releases the lock.

use orchestrate_core::identifier::{Nonce, SpecId};
use orchestrate_core::observed::Observed;
use orchestrate_core::place::{LockDirectory, Place};
use orchestrate_core::process::Liveness;
use orchestrate_core::record::lock_owner::{LockKind, LockOwner};
use orchestrate_core::world::{Race, Reading, World};

use super::mini_gather::observed;
use super::mini_tower::{Flaw, Stop, stop};

pub(super) fn lock(world: &mut dyn World, spec: &SpecId, flaw: Flaw) -> Result<Nonce, Stop> {
    let nonce = world.nonce()?;
    if flaw != Flaw::BreaksWithoutWindow && world.enter_window(spec)? == Race::Lost {
        return stop("another tower is in the window");
    }
    let taken = clear_stale_lock(world, spec, &nonce, flaw).and_then(|()| publish_lock(world, spec, &nonce));
    if taken.is_err() {
        world.leave_window(spec);
    }
    taken.map(|()| nonce)
}

fn publish_lock(world: &mut dyn World, spec: &SpecId, nonce: &Nonce) -> Result<(), Stop> {
    let staging = LockDirectory::Staging(spec.clone(), nonce.clone());
    let owner = LockOwner::new(LockKind::Process, world.identity(), nonce.clone());
    world.create_directory(&staging.place())?;
    world.write(&staging.owner(), &owner.render())?;
    match world.publish(&staging.place(), &Place::Lock(spec.clone())) {
        Ok(Race::Won) => Ok(()),
        Ok(Race::Lost) => {
            // A left-over prepared lock is harmless.
            let _ = world.remove(&staging.place());
            stop("somebody else took the lock")
        }
        Err(fault) if owns(world, spec, nonce) => {
            let _ = fault;
            Ok(())
        }
        Err(fault) => Err(fault.into()),
    }
}

fn owner_of(world: &dyn World, spec: &SpecId) -> Observed<LockOwner> {
    let place = LockDirectory::Published(spec.clone()).owner();
    observed(world.read(&place), |bytes| {
        LockOwner::parse(bytes).map_err(|fault| fault.to_string())
    })
}

fn owns(world: &dyn World, spec: &SpecId, nonce: &Nonce) -> bool {
    matches!(owner_of(world, spec), Observed::Known(owner) if &owner.nonce == nonce)
}

fn clear_stale_lock(world: &mut dyn World, spec: &SpecId, nonce: &Nonce, flaw: Flaw) -> Result<(), Stop> {
    let modified = match world.read(&Place::Lock(spec.clone())) {
        Reading::Absent => return Ok(()),
        Reading::Directory { modified } => modified,
        other @ (Reading::File { .. } | Reading::Symlink | Reading::Special | Reading::Unreadable(_)) => {
            return stop(format!("the lock is {other:?}"));
        }
    };
    if flaw == Flaw::NeverBreaksLocks {
        return stop("locked");
    }
    if flaw != Flaw::BreaksEveryLock {
        let old = world.now().seconds_since(modified).div_euclid(60) > 15;
        let stale = match owner_of(world, spec) {
            Observed::Known(owner) if owner.kind == LockKind::Process => {
                matches!(world.liveness(&owner.process), Observed::Known(Liveness::Dead))
            }
            Observed::Known(_) | Observed::Absent(_) => old || flaw == Flaw::BreaksFreshBareLocks,
            Observed::Unknown(why) => return Err(why.into()),
        };
        if !stale {
            return stop("the lock is held");
        }
    }
    let aside = Place::LockAside(spec.clone(), nonce.clone());
    if world.publish(&Place::Lock(spec.clone()), &aside)? == Race::Lost {
        return stop("somebody else broke the lock");
    }
    Ok(world.remove(&aside)?)
}

/// Returns whether the lock is no longer ours.
pub(super) fn unlock(world: &mut dyn World, spec: &SpecId, nonce: &Nonce, flaw: Flaw) -> bool {
    let mut released = flaw == Flaw::ForgetsTheLock;
    for _ in 0..4 {
        match owner_of(world, spec) {
            _ if released => break,
            Observed::Known(owner) if &owner.nonce == nonce => {
                released = world.remove(&Place::Lock(spec.clone())).is_ok();
            }
            Observed::Unknown(_) => {}
            Observed::Known(_) | Observed::Absent(_) => released = true,
        }
    }
    world.leave_window(spec);
    released
}
