//! Where boxes and lines go: layers from left to right, in each layer the order that lets lines cross little.
//!
//! A line that passes a layer gets a place in it like a box, so that it never runs behind one. Works in whole pixels.

use crate::drawing::{EdgeKind, Scene};

pub(super) const BOX_WIDTH: i64 = 204;
pub(super) const BOX_HEIGHT: i64 = 66;
const COLUMN_GAP: i64 = 62;
const ROW_GAP: i64 = 18;
const PASS_HEIGHT: i64 = 10;
const MARGIN: i64 = 24;

/// Above this many places lines no longer get a place in the layers that they pass.
const MOST_PASSES: usize = 40_000;

/// How often the layers are put in order, and boxes moved towards their neighbours.
const SWEEPS: usize = 6;

/// A point in pixels, the headline not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) x: i64,
    pub(super) y: i64,
}

/// One edge's line.
pub(super) struct Route {
    /// Its position in the scene's edges.
    pub(super) edge: usize,
    pub(super) points: Vec<Point>,
}

/// Where everything goes.
pub(super) struct Arrangement {
    pub(super) width: i64,
    pub(super) height: i64,
    /// The upper left corner of each task's box.
    pub(super) corners: Vec<Point>,
    pub(super) routes: Vec<Route>,
}

/// A box, or the place of a line that passes a layer.
struct Item {
    layer: usize,
    height: i64,
    before: Vec<usize>,
    after: Vec<usize>,
}

/// Returns where everything goes.
pub(super) fn arrange(scene: &Scene) -> Arrangement {
    let mut items: Vec<Item> = scene
        .nodes
        .iter()
        .map(|node| Item {
            layer: node.layer,
            height: BOX_HEIGHT,
            before: Vec::new(),
            after: Vec::new(),
        })
        .collect();
    let chains = chains(scene, &mut items);
    let mut layers: Vec<Vec<usize>> = vec![Vec::new(); scene.layers];
    for (index, item) in items.iter().enumerate() {
        if let Some(layer) = layers.get_mut(item.layer) {
            layer.push(index);
        }
    }
    order(&mut layers, &items);
    let middles = middles(&layers, &items);
    let top = items
        .iter()
        .zip(&middles)
        .map(|(item, middle)| middle - item.height / 2)
        .min()
        .unwrap_or(0);
    let bottom = items
        .iter()
        .zip(&middles)
        .map(|(item, middle)| middle + item.height / 2)
        .max()
        .unwrap_or(0);
    let at = |index: usize| middles.get(index).copied().unwrap_or_default() - top;
    let left = |index: usize| items.get(index).map_or(0, |item| column(item.layer));
    let corners = (0..scene.nodes.len())
        .map(|index| Point {
            x: left(index),
            y: at(index) - BOX_HEIGHT / 2,
        })
        .collect();
    let routes = chains
        .into_iter()
        .map(|(edge, chain)| Route {
            edge,
            points: points(&chain, &left, &at),
        })
        .collect();
    let layers = i64::try_from(scene.layers).unwrap_or(0);
    Arrangement {
        width: 2 * MARGIN + layers * BOX_WIDTH + (layers - 1).max(0) * COLUMN_GAP,
        height: bottom - top,
        corners,
        routes,
    }
}

fn column(layer: usize) -> i64 {
    MARGIN + i64::try_from(layer).unwrap_or(0) * (BOX_WIDTH + COLUMN_GAP)
}

/// Returns for each edge that is drawn the items that its line goes through, and adds an item for each layer passed.
fn chains(scene: &Scene, items: &mut Vec<Item>) -> Vec<(usize, Vec<usize>)> {
    let mut chains = Vec::new();
    let mut passes = 0;
    for (position, edge) in scene.edges.iter().enumerate() {
        let mut chain = vec![edge.from];
        match edge.kind {
            EdgeKind::Implied => continue,
            EdgeKind::Circular => chain.push(edge.to),
            EdgeKind::Direct => {
                let layer = |index: usize| scene.nodes.get(index).map_or(0, |node| node.layer);
                let passed = (layer(edge.from) + 1)..layer(edge.to);
                passes += passed.len();
                if passes <= MOST_PASSES {
                    for layer in passed {
                        chain.push(items.len());
                        items.push(Item {
                            layer,
                            height: PASS_HEIGHT,
                            before: Vec::new(),
                            after: Vec::new(),
                        });
                    }
                }
                chain.push(edge.to);
                for pair in chain.windows(2) {
                    let [before, after] = pair else { continue };
                    if let Some(item) = items.get_mut(*before) {
                        item.after.push(*after);
                    }
                    if let Some(item) = items.get_mut(*after) {
                        item.before.push(*before);
                    }
                }
            }
        }
        chains.push((position, chain));
    }
    chains
}

