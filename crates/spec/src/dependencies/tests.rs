//! Every form of a dependency text that the contract lists, and what lies near them.

use super::*;

fn shown(text: &str) -> String {
    match read(text) {
        Ok(named) => {
            for name in &named {
                assert_eq!(&text[name.at.clone()], name.id.as_str(), "{text}");
            }
            named.iter().map(|name| name.id.as_str()).collect::<Vec<_>>().join(" ")
        }
        Err(problem) => format!("refused: {}", problem.message),
    }
}

/// Verifies REQ-B1.3.
#[test]
fn the_forms_of_the_contract() {
    let cases = [
        ("none", ""),
        ("None", ""),
        ("NONE", ""),
        ("none.", ""),
        ("1, 2", "1 2"),
        ("1 2", "1 2"),
        ("Task 1.", "1"),
        ("Tasks 1, 2.5.", "1 2.5"),
        ("1; 2", "1 2"),
        ("1 (REQ-A1.8 / D-9; other 7)", "1"),
        ("1, D-9", "1"),
        ("1, 2 to start; also exercise 4, 5 as those land", "1 2 4 5"),
        ("Task 3; plus cross-spec (hard): other/Task 2", "3"),
        ("—", ""),
        ("-", ""),
    ];
    for (text, expected) in cases {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn more_that_is_read() {
    let cases = [
        ("  1,\n  2", "1 2"),
        ("1 and 2", "1 2"),
        ("1, 1", "1"),
        ("Task 1, Task 2 and Task 3", "1 2 3"),
        ("none (Task 1 helps)", ""),
        ("(none yet)", ""),
        ("`none`", ""),
        ("- 1\n- 2", "1 2"),
        ("\n- 1\n- Task 2", "1 2"),
        ("1,\n2. as well", "1 2"),
        ("1 - the floor", "1"),
        ("1,\u{a0}2", "1 2"),
        ("none, REQ-A1.2", ""),
        ("1 (a (b) c) as well", "1"),
        ("n/a", ""),
        ("1 and/or 2", "1 2"),
    ];
    for (text, expected) in cases {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn what_may_name_a_task_and_cannot_be_read_is_refused() {
    for text in [
        "",
        "see above",
        "all",
        "x",
        "Task six",
        "1 and task two",
        "Task A",
        "1-3",
        "1 to 3",
        "1 – Task 3",
        "1..3",
        "1.2.3",
        "#1",
        "`1`",
        "**1**",
        "[1]",
        "１",
        "1，2",
        "1, ②",
        "2x",
        "T1",
        "Task-1",
        "1 (first), 2 (second)",
        "1 (see 2",
        "1, other/Task 2",
        "specs/other/2",
        "1 <!-- 2 -->",
        "1, Task",
        "1\u{200b}2",
        "1+2",
        "1/2",
        "\n1. Task 2",
        "1 (a),\n2",
        "00000000000000000000000000000000001",
    ] {
        assert!(read(text).is_err(), "{text} {:?}", read(text));
    }
}

#[test]
fn a_problem_points_at_the_offending_part() {
    for (text, part) in [
        ("1 <!-- 2 -->", "<!--"),
        ("1, ②, 3", "②"),
        ("none,\n1. Task 2", "1. Task 2"),
        ("1, 2 to Task 3 and 4", "2 to Task 3"),
        ("1 (é) and 2x", "2x"),
        ("1 (a) (b", "("),
        ("é, Task six", "Task"),
        ("1, other/Task 2", "other/Task"),
    ] {
        let problem = read(text).expect_err(text);
        assert_eq!(&text[problem.at.clone()], part, "{text}");
    }
    assert_eq!(read("see above").expect_err("prose").at, 0..9);
}

#[test]
fn what_the_engine_calls_malformed() {
    for text in [
        "none",
        "None",
        "NONE",
        "none.",
        "1, 2",
        "1 2",
        "",
        "1,2.5.",
        "1\nTask 2",
    ] {
        assert_eq!(malformed_for_the_engine(text), None, "{text}");
    }
    for (text, shown) in [
        ("Task 1.", "Task 1."),
        ("1; 2", "1; 2"),
        ("1 (REQ-A1.8 / D-9; other 7)", "1 (REQ-A1.8 / D-9; other 7)"),
        ("1, D-9\n  2", "1, D-9"),
        ("—", "—"),
        ("1,\tx", "1, x"),
    ] {
        assert_eq!(malformed_for_the_engine(text).as_deref(), Some(shown), "{text}");
    }
}
