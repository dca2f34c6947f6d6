//! `orchestrate [SPEC]`: one step.

use orchestrate_core::identifier::{BackendName, SpecId};
use orchestrate_tower::launch::BackendLauncher;
use orchestrate_tower::step::{StepReport, step};

use crate::arguments::{Format, StepArguments};
use crate::commands::report;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::Session;
use crate::settings;

/// Runs one step and returns its exit code.
pub(crate) fn run(arguments: &StepArguments, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    let (_, report) = advance(arguments, environment, printer, None)?;
    report::print(&report, printer);
    Ok(report::exit_code(&report, arguments.detailed_exitcode))
}

/// Takes one step with everything read afresh, and returns the spec with what happened.
pub(crate) fn advance(
    arguments: &StepArguments,
    environment: &Environment,
    printer: &mut Printer,
    chosen: Option<&SpecId>,
) -> Result<(SpecId, StepReport), Failure> {
    let mut session = Session::open(environment, &environment.directory, printer)?;
    let spec = match chosen {
        Some(spec) => spec.clone(),
        None => session.resolve_spec(arguments.spec.as_deref())?,
    };
    let request = session.request(spec.clone(), arguments.dry_run);
    let rules = settings::rules(environment, session.world.repository()).map(|(rules, notes)| {
        for note in notes {
            printer.talk(&format!("note: {note}"));
        }
        rules
    });
    let is_attended = environment.has_terminal && !arguments.unattended;
    let backend = arguments.backend.as_deref().map(BackendName::parse).transpose();
    let launcher = BackendLauncher {
        layout: session.world.repository().layout.clone(),
        settings: session.settings.clone(),
        backend: backend.map_err(|error| Failure::usage(format!("--backend: {error}")))?,
        rules,
        has_skill: settings::has_skill(environment, session.world.repository()),
        programs: &environment.programs,
        confirm: is_attended.then_some(&confirm_reuse),
    };
    let report = step(&mut session.world, &request, &launcher);
    Ok((spec, report))
}

/// Asks the person at the terminal one question.
fn confirm_reuse(worktree: &str) -> bool {
    Printer::new(Format::Human).talk(&format!(
        "use the clean worktree {worktree} of an earlier attempt again? [y/N]"
    ));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).is_ok() && answer.trim().eq_ignore_ascii_case("y")
}
