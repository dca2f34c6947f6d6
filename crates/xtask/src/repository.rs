//! Synthetic repositories of any size, made by one `git fast-import`.
//!
//! The history is the same for the same shape: fixed times, fixed texts. The first half of the bundle's tasks has
//! landed by trailers. Of the branches so many as the shape says are the bundle's: first of the open tasks, each with a
//! commit of its own and a reflog that tells so, then of the landed ones, as merged branches that were kept.

pub(crate) mod bundle;

use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::failure::{Context, Failure, Result};

/// The bundle's name.
pub(crate) const SPEC: &str = "synthetic";
/// The time of the first commit, in seconds since 1970; each later one is a minute after.
const START: usize = 1_700_000_000;
/// The bundle's branches start at one of so many last commits.
const RECENT: usize = 1_000;
/// Files that the history changes in turn.
const FILES: usize = 64;

/// How large a repository is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Commits on main, after the one that adds the bundle.
    pub(crate) commits: usize,
    /// How many of them carry a trailer.
    pub(crate) trailers: usize,
    /// Branches beside main; every second one has a commit of its own.
    pub(crate) branches: usize,
    /// How many of them are branches of the bundle's tasks; there are no more than tasks.
    pub(crate) task_branches: usize,
    /// Tasks in the bundle.
    pub(crate) tasks: usize,
}

impl Shape {
    /// Returns the task whose branch is the nth: those that are open, then those that have landed.
    fn task_of(self, number: usize) -> Option<usize> {
        let landed = self.tasks / 2;
        let open = self.tasks - landed;
        let task = if number < open {
            landed + number + 1
        } else {
            number - open + 1
        };
        (number < self.task_branches && task <= self.tasks && number < self.tasks).then_some(task)
    }

    /// Returns whether the nth branch has a commit of its own.
    fn has_own_commit(self, number: usize) -> bool {
        match self.task_of(number) {
            Some(task) => task > self.tasks / 2,
            None => !number.is_multiple_of(2),
        }
    }

    /// Returns the commit of main that the nth branch starts at: the bundle's are recent, the others as old as may be.
    fn start_of(self, number: usize) -> usize {
        if self.task_of(number).is_some() {
            let recent = self.commits.min(RECENT);
            return self.commits - recent + (number + 1) * recent / (self.task_branches + 1);
        }
        (number + 1) * self.commits / (self.branches + 1)
    }

    fn branch(self, number: usize) -> String {
        match self.task_of(number) {
            Some(task) => format!("planwright/{SPEC}/task-{task}"),
            None => format!("planwright/other-{}/task-{}", number / 50, number % 50 + 1),
        }
    }
}

/// Makes the repository in a folder that does not exist or is empty, with main checked out.
pub(crate) fn make(directory: &Path, shape: Shape) -> Result<()> {
    std::fs::create_dir_all(directory).context(|| format!("cannot make {}", directory.display()))?;
    let mut entries = std::fs::read_dir(directory).context(|| format!("cannot read {}", directory.display()))?;
    if entries.next().is_some() {
        return Err(Failure::new(format!(
            "cannot make a repository in {}: it is not empty",
            directory.display()
        )));
    }
    git(directory, &["init", "--quiet", "--initial-branch=main"])?;
    git(directory, &["config", "user.name", "Bench"])?;
    git(directory, &["config", "user.email", "bench@example.invalid"])?;
    import(directory, shape)?;
    git(directory, &["pack-refs", "--all"])?;
    git(directory, &["checkout", "--quiet", "--force", "main"])
}

/// Returns git with no configuration but the repository's own, and no repository but the folder's.
fn git_command(directory: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .stdin(Stdio::null());
    command
}

fn git(directory: &Path, arguments: &[&str]) -> Result<()> {
    let status = git_command(directory)
        .args(arguments)
        .status()
        .context(|| "cannot start git".to_owned())?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(format!("git {} failed", arguments[0])))
    }
}

