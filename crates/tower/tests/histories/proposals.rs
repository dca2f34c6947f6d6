//! What GitHub says of pull requests, in time, late, wrongly or not at all, beside what git shows.

use orchestrate_core::derive::ProgressKind::{Committed, Submitted};
use orchestrate_core::derive::Row::{
    MergedPullRequest, OpenPullRequest, OwnCommits, OwnCommitsLanded, Rebased, Squashed, Trailer,
};
use orchestrate_testkit::github::Failure;
use orchestrate_testkit::histories::{Claim, Oid, Style, TrailerPlace};
use serde_json::{Value, json};

use crate::case::{BLOCKED, BRANCH, COMMITTED, MAIN, READY, Scene, in_progress, landed, reverted, unknown};
use crate::forge::{Case, Hub, SOMEWHERE, case, check, closed, merged, open, with};

const PR: crate::case::Expected = landed(MergedPullRequest);
const UNLANDED: crate::case::Expected = in_progress(MergedPullRequest, Committed).because("unlanded");
const NOT_FETCHED: crate::case::Expected = unknown("git fetch origin");

/// Work on a branch; returns its head.
fn work(hub: &Hub<'_>) -> Oid {
    Scene::story(Style::Squash, TrailerPlace::Nowhere).work(&hub.scene.history.here);
    hub.scene.history.here.tip(BRANCH)
}

/// A squash that somebody changed on the way, so that content tells nothing.
fn changed_squash(hub: &Hub<'_>) -> Oid {
    let files = [("work/1.txt", "one, reviewed\n"), ("work/2.txt", "two, reviewed\n")];
    hub.scene.history.here.commit(MAIN, &files, "part 1 (#4)\n")
}

fn gone(hub: &Hub<'_>) {
    hub.scene.history.here.delete(BRANCH);
}

fn text(id: Oid) -> String {
    id.to_string()
}

/// Lands the work by a changed squash, and GitHub says so; returns the commit.
fn told(hub: &Hub<'_>) -> Oid {
    let (head, squash) = (work(hub), changed_squash(hub));
    hub.says("1", vec![merged(4, &text(head), &text(squash))]);
    squash
}

fn outage() -> Failure {
    Failure::Status(502, vec![], json!({ "message": "Bad gateway" }))
}

