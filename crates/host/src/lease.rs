//! The worker's kernel lease, `<worktree git directory>/orchestrate.lease` (architecture §6, "Worker lease").
//!
//! Held means alive, whatever anybody recorded. The kernel owns the state: the lock belongs to the *open file*, so it
//! lasts until the last process that inherited the descriptor has ended, and no longer.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use fd_lock::RwLock;
use orchestrate_core::evidence::Lease;
use orchestrate_core::identifier::Nonce;
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::process::{Liveness, ProcessIdentity};
use orchestrate_core::time::Timestamp;
use orchestrate_core::world::Fault;
use rustix::fs::OFlags;
use rustix::io::FdFlags;
use serde::{Deserialize, Serialize};

use crate::identity;

/// How long [`take`] waits for probers, each of which holds the lock shared and for an instant only.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long [`take`] waits between two tries. The kernel has no bounded wait for such a lock.
const PAUSE: Duration = Duration::from_millis(20);
/// No lease file of ours is longer.
const LONGEST_TEXT: u64 = 4096;

/// Who holds a lease. For people only: that it is held is for the kernel to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseHolder {
    /// The worker runner's process id.
    pub pid: u32,
    /// The worker runner itself, where the kernel told who it is. Older versions did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<ProcessIdentity>,
    /// When it took the lease.
    pub started: Timestamp,
    /// The attempt it runs.
    pub attempt: Nonce,
}

/// The lease, taken. It lasts while this value or any process started meanwhile lives.
#[derive(Debug)]
pub struct LeaseHold {
    file: File,
    path: Utf8PathBuf,
}

/// Returns where the lease of a worktree lies, given the worktree's git directory.
#[must_use]
pub fn path(git_directory: &Utf8Path) -> Utf8PathBuf {
    git_directory.join("orchestrate.lease")
}

/// Takes the lease, or returns nothing when a worker, or what is left of one, holds it.
///
/// From here on every process that this one starts inherits the lease, so that a kill of the runner leaves it with
/// the client. Call it only in a process that starts nothing but its client.
///
/// A prober in the way is waited for, at most two seconds, looking again every 20 milliseconds.
///
/// # Errors
/// When the file cannot be opened or locked for another reason, or probers do not go away.
pub fn take(path: &Utf8Path) -> Result<Option<LeaseHold>, Fault> {
    let fault = |cause: String| Fault::new(format!("cannot take the worker lease {path}"), cause);
    let mut lock = RwLock::new(open(path, &fault)?);
    let deadline = Instant::now() + PATIENCE;
    loop {
        match lock.try_write() {
            Ok(guard) => {
                // The guard's end would unlock the open file for every process that shares it. Closing does not.
                std::mem::forget(guard);
                break;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(fault(error.to_string())),
        }
        // Probers share; whoever excludes a shared lock holds the lease.
        match lock.try_read() {
            Ok(shared) => drop(shared),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(fault(error.to_string())),
        }
        if Instant::now() >= deadline {
            return Err(fault("something keeps looking at it".to_owned()));
        }
        pause();
    }
    let file = lock.into_inner();
    if !is_still_at(&file, path) {
        return Err(fault("it was replaced while it was taken".to_owned()));
    }
    // Whoever held it before is not its holder any more.
    file.set_len(0).map_err(|error| fault(error.to_string()))?;
    rustix::io::fcntl_setfd(&file, FdFlags::empty()).map_err(|error| fault(error.to_string()))?;
    Ok(Some(LeaseHold {
        file,
        path: path.to_owned(),
    }))
}

/// Opens the lease's file, made where it is not there; never what a link leads to.
fn open(path: &Utf8Path, fault: &impl Fn(String) -> Fault) -> Result<File, Fault> {
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(open_flags(OFlags::NOFOLLOW | OFlags::NONBLOCK))
        .open(path)
        .map_err(|error| fault(error.to_string()))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        Ok(file)
    } else {
        Err(fault("it is not a regular file".to_owned()).with_hint(format!("look at {path} and move it away")))
    }
}

