//! `orchestrate status [SPEC]`: each task's state, the evidence that decided it and its age, and what it waits for.

mod table;

use std::collections::BTreeMap;

use orchestrate_core::exit;
use orchestrate_core::plan::NoDispatch;
use orchestrate_core::select::{Choice, Company};
use orchestrate_spec::Status;
use serde_json::json;

use crate::arguments::Format;
use crate::commands::report;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::layout::{Style, unbroken};
use crate::printer::Printer;
use crate::session::Session;
use crate::task_view::{self, Look, TaskView, look};

/// What of the tasks is printed, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    /// Every task, however many there are.
    pub(crate) all: bool,
    /// ASCII characters only.
    pub(crate) ascii: bool,
}

/// Prints the status. Degraded evidence is shown, and is no failure.
pub(crate) fn run(
    spec: Option<&str>,
    extent: Extent,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let session = Session::open(environment, &environment.directory, printer)?;
    let spec = session.resolve_spec(spec)?;
    let look = look(&session, &spec)?;
    let tasks: Vec<TaskView> = look
        .survey
        .graph
        .tasks
        .iter()
        .filter_map(|node| Some(task_view::task(&look, node, look.survey.state.tasks.get(&node.id)?)))
        .collect();
    match printer.format() {
        Format::Json => printer.json(&as_json(&look, &tasks)),
        Format::Human => {
            for line in lines(&look, &tasks, extent, Style::of_output(extent.ascii)) {
                printer.line(&line);
            }
        }
    }
    Ok(exit::DONE)
}

fn lines(look: &Look, tasks: &[TaskView], extent: Extent, style: Style) -> Vec<String> {
    let mut lines = style.hanging("", &headline(look, tasks), 2);
    if !tasks.is_empty() {
        lines.push(String::new());
    }
    let (shown, hidden) = table::select(tasks, extent.all);
    lines.extend(table::lines(&shown, look.survey.evidence.now, style));
    if let Some(hidden) = hidden {
        let command = format!("orchestrate status specs/{} --all", look.bundle.spec);
        lines.extend(style.hanging("  ", &format!("… and {hidden}: {command}"), 4));
    }
    lines.push(String::new());
    lines.extend(style.hanging("", &next_line(look), 2));
    if let Some(remedy) = look.closed.as_ref().and_then(NoDispatch::remedy) {
        lines.extend(style.hanging("", &format!("→ {remedy}"), 2));
    }
    lines.extend(style.hanging("", &task_view::sources_line(&look.survey.evidence), 2));
    lines
}

/// The states that the first line counts, under the words in which it does.
const COUNTED: [(&str, &[&str]); 6] = [
    ("running", &["running"]),
    ("submitted", &["submitted"]),
    ("in progress", &["in progress", "dispatched"]),
    ("for a person", &["held"]),
    ("unknown", &["unknown"]),
    ("parked", &["parked"]),
];

fn headline(look: &Look, tasks: &[TaskView]) -> String {
    let count = |wanted: &[&str]| tasks.iter().filter(|task| wanted.contains(&task.state)).count();
    let mut parts = vec![
        look.bundle.spec.to_string(),
        look.bundle.status.to_string(),
        format!("{} of {} landed", count(&["landed"]), tasks.len()),
    ];
    for (label, states) in COUNTED {
        let number = count(states);
        if number > 0 {
            parts.push(unbroken(&format!("{number} {label}")));
        }
    }
    parts.join(" · ")
}

fn next_line(look: &Look) -> String {
    let survey = &look.survey;
    let path: Vec<String> = survey.graph.critical_path().iter().map(ToString::to_string).collect();
    let open = survey.graph.tasks.len() - survey.state.landed().len();
    let next = match (&look.next, &look.stopped) {
        (Some(_), Some(_)) if look.bundle.status == Status::Draft => {
            format!(
                "nothing, the spec is a Draft (orchestrate sign specs/{})",
                look.bundle.spec
            )
        }
        (Some(choice), Some(stopped)) => match &look.closed {
            Some(_) => format!("nothing, {stopped}"),
            None if matches!(look.bundle.status, Status::Ready | Status::Active) => {
                format!("{}, but not now: {stopped}", choice.unit())
            }
            None => format!("nothing, {stopped}"),
        },
        (Some(choice), None) => next_unit(choice),
        (None, _) if open == 0 => "nothing, every task has landed".to_owned(),
        (None, None) if look.sets_aside() => "nothing, what is ready is set aside".to_owned(),
        (None, _) => "nothing is ready".to_owned(),
    };
    format!("next: {next} · critical path {}", path.join(" → "))
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

fn as_json(look: &Look, tasks: &[TaskView]) -> serde_json::Value {
    let survey = &look.survey;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for task in tasks {
        *counts.entry(task.state).or_default() += 1;
    }
    let mut value = json!({
        "schema": 1, "spec": look.bundle.spec, "status": look.bundle.status.to_string(),
        "gathered": survey.evidence.now, "counts": counts, "next": look.next.as_ref().map(Choice::unit), "stopped": look.stopped,
        "closed": look.closed.as_ref().map(ToString::to_string),
        "remedy": look.closed.as_ref().and_then(NoDispatch::remedy),
        "critical_path": survey.graph.critical_path(), "tasks": tasks,
    });
    task_view::extend(&mut value, task_view::sources(&survey.evidence));
    value
}
