//! What a worker is told: the skill's command where it is installed, else our own text with everything the unit needs.
//!
//! Text of the bundle is data (law L8): it stands in the prompt as a quotation and is never evaluated.

use std::fmt::Write;

use orchestrate_core::identifier::{TaskId, UnitName};
use orchestrate_spec::{Bundle, Task};

/// Returns the command of the installed skill for a unit.
#[must_use]
pub fn skill_command(name: &UnitName) -> String {
    let ids: Vec<&str> = name.unit.tasks().map(TaskId::as_str).collect();
    format!("/execute-task specs/{} {}\n", name.spec, ids.join(" "))
}

/// Returns the whole text: where the worker is, the definitions it works from, and the rules.
#[must_use]
pub fn own_text(bundle: &Bundle, name: &UnitName, rules: &str) -> String {
    let mut text = String::new();
    let tasks: Vec<&Task> = name.unit.tasks().filter_map(|id| bundle.task(id)).collect();
    // Writing to a string cannot fail.
    let _ = write!(text, "# Unit {} of specs/{}\n\n", name.unit, name.spec);
    let _ = writeln!(
        text,
        "Branch `{}`, in this directory, which is the unit's own worktree.",
        name.branch()
    );
    let _ = writeln!(text, "The spec: {}.", bundle.title);
    if !bundle.goal.trim().is_empty() {
        let _ = write!(text, "\n## Goal of the spec\n\n{}\n", bundle.goal.trim());
    }
    for task in &tasks {
        describe_task(&mut text, name, task);
    }
    describe_citations(&mut text, bundle, &tasks);
    let _ = write!(text, "\n{}\n", rules.trim());
    text
}

fn describe_task(text: &mut String, name: &UnitName, task: &Task) {
    let _ = write!(text, "\n## Task {} — {}\n\n", task.id, task.title);
    let _ = writeln!(text, "- **Deliverables:** {}", task.deliverables.trim());
    let _ = writeln!(text, "- **Done when:** {}", task.done_when.trim());
    let _ = writeln!(
        text,
        "- **Completion line:** `Planwright-Task: {}/{}`",
        name.spec, task.id
    );
}

fn describe_citations(text: &mut String, bundle: &Bundle, tasks: &[&Task]) {
    let mut cited: Vec<&String> = tasks.iter().flat_map(|task| &task.citations).collect();
    cited.sort();
    cited.dedup();
    if cited.is_empty() {
        return;
    }
    text.push_str("\n## What the unit cites\n\n");
    for id in cited {
        if let Some(requirement) = bundle.requirement(id) {
            let _ = writeln!(text, "- **{id}** {}", requirement.text.trim());
        } else if let Some(decision) = bundle.decision(id) {
            let _ = writeln!(text, "- **{id}** {}: {}", decision.title, decision.text.trim());
        } else {
            let _ = writeln!(text, "- **{id}** (not defined in this spec)");
        }
    }
}
