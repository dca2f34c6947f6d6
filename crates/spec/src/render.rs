//! A bundle to its four texts, in the format's canonical layout.
//!
//! A [`Bundle`] holds what the format gives a meaning to. Prose around it, the dates of reviews and the bodies of test
//! entries are not part of it, so what is written here is a skeleton that reads back as the same bundle.
//!
//! Whether it does is not reasoned about but tried: every text is read back before it is given out, and a value that
//! would come back as another one is refused. So there is no second copy of the parser's rules here.

mod comparison;

use core::fmt::Display;

pub use comparison::difference;
use orchestrate_core::graph::ParkingPlace;
use orchestrate_core::identifier::TaskId;

use crate::{
    Bundle, BundleFiles, BundleTexts, Class, Confidence, Decision, Diagnostic, Examination, FormatVersion, Gate,
    ReferenceBullet, Requirement, Section, Severity, Status, Task, TestEntry, examine,
};

/// Why a bundle has no texts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot write the bundle: the format cannot say {what}")]
pub struct RenderError {
    /// What would read back as something else, or would be refused.
    pub what: String,
}

const PLACES: [ParkingPlace; 3] = [
    ParkingPlace::AwaitingInput,
    ParkingPlace::Deferred,
    ParkingPlace::OutOfScope,
];

const EMPTY: &str = "(none yet)";

/// Returns the four texts of a bundle.
///
/// Read back they give the same bundle, but for the lines and columns at which things stand, and for the order of
/// parked tasks and of gates.
///
/// # Errors
/// When the format cannot say one of its values: a title with a line break, a field with a blank line in it, the
/// successor of a superseded bundle, which is no part of a [`Bundle`].
pub fn render(bundle: &Bundle) -> Result<BundleTexts, RenderError> {
    if bundle.status == Status::Superseded {
        return Err(RenderError {
            what: "which bundle succeeds this one".to_owned(),
        });
    }
    // A gate may be said by the task or the bullet that it belongs to; only the others get a bullet of their own.
    let without = texts(bundle, &[]);
    let said = examined(bundle, &without)
        .bundle
        .map(|read| read.gates)
        .unwrap_or_default();
    let mut left = said.iter().map(comparison::gate).collect::<Vec<_>>();
    let mut own = Vec::new();
    for gate in &bundle.gates {
        let values = comparison::gate(gate);
        match left.iter().position(|other| *other == values) {
            Some(position) => {
                left.swap_remove(position);
            }
            None => own.push(gate),
        }
    }
    let texts = if own.is_empty() { without } else { texts(bundle, &own) };
    match read_back(bundle, &texts) {
        Ok(_) => Ok(texts),
        Err(what) => Err(RenderError { what }),
    }
}

fn examined(bundle: &Bundle, texts: &BundleTexts) -> Examination {
    examine(&bundle.spec, &BundleFiles::from(texts.clone()))
}

/// Reads texts back, and says what in them reads otherwise, or would be refused whatever the bundle's status.
fn read_back(bundle: &Bundle, texts: &BundleTexts) -> Result<(), String> {
    let examination = examined(bundle, texts);
    if let Some(what) = examination.bundle.as_ref().and_then(|read| difference(bundle, read)) {
        return Err(what);
    }
    let is_refused = |finding: &&Diagnostic| finding.severity == Severity::Error && finding.class == Class::Hard;
    match examination.findings.iter().find(is_refused) {
        Some(finding) => Err(format!("it without a finding: {}", finding.message)),
        None => Ok(()),
    }
}

fn texts(bundle: &Bundle, gates: &[&Gate]) -> BundleTexts {
    BundleTexts {
        requirements: requirements(bundle).into_bytes(),
        design: design(bundle).into_bytes(),
        tasks: tasks(bundle, gates).into_bytes(),
        test_spec: test_spec(bundle).into_bytes(),
    }
}

/// Returns the title and the header block of a file, and the blank line behind it.
fn header(bundle: &Bundle, file: &str) -> String {
    let execution = match bundle.version {
        FormatVersion::One => "",
        FormatVersion::Two => "**Execution:** derived — see the status render\n",
    };
    format!(
        "# {} — {file}\n\n**Status:** {}\n**Format-version:** {}\n{execution}\n",
        bundle.title, bundle.status, bundle.version
    )
}

