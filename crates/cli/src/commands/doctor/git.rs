//! The git program: that it is there, answers, and knows what is asked of it.

use std::time::Duration;

use orchestrate_host::process::{RunOptions, run_bounded};

use super::finding::{Finding, Looked, Mend, Weight};
use super::surroundings::Surroundings;

/// `git fetch --no-write-fetch-head` and `git push --porcelain --atomic`: the youngest option that is used came so late.
const LEAST: (u32, u32) = (2, 29);
/// How long a program may take to say which it is.
pub(super) const ANSWER_TIME: Duration = Duration::from_secs(10);

pub(super) fn look(surroundings: &Surroundings<'_>) -> Looked {
    let Some(program) = &surroundings.environment.git else {
        let problem = "git is not on the search path: nothing can be fetched, fenced or checked out";
        let mend = Mend::ByHand("install git, or add its directory to PATH by an absolute path".to_owned());
        return Looked::new("no git", vec![Finding::new(Weight::Fault, "git", problem, mend)]);
    };
    let options = RunOptions {
        timeout: ANSWER_TIME,
        output_limit: 64 * 1024,
        ..RunOptions::default()
    };
    let said = match run_bounded(program, &["--version"], &options) {
        Ok(output) => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        Err(fault) => return Looked::new(program.as_str(), vec![Finding::unseen(program.as_str(), &fault)]),
    };
    let needed = format!("{}.{}", LEAST.0, LEAST.1);
    let findings = match version(&said) {
        Some(version) if version >= LEAST => Vec::new(),
        Some(_) => vec![Finding::new(
            Weight::Fault,
            program.as_str(),
            format!("{said} is too old: origin cannot be fetched with it"),
            Mend::ByHand(format!("install git {needed} or a newer one")),
        )],
        None => vec![Finding::new(
            Weight::Warning,
            program.as_str(),
            "it does not say which version it is",
            Mend::ByHand(format!("put git {needed} or a newer one first on PATH")),
        )],
    };
    Looked::new(format!("{said} at {program}"), findings)
}

/// Returns the first two numbers of `git version 2.43.0`.
fn version(said: &str) -> Option<(u32, u32)> {
    let numbers = said.strip_prefix("git version ")?;
    let mut parts = numbers.split(['.', ' ', '-']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_git() {
        for (said, expected) in [
            ("git version 2.43.0", Some((2, 43))),
            ("git version 2.50.1 (Apple Git-155)", Some((2, 50))),
            ("git version 3.0-rc1", Some((3, 0))),
            ("git version", None),
            ("hub version 2.14", None),
        ] {
            assert_eq!(version(said), expected, "{said}");
        }
        assert!((2, 28) < LEAST && (3, 0) > LEAST);
    }
}
