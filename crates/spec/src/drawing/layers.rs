//! Layers: how deep each task stands, which edges close a circle, and which are implied by others.

use crate::drawing::EdgeKind;

/// How many circles are kept to be named.
const NAMED_CIRCLES: usize = 4;

/// Above this many tasks no edge is looked at for being implied: the bits would fill the memory.
const MOST_TASKS_COMPARED: usize = 16_384;

/// What the shape of a graph says, by the positions of its tasks and edges.
pub(super) struct Layering {
    /// For each task the length of the longest chain below it, circles cut open.
    pub(super) layers: Vec<usize>,
    /// For each edge how it is drawn.
    pub(super) kinds: Vec<EdgeKind>,
    /// The first circles that were found.
    pub(super) circles: Vec<Vec<usize>>,
}

impl Layering {
    /// Returns the layering of `count` tasks; an edge is the task waited for, then the one that waits.
    pub(super) fn of(count: usize, edges: &[(usize, usize)]) -> Self {
        let mut incoming: Vec<Vec<(usize, usize)>> = vec![Vec::new(); count];
        for (edge, (from, to)) in edges.iter().enumerate() {
            if let Some(waits_for) = incoming.get_mut(*to) {
                waits_for.push((edge, *from));
            }
        }
        let mut walk = Walk {
            incoming: &incoming,
            visits: vec![Visit::Not; count],
            kinds: vec![EdgeKind::Direct; edges.len()],
            order: Vec::with_capacity(count),
            circles: Vec::new(),
        };
        for task in 0..count {
            walk.from(task);
        }
        let Walk {
            kinds, order, circles, ..
        } = walk;
        let mut layering = Self {
            layers: vec![0; count],
            kinds,
            circles,
        };
        for task in &order {
            let below = incoming.get(*task).into_iter().flatten();
            let deepest = below
                .filter(|(edge, _)| layering.kinds.get(*edge) != Some(&EdgeKind::Circular))
                .filter_map(|(_, from)| layering.layers.get(*from))
                .max()
                .map_or(0, |layer| layer + 1);
            if let Some(layer) = layering.layers.get_mut(*task) {
                *layer = deepest;
            }
        }
        if count <= MOST_TASKS_COMPARED {
            layering.find_implied(&order, &incoming);
        }
        layering
    }

    /// An edge is implied when the task it waits for also stands below another task that is waited for.
    fn find_implied(&mut self, order: &[usize], incoming: &[Vec<(usize, usize)>]) {
        let mut below: Vec<Bits> = vec![Bits::default(); incoming.len()];
        for task in order {
            let mut everything = Bits::default();
            let direct: Vec<(usize, usize)> = incoming
                .get(*task)
                .into_iter()
                .flatten()
                .filter(|(edge, _)| self.kinds.get(*edge) != Some(&EdgeKind::Circular))
                .copied()
                .collect();
            for bits in direct.iter().filter_map(|(_, from)| below.get(*from)) {
                everything.add_all(bits);
            }
            for (edge, from) in &direct {
                if everything.has(*from)
                    && let Some(kind) = self.kinds.get_mut(*edge)
                {
                    *kind = EdgeKind::Implied;
                }
            }
            for (_, from) in direct {
                everything.add(from);
            }
            if let Some(bits) = below.get_mut(*task) {
                *bits = everything;
            }
        }
    }
}

/// A set of small numbers.
#[derive(Clone, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn add(&mut self, number: usize) {
        if self.0.len() <= number / 64 {
            self.0.resize(number / 64 + 1, 0);
        }
        if let Some(word) = self.0.get_mut(number / 64) {
            *word |= 1 << (number % 64);
        }
    }

    fn has(&self, number: usize) -> bool {
        self.0
            .get(number / 64)
            .is_some_and(|word| word & (1 << (number % 64)) != 0)
    }

    fn add_all(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    Not,
    Open,
    Done,
}

