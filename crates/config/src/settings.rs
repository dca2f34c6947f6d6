//! The typed readers: each key's value with its origin, by the contract's policy for illegal values.

use core::time::Duration;
use std::collections::BTreeMap;

use orchestrate_core::identifier::{BaseName, SpecId};

use crate::configuration::{Configuration, Found};
use crate::keys::{self, IllegalValue, Key};
use crate::layer::Layer;
use crate::layer_file::DEFAULTS_PLACE;
use crate::lines::Cut;
use crate::message::{ConfigurationError, Warning, shown};
use crate::values::{self, BackendChoice, FencePolicy, Minutes, SpecPair, SpecTask};

/// A checked value and the layer it comes from; a built-in default comes from the core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// The layer that set it.
    pub origin: Layer,
}

/// A setting together with what was ignored or replaced on the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved<T> {
    /// The setting.
    pub setting: Setting<T>,
    /// What a person should be told.
    pub warnings: Vec<Warning>,
}

/// Every setting, checked, as one snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Whether signing a bundle commits it.
    pub commit_on_kickoff: Setting<bool>,
    /// Whether the lines that park tasks are committed.
    pub halt_commit: Setting<bool>,
    /// The backend of specs without an entry of their own.
    pub dispatch_backend: Setting<BackendChoice>,
    /// The backends of single specs.
    pub dispatch_backend_per_spec: Setting<BTreeMap<SpecId, BackendChoice>>,
    /// The program and arguments of the `command` backend; empty when it is not set up. Never a clone's choice.
    pub command_backend: Setting<Vec<String>>,
    /// The base branch; `None` when it is to be resolved.
    pub base_branch: Setting<Option<BaseName>>,
    /// Whether units are fenced at origin.
    pub dispatch_fence: Setting<FencePolicy>,
    /// How many units of one spec may be in progress; 0 pauses dispatch.
    pub max_parallel_units: Setting<u32>,
    /// The tasks that come before the head of the critical path, the strongest wish first.
    pub prefer_units: Setting<Vec<SpecTask>>,
    /// The pairs of tasks that are dispatched as one unit.
    pub bundle_units: Setting<Vec<SpecPair>>,
    /// For how long one fetch of origin serves.
    pub dispatch_fetch_ttl: Setting<Minutes>,
    /// After how many failed fetches in a row a person is asked for; 0 for never.
    pub dispatch_fetch_park_after: Setting<u32>,
    /// The age at which an ownerless lock is stale.
    pub stale_lock_threshold: Setting<Minutes>,
    /// The age at which a marker is stale.
    pub stale_marker_threshold: Setting<Minutes>,
    /// Whether nothing is cleaned up.
    pub fleet_daemon_pause: Setting<bool>,
    /// The pause between two looks of `--watch`.
    pub watch_interval: Setting<Duration>,
}

/// Which key decided a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DispatchSource {
    /// The spec's entry in `dispatch_backend_per_spec`.
    PerSpec,
    /// `dispatch_backend`.
    Global,
}

impl DispatchSource {
    /// Returns the word of the `configured` record (`contract/fleet.md §4.2`).
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PerSpec => "per-spec",
            Self::Global => "global",
        }
    }
}

/// The configured backend of one spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DispatchBackend {
    /// What is asked for.
    pub choice: BackendChoice,
    /// Which key says so.
    pub source: DispatchSource,
    /// The layer that set that key.
    pub origin: Layer,
}

impl Settings {
    /// Returns the configured backend of a spec: its own entry beats the global key, whatever layers set the two.
    #[must_use]
    pub fn dispatch_backend_for(&self, spec: &SpecId) -> DispatchBackend {
        match self.dispatch_backend_per_spec.value.get(spec) {
            Some(choice) => DispatchBackend {
                choice: choice.clone(),
                source: DispatchSource::PerSpec,
                origin: self.dispatch_backend_per_spec.origin,
            },
            None => DispatchBackend {
                choice: self.dispatch_backend.value.clone(),
                source: DispatchSource::Global,
                origin: self.dispatch_backend.origin,
            },
        }
    }
}

