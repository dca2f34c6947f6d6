//! The demo itself: prepare, then tower and person in turn until all five tasks have landed.
//!
//! Owns the order of things and the record of what happened. Every wait has a bound, and so has the number of steps.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::exit;
use orchestrate_core::identifier::{TaskId, UnitName};
use orchestrate_core::world::Fault;
use orchestrate_host::lease;
use orchestrate_host::repository::discover;

use crate::event::{DemoEvent, Happening};
use crate::person;
use crate::project::{SCRIPTS, SPEC};
use crate::repository;
use crate::summary::DemoSummary;
use crate::tower::{ChildTower, StepOutcome, TaskStatus, Tower};
use crate::waiting::{self, WorkerEnd};

/// How many steps the demo takes at most. It needs about fifteen.
const MOST_STEPS: usize = 60;
/// How long a scripted worker may take. It needs less than a second.
const WORKER_TIMEOUT: Duration = Duration::from_secs(60);

/// A demo whose repository is made and whose spec is signed.
#[derive(Debug)]
pub struct Demo {
    directory: Utf8PathBuf,
    program: Utf8PathBuf,
    start: Instant,
    events: Vec<DemoEvent>,
}

impl Demo {
    /// Makes the throw-away repository, lets the tower refuse the unsigned spec, and signs it as the person.
    ///
    /// `program` is this binary: it is run as the tower and, with `demo --worker`, as the worker. `directory` is where
    /// the repository is to be; a new temporary directory where none is given. It stays when the demo has ended.
    ///
    /// # Errors
    /// When the directory is not empty, git is missing or refuses, or the tower does not refuse the unsigned spec.
    pub fn prepare(program: &Utf8Path, directory: Option<Utf8PathBuf>) -> Result<Self, Fault> {
        let program = camino::absolute_utf8(program)
            .map_err(|error| Fault::new(format!("cannot find this program at {program}"), error.to_string()))?;
        let mut demo = Self::in_directory(program, repository::make_directory(directory)?);
        let mut tower = demo.child_tower();
        match demo.prepare_with(&mut tower) {
            Ok(()) => Ok(demo),
            Err(fault) => Err(demo.leave(fault)),
        }
    }

    /// Returns why the preparation failed, after removing the directory if nothing is in it yet.
    fn leave(&self, fault: Fault) -> Fault {
        let is_removed = std::fs::remove_dir(&self.directory).is_ok();
        if is_removed || fault.hint.is_some() {
            return fault;
        }
        fault.with_hint(format!("look into {}", self.directory))
    }

    pub(crate) fn in_directory(program: Utf8PathBuf, directory: Utf8PathBuf) -> Self {
        Self {
            directory,
            program,
            start: Instant::now(),
            events: Vec::new(),
        }
    }

    fn child_tower(&self) -> ChildTower {
        ChildTower {
            program: self.program.clone(),
            directory: self.directory.clone(),
        }
    }

    /// Returns where the repository lies.
    #[must_use]
    pub fn directory(&self) -> &Utf8Path {
        &self.directory
    }

    /// Runs the tower step by step, and the person in between, until every task has landed.
    ///
    /// `report` is given each event when it has happened, those of the preparation first.
    ///
    /// # Errors
    /// When a step fails or halts, the tower moves main, a worker ends without finishing its task, the person's review
    /// finds something, or the tasks have not landed within a bounded number of steps. The repository stays as it is.
    pub fn run(&mut self, report: &mut dyn FnMut(&DemoEvent)) -> Result<DemoSummary, Fault> {
        let mut tower = self.child_tower();
        self.run_with(&mut tower, report)
    }

    pub(crate) fn prepare_with(&mut self, tower: &mut dyn Tower) -> Result<(), Fault> {
        repository::make(&self.directory, &self.program)?;
        let directory = self.directory.clone();
        self.record(Happening::Made { directory });
        let before = person::commit_at(&self.directory, "refs/heads/main")?;
        let outcome = tower.step()?;
        let fault = |cause: String| Fault::new("cannot show that an unsigned spec is refused", cause);
        if outcome.exit != Some(i32::from(exit::HALTED)) {
            return Err(fault(format!("the tower did not halt: {}", describe(&outcome))));
        }
        if !self.units()?.is_empty() || person::commit_at(&self.directory, "refs/heads/main")? != before {
            return Err(fault(format!(
                "the tower halted and acted all the same: {}",
                describe(&outcome)
            )));
        }
        self.record(Happening::Refused {
            exit: i32::from(exit::HALTED),
            lines: outcome.lines,
        });
        let sign_off = person::sign(&self.directory)?;
        self.record(Happening::Signed {
            anchor: sign_off.anchor,
            commit: sign_off.commit,
        });
        Ok(())
    }

