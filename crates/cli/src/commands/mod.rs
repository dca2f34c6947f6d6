//! One file for each command; this one only chooses.

mod config;
mod demo;
mod doctor;
mod graph;
mod halt;
mod halt_commit;
mod new;
mod park;
mod redo;
mod report;
mod sign;
mod status;
mod step;
mod validate;
mod watch;
mod why;

use orchestrate_core::world::World;

use crate::arguments::{Arguments, Command};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::plumbing;
use crate::printer::Printer;

/// Runs the command and returns its exit code.
pub(crate) fn run(arguments: Arguments, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    match arguments.command {
        None if arguments.step.watch => watch::run(&arguments.step, environment, printer),
        None => step::run(&arguments.step, environment, printer),
        Some(Command::Config { verb }) => config::run(&verb, environment, printer),
        Some(Command::Doctor(arguments)) => doctor::run(&arguments, environment, printer),
        Some(Command::New { spec, title }) => new::run(&spec, title.as_deref(), environment, printer),
        Some(Command::Park {
            spec,
            task,
            section,
            reason,
        }) => park::park((&spec, &task), section, &reason, environment, printer),
        Some(Command::Sign { spec }) => sign::run(&spec, environment, printer),
        Some(Command::Unpark { spec, task }) => park::unpark((&spec, &task), environment, printer),
        Some(Command::Status { spec, all, ascii, .. }) => {
            status::run(spec.as_deref(), status::Extent { all, ascii }, environment, printer)
        }
        Some(Command::Graph(arguments)) => graph::run(&arguments, environment, printer),
        Some(Command::Why { spec, task, ascii, .. }) => why::run((&spec, &task), ascii, environment, printer),
        Some(Command::Demo { worker: true, .. }) => demo::worker(environment),
        Some(Command::Demo {
            directory,
            worker: false,
        }) => demo::run(directory, environment, printer),
        Some(Command::Validate { targets, baseline, .. }) => {
            validate::run(&targets, baseline.as_deref(), environment, printer)
        }
        Some(Command::Plumbing { verb }) => plumbing::run(verb, environment, printer),
    }
}

/// Returns the current date in UTC, as `YYYY-MM-DD`.
fn today(world: &dyn World) -> String {
    let now = world.now().to_string();
    now.split('T').next().unwrap_or_default().to_owned()
}
