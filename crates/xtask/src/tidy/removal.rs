//! L5: the product removes no worktree, branch or folder except where the allowances say why that is safe.

use super::tree::Tree;
use super::{Finding, starts};
use crate::rust_text::Token;

/// Pairs of neighbouring arguments that throw work away.
const FORBIDDEN_PAIRS: &[(&str, &[&str])] = &[
    ("worktree", &["remove", "prune"]),
    ("branch", &["-D", "-d", "--delete"]),
    ("stash", &["drop", "clear"]),
    ("reflog", &["expire", "delete"]),
    ("update-ref", &["-d"]),
    ("clean", &["-f", "-fd", "-fdx", "-d", "-x"]),
];

/// Single arguments that throw work away.
const FORBIDDEN_ARGUMENTS: &[&str] = &["--hard", "gc", "filter-branch"];

/// Names of functions and values that throw work away, wherever they stand.
const FORBIDDEN_WORDS: &[&str] = &["remove_dir_all", "remove_untracked"];

/// Methods of git2 that throw work away.
const FORBIDDEN_METHODS: &[&str] = &["prune", "delete", "force", "stash_drop", "reset"];

/// L5: finds what removes a worktree, a branch, a folder or changes nobody else has.
pub(super) fn never_destroys(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, tokens) in tree.product() {
        for (index, token) in tokens.iter().enumerate() {
            let what = removal(&tokens, index).or_else(|| {
                (tree.uses_git2(path) && starts::is_method_call(&tokens, index, FORBIDDEN_METHODS))
                    .then(|| "git2 call that removes or overwrites".to_owned())
            });
            if let Some(what) = what {
                findings.push(Finding::new(path, token.line, what));
            }
        }
    }
    findings
}

fn removal(tokens: &[&Token], index: usize) -> Option<String> {
    let token = tokens[index];
    if let Some(word) = FORBIDDEN_WORDS.iter().find(|word| token.is_word(word)) {
        return Some((*word).to_owned());
    }
    let text = token.text()?;
    if FORBIDDEN_ARGUMENTS.contains(&text) {
        return Some(format!("argument {text:?}"));
    }
    if text.contains("worktree remove") || text.contains("branch -D") {
        return Some(format!("{text:?}"));
    }
    let (_, seconds) = FORBIDDEN_PAIRS.iter().find(|(first, _)| *first == text)?;
    let rest = tokens[index + 1..]
        .iter()
        .take_while(|other| other.function == token.function);
    let mut listed = rest.take_while(|other| !other.is_mark(']') && !other.is_mark(';'));
    listed.find_map(|other| {
        let second = other.text().filter(|second| seconds.contains(second))?;
        Some(format!("arguments {text:?} {second:?}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removals(body: &str) -> usize {
        let source = format!("//! x\nfn f() {{ {body} }}\n");
        never_destroys(&Tree::sample(&[("crates/host/src/a.rs", &source)])).len()
    }

    /// Verifies REQ-A1.5.
    #[test]
    fn removals_are_found() {
        for body in [
            r#"git(["worktree", "remove", path]);"#,
            r#"git(["branch", "-D", name]);"#,
            r#"git(["branch", "--quiet", "-D", name]);"#,
            r#"git(["reset", "--hard"]);"#,
            r#"git(["clean", "-fd"]);"#,
            "std::fs::remove_dir_all(path);",
            "worktree.prune(None);",
            "branch.delete();",
            "checkout.force();",
        ] {
            assert!(removals(body) > 0, "{body}");
        }
    }

    #[test]
    fn other_uses_of_the_words_are_not() {
        for body in [
            r#"git(["worktree", "list"]);"#,
            r#"git(["branch", "--list"]);"#,
            r#"state("clean");"#,
            "std::fs::remove_file(path);",
            r#"hint("orchestrate workers reclaim removes it");"#,
        ] {
            assert_eq!(removals(body), 0, "{body}");
        }
    }
}
