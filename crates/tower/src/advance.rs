//! The way of one step: look, sweep, decide, record under the lock, hand over. Each part is one function with a typed
//! result; nothing durable comes before everything that can refuse (law L2).

use std::collections::BTreeSet;

use orchestrate_config::FencePolicy;
use orchestrate_core::evidence::{AtOrigin, Evidence};
use orchestrate_core::identifier::{TaskId, Unit};
use orchestrate_core::observed::Observed;
use orchestrate_core::plan::{DispatchPlan, HoldReason, Intent, NoDispatch, intend};
use orchestrate_core::pull_request::PullRequests;
use orchestrate_core::record::dispatch::LaunchOrder;
use orchestrate_core::select::Company;
use orchestrate_core::world::World;
use orchestrate_spec::{Bundle, BundleTexts};

use crate::fence;
use crate::fetch::{self, Fetched, Freshness};
use crate::fitness::{Chosen, Situation, choose};
use crate::gate;
use crate::gather::Beside;
use crate::hand_over::hand_over;
use crate::lock::{self, LockRefusal};
use crate::preflight::open_bundle;
use crate::step::{Answers, Dispatched, Launcher, StepOutcome, StepRequest, Survey, machine, survey_with};
use crate::sweep::{self, Aside, Seen};
use crate::window::{self, Order};

/// How often a step decides anew when another tower was quicker.
const DECISIONS: usize = 4;

/// How many units a step at least sets aside because origin refuses their fences, however slow it is.
const REFUSED_FENCES: usize = 16;

/// For how many seconds a step goes on with more of them. Each costs a push, and an origin that refuses so many may well
/// refuse all.
const REFUSED_FENCES_SECONDS: i64 = 60;

/// What a step is to come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// A dispatch, if there can be one.
    Dispatch,
    /// The halts written down, and nothing else: a person said so.
    Park,
}

pub(crate) fn advance(
    world: &mut dyn World,
    request: &StepRequest,
    launcher: &dyn Launcher,
    aim: Aim,
    told: &mut Aside,
) -> Result<StepOutcome, NoDispatch> {
    let (mut asked, mut again) = (None, request.clone());
    let mut outcome = decide_and_dispatch(world, request, launcher, aim, told, &mut asked);
    let (mut decisions, began) = (1, world.now());
    while decisions < DECISIONS {
        match &outcome {
            Err(NoDispatch::Hold(HoldReason::Moved { .. } | HoldReason::Fenced { .. })) if aim == Aim::Dispatch => {
                decisions += 1;
            }
            // It was fetched a moment ago, and has moved since.
            Err(NoDispatch::Hold(HoldReason::OriginAhead { .. })) => {
                decisions += 1;
                again.fetch.terms.fresh_seconds = 0;
            }
            // What origin refuses is that unit's alone, like a worktree that is taken (law L12).
            Err(refused @ NoDispatch::Hold(HoldReason::FenceRefused { unit, .. }))
                if !again.set_aside.contains_key(unit)
                    && (again.set_aside.len() < REFUSED_FENCES
                        || world.now().seconds_since(began) < REFUSED_FENCES_SECONDS) =>
            {
                again.set_aside.insert(unit.clone(), refused.clone());
            }
            Ok(_) | Err(_) => break,
        }
        told.notes.clear();
        told.waiting.clear();
        outcome = decide_and_dispatch(world, &again, launcher, aim, told, &mut asked);
    }
    told.notes.splice(0..0, told.removed.drain(..));
    outcome
}

