//! A step's report, for people and for machines. The same value renders both.

use orchestrate_core::exit;
use orchestrate_core::identifier::TaskId;
use orchestrate_core::plan::{HaltReason, IdleReason, NoDispatch};
use orchestrate_core::record::dispatch::LaunchManner;
use orchestrate_core::select::Choice;
use orchestrate_core::world::Spawned;
use orchestrate_tower::step::{Dispatched, StepOutcome, StepReport};
use serde_json::{Value, json};

use crate::arguments::Format;
use crate::printer::Printer;

/// Prints the report of one step.
pub(crate) fn print(report: &StepReport, printer: &mut Printer) {
    for note in &report.notes {
        printer.talk(&format!("note: {note}"));
    }
    match printer.format() {
        Format::Json => printer.json(&as_json(report)),
        Format::Human => {
            for line in lines(&report.outcome) {
                printer.line(&line);
            }
        }
    }
}

/// Returns the exit code of a step (architecture §5).
pub(crate) fn exit_code(report: &StepReport, detailed: bool) -> u8 {
    match &report.outcome {
        StepOutcome::Dispatched(_) | StepOutcome::WouldDispatch { .. } => exit::DONE,
        StepOutcome::Nothing(NoDispatch::Halt(reasons)) => {
            let machine = |reason: &HaltReason| matches!(reason, HaltReason::Machine(_));
            if reasons.iter().all(machine) {
                exit::FAILED
            } else {
                exit::HALTED
            }
        }
        StepOutcome::Nothing(NoDispatch::Idle(_) | NoDispatch::Hold(_)) if !detailed => exit::DONE,
        StepOutcome::Nothing(NoDispatch::Idle(IdleReason::AtCap { .. } | IdleReason::Paused)) => exit::CAPPED,
        StepOutcome::Nothing(NoDispatch::Idle(IdleReason::Finished { .. } | IdleReason::NothingReady { .. })) => {
            exit::IDLE
        }
        StepOutcome::Nothing(NoDispatch::Hold(_)) => exit::HELD,
    }
}

fn lines(outcome: &StepOutcome) -> Vec<String> {
    match outcome {
        StepOutcome::Dispatched(dispatched) => dispatched_lines(dispatched),
        StepOutcome::WouldDispatch { intent, base } => vec![
            format!("would dispatch {} task {}", intent.name.spec, intent.name.unit),
            format!(
                "  branch    {} at {} ({})",
                intent.name.branch(),
                base.commit.short(),
                base.name
            ),
            why_line(&intent.choice),
            "  nothing was written: no lock, no branch, no worktree".to_owned(),
        ],
        StepOutcome::Nothing(NoDispatch::Idle(IdleReason::NothingReady { waiting })) => {
            let mut lines = vec!["nothing to dispatch: nothing is ready".to_owned()];
            lines.extend(
                waiting
                    .iter()
                    .map(|(task, what)| format!("  {:<5} {what}", task.as_str())),
            );
            lines
        }
        StepOutcome::Nothing(NoDispatch::Idle(reason)) => vec![format!("nothing to dispatch: {reason}")],
        StepOutcome::Nothing(NoDispatch::Hold(reason)) => {
            with_hint(format!("held: {reason}; nothing was dispatched"), reason.remedy())
        }
        StepOutcome::Nothing(NoDispatch::Halt(reasons)) => reasons.iter().flat_map(halt_lines).collect(),
    }
}

fn halt_lines(reason: &HaltReason) -> Vec<String> {
    if let HaltReason::Machine(fault) = reason {
        with_hint(format!("error: {fault}"), fault.hint.clone())
    } else if let HaltReason::BundleInvalid { findings } = reason {
        let mut lines = vec!["halted: the bundle cannot be read".to_owned()];
        lines.extend(findings.iter().map(|finding| format!("  {finding}")));
        with_hint_after(lines, reason.remedy())
    } else {
        with_hint(format!("halted: {reason}"), reason.remedy())
    }
}

fn with_hint(line: String, hint: Option<String>) -> Vec<String> {
    with_hint_after(vec![line], hint)
}

fn with_hint_after(mut lines: Vec<String>, hint: Option<String>) -> Vec<String> {
    lines.extend(hint.map(|hint| format!("hint: {hint}")));
    lines
}

