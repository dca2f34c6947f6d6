//! What lies in the way of a task branch among git's own files: a ref above its name or beneath it, which git makes no
//! branch beside, and what is no regular file, which libgit2 would open and wait on for ever (laws L4 and L12).
//!
//! Files are looked at, never opened. Owns no state.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{FileType, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use git2::Repository;
use orchestrate_core::evidence::BranchSide;
use orchestrate_core::identifier::{SpecId, Unit};
use orchestrate_core::observed::Why;

use crate::branches::task_branch;
use crate::shell;

/// What lies in the way of a bundle's task branches.
#[derive(Default)]
pub(crate) struct Obstacles {
    /// What it is, by unit.
    pub(crate) by_unit: BTreeMap<Unit, Why>,
    /// The units whose local branch or its reflog is not to be opened.
    pub(crate) local: BTreeSet<Unit>,
}

/// Returns what lies in the way of single units.
///
/// # Errors
/// With what lies in the way of every unit, or cannot be looked at.
pub(crate) fn find(repository: &Repository, spec: &SpecId) -> Result<Obstacles, Why> {
    for branch in ["planwright".to_owned(), format!("planwright/{spec}")] {
        above(repository, &branch)?;
    }
    let common = repository.commondir();
    let mut found = Obstacles::default();
    let local = format!("refs/heads/planwright/{spec}");
    let mut directories = vec![local.clone(), format!("logs/{local}")];
    let remotes = entries(common, "refs/remotes")?;
    directories.extend(remotes.iter().map(|remote| format!("{remote}/planwright/{spec}")));
    for name in directories
        .iter()
        .map(|directory| entries(common, directory))
        .collect::<Result<Vec<_>, _>>()?
        .concat()
    {
        let reference = name.strip_prefix("logs/").unwrap_or(&name);
        let Some((side, unit)) = task_branch(reference) else {
            continue;
        };
        if let Some(why) = in_place_of(repository, &name)? {
            if side == BranchSide::Local {
                found.local.insert(unit.unit.clone());
            }
            found.by_unit.entry(unit.unit).or_insert(why);
        }
    }
    Ok(found)
}

/// Returns the reason for a ref that stands beneath a task branch's name.
pub(crate) fn beneath(reference: &str) -> Why {
    let short = reference.strip_prefix("refs/heads/").unwrap_or(reference);
    Why::new(format!(
        "the branch {short} stands in the way: its name lies beneath the task's branch"
    ))
    .with_hint(format!("rename it: git branch -m {} other-name", shell::word(short)))
}

/// Refuses what is no regular file in the place of one of git's files, by their names in its directory; what is not there
/// or is a directory is left to libgit2.
pub(crate) fn refuse_special(directory: &Path, names: &[&str]) -> Result<(), Why> {
    for name in names {
        if let Some(kind) = look(directory, name)?.filter(|kind| !kind.is_dir() && !kind.is_file()) {
            return Err(no_file(directory, name, kind));
        }
    }
    Ok(())
}

/// Returns what takes a file of git's away, as a person may run it in the primary checkout.
pub(crate) fn take_away(directory: &Path, name: &str) -> String {
    let place = match directory.file_name() {
        Some(last) if last == ".git" => format!(".git/{name}"),
        Some(_) | None => directory.join(name).display().to_string(),
    };
    format!("rm {}", shell::word(&place))
}

/// Refuses what lies where the directory of every task branch has to be.
fn above(repository: &Repository, branch: &str) -> Result<(), Why> {
    let common = repository.commondir();
    let reference = format!("refs/heads/{branch}");
    let kind = look(common, &reference)?;
    if let Some(kind) = kind.filter(|kind| !kind.is_dir() && !kind.is_file()) {
        return Err(no_file(common, &reference, kind));
    }
    if repository.find_reference(&reference).is_ok() {
        return Err(Why::new(format!(
            "the branch {branch} stands in the way: the name of every task branch lies beneath its own"
        ))
        .with_hint(format!("rename it: git branch -m {branch} other-name")));
    }
    for name in [reference.clone(), format!("logs/{reference}")] {
        if look(common, &name)?.is_some_and(|kind| !kind.is_dir()) {
            return Err(Why::new(format!("{name} stands in the way: it is no directory"))
                .with_hint(format!("take it away: {}", take_away(common, &name))));
        }
    }
    Ok(())
}

