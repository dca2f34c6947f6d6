//! Every process of a round: started here, or orphaned by one that was, and ended by a kill of ours or by itself.
//!
//! This process is the reaper of its orphaned descendants, so that the end of each worker is an event and can be
//! waited for. A process is only waited for under the lock, so that no kill can hit another one with its number.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, kill_process, kill_process_group, wait, waitid,
};

use crate::failure::{Context, Failure, Result};

/// How long a program that is run to its end may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// By itself, with that code.
    Exit(i32),
    /// By that signal.
    Signal(i32),
}

/// What a program that ended wrote.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) end: End,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

#[derive(Default)]
struct State {
    running: BTreeSet<u32>,
    ended: BTreeMap<u32, End>,
    /// No descendant is left, running or to be waited for.
    alone: bool,
}

/// The processes; clones share them.
#[derive(Clone, Default)]
pub(super) struct Processes(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    changed: Condvar,
}

impl Processes {
    /// Makes this process the reaper of everything it starts. From here on nothing else in it may wait for children.
    pub(super) fn adopt() -> Result<Self> {
        adopt_orphans()?;
        let processes = Self::default();
        processes.lock().alone = true;
        let ours = processes.clone();
        thread::spawn(move || ours.reap_for_ever());
        Ok(processes)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reap_for_ever(&self) {
        loop {
            // Leaves the process to be waited for again, under the lock.
            match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
                Ok(_) | Err(Errno::INTR) => drop(self.reap()),
                Err(_) => {
                    let state = self.reap();
                    drop(self.0.changed.wait_while(state, |state| state.alone));
                }
            }
        }
    }

    /// Waits for every child that has ended, and notes when there is none at all.
    fn reap(&self) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    let pid = pid.as_raw_nonzero().get().unsigned_abs();
                    if state.running.remove(&pid) {
                        state.ended.insert(pid, end(status));
                    }
                }
                Err(Errno::INTR) => {}
                Ok(None) => break,
                Err(_) => {
                    state.alone = true;
                    break;
                }
            }
        }
        self.0.changed.notify_all();
        state
    }

    /// Starts a process and returns its id.
    pub(super) fn start(&self, command: &mut Command) -> Result<u32> {
        self.spawn(command).map(|child| child.id())
    }

    fn spawn(&self, command: &mut Command) -> Result<std::process::Child> {
        let mut state = self.lock();
        let child = command
            .spawn()
            .context(|| format!("cannot start {}", command.get_program().display()))?;
        state.running.insert(child.id());
        state.alone = false;
        self.0.changed.notify_all();
        Ok(child)
    }

    /// Runs a program to its end.
    pub(super) fn run(&self, command: &mut Command) -> Result<Output> {
        let mut child = self.spawn(
            command
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped()),
        )?;
        let errors = child.stderr.take();
        let errors = thread::spawn(move || errors.map(read_all));
        let stdout = child.stdout.take().map(read_all).unwrap_or_default();
        let stderr = errors.join().ok().flatten().unwrap_or_default();
        let end = self.end_of(child.id(), PATIENCE).ok_or_else(|| {
            Failure::new(format!(
                "{} did not end within {PATIENCE:?}",
                command.get_program().display()
            ))
        })?;
        Ok(Output { end, stdout, stderr })
    }

    /// Waits for the end of a process that was started here; nothing when the time is up.
    pub(super) fn end_of(&self, pid: u32, patience: Duration) -> Option<End> {
        self.wait_until(Instant::now() + patience, |state| state.ended.contains_key(&pid));
        self.lock().ended.remove(&pid)
    }

    /// Waits until one of the processes has ended or it is time; returns those that have.
    pub(super) fn ends_of(&self, pids: &[u32], deadline: Instant) -> Vec<(u32, End)> {
        self.wait_until(deadline, |state| pids.iter().any(|pid| state.ended.contains_key(pid)));
        let mut state = self.lock();
        pids.iter()
            .filter_map(|pid| Some((*pid, state.ended.remove(pid)?)))
            .collect()
    }

    /// Waits until no descendant is left; returns whether that came true.
    pub(super) fn all_ended(&self, patience: Duration) -> bool {
        self.wait_until(Instant::now() + patience, |state| state.alone)
    }

    fn wait_until(&self, deadline: Instant, condition: impl Fn(&State) -> bool) -> bool {
        let mut state = self.lock();
        loop {
            if condition(&state) {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.0.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Kills a process that was started here, if it has not ended.
    pub(super) fn kill(&self, pid: u32) {
        self.signal(pid, |pid| kill_process(pid, Signal::KILL));
    }

    /// Kills the process group that a process started here leads, if its leader has not ended.
    pub(super) fn kill_group(&self, pid: u32) {
        self.signal(pid, |pid| kill_process_group(pid, Signal::KILL));
    }

    fn signal(&self, pid: u32, signal: impl FnOnce(Pid) -> rustix::io::Result<()>) {
        let state = self.lock();
        let leader = i32::try_from(pid).ok().and_then(Pid::from_raw);
        if let Some(leader) = leader.filter(|_| state.running.contains(&pid)) {
            // It cannot have been waited for, so the number is its own; one that just ended needs no kill.
            let _ = signal(leader);
        }
    }
}

#[cfg(target_os = "linux")]
fn adopt_orphans() -> Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .context(|| "cannot become the reaper of orphans".to_owned())
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() -> Result<()> {
    Err(Failure::new(
        "torture runs on Linux only: elsewhere the end of a worker cannot be waited for",
    ))
}

fn end(status: WaitStatus) -> End {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => End::Exit(code),
        (None, Some(signal)) => End::Signal(signal),
        (None, None) => End::Exit(-1),
    }
}

fn read_all(mut from: impl Read) -> String {
    let mut bytes = Vec::new();
    // A pipe that breaks leaves what came before; the exit status tells that something went wrong.
    let _ = from.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
