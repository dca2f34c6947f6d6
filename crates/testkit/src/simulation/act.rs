//! The effects themselves, on one host's clone: whole, or torn in the middle.

use std::collections::BTreeSet;

use orchestrate_core::fetch::Fetch;
use orchestrate_core::identifier::{CommitId, SpecId, UnitName};
use orchestrate_core::observed::Observed;
use orchestrate_core::place::{LockDirectory, Place};
use orchestrate_core::record::lock_owner::LockOwner;
use orchestrate_core::world::{Checkout, Fault, Race, Retirement, WorktreeDirectory};

use super::commits::CommitIndex;
use super::host::{HalfRetired, LockTruth, Node, Taker, Worktree, directory_of, lock_directory};
use super::mind::Tenure;
use super::person::owned;
use super::universe::Universe;

impl Universe {
    pub(super) fn do_enter_window(&mut self, tower: usize, spec: &SpecId) -> Race {
        let host = self.minds[tower].host;
        let holder = self.hosts[host].windows.entry(spec.clone()).or_insert(tower);
        if *holder == tower { Race::Won } else { Race::Lost }
    }

    pub(super) fn do_leave_window(&mut self, tower: usize, spec: &SpecId) {
        let host = self.minds[tower].host;
        if self.hosts[host].windows.get(spec) == Some(&tower) {
            self.hosts[host].windows.remove(spec);
        }
    }

    /// Fetches. What is fetched from may lag behind origin and says nothing of it.
    pub(super) fn do_fetch(&mut self, tower: usize) -> Result<Fetch, Fault> {
        if self.origin.is_none() {
            return Ok(Fetch::NoRemote);
        }
        self.unanswered(tower, "fetch origin")?;
        let host = self.minds[tower].host;
        self.statistics.fetches += 1;
        let nothing_new = self.random.chance(self.faults.not_applied * 2);
        let older = self.lagging();
        self.statistics.fetches_behind += u64::from(nothing_new || older.is_some());
        match older {
            _ if nothing_new => {}
            Some(older) => {
                let branches: Vec<(String, CommitIndex)> = older.branches.iter().map(owned).collect();
                self.bring_these(host, &branches);
            }
            None => self.bring(host, usize::MAX),
        }
        Ok(Fetch::Fetched)
    }

    /// Fetches some of the branches.
    pub(super) fn tear_fetch(&mut self, tower: usize) {
        let branches = self.origin.as_ref().map_or(0, std::collections::BTreeMap::len);
        let host = self.minds[tower].host;
        if !self.reaches_origin(host) {
            return;
        }
        let some = self.random.below(branches + 1);
        self.bring(host, some);
    }

    pub(super) fn do_create_directory(&mut self, tower: usize, place: &Place) -> Result<(), Fault> {
        let host = self.minds[tower].host;
        let now = self.now(host);
        let is_directory = lock_directory(place).is_some()
            || matches!(
                place,
                Place::MarkerDirectory(..)
                    | Place::RecordDirectory(_)
                    | Place::RedoDirectory(_)
                    | Place::IntentDirectory(_)
            );
        if !is_directory {
            return Err(Fault::new(
                format!("cannot create {place}"),
                "it is the place of a file",
            ));
        }
        let lock = lock_directory(place).map(|_| LockTruth {
            incarnation: self.trace.moment(),
            by: Taker::Tower(tower),
        });
        let files = &mut self.hosts[host].files;
        files
            .entry(place.clone())
            .or_insert(Node::Directory { modified: now, lock });
        Ok(())
    }

    pub(super) fn do_write(&mut self, tower: usize, place: &Place, bytes: Vec<u8>) -> Result<(), Fault> {
        let host = self.minds[tower].host;
        self.refuse_write(host, place)?;
        let now = self.now(host);
        self.hosts[host].put_file(place.clone(), bytes, now);
        Ok(())
    }

    /// Returns whether a file holds these bytes. One of the bundle that nobody has written yet is as the bundle has it.
    pub(super) fn holds(&self, tower: usize, place: &Place, expected: &[u8]) -> bool {
        let host = self.minds[tower].host;
        if let Place::BundleFile(_, file) = place {
            return self.bundle_file(host, *file) == Some(expected);
        }
        self.hosts[host].file(place) == Some(expected)
    }

