//! A run in several processes, each of which has its share of the rounds: a process waits for all of its descendants, so
//! it can have one round at a time.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::failure::{Context, Failure, Result};

use super::Arguments;
use super::failpoints::Schedule;
use super::numbers::Numbers;

/// Which of the rounds are a process's own, and where it writes what they came to.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Share {
    /// Which of the processes this is, counted from 0.
    #[arg(long, hide = true, requires = "numbers", default_value_t = 0)]
    share: u64,
    /// Where the numbers are to be written.
    #[arg(long, hide = true)]
    numbers: Option<PathBuf>,
}

/// What rounds came to.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Sum {
    pub(super) rounds: u64,
    pub(super) numbers: Numbers,
}

impl Share {
    /// Returns the process's rounds.
    pub(super) fn of(&self, rounds: u64, jobs: u64) -> impl Iterator<Item = u64> {
        let step = usize::try_from(jobs).unwrap_or(usize::MAX).max(1);
        (self.share..rounds).step_by(step)
    }

    /// Returns where the process writes its numbers, if it has a share only.
    pub(super) fn numbers(&self) -> Option<&Path> {
        self.numbers.as_deref()
    }
}

/// Writes what the rounds of a share came to.
pub(super) fn write(path: &Path, sum: &Sum) -> Result<()> {
    let text = serde_json::to_string(sum).context(|| "cannot write the numbers".to_owned())?;
    std::fs::write(path, text).context(|| format!("cannot write {}", path.display()))
}

/// Runs all rounds in so many processes, and adds up what they came to.
pub(super) fn run(arguments: &Arguments, folder: &Path, binary: &Path, schedule: &Schedule<'_>) -> Result<Sum> {
    let program = std::env::current_exe().context(|| "cannot tell this program's path".to_owned())?;
    let mut children = Vec::new();
    for share in 0..arguments.jobs {
        let numbers = folder.join(format!("share-{share}"));
        let mut command = Command::new(&program);
        command.arg("torture").arg("--binary").arg(binary);
        for (option, value) in [
            ("--hosts", u64::from(arguments.hosts)),
            ("--towers", arguments.towers),
            ("--rounds", arguments.rounds),
            ("--seed", schedule.seed),
            ("--jobs", arguments.jobs),
            ("--share", share),
        ] {
            command.arg(option).arg(value.to_string());
        }
        command.arg("--numbers").arg(&numbers);
        for (option, is_set) in [("--verbose", arguments.verbose), ("--keep", arguments.keep)] {
            command.args(is_set.then_some(option));
        }
        let child = command.spawn();
        children.push((
            child.context(|| "cannot start a share of the rounds".to_owned())?,
            numbers,
        ));
    }
    let mut sum = Sum::default();
    let mut failed = 0;
    for (mut child, numbers) in children {
        child
            .wait()
            .context(|| "cannot wait for a share of the rounds".to_owned())?;
        match std::fs::read_to_string(&numbers) {
            Ok(text) => {
                let more: Sum = serde_json::from_str(&text).context(|| "cannot read the numbers".to_owned())?;
                sum.rounds += more.rounds;
                sum.numbers.add_all(&more.numbers);
            }
            // It has said why.
            Err(_) => failed += 1,
        }
    }
    if failed > 0 {
        return Err(Failure::new(format!(
            "{failed} shares of the rounds broke off, see above"
        )));
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_is_in_one_share() {
        let of = |share| Share { share, numbers: None }.of(7, 3).collect::<Vec<u64>>();
        assert_eq!([of(0), of(1), of(2)], [vec![0, 3, 6], vec![1, 4], vec![2, 5]]);
    }

    #[test]
    fn numbers_come_back_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("share-0");
        let sum = Sum {
            rounds: 3,
            ..Sum::default()
        };
        write(&path, &sum).unwrap();
        let read: Sum = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!((read.rounds, read.numbers), (3, sum.numbers));
    }
}
