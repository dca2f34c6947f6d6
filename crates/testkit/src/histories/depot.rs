//! One repository, and what people and forges do in it.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;

use camino::Utf8Path;
use git2::{Commit, Index, Oid, Repository, RepositoryInitOptions, Signature, Time, TreeWalkMode};

/// The first commit's time, 2026-01-01T00:00:00Z.
const FIRST_COMMIT: i64 = 1_767_225_600;
/// Between two commits.
const STEP: i64 = 60;

/// The time of the next commit, shared by all repositories of a history.
#[derive(Debug, Clone)]
pub struct Clock(Rc<Cell<i64>>);

impl Default for Clock {
    fn default() -> Self {
        Self(Rc::new(Cell::new(FIRST_COMMIT)))
    }
}

impl Clock {
    fn tick(&self) -> Time {
        let now = self.0.get();
        self.0.set(now + STEP);
        Time::new(now, 0)
    }

    /// Lets the clock jump, forwards or back, by that many seconds.
    pub fn jump(&self, seconds: i64) {
        self.0.set(self.0.get() + seconds);
    }
}

/// A repository. Branches are named in full; every act panics where git would refuse it for a reason that a test did
/// not mean, and returns nothing where git would say that there is nothing to do, or that there are conflicts.
pub struct Depot {
    /// The repository itself.
    pub git: Repository,
    clock: Clock,
}

impl Depot {
    /// Makes an empty repository whose HEAD is a branch of that short name.
    ///
    /// # Panics
    /// When the machine refuses.
    #[must_use]
    pub fn create(path: &Utf8Path, head: &str, bare: bool, clock: &Clock) -> Self {
        let mut options = RepositoryInitOptions::new();
        options
            .bare(bare)
            .external_template(false)
            .no_reinit(true)
            .mkpath(true)
            .initial_head(head);
        let git = Repository::init_opts(path, &options).expect("a repository is made");
        // What the machine's configuration says of these must not matter.
        let config = git.config().and_then(|all| all.open_level(git2::ConfigLevel::Local));
        let mut config = config.expect("it has a configuration");
        for (key, value) in [
            ("user.name", "Test Person"),
            ("user.email", "person@test.invalid"),
            ("core.logAllRefUpdates", if bare { "false" } else { "true" }),
        ] {
            config.set_str(key, value).expect("a key is set");
        }
        Self {
            git,
            clock: clock.clone(),
        }
    }

    /// Returns the commit of a branch, nothing where there is none.
    #[must_use]
    pub fn find(&self, reference: &str) -> Option<Oid> {
        self.git.refname_to_id(reference).ok()
    }

    /// Returns the commit of a branch.
    ///
    /// # Panics
    /// When there is no such branch.
    #[must_use]
    #[track_caller]
    pub fn tip(&self, reference: &str) -> Oid {
        self.find(reference)
            .unwrap_or_else(|| panic!("there is no {reference}"))
    }

    /// Puts a branch onto a commit, with that line in its reflog.
    ///
    /// # Panics
    /// When git refuses.
    pub fn point(&self, reference: &str, at: Oid, log: &str) {
        let _ = self.git.reference(reference, at, true, log).expect("a branch is set");
    }

    /// Makes a branch as `git branch` does.
    pub fn branch(&self, reference: &str, at: Oid) {
        self.point(reference, at, &format!("branch: Created from {at}"));
    }

    /// Removes a branch with its reflog, if it is there.
    ///
    /// # Panics
    /// When git refuses.
    pub fn delete(&self, reference: &str) {
        if let Ok(mut found) = self.git.find_reference(reference) {
            found.delete().expect("a branch is removed");
        }
    }

    /// Removes a branch's reflog, as where none is kept.
    ///
    /// # Panics
    /// When git refuses.
    pub fn forget_log(&self, reference: &str) {
        self.git.reflog_delete(reference).expect("a reflog is removed");
    }

    /// Commits files on a branch; the first one where it has none yet.
    ///
    /// # Panics
    /// When git refuses.
    pub fn commit(&self, reference: &str, files: &[(&str, &str)], message: &str) -> Oid {
        let parent = self.find(reference);
        let mut index = Index::new().expect("an index");
        if let Some(parent) = parent {
            index
                .read_tree(&self.found(parent).tree().expect("its tree"))
                .expect("it is read");
        }
        for (path, text) in files {
            let id = self.git.blob(text.as_bytes()).expect("a blob is written");
            index.add(&file_entry(path, id)).expect("a file is added");
        }
        let tree = index.write_tree_to(&self.git).expect("a tree is written");
        let commit = self.write(tree, parent.as_slice(), message);
        self.point(reference, commit, &format!("commit: {}", subject(message)));
        commit
    }

