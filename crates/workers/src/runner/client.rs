//! The client: its prompt, its surroundings, its start.

use std::fs::File;
use std::io::Write;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::record::dispatch::LaunchManner;
use orchestrate_core::world::Fault;
use orchestrate_host::process::{ClientStart, open_log, start_client};

use super::admission::Admitted;
use super::prompt_file;

/// A client that only has to be started.
pub(super) struct Prepared<'a> {
    admitted: &'a Admitted,
    prompt_file: Utf8PathBuf,
    input: Option<File>,
    output: Option<File>,
}

/// Writes the prompt beside the lease and opens what the client reads and writes.
pub(super) fn prepare(admitted: &Admitted) -> Result<Prepared<'_>, Fault> {
    let launch = &admitted.record.launch;
    let prompt_file = prompt_file(&admitted.registration.git_directory);
    write_prompt(&prompt_file, &launch.prompt)?;
    let opened = || {
        File::open(&prompt_file).map_err(|error| Fault::new(format!("cannot open {prompt_file}"), error.to_string()))
    };
    let (input, output) = match launch.manner {
        LaunchManner::Background => (
            Some(opened()?),
            Some(open_log(&admitted.layout.log(&admitted.record.name()))?),
        ),
        LaunchManner::Foreground => (Some(opened()?), None),
        LaunchManner::Printed => (None, None),
    };
    Ok(Prepared {
        admitted,
        prompt_file,
        input,
        output,
    })
}

/// Replaces the prompt file in one step, so that no client ever reads half of it.
fn write_prompt(path: &Utf8Path, prompt: &str) -> Result<(), Fault> {
    let fault = |error: std::io::Error| Fault::new(format!("cannot write {path}"), error.to_string());
    let directory = path.parent().unwrap_or(path);
    let mut file = tempfile::NamedTempFile::new_in(directory).map_err(fault)?;
    file.write_all(prompt.as_bytes())
        .and_then(|()| file.as_file().sync_all())
        .map_err(fault)?;
    file.persist(path).map_err(|error| fault(error.error)).map(drop)
}

impl Prepared<'_> {
    /// Starts the client in its worktree and returns its process id.
    pub(super) fn start(self) -> Result<u32, Fault> {
        let launch = &self.admitted.record.launch;
        let (program, arguments) = launch
            .argv
            .split_first()
            .ok_or_else(|| Fault::new("cannot start the client", "no program is recorded"))?;
        let environment = environment(self.admitted, &self.prompt_file);
        start_client(ClientStart {
            program: Utf8Path::new(program),
            arguments,
            directory: &self.admitted.registration.path,
            environment: &environment,
            input: self.input,
            output: self.output,
            own_group: launch.manner == LaunchManner::Background,
        })
    }
}

/// Returns who the worker is, for itself and for the hooks that run inside it (`contract/fleet.md §10.1.6`).
fn environment(admitted: &Admitted, prompt_file: &Utf8Path) -> [(&'static str, String); 7] {
    let name = admitted.record.name();
    [
        ("ORCHESTRATE_SPEC", name.spec.to_string()),
        ("ORCHESTRATE_UNIT", name.unit.to_string()),
        ("ORCHESTRATE_PROMPT_FILE", prompt_file.to_string()),
        ("ORCHESTRATE_WORKTREE", admitted.registration.path.to_string()),
        (
            "PLANWRIGHT_WORKER_HANDLE",
            format!("{}-{}", admitted.record.launch.backend, name.worktree()),
        ),
        ("PLANWRIGHT_WORKER_SCOPE", name.to_string()),
        ("CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION", "false".to_owned()),
    ]
}

/// Makes a background runner the leader of a session without a terminal, so that no terminal's end is its end.
///
/// A runner that a person's shell already made a group leader cannot leave; it stays, and outlives the terminal by not
/// following its hang-up signal.
pub(super) fn leave_the_terminal(manner: LaunchManner) {
    match manner {
        LaunchManner::Background => drop(rustix::process::setsid()),
        LaunchManner::Foreground | LaunchManner::Printed => {}
    }
}
