//! Settings: a repository's content never chooses a program, and a broken layer says so.

use crate::{check, sandbox, single};

/// A setting that would start another program.
fn theft(sandbox: &orchestrate_e2e::sandbox::Sandbox) -> String {
    let stolen = sandbox.desk().join("stolen");
    format!("dispatch_backend: command\ncommand_backend: [\"/bin/sh\", \"-c\", \"touch {stolen}\"]\n")
}

#[test]
fn a_tracked_file_cannot_choose_a_program() {
    let sandbox = sandbox(&single());
    std::fs::remove_file(sandbox.path(".claude/planwright.local.yml")).expect("removed");
    sandbox.write(".claude/planwright.yml", &theft(&sandbox));
    let _ = sandbox.commit_all("settings");
    let before = sandbox.listing();
    check!(sandbox, sandbox.orchestrate(&["alpha"]), @r"
        exit 4
        --- out
        halted: backend command cannot start a worker: no command is configured
        hint: set command_backend, a list of program and arguments that is read from the machine-local and adopter layers only
        --- err
        warning: [SANDBOX]/repository/.claude/planwright.yml:2: command_backend is ignored, because a cloned repository cannot choose a program
        ");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
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
        assert!(!sandbox.desk().join("stolen").exists(), "{stage}");
        assert_eq!(sandbox.refs("refs/heads/planwright"), [""; 0], "{stage}");
    }
}

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

/// A sandbox whose machine-local file is what is given, and whose repository sets one key.
fn layered(local: &[u8]) -> orchestrate_e2e::sandbox::Sandbox {
    let sandbox = sandbox(&single());
    sandbox.write(".claude/planwright.yml", "# shared\nmax_parallel_units: 5\n");
    std::fs::write(sandbox.path(".claude/planwright.local.yml"), local).expect("written");
    sandbox
}

