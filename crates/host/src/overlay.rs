//! Reading files that people lay over the built-in ones: configuration and rule documents.

use std::fs;
use std::io::{ErrorKind, Read as _};

use camino::{Utf8Path, Utf8PathBuf};

use crate::repository::{self, Repository};

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
        Ok(_) => read_bounded(path),
        Err(error) if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
            OverlayReading::Absent
        }
        Err(error) => OverlayReading::Unreadable(error.to_string()),
    }
}

/// Reads a file that may grow while it is read.
fn read_bounded(path: &Utf8Path) -> OverlayReading {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(LARGEST_OVERLAY + 1).read_to_end(&mut bytes));
    match read {
        Err(error) => OverlayReading::Unreadable(error.to_string()),
        Ok(_) if u64::try_from(bytes.len()).is_ok_and(|length| length <= LARGEST_OVERLAY) => {
            OverlayReading::Bytes(bytes)
        }
        Ok(_) => OverlayReading::Unreadable(format!("it has more than {LARGEST_OVERLAY} bytes")),
    }
}

/// Returns what an overlay file holds, if the file it leads to lies under the root (`contract/core.md §12.5`).
#[must_use]
pub fn read_contained(root: &Utf8Path, relative: &str) -> OverlayReading {
    let named = root.join(relative);
    let reading = match contained(root, Utf8Path::new(relative)) {
        // What was looked at is what is read.
        Ok(path) => read(&path),
        Err(NotContained::Absolute | NotContained::Escapes | NotContained::TooManyLinks) => OverlayReading::Escapes,
        Err(NotContained::Missing) => read(&named),
        Err(NotContained::Unreadable(why)) => OverlayReading::Unreadable(why),
    };
    match reading {
        OverlayReading::Absent => broken_link(root, &named).map_or(OverlayReading::Absent, |link| {
            OverlayReading::Unreadable(format!("{link} is a link to nothing"))
        }),
        OverlayReading::Bytes(_) | OverlayReading::Unreadable(_) | OverlayReading::Escapes => reading,
    }
}

/// Returns the first part of the path, from the root on, that is a link to nothing: somebody meant something to be there.
fn broken_link<'a>(root: &Utf8Path, path: &'a Utf8Path) -> Option<&'a Utf8Path> {
    let below = path.ancestors().take_while(|part| part.starts_with(root));
    below.filter(|part| part.is_symlink() && !part.exists()).last()
}

/// Why a path is not one under a root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotContained {
    /// It is absolute.
    Absolute,
    /// It leads outside the root.
    Escapes,
    /// It leads through more links than anybody means.
    TooManyLinks,
    /// The root, or the directory that the path's last part lies in, is not there.
    Missing,
    /// Something on the way cannot be looked at: why.
    Unreadable(String),
}

/// Returns the physical path that a relative one leads to, when that lies under the root. The last part need not exist;
/// the directory that it lies in must (`contract/core.md §12.5`).
///
/// # Errors
/// Why it is not one.
pub fn contained(root: &Utf8Path, relative: &Utf8Path) -> Result<Utf8PathBuf, NotContained> {
    const MOST_LINKS: usize = 40;
    if relative.is_absolute() {
        return Err(NotContained::Absolute);
    }
    let root = physical(root)?;
    let mut path = root.join(relative);
    for _ in 0..MOST_LINKS {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            // It ends in `..`, so the whole of it has to exist.
            return physical(&path).and_then(|path| under(&root, path));
        };
        let parent = physical(parent)?;
        if !parent.is_dir() {
            return Err(NotContained::Missing);
        }
        let place = parent.join(name);
        match fs::read_link(&place) {
            Ok(target) => {
                let target = Utf8PathBuf::from_path_buf(target)
                    .map_err(|_| NotContained::Unreadable("a link's target is not UTF-8".to_owned()))?;
                path = place.parent().unwrap_or(&root).join(target);
            }
            Err(_) => return under(&root, place),
        }
    }
    Err(NotContained::TooManyLinks)
}

fn physical(path: &Utf8Path) -> Result<Utf8PathBuf, NotContained> {
    path.canonicalize_utf8().map_err(|error| {
        if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
            NotContained::Missing
        } else {
            NotContained::Unreadable(error.to_string())
        }
    })
}

fn under(root: &Utf8Path, path: Utf8PathBuf) -> Result<Utf8PathBuf, NotContained> {
    if path.starts_with(root) {
        Ok(path)
    } else {
        Err(NotContained::Escapes)
    }
}

/// Returns the names in an overlay's directory, sorted; none when there is no such directory.
///
/// # Errors
/// Why they cannot be told.
pub fn names(directory: &Utf8Path) -> Result<Vec<String>, String> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.to_string()),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| error.to_string())?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

