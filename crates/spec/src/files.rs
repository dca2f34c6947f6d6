//! A bundle's files as they were found, before anything is read in them.

use crate::BundleFile;

/// The bytes of a bundle's four authored files, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BundleTexts {
    /// `requirements.md`.
    pub requirements: Vec<u8>,
    /// `design.md`.
    pub design: Vec<u8>,
    /// `tasks.md`.
    pub tasks: Vec<u8>,
    /// `test-spec.md`.
    pub test_spec: Vec<u8>,
}

impl BundleTexts {
    /// Returns the files in canonical order.
    #[must_use]
    pub fn files(&self) -> [(BundleFile, &[u8]); 4] {
        [
            (BundleFile::Requirements, &self.requirements),
            (BundleFile::Design, &self.design),
            (BundleFile::Tasks, &self.tasks),
            (BundleFile::TestSpec, &self.test_spec),
        ]
    }
}

/// The largest file that is read, in bytes. A larger one is refused before it is parsed: no person writes or reviews
/// such a text, and a parser's time and memory stay bounded.
pub const LARGEST_FILE: usize = 8 * 1024 * 1024;

/// One file as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileText {
    /// Its bytes, as stored.
    Present(Vec<u8>),
    /// There is none.
    Missing,
    /// Something is there that cannot be read; the text says why.
    Unreadable(String),
}

/// A bundle's four authored files as they were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleFiles {
    /// `requirements.md`.
    pub requirements: FileText,
    /// `design.md`.
    pub design: FileText,
    /// `tasks.md`.
    pub tasks: FileText,
    /// `test-spec.md`.
    pub test_spec: FileText,
}

impl BundleFiles {
    /// Returns the files in canonical order.
    #[must_use]
    pub fn files(&self) -> [(BundleFile, &FileText); 4] {
        [
            (BundleFile::Requirements, &self.requirements),
            (BundleFile::Design, &self.design),
            (BundleFile::Tasks, &self.tasks),
            (BundleFile::TestSpec, &self.test_spec),
        ]
    }
}

impl From<BundleTexts> for BundleFiles {
    fn from(texts: BundleTexts) -> Self {
        Self {
            requirements: FileText::Present(texts.requirements),
            design: FileText::Present(texts.design),
            tasks: FileText::Present(texts.tasks),
            test_spec: FileText::Present(texts.test_spec),
        }
    }
}
