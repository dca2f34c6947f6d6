//! The answer: headers and a GraphQL body, read head by head. An error counts for what it names and no further.

use std::collections::{BTreeMap, BTreeSet};

use orchestrate_core::identifier::{CommitId, Unit, printable};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::pull_request::{Checks, MergeManner, PullRequest, PullRequestState, Shown};
use orchestrate_core::time::Timestamp;
use serde_json::Value;

use super::query;

/// The longest cause that is quoted, in characters.
const LONGEST_CAUSE: usize = 200;

/// Splits `gh api --include` output into its headers and its body.
fn split(output: &[u8]) -> (String, Option<Value>) {
    let text = String::from_utf8_lossy(output);
    let (headers, body) = text
        .split_once("\r\n\r\n")
        .or_else(|| text.split_once("\n\n"))
        .unwrap_or(("", &text));
    (headers.to_owned(), serde_json::from_str(body.trim()).ok())
}

/// Returns whether the output holds an answer with data, whatever else is wrong with it.
pub(super) fn has_body(output: &[u8]) -> bool {
    split(output)
        .1
        .is_some_and(|body| body["data"]["repository"].is_object())
}

/// Returns why nothing was answered, with the wait where GitHub names one.
pub(super) fn refusal(output: &[u8], message: &str) -> Why {
    let (headers, body) = split(output);
    let said = body
        .as_ref()
        .and_then(first_error)
        .unwrap_or_else(|| message.to_owned());
    let cause: String = printable(&said).chars().take(LONGEST_CAUSE).collect();
    let header = |name: &str| {
        headers.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.trim().eq_ignore_ascii_case(name).then(|| printable(value.trim()))
        })
    };
    let is_limit = cause.to_lowercase().contains("rate limit");
    let wait = header("retry-after")
        .map(|seconds| format!("wait {seconds} s, then step again"))
        .or_else(|| {
            let reset = header("x-ratelimit-reset").filter(|_| is_limit)?;
            Some(format!(
                "the limit is lifted at {reset} (seconds since 1970); step again then"
            ))
        });
    let why = Why::new(format!("GitHub cannot be asked ({cause}), so a merge could be unseen"));
    why.with_hint(wait.unwrap_or_else(|| "look at it: gh auth status; then step again".to_owned()))
}

fn first_error(body: &Value) -> Option<String> {
    let errors = body["errors"].as_array().and_then(|errors| errors.first());
    let message = errors.map_or(&body["message"], |error| &error["message"]);
    message.as_str().map(str::to_owned)
}

/// Returns the pull requests of each unit that was asked for.
///
/// # Errors
/// When the body is no answer at all.
pub(super) fn read(output: &[u8], units: &[&Unit]) -> Result<BTreeMap<Unit, Observed<Vec<PullRequest>>>, Why> {
    let (_, body) = split(output);
    let Some(body) = body else {
        return Err(Why::new("GitHub's answer cannot be read, so a merge could be unseen"));
    };
    let repository = &body["data"]["repository"];
    if !repository.is_object() {
        return Err(refusal(output, "the answer holds no repository"));
    }
    let errors = Errors::of(&body);
    if let Some(cause) = &errors.whole {
        return Err(Why::new(format!(
            "GitHub's answer is not whole ({cause}), so a merge could be unseen"
        )));
    }
    let found = units.iter().enumerate().map(|(index, unit)| {
        let alias = query::alias(index);
        let answer = match errors.by_alias.get(&alias) {
            Some(cause) => Observed::Unknown(Why::new(format!("GitHub did not answer for task-{unit} ({cause})"))),
            None => head(&repository[&alias], unit, errors.without_checks.contains(&alias)),
        };
        ((*unit).clone(), answer)
    });
    Ok(found.collect())
}

/// What the errors of an answer name.
struct Errors {
    /// An error that names no single head.
    whole: Option<String>,
    by_alias: BTreeMap<String, String>,
    /// The heads with checks that may not be read.
    without_checks: BTreeSet<String>,
}

