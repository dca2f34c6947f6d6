//! Markers and our own records, and branches that moved: what they are evidence of, and what not.

use orchestrate_core::derive::ProgressKind::{Claimed, Ended, Unreadable};
use orchestrate_core::derive::Row::{Claim as ClaimRow, OwnCommitsLanded, Trailer};
use orchestrate_core::record::marker;
use orchestrate_core::time::Timestamp;
use orchestrate_core::world::World;
use orchestrate_testkit::histories::{Claim, Style, TrailerPlace};

use crate::case::{BRANCH, COMMITTED, Case, MAIN, READY, Scene, case, check, in_progress, landed, unknown};

/// Writes a marker of that name and content.
fn mark(scene: &Scene, name: &str, content: &[u8]) {
    let directory = marker_directory(scene);
    std::fs::write(directory.join(name), content).expect("a marker is written");
}

fn marker_directory(scene: &Scene) -> std::path::PathBuf {
    let root = scene.history.here.git.workdir().expect("a checkout");
    let directory = root.join("specs/alpha/.orchestrate/markers");
    std::fs::create_dir_all(&directory).expect("a directory is made");
    directory
}

/// A marker of so many seconds ago.
fn aged(scene: &Scene, seconds: i64) -> Vec<u8> {
    marker::render(Timestamp::from_seconds(scene.world().now().seconds() - seconds))
}

fn claim(scene: &Scene, claim: Claim) {
    let start = scene.history.here.tip(MAIN);
    claim.leave(&mut scene.world(), "alpha:task-1", start);
}

const HELD: crate::case::Expected = in_progress(ClaimRow, Unreadable);

const MARKERS: &[Case] = &[
    case(
        "a fresh marker of another tower",
        |scene| mark(scene, "1", &aged(scene, 60)),
        in_progress(ClaimRow, Claimed),
    ),
    case(
        "a marker of another tower that is too old",
        |scene| mark(scene, "1", &aged(scene, 901)),
        READY,
    ),
    case(
        "a marker from the future",
        |scene| mark(scene, "1", &aged(scene, -86_400)),
        HELD,
    ),
    case("an empty marker", |scene| mark(scene, "1", b""), HELD),
    case(
        "a marker with the line end of another system",
        |scene| mark(scene, "1", b"1767225600\r\n"),
        HELD,
    ),
    case("a torn marker", |scene| mark(scene, "1", b"17672\x00\x00"), HELD),
    case(
        "a directory where a marker belongs",
        |scene| std::fs::create_dir(marker_directory(scene).join("1")).expect("a directory is made"),
        HELD,
    ),
    case(
        "a link where a marker belongs",
        |scene| std::os::unix::fs::symlink("nowhere", marker_directory(scene).join("1")).expect("a link is made"),
        HELD,
    ),
    case(
        "a marker whose name is no task",
        |scene| mark(scene, "1.tmp", &aged(scene, 60)),
        READY,
    ),
    case(
        "a marker of another task",
        |scene| mark(scene, "2", &aged(scene, 60)),
        READY,
    ),
    case(
        "a fresh marker and a landing",
        |scene| {
            mark(scene, "1", &aged(scene, 60));
            let _ = Scene::story(Style::Squash, TrailerPlace::Last).tell(&scene.history.here);
        },
        landed(Trailer),
    ),
    case(
        "a marker that cannot be read, and a landing that only its content shows",
        |scene| {
            mark(scene, "1", b"");
            let _ = Scene::story(Style::Picked, TrailerPlace::Nowhere).tell(&scene.history.here);
        },
        landed(orchestrate_core::derive::Row::Rebased),
    ),
    case(
        "a fresh marker beside own commits",
        |scene| {
            mark(scene, "1", &aged(scene, 60));
            Scene::story(Style::Squash, TrailerPlace::Nowhere).work(&scene.history.here);
        },
        COMMITTED,
    ),
];

const RECORDS: &[Case] = &[
    case(
        "our tower died before it started a worker",
        |scene| claim(scene, Claim::TowerDied),
        READY,
    ),
    case(
        "our worker ended without a commit",
        |scene| {
            claim(scene, Claim::WorkerEnded);
            scene.history.here.branch(BRANCH, scene.history.here.tip(MAIN));
        },
        in_progress(ClaimRow, Ended).because("left no commit on its branch"),
    ),
    case(
        "our worker ended, its work was merged, and its branch deleted",
        |scene| {
            claim(scene, Claim::WorkerEnded);
            let _ = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).tell(&scene.history.here);
            scene.history.here.delete(BRANCH);
        },
        in_progress(ClaimRow, Ended).because("whether its work landed cannot be told"),
    ),
    case(
        "our worker ended and its work was merged",
        |scene| {
            claim(scene, Claim::WorkerEnded);
            let _ = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).tell(&scene.history.here);
        },
        landed(OwnCommitsLanded),
    ),
    case(
        "our worker ended and its commits wait",
        |scene| {
            claim(scene, Claim::WorkerEnded);
            Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).work(&scene.history.here);
        },
        COMMITTED,
    ),
    case(
        "a record of ours that is torn",
        |scene| {
            claim(scene, Claim::TowerDied);
            let path = scene
                .history
                .here
                .git
                .path()
                .join("orchestrate/dispatch/alpha/task-1.json");
            let other = scene.history.here.git.path().join("orchestrate/dispatch/alpha/1.json");
            let path = if other.is_file() { other } else { path };
            std::fs::write(path, "{").expect("a record is torn");
        },
        HELD,
    ),
];

