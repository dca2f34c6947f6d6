//! What a caller gets: JSON for every outcome, and exit codes that tell outcomes apart.

use crate::{alpha, check, sandbox, single};

/// Verifies REQ-F1.2.
#[test]
fn json_has_a_schema_for_every_outcome() {
    let sandbox = sandbox(&single());
    let outcome = |arguments: &[&str]| {
        let output = sandbox.orchestrate(&[&["alpha", "--format", "json"], arguments].concat());
        (output.exit, output.json())
    };
    let (exit, value) = outcome(&[]);
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(
        (exit, &value["outcome"], &value["worker"]["state"]),
        (0, &"dispatched".into(), &"started".into())
    );
    assert_eq!(value["worktree"], ".claude/worktrees/alpha-task-1");
    let (exit, value) = outcome(&["--detailed-exitcode"]);
    assert_eq!(
        (exit, &value["outcome"], &value["kind"]),
        (10, &"idle".into(), &"nothing-ready".into())
    );
    sandbox.write("specs/alpha/tasks.md", "nothing\n");
    let (exit, value) = outcome(&[]);
    assert_eq!((exit, &value["outcome"]), (4, &"halted".into()));
    assert!(value["reasons"][0]["hint"].is_string(), "{value}");
    let output = sandbox.orchestrate(&["status", "no-such-spec", "--format", "json"]);
    let value = output.json();
    assert_eq!((output.exit, &value["outcome"]), (2, &"failed".into()));
}

/// Verifies REQ-F1.1.
#[test]
fn the_detailed_exit_codes_tell_idle_capped_and_held_apart() {
    let sandbox = sandbox(&alpha());
    let code = |sandbox: &orchestrate_e2e::sandbox::Sandbox| {
        let plain = sandbox.orchestrate(&["alpha"]).exit;
        (plain, sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exit)
    };
    std::fs::create_dir(sandbox.path("specs/alpha/.orchestrate.lock")).expect("a peer's lock");
    assert_eq!(code(&sandbox), (0, 12), "held");
    std::fs::remove_dir(sandbox.path("specs/alpha/.orchestrate.lock")).expect("released");
    sandbox.configure("max_parallel_units: 0\n");
    assert_eq!(code(&sandbox), (0, 11), "paused");
    sandbox.configure("");
    for (unit, exit) in [("1", 0), ("3", 0)] {
        let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(exit);
        sandbox.wait_for_worker("alpha", unit);
    }
    assert_eq!(code(&sandbox), (0, 10), "idle");
}

/// What could not be told was not done: a full disk behind a pipe must not look like a success.
#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let sandbox = sandbox(&single());
    for command in [
        "--help",
        "-h",
        "--version",
        "plumbing orchestrate-lock --help",
        "status alpha",
        "graph alpha",
        "validate",
        "plumbing spec-anchor specs/alpha",
        "config list",
    ] {
        let output = sandbox.shell(&format!("orchestrate {command} > /dev/full"));
        assert_eq!(output.exit, 1, "{command}: {output}");
        assert!(
            output.to_string().contains("cannot write to standard output"),
            "{output}"
        );
        // Whoever reads only the first lines wants no more, and nothing is wrong.
        let output = sandbox.shell(&format!("orchestrate {command} | true"));
        assert_eq!(output.exit, 0, "{command}: {output}");
    }
    // The codes of --detailed-exitcode are successes too.
    sandbox.configure("max_parallel_units: 0\n");
    let output = sandbox.shell("orchestrate alpha --detailed-exitcode > /dev/full");
    assert_eq!(output.exit, 1, "{output}");
    let output = sandbox.shell("orchestrate alpha --detailed-exitcode 2> /dev/full");
    assert_eq!(output.exit, 11, "what is said beside it is no data: {output}");
}

/// Verifies REQ-A1.8.
#[test]
fn a_command_line_that_is_quoted_back_drives_no_terminal() {
    let sandbox = sandbox(&single());
    for arguments in [
        &["--\u{1b}[31mred"][..],
        &["status", "--format", "\u{1b}]0;title\u{7}"],
        &["plumbing", "orchestrate-lock", "\u{9b}2J", "specs/alpha"],
        &["plumbing", "\u{202e}txet"],
    ] {
        let output = sandbox.orchestrate(arguments).exits(2);
        assert!(output.stderr.starts_with("error: "), "{output}");
        let is_text = |character: char| character == '\n' || orchestrate_core::identifier::is_printable(character);
        assert!(output.text().chars().all(is_text), "{output:?}");
    }
    check!(sandbox, sandbox.orchestrate(&["status", "--nothing"]), @r"
        exit 2
        --- err
        error: unexpected argument '--nothing' found

          tip: to pass '--nothing' as a value, use '-- --nothing'

        Usage: orchestrate-under-test status [OPTIONS] [SPEC]

        For more information, try '--help'.
        ");
}
