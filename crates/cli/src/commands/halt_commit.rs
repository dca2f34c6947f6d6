//! The commit of what a step parked, where the key `halt_commit` asks for it (`contract/core.md §14.2`, A-7).
//!
//! It happens after the step, outside of its lock: a kill in between leaves an uncommitted line, which counts at once as
//! well. It never carries a trailer, which would complete the task.

use camino::Utf8Path;
use orchestrate_core::place::{BundleFile, Place};
use orchestrate_core::world::{Reading, World};
use orchestrate_host::commit::{commit_ledger, committed_ledger};
use orchestrate_spec::FormatVersion;
use orchestrate_spec::park::unpark;
use orchestrate_spec::placement::unpark_block;
use orchestrate_tower::preflight::read_bundle;
use orchestrate_tower::sweep::Swept;

use crate::session::Session;

/// Commits what was parked and returns the subject.
///
/// # Errors
/// Why it is not committed, in words; the line is there all the same.
pub(super) fn commit(session: &Session, git: Option<&Utf8Path>, swept: &Swept) -> Result<String, String> {
    let layout = &session.world.repository().layout;
    let base = session
        .world
        .base(session.settings.base_branch.value.as_ref())
        .map_err(|fault| fault.to_string())?;
    let head = committed_ledger(layout, &swept.spec, &base.name)?;
    if !swept.placed.is_empty() || without_parked(session, swept)? != head {
        return Err("something else in that file is not committed".to_owned());
    }
    let git = git.ok_or("git is not on the search path")?;
    let tasks: Vec<&str> = swept.parked.iter().map(|parked| parked.task.as_str()).collect();
    let word = if tasks.len() == 1 { "task" } else { "tasks" };
    let subject = format!(
        "chore({}): park {word} {} — awaiting input",
        swept.spec,
        tasks.join(", ")
    );
    commit_ledger(git, layout, &swept.spec, &subject).map_err(|fault| fault.to_string())?;
    Ok(subject)
}

/// Returns the file as it is, without what this step put there.
fn without_parked(session: &Session, swept: &Swept) -> Result<Vec<u8>, String> {
    let Reading::File { mut bytes, .. } = session
        .world
        .read(&Place::BundleFile(swept.spec.clone(), BundleFile::Tasks))
    else {
        return Err("that file cannot be read any more".to_owned());
    };
    let (bundle, _) =
        read_bundle(&session.world, &swept.spec).map_err(|_| "the bundle cannot be read any more".to_owned())?;
    for parked in swept.parked.iter().rev() {
        bytes = match bundle.version {
            FormatVersion::One => unpark_block(&bytes, &parked.task).map_err(|error| error.to_string())?,
            FormatVersion::Two => unpark(&bytes, &parked.task).map_err(|error| error.to_string())?,
        };
    }
    Ok(bytes)
}
