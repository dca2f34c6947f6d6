//! The `orchestrate` binary, built for these tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    orchestrate_cli::run()
}
