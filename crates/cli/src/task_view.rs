//! What is shown of a survey: one value for each task, which text and JSON are made from.

use std::collections::{BTreeMap, BTreeSet};

use orchestrate_core::derive::{Answer, Finding, Row, TaskReport, TaskState, derive, pull_request_of};
use orchestrate_core::evidence::{BaseSource, Evidence};
use orchestrate_core::graph::TaskNode;
use orchestrate_core::identifier::{CommitId, SpecId, TaskId, Unit};
use orchestrate_core::observed::Observed;
use orchestrate_core::plan::{IdleReason, NoDispatch, intend};
use orchestrate_core::pull_request::{MergeManner, PullRequest, PullRequestState};
use orchestrate_core::select::Choice;
use orchestrate_core::standing::{waits_for, word};
use orchestrate_core::time::Timestamp;
use orchestrate_core::words::count;
use orchestrate_spec::{Bundle, BundleFiles, BundleTexts, FormatVersion, Status};
use orchestrate_tower::gate;
use orchestrate_tower::preflight::{read_bundle, whole_bundle};
use orchestrate_tower::preview::{Preview, preview};
use orchestrate_tower::step::{Survey, survey};
use orchestrate_tower::sweep::place;
use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::remains::{self, Remains};
use crate::session::Session;

/// A bundle, what is known of its tasks, and what a step would do.
pub(crate) struct Look {
    pub(crate) bundle: Bundle,
    pub(crate) survey: Survey,
    /// Why the sign-off gate would stop a step.
    pub(crate) closed: Option<NoDispatch>,
    /// What a step would take next, if nothing else stopped it.
    pub(crate) next: Option<Choice>,
    /// The ready units that a step would set aside, each with what stands in its way.
    set_aside: BTreeMap<Unit, NoDispatch>,
    /// Why no task is dispatched at all, though one may be ready.
    pub(crate) stopped: Option<String>,
    /// What lies in the worktrees of what is held for a person.
    remains: BTreeMap<TaskId, Remains>,
}

impl Look {
    /// Returns whether anything is ready that a step would set aside.
    pub(crate) fn sets_aside(&self) -> bool {
        !self.set_aside.is_empty()
    }
}

/// Looks at everything that `status` and `why` show. Writes nothing.
///
/// # Errors
/// When the bundle cannot be read, or no base can be named.
pub(crate) fn look(session: &Session, spec: &SpecId) -> Result<Look, Failure> {
    let (bundle, texts) = read_bundle(&session.world, spec)?;
    let request = session.request(spec.clone(), true);
    let survey = as_placed(&bundle, &texts, survey(&session.world, &request, &bundle)?);
    let gate = is_open(&bundle).then(|| gate::compare(&session.world, spec, &survey.evidence.base, &texts));
    let Preview { next, set_aside } = match &gate {
        Some(Ok(signed)) => preview(&session.world, &request, &survey, signed),
        Some(Err(_)) | None => Preview {
            next: request.next(&survey.graph, &survey.state),
            set_aside: BTreeMap::new(),
        },
    };
    let closed = gate.and_then(Result::err);
    let stopped = if !is_open(&bundle) {
        Some(match bundle.status {
            Status::Draft => "the spec is a Draft".to_owned(),
            Status::Ready | Status::Active | Status::Done | Status::Retired | Status::Superseded => {
                format!("the spec is {}", bundle.status)
            }
        })
    } else if let Some(closed) = &closed {
        Some(closed.to_string())
    } else {
        let wanted = intend(
            |unit| request.name_of(unit),
            &request.selection(&survey.graph, &survey.state),
            &BTreeSet::new(),
        );
        match wanted {
            Err(NoDispatch::Idle(full @ (IdleReason::AtCap { .. } | IdleReason::Paused))) => Some(full.to_string()),
            // Where nothing is ready each task says why.
            Err(NoDispatch::Idle(_) | NoDispatch::Hold(_) | NoDispatch::Halt(_)) | Ok(_) => None,
        }
    };
    Ok(Look {
        remains: remains::look(&session.world, &survey),
        bundle,
        survey,
        closed,
        next,
        set_aside,
        stopped,
    })
}

/// Returns the survey of a bundle of format version 1 as the next step leaves it, which first puts each block where the
/// evidence says (`contract/core.md §8.2`). What cannot be placed stays as it is.
fn as_placed(bundle: &Bundle, texts: &BundleTexts, survey: Survey) -> Survey {
    if bundle.version == FormatVersion::Two || !is_open(bundle) {
        return survey;
    }
    let placed = place(texts, &survey)
        .ok()
        .filter(|placed| !placed.files.is_empty())
        .and_then(|placed| whole_bundle(&bundle.spec, BundleFiles::from(placed.texts)).ok());
    let Some((placed, _)) = placed else {
        return survey;
    };
    let graph = placed.graph();
    Survey {
        state: derive(&graph, &survey.evidence),
        graph,
        evidence: survey.evidence,
    }
}

