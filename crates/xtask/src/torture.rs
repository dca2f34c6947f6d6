//! `cargo xtask torture`: real towers, real workers, real kills.
//!
//! Each round is a throw-away repository, or several clones of a throw-away origin, in which towers race, are killed at
//! every named point and at any moment, and are started again, while a person merges. Then the faults stop, the person
//! does what is said, and the round is judged: no unit was given away twice, no commit is lost, everything has landed.

mod facts;
mod failpoints;
mod jobs;
mod journal;
mod landing;
mod numbers;
mod origin;
mod peers;
mod person;
mod place;
mod plan;
mod processes;
mod pushes;
mod random;
mod reading;
mod round;
mod scene;
mod storm;
mod tower;
mod verdict;
mod worker;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::failure::{Context, Result};
use crate::workspace;

use failpoints::Schedule;
use jobs::{Share, Sum};
use place::Place;
use processes::Processes;
use round::{Round, Run};
use scene::make_template;
use storm::Size;

/// Files beside the bundle, in a single repository and in each of several clones.
const FILES: u64 = 300;
const FILES_OF_MANY: u64 = 60;
/// A run of so many rounds has to reach every failpoint.
const ROUNDS_TO_REACH_ALL: u64 = 100;

pub(crate) use worker::{FilterArguments, WorkerArguments, filter, work};

/// Let towers race and die, and count what went wrong.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Clones of one origin, each with towers of its own, beside one of towers of the reference's kind. A single host is
    /// a repository without an origin.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=16))]
    hosts: u8,
    /// Towers that start at once, over all hosts.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..))]
    towers: u64,
    /// Rounds, each in a repository of its own.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
    /// What all choices follow from; another one each time when it is not given.
    #[arg(long)]
    seed: Option<u64>,
    /// Only this round of the run, counted from 0.
    #[arg(long)]
    round: Option<u64>,
    /// Processes that share the rounds.
    #[arg(long, default_value_t = 1, conflicts_with = "round", value_parser = clap::value_parser!(u64).range(1..=64))]
    jobs: u64,
    /// Use this binary, built with the feature failpoints; else one is built.
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Print a line for each round, and what towers said that failed.
    #[arg(long)]
    verbose: bool,
    /// Keep the folders of rounds in which nothing went wrong, too.
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    share: Share,
}

/// Builds the binary that can be killed at named points.
pub(crate) fn build(root: &Path) -> Result<PathBuf> {
    let target = workspace::read(root)?.target_directory.join("failpoints");
    workspace::build_binary(root, &["--features", "failpoints"], &target)
}

/// Runs the command; false when something happened that must not. The last line carries the numbers.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let root = workspace::root()?;
    let names = failpoints::reachable(&failpoints::names(&root)?, arguments.hosts > 1);
    let binary = match &arguments.binary {
        Some(binary) => binary
            .canonicalize()
            .context(|| format!("cannot find {}", binary.display()))?,
        None => build(&root)?,
    };
    let schedule = Schedule {
        names: &names,
        rounds: arguments.rounds,
        seed: arguments.seed.unwrap_or_else(|| u64::from(std::process::id())),
    };
    let begin = Instant::now();
    let folder = tempfile::Builder::new().prefix("orchestrate-torture-").tempdir();
    let folder = folder.context(|| "cannot make a temporary folder".to_owned())?;
    let Sum { rounds, numbers } = if arguments.jobs > 1 && arguments.share.numbers().is_none() {
        jobs::run(arguments, folder.path(), &binary, &schedule)?
    } else {
        let outcome = run_rounds(arguments, folder.path(), &binary, &schedule);
        if outcome.as_ref().map_or(true, |outcome| outcome.keep) {
            println!("kept    {}", folder.keep().display());
        }
        outcome?.sum
    };
    if let Some(path) = arguments.share.numbers() {
        let is_good = numbers.is_good();
        return jobs::write(path, &Sum { rounds, numbers }).map(|()| is_good);
    }
    println!("failpoints hit: {}", numbers.coverage(&names));
    println!("took    {:.0?}", begin.elapsed());
    let Schedule { seed, .. } = schedule;
    println!(
        "torture: hosts {}, towers {}, rounds {rounds}, seed {seed}: {numbers}",
        arguments.hosts, arguments.towers
    );
    let must_reach_all = rounds >= ROUNDS_TO_REACH_ALL;
    Ok(numbers.is_good() && (!must_reach_all || numbers.missing(&names).is_empty()))
}

/// What a run came to.
struct Outcome {
    sum: Sum,
    /// Whether there is something to look at.
    keep: bool,
}

fn run_rounds(arguments: &Arguments, folder: &Path, binary: &Path, schedule: &Schedule<'_>) -> Result<Outcome> {
    let processes = Processes::adopt()?;
    let hosts = usize::from(arguments.hosts);
    let template = Place::new(&folder.join("template"), "host-0", binary, &processes);
    make_template(&template, if hosts > 1 { FILES_OF_MANY } else { FILES })?;
    let program = std::env::current_exe().context(|| "cannot tell this program's path".to_owned())?;
    let run = Run {
        folder,
        template: &template,
        binary,
        program: &program,
        processes: &processes,
        schedule,
        hosts,
        size: Size {
            towers: arguments.towers,
            storms: if hosts > 1 { 2 } else { 3 },
            turns: 2,
        },
    };
    let mut outcome = Outcome {
        sum: Sum::default(),
        keep: arguments.keep,
    };
    let numbers: Vec<u64> = match arguments.round {
        Some(round) => vec![round],
        None => arguments.share.of(arguments.rounds, arguments.jobs).collect(),
    };
    for number in numbers {
        let before = Instant::now();
        let round = run
            .round(number)
            .context(|| format!("round {number} of seed {}", schedule.seed))?;
        outcome.sum.rounds += 1;
        outcome.sum.numbers.add(&round);
        if arguments.verbose {
            println!("round   {number}: {} ({:.1?})", round.summary(), before.elapsed());
            for failure in &round.failures {
                println!("        a tower failed: {failure}");
            }
        }
        if !round.violations.is_empty() {
            report(number, schedule.seed, &round);
            outcome.keep = true;
        } else if !arguments.keep {
            round.remove()?;
        }
    }
    Ok(outcome)
}

fn report(number: u64, seed: u64, round: &Round) {
    println!("FAILED  round {number} of seed {seed}, in {}", round.folder.display());
    for violation in &round.violations {
        println!("        {violation}");
    }
    println!("        its journal:");
    for event in &round.events {
        println!("        {}", serde_json::to_string(event).unwrap_or_default());
    }
}
