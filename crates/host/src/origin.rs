//! The fence at origin (architecture §6, "Fence"): asking for it, pushing it, and its commit.
//!
//! Every request is one run of `git`, bounded in time and without a terminal. A ref is made by a plain push and never
//! moved: nothing here can force one (law L1). What git says of each ref is read from its lines for machines, never
//! from its exit number, by which "already there" and "made" cannot be told apart (`contract/later.md §2.6`).

use std::collections::BTreeMap;
use std::time::Duration;

use camino::Utf8Path;
use git2::{ErrorCode, ObjectType, Oid, Signature, Time};
use orchestrate_core::evidence::{Base, Origin};
use orchestrate_core::identifier::{CommitId, Nonce, SpecId, UnitName, printable};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::record::fence::{self, Fence, OriginFence};
use orchestrate_core::world::{Fault, Pushed};

use crate::git::{commit_id, oid};
use crate::git_error;
use crate::process::{Output, RunOptions, run_bounded};
use crate::repository::Repository;

/// How long origin may take for one answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);
/// How long it may take for a push.
const PUSH_TIMEOUT: Duration = Duration::from_secs(30);
/// How much an answer may hold.
const ANSWER_LIMIT: usize = 16 * 1024 * 1024;
/// How many fences are fetched to be told by name; the others are told by their commits.
const MOST_NAMED: usize = 50;

/// Returns what tells this clone from others of the machine: where its git directory lies.
pub(crate) fn clone_id(common: &Utf8Path) -> Nonce {
    let digest = Oid::hash_object(ObjectType::Blob, common.as_str().as_bytes());
    let mut bytes = [0; 16];
    if let Ok(digest) = digest {
        bytes
            .iter_mut()
            .zip(digest.as_bytes())
            .for_each(|(byte, of)| *byte = *of);
    }
    Nonce::from_bytes(bytes)
}

/// Asks origin for the base, the bundle's task branches and its fences.
pub(crate) fn ask(repository: &Repository, git: Option<&Utf8Path>, spec: &SpecId, base: &Base) -> Observed<Origin> {
    let base_reference = format!("refs/heads/{}", base.name);
    let patterns = [
        base_reference.clone(),
        format!("refs/heads/planwright/{spec}/task-*"),
        format!("{}*", fence::prefix(spec)),
    ];
    let (place, found) = match listing(repository, git, &patterns) {
        Observed::Known(found) => found,
        Observed::Absent(why) => return Observed::Absent(why),
        Observed::Unknown(why) => return Observed::Unknown(why),
    };
    let mut origin = Origin::default();
    for (reference, commit) in found {
        if reference == base_reference {
            origin.base = Some(commit);
        } else if let Some(task) = fence::task_of(spec, &reference) {
            origin.fences.insert(task, OriginFence { commit, message: None });
        } else if reference.starts_with("refs/heads/")
            && let Ok(name) = UnitName::from_branch(&reference)
            && name.spec == *spec
        {
            origin.branches.insert(name.unit, commit);
        }
    }
    name_fences(repository, git, spec, &place, &mut origin);
    Observed::Known(origin)
}

/// Returns the refs of a listing; a line that is none is left out.
fn refs(listing: &[u8]) -> Refs {
    let text = String::from_utf8_lossy(listing);
    let read = |line: &str| {
        let (commit, reference) = line.split_once('\t')?;
        Some((reference.to_owned(), CommitId::parse(commit).ok()?))
    };
    text.lines().filter_map(read).collect()
}

