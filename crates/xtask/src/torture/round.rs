//! One round: its repositories, its faults, its settling, and its judgement.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::failure::{Context, Result};

use super::facts::{at_origin, dependencies, reachable, state_faults};
use super::failpoints::{self, Schedule};
use super::journal::Event;
use super::peers::{self, Peers};
use super::person::Person;
use super::place::Place;
use super::plan::Plan;
use super::processes::Processes;
use super::random::Random;
use super::scene::{Scene, Worker, host};
use super::storm::{Size, Storm};
use super::tower::Toll;
use super::verdict::{Facts, Violation, judge};

/// What all rounds of a run share.
pub(super) struct Run<'a> {
    pub(super) folder: &'a Path,
    /// The repository that each round copies.
    pub(super) template: &'a Place,
    /// The product.
    pub(super) binary: &'a Path,
    /// This program, which is the worker too.
    pub(super) program: &'a Path,
    pub(super) processes: &'a Processes,
    pub(super) schedule: &'a Schedule<'a>,
    /// How many clones of one origin there are; a single one has no origin.
    pub(super) hosts: usize,
    pub(super) size: Size,
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
        // Many hosts make a round slow, so it has fewer tasks.
        let plan = Plan::random(&mut choices(2), if self.hosts > 1 { 4 } else { 6 });
        let worker = Worker {
            program: self.program,
            seed,
            round: number,
        };
        let first = Place::new(&folder, &host(0), self.binary, self.processes);
        let scene = Scene::make(first, self.template, self.hosts, &plan, worker)?;
        let signed = scene.main()?;
        let mut person = Person::new(&scene, choices(3))?;
        let mut storm = Storm {
            scene: &scene,
            schedule: self.schedule,
            peers: Peers {
                scene: &scene,
                plan: &plan,
                worker,
            },
            round: number,
            size: self.size,
            random: choices(4),
            toll: Toll::default(),
            started: 0,
        };
        storm.rage(&mut person)?;
        let toll = storm.toll;
        person.release_bare_locks()?;
        let stuck = person.settle(plan.tasks())?;
        person.check_main()?;
        let events = scene.journal.read()?;
        let hits = failpoints::hits(&folder.join("failpoints"))?;
        let mut other = toll.faults;
        other.append(&mut person.faults);
        other.extend(peers::faults(&scene));
        other.extend(state_faults(&scene, &signed)?);
        let facts = Facts {
            reachable: reachable(&scene)?,
            main: at_origin(&scene, "refs/heads/main")?,
            at_origin: at_origin(&scene, "--all")?,
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
    /// Returns how many units there were to land.
    pub(super) fn units(&self) -> usize {
        self.plan.tasks()
    }

    /// Returns how many attempts towers recorded and were seen: reported, or begun by a worker.
    pub(super) fn dispatches(&self) -> usize {
        let attempt = |event: &Event| match event {
            Event::Dispatched { attempt, .. } | Event::Started { attempt, .. } => Some(attempt.clone()),
            Event::Committed { .. }
            | Event::Ended { .. }
            | Event::Killed { .. }
            | Event::Landing { .. }
            | Event::Landed { .. }
            | Event::Helped { .. }
            | Event::Cleared { .. }
            | Event::Pushed { .. } => None,
        };
        self.events
            .iter()
            .filter_map(attempt)
            .collect::<BTreeSet<String>>()
            .len()
    }

    /// Returns how many workers began.
    pub(super) fn workers(&self) -> usize {
        self.count(|event| matches!(event, Event::Started { .. }))
    }

    /// Returns how often the person did what was said.
    pub(super) fn helped(&self) -> usize {
        self.count(|event| matches!(event, Event::Helped { .. }))
    }

    /// Returns how many fences of peers that were gone for good waited for the person.
    pub(super) fn strands(&self) -> usize {
        self.count(|event| matches!(event, Event::Cleared { .. }))
    }

    fn count(&self, is: impl Fn(&Event) -> bool) -> usize {
        self.events.iter().filter(|event| is(event)).count()
    }

    /// Returns the round in one line.
    pub(super) fn summary(&self) -> String {
        format!(
            "{} tasks, at most {}, dispatches {}, workers {}, kills {}, held for a person {}, strands {}, \
             failed towers {}",
            self.plan.tasks(),
            self.plan.cap,
            self.dispatches(),
            self.workers(),
            self.kills,
            self.helped(),
            self.strands(),
            self.failures.len()
        )
    }

    /// Removes the round's folder.
    pub(super) fn remove(&self) -> Result<()> {
        std::fs::remove_dir_all(&self.folder).context(|| format!("cannot remove {}", self.folder.display()))
    }
}
