//! A step's report, for people and for machines. The same value renders both.

use orchestrate_core::exit;
use orchestrate_core::identifier::TaskId;
use orchestrate_core::plan::{HaltReason, IdleReason, NoDispatch, Waiting};
use orchestrate_core::select::{Choice, Company};
use orchestrate_tower::step::{Dispatched, HandOver, StepOutcome, StepReport};
use orchestrate_tower::sweep::{Parked, Swept};
use serde_json::{Value, json};

use crate::arguments::Format;
use crate::commands::step::Advance;
use crate::findings::{self, Paint};
use crate::printer::Printer;

/// Prints the report of one step.
pub(crate) fn print(advance: &Advance, printer: &mut Printer) {
    let report = &advance.report;
    for note in &report.notes {
        printer.talk(&format!("note: {note}"));
    }
    match printer.format() {
        Format::Json => {
            let mut value = as_json(report);
            if let (Some(object), Some(instructions)) = (value.as_object_mut(), &advance.instructions) {
                object.insert("instructions".to_owned(), json!(instructions));
            }
            if let (Some(object), Some(subject)) = (value.as_object_mut(), &advance.committed) {
                object.insert("committed".to_owned(), json!(subject));
            }
            printer.json(&value);
        }
        Format::Human => {
            for line in lines(&report.outcome, advance.committed.as_deref()) {
                printer.line(&line);
            }
            for line in other_halts(report) {
                printer.line(&line);
            }
            if let Some(instructions) = &advance.instructions {
                printer.screen(&format!("\n{instructions}"));
            }
        }
    }
}

/// Returns the exit code of a step (architecture §5).
pub(crate) fn exit_code(report: &StepReport, detailed: bool) -> u8 {
    match &report.outcome {
        StepOutcome::Dispatched(_) | StepOutcome::WouldDispatch { .. } => exit::DONE,
        StepOutcome::Swept(swept) if swept.parked.is_empty() => exit::DONE,
        StepOutcome::Swept(_) => exit::HALTED,
        StepOutcome::Nothing(NoDispatch::Halt(reasons)) => {
            let machine = |reason: &HaltReason| matches!(reason, HaltReason::Machine(_));
            if reasons.iter().all(machine) {
                exit::FAILED
            } else {
                exit::HALTED
            }
        }
        // A unit waits for a person, whatever the others wait for.
        StepOutcome::Nothing(NoDispatch::Idle(_) | NoDispatch::Hold(_)) if !report.waiting.is_empty() => exit::HALTED,
        StepOutcome::Nothing(NoDispatch::Idle(_) | NoDispatch::Hold(_)) if !detailed => exit::DONE,
        StepOutcome::Nothing(NoDispatch::Idle(IdleReason::AtCap { .. } | IdleReason::Paused)) => exit::CAPPED,
        StepOutcome::Nothing(NoDispatch::Idle(IdleReason::Finished { .. } | IdleReason::NothingReady { .. })) => {
            exit::IDLE
        }
        StepOutcome::Nothing(NoDispatch::Hold(_)) => exit::HELD,
    }
}

fn lines(outcome: &StepOutcome, committed: Option<&str>) -> Vec<String> {
    match outcome {
        StepOutcome::Dispatched(dispatched) => dispatched_lines(dispatched),
        StepOutcome::WouldDispatch { intent, start, base } => vec![
            format!("would dispatch {} task {}", intent.name.spec, intent.name.unit),
            format!(
                "  branch    {} at {} ({})",
                intent.name.branch(),
                start.short(),
                base.name
            ),
            why_line(&intent.choice),
            "  nothing was written: no lock, no branch, no worktree".to_owned(),
        ],
        StepOutcome::Swept(swept) => swept_lines(swept, committed),
        StepOutcome::Nothing(NoDispatch::Idle(reason)) => {
            let what = match reason {
                // Each task has a line of its own here.
                IdleReason::NothingReady { .. } => "nothing is ready".to_owned(),
                IdleReason::Finished { .. } | IdleReason::AtCap { .. } | IdleReason::Paused => reason.to_string(),
            };
            let mut lines = vec![format!("nothing to dispatch: {what}")];
            lines.extend(waiting_lines(reason.waiting()));
            lines
        }
        StepOutcome::Nothing(NoDispatch::Hold(reason)) => {
            let mut lines = with_hint(format!("held: {reason}; nothing was dispatched"), reason.remedy());
            lines.extend(waiting_lines(reason.waiting()));
            lines
        }
        StepOutcome::Nothing(NoDispatch::Halt(reasons)) => reasons.iter().flat_map(halt_lines).collect(),
    }
}

/// What each open task waits for, with what a person can do.
fn waiting_lines(waiting: &[Waiting]) -> Vec<String> {
    let mut lines = Vec::new();
    for Waiting { task, what, hint } in waiting {
        lines.push(format!("  {:<5} {what}", task.as_str()));
        lines.extend(hint.as_ref().map(|hint| format!("        → {hint}")));
    }
    lines
}