const MERGED: &[Case] = &[
    case("merged, and changed on the way", |hub| drop(text(told(hub))), PR),
    case(
        "merged, and its branch is deleted",
        |hub| {
            let _ = told(hub);
            gone(hub);
        },
        PR,
    ),
    case(
        "merged, and nothing of it was fetched",
        |hub| hub.says("1", vec![merged(4, SOMEWHERE, SOMEWHERE)]),
        PR,
    ),
    case(
        "merged, and GitHub names no commit of the merge",
        |hub| {
            hub.says(
                "1",
                vec![with(merged(4, SOMEWHERE, SOMEWHERE), "mergeCommit", Value::Null)],
            );
        },
        PR,
    ),
    case(
        "merged, and local main is behind",
        |hub| hub.says("1", vec![merged(4, &text(work(hub)), SOMEWHERE)]),
        PR,
    ),
    case(
        "merged with more than the branch has here",
        |hub| {
            let short = work(hub);
            let head = hub.scene.work(BRANCH, "more");
            hub.scene.history.here.point(BRANCH, short, "reset: moving to HEAD~1");
            hub.says("1", vec![merged(4, &text(head), SOMEWHERE)]);
        },
        PR,
    ),
    case(
        "merged, and work goes on here",
        |hub| {
            let head = work(hub);
            let _ = hub.scene.work(BRANCH, "more");
            hub.says("1", vec![merged(4, &text(head), SOMEWHERE)]);
        },
        UNLANDED,
    ),
    case(
        "merged, and another clone pushed more",
        |hub| {
            let head = work(hub);
            hub.scene.history.push(BRANCH);
            let _ = hub
                .scene
                .history
                .origin()
                .commit(BRANCH, &[("work/more.txt", "more\n")], "more work\n");
            hub.scene.history.fetch();
            gone(hub);
            hub.says("1", vec![merged(4, &text(head), SOMEWHERE)]);
        },
        UNLANDED,
    ),
    case(
        "merged with a head that nobody has here, and commits of another life",
        |hub| {
            let _ = work(hub);
            hub.says("1", vec![merged(4, SOMEWHERE, SOMEWHERE)]);
        },
        NOT_FETCHED,
    ),
    case(
        "merged, and the branch was made anew with other work",
        |hub| {
            let (head, squash) = (work(hub), changed_squash(hub));
            gone(hub);
            hub.scene.history.here.branch(BRANCH, squash);
            let _ = hub.scene.work(BRANCH, "anew");
            hub.says("1", vec![merged(4, &text(head), &text(squash))]);
        },
        COMMITTED,
    ),
    case(
        "merged, and the branch was made anew at base",
        |hub| {
            let squash = told(hub);
            gone(hub);
            hub.scene.history.here.branch(BRANCH, squash);
        },
        PR,
    ),
    case(
        "merged, and followed by an open one for what came after",
        |hub| {
            let head = work(hub);
            let more = hub.scene.work(BRANCH, "more");
            hub.says("1", vec![open(5, more), merged(4, &text(head), SOMEWHERE)]);
        },
        UNLANDED,
    ),
    case(
        "first closed, then merged",
        |hub| {
            let (head, squash) = (work(hub), changed_squash(hub));
            hub.says("1", vec![merged(5, &text(head), &text(squash)), closed(4, head)]);
        },
        PR,
    ),
    case(
        "merged with a trailer on base as well",
        |hub| {
            let story = Scene::story(Style::Squash, TrailerPlace::Last);
            story.work(&hub.scene.history.here);
            let head = hub.scene.history.here.tip(BRANCH);
            let squash = story.land(&hub.scene.history.here);
            hub.says("1", vec![merged(4, &text(head), &text(squash))]);
        },
        // Git shows it, so GitHub is not asked.
        landed(Trailer),
    ),
    case(
        "merged by an owner whose name is written in capitals",
        |hub| {
            let owner = json!({ "login": "O" });
            hub.says(
                "1",
                vec![with(merged(4, SOMEWHERE, SOMEWHERE), "headRepositoryOwner", owner)],
            );
        },
        PR,
    ),
    case(
        "merged from the fork that we push to",
        |hub| {
            let url = "https://github.com/me/r.git";
            let git = &hub.scene.history.here.git;
            git.remote_set_pushurl("origin", Some(url)).expect("a url is set");
            let owner = json!({ "login": "me" });
            hub.says(
                "1",
                vec![with(merged(4, SOMEWHERE, SOMEWHERE), "headRepositoryOwner", owner)],
            );
        },
        PR,
    ),
    case(
        "merged from a branch of the repository itself, while we push to a fork",
        |hub| {
            let url = "https://github.com/me/r.git";
            let git = &hub.scene.history.here.git;
            git.remote_set_pushurl("origin", Some(url)).expect("a url is set");
            hub.says("1", vec![merged(4, SOMEWHERE, SOMEWHERE)]);
        },
        READY,
    ),
    case(
        "a branch of two tasks was merged: the first",
        |hub| {
            let start = hub.scene.history.here.tip(MAIN);
            Claim::WorkerEnded.leave(&mut hub.scene.world(), "alpha:task-1-2", start);
            hub.says("1-2", vec![merged(4, SOMEWHERE, SOMEWHERE)]);
        },
        PR,
    ),
    case(
        "a branch of two tasks was merged: the second",
        |hub| {
            let start = hub.scene.history.here.tip(MAIN);
            Claim::WorkerEnded.leave(&mut hub.scene.world(), "alpha:task-1-2", start);
            hub.says("1-2", vec![merged(4, SOMEWHERE, SOMEWHERE)]);
        },
        PR,
    )
    .of("2"),
    case(
        "merged, and what needs it is ready",
        |hub| {
            let _ = told(hub);
        },
        READY,
    )
    .of("3"),
];

