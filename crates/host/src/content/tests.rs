//! Changes of binary files, and that what is kept says what is computed.

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
        let base = Base {
            name: BaseName::parse("main").expect("name"),
            source: BaseSource::OnlyCandidate,
            commit: commit_id(base).expect("id"),
            counterpart: None,
            origin: AtOrigin::NotAsked,
        };
        compare(&self.repository, memory, &commit_id(tip).expect("id"), &base)
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

#[test]
fn what_is_kept_says_what_is_computed() {
    let sandbox = Sandbox::new();
    let root = sandbox.commit(None, "file", b"0\n");
    let branch = sandbox.commit(Some(root), "own", b"own\n");
    let mut base = root;
    for number in 0..80 {
        base = sandbox.commit(Some(base), "file", format!("{number}\n").as_bytes());
    }
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
    assert_eq!(sandbox.compare(&Memory::default(), branch, base), expected);
    let memory = Memory::default();
    assert_eq!(sandbox.compare(&memory, branch, base), expected);
    assert_eq!(sandbox.compare(&memory, branch, base), expected, "the second look");
    assert_eq!(
        sandbox.compare(&memory, branch, root),
        Observed::Known(Content::Different)
    );
}
