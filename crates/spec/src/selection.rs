//! What the selector of the format reads of a bundle: `tasks.md` alone (`contract/core.md §5.2, §5.3`).
//!
//! It asks for less than a step does: a draft, a bundle with missing files or with gaps has a task list all the same.
//! What it cannot follow is refused, and so is every line by which a task, a dependency or a parked task could be lost.

use std::collections::BTreeMap;

use orchestrate_core::graph::TaskGraph;
use orchestrate_core::identifier::TaskId;

use crate::bundle::graph_of;
use crate::check::{Check, Origin};
use crate::diagnostic::Findings;
use crate::header::Lookup;
use crate::source::{Source, one};
use crate::{BundleFile, Class, FileText, FormatVersion, Task, tasks};

/// What `tasks.md` says to the selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskFile {
    /// The version that the file's own header declares.
    pub version: FormatVersion,
    /// The tasks and what is parked. Of two blocks with one id the later counts; a dependency may name no task.
    pub graph: TaskGraph,
    /// The names in bullets that look as if they parked a task and park none, as written, in file order.
    pub rejected: Vec<String>,
}

/// Reads `tasks.md` for the selector.
///
/// # Errors
/// Why nothing may be selected from it, as a lowercase fragment.
pub fn task_file(found: &FileText) -> Result<TaskFile, String> {
    let mut findings = Findings::default();
    let content = one(BundleFile::Tasks, found, &mut findings);
    let source = content.source(&mut findings);
    if source.is_missing || source.is_refused {
        return Err(first_refusal(&findings).unwrap_or_else(|| "tasks.md cannot be read".to_owned()));
    }
    if let Some(line) = source.text.open_fence {
        return Err(format!(
            "tasks.md:{line}: a code fence is never closed, so a parked task could be selected"
        ));
    }
    let version = declared_version(&source)?;
    let list = tasks::read(&source, Some(version), &mut findings);
    if let Some(why) = first_refusal(&findings) {
        return Err(why);
    }
    if list.tasks.is_empty() {
        return Err("tasks.md has no task".to_owned());
    }
    Ok(TaskFile {
        version,
        graph: graph_of(version, &last_of_each_id(list.tasks), &list.parked),
        rejected: list.rejected,
    })
}

/// The header of this file decides, not that of `requirements.md` (§5.2).
fn declared_version(source: &Source<'_>) -> Result<FormatVersion, String> {
    match source.header.load_bearing("Format-version") {
        Lookup::One(entry) if entry.value == "1" => Ok(FormatVersion::One),
        Lookup::One(entry) if entry.value == "2" => Ok(FormatVersion::Two),
        Lookup::One(entry) => Err(format!("tasks.md:{}: Format-version is neither 1 nor 2", entry.line)),
        Lookup::Missing => Err("the header of tasks.md has no Format-version".to_owned()),
        Lookup::Duplicate(line) => Err(format!("tasks.md:{line}: Format-version is declared twice")),
    }
}

/// Returns the first finding by which something could be lost. What the format's own validator says is no concern of its
/// selector, but for a map of parked tasks that cannot be read.
fn first_refusal(findings: &Findings) -> Option<String> {
    let is_loss = |check: Check| match check.origin() {
        Origin::Ours(_) => check.class() == Class::Hard,
        Origin::Format(_) => matches!(check, Check::FileMissing | Check::FenceUnknown | Check::ReferenceMap),
    };
    findings.first_of(is_loss)
}

/// A later block takes the earlier one's place, and stands where it stands itself (§5.4).
fn last_of_each_id(tasks: Vec<Task>) -> Vec<Task> {
    let last: BTreeMap<TaskId, u32> = tasks.iter().map(|task| (task.id.clone(), task.line)).collect();
    tasks
        .into_iter()
        .filter(|task| last.get(&task.id) == Some(&task.line))
        .collect()
}
