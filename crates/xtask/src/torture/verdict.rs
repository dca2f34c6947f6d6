//! What a round's journal proves. Pure: events and facts in, violations out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::journal::Event;
use super::pushes;

/// What the repository looks like at the end of a round, beside the journal.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    /// Every commit that some ref still leads to, at origin or in a clone.
    pub(super) reachable: BTreeSet<String>,
    /// Every commit of main.
    pub(super) main: BTreeSet<String>,
    /// Every commit that a ref of origin leads to.
    pub(super) at_origin: BTreeSet<String>,
    /// What each unit depends on.
    pub(super) dependencies: BTreeMap<String, Vec<String>>,
    /// Each unit that has not landed, with what was said of it last.
    pub(super) stuck: Vec<String>,
    /// Whatever else is wrong.
    pub(super) other: Vec<String>,
}

/// Something that must never happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Violation {
    /// A unit was given away twice (law L3).
    DoubleDispatch(String),
    /// A worker's commit is gone (law L5).
    LostCommit(String),
    /// A unit did not land although the person did what was said (law L11).
    Stuck(String),
    /// Another law was broken.
    Other(String),
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DoubleDispatch(what) => write!(formatter, "double dispatch: {what}"),
            Self::LostCommit(what) => write!(formatter, "lost commit: {what}"),
            Self::Stuck(what) => write!(formatter, "stuck unit: {what}"),
            Self::Other(what) => write!(formatter, "other fault: {what}"),
        }
    }
}

/// Returns everything that a round did wrong.
pub(super) fn judge(events: &[Event], facts: &Facts) -> Vec<Violation> {
    let mut reading = Reading {
        facts,
        units: BTreeMap::new(),
        attempts: BTreeSet::new(),
        violations: Vec::new(),
    };
    for event in events {
        reading.take(event);
    }
    let Reading { mut violations, .. } = reading;
    violations.extend(pushes::judge(events, facts).into_iter().map(Violation::Other));
    violations.extend(facts.stuck.iter().cloned().map(Violation::Stuck));
    violations.extend(facts.other.iter().cloned().map(Violation::Other));
    violations
}

/// What is known of a unit so far.
#[derive(Debug, Default)]
struct Unit {
    commits: usize,
    landing: bool,
    landed: bool,
    /// The branch and the worktree of its workers.
    place: Option<(String, String)>,
    /// The checkouts in which commits of it were made, and from which it was landed.
    places: BTreeSet<String>,
}

struct Reading<'a> {
    facts: &'a Facts,
    units: BTreeMap<String, Unit>,
    attempts: BTreeSet<String>,
    violations: Vec<Violation>,
}

