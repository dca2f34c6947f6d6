//! Who runs next, who sleeps, who is killed; and the coroutines in which the towers run.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};

use super::call::{Pause, SimulatedWorld};
use super::driver::{Tower, TowerEnd};
use super::law::Law;
use super::peer::Peer;
use super::universe::Universe;

type Step = Coroutine<(), Pause, TowerEnd>;

/// One running step of a tower.
struct Slot {
    tower: usize,
    host: usize,
    coroutine: Step,
    waiting: Option<usize>,
}

/// Everybody who can be given a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Actor {
    /// A place where a tower runs, or may be started.
    Slot(usize),
    Worker(usize),
    Peer(usize),
    Person,
}

/// Stacks to use again: mapping one costs more than a short schedule.
pub(super) type Stacks = Vec<DefaultStack>;

/// The scheduler of one schedule.
pub(super) struct Scheduler<'s> {
    pub(super) universe: Rc<RefCell<Universe>>,
    tower: Tower,
    stacks: &'s mut Stacks,
    slots: Vec<Option<Slot>>,
    peers: Vec<Peer>,
    asleep: BTreeMap<Actor, usize>,
    last: Option<Actor>,
}

impl<'s> Scheduler<'s> {
    pub(super) fn new(universe: Universe, tower: &Tower, stacks: &'s mut Stacks) -> Self {
        Self {
            universe: Rc::new(RefCell::new(universe)),
            tower: Tower::clone(tower),
            stacks,
            slots: Vec::new(),
            peers: Vec::new(),
            asleep: BTreeMap::new(),
            last: None,
        }
    }

    pub(super) fn is_convicted(&self) -> bool {
        self.universe.borrow().violation.is_some()
    }

    /// Runs the part of the schedule in which things go wrong.
    pub(super) fn run_with_faults(&mut self) {
        let (mut steps, turns) = self.draw_sizes();
        for turn in 0..turns {
            let busy = self.slots.iter().any(Option::is_some);
            if self.is_convicted() || (steps == 0 && !busy) {
                return;
            }
            self.environment();
            match self.choose(turn, steps > 0) {
                Some(Actor::Slot(slot)) if self.slots[slot].is_some() => self.tower_turn(slot),
                Some(Actor::Slot(slot)) => {
                    let host = {
                        let mut universe = self.universe.borrow_mut();
                        let count = universe.hosts.len();
                        universe.random.below(count)
                    };
                    self.start(slot, host);
                    steps -= 1;
                }
                Some(Actor::Worker(worker)) => self.universe.borrow_mut().worker_turn(worker),
                Some(Actor::Peer(peer)) => self.peers[peer].turn(&mut self.universe.borrow_mut()),
                Some(Actor::Person) => self.universe.borrow_mut().person_turn(),
                None => self.asleep.clear(),
            }
        }
    }

    fn draw_sizes(&mut self) -> (usize, usize) {
        let mut universe = self.universe.borrow_mut();
        let universe = &mut *universe;
        let scenario = universe.scenario.clone();
        let random = &mut universe.random;
        let towers = random.between(*scenario.towers.start(), *scenario.towers.end());
        let steps = random.between(*scenario.steps.start(), *scenario.steps.end());
        let peers = random.between(*scenario.peers.start(), *scenario.peers.end());
        for _ in 0..peers {
            let host = random.below(universe.hosts.len());
            let detached = random.chance(300);
            self.peers.push(Peer::new(host, detached, scenario.peers_fence));
        }
        self.slots.resize_with(towers, || None);
        (steps, scenario.turns)
    }

