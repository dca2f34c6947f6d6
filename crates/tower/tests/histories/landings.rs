//! How work lands × where its trailer stands × what becomes of its branch × where it is looked at from.

use orchestrate_core::derive::Row::{OwnCommitsLanded, Rebased, Squashed, Trailer};
use orchestrate_testkit::histories::{Style, TrailerPlace};

use crate::case::{BRANCH, COMMITTED, Expected, MAIN, READY, Scene, landed, unknown};

/// What is expected by trailer: nowhere, last, body, fenced, of another bundle, refused.
type Columns = [Expected; 6];
type Table = [(Style, Columns); 9];

const TRAILER: Expected = landed(Trailer);
const OWN: Expected = landed(OwnCommitsLanded);
const PICKED: Expected = landed(Rebased);
const SQUASH: Expected = landed(Squashed);
const NO_START: Expected = unknown("where it started is not recorded");

/// The branch is still there, with its reflog. A merge commit's body is no place for a trailer, a squash's is.
const KEPT: Table = [
    (Style::MergeCommit, [OWN, TRAILER, OWN, OWN, OWN, OWN]),
    (Style::FastForward, [OWN, TRAILER, TRAILER, OWN, OWN, OWN]),
    (Style::Squash, [SQUASH, TRAILER, TRAILER, SQUASH, SQUASH, SQUASH]),
    (Style::Rebase, [OWN, TRAILER, TRAILER, OWN, OWN, OWN]),
    (Style::Picked, [PICKED, TRAILER, TRAILER, PICKED, PICKED, PICKED]),
    (Style::Octopus, [OWN, TRAILER, OWN, OWN, OWN, OWN]),
    (Style::Foxtrot, [OWN, TRAILER, TRAILER, OWN, OWN, OWN]),
    (Style::MergedFirst, [OWN, TRAILER, OWN, OWN, OWN, OWN]),
    (
        Style::MergedFirstSquashed,
        [SQUASH, TRAILER, TRAILER, SQUASH, SQUASH, SQUASH],
    ),
];

/// The branch is gone, or was made anew without work: only a trailer can tell.
const GONE: Table = [
    (Style::MergeCommit, [READY, TRAILER, READY, READY, READY, READY]),
    (Style::FastForward, [READY, TRAILER, TRAILER, READY, READY, READY]),
    (Style::Squash, [READY, TRAILER, TRAILER, READY, READY, READY]),
    (Style::Rebase, [READY, TRAILER, TRAILER, READY, READY, READY]),
    (Style::Picked, [READY, TRAILER, TRAILER, READY, READY, READY]),
    (Style::Octopus, [READY, TRAILER, READY, READY, READY, READY]),
    (Style::Foxtrot, [READY, TRAILER, TRAILER, READY, READY, READY]),
    (Style::MergedFirst, [READY, TRAILER, READY, READY, READY, READY]),
    (
        Style::MergedFirstSquashed,
        [READY, TRAILER, TRAILER, READY, READY, READY],
    ),
];

/// The branch was made anew, and has new work.
const NEW_WORK: Table = [
    (
        Style::MergeCommit,
        [COMMITTED, TRAILER, COMMITTED, COMMITTED, COMMITTED, COMMITTED],
    ),
    (
        Style::FastForward,
        [COMMITTED, TRAILER, TRAILER, COMMITTED, COMMITTED, COMMITTED],
    ),
    (
        Style::Squash,
        [COMMITTED, TRAILER, TRAILER, COMMITTED, COMMITTED, COMMITTED],
    ),
    (
        Style::Rebase,
        [COMMITTED, TRAILER, TRAILER, COMMITTED, COMMITTED, COMMITTED],
    ),
    (
        Style::Picked,
        [COMMITTED, TRAILER, TRAILER, COMMITTED, COMMITTED, COMMITTED],
    ),
    (
        Style::Octopus,
        [COMMITTED, TRAILER, COMMITTED, COMMITTED, COMMITTED, COMMITTED],
    ),
    (
        Style::Foxtrot,
        [COMMITTED, TRAILER, TRAILER, COMMITTED, COMMITTED, COMMITTED],
    ),
    (
        Style::MergedFirst,
        [COMMITTED, TRAILER, COMMITTED, COMMITTED, COMMITTED, COMMITTED],
    ),
    (
        Style::MergedFirstSquashed,
        [COMMITTED, TRAILER, TRAILER, COMMITTED, COMMITTED, COMMITTED],
    ),
];

