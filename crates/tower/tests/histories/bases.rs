//! Which branch work lands on, whatever it is called and whatever else shares its name.

use orchestrate_core::derive::Row::{OwnCommitsLanded, Trailer};
use orchestrate_core::identifier::BaseName;
use orchestrate_testkit::histories::{Oid, Story, Style, TrailerPlace};

use crate::case::{BRANCH, Case, Expected, MAIN, READY, Scene, TASK, case, check, landed, refused};

/// Lands task 1 by a merge without a trailer on a base of that name.
fn landed_on(name: &str, style: Style, trailer: TrailerPlace, arrange: fn(&mut Scene)) -> Scene {
    let mut scene = Scene::on(name);
    arrange(&mut scene);
    let base = scene.history.base().to_owned();
    let _ = Story {
        base: &base,
        branch: BRANCH,
        task: TASK,
        style,
        trailer,
    }
    .tell(&scene.history.here);
    scene
}

fn tag(scene: &Scene, name: &str, at: Oid) {
    scene.history.here.point(&format!("refs/tags/{name}"), at, "");
}

/// Verifies REQ-C1.1.
#[test]
fn a_base_of_any_name_that_a_rule_names() {
    let with_origin: fn(&mut Scene) = |scene| scene.history.add_origin();
    let with_key: fn(&mut Scene) = |scene| scene.base_key = BaseName::parse("trunk").ok();
    let with_variable: fn(&mut Scene) = |scene| scene.settings.base = Some("refs/heads/trunk".to_owned());
    let without: fn(&mut Scene) = |_| {};
    let unnamed = refused("there is no branch named main, master or develop");
    for (name, arrange, by_merge, by_trailer) in [
        ("main", without, landed(OwnCommitsLanded), landed(Trailer)),
        ("master", without, landed(OwnCommitsLanded), landed(Trailer)),
        ("develop", without, landed(OwnCommitsLanded), landed(Trailer)),
        ("trunk", with_key, landed(OwnCommitsLanded), landed(Trailer)),
        ("trunk", with_variable, landed(OwnCommitsLanded), landed(Trailer)),
        ("trunk", with_origin, landed(OwnCommitsLanded), landed(Trailer)),
        ("release/1.x", with_origin, landed(OwnCommitsLanded), landed(Trailer)),
        ("trunk", without, unnamed, unnamed),
    ] {
        for (trailer, expected) in [(TrailerPlace::Nowhere, by_merge), (TrailerPlace::Last, by_trailer)] {
            let scene = landed_on(name, Style::MergeCommit, trailer, arrange);
            assert_eq!(scene.differs("1", expected), None, "{name}, trailer {trailer:?}");
        }
    }
}

/// A key that names another branch than the one that work landed on: there it has not landed.
#[test]
fn a_landing_on_another_branch_is_none() {
    let on_the_other: &[(Style, Expected)] = &[
        (Style::MergeCommit, crate::case::COMMITTED),
        (Style::FastForward, crate::case::COMMITTED),
        (Style::Squash, crate::case::COMMITTED),
    ];
    for (style, expected) in on_the_other {
        let mut scene = Scene::new();
        let here = &scene.history.here;
        here.branch("refs/heads/release", here.tip(MAIN));
        let story = Story {
            base: "refs/heads/release",
            branch: BRANCH,
            task: TASK,
            style: *style,
            trailer: TrailerPlace::Last,
        };
        let _ = story.tell(here);
        assert_eq!(scene.differs("1", *expected), None, "{style:?}");
        scene.history.here.delete(BRANCH);
        assert_eq!(scene.differs("1", READY), None, "{style:?}, branch deleted");
        scene.base_key = BaseName::parse("release").ok();
        assert_eq!(
            scene.differs("1", landed(Trailer)),
            None,
            "{style:?}, release is the base"
        );
    }
}

const CASES: &[Case] = &[
    case(
        "a tag called main that has a trailer is not main",
        |scene| {
            let here = &scene.history.here;
            let landing = Scene::story(Style::Squash, TrailerPlace::Last).tell(here);
            tag(scene, "main", landing);
            here.point(MAIN, here.parent(landing), "reset: moving to HEAD~1");
            here.delete(BRANCH);
        },
        READY,
    ),
    case(
        "a tag called main without it hides no trailer of main",
        |scene| {
            tag(scene, "main", scene.history.here.tip(MAIN));
            let _ = Scene::story(Style::Squash, TrailerPlace::Last).tell(&scene.history.here);
        },
        landed(Trailer),
    ),
    case(
        "a tag called like the task branch is no work",
        |scene| {
            Scene::story(Style::Squash, TrailerPlace::Nowhere).work(&scene.history.here);
            tag(scene, "planwright/alpha/task-1", scene.history.here.tip(BRANCH));
            scene.history.here.delete(BRANCH);
        },
        READY,
    ),
    case(
        "a tag called origin/main with a trailer is not origin's main",
        |scene| {
            scene.history.add_origin();
            let here = &scene.history.here;
            let landing = Scene::story(Style::Squash, TrailerPlace::Last).tell(here);
            tag(scene, "origin/main", landing);
            here.point(MAIN, here.parent(landing), "reset: moving to HEAD~1");
            here.delete(BRANCH);
        },
        READY,
    ),
    case(
        "main and master side by side, and nothing that chooses",
        |scene| {
            scene
                .history
                .here
                .branch("refs/heads/master", scene.history.here.tip(MAIN));
        },
        refused("it could be any of main, master"),
    ),
    case(
        "main and master side by side, and origin's HEAD chooses",
        |scene| {
            scene.history.add_origin();
            scene
                .history
                .here
                .branch("refs/heads/master", scene.history.here.tip(MAIN));
            let _ = Scene::story(Style::Squash, TrailerPlace::Last).tell(&scene.history.here);
        },
        landed(Trailer),
    ),
    case(
        "there is no local main, only origin's",
        |scene| {
            scene.history.add_origin();
            let _ = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).tell(&scene.history.here);
            scene.history.push(MAIN);
            scene.history.here.delete(MAIN);
        },
        landed(OwnCommitsLanded),
    ),
    case(
        "the variable names a branch that is not there",
        |scene| scene.settings.base = Some("nowhere".to_owned()),
        refused("there is no branch nowhere, here or at origin"),
    ),
    case(
        "local main and origin's have parted, and each landed something",
        |scene| {
            scene.history.add_origin();
            let before = scene.history.here.tip(MAIN);
            let _ = Scene::story(Style::Squash, TrailerPlace::Last).tell(&scene.history.here);
            scene.history.push(MAIN);
            scene.history.here.point(MAIN, before, "reset: moving to HEAD~2");
            let _ = scene
                .history
                .here
                .commit(MAIN, &[("local.txt", "local\n")], "local work\n");
        },
        landed(Trailer),
    ),
];

/// Verifies REQ-C1.1.
#[test]
fn names_mislead_nobody() {
    check(CASES);
}
