//! What is kept against what is walked, and both against a model that asks the graph for each pair.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use camino::Utf8PathBuf;
use git2::{Oid, Signature, Time};
use orchestrate_core::evidence::{AtOrigin, Base, BaseSource, History};
use orchestrate_core::identifier::{BaseName, CommitId, SpecId, TaskId};
use orchestrate_core::revert::{Named, Reverts, named, pull_request_of};
use orchestrate_core::trailer::task_trailers;
use proptest::prelude::*;
use proptest::sample::Index;

use super::span::Parents;
use super::*;
use crate::repository::discover;

/// One commit to make.
#[derive(Debug, Clone)]
struct Made {
    parents: Vec<Index>,
    /// Its time, not ordered at all.
    time: i64,
    message: Message,
}

#[derive(Debug, Clone)]
enum Message {
    Plain,
    Trailer(&'static str),
    PullRequest(u64),
    /// Names an earlier commit by so many digits, and perhaps one as its mainline.
    Reverts(Index, usize, Option<Index>),
    RevertsPullRequest(u64),
}

fn made() -> impl Strategy<Value = Made> {
    let message = prop_oneof![
        4 => Just(Message::Plain),
        3 => proptest::sample::select(&["a/1", "a/2", "b/1", "A/x"][..]).prop_map(Message::Trailer),
        1 => (1_u64..3).prop_map(Message::PullRequest),
        2 => (any::<Index>(), proptest::sample::select(&[6_usize, 7, 12, 40][..]), any::<Option<Index>>())
            .prop_map(|(target, digits, mainline)| Message::Reverts(target, digits, mainline)),
        1 => (1_u64..3).prop_map(Message::RevertsPullRequest),
    ];
    (proptest::collection::vec(any::<Index>(), 0..3), 0_i64..4, message).prop_map(|(parents, time, message)| Made {
        parents,
        time,
        message,
    })
}

struct Sandbox {
    _directory: tempfile::TempDir,
    repository: Repository,
    commits: Vec<Oid>,
}

fn sandbox() -> Sandbox {
    let directory = tempfile::tempdir().expect("directory");
    let path = Utf8PathBuf::from_path_buf(directory.path().to_path_buf()).expect("utf-8");
    git2::Repository::init(&path).expect("repository");
    Sandbox {
        _directory: directory,
        repository: discover(&path).expect("found"),
        commits: Vec::new(),
    }
}

impl Sandbox {
    fn commit(&mut self, parents: &[Oid], time: i64, message: &str) -> Oid {
        let git = &self.repository.git;
        let who = Signature::new("A", "a@b.c", &Time::new(1_700_000_000 + time, 0)).expect("signature");
        let tree = git.treebuilder(None).expect("builder").write().expect("tree");
        let tree = git.find_tree(tree).expect("tree");
        let parents: Vec<_> = parents.iter().map(|id| git.find_commit(*id).expect("parent")).collect();
        let parents: Vec<_> = parents.iter().collect();
        let id = git.commit(None, &who, &who, message, &tree, &parents).expect("commit");
        self.commits.push(id);
        id
    }

    fn make(&mut self, made: &Made) {
        let all = self.commits.clone();
        let pick = |index: &Index| index.get(&all).to_string();
        let number = all.len();
        let is_first = all.is_empty();
        let message = match &made.message {
            Message::Trailer(value) => format!("feat {number}\n\nPlanwright-Task: {value}\n"),
            Message::PullRequest(pull_request) => format!("feat {number} (#{pull_request})\n"),
            Message::RevertsPullRequest(pull_request) => format!("Revert {number}\n\nReverts o/r#{pull_request}\n"),
            Message::Reverts(target, digits, mainline) if !is_first => {
                let mainline = mainline.as_ref().map(&pick);
                let tail = mainline.map(|id| format!(", reversing\nchanges made to {id}"));
                let (target, tail) = (pick(target), tail.unwrap_or_default());
                format!("Revert {number}\n\nThis reverts commit {}{tail}.\n", &target[..*digits])
            }
            Message::Plain | Message::Reverts(..) => format!("plain {number}\n"),
        };
        let parents: BTreeSet<Oid> = made
            .parents
            .iter()
            .filter(|_| !is_first)
            .map(|index| *index.get(&all))
            .collect();
        let parents: Vec<Oid> = parents.into_iter().collect();
        self.commit(&parents, made.time, &message);
    }

