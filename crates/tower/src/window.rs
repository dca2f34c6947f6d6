//! The locked window of a step: read everything again, gate, plan, record (architecture §6, law L2).
//!
//! What was read before the lock is a guess by now, so nothing of it is used but the intent, which is checked.

use orchestrate_core::derive::derive;
use orchestrate_core::evidence::{Evidence, Origin};
use orchestrate_core::identifier::Unit;
use orchestrate_core::observed::Observed;
use orchestrate_core::place::Place;
use orchestrate_core::plan::{DispatchPlan, Intent, NoDispatch, StepPlan};
use orchestrate_core::pull_request::PullRequests;
use orchestrate_core::record::dispatch::{Attempt, DispatchRecord, LaunchOrder};
use orchestrate_core::world::World;
use orchestrate_spec::{Bundle, BundleTexts};

use crate::apply::{Seen, Stopped, apply};
use crate::fence::{self, Fencing};
use crate::fetch::Fetched;
use crate::fitness::{Fit, Situation, choose};
use crate::gate;
use crate::gather::{Beside, Question, gather, launch_record};
use crate::lock::Held;
use crate::neighbours;
use crate::preflight::reopen_bundle;
use crate::step::{StepRequest, machine};

/// What was decided before the lock.
pub(crate) struct Order<'a> {
    pub(crate) request: &'a StepRequest,
    pub(crate) bundle: &'a Bundle,
    pub(crate) texts: &'a BundleTexts,
    pub(crate) intent: &'a Intent,
    pub(crate) pull_requests: &'a Observed<PullRequests>,
    pub(crate) fetched: &'a Fetched,
    pub(crate) origin: &'a Observed<Origin>,
    pub(crate) launch: LaunchOrder,
}

/// Makes the plan and applies it, if what is seen under the lock still asks for it.
pub(crate) fn record_dispatch(world: &mut dyn World, held: &Held<'_>, order: &Order<'_>) -> StepPlan {
    let Order { request, intent, .. } = order;
    let texts = order.texts;
    let reopened = reopen_bundle(world, (order.bundle, texts)).map_err(NoDispatch::Halt)?;
    let graph = match &reopened {
        None => order.bundle.graph(),
        Some((bundle, now)) if now == texts => bundle.graph(),
        Some(_) => return Err(NoDispatch::moved("the bundle's files changed")),
    };
    let base = world.base(request.base_branch.as_ref()).map_err(machine)?;
    // Before everything else, so that a worker that starts while we look shows as a change.
    let launch = launch_record(world, &intent.name);
    let question = Question {
        spec: &request.spec,
        graph: &graph,
        base: &base,
        stale_marker_seconds: request.stale_marker_seconds,
        origin: order.origin,
        asked: Some(order.pull_requests),
        beside: Beside::Nobody,
    };
    let evidence = gather(world, &question);
    let state = derive(&graph, &evidence);
    let passed = gate::pass(held, world, &base, texts, order.fetched)?;
    let situation = Situation {
        request,
        graph: &graph,
        state: &state,
        evidence: &evidence,
        signed: passed.anchor(),
    };
    let chosen = choose(world, &situation).map_err(|refusal| refusal.reason)?;
    if chosen.intent.name != intent.name {
        return Err(NoDispatch::moved(format!("{} would be next", chosen.intent.name.unit)));
    }
    // The reference breaks a lock by its age. This one is in use, and if it is gone already this tells.
    world.touch(&Place::Lock(request.spec.clone())).map_err(machine)?;
    let nonce = world.nonce().map_err(machine)?;
    let fencing = Fencing {
        name: &intent.name,
        base: &base,
        evidence: &evidence,
        state: &state,
    };
    let fenced = fence::take(world, (held, &passed), &fencing)?;
    let earlier = earlier_record(&evidence, &intent.name.unit);
    let now = world.now();
    let attempt = Attempt {
        tower: world.identity(),
        attempt: nonce,
        // The markers that the earlier record speaks for are this one's to speak for, also where a clock was set back.
        dispatched: earlier.as_ref().map_or(now, |earlier| now.max(earlier.dispatched)),
        launched_before: match &launch {
            Observed::Known(launch) => Some(launch.attempt.clone()),
            Observed::Absent(_) | Observed::Unknown(_) => None,
        },
    };
    let Fit {
        start,
        branch,
        worktree,
        ..
    } = chosen.fit;
    let anchor = passed.anchor().to_owned();
    let record = DispatchRecord::new(
        intent.name.clone(),
        base.name.clone(),
        start,
        anchor,
        attempt,
        order.launch.clone(),
    );
    let plan = DispatchPlan {
        record,
        branch,
        worktree,
    };
    let seen = Seen {
        base: &base,
        base_branch: request.base_branch.as_ref(),
        launch,
        earlier,
        neighbours: neighbours::seen(&evidence, &intent.name),
    };
    let stopped = match apply(held, passed, world, &plan, &seen) {
        Ok(()) => return Ok(plan),
        Err(stopped) => stopped,
    };
    fence::give_back(world, &fencing, &fenced);
    match stopped {
        Stopped::Fault(fault) => Err(machine(fault)),
        Stopped::Moved(reason) => Err(reason),
    }
}

/// Returns the record of the unit's last attempt. One that could not be read has held the unit.
fn earlier_record(evidence: &Evidence, unit: &Unit) -> Option<DispatchRecord> {
    match &evidence.records {
        Observed::Known(records) => match &records.get(unit)?.dispatch {
            Observed::Known(record) => Some(record.clone()),
            Observed::Absent(_) | Observed::Unknown(_) => None,
        },
        Observed::Absent(_) | Observed::Unknown(_) => None,
    }
}
