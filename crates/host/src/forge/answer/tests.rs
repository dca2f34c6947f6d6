//! Answers of GitHub, whole, partial and none.

use serde_json::json;

use super::*;

const HEAD: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const MERGE: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

fn unit(text: &str) -> Unit {
    Unit::parse(text).expect("unit")
}

fn node(state: &str, rollup: &Value) -> Value {
    json!({
        "number": 7, "state": state, "isDraft": true, "baseRefName": "main", "headRefOid": HEAD,
        "headRepositoryOwner": { "login": "o" }, "mergeCommit": { "oid": MERGE },
        "commits": { "nodes": [{ "commit": { "statusCheckRollup": rollup } }] },
    })
}

fn page(nodes: &[Value]) -> Value {
    json!({ "nodes": nodes, "pageInfo": { "hasNextPage": false } })
}

fn output(body: &Value) -> Vec<u8> {
    format!("HTTP/2.0 200 OK\r\nX-Ratelimit-Reset: 1790000000\r\n\r\n{body}").into_bytes()
}

fn read_one(body: &Value) -> Observed<Vec<PullRequest>> {
    let one = unit("1");
    let mut found = read(&output(body), &[&one]).expect("an answer");
    found.remove(&one).expect("the unit")
}

#[test]
fn a_pull_request_is_read_with_its_checks() {
    for (rollup, checks) in [
        (json!({ "state": "SUCCESS" }), Checks::Passed),
        (json!({ "state": "FAILURE" }), Checks::Failed),
        (json!({ "state": "ERROR" }), Checks::Failed),
        (json!({ "state": "PENDING" }), Checks::Pending),
        (json!({ "state": "EXPECTED" }), Checks::Pending),
        (json!({ "state": "SOMETHING NEW" }), Checks::Unknown),
        (Value::Null, Checks::None),
    ] {
        let body = json!({ "data": { "repository": { "unit0": page(&[node("OPEN", &rollup)]) } } });
        let Observed::Known(found) = read_one(&body) else {
            panic!("{rollup}")
        };
        assert_eq!(found[0].checks, checks, "{rollup}");
        assert_eq!(found[0].state, PullRequestState::Open { draft: true });
    }
}

#[test]
fn the_three_states_and_no_other() {
    let merge = CommitId::parse(MERGE).expect("commit");
    for (word, state) in [
        ("OPEN", Some(PullRequestState::Open { draft: true })),
        ("MERGED", Some(PullRequestState::Merged(Some(merge)))),
        ("CLOSED", Some(PullRequestState::Closed)),
        ("LOCKED", None),
    ] {
        let body = json!({ "data": { "repository": { "unit0": page(&[node(word, &Value::Null)]) } } });
        match (read_one(&body), state) {
            (Observed::Known(found), Some(state)) => assert_eq!(found[0].state, state, "{word}"),
            (Observed::Unknown(_), None) => {}
            other => panic!("{word}: {other:?}"),
        }
    }
}

#[test]
fn an_error_counts_for_the_head_that_it_names() {
    let body = json!({
        "data": { "repository": { "unit0": null, "unit1": page(&[]) } },
        "errors": [{ "message": "timed out", "path": ["repository", "unit0"] }],
    });
    let (one, two) = (unit("1"), unit("2"));
    let found = read(&output(&body), &[&one, &two]).expect("an answer");
    assert!(matches!(&found[&one], Observed::Unknown(why) if why.reason.contains("timed out")));
    assert_eq!(found[&two], Observed::Known(Vec::new()));
}

#[test]
fn checks_that_may_not_be_read_are_unknown_and_nothing_else_is() {
    let path = json!([
        "repository",
        "unit0",
        "nodes",
        0,
        "commits",
        "nodes",
        0,
        "commit",
        "statusCheckRollup"
    ]);
    let body = json!({
        "data": { "repository": { "unit0": page(&[node("OPEN", &Value::Null)]) } },
        "errors": [{ "message": "Resource not accessible by personal access token", "path": path }],
    });
    let Observed::Known(found) = read_one(&body) else {
        panic!("unknown")
    };
    assert_eq!(found[0].checks, Checks::Unknown);
}

#[test]
fn what_is_cut_off_or_misshapen_is_unknown() {
    let cut = json!({ "nodes": [], "pageInfo": { "hasNextPage": true } });
    let nameless = json!({ "nodes": [{ "number": 1 }], "pageInfo": { "hasNextPage": false } });
    for answer in [cut, nameless, Value::Null, json!({ "nodes": [] }), json!([])] {
        let body = json!({ "data": { "repository": { "unit0": answer } } });
        assert!(matches!(read_one(&body), Observed::Unknown(_)), "{body}");
    }
    let unnamed = json!({ "data": { "repository": { "unit0": page(&[]) } }, "errors": [{ "message": "half of it" }] });
    assert!(read(&output(&unnamed), &[&unit("1")]).is_err());
    assert!(read(b"<html>", &[&unit("1")]).is_err());
}

#[test]
fn a_limit_says_when_it_is_lifted() {
    let body = json!({ "errors": [{ "type": "RATE_LIMITED", "message": "API rate limit exceeded for user ID 1." }] });
    let why = refusal(&output(&body), "gh: failed");
    assert!(why.reason.contains("API rate limit exceeded"), "{why:?}");
    assert!(why.hint.is_some_and(|hint| hint.contains("1790000000")));
    let text =
        b"HTTP/1.1 429 Too Many\r\nRetry-After: 60\r\n\r\n{\"message\":\"You have exceeded a secondary rate limit.\"}";
    let why = refusal(text, "gh: HTTP 429");
    assert_eq!(why.hint.as_deref(), Some("wait 60 s, then step again"));
    let why = refusal(b"", "dial unix /gh.sock: connect: no such file or directory");
    assert!(why.reason.contains("no such file"), "{why:?}");
}

#[test]
fn times_page_and_manner_are_shown_and_nothing_depends_on_them() {
    let with = |subject: &str, parents: u64| {
        let mut merged = node("MERGED", &Value::Null);
        merged["url"] = json!("https://github.com/o/r/pull/7");
        merged["createdAt"] = json!("2026-01-02T00:00:00Z");
        merged["mergedAt"] = json!("2026-01-04T00:00:00Z");
        merged["updatedAt"] = json!("yesterday");
        merged["mergeCommit"] =
            json!({ "oid": MERGE, "messageHeadline": subject, "parents": { "totalCount": parents } });
        merged["commits"]["nodes"][0]["commit"]["messageHeadline"] = json!("work");
        let body = json!({ "data": { "repository": { "unit0": page(&[merged]) } } });
        let Observed::Known(found) = read_one(&body) else {
            panic!("unknown")
        };
        found[0].shown.clone()
    };
    let shown = with("part one (#7)", 1);
    assert_eq!(shown.url.as_deref(), Some("https://github.com/o/r/pull/7"));
    assert_eq!(shown.created, Some(Timestamp::from_seconds(1_767_312_000)));
    assert_eq!(shown.merged, Some(Timestamp::from_seconds(1_767_484_800)));
    assert_eq!(shown.updated, None, "what is no time is none");
    for (subject, parents, manner) in [
        ("part one (#7)", 1, Some(MergeManner::Squash)),
        ("part one (#8)", 1, None),
        ("work", 1, Some(MergeManner::Rebase)),
        ("Merge pull request #7 from o/x", 2, Some(MergeManner::Merge)),
        ("a first commit", 0, None),
    ] {
        assert_eq!(with(subject, parents).manner, manner, "{subject}");
    }
}