    fn refuse_write(&self, host: usize, place: &Place) -> Result<(), Fault> {
        let files = &self.hosts[host].files;
        let fault = |cause: &str| Err(Fault::new(format!("cannot write {place}"), cause));
        if matches!(files.get(place), Some(Node::Directory { .. })) || lock_directory(place).is_some() {
            return fault("a directory stands there");
        }
        match directory_of(place) {
            Some(directory) if !files.contains_key(&directory) => fault("its directory is not there"),
            Some(_) | None => Ok(()),
        }
    }

    /// Leaves the old file and a stray temporary one, or a file that breaks off.
    pub(super) fn tear_write(&mut self, tower: usize, place: &Place, bytes: &[u8]) {
        let host = self.minds[tower].host;
        if self.refuse_write(host, place).is_err() {
            return;
        }
        // What people write is replaced by one rename: nobody ever sees half of it.
        if matches!(place, Place::BundleFile(..)) {
            return;
        }
        if self.random.chance(500) {
            if let Some(directory) = directory_of(place) {
                *self.hosts[host].debris.entry(directory).or_default() += 1;
            }
            return;
        }
        let cut = self.random.below(bytes.len());
        let now = self.now(host);
        let torn = bytes.get(..cut).unwrap_or_default().to_vec();
        self.hosts[host].put_file(place.clone(), torn, now);
    }

    pub(super) fn do_publish(&mut self, tower: usize, from: &Place, to: &Place) -> Result<Race, Fault> {
        let host = self.minds[tower].host;
        let fault = |cause: &str| Err(Fault::new(format!("cannot move {from} to {to}"), cause));
        let (Some(source), Some(target)) = (lock_directory(from), lock_directory(to)) else {
            return fault("only lock directories are moved");
        };
        let files = &mut self.hosts[host].files;
        // A rename leaves the directory's own time as it is.
        let Some(Node::Directory { modified, .. }) = files.get(from) else {
            return fault("it is not there");
        };
        let modified = *modified;
        if files.contains_key(to) {
            self.minds[tower].lock_seen = self.lock_incarnation(host);
            return Ok(Race::Lost);
        }
        let owner = self.hosts[host].file(&source.owner()).map(<[u8]>::to_vec);
        let truth = self.hosts[host].remove_lock_directory(&source);
        self.place_lock(tower, host, &target, owner, truth, modified);
        Ok(Race::Won)
    }

    fn place_lock(
        &mut self,
        tower: usize,
        host: usize,
        target: &LockDirectory,
        owner: Option<Vec<u8>>,
        truth: Option<LockTruth>,
        modified: i64,
    ) {
        let named = owner.as_deref().and_then(|bytes| LockOwner::parse(bytes).ok());
        let is_own = named.is_some_and(|named| named.process == self.minds[tower].identity);
        let published = matches!(target, LockDirectory::Published(_));
        let lock = if is_own && published {
            Some(LockTruth {
                incarnation: self.trace.moment(),
                by: Taker::Tower(tower),
            })
        } else {
            truth
        };
        self.hosts[host]
            .files
            .insert(target.place(), Node::Directory { modified, lock });
        if let Some(bytes) = owner {
            self.hosts[host].put_file(target.owner(), bytes, modified);
        }
        if published {
            self.minds[tower].lock_seen = self.lock_incarnation(host);
            if is_own {
                self.begin_tenure(tower);
            }
        } else if let Some(truth) = truth {
            self.end_tenure(truth.by, false);
        }
    }

    fn begin_tenure(&mut self, tower: usize) {
        self.statistics.locks += 1;
        let host = self.minds[tower].host;
        let obstacles = self
            .task_ids()
            .into_iter()
            .map(|task| {
                let found = self.obstacles(host, tower, &task);
                (task, found)
            })
            .collect();
        let registered: BTreeSet<UnitName> = self.hosts[host].worktrees.keys().cloned().collect();
        let branches = self.hosts[host].task_branches(&self.bundle().spec);
        let had_branch = branches.into_iter().map(|(unit, _)| self.unit_name(unit)).collect();
        self.minds[tower].tenure = Some(Tenure {
            robbed: false,
            gates: Vec::new(),
            had_branch,
            had_worktree: registered.clone(),
            registered,
            fenced_too_late: BTreeSet::new(),
            told_free: BTreeSet::new(),
            obstacles,
            cleared: BTreeSet::new(),
        });
    }

