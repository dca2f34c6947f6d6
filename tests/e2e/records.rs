//! Records and the plumbing around them: the anchor's failures, the migration to format version 2, the ledger guard.

use std::fs;

use crate::{check, sandbox, single};

#[test]
fn the_anchor_fails_with_the_contracts_lines_and_exit_numbers() {
    let sandbox = sandbox(&single());
    let original = |file: &str| sandbox.read(&format!("specs/alpha/{file}"));
    let anchor = |file: &str, bytes: &[u8]| {
        let path = sandbox.path("specs/alpha").join(file);
        let before = fs::read(&path).expect("the file");
        fs::write(&path, bytes).expect("written");
        let output = sandbox.orchestrate(&["plumbing", "spec-anchor", "specs/alpha/"]);
        fs::write(&path, before).expect("restored");
        output
    };
    check!(sandbox, anchor("design.md", b"body first\n**Status:** Ready\n"), @r"
        exit 4
        --- err
        spec-anchor: cannot anchor design.md: it has no header block followed by a body
        spec-anchor: header-block parse failed for specs/alpha/design.md
        ");
    check!(sandbox, anchor("requirements.md", b"**Status:** Ready\n**Status:** Ready\nbody\n"), @r"
        exit 3
        --- err
        spec-anchor: cannot anchor requirements.md: its header declares Status more than once
        ");
    check!(sandbox, anchor("tasks.md", format!("{}\n```\n", original("tasks.md")).as_bytes()), @r"
        exit 3
        --- err
        spec-anchor: cannot anchor tasks.md: a code fence is never closed
        ");
    check!(sandbox, anchor("tasks.md", original("tasks.md").replace("## Deferred", "### Task 01 — again\n\n## Deferred").as_bytes()), @r"
        exit 1
        --- err
        spec-anchor: cannot anchor tasks.md: two tasks share one number
        ");
    check!(sandbox, anchor("test-spec.md", b"**Status:** Ready\nbody\0\n"), @r"
        exit 1
        --- err
        spec-anchor: cannot anchor test-spec.md: it holds a NUL byte
        ");
    fs::remove_file(sandbox.path("specs/alpha/test-spec.md")).expect("removed");
    fs::remove_file(sandbox.path("specs/alpha/design.md")).expect("removed");
    check!(sandbox, sandbox.orchestrate(&["plumbing", "spec-anchor", "specs/alpha"]), @r"
        exit 1
        --- err
        spec-anchor: missing or unreadable: specs/alpha/design.md
        ");
    check!(sandbox, sandbox.orchestrate(&["plumbing", "spec-anchor"]), @r"
        exit 2
        --- err
        error: the following required arguments were not provided:
          <SPEC_DIRECTORY>

        Usage: orchestrate-under-test plumbing spec-anchor <SPEC_DIRECTORY>

        For more information, try '--help'.
        ");
}
