//! The one port between decisions and the machine: every observation, and every effect at the grain of one rename,
//! one ref update, one spawn (architecture §3).
//!
//! The real World (host) acts. The simulated one (testkit) can make each effect end *applied*, *not applied*,
//! *applied but reported failed* or *torn*, and stop the tower at any of them. So no caller may believe that a failed
//! effect did not happen, nor that a crash left nothing: it looks again.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub use crate::branch::Branches;
use crate::content::Content;
use crate::evidence::{Base, History, Lease, Origin};
use crate::fetch::{Fetch, FetchTerms};
use crate::identifier::{BaseName, CommitId, Nonce, SpecId, TaskId, Unit, UnitName};
use crate::observed::Observed;
use crate::place::{BundleFile, Place};
use crate::process::{Liveness, ProcessIdentity};
use crate::pull_request::PullRequests;
use crate::record::dispatch::DispatchRecord;
use crate::record::fence::Fence;
use crate::time::{CommitTime, Timestamp};

/// An effect or a required look that failed, or that reported so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{operation}: {cause}")]
pub struct Fault {
    /// What was to be done, as a lowercase fragment: `cannot write specs/a/.orchestrate/markers/1`.
    pub operation: String,
    /// Why it failed.
    pub cause: String,
    /// The command or act that helps.
    pub hint: Option<String>,
}

impl Fault {
    /// Returns a fault without a remedy.
    pub fn new(operation: impl Into<String>, cause: impl Into<String>) -> Self {
        Self {
            operation: operation.into(),
            cause: cause.into(),
            hint: None,
        }
    }

    /// Returns the fault together with what helps.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// What stands at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// Its content.
        bytes: Vec<u8>,
        /// When it was last changed.
        modified: Timestamp,
    },
    /// A directory.
    Directory {
        /// When it was last changed.
        modified: Timestamp,
    },
    /// A symbolic link: never followed.
    Symlink,
    /// Something that is none of these.
    Special,
    /// It could not be looked at.
    Unreadable(String),
}

/// What the directory of a worktree holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorktreeDirectory {
    /// Nothing is there.
    Missing,
    /// An empty directory, or one with nothing but the `.git` file of our registration.
    Bare,
    /// Files.
    Populated,
}

/// A worktree registered for exactly our branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegisteredWorktree {
    /// Its path, for people and for the worker.
    pub path: String,
    /// Whether our own lock is on it, which goes when the checkout is complete. A person's lock is not told here.
    pub locked: bool,
    /// Whether its checkout was ever completed (it has an index).
    pub complete: bool,
    /// What its directory holds.
    pub directory: WorktreeDirectory,
    /// Uncommitted or untracked paths, a few of them; asked only of a complete one.
    pub changes: Observed<Vec<String>>,
}

impl RegisteredWorktree {
    /// Returns where it is in the repository. What is written into a bundle names no path of this machine.
    #[must_use]
    pub fn place(&self) -> &str {
        // Ours is always there, below the primary checkout, wherever that is.
        self.path
            .rfind(".claude/worktrees/")
            .and_then(|at| self.path.get(at..))
            .unwrap_or(&self.path)
    }

    /// Returns the commands with which a person removes it. A checkout that was cut short looks to git like one in which
    /// everything was changed, so that git could only be forced: it is moved aside, with whatever else is in it.
    #[must_use]
    pub fn removal(&self) -> String {
        let place = self.place();
        let unlock = if self.locked {
            format!("git worktree unlock {place} && ")
        } else {
            String::new()
        };
        let aside = if self.complete {
            String::new()
        } else {
            format!("mv {place} {place}.aside && ")
        };
        format!("{unlock}{aside}git worktree remove {place}")
    }
}

/// How the place of a unit's worktree looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorktreeFacts {
    /// Nothing is registered for the branch, and the place is free.
    Free,
    /// A worktree is registered for the branch, at our place.
    Ours(RegisteredWorktree),
    /// The branch is checked out somewhere that is not ours to use.
    BranchElsewhere {
        /// Where, from the primary checkout on.
        path: String,
    },
    /// The worktree at the unit's place is on another branch, or its HEAD is detached: a worker may have left commits
    /// there that no branch leads to.
    Strayed {
        /// Its path.
        path: String,
        /// The short name of the branch it is on; none for a detached HEAD.
        on: Option<String>,
        /// The unit's own branch is there.
        has_branch: bool,
    },
    /// The place is taken by something that is not ours.
    Taken {
        /// What is there, in words; a path is from the primary checkout on.
        by: String,
    },
}

/// The result of an effect that only one of several racers can win.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a lost race is an answer"]
pub enum Race {
    /// This caller made it.
    Won,
    /// It was there already, or changed meanwhile.
    Lost,
}

/// Whether the worktree of a unit that has landed may go, or whether it went.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a worktree that stays says why"]
pub enum Retirement {
    /// Nothing keeps it.
    Free,
    /// It stays.
    Kept {
        /// What keeps it, as a fragment behind its path: `it holds ignored files: .env`.
        why: String,
    },
}

