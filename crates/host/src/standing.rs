//! Where a person stands when they act on a bundle, and which commit brought a line of it.
//!
//! Reads through libgit2, no process. Owns no state.

use camino::Utf8PathBuf;
use git2::{ErrorCode, Oid, RepositoryState};
use orchestrate_core::identifier::{CommitId, SpecId};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::BundleFile;
use orchestrate_core::world::Fault;

use crate::git_error;
use crate::repository::{self, Repository};

/// The checkout that a person works in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The linked worktree in which the command was started, if it was not the primary checkout.
    pub linked: Option<Utf8PathBuf>,
    /// The full name of the branch of the primary checkout, none when its HEAD is detached.
    pub branch: Option<String>,
    /// What git is in the middle of in the primary checkout: a merge, a rebase.
    pub operation: Option<&'static str>,
}

impl Repository {
    /// Returns where the person stands.
    ///
    /// # Errors
    /// When HEAD cannot be read.
    pub fn standing(&self) -> Result<Standing, Fault> {
        let fault = |error: git2::Error| git_error::fault("cannot read HEAD", &error);
        let primary = repository::open_checkout("cannot read HEAD", &self.layout.primary)?;
        let head = primary.find_reference("HEAD").map_err(fault)?;
        let linked = self.git.workdir().filter(|_| self.git.is_worktree());
        Ok(Standing {
            linked: linked.and_then(|path| Utf8PathBuf::from_path_buf(path.to_path_buf()).ok()),
            branch: head.symbolic_target().ok().flatten().map(str::to_owned),
            operation: operation(primary.state()),
        })
    }

    /// Returns the commit at HEAD of the primary checkout; absent when nothing is committed yet.
    pub fn head(&self) -> Observed<CommitId> {
        let primary = match repository::open_checkout("cannot read HEAD", &self.layout.primary) {
            Ok(primary) => primary,
            Err(fault) => return Observed::Unknown(git_error::as_why(&fault)),
        };
        let head = primary.head().and_then(|head| head.peel_to_commit());
        match head.map(|commit| commit.id()) {
            Ok(id) => known(id),
            Err(error) if matches!(error.code(), ErrorCode::UnbornBranch | ErrorCode::NotFound) => {
                Observed::Absent(Why::new("nothing is committed yet"))
            }
            Err(error) => unknown("cannot read HEAD", &error),
        }
    }

    /// Returns the commit, on the way back from `from`, that first had the file with at least as many lines of a kind as
    /// are asked for. Absent when `from` itself has fewer.
    pub fn introduced(
        &self,
        from: &CommitId,
        spec: &SpecId,
        file: BundleFile,
        lines: usize,
        count: &dyn Fn(&[u8]) -> usize,
    ) -> Observed<CommitId> {
        let path = format!("specs/{spec}/{}", file.name());
        let mut last = None;
        let mut has = |id: Oid| -> Result<bool, git2::Error> {
            let tree = self.git.find_commit(id)?.tree()?;
            let blob = match tree.get_path(std::path::Path::new(&path)) {
                Ok(entry) => entry.id(),
                Err(error) if error.code() == ErrorCode::NotFound => return Ok(false),
                Err(error) => return Err(error),
            };
            if let Some((known, answer)) = last
                && known == blob
            {
                return Ok(answer);
            }
            let answer = count(self.git.find_blob(blob)?.content()) >= lines;
            last = Some((blob, answer));
            Ok(answer)
        };
        let mut walk = || -> Result<Option<Oid>, git2::Error> {
            let mut current = Oid::from_str(from.as_str())?;
            if !has(current)? {
                return Ok(None);
            }
            loop {
                let mut earlier = None;
                for parent in self.git.find_commit(current)?.parent_ids() {
                    if has(parent)? {
                        earlier = Some(parent);
                        break;
                    }
                }
                match earlier {
                    Some(parent) => current = parent,
                    None => return Ok(Some(current)),
                }
            }
        };
        match walk() {
            Ok(Some(id)) if self.ends_at(id) => Observed::Unknown(
                Why::new("the clone is shallow and ends before it").with_hint("git fetch --unshallow"),
            ),
            Ok(Some(id)) => known(id),
            Ok(None) => Observed::Absent(Why::new(format!("{} has no such {path}", from.short()))),
            Err(error) => unknown("cannot walk the history of the bundle", &error),
        }
    }

    /// Returns whether a shallow clone ends at the commit, so that what its parents hold is not known.
    fn ends_at(&self, id: Oid) -> bool {
        self.git.is_shallow() && self.git.find_commit(id).is_ok_and(|commit| commit.parent_count() == 0)
    }
}

fn known(id: Oid) -> Observed<CommitId> {
    match CommitId::parse(&id.to_string()) {
        Ok(commit) => Observed::Known(commit),
        Err(error) => Observed::Unknown(Why::new(format!("cannot use the commit {id}: {error}"))),
    }
}

fn unknown<T>(operation: &str, error: &git2::Error) -> Observed<T> {
    Observed::Unknown(git_error::why(operation, error))
}

fn operation(state: RepositoryState) -> Option<&'static str> {
    match state {
        RepositoryState::Clean => None,
        RepositoryState::Merge => Some("a merge"),
        RepositoryState::Revert | RepositoryState::RevertSequence => Some("a revert"),
        RepositoryState::CherryPick | RepositoryState::CherryPickSequence => Some("a cherry-pick"),
        RepositoryState::Bisect => Some("a bisection"),
        RepositoryState::Rebase | RepositoryState::RebaseInteractive | RepositoryState::RebaseMerge => Some("a rebase"),
        RepositoryState::ApplyMailbox | RepositoryState::ApplyMailboxOrRebase => Some("applying a mailbox"),
    }
}
