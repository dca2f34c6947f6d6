//! What became of a layer's file, and the embedded one of the core layer.

use crate::layer::Provenance;
use crate::lines::Entry;

/// The embedded defaults file: the core layer, and the reference of every key in comments.
pub(crate) const DEFAULTS: &str = include_str!("defaults.yml");

/// What messages call the embedded defaults file.
pub(crate) const DEFAULTS_PLACE: &str = "built-in defaults";

pub(crate) const PROGRAM_LAYERS: &str = "set it in an untracked machine-local file or in the adopter overlay";

/// What became of one layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LayerFile {
    pub(crate) path: String,
    pub(crate) provenance: Provenance,
    pub(crate) state: LayerState,
}

/// What a layer's file turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LayerState {
    /// There is no file.
    Absent,
    /// The file says nothing: it could not be read, or was not taken.
    Skipped(String),
    /// The file sets these keys.
    Read(Vec<Entry>),
}

impl LayerFile {
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.state {
            LayerState::Read(entries) => entries.iter().find(|entry| entry.key == key),
            LayerState::Absent | LayerState::Skipped(_) => None,
        }
    }
}

pub(crate) fn place(path: &str, line: usize) -> String {
    if line == 0 {
        path.to_owned()
    } else {
        format!("{path}:{line}")
    }
}
