//! What a migration is about to write, kept until it is written: `.git/orchestrate/migration/<spec>/`, with every file as
//! it was below `before` and as it is to be below `after`.
//!
//! A bundle's files cannot be replaced all at once; what is kept lets a later run complete them. It is staged whole and
//! appears by one rename, so what can be read is complete. The caller holds the bundle's lock.

use std::fs;
use std::io::{self, ErrorKind, Write};

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::SpecId;
use orchestrate_core::place::BundleFile;
use orchestrate_core::world::{Fault, Race};

use crate::failpoint::reach;
use crate::files::{create_directory_at, disk_fault, refuse_links, rename_no_replace, sync_directory};
use crate::layout::Layout;

/// One file that is being replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub file: BundleFile,
    /// Its bytes before.
    pub before: Vec<u8>,
    /// The bytes it is to have.
    pub after: Vec<u8>,
}

const BEFORE: &str = "before";
const AFTER: &str = "after";

/// Returns where the changes of a bundle are kept.
#[must_use]
pub fn directory(layout: &Layout, spec: &SpecId) -> Utf8PathBuf {
    layout.state().join("migration").join(spec.as_str())
}

/// Where they lie before they are complete, and while they are removed. No spec's name holds a dot.
fn aside(layout: &Layout, spec: &SpecId) -> Utf8PathBuf {
    layout.state().join("migration").join(format!("{spec}.aside"))
}

/// Keeps the changes; afterwards they survive a kill.
///
/// # Errors
/// When the disk refuses, a link stands in the way, or changes are kept already.
pub fn keep(layout: &Layout, spec: &SpecId, changes: &[Change]) -> Result<(), Fault> {
    let (target, aside) = (directory(layout, spec), aside(layout, spec));
    let operation = format!("cannot write {target}");
    let parent = layout.state().join("migration");
    create_directory_at(layout, &parent, &operation)?;
    refuse_links(layout, &target, &operation)?;
    let stage = || -> io::Result<Race> {
        reach("write.before");
        remove(&aside)?;
        for part in [BEFORE, AFTER] {
            let directory = aside.join(part);
            fs::create_dir_all(&directory)?;
            for change in changes {
                let bytes = if part == BEFORE { &change.before } else { &change.after };
                let mut made = fs::File::create_new(directory.join(change.file.name()))?;
                made.write_all(bytes)?;
                made.sync_all()?;
            }
            sync_directory(&directory)?;
        }
        sync_directory(&aside)?;
        reach("write.staged");
        let race = rename_no_replace(&aside, &target)?;
        sync_directory(&parent)?;
        reach("write.after");
        Ok(race)
    };
    match stage() {
        Ok(Race::Won) => Ok(()),
        Ok(Race::Lost) => Err(Fault::new(operation, "it is there already")),
        Err(error) => Err(disk_fault(operation, &error)),
    }
}

/// Returns the changes that are kept, in the bundle's order of files; `None` where there are none.
///
/// # Errors
/// When they cannot be read.
pub fn read(layout: &Layout, spec: &SpecId) -> Result<Option<Vec<Change>>, Fault> {
    let target = directory(layout, spec);
    let operation = format!("cannot read {target}");
    refuse_links(layout, &target.join(AFTER).join("x"), &operation)?;
    match fs::symlink_metadata(&target) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(disk_fault(operation, &error)),
    }
    let one = |file: BundleFile| -> io::Result<Option<Change>> {
        let bytes = |part: &str| match fs::read(target.join(part).join(file.name())) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        };
        let change = |(before, after)| Change { file, before, after };
        Ok(bytes(BEFORE)?.zip(bytes(AFTER)?).map(change))
    };
    let found: io::Result<Vec<Option<Change>>> = BundleFile::ALL.into_iter().map(one).collect();
    let changes = found.map_err(|error| disk_fault(operation, &error))?;
    Ok(Some(changes.into_iter().flatten().collect()))
}

/// Removes what is kept. Nothing kept is no error.
///
/// # Errors
/// When the disk refuses.
pub fn forget(layout: &Layout, spec: &SpecId) -> Result<(), Fault> {
    let (target, aside) = (directory(layout, spec), aside(layout, spec));
    let operation = format!("cannot remove {target}");
    refuse_links(layout, &target, &operation)?;
    let forget = || -> io::Result<()> {
        reach("remove.before");
        remove(&aside)?;
        // By one rename: half of it would say something else.
        match fs::rename(&target, &aside) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            renamed => renamed?,
        }
        reach("remove.half");
        remove(&aside)?;
        reach("remove.after");
        Ok(())
    };
    forget().map_err(|error| disk_fault(operation, &error))
}

/// Removes what a run that was killed left half staged or half removed. Nothing left is no error.
///
/// # Errors
/// When the disk refuses, or a link stands in the way.
pub(crate) fn discard_aside(layout: &Layout, spec: &SpecId) -> Result<(), Fault> {
    let aside = aside(layout, spec);
    let operation = format!("cannot remove {aside}");
    refuse_links(layout, &aside.join("x"), &operation)?;
    remove(&aside).map_err(|error| disk_fault(operation, &error))
}

/// Removes kept changes, whole or half; anything else in the directory stays, and is an error.
fn remove(directory: &Utf8Path) -> io::Result<()> {
    let gone = |removed: io::Result<()>| match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    };
    for part in [BEFORE, AFTER] {
        let part = directory.join(part);
        for file in BundleFile::ALL {
            gone(fs::remove_file(part.join(file.name())))?;
        }
        gone(fs::remove_dir(&part))?;
    }
    gone(fs::remove_dir(directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_kept_whole_and_forgotten() {
        let (_directory, layout) = Layout::of_an_empty_place();
        let spec = SpecId::parse("alpha").expect("a name");
        let change = |file: BundleFile, after: &[u8]| Change {
            file,
            before: b"1".to_vec(),
            after: after.to_vec(),
        };
        let changes = [change(BundleFile::Tasks, b"t"), change(BundleFile::KickoffBrief, b"")];
        assert_eq!(read(&layout, &spec), Ok(None));
        forget(&layout, &spec).expect("nothing is no error");
        fs::create_dir_all(aside(&layout, &spec).join(BEFORE)).expect("what a kill left");
        assert_eq!(read(&layout, &spec), Ok(None));
        keep(&layout, &spec, &changes).expect("kept");
        assert_eq!(read(&layout, &spec), Ok(Some(changes.to_vec())));
        keep(&layout, &spec, &changes).expect_err("kept already");
        forget(&layout, &spec).expect("forgotten");
        assert_eq!(read(&layout, &spec), Ok(None));
        assert!(!aside(&layout, &spec).exists());
    }
}
