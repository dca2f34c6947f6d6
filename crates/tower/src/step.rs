//! One step: the whole way from a bundle's name to one dispatched unit, or to the reason why there is none.

use std::collections::{BTreeMap, BTreeSet};

use orchestrate_config::FencePolicy;
use orchestrate_core::declaration::Declarations;
use orchestrate_core::derive::{SpecState, derive};
use orchestrate_core::evidence::{Base, Evidence, Origin};
use orchestrate_core::graph::TaskGraph;
use orchestrate_core::identifier::{BaseName, CommitId, SpecId, TaskId, Unit, UnitName};
use orchestrate_core::observed::Observed;
use orchestrate_core::plan::{HaltReason, Intent, NoDispatch, Selection};
use orchestrate_core::pull_request::PullRequests;
use orchestrate_core::record::dispatch::{DispatchRecord, LaunchOrder};
use orchestrate_core::select::{Choice, select_beside};
use orchestrate_core::world::{Fault, World};
use orchestrate_spec::Bundle;

use crate::advance::{Aim, advance};
use crate::fence;
use crate::fetch::FetchRequest;
use crate::gather::{Beside, Question, gather};
use crate::sweep::{Aside, Parked, Swept};

/// What a step is asked to do.
#[derive(Debug, Clone)]
pub struct StepRequest {
    /// The bundle.
    pub spec: SpecId,
    /// `max_parallel_units`.
    pub cap: u32,
    /// `stale_lock_threshold`, in minutes.
    pub stale_lock_minutes: i64,
    /// `stale_marker_threshold`, in seconds.
    pub stale_marker_seconds: i64,
    /// `base_branch`.
    pub base_branch: Option<BaseName>,
    /// What a person declared about the choice of the unit.
    pub declarations: Declarations,
    /// How origin is fetched.
    pub fetch: FetchRequest,
    /// `dispatch_fence`.
    pub fence: FencePolicy,
    /// `fleet_daemon_pause`: nothing is cleaned up.
    pub cleanup_paused: bool,
    /// Decide, and change nothing.
    pub dry_run: bool,
    /// Nobody is there to be told: what stands in the way of a unit is written where people look.
    pub unattended: bool,
    /// The units that this step has tried already, each with why it could not be taken.
    pub set_aside: BTreeMap<Unit, NoDispatch>,
}

impl StepRequest {
    /// Returns the full name of a unit of the bundle.
    #[must_use]
    pub fn name_of(&self, unit: Unit) -> UnitName {
        UnitName {
            spec: self.spec.clone(),
            unit,
        }
    }

    /// Returns what a decision about the bundle is made from.
    #[must_use]
    pub fn selection<'a>(&'a self, graph: &'a TaskGraph, state: &'a SpecState) -> Selection<'a> {
        Selection {
            graph,
            state,
            declarations: &self.declarations,
            cap: self.cap,
        }
    }

    /// Returns the task that comes next, by evidence and by what was declared; the cap is not asked.
    #[must_use]
    pub fn next(&self, graph: &TaskGraph, state: &SpecState) -> Option<Choice> {
        select_beside(graph, state, &self.declarations, &BTreeSet::new())
    }
}

/// Composes what a worker is started with. It may refuse, so it is asked before anything durable (law L2).
pub trait Launcher {
    /// Returns whether the rule documents of a dispatch are there: told together with whatever else is wrong before a unit
    /// is selected.
    ///
    /// # Errors
    /// The one that is not.
    fn rules(&self) -> Result<(), HaltReason> {
        Ok(())
    }

    /// Returns the launch of a unit of the bundle.
    ///
    /// # Errors
    /// Why no worker can be started for it.
    fn order(&self, bundle: &Bundle, name: &UnitName) -> Result<Launch, HaltReason>;

    /// Returns whether a worktree of an earlier attempt, complete and clean, may be used again. Asks a person where
    /// there is one; without anybody to ask it may.
    fn may_reuse(&self, worktree: &str) -> bool;

    /// Returns whether a task may be dispatched without the one that it was declared to belong to, for the reason that
    /// is told. Asks a person where there is one; without anybody to ask it may.
    fn may_part(&self, task: &TaskId, why: &str) -> bool;
}

/// A composed launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// What is started.
    pub order: LaunchOrder,
    /// What the user should know about the choice of the backend.
    pub note: Option<String>,
}

/// What a step did.
#[derive(Debug)]
#[must_use = "an unread outcome tells nobody what happened"]
pub struct StepReport {
    /// The outcome.
    pub outcome: StepOutcome,
    /// Things worth knowing that changed nothing: refused trailers, a lock that could not be released.
    pub notes: Vec<String>,
    /// Tasks that cannot be dispatched until a person has done something, where one is there to be told: what would be
    /// written of each, and was not. [`park_halted`] writes it.
    pub waiting: Vec<Parked>,
}

