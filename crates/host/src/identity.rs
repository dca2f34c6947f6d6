//! Who this process is, whether another one still lives, and who works in a directory: asked of the kernel.
//!
//! Everything comes from `/proc`, so only Linux gives knowledge; elsewhere the answers are *unknown* (law L4).
//! Owns no state.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::printable;
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::process::{Liveness, ProcessIdentity};
use orchestrate_core::world::Fault;

#[cfg(not(target_os = "linux"))]
use self::elsewhere as kernel;
#[cfg(target_os = "linux")]
use self::linux as kernel;

/// A process that works in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occupant {
    /// Its process id.
    pub pid: u32,
    /// Its name, printable.
    pub name: String,
}

impl std::fmt::Display for Occupant {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "pid {} ({})", self.pid, self.name)
    }
}

/// Returns this process's identity.
///
/// `boot` holds the boot id and, behind a slash, the process namespace: a pid means nothing in another container.
///
/// # Errors
/// When the kernel's records of it cannot be read.
pub fn current() -> Result<ProcessIdentity, Fault> {
    let fault = |error| Fault::new("cannot tell which process this is", error);
    Ok(ProcessIdentity {
        host: host(),
        boot: kernel::boot().map_err(fault)?,
        pid: std::process::id(),
        start: kernel::own_start().map_err(fault)?,
    })
}

/// Returns whether the process lives.
///
/// Dead only by evidence: the machine restarted, no process has the pid, another one has it, or it is a zombie.
/// Unknown for a process of another host or container, and wherever the kernel's records cannot be read.
pub fn liveness(process: &ProcessIdentity) -> Observed<Liveness> {
    if process.host != host() {
        let host = printable(&process.host);
        return Observed::Unknown(Why::new(format!("it runs on {host}, which cannot be asked")));
    }
    match kernel::boot() {
        Ok(boot) => judge(process, &boot, kernel::look),
        Err(why) => Observed::Unknown(Why::new(why)),
    }
}

/// Returns the processes whose working directory lies in the directory, described for people.
pub fn occupants(directory: &Utf8Path) -> Observed<Vec<String>> {
    processes_in(directory).map(|all| all.iter().map(ToString::to_string).collect())
}

/// Returns the processes whose working directory lies in the directory, in the order of their ids.
///
/// A process that we may not look at is left out where the reason is that it belongs to another user or has more
/// privileges than we have: it cannot be a worker of ours, and every machine has such processes, so that counting them
/// would make every answer unknown.
pub fn processes_in(directory: &Utf8Path) -> Observed<Vec<Occupant>> {
    match kernel::processes_in(directory) {
        Ok(found) => Observed::Known(found),
        Err(why) => Observed::Unknown(Why::new(why)),
    }
}

/// Returns the processes that have something in a directory open, or the directory itself. Those of other users are left
/// out, as in [`processes_in`].
pub(crate) fn holders_below(directory: &Utf8Path) -> Observed<Vec<Occupant>> {
    match kernel::holders_below(directory) {
        Ok(found) => Observed::Known(found),
        Err(why) => Observed::Unknown(Why::new(why)),
    }
}

/// A running program of this user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// Its process id.
    pub pid: u32,
    /// Its command line.
    pub arguments: Vec<String>,
    /// Its working directory, where it can be told.
    pub directory: Option<Utf8PathBuf>,
}

/// Returns the running programs of this user whose file has one of these names, in the order of their ids; not this
/// process itself.
pub fn running(names: &[&str]) -> Observed<Vec<Running>> {
    match kernel::running(names) {
        Ok(found) => Observed::Known(found),
        Err(why) => Observed::Unknown(Why::new(why)),
    }
}

/// Returns the processes that have a file open, which is named by its device and inode. Those of other users are left
/// out, as in [`processes_in`]: the caller makes sure that the file is this user's.
pub(crate) fn holders(file: (u64, u64)) -> Observed<Vec<Occupant>> {
    holders_of_any(&[file])
}

/// Returns the processes that have one of the files open, in one look, as [`holders`].
pub(crate) fn holders_of_any(files: &[(u64, u64)]) -> Observed<Vec<Occupant>> {
    match kernel::holders(files) {
        Ok(found) => Observed::Known(found),
        Err(why) => Observed::Unknown(Why::new(why)),
    }
}

/// Returns the processes that started this one, nearest first.
///
/// # Errors
/// When the kernel's records cannot be read.
pub fn ancestors() -> Result<Vec<u32>, Fault> {
    kernel::ancestors().map_err(|error| Fault::new("cannot tell which processes started this one", error))
}