impl Repository {
    /// Returns whether a file of the primary checkout may be part of the repository's content: its path, or the file
    /// it leads to, is tracked, or that cannot be told. Such a file is the choice of whoever wrote the repository.
    #[must_use]
    pub fn may_track(&self, path: &Utf8Path) -> bool {
        let index = if self.git.is_worktree() {
            let primary = repository::open_checkout("cannot read the index", &self.layout.primary);
            primary.ok().and_then(|primary| primary.index().ok())
        } else {
            self.index().ok()
        };
        let Some(index) = index else {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A root with a file, a directory, and an outside; and links between them.
    fn root() -> (tempfile::TempDir, Utf8PathBuf) {
        let directory = tempfile::tempdir().expect("a directory");
        let base = Utf8Path::from_path(directory.path())
            .expect("UTF-8")
            .canonicalize_utf8()
            .expect("there");
        let root = base.join("root");
        fs::create_dir_all(root.join("inner")).expect("made");
        fs::write(root.join("file"), "inside").expect("written");
        fs::write(base.join("outside"), "outside").expect("written");
        for (name, target) in [
            ("to-file", "file"),
            ("to-outside", "../outside"),
            ("to-nothing-inside", "inner/missing"),
            ("to-nothing-outside", "../missing"),
            ("to-inner", "inner"),
            ("to-parent", ".."),
            ("loop", "loop"),
        ] {
            symlink(target, root.join(name)).expect("linked");
        }
        (directory, root)
    }

    #[test]
    fn a_path_is_contained_where_it_really_leads_inside() {
        let (_directory, root) = root();
        let found = |relative: &str| {
            contained(&root, Utf8Path::new(relative)).map(|path| path.strip_prefix(&root).expect("under").to_string())
        };
        for (relative, expected) in [
            ("file", "file"),
            ("missing", "missing"),
            ("./inner/../file", "file"),
            ("to-file", "file"),
            ("to-inner/missing", "inner/missing"),
            ("to-nothing-inside", "inner/missing"),
            ("to-inner/..", ""),
        ] {
            assert_eq!(found(relative), Ok(expected.to_owned()), "{relative}");
        }
        for (relative, why) in [
            ("/etc/passwd", NotContained::Absolute),
            ("..", NotContained::Escapes),
            ("../outside", NotContained::Escapes),
            ("../missing", NotContained::Escapes),
            ("inner/../../outside", NotContained::Escapes),
            ("to-outside", NotContained::Escapes),
            ("to-nothing-outside", NotContained::Escapes),
            ("to-parent/outside", NotContained::Escapes),
            ("missing/file", NotContained::Missing),
            ("file/below", NotContained::Missing),
            ("loop", NotContained::TooManyLinks),
        ] {
            assert_eq!(found(relative), Err(why), "{relative}");
        }
        assert_eq!(
            contained(&root.join("none"), Utf8Path::new("file")),
            Err(NotContained::Missing)
        );
        // A neighbour whose name only begins like the root's.
        fs::create_dir(root.with_file_name("root-2")).expect("made");
        assert_eq!(found("../root-2/x"), Err(NotContained::Escapes));
    }

    #[test]
    fn what_cannot_be_a_document_is_unreadable_and_never_opened() {
        let (_directory, root) = root();
        assert_eq!(
            read_contained(&root, "to-file"),
            OverlayReading::Bytes(b"inside".to_vec())
        );
        assert_eq!(read_contained(&root, "missing"), OverlayReading::Absent);
        assert_eq!(read_contained(&root, "missing/below"), OverlayReading::Absent);
        assert_eq!(read_contained(&root.join("none"), "file"), OverlayReading::Absent);
        assert_eq!(read_contained(&root, "to-outside"), OverlayReading::Escapes);
        symlink("nowhere", root.join("to-no-directory")).expect("linked");
        for (name, link) in [
            ("to-nothing-inside", "to-nothing-inside"),
            ("to-no-directory/file", "to-no-directory"),
        ] {
            let why = format!("{} is a link to nothing", root.join(link));
            assert_eq!(read_contained(&root, name), OverlayReading::Unreadable(why));
        }
        rustix::fs::mknodat(
            rustix::fs::CWD,
            root.join("pipe").as_std_path(),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .expect("a pipe");
        let large = fs::File::create(root.join("large")).expect("made");
        large.set_len(100 * 1024 * 1024).expect("a hole");
        for name in ["inner", "pipe", "large", "loop"] {
            assert!(
                matches!(
                    read_contained(&root, name),
                    OverlayReading::Unreadable(_) | OverlayReading::Escapes
                ),
                "{name}"
            );
        }
    }
}
