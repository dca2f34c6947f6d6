//! Changes of binary files, and that what is kept says what is computed.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;
use git2::Signature;
use orchestrate_core::evidence::{AtOrigin, BaseSource};
use orchestrate_core::identifier::BaseName;
use orchestrate_testkit::histories::file_entry;

use super::*;
use crate::repository::discover;

struct Sandbox {
    _directory: tempfile::TempDir,
    repository: Repository,
}

impl Sandbox {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("directory");
        let path = Utf8PathBuf::from_path_buf(directory.path().to_path_buf()).expect("utf-8");
        git2::Repository::init(&path).expect("repository");
        let repository = discover(&path).expect("found");
        std::fs::write(path.join(".gitattributes"), "*.bin -diff\n").expect("written");
        Self {
            _directory: directory,
            repository,
        }
    }

    /// Commits one changed file upon a commit.
    fn commit(&self, parent: Option<Oid>, path: &str, content: &[u8]) -> Oid {
        let git = &self.repository.git;
        let parent = parent.map(|parent| git.find_commit(parent).expect("parent"));
        let tree = parent.as_ref().map(|parent| parent.tree().expect("tree"));
        let mut index = git2::Index::new().expect("index");
        if let Some(tree) = &tree {
            index.read_tree(tree).expect("read");
        }
        let blob = git.blob(content).expect("blob");
        index.add(&file_entry(path, blob)).expect("added");
        let tree = index.write_tree_to(git).expect("tree");
        let tree = git.find_tree(tree).expect("tree");
        let who = Signature::new("A", "a@b.c", &git2::Time::new(1_700_000_000, 0)).expect("signature");
        let parents: Vec<_> = parent.iter().collect();
        let message = format!("change {path} {}", git.odb().is_ok());
        git.commit(None, &who, &who, &message, &tree, &parents).expect("commit")
    }

    fn compare(&self, memory: &Memory, tip: Oid, base: Oid) -> Observed<Content> {
        let answer = compare(&self.repository, memory, &commit_id(tip).expect("id"), &base_at(base));
        memory.keep(&self.repository.layout);
        answer
    }

    /// A branch, and a base that has gone on far enough for the answer to be kept.
    fn far_apart(&self) -> (Oid, Oid) {
        let root = self.commit(None, "file", b"0\n");
        let branch = self.commit(Some(root), "own", b"own\n");
        let later = |base, number| self.commit(Some(base), "file", format!("{number}\n").as_bytes());
        (branch, (0..80).fold(root, later))
    }
}

fn base_at(commit: Oid) -> Base {
    Base {
        name: BaseName::parse("main").expect("name"),
        source: BaseSource::OnlyCandidate,
        commit: commit_id(commit).expect("id"),
        counterpart: None,
        origin: AtOrigin::NotAsked,
    }
}

/// Verifies REQ-C3.3.
#[test]
fn two_changes_of_one_binary_file_are_not_the_same() {
    for name in ["image.bin", "image.png"] {
        let sandbox = Sandbox::new();
        let root = sandbox.commit(None, name, b"\0first\n");
        let branch = sandbox.commit(Some(root), name, b"\0of the branch\n");
        let other = sandbox.commit(Some(root), name, b"\0of somebody else\n");
        let later = sandbox.commit(Some(other), "text", b"later\n");
        assert_eq!(
            sandbox.compare(&Memory::default(), branch, later),
            Observed::Known(Content::Different),
            "{name}"
        );
        let before = sandbox.commit(Some(root), "text", b"before\n");
        let same = sandbox.commit(Some(before), name, b"\0of the branch\n");
        let same_id = commit_id(same).expect("id");
        assert_eq!(
            sandbox.compare(&Memory::default(), branch, same),
            Observed::Known(Content::Rebased(vec![same_id])),
            "{name}"
        );
    }
}