const NOT_MERGED: &[Case] = &[
    case(
        "merged into another base",
        |hub| {
            hub.says(
                "1",
                vec![with(merged(4, SOMEWHERE, SOMEWHERE), "baseRefName", json!("release"))],
            );
        },
        READY,
    ),
    case(
        "merged into another base, with a branch here",
        |hub| {
            let head = text(work(hub));
            hub.says(
                "1",
                vec![with(merged(4, &head, SOMEWHERE), "baseRefName", json!("release"))],
            );
        },
        COMMITTED,
    ),
    case(
        "merged by a stranger from a branch of the same name",
        |hub| {
            let owner = json!({ "login": "stranger" });
            hub.says(
                "1",
                vec![with(merged(4, SOMEWHERE, SOMEWHERE), "headRepositoryOwner", owner)],
            );
        },
        READY,
    ),
    case(
        "merged from a repository that is gone",
        |hub| {
            hub.says(
                "1",
                vec![with(
                    merged(4, SOMEWHERE, SOMEWHERE),
                    "headRepositoryOwner",
                    Value::Null,
                )],
            );
        },
        unknown("the repository of its head is gone"),
    ),
    case(
        "opened by a stranger from a branch of the same name",
        |hub| {
            let owner = json!({ "login": "stranger" });
            let head = hub.scene.history.here.tip(MAIN);
            hub.says("1", vec![with(open(4, head), "headRepositoryOwner", owner)]);
        },
        READY,
    ),
    case(
        "closed without a merge",
        |hub| hub.says("1", vec![closed(4, hub.scene.history.here.tip(MAIN))]),
        READY,
    ),
    case(
        "closed without a merge, and its branch is here",
        |hub| hub.says("1", vec![closed(4, work(hub))]),
        COMMITTED,
    ),
    case(
        "first closed, then opened again",
        |hub| {
            let head = hub.scene.history.here.tip(MAIN);
            hub.says("1", vec![open(5, head), closed(4, head)]);
        },
        in_progress(OpenPullRequest, Submitted),
    ),
    case(
        "open, and no branch here",
        |hub| hub.says("1", vec![open(4, hub.scene.history.here.tip(MAIN))]),
        in_progress(OpenPullRequest, Submitted),
    ),
    case(
        "open, a draft, and its branch is here",
        |hub| hub.says("1", vec![with(open(4, work(hub)), "isDraft", json!(true))]),
        in_progress(OwnCommits, Submitted).because("draft"),
    ),
    case(
        "open, though all of it is on base by other commits",
        |hub| {
            let head = work(hub);
            let _ = Scene::story(Style::Squash, TrailerPlace::Nowhere).land(&hub.scene.history.here);
            hub.says("1", vec![open(4, head)]);
        },
        in_progress(OwnCommits, Submitted),
    ),
    case(
        "open, though a trailer is on base",
        |hub| {
            let _ = Scene::story(Style::Squash, TrailerPlace::Last).tell(&hub.scene.history.here);
            hub.says("1", vec![open(4, hub.scene.history.here.tip(BRANCH))]);
        },
        landed(Trailer),
    ),
    case(
        "open, though its branch was merged by hand",
        |hub| {
            let _ = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).tell(&hub.scene.history.here);
            hub.says("1", vec![open(4, hub.scene.history.here.tip(BRANCH))]);
        },
        landed(OwnCommitsLanded),
    ),
    case(
        "open, and what needs it waits",
        |hub| hub.says("1", vec![open(4, work(hub))]),
        BLOCKED,
    )
    .of("3"),
];

