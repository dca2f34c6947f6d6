//! The only place that starts processes: by argv, never through a shell (law L8).
//!
//! Every child loses the variables by which git would take another repository for the one meant, and every wait has
//! a bound but those for a worker and for a person. Owns no state.

mod bounded;
mod handshake;

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};

use camino::Utf8Path;
use orchestrate_core::world::Fault;

pub use bounded::{Input, Output, RunOptions, run_bounded};
pub use handshake::{DetachedStart, Handshake, spawn_detached};

/// Variables that name a repository, or parts of one, and would win over a child's working directory.
///
/// Settings (`GIT_CONFIG_…`), identities and transports stay: they say who works and how, not where.
pub const REPOSITORY_VARIABLES: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Variables that tell a program it runs inside an agent's session. A worker is a session of its own.
const SESSION_VARIABLES: &[&str] = &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"];

/// How a worker's client is started.
#[derive(Debug)]
pub struct ClientStart<'a> {
    /// The program, as an absolute path.
    pub program: &'a Utf8Path,
    /// Its arguments.
    pub arguments: &'a [String],
    /// Its working directory.
    pub directory: &'a Utf8Path,
    /// Variables set beside the scrubbed environment of this process.
    pub environment: &'a [(&'a str, String)],
    /// What it reads; this process's own standard input where none is given.
    pub input: Option<File>,
    /// Where both its outputs go; this process's own where none is given.
    pub output: Option<File>,
    /// Whether it leads a process group of its own. One that talks to a terminal must not.
    pub own_group: bool,
}

/// Starts a worker's client and returns its process id. The caller waits for it.
///
/// # Errors
/// When it cannot be started; the fault names the program.
pub fn start_client(start: ClientStart<'_>) -> Result<u32, Fault> {
    let fault = |cause: std::io::Error| Fault::new(format!("cannot start {}", start.program), cause.to_string());
    let mut command = scrubbed(start.program.as_os_str());
    command.args(start.arguments).current_dir(start.directory);
    for variable in SESSION_VARIABLES {
        command.env_remove(variable);
    }
    // Programs may believe PWD; that of the tower would lead them to the primary checkout.
    command
        .env("PWD", start.directory)
        .envs(start.environment.iter().map(|(name, value)| (name, value)));
    if let Some(input) = start.input {
        command.stdin(input);
    }
    if let Some(output) = start.output {
        let errors = output.try_clone().map_err(fault)?;
        command.stdout(output).stderr(errors);
    }
    if start.own_group {
        command.process_group(0);
    }
    let child = command.spawn().map_err(fault)?;
    Ok(child.id())
}

/// Runs a program in this terminal to its end, and returns how it ended: for a worker in the foreground.
///
/// # Errors
/// When it cannot be started.
pub fn run_foreground<A: AsRef<OsStr>>(
    program: &Utf8Path,
    arguments: &[A],
    directory: &Utf8Path,
) -> Result<ExitStatus, Fault> {
    let mut command = scrubbed(program.as_os_str());
    command
        .args(arguments)
        .current_dir(directory)
        .status()
        .map_err(|cause| Fault::new(format!("cannot run {program}"), cause.to_string()))
}

/// Returns how a process ended: `exit 0`, `signal 9`.
#[must_use]
pub fn describe_end(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}

/// Opens a log to append to, private to the user, in a directory that is made if it is not there.
///
/// # Errors
/// When it cannot be made or opened, or a link stands at its place.
pub fn open_log(path: &Utf8Path) -> Result<File, Fault> {
    let fault = |cause: std::io::Error| Fault::new(format!("cannot open {path}"), cause.to_string());
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(fault)?;
        if parent.is_symlink() {
            return Err(
                Fault::new(format!("cannot open {path}"), format!("{parent} is a symbolic link"))
                    .with_hint("put a real directory there; links are never followed"),
            );
        }
    }
    // A link or a pipe at the place must neither be followed nor be waited for.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = File::options()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or_default())
        .open(path)
        .map_err(fault)?;
    if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        Ok(file)
    } else {
        Err(Fault::new(format!("cannot open {path}"), "it is not a regular file")
            .with_hint(format!("move {path} away")))
    }
}

/// Returns a command without the variables that would name another repository.
#[expect(clippy::disallowed_methods, reason = "this is the one place that starts processes")]
fn scrubbed(program: &OsStr) -> Command {
    let mut command = Command::new(program);
    for variable in REPOSITORY_VARIABLES {
        command.env_remove(variable);
    }
    command.stdin(Stdio::inherit());
    command
}
