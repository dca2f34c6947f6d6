//! `cargo xtask simulate`: as many schedules of many hosts as wanted, with seeds that no test run has.
//!
//! Runs the simulation's own test program, as `cargo test` builds it, and shows how far it is; the last line has the
//! numbers.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::failure::{Context, Result};
use crate::{process, workspace};

/// What the test program's own lines begin with.
const OURS: &str = "simulation: ";

/// Run many schedules of the simulation: hosts that share one origin.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many schedules.
    #[arg(long, default_value_t = 1_000_000)]
    schedules: u64,
    /// Which scenario; all of them in turn when none is named.
    #[arg(long, value_parser = ["fenced", "fenced-task", "fenced-pairs", "beside-planwright"])]
    scenario: Option<String>,
    /// The first seed. Test runs have those from 0.
    #[arg(long, default_value_t = 1_000_000)]
    seed_from: u64,
}

/// Runs the command; false when a law was broken, of which standard error has the seed and the trace.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let root = workspace::root()?;
    let program = ["test", "--quiet", "-p", "orchestrate-tower", "--test", "simulation"];
    let test = ["--", "--ignored", "--exact", "by_command", "--nocapture"];
    let mut child = Command::new(process::cargo())
        .args(program.iter().chain(&test))
        .env("ORCHESTRATE_SCHEDULES", arguments.schedules.max(1).to_string())
        .env("ORCHESTRATE_SEED_FROM", arguments.seed_from.to_string())
        .env("ORCHESTRATE_SCENARIO", arguments.scenario.as_deref().unwrap_or("all"))
        .current_dir(&root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context(|| "cannot start cargo test".to_owned())?;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            let line = line.context(|| "cannot read what the simulation prints".to_owned())?;
            if line.starts_with(OURS) {
                println!("{line}");
            }
        }
    }
    let status = child.wait().context(|| "cannot wait for the simulation".to_owned())?;
    Ok(status.success())
}
