//! The person of a round: merges what workers left, and does what `status` or a step says is a person's to do.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::failure::{Context, Failure, Result};

use super::journal::Event;
use super::landing::Landings;
use super::origin::Weather;
use super::place::{FETCH_ALWAYS, Place, SPEC};
use super::processes::{End, Output};
use super::random::Random;
use super::reading::{Task, describe, dispatched, tasks};
use super::scene::Scene;

/// How long workers may take to end once nothing holds them.
const PATIENCE: Duration = Duration::from_secs(60);

/// The person.
pub(super) struct Person<'a> {
    scene: &'a Scene,
    random: Random,
    landings: Landings<'a>,
    weather: Weather,
    /// Locks of git that were in the way, each with when it was made: one that still is belongs to a git that was killed.
    locks: BTreeSet<(PathBuf, SystemTime)>,
    /// What went wrong and is no stuck unit.
    pub(super) faults: Vec<String>,
}

impl<'a> Person<'a> {
    pub(super) fn new(scene: &'a Scene, random: Random) -> Result<Self> {
        Ok(Self {
            scene,
            landings: Landings::new(scene)?,
            random,
            weather: Weather::Clear,
            locks: BTreeSet::new(),
            faults: Vec::new(),
        })
    }

    /// Looks after one host, and lets origin fail or answer again.
    pub(super) fn tend_somewhere(&mut self, helps: u64) -> Result<()> {
        if let Some(shared) = &self.scene.shared {
            self.weather = Weather::random(&mut self.random);
            shared.origin.set(self.weather)?;
            if self.random.percent(25) {
                return self.land_of_peers();
            }
        }
        let number = self.random.below(16);
        self.tend(self.scene.host(number), helps).map(drop)
    }

    /// Lets origin answer as it should.
    pub(super) fn clear_up(&mut self) -> Result<()> {
        self.weather = Weather::Clear;
        match &self.scene.shared {
            Some(shared) => shared.origin.set(self.weather),
            None => Ok(()),
        }
    }

    /// Looks after every host, with a clear sky. Returns what each said.
    pub(super) fn tend_all(&mut self, helps: u64) -> Result<Vec<Vec<Task>>> {
        self.clear_up()?;
        self.land_of_peers()?;
        let hosts = self.scene.hosts.iter();
        hosts.map(|place| self.tend(place, helps)).collect()
    }

    /// Does once what there is to do on a host: merges finished work, and does with some chance what the hints say.
    fn tend(&mut self, place: &Place, helps: u64) -> Result<Vec<Task>> {
        let is_clear = self.weather == Weather::Clear;
        if is_clear {
            self.landings.check_main(&mut self.faults)?;
            if self.scene.shared.is_some() && self.random.percent(15) {
                self.landings.pull(place)?;
            }
        }
        let tasks = status(place)?;
        for task in &tasks {
            if task.state == "in progress" {
                if is_clear {
                    self.landings
                        .land(place, &task.id, &mut self.random, &mut self.faults)?;
                }
            } else if task.state == "parked" && self.random.percent(helps) {
                if let Some(commands) = task.removal() {
                    self.remove_worktree(place, &task.id, &commands)?;
                }
                unpark(place, &task.id)?;
            } else if let Some(command) = task.command()
                && self.random.percent(helps)
            {
                run(place, &task.id, &command)?;
            }
        }
        Ok(tasks)
    }

    /// Merges what peers of the reference's kind left in the clone of their own.
    fn land_of_peers(&mut self) -> Result<()> {
        let Some(shared) = self.scene.shared.as_ref().filter(|_| self.weather == Weather::Clear) else {
            return Ok(());
        };
        let format = "--format=%(refname:lstrip=-1)";
        let branches = shared
            .peers
            .git(&["for-each-ref", format, &format!("refs/heads/planwright/{SPEC}")])?;
        for unit in branches.lines().filter_map(|name| name.strip_prefix("task-")) {
            self.landings
                .land(&shared.peers, unit, &mut self.random, &mut self.faults)?;
        }
        Ok(())
    }