/// The lease, kept from every worker while this value lives. No process inherits it.
#[derive(Debug)]
pub(crate) struct Excluded {
    _file: File,
}

/// Keeps every worker from the lease: who comes meanwhile finds it held. Nothing where somebody holds it, or looks at it.
///
/// # Errors
/// When the file cannot be opened or locked.
pub(crate) fn exclude(path: &Utf8Path) -> Result<Option<Excluded>, Fault> {
    let fault = |cause: String| Fault::new(format!("cannot keep workers from {path}"), cause);
    let mut lock = RwLock::new(open(path, &fault)?);
    match lock.try_write() {
        // Closing the file ends the lock; the guard's end would do the same, only earlier.
        Ok(guard) => std::mem::forget(guard),
        Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
        Err(error) => return Err(fault(error.to_string())),
    }
    let file = lock.into_inner();
    let is_there = std::fs::symlink_metadata(path).is_ok() && is_still_at(&file, path);
    Ok(is_there.then_some(Excluded { _file: file }))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a lock cannot be waited for with a bound; take() bounds the tries"
)]
fn pause() {
    std::thread::sleep(PAUSE);
}

impl LeaseHold {
    /// Writes down who holds the lease.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn describe(&mut self, holder: &LeaseHolder) -> Result<(), Fault> {
        let fault = |cause: String| Fault::new(format!("cannot write {}", self.path), cause);
        let text = serde_json::to_string(holder).map_err(|error| fault(error.to_string()))?;
        self.file
            .set_len(0)
            .and_then(|()| self.file.rewind())
            .and_then(|()| self.file.write_all(format!("{text}\n").as_bytes()))
            .map_err(|error| fault(error.to_string()))
    }
}

/// Returns whether somebody holds the lease. The probe itself holds it shared for an instant, so that probers do not
/// take one another for a worker.
pub fn probe(path: &Utf8Path) -> Observed<Lease> {
    let unknown = |cause: String| Observed::Unknown(Why::new(format!("cannot look at {path}: {cause}")));
    // A link or a pipe at the place must neither be followed nor be waited for.
    let opened = File::options()
        .read(true)
        .custom_flags(open_flags(OFlags::NOFOLLOW | OFlags::NONBLOCK))
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Observed::Known(Lease::Free),
        Err(error) => return unknown(error.to_string()),
    };
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return unknown("it is not a regular file".to_owned()),
        Err(error) => return unknown(error.to_string()),
    }
    let lock = RwLock::new(file);
    let tried = lock.try_read().map(drop);
    let mut file = lock.into_inner();
    match tried {
        Ok(()) if is_still_at(&file, path) => Observed::Known(Lease::Free),
        Ok(()) => unknown("it was replaced while it was looked at".to_owned()),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Observed::Known(held(&mut file)),
        Err(error) => unknown(error.to_string()),
    }
}

/// Returns whether the opened file is the one at the path: a lock on a file that was moved away says nothing.
fn is_still_at(file: &File, path: &Utf8Path) -> bool {
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(opened), Ok(there)) => (opened.dev(), opened.ino()) == (there.dev(), there.ino()),
        (Ok(_), Err(error)) => error.kind() == ErrorKind::NotFound,
        (Err(_), Ok(_) | Err(_)) => false,
    }
}

fn held(file: &mut File) -> Lease {
    let mut text = String::new();
    let holder = file
        .take(LONGEST_TEXT)
        .read_to_string(&mut text)
        .ok()
        .and_then(|_| serde_json::from_str::<LeaseHolder>(&text).ok());
    match holder {
        Some(holder) => Lease::Held {
            holder: described(&holder),
            since: Some(holder.started),
        },
        None => Lease::Held {
            holder: "it has not said who it is".to_owned(),
            since: None,
        },
    }
}

