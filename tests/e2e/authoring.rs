//! A person's acts on a bundle: made, parked, unparked. Signing has a module of its own.

use std::fs;

use orchestrate_e2e::listing::Listing;
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_testkit::bundle::write_texts;

use crate::{PROGRAM, alpha, check, sandbox, state_of};

/// A sandbox with a repository and no bundle.
fn fresh() -> Sandbox {
    let sandbox = Sandbox::empty(PROGRAM);
    sandbox.initialise(&[]);
    sandbox
}

/// Verifies REQ-B3.2.
#[test]
fn a_new_bundle_reads_as_a_draft() {
    let sandbox = fresh();
    let before = sandbox.listing();
    check!(sandbox, sandbox.orchestrate(&["new", "billing", "--title", "Billing: again"]), @r"
        exit 0
        --- out
        made specs/billing: a Draft of two tasks, to be written over
          requirements.md  the goal, and what must be true
          design.md        the decisions, each with its alternatives
          tasks.md         the tasks, and what each depends on
          test-spec.md     how each requirement is verified

        next: write what you mean into them; then orchestrate sign specs/billing
        ");
    assert_eq!(
        sandbox.changes_since(&before),
        [
            "+ specs/",
            "+ specs/billing/",
            "+ specs/billing/design.md",
            "+ specs/billing/requirements.md",
            "+ specs/billing/tasks.md",
            "+ specs/billing/test-spec.md",
        ]
    );
    assert!(
        sandbox
            .read("specs/billing/requirements.md")
            .starts_with("# Billing: again — Requirements\n")
    );
    let value = sandbox
        .orchestrate(&["status", "billing", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(value["tasks"].as_array().map(Vec::len), Some(2), "{value}");
    let _ = sandbox
        .orchestrate(&["billing"])
        .exits(4)
        .says("specs/billing is Draft");
}

/// Verifies REQ-B3.2.
#[test]
fn a_bundle_that_is_there_is_never_touched() {
    let sandbox = fresh();
    let _ = sandbox.orchestrate(&["new", "specs/billing/"]).exits(0);
    let before = sandbox.listing();
    check!(sandbox, sandbox.orchestrate(&["new", "billing"]), @r"
        exit 1
        --- err
        error: specs/billing is there already
        hint: take another name, or go on with it: orchestrate status specs/billing
        ");
    sandbox.write("specs/file", "");
    let _ = sandbox
        .orchestrate(&["new", "file"])
        .exits(1)
        .says("specs/file is there already");
    fs::remove_file(sandbox.path("specs/file")).expect("removed");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
}

#[test]
fn names_and_titles_that_are_none_are_refused_and_nothing_is_written() {
    let sandbox = fresh();
    let before = sandbox.listing();
    let long = "x".repeat(65);
    for name in [
        "..",
        "../x",
        "a/b",
        "specs/a/b",
        "Billing",
        "_observations",
        "-x",
        "a b",
        "",
        "/tmp/x",
        "\u{1b}[2J",
        &long,
    ] {
        let _ = sandbox.orchestrate(&["new", "--", name]).exits(2).says("hint:");
    }
    for title in ["", " ", "a\n**Status:** Ready", "\u{1b}[2J"] {
        let _ = sandbox
            .orchestrate(&["new", "x", "--title", title])
            .exits(2)
            .says("is no title");
    }
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
}

#[test]
fn a_linked_specs_directory_is_not_followed() {
    let sandbox = fresh();
    fs::create_dir(sandbox.path("elsewhere")).expect("made");
    std::os::unix::fs::symlink("elsewhere", sandbox.path("specs")).expect("linked");
    let before = sandbox.listing();
    let _ = sandbox.orchestrate(&["new", "billing"]).exits(1).says("hint:");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
}

#[test]
fn outside_of_a_repository_nothing_is_made() {
    let sandbox = Sandbox::empty(PROGRAM);
    let before = sandbox.listing();
    let _ = sandbox.orchestrate(&["new", "billing"]).exits(1).says("git repository");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
}

/// Verifies REQ-B3.4.
#[test]
fn a_parked_task_is_not_dispatched_until_it_is_unparked() {
    let sandbox = sandbox(&alpha());
    let before = Listing::of(&sandbox.path("specs"));
    check!(sandbox, sandbox.orchestrate(&["park", "alpha", "1", "--in", "deferred", "--reason", "until\nspring"]), @r#"
        exit 0
        --- out
        parked task 1 of specs/alpha under Deferred
        the tower sees it at once, and what was signed is unchanged; to keep it:
          git add specs/alpha/tasks.md
          git commit -m "chore(alpha): park task 1" -- specs/alpha/tasks.md
        "#);
    assert_eq!(
        Listing::of(&sandbox.path("specs")).changes_since(&before),
        ["~ alpha/tasks.md"]
    );
    assert!(
        sandbox
            .read("specs/alpha/tasks.md")
            .contains("## Deferred\n\n- **Task 1** — until spring\n\n## Out of scope"),
        "{}",
        sandbox.read("specs/alpha/tasks.md")
    );
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 3");
    sandbox.wait_for_worker("alpha", "3");
    check!(sandbox, sandbox.orchestrate(&["unpark", "alpha", "1"]), @r#"
        exit 0
        --- out
        task 1 of specs/alpha is parked no longer
        the tower sees it at once; tasks.md is as it was committed
        "#);
    assert_eq!(
        sandbox.git(&["status", "--porcelain", "specs"]),
        "",
        "the file is as it was"
    );
    assert_eq!(state_of(&sandbox, "1"), "ready");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
}

/// Verifies REQ-B3.4.
#[test]
fn the_printed_git_commands_work_where_they_are_printed() {
    let sandbox = sandbox(&alpha());
    let worktree = sandbox.root().join("side tree");
    let _ = sandbox.git(&["worktree", "add", "--quiet", "-b", "side", worktree.as_str()]);
    for directory in [sandbox.repository(), sandbox.path("specs/alpha"), worktree] {
        for arguments in [
            &["park", "alpha", "1", "--in", "deferred", "--reason", "x"][..],
            &["unpark", "alpha", "1"],
        ] {
            let output = sandbox.orchestrate_in(&directory, arguments).exits(0);
            let commands: Vec<&str> = output
                .stdout
                .lines()
                .filter_map(|line| line.strip_prefix("  git"))
                .collect();
            assert_eq!(commands.len(), 2, "{output}");
            for command in commands {
                let _ = sandbox.shell(&format!("cd '{directory}' && git{command}")).exits(0);
            }
            assert_eq!(
                sandbox.git(&["status", "--porcelain", "specs"]),
                "",
                "{directory}: it is committed"
            );
        }
    }
    assert_eq!(
        sandbox.git(&["rev-list", "--count", "--grep", "park task 1", "HEAD"]),
        "6"
    );
}

#[test]
fn what_cannot_be_parked_is_refused_and_nothing_is_written() {
    let sandbox = sandbox(&alpha().awaiting("3", "an answer"));
    let before = sandbox.listing();
    let park = |task: &str, reason: &str| {
        sandbox.orchestrate(&["park", "alpha", task, "--in", "deferred", "--reason", reason])
    };
    check!(sandbox, park("3", "later"), @r"
        exit 1
        --- err
        error: task 3 is parked already, under Awaiting input (line 36)
        hint: to park it elsewhere: orchestrate unpark alpha 3, then park it
        ");
    let _ = park("9", "later").exits(2).says("there is no task 9");
    let _ = park("1.x", "later").exits(2);
    let _ = park("1", " \n ").exits(2).says("say why");
    let _ = sandbox
        .orchestrate(&["unpark", "alpha", "1"])
        .exits(1)
        .says("task 1 is not parked");
    let _ = sandbox.orchestrate(&["park", "alpha", "1", "--reason", "x"]).exits(2);
    let _ = sandbox
        .orchestrate(&["park", "alpha", "1", "--in", "nowhere", "--reason", "x"])
        .exits(2);
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
}

#[test]
fn a_busy_bundle_is_not_written() {
    let sandbox = sandbox(&alpha());
    fs::create_dir(sandbox.path("specs/alpha/.orchestrate.lock")).expect("the reference's lock");
    let before = Listing::of(&sandbox.path("specs"));
    let _ = sandbox
        .orchestrate(&["park", "alpha", "1", "--in", "deferred", "--reason", "x"])
        .exits(1)
        .says("busy");
    assert_eq!(Listing::of(&sandbox.path("specs")).changes_since(&before), [""; 0]);
}

/// Verifies REQ-B3.4.
#[test]
fn parking_keeps_line_ends_and_modes() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = fresh();
    let fixture = alpha();
    let texts: Vec<_> = fixture
        .signed_texts()
        .into_iter()
        .map(|(file, text)| (file, text.replace('\n', "\r\n")))
        .collect();
    write_texts(fixture.spec(), &texts, &sandbox.repository()).expect("written");
    let path = sandbox.path("specs/alpha/tasks.md");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).expect("set");
    let before = sandbox.read("specs/alpha/tasks.md");
    let _ = sandbox
        .orchestrate(&["park", "alpha", "2", "--in", "out-of-scope", "--reason", "no"])
        .exits(0);
    let after = sandbox.read("specs/alpha/tasks.md");
    assert!(
        after.contains("## Out of scope\r\n\r\n- **Task 2** — no\r\n"),
        "{after:?}"
    );
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
    assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o664);
    let _ = sandbox.orchestrate(&["unpark", "alpha", "2"]).exits(0);
    assert_eq!(sandbox.read("specs/alpha/tasks.md"), before);
}
