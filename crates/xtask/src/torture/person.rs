//! The person of a round: merges what workers left, and does what `status` or a step says is a person's to do.
//!
//! Nobody else may move main; the person remembers where it was left.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::failure::{Context, Failure, Result};

use super::journal::Event;
use super::place::{Place, SPEC};
use super::processes::End;
use super::random::Random;

/// How long workers may take to end once nothing holds them.
const PATIENCE: Duration = Duration::from_secs(60);
/// How a hint begins that names a command of ours.
const COMMAND: &str = "orchestrate plumbing ";

/// What `status` says of one task.
#[derive(Debug, Clone)]
pub(super) struct Task {
    id: String,
    state: String,
    detail: String,
    hint: Option<String>,
}

/// How a step without any fault ended.
#[derive(Debug)]
pub(super) struct Step {
    /// The document that it printed.
    document: Value,
    /// Its outcome, reasons and errors in one line.
    pub(super) said: String,
}

/// The person.
pub(super) struct Person<'a> {
    place: &'a Place,
    random: Random,
    /// Where main was left.
    main: String,
    /// What went wrong and is no stuck unit.
    pub(super) faults: Vec<String>,
}

impl<'a> Person<'a> {
    pub(super) fn new(place: &'a Place, random: Random) -> Result<Self> {
        Ok(Self {
            place,
            random,
            main: place.main()?,
            faults: Vec::new(),
        })
    }

    /// Does once what there is to do: merges finished work, and does with some chance what the hints say.
    pub(super) fn tend(&mut self, helps: u64) -> Result<Vec<Task>> {
        self.check_main()?;
        let tasks = self.status()?;
        for task in &tasks {
            if task.state == "in progress" {
                self.land(&task.id)?;
            } else if task.state == "parked" && self.random.percent(helps) {
                self.unpark(&task.id)?;
            } else if let Some(command) = task.hint.as_deref().and_then(command_in)
                && self.random.percent(helps)
            {
                self.run(&task.id, &command)?;
            }
        }
        Ok(tasks)
    }

    /// Commits something that belongs to no task, so that the base moves.
    pub(super) fn commit_elsewhere(&mut self) -> Result<()> {
        self.check_main()?;
        let number = self.random.below(1_000_000);
        super::place::write(
            &self.place.repository.join(format!("other/{number}.txt")),
            "by a person\n",
        )?;
        self.place.git(&["add", "--", "other"])?;
        self.place.git(&["commit", "--quiet", "-m", "chore: something else"])?;
        self.remember_main()
    }

    /// Without any more faults: steps and does what is said, until everything has landed. Returns what is stuck.
    pub(super) fn settle(&mut self, tasks: usize) -> Result<Vec<String>> {
        let mut last = String::new();
        for _ in 0..6 * tasks + 10 {
            if !self.place.processes.all_ended(PATIENCE) {
                return Ok(vec![format!("processes do not end within {PATIENCE:?}")]);
            }
            let seen = self.tend(100)?;
            if seen.iter().all(|task| task.state == "landed") {
                return Ok(Vec::new());
            }
            let step = self.step()?;
            self.help(&step)?;
            last = step.said;
        }
        let stuck = self.status()?.into_iter().filter(|task| task.state != "landed");
        Ok(stuck
            .map(|task| format!("{} is {}: {}; the last step: {last}", task.id, task.state, task.detail))
            .collect())
    }

    /// Takes away the lock that a killed peer left, when there is one. Only while no peer runs.
    pub(super) fn release_bare_lock(&self) -> Result<()> {
        let lock = self.place.repository.join("specs").join(SPEC).join(".orchestrate.lock");
        if lock.is_dir() && !lock.join("owner").exists() {
            self.run(SPEC, &["orchestrate-lock", "release", &format!("specs/{SPEC}")])?;
        }
        Ok(())
    }

    /// Returns an error when main is not where the person left it.
    pub(super) fn check_main(&mut self) -> Result<()> {
        let now = self.place.main()?;
        if now != self.main {
            self.faults.push(format!(
                "main moved from {} to {now}, and the person did not do it",
                self.main
            ));
            self.main = now;
        }
        Ok(())
    }

    fn remember_main(&mut self) -> Result<()> {
        self.main = self.place.main()?;
        Ok(())
    }

