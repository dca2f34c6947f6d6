//! What happened, for people. A schedule is a function of its seed, so it runs without a trace first and is run again
//! with one when it broke a law.

use std::collections::VecDeque;
use std::fmt;

/// How many events are kept.
const KEPT: usize = 400;

/// The last events of one schedule.
#[derive(Debug, Default)]
pub(super) struct Trace {
    recording: bool,
    number: usize,
    events: VecDeque<String>,
}

impl Trace {
    pub(super) fn new(recording: bool) -> Self {
        Self {
            recording,
            number: 0,
            events: VecDeque::new(),
        }
    }

    /// Records an event. The text is made only when somebody will read it.
    pub(super) fn note(&mut self, actor: impl fmt::Display, text: impl FnOnce() -> String) {
        self.number += 1;
        if !self.recording {
            return;
        }
        if self.events.len() == KEPT {
            self.events.pop_front();
        }
        self.events.push_back(format!("{:5}  {actor}: {}", self.number, text()));
    }

    /// Returns how many events there were: the schedule's own time.
    pub(super) fn moment(&self) -> usize {
        self.number
    }

    pub(super) fn take(&mut self) -> Vec<String> {
        self.events.drain(..).collect()
    }
}
