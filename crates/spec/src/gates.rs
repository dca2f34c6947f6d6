//! Deferral gates (`contract/core.md §1.11, §9.1`): what must happen before a deferred item is looked at again.

use core::ops::Range;

use orchestrate_core::identifier::{SpecId, TaskId};

use crate::Status;

/// One `**Gate:**` of `tasks.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// The line of the bullet that holds it; the gate's own line when it stands in no bullet.
    pub line: u32,
    /// The line of the `**Gate:**` mark.
    pub mark_line: u32,
    /// Where the mark stands in that line: in characters, counted from 1, the end excluded.
    pub columns: Range<u32>,
    /// The bold title of the bullet, without a period at its end; `None` when it has none.
    pub title: Option<String>,
    /// How sure its author was, where the bullet says so.
    pub confidence: Option<Confidence>,
    /// The gate's text, on one line, without the citations behind it.
    pub text: String,
    /// What the text says to a machine.
    pub condition: GateCondition,
}

/// How sure the author of a deferral was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// `Confidence: low`.
    Low,
    /// `Confidence: medium`.
    Medium,
    /// `Confidence: high`.
    High,
}

/// What a gate's text says to a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateCondition {
    /// Nothing: it is for people.
    Prose,
    /// All of these must hold; at least one.
    All(Vec<Atom>),
    /// It is written as a condition and is none; the texts say why.
    Malformed(Vec<String>),
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Atom {
    /// `task <id> completed`; a task of this bundle.
    TaskCompleted(TaskId),
    /// `spec <id> <status>`; whether there is such a bundle is not known here.
    SpecStatus(SpecId, Status),
    /// `after <date>`, on that day or later.
    After(Date),
}

/// A day of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// The year, of four digits.
    pub year: u16,
    /// The month, 1 to 12.
    pub month: u8,
    /// The day of the month, from 1.
    pub day: u8,
}
