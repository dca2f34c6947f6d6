//! Which refs of a clone git cannot read, and which it can.

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_host::repository::discover;
use orchestrate_host::unreadable_refs::{UnreadableRef, look};

struct Clone {
    _directory: tempfile::TempDir,
    path: Utf8PathBuf,
    first: git2::Oid,
}

impl Clone {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let path = Utf8PathBuf::from_path_buf(directory.path().canonicalize().expect("real")).expect("UTF-8");
        let repository = git2::Repository::init(&path).expect("a repository");
        let tree = repository
            .treebuilder(None)
            .expect("a builder")
            .write()
            .expect("a tree");
        let tree = repository.find_tree(tree).expect("found");
        let who = git2::Signature::new("A", "a@b.c", &git2::Time::new(1_700_000_000, 0)).expect("a signature");
        let first = repository
            .commit(Some("refs/heads/main"), &who, &who, "first", &tree, &[])
            .expect("a commit");
        Self {
            _directory: directory,
            path,
            first,
        }
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.path.join(".git").join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        std::fs::write(path, content).expect("written");
    }

    fn link(&self, name: &str, target: &Utf8Path) {
        std::os::unix::fs::symlink(target, self.path.join(".git").join(name)).expect("linked");
    }

    fn look(&self) -> Vec<UnreadableRef> {
        look(&discover(&self.path).expect("found")).expect("looked")
    }

    fn names(&self) -> Vec<(String, &'static str)> {
        let found = self.look().into_iter();
        found.map(|broken| (broken.name, broken.cause)).collect()
    }
}

const NOWHERE: &str = "1234567890123456789012345678901234567890";

/// Verifies REQ-F2.4.
#[test]
fn what_git_can_read_is_no_finding() {
    let clone = Clone::new();
    clone.write("refs/heads/other", &format!("{}\n", clone.first));
    clone.write("refs/remotes/origin/HEAD", "ref: refs/remotes/origin/main\n");
    clone.write("refs/heads/other.lock", "");
    clone.link("refs/heads/old-style", Utf8Path::new("refs/heads/main"));
    std::fs::create_dir(clone.path.join(".git/refs/heads/empty")).expect("made");
    assert_eq!(clone.names(), []);
}

/// Verifies REQ-F2.4.
#[test]
fn every_kind_of_ref_that_names_nothing_is_found_by_its_name() {
    let clone = Clone::new();
    clone.write("refs/heads/a/empty", "");
    clone.write("refs/heads/b", "no ref\n");
    clone.write("refs/heads/c", &format!("{NOWHERE}\n"));
    clone.write("refs/heads/d", &"0".repeat(5000));
    clone.link("refs/heads/e", Utf8Path::new("/etc/hostname"));
    clone.write(
        "packed-refs",
        &format!("# pack-refs with: peeled fully-peeled sorted \n{NOWHERE} refs/heads/f\n"),
    );
    let expected = [
        ("refs/heads/a/empty", "it is empty"),
        ("refs/heads/b", "it is no ref"),
        ("refs/heads/c", "what it names is not in this clone"),
        ("refs/heads/d", "it is no ref"),
        ("refs/heads/e", "it is a symbolic link that leads to no ref"),
        ("refs/heads/f", "what it names is not in this clone"),
    ];
    assert_eq!(clone.names(), expected.map(|(name, cause)| (name.to_owned(), cause)));
    let loose: Vec<bool> = clone.look().iter().map(|broken| broken.is_loose).collect();
    assert_eq!(loose, [true, true, true, true, true, false]);
}

/// Verifies REQ-F2.4.
#[test]
fn the_last_commit_of_a_log_that_is_still_here_is_told() {
    let clone = Clone::new();
    clone.write("refs/heads/gone", &format!("{NOWHERE}\n"));
    clone.write("refs/heads/unlogged", "");
    let zero = "0".repeat(40);
    let (first, who) = (clone.first, "A <a@b.c> 1700000000 +0000");
    clone.write(
        "logs/refs/heads/gone",
        &format!("{zero} {first} {who}\tfirst\n{first} {NOWHERE} {who}\tsecond\n"),
    );
    let last: Vec<Option<git2::Oid>> = clone.look().iter().map(|broken| broken.last).collect();
    assert_eq!(last, [Some(first), None]);
}
