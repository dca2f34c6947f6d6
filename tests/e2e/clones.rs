//! Clones that hold less than all, and repositories that are not supported (architecture §7).

use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_e2e::surroundings::skipped;

use crate::{PROGRAM, alpha, sandbox, single, state_of};

const BRANCH: &str = "planwright/alpha/task-1";

/// What a command says of a task in a clone: its state and its detail.
fn state_in(sandbox: &Sandbox, clone: &camino::Utf8Path, task: &str) -> (String, serde_json::Value) {
    let value = sandbox
        .orchestrate_in(clone, &["why", "alpha", task, "--format", "json"])
        .exits(0)
        .json();
    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
    (format!("{}: {}", text("state"), text("detail")), value)
}

/// Every row that says that something is not on base says that it cannot tell.
/// Verifies REQ-C1.7.
#[test]
fn in_a_shallow_clone_what_is_not_found_on_base_is_unknown_in_every_row() {
    let sandbox = sandbox(&alpha());
    sandbox.add_origin();
    let _ = sandbox.git(&["switch", "--quiet", "--create", BRANCH]);
    sandbox.write("part-1.txt", "work\n");
    let _ = sandbox.commit_all("work");
    let _ = sandbox.git(&["switch", "--quiet", "main"]);
    let _ = sandbox.git(&["merge", "--quiet", "--no-ff", "--message", "merge", BRANCH]);
    let _ = sandbox.commit_all("one more");
    let _ = sandbox.commit_all("two\n\nPlanwright-Task: alpha/2\n");
    let _ = sandbox.git(&["push", "--quiet", "origin", "main", BRANCH]);
    let clone = sandbox.clone_origin("shallow", &["--depth=1", "--no-single-branch"]);
    // The branch has landed; its merge lies below the depth.
    let (state, value) = state_in(&sandbox, &clone, "1");
    assert_eq!(state, "unknown: the clone is shallow, so a landing could be unseen");
    assert_eq!(value["hint"], "git fetch --unshallow");
    let rows = value["rows"].as_array().expect("rows");
    for name in ["trailer on base", "own commits landed", "own commits"] {
        let row = rows.iter().find(|row| row["row"] == name).expect("the row");
        assert_eq!(row["answer"], "unknown", "{row}");
        assert_eq!(row["hint"], "git fetch --unshallow", "{row}");
    }
    let (found, _) = state_in(&sandbox, &clone, "2");
    assert!(found.starts_with("landed: trailer in "), "{found}");
    // The command that it names mends it.
    let _ = sandbox.git_in(&clone, &["fetch", "--quiet", "--unshallow"]);
    let (state, _) = state_in(&sandbox, &clone, "1");
    assert!(
        state.starts_with("unknown: branch task-1 at ") && state.contains("is contained in main"),
        "a remote branch alone never shows that it landed: {state}"
    );
}

/// A graft may hide what base holds, as the end of a shallow clone does.
#[test]
fn behind_a_graft_what_is_not_found_is_unknown() {
    let sandbox = sandbox(&alpha());
    let _ = sandbox.commit_all("one\n\nPlanwright-Task: alpha/1\n");
    let tip = sandbox.commit_all("two\n\nPlanwright-Task: alpha/2\n");
    sandbox.write(".git/info/grafts", &format!("{tip}\n"));
    let hidden = state_of(&sandbox, "1");
    assert_eq!(
        hidden,
        "unknown: .git/info/grafts gives commits other parents, so a landing could be unseen"
    );
    assert!(state_of(&sandbox, "2").starts_with("landed: trailer in "));
    std::fs::remove_file(sandbox.path(".git/info/grafts")).expect("removed");
    assert!(state_of(&sandbox, "1").starts_with("landed: trailer in "));
}

/// A partial clone lacks contents, and no commit.
#[test]
fn the_history_of_a_partial_clone_is_complete() {
    let sandbox = sandbox(&alpha());
    sandbox.add_origin();
    let origin = sandbox.root().join("origin.git");
    let _ = sandbox.git_in(&origin, &["config", "uploadpack.allowFilter", "true"]);
    let _ = sandbox.commit_all("one\n\nPlanwright-Task: alpha/1\n");
    let _ = sandbox.git(&["push", "--quiet", "origin", "main"]);
    let clone = sandbox.clone_origin("partial", &["--filter=blob:none"]);
    // As git writes it, and wrote it before.
    let _ = sandbox.git_in(&clone, &["config", "core.repositoryFormatVersion", "1"]);
    let _ = sandbox.git_in(&clone, &["config", "extensions.partialClone", "origin"]);
    let (state, value) = state_in(&sandbox, &clone, "1");
    assert!(state.starts_with("landed: trailer in "), "{state}");
    assert!(value["history"]["incomplete"].is_null(), "{value}");
    let (state, _) = state_in(&sandbox, &clone, "2");
    assert_eq!(state, "ready: ");
}

