//! The drawing: one row for the person and one for each task, over the demo's time.

use std::time::Duration;

/// The characters of the drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) waiting: char,
    pub(crate) running: char,
    pub(crate) in_review: char,
    pub(crate) landed: char,
}

/// For terminals that show UTF-8.
pub(crate) const DRAWN: Marks = Marks {
    waiting: '·',
    running: '━',
    in_review: '╌',
    landed: '●',
};
/// For all others.
pub(crate) const PLAIN: Marks = Marks {
    waiting: '.',
    running: '=',
    in_review: '-',
    landed: '*',
};

/// A stretch of time cut into cells, the last of which holds its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) total: Duration,
    pub(crate) cells: usize,
}

impl Scale {
    fn last(self) -> usize {
        self.cells.saturating_sub(1)
    }

    /// Returns the cell that holds the instant.
    fn cell(self, at: Duration) -> usize {
        let last = u128::try_from(self.last()).unwrap_or_default();
        let cell = at.min(self.total).as_nanos() * last / self.total.as_nanos().max(1);
        usize::try_from(cell).unwrap_or_default()
    }

    /// Returns the line of numbers above the rows.
    pub(crate) fn header(self) -> String {
        let end = seconds(self.total);
        format!("0 s{end:>width$}", width = self.cells.saturating_sub(3))
    }
}

/// Returns a time as people read it.
pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// When a task got where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Course {
    pub(crate) dispatched: Duration,
    pub(crate) ended: Duration,
    pub(crate) landed: Duration,
}

/// Returns a task's row. A stretch that is shorter than a cell still gets one, so that none is left out.
pub(crate) fn course_row(course: Course, scale: Scale, marks: Marks) -> String {
    let landed = scale.cell(course.landed).max(2).min(scale.last());
    let dispatched = scale.cell(course.dispatched).min(landed.saturating_sub(2));
    let ended = scale
        .cell(course.ended)
        .max(dispatched + 1)
        .min(landed.saturating_sub(1));
    let mark = |cell: usize| match cell {
        cell if cell < dispatched => marks.waiting,
        cell if cell < ended => marks.running,
        cell if cell < landed => marks.in_review,
        _ => marks.landed,
    };
    (0..=landed).map(mark).collect()
}

/// Returns the person's row: each act's letter in its cell, or in the next free one.
pub(crate) fn acts_row(acts: &[(Duration, char)], scale: Scale) -> String {
    let mut row = vec![' '; scale.cells];
    for (at, letter) in acts {
        let wanted = scale.cell(*at);
        let free = |cell: &usize| row.get(*cell) == Some(&' ');
        let cell = (wanted..scale.cells)
            .find(free)
            .or_else(|| (0..wanted).rev().find(free));
        if let Some(place) = cell.and_then(|cell| row.get_mut(cell)) {
            *place = *letter;
        }
    }
    row.into_iter().collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(dispatched: u64, ended: u64, landed: u64) -> Course {
        let at = Duration::from_millis;
        Course {
            dispatched: at(dispatched),
            ended: at(ended),
            landed: at(landed),
        }
    }

    const SCALE: Scale = Scale {
        total: Duration::from_secs(9),
        cells: 10,
    };

    #[test]
    fn a_row_shows_every_stretch() {
        let row = |course| course_row(course, SCALE, PLAIN);
        assert_eq!(row(course(2000, 5000, 8000)), "..===---*");
        assert_eq!(row(course(2000, 2000, 2000)), "=-*");
        assert_eq!(row(course(8999, 9000, 9000)), ".......=-*");
        assert_eq!(row(course(0, 0, 0)), "=-*");
        assert_eq!(row(course(9000, 9500, 99_000)), ".......=-*");
    }

    #[test]
    fn acts_at_the_same_time_stand_beside_each_other() {
        let at = Duration::from_secs;
        assert_eq!(acts_row(&[(at(1), 's'), (at(4), 'm'), (at(4), 'm')], SCALE), " s  mm");
        assert_eq!(acts_row(&[(at(9), 'm'), (at(9), 'm')], SCALE), "        mm");
        assert_eq!(SCALE.header(), "0 s  9.0 s");
    }
}