    /// Returns which acquisition of the lock is published now.
    pub(super) fn lock_incarnation(&self, host: usize) -> Option<usize> {
        let lock = self.hosts[host].lock(&self.bundle().spec);
        lock.map(|truth| truth.incarnation)
    }

    pub(super) fn do_remove(&mut self, tower: usize, place: &Place) -> Result<(), Fault> {
        let host = self.minds[tower].host;
        if let Some(directory) = lock_directory(place) {
            if let Some(truth) = self.hosts[host].remove_lock_directory(&directory)
                && matches!(directory, LockDirectory::Published(_))
            {
                self.end_tenure(truth.by, false);
            }
            return Ok(());
        }
        if matches!(self.hosts[host].files.get(place), Some(Node::Directory { .. })) {
            return Err(Fault::new(format!("cannot remove {place}"), "it is a directory"));
        }
        self.hosts[host].files.remove(place);
        Ok(())
    }

    /// Removes the `owner` file and leaves the directory; a plain file is removed or not, never in part.
    pub(super) fn tear_remove(&mut self, tower: usize, place: &Place) {
        let host = self.minds[tower].host;
        let Some(directory) = lock_directory(place) else { return };
        self.hosts[host].files.remove(&directory.owner());
        if let LockDirectory::Published(spec) = &directory
            && let Some(truth) = self.hosts[host].lock(spec)
        {
            // What is left names nobody: only its age frees it, for everybody.
            self.end_tenure(truth.by, false);
        }
    }

    pub(super) fn do_touch(&mut self, tower: usize, place: &Place) -> Result<(), Fault> {
        let host = self.minds[tower].host;
        let now = self.now(host);
        match self.hosts[host].files.get_mut(place) {
            Some(Node::Directory { modified, .. } | Node::File { modified, .. }) => {
                *modified = now;
                Ok(())
            }
            None => Err(Fault::new(format!("cannot touch {place}"), "it is not there")),
        }
    }

    pub(super) fn do_create_branch(&mut self, tower: usize, name: &UnitName, at: &CommitId) -> Result<Race, Fault> {
        let host = self.minds[tower].host;
        let reference = name.reference();
        if self.hosts[host].refs.contains_key(&reference) {
            return Ok(Race::Lost);
        }
        let commit = self.held_commit(host, at, "create the branch")?;
        self.judge_branch(tower, name, at);
        self.move_branch(host, reference, commit);
        if let Some(tenure) = &mut self.minds[tower].tenure {
            tenure.had_branch.insert(name.clone());
        }
        Ok(Race::Won)
    }

    pub(super) fn do_advance_branch(
        &mut self,
        tower: usize,
        name: &UnitName,
        from: &CommitId,
        to: &CommitId,
    ) -> Result<Race, Fault> {
        let host = self.minds[tower].host;
        let reference = name.reference();
        let tip = self.hosts[host].refs.get(&reference).copied();
        if tip.is_none() || tip != self.commits.find(from) {
            return Ok(Race::Lost);
        }
        let commit = self.held_commit(host, to, "move the branch")?;
        self.judge_advance(tower, name, to);
        let before = self.reachable();
        self.move_branch(host, reference, commit);
        let lost = before.without(&self.reachable());
        if !lost.is_empty() {
            self.statistics.lost_commits += 1;
            let count = lost.len();
            self.convict(super::law::Law::Work, || {
                format!("tower {tower} moves the branch of {name}: no ref reaches {count} commits any more")
            });
        }
        Ok(Race::Won)
    }

    /// Sets a branch to a commit that is not made on it, and its reflog where the clone keeps reflogs.
    pub(super) fn move_branch(&mut self, host: usize, reference: String, commit: CommitIndex) {
        if self.scenario.reflogs {
            self.hosts[host].moved_to.insert(reference.clone(), commit);
        }
        self.hosts[host].refs.insert(reference, commit);
    }

