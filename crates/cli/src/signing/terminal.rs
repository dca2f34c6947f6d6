//! The thin part of signing, and of every other question to a person: one terminal, in the mode a person finds it in.
//!
//! Lines are edited by the terminal itself, so that it works wherever a shell works and is never left in another mode.
//! Ctrl-C, a hang-up and a request to end are turned into [`Input::Gone`].

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use orchestrate_core::identifier::printable;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::pages::Size;
use super::walk::Input;
use crate::failure::Failure;

/// The person's terminal.
pub(crate) struct Terminal {
    signals: UnixStream,
    typed: Vec<u8>,
}

/// What came of waiting for a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Typed {
    /// What the person did.
    Input(Input),
    /// Nothing, until then.
    Nothing,
}

/// What a prompt waits for.
enum Event {
    TimeUp,
    Typed(Vec<u8>),
    Ended,
}

impl Terminal {
    /// Opens it: from here on signals no longer end this process, but are told at the next prompt.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn open() -> Result<Self, Failure> {
        let open = || -> io::Result<UnixStream> {
            let (receiver, sender) = UnixStream::pair()?;
            for signal in [SIGINT, SIGTERM, SIGHUP] {
                signal_hook::low_level::pipe::register(signal, sender.try_clone()?)?;
            }
            Ok(receiver)
        };
        let signals = open().map_err(|error| Failure::failed(format!("cannot watch for signals: {error}")))?;
        Ok(Self {
            signals,
            typed: Vec::new(),
        })
    }

    /// Returns the terminal's size, as it tells it.
    pub(crate) fn size() -> Size {
        match tcgetwinsize(io::stdout()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => Size {
                columns: usize::from(size.ws_col),
                rows: usize::from(size.ws_row),
            },
            Ok(_) | Err(_) => Size::DEFAULT,
        }
    }

    /// Shows a line. A terminal that is gone is noticed at the next prompt.
    pub(crate) fn show(&mut self, line: &str) {
        let line = if line.trim().is_empty() {
            String::new()
        } else {
            printable(line)
        };
        let _ = writeln!(io::stdout().lock(), "{line}");
    }

    /// Throws away what was typed and not read yet.
    pub(crate) fn drop_typed(&mut self) {
        self.typed.clear();
        // A terminal that cannot do this is gone, which the next prompt notices.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }

    /// Asks, and waits for a line.
    pub(crate) fn ask(&mut self, prompt: &str) -> Input {
        if !self.prompt(prompt) {
            return Input::Gone;
        }
        match self.typed(None) {
            Typed::Input(input) => input,
            Typed::Nothing => Input::Gone,
        }
    }

    /// Shows a prompt, and returns whether the terminal is still there.
    pub(crate) fn prompt(&mut self, prompt: &str) -> bool {
        let mut out = io::stdout().lock();
        write!(out, "{}", printable(prompt)).and_then(|()| out.flush()).is_ok()
    }

    /// Waits for a line, at most until an instant where one is given. What was typed of a line by then is kept.
    pub(crate) fn typed(&mut self, until: Option<Instant>) -> Typed {
        loop {
            if let Some(end) = self.typed.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.typed.drain(..=end).collect();
                return Typed::Input(Input::Line(String::from_utf8_lossy(&line).into_owned()));
            }
            match self.wait(until) {
                Event::Typed(bytes) => self.typed.extend(bytes),
                Event::Ended => return Typed::Input(Input::Gone),
                Event::TimeUp => return Typed::Nothing,
            }
        }
    }

    fn wait(&self, until: Option<Instant>) -> Event {
        let input = io::stdin();
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            // A time that no system can count is for ever.
            let limit = left.map(Timespec::try_from).transpose().unwrap_or_default();
            let mut waited = [
                PollFd::new(&self.signals, PollFlags::IN),
                PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN),
            ];
            match poll(&mut waited, limit.as_ref()) {
                Err(Errno::INTR) => continue,
                Err(_) => return Event::Ended,
                Ok(0) => return Event::TimeUp,
                Ok(_) => {}
            }
            let [signal, typed] = waited;
            if !signal.revents().is_empty() {
                return Event::Ended;
            }
            if typed.revents().is_empty() {
                continue;
            }
            let mut buffer = [0_u8; 4096];
            match rustix::io::read(&input, &mut buffer) {
                Err(Errno::INTR | Errno::AGAIN) => {}
                Ok(0) | Err(_) => return Event::Ended,
                Ok(count) => return Event::Typed(buffer.get(..count).unwrap_or_default().to_vec()),
            }
        }
    }
}
