//! The demo's person: signs the spec, reviews what workers left, and merges it.
//!
//! These are the acts that the product never does (laws L1 and L9). They are played here, in the open, and only in the
//! demo's own repository.

use std::collections::BTreeMap;

use camino::Utf8Path;
use orchestrate_core::identifier::{CommitId, SpecId, TaskId, UnitName};
use orchestrate_core::trailer::task_trailers;
use orchestrate_core::world::Fault;
use orchestrate_host::clock;
use orchestrate_host::process::Input;
use orchestrate_spec::anchor::content_anchor;
use orchestrate_spec::brief::render_sign_off;
use orchestrate_spec::{BundleFile, parse_bundle};

use crate::check;
use crate::event::Landing;
use crate::git::{Actor, Git};
use crate::project::{self, SPEC};
use crate::repository::{self, bundle_directory};

const DRAFT: &str = "**Status:** Draft\n";
const READY: &str = "**Status:** Ready\n";

/// A sign-off, as it was committed.
pub(crate) struct SignOff {
    pub(crate) anchor: String,
    pub(crate) commit: CommitId,
}

fn git(directory: &Utf8Path) -> Git<'_> {
    Git {
        directory,
        actor: Actor::Person,
    }
}

/// Returns the commit a full ref name leads to.
///
/// # Errors
/// When there is no such ref.
pub(crate) fn commit_at(directory: &Utf8Path, reference: &str) -> Result<CommitId, Fault> {
    let text = git(directory).text(&["rev-parse", "--verify", reference])?;
    CommitId::parse(&text).map_err(|error| Fault::new(format!("cannot read where {reference} is"), error.to_string()))
}

/// Signs the spec: reads it, makes it Ready, writes the sign-off record, commits.
///
/// # Errors
/// When the bundle is no well-formed draft, or git or the disk refuses.
pub(crate) fn sign(directory: &Utf8Path) -> Result<SignOff, Fault> {
    let operation = format!("cannot sign specs/{SPEC}");
    let fault = |cause: String| Fault::new(operation.clone(), cause);
    let spec = SpecId::parse(SPEC).map_err(|error| fault(error.to_string()))?;
    let bundle = bundle_directory(directory);
    let mut files: BTreeMap<BundleFile, String> = BTreeMap::new();
    for file in BundleFile::AUTHORED {
        let bytes = repository::read(&bundle.join(file.name()))?;
        let bytes = bytes.ok_or_else(|| fault(format!("{file} is missing")))?;
        let text = String::from_utf8(bytes).map_err(|error| fault(format!("{file}: {error}")))?;
        if !text.contains(DRAFT) {
            return Err(fault(format!("{file} is no draft")));
        }
        files.insert(file, text.replacen(DRAFT, READY, 1));
    }
    let texts = project::bundle_texts(files.iter().map(|(file, text)| (*file, text.as_str())));
    parse_bundle(&spec, &texts).map_err(|diagnostics| {
        let lines: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        fault(lines.join("; "))
    })?;
    let anchor = content_anchor(&texts).map_err(|error| fault(error.to_string()))?;
    let record = render_sign_off(&spec, &texts, "the review noted in section 2 of this brief")
        .map_err(|error| fault(error.to_string()))?;
    for (file, text) in &files {
        repository::write(&bundle.join(file.name()), text)?;
    }
    let brief = brief(&today(), &record);
    repository::write(&bundle.join(BundleFile::KickoffBrief.name()), &brief)?;
    let git = git(directory);
    git.text(&["add", "--all", "--", "specs"])?;
    git.commit(&format!("docs({SPEC}): sign the spec\n"))?;
    Ok(SignOff {
        anchor,
        commit: commit_at(directory, "refs/heads/main")?,
    })
}

/// Returns today's date in UTC.
fn today() -> String {
    clock::now()
        .to_string()
        .chars()
        .take_while(|character| *character != 'T')
        .collect()
}

fn brief(date: &str, record: &str) -> String {
    format!(
        "# Hello, Tower — Kickoff Brief\n\n\
         {READY}**Last reviewed:** {date}\n**Format-version:** 2\n\
         **Execution:** derived — see the status render\n\n\
         ## 1. Goal\n\n\
         A greeting in five small tasks, to see a control tower at work.\n\n\
         ## 2. Review\n\n\
         Read by the person of the demo, who is played by `orchestrate demo`: the\n\
         requirements, the decisions, the graph 1 → 2 → 3 → 5 and 1 → 4 → 5, and the\n\
         checks. Nothing was found that a worker could misunderstand.\n\n\
         ## 3. Sign-off\n\n\
         Signed off: {date}\n\n\
         {record}"
    )
}

/// Returns whether a branch ends with the commit that completes the task.
///
/// # Errors
/// When the branch cannot be read.
pub(crate) fn is_finished(directory: &Utf8Path, name: &UnitName, task: &TaskId) -> Result<bool, Fault> {
    let reference = name.reference();
    let message = git(directory).bytes(&["log", "-1", "--format=%B", &reference, "--"])?;
    let trailers = task_trailers(&message, true);
    Ok(trailers.tasks.contains(&(name.spec.clone(), task.clone())))
}

