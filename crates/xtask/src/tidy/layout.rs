//! House rules about files: core stays pure, sources say what they are for and stay small, nothing points outside.

use super::Finding;
use super::tree::Tree;
use crate::rust_text::Token;

/// More lines than this are warned about.
const LONG: usize = 400;
/// More lines than this fail.
const TOO_LONG: usize = 800;

/// Finds Rust files that no rule could look into, and an empty product.
pub(super) fn readable(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, file) in &tree.files {
        if let Some(Err(why)) = &file.rust {
            findings.push(Finding::new(path, 0, why.as_str()));
        }
    }
    if tree.product().next().is_none() {
        findings.push(Finding::new(
            "crates",
            0,
            "no product file was found: the rules looked at nothing",
        ));
    }
    findings
}

/// Finds what makes core impure: std, and maps without an order.
pub(super) fn pure_core(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let declares = |token: &[Token]| {
        token
            .windows(2)
            .any(|pair| pair[0].is_mark('[') && pair[1].is_word("no_std"))
    };
    for (path, rust) in tree.rust().filter(|(path, _)| path.starts_with("crates/core/src/")) {
        if path == "crates/core/src/lib.rs" && !declares(&rust.tokens) {
            findings.push(Finding::new(path, 1, "is not #![no_std]"));
        }
        for (index, token) in rust.tokens.iter().enumerate() {
            if ["HashMap", "HashSet"].iter().any(|word| token.is_word(word)) {
                findings.push(Finding::new(path, token.line, "hash order: use BTreeMap or BTreeSet"));
            }
            let in_path = rust
                .tokens
                .get(index + 1)
                .is_some_and(|next| next.is_mark(':') || next.is_mark(';'));
            if token.is_word("std") && in_path && !token.test {
                findings.push(Finding::new(path, token.line, "names std: take it as an argument"));
            }
        }
    }
    if !tree.files.contains_key("crates/core/src/lib.rs") {
        findings.push(Finding::new("crates/core/src/lib.rs", 0, "is missing"));
    }
    findings
}

/// Finds source files that do not begin with module documentation.
pub(super) fn module_docs(tree: &Tree) -> Vec<Finding> {
    let sources = tree
        .files
        .iter()
        .filter(|(path, _)| is_source(path) && path.contains("/src/"));
    sources
        .filter(|(_, file)| !file.text.starts_with("//!"))
        .map(|(path, _)| Finding::new(path, 1, "does not begin with //!"))
        .collect()
}

/// Finds source files that nobody can hold in mind.
pub(super) fn file_size(tree: &Tree) -> Vec<Finding> {
    longer_than(tree, TOO_LONG)
}

/// Finds source files that are longer than they aim to be, but still accepted.
pub(super) fn long_files(tree: &Tree) -> Vec<Finding> {
    let refused = file_size(tree);
    longer_than(tree, LONG)
        .into_iter()
        .filter(|finding| !refused.contains(finding))
        .collect()
}

/// Finds texts of the product that point at the workspace's neighbours.
pub(super) fn own_folder(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, tokens) in tree.product() {
        for token in tokens {
            if token.text().is_some_and(|text| text.contains("../shared")) {
                findings.push(Finding::new(path, token.line, "points outside the repository"));
            }
        }
    }
    findings
}

/// Finds the names of registry hosts in any file but the lock file.
pub(super) fn registry_names(tree: &Tree) -> Vec<Finding> {
    // Put together here, so that this file does not name them either.
    let names = [
        ["crates", ".io"].concat(),
        ["npm", "js"].concat(),
        ["py", "pi"].concat(),
    ];
    let mut findings = Vec::new();
    for (path, file) in tree.files.iter().filter(|(path, _)| path.as_str() != "Cargo.lock") {
        for (index, line) in file.text.lines().enumerate() {
            let lower = line.to_ascii_lowercase();
            if names.iter().any(|name| lower.contains(name)) {
                findings.push(Finding::new(path, index + 1, "names a registry host"));
            }
        }
    }
    findings
}

