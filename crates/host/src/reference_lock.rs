//! Git's own lock of a task branch, `refs/heads/planwright/<spec>/task-<ids>.lock`, when its holder was killed.
//!
//! The file is the lock, and no git ever gets past it. Who writes it keeps it open until it names a commit whole, so that
//! one which does not and which no process has open is nobody's. Git closes a whole one before it runs its hooks and
//! renames it: that one is broken only where it says what is to be set anyway, and so may be this tower's own. Its age
//! tells nothing (laws L4 and L6).

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use orchestrate_core::identifier::{CommitId, UnitName};
use orchestrate_core::observed::Observed;
use orchestrate_core::world::Fault;

use crate::identity;

/// Removes the lock of the unit's branch, which is to be set to a commit, if no process holds it. The caller holds the
/// bundle's lock.
///
/// # Errors
/// When somebody holds it, or may.
pub(crate) fn break_abandoned(common: &Path, name: &UnitName, target: &CommitId) -> Result<(), Fault> {
    let path = common.join(format!("{}.lock", name.reference()));
    let fault = |cause: String| {
        Fault::new(format!("cannot set branch {}", name.branch()), cause).with_hint(format!(
            "step again when it is free; if no git is at work here, remove {}",
            path.display()
        ))
    };
    let unreadable = |error: std::io::Error| fault(format!("{} cannot be looked at: {error}", path.display()));
    let before = match fs::symlink_metadata(&path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unreadable(error)),
    };
    if !before.file_type().is_file() || before.uid() != rustix::process::geteuid().as_raw() {
        return Err(fault(format!(
            "{} is no lock that this user's git made",
            path.display()
        )));
    }
    match identity::holders((before.dev(), before.ino())) {
        Observed::Known(holders) if holders.is_empty() => {}
        Observed::Known(holders) => {
            let holders: Vec<String> = holders.iter().map(ToString::to_string).collect();
            return Err(fault(format!("git has locked it: {}", holders.join(", "))));
        }
        Observed::Absent(why) | Observed::Unknown(why) => {
            return Err(fault(format!(
                "git has locked it, and who holds the lock cannot be told: {why}"
            )));
        }
    }
    let whole = format!("{target}\n");
    let says = fs::read(&path).map_err(unreadable)?;
    if says.len() >= whole.len() && says != whole.as_bytes() {
        return Err(fault("git may be about to set it to another commit".to_owned()));
    }
    // A holder that was between its last write and its rename has ended the lock meanwhile.
    match fs::symlink_metadata(&path) {
        Ok(after) if is_same(&before, &after) => fs::remove_file(&path).map_err(unreadable),
        Ok(_) => Err(fault("git has locked it again and again".to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(unreadable(error)),
    }
}

fn is_same(before: &Metadata, after: &Metadata) -> bool {
    let identity = |of: &Metadata| (of.dev(), of.ino(), of.ctime(), of.ctime_nsec());
    identity(before) == identity(after)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::File;
    use std::path::PathBuf;

    use orchestrate_core::world::Race;

    use super::*;
    use crate::git::{advance_branch, create_branch};

    struct Fixture {
        _keep: tempfile::TempDir,
        repository: git2::Repository,
        commits: [CommitId; 2],
        name: UnitName,
        lock: PathBuf,
    }

    fn fixture() -> Fixture {
        let keep = tempfile::tempdir().expect("directory");
        let repository = git2::Repository::init(keep.path()).expect("repository");
        let commits = ["one", "two"].map(|message| {
            let signature = git2::Signature::new("T", "t@example.invalid", &git2::Time::new(0, 0)).expect("signature");
            let tree = repository
                .treebuilder(None)
                .and_then(|tree| tree.write())
                .expect("tree");
            let tree = repository.find_tree(tree).expect("tree");
            let commit = repository
                .commit(None, &signature, &signature, message, &tree, &[])
                .expect("commit");
            CommitId::parse(&commit.to_string()).expect("id")
        });
        let name = UnitName::parse("alpha:task-1").expect("name");
        let lock = repository.commondir().join(format!("{}.lock", name.reference()));
        fs::create_dir_all(lock.parent().expect("parent")).expect("directory");
        Fixture {
            _keep: keep,
            repository,
            commits,
            name,
            lock,
        }
    }

    #[test]
    fn a_lock_that_nobody_has_open_is_broken() {
        let Fixture {
            repository,
            commits: [one, two],
            name,
            lock,
            ..
        } = &fixture();
        File::create(lock).expect("lock");
        assert_eq!(create_branch(repository, name, one), Ok(Race::Won));
        File::create(lock).expect("lock");
        assert_eq!(advance_branch(repository, name, one, two), Ok(Race::Won));
        assert!(!lock.exists());
        assert_eq!(create_branch(repository, name, one), Ok(Race::Lost));
    }

    #[test]
    fn a_lock_that_a_process_has_open_stays() {
        let Fixture {
            repository,
            commits: [one, _],
            name,
            lock,
            ..
        } = &fixture();
        let held = File::create(lock).expect("lock");
        let fault = create_branch(repository, name, one).expect_err("held");
        assert!(fault.cause.contains(&format!("pid {}", std::process::id())), "{fault}");
        assert!(fault.hint.is_some() && lock.exists());
        drop(held);
        assert_eq!(create_branch(repository, name, one), Ok(Race::Won));
    }

    /// Git has closed it while its hooks run.
    #[test]
    fn a_whole_lock_is_broken_only_where_it_says_the_same() {
        let Fixture {
            repository,
            commits: [one, two],
            name,
            lock,
            ..
        } = &fixture();
        fs::write(lock, format!("{two}\n")).expect("lock");
        let fault = create_branch(repository, name, one).expect_err("another commit");
        assert!(fault.hint.is_some() && lock.exists(), "{fault}");
        fs::write(lock, &two.as_str()[..20]).expect("lock");
        assert_eq!(create_branch(repository, name, one), Ok(Race::Won), "torn");
        fs::write(lock, format!("{two}\n")).expect("lock");
        assert_eq!(advance_branch(repository, name, one, two), Ok(Race::Won), "the same");
        assert!(!lock.exists());
    }

    #[test]
    fn what_is_no_lock_file_stays() {
        let Fixture {
            repository,
            commits: [one, _],
            name,
            lock,
            ..
        } = &fixture();
        fs::create_dir(lock).expect("directory");
        assert!(create_branch(repository, name, one).is_err());
        assert!(lock.is_dir());
    }

    #[test]
    fn a_lock_that_is_gone_needs_no_breaking() {
        let Fixture {
            repository,
            commits: [one, _],
            name,
            ..
        } = &fixture();
        assert_eq!(break_abandoned(repository.commondir(), name, one), Ok(()));
    }
}
