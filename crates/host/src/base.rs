//! Naming the base: the branch that work lands on (architecture §6, "Base and start").
//!
//! HEAD and `init.defaultBranch` never name it, and only full ref names are asked for: a tag may share a short one.

use git2::{ErrorCode, Repository};
use orchestrate_core::evidence::{AtOrigin, Base, BaseSource};
use orchestrate_core::identifier::{BaseName, CommitId};
use orchestrate_core::world::Fault;

use crate::git::resolve;
use crate::git_error;
use crate::obstacle;
use crate::shell;

/// What names the base, read from outside the repository.
pub(crate) struct BaseQuestion<'a> {
    /// `PLANWRIGHT_BASE_REF`.
    pub(crate) environment: Option<&'a str>,
    /// The key `base_branch`.
    pub(crate) configured: Option<&'a BaseName>,
    /// What origin said of its HEAD when it was last asked, read only when nothing else names the base.
    pub(crate) remote_head: &'a dyn Fn() -> Option<BaseName>,
}

/// Returns the base by the order of architecture §6.
pub(crate) fn resolve_base(repository: &Repository, question: &BaseQuestion<'_>) -> Result<Base, Fault> {
    let operation = "cannot resolve the base branch";
    let hint = "set base_branch in .claude/planwright.yml, or PLANWRIGHT_BASE_REF";
    if let Some(text) = question.environment.filter(|text| !text.is_empty()) {
        let short = text.strip_prefix("refs/heads/").unwrap_or(text);
        let short = short.strip_prefix("refs/remotes/").unwrap_or(short);
        let name = BaseName::parse(short.strip_prefix("origin/").unwrap_or(short))
            .map_err(|error| Fault::new(operation, format!("PLANWRIGHT_BASE_REF is {error}")))?;
        return named(repository, name, BaseSource::Environment, operation, hint);
    }
    if let Some(name) = question.configured {
        return named(repository, name.clone(), BaseSource::Configuration, operation, hint);
    }
    let git_fault = |error: git2::Error| git_error::fault(operation, &error);
    if let Some(name) = origin_head(repository).map_err(git_fault)? {
        return named(repository, name, BaseSource::OriginHead, operation, hint);
    }
    if repository.find_remote("origin").is_ok()
        && let Some(name) = (question.remote_head)()
        && let Ok(base) = named(repository, name, BaseSource::RemoteHead, operation, hint)
    {
        return Ok(base);
    }
    let candidates = candidates(repository).map_err(git_fault)?;
    match candidates.as_slice() {
        [only] => named(repository, only.clone(), BaseSource::OnlyCandidate, operation, hint),
        [] => Err(lost_branches(repository, operation).unwrap_or_else(|| {
            Fault::new(
                operation,
                "there is no branch named main, master or develop, and origin names none",
            )
            .with_hint(format!("commit something first, or {hint}"))
        })),
        several => {
            let names: Vec<&str> = several.iter().map(BaseName::as_str).collect();
            Err(Fault::new(operation, format!("it could be any of {}", names.join(", "))).with_hint(hint))
        }
    }
}

fn named(
    repository: &Repository,
    name: BaseName,
    source: BaseSource,
    operation: &str,
    hint: &str,
) -> Result<Base, Fault> {
    let fault = |error: git2::Error| git_error::fault(operation, &error);
    let local = resolve(repository, &format!("refs/heads/{name}")).map_err(fault)?;
    let counterpart = counterpart(repository, &name).map_err(fault)?;
    let has_origin = repository.find_remote("origin").is_ok();
    let (counterpart, origin) = match counterpart {
        Some((commit, true)) if has_origin => (Some(commit), AtOrigin::Has),
        Some((commit, _)) => (Some(commit), AtOrigin::NotAsked),
        None if has_origin => (None, AtOrigin::Lacks),
        None => (None, AtOrigin::NotAsked),
    };
    match local.or_else(|| counterpart.clone()) {
        Some(commit) => Ok(Base {
            name,
            source,
            commit,
            counterpart,
            origin,
        }),
        None => Err(lost_branches(repository, operation).unwrap_or_else(|| {
            Fault::new(operation, format!("there is no branch {name}, here or at origin")).with_hint(hint)
        })),
    }
}

/// Returns why no branch is there where a crash emptied the file of packed ones, which git never leaves empty.
fn lost_branches(repository: &Repository, operation: &str) -> Option<Fault> {
    let packed = std::fs::metadata(repository.commondir().join("packed-refs")).ok()?;
    if packed.len() > 0 {
        return None;
    }
    let fault = Fault::new(
        operation,
        ".git/packed-refs is empty: the branches that it held are lost",
    );
    let last = repository
        .reflog("HEAD")
        .ok()
        .and_then(|log| log.iter().next().map(|entry| entry.id_new()));
    let head = repository.find_reference("HEAD").ok()?;
    let hint = match (last, head.symbolic_target().ok().flatten()) {
        (Some(commit), Some(branch)) => format!(
            "the checkout was last at this commit: git update-ref {} {commit}; .git/logs/refs names the others",
            shell::word(branch)
        ),
        (_, _) => "fetch them, or copy the file from another clone".to_owned(),
    };
    Some(fault.with_hint(hint))
}

/// Returns the commit of the branch's remote-tracking counterpart, and whether it is origin's: its upstream, else origin's
/// branch of that name.
fn counterpart(repository: &Repository, name: &BaseName) -> Result<Option<(CommitId, bool)>, git2::Error> {
    if let Ok(upstream) = repository.branch_upstream_name(&format!("refs/heads/{name}"))
        && let Ok(upstream) = std::str::from_utf8(&upstream)
        && upstream.starts_with("refs/remotes/")
        && let Some(commit) = resolve(repository, upstream)?
    {
        return Ok(Some((commit, upstream.starts_with("refs/remotes/origin/"))));
    }
    let tracking = resolve(repository, &format!("refs/remotes/origin/{name}"))?;
    Ok(tracking.map(|commit| (commit, true)))
}

pub(crate) fn origin_head(repository: &Repository) -> Result<Option<BaseName>, git2::Error> {
    let name = "refs/remotes/origin/HEAD";
    obstacle::refuse_special(repository.commondir(), &[name]).map_err(|why| git_error::of(&why))?;
    match repository.find_reference(name) {
        Ok(head) => Ok(head
            .symbolic_target()
            .ok()
            .flatten()
            .and_then(|target| target.strip_prefix("refs/remotes/origin/"))
            .and_then(|name| BaseName::parse(name).ok())),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn candidates(repository: &Repository) -> Result<Vec<BaseName>, git2::Error> {
    let mut found = Vec::new();
    for name in ["main", "master", "develop"] {
        let here = resolve(repository, &format!("refs/heads/{name}"))?.is_some();
        let there = resolve(repository, &format!("refs/remotes/origin/{name}"))?.is_some();
        if here || there {
            found.extend(BaseName::parse(name).ok());
        }
    }
    Ok(found)
}
