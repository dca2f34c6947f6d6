//! The faults of a round: towers that start at once and are killed at named points, in mid-checkout or at any moment,
//! a peer that knows the lock as a bare directory, a person who pastes launch commands, and merges going on meanwhile.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use serde_json::Value;

use crate::failure::{Context, Failure, Result};

use super::failpoints::{self, Schedule};
use super::journal::Event;
use super::person::{Person, describe, dispatched};
use super::place::{Place, SPEC};
use super::processes::End;
use super::random::Random;
use super::worker::{CHECKOUT_ORDER, open_lock};

/// How long all towers of a storm may take together.
const PATIENCE: Duration = Duration::from_secs(120);
/// How many storms a round has.
const STORMS: u64 = 3;
/// How many towers follow one another in each of the places that start at once.
const TURNS: u64 = 2;
/// How often a single tower is sent to a point: what an earlier one left may lead it past.
const TRIES: usize = 3;
/// A tower that is killed at any moment is killed within this many milliseconds, about as long as it takes among others.
const LATEST_KILL: u64 = 250;
/// A tower that watches is killed within this many milliseconds: it would go on as long as units are in progress.
const LATEST_END_OF_WATCH: u64 = 600;
/// What a peer of the reference's kind does: it takes the lock with mkdir and releases it with rmdir.
const PEER: &str = "lock=$1; turns=$2; faults=$3
while [ \"$turns\" -gt 0 ]; do
  if mkdir \"$lock\" 2>/dev/null; then
    ls -R specs >/dev/null
    rmdir \"$lock\" || echo \"the lock that a peer held could not be released\" >>\"$faults\"
  fi
  turns=$((turns - 1))
done";

/// What a round's faults came to.
#[derive(Debug, Default)]
pub(super) struct Toll {
    /// How many processes the driver itself killed.
    pub(super) kills: usize,
    /// What towers that nobody had killed said when they failed.
    pub(super) failures: Vec<String>,
    /// What went wrong and must not.
    pub(super) faults: Vec<String>,
}

/// How a tower is to end before its time.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    /// Not at all.
    Lives,
    /// At a named point of its own, or of the worker runner that it starts.
    Point(String),
    /// At a moment, in milliseconds after its start; with all of its process group or alone.
    Killed { after: u64, group: bool },
}

struct Tower {
    pid: u32,
    fate: Fate,
    output: PathBuf,
    /// When it is killed, if it is; with its process group or alone.
    dies: Option<(Instant, bool)>,
    /// Whether this driver has killed it.
    was_killed: bool,
    /// How many towers follow it in its place.
    followers: u64,
}

/// Runs a round's faults.
pub(super) struct Storm<'a> {
    pub(super) place: &'a Place,
    pub(super) schedule: &'a Schedule<'a>,
    pub(super) round: u64,
    pub(super) towers: u64,
    pub(super) random: Random,
    pub(super) toll: Toll,
    started: u64,
}

impl<'a> Storm<'a> {
    pub(super) fn new(place: &'a Place, schedule: &'a Schedule<'a>, round: u64, towers: u64, random: Random) -> Self {
        Self {
            place,
            schedule,
            round,
            towers,
            random,
            toll: Toll::default(),
            started: 0,
        }
    }

    /// Lets all of the round's faults happen.
    pub(super) fn rage(&mut self, person: &mut Person<'_>) -> Result<()> {
        for name in self.schedule.alone(self.round) {
            self.one_tower(name, person)?;
        }
        for _ in 0..STORMS {
            self.blow(person)?;
        }
        Ok(())
    }

    /// Kills a tower at a point with nobody in its way, so that every point is reached in some round.
    fn one_tower(&mut self, name: &str, person: &mut Person<'_>) -> Result<()> {
        for _ in 0..TRIES {
            self.quiet()?;
            person.tend(100)?;
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
            if point_hits(self.place)?.contains_key(name) {
                break;
            }
        }
        Ok(())
    }

    fn one_run(&mut self, name: &str) -> Result<()> {
        let tower = self.start(Fate::Point(name.to_owned()), false, 0)?;
        self.watch_over(vec![tower])
    }

