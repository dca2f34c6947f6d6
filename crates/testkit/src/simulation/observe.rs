//! What is true of one host's clone, in the words of the World port. Whether a tower is told is decided elsewhere.

use std::collections::BTreeMap;

use orchestrate_core::evidence::{AtOrigin, Base, BaseSource, BranchFacts, BranchSide, History, Lease};
use orchestrate_core::identifier::{BaseName, CommitId, SpecId, TaskId, Unit, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::{BundleFile, Place};
use orchestrate_core::process::{Liveness, ProcessIdentity};
use orchestrate_core::revert::Reverts;
use orchestrate_core::time::Timestamp;
use orchestrate_core::world::{
    Branches, Fault, Reading, RegisteredWorktree, Retirement, WorktreeDirectory, WorktreeFacts,
};

use super::commits::{CommitIndex, CommitSet};
use super::host::{BASE, COUNTERPART, HalfRetired, Node, directory_of, entry_name};
use super::universe::Universe;

impl Universe {
    pub(super) fn true_liveness(&self, host: usize, process: &ProcessIdentity) -> Observed<Liveness> {
        if process.host != self.hosts[host].name {
            return Observed::Unknown(Why::new("it is a process of another machine"));
        }
        Observed::Known(if self.hosts[host].is_alive(process) {
            Liveness::Alive
        } else {
            Liveness::Dead
        })
    }

    pub(super) fn true_reading(&self, host: usize, place: &Place) -> Reading {
        if let Place::BundleFile(spec, file) = place {
            let text = (spec == &self.bundle().spec)
                .then(|| self.bundle_file(host, *file))
                .flatten();
            return text.map_or(Reading::Absent, |bytes| Reading::File {
                bytes: bytes.to_vec(),
                modified: Timestamp::from_seconds(1_795_000_000),
            });
        }
        match self.hosts[host].files.get(place) {
            None => Reading::Absent,
            Some(Node::File { bytes, modified }) => Reading::File {
                bytes: bytes.clone(),
                modified: Timestamp::from_seconds(*modified),
            },
            Some(Node::Directory { modified, .. }) => Reading::Directory {
                modified: Timestamp::from_seconds(*modified),
            },
        }
    }

    pub(super) fn true_list(&self, host: usize, place: &Place) -> Observed<Vec<String>> {
        let host = &self.hosts[host];
        match host.files.get(place) {
            None => return Observed::Absent(Why::new("there is no such directory")),
            Some(Node::File { .. }) => return Observed::Unknown(Why::new("it is no directory")),
            Some(Node::Directory { .. }) => {}
        }
        let entries = host.files.keys();
        let mut names: Vec<String> = entries
            .filter(|entry| directory_of(entry).as_ref() == Some(place))
            .filter_map(entry_name)
            .collect();
        let stray = host.debris.get(place).copied().unwrap_or_default();
        names.extend((0..stray).map(|number| format!(".tmp{number:06}")));
        Observed::Known(names)
    }

    pub(super) fn true_base(&self, host: usize, configured: Option<&BaseName>) -> Result<Base, Fault> {
        let name = match BaseName::parse("main") {
            Ok(name) => name,
            Err(fault) => return Err(Fault::new("cannot name the base", fault.to_string())),
        };
        if let Some(other) = configured.filter(|other| **other != name) {
            return Err(Fault::new(
                "cannot resolve the base",
                format!("there is no branch {other}"),
            ));
        }
        let refs = &self.hosts[host].refs;
        let id = |name: &str| refs.get(name).map(|at| self.commits.get(*at).id.clone());
        let Some(commit) = id(BASE) else {
            return Err(Fault::new("cannot resolve the base", "main is gone"));
        };
        let source = if configured.is_some() {
            BaseSource::Configuration
        } else {
            BaseSource::OriginHead
        };
        Ok(Base {
            name,
            source,
            commit,
            counterpart: id(COUNTERPART),
            origin: if refs.contains_key(COUNTERPART) {
                AtOrigin::Has
            } else {
                AtOrigin::NotAsked
            },
        })
    }

    /// Returns everything that the base and its counterpart reach, as the tower named them.
    fn history_of(&self, base: &Base) -> Option<CommitSet> {
        let mut history = CommitSet::default();
        for id in core::iter::once(&base.commit).chain(&base.counterpart) {
            history.add_all(&self.commits.get(self.commits.find(id)?).history);
        }
        Some(history)
    }

    pub(super) fn true_history(&self, spec: &SpecId, base: &Base) -> Observed<History> {
        let Some(history) = self.history_of(base) else {
            return Observed::Unknown(Why::new("the base names no commit"));
        };
        let mut trailers: BTreeMap<TaskId, Vec<CommitId>> = BTreeMap::new();
        if spec == &self.bundle().spec {
            for index in history.iter() {
                let commit = self.commits.get(index);
                for task in &commit.trailers {
                    trailers.entry(task.clone()).or_default().insert(0, commit.id.clone());
                }
            }
        }
        Observed::Known(History {
            trailers,
            reverts: Reverts::default(),
            refused: Vec::new(),
            walked: history.len(),
            incomplete: None,
        })
    }

    pub(super) fn true_branches(
        &self,
        host: usize,
        spec: &SpecId,
        base: &Base,
        starts: &BTreeMap<Unit, CommitId>,
    ) -> Observed<Branches> {
        let Some(landed) = self.history_of(base) else {
            return Observed::Unknown(Why::new("the base names no commit"));
        };
        let mut branches = Branches::new();
        for (unit, tip) in self.hosts[host].task_branches(spec) {
            let history = &self.commits.get(tip).history;
            let reference = self.unit_name(unit.clone()).reference();
            let moved_to = self.hosts[host].moved_to.get(&reference).copied();
            let recorded = || starts.get(&unit).and_then(|id| self.commits.find(id));
            let start = moved_to.or_else(recorded);
            let own = match start {
                Some(start) => {
                    let own = history.without(&self.commits.get(start).history);
                    Observed::Known(own.iter().map(|commit| self.commits.get(commit).id.clone()).collect())
                }
                None => Observed::Absent(Why::new("nothing records where it started")),
            };
            let facts = self.branch_facts(BranchSide::Local, tip, &landed, own);
            branches.by_unit.entry(unit).or_default().push(facts);
        }
        for (unit, tip) in self.remote_tips(host, spec) {
            let own = Observed::Absent(Why::new("nothing records where a remote branch started"));
            let facts = self.branch_facts(BranchSide::Remote, tip, &landed, own);
            branches.by_unit.entry(unit).or_default().push(facts);
        }
        Observed::Known(branches)
    }

    fn branch_facts(
        &self,
        side: BranchSide,
        tip: CommitIndex,
        landed: &CommitSet,
        own: Observed<Vec<CommitId>>,
    ) -> BranchFacts {
        let commit = self.commits.get(tip);
        BranchFacts {
            side,
            tip: commit.id.clone(),
            ahead: commit.history.without(landed).len(),
            own,
        }
    }

    /// Returns the remote-tracking task branches.
    fn remote_tips(&self, host: usize, spec: &SpecId) -> Vec<(Unit, CommitIndex)> {
        let refs = self.hosts[host].refs.iter();
        refs.filter_map(|(name, tip)| {
            let short = name.strip_prefix("refs/remotes/origin/")?;
            let name = UnitName::from_branch(short).ok()?;
            (&name.spec == spec).then_some((name.unit, *tip))
        })
        .collect()
    }

    /// Returns all task branches of the schedule's bundle, here and as pushed.
    pub(super) fn task_tips(&self, host: usize) -> Vec<(Unit, CommitIndex)> {
        let spec = &self.bundle().spec;
        let mut tips = self.hosts[host].task_branches(spec);
        tips.extend(self.remote_tips(host, spec));
        tips
    }

    pub(super) fn true_containment(&self, host: usize, descendant: &CommitId, ancestor: &CommitId) -> Observed<bool> {
        let held = |id: &CommitId| {
            let index = self.commits.find(id)?;
            self.hosts[host].objects.contains(index).then_some(index)
        };
        match (held(descendant), held(ancestor)) {
            (Some(descendant), Some(ancestor)) => Observed::Known(self.commits.contains(descendant, ancestor)),
            (None, _) | (_, None) => Observed::Unknown(Why::new("the commit is not in this clone")),
        }
    }

    pub(super) fn true_committed(
        &self,
        host: usize,
        commit: &CommitId,
        spec: &SpecId,
        file: BundleFile,
    ) -> Observed<Vec<u8>> {
        let held = self
            .commits
            .find(commit)
            .is_some_and(|index| self.hosts[host].objects.contains(index));
        if !held {
            return Observed::Unknown(Why::new("the commit is not in this clone"));
        }
        let text = (spec == &self.bundle().spec)
            .then(|| self.bundle().text(file))
            .flatten();
        match text {
            Some(bytes) => Observed::Known(bytes.to_vec()),
            None => Observed::Absent(Why::new("the commit has no such file")),
        }
    }

    pub(super) fn true_worktree(&self, host: usize, name: &UnitName) -> Observed<WorktreeFacts> {
        let Some(worktree) = self.hosts[host].worktrees.get(name) else {
            return Observed::Known(WorktreeFacts::Free);
        };
        let changes = if worktree.complete && worktree.directory != WorktreeDirectory::Missing {
            Observed::Known(worktree.changes.clone())
        } else {
            Observed::Absent(Why::new("its checkout is not complete"))
        };
        Observed::Known(WorktreeFacts::Ours(RegisteredWorktree {
            path: format!("/repository/.claude/worktrees/{}", name.worktree()),
            locked: worktree.locked,
            complete: worktree.complete,
            directory: worktree.directory,
            changes,
        }))
    }

    /// Returns whether a worktree may go, by what lies in it and who is in it.
    pub(super) fn true_retirement(&self, host: usize, name: &UnitName, tip: &CommitId) -> Observed<Retirement> {
        let Some(worktree) = self.hosts[host].worktrees.get(name) else {
            return Observed::Absent(Why::new("it has no worktree"));
        };
        let at = self.hosts[host].refs.get(&name.reference()).copied();
        let why = if worktree.half_retired == Some(HalfRetired::Leaving) {
            "a tower was killed while it retired it"
        } else if worktree.locked || !worktree.complete {
            "its checkout is not complete"
        } else if at.is_none() || at != self.commits.find(tip) {
            "its branch has moved"
        } else if !worktree.changes.is_empty() {
            "it holds uncommitted work"
        } else if worktree.lease.is_some() || !self.true_occupants(host, name).is_empty() {
            "somebody works in it"
        } else {
            return Observed::Known(Retirement::Free);
        };
        Observed::Known(Retirement::Kept { why: why.to_owned() })
    }

    pub(super) fn true_leases(&self, host: usize, spec: &SpecId) -> BTreeMap<Unit, Lease> {
        let worktrees = self.hosts[host].worktrees.iter();
        worktrees
            .filter(|(name, _)| &name.spec == spec)
            .map(|(name, worktree)| {
                let lease = worktree.lease.map_or(Lease::Free, |number| Lease::Held {
                    holder: self.workers[number].identity.to_string(),
                    since: None,
                });
                (name.unit.clone(), lease)
            })
            .collect()
    }

    /// Returns what works in the unit's worktree: a worker's processes, or what is left of them.
    pub(super) fn true_occupants(&self, host: usize, name: &UnitName) -> Vec<String> {
        self.workers
            .iter()
            .filter(|worker| worker.host == host && &worker.name == name && worker.lives())
            .map(|worker| format!("{} ({:?})", worker.identity, worker.stage))
            .collect()
    }
}
