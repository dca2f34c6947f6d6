//! What the reverts on base undo: their targets in the graph, and which reverts were undone themselves.
//!
//! A revert counts only for what lies in its own history, so that no message can undo what came after it. So what it
//! undoes never changes, whatever comes later, and may be remembered.

use std::collections::{BTreeSet, BinaryHeap, HashMap};

use orchestrate_core::revert::{Named, NamedCommit, Reverts};

use super::commits::{Id, name};
use super::{Place, Revert};

/// Commits by index, with their parents and their generations: one more than the largest of their parents'.
#[derive(Default)]
pub(super) struct Graph {
    /// The commits, in the order in which they were found.
    pub(super) ids: Vec<Id>,
    /// Their generations.
    pub(super) generations: Vec<u32>,
    index: HashMap<Id, usize>,
    nodes: Vec<Node>,
}

#[derive(Default, Clone)]
struct Node {
    time: i64,
    tree: Id,
    parents: Vec<usize>,
    /// The largest generation of the parents outside of this graph.
    above: u32,
    is_parent: bool,
}

impl Graph {
    /// Returns the index of a commit, which is added if it is not there.
    pub(super) fn index_of(&mut self, id: Id) -> usize {
        let (ids, nodes, generations) = (&mut self.ids, &mut self.nodes, &mut self.generations);
        *self.index.entry(id).or_insert_with(|| {
            ids.push(id);
            nodes.push(Node::default());
            generations.push(0);
            ids.len() - 1
        })
    }

    /// Notes the generation of a parent that is outside of this graph.
    pub(super) fn known_above(&mut self, index: usize, generation: u32) {
        if let Some(node) = self.nodes.get_mut(index) {
            node.above = node.above.max(generation);
        }
    }

    /// Sets what a commit says.
    pub(super) fn set(&mut self, index: usize, (time, tree): (i64, Id), parents: Vec<usize>) {
        for parent in &parents {
            if let Some(node) = self.nodes.get_mut(*parent) {
                node.is_parent = true;
            }
        }
        if let Some(node) = self.nodes.get_mut(index) {
            node.time = time;
            node.tree = tree;
            node.parents = parents;
        }
    }

    /// Returns whether a commit of this graph is a parent of another one.
    pub(super) fn is_parent(&self, id: &Id) -> bool {
        let node = self.index.get(id).and_then(|index| self.nodes.get(*index));
        node.is_some_and(|node| node.is_parent)
    }

    /// Returns where a commit stands among all others.
    pub(super) fn place(&self, index: usize) -> Option<Place> {
        Some(Place {
            commit: *self.ids.get(index)?,
            time: self.nodes.get(index)?.time,
            generation: *self.generations.get(index)?,
        })
    }

    /// Returns the parents of a commit of this graph, as far as they are in it.
    pub(super) fn parents_of(&self, id: &Id) -> Option<Vec<Id>> {
        let parents = self.parents(*self.index.get(id)?).iter();
        parents.map(|parent| self.ids.get(*parent).copied()).collect()
    }

    /// Returns the trees before and after a commit of this graph that has exactly one parent, which is in it too.
    pub(super) fn trees_of(&self, id: &Id) -> Option<(Id, Id)> {
        let node = self.nodes.get(*self.index.get(id)?)?;
        let [parent] = node.parents.as_slice() else { return None };
        Some((self.nodes.get(*parent)?.tree, node.tree))
    }

    fn parents(&self, index: usize) -> &[usize] {
        self.nodes
            .get(index)
            .map(|node| node.parents.as_slice())
            .unwrap_or_default()
    }

    fn generation(&self, index: usize) -> u32 {
        self.generations.get(index).copied().unwrap_or_default()
    }

    /// Computes the generations, when all commits are there.
    pub(super) fn set_generations(&mut self) {
        let mut open = Vec::new();
        for start in 0..self.ids.len() {
            open.push(start);
            while let Some(index) = open.last().copied() {
                let missing = |parent: &usize| self.generation(*parent) == 0;
                let waiting: Vec<usize> = self.parents(index).iter().copied().filter(missing).collect();
                if self.generation(index) == 0 && !waiting.is_empty() {
                    open.extend(waiting);
                    continue;
                }
                open.pop();
                let above = self.nodes.get(index).map(|node| node.above).unwrap_or_default();
                let largest = self.parents(index).iter().map(|parent| self.generation(*parent));
                let generation = largest.max().unwrap_or_default().max(above) + 1;
                if let Some(mine) = self.generations.get_mut(index) {
                    *mine = generation;
                }
            }
        }
    }

    /// Returns whether `ancestor` is an ancestor of `descendant`.
    fn reaches(&self, descendant: usize, ancestor: usize) -> bool {
        let floor = self.generation(ancestor);
        let mut seen = BTreeSet::new();
        let mut open = vec![descendant];
        while let Some(index) = open.pop() {
            for parent in self.parents(index) {
                if *parent == ancestor {
                    return true;
                }
                if self.generation(*parent) > floor && seen.insert(*parent) {
                    open.push(*parent);
                }
            }
        }
        false
    }

