//! The answers of Linux, read from `/proc`.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::printable;
use rustix::io::Errno;
use rustix::process::Pid;

use super::{Occupant, Running, Seen};

/// Directories are at most this deep; a deeper walk has gone wrong.
const DEEPEST: usize = 128;

/// One line of `/proc/<pid>/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    state: char,
    parent: u32,
    start: u64,
}

/// Returns the fields after the process's name, which stands in parentheses and may itself hold any byte.
fn parse_stat(bytes: &[u8]) -> Option<Stat> {
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
    let boot = fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
    let link = "/proc/self/ns/pid";
    let namespace = fs::read_link(link).map_err(|error| format!("cannot read {link}: {error}"))?;
    let digits: String = namespace
        .to_string_lossy()
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    Ok(format!("{}/{digits}", boot.trim()))
}

pub(super) fn own_start() -> Result<u64, String> {
    Ok(read_stat("self")?.ok_or("/proc/self/stat is not there")?.start)
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
    error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(Errno::SRCH.raw_os_error())
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
            found.push(occupant(pid));
        }
    }
    Ok(found)
}

fn occupant(pid: u32) -> Occupant {
    let name = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    let name = printable(String::from_utf8_lossy(&name).trim_end());
    Occupant { pid, name }
}

fn works_in(pid: u32, directory: &Utf8Path, inode: Option<(u64, u64)>) -> Result<bool, String> {
    let link = format!("/proc/{pid}/cwd");
    let shown = match fs::read_link(&link) {
        Ok(shown) => shown,
        Err(error) if is_gone(&error) => return Ok(false),
        Err(error) if error.kind() == ErrorKind::PermissionDenied && is_above_us(pid)? => {
            return Ok(false);
        }
        Err(error) => return Err(format!("cannot read {link}: {error}")),
    };
    // The kernel marks a removed directory behind its path.
    let shown = shown.to_string_lossy();
    let shown = shown.strip_suffix(" (deleted)").unwrap_or(&shown);
    Ok(Path::new(shown).starts_with(directory) || inode.is_some_and(|inode| lies_below(&link, inode)))
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

pub(super) fn running(names: &[&str]) -> Result<Vec<Running>, String> {
    let own = rustix::process::geteuid().as_raw();
    let mut found = Vec::new();
    for pid in pids()?.into_iter().filter(|pid| *pid != std::process::id()) {
        // A process that ends while we look is not there.
        let is_ours = fs::metadata(format!("/proc/{pid}")).is_ok_and(|metadata| metadata.uid() == own);
        let Some(line) = is_ours.then(|| fs::read(format!("/proc/{pid}/cmdline")).ok()).flatten() else {
            continue;
        };
        let arguments: Vec<String> = line
            .strip_suffix(b"\0")
            .unwrap_or(&line)
            .split(|byte| *byte == 0)
            .map(|argument| String::from_utf8_lossy(argument).into_owned())
            .collect();
        let program = arguments.first().and_then(|first| Utf8Path::new(first).file_name());
        if !program.is_some_and(|program| names.contains(&program)) {
            continue;
        }
        let directory = fs::read_link(format!("/proc/{pid}/cwd"));
        found.push(Running {
            pid,
            arguments,
            directory: directory.ok().and_then(|path| Utf8PathBuf::from_path_buf(path).ok()),
        });
    }
    Ok(found)
}

pub(super) fn holders(files: &[(u64, u64)]) -> Result<Vec<Occupant>, String> {
    who_opened(|descriptor| Ok(files.contains(&device_and_inode(&fs::metadata(descriptor)?))))
}

pub(super) fn holders_below(directory: &Utf8Path) -> Result<Vec<Occupant>, String> {
    who_opened(|descriptor| Ok(fs::read_link(descriptor)?.starts_with(directory)))
}

fn device_and_inode(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Returns the processes that have something open of which that is true, each asked by its descriptor's link.
fn who_opened(is_meant: impl Fn(&Path) -> std::io::Result<bool>) -> Result<Vec<Occupant>, String> {
    let mut found = Vec::new();
    for pid in pids()? {
        if has_open(pid, &is_meant)? {
            found.push(occupant(pid));
        }
    }
    Ok(found)
}

fn has_open(pid: u32, is_meant: &impl Fn(&Path) -> std::io::Result<bool>) -> Result<bool, String> {
    let directory = format!("/proc/{pid}/fd");
    let entries = match fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(error) if is_gone(&error) => return Ok(false),
        Err(error) if error.kind() == ErrorKind::PermissionDenied && is_above_us(pid)? => return Ok(false),
        Err(error) => return Err(format!("cannot list {directory}: {error}")),
    };
    for entry in entries {
        // A process that ends, or closes a file while we look, has it open no more.
        let opened = entry.and_then(|entry| is_meant(&entry.path()));
        match opened {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(error) if is_gone(&error) => {}
            Err(error) if error.kind() == ErrorKind::PermissionDenied && is_above_us(pid)? => return Ok(false),
            Err(error) => return Err(format!("cannot look into {directory}: {error}")),
        }
    }
    Ok(false)
}

/// Returns whether the process belongs to another user, or has capabilities that we do not have: as pid 1 of a
/// container has, seen by a root of fewer.
fn is_above_us(pid: u32) -> Result<bool, String> {
    match fs::metadata(format!("/proc/{pid}")) {
        Ok(metadata) if metadata.uid() != rustix::process::geteuid().as_raw() => Ok(true),
        Ok(_) => match (capabilities(&pid.to_string())?, capabilities("self")?) {
            (Some(theirs), Some(ours)) => Ok(theirs & !ours != 0),
            // It has ended meanwhile.
            (None, _) => Ok(true),
            (Some(_), None) => Err("/proc/self/status is not there".to_owned()),
        },
        Err(error) if is_gone(&error) => Ok(true),
        Err(error) => Err(format!("cannot look at /proc/{pid}: {error}")),
    }
}

/// Returns the capabilities a process may use, nothing when there is no such process.
fn capabilities(process: &str) -> Result<Option<u64>, String> {
    let path = format!("/proc/{process}/status");
    let text = match fs::read(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if is_gone(&error) => return Ok(None),
        Err(error) => return Err(format!("cannot read {path}: {error}")),
    };
    text.lines()
        .find_map(|line| line.strip_prefix("CapPrm:"))
        .and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok())
        .map(Some)
        .ok_or_else(|| format!("cannot understand {path}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
