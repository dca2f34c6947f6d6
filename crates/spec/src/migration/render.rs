//! `tasks.md` of format version 2 from the parts of version 1 (`contract/core.md §8.6`).

use super::list::{Block, KEPT, Kept, Line, List, is_empty};
use crate::anchor::sort_key;

/// Returns the file: what stood before the sections, every block by its number, and the sections that stay.
pub(super) fn render(mut list: List<'_>, end: &str) -> Vec<u8> {
    let mut file = File { bytes: Vec::new(), end };
    file.lines(&list.intro);
    file.blank_line();
    file.text("## Tasks");
    list.blocks
        .sort_by_key(|block| block.lines.first().and_then(|line| sort_key(line.raw.text)));
    for block in &list.blocks {
        file.blank_line();
        file.lines(&block.lines);
    }
    if list.blocks.is_empty() {
        file.blank_line();
        file.text("(none yet)");
    }
    for section in KEPT {
        file.blank_line();
        let parked: Vec<&Block<'_>> = list.blocks.iter().filter(|block| block.section == section).collect();
        match list.kept.iter().find(|kept| kept.section == section) {
            Some(kept) => file.section(kept, &parked),
            None => {
                file.text(&format!("## {}", section.name()));
                file.blank_line();
                file.text("(none yet)");
            }
        }
    }
    file.bytes
}

/// Returns the bullet that parks a task whose block stood in a person's section.
fn reference_bullet(block: &Block<'_>) -> String {
    let why = match block.status.as_deref() {
        Some(status) if !status.is_empty() => status.to_owned(),
        Some(_) | None => format!("parked in the v1 \"## {}\" section.", block.section.name()),
    };
    format!(
        "- **Task {}** — {why} *(converted from a relocated v1 task block at the format-version 2 migration.)*",
        block.id
    )
}

/// A file that is being written.
struct File<'a> {
    bytes: Vec<u8>,
    end: &'a str,
}

impl File<'_> {
    fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.extend_from_slice(self.end.as_bytes());
    }

    /// Writes lines as they are; the last one of a file may lack its end.
    fn lines(&mut self, lines: &[Line<'_>]) {
        for line in lines {
            self.bytes.extend_from_slice(line.raw.whole);
            if !line.raw.whole.ends_with(b"\n") {
                self.bytes.extend_from_slice(self.end.as_bytes());
            }
        }
    }

    /// Puts one blank line, where there is none.
    fn blank_line(&mut self) {
        let is_blank = self.bytes.is_empty() || self.bytes.ends_with(b"\n\n") || self.bytes.ends_with(b"\r\n\r\n");
        if !is_blank {
            self.bytes.extend_from_slice(self.end.as_bytes());
        }
    }

    fn section(&mut self, kept: &Kept<'_>, parked: &[&Block<'_>]) {
        self.lines(&[kept.heading]);
        let written = kept
            .lines
            .iter()
            .rposition(|line| !line.raw.is_blank())
            .map_or(0, |last| last + 1);
        let lines = &kept.lines[..written];
        if parked.is_empty() {
            self.lines(lines);
            return;
        }
        if lines.iter().all(is_empty) {
            self.blank_line();
        } else {
            self.lines(lines);
        }
        for block in parked {
            self.text(&reference_bullet(block));
        }
    }
}
