//! What a worktree holds that nothing else has: the look before it is retired (decision 71; law L5).
//!
//! Nothing is taken for harmless that is not known to be: of git's own directory of the worktree only the files named here
//! are, of ignored files only those below a directory that calls itself a cache. Owns no state.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::time::Duration;

use camino::Utf8Path;
use orchestrate_core::identifier::{CommitId, UnitName};
use orchestrate_core::observed::Observed;
use orchestrate_core::world::{Fault, Reading};

use crate::files::{disk_fault, read_path};
use crate::git_error;
use crate::identity;
use crate::layout::{Layout, PROMPT_FILE};
use crate::process::{Output, RunOptions, run_bounded};
use crate::repository::{Registration, Repository};
use crate::worktree::is_our_place;

/// What git, and we, leave in the directory of a worktree at rest. Whatever else lies there tells of an operation that has
/// not ended, of settings or refs that only this worktree has, or is a lock.
const AT_REST: [&str; 13] = [
    "COMMIT_EDITMSG",
    "FETCH_HEAD",
    "HEAD",
    "ORIG_HEAD",
    "commondir",
    "gitdir",
    "index",
    "logs",
    "orchestrate.index",
    "orchestrate.lease",
    PROMPT_FILE,
    RETIRED,
    "refs",
];

/// What a tower leaves there once it has looked at everything, so that a directory which is gone is gone by its hand.
pub(crate) const RETIRED: &str = "orchestrate.retired";

/// What names commits that were made in the worktree, and goes with it. `FETCH_HEAD` names those of others.
const NAMING_COMMITS: [&str; 2] = ["logs/HEAD", "ORIG_HEAD"];

/// How a directory calls itself a cache (<https://bford.info/cachedir/>).
const CACHE_TAG: (&str, &[u8]) = ("CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55");

/// Git may have to read every file. What takes longer is not known, and keeps the worktree.
const STATUS_TIMEOUT: Duration = Duration::from_secs(60);

/// `assume-unchanged` among an index entry's flags.
const ASSUME_UNCHANGED: u16 = 1 << 15;
/// `skip-worktree` and `intent-to-add` among its extended ones.
const SKIPPED_OR_INTENDED: u16 = (1 << 14) | (1 << 13);
/// The mode of an entry that is a submodule.
const SUBMODULE: u32 = 0o160_000;

/// A worktree that is looked at.
pub(crate) struct Looked<'a> {
    pub(crate) repository: &'a Repository,
    pub(crate) git: Option<&'a Utf8Path>,
    pub(crate) name: &'a UnitName,
    /// Where its branch has to be.
    pub(crate) tip: &'a CommitId,
    pub(crate) registration: &'a Registration,
    /// Where its files are now; nothing where a tower that had looked at them has taken them away.
    pub(crate) directory: Option<&'a Utf8Path>,
}

type Keeps = Result<Option<String>, Fault>;

