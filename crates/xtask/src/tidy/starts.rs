//! L8: processes are started by argv, in one place, and never through a shell.

use super::Finding;
use super::tree::Tree;
use crate::rust_text::Token;

/// Programs that evaluate text.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "fish", "/bin/sh", "/bin/bash", "eval"];

/// Finds shells and `-c` as arguments. `-c name=value` of git is no evaluation.
pub(super) fn no_shells(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, tokens) in tree.product() {
        for (index, token) in tokens.iter().enumerate() {
            let Some(text) = token.text() else { continue };
            if SHELLS.contains(&text) {
                findings.push(Finding::new(path, token.line, format!("{text:?} as a program")));
            } else if matches!(text, "-c" | "-lc" | "-ic") && !is_git_setting(&tokens, index) {
                findings.push(Finding::new(path, token.line, format!("{text:?} as an argument")));
            }
        }
    }
    findings
}

/// Finds `Command::new` outside the host's process module, and lint expectations without a reason.
pub(super) fn one_place(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, tokens) in tree.product() {
        let in_place = path.starts_with("crates/host/src/process");
        let excused = attribute_lines(&tokens, "expect").next().is_some();
        for line in attribute_lines(&tokens, "allow") {
            findings.push(Finding::new(
                path,
                line,
                "allow(clippy::disallowed_methods): use expect, with a reason",
            ));
        }
        for line in attribute_lines(&tokens, "expect") {
            if !has_reason(&tokens, line) {
                findings.push(Finding::new(
                    path,
                    line,
                    "expect(clippy::disallowed_methods) without a reason",
                ));
            }
        }
        for (index, token) in tokens.iter().enumerate() {
            if is_command_start(&tokens, index) && !in_place && !excused {
                findings.push(Finding::new(
                    path,
                    token.line,
                    "Command::new outside crates/host/src/process",
                ));
            }
        }
    }
    findings
}

/// Returns whether the token at `index` is the name in `.name(`, one of `methods`.
pub(super) fn is_method_call(tokens: &[&Token], index: usize, methods: &[&str]) -> bool {
    let after_dot = index.checked_sub(1).is_some_and(|before| tokens[before].is_mark('.'));
    let called = tokens.get(index + 1).is_some_and(|next| next.is_mark('('));
    after_dot && called && methods.iter().any(|method| tokens[index].is_word(method))
}

/// Returns the literal argument right after the one at `index`: in a list, or in a chain of `.arg(…)`.
pub(super) fn next_argument<'a>(tokens: &[&'a Token], index: usize) -> Option<&'a str> {
    let joins = |token: &Token| {
        ['.', '(', ')', ',', '&', '!'].iter().any(|mark| token.is_mark(*mark))
            || ["arg", "args", "format"].iter().any(|word| token.is_word(word))
    };
    tokens[index + 1..].iter().find(|token| !joins(token))?.text()
}

fn is_git_setting(tokens: &[&Token], index: usize) -> bool {
    let is_setting = |text: &str| {
        text.split_once('=').is_some_and(|(key, _)| {
            key.contains('.')
                && key
                    .chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-'))
        })
    };
    next_argument(tokens, index).is_some_and(is_setting)
}

/// Returns whether `Command::new` of std starts at `index`; clap's builder has the same name.
fn is_command_start(tokens: &[&Token], index: usize) -> bool {
    let Some([command, first, second, new]) = tokens.get(index..index + 4) else {
        return false;
    };
    let path = command.is_word("Command") && first.is_mark(':') && second.is_mark(':') && new.is_word("new");
    let of_clap = index
        .checked_sub(3)
        .is_some_and(|before| tokens[before].is_word("clap"));
    path && !of_clap
}

/// Returns the lines of `level(clippy::disallowed_methods…)` attributes.
fn attribute_lines<'a>(tokens: &'a [&'a Token], level: &'a str) -> impl Iterator<Item = usize> + 'a {
    tokens.windows(6).filter_map(move |window| {
        let [word, open, clippy, _, _, lint] = window else {
            return None;
        };
        let matches =
            word.is_word(level) && open.is_mark('(') && clippy.is_word("clippy") && lint.is_word("disallowed_methods");
        matches.then_some(word.line)
    })
}

fn has_reason(tokens: &[&Token], line: usize) -> bool {
    let from = tokens.iter().skip_while(|token| token.line < line);
    from.take_while(|token| !token.is_mark('{'))
        .any(|token| token.is_word("reason"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(path: &str, source: &str) -> Tree {
        Tree::sample(&[(path, source)])
    }

    /// Verifies REQ-A1.8.
    #[test]
    fn shells_are_found() {
        for call in [
            "start(\"sh\")",
            "start([\"bash\", \"-lc\", text])",
            "ssh([host, \"-c\", text])",
            "x(\"/bin/sh\")",
        ] {
            let source = format!("fn f() {{ {call}; }}");
            assert!(
                !no_shells(&tree("crates/workers/src/a.rs", &source)).is_empty(),
                "{call}"
            );
        }
    }

    #[test]
    fn settings_of_git_and_other_texts_are_no_shells() {
        for call in [
            "git([\"-c\", \"core.hooksPath=/dev/null\"])",
            "git.arg(\"-c\").arg(format!(\"user.name={name}\"))",
            "print(\"bash is a shell\")",
            "x(\"sh.md\")",
        ] {
            let source = format!("fn f() {{ {call}; }}");
            assert!(no_shells(&tree("crates/host/src/a.rs", &source)).is_empty(), "{call}");
        }
    }

    #[test]
    fn processes_start_in_one_place() {
        let source = "fn f() { std::process::Command::new(\"git\"); }";
        assert_eq!(one_place(&tree("crates/workers/src/a.rs", source)).len(), 1);
        assert!(one_place(&tree("crates/host/src/process.rs", source)).is_empty());
        assert!(one_place(&tree("crates/host/src/process/bounded.rs", source)).is_empty());
        assert!(one_place(&tree("crates/cli/src/a.rs", "fn f() { clap::Command::new(\"x\"); }")).is_empty());
    }

    #[test]
    fn an_expectation_excuses_only_with_a_reason() {
        let with = "#[expect(clippy::disallowed_methods, reason = \"why\")]\nfn f() { Command::new(\"git\"); }";
        let without = "#[expect(clippy::disallowed_methods)]\nfn f() { Command::new(\"git\"); }";
        let allow = "#[allow(clippy::disallowed_methods, reason = \"why\")]\nfn f() {}";
        assert!(one_place(&tree("crates/workers/src/a.rs", with)).is_empty());
        assert_eq!(one_place(&tree("crates/workers/src/a.rs", without)).len(), 1);
        assert_eq!(one_place(&tree("crates/workers/src/a.rs", allow)).len(), 1);
    }
}
