//! A directory of its own for one test: home, programs, repository, and an environment in which nothing else exists.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use crate::listing::Listing;
use crate::output::Output;
use crate::running::Running;

/// One test's directory. Blocked workers are let go when it is dropped.
#[derive(Debug)]
pub struct Sandbox {
    // Removed when the sandbox is dropped.
    _directory: TempDir,
    root: Utf8PathBuf,
    program: Utf8PathBuf,
    /// How many commits were dated: each is a minute after the one before.
    pub(crate) ticks: Cell<u32>,
}

impl Sandbox {
    /// Makes an empty sandbox for the program under test.
    ///
    /// # Panics
    /// When the machine refuses.
    #[must_use]
    pub fn empty(program: &str) -> Self {
        let directory = tempfile::Builder::new()
            .prefix("orchestrate-e2e-")
            .tempdir()
            .expect("a directory is made");
        let root = Utf8Path::from_path(directory.path()).expect("its path is UTF-8");
        let root = root.canonicalize_utf8().expect("it is there");
        let sandbox = Self {
            _directory: directory,
            program: Utf8PathBuf::from(program),
            ticks: Cell::new(0),
            root,
        };
        for name in ["home", "bin", "desk", "repository"] {
            fs::create_dir(sandbox.root.join(name)).expect("a directory is made");
        }
        // What a printed command names.
        std::os::unix::fs::symlink(program, sandbox.root.join("bin/orchestrate")).expect("a link is made");
        sandbox.install_worker();
        sandbox
    }

    /// Returns the sandbox's directory, physical.
    #[must_use]
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Returns the program under test.
    #[must_use]
    pub fn program(&self) -> &Utf8Path {
        &self.program
    }

    /// Returns the repository's primary checkout.
    #[must_use]
    pub fn repository(&self) -> Utf8PathBuf {
        self.root.join("repository")
    }

    /// Returns a path in the repository.
    #[must_use]
    pub fn path(&self, relative: &str) -> Utf8PathBuf {
        self.repository().join(relative)
    }

    /// Runs the program under test in the repository.
    pub fn orchestrate(&self, arguments: &[&str]) -> Output {
        self.orchestrate_in(&self.repository(), arguments)
    }

    /// Runs the program under test in a directory.
    pub fn orchestrate_in(&self, directory: &Utf8Path, arguments: &[&str]) -> Output {
        self.orchestrate_with(directory, arguments, &[])
    }

    /// Runs the program under test with more variables.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn orchestrate_with(&self, directory: &Utf8Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = self.command(self.program.as_str(), directory);
        let output = command
            .args(arguments)
            .envs(variables.iter().copied())
            .output()
            .expect("the program is started");
        Output::new(output.status, &output.stdout, &output.stderr)
    }

    /// Starts the program under test in the repository, in a process group of its own, and does not wait for it.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn start(&self, arguments: &[&str]) -> Running {
        self.start_program(self.program.as_str(), &self.repository(), arguments)
    }

    /// Starts another program of the machine in a directory, in a process group of its own, and does not wait for it.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn start_program(&self, program: &str, directory: &Utf8Path, arguments: &[&str]) -> Running {
        let mut command = self.command(program, directory);
        command
            .args(arguments)
            .process_group(0)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Running::new(command.spawn().expect("the program is started"))
    }

    /// Runs another program of the machine; nothing where there is none of that name.
    #[must_use]
    pub fn run(&self, program: &str, arguments: &[&str]) -> Option<Output> {
        let output = self.command(program, &self.root).args(arguments).output().ok()?;
        Some(Output::new(output.status, &output.stdout, &output.stderr))
    }

    /// Runs a text as a shell would at a person's prompt, in the repository.
    ///
    /// # Panics
    /// When there is no shell.
    pub fn shell(&self, text: &str) -> Output {
        let output = self
            .command("sh", &self.repository())
            .args(["-c", text])
            .output()
            .expect("a shell is there");
        Output::new(output.status, &output.stdout, &output.stderr)
    }

    /// Returns a command with nothing but the sandbox's environment and no input.
    #[expect(
        clippy::disallowed_methods,
        reason = "the tests start the real binary and real git, each in a cleared environment"
    )]
    pub(crate) fn command(&self, program: &str, directory: &Utf8Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(directory).stdin(Stdio::null());
        let path = format!("{}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", self.root);
        let home = self.root.join("home");
        let variables = [
            ("PATH", path.as_str()),
            ("HOME", home.as_str()),
            ("LC_ALL", "C.UTF-8"),
            ("TZ", "UTC"),
            ("COLUMNS", "100"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            // Git would tidy up behind its commits, while a test lists what is there.
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "maintenance.auto"),
            ("GIT_CONFIG_VALUE_0", "false"),
            ("GIT_AUTHOR_NAME", "Test Person"),
            ("GIT_AUTHOR_EMAIL", "person@test.invalid"),
            ("GIT_COMMITTER_NAME", "Test Person"),
            ("GIT_COMMITTER_EMAIL", "person@test.invalid"),
        ];
        command.envs(variables);
        command
    }

    /// Writes a file in the repository, with its directories.
    ///
    /// # Panics
    /// When the machine refuses.
    pub fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().expect("a file has a directory")).expect("directories are made");
        fs::write(path, text).expect("the file is written");
    }

    /// Returns the text of a file in the repository.
    ///
    /// # Panics
    /// When it cannot be read.
    #[must_use]
    pub fn read(&self, relative: &str) -> String {
        let path = self.path(relative);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Installs a shell script as a program of the sandbox's search path.
    ///
    /// # Panics
    /// When the machine refuses.
    pub fn install(&self, name: &str, script: &str) {
        let path = self.root.join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}")).expect("the script is written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the script may be run");
    }

    /// Lists the repository.
    #[must_use]
    pub fn listing(&self) -> Listing {
        Listing::of(&self.repository())
    }

    /// Returns what changed in the repository since a listing.
    #[must_use]
    pub fn changes_since(&self, earlier: &Listing) -> Vec<String> {
        self.listing().changes_since(earlier)
    }

    /// Returns what makes an output the same on every run: patterns and what stands for them.
    #[must_use]
    pub fn filters(&self) -> Vec<(&str, &'static str)> {
        vec![
            (self.root.as_str(), "[SANDBOX]"),
            (self.program.as_str(), "[PROGRAM]"),
            (r"pid \d+", "pid [PID]"),
            (r"\[PID\] on [\w.-]+", "[PID] on [HOST]"),
            (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "[TIME]"),
            (r"\b\d+ s ago", "[AGE] ago"),
            (r"since \d+ s\b", "since [AGE]"),
            (r", (?:\d+ (?:s|min|h|days)|in the future)\b", ", [AGE]"),
            (r"(?m)^( +)\d+ (?:s|min|h|days)\b", "$1[AGE]"),
            (r"\b([0-9a-f]{64}|[0-9a-f]{40})\b", "[HASH]"),
            (r"\b[0-9a-f]{32}\b", "[TOKEN]"),
            (r"\b[0-9a-f]{7}\b", "[SHORT]"),
            (r"built-in defaults:\d+", "built-in defaults:[LINE]"),
        ]
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.let_every_worker_go();
    }
}
