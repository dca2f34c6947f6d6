//! Between a branch and base: the commits that only the branch has, where it left base, and what base got since.

use std::cell::RefCell;
use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::rc::Rc;

use git2::{Oid, Repository};

use super::commits::{Commits, Grafts, Id, id};
use super::undone::Graph;
use super::{Past, Set};

/// A branch beside base.
pub(crate) struct Span<'a> {
    /// The commits of the branch that base does not hold.
    pub(crate) own: Vec<Oid>,
    /// The commits of base that those come right after.
    pub(crate) forks: Vec<Oid>,
    base: &'a Set,
    commits: Commits<'a>,
    parents: &'a Parents,
}

/// The parents of commits that were read, and their trees: by the walk through all of base, else one by one. Branches that left base
/// together have the same commits of base before them.
#[derive(Default)]
pub(crate) struct Parents {
    walked: RefCell<Option<Graph>>,
    read: RefCell<HashMap<Id, Vec<Id>>>,
}

impl Parents {
    /// Begins anew with what a walk through everything has read, as commits may have other parents than before.
    pub(super) fn begin(&self, walked: Option<Graph>) {
        *self.walked.borrow_mut() = walked;
        self.read.borrow_mut().clear();
    }

    /// Returns the trees before and after a commit of a single parent; nothing where a walk has not read both, so that the
    /// commit has to be asked.
    pub(crate) fn trees(&self, commit: &Id) -> Option<(Id, Id)> {
        self.walked.borrow().as_ref()?.trees_of(commit)
    }

    fn of(&self, commits: &Commits<'_>, commit: &Id) -> Result<Vec<Id>, git2::Error> {
        if let Some(known) = self.read.borrow().get(commit) {
            return Ok(known.clone());
        }
        let walked = self.walked.borrow();
        if let Some(parents) = walked.as_ref().and_then(|graph| graph.parents_of(commit)) {
            return Ok(parents);
        }
        let parents = commits.read(commit)?.parents;
        self.read.borrow_mut().insert(*commit, parents.clone());
        Ok(parents)
    }
}

impl<'a> Span<'a> {
    /// Looks at the branch with that tip.
    pub(crate) fn of(
        past: &'a Past,
        repository: &'a Repository,
        grafts: Rc<Grafts>,
        parents: &'a Parents,
        tip: Oid,
    ) -> Result<Self, git2::Error> {
        let commits = Commits::open(repository, grafts)?;
        let (mut own, mut forks, mut seen) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        let mut open = vec![id(tip)?];
        while let Some(one) = open.pop() {
            if past.commits.contains(&one) {
                forks.insert(one);
            } else if seen.insert(one) {
                own.push(Oid::from_bytes(&one)?);
                open.extend(parents.of(&commits, &one)?);
            }
        }
        let forks = forks.iter().map(|fork| Oid::from_bytes(fork));
        Ok(Self {
            own,
            forks: forks.collect::<Result<_, _>>()?,
            base: &past.commits,
            commits,
            parents,
        })
    }

    /// Returns the commits of base that the fork's history does not hold, descendants before their ancestors. Nothing
    /// when they are more than `most`.
    pub(crate) fn since(&self, ends: &[Oid], fork: Oid, most: usize) -> Result<Option<Vec<Oid>>, git2::Error> {
        let floor = self.generation(&id(fork)?);
        for end in ends {
            // On the longest way from there to the fork's generation none is in the fork's history.
            let least = self.generation(&id(*end)?).saturating_sub(floor);
            if usize::try_from(least).is_ok_and(|least| least > most) {
                return Ok(None);
            }
        }
        let mut open = BinaryHeap::new();
        let mut is_hidden: HashMap<Id, bool> = HashMap::new();
        for (start, hide) in ends.iter().map(|end| (*end, false)).chain([(fork, true)]) {
            is_hidden.insert(id(start)?, hide);
        }
        for start in is_hidden.keys() {
            open.push((self.generation(start), *start));
        }
        let mut shown = is_hidden.values().filter(|hidden| !**hidden).count();
        let mut since = Vec::new();
        while shown > 0 {
            let Some((_, one)) = open.pop() else { break };
            let hide = is_hidden.get(&one).copied().unwrap_or_default();
            if !hide {
                shown -= 1;
                since.push(Oid::from_bytes(&one)?);
                if since.len() > most {
                    return Ok(None);
                }
            }
            for parent in self.parents.of(&self.commits, &one)? {
                match is_hidden.get_mut(&parent) {
                    None => {
                        is_hidden.insert(parent, hide);
                        open.push((self.generation(&parent), parent));
                        shown += usize::from(!hide);
                    }
                    Some(known) if hide && !*known => {
                        *known = true;
                        shown -= 1;
                    }
                    Some(_) => {}
                }
            }
        }
        Ok(Some(since))
    }

    fn generation(&self, commit: &Id) -> u32 {
        self.base.generation(commit).unwrap_or_default()
    }
}
