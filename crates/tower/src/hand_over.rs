//! Outside the lock: a recorded dispatch gets its files and its worker.

use orchestrate_core::observed::Why;
use orchestrate_core::place::Place;
use orchestrate_core::plan::{DispatchPlan, HaltReason, NoDispatch};
use orchestrate_core::record::dispatch::LaunchManner;
use orchestrate_core::record::launch::LaunchRecord;
use orchestrate_core::world::{Checkout, Spawned, World};

use crate::step::{HandOver, machine};

/// Checks out, then starts the worker, or notes that a person will.
pub(crate) fn hand_over(world: &mut dyn World, plan: &DispatchPlan) -> Result<HandOver, NoDispatch> {
    let record = &plan.record;
    let name = record.name();
    match world.checkout(&name).map_err(machine)? {
        Checkout::Complete => {}
        Checkout::InTheWay { paths } => {
            return Err(NoDispatch::Halt(vec![HaltReason::WorktreeTaken {
                by: format!(
                    "files in .claude/worktrees/{} are in the way: {}",
                    name.worktree(),
                    paths.join(", ")
                ),
                remedy: "move them away; nothing was overwritten".to_owned(),
            }]));
        }
    }
    if record.launch.manner == LaunchManner::Printed {
        let launch = LaunchRecord::new(record.attempt.clone(), world.now(), None);
        world
            .write(&Place::LaunchRecord(name), &launch.render())
            .map_err(machine)?;
        return Ok(HandOver::Person);
    }
    match world.spawn(record).map_err(machine)? {
        Spawned::Started { pid } => Ok(HandOver::Worker { pid }),
        Spawned::Ended { status } => Ok(HandOver::Ended { status }),
        Spawned::Refused { why } => {
            let backend = record.launch.backend.to_string();
            Err(NoDispatch::Halt(vec![HaltReason::Backend {
                backend,
                why: Why::new(why).with_hint("mend that, then step again; record, branch and worktree are kept"),
            }]))
        }
    }
}
