//! The lines of the terminal drawing: one row for each task, in layers, and a rail from each task down to those that
//! wait for it. The critical path is a rail of its own, the leftmost, and always straight.
//!
//! A rail belongs to the task that it comes from, whoever waits for it, so there are as many rails side by side as
//! there are tasks that somebody below still waits for.

use std::collections::BTreeMap;

use crate::drawing::{EdgeKind, Scene};

/// What goes through one column of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Cell {
    pub(super) up: bool,
    pub(super) down: bool,
    pub(super) left: bool,
    pub(super) right: bool,
    /// The rail is the critical path's.
    pub(super) heavy: bool,
    /// The row's task stands here.
    pub(super) node: bool,
}

/// One task's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) node: usize,
    /// Two columns for each lane: the lane, and the gap to its right.
    pub(super) cells: Vec<Cell>,
}

/// The rails of a scene.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rails {
    pub(super) rows: Vec<Row>,
    /// How many columns the widest row takes.
    pub(super) columns: usize,
    /// How many direct dependencies found no room.
    pub(super) undrawn: usize,
}

/// Returns the rails of a scene, side by side in at most so many lanes.
pub(super) fn rails(scene: &Scene, most_lanes: usize) -> Rails {
    let spine = spine(scene);
    let mut layout = Layout::new(scene, &spine, most_lanes.max(2));
    let mut order: Vec<usize> = (0..scene.nodes.len()).collect();
    order.sort_by_key(|index| (scene.nodes.get(*index).map(|node| node.layer), *index));
    let rows: Vec<Row> = order.into_iter().map(|node| layout.row(node)).collect();
    let columns = rows
        .iter()
        .filter_map(|row| row.cells.iter().rposition(|cell| *cell != Cell::default()))
        .max()
        .map_or(0, |last| last + 1);
    Rails {
        rows,
        columns,
        undrawn: layout.undrawn,
    }
}

/// Returns the part of the critical path that goes down from layer to layer: all of it, unless it is in a circle.
fn spine(scene: &Scene) -> Vec<usize> {
    let layer = |index: &usize| scene.nodes.get(*index).map(|node| node.layer);
    let mut spine: Vec<usize> = Vec::new();
    for index in &scene.critical_path {
        if spine.last().is_some_and(|last| layer(last) >= layer(index)) {
            break;
        }
        spine.push(*index);
    }
    if spine.len() > 1 { spine } else { Vec::new() }
}

struct Layout {
    /// For each lane the task whose rail is in it.
    lanes: Vec<Option<usize>>,
    /// For each task how many still wait for its rail.
    waiting: Vec<usize>,
    /// For each task the tasks whose rails lead to it.
    comes_from: Vec<Vec<usize>>,
    /// For each task of the spine the next one.
    spine: BTreeMap<usize, Option<usize>>,
    /// The spine is drawn in the rows from its first task on, up to its last.
    spine_is_open: bool,
    /// The lane of the task in the row above. A task stands right below another only where it waits for it.
    above: Option<usize>,
    undrawn: usize,
}

impl Layout {
    fn new(scene: &Scene, spine: &[usize], lanes: usize) -> Self {
        let spine: BTreeMap<usize, Option<usize>> = spine
            .iter()
            .enumerate()
            .map(|(position, task)| (*task, spine.get(position + 1).copied()))
            .collect();
        let mut waiting = vec![0; scene.nodes.len()];
        let mut comes_from = vec![Vec::new(); scene.nodes.len()];
        let direct = scene.edges.iter().filter(|edge| edge.kind == EdgeKind::Direct);
        for edge in direct.filter(|edge| spine.get(&edge.from) != Some(&Some(edge.to))) {
            if let (Some(count), Some(list)) = (waiting.get_mut(edge.from), comes_from.get_mut(edge.to)) {
                *count += 1;
                list.push(edge.from);
            }
        }
        Self {
            lanes: vec![None; lanes],
            waiting,
            comes_from,
            spine,
            spine_is_open: false,
            above: None,
            undrawn: 0,
        }
    }

