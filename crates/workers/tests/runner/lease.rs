//! The kernel lease between processes.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use libtest_mimic::Trial;
use orchestrate_core::evidence::Lease;
use orchestrate_core::identifier::Nonce;
use orchestrate_core::observed::Observed;
use orchestrate_host::lease::{LeaseHolder, probe, take};
use orchestrate_host::{clock, identity};

use crate::fixture::this_program;
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a_lease_lasts_as_long_as_its_process",
            a_lease_lasts_as_long_as_its_process,
        ),
        trial("a_prober_in_the_way_is_waited_for", a_prober_in_the_way_is_waited_for),
    ]
}

/// Takes the lease, says whether it did, and keeps it until standard input ends.
pub(crate) fn act_as_holder(path: &str) {
    let mut stdout = std::io::stdout();
    writeln!(stdout, "trying").expect("say");
    let taken = take(Utf8Path::new(path)).expect("lease");
    let said = match taken {
        Some(mut hold) => {
            let attempt = Nonce::from_bytes([1; 16]);
            hold.describe(&LeaseHolder {
                pid: std::process::id(),
                runner: identity::current().ok(),
                started: clock::now(),
                attempt,
            })
            .expect("describe");
            writeln!(stdout, "taken").expect("say");
            std::io::stdin().read_to_end(&mut Vec::new()).map(|_| drop(hold))
        }
        None => writeln!(stdout, "busy"),
    };
    said.expect("the other side is there");
}

/// A process that takes the lease.
struct Holder {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Holder {
    #[expect(clippy::disallowed_methods, reason = "the test talks to its own helper process")]
    fn start(path: &Utf8Path) -> Self {
        let mut child = Command::new(this_program())
            .args(["take-lease", path.as_str()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("helper");
        let lines = BufReader::new(child.stdout.take().expect("stdout"));
        let mut holder = Self { child, lines };
        assert_eq!(holder.line(), "trying\n");
        holder
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("line");
        line
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().expect("end").success());
    }
}

fn place() -> (tempfile::TempDir, Utf8PathBuf) {
    let directory = tempfile::tempdir().expect("directory");
    let path = Utf8PathBuf::try_from(directory.path().join("orchestrate.lease")).expect("utf8");
    (directory, path)
}

fn a_lease_lasts_as_long_as_its_process() {
    let (_directory, path) = place();
    let mut first = Holder::start(&path);
    assert_eq!(first.line(), "taken\n");
    let expected = format!("pid {}", first.child.id());
    let Observed::Known(Lease::Held { holder, since: Some(_) }) = probe(&path) else {
        panic!("{:?}", probe(&path));
    };
    assert_eq!(holder, expected);
    let mut second = Holder::start(&path);
    assert_eq!(second.line(), "busy\n");
    second.end();
    first.child.kill().expect("kill");
    first.child.wait().expect("end");
    assert_eq!(probe(&path), Observed::Known(Lease::Free));
    let mut third = Holder::start(&path);
    assert_eq!(third.line(), "taken\n");
    third.end();
}

fn a_prober_in_the_way_is_waited_for() {
    let (_directory, path) = place();
    let prober = File::create(&path).expect("file");
    prober.lock_shared().expect("shared");
    let mut holder = Holder::start(&path);
    prober.unlock().expect("unlock");
    assert_eq!(holder.line(), "taken\n");
    holder.end();
}
