//! Runs a program to its end within a time and a size, and returns what it wrote.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use orchestrate_core::identifier::printable;
use orchestrate_core::world::Fault;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::scrubbed;

/// How long a program that is told to end may take to tidy up, and what it wrote to arrive after its end. Only a process that it left behind, and that still
/// holds its output open, makes us wait so long: everything the program itself wrote is in the pipe by then.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What a program reads.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// Nothing.
    Null,
    /// These bytes, and then the end.
    Bytes(&'a [u8]),
}

/// How a program is run.
#[derive(Debug, Clone)]
pub struct RunOptions<'a> {
    /// Its working directory; this process's own where none is given.
    pub directory: Option<&'a Utf8Path>,
    /// Variables set beside the scrubbed environment of this process. Never printed.
    pub environment: &'a [(&'a str, &'a str)],
    /// What it reads.
    pub input: Input<'a>,
    /// After that long it is killed, with its process group.
    pub timeout: Duration,
    /// If either of its outputs grows over so many bytes it is killed.
    pub output_limit: usize,
}

impl Default for RunOptions<'_> {
    /// No input, 30 seconds, 64 MiB.
    fn default() -> Self {
        Self {
            directory: None,
            environment: &[],
            input: Input::Null,
            timeout: Duration::from_secs(30),
            output_limit: 64 * 1024 * 1024,
        }
    }
}

/// What a program that ended by itself left.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a program that ended may have failed"]
pub struct Output {
    /// How it ended.
    pub status: ExitStatus,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
}

impl Output {
    /// Returns whether it ended with 0.
    #[must_use]
    pub fn success(&self) -> bool {
        self.status.success()
    }

    /// Returns the last line of its standard error, printable, else how it ended.
    #[must_use]
    pub fn message(&self) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        // What git gives up for comes before what it says of it.
        let fatal = text.lines().find(|line| line.starts_with("fatal: "));
        fatal
            .or_else(|| text.lines().rev().find(|line| !line.trim().is_empty()))
            .map_or_else(|| super::describe_end(self.status), |line| printable(line.trim()))
    }
}

/// Runs a program, without a terminal and in a process group of its own, and returns what it left.
///
/// For `git` the messages are those of no language and no terminal is asked for a password.
///
/// # Errors
/// When it cannot be started, does not end in time, or writes too much. The fault names the program and its first
/// argument only: others may hold what is nobody's business.
pub fn run_bounded<A: AsRef<OsStr>>(
    program: &Utf8Path,
    arguments: &[A],
    options: &RunOptions<'_>,
) -> Result<Output, Fault> {
    let operation = describe(program, arguments);
    let fault = |cause: String| Fault::new(operation.clone(), cause);
    let mut child = start(program, arguments, options).map_err(|error| fault(error.to_string()))?;
    let (sender, receiver) = channel();
    let stdout = collect(child.stdout.take(), options.output_limit, &sender);
    let stderr = collect(child.stderr.take(), options.output_limit, &sender);
    feed(&mut child, options.input);
    watch_end(&child, sender);
    let finished = await_end(&receiver, options.timeout);
    if finished.is_err() {
        end_group(&child, &receiver);
    }
    let status = child.wait().map_err(|error| fault(error.to_string()))?;
    finished.map_err(fault)?;
    Ok(Output {
        status,
        stdout: take(&stdout),
        stderr: take(&stderr),
    })
}

fn describe<A: AsRef<OsStr>>(program: &Utf8Path, arguments: &[A]) -> String {
    let name = program.file_name().unwrap_or(program.as_str());
    match arguments.first().and_then(|first| first.as_ref().to_str()) {
        Some(first) => format!("cannot run {name} {}", printable(first)),
        None => format!("cannot run {name}"),
    }
}