/// Returns whether tasks of the bundle may be dispatched, if its sign-off holds.
fn is_open(bundle: &Bundle) -> bool {
    matches!(bundle.status, Status::Ready | Status::Active)
}

/// What is shown of one task.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct TaskView {
    pub(crate) id: TaskId,
    pub(crate) title: String,
    /// The state in a word.
    pub(crate) state: &'static str,
    /// What decided, or what is missing.
    pub(crate) detail: String,
    /// When what decided came to be.
    pub(crate) at: Option<Timestamp>,
    /// Its age; negative for what lies in the future.
    age_seconds: Option<i64>,
    /// What a person can do.
    pub(crate) hint: Option<String>,
    pub(crate) decided_by: Option<&'static str>,
    /// The commit that shows that it has landed.
    commit: Option<CommitId>,
    /// The processes that work in its worktree although no worker holds it.
    occupants: Vec<String>,
    /// A worker still lives, although the task has landed.
    worker_still_running: bool,
    dependencies: Vec<TaskId>,
    /// The dependencies that have not landed.
    needs: Vec<TaskId>,
    parked: Option<&'static str>,
    /// Why it is not dispatched; nothing for what has landed and what is next.
    pub(crate) not_dispatched: Option<String>,
    pull_request: Option<Value>,
}

/// Returns what is shown of a task of the bundle.
pub(crate) fn task(look: &Look, node: &TaskNode, report: &TaskReport) -> TaskView {
    let survey = &look.survey;
    let state = word(&survey.state, &node.id);
    let (commit, needs) = match &report.state {
        TaskState::Landed { commit } => (Some(commit.clone()), Vec::new()),
        TaskState::Blocked { needs } => (None, needs.clone()),
        TaskState::InProgress(_) | TaskState::Unknown(_) | TaskState::Ready => (None, Vec::new()),
    };
    let is_parked = state == "parked";
    let remains = look.remains.get(&node.id).cloned().unwrap_or_default();
    let (detail, mut hint) = remains.told(
        detail(survey, &node.id, report),
        hint(&look.bundle.spec, &node.id, report),
    );
    if let Some(reason) = set_aside(look, &node.id, report) {
        hint = reason.remedy();
    }
    TaskView {
        id: node.id.clone(),
        title: node.title.clone(),
        state,
        detail,
        at: report.at.filter(|_| !is_parked),
        age_seconds: report
            .at
            .filter(|_| !is_parked)
            .map(|at| survey.evidence.now.seconds_since(at)),
        hint,
        decided_by: report.decided_by.map(Row::name),
        commit,
        occupants: remains.occupants,
        worker_still_running: report.worker_still_running,
        dependencies: node.dependencies.clone(),
        needs,
        parked: report.parked.as_ref().map(|parking| parking.place.section()),
        not_dispatched: not_dispatched(look, &node.id, report),
        pull_request: pull_request_of(&node.id, &survey.evidence).map(pull_request),
    }
}

/// What a person can do. A claim cleared would not give a task back that is parked: putting it back clears the claim too.
fn hint(spec: &SpecId, task: &TaskId, report: &TaskReport) -> Option<String> {
    match (&report.state, &report.parked) {
        (TaskState::InProgress(_), Some(parking)) if parking.place.is_a_persons() => {
            let unpark = format!("orchestrate unpark {spec} {task}");
            (!parking.note.contains(&unpark)).then_some(unpark)
        }
        (
            TaskState::Landed { .. }
            | TaskState::InProgress(_)
            | TaskState::Unknown(_)
            | TaskState::Ready
            | TaskState::Blocked { .. },
            _,
        ) => report.hint(),
    }
}

/// What decided, or what is missing.
fn detail(survey: &Survey, task: &TaskId, report: &TaskReport) -> String {
    if let (TaskState::Landed { .. }, Some(row)) = (&report.state, report.decided_by) {
        let running = if report.worker_still_running {
            ", a worker still runs"
        } else {
            ""
        };
        return format!("{}{running}", landed_by(report, row));
    }
    match &report.parked {
        Some(parking) => parking.words(),
        None => match &report.state {
            TaskState::Unknown(why) => why.to_string(),
            TaskState::Ready => String::new(),
            TaskState::Landed { .. } | TaskState::InProgress(_) | TaskState::Blocked { .. } => {
                waits_for(&survey.state, task).unwrap_or_default()
            }
        },
    }
}

fn landed_by(report: &TaskReport, deciding: Row) -> String {
    let found = report.rows.iter().find(|(row, _)| *row == deciding);
    match found {
        Some((_, Answer::Yes(Finding::Landed { detail, .. }))) => detail.clone(),
        Some((_, Answer::Yes(Finding::InProgress(_)) | Answer::No(_) | Answer::Undone { .. } | Answer::Unknown(_)))
        | None => deciding.name().to_owned(),
    }
}

