//! Who a process is: enough to tell it from a later one with the same number.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

/// A process, named so that a reused pid, a reboot or another machine is not mistaken for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessIdentity {
    /// The machine's host name.
    pub host: String,
    /// The id of the machine's current boot, empty where the system has none.
    pub boot: String,
    /// The process id.
    pub pid: u32,
    /// When the process started, in the system's own ticks since boot.
    pub start: u64,
}

impl fmt::Display for ProcessIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "pid {} on {}",
            self.pid,
            crate::identifier::printable(&self.host)
        )
    }
}

/// Whether a process is there. There is no constructor from an age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// That very process runs.
    Alive,
    /// It is gone: no process has the pid, another one has it, or the machine has restarted since.
    Dead,
}