impl Reading<'_> {
    fn take(&mut self, event: &Event) {
        match event {
            Event::Started {
                unit,
                attempt,
                pid,
                branch,
                worktree,
                alone,
                ahead,
                unclean,
            } => {
                self.judge_attempt(unit, attempt, *pid);
                self.judge_unit(unit, *pid, (branch, worktree));
                self.judge_dependencies(unit, *pid);
                if !alone {
                    self.double(format!("worker {pid} of unit {unit} began while another one lived"));
                }
                if *ahead > 0 {
                    self.double(format!(
                        "worker {pid} of unit {unit} began on a branch with {ahead} commits"
                    ));
                }
                if !unclean.is_empty() {
                    let what = format!(
                        "worker {pid} of unit {unit} began in a worktree with {}",
                        unclean.join(", ")
                    );
                    self.violations.push(Violation::Other(what));
                }
            }
            Event::Committed { unit, commit, place } => {
                self.unit(unit).commits += 1;
                self.judge_place(unit, place);
                if !self.facts.reachable.contains(commit) {
                    self.violations
                        .push(Violation::LostCommit(format!("{commit} of unit {unit}")));
                }
            }
            Event::Landing { unit, place } => {
                self.unit(unit).landing = true;
                self.judge_place(unit, place);
            }
            Event::Landed { unit } => self.unit(unit).landed = true,
            // Whoever had it is gone for good; if there is work of it, it must not begin again all the same.
            Event::Cleared { unit } => self.unit(unit).place = None,
            Event::Dispatched { .. }
            | Event::Ended { .. }
            | Event::Killed { .. }
            | Event::Helped { .. }
            | Event::Pushed { .. } => {}
        }
    }

    fn unit(&mut self, unit: &str) -> &mut Unit {
        self.units.entry(unit.to_owned()).or_default()
    }

    fn double(&mut self, what: String) {
        self.violations.push(Violation::DoubleDispatch(what));
    }

    fn judge_place(&mut self, unit: &str, place: &str) {
        let places = &mut self.unit(unit).places;
        if places.insert(place.to_owned()) && places.len() > 1 {
            let places: Vec<&str> = places.iter().map(String::as_str).collect();
            let what = format!("unit {unit} has work in {}", places.join(" and "));
            self.double(what);
        }
    }

    fn judge_attempt(&mut self, unit: &str, attempt: &str, pid: u32) {
        if attempt.is_empty() {
            let what = format!("worker {pid} of unit {unit} began under a lease that names no attempt");
            self.violations.push(Violation::Other(what));
        } else if !self.attempts.insert(attempt.to_owned()) {
            self.double(format!(
                "worker {pid} of unit {unit} is the second one of attempt {attempt}"
            ));
        }
    }

    fn judge_unit(&mut self, unit: &str, pid: u32, place: (&str, &str)) {
        let place = (place.0.to_owned(), place.1.to_owned());
        let known = self.unit(unit);
        let found = if known.landed {
            Some(format!("worker {pid} of unit {unit} began after the unit had landed"))
        } else if known.commits > 0 {
            Some(format!(
                "worker {pid} of unit {unit} began after {} commits of an earlier one",
                known.commits
            ))
        } else {
            match &known.place {
                Some(other) if *other != place => Some(format!(
                    "worker {pid} of unit {unit} works on {place:?}, an earlier one on {other:?}"
                )),
                Some(_) | None => None,
            }
        };
        known.place = Some(place);
        if let Some(what) = found {
            self.double(what);
        }
    }

    fn judge_dependencies(&mut self, unit: &str, pid: u32) {
        let needs = self.facts.dependencies.get(unit).map(Vec::as_slice).unwrap_or_default();
        for need in needs {
            if !self.units.get(need).is_some_and(|need| need.landing || need.landed) {
                let what = format!("worker {pid} of unit {unit} began before unit {need} had landed");
                self.violations.push(Violation::Other(what));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(unit: &str, attempt: &str) -> Event {
        Event::Started {
            unit: unit.to_owned(),
            attempt: attempt.to_owned(),
            pid: 7,
            branch: format!("planwright/x/task-{unit}"),
            worktree: format!("/r/x-task-{unit}"),
            alone: true,
            ahead: 0,
            unclean: Vec::new(),
        }
    }

    fn committed(unit: &str, commit: &str) -> Event {
        Event::Committed {
            unit: unit.to_owned(),
            commit: commit.to_owned(),
            place: "host-0".to_owned(),
        }
    }

    fn landing(unit: &str) -> Event {
        Event::Landing {
            unit: unit.to_owned(),
            place: "host-0".to_owned(),
        }
    }

    fn landed(unit: &str) -> Event {
        Event::Landed { unit: unit.to_owned() }
    }

    fn facts() -> Facts {
        Facts {
            reachable: ["c1", "c2"].map(str::to_owned).into(),
            dependencies: [("1".to_owned(), vec![]), ("2".to_owned(), vec!["1".to_owned()])].into(),
            ..Facts::default()
        }
    }

    /// Returns the counts of double dispatches, lost commits, stuck units and other faults.
    fn counts(events: &[Event], facts: &Facts) -> [usize; 4] {
        let mut counts = [0; 4];
        for violation in judge(events, facts) {
            let place = match violation {
                Violation::DoubleDispatch(_) => 0,
                Violation::LostCommit(_) => 1,
                Violation::Stuck(_) => 2,
                Violation::Other(_) => 3,
            };
            counts[place] += 1;
        }
        counts
    }

    /// Verifies REQ-H1.2.
    #[test]
    fn a_good_round_is_acquitted() {
        let ended = Event::Ended {
            unit: "1".to_owned(),
            pid: 7,
        };
        let helped = Event::Helped {
            unit: "1".to_owned(),
            act: "clear".to_owned(),
        };
        let events = [
            started("1", "a"),
            ended.clone(),
            helped,
            started("1", "b"),
            committed("1", "c1"),
            ended,
            landing("1"),
            // A tower sees the merge before the person has said that it is done.
            started("2", "c"),
            landed("1"),
            committed("2", "c2"),
            committed("2", "c1"),
            landing("2"),
            landed("2"),
        ];
        assert_eq!(counts(&events, &facts()), [0, 0, 0, 0]);
    }

    /// Verifies REQ-H1.2.
    #[test]
    fn a_worker_on_another_host_is_a_double_dispatch_unless_the_first_tower_is_gone_for_good() {
        let on = |host: &str, attempt: &str| {
            let mut event = started("1", attempt);
            if let Event::Started { worktree, .. } = &mut event {
                *worktree = format!("/round/{host}/x-task-1");
            }
            event
        };
        let cleared = Event::Cleared { unit: "1".to_owned() };
        let (first, second) = (on("host-0", "a"), on("host-1", "b"));
        assert_eq!(counts(&[first.clone(), second.clone()], &facts()), [1, 0, 0, 0]);
        assert_eq!(
            counts(&[first.clone(), cleared.clone(), second.clone()], &facts()),
            [0, 0, 0, 0]
        );
        assert_eq!(
            counts(&[first, committed("1", "c1"), cleared, second], &facts()),
            [1, 0, 0, 0],
            "there is work of the first one"
        );
    }

    /// Verifies REQ-H1.2.
    #[test]
    fn work_on_one_unit_in_two_clones_is_a_double_dispatch() {
        let mut elsewhere = committed("1", "c2");
        if let Event::Committed { place, .. } = &mut elsewhere {
            "host-1".clone_into(place);
        }
        assert_eq!(
            counts(&[started("1", "a"), committed("1", "c1"), elsewhere], &facts()),
            [1, 0, 0, 0]
        );
        let mut landed_from_elsewhere = landing("1");
        if let Event::Landing { place, .. } = &mut landed_from_elsewhere {
            "peers".clone_into(place);
        }
        assert_eq!(counts(&[landing("1"), landed_from_elsewhere], &facts()), [1, 0, 0, 0]);
    }

    /// Verifies REQ-H1.2.
    #[test]
    fn two_workers_at_once_are_a_double_dispatch() {
        let mut second = started("1", "b");
        if let Event::Started { alone, .. } = &mut second {
            *alone = false;
        }
        assert_eq!(counts(&[started("1", "a"), second], &facts()), [1, 0, 0, 0]);
    }

    #[test]
    fn two_starts_of_an_attempt_are_a_double_dispatch() {
        assert_eq!(counts(&[started("1", "a"), started("1", "a")], &facts()), [1, 0, 0, 0]);
    }

    #[test]
    fn a_start_after_commits_or_a_landing_is_a_double_dispatch() {
        let again = started("1", "b");
        assert_eq!(
            counts(&[started("1", "a"), committed("1", "c1"), again.clone()], &facts()),
            [1, 0, 0, 0]
        );
        assert_eq!(
            counts(&[landing("1"), landed("1"), again.clone()], &facts()),
            [1, 0, 0, 0]
        );
        let mut on_commits = again;
        if let Event::Started { ahead, .. } = &mut on_commits {
            *ahead = 2;
        }
        assert_eq!(counts(&[on_commits], &facts()), [1, 0, 0, 0]);
    }

    #[test]
    fn a_second_branch_or_worktree_is_a_double_dispatch() {
        let mut elsewhere = started("1", "b");
        if let Event::Started { worktree, .. } = &mut elsewhere {
            worktree.push_str("-other");
        }
        assert_eq!(counts(&[started("1", "a"), elsewhere], &facts()), [1, 0, 0, 0]);
    }

    #[test]
    fn a_commit_that_no_ref_leads_to_is_lost() {
        assert_eq!(
            counts(&[started("1", "a"), committed("1", "c9")], &facts()),
            [0, 1, 0, 0]
        );
    }

    #[test]
    fn the_rest_is_convicted_too() {
        assert_eq!(
            counts(&[started("2", "a")], &facts()),
            [0, 0, 0, 1],
            "its dependency has not landed"
        );
        assert_eq!(
            counts(&[started("1", "")], &facts()),
            [0, 0, 0, 1],
            "its lease names no attempt"
        );
        let mut torn = started("1", "a");
        if let Event::Started { unclean, .. } = &mut torn {
            unclean.push(" D files/1.txt".to_owned());
        }
        assert_eq!(counts(&[torn], &facts()), [0, 0, 0, 1]);
        let found = Facts {
            stuck: vec!["1: held".to_owned()],
            other: vec!["main moved".to_owned()],
            ..facts()
        };
        assert_eq!(counts(&[], &found), [0, 0, 1, 1]);
    }
}
