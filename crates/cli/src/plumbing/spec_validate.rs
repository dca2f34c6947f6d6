//! `spec-validate [--baseline REF] <specs-root | spec-dir>` and `spec-validate --check-id <identifier>`
//! (`contract/core.md §2.1`).

use orchestrate_core::exit;
use orchestrate_core::identifier::{SpecId, printable};
use orchestrate_spec::{Diagnostic, Severity};

use super::FAIL_CLOSED;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::validation::{Counts, Entry, Target, comparison, counts, validate};

/// The identifier is none, or a finding is an error.
const INVALID: u8 = 1;

pub(crate) fn run(
    check_id: Option<&str>,
    target: &str,
    baseline: Option<&str>,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    if let Some(identifier) = check_id {
        return check(identifier, printer);
    }
    let refuse = |failure: Failure| failure.with_exit(FAIL_CLOSED);
    let shown = target.trim_end_matches('/');
    let directory = environment.directory.join(shown);
    if shown.is_empty() || !directory.is_dir() {
        return Err(Failure::usage(format!(
            "spec-validate: not a directory: {}",
            printable(target)
        )));
    }
    let target = Target {
        directory,
        shown: shown.to_owned(),
        may_be_link: true,
    };
    let comparison = comparison(&target, baseline, environment.git.as_deref()).map_err(refuse)?;
    let entries = validate(&target, comparison.as_ref()).map_err(refuse)?;
    for entry in &entries {
        print(entry, printer);
    }
    let Counts { errors, warnings } = counts(&entries);
    printer.line(&format!("spec-validate: {errors} error(s), {warnings} warning(s)"));
    Ok(if errors == 0 { exit::DONE } else { INVALID })
}

/// Says whether the text is a spec's name. It is never printed.
fn check(identifier: &str, printer: &mut Printer) -> Result<u8, Failure> {
    if SpecId::parse(identifier).is_ok() {
        return Ok(exit::DONE);
    }
    printer.talk("spec-validate: the identifier is no spec name (a-z, 0-9 and '-', at most 64, not starting with '-')");
    Ok(INVALID)
}

fn print(entry: &Entry, printer: &mut Printer) {
    match entry {
        Entry::Bundle(bundle) => {
            for finding in &bundle.examination.findings {
                let severity = match finding.severity {
                    Severity::Error => "ERROR",
                    Severity::Warning => "WARN",
                };
                let message = message(finding);
                printer.line(&format!("spec-validate: {severity} {}: {message}", bundle.spec));
            }
        }
        Entry::Refused(refused) => {
            printer.line(&format!("spec-validate: ERROR {}: {}", refused.name, refused.why));
        }
    }
}

/// Returns the format's own message as it is; a finding of ours, which the reference does not know, with its place.
fn message(finding: &Diagnostic) -> String {
    if finding.is_of_the_format() {
        return finding.message.clone();
    }
    match finding.line {
        Some(line) => format!("{}:{line}: {}", finding.file, finding.message),
        None => format!("{}: {}", finding.file, finding.message),
    }
}
