//! Dependency fields, and what dependencies make of the tasks.

use crate::common::{PAYLOAD, bundle_with_tasks, parse, task};
use crate::{after_task_1, check, dependency_lines};

/// Verifies REQ-B1.3.
#[test]
fn dependencies() {
    check(&[
        (dependency_lines("- **Dependencies:** 1"), "1; 2: 1"),
        (
            dependency_lines("- **Dependencies**: 1"),
            "refused: 17 dependency-spelling",
        ),
        (dependency_lines("- **Dependencies:**1"), "1; 2: 1"),
        (dependency_lines("- **Dependencies:** none\n  really"), "1; 2"),
        (dependency_lines("- **Dependencies:**\n  1"), "1; 2: 1"),
        (dependency_lines("- **Dependencies:** none but\n\t1"), "1; 2: 1"),
        (dependency_lines("- **Dependencies:**\n  - 1"), "1; 2: 1"),
        (dependency_lines("- **Dependencies:** Task 1."), "1; 2: 1"),
        (
            dependency_lines("- **Dependencies:** 1 (see D-9;\n  other 7)"),
            "1; 2: 1",
        ),
        (dependency_lines("- **Dependencies:**"), "refused: 17 dependency-text"),
        (
            dependency_lines("- **Dependancies:** 1"),
            "refused: 17 dependency-field",
        ),
        (dependency_lines("- **Deps**: 1"), "refused: 17 dependency-field"),
        (
            dependency_lines("- **Dependencies:** the first task"),
            "refused: 17 dependency-text",
        ),
        (
            dependency_lines("- **Dependencies:** 1, 2x"),
            "refused: 17 dependency-text",
        ),
        (
            dependency_lines("- **Dependencies:** １"),
            "refused: 17 dependency-text",
        ),
        (
            dependency_lines("- **Dependencies:** 1–3"),
            "refused: 17 dependency-text",
        ),
        (
            dependency_lines("- **Dependencies:** none <!-- 1 -->"),
            "refused: 17 dependency-text",
        ),
        (dependency_lines("- **Dependencies:** 2"), "refused: 17 dependency-self"),
        (
            dependency_lines("- **Dependencies:** 7"),
            "refused: 17 dependency-dangling",
        ),
        (
            dependency_lines("- **Dependencies:** 01"),
            "refused: 17 dependency-dangling",
        ),
        (
            dependency_lines("- **Dependencies:** 1\n- **Dependencies:** 1"),
            "refused: 18 dependency-field-twice",
        ),
        (
            dependency_lines("- **Dependencies:** none\n- **Dependencies**: 1"),
            "refused: 18 dependency-spelling, 18 dependency-field-twice",
        ),
        (
            dependency_lines("- **Dependencies:** none **Dependencies:** 1"),
            "refused: 17 dependency-field",
        ),
        (
            dependency_lines("- **Dependencies:** none\n* **Dependencies:** 1"),
            "refused: 18 dependency-field",
        ),
        (
            dependency_lines("- **Dependencies:** none\n- Dependencies: 1"),
            "refused: 18 dependency-field",
        ),
        (
            dependency_lines("- **Dependencies:** none\n- **Depends on:** 1"),
            "refused: 18 dependency-field",
        ),
        (dependency_lines("**Dependencies:** 1"), "refused: 17 dependency-field"),
        (
            dependency_lines("- **dependencies:** 1"),
            "refused: 17 dependency-field",
        ),
        (
            dependency_lines("- **Dependencies：** 1"),
            "refused: 17 dependency-field",
        ),
        (dependency_lines("- **Requires:** 1"), "refused: 12 task-field"),
        // As a bullet inside another field it is rendered as a field, and the anchor covers it.
        (dependency_lines("  - **Dependencies:** 1\n    , 1"), "1; 2: 1"),
        (
            dependency_lines("  - **Dependencies:** 1\n  and 7 of the field above"),
            "refused: 18 dependency-continuation",
        ),
        (
            dependency_lines("  - **Dependencies:** 1\n  and so on\n  - **Note:** 7"),
            "1; 2: 1",
        ),
        (
            dependency_lines("- **Note:** x\n\n  - **Dependencies:** 1"),
            "refused: 19 dependency-unsigned",
        ),
        // A wrapped line that the format does not count, but people do.
        (
            dependency_lines("- **Dependencies:** none\n\n  but 1"),
            "refused: 19 dependency-continuation",
        ),
        (
            dependency_lines("- **Dependencies:** none\nbut 1"),
            "refused: 18 dependency-continuation",
        ),
        (
            dependency_lines("- **Dependencies:** none\n- 1"),
            "refused: 18 dependency-continuation",
        ),
        (
            dependency_lines("- **Dependencies:** none\n* 1"),
            "refused: 18 dependency-continuation",
        ),
        (
            dependency_lines("- **Dependencies:** none\n```\n```\n  1"),
            "refused: 20 dependency-continuation",
        ),
        (
            dependency_lines("- **Dependencies:** none\n<!-- -->\n  1"),
            "refused: 19 dependency-continuation",
        ),
        (
            dependency_lines("- **Dependencies:** none\n  ```\n  1\n  ```"),
            "refused: 19 dependency-continuation",
        ),
        (dependency_lines("- **Dependencies:** none\n\n  as said"), "1; 2"),
        // Words about the field are not the field.
        (
            dependency_lines("- **Dependencies:** 1\n- **Note:** the `**Dependencies:** 7` line"),
            "1; 2: 1",
        ),
        (
            after_task_1(&task("2", "1").replace("done\n", "done\n  dependencies: none of these 7\n")),
            "1; 2: 1",
        ),
    ]);
}

