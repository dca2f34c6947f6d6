//! Drawings of a task graph: for a terminal ([`text`]), for Graphviz ([`dot`]), Mermaid ([`mermaid`]) and a browser ([`svg`]).
//!
//! Everything is drawn from one [`Scene`], which is a function of the graph and of what is known of its tasks: the same
//! input gives the same bytes. A scene also takes graphs that no bundle may have, with circles and with dependencies on
//! tasks that do not exist, because a person who looks for the mistake wants to see it. Owns no state.

mod columns;
mod dot;
mod layers;
mod mermaid;
mod rails;
mod svg;
mod symbols;
mod text;
pub mod width;

use std::collections::{BTreeMap, BTreeSet};

pub use columns::{BOX_HEIGHT, BOX_WIDTH, Columns, Place, columns};
pub use dot::dot;
pub use mermaid::mermaid;

use orchestrate_core::derive::{ProgressKind, SpecState, TaskReport, TaskState};
use orchestrate_core::graph::{Effort, ParkingPlace, TaskGraph};
use orchestrate_core::identifier::TaskId;
pub use svg::svg;
pub use text::{TextStyle, text};

use crate::drawing::layers::Layering;

/// What a task is known to be. The words are those of `status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// On base.
    Landed,
    /// A worker lives.
    Running,
    /// A pull request waits for a person.
    Submitted,
    /// Commits wait to be landed.
    InProgress,
    /// A tower, a marker or a printed command holds it.
    Dispatched,
    /// Something holds it that a person has to decide about.
    Held,
    /// Could not be established.
    Unknown,
    /// Nothing holds it and every dependency has landed.
    Ready,
    /// A dependency has not landed.
    Blocked,
    /// A reference bullet parks it.
    Parked,
}

impl Mark {
    /// Every mark, in the order in which a legend shows them.
    pub const ALL: [Self; 10] = [
        Self::Landed,
        Self::Running,
        Self::Submitted,
        Self::InProgress,
        Self::Dispatched,
        Self::Held,
        Self::Unknown,
        Self::Ready,
        Self::Blocked,
        Self::Parked,
    ];

    /// Returns the state in the words of `status`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Landed => "landed",
            Self::Running => "running",
            Self::Submitted => "submitted",
            Self::InProgress => "in progress",
            Self::Dispatched => "dispatched",
            Self::Held => "held",
            Self::Unknown => "unknown",
            Self::Ready => "ready",
            Self::Blocked => "blocked",
            Self::Parked => "parked",
        }
    }

    /// Returns the name of its class in Mermaid and SVG.
    const fn class(self) -> &'static str {
        match self {
            Self::Landed => "landed",
            Self::Running | Self::Submitted | Self::InProgress | Self::Dispatched => "working",
            Self::Held | Self::Unknown => "held",
            Self::Ready => "ready",
            Self::Blocked => "blocked",
            Self::Parked => "parked",
        }
    }
}

/// Returns the mark of every task of a derived state.
#[must_use]
pub fn marks(state: &SpecState) -> BTreeMap<TaskId, Mark> {
    let mark = |(task, report): (&TaskId, &TaskReport)| {
        let mark = match &report.state {
            TaskState::Landed { .. } => Mark::Landed,
            _ if report.parked.is_some() => Mark::Parked,
            TaskState::InProgress(progress) => match progress.kind {
                ProgressKind::Running => Mark::Running,
                ProgressKind::Submitted => Mark::Submitted,
                ProgressKind::Committed => Mark::InProgress,
                ProgressKind::Claimed => Mark::Dispatched,
                ProgressKind::Ended | ProgressKind::Unreadable | ProgressKind::Reverted => Mark::Held,
            },
            TaskState::Unknown(_) => Mark::Unknown,
            TaskState::Ready => Mark::Ready,
            TaskState::Blocked { .. } => Mark::Blocked,
        };
        (task.clone(), mark)
    };
    state.tasks.iter().map(mark).collect()
}

/// One task of a scene.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its id.
    pub id: TaskId,
    /// Its title, free of whatever would not be seen as it stands there.
    pub title: String,
    /// Its effort.
    pub effort: Effort,
    /// The length of the longest chain of dependencies below it, in tasks.
    pub layer: usize,
    /// It is on the critical path.
    pub critical: bool,
    /// What is known of it. Without a derived state that is what the bundle says: that it is parked, or in format
    /// version 1 in which section it stands.
    pub mark: Option<Mark>,
    /// Where a reference bullet parks it.
    pub parked: Option<ParkingPlace>,
}

/// How an edge is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeKind {
    /// As it is.
    Direct,
    /// Other edges already say that the one task waits for the other.
    Implied,
    /// It closes a circle: neither task can ever be ready.
    Circular,
}

/// One dependency between two tasks of a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The index of the task that is waited for.
    pub from: usize,
    /// The index of the task that waits.
    pub to: usize,
    /// Both are neighbours on the critical path.
    pub critical: bool,
    /// How it is drawn.
    pub kind: EdgeKind,
}

/// A dependency that names no task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The index of the task that waits for it.
    pub task: usize,
    /// What it names.
    pub names: TaskId,
}

