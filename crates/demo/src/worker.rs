//! The demo's worker: what stands in for a coding agent. It edits, tests and commits, all by a script.
//!
//! Runs as `orchestrate demo --worker`, started by the product's own worker runner in the unit's worktree. It refuses
//! to act anywhere but in such a worktree of a repository that the demo made.

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::{SpecId, TaskId, Unit, UnitName};
use orchestrate_core::world::Fault;

use crate::check;
use crate::git::{Actor, Git};
use crate::project::{self, SPEC, Script, Stage};
use crate::repository;

/// What the worker was told, as the command line found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerInput {
    /// `ORCHESTRATE_SPEC`.
    pub spec: String,
    /// `ORCHESTRATE_UNIT`.
    pub unit: String,
    /// The prompt, from standard input. A script needs none; its length is logged.
    pub prompt: String,
    /// The working directory.
    pub directory: Utf8PathBuf,
}

/// Does the work of one unit and commits it; `log` is given each line of the worker's talk.
///
/// A worker that was killed goes on where it stopped when it is started again: commits that are there are not made a
/// second time.
///
/// # Errors
/// When the working directory is not the unit's worktree in a repository of the demo, when a check fails, or when git
/// or the disk refuses.
pub fn worker(input: &WorkerInput, log: &mut dyn FnMut(&str)) -> Result<(), Fault> {
    let name = unit_name(input)?;
    refuse_elsewhere(&name, &input.directory)?;
    log(&format!(
        "working on {name}, told by a prompt of {} words",
        input.prompt.split_whitespace().count()
    ));
    for task in name.unit.tasks() {
        work(&input.directory, task, log)?;
    }
    Ok(())
}

fn unit_name(input: &WorkerInput) -> Result<UnitName, Fault> {
    let fault = |variable: &str, cause: String| {
        Fault::new(format!("cannot tell the unit from {variable}"), cause)
            .with_hint("the demo's worker is started by a step in the demo's repository, never by hand")
    };
    let spec = SpecId::parse(&input.spec).map_err(|error| fault("ORCHESTRATE_SPEC", error.to_string()))?;
    if spec.as_str() != SPEC {
        return Err(fault(
            "ORCHESTRATE_SPEC",
            format!("the demo's worker knows {SPEC} only"),
        ));
    }
    let unit = Unit::parse(&input.unit).map_err(|error| fault("ORCHESTRATE_UNIT", error.to_string()))?;
    Ok(UnitName { spec, unit })
}

/// Refuses any directory but the unit's worktree in a repository that the demo made.
fn refuse_elsewhere(name: &UnitName, directory: &Utf8Path) -> Result<(), Fault> {
    let fault = |cause: String| {
        Fault::new(format!("cannot work in {directory}"), cause)
            .with_hint("the demo's worker acts only where orchestrate demo made the repository")
    };
    let here = directory
        .canonicalize_utf8()
        .map_err(|error| fault(error.to_string()))?;
    let found = orchestrate_host::repository::discover(&here)?;
    if !repository::is_ours(&found.layout.common) {
        return Err(fault("the repository was not made by the demo".to_owned()));
    }
    match found.registration(name)? {
        Some(registration) if registration.path == here => Ok(()),
        Some(_) | None => Err(fault(format!("it is not the worktree of {}", name.branch()))),
    }
}

fn work(directory: &Utf8Path, task: &TaskId, log: &mut dyn FnMut(&str)) -> Result<(), Fault> {
    let script = project::script(task.as_str())?;
    let git = Git {
        directory,
        actor: Actor::Worker,
    };
    let subjects = git.text(&["log", "--format=%s", "refs/heads/main..HEAD", "--"])?;
    for (index, stage) in script.stages.iter().enumerate() {
        if subjects.lines().any(|subject| subject == stage.subject) {
            log(&format!("committed before: {}", stage.subject));
            continue;
        }
        for edit in stage.edits {
            repository::write(&directory.join(edit.0), &script.text_of(*edit)?)?;
            log(&format!("wrote {}", edit.0));
        }
        let is_last = index + 1 == script.stages.len();
        commit(&git, script, stage, is_last, log)?;
    }
    Ok(())
}

/// Tests what was written and commits it. The last commit has to pass, and says which task it completes.
fn commit(
    git: &Git<'_>,
    script: &Script,
    stage: &Stage,
    is_last: bool,
    log: &mut dyn FnMut(&str),
) -> Result<(), Fault> {
    let finding = test(git.directory, script)?;
    match &finding {
        Some(finding) => log(&format!("check: {finding}")),
        None => log("check: passed"),
    }
    if let Some(finding) = finding.filter(|_| is_last) {
        return Err(Fault::new(format!("cannot complete task {}", script.task), finding));
    }
    let mut arguments = vec!["add", "--"];
    arguments.extend(stage.edits.iter().map(|(path, _)| *path));
    git.text(&arguments)?;
    git.text(&["diff", "--cached", "--check"])?;
    let message = if is_last {
        format!("{}\n\nPlanwright-Task: {SPEC}/{}\n", stage.subject, script.task)
    } else {
        format!("{}\n", stage.subject)
    };
    git.commit(&message)?;
    log(&format!("committed: {}", stage.subject));
    Ok(())
}

fn test(directory: &Utf8Path, script: &Script) -> Result<Option<String>, Fault> {
    let path = directory.join(script.check_path());
    let expected = repository::read(&path)?.ok_or_else(|| {
        Fault::new(
            format!("cannot test task {}", script.task),
            format!("there is no {path}"),
        )
    })?;
    check::finding(script, &expected, |file| repository::read(&directory.join(file)))
}