/// One try. What earlier ones asked the forge, and what they removed, is kept.
fn decide_and_dispatch(
    world: &mut dyn World,
    request: &StepRequest,
    launcher: &dyn Launcher,
    aim: Aim,
    told: &mut Aside,
    asked: &mut Option<Observed<PullRequests>>,
) -> Result<StepOutcome, NoDispatch> {
    let look = look(world, request, launcher, asked, &mut told.notes)?;
    if let Some(swept) = sweep::sweep(world, request, look.seen(), told)? {
        return Ok(StepOutcome::Swept(swept));
    }
    if let Some(swept) = lift(world, request, launcher, &look, told)? {
        return Ok(StepOutcome::Swept(swept));
    }
    let intent = select(request, &look, &mut told.notes)?;
    let admitted = match admit(world, request, &look) {
        Ok(admitted) => admitted,
        Err(reason) => return halted(world, request, &intent.name.unit, reason, (&look, told)),
    };
    let chosen = match choose(world, &look.situation(request, &admitted)) {
        Ok(chosen) => chosen,
        Err(refusal) => {
            let asked = &look.survey.evidence.pull_requests;
            return sweep::record_halts(world, request, *refusal, asked, told).map(StepOutcome::Swept);
        }
    };
    told.notes.extend(remarks(&chosen));
    let launch = match launcher.order(&look.bundle, &chosen.intent.name) {
        Ok(launch) => launch,
        Err(reason) => {
            let reason = NoDispatch::Halt(vec![reason]);
            return halted(world, request, &chosen.intent.name.unit, reason, (&look, told));
        }
    };
    told.notes.extend(launch.note);
    if request.dry_run {
        told.notes.extend(unasked(request, &look.survey.evidence));
        return Ok(StepOutcome::WouldDispatch {
            intent: Box::new(chosen.intent),
            start: chosen.fit.start,
            base: look.survey.evidence.base,
        });
    }
    if aim == Aim::Park {
        let unit = &chosen.intent.name.unit;
        return Err(NoDispatch::moved(format!(
            "{unit} can be dispatched, so nothing was parked"
        )));
    }
    confirm(launcher, &chosen)?;
    let plan = record(world, request, &look, &admitted, &chosen, launch.order)?;
    let handed_over = match hand_over(world, &plan) {
        Ok(handed_over) => handed_over,
        Err(reason) => {
            let recorded = sweep::record_unlaunched(world, request, &plan.record, reason, told);
            return recorded.map(StepOutcome::Swept);
        }
    };
    Ok(StepOutcome::Dispatched(Box::new(Dispatched {
        record: plan.record,
        choice: chosen.intent.choice,
        handed_over,
    })))
}

/// Writes down what stops every unit, where nobody is there to be told.
fn halted(
    world: &mut dyn World,
    request: &StepRequest,
    unit: &Unit,
    reason: NoDispatch,
    (look, told): (&Look, &mut Aside),
) -> Result<StepOutcome, NoDispatch> {
    sweep::record_of_every_unit(world, request, unit, reason, (&look.survey, told)).map(StepOutcome::Swept)
}

/// Takes away what earlier steps wrote down of what stopped every unit, once a dispatch of these tasks would pass all of it.
fn lift(
    world: &mut dyn World,
    request: &StepRequest,
    launcher: &dyn Launcher,
    look: &Look,
    told: &mut Aside,
) -> Result<Option<sweep::Swept>, NoDispatch> {
    let base = &look.survey.evidence.base;
    let written = sweep::written_of_every_unit(&look.bundle, base);
    let can_start = |task: &TaskId| {
        let name = request.name_of(Unit::single(task.clone()));
        launcher.order(&look.bundle, &name).is_ok()
    };
    if written.is_empty() || admit(world, request, look).is_err() || !written.iter().all(|one| can_start(&one.task)) {
        return Ok(None);
    }
    if request.dry_run {
        told.notes.extend(unasked(request, &look.survey.evidence));
    }
    sweep::lift(world, request, (&look.bundle, &look.texts, base), told)
}

/// Everything that was read before the lock.
struct Look {
    bundle: Bundle,
    texts: BundleTexts,
    freshness: Freshness,
    survey: Survey,
}

impl Look {
    fn seen(&self) -> Seen<'_> {
        Seen {
            bundle: &self.bundle,
            texts: &self.texts,
            survey: &self.survey,
            is_current: matches!(self.freshness, Freshness::Current | Freshness::NotAsked),
        }
    }

    fn situation<'a>(&'a self, request: &'a StepRequest, admitted: &'a Admitted) -> Situation<'a> {
        Situation {
            request,
            graph: &self.survey.graph,
            state: &self.survey.state,
            evidence: &self.survey.evidence,
            signed: &admitted.signed,
        }
    }
}

fn look(
    world: &mut dyn World,
    request: &StepRequest,
    launcher: &dyn Launcher,
    asked: &mut Option<Observed<PullRequests>>,
    notes: &mut Vec<String>,
) -> Result<Look, NoDispatch> {
    let (bundle, texts) = open_bundle(world, &request.spec).map_err(|mut reasons| {
        // Where nothing is wrong with the bundle, a missing document stops a dispatch only.
        reasons.extend(launcher.rules().err());
        NoDispatch::Halt(reasons)
    })?;
    let freshness = fetch::refresh(world, &request.fetch, request.dry_run);
    let base = world.base(request.base_branch.as_ref()).map_err(machine)?;
    let answers = Answers {
        base: &base,
        origin: &fence::ask(world, request, &base, &freshness),
        asked: asked.as_ref(),
        beside: Beside::Kept,
    };
    let survey = survey_with(world, request, bundle.graph(), &answers);
    notes.extend(refused_trailers(&survey.evidence));
    *asked = Some(survey.evidence.pull_requests.clone());
    if !request.dry_run {
        notes.extend(fence::keep_house(world, &request.spec, &survey));
    }
    Ok(Look {
        bundle,
        texts,
        freshness,
        survey,
    })
}

