//! Stays with the client and all its descendants, and passes a request to stop on to them.
//!
//! One thread waits for children, one for signals; the state between them is who may be signalled. A child is waited
//! for only under the lock, so that no signal can go to another process that got its number.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use orchestrate_core::record::dispatch::LaunchManner;
use orchestrate_core::world::Fault;
use orchestrate_host::identity;
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, kill_process, kill_process_group, wait, waitid,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use super::ClientEnd;

/// Who is looked after.
struct Family {
    /// The client, until its end was seen.
    client: Option<Pid>,
    /// Whether the client leads a process group of its own.
    own_group: bool,
    /// Whether somebody asked the worker to stop.
    stopping: bool,
    /// How the client ended.
    end: ClientEnd,
}

/// Looks after one client.
pub(super) struct Guardian {
    family: Arc<Mutex<Family>>,
    signals: Handle,
    listener: JoinHandle<()>,
}

impl Guardian {
    /// Takes over the signals and the orphans of this process.
    pub(super) fn new(manner: LaunchManner) -> Result<Self, Fault> {
        let fault = |error: std::io::Error| Fault::new("cannot become the worker's guardian", error.to_string());
        adopt_orphans().map_err(fault)?;
        let own_group = manner == LaunchManner::Background;
        let family = Arc::new(Mutex::new(Family {
            client: None,
            own_group,
            stopping: false,
            end: ClientEnd::Unseen,
        }));
        let mut signals = Signals::new([SIGTERM, SIGINT, SIGQUIT, SIGHUP]).map_err(fault)?;
        let handle = signals.handle();
        let ours = Arc::clone(&family);
        let listener = thread::spawn(move || {
            for signal in signals.forever() {
                // A terminal sends its signals to the client itself, and a background worker has none.
                if signal == SIGTERM || (signal == SIGINT && own_group) {
                    stop(&mut lock(&ours));
                }
            }
        });
        Ok(Self {
            family,
            signals: handle,
            listener,
        })
    }

    /// Starts the client, unless the worker was asked to stop before.
    pub(super) fn adopt(&self, start: impl FnOnce() -> Result<u32, Fault>) -> Result<(), Fault> {
        let mut family = lock(&self.family);
        if family.stopping {
            return Err(Fault::new("the client was not started", "the runner was asked to stop"));
        }
        let pid = start()?;
        family.client = i32::try_from(pid).ok().and_then(Pid::from_raw);
        Ok(())
    }

    /// Waits until no descendant is left, and returns how the client ended.
    pub(super) fn wait(self) -> Result<ClientEnd, Fault> {
        let fault = |error: Errno| Fault::new("cannot wait for the worker", error.to_string());
        loop {
            // Leaves the child to be waited for again, below.
            match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
                Ok(_) => reap(&mut lock(&self.family)).map_err(fault)?,
                Err(Errno::INTR) => {}
                Err(Errno::CHILD) => break,
                Err(error) => return Err(fault(error)),
            }
        }
        self.signals.close();
        // It only ends by the closing above; a panic in it has been printed, and the worker is over anyway.
        let _ = self.listener.join();
        Ok(lock(&self.family).end)
    }
}

#[cfg(target_os = "linux")]
fn adopt_orphans() -> std::io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// Other systems have no such thing: there the runner stays for the client and its own children only.
#[cfg(not(target_os = "linux"))]
fn adopt_orphans() -> std::io::Result<()> {
    Ok(())
}

fn lock(family: &Mutex<Family>) -> MutexGuard<'_, Family> {
    family.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for every child that has ended.
fn reap(family: &mut Family) -> Result<(), Errno> {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if family.client == Some(pid) => {
                family.client = None;
                family.end = end(status);
            }
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) | Err(Errno::CHILD) => break,
            Err(error) => return Err(error),
        }
    }
    // The children of what has ended came to us just now, and have not been asked yet.
    if family.stopping {
        stop_orphans(family);
    }
    Ok(())
}

fn end(status: WaitStatus) -> ClientEnd {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => ClientEnd::Exit(code),
        (None, Some(signal)) => ClientEnd::Signal(signal),
        (None, None) => ClientEnd::Unseen,
    }
}

/// Asks the client's process group, and every orphan that came to us, to end. One that is gone needs no asking.
fn stop(family: &mut Family) {
    family.stopping = true;
    if let Some(client) = family.client {
        let _ = if family.own_group {
            kill_process_group(client, Signal::TERM)
        } else {
            kill_process(client, Signal::TERM)
        };
    }
    stop_orphans(family);
}

/// Asks every child but the client to end. Where the process table cannot be read nobody is asked, and we stay for them.
fn stop_orphans(family: &Family) {
    let children = identity::children().unwrap_or_default();
    for child in children
        .into_iter()
        .filter_map(|pid| i32::try_from(pid).ok().and_then(Pid::from_raw))
    {
        if family.client != Some(child) {
            let _ = kill_process(child, Signal::TERM);
        }
    }
}