    fn status(&self) -> Result<Vec<Task>> {
        let mut command = self
            .place
            .orchestrate(&["status", &format!("specs/{SPEC}"), "--format", "json"]);
        let output = self.place.processes.run(&mut command)?;
        if output.end != End::Exit(0) {
            return Err(Failure::new(format!(
                "status failed ({:?}): {}",
                output.end,
                output.stderr.trim()
            )));
        }
        let document: Value = serde_json::from_str(&output.stdout).context(|| "cannot read the status".to_owned())?;
        let text = |task: &Value, key: &str| task[key].as_str().map(str::to_owned);
        let task = |task: &Value| Task {
            id: text(task, "id").unwrap_or_default(),
            state: text(task, "state").unwrap_or_default(),
            detail: text(task, "detail").unwrap_or_default(),
            hint: text(task, "hint"),
        };
        Ok(document["tasks"]
            .as_array()
            .map(|tasks| tasks.iter().map(task).collect())
            .unwrap_or_default())
    }

    /// Lands a unit's branch in one of the ways people land branches.
    fn land(&mut self, unit: &str) -> Result<()> {
        let branch = Place::branch(unit);
        self.place.journal.add(&Event::Landing { unit: unit.to_owned() })?;
        let can_move_on = self.place.git(&["merge-base", &self.main, &branch])? == self.main;
        match self.random.below(3) {
            0 if can_move_on => drop(self.place.git(&["merge", "--quiet", "--ff-only", &branch])?),
            1 => {
                self.place.git(&["merge", "--quiet", "--squash", &branch])?;
                let message = format!("feat: unit {unit}\n\nSquashed.\n\nPlanwright-Task: {SPEC}/{unit}\n");
                self.place.git(&["commit", "--quiet", "-m", &message])?;
            }
            _ => drop(self.place.git(&[
                "merge",
                "--quiet",
                "--no-ff",
                "-m",
                &format!("Merge unit {unit}"),
                &branch,
            ])?),
        }
        self.remember_main()?;
        self.place.journal.add(&Event::Landed { unit: unit.to_owned() })
    }

    /// Runs one of our plumbing commands, as a person who was told to.
    fn run(&self, unit: &str, plumbing: &[&str]) -> Result<()> {
        let arguments = [&["plumbing"], plumbing].concat();
        let output = self.place.processes.run(&mut self.place.orchestrate(&arguments))?;
        // A tower is in its window. The person is told so, and looks again later.
        if output.end == End::Exit(2) && output.stderr.contains("cannot clear while a tower is at work") {
            return Ok(());
        }
        if output.end != End::Exit(0) {
            return Err(Failure::new(format!(
                "{} failed ({:?}): {}",
                arguments.join(" "),
                output.end,
                output.stderr.trim()
            )));
        }
        self.helped(unit, plumbing.join(" "))
    }

    /// Lets a task be dispatched again that a tower has parked: what stood in its way is looked after by who was told.
    fn unpark(&self, unit: &str) -> Result<()> {
        let arguments = ["unpark", SPEC, unit];
        let output = self.place.processes.run(&mut self.place.orchestrate(&arguments))?;
        if output.end == End::Exit(0) {
            return self.helped(unit, arguments.join(" "));
        }
        // Another tower is in its window: the person looks again later.
        if output.stderr.contains("the bundle is busy") {
            return Ok(());
        }
        Err(Failure::new(format!(
            "{} failed ({:?}): {}",
            arguments.join(" "),
            output.end,
            output.stderr.trim()
        )))
    }

    fn helped(&self, unit: &str, act: String) -> Result<()> {
        self.place.journal.add(&Event::Helped {
            unit: unit.to_owned(),
            act,
        })
    }

    fn step(&mut self) -> Result<Step> {
        let arguments = [&format!("specs/{SPEC}"), "--unattended", "--format", "json"];
        let output = self.place.processes.run(&mut self.place.orchestrate(&arguments))?;
        let document: Value = serde_json::from_str(output.stdout.trim()).unwrap_or_default();
        if document.is_null() || matches!(output.end, End::Signal(_)) {
            self.faults
                .push(format!("a step ended with {:?}: {}", output.end, output.stderr.trim()));
        }
        let step = Step {
            said: describe(&document),
            document,
        };
        if let Some((unit, attempt)) = step.dispatched() {
            self.place.journal.add(&Event::Dispatched { unit, attempt })?;
        }
        Ok(step)
    }

    /// Does what a halted step says is to be done.
    fn help(&mut self, step: &Step) -> Result<()> {
        for reason in step.document["reasons"].as_array().into_iter().flatten() {
            let reason = reason["reason"].as_str().unwrap_or_default();
            if let Some((path, _)) = reason.split_once(" holds uncommitted work") {
                self.save_work(&self.place.repository.join(path))?;
            }
        }
        Ok(())
    }

