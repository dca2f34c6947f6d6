//! `orchestrate [SPEC]`: one step, and what a person before it answers.

use std::cell::RefCell;
use std::time::Duration;

use orchestrate_core::identifier::{BackendName, Pair, SpecId, TaskId, quoted};
use orchestrate_core::record::dispatch::DispatchRecord;
use orchestrate_host::layout::Layout;
use orchestrate_host::{files, repository};
use orchestrate_tower::launch::BackendLauncher;
use orchestrate_tower::step::{HandOver, StepOutcome, StepReport, park_halted, step};
use orchestrate_workers::backend::{FULL_SESSION, NAMES, is_known};
use orchestrate_workers::{paste, runner};

use crate::arguments::{Format, StepArguments};
use crate::commands::halt::{self, Answer, Desk};
use crate::commands::halt_commit;
use crate::commands::report;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::fetch_terms::Caller;
use crate::printer::Printer;
use crate::session::Session;
use crate::settings;

/// Runs one step and returns its exit code.
pub(crate) fn run(arguments: &StepArguments, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    check(arguments)?;
    let mut desk = Desk::default();
    let spec = spec(arguments, environment, printer, &mut desk)?;
    let step = Step {
        arguments,
        environment,
        spec: &spec,
        patience: None,
    };
    let (advance, _) = answered(&step, printer, &mut desk, report::print)?;
    Ok(report::exit_code(&advance.report, arguments.detailed_exitcode))
}

/// Returns the bundle that is meant. A person who is there is asked where there are several.
pub(crate) fn spec(
    arguments: &StepArguments,
    environment: &Environment,
    printer: &mut Printer,
    desk: &mut Desk,
) -> Result<SpecId, Failure> {
    let session = Session::open(environment, &environment.directory, printer)?;
    let resolved = session.resolve_spec(arguments.spec.as_deref());
    let Err(failure) = resolved else {
        return resolved;
    };
    if arguments.spec.is_some() || !waits_for_answers(arguments, environment) {
        return Err(failure);
    }
    match session.open_bundles() {
        several if several.len() > 1 => desk.which(&several)?.ok_or(failure),
        _ => Err(failure),
    }
}

/// Returns whether a person is there who is told and asked, instead of anything being written for them.
fn is_attended(arguments: &StepArguments, environment: &Environment) -> bool {
    environment.has_terminal && !arguments.unattended
}

/// Returns whether a step waits for a person's answer: a machine that reads gives none, and what changes nothing needs
/// none.
fn waits_for_answers(arguments: &StepArguments, environment: &Environment) -> bool {
    is_attended(arguments, environment) && arguments.format == Format::Human && !arguments.dry_run
}

/// What is to be stepped.
pub(crate) struct Step<'a> {
    pub(crate) arguments: &'a StepArguments,
    pub(crate) environment: &'a Environment,
    pub(crate) spec: &'a SpecId,
    /// How long an open question keeps a loop from looking at the others; none where there is no loop.
    pub(crate) patience: Option<Duration>,
}

/// How a step ended for the person before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself.
    Itself,
    /// They left it at a halt.
    Left,
}

/// Takes a step, and after each answer of a person to a halt another one, until one needs no answer. Each is told.
pub(crate) fn answered(
    step: &Step<'_>,
    printer: &mut Printer,
    desk: &mut Desk,
    mut tell: impl FnMut(&Advance, &mut Printer),
) -> Result<(Advance, Ended), Failure> {
    let mut aim = Aim::Dispatch;
    loop {
        let advance = advance(step, printer, aim, desk)?;
        desk.make_room_for(&advance.report);
        tell(&advance, printer);
        let waits = waits_for_answers(step.arguments, step.environment) && halt::waits(&advance.report);
        if !waits || aim == Aim::Park {
            return Ok((advance, Ended::Itself));
        }
        aim = match desk.ask(step.spec, &advance.report, step.patience)? {
            Answer::LookAgain | Answer::NotYet => Aim::Dispatch,
            Answer::Park => Aim::Park,
            Answer::Leave => return Ok((advance, Ended::Left)),
        };
    }
}

/// What a step is to come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aim {
    /// A dispatch, if there can be one.
    Dispatch,
    /// Halts that are written down, as a person said.
    Park,
}

/// One step and what a person has to do after it.
pub(crate) struct Advance {
    /// What happened.
    pub(crate) report: StepReport,
    /// How a printed dispatch is started.
    pub(crate) instructions: Option<String>,
    /// The subject of the commit of what was parked.
    pub(crate) committed: Option<String>,
}