    fn base(&self, commit: Oid, counterpart: Option<Oid>) -> Base {
        Base {
            name: BaseName::parse("main").expect("name"),
            source: BaseSource::OnlyCandidate,
            commit: commit_id(commit),
            counterpart: counterpart.map(commit_id),
            origin: AtOrigin::NotAsked,
        }
    }

    fn is_within(&self, ancestor: Oid, descendant: Oid) -> bool {
        let is_descendant = self.repository.git.graph_descendant_of(descendant, ancestor);
        ancestor == descendant || is_descendant.expect("compared")
    }

    fn cache(&self) -> Utf8PathBuf {
        self.repository.layout.cache().join("history")
    }

    /// What a process that has just started says.
    fn past(&self, base: &Base) -> Rc<Past> {
        past(&self.repository, &eager(), base).expect("walked").0
    }
}

/// Knows nothing yet, and keeps whatever it finds.
fn eager() -> Memory {
    Memory {
        worth_keeping: 1,
        ..Memory::default()
    }
}

fn commit_id(id: Oid) -> CommitId {
    CommitId::parse(&id.to_string()).expect("a commit")
}

fn of(past: &Past) -> History {
    past.of(&SpecId::parse("a").expect("spec"), &Grafts::default())
        .expect("told")
}

/// The same from its definition: every commit, every pair.
fn model(sandbox: &Sandbox, base: &Base) -> (BTreeMap<TaskId, BTreeSet<CommitId>>, Reverts, usize) {
    let git = &sandbox.repository.git;
    let tips: Vec<Oid> = std::iter::once(&base.commit)
        .chain(&base.counterpart)
        .map(|tip| Oid::from_str(tip.as_str()).expect("id"))
        .collect();
    let is_held = |id: &&Oid| tips.iter().any(|tip| sandbox.is_within(**id, *tip));
    let held: Vec<Oid> = sandbox.commits.iter().filter(is_held).copied().collect();
    let mut trailers: BTreeMap<TaskId, BTreeSet<CommitId>> = BTreeMap::new();
    let mut reverts: Vec<(Oid, BTreeSet<Oid>, Vec<u64>)> = Vec::new();
    let is_strictly_within = |one: Oid, by: Oid| one != by && sandbox.is_within(one, by);
    let brought_in = |target: Oid, mainline: Option<&str>| -> BTreeSet<Oid> {
        let parents: Vec<Oid> = git.find_commit(target).expect("there").parent_ids().collect();
        if parents.len() < 2 {
            return BTreeSet::from([target]);
        }
        let named = parents
            .iter()
            .find(|parent| mainline.is_some_and(|mainline| parent.to_string().starts_with(mainline)));
        let mainline = *named.unwrap_or(&parents[0]);
        let brought = |one: &&Oid| sandbox.is_within(**one, target) && !sandbox.is_within(**one, mainline);
        held.iter().filter(brought).copied().collect()
    };
    for id in &held {
        let commit = git.find_commit(*id).expect("there");
        let message = commit.message_raw_bytes();
        for (spec, task) in task_trailers(message, commit.parent_count() <= 1).tasks {
            if spec.as_str() == "a" {
                trailers.entry(task).or_default().insert(commit_id(*id));
            }
        }
        let Named { commits, pull_requests } = named(message);
        if commits.is_empty() && pull_requests.is_empty() {
            continue;
        }
        let mut undoes = BTreeSet::new();
        for one in &commits {
            let is_meant =
                |target: &&Oid| target.to_string().starts_with(&one.commit) && is_strictly_within(**target, *id);
            if let [target] = held.iter().filter(is_meant).collect::<Vec<_>>()[..] {
                undoes.extend(brought_in(*target, one.mainline.as_deref()));
            }
        }
        for number in &pull_requests {
            let merged = held.iter().filter(|one| {
                let message = git.find_commit(**one).expect("there").message_raw_bytes().to_vec();
                pull_request_of(&message) == Some(*number) && is_strictly_within(**one, *id)
            });
            let depth = |one: &Oid| longest(git, *one, &mut BTreeMap::new());
            let age = |one: &Oid| (git.find_commit(*one).expect("there").time().seconds(), depth(one), *one);
            if let Some(target) = merged.min_by_key(|one| age(one)) {
                undoes.extend(brought_in(*target, None));
            }
        }
        reverts.push((*id, undoes, pull_requests));
    }
    let mut standing = Reverts::default();
    for (by, undoes, pull_requests) in reverts.iter().filter(|(by, ..)| !is_undone(*by, &reverts)) {
        for commit in undoes {
            standing.commits.insert(commit_id(*commit), commit_id(*by));
        }
        for number in pull_requests {
            standing.pull_requests.insert(*number, commit_id(*by));
        }
    }
    (trailers, standing, held.len())
}

fn is_undone(commit: Oid, reverts: &[(Oid, BTreeSet<Oid>, Vec<u64>)]) -> bool {
    reverts
        .iter()
        .any(|(by, undoes, _)| undoes.contains(&commit) && !is_undone(*by, reverts))
}

fn longest(git: &git2::Repository, id: Oid, known: &mut BTreeMap<Oid, u32>) -> u32 {
    if let Some(known) = known.get(&id) {
        return *known;
    }
    let parents: Vec<Oid> = git.find_commit(id).expect("there").parent_ids().collect();
    let above = parents.into_iter().map(|parent| longest(git, parent, known)).max();
    known.insert(id, above.unwrap_or_default() + 1);
    known[&id]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Verifies REQ-H1.6.
    #[test]
    fn what_is_kept_is_what_a_walk_finds(
        history in proptest::collection::vec(made(), 1..16),
        moves in proptest::collection::vec((any::<Index>(), any::<Option<Index>>(), 0_usize..5), 1..8),
        branch in any::<Index>(),
    ) {
        let mut sandbox = sandbox();
        let mut made = history.iter();
        // Some moves come after more commits, so that tips go on as well as back and aside.
        for (base, counterpart, more) in &moves {
            for commit in made.by_ref().take(more + 1) {
                sandbox.make(commit);
            }
            let base = sandbox.base(
                *base.get(&sandbox.commits),
                counterpart.as_ref().map(|index| *index.get(&sandbox.commits)),
            );
            let kept = sandbox.past(&base);
            let grafts = Rc::new(Grafts::default());
            let commits = Commits::open(&sandbox.repository.git, grafts).unwrap();
            let tips: Vec<Id> = std::iter::once(&base.commit).chain(&base.counterpart).map(|tip| commits::id_of(tip).unwrap()).collect();
            let walked = walk::walk(&commits, &tips, Past::default()).unwrap().past;
            prop_assert_eq!(kept.as_ref(), &walked);

            let (trailers, reverts, count) = model(&sandbox, &base);
            let history = of(&kept);
            prop_assert_eq!(history.walked, count);
            let found: BTreeMap<_, BTreeSet<_>> =
                history.trailers.iter().map(|(task, by)| (task.clone(), by.iter().cloned().collect())).collect();
            prop_assert_eq!(found, trailers);
            prop_assert!(history.reverts.commits.keys().eq(reverts.commits.keys()));
            prop_assert!(history.reverts.pull_requests.keys().eq(reverts.pull_requests.keys()));

            let tip = *branch.get(&sandbox.commits);
            let is_beyond = |one: &&Oid| {
                sandbox.is_within(**one, tip) && !kept.commits.contains(&id(**one).unwrap())
            };
            let beyond = sandbox.commits.iter().filter(is_beyond).count();
            prop_assert_eq!(Ahead::of(&kept.commits, &commits).count(id(tip).unwrap()).unwrap(), beyond);

            let parents = Parents::default();
            let span = Span::of(&kept, &sandbox.repository.git, Rc::new(Grafts::default()), &parents, tip).unwrap();
            prop_assert_eq!(span.own.len(), beyond);
            for fork in &span.forks {
                let is_since = |one: &&Oid| kept.commits.contains(&id(**one).unwrap()) && !sandbox.is_within(**one, *fork);
                let expected: BTreeSet<Oid> = sandbox.commits.iter().filter(is_since).copied().collect();
                let ends: Vec<Oid> = tips.iter().map(|tip| Oid::from_bytes(tip).unwrap()).collect();
                let since = span.since(&ends, *fork, expected.len()).unwrap().unwrap();
                prop_assert_eq!(since.len(), expected.len());
                prop_assert_eq!(since.into_iter().collect::<BTreeSet<_>>(), expected.clone());
                if let Some(fewer) = expected.len().checked_sub(1) {
                    prop_assert_eq!(span.since(&ends, *fork, fewer).unwrap(), None);
                }
            }
        }
    }
}

#[test]
fn what_is_kept_is_used_and_what_is_not_believed_is_replaced() {
    let mut sandbox = sandbox();
    let one = sandbox.commit(&[], 0, "feat: x\n\nPlanwright-Task: a/1\nPlanwright-Task: nobody\n");
    let two = sandbox.commit(&[one], 0, &format!("Revert\n\nThis reverts commit {one}.\n"));
    let base = sandbox.base(two, None);
    let walked = sandbox.past(&base);
    let bytes = std::fs::read(sandbox.cache()).expect("kept");
    assert_eq!(cache::read(&sandbox.repository.layout).as_ref(), Some(walked.as_ref()));
    // The commits themselves are not read again.
    let objects = sandbox.repository.layout.common.join("objects");
    let aside = sandbox.repository.layout.common.join("aside");
    std::fs::rename(&objects, &aside).expect("moved");
    std::fs::create_dir(&objects).expect("made");
    assert_eq!(sandbox.past(&base), walked);
    std::fs::remove_dir(&objects).expect("removed");
    std::fs::rename(&aside, &objects).expect("moved back");
    for other in [&b""[..], b"{}", &bytes[1..], &bytes[..bytes.len() - 1]] {
        std::fs::write(sandbox.cache(), other).expect("written");
        assert_eq!(sandbox.past(&base), walked);
        assert_eq!(std::fs::read(sandbox.cache()).expect("kept"), bytes, "it is replaced");
    }
    let directory = sandbox.repository.layout.cache();
    std::fs::remove_dir_all(&directory).expect("removed");
    std::fs::write(&directory, "").expect("a file in the way");
    assert_eq!(sandbox.past(&base), walked);
}

#[test]
fn a_short_walk_is_not_kept() {
    let mut sandbox = sandbox();
    let mut tip = sandbox.commit(&[], 0, "feat: x\n");
    for _ in 2..WORTH_KEEPING {
        tip = sandbox.commit(&[tip], 0, "feat: y\n");
    }
    let look = |sandbox: &Sandbox, tip| {
        past(&sandbox.repository, &Memory::default(), &sandbox.base(tip, None)).expect("walked");
    };
    look(&sandbox, tip);
    assert!(!sandbox.repository.layout.state().exists());
    tip = sandbox.commit(&[tip], 0, "feat: z\n");
    look(&sandbox, tip);
    let kept = std::fs::read(sandbox.cache()).expect("kept");
    tip = sandbox.commit(&[tip], 0, "feat: z\n");
    look(&sandbox, tip);
    assert_eq!(std::fs::read(sandbox.cache()).expect("kept"), kept);
}

#[test]
fn where_history_ends_early_nothing_is_kept() {
    let mut sandbox = sandbox();
    let one = sandbox.commit(&[], 0, "feat: x\n\nPlanwright-Task: a/1\n");
    let two = sandbox.commit(&[one], 0, "feat: y\n\nPlanwright-Task: a/2\n");
    let base = sandbox.base(two, None);
    let whole = sandbox.past(&base);
    let kept = std::fs::read(sandbox.cache()).expect("kept");
    let shallow = sandbox.repository.layout.common.join("shallow");
    std::fs::write(&shallow, format!("{two}\n")).expect("written");
    let (past, grafts) = past(&sandbox.repository, &eager(), &base).expect("walked");
    let history = past.of(&SpecId::parse("a").expect("spec"), &grafts).expect("told");
    assert!(history.incomplete.is_some());
    assert_eq!((history.walked, history.trailers.len()), (1, 1));
    assert_eq!(std::fs::read(sandbox.cache()).expect("kept"), kept);
    std::fs::write(&shallow, "x\n").expect("written");
    assert!(super::past(&sandbox.repository, &eager(), &base).is_err());
    std::fs::remove_file(&shallow).expect("removed");
    assert_eq!(sandbox.past(&base), whole);
    let info = sandbox.repository.layout.common.join("info");
    std::fs::create_dir_all(&info).expect("directory");
    std::fs::write(info.join("grafts"), format!("# cut\n{two}\n")).expect("written");
    assert_eq!(sandbox.past(&base).commits.sorted.len(), 1);
    assert_eq!(std::fs::read(sandbox.cache()).expect("kept"), kept);
}

#[test]
fn a_commit_that_is_not_there_is_unknown() {
    let mut sandbox = sandbox();
    let one = sandbox.commit(&[], 0, "feat: x\n");
    let missing = Oid::from_str(&"1".repeat(40)).expect("id");
    for base in [sandbox.base(missing, None), sandbox.base(one, Some(missing))] {
        assert!(past(&sandbox.repository, &eager(), &base).is_err());
    }
}
