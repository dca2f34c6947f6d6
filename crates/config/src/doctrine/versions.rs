//! The built-in documents by version, so that a copy of an older one can be told from a text of somebody's own.

use sha1::{Digest as _, Sha1};

/// A built-in document as some release had it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) document: &'static str,
    /// The first release that had this text.
    pub(super) release: &'static str,
    /// The hash that `git hash-object` prints for it.
    pub(super) hash: &'static str,
}

const fn version(document: &'static str, release: &'static str, hash: &'static str) -> Version {
    Version {
        document,
        release,
        hash,
    }
}

/// Every text that was ever released, oldest first; the last row of a document is what is embedded now.
pub(super) const VERSIONS: &[Version] = &[
    version("execute-task", "0.1.0", "31afd7f6299ab279092ce5567f130c54c5a91da9"),
    version(
        "orchestration-concurrency",
        "0.1.0",
        "80838039d7971131cf32d2dc0e5bd9483fc8ebb3",
    ),
    version("proportionality", "0.1.0", "bac97f0218f98658936dbaeadd9e9dd70574cf91"),
    version(
        "selection-contract",
        "0.1.0",
        "96638fb0e3ab7b641ae7abf68dd7fee86a419033",
    ),
    version("spec-format", "0.1.0", "eac6365310e289082f5b94a17c9b093f7d763dfc"),
];

/// Returns the hash that `git hash-object` prints for these bytes.
pub(super) fn hash_of(bytes: &[u8]) -> String {
    let mut hasher = Sha1::new();
    hasher.update(format!("blob {}\0", bytes.len()));
    hasher.update(bytes);
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the version of a document that is embedded now.
pub(super) fn current(document: &str) -> Option<&'static Version> {
    VERSIONS.iter().rev().find(|version| version.document == document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctrine::EMBEDDED;

    #[test]
    fn the_last_row_of_each_document_is_its_text() {
        for (document, text) in EMBEDDED {
            let hash = hash_of(text.as_bytes());
            assert_eq!(
                current(document).map(|version| version.hash),
                Some(hash.as_str()),
                "doctrine/{document}.md changed: give this release's row that hash, or add a row for the next release"
            );
        }
        for version in VERSIONS {
            assert!(
                EMBEDDED.iter().any(|(document, _)| *document == version.document),
                "{version:?}"
            );
        }
    }

    #[test]
    fn the_hash_is_gits() {
        assert_eq!(hash_of(b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
    }
}