/// Takes one step with everything read afresh.
fn advance(taken: &Step<'_>, printer: &mut Printer, aim: Aim, desk: &mut Desk) -> Result<Advance, Failure> {
    let Step {
        arguments,
        environment,
        spec,
        ..
    } = *taken;
    let mut session = Session::open(environment, &environment.directory, printer)?;
    if let (_, Some(note)) = session.fetch_terms(Caller::Step) {
        printer.talk_once(&format!("note: {note}"));
    }
    let mut request = session.request(spec.clone(), arguments.dry_run);
    request.declarations = request
        .declarations
        .with_flags(preferred(arguments)?, pairs(arguments)?);
    let is_attended = is_attended(arguments, environment);
    request.unattended = !is_attended;
    let rules = settings::rules(environment, session.world.repository()).map(|(rules, notes)| {
        for note in notes {
            printer.talk_once(&format!("note: {note}"));
        }
        rules
    });
    let desk = RefCell::new(desk);
    let confirm = |question: &str| desk.borrow_mut().confirm(question);
    let launcher = BackendLauncher {
        layout: session.world.repository().layout.clone(),
        settings: session.settings.clone(),
        backend: backend(arguments)?,
        rules,
        has_skill: settings::has_skill(environment, session.world.repository()),
        programs: &environment.programs,
        confirm: is_attended.then_some(&confirm),
    };
    let mut report = match aim {
        Aim::Dispatch => step(&mut session.world, &request, &launcher),
        Aim::Park => park_halted(&mut session.world, &request, &launcher),
    };
    let instructions = match &report.outcome {
        StepOutcome::Dispatched(dispatched) if dispatched.handed_over == HandOver::Person => {
            let layout = &session.world.repository().layout;
            Some(paste_instructions(&dispatched.record, layout, environment)?)
        }
        StepOutcome::Dispatched(_)
        | StepOutcome::WouldDispatch { .. }
        | StepOutcome::Swept(_)
        | StepOutcome::Nothing(_) => None,
    };
    let committed = match &report.outcome {
        StepOutcome::Swept(swept)
            if session.settings.halt_commit.value
                && !swept.dry_run
                && !(swept.parked.is_empty() && swept.lifted.is_empty()) =>
        {
            let committed = halt_commit::commit(&session, environment.git.as_deref(), swept);
            committed
                .map_err(|why| report.notes.push(format!("not committed: {why}")))
                .ok()
                .flatten()
        }
        StepOutcome::Swept(_)
        | StepOutcome::Dispatched(_)
        | StepOutcome::WouldDispatch { .. }
        | StepOutcome::Nothing(_) => None,
    };
    Ok(Advance {
        report,
        instructions,
        committed,
    })
}

/// Checks what can be checked before anything is read: a slip on the command line.
pub(crate) fn check(arguments: &StepArguments) -> Result<(), Failure> {
    backend(arguments)?;
    preferred(arguments)?;
    pairs(arguments)?;
    Ok(())
}

fn preferred(arguments: &StepArguments) -> Result<Vec<TaskId>, Failure> {
    let parse = |text: &String| {
        TaskId::parse(text).map_err(|error| {
            Failure::usage(format!("--prefer {}: {error}", quoted(text))).with_hint("name one task, as --prefer 3")
        })
    };
    arguments.prefer.iter().map(parse).collect()
}

fn pairs(arguments: &StepArguments) -> Result<Vec<Pair>, Failure> {
    let parse = |text: &String| {
        Pair::parse(text).map_err(|error| {
            Failure::usage(format!("--bundle {}: {error}", quoted(text)))
                .with_hint("name two tasks, as --bundle 1-2; a unit has no more")
        })
    };
    arguments.bundle.iter().map(parse).collect()
}

/// Returns the backend that the command line names. One that nobody knows is a slip, told before anything is read.
fn backend(arguments: &StepArguments) -> Result<Option<BackendName>, Failure> {
    let Some(text) = arguments.backend.as_deref() else {
        return Ok(None);
    };
    let name = BackendName::parse(text).map_err(|error| Failure::usage(format!("--backend: {error}")))?;
    if is_known(&name) {
        return Ok(Some(name));
    }
    Err(Failure::usage(format!("--backend: there is no backend {name}"))
        .with_hint(format!("name {FULL_SESSION} or one of {}", NAMES.join(", "))))
}

/// Returns what a person pastes to start the worker of a printed dispatch; the prompt lies ready beside it.
fn paste_instructions(record: &DispatchRecord, layout: &Layout, environment: &Environment) -> Result<String, Failure> {
    let name = record.name();
    let registered = repository::discover(&layout.primary)?.registration(&name)?;
    let Some(registration) = registered else {
        return Err(Failure::failed(format!(
            "the worktree of {name} is no longer registered"
        )));
    };
    let prompt_file = runner::prompt_file(&registration.git_directory);
    files::write_private(&prompt_file, record.launch.prompt.as_bytes())?;
    let mut command = vec![environment.program.to_string()];
    command.extend(["plumbing", "run-worker", record.spec.as_str()].map(str::to_owned));
    command.extend([
        record.unit.to_string(),
        "--attempt".to_owned(),
        record.attempt.to_string(),
    ]);
    paste::instructions(&record.launch, &command, &prompt_file, &registration.path)
        .map_err(|why| Failure::failed(format!("cannot print the launch command: {why}")))
}
