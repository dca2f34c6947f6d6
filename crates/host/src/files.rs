//! Reading and replacing the tower's files: no link is followed, no half-written file is ever visible.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;

use camino::Utf8Path;
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::Place;
use orchestrate_core::world::{Fault, Race, Reading};
use rustix::fs::{CWD, RenameFlags, Timespec, Timestamps, UTIME_NOW};

use crate::clock;
use crate::failpoint::reach;
use crate::layout::Layout;

/// A file larger than this is not read: every file of the tower is far smaller.
pub(crate) const LARGEST_FILE: u64 = 64 * 1024 * 1024;

/// What the names of staged files begin with; six letters or digits follow.
pub(crate) const STAGED: &str = ".orchestrate-partial-";
/// How many there are.
const STAGED_RANDOM: usize = 6;

/// Returns whether a file of that name was staged by us, to be renamed over another one.
pub(crate) fn is_staged_name(name: &str) -> bool {
    name.strip_prefix(STAGED)
        .is_some_and(|rest| rest.len() == STAGED_RANDOM && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// What helps when a disk or a quota is full.
pub(crate) const FULL_DISK_HINT: &str = "free some space; what was there before is unchanged";

/// What helps when a place may not be written.
pub(crate) const REFUSED_HINT: &str = "the tower needs to write here; check the owner and the mount";

/// Returns what stands at a place, without following links anywhere below the tower's roots.
#[must_use]
pub fn read(layout: &Layout, place: &Place) -> Reading {
    let path = layout.path(place);
    match linked_parent(layout, &path) {
        Ok(None) => read_path(&path),
        Ok(Some(link)) => Reading::Unreadable(format!("{link} is a symbolic link")),
        Err(error) => Reading::Unreadable(error.to_string()),
    }
}

/// Returns what stands at a path. A link there is not followed; those above it are.
pub(crate) fn read_path(path: &Utf8Path) -> Reading {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Reading::Absent,
        Err(error) => return Reading::Unreadable(error.to_string()),
    };
    let modified = metadata
        .modified()
        .map_or(orchestrate_core::time::Timestamp::from_seconds(0), clock::from_system);
    let kind = metadata.file_type();
    if kind.is_symlink() {
        Reading::Symlink
    } else if kind.is_dir() {
        Reading::Directory { modified }
    } else if !kind.is_file() {
        Reading::Special
    } else if metadata.len() > LARGEST_FILE {
        Reading::Unreadable(format!("it has {} bytes", metadata.len()))
    } else {
        match fs::read(path) {
            Ok(bytes) => Reading::File { bytes, modified },
            Err(error) if error.kind() == ErrorKind::NotFound => Reading::Absent,
            Err(error) => Reading::Unreadable(error.to_string()),
        }
    }
}

/// Returns the bytes of a regular file that a person named; links are followed.
///
/// # Errors
/// When there is none, it cannot be read, or it is larger than any file of a bundle.
pub fn read_named(path: &Utf8Path) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is no regular file"));
    }
    if metadata.len() > LARGEST_FILE {
        return Err(io::Error::new(
            ErrorKind::FileTooLarge,
            format!("it has {} bytes", metadata.len()),
        ));
    }
    fs::read(path)
}

/// Returns the names in a directory; absent when there is none. Names that are not UTF-8 are left out: no name of
/// ours is one, and no other name is a claim.
pub fn list(layout: &Layout, place: &Place) -> Observed<Vec<String>> {
    let path = layout.path(place);
    match linked_parent(layout, &path) {
        Ok(None) => {}
        Ok(Some(link)) => return Observed::Unknown(Why::new(format!("{link} is a symbolic link"))),
        Err(error) => return Observed::Unknown(Why::new(format!("cannot look at {place}: {error}"))),
    }
    let unknown = |error: io::Error| Observed::Unknown(Why::new(format!("cannot list {place}: {error}")));
    match fs::symlink_metadata(&path) {
        Ok(metadata) if metadata.file_type().is_dir() => {}
        Ok(_) => return Observed::Unknown(Why::new(format!("{place} is not a directory"))),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Observed::Absent(Why::new(format!("there is no {place}")));
        }
        Err(error) => return unknown(error),
    }
    let entries = match fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(error) => return unknown(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        match entry {
            Ok(entry) => names.extend(entry.file_name().into_string()),
            Err(error) => return unknown(error),
        }
    }
    names.sort();
    Observed::Known(names)
}

