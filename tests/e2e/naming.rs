//! How a spec and a backend can be named on the command line, and what is said of a slip.

use std::fs;
use std::os::unix::fs::symlink;

use crate::{check, sandbox, single};

/// Verifies REQ-F1.6.
#[test]
fn a_spec_can_be_named_in_every_usual_way() {
    let sandbox = sandbox(&single());
    let absolute = sandbox.path("specs/alpha");
    let top = sandbox.repository();
    for text in [
        "alpha",
        "alpha/",
        "specs/alpha",
        "specs/alpha//",
        "./specs/alpha",
        "./specs/../specs/alpha/",
        absolute.as_str(),
    ] {
        let _ = sandbox
            .orchestrate_in(&top, &["status", text])
            .exits(0)
            .says("alpha · Ready");
    }
    for text in [".", "./", "../alpha", "../../specs/alpha", "alpha"] {
        let _ = sandbox
            .orchestrate_in(&absolute, &["status", text])
            .exits(0)
            .says("alpha · Ready");
    }
    let linked = sandbox.root().join("by-link");
    symlink(&top, &linked).expect("a link");
    let through = linked.join("specs/alpha");
    let _ = sandbox.orchestrate_in(&top, &["status", through.as_str()]).exits(0);
    // In another checkout of the repository the same bundle is meant.
    let other = sandbox.root().join("other");
    let _ = sandbox.git(&["worktree", "add", "--quiet", "--detach", other.as_str()]);
    let _ = sandbox
        .orchestrate_in(&other.join("specs/alpha"), &["status", "."])
        .exits(0)
        .says("alpha · Ready");
    // Elsewhere nothing is meant.
    let foreign = sandbox.root().join("foreign/specs/alpha");
    fs::create_dir_all(&foreign).expect("a directory");
    for text in [
        foreign.as_str(),
        ".",
        "..",
        "./alpha",
        "specs",
        "specs/alpha/tasks.md",
        "/",
        "//alpha",
    ] {
        let output = sandbox.orchestrate_in(&top, &["status", text]);
        assert_eq!(output.exit, 2, "{text}: {output}");
    }
}

#[test]
fn a_backend_that_nobody_knows_is_a_slip_before_anything_is_read() {
    let sandbox = sandbox(&single());
    sandbox.write(".claude/planwright.yml", "\tbroken: [\n");
    check!(sandbox, sandbox.orchestrate(&["alpha", "--backend", "nonsense"]), @r"
        exit 2
        --- err
        error: --backend: there is no backend nonsense
        hint: name full-session or one of headless-oneshot, command, in-session, print
        ");
    let output = sandbox
        .orchestrate(&["alpha", "--backend", "nonsense", "--watch"])
        .exits(2);
    let _ = output.says("there is no backend nonsense");
}