    /// Returns what one commit holds and another does not. Descendants come before their ancestors, so that what is left
    /// when only hidden ones are open is everything.
    fn beyond(&self, from: usize, hidden: usize) -> Vec<usize> {
        let mut open = BinaryHeap::from([(self.generation(from), from), (self.generation(hidden), hidden)]);
        let mut is_hidden: HashMap<usize, bool> = HashMap::from([(from, false)]);
        is_hidden.insert(hidden, true);
        let mut shown = is_hidden.values().filter(|hidden| !**hidden).count();
        let mut beyond = Vec::new();
        while shown > 0 {
            let Some((_, index)) = open.pop() else { break };
            let hide = is_hidden.get(&index).copied().unwrap_or_default();
            if !hide {
                shown -= 1;
                beyond.push(index);
            }
            for parent in self.parents(index) {
                match is_hidden.get_mut(parent) {
                    None => {
                        is_hidden.insert(*parent, hide);
                        open.push((self.generation(*parent), *parent));
                        shown += usize::from(!hide);
                    }
                    Some(known) if hide && !*known => {
                        *known = true;
                        shown -= 1;
                    }
                    Some(_) => {}
                }
            }
        }
        beyond
    }
}

/// Resolves what messages name; the graph holds all of history.
pub(super) fn resolve(graph: &Graph, reverting: &[(usize, Named)], merges: &[(u64, usize)]) -> Vec<Revert> {
    if reverting.is_empty() {
        return Vec::new();
    }
    let mut sorted: Vec<usize> = (0..graph.ids.len()).collect();
    sorted.sort_by_key(|index| graph.ids.get(*index));
    let resolved = reverting.iter().filter_map(|(by, named)| {
        let mut undoes = BTreeSet::new();
        for commit in &named.commits {
            if let Some(target) = target(graph, &sorted, *by, commit) {
                undoes.extend(undone_with(graph, target, commit.mainline.as_deref()));
            }
        }
        for number in &named.pull_requests {
            let merged = merges
                .iter()
                .filter(|(of, index)| of == number && graph.reaches(*by, *index));
            let places = merged.filter_map(|(_, index)| Some((*index, graph.place(*index)?)));
            // Of several that name the request the oldest is it: others speak of it.
            if let Some((target, _)) = places.max_by(|left, right| Place::newest_first(&left.1, &right.1)) {
                undoes.extend(undone_with(graph, target, None));
            }
        }
        Some(Revert {
            at: graph.place(*by)?,
            undoes: undoes
                .iter()
                .filter_map(|index| graph.ids.get(*index).copied())
                .collect(),
            pull_requests: named.pull_requests.clone(),
        })
    });
    resolved.collect()
}

/// Returns the only commit in the revert's history that the digits name.
fn target(graph: &Graph, sorted: &[usize], by: usize, named: &NamedCommit) -> Option<usize> {
    let digits = named.commit.to_ascii_lowercase();
    let text = |index: &usize| graph.ids.get(*index).map(hex).unwrap_or_default();
    let start = sorted.partition_point(|index| text(index).as_str() < digits.as_str());
    let candidates = sorted
        .get(start..)?
        .iter()
        .take_while(|index| text(index).starts_with(&digits));
    let mut candidates = candidates.filter(|index| graph.reaches(by, **index));
    let target = candidates.next()?;
    candidates.next().is_none().then_some(*target)
}

fn hex(id: &Id) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns what a revert of that commit undoes: it, and what it brought in where it is a merge.
fn undone_with(graph: &Graph, target: usize, mainline: Option<&str>) -> Vec<usize> {
    let parents = graph.parents(target);
    let [first, _, ..] = parents else {
        return vec![target];
    };
    let mainline = mainline.map(str::to_ascii_lowercase);
    let is_mainline = |parent: &&usize| match (&mainline, graph.ids.get(**parent)) {
        (Some(mainline), Some(id)) => hex(id).starts_with(mainline),
        (Some(_) | None, _) => false,
    };
    graph.beyond(target, *parents.iter().find(is_mainline).unwrap_or(first))
}

/// Returns what is undone, by the reverts that stand; they come newest first.
pub(super) fn standing(reverts: &[Revert]) -> Result<Reverts, git2::Error> {
    let mut undone_by: HashMap<Id, Vec<usize>> = HashMap::new();
    let all: std::collections::HashSet<Id> = reverts.iter().map(|revert| revert.at.commit).collect();
    for (index, revert) in reverts.iter().enumerate() {
        for commit in revert.undoes.iter().filter(|commit| all.contains(*commit)) {
            undone_by.entry(*commit).or_default().push(index);
        }
    }
    // What undoes a revert has it in its history: in the order of generations each one is decided before what it undoes.
    let mut order: Vec<usize> = (0..reverts.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(reverts.get(*index).map(|revert| revert.at.generation)));
    let mut stands = vec![true; reverts.len()];
    for index in order {
        let Some(revert) = reverts.get(index) else { continue };
        let by = undone_by.get(&revert.at.commit).map(Vec::as_slice).unwrap_or_default();
        let is_undone = by.iter().any(|by| stands.get(*by).copied().unwrap_or_default());
        if let Some(mine) = stands.get_mut(index) {
            *mine = !is_undone;
        }
    }
    let mut resolved = Reverts::default();
    for (revert, _) in reverts.iter().zip(&stands).filter(|(_, stands)| **stands) {
        let by = name(&revert.at.commit)?;
        for commit in &revert.undoes {
            resolved.commits.entry(name(commit)?).or_insert_with(|| by.clone());
        }
        for number in &revert.pull_requests {
            resolved.pull_requests.entry(*number).or_insert_with(|| by.clone());
        }
    }
    Ok(resolved)
}
