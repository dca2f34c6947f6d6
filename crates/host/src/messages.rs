//! Commit messages where a person stands: the subjects of a range, and what starts a comment here.
//!
//! Owns no state.

use camino::Utf8Path;
use git2::{Oid, RevparseMode, Revwalk};
use orchestrate_core::identifier::quoted;
use orchestrate_core::trailer::COMMENT;
use orchestrate_core::world::Fault;

use crate::git_error;
use crate::process::{RunOptions, run_bounded};
use crate::repository;

/// A commit's subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitSubject {
    /// The commit's short name.
    pub commit: String,
    /// Its first paragraph on one line, in whatever encoding.
    pub text: Vec<u8>,
}

/// Returns the subjects of the commits that a range reaches, newest first, those of merges left out. A range is `A..B`,
/// `A...B`, or a commit with all before it, as `git log` takes them.
///
/// # Errors
/// When there is no repository, the range names no commits, or one of them cannot be read.
pub fn subjects(start: &Utf8Path, range: &str) -> Result<Vec<CommitSubject>, Fault> {
    let operation = format!("cannot read the commits of {}", quoted(range));
    let repository = repository::open(&operation, start)?;
    let fault = |error: git2::Error| git_error::fault(&operation, &error);
    let mut walk = repository.revwalk().map_err(fault)?;
    push(&repository, &mut walk, range).map_err(fault)?;
    let mut subjects = Vec::new();
    for id in walk {
        let commit = repository.find_commit(id.map_err(fault)?).map_err(fault)?;
        if commit.parent_count() <= 1 {
            let mut name = commit.id().to_string();
            name.truncate(7);
            subjects.push(CommitSubject {
                commit: name,
                text: commit.summary_bytes().unwrap_or_default().to_vec(),
            });
        }
    }
    Ok(subjects)
}

fn push(repository: &git2::Repository, walk: &mut Revwalk<'_>, range: &str) -> Result<(), git2::Error> {
    if range.is_empty() {
        return Err(git2::Error::from_str("it is empty"));
    }
    let found = repository.revparse(range)?;
    let commit = |object: Option<&git2::Object<'_>>| -> Result<Oid, git2::Error> {
        let object = object.ok_or_else(|| git2::Error::from_str("it names no commit"))?;
        Ok(object.peel_to_commit()?.id())
    };
    let from = commit(found.from())?;
    let mode = found.mode();
    if mode.contains(RevparseMode::MERGE_BASE) {
        let to = commit(found.to())?;
        walk.push(from)?;
        walk.push(to)?;
        match repository.merge_bases(from, to) {
            Ok(bases) => bases.iter().try_for_each(|base| walk.hide(*base)),
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    } else if mode.contains(RevparseMode::RANGE) {
        walk.push(commit(found.to())?)?;
        walk.hide(from)
    } else {
        walk.push(from)
    }
}

/// Returns what starts a comment in a message, as git is set here: `core.commentChar`, or `core.commentString`. `auto`
/// and no setting are git's own default.
///
/// # Errors
/// When git cannot be run, or would wait for ever.
pub fn comment_prefix(git: &Utf8Path, directory: &Utf8Path) -> Result<Vec<u8>, Fault> {
    repository::refuse_special("cannot read git's configuration", directory)?;
    let options = RunOptions {
        directory: Some(directory),
        ..RunOptions::default()
    };
    let arguments = ["config", "--null", "--get-regexp", r"^core\.comment(char|string)$"];
    let output = run_bounded(git, &arguments, &options)?;
    // Git ends with 1 where neither is set; of several the last one counts.
    let last = output.stdout.split(|byte| *byte == 0).rfind(|entry| !entry.is_empty());
    let value = last.and_then(|entry| entry.splitn(2, |byte| *byte == b'\n').nth(1));
    Ok(match value {
        None | Some(b"" | b"auto") => COMMENT.to_vec(),
        Some(prefix) => prefix.to_vec(),
    })
}
