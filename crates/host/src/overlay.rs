//! Reading files that people lay over the built-in ones: configuration and rule documents.

use std::fs;
use std::io::ErrorKind;

use camino::Utf8Path;

use crate::repository::Repository;

/// What was found at an overlay's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OverlayReading {
    /// A regular file.
    Bytes(Vec<u8>),
    /// Nothing.
    Absent,
    /// Something that cannot be read as a regular file.
    Unreadable(String),
    /// The path leads outside its root.
    Escapes,
}

/// No overlay is larger.
const LARGEST_OVERLAY: u64 = 1024 * 1024;

/// Returns what an overlay file holds. Links are followed: people keep such files in their own repositories.
#[must_use]
pub fn read(path: &Utf8Path) -> OverlayReading {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => OverlayReading::Unreadable("it is no regular file".to_owned()),
        Ok(metadata) if metadata.len() > LARGEST_OVERLAY => {
            OverlayReading::Unreadable(format!("it has {} bytes", metadata.len()))
        }
        Ok(_) => fs::read(path).map_or_else(
            |error| OverlayReading::Unreadable(error.to_string()),
            OverlayReading::Bytes,
        ),
        Err(error) if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
            OverlayReading::Absent
        }
        Err(error) => OverlayReading::Unreadable(error.to_string()),
    }
}

/// Returns what an overlay file holds, if the file it leads to lies under the root (`contract/core.md §12.5`).
#[must_use]
pub fn read_contained(root: &Utf8Path, relative: &str) -> OverlayReading {
    let path = root.join(relative);
    match (root.canonicalize(), path.canonicalize()) {
        (Ok(root), Ok(real)) if !real.starts_with(&root) => OverlayReading::Escapes,
        (_, _) => read(&path),
    }
}

impl Repository {
    /// Returns whether a file of the primary checkout may be part of the repository's content: its path, or the file
    /// it leads to, is tracked, or that cannot be told. Such a file is the choice of whoever wrote the repository.
    #[must_use]
    pub fn may_track(&self, path: &Utf8Path) -> bool {
        let Ok(primary) = git2::Repository::open(&self.layout.primary) else {
            return true;
        };
        let Ok(index) = primary.index() else {
            return true;
        };
        let tracked = |path: &Utf8Path| {
            path.strip_prefix(&self.layout.primary).is_ok_and(|relative| {
                // An ancestor that is an entry is a submodule or a tracked link: what lies below is the author's too.
                let parts = relative.ancestors().filter(|part| !part.as_str().is_empty());
                let named: Vec<&[u8]> = parts.map(|part| part.as_str().as_bytes()).collect();
                index
                    .iter()
                    .any(|entry| named.iter().any(|name| entry.path.eq_ignore_ascii_case(name)))
            })
        };
        // A linked directory on the way (`.claude -> tracked-directory`) shows in the real path.
        let real = path.canonicalize_utf8();
        let real_tracked = match &real {
            Ok(real) => tracked(real),
            Err(error) => error.kind() != ErrorKind::NotFound,
        };
        tracked(path) || real_tracked
    }
}
