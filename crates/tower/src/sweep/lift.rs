//! What a halt of every unit wrote, taken away again when what it says has passed (decision 90).
//!
//! Such a line stands at a task that nothing is wrong with. It goes where the tower alone has written it: a person who
//! adds a word to it keeps it, and so does everything else under `## Awaiting input`.

use orchestrate_core::graph::{ParkingPlace, TaskGraph};
use orchestrate_core::identifier::{SpecId, TaskId};
use orchestrate_core::plan::NoDispatch;
use orchestrate_core::world::World;
use orchestrate_spec::park::unpark;
use orchestrate_spec::placement::unpark_block;
use orchestrate_spec::{Bundle, BundleTexts, FormatVersion};

use super::bullets::Edited;
use super::halts::{OF_EVERY_UNIT, command_back};
use super::{Aside, Swept};
use crate::gate;
use crate::lock::{self, LockRefusal};
use crate::preflight::open_bundle;
use crate::step::{StepRequest, machine};

/// A task that waits for a person no longer, because what had halted every task has passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lifted {
    /// The task.
    pub task: TaskId,
    /// Why it was parked, as it was written behind its id.
    pub note: String,
}

/// Returns what halts of every unit wrote in a bundle, each as it was written.
#[must_use]
pub fn written_of_every_unit(spec: &SpecId, graph: &TaskGraph) -> Vec<Lifted> {
    let parked = graph.parked.iter();
    parked
        .filter(|(_, parking)| parking.place == ParkingPlace::AwaitingInput)
        .filter_map(|(task, parking)| {
            let (before, _) = parking.note.split_once(OF_EVERY_UNIT)?;
            // So a bullet begins, and so does a status of format version 1.
            let is_ours = before == "— " || before.eq_ignore_ascii_case("awaiting input — ");
            let note = parking.note.get(before.len()..)?;
            (is_ours && note.ends_with(&command_back(spec, task))).then(|| Lifted {
                task: task.clone(),
                note: note.to_owned(),
            })
        })
        .collect()
}

/// Returns `tasks.md` without what halts of every unit wrote there, and the tasks it was written at.
///
/// # Errors
/// Why it cannot be taken away, in words.
pub fn without_halts_of_every_unit(bundle: &Bundle, tasks: &[u8]) -> Result<(Vec<u8>, Vec<Lifted>), String> {
    let lifted = written_of_every_unit(&bundle.spec, &bundle.graph());
    let mut tasks = tasks.to_vec();
    for one in &lifted {
        tasks = without(bundle.version, &tasks, &one.task)?;
    }
    Ok((tasks, lifted))
}

pub(super) fn without(version: FormatVersion, tasks: &[u8], task: &TaskId) -> Result<Vec<u8>, String> {
    match version {
        FormatVersion::One => unpark_block(tasks, task).map_err(|error| error.to_string()),
        FormatVersion::Two => unpark(tasks, task).map_err(|error| error.to_string()),
    }
}

/// Takes away what halts of every unit wrote. The caller has seen that none of them stands any more; what the gate says is
/// asked again under the lock. Nothing is returned where nothing was written, so that the step goes on.
///
/// # Errors
/// When the machine refuses.
pub(crate) fn lift(
    world: &mut dyn World,
    request: &StepRequest,
    (bundle, texts): (&Bundle, &BundleTexts),
    told: &mut Aside,
) -> Result<Option<Swept>, NoDispatch> {
    if request.dry_run {
        return match edited(bundle, texts) {
            Ok(edited) => Ok(Some(edited.swept(true))),
            Err(why) => {
                told.notes.push(stays(&why));
                Ok(None)
            }
        };
    }
    let released = lock::with(world, &request.spec, request.stale_lock_minutes, |world, held| {
        let (bundle, texts) = open_bundle(world, &request.spec).map_err(NoDispatch::Halt)?;
        let base = world.base(request.base_branch.as_ref()).map_err(machine)?;
        let _ = gate::compare(world, &request.spec, &base, &texts)?;
        let edited = match edited(&bundle, &texts) {
            Ok(edited) => edited,
            Err(why) => return Ok(Err(why)),
        };
        if edited.is_unchanged() {
            return Ok(Ok(None));
        }
        edited.write(world, &held).map_err(machine)?;
        Ok(Ok(Some(edited.swept(false))))
    });
    let released = match released {
        Ok(released) => released,
        // A later step takes it away; what is ready need not wait for that.
        Err(LockRefusal::Busy(why)) => {
            told.notes.push(stays(&why.to_string()));
            return Ok(None);
        }
        Err(LockRefusal::Fault(fault)) => return Err(machine(fault)),
    };
    let swept = match released.value? {
        Ok(swept) => swept,
        Err(why) => {
            told.notes.push(stays(&why));
            None
        }
    };
    match released.kept {
        Some(fault) => Err(machine(fault)),
        None => Ok(swept),
    }
}

fn stays(why: &str) -> String {
    format!("what halted every task has passed, and what was written of it stays: {why}")
}

fn edited(bundle: &Bundle, texts: &BundleTexts) -> Result<Edited, String> {
    let mut edited = Edited::unchanged(bundle.spec.clone(), bundle.version, texts);
    for lifted in written_of_every_unit(&bundle.spec, &bundle.graph()) {
        edited.lift(lifted)?;
    }
    Ok(edited)
}
