//! A tower of a few lines, for the tests of everything around the real one.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::world::Fault;

use crate::git::{Actor, Git};
use crate::project::{SCRIPTS, SPEC, Script};
use crate::repository::{bundle_directory, read};
use crate::tower::{StepOutcome, TaskStatus, Tower};
use crate::{WorkerInput, person, worker};

const DEPENDENCIES: &[(&str, &[&str])] = &[
    ("1", &[]),
    ("4", &["1"]),
    ("2", &["1"]),
    ("3", &["2"]),
    ("5", &["3", "4"]),
];

/// How the played tower misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    Good,
    StartsUnsigned,
    MovesMain,
    WorkerGivesUp,
    SeesNoLanding,
}

pub(super) struct PlayedTower {
    pub(super) directory: Utf8PathBuf,
    pub(super) manner: Manner,
    pub(super) log: Vec<String>,
}

impl PlayedTower {
    fn git(&self) -> Git<'_> {
        Git {
            directory: &self.directory,
            actor: Actor::Worker,
        }
    }

    fn landed(&self) -> Result<BTreeSet<String>, Fault> {
        let format = "--format=%(trailers:key=Planwright-Task,valueonly)";
        let values = self.git().text(&["log", format, "refs/heads/main", "--"])?;
        let prefix = format!("{SPEC}/");
        Ok(values
            .lines()
            .filter_map(|value| value.strip_prefix(&prefix))
            .map(str::to_owned)
            .collect())
    }

    fn dispatch(&mut self, task: &str) -> Result<(), Fault> {
        let directory = self.directory.clone();
        let branch = format!("planwright/{SPEC}/task-{task}");
        let worktree = directory.join(format!(".claude/worktrees/{SPEC}-task-{task}"));
        self.git().text(&[
            "worktree",
            "add",
            "--quiet",
            "-b",
            &branch,
            worktree.as_str(),
            "refs/heads/main",
        ])?;
        if self.manner == Manner::WorkerGivesUp {
            return Ok(());
        }
        let input = input(task, &worktree);
        worker(&input, &mut |line| self.log.push(line.to_owned()))
    }
}

pub(super) fn input(unit: &str, directory: &Utf8Path) -> WorkerInput {
    WorkerInput {
        spec: SPEC.to_owned(),
        unit: unit.to_owned(),
        prompt: "Do your task.".to_owned(),
        directory: directory.to_owned(),
    }
}

fn outcome(exit: i32, line: &str) -> StepOutcome {
    StepOutcome {
        exit: Some(exit),
        lines: vec![line.to_owned()],
    }
}

impl Tower for PlayedTower {
    fn step(&mut self) -> Result<StepOutcome, Fault> {
        let requirements = read(&bundle_directory(&self.directory).join("requirements.md"))?.unwrap_or_default();
        let is_draft = String::from_utf8_lossy(&requirements).contains("**Status:** Draft");
        if is_draft && self.manner != Manner::StartsUnsigned {
            return Ok(outcome(4, "halted: specs/hello-tower is a draft"));
        }
        if self.manner == Manner::MovesMain {
            self.git()
                .text(&["commit", "--quiet", "--allow-empty", "--message", "chore: move"])?;
        }
        let landed = self.landed()?;
        let is_started = |task: &str| {
            let reference = format!("refs/heads/planwright/{SPEC}/task-{task}");
            person::commit_at(&self.directory, &reference).is_ok()
        };
        let is_ready = |(task, dependencies): &(&str, &[&str])| {
            !is_started(task) && dependencies.iter().all(|dependency| landed.contains(*dependency))
        };
        match DEPENDENCIES.iter().copied().find(is_ready) {
            Some((task, _)) => {
                self.dispatch(task)?;
                Ok(outcome(0, &format!("dispatched {SPEC} task {task}")))
            }
            None => Ok(outcome(0, "nothing to dispatch")),
        }
    }

    fn status(&mut self) -> Result<Vec<TaskStatus>, Fault> {
        let landed = self.landed()?;
        let status = |script: &Script| {
            let is_seen = landed.contains(script.task) && self.manner != Manner::SeesNoLanding;
            let (state, detail) = if is_seen {
                ("landed", "trailer on main")
            } else {
                ("ready", "")
            };
            TaskStatus {
                id: script.task.to_owned(),
                state: state.to_owned(),
                detail: Some(detail.to_owned()),
            }
        };
        Ok(SCRIPTS.iter().map(status).collect())
    }
}