/// Replaces a file in one step: temporary file beside it, sync, rename, sync of the directory. Mode 0600, except for a
/// file of a bundle, which keeps its mode: it is a person's.
///
/// # Errors
/// When the disk refuses, a parent is a link, or something other than a regular file stands at the place.
pub fn write(layout: &Layout, place: &Place, bytes: &[u8]) -> Result<(), Fault> {
    reach("write.before");
    let path = layout.path(place);
    let operation = || format!("cannot write {place}");
    refuse_others(layout, &path, &operation())?;
    let parent = path.parent().unwrap_or(&layout.primary);
    let is_persons = matches!(place, Place::BundleFile(..));
    let replace = if is_persons { replace_shared } else { replace };
    replace(parent, &path, bytes).map_err(|error| disk_fault(operation(), &error))?;
    reach("write.after");
    Ok(())
}

/// Replaces a file as [`write`] does, if it holds these bytes right before the rename. Loses otherwise: what somebody
/// wrote since it was read stays (decision 60). The mode stays.
///
/// # Errors
/// As [`write`].
pub fn replace_read(layout: &Layout, place: &Place, expected: &[u8], bytes: &[u8]) -> Result<Race, Fault> {
    reach("write.before");
    let path = layout.path(place);
    let operation = || format!("cannot write {place}");
    refuse_others(layout, &path, &operation())?;
    let parent = path.parent().unwrap_or(&layout.primary);
    let replaced = || -> io::Result<Race> {
        let mut staged = staged_shared(parent, &path)?;
        staged.write_all(bytes)?;
        staged.as_file().sync_all()?;
        reach("write.staged");
        let race = persist_over(staged, &path, Some(expected))?;
        sync_directory(parent)?;
        Ok(race)
    };
    let race = replaced().map_err(|error| disk_fault(operation(), &error))?;
    reach("write.after");
    Ok(race)
}

/// Moves a staged and synced file over a path that holds what is expected there; nothing means that nothing is. Loses
/// otherwise. The one place where a person's file is replaced: nothing comes between the comparison and the rename.
pub(crate) fn persist_over(
    staged: tempfile::NamedTempFile,
    path: &Utf8Path,
    expected: Option<&[u8]>,
) -> io::Result<Race> {
    match (read_path(path), expected) {
        (Reading::File { bytes, .. }, Some(expected)) if bytes == expected => {
            staged.persist(path).map_err(|error| error.error)?;
            Ok(Race::Won)
        }
        (Reading::Absent, None) => match staged.persist_noclobber(path) {
            Ok(_) => Ok(Race::Won),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Ok(Race::Lost),
            Err(error) => Err(error.error),
        },
        (
            Reading::File { .. }
            | Reading::Absent
            | Reading::Directory { .. }
            | Reading::Symlink
            | Reading::Special
            | Reading::Unreadable(_),
            _,
        ) => Ok(Race::Lost),
    }
}

/// Refuses to write where a parent is a link, or where something other than a regular file stands.
fn refuse_others(layout: &Layout, path: &Utf8Path, operation: &str) -> Result<(), Fault> {
    refuse_links(layout, path, operation)?;
    let refuse = |what: &str| Err(in_the_way(operation.to_owned(), what, path));
    match read_path(path) {
        Reading::Absent | Reading::File { .. } | Reading::Unreadable(_) => Ok(()),
        Reading::Symlink => refuse("a symbolic link"),
        Reading::Directory { .. } => refuse("a directory"),
        Reading::Special => refuse("a special file"),
    }
}

/// Replaces a file directly inside our own state directory, which is made if it is not there.
///
/// # Errors
/// As [`write`].
pub fn write_state(layout: &Layout, path: &Utf8Path, bytes: &[u8]) -> Result<(), Fault> {
    let operation = format!("cannot write {path}");
    create_directory_at(layout, &layout.state(), &operation)?;
    refuse_links(layout, path, &operation)?;
    replace(&layout.state(), path, bytes).map_err(|error| disk_fault(operation, &error))
}

/// Replaces a file whose directory is there, private to the user.
///
/// # Errors
/// When the disk refuses.
pub fn write_private(path: &Utf8Path, bytes: &[u8]) -> Result<(), Fault> {
    let parent = path.parent().unwrap_or(path);
    replace(parent, path, bytes).map_err(|error| disk_fault(format!("cannot write {path}"), &error))
}

/// Writes the bytes beside the path and renames them over it.
pub(crate) fn replace(parent: &Utf8Path, path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(parent, path, bytes, staging().tempfile_in(parent)?)
}

/// As [`replace`], for a file that is git's: others may have to read it, as the umask and an existing file's mode say.
pub(crate) fn replace_shared(parent: &Utf8Path, path: &Utf8Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(parent, path, bytes, staged_shared(parent, path)?)
}

