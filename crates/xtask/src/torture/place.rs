//! A checkout of a round, and commands that see nothing of this machine but it and the search path.
//!
//! Each stands for a machine: it has a clone and a home of its own. All of a round share its folder, which holds
//! `journal`, `failpoints`, `output/` (what towers printed), `live/` and `gate` (locks of the scripted workers).

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::{Context, Failure, Result};

use super::journal::Journal;
use super::processes::{End, Output, Processes};

/// The bundle's name.
pub(super) const SPEC: &str = "torture";
/// The variable by which origin is told who pushes.
pub(super) const WHO: &str = "TORTURE_WHO";

/// The variable that, set to 0, lets a step fetch origin whatever was fetched a moment ago.
pub(super) const FETCH_ALWAYS: &str = "PLANWRIGHT_DISPATCH_FETCH_TTL";

/// A checkout, and what its commands share.
#[derive(Clone)]
pub(super) struct Place {
    /// The round's folder.
    pub(super) folder: PathBuf,
    /// Which checkout of the round.
    pub(super) name: String,
    pub(super) repository: PathBuf,
    pub(super) journal: Journal,
    pub(super) processes: Processes,
    /// The product.
    pub(super) binary: PathBuf,
}

impl Place {
    /// Returns the checkout of a name in a round's folder.
    pub(super) fn new(folder: &Path, name: &str, binary: &Path, processes: &Processes) -> Self {
        Self {
            folder: folder.to_owned(),
            name: name.to_owned(),
            repository: folder.join(name).join("repository"),
            journal: Journal::of(folder),
            processes: processes.clone(),
            binary: binary.to_owned(),
        }
    }

    /// Returns where its user's files are.
    pub(super) fn home(&self) -> PathBuf {
        self.folder.join(&self.name).join("home")
    }

    /// Returns a command that sees the round's folder, and nothing of this machine's user but the search path.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        // A group of its own, so that a kill of the group hits this command and what it started, and never this driver.
        command
            .current_dir(&self.repository)
            .env_clear()
            .stdin(Stdio::null())
            .process_group(0);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.home()).env("LC_ALL", "C").env(WHO, &self.name);
        // An origin that fails is asked again at once.
        command.env("PLANWRIGHT_DISPATCH_FETCH_RETRY_SLEEP", "0");
        command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Torture");
            command.env(format!("GIT_{role}_EMAIL"), "torture@example.invalid");
        }
        command
    }

    /// Returns the product's command with these arguments.
    pub(super) fn orchestrate(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(&self.binary);
        command.args(arguments);
        command
    }

    /// Runs git in the primary checkout, or in another one.
    pub(super) fn run_git(&self, directory: Option<&Path>, arguments: &[&str]) -> Result<Output> {
        let mut command = self.command(Path::new("git"));
        command.args(arguments);
        if let Some(directory) = directory {
            command.current_dir(directory);
        }
        self.processes.run(&mut command)
    }

    /// Runs a command of words in the primary checkout, and returns whether it ended well.
    pub(super) fn runs(&self, words: &[&str]) -> Result<bool> {
        let Some((program, arguments)) = words.split_first() else {
            return Ok(true);
        };
        let mut command = self.command(Path::new(program));
        command.args(arguments);
        Ok(self.processes.run(&mut command)?.end == End::Exit(0))
    }

    /// Runs git in the primary checkout and returns what it printed; it has to succeed.
    pub(super) fn git(&self, arguments: &[&str]) -> Result<String> {
        let output = self.run_git(None, arguments)?;
        if output.end == End::Exit(0) {
            return Ok(output.stdout.trim_end().to_owned());
        }
        Err(Failure::new(format!(
            "git {} failed in {}: {}",
            arguments.join(" "),
            self.name,
            output.stderr.trim()
        )))
    }

    /// Returns the commit that a ref of it leads to, if there is one.
    pub(super) fn tip(&self, reference: &str) -> Result<Option<String>> {
        let output = self.run_git(None, &["rev-parse", "--quiet", "--verify", reference])?;
        let tip = output.stdout.trim();
        Ok((output.end == End::Exit(0) && !tip.is_empty()).then(|| tip.to_owned()))
    }

    /// Returns the branch of a unit.
    pub(super) fn branch(unit: &str) -> String {
        format!("planwright/{SPEC}/task-{unit}")
    }

    /// Returns the commit that its main is at.
    pub(super) fn main(&self) -> Result<String> {
        self.git(&["rev-parse", "--verify", "refs/heads/main"])
    }

    /// Returns the advisory lock of the bundle.
    pub(super) fn lock(&self) -> PathBuf {
        self.repository.join("specs").join(SPEC).join(".orchestrate.lock")
    }
}

/// Writes a file and makes the directories above it.
pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(parent) = path.parent() {
        make_directory(parent)?;
    }
    fs::write(path, text).context(|| format!("cannot write {}", path.display()))
}

/// Makes a directory and those above it.
pub(super) fn make_directory(path: &Path) -> Result<()> {
    fs::create_dir_all(path).context(|| format!("cannot make {}", path.display()))
}

/// Copies a folder and everything in it.
pub(super) fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    let operation = || format!("cannot copy {}", from.display());
    make_directory(to)?;
    for entry in fs::read_dir(from).context(operation)? {
        let entry = entry.context(operation)?;
        let target = to.join(entry.file_name());
        if entry.file_type().context(operation)?.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target).context(operation)?;
        }
    }
    Ok(())
}
