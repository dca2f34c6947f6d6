//! Reading commits as they are stored, each of them once: parents, time and message, with git's grafts.
//!
//! libgit2's own walk reads each commit a second time for its message, and looks for a `shallow` file in the wrong place
//! when it stands in a linked worktree. Owns no state.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::rc::Rc;

use git2::{ObjectType, Odb, OdbObject, Oid, Repository};
use orchestrate_core::identifier::CommitId;
use orchestrate_core::observed::Why;

/// The bytes of a commit's name.
pub(crate) type Id = [u8; 20];

/// Returns the bytes of a commit's name.
pub(crate) fn id(oid: Oid) -> Result<Id, git2::Error> {
    Id::try_from(oid.as_bytes()).map_err(|_| git2::Error::from_str("the object's name is no SHA-1"))
}

/// Returns the bytes of a commit's name.
pub(crate) fn id_of(commit: &CommitId) -> Result<Id, git2::Error> {
    id(Oid::from_str(commit.as_str())?)
}

/// Returns the name as the core writes it.
pub(crate) fn name(id: &Id) -> Result<CommitId, git2::Error> {
    crate::git::commit_id(Oid::from_bytes(id)?)
}

/// Other parents than the stored ones: where a shallow clone ends, and git's old grafts. Replacements (`refs/replace`) are
/// not followed, here as in libgit2.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Grafts {
    parents: BTreeMap<Id, Vec<Id>>,
    shallow: bool,
}

impl Grafts {
    /// Returns whether every commit has the parents that it was stored with.
    pub(crate) fn is_empty(&self) -> bool {
        self.parents.is_empty() && !self.shallow
    }

    /// Returns why history may lack what base holds: what is found counts, and what is not is unknown.
    pub(crate) fn cut(&self) -> Option<Why> {
        if self.shallow {
            let why = Why::new("the clone is shallow, so a landing could be unseen");
            Some(why.with_hint("git fetch --unshallow"))
        } else if self.is_empty() {
            None
        } else {
            let why = Why::new(".git/info/grafts gives commits other parents, so a landing could be unseen");
            Some(why.with_hint("remove .git/info/grafts (git replace --convert-graft-file keeps what it says)"))
        }
    }

    /// Reads both files of the git common directory.
    pub(crate) fn read(repository: &Repository) -> Result<Self, git2::Error> {
        let common = repository.commondir();
        let mut grafts = Self::default();
        for ids in lines(&common.join("info/grafts"))? {
            grafts.add(ids);
        }
        for ids in lines(&common.join("shallow"))? {
            grafts.shallow = true;
            // A graft of the same commit comes first, as in git.
            if ids.first().is_some_and(|commit| !grafts.parents.contains_key(commit)) {
                grafts.add(ids);
            }
        }
        Ok(grafts)
    }

    fn add(&mut self, ids: Vec<Id>) {
        let mut ids = ids.into_iter();
        if let Some(commit) = ids.next() {
            self.parents.insert(commit, ids.collect());
        }
    }
}

/// Returns the names on each line of a file, which need not be there.
fn lines(path: &Path) -> Result<Vec<Vec<Id>>, git2::Error> {
    let fault = |error: &dyn std::fmt::Display| git2::Error::from_str(&format!("{}: {error}", path.display()));
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(fault(&error)),
    };
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| line.split(' ').map(|word| id(Oid::from_str(word)?)).collect())
        .collect::<Result<_, _>>()
        .map_err(|error| fault(&error))
}

/// Reads commits of one repository.
pub(crate) struct Commits<'repository> {
    store: Odb<'repository>,
    grafts: Rc<Grafts>,
}

/// One commit.
pub(crate) struct Commit<'store> {
    /// Its parents.
    pub(crate) parents: Vec<Id>,
    /// Its tree.
    pub(crate) tree: Id,
    /// The committer's time, in seconds since 1970; 0 where it cannot be read.
    pub(crate) time: i64,
    object: OdbObject<'store>,
    message: usize,
}

