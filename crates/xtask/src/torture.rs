//! `cargo xtask torture`: real towers, real workers, real kills.
//!
//! Each round is a throw-away repository in which towers race, are killed at every named point and at any moment, and
//! are started again, while a person merges. Then the faults stop, the person does what is said, and the round is
//! judged: no unit was given away twice, no commit is lost, everything has landed.

mod failpoints;
mod journal;
mod person;
mod place;
mod processes;
mod random;
mod round;
mod storm;
mod verdict;
mod worker;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::failure::{Context, Result};
use crate::workspace;

use failpoints::Schedule;
use place::Place;
use processes::Processes;
use round::{Round, Run};
use verdict::Violation;

pub(crate) use worker::{FilterArguments, WorkerArguments, filter, work};

/// Let towers race and die, and count what went wrong.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Towers that start at once.
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
    /// Use this binary, built with the feature failpoints; else one is built.
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Print a line for each round, and what towers said that failed.
    #[arg(long)]
    verbose: bool,
    /// Keep the folders of rounds in which nothing went wrong, too.
    #[arg(long)]
    keep: bool,
}

/// Builds the binary that can be killed at named points.
pub(crate) fn build(root: &Path) -> Result<PathBuf> {
    let target = workspace::read(root)?.target_directory.join("failpoints");
    workspace::build_binary(root, &["--features", "failpoints"], &target)
}

/// Runs the command; false when something happened that must not. The last line carries the numbers.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let root = workspace::root()?;
    let names = failpoints::names(&root)?;
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
    let outcome = run_rounds(arguments, folder.path(), &binary, &schedule);
    if outcome.as_ref().map_or(true, |outcome| outcome.keep) {
        println!("kept    {}", folder.keep().display());
    }
    let Outcome { rounds, numbers, .. } = outcome?;
    println!("failpoints hit: {}", numbers.coverage(&names));
    println!("took    {:.0?}", begin.elapsed());
    let Schedule { seed, .. } = schedule;
    println!(
        "torture: rounds {rounds}, towers {}, seed {seed}: {numbers}",
        arguments.towers
    );
    Ok(numbers.is_good())
}

/// What a run came to.
struct Outcome {
    rounds: u64,
    numbers: Numbers,
    /// Whether there is something to look at.
    keep: bool,
}

fn run_rounds(arguments: &Arguments, folder: &Path, binary: &Path, schedule: &Schedule<'_>) -> Result<Outcome> {
    let processes = Processes::adopt()?;
    let template = Place::new(&folder.join("template"), binary, &processes);
    template.make_template()?;
    let program = std::env::current_exe().context(|| "cannot tell this program's path".to_owned())?;
    let run = Run {
        folder,
        template: &template.repository,
        binary,
        program: &program,
        processes: &processes,
        schedule,
        towers: arguments.towers,
    };
    let mut outcome = Outcome {
        rounds: 0,
        numbers: Numbers::default(),
        keep: arguments.keep,
    };
    for number in arguments.round.map_or(0..arguments.rounds, |round| round..round + 1) {
        let before = Instant::now();
        let round = run
            .round(number)
            .context(|| format!("round {number} of seed {}", schedule.seed))?;
        outcome.rounds += 1;
        outcome.numbers.add(&round);
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

/// What all rounds came to.
#[derive(Debug, Default)]
struct Numbers {
    dispatches: usize,
    workers: usize,
    kills: usize,
    double: usize,
    lost: usize,
    stuck: usize,
    other: usize,
    helped: usize,
    hits: BTreeMap<String, usize>,
}

impl Numbers {
    fn add(&mut self, round: &Round) {
        self.dispatches += round.dispatches();
        self.workers += round.workers();
        self.kills += round.kills;
        self.helped += round.helped();
        for (name, count) in &round.hits {
            *self.hits.entry(name.clone()).or_default() += count;
        }
        for violation in &round.violations {
            match violation {
                Violation::DoubleDispatch(_) => self.double += 1,
                Violation::LostCommit(_) => self.lost += 1,
                Violation::Stuck(_) => self.stuck += 1,
                Violation::Other(_) => self.other += 1,
            }
        }
    }

    /// Returns how many of the points have killed something, and which have not.
    fn coverage(&self, names: &[String]) -> String {
        let is_missing = |name: &&str| !self.hits.contains_key(*name);
        let missing: Vec<&str> = names.iter().map(String::as_str).filter(is_missing).collect();
        let hit = format!("{} of {}", names.len() - missing.len(), names.len());
        if missing.is_empty() {
            return hit;
        }
        format!("{hit}; never: {}", missing.join(", "))
    }

    fn is_good(&self) -> bool {
        self.double + self.lost + self.stuck + self.other == 0
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            dispatches,
            workers,
            kills,
            double,
            lost,
            stuck,
            other,
            helped,
            hits: _,
        } = self;
        write!(
            formatter,
            "dispatches {dispatches}, workers {workers}, kills {kills}, double dispatches {double}, \
             lost commits {lost}, stuck units {stuck}, other faults {other}, held for a person {helped}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_carries_the_numbers_and_one_fault_is_enough() {
        let mut numbers = Numbers {
            dispatches: 9,
            workers: 8,
            kills: 7,
            helped: 3,
            ..Numbers::default()
        };
        assert_eq!(
            numbers.to_string(),
            "dispatches 9, workers 8, kills 7, double dispatches 0, lost commits 0, stuck units 0, other faults 0, \
             held for a person 3"
        );
        assert!(numbers.is_good());
        numbers.lost = 1;
        assert!(!numbers.is_good());
        let names = ["a", "b"].map(str::to_owned);
        assert_eq!(numbers.coverage(&names), "0 of 2; never: a, b");
        numbers.hits = names.iter().map(|name| (name.clone(), 1)).collect();
        assert_eq!(numbers.coverage(&names), "2 of 2");
    }
}
