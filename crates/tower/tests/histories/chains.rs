//! How work lands × how often it is reverted × whether a trailer and its branch are left.

use orchestrate_core::derive::Row::{OwnCommitsLanded, Rebased, Squashed, Trailer};
use orchestrate_testkit::histories::{Depot, Oid, Style, TrailerPlace};

use crate::case::{BRANCH, COMMITTED, Expected, MAIN, READY, Scene, landed, reverted};

/// What is expected once the landing is reverted, and once that revert is reverted; a third one is as the first.
type Columns = [Expected; 2];

const TRAILER: Columns = [reverted(Trailer), landed(Trailer)];
const OWN: Columns = [reverted(OwnCommitsLanded), landed(OwnCommitsLanded)];
/// A branch that still holds the work is work that waits.
const WAITS: [Expected; 3] = [COMMITTED, landed(Squashed), landed(Rebased)];
const NOTHING: Columns = [READY, READY];

struct Line {
    style: Style,
    /// Without a trailer, the branch kept.
    kept: Columns,
    /// With one, the branch kept.
    kept_trailer: Columns,
}

const TABLE: [Line; 9] = [
    Line {
        style: Style::MergeCommit,
        kept: OWN,
        kept_trailer: TRAILER,
    },
    Line {
        style: Style::FastForward,
        kept: OWN,
        kept_trailer: TRAILER,
    },
    Line {
        style: Style::Squash,
        kept: [WAITS[0], WAITS[1]],
        kept_trailer: [WAITS[0], landed(Trailer)],
    },
    Line {
        style: Style::Rebase,
        kept: OWN,
        kept_trailer: TRAILER,
    },
    Line {
        style: Style::Picked,
        kept: [WAITS[0], WAITS[2]],
        kept_trailer: [WAITS[0], landed(Trailer)],
    },
    Line {
        style: Style::Octopus,
        kept: OWN,
        kept_trailer: TRAILER,
    },
    Line {
        style: Style::Foxtrot,
        kept: OWN,
        kept_trailer: TRAILER,
    },
    Line {
        style: Style::MergedFirst,
        kept: OWN,
        kept_trailer: TRAILER,
    },
    Line {
        style: Style::MergedFirstSquashed,
        kept: [WAITS[0], WAITS[1]],
        kept_trailer: [WAITS[0], landed(Trailer)],
    },
];

/// Returns what a person reverts to undo a landing: its one commit, or each commit that it brought, the newest first.
fn landed_commits(here: &Depot, style: Style, landing: Oid, before: Oid) -> Vec<Oid> {
    if style.has_message() {
        return vec![landing];
    }
    let mut commits = here.beyond(landing, before);
    commits.reverse();
    commits
}

/// Reverts commits one by one, and returns the reverts, the newest first.
fn revert_all(here: &Depot, commits: &[Oid]) -> Vec<Oid> {
    let mut reverts: Vec<Oid> = commits
        .iter()
        .map(|commit| here.revert(MAIN, *commit).expect("it is reverted"))
        .collect();
    reverts.reverse();
    reverts
}

/// Verifies REQ-C3.2.
#[test]
fn every_landing_reverted_once_twice_and_three_times() {
    for line in TABLE {
        for (trailer, kept, expected) in [
            (TrailerPlace::Nowhere, true, line.kept),
            (TrailerPlace::Last, true, line.kept_trailer),
            (TrailerPlace::Nowhere, false, NOTHING),
            (TrailerPlace::Last, false, TRAILER),
        ] {
            let of = format!("{:?}, trailer {trailer:?}, branch kept {kept}", line.style);
            let scene = Scene::new();
            let (here, story) = (&scene.history.here, Scene::story(line.style, trailer));
            story.work(here);
            let before = here.tip(MAIN);
            let landing = story.land(here);
            let mut commits = landed_commits(here, line.style, landing, before);
            if !kept {
                here.delete(BRANCH);
            }
            for (times, expected) in [(1, expected[0]), (2, expected[1]), (3, expected[0])] {
                commits = revert_all(here, &commits);
                assert_eq!(scene.differs("1", expected), None, "{of}, reverted {times} times");
            }
        }
    }
}

/// Verifies REQ-C3.2.
#[test]
fn a_trailer_after_a_revert_lands_every_one_again() {
    for style in Style::ALL {
        let scene = Scene::new();
        let here = &scene.history.here;
        let story = Scene::story(style, TrailerPlace::Last);
        story.work(here);
        let before = here.tip(MAIN);
        let landing = story.land(here);
        let _ = revert_all(here, &landed_commits(here, style, landing, before));
        let message = TrailerPlace::Last.message("done again", story.task);
        let _ = here.commit(MAIN, &[("again.txt", "again\n")], &message);
        assert_eq!(scene.differs("1", landed(Trailer)), None, "{style:?}");
    }
}