/// Returns who holds the lease, in words. A runner that was killed holds it no more: what it started does.
fn described(holder: &LeaseHolder) -> String {
    let pid = holder.pid;
    match holder.runner.as_ref().map(identity::liveness) {
        Some(Observed::Known(Liveness::Dead)) => format!("its runner, pid {pid}, has ended"),
        Some(Observed::Known(Liveness::Alive) | Observed::Absent(_) | Observed::Unknown(_)) | None => {
            format!("pid {pid}")
        }
    }
}

fn open_flags(flags: OFlags) -> i32 {
    // The flags are small bit masks; the kernel takes them as a signed number.
    i32::try_from(flags.bits()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    //! Only what needs no lease taken: [`take`] makes every process that this one starts a holder, so its tests run
    //! in processes of their own, in `crates/workers/tests`.

    use super::*;

    fn directory() -> (tempfile::TempDir, Utf8PathBuf) {
        let directory = tempfile::tempdir().expect("directory");
        let path = Utf8PathBuf::try_from(directory.path().to_path_buf()).expect("utf8");
        (directory, path)
    }

    #[test]
    fn nobody_holds_what_is_not_there() {
        let (_guard, root) = directory();
        assert_eq!(probe(&path(&root)), Observed::Known(Lease::Free));
        let in_missing = path(&root.join("missing"));
        assert_eq!(probe(&in_missing), Observed::Known(Lease::Free));
    }

    #[test]
    fn what_is_no_file_is_unknown_and_not_waited_for() {
        let (_guard, root) = directory();
        let target = root.join("target");
        std::fs::write(&target, "").expect("file");
        std::os::unix::fs::symlink(&target, root.join("link")).expect("link");
        std::os::unix::fs::symlink(root.join("nowhere"), root.join("broken")).expect("link");
        let fifo = root.join("fifo");
        let mode = rustix::fs::Mode::RWXU;
        rustix::fs::mknodat(rustix::fs::CWD, fifo.as_str(), rustix::fs::FileType::Fifo, mode, 0).expect("fifo");
        for special in [
            root.clone(),
            root.join("link"),
            root.join("broken"),
            fifo,
            target.join("below"),
        ] {
            assert!(
                matches!(probe(&special), Observed::Unknown(_)),
                "{special}: {:?}",
                probe(&special)
            );
        }
    }

    #[test]
    fn probers_do_not_take_one_another_for_a_worker() {
        let (_guard, root) = directory();
        let path = path(&root);
        let lock = RwLock::new(File::create(&path).expect("file"));
        let _shared = lock.try_read().expect("shared");
        assert_eq!(probe(&path), Observed::Known(Lease::Free));
    }

    #[test]
    fn a_holder_is_told_as_far_as_it_is_known() {
        let (_guard, root) = directory();
        let path = path(&root);
        let own = identity::current().expect("identity");
        let since = Timestamp::from_seconds(1_795_973_518);
        let written = |pid| {
            let runner = Some(ProcessIdentity { pid, ..own.clone() });
            let attempt = Nonce::from_bytes([0; 16]);
            let holder = LeaseHolder {
                pid,
                runner,
                started: since,
                attempt,
            };
            serde_json::to_string(&holder).expect("JSON")
        };
        // Larger than any pid the kernel gives.
        let nobody = u32::MAX;
        let (living, ended) = (written(own.pid), written(nobody));
        let is_own = format!("pid {}", own.pid);
        let was_nobody = format!("its runner, pid {nobody}, has ended");
        for (text, holder, since) in [
            (living.as_str(), is_own.as_str(), Some(since)),
            (ended.as_str(), was_nobody.as_str(), Some(since)),
            (
                "{\"pid\":7,\"started\":\"2026-11-29T17:31:58Z\",\"attempt\":\"00000000000000000000000000000000\"}\n",
                "pid 7",
                Some(since),
            ),
            ("\u{1b}[31m torn", "it has not said who it is", None),
        ] {
            std::fs::write(&path, text).expect("file");
            let mut lock = RwLock::new(File::open(&path).expect("file"));
            let _held = lock.try_write().expect("exclusive");
            let holder = holder.to_owned();
            assert_eq!(probe(&path), Observed::Known(Lease::Held { holder, since }));
        }
    }
}
