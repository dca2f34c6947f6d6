//! The bounded fetch of origin (`contract/core.md §7.1`), shared by every tower of a clone.
//!
//! Owns the stamp `last-fetch`, which the reference reads and writes too, and the fetch record in the git common
//! directory. A kernel lock is held while one fetches; the others wait for it and take what came of it.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use fd_lock::RwLock;
use git2::ErrorCode;
use orchestrate_core::fetch::{Fetch, FetchTerms};
use orchestrate_core::identifier::BaseName;
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::record::fetch::FetchRecord;
use orchestrate_core::record::fetch_stamp;
use orchestrate_core::time::Timestamp;
use orchestrate_core::world::{Fault, Reading};

use crate::base::origin_head;
use crate::failpoint::reach;
use crate::files::{self, create_directory_at, disk_fault, refuse_links, replace_shared};
use crate::layout::Layout;
use crate::process::{Output, RunOptions, run_bounded};
use crate::{clock, worktree};

/// How long origin may take to name its HEAD.
const REMOTE_HEAD_TIMEOUT: Duration = Duration::from_secs(20);

/// The fetch and nothing else: the refspec is ours whatever the clone's settings map where, and neither `FETCH_HEAD` nor a
/// submodule is touched, nor a tracking branch removed that may be the only trace of work (law L5).
const FETCH: &[&str] = &[
    "fetch",
    "origin",
    "--refmap=",
    "+refs/heads/*:refs/remotes/origin/*",
    "--quiet",
    "--no-write-fetch-head",
    "--no-prune",
    "--no-recurse-submodules",
];

/// The clone that is fetched into.
pub(crate) struct FetchedClone<'a> {
    /// The opened repository.
    pub(crate) git: &'a git2::Repository,
    /// Where its files lie.
    pub(crate) layout: &'a Layout,
    /// The top of the checkout that the stamp belongs to.
    pub(crate) top: &'a Utf8Path,
    /// `PLANWRIGHT_DISPATCH_FETCH_STATE_DIR`.
    pub(crate) state_directory: Option<&'a Utf8Path>,
    /// The git program, where there is one.
    pub(crate) program: Option<&'a Utf8Path>,
}

/// What is known of the fetches of a clone without asking origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchState {
    /// When it was fetched last, as the stamp says.
    pub last: Observed<Timestamp>,
    /// How many fetches have failed since.
    pub failures: u32,
}

/// Returns what is known of the fetches of a clone.
pub(crate) fn state(clone: &FetchedClone<'_>) -> FetchState {
    let path = stamp_path(clone);
    let unknown = |why: &str| Observed::Unknown(Why::new(format!("{}: {why}", clone.layout.shown(&path))));
    let last = match files::read_path(&path) {
        Reading::Absent => Observed::Absent(Why::new("it was never fetched by a tower")),
        Reading::File { bytes, .. } => match fetch_stamp::parse(&bytes) {
            Some(stamp) => Observed::Known(stamp),
            None => unknown("it is no number of seconds"),
        },
        Reading::Directory { .. } => unknown("it is a directory"),
        Reading::Symlink => unknown("it is a symbolic link"),
        Reading::Special => unknown("it is no regular file"),
        Reading::Unreadable(why) => unknown(&why),
    };
    FetchState {
        last,
        failures: read_record(clone.layout).failures,
    }
}

/// Fetches origin, unless that was done a moment ago.
pub(crate) fn fetch(clone: &FetchedClone<'_>, terms: &FetchTerms) -> Fetch {
    if matches!(clone.git.find_remote("origin"), Err(error) if error.code() == ErrorCode::NotFound) {
        return Fetch::NoRemote;
    }
    if is_fresh(clone, terms) {
        ask_for_head_once(clone);
        return Fetch::Fresh;
    }
    match fetch_alone(clone, terms) {
        Ok(fetch) => fetch,
        Err(fault) => Fetch::Refused(fault),
    }
}

