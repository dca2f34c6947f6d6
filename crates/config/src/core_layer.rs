//! The core layer: the embedded defaults, or a supplied file completed by the keys that only this product has.

use crate::foreign;
use crate::keys::{self, AllowedLayers, Key};
use crate::layer::{Layer, Provenance};
use crate::layer_file::{DEFAULTS, DEFAULTS_PLACE, LayerFile, LayerState, PROGRAM_LAYERS, place};
use crate::lines::{self, Cut, Entry};
use crate::message::Warning;

/// Returns the core layer: the embedded one, or the supplied one completed by the keys that only this product has.
pub(crate) fn core_layer(supplied: Option<LayerFile>, warnings: &mut Vec<Warning>) -> LayerFile {
    let built_in = lines::read_unchecked(DEFAULTS.as_bytes());
    let (path, provenance, mut entries) = match supplied {
        None
        | Some(LayerFile {
            state: LayerState::Absent,
            ..
        }) => {
            return LayerFile {
                path: DEFAULTS_PLACE.to_owned(),
                provenance: Provenance::Machine,
                state: LayerState::Read(built_in.into_iter().chain(foreign_defaults()).collect()),
            };
        }
        Some(LayerFile {
            path,
            provenance,
            state: LayerState::Skipped(_),
        }) => (path, provenance, Vec::new()),
        Some(LayerFile {
            path,
            provenance,
            state: LayerState::Read(entries),
        }) => (path, provenance, entries),
    };
    for entry in &built_in {
        let Some(key) = keys::find(&entry.key) else {
            continue;
        };
        if key.layers == AllowedLayers::MachineLocalAndAdopter {
            warnings.extend(take_program(&path, &mut entries, key));
        }
        if !key.shared && entries.iter().all(|there| there.key != entry.key) {
            // The line is the embedded file's, and would mislead beside the supplied file's name.
            entries.push(Entry {
                line: 0,
                ..entry.clone()
            });
        }
    }
    LayerFile {
        path,
        provenance,
        state: LayerState::Read(entries),
    }
}

/// Returns the defaults of planwright's other keys, which its own defaults file would set.
fn foreign_defaults() -> impl Iterator<Item = Entry> {
    foreign::FOREIGN.iter().filter_map(|key| {
        Some(Entry {
            key: key.name.to_owned(),
            value: key.default?.to_owned(),
            line: 0,
            cut: Cut::No,
            broken: None,
        })
    })
}

/// Removes a key that the core may not set, and returns the warning where that changes something.
fn take_program(path: &str, entries: &mut Vec<Entry>, key: &Key) -> Option<Warning> {
    let position = entries.iter().position(|entry| entry.key == key.name)?;
    let entry = entries.remove(position);
    (entry.value != key.default).then(|| Warning {
        layer: Layer::Core,
        place: place(path, entry.line),
        message: format!("{} is ignored here", key.name),
        remedy: format!("remove it there; {PROGRAM_LAYERS}"),
    })
}
