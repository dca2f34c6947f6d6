//! What git knows: the history of base, committed files; and setting task branches. Reads through libgit2, no process.

use std::collections::{BTreeMap, BTreeSet};

use git2::{ErrorCode, Oid, Repository};
use orchestrate_core::evidence::{Base, History};
use orchestrate_core::identifier::{CommitId, SpecId, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::BundleFile;
use orchestrate_core::time::{CommitTime, Timestamp};
use orchestrate_core::world::{Fault, Race};

use crate::git_error::{self, why};
use crate::history::{self, Memory};
use crate::obstacle;
use crate::promised;
use crate::reference_lock;
use crate::reflog;
use crate::repository;

pub(crate) fn commit_id(oid: Oid) -> Result<CommitId, git2::Error> {
    CommitId::parse(&oid.to_string()).map_err(|error| git2::Error::from_str(&error.to_string()))
}

pub(crate) fn oid(commit: &CommitId) -> Result<Oid, git2::Error> {
    Oid::from_str(commit.as_str())
}

/// Returns the commit a full ref name leads to, nothing when there is no such ref.
pub(crate) fn resolve(repository: &Repository, reference: &str) -> Result<Option<CommitId>, git2::Error> {
    obstacle::refuse_special(repository.commondir(), &[reference]).map_err(|why| git_error::of(&why))?;
    match repository.find_reference(reference) {
        Ok(found) => Ok(Some(commit_id(found.peel_to_commit()?.id())?)),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns what one walk of base and its counterpart says about a bundle.
pub(crate) fn history(
    repository: &repository::Repository,
    memory: &Memory,
    spec: &SpecId,
    base: &Base,
) -> Observed<History> {
    let told = history::past(repository, memory, base).and_then(|(past, grafts)| past.of(spec, &grafts));
    told.map_or_else(
        |error| Observed::Unknown(why("cannot walk the history of the base", &error)),
        Observed::Known,
    )
}

/// Returns when the commits were committed; those that cannot be read are left out.
pub(crate) fn commit_times(repository: &Repository, commits: &BTreeSet<CommitId>) -> BTreeMap<CommitId, CommitTime> {
    let time = |commit: &CommitId| {
        let found = repository.find_commit(oid(commit).ok()?).ok()?;
        let when = found.committer().when();
        let time = CommitTime {
            at: Timestamp::from_seconds(when.seconds()),
            offset_minutes: when.offset_minutes(),
        };
        Some((commit.clone(), time))
    };
    commits.iter().filter_map(time).collect()
}

pub(crate) fn between(repository: &Repository, tip: Oid, hidden: &[Oid]) -> Result<Vec<CommitId>, git2::Error> {
    let mut walk = repository.revwalk()?;
    walk.push(tip)?;
    for commit in hidden {
        walk.hide(*commit)?;
    }
    walk.map(|id| id.and_then(commit_id)).collect()
}

/// Returns whether `ancestor` is `descendant` or one of its ancestors.
pub(crate) fn contains(repository: &Repository, descendant: &CommitId, ancestor: &CommitId) -> Observed<bool> {
    let answer = || {
        let (descendant, ancestor) = (oid(descendant)?, oid(ancestor)?);
        Ok(descendant == ancestor || repository.graph_descendant_of(descendant, ancestor)?)
    };
    answer().map_or_else(
        |error| Observed::Unknown(why("cannot compare commits", &error)),
        Observed::Known,
    )
}

/// Returns a bundle file as committed.
pub(crate) fn committed(
    repository: &Repository,
    commit: &CommitId,
    spec: &SpecId,
    file: BundleFile,
) -> Observed<Vec<u8>> {
    let path = bundle_path(spec, file);
    match oid(commit) {
        Ok(commit) => blob_at(repository, commit, &path),
        Err(error) => Observed::Unknown(why(&format!("cannot read {path} at {}", commit.short()), &error)),
    }
}

/// Returns a bundle file as committed by asking the git program in that directory, which fetches what a partial clone does
/// not have. Nothing where the commit itself is not here, or git does not answer.
pub(crate) fn committed_at_origin(
    repository: &Repository,
    (program, directory): (&camino::Utf8Path, &camino::Utf8Path),
    commit: &CommitId,
    spec: &SpecId,
    file: BundleFile,
) -> Option<Observed<Vec<u8>>> {
    let commit = oid(commit).ok()?;
    repository.find_commit(commit).ok()?;
    promised::file_at(program, directory, commit, &bundle_path(spec, file))
}

fn bundle_path(spec: &SpecId, file: BundleFile) -> String {
    format!("specs/{spec}/{}", file.name())
}

/// Returns the file that a commit has at a path; absent when it has none there.
pub(crate) fn blob_at(repository: &Repository, commit: Oid, path: &str) -> Observed<Vec<u8>> {
    let short: String = commit.to_string().chars().take(7).collect();
    let content = || -> Result<Vec<u8>, git2::Error> {
        let tree = repository.find_commit(commit)?.tree()?;
        let entry = tree.get_path(std::path::Path::new(path))?;
        Ok(repository.find_blob(entry.id())?.content().to_vec())
    };
    match content() {
        Ok(bytes) => Observed::Known(bytes),
        Err(error) if error.code() == ErrorCode::NotFound && is_missing_path(repository, commit, path) => {
            Observed::Absent(Why::new(format!("{path} is not in {short}")))
        }
        Err(error) => Observed::Unknown(why(&format!("cannot read {path} at {short}"), &error)),
    }
}

/// Tells a path that the tree does not name from an object that the clone does not have.
fn is_missing_path(repository: &Repository, commit: Oid, path: &str) -> bool {
    let entry = || {
        let tree = repository.find_commit(commit)?.tree()?;
        tree.get_path(std::path::Path::new(path)).map(|_| ())
    };
    entry().is_err_and(|error| error.code() == ErrorCode::NotFound && error.class() == git2::ErrorClass::Tree)
}

/// Creates the unit's branch; loses when one is there.
pub(crate) fn create_branch(repository: &Repository, name: &UnitName, at: &CommitId) -> Result<Race, Fault> {
    let reason = reflog::created(at);
    set_branch(repository, name, at, || {
        repository
            .reference(&name.reference(), oid(at)?, false, &reason)
            .map(drop)
    })
}

/// Moves the unit's branch if it still is where it was seen.
pub(crate) fn advance_branch(
    repository: &Repository,
    name: &UnitName,
    from: &CommitId,
    to: &CommitId,
) -> Result<Race, Fault> {
    let reason = format!("branch: Reset to {to}");
    set_branch(repository, name, to, || {
        repository
            .reference_matching(&name.reference(), oid(to)?, true, oid(from)?, &reason)
            .map(drop)
    })
}

/// Acts on the unit's branch, once more if only the lock of a killed process stood in the way. The caller holds the
/// bundle's lock, so that one tower at most breaks it.
fn set_branch(
    repository: &Repository,
    name: &UnitName,
    target: &CommitId,
    act: impl Fn() -> Result<(), git2::Error>,
) -> Result<Race, Fault> {
    let result = act();
    match &result {
        Err(error) if error.code() == ErrorCode::Locked => {
            reference_lock::break_abandoned(repository.commondir(), name, target)?;
            raced(name, act())
        }
        Ok(()) | Err(_) => raced(name, result),
    }
}

fn raced(name: &UnitName, result: Result<(), git2::Error>) -> Result<Race, Fault> {
    match result {
        Ok(()) => Ok(Race::Won),
        Err(error)
            if matches!(
                error.code(),
                ErrorCode::Exists | ErrorCode::Modified | ErrorCode::NotFound
            ) =>
        {
            Ok(Race::Lost)
        }
        Err(error) => Err(git_error::fault(
            &format!("cannot set branch {}", name.branch()),
            &error,
        )),
    }
}

/// Returns the full name of the branch that the primary checkout is on, nothing when its HEAD is detached.
pub(crate) fn primary_branch(common: &camino::Utf8Path) -> std::io::Result<Option<String>> {
    let head = std::fs::read_to_string(common.join("HEAD"))?;
    Ok(head.trim_end().strip_prefix("ref: ").map(str::to_owned))
}
