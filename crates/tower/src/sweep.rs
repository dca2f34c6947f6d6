//! The sweep of a step (`contract/core.md §8.5, §14`): what has been told by the evidence is written down, and what waits
//! for a person is put where people look.
//!
//! Called once in a step, after the survey and before selection. In format version 1 the task blocks are placed; a unit
//! whose worker is gone is parked with a note; the records of what has landed go. Whoever wrote in a bundle dispatches
//! nothing in the same step (law L7): the step ends with what was written, and the next one goes on (law L12). Everything
//! is read again under the lock, and decided from that.

mod bullets;
mod finished;
mod halts;
mod lift;
mod placement;
mod reconcile;
mod retire;

use orchestrate_core::finished::{Retirable, finished};
use orchestrate_core::identifier::{SpecId, TaskId, Unit};
use orchestrate_core::observed::Observed;
use orchestrate_core::orphan::{Orphan, suspects};
use orchestrate_core::plan::{HaltReason, NoDispatch};
use orchestrate_core::pull_request::PullRequests;
use orchestrate_core::world::World;
use orchestrate_spec::{Bundle, BundleTexts, FormatVersion};

pub use bullets::{Edited, Refused};
pub use halts::OF_EVERY_UNIT;
pub(crate) use halts::{record as record_halts, record_of_every_unit, record_unlaunched};
pub(crate) use lift::lift;
pub use lift::{Lifted, without_halt, written_of_every_unit};
pub use placement::{Placed, place, place_status};
pub use reconcile::{ReconcileError, Scope, reconcile};
pub use retire::{Outlook, outlook};

use self::bullets::{Entry, park_all};
use crate::lock::{self, Held, LockRefusal};
use crate::preflight::open_bundle;
use crate::step::{StepRequest, Survey, machine, survey_again};

/// What a sweep wrote in the bundle, or would write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swept {
    /// The bundle.
    pub spec: SpecId,
    /// The files whose stored placement or status was brought up to date (format version 1 only).
    pub placed: Vec<orchestrate_core::place::BundleFile>,
    /// The tasks that were put under `## Awaiting input`.
    pub parked: Vec<Parked>,
    /// The tasks that were there for what halted every one of them, and are no longer.
    pub lifted: Vec<Lifted>,
    /// Nothing was written: it was only asked what would be.
    pub dry_run: bool,
}

/// A task that waits for a person from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parked {
    /// The unit that was dispatched, or was to be.
    pub unit: Unit,
    /// Its task.
    pub task: TaskId,
    /// Why, as it is written behind the task's id.
    pub note: String,
    /// What stood in the way of its dispatch; nothing where its worker is gone.
    pub halted: Vec<HaltReason>,
}

/// What the step has seen of the bundle.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    /// The bundle.
    pub(crate) bundle: &'a Bundle,
    /// Its files.
    pub(crate) texts: &'a BundleTexts,
    /// The evidence.
    pub(crate) survey: &'a Survey,
    /// Origin was fetched, or there is none: what is known of it is no older than this step.
    pub(crate) is_current: bool,
}

/// What a step has to tell besides its outcome.
#[derive(Default)]
pub(crate) struct Aside {
    /// Things worth knowing.
    pub(crate) notes: Vec<String>,
    /// What was removed: a try that is repeated forgets its other notes.
    pub(crate) removed: Vec<String>,
    /// What a person who is there may have parked.
    pub(crate) waiting: Vec<Parked>,
}

/// Sweeps. Nothing is returned where nothing was written, so that the step goes on.
///
/// # Errors
/// When the machine refuses; what was written by then is found by the next step.
pub(crate) fn sweep(
    world: &mut dyn World,
    request: &StepRequest,
    seen: Seen<'_>,
    told: &mut Aside,
) -> Result<Option<Swept>, NoDispatch> {
    let Aside { notes, removed, .. } = told;
    // What a killed tower left half done is whole again, or gone, before anybody looks.
    retire::clear(world, request, notes);
    let found = look(&*world, request, seen, None, notes);
    if found.is_empty() {
        return Ok(None);
    }
    if request.dry_run {
        notes.extend(found.retirable.iter().map(|one| retire::would_go(request, one)));
        return Ok(written_down(seen, found, notes).map(|edited| edited.swept(true)));
    }
    let asked = &seen.survey.evidence.pull_requests;
    let released = lock::with(world, &request.spec, request.stale_lock_minutes, |world, held| {
        under_lock(
            world,
            &held,
            request,
            (asked, &found.retirable, seen.is_current),
            removed,
        )
    });
    let released = match released {
        Ok(released) => released,
        // What is swept can wait; what is ready need not.
        Err(LockRefusal::Busy(why)) => {
            notes.push(format!("nothing was swept: {why}"));
            return Ok(None);
        }
        Err(LockRefusal::Fault(fault)) => return Err(machine(fault)),
    };
    // Not under the lock: what was retired may be large.
    retire::clear(world, request, notes);
    let (swept, told) = released.value?;
    notes.extend(told);
    // Nothing is dispatched by a tower that left its lock behind.
    match released.kept {
        Some(fault) => Err(machine(fault)),
        None => Ok(swept),
    }
}

