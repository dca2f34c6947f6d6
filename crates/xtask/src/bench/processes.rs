//! Counts the processes that a look starts: every `git` and `gh` of the search path is one that writes down its call.

use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure::{Context, Failure, Result};

/// How many of each were started.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Counted {
    git: usize,
    gh: usize,
}

impl fmt::Display for Counted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} git, {} gh", self.git, self.gh)
    }
}

/// Runs `status` in the repository, which gets an origin that `gh` is configured for.
pub(super) fn count(binary: &Path, directory: &Path, folder: &Path) -> Result<Counted> {
    let git = |arguments: &[&str]| run(Command::new("git").args(arguments).current_dir(directory));
    git(&["remote", "add", "origin", "https://github.com/bench/bench.git"])?;
    git(&["update-ref", "refs/remotes/origin/main", "main"])?;
    git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"])?;
    let (programs, log, settings) = (folder.join("programs"), folder.join("calls"), folder.join("gh"));
    for made in [&programs, &settings] {
        std::fs::create_dir_all(made).context(|| format!("cannot make {}", made.display()))?;
    }
    write(&settings.join("hosts.yml"), "github.com:\n    user: bench\n")?;
    write(&log, "")?;
    for name in ["git", "gh"] {
        let path = programs.join(name);
        // It fails, as a program does that cannot answer: what is asked once is not asked again.
        write(
            &path,
            &format!("#!/bin/sh\necho {name} >> '{}'\nexit 1\n", log.display()),
        )?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))
            .context(|| format!("cannot make {} a program", path.display()))?;
    }
    let mut status = Command::new(binary);
    status
        .args(["status", "specs/synthetic"])
        .current_dir(directory)
        .env("PATH", &programs)
        .env("HOME", folder)
        .env("GH_CONFIG_DIR", &settings);
    run(&mut status)?;
    let calls = std::fs::read_to_string(&log).context(|| format!("cannot read {}", log.display()))?;
    let calls_of = |name: &str| calls.lines().filter(|line| *line == name).count();
    Ok(Counted {
        git: calls_of("git"),
        gh: calls_of("gh"),
    })
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).context(|| format!("cannot write {}", path.display()))
}

fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::null())
        .output()
        .context(|| format!("cannot start {program}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::new(format!(
        "{program} failed: {}",
        said.lines().next().unwrap_or_default()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Verifies REQ-H1.6.
    #[test]
    fn each_call_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("repository");
        std::fs::create_dir(&directory).unwrap();
        for arguments in [
            &["init", "--quiet"][..],
            &[
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b.c",
                "commit",
                "--quiet",
                "--allow-empty",
                "--message=x",
            ],
            &["branch", "-M", "main"],
        ] {
            run(Command::new("git").args(arguments).current_dir(&directory)).unwrap();
        }
        let tower = folder.path().join("tower");
        write(&tower, "#!/bin/sh\ngit log\ngh api\ngh api\ntest \"$1\" = status\n").unwrap();
        std::fs::set_permissions(&tower, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(
            count(&tower, &directory, folder.path()).unwrap(),
            Counted { git: 1, gh: 2 }
        );
    }
}
