//! The bundle of one clone as towers and people have written in it, and the judge of what a tower writes there: bullets
//! that park tasks, and nothing else (`contract/core.md §8.5, §14.2`).

use std::collections::BTreeMap;

use orchestrate_core::graph::ParkingPlace;
use orchestrate_core::identifier::{TaskId, Unit, UnitName};
use orchestrate_core::place::{BundleFile, Place};
use orchestrate_spec::park::unpark;

use super::host::BASE;
use super::law::Law;
use super::mind::Query;
use super::obstacles::Obstacle;
use super::universe::Universe;

impl Universe {
    /// Returns a file of the bundle as it lies in a host's checkout.
    pub(super) fn bundle_file(&self, host: usize, file: BundleFile) -> Option<&[u8]> {
        let bundle = self.bundle();
        let written = self.hosts[host].file(&Place::BundleFile(bundle.spec.clone(), file));
        written.or_else(|| bundle.text(file))
    }

    /// Returns how many bullets park each task on a host.
    pub(super) fn bullets(&self, host: usize) -> BTreeMap<TaskId, usize> {
        let tasks = self.bundle_file(host, BundleFile::Tasks).unwrap_or_default();
        bullets(tasks)
    }

    /// Lets a person take away the bullet of a task; whatever else they want done is another act. What halted every task is
    /// left to the towers, which take it away themselves when it has passed.
    pub(super) fn unpark(&mut self, host: usize, task: &TaskId) {
        let tasks = self.bundle_file(host, BundleFile::Tasks).unwrap_or_default();
        if of_every_unit(tasks).any(|parked| parked == *task) {
            return;
        }
        if let Ok(edited) = unpark(tasks, task) {
            let now = self.now(host);
            let place = Place::BundleFile(self.bundle().spec.clone(), BundleFile::Tasks);
            self.hosts[host].put_file(place, edited, now);
        }
    }

    /// Judges what a tower writes into the bundle, against what it last read there: a person may have written since.
    pub(super) fn judge_bundle(&mut self, tower: usize, place: &Place, bytes: &[u8]) {
        self.minds[tower].wrote_bundle = true;
        let is_tasks = matches!(place, Place::BundleFile(_, BundleFile::Tasks));
        let host = self.minds[tower].host;
        let read = self.minds[tower].tasks_read.clone();
        let before = read.or_else(|| self.bundle_file(host, BundleFile::Tasks).map(<[u8]>::to_vec));
        let before = before.unwrap_or_default();
        if !is_tasks || words(&before) != words(bytes) {
            self.convict(Law::Bundle, || {
                format!("tower {tower} writes something else than bullets into {place}")
            });
            return;
        }
        if !self.minds[tower].holds_or_was_robbed() {
            self.convict(Law::Lock, || {
                format!("tower {tower} writes {place} without holding the lock")
            });
            return;
        }
        let (earlier, now) = (bullets(&before), bullets(bytes));
        let count = |counts: &BTreeMap<TaskId, usize>, task: &TaskId| counts.get(task).copied().unwrap_or_default();
        let liftable: Vec<TaskId> = of_every_unit(&before).collect();
        for task in self.task_ids() {
            let (earlier, now) = (count(&earlier, &task), count(&now, &task));
            if now < earlier && liftable.contains(&task) {
                self.statistics.lifted += 1;
                self.judge_lifting(tower, &task);
            } else if now > 1 || now < earlier {
                self.convict(Law::Bundle, || {
                    format!("tower {tower} leaves {now} bullets of task {task} where {earlier} were")
                });
            } else if now > earlier {
                self.statistics.parked += 1;
                let is_of_all = of_every_unit(bytes).any(|parked| parked == task);
                self.judge_parking(tower, &task, is_of_all);
            }
        }
        let (earlier, now) = (of_every_unit(&before).count(), of_every_unit(bytes).count());
        if earlier > 0 && now > earlier {
            self.convict(Law::Parking, || {
                format!("tower {tower} parks a second unit for what halts every one")
            });
        }
    }

    /// Judges that what halted every task is taken back only by a tower that has reached origin.
    fn judge_lifting(&mut self, tower: usize, task: &TaskId) {
        if self.minds[tower].unread.contains(&Query::Origin) {
            self.convict(Law::Parking, || {
                format!("tower {tower} puts task {task} back although it could not fetch origin")
            });
        }
    }

