//! The layers put together: loading, and the look-up of a raw value with its origin.

use std::collections::{BTreeMap, BTreeSet, btree_map};

use crate::core_layer::core_layer;
use crate::keys::{self, AllowedLayers};
use crate::layer::{Layer, LayerSource, LayerText, Provenance};
use crate::layer_file::{DEFAULTS_PLACE, LayerFile, LayerState, PROGRAM_LAYERS, place};
use crate::lines::{self, Entry};
use crate::message::{ConfigurationError, Warning};
use crate::remark;

pub(crate) const NO_PROGRAM: &str = "a cloned repository cannot choose a program";
/// What a bad line takes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BadLine {
    /// The key it stands under.
    CostsItsKey,
    /// Its whole file, as for the reference.
    CostsItsFile,
}

/// A value in a layer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'a> {
    pub(crate) layer: Layer,
    path: &'a str,
    pub(crate) entry: &'a Entry,
}

impl Found<'_> {
    /// Returns the file and line, for a message: the line that is at fault, where one is.
    pub(crate) fn place(&self) -> String {
        let line = self.entry.broken.as_ref().map_or(self.entry.line, |bad| bad.line);
        place(self.path, line)
    }
}

/// The layers of configuration as they were read: a snapshot, and the only thing that values are read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    files: BTreeMap<Layer, LayerFile>,
    /// Whether the core was supplied and could not be read, so that only keys of our own have a core value.
    is_core_unreadable: bool,
}

/// What the core says of a key, for a reader that passes over the other layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoreValue<'a> {
    /// This raw value.
    Set(&'a str),
    /// Nothing.
    NotSet,
    /// The core's file cannot be read, so that nobody knows.
    Unreadable,
}

/// Where a raw value comes from, for `config get --explain`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained<'a> {
    /// The layer that sets it.
    pub layer: Layer,
    /// The value by the line rules; it may be empty, and is not checked against the key's kind.
    pub value: &'a str,
    /// The file and line.
    pub place: String,
    /// What was ignored on the way.
    pub warnings: Vec<Warning>,
}

/// Why there is no raw value (`contract/core.md §12.2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// The name is not `[a-z][a-z0-9_]*`. It is not repeated: it may be hostile.
    #[error("not a configuration key: expected a-z, 0-9 and '_', starting with a letter")]
    InvalidKey,
    /// No layer sets the key.
    #[error("the key is set in no layer of the configuration")]
    Unset,
}

impl LookupError {
    /// Returns the exit number of `config-get`: 2 for a bad name, 3 for a key set nowhere.
    #[must_use]
    pub const fn exit_class(self) -> u8 {
        match self {
            Self::InvalidKey => 2,
            Self::Unset => 3,
        }
    }
}

impl Configuration {
    /// Returns the configuration of the layers that the host read, together with what was skipped or cannot be meant.
    ///
    /// Of several texts of one layer the first that is not absent counts. Without a core text the embedded defaults are
    /// the core layer; with one, they still supply the keys that planwright does not have. A bad line of a machine-local
    /// or adopter file costs the key it stands under.
    ///
    /// # Errors
    /// When the repository's file is unreadable or malformed, whatever key is wanted (exit 4, `contract/core.md §12.2`).
    pub fn load(texts: Vec<LayerText>) -> Result<(Self, Vec<Warning>), ConfigurationError> {
        Self::load_with(texts, BadLine::CostsItsKey)
    }

