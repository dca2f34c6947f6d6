//! The project's own tools: `cargo xtask check|gen|test|simulate|torture|bench|make-repo`.
//!
//! Owns no product state. What CI runs is here, so that it can be run and tested on any machine.

#![expect(
    clippy::disallowed_methods,
    reason = "a developer's tool: it starts cargo and git by argv and reads CI; no product code is in this crate"
)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "its reports are its output")]

mod bench;
mod check;
mod dependencies;
mod failure;
mod gen_docs;
mod make_repository;
mod process;
mod report;
mod repository;
mod rust_text;
mod simulate;
mod test;
mod tidy;
mod tools;
mod torture;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Result;

/// The tools of the project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(check::Arguments),
    Gen(gen_docs::Arguments),
    Test(test::Arguments),
    Simulate(simulate::Arguments),
    Bench(bench::Arguments),
    Torture(torture::Arguments),
    MakeRepo(make_repository::Arguments),
    #[command(hide = true)]
    TortureWorker(torture::WorkerArguments),
    #[command(hide = true)]
    TortureFilter(torture::FilterArguments),
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the command; false when something it looked at is wrong, an error when it could not look.
fn run(arguments: &Arguments) -> Result<bool> {
    match &arguments.command {
        Command::Check(arguments) => check::run(arguments),
        Command::Gen(arguments) => gen_docs::run(arguments),
        Command::Test(arguments) => test::run(arguments),
        Command::Simulate(arguments) => simulate::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Torture(arguments) => torture::run(arguments),
        Command::MakeRepo(arguments) => make_repository::run(arguments),
        Command::TortureWorker(arguments) => torture::work(arguments),
        Command::TortureFilter(arguments) => torture::filter(arguments),
    }
}
