//! The throw-away repository of a round: its folder, its bundle, its settings, and commands that see nothing else.
//!
//! The folder holds `repository`, `home`, `journal`, `failpoints`, `output/` (what towers printed), `live/` and `gate`
//! (locks of the scripted workers).

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::{Context, Failure, Result};
use crate::repository::bundle;

use super::journal::Journal;
use super::processes::{End, Output, Processes};
use super::random::Random;

/// The bundle's name.
pub(super) const SPEC: &str = "torture";
/// Files beside the bundle. A checkout of them takes long enough to be interrupted.
const FILES: u64 = 300;
/// The file whose checkout goes through the filter that may kill: one in the middle.
pub(super) const FILTERED: &str = "files/150.txt";

/// The folder of a round, and what its commands share.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) folder: PathBuf,
    pub(super) repository: PathBuf,
    pub(super) journal: Journal,
    pub(super) processes: Processes,
    /// The product.
    pub(super) binary: PathBuf,
}

impl Place {
    /// Returns the place of a folder.
    pub(super) fn new(folder: &Path, binary: &Path, processes: &Processes) -> Self {
        Self {
            folder: folder.to_owned(),
            repository: folder.join("repository"),
            journal: Journal::of(folder),
            processes: processes.clone(),
            binary: binary.to_owned(),
        }
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
        command.env("HOME", self.folder.join("home")).env("LC_ALL", "C");
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

    /// Runs git in the primary checkout and returns what it printed; it has to succeed.
    pub(super) fn git(&self, arguments: &[&str]) -> Result<String> {
        let output = self.run_git(None, arguments)?;
        if output.end == End::Exit(0) {
            return Ok(output.stdout.trim_end().to_owned());
        }
        Err(Failure::new(format!(
            "git {} failed: {}",
            arguments.join(" "),
            output.stderr.trim()
        )))
    }

    /// Makes the repository that each round copies: a few hundred files, packed, without a bundle.
    pub(super) fn make_template(&self) -> Result<()> {
        make_directory(&self.repository.join("files"))?;
        make_directory(&self.folder.join("home"))?;
        self.git(&["init", "--quiet", "--template=", "--initial-branch=main"])?;
        for setting in ["gc.auto=0", "maintenance.auto=false", "core.fsync=none"] {
            let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
            self.git(&["config", "--local", key, value])?;
        }
        write(
            &self.repository.join(".gitattributes"),
            &format!("{FILTERED} filter=torture\n"),
        )?;
        for number in 0..FILES {
            let text = format!("line of file {number}\n").repeat(40);
            write(&self.repository.join(format!("files/{number}.txt")), &text)?;
            if number % 60 == 59 {
                self.git(&["add", "--all"])?;
                self.git(&["commit", "--quiet", "-m", "chore: more files"])?;
            }
        }
        self.git(&["repack", "-a", "-d", "--quiet"])?;
        self.git(&["pack-refs", "--all"]).map(drop)
    }

    /// Makes the round's repository: a copy of the template with a signed bundle and the settings of this machine.
    pub(super) fn make(&self, template: &Path, plan: &Plan, worker: &Worker<'_>) -> Result<()> {
        for folder in ["home", "live", "output"] {
            make_directory(&self.folder.join(folder))?;
        }
        copy_tree(template, &self.repository)?;
        let dependency = |task: usize| plan.dependency_text(task);
        for (path, text) in bundle::files(SPEC, plan.tasks(), dependency)? {
            write(&self.repository.join(path), &text)?;
        }
        write(&self.repository.join(".gitignore"), ".claude/planwright.local.yml\n")?;
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "-m", "docs: the signed bundle"])?;
        let filter = format!(
            "'{}' torture-filter '{}'",
            worker.program.display(),
            self.folder.display()
        );
        self.git(&["config", "--local", "filter.torture.smudge", &filter])?;
        write(
            &self.repository.join(".claude/planwright.local.yml"),
            &self.settings(plan, worker)?,
        )
    }

    fn settings(&self, plan: &Plan, worker: &Worker<'_>) -> Result<String> {
        let words = [
            worker.program.display().to_string(),
            "torture-worker".to_owned(),
            self.folder.display().to_string(),
            worker.seed.to_string(),
            worker.round.to_string(),
        ];
        let list = serde_json::to_string(&words).context(|| "cannot name the worker".to_owned())?;
        Ok(format!(
            "dispatch_backend: command\ncommand_backend: {list}\nbase_branch: main\nmax_parallel_units: {}\n\
             watch_interval_seconds: 1\n",
            plan.cap
        ))
    }

    /// Returns the branch of a unit.
    pub(super) fn branch(unit: &str) -> String {
        format!("planwright/{SPEC}/task-{unit}")
    }

    /// Returns the commit that main is at.
    pub(super) fn main(&self) -> Result<String> {
        self.git(&["rev-parse", "--verify", "refs/heads/main"])
    }
}

/// Which worker a round's units get.
pub(super) struct Worker<'a> {
    /// This program.
    pub(super) program: &'a Path,
    pub(super) seed: u64,
    pub(super) round: u64,
}

/// The random shape of a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// For each task, the tasks that it depends on; task 1 comes first.
    pub(super) dependencies: Vec<Vec<usize>>,
    /// `max_parallel_units`.
    pub(super) cap: u64,
}

impl Plan {
    /// Returns a plan of 3 to 6 tasks, each of which depends on up to two earlier ones.
    pub(super) fn random(random: &mut Random) -> Self {
        let tasks = random.between(3, 6);
        let dependencies = (0..tasks).map(|earlier| {
            let mut needs: Vec<usize> = (0..random.below(3))
                .filter(|_| earlier > 0)
                .filter_map(|_| usize::try_from(random.between(1, earlier)).ok())
                .collect();
            needs.sort_unstable();
            needs.dedup();
            needs
        });
        Self {
            dependencies: dependencies.collect(),
            cap: random.between(1, 6),
        }
    }

    /// Returns how many tasks there are.
    pub(super) fn tasks(&self) -> usize {
        self.dependencies.len()
    }

    fn dependency_text(&self, task: usize) -> String {
        let needs = task.checked_sub(1).and_then(|index| self.dependencies.get(index));
        let needs: Vec<String> = needs.into_iter().flatten().map(ToString::to_string).collect();
        if needs.is_empty() {
            "none".to_owned()
        } else {
            needs.join(", ")
        }
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

fn copy_tree(from: &Path, to: &Path) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_have_the_promised_shape() {
        for round in 0..200 {
            let plan = Plan::random(&mut Random::new(3, &[round]));
            assert!(
                (3..=6).contains(&plan.tasks()) && (1..=6).contains(&plan.cap),
                "{plan:?}"
            );
            for (index, needs) in plan.dependencies.iter().enumerate() {
                assert!(needs.iter().all(|need| (1..=index).contains(need)), "{plan:?}");
            }
            assert_eq!(plan.dependency_text(1), "none");
        }
    }
}
