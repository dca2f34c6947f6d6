//! What happened, for people. A schedule is a function of its seed, so it runs without a trace first and is run again
//! with one when it broke a law.

use std::collections::VecDeque;
use std::fmt;

/// How many events are kept.
const KEPT: usize = 400;

/// What becomes of the events of a schedule.
#[derive(Debug)]
pub(super) enum Keeping {
    /// They are counted.
    Nothing,
    /// The last ones are kept.
    Events(VecDeque<String>),
    /// All of them go into one number (FNV-1a), which tells one history from another.
    Digest(u64),
}

impl Keeping {
    pub(super) fn events() -> Self {
        Self::Events(VecDeque::new())
    }

    pub(super) fn digest() -> Self {
        Self::Digest(0xcbf2_9ce4_8422_2325)
    }
}

/// The events of one schedule.
#[derive(Debug)]
pub(super) struct Trace {
    number: usize,
    keeping: Keeping,
}

impl Trace {
    pub(super) fn new(keeping: Keeping) -> Self {
        Self { number: 0, keeping }
    }

    /// Records an event. The text is made only when somebody will read it.
    pub(super) fn note(&mut self, actor: impl fmt::Display, text: impl FnOnce() -> String) {
        self.number += 1;
        match &mut self.keeping {
            Keeping::Nothing => {}
            Keeping::Events(events) => {
                if events.len() == KEPT {
                    events.pop_front();
                }
                events.push_back(format!("{:5}  {actor}: {}", self.number, text()));
            }
            Keeping::Digest(digest) => {
                for byte in format!("{actor}: {}\n", text()).bytes() {
                    *digest = (*digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
                }
            }
        }
    }

    /// Returns how many events there were: the schedule's own time.
    pub(super) fn moment(&self) -> usize {
        self.number
    }

    /// Returns the kept events, oldest first.
    pub(super) fn take(&mut self) -> Vec<String> {
        match &mut self.keeping {
            Keeping::Events(events) => events.drain(..).collect(),
            Keeping::Nothing | Keeping::Digest(_) => Vec::new(),
        }
    }

    /// Returns the number that the whole history gave, where one was asked for.
    pub(super) fn digest(&self) -> Option<u64> {
        match &self.keeping {
            Keeping::Digest(digest) => Some(*digest),
            Keeping::Nothing | Keeping::Events(_) => None,
        }
    }
}