fn is_fresh(clone: &FetchedClone<'_>, terms: &FetchTerms) -> bool {
    let path = stamp_path(clone);
    if refuse_links(clone.layout, &path, "cannot read the fetch stamp").is_err() {
        return false;
    }
    match files::read_path(&path) {
        Reading::File { bytes, .. } => {
            fetch_stamp::parse(&bytes).is_some_and(|stamp| fetch_stamp::is_fresh(stamp, clock::now(), terms))
        }
        Reading::Absent | Reading::Directory { .. } | Reading::Symlink | Reading::Special | Reading::Unreadable(_) => {
            false
        }
    }
}

fn stamp_path(clone: &FetchedClone<'_>) -> Utf8PathBuf {
    let directory = clone.state_directory.map_or_else(
        || clone.top.join(".claude").join("orchestrate.local"),
        Utf8Path::to_path_buf,
    );
    directory.join("last-fetch")
}

/// Fetches while nobody else of this clone does, or takes what somebody else's fetch gave meanwhile.
fn fetch_alone(clone: &FetchedClone<'_>, terms: &FetchTerms) -> Result<Fetch, Fault> {
    let before = read_record(clone.layout);
    let (_lock, waited) = match lock(clone.layout, terms)? {
        Ok(taken) => taken,
        // Nothing was asked of origin, so nothing is counted against it; it is no fetch all the same.
        Err(why) => {
            let in_a_row = before.failures;
            return Ok(Fetch::Failed { why, in_a_row });
        }
    };
    if waited && is_fresh(clone, terms) {
        return Ok(Fetch::Fresh);
    }
    let mut record = read_record(clone.layout);
    if waited && record.failures > before.failures {
        return Ok(Fetch::Failed {
            why: Why::new("another tower of this clone could not fetch it just now"),
            in_a_row: record.failures,
        });
    }
    reach("fetch.before");
    let fetch = match attempts(clone, terms) {
        Ok(()) => {
            reach("fetch.fetched");
            record.failures = 0;
            record.remote_head = named_head(clone).or(record.remote_head);
            // Without a stamp the next one asks again; that is all there is to a stamp.
            let _ = write_stamp(clone);
            Fetch::Fetched
        }
        Err(why) => {
            record.failures = record.failures.saturating_add(1);
            Fetch::Failed {
                why,
                in_a_row: record.failures,
            }
        }
    };
    let kept = write_record(clone.layout, &record);
    reach("fetch.after");
    match (fetch, kept) {
        // What keeps the count from being written may be what kept git from fetching, and is this machine's.
        (Fetch::Failed { .. }, Err(fault)) => Ok(Fetch::Refused(fault)),
        (fetch, _) => Ok(fetch),
    }
}

fn attempts(clone: &FetchedClone<'_>, terms: &FetchTerms) -> Result<(), Why> {
    let mut last = Why::new("it was not tried");
    for attempt in 0..terms.attempts.max(1) {
        if attempt > 0 {
            pause(terms.pause);
        }
        match attempt_once(clone, terms.attempt_limit) {
            Ok(()) => return Ok(()),
            Err(why) => last = why,
        }
    }
    Err(last)
}

#[expect(
    clippy::disallowed_methods,
    reason = "nothing announces that an origin answers again; the pause is the contract's, §7.1 item 3"
)]
fn pause(length: Duration) {
    thread::sleep(length);
}

fn attempt_once(clone: &FetchedClone<'_>, limit: Duration) -> Result<(), Why> {
    let Some(program) = clone.program else {
        return Err(Why::new("git is not on the search path")
            .with_hint("install git, or add its directory to PATH by an absolute path"));
    };
    let options = RunOptions {
        directory: Some(clone.top),
        timeout: limit,
        ..RunOptions::default()
    };
    match run_bounded(program, FETCH, &options) {
        Ok(output) if output.success() => Ok(()),
        Ok(output) => Err(told(refusal(&output))),
        Err(fault) => Err(Why::new(fault.cause)),
    }
}

/// A ref of this clone that git cannot read keeps it from fetching: that is not origin's.
fn told(refusal: String) -> Why {
    let is_our_ref = refusal.contains("bad object refs/");
    let why = Why::new(refusal);
    if is_our_ref {
        why.with_hint("a ref of this clone cannot be read: orchestrate doctor names it, and what takes it away")
    } else {
        why
    }
}

