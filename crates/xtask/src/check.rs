//! `cargo xtask check`: format, lints, the dependency rule, tidy rules, generated documents, our own specs.

use std::path::Path;

use crate::failure::{Failure, Result};
use crate::report::{Outcome, Report};
use crate::workspace::{self, Workspace};
use crate::{dependencies, gen_docs, process, tidy};

/// Run every check, all even when one fails.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// First repair what can be repaired: format, machine-applicable lints, generated documents.
    #[arg(long)]
    fix: bool,
    /// Skip every check that builds the product.
    #[arg(long, conflicts_with = "fix")]
    quick: bool,
}

/// Runs the command; returns whether every check passed.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let root = workspace::root()?;
    if arguments.fix {
        repair(&root)?;
    }
    let mut report = Report::default();
    if arguments.quick {
        without_building(&root, &mut report)?;
        println!("skipped: lints, tidy shims, generated documents, own specs (--quick)");
    } else {
        check(&root, &mut report)?;
    }
    println!("{}", report.summary());
    Ok(report.is_good())
}

/// Runs every check and records each.
pub(crate) fn check(root: &Path, report: &mut Report) -> Result<()> {
    let clippy = [
        "clippy",
        "--quiet",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    report.record("lints", cargo(root, &clippy));
    let workspace = without_building(root, report)?;
    match workspace::build_binary(root, &[], &workspace.target_directory) {
        Ok(binary) => with_binary(root, &workspace, &binary, report),
        Err(failure) => report.record("build", Err(failure)),
    }
    Ok(())
}

fn without_building(root: &Path, report: &mut Report) -> Result<Workspace> {
    report.record("format", format(root));
    let workspace = workspace::read(root)?;
    report.record("dependency rule", Ok(dependencies::check(&workspace.members)));
    tidy::run(root, &workspace, report)?;
    Ok(workspace)
}

/// Names the files that rustfmt would change.
fn format(root: &Path) -> Result<Outcome> {
    let arguments = ["fmt", "--all", "--check", "--", "--files-with-diff"];
    let captured = process::capture(root, process::cargo(), &arguments)?;
    if captured.success {
        return Ok(Outcome::Passed("cargo fmt --all --check".to_owned()));
    }
    let below = format!("{}/", root.display());
    let lines = captured.stdout.lines().chain(captured.stderr.lines());
    let mut findings: Vec<String> = lines.map(|line| line.replace(&below, "")).collect();
    findings.push("cargo fmt --all --check failed: run cargo fmt --all".to_owned());
    Ok(Outcome::Failed(findings))
}

fn with_binary(root: &Path, workspace: &Workspace, binary: &Path, report: &mut Report) {
    report.record(
        "tidy shims (scripts hold no logic, one for each plumbing command)",
        shims(root, workspace, binary),
    );
    report.record("generated documents", gen_docs::check(root, binary));
    report.record("own specs", own_specs(root, binary));
}

fn repair(root: &Path) -> Result<()> {
    let clippy = [
        "clippy",
        "--fix",
        "--allow-dirty",
        "--allow-staged",
        "--workspace",
        "--all-targets",
    ];
    for arguments in [&clippy[..], &["fmt", "--all"]] {
        if !process::succeeds(root, process::cargo(), arguments)? {
            return Err(Failure::new(format!(
                "cannot repair: cargo {} failed",
                arguments.join(" ")
            )));
        }
    }
    let workspace = workspace::read(root)?;
    let binary = workspace::build_binary(root, &[], &workspace.target_directory)?;
    gen_docs::write(root, &binary)
}

fn cargo(root: &Path, arguments: &[&str]) -> Result<Outcome> {
    let good = process::succeeds(root, process::cargo(), arguments)?;
    let command = format!("cargo {}", arguments.join(" "));
    Ok(if good {
        Outcome::Passed(command)
    } else {
        Outcome::Failed(vec![format!("{command} failed, see above")])
    })
}

fn shims(root: &Path, workspace: &Workspace, binary: &Path) -> Result<Outcome> {
    if !has_command(root, binary, "plumbing")? {
        return Ok(Outcome::NotRun("not yet: plumbing".to_owned()));
    }
    let list = process::output(root, binary, &["plumbing", "list"])?;
    let names: Vec<String> = list.lines().map(str::to_owned).collect();
    if names.is_empty() {
        return Err(Failure::new("`orchestrate plumbing list` printed nothing"));
    }
    tidy::run_shims(root, workspace, &names)
}

fn own_specs(root: &Path, binary: &Path) -> Result<Outcome> {
    let captured = process::capture(root, binary, &["validate", "specs"])?;
    if captured.success {
        let last = captured.stdout.lines().last().unwrap_or("it printed nothing");
        return Ok(Outcome::Passed(format!("orchestrate validate specs: {last}")));
    }
    let lines = captured.stdout.lines().chain(captured.stderr.lines());
    Ok(Outcome::Failed(lines.map(str::to_owned).collect()))
}

/// Returns whether the binary's help names that command.
fn has_command(root: &Path, binary: &Path, name: &str) -> Result<bool> {
    let help = process::capture(root, binary, &["--help"])?;
    Ok(gen_docs::command_names(&help.stdout)
        .iter()
        .any(|command| command == name))
}
