//! Whether a branch's changes are on base under other commits: by patch-id, and file by file. Writes nothing.

use git2::{Commit, Delta, Diff, DiffOptions, ErrorCode, Oid, Repository, Tree};
use orchestrate_core::content::Content;
use orchestrate_core::evidence::Base;
use orchestrate_core::identifier::CommitId;
use orchestrate_core::observed::{Observed, Why};

use crate::git::{commit_id, oid};

/// The paths that a change touches: changes of other paths need no patch-id to be told apart.
type Paths = Vec<Vec<u8>>;

/// A change that is looked for on base.
struct Wanted {
    paths: Paths,
    patch: Oid,
    /// The commit of base that makes the same change.
    found: Option<Oid>,
}

/// Compares the commits of a tip that are not on base with base.
pub(crate) fn compare(repository: &Repository, tip: &CommitId, base: &Base) -> Observed<Content> {
    match compared(repository, tip, base) {
        Ok(content) => Observed::Known(content),
        Err(error) => Observed::Unknown(Why::new(format!(
            "cannot compare the branch's changes with {}: {}",
            base.name,
            error.message()
        ))),
    }
}

fn compared(repository: &Repository, tip: &CommitId, base: &Base) -> Result<Content, git2::Error> {
    let tip = repository.find_commit(oid(tip)?)?;
    let ends = ends(base)?;
    let Some(fork) = fork(repository, tip.id(), &ends)? else {
        return Ok(Content::Different);
    };
    let whole = changes(repository, &repository.find_commit(fork)?.tree()?, &tip.tree()?)?;
    let Some(mut whole) = wanted(&whole)? else {
        return Ok(Content::Different);
    };
    let mut own = own_changes(repository, tip.id(), &ends)?;
    for commit in commits(repository, &ends, &[fork])? {
        let commit = repository.find_commit(commit)?;
        if commit.parent_count() == 1 {
            let diff = changes(repository, &commit.parent(0)?.tree()?, &commit.tree()?)?;
            let mut sought: Vec<&mut Wanted> = own.iter_mut().flatten().collect();
            sought.push(&mut whole);
            look_for(&diff, commit.id(), sought)?;
        }
    }
    if let Some(own) = &own {
        let found: Option<Vec<Oid>> = own.iter().map(|wanted| wanted.found).collect();
        if let Some(found) = found.filter(|found| !found.is_empty()) {
            return Ok(Content::Rebased(
                found.into_iter().map(commit_id).collect::<Result<_, _>>()?,
            ));
        }
    }
    if let Some(found) = whole.found {
        return Ok(Content::Squashed(commit_id(found)?));
    }
    for end in ends {
        if holds(&repository.find_commit(end)?.tree()?, &tip.tree()?, &whole.paths)? {
            return Ok(Content::Contained);
        }
    }
    Ok(Content::Different)
}

fn ends(base: &Base) -> Result<Vec<Oid>, git2::Error> {
    std::iter::once(&base.commit)
        .chain(&base.counterpart)
        .map(oid)
        .collect()
}

/// Returns where the branch left base, nothing when they have no common history.
fn fork(repository: &Repository, tip: Oid, ends: &[Oid]) -> Result<Option<Oid>, git2::Error> {
    for end in ends {
        match repository.merge_base(*end, tip) {
            Ok(fork) => return Ok(Some(fork)),
            Err(error) if error.code() == ErrorCode::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

fn commits(repository: &Repository, from: &[Oid], hidden: &[Oid]) -> Result<Vec<Oid>, git2::Error> {
    let mut walk = repository.revwalk()?;
    for commit in from {
        walk.push(*commit)?;
    }
    for commit in hidden {
        walk.hide(*commit)?;
    }
    walk.collect()
}

/// Returns the changes of the commits that are not on base, without those that change nothing. Nothing where one of them
/// is a merge: its change is none of its own.
fn own_changes(repository: &Repository, tip: Oid, ends: &[Oid]) -> Result<Option<Vec<Wanted>>, git2::Error> {
    let mut own = Vec::new();
    for commit in commits(repository, &[tip], ends)? {
        let commit = repository.find_commit(commit)?;
        if commit.parent_count() != 1 {
            return Ok(None);
        }
        let diff = changes(repository, &parent_tree(&commit)?, &commit.tree()?)?;
        own.extend(wanted(&diff)?);
    }
    Ok(Some(own))
}

fn parent_tree<'repository>(commit: &Commit<'repository>) -> Result<Tree<'repository>, git2::Error> {
    commit.parent(0)?.tree()
}

fn changes<'repository>(
    repository: &'repository Repository,
    from: &Tree<'_>,
    to: &Tree<'_>,
) -> Result<Diff<'repository>, git2::Error> {
    repository.diff_tree_to_tree(Some(from), Some(to), Some(&mut DiffOptions::new()))
}

/// Returns what is looked for; a change of nothing is on every base, so it is none.
fn wanted(diff: &Diff<'_>) -> Result<Option<Wanted>, git2::Error> {
    let paths = paths(diff);
    if paths.is_empty() {
        return Ok(None);
    }
    Ok(Some(Wanted {
        paths,
        patch: diff.patchid(None)?,
        found: None,
    }))
}

fn paths(diff: &Diff<'_>) -> Paths {
    let mut paths: Paths = diff
        .deltas()
        .map(|delta| {
            let file = if delta.status() == Delta::Deleted {
                delta.old_file()
            } else {
                delta.new_file()
            };
            file.path_bytes().unwrap_or_default().to_vec()
        })
        .collect();
    paths.sort();
    paths
}

fn look_for(diff: &Diff<'_>, commit: Oid, sought: Vec<&mut Wanted>) -> Result<(), git2::Error> {
    let here = paths(diff);
    let mut patch = None;
    for wanted in sought {
        if wanted.found.is_some() || wanted.paths != here {
            continue;
        }
        let patch = match patch {
            Some(patch) => patch,
            None => *patch.insert(diff.patchid(None)?),
        };
        if patch == wanted.patch {
            wanted.found = Some(commit);
        }
    }
    Ok(())
}

/// Returns whether base's tree has each of the paths exactly as the tip's.
fn holds(base: &Tree<'_>, tip: &Tree<'_>, paths: &Paths) -> Result<bool, git2::Error> {
    for path in paths {
        if entry(base, path)? != entry(tip, path)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn entry(tree: &Tree<'_>, path: &[u8]) -> Result<Option<(Oid, i32)>, git2::Error> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(path));
    match tree.get_path(path) {
        Ok(entry) => Ok(Some((entry.id(), entry.filemode()))),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
