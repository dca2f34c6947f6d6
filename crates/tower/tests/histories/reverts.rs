//! What undoes a landing and what does not, by what a revert says and where it lies.

use std::collections::BTreeSet;

use orchestrate_core::derive::Row::{OwnCommitsLanded, Trailer};
use orchestrate_core::identifier::{CommitId, TaskId};
use orchestrate_core::place::Place;
use orchestrate_core::record::redo;
use orchestrate_core::world::World;
use orchestrate_testkit::histories::{Claim, Oid, Style, TrailerPlace};

use crate::case::{BRANCH, COMMITTED, Case, MAIN, READY, Scene, TASK, alpha, case, check, landed, reverted};

/// Squashes task 1 onto main with that message, and deletes its branch.
fn squashed(scene: &Scene, message: &str) -> Oid {
    let story = Scene::story(Style::Squash, TrailerPlace::Nowhere);
    story.work(&scene.history.here);
    let landing = story.try_land(&scene.history.here, message).expect("it lands");
    scene.history.here.delete(BRANCH);
    landing
}

fn with_trailer(subject: &str) -> String {
    TrailerPlace::Last.message(subject, TASK)
}

fn revert(scene: &Scene, commit: Oid, message: &str) -> Oid {
    scene
        .history
        .here
        .revert_saying(MAIN, commit, message)
        .expect("it is reverted")
}

/// Writes down that a person wants the task done again after that revert.
fn want_again(scene: &Scene, by: Oid) {
    let mut world = scene.world();
    let place = Place::Redo(alpha(), TaskId::parse("1").expect("a task"));
    let wanted: BTreeSet<CommitId> = CommitId::parse(&by.to_string()).into_iter().collect();
    world
        .create_directory(&Place::RedoDirectory(alpha()))
        .expect("a directory is made");
    world.write(&place, &redo::render(&wanted)).expect("it is written");
}

const BY_WHAT_IT_SAYS: &[Case] = &[
    case(
        "a revert that GitHub writes for a squash merge",
        |scene| {
            let landing = squashed(scene, &with_trailer("part 1 (#5)"));
            let _ = revert(scene, landing, "Revert \"part 1\" (#6)\n\nReverts o/r#5\n");
        },
        reverted(Trailer),
    ),
    case(
        "a revert that GitHub writes for a merge commit",
        |scene| {
            let story = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere);
            story.work(&scene.history.here);
            let landing = story.try_land(&scene.history.here, "Merge pull request #5 from o/task-1\n\npart 1\n");
            let _ = revert(
                scene,
                landing.expect("it lands"),
                "Revert \"part 1\"\n\nReverts o/r#5\n",
            );
        },
        reverted(OwnCommitsLanded),
    ),
    case(
        "a revert of another pull request",
        |scene| {
            let _ = squashed(scene, &with_trailer("part 1 (#5)"));
            let other = scene.history.here.commit(MAIN, &[("o.txt", "o\n")], "other (#4)\n");
            let _ = revert(scene, other, "Revert \"other\"\n\nReverts o/r#4\n");
        },
        landed(Trailer),
    ),
    case(
        "a revert of an unrelated commit",
        |scene| {
            let other = scene.history.here.commit(MAIN, &[("o.txt", "o\n")], "other\n");
            let _ = squashed(scene, &with_trailer("part 1"));
            let _ = scene.history.here.revert(MAIN, other).expect("it is reverted");
        },
        landed(Trailer),
    ),
    case(
        "a revert by the first seven digits of the commit",
        |scene| {
            let landing = squashed(scene, &with_trailer("part 1"));
            let short = &landing.to_string()[..7];
            let _ = revert(
                scene,
                landing,
                &format!("Take it back\n\nThis reverts commit {short}.\n"),
            );
        },
        reverted(Trailer),
    ),
    case(
        "a message that speaks of a revert in the middle of a line",
        |scene| {
            let landing = squashed(scene, &with_trailer("part 1"));
            let message = format!("Docs\n\nA text such as: This reverts commit {landing}.\n");
            let _ = scene.history.here.commit(MAIN, &[("d.txt", "d\n")], &message);
        },
        landed(Trailer),
    ),
    case(
        "a commit that says it reverts what comes only later",
        |scene| {
            Scene::story(Style::FastForward, TrailerPlace::Last).work(&scene.history.here);
            let tip = scene.history.here.tip(BRANCH);
            let message = format!("Prophecy\n\nThis reverts commit {tip}.\n");
            let _ = scene.history.here.commit(MAIN, &[("p.txt", "p\n")], &message);
            let _ = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).land(&scene.history.here);
        },
        landed(Trailer),
    ),
    case(
        "one of two commits that were moved to, the one without the trailer",
        |scene| {
            let tip = Scene::story(Style::FastForward, TrailerPlace::Last).tell(&scene.history.here);
            let first = scene.history.here.parent(tip);
            let _ = scene.history.here.revert(MAIN, first).expect("it is reverted");
        },
        landed(Trailer),
    ),
    case(
        "one of two commits that were moved to, and no trailer",
        |scene| {
            let tip = Scene::story(Style::FastForward, TrailerPlace::Nowhere).tell(&scene.history.here);
            let _ = scene.history.here.revert(MAIN, tip).expect("it is reverted");
        },
        reverted(OwnCommitsLanded),
    ),
    case(
        "a branch that reverted a commit of its own before it landed by a trailer",
        |scene| {
            let story = Scene::story(Style::MergeCommit, TrailerPlace::Last);
            story.work(&scene.history.here);
            let wrong = scene.work(BRANCH, "wrong");
            let _ = scene.history.here.revert(BRANCH, wrong).expect("it is reverted");
            let _ = story.land(&scene.history.here);
        },
        landed(Trailer),
    ),
];

