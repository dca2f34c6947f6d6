//! The laws by name, and what breaking one is reported as.

use std::fmt;

/// A law that a schedule broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    /// L2: nothing durable before everything that can refuse; branch, then worktree registration, then marker.
    Order,
    /// L3: at most one live worker for a unit.
    OneWorker,
    /// L4: unknown is not an answer.
    Unknown,
    /// L5: never destroys the only copy of work.
    Work,
    /// L6: the lock is held for the window only, and released by its owner only.
    Lock,
    /// L7: no step that dispatches writes in the bundle, and what is written are bullets, each once.
    Bundle,
    /// Contract §8.5: a task is parked only when its worker is known to be gone, and a parked one is left alone.
    Parking,
    /// L9: no way around the sign-off gate.
    Gate,
    /// Contract §5.3: a unit is dispatched only when its dependencies have landed.
    Dependencies,
    /// L11: the next steps converge.
    Convergence,
    /// The tower's code panicked.
    Panic,
}

impl Law {
    /// Returns the law's number and what it is about.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Order => "L2 (order)",
            Self::OneWorker => "L3 (one worker)",
            Self::Unknown => "L4 (unknown is not an answer)",
            Self::Work => "L5 (work is never destroyed)",
            Self::Lock => "L6 (lock discipline)",
            Self::Bundle => "L7 (what is written in the bundle)",
            Self::Parking => "who lives is not parked, who is parked is not dispatched",
            Self::Gate => "L9 (sign-off gate)",
            Self::Dependencies => "dependencies land first",
            Self::Convergence => "L11 (convergence)",
            Self::Panic => "no panic",
        }
    }
}

/// A broken law, with all that is needed to see it happen again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The law.
    pub law: Law,
    /// The schedule.
    pub seed: u64,
    /// What happened.
    pub message: String,
    /// The last events of the schedule, oldest first.
    pub trace: Vec<String>,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "seed {} breaks {}: {}",
            self.seed,
            self.law.name(),
            self.message
        )?;
        for event in &self.trace {
            writeln!(formatter, "{event}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Violation {}
