//! Starts the worker runner in the background and reads its one line of answer.
//!
//! The runner owns the decision: `started` means that it holds the lease and has started its client. Nothing that the
//! spawner does afterwards, its death included, changes that.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use camino::Utf8Path;
use orchestrate_core::identifier::printable;
use orchestrate_core::world::Fault;

use super::{describe_end, open_log, scrubbed};
use crate::failpoint::reach;

/// An answer is at most this long.
const LONGEST_ANSWER: u64 = 4096;

/// The runner's answer: the first line of its standard output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handshake {
    /// The client runs.
    Started {
        /// The runner's process id.
        pid: u32,
    },
    /// Nothing was started.
    Refused {
        /// Why, in words.
        why: String,
    },
}

impl Handshake {
    /// Returns the answer as its line.
    #[must_use]
    pub fn render(&self) -> String {
        match self {
            Self::Started { pid } => format!("started {pid}\n"),
            Self::Refused { why } => format!("refused {}\n", printable(why)),
        }
    }

    /// Returns the answer in a line; nothing for a line that is no answer or was cut off.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.strip_suffix('\n')?.split_once(' ')?;
        match word {
            "started" => rest.parse().ok().map(|pid| Self::Started { pid }),
            "refused" => Some(Self::Refused { why: printable(rest) }),
            _ => None,
        }
    }
}

/// How the runner is started.
#[derive(Debug, Clone, Copy)]
pub struct DetachedStart<'a> {
    /// The program.
    pub program: &'a Utf8Path,
    /// Its arguments.
    pub arguments: &'a [String],
    /// Its working directory.
    pub directory: &'a Utf8Path,
    /// Where its standard error goes, appended.
    pub log: &'a Utf8Path,
    /// How long its answer is waited for.
    pub timeout: Duration,
}

/// Starts the runner and returns its answer. The runner leaves this session by itself.
///
/// A runner that is too slow is left alone: it may hold the lease already, and killing it then would take the worker's
/// guardian away. It either starts for the current attempt or refuses, and the lease tells which.
///
/// # Errors
/// When it cannot be started, ends without an answer, or does not answer in time. It may have started all the same.
pub fn spawn_detached(start: &DetachedStart<'_>) -> Result<Handshake, Fault> {
    let fault = |cause: String| {
        Fault::new(format!("cannot start the worker runner {}", start.program), cause)
            .with_hint(format!("its messages are in {}", start.log))
    };
    let mut command = scrubbed(start.program.as_os_str());
    command
        .args(start.arguments)
        .current_dir(start.directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(open_log(start.log)?);
    let mut child = command.spawn().map_err(|error| fault(error.to_string()))?;
    reach("spawn.started");
    let pid = child.id();
    let stdout = child.stdout.take();
    let (sender, receiver) = channel();
    thread::spawn(move || follow(child, stdout, &sender));
    match receiver.recv_timeout(start.timeout) {
        Ok(Answer::Said(handshake)) => Ok(handshake),
        Ok(Answer::Ended(how)) => Err(fault(format!("it ended without an answer ({how})"))),
        Err(RecvTimeoutError::Timeout) => Err(fault(format!(
            "pid {pid} did not answer within {:?}; it may still start",
            start.timeout
        ))),
        Err(RecvTimeoutError::Disconnected) => Err(fault("its answer was not followed".to_owned())),
    }
}

enum Answer {
    Said(Handshake),
    Ended(String),
}

/// Reports the runner's answer, and waits for its end so that it does not stay behind as a zombie of a long-lived
/// tower.
fn follow(mut child: Child, stdout: Option<ChildStdout>, sender: &Sender<Answer>) {
    let said = stdout.and_then(read_answer);
    let answered = said.is_some();
    if let Some(handshake) = said {
        // A spawner that no longer listens reported the timeout.
        let _ = sender.send(Answer::Said(handshake));
    }
    let how = child.wait().map_or_else(|error| error.to_string(), describe_end);
    if !answered {
        let _ = sender.send(Answer::Ended(how));
    }
}

fn read_answer(stdout: ChildStdout) -> Option<Handshake> {
    let mut line = Vec::new();
    BufReader::new(stdout.take(LONGEST_ANSWER))
        .read_until(b'\n', &mut line)
        .ok()?;
    Handshake::parse(std::str::from_utf8(&line).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use camino::Utf8PathBuf;
    use proptest::prelude::*;

    /// Returns the answer of a script, and what its log holds.
    fn answer(script: &str, timeout: Duration) -> (Result<Handshake, Fault>, String) {
        let directory = tempfile::tempdir().expect("directory");
        let root = Utf8PathBuf::try_from(directory.path().to_path_buf()).expect("utf8");
        let log = root.join("logs/runner.log");
        let start = DetachedStart {
            program: Utf8Path::new("/bin/sh"),
            arguments: &["-c".to_owned(), script.to_owned()],
            directory: &root,
            log: &log,
            timeout,
        };
        let answer = spawn_detached(&start);
        (answer, std::fs::read_to_string(&log).expect("log"))
    }

    #[test]
    fn the_first_line_is_the_answer() {
        let patient = Duration::from_secs(30);
        let (started, _) = answer("echo started 7; exec >&-; sleep 1", patient);
        assert_eq!(started, Ok(Handshake::Started { pid: 7 }));
        let (refused, _) = answer("echo refused it is held", patient);
        let why = "it is held".to_owned();
        assert_eq!(refused, Ok(Handshake::Refused { why }));
    }

    #[test]
    fn no_answer_is_a_fault_that_names_the_log() {
        let script = "echo lost >&2; printf 'started 7'; exit 3";
        let (ended, log) = answer(script, Duration::from_secs(30));
        let fault = ended.expect_err("cut off");
        assert_eq!(fault.cause, "it ended without an answer (exit 3)");
        assert!(fault.hint.is_some_and(|hint| hint.ends_with("runner.log")));
        assert_eq!(log, "lost\n");
        let (slow, _) = answer("sleep 2", Duration::from_millis(50));
        assert!(slow.expect_err("slow").cause.contains("did not answer"));
    }

    proptest! {
        #[test]
        fn answers_round_trip(pid in any::<u32>(), why in "\\PC{1,60}") {
            let started = Handshake::Started { pid };
            prop_assert_eq!(Handshake::parse(&started.render()), Some(started));
            let refused = Handshake::Refused { why: printable(&why) };
            prop_assert_eq!(Handshake::parse(&refused.render()), Some(refused));
        }

        /// Whatever the reason holds, it stays one line.
        #[test]
        fn an_answer_is_one_line(why in any::<String>()) {
            let line = Handshake::Refused { why }.render();
            prop_assert_eq!(line.matches('\n').count(), 1);
        }
    }
}