/// The branch is left at origin only, without a reflog: where it started is known to nobody, so its commits are nobody's
/// own. What is not contained in base waits.
const AT_ORIGIN: Table = [
    (
        Style::MergeCommit,
        [NO_START, TRAILER, NO_START, NO_START, NO_START, NO_START],
    ),
    (
        Style::FastForward,
        [NO_START, TRAILER, TRAILER, NO_START, NO_START, NO_START],
    ),
    (
        Style::Squash,
        [COMMITTED, TRAILER, TRAILER, COMMITTED, COMMITTED, COMMITTED],
    ),
    (
        Style::Rebase,
        [NO_START, TRAILER, TRAILER, NO_START, NO_START, NO_START],
    ),
    (
        Style::Picked,
        [COMMITTED, TRAILER, TRAILER, COMMITTED, COMMITTED, COMMITTED],
    ),
    (
        Style::Octopus,
        [NO_START, TRAILER, NO_START, NO_START, NO_START, NO_START],
    ),
    (
        Style::Foxtrot,
        [NO_START, TRAILER, TRAILER, NO_START, NO_START, NO_START],
    ),
    (
        Style::MergedFirst,
        [NO_START, TRAILER, NO_START, NO_START, NO_START, NO_START],
    ),
    (
        Style::MergedFirstSquashed,
        [COMMITTED, TRAILER, TRAILER, COMMITTED, COMMITTED, COMMITTED],
    ),
];

/// Before anything lands, a trailer on the branch is only a promise, and the branch is work.
const BEFORE: Columns = [COMMITTED; 6];

fn check(table: &Table, before: fn(&mut Scene), after: fn(&mut Scene)) {
    let mut differences = Vec::new();
    for (style, columns) in table {
        for (trailer, expected) in TrailerPlace::ALL.into_iter().zip(columns) {
            let mut scene = Scene::new();
            before(&mut scene);
            let _ = Scene::story(*style, trailer).tell(&scene.history.here);
            after(&mut scene);
            let difference = scene.differs("1", *expected);
            differences.extend(difference.map(|how| format!("{style:?}, trailer {trailer:?}: {how}")));
        }
    }
    assert!(
        differences.is_empty(),
        "{} differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

fn nothing(_: &mut Scene) {}

/// Verifies REQ-C1.1, REQ-C3.3.
#[test]
fn a_landing_whose_branch_is_kept() {
    check(&KEPT, nothing, nothing);
}

/// Verifies REQ-C1.1.
#[test]
fn a_landing_whose_branch_is_deleted() {
    check(&GONE, nothing, |scene| scene.history.here.delete(BRANCH));
}

/// Verifies REQ-C1.1.
#[test]
fn a_landing_whose_branch_is_made_anew_at_base() {
    check(&GONE, nothing, |scene| {
        let here = &scene.history.here;
        here.delete(BRANCH);
        here.branch(BRANCH, here.tip(MAIN));
    });
}

/// Verifies REQ-C1.1.
#[test]
fn a_landing_whose_branch_is_made_anew_with_new_work() {
    check(&NEW_WORK, nothing, |scene| {
        let here = &scene.history.here;
        here.delete(BRANCH);
        here.branch(BRANCH, here.tip(MAIN));
        let _ = scene.work(BRANCH, "anew");
    });
}

/// Verifies REQ-C1.1.
#[test]
fn a_landing_whose_branch_is_left_at_origin_only() {
    check(
        &AT_ORIGIN,
        |scene| scene.history.add_origin(),
        |scene| {
            scene.history.push(BRANCH);
            scene.history.push(MAIN);
            scene.history.here.delete(BRANCH);
        },
    );
}

/// Verifies REQ-C1.1.
#[test]
fn a_landing_at_origin_counts_although_local_main_is_behind() {
    check(
        &KEPT,
        |scene| scene.history.add_origin(),
        |scene| {
            let before = scene.history.origin().tip(MAIN);
            scene.history.push(MAIN);
            scene.history.here.point(MAIN, before, "reset: moving to origin/main");
        },
    );
}

/// Verifies REQ-C1.1.
#[test]
fn a_landing_that_was_never_pushed_counts() {
    check(&KEPT, |scene| scene.history.add_origin(), nothing);
}

/// Verifies REQ-C1.1.
#[test]
fn a_landing_is_seen_with_a_detached_head_and_from_a_linked_worktree() {
    check(&KEPT, nothing, |scene| {
        let git = &scene.history.here.git;
        let first = scene.history.here.tip(MAIN);
        scene.directory = Some(scene.history.linked_worktree());
        git.set_head_detached(first).expect("HEAD is detached");
    });
}

/// Verifies REQ-C1.1.
#[test]
fn work_that_has_not_landed_is_in_progress_wherever_a_trailer_stands() {
    for style in Style::ALL {
        for (trailer, expected) in TrailerPlace::ALL.into_iter().zip(BEFORE) {
            let scene = Scene::new();
            Scene::story(style, trailer).work(&scene.history.here);
            let difference = scene.differs("1", expected);
            assert_eq!(difference, None, "{style:?}, trailer {trailer:?}");
        }
    }
}
