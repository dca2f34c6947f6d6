//! Which commits are a branch's own: those that were committed on it since it was made, as its reflog tells.
//!
//! What the branch merged from base is not its own, and what it was moved away from by a reset or a pull still is, if base
//! holds it. Owns no state.

use std::collections::BTreeSet;

use git2::{Oid, Repository};
use orchestrate_core::evidence::Base;
use orchestrate_core::identifier::CommitId;
use orchestrate_core::observed::{Observed, Why};

use crate::git::{between, commit_id, oid};
use crate::git_error::why;
use crate::reflog::{self, Entry};

/// Returns the commits that a branch has of its own, by its reflog. `recorded` is where our dispatch started it.
///
/// Absent where nothing tells. Unknown too where it has nothing but merges: these bring the work of others.
pub(crate) fn commits(
    repository: &Repository,
    (reference, tip): (&str, Oid),
    recorded: Option<&CommitId>,
    base: &Base,
) -> Observed<Vec<CommitId>> {
    let recorded = recorded.and_then(|commit| oid(commit).ok());
    let read = match read(repository, reference, recorded) {
        Ok(read) => read,
        Err(error) => return Observed::Unknown(why("cannot read the branch's reflog", &error)),
    };
    let Some(start) = read.start else {
        // Nothing tells how the branch came from its recorded start to where it is, if it has moved at all.
        return if recorded == Some(tip) {
            Observed::Known(Vec::new())
        } else {
            Observed::Absent(Why::new("the reflog does not tell how it came to be where it is"))
        };
    };
    since(repository, tip, start, &read, base)
        .unwrap_or_else(|error| Observed::Unknown(why("cannot walk the branch", &error)))
}

/// What the reflog tells.
struct Life {
    /// The commit behind which everything was committed on the branch: where it was made, or last moved to.
    start: Option<Oid>,
    /// Every commit that was made on it, moved away from or not.
    made: BTreeSet<Oid>,
    /// Every rebase of it: where it came to, and what it was put onto.
    rebased: Vec<(Oid, Oid)>,
}

fn read(repository: &Repository, reference: &str, recorded: Option<Oid>) -> Result<Life, git2::Error> {
    let mut life = Life {
        start: None,
        made: BTreeSet::new(),
        rebased: Vec::new(),
    };
    // Reading a reflog that is not there would make an empty one.
    if !repository.reference_has_log(reference)? {
        return Ok(life);
    }
    let reflog = repository.reflog(reference)?;
    let (mut oldest, mut decided) = (None, false);
    for entry in reflog.iter() {
        let message = entry.message_bytes().map(String::from_utf8_lossy).unwrap_or_default();
        let start = match reflog::read(&message) {
            Entry::Commit => {
                life.made.insert(entry.id_new());
                oldest = Some(entry.id_old());
                continue;
            }
            Entry::Move => Some(entry.id_new()),
            Entry::RebasedOnto(commit) => {
                let onto = Oid::from_str(commit)?;
                life.rebased.push((entry.id_new(), onto));
                Some(onto)
            }
            Entry::Other => None,
        };
        if !decided {
            (life.start, decided) = (start, true);
        }
    }
    if !decided {
        // All are commits. They tell the whole way only if they begin where the dispatch did.
        life.start = oldest.filter(|oldest| Some(*oldest) == recorded);
    }
    Ok(life)
}

fn since(
    repository: &Repository,
    tip: Oid,
    start: Oid,
    life: &Life,
    base: &Base,
) -> Result<Observed<Vec<CommitId>>, git2::Error> {
    let own = between(repository, tip, &[start])?;
    if own.is_empty() {
        return left_on_base(repository, tip, life, base).map(Observed::Known);
    }
    let line = first_parents(repository, tip, start)?;
    let merges = line.iter().filter(|id| !is_work(repository, **id)).count();
    if merges == 0 {
        return Ok(Observed::Known(own));
    }
    if merges == line.len() {
        return Ok(Observed::Unknown(Why::new("it has nothing but merges")));
    }
    let mut hidden = beside(repository, tip, &line, base)?;
    hidden.push(start);
    between(repository, tip, &hidden).map(Observed::Known)
}

/// Returns whether a commit is there and is no merge.
fn is_work(repository: &Repository, commit: Oid) -> bool {
    repository
        .find_commit(commit)
        .is_ok_and(|found| found.parent_count() < 2)
}

/// Returns the commits that were made on the branch before it was moved to where it has none, and that are on base: a
/// branch that has landed and was then pulled, reset or rebased has still landed.
fn left_on_base(repository: &Repository, tip: Oid, life: &Life, base: &Base) -> Result<Vec<CommitId>, git2::Error> {
    let mut made = life.made.clone();
    for (rebased, onto) in &life.rebased {
        // What was moved away from long ago may have been pruned; then base does not hold it.
        if let Ok(commits) = between(repository, *rebased, &[*onto]) {
            for commit in commits {
                made.insert(oid(&commit)?);
            }
        }
    }
    let mut left = Vec::new();
    if made.is_empty() || !is_on(repository, tip, base)? {
        return Ok(left);
    }
    for commit in made {
        if is_work(repository, commit) && is_on(repository, commit, base)? {
            left.push(commit_id(commit)?);
        }
    }
    Ok(left)
}

fn ends(base: &Base) -> impl Iterator<Item = &CommitId> {
    std::iter::once(&base.commit).chain(&base.counterpart)
}

fn is_on(repository: &Repository, commit: Oid, base: &Base) -> Result<bool, git2::Error> {
    for end in ends(base) {
        let end = oid(end)?;
        if end == commit || repository.graph_descendant_of(end, commit)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the commits from the tip back to the start, each one's first parent next.
fn first_parents(repository: &Repository, tip: Oid, start: Oid) -> Result<Vec<Oid>, git2::Error> {
    let mut walk = repository.revwalk()?;
    walk.simplify_first_parent()?;
    walk.push(tip)?;
    walk.hide(start)?;
    walk.collect()
}

/// Returns what base was when the branch first came to it: the other parents of the merge that brought it. What lies behind
/// them came from base, though the branch merged it too.
fn beside(repository: &Repository, tip: Oid, line: &[Oid], base: &Base) -> Result<Vec<Oid>, git2::Error> {
    let mut walk = repository.revwalk()?;
    for end in ends(base) {
        walk.push(oid(end)?)?;
    }
    walk.hide(tip)?;
    let mut beside = Vec::new();
    for id in walk {
        let parents: Vec<Oid> = repository.find_commit(id?)?.parent_ids().collect();
        if parents.iter().any(|parent| line.contains(parent)) {
            beside.extend(parents.into_iter().filter(|parent| !line.contains(parent)));
        }
    }
    // A base that had some of the branch already cannot tell what is whose.
    let mut pure = Vec::new();
    for commit in beside {
        let has_some = match line.last() {
            Some(oldest) => repository.graph_descendant_of(commit, *oldest)?,
            None => false,
        };
        if !has_some {
            pure.push(commit);
        }
    }
    Ok(pure)
}