/// Lands task 1 by a merge, with what a helper's branch brought to the unit's; returns the helper's commit.
fn landed_with_help(scene: &Scene) -> Oid {
    let here = &scene.history.here;
    let helper = "refs/heads/helper";
    let story = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere);
    story.work(here);
    here.branch(helper, here.tip(BRANCH));
    let part = scene.work(helper, "helper");
    let _ = here
        .merge(BRANCH, &[here.tip(helper)], "Merge the helper's work\n")
        .expect("it is merged");
    let _ = story.land(here);
    part
}

const OF_OTHERS: &[Case] = &[
    case(
        "what the branch merged from main was reverted, and then the branch landed by a merge",
        |scene| {
            let here = &scene.history.here;
            let landing = Scene::story(Style::MergedFirst, TrailerPlace::Nowhere).tell(here);
            let other = here.parent(landing);
            let _ = here.revert(MAIN, other).expect("it is reverted");
        },
        landed(OwnCommitsLanded),
    ),
    case(
        "what a helper's branch brought to the unit's was reverted",
        |scene| {
            let part = landed_with_help(scene);
            let _ = scene.history.here.revert(MAIN, part).expect("it is reverted");
        },
        reverted(OwnCommitsLanded),
    ),
    case(
        "a helper's branch brought work to the unit's, which landed",
        |scene| {
            let _ = landed_with_help(scene);
        },
        landed(OwnCommitsLanded),
    ),
];

