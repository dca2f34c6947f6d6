//! The locked window of a step: read everything again, gate, plan, record (architecture §6, law L2).
//!
//! What was read before the lock is a guess by now, so nothing of it is used but the intent, which is checked.

use orchestrate_core::derive::{SpecState, derive};
use orchestrate_core::evidence::{Base, Evidence};
use orchestrate_core::graph::TaskGraph;
use orchestrate_core::identifier::{CommitId, Unit, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::plan::{
    self, DispatchPlan, HaltReason, HoldReason, Intent, NoDispatch, StepPlan, WorktreeAct, intend,
};
use orchestrate_core::record::dispatch::{Attempt, DispatchRecord, LaunchOrder};
use orchestrate_core::record::launch::LaunchRecord;
use orchestrate_core::world::{WorktreeFacts, World};
use orchestrate_spec::BundleTexts;

use crate::apply::{Seen, Stopped, apply};
use crate::gate;
use crate::gather::gather;
use crate::lock::Held;
use crate::preflight::open_bundle;
use crate::step::{StepRequest, machine};

/// What was decided before the lock.
pub(crate) struct Order<'a> {
    pub(crate) request: &'a StepRequest,
    pub(crate) texts: &'a BundleTexts,
    pub(crate) intent: &'a Intent,
    pub(crate) launch: LaunchOrder,
}

/// Makes the plan and applies it, if what is seen under the lock still asks for it.
pub(crate) fn record_dispatch(world: &mut dyn World, held: &Held<'_>, order: &Order<'_>) -> StepPlan {
    let Order { request, intent, .. } = order;
    let (bundle, texts) = open_bundle(world, &request.spec).map_err(NoDispatch::Halt)?;
    if texts != *order.texts {
        return Err(moved("the bundle's files changed"));
    }
    let graph = bundle.graph();
    let base = world.base(request.base_branch.as_ref()).map_err(machine)?;
    let evidence = gather(world, &request.spec, &base, request.stale_marker_seconds);
    let state = derive(&graph, &evidence);
    let again = intend(|unit| request.name_of(unit), &graph, &state, request.cap)?;
    if again.name != intent.name {
        return Err(moved(&format!("{} would be next", again.name.unit)));
    }
    let (worktree, act) = worktree(world, &intent.name)?;
    let branches = match &evidence.branches {
        Observed::Known(branches) => branches.get(&intent.name.unit).map(Vec::as_slice).unwrap_or_default(),
        Observed::Absent(_) => &[],
        Observed::Unknown(why) => return Err(unread("its branch", why.clone())),
    };
    let (start, branch) = plan::start(branches, &base, &worktree)?;
    dependencies_are_in(world, &graph, &state, intent, &start, &base)?;
    let passed = gate::check(held, world, &intent.name, &base, &start, &texts)?;
    let nonce = world.nonce().map_err(machine)?;
    let attempt = Attempt {
        tower: world.identity(),
        attempt: nonce,
        dispatched: world.now(),
    };
    let record = DispatchRecord::new(
        intent.name.clone(),
        base.name.clone(),
        passed.start().clone(),
        passed.anchor().to_owned(),
        attempt,
        order.launch.clone(),
    );
    let plan = DispatchPlan {
        record,
        branch,
        worktree: act,
    };
    let seen = Seen {
        base: &base,
        base_branch: request.base_branch.as_ref(),
        launch: seen_launch(&evidence, &intent.name.unit),
    };
    match apply(held, passed, world, &plan, &seen) {
        Ok(()) => Ok(plan),
        Err(Stopped::Fault(fault)) => Err(machine(fault)),
        Err(Stopped::Moved(reason)) => Err(reason),
    }
}

/// Returns the launch record that the plan was made from; a unit without records of ours has none.
fn seen_launch(evidence: &Evidence, unit: &Unit) -> Observed<LaunchRecord> {
    match &evidence.records {
        Observed::Known(records) => records.get(unit).map_or_else(
            || Observed::Absent(Why::new("it has no record")),
            |records| records.launch.clone(),
        ),
        Observed::Absent(why) => Observed::Absent(why.clone()),
        Observed::Unknown(why) => Observed::Unknown(why.clone()),
    }
}

fn worktree(world: &dyn World, name: &UnitName) -> Result<(WorktreeFacts, WorktreeAct), NoDispatch> {
    match world.worktree(name) {
        Observed::Known(facts) => {
            let act = plan::worktree(&facts, &world.occupants(name))?;
            Ok((facts, act))
        }
        Observed::Absent(why) | Observed::Unknown(why) => Err(unread("its worktree", why)),
    }
}

/// Holds the step when a landed dependency is not in what the branch would start from: the worker would miss it.
fn dependencies_are_in(
    world: &dyn World,
    graph: &TaskGraph,
    state: &SpecState,
    intent: &Intent,
    start: &CommitId,
    base: &Base,
) -> Result<(), NoDispatch> {
    let choice = &intent.choice;
    let landed = state.landed();
    let dependencies = graph
        .task(&choice.task)
        .map(|task| task.dependencies.as_slice())
        .unwrap_or_default();
    for dependency in dependencies {
        let Some(commit) = landed.get(dependency) else {
            return Err(moved(&format!("dependency {dependency} has not landed")));
        };
        match world.contains(start, commit) {
            Observed::Known(true) => {}
            Observed::Known(false) if *start != base.commit => {
                let lacks = format!("it lacks the landed dependency {dependency}");
                return Err(NoDispatch::Halt(vec![outdated_worktree(&intent.name, start, &lacks)]));
            }
            Observed::Known(false) => {
                return Err(NoDispatch::Hold(HoldReason::DependencyNotInBase {
                    dependency: dependency.clone(),
                    landed: commit.clone(),
                    start: start.clone(),
                    base: base.name.to_string(),
                }));
            }
            Observed::Absent(why) | Observed::Unknown(why) => return Err(unread("its dependencies", why)),
        }
    }
    Ok(())
}

/// A worktree of an earlier attempt, without work of its own, that starts too early to be used. A person removes it:
/// no path of the tower removes a worktree (law L5).
pub(crate) fn outdated_worktree(name: &UnitName, start: &CommitId, what: &str) -> HaltReason {
    HaltReason::WorktreeTaken {
        by: format!(
            "the unit's worktree of an earlier attempt is at {}: {what}",
            start.short()
        ),
        remedy: format!(
            "if nothing in it is needed: git worktree remove .claude/worktrees/{} && git branch -d {}",
            name.worktree(),
            name.branch()
        ),
    }
}

fn moved(now: &str) -> NoDispatch {
    NoDispatch::Hold(HoldReason::Moved { now: now.to_owned() })
}

fn unread(of: &str, why: Why) -> NoDispatch {
    NoDispatch::Hold(HoldReason::Evidence { of: of.to_owned(), why })
}