fn start<A: AsRef<OsStr>>(program: &Utf8Path, arguments: &[A], options: &RunOptions<'_>) -> std::io::Result<Child> {
    let mut command = scrubbed(program.as_os_str());
    command
        .args(arguments)
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(match options.input {
            Input::Null => Stdio::null(),
            Input::Bytes(_) => Stdio::piped(),
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    if program.file_name() == Some("git") {
        command.env("LC_ALL", "C");
    }
    command.envs(options.environment.iter().copied());
    if let Some(directory) = options.directory {
        command.current_dir(directory);
    }
    command.spawn()
}

/// What the threads report.
enum Event {
    /// The program ended; it is not waited for yet, so its group's id cannot be another's.
    Ended,
    /// One of its outputs was closed.
    Closed,
    /// One of its outputs, or its end, could not be followed.
    Failed(String),
}

type Collected = Arc<Mutex<Vec<u8>>>;

fn take(collected: &Collected) -> Vec<u8> {
    std::mem::take(&mut *collected.lock().unwrap_or_else(PoisonError::into_inner))
}

fn collect(stream: Option<impl Read + Send + 'static>, limit: usize, sender: &Sender<Event>) -> Collected {
    let collected = Collected::default();
    let (ours, sender) = (Arc::clone(&collected), sender.clone());
    // A thread whose receiver is gone has nobody to tell; the run is over.
    thread::spawn(move || {
        let Some(mut stream) = stream else {
            let _ = sender.send(Event::Closed);
            return;
        };
        let mut buffer = [0; 16 * 1024];
        let event = loop {
            match stream.read(&mut buffer) {
                Ok(0) => break Event::Closed,
                Ok(count) => {
                    let mut bytes = ours.lock().unwrap_or_else(PoisonError::into_inner);
                    if bytes.len() + count > limit {
                        break Event::Failed(format!("it wrote more than {limit} bytes"));
                    }
                    bytes.extend_from_slice(&buffer[..count]);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => break Event::Failed(format!("its output cannot be read: {error}")),
            }
        };
        let _ = sender.send(event);
    });
    collected
}

fn feed(child: &mut Child, input: Input<'_>) {
    if let (Some(mut stdin), Input::Bytes(bytes)) = (child.stdin.take(), input) {
        let bytes = bytes.to_vec();
        // A program that ends without reading all of its input says so by how it ends.
        thread::spawn(move || stdin.write_all(&bytes));
    }
}

fn watch_end(child: &Child, sender: Sender<Event>) {
    let pid = Pid::from_child(child);
    thread::spawn(move || {
        let event = loop {
            match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
                Ok(_) => break Event::Ended,
                Err(Errno::INTR) => {}
                Err(error) => {
                    break Event::Failed(format!("its end cannot be waited for: {error}"));
                }
            }
        };
        // As above: nobody to tell means nothing to do.
        let _ = sender.send(event);
    });
}

/// Waits for the program's end and the end of both outputs.
fn await_end(receiver: &Receiver<Event>, timeout: Duration) -> Result<(), String> {
    let mut deadline = Instant::now() + timeout;
    let (mut ended, mut open) = (false, 2);
    while !ended || open > 0 {
        let left = deadline.saturating_duration_since(Instant::now());
        match receiver.recv_timeout(left) {
            Ok(Event::Ended) => {
                ended = true;
                deadline = Instant::now() + LAST_WORDS;
            }
            Ok(Event::Closed) => open -= 1,
            Ok(Event::Failed(cause)) => return Err(cause),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) if ended => break,
            Err(RecvTimeoutError::Timeout) => {
                return Err(format!("it did not end within {timeout:?} and was killed"));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err("nobody waits for its end".to_owned());
            }
        }
    }
    Ok(())
}

/// Ends the program and all it started. It is asked first: git takes its lock files with it when it may, and one that it
/// leaves behind stops every later run.
fn end_group(child: &Child, receiver: &Receiver<Event>) {
    // The group's leader is not waited for yet, so the id is still its own. No such group means it is gone already.
    let group = Pid::from_child(child);
    let _ = kill_process_group(group, Signal::TERM);
    let deadline = Instant::now() + LAST_WORDS;
    while let Ok(event) = receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        if matches!(event, Event::Ended) {
            break;
        }
    }
    let _ = kill_process_group(group, Signal::KILL);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, options: &RunOptions<'_>) -> Result<Output, Fault> {
        run_bounded(Utf8Path::new("/bin/sh"), &["-c", script], options)
    }

    #[test]
    fn input_goes_in_and_output_comes_out() {
        let prompt = "x".repeat(300_000);
        let options = RunOptions {
            input: Input::Bytes(prompt.as_bytes()),
            ..RunOptions::default()
        };
        let output = shell("cat; echo done >&2; exit 3", &options).expect("runs");
        assert_eq!((output.stdout.len(), output.status.code()), (300_000, Some(3)));
        assert_eq!((output.success(), output.message().as_str()), (false, "done"));
    }

    #[test]
    fn input_that_is_not_read_is_no_fault() {
        let prompt = vec![b'x'; 300_000];
        let options = RunOptions {
            input: Input::Bytes(&prompt),
            ..RunOptions::default()
        };
        assert!(shell("exit 0", &options).expect("runs").success());
    }

    #[test]
    fn a_missing_program_is_named() {
        let missing = Utf8Path::new("/nowhere/no-such-program");
        let fault = run_bounded(missing, &["--token=secret"; 0], &RunOptions::default()).expect_err("missing");
        assert_eq!(fault.operation, "cannot run no-such-program");
    }

    #[test]
    fn the_timeout_ends_the_whole_group() {
        let directory = tempfile::tempdir().expect("directory");
        let fifo = directory.path().join("fifo");
        let mode = rustix::fs::Mode::RWXU;
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).expect("fifo");
        // Reading ends when the last process that has it open for writing is gone.
        let all_gone = {
            let fifo = fifo.clone();
            thread::spawn(move || std::fs::read(fifo).expect("fifo"))
        };
        let options = RunOptions {
            timeout: Duration::from_millis(200),
            ..RunOptions::default()
        };
        let script = format!("exec 3> '{}'; sleep 60 & sleep 60", fifo.display());
        let started = Instant::now();
        let fault = shell(&script, &options).expect_err("too slow");
        assert!(fault.cause.contains("did not end within"), "{fault}");
        all_gone.join().expect("reader");
        assert!(started.elapsed() < Duration::from_secs(50));
    }

    #[test]
    fn a_process_left_behind_does_not_hold_the_caller() {
        let started = Instant::now();
        let output = shell("sleep 20 & echo said", &RunOptions::default()).expect("runs");
        assert_eq!(output.stdout, b"said\n");
        assert!(started.elapsed() < Duration::from_secs(15));
    }

    #[test]
    fn too_much_output_is_a_fault() {
        let options = RunOptions {
            output_limit: 1000,
            ..RunOptions::default()
        };
        let fault = shell("while :; do echo 0123456789; done", &options).expect_err("too much");
        assert!(fault.cause.contains("more than 1000 bytes"), "{fault}");
    }

    #[test]
    fn faults_tell_the_first_argument_only() {
        let options = RunOptions {
            timeout: Duration::from_millis(50),
            ..RunOptions::default()
        };
        let fault = shell("sleep 60; : secret", &options).expect_err("too slow");
        assert!(!format!("{fault:?}").contains("secret"), "{fault:?}");
    }

    #[test]
    fn children_are_told_no_repository() {
        let names = super::super::REPOSITORY_VARIABLES;
        let set: Vec<(&str, &str)> = names.iter().map(|name| (*name, "/evil")).collect();
        // What a caller sets on purpose stays; what this process inherited does not.
        let output = shell(
            "env",
            &RunOptions {
                environment: &set,
                ..RunOptions::default()
            },
        )
        .expect("runs");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout).matches("/evil").count(),
            names.len()
        );
        let command = scrubbed(OsStr::new("env"));
        for name in names {
            assert!(
                command
                    .get_envs()
                    .any(|(key, value)| key == OsStr::new(name) && value.is_none()),
                "{name}"
            );
        }
    }
}
