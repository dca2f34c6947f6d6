//! `doctor`: each finding is made in a real repository, named with what mends it, and gone after its command was run as it
//! was printed.

use std::fs;
use std::os::unix::fs::symlink;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_e2e::output::Output;
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_e2e::surroundings::skipped;
use orchestrate_host::clock;
use serde_json::Value;

use crate::{PROGRAM, check, sandbox, single};

const LOCK: &str = "specs/alpha/.orchestrate.lock";
const MARKERS: &str = "specs/alpha/.orchestrate/markers";

/// What `doctor` finds in a directory: the findings of one check.
pub(crate) fn found_in(sandbox: &Sandbox, directory: &Utf8Path, check: &str) -> Vec<Value> {
    let value = sandbox
        .orchestrate_in(directory, &["doctor", "--format", "json"])
        .json();
    let names: Vec<&Value> = value["checks"].as_array().expect("checks").iter().collect();
    assert!(names.iter().any(|one| one["name"] == check), "{check} is no check");
    let findings = value["findings"].as_array().expect("findings");
    findings
        .iter()
        .filter(|finding| finding["check"] == check)
        .cloned()
        .collect()
}

pub(crate) fn text<'a>(finding: &'a Value, key: &str) -> &'a str {
    finding[key].as_str().unwrap_or_default()
}

/// Returns the one finding of a check that says this.
#[track_caller]
pub(crate) fn the_finding(sandbox: &Sandbox, check: &str, says: &str) -> Value {
    the_finding_in(sandbox, &sandbox.repository(), check, says)
}

#[track_caller]
pub(crate) fn the_finding_in(sandbox: &Sandbox, directory: &Utf8Path, check: &str, says: &str) -> Value {
    let all = found_in(sandbox, directory, check);
    let matching: Vec<&Value> = all
        .iter()
        .filter(|finding| format!("{}: {}", text(finding, "place"), text(finding, "problem")).contains(says))
        .collect();
    let [finding] = matching.as_slice() else {
        panic!("{check}, {says:?}: {all:#?}")
    };
    assert!(!text(finding, "mend").is_empty(), "{finding}");
    (*finding).clone()
}

/// The finding is there with that weight, its command stands whole on a line for people, and once it has run as printed
/// the finding is gone.
#[track_caller]
pub(crate) fn mends(sandbox: &Sandbox, check: &str, weight: &str, says: &str) {
    mends_in(sandbox, &sandbox.repository(), check, weight, says);
}

#[track_caller]
pub(crate) fn mends_in(sandbox: &Sandbox, directory: &Utf8Path, check: &str, weight: &str, says: &str) {
    let finding = the_finding_in(sandbox, directory, check, says);
    assert_eq!(text(&finding, "weight"), weight, "{finding}");
    let command = text(&finding, "command");
    assert!(!command.is_empty(), "{finding}");
    let output = sandbox.orchestrate_in(directory, &["doctor"]);
    let is_whole = |line: &str| line == format!("    {command}") || line.ends_with(&format!(": {command}"));
    assert!(output.stdout.lines().any(is_whole), "{command}\n{output}");
    let _ = sandbox.shell(&format!("cd '{directory}' && {command}")).exits(0);
    let left = found_in(sandbox, directory, check);
    assert!(
        left.iter()
            .all(|left| text(left, "problem") != text(&finding, "problem") || left["place"] != finding["place"]),
        "{command} left {left:#?}"
    );
}

/// Runs `doctor` and returns the exit code and every finding, unwrapped: where lines are broken depends on the length of
/// the sandbox's path.
pub(crate) fn every_finding(sandbox: &Sandbox) -> String {
    let output = sandbox.orchestrate(&["doctor", "--format", "json"]);
    let mut told = format!("exit {}\n", output.exit);
    for finding in output.json()["findings"].as_array().expect("findings") {
        let (weight, check, place) = (text(finding, "weight"), text(finding, "check"), text(finding, "place"));
        let (problem, mend) = (text(finding, "problem"), text(finding, "mend"));
        told.push_str(&format!(
            "\n{weight} in {check}: {place}\n  {problem}\n  mend: {mend}\n"
        ));
    }
    told
}

