//! `cargo xtask test`: installs or names missing tools, then runs every kind of test and says how many passed.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::{Context, Failure, Result};
use crate::report::{Outcome, Report};
use crate::{check, process, tools, torture, workspace};

/// The torture that belongs to every test run, on one host and on several: long enough to reach each failpoint, short
/// enough to be run each time.
const TORTURE: &[(&str, &[&str])] = &[
    ("torture", &["--towers", "8", "--rounds", "10"]),
    (
        "torture of several hosts",
        &["--hosts", "3", "--towers", "8", "--rounds", "6"],
    ),
];

/// Tells the end-to-end tests where the build with failpoints is; empty where there is none.
const FAILPOINT_BINARY: &str = "ORCHESTRATE_FAILPOINT_BINARY";

/// Tells the end-to-end tests which versions of `gh` there are beside the machine's.
const OTHER_GH: &str = "ORCHESTRATE_TEST_GH";

/// Run every test of the workspace.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Install missing test tools with apt-get. With CI=true they are installed anyway.
    #[arg(long)]
    install: bool,
    /// Arguments for nextest, or for cargo test where nextest is missing.
    #[arg(last = true)]
    runner: Vec<String>,
}

/// Runs the command; the last line is `N passed, N failed`.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let root = workspace::root()?;
    let ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    let mut report = Report::default();
    for tool in tools::missing(&root, ci || arguments.install)? {
        let skipped = format!("skipped: {} ({})", tool.program, tool.tests);
        // In CI nothing may be skipped.
        let outcome = if ci {
            Outcome::Failed(vec![skipped])
        } else {
            Outcome::NotRun(skipped)
        };
        report.record("test tools", Ok(outcome));
    }
    if ci {
        check::check(&root, &mut report)?;
    }
    let binary = match torture::build(&root) {
        Ok(binary) => {
            for (name, arguments) in TORTURE {
                report.record(name, torture(&root, arguments, &binary));
            }
            binary
        }
        Err(failure) => {
            report.record("torture", Err(failure));
            PathBuf::new()
        }
    };
    report.record("documentation tests", documentation_tests(&root));
    let counts = if tools::has_nextest(&root, ci)? {
        nextest(&root, &arguments.runner, &binary)
    } else {
        cargo_test(&root, &arguments.runner, &binary)
    };
    match counts {
        Ok(Counts { passed, failed }) => report.add(passed, failed),
        Err(failure) => report.record("tests", Err(failure)),
    }
    println!("{}", report.summary());
    Ok(report.is_good())
}

/// Runs a few rounds of torture, in a process of its own: it takes over whatever its descendants leave behind.
fn torture(root: &Path, arguments: &[&str], binary: &Path) -> Result<Outcome> {
    let program = std::env::current_exe().context(|| "cannot tell this program's path".to_owned())?;
    let mut arguments: Vec<OsString> = ["torture"].iter().chain(arguments).map(Into::into).collect();
    arguments.extend(["--binary".into(), binary.into()]);
    let captured = process::capture(root, program, &arguments)?;
    let lines: Vec<String> = captured
        .stdout
        .lines()
        .chain(captured.stderr.lines())
        .map(str::to_owned)
        .collect();
    let last = captured.stdout.lines().last().unwrap_or("it printed nothing");
    Ok(if captured.success {
        Outcome::Passed(last.trim_start_matches("torture: ").to_owned())
    } else {
        Outcome::Failed(lines)
    })
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    passed: usize,
    failed: usize,
}

fn nextest(root: &Path, extra: &[String], binary: &Path) -> Result<Counts> {
    // nextest keeps results below the root, wherever cargo builds.
    let results = root.join("target/nextest/default/junit.xml");
    match std::fs::remove_file(&results) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Failure::new(format!("cannot remove {}: {error}", results.display())));
        }
        Ok(()) | Err(_) => {}
    }
    let mut arguments = vec!["nextest", "run"];
    arguments.extend(selection(extra));
    let others = other_gh(root);
    let environment = [(FAILPOINT_BINARY, binary.as_os_str()), (OTHER_GH, &others)];
    let good = process::succeeds_with(root, process::cargo(), &arguments, &environment)?;
    let text = std::fs::read_to_string(&results).context(|| "nextest left no results, see above".to_owned())?;
    let counts = junit_counts(&text).ok_or_else(|| Failure::new("cannot read nextest's results"))?;
    agreed(good, counts)
}

fn other_gh(root: &Path) -> OsString {
    tools::installed(root, "gh")
        .iter()
        .map(|path| path.as_os_str())
        .collect::<Vec<&OsStr>>()
        .join(OsStr::new(":"))
}

/// Returns the counts in the root element of a JUnit file.
fn junit_counts(text: &str) -> Option<Counts> {
    let root = text.split_once("<testsuites ")?.1.split('>').next()?;
    let number = |name: &str| -> Option<usize> {
        let value = root.split_once(&format!(" {name}=\""))?.1;
        value.split('"').next()?.parse().ok()
    };
    let failed = number("failures")? + number("errors")?;
    Some(Counts {
        passed: number("tests")?.checked_sub(failed)?,
        failed,
    })
}