    /// Merges commits into a branch, with a commit even where the branch could just move there.
    ///
    /// # Panics
    /// When git refuses.
    pub fn merge(&self, reference: &str, others: &[Oid], message: &str) -> Option<Oid> {
        let ours = self.tip(reference);
        let others: Vec<Oid> = others
            .iter()
            .copied()
            .filter(|other| !self.contains(ours, *other))
            .collect();
        let mut tree = self.found(ours).tree_id();
        for other in &others {
            tree = self.merged_tree(ours, tree, *other)?;
        }
        let parents: Vec<Oid> = std::iter::once(ours).chain(others.iter().copied()).collect();
        if others.is_empty() {
            return None;
        }
        let commit = self.write(tree, &parents, message);
        self.point(reference, commit, "merge work: Merge made by the 'ort' strategy.");
        Some(commit)
    }

    /// Commits all that another commit brings as one, as a squash merge does.
    pub fn squash(&self, reference: &str, other: Oid, message: &str) -> Option<Oid> {
        let ours = self.tip(reference);
        let tree = self.merged_tree(ours, self.found(ours).tree_id(), other)?;
        self.commit_tree(reference, tree, message, "commit")
    }

    /// Picks one commit, with another message where one is given.
    ///
    /// # Panics
    /// When git refuses.
    pub fn pick(&self, reference: &str, commit: Oid, message: Option<&str>) -> Option<Oid> {
        let (ours, picked) = (self.tip(reference), self.found(commit));
        let index = self
            .git
            .cherrypick_commit(&picked, &self.found(ours), 0, None)
            .expect("it is picked");
        let tree = self.resolved(index)?;
        let own = String::from_utf8_lossy(picked.message_bytes()).into_owned();
        self.commit_tree(reference, tree, message.unwrap_or(&own), "cherry-pick")
    }

    /// Reverts a commit, a merge against its first parent, with the message that git writes.
    pub fn revert(&self, reference: &str, commit: Oid) -> Option<Oid> {
        let reverted = self.found(commit);
        let text = String::from_utf8_lossy(reverted.message_bytes()).into_owned();
        let undone = match reverted.parent_count() {
            ..2 => format!("This reverts commit {commit}."),
            _ => format!(
                "This reverts commit {commit}, reversing\nchanges made to {}.",
                reverted.parent_ids().next().expect("its first parent")
            ),
        };
        self.revert_saying(
            reference,
            commit,
            &format!("Revert \"{}\"\n\n{undone}\n", subject(&text)),
        )
    }

    /// Reverts a commit, with another message.
    ///
    /// # Panics
    /// When git refuses.
    pub fn revert_saying(&self, reference: &str, commit: Oid, message: &str) -> Option<Oid> {
        let (ours, reverted) = (self.tip(reference), self.found(commit));
        let mainline = u32::from(reverted.parent_count() > 1);
        let index = self
            .git
            .revert_commit(&reverted, &self.found(ours), mainline, None)
            .expect("it is reverted");
        let tree = self.resolved(index)?;
        self.commit_tree(reference, tree, message, "revert")
    }

    /// Returns whether a commit is another one or comes before it.
    #[must_use]
    pub fn contains(&self, descendant: Oid, ancestor: Oid) -> bool {
        descendant == ancestor || self.git.graph_descendant_of(descendant, ancestor).unwrap_or(false)
    }

    /// Returns the commits of a tip that another one does not have, the oldest first, without merges.
    ///
    /// # Panics
    /// When one of them is not there.
    #[must_use]
    pub fn beyond(&self, tip: Oid, base: Oid) -> Vec<Oid> {
        let mut walk = self.git.revwalk().expect("a walk");
        walk.set_sorting(git2::Sort::TOPOLOGICAL | git2::Sort::REVERSE)
            .expect("an order");
        walk.push(tip).expect("a tip");
        walk.hide(base).expect("a base");
        walk.map(|id| id.expect("a commit"))
            .filter(|id| self.found(*id).parent_count() < 2)
            .collect()
    }

