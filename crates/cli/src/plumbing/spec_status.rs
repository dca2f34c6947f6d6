//! `spec-status <spec-dir>` (`contract/core.md §9.2`): the status of a bundle and of its tasks, for people.

use camino::Utf8Path;
use orchestrate_core::completion::{Completion, completion};
use orchestrate_core::derive::{TaskReport, TaskState};
use orchestrate_core::evidence::Evidence;
use orchestrate_core::graph::{Parking, ParkingPlace};
use orchestrate_core::identifier::{TaskId, printable};
use orchestrate_core::observed::Observed;
use orchestrate_spec::{Bundle, FormatVersion, Status};
use orchestrate_tower::preflight::read_bundle;
use orchestrate_tower::step::{Survey, survey};

use super::{FAIL_CLOSED, open, state};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;

/// The evidence could not be read: no state is claimed.
const DEGRADED: u8 = 3;

pub(crate) fn run(directory: &Utf8Path, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    let (session, spec) = open(directory, environment, printer)?;
    let refuse = |failure: Failure| failure.with_exit(FAIL_CLOSED);
    let (bundle, _) = read_bundle(&session.world, &spec).map_err(|reasons| refuse(reasons.into()))?;
    printer.line(&format!("spec: {spec}"));
    printer.line(&format!("format-version: {}", bundle.version));
    let is_whole_report = match bundle.status {
        Status::Draft | Status::Retired | Status::Superseded => true,
        Status::Ready | Status::Active | Status::Done => false,
    };
    if is_whole_report {
        printer.line(&format!(
            "stored status: {} (no execution claim; the stored state is the whole report)",
            bundle.status
        ));
        return Ok(0);
    }
    printer.line(&format!("stored status: {}", bundle.status));
    if bundle.tasks.is_empty() {
        printer.line("no tasks: the bundle defines no task blocks");
        printer.line(&format!(
            "bundle status: {} (stored; no tasks — never derives Done)",
            bundle.status
        ));
        return Ok(0);
    }
    let survey = survey(&session.world, &session.request(spec, true), &bundle).map_err(|fault| refuse(fault.into()))?;
    if let Some(why) = state::degraded(&survey) {
        print_degraded(&survey, &why, printer);
        return Ok(DEGRADED);
    }
    print_tasks(&bundle, &survey, printer);
    print_notes(&bundle, &survey, printer);
    if bundle.status == Status::Ready {
        printer.line(&format!("bundle status: {} (derived)", derived(&survey)));
    }
    Ok(0)
}

fn print_degraded(survey: &Survey, why: &str, printer: &mut Printer) {
    printer.line(&format!("spec-status: transient evidence failure — {why}"));
    printer.line("the state of the tasks is not shown: what could not be read may have landed; ask again later");
    for (task, parking) in &survey.graph.parked {
        if let Some(class) = class(parking.place) {
            printer.line(&format!(
                "parked: task {task} {class} — {}",
                without_dash(&parking.note)
            ));
        }
    }
}

fn print_tasks(bundle: &Bundle, survey: &Survey, printer: &mut Printer) {
    for task in &survey.graph.tasks {
        let Some(report) = survey.state.tasks.get(&task.id) else {
            continue;
        };
        let (word, evidence) = state::words(report);
        match persons_parking(report) {
            Some((class, parking)) => {
                let why = match bundle.version {
                    FormatVersion::One => "(parked)".to_owned(),
                    FormatVersion::Two => format!("(bullet: {})", parking.note),
                };
                printer.line(&format!("task {} {class} {why}", task.id));
                if word == "completed" {
                    printer.line(&format!(
                        "anomaly: task {} is parked ({class}) but derives completed ({evidence})",
                        task.id
                    ));
                }
            }
            None => {
                let merged = merged(&task.id, report, &survey.evidence);
                printer.line(&format!("task {} {word}{merged} ({evidence})", task.id));
            }
        }
    }
}

fn merged(task: &TaskId, report: &TaskReport, evidence: &Evidence) -> String {
    match completion(task, report, evidence) {
        Some(Completion {
            pull_request: Some(number),
            day,
        }) => format!(" · PR #{number} merged {day}"),
        Some(Completion {
            pull_request: None,
            day,
        }) => format!(" · merged {day}"),
        None => String::new(),
    }
}

fn print_notes(bundle: &Bundle, survey: &Survey, printer: &mut Printer) {
    for (task, report) in &survey.state.tasks {
        if state::contradicts(report, task, survey) {
            printer.line(&format!("note: task {task}: {}", state::CONTRADICTION));
        }
    }
    for task in &bundle.tasks {
        if let Some(text) = &task.malformed_for_the_engine {
            printer.line(&format!(
                "note: task {}: the reference cannot read its dependencies: {}",
                task.id,
                printable(text)
            ));
        }
    }
    if let Observed::Known(history) = &survey.evidence.history {
        for value in &history.refused {
            printer.line(&format!("note: refused trailer value {}", printable(value)));
        }
    }
}

/// Returns the contract's word for a place where only people park something.
const fn class(place: ParkingPlace) -> Option<&'static str> {
    match place {
        ParkingPlace::AwaitingInput => Some("awaiting-input"),
        ParkingPlace::Deferred => Some("deferred"),
        ParkingPlace::OutOfScope => Some("out-of-scope"),
        ParkingPlace::InProgress | ParkingPlace::Completed | ParkingPlace::Elsewhere => None,
    }
}

fn persons_parking(report: &TaskReport) -> Option<(&'static str, &Parking)> {
    let parking = report.parked.as_ref()?;
    Some((class(parking.place)?, parking))
}

fn without_dash(note: &str) -> &str {
    note.strip_prefix('—').map_or(note, str::trim_start)
}

/// Done when nothing is pending, Active when something has moved. Deferred tasks and those out of scope do not count.
fn derived(survey: &Survey) -> Status {
    let (mut tasks, mut pending, mut progress) = (0_usize, false, false);
    for report in survey.state.tasks.values() {
        match persons_parking(report).map(|(_, parking)| parking.place) {
            Some(ParkingPlace::Deferred | ParkingPlace::OutOfScope) => continue,
            Some(ParkingPlace::AwaitingInput) => pending = true,
            Some(ParkingPlace::InProgress | ParkingPlace::Completed | ParkingPlace::Elsewhere) | None => {
                match &report.state {
                    TaskState::Landed { .. } => progress = true,
                    TaskState::InProgress(_) => (pending, progress) = (true, true),
                    TaskState::Unknown(_) | TaskState::Ready | TaskState::Blocked { .. } => pending = true,
                }
            }
        }
        tasks += 1;
    }
    match (tasks > 0 && !pending, progress) {
        (true, _) => Status::Done,
        (false, true) => Status::Active,
        (false, false) => Status::Ready,
    }
}
