//! The real tower, as a child process: one step, and what it says of the tasks.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::{TaskId, printable};
use orchestrate_core::world::Fault;
use orchestrate_host::process::{Output, RunOptions, describe_end, run_bounded};
use serde::Deserialize;

use crate::git::NEUTRAL;
use crate::project::SPEC;

/// How long one run of the tower may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What the user may have set for other repositories. To the tower an empty variable is as good as none, so that the
/// demo's own settings decide.
const FOREIGN: &[&str] = &[
    "CLAUDE_PLUGIN_DATA",
    "CLAUDE_PLUGIN_ROOT",
    "PLANWRIGHT_ADOPTER_OVERLAY",
    "PLANWRIGHT_BASE_REF",
    "PLANWRIGHT_CONFIG_DEFAULTS",
    "PLANWRIGHT_LOCAL_CONFIG",
    "PLANWRIGHT_ORCH_STATE_DIR",
    "PLANWRIGHT_REPO_ROOT",
    "PLANWRIGHT_ROOT",
];

/// The version of the status document that is understood.
const SCHEMA: u32 = 1;

/// What one step ended with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StepOutcome {
    /// Its exit status; none when a signal ended it.
    pub(crate) exit: Option<i32>,
    /// What it printed, line by line: its data, then its talk.
    pub(crate) lines: Vec<String>,
}

/// What the tower says of one task.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct TaskStatus {
    pub(crate) id: String,
    pub(crate) state: String,
    pub(crate) detail: Option<String>,
}

impl TaskStatus {
    /// Returns whether the tower holds the task for landed.
    pub(crate) fn has_landed(&self, task: &TaskId) -> bool {
        self.id == task.as_str() && self.state == "landed"
    }
}

#[derive(Debug, Deserialize)]
struct StatusDocument {
    schema: u32,
    tasks: Vec<TaskStatus>,
}

/// What the demo needs of a tower.
pub(crate) trait Tower {
    /// Runs one step.
    fn step(&mut self) -> Result<StepOutcome, Fault>;
    /// Asks where the tasks stand.
    fn status(&mut self) -> Result<Vec<TaskStatus>, Fault>;
}

/// The product itself.
pub(crate) struct ChildTower {
    pub(crate) program: Utf8PathBuf,
    pub(crate) directory: Utf8PathBuf,
}

impl ChildTower {
    fn run(&self, arguments: &[&str]) -> Result<Output, Fault> {
        let mut environment = NEUTRAL.to_vec();
        environment.extend(FOREIGN.iter().map(|name| (*name, "")));
        let options = RunOptions {
            directory: Some(&self.directory),
            environment: &environment,
            timeout: TIMEOUT,
            ..RunOptions::default()
        };
        run_bounded(&self.program, arguments, &options)
    }
}

impl Tower for ChildTower {
    fn step(&mut self) -> Result<StepOutcome, Fault> {
        let spec = format!("specs/{SPEC}");
        let output = self.run(&[&spec, "--unattended"])?;
        let mut lines = printable_lines(&output.stdout);
        lines.extend(printable_lines(&output.stderr));
        Ok(StepOutcome {
            exit: output.status.code(),
            lines,
        })
    }

    fn status(&mut self) -> Result<Vec<TaskStatus>, Fault> {
        let spec = format!("specs/{SPEC}");
        let output = self.run(&["status", &spec, "--format", "json"])?;
        if !output.success() {
            let cause = format!("{} ({})", output.message(), describe_end(output.status));
            return Err(status_fault(&self.program, cause));
        }
        parse_status(&output.stdout).map_err(|cause| status_fault(&self.program, cause))
    }
}

fn status_fault(program: &Utf8Path, cause: String) -> Fault {
    Fault::new(format!("cannot learn from {program} where {SPEC} stands"), cause)
}

/// Returns the tasks in a status document.
fn parse_status(bytes: &[u8]) -> Result<Vec<TaskStatus>, String> {
    let document: StatusDocument = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if document.schema != SCHEMA {
        return Err(format!(
            "its status has schema {}, and the demo reads {SCHEMA}",
            document.schema
        ));
    }
    Ok(document.tasks)
}

fn printable_lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(printable)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_document_gives_its_tasks() {
        let text = br#"{"schema":1,"spec":"hello-tower","next":null,"tasks":[
            {"id":"1","title":"x","state":"landed","detail":"trailer in 3f1c2ab on main"},
            {"id":"2","title":"y","state":"ready"}]}"#;
        let tasks = parse_status(text).expect("parses");
        let task = |id: &str| TaskId::parse(id).expect("id");
        assert!(tasks[0].has_landed(&task("1")) && !tasks[0].has_landed(&task("2")));
        assert_eq!((tasks[1].state.as_str(), &tasks[1].detail), ("ready", &None));
    }

    #[test]
    fn another_schema_or_no_document_is_refused() {
        let later = parse_status(br#"{"schema":2,"tasks":[]}"#).expect_err("later");
        assert_eq!(later, "its status has schema 2, and the demo reads 1");
        assert!(parse_status(b"5 tasks").is_err());
    }

    #[test]
    fn lines_are_kept_without_blank_ones_and_control_characters() {
        assert_eq!(printable_lines(b"a\n\n  b\x1b[2J\n"), ["a", "  b[2J"]);
    }

    /// A shell that reads the first argument as its script stands in for the product.
    fn shell(step: &str, status: &str) -> (tempfile::TempDir, ChildTower) {
        let keep = tempfile::tempdir().expect("directory");
        let directory = Utf8PathBuf::try_from(keep.path().to_path_buf()).expect("utf8");
        let write = |path: &str, text: &str| {
            crate::repository::write(&directory.join(path), text).expect("script");
        };
        write("specs/hello-tower", step);
        write("status", status);
        let program = "/bin/sh".into();
        (keep, ChildTower { program, directory })
    }

    #[test]
    fn a_step_is_a_child_process() {
        let script = "echo \"talk $1\" >&2; echo \"data $PLANWRIGHT_BASE_REF.\"; exit 4";
        let (_keep, mut tower) = shell(script, "echo '{\"schema\":1,\"tasks\":[]}'");
        let lines = ["data .".to_owned(), "talk --unattended".to_owned()];
        let expected = StepOutcome {
            exit: Some(4),
            lines: lines.into(),
        };
        assert_eq!(tower.step(), Ok(expected));
        assert_eq!(tower.status(), Ok(vec![]));
    }

    #[test]
    fn a_status_that_fails_says_why() {
        let (_keep, mut tower) = shell("kill -9 $$", "echo \"no $1\" >&2; exit 1");
        assert_eq!(tower.step().map(|outcome| outcome.exit), Ok(None));
        let fault = tower.status().expect_err("failed");
        assert_eq!(fault.cause, "no specs/hello-tower (exit 1)");
    }
}