fn dispatched_lines(dispatched: &Dispatched) -> Vec<String> {
    let Dispatched {
        record,
        choice,
        spawned,
    } = dispatched;
    let name = record.name();
    let mut lines = vec![
        format!("dispatched {} task {}", record.spec, record.unit),
        format!(
            "  branch    {} at {} ({})",
            name.branch(),
            record.start.short(),
            record.base
        ),
        format!(
            "  worktree  .claude/worktrees/{0}        open: claude --worktree {0}",
            name.worktree()
        ),
        format!("  worker    {}", worker_line(dispatched)),
        why_line(choice),
    ];
    if let (LaunchManner::Printed, Spawned::Refused { .. }) = (record.launch.manner, spawned) {
        lines.push(String::new());
        lines.push("Start it by pasting this; pasting it twice is refused:".to_owned());
        lines.push(format!(
            "  orchestrate plumbing run-worker {} {} --attempt {}",
            record.spec, record.unit, record.attempt
        ));
    }
    lines
}

fn worker_line(dispatched: &Dispatched) -> String {
    let backend = &dispatched.record.launch.backend;
    match (&dispatched.spawned, dispatched.record.launch.manner) {
        (Spawned::Started { pid }, _) => format!("{backend}, pid {pid}"),
        (Spawned::Ended { status }, _) => format!("{backend}, ran here and ended: {status}"),
        (Spawned::Refused { .. }, LaunchManner::Printed) => format!("{backend}: a person starts it"),
        (Spawned::Refused { why }, LaunchManner::Background | LaunchManner::Foreground) => {
            format!("{backend}, not started: {why}")
        }
    }
}

fn why_line(choice: &Choice) -> String {
    let chain: Vec<&str> = choice.chain.iter().map(TaskId::as_str).collect();
    let also = if choice.also_ready.is_empty() {
        "none".to_owned()
    } else {
        choice
            .also_ready
            .iter()
            .map(TaskId::as_str)
            .collect::<Vec<_>>()
            .join(", ")
    };
    format!(
        "  why {:<5} head of the critical path {} ({}); also ready: {also}",
        choice.task.as_str(),
        chain.join(" → "),
        choice.weight
    )
}

fn as_json(report: &StepReport) -> Value {
    let mut value = match &report.outcome {
        StepOutcome::Dispatched(dispatched) => dispatched_json(dispatched),
        StepOutcome::WouldDispatch { intent, base } => json!({
            "outcome": "would-dispatch", "spec": intent.name.spec, "unit": intent.name.unit,
            "branch": intent.name.branch(), "start": base.commit, "base": base.name, "why": choice_json(&intent.choice),
        }),
        StepOutcome::Nothing(NoDispatch::Idle(reason)) => {
            let kind = match reason {
                IdleReason::Finished { .. } => "finished",
                IdleReason::NothingReady { .. } => "nothing-ready",
                IdleReason::AtCap { .. } => "at-cap",
                IdleReason::Paused => "paused",
            };
            json!({ "outcome": "idle", "kind": kind, "reason": reason.to_string() })
        }
        StepOutcome::Nothing(NoDispatch::Hold(reason)) => {
            json!({ "outcome": "held", "reason": reason.to_string(), "hint": reason.remedy() })
        }
        StepOutcome::Nothing(NoDispatch::Halt(reasons)) => {
            let reasons: Vec<Value> = reasons
                .iter()
                .map(|reason| json!({ "reason": reason.to_string(), "hint": reason.remedy() }))
                .collect();
            json!({ "outcome": "halted", "reasons": reasons })
        }
    };
    if let Some(object) = value.as_object_mut() {
        object.insert("schema".to_owned(), json!(1));
        object.insert("notes".to_owned(), json!(report.notes));
    }
    value
}

fn dispatched_json(dispatched: &Dispatched) -> Value {
    let Dispatched {
        record,
        choice,
        spawned,
    } = dispatched;
    let worker = match spawned {
        Spawned::Started { pid } => json!({ "state": "started", "pid": pid }),
        Spawned::Ended { status } => json!({ "state": "ended", "status": status }),
        Spawned::Refused { why } => json!({ "state": "not-started", "why": why }),
    };
    json!({
        "outcome": "dispatched", "spec": record.spec, "unit": record.unit, "branch": record.name().branch(),
        "start": record.start, "base": record.base, "worktree": format!(".claude/worktrees/{}", record.name().worktree()),
        "backend": record.launch.backend, "attempt": record.attempt, "worker": worker, "why": choice_json(choice),
    })
}

fn choice_json(choice: &Choice) -> Value {
    json!({ "chain": choice.chain, "weight_days": choice.weight.to_string(), "also_ready": choice.also_ready })
}
