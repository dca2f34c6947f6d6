//! The key table: every key this product reads, once. The readers, the defaults test and the reference page follow it.

use crate::layer::Layer;
use crate::values;

/// What values a key admits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number from 1, of at most 15 digits, without leading zeroes.
    PositiveInteger,
    /// A whole number from 0, without leading zeroes.
    NonNegativeInteger,
    /// Digits, optionally followed by `m`.
    Minutes,
    /// Digits without leading zeroes, optionally followed by `m`.
    PlainMinutes,
    /// One of these words.
    Enum(&'static [&'static str]),
    /// A branch's short name, or nothing.
    BranchName,
    /// `full-session` or the name of a backend.
    BackendName,
    /// An inline map from specs to backends.
    BackendMap,
    /// An inline list: a program and its arguments.
    ArgumentList,
    /// An inline list of tasks, each with its spec.
    TaskList,
    /// An inline list of pairs of tasks, each with its spec.
    PairList,
}

impl Kind {
    /// Checks a value.
    ///
    /// # Errors
    /// What was expected, as a lowercase fragment.
    pub fn check(self, text: &str) -> Result<(), String> {
        match self {
            Self::Bool => values::boolean(text).map(drop),
            Self::PositiveInteger => values::positive_integer(text).map(drop),
            Self::NonNegativeInteger => values::non_negative_integer(text).map(drop),
            Self::Minutes => values::minutes(text).map(drop),
            Self::PlainMinutes => values::plain_minutes(text).map(drop),
            Self::Enum(members) if members.contains(&text) => Ok(()),
            Self::Enum(members) => Err(format!("expected one of {}", members.join(", "))),
            Self::BranchName => values::optional_branch(text).map(drop),
            Self::BackendName => values::backend_choice(text).map(drop),
            Self::BackendMap => values::backend_map(text).map(drop),
            Self::ArgumentList => values::argument_list(text).map(drop),
            Self::TaskList => values::task_list(text).map(drop),
            Self::PairList => values::pair_list(text).map(drop),
        }
    }

    /// Returns what a value may be, as a phrase with Markdown code in it.
    #[must_use]
    pub fn in_words(self) -> String {
        match self {
            Self::Bool => "`true` or `false`".to_owned(),
            Self::PositiveInteger => "whole number from 1".to_owned(),
            Self::NonNegativeInteger => "whole number from 0".to_owned(),
            Self::Minutes => "minutes, as `15m` or `15`".to_owned(),
            Self::PlainMinutes => "minutes without leading zeroes, as `2m` or `2`".to_owned(),
            Self::Enum(members) => members
                .iter()
                .map(|member| format!("`{member}`"))
                .collect::<Vec<_>>()
                .join(", "),
            Self::BranchName => "branch name, or empty".to_owned(),
            Self::BackendName => "`full-session` or a backend's name".to_owned(),
            Self::BackendMap => "inline map `{spec: backend}`".to_owned(),
            Self::ArgumentList => "inline list `[\"program\", \"argument\"]`".to_owned(),
            Self::TaskList => "inline list `[spec/1, spec/2.5]`".to_owned(),
            Self::PairList => "inline list `[spec/1-2]`".to_owned(),
        }
    }
}

/// Which layers may set a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowedLayers {
    /// Each of them.
    All,
    /// Only what was written on this machine: what a clone brings along is ignored with a warning.
    MachineLocalAndAdopter,
}

impl AllowedLayers {
    /// Returns the layers as a phrase.
    #[must_use]
    pub fn in_words(self) -> String {
        match self {
            Self::All => "any layer".to_owned(),
            Self::MachineLocalAndAdopter => format!("{} and {} only", Layer::MachineLocal, Layer::Adopter),
        }
    }
}

/// What an illegal value leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IllegalValue {
    /// In the repository's file an error (exit 4), in the machine-local and adopter ones a warning and the core's
    /// value, in the core a broken installation (exit 5); `contract/core.md §12.3`.
    ByLayer,
    /// In any layer a warning and the built-in default.
    BuiltInDefault,
}

impl IllegalValue {
    /// Returns the rule as a phrase.
    #[must_use]
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::ByLayer => "stops when the repository sets it, else a warning and the core's value",
            Self::BuiltInDefault => "a warning and the default",
        }
    }
}

/// One key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Its name in the files.
    pub name: &'static str,
    /// Its default, as text; the same as in the embedded defaults file.
    pub default: &'static str,
    /// What it admits.
    pub kind: Kind,
    /// Which layers may set it.
    pub layers: AllowedLayers,
    /// What an illegal value leads to.
    pub illegal_value: IllegalValue,
    /// Whether planwright has the key too, so that its own defaults file is expected to set it.
    pub shared: bool,
    /// One sentence on what it does.
    pub documentation: &'static str,
}

