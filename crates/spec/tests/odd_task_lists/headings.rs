//! Headings of tasks, and their ids.

use crate::common::task;
use crate::{after_task_1, check, heading};

/// Verifies REQ-B1.1.
#[test]
fn headings() {
    check(&[
        (heading("### Task 2 — b"), "1; 2: 1"),
        (heading("### Task 2.5 — b"), "1; 2.5: 1"),
        (heading("### Task 2 — b — c  "), "1; 2: 1"),
        (heading("### Task 2: b"), "refused: 12 task-id"),
        (heading("### Task 2 – b"), "refused: 12 task-heading"),
        (heading("### Task 2 - b"), "refused: 12 task-heading"),
        (heading("### Task 2 —b"), "refused: 12 task-heading"),
        (heading("### Task 2"), "refused: 12 task-heading"),
        (heading("### Task 2 — "), "refused: 12 task-heading"),
        (heading("### Task 2. — b"), "refused: 12 task-id"),
        (heading("### Task 2.5.1 — b"), "refused: 12 task-id"),
        (heading("### Task 2-3 — b"), "refused: 12 task-id"),
        (heading("### Task two — b"), "refused: 12 task-id"),
        (heading("### Task  2 — b"), "refused: 12 task-heading"),
        (heading("###  Task 2 — b"), "refused: 12 task-heading"),
        (heading("###Task 2 — b"), "refused: 12 task-heading"),
        (heading("#### Task 2 — b"), "refused: 12 task-heading"),
        (heading("## Task 2 — b"), "refused: 12 task-heading"),
        (heading("### task 2 — b"), "refused: 12 task-heading"),
        (heading("### Task ２ — b"), "refused: 12 task-id"),
        (heading("＃＃＃ Task 2 — b"), "refused: 12 task-heading"),
        (heading("### **Task 2** — b"), "refused: 12 task-heading"),
        (heading("###\tTask 2 — b"), "refused: 12 task-heading"),
        (heading("### Task\u{a0}2 — b"), "refused: 12 task-heading"),
        (heading("### \u{200b}Task 2 — b"), "refused: 12 task-heading"),
        (heading(" ### Task 2 — b"), "refused: 12 task-heading"),
        (
            heading("Task 2 — b\n---"),
            "refused: 12 task-heading, 18 dependency-field-twice",
        ),
        (
            heading("- ### Task 2 — b"),
            "refused: 12 task-heading, 17 dependency-field-twice",
        ),
        (
            heading(&format!("### Task {} — b", "1".repeat(33))),
            "refused: 12 task-id",
        ),
        // A heading that is lost leaves its fields behind.
        (heading("### Tsk 2 — b"), "refused: 14 field-orphan"),
        (heading("Tusk 2 — b"), "refused: 17 dependency-field-twice"),
        (heading("### Notes"), "refused: 14 field-orphan"),
    ]);
}

/// Verifies REQ-B1.1.
#[test]
fn ids() {
    check(&[
        (after_task_1(&task("1", "none")), "refused: 12 task-duplicate"),
        (after_task_1(&task("01", "none")), "refused: 12 task-number"),
        (after_task_1(&task("1.0", "none")), "refused: 12 task-number"),
        (
            after_task_1(&format!("{}{}", task("10", "1"), task("2", "10, 1"))),
            "1; 10: 1; 2: 10 1",
        ),
        (after_task_1(&task("1.1", "1")), "1; 1.1: 1"),
    ]);
}