    /// Judges that a task is parked only where everything about it was read, and nobody works on it or has done so. What
    /// halts every task asks for a person by itself.
    fn judge_parking(&mut self, tower: usize, task: &TaskId, is_of_all: bool) {
        let name = self.unit_name(Unit::single(task.clone()));
        let unread = self.minds[tower].unread_about(&name).cloned();
        // That origin is away is what may halt every task.
        if let Some(query) = unread.filter(|query| !(is_of_all && *query == Query::Origin)) {
            self.convict(Law::Unknown, || {
                format!("tower {tower} parks task {task} although it could not read {query}")
            });
            return;
        }
        let mind = &self.minds[tower];
        let Some(tenure) = mind.tenure.as_ref().filter(|tenure| !tenure.robbed) else {
            return;
        };
        let before = tenure.obstacles.get(task).map(Vec::as_slice).unwrap_or_default();
        let now = self.obstacles(mind.host, tower, task);
        let contradicts = |obstacle: &&Obstacle| match obstacle {
            Obstacle::Parked => true,
            // What halts every task says nothing of this one. A dispatch would come upon any of these.
            Obstacle::LiveWorker(_)
            | Obstacle::Landed
            | Obstacle::OwnCommits
            | Obstacle::TowerAtWork(_)
            | Obstacle::Unreadable(_) => !is_of_all,
            Obstacle::HandedOver(_) | Obstacle::Marker(_) | Obstacle::Uncommitted | Obstacle::Dependency(_) => false,
        };
        let found = before
            .iter()
            .filter(|obstacle| now.contains(obstacle))
            .find(contradicts);
        if let Some(obstacle) = found.cloned() {
            self.convict(Law::Parking, || {
                format!("tower {tower} parks task {task} although {obstacle}")
            });
            return;
        }
        let asks = |obstacle: &Obstacle| matches!(obstacle, Obstacle::HandedOver(_) | Obstacle::Uncommitted);
        let was_cleared = tenure.cleared.contains(task);
        if !is_of_all && !was_cleared && !before.iter().chain(&now).any(asks) && !self.is_outdated(mind.host, task) {
            self.convict(Law::Parking, || {
                format!("tower {tower} parks task {task}, for which nothing asks for a person")
            });
        }
    }

    /// Returns whether a worktree of the task starts before the current base: what it lacks may be in a unit's way.
    fn is_outdated(&self, host: usize, task: &TaskId) -> bool {
        let refs = &self.hosts[host].refs;
        let lacks_base = |name: &UnitName| {
            let pair = refs.get(&name.reference()).zip(refs.get(BASE));
            pair.is_some_and(|(tip, base)| !self.commits.contains(*tip, *base))
        };
        let worktrees = self.hosts[host].worktrees.keys();
        worktrees.filter(|name| name.unit.contains(task)).any(lacks_base)
    }

    /// Judges that a tower which wrote in the bundle dispatches nothing in the same step.
    pub(super) fn judge_after_writing(&mut self, tower: usize, what: &str) {
        if self.minds[tower].wrote_bundle {
            self.convict(Law::Bundle, || {
                format!("tower {tower} {what} in the step in which it wrote in the bundle")
            });
        }
    }
}

/// The task that a line parks.
fn parked(line: &str) -> Option<TaskId> {
    let (task, _) = line.strip_prefix("- **Task ")?.split_once("** — ")?;
    TaskId::parse(task).ok()
}

/// The tasks that are parked for what halts every one (`contract/core.md §14.1`).
fn of_every_unit(tasks: &[u8]) -> impl Iterator<Item = TaskId> {
    let text = String::from_utf8_lossy(tasks).into_owned();
    let is_of_all = |line: &&str| line.contains("** — halted for every task: ");
    let found: Vec<TaskId> = text.lines().filter(is_of_all).filter_map(parked).collect();
    found.into_iter()
}

fn bullets(tasks: &[u8]) -> BTreeMap<TaskId, usize> {
    let mut counts = BTreeMap::new();
    for task in String::from_utf8_lossy(tasks).lines().filter_map(parked) {
        *counts.entry(task).or_default() += 1;
    }
    counts
}

/// Everything in the file but bullets, placeholders and blank lines; whether the section is there that bullets stand in.
fn words(tasks: &[u8]) -> (Vec<String>, bool) {
    let text = String::from_utf8_lossy(tasks);
    let is_word = |line: &&str| parked(line).is_none() && !line.trim().is_empty() && *line != "(none yet)";
    let heading = format!("## {}", ParkingPlace::AwaitingInput.section());
    let words = text.lines().filter(is_word).map(str::to_owned).collect();
    (words, text.lines().any(|line| line == heading))
}
