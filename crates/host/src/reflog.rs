//! What a line of a branch's reflog says: whether a commit was made on the branch, or the branch was moved.
//!
//! Only what is known to make a commit counts as one. A message that git does not write says nothing.

use git2::Repository;
use orchestrate_core::identifier::CommitId;

/// How a branch came to where an entry says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry<'a> {
    /// A commit was made on it.
    Commit,
    /// It was put onto a commit that was there.
    Move,
    /// Its own commits were put onto that commit, written in full.
    RebasedOnto(&'a str),
    /// It cannot be told.
    Other,
}

/// How the first entry of a branch that a dispatch made ends.
const BY_DISPATCH: &str = " (orchestrate: a unit is dispatched)";

/// Returns the message of the first entry of a branch that a dispatch makes at a commit.
pub(crate) fn created(at: &CommitId) -> String {
    format!("branch: Created from {at}{BY_DISPATCH}")
}

/// Returns whether a dispatch made the branch, as its reflog tells.
///
/// # Errors
/// When the reflog cannot be read.
pub(crate) fn is_made_by_dispatch(repository: &Repository, reference: &str) -> Result<bool, git2::Error> {
    // Reading a reflog that is not there would make an empty one.
    if !repository.reference_has_log(reference)? {
        return Ok(false);
    }
    let reflog = repository.reflog(reference)?;
    let first = reflog.iter().next_back();
    Ok(first
        .and_then(|entry| {
            entry
                .message_bytes()
                .map(|message| message.ends_with(BY_DISPATCH.as_bytes()))
        })
        .unwrap_or(false))
}

/// Reads the message of an entry, as git and libgit2 write it.
pub(crate) fn read(message: &str) -> Entry<'_> {
    let is_fast_forward = message.to_ascii_lowercase().contains("fast-forward");
    if let Some((_, onto)) = message
        .strip_prefix("rebase (finish): ")
        .and_then(|rest| rest.split_once(" onto "))
    {
        return Entry::RebasedOnto(onto.trim());
    }
    let starts_with = |words: &[&str]| words.iter().any(|word| message.starts_with(word));
    let is_merge = starts_with(&["merge ", "pull"]);
    if is_fast_forward && (is_merge || message.starts_with("cherry-pick")) || starts_with(&["branch: ", "reset: "]) {
        Entry::Move
    } else if starts_with(&["commit: ", "commit (", "cherry-pick: ", "revert: ", "am: "])
        || (is_merge && message.contains(": Merge made by"))
    {
        Entry::Commit
    } else {
        Entry::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_writes() {
        let onto = "0123456789012345678901234567890123456789";
        let finish = format!("rebase (finish): refs/heads/planwright/a/task-1 onto {onto}");
        let created = created(&CommitId::parse(onto).expect("commit"));
        let cases = [
            ("commit: feat: x", Entry::Commit),
            ("commit (initial): x", Entry::Commit),
            ("commit (amend): x", Entry::Commit),
            ("commit (merge): Merge main", Entry::Commit),
            ("cherry-pick: feat: x", Entry::Commit),
            ("cherry-pick: fast-forward", Entry::Move),
            ("revert: Revert \"x\"", Entry::Commit),
            ("am: feat: x", Entry::Commit),
            ("merge main: Merge made by the 'ort' strategy.", Entry::Commit),
            ("merge main: Fast-forward", Entry::Move),
            ("pull --ff-only: Fast-forward", Entry::Move),
            ("pull: Merge made by the 'ort' strategy.", Entry::Commit),
            ("branch: Created from main", Entry::Move),
            (created.as_str(), Entry::Move),
            ("reset: moving to HEAD~1", Entry::Move),
            (finish.as_str(), Entry::RebasedOnto(onto)),
            ("fetch . main:task: fast-forward", Entry::Other),
            ("push", Entry::Other),
            ("", Entry::Other),
        ];
        for (message, entry) in cases {
            assert_eq!(read(message), entry, "{message:?}");
        }
    }
}
