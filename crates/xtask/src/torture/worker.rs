//! The scripted worker, which every backend of a round starts: this very program in a hidden mode.
//!
//! It works like an agent (edits, commits, a trailer in the last message) and misbehaves like one: it ends without a
//! commit, leaves files uncommitted, is killed, takes its runner with it, leaves a process behind, or takes long.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::FlockOperation;
use rustix::process::{Pid, Signal, getpid, getppid, kill_current_process_group, kill_process};
use serde::Deserialize;

use crate::failure::{Context, Failure, Result};
use crate::process;

use super::journal::{Event, Journal};
use super::random::Random;

/// Work as a unit's worker in a round of torture.
#[derive(clap::Args)]
pub(crate) struct WorkerArguments {
    /// The round's folder.
    folder: PathBuf,
    /// The run's seed.
    seed: u64,
    /// The round.
    round: u64,
    /// Only stay in the worktree until the round's gate opens: a process that a worker left behind.
    #[arg(long)]
    straggler: bool,
    /// The attempt, where a tower of the reference's kind started it: such a worker has no lease.
    #[arg(long)]
    peer: Option<String>,
}

/// Pass a file through, or kill everything that checks it out.
#[derive(clap::Args)]
pub(crate) struct FilterArguments {
    /// The round's folder.
    folder: PathBuf,
}

/// The name of the order to kill the next checkout in its middle; it holds the path of the tower to kill as well.
pub(super) const CHECKOUT_ORDER: &str = "kill-checkout";

/// Git's filter for one file in the middle of the tree.
pub(crate) fn filter(arguments: &FilterArguments) -> Result<bool> {
    let order = arguments.folder.join(CHECKOUT_ORDER);
    let product = std::fs::read_to_string(&order).unwrap_or_default();
    // The order is for one checkout: who removes it has it.
    if std::fs::remove_file(order).is_ok() {
        Journal::of(&arguments.folder).add(&Event::Killed {
            what: "a checkout in its middle".to_owned(),
        })?;
        if let Some(tower) = ancestor_running(Path::new(&product)) {
            kill_process(tower, Signal::KILL).context(|| "cannot kill the tower".to_owned())?;
        }
        kill_current_process_group(Signal::KILL).context(|| "cannot kill the checkout".to_owned())?;
    }
    std::io::copy(&mut std::io::stdin().lock(), &mut std::io::stdout().lock())
        .context(|| "cannot pass the file through".to_owned())?;
    Ok(true)
}

/// Returns the nearest process above this one that runs the program.
fn ancestor_running(program: &Path) -> Option<Pid> {
    let mut pid = getppid()?;
    loop {
        let directory = PathBuf::from(format!("/proc/{}", pid.as_raw_nonzero()));
        if std::fs::read_link(directory.join("exe")).is_ok_and(|running| running == program) {
            return Some(pid);
        }
        let stat = std::fs::read_to_string(directory.join("stat")).ok()?;
        // The name stands in parentheses and may hold any character; the state and the parent follow it.
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        pid = Pid::from_raw(parent)?;
    }
}

/// Works on the unit of the surrounding worktree. The result is the worker's exit status.
pub(crate) fn work(arguments: &WorkerArguments) -> Result<bool> {
    if arguments.straggler {
        return pass_gate(&arguments.folder).map(|()| true);
    }
    let worker = Worker::begin(arguments)?;
    let script = Script::of(arguments, &worker.unit, worker.earlier);
    let has_origin = git(&["config", "remote.origin.url"]).is_ok();
    for part in 0..script.parts {
        worker.misbehave(&script, Moment::Before(part))?;
        worker.edit(part)?;
        worker.misbehave(&script, Moment::Edited(part))?;
        worker.commit(part, part + 1 == script.parts && !script.forgets)?;
    }
    worker.misbehave(&script, Moment::Before(script.parts))?;
    if script.leaves_files {
        worker.edit(script.parts)?;
    }
    // The reference hands over work only.
    if script.pushes && has_origin && (script.parts > 0 || arguments.peer.is_none()) {
        // Origin may fail; whoever lands the branch finds it where it was made.
        drop(git(&["push", "--quiet", "origin", "HEAD"]));
    }
    worker.journal.add(&Event::Ended {
        unit: worker.unit.clone(),
        pid: worker.pid,
    })?;
    Ok(!script.fails)
}

