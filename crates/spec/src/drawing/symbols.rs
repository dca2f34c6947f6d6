//! The characters and colours of the terminal drawing.

use crate::drawing::rails::Cell;
use crate::drawing::{Mark, Node, TextStyle};

/// The characters of a drawing.
#[derive(Clone, Copy)]
pub(super) struct Symbols {
    pub(super) ascii: bool,
    pub(super) ellipsis: &'static str,
    pub(super) arrow: &'static str,
    pub(super) dot: &'static str,
}

impl Symbols {
    pub(super) const fn of(style: TextStyle) -> Self {
        if style.ascii {
            Self {
                ascii: true,
                ellipsis: "...",
                arrow: " > ",
                dot: " - ",
            }
        } else {
            Self {
                ascii: false,
                ellipsis: "…",
                arrow: " → ",
                dot: " · ",
            }
        }
    }

    /// Returns what a task looks like. In ASCII it is the first letter of its state.
    pub(super) const fn node(self, mark: Option<Mark>) -> char {
        match (mark, self.ascii) {
            (None, false) | (Some(Mark::Ready), false) => '○',
            (None, true) => 'o',
            (Some(Mark::Landed), false) => '●',
            (Some(Mark::Running | Mark::Submitted | Mark::InProgress | Mark::Dispatched), false) => '◐',
            (Some(Mark::Held), false) => '!',
            (Some(Mark::Unknown), _) => '?',
            (Some(Mark::Blocked), false) => '◌',
            (Some(Mark::Parked), false) => '◇',
            (Some(Mark::Landed), true) => 'L',
            (Some(Mark::Running), true) => 'R',
            (Some(Mark::Submitted), true) => 'S',
            (Some(Mark::InProgress), true) => 'I',
            (Some(Mark::Dispatched), true) => 'D',
            (Some(Mark::Held), true) => 'H',
            (Some(Mark::Ready), true) => 'r',
            (Some(Mark::Blocked), true) => 'b',
            (Some(Mark::Parked), true) => 'p',
        }
    }

    pub(super) const fn line(self, cell: Cell) -> char {
        let arms = (cell.up, cell.down, cell.left, cell.right);
        if self.ascii {
            return match arms {
                (false, false, false, false) => ' ',
                (false, false, _, _) => '-',
                (true, true, false, false) if cell.heavy => '#',
                (true, true, false, false) => '|',
                (true, true, true, true) => '*',
                (false, true, _, _) => '.',
                (true, false, _, _) => '\'',
                (true, true, true, false) | (true, true, false, true) => '+',
            };
        }
        match arms {
            (false, false, false, false) => ' ',
            (true, true, false, false) if cell.heavy => '┃',
            (true, true, false, false) | (true, false, false, false) | (false, true, false, false) => '│',
            (false, false, _, _) => '─',
            (false, true, false, true) => '╭',
            (false, true, true, false) => '╮',
            (true, false, false, true) => '╰',
            (true, false, true, false) => '╯',
            (false, true, true, true) => '┬',
            (true, false, true, true) => '┴',
            (true, true, false, true) => '├',
            (true, true, true, false) => '┤',
            (true, true, true, true) => '┼',
        }
    }
}

/// Returns what a column of a rail looks like.
#[cfg(test)]
pub(super) fn symbol(cell: Cell) -> char {
    Symbols::of(TextStyle {
        width: 80,
        ascii: false,
        color: false,
    })
    .line(cell)
}

/// Colours, where they are wanted. No meaning is in them alone.
pub(super) struct Paint {
    pub(super) on: bool,
}

impl Paint {
    fn write(&self, code: &str, text: &str, out: &mut String) {
        if self.on && !code.is_empty() && !text.trim().is_empty() {
            out.push_str(&format!("\u{1b}[{code}m{text}\u{1b}[0m"));
        } else {
            out.push_str(text);
        }
    }

    pub(super) fn mark(&self, node: &Node, text: &str, out: &mut String) {
        let code = match node.mark {
            Some(Mark::Landed) => "32",
            Some(Mark::Running | Mark::Submitted | Mark::InProgress | Mark::Dispatched) => "36",
            Some(Mark::Held | Mark::Unknown) => "31",
            Some(Mark::Ready) => "33",
            Some(Mark::Blocked | Mark::Parked) => "2",
            None => "",
        };
        self.write(code, text, out);
    }

    pub(super) fn rail(&self, cell: Cell, symbol: char, out: &mut String) {
        let code = if cell.heavy { "1;35" } else { "2" };
        self.write(code, symbol.encode_utf8(&mut [0; 4]), out);
    }

    pub(super) fn critical(&self, node: &Node, text: &str, out: &mut String) {
        self.write(if node.critical { "1" } else { "" }, text, out);
    }
}