/// What there is to sweep.
struct Found {
    orphans: Vec<Orphan>,
    finished: Vec<Unit>,
    retirable: Vec<Retirable>,
    /// The bundle of format version 1 as it is to be, where that is not how it is.
    placed: Option<Placed>,
}

impl Found {
    fn is_empty(&self) -> bool {
        self.orphans.is_empty() && self.finished.is_empty() && self.retirable.is_empty() && self.placed.is_none()
    }
}

/// Looks for what there is to sweep; for worktrees among these alone, where some are given.
fn look(
    world: &dyn World,
    request: &StepRequest,
    seen: Seen<'_>,
    among: Option<&[Retirable]>,
    notes: &mut Vec<String>,
) -> Found {
    let Survey { graph, evidence, state } = seen.survey;
    let grace_seconds = request.stale_lock_minutes.saturating_mul(60);
    // The work of a unit whose worker is gone here may lie at origin (law L4).
    let suspects = if seen.is_current {
        suspects(graph, evidence, state, grace_seconds)
    } else {
        Vec::new()
    };
    let orphans = suspects
        .into_iter()
        .filter_map(|suspect| {
            let occupants = world.occupants(&request.name_of(suspect.unit().clone()));
            suspect.judged(&occupants)
        })
        .collect();
    let finished = if request.cleanup_paused {
        Vec::new()
    } else {
        let is_left = |unit: &Unit| finished::is_left(world, &request.name_of(unit.clone()));
        finished(evidence, state).into_iter().filter(is_left).collect()
    };
    Found {
        orphans,
        finished,
        retirable: retire::found(world, request, seen.survey, among),
        placed: placement_of(seen, notes),
    }
}

fn placement_of(seen: Seen<'_>, notes: &mut Vec<String>) -> Option<Placed> {
    if seen.bundle.version == FormatVersion::Two {
        return None;
    }
    match place(seen.texts, seen.survey) {
        Ok(placed) => (!placed.files.is_empty()).then_some(placed),
        Err(refused) => {
            notes.push(format!(
                "the tasks of specs/{} are not placed: {refused}",
                seen.bundle.spec
            ));
            None
        }
    }
}

type Told = (Option<Swept>, Vec<String>);

fn under_lock(
    world: &mut dyn World,
    held: &Held<'_>,
    request: &StepRequest,
    (asked, retirable, is_current): (&Observed<PullRequests>, &[Retirable], bool),
    removed: &mut Vec<String>,
) -> Result<Told, NoDispatch> {
    let mut notes = Vec::new();
    let (bundle, texts) = open_bundle(world, &request.spec).map_err(NoDispatch::Halt)?;
    let survey = survey_again(world, request, bundle.graph(), asked).map_err(machine)?;
    let seen = Seen {
        bundle: &bundle,
        texts: &texts,
        survey: &survey,
        is_current,
    };
    // What cannot be placed was said before.
    let found = look(&*world, request, seen, Some(retirable), &mut Vec::new());
    for unit in &found.finished {
        // What cannot be cleaned up keeps nobody from going on.
        if let Err(fault) = finished::clear(world, held, &request.name_of(unit.clone())) {
            notes.push(fault.to_string());
        }
    }
    for one in &found.retirable {
        match retire::retire(world, held, request, one) {
            Ok(told) => removed.push(told),
            Err(told) => notes.push(told),
        }
    }
    let Some(edited) = written_down(seen, found, &mut notes) else {
        return Ok((None, notes));
    };
    edited.write(world, held).map_err(machine)?;
    Ok((Some(edited.swept(false)), notes))
}

/// Returns the bundle with everything written down that was found; nothing where that changes nothing.
fn written_down(seen: Seen<'_>, found: Found, notes: &mut Vec<String>) -> Option<Edited> {
    let mut edited = Edited::unchanged(seen.bundle.spec.clone(), seen.bundle.version, seen.texts);
    if let Some(placed) = found.placed {
        edited.place(placed);
    }
    let entries = found.orphans.iter().flat_map(|orphan| {
        orphan.tasks.iter().map(|task| Entry {
            unit: orphan.unit.clone(),
            task: task.clone(),
            what: orphan.what(),
            note: orphan.note(task),
            halted: Vec::new(),
        })
    });
    let refused = park_all(&mut edited, entries);
    notes.extend(refused.iter().map(ToString::to_string));
    (!edited.is_unchanged()).then_some(edited)
}