/// The commands that read evidence or write, each as a person would call it.
const COMMANDS: [&[&str]; 8] = [
    &["alpha"],
    &["alpha", "--dry-run"],
    &["status", "alpha"],
    &["why", "alpha", "1"],
    &["validate", "alpha"],
    &["new", "beta"],
    &["park", "alpha", "1", "--in", "deferred", "--reason", "later"],
    &["plumbing", "orchestrate-state", "specs/alpha"],
];

fn refused_by_name(sandbox: &Sandbox, words: &str, hint: &str) {
    let before = sandbox.listing();
    for command in COMMANDS {
        let output = sandbox.orchestrate(command);
        assert!((1..=2).contains(&output.exit), "{command:?} {output}");
        let said = output.to_string();
        assert!(said.contains(words) && said.contains(hint), "{command:?} {said}");
        assert_eq!(sandbox.changes_since(&before), [""; 0], "{command:?}");
    }
}

/// Verifies REQ-C1.7.
#[test]
fn a_reftable_repository_is_refused_by_name_before_anything_is_written() {
    let sandbox = Sandbox::empty(PROGRAM);
    sandbox.initialise(&["--ref-format=reftable"]);
    sandbox.add_bundle(&single());
    sandbox.configure("");
    refused_by_name(&sandbox, "reftable", "git clone --ref-format=files");
    let clone = sandbox.root().join("clone");
    let _ = sandbox.git(&["clone", "--quiet", "--ref-format=files", ".", clone.as_str()]);
    assert_eq!(state_in(&sandbox, &clone, "1").0, "ready: ", "the hint helps");
}

#[test]
fn a_sha256_repository_is_refused_by_name_before_anything_is_written() {
    let sandbox = Sandbox::empty(PROGRAM);
    sandbox.initialise(&["--object-format=sha256"]);
    sandbox.add_bundle(&single());
    sandbox.configure("");
    refused_by_name(&sandbox, "SHA-256", "hint: use a repository with SHA-1 objects");
}

#[test]
fn a_repository_of_another_user_is_refused_until_it_is_trusted() {
    let sandbox = sandbox(&single());
    let directory = sandbox.repository();
    let top = [directory.clone(), directory.join(".git")];
    let given_away = top
        .iter()
        .all(|path| std::os::unix::fs::chown(path, Some(65534), None).is_ok());
    if !given_away {
        skipped("chown");
        return;
    }
    refused_by_name(
        &sandbox,
        "belongs to another user",
        "git config --global --add safe.directory",
    );
    std::fs::write(
        sandbox.root().join("home/.gitconfig"),
        format!("[safe]\n\tdirectory = {directory}\n"),
    )
    .expect("the settings are written");
    assert_eq!(state_of(&sandbox, "1"), "ready", "the hint helps");
}

/// One ref that cannot be read is unknown for its unit, and stops no other (law L12).
#[test]
fn a_branch_that_cannot_be_read_holds_its_own_unit_alone() {
    let nowhere = "0123456789012345678901234567890123456789";
    let dangling = format!("{nowhere}\n");
    for (text, hint) in [
        (dangling.as_str(), "git update-ref --no-deref -d "),
        ("torn", "rm .git/"),
        ("", "rm .git/"),
    ] {
        let sandbox = sandbox(&alpha());
        sandbox.write(&format!(".git/refs/heads/{BRANCH}"), text);
        let state = state_of(&sandbox, "1");
        assert!(
            state.starts_with(&format!("unknown: refs/heads/{BRANCH} ")),
            "{text:?} {state}"
        );
        let said = sandbox.orchestrate(&["why", "alpha", "1"]).exits(0).stdout;
        let (_, command) = said.split_once("give the branch up: ").expect("a hint");
        let command = command.lines().next().expect("a command");
        assert_eq!(command, format!("{hint}refs/heads/{BRANCH}"));
        assert_eq!(state_of(&sandbox, "3"), "ready", "{text:?}");
        let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 3");
        sandbox.wait_for_worker("alpha", "3");
        assert_eq!(
            sandbox.read(&format!(".git/refs/heads/{BRANCH}")),
            text,
            "it is left as it is"
        );
        let _ = sandbox.shell(command).exits(0);
        assert_eq!(state_of(&sandbox, "1"), "ready", "the hint helps");
    }
    // The same in packed form, where only the object is missing.
    let sandbox = sandbox(&alpha());
    let _ = sandbox.git(&["pack-refs", "--all"]);
    let packed = sandbox.read(".git/packed-refs");
    sandbox.write(".git/packed-refs", &format!("{packed}{nowhere} refs/heads/{BRANCH}\n"));
    assert!(
        state_of(&sandbox, "1").starts_with("unknown: "),
        "{}",
        state_of(&sandbox, "1")
    );
    assert_eq!(state_of(&sandbox, "3"), "ready");
}

