//! The scripts of configuration, rule documents and catalogs: records and exit numbers (contract/core.md §12, §13, §18).

use std::fs;
use std::os::unix::fs::symlink;

use orchestrate_e2e::output::Output;
use orchestrate_e2e::sandbox::Sandbox;

use crate::{PROGRAM, check, sandbox, single};

fn plumbing(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    sandbox.orchestrate(&[&["plumbing"][..], arguments].concat())
}

/// Standard output and the exit number.
fn said(output: &Output) -> (&str, i32) {
    (output.stdout.as_str(), output.exit)
}

fn layered() -> Sandbox {
    let sandbox = sandbox(&single());
    fs::remove_file(sandbox.path(".claude/planwright.local.yml")).expect("removed");
    sandbox
}

#[test]
fn config_get_answers_from_the_highest_layer() {
    let sandbox = layered();
    let get = || {
        let output = plumbing(&sandbox, &["config-get", "--explain", "max_parallel_units"]);
        (output.stdout, output.exit)
    };
    let is = |record: &str| (format!("{record}\n"), 0);
    assert_eq!(get(), is("core\t3"));
    sandbox.write(".claude/planwright.yml", "max_parallel_units: 5\n");
    assert_eq!(get(), is("repo-tracked\t5"));
    sandbox.write(
        ".claude/planwright.local.yml",
        "max_parallel_units: \"7\" # why\nmax_parallel_units: 8\n",
    );
    assert_eq!(get(), is("machine-local\t7"));
    // The reference skips a local file with a list as a whole.
    sandbox.write(".claude/planwright.local.yml", "max_parallel_units: 7\n- a\n");
    assert_eq!(get(), is("repo-tracked\t5"));
    fs::remove_file(sandbox.path(".claude/planwright.local.yml")).expect("removed");
    sandbox.write(".claude/planwright.yml", "max_parallel_units:\n");
    assert_eq!(get(), is("repo-tracked\t"));
    fs::remove_file(sandbox.path(".claude/planwright.yml")).expect("removed");
    let overlay = sandbox.root().join("overlay");
    fs::create_dir(&overlay).expect("a directory");
    fs::write(overlay.join("planwright.yml"), "max_parallel_units: 11\n").expect("written");
    let output = sandbox.orchestrate_with(
        &sandbox.repository(),
        &["plumbing", "config-get", "--explain", "max_parallel_units"],
        &[("PLANWRIGHT_ADOPTER_OVERLAY", overlay.as_str())],
    );
    assert_eq!(said(&output), ("adopter\t11\n", 0));
}

#[test]
fn config_get_has_the_contracts_exit_numbers() {
    let sandbox = layered();
    let exit = |arguments: &[&str]| plumbing(&sandbox, &[&["config-get"][..], arguments].concat()).exit;
    assert_eq!(exit(&["no_such_key"]), 3);
    for bad in [&["Bad"][..], &["a-b"], &[""], &[], &["a", "b"], &["--what", "a"]] {
        assert_eq!(exit(bad), 2, "{bad:?}");
    }
    sandbox.write(".claude/planwright.yml", "max_parallel_units: 5\n  - a\n");
    for key in ["max_parallel_units", "no_such_key", "fleet_daemon_pause"] {
        let output = plumbing(&sandbox, &["config-get", key]);
        assert_eq!(said(&output), ("", 4), "{output}");
    }
    assert_eq!(exit(&["Bad"]), 2, "a bad name is refused first");
    fs::remove_file(sandbox.path(".claude/planwright.yml")).expect("removed");
    fs::create_dir(sandbox.path(".claude/planwright.yml")).expect("a directory");
    assert_eq!(exit(&["max_parallel_units"]), 4);
}

#[test]
fn config_get_knows_the_defaults_of_planwrights_other_keys() {
    let sandbox = layered();
    for (key, value) in [
        ("review_sequence", "[polish]"),
        ("fleet_model_execution", "opus"),
        ("stale_lock_threshold", "15m"),
    ] {
        assert_eq!(
            said(&plumbing(&sandbox, &["config-get", key])),
            (format!("{value}\n").as_str(), 0)
        );
    }
    // An installed planwright speaks for itself.
    let installed = sandbox.root().join("installed");
    fs::create_dir_all(installed.join("config")).expect("made");
    fs::write(installed.join("config/defaults.yml"), "max_parallel_units: 4\n").expect("written");
    let ask = |key: &str| {
        let arguments = ["plumbing", "config-get", "--explain", key];
        let output = sandbox.orchestrate_with(
            &sandbox.repository(),
            &arguments,
            &[("PLANWRIGHT_ROOT", installed.as_str())],
        );
        (output.stdout, output.exit)
    };
    assert_eq!(ask("max_parallel_units"), ("core\t4\n".to_owned(), 0));
    assert_eq!(ask("review_sequence"), (String::new(), 3));
}

