//! `cargo xtask bench`: our commands as whole processes against yardsticks of the same machine and the same minute.
//!
//! Never fails on speed: it prints, and a person compares the ratios with the budgets (architecture §10).

mod measure;
mod rows;

use std::path::{Path, PathBuf};

use crate::failure::{Context, Failure, Result};
use crate::repository::{self, Shape};
use crate::workspace;

use measure::{Comparison, Invocation, Place};

/// The repository of the usual rows: a bundle of 20 tasks and 400 commits with trailers.
const SMALL: Shape = Shape {
    commits: 400,
    trailers: 400,
    branches: 20,
    tasks: 20,
};
/// The repository of the rows that `--large` adds.
const LARGE: Shape = Shape {
    commits: 80_000,
    trailers: 400,
    branches: 5_000,
    tasks: 20,
};

/// Measure our commands against yardsticks.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How often each side of a row runs; the sides take turns.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
    /// Also measure in a repository of 80,000 commits and 5,000 branches.
    #[arg(long)]
    large: bool,
    /// Measure this binary; else a release build is made.
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Only rows whose name contains this.
    only: Option<String>,
}

/// Runs the command; false when a row could not be measured.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let root = workspace::root()?;
    let binary = match &arguments.binary {
        Some(binary) => binary
            .canonicalize()
            .context(|| format!("cannot find {}", binary.display()))?,
        None => {
            let target = workspace::read(&root)?.target_directory;
            workspace::build_binary(&root, &["--release"], &target)?
        }
    };
    let folder = tempfile::tempdir().context(|| "cannot make a temporary folder".to_owned())?;
    let only = arguments.only.as_deref().unwrap_or_default();
    let wanted = rows::ROWS
        .iter()
        .filter(|row| row.name.contains(only) && (arguments.large || !row.large));
    let mut measured = 0;
    let mut good = true;
    for row in wanted {
        let directory = repository_for(folder.path(), row.large)?;
        let ours = Invocation::new(&binary, row.ours);
        let yardstick = Invocation::new(Path::new(row.yardstick[0]), &row.yardstick[1..]);
        let place = Place {
            directory: &directory,
            home: folder.path(),
        };
        println!(
            "{}: orchestrate {} against {}",
            row.name,
            row.ours.join(" "),
            row.yardstick.join(" ")
        );
        match measure::compare(&ours, &yardstick, place, arguments.runs.into()) {
            Ok(comparison) => print_comparison(&comparison),
            Err(failure) => {
                println!("  not measured: {failure}");
                good = false;
            }
        }
        measured += 1;
    }
    if measured == 0 {
        return Err(Failure::new(format!("no row has {only:?} in its name")));
    }
    println!(
        "{} runs a side, in turns; cpu is user + system time of the process and its children",
        arguments.runs
    );
    Ok(good)
}

/// Returns the small or the large repository, made at its first use.
fn repository_for(folder: &Path, large: bool) -> Result<PathBuf> {
    let (name, shape) = if large { ("large", LARGE) } else { ("small", SMALL) };
    let directory = folder.join(name);
    if !directory.exists() {
        repository::make(&directory, shape)?;
    }
    Ok(directory)
}

fn print_comparison(comparison: &Comparison) {
    println!(
        "  {:<6}{:>30}{:>30}{:>8}",
        "ms", "ours min/median/max", "yardstick min/median/max", "ratio"
    );
    for (name, [ours, yardstick]) in [("cpu", &comparison.cpu), ("wall", &comparison.wall)] {
        let ratio = measure::ratio(ours.median, yardstick.median);
        println!("  {name:<6}{:>30}{:>30}{ratio:>8}", ours.render(), yardstick.render());
    }
}
