//! Finding the repository, and the worktrees registered in it.

use std::fs;
use std::io::{self, ErrorKind};

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::UnitName;
use orchestrate_core::world::Fault;

use crate::files;
use crate::git_directories;
use crate::git_error;
use crate::layout::Layout;
use crate::library;
use crate::worktree::{self, LOCK_REASON};

/// A repository and where its files lie.
pub struct Repository {
    /// The opened repository.
    pub git: git2::Repository,
    /// Where places lie.
    pub layout: Layout,
}

/// One worktree registered in the repository, as git's own files describe it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    /// The worktree's directory.
    pub path: Utf8PathBuf,
    /// Its directory below `<git-common-dir>/worktrees`.
    pub git_directory: Utf8PathBuf,
    /// The full name of the branch it is on, none when its HEAD is detached.
    pub branch: Option<String>,
    /// The reason in its `locked` file, when it has one.
    pub locked: Option<String>,
    /// Whether it has an index, which only a finished checkout has.
    pub has_index: bool,
}

impl Registration {
    /// Returns whether our checkout of the worktree was not completed.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        self.is_locked_by_us() && !self.has_index
    }

    /// Returns whether a checkout of ours keeps it locked; a lock with another reason is a person's.
    #[must_use]
    pub fn is_locked_by_us(&self) -> bool {
        let is_ours = |reason: &String| reason.starts_with(LOCK_REASON);
        self.locked.as_ref().is_some_and(is_ours)
    }
}

impl Repository {
    /// Returns the index of the checkout that was opened, as it is now: libgit2 keeps the one that it has read.
    pub(crate) fn index(&self) -> Result<git2::Index, git2::Error> {
        let mut index = self.git.index()?;
        index.read(false)?;
        Ok(index)
    }
}

/// Returns whether there is a repository, of whatever kind.
#[must_use]
pub fn is_there(start: &Utf8Path) -> bool {
    git2::Repository::discover_path(start, std::iter::empty::<&str>()).is_ok()
}

/// Returns the repository that a directory belongs to.
///
/// # Errors
/// When there is none, or one of a kind that is not supported: bare, SHA-256, reftable, owned by somebody else.
pub fn discover(start: &Utf8Path) -> Result<Repository, Fault> {
    library::set_up();
    let operation = "cannot open the repository";
    let git = open(operation, start)?;
    let common = utf8(operation, git.commondir())?;
    let common = common
        .canonicalize_utf8()
        .map_err(|error| Fault::new(operation, error.to_string()))?;
    let primary = primary_of(&git, &common, operation)?;
    Ok(Repository {
        git,
        layout: Layout {
            primary,
            common,
            marker_override: None,
        },
    })
}

/// Opens the repository that a directory belongs to.
///
/// # Errors
/// When there is none, or it cannot be opened.
pub(crate) fn open(operation: &str, start: &Utf8Path) -> Result<git2::Repository, Fault> {
    open_if_any(operation, start)?.ok_or_else(|| {
        Fault::new(operation, format!("{start} is in no git repository")).with_hint("run this inside a git repository")
    })
}

/// Opens the repository that a directory belongs to, nothing where there is none: the one way to do so, since libgit2
/// would wait for ever on a named pipe in the place of a file.
///
/// # Errors
/// When it cannot be opened.
pub(crate) fn open_if_any(operation: &str, start: &Utf8Path) -> Result<Option<git2::Repository>, Fault> {
    refuse_special(operation, start)?;
    match git2::Repository::discover(start) {
        Ok(git) => Ok(Some(git)),
        Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
        Err(error) => Err(open_fault(operation, &error)),
    }
}

/// Opens the repository of a checkout, by its top directory; never one around it.
///
/// # Errors
/// When it cannot be opened.
pub(crate) fn open_checkout(operation: &str, top: &Utf8Path) -> Result<git2::Repository, Fault> {
    refuse_special(operation, top)?;
    git2::Repository::open(top).map_err(|error| open_fault(operation, &error))
}

/// Refuses named pipes and the like where git, or libgit2, reads a file of the repository around a directory.
pub(crate) fn refuse_special(operation: &str, start: &Utf8Path) -> Result<(), Fault> {
    library::set_up();
    let found = git_directories::find(start).map_or(Ok(()), |found| found?.refuse_special());
    found.map_err(|why| git_error::as_fault(operation, why))
}

