//! A repository with one dispatched unit, and the runner started for it.

use std::fs::File;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::evidence::Lease;
use orchestrate_core::identifier::{BackendName, BaseName, CommitId, Nonce, UnitName};
use orchestrate_core::observed::Observed;
use orchestrate_core::place::Place;
use orchestrate_core::record::dispatch::{Attempt, DispatchRecord, LaunchManner, LaunchOrder};
use orchestrate_core::record::launch::LaunchRecord;
use orchestrate_core::world::Fault;
use orchestrate_host::layout::Layout;
use orchestrate_host::process::{DetachedStart, Handshake, RunOptions, run_bounded, spawn_detached};
use orchestrate_host::{clock, files, identity, lease, repository};
use orchestrate_workers::runner::{RunOutcome, RunRequest, run_worker};

/// Nothing here takes as long; a test that waits longer has failed.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Lets a shell drop what it inherited beyond the standard streams, as the tools of an agent do not get it.
pub(crate) const INHERIT_NOTHING: &str = "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-";

/// Runs the runner as its process does, and tells the outcome by exit code.
pub(crate) fn act_as_runner(arguments: &[&str]) {
    let (directory, rest) = arguments.split_first().expect("directory");
    let (name, attempt) = rest.split_first().expect("name");
    let request = RunRequest {
        directory: Utf8PathBuf::from(*directory),
        name: UnitName::parse(name).expect("name"),
        attempt: attempt.first().map(|attempt| Nonce::parse(attempt).expect("attempt")),
    };
    let code = match run_worker(&request) {
        Ok(RunOutcome::Ended(_)) => 0,
        Ok(RunOutcome::NotStarted(_)) => 3,
        Ok(RunOutcome::Refused(_)) => 12,
        Err(fault) => panic!("{fault}"),
    };
    leave(code);
}

#[expect(clippy::exit, reason = "this is the end of a test program's own process")]
fn leave(code: i32) -> ! {
    std::process::exit(code)
}

/// Returns a path of this very program.
pub(crate) fn this_program() -> Utf8PathBuf {
    Utf8PathBuf::try_from(std::env::current_exe().expect("own path")).expect("utf8")
}

pub(crate) struct Fixture {
    _directory: tempfile::TempDir,
    pub(crate) root: Utf8PathBuf,
    pub(crate) layout: Layout,
    pub(crate) worktree: Utf8PathBuf,
    pub(crate) git_directory: Utf8PathBuf,
    pub(crate) name: UnitName,
}

