//! `cargo xtask bench`: our commands as whole processes against yardsticks of the same machine and the same minute.
//!
//! Never fails on speed: it prints, and a person compares the ratios with the budgets (architecture §10).

mod measure;
mod processes;
mod rows;

use std::path::{Path, PathBuf};

use crate::failure::{Context, Failure, Result};
use crate::repository::{self, Shape};
use crate::workspace;

use measure::{Comparison, Invocation, Place};
use rows::{Kept, RowPlace};

/// The repository of the usual rows: a bundle of 20 tasks and 400 commits with trailers.
const SMALL: Shape = Shape {
    commits: 400,
    trailers: 400,
    branches: 20,
    task_branches: 3,
    tasks: 20,
};
/// The repository of the rows about a long bundle.
const MANY_TASKS: Shape = Shape {
    commits: 10,
    trailers: 10,
    branches: 0,
    task_branches: 0,
    tasks: 400,
};
/// The repository of the rows that `--large` adds.
const LARGE: Shape = Shape {
    commits: 80_000,
    trailers: 4_000,
    branches: 5_000,
    task_branches: 400,
    tasks: 400,
};
/// The row that counts instead of measuring.
const PROCESSES: &str = "processes";

/// Measure our commands against yardsticks.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How often each side of a row runs; the sides take turns.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
    /// Also measure in a repository of 80,000 commits and 5,000 branches, of which 400 are of one bundle.
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
        .filter(|row| row.name.contains(only) && (arguments.large || row.place != RowPlace::Large));
    let mut measured = 0;
    let mut good = true;
    for row in wanted {
        let Some(directory) = directory_for(&root, folder.path(), row.place)? else {
            println!("{}: skipped: the corpus is not there", row.name);
            measured += 1;
            continue;
        };
        let ours = Invocation::new(&binary, row.ours);
        let yardstick = Invocation::new(Path::new(row.yardstick[0]), &row.yardstick[1..]);
        let place = Place {
            directory: &directory,
            home: folder.path(),
        };
        println!(
            "{}: orchestrate {} against {} (budget: {})",
            row.name,
            row.ours.join(" "),
            row.yardstick.join(" "),
            row.budget
        );
        let cache = directory.join(".git/orchestrate/cache");
        let prepare = || match row.kept {
            Kept::Everything => Ok(()),
            Kept::Nothing => forget(&cache),
        };
        match measure::compare(&ours, &yardstick, place, arguments.runs.into(), prepare) {
            Ok(comparison) => print_comparison(&comparison),
            Err(failure) => {
                println!("  not measured: {failure}");
                good = false;
            }
        }
        measured += 1;
    }
    if PROCESSES.contains(only) {
        let directory = folder.path().join(PROCESSES);
        repository::make(&directory, SMALL)?;
        let counted = processes::count(&binary, &directory, folder.path())?;
        println!("{PROCESSES}: {counted} started to derive (budget: 0 git, at most 1 gh)");
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

/// Removes what earlier runs kept.
fn forget(cache: &Path) -> Result<()> {
    match std::fs::remove_dir_all(cache) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).context(|| format!("cannot remove {}", cache.display()))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Returns where a row runs; a repository is made at its first use. Nothing where the corpus is missing.
fn directory_for(root: &Path, folder: &Path, place: RowPlace) -> Result<Option<PathBuf>> {
    let (name, shape) = match place {
        RowPlace::Small => ("small", SMALL),
        RowPlace::ManyTasks => ("many-tasks", MANY_TASKS),
        RowPlace::Large => ("large", LARGE),
        RowPlace::Corpus => return Ok(corpus(root)),
    };
    let directory = folder.join(name);
    if !directory.exists() {
        repository::make(&directory, shape)?;
    }
    Ok(Some(directory))
}

/// Returns the real bundles: below `ORCHESTRATE_SHARED`, else in a neighbour of the repository.
fn corpus(root: &Path) -> Option<PathBuf> {
    let shared = std::env::var_os("ORCHESTRATE_SHARED").map_or_else(|| root.join("../shared"), PathBuf::from);
    Some(shared.join("corpus")).filter(|corpus| corpus.is_dir())
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