/// Returns what `why` says of the task, and asserts that the step goes on with the third one (law L12).
fn held_alone(sandbox: &Sandbox, case: &str) -> String {
    let state = state_of(sandbox, "1");
    assert!(state.starts_with("unknown: "), "{case}: {state}");
    assert_eq!(state_of(sandbox, "3"), "ready", "{case}");
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 3");
    sandbox.wait_for_worker("alpha", "3");
    sandbox.orchestrate(&["why", "alpha", "1"]).exits(0).stdout
}

/// A ref beneath a task branch's name, which git would not make the branch beside, holds that unit alone.
#[test]
fn a_ref_beneath_a_task_branch_holds_its_own_unit_alone() {
    for packed in [false, true] {
        let sandbox = sandbox(&alpha());
        let _ = sandbox.git(&["branch", &format!("{BRANCH}/wip")]);
        if packed {
            let _ = sandbox.git(&["pack-refs", "--all"]);
        }
        let said = held_alone(&sandbox, &format!("packed: {packed}"));
        let command = format!("git branch -m {BRANCH}/wip other-name");
        assert!(said.contains(&command), "{said}");
        let _ = sandbox.shell(&command).exits(0);
        assert_eq!(state_of(&sandbox, "1"), "ready", "the hint helps");
    }
}

/// A branch above the names of all task branches holds them all, in words that say so.
#[test]
fn a_branch_above_the_task_branches_is_named_with_the_command_that_renames_it() {
    for (branch, packed) in [
        ("planwright", false),
        ("planwright", true),
        ("planwright/alpha", false),
        ("planwright/alpha", true),
    ] {
        let sandbox = sandbox(&alpha());
        let _ = sandbox.git(&["branch", branch]);
        if packed {
            let _ = sandbox.git(&["pack-refs", "--all"]);
        }
        let state = state_of(&sandbox, "1");
        assert!(
            state.starts_with(&format!("unknown: the branch {branch} stands in the way")),
            "{branch} {packed}: {state}"
        );
        let command = format!("git branch -m {branch} other-name");
        let step = sandbox.orchestrate(&["alpha"]).exits(0);
        assert!(step.stdout.contains(&command), "{}", step.stdout);
        let _ = sandbox.shell(&command).exits(0);
        assert_eq!(state_of(&sandbox, "1"), "ready", "the hint helps");
    }
}

/// What is no file where git keeps a ref or its reflog would be waited on for ever, with the lock held.
#[test]
fn what_is_no_file_in_the_place_of_a_ref_is_never_opened() {
    let places = [
        format!("refs/heads/{BRANCH}"),
        format!("refs/heads/{BRANCH}/wip"),
        format!("refs/remotes/origin/{BRANCH}"),
        format!("logs/refs/heads/{BRANCH}"),
    ];
    for place in places {
        let sandbox = sandbox(&alpha());
        let path = sandbox.repository().join(".git").join(&place);
        let parent = path.parent().expect("a directory");
        let _ = sandbox.shell(&format!("mkdir -p {parent} && mkfifo {path}")).exits(0);
        let said = held_alone(&sandbox, &place);
        let command = format!("rm .git/{place}");
        assert!(said.contains(&command), "{said}");
        let _ = sandbox.shell(&command).exits(0);
        assert_eq!(state_of(&sandbox, "1"), "ready", "the hint helps: {place}");
    }
    // Above all of them, and by way of a symbolic link that git itself would follow.
    for (prepare, place) in [
        ("mkfifo .git/refs/heads/planwright", "refs/heads/planwright"),
        (
            "mkdir -p .git/refs/heads/planwright/alpha && mkfifo pipe && \
             ln -s ../../../../../pipe .git/refs/heads/planwright/alpha/task-1",
            "refs/heads/planwright/alpha/task-1",
        ),
    ] {
        let sandbox = sandbox(&alpha());
        let _ = sandbox.shell(prepare).exits(0);
        let state = state_of(&sandbox, "1");
        assert!(state.starts_with("unknown: "), "{place}: {state}");
        let step = sandbox.orchestrate(&["alpha"]).exits(0);
        assert!(step.stdout.contains(&format!("rm .git/{place}")), "{}", step.stdout);
    }
}

