//! How the findings are shown: the count first, then each finding, then what was looked at.

use orchestrate_core::words::count;
use orchestrate_spec::drawing::width::columns;
use serde_json::{Value, json};

use super::finding::{Finding, Mend, Weight};
use super::{Examined, Fixed};
use crate::layout::Style;
use crate::printer::Printer;

/// The indent of what is said of a finding.
const INDENT: &str = "  ";

pub(super) fn print(examined: &[Examined], elsewhere: Option<&str>, style: Style, printer: &mut Printer) {
    printer.line(&headline(examined));
    for check in examined {
        for (finding, fixed) in &check.findings {
            printer.line("");
            let first = format!("{} in {}: ", finding.weight.as_str(), check.name);
            for line in style.hanging(&first, &finding.place, 2 * INDENT.len()) {
                printer.line(&line);
            }
            for line in style.hanging(INDENT, &finding.problem, INDENT.len()) {
                printer.line(&line);
            }
            for line in mend_lines(finding, fixed.as_ref(), style) {
                printer.line(&line);
            }
        }
    }
    printer.line("");
    printer.line("looked at");
    let widest = examined.iter().map(|check| check.name.len()).max().unwrap_or_default();
    for check in examined.iter().filter(|check| !check.skipped) {
        let name = format!("  {:widest$}  {:7}  ", check.name, check.level());
        let indent = columns(&name);
        for line in style.hanging(&name, &check.at, indent) {
            printer.line(&line);
        }
    }
    if examined.iter().any(|check| check.skipped) {
        printer.line("  the other checks need a repository that can be used");
    }
    if let Some(primary) = elsewhere {
        printer.line("");
        for line in style.hanging("", &format!("run the commands in {primary}"), INDENT.len()) {
            printer.line(&line);
        }
    }
}

fn headline(examined: &[Examined]) -> String {
    let left = |weight: Weight| {
        examined
            .iter()
            .flat_map(|check| &check.findings)
            .filter(|(finding, fixed)| finding.weight == weight && !matches!(fixed, Some(Fixed::Done)))
            .count()
    };
    let fixed = examined
        .iter()
        .flat_map(|check| &check.findings)
        .filter(|(_, fixed)| matches!(fixed, Some(Fixed::Done)))
        .count();
    let mut parts: Vec<String> = [Weight::Fault, Weight::Warning, Weight::Note]
        .into_iter()
        .map(|weight| (left(weight), weight.as_str()))
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| count(number, word))
        .collect();
    if left(Weight::Fault) + left(Weight::Warning) == 0 {
        parts.insert(0, "nothing is wrong".to_owned());
    }
    if fixed > 0 {
        parts.push(format!("{fixed} fixed"));
    }
    parts.join(", ")
}

fn mend_lines(finding: &Finding, fixed: Option<&Fixed>, style: Style) -> Vec<String> {
    let what = match &finding.mend {
        Mend::Fix(repair) => repair.describe(),
        Mend::ByHand(_) | Mend::Command { .. } => String::new(),
    };
    match fixed {
        Some(Fixed::Done) => return style.hanging("  fixed: ", &what, 4),
        Some(Fixed::Would) => return style.hanging("  would be fixed: ", &what, 4),
        Some(Fixed::Failed(fault)) => return style.hanging("  not fixed: ", &fault.to_string(), 4),
        None => {}
    }
    let Some(command) = finding.mend.to_run() else {
        return style.hanging("  mend: ", &finding.mend.text(), 4);
    };
    let first = match &finding.mend {
        Mend::Command {
            provided: Some(provided),
            ..
        } => format!("  mend, {provided}: "),
        Mend::Command { provided: None, .. } | Mend::ByHand(_) | Mend::Fix(_) => "  mend: ".to_owned(),
    };
    // A command is never broken, so that it can be copied.
    if columns(&first) + columns(command) <= style.width {
        return vec![format!("{first}{command}")];
    }
    let mut lines = style.hanging("", first.trim_end(), 4);
    if let Some(line) = lines.first_mut() {
        *line = format!("{INDENT}{}", line.trim_start());
    }
    lines.push(format!("    {command}"));
    lines
}

pub(super) fn as_json(examined: &[Examined], primary: Option<&str>) -> Value {
    let checks: Vec<Value> = examined
        .iter()
        .map(|check| json!({ "name": check.name, "level": check.level(), "looked_at": check.at }))
        .collect();
    let findings: Vec<Value> = examined
        .iter()
        .flat_map(|check| check.findings.iter().map(move |found| (check.name, found)))
        .map(|(check, (finding, fixed))| {
            let (outcome, why) = match fixed {
                None => (None, None),
                Some(Fixed::Done) => (Some("fixed"), None),
                Some(Fixed::Would) => (Some("would-be-fixed"), None),
                Some(Fixed::Failed(fault)) => (Some("not-fixed"), Some(fault.to_string())),
            };
            json!({
                "check": check, "weight": finding.weight.as_str(), "place": finding.place,
                "problem": finding.problem, "mend": finding.mend.text(), "command": finding.mend.to_run(),
                "fixable": matches!(finding.mend, Mend::Fix(_)), "outcome": outcome, "why": why,
            })
        })
        .collect();
    json!({ "schema": 1, "checks": checks, "findings": findings, "commands_run_in": primary })
}
