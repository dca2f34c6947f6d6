//! The worker runner, `orchestrate plumbing run-worker <spec> <ids>` (architecture §6, "Worker lease").
//!
//! A process of its own, which takes the worker's lease, starts the client and stays until no descendant is left. Every
//! backend goes through it, so that a unit has at most one worker whoever starts it, and however often (law L3).
//!
//! The order is fixed: everything that can refuse, then the launch record, then the client. From the launch record on
//! the attempt counts as started; it is never started again.

mod admission;
mod answer;
mod client;
mod reaper;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::{Nonce, UnitName};
use orchestrate_core::observed::Why;
use orchestrate_core::place::Place;
use orchestrate_core::record::launch::{LaunchRecord, WorkerEnd};
use orchestrate_core::world::{Fault, Reading};
use orchestrate_host::failpoint::reach;
use orchestrate_host::layout::{Layout, PROMPT_FILE};
use orchestrate_host::{clock, files, identity};

use admission::Admitted;
use answer::Answer;
use reaper::Guardian;

/// What the runner is asked to do.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// A directory inside the repository.
    pub directory: Utf8PathBuf,
    /// The unit.
    pub name: UnitName,
    /// The attempt that the caller means; the recorded one, whichever it is, where none is given.
    pub attempt: Option<Nonce>,
}

/// How a client ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientEnd {
    /// By itself, with that code.
    Exit(i32),
    /// By that signal.
    Signal(i32),
    /// It could not be seen, because somebody else waited for it.
    Unseen,
}

impl std::fmt::Display for ClientEnd {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exit(code) => write!(formatter, "exit {code}"),
            Self::Signal(signal) => write!(formatter, "signal {signal}"),
            Self::Unseen => formatter.write_str("its end was not seen"),
        }
    }
}

/// What the runner did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a refusal has a reason that a person should read"]
pub enum RunOutcome {
    /// Nothing: something stands against a start, and nothing was written.
    Refused(Why),
    /// The attempt is used up, but its client could not be started; the launch record says so.
    NotStarted(Why),
    /// The client ran, and neither it nor any descendant of it is left.
    Ended(ClientEnd),
}

/// Returns where the runner puts the prompt of a worktree, given the worktree's git directory.
#[must_use]
pub fn prompt_file(git_directory: &Utf8Path) -> Utf8PathBuf {
    git_directory.join(PROMPT_FILE)
}

/// Tells whoever started this process as a runner that nothing was started, where that is found out before
/// [`run_worker`] is called: the log that it writes to may lie on the very disk that is full.
pub fn refuse(fault: &Fault) {
    Answer::new().refused(&fault.to_string());
}

/// Runs the worker of a recorded dispatch to its end.
///
/// For a background worker the first line of standard output is the [`orchestrate_host::process::Handshake`]; then
/// standard output is closed. The whole process belongs to the worker: it takes over signals, becomes the parent of
/// every orphaned descendant, and gives the lease to every process it starts.
///
/// # Errors
/// When the machine fails; nothing was started then, or the client's end could not be recorded.
pub fn run_worker(request: &RunRequest) -> Result<RunOutcome, Fault> {
    let answer = Answer::new();
    let admitted = match admission::admit(request) {
        Ok(Ok(admitted)) => admitted,
        Ok(Err(why)) => {
            answer.refused(&why.reason);
            return Ok(RunOutcome::Refused(why));
        }
        Err(fault) => {
            answer.refused(&fault.to_string());
            return Err(fault);
        }
    };
    let started = start(&admitted);
    match &started {
        Ok(Ok(_)) => answer.started(admitted.record.launch.manner),
        Ok(Err(why)) => answer.refused(&why.reason),
        Err(fault) => answer.refused(&fault.to_string()),
    }
    reach("worker.started");
    let guardian = match started? {
        Ok(guardian) => guardian,
        Err(why) => {
            record_end(&admitted, why.reason.clone())?;
            return Ok(RunOutcome::NotStarted(why));
        }
    };
    let end = guardian.wait()?;
    reach("worker.ended");
    record_end(&admitted, end.to_string())?;
    Ok(RunOutcome::Ended(end))
}

/// Writes the launch record and starts the client, or returns why the client cannot be started.
fn start(admitted: &Admitted) -> Result<Result<Guardian, Why>, Fault> {
    client::leave_the_terminal(admitted.record.launch.manner);
    let guardian = Guardian::new(admitted.record.launch.manner)?;
    let prepared = client::prepare(admitted)?;
    let runner = Some(identity::current()?);
    let launch = LaunchRecord::new(admitted.record.attempt.clone(), clock::now(), runner);
    let place = Place::LaunchRecord(admitted.record.name());
    files::write(&admitted.layout, &place, &launch.render())?;
    reach("worker.recorded");
    match guardian.adopt(|| prepared.start()) {
        Ok(()) => Ok(Ok(guardian)),
        Err(fault) => Ok(Err(Why::new(fault.to_string()))),
    }
}

/// Adds the end to the launch record, unless a later attempt has replaced it.
fn record_end(admitted: &Admitted, status: String) -> Result<(), Fault> {
    let place = Place::LaunchRecord(admitted.record.name());
    match read_launch(&admitted.layout, &place) {
        Ok(Some(mut launch)) if launch.attempt == admitted.record.attempt => {
            launch.ended = Some(WorkerEnd {
                at: clock::now(),
                status,
            });
            files::write(&admitted.layout, &place, &launch.render())
        }
        // A person cleared the record, or gave the unit to a later attempt. That attempt's record is not ours to change.
        Ok(Some(_) | None) => Ok(()),
        Err(why) => Err(Fault::new(
            format!("cannot record that the worker ended ({status})"),
            why.reason,
        )),
    }
}

/// Returns the launch record at the place, or why it cannot be read.
fn read_launch(layout: &Layout, place: &Place) -> Result<Option<LaunchRecord>, Why> {
    read_record(layout, place)?
        .map(|bytes| LaunchRecord::parse(&bytes))
        .transpose()
        .map_err(|error| Why::new(format!("{place}: {error}")))
}

/// Returns the bytes of a record, nothing where there is none, or why they cannot be read.
fn read_record(layout: &Layout, place: &Place) -> Result<Option<Vec<u8>>, Why> {
    let unreadable = |what: &str| Err(Why::new(format!("{place} {what}")));
    match files::read(layout, place) {
        Reading::Absent => Ok(None),
        Reading::File { bytes, .. } => Ok(Some(bytes)),
        Reading::Directory { .. } => unreadable("is a directory"),
        Reading::Symlink => unreadable("is a symbolic link"),
        Reading::Special => unreadable("is no regular file"),
        Reading::Unreadable(cause) => unreadable(&format!("cannot be read: {cause}")),
    }
}
