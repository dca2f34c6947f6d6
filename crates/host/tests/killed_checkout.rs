//! What a git that was killed in mid-checkout leaves, and that the next checkout gets past it.

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::{CommitId, UnitName};
use orchestrate_core::world::{Checkout, Race, World};
use orchestrate_host::world::{RealWorld, WorldSettings};

/// Makes a repository with two files and returns its first commit.
fn repository(root: &Utf8Path) -> CommitId {
    let repository = git2::Repository::init(root).expect("repository");
    for name in ["one.txt", "two.txt"] {
        std::fs::write(root.join(name), format!("{name}\n")).expect("file");
    }
    let mut index = repository.index().expect("index");
    index
        .add_all(["*"], git2::IndexAddOption::DEFAULT, None)
        .expect("added");
    index.write().expect("index");
    let tree = index
        .write_tree()
        .and_then(|tree| repository.find_tree(tree))
        .expect("tree");
    let signature = git2::Signature::new("T", "t@example.invalid", &git2::Time::new(0, 0)).expect("signature");
    let commit = repository
        .commit(Some("HEAD"), &signature, &signature, "start", &tree, &[])
        .expect("commit");
    CommitId::parse(&commit.to_string()).expect("id")
}

/// Verifies REQ-D1.5.
#[test]
fn the_lock_of_the_unfinished_index_does_not_stop_the_next_checkout() {
    let keep = tempfile::tempdir().expect("directory");
    let root = Utf8PathBuf::try_from(keep.path().to_path_buf()).expect("utf8");
    let start = repository(&root);
    let git = Utf8PathBuf::try_from(which::which("git").expect("git")).expect("utf8");
    let settings = WorldSettings {
        git: Some(git),
        ..WorldSettings::default()
    };
    let mut world = RealWorld::open(&root, settings).expect("world");
    let name = UnitName::parse("alpha:task-1").expect("name");
    assert_eq!(world.create_branch(&name, &start), Ok(Race::Won));
    assert_eq!(world.register_worktree(&name), Ok(Race::Won));
    let registration = world
        .repository()
        .registration(&name)
        .expect("read")
        .expect("registered");
    // As a kill between two files leaves it: an index, git's lock of it, and one of the files.
    std::fs::write(registration.git_directory.join("orchestrate.index.lock"), "").expect("lock");
    std::fs::write(registration.path.join("one.txt"), "one.txt\n").expect("file");
    assert_eq!(world.checkout(&name), Ok(Checkout::Complete));
    for name in ["one.txt", "two.txt"] {
        assert_eq!(
            std::fs::read_to_string(registration.path.join(name)).expect("file"),
            format!("{name}\n")
        );
    }
    assert!(!registration.git_directory.join("orchestrate.index.lock").exists());
    assert!(!registration.git_directory.join("locked").exists());
}