/// Returns what makes staged files.
pub(crate) fn staging() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(STAGED).rand_bytes(STAGED_RANDOM);
    builder
}

fn staged_shared(parent: &Utf8Path, path: &Utf8Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = staging();
    builder.permissions(fs::Permissions::from_mode(0o666));
    let staged = builder.tempfile_in(parent)?;
    if let Ok(existing) = fs::metadata(path) {
        staged.as_file().set_permissions(existing.permissions())?;
    }
    Ok(staged)
}

fn replace_with(
    parent: &Utf8Path,
    path: &Utf8Path,
    bytes: &[u8],
    mut staged: tempfile::NamedTempFile,
) -> io::Result<()> {
    staged.write_all(bytes)?;
    staged.as_file().sync_all()?;
    reach("write.staged");
    staged.persist(path).map_err(|error| error.error)?;
    sync_directory(parent)
}

pub(crate) fn sync_directory(directory: &Utf8Path) -> io::Result<()> {
    fs::File::open(directory)?.sync_all()
}

/// Makes a directory and the missing ones above it, down from the tower's root; a link among them is refused.
///
/// # Errors
/// When the disk refuses, or something that is not a directory stands in the way.
pub fn create_directory(layout: &Layout, place: &Place) -> Result<(), Fault> {
    reach("create-directory.before");
    create_directory_at(layout, &layout.path(place), &format!("cannot make {place}"))?;
    reach("create-directory.after");
    Ok(())
}

pub(crate) fn create_directory_at(layout: &Layout, path: &Utf8Path, operation: &str) -> Result<(), Fault> {
    refuse_links(layout, path, operation)?;
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.file_type().is_dir() => return Ok(()),
        Ok(_) => return Err(in_the_way(operation.to_owned(), "something that is no directory", path)),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(disk_fault(operation.to_owned(), &error)),
    }
    fs::create_dir_all(path).map_err(|error| disk_fault(operation.to_owned(), &error))
}

/// Moves a directory to a place where nothing may be: the one primitive of the lock.
///
/// # Errors
/// When it cannot be moved for another reason than that the target exists.
pub fn publish(layout: &Layout, from: &Place, to: &Place) -> Result<Race, Fault> {
    reach("publish.before");
    let target = layout.path(to);
    let operation = || format!("cannot make {to}");
    refuse_links(layout, &target, &operation())?;
    let race = rename_no_replace(&layout.path(from), &target).map_err(|error| disk_fault(operation(), &error))?;
    reach("publish.after");
    Ok(race)
}

pub(crate) fn rename_no_replace(from: &Utf8Path, to: &Utf8Path) -> io::Result<Race> {
    match rustix::fs::renameat_with(CWD, from.as_std_path(), CWD, to.as_std_path(), RenameFlags::NOREPLACE) {
        Ok(()) => Ok(Race::Won),
        Err(rustix::io::Errno::EXIST) => Ok(Race::Lost),
        Err(error) => Err(error.into()),
    }
}

/// Removes a file, or a lock directory with the `owner` file in it. One that is gone is no error.
///
/// # Errors
/// When it cannot be removed, or the directory holds anything else.
pub fn remove(layout: &Layout, place: &Place) -> Result<(), Fault> {
    reach("remove.before");
    let path = layout.path(place);
    let operation = || format!("cannot remove {place}");
    refuse_links(layout, &path, &operation())?;
    let gone = |result: io::Result<()>| match result {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    };
    let removal = match place {
        Place::Lock(_) | Place::LockStaging(..) | Place::LockAside(..) => gone(fs::remove_file(path.join("owner")))
            .and_then(|()| {
                reach("remove.half");
                gone(fs::remove_dir(&path))
            }),
        Place::BundleFile(..) => {
            return Err(Fault::new(operation(), "no file of a bundle is ever removed"));
        }
        Place::OwnerIn(_)
        | Place::MarkerDirectory(..)
        | Place::Marker(..)
        | Place::RecordDirectory(_)
        | Place::DispatchRecord(_)
        | Place::LaunchRecord(_)
        | Place::RedoDirectory(_)
        | Place::Redo(..)
        | Place::IntentDirectory(_)
        | Place::Intent(..)
        | Place::GivenBack(..)
        | Place::ForeignFences(_)
        | Place::FenceSightings(_) => gone(fs::remove_file(&path)),
    };
    removal.map_err(|error| disk_fault(operation(), &error))?;
    reach("remove.after");
    Ok(())
}

