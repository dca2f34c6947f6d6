//! Whether one unit that derives ready can be dispatched as it lies there: its worktree, its start, its dependencies.
//!
//! What is found here concerns that unit alone; the step sets it aside and takes the next one (law L12).

use std::collections::{BTreeMap, BTreeSet};

use orchestrate_core::derive::{SpecState, TaskState, derive};
use orchestrate_core::evidence::{AtOrigin, BranchFacts, BranchSide, Evidence};
use orchestrate_core::graph::TaskGraph;
use orchestrate_core::identifier::{CommitId, Unit, UnitName};
use orchestrate_core::observed::Observed;
use orchestrate_core::plan::{self, BranchAct, HaltReason, HoldReason, Intent, NoDispatch, WorktreeAct, intend};
use orchestrate_core::world::{WorktreeFacts, World};

use crate::gate::signed_content;
use crate::gather::{Beside, Question, gather, launch_record};
use crate::neighbours;
use crate::step::StepRequest;

/// How a unit is dispatched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fit {
    /// Where its branch starts.
    pub(crate) start: CommitId,
    /// What happens to its branch.
    pub(crate) branch: BranchAct,
    /// What happens to its worktree.
    pub(crate) worktree: WorktreeAct,
    /// The worktree of an earlier attempt that is used again, complete and clean.
    pub(crate) reused: Option<String>,
}

/// The unit that is taken, and those before it that could not be.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) intent: Intent,
    pub(crate) fit: Fit,
    pub(crate) set_aside: BTreeMap<Unit, NoDispatch>,
}

/// Why none could be taken.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// What the step says.
    pub(crate) reason: NoDispatch,
    /// The units that could not be, each with what stands in its way.
    pub(crate) set_aside: BTreeMap<Unit, NoDispatch>,
}

impl From<NoDispatch> for Box<Refusal> {
    fn from(reason: NoDispatch) -> Self {
        let set_aside = BTreeMap::new();
        Self::new(Refusal { reason, set_aside })
    }
}

/// What a choice is made from.
pub(crate) struct Situation<'a> {
    pub(crate) request: &'a StepRequest,
    pub(crate) graph: &'a TaskGraph,
    pub(crate) state: &'a SpecState,
    pub(crate) evidence: &'a Evidence,
    /// The signed content's anchor.
    pub(crate) signed: &'a str,
}

/// Returns the first unit in order of priority that can be dispatched.
///
/// # Errors
/// Why there is none: what stands in the way of the first ready unit, where there are ready ones.
pub(crate) fn choose(world: &dyn World, situation: &Situation<'_>) -> Result<Chosen, Box<Refusal>> {
    let Situation {
        request, graph, state, ..
    } = situation;
    let mut set_aside = request.set_aside.clone();
    let mut first: Option<NoDispatch> = set_aside.values().next().cloned();
    let mut waiting: BTreeSet<Unit> = BTreeSet::new();
    loop {
        let excluded: BTreeSet<Unit> = set_aside.keys().chain(&waiting).cloned().collect();
        let intent = match intend(
            |unit| request.name_of(unit),
            &request.selection(graph, state),
            &excluded,
        ) {
            Ok(intent) => intent,
            Err(nothing) => {
                let reason = first.unwrap_or(nothing);
                return Err(Box::new(Refusal { reason, set_aside }));
            }
        };
        match fit(world, situation, &intent) {
            Ok(fit) => return Ok(Chosen { intent, fit, set_aside }),
            Err(moved @ NoDispatch::Hold(HoldReason::Moved { .. })) => return Err(moved.into()),
            Err(_) if !is_still_ready(world, situation, &intent.name.unit) => {
                let moved = NoDispatch::moved(format!("{} is no longer ready", intent.name.unit));
                return Err(moved.into());
            }
            Err(reason) => {
                first.get_or_insert_with(|| reason.clone());
                // A pair is parted by what is known, never because something could not be read (law L4).
                if matches!(reason, NoDispatch::Hold(HoldReason::Evidence { .. })) {
                    waiting.extend(intent.name.unit.tasks().cloned().map(Unit::single));
                }
                set_aside.insert(intent.name.unit, reason);
            }
        }
    }
}

/// What stands in a unit's way may be a peer's dispatch of it since the evidence was gathered: its worker's files are
/// no uncommitted work of an earlier attempt. One more look tells, because a claim is there before a worker is.
fn is_still_ready(world: &dyn World, situation: &Situation<'_>, unit: &Unit) -> bool {
    let Situation {
        request,
        graph,
        evidence,
        ..
    } = situation;
    let question = Question {
        spec: &request.spec,
        graph,
        base: &evidence.base,
        stale_marker_seconds: request.stale_marker_seconds,
        origin: &evidence.origin,
        asked: Some(&evidence.pull_requests),
        beside: Beside::Nobody,
    };
    let state = derive(graph, &gather(world, &question));
    unit.tasks().all(|task| {
        let report = state.tasks.get(task);
        report.is_some_and(|report| report.state == TaskState::Ready)
    })
}

