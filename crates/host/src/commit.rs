//! The commits of a bundle that a person has just signed, and of a line that parks a task (`halt_commit`): exactly those
//! files, by the person's own git.
//!
//! Hooks, signing keys and identities are the person's and are honoured; git may talk to them on this terminal.

use std::time::Duration;

use camino::Utf8Path;
use orchestrate_core::identifier::{BaseName, SpecId, printable};
use orchestrate_core::place::BundleFile;
use orchestrate_core::world::Fault;

use crate::layout::Layout;
use crate::process::{Output, RunOptions, describe_end, run_bounded, run_foreground};
use crate::shell;

/// Long enough to name five files to the index.
const ADD_TIMEOUT: Duration = Duration::from_secs(60);

/// Long enough for hooks that look at one file.
const LEDGER_TIMEOUT: Duration = Duration::from_secs(120);

/// Returns the paths of the bundle's files, below the top of the checkout.
#[must_use]
pub fn bundle_paths(spec: &SpecId) -> Vec<String> {
    BundleFile::ALL
        .map(|file| format!("specs/{spec}/{}", file.name()))
        .to_vec()
}

/// Returns the commands by which a person commits the bundle's five files, from any directory.
#[must_use]
pub fn by_hand(layout: &Layout, spec: &SpecId, message: &str) -> [String; 2] {
    let git = format!("git -C {}", shell::word(layout.primary.as_str()));
    let paths = bundle_paths(spec).join(" ");
    let message = shell::word(message);
    [
        format!("{git} add -- {paths}"),
        format!("{git} commit -m {message} -- {paths}"),
    ]
}

/// Returns all that git says, on one line; its hints only where there is nothing else.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_hint = |line: &&str| line.starts_with("hint:");
    let has_reason = lines.iter().any(|line| !is_hint(line));
    let mut said = String::new();
    for line in lines.into_iter().filter(|line| !(has_reason && is_hint(line))) {
        if !said.is_empty() {
            let begins = ["fatal:", "error:", "warning:"]
                .iter()
                .any(|word| line.starts_with(word));
            said.push_str(if begins { "; " } else { " " });
        }
        said.push_str(&printable(line));
    }
    if said.is_empty() {
        describe_end(output.status)
    } else {
        said
    }
}

/// Commits the bundle's five files and nothing else, whatever else is staged.
///
/// # Errors
/// When git refuses, a hook for example. The files stay as they are.
pub fn commit_bundle(git: &Utf8Path, layout: &Layout, spec: &SpecId, message: &str) -> Result<(), Fault> {
    let operation = format!("cannot commit specs/{spec}");
    let paths = bundle_paths(spec);
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let options = RunOptions {
        directory: Some(&layout.primary),
        timeout: ADD_TIMEOUT,
        ..RunOptions::default()
    };
    // A file that git does not know cannot be named to a commit; only its name is told, not its content.
    let add = [&["add", "--intent-to-add", "--"], paths.as_slice()].concat();
    let added = run_bounded(git, &add, &options)?;
    if !added.success() {
        return Err(Fault::new(operation, said(&added))
            .with_hint("mend what git says; what was signed is written, and only the commit is missing"));
    }
    let commit = [
        &["commit", "--quiet", "--only", "--message", message, "--"],
        paths.as_slice(),
    ]
    .concat();
    let ended = run_foreground(git, &commit, &layout.primary)?;
    if ended.success() {
        Ok(())
    } else {
        Err(Fault::new(operation, format!("git ended with {}", describe_end(ended)))
            .with_hint("mend what git says above; what was signed is written, and only the commit is missing"))
    }
}

/// Returns `tasks.md` as HEAD of the primary checkout has it, where a commit of that file alone would hold nothing that
/// somebody else has begun: on the base branch, outside of a merge or rebase, with nothing of the file staged.
///
/// # Errors
/// Why none is to be made, in words.
pub fn committed_ledger(layout: &Layout, spec: &SpecId, base: &BaseName) -> Result<Vec<u8>, String> {
    let said = |error: git2::Error| error.message().to_owned();
    let git = git2::Repository::open(&layout.primary).map_err(said)?;
    if git.state() != git2::RepositoryState::Clean {
        return Err("a merge, rebase or the like is going on in the primary checkout".to_owned());
    }
    let head = git.head().map_err(said)?;
    if head.name().ok() != Some(format!("refs/heads/{base}").as_str()) {
        return Err(format!("the primary checkout is not on {base}"));
    }
    let path = format!("specs/{spec}/{}", BundleFile::Tasks.name());
    let path = std::path::Path::new(&path);
    let entry = head.peel_to_tree().and_then(|tree| tree.get_path(path)).map_err(said)?;
    let staged = git.index().map_err(said)?.get_path(path, 0);
    if staged.is_none_or(|staged| staged.id != entry.id()) {
        return Err("a change of that file is staged".to_owned());
    }
    let blob = git.find_blob(entry.id()).map_err(said)?;
    Ok(blob.content().to_vec())
}

/// Commits `tasks.md` of a bundle and nothing else, whatever else is staged. Hooks and signing are honoured; nobody is asked
/// anything.
///
/// # Errors
/// When git refuses, a hook for example, or takes too long. The file stays as it is.
pub fn commit_ledger(git: &Utf8Path, layout: &Layout, spec: &SpecId, message: &str) -> Result<(), Fault> {
    let path = format!("specs/{spec}/{}", BundleFile::Tasks.name());
    let options = RunOptions {
        directory: Some(&layout.primary),
        environment: &[("GIT_TERMINAL_PROMPT", "0")],
        timeout: LEDGER_TIMEOUT,
        ..RunOptions::default()
    };
    let arguments = ["commit", "--quiet", "--only", "--message", message, "--", path.as_str()];
    let ended = run_bounded(git, &arguments, &options)?;
    if ended.success() {
        Ok(())
    } else {
        Err(Fault::new(format!("cannot commit {path}"), said(&ended)))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    use super::*;

    #[test]
    fn all_that_git_says_is_told_and_its_hints_only_alone() {
        let told = |stderr: &str| {
            said(&Output {
                status: ExitStatus::from_raw(256),
                stdout: Vec::new(),
                stderr: stderr.as_bytes().to_vec(),
            })
        };
        assert_eq!(told("ignored:\nspecs/a\nhint: Use -f\n"), "ignored: specs/a");
        assert_eq!(told("warning: x\n\nfatal: y\nz\n"), "warning: x; fatal: y z");
        assert_eq!(told("hint: Use -f\n"), "hint: Use -f");
        assert_eq!(told("\n"), "exit 1");
    }
}