/// Returns what stands in the way of a task that is ready: of it alone, or of the pair that it belongs to.
fn set_aside<'a>(look: &'a Look, task: &TaskId, report: &TaskReport) -> Option<&'a NoDispatch> {
    let is_ready = report.parked.is_none() && report.state == TaskState::Ready;
    let mut units = look
        .set_aside
        .iter()
        .filter(|(unit, _)| is_ready && unit.contains(task));
    units.next().map(|(_, reason)| reason)
}

fn not_dispatched(look: &Look, task: &TaskId, report: &TaskReport) -> Option<String> {
    match (&report.state, &report.parked) {
        (TaskState::Landed { .. }, _) => None,
        (_, Some(parking)) => Some(format!("parked: {}", parking.words())),
        (TaskState::Ready, None) => match (&look.stopped, &look.next) {
            (Some(stopped), _) => Some(stopped.clone()),
            (None, Some(next)) if next.unit().contains(task) => None,
            (None, next) => match (set_aside(look, task, report), next) {
                (Some(reason), _) => Some(format!("set aside: {reason}")),
                (None, next) => next.as_ref().map(|next| format!("{} comes first", next.unit())),
            },
        },
        (TaskState::InProgress(_) | TaskState::Unknown(_) | TaskState::Blocked { .. }, None) => {
            waits_for(&look.survey.state, task)
        }
    }
}

/// Returns a text with the age of its evidence.
pub(crate) fn aged(text: &str, at: Option<Timestamp>, now: Timestamp) -> String {
    match at {
        Some(at) => format!("{text}, {}", at.age_at(now)),
        None => text.to_owned(),
    }
}

fn pull_request(found: &PullRequest) -> Value {
    let (state, draft, commit) = match &found.state {
        PullRequestState::Open { draft } => ("open", *draft, None),
        PullRequestState::Merged(commit) => ("merged", false, commit.as_ref()),
        PullRequestState::Closed => ("closed", false, None),
    };
    json!({
        "number": found.number, "url": found.shown.url, "state": state, "draft": draft, "checks": found.checks.word(),
        "base": found.base, "head": found.head, "commit": commit, "manner": found.shown.manner.map(MergeManner::word),
        "created": found.shown.created, "updated": found.shown.updated, "merged": found.shown.merged,
    })
}

/// What was read, and how old it is, for machines.
pub(crate) fn sources(evidence: &Evidence) -> Value {
    let base = &evidence.base;
    let source = match base.source {
        BaseSource::Environment => "environment",
        BaseSource::Configuration => "configuration",
        BaseSource::OriginHead => "origin-head",
        BaseSource::RemoteHead => "remote-head",
        BaseSource::OnlyCandidate => "only-candidate",
    };
    let history = match &evidence.history {
        Observed::Known(history) => json!({
            "walked": history.walked, "refused": history.refused,
            "incomplete": history.incomplete.as_ref().map(ToString::to_string),
        }),
        Observed::Absent(why) | Observed::Unknown(why) => json!({ "unknown": why.reason, "hint": why.hint }),
    };
    let forge = match &evidence.pull_requests {
        Observed::Known(answer) => json!({
            "answered": true, "repository": answer.repository, "requests": answer.requests, "heads": heads(answer),
            "asked": answer.asked, "age_seconds": evidence.now.seconds_since(answer.asked),
        }),
        Observed::Absent(why) => json!({ "answered": false, "requests": 0, "why": why.reason }),
        Observed::Unknown(why) => json!({ "answered": false, "unknown": why.reason, "hint": why.hint }),
    };
    json!({
        "base": { "name": base.name, "commit": base.commit, "counterpart": base.counterpart, "source": source },
        "history": history, "forge": forge,
    })
}

/// What was read, and how old it is, in a line.
pub(crate) fn sources_line(evidence: &Evidence) -> String {
    let base = &evidence.base;
    let mut parts = vec![format!("base {} at {}", base.name, base.commit.short())];
    if let Observed::Known(history) = &evidence.history {
        let missing = if history.incomplete.is_some() {
            ", more are missing"
        } else {
            ""
        };
        parts.push(format!("{} walked{missing}", count(history.walked, "commit")));
    }
    parts.push(match &evidence.pull_requests {
        Observed::Known(answer) => format!(
            "{} to {} for {}, {}",
            count(answer.requests, "request"),
            answer.repository,
            count(heads(answer), "head"),
            answer.asked.ago_at(evidence.now)
        ),
        Observed::Absent(why) => format!("no request: {why}"),
        Observed::Unknown(_) => "no answer from the forge".to_owned(),
    });
    parts.join(" · ")
}

/// How many heads were asked for.
fn heads(answer: &orchestrate_core::pull_request::PullRequests) -> usize {
    let asked = answer.by_unit.values();
    asked.filter(|found| !matches!(found, Observed::Absent(_))).count() + answer.beside.len()
}

/// Adds the members of one object to another.
pub(crate) fn extend(value: &mut Value, more: Value) {
    if let (Value::Object(object), Value::Object(more)) = (value, more) {
        object.extend(more);
    }
}