/// A branch is no evidence by being somewhere: what was committed on it is.
const BRANCHES: &[Case] = &[
    case(
        "a branch without commits where main was",
        |scene| {
            scene.history.here.branch(BRANCH, scene.history.here.tip(MAIN));
            let _ = scene.work(MAIN, "other");
        },
        READY,
    ),
    case(
        "a branch without commits that was moved along with main",
        |scene| {
            scene.history.here.branch(BRANCH, scene.history.here.tip(MAIN));
            let _ = scene.work(MAIN, "other");
            let _ = orchestrate_testkit::histories::fast_forward(&scene.history.here, BRANCH, MAIN);
        },
        READY,
    ),
    case(
        "a branch without commits that a rebase moved along",
        |scene| {
            scene.history.here.branch(BRANCH, scene.history.here.tip(MAIN));
            let _ = scene.work(MAIN, "other");
            let _ = orchestrate_testkit::histories::rebase(&scene.history.here, MAIN, BRANCH);
        },
        READY,
    ),
    case(
        "a branch without commits, and main came to it as a second parent",
        |scene| {
            let here = &scene.history.here;
            let side = "refs/heads/side";
            here.branch(BRANCH, here.tip(MAIN));
            here.branch(side, here.tip(MAIN));
            let _ = scene.work(MAIN, "other");
            let _ = scene.work(side, "beside");
            let _ = here
                .merge(side, &[here.tip(MAIN)], "Merge branch 'main' into side\n")
                .expect("it is merged");
            let _ = orchestrate_testkit::histories::fast_forward(here, MAIN, side);
        },
        READY,
    ),
    case(
        "a merged branch that was moved along with main afterwards, as a pull does",
        |scene| {
            let here = &scene.history.here;
            let _ = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).tell(here);
            let _ = scene.work(MAIN, "other");
            let _ = orchestrate_testkit::histories::fast_forward(here, BRANCH, MAIN);
        },
        landed(OwnCommitsLanded),
    ),
    case(
        "a merged branch that was reset to main afterwards",
        |scene| {
            let here = &scene.history.here;
            let _ = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).tell(here);
            here.point(BRANCH, here.tip(MAIN), "reset: moving to main");
        },
        landed(OwnCommitsLanded),
    ),
    case(
        "a branch whose commits were thrown away",
        |scene| {
            let here = &scene.history.here;
            Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).work(here);
            here.point(BRANCH, here.tip(MAIN), "reset: moving to main");
        },
        READY,
    ),
    case(
        "a branch that only merged main, and to which main was moved",
        |scene| {
            let here = &scene.history.here;
            here.branch(BRANCH, here.tip(MAIN));
            let _ = scene.work(MAIN, "other");
            let _ = here
                .merge(BRANCH, &[here.tip(MAIN)], "Merge branch 'main'\n")
                .expect("it is merged");
            let _ = orchestrate_testkit::histories::fast_forward(here, MAIN, BRANCH);
        },
        unknown("it has nothing but merges"),
    ),
    case(
        "a branch that only merged main, and was merged",
        |scene| {
            let here = &scene.history.here;
            here.branch(BRANCH, here.tip(MAIN));
            let _ = scene.work(MAIN, "other");
            let _ = here
                .merge(BRANCH, &[here.tip(MAIN)], "Merge branch 'main'\n")
                .expect("it is merged");
            let _ = here
                .merge(MAIN, &[here.tip(BRANCH)], "Merge the work\n")
                .expect("it is merged");
        },
        unknown("it has nothing but merges"),
    ),
    case(
        "a branch that only merged main waits",
        |scene| {
            let here = &scene.history.here;
            here.branch(BRANCH, here.tip(MAIN));
            let _ = scene.work(MAIN, "other");
            let _ = here
                .merge(BRANCH, &[here.tip(MAIN)], "Merge branch 'main'\n")
                .expect("it is merged");
        },
        COMMITTED,
    ),
    case(
        "a branch whose tip was put there by something that git does not write",
        |scene| {
            let here = &scene.history.here;
            here.branch(BRANCH, here.tip(MAIN));
            let _ = scene.work(MAIN, "other");
            here.point(BRANCH, here.tip(MAIN), "a tool of somebody");
        },
        unknown("where it started is not recorded"),
    ),
];

/// Verifies REQ-C1.1.
#[test]
fn markers_of_every_kind() {
    check(MARKERS);
}

/// Verifies REQ-C1.1.
#[test]
fn records_of_ours() {
    check(RECORDS);
}

/// Verifies REQ-C1.1, REQ-C3.3.
#[test]
fn branches_that_moved() {
    check(BRANCHES);
}