impl Commit<'_> {
    /// Returns its message, up to the first byte of value 0.
    pub(crate) fn message(&self) -> &[u8] {
        let message = self.object.data().get(self.message..).unwrap_or_default();
        message.split(|byte| *byte == 0).next().unwrap_or_default()
    }
}

impl<'repository> Commits<'repository> {
    /// Opens the repository's store.
    pub(crate) fn open(repository: &'repository Repository, grafts: Rc<Grafts>) -> Result<Self, git2::Error> {
        Ok(Self {
            store: repository.odb()?,
            grafts,
        })
    }

    /// Reads one commit.
    pub(crate) fn read(&self, id: &Id) -> Result<Commit<'_>, git2::Error> {
        let oid = Oid::from_bytes(id)?;
        let object = self.store.read(oid)?;
        if object.kind() != ObjectType::Commit {
            return Err(git2::Error::from_str(&format!("{oid} is no commit")));
        }
        let mut header = header(object.data()).map_err(|cause| git2::Error::from_str(&format!("{oid}: {cause}")))?;
        if let Some(grafted) = self.grafts.parents.get(id) {
            header.parents.clone_from(grafted);
        }
        Ok(Commit {
            parents: header.parents,
            tree: header.tree,
            time: header.time,
            message: header.message,
            object,
        })
    }
}

struct Header {
    parents: Vec<Id>,
    tree: Id,
    time: i64,
    /// Where the message begins.
    message: usize,
}

fn header(bytes: &[u8]) -> Result<Header, &'static str> {
    let mut header = Header {
        parents: Vec::new(),
        tree: Id::default(),
        time: 0,
        message: bytes.len(),
    };
    let mut at = 0;
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        at += line.len();
        if index == 0 {
            let tree = line.strip_prefix(b"tree ").and_then(|tree| hex(tree.trim_ascii_end()));
            header.tree = tree.ok_or("the commit names no tree")?;
        } else if let Some(parent) = line.strip_prefix(b"parent ") {
            header
                .parents
                .push(hex(parent.trim_ascii_end()).ok_or("the commit names no parent where it should")?);
        } else if let Some(committer) = line.strip_prefix(b"committer ") {
            header.time = time(committer).unwrap_or_default();
        } else if line == b"\n" {
            header.message = at;
            break;
        }
    }
    Ok(header)
}

fn hex(text: &[u8]) -> Option<Id> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut id = Id::default();
    if text.len() != 2 * id.len() {
        return None;
    }
    for (byte, pair) in id.iter_mut().zip(text.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(id)
}

/// Returns the seconds after the address: `name <address> seconds zone`.
fn time(committer: &[u8]) -> Option<i64> {
    let end = committer.iter().rposition(|byte| *byte == b'>')?;
    let text = std::str::from_utf8(committer.get(end + 1..)?).ok()?;
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_commit_says_is_read() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let text = format!(
            "tree {one}\nparent {one}\nparent {two}\nauthor A <a@b> 1 +0000\ncommitter B > C <b@c> -5 +0200\ngpgsig x\n \
             committer D <d> 7 +0000\n\nsubject\n\nparent {one}\n"
        );
        let header = header(text.as_bytes()).expect("read");
        assert_eq!(header.tree, [0x11; 20]);
        assert_eq!(header.parents, [[0x11; 20], [0x22; 20]]);
        assert_eq!(header.time, -5);
        assert!(text[header.message..].starts_with("subject\n"));
    }

    #[test]
    fn what_is_no_commit_is_refused() {
        assert!(
            header(b"").is_ok_and(|header| header.parents.is_empty()),
            "no line, no parent"
        );
        assert!(header(b"object x\n").is_err());
        assert!(header(b"tree x\n").is_err());
        let tree = format!("tree {}\n", "1".repeat(40));
        assert!(header(format!("{tree}parent 123\n").as_bytes()).is_err());
        assert_eq!(
            header(format!("{tree}committer B <b@c> soon\n").as_bytes()).map(|header| header.time),
            Ok(0)
        );
    }
}
