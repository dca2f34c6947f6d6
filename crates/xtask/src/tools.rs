//! The programs that tests need beside cargo, in one table, and how each is installed.

use std::path::Path;

use crate::failure::{Failure, Result};
use crate::process;

/// A program that some tests need.
pub(crate) struct Tool {
    /// The program's name.
    pub(crate) program: &'static str,
    /// The argument with which it ends at once and successfully.
    pub(crate) probe: &'static str,
    /// The Debian package that holds it.
    pub(crate) package: &'static str,
    /// What is skipped without it.
    pub(crate) tests: &'static str,
}

/// The table. A test that needs another program gets its row here, so that CI skips nothing.
pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        program: "git",
        probe: "--version",
        package: "git",
        tests: "every test with a repository",
    },
    Tool {
        program: "tmux",
        probe: "-V",
        package: "tmux",
        tests: "tests of the tmux backend",
    },
];

/// Returns the tools that cannot be started, after installing them when asked to.
pub(crate) fn missing(root: &Path, install: bool) -> Result<Vec<&'static Tool>> {
    let look = || {
        TOOLS
            .iter()
            .filter(|tool| !process::exists(tool.program, tool.probe))
            .collect::<Vec<_>>()
    };
    let absent = look();
    if absent.is_empty() || !install {
        return Ok(absent);
    }
    let packages: Vec<&str> = absent.iter().map(|tool| tool.package).collect();
    install_packages(root, &packages)?;
    Ok(look())
}

fn install_packages(root: &Path, packages: &[&str]) -> Result<()> {
    println!("installing: {}", packages.join(" "));
    let mut install = vec!["install", "-y", "--no-install-recommends"];
    install.extend_from_slice(packages);
    for step in [&["update"][..], &install] {
        // A package that asks a question would wait for ever.
        let mut arguments = vec!["DEBIAN_FRONTEND=noninteractive", "apt-get"];
        arguments.extend_from_slice(step);
        if !process::succeeds(root, "env", &arguments)? {
            return Err(Failure::new(format!(
                "cannot install {}: apt-get {} failed",
                packages.join(" "),
                step[0]
            )));
        }
    }
    Ok(())
}

/// Returns whether nextest can be used, after installing it when asked to.
pub(crate) fn has_nextest(root: &Path, install: bool) -> Result<bool> {
    let look = || process::capture(root, process::cargo(), &["nextest", "--version"]).map(|captured| captured.success);
    if look()? || !install {
        return look();
    }
    println!("installing: cargo-nextest");
    if !process::succeeds(root, process::cargo(), &["install", "cargo-nextest", "--locked"])? {
        println!("cannot install cargo-nextest: cargo test is used in its place");
    }
    look()
}