/// A moment in a worker's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// Before it begins a part, or ends.
    Before(u64),
    /// With files of a part written and not committed.
    Edited(u64),
}

/// What a worker does and when. The same seed, round, unit and count of earlier workers give the same script.
#[derive(Debug)]
struct Script {
    parts: u64,
    kills_itself: Option<Moment>,
    kills_runner: Option<Moment>,
    waits: Option<Moment>,
    leaves_process: Option<Moment>,
    leaves_files: bool,
    fails: bool,
    /// Whether no commit says which unit it is of.
    forgets: bool,
    /// Whether it pushes its branch where there is an origin.
    pushes: bool,
}

impl Script {
    fn of(arguments: &WorkerArguments, unit: &str, earlier: u64) -> Self {
        let unit: u64 = unit.bytes().map(u64::from).sum();
        let mut random = Random::new(arguments.seed, &[arguments.round, unit, earlier, 1]);
        let parts = if random.percent(15) { 0 } else { random.between(1, 3) };
        let mut sometimes = |chance: u64| {
            let part = random.between(0, parts);
            let moment = if part < parts && random.percent(40) {
                Moment::Edited(part)
            } else {
                Moment::Before(part)
            };
            random.percent(chance).then_some(moment)
        };
        Self {
            parts,
            kills_itself: sometimes(12),
            kills_runner: sometimes(12),
            waits: sometimes(35),
            leaves_process: sometimes(10),
            leaves_files: sometimes(8).is_some(),
            fails: sometimes(10).is_some(),
            forgets: random.percent(12),
            pushes: random.percent(40),
        }
    }
}

/// The lease that the runner has written.
#[derive(Deserialize)]
struct Lease {
    pid: u32,
    attempt: String,
}

struct Worker {
    folder: PathBuf,
    journal: Journal,
    spec: String,
    unit: String,
    pid: u32,
    runner: Option<u32>,
    /// The checkout that the worktree belongs to.
    place: String,
    /// How many workers of the unit there were before.
    earlier: u64,
    /// Locked as long as this worker lives.
    _live: File,
}

impl Worker {
    /// Notes that this worker began, and under what circumstances.
    fn begin(arguments: &WorkerArguments) -> Result<Self> {
        let unit = variable("ORCHESTRATE_UNIT")?;
        let folder = arguments.folder.clone();
        let live = open_lock(&folder.join("live").join(&unit))?;
        let alone = rustix::fs::flock(&live, FlockOperation::NonBlockingLockExclusive).is_ok();
        let journal = Journal::of(&folder);
        let started = |event: &&Event| matches!(event, Event::Started { unit: other, .. } if *other == unit);
        let earlier = journal.read()?.iter().filter(started).count();
        let lease = match &arguments.peer {
            Some(attempt) => Some(Lease {
                pid: 0,
                attempt: attempt.clone(),
            }),
            None => lease()?,
        };
        let worktree = git(&["rev-parse", "--show-toplevel"])?;
        let worker = Self {
            spec: variable("ORCHESTRATE_SPEC")?,
            pid: std::process::id(),
            runner: lease.as_ref().map(|lease| lease.pid),
            place: place_of(&folder, &worktree),
            earlier: u64::try_from(earlier).unwrap_or(u64::MAX),
            _live: live,
            unit,
            folder,
            journal,
        };
        let unclean = git(&["status", "--porcelain"])?
            .lines()
            .take(3)
            .map(str::to_owned)
            .collect();
        // A clone's own main may be older than what a branch starts at.
        let known = ["refs/heads/main", "--glob=refs/remotes/origin/mai[n]"];
        let ahead = git(&[&["rev-list", "--count", "HEAD", "--not"], &known[..]].concat())?;
        worker.journal.add(&Event::Started {
            unit: worker.unit.clone(),
            attempt: lease.map(|lease| lease.attempt).unwrap_or_default(),
            pid: worker.pid,
            branch: git(&["symbolic-ref", "--short", "HEAD"])?,
            worktree,
            alone,
            ahead: ahead.parse().context(|| "cannot count own commits".to_owned())?,
            unclean,
        })?;
        Ok(worker)
    }