const UNDONE: &[Case] = &[
    case(
        "merged, and its merge was reverted",
        |hub| {
            let squash = told(hub);
            gone(hub);
            let _ = hub.scene.history.here.revert(MAIN, squash).expect("it is reverted");
        },
        reverted(MergedPullRequest),
    ),
    case(
        "merged, and reverted as GitHub writes it",
        |hub| {
            let squash = told(hub);
            gone(hub);
            let message = "Revert \"part 1\" (#5)\n\nReverts o/r#4\n";
            let _ = hub
                .scene
                .history
                .here
                .revert_saying(MAIN, squash, message)
                .expect("it is reverted");
        },
        reverted(MergedPullRequest),
    ),
    case(
        "merged, and another pull request was reverted",
        |hub| {
            let _ = told(hub);
            gone(hub);
            let here = &hub.scene.history.here;
            let other = here.commit(MAIN, &[("o.txt", "o\n")], "other (#3)\n");
            let message = "Revert \"other\" (#5)\n\nReverts o/r#3\n";
            let _ = here.revert_saying(MAIN, other, message).expect("it is reverted");
        },
        PR,
    ),
    case(
        "merged, reverted, and the revert reverted",
        |hub| {
            let squash = told(hub);
            gone(hub);
            let here = &hub.scene.history.here;
            let by = here.revert(MAIN, squash).expect("it is reverted");
            let _ = here.revert(MAIN, by).expect("it is reverted");
        },
        PR,
    ),
    case(
        "merged and reverted, and a second one merged",
        |hub| {
            let (head, squash) = (work(hub), changed_squash(hub));
            gone(hub);
            let here = &hub.scene.history.here;
            let _ = here.revert(MAIN, squash).expect("it is reverted");
            let again = here.commit(MAIN, &[("work/1.txt", "again\n")], "part 1 again (#6)\n");
            let second = merged(6, SOMEWHERE, &text(again));
            hub.says("1", vec![second, merged(4, &text(head), &text(squash))]);
        },
        PR,
    ),
    case(
        "merged and reverted, and the second one is open",
        |hub| {
            let squash = told(hub);
            let old = hub.scene.history.here.tip(BRANCH);
            gone(hub);
            let here = &hub.scene.history.here;
            let by = here.revert(MAIN, squash).expect("it is reverted");
            hub.says("1", vec![open(6, by), merged(4, &text(old), &text(squash))]);
        },
        in_progress(OpenPullRequest, Submitted),
    ),
];

const UNANSWERED: &[Case] = &[
    case(
        "an outage, and nothing is there",
        |hub| hub.fails(outage()),
        unknown("Bad gateway"),
    ),
    case(
        "an outage, and a trailer",
        |hub| {
            let _ = Scene::story(Style::Squash, TrailerPlace::Last).tell(&hub.scene.history.here);
            hub.fails(outage());
        },
        landed(Trailer),
    ),
    case(
        "an outage, and own commits that were merged",
        |hub| {
            let _ = Scene::story(Style::MergeCommit, TrailerPlace::Nowhere).tell(&hub.scene.history.here);
            hub.fails(outage());
        },
        landed(OwnCommitsLanded),
    ),
    case(
        "an outage, and picked commits: content does not stand alone",
        |hub| {
            let _ = Scene::story(Style::Picked, TrailerPlace::Nowhere).tell(&hub.scene.history.here);
            hub.fails(outage());
        },
        unknown("Bad gateway"),
    ),
    case(
        "an outage, and a squash: content does not stand alone",
        |hub| {
            let _ = Scene::story(Style::Squash, TrailerPlace::Nowhere).tell(&hub.scene.history.here);
            hub.fails(outage());
        },
        unknown("Bad gateway"),
    ),
    case(
        "an outage, and work that waits",
        |hub| {
            let _ = work(hub);
            hub.fails(outage());
        },
        unknown("Bad gateway"),
    ),
    case(
        "an outage, and a claim of ours",
        |hub| {
            let start = hub.scene.history.here.tip(MAIN);
            Claim::WorkerEnded.leave(&mut hub.scene.world(), "alpha:task-1", start);
            hub.fails(outage());
        },
        unknown("Bad gateway"),
    ),
    case(
        "an outage, and a landing that was reverted",
        |hub| {
            let landing = Scene::story(Style::Squash, TrailerPlace::Last).tell(&hub.scene.history.here);
            gone(hub);
            let _ = hub.scene.history.here.revert(MAIN, landing).expect("it is reverted");
            hub.fails(outage());
        },
        unknown("Bad gateway"),
    ),
    case(
        "too many requests",
        |hub| {
            let headers = vec![("Retry-After", "60".to_owned())];
            hub.fails(Failure::Status(
                429,
                headers,
                json!({ "message": "secondary rate limit" }),
            ));
        },
        unknown("wait 60 s"),
    ),
    case(
        "a token that is no longer good",
        |hub| hub.fails(Failure::Status(401, vec![], json!({ "message": "Bad credentials" }))),
        unknown("Bad credentials"),
    ),
    case(
        "an answer that is no JSON",
        |hub| hub.fails(Failure::Garbage),
        unknown("cannot be"),
    ),
    case(
        "an answer that was cut off",
        |hub| hub.fails(Failure::Cut),
        unknown("cannot be"),
    ),
    case(
        "an error for this head",
        |hub| {
            hub.fails(Failure::Errors(
                json!([{ "message": "went wrong", "path": ["repository", "unit0"] }]),
            ));
        },
        unknown("went wrong"),
    ),
    case(
        "an error for another head",
        |hub| {
            hub.fails(Failure::Errors(
                json!([{ "message": "went wrong", "path": ["repository", "unit0"] }]),
            ));
        },
        READY,
    )
    .of("2"),
    case(
        "more pull requests than were read, and none of those was merged",
        |hub| {
            let head = hub.scene.history.here.tip(MAIN);
            hub.says("1", (1..=11).rev().map(|number| closed(number, head)).collect());
        },
        unknown("not all were read"),
    ),
    case(
        "more pull requests than were read, and a trailer",
        |hub| {
            let _ = Scene::story(Style::Squash, TrailerPlace::Last).tell(&hub.scene.history.here);
            let head = hub.scene.history.here.tip(MAIN);
            hub.says("1", (1..=11).rev().map(|number| closed(number, head)).collect());
        },
        landed(Trailer),
    ),
    case(
        "many pull requests, all of them read, and the oldest was merged",
        |hub| {
            let head = hub.scene.history.here.tip(MAIN);
            let mut all: Vec<Value> = (2..=9).rev().map(|number| closed(number, head)).collect();
            all.push(merged(1, SOMEWHERE, SOMEWHERE));
            hub.says("1", all);
        },
        PR,
    ),
];