impl Errors {
    fn of(body: &Value) -> Self {
        let mut errors = Self {
            whole: None,
            by_alias: BTreeMap::new(),
            without_checks: BTreeSet::new(),
        };
        for error in body["errors"].as_array().into_iter().flatten() {
            let said = printable(error["message"].as_str().unwrap_or("no message"));
            let cause: String = said.chars().take(LONGEST_CAUSE).collect();
            let path: Vec<&str> = error["path"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            match path.as_slice() {
                // The rest of such a pull request can be read.
                ["repository", alias, .., "statusCheckRollup"] => {
                    errors.without_checks.insert((*alias).to_owned());
                }
                ["repository", alias, ..] => drop(errors.by_alias.insert((*alias).to_owned(), cause)),
                _ => errors.whole = Some(cause),
            }
        }
        errors
    }
}

fn head(answer: &Value, unit: &Unit, without_checks: bool) -> Observed<Vec<PullRequest>> {
    let unreadable = || {
        Observed::Unknown(Why::new(format!(
            "GitHub's answer for task-{unit} cannot be read, so a merge could be unseen"
        )))
    };
    let Some(nodes) = answer["nodes"].as_array() else {
        return unreadable();
    };
    let Some(found) = nodes
        .iter()
        .map(|node| pull_request(node, without_checks))
        .collect::<Option<Vec<_>>>()
    else {
        return unreadable();
    };
    match answer["pageInfo"]["hasNextPage"].as_bool() {
        Some(false) => Observed::Known(found),
        Some(true) => Observed::Unknown(Why::new(format!(
            "task-{unit} has more than {} pull requests, and not all were read",
            query::MOST_OF_A_HEAD
        ))),
        None => unreadable(),
    }
}

fn pull_request(node: &Value, without_checks: bool) -> Option<PullRequest> {
    let commit = |value: &Value| CommitId::parse(value.as_str()?).ok();
    let state = match node["state"].as_str()? {
        "OPEN" => PullRequestState::Open {
            draft: node["isDraft"].as_bool()?,
        },
        "MERGED" => PullRequestState::Merged(commit(&node["mergeCommit"]["oid"])),
        "CLOSED" => PullRequestState::Closed,
        _ => return None,
    };
    Some(PullRequest {
        number: node["number"].as_u64()?,
        state,
        base: node["baseRefName"].as_str()?.to_owned(),
        head_owner: node["headRepositoryOwner"]["login"].as_str().map(str::to_owned),
        head: commit(&node["headRefOid"])?,
        checks: checks(&node["commits"]["nodes"][0]["commit"], without_checks),
        shown: shown(node),
    })
}

/// Returns what is shown of a pull request. What is missing or cannot be read is not shown, and changes no evidence.
fn shown(node: &Value) -> Shown {
    let time = |key: &str| serde_json::from_value::<Timestamp>(node[key].clone()).ok();
    Shown {
        url: node["url"].as_str().map(printable),
        created: time("createdAt"),
        updated: time("updatedAt"),
        merged: time("mergedAt"),
        manner: manner(node),
    }
}

/// A merge commit has two parents. Of one with a single parent the subject tells: GitHub's squash names the pull request
/// there, and a rebase leaves the subject as it was.
fn manner(node: &Value) -> Option<MergeManner> {
    let merge = &node["mergeCommit"];
    let subject = merge["messageHeadline"].as_str()?;
    match merge["parents"]["totalCount"].as_u64()? {
        1 if subject.ends_with(&format!("(#{})", node["number"].as_u64()?)) => Some(MergeManner::Squash),
        1 if node["commits"]["nodes"][0]["commit"]["messageHeadline"] == subject => Some(MergeManner::Rebase),
        2.. => Some(MergeManner::Merge),
        _ => None,
    }
}

/// A rollup that is missing although its commit is there means that there are no checks, if they may be read.
fn checks(commit: &Value, unreadable: bool) -> Checks {
    if !commit.is_object() || unreadable {
        return Checks::Unknown;
    }
    let rollup = &commit["statusCheckRollup"];
    if rollup.is_null() {
        return Checks::None;
    }
    match rollup["state"].as_str() {
        Some("SUCCESS") => Checks::Passed,
        Some("FAILURE" | "ERROR") => Checks::Failed,
        Some("PENDING" | "EXPECTED") => Checks::Pending,
        Some(_) | None => Checks::Unknown,
    }
}

#[cfg(test)]
mod tests;
