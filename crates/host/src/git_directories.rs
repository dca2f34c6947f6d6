//! Where git's own files of a repository lie, found without opening one of them that is no file.
//!
//! libgit2 opens these files when it opens a repository, and would wait for ever on a named pipe in the place of one.
//! Owns no state.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::observed::Why;

use crate::obstacle;

/// The files of a checkout's own git directory that are read when it is opened, or by every look at it.
const OF_CHECKOUT: &[&str] = &["HEAD", "commondir", "config.worktree", "gitdir", "index", "logs/HEAD"];

/// The files that all checkouts share.
const SHARED: &[&str] = &[
    "HEAD",
    "config",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "objects/info/alternates",
    "packed-refs",
    "refs/remotes/origin/HEAD",
    "shallow",
];

/// The git directories of one checkout.
pub(crate) struct GitDirectories {
    own: Utf8PathBuf,
    common: Utf8PathBuf,
}

/// Returns the git directories of the repository around a directory, nothing where there is none: opening it says so then.
/// An error is what stands in the place of a file that says where they lie.
pub(crate) fn find(start: &Utf8Path) -> Option<Result<GitDirectories, Why>> {
    let start = start.canonicalize_utf8().ok()?;
    start.ancestors().find_map(|directory| {
        let own = pointed_at(directory).unwrap_or_else(|| directory.to_path_buf());
        is_git_directory(&own).then(|| with_common(own))
    })
}

/// Returns the directory that holds `.git`, where one of git's files is none; nothing where they all are files.
pub(crate) fn top_with_obstacle(start: &Utf8Path) -> Option<Utf8PathBuf> {
    let start = start.canonicalize_utf8().ok()?;
    let has_obstacle = match find(&start)? {
        Ok(found) => found.refuse_special().is_err(),
        Err(_) => true,
    };
    let top = || start.ancestors().find(|directory| pointed_at(directory).is_some());
    has_obstacle.then(top).flatten().map(Utf8Path::to_path_buf)
}

/// Returns the git directory that `.git` in a directory is, or names.
fn pointed_at(directory: &Utf8Path) -> Option<Utf8PathBuf> {
    let path = directory.join(".git");
    let metadata = fs::metadata(&path).ok()?;
    if metadata.is_dir() {
        return Some(path);
    }
    // What is neither is no repository to git either.
    if !metadata.is_file() {
        return None;
    }
    let text = fs::read_to_string(&path).ok()?;
    directory
        .join(text.strip_prefix("gitdir:")?.trim())
        .canonicalize_utf8()
        .ok()
}

/// As git tells one: a HEAD, and objects of its own or a repository that has them.
fn is_git_directory(directory: &Utf8Path) -> bool {
    let has = |name: &str| fs::symlink_metadata(directory.join(name)).is_ok();
    has("HEAD") && (has("objects") || has("commondir"))
}

fn with_common(own: Utf8PathBuf) -> Result<GitDirectories, Why> {
    let commondir = own.join("commondir");
    let is_special = fs::metadata(&commondir).is_ok_and(|found| !found.is_file() && !found.is_dir());
    if is_special {
        // As git names it: `.git/worktrees/<name>`.
        let worktrees = own.parent().filter(|parent| parent.file_name() == Some("worktrees"));
        let directories = GitDirectories {
            common: worktrees.and_then(Utf8Path::parent).unwrap_or(&own).to_path_buf(),
            own: own.clone(),
        };
        directories.refuse_own(&["commondir"])?;
    }
    let common = fs::read_to_string(&commondir)
        .ok()
        .and_then(|common| own.join(common.trim_end()).canonicalize_utf8().ok());
    Ok(GitDirectories {
        // Without such a file it is its own.
        common: common.unwrap_or_else(|| own.clone()),
        own,
    })
}

impl GitDirectories {
    /// Refuses named pipes and the like where a file is read.
    pub(crate) fn refuse_special(&self) -> Result<(), Why> {
        self.refuse_own(OF_CHECKOUT)?;
        obstacle::refuse_special(self.common.as_std_path(), SHARED)?;
        // A HEAD that cannot be read is told by what reads it.
        let head = fs::read_to_string(self.own.join("HEAD")).unwrap_or_default();
        let branch: Vec<&str> = head.trim_end().strip_prefix("ref: ").into_iter().collect();
        obstacle::refuse_special(self.common.as_std_path(), &branch)
    }

    fn refuse_own(&self, names: &[&str]) -> Result<(), Why> {
        let Ok(below) = self.own.strip_prefix(&self.common) else {
            return obstacle::refuse_special(self.own.as_std_path(), names);
        };
        let names: Vec<String> = names.iter().map(|name| below.join(name).into_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        obstacle::refuse_special(self.common.as_std_path(), &names)
    }
}
