//! What `status` and `why` say, word by word, over a repository with every state at once.

use orchestrate_testkit::bundle::BundleFixture;
use orchestrate_testkit::github::{Failure, pull_request};
use serde_json::{Value, json};

use crate::forge::{Forge, merged, with_each_gh};
use crate::{check, sandbox, single, state_of};

/// The task of each state. Titles are longer than a line, wide, and made of several characters in one place.
fn every_state() -> BundleFixture {
    BundleFixture::new("alpha")
        .task("1", "by its trailer", &[], "1 day")
        .task("2", "by its pull request", &[], "1 day")
        .task("3", "waits for review", &[], "1 day")
        .task("4", "日本語の題名はとても長くて一行に入りません", &[], "2 days")
        .task(
            "5",
            "committed, and the family 👨‍👩‍👧‍👦 of this title is cut in one piece",
            &[],
            "1 day",
        )
        .task("6", "dispatched from elsewhere", &[], "1 day")
        .task("7", "its marker lies in the future", &[], "1 day")
        .task("8", "its branch cannot be read", &[], "1 day")
        .task("9", "free", &[], "3 days")
        .task("10", "free too", &["1"], "1 day")
        .task("11", "needs others", &["3", "4"], "1 day")
        .task("12", "parked", &[], "1 day")
        .deferred("12", "until the vendor answers")
}

/// Makes a repository in which every state is there. Task 4 is running until the worker is let go.
fn with_every_state(test: impl Fn(&Forge)) {
    with_each_gh(&every_state(), |forge| {
        let sandbox = &forge.sandbox;
        let _ = sandbox.commit_all("one\n\nPlanwright-Task: alpha/1\n");
        let two = forge.branch("2");
        sandbox.write("work/2.txt", "work, reviewed\n");
        let squash = sandbox.commit_all("by its pull request (#4)");
        let mut landed = merged(4, &two, &squash);
        landed["mergeCommit"]["messageHeadline"] = json!("by its pull request (#4)");
        landed["mergeCommit"]["parents"] = json!({ "totalCount": 1 });
        forge.says("2", vec![landed]);
        let three = forge.branch("3");
        let mut open = pull_request(5, "OPEN", &three);
        open["isDraft"] = json!(true);
        open["commits"]["nodes"][0]["commit"]["statusCheckRollup"] = json!({ "state": "SUCCESS" });
        forge.says("3", vec![open]);
        let _ = forge.branch("5");
        let _ = forge
            .run(&["plumbing", "orchestrate-marker", "write", "specs/alpha", "6"])
            .exits(0);
        sandbox.write("specs/alpha/.orchestrate/markers/7", "4102444800\n");
        sandbox.write(".git/refs/heads/planwright/alpha/task-8", "torn\n");
        sandbox.configure("max_parallel_units: 9\n");
        sandbox.close_gate("4");
        let _ = forge.run(&["alpha"]).exits(0).says("dispatched alpha task 4");
        let worker = sandbox.worker_at_gate("4");
        test(forge);
        drop(worker);
        sandbox.wait_for_worker("alpha", "4");
    });
}