impl Configuration {
    /// Returns every setting, checked, and what a person should be told.
    ///
    /// # Errors
    /// When the repository sets a key to an illegal value (exit 4), or the core does (exit 5).
    pub fn settings(&self) -> Result<(Settings, Vec<Warning>), ConfigurationError> {
        let mut warnings = Vec::new();
        let settings = Settings {
            commit_on_kickoff: collect(self.commit_on_kickoff()?, &mut warnings),
            halt_commit: collect(self.halt_commit()?, &mut warnings),
            dispatch_backend: collect(self.dispatch_backend()?, &mut warnings),
            dispatch_backend_per_spec: collect(self.dispatch_backend_per_spec()?, &mut warnings),
            command_backend: collect(self.command_backend()?, &mut warnings),
            base_branch: collect(self.base_branch()?, &mut warnings),
            dispatch_fence: collect(self.dispatch_fence()?, &mut warnings),
            max_parallel_units: collect(self.max_parallel_units()?, &mut warnings),
            prefer_units: collect(self.prefer_units()?, &mut warnings),
            bundle_units: collect(self.bundle_units()?, &mut warnings),
            dispatch_fetch_ttl: collect(self.dispatch_fetch_ttl()?, &mut warnings),
            dispatch_fetch_park_after: collect(self.dispatch_fetch_park_after()?, &mut warnings),
            stale_lock_threshold: collect(self.stale_lock_threshold()?, &mut warnings),
            stale_marker_threshold: collect(self.stale_marker_threshold()?, &mut warnings),
            fleet_daemon_pause: collect(self.fleet_daemon_pause()?, &mut warnings),
            watch_interval: collect(self.watch_interval()?, &mut warnings),
        };
        Ok((settings, warnings))
    }

    /// Returns whether signing a bundle commits it.
    ///
    /// # Errors
    /// When the repository's or the core's value is illegal.
    pub fn commit_on_kickoff(&self) -> Result<Resolved<bool>, ConfigurationError> {
        self.read(&keys::COMMIT_ON_KICKOFF, values::boolean)
    }

    /// Returns whether the lines that park tasks are committed.
    ///
    /// # Errors
    /// As the other keys.
    pub fn halt_commit(&self) -> Result<Resolved<bool>, ConfigurationError> {
        self.read(&keys::HALT_COMMIT, values::boolean)
    }

    /// Returns the backend of specs without an entry of their own.
    ///
    /// # Errors
    /// When the repository's or the core's value is illegal.
    pub fn dispatch_backend(&self) -> Result<Resolved<BackendChoice>, ConfigurationError> {
        self.read(&keys::DISPATCH_BACKEND, values::backend_choice)
    }

    /// Returns the backends of single specs; the highest layer supplies the whole map.
    ///
    /// # Errors
    /// When the repository's or the core's map is illegal.
    pub fn dispatch_backend_per_spec(&self) -> Result<Resolved<BTreeMap<SpecId, BackendChoice>>, ConfigurationError> {
        self.read(&keys::DISPATCH_BACKEND_PER_SPEC, values::backend_map)
    }

    /// Returns the program and arguments of the `command` backend, empty when it is not set up.
    ///
    /// What the repository sets is ignored with a warning: a clone cannot choose a program.
    ///
    /// # Errors
    /// None from what a repository holds; when the core's list is illegal.
    pub fn command_backend(&self) -> Result<Resolved<Vec<String>>, ConfigurationError> {
        self.read(&keys::COMMAND_BACKEND, values::argument_list)
    }

    /// Returns the base branch, `None` when it is to be resolved.
    ///
    /// # Errors
    /// When the repository's or the core's value is illegal.
    pub fn base_branch(&self) -> Result<Resolved<Option<BaseName>>, ConfigurationError> {
        self.read(&keys::BASE_BRANCH, values::optional_branch)
    }

    /// Returns whether units are fenced at origin.
    ///
    /// # Errors
    /// When the repository's or the core's value is illegal.
    pub fn dispatch_fence(&self) -> Result<Resolved<FencePolicy>, ConfigurationError> {
        self.read(&keys::DISPATCH_FENCE, values::fence_policy)
    }