/// What was written into the bundle, each task with why; what a halt says stands with its hint, as where it is only told.
fn swept_lines(swept: &Swept, committed: Option<&str>) -> Vec<String> {
    let Swept {
        spec,
        placed,
        parked,
        lifted,
        dry_run,
    } = swept;
    let (park, place, put_back) = if *dry_run {
        ("would park", "would bring up to date", "would be put back")
    } else {
        ("parked", "brought up to date", "is put back")
    };
    let mut lines = Vec::new();
    if !placed.is_empty() {
        let files: Vec<&str> = placed.iter().map(|file| file.name()).collect();
        lines.push(format!(
            "{place} in specs/{spec}, by the evidence: {}",
            files.join(", ")
        ));
    }
    for one in lifted {
        lines.push(format!(
            "task {} {put_back}: what halted every task has passed",
            one.task
        ));
        lines.push(format!("  it said: {}", one.note));
    }
    for task in parked {
        lines.extend(task.halted.iter().flat_map(halt_lines));
        lines.push(format!("{park} task {} under Awaiting input", task.task));
        if task.halted.is_empty() {
            lines.push(format!("  {}", task.note));
        } else {
            lines.push(format!("  when that is done: orchestrate unpark {spec} {}", task.task));
        }
    }
    lines.push(match (*dry_run, committed) {
        (true, _) => "nothing was written; such a step dispatches nothing, and the next one goes on".to_owned(),
        (false, None) => "nothing was committed, and nothing was dispatched; the next step goes on".to_owned(),
        (false, Some(subject)) => {
            format!("committed as \"{subject}\"; nothing was dispatched, and the next step goes on")
        }
    });
    lines
}

fn swept_json(swept: &Swept) -> Value {
    let placed: Vec<&str> = swept.placed.iter().map(|file| file.name()).collect();
    let parked: Vec<Value> = swept.parked.iter().map(parked_json).collect();
    let lifted: Vec<&TaskId> = swept.lifted.iter().map(|one| &one.task).collect();
    let reasons: Vec<Value> = swept
        .parked
        .iter()
        .flat_map(|parked| &parked.halted)
        .map(halt_json)
        .collect();
    json!({
        "outcome": "swept", "spec": swept.spec, "placed": placed, "parked": parked, "lifted": lifted, "reasons": reasons,
        "dry_run": swept.dry_run,
    })
}

fn parked_json(parked: &Parked) -> Value {
    json!({ "unit": parked.unit, "task": parked.task, "note": parked.note })
}

/// What halts further tasks, where a person is there to be told.
fn other_halts(report: &StepReport) -> Vec<String> {
    let told: &[HaltReason] = match &report.outcome {
        StepOutcome::Nothing(NoDispatch::Halt(reasons)) => reasons,
        StepOutcome::Nothing(NoDispatch::Idle(_) | NoDispatch::Hold(_))
        | StepOutcome::Dispatched(_)
        | StepOutcome::WouldDispatch { .. }
        | StepOutcome::Swept(_) => &[],
    };
    let others = report.waiting.iter().filter(|parked| parked.halted != told);
    others
        .flat_map(|parked| {
            let heading = format!("task {} waits for you too:", parked.task);
            let reasons = parked.halted.iter().flat_map(halt_lines);
            [heading].into_iter().chain(reasons.map(|line| format!("  {line}")))
        })
        .collect()
}

