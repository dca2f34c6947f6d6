//! One tower of a storm: how it is started, how it is to end, and what its end says.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::failure::{Context, Result};

use super::journal::Event;
use super::place::{FETCH_ALWAYS, Place, SPEC};
use super::processes::End;
use super::reading::{describe, dispatched};

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
pub(super) enum Fate {
    /// Not at all.
    Lives,
    /// At a named point of its own, or of the worker runner that it starts.
    Point(String),
    /// At a moment, in milliseconds after its start; with all of its process group or alone.
    Killed { after: u64, group: bool },
}

/// How a tower is started.
pub(super) struct Start {
    pub(super) fate: Fate,
    /// Whether it takes one step after another.
    pub(super) watch: bool,
    /// Whether it asks origin whatever was asked a moment ago.
    pub(super) fetch: bool,
    /// How many towers follow it in its place.
    pub(super) followers: u64,
}

/// A tower that runs.
pub(super) struct Tower {
    pub(super) pid: u32,
    fate: Fate,
    output: PathBuf,
    /// When it is killed, if it is; with its process group or alone.
    pub(super) dies: Option<(Instant, bool)>,
    /// Whether the driver has killed it.
    pub(super) was_killed: bool,
    pub(super) followers: u64,
}

/// Starts a tower on a host; the number is its own in the round.
pub(super) fn start(place: &Place, number: u64, order: Start) -> Result<Tower> {
    let output = output(place, &format!("tower-{number}"));
    let spec = format!("specs/{SPEC}");
    let mut command = place.orchestrate(&[&spec, "--unattended", "--format", "json"]);
    if order.watch {
        command.arg("--watch");
    }
    if order.fetch {
        command.env(FETCH_ALWAYS, "0");
    }
    endanger(&mut command, place, &order.fate);
    let pid = start_into(&mut command, place, &output)?;
    let dies = match order.fate {
        Fate::Killed { after, group } => Some((Instant::now() + Duration::from_millis(after), group)),
        Fate::Lives | Fate::Point(_) => None,
    };
    Ok(Tower {
        pid,
        fate: order.fate,
        output,
        dies,
        was_killed: false,
        followers: order.followers,
    })
}

/// Starts the worker of some unit as a person does who pastes a launch command, perhaps for the second time.
pub(super) fn paste(place: &Place, number: u64, unit: u64, fate: &Fate) -> Result<u32> {
    let mut command = place.orchestrate(&["plumbing", "run-worker", SPEC, &unit.to_string()]);
    endanger(&mut command, place, fate);
    start_into(&mut command, place, &output(place, &format!("pasted-{number}")))
}

fn output(place: &Place, name: &str) -> PathBuf {
    place.folder.join("output").join(name)
}

fn start_into(command: &mut Command, place: &Place, output: &Path) -> Result<u32> {
    command
        .stdout(create(output)?)
        .stderr(create(&output.with_extension("errors"))?);
    place.processes.start(command)
}

fn endanger(command: &mut Command, place: &Place, fate: &Fate) {
    if let Fate::Point(point) = fate {
        command.env("ORCHESTRATE_FAILPOINT", point);
        command.env("ORCHESTRATE_FAILPOINT_LOG", place.folder.join("failpoints"));
    }
}

fn create(path: &Path) -> Result<File> {
    File::create(path).context(|| format!("cannot make {}", path.display()))
}

impl Tower {
    /// Kills it when its time has come.
    pub(super) fn kill_when_due(&mut self, place: &Place, now: Instant) {
        if let Some((_, group)) = self.dies.take_if(|(at, _)| *at <= now) {
            self.was_killed = true;
            if group {
                place.processes.kill_group(self.pid);
            } else {
                place.processes.kill(self.pid);
            }
        }
    }

    /// Notes how it ended.
    pub(super) fn ended(&self, place: &Place, end: End, toll: &mut Toll) {
        let errors = || std::fs::read_to_string(self.output.with_extension("errors")).unwrap_or_default();
        let printed = std::fs::read_to_string(&self.output).unwrap_or_default();
        let documents: Vec<Value> = printed
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        for (unit, attempt) in documents.iter().filter_map(dispatched) {
            if let Err(failure) = place.journal.add(&Event::Dispatched { unit, attempt }) {
                toll.faults.push(failure.to_string());
            }
        }
        match end {
            // The points count their own.
            End::Signal(9) => toll.kills += usize::from(self.was_killed),
            End::Exit(0 | 4) => {}
            // Its worker runner was killed at a point, and it says so.
            End::Exit(1) if matches!(self.fate, Fate::Point(_)) => {}
            End::Exit(1) => {
                let said = documents.last().map_or_else(errors, describe);
                toll.failures.push(said.trim().to_owned());
            }
            other @ (End::Exit(_) | End::Signal(_)) => toll
                .faults
                .push(format!("a tower ended with {other:?}: {}", errors().trim())),
        }
    }
}