    /// Commits something that belongs to no task, so that the base moves.
    pub(super) fn commit_elsewhere(&mut self) -> Result<()> {
        self.landings.check_main(&mut self.faults)?;
        let number = self.random.below(1_000_000);
        self.landings.commit_elsewhere(number)
    }

    /// Without any more faults: steps and does what is said, until everything has landed. Returns what is stuck.
    pub(super) fn settle(&mut self, count: usize) -> Result<Vec<String>> {
        let hosts = self.scene.hosts.len();
        let mut last = BTreeMap::new();
        let mut locks = BTreeSet::new();
        for turn in 0..6 * count + 10 {
            if !self.scene.processes.all_ended(PATIENCE) {
                return Ok(vec![format!("processes do not end within {PATIENCE:?}")]);
            }
            let known = self.landings.landed().clone();
            let seen = self.tend_all(100)?;
            if seen.iter().flatten().all(|task| task.state == "landed") {
                return self.collect().map(|()| Vec::new());
            }
            // Each host has taken a step since.
            if turn > 0 {
                self.answer(&seen, &known)?;
                if let Some(shared) = &self.scene.shared {
                    locks = shared.origin.unlock(&locks)?;
                }
            }
            for number in 0..hosts {
                let place = &self.scene.hosts[number];
                let step = self.step(place)?;
                self.help(place, &step)?;
                last.insert(number, describe(&step));
            }
        }
        let mut stuck = Vec::new();
        for (number, said) in last {
            let place = &self.scene.hosts[number];
            let open = status(place)?.into_iter().filter(|task| task.state != "landed");
            stuck.extend(open.map(|Task { id, state, detail, .. }| {
                format!("{id} is {state} on {}: {detail}; the last step: {said}", place.name)
            }));
        }
        self.scene.processes.all_ended(PATIENCE);
        Ok(stuck)
    }

    /// Does what a person alone can know: which towers are gone for good, here and elsewhere, and what has landed without
    /// saying so.
    fn answer(&mut self, seen: &[Vec<Task>], known: &BTreeSet<String>) -> Result<()> {
        let mut done = BTreeSet::new();
        for (place, tasks) in self.scene.hosts.iter().zip(seen) {
            for task in tasks.iter().filter(|task| task.state != "landed") {
                if self.landings.landed().contains(&task.id) {
                    if known.contains(&task.id) && done.insert(task.id.clone()) {
                        self.landings.vouch(&task.id)?;
                    }
                } else if let Some(reference) = task.strand()
                    && done.insert(task.id.clone())
                {
                    self.clear_strand(place, &task.id, reference)?;
                } else if task.wants_branch_judged() && done.insert(task.id.clone()) {
                    self.landings.remove_empty_branch(&task.id)?;
                } else if task.is_held_by_a_bare_marker() {
                    // Every process has ended, so its peer has too. Without a person the marker's age would tell.
                    let clear = ["orchestrate-marker", "clear", &format!("specs/{SPEC}"), &task.id];
                    run(place, &task.id, &clear)?;
                }
            }
        }
        Ok(())
    }

    /// Removes the fence of a peer that has died, as the hint says.
    fn clear_strand(&self, place: &Place, unit: &str, reference: &str) -> Result<()> {
        self.scene.journal.add(&Event::Cleared { unit: unit.to_owned() })?;
        let mut person = place.clone();
        "person".clone_into(&mut person.name);
        let output = person.run_git(None, &["push", "--quiet", "origin", &format!(":{reference}")])?;
        if output.end == End::Exit(0) || output.stderr.contains("remote ref does not exist") {
            return Ok(());
        }
        Err(failed(&format!("removing {reference}"), &output))
    }

