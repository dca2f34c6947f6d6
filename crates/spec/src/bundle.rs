//! A whole bundle: four texts in, one value or all its findings out.

use core::fmt;
use std::collections::BTreeMap;

use orchestrate_core::graph::{Effort, Parking, TaskGraph, TaskNode};
use orchestrate_core::identifier::{SpecId, TaskId};

use crate::diagnostic::Findings;
use crate::{BundleFile, Decision, Diagnostic, ReferenceBullet, Requirement, Task};
use crate::{design, mirror, relations, requirements, tasks};

/// The bytes of a bundle's four authored files, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BundleTexts {
    /// `requirements.md`.
    pub requirements: Vec<u8>,
    /// `design.md`.
    pub design: Vec<u8>,
    /// `tasks.md`.
    pub tasks: Vec<u8>,
    /// `test-spec.md`.
    pub test_spec: Vec<u8>,
}

impl BundleTexts {
    /// Returns the files in canonical order.
    #[must_use]
    pub fn files(&self) -> [(BundleFile, &[u8]); 4] {
        [
            (BundleFile::Requirements, &self.requirements),
            (BundleFile::Design, &self.design),
            (BundleFile::Tasks, &self.tasks),
            (BundleFile::TestSpec, &self.test_spec),
        ]
    }
}

/// Where a bundle stands (`contract/core.md §1.2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Not signed; nothing is dispatched from it.
    Draft,
    /// Signed.
    Ready,
    /// Some task has started. Derived, never stored, in format version 2.
    Active,
    /// Every task is finished. Derived, never stored, in format version 2.
    Done,
    /// Given up.
    Retired,
    /// Replaced by another bundle.
    Superseded,
}

impl Status {
    /// Returns the status as it is written in a header block.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Draft => "Draft",
            Self::Ready => "Ready",
            Self::Active => "Active",
            Self::Done => "Done",
            Self::Retired => "Retired",
            Self::Superseded => "Superseded",
        }
    }

    /// Returns the status of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [
            Self::Draft,
            Self::Ready,
            Self::Active,
            Self::Done,
            Self::Retired,
            Self::Superseded,
        ]
        .into_iter()
        .find(|status| status.name() == name)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A well-formed bundle of format version 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// Its name.
    pub spec: SpecId,
    /// Its stored status: `Draft`, `Ready`, `Retired` or `Superseded`.
    pub status: Status,
    /// Its title, without ` — Requirements`; the spec's name when there is no title.
    pub title: String,
    /// The text under `## Goal`, with its line breaks; may be empty.
    pub goal: String,
    /// The requirements, in file order, each id once.
    pub requirements: Vec<Requirement>,
    /// The decisions, in file order, each id once.
    pub decisions: Vec<Decision>,
    /// The tasks, in file order, each id once; every dependency is one of them, and there is no circle.
    pub tasks: Vec<Task>,
    /// The bullets that park tasks, in file order, at most one for each task.
    pub parked: Vec<ReferenceBullet>,
}

impl Bundle {
    /// Returns the task graph.
    #[must_use]
    pub fn graph(&self) -> TaskGraph {
        let tasks = self.tasks.iter().map(|task| TaskNode {
            id: task.id.clone(),
            title: task.title.clone(),
            dependencies: task.dependencies.clone(),
            effort: Effort::parse(&task.estimated_effort),
        });
        let parked: BTreeMap<TaskId, Parking> = self
            .parked
            .iter()
            .map(|bullet| {
                (
                    bullet.task.clone(),
                    Parking {
                        place: bullet.place,
                        note: bullet.note.clone(),
                    },
                )
            })
            .collect();
        TaskGraph {
            tasks: tasks.collect(),
            parked,
        }
    }

    /// Returns the task with that id.
    #[must_use]
    pub fn task(&self, id: &TaskId) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == *id)
    }

    /// Returns the requirement with that id, as in `REQ-A1.2`.
    #[must_use]
    pub fn requirement(&self, id: &str) -> Option<&Requirement> {
        self.requirements.iter().find(|requirement| requirement.id == id)
    }

    /// Returns the decision with that id, as in `D-7`.
    #[must_use]
    pub fn decision(&self, id: &str) -> Option<&Decision> {
        self.decisions.iter().find(|decision| decision.id == id)
    }
}

/// Reads a bundle of format version 2.
///
/// # Errors
/// Everything for which the bundle must not be acted on, by file and line. A bundle of another format version gives that
/// one finding.
pub fn parse_bundle(spec: &SpecId, texts: &BundleTexts) -> Result<Bundle, Vec<Diagnostic>> {
    let mut findings = Findings::new(spec);
    match read(spec, texts, &mut findings) {
        Some(bundle) if findings.is_empty() => Ok(bundle),
        Some(_) | None => Err(findings.into_sorted()),
    }
}

/// Returns the bundle as far as it can be read; it is whole only without findings.
fn read(spec: &SpecId, texts: &BundleTexts, findings: &mut Findings<'_>) -> Option<Bundle> {
    let sources = mirror::decode(texts, findings)?;
    let [requirements_source, design_source, tasks_source, _test_spec] = &sources;
    if !mirror::check_version(requirements_source, findings) {
        return None;
    }
    let status = mirror::check(&sources, findings);
    let body = requirements_source.header.line_count;
    let requirements = requirements::read(&requirements_source.text, body, findings);
    let decisions = design::read(&design_source.text, design_source.header.line_count, findings);
    let list = tasks::read(&tasks_source.text, tasks_source.header.line_count, findings);
    relations::check(&list, findings);
    let title = requirements_source.header.title.as_deref().unwrap_or(spec.as_str());
    Some(Bundle {
        spec: spec.clone(),
        status: status?,
        title: title
            .strip_suffix("Requirements")
            .and_then(|start| start.trim_end().strip_suffix('—'))
            .unwrap_or(title)
            .trim()
            .to_owned(),
        goal: requirements::goal(&requirements_source.text, body),
        requirements,
        decisions,
        tasks: list.tasks,
        parked: list.parked,
    })
}
