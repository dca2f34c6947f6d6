//! Worktrees of units: how their place looks, and registering one in a single rename.
//!
//! Registration is written by us and not by libgit2, which makes it in a dozen writes and checks out in between: a
//! kill there leaves something git calls broken. Ours is prepared aside and renamed into place.

use std::fs;
use std::io::{self, ErrorKind};

use camino::Utf8Path;
use orchestrate_core::identifier::{Nonce, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::world::{Fault, Race, RegisteredWorktree, WorktreeDirectory, WorktreeFacts};

use crate::aside;
use crate::failpoint::reach;
use crate::files::{create_directory_at, disk_fault, refuse_links, rename_no_replace, replace_shared, sync_directory};
use crate::git;
use crate::git_error;
use crate::layout::{Layout, PROMPT_FILE};
use crate::repository::{self, Registration, Repository};

/// What our `locked` files begin with; a lock with another reason is a person's and stays.
pub(crate) const LOCK_REASON: &str = "orchestrate: checkout not complete";

/// Returns how the place of a unit's worktree looks.
pub(crate) fn facts(repository: &Repository, name: &UnitName) -> Observed<WorktreeFacts> {
    match unwritable(&repository.layout, name) {
        Some(why) => Observed::Unknown(why),
        None => look(repository, name).unwrap_or_else(|fault| Observed::Unknown(Why::new(fault.to_string()))),
    }
}

/// Returns why the files of a worker could not be written: a start would find it out when the unit is recorded already.
fn unwritable(layout: &Layout, name: &UnitName) -> Option<Why> {
    let log = layout.log(name);
    let git_directory = layout.common.join("worktrees").join(name.worktree());
    let logs = layout.logs();
    let places = [
        (logs.as_path(), "the directory of the workers' logs", true),
        (log.as_path(), "its worker's log", false),
        (&git_directory.join(PROMPT_FILE), "its worker's prompt", false),
    ];
    places.into_iter().find_map(|(path, what, is_directory)| {
        // What cannot be looked at is not there, or git says more about it.
        let kind = fs::symlink_metadata(path).ok()?.file_type();
        let fits = if is_directory { kind.is_dir() } else { kind.is_file() };
        (!fits).then(|| {
            Why::new(format!("{} stands in the place of {what}", layout.shown(path)))
                .with_hint(format!("move it away: {}", aside::command(layout, path)))
        })
    })
}

fn look(repository: &Repository, name: &UnitName) -> Result<Observed<WorktreeFacts>, Fault> {
    let layout = &repository.layout;
    let operation = format!("cannot look at the worktree of {name}");
    let primary = git::primary_branch(&layout.common).map_err(|error| disk_fault(operation.clone(), &error))?;
    if primary.as_deref() == Some(name.reference().as_str()) {
        return Ok(Observed::Known(WorktreeFacts::BranchElsewhere {
            path: layout.shown(&layout.primary),
        }));
    }
    // The places are looked at before the registrations: ours is registered before its directory is made, so what is
    // there now and not registered afterwards belongs to nobody of ours. The other way round a peer that registers in
    // between would look like a leftover.
    let expected = layout.worktree(name);
    let taken_name = layout.common.join("worktrees").join(name.worktree());
    let has_leftover = fs::symlink_metadata(&taken_name).is_ok();
    let links = refuse_links(layout, &expected, &operation);
    let standing = what_stands_at(&expected);
    let registrations = repository.registrations()?;
    if let Some(ours) = registrations
        .iter()
        .find(|one| one.branch.as_deref() == Some(name.reference().as_str()))
    {
        return Ok(Observed::Known(if is_our_place(layout, name, &ours.path) {
            WorktreeFacts::Ours(registered(ours)?)
        } else {
            WorktreeFacts::BranchElsewhere {
                path: layout.shown(&ours.path),
            }
        }));
    }
    if let Some(other) = registrations
        .iter()
        .find(|one| one.path == expected || one.git_directory == taken_name)
    {
        if other.path == expected {
            return Ok(Observed::Known(WorktreeFacts::Strayed {
                path: layout.shown(&other.path),
                on: other.branch.as_deref().map(short_branch),
                has_branch: has_branch(repository, name, &operation)?,
            }));
        }
        let on = other
            .branch
            .as_deref()
            .map_or_else(|| "a detached HEAD".to_owned(), short_branch);
        let by = format!("{} is registered as a worktree on {on}", layout.shown(&other.path));
        return Ok(Observed::Known(WorktreeFacts::Taken { by }));
    }
    if has_leftover {
        let taken_name = layout.shown(&taken_name);
        let by = format!("{taken_name} is what a killed git left");
        return Ok(Observed::Known(WorktreeFacts::Taken { by }));
    }
    links?;
    Ok(Observed::Known(
        match standing.map_err(|error| disk_fault(operation, &error))? {
            None => WorktreeFacts::Free,
            Some(what) => WorktreeFacts::Taken {
                by: format!("{what} stands at {}", layout.shown(&expected)),
            },
        },
    ))
}

fn short_branch(reference: &str) -> String {
    reference.strip_prefix("refs/heads/").unwrap_or(reference).to_owned()
}

fn has_branch(repository: &Repository, name: &UnitName, operation: &str) -> Result<bool, Fault> {
    match repository.git.find_reference(&name.reference()) {
        Ok(_) => Ok(true),
        Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(false),
        Err(error) => Err(Fault::new(operation, error.message().to_owned())),
    }
}

/// A worktree is ours to use at `<spec>-task-<ids>`, or at the reference's `task-<ids>` when it is on our branch.
pub(crate) fn is_our_place(layout: &Layout, name: &UnitName, path: &Utf8Path) -> bool {
    let bare = layout.worktrees().join(format!("task-{}", name.unit));
    path == layout.worktree(name) || path == bare
}

fn what_stands_at(path: &Utf8Path) -> io::Result<Option<&'static str>> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if metadata.file_type().is_symlink() {
        Ok(Some("a symbolic link"))
    } else if !metadata.file_type().is_dir() {
        Ok(Some("a file"))
    } else if fs::read_dir(path)?.next().is_some() {
        Ok(Some("a directory that is no worktree of this unit"))
    } else {
        Ok(None)
    }
}