    /// Time passes; now and then a clock is set, or a machine restarts.
    fn environment(&mut self) {
        let restarted = {
            let mut universe = self.universe.borrow_mut();
            let universe = &mut *universe;
            universe.clock += universe.random.seconds(0, 2);
            for worker in &mut universe.workers {
                worker.delay = worker.delay.saturating_sub(1);
            }
            universe.pass_weather();
            universe.deliver_a_push();
            if universe.random.chance(4) {
                universe.clock += universe.random.seconds(60, 1800);
            }
            let host = universe.random.below(universe.hosts.len());
            if universe.random.chance(universe.faults.clock_step) {
                let step = universe.random.seconds(-7200, 7200);
                universe.hosts[host].clock_offset += step;
                universe.trace.note(format_args!("host {}", host + 1), || {
                    format!("sets its clock by {step} s")
                });
            }
            let restarts = universe.random.chance(universe.faults.restart);
            if restarts {
                universe.restart(host);
            }
            restarts.then_some(host)
        };
        if let Some(host) = restarted {
            for slot in 0..self.slots.len() {
                if self.slots[slot].as_ref().is_some_and(|running| running.host == host) {
                    self.unwind(slot);
                }
            }
        }
    }

    /// Draws who runs next. The last one often goes on, so that long stretches without a switch are seen as well;
    /// now and then somebody falls asleep for long.
    fn choose(&mut self, turn: usize, may_start: bool) -> Option<Actor> {
        let mut universe = self.universe.borrow_mut();
        let mut candidates: Vec<Actor> = Vec::new();
        for (number, slot) in self.slots.iter().enumerate() {
            let answered = |worker: usize| universe.workers[worker].has_answered();
            // A step starts seldom compared with its calls, so that workers and people get on in between.
            let weight = match slot {
                Some(slot) if slot.waiting.is_none_or(answered) => 4,
                None if may_start => 1,
                Some(_) | None => 0,
            };
            candidates.extend(std::iter::repeat_n(Actor::Slot(number), weight));
        }
        for worker in universe.active_workers() {
            if universe.workers[worker].delay == 0 {
                candidates.extend([Actor::Worker(worker); 2]);
            }
        }
        candidates.extend((0..self.peers.len()).map(Actor::Peer));
        if universe.scenario.person {
            candidates.push(Actor::Person);
        }
        // A runner that does not answer: the tower's patience may run out.
        let impatient =
            (0..self.slots.len()).find(|slot| self.slots[*slot].as_ref().is_some_and(|slot| slot.waiting.is_some()));
        if let Some(slot) = impatient.filter(|_| universe.random.chance(30)) {
            return Some(Actor::Slot(slot));
        }
        candidates.retain(|actor| self.asleep.get(actor).is_none_or(|until| *until <= turn));
        let stays = self.last.filter(|last| candidates.contains(last));
        let chosen = match stays {
            Some(last) if universe.random.chance(400) => last,
            Some(_) | None if candidates.is_empty() => return None,
            Some(_) | None => candidates[universe.random.below(candidates.len())],
        };
        if universe.random.chance(25) {
            let length = universe.random.between(5, 150);
            self.asleep.insert(chosen, turn + length);
        }
        self.last = Some(chosen);
        Some(chosen)
    }

    fn start(&mut self, slot: usize, host: usize) {
        let tower = self.universe.borrow_mut().start_tower(host);
        let universe = Rc::clone(&self.universe);
        let step = Tower::clone(&self.tower);
        let stack = self.stacks.pop().unwrap_or_default();
        let coroutine = Coroutine::with_stack(stack, move |yielder, ()| {
            let mut world = SimulatedWorld {
                universe,
                yielder,
                tower,
            };
            step(&mut world)
        });
        let running = Slot {
            tower,
            host,
            coroutine,
            waiting: None,
        };
        self.slots[slot] = Some(running);
        self.resume(slot);
    }

    /// Lets a tower make its next call, or kills it there.
    fn tower_turn(&mut self, slot: usize) {
        let dies = {
            let mut universe = self.universe.borrow_mut();
            let rate = universe.faults.kill / 2;
            universe.random.chance(rate)
        };
        if dies {
            self.kill(slot);
        } else {
            self.resume(slot);
        }
    }