/// Adds the messages of the fences' commits. Those of peers are fetched, which is tried once: a fence that cannot be
/// named is one all the same.
fn name_fences(repository: &Repository, git: Option<&Utf8Path>, spec: &SpecId, place: &str, origin: &mut Origin) {
    let missing = |fence: &OriginFence| message(repository, &fence.commit).is_none();
    let wanted: Vec<String> = origin
        .fences
        .iter()
        .filter(|(_, fence)| missing(fence))
        .map(|(task, _)| fence::reference(spec, task))
        .take(MOST_NAMED)
        .collect();
    if !wanted.is_empty() {
        let mut arguments = vec![
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--recurse-submodules=no",
            "--",
            place,
        ];
        arguments.extend(wanted.iter().map(String::as_str));
        // Whether it helped shows in what can be read now.
        let _ = run(repository, git, &arguments, ANSWER_TIMEOUT);
    }
    for fence in origin.fences.values_mut() {
        fence.message = message(repository, &fence.commit);
    }
}

fn message(repository: &Repository, commit: &CommitId) -> Option<Vec<u8>> {
    let commit = repository.git.find_commit(oid(commit).ok()?).ok()?;
    Some(commit.message_raw_bytes().to_vec())
}

/// Makes the commit of a fence: no parents, an empty tree, and everything in it taken from the fence, so that the same
/// fence gives the same commit.
///
/// # Errors
/// When it cannot be written.
pub fn create(repository: &Repository, fence: &Fence) -> Result<CommitId, Fault> {
    let make = || {
        let git = &repository.git;
        let signature = Signature::new(
            "orchestrate",
            "orchestrate@localhost",
            &Time::new(fence.made.seconds(), 0),
        )?;
        let tree = git.find_tree(git.treebuilder(None)?.write()?)?;
        commit_id(git.commit(None, &signature, &signature, &fence.message(), &tree, &[])?)
    };
    make().map_err(|error: git2::Error| git_error::fault("cannot write the commit of a fence", &error))
}

/// Pushes fences, each to its ref: all are made or none.
///
/// # Errors
/// When origin did not answer for every one of them: then each may have been made, or may yet be.
pub fn push(
    repository: &Repository,
    git: Option<&Utf8Path>,
    fences: &BTreeMap<String, CommitId>,
) -> Result<BTreeMap<String, Pushed>, Fault> {
    let refspecs: Vec<String> = fences
        .iter()
        .map(|(reference, commit)| format!("{commit}:{reference}"))
        .collect();
    let mut arguments = push_arguments(refspecs.len() > 1);
    arguments.push("origin");
    arguments.extend(refspecs.iter().map(String::as_str));
    let output = run(repository, git, &arguments, PUSH_TIMEOUT)?;
    let mut said = answers(&output.stdout);
    said.retain(|reference, _| fences.contains_key(reference));
    if let Some(word) = word_of_origin(&output.stderr) {
        for answer in said.values_mut() {
            if let Pushed::Refused { why } = answer {
                *why = format!("{why}: {word}");
            }
        }
    }
    let is_refused = said.values().any(|answer| matches!(answer, Pushed::Refused { .. }));
    if said.len() == fences.len() && (output.success() || is_refused) {
        Ok(said)
    } else {
        Err(Fault::new("cannot push the fence", output.message()))
    }
}

/// A hook of the person's looks at the person's work; a fence holds none, and a hook that runs the tests would make
/// every dispatch wait for them under the lock.
fn push_arguments(is_atomic: bool) -> Vec<&'static str> {
    let mut arguments = vec![
        "push",
        "--porcelain",
        "--no-verify",
        "--no-follow-tags",
        "--recurse-submodules=no",
    ];
    if is_atomic {
        arguments.push("--atomic");
    }
    arguments
}

/// Returns what a push said of each ref: `<flag> TAB <from>:<to> TAB <summary>`.
fn answers(listing: &[u8]) -> BTreeMap<String, Pushed> {
    let text = String::from_utf8_lossy(listing);
    let read = |line: &str| {
        let mut fields = line.split('\t');
        let (flag, refspec, summary) = (fields.next()?, fields.next()?, fields.next()?);
        let (_, to) = refspec.split_once(':')?;
        let answer = match flag {
            "*" => Pushed::Made,
            "=" => Pushed::Same,
            "!" => Pushed::Refused {
                why: printable(summary),
            },
            _ => return None,
        };
        Some((to.to_owned(), answer))
    };
    text.lines().filter_map(read).collect()
}

