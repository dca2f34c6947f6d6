//! Disks that refuse: one clear error, nothing half-written, and the next step goes on.

use std::fs::{self, File};

use orchestrate_e2e::listing::Listing;
use orchestrate_e2e::sandbox::Sandbox;
use orchestrate_e2e::surroundings::{read_only, skipped, small_disk};

use crate::{PROGRAM, check, sandbox, single};

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

/// Fills a filesystem up to the last byte.
fn fill(path: &camino::Utf8Path) {
    use std::io::Write;
    let mut file = File::create(path).expect("a file");
    let block = [7_u8; 4096];
    while file.write_all(&block).is_ok() {}
}

/// Verifies REQ-D1.10.
#[test]
fn a_full_disk_gives_one_clear_error_and_the_next_step_goes_on() {
    let sandbox = Sandbox::empty(PROGRAM);
    let Some(_disk) = small_disk(&sandbox, &sandbox.repository(), 4096) else {
        return skipped("tmpfs");
    };
    sandbox.initialise(&[]);
    sandbox.add_bundle(&single());
    sandbox.configure("");
    let filler = sandbox.path(".git/filler");
    fill(&filler);
    let pages = fs::metadata(&filler).expect("the filler").len() / 4096;
    let mut seen = std::collections::BTreeSet::new();
    let mut dispatched = false;
    for free in 0..80 {
        let file = File::options().write(true).open(&filler).expect("the filler");
        file.set_len((pages - free) * 4096).expect("pages are freed");
        if sandbox.lease("alpha", "1").is_file() {
            // A runner that refused keeps its lease until it has ended.
            sandbox.wait_for_worker("alpha", "1");
        }
        let before = Listing::of(&sandbox.path("specs"));
        let output = sandbox.orchestrate(&["alpha"]);
        if output.stdout.contains("worker    command, pid") {
            dispatched = true;
            break;
        }
        let first = output
            .text()
            .lines()
            .find(|line| line.contains("No space left") || line.contains("Out of diskspace"))
            .map(str::to_owned);
        assert!(first.is_some(), "{free} pages free: {output}");
        assert_ne!(output.exit, 0, "{free} pages free: {output}");
        assert_eq!(
            output.text().matches("hint: ").count(),
            1,
            "{free} pages free: {output}"
        );
        seen.extend(first.and_then(|line| Some(line.split(':').nth(1)?.to_owned())));
        // What is there is whole: no half-written marker or record, no lock left.
        assert!(!sandbox.path("specs/alpha/.orchestrate.lock").exists(), "{output}");
        for change in Listing::of(&sandbox.path("specs")).changes_since(&before) {
            let allowed = [
                "+ alpha/.orchestrate/",
                "+ alpha/.orchestrate/markers/",
                "+ alpha/.orchestrate/markers/1",
                "~ alpha/.orchestrate/markers/1",
            ];
            assert!(
                allowed.contains(&change.as_str()),
                "{free} pages free: {change}\n{output}"
            );
        }
        if let Ok(marker) = fs::read_to_string(sandbox.path("specs/alpha/.orchestrate/markers/1")) {
            assert_eq!(marker.len(), 11, "{marker:?}");
        }
        assert_eq!(sandbox.starts(), [""; 0], "{output}");
    }
    assert!(dispatched, "some free pages are enough; failed at {seen:?}");
    fs::remove_file(&filler).expect("the filler goes");
    sandbox.wait_for_worker("alpha", "1");
    assert_eq!(sandbox.starts(), ["alpha 1"]);
    assert_eq!(sandbox.git_in(&sandbox.path(PLACE), &["status", "--porcelain"]), "");
    assert!(seen.len() > 2, "several places failed: {seen:?}");
}
