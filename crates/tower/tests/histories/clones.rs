//! What a clone lacks, or has in another way: commits behind a depth, a linked worktree, a clock that stepped.

use orchestrate_core::derive::ProgressKind::Submitted;
use orchestrate_core::derive::Row::{self, OwnCommitsLanded, Squashed, Trailer};
use orchestrate_testkit::histories::{Claim, Style, TrailerPlace};

use crate::case::{BRANCH, COMMITTED, Case, MAIN, READY, Scene, case, check, landed, reverted, unknown};

const SHALLOW: crate::case::Expected = unknown("git fetch --unshallow");

/// Some commits of others on main.
fn others(scene: &Scene, count: usize) {
    for number in 0..count {
        let path = format!("others/{number}.txt");
        let _ = scene
            .history
            .here
            .commit(MAIN, &[(&path, "other\n")], "somebody else's work\n");
    }
}

const CASES: &[Case] = &[
    case(
        "a shallow clone that has the trailer",
        |scene| {
            others(scene, 4);
            let _ = Scene::story(Style::Squash, TrailerPlace::Last).tell(&scene.history.here);
            scene.history.here.make_shallow(&[MAIN], 1);
        },
        landed(Trailer),
    ),
    case(
        "a shallow clone that ends before the trailer",
        |scene| {
            let _ = Scene::story(Style::Squash, TrailerPlace::Last).tell(&scene.history.here);
            others(scene, 4);
            scene.history.here.make_shallow(&[MAIN], 2);
        },
        SHALLOW,
    ),
    case(
        "a shallow clone of a repository in which nothing was done",
        |scene| {
            others(scene, 4);
            scene.history.here.make_shallow(&[MAIN], 2);
        },
        SHALLOW,
    ),
    case(
        "work that was done in a shallow clone and waits: a landing of it could be unseen",
        |scene| {
            others(scene, 4);
            scene.history.here.make_shallow(&[MAIN], 2);
            scene.history.here.branch(BRANCH, scene.history.here.tip(MAIN));
            let _ = scene.work(BRANCH, "1");
        },
        SHALLOW,
    ),
    case(
        "work that was done in a shallow clone and merged there",
        |scene| {
            others(scene, 4);
            scene.history.here.make_shallow(&[MAIN], 2);
            let _ = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).tell(&scene.history.here);
        },
        landed(OwnCommitsLanded),
    ),
    case(
        "work that was done in a shallow clone and moved to there",
        |scene| {
            others(scene, 4);
            scene.history.here.make_shallow(&[MAIN], 2);
            let _ = Scene::story(Style::FastForward, TrailerPlace::Nowhere).tell(&scene.history.here);
        },
        landed(OwnCommitsLanded),
    ),
    case(
        "work that was done in a shallow clone and squashed there: content does not stand alone",
        |scene| {
            others(scene, 4);
            scene.history.here.make_shallow(&[MAIN], 2);
            let _ = Scene::story(Style::Squash, TrailerPlace::Nowhere).tell(&scene.history.here);
        },
        SHALLOW,
    ),
    case(
        "a landing in a shallow clone that was reverted there",
        |scene| {
            others(scene, 4);
            let landing = Scene::story(Style::Squash, TrailerPlace::Last).tell(&scene.history.here);
            let _ = scene.history.here.revert(MAIN, landing).expect("it is reverted");
            scene.history.here.make_shallow(&[MAIN], 3);
        },
        reverted(Trailer),
    ),
    case(
        "a shallow clone that has the revert and not what it reverts",
        |scene| {
            let landing = Scene::story(Style::Squash, TrailerPlace::Last).tell(&scene.history.here);
            others(scene, 4);
            let _ = scene.history.here.revert(MAIN, landing).expect("it is reverted");
            scene.history.here.make_shallow(&[MAIN], 2);
        },
        SHALLOW,
    ),
    case(
        "a shallow clone with a claim",
        |scene| {
            others(scene, 4);
            scene.history.here.make_shallow(&[MAIN], 2);
            let start = scene.history.here.tip(MAIN);
            Claim::WorkerEnded.leave(&mut scene.world(), "alpha:task-1", start);
        },
        SHALLOW,
    ),
    case(
        "a shallow clone that is deep enough for everything is shallow all the same",
        |scene| {
            others(scene, 2);
            scene.history.here.make_shallow(&[MAIN], 3);
            std::fs::write(scene.history.here.git.path().join("shallow"), "").expect("the file is written");
        },
        READY,
    ),
    case(
        "origin moved on, and was fetched, while the work waits here",
        |scene| {
            scene.history.add_origin();
            Scene::story(Style::Squash, TrailerPlace::Nowhere).work(&scene.history.here);
            let _ = scene
                .history
                .origin()
                .commit(MAIN, &[("theirs.txt", "theirs\n")], "their work\n");
            scene.history.fetch();
        },
        COMMITTED,
    ),
    case(
        "a landing at origin that was not fetched is seen by nobody",
        |scene| {
            scene.history.add_origin();
            Scene::story(Style::Squash, TrailerPlace::Last).work(&scene.history.here);
            scene.history.push(BRANCH);
            let _ = Scene::story(Style::Squash, TrailerPlace::Last).land(scene.history.origin());
        },
        COMMITTED,
    ),
    case(
        "a landing at origin that was fetched",
        |scene| {
            scene.history.add_origin();
            Scene::story(Style::Squash, TrailerPlace::Nowhere).work(&scene.history.here);
            scene.history.push(BRANCH);
            let _ = Scene::story(Style::Squash, TrailerPlace::Nowhere).land(scene.history.origin());
            scene.history.fetch();
        },
        landed(Squashed),
    ),
    case(
        "the work of another clone, pushed and fetched",
        |scene| {
            scene.history.add_origin();
            let origin = scene.history.origin();
            origin.branch(BRANCH, origin.tip(MAIN));
            let _ = origin.commit(BRANCH, &[("work/1.txt", "theirs\n")], "their work\n");
            scene.history.fetch();
        },
        COMMITTED.because("origin's task-1"),
    ),
    case(
        "a branch of another clone without work cannot be told from one that landed",
        |scene| {
            scene.history.add_origin();
            let origin = scene.history.origin();
            let before = origin.tip(MAIN);
            let _ = origin.commit(MAIN, &[("theirs.txt", "theirs\n")], "their work\n");
            origin.branch(BRANCH, before);
            scene.history.fetch();
        },
        unknown("where it started is not recorded"),
    ),
    case(
        "a branch here that is behind its landing at origin, with a commit that origin never had",
        |scene| {
            scene.history.add_origin();
            let _ = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).tell(&scene.history.here);
            scene.history.push(MAIN);
            let _ = scene.work(BRANCH, "later");
        },
        COMMITTED,
    ),
    case(
        "the clock was set back a year while the work was landed",
        |scene| {
            Scene::story(Style::Squash, TrailerPlace::Last).work(&scene.history.here);
            scene.history.clock().jump(-365 * 86_400);
            let _ = Scene::story(Style::Squash, TrailerPlace::Last).land(&scene.history.here);
        },
        landed(Trailer),
    ),
    case(
        "the clock was set back between a landing and its revert",
        |scene| {
            let landing = Scene::story(Style::Squash, TrailerPlace::Last).tell(&scene.history.here);
            scene.history.here.delete(BRANCH);
            scene.history.clock().jump(-365 * 86_400);
            let _ = scene.history.here.revert(MAIN, landing).expect("it is reverted");
        },
        reverted(Trailer),
    ),
    case(
        "the clock was set ahead, and work was merged from both sides of it",
        |scene| {
            let story = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere);
            story.work(&scene.history.here);
            scene.history.clock().jump(365 * 86_400);
            others(scene, 2);
            scene.history.clock().jump(-300 * 86_400);
            let _ = story.land(&scene.history.here);
            others(scene, 2);
        },
        landed(OwnCommitsLanded),
    ),
    case(
        "the reflog of a merged branch is gone",
        |scene| {
            let _ = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).tell(&scene.history.here);
            scene.history.here.forget_log(BRANCH);
        },
        unknown("where it started is not recorded"),
    ),
    case(
        "the reflog of a branch that was squashed is gone: whose its commits are is not known",
        |scene| {
            let _ = Scene::story(Style::Squash, TrailerPlace::Nowhere).tell(&scene.history.here);
            scene.history.here.forget_log(BRANCH);
        },
        COMMITTED,
    ),
];

/// Verifies REQ-C1.1.
#[test]
fn clones_of_every_kind() {
    let _ = (Submitted, Row::Claim);
    check(CASES);
}