    fn record(&mut self, what: Happening) {
        self.record_at(Instant::now(), what);
    }

    fn record_at(&mut self, instant: Instant, what: Happening) {
        let at = instant.saturating_duration_since(self.start);
        self.events.push(DemoEvent { at, what });
    }

    /// Returns the units that have a worktree, and the git directory of each.
    fn units(&self) -> Result<BTreeMap<UnitName, Utf8PathBuf>, Fault> {
        let registrations = discover(&self.directory)?.registrations()?;
        Ok(registrations
            .into_iter()
            .filter_map(|registration| {
                let name = UnitName::from_branch(registration.branch.as_deref()?).ok()?;
                (name.spec.as_str() == SPEC).then_some((name, registration.git_directory))
            })
            .collect())
    }

    pub(crate) fn run_with(
        &mut self,
        tower: &mut dyn Tower,
        report: &mut dyn FnMut(&DemoEvent),
    ) -> Result<DemoSummary, Fault> {
        let (sender, receiver) = channel();
        let mut turn = Turn {
            started: BTreeSet::new(),
            running: BTreeSet::new(),
            in_review: Vec::new(),
            sender,
            receiver,
        };
        let mut reported = 0;
        for _ in 0..MOST_STEPS {
            let result = self.turn(&mut turn, tower);
            // What happened before a fault is shown too: it tells where to look.
            for event in self.events.get(reported..).unwrap_or_default() {
                report(event);
            }
            reported = self.events.len();
            if result? {
                return Ok(self.summary());
            }
        }
        Err(stuck(
            tower,
            &format!("not all tasks had landed after {MOST_STEPS} steps"),
        ))
    }

