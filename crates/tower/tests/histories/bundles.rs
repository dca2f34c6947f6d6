//! A branch of two tasks speaks for each, and what one task's state means to another.

use orchestrate_core::derive::ProgressKind::Committed;
use orchestrate_core::derive::Row::{OwnCommits, OwnCommitsLanded, Rebased, Squashed, Trailer};
use orchestrate_testkit::histories::{Story, Style, TrailerPlace};

use crate::case::{
    BLOCKED, BRANCH, COMMITTED, Expected, MAIN, READY, Scene, TASK, in_progress, landed, reverted, unknown,
};

const BOTH: &str = "refs/heads/planwright/alpha/task-1-2";

fn story(style: Style, trailer: TrailerPlace) -> Story<'static> {
    Story {
        base: MAIN,
        branch: BOTH,
        task: TASK,
        style,
        trailer,
    }
}

#[track_caller]
fn are(scene: &Scene, expected: [(&str, Expected); 3], of: &str) {
    for (task, expected) in expected {
        assert_eq!(scene.differs(task, expected), None, "{of}");
    }
}

/// Verifies REQ-C1.1, REQ-C3.3.
#[test]
fn a_branch_of_two_tasks_lands_both_however_it_lands() {
    for (style, row) in [
        (Style::MergeCommit, OwnCommitsLanded),
        (Style::FastForward, OwnCommitsLanded),
        (Style::Squash, Squashed),
        (Style::Rebase, OwnCommitsLanded),
        (Style::Picked, Rebased),
        (Style::Octopus, OwnCommitsLanded),
        (Style::Foxtrot, OwnCommitsLanded),
        (Style::MergedFirst, OwnCommitsLanded),
        (Style::MergedFirstSquashed, Squashed),
    ] {
        let scene = Scene::new();
        let _ = story(style, TrailerPlace::Nowhere).tell(&scene.history.here);
        are(
            &scene,
            [("1", landed(row)), ("2", landed(row)), ("3", READY)],
            &format!("{style:?}"),
        );
    }
}

/// Verifies REQ-C1.1.
#[test]
fn a_trailer_of_one_task_is_none_of_the_other() {
    for (style, row) in [(Style::MergeCommit, OwnCommitsLanded), (Style::Squash, Squashed)] {
        let scene = Scene::new();
        let _ = story(style, TrailerPlace::Last).tell(&scene.history.here);
        are(
            &scene,
            [("1", landed(Trailer)), ("2", landed(row)), ("3", READY)],
            &format!("{style:?}"),
        );
        scene.history.here.delete(BOTH);
        are(
            &scene,
            [("1", landed(Trailer)), ("2", READY), ("3", READY)],
            &format!("{style:?}, deleted"),
        );
    }
}

/// Verifies REQ-C1.1.
#[test]
fn a_branch_of_two_tasks_holds_both_until_it_lands() {
    let scene = Scene::new();
    story(Style::Squash, TrailerPlace::Nowhere).work(&scene.history.here);
    are(&scene, [("1", COMMITTED), ("2", COMMITTED), ("3", BLOCKED)], "before");
}

/// Verifies REQ-C3.2.
#[test]
fn a_merge_of_two_tasks_that_was_reverted_is_held_for_both() {
    let scene = Scene::new();
    let landing = story(Style::MergeCommit, TrailerPlace::Nowhere).tell(&scene.history.here);
    let _ = scene.history.here.revert(MAIN, landing).expect("it is reverted");
    let held = reverted(OwnCommitsLanded);
    are(&scene, [("1", held), ("2", held), ("3", BLOCKED)], "reverted");
}

/// A branch of one and a branch of both: what waits on either holds the task.
#[test]
fn two_branches_of_one_task_are_both_heard() {
    let scene = Scene::new();
    let _ = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).tell(&scene.history.here);
    scene.history.here.branch(BOTH, scene.history.here.tip(MAIN));
    let _ = scene.work(BOTH, "both");
    let waits = in_progress(OwnCommits, Committed);
    are(
        &scene,
        [("1", landed(OwnCommitsLanded)), ("2", waits), ("3", READY)],
        "both",
    );
    scene.history.here.delete(BRANCH);
    are(
        &scene,
        [("1", waits), ("2", waits), ("3", BLOCKED)],
        "one of them is gone",
    );
}

#[test]
fn what_needs_a_task_waits_for_its_landing_alone() {
    let scene = Scene::new();
    let both = story(Style::MergeCommit, TrailerPlace::Nowhere);
    are(&scene, [("1", READY), ("2", READY), ("3", BLOCKED)], "nothing yet");
    Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).work(&scene.history.here);
    are(&scene, [("1", COMMITTED), ("2", READY), ("3", BLOCKED)], "committed");
    let landing = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).land(&scene.history.here);
    are(
        &scene,
        [("1", landed(OwnCommitsLanded)), ("2", READY), ("3", READY)],
        "landed",
    );
    let _ = scene.history.here.revert(MAIN, landing).expect("it is reverted");
    are(
        &scene,
        [("1", reverted(OwnCommitsLanded)), ("2", READY), ("3", BLOCKED)],
        "reverted",
    );
    assert_eq!(both.branch, BOTH);
}

/// A branch that can be spoken for by nobody's name is no claim: other bundles, three tasks, other names.
#[test]
fn branches_of_other_names_hold_nothing() {
    for name in [
        "refs/heads/planwright/beta/task-1",
        "refs/heads/planwright/alpha/task-one",
        "refs/heads/planwright/alpha/1",
        "refs/heads/task-1",
        "refs/heads/alpha/task-1",
    ] {
        let scene = Scene::new();
        scene.history.here.branch(name, scene.history.here.tip(MAIN));
        let _ = scene.work(name, "elsewhere");
        are(&scene, [("1", READY), ("2", READY), ("3", BLOCKED)], name);
    }
}

/// Laws L4 and L12: a branch that is there and cannot be read is not one that is not there, and it holds its own task
/// alone.
#[test]
fn a_branch_that_cannot_be_read_makes_its_task_unknown() {
    let scene = Scene::new();
    let directory = scene.history.here.git.path().join("refs/heads/planwright/alpha");
    std::fs::create_dir_all(&directory).expect("a directory is made");
    std::fs::write(directory.join("task-1"), "torn").expect("a file is written");
    let cannot = unknown("refs/heads/planwright/alpha/task-1 is there and names no commit");
    are(&scene, [("1", cannot), ("2", READY), ("3", BLOCKED)], "torn");
}
