//! Keys that planwright has and this product does not read: a file that sets them is right, so nobody is warned.
//!
//! Their defaults are here because the plumbing answers for every key of planwright's, installed beside it or not
//! (`contract/core.md §12.1, §12.4`, `contract/fleet.md` part 11, `contract/later.md §20`).

use crate::keys;

/// A key of planwright's and the default it ships with; none where no default is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignKey {
    /// Its name in the files.
    pub name: &'static str,
    /// Its default, as text.
    pub default: Option<&'static str>,
}

const fn key(name: &'static str, default: &'static str) -> ForeignKey {
    ForeignKey {
        name,
        default: Some(default),
    }
}

const fn without_default(name: &'static str) -> ForeignKey {
    ForeignKey { name, default: None }
}

/// Every such key, sorted. One that becomes ours leaves this table; a test holds the two apart.
pub const FOREIGN: &[ForeignKey] = &[
    without_default("allocation_adaptation"),
    without_default("allocation_adjustment_cap"),
    without_default("allocation_feedback_threshold"),
    without_default("allocation_petition"),
    key("commit_on_draft", "true"),
    key("commit_on_state_move", "true"),
    key("context_budget_threshold", "50"),
    key("dispatch_isolation", "per-step"),
    key("fleet_cap_fable", "55"),
    key("fleet_cap_haiku", "100"),
    key("fleet_cap_opus", "70"),
    key("fleet_cap_sonnet", "90"),
    key("fleet_command_bookkeeping", "orchestrate"),
    key("fleet_command_drain", "drain"),
    key("fleet_command_execution", "execute-task"),
    key("fleet_concurrency_normal", "3"),
    key("fleet_concurrency_reduced", "1"),
    key("fleet_crash_backoff_base_seconds", "30"),
    key("fleet_crash_disable_threshold", "3"),
    key("fleet_credit_continuation_spend", "false"),
    key("fleet_dirty_tree_threshold", "15m"),
    key("fleet_downshift_effort", "medium"),
    key("fleet_downshift_model", "sonnet"),
    key("fleet_effort_bookkeeping", "medium"),
    key("fleet_effort_drain", "low"),
    key("fleet_effort_execution", "high"),
    key("fleet_flailing_threshold", "3"),
    key("fleet_hung_heartbeat_seconds", "900"),
    key("fleet_max_parallel_units", "3"),
    key("fleet_model_bookkeeping", "sonnet"),
    key("fleet_model_drain", "sonnet"),
    key("fleet_model_execution", "opus"),
    without_default("fleet_reconcile_interval_seconds"),
    key("fleet_throttle_default_hold", "300"),
    key("fleet_usage_read_cadence_seconds", "300"),
    key("fleet_usage_rung_min_dwell_seconds", "300"),
    key("fleet_usage_session_defer_heavy", "85"),
    key("fleet_usage_session_downshift", "50"),
    key("fleet_usage_session_reduce_concurrency", "70"),
    key("fleet_usage_signal_ttl_seconds", "900"),
    key("fleet_usage_sustained_loss_count", "3"),
    key("fleet_usage_unavailable_grace_seconds", "1800"),
    key("fleet_usage_weekly_defer_all", "95"),
    key("fleet_usage_weekly_defer_heavy", "85"),
    key("fleet_usage_weekly_downshift", "60"),
    key("fleet_usage_weekly_reduce_concurrency", "75"),
    without_default("flight_pr_hosts"),
    key("kickoff_ready_ci_wait", "10m"),
    key("mark_spec_pr_ready_on_kickoff", "true"),
    key("notification_channel", "none"),
    without_default("ready_flip_policy"),
    key("require_ci", "true"),
    key("require_signed_tags", "auto"),
    key("review_sequence", "[polish]"),
    without_default("spec_root"),
    key("tower_relaunch_backoff_base", "60"),
    key("tower_relaunch_disable_threshold", "3"),
    key("version_file", ".claude-plugin/plugin.json::$.version"),
];

/// Families of planwright's keys whose members cannot be listed.
pub const FOREIGN_PREFIXES: &[&str] = &[
    "allocation_command_",
    "allocation_effort_",
    "allocation_model_",
    "instruction_budget_",
    "steps_",
    "tower_",
];

