//! What killed processes left behind in the tower's own places, and which of it is provably nobody's.
//!
//! Owns no format: what is staged where is said by those who stage it. Age alone proves nothing (law L4): what is removed
//! is old, and nobody who could still need it has it open. Links are never followed, and nothing is waited for.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::{Nonce, SpecId};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::{LockDirectory, Place};
use orchestrate_core::process::Liveness;
use orchestrate_core::record::lock_owner::{LockKind, LockOwner};
use orchestrate_core::time::Timestamp;
use orchestrate_core::world::{Fault, Reading};

use crate::files::{self, disk_fault, is_staged_name, read_path, refuse_links};
use crate::layout::Layout;
use crate::{clock, identity, unfinished, worktree};

/// Nothing is litter before it is so old, in seconds: every staging of ours takes a moment, the longest one minutes.
pub const SAFE_AGE: i64 = 3600;
/// So deep are directories looked into below our own.
const DEEPEST: usize = 4;
/// So many names are looked at; a directory with more holds something that is not ours.
const MOST_NAMES: usize = 20_000;
/// For so many files it is asked who has them open.
const MOST_FILES: usize = 50;

/// What was left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A file that was written beside the one it was to replace.
    StagedFile,
    /// A lock that was prepared, or moved out of the way.
    Lock(LockDirectory),
    /// The registration of a worktree that was prepared.
    Registration,
    /// The changes of a migration, half kept or half removed.
    Migration(SpecId),
    /// A lock of git's own.
    GitLock,
}

/// Something that was left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Litter {
    /// What it is.
    pub kind: Kind,
    /// Where it lies.
    pub path: Utf8PathBuf,
    /// Why it is nobody's.
    pub proof: Observed<String>,
}

/// Returns what was left behind and is old enough to be looked at, in the order of the paths. `specs` are the bundles.
///
/// # Errors
/// When one of our own directories cannot be listed.
pub fn find(layout: &Layout, specs: &[SpecId]) -> Result<Vec<Litter>, Fault> {
    let now = clock::now();
    let mut found = Vec::new();
    let windows = windows(layout);
    for spec in specs {
        let directory = layout.path(&Place::BundleFile(
            spec.clone(),
            orchestrate_core::place::BundleFile::Tasks,
        ));
        for name in names(directory.parent().unwrap_or(&directory))? {
            found.extend(lock_litter(layout, spec, &name, now, &windows));
        }
    }
    for (name, path) in children(&layout.state().join("staging"))? {
        let is_old = metadata(&path).is_some_and(|metadata| metadata.is_dir() && age(&metadata, now) > SAFE_AGE);
        if Nonce::parse(&name).is_ok() && is_old {
            found.extend(litter(Kind::Registration, path, free(&windows)));
        }
    }
    for (name, path) in children(&layout.state().join("migration"))? {
        let spec = name.strip_suffix(".aside").and_then(|name| SpecId::parse(name).ok());
        let is_old = metadata(&path).is_some_and(|metadata| metadata.is_dir() && age(&metadata, now) > SAFE_AGE);
        if let Some(spec) = spec.filter(|_| is_old) {
            found.extend(litter(Kind::Migration(spec), path, free(&windows)));
        }
    }
    found.extend(files_left(layout, specs, now)?);
    found.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(found)
}

/// Removes what is still nobody's; what is gone is no error.
///
/// # Errors
/// When it is somebody's by now, is not for us to remove, or the disk refuses.
pub fn remove(layout: &Layout, specs: &[SpecId], litter: &Litter) -> Result<(), Fault> {
    let operation = format!("cannot remove {}", layout.shown(&litter.path));
    let now = find(layout, specs)?.into_iter().find(|found| found.path == litter.path);
    let Some(now) = now else {
        return match fs::symlink_metadata(&litter.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Ok(_) => Err(Fault::new(operation, "it is in use again")),
            Err(error) => Err(disk_fault(operation, &error)),
        };
    };
    if let Observed::Absent(why) | Observed::Unknown(why) = &now.proof {
        return Err(Fault::new(operation, why.reason.clone()));
    }
    refuse_links(layout, &now.path, &operation)?;
    let disk = |error: io::Error| disk_fault(operation.clone(), &error);
    match &now.kind {
        Kind::StagedFile => remove_staged(&now.path).map_err(disk),
        Kind::Lock(directory) => {
            for (name, path) in children(&now.path)? {
                if is_staged_name(&name) {
                    remove_staged(&path).map_err(disk)?;
                }
            }
            files::remove(layout, &directory.place())
        }
        Kind::Registration => {
            for (name, path) in children(&now.path)? {
                if is_staged_name(&name) {
                    remove_staged(&path).map_err(disk)?;
                }
            }
            worktree::discard_staging(&now.path).map_err(disk)
        }
        Kind::Migration(spec) => unfinished::discard_aside(layout, spec),
        Kind::GitLock => Err(Fault::new(operation, "it is git's, and only a person can tell")),
    }
}