fn import(directory: &Path, shape: Shape) -> Result<()> {
    let bundle = bundle::files(SPEC, shape.tasks, |task| bundle::dependency(task, shape.tasks))?;
    let mut child: Child = git_command(directory)
        .args(["fast-import", "--quiet", "--export-marks=.git/marks"])
        .stdin(Stdio::piped())
        .spawn()
        .context(|| "cannot start git fast-import".to_owned())?;
    let written = match child.stdin.take() {
        Some(input) => {
            write_history(BufWriter::new(input), shape, &bundle).context(|| "cannot write the history".to_owned())
        }
        None => Err(Failure::new("cannot write the history: git fast-import has no input")),
    };
    let status = child.wait().context(|| "cannot wait for git fast-import".to_owned())?;
    written?;
    if !status.success() {
        return Err(Failure::new("git fast-import failed"));
    }
    let path = directory.join(".git/marks");
    let marks = std::fs::read_to_string(&path).context(|| format!("cannot read {}", path.display()))?;
    write_reflogs(directory, shape, &marks)?;
    std::fs::remove_file(&path).context(|| format!("cannot remove {}", path.display()))
}

/// Writes everything as a fast-import stream. Mark `n + 1` is main's nth commit, mark 1 the one with the bundle.
fn write_history(mut output: impl Write, shape: Shape, bundle: &[(String, String)]) -> std::io::Result<()> {
    header(&mut output, "main", 1, 0, "feat: the synthetic bundle\n")?;
    for (path, text) in bundle {
        writeln!(output, "M 100644 inline {path}")?;
        data(&mut output, text)?;
    }
    for number in 1..=shape.commits {
        header(&mut output, "main", number + 1, number, &message(shape, number))?;
        writeln!(output, "M 100644 inline src/part-{}.txt", number % FILES)?;
        data(&mut output, &format!("revision {number}\n"))?;
    }
    for number in 0..shape.branches {
        write_branch(&mut output, shape, number)?;
    }
    writeln!(output, "done")?;
    output.flush()
}

/// Writes one branch, at a commit of main or one commit beyond it.
fn write_branch(mut output: impl Write, shape: Shape, number: usize) -> std::io::Result<()> {
    let name = shape.branch(number);
    let start = shape.start_of(number);
    let from = start + 1;
    if !shape.has_own_commit(number) {
        return write!(output, "reset refs/heads/{name}\nfrom :{from}\n\n");
    }
    let message = format!("feat: own work {number}\n");
    header(&mut output, &name, own_mark(shape, number), start, &message)?;
    write!(output, "from :{from}\nM 100644 inline own/{number}.txt\n")?;
    data(&mut output, "own\n")
}

fn own_mark(shape: Shape, number: usize) -> usize {
    shape.commits + 2 + number
}

/// Writes the reflogs of the bundle's branches, as making each and committing on it would have.
fn write_reflogs(directory: &Path, shape: Shape, marks: &str) -> Result<()> {
    let marks: HashMap<usize, &str> = marks
        .lines()
        .filter_map(|line| {
            let (mark, commit) = line.strip_prefix(':')?.split_once(' ')?;
            Some((mark.parse().ok()?, commit))
        })
        .collect();
    let commit = |mark: usize| {
        let commit = marks.get(&mark).copied();
        commit.ok_or_else(|| Failure::new(format!("git fast-import made no commit {mark}")))
    };
    for number in 0..shape.task_branches.min(shape.branches) {
        if shape.task_of(number).is_none() {
            continue;
        }
        let who = format!("Bench <bench@example.invalid> {START} +0000");
        let start = commit(shape.start_of(number) + 1)?;
        let mut log = format!("{:040} {start} {who}\tbranch: Created from main\n", 0);
        if shape.has_own_commit(number) {
            let own = commit(own_mark(shape, number))?;
            log += &format!("{start} {own} {who}\tcommit: feat: own work {number}\n");
        }
        let path = directory.join(".git/logs/refs/heads").join(shape.branch(number));
        let operation = || format!("cannot write {}", path.display());
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).context(operation)?;
        }
        std::fs::write(&path, log).context(operation)?;
    }
    Ok(())
}