/// Puts each layer in the order of the middles of what its items are joined with, forwards and backwards.
fn order(layers: &mut [Vec<usize>], items: &[Item]) {
    let mut rank: Vec<i64> = vec![0; items.len()];
    let renumber = |layer: &[usize], rank: &mut [i64]| {
        for (position, index) in (0_i64..).zip(layer) {
            if let Some(place) = rank.get_mut(*index) {
                *place = position * 1024;
            }
        }
    };
    for layer in layers.iter() {
        renumber(layer, &mut rank);
    }
    for sweep in 0..SWEEPS {
        let forwards = sweep % 2 == 0;
        let mut visit = |layer: &mut Vec<usize>| {
            layer.sort_by_cached_key(|index| {
                let neighbours = items
                    .get(*index)
                    .map(|item| if forwards { &item.before } else { &item.after });
                mean(neighbours.map_or(&[], Vec::as_slice), &rank)
                    .unwrap_or_else(|| rank.get(*index).copied().unwrap_or_default())
            });
            renumber(layer, &mut rank);
        };
        if forwards {
            layers.iter_mut().for_each(&mut visit);
        } else {
            layers.iter_mut().rev().for_each(&mut visit);
        }
    }
}

fn mean(indexes: &[usize], values: &[i64]) -> Option<i64> {
    let sum: i64 = indexes.iter().filter_map(|index| values.get(*index)).sum();
    i64::try_from(indexes.len())
        .ok()
        .filter(|number| *number > 0)
        .map(|number| sum / number)
}

/// Returns the height at which the middle of each item is: near its neighbours, without anything overlapping.
fn middles(layers: &[Vec<usize>], items: &[Item]) -> Vec<i64> {
    let mut middles = vec![0_i64; items.len()];
    for layer in layers {
        let wanted = vec![0; layer.len()];
        settle(layer, &wanted, items, &mut middles);
    }
    for sweep in 0..SWEEPS * 2 {
        let forwards = sweep % 2 == 0;
        let mut visit = |layer: &Vec<usize>| {
            let wanted: Vec<i64> = layer
                .iter()
                .map(|index| {
                    let neighbours = items
                        .get(*index)
                        .map(|item| if forwards { &item.before } else { &item.after });
                    mean(neighbours.map_or(&[], Vec::as_slice), &middles)
                        .unwrap_or_else(|| middles.get(*index).copied().unwrap_or_default())
                })
                .collect();
            settle(layer, &wanted, items, &mut middles);
        };
        if forwards {
            layers.iter().for_each(&mut visit);
        } else {
            layers.iter().rev().for_each(&mut visit);
        }
    }
    middles
}

/// Moves a layer's items to where they want to be, as far as their order and their heights let them: half way between
/// what pushing everything down gives and what pushing everything up gives.
fn settle(layer: &[usize], wanted: &[i64], items: &[Item], middles: &mut [i64]) {
    let height = |position: usize| {
        layer
            .get(position)
            .and_then(|index| items.get(*index))
            .map_or(0, |item| item.height)
    };
    let apart = |position: usize| i64::midpoint(height(position), height(position + 1)) + ROW_GAP;
    let mut down = wanted.to_vec();
    for position in 1..down.len() {
        let least = down.get(position - 1).copied().unwrap_or_default() + apart(position - 1);
        if let Some(place) = down.get_mut(position) {
            *place = (*place).max(least);
        }
    }
    let mut up = wanted.to_vec();
    for position in (0..up.len().saturating_sub(1)).rev() {
        let most = up.get(position + 1).copied().unwrap_or_default() - apart(position);
        if let Some(place) = up.get_mut(position) {
            *place = (*place).min(most);
        }
    }
    for (index, (down, up)) in layer.iter().zip(down.iter().zip(&up)) {
        if let Some(middle) = middles.get_mut(*index) {
            *middle = i64::midpoint(*down, *up);
        }
    }
}

/// Returns the points of a line: out of a box on its right, straight through the layers it passes, into a box from the
/// left.
fn points(chain: &[usize], left: &dyn Fn(usize) -> i64, at: &dyn Fn(usize) -> i64) -> Vec<Point> {
    let last = chain.len().saturating_sub(1);
    let mut points = Vec::new();
    for (position, index) in chain.iter().enumerate() {
        let (x, y) = (left(*index), at(*index));
        if position > 0 {
            points.push(Point { x, y });
        }
        if position < last {
            points.push(Point { x: x + BOX_WIDTH, y });
        }
    }
    points
}
