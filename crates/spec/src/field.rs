//! The text of a task's field: its lines joined, and where each part of it stands.

use core::ops::Range;

use crate::text::{Line, Span};

/// The text of a field. Its lines stand in it without the blanks around them, one below the other.
#[derive(Debug, Default)]
pub(crate) struct FieldText<'a> {
    text: String,
    pieces: Vec<Piece<'a>>,
}

/// One line of a field.
#[derive(Debug)]
struct Piece<'a> {
    /// Where it begins in the field's text.
    start: usize,
    number: u32,
    line: &'a str,
    /// Where it begins in its line.
    offset: usize,
}

impl<'a> FieldText<'a> {
    /// Adds a line, of which `tail` is what counts: a part that reaches to the line's end.
    pub(crate) fn push(&mut self, line: &Line<'a>, tail: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.pieces.push(Piece {
            start: self.text.len(),
            number: line.number,
            line: line.text,
            offset: line.text.len() - tail.trim_start().len(),
        });
        self.text.push_str(tail.trim());
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// Returns where parts of the text stand. The parts come in the order of the text, and apart; each span ends with
    /// its line.
    pub(crate) fn spans(&self, parts: impl IntoIterator<Item = Range<usize>>) -> Vec<Span> {
        let mut pieces = self.pieces.iter().peekable();
        let mut current = pieces.next();
        // How many characters of the current line were counted, and up to which byte.
        let (mut characters, mut counted) = (0, 0);
        let mut spans = Vec::new();
        for part in parts {
            while let Some(next) = pieces.next_if(|next| next.start <= part.start) {
                current = Some(next);
                (characters, counted) = (0, 0);
            }
            let Some(piece) = current else { break };
            let mut column = |offset: usize| {
                let offset = (piece.offset + offset.saturating_sub(piece.start)).min(piece.line.trim_end().len());
                characters += piece.line.get(counted..offset).map_or(0, |text| text.chars().count());
                counted = offset.max(counted);
                crate::text::line_number(characters)
            };
            let start = column(part.start);
            spans.push(Span {
                line: piece.number,
                columns: start..column(part.end),
            });
        }
        spans
    }

    /// Returns where one part of the text stands.
    pub(crate) fn span(&self, part: Range<usize>) -> Span {
        self.spans([part]).pop().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Document;

    #[test]
    fn parts_of_a_field_stand_in_their_lines() {
        let text = Document::new("- é **A:**  é1,  2 \n\t 3, é4\n");
        let lines: Vec<Line<'_>> = text.lines().collect();
        let mut field = FieldText::default();
        field.push(&lines[0], "  é1,  2 ");
        field.push(&lines[1], "\t 3, é4");
        assert_eq!(field.as_str(), "é1,  2\n3, é4");
        let parts = ["é1", "2", "3", "é4"].map(|part| {
            let start = field.as_str().find(part).expect("a part");
            start..start + part.len()
        });
        let spans = field.spans(parts.clone());
        let shown: Vec<(u32, Range<u32>)> = spans.iter().map(|span| (span.line, span.columns.clone())).collect();
        assert_eq!(shown, [(1, 13..15), (1, 18..19), (2, 3..4), (2, 6..8)]);
        assert_eq!(field.span(parts[3].clone()), spans[3]);
        assert_eq!(field.span(0..field.as_str().len()).columns, 13..19);
    }
}