    /// One storm: everybody at once.
    fn blow(&mut self, person: &mut Person<'_>) -> Result<()> {
        person.release_bare_lock()?;
        let gate = open_lock(&self.place.folder.join("gate"))?;
        rustix::fs::flock(&gate, FlockOperation::LockExclusive).context(|| "cannot close the gate".to_owned())?;
        let order = self.place.folder.join(CHECKOUT_ORDER);
        if self.random.percent(50) {
            let tower = if self.random.percent(70) {
                self.place.binary.display().to_string()
            } else {
                String::new()
            };
            super::place::write(&order, &tower)?;
        }
        if self.random.percent(40) {
            person.commit_elsewhere()?;
        }
        let peer = if self.random.percent(40) {
            Some(self.start_peer()?)
        } else {
            None
        };
        let peer_dies = self.random.percent(25);
        let mut towers = Vec::new();
        for _ in 0..self.towers {
            towers.push(self.start_in_storm(TURNS - 1)?);
        }
        let pasted = if self.random.percent(40) {
            Some(self.paste()?)
        } else {
            None
        };
        let over = AtomicBool::new(false);
        let tended = std::thread::scope(|scope| {
            let tending = scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    person.tend(50)?;
                }
                Ok(())
            });
            let watched = self.watch_over(towers);
            over.store(true, Ordering::Relaxed);
            if let Some(peer) = peer {
                self.end_peer(peer, peer_dies);
            }
            watched.and(
                tending
                    .join()
                    .unwrap_or_else(|_| Err(Failure::new("the person panicked"))),
            )
        });
        drop(gate);
        if let Some(pid) = pasted {
            let _ = self.place.processes.end_of(pid, PATIENCE);
        }
        drop(std::fs::remove_file(order));
        tended?;
        self.quiet()
    }

    fn quiet(&self) -> Result<()> {
        if self.place.processes.all_ended(PATIENCE) {
            return Ok(());
        }
        Err(Failure::new(format!(
            "towers or workers did not end within {PATIENCE:?}"
        )))
    }

    fn fate(&mut self) -> Fate {
        let per_round = self.towers * STORMS * TURNS;
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
    fn start_in_storm(&mut self, followers: u64) -> Result<Tower> {
        let fate = self.fate();
        let watch = self.random.percent(50);
        let end_of_watch = Duration::from_millis(self.random.between(100, LATEST_END_OF_WATCH));
        let mut tower = self.start(fate, watch, followers)?;
        if watch {
            tower.dies = tower.dies.or(Some((Instant::now() + end_of_watch, false)));
        }
        Ok(tower)
    }

    fn start(&mut self, fate: Fate, watch: bool, followers: u64) -> Result<Tower> {
        let output = self.place.folder.join("output").join(format!("tower-{}", self.started));
        self.started += 1;
        let spec = format!("specs/{SPEC}");
        let mut command = self.place.orchestrate(&[&spec, "--unattended", "--format", "json"]);
        if watch {
            command.arg("--watch");
        }
        if let Fate::Point(point) = &fate {
            self.endanger(&mut command, point);
        }
        command
            .stdout(create(&output)?)
            .stderr(create(&output.with_extension("errors"))?);
        let pid = self.place.processes.start(&mut command)?;
        let dies = match fate {
            Fate::Killed { after, group } => Some((Instant::now() + Duration::from_millis(after), group)),
            Fate::Lives | Fate::Point(_) => None,
        };
        Ok(Tower {
            pid,
            fate,
            output,
            dies,
            was_killed: false,
            followers,
        })
    }

    /// Waits for the end of every tower and of those that follow it, and kills those whose time has come.
    fn watch_over(&mut self, mut towers: Vec<Tower>) -> Result<()> {
        let bound = Instant::now() + PATIENCE;
        while !towers.is_empty() {
            let pids: Vec<u32> = towers.iter().map(|tower| tower.pid).collect();
            let deadline = towers
                .iter()
                .filter_map(|tower| tower.dies)
                .map(|(at, _)| at)
                .min()
                .unwrap_or(bound);
            for (pid, end) in self.place.processes.ends_of(&pids, deadline) {
                if let Some(index) = towers.iter().position(|tower| tower.pid == pid) {
                    let tower = towers.swap_remove(index);
                    self.ended(&tower, Some(end));
                    if let Some(followers) = tower.followers.checked_sub(1) {
                        towers.push(self.start_in_storm(followers)?);
                    }
                }
            }
            let now = Instant::now();
            for tower in &mut towers {
                if let Some((_, group)) = tower.dies.take_if(|(at, _)| *at <= now) {
                    tower.was_killed = true;
                    if group {
                        self.place.processes.kill_group(tower.pid);
                    } else {
                        self.place.processes.kill(tower.pid);
                    }
                }
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

    /// Notes how a tower ended.
    fn ended(&mut self, tower: &Tower, end: Option<End>) {
        let errors = || std::fs::read_to_string(tower.output.with_extension("errors")).unwrap_or_default();
        let printed = std::fs::read_to_string(&tower.output).unwrap_or_default();
        let documents: Vec<Value> = printed
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        for (unit, attempt) in documents.iter().filter_map(dispatched) {
            if let Err(failure) = self.place.journal.add(&Event::Dispatched { unit, attempt }) {
                self.toll.faults.push(failure.to_string());
            }
        }
        match end {
            // The points count their own.
            Some(End::Signal(9)) => self.toll.kills += usize::from(tower.was_killed),
            Some(End::Exit(0 | 4)) => {}
            // Its worker runner was killed at a point, and it says so.
            Some(End::Exit(1)) if matches!(tower.fate, Fate::Point(_)) => {}
            Some(End::Exit(1)) => {
                let said = documents.last().map_or_else(errors, describe);
                self.toll.failures.push(said.trim().to_owned());
            }
            other => self
                .toll
                .faults
                .push(format!("a tower ended with {other:?}: {}", errors().trim())),
        }
    }

    fn start_peer(&mut self) -> Result<u32> {
        let mut command = self.place.command(Path::new("sh"));
        command.args(["-c", PEER, "sh", &format!("specs/{SPEC}/.orchestrate.lock"), "40"]);
        command.arg(self.place.folder.join("peer-faults"));
        self.place.processes.start(&mut command)
    }

    fn end_peer(&mut self, pid: u32, dies: bool) {
        if dies {
            self.place.processes.kill_group(pid);
        }
        match self.place.processes.end_of(pid, PATIENCE) {
            Some(End::Signal(9)) => self.toll.kills += 1,
            Some(_) => {}
            None => self.toll.faults.push("a peer did not end".to_owned()),
        }
    }

    /// Starts the worker of some unit as a person does who pastes a launch command, perhaps for the second time.
    fn paste(&mut self) -> Result<u32> {
        let unit = self.random.between(1, 3).to_string();
        let output = self
            .place
            .folder
            .join("output")
            .join(format!("pasted-{}", self.started));
        let mut command = self.place.orchestrate(&["plumbing", "run-worker", SPEC, &unit]);
        if let Fate::Point(point) = self.fate() {
            self.endanger(&mut command, &point);
        }
        command
            .stdout(create(&output)?)
            .stderr(create(&output.with_extension("errors"))?);
        self.place.processes.start(&mut command)
    }

    fn endanger(&self, command: &mut Command, point: &str) {
        command.env("ORCHESTRATE_FAILPOINT", point);
        command.env("ORCHESTRATE_FAILPOINT_LOG", self.place.folder.join("failpoints"));
    }
}

/// Returns what peers complained of.
pub(super) fn peer_faults(place: &Place) -> Vec<String> {
    let text = std::fs::read_to_string(place.folder.join("peer-faults")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Returns how many processes were killed at which point.
pub(super) fn point_hits(place: &Place) -> Result<std::collections::BTreeMap<String, usize>> {
    failpoints::hits(&place.folder.join("failpoints"))
}

fn create(path: &Path) -> Result<File> {
    File::create(path).context(|| format!("cannot make {}", path.display()))
}