/// Whose key a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recognised {
    /// One that this product reads.
    Ours(&'static keys::Key),
    /// One that planwright has and this product does not read.
    Foreign,
    /// Nobody's, and the key of ours or planwright's that was likely meant.
    Unknown(Option<&'static str>),
}

/// Returns whose key a name is. The name may be anything that stands before a colon.
#[must_use]
pub fn recognise(name: &str) -> Recognised {
    if let Some(ours) = keys::find(name) {
        return Recognised::Ours(ours);
    }
    let is_foreign = FOREIGN.iter().any(|key| key.name == name);
    // One letter off a key is a slip, whatever family the slip would fall into.
    let near = nearest(name);
    if is_foreign || (near.is_none() && FOREIGN_PREFIXES.iter().any(|prefix| name.starts_with(prefix))) {
        Recognised::Foreign
    } else {
        Recognised::Unknown(near)
    }
}

/// Returns planwright's default of a key that this product does not read.
#[must_use]
pub fn default_of(name: &str) -> Option<&'static str> {
    FOREIGN.iter().find(|key| key.name == name)?.default
}

/// Returns the key that a misspelt name was likely meant to be.
#[must_use]
pub fn nearest(name: &str) -> Option<&'static str> {
    // No key is longer than this, and the comparison is quadratic.
    const LONGEST: usize = 80;
    if name.len() > LONGEST {
        return None;
    }
    let wanted: String = name.trim().to_lowercase().replace(['-', ' ', '.'], "_");
    let ours = keys::KEYS.iter().map(|key| key.name);
    // Ours first: of two equally near names the reader of this file means one that does something here.
    let all = ours.chain(FOREIGN.iter().map(|key| key.name));
    let scored = all.map(|candidate| (strsim::damerau_levenshtein(&wanted, candidate), candidate));
    let (distance, best) = scored.min_by_key(|(distance, _)| *distance)?;
    // A fifth of the letters may be wrong, and two of a short name.
    let allowed = (best.len() / 5).max(2);
    (distance <= allowed).then_some(best)
}

/// Returns the key that somebody who asks for that name may look for: a wider net than [`nearest`], for a hint.
#[must_use]
pub fn suggestion(name: &str) -> Option<&'static str> {
    const LIKE_ENOUGH: f64 = 0.8;
    if name.len() > 80 {
        return None;
    }
    let names = keys::KEYS
        .iter()
        .map(|key| key.name)
        .chain(FOREIGN.iter().map(|key| key.name));
    let scored = names.map(|candidate| (strsim::jaro_winkler(name, candidate), candidate));
    let (score, best) = scored.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    nearest(name).or((score >= LIKE_ENOUGH).then_some(best))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_holds_no_key_of_ours() {
        assert!(FOREIGN.is_sorted_by_key(|key| key.name));
        for key in FOREIGN {
            assert_eq!(keys::find(key.name), None, "{}", key.name);
            assert_eq!(recognise(key.name), Recognised::Foreign, "{}", key.name);
        }
        for key in keys::KEYS {
            assert_eq!(recognise(key.name), Recognised::Ours(key), "{}", key.name);
        }
    }

    #[test]
    fn misspelt_names_are_recognised() {
        for (name, meant) in [
            ("max_paralel_units", Some("max_parallel_units")),
            ("max-parallel-units", Some("max_parallel_units")),
            ("Max_Parallel_Units", Some("max_parallel_units")),
            ("max_units", None),
            ("dispatch_backends", Some("dispatch_backend")),
            ("base_brnach", Some("base_branch")),
            ("reveiw_sequence", Some("review_sequence")),
            ("tower_relaunch_backof_base", Some("tower_relaunch_backoff_base")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(recognise(name), Recognised::Unknown(meant), "{name}");
        }
        assert_eq!(recognise(&"a".repeat(100_000)), Recognised::Unknown(None));
        assert_eq!(suggestion("max_paralel"), Some("max_parallel_units"));
        assert_eq!(suggestion("zzz"), None);
        assert_eq!(recognise("instruction_budget_skill"), Recognised::Foreign);
        assert_eq!(recognise("allocation_model_step_polish"), Recognised::Foreign);
    }
}