/// How a step ended.
#[derive(Debug)]
pub enum StepOutcome {
    /// A unit was dispatched.
    Dispatched(Box<Dispatched>),
    /// A unit would have been dispatched.
    WouldDispatch {
        /// The unit and why this one.
        intent: Box<Intent>,
        /// Where its branch would start.
        start: CommitId,
        /// The base.
        base: Base,
    },
    /// Something was written in the bundle, or would have been, so nothing was dispatched; the next step goes on.
    Swept(Swept),
    /// Nothing was dispatched, for a stated reason.
    Nothing(NoDispatch),
}

/// A dispatch that happened.
#[derive(Debug)]
pub struct Dispatched {
    /// Everything that was decided.
    pub record: DispatchRecord,
    /// Why this unit.
    pub choice: Choice,
    /// Who has the unit now.
    pub handed_over: HandOver,
}

/// Who has a dispatched unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandOver {
    /// A worker in the background.
    Worker {
        /// Its runner's process id.
        pid: u32,
    },
    /// A worker ran in this terminal and has ended.
    Ended {
        /// How: `exit 0`, `signal 9`.
        status: String,
    },
    /// A person, who starts the printed command.
    Person,
}

/// The bundle and the state of its tasks: what `status` shows and a step decides from.
#[derive(Debug)]
pub struct Survey {
    /// The graph, with what is parked.
    pub graph: TaskGraph,
    /// The evidence.
    pub evidence: Evidence,
    /// The state derived from it.
    pub state: SpecState,
}

/// Gathers and derives, without changing anything and without asking origin: of its fences the last step tells. The forge
/// is also asked for what people are shown of landed units.
///
/// # Errors
/// When no base can be named.
pub fn survey(world: &dyn World, request: &StepRequest, bundle: &Bundle) -> Result<Survey, Fault> {
    survey_graph(world, request, bundle.graph())
}

/// As [`survey`], for the tasks of a graph.
///
/// # Errors
/// When no base can be named.
pub fn survey_graph(world: &dyn World, request: &StepRequest, graph: TaskGraph) -> Result<Survey, Fault> {
    survey_shown(world, request, graph, None, Beside::Landed)
}

/// Surveys once more in the same step, with the forge's answer of its first survey.
pub(crate) fn survey_again(
    world: &dyn World,
    request: &StepRequest,
    graph: TaskGraph,
    asked: &Observed<PullRequests>,
) -> Result<Survey, Fault> {
    survey_shown(world, request, graph, Some(asked), Beside::Nobody)
}

fn survey_shown(
    world: &dyn World,
    request: &StepRequest,
    graph: TaskGraph,
    asked: Option<&Observed<PullRequests>>,
    beside: Beside,
) -> Result<Survey, Fault> {
    let answers = Answers {
        base: &world.base(request.base_branch.as_ref())?,
        origin: &fence::remembered(world, &request.spec),
        asked,
        beside,
    };
    Ok(survey_with(world, request, graph, &answers))
}

/// What a survey is taken with.
pub(crate) struct Answers<'a> {
    pub(crate) base: &'a Base,
    pub(crate) origin: &'a Observed<Origin>,
    /// The forge's answer of an earlier survey.
    pub(crate) asked: Option<&'a Observed<PullRequests>>,
    /// Of which landed units the forge is asked too.
    pub(crate) beside: Beside,
}

pub(crate) fn survey_with(world: &dyn World, request: &StepRequest, graph: TaskGraph, answers: &Answers<'_>) -> Survey {
    let question = Question {
        spec: &request.spec,
        graph: &graph,
        base: answers.base,
        stale_marker_seconds: request.stale_marker_seconds,
        origin: answers.origin,
        asked: answers.asked,
        beside: answers.beside,
    };
    let evidence = gather(world, &question);
    let state = derive(&graph, &evidence);
    Survey { graph, evidence, state }
}

/// Advances the bundle by at most one unit.
pub fn step(world: &mut dyn World, request: &StepRequest, launcher: &dyn Launcher) -> StepReport {
    report(world, request, launcher, Aim::Dispatch)
}

/// Writes down what halts the bundle's units, as a step that nobody attends would, because a person said so. Everything is
/// read again; what can be dispatched by now is left to the next step.
pub fn park_halted(world: &mut dyn World, request: &StepRequest, launcher: &dyn Launcher) -> StepReport {
    let mut request = request.clone();
    request.unattended = true;
    report(world, &request, launcher, Aim::Park)
}

fn report(world: &mut dyn World, request: &StepRequest, launcher: &dyn Launcher, aim: Aim) -> StepReport {
    let mut told = Aside::default();
    let outcome = match advance(world, request, launcher, aim, &mut told) {
        Ok(outcome) => outcome,
        Err(reason) => StepOutcome::Nothing(reason),
    };
    StepReport {
        outcome,
        notes: told.notes,
        waiting: told.waiting,
    }
}

pub(crate) fn machine(fault: Fault) -> NoDispatch {
    NoDispatch::Halt(vec![HaltReason::Machine(fault)])
}