fn fit(world: &dyn World, situation: &Situation<'_>, intent: &Intent) -> Result<Fit, NoDispatch> {
    let Situation { evidence, signed, .. } = situation;
    let (name, base) = (&intent.name, &evidence.base);
    // It is looked at again behind the record, and would stop the dispatch there (law L2).
    if let Observed::Unknown(why) = launch_record(world, name) {
        let tasks: Vec<String> = name.unit.tasks().map(ToString::to_string).collect();
        let why = why.with_hint(format!(
            "if nobody works on it: orchestrate plumbing orchestrate-marker clear specs/{} {}",
            name.spec,
            tasks.join(" ")
        ));
        return Err(NoDispatch::unread("whether a worker has started", why));
    }
    let (facts, worktree) = worktree(world, name)?;
    let branches = match &evidence.branches {
        Observed::Known(branches) => branches.of(&name.unit),
        Observed::Absent(why) => Observed::Absent(why.clone()),
        Observed::Unknown(why) => Observed::Unknown(why.clone()),
    };
    let branches = match branches.known() {
        Ok(branches) => branches.unwrap_or_default(),
        Err(why) => return Err(NoDispatch::unread("its branch", why)),
    };
    neighbours::stand_aside(world, situation, name)?;
    let (start, branch) = plan::start(branches, base, &facts)?;
    let older = |what: &str| NoDispatch::Halt(vec![outdated_worktree(name, &facts, &start, what)]);
    dependencies_are_in(world, situation, name, &start, &older)?;
    if start != *base.gated() {
        if holds_undone_work(branches) {
            return Err(older("it holds the work that was reverted"));
        }
        match signed_content(world, &name.spec, base, &start) {
            Ok(there) if there.anchor == *signed => {}
            Ok(_) => return Err(older("the spec there is not the signed one")),
            Err(NoDispatch::Halt(_)) => return Err(older("the spec there is not validly signed")),
            Err(other) => return Err(other),
        }
    }
    let reused = match facts {
        WorktreeFacts::Ours(earlier) if earlier.complete => Some(earlier.path),
        WorktreeFacts::Ours(_)
        | WorktreeFacts::Free
        | WorktreeFacts::BranchElsewhere { .. }
        | WorktreeFacts::Strayed { .. }
        | WorktreeFacts::Taken { .. } => None,
    };
    Ok(Fit {
        start,
        branch,
        worktree,
        reused,
    })
}

/// A ready unit whose branch has landed work of its own is one whose work was undone. A worker that went on from there
/// would not see the revert.
fn holds_undone_work(branches: &[BranchFacts]) -> bool {
    let landed = |facts: &BranchFacts| matches!(&facts.own, Observed::Known(own) if !own.is_empty());
    branches
        .iter()
        .any(|facts| facts.side == BranchSide::Local && facts.ahead == 0 && landed(facts))
}

fn worktree(world: &dyn World, name: &UnitName) -> Result<(WorktreeFacts, WorktreeAct), NoDispatch> {
    match world.worktree(name) {
        Observed::Known(facts) => {
            let act = plan::worktree(name, &facts, &world.occupants(name))?;
            Ok((facts, act))
        }
        Observed::Absent(why) | Observed::Unknown(why) => Err(NoDispatch::unread("its worktree", why)),
    }
}

/// Holds the step when a landed dependency is not in what the branch would start from: the worker would miss it.
fn dependencies_are_in(
    world: &dyn World,
    situation: &Situation<'_>,
    name: &UnitName,
    start: &CommitId,
    older: &dyn Fn(&str) -> NoDispatch,
) -> Result<(), NoDispatch> {
    let (base, landed) = (&situation.evidence.base, situation.state.landed());
    let tasks = name.unit.tasks().filter_map(|task| situation.graph.task(task));
    for dependency in tasks.flat_map(|task| &task.dependencies) {
        let Some(commit) = landed.get(dependency) else {
            return Err(NoDispatch::moved(format!("dependency {dependency} has not landed")));
        };
        match world.contains(start, commit) {
            Observed::Known(true) => {}
            Observed::Known(false) if start != base.gated() => {
                return Err(older(&format!("it lacks the landed dependency {dependency}")));
            }
            Observed::Known(false) => {
                return Err(NoDispatch::Hold(HoldReason::DependencyNotInBase {
                    dependency: dependency.clone(),
                    landed: commit.clone(),
                    start: start.clone(),
                    base: base.gated_name(),
                    at_origin: base.origin == AtOrigin::Has,
                }));
            }
            Observed::Absent(why) | Observed::Unknown(why) => return Err(NoDispatch::unread("its dependencies", why)),
        }
    }
    Ok(())
}

/// A worktree of an earlier attempt, without work of its own, that starts too early to be used. A person removes it:
/// the tower retires worktrees of landed units alone (law L5).
fn outdated_worktree(name: &UnitName, facts: &WorktreeFacts, start: &CommitId, what: &str) -> HaltReason {
    let branch = format!("git branch -d {}", name.branch());
    let removal = match facts {
        WorktreeFacts::Ours(ours) => format!("{} && {branch}", ours.removal()),
        WorktreeFacts::Free
        | WorktreeFacts::BranchElsewhere { .. }
        | WorktreeFacts::Strayed { .. }
        | WorktreeFacts::Taken { .. } => branch,
    };
    HaltReason::WorktreeTaken {
        by: format!(
            "the unit's worktree of an earlier attempt is at {}: {what}",
            start.short()
        ),
        remedy: format!("if nothing in it is needed, ignored files included: {removal}"),
    }
}
