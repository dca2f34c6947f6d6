//! The files that people write: a bundle made whole, and its files replaced together.
//!
//! Only a person's own acts come here (`new`, `sign`, `park`, `unpark`). It is no part of the `World`, so nothing that
//! dispatches can reach it (law L7; the tidy rule looks for the name). No half-written file is ever visible.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::SpecId;
use orchestrate_core::place::{BundleFile, Place};
use orchestrate_core::world::{Fault, Race, Reading};

use crate::failpoint::reach;
use crate::files::{
    create_directory_at, disk_fault, persist_over, read, refuse_links, rename_no_replace, sync_directory, write_state,
};
use crate::layout::Layout;

/// How the names of files begin that are staged beside a bundle's own.
const STAGED: &str = ".orchestrate-staged-";

/// Makes a bundle's directory with these files in it, all or nothing. Loses when something stands at its place.
///
/// # Errors
/// When `specs` is no real directory, or the disk refuses.
pub fn create_bundle(layout: &Layout, spec: &SpecId, files: &[(BundleFile, &[u8])]) -> Result<Race, Fault> {
    let operation = format!("cannot make specs/{spec}");
    let specs = layout.primary.join("specs");
    create_directory_at(layout, &specs, &operation)?;
    let target = specs.join(spec.as_str());
    if fs::symlink_metadata(&target).is_ok() {
        return Ok(Race::Lost);
    }
    let stage = || -> io::Result<Race> {
        let mut builder = tempfile::Builder::new();
        // As the umask says: others may have to read it.
        let staged = builder
            .prefix(STAGED)
            .permissions(fs::Permissions::from_mode(0o777))
            .tempdir_in(&specs)?;
        let directory = Utf8Path::from_path(staged.path()).ok_or(ErrorKind::InvalidFilename)?;
        for (file, bytes) in files {
            let mut made = fs::File::create_new(directory.join(file.name()))?;
            made.write_all(bytes)?;
            made.sync_all()?;
        }
        sync_directory(directory)?;
        reach("publish.before");
        let race = rename_no_replace(directory, &target)?;
        if race == Race::Won {
            // It lies under its own name now; nothing is left to be cleaned up.
            let _ = staged.keep();
            sync_directory(&specs)?;
        }
        reach("publish.after");
        Ok(race)
    };
    stage().map_err(|error| disk_fault(operation, &error))
}

/// One file that is to be replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The file.
    pub file: BundleFile,
    /// What was read of it; nothing where it was not there.
    pub before: Option<Vec<u8>>,
    /// What it is to hold.
    pub after: Vec<u8>,
}

/// How a replacement ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "nobody's words are overwritten: a file that changed is an answer"]
pub enum Replaced {
    /// All files hold what they are to hold.
    All,
    /// This file is not as it was read; it and those after it were left alone.
    Changed(BundleFile),
}

/// Replaces files of a bundle: every one is staged before the first is renamed, and they are renamed in the order given,
/// each only if it still holds what was read. Modes stay. The caller holds the bundle's lock.
///
/// # Errors
/// When the disk refuses, a parent is a link, or something other than a regular file stands at a place. Files before
/// the refusal are replaced.
pub fn replace_files(layout: &Layout, spec: &SpecId, files: &[Replacement]) -> Result<Replaced, Fault> {
    let directory = layout.primary.join("specs").join(spec.as_str());
    sweep(&directory).map_err(|error| disk_fault(format!("cannot write in specs/{spec}"), &error))?;
    reach("write.before");
    let mut staged = Vec::new();
    for Replacement { file, before, after } in files {
        let place = Place::BundleFile(spec.clone(), *file);
        let path = layout.path(&place);
        let operation = format!("cannot write {place}");
        refuse_links(layout, &path, &operation)?;
        let existing = match read(layout, &place) {
            Reading::Absent => None,
            Reading::File { .. } => fs::metadata(&path).ok(),
            Reading::Directory { .. } | Reading::Symlink | Reading::Special | Reading::Unreadable(_) => {
                return Err(Fault::new(operation, "no regular file that can be read stands there")
                    .with_hint(format!("look at {path} and move it away")));
            }
        };
        let one = stage(&directory, after, existing.as_ref()).map_err(|error| disk_fault(operation.clone(), &error))?;
        staged.push((operation, path, one, *file, before.as_deref()));
    }
    for (operation, path, one, file, before) in staged {
        reach("write.staged");
        match persist_over(one, &path, before).map_err(|error| disk_fault(operation.clone(), &error))? {
            Race::Won => {}
            Race::Lost => return Ok(Replaced::Changed(file)),
        }
        sync_directory(&directory).map_err(|error| disk_fault(operation, &error))?;
        reach("write.after");
    }
    Ok(Replaced::All)
}

