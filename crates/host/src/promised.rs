//! Objects that a partial clone left at its origin, read through `git cat-file --batch`, which fetches them.
//!
//! libgit2 knows nothing of such clones: to it the objects are missing. Bounded in time and size by the process module.

use camino::Utf8Path;
use git2::Repository;
use orchestrate_core::observed::{Observed, Why};

use crate::process::{Input, Output, RunOptions, run_bounded};

/// Returns whether a clone was made without some of its objects, and a remote promises to have them.
pub(crate) fn is_partial(repository: &Repository) -> bool {
    let Ok(config) = repository.config() else {
        return false;
    };
    let Ok(mut promising) = config.entries(Some(r"^remote\..*\.promisor$")) else {
        return false;
    };
    promising.next().is_some_and(|entry| entry.is_ok())
}

/// Asks the git program for a file of a commit; nothing where it does not answer. The commit itself is here.
pub(crate) fn file_at(
    program: &Utf8Path,
    directory: &Utf8Path,
    commit: git2::Oid,
    path: &str,
) -> Option<Observed<Vec<u8>>> {
    // One line is one question.
    if path.contains('\n') {
        return None;
    }
    let name = format!("{commit}:{path}\n");
    let options = RunOptions {
        directory: Some(directory),
        input: Input::Bytes(name.as_bytes()),
        ..RunOptions::default()
    };
    let answer = run_bounded(program, &["cat-file", "--batch"], &options);
    let output = answer.ok().filter(Output::success)?;
    batch_content(&output.stdout, path)
}

/// Returns what `cat-file --batch` says of one object: `<id> blob <size>`, the bytes and a line end, or `<name> missing`.
fn batch_content(answer: &[u8], path: &str) -> Option<Observed<Vec<u8>>> {
    let end = answer.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(answer.get(..end)?).ok()?;
    if head.ends_with(" missing") {
        return Some(Observed::Absent(Why::new(format!("{path} is not in the commit"))));
    }
    let size: usize = head.rsplit_once(" blob ")?.1.parse().ok()?;
    let bytes = answer.get(end + 1..)?.get(..size)?;
    Some(Observed::Known(bytes.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_cat_file_are_read() {
        let path = "a";
        let known = batch_content(b"0123 blob 4\na\nb\n\n", path);
        assert_eq!(known, Some(Observed::Known(b"a\nb\n".to_vec())));
        let absent = batch_content(b"0123:a missing\n", path);
        assert!(matches!(absent, Some(Observed::Absent(_))));
        for torn in [&b""[..], b"0123 blob 9\nshort", b"0123 tree 1\nx\n", b"no line end"] {
            assert_eq!(batch_content(torn, path), None, "{torn:?}");
        }
    }
}
