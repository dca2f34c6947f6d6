//! What single commits of base change: which paths, and the patch-id. Each is computed once and kept in the cache.
//!
//! A patch-id tells neither white space nor places apart: that two commits have the same is only the first of two
//! questions (`held`). Neither attributes nor settings take part, so that it follows from the commits alone. What libgit2
//! calls binary all the same has a patch-id that does not tell one content from another; there the names of both blobs are
//! part of ours.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use git2::{Delta, Diff, DiffOptions, Oid, Repository, Tree};
use sha1::{Digest, Sha1};

use crate::cache::{Kept, fingerprint};
use crate::history::{Grafts, Id, Parents, id};
use crate::layout::Layout;

const KEPT: Kept = Kept {
    name: "changes",
    mark: b"orchestrate changes  v1\n",
    rules: fingerprint(&[
        include_bytes!("changes.rs"),
        // What libgit2 calls a patch-id is libgit2's.
        include_bytes!("../../../../Cargo.lock"),
    ]),
};
/// The bytes of a commit in the file: its name, what it touches at the top, what it touches, its patch-id.
const ROW: usize = 80;
/// The file holds no more commits than this.
const MOST_KEPT: usize = 50_000;
/// So many commits have to be looked at anew before they are kept.
const WORTH_KEEPING: usize = 64;
/// Stands for what is not known yet, and for a commit whose change is none of its own.
const NOTHING: Id = [0; 20];

/// The paths that a change touches: changes of other paths need no patch-id to be told apart.
pub(super) struct Paths {
    /// Each of them, sorted.
    pub(super) all: Vec<Vec<u8>>,
    sum: Id,
    /// Likewise of the top of each.
    tops: Id,
}

impl Paths {
    /// Returns those of a change.
    pub(super) fn of(diff: &Diff<'_>) -> Self {
        let path = |delta: git2::DiffDelta<'_>| {
            let file = if delta.status() == Delta::Deleted {
                delta.old_file()
            } else {
                delta.new_file()
            };
            file.path_bytes().unwrap_or_default().to_vec()
        };
        let mut all: Vec<Vec<u8>> = diff.deltas().map(path).collect();
        all.sort();
        let top = |path: &Vec<u8>| path.split(|byte| *byte == b'/').next().unwrap_or_default().to_vec();
        let tops: BTreeSet<Vec<u8>> = all.iter().map(top).collect();
        Self {
            sum: sum_of(&all),
            tops: sum_of(&tops),
            all,
        }
    }
}

fn sum_of<'a>(names: impl IntoIterator<Item = &'a Vec<u8>>) -> Id {
    let mut sum = Sha1::new();
    for name in names {
        sum.update(name);
        sum.update([0]);
    }
    sum.finalize().into()
}

/// Returns the names at the top of which something differs, without a look below.
fn tops_of(repository: &Repository, read: &Parents, commit: &Id) -> Result<Id, git2::Error> {
    if let Some((from, to)) = read.trees(commit) {
        let tree = |tree: Id| repository.find_tree(Oid::from_bytes(&tree)?);
        return Ok(sum_of(&differing(&tree(from)?, &tree(to)?)));
    }
    let commit = repository.find_commit(Oid::from_bytes(commit)?)?;
    if commit.parent_count() != 1 {
        return Ok(NOTHING);
    }
    Ok(sum_of(&differing(&commit.parent(0)?.tree()?, &commit.tree()?)))
}

/// Returns the names at the top of two trees that lead to something else. Most trees have one, amid many that are alike.
pub(super) fn differing(from: &Tree<'_>, to: &Tree<'_>) -> BTreeSet<Vec<u8>> {
    let is_same = |left: usize, right: usize| match (from.get(left), to.get(right)) {
        (Some(left), Some(right)) => {
            left.id() == right.id()
                && left.filemode_raw() == right.filemode_raw()
                && left.name_bytes() == right.name_bytes()
        }
        (_, _) => false,
    };
    let shorter = from.len().min(to.len());
    let front = (0..shorter).take_while(|at| is_same(*at, *at)).count();
    let back = (1..=shorter - front)
        .take_while(|at| is_same(from.len() - at, to.len() - at))
        .count();
    let entries = |tree: &Tree<'_>| -> BTreeMap<Vec<u8>, (Oid, i32)> {
        let entries = (front..tree.len() - back).filter_map(|at| tree.get(at));
        entries
            .map(|entry| (entry.name_bytes().to_vec(), (entry.id(), entry.filemode_raw())))
            .collect()
    };
    let (from, to) = (entries(from), entries(to));
    let differs = |name: &&Vec<u8>| from.get(*name) != to.get(*name);
    from.keys().chain(to.keys()).filter(differs).cloned().collect()
}

/// Returns what differs from one tree to another.
pub(super) fn between<'repository>(
    repository: &'repository Repository,
    from: &Tree<'_>,
    to: &Tree<'_>,
) -> Result<Diff<'repository>, git2::Error> {
    let mut options = DiffOptions::new();
    options.force_text(true).old_prefix("a").new_prefix("b");
    repository.diff_tree_to_tree(Some(from), Some(to), Some(&mut options))
}

