//! The faults of a round: towers that start at once and are killed at named points, in mid-checkout or at any moment,
//! peers of the reference's kind, an origin that fails, a person who pastes launch commands, and merges meanwhile.

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;

use crate::failure::{Context, Failure, Result};

use super::failpoints::{self, Schedule};
use super::peers::Peers;
use super::person::Person;
use super::place::Place;
use super::random::Random;
use super::scene::Scene;
use super::tower::{Fate, Start, Toll, Tower, paste, start};
use super::worker::{CHECKOUT_ORDER, open_lock};

/// How long all towers of a storm may take together.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often a single tower is sent to a point: what an earlier one left may lead it past.
const TRIES: usize = 4;
/// A tower that is killed at any moment is killed within this many milliseconds, about as long as it takes among others.
const LATEST_KILL: u64 = 250;
/// A tower that watches is killed within this many milliseconds: it would go on as long as units are in progress.
const LATEST_END_OF_WATCH: u64 = 600;

/// How much happens in a round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    /// How many storms a round has.
    pub(super) storms: u64,
    /// How many towers start at once.
    pub(super) towers: u64,
    /// How many towers follow one another in each of the places that start at once.
    pub(super) turns: u64,
}

/// Runs a round's faults.
pub(super) struct Storm<'a> {
    pub(super) scene: &'a Scene,
    pub(super) schedule: &'a Schedule<'a>,
    pub(super) peers: Peers<'a>,
    pub(super) round: u64,
    pub(super) size: Size,
    pub(super) random: Random,
    pub(super) toll: Toll,
    pub(super) started: u64,
}

/// A tower and where it runs.
type Placed<'a> = (Tower, &'a Place);

impl<'a> Storm<'a> {
    /// Lets all of the round's faults happen.
    pub(super) fn rage(&mut self, person: &mut Person<'_>) -> Result<()> {
        for name in self.schedule.alone(self.round) {
            self.one_tower(name, person)?;
        }
        for _ in 0..self.size.storms {
            self.blow(person)?;
        }
        Ok(())
    }

    /// Kills a tower at a point with nobody in its way, so that every point is reached in some round.
    fn one_tower(&mut self, name: &str, person: &mut Person<'_>) -> Result<()> {
        for _ in 0..TRIES {
            self.quiet()?;
            person.tend_all(100)?;
            if name.starts_with("advance-branch") {
                // A branch is moved when it was left without files in a worktree, with or without markers of an older
                // dispatch, and base has moved since.
                let left_at = if self.random.percent(50) {
                    "create-branch.after"
                } else {
                    "checkout.before"
                };
                self.one_run(left_at)?;
                person.commit_elsewhere()?;
            }
            self.one_run(name)?;
            if failpoints::hits(&self.scene.folder.join("failpoints"))?.contains_key(name) {
                break;
            }
        }
        Ok(())
    }

    fn one_run(&mut self, name: &str) -> Result<()> {
        let order = Start {
            fate: Fate::Point(name.to_owned()),
            watch: false,
            fetch: true,
            followers: 0,
        };
        let place = self.scene.host(self.round);
        let tower = self.start(place, order)?;
        self.watch_over(vec![tower])
    }

    /// One storm: everybody at once.
    fn blow(&mut self, person: &mut Person<'_>) -> Result<()> {
        person.release_bare_locks()?;
        let gate = open_lock(&self.scene.folder.join("gate"))?;
        rustix::fs::flock(&gate, FlockOperation::LockExclusive).context(|| "cannot close the gate".to_owned())?;
        let order = self.scene.folder.join(CHECKOUT_ORDER);
        if self.random.percent(50) {
            let tower = if self.random.percent(70) {
                self.scene.host(0).binary.display().to_string()
            } else {
                String::new()
            };
            super::place::write(&order, &tower)?;
        }
        if self.random.percent(40) {
            person.commit_elsewhere()?;
        }
        let locking = if self.random.percent(40) {
            let place = self.scene.host(self.random.below(16));
            Some(self.peers.start_locking(place)?)
        } else {
            None
        };
        let locking_dies = self.random.percent(25);
        let mut taking = Vec::new();
        for _ in 0..self.random.between(1, 3) {
            taking.extend(self.peers.start_taking(&mut self.random)?);
        }
        let mut towers = Vec::new();
        for _ in 0..self.size.towers {
            let place = self.scene.host(self.started);
            towers.push(self.start_in_storm(place, self.size.turns - 1)?);
        }
        let pasted = if self.random.percent(40) {
            let (unit, fate) = (self.random.between(1, 3), self.fate());
            Some(paste(
                self.scene.host(self.random.below(16)),
                self.started,
                unit,
                &fate,
            )?)
        } else {
            None
        };
        let locking = locking.map(|pid| (pid, locking_dies));
        let raged = self.rage_among(towers, person, locking);
        drop::<File>(gate);
        drop(std::fs::remove_file(order));
        if let Some(pid) = pasted {
            let _ = self.scene.processes.end_of(pid, PATIENCE);
        }
        raged?;
        self.end_peers(taking.into_iter().map(|pid| (pid, false)));
        person.clear_up()?;
        self.quiet()
    }

