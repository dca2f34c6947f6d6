//! Files that may be thrown away at any time: they hold nothing that could not be computed anew.
//!
//! Owns their directory and their seal. A file that is torn, altered, of another version or written under another rule
//! is as good as none, and so is a place that cannot be read or written: neither is an error.
//!
//! The seal: a mark of 24 bytes with the version, the fingerprint of the rules as eight bytes, the SHA-1 of the body.

use std::fs;
use std::io::{self, ErrorKind, Write};

use camino::Utf8PathBuf;
use orchestrate_core::world::{Fault, Reading};
use sha1::{Digest, Sha1};

use crate::files::{
    LARGEST_FILE, create_directory_at, disk_fault, is_staged_name, linked_parent, read_path, refuse_links, staging,
};
use crate::layout::Layout;

/// The bytes of the mark, of the rules and of the sum.
const MARK: usize = 24;
const RULES: usize = 8;
const SUM: usize = 20;

/// A file of the cache.
pub(crate) struct Kept {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it begins with; the version is in it.
    pub(crate) mark: &'static [u8; MARK],
    /// What the body follows from besides the repository.
    pub(crate) rules: u64,
}

impl Kept {
    /// Returns the body that was kept last.
    pub(crate) fn read(&self, layout: &Layout) -> Option<Vec<u8>> {
        let path = layout.cache().join(self.name);
        linked_parent(layout, &path).ok().filter(Option::is_none)?;
        match read_path(&path) {
            Reading::File { bytes, .. } => self.open(&bytes).map(<[u8]>::to_vec),
            Reading::Absent
            | Reading::Directory { .. }
            | Reading::Symlink
            | Reading::Special
            | Reading::Unreadable(_) => None,
        }
    }

    /// Keeps a body, in place of the one before. Where that cannot be done nothing is lost, so nothing is said; for the
    /// same reason the disk is not waited for.
    pub(crate) fn write(&self, layout: &Layout, body: &[u8]) {
        let _whether_it_was_kept = self.try_write(layout, body);
    }

    fn try_write(&self, layout: &Layout, body: &[u8]) -> io::Result<()> {
        let bytes = self.seal(body);
        if !u64::try_from(bytes.len()).is_ok_and(|length| length <= LARGEST_FILE) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let refused = |fault: Fault| io::Error::other(fault.to_string());
        let (directory, path) = (layout.cache(), layout.cache().join(self.name));
        create_directory_at(layout, &directory, "cannot make the cache").map_err(refused)?;
        refuse_links(layout, &path, "cannot write the cache").map_err(refused)?;
        let mut staged = staging().tempfile_in(&directory)?;
        staged.write_all(&bytes)?;
        staged.persist(path).map(drop).map_err(|error| error.error)
    }

    fn seal(&self, body: &[u8]) -> Vec<u8> {
        let sum = Sha1::digest(body);
        [&self.mark[..], &self.rules.to_be_bytes(), &sum, body].concat()
    }

    fn open<'bytes>(&self, bytes: &'bytes [u8]) -> Option<&'bytes [u8]> {
        let rest = bytes.strip_prefix(self.mark)?.strip_prefix(&self.rules.to_be_bytes())?;
        let (sum, body) = rest.split_at_checked(SUM)?;
        (Sha1::digest(body).as_slice() == sum).then_some(body)
    }
}

/// What stands in the cache and is no use to anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Useless {
    /// Where it lies.
    pub path: Utf8PathBuf,
    /// Why it is no use.
    pub why: String,
    /// It is a file, which can be removed at any time; anything else was put there by somebody.
    pub is_file: bool,
}

/// So many names of the cache are looked at; ours are a handful.
const MOST_NAMES: usize = 200;

/// Returns what stands in the cache and cannot be read. One that an older or newer version kept is left to the next
/// command, which replaces it.
///
/// # Errors
/// When the cache cannot be listed.
pub fn useless(layout: &Layout) -> Result<Vec<Useless>, Fault> {
    let directory = layout.cache();
    let entries = match fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(disk_fault(format!("cannot list {directory}"), &error)),
    };
    let names = entries
        .take(MOST_NAMES)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut found: Vec<Useless> = names
        .filter(|name| !is_staged_name(name))
        .filter_map(|name| {
            let path = directory.join(name);
            let (why, is_file) = match read_path(&path) {
                Reading::Absent => return None,
                Reading::File { bytes, .. } if is_whole(&bytes) => return None,
                Reading::File { .. } => ("it is torn", true),
                Reading::Unreadable(_) => ("it cannot be read", true),
                Reading::Directory { .. } => ("it is a directory", false),
                Reading::Symlink => ("it is a symbolic link", false),
                Reading::Special => ("it is no regular file", false),
            };
            let why = why.to_owned();
            Some(Useless { path, why, is_file })
        })
        .collect();
    found.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(found)
}

