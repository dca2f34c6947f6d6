//! The weights of a graph's chains (`contract/core.md §5.4`).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::graph::{Effort, TaskGraph};
use crate::identifier::TaskId;

/// The chains of a graph, by the positions of its tasks: comparing ten thousand ids with each other would take seconds.
pub(crate) struct Chains {
    /// For each task the non-terminal tasks that depend on it, in file order.
    dependents: Vec<Vec<usize>>,
    /// The weight of the heaviest chain that begins with the task, of a terminal one none.
    pub(crate) weights: Vec<Option<Effort>>,
}

impl Chains {
    pub(crate) fn new(graph: &TaskGraph, terminal: &BTreeSet<TaskId>) -> Self {
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

    pub(crate) fn dependents_of(&self, position: usize) -> &[usize] {
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
    pub(crate) fn heaviest(&self, candidates: &[usize]) -> Option<usize> {
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