fn remove_staged(path: &Utf8Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn lock_litter(
    layout: &Layout,
    spec: &SpecId,
    name: &str,
    now: Timestamp,
    windows: &Observed<Vec<String>>,
) -> Option<Litter> {
    let nonce = |prefix: &str| Nonce::parse(name.strip_prefix(prefix)?).ok();
    let directory = match (nonce(".orchestrate.lock.new-"), nonce(".orchestrate.lock.old-")) {
        (Some(nonce), _) => LockDirectory::Staging(spec.clone(), nonce),
        (None, Some(nonce)) => LockDirectory::Aside(spec.clone(), nonce),
        (None, None) => return None,
    };
    let path = layout.path(&directory.place());
    let is_old = age(&metadata(&path).filter(Metadata::is_dir)?, now) > SAFE_AGE;
    let owner = match files::read(layout, &directory.owner()) {
        Reading::File { bytes, .. } => LockOwner::parse(&bytes).ok(),
        Reading::Absent | Reading::Directory { .. } | Reading::Symlink | Reading::Special | Reading::Unreadable(_) => {
            None
        }
    };
    let proof = match owner.filter(|owner| owner.kind == LockKind::Process) {
        Some(owner) => match identity::liveness(&owner.process) {
            Observed::Known(Liveness::Alive) => return None,
            Observed::Known(Liveness::Dead) => Observed::Known(format!("its tower, {}, is dead", owner.process)),
            Observed::Absent(why) | Observed::Unknown(why) if is_old => {
                Observed::Unknown(Why::new(format!("it is of {}: {why}", owner.process)))
            }
            Observed::Absent(_) | Observed::Unknown(_) => return None,
        },
        None if is_old => free(windows),
        None => return None,
    };
    litter(Kind::Lock(directory), path, proof)
}

fn litter(kind: Kind, path: Utf8PathBuf, proof: Observed<String>) -> Option<Litter> {
    // What somebody is at is no litter.
    match proof {
        Observed::Absent(_) => None,
        Observed::Known(_) | Observed::Unknown(_) => Some(Litter { kind, path, proof }),
    }
}

/// Returns the files of the windows' locks that a process has open: a tower is in its window, or may come into it.
fn windows(layout: &Layout) -> Observed<Vec<String>> {
    let locks = match children(&layout.state().join("lock")) {
        Ok(locks) => locks,
        Err(fault) => return Observed::Unknown(Why::new(fault.to_string())),
    };
    let files: Vec<(u64, u64)> = locks
        .iter()
        .filter_map(|(_, path)| metadata(path))
        .map(|metadata| (metadata.dev(), metadata.ino()))
        .collect();
    if files.is_empty() {
        return Observed::Known(Vec::new());
    }
    identity::holders_of_any(&files).map(|holders| holders.iter().map(ToString::to_string).collect())
}

fn free(windows: &Observed<Vec<String>>) -> Observed<String> {
    match windows {
        Observed::Known(open) if open.is_empty() => {
            Observed::Known("it is old, and no tower of this machine is in a window".to_owned())
        }
        Observed::Known(open) => Observed::Absent(Why::new(format!("a tower is at work: {}", open.join(", ")))),
        Observed::Absent(why) | Observed::Unknown(why) => Observed::Unknown(why.clone()),
    }
}

/// Returns the staged files and git's locks that nobody has open.
fn files_left(layout: &Layout, specs: &[SpecId], now: Timestamp) -> Result<Vec<Litter>, Fault> {
    let mut candidates = Vec::new();
    let mut budget = MOST_NAMES;
    let mut look = |directory: &Utf8Path, depth: usize| staged_below(directory, depth, &mut budget, &mut candidates);
    look(&layout.state(), DEEPEST)?;
    look(&layout.common.join("planwright"), DEEPEST)?;
    look(&layout.common.join("info"), 0)?;
    look(&layout.common.join("worktrees"), 1)?;
    look(&layout.primary.join(".claude").join("orchestrate.local"), 0)?;
    for (_, path) in children(&layout.worktrees())? {
        look(&path, 0)?;
    }
    for spec in specs {
        let bundle = layout.primary.join("specs").join(spec.as_str());
        look(&bundle, 0)?;
        look(&bundle.join(".orchestrate"), 1)?;
    }
    candidates.extend(git_locks(layout, specs)?.into_iter().map(|path| (Kind::GitLock, path)));
    let own = rustix::process::geteuid().as_raw();
    let old = candidates.into_iter().filter_map(|(kind, path)| {
        let metadata = metadata(&path)?;
        let is_ours = metadata.is_file() && metadata.uid() == own;
        (is_ours && age(&metadata, now) > SAFE_AGE).then_some((kind, path, metadata))
    });
    Ok(old
        .take(MOST_FILES)
        .filter_map(|(kind, path, metadata)| litter(kind, path, unopened(&metadata)))
        .collect())
}

/// Returns where git's own locks lie that would stop a tower, whether they are there or not.
fn git_locks(layout: &Layout, specs: &[SpecId]) -> Result<Vec<Utf8PathBuf>, Fault> {
    let of_repository = [
        "index.lock",
        "HEAD.lock",
        "packed-refs.lock",
        "config.lock",
        "shallow.lock",
    ];
    let mut paths: Vec<Utf8PathBuf> = of_repository.iter().map(|name| layout.common.join(name)).collect();
    for (_, path) in children(&layout.common.join("worktrees"))? {
        paths.extend(["index.lock", "HEAD.lock"].map(|name| path.join(name)));
    }
    for spec in specs {
        let branches = children(&layout.common.join("refs/heads/planwright").join(spec.as_str()))?;
        paths.extend(
            branches
                .into_iter()
                .filter(|(name, _)| name.ends_with(".lock"))
                .map(|(_, path)| path),
        );
    }
    Ok(paths)
}

fn unopened(metadata: &Metadata) -> Observed<String> {
    match identity::holders((metadata.dev(), metadata.ino())) {
        Observed::Known(holders) if holders.is_empty() => {
            Observed::Known("it is old, and no process has it open".to_owned())
        }
        Observed::Known(_) => Observed::Absent(Why::new("a process has it open")),
        Observed::Absent(why) | Observed::Unknown(why) => Observed::Unknown(why),
    }
}

fn staged_below(
    directory: &Utf8Path,
    depth: usize,
    budget: &mut usize,
    found: &mut Vec<(Kind, Utf8PathBuf)>,
) -> Result<(), Fault> {
    for (name, path) in children(directory)? {
        if *budget == 0 {
            return Ok(());
        }
        *budget -= 1;
        if is_staged_name(&name) {
            found.push((Kind::StagedFile, path));
        } else if depth > 0 && metadata(&path).is_some_and(|metadata| metadata.is_dir()) {
            staged_below(&path, depth - 1, budget, found)?;
        }
    }
    Ok(())
}

fn names(directory: &Utf8Path) -> Result<Vec<String>, Fault> {
    Ok(children(directory)?.into_iter().map(|(name, _)| name).collect())
}

/// Returns what lies in a real directory, by name; nothing where there is none. No name of ours is not UTF-8.
fn children(directory: &Utf8Path) -> Result<Vec<(String, Utf8PathBuf)>, Fault> {
    if !matches!(read_path(directory), Reading::Directory { .. }) {
        return Ok(Vec::new());
    }
    let fault = |error: io::Error| disk_fault(format!("cannot list {directory}"), &error);
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(fault)?.take(MOST_NAMES) {
        if let Ok(name) = entry.map_err(fault)?.file_name().into_string() {
            let path = directory.join(&name);
            found.push((name, path));
        }
    }
    Ok(found)
}

fn metadata(path: &Utf8Path) -> Option<Metadata> {
    fs::symlink_metadata(path).ok()
}

fn age(metadata: &Metadata, now: Timestamp) -> i64 {
    now.seconds_since(Timestamp::from_seconds(metadata.mtime()))
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