/// Sets a directory's time to now.
///
/// # Errors
/// When it cannot be set.
pub fn touch(layout: &Layout, place: &Place) -> Result<(), Fault> {
    reach("touch.before");
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: UTIME_NOW,
    };
    let times = Timestamps {
        last_access: now,
        last_modification: now,
    };
    rustix::fs::utimensat(
        CWD,
        layout.path(place).as_std_path(),
        &times,
        rustix::fs::AtFlags::SYMLINK_NOFOLLOW,
    )
    .map_err(|error| disk_fault(format!("cannot touch {place}"), &error.into()))?;
    reach("touch.after");
    Ok(())
}

/// Refuses to act on a path below a link: whoever placed the link could choose where we write.
pub(crate) fn refuse_links(layout: &Layout, path: &Utf8Path, operation: &str) -> Result<(), Fault> {
    match linked_parent(layout, path) {
        Ok(None) => Ok(()),
        Ok(Some(link)) => Err(Fault::new(operation, format!("{link} is a symbolic link"))
            .with_hint("put a real directory there; links are never followed")),
        Err(error) => Err(disk_fault(operation.to_owned(), &error)),
    }
}

/// Returns the first directory above the path, below our root, that is a link.
pub(crate) fn linked_parent<'a>(layout: &Layout, path: &'a Utf8Path) -> io::Result<Option<&'a Utf8Path>> {
    let Some(root) = layout.root_of(path) else {
        return Ok(None);
    };
    let mut above: Vec<&Utf8Path> = path.ancestors().skip(1).take_while(|parent| *parent != root).collect();
    above.reverse();
    for parent in above {
        match fs::symlink_metadata(parent) {
            Ok(metadata) if metadata.file_type().is_symlink() => return Ok(Some(parent)),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

fn in_the_way(operation: String, what: &str, path: &Utf8Path) -> Fault {
    Fault::new(operation, format!("{what} stands at {path}")).with_hint(format!("look at {path} and move it away"))
}

/// Returns the fault for a refusal of the disk, with what helps where the kind tells.
pub(crate) fn disk_fault(operation: String, error: &io::Error) -> Fault {
    let fault = Fault::new(operation, error.to_string());
    let is = |kinds: &[ErrorKind]| kinds.contains(&error.kind());
    if is(&[ErrorKind::StorageFull, ErrorKind::QuotaExceeded]) {
        fault.with_hint(FULL_DISK_HINT)
    } else if is(&[ErrorKind::PermissionDenied, ErrorKind::ReadOnlyFilesystem]) {
        fault.with_hint(REFUSED_HINT)
    } else if is(&[ErrorKind::InvalidInput]) {
        fault.with_hint("the filesystem may lack renames that do not replace; use a local one")
    } else {
        fault
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;
    use tempfile::TempDir;

    use super::*;

    fn staged(before: &str) -> (TempDir, Utf8PathBuf, tempfile::NamedTempFile) {
        let directory = tempfile::tempdir().expect("a directory");
        let parent = Utf8Path::from_path(directory.path()).expect("UTF-8");
        let path = parent.join("tasks.md");
        fs::write(&path, before).expect("written");
        let mut staged = staged_shared(parent, &path).expect("staged");
        staged.write_all(b"ours").expect("written");
        (directory, path, staged)
    }

    fn names(path: &Utf8Path) -> Vec<String> {
        let entries = path.parent().expect("a parent").read_dir_utf8().expect("listed");
        entries
            .map(|entry| entry.expect("read").file_name().to_owned())
            .collect()
    }

    #[test]
    fn a_file_that_holds_what_was_read_is_replaced() {
        let (_directory, path, staged) = staged("read");
        assert_eq!(persist_over(staged, &path, Some(b"read")).expect("compared"), Race::Won);
        assert_eq!(fs::read(&path).expect("there"), b"ours");
        assert_eq!(names(&path), ["tasks.md"]);
    }

    #[test]
    fn what_was_written_after_the_staging_stays() {
        let (_directory, path, staged) = staged("read");
        fs::write(&path, "a person's").expect("written");
        assert_eq!(
            persist_over(staged, &path, Some(b"read")).expect("compared"),
            Race::Lost
        );
        assert_eq!(fs::read(&path).expect("there"), b"a person's");
        assert_eq!(names(&path), ["tasks.md"]);
    }

    #[test]
    fn a_file_that_went_or_came_after_the_staging_is_not_written() {
        let (_directory, path, one) = staged("read");
        fs::remove_file(&path).expect("removed");
        assert_eq!(persist_over(one, &path, Some(b"read")).expect("compared"), Race::Lost);
        assert_eq!(names(&path), [""; 0]);
        let (_directory, path, one) = staged("a person's");
        assert_eq!(persist_over(one, &path, None).expect("compared"), Race::Lost);
        assert_eq!(fs::read(&path).expect("there"), b"a person's");
    }
}
