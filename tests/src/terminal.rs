//! A program on a real pseudo-terminal, and what a person types and sees there.
//!
//! The program leads a session of its own with the terminal as its controlling one, as after a login, so that Ctrl-C and
//! a hang-up reach it as signals. The terminal echoes and edits lines as every terminal does.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Stdio};

use camino::Utf8Path;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::output::Output;
use crate::running::PATIENCE;
use crate::sandbox::Sandbox;

/// What Ctrl-C sends.
pub const CTRL_C: &str = "\u{3}";
/// What Ctrl-D sends.
pub const CTRL_D: &str = "\u{4}";

/// A running program and the other end of its terminal. One that is dropped is killed.
#[derive(Debug)]
pub struct Terminal {
    child: Child,
    end: Option<File>,
    /// The beginning of a character whose other bytes were not read yet.
    torn: Vec<u8>,
    /// What was shown since the last wait.
    fresh: String,
    /// Everything that was shown.
    shown: String,
}

impl Sandbox {
    /// Starts the program under test in the repository on a terminal of 80 columns and 24 rows.
    ///
    /// # Panics
    /// When the machine refuses.
    #[must_use]
    pub fn terminal(&self, arguments: &[&str]) -> Terminal {
        self.terminal_in(&self.repository(), arguments, &[])
    }

    /// As [`Self::terminal`], in a directory, with more variables.
    ///
    /// # Panics
    /// When the machine refuses.
    #[must_use]
    pub fn terminal_in(&self, directory: &Utf8Path, arguments: &[&str], variables: &[(&str, &str)]) -> Terminal {
        self.terminal_of(self.program().as_str(), directory, arguments, variables)
    }

    /// As [`Self::terminal_in`], with another build of the program.
    ///
    /// # Panics
    /// When the machine refuses.
    #[must_use]
    pub fn terminal_of(
        &self,
        program: &str,
        directory: &Utf8Path,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Terminal {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let end = openpt(flags).expect("a terminal");
        grantpt(&end).expect("it may be used");
        unlockpt(&end).expect("it is unlocked");
        let name = ptsname(&end, Vec::new()).expect("it has a name");
        let size = Winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&end, size).expect("it has a size");
        let side = || {
            let opened = File::options()
                .read(true)
                .write(true)
                .custom_flags(i32::try_from(OFlags::NOCTTY.bits()).expect("flags"))
                .open(name.to_str().expect("a path"))
                .expect("the terminal is opened");
            Stdio::from(OwnedFd::from(opened))
        };
        // Makes the terminal the controlling one of a new session, and becomes the program.
        let mut command = self.command("setsid", directory);
        command.args(["--ctty", program]).args(arguments);
        command.envs(variables.iter().copied()).env("TERM", "dumb");
        command.stdin(side()).stdout(side()).stderr(side());
        let child = command.spawn().expect("the program is started");
        Terminal {
            child,
            end: Some(File::from(end)),
            torn: Vec::new(),
            fresh: String::new(),
            shown: String::new(),
        }
    }
}

impl Terminal {
    /// Waits until that is shown, and returns what was shown up to there since the last wait.
    ///
    /// # Panics
    /// When the program ends, or a minute passes, without it.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) -> String {
        loop {
            if let Some(position) = self.fresh.find(text) {
                let rest = self.fresh.split_off(position + text.len());
                return std::mem::replace(&mut self.fresh, rest);
            }
            assert!(self.read(), "{text:?} was never shown, only:\n{}", self.shown);
        }
    }

    /// Types that, as it is.
    ///
    /// # Panics
    /// When the terminal is gone.
    pub fn type_in(&mut self, text: &str) {
        let end = self.end.as_mut().expect("the terminal is there");
        end.write_all(text.as_bytes()).expect("it is typed");
    }

    /// Types a line.
    ///
    /// # Panics
    /// When the terminal is gone.
    pub fn line(&mut self, text: &str) {
        self.type_in(&format!("{text}\n"));
    }

    /// Waits for a prompt and answers it; returns what was shown before.
    #[track_caller]
    pub fn answer(&mut self, prompt: &str, answer: &str) -> String {
        let shown = self.wait_for(prompt);
        self.line(answer);
        shown
    }

    /// Closes the terminal, as when the line drops, and waits for the program's end.
    ///
    /// # Panics
    /// When it does not end within a minute.
    pub fn hang_up(mut self) -> Output {
        self.end = None;
        self.ended()
    }

    /// Sends a signal to the program.
    ///
    /// # Panics
    /// When it has ended already.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("the program runs");
    }

    /// Waits for the program's end and returns everything that was shown.
    ///
    /// # Panics
    /// When it does not end within a minute.
    pub fn finish(mut self) -> Output {
        while self.read() {}
        self.ended()
    }

    /// Reads what is shown next; nothing is when the program has let go of the terminal.
    fn read(&mut self) -> bool {
        let Some(end) = &mut self.end else {
            return false;
        };
        let ready = poll(&mut [PollFd::new(end, PollFlags::IN)], Some(&patience())).expect("the terminal is watched");
        assert!(ready > 0, "nothing is shown any more after:\n{}", self.shown);
        let mut buffer = [0_u8; 4096];
        // A terminal that nobody holds any more reports an error instead of an end.
        let count = end.read(&mut buffer).unwrap_or_default();
        self.torn.extend(&buffer[..count]);
        let whole = match std::str::from_utf8(&self.torn) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Ok(_) | Err(_) => self.torn.len(),
        };
        let bytes: Vec<u8> = self.torn.drain(..whole).collect();
        let text = String::from_utf8_lossy(&bytes).replace('\r', "");
        self.fresh.push_str(&text);
        self.shown.push_str(&text);
        count > 0
    }

    fn ended(mut self) -> Output {
        let process = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty()).expect("the program was started");
        let ready = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&patience())).expect("it is watched");
        assert!(ready > 0, "the program does not end; it showed:\n{}", self.shown);
        let status = self.child.wait().expect("the program is waited for");
        Output::new(status, self.shown.as_bytes(), b"")
    }
}

fn patience() -> Timespec {
    Timespec {
        tv_sec: i64::try_from(PATIENCE.as_secs()).unwrap_or(60),
        tv_nsec: 0,
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A failing test must not leave a program behind; one that has ended needs no kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
