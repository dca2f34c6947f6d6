//! Why a key has its value: what each layer says, and which one decides. For `config get` and `config list`.

use crate::configuration::{Configuration, Found, LookupError, NO_PROGRAM, check_key_name};
use crate::foreign::{Recognised, recognise};
use crate::keys::{AllowedLayers, Key};
use crate::layer::Layer;
use crate::layer_file::{DEFAULTS, DEFAULTS_PLACE, LayerState};
use crate::lines;
use crate::message::{ConfigurationError, Warning};

/// A value and the line it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The layer.
    pub layer: Layer,
    /// The file and line; the built-in defaults have no file.
    pub place: String,
}

/// What one layer says of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerReport {
    /// The layer.
    pub layer: Layer,
    /// Its file, with `:line` where it sets the key.
    pub place: String,
    /// What it says.
    pub says: Says,
}

/// What a layer's file says of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Says {
    /// There is no file.
    NoFile,
    /// The file is skipped: why.
    Skipped(String),
    /// The file does not set the key.
    NotSet,
    /// The file sets it.
    Sets {
        /// The raw value.
        value: String,
        /// What became of it.
        verdict: Verdict,
    },
}

/// What became of a layer's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is the value.
    Decides,
    /// A higher layer speaks.
    Shadowed,
    /// The key does not admit it: what was expected.
    Illegal(String),
    /// This layer may not set the key.
    NotAllowed,
}

/// Everything that can be said of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Its name.
    pub key: String,
    /// Whose key it is.
    pub recognised: Recognised,
    /// The value that counts and where it comes from, or why there is none.
    pub outcome: Result<(String, Origin), ConfigurationError>,
    /// What each layer says, highest first.
    pub layers: Vec<LayerReport>,
    /// What a person should be told.
    pub warnings: Vec<Warning>,
}

impl Configuration {
    /// Returns everything that can be said of a key. Keys of this product have the checked value that it works with;
    /// others have their raw one.
    ///
    /// # Errors
    /// When the name is no key's name, or no layer sets a key that is not ours.
    pub fn explanation(&self, name: &str) -> Result<Explanation, LookupError> {
        check_key_name(name)?;
        let recognised = recognise(name);
        let (outcome, warnings) = match recognised {
            Recognised::Ours(key) => self.effective(key),
            Recognised::Foreign | Recognised::Unknown(_) => {
                let (found, warnings) = self.look_up_usable(name, AllowedLayers::All);
                let found = found.ok_or(LookupError::Unset)?;
                (Ok((found.entry.value.clone(), origin_of(&found))), warnings)
            }
        };
        let origin = outcome.as_ref().ok().map(|(_, origin)| origin);
        Ok(Explanation {
            layers: self.reports(name, recognised, origin),
            key: name.to_owned(),
            recognised,
            outcome,
            warnings,
        })
    }

    fn effective(&self, key: &'static Key) -> (Result<(String, Origin), ConfigurationError>, Vec<Warning>) {
        let checked = |text: &str| key.kind.check(text).map(|()| text.to_owned());
        match self.read(key, checked) {
            Ok(resolved) => {
                let value = resolved.setting.value;
                let (found, _) = self.look_up(key.name, key.layers);
                let candidates = [found, self.core_value(key.name)];
                // An illegal value leads to the core's, or past it to the built-in default.
                let speaks = candidates
                    .iter()
                    .flatten()
                    .find(|found| found.entry.broken.is_none() && found.entry.value.trim() == value);
                let origin = speaks.map_or_else(|| built_in(key), origin_of);
                (Ok((value, origin)), resolved.warnings)
            }
            Err(error) => (Err(error), Vec::new()),
        }
    }

    fn reports(&self, name: &str, recognised: Recognised, origin: Option<&Origin>) -> Vec<LayerReport> {
        let reports = self.layers().map(|(layer, file)| {
            let says = match (&file.state, file.entry(name)) {
                (_, Some(entry)) => {
                    let found = self.found(layer, name);
                    let decides = found.is_some_and(|found| origin == Some(&origin_of(&found)));
                    Says::Sets {
                        value: entry.value.clone(),
                        verdict: self.verdict(layer, entry, recognised, decides),
                    }
                }
                (LayerState::Absent, None) => Says::NoFile,
                (LayerState::Skipped(reason), None) => Says::Skipped(reason.clone()),
                (LayerState::Read(_), None) => Says::NotSet,
            };
            let place = self
                .found(layer, name)
                .map_or_else(|| file.path.clone(), |found| found.place());
            LayerReport { layer, place, says }
        });
        reports.collect()
    }

    fn verdict(&self, layer: Layer, entry: &lines::Entry, recognised: Recognised, decides: bool) -> Verdict {
        let key = match recognised {
            Recognised::Ours(key) => Some(key),
            Recognised::Foreign | Recognised::Unknown(_) => None,
        };
        if key.is_some_and(|key| !self.may_set(key.layers, layer)) {
            return Verdict::NotAllowed;
        }
        let illegal = key.and_then(|key| key.kind.check(entry.value.trim()).err());
        match (&entry.broken, illegal) {
            (Some(bad), _) => Verdict::Illegal(bad.reason.to_owned()),
            (None, Some(expected)) => Verdict::Illegal(expected),
            (None, None) if decides => Verdict::Decides,
            (None, None) => Verdict::Shadowed,
        }
    }
}

impl Verdict {
    /// Returns the verdict as a remark beside the value; empty for a value that is merely shadowed.
    #[must_use]
    pub fn remark(&self) -> String {
        match self {
            Self::Decides => "decides".to_owned(),
            Self::Shadowed => String::new(),
            Self::Illegal(expected) => format!("not used: {expected}"),
            Self::NotAllowed => format!("not used: {NO_PROGRAM}"),
        }
    }
}

fn origin_of(found: &Found<'_>) -> Origin {
    Origin {
        layer: found.layer,
        place: found.place(),
    }
}

/// Returns the origin of the table's own default.
fn built_in(key: &Key) -> Origin {
    let entries = lines::read_unchecked(DEFAULTS.as_bytes());
    let line = entries
        .iter()
        .find(|entry| entry.key == key.name)
        .map(|entry| entry.line);
    Origin {
        layer: Layer::Core,
        place: line.map_or_else(|| DEFAULTS_PLACE.to_owned(), |line| format!("{DEFAULTS_PLACE}:{line}")),
    }
}

#[cfg(test)]
mod tests;