/// Returns the exit code and what was found, without what was looked at: that differs from machine to machine.
fn findings_of(output: &Output) -> String {
    let found = output.stdout.split("\nlooked at\n").next().unwrap_or_default();
    format!("exit {}\n{found}", output.exit)
}

/// Makes a file look two hours old.
pub(crate) fn make_old(sandbox: &Sandbox, relative: &str) {
    let _ = sandbox.shell(&format!("touch -d '2 hours ago' '{relative}'")).exits(0);
}

pub(crate) fn clone_with_settings(sandbox: &Sandbox, name: &str, arguments: &[&str]) -> Utf8PathBuf {
    let clone = sandbox.clone_origin(name, arguments);
    let local = ".claude/planwright.local.yml";
    fs::create_dir_all(clone.join(".claude")).expect("a directory");
    fs::copy(sandbox.path(local), clone.join(local)).expect("the same settings");
    clone
}

/// Verifies REQ-F2.4.
#[test]
fn a_healthy_repository_is_told_so_and_nothing_is_written() {
    let sandbox = sandbox(&single());
    let before = sandbox.listing();
    let output = sandbox.orchestrate(&["doctor"]).exits(0);
    assert!(output.stdout.starts_with("nothing is wrong\n"), "{output}");
    for check in ["git", "locks", "litter"] {
        assert!(
            output
                .stdout
                .lines()
                .any(|line| line.starts_with(&format!("  {check} ")) && line.contains(" ok "))
        );
    }
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
    let _ = sandbox.orchestrate(&["doctor", "--fix"]).exits(0);
    assert_eq!(
        sandbox.changes_since(&before),
        [""; 0],
        "nothing to fix, nothing written"
    );
    let _ = sandbox.orchestrate(&["alpha"]).exits(0);
    sandbox.wait_for_worker("alpha", "1");
    let output = sandbox.orchestrate(&["doctor", "--detailed-exitcode"]).exits(0);
    assert!(output.stdout.starts_with("nothing is wrong\n"), "{output}");
}

#[test]
fn outside_a_repository_the_machine_is_looked_at() {
    let sandbox = Sandbox::empty(PROGRAM);
    let output = sandbox.orchestrate_in(sandbox.root(), &["doctor"]).exits(0);
    let _ = output
        .clone()
        .says("git version")
        .says("a step uses ")
        .says("the other checks need a repository");
    let bare = sandbox.root().join("bare");
    let _ = sandbox.git_in(sandbox.root(), &["init", "--quiet", "--bare", bare.as_str()]);
    let finding = the_finding_in(&sandbox, &bare, "repository", "is a bare repository");
    assert_eq!(text(&finding, "weight"), "fault");
}

