//! The thin part of signing: one terminal, in the mode a person finds it in.
//!
//! Lines are edited by the terminal itself, so that it works wherever a shell works and is never left in another mode.
//! Ctrl-C, a hang-up and a request to end are turned into [`Input::Gone`].

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use orchestrate_core::identifier::printable;
use rustix::event::{PollFd, PollFlags, poll};
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

/// What a prompt waits for.
enum Event {
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
        let asked = {
            let mut out = io::stdout().lock();
            write!(out, "{}", printable(prompt)).and_then(|()| out.flush())
        };
        if asked.is_err() {
            return Input::Gone;
        }
        loop {
            if let Some(end) = self.typed.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.typed.drain(..=end).collect();
                return Input::Line(String::from_utf8_lossy(&line).into_owned());
            }
            match self.wait() {
                Event::Typed(bytes) => self.typed.extend(bytes),
                Event::Ended => return Input::Gone,
            }
        }
    }

    fn wait(&self) -> Event {
        let input = io::stdin();
        loop {
            let mut waited = [
                PollFd::new(&self.signals, PollFlags::IN),
                PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN),
            ];
            match poll(&mut waited, None) {
                Err(Errno::INTR) => continue,
                Err(_) => return Event::Ended,
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
