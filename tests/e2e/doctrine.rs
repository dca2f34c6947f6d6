//! Rule documents: a dispatch tells a worker the right text or starts none, and the doctor compares overlays.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use orchestrate_e2e::sandbox::Sandbox;

use crate::doctor::every_finding;
use crate::{check, sandbox, single};

const LAYERS: [&str; 2] = [".claude/doctrine.local", ".claude/doctrine"];

/// Asserts that a step halts over the document, starts nobody and writes nothing.
#[track_caller]
fn halts(sandbox: &Sandbox, why: &str) {
    let before = sandbox.listing();
    let _ = sandbox
        .orchestrate(&["alpha"])
        .exits(4)
        .says("halted: cannot resolve the rule document execute-task: ")
        .says(why)
        .says("hint: ");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
    assert_eq!(sandbox.refs("refs/heads/planwright"), [""; 0]);
    assert_eq!(sandbox.starts(), [""; 0]);
}

/// Verifies REQ-G1.4.
#[test]
fn a_broken_overlay_of_the_workers_rules_halts_in_every_layer() {
    for layer in LAYERS {
        let sandbox = sandbox(&single());
        let relative = format!("{layer}/execute-task.md");
        for (text, why) in [
            (&b""[..], "the file is empty"),
            (b" \n\t\n", "the file is empty"),
            (b"# rules\n\xff\n", "the file is not UTF-8 text"),
            (b"# rules\n\0\n", "the file holds a NUL byte"),
        ] {
            sandbox.write(&relative, "");
            fs::write(sandbox.path(&relative), text).expect("written");
            halts(&sandbox, why);
        }
        fs::remove_file(sandbox.path(&relative)).expect("removed");
        fs::create_dir(sandbox.path(&relative)).expect("a directory");
        halts(&sandbox, "it is no regular file");
        fs::remove_dir(sandbox.path(&relative)).expect("removed");
        symlink("nowhere.md", sandbox.path(&relative)).expect("a link");
        halts(&sandbox, "execute-task.md");
        fs::remove_file(sandbox.path(&relative)).expect("removed");
        let large = fs::File::create(sandbox.path(&relative)).expect("made");
        large.set_len(100 * 1024 * 1024).expect("a hole");
        halts(&sandbox, "it has 104857600 bytes");
        fs::remove_file(sandbox.path(&relative)).expect("removed");
        let _ = sandbox.orchestrate(&["alpha"]).exits(0);
        sandbox.wait_for_worker("alpha", "1");
        assert!(sandbox.noted("1", "prompt").contains("# Execute one unit"));
    }
}

/// Verifies REQ-G1.4.
#[test]
fn a_document_that_leads_outside_its_overlay_halts() {
    for layer in LAYERS {
        let sandbox = sandbox(&single());
        let outside = sandbox.root().join("outside.md");
        fs::write(&outside, "# other rules\n").expect("a file");
        sandbox.write(&format!("{layer}/.keep"), "");
        symlink(&outside, sandbox.path(&format!("{layer}/execute-task.md"))).expect("a link");
        halts(&sandbox, "leads outside its");
    }
}

/// Verifies REQ-G1.4.
#[test]
fn an_unreadable_overlay_halts() {
    if rustix::process::geteuid().is_root() {
        println!("skipped: permissions do not bind root");
        return;
    }
    let sandbox = sandbox(&single());
    sandbox.write(".claude/doctrine.local/execute-task.md", "# mine\n");
    let path = sandbox.path(".claude/doctrine.local/execute-task.md");
    fs::set_permissions(path, fs::Permissions::from_mode(0o000)).expect("closed");
    halts(&sandbox, "ermission denied");
}

#[test]
fn an_overlay_of_the_workers_rules_is_what_the_worker_is_told() {
    let sandbox = sandbox(&single());
    sandbox.write(".claude/doctrine/execute-task.md", "# The team's rules\n");
    sandbox.write(".claude/doctrine.local/execute-task.md", "# My own rules\n");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    sandbox.wait_for_worker("alpha", "1");
    let prompt = sandbox.noted("1", "prompt");
    assert!(
        prompt.contains("# My own rules") && !prompt.contains("# The team's rules"),
        "{prompt}"
    );
}

