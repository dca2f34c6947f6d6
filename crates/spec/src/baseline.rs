//! What a bundle may not lose against an earlier state of it (`contract/core.md §2.4`).

use std::collections::BTreeSet;

use orchestrate_core::identifier::{SpecId, printable};

use crate::check::Check;
use crate::diagnostic::{Findings, Spot};
use crate::header::Lookup;
use crate::source::Source;
use crate::text::Document;
use crate::{BundleFile, BundleFiles, ChangelogEntry, Diagnostic, Requirement, Status};
use crate::{changelog, design, mirror, requirements, source, task_heading};

/// Returns what a bundle has lost against an earlier state of it, in the order of the format's validator; a file that the
/// earlier state does not have is [`FileText::Missing`](crate::FileText::Missing) in it. `reference` is the name of the
/// git ref that holds the earlier state. [`examine`](crate::examine()) says the rest.
#[must_use]
pub fn compare_with_baseline(
    spec: &SpecId,
    now: &BundleFiles,
    baseline: &BundleFiles,
    reference: &str,
) -> Vec<Diagnostic> {
    // What is wrong with either state by itself is said elsewhere, or was the earlier state's affair.
    let mut ignored = Findings::default();
    let (now, baseline) = (source::read(now, &mut ignored), source::read(baseline, &mut ignored));
    let (now, baseline) = (now.sources(&mut ignored), baseline.sources(&mut ignored));
    let status = mirror::status_of(&now);
    let mut comparison = Comparison {
        reference: printable(reference),
        findings: Findings::default(),
    };
    let [old_requirements, old_design, old_tasks, _old_tests] = &baseline;
    let [requirements, design, tasks, _tests] = &now;
    comparison.check_status(old_requirements, requirements, &mirror::status_text(&now));

    let current = requirements::read(requirements.body(), &mut ignored);
    let entries = changelog::read(requirements.body());
    let known: BTreeSet<&str> = current.iter().map(|requirement| requirement.id.as_str()).collect();
    for id in requirements::ids_anywhere(&comparison.whole_text(old_requirements)) {
        if !known.contains(id.as_str()) {
            let help = "restore it under its `## REQ-` heading; to replace it, mark it `**Superseded-by: REQ-<id>**`";
            comparison.removed(Check::RequirementRemoved, BundleFile::Requirements, &id, help);
        }
    }
    let superseded_before: BTreeSet<String> = requirements::read(old_requirements.body(), &mut ignored)
        .into_iter()
        .filter(|requirement| requirement.superseded)
        .map(|requirement| requirement.id)
        .collect();
    if !requirements.is_missing {
        comparison.check_superseded(&current, &superseded_before, &entries);
    }
    let known: BTreeSet<String> = design::ids(&design.text).into_iter().collect();
    for id in design::ids(&comparison.whole_text(old_design)) {
        if !known.contains(&id) {
            let help = "restore it, and amend it in place";
            comparison.removed(Check::DecisionRemoved, BundleFile::Design, &id, help);
        }
    }
    comparison.check_tasks(old_tasks, tasks, &entries);
    comparison.findings.finish(spec, status)
}

struct Comparison {
    reference: String,
    findings: Findings,
}

impl Comparison {
    /// Returns the text in which an earlier state's ids are looked for: with its fences, unless they do not add up.
    fn whole_text<'a>(&mut self, source: &Source<'a>) -> Document<'a> {
        let cause = match source.text.open_fence {
            Some(line) => format!("has a code fence at line {line} that is never closed"),
            None if source.is_refused => "cannot be read, so nothing is known of its code fences".to_owned(),
            None => return source.text,
        };
        let message = format!(
            "{} at {} {cause}; its ids are taken from all of it",
            source.file, self.reference
        );
        let help = "a later commit with balanced fences ends this";
        self.findings.add(Check::BaselineFence, source.spot(), message, help);
        source.text.ignoring_fences()
    }

    fn check_status(&mut self, old: &Source<'_>, now: &Source<'_>, now_text: &str) {
        let before = match old.header.load_bearing("Status") {
            Lookup::Missing => return,
            Lookup::One(entry) => entry.value.as_str(),
            Lookup::Duplicate(_) => {
                let message = format!(
                    "requirements.md at {} has an unparseable Status: declaration; the terminal-status check could not run",
                    self.reference
                );
                let help = "look at that commit: a retired or superseded bundle stays so";
                self.findings.add(Check::BaselineStatus, now.spot(), message, help);
                return;
            }
        };
        let is_terminal = matches!(Status::from_name(before), Some(Status::Retired | Status::Superseded));
        if is_terminal && before != now_text {
            let message = format!(
                "transition out of terminal status (was {before} at {}, now {now_text})",
                self.reference
            );
            let help = format!("restore `**Status:** {before}`; work that goes on is a new bundle");
            self.findings.add(Check::TerminalStatus, now.spot(), message, &help);
        }
    }

    fn removed(&mut self, check: Check, file: BundleFile, id: &str, help: &str) {
        let message = format!(
            "{id} renumbered or removed since {} (stable IDs are never reused)",
            self.reference
        );
        self.findings.add(check, Spot::file(file), message, help);
    }

    fn check_superseded(&mut self, now: &[Requirement], before: &BTreeSet<String>, entries: &[ChangelogEntry]) {
        for requirement in now.iter().filter(|requirement| requirement.superseded) {
            let id = &requirement.id;
            if before.contains(id) || entries.iter().any(|entry| entry.names_requirement(id)) {
                continue;
            }
            let message = format!(
                "{id} newly superseded since {} without a matching Changelog entry (a dated entry that names it)",
                self.reference
            );
            let spot = Spot::span(BundleFile::Requirements, requirement.id_span.clone());
            let help = format!("add `- <YYYY-MM-DD> … {id} …` under `## Changelog`");
            self.findings.add(Check::SupersededUnlogged, spot, message, &help);
        }
    }

    fn check_tasks(&mut self, old: &Source<'_>, now: &Source<'_>, entries: &[ChangelogEntry]) {
        let known: BTreeSet<String> = task_heading::ids(&now.text).iter().map(ToString::to_string).collect();
        let mut seen = BTreeSet::new();
        for id in task_heading::ids(&self.whole_text(old)) {
            let id = id.as_str();
            let is_logged = || entries.iter().any(|entry| entry.names_task(id));
            if known.contains(id) || !seen.insert(id.to_owned()) || is_logged() {
                continue;
            }
            let message = format!(
                "Task {id} renumbered or removed since {} (stable IDs are never reused; retire the task with a dated Changelog entry that names it)",
                self.reference
            );
            let help =
                format!("restore it, or add `- <YYYY-MM-DD> … Task {id} …` under `## Changelog` of requirements.md");
            self.findings
                .add(Check::TaskRemoved, Spot::file(BundleFile::Tasks), message, &help);
        }
    }
}
