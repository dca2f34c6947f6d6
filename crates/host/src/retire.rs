//! Retiring the worktree of a unit that has landed (decision 71): out of its place by one rename, looked at once more where
//! nobody finds it, then unregistered. What is thrown away has a name of its own from then on.
//!
//! | place | what it is |
//! |---|---|
//! | `.claude/worktrees/.orchestrate-leaving-<name>` | out of its place, not yet looked at: put back by whoever finds it |
//! | `.claude/worktrees/.orchestrate-left-<nonce>` | looked at: thrown away by whoever finds it |
//! | `.git/orchestrate/retired/<nonce>` | its registration, likewise |
//!
//! Once everything was looked at, the registration says so by a file of ours: a directory that is gone without it is gone by
//! somebody else's hand, and its registration stays.
//!
//! Git calls the registration prunable from the first rename on. Everything happens on the filesystem that the worktree is
//! on, and every rename replaces nothing. The lease is kept from workers meanwhile.

use std::fs;
use std::io::{self, ErrorKind};

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::{CommitId, Nonce, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::world::{Fault, Race, Retirement};

use crate::failpoint::reach;
use crate::files::{create_directory_at, disk_fault, refuse_links, rename_no_replace, replace, sync_directory};
use crate::layout::Layout;
use crate::lease;
use crate::remains::{self, Looked, RETIRED};
use crate::repository::{Registration, Repository};

const LEAVING: &str = ".orchestrate-leaving-";
const LEFT: &str = ".orchestrate-left-";

/// Returns whether the unit's worktree may go.
pub(crate) fn retirement(
    repository: &Repository,
    git: Option<&Utf8Path>,
    name: &UnitName,
    tip: &CommitId,
) -> Observed<Retirement> {
    match repository.registration(name) {
        Ok(None) => Observed::Absent(Why::new("no worktree is on its branch")),
        Ok(Some(registration)) => match place(repository, git, name, tip, &registration) {
            Ok(Place::Kept(why)) => Observed::Known(Retirement::Kept { why }),
            Ok(Place::There | Place::Gone) => Observed::Known(Retirement::Free),
            Err(fault) => Observed::Unknown(Why::new(fault.to_string())),
        },
        Err(fault) => Observed::Unknown(Why::new(fault.to_string())),
    }
}

/// Where a worktree that may go is.
enum Place {
    There,
    /// A tower that was killed had looked at it, and took it away.
    Gone,
    Kept(String),
}

fn place(
    repository: &Repository,
    git: Option<&Utf8Path>,
    name: &UnitName,
    tip: &CommitId,
    registration: &Registration,
) -> Result<Place, Fault> {
    let layout = &repository.layout;
    let operation = || format!("cannot look at the worktree of {name}");
    refuse_links(layout, &registration.path, &operation())?;
    // First the one that would be put back: the other way round, it could move from the one to the other unseen.
    if stands(&leaving(layout, registration)).map_err(|error| disk_fault(operation(), &error))? {
        return Ok(Place::Kept(
            "a tower is retiring it, or was killed while it did".to_owned(),
        ));
    }
    let is_there = stands(&registration.path).map_err(|error| disk_fault(operation(), &error))?;
    let was_looked_at = registration.git_directory.join(RETIRED);
    if !is_there && !stands(&was_looked_at).map_err(|error| disk_fault(operation(), &error))? {
        return Ok(Place::Kept("its directory is gone".to_owned()));
    }
    let looked = Looked {
        repository,
        git,
        name,
        tip,
        registration,
        directory: is_there.then_some(registration.path.as_path()),
    };
    Ok(match (remains::keeps(&looked)?, is_there) {
        (Some(why), _) => Place::Kept(why),
        (None, true) => Place::There,
        (None, false) => Place::Gone,
    })
}

fn stands(path: &Utf8Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns whether a directory of that name, where worktrees lie, is one that a tower was retiring.
#[must_use]
pub fn is_on_its_way(name: &str) -> bool {
    name.starts_with(LEAVING) || name.starts_with(LEFT)
}

fn leaving(layout: &Layout, registration: &Registration) -> Utf8PathBuf {
    let name = registration.git_directory.file_name().unwrap_or_default();
    layout.worktrees().join(format!("{LEAVING}{name}"))
}

fn retired(layout: &Layout) -> Utf8PathBuf {
    layout.state().join("retired")
}

/// Retires the unit's worktree, if nothing keeps it.
pub(crate) fn retire(
    repository: &Repository,
    git: Option<&Utf8Path>,
    name: &UnitName,
    tip: &CommitId,
    nonce: &Nonce,
) -> Result<Retirement, Fault> {
    reach("retire-worktree.before");
    let kept = |why: &str| Ok(Retirement::Kept { why: why.to_owned() });
    let Some(registration) = repository.registration(name)? else {
        return Ok(Retirement::Free);
    };
    let Some(_no_worker) = lease::exclude(&lease::path(&registration.git_directory))? else {
        return kept("a worker, or somebody who looks for one, has its lease");
    };
    let retiring = Retiring {
        layout: &repository.layout,
        registration: &registration,
        operation: format!("cannot retire the worktree of {name}"),
    };
    match place(repository, git, name, tip, &registration)? {
        Place::Kept(why) => return Ok(Retirement::Kept { why }),
        Place::Gone => {}
        Place::There => {
            let aside = leaving(&repository.layout, &registration);
            if retiring.moved(&registration.path, &aside)? == Race::Lost {
                return kept("a tower is retiring it, or was killed while it did");
            }
            reach("retire-worktree.moved");
            let looked = Looked {
                repository,
                git,
                name,
                tip,
                registration: &registration,
                directory: Some(&aside),
            };
            let looked = remains::keeps(&looked);
            if !matches!(looked, Ok(None)) {
                retiring.put_back(&aside)?;
            }
            if let Some(why) = looked? {
                return Ok(Retirement::Kept { why });
            }
            retiring.note_looked_at()?;
            reach("retire-worktree.looked");
            let left = repository.layout.worktrees().join(format!("{LEFT}{nonce}"));
            if retiring.moved(&aside, &left)? == Race::Lost {
                retiring.put_back(&aside)?;
                return kept("the place of what is thrown away is taken");
            }
            reach("retire-worktree.left");
        }
    }
    retiring.unregister(nonce)?;
    reach("retire-worktree.after");
    Ok(Retirement::Free)
}

struct Retiring<'a> {
    layout: &'a Layout,
    registration: &'a Registration,
    operation: String,
}

impl Retiring<'_> {
    fn moved(&self, from: &Utf8Path, to: &Utf8Path) -> Result<Race, Fault> {
        let fault = |error: &io::Error| disk_fault(self.operation.clone(), error);
        let race = rename_no_replace(from, to).map_err(|error| fault(&error))?;
        sync_directory(&self.layout.worktrees()).map_err(|error| fault(&error))?;
        Ok(race)
    }

    fn note_looked_at(&self) -> Result<(), Fault> {
        let directory = &self.registration.git_directory;
        replace(directory, &directory.join(RETIRED), b"looked at\n")
            .map_err(|error| disk_fault(self.operation.clone(), &error))
    }

    fn put_back(&self, aside: &Utf8Path) -> Result<(), Fault> {
        forget_looked_at(&self.registration.git_directory)?;
        match self.moved(aside, &self.registration.path)? {
            Race::Won => Ok(()),
            Race::Lost => Err(not_put_back(self.layout, aside, &self.registration.path)),
        }
    }

    fn unregister(&self, nonce: &Nonce) -> Result<(), Fault> {
        let retired = retired(self.layout);
        create_directory_at(self.layout, &retired, &self.operation)?;
        let target = retired.join(nonce.as_str());
        let renamed = rename_no_replace(&self.registration.git_directory, &target);
        match renamed.map_err(|error| disk_fault(self.operation.clone(), &error))? {
            Race::Won => {}
            Race::Lost => return Err(Fault::new(self.operation.clone(), format!("{target} is there already"))),
        }
        sync_directory(&self.layout.common.join("worktrees"))
            .map_err(|error| disk_fault(self.operation.clone(), &error))
    }
}