    /// Commits what a worker left, or moves it away.
    fn save_work(&mut self, worktree: &Path) -> Result<()> {
        let name = worktree
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let unit = name
            .rsplit_once("task-")
            .map(|(_, unit)| unit.to_owned())
            .unwrap_or_default();
        if self.random.percent(50) {
            for arguments in [
                &["add", "--all"][..],
                &["commit", "--quiet", "-m", "wip: what the worker left"],
            ] {
                let output = self.place.run_git(Some(worktree), arguments)?;
                if output.end != End::Exit(0) {
                    return Err(Failure::new(format!(
                        "cannot commit in {name}: {}",
                        output.stderr.trim()
                    )));
                }
            }
            let commit = self.place.git(&["rev-parse", &Place::branch(&unit)])?;
            self.place.journal.add(&Event::Committed {
                unit: unit.clone(),
                commit,
            })?;
            return self.helped(&unit, "committed what the worker left".to_owned());
        }
        let away = self
            .place
            .folder
            .join("away")
            .join(format!("{name}-{}", self.random.below(1_000_000)));
        super::place::make_directory(&away)?;
        let listed = self.place.run_git(
            Some(worktree),
            &["ls-files", "--others", "--modified", "--exclude-standard"],
        )?;
        for (number, path) in listed.stdout.lines().enumerate() {
            let target = away.join(number.to_string());
            std::fs::rename(worktree.join(path), target).context(|| format!("cannot move {path} away"))?;
        }
        self.place.run_git(Some(worktree), &["reset", "--quiet", "--hard"])?;
        self.helped(&unit, "moved away what the worker left".to_owned())
    }
}

/// Returns the words of the plumbing command that a hint names: the verb, what it does, the bundle and the task ids.
fn command_in(hint: &str) -> Option<Vec<&str>> {
    let (_, command) = hint.split_once(COMMAND)?;
    let words: Vec<&str> = command
        .split(' ')
        .map(|word| word.trim_end_matches([',', ';', '.']))
        .collect();
    // A sentence may go on after the command.
    let is_id = |word: &&&str| word.starts_with(|first: char| first.is_ascii_digit());
    let ids = words.iter().skip(3).take_while(is_id).count();
    words.get(..3 + ids).filter(|_| ids > 0).map(<[&str]>::to_vec)
}

impl Step {
    /// Returns the unit and the attempt that were dispatched.
    fn dispatched(&self) -> Option<(String, String)> {
        dispatched(&self.document)
    }
}

/// Returns the unit and the attempt of a step's document, when it dispatched one.
pub(super) fn dispatched(document: &Value) -> Option<(String, String)> {
    let text = |key: &str| document[key].as_str().map(str::to_owned);
    (document["outcome"] == "dispatched")
        .then(|| Some((text("unit")?, text("attempt")?)))
        .flatten()
}

/// Returns a step's document in one line: its outcome and its reasons.
pub(super) fn describe(document: &Value) -> String {
    let mut parts = vec![document["outcome"].as_str().unwrap_or("no document").to_owned()];
    parts.extend(
        ["reason", "message"]
            .iter()
            .filter_map(|key| document[*key].as_str().map(str::to_owned)),
    );
    parts.extend(
        document["worker"]["why"]
            .as_str()
            .map(|why| format!("worker not started: {why}")),
    );
    for reason in document["reasons"].as_array().into_iter().flatten() {
        parts.extend(reason["reason"].as_str().map(str::to_owned));
    }
    parts.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_in_a_hint_is_found_wherever_it_stands() {
        let words = ["orchestrate-marker", "clear", "specs/a", "1", "2.5"];
        for hint in [
            "look at the log, then: orchestrate plumbing orchestrate-marker clear specs/a 1 2.5",
            "orchestrate plumbing orchestrate-marker clear specs/a 1 2.5, if nobody works on it",
            "look; orchestrate plumbing orchestrate-marker clear specs/a 1 2.5 lets it be dispatched again",
        ] {
            assert_eq!(command_in(hint).as_deref(), Some(&words[..]), "{hint}");
        }
        assert_eq!(
            command_in("orchestrate plumbing orchestrate-marker clear specs/a"),
            None
        );
        assert_eq!(command_in("let them end"), None);
    }

    #[test]
    fn a_step_is_told_in_one_line() {
        let document = serde_json::json!({ "outcome": "halted", "reasons": [{ "reason": "a" }, { "reason": "b" }] });
        assert_eq!(describe(&document), "halted: a: b");
        assert_eq!(dispatched(&document), None);
        let document =
            serde_json::json!({ "outcome": "dispatched", "unit": "1", "attempt": "f", "worker": { "why": "w" } });
        assert_eq!(describe(&document), "dispatched: worker not started: w");
        assert_eq!(dispatched(&document), Some(("1".to_owned(), "f".to_owned())));
    }
}