impl Fixture {
    /// Makes the repository, with a worktree for task 1 of alpha and no dispatch.
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("directory");
        let root = Utf8PathBuf::try_from(directory.path().canonicalize().expect("root")).expect("utf8");
        let repository = root.join("repository");
        let name = UnitName::parse("alpha:task-1").expect("name");
        let worktree = repository.join(".claude/worktrees/alpha-task-1");
        git(&root, &["init", "--quiet", "-b", "main", "repository"]);
        git(&repository, &["commit", "--quiet", "--allow-empty", "-m", "start"]);
        git(
            &repository,
            &["worktree", "add", "--quiet", "-b", &name.branch(), worktree.as_str()],
        );
        let found = repository::discover(&repository).expect("repository");
        let registration = found.registration(&name).expect("registrations").expect("registered");
        let layout = found.layout;
        std::fs::create_dir_all(layout.path(&Place::RecordDirectory(name.spec.clone()))).expect("directory");
        Self {
            _directory: directory,
            root,
            layout,
            worktree,
            git_directory: registration.git_directory,
            name,
        }
    }

    /// Records a dispatch whose client is a shell script. The number tells attempts apart.
    pub(crate) fn dispatch(&self, attempt: u8, script: &str) -> Nonce {
        let argv = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
        self.dispatch_as(attempt, LaunchManner::Background, argv, "do it\n")
    }

    /// Where the unit's branch is: a dispatch starts there.
    fn branch_tip(&self) -> CommitId {
        let repository = repository::discover(&self.layout.primary).expect("a repository");
        let reference = repository
            .git
            .find_reference(&self.name.reference())
            .expect("the branch");
        let tip = reference.peel_to_commit().expect("a commit").id().to_string();
        CommitId::parse(&tip).expect("a commit id")
    }

    pub(crate) fn dispatch_as(&self, attempt: u8, manner: LaunchManner, argv: Vec<String>, prompt: &str) -> Nonce {
        let nonce = Nonce::from_bytes([attempt; 16]);
        let launch = LaunchOrder {
            backend: BackendName::parse("command").expect("backend"),
            manner,
            argv,
            prompt: prompt.to_owned(),
        };
        let attempt = Attempt {
            tower: identity::current().expect("identity"),
            attempt: nonce.clone(),
            dispatched: clock::now(),
            launched_before: None,
        };
        let base = BaseName::parse("main").expect("base");
        let start = self.branch_tip();
        let record = DispatchRecord::new(self.name.clone(), base, start, "b".repeat(40), attempt, launch);
        files::write(
            &self.layout,
            &Place::DispatchRecord(self.name.clone()),
            &record.render(),
        )
        .expect("record");
        nonce
    }

    /// Starts the runner as a tower does.
    pub(crate) fn start(&self, attempt: Option<&Nonce>) -> Result<Handshake, Fault> {
        self.start_through(&this_program(), &[], attempt)
    }

    /// Starts the runner by another program, which gets the runner's command line behind its own arguments.
    pub(crate) fn start_through(
        &self,
        program: &Utf8Path,
        before: &[&str],
        attempt: Option<&Nonce>,
    ) -> Result<Handshake, Fault> {
        let mut arguments: Vec<String> = before.iter().map(|word| (*word).to_owned()).collect();
        arguments.extend([
            "run-worker".to_owned(),
            self.layout.primary.to_string(),
            self.name.to_string(),
        ]);
        arguments.extend(attempt.map(Nonce::to_string));
        spawn_detached(&DetachedStart {
            program,
            arguments: &arguments,
            directory: &self.layout.primary,
            log: &self.layout.log(&self.name),
            timeout: LONG,
        })
    }

    /// Starts the runner, which has to start its client, and returns the runner's process id.
    pub(crate) fn started(&self) -> u32 {
        match self.start(None) {
            Ok(Handshake::Started { pid }) => pid,
            other => panic!(
                "{other:?}; log: {:?}",
                std::fs::read_to_string(self.layout.log(&self.name))
            ),
        }
    }

    /// Starts the runner, which has to refuse, and returns why it did.
    pub(crate) fn refused(&self, attempt: Option<&Nonce>) -> String {
        match self.start(attempt) {
            Ok(Handshake::Refused { why }) => why,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn launch(&self) -> Option<LaunchRecord> {
        let path = self.layout.path(&Place::LaunchRecord(self.name.clone()));
        match std::fs::read(path) {
            Ok(bytes) => Some(LaunchRecord::parse(&bytes).expect("launch record")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => panic!("{error}"),
        }
    }

    /// Returns the recorded end.
    pub(crate) fn end(&self) -> Option<String> {
        Some(self.launch()?.ended?.status)
    }

    pub(crate) fn lease_path(&self) -> Utf8PathBuf {
        lease::path(&self.git_directory)
    }

    pub(crate) fn is_held(&self) -> bool {
        let probed = lease::probe(&self.lease_path());
        assert!(matches!(probed, Observed::Known(_)), "{probed:?}");
        probed != Observed::Known(Lease::Free)
    }

    /// Waits until nobody holds the lease: runner, client and whoever else inherited it are gone.
    pub(crate) fn wait_until_free(&self) {
        let path = self.lease_path();
        within_long(move || File::open(path).expect("lease").lock_shared().expect("lock"));
    }

    /// Makes a named pipe, quoted for a script.
    pub(crate) fn pipe(&self, name: &str) -> Pipe {
        let path = self.root.join(name);
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, path.as_str(), rustix::fs::FileType::Fifo, mode, 0).expect("pipe");
        Pipe(path)
    }
}

/// A named pipe between a test and a client.
pub(crate) struct Pipe(Utf8PathBuf);

impl Pipe {
    /// Waits until every writer has closed it, and returns what they wrote.
    pub(crate) fn read(&self) -> String {
        let path = self.0.clone();
        within_long(move || std::fs::read_to_string(path).expect("pipe"))
    }

    /// Waits for a reader and lets it go on.
    pub(crate) fn release(&self) {
        let path = self.0.clone();
        within_long(move || std::fs::write(path, "go\n").expect("pipe"));
    }
}

impl std::fmt::Display for Pipe {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "'{}'", self.0)
    }
}

/// Returns what the action returns; a test fails when that takes too long.
fn within_long<T: Send + 'static>(action: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = channel();
    thread::spawn(move || sender.send(action()));
    receiver
        .recv_timeout(LONG)
        .expect("the other side does its part in time")
}

/// Runs git without anything of this machine's configuration.
pub(crate) fn git(directory: &Utf8Path, arguments: &[&str]) -> String {
    let environment = [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_AUTHOR_NAME", "test"),
        ("GIT_AUTHOR_EMAIL", "test@localhost"),
        ("GIT_COMMITTER_NAME", "test"),
        ("GIT_COMMITTER_EMAIL", "test@localhost"),
        ("HOME", directory.as_str()),
    ];
    let options = RunOptions {
        directory: Some(directory),
        environment: &environment,
        ..RunOptions::default()
    };
    let output = run_bounded(Utf8Path::new("git"), arguments, &options).expect("git");
    assert!(output.success(), "git {arguments:?}: {}", output.message());
    String::from_utf8(output.stdout).expect("utf8")
}
