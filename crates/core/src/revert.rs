//! Which commits and pull requests a message says that it undoes (architecture §7, "Reverts").
//!
//! What git and GitHub write is read: `This reverts commit …`, with `reversing changes made to …` for a merge, and
//! `Reverts owner/name#5`, each where its line begins. Messages are bytes: nothing here assumes an encoding.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::identifier::CommitId;

/// What the reverts on base undo, as far as they were not undone themselves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reverts {
    /// The undone commits, each with the commit that undoes it. A merge undoes with it all that it brought in.
    pub commits: BTreeMap<CommitId, CommitId>,
    /// The undone pull requests, by number, each with the commit that undoes it.
    pub pull_requests: BTreeMap<u64, CommitId>,
}

/// What one message says that it undoes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Named {
    /// Commits.
    pub commits: Vec<NamedCommit>,
    /// Pull requests, by number.
    pub pull_requests: Vec<u64>,
}

/// A commit that a message undoes, in hex digits, perhaps not all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedCommit {
    /// The commit.
    pub commit: String,
    /// For a merge: the parent whose state it goes back to.
    pub mainline: Option<String>,
}

impl Named {
    /// Returns whether the message undoes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty() && self.pull_requests.is_empty()
    }
}

/// Returns what a commit message says that it undoes.
#[must_use]
pub fn named(message: &[u8]) -> Named {
    let mut named = Named::default();
    // Most messages undo nothing, and history is long.
    if !contains(message, b"everts ") {
        return named;
    }
    let text = String::from_utf8_lossy(message);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    for (index, line) in lines.iter().enumerate() {
        if let Some(rest) = line.strip_prefix("This reverts commit ") {
            let mut following = rest.to_string();
            for next in lines.iter().skip(index + 1).take(2) {
                following.push(' ');
                following.push_str(next);
            }
            named.commits.extend(named_commit(&following));
        } else if let Some(rest) = line.strip_prefix("Reverts ") {
            named.pull_requests.extend(pull_request_number(rest));
        }
    }
    named
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// The words are those after `This reverts commit`, line breaks as blanks.
fn named_commit(words: &str) -> Option<NamedCommit> {
    let commit = leading_hash(words)?;
    let mainline = words[commit.len()..]
        .strip_prefix(", reversing changes made to ")
        .and_then(leading_hash);
    Some(NamedCommit {
        commit: commit.to_string(),
        mainline: mainline.map(str::to_string),
    })
}

/// Returns the hash at the start of the text; fewer than seven digits name no commit for sure.
fn leading_hash(text: &str) -> Option<&str> {
    let end = text
        .find(|character: char| !character.is_ascii_hexdigit())
        .unwrap_or(text.len());
    let hash = &text[..end];
    (7..=40).contains(&hash.len()).then_some(hash)
}

/// Reads `owner/name#5` or `#5`, alone on its line.
fn pull_request_number(text: &str) -> Option<u64> {
    let text = text.strip_suffix('.').unwrap_or(text);
    let (repository, number) = text.split_once('#')?;
    let is_name = repository
        .chars()
        .all(|character| character.is_ascii_alphanumeric() || matches!(character, '/' | '-' | '_' | '.'));
    if !is_name || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    number.parse().ok()
}

/// Returns the number of the pull request that a merged commit's subject names: `… (#5)` or `Merge pull request #5 …`.
#[must_use]
pub fn pull_request_of(message: &[u8]) -> Option<u64> {
    let subject = message.split(|byte| *byte == b'\n').next()?;
    let subject = core::str::from_utf8(subject).ok()?.trim_end();
    if let Some(rest) = subject.strip_prefix("Merge pull request #") {
        return rest.split(' ').next()?.parse().ok();
    }
    let (_, number) = subject.strip_suffix(')')?.rsplit_once("(#")?;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

    fn shown(message: &str) -> String {
        let named = named(message.as_bytes());
        let commits = named.commits.iter().map(|one| match &one.mainline {
            Some(mainline) => alloc::format!("{} to {mainline}", one.commit),
            None => one.commit.clone(),
        });
        let numbers = named.pull_requests.iter().map(|number| alloc::format!("#{number}"));
        commits.chain(numbers).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn what_git_and_github_write() {
        let cases = [
            (
                alloc::format!("Revert \"x\"\n\nThis reverts commit {A}.\n"),
                A.to_string(),
            ),
            (
                alloc::format!("Revert \"Merge\"\n\nThis reverts commit {A}, reversing\nchanges made to {B}.\n"),
                alloc::format!("{A} to {B}"),
            ),
            (
                "Revert \"x\"\n\nThis reverts commit aaaaaaa (feat: x, 2026-01-01).".to_string(),
                "aaaaaaa".to_string(),
            ),
            (
                "Revert \"x (#5)\" (#6)\n\nReverts o/r-1.x#5".to_string(),
                "#5".to_string(),
            ),
            ("Revert\n\nReverts #12.".to_string(), "#12".to_string()),
            (
                alloc::format!("Squash\n\n* Revert \"x\"\n\n  This reverts commit {A}.\n\nReverts o/r#7\n"),
                alloc::format!("{A}, #7"),
            ),
        ];
        for (message, expected) in cases {
            assert_eq!(shown(&message), expected, "{message}");
        }
    }

    #[test]
    fn what_only_talks_of_a_revert_undoes_nothing() {
        for message in [
            "feat: x\n\nNobody reverts commit aaaaaaa here.",
            "docs\n\n> This reverts commit aaaaaaaa.",
            "x\n\nThis reverts commit abc.",
            "x\n\nThis reverts commit once more.",
            "x\n\nReverts the change in #5",
            "x\n\nReverts o/r#5 and o/r#6",
            "x\n\nReverts #",
            "Reverts",
        ] {
            assert_eq!(shown(message), "", "{message}");
        }
    }

    #[test]
    fn subjects_that_name_their_pull_request() {
        let cases = [
            ("feat: x (#5)\n\nbody (#6)", Some(5)),
            ("Merge pull request #7 from o/branch\n\nfeat: x", Some(7)),
            ("Revert \"x (#5)\" (#8)", Some(8)),
            ("feat: x (#5) again", None),
            ("feat: (#)", None),
            ("", None),
        ];
        for (message, expected) in cases {
            assert_eq!(pull_request_of(message.as_bytes()), expected, "{message}");
        }
    }
}