    /// Waits for the towers while the person is at work, and ends the peers that only know the lock.
    fn rage_among(
        &mut self,
        towers: Vec<Placed<'a>>,
        person: &mut Person<'_>,
        locking: Option<(u32, bool)>,
    ) -> Result<()> {
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let tending = scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    person.tend_somewhere(50)?;
                }
                Ok(())
            });
            let watched = self.watch_over(towers);
            over.store(true, Ordering::Relaxed);
            self.end_peers(locking);
            watched.and(
                tending
                    .join()
                    .unwrap_or_else(|_| Err(Failure::new("the person panicked"))),
            )
        })
    }

    fn end_peers(&mut self, peers: impl IntoIterator<Item = (u32, bool)>) {
        for (pid, dies) in peers {
            match self.peers.end(pid, dies, PATIENCE) {
                Ok(was_killed) => self.toll.kills += usize::from(was_killed),
                Err(fault) => self.toll.faults.push(fault),
            }
        }
    }

    fn quiet(&self) -> Result<()> {
        if self.scene.processes.all_ended(PATIENCE) {
            return Ok(());
        }
        Err(Failure::new(format!(
            "towers or workers did not end within {PATIENCE:?}"
        )))
    }

    fn fate(&mut self) -> Fate {
        let per_round = self.size.towers * self.size.storms * self.size.turns;
        let chance = self.random.below(100);
        let (after, group) = (self.random.below(LATEST_KILL), self.random.percent(50));
        let passing = self.random.between(1, 3);
        match self.schedule.in_storm(self.round, per_round, self.started) {
            Some(name) if chance < 45 => Fate::Point(format!("{name}:{passing}")),
            Some(_) | None if chance < 70 => Fate::Killed { after, group },
            Some(_) | None => Fate::Lives,
        }
    }

    /// Starts a tower that takes one step or one that watches: only who watches comes back to a lock that was taken.
    fn start_in_storm(&mut self, place: &'a Place, followers: u64) -> Result<Placed<'a>> {
        let order = Start {
            fate: self.fate(),
            watch: self.random.percent(50),
            fetch: false,
            followers,
        };
        let watch = order.watch;
        let end_of_watch = Duration::from_millis(self.random.between(100, LATEST_END_OF_WATCH));
        let (mut tower, place) = self.start(place, order)?;
        if watch {
            tower.dies = tower.dies.or(Some((Instant::now() + end_of_watch, false)));
        }
        Ok((tower, place))
    }

    fn start(&mut self, place: &'a Place, order: Start) -> Result<Placed<'a>> {
        let tower = start(place, self.started, order)?;
        self.started += 1;
        Ok((tower, place))
    }

    /// Waits for the end of every tower and of those that follow it, and kills those whose time has come.
    fn watch_over(&mut self, mut towers: Vec<Placed<'a>>) -> Result<()> {
        let bound = Instant::now() + PATIENCE;
        while !towers.is_empty() {
            let pids: Vec<u32> = towers.iter().map(|(tower, _)| tower.pid).collect();
            let deadlines = towers.iter().filter_map(|(tower, _)| tower.dies);
            let deadline = deadlines.map(|(at, _)| at).min().unwrap_or(bound);
            for (pid, end) in self.scene.processes.ends_of(&pids, deadline) {
                if let Some(index) = towers.iter().position(|(tower, _)| tower.pid == pid) {
                    let (tower, place) = towers.swap_remove(index);
                    tower.ended(place, end, &mut self.toll);
                    if let Some(followers) = tower.followers.checked_sub(1) {
                        towers.push(self.start_in_storm(place, followers)?);
                    }
                }
            }
            let now = Instant::now();
            for (tower, place) in &mut towers {
                tower.kill_when_due(place, now);
            }
            if now > bound {
                return Err(Failure::new(format!(
                    "{} towers did not end within {PATIENCE:?}",
                    towers.len()
                )));
            }
        }
        Ok(())
    }
}