fn cargo_test(root: &Path, extra: &[String], binary: &Path) -> Result<Counts> {
    let mut arguments = vec!["test", "--no-fail-fast", "--tests"];
    arguments.extend(selection(extra));
    run_and_count(root, &arguments, binary)
}

/// Returns the caller's arguments, and the whole workspace unless they name a package: `--workspace` would win.
fn selection(extra: &[String]) -> impl Iterator<Item = &str> {
    let names_package = extra
        .iter()
        .any(|argument| argument.starts_with("-p") || argument.starts_with("--package"));
    let everything = (!names_package).then_some("--workspace");
    everything.into_iter().chain(extra.iter().map(String::as_str))
}

fn documentation_tests(root: &Path) -> Result<Outcome> {
    if !any_documentation_tests(root)? {
        return Ok(Outcome::Passed("there are none".to_owned()));
    }
    let counts = run_and_count(root, &["test", "--doc", "--workspace"], Path::new(""))?;
    if counts.failed > 0 {
        return Ok(Outcome::Failed(vec![format!("{} failed, see above", counts.failed)]));
    }
    Ok(Outcome::Passed(format!("{} passed", counts.passed)))
}

/// Returns whether a documentation comment below `crates/` opens a code block.
fn any_documentation_tests(root: &Path) -> Result<bool> {
    for path in workspace::files(root)? {
        if path.starts_with("crates/") && path.ends_with(".rs") {
            let text = std::fs::read_to_string(root.join(&path)).context(|| format!("cannot read {path}"))?;
            let opens = |line: &str| line.starts_with("/// ```") || line.starts_with("//! ```");
            if text.lines().any(|line| opens(line.trim_start())) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Runs cargo test, shows what it prints, and adds up its `test result` lines.
fn run_and_count(root: &Path, arguments: &[&str], binary: &Path) -> Result<Counts> {
    let mut child = Command::new(process::cargo())
        .args(arguments)
        .env(FAILPOINT_BINARY, binary)
        .env(OTHER_GH, other_gh(root))
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context(|| "cannot start cargo test".to_owned())?;
    let mut counts = Counts::default();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            let line = line.context(|| "cannot read what cargo test prints".to_owned())?;
            println!("{line}");
            if let Some(more) = result_line_counts(&line) {
                counts.passed += more.passed;
                counts.failed += more.failed;
            }
        }
    }
    let status = child.wait().context(|| "cannot wait for cargo test".to_owned())?;
    agreed(status.success(), counts)
}

/// Returns the counts of a line `test result: ok. 3 passed; 0 failed; …`.
fn result_line_counts(line: &str) -> Option<Counts> {
    let rest = line.strip_prefix("test result: ")?.split_once(". ")?.1;
    let number = |word: &str| -> Option<usize> {
        rest.split("; ")
            .find_map(|part| part.strip_suffix(word)?.trim().parse().ok())
    };
    Some(Counts {
        passed: number("passed")?,
        failed: number("failed")?,
    })
}

/// Refuses counts without a failure from a runner that failed: it broke outside the tests.
fn agreed(good: bool, counts: Counts) -> Result<Counts> {
    if !good && counts.failed == 0 {
        return Err(Failure::new("the test runner failed outside the tests, see above"));
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_come_from_the_root_element() {
        let text = "<?xml version=\"1.0\"?>\n<testsuites name=\"nextest-run\" tests=\"12\" failures=\"2\" errors=\"1\" \
                    uuid=\"x\">\n<testsuite name=\"a\" tests=\"3\" failures=\"0\" errors=\"0\">";
        assert_eq!(junit_counts(text), Some(Counts { passed: 9, failed: 3 }));
        assert_eq!(junit_counts("<testsuites name=\"x\">"), None);
        assert_eq!(junit_counts(""), None);
    }

    #[test]
    fn counts_come_from_result_lines() {
        let line = "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        assert_eq!(result_line_counts(line), Some(Counts { passed: 3, failed: 1 }));
        assert_eq!(result_line_counts("test a ... ok"), None);
    }

    #[test]
    fn everything_is_selected_unless_a_package_is_named() {
        let selected = |extra: &[&str]| {
            let extra: Vec<String> = extra.iter().map(|argument| (*argument).to_owned()).collect();
            selection(&extra).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(selected(&[]), "--workspace");
        assert_eq!(selected(&["lock"]), "--workspace lock");
        assert_eq!(selected(&["-p", "xtask"]), "-p xtask");
    }

    #[test]
    fn a_runner_that_broke_is_no_success() {
        assert!(agreed(false, Counts { passed: 5, failed: 0 }).is_err());
        assert!(agreed(false, Counts { passed: 5, failed: 1 }).is_ok());
        assert!(agreed(true, Counts::default()).is_ok());
    }
}
