//! `orchestrate why SPEC TASK`: every row of the evidence table with its answer, and the one that decided.

use orchestrate_core::derive::{Answer, Finding, Row, TaskReport, TaskState};
use orchestrate_core::exit;
use orchestrate_core::identifier::{TaskId, quoted};
use orchestrate_tower::sweep::{Outlook, outlook};
use serde_json::{Value, json};

use crate::arguments::Format;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::layout::Style;
use crate::printer::Printer;
use crate::session::Session;
use crate::task_view::{self, Look, TaskView, aged, look};

/// Explains one task.
pub(crate) fn run(
    (spec, task): (&str, &str),
    ascii: bool,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let session = Session::open(environment, &environment.directory, printer)?;
    let spec = session.resolve_spec(Some(spec))?;
    let task = TaskId::parse(task).map_err(|error| Failure::usage(format!("{} is {error}", quoted(task))))?;
    let look = look(&session, &spec)?;
    let node = look.survey.graph.tasks.iter().find(|node| node.id == task);
    let (Some(node), Some(report)) = (node, look.survey.state.tasks.get(&task)) else {
        let known: Vec<&str> = look.survey.graph.tasks.iter().map(|task| task.id.as_str()).collect();
        return Err(Failure::usage(format!("specs/{spec} has no task {task}"))
            .with_hint(format!("its tasks: {}", known.join(", "))));
    };
    let view = task_view::task(&look, node, report);
    let request = session.request(spec.clone(), true);
    let outlook = outlook(&session.world, &request, &look.survey, &task);
    match printer.format() {
        Format::Json => printer.json(&as_json(&look, &view, report, outlook.as_ref())),
        Format::Human => {
            for line in lines(&look, &view, (report, outlook.as_ref()), Style::of_output(ascii)) {
                printer.line(&line);
            }
        }
    }
    Ok(exit::DONE)
}

/// Where the details of the rows begin: two blanks, the widest row's name, two, the widest answer, two.
const DETAILS: usize = 2 + 20 + 2 + 7 + 2;

fn lines(
    look: &Look,
    view: &TaskView,
    (report, outlook): (&TaskReport, Option<&Outlook>),
    style: Style,
) -> Vec<String> {
    let now = look.survey.evidence.now;
    let mut lines = style.hanging("", &headline(look, view, report), 2);
    if let Some(hint) = &view.hint {
        lines.extend(style.hanging("", &format!("→ {hint}"), 2));
    }
    lines.push(String::new());
    for (row, answer) in &report.rows {
        let (said, detail) = said(answer);
        let mark = if report.decided_by == Some(*row) {
            "   ← decides"
        } else {
            ""
        };
        let first = format!("  {:<20}  {said:<7}  ", row.name());
        let detail = format!("{}{mark}", aged(&detail, answer.at(), now));
        lines.extend(style.hanging(&first, &detail, DETAILS));
    }
    if let Some(parking) = &report.parked {
        let first = format!("  {:<20}  {:<7}  ", "parked", "yes");
        lines.extend(style.hanging(&first, &parking.words(), DETAILS));
    }
    if let Some(outlook) = outlook {
        let (said, detail) = match outlook {
            Outlook::Goes => (
                "goes",
                "with the next step: nothing in it is lost, and its branch stays",
            ),
            Outlook::Stays(why) => ("stays", why.as_str()),
        };
        let first = format!("  {:<20}  {said:<7}  ", "worktree");
        lines.extend(style.hanging(&first, detail, DETAILS));
    }
    lines.push(String::new());
    lines.extend(style.hanging("", &task_view::sources_line(&look.survey.evidence), 2));
    lines
}

fn headline(look: &Look, view: &TaskView, report: &TaskReport) -> String {
    let why = match &report.state {
        TaskState::Ready if report.parked.is_none() => match &view.not_dispatched {
            Some(why) => format!("nothing holds it and every dependency has landed; not dispatched: {why}"),
            None => "nothing holds it and every dependency has landed".to_owned(),
        },
        TaskState::Landed { .. }
        | TaskState::Ready
        | TaskState::InProgress(_)
        | TaskState::Unknown(_)
        | TaskState::Blocked { .. } => aged(&view.detail, view.at, look.survey.evidence.now),
    };
    format!("task {} is {}: {why}", view.id, view.state)
}

fn said(answer: &Answer) -> (&'static str, String) {
    match answer {
        Answer::Yes(Finding::Landed { detail, .. }) => ("yes", detail.clone()),
        Answer::Yes(Finding::InProgress(progress)) => ("yes", progress.detail.clone()),
        Answer::No(detail) => ("no", detail.clone()),
        Answer::Undone { landing, by, .. } => ("undone", format!("{landing}, reverted by {}", by.short())),
        Answer::Unknown(why) => ("unknown", why.to_string()),
    }
}

fn hint(answer: &Answer) -> Option<&str> {
    match answer {
        Answer::Yes(Finding::InProgress(progress)) => progress.hint.as_deref(),
        Answer::Unknown(why) => why.hint.as_deref(),
        Answer::Yes(Finding::Landed { .. }) | Answer::No(_) | Answer::Undone { .. } => None,
    }
}

fn as_json(look: &Look, view: &TaskView, report: &TaskReport, outlook: Option<&Outlook>) -> Value {
    let now = look.survey.evidence.now;
    let row = |(row, answer): &(Row, Answer)| {
        let (said, detail) = said(answer);
        json!({
            "row": row.name(), "answer": said, "detail": detail, "decides": report.decided_by == Some(*row),
            "at": answer.at(), "age_seconds": answer.at().map(|at| now.seconds_since(at)), "hint": hint(answer),
        })
    };
    let rows: Vec<Value> = report.rows.iter().map(row).collect();
    let worktree = outlook.map(|outlook| match outlook {
        Outlook::Goes => json!({ "goes": true, "stays": null }),
        Outlook::Stays(why) => json!({ "goes": false, "stays": why }),
    });
    let mut value = json!({
        "schema": 1, "spec": look.bundle.spec, "task": view.id, "gathered": now, "rows": rows, "worktree": worktree,
    });
    task_view::extend(&mut value, json!(view));
    task_view::extend(&mut value, task_view::sources(&look.survey.evidence));
    value
}
