//! The World as one simulated tower sees it: each call first hands control to the scheduler, then is judged, then
//! ends as the schedule's dice say.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::rc::Rc;

use corosensei::Yielder;
use orchestrate_core::evidence::{Base, History, Lease};
use orchestrate_core::identifier::{BaseName, CommitId, Nonce, SpecId, Unit, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::{BundleFile, Place};
use orchestrate_core::process::{Liveness, ProcessIdentity};
use orchestrate_core::record::dispatch::{DispatchRecord, LaunchManner};
use orchestrate_core::time::Timestamp;
use orchestrate_core::world::{
    Branches, Checkout, Fault, Race, Reading, Spawned, World, WorktreeFacts,
};

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
    fn runs(&self) -> bool {
        self.universe.borrow().runs(self.tower)
    }

    fn host(&self) -> usize {
        self.universe.borrow().minds[self.tower].host
    }

    /// Hands control to the scheduler. False when the process is dead: its unwinding code sees and does nothing.
    fn pause(&self, why: Pause) -> bool {
        if !self.runs() {
            return false;
        }
        self.yielder.suspend(why);
        self.runs()
    }

    /// Answers an observation, or says that it could not be made.
    fn look<T>(&self, query: Query, truth: impl FnOnce(&Universe, usize) -> T) -> Result<T, Why> {
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
    fn observe<T>(
        &self,
        query: Query,
        truth: impl FnOnce(&Universe, usize) -> Observed<T>,
    ) -> Observed<T> {
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
    fn act<T>(
        &mut self,
        what: String,
        whole: impl FnOnce(&mut Universe, usize) -> Result<T, Fault>,
        torn: impl FnOnce(&mut Universe, usize),
    ) -> Result<T, Fault> {
        if !self.pause(Pause::Call) {
            return Err(Fault::new(format!("cannot {what}"), "the process is dead"));
        }
        let tower = self.tower;
        let (fate, dies, result) = {
            let mut universe = self.universe.borrow_mut();
            let universe = &mut *universe;
            let (fate, dies) = universe.draw_fate();
            universe.trace.note(format_args!("tower {tower}"), || {
                format!("{what}: {fate:?}{}", if dies { ", and is killed" } else { "" })
            });
            let failed = || Err(Fault::new(format!("cannot {what}"), "the simulation says so"));
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
    fn excuse<T>(&mut self, result: &Result<T, Fault>, place: &Place) {
        if result.is_err() && matches!(place, Place::Lock(_)) {
            self.universe.borrow_mut().minds[self.tower].excused = true;
        }
    }

    /// Notes which acquisition of the lock this tower knows the age of.
    fn see_lock(&self, place: &Place) {
        if matches!(place, Place::Lock(_)) && self.runs() {
            let host = self.host();
            let mut universe = self.universe.borrow_mut();
            universe.minds[self.tower].lock_seen = universe.lock_incarnation(host);
        }
    }

    /// Waits until the runner answers, the worker ends where the step is to wait for that, or patience runs out.
    fn wait_for(&self, runner: usize, manner: LaunchManner) -> Result<Spawned, Fault> {
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

/// For effects that are one system call: they happen or they do not.
fn atomic(_: &mut Universe, _: usize) {}

impl World for SimulatedWorld<'_> {
    fn now(&self) -> Timestamp {
        self.pause(Pause::Call);
        let host = self.host();
        let mut universe = self.universe.borrow_mut();
        let now = universe.now(host);
        let mind = &mut universe.minds[self.tower];
        mind.latest = Some(mind.latest.map_or(now, |latest| latest.max(now)));
        Timestamp::from_seconds(now)
    }

    fn identity(&self) -> ProcessIdentity {
        self.universe.borrow().minds[self.tower].identity.clone()
    }

    fn nonce(&mut self) -> Result<Nonce, Fault> {
        if !self.pause(Pause::Call) {
            return Err(Fault::new("cannot make a nonce", "the process is dead"));
        }
        let mut universe = self.universe.borrow_mut();
        let rate = universe.faults.unknown;
        if universe.random.chance(rate) {
            return Err(Fault::new("cannot make a nonce", "the simulation says so"));
        }
        Ok(Nonce::from_bytes(universe.random.sixteen()))
    }

    fn liveness(&self, process: &ProcessIdentity) -> Observed<Liveness> {
        self.observe(Query::liveness(process), |universe, host| {
            universe.true_liveness(host, process)
        })
    }

    fn read(&self, place: &Place) -> Reading {
        let reading = match self.look(Query::Read(place.clone()), |universe, host| universe.true_reading(host, place)) {
            Ok(reading) => reading,
            Err(why) => return Reading::Unreadable(why.reason),
        };
        self.see_lock(place);
        reading
    }

    fn list(&self, place: &Place) -> Observed<Vec<String>> {
        self.observe(Query::List(place.clone()), |universe, host| universe.true_list(host, place))
    }

    fn base(&self, configured: Option<&BaseName>) -> Result<Base, Fault> {
        self.look(Query::Base, |universe, host| universe.true_base(host, configured))
            .unwrap_or_else(|why| Err(Fault::new("cannot resolve the base", why.reason)))
    }

    fn history(&self, spec: &SpecId, base: &Base) -> Observed<History> {
        self.observe(Query::History, |universe, _| universe.true_history(spec, base))
    }

    fn branches(
        &self,
        spec: &SpecId,
        base: &Base,
        starts: &BTreeMap<Unit, CommitId>,
    ) -> Observed<Branches> {
        self.observe(Query::Branches, |universe, host| universe.true_branches(host, spec, base, starts))
    }

    fn pull_requests(&self) -> Observed<Infallible> {
        self.observe(Query::PullRequests, |_, _| Observed::Absent(Why::new("no forge is configured")))
    }

    fn contains(&self, descendant: &CommitId, ancestor: &CommitId) -> Observed<bool> {
        self.observe(Query::Contains(descendant.clone(), ancestor.clone()), |universe, host| {
            universe.true_containment(host, descendant, ancestor)
        })
    }

    fn committed(&self, commit: &CommitId, spec: &SpecId, file: BundleFile) -> Observed<Vec<u8>> {
        let answer = self.observe(Query::Committed(commit.clone(), file), |universe, host| {
            universe.true_committed(host, commit, spec, file)
        });
        if matches!(answer, Observed::Known(_)) && file == BundleFile::KickoffBrief {
            let mut universe = self.universe.borrow_mut();
            let gate = universe.commits.find(commit);
            if let (Some(tenure), Some(gate)) = (&mut universe.minds[self.tower].tenure, gate) {
                tenure.gates.push(gate);
            }
        }
        answer
    }

    fn worktree(&self, name: &UnitName) -> Observed<WorktreeFacts> {
        self.observe(Query::Worktree(name.clone()), |universe, host| universe.true_worktree(host, name))
    }

    fn leases(&self, spec: &SpecId) -> Observed<BTreeMap<Unit, Observed<Lease>>> {
        let truth = self.look(Query::Leases, |universe, host| universe.true_leases(host, spec));
        let leases = match truth {
            Ok(leases) => leases,
            Err(why) => return Observed::Unknown(why),
        };
        let mut universe = self.universe.borrow_mut();
        let universe = &mut *universe;
        let rate = universe.faults.unknown;
        let answers = leases.into_iter().map(|(unit, lease)| {
            let query = Query::Lease(unit.clone());
            let answer = if universe.random.chance(rate) {
                universe.statistics.unknown += 1;
                universe.minds[self.tower].unread.insert(query);
                Observed::Unknown(Why::new("the simulation says so"))
            } else {
                universe.minds[self.tower].unread.remove(&query);
                Observed::Known(lease)
            };
            (unit, answer)
        });
        Observed::Known(answers.collect())
    }

    fn occupants(&self, name: &UnitName) -> Observed<Vec<String>> {
        self.observe(Query::Occupants(name.clone()), |universe, host| {
            Observed::Known(universe.true_occupants(host, name))
        })
    }

    fn enter_window(&mut self, spec: &SpecId) -> Result<Race, Fault> {
        self.act(
            "take the window lock".to_owned(),
            |universe, tower| Ok(universe.do_enter_window(tower, spec)),
            atomic,
        )
    }

    fn leave_window(&mut self, spec: &SpecId) {
        if self.pause(Pause::Call) {
            self.universe.borrow_mut().do_leave_window(self.tower, spec);
        }
    }

    fn create_directory(&mut self, place: &Place) -> Result<(), Fault> {
        self.act(
            format!("create {place}"),
            |universe, tower| universe.do_create_directory(tower, place),
            atomic,
        )
    }

    fn write(&mut self, place: &Place, bytes: &[u8]) -> Result<(), Fault> {
        self.act(
            format!("write {place}"),
            |universe, tower| {
                universe.judge_write(tower, place, bytes);
                universe.do_write(tower, place, bytes.to_vec())
            },
            |universe, tower| {
                universe.judge_write(tower, place, bytes);
                universe.tear_write(tower, place, bytes);
            },
        )
    }

    fn publish(&mut self, from: &Place, to: &Place) -> Result<Race, Fault> {
        let result = self.act(
            format!("move {from} to {to}"),
            |universe, tower| {
                if matches!(from, Place::Lock(_)) {
                    universe.judge_taking_away(tower, "moves away");
                }
                universe.do_publish(tower, from, to)
            },
            atomic,
        );
        self.excuse(&result, to);
        result
    }

    fn remove(&mut self, place: &Place) -> Result<(), Fault> {
        let result = self.act(
            format!("remove {place}"),
            |universe, tower| {
                universe.judge_removal(tower, place);
                universe.do_remove(tower, place)
            },
            |universe, tower| {
                universe.judge_removal(tower, place);
                universe.tear_remove(tower, place);
            },
        );
        self.excuse(&result, place);
        result
    }

    fn touch(&mut self, place: &Place) -> Result<(), Fault> {
        self.act(
            format!("touch {place}"),
            |universe, tower| universe.do_touch(tower, place),
            atomic,
        )
    }

    fn create_branch(&mut self, name: &UnitName, at: &CommitId) -> Result<Race, Fault> {
        self.act(
            format!("create {} at {}", name.branch(), at.short()),
            |universe, tower| universe.do_create_branch(tower, name, at),
            atomic,
        )
    }

    fn advance_branch(
        &mut self,
        name: &UnitName,
        from: &CommitId,
        to: &CommitId,
    ) -> Result<Race, Fault> {
        self.act(
            format!("move {} from {} to {}", name.branch(), from.short(), to.short()),
            |universe, tower| universe.do_advance_branch(tower, name, from, to),
            atomic,
        )
    }

    fn register_worktree(&mut self, name: &UnitName) -> Result<Race, Fault> {
        self.act(
            format!("register the worktree of {name}"),
            |universe, tower| Ok(universe.do_register(tower, name)),
            atomic,
        )
    }

    fn checkout(&mut self, name: &UnitName) -> Result<Checkout, Fault> {
        self.act(
            format!("check out {name}"),
            |universe, tower| {
                universe.judge_outside_lock(tower, "checks out");
                universe.do_checkout(tower, name)
            },
            |universe, tower| universe.tear_checkout(tower, name),
        )
    }

    fn spawn(&mut self, record: &DispatchRecord) -> Result<Spawned, Fault> {
        let runner = self.act(
            format!("start a worker for {}", record.name()),
            |universe, tower| {
                universe.judge_spawn(tower, record);
                let host = universe.minds[tower].host;
                Ok(universe.start_runner(host, record))
            },
            atomic,
        )?;
        self.wait_for(runner, record.launch.manner)
    }
}