fn halt_lines(reason: &HaltReason) -> Vec<String> {
    if let HaltReason::Machine(fault) = reason {
        with_hint(format!("error: {fault}"), fault.hint.clone())
    } else if let HaltReason::BundleInvalid { spec, findings } = reason {
        let mut lines = vec![format!("halted: specs/{spec} cannot be read")];
        let shown = findings::render_few(&format!("specs/{spec}"), findings, Paint::Plain);
        lines.extend(shown.lines().map(str::to_owned));
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
    let Dispatched { record, choice, .. } = dispatched;
    let name = record.name();
    let is_claude = record
        .launch
        .argv
        .first()
        .is_some_and(|program| program.ends_with("/claude"));
    let open = if is_claude {
        format!("        open: claude --worktree {}", name.worktree())
    } else {
        String::new()
    };
    let mut lines = vec![
        format!("dispatched {} task {}", record.spec, record.unit),
        format!(
            "  branch    {} at {} (base {})",
            name.branch(),
            record.start.short(),
            record.base
        ),
        format!("  worktree  .claude/worktrees/{}{open}", name.worktree()),
        format!("  worker    {}", worker_line(dispatched)),
    ];
    if let HandOver::Worker { .. } = dispatched.handed_over {
        lines.push(format!("  log       .git/orchestrate/logs/{}.log", name.worktree()));
    }
    lines.push(why_line(choice));
    lines
}

fn worker_line(dispatched: &Dispatched) -> String {
    let backend = &dispatched.record.launch.backend;
    match &dispatched.handed_over {
        HandOver::Worker { pid } => format!("{backend}, pid {pid}"),
        HandOver::Ended { status } => format!("{backend}, ran here and ended: {status}"),
        HandOver::Person => format!("{backend}: a person starts it"),
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
    let why = match preferred(choice) {
        Some(preferred) => format!("{preferred}; its chain is {}", chain.join(" → ")),
        None => format!("head of the critical path {}", chain.join(" → ")),
    };
    let together = match &choice.company {
        Company::Pair(cohesion) => format!("; one unit by {cohesion}"),
        Company::Alone | Company::Refused(_) => String::new(),
    };
    format!(
        "  why {:<5} {why} ({}){together}; also ready: {also}",
        choice.task.as_str(),
        choice.weight
    )
}

/// Returns what a preference had to do with the choice.
pub(crate) fn preferred(choice: &Choice) -> Option<String> {
    let (preference, raw) = choice.preferred.as_ref()?;
    let source = preference.source();
    Some(if *raw == choice.task {
        format!("preferred by {source}; the raw pick is the same")
    } else {
        format!("preferred by {source}; the raw pick would be {raw}")
    })
}

fn as_json(report: &StepReport) -> Value {
    let mut value = match &report.outcome {
        StepOutcome::Dispatched(dispatched) => dispatched_json(dispatched),
        StepOutcome::WouldDispatch { intent, start, base } => json!({
            "outcome": "would-dispatch", "spec": intent.name.spec, "unit": intent.name.unit,
            "branch": intent.name.branch(), "start": start, "base": base.name, "why": choice_json(&intent.choice),
        }),
        StepOutcome::Swept(swept) => swept_json(swept),
        StepOutcome::Nothing(NoDispatch::Idle(reason)) => {
            let kind = match reason {
                IdleReason::Finished { .. } => "finished",
                IdleReason::NothingReady { .. } => "nothing-ready",
                IdleReason::AtCap { .. } => "at-cap",
                IdleReason::Paused => "paused",
            };
            let tasks = waiting_json(reason.waiting());
            json!({ "outcome": "idle", "kind": kind, "reason": reason.to_string(), "tasks": tasks })
        }
        StepOutcome::Nothing(NoDispatch::Hold(reason)) => {
            let tasks = waiting_json(reason.waiting());
            json!({ "outcome": "held", "reason": reason.to_string(), "hint": reason.remedy(), "tasks": tasks })
        }
        StepOutcome::Nothing(NoDispatch::Halt(reasons)) => {
            let reasons: Vec<Value> = reasons.iter().map(halt_json).collect();
            json!({ "outcome": "halted", "reasons": reasons })
        }
    };
    if let Some(object) = value.as_object_mut() {
        if !report.waiting.is_empty() {
            object.insert("waiting".to_owned(), report.waiting.iter().map(parked_json).collect());
        }
        object.insert("schema".to_owned(), json!(1));
        object.insert("notes".to_owned(), json!(report.notes));
    }
    value
}

fn waiting_json(waiting: &[Waiting]) -> Vec<Value> {
    let one = |one: &Waiting| json!({ "id": one.task, "detail": one.what, "hint": one.hint });
    waiting.iter().map(one).collect()
}

fn halt_json(reason: &HaltReason) -> Value {
    let mut value = json!({ "reason": reason.to_string(), "hint": reason.remedy() });
    if let (Some(object), HaltReason::BundleInvalid { spec, findings }) = (value.as_object_mut(), reason) {
        let directory = format!("specs/{spec}");
        let findings: Value = findings
            .iter()
            .map(|finding| findings::as_json(&directory, finding))
            .collect();
        object.insert("findings".to_owned(), findings);
    }
    value
}

fn dispatched_json(dispatched: &Dispatched) -> Value {
    let Dispatched {
        record,
        choice,
        handed_over,
    } = dispatched;
    let worker = match handed_over {
        HandOver::Worker { pid } => json!({ "state": "started", "pid": pid }),
        HandOver::Ended { status } => json!({ "state": "ended", "status": status }),
        HandOver::Person => json!({ "state": "printed" }),
    };
    json!({
        "outcome": "dispatched", "spec": record.spec, "unit": record.unit, "branch": record.name().branch(),
        "start": record.start, "base": record.base, "worktree": format!(".claude/worktrees/{}", record.name().worktree()),
        "backend": record.launch.backend, "attempt": record.attempt, "worker": worker, "why": choice_json(choice),
    })
}

fn choice_json(choice: &Choice) -> Value {
    let preferred = choice
        .preferred
        .as_ref()
        .map(|(preference, raw)| json!({ "by": preference.source(), "raw_pick": raw }));
    let (bundle, alone) = match &choice.company {
        Company::Alone => (None, None),
        Company::Pair(cohesion) => (Some(cohesion.source()), None),
        Company::Refused(why) => (None, Some(why)),
    };
    json!({
        "task": choice.task, "chain": choice.chain, "weight_days": choice.weight.to_string(),
        "also_ready": choice.also_ready, "preferred": preferred, "bundled_by": bundle, "alone": alone,
    })
}
