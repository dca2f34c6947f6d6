//! Disks that refuse: one clear error, nothing half-written, and the next step goes on.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::time::Instant;

use camino::Utf8Path;
use orchestrate_e2e::listing::Listing;
use orchestrate_e2e::output::Output;
use orchestrate_e2e::running::PATIENCE;
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_e2e::surroundings::{read_only, skipped, small_disk};

use crate::{PROGRAM, check, sandbox, single, state_of};

const PLACE: &str = ".claude/worktrees/alpha-task-1";

/// Verifies REQ-D1.10.
#[test]
fn a_read_only_bundle_is_told_and_the_next_step_goes_on() {
    let sandbox = sandbox(&single());
    let Some(mounted) = read_only(&sandbox, &sandbox.path("specs/alpha")) else {
        return skipped("a read-only directory (this user may not mount one)");
    };
    let before = Listing::of(&sandbox.path("specs"));
    check!(sandbox, sandbox.orchestrate(&["alpha"]), @r"
        exit 1
        --- out
        error: cannot make specs/alpha/.orchestrate.lock.new-[TOKEN]: Read-only file system (os error 30)
        hint: the tower needs to write here; check the owner and the mount
        ");
    assert_eq!(sandbox.starts(), [""; 0]);
    assert_eq!(sandbox.refs("refs/heads/planwright"), [""; 0]);
    assert_eq!(Listing::of(&sandbox.path("specs")).changes_since(&before), [""; 0]);
    drop(mounted);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
}

/// Verifies REQ-D1.10.
#[test]
fn a_read_only_repository_can_be_looked_at_and_nothing_else() {
    let sandbox = sandbox(&single());
    sandbox.add_origin();
    let mounts = [sandbox.repository(), sandbox.root().join("origin.git")];
    let mounted: Vec<_> = mounts.iter().filter_map(|path| read_only(&sandbox, path)).collect();
    if mounted.len() < mounts.len() {
        return skipped("a read-only repository (this user may not mount one)");
    }
    let before = sandbox.listing();
    for look in [
        &["status"][..],
        &["status", "alpha"],
        &["why", "alpha", "1"],
        &["validate"],
        &["graph", "alpha"],
        &["doctor"],
        &["config", "list"],
        &["plumbing", "orchestrate-state", "specs/alpha"],
    ] {
        let output = sandbox.orchestrate(look).exits(0);
        assert!(!output.text().contains("Read-only"), "{look:?}: {output}");
    }
    let _ = sandbox
        .orchestrate(&["alpha", "--dry-run"])
        .exits(0)
        .says("would dispatch alpha task 1");
    for write in [
        &["alpha"][..],
        &["alpha", "--unattended"],
        &["park", "alpha", "1", "--in", "deferred", "--reason", "later"],
    ] {
        let output = sandbox.orchestrate(write).exits(1);
        assert!(output.text().contains("Read-only file system"), "{write:?}: {output}");
        assert_eq!(output.text().matches("hint: ").count(), 1, "{write:?}: {output}");
    }
    drop(mounted);
    assert_eq!(sandbox.changes_since(&before), [""; 0]);
    assert_eq!(sandbox.refs("refs/heads/planwright"), [""; 0]);
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(sandbox.starts(), ["alpha 1"]);
}

/// Fills a filesystem up to the last byte, and returns how many pages that took.
fn fill(path: &Utf8Path) -> u64 {
    use std::io::Write;
    let mut file = File::create(path).expect("a file");
    let block = [7_u8; 4096];
    while file.write_all(&block).is_ok() {}
    fs::metadata(path).expect("the filler").len() / 4096
}

/// What nothing but a completed dispatch may change, and what is never half there.
struct Kept {
    bundle: Listing,
    head: String,
}

impl Kept {
    fn of(sandbox: &Sandbox) -> Self {
        Self {
            bundle: Listing::of(&sandbox.path("specs")),
            head: sandbox.commit_of("main"),
        }
    }

    fn holds(&self, sandbox: &Sandbox, output: &Output) {
        assert!(!sandbox.path("specs/alpha/.orchestrate.lock").exists(), "{output}");
        for change in Listing::of(&sandbox.path("specs")).changes_since(&self.bundle) {
            let allowed = [
                "+ alpha/.orchestrate/",
                "+ alpha/.orchestrate/markers/",
                "+ alpha/.orchestrate/markers/1",
                "~ alpha/.orchestrate/markers/1",
            ];
            assert!(allowed.contains(&change.as_str()), "{change}\n{output}");
        }
        for home in [
            "specs/alpha/.orchestrate/markers/1",
            ".git/planwright/orchestrate/alpha/markers/1",
        ] {
            if let Ok(marker) = fs::read_to_string(sandbox.path(home)) {
                assert_eq!(marker.len(), 11, "{marker:?}");
            }
        }
        for record in [
            "dispatch/alpha/1.json",
            "dispatch/alpha/1.launch.json",
            "fetch/record.json",
        ] {
            if let Ok(text) = fs::read_to_string(sandbox.path(&format!(".git/orchestrate/{record}"))) {
                let parsed: Result<serde_json::Value, _> = serde_json::from_str(&text);
                assert!(parsed.is_ok(), "{record}: {text:?}\n{output}");
            }
        }
        assert_eq!(sandbox.commit_of("main"), self.head);
        let branch = ["for-each-ref", "--format=%(objectname)", "refs/heads/planwright"];
        assert!(["", &self.head].contains(&sandbox.git(&branch).as_str()), "{output}");
        let _ = sandbox.git(&["fsck", "--no-progress", "--connectivity-only"]);
        let status = sandbox.git(&[
            "-c",
            "core.preloadIndex=false",
            "--no-optional-locks",
            "status",
            "--porcelain",
        ]);
        assert_eq!(status, "", "{output}");
    }
}

/// Steps with so many free pages more each time until the unit is dispatched. Returns what failed on the way.
fn starve(sandbox: &Sandbox, filler: &Utf8Path, more: usize) -> BTreeSet<String> {
    let pages = fill(filler);
    let mut seen = BTreeSet::new();
    for free in (0..=pages).step_by(more) {
        let file = File::options().write(true).open(filler).expect("the filler");
        file.set_len((pages - free) * 4096).expect("pages are freed");
        drop(file);
        if sandbox.lease("alpha", "1").is_file() {
            // A runner that refused keeps its lease until it has ended.
            sandbox.wait_for_worker("alpha", "1");
        }
        let kept = Kept::of(sandbox);
        let output = sandbox.orchestrate(&["alpha"]);
        if output.stdout.contains("worker    command, pid") {
            fs::remove_file(filler).expect("the filler goes");
            sandbox.wait_for_worker("alpha", "1");
            assert_eq!(sandbox.starts(), ["alpha 1"]);
            assert_eq!(sandbox.git_in(&sandbox.path(PLACE), &["status", "--porcelain"]), "");
            let _ = sandbox.orchestrate(&["alpha"]).exits(0);
            assert_eq!(sandbox.starts(), ["alpha 1"]);
            return seen;
        }
        let text = output.text();
        let first = text
            .lines()
            .find(|line| line.contains("No space left") || line.contains("Out of diskspace"));
        assert!(first.is_some(), "{free} pages free: {output}");
        assert_ne!(output.exit, 0, "{free} pages free: {output}");
        assert_eq!(text.matches("hint: ").count(), 1, "{free} pages free: {output}");
        seen.extend(first.and_then(|line| Some(line.split(':').nth(1)?.trim().to_owned())));
        kept.holds(sandbox, &output);
        assert_eq!(sandbox.starts(), [""; 0], "{output}");
    }
    panic!("an empty disk is enough; failed at {seen:?}");
}

/// Verifies REQ-D1.10.
#[test]
fn a_full_disk_gives_one_clear_error_and_the_next_step_goes_on() {
    // With an origin each step writes the commit of a fence anew, before it writes down which one it was (decision 85).
    for (has_origin, more) in [(false, 1), (true, 2)] {
        let sandbox = Sandbox::empty(PROGRAM);
        let Some(_disk) = small_disk(&sandbox, &sandbox.repository(), 4096) else {
            return skipped("tmpfs");
        };
        sandbox.initialise(&[]);
        sandbox.add_bundle(&single());
        sandbox.configure("");
        if has_origin {
            sandbox.add_origin();
        }
        let seen = starve(&sandbox, &sandbox.path(".git/filler"), more);
        assert!(seen.len() > 6, "several places failed: {seen:?}");
    }
}

/// Verifies REQ-D1.10.
#[test]
fn a_full_disk_under_the_state_alone_is_told_as_well() {
    let sandbox = sandbox(&single());
    let state = sandbox.path(".git/orchestrate");
    fs::create_dir(&state).expect("a directory");
    let Some(_disk) = small_disk(&sandbox, &state, 256) else {
        return skipped("tmpfs");
    };
    let seen = starve(&sandbox, &state.join("filler"), 1);
    for failed in [
        "cannot write .git/orchestrate/dispatch/alpha/1.json",
        "backend command cannot start a worker",
    ] {
        assert!(seen.contains(failed), "{seen:?}");
    }
}

/// Law L11: what cannot be written down is found out, or asked of a person.
/// Verifies REQ-D1.10.
#[test]
fn a_disk_that_is_full_when_the_worker_ends_holds_the_unit() {
    let sandbox = sandbox(&single());
    let state = sandbox.path(".git/orchestrate");
    fs::create_dir(&state).expect("a directory");
    let Some(_disk) = small_disk(&sandbox, &state, 256) else {
        return skipped("tmpfs");
    };
    let filler = state.join("filler");
    sandbox.act("1", &format!("cat /dev/zero > {filler}\n"));
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task 1");
    sandbox.wait_for_worker("alpha", "1");
    // Its lease is free a moment before it has ended.
    let asked = Instant::now();
    while state_of(&sandbox, "1").starts_with("dispatched") {
        assert!(asked.elapsed() < PATIENCE, "the runner ends");
    }
    for _ in 0..2 {
        assert_eq!(
            state_of(&sandbox, "1"),
            "held: its worker ended and left no commit on its branch (its end was not recorded)"
        );
        let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(10);
        drop(fs::remove_file(&filler));
    }
    assert_eq!(sandbox.starts(), ["alpha 1"]);
}

/// Verifies REQ-D1.10.
#[test]
fn a_full_disk_never_tears_the_ledger() {
    let sandbox = Sandbox::empty(PROGRAM);
    let Some(_disk) = small_disk(&sandbox, &sandbox.repository(), 4096) else {
        return skipped("tmpfs");
    };
    sandbox.initialise(&[]);
    sandbox.add_bundle(&single());
    sandbox.configure("");
    let filler = sandbox.path(".git/filler");
    let ledger = "specs/alpha/tasks.md";
    let mut before = sandbox.read(ledger);
    for act in [
        &["park", "alpha", "1", "--in", "deferred", "--reason", "later"][..],
        &["unpark", "alpha", "1"],
    ] {
        let pages = fill(&filler);
        let mut failures = 0;
        for free in 0..=pages {
            let file = File::options().write(true).open(&filler).expect("the filler");
            file.set_len((pages - free) * 4096).expect("pages are freed");
            drop(file);
            let output = sandbox.orchestrate(act);
            if output.exit == 0 {
                break;
            }
            failures += 1;
            let _ = output.exits(1).says("No space left on device").says("hint: ");
            assert_eq!(sandbox.read(ledger), before);
        }
        assert!(failures > 1, "{act:?}");
        assert_ne!(sandbox.read(ledger), before, "{act:?}");
        before = sandbox.read(ledger);
        fs::remove_file(&filler).expect("the filler goes");
    }
    assert_eq!(sandbox.git(&["status", "--porcelain"]), "");
}
