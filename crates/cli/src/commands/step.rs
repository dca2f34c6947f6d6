//! `orchestrate [SPEC]`: one step.

use orchestrate_core::identifier::{BackendName, Pair, SpecId, TaskId, quoted};
use orchestrate_core::record::dispatch::DispatchRecord;
use orchestrate_host::layout::Layout;
use orchestrate_host::{files, repository};
use orchestrate_tower::launch::BackendLauncher;
use orchestrate_tower::step::{HandOver, StepOutcome, StepReport, step};
use orchestrate_workers::backend::{FULL_SESSION, NAMES, is_known};
use orchestrate_workers::{paste, runner};

use crate::arguments::{Format, StepArguments};
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
    let advance = advance(arguments, environment, printer, None)?;
    report::print(&advance, printer);
    Ok(report::exit_code(&advance.report, arguments.detailed_exitcode))
}

/// One step and what a person has to do after it.
pub(crate) struct Advance {
    /// What happened.
    pub(crate) report: StepReport,
    /// How a printed dispatch is started.
    pub(crate) instructions: Option<String>,
}

/// Takes one step with everything read afresh.
pub(crate) fn advance(
    arguments: &StepArguments,
    environment: &Environment,
    printer: &mut Printer,
    chosen: Option<&SpecId>,
) -> Result<Advance, Failure> {
    let mut session = Session::open(environment, &environment.directory, printer)?;
    let spec = match chosen {
        Some(spec) => spec.clone(),
        None => session.resolve_spec(arguments.spec.as_deref())?,
    };
    if let (_, Some(note)) = session.fetch_terms(Caller::Step) {
        printer.talk_once(&format!("note: {note}"));
    }
    let mut request = session.request(spec, arguments.dry_run);
    request.declarations = request
        .declarations
        .with_flags(preferred(arguments)?, pairs(arguments)?);
    let is_attended = environment.has_terminal && !arguments.unattended;
    request.unattended = !is_attended;
    let rules = settings::rules(environment, session.world.repository()).map(|(rules, notes)| {
        for note in notes {
            printer.talk_once(&format!("note: {note}"));
        }
        rules
    });
    let launcher = BackendLauncher {
        layout: session.world.repository().layout.clone(),
        settings: session.settings.clone(),
        backend: backend(arguments)?,
        rules,
        has_skill: settings::has_skill(environment, session.world.repository()),
        programs: &environment.programs,
        confirm: is_attended.then_some(&confirm),
    };
    let report = step(&mut session.world, &request, &launcher);
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
    Ok(Advance { report, instructions })
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

/// Asks the person at the terminal one question.
fn confirm(question: &str) -> bool {
    Printer::new(Format::Human).talk(&format!("{question} [y/N]"));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).is_ok() && answer.trim().eq_ignore_ascii_case("y")
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
