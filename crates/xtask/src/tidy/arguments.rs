//! L1 and L7: what the product may never say to git, to a forge, or to the ledger.
//!
//! L1 is kept by construction: no call exists. What is caught is a literal in argument position (`"merge"`,
//! `"--force…"`, `"pr", "ready"`), a forge endpoint inside any literal, and the git2 methods that do the same.

use super::tree::Tree;
use super::{Finding, starts};
use crate::rust_text::Token;

/// Whole arguments that rewrite, land or approve.
const FORBIDDEN_ARGUMENTS: &[&str] = &[
    "merge",
    "rebase",
    "amend",
    "squash",
    "approve",
    "APPROVE",
    "cherry-pick",
    "--mirror",
    "--auto-merge",
];

/// Beginnings of arguments that rewrite, land or approve.
const FORBIDDEN_OPTIONS: &[&str] = &[
    "--force",
    "--amend",
    "--squash",
    "--rebase",
    "--approve",
    "--fixup",
    "--autosquash",
];

/// What follows `"pr",` when a pull request is landed, marked ready or judged.
const FORBIDDEN_FOR_PULL_REQUESTS: &[&str] = &["ready", "review", "update-branch"];

/// Parts of forge endpoints and GraphQL mutations that land, approve or mark ready.
const FORBIDDEN_ENDPOINTS: &[&str] = &[
    "/merges",
    "}/merge",
    "}/reviews",
    "addPullRequestReview",
    "enablePullRequestAutoMerge",
    "enqueuePullRequest",
    "markPullRequestReadyForReview",
    "mergeBranch",
    "mergePullRequest",
    "submitPullRequestReview",
    "updatePullRequestBranch",
    "pr merge",
    "pr ready",
    "pr review",
    "git merge ",
    "git rebase",
    "push --force",
    "push -f",
];

/// Methods of git2 that rewrite or land.
const FORBIDDEN_METHODS: &[&str] = &["merge", "rebase", "amend", "cherrypick"];

/// L1: finds calls that merge, mark ready, approve, force-push, amend, squash or rebase.
pub(super) fn never_rewrites(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, tokens) in tree.product() {
        let mut report = |token: &Token, what: String| findings.push(Finding::new(path, token.line, what));
        for (index, token) in tokens.iter().enumerate() {
            if let Some(text) = token.text() {
                if is_leased_removal(&tokens, token) {
                    continue;
                }
                if let Some(what) = forbidden_text(text) {
                    report(token, what);
                } else if text == "pr" && starts::next_argument(&tokens, index).is_some_and(is_pull_request_act) {
                    report(
                        token,
                        "argument after \"pr\" acts on a pull request for a person".into(),
                    );
                } else if is_force_refspec(&tokens, token) {
                    report(token, format!("{text:?} in a function that pushes: forces the push"));
                }
            } else if tree.uses_git2(path) && starts::is_method_call(&tokens, index, FORBIDDEN_METHODS) {
                report(token, "git2 call that rewrites or lands commits".into());
            }
        }
    }
    findings
}

/// Where a person's acts write the files of a bundle, and the module that writes them for those alone.
const PERSONS_ACTS: &[&str] = &[
    "crates/host/src/authored.rs",
    "crates/host/src/lib.rs",
    "crates/cli/src/commands/new.rs",
    "crates/cli/src/commands/park.rs",
    "crates/cli/src/commands/sign.rs",
];

/// L7: finds the ledger's name where dispatches are planned and applied, and the module that writes a bundle's files
/// anywhere but in the commands that are a person's acts.
pub(super) fn no_ledger(tree: &Tree) -> Vec<Finding> {
    let on_the_path = |path: &str| path.starts_with("crates/tower/src/") || path.starts_with("crates/host/src/");
    let mut findings = Vec::new();
    for (path, tokens) in tree.product().filter(|(path, _)| !PERSONS_ACTS.contains(path)) {
        let is_colon = |index: Option<usize>| {
            index
                .and_then(|index| tokens.get(index))
                .is_some_and(|next| next.is_mark(':'))
        };
        for (index, token) in tokens.iter().enumerate() {
            // As part of a path; a value may have the name.
            if token.is_word("authored") && (is_colon(index.checked_sub(1)) || is_colon(Some(index + 1))) {
                let what = "writes a bundle's files outside of a person's own commands";
                findings.push(Finding::new(path, token.line, what));
            }
        }
    }
    for (path, tokens) in tree.product().filter(|(path, _)| on_the_path(path)) {
        for token in tokens {
            if token.text().is_some_and(|text| text.contains("tasks.md")) {
                findings.push(Finding::new(
                    path,
                    token.line,
                    "names tasks.md on a path that may end in a dispatch",
                ));
            }
        }
    }
    findings
}

fn forbidden_text(text: &str) -> Option<String> {
    if FORBIDDEN_ARGUMENTS.contains(&text) || FORBIDDEN_OPTIONS.iter().any(|option| text.starts_with(option)) {
        return Some(format!("argument {text:?}"));
    }
    let endpoint = FORBIDDEN_ENDPOINTS.iter().find(|endpoint| text.contains(**endpoint))?;
    Some(format!("{endpoint:?} in a literal"))
}

fn is_pull_request_act(text: &str) -> bool {
    FORBIDDEN_FOR_PULL_REQUESTS.contains(&text)
}

