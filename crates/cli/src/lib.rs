//! The command line: arguments → settings → one file per command. The only printer of the product.
//!
//! Owns no state; the environment is read once, here.

mod arguments;
mod bundle_directory;
mod commands;
mod environment;
mod failure;
mod fetch_terms;
mod findings;
mod layers;
mod layout;
mod plumbing;
mod printer;
mod remains;
mod screen;
mod session;
mod settings;
mod signing;
mod task_view;
mod validation;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Arguments, Format, slip};
use crate::environment::Environment;
use crate::printer::Printer;

/// Runs the command that this process was started with.
#[must_use]
pub fn run() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(answer) => {
            let mut printer = Printer::new(Format::Human);
            return ExitCode::from(match slip::of(&answer, std::env::args_os()) {
                Some(failure) => printer.failure(&failure),
                None => printer.grammar(&answer),
            });
        }
    };
    orchestrate_host::library::set_up();
    let mut printer = Printer::new(arguments.format());
    let result = Environment::read().and_then(|environment| commands::run(arguments, &environment, &mut printer));
    match result {
        Ok(code) => ExitCode::from(printer.exit(code)),
        Err(failure) => ExitCode::from(printer.failure(&failure)),
    }
}
