//! Deferral gates (`contract/core.md §1.11, §9.1`): what must happen before a deferred item is looked at again.

use core::fmt;
use std::collections::BTreeSet;

use orchestrate_core::identifier::{SpecId, TaskId};

use crate::check::Check;
use crate::diagnostic::{Findings, Spot};
use crate::text::{Line, Span, is_continuation};
use crate::{BundleFile, Date, Status};

/// One `**Gate:**` of `tasks.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// The line of the bullet that holds it; the gate's own line when it stands in no bullet.
    pub line: u32,
    /// The span of the `**Gate:**` mark.
    pub mark: Span,
    /// It stands in a bullet, as it must.
    pub is_in_bullet: bool,
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

impl fmt::Display for Atom {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TaskCompleted(task) => write!(formatter, "task {task} completed"),
            Self::SpecStatus(spec, status) => write!(formatter, "spec {spec} {}", status.name().to_ascii_lowercase()),
            Self::After(date) => write!(formatter, "after {date}"),
        }
    }
}

const MARK: &str = "**Gate:**";

/// Collects the gates while the lines of `tasks.md` go by.
#[derive(Default)]
pub(crate) struct GateReader<'a> {
    bullet: Option<Bullet<'a>>,
    gates: Vec<Gate>,
}

struct Bullet<'a> {
    line: u32,
    parts: Vec<&'a str>,
    mark: Option<Span>,
}

fn mark_of(line: &Line<'_>) -> Option<Span> {
    let start = line.text.find(MARK)?;
    Some(line.span(start..start + MARK.len()))
}

impl<'a> GateReader<'a> {
    /// Takes the next line that is no illustration.
    pub(crate) fn line(&mut self, line: &Line<'a>) {
        if line.text.starts_with("- ") {
            self.end_bullet();
            self.bullet = Some(Bullet {
                line: line.number,
                parts: vec![line.text.strip_prefix("- ").unwrap_or_default()],
                mark: mark_of(line),
            });
        } else if is_continuation(line.text) && self.bullet.is_some() {
            if let Some(bullet) = &mut self.bullet {
                bullet.parts.push(line.text);
                if bullet.mark.is_none() {
                    bullet.mark = mark_of(line);
                }
            }
        } else if !line.text.trim_matches([' ', '\t']).is_empty() {
            self.end_bullet();
            if let Some(mark) = mark_of(line) {
                self.gates.push(loose_gate(line, mark));
            }
        }
    }

    /// Ends the open bullet, as a code fence does.
    pub(crate) fn end_bullet(&mut self) {
        if let Some(bullet) = self.bullet.take()
            && let Some(mark) = bullet.mark
        {
            self.gates.push(gate(bullet.line, &folded(&bullet.parts), mark));
        }
    }

    /// Returns the gates in file order. A structured one that cannot be evaluated is a finding.
    pub(crate) fn finish(mut self, tasks: &BTreeSet<&TaskId>, findings: &mut Findings) -> Vec<Gate> {
        self.end_bullet();
        for gate in &mut self.gates {
            refuse_unknown_tasks(gate, tasks);
            if let GateCondition::Malformed(reasons) = &gate.condition {
                let message = format!("a gate cannot be evaluated: {}", reasons.join("; "));
                findings.add(
                    Check::GateMalformed,
                    Spot::span(BundleFile::Tasks, gate.mark.clone()),
                    message,
                    "write `GATE(when: task <id> completed and spec <id> <status> and after <date>)`, or plain prose after `**Gate:**`",
                );
            }
        }
        self.gates
    }
}

