//! `orchestrate status [SPEC]`: each task's state, the evidence that decided it, and what it waits for.

use orchestrate_core::derive::{Answer, Finding, Row, TaskReport, TaskState};
use orchestrate_core::exit;
use orchestrate_core::graph::TaskNode;
use orchestrate_core::identifier::TaskId;
use orchestrate_core::plan::{NoDispatch, waits_for, word};
use orchestrate_core::select::{Choice, Company};
use orchestrate_spec::{Bundle, Status};
use orchestrate_tower::gate;
use orchestrate_tower::preflight::read_bundle;
use orchestrate_tower::step::{Survey, survey};
use serde_json::json;

use crate::arguments::Format;
use crate::commands::report;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::Session;

/// Prints the status. Degraded evidence is shown, and is no failure.
pub(crate) fn run(spec: Option<&str>, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    let session = Session::open(environment, &environment.directory, printer)?;
    let spec = session.resolve_spec(spec)?;
    let (bundle, texts) = read_bundle(&session.world, &spec)?;
    let request = session.request(spec.clone(), true);
    let survey = survey(&session.world, &request, &bundle)?;
    let next = request.next(&survey.graph, &survey.state);
    let closed = is_open(&bundle)
        .then(|| gate::compare(&session.world, &spec, &survey.evidence.base, &texts))
        .and_then(Result::err);
    match printer.format() {
        Format::Json => print_json(&bundle, &survey, closed.as_ref(), printer),
        Format::Human => print_text(&bundle, &survey, next.as_ref(), closed.as_ref(), printer),
    }
    Ok(exit::DONE)
}

/// Returns whether tasks of the bundle may be dispatched, if its sign-off holds.
fn is_open(bundle: &Bundle) -> bool {
    matches!(bundle.status, Status::Ready | Status::Active)
}

/// `closed` is why the sign-off gate would stop a step.
fn print_text(
    bundle: &Bundle,
    survey: &Survey,
    next: Option<&Choice>,
    closed: Option<&NoDispatch>,
    printer: &mut Printer,
) {
    printer.line(&headline(bundle, survey));
    printer.line("");
    let id_width = widest(survey, |task| task.id.as_str().chars().count());
    let title_width = widest(survey, |task| task.title.chars().count()).min(40);
    for task in &survey.graph.tasks {
        let Some(report) = survey.state.tasks.get(&task.id) else {
            continue;
        };
        let title = cut(&task.title, title_width);
        let state = word(&survey.state, &task.id);
        let detail = detail(survey, &task.id, report);
        printer.line(&format!(
            "  {:<id_width$}  {title:<title_width$}  {state:<11}  {detail}",
            task.id.as_str()
        ));
        if let Some(hint) = report.hint() {
            printer.line(&format!(
                "  {:<id_width$}  {:<title_width$}  {:<11}  → {hint}",
                "", "", ""
            ));
        }
    }
    printer.line("");
    printer.line(&next_line(bundle, survey, next, closed));
    if let Some(remedy) = closed.and_then(NoDispatch::remedy) {
        printer.line(&format!("→ {remedy}"));
    }
}

fn headline(bundle: &Bundle, survey: &Survey) -> String {
    let count = |wanted: &[&str]| {
        survey
            .graph
            .tasks
            .iter()
            .filter(|task| wanted.contains(&word(&survey.state, &task.id)))
            .count()
    };
    let mut parts = vec![
        bundle.spec.to_string(),
        bundle.status.to_string(),
        format!("{} of {} landed", count(&["landed"]), survey.graph.tasks.len()),
    ];
    for (states, label) in [
        (&["running"][..], "running"),
        (&["in progress", "dispatched"][..], "in progress"),
        (&["held", "unknown"][..], "for a person"),
        (&["parked"][..], "parked"),
    ] {
        let number = count(states);
        if number > 0 {
            parts.push(format!("{number} {label}"));
        }
    }
    parts.join(" · ")
}