/// The same in the files that every command reads, before any lock is taken.
#[test]
fn what_is_no_file_in_the_place_of_gits_own_files_is_refused_by_name() {
    for place in [
        "config",
        "packed-refs",
        "shallow",
        "info/grafts",
        "refs/heads/main",
        "refs/remotes/origin/HEAD",
    ] {
        let sandbox = sandbox(&single());
        let path = sandbox.repository().join(".git").join(place);
        let parent = path.parent().expect("a directory");
        let make = format!("mkdir -p {parent} && rm -f {path} && mkfifo {path}");
        let _ = sandbox.shell(&make).exits(0);
        let told = sandbox.orchestrate(&["alpha"]).exits(1).stderr;
        assert!(
            told.contains(&format!("{place} is a named pipe")) && told.contains("hint: take it away"),
            "{place}: {told}"
        );
    }
}

/// A ref that names something else than a commit is told as what it is.
#[test]
fn a_ref_that_leads_to_no_commit_is_told_as_what_it_is() {
    let reference = format!("refs/heads/{BRANCH}");
    for (prepare, words) in [
        (
            format!("git symbolic-ref {reference} {reference}"),
            format!("is a symbolic ref to {reference}, which leads to no commit"),
        ),
        (
            format!("git symbolic-ref {reference} refs/heads/gone"),
            "is a symbolic ref to refs/heads/gone, which leads to no commit".to_owned(),
        ),
        (
            format!("mkdir -p .git/refs/heads/planwright/alpha && git rev-parse main:specs > .git/{reference}"),
            "names a tree, no commit".to_owned(),
        ),
    ] {
        let sandbox = sandbox(&alpha());
        let _ = sandbox.shell(&prepare).exits(0);
        let state = state_of(&sandbox, "1");
        assert!(state.contains(&words), "{state}");
        let said = held_alone(&sandbox, &prepare);
        let command = format!("git update-ref --no-deref -d {reference}");
        assert!(said.contains(&command), "{said}");
        let _ = sandbox.shell(&command).exits(0);
        assert_eq!(state_of(&sandbox, "1"), "ready", "the hint helps: {prepare}");
    }
}

/// Whatever is broken in git's own files is said with the command that shows or mends it.
#[test]
fn what_is_broken_in_gits_files_is_told_with_what_helps() {
    let remove = |revision: &str| {
        format!("id=$(git rev-parse {revision}) && rm -f .git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-)")
    };
    for (damage, words) in [
        (remove("main"), "git fsck"),
        (remove("main~1"), "git fsck"),
        (
            "git pack-refs --all && echo garbage >> .git/packed-refs".to_owned(),
            ".git/packed-refs",
        ),
        ("printf '[core\\n' >> .git/config".to_owned(), "git config --list"),
        ("echo zz > .git/shallow".to_owned(), ".git/shallow"),
    ] {
        let sandbox = sandbox(&alpha());
        let _ = sandbox.git(&["commit", "--quiet", "--allow-empty", "--message", "more"]);
        let _ = sandbox.shell(&damage).exits(0);
        let told = sandbox.orchestrate(&["why", "alpha", "1"]);
        let hints = told.stderr.lines().filter(|line| line.starts_with("hint: "));
        let hints: Vec<&str> = hints
            .chain(told.stdout.lines().filter(|line| line.starts_with("→ ")))
            .collect();
        assert!(
            hints.iter().any(|hint| hint.contains(words)),
            "{damage}: {}{}",
            told.stdout,
            told.stderr
        );
    }
}

/// Evidence is read from the commits that hashes name (decision 66).
#[test]
fn a_replaced_commit_changes_no_evidence() {
    let sandbox = sandbox(&single());
    let told = sandbox
        .git(&["commit-tree", "-m", "told\n\nPlanwright-Task: alpha/1", "main^{tree}"])
        .trim()
        .to_owned();
    let _ = sandbox.git(&["replace", "main", &told]);
    assert!(
        sandbox
            .git(&["log", "-1", "--format=%B", "main"])
            .contains("Planwright-Task")
    );
    assert_eq!(state_of(&sandbox, "1"), "ready");
    let _ = sandbox
        .orchestrate(&["why", "alpha", "1"])
        .exits(0)
        .says("trailer on base       no       walked 2 commits of main at ");
}
