//! The runner's one line of answer to whoever started it.

use std::fs::File;
use std::io::{IsTerminal, Write};

use orchestrate_core::record::dispatch::LaunchManner;
use orchestrate_host::process::Handshake;

/// Gives the answer on standard output, where a program and no person reads it.
pub(super) struct Answer {
    to_a_person: bool,
}

impl Answer {
    pub(super) fn new() -> Self {
        Self {
            to_a_person: std::io::stdout().is_terminal(),
        }
    }

    /// Tells that nothing was started.
    pub(super) fn refused(&self, why: &str) {
        if !self.to_a_person {
            say(&Handshake::Refused { why: why.to_owned() });
        }
    }

    /// Tells that the client runs, and lets standard output go. A worker in the foreground keeps it: it is the client's.
    pub(super) fn started(&self, manner: LaunchManner) {
        match manner {
            LaunchManner::Foreground | LaunchManner::Printed => return,
            LaunchManner::Background => {}
        }
        let pid = std::process::id();
        say(&Handshake::Started { pid });
        // Where standard output cannot be let go it stays open, unused: that is no reason to leave the worker alone.
        if let Ok(nowhere) = File::options().write(true).open("/dev/null") {
            let _ = rustix::stdio::dup2_stdout(&nowhere);
        }
    }
}

/// Writes the line. A tower that was killed, or stopped waiting, cannot be told; the worker goes on without it, and the
/// next step finds its lease.
fn say(handshake: &Handshake) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout
        .write_all(handshake.render().as_bytes())
        .and_then(|()| stdout.flush());
}
