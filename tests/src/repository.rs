//! The repository of a sandbox, and what people do in it with real git.

use camino::Utf8Path;
use orchestrate_testkit::bundle::BundleFixture;

use crate::output::Output;
use crate::sandbox::Sandbox;

/// The first commit's time, 2026-01-01T00:00:00Z; each later one is a minute after the one before.
const FIRST_COMMIT: u32 = 1_767_225_600;

impl Sandbox {
    /// Makes a sandbox whose repository has a bundle on branch `main` and the scripted worker as its backend.
    ///
    /// # Panics
    /// When the machine refuses.
    #[must_use]
    pub fn with(program: &str, bundle: &BundleFixture) -> Self {
        let sandbox = Self::empty(program);
        sandbox.initialise(&[]);
        sandbox.add_bundle(bundle);
        sandbox.configure("");
        sandbox
    }

    /// Makes the repository, with one commit on branch `main`.
    ///
    /// # Panics
    /// When git refuses.
    pub fn initialise(&self, arguments: &[&str]) {
        let init = [&["init", "--quiet", "--initial-branch=main"], arguments].concat();
        let _ = self.git(&init);
        self.write(".gitignore", "/.claude/*.local.yml\n");
        let _ = self.commit_all("first commit");
    }

    /// Writes a signed bundle and commits it.
    ///
    /// # Panics
    /// When the machine refuses.
    pub fn add_bundle(&self, bundle: &BundleFixture) {
        bundle.write_into(&self.repository()).expect("the bundle is written");
        let _ = self.commit_all(&format!("spec {}", bundle.spec()));
    }

    /// Writes the machine-local configuration: the scripted worker, and more lines.
    pub fn configure(&self, more: &str) {
        let worker = self.root().join("bin/worker");
        let desk = self.desk();
        let text = format!("dispatch_backend: command\ncommand_backend: [\"{worker}\", \"{desk}\"]\n{more}");
        self.write(".claude/planwright.local.yml", &text);
    }

    /// Runs git in the repository and returns what it printed, without the last line end.
    ///
    /// # Panics
    /// When git fails.
    #[must_use]
    #[track_caller]
    pub fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.repository(), arguments)
    }

    /// Runs git in a directory and returns what it printed, without the last line end.
    ///
    /// # Panics
    /// When git fails.
    #[must_use]
    #[track_caller]
    pub fn git_in(&self, directory: &Utf8Path, arguments: &[&str]) -> String {
        let output = self.try_git(directory, arguments);
        assert_eq!(output.exit, 0, "git {arguments:?}: {output}");
        output.stdout.trim_end_matches('\n').to_owned()
    }

    /// Runs git in a directory.
    ///
    /// # Panics
    /// When there is no git.
    pub fn try_git(&self, directory: &Utf8Path, arguments: &[&str]) -> Output {
        let mut command = self.command("git", directory);
        if !directory.is_dir() {
            std::fs::create_dir_all(directory).expect("the directory is made");
        }
        let tick = self.ticks.get();
        self.ticks.set(tick + 1);
        let date = format!("@{} +0000", FIRST_COMMIT + 60 * tick);
        command
            .args(["-c", "commit.gpgSign=false", "-c", "protocol.file.allow=always"])
            .args(arguments);
        command.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
        let output = command.output().expect("git is there");
        Output::new(output.status, &output.stdout, &output.stderr)
    }

    /// Commits everything in the repository and returns the commit.
    ///
    /// # Panics
    /// When git refuses.
    #[track_caller]
    pub fn commit_all(&self, message: &str) -> String {
        self.commit_all_in(&self.repository(), message)
    }

    /// Commits everything in a checkout and returns the commit.
    ///
    /// # Panics
    /// When git refuses.
    #[track_caller]
    pub fn commit_all_in(&self, directory: &Utf8Path, message: &str) -> String {
        let _ = self.git_in(directory, &["add", "--all"]);
        let _ = self.git_in(
            directory,
            &[
                "commit",
                "--quiet",
                "--allow-empty",
                "--cleanup=verbatim",
                "--message",
                message,
            ],
        );
        self.git_in(directory, &["rev-parse", "HEAD"])
    }

    /// Returns the commit a name stands for.
    ///
    /// # Panics
    /// When it stands for none.
    #[must_use]
    #[track_caller]
    pub fn commit_of(&self, name: &str) -> String {
        self.git(&["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")])
    }

    /// Returns the names of all refs below a prefix.
    #[must_use]
    pub fn refs(&self, prefix: &str) -> Vec<String> {
        self.git(&["for-each-ref", "--format=%(refname)", prefix])
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// Makes a bare repository beside this one, as its `origin`, and pushes `main` to it. Its HEAD is left unknown
    /// here, as after `git remote add`.
    ///
    /// # Panics
    /// When git refuses.
    pub fn add_origin(&self) {
        let origin = self.root().join("origin.git");
        let _ = self.git(&["init", "--quiet", "--bare", "--initial-branch=main", origin.as_str()]);
        let _ = self.git(&["remote", "add", "origin", origin.as_str()]);
        let _ = self.git(&["push", "--quiet", "origin", "main"]);
    }

    /// Clones the origin to a directory of that name in the sandbox.
    ///
    /// # Panics
    /// When git refuses.
    #[must_use]
    pub fn clone_origin(&self, name: &str, arguments: &[&str]) -> camino::Utf8PathBuf {
        let clone = self.root().join(name);
        let origin = format!("file://{}", self.root().join("origin.git"));
        let _ = self.git(&[&["clone", "--quiet"], arguments, &[origin.as_str(), clone.as_str()]].concat());
        clone
    }
}