fn stage(directory: &Utf8Path, bytes: &[u8], existing: Option<&fs::Metadata>) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(STAGED).permissions(fs::Permissions::from_mode(0o666));
    let mut staged = builder.tempfile_in(directory)?;
    if let Some(existing) = existing {
        staged.as_file().set_permissions(existing.permissions())?;
    }
    staged.write_all(bytes)?;
    staged.as_file().sync_all()?;
    Ok(staged)
}

/// Removes what a kill left staged. Nobody else stages while the lock is held.
fn sweep(directory: &Utf8Path) -> io::Result<()> {
    for entry in directory.read_dir_utf8()? {
        let entry = entry?;
        if entry.file_name().starts_with(STAGED) && entry.file_type()?.is_file() {
            match fs::remove_file(entry.path()) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
    }
    Ok(())
}

/// Returns where this machine keeps how far a person has read in a bundle that is not signed yet.
fn progress_path(layout: &Layout, spec: &SpecId) -> Utf8PathBuf {
    layout.state().join(format!("signing-{spec}.json"))
}

/// Returns how far a person has read; nothing where nothing that can be read is kept, for then everything is shown.
#[must_use]
pub fn read_progress(layout: &Layout, spec: &SpecId) -> Option<Vec<u8>> {
    fs::read(progress_path(layout, spec)).ok()
}

/// Keeps how far a person has read.
///
/// # Errors
/// When the disk refuses.
pub fn write_progress(layout: &Layout, spec: &SpecId, bytes: &[u8]) -> Result<(), Fault> {
    write_state(layout, &progress_path(layout, spec), bytes)
}

/// Forgets how far a person has read. Nothing kept is no error.
///
/// # Errors
/// When the disk refuses.
pub fn forget_progress(layout: &Layout, spec: &SpecId) -> Result<(), Fault> {
    let path = progress_path(layout, spec);
    reach("remove.before");
    match fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(disk_fault(format!("cannot remove {path}"), &error));
        }
        Ok(()) | Err(_) => {}
    }
    reach("remove.after");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place {
        _directory: tempfile::TempDir,
        layout: Layout,
    }

    fn place() -> Place {
        let (directory, layout) = Layout::of_an_empty_place();
        Place {
            _directory: directory,
            layout,
        }
    }

    fn alpha() -> SpecId {
        SpecId::parse("alpha").expect("a name")
    }

    fn names(directory: &Utf8Path) -> Vec<String> {
        let mut names: Vec<String> = directory
            .read_dir_utf8()
            .expect("listed")
            .map(|entry| entry.expect("read").file_name().to_owned())
            .collect();
        names.sort();
        names
    }

    fn replacements(tasks: &[u8]) -> [Replacement; 2] {
        let brief = Replacement {
            file: BundleFile::KickoffBrief,
            before: None,
            after: b"b".to_vec(),
        };
        let tasks = Replacement {
            file: BundleFile::Tasks,
            before: Some(tasks.to_vec()),
            after: b"u".to_vec(),
        };
        [tasks, brief]
    }

    #[test]
    fn a_bundle_is_made_once() {
        let place = place();
        let files: [(BundleFile, &[u8]); 2] = [(BundleFile::Design, b"d"), (BundleFile::Tasks, b"t")];
        assert_eq!(create_bundle(&place.layout, &alpha(), &files), Ok(Race::Won));
        assert_eq!(create_bundle(&place.layout, &alpha(), &[]), Ok(Race::Lost));
        let specs = place.layout.primary.join("specs");
        assert_eq!(names(&specs), ["alpha"]);
        assert_eq!(names(&specs.join("alpha")), ["design.md", "tasks.md"]);
        assert_eq!(fs::read(specs.join("alpha/tasks.md")).expect("read"), b"t");
    }

    #[test]
    fn a_linked_specs_directory_is_refused() {
        let place = place();
        let elsewhere = place.layout.primary.join("elsewhere");
        fs::create_dir(&elsewhere).expect("made");
        std::os::unix::fs::symlink(&elsewhere, place.layout.primary.join("specs")).expect("linked");
        create_bundle(&place.layout, &alpha(), &[]).expect_err("refused");
        assert_eq!(names(&elsewhere), [""; 0]);
    }

    #[test]
    fn files_are_replaced_with_their_modes_and_leftovers_go() {
        let place = place();
        let files: [(BundleFile, &[u8]); 2] = [(BundleFile::Design, b"d"), (BundleFile::Tasks, b"t")];
        assert_eq!(create_bundle(&place.layout, &alpha(), &files), Ok(Race::Won));
        let bundle = place.layout.primary.join("specs/alpha");
        fs::set_permissions(bundle.join("tasks.md"), fs::Permissions::from_mode(0o640)).expect("set");
        fs::write(bundle.join(".orchestrate-staged-x"), "torn").expect("written");
        let new = replacements(b"t");
        assert_eq!(replace_files(&place.layout, &alpha(), &new), Ok(Replaced::All));
        assert_eq!(names(&bundle), ["design.md", "kickoff-brief.md", "tasks.md"]);
        assert_eq!(fs::read(bundle.join("tasks.md")).expect("read"), b"u");
        let mode = fs::metadata(bundle.join("tasks.md"))
            .expect("there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o640);
    }

    #[test]
    fn a_file_that_is_not_as_it_was_read_is_left_alone_and_those_after_it() {
        let place = place();
        let files: [(BundleFile, &[u8]); 1] = [(BundleFile::Tasks, b"a person's")];
        assert_eq!(create_bundle(&place.layout, &alpha(), &files), Ok(Race::Won));
        assert_eq!(
            replace_files(&place.layout, &alpha(), &replacements(b"t")),
            Ok(Replaced::Changed(BundleFile::Tasks))
        );
        let bundle = place.layout.primary.join("specs/alpha");
        assert_eq!(names(&bundle), ["tasks.md"]);
        assert_eq!(fs::read(bundle.join("tasks.md")).expect("read"), b"a person's");
    }

    #[test]
    fn nothing_is_replaced_when_one_place_is_taken() {
        let place = place();
        assert_eq!(
            create_bundle(&place.layout, &alpha(), &[(BundleFile::Tasks, b"t")]),
            Ok(Race::Won)
        );
        let bundle = place.layout.primary.join("specs/alpha");
        std::os::unix::fs::symlink("tasks.md", bundle.join("kickoff-brief.md")).expect("linked");
        let new = replacements(b"t");
        replace_files(&place.layout, &alpha(), &new).expect_err("refused");
        assert_eq!(names(&bundle), ["kickoff-brief.md", "tasks.md"]);
        assert_eq!(fs::read(bundle.join("tasks.md")).expect("read"), b"t");
    }

    #[test]
    fn progress_is_kept_and_forgotten() {
        let place = place();
        assert_eq!(read_progress(&place.layout, &alpha()), None);
        forget_progress(&place.layout, &alpha()).expect("nothing is no error");
        write_progress(&place.layout, &alpha(), b"1").expect("kept");
        assert_eq!(read_progress(&place.layout, &alpha()), Some(b"1".to_vec()));
        forget_progress(&place.layout, &alpha()).expect("forgotten");
        assert_eq!(read_progress(&place.layout, &alpha()), None);
    }
}
