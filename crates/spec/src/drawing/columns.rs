//! The built-in layout of `spec-graph` (`contract/core.md §9.3`): boxes of one size in columns, one column for each
//! layer, in file order. Its numbers are part of the contract.

use crate::drawing::Scene;

/// The width of a box.
pub const BOX_WIDTH: usize = 180;
/// The height of a box.
pub const BOX_HEIGHT: usize = 44;
const COLUMN_GAP: usize = 54;
const ROW_GAP: usize = 22;
const MARGIN: usize = 22;

/// The upper left corner of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// From the left.
    pub x: usize,
    /// From the top.
    pub y: usize,
}

/// Where everything is, in pixels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// The width of the whole.
    pub width: usize,
    /// The height of the whole.
    pub height: usize,
    /// The place of each task, in file order.
    pub places: Vec<Place>,
}

/// Returns the built-in layout of a scene.
#[must_use]
pub fn columns(scene: &Scene) -> Columns {
    let mut rows = vec![0_usize; scene.layers];
    let mut places = Vec::with_capacity(scene.nodes.len());
    for node in &scene.nodes {
        let mut row = 0;
        if let Some(next) = rows.get_mut(node.layer) {
            row = *next;
            *next += 1;
        }
        places.push(Place {
            x: MARGIN + node.layer * (BOX_WIDTH + COLUMN_GAP),
            y: MARGIN + row * (BOX_HEIGHT + ROW_GAP),
        });
    }
    let tallest = rows.into_iter().max().unwrap_or(0);
    Columns {
        width: extent(scene.layers, BOX_WIDTH, COLUMN_GAP),
        height: extent(tallest, BOX_HEIGHT, ROW_GAP),
        places,
    }
}

fn extent(number: usize, size: usize, gap: usize) -> usize {
    2 * MARGIN + number * size + number.saturating_sub(1) * gap
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::tests::scene;

    #[test]
    fn the_numbers_of_the_contract() {
        let alpha = scene(&[
            ("1", &[], "half day"),
            ("2", &["1"], "1 day"),
            ("2.5", &["2"], "3–4 days (grew)"),
            ("3", &["1"], "2 days"),
        ]);
        let columns = columns(&alpha);
        assert_eq!((columns.width, columns.height), (692, 154));
        assert_eq!(columns.places[3], Place { x: 256, y: 88 });
        assert_eq!(columns.places[2], Place { x: 490, y: 22 });
    }

    #[test]
    fn nothing_has_only_margins() {
        let columns = columns(&scene(&[]));
        assert_eq!((columns.width, columns.height), (44, 44));
    }
}
