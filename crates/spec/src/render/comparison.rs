//! Whether two bundles say the same: all values, whatever the lines at which they stand.

use crate::text::Span;
use crate::{Bundle, Decision, Gate, ReferenceBullet, Requirement, Task};

/// Returns what the first bundle says that the second one does not, or the other way round, in the order of the files;
/// nothing when they say the same. Lines, columns, and the order of parked tasks and of gates say nothing.
#[must_use]
pub fn difference(left: &Bundle, right: &Bundle) -> Option<String> {
    let whole = [
        ("the name of the spec", left.spec == right.spec),
        ("the format version", left.version == right.version),
        ("the status", left.status == right.status),
        ("the title", left.title == right.title),
        ("the goal", left.goal == right.goal),
    ];
    if let Some((what, _)) = whole.into_iter().find(|(_, is_same)| !is_same) {
        return Some(what.to_owned());
    }
    first(
        &left.requirements,
        &right.requirements,
        "requirement",
        requirement,
        |value| value.id.clone(),
    )
    .or_else(|| {
        first(
            &left.changelog,
            &right.changelog,
            "changelog entry",
            |value| {
                let mut value = value.clone();
                value.line = 0;
                value
            },
            |value| value.date.clone(),
        )
    })
    .or_else(|| {
        first(&left.decisions, &right.decisions, "decision", decision, |value| {
            value.id.clone()
        })
    })
    .or_else(|| first(&left.tasks, &right.tasks, "task", task, |value| value.id.to_string()))
    .or_else(|| {
        let by_task = |bundle: &Bundle| {
            let mut parked = bundle.parked.clone();
            parked.sort_by(|left, right| left.task.cmp(&right.task).then(left.note.cmp(&right.note)));
            parked
        };
        first(
            &by_task(left),
            &by_task(right),
            "the bullet of task",
            reference,
            |value| value.task.to_string(),
        )
    })
    .or_else(|| {
        let sorted = |bundle: &Bundle| {
            let mut gates: Vec<Gate> = bundle.gates.iter().map(gate).collect();
            gates.sort_by(|left, right| (&left.title, &left.text).cmp(&(&right.title, &right.text)));
            gates
        };
        first(&sorted(left), &sorted(right), "the gate", gate, |value| {
            format!("{:?}", value.text)
        })
    })
    .or_else(|| {
        first(
            &left.tests,
            &right.tests,
            "the test entry",
            |value| {
                let mut value = value.clone();
                value.line = 0;
                value
            },
            |value| format!("{:?}", value.heading),
        )
    })
}

/// Returns what the first pair that differs is called.
fn first<T: PartialEq>(
    left: &[T],
    right: &[T],
    kind: &str,
    values: impl Fn(&T) -> T,
    name: impl Fn(&T) -> String,
) -> Option<String> {
    let differs = left
        .iter()
        .zip(right)
        .find(|(left, right)| values(left) != values(right))
        .map(|(left, _)| left);
    let more = if left.len() > right.len() {
        left.get(right.len())
    } else {
        right.get(left.len())
    };
    differs.or(more).map(|value| format!("{kind} {}", name(value)))
}

fn requirement(value: &Requirement) -> Requirement {
    Requirement {
        own_citations: Vec::new(),
        line: 0,
        id_span: Span::default(),
        ..value.clone()
    }
}

/// A decision's text holds its fields: one that was made of its fields alone says the same as one that was read.
fn decision(value: &Decision) -> Decision {
    Decision {
        line: 0,
        id_span: Span::default(),
        text: String::new(),
        ..value.clone()
    }
}

fn task(value: &Task) -> Task {
    let mut value = value.clone();
    value.line = 0;
    value.id_span = Span::default();
    value.own_citations = Vec::new();
    value.dependency_spans = Vec::new();
    value.malformed_for_the_engine = None;
    for annotation in &mut value.annotations {
        annotation.line = 0;
    }
    value
}

fn reference(value: &ReferenceBullet) -> ReferenceBullet {
    ReferenceBullet {
        line: 0,
        last_line: 0,
        task_span: Span::default(),
        ..value.clone()
    }
}

/// Returns a gate's values without its place.
pub(super) fn gate(value: &Gate) -> Gate {
    Gate {
        line: 0,
        mark: Span::default(),
        ..value.clone()
    }
}