/// Lines enough that what changes at one end is no context of what changes at the other.
fn long(first: &str, last: &str) -> Vec<u8> {
    let middle: String = (0..12).map(|number| format!("line {number}\n")).collect();
    format!("{first}{middle}{last}").into_bytes()
}

/// Each of these pairs of changes has one patch-id.
/// Verifies REQ-C3.3.
#[test]
fn a_change_that_only_looks_alike_is_another_one() {
    let block = "server {\n  one\n  two\n  port 1\n  three\n  four\n}\n";
    let fixed = block.replace("port 1", "port 2");
    let cases = [
        (
            "another blank",
            b"x = \"\"\n".to_vec(),
            b"x = \"a b\"\n".to_vec(),
            b"x = \"ab\"\n".to_vec(),
        ),
        (
            "another indentation",
            b"all:\n".to_vec(),
            b"all:\n\tmake\n".to_vec(),
            b"all:\n    make\n".to_vec(),
        ),
        (
            "less and more",
            b"    b\n".to_vec(),
            b"b\n".to_vec(),
            b"        b\n".to_vec(),
        ),
        ("line ends", b"one\n".to_vec(), b"one\r\n".to_vec(), b"one  \n".to_vec()),
        (
            "another place",
            long(block, block),
            long(&fixed, block),
            long(block, &fixed),
        ),
    ];
    for (case, before, own, other) in cases {
        let sandbox = Sandbox::new();
        let root = sandbox.commit(None, "file", &before);
        let branch = sandbox.commit(Some(root), "file", &own);
        let elsewhere = sandbox.commit(Some(root), "file", &other);
        assert_eq!(
            sandbox.compare(&Memory::default(), branch, elsewhere),
            Observed::Known(Content::Different),
            "{case}"
        );
        let later = sandbox.commit(Some(root), "text", b"before\n");
        let same = sandbox.commit(Some(later), "file", &own);
        assert_eq!(
            sandbox.compare(&Memory::default(), branch, same),
            Observed::Known(Content::Rebased(vec![commit_id(same).expect("id")])),
            "{case}"
        );
    }
}

/// The file that was changed at its end has another beginning on base, and loses what was changed afterwards.
#[test]
fn a_change_is_found_beside_others_of_its_file() {
    let sandbox = Sandbox::new();
    let root = sandbox.commit(None, "file", &long("", ""));
    let branch = sandbox.commit(Some(root), "file", &long("", "own\n"));
    let begun = sandbox.commit(Some(root), "file", &long("of base\n", ""));
    let landed = sandbox.commit(Some(begun), "file", &long("of base\n", "own\n"));
    let later = sandbox.commit(Some(landed), "file", &long("of base\n", ""));
    assert_eq!(
        sandbox.compare(&Memory::default(), branch, later),
        Observed::Known(Content::Rebased(vec![commit_id(landed).expect("id")]))
    );
}

/// What is kept must follow from the commits alone.
#[test]
fn neither_attributes_nor_settings_have_a_say() {
    let sandbox = Sandbox::new();
    let root = sandbox.commit(None, "file", b"0\n");
    let first = sandbox.commit(Some(root), "own", b"one\n");
    let branch = sandbox.commit(Some(first), "own", b"one\ntwo\n");
    let squash = sandbox.commit(Some(root), "own", b"one\ntwo\n");
    let later = |base, number| sandbox.commit(Some(base), "own", format!("one\ntwo\n{number}\n").as_bytes());
    let base = (0..80).fold(squash, later);
    let squashed = Observed::Known(Content::Squashed(commit_id(squash).expect("id")));
    assert_eq!(sandbox.compare(&Memory::default(), branch, base), squashed);
    let cache = sandbox.repository.layout.cache();
    let information = sandbox.repository.layout.common.join("info");
    std::fs::create_dir_all(&information).expect("a directory");
    std::fs::write(information.join("attributes"), "own binary\n").expect("written");
    let mut settings = sandbox.repository.git.config().expect("settings");
    settings.set_bool("diff.noprefix", true).expect("set");
    std::fs::remove_file(cache.join("content")).expect("the answers");
    assert_eq!(
        sandbox.compare(&Memory::default(), branch, base),
        squashed,
        "with kept changes"
    );
    std::fs::remove_dir_all(&cache).expect("all that was kept");
    assert_eq!(sandbox.compare(&Memory::default(), branch, base), squashed, "anew");
}

