//! Format version 1: where a block stands says what it is.

use orchestrate_spec::{AnnotationKind, BundleTexts, FormatVersion, Section};

use crate::common::{as_version_1, bundle_with_tasks, parse, task};
use crate::{answer, assert_answers};

fn version_1(body: &str) -> BundleTexts {
    as_version_1(bundle_with_tasks(body))
}

const REST: &str = "## Deferred\n\n(none yet)\n\n## Out of scope\n\n(none yet)\n";

/// The answer, and behind it what keeps each task out of selection.
fn placed(body: &str) -> String {
    let texts = version_1(body);
    let Ok(bundle) = parse(&texts) else {
        return answer(&texts);
    };
    assert_eq!(bundle.version, FormatVersion::One);
    let graph = bundle.graph();
    let parked = graph.parked.iter().map(|(task, parking)| {
        format!(" | {task} {} {}", parking.place.section(), parking.note)
            .trim_end()
            .to_owned()
    });
    answer(&texts) + &parked.collect::<String>()
}

#[test]
fn blocks_in_sections() {
    let one = task("1", "none");
    let two = task("2", "1");
    let annotated = |text: &str| two.replace("1 day\n", &format!("1 day\n- **Status:** {text}\n"));
    assert_answers(
        placed,
        &[
            (format!("## Forward plan\n\n{one}{two}{REST}"), "1; 2: 1"),
            (format!("## Forward plan \t\n\n{one}{two}{REST}"), "1; 2: 1"),
            (
                format!("## Forward plan\n\n{two}## Completed\n\n{one}"),
                "2: 1; 1 | 1 Completed",
            ),
            (
                format!(
                    "## Forward plan\n\n{one}## In progress\n\n{}",
                    annotated("implementing")
                ),
                "1; 2: 1 | 2 In progress implementing",
            ),
            (
                format!(
                    "## Forward plan\n\n{one}## Awaiting input\n\n{}",
                    annotated("awaiting input — which\n  colour?")
                ),
                "1; 2: 1 | 2 Awaiting input awaiting input — which\ncolour?",
            ),
            (
                format!("## Forward plan\n\n{one}## Deferred\n\n{two}"),
                "1; 2: 1 | 2 Deferred",
            ),
            (
                format!("## Forward plan\n\n{one}## Out of scope\n\n{two}"),
                "1; 2: 1 | 2 Out of scope",
            ),
            // Bullets park too, those that name no task are prose.
            (
                format!(
                    "## Forward plan\n\n{one}{two}## Deferred\n\n- **Task 2** — later\n- **Task 2** — again\n- **Task 9** — old\n- **Task six** x\n"
                ),
                "1; 2: 1 | 2 Deferred — later",
            ),
            (
                format!("## Forward plan\n\n{one}{two}## Completed\n\n- **Task 2** — prose\n"),
                "1; 2: 1",
            ),
            (
                format!("## Forward plan\n\n{one}## Completed\n\n{two}## Deferred\n\n- **Task 2** — later\n"),
                "1; 2: 1 | 2 Deferred — later",
            ),
            (
                format!("## Forward plan\n\n{one}## Awaiting input\n\n{two}## Deferred\n\n- **Task 2** — later\n"),
                "1; 2: 1 | 2 Awaiting input",
            ),
            // Another section is none of the version's, and nothing in it would ever be dispatched.
            (format!("## Tasks\n\n{one}"), "refused: 3 task-placement"),
            (format!("{one}## Forward plan\n"), "refused: 1 task-placement"),
            (format!("## Dependency graph\n\n{one}"), "refused: 3 task-placement"),
            (format!("## Dependency graph\n\nprose\n\n## Forward plan\n\n{one}"), "1"),
            (
                format!("## Forward Plan\n\n{one}"),
                "refused: 1 section-heading, 3 task-placement",
            ),
            (format!("## Forward plan (old)\n\n{one}"), "refused: 3 task-placement"),
            (format!("## Forward plan\n\n{one}## Forward plan\n\n{two}"), "1; 2: 1"),
            (format!("## Completed\n\n{one}### Notes\n\ntext\n"), "1 | 1 Completed"),
        ],
    );
}

/// Verifies REQ-B2.5.
#[test]
fn what_holds_in_both_versions() {
    let one = task("1", "none");
    let list = |rest: &str| format!("## Forward plan\n\n{one}## Completed\n\n{rest}");
    assert_answers(
        placed,
        &[
            (list(&task("1", "none")), "refused: 14 task-duplicate"),
            (list(&task("1.0", "none")), "refused: 14 task-number"),
            (list(&task("2", "7")), "refused: 19 dependency-dangling"),
            (
                list(&task("2", "1").replace("### Task 2 —", "### Task 2:")),
                "refused: 14 task-id",
            ),
            (
                list(&task("2", "1").replace("### Task 2 —", "### Task 2 –")),
                "refused: 14 task-heading",
            ),
            (
                list(&task("2", "1").replace("- **Done when:** done\n", "")),
                "refused: 14 task-field",
            ),
            (
                list(&task("2", "1").replace("### Task 2", "### Tsk 2")),
                "refused: 16 field-orphan",
            ),
            (list("```\n### Task 9 — x\n```\n"), "1"),
            (list("```\n### Task 9 — x\n"), "refused: 14 open-fence"),
            (list("- **Dependencies:** 1\n"), "refused: 14 field-orphan"),
        ],
    );
}

#[test]
fn annotations_are_typed() {
    let text = task("1", "none").replace(
        "1 day\n",
        "1 day\n- **Status:** Completed · PR #12 merged 2026-03-04\n- **Last activity:** 2026-03-05\n- **Dispatch:** backend=x · dispatched\n  more\n",
    );
    let bundle = parse(&version_1(&format!("## Completed\n\n{text}"))).expect("a bundle");
    let [task] = &bundle.tasks[..] else { panic!("one task") };
    assert_eq!(task.section, Section::Completed);
    let shown: Vec<(AnnotationKind, &str, u32)> = task
        .annotations
        .iter()
        .map(|annotation| (annotation.kind, annotation.text.as_str(), annotation.line - task.line))
        .collect();
    assert_eq!(
        shown,
        [
            (AnnotationKind::Status, "Completed · PR #12 merged 2026-03-04", 8),
            (AnnotationKind::LastActivity, "2026-03-05", 9),
            (AnnotationKind::Dispatch, "backend=x · dispatched\nmore", 10),
        ]
    );
    assert_eq!(
        task.annotations[0]
            .completion()
            .and_then(|completion| completion.pull_request),
        Some(12)
    );
    assert_eq!(task.stored_state(), Some("Completed · PR #12 merged 2026-03-04"));
    assert_eq!(task.estimated_effort, "1 day");
}
