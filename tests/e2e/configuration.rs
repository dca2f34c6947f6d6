//! Settings: a repository's content never chooses a program, and a broken layer says so.

use crate::{check, sandbox, single};

/// A setting that would start another program.
fn theft(sandbox: &orchestrate_e2e::sandbox::Sandbox) -> String {
    let stolen = sandbox.desk().join("stolen");
    format!("dispatch_backend: command\ncommand_backend: [\"/bin/sh\", \"-c\", \"touch {stolen}\"]\n")
}

/// Verifies REQ-E1.5.
#[test]
fn a_tracked_file_cannot_choose_a_program() {
    let sandbox = sandbox(&single());
    std::fs::remove_file(sandbox.path(".claude/planwright.local.yml")).expect("removed");
    sandbox.write(".claude/planwright.yml", &theft(&sandbox));
    let _ = sandbox.commit_all("settings");
    check!(sandbox, sandbox.orchestrate(&["alpha"]), @r"
        exit 4
        --- out
        halted: backend command cannot start a worker: no command is configured
        hint: set command_backend, a list of program and arguments that is read from the machine-local and adopter layers only
        parked task 1 under Awaiting input
          when that is done: orchestrate unpark alpha 1
        nothing was committed, and nothing was dispatched; the next step goes on
        --- err
        warning: [SANDBOX]/repository/.claude/planwright.yml:2: command_backend is ignored, because a cloned repository cannot choose a program
        ");
    assert_eq!(sandbox.refs("refs/heads/planwright"), [""; 0]);
    assert!(!sandbox.desk().join("stolen").exists());
}

#[test]
fn a_committed_machine_local_file_cannot_choose_a_program() {
    let sandbox = sandbox(&single());
    sandbox.write(".claude/planwright.local.yml", &theft(&sandbox));
    for stage in ["staged", "committed", "committed under another case"] {
        match stage {
            "staged" => drop(sandbox.git(&["add", "--force", ".claude/planwright.local.yml"])),
            "committed" => drop(sandbox.git(&["commit", "--quiet", "--message", "settings"])),
            _ => {
                let _ = sandbox.git(&[
                    "mv",
                    "--force",
                    ".claude/planwright.local.yml",
                    ".claude/Planwright.local.yml",
                ]);
                let _ = sandbox.git(&["commit", "--quiet", "--message", "settings"]);
                sandbox.write(".claude/planwright.local.yml", &theft(&sandbox));
            }
        }
        let _ = sandbox.orchestrate(&["alpha"]).exits(4).says("warning: ");
        let _ = sandbox.orchestrate(&["unpark", "alpha", "1"]).exits(0);
        assert!(!sandbox.desk().join("stolen").exists(), "{stage}");
        assert_eq!(sandbox.refs("refs/heads/planwright"), [""; 0], "{stage}");
    }
}

/// Verifies REQ-E1.5.
#[test]
fn a_machine_local_file_that_leads_into_the_repository_cannot_choose_a_program() {
    let sandbox = sandbox(&single());
    std::fs::remove_file(sandbox.path(".claude/planwright.local.yml")).expect("removed");
    sandbox.write("tracked.yml", &theft(&sandbox));
    let _ = sandbox.commit_all("settings");
    std::os::unix::fs::symlink("../tracked.yml", sandbox.path(".claude/planwright.local.yml")).expect("a link");
    let _ = sandbox.orchestrate(&["alpha"]).exits(4).says("warning: ");
    assert!(!sandbox.desk().join("stolen").exists());
}

#[test]
fn a_relative_search_path_finds_no_program_of_the_repository() {
    let sandbox = sandbox(&single());
    sandbox.write("claude", "#!/bin/sh\ntouch ../desk/stolen\n");
    let _ = sandbox.shell("chmod +x claude").exits(0);
    let variables = [("PATH", ".::/usr/bin:/bin")];
    let output = sandbox.orchestrate_with(
        &sandbox.repository(),
        &["alpha", "--backend", "headless-oneshot"],
        &variables,
    );
    let _ = output.exits(4).says("claude is not on the search path");
    assert!(!sandbox.desk().join("stolen").exists());
}

#[test]
fn the_repositorys_file_may_set_what_is_harmless() {
    let sandbox = sandbox(&single());
    sandbox.write(".claude/planwright.yml", "max_parallel_units: 0\n");
    let _ = sandbox.commit_all("settings");
    let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(11);
    sandbox.configure("max_parallel_units: 1\n");
    let _ = sandbox
        .orchestrate(&["alpha", "--dry-run"])
        .exits(0)
        .says("would dispatch alpha task 1");
}

/// Verifies REQ-G1.2.
#[test]
fn a_broken_file_of_the_repository_stops_and_a_local_one_warns() {
    let sandbox = sandbox(&single());
    sandbox.configure("max_parallel_units: many\n");
    let _ = sandbox
        .orchestrate(&["alpha", "--dry-run"])
        .exits(0)
        .says("warning: ")
        .says("max_parallel_units");
    sandbox.write(".claude/planwright.yml", "watch_interval_seconds: soon\n");
    let before = sandbox.listing();
    let output = sandbox.orchestrate(&["alpha"]).says("hint: ");
    assert_ne!(output.exit, 0, "{output}");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
}

#[test]
fn an_adopters_overlay_is_read() {
    let sandbox = sandbox(&single());
    let overlay = sandbox.root().join("overlay");
    std::fs::create_dir(&overlay).expect("a directory");
    std::fs::write(overlay.join("planwright.yml"), "max_parallel_units: 0\n").expect("a file");
    let variables = [("PLANWRIGHT_ADOPTER_OVERLAY", overlay.as_str())];
    let arguments = ["alpha", "--detailed-exitcode"];
    let _ = sandbox
        .orchestrate_with(&sandbox.repository(), &arguments, &variables)
        .exits(11);
}