    /// Takes away the locks that killed peers left, when there are some. Only while no peer runs.
    pub(super) fn release_bare_locks(&self) -> Result<()> {
        for place in self.scene.working_places() {
            let lock = place.lock();
            if lock.is_dir() && !lock.join("owner").exists() {
                run(place, SPEC, &["orchestrate-lock", "release", &format!("specs/{SPEC}")])?;
            }
        }
        Ok(())
    }

    /// Notes when main is not where the person left it, at origin or in a clone.
    pub(super) fn check_main(&mut self) -> Result<()> {
        self.landings.check_clones(&mut self.faults)?;
        self.landings.check_main(&mut self.faults)
    }

    /// Lets every host see that everything has landed, so that one of them removes the last fences.
    fn collect(&mut self) -> Result<()> {
        if self.scene.shared.is_some() {
            for place in &self.scene.hosts {
                self.step(place)?;
            }
        }
        Ok(())
    }

    fn step(&mut self, place: &Place) -> Result<Value> {
        let arguments = [&format!("specs/{SPEC}"), "--unattended", "--format", "json"];
        let mut command = place.orchestrate(&arguments);
        // What was fetched in the storm is too old for who waits for the last merge.
        command.env(FETCH_ALWAYS, "0");
        let output = place.processes.run(&mut command)?;
        let document: Value = serde_json::from_str(output.stdout.trim()).unwrap_or_default();
        if document.is_null() || matches!(output.end, End::Signal(_)) {
            self.faults
                .push(format!("a step ended with {:?}: {}", output.end, output.stderr.trim()));
        }
        if let Some((unit, attempt)) = dispatched(&document) {
            self.scene.journal.add(&Event::Dispatched { unit, attempt })?;
        }
        Ok(document)
    }

    /// Removes the worktree of an earlier attempt that nobody needs, and its branch, as the hint says.
    fn remove_worktree(&mut self, place: &Place, unit: &str, commands: &[Vec<&str>]) -> Result<()> {
        if self.scene.shared.is_some() && self.weather == Weather::Clear {
            // Git takes a branch for unmerged while main of the clone is older than its start.
            self.landings.pull(place)?;
        }
        for command in commands {
            if !place.runs(command)? {
                return Ok(());
            }
        }
        helped(place, unit, "removed the worktree of an earlier attempt".to_owned())
    }

    /// Does what a halted step says is to be done.
    fn help(&mut self, place: &Place, document: &Value) -> Result<()> {
        for reason in document["reasons"].as_array().into_iter().flatten() {
            let reason = reason["reason"].as_str().unwrap_or_default();
            if let Some((path, _)) = reason.split_once(" holds uncommitted work") {
                self.save_work(place, &place.repository.join(path))?;
            }
        }
        Ok(())
    }

    /// Commits what a worker left, or moves it away.
    fn save_work(&mut self, place: &Place, worktree: &Path) -> Result<()> {
        let name = worktree
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let unit = name
            .rsplit_once("task-")
            .map(|(_, unit)| unit.to_owned())
            .unwrap_or_default();
        let git = |arguments: &[&str]| -> Result<Output> {
            let output = place.run_git(Some(worktree), arguments)?;
            if output.end == End::Exit(0) {
                return Ok(output);
            }
            Err(failed(&format!("git {} in {name}", arguments.join(" ")), &output))
        };
        if self.random.percent(50) {
            git(&["add", "--all"])?;
            let commit = ["commit", "--quiet", "-m", "wip: what the worker left"];
            let output = place.run_git(Some(worktree), &commit)?;
            if let Some(lock) = lock_in_the_way(&output.stderr) {
                return self.remove_old_lock(lock);
            }
            if output.end != End::Exit(0) {
                return Err(failed(&format!("git commit in {name}"), &output));
            }
            place.journal.add(&Event::Committed {
                unit: unit.clone(),
                commit: place.git(&["rev-parse", &Place::branch(&unit)])?,
                place: place.name.clone(),
            })?;
            return helped(place, &unit, "committed what the worker left".to_owned());
        }
        let number = self.random.below(1_000_000);
        let away = place.folder.join("away").join(format!("{name}-{number}"));
        super::place::make_directory(&away)?;
        let listed = git(&["ls-files", "--others", "--modified", "--exclude-standard"])?;
        for (number, path) in listed.stdout.lines().enumerate() {
            let target = away.join(number.to_string());
            std::fs::rename(worktree.join(path), target).context(|| format!("cannot move {path} away"))?;
        }
        git(&["reset", "--quiet", "--hard"])?;
        helped(place, &unit, "moved away what the worker left".to_owned())
    }
}

