//! One round: its repository, its faults, its settling, and its judgement.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::failure::{Context, Result};

use super::failpoints::Schedule;
use super::journal::Event;
use super::person::Person;
use super::place::{Place, Plan, Worker};
use super::processes::{End, Processes};
use super::random::Random;
use super::storm::{Storm, peer_faults, point_hits};
use super::verdict::{Facts, Violation, judge};

/// What all rounds of a run share.
pub(super) struct Run<'a> {
    pub(super) folder: &'a Path,
    /// The repository that each round copies.
    pub(super) template: &'a Path,
    /// The product.
    pub(super) binary: &'a Path,
    /// This program, which is the worker too.
    pub(super) program: &'a Path,
    pub(super) processes: &'a Processes,
    pub(super) schedule: &'a Schedule<'a>,
    pub(super) towers: u64,
}

/// A round that is over.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) folder: PathBuf,
    pub(super) events: Vec<Event>,
    pub(super) violations: Vec<Violation>,
    /// What towers said that failed without being killed: no violation, a later step goes on.
    pub(super) failures: Vec<String>,
    /// How many processes were killed.
    pub(super) kills: usize,
    /// How many of them at which point.
    pub(super) hits: BTreeMap<String, usize>,
    plan: Plan,
}

impl Run<'_> {
    /// Runs a round.
    pub(super) fn round(&self, number: u64) -> Result<Round> {
        let seed = self.schedule.seed;
        let choices = |purpose: u64| Random::new(seed, &[number, purpose]);
        let folder = self.folder.join(format!("round-{number}"));
        let place = Place::new(&folder, self.binary, self.processes);
        let plan = Plan::random(&mut choices(2));
        place.make(
            self.template,
            &plan,
            &Worker {
                program: self.program,
                seed,
                round: number,
            },
        )?;
        let signed = place.main()?;
        let mut person = Person::new(&place, choices(3))?;
        let mut storm = Storm::new(&place, self.schedule, number, self.towers, choices(4));
        storm.rage(&mut person)?;
        let toll = storm.toll;
        person.release_bare_lock()?;
        let stuck = person.settle(plan.tasks())?;
        person.check_main()?;
        let events = place.journal.read()?;
        let hits = point_hits(&place)?;
        let mut other = toll.faults;
        other.append(&mut person.faults);
        other.extend(peer_faults(&place));
        other.extend(state_faults(&place, &signed)?);
        other.extend(double_places(&place)?);
        let facts = Facts {
            reachable: reachable(&place)?,
            dependencies: dependencies(&plan),
            stuck,
            other,
        };
        let killed = events
            .iter()
            .filter(|event| matches!(event, Event::Killed { .. }))
            .count();
        Ok(Round {
            violations: judge(&events, &facts),
            kills: toll.kills + killed + hits.values().sum::<usize>(),
            failures: toll.failures,
            folder,
            events,
            hits,
            plan,
        })
    }
}

impl Round {
    /// Returns how many attempts towers recorded and were seen: reported, or begun by a worker.
    pub(super) fn dispatches(&self) -> usize {
        let attempt = |event: &Event| match event {
            Event::Dispatched { attempt, .. } | Event::Started { attempt, .. } => Some(attempt.clone()),
            Event::Committed { .. }
            | Event::Ended { .. }
            | Event::Killed { .. }
            | Event::Landing { .. }
            | Event::Landed { .. }
            | Event::Helped { .. } => None,
        };
        self.events
            .iter()
            .filter_map(attempt)
            .collect::<BTreeSet<String>>()
            .len()
    }

    /// Returns how many workers began.
    pub(super) fn workers(&self) -> usize {
        self.events
            .iter()
            .filter(|event| matches!(event, Event::Started { .. }))
            .count()
    }

    /// Returns how often the person did what was said.
    pub(super) fn helped(&self) -> usize {
        self.events
            .iter()
            .filter(|event| matches!(event, Event::Helped { .. }))
            .count()
    }

    /// Returns the round in one line.
    pub(super) fn summary(&self) -> String {
        format!(
            "{} tasks, at most {}, dispatches {}, workers {}, kills {}, held for a person {}, failed towers {}",
            self.plan.tasks(),
            self.plan.cap,
            self.dispatches(),
            self.workers(),
            self.kills,
            self.helped(),
            self.failures.len()
        )
    }

    /// Removes the round's folder.
    pub(super) fn remove(&self) -> Result<()> {
        std::fs::remove_dir_all(&self.folder).context(|| format!("cannot remove {}", self.folder.display()))
    }
}

fn dependencies(plan: &Plan) -> BTreeMap<String, Vec<String>> {
    let texts = |needs: &Vec<usize>| needs.iter().map(ToString::to_string).collect();
    plan.dependencies
        .iter()
        .enumerate()
        .map(|(index, needs)| ((index + 1).to_string(), texts(needs)))
        .collect()
}

fn reachable(place: &Place) -> Result<BTreeSet<String>> {
    Ok(place.git(&["rev-list", "--all"])?.lines().map(str::to_owned).collect())
}

/// Returns what is wrong with the repository itself.
fn state_faults(place: &Place, signed: &str) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let checked = place.run_git(None, &["fsck", "--no-dangling", "--no-progress"])?;
    if checked.end != End::Exit(0) {
        faults.push(format!("git fsck: {}{}", checked.stdout.trim(), checked.stderr.trim()));
    }
    let changed = place.git(&["diff", "--name-only", signed, "refs/heads/main", "--", "specs"])?;
    if !changed.is_empty() {
        faults.push(format!("the bundle changed on main: {changed}"));
    }
    let unclean = place.git(&["status", "--porcelain"])?;
    if !unclean.is_empty() {
        faults.push(format!("the primary checkout is not clean: {unclean}"));
    }
    let mut locks = Vec::new();
    find_locks(&place.repository.join(".git"), &mut locks)?;
    faults.extend(
        locks
            .iter()
            .map(|path| format!("a lock of git was left behind: {}", path.display())),
    );
    Ok(faults)
}

fn find_locks(directory: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let operation = || format!("cannot list {}", directory.display());
    for entry in std::fs::read_dir(directory).context(operation)? {
        let entry = entry.context(operation)?;
        if entry.file_type().context(operation)?.is_dir() {
            find_locks(&entry.path(), found)?;
        } else if entry.path().extension().is_some_and(|extension| extension == "lock") {
            found.push(entry.path());
        }
    }
    Ok(())
}

/// Returns units that have a second branch or a second worktree.
fn double_places(place: &Place) -> Result<Vec<String>> {
    let branches = place.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/planwright"])?;
    let worktrees = place.git(&["worktree", "list", "--porcelain"])?;
    let checked_out: Vec<&str> = worktrees
        .lines()
        .filter_map(|line| line.strip_prefix("branch refs/heads/"))
        .collect();
    let mut faults = Vec::new();
    let mut units = BTreeSet::new();
    for branch in branches.lines() {
        let unit = branch.rsplit_once("task-").map_or(branch, |(_, unit)| unit);
        if !units.insert(unit.to_owned()) {
            faults.push(format!("unit {unit} has a second branch {branch}"));
        }
        if checked_out.iter().filter(|other| **other == branch).count() > 1 {
            faults.push(format!("unit {unit} has several worktrees"));
        }
    }
    Ok(faults)
}