/// A walk from each task to what it waits for, in file order and without recursion: a chain may be ten thousand long.
struct Walk<'a> {
    incoming: &'a [Vec<(usize, usize)>],
    visits: Vec<Visit>,
    kinds: Vec<EdgeKind>,
    /// The tasks, each behind everything that it waits for.
    order: Vec<usize>,
    circles: Vec<Vec<usize>>,
}

impl Walk<'_> {
    fn from(&mut self, start: usize) {
        if self.visits.get(start) != Some(&Visit::Not) {
            return;
        }
        let mut path: Vec<(usize, usize)> = Vec::new();
        self.open(start, &mut path);
        while let Some((task, position)) = path.last_mut() {
            let task = *task;
            let Some((edge, from)) = self.incoming.get(task).and_then(|below| below.get(*position)).copied() else {
                path.pop();
                self.set(task, Visit::Done);
                self.order.push(task);
                continue;
            };
            *position += 1;
            match self.visits.get(from) {
                Some(Visit::Not) => self.open(from, &mut path),
                Some(Visit::Open) => self.close_circle(edge, from, &path),
                Some(Visit::Done) | None => {}
            }
        }
    }

    fn open(&mut self, task: usize, path: &mut Vec<(usize, usize)>) {
        self.set(task, Visit::Open);
        path.push((task, 0));
    }

    fn set(&mut self, task: usize, visit: Visit) {
        if let Some(place) = self.visits.get_mut(task) {
            *place = visit;
        }
    }

    fn close_circle(&mut self, edge: usize, from: usize, path: &[(usize, usize)]) {
        if let Some(kind) = self.kinds.get_mut(edge) {
            *kind = EdgeKind::Circular;
        }
        if self.circles.len() < NAMED_CIRCLES {
            let start = path.iter().position(|(task, _)| *task == from).unwrap_or_default();
            self.circles
                .push(path.iter().skip(start).map(|(task, _)| *task).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_circle_is_cut_open_and_named() {
        let layering = Layering::of(4, &[(1, 0), (2, 1), (0, 2), (0, 3), (3, 3)]);
        assert_eq!(layering.circles, [vec![0, 1, 2], vec![3]]);
        assert_eq!(
            layering.kinds,
            [
                EdgeKind::Direct,
                EdgeKind::Direct,
                EdgeKind::Circular,
                EdgeKind::Direct,
                EdgeKind::Circular
            ]
        );
        assert_eq!(layering.layers, [2, 1, 0, 3]);
    }

    /// The tasks below one, by trying every edge again and again.
    fn below(task: usize, edges: &[(usize, usize)]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        loop {
            let size = found.len();
            for (from, to) in edges {
                if *to == task || found.contains(to) {
                    found.insert(*from);
                }
            }
            if found.len() == size {
                return found;
            }
        }
    }

    proptest! {
        #[test]
        fn an_edge_is_implied_when_the_rest_says_the_same(pairs in proptest::collection::btree_set((0usize..9, 0usize..9), 0..24)) {
            let edges: Vec<(usize, usize)> = pairs.into_iter().filter(|(from, to)| from < to).collect();
            let layering = Layering::of(9, &edges);
            for (position, edge) in edges.iter().enumerate() {
                let mut rest = edges.clone();
                rest.remove(position);
                let is_implied = below(edge.1, &rest).contains(&edge.0);
                prop_assert_eq!(layering.kinds[position] == EdgeKind::Implied, is_implied);
                prop_assert!(layering.layers[edge.0] < layering.layers[edge.1]);
            }
        }

        /// Without the edges that close a circle there is none, and there are such edges only where there is one.
        #[test]
        fn circles_are_cut(pairs in proptest::collection::vec((0usize..7, 0usize..7), 0..20)) {
            let layering = Layering::of(7, &pairs);
            for (edge, kind) in pairs.iter().zip(&layering.kinds) {
                if *kind == EdgeKind::Circular {
                    prop_assert!(edge.0 == edge.1 || below(edge.0, &pairs).contains(&edge.1));
                } else {
                    prop_assert!(layering.layers[edge.0] < layering.layers[edge.1]);
                }
            }
        }
    }
}