/// Returns the parts as one line with single blanks.
fn folded(parts: &[&str]) -> String {
    let words: Vec<&str> = parts
        .iter()
        .flat_map(|part| part.split([' ', '\t']))
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

fn loose_gate(line: &Line<'_>, mark: Span) -> Gate {
    let gate = gate(line.number, &folded(&[line.text]), mark);
    Gate {
        title: None,
        is_in_bullet: false,
        condition: GateCondition::Malformed(vec!["gate outside a deferral bullet".to_owned()]),
        ..gate
    }
}

fn gate(line: u32, text: &str, mark: Span) -> Gate {
    let (before, after) = text.split_once(MARK).unwrap_or((text, ""));
    let after = after.split_once(" Citations:").map_or(after, |(start, _)| start).trim();
    Gate {
        line,
        mark,
        is_in_bullet: true,
        title: title(text),
        confidence: confidence(before),
        text: after.to_owned(),
        condition: condition(after),
    }
}

/// Returns the text between the first pair of double stars, unless that is the gate's mark.
fn title(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("**")?;
    let (title, _) = rest.split_once("**")?;
    let title = title.strip_suffix('.').unwrap_or(title);
    (title != "Gate:" && !title.is_empty()).then(|| title.to_owned())
}

fn confidence(before: &str) -> Option<Confidence> {
    let says = |word: &str| {
        let label = format!("Confidence: {word}");
        before.match_indices(&label).any(|(start, _)| {
            let next = before[start + label.len()..].chars().next();
            !next.is_some_and(|next| next.is_ascii_lowercase())
        })
    };
    [
        ("low", Confidence::Low),
        ("medium", Confidence::Medium),
        ("high", Confidence::High),
    ]
    .into_iter()
    .find_map(|(word, confidence)| says(word).then_some(confidence))
}

fn condition(text: &str) -> GateCondition {
    let Some(rest) = text.strip_prefix("GATE(when:") else {
        return GateCondition::Prose;
    };
    let malformed = |reason: &str| GateCondition::Malformed(vec![reason.to_owned()]);
    let Some((condition, behind)) = rest.split_once(')') else {
        return malformed("unterminated GATE(when: ...)");
    };
    if !matches!(behind.trim(), "" | ".") {
        return malformed("trailing content after the closing parenthesis");
    }
    if condition.trim().is_empty() {
        return malformed("empty condition");
    }
    let read: Vec<Result<Atom, Refusal>> = condition.split(" and ").map(atom).collect();
    if read.iter().all(|atom| matches!(atom, Err(Refusal::Unrecognised(_)))) {
        return malformed(
            "no atom is in the closed grammar; a condition that it cannot express is written as plain prose after **Gate:**",
        );
    }
    let reasons: Vec<String> = read
        .iter()
        .filter_map(|atom| atom.as_ref().err().map(Refusal::reason))
        .collect();
    if reasons.is_empty() {
        GateCondition::All(read.into_iter().filter_map(Result::ok).collect())
    } else {
        GateCondition::Malformed(reasons)
    }
}

/// Why an atom is none; the text is the atom's.
enum Refusal {
    UnknownTask(String),
    UnknownSpec(String),
    InvalidDate(String),
    Unrecognised(String),
}

impl Refusal {
    fn reason(&self) -> String {
        let (what, atom) = match self {
            Self::UnknownTask(atom) => ("unknown task in atom", atom),
            Self::UnknownSpec(atom) => ("unknown spec in atom", atom),
            Self::InvalidDate(atom) => ("invalid date in atom", atom),
            Self::Unrecognised(atom) => ("unrecognized atom", atom),
        };
        format!("{what}: {}", orchestrate_core::identifier::printable(atom))
    }
}

fn atom(text: &str) -> Result<Atom, Refusal> {
    let text = text.trim();
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    match words[..] {
        ["task", task, "completed"] => TaskId::parse(task)
            .map(Atom::TaskCompleted)
            .map_err(|_| Refusal::UnknownTask(text.to_owned())),
        ["spec", spec, status] => {
            let Some(status) = status_of(status) else {
                return Err(Refusal::Unrecognised(text.to_owned()));
            };
            SpecId::parse(spec)
                .map(|spec| Atom::SpecStatus(spec, status))
                .map_err(|_| Refusal::UnknownSpec(text.to_owned()))
        }
        ["after", date] => Date::parse(date)
            .map(Atom::After)
            .ok_or_else(|| Refusal::InvalidDate(text.to_owned())),
        _ => Err(Refusal::Unrecognised(text.to_owned())),
    }
}

fn status_of(word: &str) -> Option<Status> {
    Status::ALL
        .into_iter()
        .find(|status| word == status.name().to_ascii_lowercase())
}

/// A task atom is about a task of this bundle.
fn refuse_unknown_tasks(gate: &mut Gate, tasks: &BTreeSet<&TaskId>) {
    let GateCondition::All(atoms) = &gate.condition else {
        return;
    };
    let unknown: Vec<String> = atoms
        .iter()
        .filter(|atom| matches!(atom, Atom::TaskCompleted(task) if !tasks.contains(task)))
        .map(|atom| Refusal::UnknownTask(atom.to_string()).reason())
        .collect();
    if !unknown.is_empty() {
        gate.condition = GateCondition::Malformed(unknown);
    }
}

#[cfg(test)]
mod tests;
