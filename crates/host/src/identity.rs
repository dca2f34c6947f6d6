//! Who this process is, whether another one still lives, and who works in a directory: asked of the kernel.
//!
//! Everything comes from `/proc`, so only Linux gives knowledge; elsewhere the answers are *unknown* (law L4).
//! Owns no state.

use camino::Utf8Path;
use orchestrate_core::identifier::printable;
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::process::{Liveness, ProcessIdentity};
use orchestrate_core::world::Fault;

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
        return Observed::Unknown(Why::new(format!(
            "it runs on {host}, which cannot be asked"
        )));
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
/// A process of another user that we may not look at is left out: it cannot be a worker of ours, and every machine
/// has such processes, so that counting them would make every answer unknown.
pub fn processes_in(directory: &Utf8Path) -> Observed<Vec<Occupant>> {
    match kernel::processes_in(directory) {
        Ok(found) => Observed::Known(found),
        Err(why) => Observed::Unknown(Why::new(why)),
    }
}

/// Returns the processes that started this one, nearest first.
///
/// # Errors
/// When the kernel's records cannot be read.
pub fn ancestors() -> Result<Vec<u32>, Fault> {
    kernel::ancestors()
        .map_err(|error| Fault::new("cannot tell which processes started this one", error))
}

/// Returns the direct children of this process, ended ones included.
///
/// # Errors
/// When the kernel's records cannot be read.
pub fn children() -> Result<Vec<u32>, Fault> {
    kernel::children()
        .map_err(|error| Fault::new("cannot tell which children this process has", error))
}

fn host() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

/// What the kernel says of a pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// A process that has not ended, with its start time.
    Running { start: u64 },
    /// One that ended and was not waited for, or no process at all.
    Gone,
}