    /// As [`Self::load`], by the reference's rule that a bad line of a machine-local or adopter file costs the whole
    /// file, and without remarks on keys: what the plumbing answers from.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn load_as_the_reference(texts: Vec<LayerText>) -> Result<(Self, Vec<Warning>), ConfigurationError> {
        Self::load_with(texts, BadLine::CostsItsFile)
    }

    fn load_with(texts: Vec<LayerText>, bad_line: BadLine) -> Result<(Self, Vec<Warning>), ConfigurationError> {
        let mut files: BTreeMap<Layer, LayerFile> = BTreeMap::new();
        let mut warnings = Vec::new();
        for text in texts {
            let known = files.get(&text.layer).map(|file| &file.state);
            if known.is_some_and(|state| *state != LayerState::Absent) {
                continue;
            }
            let state = state_of(&text, bad_line, &mut warnings)?;
            let LayerText {
                layer,
                path,
                provenance,
                ..
            } = text;
            let file = LayerFile {
                path,
                provenance,
                state,
            };
            match files.entry(layer) {
                // The place that was looked at first is the one to name.
                btree_map::Entry::Occupied(_) if file.state == LayerState::Absent => {}
                btree_map::Entry::Occupied(mut there) => drop(there.insert(file)),
                btree_map::Entry::Vacant(empty) => drop(empty.insert(file)),
            }
        }
        let supplied = files.remove(&Layer::Core);
        let is_core_unreadable = supplied
            .as_ref()
            .is_some_and(|file| matches!(file.state, LayerState::Skipped(_)));
        files.insert(Layer::Core, core_layer(supplied, &mut warnings));
        let configuration = Self {
            files,
            is_core_unreadable,
        };
        Ok((configuration, warnings))
    }

    /// Returns a key's raw value and where it comes from. Any key may be asked for, not only those of this product.
    ///
    /// # Errors
    /// When the name is no key's name (exit 2), or no layer sets the key (exit 3).
    pub fn explain(&self, key: &str) -> Result<Explained<'_>, LookupError> {
        check_key_name(key)?;
        let layers = keys::find(key).map_or(AllowedLayers::All, |known| known.layers);
        let (found, warnings) = self.look_up_usable(key, layers);
        let found = found.ok_or(LookupError::Unset)?;
        Ok(Explained {
            layer: found.layer,
            value: &found.entry.value,
            place: found.place(),
            warnings,
        })
    }

    /// Returns a key's raw value, which may be empty.
    ///
    /// # Errors
    /// As [`Self::explain`].
    pub fn get(&self, key: &str) -> Result<&str, LookupError> {
        self.explain(key).map(|explained| explained.value)
    }

    /// Returns the value of the highest layer that may set the key, and a warning for each that may not and does.
    pub(crate) fn look_up(&self, key: &str, layers: AllowedLayers) -> (Option<Found<'_>>, Vec<Warning>) {
        self.first(key, layers, |_| true)
    }

    /// As [`Self::look_up`], passing over entries that cannot be used.
    pub(crate) fn look_up_usable(&self, key: &str, layers: AllowedLayers) -> (Option<Found<'_>>, Vec<Warning>) {
        self.first(key, layers, |entry| entry.broken.is_none())
    }

    fn first(
        &self,
        key: &str,
        layers: AllowedLayers,
        is_wanted: impl Fn(&Entry) -> bool,
    ) -> (Option<Found<'_>>, Vec<Warning>) {
        let mut warnings = Vec::new();
        for (layer, file) in self.files.iter().rev() {
            let Some(entry) = file.entry(key).filter(|entry| is_wanted(entry)) else {
                continue;
            };
            let found = Found {
                layer: *layer,
                path: &file.path,
                entry,
            };
            if may_set(layers, *layer, file.provenance) {
                return (Some(found), warnings);
            }
            warnings.push(Warning {
                layer: *layer,
                place: found.place(),
                message: format!("{key} is ignored, because {NO_PROGRAM}"),
                remedy: format!("remove `{key}` there; {PROGRAM_LAYERS}"),
            });
        }
        (None, warnings)
    }

    /// Returns every layer with its file, highest first.
    pub(crate) fn layers(&self) -> impl Iterator<Item = (Layer, &LayerFile)> {
        self.files.iter().rev().map(|(layer, file)| (*layer, file))
    }

    /// Returns whether that layer may set the key.
    pub(crate) fn may_set(&self, layers: AllowedLayers, layer: Layer) -> bool {
        self.files
            .get(&layer)
            .is_some_and(|file| may_set(layers, layer, file.provenance))
    }

    /// Returns the names of all keys that a layer above the core sets and nobody here reads.
    #[must_use]
    pub fn other_keys(&self) -> BTreeSet<&str> {
        let above = self.files.iter().filter(|(layer, _)| **layer != Layer::Core);
        let entries = above.flat_map(|(_, file)| match &file.state {
            LayerState::Read(entries) => entries.as_slice(),
            LayerState::Absent | LayerState::Skipped(_) => &[],
        });
        let names = entries.map(|entry| entry.key.as_str());
        names.filter(|name| keys::find(name).is_none()).collect()
    }

    /// Returns the value of the core layer alone.
    pub(crate) fn core_value(&self, key: &str) -> Option<Found<'_>> {
        self.found(Layer::Core, key)
    }

    /// Returns the value of one layer, whether or not it may set the key.
    pub(crate) fn found(&self, layer: Layer, key: &str) -> Option<Found<'_>> {
        let file = self.files.get(&layer)?;
        file.entry(key).map(|entry| Found {
            layer,
            path: &file.path,
            entry,
        })
    }

    /// Returns what the core says of a key.
    #[must_use]
    pub fn core(&self, key: &str) -> CoreValue<'_> {
        match self.files.get(&Layer::Core).and_then(|file| file.entry(key)) {
            Some(entry) => CoreValue::Set(&entry.value),
            None if self.is_core_unreadable => CoreValue::Unreadable,
            None => CoreValue::NotSet,
        }
    }

    /// Returns the path of the core layer, for a message about a key that no layer sets.
    pub(crate) fn core_path(&self) -> &str {
        self.files.get(&Layer::Core).map_or(DEFAULTS_PLACE, |file| &file.path)
    }
}