const NOBODY_TO_ASK: &[Case] = &[
    case(
        "no gh, and nothing is there",
        |hub| hub.scene.settings.forge.gh = None,
        READY,
    ),
    case(
        "no gh, and a squash",
        |hub| {
            let _ = told(hub);
            hub.scene.settings.forge.gh = None;
        },
        COMMITTED,
    ),
    case(
        "no gh, and a squash as it was",
        |hub| {
            let _ = Scene::story(Style::Squash, TrailerPlace::Nowhere).tell(&hub.scene.history.here);
            hub.scene.settings.forge.gh = None;
        },
        landed(Squashed),
    ),
    case(
        "no gh, and picked commits",
        |hub| {
            let _ = Scene::story(Style::Picked, TrailerPlace::Nowhere).tell(&hub.scene.history.here);
            hub.scene.settings.forge.gh = None;
        },
        landed(Rebased),
    ),
    case(
        "gh is not told of the host",
        |hub| {
            hub.scene.settings.forge.has_token = false;
            hub.says("1", vec![merged(4, SOMEWHERE, SOMEWHERE)]);
        },
        READY,
    ),
    case(
        "origin is a directory",
        |hub| {
            let path = hub.scene.history.root().join("origin.git");
            hub.scene
                .history
                .here
                .git
                .remote_set_url("origin", path.as_str())
                .expect("a url is set");
            hub.says("1", vec![merged(4, SOMEWHERE, SOMEWHERE)]);
        },
        READY,
    ),
];

/// Verifies REQ-C1.1.
#[test]
fn merged_pull_requests() {
    check(MERGED);
}

/// Verifies REQ-C1.1.
#[test]
fn pull_requests_that_land_nothing() {
    check(NOT_MERGED);
}

/// Verifies REQ-C3.2.
#[test]
fn merged_pull_requests_that_were_reverted() {
    check(UNDONE);
}

/// Verifies REQ-C1.1.
#[test]
fn what_is_not_answered_decides_nothing() {
    check(UNANSWERED);
}

/// Verifies REQ-C1.1, REQ-C3.3.
#[test]
fn without_a_forge_git_decides() {
    check(NOBODY_TO_ASK);
}