/// Reviews a finished branch: it touches the task's files only, they pass the check, and no blank is astray.
///
/// # Errors
/// When the review finds something, or the branch cannot be read.
pub(crate) fn review(directory: &Utf8Path, name: &UnitName, task: &TaskId) -> Result<(), Fault> {
    let reference = name.reference();
    let fault = |cause: String| Fault::new(format!("cannot accept {}", name.branch()), cause);
    let git = git(directory);
    let script = project::script(task.as_str())?;
    let range = format!("refs/heads/main...{reference}");
    let names = git.bytes(&["diff", "--name-only", "-z", &range, "--"])?;
    for path in names.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
        if script.files.iter().all(|file| file.path.as_bytes() != path) {
            return Err(fault(format!(
                "it changes {}, which is no part of task {task}",
                String::from_utf8_lossy(path)
            )));
        }
    }
    git.text(&["diff", "--check", &range, "--"])?;
    let expected = git.bytes(&["cat-file", "blob", &format!("refs/heads/main:{}", script.check_path())])?;
    let read = |path: &str| {
        let output = git.run(&["cat-file", "blob", &format!("{reference}:{path}")], Input::Null)?;
        Ok(if output.success() { Some(output.stdout) } else { None })
    };
    match check::finding(script, &expected, read)? {
        Some(finding) => Err(fault(finding)),
        None => Ok(()),
    }
}

/// Returns how the person merges a task. Each way leaves the tower another kind of commit to recognise.
pub(crate) fn landing_of(task: &TaskId) -> Landing {
    match task.as_str() {
        "2" => Landing::Squash,
        "3" | "4" => Landing::MergeCommit,
        // Nothing else has landed since tasks 1 and 5 were started, so main can simply move on.
        _ => Landing::FastForward,
    }
}

/// Merges a reviewed branch into main and returns main's commit.
///
/// # Errors
/// When the primary checkout is not on main, or git refuses.
pub(crate) fn merge(directory: &Utf8Path, name: &UnitName, task: &TaskId) -> Result<CommitId, Fault> {
    let git = git(directory);
    let head = git.text(&["symbolic-ref", "HEAD"])?;
    if head != "refs/heads/main" {
        return Err(Fault::new(
            format!("cannot merge task {task}"),
            format!("{directory} is on {head}, not on main"),
        )
        .with_hint("do not touch the demo's repository before it has finished"));
    }
    let reference = name.reference();
    let title = project::script(task.as_str())?.title;
    match landing_of(task) {
        Landing::FastForward => {
            git.text(&["merge", "--quiet", "--ff-only", &reference])?;
        }
        Landing::MergeCommit => {
            let message = format!("Merge task {task}: {title}");
            git.text(&["merge", "--quiet", "--no-ff", "--message", &message, &reference])?;
        }
        Landing::Squash => {
            git.text(&["merge", "--quiet", "--squash", &reference])?;
            git.commit(&format!(
                "feat: {title}\n\nSquashed by a person.\n\nPlanwright-Task: {SPEC}/{task}\n"
            ))?;
        }
    }
    commit_at(directory, "refs/heads/main")
}

#[cfg(test)]
mod tests {
    use super::*;
    use orchestrate_spec::Status;
    use orchestrate_spec::brief::{Freshness, freshness, parse_sign_off};

    #[test]
    fn the_brief_holds_a_record_that_signs_the_texts() {
        let spec = SpecId::parse(SPEC).expect("spec");
        let texts = project::bundle_texts(project::BUNDLE.iter().copied());
        let record = render_sign_off(&spec, &texts, "somewhere").expect("record");
        let brief = brief("2026-11-29", &record);
        let parsed = parse_sign_off(&spec, brief.as_bytes()).expect("a record");
        assert_eq!(freshness(&parsed, &texts), Ok(Freshness::Matches));
    }

    #[test]
    fn a_draft_becomes_ready_in_every_file() {
        let ready: Vec<(BundleFile, String)> = project::BUNDLE
            .iter()
            .map(|(file, text)| (*file, text.replacen(DRAFT, READY, 1)))
            .collect();
        let texts = project::bundle_texts(ready.iter().map(|(file, text)| (*file, text.as_str())));
        let bundle = parse_bundle(&SpecId::parse(SPEC).expect("spec"), &texts).expect("well-formed");
        assert_eq!(bundle.status, Status::Ready);
    }

    #[test]
    fn every_way_of_merging_is_shown() {
        let mut shown: Vec<Landing> = project::SCRIPTS
            .iter()
            .map(|script| landing_of(&TaskId::parse(script.task).expect("task")))
            .collect();
        shown.sort();
        shown.dedup();
        assert_eq!(shown, Landing::ALL);
    }
}