/// Returns why git gave up.
fn refusal(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let shown = cause(&text).map_or_else(|| output.message(), orchestrate_core::identifier::printable);
    without_credentials(&shown)
}

/// Returns the first `fatal:` line, else the first `error:` line: git's last line is advice.
fn cause(text: &str) -> Option<&str> {
    let first = |kind: &str| text.lines().find_map(|line| line.trim().strip_prefix(kind));
    first("fatal: ").or_else(|| first("error: "))
}

/// Returns the text with what stands before the `@` of a url left out: it may be a token.
fn without_credentials(text: &str) -> String {
    let mut parts = text.split("://");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part
            .find(|character: char| character == '/' || character.is_whitespace())
            .unwrap_or(part.len());
        let (authority, rest) = part.split_at(end);
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        shown.push_str("://");
        shown.push_str(host);
        shown.push_str(rest);
    }
    shown
}

/// Asks origin for its HEAD where nothing here names it and nobody has asked: an earlier fetch was the reference's.
fn ask_for_head_once(clone: &FetchedClone<'_>) {
    let is_known = matches!(origin_head(clone.git), Ok(Some(_)));
    if is_known || matches!(files::read_path(&record_path(clone.layout)), Reading::File { .. }) {
        return;
    }
    let mut record = FetchRecord::default();
    record.remote_head = named_head(clone);
    // What is not kept is asked for again.
    let _ = write_record(clone.layout, &record);
}

/// Returns the branch that origin's HEAD names, by asking it. Nothing when the clone knows it by itself, or origin does not
/// say: the local rules that follow decide or refuse.
fn named_head(clone: &FetchedClone<'_>) -> Option<BaseName> {
    if matches!(origin_head(clone.git), Ok(Some(_))) {
        return None;
    }
    let options = RunOptions {
        directory: Some(clone.top),
        timeout: REMOTE_HEAD_TIMEOUT,
        ..RunOptions::default()
    };
    let arguments = ["ls-remote", "--symref", "origin", "HEAD"];
    let output = run_bounded(clone.program?, &arguments, &options).ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| line.starts_with("ref: "))?;
    let name = line.strip_prefix("ref: refs/heads/")?.split_whitespace().next()?;
    BaseName::parse(name).ok()
}

/// Returns the branch that origin's HEAD named when it was last asked.
pub(crate) fn kept_head(layout: &Layout) -> Option<BaseName> {
    read_record(layout).remote_head
}

fn directory(layout: &Layout) -> Utf8PathBuf {
    layout.state().join("fetch")
}

fn record_path(layout: &Layout) -> Utf8PathBuf {
    directory(layout).join("record.json")
}

fn read_record(layout: &Layout) -> FetchRecord {
    match files::read_path(&record_path(layout)) {
        Reading::File { bytes, .. } => FetchRecord::parse(&bytes).unwrap_or_default(),
        Reading::Absent | Reading::Directory { .. } | Reading::Symlink | Reading::Special | Reading::Unreadable(_) => {
            FetchRecord::default()
        }
    }
}

fn write_record(layout: &Layout, record: &FetchRecord) -> Result<(), Fault> {
    let operation = "cannot keep the fetch record";
    let path = record_path(layout);
    create_directory_at(layout, &directory(layout), operation)?;
    refuse_links(layout, &path, operation)?;
    files::write_private(&path, &record.render())
}

fn write_stamp(clone: &FetchedClone<'_>) -> Result<(), Fault> {
    let operation = "cannot write the fetch stamp";
    let path = stamp_path(clone);
    let fault = |error: std::io::Error| disk_fault(operation.to_owned(), &error);
    let parent = path.parent().unwrap_or(clone.top);
    worktree::exclude_our_files(clone.layout).map_err(fault)?;
    create_directory_at(clone.layout, parent, operation)?;
    refuse_links(clone.layout, &path, operation)?;
    match files::read_path(&path) {
        Reading::Symlink => Err(Fault::new(operation, format!("{path} is a symbolic link"))),
        Reading::Absent
        | Reading::File { .. }
        | Reading::Directory { .. }
        | Reading::Special
        | Reading::Unreadable(_) => replace_shared(parent, &path, &fetch_stamp::render(clock::now())).map_err(fault),
    }
}

