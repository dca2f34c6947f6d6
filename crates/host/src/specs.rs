//! Bundle directories wherever they lie: what is in them, and what a commit has of them.
//!
//! A path that a person named may hold anything. No link is followed below it, nothing is waited for, and no file is
//! read beyond a bound.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};

use camino::{Utf8Path, Utf8PathBuf};
use git2::ErrorCode;
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::BundleFile;
use orchestrate_core::world::Fault;
use rustix::fs::{Mode, OFlags};

use crate::git::blob_at;
use crate::git_error;
use crate::promised;
use crate::repository;

/// What stands where a bundle's file belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileReading {
    /// A regular file.
    Bytes(Vec<u8>),
    /// Nothing.
    Absent,
    /// Something that is not read; the text says why.
    Refused(String),
}

/// Returns what a bundle's file holds, if it is a regular file of at most that many bytes.
#[must_use]
pub fn read_file(path: &Utf8Path, largest: usize) -> FileReading {
    let refused = |error: &io::Error| FileReading::Refused(error.to_string());
    match fs::symlink_metadata(path) {
        Ok(metadata) => match refusal(&metadata, largest) {
            Some(why) => FileReading::Refused(why),
            None => read_opened(path, largest).unwrap_or_else(|error| refused(&error)),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => FileReading::Absent,
        Err(error) => refused(&error),
    }
}

/// Reads what is really opened: something else may stand at the path by now.
fn read_opened(path: &Utf8Path, largest: usize) -> io::Result<FileReading> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path.as_std_path(), flags, Mode::empty())?);
    if let Some(why) = refusal(&file.metadata()?, largest) {
        return Ok(FileReading::Refused(why));
    }
    let mut bytes = Vec::new();
    let bound = u64::try_from(largest).unwrap_or(u64::MAX);
    file.take(bound.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() > largest {
        return Ok(FileReading::Refused(too_large(bound.saturating_add(1), largest)));
    }
    Ok(FileReading::Bytes(bytes))
}

fn refusal(metadata: &fs::Metadata, largest: usize) -> Option<String> {
    let kind = metadata.file_type();
    if kind.is_symlink() {
        Some("it is a symbolic link; bundles are read from real files only".to_owned())
    } else if kind.is_dir() {
        Some("it is a directory".to_owned())
    } else if !kind.is_file() {
        Some("it is no regular file".to_owned())
    } else {
        let is_larger = usize::try_from(metadata.len()).map_or(true, |length| length > largest);
        is_larger.then(|| too_large(metadata.len(), largest))
    }
}

fn too_large(length: u64, largest: usize) -> String {
    format!("it has {length} bytes, and at most {largest} are read")
}

/// What an entry of a directory is to a root of bundles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildKind {
    /// A real directory.
    Directory,
    /// A link that leads to a directory.
    LinkToDirectory,
    /// Anything else.
    Other,
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child {
    /// Its name, as stored.
    pub name: OsString,
    /// What it is.
    pub kind: ChildKind,
}

/// Returns the entries of a directory in the order of their bytes.
///
/// # Errors
/// When it cannot be listed, or an entry cannot be looked at.
pub fn children(directory: &Utf8Path) -> io::Result<Vec<Child>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let kind = if kind.is_dir() {
            ChildKind::Directory
        } else if kind.is_symlink() && fs::metadata(entry.path()).is_ok_and(|target| target.is_dir()) {
            ChildKind::LinkToDirectory
        } else {
            ChildKind::Other
        };
        let name = entry.file_name();
        found.push(Child { name, kind });
    }
    found.sort_by(|left, right| left.name.as_encoded_bytes().cmp(right.name.as_encoded_bytes()));
    Ok(found)
}

/// An earlier state that bundles are compared with: the tree of one commit (`contract/core.md §2.4`).
pub struct Baseline {
    repository: git2::Repository,
    commit: git2::Oid,
    top: Utf8PathBuf,
    program: Option<Utf8PathBuf>,
}

