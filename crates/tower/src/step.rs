//! One step: the whole way from a bundle's name to one dispatched unit, or to the reason why there is none.

use std::collections::BTreeSet;

use orchestrate_config::FencePolicy;
use orchestrate_core::declaration::Declarations;
use orchestrate_core::derive::{SpecState, derive};
use orchestrate_core::evidence::{Base, Evidence, Origin};
use orchestrate_core::graph::TaskGraph;
use orchestrate_core::identifier::{BaseName, CommitId, SpecId, TaskId, Unit, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::Place;
use orchestrate_core::plan::{DispatchPlan, HaltReason, HoldReason, Intent, NoDispatch, Selection, intend};
use orchestrate_core::pull_request::PullRequests;
use orchestrate_core::record::dispatch::{DispatchRecord, LaunchManner, LaunchOrder};
use orchestrate_core::record::launch::LaunchRecord;
use orchestrate_core::select::{Choice, Company, select_beside};
use orchestrate_core::world::{Checkout, Fault, Spawned, World};
use orchestrate_spec::Bundle;

use crate::fence;
use crate::fetch::{self, FetchRequest};
use crate::fitness::{Chosen, Situation, choose};
use crate::gate;
use crate::gather::{Question, gather};
use crate::lock::{self, LockRefusal};
use crate::preflight::open_bundle;
use crate::sweep::{self, Seen, Swept};
use crate::window::{self, Order};

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
    /// Decide, and change nothing.
    pub dry_run: bool,
    /// Nobody is there to be told: what stands in the way of a unit is written where people look.
    pub unattended: bool,
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
    survey_shown(world, request, bundle.graph(), None, true)
}

/// Gathers and derives for the tasks of a graph, with the forge's answer of an earlier survey where there is one.
///
/// # Errors
/// When no base can be named.
pub fn survey_graph(
    world: &dyn World,
    request: &StepRequest,
    graph: TaskGraph,
    asked: Option<&Observed<PullRequests>>,
) -> Result<Survey, Fault> {
    survey_shown(world, request, graph, asked, false)
}

fn survey_shown(
    world: &dyn World,
    request: &StepRequest,
    graph: TaskGraph,
    asked: Option<&Observed<PullRequests>>,
    beside: bool,
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
struct Answers<'a> {
    base: &'a Base,
    origin: &'a Observed<Origin>,
    /// The forge's answer of an earlier survey.
    asked: Option<&'a Observed<PullRequests>>,
    /// Whether the forge is also asked for what people are shown of landed units.
    beside: bool,
}

fn survey_with(world: &dyn World, request: &StepRequest, graph: TaskGraph, answers: &Answers<'_>) -> Survey {
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
    let mut notes = Vec::new();
    let outcome = match advance(world, request, launcher, &mut notes) {
        Ok(outcome) => outcome,
        Err(reason) => StepOutcome::Nothing(reason),
    };
    StepReport { outcome, notes }
}

/// How often a step decides anew when another tower was quicker.
const DECISIONS: usize = 4;

fn advance(
    world: &mut dyn World,
    request: &StepRequest,
    launcher: &dyn Launcher,
    notes: &mut Vec<String>,
) -> Result<StepOutcome, NoDispatch> {
    let (mut asked, mut again) = (None, request.clone());
    let mut outcome = decide_and_dispatch(world, request, launcher, notes, &mut asked);
    for _ in 1..DECISIONS {
        match &outcome {
            Err(NoDispatch::Hold(HoldReason::Moved { .. } | HoldReason::Fenced { .. })) => {}
            // It was fetched a moment ago, and has moved since.
            Err(NoDispatch::Hold(HoldReason::OriginAhead { .. })) => again.fetch.terms.fresh_seconds = 0,
            Ok(_) | Err(_) => break,
        }
        notes.clear();
        outcome = decide_and_dispatch(world, &again, launcher, notes, &mut asked);
    }
    outcome
}

