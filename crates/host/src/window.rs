//! The kernel's window lock of a bundle, `<git-common-dir>/orchestrate/lock/<spec>`: it dies with the process.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::ErrorKind;

use fd_lock::RwLock;
use orchestrate_core::identifier::SpecId;
use orchestrate_core::world::{Fault, Race};

use crate::failpoint::reach;
use crate::files::{create_directory_at, disk_fault, refuse_links};
use crate::layout::Layout;

/// The window locks this process holds.
#[derive(Default)]
pub(crate) struct Windows {
    held: BTreeMap<SpecId, RwLock<File>>,
}

impl Windows {
    /// Takes the lock of a bundle, or loses to whoever has it.
    pub(crate) fn enter(&mut self, layout: &Layout, spec: &SpecId) -> Result<Race, Fault> {
        let operation = format!("cannot take the window lock of {spec}");
        if self.held.contains_key(spec) {
            return Err(Fault::new(operation, "this process holds it already"));
        }
        let directory = layout.state().join("lock");
        create_directory_at(layout, &directory, &operation)?;
        let path = directory.join(spec.as_str());
        refuse_links(layout, &path, &operation)?;
        if fs::symlink_metadata(&path).is_ok_and(|metadata| !metadata.file_type().is_file()) {
            return Err(
                Fault::new(operation, format!("something that is no file stands at {path}"))
                    .with_hint(format!("look at {path} and move it away")),
            );
        }
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|error| disk_fault(operation.clone(), &error))?;
        let mut lock = RwLock::new(file);
        match lock.try_write() {
            // The guard would end the lock when it is dropped; the lock is to last as long as the file is open.
            Ok(guard) => std::mem::forget(guard),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Race::Lost),
            Err(error) => return Err(disk_fault(operation, &error)),
        }
        self.held.insert(spec.clone(), lock);
        reach("window.entered");
        Ok(Race::Won)
    }

    /// Lets the lock go by closing its file.
    pub(crate) fn leave(&mut self, spec: &SpecId) {
        drop(self.held.remove(spec));
        reach("window.left");
    }
}
