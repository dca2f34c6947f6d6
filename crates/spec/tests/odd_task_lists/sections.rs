//! Sections and reference bullets.

use crate::common::{bundle_with_tasks, parse, task};
use crate::{after_task_1, check};

#[test]
fn sections_and_parking() {
    let tasks = task("1", "none");
    let parked = |bullets: &str| format!("## Tasks\n\n{tasks}## Awaiting input\n\n{bullets}\n");
    check(&[
        (format!("## Tasks  \n\n{tasks}"), "1"),
        (
            format!("{tasks}## Deferred\n"),
            "refused: - section-missing, 1 task-placement",
        ),
        (
            format!("## Tasks\n## Forward plan\n\n{tasks}"),
            "refused: 2 placement-section, 4 task-placement",
        ),
        (
            format!("## Tasks\n\n{tasks}## In progress\n"),
            "refused: 12 placement-section",
        ),
        (
            format!("## Tasks\n\n{tasks}## Awaiting Input\n"),
            "refused: 12 section-heading",
        ),
        (
            format!("## Tasks\n\n{tasks}### Deferred\n"),
            "refused: 12 section-heading",
        ),
        (
            format!("## Tasks\n\n{tasks}Deferred\n---\n"),
            "refused: 12 section-heading",
        ),
        (format!("## Tasks\n\n{tasks}## Deferred (old)\n- prose\n"), "1"),
        (format!("## Tasks\n## Tasks\n\n{tasks}"), "1"),
        (format!("## Tasks\n## Deferred\n\n{tasks}"), "refused: 4 task-placement"),
        (
            format!("## Tasks\n\n{tasks}\r### Task 2 — b\n"),
            "refused: 12 carriage-return, 12 task-heading",
        ),
        (parked("- **Task 1** — waits"), "1"),
        (parked("- **Task force red.** x"), "1"),
        (parked("- **Task 1.** — waits"), "refused: 14 reference-rejected"),
        (parked("- **Task six** — waits"), "refused: 14 reference-rejected"),
        (parked("- **Task 2** — waits"), "refused: 14 reference-unknown"),
        (
            parked("- **Task 1** — a\n- **Task 1** — b"),
            "refused: 15 reference-twice",
        ),
        (parked("* **Task 1** — a"), "refused: 14 reference-misplaced"),
        (parked(" - **Task 1** — a"), "refused: 14 reference-misplaced"),
        (parked("- Task 1 waits"), "refused: 14 reference-misplaced"),
        (parked("- **task 1** waits"), "refused: 14 reference-misplaced"),
        (parked("- **Task 1 waits"), "refused: 14 reference-misplaced"),
        (parked("- *Task 1* — waits"), "refused: 14 reference-misplaced"),
        (parked("+ __Task 1__ — waits"), "refused: 14 reference-misplaced"),
        (parked("1. **Task 1** — waits"), "refused: 14 reference-misplaced"),
        (parked("- The rest of Task 1 waits"), "1"),
        (parked("- Tasks are done when they are done"), "1"),
        (parked("- prose\n  - Task 1 helps"), "1"),
        (parked("- **Task 1** — a\n  - Task 1 helps"), "1"),
        (
            parked("- until autumn:\n  - **Task 1** — a"),
            "refused: 15 reference-misplaced",
        ),
        (
            parked("- **Task 1** — a\n - **Task 1** — b"),
            "refused: 15 reference-misplaced",
        ),
        (parked("- **Task\n  1** — a"), "refused: 14 reference-misplaced"),
        (parked("- <b>Task 1</b> — a"), "refused: 14 reference-misplaced"),
        (parked("- **T&#97;sk 1** — a"), "refused: 14 reference-misplaced"),
        (parked("```\n- **Task 9** — a\n```"), "1"),
        (
            format!("## Tasks\n\n{tasks}- **Task 1** — waits\n"),
            "refused: 12 reference-misplaced",
        ),
        (
            format!("## Tasks\n\n{tasks}## Parked\n- **Task 1** — waits\n"),
            "refused: 13 reference-misplaced",
        ),
        (format!("- **Task 1** comes first\n\n## Tasks\n\n{tasks}"), "1"),
        (
            after_task_1(&task("2", "1").replace("- **Done when:** done\n", "")),
            "refused: 12 task-field",
        ),
        (
            after_task_1(&task("2", "1").replace("- **Citations:**", "- **Cites:**")),
            "refused: 18 task-field",
        ),
        (
            after_task_1(
                &task("2", "1")
                    .replace("\n\n###", "\n###")
                    .replace("- **Done", "- **Status:** Completed\n- **Done"),
            ),
            "refused: 16 state-annotation",
        ),
        (
            after_task_1(&task("2", "1").replace("- **Done", "- **Note:** x\n- **Done")),
            "1; 2: 1",
        ),
        (
            after_task_1(&task("2", "1").replace("- **Done", "#### More\n\n- **Done")),
            "1; 2: 1",
        ),
    ]);
}

#[test]
fn what_a_parked_task_says() {
    let text = format!(
        "## Tasks\n\n{}{}## Deferred\n\n- **Task 1** — waits\n  for Bob\n\n## Out of scope\n\n- **Task 2** no more\n",
        task("1", "none"),
        task("2", "1")
    );
    let bundle = parse(&bundle_with_tasks(&text)).expect("a bundle");
    let graph = bundle.graph();
    let parked: Vec<String> = graph
        .parked
        .iter()
        .map(|(id, parking)| format!("{id} {} {}", parking.place.section(), parking.note))
        .collect();
    assert_eq!(parked, ["1 Deferred — waits", "2 Out of scope no more"]);
    assert_eq!(graph.tasks[1].dependencies[0].as_str(), "1");
    assert_eq!(graph.tasks[1].effort.milli_days(), 1000);
}
