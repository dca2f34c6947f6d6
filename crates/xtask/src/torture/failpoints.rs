//! Which failpoint which tower gets, and which have killed something.

use std::collections::BTreeMap;
use std::path::Path;

use crate::failure::{Context, Failure, Result};
use crate::rust_text;

/// Where the names are declared, below the root.
const DECLARED_IN: &str = "crates/host/src/failpoint.rs";

/// Returns the names that the product declares, in their order.
pub(super) fn names(root: &Path) -> Result<Vec<String>> {
    let path = root.join(DECLARED_IN);
    let text = std::fs::read_to_string(&path).context(|| format!("cannot read {}", path.display()))?;
    let tokens = rust_text::read(&text)?.tokens;
    let names: Vec<String> = tokens
        .iter()
        .skip_while(|token| !token.is_word("NAMES"))
        .take_while(|token| !token.is_mark(';'))
        .filter_map(|token| token.text().map(str::to_owned))
        .collect();
    if names.is_empty() {
        return Err(Failure::new(format!("no failpoint is declared in {DECLARED_IN}")));
    }
    Ok(names)
}

/// Returns the points that a run can reach: those of a fence and of a fetch need an origin.
pub(super) fn reachable(names: &[String], has_origin: bool) -> Vec<String> {
    let needs_origin = |name: &str| name.contains("-fence") || name.starts_with("fetch.");
    let names = names.iter().filter(|name| has_origin || !needs_origin(name));
    names.cloned().collect()
}

/// Deals the names out over a run, in turns, so that a round's share depends on the round alone.
pub(super) struct Schedule<'a> {
    pub(super) names: &'a [String],
    pub(super) rounds: u64,
    pub(super) seed: u64,
}

impl Schedule<'_> {
    /// Returns the names that a single tower of the round is killed at, with nobody in its way.
    pub(super) fn alone(&self, round: u64) -> Vec<&str> {
        let rounds = usize::try_from(self.rounds).unwrap_or(usize::MAX).max(1);
        let share = self.names.len().div_ceil(rounds);
        let round = usize::try_from(round).unwrap_or(0);
        (0..share).filter_map(|index| self.at(round * share + index)).collect()
    }

    /// Returns the name for a tower of a storm: the round's towers take turns from where the last round ended.
    pub(super) fn in_storm(&self, round: u64, towers_per_round: u64, tower: u64) -> Option<&str> {
        let turn = self
            .seed
            .wrapping_add(round.wrapping_mul(towers_per_round))
            .wrapping_add(tower);
        self.at(usize::try_from(turn % u64::from(u32::MAX)).ok()?)
    }

    fn at(&self, turn: usize) -> Option<&str> {
        let index = turn.checked_rem(self.names.len())?;
        self.names.get(index).map(String::as_str)
    }
}

/// Returns how often each point killed something, from the log that the killed wrote.
pub(super) fn hits(log: &Path) -> Result<BTreeMap<String, usize>> {
    let mut hits = BTreeMap::new();
    match std::fs::read_to_string(log) {
        Ok(text) => {
            for name in text.lines().filter_map(|line| line.split(' ').next()) {
                *hits.entry(name.to_owned()).or_default() += 1;
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(Failure::new(format!("cannot read {}: {error}", log.display()))),
    }
    Ok(hits)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::workspace;

    /// Verifies REQ-H1.2.
    #[test]
    fn every_declared_name_is_passed_somewhere_and_every_passed_one_is_declared() {
        let root = workspace::root().unwrap();
        let declared: BTreeSet<String> = names(&root).unwrap().into_iter().collect();
        let mut passed = BTreeSet::new();
        for path in workspace::files(&root).unwrap() {
            if path.starts_with("crates/") && path.ends_with(".rs") && !path.starts_with("crates/xtask/") {
                let text = std::fs::read_to_string(root.join(&path)).unwrap();
                let calls = text.split("reach(\"").skip(1).filter_map(|rest| rest.split('"').next());
                passed.extend(calls.map(str::to_owned));
            }
        }
        assert_eq!(declared, passed);
    }

    #[test]
    fn a_run_deals_out_every_name() {
        let names: Vec<String> = (0..33).map(|number| format!("point-{number}")).collect();
        for rounds in [1, 7, 10, 50] {
            let schedule = Schedule {
                names: &names,
                rounds,
                seed: 5,
            };
            let alone: BTreeSet<&str> = (0..rounds).flat_map(|round| schedule.alone(round)).collect();
            assert_eq!(alone.len(), 33, "{rounds} rounds");
        }
        let schedule = Schedule {
            names: &names,
            rounds: 2,
            seed: 5,
        };
        let storm: BTreeSet<&str> = (0..40).filter_map(|tower| schedule.in_storm(0, 40, tower)).collect();
        assert_eq!(storm.len(), 33);
    }

    #[test]
    fn a_fence_and_a_fetch_need_an_origin() {
        let names = ["write.after", "push-fences.before", "fetch.after"].map(str::to_owned);
        assert_eq!(reachable(&names, true).len(), 3);
        assert_eq!(reachable(&names, false), ["write.after"]);
    }

    #[test]
    fn the_log_counts_kills() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("failpoints");
        assert_eq!(hits(&log).unwrap().len(), 0);
        std::fs::write(&log, "write.after 7\nwrite.after 8\nspawn.before 9\n").unwrap();
        assert_eq!(
            hits(&log).unwrap(),
            [("spawn.before".to_owned(), 1), ("write.after".to_owned(), 2)].into()
        );
    }
}
