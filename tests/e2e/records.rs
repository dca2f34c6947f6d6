//! Records and the plumbing around them: the anchor's failures, the migration to format version 2, the ledger guard.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use orchestrate_core::place::BundleFile;
use orchestrate_e2e::listing::Listing;
use orchestrate_e2e::output::Output;
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_e2e::surroundings::{failpoint_binary, read_only, skipped};

use crate::{PROGRAM, alpha, check, sandbox, single};

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

#[test]
fn a_record_of_the_older_rule_and_a_deliberate_halt_say_so() {
    let sandbox = sandbox(&single());
    let brief = sandbox.read("specs/alpha/kickoff-brief.md");
    let (above, _) = brief.split_once("Anchor: `").expect("a record");
    let older = sandbox.shell(
        "cd specs/alpha && git hash-object requirements.md design.md tasks.md test-spec.md | git hash-object --stdin",
    );
    let older = older.stdout.trim_end();
    let step = |record: &str| {
        sandbox.write("specs/alpha/kickoff-brief.md", &format!("{above}{record}\n"));
        let _ = sandbox.commit_all("brief");
        let output = sandbox.orchestrate(&["alpha"]);
        if output.stdout.contains("parked task 1") {
            let _ = sandbox.orchestrate(&["unpark", "alpha", "1"]).exits(0);
        }
        output
    };
    check!(sandbox, step(&format!("Anchor: {older} (`scripts/spec-anchor.sh specs/alpha`)")), @r"
        exit 4
        --- out
        halted: pre-change entry: the sign-off was recorded by an older rule of the anchor (signed [SHORT], main at [SHORT] has [SHORT])
        hint: nothing that was signed has changed; record that once: orchestrate sign specs/alpha
        parked task 1 under Awaiting input
          when that is done: orchestrate unpark alpha 1
        nothing was committed, and nothing was dispatched; the next step goes on
        ");
    check!(sandbox, step("Anchor: (none — fail closed)"), @r"
        exit 4
        --- out
        halted: specs/alpha is not validly signed: kickoff-brief.md:16: the last record is a deliberate halt: it says that nothing may be run
        hint: resolve what the record names, then sign again: orchestrate sign specs/alpha
        ");
    check!(sandbox, step("Anchor: `0123456789012345678901234567890123456789` — computed as\n`scripts/spec-anchor.sh specs/beta`"), @r"
        exit 4
        --- out
        halted: specs/alpha is not validly signed: kickoff-brief.md:16: the recorded command anchors another bundle
        hint: sign it again; the record that is there stays as it is: orchestrate sign specs/alpha
        ");
    assert_eq!(sandbox.starts(), [""; 0]);
    // By its own form the same hash signs the bundle.
    let whole = "git hash-object requirements.md design.md tasks.md test-spec.md | git hash-object --stdin";
    let _ = step(&format!("Anchor: `{older}` — computed as\n`{whole}`"))
        .exits(0)
        .says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
}

/// Makes a bundle of version 1 with that status, signed where the status says so, and commits it.
pub(crate) fn add_version_1(sandbox: &Sandbox, name: &str, status: &str) {
    for (file, text) in alpha().signed_texts() {
        let text = text
            .replace(
                "**Format-version:** 2\n**Execution:** derived — see the status render\n",
                "**Format-version:** 1\n",
            )
            .replace("**Status:** Ready", &format!("**Status:** {status}"));
        let text = match file {
            BundleFile::Tasks => version_1_sections(&text),
            BundleFile::Requirements | BundleFile::Design | BundleFile::TestSpec | BundleFile::KickoffBrief => text,
        };
        sandbox.write(&format!("specs/{name}/{file}"), &text);
    }
    sign(sandbox, name);
    let _ = sandbox.commit_all(&format!("spec {name}"));
}

/// Task 1 has landed, 2 waits for an answer, 3 has not started.
fn version_1_sections(tasks: &str) -> String {
    let (header, blocks) = tasks.split_once("## Tasks\n\n").expect("tasks");
    let (blocks, _) = blocks.split_once("## Awaiting").expect("sections");
    let blocks: Vec<&str> = blocks.split("### Task ").skip(1).collect();
    let [first, second, third] = blocks[..] else {
        panic!("three tasks: {blocks:?}")
    };
    let annotated = |block: &str, status: &str| format!("### Task {}\n- **Status:** {status}\n\n", block.trim_end());
    format!(
        "{header}## Forward plan\n\n### Task {third}## In progress\n\n(none yet)\n\n## Awaiting input\n\n{}## Completed\n\n{}## Deferred\n\n(none yet)\n\n## Out of scope\n\n(none yet)\n",
        annotated(second, "awaiting input — which colour?"),
        annotated(first, "Completed · PR #1 merged 2026-01-02"),
    )
}

/// Replaces the hash in a brief by the one of the content that is there.
pub(crate) fn sign(sandbox: &Sandbox, name: &str) {
    let directory = format!("specs/{name}");
    let anchor = sandbox
        .orchestrate(&["plumbing", "spec-anchor", &directory])
        .exits(0)
        .stdout;
    let brief = sandbox.read(&format!("{directory}/kickoff-brief.md"));
    let (above, record) = brief.split_once("Anchor: `").expect("a record");
    let command = record.get(40..).expect("a hash").replace("specs/alpha", &directory);
    sandbox.write(
        &format!("{directory}/kickoff-brief.md"),
        &format!("{above}Anchor: `{}{command}", anchor.trim_end()),
    );
}

fn migrate(sandbox: &Sandbox, target: &str) -> Output {
    sandbox.orchestrate(&["plumbing", "migrate-format-version", target])
}

/// Lists the bundles; the tower's own state lies elsewhere.
fn specs(sandbox: &Sandbox) -> Listing {
    Listing::of(&sandbox.path("specs"))
}

fn empty() -> Sandbox {
    let sandbox = Sandbox::empty(PROGRAM);
    sandbox.initialise(&[]);
    sandbox.configure("");
    sandbox
}

#[test]
fn bundles_of_version_1_are_migrated_and_dispatched_from() {
    let sandbox = empty();
    add_version_1(&sandbox, "alpha", "Active");
    add_version_1(&sandbox, "beta", "Draft");
    add_version_1(&sandbox, "gamma", "Done");
    sandbox.add_bundle(&orchestrate_testkit::bundle::BundleFixture::new("delta"));
    sandbox.write("specs/_observations/opportunities.md", "");
    sandbox.write("specs/notes.md", "");
    for name in ["tasks.md", "kickoff-brief.md"] {
        let path = sandbox.path("specs/alpha").join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(0o640)).expect("a mode");
    }
    let before = specs(&sandbox);
    check!(sandbox, sandbox.orchestrate(&["plumbing", "migrate-format-version"]), @r"
        exit 0
        --- out
        migrated: alpha
        migrated: beta
        unchanged (already format-version 2): delta
        unchanged (not live): gamma (Done)
        migrate-format-version: 2 migrated, 0 repaired, 2 unchanged, 0 refused
        ");
    let files = ["design", "kickoff-brief", "requirements", "tasks", "test-spec"];
    let mut expected = files.map(|file| format!("~ alpha/{file}.md")).to_vec();
    let drafts = ["design", "requirements", "tasks", "test-spec"];
    expected.extend(drafts.map(|file| format!("~ beta/{file}.md")));
    assert_eq!(specs(&sandbox).changes_since(&before), expected);
    for name in ["tasks.md", "kickoff-brief.md"] {
        let path = sandbox.path("specs/alpha").join(name);
        let mode = fs::metadata(path).expect("the file").permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "{name}");
    }
    let tasks = sandbox.read("specs/alpha/tasks.md");
    assert!(
        tasks.contains("- **Task 2** — awaiting input — which colour? *(converted from a relocated v1 task block at the format-version 2 migration.)*\n"),
        "{tasks}"
    );
    check!(sandbox, migrate(&sandbox, "specs"), @r"
        exit 0
        --- out
        unchanged (already format-version 2): alpha
        unchanged (already format-version 2): beta
        unchanged (already format-version 2): delta
        unchanged (not live): gamma (Done)
        migrate-format-version: 0 migrated, 0 repaired, 4 unchanged, 0 refused
        ");
    check!(sandbox, migrate(&sandbox, "specs/alpha/"), @r"
        exit 0
        --- out
        unchanged (already format-version 2): alpha
        migrate-format-version: 0 migrated, 0 repaired, 1 unchanged, 0 refused
        ");
    // What a person signed before is still signed, by the entry in the brief.
    let _ = sandbox.commit_all("migrated\n\nPlanwright-Task: alpha/1\n");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 3");
    sandbox.wait_for_worker("alpha", "3");
}

/// Verifies REQ-B3.1.
#[test]
fn what_cannot_be_migrated_by_rule_is_refused_and_stays() {
    let sandbox = empty();
    for name in ["alpha", "beta", "delta", "epsilon", "eta", "gamma", "theta", "zeta"] {
        add_version_1(&sandbox, name, "Ready");
    }
    let edit = |file: &str, from: &str, to: &str| {
        let path = format!("specs/{file}");
        let text = sandbox.read(&path);
        assert!(text.contains(from), "{path}");
        sandbox.write(&path, &text.replacen(from, to, 1));
    };
    fs::remove_file(sandbox.path("specs/alpha/design.md")).expect("removed");
    let elsewhere = sandbox.root().join("tasks.md");
    fs::rename(sandbox.path("specs/beta/tasks.md"), &elsewhere).expect("moved");
    symlink(&elsewhere, sandbox.path("specs/beta/tasks.md")).expect("a link");
    edit("delta/tasks.md", "## Deferred", "## Dependency graph\n\n## Deferred");
    edit("epsilon/design.md", "one part", "two parts");
    fs::remove_file(sandbox.path("specs/eta/kickoff-brief.md")).expect("removed");
    edit("gamma/test-spec.md", "**Format-version:** 1", "**Format-version:** 2");
    fs::rename(
        sandbox.path("specs/theta/kickoff-brief.md"),
        sandbox.root().join("brief.md"),
    )
    .expect("moved");
    symlink(
        sandbox.root().join("brief.md"),
        sandbox.path("specs/theta/kickoff-brief.md"),
    )
    .expect("a link");
    symlink("alpha", sandbox.path("specs/link")).expect("a link");
    fs::create_dir(sandbox.path("specs/Odd_Name")).expect("a directory");
    let before = specs(&sandbox);
    check!(sandbox, migrate(&sandbox, "specs/"), @r#"
        exit 1
        --- out
        migrated: zeta
        migrate-format-version: 1 migrated, 0 repaired, 0 unchanged, 9 refused
        --- err
        refused: Odd_Name — its name is not a spec name: expected a-z, 0-9 and '-', at most 64, not starting with '-'
        refused: alpha — design.md is missing
        refused: beta — tasks.md is a symbolic link
        refused: delta — tasks.md:43: unrecognised section "Dependency graph"
        refused: epsilon — its content is not what the last record of kickoff-brief.md signed; sign it first
        refused: eta — the bundle is signed, but there is no kickoff-brief.md
        refused: gamma — test-spec.md declares Format-version "2", requirements.md "1"
        refused: link — it is a symbolic link, and bundles are real directories
        refused: theta — kickoff-brief.md is a symbolic link
        hint: review and sign it: orchestrate sign specs/epsilon
        hint: review and sign it: orchestrate sign specs/eta
        hint: where another program's migration was cut short, see what it changed: git diff HEAD -- :/specs/gamma; then let the four files be of one version, by hand
        "#);
    let changes = specs(&sandbox).changes_since(&before);
    assert!(
        changes.iter().all(|change| change.starts_with("~ zeta/")),
        "{changes:?}"
    );
}

#[test]
fn a_held_lock_refuses_the_migration() {
    let sandbox = empty();
    add_version_1(&sandbox, "alpha", "Ready");
    fs::create_dir(sandbox.path("specs/alpha/.orchestrate.lock")).expect("the reference's lock");
    let before = specs(&sandbox);
    let output = migrate(&sandbox, "specs/alpha")
        .exits(1)
        .says("refused: alpha — its lock is held: ");
    assert!(
        output
            .stdout
            .ends_with("0 migrated, 0 repaired, 0 unchanged, 1 refused\n"),
        "{output}"
    );
    assert_eq!(specs(&sandbox).changes_since(&before), [""; 0]);
    fs::remove_dir(sandbox.path("specs/alpha/.orchestrate.lock")).expect("released");
    let _ = migrate(&sandbox, "specs/alpha").exits(0);
    assert!(!sandbox.path("specs/alpha/.orchestrate.lock").exists());
}

#[test]
fn a_read_only_bundle_is_refused_and_stays() {
    let sandbox = empty();
    add_version_1(&sandbox, "alpha", "Ready");
    let Some(mounted) = read_only(&sandbox, &sandbox.path("specs/alpha")) else {
        return skipped("a read-only directory (this user may not mount one)");
    };
    let before = specs(&sandbox);
    let _ = migrate(&sandbox, "specs")
        .exits(1)
        .says("refused: alpha — ")
        .says("Read-only");
    assert_eq!(specs(&sandbox).changes_since(&before), [""; 0]);
    drop(mounted);
    let _ = migrate(&sandbox, "specs").exits(0);
}

#[test]
fn a_file_that_cannot_be_written_leaves_the_others_as_they_were() {
    let sandbox = empty();
    add_version_1(&sandbox, "alpha", "Ready");
    let Some(_mounted) = read_only(&sandbox, &sandbox.path("specs/alpha/requirements.md")) else {
        return skipped("a read-only file (this user may not mount one)");
    };
    // A file that something is mounted on cannot be replaced by a rename.
    let before = specs(&sandbox);
    let _ = migrate(&sandbox, "specs")
        .exits(1)
        .says("refused: alpha — cannot write specs/alpha/requirements.md");
    let changes = specs(&sandbox).changes_since(&before);
    assert_eq!(changes, [""; 0]);
}

#[test]
fn a_lost_entry_of_the_brief_is_repaired() {
    let sandbox = empty();
    add_version_1(&sandbox, "alpha", "Ready");
    let brief = sandbox.read("specs/alpha/kickoff-brief.md");
    let _ = migrate(&sandbox, "specs/alpha").exits(0);
    let anchored = sandbox.read("specs/alpha/kickoff-brief.md");
    sandbox.write("specs/alpha/kickoff-brief.md", &brief);
    check!(sandbox, migrate(&sandbox, "specs/alpha"), @r"
        exit 0
        --- out
        repaired: alpha (missing re-anchor entry appended)
        migrate-format-version: 0 migrated, 1 repaired, 0 unchanged, 0 refused
        ");
    assert_eq!(sandbox.read("specs/alpha/kickoff-brief.md"), anchored);
}

/// The files of a signed bundle in the order in which a migration writes them.
const WRITTEN: [&str; 5] = [
    "design.md",
    "test-spec.md",
    "tasks.md",
    "requirements.md",
    "kickoff-brief.md",
];

fn texts(sandbox: &Sandbox) -> [String; 5] {
    WRITTEN.map(|file| sandbox.read(&format!("specs/alpha/{file}")))
}

fn put(sandbox: &Sandbox, texts: [&String; 5]) {
    for (file, text) in WRITTEN.iter().zip(texts) {
        sandbox.write(&format!("specs/alpha/{file}"), text);
    }
}

/// Keeps what a migration is about to write, as a kill leaves it.
fn keep(sandbox: &Sandbox, before: &[String; 5], after: &[String; 5]) {
    for (directory, texts) in [("before", before), ("after", after)] {
        let directory = sandbox.path(".git/orchestrate/migration/alpha").join(directory);
        fs::create_dir_all(&directory).expect("made");
        for (file, text) in WRITTEN.iter().zip(texts) {
            fs::write(directory.join(file), text).expect("written");
        }
    }
}

/// Verifies REQ-B3.1.
#[test]
fn a_migration_that_was_cut_short_is_completed_and_an_edit_since_then_is_not_lost() {
    let sandbox = empty();
    add_version_1(&sandbox, "alpha", "Active");
    let kept = sandbox.path(".git/orchestrate/migration/alpha");
    let before = texts(&sandbox);
    let _ = migrate(&sandbox, "specs/alpha").exits(0);
    let after = texts(&sandbox);
    assert!(!kept.exists(), "nothing is kept of a migration that was completed");
    for written in 0..=5 {
        keep(&sandbox, &before, &after);
        put(
            &sandbox,
            core::array::from_fn(|index| if index < written { &after[index] } else { &before[index] }),
        );
        let said = match written {
            0 => "migrated: alpha\n",
            5 => "unchanged (already format-version 2): alpha\n",
            _ => "migrated: alpha (an earlier run was cut short; completed)\n",
        };
        let _ = migrate(&sandbox, "specs/alpha").exits(0).says(said);
        assert_eq!(texts(&sandbox), after, "{written}");
        assert!(!kept.exists(), "{written}");
    }
    // Somebody has edited a file since.
    keep(&sandbox, &before, &after);
    let edited = format!("{}\nMore.\n", before[2]);
    put(&sandbox, [&after[0], &after[1], &edited, &before[3], &before[4]]);
    let listing = specs(&sandbox);
    let output = migrate(&sandbox, "specs/alpha")
        .exits(1)
        .says("an earlier migration was cut short, and since then tasks.md changed")
        .says("hint: keep a copy of your tasks.md elsewhere");
    assert!(output.stderr.contains(&format!("{kept}/before")), "{output}");
    assert_eq!(specs(&sandbox).changes_since(&listing), [""; 0]);
    // The hint helps.
    fs::copy(kept.join("before/tasks.md"), sandbox.path("specs/alpha/tasks.md")).expect("copied");
    let _ = migrate(&sandbox, "specs/alpha").exits(0);
    assert_eq!(texts(&sandbox), after);
}

#[test]
fn a_torn_bundle_of_which_nothing_is_kept_is_refused_with_a_hint_that_discards_nothing() {
    let sandbox = empty();
    add_version_1(&sandbox, "alpha", "Active");
    let before = texts(&sandbox);
    let _ = migrate(&sandbox, "specs/alpha").exits(0);
    let after = texts(&sandbox);
    for written in 1..=3 {
        put(
            &sandbox,
            core::array::from_fn(|index| if index < written { &after[index] } else { &before[index] }),
        );
        let listing = specs(&sandbox);
        let output = migrate(&sandbox, "specs/alpha")
            .exits(1)
            .says("design.md declares Format-version \"2\", requirements.md \"1\"")
            .says("git diff HEAD -- :/specs/alpha");
        assert!(!output.stderr.contains("restore"), "{output}");
        assert_eq!(specs(&sandbox).changes_since(&listing), [""; 0]);
    }
}

#[test]
fn a_migration_that_is_killed_is_completed_by_the_next() {
    let Some(program) = failpoint_binary() else {
        return skipped("kills at named points (ORCHESTRATE_FAILPOINT_BINARY is not set)");
    };
    for passing in 1..=12 {
        let sandbox = Sandbox::empty(&program);
        sandbox.initialise(&[]);
        sandbox.configure("");
        add_version_1(&sandbox, "alpha", "Active");
        let point = format!("write.staged:{passing}");
        let arguments = ["plumbing", "migrate-format-version", "specs/alpha"];
        let variables = [("ORCHESTRATE_FAILPOINT", point.as_str())];
        let output = sandbox.orchestrate_with(&sandbox.repository(), &arguments, &variables);
        if output.exit == 0 {
            assert_eq!(
                passing, 8,
                "the lock, what is kept and five files are written: {output}"
            );
            return;
        }
        let _ = migrate(&sandbox, "specs/alpha").exits(0);
        let _ = migrate(&sandbox, "specs/alpha").exits(0).says("unchanged");
        let _ = sandbox.orchestrate(&["validate", "alpha"]).exits(0);
        assert!(!sandbox.path(".git/orchestrate/migration/alpha").exists(), "{point}");
    }
    panic!("the point is passed more often than there are files");
}

#[test]
fn the_migration_works_on_the_primary_checkouts_bundles_only() {
    let sandbox = empty();
    add_version_1(&sandbox, "alpha", "Ready");
    let worktree = sandbox.root().join("worktree");
    let _ = sandbox.git(&["worktree", "add", "--quiet", "-b", "side", worktree.as_str()]);
    let before = specs(&sandbox);
    for target in ["elsewhere", "..", ".", "specs/alpha/tasks.md", "specs/missing", "/"] {
        let _ = migrate(&sandbox, target).exits(2);
    }
    let _ = migrate(&sandbox, worktree.join("specs").as_str())
        .exits(2)
        .says("is not the directory specs of the primary checkout");
    let _ = sandbox
        .orchestrate(&["plumbing", "migrate-format-version", "specs", "specs"])
        .exits(2);
    assert_eq!(specs(&sandbox).changes_since(&before), [""; 0]);
}

#[test]
fn the_ledger_guard_has_the_contracts_exit_numbers() {
    let sandbox = sandbox(&alpha());
    let ledger = |arguments: &[&str]| {
        let fixed = ["plumbing", "check-ledger"];
        sandbox.orchestrate(&[&fixed[..], arguments].concat())
    };
    check!(sandbox, ledger(&[]), @"exit 0");
    add_version_1(&sandbox, "beta", "Active");
    sandbox.write("specs/_observations/tasks.md", "### no bundle\n");
    let text = sandbox
        .read("specs/alpha/tasks.md")
        .replace("### Task 2 —", "### Task 1 —");
    sandbox.write("specs/alpha/tasks.md", &text);
    let text = sandbox
        .read("specs/beta/tasks.md")
        .replace("Completed · PR #1 merged", "PR #1 opened");
    sandbox.write("specs/beta/tasks.md", &text);
    let before = specs(&sandbox);
    check!(sandbox, ledger(&[]), @r#"
        exit 1
        --- out
        specs/alpha/tasks.md:18: duplicate task id 1, first on line 10
        specs/beta/tasks.md:41: task 1 is in progress but stands in "Completed"
        "#);
    check!(sandbox, ledger(&["specs/beta/tasks.md"]), @r#"
        exit 1
        --- out
        specs/beta/tasks.md:41: task 1 is in progress but stands in "Completed"
        "#);
    check!(sandbox, ledger(&["specs/beta/tasks.md", "specs/missing/tasks.md"]), @r#"
        exit 2
        --- out
        specs/beta/tasks.md:41: task 1 is in progress but stands in "Completed"
        --- err
        check-ledger: cannot read specs/missing/tasks.md: No such file or directory (os error 2)
        "#);
    assert_eq!(specs(&sandbox).changes_since(&before), [""; 0]);
    let output = sandbox.orchestrate_in(&sandbox.path("specs/alpha"), &["plumbing", "check-ledger"]);
    assert_eq!(output.stdout, ledger(&[]).stdout);
    let nowhere = sandbox
        .orchestrate_in(sandbox.root(), &["plumbing", "check-ledger"])
        .exits(2);
    assert_eq!(nowhere.stdout, "");
}
