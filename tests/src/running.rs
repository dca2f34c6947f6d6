//! A program that runs while the test goes on.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, pidfd_open, waitid,
};

use crate::output::Output;

/// No event of a test takes longer. Only a broken program is waited for so long.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Kills a process that a program under test started, and waits for its end.
///
/// # Panics
/// When there is no such process, or it does not end.
pub fn kill_process_and_wait(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process id");
    let process = pidfd_open(pid, PidfdFlags::empty()).expect("the process runs");
    kill_process(pid, Signal::KILL).expect("the process may be killed");
    let seconds = i64::try_from(PATIENCE.as_secs()).unwrap_or_default();
    let timeout = Timespec {
        tv_sec: seconds,
        tv_nsec: 0,
    };
    let ready = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout)).expect("the process is watched");
    assert_eq!(ready, 1, "the process ends");
}

/// Returns the children of a process.
///
/// # Panics
/// When it has ended.
#[must_use]
pub fn children_of(pid: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).expect("the process runs");
    threads
        .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok())
        .flat_map(|text| {
            text.split_whitespace()
                .filter_map(|child| child.parse().ok())
                .collect::<Vec<u32>>()
        })
        .collect()
}

/// A running program of the test. One that is dropped is killed.
#[derive(Debug)]
pub struct Running {
    child: Child,
    lines: Receiver<String>,
    said: String,
    talk: Option<JoinHandle<String>>,
    ended: Option<ExitStatus>,
}

impl Running {
    pub(crate) fn new(mut child: Child) -> Self {
        let (sender, lines) = channel();
        let stdout = child.stdout.take();
        thread::spawn(move || {
            for line in stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines()) {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stderr = child.stderr.take();
        let talk = thread::spawn(move || {
            let mut text = Vec::new();
            if let Some(mut stderr) = stderr {
                // What could not be read is missing from the text, which the test then shows.
                let _ = stderr.read_to_end(&mut text);
            }
            String::from_utf8_lossy(&text).into_owned()
        });
        Self {
            child,
            lines,
            said: String::new(),
            talk: Some(talk),
            ended: None,
        }
    }

    /// Returns the program's process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until standard output has a line with that text, and returns the line.
    ///
    /// # Panics
    /// When the program ends, or a minute passes, without it.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) -> String {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    self.said.push_str(&line);
                    self.said.push('\n');
                    if line.contains(text) {
                        return line;
                    }
                }
                Err(error) => panic!("{text:?} was never said ({error}), only:\n{}", self.said),
            }
        }
    }

    /// Waits for the program's end and returns what it left.
    ///
    /// # Panics
    /// When it does not end within a minute.
    pub fn finish(mut self) -> Output {
        let status = self.wait();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            self.said.push_str(&line);
            self.said.push('\n');
        }
        let talk = self.talk.take().and_then(|talk| talk.join().ok()).unwrap_or_default();
        Output::new(status, self.said.as_bytes(), talk.as_bytes())
    }

    /// Kills the program and whatever is in its process group, and waits for its end.
    ///
    /// # Panics
    /// When it cannot be killed.
    pub fn kill(mut self) {
        self.signal(Signal::KILL);
        let _ = self.wait();
    }

    /// Sends a signal to the program's process group.
    ///
    /// # Panics
    /// When it has ended already.
    pub fn signal(&self, signal: Signal) {
        kill_process_group(Pid::from_child(&self.child), signal).expect("the program runs");
    }

    fn wait(&mut self) -> ExitStatus {
        let pid = Pid::from_child(&self.child);
        let (sender, ended) = channel();
        thread::spawn(move || {
            // Only that it ended is told; the child is waited for below, so that its number stays its own until then.
            let _ = sender.send(waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).is_ok());
        });
        ended.recv_timeout(PATIENCE).expect("the program ends");
        let status = self.child.wait().expect("the program is waited for");
        self.ended = Some(status);
        status
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.ended.is_none() {
            // A failing test must not leave a loop behind; one that ended by itself needs no kill.
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}
