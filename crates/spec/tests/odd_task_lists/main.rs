//! Odd task lists, and the one right answer to each: the tasks with their dependencies, or the refusal with its line.
#![allow(missing_docs, reason = "a test")]

#[path = "../common/mod.rs"]
mod common;
mod dependencies;
mod headings;
mod illustrations;
mod sections;
mod version_1;
mod whole;

use common::{PAYLOAD, bundle_with_tasks, outline, parse, task};
use orchestrate_spec::BundleTexts;

/// The first line of the text behind the header block of `tasks.md`.
const BODY: u32 = 8;

/// `1; 2: 1` for what is read, else each finding's line, counted from the body's first, and code.
fn answer(texts: &BundleTexts) -> String {
    match parse(texts) {
        Ok(bundle) => outline(&bundle),
        Err(found) => {
            let shown = found.iter().map(|finding| {
                let line = finding
                    .line
                    .map_or_else(|| "-".to_owned(), |line| line.saturating_sub(BODY - 1).to_string());
                format!("{line} {}", finding.code)
            });
            format!("refused: {}", shown.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A task list: task 1, then the text, under `## Tasks`. Task 1 fills lines 3 to 10; the text starts at line 12.
fn after_task_1(text: &str) -> String {
    format!("## Tasks\n\n{}{text}\n{PAYLOAD}", task("1", "none"))
}

/// Task 2 with those lines instead of its dependency field, at line 17 and after.
fn dependency_lines(lines: &str) -> String {
    after_task_1(&task("2", "@").replace("- **Dependencies:** @", lines))
}

/// Task 2 under that heading, at line 12.
fn heading(line: &str) -> String {
    after_task_1(&task("2", "1").replace("### Task 2 — title 2", line))
}

fn check(cases: &[(String, &str)]) {
    assert_answers(|text| answer(&bundle_with_tasks(text)), cases);
}

fn assert_answers(answer: impl Fn(&str) -> String, cases: &[(String, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|(text, expected)| (text, *expected, answer(text)))
        .filter(|(_, expected, found)| expected != found)
        .map(|(text, expected, found)| format!("{text}\nexpected {expected}\n   found {found}\n"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
