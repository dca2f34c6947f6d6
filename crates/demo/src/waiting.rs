//! Waiting for workers to end: the kernel tells, because a worker's end frees its lease.

use std::fs::File;
use std::io::ErrorKind;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use fd_lock::RwLock;
use orchestrate_core::identifier::UnitName;

/// A worker that ended, and when; or why its end cannot be waited for.
pub(crate) struct WorkerEnd {
    pub(crate) name: UnitName,
    pub(crate) at: Result<Instant, String>,
}

/// Reports the end of the worker that holds a lease. One that is held by nobody has ended already.
///
/// The lock is asked for shared, and only for an instant, as every prober of a lease does.
pub(crate) fn follow(name: UnitName, lease: Utf8PathBuf, sender: Sender<WorkerEnd>) {
    thread::spawn(move || {
        let at = wait_until_free(&lease).map(|()| Instant::now());
        // Nobody listens any more when the demo has given up; it said why.
        let _ = sender.send(WorkerEnd { name, at });
    });
}

fn wait_until_free(lease: &Utf8Path) -> Result<(), String> {
    let file = match File::open(lease) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(format!("cannot open {lease}: {error}")),
    };
    let lock = RwLock::new(file);
    loop {
        match lock.read() {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(format!("cannot wait for {lease}: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;

    #[test]
    fn the_end_is_reported_when_the_lease_is_let_go() {
        let directory = tempfile::tempdir().expect("directory");
        let path = Utf8PathBuf::try_from(directory.path().join("orchestrate.lease")).expect("utf8");
        let name = UnitName::parse("hello-tower:task-1").expect("name");
        let (sender, receiver) = channel();

        follow(name.clone(), path.clone(), sender.clone());
        assert!(receiver.recv().expect("no lease, no worker").at.is_ok());

        let hold = orchestrate_host::lease::take(&path).expect("asked").expect("taken");
        follow(name.clone(), path, sender);
        let early = receiver.recv_timeout(Duration::from_millis(50));
        assert!(matches!(early, Err(RecvTimeoutError::Timeout)));
        drop(hold);
        let end = receiver.recv_timeout(Duration::from_secs(30)).expect("freed");
        assert_eq!((end.name, end.at.is_ok()), (name, true));
    }
}