/// Returns the first line that origin itself said, as a hook of it does to tell what it wants.
fn word_of_origin(told: &[u8]) -> Option<String> {
    const LONGEST: usize = 200;
    let text = String::from_utf8_lossy(told);
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("remote:"));
    let line = lines.find(|line| !line.trim().is_empty())?;
    Some(printable(line.trim()).chars().take(LONGEST).collect())
}

/// Removes fences from origin, all or none, if they still lead to these commits. A single one that is gone, or another
/// one in its place, is no error.
///
/// # Errors
/// When origin did not confirm it.
pub fn delete(
    repository: &Repository,
    git: Option<&Utf8Path>,
    fences: &BTreeMap<String, CommitId>,
) -> Result<(), Fault> {
    let (leases, refspecs): (Vec<String>, Vec<String>) = fences.iter().map(leased_removal).unzip();
    let mut arguments = push_arguments(refspecs.len() > 1);
    arguments.extend(leases.iter().map(String::as_str));
    arguments.push("origin");
    arguments.extend(refspecs.iter().map(String::as_str));
    let output = run(repository, git, &arguments, PUSH_TIMEOUT)?;
    let is_another = || String::from_utf8_lossy(&output.stdout).contains("(stale info)");
    if output.success() || (fences.len() == 1 && is_another()) {
        Ok(())
    } else {
        let what: Vec<&str> = fences.keys().map(String::as_str).collect();
        let what = what.join(" ");
        Err(Fault::new(
            format!("cannot remove {what} from origin"),
            output.message(),
        ))
    }
}

/// Returns the condition and the refspec that remove a ref while it leads to that commit. To remove one needs no force:
/// the lease only adds the condition.
fn leased_removal((reference, commit): (&String, &CommitId)) -> (String, String) {
    (
        format!("--force-with-lease={reference}:{commit}"),
        format!(":{reference}"),
    )
}

/// Returns the fences at origin by their refs: those of one bundle, or of all; absent where there is no origin.
pub fn fences(
    repository: &Repository,
    git: Option<&Utf8Path>,
    spec: Option<&SpecId>,
) -> Observed<BTreeMap<String, CommitId>> {
    let below = spec.map_or_else(|| fence::NAMESPACE.to_owned(), fence::prefix);
    fence_refs(repository, git, &below).map(|mut found| {
        found.retain(|reference, _| reference.starts_with(&below) && fence::parts(reference).is_some());
        found
    })
}

/// Returns all refs at origin where fences are, those that are none and stand in the way of some included.
pub fn fences_and_obstacles(repository: &Repository, git: Option<&Utf8Path>) -> Observed<BTreeMap<String, CommitId>> {
    let above = fence::NAMESPACE.trim_end_matches('/');
    fence_refs(repository, git, fence::NAMESPACE).map(|mut found| {
        found.retain(|reference, _| reference.starts_with(fence::NAMESPACE) || reference == above);
        found
    })
}

/// Returns what is at origin below a name, and what has that very name. A pattern of git's also matches further down in
/// the names of others.
fn fence_refs(repository: &Repository, git: Option<&Utf8Path>, below: &str) -> Observed<BTreeMap<String, CommitId>> {
    let patterns = [format!("{below}*"), below.trim_end_matches('/').to_owned()];
    listing(repository, git, &patterns).map(|(_, found)| found.into_iter().collect())
}

type Refs = Vec<(String, CommitId)>;