/// What is put back has to be looked at anew.
fn forget_looked_at(git_directory: &Utf8Path) -> Result<(), Fault> {
    let path = git_directory.join(RETIRED);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(disk_fault(format!("cannot remove {path}"), &error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn not_put_back(layout: &Layout, aside: &Utf8Path, path: &Utf8Path) -> Fault {
    let (aside, path) = (layout.shown(aside), layout.shown(path));
    Fault::new(
        format!("cannot put {aside} back to {path}"),
        "something was made there meanwhile",
    )
    .with_hint(format!("move {path} away: the next step puts it back"))
}

/// Throws away what was retired, and puts back what a killed tower had only moved.
pub(crate) fn clear(repository: &Repository) -> Result<(), Fault> {
    reach("clear-retired.before");
    let layout = &repository.layout;
    let mut first = Ok(());
    let mut note = |result: Result<(), Fault>| {
        if first.is_ok() {
            first = result;
        }
    };
    for name in entries(layout, &layout.worktrees())? {
        let path = layout.worktrees().join(&name);
        if name.starts_with(LEFT) {
            reach("clear-retired.half");
            note(throw_away(&path));
        } else if let Some(of) = name.strip_prefix(LEAVING) {
            note(undo(repository, &path, of));
        }
    }
    for name in entries(layout, &retired(layout))? {
        reach("clear-retired.registration");
        note(throw_away(&retired(layout).join(name)));
    }
    reach("clear-retired.after");
    first
}

fn entries(layout: &Layout, directory: &Utf8Path) -> Result<Vec<String>, Fault> {
    let operation = format!("cannot list {directory}");
    let fault = |error: io::Error| disk_fault(operation.clone(), &error);
    refuse_links(layout, &directory.join("x"), &operation)?;
    let found = match fs::read_dir(directory) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(fault(error)),
    };
    let mut names = Vec::new();
    for entry in found {
        // Every name of ours is ASCII.
        names.extend(entry.map_err(fault)?.file_name().into_string());
    }
    names.sort();
    Ok(names)
}

/// Throws away a directory that was looked at before it got its name. Another tower may be at it too.
fn throw_away(path: &Utf8Path) -> Result<(), Fault> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(disk_fault(format!("cannot throw away {path}"), &error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Puts a worktree back that a tower took out of its place and did not look at. Whoever is at it has the lease.
fn undo(repository: &Repository, aside: &Utf8Path, name: &str) -> Result<(), Fault> {
    let layout = &repository.layout;
    let (shown, git_directory) = (layout.shown(aside), layout.common.join("worktrees").join(name));
    let registrations = repository.registrations()?;
    let Some(registration) = registrations.iter().find(|one| one.git_directory == git_directory) else {
        return Err(Fault::new(
            format!("cannot put {shown} back"),
            "no worktree is registered for it any more",
        )
        .with_hint(format!(
            "look into it, take what is needed, and remove it: rm -r {shown}"
        )));
    };
    let Some(_no_worker) = lease::exclude(&lease::path(&git_directory))? else {
        return Ok(());
    };
    forget_looked_at(&git_directory)?;
    let renamed = rename_no_replace(aside, &registration.path);
    match renamed {
        Ok(Race::Won) => Ok(()),
        Ok(Race::Lost) => Err(not_put_back(layout, aside, &registration.path)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(disk_fault(format!("cannot put {shown} back"), &error)),
    }
}
