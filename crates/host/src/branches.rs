//! The task branches of a bundle as git has them, here and at the remotes. A branch that is there and cannot be read is
//! unknown for its own unit, and for no other (laws L4 and L12, decision 67). Owns no state.

use std::collections::{BTreeMap, BTreeSet};

use git2::{ErrorCode, Oid, Reference, ReferenceType, Repository};
use orchestrate_core::evidence::{Base, BranchFacts, BranchSide};
use orchestrate_core::identifier::{CommitId, SpecId, Unit, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::world::Branches;

use crate::git::{commit_id, oid};
use crate::git_error::why;
use crate::history::{self, Ahead, Commits, Memory};
use crate::obstacle::{self, Obstacles};
use crate::own;
use crate::reflog;
use crate::repository;

/// Returns the bundle's task branches, here and at origin.
pub(crate) fn branches(
    repository: &repository::Repository,
    memory: &Memory,
    spec: &SpecId,
    base: &Base,
    starts: &BTreeMap<Unit, CommitId>,
) -> Observed<Branches> {
    // Before libgit2 opens any of them.
    let obstacles = match obstacle::find(&repository.git, spec) {
        Ok(obstacles) => obstacles,
        Err(why) => return Observed::Unknown(why),
    };
    collect(repository, memory, (spec, obstacles), base, starts).map_or_else(
        |error| Observed::Unknown(why("cannot read the task branches", &error)),
        Observed::Known,
    )
}

fn collect(
    repository: &repository::Repository,
    memory: &Memory,
    (spec, obstacles): (&SpecId, Obstacles),
    base: &Base,
    starts: &BTreeMap<Unit, CommitId>,
) -> Result<Branches, git2::Error> {
    let (past, grafts) = history::past(repository, memory, base)?;
    let repository = &repository.git;
    let commits = Commits::open(repository, grafts)?;
    let mut ahead = Ahead::of(&past.commits, &commits);
    let mut branches = Branches::new();
    branches.unreadable = obstacles.by_unit;
    let mut yielded = BTreeSet::new();
    for pattern in [
        format!("refs/heads/planwright/{spec}/task-*"),
        format!("refs/remotes/*/planwright/{spec}/task-*"),
    ] {
        for reference in repository.references_glob(&pattern)? {
            let reference = reference?;
            let name = String::from_utf8_lossy(reference.name_bytes()).into_owned();
            let Some((side, unit)) = task_branch(&name) else {
                if let Some(unit) = unit_above(&name) {
                    branches
                        .unreadable
                        .entry(unit)
                        .or_insert_with(|| obstacle::beneath(&name));
                }
                continue;
            };
            yielded.insert(name.clone());
            if side == BranchSide::Local && obstacles.local.contains(&unit.unit) {
                continue;
            }
            let tip = match tip(repository, &name, &reference) {
                Ok(tip) => tip,
                Err(why) => {
                    branches.unreadable.insert(unit.unit, why);
                    continue;
                }
            };
            let own = match side {
                BranchSide::Local => own::commits(repository, (&name, tip), starts.get(&unit.unit), base),
                BranchSide::Remote => own_at_remote(repository, tip, (&unit, branches.by_unit.get(&unit.unit)))?,
            };
            let ahead = match ahead.count(history::id(tip)?) {
                Ok(ahead) => ahead,
                Err(error) => {
                    let why = why(&format!("cannot walk {name}"), &error);
                    branches.unreadable.insert(unit.unit, why);
                    continue;
                }
            };
            let facts = BranchFacts {
                side,
                tip: commit_id(tip)?,
                ahead,
                own,
            };
            branches.by_unit.entry(unit.unit).or_default().push(facts);
        }
    }
    for broken in loose_task_branches(repository, spec).filter(|name| !yielded.contains(name)) {
        if let Some((_, unit)) = task_branch(&broken) {
            let why = Why::new(format!("{broken} is there and names no commit")).with_hint(format!(
                "write its commit into it, or give the branch up: {}",
                obstacle::take_away(repository.commondir(), &broken)
            ));
            branches.unreadable.entry(unit.unit).or_insert(why);
        }
    }
    Ok(branches)
}

/// Returns the commits that a remote branch has of its own, where a branch that a dispatch of this clone made holds all
/// that it has: the unit had not landed then. A branch that somebody made of the remote one tells nothing, and else
/// nothing tells where it started.
fn own_at_remote(
    repository: &Repository,
    tip: Oid,
    (unit, here): (&UnitName, Option<&Vec<BranchFacts>>),
) -> Result<Observed<Vec<CommitId>>, git2::Error> {
    for facts in here.into_iter().flatten() {
        let holds = |by: Oid, what: Oid| Ok::<_, git2::Error>(by == what || repository.graph_descendant_of(by, what)?);
        if let (BranchSide::Local, Observed::Known(own)) = (facts.side, &facts.own)
            && holds(oid(&facts.tip)?, tip)?
            && reflog::is_made_by_dispatch(repository, &unit.reference())?
        {
            let mut shared = Vec::new();
            for commit in own {
                if holds(tip, oid(commit)?)? {
                    shared.push(commit.clone());
                }
            }
            return Ok(Observed::Known(shared));
        }
    }
    Ok(Observed::Absent(Why::new(
        "a remote branch does not say where it started",
    )))
}

/// Returns the commit that a ref leads to.
///
/// # Errors
/// With what it is instead, and how to give it up.
fn tip(repository: &Repository, name: &str, reference: &Reference<'_>) -> Result<Oid, Why> {
    let error = match reference.peel_to_commit() {
        Ok(tip) => return Ok(tip.id()),
        Err(error) => error,
    };
    let give_up = format!("give the branch up: git update-ref --no-deref -d {name}");
    let Ok(resolved) = reference.resolve() else {
        let target = reference.symbolic_target().ok().flatten().unwrap_or_default();
        return Err(match reference.kind() {
            Some(ReferenceType::Symbolic) => Why::new(format!(
                "{name} is a symbolic ref to {target}, which leads to no commit"
            ))
            .with_hint(give_up),
            Some(ReferenceType::Direct) | None => why(&format!("cannot read {name}"), &error),
        });
    };
    let object = resolved.target().map(|target| repository.find_object(target, None));
    Err(match object {
        Some(Ok(object)) => {
            let kind = object.kind().map_or("an object", |kind| match kind {
                git2::ObjectType::Tree => "a tree",
                git2::ObjectType::Blob => "a blob",
                git2::ObjectType::Tag => "a tag of something else",
                git2::ObjectType::Any | git2::ObjectType::Commit => "an object",
            });
            Why::new(format!("{name} names {kind}, no commit")).with_hint(give_up)
        }
        Some(Err(missing)) if missing.code() == ErrorCode::NotFound => {
            Why::new(format!("{name} names a commit that is not here")).with_hint(format!("fetch it, or {give_up}"))
        }
        Some(Err(error)) => why(&format!("cannot read what {name} names"), &error),
        None => why(&format!("cannot read {name}"), &error),
    })
}

/// Returns the side and the unit of a task branch's full name; any remote's branch counts, whatever its name.
pub(crate) fn task_branch(name: &str) -> Option<(BranchSide, UnitName)> {
    if let Some(short) = name.strip_prefix("refs/heads/") {
        return UnitName::from_branch(short).ok().map(|unit| (BranchSide::Local, unit));
    }
    let remote = name.strip_prefix("refs/remotes/")?;
    let short = remote.get(remote.find("/planwright/")? + 1..)?;
    UnitName::from_branch(short).ok().map(|unit| (BranchSide::Remote, unit))
}

/// Returns the unit beneath whose branch a local ref's full name lies.
fn unit_above(name: &str) -> Option<Unit> {
    let short = name.strip_prefix("refs/heads/")?;
    let (end, _) = short.match_indices('/').nth(2)?;
    UnitName::from_branch(short.get(..end)?).ok().map(|unit| unit.unit)
}

/// Returns the names of the task branches that lie in files of their own. libgit2 leaves out those it cannot read, and
/// a ref that cannot be read is not one that is not there (law L4).
fn loose_task_branches(repository: &Repository, spec: &SpecId) -> impl Iterator<Item = String> {
    let common = repository.commondir().to_path_buf();
    let mut directories = vec![format!("refs/heads/planwright/{spec}")];
    let remotes = std::fs::read_dir(common.join("refs/remotes"))
        .into_iter()
        .flatten()
        .flatten();
    let remotes = remotes.filter_map(|entry| entry.file_name().into_string().ok());
    directories.extend(remotes.map(|remote| format!("refs/remotes/{remote}/planwright/{spec}")));
    directories.into_iter().flat_map(move |directory| {
        let files = std::fs::read_dir(common.join(&directory))
            .into_iter()
            .flatten()
            .flatten();
        files.filter_map(move |entry| {
            let name = format!("{directory}/{}", entry.file_name().into_string().ok()?);
            let is_branch = entry.file_type().is_ok_and(|kind| kind.is_file()) && task_branch(&name).is_some();
            is_branch.then_some(name)
        })
    })
}
