//! The commit of a bundle that a person has just signed: exactly its files, by the person's own git.
//!
//! Hooks, signing keys and identities are the person's and are honoured; git may talk to them on this terminal.

use std::time::Duration;

use camino::Utf8Path;
use orchestrate_core::identifier::{SpecId, printable};
use orchestrate_core::place::BundleFile;
use orchestrate_core::world::Fault;

use crate::layout::Layout;
use crate::process::{Output, RunOptions, describe_end, run_bounded, run_foreground};

/// Long enough to name five files to the index.
const ADD_TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the paths of the bundle's files, below the top of the checkout.
#[must_use]
pub fn bundle_paths(spec: &SpecId) -> Vec<String> {
    let files = BundleFile::AUTHORED.into_iter().chain([BundleFile::KickoffBrief]);
    files.map(|file| format!("specs/{spec}/{}", file.name())).collect()
}

/// Returns the commands by which a person commits the bundle's five files, from any directory.
#[must_use]
pub fn by_hand(layout: &Layout, spec: &SpecId, message: &str) -> [String; 2] {
    let git = format!("git -C {}", shell_word(layout.primary.as_str()));
    let paths = bundle_paths(spec).join(" ");
    let message = shell_word(message);
    [
        format!("{git} add -- {paths}"),
        format!("{git} commit -m {message} -- {paths}"),
    ]
}

/// Returns the text as one word of a shell, for commands that a person is shown.
#[must_use]
pub fn shell_word(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/._-+@%".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
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

    #[test]
    fn a_word_stays_one_word_in_a_shell() {
        assert_eq!(shell_word("/a/b-c"), "/a/b-c");
        assert_eq!(shell_word("a b"), "'a b'");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
    }
}
