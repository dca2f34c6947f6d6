//! `orchestrate-state <spec-dir>` (`contract/core.md §4.7`, §4.8).

use camino::Utf8Path;

use orchestrate_core::completion::completion;
use orchestrate_core::derive::{ProgressKind, Row, TaskReport, TaskState, pull_request_of};
use orchestrate_core::identifier::TaskId;
use orchestrate_core::observed::Observed;
use orchestrate_core::pull_request::PullRequestState;
use orchestrate_spec::Bundle;
use orchestrate_tower::preflight::read_bundle;
use orchestrate_tower::step::{Survey, survey};

use super::{FAIL_CLOSED, open};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;

pub(crate) fn run(directory: &Utf8Path, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    let (session, spec) = open(directory, environment, printer)?;
    let refuse = |failure: Failure| failure.with_exit(FAIL_CLOSED);
    let (bundle, _) = read_bundle(&session.world, &spec).map_err(|reasons| refuse(reasons.into()))?;
    let survey = survey(&session.world, &session.request(spec, true), &bundle).map_err(|fault| refuse(fault.into()))?;
    print(&bundle, &survey, printer);
    if let Observed::Unknown(why) = &survey.evidence.pull_requests {
        printer.talk(&format!("orchestrate-state: {why}"));
    }
    Ok(0)
}

fn print(bundle: &Bundle, survey: &Survey, printer: &mut Printer) {
    if let Observed::Known(history) = &survey.evidence.history {
        for value in &history.refused {
            printer.record(&["refused", "Planwright-Task", value]);
        }
    }
    if matches!(survey.evidence.pull_requests, Observed::Unknown(_)) {
        printer.record(&["degraded", "gh", "gh query failed; deriving git-only"]);
    } else if let Some(why) = first_unknown(survey) {
        printer.record(&["degraded", "evidence", &why]);
    }
    for task in &bundle.tasks {
        if let Some(text) = &task.malformed_for_the_engine {
            printer.record(&["malformed-deps", task.id.as_str(), text]);
        }
    }
    for task in &survey.graph.tasks {
        let Some(report) = survey.state.tasks.get(&task.id) else {
            continue;
        };
        let (state, evidence) = words(report);
        printer.record(&["task", task.id.as_str(), state, &evidence]);
        if contradicts(report, &task.id, survey) {
            printer.record(&["contradiction", task.id.as_str(), CONTRADICTION]);
        }
        if let Some(completion) = completion(&task.id, report, &survey.evidence) {
            let number = completion
                .pull_request
                .map_or_else(String::new, |number| number.to_string());
            printer.record(&["completion", task.id.as_str(), &number, &completion.day]);
        }
    }
}

/// What a contradiction is called.
pub(super) const CONTRADICTION: &str = "completion attested in git but the PR is still open";

/// Returns whether git attests the completion of a task while its pull request is still open.
pub(super) fn contradicts(report: &TaskReport, task: &TaskId, survey: &Survey) -> bool {
    let by_git = match report.decided_by {
        Some(Row::Trailer | Row::OwnCommitsLanded | Row::Rebased | Row::Squashed) => true,
        Some(
            Row::MergedPullRequest
            | Row::WorkerLease
            | Row::OwnCommits
            | Row::OpenPullRequest
            | Row::Claim
            | Row::Fence,
        )
        | None => false,
    };
    let is_open = |state: &PullRequestState| matches!(state, PullRequestState::Open { .. });
    by_git
        && matches!(report.state, TaskState::Landed { .. })
        && pull_request_of(task, &survey.evidence).is_some_and(|found| is_open(&found.state))
}

/// Returns what could not be read: the forge, or what a task's state needs.
pub(super) fn degraded(survey: &Survey) -> Option<String> {
    match &survey.evidence.pull_requests {
        Observed::Unknown(why) => Some(why.reason.clone()),
        Observed::Known(_) | Observed::Absent(_) => first_unknown(survey),
    }
}

/// Returns why the first task that cannot be told is unknown: the `degraded` record makes the reference's selector hold.
pub(super) fn first_unknown(survey: &Survey) -> Option<String> {
    survey.state.tasks.values().find_map(|report| match &report.state {
        TaskState::Unknown(why) => Some(why.reason.clone()),
        TaskState::Landed { .. } | TaskState::InProgress(_) | TaskState::Ready | TaskState::Blocked { .. } => None,
    })
}

/// The contract's words. A completion it has no word for prints under the nearest one.
pub(super) fn words(report: &TaskReport) -> (&'static str, String) {
    match &report.state {
        TaskState::Landed { .. } => (
            "completed",
            match report.decided_by {
                Some(Row::MergedPullRequest) => "pr-merged",
                Some(Row::Trailer) => "trailer",
                Some(
                    Row::OwnCommitsLanded
                    | Row::WorkerLease
                    | Row::Rebased
                    | Row::Squashed
                    | Row::OwnCommits
                    | Row::OpenPullRequest
                    | Row::Claim
                    | Row::Fence,
                )
                | None => "branch-merged",
            }
            .to_owned(),
        ),
        TaskState::InProgress(progress) => {
            let evidence = match progress.kind {
                ProgressKind::Committed => "branch-commits",
                // The contract looks at branches before pull requests.
                ProgressKind::Submitted if report.decided_by == Some(Row::OwnCommits) => "branch-commits",
                ProgressKind::Submitted => "pr-open",
                ProgressKind::Running
                | ProgressKind::Claimed
                | ProgressKind::Ended
                | ProgressKind::Unreadable
                | ProgressKind::Reverted => "marker-fresh",
            };
            ("in-progress", evidence.to_owned())
        }
        // The reference's selector dispatches whatever is not completed or in progress.
        TaskState::Unknown(why) => ("in-progress", format!("unobservable-{}", word_of(&why.reason))),
        TaskState::Ready => ("ready", "deps-met".to_owned()),
        TaskState::Blocked { .. } => ("blocked", "deps-unmet".to_owned()),
    }
}

fn word_of(reason: &str) -> String {
    let word: String = reason
        .chars()
        .map(|character| {
            if character.is_ascii_alphanumeric() {
                character.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect();
    word.split('-')
        .filter(|part| !part.is_empty())
        .take(4)
        .collect::<Vec<_>>()
        .join("-")
}
