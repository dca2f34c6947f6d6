//! Whether a branch's changes are on base under other commits: by patch-id, and file by file.

mod answers;
mod changes;
mod held;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use git2::{ErrorCode, Oid, Tree};
use orchestrate_core::content::Content;
use orchestrate_core::evidence::Base;
use orchestrate_core::identifier::CommitId;
use orchestrate_core::observed::{Observed, Why};

use crate::git::{commit_id, oid};
use crate::git_error;
use crate::history::{self, Grafts, Memory, Past, Span};
use crate::repository::Repository;

pub(crate) use answers::Answers;
pub(crate) use changes::Changes;

/// So many commits of base are compared with a branch at most.
const MOST_COMPARED: usize = 10_000;

/// A change that is looked for on base.
struct Wanted<'repository> {
    from: Tree<'repository>,
    to: Tree<'repository>,
    paths: changes::Paths,
    patch: Oid,
    /// The commit of base that makes the same change.
    found: Option<Oid>,
}

/// Compares the commits of a tip that are not on base with base.
pub(crate) fn compare(repository: &Repository, memory: &Memory, tip: &CommitId, base: &Base) -> Observed<Content> {
    match answer(repository, memory, tip, base) {
        Ok(Some(content)) => Observed::Known(content),
        Ok(None) => Observed::Unknown(
            Why::new(format!(
                "{} has gone on by more than {MOST_COMPARED} commits since, which are not compared one by one",
                base.name
            ))
            .with_hint(format!("merge {} into the branch", base.name)),
        ),
        Err(error) => Observed::Unknown(git_error::why(
            &format!("cannot compare the branch's changes with {}", base.name),
            &error,
        )),
    }
}

/// Returns what is known, else what a comparison finds; nothing when base has gone on too far.
fn answer(
    repository: &Repository,
    memory: &Memory,
    tip: &CommitId,
    base: &Base,
) -> Result<Option<Content>, git2::Error> {
    let (past, grafts) = history::past(repository, memory, base)?;
    let layout = &repository.layout;
    memory.answers.begin(layout, base, &grafts);
    if let Some(content) = memory.answers.get(tip) {
        return Ok(Some(content));
    }
    let mut looked_at = 0;
    let content = compared(repository, memory, (tip, base), (&past, grafts), &mut looked_at);
    if let Ok(Some(content)) = &content {
        memory.answers.add(tip, content, looked_at);
    }
    content
}

fn compared(
    repository: &Repository,
    memory: &Memory,
    (tip, base): (&CommitId, &Base),
    (past, grafts): (&Past, Rc<Grafts>),
    looked_at: &mut usize,
) -> Result<Option<Content>, git2::Error> {
    let (git, changes) = (&repository.git, &memory.changes);
    changes.begin(&repository.layout, &grafts);
    let span = Span::of(past, git, grafts, &memory.parents, oid(tip)?)?;
    let tip = git.find_commit(oid(tip)?)?;
    let Some(fork) = fork(git, &span, tip.id(), base)? else {
        return Ok(Some(Content::Different));
    };
    let Some(mut whole) = wanted(git, git.find_commit(fork)?.tree()?, tip.tree()?)? else {
        return Ok(Some(Content::Different));
    };
    let mut own = own_changes(git, &span.own)?;
    let Some(since) = span.since(&ends(base)?, fork, MOST_COMPARED)? else {
        return Ok(None);
    };
    *looked_at = since.len();
    for commit in since {
        let sought = own.iter_mut().flatten().chain(std::iter::once(&mut whole));
        for wanted in sought.filter(|wanted| wanted.found.is_none()) {
            if changes.touches(git, &memory.parents, commit, &wanted.paths)?
                && changes.patch(git, commit)? == wanted.patch
                && wanted.is_held(git, &git.find_commit(commit)?.tree()?)?
            {
                wanted.found = Some(commit);
            }
        }
    }
    if let Some(own) = &own {
        let found: Option<Vec<Oid>> = own.iter().map(|wanted| wanted.found).collect();
        if let Some(found) = found.filter(|found| !found.is_empty()) {
            let found = found.into_iter().map(commit_id).collect::<Result<_, _>>()?;
            return Ok(Some(Content::Rebased(found)));
        }
    }
    if let Some(found) = whole.found {
        return Ok(Some(Content::Squashed(commit_id(found)?)));
    }
    for end in ends(base)? {
        if holds(&git.find_commit(end)?.tree()?, &tip.tree()?, &whole.paths)? {
            return Ok(Some(Content::Contained));
        }
    }
    Ok(Some(Content::Different))
}

fn ends(base: &Base) -> Result<Vec<Oid>, git2::Error> {
    std::iter::once(&base.commit)
        .chain(&base.counterpart)
        .map(oid)
        .collect()
}

/// Returns where the branch left base, nothing when they have no common history.
fn fork(repository: &git2::Repository, span: &Span<'_>, tip: Oid, base: &Base) -> Result<Option<Oid>, git2::Error> {
    match span.forks.as_slice() {
        [] => Ok(None),
        // Usually base was left once, and the graph need not be asked.
        [only] => Ok(Some(*only)),
        _ => {
            for end in ends(base)? {
                match repository.merge_base(end, tip) {
                    Ok(fork) => return Ok(Some(fork)),
                    Err(error) if error.code() == ErrorCode::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(None)
        }
    }
}

/// Returns the changes of the commits that are not on base, without those that change nothing. Nothing where one of them
/// is a merge: its change is none of its own.
fn own_changes<'repository>(
    repository: &'repository git2::Repository,
    commits: &[Oid],
) -> Result<Option<Vec<Wanted<'repository>>>, git2::Error> {
    let mut own = Vec::new();
    for commit in commits {
        let commit = repository.find_commit(*commit)?;
        if commit.parent_count() != 1 {
            return Ok(None);
        }
        own.extend(wanted(repository, commit.parent(0)?.tree()?, commit.tree()?)?);
    }
    Ok(Some(own))
}

/// Returns what is looked for; a change of nothing is on every base, so it is none.
fn wanted<'repository>(
    repository: &'repository git2::Repository,
    from: Tree<'repository>,
    to: Tree<'repository>,
) -> Result<Option<Wanted<'repository>>, git2::Error> {
    let diff = changes::between(repository, &from, &to)?;
    let paths = changes::Paths::of(&diff);
    if paths.all.is_empty() {
        return Ok(None);
    }
    let patch = changes::patch_of(&diff)?;
    Ok(Some(Wanted {
        from,
        to,
        paths,
        patch,
        found: None,
    }))
}

impl Wanted<'_> {
    /// Returns whether the change is in a tree, byte for byte and at its place.
    fn is_held(&self, repository: &git2::Repository, tree: &Tree<'_>) -> Result<bool, git2::Error> {
        for path in &self.paths.all {
            let file = held::File {
                before: entry(&self.from, path)?,
                after: entry(&self.to, path)?,
                there: entry(tree, path)?,
            };
            if !file.is_held(repository)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns whether base's tree has each of the paths exactly as the tip's.
fn holds(base: &Tree<'_>, tip: &Tree<'_>, paths: &changes::Paths) -> Result<bool, git2::Error> {
    for path in &paths.all {
        if entry(base, path)? != entry(tip, path)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn entry(tree: &Tree<'_>, path: &[u8]) -> Result<Option<held::Entry>, git2::Error> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(path));
    match tree.get_path(path) {
        Ok(entry) => Ok(Some((entry.id(), entry.filemode()))),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
