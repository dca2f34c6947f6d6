//! Fences at a real origin: each is removed while it leads to the commit that was looked at, and by nothing else.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::{CommitId, Nonce, SpecId, TaskId};
use orchestrate_core::record::fence::{Fence, reference};
use orchestrate_core::time::Timestamp;
use orchestrate_core::world::{Pushed, World};
use orchestrate_host::world::{RealWorld, WorldSettings};

fn directory() -> (tempfile::TempDir, Utf8PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let place = Utf8Path::from_path(directory.path()).expect("utf-8");
    let place = place.canonicalize_utf8().expect("there");
    (directory, place)
}

fn world(place: &Utf8Path, origin: &Utf8Path) -> RealWorld {
    let repository = git2::Repository::init(place).expect("a repository");
    repository.remote("origin", origin.as_str()).expect("a remote");
    let found = ["/usr/bin/git", "/usr/local/bin/git", "/bin/git"].map(Utf8Path::new);
    let git = found.into_iter().find(|path| path.is_file()).expect("git is installed");
    let settings = WorldSettings {
        git: Some(git.to_owned()),
        ..WorldSettings::default()
    };
    RealWorld::open(place, settings).expect("opens")
}

fn new_fence(world: &mut RealWorld) -> CommitId {
    let nonce: Nonce = world.nonce().expect("a nonce");
    let fence = Fence::new(world.identity(), world.clone_id(), nonce, Timestamp::from_seconds(0));
    world.create_fence(&fence).expect("a commit")
}

/// Verifies REQ-D2.1.
#[test]
fn a_fence_is_removed_while_it_is_the_one_that_was_looked_at() {
    let (_kept, clone) = directory();
    let (_kept_too, origin) = directory();
    let bare = git2::Repository::init_bare(&origin).expect("an origin");
    let mut world = world(&clone, &origin);
    let spec = SpecId::parse("alpha").expect("a spec");
    let task = TaskId::parse("1").expect("a task");
    let there = || bare.find_reference(&reference(&spec, &task)).is_ok();

    let (given_back, standing) = (new_fence(&mut world), new_fence(&mut world));
    assert_ne!(given_back, standing);
    let fences = BTreeMap::from([(task.clone(), standing.clone())]);
    let pushed = world.push_fences(&spec, &fences).expect("an answer");
    assert_eq!(pushed.get(&task), Some(&Pushed::Made));

    world.delete_fence(&spec, &task, &given_back).expect("no error");
    assert!(there(), "another fence stands in its place");
    world.delete_fence(&spec, &task, &standing).expect("removed");
    assert!(!there());
    world.delete_fence(&spec, &task, &standing).expect("it is gone");
    std::fs::rename(&origin, origin.with_extension("away")).expect("moved");
    let fault = world.delete_fence(&spec, &task, &standing).expect_err("nobody answers");
    assert!(
        fault
            .to_string()
            .contains("cannot remove refs/planwright-fence/alpha/1 from origin"),
        "{fault}"
    );
}