    fn held_commit(&self, host: usize, id: &CommitId, what: &str) -> Result<CommitIndex, Fault> {
        match self.commits.find(id) {
            Some(index) if self.hosts[host].objects.contains(index) => Ok(index),
            Some(_) | None => Err(Fault::new(
                format!("cannot {what}"),
                format!("{} is not in this clone", id.short()),
            )),
        }
    }

    pub(super) fn do_register(&mut self, tower: usize, name: &UnitName) -> Result<Race, Fault> {
        let host = self.minds[tower].host;
        if self.hosts[host].worktrees.contains_key(name) {
            return Ok(Race::Lost);
        }
        self.judge_registration(tower, name);
        if !self.hosts[host].refs.contains_key(&name.reference()) {
            return Err(Fault::new(
                format!("cannot register the worktree of {name}"),
                "its branch is gone",
            ));
        }
        if let Some(tenure) = &mut self.minds[tower].tenure {
            tenure.had_worktree.insert(name.clone());
        }
        let worktree = Worktree {
            locked: true,
            complete: false,
            directory: WorktreeDirectory::Bare,
            changes: Vec::new(),
            lease: None,
            half_retired: None,
        };
        self.hosts[host].worktrees.insert(name.clone(), worktree);
        Ok(Race::Won)
    }

    /// Retires a worktree that nothing keeps.
    pub(super) fn do_retire(&mut self, tower: usize, name: &UnitName, tip: &CommitId) -> Result<Retirement, Fault> {
        let host = self.minds[tower].host;
        match self.true_retirement(host, name, tip) {
            Observed::Known(Retirement::Free) => {}
            Observed::Known(kept @ Retirement::Kept { .. }) => return Ok(kept),
            Observed::Absent(_) => return Ok(Retirement::Free),
            Observed::Unknown(why) => return Err(Fault::new(format!("cannot retire {name}"), why.reason)),
        }
        self.hosts[host].worktrees.remove(name);
        self.hosts[host].retired += 1;
        self.statistics.retired += 1;
        Ok(Retirement::Free)
    }

    /// Takes a worktree out of its place, and dies before or after it has looked at it there.
    pub(super) fn tear_retire(&mut self, tower: usize, name: &UnitName, tip: &CommitId) {
        let host = self.minds[tower].host;
        let may_go = self.true_retirement(host, name, tip) == Observed::Known(Retirement::Free);
        let half = if self.random.chance(500) {
            HalfRetired::Leaving
        } else {
            HalfRetired::Left
        };
        if let Some(worktree) = self.hosts[host].worktrees.get_mut(name).filter(|_| may_go) {
            worktree.directory = WorktreeDirectory::Missing;
            worktree.half_retired = Some(half);
        }
    }

    /// Throws away what was retired, and puts back what was not looked at.
    pub(super) fn do_clear_retired(&mut self, tower: usize) {
        let host = self.minds[tower].host;
        self.hosts[host].retired = 0;
        for worktree in self.hosts[host].worktrees.values_mut() {
            if worktree.half_retired == Some(HalfRetired::Leaving) {
                worktree.half_retired = None;
                worktree.directory = WorktreeDirectory::Populated;
            }
        }
    }

    pub(super) fn do_checkout(&mut self, tower: usize, name: &UnitName) -> Result<Checkout, Fault> {
        let host = self.minds[tower].host;
        let Some(worktree) = self.hosts[host].worktrees.get_mut(name) else {
            return Err(Fault::new(
                format!("cannot check out {name}"),
                "its worktree is not registered",
            ));
        };
        worktree.complete = true;
        worktree.locked = false;
        worktree.directory = WorktreeDirectory::Populated;
        Ok(Checkout::Complete)
    }

    /// Writes some files, one of them in part, and no index.
    pub(super) fn tear_checkout(&mut self, tower: usize, name: &UnitName) {
        let host = self.minds[tower].host;
        if let Some(worktree) = self.hosts[host].worktrees.get_mut(name)
            && !worktree.complete
        {
            worktree.directory = WorktreeDirectory::Populated;
        }
    }
}
