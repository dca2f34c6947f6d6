//! The commit of what a step parked or put back, where the key `halt_commit` asks for it (`contract/core.md §14.2`, A-7).
//!
//! It happens after the step, outside of its lock: a kill in between leaves an uncommitted line, which counts at once as
//! well. It never carries a trailer, which would complete the task.

use camino::Utf8Path;
use orchestrate_core::place::{BundleFile, Place};
use orchestrate_core::world::{Reading, World};
use orchestrate_host::commit::{commit_ledger, committed_ledger};
use orchestrate_tower::preflight::read_bundle;
use orchestrate_tower::sweep::Swept;

use crate::session::Session;

/// Commits what was parked or put back and returns the subject; nothing where HEAD has the file as it is.
///
/// # Errors
/// Why it is not committed, in words; what was written is there all the same.
pub(super) fn commit(session: &Session, git: Option<&Utf8Path>, swept: &Swept) -> Result<Option<String>, String> {
    let layout = &session.world.repository().layout;
    let base = session
        .world
        .base(session.settings.base_branch.value.as_ref())
        .map_err(|fault| fault.to_string())?;
    let head = committed_ledger(layout, &swept.spec, &base.name)?;
    let tasks = Place::BundleFile(swept.spec.clone(), BundleFile::Tasks);
    let Reading::File { bytes, .. } = session.world.read(&tasks) else {
        return Err("that file cannot be read any more".to_owned());
    };
    if bytes == head {
        return Ok(None);
    }
    let (bundle, _) =
        read_bundle(&session.world, &swept.spec).map_err(|_| "the bundle cannot be read any more".to_owned())?;
    if !swept.placed.is_empty() || swept.before(bundle.version, bytes)? != head {
        return Err("something else in that file is not committed".to_owned());
    }
    let git = git.ok_or("git is not on the search path")?;
    let subject = subject(swept);
    commit_ledger(git, layout, &swept.spec, &subject).map_err(|fault| fault.to_string())?;
    Ok(Some(subject))
}

/// A step that puts a task back parks none.
fn subject(swept: &Swept) -> String {
    let (act, tasks, end): (_, Vec<&str>, _) = if swept.parked.is_empty() {
        let lifted = swept.lifted.iter().map(|lifted| lifted.task.as_str());
        ("unpark", lifted.collect(), "what halted every task has passed")
    } else {
        let parked = swept.parked.iter().map(|parked| parked.task.as_str());
        ("park", parked.collect(), "awaiting input")
    };
    let word = if tasks.len() == 1 { "task" } else { "tasks" };
    format!("chore({}): {act} {word} {} — {end}", swept.spec, tasks.join(", "))
}