#[test]
fn the_report_fits_and_keeps_commands_whole() {
    let sandbox = sandbox(&single());
    symlink("nowhere", sandbox.path(LOCK)).expect("a link");
    sandbox.write(&format!("{MARKERS}/1"), "soon\n");
    let narrow = [("COLUMNS", "80")];
    let output = sandbox
        .orchestrate_with(&sandbox.repository(), &["doctor"], &narrow)
        .exits(1);
    for line in output.stdout.lines() {
        let is_command = line.starts_with("    orchestrate ") || line.contains(sandbox.root().as_str());
        assert!(line.chars().count() <= 80 || is_command, "{line}");
    }
    check!(sandbox, findings_of(&output), @r"
        exit 1
        2 faults, 1 warning

        warning in ignore-rules: .git/info/exclude
          git add --all would add what is this machine's:
          specs/alpha/.orchestrate.lock/, specs/alpha/.orchestrate/
          mend: orchestrate doctor --fix

        fault in locks: specs/alpha/.orchestrate.lock
          a symbolic link stands there, as later versions of the reference make: no
          tower can take the lock
          mend, if nobody works on the bundle: rm specs/alpha/.orchestrate.lock

        fault in markers: the marker of task 1 of specs/alpha
          specs/alpha/.orchestrate/markers/1 cannot be read: unreadable dispatch marker:
          it is not a number of seconds; the task is held
          mend, if nobody works on it:
            orchestrate plumbing orchestrate-marker clear specs/alpha 1
        ");
    let below = sandbox.orchestrate_in(&sandbox.path("specs"), &["doctor"]).exits(1);
    let _ = below.says(&format!("run the commands in {}", sandbox.repository()));
}

#[test]
fn git_that_is_missing_or_too_old_is_a_fault() {
    let sandbox = sandbox(&single());
    let variables = [("PATH", "/nowhere")];
    let output = sandbox
        .orchestrate_with(&sandbox.repository(), &["doctor"], &variables)
        .exits(1);
    let _ = output.says("git is not on the search path").says("install git");
    for (said, weight) in [("git version 2.20.1", "fault"), ("something else", "warning")] {
        sandbox.install("git", &format!("echo '{said}'\n"));
        let finding = found_in(&sandbox, &sandbox.repository(), "git");
        assert_eq!(finding.len(), 1, "{finding:#?}");
        assert_eq!(text(&finding[0], "weight"), weight);
        assert!(text(&finding[0], "mend").contains("git 2.29 or a newer one"));
    }
    sandbox.install("git", "echo 'git version 2.29.0'\n");
    assert_eq!(found_in(&sandbox, &sandbox.repository(), "git"), Vec::<Value>::new());
}

#[test]
fn repositories_that_cannot_be_used_are_named_and_the_rest_is_looked_at() {
    let sandbox = Sandbox::empty(PROGRAM);
    for (name, argument, says) in [
        ("sha", "--object-format=sha256", "SHA-256"),
        ("table", "--ref-format=reftable", "reftable"),
    ] {
        let directory = sandbox.root().join(name);
        let made = sandbox.try_git(sandbox.root(), &["init", "--quiet", argument, directory.as_str()]);
        if made.exit != 0 {
            skipped(&format!("git init {argument}"));
            continue;
        }
        let finding = the_finding_in(&sandbox, &directory, "repository", says);
        assert_eq!(text(&finding, "weight"), "fault");
        let _ = sandbox
            .orchestrate_in(&directory, &["doctor"])
            .exits(1)
            .says("git version");
    }
    let directory = sandbox.root().join("piped");
    let _ = sandbox.git_in(sandbox.root(), &["init", "--quiet", directory.as_str()]);
    fs::remove_file(directory.join(".git/config")).expect("removed");
    let _ = sandbox.shell(&format!("mkfifo '{directory}/.git/config'")).exits(0);
    let finding = the_finding_in(&sandbox, &directory, "repository", "is a named pipe");
    assert_eq!(text(&finding, "command"), "rm .git/config");
}

/// Verifies REQ-F2.4.
#[test]
fn history_that_is_cut_off_and_logs_that_are_off_are_mended() {
    let sandbox = sandbox(&single());
    sandbox.add_origin();
    let shallow = clone_with_settings(&sandbox, "shallow", &["--depth=1"]);
    mends_in(&sandbox, &shallow, "repository", "warning", "its history is cut off");
    let origin = sandbox.root().join("origin.git");
    let _ = sandbox.git_in(&origin, &["config", "uploadpack.allowFilter", "true"]);
    let partial = clone_with_settings(&sandbox, "partial", &["--filter=blob:none"]);
    mends_in(&sandbox, &partial, "repository", "note", "a partial clone");
    let _ = sandbox.git_in(
        &partial,
        &["-c", "remote.origin.url=/nowhere", "fsck", "--connectivity-only"],
    );
    let _ = sandbox.git(&["config", "core.logAllRefUpdates", "false"]);
    mends(&sandbox, "repository", "warning", "core.logAllRefUpdates is off");
    let _ = sandbox.git(&["config", "gc.reflogExpire", "now"]);
    mends(&sandbox, "repository", "warning", "gc.reflogExpire is now");
}

#[test]
fn what_lies_in_the_way_of_a_branch_is_mended() {
    let sandbox = sandbox(&single());
    let _ = sandbox.git(&["branch", "planwright/alpha"]);
    mends(&sandbox, "repository", "fault", "planwright/alpha");
    fs::create_dir_all(sandbox.path(".git/refs/heads/planwright/alpha")).expect("a directory");
    let _ = sandbox.shell("mkfifo .git/refs/heads/planwright/alpha/task-1").exits(0);
    mends(&sandbox, "repository", "fault", "is a named pipe");
}

#[test]
fn a_ref_that_git_cannot_read_is_mended() {
    let sandbox = sandbox(&single());
    let _ = sandbox.git(&["pack-refs", "--all"]);
    assert_eq!(
        found_in(&sandbox, &sandbox.repository(), "repository"),
        Vec::<Value>::new()
    );
    for (name, content, says) in [
        ("refs/heads/old", String::new(), "it is empty"),
        ("refs/remotes/origin/old", String::new(), "it is empty"),
        ("refs/tags/old", "nonsense\n".to_owned(), "it is no ref"),
        (
            "refs/heads/lost",
            format!("{}\n", "1".repeat(40)),
            "is not in this clone",
        ),
    ] {
        sandbox.write(&format!(".git/{name}"), &content);
        mends(&sandbox, "repository", "fault", says);
        assert_eq!(
            found_in(&sandbox, &sandbox.repository(), "repository"),
            Vec::<Value>::new(),
            "{name}"
        );
    }
    let packed = sandbox.read(".git/packed-refs");
    sandbox.write(
        ".git/packed-refs",
        &format!("{packed}{} refs/tags/zlost\n", "2".repeat(40)),
    );
    mends(&sandbox, "repository", "fault", "is not in this clone");
    symlink("/etc/hostname", sandbox.path(".git/refs/heads/linked")).expect("a link");
    mends(&sandbox, "repository", "fault", "leads to no ref");
}

/// A name may hold anything that git takes, and a file of a ref anything at all.
#[test]
fn a_command_that_doctor_prints_takes_a_name_for_one_word() {
    let sandbox = sandbox(&single());
    let _ = sandbox.git(&["branch", "bad"]);
    sandbox.write("name", "mine");
    for name in ["bad name", "a;touch${IFS}pwned", "it's"] {
        sandbox.write(&format!(".git/refs/heads/{name}"), "torn");
        mends(&sandbox, "repository", "fault", "it is no ref");
    }
    assert!(!sandbox.path("pwned").exists() && sandbox.path("name").is_file());
    let _ = sandbox.git(&["rev-parse", "--verify", "refs/heads/bad"]);
}

/// Older commits may be named by the branch's log alone, which goes with the branch.
#[test]
fn a_branch_whose_last_commit_is_lost_goes_back_to_the_one_before() {
    for pack in [true, false] {
        let sandbox = sandbox(&single());
        let _ = sandbox.git(&["switch", "--quiet", "--create", "feature"]);
        sandbox.write("one", "one");
        let first = sandbox.commit_all("feat: one");
        sandbox.write("two", "two");
        let lost = sandbox.commit_all("feat: two");
        let _ = sandbox.git(&["switch", "--quiet", "main"]);
        if pack {
            let _ = sandbox.git(&["pack-refs", "--all"]);
        }
        fs::remove_file(sandbox.path(&format!(".git/objects/{}/{}", &lost[..2], &lost[2..]))).expect("lost");
        mends(&sandbox, "repository", "fault", "is not in this clone");
        assert_eq!(sandbox.git(&["rev-parse", "feature"]).trim(), first, "packed: {pack}");
    }
}

#[test]
fn what_stands_in_the_place_of_a_log_is_mended() {
    let sandbox = sandbox(&single());
    let logs = ".git/orchestrate/logs";
    fs::create_dir_all(sandbox.path(&format!("{logs}/alpha-task-1.log"))).expect("a directory");
    fs::create_dir_all(sandbox.path(&format!("{logs}/somebodys"))).expect("a directory");
    mends(&sandbox, "workers", "fault", "alpha-task-1.log");
    fs::remove_dir_all(sandbox.path(logs)).expect("removed");
    sandbox.write(logs, "");
    mends(&sandbox, "workers", "fault", "in the place of what workers write");
}

#[test]
fn what_stands_above_all_fences_and_what_fences_nobody_is_mended() {
    let sandbox = sandbox(&single());
    sandbox.add_origin();
    let _ = sandbox.git(&["push", "--quiet", "origin", "main:refs/planwright-fence/alpha"]);
    mends(&sandbox, "fences", "fault", "stands where fences have to be");
    let _ = sandbox.git(&["push", "--quiet", "origin", "main:refs/planwright-fence/alpha/1-2"]);
    mends(&sandbox, "fences", "note", "it fences a range");
}

/// A worktree whose disk is away loses nothing by what is done about another one.
#[test]
fn what_a_killed_git_left_is_moved_and_no_other_registration_goes() {
    let sandbox = sandbox(&single());
    let _ = sandbox.git(&["worktree", "add", "--quiet", "--detach", "../away"]);
    let away = sandbox.root().join("away");
    let kept = sandbox.root().join("kept");
    fs::rename(&away, &kept).expect("away");
    fs::create_dir_all(sandbox.path(".git/worktrees/junk")).expect("a directory");
    mends(&sandbox, "worktrees", "warning", "a killed git left it");
    fs::rename(&kept, &away).expect("back");
    let _ = sandbox.git_in(&away, &["status", "--porcelain"]);
}

#[test]
fn a_forge_without_a_login_is_noted_and_one_that_refuses_is_told() {
    let sandbox = sandbox(&single());
    let _ = sandbox.git(&["remote", "add", "origin", "https://forge.invalid/o/r.git"]);
    let offline = |sandbox: &Sandbox| -> Vec<Value> {
        let value = sandbox.orchestrate(&["doctor", "--offline", "--format", "json"]).json();
        let all = value["findings"].as_array().expect("findings").clone();
        all.into_iter().filter(|finding| finding["check"] == "forge").collect()
    };
    sandbox.install("gh", "echo 'HTTP 401: Bad credentials' >&2\nexit 1\n");
    let found = offline(&sandbox);
    assert_eq!(text(&found[0], "command"), "gh auth login --hostname forge.invalid");
    assert_eq!(text(&found[0], "weight"), "note");
    fs::create_dir_all(sandbox.root().join("home/.config/gh")).expect("a directory");
    fs::write(
        sandbox.root().join("home/.config/gh/hosts.yml"),
        "forge.invalid:\n    user: me\n",
    )
    .expect("written");
    assert_eq!(offline(&sandbox), Vec::<Value>::new(), "offline nobody is asked");
    // An origin that is asked for fences must answer here: the forge is what is looked at.
    let _ = sandbox.git(&["config", "remote.origin.pushurl", sandbox.repository().as_str()]);
    let finding = the_finding(&sandbox, "forge", "Bad credentials");
    assert_eq!(text(&finding, "weight"), "warning");
    assert!(text(&finding, "mend").contains("gh auth status"), "{finding}");
}

#[test]
fn an_agent_that_cannot_be_started_is_a_fault() {
    let sandbox = sandbox(&single());
    let _ = sandbox
        .orchestrate(&["doctor"])
        .exits(0)
        .says("a step uses command: dispatch_backend in the");
    sandbox.configure("dispatch_backend_per_spec: {alpha: tmux}\n");
    let all = found_in(&sandbox, &sandbox.repository(), "agents");
    assert!(
        all.iter()
            .any(|finding| text(finding, "problem").contains("tmux is not in this build")),
        "{all:#?}"
    );
    sandbox.write(
        ".claude/planwright.local.yml",
        "dispatch_backend: command\ncommand_backend: [\"/no/such/agent\"]\n",
    );
    let finding = the_finding(&sandbox, "agents", "/no/such/agent");
    assert_eq!(text(&finding, "weight"), "fault");
    assert!(text(&finding, "mend").contains("command_backend"), "{finding}");
    sandbox.install("agent", "exit 0\n");
    let agent = sandbox.root().join("bin/agent");
    let settings = format!("dispatch_backend: command\ncommand_backend: [\"{agent}\"]\n");
    sandbox.write(".claude/planwright.local.yml", &settings);
    assert_eq!(found_in(&sandbox, &sandbox.repository(), "agents"), Vec::<Value>::new());
}

#[test]
fn a_bundle_that_cannot_be_read_points_at_validate() {
    let sandbox = sandbox(&single());
    sandbox.write("specs/alpha/tasks.md", "### Task 1: no dash\n");
    let finding = the_finding(&sandbox, "bundles", "specs/alpha");
    assert_eq!(text(&finding, "weight"), "fault");
    let mend = text(&finding, "mend");
    let (_, command) = mend.split_once(": ").expect("a command");
    assert!(sandbox.shell(command).exits(1).stdout.contains("tasks.md"));
    fs::rename(sandbox.path("specs/alpha"), sandbox.root().join("elsewhere")).expect("moved");
    symlink(sandbox.root().join("elsewhere"), sandbox.path("specs/alpha")).expect("a link");
    mends(&sandbox, "bundles", "warning", "is a symbolic link");
}

/// Verifies REQ-F2.4.
#[test]
fn the_posture_towards_origin_is_told_and_mended() {
    let sandbox = sandbox(&single());
    sandbox.configure("dispatch_fence: on\n");
    let finding = the_finding(&sandbox, "origin", "there is no origin");
    assert_eq!(text(&finding, "weight"), "fault");
    sandbox.configure("");
    sandbox.add_origin();
    let _ = sandbox.commit_all("not pushed");
    mends(
        &sandbox,
        "origin",
        "note",
        "main has commits that origin's main has not",
    );
    // Origin has gone on meanwhile, so that git refuses a push alone.
    let clone = clone_with_settings(&sandbox, "clone", &[]);
    let _ = sandbox.commit_all_in(&clone, "of somebody else");
    let _ = sandbox.git_in(&clone, &["push", "--quiet", "origin", "main"]);
    let _ = sandbox.git(&["fetch", "--quiet", "origin"]);
    let _ = sandbox.commit_all("not pushed either");
    mends(
        &sandbox,
        "origin",
        "note",
        "main has commits that origin's main has not",
    );
    sandbox.configure("dispatch_fence: off\n");
    let finding = the_finding(&sandbox, "origin", "it is off");
    assert_eq!(text(&finding, "weight"), "warning");
    let _ = sandbox.orchestrate(&["doctor", "--detailed-exitcode"]).exits(14);
    let _ = sandbox.orchestrate(&["doctor"]).exits(0);
    sandbox.configure("");
    // Origin goes away for one step, and comes back.
    let (origin, away) = (sandbox.root().join("origin.git"), sandbox.root().join("away.git"));
    fs::rename(&origin, &away).expect("moved");
    let variables = [
        ("PLANWRIGHT_DISPATCH_FETCH_RETRIES", "1"),
        ("PLANWRIGHT_DISPATCH_FETCH_RETRY_SLEEP", "0"),
    ];
    let _ = sandbox.orchestrate_with(&sandbox.repository(), &["alpha"], &variables);
    let finding = the_finding(&sandbox, "fences", "which units are fenced cannot be told");
    assert_eq!(text(&finding, "weight"), "warning");
    fs::rename(&away, &origin).expect("moved back");
    assert_eq!(found_in(&sandbox, &sandbox.repository(), "fences"), Vec::<Value>::new());
    mends(&sandbox, "origin", "warning", "the last fetch could not be done");
    let stamp = ".claude/orchestrate.local/last-fetch";
    sandbox.write(stamp, &format!("{}\n", clock::now().seconds() + 86_400));
    mends(&sandbox, "origin", "note", "lies in the future");
    sandbox.write(stamp, "soon\n");
    mends(&sandbox, "origin", "note", "is no number of seconds");
    let _ = sandbox.git_in(&origin, &["update-ref", "-d", "refs/heads/main"]);
    let _ = sandbox.git(&["fetch", "--quiet", "--prune", "origin"]);
    sandbox.configure("base_branch: main\n");
    mends(&sandbox, "origin", "warning", "origin has no main");
    sandbox.configure("base_branch: nowhere\n");
    let finding = the_finding(&sandbox, "origin", "base");
    assert_eq!(text(&finding, "weight"), "fault");
}
