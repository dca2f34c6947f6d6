//! Applying a dispatch inside the lock: branch, worktree registration, record, markers, in that order (law L2).
//!
//! Each act may already have been done by a run that died; then it is found done and the next one follows.

use std::collections::BTreeMap;

use orchestrate_core::evidence::{Base, BranchSide, Lease};
use orchestrate_core::identifier::{BaseName, CommitId, Unit, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::{MarkerHome, Place};
use orchestrate_core::plan::{BranchAct, DispatchPlan, NoDispatch, WorktreeAct};
use orchestrate_core::record::dispatch::DispatchRecord;
use orchestrate_core::record::launch::LaunchRecord;
use orchestrate_core::record::marker;
use orchestrate_core::time::Timestamp;
use orchestrate_core::world::{Fault, Race, WorktreeFacts, World};

use crate::gate::Passed;
use crate::gather;
use crate::lock::Held;
use crate::neighbours::{self, Neighbour};

/// Why a dispatch stopped half-way. What was done stays, and the next step goes on from it.
#[derive(Debug)]
pub enum Stopped {
    /// The World refused.
    Fault(Fault),
    /// Somebody else was quicker, without the lock.
    Moved(NoDispatch),
}

impl From<Fault> for Stopped {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Writes the dispatch record of architecture §6: after this the unit is ours.
///
/// # Errors
/// Where it stopped; see [`Stopped`].
#[expect(
    clippy::needless_pass_by_value,
    reason = "the token is used up: one pass of the gate, one dispatch"
)]
pub fn apply<'window>(
    held: &Held<'window>,
    passed: Passed<'window>,
    world: &mut dyn World,
    plan: &DispatchPlan,
    seen: &Seen<'_>,
) -> Result<(), Stopped> {
    let name = plan.record.name();
    debug_assert!(name.spec == *held.spec() && plan.record.anchor == passed.anchor());
    set_branch(world, &name, plan, seen.earlier.as_ref())?;
    register(world, &name, plan)?;
    neighbours::forget(world, &seen.neighbours)?;
    write_record(world, &name, plan)?;
    let leases = world.leases(&name.spec);
    match late_runner(world, &leases, plan, seen) {
        LateRunner::None => {}
        LateRunner::Started => {
            give_up(world, &name, plan)?;
            return moved("a worker of an older attempt has started");
        }
        LateRunner::Unknown(why) => {
            give_up(world, &name, plan)?;
            return unread("whether a worker has started", why);
        }
    }
    if let Err(stopped) = nothing_moved_meanwhile(world, &leases, plan, seen) {
        // Nothing was launched for this attempt, and this tower may live on: its claim must not.
        forget_claim(world, &name)?;
        return Err(stopped);
    }
    write_markers(world, &name, plan.record.dispatched)?;
    Ok(())
}

/// What the plan was made from, as far as a late runner of an older attempt could change it.
pub struct Seen<'a> {
    /// The base.
    pub base: &'a Base,
    /// The configured base branch, to resolve it again.
    pub base_branch: Option<&'a BaseName>,
    /// The unit's launch record.
    pub launch: Observed<LaunchRecord>,
    /// The record of the unit's last attempt, which this one takes the place of.
    pub earlier: Option<DispatchRecord>,
    /// The units that share a task with it.
    pub(crate) neighbours: Vec<Neighbour>,
}

type Leases = Observed<BTreeMap<Unit, Observed<Lease>>>;

/// Whether a runner of an older attempt came before our record.
enum LateRunner {
    None,
    Started,
    Unknown(Why),
}

/// A runner that an older, dead tower started may take the lease at any moment until our record supersedes it. Now
/// that it has, one more look tells whether it came before: it shows in the lease, else in its launch record. Where its
/// work shows already, in the branch or in base, [`nothing_moved_meanwhile`] finds it.
fn late_runner(world: &dyn World, leases: &Leases, plan: &DispatchPlan, seen: &Seen<'_>) -> LateRunner {
    let record = &plan.record;
    match leases {
        Observed::Known(leases) => match leases.get(&record.unit) {
            Some(Observed::Known(Lease::Held { .. })) => return LateRunner::Started,
            Some(Observed::Unknown(why)) => return LateRunner::Unknown(why.clone()),
            Some(Observed::Known(Lease::Free) | Observed::Absent(_)) | None => {}
        },
        Observed::Absent(_) => {}
        Observed::Unknown(why) => return LateRunner::Unknown(why.clone()),
    }
    match (gather::launch_record(world, &record.name()), &seen.launch) {
        (Observed::Unknown(why), _) => LateRunner::Unknown(why),
        (Observed::Known(now), Observed::Known(before)) if now == *before => LateRunner::None,
        (Observed::Absent(_), Observed::Absent(_)) => LateRunner::None,
        (Observed::Known(_) | Observed::Absent(_), _) => LateRunner::Started,
    }
}