/// Verifies REQ-B1.3, REQ-B1.5.
#[test]
fn dependencies_inside_another_field() {
    let nested = |lines: &str| dependency_lines(&format!("  - **Dependencies:** {lines}"));
    check(&[
        // Rendered, a paragraph goes on whatever the indentation.
        (nested("1,\n  7"), "refused: 18 dependency-continuation"),
        (nested("none, see\n  1, 7"), "refused: 18 dependency-continuation"),
        (
            nested("none, see\n  the plan,\n  1"),
            "refused: 19 dependency-continuation",
        ),
        (
            nested("none, see\n  the plan,\n1"),
            "refused: 19 dependency-continuation",
        ),
        (nested("none, see\n1"), "refused: 18 dependency-continuation"),
        (
            nested("\n 1"),
            "refused: 17 dependency-text, 18 dependency-continuation",
        ),
        (nested("none\n  - 1"), "refused: 18 dependency-continuation"),
        (nested("none\n  - **1**"), "refused: 18 dependency-continuation"),
        (nested("none\n- **1**"), "refused: 18 dependency-continuation"),
        (nested("none\n\n  1"), "refused: 19 dependency-continuation"),
        (nested("none\n  as said"), "1; 2"),
        (nested("1\n  - **Note:** 7\n  and 8"), "1; 2: 1"),
        (nested("none, see\n    1"), "1; 2: 1"),
    ]);
}

/// Verifies REQ-B1.3.
#[test]
fn what_only_the_rendered_text_shows() {
    check(&[
        (
            dependency_lines("- **Dependencies:** 1,\n```see```\n  7\n```end```"),
            "refused: 19 dependency-continuation",
        ),
        (
            dependency_lines("- **Dependencies:** none\n- **Dependencies\n  :** 1"),
            "refused: 18 dependency-field",
        ),
        (
            dependency_lines("- **Dependencies:** none\n- **Depend&#101;ncies:** 1"),
            "refused: 18 dependency-field",
        ),
        (
            dependency_lines("- **Dependencies:** none\n- Depend&#101;ncies: 1"),
            "refused: 18 dependency-field",
        ),
        (
            dependency_lines("- **Dependencies:** none\n- **Depends\n  on**: 1"),
            "refused: 18 dependency-field",
        ),
        (
            dependency_lines("- **Dependencies:** none\n- **Depend<b></b>encies:** 1"),
            "refused: 18 dependency-field",
        ),
        (
            dependency_lines("       - **Dependencies:** 1"),
            "refused: 17 dependency-field",
        ),
    ]);
}

/// Verifies REQ-B1.8.
#[test]
fn circles() {
    let list = |edges: &[(&str, &str)]| {
        let tasks: String = edges.iter().map(|(id, dependencies)| task(id, dependencies)).collect();
        format!("## Tasks\n\n{tasks}{PAYLOAD}")
    };
    check(&[
        (list(&[("1", "2"), ("2", "1")]), "refused: 8 dependency-circle"),
        (
            list(&[("1", "none"), ("2", "1, 4"), ("3", "2"), ("4", "3"), ("5", "4")]),
            "refused: 17 dependency-circle",
        ),
        (list(&[("1", "2"), ("2", "none")]), "1: 2; 2"),
    ]);
    let found = parse(&bundle_with_tasks(&list(&[
        ("1", "4"),
        ("2", "4"),
        ("3", "2"),
        ("4", "3"),
    ])))
    .expect_err("a circle");
    assert_eq!(
        found[0].to_string(),
        "specs/x/tasks.md:42: tasks depend on each other in a circle: 4 → 3 → 2 → 4"
    );
}
