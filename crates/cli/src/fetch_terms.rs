//! How origin is fetched: the variables before the key, and both checked (`contract/core.md §7.1` items 2 and 3).

use std::time::Duration;

use orchestrate_core::fetch::FetchTerms;
use orchestrate_core::identifier::printable;

use crate::environment::FetchVariables;

/// How long one attempt may take: the reference has no bound, and a tower must have one.
const ATTEMPT_LIMIT: Duration = Duration::from_secs(60);
/// How often a failed fetch is tried again, unless a variable says otherwise.
const RETRIES: u32 = 2;
/// The pause before that, in seconds.
const PAUSE_SECONDS: u64 = 2;

/// Who fetches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A step, whose clock may have been set back since the stamp was written.
    Step,
    /// The plumbing verb, which keeps to the reference's rules.
    Verb,
    /// The plumbing verb for a caller that goes on without.
    VerbOnce,
}

/// Returns the terms, and what a person should be told of variables that are not used.
pub(crate) fn fetch_terms(
    caller: Caller,
    variables: &FetchVariables,
    configured_seconds: i64,
) -> (FetchTerms, Option<String>) {
    let (fresh_seconds, note) = match variables.fresh_seconds.as_deref() {
        None => (configured_seconds, None),
        Some(text) => match plain_number(text) {
            Some(seconds) => (i64::try_from(seconds).unwrap_or(i64::MAX), None),
            None => (
                configured_seconds,
                Some(format!(
                    "PLANWRIGHT_DISPATCH_FETCH_TTL is {:?}, which is no number of seconds without leading zeroes; \
                     dispatch_fetch_ttl is used",
                    printable(text)
                )),
            ),
        },
    };
    let default_retries = match caller {
        Caller::Step | Caller::Verb => RETRIES,
        Caller::VerbOnce => 0,
    };
    let number = |text: &Option<String>| text.as_deref().and_then(plain_number);
    let retries =
        number(&variables.retries).map_or(default_retries, |retries| u32::try_from(retries).unwrap_or(u32::MAX));
    let terms = FetchTerms {
        fresh_seconds,
        attempts: retries.saturating_add(1),
        attempt_limit: ATTEMPT_LIMIT,
        pause: Duration::from_secs(number(&variables.pause_seconds).unwrap_or(PAUSE_SECONDS)),
        future_is_fresh: caller != Caller::Step,
    };
    (terms, note)
}

/// Digits without a leading zero, unless it is the only one.
fn plain_number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && (text == "0" || !text.starts_with('0')))
        .then(|| text.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(caller: Caller, [ttl, retries, pause]: [&str; 3]) -> (FetchTerms, Option<String>) {
        let set = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let variables = FetchVariables {
            fresh_seconds: set(ttl),
            retries: set(retries),
            pause_seconds: set(pause),
            state_directory: None,
        };
        fetch_terms(caller, &variables, 120)
    }

    /// Verifies REQ-D2.2.
    #[test]
    fn variables_count_before_the_key_if_they_are_legal() {
        let (none, note) = terms(Caller::Verb, ["", "", ""]);
        assert_eq!((none.fresh_seconds, none.attempts, none.pause.as_secs()), (120, 3, 2));
        assert!(none.future_is_fresh && note.is_none());
        let (set, note) = terms(Caller::Step, ["0", "0", "0"]);
        assert_eq!((set.fresh_seconds, set.attempts, set.pause.as_secs()), (0, 1, 0));
        assert!(!set.future_is_fresh && note.is_none());
        let (once, _) = terms(Caller::VerbOnce, ["", "", ""]);
        assert_eq!(once.attempts, 1);
        assert_eq!(terms(Caller::VerbOnce, ["", "4", ""]).0.attempts, 5);
        let (bad, note) = terms(Caller::Verb, ["07", "x", "-1"]);
        assert_eq!((bad.fresh_seconds, bad.attempts, bad.pause.as_secs()), (120, 3, 2));
        assert!(note.is_some_and(|note| note.contains("\"07\"")));
    }
}
