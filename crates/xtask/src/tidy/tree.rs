//! The files of the repository as the rules see them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::failure::{Context, Result};
use crate::rust_text::{self, RustText, Token};
use crate::workspace::{self, Workspace};

/// Folders of `crates/` that are no product: they may do what the product may not.
const NO_PRODUCT: &[&str] = &["demo", "testkit", "xtask"];

/// Every file git tracks or would add.
pub(crate) struct Tree {
    /// The files, by path.
    pub(super) files: BTreeMap<String, SourceFile>,
    /// The folders of `crates/` that depend on git2.
    git2_crates: BTreeSet<String>,
    /// Files that only a `#[cfg(test)] mod name;` brings in.
    test_files: BTreeSet<String>,
}

/// One file.
pub(super) struct SourceFile {
    /// Its text; bytes that are no UTF-8 are replaced.
    pub(super) text: String,
    /// Its tokens when it is Rust, or why it cannot be read as such.
    pub(super) rust: Option<std::result::Result<RustText, String>>,
}

impl Tree {
    /// Reads the repository.
    pub(crate) fn load(root: &Path, workspace: &Workspace) -> Result<Self> {
        let mut files = Vec::new();
        for path in workspace::files(root)? {
            let bytes = std::fs::read(root.join(&path)).context(|| format!("cannot read {path}"))?;
            files.push((path, String::from_utf8_lossy(&bytes).into_owned()));
        }
        let uses_git2 = workspace
            .members
            .iter()
            .filter(|member| member.dependencies.iter().any(|dependency| dependency.name == "git2"))
            .filter_map(|member| crate_folder(&member.manifest_path).map(str::to_owned))
            .collect();
        Ok(Self::new(files, uses_git2))
    }

    fn new(files: Vec<(String, String)>, git2_crates: BTreeSet<String>) -> Self {
        let mut tree = Self {
            files: BTreeMap::new(),
            git2_crates,
            test_files: BTreeSet::new(),
        };
        for (path, text) in files {
            let rust = path
                .ends_with(".rs")
                .then(|| rust_text::read(&text).map_err(|failure| failure.to_string()));
            if let Some(Ok(rust)) = &rust {
                tree.test_files
                    .extend(rust.test_modules.iter().map(|module| module_path(&path, module)));
            }
            tree.files.insert(path, SourceFile { text, rust });
        }
        tree
    }

    /// Returns a tree of these files, in which host and demo use git2.
    #[cfg(test)]
    pub(super) fn sample(files: &[(&str, &str)]) -> Self {
        let owned = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect();
        Self::new(owned, ["host".to_owned(), "demo".to_owned()].into())
    }

    /// Returns that line of the file, empty when there is none.
    pub(super) fn line(&self, path: &str, line: usize) -> &str {
        let file = self.files.get(path);
        file.and_then(|file| file.text.lines().nth(line.checked_sub(1)?))
            .unwrap_or_default()
    }

    /// Returns the product's Rust files with the tokens that are not only for tests.
    pub(super) fn product(&self) -> impl Iterator<Item = (&str, Vec<&Token>)> {
        self.rust()
            .filter(|(path, _)| self.is_product(path))
            .map(|(path, rust)| {
                let tokens = rust.tokens.iter().filter(|token| !token.test).collect();
                (path, tokens)
            })
    }

    /// Returns every Rust file that can be read.
    pub(super) fn rust(&self) -> impl Iterator<Item = (&str, &RustText)> {
        self.files.iter().filter_map(|(path, file)| match &file.rust {
            Some(Ok(rust)) => Some((path.as_str(), rust)),
            Some(Err(_)) | None => None,
        })
    }

    /// Returns whether the file's crate depends on git2.
    pub(super) fn uses_git2(&self, path: &str) -> bool {
        crate_folder(path).is_some_and(|folder| self.git2_crates.contains(folder))
    }

    fn is_product(&self, path: &str) -> bool {
        let Some(folder) = crate_folder(path) else {
            return false;
        };
        let inside = &path["crates/".len() + folder.len()..];
        let below_test_file = |test: &String| {
            let stem = test.trim_end_matches(".rs");
            path == test || path.strip_prefix(stem).is_some_and(|rest| rest.starts_with('/'))
        };
        !NO_PRODUCT.contains(&folder) && !inside.starts_with("/tests/") && !self.test_files.iter().any(below_test_file)
    }
}

/// Returns the folder below `crates/` that the file is in.
fn crate_folder(path: &str) -> Option<&str> {
    path.strip_prefix("crates/")?.split_once('/').map(|(folder, _)| folder)
}

/// Returns where the module's own file is; a folder of that name is covered by its stem.
fn module_path(parent: &str, module: &str) -> String {
    let (folder, file) = parent.rsplit_once('/').unwrap_or(("", parent));
    match file {
        "lib.rs" | "main.rs" | "mod.rs" => format!("{folder}/{module}.rs"),
        other => format!("{folder}/{}/{module}.rs", other.trim_end_matches(".rs")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product_paths(tree: &Tree) -> Vec<&str> {
        tree.product().map(|(path, _)| path).collect()
    }

    #[test]
    fn only_product_crates_are_product() {
        let tree = Tree::sample(&[
            ("crates/demo/src/lib.rs", ""),
            ("crates/testkit/src/lib.rs", ""),
            ("crates/tower/src/lib.rs", ""),
            ("crates/tower/tests/race.rs", ""),
            ("crates/xtask/src/main.rs", ""),
            ("tests/src/lib.rs", ""),
        ]);
        assert_eq!(product_paths(&tree), ["crates/tower/src/lib.rs"]);
    }

    #[test]
    fn files_of_test_modules_are_no_product() {
        let tree = Tree::sample(&[
            ("crates/core/src/lib.rs", "mod graph;\n#[cfg(test)]\nmod model;"),
            ("crates/core/src/model.rs", "mod deep;"),
            ("crates/core/src/model/deep.rs", ""),
            ("crates/core/src/modeling.rs", ""),
            ("crates/core/src/graph.rs", "#[cfg(test)]\nmod tests;"),
            ("crates/core/src/graph/tests.rs", ""),
        ]);
        let expected = [
            "crates/core/src/graph.rs",
            "crates/core/src/lib.rs",
            "crates/core/src/modeling.rs",
        ];
        assert_eq!(product_paths(&tree), expected);
    }

    #[test]
    fn a_line_that_is_not_there_is_empty() {
        let tree = Tree::sample(&[("a.md", "one\ntwo")]);
        assert_eq!(
            (tree.line("a.md", 2), tree.line("a.md", 0), tree.line("b.md", 1)),
            ("two", "", "")
        );
    }
}
