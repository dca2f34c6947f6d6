//! What a halt of every unit wrote, taken away again when what it says has passed (decision 90).
//!
//! Such a line stands at a task that nothing is wrong with. It goes where the tower alone has written it: a person who
//! adds a word to it keeps it, and so does everything else under `## Awaiting input`.

use orchestrate_core::graph::{ParkingPlace, TaskGraph};
use orchestrate_core::identifier::{SpecId, TaskId};
use orchestrate_core::plan::NoDispatch;
use orchestrate_core::world::World;
use orchestrate_spec::park::PLACEHOLDER;
use orchestrate_spec::{Bundle, BundleTexts, FormatVersion};

use super::bullets::{Edited, unparked};
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
        tasks = without(bundle.version, &tasks, one)?;
    }
    Ok((tasks, lifted))
}

/// Returns `tasks.md` without what was written of one halt. A bullet goes with all that stands beneath it, so that nothing
/// may stand there.
pub(super) fn without(version: FormatVersion, tasks: &[u8], lifted: &Lifted) -> Result<Vec<u8>, String> {
    let Lifted { task, note } = lifted;
    let after = unparked(version, tasks, task)?;
    if others_words(tasks, note) == others_words(&after, note) {
        Ok(after)
    } else {
        Err(format!("more was written beside the line of task {task}"))
    }
}

/// Returns every line that says something and is not that note, whatever its place.
fn others_words(tasks: &[u8], note: &str) -> Vec<String> {
    let text = String::from_utf8_lossy(tasks);
    let lines = text.lines().map(str::trim);
    let mut words: Vec<String> = lines
        .filter(|line| !line.is_empty() && *line != PLACEHOLDER && !line.ends_with(note))
        .map(str::to_owned)
        .collect();
    words.sort();
    words
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

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "- **Task 1** — halted for every task: it was away; then orchestrate unpark alpha 1";

    fn ledger(awaiting: &str) -> Vec<u8> {
        format!("# A\n\n## Tasks\n\n### Task 1 — a\n\n## Awaiting input\n\n{awaiting}\n## Deferred\n\n(none yet)\n")
            .into_bytes()
    }

    fn lifted() -> Lifted {
        Lifted {
            task: TaskId::parse("1").expect("an id"),
            note: LINE.split_once("— ").expect("a note").1.to_owned(),
        }
    }

    /// Verifies REQ-D2.3.
    #[test]
    fn the_line_goes_alone() {
        let without = |awaiting: &str| without(FormatVersion::Two, &ledger(awaiting), &lifted());
        assert_eq!(without(&format!("{LINE}\n")), Ok(ledger("(none yet)\n")));
        let others = "- **Task 2** — which colour?\n\n  Ann asked.\n";
        assert_eq!(without(&format!("{LINE}\n{others}")), Ok(ledger(others)));
        assert_eq!(without(&format!("{others}{LINE}\n")), Ok(ledger(others)));
    }

    /// What stands beneath a bullet is part of it, and would go with it.
    /// Verifies REQ-D2.3.
    #[test]
    fn what_a_person_has_written_beneath_it_keeps_it() {
        for beneath in [
            "  Ann: the proxy was down again\n",
            "Ann: the proxy was down again\n",
            "\n  A paragraph.\n",
            "  - nested\n",
            "  ```\n  log\n  ```\n",
        ] {
            let kept = without(FormatVersion::Two, &ledger(&format!("{LINE}\n{beneath}")), &lifted());
            assert!(kept.is_err(), "{beneath:?}: {kept:?}");
        }
    }
}
