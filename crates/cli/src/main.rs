//! The `orchestrate` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    orchestrate_cli::run()
}
