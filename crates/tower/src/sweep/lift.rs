//! What a halt of every unit wrote, taken away again when what it says has passed (decision 90).
//!
//! Such a line stands at a task that nothing is wrong with. It goes where the tower alone has written it: a person who
//! adds a word to it keeps it, and so does everything else under `## Awaiting input`.

use orchestrate_core::evidence::Base;
use orchestrate_core::graph::ParkingPlace;
use orchestrate_core::identifier::{SpecId, TaskId};
use orchestrate_core::observed::Why;
use orchestrate_core::plan::{HaltReason, HoldReason, NoDispatch};
use orchestrate_core::world::World;
use orchestrate_spec::park::PLACEHOLDER;
use orchestrate_spec::{Bundle, BundleTexts, FormatVersion};

use super::bullets::{Edited, unparked};
use super::halts::{OF_EVERY_UNIT, command_back};
use super::{Aside, Swept};
use crate::gate;
use crate::lock::{self, Held, LockRefusal};
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

/// Returns what halts of every unit that pass by themselves have written in a bundle, word for word. Nothing of a bundle of
/// format version 1: parking takes the place of an earlier status there, which a person gives back.
#[must_use]
pub fn written_of_every_unit(bundle: &Bundle, base: &Base) -> Vec<Lifted> {
    if bundle.version == FormatVersion::One {
        return Vec::new();
    }
    let graph = bundle.graph();
    let parked = graph.parked.iter();
    parked
        .filter(|(_, parking)| parking.place == ParkingPlace::AwaitingInput)
        .filter_map(|(task, parking)| {
            let note = parking.note.strip_prefix("— ")?;
            is_as_written(&bundle.spec, task, base, note).then(|| Lifted {
                task: task.clone(),
                note: note.to_owned(),
            })
        })
        .collect()
}

/// Returns whether a note is what a step writes at that task, except for the numbers and names of commits in it: a word
/// that a person has added anywhere makes it theirs.
fn is_as_written(spec: &SpecId, task: &TaskId, base: &Base, note: &str) -> bool {
    let unreached = [1, 2].map(|in_a_row| HaltReason::OriginUnreached {
        why: Why::new(""),
        in_a_row,
    });
    let changed = [base.gated_name(), base.name.to_string()].into_iter().flat_map(|base| {
        [false, true].map(|pre_change| HaltReason::Changed {
            spec: spec.to_string(),
            signed: "0000000".to_owned(),
            now: "0000000".to_owned(),
            at: format!("{base} at 0000000"),
            pre_change,
        })
    });
    let note = without_numbers(note);
    let written = |reason: HaltReason| format!("{OF_EVERY_UNIT}{}{}", reason.recorded(), command_back(spec, task));
    unreached
        .into_iter()
        .chain(changed)
        .any(|reason| without_numbers(&written(reason)) == note)
}

/// Returns a text with each number, and each short name of a commit, made one sign.
fn without_numbers(text: &str) -> String {
    let mut blanked = String::new();
    for word in text.split_inclusive(|character: char| !character.is_ascii_alphanumeric()) {
        let name = word.trim_end_matches(|character: char| !character.is_ascii_alphanumeric());
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
        let is_commit = name.len() == 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !name.is_empty() && (is_number || is_commit) {
            blanked.push('#');
            blanked.push_str(&word[name.len()..]);
        } else {
            blanked.push_str(word);
        }
    }
    blanked
}

/// Returns `tasks.md` without what was written of one halt. A bullet goes with all that stands beneath it, so that nothing
/// may stand there.
///
/// # Errors
/// Why it stays, in words.
pub fn without_halt(tasks: &[u8], lifted: &Lifted) -> Result<Vec<u8>, String> {
    let Lifted { task, note } = lifted;
    let after = unparked(FormatVersion::Two, tasks, task)?;
    let mut left = words(tasks);
    let of_the_halt = left.iter().position(|line| line.ends_with(note));
    if let Some(index) = of_the_halt {
        left.remove(index);
    }
    if left == words(&after) {
        Ok(after)
    } else {
        Err(format!("more was written beside the line of task {task}"))
    }
}

/// Returns every line that says something, whatever its place.
fn words(tasks: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(tasks);
    let lines = text.lines().map(str::trim);
    let mut words: Vec<String> = lines
        .filter(|line| !line.is_empty() && *line != PLACEHOLDER)
        .map(str::to_owned)
        .collect();
    words.sort();
    words
}

/// Takes away what halts of every unit wrote. The caller has seen that none of them stands any more; what the gate says is
/// asked again under the lock. Nothing is returned where nothing was written, so that the step goes on.
///
/// # Errors
/// When the lock is not to be had, without which nothing would be dispatched either; and when the file cannot be written:
/// it may have been all the same, and who wrote in a bundle dispatches nothing (law L7).
pub(crate) fn lift(
    world: &mut dyn World,
    request: &StepRequest,
    (bundle, texts, base): (&Bundle, &BundleTexts, &Base),
    told: &mut Aside,
) -> Result<Option<Swept>, NoDispatch> {
    let lifted = if request.dry_run {
        edited(bundle, texts, base).map(|edited| Some(edited.swept(true)))
    } else {
        let released = lock::with(world, &request.spec, request.stale_lock_minutes, |world, held| {
            under_lock(world, &held, request)
        });
        let released = released.map_err(|refusal| match refusal {
            LockRefusal::Busy(why) => NoDispatch::Hold(HoldReason::LockBusy(why)),
            LockRefusal::Fault(fault) => machine(fault),
        })?;
        if let Some(fault) = released.kept {
            return Err(machine(fault));
        }
        released.value?
    };
    match lifted {
        Ok(swept) => Ok(swept),
        Err(why) => {
            told.notes.push(stays(&why));
            Ok(None)
        }
    }
}

/// Returns what was written, or why the lines stay.
fn under_lock(
    world: &mut dyn World,
    held: &Held<'_>,
    request: &StepRequest,
) -> Result<Result<Option<Swept>, String>, NoDispatch> {
    let (bundle, texts) = open_bundle(world, &request.spec).map_err(NoDispatch::Halt)?;
    let base = world.base(request.base_branch.as_ref()).map_err(machine)?;
    let _ = gate::compare(world, &request.spec, &base, &texts)?;
    let edited = match edited(&bundle, &texts, &base) {
        Ok(edited) if edited.is_unchanged() => return Ok(Ok(None)),
        Ok(edited) => edited,
        Err(why) => return Ok(Err(why)),
    };
    edited.write(world, held).map_err(machine)?;
    Ok(Ok(Some(edited.swept(false))))
}

fn stays(why: &str) -> String {
    format!("what halted every task has passed, and what was written of it stays: {why}")
}

fn edited(bundle: &Bundle, texts: &BundleTexts, base: &Base) -> Result<Edited, String> {
    let mut edited = Edited::unchanged(bundle.spec.clone(), bundle.version, texts);
    for lifted in written_of_every_unit(bundle, base) {
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
        let without = |awaiting: &str| without_halt(&ledger(awaiting), &lifted());
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
            &format!("  Ann: it said {LINE}\n"),
        ] {
            let kept = without_halt(&ledger(&format!("{LINE}\n{beneath}")), &lifted());
            assert!(kept.is_err(), "{beneath:?}: {kept:?}");
        }
    }
}