const BY_WHERE_IT_LIES: &[Case] = &[
    case(
        "a revert on a branch that has not landed",
        |scene| {
            let landing = squashed(scene, &with_trailer("part 1"));
            let here = &scene.history.here;
            here.branch("refs/heads/undo", here.tip(MAIN));
            let _ = here.revert("refs/heads/undo", landing).expect("it is reverted");
        },
        landed(Trailer),
    ),
    case(
        "a revert that came by a merge",
        |scene| {
            let landing = squashed(scene, &with_trailer("part 1"));
            let here = &scene.history.here;
            here.branch("refs/heads/undo", here.tip(MAIN));
            let by = here.revert("refs/heads/undo", landing).expect("it is reverted");
            let _ = here.merge(MAIN, &[by], "Merge branch 'undo'\n").expect("it is merged");
        },
        reverted(Trailer),
    ),
    case(
        "a merged revert whose merge was reverted",
        |scene| {
            let landing = squashed(scene, &with_trailer("part 1"));
            let here = &scene.history.here;
            here.branch("refs/heads/undo", here.tip(MAIN));
            let by = here.revert("refs/heads/undo", landing).expect("it is reverted");
            let merge = here.merge(MAIN, &[by], "Merge branch 'undo'\n").expect("it is merged");
            let _ = here.revert(MAIN, merge).expect("it is reverted");
        },
        landed(Trailer),
    ),
    case(
        "a revert of the merge that brought the merge of the unit",
        |scene| {
            let here = &scene.history.here;
            let next = "refs/heads/next";
            here.branch(next, here.tip(MAIN));
            Scene::story(Style::MergeCommit, TrailerPlace::Last).work(here);
            let message = with_trailer("merge it into next");
            let _ = here.merge(next, &[here.tip(BRANCH)], &message).expect("it is merged");
            let outer = here
                .merge(MAIN, &[here.tip(next)], "Merge branch 'next'\n")
                .expect("it is merged");
            let _ = here.revert(MAIN, outer).expect("it is reverted");
        },
        reverted(Trailer),
    ),
    case(
        "a revert at origin that was fetched",
        |scene| {
            scene.history.add_origin();
            let landing = squashed(scene, &with_trailer("part 1"));
            scene.history.push(MAIN);
            let _ = scene.history.origin().revert(MAIN, landing).expect("it is reverted");
            scene.history.fetch();
        },
        reverted(Trailer),
    ),
    case(
        "a revert at origin that was not fetched",
        |scene| {
            scene.history.add_origin();
            let landing = squashed(scene, &with_trailer("part 1"));
            scene.history.push(MAIN);
            let _ = scene.history.origin().revert(MAIN, landing).expect("it is reverted");
        },
        landed(Trailer),
    ),
    case(
        "a revert here that was not pushed",
        |scene| {
            scene.history.add_origin();
            let landing = squashed(scene, &with_trailer("part 1"));
            scene.history.push(MAIN);
            let _ = scene.history.here.revert(MAIN, landing).expect("it is reverted");
        },
        reverted(Trailer),
    ),
    case(
        "a revert that was picked onto base from elsewhere",
        |scene| {
            let landing = squashed(scene, &with_trailer("part 1"));
            let here = &scene.history.here;
            here.branch("refs/heads/undo", here.tip(MAIN));
            let _ = scene.work("refs/heads/undo", "beside");
            let by = here.revert("refs/heads/undo", landing).expect("it is reverted");
            let message = format!("Revert it\n\nThis reverts commit {landing}.\n\n(cherry picked from commit {by})\n");
            let _ = here.pick(MAIN, by, Some(&message)).expect("it is picked");
        },
        reverted(Trailer),
    ),
    case(
        "a squash of a revert and its revert undoes nothing",
        |scene| {
            let landing = squashed(scene, &with_trailer("part 1"));
            let by = scene.history.here.revert(MAIN, landing).expect("it is reverted");
            let _ = scene.history.here.revert(MAIN, by).expect("it is reverted");
            let _ = scene.history.here.commit(MAIN, &[("o.txt", "o\n")], "other\n");
        },
        landed(Trailer),
    ),
];