/// Returns what two changes have in common only when they are the same one.
pub(super) fn patch_of(diff: &Diff<'_>) -> Result<Oid, git2::Error> {
    let patch = diff.patchid(None)?;
    let mut sum = Sha1::new();
    sum.update(patch.as_bytes());
    let mut is_text = true;
    for index in 0..diff.deltas().len() {
        let delta = match git2::Patch::from_diff(diff, index)? {
            Some(patch) if !patch.delta().flags().is_binary() => continue,
            Some(patch) => (patch.delta().old_file().id(), patch.delta().new_file().id()),
            None => match diff.get_delta(index) {
                Some(delta) => (delta.old_file().id(), delta.new_file().id()),
                None => continue,
            },
        };
        is_text = false;
        sum.update(delta.0.as_bytes());
        sum.update(delta.1.as_bytes());
    }
    if is_text {
        return Ok(patch);
    }
    let sum: Id = sum.finalize().into();
    Oid::from_bytes(&sum)
}

/// What is known of commits.
#[derive(Default)]
pub(crate) struct Changes(RefCell<State>);

#[derive(Default)]
struct State {
    /// The parents that commits have instead of their own; nothing before the first look.
    grafts: Option<Rc<Grafts>>,
    /// How many rows the file does not have.
    new: usize,
    rows: HashMap<Id, Row>,
}

#[derive(Clone, Copy)]
struct Row {
    tops: Id,
    paths: Id,
    patch: Id,
}

impl Changes {
    /// Forgets what was looked at while commits had other parents, and reads what was kept.
    pub(super) fn begin(&self, layout: &Layout, grafts: &Rc<Grafts>) {
        let mut state = self.0.borrow_mut();
        if state.grafts.as_ref() == Some(grafts) {
            return;
        }
        // Where commits have other parents than they were stored with, their names do not tell what they change.
        let kept = grafts.is_empty().then(|| KEPT.read(layout)).flatten();
        *state = State {
            grafts: Some(Rc::clone(grafts)),
            new: 0,
            rows: kept.and_then(|body| parse(&body)).unwrap_or_default(),
        };
    }

    /// Keeps what is known, if that is worth it.
    pub(crate) fn keep(&self, layout: &Layout) {
        let mut state = self.0.borrow_mut();
        let is_of_commits_alone = state.grafts.as_ref().is_some_and(|grafts| grafts.is_empty());
        if is_of_commits_alone && state.new >= WORTH_KEEPING {
            state.new = 0;
            KEPT.write(layout, &render(&state.rows));
        }
    }

    /// Returns whether the commit, of a single parent, touches exactly these paths.
    pub(super) fn touches(
        &self,
        repository: &Repository,
        read: &Parents,
        commit: Oid,
        paths: &Paths,
    ) -> Result<bool, git2::Error> {
        let name = id(commit)?;
        let known = self.row(&name);
        let mut row = match known {
            Some(row) => row,
            None => Row {
                tops: tops_of(repository, read, &name)?,
                paths: NOTHING,
                patch: NOTHING,
            },
        };
        // Most commits differ at the top already, which spares the look at the rest.
        if row.tops == paths.tops && row.paths == NOTHING {
            row.paths = diff(repository, commit)?.map_or(NOTHING, |diff| Paths::of(&diff).sum);
            self.set(name, row);
        } else if known.is_none() {
            self.set(name, row);
        }
        Ok(row.tops == paths.tops && row.paths == paths.sum)
    }

    /// Returns the patch-id of a commit that touches something.
    pub(super) fn patch(&self, repository: &Repository, commit: Oid) -> Result<Oid, git2::Error> {
        let name = id(commit)?;
        let known = self.row(&name);
        if let Some(patch) = known.map(|row| row.patch).filter(|patch| *patch != NOTHING) {
            return Oid::from_bytes(&patch);
        }
        let Some(diff) = diff(repository, commit)? else {
            return Oid::from_bytes(&NOTHING);
        };
        let patch = patch_of(&diff)?;
        if let Some(row) = known {
            self.set(
                name,
                Row {
                    patch: id(patch)?,
                    ..row
                },
            );
        }
        Ok(patch)
    }

    fn row(&self, commit: &Id) -> Option<Row> {
        self.0.borrow().rows.get(commit).copied()
    }

    fn set(&self, commit: Id, row: Row) {
        let mut state = self.0.borrow_mut();
        if state.rows.len() >= MOST_KEPT {
            state.rows.clear();
        }
        state.rows.insert(commit, row);
        state.new += 1;
    }
}

/// Returns the change of a commit; nothing where it has not exactly one parent.
fn diff(repository: &Repository, commit: Oid) -> Result<Option<Diff<'_>>, git2::Error> {
    let commit = repository.find_commit(commit)?;
    if commit.parent_count() != 1 {
        return Ok(None);
    }
    between(repository, &commit.parent(0)?.tree()?, &commit.tree()?).map(Some)
}

fn render(rows: &HashMap<Id, Row>) -> Vec<u8> {
    let mut sorted: Vec<_> = rows.iter().collect();
    sorted.sort_by_key(|(commit, _)| **commit);
    let rows = sorted.into_iter();
    rows.flat_map(|(commit, row)| [*commit, row.tops, row.paths, row.patch].concat())
        .collect()
}

fn parse(body: &[u8]) -> Option<HashMap<Id, Row>> {
    let row = |row: &[u8]| {
        let (commit, rest) = row.split_first_chunk::<20>()?;
        let (tops, rest) = rest.split_first_chunk::<20>()?;
        let (paths, rest) = rest.split_first_chunk::<20>()?;
        let patch = *rest.first_chunk::<20>().filter(|_| rest.len() == 20)?;
        let row = Row {
            tops: *tops,
            paths: *paths,
            patch,
        };
        Some((*commit, row))
    };
    body.chunks(ROW).map(row).collect()
}