fn judge(
    process: &ProcessIdentity,
    boot: &str,
    look: impl FnOnce(u32) -> Result<Seen, String>,
) -> Observed<Liveness> {
    let parts = |text: &str| {
        text.split_once('/').map_or_else(
            || (text.to_owned(), None),
            |(boot, namespace)| (boot.to_owned(), Some(namespace.to_owned())),
        )
    };
    let (theirs, their_namespace) = parts(&process.boot);
    let (ours, our_namespace) = parts(boot);
    if theirs.is_empty() || ours.is_empty() {
        return Observed::Unknown(Why::new(
            "it is not known since which boot its pid is meant",
        ));
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

#[cfg(target_os = "linux")]
mod kernel {
    //! The parts that read `/proc`.

    use std::fs;
    use std::io::ErrorKind;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use camino::Utf8Path;
    use orchestrate_core::identifier::printable;
    use rustix::io::Errno;
    use rustix::process::Pid;

    use super::{Occupant, Seen};

    /// Directories are at most this deep; a deeper walk has gone wrong.
    const DEEPEST: usize = 128;

    /// One line of `/proc/<pid>/stat`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct Stat {
        pub(super) state: char,
        pub(super) parent: u32,
        pub(super) start: u64,
    }

    /// Returns the fields after the process's name, which stands in parentheses and may itself hold any byte.
    pub(super) fn parse_stat(bytes: &[u8]) -> Option<Stat> {
        let after_name = bytes.iter().rposition(|byte| *byte == b')')? + 1;
        let text = std::str::from_utf8(bytes.get(after_name..)?).ok()?;
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        // The state is field 3 of the file and the first after the name; the start time is field 22.
        Some(Stat {
            state: fields.first()?.chars().next()?,
            parent: fields.get(1)?.parse().ok()?,
            start: fields.get(22 - 3)?.parse().ok()?,
        })
    }

    pub(super) fn boot() -> Result<String, String> {
        let path = "/proc/sys/kernel/random/boot_id";
        let boot =
            fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
        let link = "/proc/self/ns/pid";
        let namespace =
            fs::read_link(link).map_err(|error| format!("cannot read {link}: {error}"))?;
        let digits: String = namespace
            .to_string_lossy()
            .chars()
            .filter(char::is_ascii_digit)
            .collect();
        Ok(format!("{}/{digits}", boot.trim()))
    }

    pub(super) fn own_start() -> Result<u64, String> {
        Ok(read_stat("self")?
            .ok_or("/proc/self/stat is not there")?
            .start)
    }

    pub(super) fn look(pid: u32) -> Result<Seen, String> {
        match read_stat(&pid.to_string())? {
            Some(stat) if matches!(stat.state, 'Z' | 'X' | 'x') => Ok(Seen::Gone),
            Some(stat) => Ok(Seen::Running { start: stat.start }),
            None => confirm_gone(pid),
        }
    }

    /// Returns that no process has the pid. A `/proc` mounted with `hidepid` hides the processes of other users.
    fn confirm_gone(pid: u32) -> Result<Seen, String> {
        let named = i32::try_from(pid).ok().and_then(Pid::from_raw);
        match named.map(rustix::process::test_kill_process) {
            None | Some(Err(Errno::SRCH)) => Ok(Seen::Gone),
            Some(Ok(()) | Err(_)) => Err(format!("pid {pid} is there, but /proc does not show it")),
        }
    }

    /// Returns the stat line of a process, nothing when there is no such process.
    fn read_stat(process: &str) -> Result<Option<Stat>, String> {
        let path = format!("/proc/{process}/stat");
        match fs::read(&path) {
            Ok(bytes) => parse_stat(&bytes)
                .map(Some)
                .ok_or_else(|| format!("cannot understand {path}")),
            Err(error) if is_gone(&error) => Ok(None),
            Err(error) => Err(format!("cannot read {path}: {error}")),
        }
    }

    fn is_gone(error: &std::io::Error) -> bool {
        error.kind() == ErrorKind::NotFound
            || error.raw_os_error() == Some(Errno::SRCH.raw_os_error())
    }

    /// Returns every pid that `/proc` shows, ascending.
    fn pids() -> Result<Vec<u32>, String> {
        let fault = |error: std::io::Error| format!("cannot list /proc: {error}");
        let mut pids = Vec::new();
        for entry in fs::read_dir("/proc").map_err(fault)? {
            let name = entry.map_err(fault)?.file_name();
            pids.extend(name.to_str().and_then(|name| name.parse::<u32>().ok()));
        }
        pids.sort_unstable();
        Ok(pids)
    }

    pub(super) fn ancestors() -> Result<Vec<u32>, String> {
        let mut found: Vec<u32> = Vec::new();
        let mut next = read_stat("self")?.map(|stat| stat.parent);
        // Parent 0 stands for "outside this namespace"; a repeated pid for one that was reused while we walked.
        while let Some(pid) = next.filter(|pid| *pid != 0 && !found.contains(pid)) {
            found.push(pid);
            next = read_stat(&pid.to_string())?.map(|stat| stat.parent);
        }
        Ok(found)
    }

    pub(super) fn children() -> Result<Vec<u32>, String> {
        let own = std::process::id();
        let mut found = Vec::new();
        for pid in pids()? {
            if read_stat(&pid.to_string())?.is_some_and(|stat| stat.parent == own) {
                found.push(pid);
            }
        }
        Ok(found)
    }

    pub(super) fn processes_in(directory: &Utf8Path) -> Result<Vec<Occupant>, String> {
        let physical = directory
            .canonicalize_utf8()
            .unwrap_or_else(|_| directory.to_path_buf());
        // One that is gone can still be the working directory of a process; then only the path tells.
        let inode = fs::metadata(&physical)
            .ok()
            .map(|metadata| (metadata.dev(), metadata.ino()));
        let mut found = Vec::new();
        for pid in pids()? {
            if works_in(pid, &physical, inode)? {
                let name = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
                let name = printable(String::from_utf8_lossy(&name).trim_end());
                found.push(Occupant { pid, name });
            }
        }
        Ok(found)
    }

    fn works_in(pid: u32, directory: &Utf8Path, inode: Option<(u64, u64)>) -> Result<bool, String> {
        let link = format!("/proc/{pid}/cwd");
        let shown = match fs::read_link(&link) {
            Ok(shown) => shown,
            Err(error) if is_gone(&error) => return Ok(false),
            Err(error)
                if error.kind() == ErrorKind::PermissionDenied && is_of_another_user(pid)? =>
            {
                return Ok(false);
            }
            Err(error) => return Err(format!("cannot read {link}: {error}")),
        };
        // The kernel marks a removed directory behind its path.
        let shown = shown.to_string_lossy();
        let shown = shown.strip_suffix(" (deleted)").unwrap_or(&shown);
        Ok(Path::new(shown).starts_with(directory)
            || inode.is_some_and(|inode| lies_below(&link, inode)))
    }

    /// Returns whether the directory is the link's target or one above it, by inode: a container shows another path
    /// for the same directory. A directory that cannot be searched ends the walk; the path has been compared before.
    fn lies_below(link: &str, inode: (u64, u64)) -> bool {
        let mut path = link.to_owned();
        let mut last = None;
        for _ in 0..DEEPEST {
            let Ok(metadata) = fs::metadata(&path) else {
                return false;
            };
            let here = (metadata.dev(), metadata.ino());
            if here == inode {
                return true;
            }
            if last == Some(here) {
                return false;
            }
            last = Some(here);
            path.push_str("/..");
        }
        false
    }

    fn is_of_another_user(pid: u32) -> Result<bool, String> {
        match fs::metadata(format!("/proc/{pid}")) {
            Ok(metadata) => Ok(metadata.uid() != rustix::process::geteuid().as_raw()),
            // It has ended meanwhile.
            Err(error) if is_gone(&error) => Ok(true),
            Err(error) => Err(format!("cannot look at /proc/{pid}: {error}")),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    //! The answers of a system whose process table this build cannot read.

    use camino::Utf8Path;

    use super::{Occupant, Seen};

    const WHY: &str = "this build can read the process table on Linux only";

    pub(super) fn boot() -> Result<String, String> {
        Ok(String::new())
    }

    pub(super) fn own_start() -> Result<u64, String> {
        Ok(0)
    }

    pub(super) fn look(_pid: u32) -> Result<Seen, String> {
        Err(WHY.to_owned())
    }

    pub(super) fn ancestors() -> Result<Vec<u32>, String> {
        Err(WHY.to_owned())
    }

    pub(super) fn children() -> Result<Vec<u32>, String> {
        Err(WHY.to_owned())
    }

    pub(super) fn processes_in(_directory: &Utf8Path) -> Result<Vec<Occupant>, String> {
        Err(WHY.to_owned())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::kernel::{Stat, parse_stat};
    use super::*;
    use proptest::prelude::*;

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
        let here =
            camino::Utf8PathBuf::try_from(std::env::current_dir().expect("cwd")).expect("utf8");
        let own = std::process::id();
        let pids = |directory: &Utf8Path| match processes_in(directory) {
            Observed::Known(found) => found
                .into_iter()
                .map(|found| found.pid)
                .collect::<Vec<u32>>(),
            other => panic!("{other:?}"),
        };
        assert!(pids(&here).contains(&own));
        assert!(pids(here.parent().expect("parent")).contains(&own));
        let empty = tempfile::tempdir().expect("directory");
        let empty = Utf8Path::from_path(empty.path()).expect("utf8");
        assert_eq!(occupants(empty), Observed::Known(Vec::new()));
        assert_eq!(
            occupants(&empty.join("missing")),
            Observed::Known(Vec::new())
        );
    }

    #[test]
    fn this_process_has_ancestors() {
        let ancestors = ancestors().expect("ancestors");
        assert!(!ancestors.contains(&std::process::id()));
        assert!(ancestors.first().is_some_and(|parent| *parent != 0));
    }

    proptest! {
        /// A process may give itself any name, even one that looks like the rest of the line.
        #[test]
        fn names_cannot_forge_the_line(name in proptest::collection::vec(any::<u8>(), 0..16), parent in 0u32..99999, start in any::<u64>()) {
            let mut line = b"12 (".to_vec();
            line.extend(&name);
            line.extend(format!(") S {parent} 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 {start} 23 24\n").as_bytes());
            prop_assert_eq!(parse_stat(&line), Some(Stat { state: 'S', parent, start }));
        }

        #[test]
        fn no_line_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_stat(&bytes);
        }
    }

    #[test]
    fn the_start_time_is_field_22() {
        let line = b"12 (a) S 1 12 12 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 777 24 25\n";
        assert_eq!(
            parse_stat(line),
            Some(Stat {
                state: 'S',
                parent: 1,
                start: 777
            })
        );
    }
}
