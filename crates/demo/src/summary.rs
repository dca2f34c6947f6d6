//! The demo's last screen: what landed and when, what the tower left to a person, and where to look.
//!
//! A pure function of the recorded events.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use camino::Utf8PathBuf;
use orchestrate_core::identifier::{CommitId, TaskId};

use crate::event::{DemoEvent, Happening, Landing};
use crate::project::{SCRIPTS, SPEC};
use crate::timeline::{self, Course, Marks, Scale, seconds};

/// Which characters the screen may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symbols {
    /// Lines and dots beyond ASCII.
    Unicode,
    /// ASCII only, for terminals and logs that show nothing else.
    Ascii,
}

/// What happened in a finished demo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoSummary {
    /// Where the repository lies.
    pub directory: Utf8PathBuf,
    /// This program, as the commands on the screen name it.
    pub program: Utf8PathBuf,
    /// The events, by time.
    pub events: Vec<DemoEvent>,
}

/// One landed task.
struct Row {
    label: String,
    course: Course,
    landing: Landing,
    commit: CommitId,
}

/// Where the text of a section starts.
const INDENT: usize = 10;
/// The columns that the legend needs.
const NARROWEST: usize = 76;
/// More columns make lines too long to read.
const WIDEST: usize = 120;

impl DemoSummary {
    /// Returns the last screen, for a terminal of that many columns; every line ends with a line feed.
    ///
    /// Commands and paths are never cut, so that they can be copied; all else fits from 76 columns on.
    #[must_use]
    pub fn render(&self, width: usize, symbols: Symbols) -> String {
        let width = width.clamp(NARROWEST, WIDEST);
        let marks = match symbols {
            Symbols::Unicode => timeline::DRAWN,
            Symbols::Ascii => timeline::PLAIN,
        };
        let rows = self.rows();
        let mut lines = vec![
            format!(
                "{} of {} tasks of {SPEC} landed in {}, in this order:",
                rows.len(),
                SCRIPTS.len(),
                seconds(self.total())
            ),
            String::new(),
        ];
        self.draw(&rows, width, marks, &mut lines);
        lines.push(String::new());
        self.tell_refusals(width, &mut lines);
        self.tell_acts(&rows, width, &mut lines);
        self.tell_commands(&mut lines);
        let mut screen = String::new();
        for line in lines {
            screen.push_str(line.trim_end());
            screen.push('\n');
        }
        match symbols {
            Symbols::Unicode => screen,
            Symbols::Ascii => screen.replace('…', "..."),
        }
    }

    fn total(&self) -> Duration {
        let merges = self
            .events
            .iter()
            .filter(|event| matches!(event.what, Happening::Merged { .. }));
        merges.map(|event| event.at).max().unwrap_or_default()
    }

    /// Returns the landed tasks by the time of their landing.
    fn rows(&self) -> Vec<Row> {
        let mut dispatched: BTreeMap<&TaskId, Duration> = BTreeMap::new();
        let mut ended: BTreeMap<&TaskId, Duration> = BTreeMap::new();
        let mut rows = Vec::new();
        for DemoEvent { at, what } in &self.events {
            match what {
                Happening::Stepped { dispatched: tasks, .. } => {
                    dispatched.extend(tasks.iter().map(|task| (task, *at)));
                }
                Happening::WorkerEnded { task } => {
                    ended.insert(task, *at);
                }
                Happening::Merged { task, landing, commit } => {
                    let title = SCRIPTS
                        .iter()
                        .find(|script| script.task == task.as_str())
                        .map_or("", |script| script.title);
                    let course = Course {
                        dispatched: dispatched.get(task).copied().unwrap_or_default(),
                        ended: ended.get(task).copied().unwrap_or_default(),
                        landed: *at,
                    };
                    let label = format!("{task}  {title}");
                    rows.push(Row {
                        label,
                        course,
                        landing: *landing,
                        commit: commit.clone(),
                    });
                }
                Happening::Made { .. }
                | Happening::Refused { .. }
                | Happening::Signed { .. }
                | Happening::Acknowledged { .. } => {}
            }
        }
        rows
    }