#[test]
fn plumbing_reads_the_checkout_it_is_started_in() {
    let sandbox = layered();
    let _ = sandbox.git(&["worktree", "add", "--quiet", "../other"]);
    let other = sandbox.root().join("other");
    fs::create_dir_all(other.join(".claude")).expect("made");
    fs::write(other.join(".claude/planwright.yml"), "max_parallel_units: 8\n").expect("written");
    let arguments = ["plumbing", "config-get", "max_parallel_units"];
    assert_eq!(said(&sandbox.orchestrate_in(&other, &arguments)), ("8\n", 0));
    assert_eq!(said(&sandbox.orchestrate(&arguments)), ("3\n", 0));
    assert_eq!(said(&sandbox.orchestrate_in(sandbox.root(), &arguments)), ("3\n", 0));
    let there = [("PLANWRIGHT_REPO_ROOT", other.as_str())];
    assert_eq!(
        said(&sandbox.orchestrate_with(sandbox.root(), &arguments, &there)),
        ("8\n", 0)
    );
}

#[test]
fn knobs_are_checked_by_layer() {
    let sandbox = layered();
    let fixed = [
        "resolve-config-knob",
        "--key",
        "fleet_flailing_threshold",
        "--type",
        "posint",
        "--fallback",
        "8",
    ];
    let knob = || plumbing(&sandbox, &fixed);
    assert_eq!(said(&knob()), ("3\n", 0));
    sandbox.write(".claude/planwright.yml", "fleet_flailing_threshold: 0\n");
    assert_eq!(said(&knob()), ("", 4));
    sandbox.write(".claude/planwright.yml", "fleet_flailing_threshold: 5\n");
    assert_eq!(said(&knob()), ("5\n", 0));
    sandbox.write(".claude/planwright.local.yml", "fleet_flailing_threshold: x\n");
    check!(sandbox, knob(), @r"
        exit 0
        --- out
        3
        --- err
        resolve-config-knob: warning: [SANDBOX]/repository/.claude/planwright.local.yml:1: fleet_flailing_threshold: expected a whole number from 1, of at most 15 digits, without leading zeroes, found `x`; the core's value is used
        ");
    let enumeration = |words: &str, fallback: &str| {
        let arguments = [
            "resolve-config-knob",
            "--key",
            "notification_channel",
            "--type",
            "enum",
            "--values",
            words,
            "--fallback",
            fallback,
        ];
        plumbing(&sandbox, &arguments)
    };
    assert_eq!(said(&enumeration("none tmux-popup", "tmux-popup")), ("none\n", 0));
    assert_eq!(
        said(&enumeration("a b", "a")),
        ("", 5),
        "the core's own value is not among the words"
    );
    assert_eq!(enumeration("none", "other").exit, 2);
    assert_eq!(enumeration("none bad|word", "none").exit, 2);
    for arguments in [
        &["resolve-config-knob"][..],
        &[
            "resolve-config-knob",
            "--key",
            "k",
            "--type",
            "float",
            "--fallback",
            "1",
        ],
        &[
            "resolve-config-knob",
            "--key",
            "k",
            "--type",
            "posint",
            "--fallback",
            "0",
        ],
        &[
            "resolve-config-knob",
            "--key",
            "K",
            "--type",
            "posint",
            "--fallback",
            "1",
        ],
        &["resolve-config-knob", "--key", "k", "--type", "enum", "--fallback", "a"],
    ] {
        assert_eq!(plumbing(&sandbox, arguments).exit, 2, "{arguments:?}");
    }
    let _ = plumbing(
        &sandbox,
        &[
            "resolve-config-knob",
            "--key",
            "no_such_key",
            "--type",
            "posint",
            "--fallback",
            "8",
        ],
    )
    .exits(0)
    .says("no_such_key is not set, so 8 is used");
}

#[test]
fn rule_documents_are_found_in_their_layers() {
    let sandbox = layered();
    let find = |name: &str| plumbing(&sandbox, &["resolve-rule-doc", "--explain", name]);
    let core = find("spec-format").exits(0);
    let path = core
        .stdout
        .trim_end()
        .strip_prefix("core\t")
        .expect("the core's")
        .to_owned();
    assert!(fs::read_to_string(&path).expect("a file").starts_with("# "));
    assert!(
        path.starts_with(sandbox.root().join("home/.cache/orchestrate/doctrine").as_str()),
        "{path}"
    );
    assert_eq!(
        find("spec-format.md").exits(0).stdout,
        core.stdout,
        "found again, with or without .md"
    );
    // A file that somebody changed is written anew.
    fs::write(&path, "# changed\n").expect("written");
    let _ = find("spec-format").exits(0);
    assert!(!fs::read_to_string(&path).expect("a file").contains("# changed"));

    sandbox.write(".claude/doctrine/spec-format.md", "# ours\n");
    let overlay = find("spec-format").exits(0).says("warning: ").says("protected");
    assert_eq!(
        overlay.stdout,
        format!("repo-tracked\t{}\n", sandbox.path(".claude/doctrine/spec-format.md"))
    );
    let built_in = plumbing(&sandbox, &["resolve-rule-doc", "--built-in", "spec-format"]).exits(0);
    assert_eq!(built_in.stdout.trim_end(), path);
    let plain = plumbing(&sandbox, &["resolve-rule-doc", "spec-format"]).exits(0);
    assert_eq!(
        plain.stdout,
        format!("{}\n", sandbox.path(".claude/doctrine/spec-format.md"))
    );
}

#[test]
fn rule_documents_have_the_contracts_exit_numbers() {
    let sandbox = layered();
    let find = |name: &str| plumbing(&sandbox, &["resolve-rule-doc", name]);
    let missing = find("house-rules")
        .exits(1)
        .says(".claude/doctrine.local/house-rules.md")
        .says("built-in");
    assert_eq!(missing.stdout, "");
    for bad in ["", "..", "../x", "a/b", "A", "a.b", "é"] {
        assert_eq!(said(&find(bad)), ("", 2), "{bad:?}");
    }
    fs::create_dir_all(sandbox.path(".claude/doctrine/house-rules.md")).expect("a directory");
    assert_eq!(said(&find("house-rules")), ("", 3));
    // The higher layer speaks before the broken one is looked at; a broken one of a person's own is passed over.
    sandbox.write(".claude/doctrine.local/house-rules.md", "# mine\n");
    assert_eq!(find("house-rules").exit, 0);
    fs::remove_dir(sandbox.path(".claude/doctrine/house-rules.md")).expect("removed");
    fs::remove_file(sandbox.path(".claude/doctrine.local/house-rules.md")).expect("removed");
    fs::create_dir_all(sandbox.path(".claude/doctrine.local/house-rules.md")).expect("a directory");
    let _ = find("house-rules").exits(1).says("(it is no regular file)");
    let outside = sandbox.root().join("outside.md");
    fs::write(&outside, "# outside\n").expect("written");
    for directory in [".claude/doctrine.local", ".claude/doctrine"] {
        sandbox.write(&format!("{directory}/.keep"), "");
        let link = sandbox.path(&format!("{directory}/linked.md"));
        symlink(&outside, &link).expect("a link");
        assert_eq!(said(&find("linked")), ("", 2), "{directory}");
        fs::remove_file(&link).expect("removed");
    }
    sandbox.write(".claude/doctrine/real.md", "# real\n");
    symlink("real.md", sandbox.path(".claude/doctrine/linked.md")).expect("a link");
    assert_eq!(find("linked").exit, 0, "a link that stays inside is followed");
}

#[test]
fn an_installed_planwright_supplies_its_documents() {
    let sandbox = layered();
    let home = sandbox.root().join("home/.claude/planwright/doctrine");
    fs::create_dir_all(&home).expect("made");
    fs::write(home.join("spec-format.md"), "# installed\n").expect("written");
    let found = plumbing(&sandbox, &["resolve-rule-doc", "--explain", "spec-format"]).exits(0);
    assert_eq!(found.stdout, format!("core\t{home}/spec-format.md\n"));
}

#[test]
fn overlay_roots_and_containment() {
    let sandbox = layered();
    let root = |layer: &str| plumbing(&sandbox, &["resolve-overlay-root", layer]);
    let claude = sandbox.path(".claude");
    for layer in ["repo-tracked", "machine-local"] {
        assert_eq!(said(&root(layer)), (format!("{claude}\n").as_str(), 0), "{layer}");
    }
    assert_eq!(said(&root("adopter")), ("", 0));
    assert_eq!(said(&root("core")), ("", 0));
    assert_eq!(root("team").exit, 2);
    // planwright's manifest names the adopter's overlay.
    let installed = sandbox.root().join("home/.claude/planwright");
    fs::create_dir_all(&installed).expect("made");
    fs::write(installed.join("plugin.json"), "{\"name\": \"acme\"}").expect("written");
    assert_eq!(
        said(&root("adopter")),
        (format!("{installed}/acme/overlay\n").as_str(), 0)
    );
    fs::write(installed.join("plugin.json"), "{\"name\": \"../acme\"}").expect("written");
    let refused = root("adopter").exits(0).says("the adopter overlay is not used");
    assert_eq!(refused.stdout, "");

    let contain = |path: &str| plumbing(&sandbox, &["resolve-overlay-root", "--contain", ".", path]);
    assert_eq!(
        said(&contain("specs/new")),
        (format!("{}\n", sandbox.path("specs/new")).as_str(), 0)
    );
    for outside in ["../x", "/etc/passwd", "specs/../../x", "none/x"] {
        assert_eq!(said(&contain(outside)), ("", 2), "{outside}");
    }
}

#[test]
fn catalogs_are_merged() {
    let sandbox = layered();
    let catalog = |arguments: &[&str]| plumbing(&sandbox, &[&["resolve-catalog"][..], arguments].concat());
    assert_eq!(said(&catalog(&["guards"])), ("", 0), "nothing anywhere");
    for bad in ["", "..", "a/b", "A", &"a".repeat(65)] {
        assert_eq!(catalog(&[bad]).exit, 2, "{bad:?}");
    }
    sandbox.write(
        ".claude/catalogs/guards.yaml",
        "guards:\n  - id: one\n    why: first\n  - id: two\n",
    );
    sandbox.write(
        ".claude/catalogs.local/guards.yaml",
        "guards:\n  - id: one\n    supersede: true\n    why: mine\n  - id: two\n  - id: none\n    supersede: true\n",
    );
    check!(sandbox, catalog(&["guards"]), @r"
        exit 0
        --- out
        guards:
          - id: one
            why: mine
          - id: two
        --- err
        resolve-catalog: warning: [SANDBOX]/repository/.claude/catalogs.local/guards.yaml:5: the entry `two` is skipped: the repo-tracked layer has one of that id
        resolve-catalog: warning: [SANDBOX]/repository/.claude/catalogs.local/guards.yaml:6: the entry `none` is skipped: it supersedes one that is not there
        ");
    assert_eq!(
        said(&catalog(&["--explain", "guards"])),
        ("one\tmachine-local\ntwo\trepo-tracked\n", 0)
    );
    sandbox.write(".claude/catalogs.local/guards.yaml", "nothing\n");
    assert_eq!(
        said(&catalog(&["guards"])),
        ("guards:\n  - id: one\n    why: first\n  - id: two\n", 0)
    );
    sandbox.write(".claude/catalogs/guards.yaml", "guards:\n");
    assert_eq!(said(&catalog(&["guards"])), ("", 1));
}

#[test]
fn plumbing_needs_no_repository_and_no_home() {
    let sandbox = Sandbox::empty(PROGRAM);
    let bare = [("HOME", ""), ("XDG_CACHE_HOME", "")];
    let ask = |arguments: &[&str]| sandbox.orchestrate_with(sandbox.root(), arguments, &bare);
    assert_eq!(
        said(&ask(&["plumbing", "config-get", "max_parallel_units"])),
        ("3\n", 0)
    );
    let _ = ask(&["plumbing", "resolve-rule-doc", "spec-format"])
        .exits(1)
        .says("there is no directory to write it to")
        .says("hint: set HOME");
}
