//! Backends: each composes what a worker is started with, and decides nothing else.
//!
//! All of them are pure: the same request gives the same order, and nothing is started, read or written here. Where a
//! program is missing the answer is a reason, before anything durable was done (law L2).

mod claude;
mod command;
#[cfg(test)]
mod contract;
mod print;

use camino::Utf8Path;
use orchestrate_core::identifier::{BackendName, UnitName};
use orchestrate_core::observed::Why;
use orchestrate_core::record::dispatch::{LaunchManner, LaunchOrder};

use crate::programs::Programs;

pub use claude::{HeadlessOneshot, InSession};
pub use command::CommandBackend;
pub use print::Print;

/// The value of `dispatch_backend` that lets the tower choose (`contract/fleet.md §4.1`, `select-unattended`).
pub const FULL_SESSION: &str = "full-session";

/// Every backend of this build, in the order in which a list shows them.
pub const NAMES: [&str; 4] = [
    HeadlessOneshot::NAME,
    CommandBackend::NAME,
    InSession::NAME,
    Print::NAME,
];

/// Backends of the reference that this build does not have (`contract/fleet.md §4.1`).
const ELSEWHERE: [&str; 3] = ["stream-json-persistent", "subagent", "tmux"];

/// Returns whether anybody knows a backend of that name, in this build or not.
#[must_use]
pub fn is_known(name: &BackendName) -> bool {
    let name = name.as_str();
    name == FULL_SESSION || NAMES.contains(&name) || ELSEWHERE.contains(&name)
}

/// What a worker is asked to do, and where.
#[derive(Debug, Clone, Copy)]
pub struct OrderRequest<'a> {
    /// The unit.
    pub name: &'a UnitName,
    /// The text for the worker. It goes by stdin or by file, never by argument.
    pub prompt: &'a str,
    /// The unit's worktree.
    pub worktree: &'a Utf8Path,
    /// Where the runner puts the prompt: [`crate::runner::prompt_file`] of the worktree's git directory.
    pub prompt_file: &'a Utf8Path,
    /// Where the tower puts the text of [`crate::worker_settings`].
    pub settings_file: &'a Utf8Path,
}

/// One way to start a worker.
pub trait Backend {
    /// Returns the name in configuration and records.
    fn name(&self) -> &'static str;

    /// Returns how the worker is started.
    fn manner(&self) -> LaunchManner;

    /// Returns what the worker runner is to start.
    ///
    /// # Errors
    /// Why no worker can be started, with what helps.
    fn order(&self, request: &OrderRequest<'_>, programs: &dyn Programs) -> Result<LaunchOrder, Why>;
}

/// A resolved backend.
pub struct Resolved {
    /// The backend.
    pub backend: Box<dyn Backend>,
    /// What the user should know about the choice.
    pub note: Option<String>,
}

impl std::fmt::Debug for Resolved {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Resolved")
            .field("backend", &self.backend.name())
            .field("note", &self.note)
            .finish()
    }
}

/// Returns the backend that a configured name means. `command` is the value of the key `command_backend`.
///
/// `full-session` is `headless-oneshot` where Claude Code is installed and `print` elsewhere, and the note says so. A
/// backend's own name is honoured or refused, never substituted (`contract/fleet.md §4.1`, §13.3).
///
/// # Errors
/// When the named backend is not in this build, or the program it starts is not installed.
pub fn resolve(configured: &BackendName, command: &[String], programs: &dyn Programs) -> Result<Resolved, Why> {
    let literal = |backend: Box<dyn Backend>| Ok(Resolved { backend, note: None });
    match configured.as_str() {
        FULL_SESSION => Ok(full_session(command, programs)),
        HeadlessOneshot::NAME => {
            claude::program(programs)?;
            literal(Box::new(HeadlessOneshot))
        }
        InSession::NAME => {
            claude::program(programs)?;
            literal(Box::new(InSession))
        }
        CommandBackend::NAME => {
            let backend = CommandBackend::new(command.to_vec());
            backend.program(programs)?;
            literal(Box::new(backend))
        }
        Print::NAME => literal(Box::new(Print::new(command.to_vec()))),
        other => Err(
            Why::new(format!("the backend {other} is not in this build")).with_hint(format!(
                "set dispatch_backend to {FULL_SESSION} or to one of {}",
                NAMES.join(", ")
            )),
        ),
    }
}

fn full_session(command: &[String], programs: &dyn Programs) -> Resolved {
    if claude::program(programs).is_ok() {
        return Resolved {
            backend: Box::new(HeadlessOneshot),
            note: Some(format!(
                "{FULL_SESSION} is {}: this build has no supervised worker yet",
                HeadlessOneshot::NAME
            )),
        };
    }
    Resolved {
        backend: Box::new(Print::new(command.to_vec())),
        note: Some(format!(
            "{FULL_SESSION} is {}: claude is not on the search path, so a person starts the worker",
            Print::NAME
        )),
    }
}

/// Returns the order of a backend.
fn order(backend: &dyn Backend, argv: Vec<String>, request: &OrderRequest<'_>) -> Result<LaunchOrder, Why> {
    Ok(LaunchOrder {
        backend: BackendName::parse(backend.name()).map_err(|error| Why::new(error.to_string()))?,
        manner: backend.manner(),
        argv,
        prompt: request.prompt.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::contract::Installed;
    use super::*;

    fn resolved(name: &str, command: &[&str], installed: &[&str]) -> Result<(String, bool), Why> {
        let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        let name = BackendName::parse(name).expect("name");
        let resolved = resolve(&name, &command, &Installed::only(installed))?;
        Ok((resolved.backend.name().to_owned(), resolved.note.is_some()))
    }

    #[test]
    fn full_session_ladders_and_says_so() {
        assert_eq!(
            resolved("full-session", &[], &["claude"]),
            Ok(("headless-oneshot".to_owned(), true))
        );
        assert_eq!(resolved("full-session", &[], &[]), Ok(("print".to_owned(), true)));
        assert_eq!(
            resolved("full-session", &["my-agent"], &["my-agent"]),
            Ok(("print".to_owned(), true))
        );
    }

    /// Verifies REQ-E1.3.
    #[test]
    fn a_literal_name_is_honoured_or_refused() {
        for (name, program) in [
            ("headless-oneshot", "claude"),
            ("in-session", "claude"),
            ("command", "my-agent"),
        ] {
            assert_eq!(resolved(name, &["my-agent"], &[program]), Ok((name.to_owned(), false)));
            let why = resolved(name, &["my-agent"], &[]).expect_err("absent");
            assert!(why.reason.contains(program) && why.hint.is_some(), "{why:?}");
        }
        assert_eq!(resolved("print", &[], &[]), Ok(("print".to_owned(), false)));
    }

    #[test]
    fn a_command_backend_without_a_command_names_its_key() {
        let why = resolved("command", &[], &["claude"]).expect_err("no command");
        assert!(
            why.hint
                .is_some_and(|hint| hint.contains("command_backend") && hint.contains("machine-local"))
        );
    }

    #[test]
    fn other_backends_are_not_in_this_build() {
        for name in ["tmux", "subagent", "stream-json-persistent", "my-adapter"] {
            let why = resolved(
                name,
                &["my-agent"],
                &["claude", "tmux", "my-agent", "planwright-backend-my-adapter"],
            );
            assert!(why.expect_err("unknown").reason.contains("not in this build"));
        }
    }
}