    /// Runs one step and does what it leaves for the person to do. Returns whether every task has landed.
    fn turn(&mut self, turn: &mut Turn, tower: &mut dyn Tower) -> Result<bool, Fault> {
        let in_review = turn.in_review.clone();
        let dispatched = self.step(turn, tower)?;
        while let Ok(end) = turn.receiver.try_recv() {
            self.worker_ended(turn, end)?;
        }
        if dispatched {
            return Ok(false);
        }
        // The person merges what waited during the step, so that it is seen that the tower did not.
        if !in_review.is_empty() {
            for name in &in_review {
                self.review_and_merge(name)?;
            }
            turn.in_review.retain(|name| !in_review.contains(name));
            return self.acknowledge(tower);
        }
        if !turn.in_review.is_empty() {
            return Ok(false);
        }
        if turn.running.is_empty() {
            return Err(stuck(
                tower,
                "no worker runs, nothing waits for a person, and nothing was dispatched",
            ));
        }
        match turn.receiver.recv_timeout(WORKER_TIMEOUT) {
            Ok(end) => self.worker_ended(turn, end).map(|()| false),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                Err(stuck(tower, &format!("no worker ended within {WORKER_TIMEOUT:?}")))
            }
        }
    }

    /// Runs one step. Returns whether it dispatched something.
    fn step(&mut self, turn: &mut Turn, tower: &mut dyn Tower) -> Result<bool, Fault> {
        let main = person::commit_at(&self.directory, "refs/heads/main")?;
        let outcome = tower.step()?;
        let at = Instant::now();
        if outcome.exit != Some(i32::from(exit::DONE)) {
            return Err(Fault::new(
                "cannot go on with the demo",
                format!("a step failed: {}", describe(&outcome)),
            )
            .with_hint(format!("look into {}", self.directory)));
        }
        if person::commit_at(&self.directory, "refs/heads/main")? != main {
            return Err(Fault::new(
                "cannot go on with the demo",
                "main moved while the tower ran",
            ));
        }
        let mut dispatched = Vec::new();
        for (name, git_directory) in self.units()? {
            if turn.started.insert(name.clone()) {
                turn.running.insert(name.clone());
                dispatched.extend(name.unit.tasks().cloned());
                waiting::follow(name, lease::path(&git_directory), turn.sender.clone());
            }
        }
        let acted = !dispatched.is_empty();
        let in_review = turn
            .in_review
            .iter()
            .flat_map(|name| name.unit.tasks().cloned())
            .collect();
        self.record_at(
            at,
            Happening::Stepped {
                lines: outcome.lines,
                dispatched,
                in_review,
            },
        );
        Ok(acted)
    }

    fn worker_ended(&mut self, turn: &mut Turn, end: WorkerEnd) -> Result<(), Fault> {
        let WorkerEnd { name, at } = end;
        let fault = |cause: String| Fault::new(format!("cannot go on with {name}"), cause);
        let at = at.map_err(fault)?;
        for task in name.unit.tasks() {
            self.record_at(at, Happening::WorkerEnded { task: task.clone() });
            if !person::is_finished(&self.directory, &name, task)? {
                let log = discover(&self.directory)?.layout.log(&name);
                return Err(fault(format!("its worker ended without completing task {task}"))
                    .with_hint(format!("its messages are in {log}")));
            }
        }
        turn.running.remove(&name);
        turn.in_review.push(name);
        Ok(())
    }

    fn review_and_merge(&mut self, name: &UnitName) -> Result<(), Fault> {
        for task in name.unit.tasks() {
            person::review(&self.directory, name, task)?;
            let commit = person::merge(&self.directory, name, task)?;
            let landing = person::landing_of(task);
            self.record(Happening::Merged {
                task: task.clone(),
                landing,
                commit,
            });
        }
        Ok(())
    }

    /// Asks the tower where the tasks stand. Returns whether every task has landed.
    fn acknowledge(&mut self, tower: &mut dyn Tower) -> Result<bool, Fault> {
        let status = tower.status()?;
        let merged: Vec<TaskId> = self.merged();
        for task in &merged {
            let known = self
                .events
                .iter()
                .any(|event| matches!(&event.what, Happening::Acknowledged { task: known, .. } if known == task));
            match status.iter().find(|entry| entry.has_landed(task)) {
                Some(entry) if !known => {
                    self.record(Happening::Acknowledged {
                        task: task.clone(),
                        evidence: entry.detail.clone().unwrap_or_default(),
                    });
                }
                Some(_) => {}
                None => {
                    return Err(unsettled(
                        &format!("task {task} was merged and has not landed"),
                        &status,
                    ));
                }
            }
        }
        Ok(merged.len() == SCRIPTS.len())
    }

    fn merged(&self) -> Vec<TaskId> {
        let merged = self.events.iter().filter_map(|event| match &event.what {
            Happening::Merged { task, .. } => Some(task.clone()),
            Happening::Made { .. }
            | Happening::Refused { .. }
            | Happening::Signed { .. }
            | Happening::Stepped { .. }
            | Happening::WorkerEnded { .. }
            | Happening::Acknowledged { .. } => None,
        });
        merged.collect()
    }

    fn summary(&self) -> DemoSummary {
        DemoSummary {
            directory: self.directory.clone(),
            program: self.program.clone(),
            // A worker's end is learned of later than it happened.
            events: {
                let mut events = self.events.clone();
                events.sort_by_key(|event| event.at);
                events
            },
        }
    }
}

/// Where the units stand between two steps.
struct Turn {
    /// Units whose worker was started, ever.
    started: BTreeSet<UnitName>,
    /// Units whose worker runs.
    running: BTreeSet<UnitName>,
    /// Finished units that wait for the person.
    in_review: Vec<UnitName>,
    sender: Sender<WorkerEnd>,
    receiver: Receiver<WorkerEnd>,
}

fn describe(outcome: &StepOutcome) -> String {
    let exit = outcome
        .exit
        .map_or("a signal".to_owned(), |code| format!("exit {code}"));
    if outcome.lines.is_empty() {
        return format!("{exit}, and it printed nothing");
    }
    format!("{exit}\n{}", outcome.lines.join("\n"))
}

/// Returns why the demo does not go on, with where the tasks stand.
fn stuck(tower: &mut dyn Tower, cause: &str) -> Fault {
    match tower.status() {
        Ok(status) => unsettled(cause, &status),
        Err(fault) => Fault::new("cannot go on with the demo", format!("{cause}; {fault}")),
    }
}

fn unsettled(cause: &str, status: &[TaskStatus]) -> Fault {
    let lines: Vec<String> = status
        .iter()
        .map(|task| {
            let detail = task.detail.as_deref().unwrap_or_default();
            format!("\n  {}  {}  {detail}", task.id, task.state)
        })
        .collect();
    Fault::new(
        "cannot go on with the demo",
        format!("{cause}; the tower says{}", lines.concat()),
    )
    .with_hint("the repository stays as it is: orchestrate status specs/hello-tower tells more")
}