/// What is drawn. Indexes are positions in [`Scene::nodes`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scene {
    /// What the drawing is called; free of control characters.
    pub caption: String,
    /// The tasks, in file order, each id once.
    pub nodes: Vec<Node>,
    /// The dependencies, by waiting task in file order, then as written.
    pub edges: Vec<Edge>,
    /// The dependencies on nothing, in the same order.
    pub missing: Vec<Missing>,
    /// The critical path.
    pub critical_path: Vec<usize>,
    /// How many layers the graph has.
    pub layers: usize,
    /// The first circles, each without the repetition of its first task.
    pub circles: Vec<Vec<usize>>,
}

impl Scene {
    /// Returns the scene of a graph. A task without a mark gets the one that the bundle itself gives it, if any.
    #[must_use]
    pub fn new(caption: &str, graph: &TaskGraph, marks: &BTreeMap<TaskId, Mark>) -> Self {
        let mut index: BTreeMap<&TaskId, usize> = BTreeMap::new();
        let mut tasks = Vec::new();
        for task in &graph.tasks {
            if !index.contains_key(&task.id) {
                index.insert(&task.id, tasks.len());
                tasks.push(task);
            }
        }
        let critical_path: Vec<usize> = graph
            .critical_path()
            .iter()
            .filter_map(|id| index.get(id).copied())
            .collect();
        let mut pairs = Vec::new();
        let mut missing = Vec::new();
        for (to, task) in tasks.iter().enumerate() {
            let mut seen = BTreeSet::new();
            for dependency in task.dependencies.iter().filter(|dependency| seen.insert(*dependency)) {
                match index.get(dependency) {
                    Some(from) => pairs.push((*from, to)),
                    None => missing.push(Missing {
                        task: to,
                        names: dependency.clone(),
                    }),
                }
            }
        }
        let layering = Layering::of(tasks.len(), &pairs);
        let follows: BTreeMap<usize, usize> = critical_path
            .windows(2)
            .filter_map(|pair| Some((*pair.first()?, *pair.get(1)?)))
            .collect();
        let edge = |(pair, kind): (&(usize, usize), &EdgeKind)| {
            let critical = follows.get(&pair.0) == Some(&pair.1);
            Edge {
                from: pair.0,
                to: pair.1,
                critical,
                kind: if critical && *kind == EdgeKind::Implied {
                    EdgeKind::Direct
                } else {
                    *kind
                },
            }
        };
        let edges = pairs.iter().zip(&layering.kinds).map(edge).collect();
        let node = |(task, layer): (&&orchestrate_core::graph::TaskNode, &usize)| {
            let parked = graph.parked.get(&task.id).map(|parking| parking.place);
            Node {
                id: task.id.clone(),
                title: width::visible(&task.title),
                effort: task.effort,
                layer: *layer,
                critical: false,
                mark: marks.get(&task.id).copied().or(parked.map(stored)),
                parked,
            }
        };
        let mut nodes: Vec<Node> = tasks.iter().zip(&layering.layers).map(node).collect();
        for position in &critical_path {
            if let Some(node) = nodes.get_mut(*position) {
                node.critical = true;
            }
        }
        Self {
            caption: width::visible(caption),
            layers: layering.layers.iter().max().map_or(0, |deepest| deepest + 1),
            nodes,
            edges,
            missing,
            critical_path,
            circles: layering.circles,
        }
    }

    /// Returns the effort of all tasks together.
    #[must_use]
    pub fn effort(&self) -> Effort {
        sum(self.nodes.iter())
    }

    /// Returns the effort of the critical path: less time than this no number of workers needs.
    #[must_use]
    pub fn critical_effort(&self) -> Effort {
        sum(self.critical_path.iter().filter_map(|index| self.nodes.get(*index)))
    }

    /// Returns the ids of tasks, in the order of the indexes.
    #[must_use]
    pub fn ids(&self, indexes: &[usize]) -> Vec<&TaskId> {
        let id = |index: &usize| self.nodes.get(*index).map(|node| &node.id);
        indexes.iter().filter_map(id).collect()
    }
}

/// Returns what a bundle itself says of a task that is out of selection.
const fn stored(place: ParkingPlace) -> Mark {
    match place {
        ParkingPlace::AwaitingInput | ParkingPlace::Deferred | ParkingPlace::OutOfScope | ParkingPlace::Elsewhere => {
            Mark::Parked
        }
        ParkingPlace::InProgress => Mark::InProgress,
        ParkingPlace::Completed => Mark::Landed,
    }
}

fn sum<'a>(nodes: impl Iterator<Item = &'a Node>) -> Effort {
    Effort::from_milli_days(nodes.fold(0_u64, |sum, node| sum.saturating_add(node.effort.milli_days())))
}

/// Returns an effort as short as a column or a box wants it: `2.5 d`.
fn short_effort(effort: Effort) -> String {
    let text = effort.to_string();
    let number = text.split(' ').next().unwrap_or(&text);
    format!("{number} d")
}

#[cfg(test)]
mod tests;
