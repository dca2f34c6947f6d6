//! Random sequences of what happens to real repositories, judged by a model that knows what is on base by its content.
//!
//! The law: a unit whose work is not on base or its counterpart, or was reverted, is never landed; and one whose work is
//! there, with evidence of it left, is never ready. What cannot be told may always be unknown, or held.
//!
//! `ORCHESTRATE_HISTORIES` runs so many schedules, `ORCHESTRATE_HISTORIES_SEED` only that one. A violation prints its seed
//! and what happened.

mod act;
mod model;

use orchestrate_testkit::simulation::Random;

use act::happen;
use model::Universe;

/// Schedules of a normal run.
const SCHEDULES: u64 = 240;
/// What happens in one schedule, at least and at most.
const EVENTS: (usize, usize) = (6, 26);

/// Verifies REQ-C1.1, REQ-C3.2, REQ-C3.3.
#[test]
fn no_schedule_lands_what_is_not_there_or_frees_what_is() {
    let seeds = match number("ORCHESTRATE_HISTORIES_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("ORCHESTRATE_HISTORIES").unwrap_or(SCHEDULES),
    };
    // Two of them side by side: a schedule mostly waits for the file system.
    let middle = seeds.start + (seeds.end - seeds.start) / 2;
    let [left, right] = std::thread::scope(|scope| {
        [seeds.start..middle, middle..seeds.end]
            .map(|seeds| scope.spawn(move || seeds.filter_map(run).collect::<Vec<String>>()))
            .map(|thread| thread.join().expect("the schedules run"))
    });
    let violations = [left, right].concat();
    let shown: Vec<&str> = violations.iter().take(3).map(String::as_str).collect();
    assert!(
        violations.is_empty(),
        "{} violations:\n{}",
        violations.len(),
        shown.join("\n\n")
    );
}

/// Runs one schedule; returns what it violated.
fn run(seed: u64) -> Option<String> {
    let mut random = Random::new(seed);
    let mut universe = Universe::new(&mut random);
    let events = random.between(EVENTS.0, EVENTS.1);
    let mut told = Vec::new();
    for _ in 0..events {
        let Some(event) = happen(&mut universe, &mut random) else {
            continue;
        };
        told.push(event);
        if let Some(violation) = universe.violation(&mut random) {
            return Some(format!("seed {seed}: {violation}\n  {}", told.join("\n  ")));
        }
    }
    None
}

#[expect(
    clippy::disallowed_methods,
    reason = "the caller of the tests says how many schedules are run"
)]
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