/// Returns the top directory of the checkout that a directory lies in, as `git rev-parse --show-toplevel` prints it;
/// none outside a checkout. Where git's own files cannot be read it is the directory that holds them.
#[must_use]
pub fn top_of(start: &Utf8Path) -> Option<Utf8PathBuf> {
    match open("cannot open the repository", start) {
        Ok(git) => Utf8Path::from_path(git.workdir()?)?.canonicalize_utf8().ok(),
        Err(_) => git_directories::top_with_obstacle(start),
    }
}

/// Returns the primary checkout, if it can be found from every worktree of the repository alike.
fn primary_of(git: &git2::Repository, common: &Utf8Path, operation: &str) -> Result<Utf8PathBuf, Fault> {
    let fault = |cause: String| Fault::new(operation, cause);
    let canonical = |path: &std::path::Path| {
        utf8(operation, path)?
            .canonicalize_utf8()
            .map_err(|error| fault(error.to_string()))
    };
    if let Some(top) = git.workdir().filter(|_| !git.is_worktree() && !git.is_bare()) {
        let top = canonical(top)?;
        // Whatever is opened from there is this very repository.
        if common == top.join(".git") {
            return Ok(top);
        }
    }
    let opened = open_checkout(operation, common)?;
    let Some(of_common) = opened.workdir().filter(|_| !opened.is_bare()) else {
        return Err(fault(format!("{common} is a bare repository"))
            .with_hint("clone it, and step in the clone: a tower needs a primary checkout"));
    };
    let primary = canonical(of_common)?;
    let seen_from_primary = open(operation, &primary)
        .ok()
        .and_then(|found| canonical(found.commondir()).ok());
    let is_primary = git.is_worktree()
        || git
            .workdir()
            .is_some_and(|here| canonical(here).is_ok_and(|here| here == primary));
    if seen_from_primary.as_deref() == Some(common) && is_primary {
        return Ok(primary);
    }
    Err(fault(format!(
        "its git directory {common} lies apart from its checkout, which cannot be found from it"
    ))
    .with_hint("repositories made with --separate-git-dir are not supported; clone it and step in the clone"))
}

fn utf8(operation: &str, path: &std::path::Path) -> Result<Utf8PathBuf, Fault> {
    Utf8PathBuf::from_path_buf(path.to_path_buf())
        .map_err(|path| Fault::new(operation, format!("its path is not UTF-8: {}", path.display())))
}

/// Returns why a repository cannot be opened, by name where it is of a kind that is not supported.
fn open_fault(operation: &str, error: &git2::Error) -> Fault {
    if error.code() == git2::ErrorCode::Owner {
        let path = quoted_in(error.message()).unwrap_or("<its path>");
        return Fault::new(operation, format!("{path} belongs to another user")).with_hint(format!(
            "if you trust it: git config --global --add safe.directory {path}"
        ));
    }
    let Some(kind) = unsupported_kind(error.message()) else {
        return git_error::fault(operation, error);
    };
    Fault::new(operation, kind.what).with_hint(kind.help)
}

/// A kind of repository that libgit2 does not read.
struct UnsupportedKind {
    what: String,
    help: String,
}

/// Tells from libgit2's words, the only place where it says so, what kind of repository it refused.
fn unsupported_kind(message: &str) -> Option<UnsupportedKind> {
    let lower = message.to_lowercase();
    let (what, help) = if lower.contains("extensions.refstorage") {
        (
            "it keeps its refs in a reftable (extensions.refStorage), which is not supported".to_owned(),
            "clone it with refs in files, and step in the clone: git clone --ref-format=files".to_owned(),
        )
    } else if lower.contains("object format") || lower.contains("extensions.objectformat") {
        (
            "its objects are named by SHA-256 (extensions.objectFormat), which is not supported".to_owned(),
            "use a repository with SHA-1 objects: git init --object-format=sha1".to_owned(),
        )
    } else if lower.contains("unsupported extension") {
        let name = message.split_whitespace().last().unwrap_or_default();
        (
            format!("it uses an extension of git that is not supported ({name})"),
            "make a clone without it, and step there".to_owned(),
        )
    } else {
        return None;
    };
    Some(UnsupportedKind { what, help })
}