    fn kill(&mut self, slot: usize) {
        if let Some(running) = &self.slots[slot] {
            let mut universe = self.universe.borrow_mut();
            let tower = running.tower;
            universe.statistics.kills += 1;
            universe
                .trace
                .note(format_args!("tower {tower}"), || "is killed".to_owned());
            universe.end_tower(tower);
        }
        self.unwind(slot);
    }

    /// Unwinds a dead tower's code, which can do nothing any more.
    fn unwind(&mut self, slot: usize) {
        if let Some(mut running) = self.slots[slot].take() {
            self.universe.borrow_mut().end_tower(running.tower);
            running.coroutine.force_unwind();
            self.stacks.push(running.coroutine.into_stack());
        }
    }

    fn resume(&mut self, slot: usize) {
        let Some(running) = &mut self.slots[slot] else { return };
        let tower = running.tower;
        let result = catch_unwind(AssertUnwindSafe(|| running.coroutine.resume(())));
        match result {
            Ok(CoroutineResult::Yield(Pause::Call)) => running.waiting = None,
            Ok(CoroutineResult::Yield(Pause::Waiting(worker))) => running.waiting = Some(worker),
            Ok(CoroutineResult::Yield(Pause::Dying)) => self.kill(slot),
            Ok(CoroutineResult::Return(end)) => self.finish(slot, &end),
            Err(_) => {
                let mut universe = self.universe.borrow_mut();
                universe.convict(Law::Panic, || format!("tower {tower} panicked"));
                universe.end_tower(tower);
                drop(universe);
                self.slots[slot] = None;
            }
        }
    }

    fn finish(&mut self, slot: usize, end: &TowerEnd) {
        let Some(running) = self.slots[slot].take() else { return };
        self.stacks.push(running.coroutine.into_stack());
        let mut universe = self.universe.borrow_mut();
        let tower = running.tower;
        universe
            .trace
            .note(format_args!("tower {tower}"), || format!("ends: {end}"));
        if universe.runs(tower) {
            universe.judge_end(tower);
        }
        universe.end_tower(tower);
    }

    /// Runs one step of a tower on a host, with nothing else between its calls but the worker it waits for. False
    /// when it does not end.
    pub(super) fn run_alone(&mut self, host: usize) -> bool {
        let slot = self.slots.len();
        self.slots.push(None);
        self.start(slot, host);
        let ended = self.run_down(slot);
        self.unwind(slot);
        self.slots.pop();
        ended
    }

    /// Lets everything that still runs come to its end. False when a tower's step does not.
    pub(super) fn run_out(&mut self) -> bool {
        let ended = (0..self.slots.len()).all(|slot| self.run_down(slot));
        for slot in 0..self.slots.len() {
            self.unwind(slot);
        }
        self.run_workers_out();
        ended
    }

    fn run_down(&mut self, slot: usize) -> bool {
        const MOST_CALLS: usize = 20_000;
        for _ in 0..MOST_CALLS {
            let Some(running) = &self.slots[slot] else { return true };
            if self.is_convicted() {
                return true;
            }
            if let Some(worker) = running.waiting {
                self.universe.borrow_mut().worker_turn(worker);
            }
            self.resume_when_answered(slot);
        }
        false
    }

    fn resume_when_answered(&mut self, slot: usize) {
        let waits = self.slots[slot].as_ref().and_then(|running| running.waiting);
        let answered = waits.is_none_or(|worker| self.universe.borrow().workers[worker].has_answered());
        if answered {
            self.resume(slot);
        }
    }

    fn run_workers_out(&mut self) {
        let mut universe = self.universe.borrow_mut();
        loop {
            let active = universe.active_workers();
            if active.is_empty() {
                return;
            }
            for worker in active {
                universe.worker_turn(worker);
            }
        }
    }
}

impl Drop for Scheduler<'_> {
    fn drop(&mut self) {
        for slot in 0..self.slots.len() {
            self.unwind(slot);
        }
    }
}