/// Removes a file of the cache that is no use. One that is gone is no error.
///
/// # Errors
/// When it is no file, or the disk refuses.
pub fn discard(layout: &Layout, useless: &Useless) -> Result<(), Fault> {
    let operation = format!("cannot remove {}", useless.path);
    refuse_links(layout, &useless.path, &operation)?;
    if !useless.is_file {
        return Err(Fault::new(operation, useless.why.clone()));
    }
    match fs::remove_file(&useless.path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(disk_fault(operation, &error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Returns whether the seal of a file of any version is unbroken.
fn is_whole(bytes: &[u8]) -> bool {
    let parts = bytes
        .split_at_checked(MARK + RULES)
        .and_then(|(_, rest)| rest.split_at_checked(SUM));
    parts.is_some_and(|(sum, body)| Sha1::digest(body).as_slice() == sum)
}

/// Returns a number that tells sources apart: FNV-1a, 64 bits. A build that reads messages by another rule does not
/// believe what was kept under the old one.
pub(crate) const fn fingerprint(sources: &[&[u8]]) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut source = 0;
    while source < sources.len() {
        let mut at = 0;
        while at < sources[source].len() {
            #[expect(clippy::as_conversions, reason = "u8 to u64 loses nothing, and From is not const")]
            let byte = sources[source][at] as u64;
            hash = (hash ^ byte).wrapping_mul(0x0100_0000_01b3);
            at += 1;
        }
        source += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;

    const KEPT: Kept = Kept {
        name: "tried",
        mark: b"orchestrate tried    v1\n",
        rules: 7,
    };

    fn layout() -> (tempfile::TempDir, Layout) {
        let directory = tempfile::tempdir().expect("directory");
        let root = Utf8PathBuf::from_path_buf(directory.path().to_path_buf()).expect("utf-8");
        let layout = Layout {
            primary: root.clone(),
            common: root.join("git"),
            marker_override: None,
        };
        (directory, layout)
    }

    #[test]
    fn nothing_but_the_whole_file_is_believed() {
        let sealed = KEPT.seal(b"body");
        assert_eq!(KEPT.open(&sealed), Some(&b"body"[..]));
        for length in 0..sealed.len() {
            assert_eq!(KEPT.open(&sealed[..length]), None, "cut at {length}");
        }
        for bit in 0..8 * sealed.len() {
            let mut sealed = sealed.clone();
            sealed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(KEPT.open(&sealed), None, "bit {bit}");
        }
        assert_eq!(KEPT.open(&[sealed.as_slice(), b"\n"].concat()), None, "longer");
        let later = Kept {
            mark: b"orchestrate tried    v2\n",
            ..KEPT
        };
        let other = Kept { rules: 8, ..KEPT };
        assert_eq!(KEPT.open(&later.seal(b"body")), None);
        assert_eq!(KEPT.open(&other.seal(b"body")), None);
    }

    #[test]
    fn what_is_no_use_is_told_and_a_file_goes() {
        let (_keep, layout) = layout();
        assert_eq!(useless(&layout), Ok(Vec::new()));
        KEPT.write(&layout, b"body");
        let older = Kept {
            name: "older",
            rules: 8,
            ..KEPT
        };
        older.write(&layout, b"of another version");
        let torn = layout.cache().join("torn");
        std::fs::write(&torn, &KEPT.seal(b"body")[..40]).expect("written");
        let directory = layout.cache().join("directory");
        std::fs::create_dir(&directory).expect("made");
        let found = useless(&layout).expect("looked");
        let told: Vec<(&str, &str)> = found
            .iter()
            .map(|one| (one.path.file_name().expect("a name"), one.why.as_str()))
            .collect();
        assert_eq!(told, [("directory", "it is a directory"), ("torn", "it is torn")]);
        let gone: Vec<bool> = found.iter().map(|one| discard(&layout, one).is_ok()).collect();
        assert_eq!(gone, [false, true]);
        assert!(directory.is_dir() && !torn.exists());
    }

    #[test]
    fn a_place_that_cannot_be_used_is_no_error_and_no_link_is_followed() {
        let (_keep, layout) = layout();
        assert_eq!(KEPT.read(&layout), None);
        KEPT.write(&layout, b"one");
        KEPT.write(&layout, b"two");
        assert_eq!(KEPT.read(&layout), Some(b"two".to_vec()));
        let path = layout.cache().join("tried");
        std::fs::remove_file(&path).expect("removed");
        std::fs::create_dir(&path).expect("a directory in the way");
        KEPT.write(&layout, b"three");
        assert_eq!(KEPT.read(&layout), None);
        std::fs::remove_dir(&path).expect("removed");
        let elsewhere = layout.primary.join("elsewhere");
        std::fs::write(&elsewhere, KEPT.seal(b"of somebody")).expect("written");
        std::os::unix::fs::symlink(&elsewhere, &path).expect("link");
        assert_eq!(KEPT.read(&layout), None);
        KEPT.write(&layout, b"four");
        assert_eq!(std::fs::read(&elsewhere).expect("there"), KEPT.seal(b"of somebody"));
        assert_eq!(KEPT.read(&layout), Some(b"four".to_vec()), "the link was replaced");
        std::fs::remove_dir_all(layout.cache()).expect("removed");
        std::os::unix::fs::symlink(&layout.primary, layout.cache()).expect("link");
        KEPT.write(&layout, b"five");
        assert_eq!(KEPT.read(&layout), None);
        assert!(!layout.primary.join("tried").exists());
    }

    #[test]
    fn a_fingerprint_tells_sources_apart() {
        assert_eq!(fingerprint(&[b"ab"]), fingerprint(&[b"a", b"b"]));
        assert_ne!(fingerprint(&[b"ab"]), fingerprint(&[b"ba"]));
        assert_eq!(fingerprint(&[]), 0xcbf2_9ce4_8422_2325);
    }
}