    fn draw(&self, rows: &[Row], width: usize, marks: Marks, lines: &mut Vec<String>) {
        let label = rows
            .iter()
            .map(|row| row.label.chars().count())
            .max()
            .unwrap_or_default();
        let landing = |row: &Row| format!("{} {}", row.landing.name(), row.commit.short());
        let right = rows
            .iter()
            .map(|row| landing(row).chars().count())
            .max()
            .unwrap_or_default();
        let cells = width.saturating_sub(2 + label + 2 + 2 + right).max(12);
        let scale = Scale {
            total: self.total(),
            cells,
        };
        lines.push(format!("  {:label$}  {}", "", scale.header()));
        let acts = timeline::acts_row(&self.acts(), scale);
        lines.push(format!("  {:label$}  {acts}", "   a person"));
        for row in rows {
            let drawn = timeline::course_row(row.course, scale, marks);
            lines.push(format!("  {:label$}  {drawn:cells$}  {}", row.label, landing(row)));
        }
        lines.push(String::new());
        let Marks {
            waiting,
            running,
            in_review,
            landed,
        } = marks;
        lines.push(format!(
            "  {waiting} waits  {running} worker runs  {in_review} waits for review  {landed} landed    s signs  m merges"
        ));
    }

    fn acts(&self) -> Vec<(Duration, char)> {
        let letter = |what: &Happening| match what {
            Happening::Signed { .. } => Some('s'),
            Happening::Merged { .. } => Some('m'),
            Happening::Made { .. }
            | Happening::Refused { .. }
            | Happening::Stepped { .. }
            | Happening::WorkerEnded { .. }
            | Happening::Acknowledged { .. } => None,
        };
        self.events
            .iter()
            .filter_map(|event| letter(&event.what).map(|letter| (event.at, letter)))
            .collect()
    }

    fn tell_refusals(&self, width: usize, lines: &mut Vec<String>) {
        lines.push("what the tower refused to do".to_owned());
        let (mut steps, mut seen) = (0, BTreeSet::new());
        for event in &self.events {
            match &event.what {
                Happening::Refused { exit, lines: printed } => {
                    steps += 1;
                    let first = printed.first().map_or("", String::as_str);
                    let text = format!("the spec was a draft, so it stopped with exit {exit}: \"{first}\"");
                    lines.extend(paragraph("sign", &text, width));
                }
                Happening::Stepped { in_review, .. } => {
                    steps += 1;
                    seen.extend(in_review);
                }
                Happening::Made { .. }
                | Happening::Signed { .. }
                | Happening::WorkerEnded { .. }
                | Happening::Merged { .. }
                | Happening::Acknowledged { .. } => {}
            }
        }
        let text = format!(
            "it saw {} finished branches and left them to a person; main stood still in all {steps} of its steps",
            seen.len()
        );
        lines.extend(paragraph("merge", &text, width));
        lines.push(String::new());
    }

    fn tell_acts(&self, rows: &[Row], width: usize, lines: &mut Vec<String>) {
        lines.push("what a person did (played by the demo)".to_owned());
        for event in &self.events {
            if let Happening::Signed { anchor, commit } = &event.what {
                let text = format!(
                    "specs/{SPEC} after {}, anchor {}…, commit {}",
                    seconds(event.at),
                    anchor.get(..7).unwrap_or(anchor),
                    commit.short()
                );
                lines.extend(paragraph("signed", &text, width));
            }
        }
        let ways: Vec<String> = Landing::ALL
            .iter()
            .map(|landing| (landing, rows.iter().filter(|row| row.landing == *landing).count()))
            .filter(|(_, count)| *count > 0)
            .map(|(landing, count)| format!("{count} by {}", landing.name()))
            .collect();
        let text = format!("{} branches after a review, {}", rows.len(), ways.join(", "));
        lines.extend(paragraph("merged", &text, width));
        lines.push(String::new());
    }

    fn tell_commands(&self, lines: &mut Vec<String>) {
        let program = quoted(self.program.as_str());
        lines.push(format!(
            "the repository lies in {} and is yours; what to try next:",
            self.directory
        ));
        lines.push(format!("  cd {}", quoted(self.directory.as_str())));
        lines.push(format!("  {program} status specs/{SPEC}"));
        lines.push(format!("  {program} specs/{SPEC}"));
        lines.push("  git log --graph --oneline".to_owned());
    }
}

/// Returns a word and a text beside it, wrapped between words. A word longer than a line is not cut.
fn paragraph(word: &str, text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![format!("  {word:width$}", width = INDENT - 2)];
    let mut is_fresh = true;
    for piece in text.split_whitespace() {
        let last = lines.last().map_or(0, |line| line.chars().count());
        if !is_fresh && last + 1 + piece.chars().count() > width {
            lines.push(" ".repeat(INDENT));
            is_fresh = true;
        }
        if let Some(line) = lines.last_mut() {
            if !is_fresh {
                line.push(' ');
            }
            line.push_str(piece);
        }
        is_fresh = false;
    }
    lines
}

/// Returns a word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/._-+:@,=".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests;