/// Verifies REQ-C4.1.
#[test]
fn every_state_in_eighty_columns() {
    with_every_state(|forge| {
        let narrow = [("COLUMNS", "80")];
        let status = || forge.run_with(&["status", "alpha"], &narrow).exits(0);
        let output = status();
        for line in output.stdout.lines() {
            assert!(unicode_width::UnicodeWidthStr::width(line) <= 80, "{line}");
        }
        insta::allow_duplicates! { check!(forge.sandbox, output, @r"
            exit 0
            --- out
            alpha · Ready · 2 of 12 landed · 1 running · 1 submitted · 2 in progress ·
              1 for a person · 1 unknown · 1 parked

              1   by its trailer           landed       trailer in [SHORT] on main or at
                                                        origin, [AGE]
              2   by its pull request      landed       PR #4 merged (squashed) in [SHORT],
                                                        [AGE]
              3   waits for review         submitted    PR #5 open, draft, checks passed,
                                                        [AGE]
                  → review PR #5, which is still a draft, and merge it
              4   日本語の題…に入りません  running      a worker runs (pid [PID]), [AGE]
              5   committed,…n one piece   in progress  1 commit on task-5, not on main,
                                                        [AGE]
                  → review planwright/alpha/task-5, and merge it into main
              6   dispatched…m elsewhere   dispatched   dispatched by a tower that keeps no
                                                        record here, [AGE]
              7   its marker…the future    held         the marker lies in the future
                  → if nobody works on it:
                    orchestrate plumbing orchestrate-marker clear specs/alpha 7
              8   its branch…not be read   unknown      refs/heads/planwright/alpha/task-8
                                                        is there and names no commit
                  → write its commit into it, or give the branch up:
                    rm .git/refs/heads/planwright/alpha/task-8
              9   free                     ready        next
              10  free too                 ready        9 comes first
              11  needs others             blocked      needs 3 (submitted) and 4 (running)
              12  parked                   parked       Deferred — until the vendor answers

            next: 9 · critical path 4 → 11
            base main at [SHORT] · 4 commits walked · 1 request to o/r for 12 heads,
              [AGE] ago
            ") }
        let without_color = forge.run_with(&["status", "alpha"], &[("COLUMNS", "80"), ("NO_COLOR", "1")]);
        assert!(!without_color.stdout.contains('\u{1b}'), "{without_color}");
        let why = |task: &str| forge.run_with(&["why", "alpha", task], &narrow).exits(0);
        insta::allow_duplicates! { check!(forge.sandbox, why("3"), @r"
            exit 0
            --- out
            task 3 is submitted: PR #5 open, draft, checks passed, [AGE]
            → review PR #5, which is still a draft, and merge it

              merged pull request   no       none for the task's branch in o/r (asked
                                             [AGE] ago)
              trailer on base       no       walked 4 commits of main at [SHORT]
              own commits landed    no       1 own commit of task-3 not on main
              worker lease          no       no worktree, so no worker
              rebased onto base     no       not asked: its pull request is open
              squashed onto base    no       not asked: its pull request is open
              own commits           yes      1 commit on task-3, not on main, [AGE]
                                             ← decides
              open pull request     yes      PR #5 open, draft, checks passed, [AGE]
              dispatch marker       no       no dispatch marker
              fence at origin       no       no step has seen one of another clone

            base main at [SHORT] · 4 commits walked · 1 request to o/r for 12 heads,
              [AGE] ago
            ") }
        insta::allow_duplicates! { check!(forge.sandbox, why("8"), @r"
            exit 0
            --- out
            task 8 is unknown: refs/heads/planwright/alpha/task-8 is there and names no
              commit
            → write its commit into it, or give the branch up:
              rm .git/refs/heads/planwright/alpha/task-8

              merged pull request   no       none for the task's branch in o/r (asked
                                             [AGE] ago)
              trailer on base       no       walked 4 commits of main at [SHORT]
              own commits landed    unknown  refs/heads/planwright/alpha/task-8 is there and
                                             names no commit
              worker lease          no       no worktree, so no worker
              rebased onto base     no       no branch with commits beyond base
              squashed onto base    no       no branch with commits beyond base
              own commits           unknown  refs/heads/planwright/alpha/task-8 is there and
                                             names no commit
              open pull request     no       none for the task's branch in o/r (asked
                                             [AGE] ago)
              dispatch marker       no       no dispatch marker
              fence at origin       no       no step has seen one of another clone

            base main at [SHORT] · 4 commits walked · 1 request to o/r for 12 heads,
              [AGE] ago
            ") }
    });
}

/// Verifies REQ-C4.1.
#[test]
fn in_a_locale_without_utf8_our_own_words_are_ascii() {
    with_every_state(|forge| {
        let plain = [("LC_ALL", "C"), ("COLUMNS", "120")];
        let output = forge.run_with(&["status", "alpha"], &plain).exits(0);
        let ours: Vec<&str> = output
            .stdout
            .lines()
            // The titles of these are not ASCII, and stay what they are.
            .filter(|line| !line.starts_with("  4 ") && !line.starts_with("  5 "))
            .collect();
        assert!(ours.iter().all(|line| line.is_ascii()), "{output}");
        assert!(ours.iter().any(|line| line.contains("-> ")), "{output}");
        let asked_for = forge.run_with(&["status", "alpha", "--ascii"], &[("COLUMNS", "120")]);
        // The second of them may be a second later.
        let without_ages = |text: &str| text.replace(|character: char| character.is_ascii_digit(), "");
        assert_eq!(without_ages(&output.stdout), without_ages(&asked_for.stdout));
        let why = forge.run_with(&["why", "alpha", "1"], &plain).exits(0);
        assert!(why.stdout.is_ascii() && why.stdout.contains("<- decides"), "{why}");
    });
}

/// Verifies REQ-C4.1.
#[test]
fn the_json_of_status_and_why_is_whole() {
    with_every_state(|forge| {
        let value = forge.run(&["status", "alpha", "--format", "json"]).exits(0).json();
        assert_eq!(value["schema"], 1);
        assert_eq!(value["forge"]["requests"], 1, "{value}");
        assert_eq!(value["forge"]["heads"], 12, "{value}");
        assert!(value["forge"]["asked"].is_string() && value["gathered"].is_string());
        assert_eq!(
            value["counts"],
            json!({
                "landed": 2, "submitted": 1, "running": 1, "in progress": 1, "dispatched": 1, "held": 1, "unknown": 1,
                "ready": 2, "blocked": 1, "parked": 1,
            })
        );
        let tasks = value["tasks"].as_array().expect("tasks");
        for task in tasks {
            let (state, why) = (task["state"].as_str().expect("a state"), &task["not_dispatched"]);
            let is_next = task["id"] == value["next"];
            assert_eq!(why.is_null(), state == "landed" || is_next, "{task}");
            let has_age = matches!(state, "landed" | "submitted" | "running" | "in progress" | "dispatched");
            assert_eq!(task["at"].is_string(), has_age, "{task}");
            assert_eq!(task["age_seconds"].is_i64(), has_age, "{task}");
        }
        let of = |id: &str| tasks.iter().find(|task| task["id"] == id).expect("the task").clone();
        let two = of("2");
        assert_eq!(two["at"], "2026-01-04T00:00:00Z", "{two}");
        assert_eq!(two["pull_request"]["manner"], "squashed");
        assert_eq!(two["pull_request"]["url"], "https://github.com/o/r/pull/4");
        let three = of("3");
        assert_eq!(three["at"], "2026-01-03T00:00:00Z", "{three}");
        assert_eq!(three["pull_request"]["checks"], "passed");
        assert_eq!(three["pull_request"]["draft"], true);
        assert_eq!(of("11")["needs"], json!(["3", "4"]));
        let why = forge.run(&["why", "alpha", "3", "--format", "json"]).exits(0).json();
        assert_eq!((&why["schema"], &why["task"]), (&json!(1), &json!("3")));
        assert_eq!(why["rows"].as_array().map(Vec::len), Some(10));
        for key in [
            "state",
            "detail",
            "at",
            "hint",
            "decided_by",
            "pull_request",
            "forge",
            "base",
            "history",
        ] {
            assert!(!why[key].is_null(), "{key} {why}");
        }
    });
}

/// More tasks than a screen holds: what is under way stays, what is left out is counted.
/// Verifies REQ-C4.1.
#[test]
fn what_is_not_shown_is_counted() {
    let bundle = (1..=60).fold(BundleFixture::new("alpha"), |bundle, task| {
        let needs: &[&str] = if task > 50 { &["50"] } else { &[] };
        bundle.task(&task.to_string(), "a part", needs, "1 day")
    });
    let sandbox = sandbox(&bundle);
    for task in 1..=48 {
        let _ = sandbox.commit_all(&format!("part {task}\n\nPlanwright-Task: alpha/{task}\n"));
    }
    let shown = |output: &str| {
        output
            .lines()
            .filter(|line| line.starts_with("  ") && line.contains("a part"))
            .count()
    };
    let output = sandbox.orchestrate(&["status", "alpha"]).exits(0);
    assert_eq!(shown(&output.stdout), 20, "{output}");
    // 2 are ready, 10 are blocked, and the latest 8 of those that have landed fill the screen.
    let output = output.says("  … and 40 landed: orchestrate status specs/alpha --all\n");
    for (task, is_shown) in [("40", false), ("41", true), ("49", true), ("60", true)] {
        assert_eq!(
            output.stdout.contains(&format!("\n  {task}  a part")),
            is_shown,
            "{task}"
        );
    }
    let all = sandbox.orchestrate(&["status", "alpha", "--all"]).exits(0);
    assert_eq!(shown(&all.stdout), 60, "{all}");
    assert!(!all.stdout.contains("… and"), "{all}");
    let value = sandbox
        .orchestrate(&["status", "alpha", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(value["tasks"].as_array().map(Vec::len), Some(60));
}

/// A clock that was set back makes evidence lie in the future: it is shown so, and holds what it held.
#[test]
fn evidence_from_the_future_is_shown_and_holds_no_more_than_it_did() {
    let sandbox = sandbox(&crate::alpha());
    let later = [
        ("GIT_AUTHOR_DATE", "2099-01-01T00:00:00Z"),
        ("GIT_COMMITTER_DATE", "2099-01-01T00:00:00Z"),
    ];
    let commit = |message: &str| {
        let text = format!(
            "GIT_AUTHOR_DATE={0} GIT_COMMITTER_DATE={1} git commit --quiet --allow-empty --cleanup=verbatim -m '{message}'",
            later[0].1, later[1].1
        );
        let _ = sandbox.shell(&text).exits(0);
    };
    commit("one\n\nPlanwright-Task: alpha/1\n");
    let value = sandbox
        .orchestrate(&["status", "alpha", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(value["tasks"][0]["state"], "landed");
    assert_eq!(value["tasks"][0]["at"], "2099-01-01T00:00:00Z");
    assert!(value["tasks"][0]["age_seconds"].as_i64().is_some_and(|age| age < 0));
    let _ = sandbox
        .orchestrate(&["status", "alpha"])
        .exits(0)
        .says(" on main, in the future\n");
    // What needs it starts all the same.
    let _ = sandbox.orchestrate(&["alpha"]).exits(0).says("dispatched alpha task ");
}

#[test]
fn a_marker_in_the_future_is_a_claim_and_an_old_one_is_none() {
    let sandbox = sandbox(&single());
    sandbox.write("specs/alpha/.orchestrate/markers/1", "4102444800\n");
    assert_eq!(state_of(&sandbox, "1"), "held: the marker lies in the future");
    let _ = sandbox.orchestrate(&["alpha", "--detailed-exitcode"]).exits(10);
    sandbox.write("specs/alpha/.orchestrate/markers/1", "1\n");
    assert_eq!(state_of(&sandbox, "1"), "ready");
    let _ = sandbox
        .orchestrate(&["why", "alpha", "1"])
        .exits(0)
        .says("days ago is stale");
}

/// Verifies REQ-F1.5.
#[test]
fn the_engine_prints_completions_contradictions_and_degraded_evidence() {
    with_each_gh(&crate::alpha(), |forge| {
        let sandbox = &forge.sandbox;
        let state = || forge.run(&["plumbing", "orchestrate-state", "specs/alpha"]).exits(0);
        let one = forge.branch("1");
        let two = forge.branch("2");
        let _ =
            sandbox.commit_all("all\n\nPlanwright-Task: alpha/1\nPlanwright-Task: alpha/2\nPlanwright-Task: alpha/3\n");
        forge.says("1", vec![pull_request(5, "OPEN", &one)]);
        forge.says("2", vec![merged(6, &two, &two)]);
        insta::allow_duplicates! { check!(sandbox, state(), @r"
            exit 0
            --- out
            task	1	completed	trailer
            contradiction	1	completion attested in git but the PR is still open
            completion	1		2026-01-01
            task	2	completed	trailer
            completion	2	6	2026-01-04
            task	3	completed	trailer
            ") }
        let selector = forge.run(&["plumbing", "orchestrate-select", "specs/alpha"]).exits(1);
        let forwarded = "contradiction\t1\tcompletion attested in git but the PR is still open\n";
        assert_eq!((selector.stdout.as_str(), selector.stderr.as_str()), ("", forwarded));
        let said = forge.run(&["plumbing", "spec-status", "specs/alpha"]).exits(0).stdout;
        assert!(
            said.contains("task 1 completed · merged 2026-01-01 (trailer)\n"),
            "{said}"
        );
        assert!(
            said.contains("task 2 completed · PR #6 merged 2026-01-04 (trailer)\n"),
            "{said}"
        );
        assert!(
            said.contains("note: task 1: completion attested in git but the PR is still open\n"),
            "{said}"
        );
        let _ = sandbox.git(&["reset", "--quiet", "--hard", "main~1"]);
        let refused = || Failure::Status(502, vec![], json!({ "message": "Bad gateway" }));
        forge.github.fail_next(refused());
        let degraded = state();
        assert!(
            degraded
                .stdout
                .starts_with("degraded\tgh\tgh query failed; deriving git-only\n"),
            "{degraded}"
        );
        assert!(
            degraded
                .stdout
                .contains("task\t3\tin-progress\tunobservable-github-cannot-be-asked\n"),
            "{degraded}"
        );
        assert!(degraded.stderr.contains("Bad gateway"), "{degraded}");
        forge.github.fail_next(refused());
        let _ = forge.run(&["plumbing", "spec-status", "specs/alpha"]).exits(3);
    });
}

/// What people are shown of landed units is asked in the same request, and changes no state.
/// Verifies REQ-C3.1.
#[test]
fn pull_requests_of_landed_units_are_shown_and_decide_nothing() {
    with_each_gh(&single(), |forge| {
        let sandbox = &forge.sandbox;
        let head = forge.branch("1");
        let _ = sandbox.commit_all("one\n\nPlanwright-Task: alpha/1\n");
        // Merged once, and gone on since: as evidence that would be work which has not landed.
        let old = sandbox.git(&["rev-parse", &format!("{head}~1")]);
        forge.says("1", vec![merged(4, &old, &old)]);
        let value: Value = forge.run(&["status", "alpha", "--format", "json"]).exits(0).json();
        assert_eq!(value["tasks"][0]["state"], "landed", "{value}");
        assert_eq!(value["tasks"][0]["pull_request"]["number"], 4);
        assert_eq!(value["forge"]["requests"], 1);
        // A step that has nothing to do asks nothing, and an answer that does not come is none that is missing.
        let asked = forge.github.questions().len();
        let _ = forge.run(&["alpha"]).exits(0);
        assert_eq!(forge.github.questions().len(), asked);
        forge.github.fail_next(Failure::Garbage);
        let value: Value = forge.run(&["status", "alpha", "--format", "json"]).exits(0).json();
        assert_eq!(value["tasks"][0]["state"], "landed", "{value}");
        assert_eq!(value["forge"]["answered"], false);
    });
}