/// `commit_on_kickoff`.
pub const COMMIT_ON_KICKOFF: Key = Key {
    name: "commit_on_kickoff",
    default: "true",
    kind: Kind::Bool,
    layers: AllowedLayers::All,
    illegal_value: IllegalValue::ByLayer,
    shared: true,
    documentation: "Whether `sign` commits the bundle that a person has just signed; `false` leaves the files changed \
        and prints the git commands.",
};

/// `dispatch_backend`.
pub const DISPATCH_BACKEND: Key = Key {
    name: "dispatch_backend",
    default: "full-session",
    kind: Kind::BackendName,
    layers: AllowedLayers::All,
    illegal_value: IllegalValue::ByLayer,
    shared: true,
    documentation: "The worker backend a unit is handed to: `full-session` takes the best one \
        present that needs nobody at a terminal, a name takes exactly that one or stops the step.",
};

/// `dispatch_backend_per_spec`.
pub const DISPATCH_BACKEND_PER_SPEC: Key = Key {
    name: "dispatch_backend_per_spec",
    default: "{}",
    kind: Kind::BackendMap,
    layers: AllowedLayers::All,
    illegal_value: IllegalValue::ByLayer,
    shared: true,
    documentation: "Backends for single specs; an entry beats `dispatch_backend` in whatever \
        layers the two are set, and the highest layer supplies the whole map.",
};

/// `command_backend`.
pub const COMMAND_BACKEND: Key = Key {
    name: "command_backend",
    default: "[]",
    kind: Kind::ArgumentList,
    layers: AllowedLayers::MachineLocalAndAdopter,
    illegal_value: IllegalValue::ByLayer,
    shared: false,
    documentation: "The program (a bare name or an absolute path) and arguments of the `command` \
        backend; a cloned repository cannot choose a program, so its files are not asked.",
};

/// `base_branch`.
pub const BASE_BRANCH: Key = Key {
    name: "base_branch",
    default: "",
    kind: Kind::BranchName,
    layers: AllowedLayers::All,
    illegal_value: IllegalValue::ByLayer,
    shared: false,
    documentation: "The branch that units start from and land on; empty means the default branch \
        of `origin`, else the only one of main, master and develop.",
};

/// `dispatch_fence`.
pub const DISPATCH_FENCE: Key = Key {
    name: "dispatch_fence",
    default: "auto",
    kind: Kind::Enum(&["auto", "on", "off"]),
    layers: AllowedLayers::All,
    illegal_value: IllegalValue::ByLayer,
    shared: false,
    documentation: "Whether a unit is taken at `origin` before it is dispatched, so that no other clone takes it: \
        `auto` where there is an origin, `on` never without one, `off` where one clone alone dispatches.",
};

/// `max_parallel_units`.
pub const MAX_PARALLEL_UNITS: Key = Key {
    name: "max_parallel_units",
    default: "3",
    kind: Kind::NonNegativeInteger,
    layers: AllowedLayers::All,
    illegal_value: IllegalValue::BuiltInDefault,
    shared: true,
    documentation: "How many units of one spec may be in progress at once; 0 pauses dispatch.",
};

/// `prefer_units`.
pub const PREFER_UNITS: Key = Key {
    name: "prefer_units",
    default: "[]",
    kind: Kind::TaskList,
    layers: AllowedLayers::All,
    illegal_value: IllegalValue::ByLayer,
    shared: false,
    documentation: "Tasks that are taken before the head of the critical path as soon as they are ready, the first \
        one first; for guards that others should land under. `--prefer` comes before it.",
};

/// `bundle_units`.
pub const BUNDLE_UNITS: Key = Key {
    name: "bundle_units",
    default: "[]",
    kind: Kind::PairList,
    layers: AllowedLayers::All,
    illegal_value: IllegalValue::ByLayer,
    shared: false,
    documentation: "Pairs of consecutive tasks that are one deliverable: when both are ready they get one branch, one \
        worker and one review. `--bundle` comes before it.",
};

/// `halt_commit`.
pub const HALT_COMMIT: Key = Key {
    name: "halt_commit",
    default: "false",
    kind: Kind::Bool,
    layers: AllowedLayers::All,
    illegal_value: IllegalValue::ByLayer,
    shared: false,
    documentation: "Whether the line that parks a task for a person is committed: that file alone, on the base branch, \
        and only where nothing else in it is uncommitted.",
};

/// `dispatch_fetch_ttl`.
pub const DISPATCH_FETCH_TTL: Key = Key {
    name: "dispatch_fetch_ttl",
    default: "2m",
    kind: Kind::PlainMinutes,
    layers: AllowedLayers::All,
    illegal_value: IllegalValue::BuiltInDefault,
    shared: true,
    documentation: "For how long one fetch of origin serves every step of every tower on a clone; 0 fetches each time.",
};

/// `dispatch_fetch_park_after`.
pub const DISPATCH_FETCH_PARK_AFTER: Key = Key {
    name: "dispatch_fetch_park_after",
    default: "3",
    kind: Kind::NonNegativeInteger,
    layers: AllowedLayers::All,
    illegal_value: IllegalValue::BuiltInDefault,
    shared: false,
    documentation: "After how many failed fetches in a row a step asks for a person instead of waiting; 0 always waits.",
};

