//! `spec-model <dir>` (`contract/core.md §9.3`): everything a bundle says, as records. What cannot be read is missing.

use camino::Utf8Path;
use orchestrate_core::identifier::printable;
use orchestrate_core::words::one_line;
use orchestrate_spec::{Bundle, Decision, FileText, Requirement, Task, examine};

use super::FAIL_CLOSED;
use crate::bundle_directory;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;

pub(crate) fn run(directory: &Utf8Path, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    let target = bundle_directory::at(directory, environment).map_err(|failure| failure.with_exit(FAIL_CLOSED))?;
    let status = status(&target.files.requirements);
    printer.record(&["BUNDLE", target.spec.as_str(), &status]);
    for (file, text) in target.files.files() {
        let presence = match text {
            FileText::Present(_) => "present",
            FileText::Missing | FileText::Unreadable(_) => "absent",
        };
        printer.record(&["FILE", file.name(), presence]);
    }
    if let Some(bundle) = examine(&target.spec, &target.files).bundle {
        print(&bundle, printer);
    }
    Ok(0)
}

/// Returns the first status line of the file, wherever it stands: the model is not for acting on.
fn status(requirements: &FileText) -> String {
    let FileText::Present(bytes) = requirements else {
        return "(undeclared)".to_owned();
    };
    let text = String::from_utf8_lossy(bytes);
    let value = text.lines().find_map(|line| line.strip_prefix("**Status:**"));
    value
        .map(str::trim)
        .filter(|value| !value.is_empty())
        .map_or_else(|| "(undeclared)".to_owned(), printable)
}

fn print(bundle: &Bundle, printer: &mut Printer) {
    for requirement in &bundle.requirements {
        print_requirement(requirement, printer);
    }
    for decision in &bundle.decisions {
        print_decision(decision, printer);
    }
    for task in &bundle.tasks {
        print_task(task, printer);
    }
    for id in bundle.tests.iter().flat_map(|entry| &entry.requirements) {
        printer.record(&["TEST", id]);
    }
}

fn print_requirement(requirement: &Requirement, printer: &mut Printer) {
    for cited in &requirement.citations {
        printer.record(&["REQCITE", &requirement.id, cited]);
    }
    let state = if requirement.superseded { "superseded" } else { "live" };
    let text = one_line(&without_marks(&one_line(&requirement.text)));
    printer.record(&["REQ", &requirement.id, &one_line(&requirement.group), state, &text]);
}

/// Returns a requirement's text without its citation and its pointers to what replaces it.
fn without_marks(text: &str) -> String {
    const POINTER: &str = "**Superseded-by:";
    let mut rest = text.split("*(Cites:").next().unwrap_or_default();
    let mut kept = String::new();
    while let Some((before, pointer)) = rest.split_once(POINTER) {
        kept.push_str(before);
        rest = pointer.split_once("**").map_or("", |(_, after)| after);
    }
    kept + rest
}

fn print_decision(decision: &Decision, printer: &mut Printer) {
    let origin = decision.origin.as_deref().unwrap_or_default();
    printer.record(&["DEC", &decision.id, &one_line(origin), &one_line(&decision.title)]);
    let fields = [
        ("decision", &decision.decision),
        ("alternatives", &decision.alternatives),
        ("chosen", &decision.chosen_because),
    ];
    print_fields("DECFIELD", &decision.id, &fields, printer);
}

fn print_task(task: &Task, printer: &mut Printer) {
    let id = task.id.as_str();
    printer.record(&["TASK", id, task.section.name(), &one_line(&task.title)]);
    let fields = [("deliverables", &task.deliverables), ("donewhen", &task.done_when)];
    print_fields("TASKFIELD", id, &fields, printer);
    for dependency in &task.dependencies {
        printer.record(&["TASKDEP", id, dependency.as_str()]);
    }
    for cited in &task.citations {
        printer.record(&["TASKCITE", id, cited]);
    }
    print_fields("TASKFIELD", id, &[("effort", &task.estimated_effort)], printer);
}

fn print_fields(tag: &str, id: &str, fields: &[(&str, &String)], printer: &mut Printer) {
    for (name, text) in fields.iter().filter(|(_, text)| !text.is_empty()) {
        printer.record(&[tag, id, name, &one_line(text)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_without_its_marks() {
        let cases = [
            ("The tool SHALL *(Cites: D-1, REQ-A1.1.)*", "The tool SHALL"),
            ("old **Superseded-by: REQ-A1.2** and more **x**", "old and more **x**"),
            ("old **Superseded-by: REQ-A1.2", "old"),
            ("a\tb\u{1b}\n  c", "a b c"),
        ];
        for (text, expected) in cases {
            assert_eq!(one_line(&without_marks(&one_line(text))), expected, "{text}");
        }
    }

    #[test]
    fn the_first_status_line_wherever_it_is() {
        let present = |text: &str| status(&FileText::Present(text.as_bytes().to_vec()));
        assert_eq!(
            present("# T\n\nbody\n**Status:**  Ready \n**Status:** Draft\n"),
            "Ready"
        );
        assert_eq!(
            [present("x"), present("**Status:**\n")],
            ["(undeclared)", "(undeclared)"]
        );
        assert_eq!(status(&FileText::Missing), "(undeclared)");
    }
}
