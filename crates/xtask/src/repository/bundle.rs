//! The bundle of a synthetic repository (`contract/core.md §1`): version 2, status Ready, signed.

use std::fmt::Write as _;

use orchestrate_core::identifier::SpecId;
use orchestrate_spec::{BundleTexts, brief};

use crate::failure::{Context, Result};

/// Returns the bundle's files, each with its path below the root; `dependency` is the text of a task's dependencies.
pub(crate) fn files(spec: &str, tasks: usize, dependency: impl Fn(usize) -> String) -> Result<Vec<(String, String)>> {
    let texts = [
        ("requirements.md", requirements(tasks)),
        ("design.md", design()),
        ("tasks.md", task_list(tasks, dependency)),
        ("test-spec.md", test_spec(tasks)),
    ];
    let brief = ("kickoff-brief.md", kickoff_brief(spec, &texts)?);
    let files = texts.into_iter().chain([brief]);
    Ok(files
        .map(|(name, text)| (format!("specs/{spec}/{name}"), text))
        .collect())
}

/// Returns the brief whose sign-off record is for these texts.
fn kickoff_brief(spec: &str, texts: &[(&str, String); 4]) -> Result<String> {
    let bytes = |index: usize| texts[index].1.clone().into_bytes();
    let texts = BundleTexts {
        requirements: bytes(0),
        design: bytes(1),
        tasks: bytes(2),
        test_spec: bytes(3),
    };
    let spec = SpecId::parse(spec).context(|| "cannot name the bundle".to_owned())?;
    let record = brief::render_sign_off(&spec, &texts, "a made-up bundle has nothing to review")
        .context(|| "cannot sign the bundle".to_owned())?;
    Ok(header("Kickoff brief") + "## 1. Goal\n\nMeasure.\n\n## 8. Sign-off\n\n### 2026-01-01 — Sign-off\n\n" + &record)
}

fn header(title: &str) -> String {
    format!(
        "# Synthetic — {title}\n\n**Status:** Ready\n**Last reviewed:** 2026-01-01\n**Format-version:** 2\n\
         **Execution:** derived — see the status render\n\n"
    )
}

fn requirements(tasks: usize) -> String {
    let mut text = header("Requirements");
    text.push_str(
        "## Goal\n\nGive measurements a bundle of a known size.\n\n## Scope\n\n### In scope\n\n- Measuring.\n\n\
         ### Out of scope\n\n- Everything else.\n\n## REQ-A — Parts\n\n",
    );
    for task in 1..=tasks {
        let _infallible = writeln!(
            text,
            "- **REQ-A1.{task}** Part {task} holds what it held before.\n  *(Cites: D-1.)*"
        );
    }
    text.push_str("\n## Changelog\n\n- 2026-01-01 Written.\n\n## Sources\n\n- None.\n");
    text
}

fn design() -> String {
    header("Design")
        + "## Decision log\n\n### D-1: One file for each part\n\n**Decision:** Each part is one file.\n\n\
           **Alternatives considered:** One file for all parts.\n\n**Chosen because:** Parts then change alone.\n"
}

fn task_list(tasks: usize, dependency: impl Fn(usize) -> String) -> String {
    let mut text = header("Tasks") + "## Tasks\n\n";
    for task in 1..=tasks {
        let _infallible = write!(
            text,
            "### Task {task} — Part {task}\n\n- **Deliverables:** src/part-{task}.txt, and its place in the list of\n  \
             parts that the reader sees first.\n- **Done when:** the file holds its revision and REQ-A1.{task} holds.\n\
             - **Dependencies:** {}\n- **Citations:** REQ-A1.{task}, D-1\n- **Estimated effort:** {}\n\n",
            dependency(task),
            if task % 3 == 0 { "half day" } else { "1 day" },
        );
    }
    text + "## Awaiting input\n\n(none yet)\n\n## Deferred\n\n(none yet)\n\n## Out of scope\n\n(none yet)\n"
}

/// Returns what the task waits for: an open task of an odd place needs a landed one, one of an even place its
/// neighbour, so that some are ready and some blocked.
pub(super) fn dependency(task: usize, tasks: usize) -> String {
    let landed = tasks / 2;
    if task == 1 {
        "none".to_owned()
    } else if task > landed && task % 2 == 1 && landed > 0 {
        (task - landed).to_string()
    } else {
        (task - 1).to_string()
    }
}

fn test_spec(tasks: usize) -> String {
    let mut text = header("Test spec") + "Every part is read once.\n\n## REQ-A — Parts\n\n";
    for task in 1..=tasks {
        let _infallible = writeln!(text, "### REQ-A1.{task} — Part {task} [test]\n\nRead it and compare.\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use orchestrate_spec::brief::Freshness;
    use orchestrate_spec::{Status, parse_bundle};

    use super::*;

    #[test]
    fn some_tasks_are_ready_and_some_are_blocked() {
        let dependencies: Vec<String> = (1..=8).map(|task| dependency(task, 8)).collect();
        assert_eq!(dependencies, ["none", "1", "2", "3", "1", "5", "3", "7"]);
    }

    #[test]
    fn the_bundle_is_valid_and_signed() {
        for tasks in [1, 2, 20, 50] {
            let files = files("synthetic", tasks, |task| dependency(task, tasks)).unwrap();
            let bytes = |index: usize| files[index].1.clone().into_bytes();
            let texts = BundleTexts {
                requirements: bytes(0),
                design: bytes(1),
                tasks: bytes(2),
                test_spec: bytes(3),
            };
            let spec = SpecId::parse("synthetic").unwrap();
            let bundle = parse_bundle(&spec, &texts).unwrap();
            assert_eq!((bundle.status, bundle.tasks.len()), (Status::Ready, tasks));
            let record = brief::parse_sign_off(&spec, &bytes(4)).unwrap();
            assert_eq!(brief::freshness(&record, &texts), Ok(Freshness::Matches));
        }
    }
}
