//! One call of a simulated tower: it hands control to the scheduler, is judged, and ends as the schedule's dice say.

use std::cell::RefCell;
use std::rc::Rc;

use corosensei::Yielder;
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::Place;
use orchestrate_core::record::dispatch::LaunchManner;
use orchestrate_core::world::{Fault, Spawned};

use super::mind::Query;
use super::universe::Universe;
use super::worker::{Stage, Told};

/// Why a tower handed control to the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    /// It is about to call the World.
    Call,
    /// It waits for a runner it started.
    Waiting(usize),
    /// It is to be killed here.
    Dying,
}

/// The World of one tower process.
pub(super) struct SimulatedWorld<'y> {
    pub(super) universe: Rc<RefCell<Universe>>,
    pub(super) yielder: &'y Yielder<(), Pause>,
    pub(super) tower: usize,
}

/// How an effect ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Applied,
    NotApplied,
    AppliedButFailed,
    Torn,
}

impl SimulatedWorld<'_> {
    pub(super) fn runs(&self) -> bool {
        self.universe.borrow().runs(self.tower)
    }

    pub(super) fn host(&self) -> usize {
        self.universe.borrow().minds[self.tower].host
    }

    /// Hands control to the scheduler. False when the process is dead: its unwinding code sees and does nothing.
    pub(super) fn pause(&self, why: Pause) -> bool {
        if !self.runs() {
            return false;
        }
        self.yielder.suspend(why);
        self.runs()
    }

    /// Answers an observation, or says that it could not be made.
    pub(super) fn look<T>(&self, query: Query, truth: impl FnOnce(&Universe, usize) -> T) -> Result<T, Why> {
        if !self.pause(Pause::Call) {
            return Err(Why::new("the process is dead"));
        }
        let host = self.host();
        let mut universe = self.universe.borrow_mut();
        universe.statistics.reads += 1;
        let rate = universe.faults.unknown;
        let unknown = universe.random.chance(rate);
        let tower = self.tower;
        universe.trace.note(format_args!("tower {tower}"), || {
            format!("asks {query}{}", if unknown { ": unknown" } else { "" })
        });
        if unknown {
            universe.statistics.unknown += 1;
            universe.minds[tower].unread.insert(query);
            return Err(Why::new("the simulation says so"));
        }
        universe.minds[tower].unread.remove(&query);
        Ok(truth(&universe, host))
    }

    /// As [`Self::look`], for answers that may be unknown in truth.
    pub(super) fn observe<T>(&self, query: Query, truth: impl FnOnce(&Universe, usize) -> Observed<T>) -> Observed<T> {
        match self.look(query.clone(), truth) {
            Ok(Observed::Unknown(why)) => {
                let mut universe = self.universe.borrow_mut();
                universe.minds[self.tower].unread.insert(query);
                Observed::Unknown(why)
            }
            Ok(answer) => answer,
            Err(why) => Observed::Unknown(why),
        }
    }

    /// Does an effect, in one of the four ways it can end, and perhaps dies of it.
    pub(super) fn act<T>(
        &mut self,
        what: impl Fn() -> String,
        whole: impl FnOnce(&mut Universe, usize) -> Result<T, Fault>,
        torn: impl FnOnce(&mut Universe, usize),
    ) -> Result<T, Fault> {
        if !self.pause(Pause::Call) {
            return Err(Fault::new(format!("cannot {}", what()), "the process is dead"));
        }
        let tower = self.tower;
        let (fate, dies, result) = {
            let mut universe = self.universe.borrow_mut();
            let universe = &mut *universe;
            let (fate, dies) = universe.draw_fate();
            universe.trace.note(format_args!("tower {tower}"), || {
                format!("{}: {fate:?}{}", what(), if dies { ", and is killed" } else { "" })
            });
            let failed = || Err(Fault::new(format!("cannot {}", what()), "the simulation says so"));
            let result = match fate {
                Fate::Applied => whole(universe, tower),
                Fate::NotApplied => failed(),
                Fate::AppliedButFailed => whole(universe, tower).and_then(|_| failed()),
                Fate::Torn => {
                    torn(universe, tower);
                    failed()
                }
            };
            (fate, dies, result)
        };
        if dies || (fate == Fate::Torn && self.dies_of_tearing()) {
            self.pause(Pause::Dying);
        }
        result
    }

    fn dies_of_tearing(&self) -> bool {
        self.universe.borrow_mut().random.chance(500)
    }

    /// Notes that a lock effect of this tower ended badly.
    pub(super) fn excuse<T>(&mut self, result: &Result<T, Fault>, place: &Place) {
        if result.is_err() && matches!(place, Place::Lock(_)) {
            self.universe.borrow_mut().minds[self.tower].excused = true;
        }
    }

    /// Notes which acquisition of the lock this tower knows the age of.
    pub(super) fn see_lock(&self, place: &Place) {
        if matches!(place, Place::Lock(_)) && self.runs() {
            let host = self.host();
            let mut universe = self.universe.borrow_mut();
            universe.minds[self.tower].lock_seen = universe.lock_incarnation(host);
        }
    }

    /// Waits until the runner answers, the worker ends where the step is to wait for that, or patience runs out.
    pub(super) fn wait_for(&self, runner: usize, manner: LaunchManner) -> Result<Spawned, Fault> {
        loop {
            if !self.pause(Pause::Waiting(runner)) {
                return Err(Fault::new("cannot start the worker", "the process is dead"));
            }
            let universe = self.universe.borrow();
            let worker = &universe.workers[runner];
            let pid = worker.identity.pid;
            let gone = worker.stage == Stage::Gone;
            return match (&worker.told, manner) {
                (Some(Told::Refused(why)), _) => Ok(Spawned::Refused { why: why.clone() }),
                (Some(Told::Started), LaunchManner::Foreground) if gone => Ok(Spawned::Ended {
                    status: "exit 0".to_owned(),
                }),
                (Some(Told::Started), LaunchManner::Foreground) => continue,
                (Some(Told::Started), LaunchManner::Background | LaunchManner::Printed) => Ok(Spawned::Started { pid }),
                (None, _) => Err(Fault::new("cannot start the worker", "it did not answer in time")),
            };
        }
    }
}

impl Universe {
    fn draw_fate(&mut self) -> (Fate, bool) {
        let faults = self.faults;
        self.statistics.effects += 1;
        let dies = self.random.chance(faults.kill / 2);
        let fate = if self.random.chance(faults.not_applied) {
            self.statistics.not_applied += 1;
            Fate::NotApplied
        } else if self.random.chance(faults.reported_failed) {
            self.statistics.applied_but_failed += 1;
            Fate::AppliedButFailed
        } else if self.random.chance(faults.torn) {
            self.statistics.torn += 1;
            Fate::Torn
        } else {
            Fate::Applied
        };
        (fate, dies)
    }
}
