//! The walk: all commits of some tips that are not known yet, and what their messages say.

use std::collections::{BTreeSet, HashMap, HashSet};

use orchestrate_core::revert::{self, Named};
use orchestrate_core::trailer::{TaskTrailers, task_trailers};

use super::commits::{Commits, Id};
use super::undone::{self, Graph};
use super::{Past, Place, Set, Trailers};

/// What a walk saw, besides the graph.
#[derive(Default)]
struct Seen {
    trailers: Vec<(usize, TaskTrailers)>,
    reverting: Vec<(usize, Named)>,
    /// Commits whose subject names a pull request.
    merges: Vec<(u64, usize)>,
}

/// What the tips have beyond what is known.
struct Beyond {
    graph: Graph,
    seen: Seen,
    heads: Vec<Id>,
}

/// What a walk found.
pub(super) struct Walked {
    /// All that the tips hold.
    pub(super) past: Past,
    /// The commits that were read.
    pub(super) graph: Graph,
    /// Every commit was: the graph has the parents of all.
    pub(super) is_complete: bool,
}

/// Returns all that the tips hold. What is known of an older state spares the walk through it, as far as that state is
/// part of the new one.
pub(super) fn walk(commits: &Commits<'_>, tips: &[Id], known: Past) -> Result<Walked, git2::Error> {
    if let Some(beyond) = beyond(commits, tips, &known)? {
        return Ok(joined(known, beyond));
    }
    let nothing = Past::default();
    match beyond(commits, tips, &nothing)? {
        Some(beyond) => Ok(joined(nothing, beyond)),
        None => Err(git2::Error::from_str("the walk has no beginning")),
    }
}

/// Returns nothing when the tips do not hold all that is known, or when one of the new commits undoes something: what it
/// undoes is looked for in the graph of everything.
fn beyond(commits: &Commits<'_>, tips: &[Id], known: &Past) -> Result<Option<Beyond>, git2::Error> {
    let mut graph = Graph::default();
    let mut seen = Seen::default();
    let (known_tips, new_tips): (Vec<Id>, Vec<Id>) = tips.iter().partition(|tip| known.commits.contains(tip));
    for tip in new_tips {
        graph.index_of(tip);
    }
    // The known commits that new ones come right after.
    let mut met = BTreeSet::new();
    let mut next = 0;
    while let Some(id) = graph.ids.get(next).copied() {
        let commit = commits.read(&id)?;
        seen.look_at(next, commit.message(), commit.parents.len());
        let mut parents = Vec::with_capacity(commit.parents.len());
        for parent in commit.parents {
            match known.commits.generation(&parent) {
                Some(generation) => {
                    met.insert(parent);
                    graph.known_above(next, generation);
                }
                None => parents.push(graph.index_of(parent)),
            }
        }
        graph.set(next, (commit.time, commit.tree), parents);
        next += 1;
    }
    let holds_all = known
        .heads
        .iter()
        .all(|head| met.contains(head) || known_tips.contains(head));
    if !holds_all || !(known.commits.is_empty() || seen.reverting.is_empty()) {
        return Ok(None);
    }
    graph.set_generations();
    // A known tip that is no known head is in the history of one, and all of those are held.
    let is_head = |tip: &Id| {
        let is_new = !known.commits.contains(tip);
        !graph.is_parent(tip) && !met.contains(tip) && (is_new || known.heads.contains(tip))
    };
    let heads: BTreeSet<Id> = tips.iter().filter(|tip| is_head(tip)).copied().collect();
    Ok(Some(Beyond {
        graph,
        seen,
        heads: heads.into_iter().collect(),
    }))
}

impl Seen {
    fn look_at(&mut self, index: usize, message: &[u8], parents: usize) {
        let found = task_trailers(message, parents <= 1);
        if !found.tasks.is_empty() || !found.refused.is_empty() {
            self.trailers.push((index, found));
        }
        let named = revert::named(message);
        if !named.is_empty() {
            self.reverting.push((index, named));
        }
        self.merges
            .extend(revert::pull_request_of(message).map(|number| (number, index)));
    }
}

fn joined(known: Past, beyond: Beyond) -> Walked {
    let Beyond { graph, seen, heads } = beyond;
    let is_complete = known.commits.is_empty();
    let Past {
        mut commits,
        mut trailers,
        mut reverts,
        ..
    } = known;
    if !graph.ids.is_empty() {
        trailers.extend(seen.trailers.into_iter().filter_map(|(index, found)| {
            Some(Trailers {
                at: graph.place(index)?,
                tasks: found.tasks.into_iter().collect(),
                refused: found.refused,
            })
        }));
        trailers.sort_by(|left, right| Place::newest_first(&left.at, &right.at));
        reverts.extend(undone::resolve(&graph, &seen.reverting, &seen.merges));
        reverts.sort_by(|left, right| Place::newest_first(&left.at, &right.at));
        commits.add(graph.ids.iter().copied().zip(graph.generations.iter().copied()));
    }
    let past = Past {
        heads,
        commits,
        trailers,
        reverts,
    };
    Walked {
        past,
        graph,
        is_complete,
    }
}

/// Counts the commits of branches that a set does not hold; reads each commit once, however many branches hold it.
pub(crate) struct Ahead<'a> {
    commits: &'a Commits<'a>,
    base: &'a Set,
    parents: HashMap<Id, Vec<Id>>,
}

impl<'a> Ahead<'a> {
    /// Counts against that set.
    pub(crate) fn of(base: &'a Set, commits: &'a Commits<'a>) -> Self {
        Self {
            commits,
            base,
            parents: HashMap::new(),
        }
    }

    /// Returns how many commits of the tip are not in the set.
    pub(crate) fn count(&mut self, tip: Id) -> Result<usize, git2::Error> {
        let mut own = HashSet::new();
        let mut open = vec![tip];
        while let Some(id) = open.pop() {
            if self.base.contains(&id) || !own.insert(id) {
                continue;
            }
            if let Some(parents) = self.parents.get(&id) {
                open.extend(parents);
            } else {
                let parents = self.commits.read(&id)?.parents;
                open.extend(&parents);
                self.parents.insert(id, parents);
            }
        }
        Ok(own.len())
    }
}