/// Returns what keeps the worktree, nothing where nothing does.
///
/// # Errors
/// When something cannot be looked at.
pub(crate) fn keeps(looked: &Looked<'_>) -> Keeps {
    let looks: [fn(&Looked<'_>) -> Keeps; 7] = [registration, git_directory, branch, index, files, commits, people];
    for look in looks {
        if let Some(why) = look(looked)? {
            return Ok(Some(why));
        }
    }
    Ok(None)
}

fn kept(why: impl Into<String>) -> Keeps {
    Ok(Some(why.into()))
}

impl Looked<'_> {
    fn layout(&self) -> &Layout {
        &self.repository.layout
    }

    fn operation(&self) -> String {
        format!("cannot look at the worktree of {}", self.name)
    }

    fn disk(&self, error: &io::Error) -> Fault {
        disk_fault(self.operation(), error)
    }

    fn git_fault(&self, error: &git2::Error) -> Fault {
        git_error::fault(&self.operation(), error)
    }

    /// Runs git on the worktree's own index, without writing there and without asking anybody else what has changed.
    fn run(&self, work_tree: &Utf8Path, arguments: &[&str]) -> Result<Output, Fault> {
        let Some(program) = self.git else {
            return Err(Fault::new(self.operation(), "git is not on the search path"));
        };
        let git_directory = format!("--git-dir={}", self.registration.git_directory);
        let work_tree_option = format!("--work-tree={work_tree}");
        let settings = [
            "--no-optional-locks",
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.untrackedCache=false",
            "-c",
            "core.checkStat=default",
            "-c",
            "core.trustctime=true",
        ];
        let all: Vec<&str> = [git_directory.as_str(), work_tree_option.as_str()]
            .into_iter()
            .chain(settings)
            .chain(arguments.iter().copied())
            .collect();
        let options = RunOptions {
            directory: Some(work_tree),
            timeout: STATUS_TIMEOUT,
            ..RunOptions::default()
        };
        run_bounded(program, &all, &options)
    }
}

/// It is ours, in its place, complete, and nobody locked it.
fn registration(looked: &Looked<'_>) -> Keeps {
    let Looked { name, registration, .. } = looked;
    let (path, git_directory) = (&registration.path, &registration.git_directory);
    if !is_our_place(looked.layout(), name, path) {
        return kept(format!("it is at {}", looked.layout().shown(path)));
    }
    if registration.locked.is_some() {
        return kept("it is locked");
    }
    if !registration.has_index {
        return kept("its checkout is not complete");
    }
    let reference = name.reference();
    let of_the_branch = |one: &&Registration| one.branch.as_deref() == Some(reference.as_str());
    let all = looked.repository.registrations()?;
    if all.iter().filter(of_the_branch).count() != 1 {
        return kept("its branch is checked out twice");
    }
    if let Some(inside) = all.iter().find(|one| one.path != *path && one.path.starts_with(path)) {
        return kept(format!(
            "the worktree {} lies in it",
            looked.layout().shown(&inside.path)
        ));
    }
    let Some(directory) = looked.directory else {
        return Ok(None);
    };
    if !is_directory(directory).map_err(|error| looked.disk(&error))? {
        return kept("its place is no directory");
    }
    let pointer = regular(&directory.join(".git")).map_err(|error| looked.disk(&error))?;
    let pointer = String::from_utf8_lossy(&pointer).into_owned();
    let Some(points_at) = pointer.trim_end().strip_prefix("gitdir: ") else {
        return kept("its .git file points at no registration");
    };
    // A relative path is meant from the worktree's own place.
    let points_at = path.join(points_at).canonicalize_utf8().ok();
    let ours = git_directory.canonicalize_utf8().ok();
    // One that is relative cannot be followed once the worktree is out of its place; it was followed before.
    if points_at != ours && directory == path {
        return kept("its .git file points at another registration");
    }
    Ok(None)
}

fn is_directory(path: &Utf8Path) -> io::Result<bool> {
    Ok(fs::symlink_metadata(path)?.file_type().is_dir())
}

/// Git is in the middle of nothing there, and it has no settings, refs or locks of its own.
fn git_directory(looked: &Looked<'_>) -> Keeps {
    let directory = &looked.registration.git_directory;
    let disk = |error: io::Error| looked.disk(&error);
    for name in names(directory).map_err(disk)? {
        if !AT_REST.contains(&name.as_str()) {
            return kept(format!("git has {name} for it"));
        }
        let kind = fs::symlink_metadata(directory.join(&name)).map_err(disk)?.file_type();
        // Nothing is opened that could be waited on for ever.
        if !kind.is_file() && !kind.is_dir() {
            return kept(format!("git's {name} of it is no file"));
        }
    }
    if let Some(name) = names(&directory.join("logs"))
        .map_err(disk)?
        .iter()
        .find(|name| *name != "HEAD")
    {
        return kept(format!("git has logs/{name} for it"));
    }
    match first_file(&directory.join("refs")).map_err(disk)? {
        Some(file) => kept(format!("it has a ref of its own, {file}")),
        None => Ok(None),
    }
}

fn names(directory: &Utf8Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn first_file(directory: &Utf8Path) -> io::Result<Option<String>> {
    for name in names(directory)? {
        let path = directory.join(&name);
        if !is_directory(&path)? {
            return Ok(Some(name));
        }
        if let Some(below) = first_file(&path)? {
            return Ok(Some(format!("{name}/{below}")));
        }
    }
    Ok(None)
}

/// Its branch is where it was when it was decided that it may go.
fn branch(looked: &Looked<'_>) -> Keeps {
    let reference = looked.name.reference();
    match looked.repository.git.refname_to_id(&reference) {
        Ok(at) if at.to_string() == looked.tip.as_str() => Ok(None),
        Ok(_) => kept("its branch has moved"),
        Err(error) if error.code() == git2::ErrorCode::NotFound => kept("its branch is gone"),
        Err(error) => Err(looked.git_fault(&error)),
    }
}

/// Its index hides no change, and no submodule is checked out.
fn index(looked: &Looked<'_>) -> Keeps {
    let path = looked.registration.git_directory.join("index");
    let index = git2::Index::open(path.as_std_path()).map_err(|error| looked.git_fault(&error))?;
    for entry in index.iter() {
        let name = String::from_utf8_lossy(&entry.path).into_owned();
        if entry.flags & ASSUME_UNCHANGED != 0 || entry.flags_extended & SKIPPED_OR_INTENDED != 0 {
            return kept(format!("git is told not to look at {name}"));
        }
        let Some(directory) = looked.directory.filter(|_| entry.mode == SUBMODULE) else {
            continue;
        };
        let submodule = directory.join(&name);
        if !names(&submodule).map_err(|error| looked.disk(&error))?.is_empty() {
            return kept(format!("its submodule {name} is checked out"));
        }
    }
    Ok(None)
}

/// Its files are those of its commit, and no others but what a cache holds.
fn files(looked: &Looked<'_>) -> Keeps {
    let Some(directory) = looked.directory else {
        return Ok(None);
    };
    let arguments = [
        "status",
        "--porcelain=v1",
        "-z",
        "--no-renames",
        "--untracked-files=all",
        "--ignored=matching",
        "--ignore-submodules=none",
    ];
    let output = looked.run(directory, &arguments)?;
    // What git could not read it tells of, and goes on.
    if !output.success() || !output.stderr.is_empty() {
        return Err(Fault::new(looked.operation(), output.message()));
    }
    for line in output.stdout.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
        let text = String::from_utf8_lossy(line).into_owned();
        let (state, path) = text.split_at_checked(3).unwrap_or((&text, ""));
        if state != "!! " {
            return kept(format!("it holds uncommitted work: {path}"));
        }
        if !is_cache(directory, path).map_err(|error| looked.disk(&error))? {
            return kept(format!("it holds ignored files: {path}"));
        }
    }
    Ok(None)
}

/// Returns whether an ignored path is a directory that calls itself a cache.
fn is_cache(directory: &Utf8Path, path: &str) -> io::Result<bool> {
    let Some(ignored) = path.strip_suffix('/') else {
        return Ok(false);
    };
    let (name, signature) = CACHE_TAG;
    let tag = directory.join(ignored).join(name);
    match fs::symlink_metadata(&tag) {
        Ok(metadata) if metadata.file_type().is_file() => {}
        Ok(_) => return Ok(false),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    }
    let mut beginning = Vec::new();
    let length = u64::try_from(signature.len()).unwrap_or_default();
    fs::File::open(&tag)?.take(length).read_to_end(&mut beginning)?;
    Ok(beginning == signature)
}

/// Every commit that its own files name is led to by a ref, or by the branch's own reflog, which stays.
fn commits(looked: &Looked<'_>) -> Keeps {
    let git_directory = &looked.registration.git_directory;
    let mut named = BTreeSet::new();
    for file in NAMING_COMMITS {
        named.extend(commits_in(&git_directory.join(file)).map_err(|error| looked.disk(&error))?);
    }
    let reflog = looked.layout().common.join("logs").join(looked.name.reference());
    let stays = commits_in(&reflog).map_err(|error| looked.disk(&error))?;
    let lost = unled(&looked.repository.git, &named, &stays).map_err(|error| looked.git_fault(&error))?;
    match lost {
        Some(commit) => kept(format!("no branch leads to {commit:.7}, which was made in it")),
        None => Ok(None),
    }
}

/// Returns the ids that a file of git's names anywhere: those of objects that are gone, or are none, do no harm.
fn commits_in(path: &Utf8Path) -> io::Result<BTreeSet<git2::Oid>> {
    let bytes = regular(path)?;
    let words = bytes.split(u8::is_ascii_whitespace).filter(|word| word.len() == 40);
    let read = |word: &[u8]| git2::Oid::from_str(std::str::from_utf8(word).ok()?).ok();
    Ok(words.filter_map(read).filter(|id| !id.is_zero()).collect())
}

/// Returns what is in a regular file, nothing where there is none.
fn regular(path: &Utf8Path) -> io::Result<Vec<u8>> {
    match read_path(path) {
        Reading::File { bytes, .. } => Ok(bytes),
        Reading::Absent => Ok(Vec::new()),
        Reading::Directory { .. } | Reading::Symlink | Reading::Special => {
            Err(io::Error::other(format!("{path} is no regular file")))
        }
        Reading::Unreadable(why) => Err(io::Error::other(format!("{path}: {why}"))),
    }
}

fn unled(
    git: &git2::Repository,
    named: &BTreeSet<git2::Oid>,
    stays: &BTreeSet<git2::Oid>,
) -> Result<Option<git2::Oid>, git2::Error> {
    let is_commit = |id: &git2::Oid| match git.find_commit(*id) {
        Ok(_) => Ok(true),
        Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(false),
        Err(error) => Err(error),
    };
    let mut walk = git.revwalk()?;
    for id in named {
        if is_commit(id)? {
            walk.push(*id)?;
        }
    }
    walk.hide_glob("*")?;
    for id in stays {
        if is_commit(id)? {
            walk.hide(*id)?;
        }
    }
    walk.next().transpose()
}

/// Nobody is in it, or has anything of it open.
fn people(looked: &Looked<'_>) -> Keeps {
    let git_directory = &looked.registration.git_directory;
    let Some(directory) = looked.directory else {
        return Ok(None);
    };
    let in_it = identity::processes_in(directory);
    let open = identity::holders_below(directory);
    let in_git = identity::processes_in(git_directory);
    for found in [in_it, open, in_git] {
        match found {
            Observed::Known(found) => {
                if let Some(one) = found.first() {
                    return kept(format!("{one} works in it"));
                }
            }
            Observed::Absent(why) | Observed::Unknown(why) => return Err(Fault::new(looked.operation(), why.reason)),
        }
    }
    Ok(None)
}