    /// Returns how many units of one spec may be in progress; 0 pauses dispatch.
    ///
    /// # Errors
    /// None for this key: an illegal value gives a warning and 3.
    pub fn max_parallel_units(&self) -> Result<Resolved<u32>, ConfigurationError> {
        self.read(&keys::MAX_PARALLEL_UNITS, values::non_negative_integer)
    }

    /// Returns the tasks that come before the head of the critical path, the strongest wish first.
    ///
    /// # Errors
    /// When the repository's or the core's value is illegal.
    pub fn prefer_units(&self) -> Result<Resolved<Vec<SpecTask>>, ConfigurationError> {
        self.read(&keys::PREFER_UNITS, values::task_list)
    }

    /// Returns the pairs of tasks that are dispatched as one unit.
    ///
    /// # Errors
    /// When the repository's or the core's value is illegal.
    pub fn bundle_units(&self) -> Result<Resolved<Vec<SpecPair>>, ConfigurationError> {
        self.read(&keys::BUNDLE_UNITS, values::pair_list)
    }

    /// Returns for how long one fetch of origin serves.
    ///
    /// # Errors
    /// None for this key: an illegal value gives a warning and 2 minutes.
    pub fn dispatch_fetch_ttl(&self) -> Result<Resolved<Minutes>, ConfigurationError> {
        self.read(&keys::DISPATCH_FETCH_TTL, values::plain_minutes)
    }

    /// Returns after how many failed fetches in a row a person is asked for; 0 for never.
    ///
    /// # Errors
    /// None for this key: an illegal value gives a warning and 3.
    pub fn dispatch_fetch_park_after(&self) -> Result<Resolved<u32>, ConfigurationError> {
        self.read(&keys::DISPATCH_FETCH_PARK_AFTER, values::non_negative_integer)
    }

    /// Returns the age at which an ownerless lock is stale.
    ///
    /// # Errors
    /// None for this key: an illegal value gives a warning and 15 minutes.
    pub fn stale_lock_threshold(&self) -> Result<Resolved<Minutes>, ConfigurationError> {
        self.read(&keys::STALE_LOCK_THRESHOLD, values::minutes)
    }

    /// Returns the age at which a marker is stale.
    ///
    /// # Errors
    /// None for this key: an illegal value gives a warning and 15 minutes.
    pub fn stale_marker_threshold(&self) -> Result<Resolved<Minutes>, ConfigurationError> {
        self.read(&keys::STALE_MARKER_THRESHOLD, values::minutes)
    }

    /// Returns whether nothing is cleaned up (`contract/fleet.md §1.8`). Where no layer says that it may be, it is not.
    ///
    /// # Errors
    /// When the repository's or the core's value is illegal.
    pub fn fleet_daemon_pause(&self) -> Result<Resolved<bool>, ConfigurationError> {
        let key = &keys::FLEET_DAEMON_PAUSE;
        let (found, mut warnings) = self.look_up(key.name, key.layers);
        if found.is_some() {
            return self.read(key, values::boolean);
        }
        warnings.push(Warning {
            layer: Layer::Core,
            place: self.core_path().to_owned(),
            message: format!("{} is not set, so it counts as `true`: nothing is cleaned up", key.name),
            remedy: format!("add `{}: {}` to it", key.name, key.default),
        });
        Ok(resolved(true, Layer::Core, warnings))
    }

    /// Returns the pause between two looks of `--watch`.
    ///
    /// # Errors
    /// When the repository's or the core's value is illegal.
    pub fn watch_interval(&self) -> Result<Resolved<Duration>, ConfigurationError> {
        let seconds = |text: &str| values::positive_integer(text).map(Duration::from_secs);
        self.read(&keys::WATCH_INTERVAL_SECONDS, seconds)
    }

