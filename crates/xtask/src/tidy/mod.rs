//! Tidy rules: each says which law or house rule it guards, and has a test that shows it fail.

mod allowed;
mod arguments;
mod citations;
mod documents;
mod guarantees;
mod keys;
mod layout;
mod removal;
mod requirements;
mod shims;
mod starts;
mod tree;

use std::path::Path;

use crate::failure::Result;
use crate::report::{Outcome, Report, judged};
use crate::workspace::Workspace;

use allowed::{ALLOWED, Allowed};
pub(crate) use tree::Tree;

/// Something a rule does not accept.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    /// The file, below the root.
    path: String,
    /// The line, from 1; 0 for the file as a whole.
    line: usize,
    /// What is wrong.
    what: String,
}

impl Finding {
    fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            what: what.into(),
        }
    }

    fn render(&self) -> String {
        if self.line == 0 {
            return format!("{}: {}", self.path, self.what);
        }
        format!("{}:{}: {}", self.path, self.line, self.what)
    }
}

/// One rule.
struct Rule {
    /// Its short name, which an allowance names.
    name: &'static str,
    /// What it guards, as the report prints it.
    guards: &'static str,
    /// Finds what breaks it.
    look: fn(&Tree) -> Vec<Finding>,
}

/// Every rule that needs the files only.
const RULES: &[Rule] = &[
    Rule {
        name: "readable",
        guards: "every Rust file can be read",
        look: layout::readable,
    },
    Rule {
        name: "L1",
        guards: "never merges, marks ready, approves, force-pushes, amends, squashes or rebases",
        look: arguments::never_rewrites,
    },
    Rule {
        name: "L5",
        guards: "never destroys the only copy of work",
        look: removal::never_destroys,
    },
    Rule {
        name: "L7",
        guards: "no tasks.md write on a path that ends in a dispatch",
        look: arguments::no_ledger,
    },
    Rule {
        name: "L8 shells",
        guards: "no text is ever part of a shell string",
        look: starts::no_shells,
    },
    Rule {
        name: "L8 starts",
        guards: "processes start in one place",
        look: starts::one_place,
    },
    Rule {
        name: "pure core",
        guards: "core is no_std and has no hash order",
        look: layout::pure_core,
    },
    Rule {
        name: "module docs",
        guards: "each source file says what it is for",
        look: layout::module_docs,
    },
    Rule {
        name: "file size",
        guards: "no source file over 800 lines",
        look: layout::file_size,
    },
    Rule {
        name: "own folder",
        guards: "the product reads nothing outside its repository",
        look: layout::own_folder,
    },
    Rule {
        name: "registry names",
        guards: "no tracked file names a registry host",
        look: layout::registry_names,
    },
    Rule {
        name: "keys",
        guards: "every key of the configuration is in the one table, and somebody reads it",
        look: keys::one_table,
    },
    Rule {
        name: "links",
        guards: "relative links in the documents resolve",
        look: documents::links,
    },
    Rule {
        name: "requirements",
        guards: "each requirement that claims a test is named by one, and tests name no other",
        look: requirements::named_by_tests,
    },
    Rule {
        name: "guarantees",
        guards: "each guarantee has its bound, and tests that are there",
        look: guarantees::held_by_tests,
    },
];

/// Looks at every rule and records each by name.
pub(crate) fn run(root: &Path, workspace: &Workspace, report: &mut Report) -> Result<()> {
    let tree = Tree::load(root, workspace)?;
    for warning in layout::long_files(&tree) {
        println!("warn    {}", warning.render());
    }
    for rule in RULES {
        report.record(
            &format!("tidy {} ({})", rule.name, rule.guards),
            Ok(judge(&tree, rule, ALLOWED)),
        );
    }
    Ok(())
}

/// Looks at the shims, given the names that the binary's `plumbing list` prints.
pub(crate) fn run_shims(root: &Path, workspace: &Workspace, plumbing: &[String]) -> Result<Outcome> {
    let tree = Tree::load(root, workspace)?;
    let findings = shims::look(&tree, plumbing);
    let note = format!("{} plumbing commands", plumbing.len());
    Ok(judged(findings.iter().map(Finding::render).collect(), note))
}

/// Returns the rule's outcome: what it found, less what is allowed, and any allowance that allows nothing.
fn judge(tree: &Tree, rule: &Rule, allowed: &[Allowed]) -> Outcome {
    let allowances: Vec<&Allowed> = allowed.iter().filter(|allowance| allowance.rule == rule.name).collect();
    let mut used = vec![false; allowances.len()];
    let mut wrong = Vec::new();
    for finding in (rule.look)(tree) {
        let line = tree.line(&finding.path, finding.line);
        let position = allowances
            .iter()
            .position(|allowance| allowance.covers(&finding.path, line));
        match position {
            Some(position) => used[position] = true,
            None => wrong.push(finding.render()),
        }
    }
    for (allowance, _) in allowances.iter().zip(&used).filter(|(_, used)| !**used) {
        let Allowed { path, text, reason, .. } = allowance;
        wrong.push(format!(
            "{path}: allowed {text:?} is not there ({reason}): remove the allowance"
        ));
    }
    let note = match allowances.len() {
        0 => format!("{} files", tree.files.len()),
        count => format!("{} files, {count} allowed", tree.files.len()),
    };
    judged(wrong, note)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule {
        name: "L7",
        guards: "",
        look: arguments::no_ledger,
    };
    const WRITE: &str = "//! x\nfn f() { write(\"tasks.md\"); }\n";

    fn allowance(text: &'static str) -> Allowed {
        Allowed {
            rule: "L7",
            path: "crates/tower/src/a.rs",
            text,
            reason: "a test",
        }
    }

    #[test]
    fn an_allowance_covers_its_own_line_only() {
        let tree = Tree::sample(&[("crates/tower/src/a.rs", WRITE)]);
        assert!(matches!(judge(&tree, &RULE, &[]), Outcome::Failed(_)));
        assert!(matches!(
            judge(&tree, &RULE, &[allowance("write(\"tasks.md\")")]),
            Outcome::Passed(_)
        ));
        assert!(matches!(judge(&tree, &RULE, &[allowance("read(")]), Outcome::Failed(_)));
    }

    #[test]
    fn an_allowance_for_nothing_fails() {
        let tree = Tree::sample(&[("crates/tower/src/a.rs", "//! x\n")]);
        assert!(matches!(
            judge(&tree, &RULE, &[allowance("write(")]),
            Outcome::Failed(_)
        ));
    }

    #[test]
    fn every_allowance_names_a_rule_and_a_reason() {
        for allowance in ALLOWED {
            assert!(RULES.iter().any(|rule| rule.name == allowance.rule), "{allowance:?}");
            assert!(allowance.reason.len() > 10, "{allowance:?}");
            assert!(!allowance.text.trim().is_empty(), "{allowance:?}");
        }
    }
}
