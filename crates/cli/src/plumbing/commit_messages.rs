//! `check-commit-msgs [--max-length N] (<range> | [--marker subject|title] --stdin)` (`contract/core.md §14.4`).

use orchestrate_core::subject::{MarkerRule, faults, is_generated};
use orchestrate_host::messages::subjects;

use super::{FAIL_CLOSED, standard_input};
use crate::arguments::{SubjectKind, SubjectSource};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;

const VERB: &str = "check-commit-msgs";
/// A subject does not conform.
const FOUND: u8 = 1;
/// As much of a subject is shown: it may have any length.
const LONGEST_SHOWN: usize = 100;

/// A subject, and where it comes from.
struct Named {
    place: String,
    text: Vec<u8>,
}

pub(crate) fn run(
    largest: Option<usize>,
    source: &SubjectSource,
    marker: Option<SubjectKind>,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let named = match &source.range {
        Some(range) => of_range(range, environment)?,
        None => of_input()?,
    };
    if named.is_empty() {
        return Err(refuse("there is no subject to look at"));
    }
    let rule = match marker {
        None => MarkerRule::Anywhere,
        Some(SubjectKind::Subject) => MarkerRule::LastToken,
        Some(SubjectKind::Title) => MarkerRule::Nowhere,
    };
    let looked_at: Vec<&Named> = named.iter().filter(|subject| !is_generated(&subject.text)).collect();
    let mut refused = 0_usize;
    for Named { place, text } in &looked_at {
        let found = faults(text, largest, rule);
        refused += usize::from(!found.is_empty());
        for fault in found {
            printer.talk(&format!("{VERB}: {place}: {fault}: {}", shown(text)));
        }
    }
    if refused > 0 {
        let all = looked_at.len();
        printer.talk(&format!("{VERB}: {refused} of {all} subject(s) do not conform"));
        return Ok(FOUND);
    }
    printer.record(&[&format!("{VERB}: {} subject(s) conform", looked_at.len())]);
    Ok(0)
}

fn refuse(why: impl std::fmt::Display) -> Failure {
    Failure::failed(format!("{VERB}: {why}")).with_exit(FAIL_CLOSED)
}

fn of_range(range: &str, environment: &Environment) -> Result<Vec<Named>, Failure> {
    let found = subjects(&environment.directory, range).map_err(|fault| Failure::from(fault).with_exit(FAIL_CLOSED))?;
    let named = |subject: orchestrate_host::messages::CommitSubject| Named {
        place: subject.commit,
        text: subject.text,
    };
    Ok(found.into_iter().map(named).collect())
}

/// Each line is a subject; one carriage return at its end is no part of it, and blank lines are none.
fn of_input() -> Result<Vec<Named>, Failure> {
    let text = standard_input().map_err(refuse)?;
    let lines = text.split(|byte| *byte == b'\n').zip(1_usize..);
    let subjects = lines.filter(|(line, _)| !line.trim_ascii().is_empty());
    let named = |(line, number): (&[u8], usize)| Named {
        place: format!("line {number}"),
        text: line.strip_suffix(b"\r").unwrap_or(line).to_vec(),
    };
    Ok(subjects.map(named).collect())
}

fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut characters = text.chars();
    let mut beginning: String = characters.by_ref().take(LONGEST_SHOWN).collect();
    if characters.next().is_some() {
        beginning.push_str("...");
    }
    beginning
}
