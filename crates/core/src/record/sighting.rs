//! What sweeps have told of fences that nobody answers for, and since when (`contract/later.md §2.9`).
//!
//! The file is `fleet-fence sweep`'s alone. It decides only what is told of a fence, never whose a unit is, so it may be
//! lost at any time: what was seen before is then seen for the first time.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{RecordFault, SCHEMA, parse_json, render_json};
use crate::identifier::CommitId;
use crate::time::Timestamp;

/// Fences that nobody answers for, by their refs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sightings {
    schema: u32,
    fences: BTreeMap<String, Sighting>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Sighting {
    /// A ref that leads elsewhere is another fence.
    commit: CommitId,
    told: Told,
    first: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Told {
    Tentative,
    Strand,
}

impl Default for Sightings {
    /// Nothing has been seen.
    fn default() -> Self {
        Self {
            schema: SCHEMA,
            fences: BTreeMap::new(),
        }
    }
}

impl Sightings {
    /// Returns the sightings in those bytes.
    ///
    /// # Errors
    /// When they are none, or of a later version.
    pub fn parse(bytes: &[u8]) -> Result<Self, RecordFault> {
        parse_json("record of sightings", bytes)
    }

    /// Returns the record's bytes.
    #[must_use]
    pub fn render(&self) -> Vec<u8> {
        render_json(self)
    }

    /// Returns whether the fence was told of as a strand less than `interval` seconds ago. Counted from the first time,
    /// so that a strand is told of again however often it is looked at.
    #[must_use]
    pub fn is_recent_strand(&self, reference: &str, commit: &CommitId, now: Timestamp, interval: i64) -> bool {
        self.age(reference, commit, Told::Strand, now)
            .is_some_and(|age| (0..interval).contains(&age))
    }

    /// Notes that nobody answers for the fence, and returns whether that has been so for `grace` seconds. One that was
    /// told of as a strand stays one.
    ///
    /// A sighting in the future, as after a clock was set back, counts from now.
    pub fn watch(&mut self, reference: &str, commit: &CommitId, now: Timestamp, grace: i64) -> bool {
        if self.age(reference, commit, Told::Strand, now).is_some() {
            return true;
        }
        match self.age(reference, commit, Told::Tentative, now) {
            Some(age) if age >= grace => true,
            Some(0..) => false,
            Some(_) | None => {
                self.note(reference, commit, Told::Tentative, now);
                false
            }
        }
    }

    /// Notes that the fence is told of as a strand.
    pub fn tell(&mut self, reference: &str, commit: &CommitId, now: Timestamp) {
        if self.age(reference, commit, Told::Strand, now).is_none_or(|age| age < 0) {
            self.note(reference, commit, Told::Strand, now);
        }
    }

    /// Forgets a fence, as one that is collected or that somebody answers for.
    pub fn forget(&mut self, reference: &str) {
        self.fences.remove(reference);
    }

    /// Forgets every fence that is not asked for.
    pub fn retain(&mut self, mut stands: impl FnMut(&str) -> bool) {
        self.fences.retain(|reference, _| stands(reference));
    }

    fn age(&self, reference: &str, commit: &CommitId, told: Told, now: Timestamp) -> Option<i64> {
        let seen = self.fences.get(reference)?;
        (seen.commit == *commit && seen.told == told).then(|| now.seconds_since(seen.first))
    }

    fn note(&mut self, reference: &str, commit: &CommitId, told: Told, first: Timestamp) {
        let commit = commit.clone();
        self.fences.insert(reference.into(), Sighting { commit, told, first });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const REFERENCE: &str = "refs/planwright-fence/alpha/1";

    fn commit(digit: &str) -> CommitId {
        CommitId::parse(&digit.repeat(40)).expect("commit")
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(seconds)
    }

    #[test]
    fn a_fence_is_watched_for_the_grace_from_its_first_sighting() {
        let mut seen = Sightings::default();
        let mut is_stranded = |seconds| seen.watch(REFERENCE, &commit("a"), at(seconds), 30);
        assert!(!is_stranded(100) && !is_stranded(115) && !is_stranded(129) && is_stranded(130));
    }

    #[test]
    fn a_first_sighting_is_tentative_however_short_the_grace() {
        let mut seen = Sightings::default();
        assert!(!seen.watch(REFERENCE, &commit("a"), at(100), 0));
        assert!(seen.watch(REFERENCE, &commit("a"), at(100), 0));
    }

    #[test]
    fn a_strand_is_kept_quiet_for_the_interval_and_stays_a_strand() {
        let mut seen = Sightings::default();
        seen.tell(REFERENCE, &commit("a"), at(100));
        seen.tell(REFERENCE, &commit("a"), at(120));
        let is_quiet = |seconds, interval| seen.is_recent_strand(REFERENCE, &commit("a"), at(seconds), interval);
        assert!(is_quiet(100, 30) && is_quiet(129, 30) && !is_quiet(130, 30) && !is_quiet(100, 0));
        assert!(seen.watch(REFERENCE, &commit("a"), at(500), 1000));
    }

    #[test]
    fn another_commit_is_another_fence() {
        let mut seen = Sightings::default();
        seen.tell(REFERENCE, &commit("a"), at(100));
        assert!(!seen.is_recent_strand(REFERENCE, &commit("b"), at(100), 30));
        assert!(!seen.watch(REFERENCE, &commit("b"), at(100), 30));
    }

    #[test]
    fn what_is_collected_or_gone_is_forgotten() {
        let mut seen = Sightings::default();
        seen.tell(REFERENCE, &commit("a"), at(100));
        let mut of_another = seen.clone();
        seen.forget(REFERENCE);
        of_another.retain(|_| false);
        assert_eq!((seen, of_another), (Sightings::default(), Sightings::default()));
    }

    #[test]
    fn after_a_clock_was_set_back_the_time_counts_anew() {
        let mut seen = Sightings::default();
        assert!(!seen.watch(REFERENCE, &commit("a"), at(1000), 30));
        assert!(!seen.watch(REFERENCE, &commit("a"), at(100), 30));
        assert!(seen.watch(REFERENCE, &commit("a"), at(130), 30));
        seen.tell(REFERENCE, &commit("a"), at(1000));
        assert!(!seen.is_recent_strand(REFERENCE, &commit("a"), at(100), 30));
        seen.tell(REFERENCE, &commit("a"), at(100));
        assert!(seen.is_recent_strand(REFERENCE, &commit("a"), at(129), 30));
    }

    #[test]
    fn what_is_torn_or_of_a_later_version_does_not_read() {
        let mut seen = Sightings::default();
        seen.tell(REFERENCE, &commit("a"), at(100));
        let bytes = seen.render();
        assert!(Sightings::parse(&bytes[..bytes.len() - 3]).is_err());
        assert!(Sightings::parse(br#"{"schema": 9, "fences": {}}"#).is_err());
    }

    proptest! {
        #[test]
        fn round_trip(seconds in 0i64..4_000_000_000, is_strand: bool) {
            let mut seen = Sightings::default();
            if is_strand {
                seen.tell(REFERENCE, &commit("a"), at(seconds));
            } else {
                seen.watch(REFERENCE, &commit("a"), at(seconds), 30);
            }
            prop_assert_eq!(Sightings::parse(&seen.render()), Ok(seen));
        }
    }
}
