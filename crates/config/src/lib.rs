//! Configuration and rule documents as data: the texts of the layers go in, values that know their origin come out.
//!
//! Nothing here reads a file, the environment or a clock: the host hands over what it read, and the caller prints the
//! warnings that come back. Owns the key table, the built-in defaults and the built-in rule documents; owns no state.

pub mod catalog;
pub mod configuration;
mod core_layer;
pub mod doctrine;
pub mod explanation;
pub mod foreign;
pub mod keys;
pub mod knob;
pub mod layer;
mod layer_file;
mod lines;
pub mod message;
pub mod reference;
mod remark;
pub mod settings;
pub mod values;

pub use configuration::{Configuration, Explained, LookupError};
pub use keys::{KEYS, Key};
pub use layer::{Layer, LayerSource, LayerText, Provenance};
pub use message::{ConfigurationError, Warning};
pub use settings::{DispatchBackend, DispatchSource, Resolved, Setting, Settings};
pub use values::{BackendChoice, FencePolicy, Minutes};