fn nothing_moved_meanwhile(
    world: &dyn World,
    leases: &Leases,
    plan: &DispatchPlan,
    seen: &Seen<'_>,
) -> Result<(), Stopped> {
    let record = &plan.record;
    let starts = BTreeMap::from([(record.unit.clone(), record.start.clone())]);
    match world.branches(&record.spec, seen.base, &starts) {
        Observed::Known(branches) => {
            let all = match branches.of(&record.unit).known() {
                Ok(all) => all.unwrap_or_default(),
                Err(why) => return unread("its branch", why),
            };
            let local = all.iter().find(|facts| facts.side == BranchSide::Local);
            if local.is_none_or(|facts| facts.tip != record.start) {
                return moved("its branch has moved");
            }
            neighbours::stayed(world, &seen.neighbours, leases, &branches).map_err(Stopped::Moved)?;
        }
        Observed::Absent(why) | Observed::Unknown(why) => return unread("its branch", why),
    }
    let base = world.base(seen.base_branch)?;
    if base == *seen.base {
        Ok(())
    } else {
        moved("the base has moved")
    }
}

fn moved(now: &str) -> Result<(), Stopped> {
    Err(Stopped::Moved(NoDispatch::moved(now)))
}

fn unread(of: &str, why: Why) -> Result<(), Stopped> {
    Err(Stopped::Moved(NoDispatch::unread(of, why)))
}

/// Leaves the unit to a runner of an earlier attempt that came before our record, or may have: the record stays, since a
/// launch that it does not know is what such a runner leaves, and claims nothing for this tower, which may live on.
fn give_up(world: &mut dyn World, name: &UnitName, plan: &DispatchPlan) -> Result<(), Fault> {
    world.write(&Place::DispatchRecord(name.clone()), &plan.record.give_up().render())
}

fn set_branch(
    world: &mut dyn World,
    name: &UnitName,
    plan: &DispatchPlan,
    earlier: Option<&DispatchRecord>,
) -> Result<(), Stopped> {
    let start = &plan.record.start;
    let race = match &plan.branch {
        BranchAct::Keep => return Ok(()),
        BranchAct::Create => {
            start_again(world, name, start, earlier)?;
            world.create_branch(name, start)?
        }
        BranchAct::Advance { from } => {
            start_again(world, name, start, earlier)?;
            world.advance_branch(name, from, start)?
        }
    };
    won(race, "its branch was made or moved by somebody else")
}

/// Before the branch is set. An older record names an older start: beside a branch that starts elsewhere it would make
/// commits of others look like the unit's own. What it said was read under this lock, and void; but it goes on to speak for
/// its markers, and for a runner of its attempt that starts now.
fn start_again(
    world: &mut dyn World,
    name: &UnitName,
    start: &CommitId,
    earlier: Option<&DispatchRecord>,
) -> Result<(), Fault> {
    let Some(earlier) = earlier.filter(|earlier| earlier.start != *start) else {
        return Ok(());
    };
    let mut again = earlier.give_up();
    again.start = start.clone();
    world.write(&Place::DispatchRecord(name.clone()), &again.render())
}

/// Removes the unit's record with the markers that it speaks for. They go before it: without the record that tells how
/// an attempt ended, they would be taken for those of a tower that keeps no record, and hold the unit until they are
/// stale.
fn forget_claim(world: &mut dyn World, name: &UnitName) -> Result<(), Fault> {
    for home in MarkerHome::ALL {
        for task in name.unit.tasks() {
            world.remove(&Place::Marker(name.spec.clone(), task.clone(), home))?;
        }
    }
    world.remove(&Place::DispatchRecord(name.clone()))
}

fn register(world: &mut dyn World, name: &UnitName, plan: &DispatchPlan) -> Result<(), Stopped> {
    match plan.worktree {
        WorktreeAct::Keep | WorktreeAct::Complete => Ok(()),
        WorktreeAct::Register => match world.register_worktree(name) {
            Ok(race) => won(race, "its worktree was registered by somebody else"),
            // It may have happened all the same: what stands there decides.
            Err(_) if matches!(world.worktree(name), Observed::Known(WorktreeFacts::Ours(_))) => Ok(()),
            Err(fault) => Err(fault.into()),
        },
    }
}

fn write_record(world: &mut dyn World, name: &UnitName, plan: &DispatchPlan) -> Result<(), Stopped> {
    world.create_directory(&Place::RecordDirectory(name.spec.clone()))?;
    world.write(&Place::DispatchRecord(name.clone()), &plan.record.render())?;
    Ok(())
}

fn write_markers(world: &mut dyn World, name: &UnitName, dispatched: Timestamp) -> Result<(), Fault> {
    let bytes = marker::render(dispatched);
    for home in MarkerHome::ALL {
        world.create_directory(&Place::MarkerDirectory(name.spec.clone(), home))?;
        for task in name.unit.tasks() {
            world.write(&Place::Marker(name.spec.clone(), task.clone(), home), &bytes)?;
        }
    }
    Ok(())
}

fn won(race: Race, what: &str) -> Result<(), Stopped> {
    match race {
        Race::Won => Ok(()),
        Race::Lost => Err(Stopped::Moved(NoDispatch::moved(what))),
    }
}