fn registered(registration: &Registration) -> Result<RegisteredWorktree, Fault> {
    let path = &registration.path;
    let operation = format!("cannot look at {path}");
    let directory = directory_state(path).map_err(|error| disk_fault(operation, &error))?;
    let changes = match (registration.has_index, directory) {
        (true, WorktreeDirectory::Populated) => changes(path),
        (_, _) => Observed::Absent(Why::new("its checkout is not complete")),
    };
    Ok(RegisteredWorktree {
        path: path.to_string(),
        locked: registration.is_locked_by_us(),
        complete: registration.has_index,
        directory,
        changes,
    })
}

fn directory_state(path: &Utf8Path) -> io::Result<WorktreeDirectory> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(WorktreeDirectory::Missing),
        Err(error) => return Err(error),
    };
    for entry in entries {
        if entry?.file_name() != ".git" {
            return Ok(WorktreeDirectory::Populated);
        }
    }
    Ok(WorktreeDirectory::Bare)
}

/// Returns a few uncommitted or untracked paths, or the operation that the worktree is in the middle of.
fn changes(path: &Utf8Path) -> Observed<Vec<String>> {
    let operation = format!("cannot read the status of {path}");
    let worktree = match repository::open_checkout(&operation, path) {
        Ok(worktree) => worktree,
        Err(fault) => return Observed::Unknown(git_error::as_why(&fault)),
    };
    let looked = || {
        if worktree.state() != git2::RepositoryState::Clean {
            return Ok(vec![format!("an unfinished operation ({:?})", worktree.state())]);
        }
        let mut options = git2::StatusOptions::new();
        options
            .include_untracked(true)
            .include_ignored(false)
            .exclude_submodules(true);
        let statuses = worktree.statuses(Some(&mut options))?;
        Ok(statuses
            .iter()
            .take(5)
            .map(|entry| String::from_utf8_lossy(entry.path_bytes()).into_owned())
            .collect())
    };
    looked().map_or_else(
        |error: git2::Error| Observed::Unknown(git_error::why(&operation, &error)),
        Observed::Known,
    )
}

