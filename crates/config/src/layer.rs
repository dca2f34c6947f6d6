//! The four layers, their order, and the text the host read for each.

use core::fmt;

/// A layer of configuration or doctrine; a later one in this order wins (`contract/core.md §12.1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// What the product ships.
    Core,
    /// What a person or an organisation lays over the core, for every repository on the machine.
    Adopter,
    /// What the repository commits, for everybody who clones it.
    RepositoryTracked,
    /// What one person sets in one checkout, outside version control.
    MachineLocal,
}

impl Layer {
    /// Returns the layer's name as `--explain` prints it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Adopter => "adopter",
            Self::RepositoryTracked => "repo-tracked",
            Self::MachineLocal => "machine-local",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl serde::Serialize for Layer {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What the host found where a file may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayerSource {
    /// A regular file with these bytes.
    Bytes(Vec<u8>),
    /// Nothing is there.
    Absent,
    /// Something is there and could not be read as a regular file: a lowercase fragment saying why.
    Unreadable(String),
}

/// Who wrote the bytes of a file: a person on this machine, or possibly whoever wrote the repository.
///
/// The machine-local file lies inside the checkout, so a repository can commit one and have every clone carry it. A
/// key that names a program is therefore read only from bytes that provably did not come with the clone. Whether a
/// file is tracked must be asked of its real path, symlinks resolved; where that cannot be told, say `Repository`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// The file is known not to be part of the repository's content.
    Machine,
    /// The file is tracked by the repository, or that could not be told.
    Repository,
}

/// The text of one layer's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerText {
    /// The layer it speaks for.
    pub layer: Layer,
    /// Where it was looked for, for messages only.
    pub path: String,
    /// Who wrote it.
    pub provenance: Provenance,
    /// What was found there.
    pub text: LayerSource,
}