/// Returns the direct children of this process, ended ones included.
///
/// # Errors
/// When the kernel's records cannot be read.
pub fn children() -> Result<Vec<u32>, Fault> {
    kernel::children().map_err(|error| Fault::new("cannot tell which children this process has", error))
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// What the kernel says of a pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// A process that has not ended, with its start time.
    Running { start: u64 },
    /// One that ended and was not waited for, or no process at all.
    Gone,
}

fn judge(process: &ProcessIdentity, boot: &str, look: impl FnOnce(u32) -> Result<Seen, String>) -> Observed<Liveness> {
    let parts = |text: &str| {
        text.split_once('/').map_or_else(
            || (text.to_owned(), None),
            |(boot, namespace)| (boot.to_owned(), Some(namespace.to_owned())),
        )
    };
    let (theirs, their_namespace) = parts(&process.boot);
    let (ours, our_namespace) = parts(boot);
    if theirs.is_empty() || ours.is_empty() {
        return Observed::Unknown(Why::new("it is not known since which boot its pid is meant"));
    }
    if theirs != ours {
        return Observed::Known(Liveness::Dead);
    }
    if their_namespace != our_namespace {
        return Observed::Unknown(Why::new(
            "it runs in another container of this host, which cannot be asked",
        ));
    }
    match look(process.pid) {
        Ok(Seen::Running { start }) if start == process.start => Observed::Known(Liveness::Alive),
        Ok(Seen::Running { .. } | Seen::Gone) => Observed::Known(Liveness::Dead),
        Err(why) => Observed::Unknown(Why::new(why)),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn identity(boot: &str) -> ProcessIdentity {
        ProcessIdentity {
            host: host(),
            boot: boot.to_owned(),
            pid: 7,
            start: 100,
        }
    }

    fn verdict(boot: &str, seen: Result<Seen, String>) -> Observed<Liveness> {
        judge(&identity(boot), "b/1", |pid| {
            assert_eq!(pid, 7);
            seen
        })
    }

    #[test]
    fn only_evidence_makes_a_process_dead() {
        let dead = Observed::Known(Liveness::Dead);
        assert_eq!(
            verdict("b/1", Ok(Seen::Running { start: 100 })),
            Observed::Known(Liveness::Alive)
        );
        assert_eq!(verdict("b/1", Ok(Seen::Running { start: 101 })), dead);
        assert_eq!(verdict("b/1", Ok(Seen::Gone)), dead);
        assert_eq!(verdict("other/1", Ok(Seen::Running { start: 100 })), dead);
        for (boot, seen) in [
            ("b/2", Ok(Seen::Gone)),
            ("b", Ok(Seen::Gone)),
            ("", Ok(Seen::Gone)),
            ("b/1", Err("cannot read".to_owned())),
        ] {
            assert!(
                matches!(verdict(boot, seen.clone()), Observed::Unknown(_)),
                "{boot} {seen:?}"
            );
        }
    }

    #[test]
    fn this_process_lives_and_an_impossible_one_does_not() {
        let own = current().expect("identity");
        assert_eq!(liveness(&own), Observed::Known(Liveness::Alive));
        let other_start = ProcessIdentity {
            start: own.start + 1,
            ..own.clone()
        };
        assert_eq!(liveness(&other_start), Observed::Known(Liveness::Dead));
        // Larger than any pid the kernel gives.
        let nobody = ProcessIdentity {
            pid: u32::MAX,
            ..own.clone()
        };
        assert_eq!(liveness(&nobody), Observed::Known(Liveness::Dead));
        let elsewhere = ProcessIdentity {
            host: "elsewhere".to_owned(),
            ..own
        };
        assert!(matches!(liveness(&elsewhere), Observed::Unknown(_)));
    }

    #[test]
    fn this_process_works_in_its_working_directory() {
        let here = camino::Utf8PathBuf::try_from(std::env::current_dir().expect("cwd")).expect("utf8");
        let own = std::process::id();
        let pids = |directory: &Utf8Path| match processes_in(directory) {
            Observed::Known(found) => found.into_iter().map(|found| found.pid).collect::<Vec<u32>>(),
            Observed::Absent(why) | Observed::Unknown(why) => panic!("{why}"),
        };
        assert!(pids(&here).contains(&own));
        assert!(pids(here.parent().expect("parent")).contains(&own));
        let empty = tempfile::tempdir().expect("directory");
        let empty = Utf8Path::from_path(empty.path()).expect("utf8");
        assert_eq!(occupants(empty), Observed::Known(Vec::new()));
        assert_eq!(occupants(&empty.join("missing")), Observed::Known(Vec::new()));
    }

    #[test]
    fn this_process_has_ancestors() {
        let ancestors = ancestors().expect("ancestors");
        assert!(!ancestors.contains(&std::process::id()));
        assert!(ancestors.first().is_some_and(|parent| *parent != 0));
    }
}
