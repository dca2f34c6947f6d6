//! What lies in the checkout for this machine alone, and whether git is told to leave it out. The lines themselves are
//! written by [`worktree`].

use std::fs;
use std::path::Path;

use camino::Utf8PathBuf;
use orchestrate_core::identifier::SpecId;
use orchestrate_core::world::Fault;

use crate::files::disk_fault;
use crate::git_error;
use crate::repository::Repository;
use crate::worktree;

/// So many names of `.claude` are looked at.
const MOST_NAMES: usize = 1000;

/// Returns what is there for this machine alone and would show in `git status`, from the primary checkout on.
///
/// # Errors
/// When git's rules cannot be read.
pub fn unignored(repository: &Repository, specs: &[SpecId]) -> Result<Vec<String>, Fault> {
    let primary = &repository.layout.primary;
    let mut places = vec![".claude/worktrees/".to_owned()];
    if let Ok(entries) = primary.join(".claude").read_dir_utf8() {
        let names = entries.take(MOST_NAMES).filter_map(Result::ok);
        places.extend(names.filter_map(|entry| match entry.file_name() {
            name if name.ends_with(".local") => Some(format!(".claude/{name}/")),
            name if name.ends_with(".local.yml") => Some(format!(".claude/{name}")),
            _ => None,
        }));
    }
    for spec in specs {
        places.push(format!("specs/{spec}/.orchestrate/"));
        places.push(format!("specs/{spec}/.orchestrate.lock/"));
    }
    let unreadable = |error: git2::Error| git_error::fault("cannot read what git ignores", &error);
    let index = repository.index().map_err(unreadable)?;
    let mut found = Vec::new();
    for place in places {
        if fs::symlink_metadata(primary.join(place.trim_end_matches('/'))).is_err() {
            continue;
        }
        let is_ignored = repository.git.is_path_ignored(&place).map_err(unreadable)?;
        // What is tracked is the person's choice.
        if !is_ignored && index.get_path(Path::new(&place), 0).is_none() {
            found.push(place);
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the file that the lines belong into.
#[must_use]
pub fn file(repository: &Repository) -> Utf8PathBuf {
    repository.layout.common.join("info").join("exclude")
}

/// Adds the lines that are missing.
///
/// # Errors
/// When the file cannot be written.
pub fn write(repository: &Repository) -> Result<(), Fault> {
    worktree::exclude_our_files(&repository.layout)
        .map_err(|error| disk_fault("cannot write .git/info/exclude".to_owned(), &error))
}
