//! `orchestrate why SPEC TASK`: every row of the evidence table with its answer, and the one that decided.

use orchestrate_core::derive::{Answer, Finding, Row, TaskReport, TaskState};
use orchestrate_core::exit;
use orchestrate_core::identifier::{TaskId, printable};
use orchestrate_core::plan::{waits_for, word};
use orchestrate_tower::preflight::read_bundle;
use orchestrate_tower::step::{Survey, survey};
use serde_json::json;

use crate::arguments::Format;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::Session;

/// Explains one task.
pub(crate) fn run(spec: &str, task: &str, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    let session = Session::open(environment, &environment.directory, printer)?;
    let spec = session.resolve_spec(Some(spec))?;
    let task = TaskId::parse(task).map_err(|error| Failure::usage(format!("{:?} is {error}", printable(task))))?;
    let (bundle, _) = read_bundle(&session.world, &spec)?;
    let survey = survey(&session.world, &session.request(spec.clone(), true), &bundle)?;
    let Some(report) = survey.state.tasks.get(&task) else {
        let known: Vec<&str> = survey.graph.tasks.iter().map(|task| task.id.as_str()).collect();
        return Err(Failure::usage(format!("specs/{spec} has no task {task}"))
            .with_hint(format!("its tasks: {}", known.join(", "))));
    };
    match printer.format() {
        Format::Json => printer.json(&as_json(&survey, &task, report)),
        Format::Human => {
            for line in lines(&survey, &task, report) {
                printer.line(&line);
            }
        }
    }
    Ok(exit::DONE)
}

fn lines(survey: &Survey, task: &TaskId, report: &TaskReport) -> Vec<String> {
    let mut lines = vec![headline(survey, task, report), String::new()];
    for (row, answer) in &report.rows {
        let (said, detail) = said(answer);
        let mark = if report.decided_by == Some(*row) {
            "   ← decides"
        } else {
            ""
        };
        lines.push(format!("  {:<20}  {said:<7}  {detail}{mark}", row.name()));
    }
    if let Some(parking) = &report.parked {
        lines.push(format!("  {:<20}  {:<7}  {}", "parked", "yes", parking.place.section()));
    }
    lines
}

fn headline(survey: &Survey, task: &TaskId, report: &TaskReport) -> String {
    let state = word(&survey.state, task);
    let why = match &report.state {
        TaskState::Landed { commit } => format!("shown by {}", commit.short()),
        TaskState::InProgress(progress) => progress.detail.clone(),
        TaskState::Unknown(why) => why.to_string(),
        TaskState::Ready => "nothing holds it and every dependency has landed".to_owned(),
        TaskState::Blocked { .. } => waits_for(&survey.state, task).unwrap_or_default(),
    };
    format!("task {task} is {state}: {why}")
}

fn said(answer: &Answer) -> (&'static str, String) {
    match answer {
        Answer::Yes(Finding::Landed { detail, .. }) => ("yes", detail.clone()),
        Answer::Yes(Finding::InProgress(progress)) => ("yes", progress.detail.clone()),
        Answer::No(detail) => ("no", detail.clone()),
        Answer::Undone { landing, by } => ("undone", format!("{landing}, reverted by {}", by.short())),
        Answer::Unknown(why) => ("unknown", why.to_string()),
    }
}

fn as_json(survey: &Survey, task: &TaskId, report: &TaskReport) -> serde_json::Value {
    let rows: Vec<serde_json::Value> = report
        .rows
        .iter()
        .map(|(row, answer)| {
            let (said, detail) = said(answer);
            json!({ "row": row.name(), "answer": said, "detail": detail, "decides": report.decided_by == Some(*row) })
        })
        .collect();
    json!({
        "schema": 1, "task": task, "state": word(&survey.state, task), "gathered": survey.evidence.now,
        "decided_by": report.decided_by.map(Row::name), "rows": rows,
        "parked": report.parked.as_ref().map(|parking| parking.place.section()),
    })
}