fn header(mut output: impl Write, branch: &str, mark: usize, minute: usize, message: &str) -> std::io::Result<()> {
    let time = START + 60 * minute;
    write!(output, "commit refs/heads/{branch}\nmark :{mark}\n")?;
    writeln!(output, "committer Bench <bench@example.invalid> {time} +0000")?;
    data(output, message)
}

fn data(mut output: impl Write, text: &str) -> std::io::Result<()> {
    write!(output, "data {}\n{text}\n", text.len())
}

/// Returns the message of main's nth commit, with a trailer on as many as the shape asks for, spread evenly.
fn message(shape: Shape, number: usize) -> String {
    let text = format!(
        "feat: change part {number}\n\nA body of a usual length, so that reading all messages costs what it costs\n\
         in a real history; it names no task.\n"
    );
    let landed = shape.tasks / 2;
    let before = (number - 1) * shape.trailers / shape.commits;
    let after = number * shape.trailers / shape.commits;
    if after == before || landed == 0 {
        return text;
    }
    format!("{text}\nPlanwright-Task: {SPEC}/{}\n", before % landed + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape {
        commits: 40,
        trailers: 10,
        branches: 8,
        task_branches: 5,
        tasks: 6,
    };

    fn lines(directory: &Path, arguments: &[&str]) -> Vec<String> {
        let output = git_command(directory).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn the_repository_has_the_shape_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("repository");
        make(&directory, SHAPE).unwrap();
        assert_eq!(lines(&directory, &["rev-list", "main"]).len(), SHAPE.commits + 1);
        let trailers = lines(
            &directory,
            &["log", "--format=%(trailers:key=Planwright-Task,valueonly)", "main"],
        );
        let trailers: Vec<_> = trailers.iter().filter(|line| !line.is_empty()).collect();
        assert_eq!(trailers.len(), SHAPE.trailers);
        assert_eq!(trailers.last().unwrap().as_str(), "synthetic/1");
        assert_eq!(
            lines(&directory, &["for-each-ref", "refs/heads"]).len(),
            SHAPE.branches + 1
        );
        assert_eq!(
            lines(&directory, &["rev-list", "main..planwright/synthetic/task-4"]).len(),
            1
        );
        let own = |branch: &str| lines(&directory, &["rev-list", &format!("main..planwright/{branch}")]).len();
        let bundle = ["4", "5", "6", "1", "2"].map(|task| own(&format!("synthetic/task-{task}")));
        assert_eq!(bundle, [1, 1, 1, 0, 0], "three open tasks, then two landed ones");
        assert_eq!(
            ["6", "7", "8"].map(|task| own(&format!("other-0/task-{task}"))),
            [1, 0, 1]
        );
        let log = lines(
            &directory,
            &["reflog", "show", "--format=%gs", "planwright/synthetic/task-4"],
        );
        assert_eq!(log, ["commit: feat: own work 0", "branch: Created from main"]);
        assert!(lines(&directory, &["fsck", "--no-dangling"]).is_empty());
        assert!(lines(&directory, &["status", "--porcelain"]).is_empty());
    }

    #[test]
    fn it_is_the_same_every_time() {
        let folder = tempfile::tempdir().unwrap();
        let heads = ["one", "two"].map(|name| {
            make(&folder.path().join(name), SHAPE).unwrap();
            lines(&folder.path().join(name), &["for-each-ref"])
        });
        assert_eq!(heads[0], heads[1]);
    }

    #[test]
    fn a_folder_with_something_in_it_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine"), "").unwrap();
        assert!(make(folder.path(), SHAPE).is_err());
    }
}