/// Returns why the file of a ref or a reflog cannot be one, nothing where it can.
///
/// # Errors
/// With what cannot be told for one unit alone: libgit2 would open what the link leads to when it lists the others.
fn in_place_of(repository: &Repository, name: &str) -> Result<Option<Why>, Why> {
    let common = repository.commondir();
    let Some(kind) = look(common, name)? else {
        return Ok(Some(
            Why::new(format!("{name} is a symbolic link that leads nowhere"))
                .with_hint(format!("take it away: {}", take_away(common, name))),
        ));
    };
    if kind.is_file() {
        return Ok(None);
    }
    if kind.is_dir() {
        let is_remote = name.starts_with("refs/remotes/");
        let first = if is_remote { None } else { first_file(common, name)? };
        let Some((file, kind)) = first else {
            return Ok(None);
        };
        let reference = file.strip_prefix("logs/").unwrap_or(&file);
        let may_be_opened = kind.is_file() && look(common, reference)?.is_none_or(|kind| kind.is_file());
        if may_be_opened && repository.find_reference(reference).is_ok() {
            return Ok(Some(beneath(reference)));
        }
        return Ok(Some(
            Why::new(format!("{file} stands in the way: it lies beneath the task's branch"))
                .with_hint(format!("take it away: {}", take_away(common, &file))),
        ));
    }
    let why = no_file(common, name, kind);
    let is_link = common.join(name).is_symlink();
    if is_link { Err(why) } else { Ok(Some(why)) }
}

fn no_file(directory: &Path, name: &str, kind: FileType) -> Why {
    let kind = if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    Why::new(format!("{name} is {kind}, which git cannot read"))
        .with_hint(format!("take it away: {}", take_away(directory, name)))
}

/// Returns the kind of what is at a path, links followed; nothing where nothing is.
fn look(common: &Path, name: &str) -> Result<Option<FileType>, Why> {
    match std::fs::metadata(common.join(name)) {
        Ok(found) => Ok(Some(Metadata::file_type(&found))),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(unseen(name, &error)),
    }
}

/// Returns the names of what lies in a directory, in their order; none where there is no such directory.
fn entries(common: &Path, directory: &str) -> Result<Vec<String>, Why> {
    let found = match std::fs::read_dir(common.join(directory)) {
        Ok(found) => found,
        Err(error) if is_missing(&error) => return Ok(Vec::new()),
        Err(error) => return Err(unseen(directory, &error)),
    };
    let mut names = Vec::new();
    for entry in found {
        let entry = entry.map_err(|error| unseen(directory, &error))?;
        // No ref of ours has a name that is not UTF-8.
        if let Ok(name) = entry.file_name().into_string() {
            names.push(format!("{directory}/{name}"));
        }
    }
    names.sort();
    Ok(names)
}

/// Returns the first of a directory's files, however deep; git itself takes empty directories away.
fn first_file(common: &Path, directory: &str) -> Result<Option<(String, FileType)>, Why> {
    for name in entries(common, directory)? {
        let found = std::fs::symlink_metadata(common.join(&name)).map_err(|error| unseen(&name, &error))?;
        if !found.is_dir() {
            return Ok(Some((name, found.file_type())));
        }
        if let Some(file) = first_file(common, &name)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn unseen(name: &str, error: &std::io::Error) -> Why {
    Why::new(format!("cannot look at {name}: {error}")).with_hint(format!("look at it: ls -ld .git/{name}"))
}