/// How a checkout ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Checkout {
    /// Every file is there as committed, and the worktree is complete.
    Complete,
    /// Files are in the way that are neither as committed nor a torn write of ours; nothing was overwritten.
    InTheWay {
        /// A few of them.
        paths: Vec<String>,
    },
}

/// How a start ended, as far as the tower saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spawned {
    /// The worker runner holds the lease, or has held it.
    Started {
        /// The runner's process id.
        pid: u32,
    },
    /// Another worker holds the lease, or a later attempt superseded this one.
    Refused {
        /// Why, in words.
        why: String,
    },
    /// A foreground worker ran and ended.
    Ended {
        /// `exit 0`, `signal 9`.
        status: String,
    },
}

/// How origin answered for one ref of a push that could only make it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a fence that was not made is another tower's"]
pub enum Pushed {
    /// This push made it.
    Made,
    /// It was there already, and leads to the very same commit.
    Same,
    /// It was not made.
    Refused {
        /// What git said.
        why: String,
    },
}

/// The machine, the repository and its origin.
///
/// Observations take `&self`. They answer [`Observed`] wherever "could not look" is possible, or a [`Fault`] where
/// the step cannot go on without the answer.
pub trait World {
    /// Returns the current instant.
    fn now(&self) -> Timestamp;
    /// Returns this tower's own process.
    fn identity(&self) -> ProcessIdentity;
    /// Returns a token nobody else has.
    ///
    /// # Errors
    /// When the system has no randomness to give.
    fn nonce(&mut self) -> Result<Nonce, Fault>;
    /// Returns whether a process lives; unknown for one of another machine.
    fn liveness(&self, process: &ProcessIdentity) -> Observed<Liveness>;

    /// Returns what stands at a place, without following links.
    fn read(&self, place: &Place) -> Reading;
    /// Returns the names in a directory; absent when there is none.
    fn list(&self, place: &Place) -> Observed<Vec<String>>;
    /// Returns the command with which a person moves what stands at a place to a free name beside it.
    fn command_aside(&self, place: &Place) -> String;

    /// Returns the base, by the order of architecture §6.
    ///
    /// # Errors
    /// When no rule names one branch; the fault lists what was found.
    fn base(&self, configured: Option<&BaseName>) -> Result<Base, Fault>;
    /// Returns what one walk of base and its counterpart says about a bundle.
    fn history(&self, spec: &SpecId, base: &Base) -> Observed<History>;
    /// Returns the bundle's task branches; `starts` are the recorded start commits.
    fn branches(&self, spec: &SpecId, base: &Base, starts: &BTreeMap<Unit, CommitId>) -> Observed<Branches>;
    /// Asks the forge once for the pull requests of these units; absent where no forge is configured. The relations of
    /// the answer are empty.
    fn pull_requests(&self, spec: &SpecId, units: &BTreeSet<Unit>) -> Observed<PullRequests>;
    /// Returns when the commits were committed. One that cannot be read is left out: times are shown and decide nothing.
    fn commit_times(&self, commits: &BTreeSet<CommitId>) -> BTreeMap<CommitId, CommitTime>;
    /// Returns how the commits of a tip that are not on base compare with base by what they change.
    fn content(&self, tip: &CommitId, base: &Base) -> Observed<Content>;
    /// Returns whether `ancestor` is `descendant` or one of its ancestors.
    fn contains(&self, descendant: &CommitId, ancestor: &CommitId) -> Observed<bool>;
    /// Returns a bundle file as committed; absent when the commit has none.
    fn committed(&self, commit: &CommitId, spec: &SpecId, file: BundleFile) -> Observed<Vec<u8>>;
    /// Returns how the place of a unit's worktree looks.
    fn worktree(&self, name: &UnitName) -> Observed<WorktreeFacts>;
    /// Returns the leases of all registered task worktrees of a bundle.
    fn leases(&self, spec: &SpecId) -> Observed<BTreeMap<Unit, Observed<Lease>>>;
    /// Returns the processes whose working directory lies in the unit's worktree, described for people.
    fn occupants(&self, name: &UnitName) -> Observed<Vec<String>>;

    /// Returns whether the unit's worktree, looked at by itself, holds nothing that only it has: it is registered for
    /// exactly the unit's branch, at our place and at that commit, complete, unlocked and in the middle of nothing; without
    /// a change, an untracked or an ignored file, or a commit that no ref leads to; and nobody is in it. One whose
    /// directory is gone holds no file. Absent where none is registered.
    fn retirement(&self, name: &UnitName, tip: &CommitId) -> Observed<Retirement>;

    /// Brings the remote-tracking branches of origin up to date, unless that was done a moment ago, by whomever on this
    /// clone. Touches no local branch, no index and no file of a checkout, and is bounded in time.
    fn fetch(&mut self, terms: &FetchTerms) -> Fetch;
    /// Returns what tells this clone from every other one of the machine: the same in all its worktrees.
    fn clone_id(&self) -> Nonce;
    /// Asks origin once for its base, the bundle's task branches and the bundle's fences; absent where there is no
    /// origin.
    fn origin(&self, spec: &SpecId, base: &Base) -> Observed<Origin>;