/// Checks that a text is a key's name, which `config get` does before it reads any file.
///
/// # Errors
/// When it is not `[a-z][a-z0-9_]*` (exit 2).
pub fn check_key_name(key: &str) -> Result<(), LookupError> {
    if lines::is_key_name(key.as_bytes()) {
        Ok(())
    } else {
        Err(LookupError::InvalidKey)
    }
}

fn may_set(layers: AllowedLayers, layer: Layer, provenance: Provenance) -> bool {
    match (layers, layer) {
        // The core's value of such a key is always the built-in one, see `core_layer`.
        (AllowedLayers::All, _) | (AllowedLayers::MachineLocalAndAdopter, Layer::Core) => true,
        (AllowedLayers::MachineLocalAndAdopter, Layer::RepositoryTracked) => false,
        (AllowedLayers::MachineLocalAndAdopter, Layer::MachineLocal | Layer::Adopter) => match provenance {
            Provenance::Machine => true,
            Provenance::Repository => false,
        },
    }
}

/// Returns what a layer's text comes to.
fn state_of(
    text: &LayerText,
    bad_line: BadLine,
    warnings: &mut Vec<Warning>,
) -> Result<LayerState, ConfigurationError> {
    let layer = text.layer;
    let (at, reason) = match &text.text {
        LayerSource::Absent => return Ok(LayerState::Absent),
        LayerSource::Unreadable(reason) => (text.path.clone(), reason.clone()),
        LayerSource::Bytes(bytes) if layer == Layer::Core => {
            return Ok(LayerState::Read(lines::read_unchecked(bytes)));
        }
        LayerSource::Bytes(bytes) => match lines::malformed(bytes) {
            Some(bad) if layer == Layer::RepositoryTracked || bad_line == BadLine::CostsItsFile => {
                (place(&text.path, bad.line), bad.reason.to_owned())
            }
            Some(_) | None if bad_line == BadLine::CostsItsFile => {
                return Ok(LayerState::Read(lines::read_unchecked(bytes)));
            }
            Some(_) | None => {
                let reading = lines::read(bytes);
                warnings.extend(remark::on(layer, &text.path, &reading));
                return Ok(LayerState::Read(reading.entries));
            }
        },
    };
    if layer == Layer::RepositoryTracked {
        return Err(ConfigurationError::MalformedRepositoryFile { place: at, reason });
    }
    warnings.push(Warning {
        layer,
        message: format!("the whole {layer} configuration is skipped: {reason}"),
        remedy: format!("repair {at}, or remove it"),
        place: at,
    });
    Ok(LayerState::Skipped(reason))
}

#[cfg(test)]
pub(crate) mod tests;