fn is_source(path: &str) -> bool {
    path.ends_with(".rs") && (path.starts_with("crates/") || path.starts_with("tests/"))
}

fn longer_than(tree: &Tree, limit: usize) -> Vec<Finding> {
    let sources = tree.files.iter().filter(|(path, _)| is_source(path));
    sources
        .filter_map(|(path, file)| {
            let lines = file.text.lines().count();
            (lines > limit).then(|| Finding::new(path, 0, format!("{lines} lines, the aim is {LONG}")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_rust_and_an_empty_product_are_findings() {
        let broken = Tree::sample(&[("crates/core/src/lib.rs", "fn f( {")]);
        assert_eq!(readable(&broken).len(), 2);
        assert_eq!(readable(&Tree::sample(&[("README.md", "")])).len(), 1);
        assert!(readable(&Tree::sample(&[("crates/core/src/lib.rs", "fn f() {}")])).is_empty());
    }

    /// Verifies REQ-H1.4.
    #[test]
    fn core_stays_pure() {
        let core = |text: &str| pure_core(&Tree::sample(&[("crates/core/src/lib.rs", text)])).len();
        assert_eq!(
            core("#![no_std]\nuse core::fmt;\n#[cfg(test)] mod tests { use std::fmt; }"),
            0
        );
        assert_eq!(core("use core::fmt;"), 1);
        assert_eq!(core("#![no_std]\nuse std::fmt;"), 1);
        assert_eq!(core("#![no_std]\nextern crate std;"), 1);
        assert_eq!(core("#![no_std]\n#[cfg(test)] mod tests { use x::HashMap; }"), 1);
        assert_eq!(pure_core(&Tree::sample(&[])).len(), 1);
    }

    #[test]
    fn source_files_begin_with_their_purpose() {
        let tree = Tree::sample(&[
            ("crates/core/src/good.rs", "//! Good.\n"),
            ("crates/core/src/bad.rs", "use x;\n//! Late.\n"),
            ("crates/core/tests/free.rs", "use x;\n"),
        ]);
        assert_eq!(
            module_docs(&tree),
            [Finding::new("crates/core/src/bad.rs", 1, "does not begin with //!")]
        );
    }

    #[test]
    fn long_files_are_warned_about_and_longer_ones_refused() {
        let lines = |count: usize| "//! x\n".repeat(count);
        let tree = Tree::sample(&[
            ("crates/a/src/fits.rs", &lines(LONG)),
            ("crates/a/src/long.rs", &lines(LONG + 1)),
            ("crates/a/src/too_long.rs", &lines(TOO_LONG + 1)),
            ("docs/any.md", &lines(TOO_LONG + 1)),
        ]);
        let paths = |findings: Vec<Finding>| findings.into_iter().map(|finding| finding.path).collect::<Vec<_>>();
        assert_eq!(paths(long_files(&tree)), ["crates/a/src/long.rs"]);
        assert_eq!(paths(file_size(&tree)), ["crates/a/src/too_long.rs"]);
    }

    #[test]
    fn the_product_stays_in_its_folder() {
        let product = "fn f() { read(\"../shared/contract\"); }";
        let test = "#[cfg(test)] mod tests { fn f() { read(\"../shared/contract\"); } }";
        assert_eq!(own_folder(&Tree::sample(&[("crates/spec/src/a.rs", product)])).len(), 1);
        assert!(own_folder(&Tree::sample(&[("crates/spec/src/a.rs", test)])).is_empty());
    }

    #[test]
    fn registry_hosts_are_named_in_the_lock_file_only() {
        let line = ["see https://", "crates", ".io/x"].concat();
        assert_eq!(registry_names(&Tree::sample(&[("docs/a.md", &line)])).len(), 1);
        assert!(registry_names(&Tree::sample(&[("Cargo.lock", &line), ("docs/a.md", "crates in io")])).is_empty());
    }
}