const WHAT_COMES_AFTER: &[Case] = &[
    case(
        "new work on a branch that was merged and reverted waits",
        |scene| {
            let landing = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).tell(&scene.history.here);
            let _ = scene.history.here.revert(MAIN, landing).expect("it is reverted");
            let _ = scene.work(BRANCH, "mended");
        },
        COMMITTED,
    ),
    case(
        "a reverted branch that was merged again with more: the first commits are still undone",
        |scene| {
            let here = &scene.history.here;
            let landing = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).tell(here);
            let _ = here.revert(MAIN, landing).expect("it is reverted");
            let _ = scene.work(BRANCH, "mended");
            let _ = here
                .merge(MAIN, &[here.tip(BRANCH)], "merge it again\n")
                .expect("it is merged");
        },
        reverted(OwnCommitsLanded),
    ),
    case(
        "a reverted branch that was merged again with more and a trailer",
        |scene| {
            let here = &scene.history.here;
            let landing = Scene::story(Style::MergeCommit, TrailerPlace::Last).tell(here);
            let _ = here.revert(MAIN, landing).expect("it is reverted");
            let _ = scene.work(BRANCH, "mended");
            let message = with_trailer("merge it again");
            let _ = here.merge(MAIN, &[here.tip(BRANCH)], &message).expect("it is merged");
        },
        landed(Trailer),
    ),
    case(
        "a reverted landing made anew on another branch of the same name",
        |scene| {
            let here = &scene.history.here;
            let landing = squashed(scene, &with_trailer("part 1"));
            let _ = here.revert(MAIN, landing).expect("it is reverted");
            here.branch(BRANCH, here.tip(MAIN));
            let _ = scene.work(BRANCH, "anew");
            let _ = here
                .merge(MAIN, &[here.tip(BRANCH)], "merge it\n")
                .expect("it is merged");
        },
        landed(OwnCommitsLanded),
    ),
    case(
        "the first part of a branch was merged and reverted, and the second was squashed",
        |scene| {
            let here = &scene.history.here;
            let landing = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).tell(here);
            let _ = scene.work(BRANCH, "second");
            let tip = here.tip(BRANCH);
            let _ = here.revert(MAIN, landing).expect("it is reverted");
            let _ = here.squash(MAIN, tip, "the second part\n").expect("it is squashed");
        },
        COMMITTED,
    ),
    case(
        "a person wants it again",
        |scene| {
            let landing = squashed(scene, &with_trailer("part 1"));
            let by = scene.history.here.revert(MAIN, landing).expect("it is reverted");
            want_again(scene, by);
        },
        READY,
    ),
    case(
        "a person wanted it again, it was done again, and that was reverted too",
        |scene| {
            let landing = squashed(scene, &with_trailer("part 1"));
            let by = scene.history.here.revert(MAIN, landing).expect("it is reverted");
            want_again(scene, by);
            let message = with_trailer("part 1 again");
            let again = scene.history.here.commit(MAIN, &[("again.txt", "again\n")], &message);
            let _ = scene.history.here.revert(MAIN, again).expect("it is reverted");
        },
        reverted(Trailer),
    ),
    case(
        "a person wanted it again, and it was done again on the same branch",
        |scene| {
            let here = &scene.history.here;
            let landing = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).tell(here);
            let by = here.revert(MAIN, landing).expect("it is reverted");
            want_again(scene, by);
            here.point(BRANCH, by, &format!("branch: Reset to {by}"));
            let _ = scene.work(BRANCH, "again");
            let _ = here
                .merge(MAIN, &[here.tip(BRANCH)], "merge it\n")
                .expect("it is merged");
        },
        landed(OwnCommitsLanded),
    ),
    case(
        "a person wants it again, and its branch waits at base for the next worker",
        |scene| {
            let here = &scene.history.here;
            let landing = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).tell(here);
            let by = here.revert(MAIN, landing).expect("it is reverted");
            want_again(scene, by);
            here.point(BRANCH, by, &format!("branch: Reset to {by}"));
        },
        READY,
    ),
    case(
        "the claims of a landing that was reverted are no evidence",
        |scene| {
            let start = scene.history.here.tip(MAIN);
            let landing = squashed(scene, &with_trailer("part 1"));
            Claim::WorkerEnded.leave(&mut scene.world(), "alpha:task-1", start);
            let _ = scene.history.here.revert(MAIN, landing).expect("it is reverted");
        },
        reverted(Trailer),
    ),
];

/// Verifies REQ-C3.2.
#[test]
fn what_a_revert_says_is_what_it_undoes() {
    check(BY_WHAT_IT_SAYS);
}

/// Verifies REQ-C3.2.
#[test]
fn only_what_is_the_units_own_undoes_its_landing() {
    check(OF_OTHERS);
}

/// Verifies REQ-C3.2.
#[test]
fn a_revert_counts_where_it_is_on_base() {
    check(BY_WHERE_IT_LIES);
}

/// Verifies REQ-C3.2.
#[test]
fn after_a_revert_what_comes_later_decides() {
    check(WHAT_COMES_AFTER);
}