/// What a commit changes with other parents than its own is kept by nobody.
#[test]
fn changes_are_neither_believed_nor_kept_where_commits_have_other_parents() {
    let sandbox = Sandbox::new();
    let root = sandbox.commit(None, "file", b"base\n");
    let branch = sandbox.commit(Some(root), "file", b"two\n");
    let one = sandbox.commit(Some(root), "file", b"one\n");
    let two = sandbox.commit(Some(one), "file", b"two\n");
    let three = sandbox.commit(Some(two), "file", b"three\n");
    let base = (0..80).fold(three, |base, number| {
        sandbox.commit(Some(base), "text", format!("{number}\n").as_bytes())
    });
    let grafts = sandbox.repository.layout.common.join("info/grafts");
    std::fs::create_dir_all(grafts.parent().expect("a parent")).expect("a directory");
    // With that parent the commit makes the branch's very change.
    std::fs::write(&grafts, format!("{two} {root}\n")).expect("written");
    let memory = Memory::default();
    let _while_it_is_grafted = sandbox.compare(&memory, branch, base);
    std::fs::remove_file(&grafts).expect("removed");
    assert!(!sandbox.repository.layout.cache().join("changes").exists());
    for memory in [&memory, &Memory::default()] {
        let repository = discover(&sandbox.repository.layout.primary).expect("opened anew");
        let answer = compare(&repository, memory, &commit_id(branch).expect("id"), &base_at(base));
        assert_eq!(answer, Observed::Known(Content::Different));
    }
}

#[test]
fn what_is_kept_says_what_is_computed() {
    let sandbox = Sandbox::new();
    let (branch, mut base) = sandbox.far_apart();
    let different = sandbox.compare(&Memory::default(), branch, base);
    assert_eq!(different, Observed::Known(Content::Different));
    let file = sandbox.repository.layout.cache().join("changes");
    let kept = std::fs::read(&file).expect("kept");
    base = sandbox.commit(Some(base), "own", b"own\n");
    let landed = sandbox.compare(&Memory::default(), branch, base);
    let expected = Observed::Known(Content::Rebased(vec![commit_id(base).expect("id")]));
    assert_eq!(landed, expected);
    assert_eq!(std::fs::read(&file).expect("kept"), kept, "one more is not worth it");
    std::fs::write(&file, &kept[..kept.len() - 1]).expect("torn");
    std::fs::remove_file(sandbox.repository.layout.cache().join("content")).expect("the answers");
    assert_eq!(sandbox.compare(&Memory::default(), branch, base), expected);
    let memory = Memory::default();
    assert_eq!(sandbox.compare(&memory, branch, base), expected);
    assert_eq!(sandbox.compare(&memory, branch, base), expected, "the second look");
}

/// Keeps an answer that no comparison gives, so that it shows where it is believed.
fn plant(repository: &Repository, tip: Oid, base: Oid) {
    let (_, grafts) = history::past(repository, &Memory::default(), &base_at(base)).expect("walked");
    let answers = Answers::default();
    answers.begin(&repository.layout, &base_at(base), &grafts);
    answers.add(&commit_id(tip).expect("id"), &Content::Contained, 80);
    answers.keep(&repository.layout);
}