/// `stale_lock_threshold`.
pub const STALE_LOCK_THRESHOLD: Key = Key {
    name: "stale_lock_threshold",
    default: "15m",
    kind: Kind::Minutes,
    layers: AllowedLayers::All,
    illegal_value: IllegalValue::BuiltInDefault,
    shared: true,
    documentation: "The age at which a lock that names no living owner counts as left behind.",
};

/// `stale_marker_threshold`.
pub const STALE_MARKER_THRESHOLD: Key = Key {
    name: "stale_marker_threshold",
    default: "15m",
    kind: Kind::Minutes,
    layers: AllowedLayers::All,
    illegal_value: IllegalValue::BuiltInDefault,
    shared: true,
    documentation: "The age at which a dispatch marker stops holding a unit in progress.",
};

/// `fleet_daemon_pause`.
pub const FLEET_DAEMON_PAUSE: Key = Key {
    name: "fleet_daemon_pause",
    default: "false",
    kind: Kind::Bool,
    layers: AllowedLayers::All,
    illegal_value: IllegalValue::ByLayer,
    shared: true,
    documentation: "`true` pauses what towers do beside dispatching: neither the worktrees of landed units nor the \
        records of them are cleaned up.",
};

/// `watch_interval_seconds`.
pub const WATCH_INTERVAL_SECONDS: Key = Key {
    name: "watch_interval_seconds",
    default: "30",
    kind: Kind::PositiveInteger,
    layers: AllowedLayers::All,
    illegal_value: IllegalValue::ByLayer,
    shared: false,
    documentation: "How long `--watch` waits before it looks again when nothing has changed.",
};

/// Every key that this product reads, in the order of the defaults file.
pub const KEYS: &[Key] = &[
    COMMIT_ON_KICKOFF,
    DISPATCH_BACKEND,
    DISPATCH_BACKEND_PER_SPEC,
    COMMAND_BACKEND,
    BASE_BRANCH,
    DISPATCH_FENCE,
    MAX_PARALLEL_UNITS,
    PREFER_UNITS,
    BUNDLE_UNITS,
    HALT_COMMIT,
    DISPATCH_FETCH_TTL,
    DISPATCH_FETCH_PARK_AFTER,
    STALE_LOCK_THRESHOLD,
    STALE_MARKER_THRESHOLD,
    FLEET_DAEMON_PAUSE,
    WATCH_INTERVAL_SECONDS,
];

/// Returns the key of that name, where this product reads one.
#[must_use]
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer_file::DEFAULTS;
    use crate::lines;

    /// Verifies REQ-G1.3.
    #[test]
    fn the_defaults_file_and_the_table_say_the_same() {
        assert_eq!(lines::malformed(DEFAULTS.as_bytes()), None);
        let entries = lines::read_unchecked(DEFAULTS.as_bytes());
        let in_file: Vec<(&str, &str)> = entries
            .iter()
            .map(|entry| (entry.key.as_str(), entry.value.as_str()))
            .collect();
        let in_table: Vec<(&str, &str)> = KEYS.iter().map(|key| (key.name, key.default)).collect();
        assert_eq!(in_file, in_table);
    }

    /// Verifies REQ-G1.3.
    #[test]
    fn every_default_has_a_comment_above_it() {
        let lines: Vec<&str> = DEFAULTS.lines().collect();
        for key in KEYS {
            let at = lines
                .iter()
                .position(|line| line.starts_with(&format!("{}:", key.name)))
                .expect("set in the file");
            assert!(lines[at - 1].starts_with("# "), "{}", key.name);
        }
    }

    #[test]
    fn every_default_is_legal_and_every_name_is_a_key_name() {
        for key in KEYS {
            assert_eq!(key.kind.check(key.default), Ok(()), "{}", key.name);
            assert!(lines::is_key_name(key.name.as_bytes()), "{}", key.name);
        }
    }

    #[test]
    fn kinds_check_values() {
        let words = Kind::Enum(&["on", "off", "auto"]);
        for (kind, good, bad) in [
            (Kind::Bool, vec!["true", "false"], vec!["", "True", "yes", "1"]),
            (words, vec!["on", "auto"], vec!["", "ON", "on,off"]),
            (
                Kind::PositiveInteger,
                vec!["1", "900", "999999999999999"],
                vec!["", "0", "01", "-1", "+1", "1.5", "1000000000000000"],
            ),
            (
                Kind::NonNegativeInteger,
                vec!["0", "3", "99999999999999999999"],
                vec!["", "00", "03", "-1", "3m"],
            ),
        ] {
            for value in good {
                assert_eq!(kind.check(value), Ok(()), "{kind:?} {value:?}");
            }
            for value in bad {
                assert!(kind.check(value).is_err(), "{kind:?} {value:?}");
            }
        }
    }
}
