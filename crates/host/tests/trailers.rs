//! The trailer rule of the core against the real `git interpret-trailers`: git decides what the last paragraph says.

use std::collections::BTreeSet;

use camino::Utf8Path;
use orchestrate_core::identifier::{SpecId, TaskId};
use orchestrate_core::trailer::{COMMENT, parse_reference, task_trailers, with_tasks};
use orchestrate_host::process::{Input, RunOptions, run_bounded};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// What real messages are made of, and what could confuse a reader of them.
const LINES: &[&str] = &[
    "",
    "",
    "feat: x",
    "words without a colon",
    "Planwright-Task: a/1",
    "planwright-task:b/2.5",
    "Planwright-Task : a/3",
    " Planwright-Task: a/4",
    "Planwright-Task: a/not",
    "Signed-off-by: x <x@y.z>",
    "(cherry picked from commit 0123456789012345678901234567890123456789)",
    "Reviewed-by: x",
    "key with blanks: value",
    "https://example.org/x",
    " continued",
    "\tcontinued",
    "# a comment",
    "> Planwright-Task: a/5",
    "```",
    "- Planwright-Task: a/6",
    ": no token",
    "Key:",
    "Planwright-Task:",
    " a/7",
    "Conflicts:",
    "\tsrc/x",
    "# ------------------------ >8 ------------------------",
];

fn messages() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(LINES), 1..9).prop_map(|lines| format!("{}\n", lines.join("\n")))
}

/// What git prints of the message's last paragraph, as tasks.
fn by_git(message: &str) -> BTreeSet<(SpecId, TaskId)> {
    let arguments = ["interpret-trailers", "--parse", "--no-divider"];
    let options = RunOptions {
        input: Input::Bytes(message.as_bytes()),
        // Nobody's own trailer settings.
        environment: &[("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")],
        ..RunOptions::default()
    };
    let output = run_bounded(Utf8Path::new("git"), &arguments, &options).expect("git");
    assert!(output.success(), "{}", output.message());
    let text = String::from_utf8(output.stdout).expect("utf-8");
    let task = |line: &str| {
        let (key, value) = line.split_once(':')?;
        if !key.trim_end().eq_ignore_ascii_case("planwright-task") {
            return None;
        }
        let (spec, task) = value.trim().split_once('/')?;
        Some((SpecId::parse(spec).ok()?, TaskId::parse(task).ok()?))
    };
    text.lines().filter_map(task).collect()
}

/// What git makes of the message when it adds the trailers itself.
fn added_by_git(message: &[u8], comment: &str, tasks: &[&str]) -> Vec<u8> {
    let comment = format!("core.commentChar={comment}");
    let trailers = tasks.iter().map(|task| format!("--trailer=Planwright-Task: {task}"));
    let mut arguments: Vec<String> = ["-c", &comment, "interpret-trailers", "--no-divider"]
        .map(str::to_owned)
        .to_vec();
    arguments.push("--if-exists=addIfDifferent".to_owned());
    arguments.extend(trailers);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let options = RunOptions {
        input: Input::Bytes(message),
        environment: &[("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")],
        ..RunOptions::default()
    };
    let output = run_bounded(Utf8Path::new("git"), &arguments, &options).expect("git");
    assert!(output.success(), "{}", output.message());
    output.stdout
}

fn references(names: &[&str]) -> Vec<(SpecId, TaskId)> {
    names
        .iter()
        .map(|name| parse_reference(name).expect("a reference"))
        .collect()
}

/// Git reads what was there and what was added, and nothing else.
#[test]
fn git_reads_what_is_added() {
    let mut runner = TestRunner::new(Config {
        cases: 200,
        failure_persistence: None,
        ..Config::default()
    });
    let tasks = references(&["a/1", "z/9"]);
    runner
        .run(&messages(), |message| {
            let whole = with_tasks(message.as_bytes(), COMMENT, &tasks).into_owned();
            let whole = String::from_utf8(whole).expect("utf-8");
            let mut expected = by_git(&message);
            expected.extend(tasks.iter().cloned());
            prop_assert_eq!(by_git(&whole), expected, "{:?}", message);
            Ok(())
        })
        .expect("git reads it");
}

/// Where git has nothing to rewrite, the bytes are those that it writes.
#[test]
fn a_trailer_is_added_where_git_adds_its_own() {
    const PLAIN: &[&str] = &[
        "",
        "",
        "feat: x",
        "words without a colon",
        "Planwright-Task: a/1",
        "Planwright-Task: b/2.5",
        "Signed-off-by: x <x@y.z>",
        "Reviewed-by: x",
        "; a comment",
        "# text, or a comment",
        "---",
        "; ------------------------ >8 ------------------------",
    ];
    let mut runner = TestRunner::new(Config {
        cases: 200,
        failure_persistence: None,
        ..Config::default()
    });
    let lines = proptest::collection::vec(proptest::sample::select(PLAIN), 0..9);
    runner
        .run(&lines, |lines| {
            // In front of the first line git tells nothing from a comment, and it completes the last one, whosever it is.
            let message = format!("feat: y\n{}\n", lines.join("\n"));
            let (names, comment) = (["a/1", "z/9"], ";");
            let whole = with_tasks(message.as_bytes(), comment.as_bytes(), &references(&names)).into_owned();
            let by_git = added_by_git(message.as_bytes(), comment, &names);
            // Git drops comments between trailers, where ours leaves what a person wrote.
            let kept = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("; a comment\n", "");
            prop_assert_eq!(kept(&whole), kept(&by_git), "{:?}", message);
            Ok(())
        })
        .expect("git and the core agree");
}

/// Verifies REQ-C1.2.
#[test]
fn the_last_paragraph_is_read_as_git_reads_it() {
    let mut runner = TestRunner::new(Config {
        cases: 400,
        failure_persistence: None,
        ..Config::default()
    });
    runner
        .run(&messages(), |message| {
            prop_assert_eq!(
                task_trailers(message.as_bytes(), false).tasks,
                by_git(&message),
                "{:?}",
                message
            );
            Ok(())
        })
        .expect("git and the core agree");
}
