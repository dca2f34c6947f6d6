//! What the selector reads of `tasks.md` (`contract/core.md §5.2, §5.3, §5.6`).

use std::collections::BTreeSet;

use orchestrate_core::graph::ParkingPlace;
use orchestrate_core::identifier::TaskId;
use orchestrate_spec::selection::{TaskFile, task_file};
use orchestrate_spec::{FileText, FormatVersion};

fn block(id: &str, dependencies: &str, effort: &str) -> String {
    format!(
        "### Task {id} — part {id}\n\n- **Deliverables:** it\n- **Done when:** done\n- **Dependencies:** {dependencies}\n\
         - **Citations:** REQ-A1.1\n- **Estimated effort:** {effort}\n\n"
    )
}

/// The bundle `q` of §5.6, with what stands behind its tasks.
fn q(rest: &str) -> String {
    let tasks: String = [
        ("1", "none", "1 day"),
        ("2", "none", "1 day"),
        ("3", "1", "1 day"),
        ("4", "2", "5 days"),
    ]
    .into_iter()
    .map(|(id, dependencies, effort)| block(id, dependencies, effort))
    .collect();
    format!("# q — Tasks\n\n**Status:** Ready\n**Format-version:** 2\n\n## Tasks\n\n{tasks}{rest}")
}

fn read(text: &str) -> TaskFile {
    task_file(&FileText::Present(text.as_bytes().to_vec())).unwrap_or_else(|why| panic!("{why}"))
}

fn refused(text: &str) -> String {
    match task_file(&FileText::Present(text.as_bytes().to_vec())) {
        Err(why) => why,
        Ok(file) => panic!("{file:?}"),
    }
}

fn ids(file: &TaskFile) -> Vec<&str> {
    file.graph.tasks.iter().map(|task| task.id.as_str()).collect()
}

fn parked(file: &TaskFile) -> Vec<(&str, ParkingPlace)> {
    let parked = file.graph.parked.iter();
    parked.map(|(task, parking)| (task.as_str(), parking.place)).collect()
}

/// Verifies REQ-C2.1.
#[test]
fn bullets_of_every_class_park_and_malformed_ones_do_not() {
    let file = read(&q(
        "## Awaiting input\n\n- **Task 1** — which?\n\n## Deferred\n\n- **Task 2** — later\n- **Task 1. ** x\n- **Task six** y\n\
         - **Task force of two** prose\n\n## Out of scope\n\n- **Task 4** — no\n",
    ));
    assert_eq!(
        parked(&file),
        [
            ("1", ParkingPlace::AwaitingInput),
            ("2", ParkingPlace::Deferred),
            ("4", ParkingPlace::OutOfScope)
        ]
    );
    assert_eq!(file.rejected, ["1. ", "six"]);
    let near = read(&q("## Deferred\n\n- **Task 1. ** x\n"));
    assert_eq!(
        (parked(&near), near.rejected.as_slice()),
        (vec![], ["1. ".to_owned()].as_slice())
    );
}

/// Verifies REQ-C2.1.
#[test]
fn version_1_takes_candidates_from_exactly_the_forward_plan() {
    let text = |section: &str| {
        let first = block("1", "none", "1 day");
        let second = block("2", "none", "1 day");
        format!("# q — Tasks\n\n**Format-version:** 1\n\n## Forward plan  \n\n{first}## {section}\n\n{second}")
    };
    for (section, place) in [
        ("In progress", ParkingPlace::InProgress),
        ("Awaiting input", ParkingPlace::AwaitingInput),
        ("Completed", ParkingPlace::Completed),
        ("Deferred", ParkingPlace::Deferred),
        ("Out of scope", ParkingPlace::OutOfScope),
        ("Notes", ParkingPlace::Elsewhere),
        ("Forward plan (old)", ParkingPlace::Elsewhere),
    ] {
        let file = read(&text(section));
        assert_eq!(file.version, FormatVersion::One);
        assert_eq!(parked(&file), [("2", place)], "{section}");
    }
}

/// Verifies REQ-C2.1.
#[test]
fn the_later_of_two_blocks_counts_and_what_it_needs_may_not_exist() {
    let twice = q(&format!("{}{}", block("1", "2", "1 day"), block("2", "9", "1 day")));
    let file = read(&twice);
    assert_eq!(ids(&file), ["3", "4", "1", "2"]);
    let needs = |id: &str| -> Vec<&str> {
        let task = file
            .graph
            .tasks
            .iter()
            .find(|task| task.id.as_str() == id)
            .expect("the task");
        task.dependencies.iter().map(TaskId::as_str).collect()
    };
    assert_eq!((needs("1"), needs("2")), (vec!["2"], vec!["9"]));
}

/// Verifies REQ-C2.1.
#[test]
fn the_paths_of_the_verified_examples() {
    let path = |text: &str| -> Vec<String> {
        read(text)
            .graph
            .critical_path()
            .iter()
            .map(ToString::to_string)
            .collect()
    };
    assert_eq!(path(&q("## Out of scope\n\n- **Task 4** — no\n")), ["2", "4"]);
    let circle = format!(
        "**Format-version:** 2\n\n## Tasks\n\n{}{}",
        block("1", "2", "1 day"),
        block("2", "1", "1 day")
    );
    assert_eq!(path(&circle).len(), 2, "a circle ends");
    assert_eq!(path(&circle).into_iter().collect::<BTreeSet<_>>().len(), 2);
}

/// Verifies REQ-C2.1.
#[test]
fn what_cannot_be_followed_is_refused() {
    let version = |header: &str| q("").replace("**Format-version:** 2\n", header);
    for (text, why) in [
        (version(""), "the header of tasks.md has no Format-version"),
        (
            version("**Format-version:** 2\n**Format-version:** 2\n"),
            "tasks.md:5: Format-version is declared twice",
        ),
        (
            version("**Format-version:** 3\n"),
            "tasks.md:4: Format-version is neither 1 nor 2",
        ),
        (
            version("**Format-version:** 02\n"),
            "tasks.md:4: Format-version is neither 1 nor 2",
        ),
        (
            "**Format-version:** 2\n\n## Tasks\n\n(none yet)\n".to_owned(),
            "tasks.md has no task",
        ),
    ] {
        assert_eq!(refused(&text), why);
    }
    assert!(refused(&q("```\n")).contains("a code fence is never closed"));
    assert!(refused(&q("\0")).contains("NUL"));
    assert!(
        refused(
            &q("")
                .replace("### Task 2 — part 2", "### Task 2: part 2")
                .replace("### Task 2:", "#### Task 2 —")
        )
        .contains("is not a task heading")
    );
    assert!(task_file(&FileText::Missing).is_err());
}