    /// Takes the kernel's window lock of a bundle, which dies with the process.
    ///
    /// # Errors
    /// When it cannot be asked for.
    fn enter_window(&mut self, spec: &SpecId) -> Result<Race, Fault>;
    /// Lets the window lock go.
    fn leave_window(&mut self, spec: &SpecId);

    /// Makes a directory, and the tower's own directories above it.
    ///
    /// # Errors
    /// When it cannot be made. One that is there is no error.
    fn create_directory(&mut self, place: &Place) -> Result<(), Fault>;
    /// Replaces a file in one step (temporary file, sync, rename), private to the user.
    ///
    /// # Errors
    /// When it cannot be written, or something other than a regular file stands there.
    fn write(&mut self, place: &Place, bytes: &[u8]) -> Result<(), Fault>;
    /// Replaces a file that people write in one step, if it still holds what was read; otherwise the race is lost and
    /// nothing is written. The comparison is the last thing before the rename (decision 60).
    ///
    /// # Errors
    /// When it cannot be written, or something other than a regular file stands there.
    fn replace(&mut self, place: &Place, expected: &[u8], bytes: &[u8]) -> Result<Race, Fault>;
    /// Moves a directory to a place where nothing may be.
    ///
    /// # Errors
    /// When it cannot be moved for any reason but that the target exists.
    fn publish(&mut self, from: &Place, to: &Place) -> Result<Race, Fault>;
    /// Removes a file, or a lock directory with its `owner` file. One that is gone is no error.
    ///
    /// # Errors
    /// When it cannot be removed.
    fn remove(&mut self, place: &Place) -> Result<(), Fault>;
    /// Sets a directory's time to now.
    ///
    /// # Errors
    /// When it cannot be set.
    fn touch(&mut self, place: &Place) -> Result<(), Fault>;

    /// Makes the commit of a fence, which no ref leads to yet. The same fence always gives the same commit.
    ///
    /// # Errors
    /// When it cannot be written.
    fn create_fence(&mut self, fence: &Fence) -> Result<CommitId, Fault>;
    /// Pushes the fences of all these tasks of a bundle to origin, each a ref that must not be there: all are made or
    /// none (`contract/later.md §2.6`; law L1: nothing is ever forced).
    ///
    /// # Errors
    /// When origin did not answer for every one of them: then each may have been made, or may yet be.
    fn push_fences(
        &mut self,
        spec: &SpecId,
        fences: &BTreeMap<TaskId, CommitId>,
    ) -> Result<BTreeMap<TaskId, Pushed>, Fault>;
    /// Removes one fence from origin, if it leads to that commit still. One that is gone, or another one in its place, is
    /// no error.
    ///
    /// # Errors
    /// When origin did not confirm it.
    fn delete_fence(&mut self, spec: &SpecId, task: &TaskId, fence: &CommitId) -> Result<(), Fault>;

    /// Creates the unit's branch at a commit.
    ///
    /// # Errors
    /// When it cannot be created for any reason but that it exists.
    fn create_branch(&mut self, name: &UnitName, at: &CommitId) -> Result<Race, Fault>;
    /// Moves the unit's branch, which has no commits of its own, if it still is at `from`.
    ///
    /// # Errors
    /// When it cannot be moved for any reason but that it is elsewhere.
    fn advance_branch(&mut self, name: &UnitName, from: &CommitId, to: &CommitId) -> Result<Race, Fault>;
    /// Registers the unit's worktree, locked and without files, in one rename.
    ///
    /// # Errors
    /// When it cannot be registered for any reason but that one is registered under the name.
    fn register_worktree(&mut self, name: &UnitName) -> Result<Race, Fault>;
    /// Takes the unit's worktree out of its place and unregisters it, if it may go by [`World::retirement`], which is
    /// asked again before it is moved and once it is out of everybody's reach. The branch stays. A kill in between leaves
    /// it whole or, where all was looked at, a registration without a directory; what is to be thrown away is left to
    /// [`World::clear_retired`].
    ///
    /// # Errors
    /// When it cannot be moved, or cannot be looked at; it may then be out of its place, and nothing of it is lost.
    fn retire_worktree(&mut self, name: &UnitName, tip: &CommitId) -> Result<Retirement, Fault>;
    /// Throws away what retired worktrees of any bundle left, and puts back one that a killed tower took out of its place
    /// before it had looked at it. Nothing to do is no error.
    ///
    /// # Errors
    /// When something cannot be thrown away or put back; the rest was.
    fn clear_retired(&mut self) -> Result<(), Fault>;
    /// Completes the worktree: writes the missing files and then the index, overwrites nothing, unlocks it.
    ///
    /// # Errors
    /// When files cannot be written.
    fn checkout(&mut self, name: &UnitName) -> Result<Checkout, Fault>;
    /// Starts the worker runner for a recorded dispatch.
    ///
    /// # Errors
    /// When it cannot be started, or did not answer in time.
    fn spawn(&mut self, record: &DispatchRecord) -> Result<Spawned, Fault>;
}
