//! Code, quotes and comments that hold what looks like tasks.

use crate::common::task;
use crate::{after_task_1, check};

/// Verifies REQ-B1.2.
#[test]
fn illustrations_are_no_tasks() {
    let mock = task("9", "7").trim_end().to_owned();
    let quoted: String = mock.lines().map(|line| format!("> {line}\n")).collect();
    let indented: String = mock.lines().map(|line| format!("    {line}\n")).collect();
    check(&[
        (after_task_1(&format!("```\n{mock}\n```\n")), "1"),
        (after_task_1(&format!("```markdown\n{mock}\n````\n")), "1"),
        (after_task_1(&format!("~~~\n{mock}\n~~~\n")), "1"),
        (after_task_1(&format!("<!--\n{mock}\n-->\n")), "1"),
        (after_task_1(&quoted), "1"),
        (after_task_1(&format!("prose\n\n{indented}")), "1"),
        (
            after_task_1(&format!("```\n{mock}\n")),
            "refused: 12 open-fence, - reference-map",
        ),
        (
            after_task_1(&format!("````\n```\n{mock}\n```\n````\n")),
            "refused: 14 disputed-line",
        ),
        (after_task_1("~~~\n### Task 9 — x\n"), "refused: 13 disputed-line"),
        (
            after_task_1("``` a`b\n### Task 9 — x\n```\n"),
            "refused: 13 disputed-line",
        ),
        (after_task_1("<!--\n### Task 9 — x\n"), "refused: 13 disputed-line"),
        (
            after_task_1("<div>\n### Task 9 — x\n</div>\n"),
            "refused: 13 disputed-line",
        ),
        (
            after_task_1("<!-- a -- >\n\n### Task 9 — x\n\n<!-- b -->\n"),
            "refused: 14 disputed-line",
        ),
    ]);
}