fn quoted_in(message: &str) -> Option<&str> {
    message.split('\'').nth(1)
}

impl Repository {
    /// Keeps what the tower writes out of `git status`, without touching a tracked file.
    ///
    /// # Errors
    /// When git's list of such names cannot be written.
    pub fn exclude_our_files(&self) -> Result<(), Fault> {
        worktree::exclude_our_files(&self.layout)
            .map_err(|error| files::disk_fault("cannot write .git/info/exclude".to_owned(), &error))
    }

    /// Returns every worktree registered beside the primary checkout.
    ///
    /// # Errors
    /// When the registrations cannot be read.
    pub fn registrations(&self) -> Result<Vec<Registration>, Fault> {
        let (mut registrations, directory) = (Vec::new(), self.layout.common.join("worktrees"));
        for path in self.registered_names()? {
            let found = registration_in(&path);
            registrations.extend(found.map_err(|error| unlisted(&directory, &error))?);
        }
        registrations.sort_by(|left, right| left.git_directory.cmp(&right.git_directory));
        Ok(registrations)
    }

    /// Returns the directories that stand among the registrations and are none: what a killed git left.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn leftovers(&self) -> Result<Vec<Utf8PathBuf>, Fault> {
        let (mut found, directory) = (Vec::new(), self.layout.common.join("worktrees"));
        for path in self.registered_names()? {
            let registration = registration_in(&path).map_err(|error| unlisted(&directory, &error))?;
            if path.is_dir() && registration.is_none() {
                found.push(path);
            }
        }
        found.sort();
        Ok(found)
    }

    /// Returns what stands where git registers worktrees. A name that is not UTF-8 is a person's own: ours are all ASCII.
    fn registered_names(&self) -> Result<Vec<Utf8PathBuf>, Fault> {
        let directory = self.layout.common.join("worktrees");
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unlisted(&directory, &error)),
        };
        let mut paths = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| unlisted(&directory, &error))?;
            paths.extend(Utf8PathBuf::from_path_buf(entry.path()));
        }
        Ok(paths)
    }

    /// Returns the worktree registered for exactly the unit's branch.
    ///
    /// # Errors
    /// When the registrations cannot be read.
    pub fn registration(&self, name: &UnitName) -> Result<Option<Registration>, Fault> {
        let reference = name.reference();
        let ours = |registration: &Registration| registration.branch.as_deref() == Some(reference.as_str());
        Ok(self.registrations()?.into_iter().find(ours))
    }
}

fn unlisted(directory: &Utf8Path, error: &io::Error) -> Fault {
    Fault::new(format!("cannot read {directory}"), error.to_string())
}

/// Returns the registration that a directory describes, or nothing for a directory that describes none.
fn registration_in(git_directory: &Utf8Path) -> std::io::Result<Option<Registration>> {
    let Some(gitdir) = read_optional(&git_directory.join("gitdir"))? else {
        return Ok(None);
    };
    let path = Utf8Path::new(gitdir.trim_end_matches('\n'));
    // Git may record the path relative to the registration (worktree.useRelativePaths).
    let path = if path.is_absolute() {
        path.to_path_buf()
    } else {
        git_directory.join(path)
    };
    let head = read_optional(&git_directory.join("HEAD"))?.unwrap_or_default();
    let branch = head.trim_end().strip_prefix("ref: ").map(str::to_owned);
    let locked = read_optional(&git_directory.join("locked"))?;
    let has_index = git_directory.join("index").try_exists()?;
    let path = path.parent().map_or_else(|| path.clone(), Utf8Path::to_path_buf);
    let path = path.canonicalize_utf8().unwrap_or(path);
    Ok(Some(Registration {
        path,
        git_directory: git_directory.to_path_buf(),
        branch,
        locked,
        has_index,
    }))
}

fn read_optional(path: &Utf8Path) -> std::io::Result<Option<String>> {
    match files::read_named(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(io::Error::new(error.kind(), format!("{path}: {error}"))),
    }
}