/// Asks origin for refs by patterns, and returns where it was asked and what it has.
fn listing(repository: &Repository, git: Option<&Utf8Path>, patterns: &[String]) -> Observed<(String, Refs)> {
    let place = match place(repository) {
        Ok(Some(place)) => place,
        Ok(None) => return Observed::Absent(Why::new("there is no origin")),
        Err(fault) => return Observed::Unknown(Why::new(fault.to_string())),
    };
    let mut arguments = vec!["ls-remote", "--", place.as_str()];
    arguments.extend(patterns.iter().map(String::as_str));
    // An address may hold a password.
    let shows = if place == "origin" {
        "git ls-remote origin shows whether it answers"
    } else {
        "git ls-remote \"$(git remote get-url --push origin)\" shows whether it answers"
    };
    let why = match run(repository, git, &arguments, ANSWER_TIMEOUT) {
        Ok(output) if output.success() => {
            let found = refs(&output.stdout);
            return Observed::Known((place, found));
        }
        Ok(output) => output.message(),
        Err(fault) => fault.to_string(),
    };
    Observed::Unknown(Why::new(format!("origin cannot be asked: {why}")).with_hint(shows))
}

/// Returns where fences are pushed to, in git's words, so that they are asked for where they lie: `origin`, or the
/// address that it pushes to where that is another one. Nothing where there is no origin.
fn place(repository: &Repository) -> Result<Option<String>, Fault> {
    match repository.git.find_remote("origin") {
        Ok(remote) => {
            let other = remote.pushurl().ok().flatten().map(str::to_owned);
            Ok(Some(other.unwrap_or_else(|| "origin".to_owned())))
        }
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(git_error::fault("cannot read origin's address", &error)),
    }
}

fn run(
    repository: &Repository,
    git: Option<&Utf8Path>,
    arguments: &[&str],
    timeout: Duration,
) -> Result<Output, Fault> {
    let git = git.ok_or_else(|| Fault::new("cannot ask origin", "git is not on the search path"))?;
    let options = RunOptions {
        directory: Some(&repository.layout.primary),
        timeout,
        output_limit: ANSWER_LIMIT,
        ..RunOptions::default()
    };
    run_bounded(git, arguments, &options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_says_of_a_push_is_read_by_its_flags() {
        let said = answers(
            b"To ../o.git\n*\tabc:refs/a\t[new reference]\n=\tabc:refs/b\t[up to date]\n\
              !\tabc:refs/c\t[rejected] (fetch first)\n-\t:refs/d\t[deleted]\n*\ttorn\nDone\n",
        );
        let refused = Pushed::Refused {
            why: "[rejected] (fetch first)".to_owned(),
        };
        assert_eq!(
            said,
            BTreeMap::from([
                ("refs/a".to_owned(), Pushed::Made),
                ("refs/b".to_owned(), Pushed::Same),
                ("refs/c".to_owned(), refused),
            ])
        );
    }

    #[test]
    fn what_origin_says_of_a_refusal_is_its_first_line() {
        let said = |told: &[u8]| word_of_origin(told);
        assert_eq!(
            said(b"remote: \nremote: only\x1b heads here   \nremote: more\n"),
            Some("only heads here".to_owned())
        );
        assert_eq!(said(b"error: failed to push some refs\n"), None);
        assert_eq!(
            said("remote: \u{e4}".repeat(300).as_bytes()).map(|word| word.chars().count()),
            Some(200)
        );
    }

    #[test]
    fn a_listing_gives_refs_and_nothing_else() {
        let commit = "a".repeat(40);
        let listing = format!("{commit}\trefs/x\nwarning: y\n{commit}\nshort\trefs/z\n");
        let read = refs(listing.as_bytes());
        assert_eq!(read, [("refs/x".to_owned(), CommitId::parse(&commit).expect("commit"))]);
    }

    #[test]
    fn clones_at_two_places_are_two() {
        let id = |path: &str| clone_id(Utf8Path::new(path));
        assert_eq!(id("/a/.git"), id("/a/.git"));
        assert_ne!(id("/a/.git"), id("/b/.git"));
    }
}
