//! The trailer rule of the core against the real `git interpret-trailers`: git decides what the last paragraph says.

use std::collections::BTreeSet;

use camino::Utf8Path;
use orchestrate_core::identifier::{SpecId, TaskId};
use orchestrate_core::trailer::task_trailers;
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