fn decide_and_dispatch(
    world: &mut dyn World,
    request: &StepRequest,
    launcher: &dyn Launcher,
    notes: &mut Vec<String>,
    asked: &mut Option<Observed<PullRequests>>,
) -> Result<StepOutcome, NoDispatch> {
    let (bundle, texts) = open_bundle(world, &request.spec).map_err(NoDispatch::Halt)?;
    let freshness = fetch::refresh(world, &request.fetch, request.dry_run);
    let base = world.base(request.base_branch.as_ref()).map_err(machine)?;
    let answers = Answers {
        base: &base,
        origin: &fence::ask(world, request, &base, &freshness),
        asked: asked.as_ref(),
        beside: false,
    };
    let survey = survey_with(world, request, bundle.graph(), &answers);
    notes.extend(refused_trailers(&survey.evidence));
    *asked = Some(survey.evidence.pull_requests.clone());
    if !request.dry_run {
        notes.extend(fence::keep_house(world, &request.spec, &survey));
    }
    let seen = Seen {
        bundle: &bundle,
        texts: &texts,
        survey: &survey,
    };
    if let Some(swept) = sweep::sweep(world, request, seen, notes)? {
        return Ok(StepOutcome::Swept(swept));
    }
    let Survey { graph, evidence, state } = survey;
    let next = request.next(&graph, &state);
    notes.extend(request.declarations.remarks(&graph, &state, next.as_ref()));
    // Where nothing is ready it does not matter whether the spec still is the signed one.
    intend(
        |unit| request.name_of(unit),
        &request.selection(&graph, &state),
        &BTreeSet::new(),
    )
    .inspect_err(|_| notes.extend(freshness.note()))?;
    let fetched = freshness.require(&request.fetch)?;
    let signed = gate::compare(world, &request.spec, &evidence.base, &texts)?;
    let situation = Situation {
        request,
        graph: &graph,
        state: &state,
        evidence: &evidence,
        signed: &signed,
    };
    let Chosen { intent, fit, set_aside } = match choose(world, &situation) {
        Ok(chosen) => chosen,
        Err(refusal) => {
            let asked = &evidence.pull_requests;
            return sweep::record_halts(world, request, *refusal, asked, notes).map(StepOutcome::Swept);
        }
    };
    notes.extend(set_aside.iter().flat_map(set_aside_notes));
    if let Company::Refused(why) = &intent.choice.company {
        notes.push(format!("{why}, so {} is taken alone", intent.choice.task));
    }
    let launch = launcher
        .order(&bundle, &intent.name)
        .map_err(|reason| NoDispatch::Halt(vec![reason]))?;
    notes.extend(launch.note);
    if request.dry_run {
        let start = fit.start;
        return Ok(StepOutcome::WouldDispatch {
            intent: Box::new(intent),
            start,
            base: evidence.base,
        });
    }
    if let Company::Refused(why) = &intent.choice.company
        && !launcher.may_part(&intent.choice.task, why)
    {
        return Err(NoDispatch::Hold(HoldReason::PartingDeclined { why: why.clone() }));
    }
    if let Some(path) = fit.reused.filter(|path| !launcher.may_reuse(path)) {
        return Err(NoDispatch::Hold(HoldReason::ReuseDeclined { path }));
    }
    let order = Order {
        request,
        texts: &texts,
        intent: &intent,
        pull_requests: &evidence.pull_requests,
        fetched: &fetched,
        origin: &evidence.origin,
        launch: launch.order,
    };
    let released = lock::with(world, &request.spec, request.stale_lock_minutes, |world, held| {
        window::record_dispatch(world, &held, &order)
    });
    let released = released.map_err(|refusal| match refusal {
        LockRefusal::Busy(why) => NoDispatch::Hold(HoldReason::LockBusy(why)),
        LockRefusal::Fault(fault) => machine(fault),
    })?;
    let plan = released.value?;
    // Neither a checkout nor a worker is waited for under the lock (law L6).
    if let Some(fault) = released.kept {
        return Err(machine(fault));
    }
    let handed_over = match hand_over(world, &plan) {
        Ok(handed_over) => handed_over,
        Err(reason) => return sweep::record_unlaunched(world, request, &plan.record, reason).map(StepOutcome::Swept),
    };
    Ok(StepOutcome::Dispatched(Box::new(Dispatched {
        record: plan.record,
        choice: intent.choice,
        handed_over,
    })))
}

/// Outside the lock: check out, then start the worker, or note that a person will.
fn hand_over(world: &mut dyn World, plan: &DispatchPlan) -> Result<HandOver, NoDispatch> {
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

pub(crate) fn machine(fault: Fault) -> NoDispatch {
    NoDispatch::Halt(vec![HaltReason::Machine(fault)])
}