fn requirements(bundle: &Bundle) -> String {
    let mut out = header(bundle, "Requirements");
    out.push_str(&format!("## Goal\n\n{}\n\n", bundle.goal));
    section(
        &mut out,
        "Scope",
        &format!("### In scope\n\n{EMPTY}\n\n### Out of scope\n\n{EMPTY}"),
    );
    let mut group: Option<&str> = None;
    for requirement in &bundle.requirements {
        if group != Some(&requirement.group) {
            if group.is_some() {
                out.push('\n');
            }
            out.push_str(&format!("## {}\n\n", requirement.group));
            group = Some(&requirement.group);
        }
        out.push_str(&requirement_bullet(requirement));
    }
    if group.is_some() {
        out.push('\n');
    }
    let entries: Vec<String> = bundle
        .changelog
        .iter()
        .map(|entry| bullet(&entry.date, &entry.text))
        .collect();
    section(&mut out, "Changelog", entries.concat().trim_end_matches('\n'));
    out.push_str(&format!("## Sources\n\n{EMPTY}\n"));
    out
}

fn requirement_bullet(requirement: &Requirement) -> String {
    bullet(&format!("**{}**", requirement.id), &requirement.text)
}

/// Returns a bullet whose text may go on over several lines. Punctuation stands right behind the head.
fn bullet(head: &str, text: &str) -> String {
    let gap = if text.is_empty() || text.starts_with([':', ',', '.', ';']) {
        ""
    } else {
        " "
    };
    format!("- {head}{gap}{}\n", indented(text))
}

/// Returns the text with every line but the first indented as a bullet's continuation; blank lines stay blank.
fn indented(text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .enumerate()
        .map(|(index, line)| {
            if index == 0 || line.is_empty() {
                line.to_owned()
            } else {
                format!("  {line}")
            }
        })
        .collect();
    lines.join("\n")
}

fn section(out: &mut String, name: &str, body: &str) {
    let body = if body.is_empty() { EMPTY } else { body };
    out.push_str(&format!("## {name}\n\n{body}\n\n"));
}

fn design(bundle: &Bundle) -> String {
    let mut out = header(bundle, "Design");
    let decisions: Vec<String> = bundle.decisions.iter().map(decision).collect();
    out.push_str("## Decision log\n\n");
    out.push_str(if decisions.is_empty() { EMPTY } else { "" });
    out.push_str(&decisions.join("\n\n"));
    out.push('\n');
    out
}

fn decision(decision: &Decision) -> String {
    let origin = decision
        .origin
        .as_ref()
        .map_or(String::new(), |origin| format!(" ({origin})"));
    // A decision that was read has its whole text; one that was made has its fields alone.
    let text = if decision.text.is_empty() {
        format!(
            "**Decision:** {}\n\n**Alternatives considered:** {}\n\n**Chosen because:** {}",
            decision.decision, decision.alternatives, decision.chosen_because
        )
    } else {
        decision.text.clone()
    };
    format!("### {}: {}{origin}\n\n{text}", decision.id, decision.title)
}

fn tasks(bundle: &Bundle, gates: &[&Gate]) -> String {
    let mut out = header(bundle, "Tasks");
    let sections: &[Section] = match bundle.version {
        FormatVersion::One => &[
            Section::ForwardPlan,
            Section::InProgress,
            Section::AwaitingInput,
            Section::Completed,
            Section::Deferred,
            Section::OutOfScope,
        ],
        FormatVersion::Two => &[
            Section::Tasks,
            Section::AwaitingInput,
            Section::Deferred,
            Section::OutOfScope,
        ],
    };
    // The order of the blocks says which of two equal tasks goes first, so it is kept; where that takes it, a section
    // is opened a second time.
    let mut bodies: Vec<(Section, Vec<String>)> = Vec::new();
    for task in &bundle.tasks {
        match bodies.last_mut() {
            Some((section, blocks)) if *section == task.section => blocks.push(block(task)),
            Some(_) | None => bodies.push((task.section, vec![block(task)])),
        }
    }
    for wanted in sections {
        if !bodies.iter().any(|(section, _)| section == wanted) {
            bodies.push((*wanted, Vec::new()));
        }
    }
    if bundle.tasks.is_empty() || is_in_order(&bodies, sections) {
        bodies.sort_by_key(|(section, _)| sections.iter().position(|other| other == section));
    }
    for (section, blocks) in &mut bodies {
        let is_first_of_its_name = !out.contains(&format!("## {}\n", section.name()));
        if let Some(place) = section
            .parking()
            .filter(|place| PLACES.contains(place) && is_first_of_its_name)
        {
            blocks.splice(0..0, bullets(bundle, place, gates));
        }
    }
    for (name, blocks) in bodies {
        let body = blocks.join("\n");
        if name == Section::Preamble {
            out.push_str(&format!("{body}\n"));
        } else {
            section(&mut out, name.name(), body.trim_end_matches('\n'));
        }
    }
    out.truncate(out.trim_end_matches('\n').len());
    out.push('\n');
    out
}