#[test]
fn a_broken_overlay_of_a_document_that_is_not_told_only_warns() {
    let sandbox = sandbox(&single());
    fs::create_dir_all(sandbox.path(".claude/doctrine.local/proportionality.md")).expect("a directory");
    let _ = sandbox
        .orchestrate(&["alpha", "--dry-run"])
        .exits(0)
        .says("the machine-local rule document proportionality is skipped");
    // What everybody shares has to be right.
    fs::create_dir_all(sandbox.path(".claude/doctrine/proportionality.md")).expect("a directory");
    let _ = sandbox
        .orchestrate(&["alpha", "--dry-run"])
        .exits(4)
        .says("cannot resolve the rule document proportionality");
}

#[test]
fn the_doctor_says_how_each_overlay_stands_to_the_built_in_text() {
    let sandbox = sandbox(&single());
    let built_in = sandbox
        .orchestrate(&["plumbing", "resolve-rule-doc", "proportionality"])
        .exits(0)
        .stdout;
    let text = fs::read_to_string(built_in.trim_end()).expect("the document");
    let doctrine = |name: &str, text: &str| sandbox.write(&format!(".claude/doctrine/{name}"), text);
    doctrine("proportionality.md", &text);
    doctrine("execute-task.md", "# mine\n");
    doctrine("selection-contract.md", "# mine\n<!-- built-in: 0123456 -->\n");
    doctrine("execute_task.md", "# mine\n");
    doctrine("house-rules.md", "# mine\n");
    doctrine("gate-wiring.md", "# planwright's\n");
    doctrine(".gitkeep", "");
    fs::create_dir_all(sandbox.path(".claude/doctrine/spec-format.md")).expect("a directory");
    check!(sandbox, every_finding(&sandbox), @r"
        exit 1

        fault in rule-documents: [SANDBOX]/repository/.claude/doctrine/execute-task.md
          it differs from the built-in text, and does not say which one it was compared with
          mend: compare it with the file that `orchestrate plumbing resolve-rule-doc --built-in execute-task` prints, and write the line `<!-- built-in: [HASH] -->` into it; or remove it

        fault in rule-documents: [SANDBOX]/repository/.claude/doctrine/execute_task.md
          no rule document has this name: did you mean execute-task.md?
          mend: rename it to execute-task.md, or remove it

        note in rule-documents: [SANDBOX]/repository/.claude/doctrine/house-rules.md
          no rule document of orchestrate has this name, so a dispatch does not read it
          mend: unless something else reads it: rm [SANDBOX]/repository/.claude/doctrine/house-rules.md

        note in rule-documents: [SANDBOX]/repository/.claude/doctrine/proportionality.md
          it is the built-in text, and would hide a newer one
          mend: rm [SANDBOX]/repository/.claude/doctrine/proportionality.md

        fault in rule-documents: [SANDBOX]/repository/.claude/doctrine/selection-contract.md
          it was compared with the built-in text [SHORT], which has changed since
          mend: compare it with the file that `orchestrate plumbing resolve-rule-doc --built-in selection-contract` prints, and write the line `<!-- built-in: [HASH] -->` into it; or remove it

        fault in rule-documents: [SANDBOX]/repository/.claude/doctrine/spec-format.md
          cannot read the rule document spec-format: [SANDBOX]/repository/.claude/doctrine/spec-format.md: it is no regular file
          mend: mend [SANDBOX]/repository/.claude/doctrine/spec-format.md, or remove it to use the document below it
        ");
}

#[test]
fn an_overlay_that_was_compared_is_left_in_peace() {
    let sandbox = sandbox(&single());
    sandbox.write(".claude/doctrine/execute-task.md", "# mine\n");
    let value = sandbox.orchestrate(&["doctor", "--format", "json"]).exits(1).json();
    let mend = value["findings"][0]["mend"].as_str().expect("a remedy").to_owned();
    let note = mend
        .split('`')
        .find(|part| part.starts_with("<!--"))
        .expect("the line to write");
    sandbox.write(".claude/doctrine/execute-task.md", &format!("# mine\n\n{note}\n"));
    let _ = sandbox.orchestrate(&["doctor"]).exits(0).says("nothing is wrong");
}
