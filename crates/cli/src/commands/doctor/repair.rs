//! What `--fix` does: the harmless things only, each through the module that owns the files.

use orchestrate_core::identifier::SpecId;
use orchestrate_core::world::Fault;
use orchestrate_host::cache::Useless;
use orchestrate_host::litter::Litter;
use orchestrate_host::world::RealWorld;
use orchestrate_host::{cache, excluded, litter};
use orchestrate_tower::lock::{self, LockRefusal};

/// Something harmless that mends a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Repair {
    /// Tell git to leave our files out.
    Exclude,
    /// Break a lock that the next tower would break: take it and let it go.
    BreakLock(SpecId, i64),
    /// Remove what a killed process left and is nobody's.
    Remove(Litter),
    /// Remove a file of the cache.
    Discard(Useless),
}

impl Repair {
    /// Returns what it does, in words that fit behind "fixed:" and "would be fixed:".
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Exclude => "lines are added to .git/info/exclude".to_owned(),
            Self::BreakLock(spec, _) => format!("the lock of specs/{spec} is broken"),
            Self::Remove(_) | Self::Discard(_) => "it is removed".to_owned(),
        }
    }

    /// Does it.
    ///
    /// # Errors
    /// When it is not harmless any more, or cannot be done.
    pub(super) fn apply(&self, world: &mut RealWorld, specs: &[SpecId]) -> Result<(), Fault> {
        match self {
            Self::Exclude => excluded::write(world.repository()),
            Self::BreakLock(spec, minutes) => match lock::with(world, spec, *minutes, |_, _| ()) {
                Ok(released) => released.kept.map_or(Ok(()), Err),
                Err(LockRefusal::Busy(why)) => {
                    Err(Fault::new(format!("cannot break the lock of specs/{spec}"), why.reason))
                }
                Err(LockRefusal::Fault(fault)) => Err(fault),
            },
            Self::Remove(left) => litter::remove(&world.repository().layout, specs, left),
            Self::Discard(useless) => cache::discard(&world.repository().layout, useless),
        }
    }
}
