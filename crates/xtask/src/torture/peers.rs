//! Towers of the reference's kind, as shell scripts: one that knows the lock as a bare directory and nothing else, and
//! one that takes a unit by a fence on the base's tip, makes branch and marker, and starts a worker, or dies on the way.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::failure::Result;

use super::place::{Place, SPEC, WHO};
use super::plan::Plan;
use super::processes::End;
use super::random::Random;
use super::scene::{Scene, Worker};

/// What a peer does that only knows the lock: it takes it with mkdir and releases it with rmdir.
const LOCKS: &str = "lock=$1; turns=$2; faults=$3
while [ \"$turns\" -gt 0 ]; do
  if mkdir \"$lock\" 2>/dev/null; then
    ls -R specs >/dev/null
    rmdir \"$lock\" || echo \"the lock that a peer held could not be released\" >>\"$faults\"
  fi
  turns=$((turns - 1))
done";
/// What a peer does that takes a unit.
const TAKES_A_UNIT: &str = include_str!("peer.sh");
/// Where such a one may die.
const DEATHS: &[&str] = &["locked", "fenced", "branched", "marked"];

/// The peers of a storm.
pub(super) struct Peers<'a> {
    pub(super) scene: &'a Scene,
    pub(super) plan: &'a Plan,
    pub(super) worker: Worker<'a>,
}

impl Peers<'_> {
    /// Starts one that takes and releases the lock of a host, again and again.
    pub(super) fn start_locking(&self, place: &Place) -> Result<u32> {
        let mut command = place.command(Path::new("sh"));
        command.args(["-c", LOCKS, "sh", &format!("specs/{SPEC}/.orchestrate.lock"), "40"]);
        command.arg(self.scene.folder.join("peer-faults"));
        self.scene.processes.start(&mut command)
    }

    /// Starts one that takes a unit, in the clone of its own kind or beside our towers; nothing without an origin.
    pub(super) fn start_taking(&self, random: &mut Random) -> Result<Option<u32>> {
        let Some(shared) = &self.scene.shared else {
            return Ok(None);
        };
        let place = if random.percent(65) {
            &shared.peers
        } else {
            self.scene.host(random.below(16))
        };
        let unit = random.below(u64::try_from(self.plan.tasks()).unwrap_or(1));
        let unit = usize::try_from(unit).unwrap_or(0) + 1;
        let death = random.percent(45).then(|| random.below(4));
        let death = death.and_then(|number| DEATHS.get(usize::try_from(number).ok()?));
        let mut command = place.command(Path::new("sh"));
        let words = [SPEC, &unit.to_string(), &self.plan.needs(unit).join(" ")];
        command
            .args(["-c", TAKES_A_UNIT, "sh"])
            .args(words)
            .arg(death.unwrap_or(&"never"))
            .args(self.worker.command(&self.scene.folder));
        command.env(WHO, format!("peer-at-{}", place.name));
        // Git itself knows no kill in mid-checkout after which a worktree of its own could be used again.
        command
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "filter.torture.smudge")
            .env("GIT_CONFIG_VALUE_0", "cat");
        // A shell tells of every child that is killed.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        self.scene.processes.start(&mut command).map(Some)
    }

    /// Waits for the end of a peer, which may be one that is caused here. Returns whether it was killed.
    pub(super) fn end(&self, pid: u32, dies: bool, patience: Duration) -> std::result::Result<bool, String> {
        if dies {
            self.scene.processes.kill_group(pid);
        }
        match self.scene.processes.end_of(pid, patience) {
            Some(End::Signal(9)) => Ok(true),
            Some(End::Exit(0)) => Ok(false),
            Some(end) => Err(format!("a peer ended with {end:?}")),
            None => Err("a peer did not end".to_owned()),
        }
    }
}

/// Returns what peers complained of.
pub(super) fn faults(scene: &Scene) -> Vec<String> {
    let text = std::fs::read_to_string(scene.folder.join("peer-faults")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}
