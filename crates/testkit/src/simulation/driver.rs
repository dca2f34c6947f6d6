//! Running schedules: one, or many on several threads.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use orchestrate_core::identifier::UnitName;
use orchestrate_core::world::World;

use super::law::Violation;
use super::scenario::Scenario;
use super::scheduler::{Scheduler, Stacks};
use super::statistics::{RunReport, Statistics};
use super::trace::Keeping;
use super::universe::Universe;

/// How one step of a tower ended, for the trace. The judge does not look at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TowerEnd {
    /// A unit was handed over.
    Dispatched(UnitName),
    /// Nothing was dispatched, for that reason.
    Nothing(String),
    /// The step failed.
    Failed(String),
}

impl fmt::Display for TowerEnd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dispatched(name) => write!(formatter, "dispatched {name}"),
            Self::Nothing(why) => write!(formatter, "nothing dispatched: {why}"),
            Self::Failed(why) => write!(formatter, "failed: {why}"),
        }
    }
}

/// One step of a tower. It must depend on nothing but the World: a schedule is run again from its seed to be told.
pub type Tower = Arc<dyn Fn(&mut dyn World) -> TowerEnd + Send + Sync>;

/// Runs the schedule of a seed.
///
/// # Errors
/// The first law that it breaks.
pub fn run_schedule(seed: u64, scenario: &Scenario, tower: &Tower) -> Result<Statistics, Box<Violation>> {
    run_with(seed, scenario, tower, &mut Stacks::new())
}

fn run_with(seed: u64, scenario: &Scenario, tower: &Tower, stacks: &mut Stacks) -> Result<Statistics, Box<Violation>> {
    let first = attempt(seed, scenario, tower, stacks, Keeping::Nothing);
    if first.is_ok() {
        return first;
    }
    // Once more, now with a trace. A tower that looks at anything but the World may not repeat itself.
    match attempt(seed, scenario, tower, stacks, Keeping::events()) {
        Ok(_) => first.map_err(|mut violation| {
            violation
                .trace
                .push("the same seed passed when it was run again: the tower is not deterministic".to_owned());
            violation
        }),
        Err(told) => Err(told),
    }
}

fn attempt(
    seed: u64,
    scenario: &Scenario,
    tower: &Tower,
    stacks: &mut Stacks,
    keeping: Keeping,
) -> Result<Statistics, Box<Violation>> {
    let scheduler = play(seed, scenario, tower, stacks, keeping);
    let mut universe = scheduler.universe.borrow_mut();
    match universe.violation.take() {
        Some((law, message)) => Err(Box::new(Violation {
            law,
            seed,
            message,
            trace: universe.trace.take(),
        })),
        None => Ok(universe.sum_up()),
    }
}

/// Returns a number that tells the history of a seed from every other: the same before and after a change that must
/// change nothing.
#[must_use]
pub fn fingerprint(seed: u64, scenario: &Scenario, tower: &Tower) -> Option<u64> {
    let mut stacks = Stacks::new();
    let scheduler = play(seed, scenario, tower, &mut stacks, Keeping::digest());
    let universe = scheduler.universe.borrow();
    universe.trace.digest()
}

fn play<'s>(seed: u64, scenario: &Scenario, tower: &Tower, stacks: &'s mut Stacks, keeping: Keeping) -> Scheduler<'s> {
    let universe = Universe::new(seed, scenario, keeping);
    let mut scheduler = Scheduler::new(universe, tower, stacks);
    scheduler.run_with_faults();
    if !scheduler.is_convicted() && !scenario.changed_after_sign_off {
        scheduler.converge();
    }
    scheduler
}

/// Runs the schedules of all seeds on that many threads.
///
/// # Errors
/// The violation of the lowest seed among those found; the other threads stop at the first one.
pub fn run_many(
    seeds: Range<u64>,
    threads: usize,
    scenario: &Scenario,
    tower: &Tower,
) -> Result<RunReport, Box<Violation>> {
    let started = Instant::now();
    let stop = AtomicBool::new(false);
    let stride = threads.max(1);
    let share = |offset: usize| {
        let mut sum = Statistics::default();
        let mut stacks = Stacks::new();
        for seed in seeds.clone().skip(offset).step_by(stride) {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            match run_with(seed, scenario, tower, &mut stacks) {
                Ok(statistics) => sum += statistics,
                Err(violation) => {
                    stop.store(true, Ordering::Relaxed);
                    return Err(violation);
                }
            }
        }
        Ok(sum)
    };
    let results: Vec<Result<Statistics, Box<Violation>>> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..stride)
            .map(|offset| {
                scope.spawn({
                    let share = &share;
                    move || share(offset)
                })
            })
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut statistics = Statistics::default();
    let mut worst: Option<Box<Violation>> = None;
    for result in results {
        match result {
            Ok(sum) => statistics += sum,
            Err(violation) if worst.as_ref().is_none_or(|known| violation.seed < known.seed) => {
                worst = Some(violation);
            }
            Err(_) => {}
        }
    }
    match worst {
        Some(violation) => Err(violation),
        None => Ok(RunReport {
            statistics,
            took: started.elapsed(),
        }),
    }
}

impl Universe {
    fn sum_up(&self) -> Statistics {
        let tasks = self.task_ids();
        let landed = tasks.iter().filter(|task| self.landed_on(0, task)).count();
        Statistics {
            schedules: 1,
            landed: u64::try_from(landed).unwrap_or(u64::MAX),
            tasks: u64::try_from(tasks.len()).unwrap_or(u64::MAX),
            ..self.statistics
        }
    }
}