    fn row(&mut self, node: usize) -> Row {
        let before = self.lanes.clone();
        let spine_before = self.spine_is_open;
        let next = self.spine.get(&node).copied();
        let mut joined = Vec::new();
        let mut ended = Vec::new();
        for from in self.comes_from.get(node).cloned().unwrap_or_default() {
            let Some(lane) = before.iter().position(|source| *source == Some(from)) else {
                self.undrawn += 1;
                continue;
            };
            joined.push(lane);
            if let Some(waiting) = self.waiting.get_mut(from) {
                *waiting = waiting.saturating_sub(1);
                if *waiting == 0 {
                    ended.push(lane);
                }
            }
        }
        for lane in &ended {
            self.put(*lane, None);
        }
        let own = match next {
            Some(_) => Some(0),
            // Where a rail ends here, the task goes on in its lane; else it gets the first one that is free.
            None => ended.iter().min().copied().or_else(|| self.free(&before)),
        };
        let stands = own.unwrap_or_else(|| {
            let beside = self.lanes.len();
            beside + usize::from(self.above == Some(beside))
        });
        let mut out = None;
        if self.waiting.get(node).is_some_and(|waiting| *waiting > 0) {
            out = if next.is_some() { self.free(&before) } else { own };
            if let Some(lane) = out {
                self.put(lane, Some(node));
            }
        }
        if let Some(next) = next {
            self.spine_is_open = next.is_some();
        }
        let mut cells = vec![Cell::default(); self.lanes.len() * 2 + 4];
        self.draw_rails(&before, spine_before, &mut cells);
        joined.extend(out.filter(|lane| *lane != stands));
        draw_branches(stands, &joined, &mut cells);
        if let Some(cell) = cells.get_mut(stands * 2) {
            cell.node = true;
            cell.heavy |= next.is_some();
        }
        self.above = Some(stands);
        Row { node, cells }
    }

    /// Returns the first lane that nothing is in, neither above this row nor below it; lane 0 belongs to the spine.
    fn free(&self, before: &[Option<usize>]) -> Option<usize> {
        let first = usize::from(!self.spine.is_empty());
        let is_free = |(lane, above): &(usize, &Option<usize>)| {
            let is_empty = above.is_none() && self.lanes.get(*lane) == Some(&None);
            *lane >= first && is_empty && self.above != Some(*lane)
        };
        before.iter().enumerate().find(is_free).map(|(lane, _)| lane)
    }

    fn put(&mut self, lane: usize, task: Option<usize>) {
        if let Some(place) = self.lanes.get_mut(lane) {
            *place = task;
        }
    }

    fn draw_rails(&self, before: &[Option<usize>], spine_before: bool, cells: &mut [Cell]) {
        for (lane, (above, below)) in before.iter().zip(&self.lanes).enumerate() {
            if let Some(cell) = cells.get_mut(lane * 2) {
                cell.up = above.is_some();
                cell.down = below.is_some();
            }
        }
        if let Some(cell) = cells.first_mut().filter(|_| spine_before || self.spine_is_open) {
            cell.up = spine_before;
            cell.down = self.spine_is_open;
            cell.heavy = true;
        }
    }
}

/// Draws the row's level line from the task to each lane that it is joined with. A rail that is only crossed keeps its
/// own line, so that a crossing and a joint never look the same.
fn draw_branches(stands: usize, joined: &[usize], cells: &mut [Cell]) {
    let (Some(first), Some(last)) = (joined.iter().min(), joined.iter().max()) else {
        return;
    };
    let (first, last) = (*first.min(&stands) * 2, *last.max(&stands) * 2);
    let joins = |column: usize| column.is_multiple_of(2) && (column == stands * 2 || joined.contains(&(column / 2)));
    for (column, cell) in cells.iter_mut().enumerate().take(last + 1).skip(first) {
        if joins(column) || !(cell.up || cell.down) {
            cell.left |= column > first;
            cell.right |= column < last;
        }
    }
}