impl Baseline {
    /// Returns the state that a ref names, nothing outside of a work tree or when it names no commit. `program` is git,
    /// which fetches what a partial clone does not have.
    ///
    /// # Errors
    /// When that cannot be told: the repository cannot be opened.
    pub fn find(directory: &Utf8Path, reference: &str, program: Option<&Utf8Path>) -> Result<Option<Self>, Fault> {
        let fault = |error: git2::Error| git_error::fault(&format!("cannot look for {reference}"), &error);
        let Some(repository) = repository::open_if_any(&format!("cannot look for {reference}"), directory)? else {
            return Ok(None);
        };
        let top = repository.workdir().and_then(|top| top.canonicalize().ok());
        let Some(top) = top.and_then(|top| Utf8PathBuf::from_path_buf(top).ok()) else {
            return Ok(None);
        };
        let commit = repository
            .revparse_single(reference)
            .and_then(|object| object.peel_to_commit())
            .map(|commit| commit.id());
        match commit {
            Ok(commit) => Ok(Some(Self {
                repository,
                commit,
                top,
                program: program.map(Utf8Path::to_owned),
            })),
            Err(error)
                if matches!(
                    error.code(),
                    ErrorCode::NotFound | ErrorCode::InvalidSpec | ErrorCode::Peel | ErrorCode::Ambiguous
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(fault(error)),
        }
    }

    /// Returns a file of a bundle's directory as that commit has it; absent when it has none.
    pub fn file(&self, directory: &Utf8Path, file: BundleFile) -> Observed<Vec<u8>> {
        let inside = directory
            .canonicalize_utf8()
            .ok()
            .and_then(|physical| physical.strip_prefix(&self.top).map(Utf8Path::to_owned).ok());
        let Some(inside) = inside else {
            return Observed::Absent(Why::new(format!("{directory} lies outside of {}", self.top)));
        };
        let path = inside.join(file.name());
        match blob_at(&self.repository, self.commit, path.as_str()) {
            Observed::Unknown(why) => self.asked_of_git(&path, why),
            known @ (Observed::Known(_) | Observed::Absent(_)) => known,
        }
    }

    /// Asks the git program, which fetches objects that a partial clone left out.
    fn asked_of_git(&self, path: &Utf8Path, why: Why) -> Observed<Vec<u8>> {
        let program = self.program.as_deref();
        program
            .and_then(|program| promised::file_at(program, &self.top, self.commit, path.as_str()))
            .unwrap_or(Observed::Unknown(why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory() -> (tempfile::TempDir, Utf8PathBuf) {
        let directory = tempfile::tempdir().expect("directory");
        let path = Utf8PathBuf::from_path_buf(directory.path().canonicalize().expect("there")).expect("utf-8");
        (directory, path)
    }

    /// Verifies REQ-B2.4.
    #[test]
    fn only_regular_files_of_a_bounded_size_are_read() {
        let (_keep, root) = directory();
        fs::write(root.join("file"), "12345").expect("written");
        std::os::unix::fs::symlink(root.join("file"), root.join("link")).expect("link");
        std::os::unix::fs::symlink("nowhere", root.join("dangling")).expect("link");
        let pipe = root.join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            pipe.as_std_path(),
            rustix::fs::FileType::Fifo,
            Mode::RWXU,
            0,
        )
        .expect("pipe");
        fs::create_dir(root.join("directory")).expect("directory");
        let read = |name: &str, largest| read_file(&root.join(name), largest);
        assert_eq!(read("file", 5), FileReading::Bytes(b"12345".to_vec()));
        assert_eq!(read("absent", 5), FileReading::Absent);
        for (name, largest, why) in [
            ("file", 4, "it has 5 bytes"),
            ("link", 5, "symbolic link"),
            ("dangling", 5, "symbolic link"),
            ("pipe", 5, "no regular file"),
            ("directory", 5, "a directory"),
        ] {
            let FileReading::Refused(said) = read(name, largest) else {
                panic!("{name} was read")
            };
            assert!(said.contains(why), "{name}: {said}");
        }
    }

    #[test]
    fn a_file_of_100_megabytes_is_named_and_not_read() {
        let (_keep, root) = directory();
        let file = File::create(root.join("file")).expect("made");
        file.set_len(100 * 1024 * 1024).expect("sparse");
        let FileReading::Refused(why) = read_file(&root.join("file"), 1024) else {
            panic!("it was read")
        };
        assert!(why.starts_with("it has 104857600 bytes"), "{why}");
    }

    #[test]
    fn children_come_in_byte_order_with_what_they_are() {
        let (_keep, root) = directory();
        for name in ["b", "B", "_a", ".hidden", "ä"] {
            fs::create_dir(root.join(name)).expect("directory");
        }
        fs::write(root.join("file"), "").expect("file");
        std::os::unix::fs::symlink("b", root.join("link")).expect("link");
        std::os::unix::fs::symlink("file", root.join("to-file")).expect("link");
        let found: Vec<(String, ChildKind)> = children(&root)
            .expect("listed")
            .into_iter()
            .map(|child| (child.name.into_string().expect("utf-8"), child.kind))
            .collect();
        let expected = [
            (".hidden", ChildKind::Directory),
            ("B", ChildKind::Directory),
            ("_a", ChildKind::Directory),
            ("b", ChildKind::Directory),
            ("file", ChildKind::Other),
            ("link", ChildKind::LinkToDirectory),
            ("to-file", ChildKind::Other),
            ("ä", ChildKind::Directory),
        ];
        assert_eq!(found, expected.map(|(name, kind)| (name.to_owned(), kind)));
        assert!(children(&root.join("file")).is_err());
    }
}
