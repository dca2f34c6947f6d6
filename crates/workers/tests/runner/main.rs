//! The worker runner and its lease, with real processes.
//!
//! A runner takes over its whole process, so it cannot run inside a test: this program starts itself again as one.
//! Tests and clients wait for one another through pipes, never for time.

mod clients;
mod fixture;
mod lease;
mod refusals;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["run-worker", rest @ ..] => fixture::act_as_runner(rest),
        ["take-lease", path] => lease::act_as_holder(path),
        _ => {
            let trials = [clients::trials(), refusals::trials(), lease::trials()].concat_trials();
            libtest_mimic::run(&Arguments::from_args(), trials).exit();
        }
    }
}

/// Joins lists of trials, which cannot be cloned.
trait Concatenate {
    fn concat_trials(self) -> Vec<Trial>;
}

impl<const N: usize> Concatenate for [Vec<Trial>; N] {
    fn concat_trials(self) -> Vec<Trial> {
        self.into_iter().flatten().collect()
    }
}

/// Returns a trial of a test function that panics when it fails.
fn trial(name: &str, test: fn()) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}