    fn edit(&self, part: u64) -> Result<()> {
        let path = PathBuf::from(format!("work/{}/{part}.txt", self.unit));
        super::place::write(
            &path,
            &format!("part {part} of unit {} by worker {}\n", self.unit, self.earlier),
        )
    }

    fn commit(&self, part: u64, last: bool) -> Result<()> {
        let mut message = format!("feat: part {part} of unit {}\n\nWritten by a script.\n", self.unit);
        if last {
            message.push_str(&format!("\nPlanwright-Task: {}/{}\n", self.spec, self.unit));
        }
        git(&["add", "--all"])?;
        git(&["commit", "--quiet", "-m", &message])?;
        let commit = git(&["rev-parse", "HEAD"])?;
        self.journal.add(&Event::Committed {
            unit: self.unit.clone(),
            commit,
            place: self.place.clone(),
        })
    }

    fn misbehave(&self, script: &Script, now: Moment) -> Result<()> {
        if script.leaves_process == Some(now) {
            self.leave_process()?;
        }
        if script.kills_runner == Some(now) {
            self.kill_runner()?;
        }
        if script.waits == Some(now) {
            pass_gate(&self.folder)?;
        }
        if script.kills_itself == Some(now) {
            self.kill(getpid(), "a worker")?;
        }
        Ok(())
    }

    /// Leaves a process in the worktree that does not hold the lease, as an agent's tools do.
    fn leave_process(&self) -> Result<()> {
        let program = std::env::current_exe().context(|| "cannot tell this program's path".to_owned())?;
        Command::new("sh")
            .args(["-c", "exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-; exec \"$@\"", "sh"])
            .arg(program)
            .args(["torture-worker", "--straggler"])
            .arg(&self.folder)
            .args(["0", "0"])
            .spawn()
            .map(drop)
            .context(|| "cannot start a straggler".to_owned())
    }

    /// Kills the runner, if the parent of this process is the one that the lease names.
    fn kill_runner(&self) -> Result<()> {
        let parent = getppid();
        let named = self
            .runner
            .and_then(|pid| i32::try_from(pid).ok())
            .and_then(Pid::from_raw);
        match parent {
            Some(parent) if Some(parent) == named => self.kill(parent, "a runner"),
            Some(_) | None => Ok(()),
        }
    }

    fn kill(&self, pid: Pid, what: &str) -> Result<()> {
        self.journal.add(&Event::Killed {
            what: format!("{what} of unit {}", self.unit),
        })?;
        kill_process(pid, Signal::KILL).context(|| format!("cannot kill {what}"))
    }
}

/// Returns the name of the checkout in a round's folder that a worktree belongs to.
fn place_of(folder: &Path, worktree: &str) -> String {
    let below = Path::new(worktree).strip_prefix(folder).ok();
    let name = below.and_then(|below| below.components().next());
    name.map(|name| name.as_os_str().to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// Waits until the round's gate is open. It is closed while the driver holds its lock.
fn pass_gate(folder: &Path) -> Result<()> {
    let gate = open_lock(&folder.join("gate"))?;
    rustix::fs::flock(&gate, FlockOperation::LockShared).context(|| "cannot wait at the gate".to_owned())
}

/// Opens a file to be locked.
pub(super) fn open_lock(path: &Path) -> Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.open(path).context(|| format!("cannot open {}", path.display()))
}

fn lease() -> Result<Option<Lease>> {
    let prompt = PathBuf::from(variable("ORCHESTRATE_PROMPT_FILE")?);
    let path = prompt.with_file_name("orchestrate.lease");
    let text = std::fs::read_to_string(&path).context(|| format!("cannot read {}", path.display()))?;
    Ok(serde_json::from_str(&text).ok())
}

fn variable(name: &str) -> Result<String> {
    std::env::var(name).map_err(|error| Failure::new(format!("cannot read {name}: {error}")))
}

fn git(arguments: &[&str]) -> Result<String> {
    process::output(Path::new("."), "git", arguments).map(|text| text.trim_end().to_owned())
}