#[test]
fn a_key_is_explained_layer_by_layer() {
    let sandbox = layered(b"watch_interval_seconds: 7\n");
    check!(sandbox, sandbox.orchestrate(&["config", "get", "max_parallel_units"]), @r"
        exit 0
        --- out
        5
        ");
    check!(sandbox, sandbox.orchestrate(&["config", "get", "max_parallel_units", "--explain"]), @r"
        exit 0
        --- out
        max_parallel_units is 5, from [SANDBOX]/repository/.claude/planwright.yml:2 (repo-tracked)

          machine-local  -  [SANDBOX]/repository/.claude/planwright.local.yml  not set
          repo-tracked   5  [SANDBOX]/repository/.claude/planwright.yml:2      decides
          core           3  built-in defaults:33

        How many units of one spec may be in progress at once; 0 pauses dispatch.
          values         whole number from 0
          default        3
          set in         any layer
          illegal value  a warning and the default
        ");
    let output = sandbox
        .orchestrate(&["config", "get", "max_parallel_units", "--format", "json"])
        .exits(0);
    let value = output.json();
    assert_eq!(value["value"], "5");
    assert_eq!(value["origin"]["layer"], "repo-tracked");
    assert_eq!(
        value["origin"]["place"],
        sandbox.path(".claude/planwright.yml:2").as_str()
    );
    let layers: Vec<String> = value["layers"]
        .as_array()
        .expect("layers")
        .iter()
        .map(|layer| format!("{} {}", layer["layer"], layer["state"]))
        .collect();
    assert_eq!(
        layers,
        [
            "\"machine-local\" \"not-set\"",
            "\"repo-tracked\" \"sets\"",
            "\"core\" \"sets\""
        ]
    );
    assert_eq!(value["meaning"]["default"], "3");
}

#[test]
fn every_key_is_listed_with_its_origin() {
    let sandbox = layered(b"review_sequence: [polish]\nwatch_interval_seconds: 7\n");
    check!(sandbox, sandbox.orchestrate(&["config", "list"]), @r"
        exit 0
        --- out
        commit_on_kickoff          true          core           built-in defaults:14
        dispatch_backend           full-session  core           built-in defaults:18
        dispatch_backend_per_spec  {}            core           built-in defaults:22
        command_backend            []            core           built-in defaults:26
        base_branch                (empty)       core           built-in defaults:30
        max_parallel_units         5             repo-tracked   [SANDBOX]/repository/.claude/planwright.yml:2
        stale_lock_threshold       15m           core           built-in defaults:36
        stale_marker_threshold     15m           core           built-in defaults:39
        watch_interval_seconds     7             machine-local  [SANDBOX]/repository/.claude/planwright.local.yml:2
        review_sequence            [polish]      machine-local  [SANDBOX]/repository/.claude/planwright.local.yml:1 (not read by orchestrate)
        ");
    let value = sandbox
        .orchestrate(&["config", "list", "--format", "json"])
        .exits(0)
        .json();
    let readers: Vec<&str> = value["keys"]
        .as_array()
        .expect("keys")
        .iter()
        .map(|key| key["reader"].as_str().expect("a reader"))
        .collect();
    assert_eq!(readers.iter().filter(|reader| **reader == "planwright").count(), 1);
    assert!(readers.len() > 5);
}

#[test]
fn a_bad_line_costs_its_key_and_is_named() {
    let sandbox = layered(
        b"stale_lock_threshold:\n  - 5\nmax_paralel_units: 9\nwatch_interval_seconds: 7\nwatch_interval_seconds: 8\nbase_branch: main#really\n",
    );
    let output = sandbox.orchestrate(&["config", "list"]).exits(0);
    check!(sandbox, output, @r"
        exit 0
        --- out
        commit_on_kickoff          true          core           built-in defaults:14
        dispatch_backend           full-session  core           built-in defaults:18
        dispatch_backend_per_spec  {}            core           built-in defaults:22
        command_backend            []            core           built-in defaults:26
        base_branch                main          machine-local  [SANDBOX]/repository/.claude/planwright.local.yml:6
        max_parallel_units         5             repo-tracked   [SANDBOX]/repository/.claude/planwright.yml:2
        stale_lock_threshold       15m           core           built-in defaults:36
        stale_marker_threshold     15m           core           built-in defaults:39
        watch_interval_seconds     7             machine-local  [SANDBOX]/repository/.claude/planwright.local.yml:4
        max_paralel_units          9             machine-local  [SANDBOX]/repository/.claude/planwright.local.yml:3 (not read by orchestrate)
        --- err
        warning: [SANDBOX]/repository/.claude/planwright.local.yml:3: `max_paralel_units` is no key: did you mean `max_parallel_units`?
        warning: [SANDBOX]/repository/.claude/planwright.local.yml:5: watch_interval_seconds is ignored here: line 4 set it, and the first line of a key counts
        warning: [SANDBOX]/repository/.claude/planwright.local.yml:6: base_branch ends at the first `#`: `main` is used
        warning: [SANDBOX]/repository/.claude/planwright.local.yml:2: stale_lock_threshold: a list item; lists are written inline, as `key: [a, b]`; the default 15m is used
        ");
    // The step says the same, and goes on.
    let output = sandbox.orchestrate(&["alpha", "--dry-run"]).exits(0);
    let named = [
        "planwright.local.yml:3: `max_paralel_units` is no key: did you mean `max_parallel_units`?",
        "planwright.local.yml:2: stale_lock_threshold: ",
    ];
    let _ = named.iter().fold(output, |output, text| output.says(text));
}

#[test]
fn a_name_that_is_no_key_is_answered_with_the_one_that_was_meant() {
    let sandbox = layered(b"");
    check!(sandbox, sandbox.orchestrate(&["config", "get", "max_paralel"]), @r"
        exit 2
        --- err
        error: the key is set in no layer of the configuration
        hint: orchestrate config get max_parallel_units
        ");
    let _ = sandbox
        .orchestrate(&["config", "get", "Max"])
        .exits(2)
        .says("not a configuration key");
    let _ = sandbox
        .orchestrate(&["config", "get", "dispatch_fence"])
        .exits(1)
        .says("does not read it");
    let _ = sandbox
        .orchestrate(&["config", "get", "review_sequence"])
        .exits(0)
        .says("[polish]");
}

#[test]
fn a_value_that_the_repository_breaks_is_an_error_and_the_rest_is_listed() {
    let sandbox = layered(b"");
    sandbox.write(
        ".claude/planwright.yml",
        "watch_interval_seconds: soon\nmax_parallel_units: 4\n",
    );
    let _ = sandbox
        .orchestrate(&["config", "get", "watch_interval_seconds"])
        .exits(1)
        .says("hint: correct or remove");
    let _ = sandbox
        .orchestrate(&["config", "get", "max_parallel_units"])
        .exits(0)
        .says("4");
    let listed = sandbox
        .orchestrate(&["config", "list"])
        .exits(1)
        .says("hint: correct or remove");
    assert!(
        listed.stdout.contains("max_parallel_units") && listed.stdout.contains("illegal, see the error"),
        "{listed}"
    );
    sandbox.write(".claude/planwright.yml", "max_parallel_units: 4\n- a\n");
    let _ = sandbox
        .orchestrate(&["config", "list"])
        .exits(1)
        .says("planwright.yml:2: a list item");
}

#[test]
fn configuration_is_read_outside_a_repository_too() {
    let sandbox = layered(b"max_parallel_units: 9\n");
    let output = sandbox
        .orchestrate_in(sandbox.root(), &["config", "get", "max_parallel_units"])
        .exits(0);
    assert_eq!(output.stdout, "3\n");
}

#[test]
fn hostile_files_are_bounded_and_named() {
    let ask = |sandbox: &orchestrate_e2e::sandbox::Sandbox| {
        sandbox.orchestrate(&["config", "get", "max_parallel_units", "--explain"])
    };
    let files: [(&[u8], &str); 8] = [
        (b"max_parallel_units: 2\0\n", "3"),
        (b"max_parallel_units: \xff\n", "3"),
        (b"max_parallel_units: 2\r\nmax_parallel_units: 4\r\n", "2"),
        (b"max_parallel_units:\t2\t# two\n", "2"),
        (b"\tmax_parallel_units: 2\n", "5"),
        (b"max_parallel_units: 2#two\n", "2"),
        (b"\xef\xbb\xbfmax_parallel_units: 2\n", "2"),
        (b"max_parallel_units: \"2 # two\"\n", "3"),
    ];
    for (file, expected) in files {
        let sandbox = layered(file);
        let output = ask(&sandbox).exits(0);
        assert!(
            output
                .stdout
                .starts_with(&format!("max_parallel_units is {expected}, ")),
            "{file:?}\n{output}"
        );
        assert!(!output.text().contains(['\0', '\u{1b}']), "{output}");
    }
    let sandbox = layered(b"");
    let local = sandbox.path(".claude/planwright.local.yml");
    let large = std::fs::File::create(&local).expect("made");
    large.set_len(100 * 1024 * 1024).expect("a hole");
    let _ = ask(&sandbox)
        .exits(0)
        .says("max_parallel_units is 5")
        .says("it has 104857600 bytes");
    // A file of nothing but short keys is looked at in bounded time, and does not flood.
    let many: String = (0..100_000).map(|number| format!("k{number}:\n")).collect();
    std::fs::write(&local, many).expect("written");
    let output = sandbox
        .orchestrate(&["doctor"])
        .exits(1)
        .says("there is more like this");
    assert!(output.stdout.lines().count() < 100, "{}", output.stdout.lines().count());
    std::fs::remove_file(&local).expect("removed");
    std::fs::create_dir(&local).expect("a directory");
    let _ = ask(&sandbox)
        .exits(0)
        .says("max_parallel_units is 5")
        .says("skipped: it is no regular file");
    std::fs::remove_dir(&local).expect("removed");
    std::os::unix::fs::symlink("nowhere", &local).expect("a link");
    let _ = ask(&sandbox).exits(0).says("max_parallel_units is 5").says("skipped: ");
    std::fs::remove_file(&local).expect("removed");
    std::os::unix::fs::symlink("planwright.local.yml", &local).expect("a link");
    let _ = ask(&sandbox).exits(0).says("max_parallel_units is 5").says("skipped: ");
}

#[test]
fn the_doctor_names_every_fault_of_the_files_at_once() {
    let sandbox = layered(b"max_paralel_units: 2\nword\n");
    sandbox.write(".claude/planwright.yml", "watch_interval_seconds: soon\n  - x\n");
    check!(sandbox, sandbox.orchestrate(&["doctor"]), @r"
        exit 1
        --- out
        3 faults (looked at: configuration, rule-documents)

        fault in configuration: [SANDBOX]/repository/.claude/planwright.yml:2
          cannot read the repository's configuration: [SANDBOX]/repository/.claude/planwright.yml:2: a list item; lists are written inline, as `key: [a, b]`
          mend: repair [SANDBOX]/repository/.claude/planwright.yml:2: each line is `key: value`, blank or a comment

        fault in configuration: [SANDBOX]/repository/.claude/planwright.local.yml:1
          `max_paralel_units` is no key: did you mean `max_parallel_units`?
          mend: write `max_parallel_units:` there, or remove the line

        fault in configuration: [SANDBOX]/repository/.claude/planwright.local.yml:2
          the line is ignored: a line without a colon; every line is `key: value`
          mend: remove the line, or write it as `key: value`; planwright skips the whole file until then
        ");
    let value = sandbox.orchestrate(&["doctor", "--format", "json"]).exits(1).json();
    assert_eq!(value["findings"].as_array().map(Vec::len), Some(3));
    assert!(
        value["findings"]
            .as_array()
            .expect("findings")
            .iter()
            .all(|finding| finding["mend"].as_str().is_some_and(|mend| !mend.is_empty()))
    );
}

#[test]
fn a_healthy_repository_has_no_findings() {
    let sandbox = layered(b"review_sequence: [polish]\ninstruction_budget_skill: 9\n");
    let before = sandbox.listing();
    check!(sandbox, sandbox.orchestrate(&["doctor"]), @r"
        exit 0
        --- out
        nothing is wrong (looked at: configuration, rule-documents)
        ");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
    // Whatever is wrong on the machine shows outside a repository as well.
    let variables = [("PLANWRIGHT_LOCAL_CONFIG", "/dev/null")];
    let _ = sandbox
        .orchestrate_with(sandbox.root(), &["doctor"], &variables)
        .exits(1)
        .says("/dev/null");
}
