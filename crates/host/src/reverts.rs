//! What the reverts on base undo: their targets in the graph, and which reverts were undone themselves.
//!
//! A revert counts only for what lies in its own history, so that no message can undo what came after it.

use std::collections::{BTreeMap, BTreeSet};

use git2::{ErrorCode, Oid, Repository};
use orchestrate_core::evidence::Base;
use orchestrate_core::revert::{Named, NamedCommit, Reverts, pull_request_of};

use crate::git::{commit_id, oid};

/// One revert on base: which commits it undoes, all that a merge brought in among them.
struct Revert {
    by: Oid,
    undoes: BTreeSet<Oid>,
    pull_requests: Vec<u64>,
}

/// Resolves what the messages name. Each commit is on base or its counterpart.
pub(crate) fn resolve(
    repository: &Repository,
    base: &Base,
    reverting: &[(Oid, Named)],
) -> Result<Reverts, git2::Error> {
    let wanted: BTreeSet<u64> = reverting
        .iter()
        .flat_map(|(_, named)| named.pull_requests.iter().copied())
        .collect();
    let merges = if wanted.is_empty() {
        BTreeMap::new()
    } else {
        merges_of(repository, base, &wanted)?
    };
    let mut reverts = Vec::new();
    for (by, named) in reverting {
        let mut undoes = BTreeSet::new();
        for commit in &named.commits {
            undoes.extend(undone_by(repository, *by, commit)?);
        }
        for merged in named.pull_requests.iter().filter_map(|number| merges.get(number)) {
            let commit = NamedCommit {
                commit: merged.to_string(),
                mainline: None,
            };
            undoes.extend(undone_by(repository, *by, &commit)?);
        }
        reverts.push(Revert {
            by: *by,
            undoes,
            pull_requests: named.pull_requests.clone(),
        });
    }
    let mut resolved = Reverts::default();
    for revert in reverts.iter().filter(|revert| !is_undone(revert.by, &reverts)) {
        let by = commit_id(revert.by)?;
        for commit in &revert.undoes {
            resolved
                .commits
                .entry(commit_id(*commit)?)
                .or_insert_with(|| by.clone());
        }
        for number in &revert.pull_requests {
            resolved.pull_requests.entry(*number).or_insert_with(|| by.clone());
        }
    }
    Ok(resolved)
}

/// A revert is undone by one that stands. What undoes a commit comes after it, so this ends.
fn is_undone(commit: Oid, reverts: &[Revert]) -> bool {
    reverts
        .iter()
        .any(|revert| revert.undoes.contains(&commit) && !is_undone(revert.by, reverts))
}

/// Returns the commits by which the pull requests came to base, as the subjects there tell.
fn merges_of(repository: &Repository, base: &Base, wanted: &BTreeSet<u64>) -> Result<BTreeMap<u64, Oid>, git2::Error> {
    let mut walk = repository.revwalk()?;
    walk.push(oid(&base.commit)?)?;
    if let Some(counterpart) = &base.counterpart {
        walk.push(oid(counterpart)?)?;
    }
    let mut found = BTreeMap::new();
    for id in walk {
        let id = id?;
        let number = pull_request_of(repository.find_commit(id)?.message_raw_bytes());
        if let Some(number) = number.filter(|number| wanted.contains(number)) {
            found.insert(number, id);
        }
    }
    Ok(found)
}

/// Returns what a revert of that commit undoes: it, and what it brought in where it is a merge. Nothing when it is not in
/// the revert's history, or no single commit is meant.
fn undone_by(repository: &Repository, by: Oid, named: &NamedCommit) -> Result<Vec<Oid>, git2::Error> {
    let target = match repository.find_commit_by_prefix(&named.commit) {
        Ok(target) => target,
        Err(error) if matches!(error.code(), ErrorCode::NotFound | ErrorCode::Ambiguous) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    if !repository.graph_descendant_of(by, target.id())? {
        return Ok(Vec::new());
    }
    if target.parent_count() < 2 {
        return Ok(vec![target.id()]);
    }
    let is_mainline = |parent: &Oid| match &named.mainline {
        Some(mainline) => parent.to_string().starts_with(mainline.as_str()),
        None => false,
    };
    let mainline = target
        .parent_ids()
        .find(is_mainline)
        .map_or_else(|| target.parent_id(0), Ok)?;
    let mut walk = repository.revwalk()?;
    walk.push(target.id())?;
    walk.hide(mainline)?;
    walk.collect()
}
