//! What lies between the clones and their origin: outages that last, replicas that lag, a hook that refuses, and answers
//! that are not true. Owns what origin had a while ago, and who cannot reach it.

use std::collections::{BTreeMap, VecDeque};

use orchestrate_core::evidence::Origin;
use orchestrate_core::identifier::{SpecId, TaskId};
use orchestrate_core::world::Fault;

use super::commits::CommitIndex;
use super::universe::Universe;

/// How many of its states a replica may lag behind at most. A lag has a bound: a look is no look when it may show
/// anything that ever was.
const LAG: usize = 6;

/// What origin has, or had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OriginState {
    pub(super) branches: BTreeMap<String, CommitIndex>,
    pub(super) fences: BTreeMap<TaskId, CommitIndex>,
}

/// The way to origin.
#[derive(Debug, Clone, Default)]
pub(super) struct Network {
    /// For how many more turns each host cannot reach origin.
    cut_off: Vec<usize>,
    /// What origin had, oldest first. A replica answers all from one of these states: it applies whole pushes, in order.
    past: VecDeque<OriginState>,
    /// The task whose fence a hook refuses, and for how many more turns.
    hook: Option<(TaskId, usize)>,
}

/// How origin answers a push, whatever it does with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// It does it and says so.
    Honest,
    /// It does it, and says that it did not.
    SaysRefused,
    /// It says that it did it, and did not: a write that it acknowledged was lost when another machine took over.
    SaysMade,
    /// It does not do it, although it could, and says so.
    Refuses,
}

impl Universe {
    /// Passes a turn: outages and hooks begin and end.
    pub(super) fn pass_weather(&mut self) {
        for left in &mut self.network.cut_off {
            *left = left.saturating_sub(1);
        }
        self.network.hook = self
            .network
            .hook
            .take()
            .and_then(|(task, left)| Some((task, left.checked_sub(1)?)));
        if self.origin.is_none() {
            return;
        }
        if self.random.chance(self.faults.outage) {
            let length = self.random.between(20, 400);
            let everybody = self.random.chance(500);
            let host = self.random.below(self.hosts.len());
            self.network.cut_off.resize(self.hosts.len(), 0);
            for (number, left) in self.network.cut_off.iter_mut().enumerate() {
                if everybody || number == host {
                    *left = (*left).max(length);
                }
            }
            self.statistics.outages += 1;
            self.trace.note("origin", || {
                let whom = if everybody {
                    "nobody".to_owned()
                } else {
                    format!("not host {}", host + 1)
                };
                format!("answers {whom} for {length} turns")
            });
        }
        if self.random.chance(self.faults.refused / 8) {
            let tasks = self.task_ids();
            let task = tasks[self.random.below(tasks.len())].clone();
            let length = self.random.between(20, 300);
            self.trace.note("origin", || {
                format!("has a hook that refuses the fence of {task} for {length} turns")
            });
            self.network.hook = Some((task, length));
        }
    }

    /// Ends whatever is wrong with the way to origin.
    pub(super) fn clear_weather(&mut self) {
        self.network = Network::default();
    }

    pub(super) fn reaches_origin(&self, host: usize) -> bool {
        self.network.cut_off.get(host).is_none_or(|left| *left == 0)
    }

    /// Returns the fault of whoever asks origin and is not answered.
    pub(super) fn unanswered(&mut self, tower: usize, what: &str) -> Result<(), Fault> {
        if self.reaches_origin(self.minds[tower].host) {
            return Ok(());
        }
        self.statistics.origin_unanswered += 1;
        Err(Fault::new(format!("cannot {what}"), "origin does not answer"))
    }

    /// Keeps what origin has before it changes, for replicas that lag.
    pub(super) fn keep_past(&mut self) {
        if self.faults.stale == 0 {
            return;
        }
        let Some(branches) = self.origin.clone() else { return };
        let fences = self.fence_refs().clone();
        self.network.past.push_back(OriginState { branches, fences });
        if self.network.past.len() > LAG {
            self.network.past.pop_front();
        }
    }

    /// Returns an older state of origin, where a replica that lags answers.
    pub(super) fn lagging(&mut self) -> Option<OriginState> {
        let count = self.network.past.len();
        if count == 0 || !self.random.chance(self.faults.stale) {
            return None;
        }
        let number = self.random.below(count);
        self.network.past.get(number).cloned()
    }

    /// Returns what a tower is told that origin has: what it has, or had a while ago.
    pub(super) fn told_origin(&mut self, spec: &SpecId, truth: Origin) -> Origin {
        let Some(state) = self.lagging() else { return truth };
        let told = self.origin_as(spec, &state.branches, &state.fences);
        if told == truth {
            return truth;
        }
        self.statistics.stale_looks += 1;
        self.trace
            .note("origin", || "answers from a replica that lags".to_owned());
        told
    }

    /// Draws how origin answers a push of the fences of these tasks.
    pub(super) fn draw_answer<'t>(&mut self, mut tasks: impl Iterator<Item = &'t TaskId>) -> Answer {
        let hooked = self.network.hook.as_ref().map(|(task, _)| task.clone());
        if hooked.is_some_and(|hooked| tasks.any(|task| *task == hooked)) || self.random.chance(self.faults.refused) {
            return Answer::Refuses;
        }
        if self.random.chance(self.faults.false_report) {
            return Answer::SaysMade;
        }
        if self.random.chance(self.faults.false_report) {
            return Answer::SaysRefused;
        }
        Answer::Honest
    }
}
