//! `orchestrate doctor`: a registry of checks, one file each. A check looks and writes nothing; whatever it finds names
//! the command or the edit that mends it.

mod configuration;
mod rule_documents;

use orchestrate_core::exit;
use orchestrate_host::repository::{self, Repository};
use serde_json::json;

use crate::arguments::Format;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::layers::Layers;
use crate::printer::Printer;

/// What a check looks at.
struct Surroundings<'a> {
    layers: &'a Layers<'a>,
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    /// Good to know; the command still ends with 0.
    Note,
    /// Something that somebody wrote does not do what it says, or stops a dispatch.
    Fault,
}

impl Weight {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Fault => "fault",
        }
    }
}

/// Something that a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    weight: Weight,
    /// The file, with `:line` where one line is meant.
    place: String,
    /// What is wrong, as a lowercase fragment.
    problem: String,
    /// The command or edit that mends it.
    mend: String,
}

/// One check.
struct Check {
    /// Its name in the report.
    name: &'static str,
    /// Looks, and returns what it found.
    look: fn(&Surroundings<'_>) -> Vec<Finding>,
}

/// Every check, in the order of the report.
const CHECKS: &[Check] = &[
    Check {
        name: "configuration",
        look: configuration::look,
    },
    Check {
        name: "rule-documents",
        look: rule_documents::look,
    },
];

/// Runs the command and returns its exit code.
pub(crate) fn run(environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    let repository: Option<Repository> = match repository::discover(&environment.directory) {
        Ok(repository) => Some(repository),
        // Outside a repository there is still what lies on this machine to look at.
        Err(_) if repository::top_of(&environment.directory).is_none() => None,
        Err(fault) => return Err(fault.into()),
    };
    let layers = Layers::of_primary(environment, repository.as_ref());
    let surroundings = Surroundings { layers: &layers };
    let found: Vec<(&'static str, Finding)> = CHECKS
        .iter()
        .flat_map(|check| {
            (check.look)(&surroundings)
                .into_iter()
                .map(|finding| (check.name, finding))
        })
        .collect();
    if printer.format() == Format::Json {
        print_json(&found, printer);
    } else {
        print(&found, printer);
    }
    let has_fault = found.iter().any(|(_, finding)| finding.weight == Weight::Fault);
    Ok(if has_fault { exit::FAILED } else { exit::DONE })
}

fn print(found: &[(&'static str, Finding)], printer: &mut Printer) {
    let faults = found
        .iter()
        .filter(|(_, finding)| finding.weight == Weight::Fault)
        .count();
    let notes = found.len().saturating_sub(faults);
    let names: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
    let counted = |count: usize, word: &str| {
        let plural = if count == 1 { "" } else { "s" };
        (count > 0).then(|| format!("{count} {word}{plural}"))
    };
    let counts: Vec<String> = [counted(faults, "fault"), counted(notes, "note")]
        .into_iter()
        .flatten()
        .collect();
    let first = if counts.is_empty() {
        "nothing is wrong".to_owned()
    } else {
        counts.join(", ")
    };
    printer.line(&format!("{first} (looked at: {})", names.join(", ")));
    for (check, finding) in found {
        printer.line("");
        printer.line(&format!("{} in {check}: {}", finding.weight.as_str(), finding.place));
        printer.line(&format!("  {}", finding.problem));
        printer.line(&format!("  mend: {}", finding.mend));
    }
}

fn print_json(found: &[(&'static str, Finding)], printer: &mut Printer) {
    let findings: Vec<serde_json::Value> = found
        .iter()
        .map(|(check, finding)| {
            json!({
                "check": check, "weight": finding.weight.as_str(), "place": finding.place,
                "problem": finding.problem, "mend": finding.mend,
            })
        })
        .collect();
    let checks: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
    printer.json(&json!({ "schema": 1, "checks": checks, "findings": findings }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_a_name_of_its_own() {
        for (index, check) in CHECKS.iter().enumerate() {
            assert!(
                CHECKS[index + 1..].iter().all(|other| other.name != check.name),
                "{}",
                check.name
            );
        }
    }
}