#[test]
fn an_answer_that_was_kept_is_believed_of_that_base_and_no_other() {
    let sandbox = Sandbox::new();
    let (branch, base) = sandbox.far_apart();
    let (different, planted) = (Observed::Known(Content::Different), Observed::Known(Content::Contained));
    let fresh = |base| sandbox.compare(&Memory::default(), branch, base);
    let file = sandbox.repository.layout.cache().join("content");
    assert_eq!(fresh(base), different);
    assert!(file.is_file(), "what was looked at is kept");
    plant(&sandbox.repository, branch, base);
    assert_eq!(fresh(base), planted);
    let later = sandbox.commit(Some(base), "file", b"later\n");
    assert_eq!(fresh(later), different);
    plant(&sandbox.repository, branch, base);
    let torn = std::fs::read(&file).expect("kept");
    std::fs::write(&file, &torn[..torn.len() - 1]).expect("torn");
    assert_eq!(fresh(base), different);
}

#[test]
fn an_answer_is_neither_believed_nor_kept_where_commits_have_other_parents() {
    let sandbox = Sandbox::new();
    let (branch, base) = sandbox.far_apart();
    plant(&sandbox.repository, branch, base);
    let file = sandbox.repository.layout.cache().join("content");
    let kept = std::fs::read(&file).expect("kept");
    let memory = Memory::default();
    assert_eq!(
        sandbox.compare(&memory, branch, base),
        Observed::Known(Content::Contained)
    );
    // The branch's commit has no parent then, so it has nothing in common with base.
    let information = sandbox.repository.layout.common.join("info");
    std::fs::create_dir_all(&information).expect("a directory");
    std::fs::write(information.join("grafts"), format!("{branch}\n")).expect("written");
    for memory in [&memory, &Memory::default()] {
        assert_eq!(
            sandbox.compare(memory, branch, base),
            Observed::Known(Content::Different)
        );
    }
    assert_eq!(std::fs::read(&file).expect("kept"), kept);
}

/// Returns a tree of files with those contents.
fn tree_of<'repository>(git: &'repository git2::Repository, files: &[(&str, u8)]) -> Tree<'repository> {
    let mut index = git2::Index::new().expect("index");
    for (path, content) in files {
        let blob = git.blob(&[*content]).expect("blob");
        index.add(&file_entry(path, blob)).expect("added");
    }
    let tree = index.write_tree_to(git).expect("tree");
    git.find_tree(tree).expect("tree")
}

/// What differs at the top is what the whole difference says, whatever git's order of names is.
#[test]
fn what_differs_at_the_top_is_the_top_of_what_differs() {
    let files = || proptest::collection::btree_map("(a|b|a-|a0|ab|c)(/(x|y))?", 0_u8..2, 0..6);
    let sandbox = Sandbox::new();
    let git = &sandbox.repository.git;
    let tree = |files: &BTreeMap<String, u8>| {
        let is_below = |path: &str| files.keys().any(|other| path.starts_with(&format!("{other}/")));
        let files = files.iter().filter(|(path, _)| !is_below(path));
        let files: Vec<(&str, u8)> = files.map(|(path, content)| (path.as_str(), *content)).collect();
        tree_of(git, &files)
    };
    let property = |(from, to): (BTreeMap<String, u8>, BTreeMap<String, u8>)| {
        let (from, to) = (tree(&from), tree(&to));
        let whole = changes::between(git, &from, &to).expect("compared");
        let top = |path: &Vec<u8>| path.split(|byte| *byte == b'/').next().unwrap_or_default().to_vec();
        let deltas = whole.deltas().flat_map(|delta| {
            let paths = [delta.old_file().path_bytes(), delta.new_file().path_bytes()];
            paths.map(|path| path.unwrap_or_default().to_vec())
        });
        let expected: BTreeSet<Vec<u8>> = deltas.map(|path| top(&path)).collect();
        proptest::prop_assert_eq!(changes::differing(&from, &to), expected);
        Ok(())
    };
    let mut runner = proptest::test_runner::TestRunner::default();
    runner.run(&(files(), files()), property).expect("it holds");
}
