//! `orchestrate [SPEC] --watch`: the step in a loop, until nothing is ready or a person is needed.

use std::time::Duration;

use orchestrate_core::exit;
use orchestrate_core::identifier::SpecId;
use orchestrate_core::plan::{IdleReason, NoDispatch};
use orchestrate_tower::step::{StepOutcome, StepReport};
use orchestrate_tower::watch::driver::{self, DriverError};
use orchestrate_tower::watch::{StepClass, StopReason};

use crate::arguments::StepArguments;
use crate::commands::halt::Desk;
use crate::commands::report;
use crate::commands::step::{self, Ended, Step};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::Session;

/// Runs the loop and returns its exit code.
pub(crate) fn run(arguments: &StepArguments, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    step::check(arguments)?;
    let mut desk = Desk::default();
    let spec = step::spec(arguments, environment, printer, &mut desk)?;
    let session = Session::open(environment, &environment.directory, printer)?;
    let interval = session.settings.watch_interval.value;
    let paths = driver::watched_paths(&session.world.repository().layout, &spec);
    drop(session);
    let mut watched = Watched {
        arguments,
        environment,
        printer,
        spec,
        desk,
        interval,
        last: None,
        is_waiting: false,
        idle: None,
        code: 0,
        has_parked: false,
    };
    let reason = driver::run(&paths, interval, || watched.step()).map_err(|error| match error {
        DriverError::Step(failure) => failure,
        DriverError::Illegal(event) => Failure::failed(format!("the watch loop failed: {event}")),
    })?;
    let why = match reason {
        StopReason::NothingReady => watched.idle.unwrap_or_else(|| {
            let why = if arguments.dry_run {
                "a dry run looks once"
            } else {
                "nothing is ready"
            };
            why.to_owned()
        }),
        StopReason::Halted => "a person is needed".to_owned(),
        StopReason::Interrupted => "interrupted".to_owned(),
    };
    let code = if watched.has_parked { exit::HALTED } else { watched.code };
    printer.talk(&format!("watch ended: {why}"));
    Ok(code)
}

/// The loop's step, which prints what is new: the same reason to wait is told once.
struct Watched<'a> {
    arguments: &'a StepArguments,
    environment: &'a Environment,
    printer: &'a mut Printer,
    spec: SpecId,
    desk: Desk,
    /// After how long an open question does not keep the others from being looked at (law L12).
    interval: Duration,
    last: Option<String>,
    /// The last step has to wait for something, and that was said.
    is_waiting: bool,
    /// Why the last step found nothing to do, each open task with what it waits for.
    idle: Option<String>,
    code: u8,
    /// Something waits for a person since the loop began.
    has_parked: bool,
}

impl Watched<'_> {
    fn step(&mut self) -> Result<StepClass, Failure> {
        let dry_run = self.arguments.dry_run;
        let taken = Step {
            arguments: self.arguments,
            environment: self.environment,
            spec: &self.spec,
            patience: Some(self.interval),
        };
        let (last, is_waiting, seconds) = (&mut self.last, &mut self.is_waiting, self.interval.as_secs());
        let (advance, ended) = step::answered(&taken, self.printer, &mut self.desk, |advance, printer| {
            let class = class_of(&advance.report, dry_run);
            let said = format!("{:?}", advance.report.outcome);
            if matches!(class, StepClass::Dispatched | StepClass::Swept) || last.as_ref() != Some(&said) {
                report::print(advance, printer);
            }
            let was_waiting = std::mem::replace(is_waiting, class == StepClass::Waiting);
            if *is_waiting && !was_waiting {
                printer.talk(&format!(
                    "waiting: it looks again when something changes here, and every {seconds} s"
                ));
            }
            *last = Some(said);
        })?;
        self.idle = match &advance.report.outcome {
            StepOutcome::Nothing(NoDispatch::Idle(reason)) => Some(reason.to_string()),
            StepOutcome::Nothing(NoDispatch::Hold(_) | NoDispatch::Halt(_))
            | StepOutcome::Dispatched(_)
            | StepOutcome::Swept(_)
            | StepOutcome::WouldDispatch { .. } => None,
        };
        self.has_parked |= matches!(&advance.report.outcome, StepOutcome::Swept(swept) if !swept.parked.is_empty());
        self.code = report::exit_code(&advance.report, self.arguments.detailed_exitcode);
        Ok(match ended {
            Ended::Itself => class_of(&advance.report, dry_run),
            Ended::Left => StepClass::Halted,
        })
    }
}

fn class_of(report: &StepReport, dry_run: bool) -> StepClass {
    match &report.outcome {
        StepOutcome::Nothing(NoDispatch::Halt(_)) => StepClass::Halted,
        // A dry run changes nothing, so looking again would decide the same for ever.
        _ if dry_run => StepClass::NothingReady,
        StepOutcome::Dispatched(_) | StepOutcome::WouldDispatch { .. } => StepClass::Dispatched,
        StepOutcome::Swept(_) => StepClass::Swept,
        StepOutcome::Nothing(NoDispatch::Hold(_)) => StepClass::Waiting,
        StepOutcome::Nothing(NoDispatch::Idle(IdleReason::AtCap { .. } | IdleReason::Paused)) => StepClass::Waiting,
        StepOutcome::Nothing(NoDispatch::Idle(IdleReason::Finished { .. } | IdleReason::NothingReady { .. })) => {
            StepClass::NothingReady
        }
    }
}
