//! `config get`, `config list` and `doctor`: each key with its origin, and whatever is wrong with a file by its line.

use crate::doctor::every_finding;
use crate::{check, sandbox, single};

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
          core           3  built-in defaults:[LINE]

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
        commit_on_kickoff          true          core           built-in defaults:[LINE]
        dispatch_backend           full-session  core           built-in defaults:[LINE]
        dispatch_backend_per_spec  {}            core           built-in defaults:[LINE]
        command_backend            []            core           built-in defaults:[LINE]
        base_branch                (empty)       core           built-in defaults:[LINE]
        dispatch_fence             auto          core           built-in defaults:[LINE]
        max_parallel_units         5             repo-tracked   [SANDBOX]/repository/.claude/planwright.yml:2
        prefer_units               []            core           built-in defaults:[LINE]
        bundle_units               []            core           built-in defaults:[LINE]
        halt_commit                false         core           built-in defaults:[LINE]
        dispatch_fetch_ttl         2m            core           built-in defaults:[LINE]
        dispatch_fetch_park_after  3             core           built-in defaults:[LINE]
        stale_lock_threshold       15m           core           built-in defaults:[LINE]
        stale_marker_threshold     15m           core           built-in defaults:[LINE]
        fleet_daemon_pause         false         core           built-in defaults:[LINE]
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
        commit_on_kickoff          true          core           built-in defaults:[LINE]
        dispatch_backend           full-session  core           built-in defaults:[LINE]
        dispatch_backend_per_spec  {}            core           built-in defaults:[LINE]
        command_backend            []            core           built-in defaults:[LINE]
        base_branch                main          machine-local  [SANDBOX]/repository/.claude/planwright.local.yml:6
        dispatch_fence             auto          core           built-in defaults:[LINE]
        max_parallel_units         5             repo-tracked   [SANDBOX]/repository/.claude/planwright.yml:2
        prefer_units               []            core           built-in defaults:[LINE]
        bundle_units               []            core           built-in defaults:[LINE]
        halt_commit                false         core           built-in defaults:[LINE]
        dispatch_fetch_ttl         2m            core           built-in defaults:[LINE]
        dispatch_fetch_park_after  3             core           built-in defaults:[LINE]
        stale_lock_threshold       15m           core           built-in defaults:[LINE]
        stale_marker_threshold     15m           core           built-in defaults:[LINE]
        fleet_daemon_pause         false         core           built-in defaults:[LINE]
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
    check!(sandbox, sandbox.orchestrate(&["config", "get", "max_paralel"]), @r#"
        exit 2
        --- err
        error: there is no key "max_paralel"
        hint: orchestrate config get max_parallel_units
        "#);
    let _ = sandbox
        .orchestrate(&["config", "get", "Max"])
        .exits(2)
        .says("not a configuration key");
    let _ = sandbox
        .orchestrate(&["config", "get", "allocation_petition"])
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
    assert!(output.stdout.lines().count() < 200, "{}", output.stdout.lines().count());
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
    check!(sandbox, every_finding(&sandbox), @r"
        exit 1

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
    assert_eq!(every_finding(&sandbox), "exit 0\n");
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
    // Whatever is wrong on the machine shows outside a repository as well.
    let variables = [("PLANWRIGHT_LOCAL_CONFIG", "/dev/null")];
    let _ = sandbox
        .orchestrate_with(sandbox.root(), &["doctor"], &variables)
        .exits(1)
        .says("/dev/null");
}

#[test]
fn a_loop_says_once_what_is_wrong_with_the_files() {
    let pair = orchestrate_testkit::bundle::BundleFixture::new("alpha")
        .task("1", "first", &[], "1 day")
        .task("2", "second", &[], "1 day");
    let sandbox = sandbox(&pair);
    sandbox.configure("watch_interval_seconds: 1\nmax_paralel_units: 1\n");
    for unit in ["1", "2"] {
        sandbox.act_commit(unit, "work\n");
    }
    let mut watch = sandbox.start(&["alpha", "--watch"]);
    for unit in ["1", "2"] {
        let _ = watch.wait_for(&format!("dispatched alpha task {unit}"));
        sandbox.wait_for_worker("alpha", unit);
        let branch = format!("planwright/alpha/task-{unit}");
        let _ = sandbox.git(&["merge", "--quiet", "--no-ff", &branch]);
    }
    let output = watch.finish().exits(0);
    assert_eq!(
        output.stderr.matches("did you mean `max_parallel_units`?").count(),
        1,
        "{output}"
    );
}
