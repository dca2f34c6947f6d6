//! The layers put together: loading, and the look-up of a raw value with its origin.

use std::collections::BTreeMap;

use crate::keys::{self, AllowedLayers, Key};
use crate::layer::{Layer, LayerSource, LayerText, Provenance};
use crate::lines::{self, Entry};
use crate::message::{ConfigurationError, Warning};

/// The embedded defaults file: the core layer, and the reference of every key in comments.
pub const DEFAULTS: &str = include_str!("defaults.yml");

/// What messages call the embedded defaults file.
pub(crate) const DEFAULTS_PLACE: &str = "built-in defaults";

/// One layer that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LayerFile {
    path: String,
    provenance: Provenance,
    entries: Vec<Entry>,
}

impl LayerFile {
    fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }
}

/// A value in a layer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'a> {
    pub(crate) layer: Layer,
    path: &'a str,
    pub(crate) entry: &'a Entry,
}

impl Found<'_> {
    /// Returns the file and line, for a message.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.path, self.entry.line)
    }
}

/// The layers of configuration as they were read: a snapshot, and the only thing that values are read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    files: BTreeMap<Layer, LayerFile>,
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
    /// Returns the configuration of the layers that the host read, together with what was skipped.
    ///
    /// Of several texts of one layer the first that is not absent counts. Without a core text the embedded defaults are
    /// the core layer; with one, they still supply the keys that planwright does not have.
    ///
    /// # Errors
    /// When the repository's file is unreadable or malformed, whatever key is wanted (exit 4, `contract/core.md §12.2`).
    pub fn load(texts: Vec<LayerText>) -> Result<(Self, Vec<Warning>), ConfigurationError> {
        let mut files = BTreeMap::new();
        let mut skipped: Vec<(Layer, Warning)> = Vec::new();
        for LayerText {
            layer,
            path,
            provenance,
            text,
        } in texts
        {
            if files.contains_key(&layer) || skipped.iter().any(|(earlier, _)| *earlier == layer) {
                continue;
            }
            let read = match text {
                LayerSource::Absent => continue,
                LayerSource::Unreadable(reason) => Err((path.clone(), reason)),
                LayerSource::Bytes(bytes) if layer == Layer::Core => Ok(lines::read_unchecked(&bytes)),
                LayerSource::Bytes(bytes) => lines::read_checked(&bytes)
                    .map_err(|malformed| (format!("{path}:{}", malformed.line), malformed.reason.to_owned())),
            };
            match read {
                Ok(entries) => drop(files.insert(
                    layer,
                    LayerFile {
                        path,
                        provenance,
                        entries,
                    },
                )),
                Err((place, reason)) if layer == Layer::RepositoryTracked => {
                    return Err(ConfigurationError::MalformedRepositoryFile { place, reason });
                }
                Err((place, reason)) => {
                    let message = format!("the whole {layer} configuration is skipped: {reason}");
                    skipped.push((layer, Warning { layer, place, message }));
                }
            }
        }
        let mut warnings: Vec<Warning> = skipped.into_iter().map(|(_, warning)| warning).collect();
        let core_was_unreadable = warnings.iter().any(|warning| warning.layer == Layer::Core);
        let supplied = files.remove(&Layer::Core);
        files.insert(Layer::Core, core_layer(supplied, core_was_unreadable, &mut warnings));
        Ok((Self { files }, warnings))
    }

    /// Returns a key's raw value and where it comes from. Any key may be asked for, not only those of this product.
    ///
    /// # Errors
    /// When the name is no key's name (exit 2), or no layer sets the key (exit 3).
    pub fn explain(&self, key: &str) -> Result<Explained<'_>, LookupError> {
        check_key_name(key)?;
        let layers = keys::find(key).map_or(AllowedLayers::All, |known| known.layers);
        let (found, warnings) = self.look_up(key, layers);
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
        let mut warnings = Vec::new();
        for (layer, file) in self.files.iter().rev() {
            let Some(entry) = file.entry(key) else {
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
                message: format!(
                    "{key} is ignored, because a cloned repository cannot choose a \
                    program; set it in an untracked machine-local file or in the adopter overlay"
                ),
            });
        }
        (None, warnings)
    }

    /// Returns the value of the core layer alone.
    pub(crate) fn core_value(&self, key: &str) -> Option<Found<'_>> {
        let file = self.files.get(&Layer::Core)?;
        file.entry(key).map(|entry| Found {
            layer: Layer::Core,
            path: &file.path,
            entry,
        })
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

/// Returns the core layer: the embedded one, or the supplied one completed by the keys that only this product has.
fn core_layer(supplied: Option<LayerFile>, was_unreadable: bool, warnings: &mut Vec<Warning>) -> LayerFile {
    let built_in = lines::read_unchecked(DEFAULTS.as_bytes());
    let path = DEFAULTS_PLACE.to_owned();
    let embedded = LayerFile {
        path,
        provenance: Provenance::Machine,
        entries: built_in,
    };
    let mut core = match supplied {
        None if !was_unreadable => return embedded,
        None => LayerFile {
            entries: Vec::new(),
            ..embedded.clone()
        },
        Some(supplied) => supplied,
    };
    for entry in &embedded.entries {
        let Some(key) = keys::find(&entry.key) else {
            continue;
        };
        if key.layers == AllowedLayers::MachineLocalAndAdopter {
            warnings.extend(take_program(&mut core, key));
        }
        if !key.shared && core.entry(&entry.key).is_none() {
            core.entries.push(entry.clone());
        }
    }
    core
}

/// Removes a key that the core may not set, and returns the warning where that changes something.
fn take_program(core: &mut LayerFile, key: &Key) -> Option<Warning> {
    let position = core.entries.iter().position(|entry| entry.key == key.name)?;
    let entry = core.entries.remove(position);
    (entry.value != key.default).then(|| Warning {
        layer: Layer::Core,
        place: format!("{}:{}", core.path, entry.line),
        message: format!(
            "{} is ignored here; set it in an untracked machine-local file or in the \
            adopter overlay",
            key.name
        ),
    })
}

#[cfg(test)]
pub(crate) mod tests;