/// Registers the unit's worktree, locked and without files, in one rename.
pub(crate) fn register(repository: &Repository, name: &UnitName, nonce: &Nonce) -> Result<Race, Fault> {
    reach("register-worktree.before");
    let layout = &repository.layout;
    let operation = format!("cannot register the worktree of {name}");
    let target = layout.common.join("worktrees").join(name.worktree());
    refuse_links(layout, &layout.worktree(name), &operation)?;
    exclude_our_files(layout).map_err(|error| disk_fault("cannot write .git/info/exclude".to_owned(), &error))?;
    create_directory_at(layout, &layout.common.join("worktrees"), &operation)?;
    let staging = layout.staging().join(nonce.as_str());
    create_directory_at(layout, &staging, &operation)?;
    let written = write_registration(layout, name, &staging).and_then(|()| {
        reach("register-worktree.staged");
        rename_no_replace(&staging, &target)
    });
    let race = match written {
        Ok(race) => race,
        Err(error) => {
            // Why it failed is what the user has to know; what stays behind here is read by nobody.
            let _ = discard_staging(&staging);
            return Err(disk_fault(operation, &error));
        }
    };
    reach("register-worktree.published");
    if race == Race::Won {
        sync_directory(&layout.common.join("worktrees")).map_err(|error| disk_fault(operation.clone(), &error))?;
        make_directory(layout, &layout.worktree(name), &target, &operation)?;
    } else {
        discard_staging(&staging).map_err(|error| disk_fault(operation, &error))?;
    }
    reach("register-worktree.after");
    Ok(race)
}

const REGISTRATION_FILES: [&str; 4] = ["HEAD", "commondir", "gitdir", "locked"];

pub(crate) fn discard_staging(staging: &Utf8Path) -> io::Result<()> {
    for file in REGISTRATION_FILES {
        match fs::remove_file(staging.join(file)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    fs::remove_dir(staging)
}

fn write_registration(layout: &Layout, name: &UnitName, staging: &Utf8Path) -> io::Result<()> {
    let texts = [
        format!("ref: {}\n", name.reference()),
        "../..\n".to_owned(),
        format!("{}\n", layout.worktree(name).join(".git")),
        format!("{LOCK_REASON}\n"),
    ];
    for (file, text) in REGISTRATION_FILES.into_iter().zip(texts) {
        replace_shared(staging, &staging.join(file), text.as_bytes())?;
    }
    Ok(())
}

/// Makes the worktree's directory and the `.git` file that points at its registration.
pub(crate) fn make_directory(
    layout: &Layout,
    path: &Utf8Path,
    git_directory: &Utf8Path,
    operation: &str,
) -> Result<(), Fault> {
    create_directory_at(layout, path, operation)?;
    let pointer = path.join(".git");
    let content = format!("gitdir: {git_directory}\n");
    match fs::symlink_metadata(&pointer) {
        Ok(metadata) if metadata.file_type().is_file() => Ok(()),
        Ok(_) => Err(
            Fault::new(operation, format!("something that is no file stands at {pointer}"))
                .with_hint("move it away; nothing there was touched"),
        ),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            replace_shared(path, &pointer, content.as_bytes()).map_err(|error| disk_fault(operation.to_owned(), &error))
        }
        Err(error) => Err(disk_fault(operation.to_owned(), &error)),
    }
}

/// The lines that keep our files out of `git status`.
pub(crate) const EXCLUDED: [&str; 4] = [
    "/.claude/worktrees/",
    "/.claude/*.local/",
    "/.claude/*.local.yml",
    ".orchestrate*",
];

/// Keeps our files out of `git status` without touching a tracked file.
pub(crate) fn exclude_our_files(layout: &Layout) -> io::Result<()> {
    let directory = layout.common.join("info");
    fs::create_dir_all(&directory)?;
    let path = directory.join("exclude");
    if fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(io::Error::other(format!(
            "something that is no regular file stands at {path}"
        )));
    }
    // Whatever people wrote there stays as it is, in whatever encoding.
    let mut text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error),
    };
    let is_there = |line: &&str| text.split(|byte| *byte == b'\n').any(|there| there == line.as_bytes());
    let missing: Vec<&str> = EXCLUDED.into_iter().filter(|line| !is_there(line)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    for line in missing {
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
    }
    replace_shared(&directory, &path, &text)
}
