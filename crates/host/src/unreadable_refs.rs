//! Refs of this clone that git cannot read. One of them keeps git from fetching and from packing, whatever it belongs to.
//!
//! Files are opened only where they are regular. Owns no state.

use std::fs;
use std::io::ErrorKind;

use camino::Utf8Path;
use git2::Oid;
use orchestrate_core::world::Fault;

use crate::files::disk_fault;
use crate::git_error;
use crate::repository::Repository;

/// A ref that names nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableRef {
    /// Its full name.
    pub name: String,
    /// What is wrong with it.
    pub cause: &'static str,
    /// It has a file of its own, which can be taken away; else it is one of `packed-refs`.
    pub is_loose: bool,
    /// The newest commit of its log that is in this clone.
    pub last: Option<Oid>,
}

/// No ref is longer.
const LONGEST_REF: u64 = 4096;

/// Returns the refs that git cannot read, by name.
///
/// # Errors
/// When the refs cannot be listed.
pub fn look(repository: &Repository) -> Result<Vec<UnreadableRef>, Fault> {
    let common = &repository.layout.common;
    let mut found = Vec::new();
    loose(common, "refs", &mut found)?;
    let operation = "cannot list the refs";
    let fault = |error: git2::Error| git_error::fault(operation, &error);
    let objects = repository.git.odb().map_err(fault)?;
    for reference in repository.git.references().map_err(fault)?.flatten() {
        let name = String::from_utf8_lossy(reference.name_bytes()).into_owned();
        let is_missing = reference.target().is_some_and(|target| !objects.exists(target));
        if is_missing && found.iter().all(|known: &UnreadableRef| known.name != name) {
            found.push(UnreadableRef {
                is_loose: common.join(&name).is_file(),
                name,
                cause: "what it names is not in this clone",
                last: None,
            });
        }
    }
    for broken in &mut found {
        broken.last = last_of(&repository.git, &broken.name);
    }
    found.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(found)
}

/// Looks at the files below a directory of refs.
fn loose(common: &Utf8Path, directory: &str, found: &mut Vec<UnreadableRef>) -> Result<(), Fault> {
    let unseen = |error: &std::io::Error| disk_fault(format!("cannot list .git/{directory}"), error);
    let entries = match fs::read_dir(common.join(directory)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unseen(&error)),
    };
    for entry in entries {
        let entry = entry.map_err(|error| unseen(&error))?;
        let (Ok(kind), Ok(last)) = (entry.file_type(), entry.file_name().into_string()) else {
            continue;
        };
        let name = format!("{directory}/{last}");
        if kind.is_dir() {
            loose(common, &name, found)?;
        } else if !last.ends_with(".lock")
            && let Some(cause) = fault_of(&common.join(&name), kind)
        {
            found.push(UnreadableRef {
                name,
                cause,
                is_loose: true,
                last: None,
            });
        }
    }
    Ok(())
}

/// Returns the newest commit of a ref's log that is here. A log that is no regular file is not opened.
fn last_of(repository: &git2::Repository, name: &str) -> Option<Oid> {
    let log = repository.commondir().join("logs").join(name);
    fs::symlink_metadata(log).ok().filter(fs::Metadata::is_file)?;
    let log = repository.reflog(name).ok()?;
    let mut commits = log.iter().map(|entry| entry.id_new());
    commits.find(|commit| repository.find_commit(*commit).is_ok())
}

/// Returns what is wrong with the file of a ref.
fn fault_of(path: &Utf8Path, kind: fs::FileType) -> Option<&'static str> {
    if kind.is_symlink() {
        // The oldest way to have one ref stand for another.
        let names_a_ref = path.read_link_utf8().is_ok_and(|target| target.starts_with("refs/"));
        return (!names_a_ref).then_some("it is a symbolic link that leads to no ref");
    }
    if !kind.is_file() {
        return Some("it is no regular file");
    }
    let length = fs::metadata(path).ok()?.len();
    if length == 0 {
        return Some("it is empty");
    }
    if length > LONGEST_REF {
        return Some("it is no ref");
    }
    let text = fs::read_to_string(path).ok()?;
    let is_ref = text.starts_with("ref: ") || Oid::from_str(text.trim_end()).is_ok_and(|_| text.trim_end().len() == 40);
    (!is_ref).then_some("it is no ref")
}
