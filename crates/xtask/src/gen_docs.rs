//! `cargo xtask gen`: the documents that have a source in the code, written or compared.

use std::fmt::Write as _;
use std::path::Path;

use orchestrate_config::reference::reference_page;
use orchestrate_core::exit::{ExitMeaning, PORCELAIN};

use crate::failure::{Context, Failure, Result};
use crate::report::{Outcome, judged};
use crate::{process, workspace};

/// What every generated page says about itself.
const NOTICE: &str = "<!-- Written by `cargo xtask gen`; change its source instead. -->";

/// Write the generated documents.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write nothing; fail when a document is not what would be written.
    #[arg(long)]
    check: bool,
}

/// Runs the command; with `--check`, returns whether every document is up to date.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let root = workspace::root()?;
    let target = workspace::read(&root)?.target_directory;
    let binary = workspace::build_binary(&root, &[], &target)?;
    if !arguments.check {
        write(&root, &binary)?;
        return Ok(true);
    }
    let mut report = crate::report::Report::default();
    report.record("generated documents", check(&root, &binary));
    Ok(report.is_good())
}

/// One generated document.
struct Page {
    /// Where it is, below the root.
    path: &'static str,
    /// Its whole text.
    text: String,
}

/// Writes every document.
pub(crate) fn write(root: &Path, binary: &Path) -> Result<()> {
    for page in pages(root, binary)? {
        let path = root.join(page.path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).context(|| format!("cannot make {}", folder.display()))?;
        }
        std::fs::write(&path, page.text).context(|| format!("cannot write {}", path.display()))?;
        println!("wrote   {}", page.path);
    }
    Ok(())
}

/// Compares every document with what would be written.
pub(crate) fn check(root: &Path, binary: &Path) -> Result<Outcome> {
    let pages = pages(root, binary)?;
    let is_stale = |page: &&Page| std::fs::read_to_string(root.join(page.path)).ok().as_ref() != Some(&page.text);
    let stale = pages.iter().filter(is_stale);
    let findings = stale
        .map(|page| format!("{}: is not up to date: run cargo xtask gen", page.path))
        .collect();
    Ok(judged(findings, format!("{} pages", pages.len())))
}

fn pages(root: &Path, binary: &Path) -> Result<Vec<Page>> {
    let mut pages = vec![Page {
        path: "docs/reference/exit-codes.md",
        text: exit_codes(PORCELAIN),
    }];
    pages.push(Page {
        path: "docs/reference/configuration.md",
        text: configuration(&reference_page()),
    });
    let command_line = "docs/reference/command-line.md";
    match command_line_page(root, binary)? {
        Some(text) => pages.push(Page {
            path: command_line,
            text,
        }),
        None => println!("not yet: {command_line} (the binary has no --help)"),
    }
    Ok(pages)
}

fn exit_codes(porcelain: &[ExitMeaning]) -> String {
    let mut text = format!(
        "# Exit codes\n\n{NOTICE}\n\nEvery command except `orchestrate plumbing …` ends with one of these. A plumbing \
         command has the exit numbers of the script it stands for.\n\n| exit | meaning |\n|---|---|\n"
    );
    for ExitMeaning { code, meaning } in porcelain {
        let _infallible = writeln!(text, "| {code} | {} |", meaning.replace('|', "\\|"));
    }
    text
}

fn configuration(page: &str) -> String {
    format!("# Configuration\n\n{NOTICE}\n\n{page}")
}

/// Returns the page of every command's `--help`, or nothing when the binary prints none at all.
fn command_line_page(root: &Path, binary: &Path) -> Result<Option<String>> {
    let mut text = format!("# Command line\n\n{NOTICE}\n");
    let mut waiting = vec![Vec::<String>::new()];
    let mut any = false;
    while let Some(path) = waiting.pop() {
        let mut arguments = path.clone();
        arguments.push("--help".to_owned());
        let help = process::output(root, binary, &arguments)?;
        if help.trim().is_empty() {
            if path.is_empty() {
                break;
            }
            return Err(Failure::new(format!(
                "orchestrate {} printed nothing",
                arguments.join(" ")
            )));
        }
        any = true;
        text.push_str(&help_section(&path, &help));
        // The last pushed comes next, so the order on the page is that of the help, depth first.
        for name in command_names(&help).into_iter().rev() {
            let mut below = path.clone();
            below.push(name);
            waiting.push(below);
        }
    }
    Ok(any.then_some(text))
}

fn help_section(path: &[String], help: &str) -> String {
    let name = path
        .iter()
        .fold("orchestrate".to_owned(), |name, part| name + " " + part);
    let trimmed: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
    format!("\n## {name}\n\n```text\n{}\n```\n", trimmed.join("\n"))
}

/// Returns the names in the `Commands:` lists of a help text, without clap's own `help`.
pub(crate) fn command_names(help: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut inside = false;
    for line in help.lines() {
        if !line.starts_with(' ') {
            inside = line.ends_with("ommands:") || (inside && line.is_empty());
        } else if inside
            && let Some(entry) = line.strip_prefix("  ")
            && !entry.starts_with(' ')
            && let Some(name) = entry.split_whitespace().next()
            && name != "help"
        {
            names.push(name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = "Does things\n\nUsage: orchestrate [COMMAND]\n\nCommands:\n  status    Shows\n            more of it\n  \
                        plumbing  For machines\n  help      Print this\n\nOptions:\n  -h, --help  Print help\n";

    #[test]
    fn commands_are_read_from_the_help() {
        assert_eq!(command_names(HELP), ["status", "plumbing"]);
        assert!(command_names("Usage: x\n\nOptions:\n  -h  Print\n").is_empty());
    }

    #[test]
    fn each_exit_code_is_a_row() {
        let page = exit_codes(&[ExitMeaning {
            code: 4,
            meaning: "a | b",
        }]);
        assert!(page.ends_with("|---|---|\n| 4 | a \\| b |\n"), "{page}");
    }

    #[test]
    fn a_section_holds_the_help_without_trailing_blanks() {
        let section = help_section(&["plumbing".to_owned(), "list".to_owned()], "Lists  \n\nUsage: x\n\n");
        assert_eq!(
            section,
            "\n## orchestrate plumbing list\n\n```text\nLists\n\nUsage: x\n```\n"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_page_that_differs_or_is_missing_is_stale() {
        let folder = tempfile::tempdir().unwrap();
        let silent = Path::new("/bin/true");
        assert!(matches!(check(folder.path(), silent).unwrap(), Outcome::Failed(_)));
        write(folder.path(), silent).unwrap();
        assert!(matches!(check(folder.path(), silent).unwrap(), Outcome::Passed(_)));
        std::fs::write(folder.path().join("docs/reference/exit-codes.md"), "old").unwrap();
        assert!(matches!(check(folder.path(), silent).unwrap(), Outcome::Failed(_)));
    }
}
