//! The critical path: what the chains of a graph weigh (`contract/core.md §5.4`).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::graph::{Effort, TaskGraph};
use crate::identifier::TaskId;

impl TaskGraph {
    /// Returns the weight of the heaviest chain that starts at each task, over the tasks not in `terminal`.
    ///
    /// A task inside a cycle contributes its own weight when it is met again: no member of a cycle can ever be
    /// ready, so the value only has to be finite and the same every time.
    #[must_use]
    pub fn critical_weights(&self, terminal: &BTreeSet<TaskId>) -> BTreeMap<TaskId, Effort> {
        let chains = Chains::new(self, terminal);
        let weights = self.tasks.iter().zip(&chains.weights);
        weights
            .filter_map(|(task, weight)| Some((task.id.clone(), (*weight)?)))
            .collect()
    }

    /// Returns the heaviest chain over all tasks, whatever their state (`--critical-path`, §5.4).
    #[must_use]
    pub fn critical_path(&self) -> Vec<TaskId> {
        let everyone: Vec<usize> = (0..self.tasks.len()).collect();
        self.chain(&everyone, &BTreeSet::new())
    }

    /// Returns the heaviest chain of tasks not in `terminal` that begins with `start`.
    #[must_use]
    pub fn heaviest_chain(&self, start: &TaskId, terminal: &BTreeSet<TaskId>) -> Vec<TaskId> {
        let position = self.tasks.iter().position(|task| task.id == *start);
        position.map_or_else(
            || alloc::vec![start.clone()],
            |position| self.chain(&[position], terminal),
        )
    }

    fn chain(&self, starts: &[usize], terminal: &BTreeSet<TaskId>) -> Vec<TaskId> {
        let chains = Chains::new(self, terminal);
        let mut chain: Vec<TaskId> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut candidates = starts;
        while let Some(next) = chains.heaviest(candidates) {
            if !seen.insert(next) {
                break;
            }
            chain.extend(self.tasks.get(next).map(|task| task.id.clone()));
            candidates = chains.dependents_of(next);
        }
        chain
    }
}

/// Returns the heaviest of the candidates, the earliest of equals.
pub(crate) fn heaviest<'a>(candidates: &'a [TaskId], weights: &BTreeMap<TaskId, Effort>) -> Option<&'a TaskId> {
    let mut best: Option<(&TaskId, Effort)> = None;
    for candidate in candidates {
        let weight = weights.get(candidate).copied().unwrap_or_default();
        if best.is_none_or(|(_, heaviest)| weight > heaviest) {
            best = Some((candidate, weight));
        }
    }
    best.map(|(candidate, _)| candidate)
}

/// The chains of a graph, by the positions of its tasks: comparing ten thousand ids with each other would take seconds.
struct Chains {
    /// For each task the non-terminal tasks that depend on it, in file order.
    dependents: Vec<Vec<usize>>,
    /// The weight of the heaviest chain that begins with the task, of a terminal one none.
    weights: Vec<Option<Effort>>,
}

impl Chains {
    fn new(graph: &TaskGraph, terminal: &BTreeSet<TaskId>) -> Self {
        let positions: BTreeMap<&str, usize> = graph
            .tasks
            .iter()
            .enumerate()
            .map(|(position, task)| (task.id.as_str(), position))
            .collect();
        let mut dependents = alloc::vec![Vec::new(); graph.tasks.len()];
        let is_open: Vec<bool> = graph.tasks.iter().map(|task| !terminal.contains(&task.id)).collect();
        let open = graph.tasks.iter().enumerate().zip(&is_open).filter(|(_, open)| **open);
        for ((position, task), _) in open {
            for dependency in &task.dependencies {
                let known = positions.get(dependency.as_str());
                if let Some(dependents) = known.and_then(|known| dependents.get_mut(*known)) {
                    dependents.push(position);
                }
            }
        }
        let mut chains = Self {
            dependents,
            weights: alloc::vec![None; graph.tasks.len()],
        };
        for (position, _) in is_open.iter().enumerate().filter(|(_, open)| **open) {
            chains.weigh(position, graph);
        }
        chains
    }

    fn dependents_of(&self, position: usize) -> &[usize] {
        self.dependents.get(position).map_or(&[], Vec::as_slice)
    }

    fn weight_of(&self, position: usize) -> Option<Effort> {
        self.weights.get(position).copied().flatten()
    }

    fn set_weight(&mut self, position: usize, weight: Effort) {
        if let Some(slot) = self.weights.get_mut(position) {
            *slot = Some(weight);
        }
    }

    /// Weighs one task and everything that depends on it, without recursion: a chain may be ten thousand long.
    fn weigh(&mut self, start: usize, graph: &TaskGraph) {
        let own = |position: usize| graph.tasks.get(position).map_or(Effort::ONE_DAY, |task| task.effort);
        if self.weight_of(start).is_some() {
            return;
        }
        self.set_weight(start, own(start));
        let mut stack = alloc::vec![(start, 0_usize)];
        while let Some((position, index)) = stack.pop() {
            if let Some(child) = self.dependents_of(position).get(index).copied() {
                stack.push((position, index + 1));
                if self.weight_of(child).is_none() {
                    self.set_weight(child, own(child));
                    stack.push((child, 0));
                }
            } else {
                let weights = self
                    .dependents_of(position)
                    .iter()
                    .filter_map(|child| self.weight_of(*child));
                let longest = weights.max().unwrap_or_default();
                self.set_weight(position, own(position).plus(longest));
            }
        }
    }

    /// Returns the heaviest of the candidates, the earliest of equals.
    fn heaviest(&self, candidates: &[usize]) -> Option<usize> {
        let mut best: Option<(usize, Effort)> = None;
        for candidate in candidates.iter().copied() {
            let weight = self.weight_of(candidate).unwrap_or_default();
            if best.is_none_or(|(_, heaviest)| weight > heaviest) {
                best = Some((candidate, weight));
            }
        }
        best.map(|(candidate, _)| candidate)
    }
}