    /// Returns the first parent of a commit.
    ///
    /// # Panics
    /// When it has none.
    #[must_use]
    pub fn parent(&self, commit: Oid) -> Oid {
        self.found(commit).parent_id(0).expect("its first parent")
    }

    /// Returns all commits of the tips.
    ///
    /// # Panics
    /// When one of them is not there.
    #[must_use]
    pub fn history_of(&self, tips: &[Oid]) -> Vec<Oid> {
        let mut walk = self.git.revwalk().expect("a walk");
        for tip in tips {
            walk.push(*tip).expect("a tip");
        }
        walk.map(|id| id.expect("a commit")).collect()
    }

    /// Returns the files below a directory that a commit adds by itself: a merge and a revert of a revert add none.
    #[must_use]
    pub fn added_by(&self, commit: Oid, directory: &str) -> BTreeSet<String> {
        let found = self.found(commit);
        let is_revert = found.message_bytes().starts_with(b"Revert ");
        if is_revert || found.parent_count() != 1 {
            return BTreeSet::new();
        }
        let before = self.files(self.parent(commit), directory);
        self.files(commit, directory).difference(&before).cloned().collect()
    }

    /// Returns the paths of all files of a commit below a directory.
    ///
    /// # Panics
    /// When it cannot be read.
    #[must_use]
    pub fn files(&self, commit: Oid, directory: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let tree = self.found(commit).tree().expect("its tree");
        tree.walk(TreeWalkMode::PreOrder, |parent, entry| {
            let path = format!("{parent}{}", entry.name().unwrap_or_default());
            if entry.kind() == Some(git2::ObjectType::Blob) && path.starts_with(directory) {
                found.insert(path);
            }
            git2::TreeWalkResult::Ok
        })
        .expect("a tree is walked");
        found
    }

    /// Writes a commit that no branch has.
    ///
    /// # Panics
    /// When git refuses.
    pub fn write(&self, tree: Oid, parents: &[Oid], message: &str) -> Oid {
        let person = Signature::new("Test Person", "person@test.invalid", &self.clock.tick()).expect("a person");
        let tree = self.git.find_tree(tree).expect("its tree");
        let parents: Vec<Commit<'_>> = parents.iter().map(|id| self.found(*id)).collect();
        let parents: Vec<&Commit<'_>> = parents.iter().collect();
        self.git
            .commit(None, &person, &person, message, &tree, &parents)
            .expect("a commit is written")
    }

    pub(super) fn found(&self, id: Oid) -> Commit<'_> {
        self.git.find_commit(id).expect("the commit is there")
    }

    /// A tree that changes nothing is no commit, as git sees it.
    fn commit_tree(&self, reference: &str, tree: Oid, message: &str, act: &str) -> Option<Oid> {
        let ours = self.tip(reference);
        if self.found(ours).tree_id() == tree {
            return None;
        }
        let commit = self.write(tree, &[ours], message);
        self.point(reference, commit, &format!("{act}: {}", subject(message)));
        Some(commit)
    }

    /// Merges a commit into a tree that stands for our commit.
    fn merged_tree(&self, ours: Oid, tree: Oid, other: Oid) -> Option<Oid> {
        let fork = self.git.merge_base(ours, other).expect("a common ancestor");
        let tree_of = |commit: Oid| self.found(commit).tree().expect("its tree");
        let own = self.git.find_tree(tree).expect("our tree");
        let index = self
            .git
            .merge_trees(&tree_of(fork), &own, &tree_of(other), None)
            .expect("they are merged");
        self.resolved(index)
    }

    fn resolved(&self, mut index: Index) -> Option<Oid> {
        (!index.has_conflicts()).then(|| index.write_tree_to(&self.git).expect("a tree is written"))
    }
}

fn subject(message: &str) -> &str {
    message.lines().next().unwrap_or_default()
}

/// Returns the entry of an index for a file with that blob.
#[must_use]
pub fn file_entry(path: &str, id: Oid) -> git2::IndexEntry {
    let none = git2::IndexTime::new(0, 0);
    git2::IndexEntry {
        ctime: none,
        mtime: none,
        dev: 0,
        ino: 0,
        mode: 0o100_644,
        uid: 0,
        gid: 0,
        file_size: 0,
        id,
        flags: 0,
        flags_extended: 0,
        path: path.as_bytes().to_vec(),
    }
}