/// Returns whether the token is the condition under which its function removes a ref from a remote. To remove one needs
/// no force, and with a lease it is removed only while it leads to the commit that was looked at.
fn is_leased_removal(tokens: &[&Token], token: &Token) -> bool {
    let lease = |text: &str| {
        let (reference, _) = text.strip_prefix("--force-with-lease={")?.split_once("}:{")?;
        Some(format!(":{{{reference}}}"))
    };
    let Some(removal) = token.text().and_then(lease) else {
        return false;
    };
    let mut of_function = tokens.iter().filter(|other| other.function == token.function);
    let is_other = |other: &&&Token| {
        other
            .text()
            .is_some_and(|text| text != removal && Some(text) != token.text())
    };
    of_function.clone().any(|other| other.text() == Some(&removal)) && !of_function.any(|other| is_other(&other))
}

/// Returns whether the token forces a push: `-f` or a `+` refspec in a function that names `push`.
fn is_force_refspec(tokens: &[&Token], token: &Token) -> bool {
    let forces = token
        .text()
        .is_some_and(|text| text == "-f" || (text.starts_with('+') && text.len() > 1));
    forces
        && tokens
            .iter()
            .any(|other| other.function == token.function && other.text() == Some("push"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewrites(body: &str) -> usize {
        let source = format!("//! x\nfn f() {{ {body} }}\n");
        never_rewrites(&Tree::sample(&[("crates/host/src/a.rs", &source)])).len()
    }

    /// Verifies REQ-A1.1.
    #[test]
    fn forbidden_calls_are_found() {
        for body in [
            r#"git(["merge", branch]);"#,
            r#"git(["rebase", "main"]);"#,
            r#"git(["commit", "--amend"]);"#,
            r#"git(["push", "--force-with-lease=x"]);"#,
            r#"git(["push", "-f"]);"#,
            r#"let spec = format!("+{from}:{to}"); git(["push", &spec]);"#,
            r#"gh(["pr", "merge", number]);"#,
            r#"gh(["pr", "ready", number]);"#,
            r#"gh.arg("pr").arg("ready");"#,
            r#"command.arg("pr").arg("x"); gh(&["pr", "review"]);"#,
            r#"gh(["api", "repos/{o}/{r}/pulls/{n}/merge"]);"#,
            r#"query("mutation { markPullRequestReadyForReview(input: {}) { x } }");"#,
            "repository.merge(&[&other], None, None);",
            "repository.rebase(None, None, None, None);",
            "commit.amend(None, None, None, None, None, None);",
        ] {
            assert!(rewrites(body) > 0, "{body}");
        }
    }

    #[test]
    fn a_lease_is_allowed_for_the_removal_of_its_own_ref_alone() {
        let removal = r#"(format!("--force-with-lease={reference}:{commit}"), format!(":{reference}"))"#;
        assert_eq!(rewrites(removal), 0);
        for body in [
            r#"format!("--force-with-lease={reference}:{commit}");"#,
            r#"(format!("--force-with-lease={reference}:{commit}"), format!(":{other}"))"#,
            r#"(format!("--force-with-lease={reference}:{commit}"), format!(":{reference}"), format!("{commit}:{reference}"))"#,
            r#"("--force-with-lease", format!(":{reference}"))"#,
        ] {
            assert!(rewrites(body) > 0, "{body}");
        }
    }

    #[test]
    fn words_that_only_describe_are_not_calls() {
        for body in [
            r#"git(["merge-base", "--is-ancestor", a, b]);"#,
            r#"git(["merge-tree", a, b]);"#,
            r#"message.starts_with("merge topic: Fast-forward");"#,
            r#"git(["fetch", "+refs/heads/*:refs/remotes/origin/*"]);"#,
            r#"gh(["pr", "list", "--state", "merged"]);"#,
            r#"state == "ready";"#,
            "repository.merge_trees(&a, &b, &c, None);",
            "// git(\"merge\")",
        ] {
            assert_eq!(rewrites(body), 0, "{body}");
        }
    }

    #[test]
    fn crates_without_git2_may_have_a_method_of_that_name() {
        let source = "//! x\nfn f() { layers.merge(other); }";
        assert!(never_rewrites(&Tree::sample(&[("crates/config/src/a.rs", source)])).is_empty());
    }

    #[test]
    fn tests_and_the_demo_are_exempt() {
        let tree = Tree::sample(&[
            ("crates/demo/src/a.rs", "fn f() { git([\"merge\"]); }"),
            (
                "crates/host/src/b.rs",
                "#[cfg(test)] mod tests { fn f() { git([\"merge\"]); } }",
            ),
        ]);
        assert!(never_rewrites(&tree).is_empty());
    }

    /// Verifies REQ-A1.7.
    #[test]
    fn the_ledger_is_named_by_no_dispatching_crate() {
        let source = "//! tasks.md\nfn f() { write(\"specs/x/tasks.md\"); }";
        assert_eq!(no_ledger(&Tree::sample(&[("crates/tower/src/a.rs", source)])).len(), 1);
        assert_eq!(no_ledger(&Tree::sample(&[("crates/host/src/a.rs", source)])).len(), 1);
        assert!(no_ledger(&Tree::sample(&[("crates/spec/src/a.rs", source)])).is_empty());
        assert!(no_ledger(&Tree::sample(&[("crates/tower/src/a.rs", "//! tasks.md\n")])).is_empty());
    }

    #[test]
    fn a_bundles_files_are_written_by_a_persons_commands_only() {
        let source = "//! x\nuse orchestrate_host::authored::replace_files;\n";
        for path in [
            "crates/tower/src/apply.rs",
            "crates/cli/src/commands/step.rs",
            "crates/host/src/world.rs",
        ] {
            assert_eq!(no_ledger(&Tree::sample(&[(path, source)])).len(), 1, "{path}");
        }
        assert!(no_ledger(&Tree::sample(&[("crates/cli/src/commands/park.rs", source)])).is_empty());
    }
}