/// Returns whether the blocks stand in sections in the canonical order, so that those without blocks can be put between.
fn is_in_order(bodies: &[(Section, Vec<String>)], sections: &[Section]) -> bool {
    let filled = bodies.iter().filter(|(_, blocks)| !blocks.is_empty());
    let positions: Vec<Option<usize>> = filled
        .map(|(section, _)| sections.iter().position(|other| other == section))
        .collect();
    positions.iter().all(Option::is_some) && positions.is_sorted_by(|left, right| left < right)
}

fn block(task: &Task) -> String {
    let dependencies: Vec<&str> = task.dependencies.iter().map(TaskId::as_str).collect();
    let dependencies = if dependencies.is_empty() {
        "none".to_owned()
    } else {
        dependencies.join(", ")
    };
    let mut out = format!("### Task {} — {}\n\n", task.id, task.title);
    field(&mut out, &"Deliverables", &task.deliverables);
    field(&mut out, &"Done when", &task.done_when);
    field(&mut out, &"Dependencies", &dependencies);
    field(&mut out, &"Citations", &task.citations_text);
    field(&mut out, &"Estimated effort", &task.estimated_effort);
    for annotation in &task.annotations {
        field(&mut out, &annotation.kind.name(), &annotation.text);
    }
    out
}

fn field(out: &mut String, name: &dyn Display, text: &str) {
    out.push_str(&bullet(&format!("**{name}:**"), text));
}

fn bullets(bundle: &Bundle, place: ParkingPlace, gates: &[&Gate]) -> Vec<String> {
    let mut bullets = Vec::new();
    for reference in bundle.parked.iter().filter(|reference| reference.place == place) {
        let own = gates.iter().filter(|gate| belongs_to(gate, reference));
        let continuations: Vec<String> = own.map(|gate| format!("  {}\n", gate_text(gate))).collect();
        let bullet = bullet(&format!("**Task {}**", reference.task), &reference.note);
        bullets.push(format!("{bullet}{}", continuations.concat()));
    }
    if place == ParkingPlace::Deferred {
        let is_free = |gate: &&&Gate| !bundle.parked.iter().any(|reference| belongs_to(gate, reference));
        bullets.extend(gates.iter().filter(is_free).map(|gate| {
            let title = gate
                .title
                .as_ref()
                .map_or("Deferred.".to_owned(), |title| format!("**{title}.**"));
            format!("- {title} {}\n", gate_text(gate))
        }));
    }
    // Bullets of one list stand right below each other.
    if bullets.is_empty() {
        bullets
    } else {
        vec![bullets.concat()]
    }
}

fn belongs_to(gate: &Gate, reference: &ReferenceBullet) -> bool {
    gate.title.as_deref() == Some(format!("Task {}", reference.task).as_str())
}

fn gate_text(gate: &Gate) -> String {
    let confidence = match gate.confidence {
        None => "",
        Some(Confidence::Low) => "Confidence: low. ",
        Some(Confidence::Medium) => "Confidence: medium. ",
        Some(Confidence::High) => "Confidence: high. ",
    };
    format!("{confidence}**Gate:** {}", gate.text)
}

fn test_spec(bundle: &Bundle) -> String {
    let mut out = header(bundle, "Test Spec");
    out.push_str("How each requirement is verified.\n");
    let mut group: Option<&str> = None;
    for entry in &bundle.tests {
        let theme = group_of(bundle, entry).or(group);
        if let Some(theme) = theme.filter(|theme| group != Some(theme)) {
            out.push_str(&format!("\n## {theme}\n"));
        }
        group = theme;
        out.push_str(&format!("\n### {}\n", entry.heading));
    }
    out
}

fn group_of<'a>(bundle: &'a Bundle, entry: &TestEntry) -> Option<&'a str> {
    let id = entry.requirements.first()?;
    bundle.requirement(id).map(|requirement| requirement.group.as_str())
}

#[cfg(test)]
mod tests;