/// The kernel's lock of the clone's fetch. It dies with the process, and git does not inherit it.
struct FetchLock {
    _file: RwLock<File>,
}

/// Takes the lock, and returns whether somebody else had it first, or why it was waited for in vain: the wait ends when
/// nobody who keeps to the bounds can still be fetching.
///
/// # Errors
/// When this machine refuses it.
fn lock(layout: &Layout, terms: &FetchTerms) -> Result<Result<(FetchLock, bool), Why>, Fault> {
    let operation = "cannot take the lock of the fetch";
    let directory = directory(layout);
    create_directory_at(layout, &directory, operation)?;
    let path = directory.join("lock");
    refuse_links(layout, &path, operation)?;
    if fs::symlink_metadata(&path).is_ok_and(|metadata| !metadata.file_type().is_file()) {
        return Err(
            Fault::new(operation, format!("something that is no file stands at {path}"))
                .with_hint(format!("look at {path} and move it away")),
        );
    }
    let opened = File::options().create(true).truncate(false).write(true).open(&path);
    let file = opened.map_err(|error| disk_fault(operation.to_owned(), &error))?;
    let mut lock = RwLock::new(file);
    if try_take(&mut lock).map_err(|error| disk_fault(operation.to_owned(), &error))? {
        return Ok(Ok((FetchLock { _file: lock }, false)));
    }
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let taken = lock.write().map(std::mem::forget);
        // Where nobody waits any more the file is closed, and the lock with it.
        let _ = sender.send(taken.map(|()| FetchLock { _file: lock }));
    });
    match receiver.recv_timeout(longest(terms)) {
        Ok(Ok(lock)) => Ok(Ok((lock, true))),
        Ok(Err(error)) => Err(disk_fault(operation.to_owned(), &error)),
        Err(_) => Ok(Err(Why::new(format!(
            "{operation}: another process of this clone has been fetching for too long"
        ))
        .with_hint(format!("see who holds {path}: fuser {path}")))),
    }
}

/// The guard would end the lock when it is dropped; the lock is to last as long as the file is open.
fn try_take(lock: &mut RwLock<File>) -> std::io::Result<bool> {
    match lock.try_write() {
        Ok(guard) => {
            std::mem::forget(guard);
            Ok(true)
        }
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}

fn longest(terms: &FetchTerms) -> Duration {
    let attempts = terms.attempts.max(1);
    (terms.attempt_limit + terms.pause)
        .saturating_mul(attempts)
        .saturating_add(REMOTE_HEAD_TIMEOUT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_in_a_url_is_left_out() {
        for (text, shown) in [
            (
                "unable to access 'https://user:token@example.invalid/o/r/': no",
                "unable to access 'https://example.invalid/o/r/': no",
            ),
            ("ssh://git@host and https://t@h", "ssh://host and https://h"),
            ("no url, a@b", "no url, a@b"),
            ("https://host/a@b", "https://host/a@b"),
        ] {
            assert_eq!(without_credentials(text), shown);
        }
    }

    #[test]
    fn the_cause_comes_before_the_advice() {
        let locked = "error: cannot lock ref 'x': 'x.lock': File exists.\n\nremove the file manually to continue.\n";
        assert_eq!(cause(locked), Some("cannot lock ref 'x': 'x.lock': File exists."));
        let both = "error: one\nfatal: two\nPlease make sure\n";
        assert_eq!(cause(both), Some("two"));
        assert_eq!(cause("advice only\n"), None);
    }

    #[test]
    fn the_wait_for_another_fetch_is_bounded() {
        let terms = FetchTerms {
            fresh_seconds: 120,
            attempts: 3,
            attempt_limit: Duration::from_secs(60),
            pause: Duration::from_secs(2),
            future_is_fresh: false,
        };
        assert_eq!(longest(&terms), Duration::from_secs(206));
    }
}
