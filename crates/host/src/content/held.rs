//! Whether a file somewhere holds a change: whether the change, made there once more, would alter nothing.
//!
//! A patch-id passes over white space, and is the same for the same lines at another place of the file. Here neither
//! passes: what differs by a blank is other work, and so is the same fix elsewhere.

use git2::{MergeFileInput, Oid, Repository, merge_file};

/// What a path leads to: the object, and its mode as git stores it.
pub(super) type Entry = (Oid, i32);

/// The modes of regular files; of the others no part can be told.
const REGULAR: [i32; 2] = [0o100_644, 0o100_755];

/// One file of a change, and the same path somewhere else.
pub(super) struct File {
    /// What the change found.
    pub(super) before: Option<Entry>,
    /// What it left.
    pub(super) after: Option<Entry>,
    /// What is there.
    pub(super) there: Option<Entry>,
}

impl File {
    pub(super) fn is_held(&self, repository: &Repository) -> Result<bool, git2::Error> {
        if self.there == self.after {
            return Ok(true);
        }
        let (Some(before), Some(after), Some(there)) = (self.before, self.after, self.there) else {
            return Ok(false);
        };
        let is_regular = [before, after, there].iter().all(|(_, mode)| REGULAR.contains(mode));
        if !is_regular || (after.1 != before.1 && after.1 != there.1) {
            return Ok(false);
        }
        let blob = |(id, _): Entry| repository.find_blob(id);
        let (before, after, there) = (blob(before)?, blob(after)?, blob(there)?);
        let (mut ancestor, mut ours, mut theirs) =
            (MergeFileInput::new(), MergeFileInput::new(), MergeFileInput::new());
        ancestor.content(before.content());
        ours.content(there.content());
        theirs.content(after.content());
        let merged = merge_file(&ancestor, &ours, &theirs, None)?;
        Ok(merged.is_automergeable() && merged.content() == there.content())
    }
}
