//! The commit of a bundle that a person has just signed: exactly its files, by the person's own git.
//!
//! Hooks, signing keys and identities are the person's and are honoured; git may talk to them on this terminal.

use std::time::Duration;

use camino::Utf8Path;
use orchestrate_core::identifier::SpecId;
use orchestrate_core::place::BundleFile;
use orchestrate_core::world::Fault;

use crate::layout::Layout;
use crate::process::{RunOptions, describe_end, run_bounded, run_foreground};

/// Long enough to name five files to the index.
const ADD_TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the paths of the bundle's files, below the top of the checkout.
#[must_use]
pub fn bundle_paths(spec: &SpecId) -> Vec<String> {
    let files = BundleFile::AUTHORED.into_iter().chain([BundleFile::KickoffBrief]);
    files.map(|file| format!("specs/{spec}/{}", file.name())).collect()
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
        return Err(Fault::new(operation, added.message()).with_hint("mend what git says; what was signed is written"));
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