/// What a dispatch of the bundle rests on, as far as it can be told before the lock.
struct Admitted {
    fetched: Fetched,
    /// The anchor of the content that was signed.
    signed: String,
}

/// Returns what comes next. Where nothing is ready it does not matter whether the spec still is the signed one.
fn select(request: &StepRequest, look: &Look, notes: &mut Vec<String>) -> Result<Intent, NoDispatch> {
    let Survey { graph, state, .. } = &look.survey;
    let next = request.next(graph, state);
    notes.extend(request.declarations.remarks(graph, state, next.as_ref()));
    intend(
        |unit| request.name_of(unit),
        &request.selection(graph, state),
        &BTreeSet::new(),
    )
    .inspect_err(|_| notes.extend(look.freshness.note()))
}

/// Returns whether the bundle may be dispatched from.
fn admit(world: &dyn World, request: &StepRequest, look: &Look) -> Result<Admitted, NoDispatch> {
    let fetched = look.freshness.require(&request.fetch)?;
    let signed = gate::compare(world, &request.spec, &look.survey.evidence.base, &look.texts)?;
    Ok(Admitted { fetched, signed })
}

/// Asks whoever sits before the step for what only a person may allow.
fn confirm(launcher: &dyn Launcher, chosen: &Chosen) -> Result<(), NoDispatch> {
    let choice = &chosen.intent.choice;
    if let Company::Refused(why) = &choice.company
        && !launcher.may_part(&choice.task, why)
    {
        return Err(NoDispatch::Hold(HoldReason::PartingDeclined { why: why.clone() }));
    }
    match &chosen.fit.reused {
        Some(path) if !launcher.may_reuse(path) => {
            Err(NoDispatch::Hold(HoldReason::ReuseDeclined { path: path.clone() }))
        }
        Some(_) | None => Ok(()),
    }
}

/// Decides again under the lock and records the dispatch there. Neither a checkout nor a worker is waited for under the
/// lock (law L6).
fn record(
    world: &mut dyn World,
    request: &StepRequest,
    look: &Look,
    admitted: &Admitted,
    chosen: &Chosen,
    launch: LaunchOrder,
) -> Result<DispatchPlan, NoDispatch> {
    let order = Order {
        request,
        bundle: &look.bundle,
        texts: &look.texts,
        intent: &chosen.intent,
        pull_requests: &look.survey.evidence.pull_requests,
        fetched: &admitted.fetched,
        origin: &look.survey.evidence.origin,
        launch,
    };
    let released = lock::with(world, &request.spec, request.stale_lock_minutes, |world, held| {
        window::record_dispatch(world, &held, &order)
    });
    let released = released.map_err(|refusal| match refusal {
        LockRefusal::Busy(why) => NoDispatch::Hold(HoldReason::LockBusy(why)),
        LockRefusal::Fault(fault) => machine(fault),
    })?;
    let plan = released.value?;
    match released.kept {
        Some(fault) => Err(machine(fault)),
        None => Ok(plan),
    }
}

/// What a dry run cannot tell: it takes of other clones' fences what the last step saw.
fn unasked(request: &StepRequest, evidence: &Evidence) -> Option<String> {
    let has_origin = evidence.base.origin != AtOrigin::NotAsked;
    (has_origin && request.fence != FencePolicy::Off).then(|| {
        "origin was not asked: a step fetches first, and passes over what other clones have fenced since the last one".to_owned()
    })
}

fn remarks(chosen: &Chosen) -> Vec<String> {
    let mut remarks: Vec<String> = chosen.set_aside.iter().flat_map(set_aside_notes).collect();
    let choice = &chosen.intent.choice;
    if let Company::Refused(why) = &choice.company {
        remarks.push(format!("{why}, so {} is taken alone", choice.task));
    }
    remarks
}

fn set_aside_notes((unit, reason): (&Unit, &NoDispatch)) -> Vec<String> {
    let mut notes = vec![format!("task {unit} is set aside: {reason}")];
    notes.extend(reason.remedy().map(|remedy| format!("  {remedy}")));
    notes
}

fn refused_trailers(evidence: &Evidence) -> Vec<String> {
    let Observed::Known(history) = &evidence.history else {
        return Vec::new();
    };
    history
        .refused
        .iter()
        .take(5)
        .map(|value| format!("a Planwright-Task trailer names no task: {value}"))
        .collect()
}