fn next_line(bundle: &Bundle, survey: &Survey, next: Option<&Choice>, closed: Option<&NoDispatch>) -> String {
    let path: Vec<String> = survey.graph.critical_path().iter().map(ToString::to_string).collect();
    let open = survey.graph.tasks.len() - survey.state.landed().len();
    let next = match (next, closed) {
        (Some(_), _) if bundle.status == Status::Draft => {
            format!("nothing, the spec is a Draft (orchestrate sign specs/{})", bundle.spec)
        }
        (Some(_), _) if !is_open(bundle) => format!("nothing, the spec is {}", bundle.status),
        (Some(_), Some(closed)) => format!("nothing, {closed}"),
        (Some(choice), None) => next_unit(choice),
        (None, _) if open == 0 => "nothing, every task has landed".to_owned(),
        (None, _) => "nothing is ready".to_owned(),
    };
    format!(
        "next: {next} · critical path {} · base {} at {}",
        path.join(" → "),
        survey.evidence.base.name,
        survey.evidence.base.commit.short()
    )
}

/// The unit that a step would take, and what the configuration has to do with it.
fn next_unit(choice: &Choice) -> String {
    let mut why: Vec<String> = report::preferred(choice).into_iter().collect();
    match &choice.company {
        Company::Alone => {}
        Company::Pair(cohesion) => why.push(format!("one unit by {}", cohesion.source())),
        Company::Refused(reason) => why.push(format!("alone: {reason}")),
    }
    if why.is_empty() {
        choice.unit().to_string()
    } else {
        format!("{} ({})", choice.unit(), why.join("; "))
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
        Some(parking) => format!("{} {}", parking.place.section(), parking.note),
        None => match waits_for(&survey.state, task) {
            Some(waits) if waits != "ready" => waits,
            Some(_) | None => String::new(),
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

fn widest(survey: &Survey, width: impl Fn(&TaskNode) -> usize) -> usize {
    survey.graph.tasks.iter().map(width).max().unwrap_or(0)
}

/// Cuts a title in the middle, and shows that it did.
fn cut(title: &str, width: usize) -> String {
    let characters: Vec<char> = title.chars().collect();
    if characters.len() <= width || width < 3 {
        return title.to_owned();
    }
    let head = width / 2;
    let tail = width - head - 1;
    let start: String = characters.iter().take(head).collect();
    let end: String = characters.iter().skip(characters.len() - tail).collect();
    format!("{start}…{end}")
}

fn print_json(bundle: &Bundle, survey: &Survey, closed: Option<&NoDispatch>, printer: &mut Printer) {
    let tasks: Vec<serde_json::Value> = survey
        .graph
        .tasks
        .iter()
        .filter_map(|task| {
            let report = survey.state.tasks.get(&task.id)?;
            let commit = match &report.state {
                TaskState::Landed { commit } => Some(commit),
                TaskState::InProgress(_) | TaskState::Unknown(_) | TaskState::Ready | TaskState::Blocked { .. } => None,
            };
            Some(json!({
                "id": task.id, "title": task.title, "state": word(&survey.state, &task.id),
                "detail": detail(survey, &task.id, report), "hint": report.hint(),
                "decided_by": report.decided_by.map(Row::name), "commit": commit,
                "dependencies": task.dependencies, "parked": report.parked.as_ref().map(|parking| parking.place.section()),
            }))
        })
        .collect();
    let base = &survey.evidence.base;
    printer.json(&json!({
        "schema": 1, "spec": bundle.spec, "status": bundle.status.to_string(), "gathered": survey.evidence.now,
        "base": { "name": base.name, "commit": base.commit, "counterpart": base.counterpart },
        "closed": closed.map(ToString::to_string), "remedy": closed.and_then(NoDispatch::remedy),
        "critical_path": survey.graph.critical_path(), "tasks": tasks,
    }));
}
