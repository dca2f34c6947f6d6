//! Git as the demo's actors use it: under their own names, and out of reach of the user's settings.

use std::time::Duration;

use camino::Utf8Path;
use orchestrate_core::world::Fault;
use orchestrate_host::process::{Input, Output, RunOptions, run_bounded};

/// How long one git command may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What keeps the user's settings away. An empty variable is as good as none to git.
pub(crate) const NEUTRAL: &[(&str, &str)] = &[
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_COUNT", "0"),
    ("GIT_CONFIG_PARAMETERS", ""),
    ("GIT_AUTHOR_DATE", ""),
    ("GIT_COMMITTER_DATE", ""),
    ("GIT_DEFAULT_HASH", "sha1"),
    ("GIT_DEFAULT_REF_FORMAT", "files"),
];

/// Who commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Actor {
    /// The demo's person.
    Person,
    /// The demo's scripted worker.
    Worker,
}

impl Actor {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Person => "A Person of the Demo",
            Self::Worker => "Scripted Worker",
        }
    }

    pub(crate) const fn email(self) -> &'static str {
        match self {
            Self::Person => "person@demo.invalid",
            Self::Worker => "worker@demo.invalid",
        }
    }
}

/// Git in one directory, used by one actor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Git<'a> {
    pub(crate) directory: &'a Utf8Path,
    pub(crate) actor: Actor,
}

impl Git<'_> {
    /// Runs git and returns what it left, however it ended.
    pub(crate) fn run(&self, arguments: &[&str], input: Input<'_>) -> Result<Output, Fault> {
        let mut environment = NEUTRAL.to_vec();
        environment.extend([
            ("GIT_AUTHOR_NAME", self.actor.name()),
            ("GIT_AUTHOR_EMAIL", self.actor.email()),
            ("GIT_COMMITTER_NAME", self.actor.name()),
            ("GIT_COMMITTER_EMAIL", self.actor.email()),
        ]);
        let options = RunOptions {
            directory: Some(self.directory),
            environment: &environment,
            input,
            timeout: TIMEOUT,
            ..RunOptions::default()
        };
        run_bounded(Utf8Path::new("git"), arguments, &options)
            .map_err(|fault| fault.with_hint("the demo needs git 2.28 or later, and nothing else"))
    }

    /// Runs git and returns its standard output.
    ///
    /// # Errors
    /// When it does not end with 0; the cause is what it said.
    pub(crate) fn bytes(&self, arguments: &[&str]) -> Result<Vec<u8>, Fault> {
        self.checked(arguments, Input::Null)
    }

    /// Runs git and returns its standard output as text, without blanks around it.
    ///
    /// # Errors
    /// As [`Self::bytes`].
    pub(crate) fn text(&self, arguments: &[&str]) -> Result<String, Fault> {
        Ok(String::from_utf8_lossy(&self.bytes(arguments)?).trim().to_owned())
    }

    /// Commits what is in the index, under exactly this message.
    ///
    /// # Errors
    /// As [`Self::bytes`].
    pub(crate) fn commit(&self, message: &str) -> Result<(), Fault> {
        let arguments = ["commit", "--quiet", "--cleanup=verbatim", "--file=-"];
        self.checked(&arguments, Input::Bytes(message.as_bytes())).map(drop)
    }

    fn checked(&self, arguments: &[&str], input: Input<'_>) -> Result<Vec<u8>, Fault> {
        let output = self.run(arguments, input)?;
        if output.success() {
            return Ok(output.stdout);
        }
        let words = arguments.join(" ");
        Err(Fault::new(
            format!("cannot run git {words} in {}", self.directory),
            output.message(),
        ))
    }
}