    /// Reads a key by its policy.
    pub(crate) fn read<T>(
        &self,
        key: &'static Key,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Resolved<T>, ConfigurationError> {
        let (found, mut warnings) = self.look_up(key.name, key.layers);
        let Some(found) = found else {
            return self.read_default(key, parse, warnings);
        };
        let reason = match (&found.entry.broken, parse(found.entry.value.trim())) {
            (None, Ok(value)) => return Ok(resolved(value, found.layer, warnings)),
            (None, Err(expected)) => illegal(&found, &expected),
            (Some(bad), _) => bad.reason.to_owned(),
        };
        let (place, name) = (found.place(), key.name);
        match (key.illegal_value, found.layer) {
            (IllegalValue::BuiltInDefault, _) => {
                let instead = format!("the default {} is used", key.default);
                warnings.push(replaced(&found, key, &reason, &instead));
                built_in(key, parse).map(|value| resolved(value, Layer::Core, warnings))
            }
            (IllegalValue::ByLayer, Layer::RepositoryTracked) => Err(ConfigurationError::IllegalRepositoryValue {
                place,
                key: name,
                reason,
            }),
            (IllegalValue::ByLayer, Layer::Core) => Err(ConfigurationError::BrokenCore {
                place,
                key: name,
                reason,
            }),
            (IllegalValue::ByLayer, Layer::MachineLocal | Layer::Adopter) => {
                warnings.push(replaced(&found, key, &reason, "the core's value is used"));
                self.read_core(key, parse, warnings)
            }
        }
    }

    /// Reads the core's value alone: a bad overlay falls to the core and not to the next overlay
    /// (`contract/fleet.md §1.7`).
    fn read_core<T>(
        &self,
        key: &'static Key,
        parse: impl Fn(&str) -> Result<T, String>,
        warnings: Vec<Warning>,
    ) -> Result<Resolved<T>, ConfigurationError> {
        let Some(found) = self.core_value(key.name) else {
            return self.read_default(key, parse, warnings);
        };
        match parse(found.entry.value.trim()) {
            Ok(value) => Ok(resolved(value, Layer::Core, warnings)),
            Err(expected) => {
                let reason = illegal(&found, &expected);
                Err(ConfigurationError::BrokenCore {
                    place: found.place(),
                    key: key.name,
                    reason,
                })
            }
        }
    }

    /// Takes the built-in default of a key that no layer sets, which only a core file of somebody else's can lack.
    fn read_default<T>(
        &self,
        key: &'static Key,
        parse: impl Fn(&str) -> Result<T, String>,
        mut warnings: Vec<Warning>,
    ) -> Result<Resolved<T>, ConfigurationError> {
        let message = format!("{} is not set, so the default {} is used", key.name, shown(key.default));
        warnings.push(Warning {
            layer: Layer::Core,
            place: self.core_path().to_owned(),
            message,
            remedy: format!("add `{}: {}` to it", key.name, key.default),
        });
        built_in(key, parse).map(|value| resolved(value, Layer::Core, warnings))
    }
}

/// Returns the table's default; a test holds that each is legal.
fn built_in<T>(key: &'static Key, parse: impl Fn(&str) -> Result<T, String>) -> Result<T, ConfigurationError> {
    parse(key.default).map_err(|reason| ConfigurationError::BrokenCore {
        place: DEFAULTS_PLACE.to_owned(),
        key: key.name,
        reason,
    })
}

fn collect<T>(resolved: Resolved<T>, warnings: &mut Vec<Warning>) -> Setting<T> {
    warnings.extend(resolved.warnings);
    resolved.setting
}

fn resolved<T>(value: T, origin: Layer, warnings: Vec<Warning>) -> Resolved<T> {
    Resolved {
        setting: Setting { value, origin },
        warnings,
    }
}

fn illegal(found: &Found<'_>, expected: &str) -> String {
    let comment = match found.entry.cut {
        Cut::No => "",
        Cut::Comment | Cut::Glued => " (a value ends at the first `#`)",
    };
    format!("{expected}, found {}{comment}", shown(&found.entry.value))
}

fn replaced(found: &Found<'_>, key: &Key, reason: &str, instead: &str) -> Warning {
    Warning {
        layer: found.layer,
        place: found.place(),
        message: format!("{}: {reason}; {instead}", key.name),
        remedy: format!(
            "correct or remove `{}` there; it takes {}",
            key.name,
            key.kind.in_words()
        ),
    }
}

#[cfg(test)]
mod tests;
