//! What all rounds of a run came to.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::round::Round;
use super::verdict::Violation;

/// What all rounds came to.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Numbers {
    units: usize,
    dispatches: usize,
    workers: usize,
    kills: usize,
    double: usize,
    lost: usize,
    stuck: usize,
    other: usize,
    helped: usize,
    strands: usize,
    hits: BTreeMap<String, usize>,
}

impl Numbers {
    /// Adds a round.
    pub(super) fn add(&mut self, round: &Round) {
        self.units += round.units();
        self.strands += round.strands();
        self.dispatches += round.dispatches();
        self.workers += round.workers();
        self.kills += round.kills;
        self.helped += round.helped();
        for (name, count) in &round.hits {
            *self.hits.entry(name.clone()).or_default() += count;
        }
        for violation in &round.violations {
            match violation {
                Violation::DoubleDispatch(_) => self.double += 1,
                Violation::LostCommit(_) => self.lost += 1,
                Violation::Stuck(_) => self.stuck += 1,
                Violation::Other(_) => self.other += 1,
            }
        }
    }

    /// Adds what other rounds came to.
    pub(super) fn add_all(&mut self, other: &Self) {
        self.units += other.units;
        self.dispatches += other.dispatches;
        self.workers += other.workers;
        self.kills += other.kills;
        self.double += other.double;
        self.lost += other.lost;
        self.stuck += other.stuck;
        self.other += other.other;
        self.helped += other.helped;
        self.strands += other.strands;
        for (name, count) in &other.hits {
            *self.hits.entry(name.clone()).or_default() += count;
        }
    }

    /// Returns the points that have killed nothing.
    pub(super) fn missing<'a>(&self, names: &'a [String]) -> Vec<&'a str> {
        let is_missing = |name: &&str| !self.hits.contains_key(*name);
        names.iter().map(String::as_str).filter(is_missing).collect()
    }

    /// Returns how many of the points have killed something, and which have not.
    pub(super) fn coverage(&self, names: &[String]) -> String {
        let missing = self.missing(names);
        let hit = format!("{} of {}", names.len() - missing.len(), names.len());
        if missing.is_empty() {
            return hit;
        }
        format!("{hit}; never: {}", missing.join(", "))
    }

    /// Returns whether nothing happened that must not.
    pub(super) fn is_good(&self) -> bool {
        self.double + self.lost + self.stuck + self.other == 0
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            units,
            dispatches,
            workers,
            kills,
            double,
            lost,
            stuck,
            other,
            helped,
            strands,
            hits: _,
        } = self;
        write!(
            formatter,
            "units {units}, dispatches {dispatches}, workers {workers}, kills {kills}, double dispatches {double}, \
             lost commits {lost}, stuck units {stuck}, other faults {other}, held for a person {helped}, \
             foreign strands {strands}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_carries_the_numbers_and_one_fault_is_enough() {
        let mut numbers = Numbers {
            units: 9,
            dispatches: 9,
            workers: 8,
            kills: 7,
            helped: 3,
            strands: 2,
            ..Numbers::default()
        };
        assert_eq!(
            numbers.to_string(),
            "units 9, dispatches 9, workers 8, kills 7, double dispatches 0, lost commits 0, stuck units 0, \
             other faults 0, held for a person 3, foreign strands 2"
        );
        assert!(numbers.is_good());
        let mut twice = Numbers::default();
        twice.add_all(&numbers);
        twice.add_all(&numbers);
        assert!(
            twice
                .to_string()
                .starts_with("units 18, dispatches 18, workers 16, kills 14, ")
        );
        assert!(twice.to_string().ends_with("held for a person 6, foreign strands 4"));
        numbers.lost = 1;
        assert!(!numbers.is_good());
        let names = ["a", "b"].map(str::to_owned);
        assert_eq!(numbers.coverage(&names), "0 of 2; never: a, b");
        numbers.hits = names.iter().map(|name| (name.clone(), 1)).collect();
        assert_eq!(numbers.coverage(&names), "2 of 2");
    }
}