impl Person<'_> {
    /// Removes a lock that was there before, as git says; a new one may be of a git that is at work.
    fn remove_old_lock(&mut self, lock: &Path) -> Result<()> {
        let what = || format!("cannot remove {}", lock.display());
        let made = match std::fs::metadata(lock).and_then(|metadata| metadata.modified()) {
            Ok(made) => made,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error).context(what),
        };
        if self.locks.insert((lock.to_owned(), made)) {
            return Ok(());
        }
        std::fs::remove_file(lock).context(what)
    }
}

/// Returns the file that git says another git has left, or has.
fn lock_in_the_way(said: &str) -> Option<&Path> {
    let (_, rest) = said.split_once("Unable to create '")?;
    let (lock, rest) = rest.split_once('\'')?;
    rest.starts_with(": File exists").then(|| Path::new(lock))
}

fn status(place: &Place) -> Result<Vec<Task>> {
    let mut command = place.orchestrate(&["status", &format!("specs/{SPEC}"), "--format", "json"]);
    let output = place.processes.run(&mut command)?;
    if output.end != End::Exit(0) {
        return Err(failed("status", &output));
    }
    let document: Value = serde_json::from_str(&output.stdout).context(|| "cannot read the status".to_owned())?;
    Ok(tasks(&document))
}

/// Runs one of our plumbing commands, as a person who was told to.
fn run(place: &Place, unit: &str, plumbing: &[&str]) -> Result<()> {
    let arguments = [&["plumbing"], plumbing].concat();
    let output = place.processes.run(&mut place.orchestrate(&arguments))?;
    // A tower is in its window. The person is told so, and looks again later.
    if output.end == End::Exit(2) && output.stderr.contains("cannot clear while a tower is at work") {
        return Ok(());
    }
    if output.end != End::Exit(0) {
        return Err(failed(&arguments.join(" "), &output));
    }
    helped(place, unit, plumbing.join(" "))
}

/// Lets a task be dispatched again that a tower has parked: what stood in its way is looked after by who was told.
fn unpark(place: &Place, unit: &str) -> Result<()> {
    let arguments = ["unpark", SPEC, unit];
    let output = place.processes.run(&mut place.orchestrate(&arguments))?;
    if output.end == End::Exit(0) {
        return helped(place, unit, arguments.join(" "));
    }
    // Another tower is in its window: the person looks again later.
    if output.stderr.contains("the bundle is busy") {
        return Ok(());
    }
    Err(failed(&arguments.join(" "), &output))
}

fn helped(place: &Place, unit: &str, act: String) -> Result<()> {
    place.journal.add(&Event::Helped {
        unit: unit.to_owned(),
        act,
    })
}

fn failed(what: &str, output: &Output) -> Failure {
    Failure::new(format!("{what} failed ({:?}): {}", output.end, output.stderr.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_in_the_way_is_read_from_what_git_says() {
        let said =
            "fatal: cannot lock ref 'HEAD': Unable to create '/r/.git/refs/heads/x.lock': File exists.\n\nAnother git";
        assert_eq!(lock_in_the_way(said), Some(Path::new("/r/.git/refs/heads/x.lock")));
        assert_eq!(lock_in_the_way("Unable to create '/r/x.lock': Permission denied"), None);
    }
}
