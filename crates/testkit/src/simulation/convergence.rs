//! The end of a schedule: the faults stop, people do their part, time passes, and every task has to land (law L11).

use super::law::Law;
use super::scheduler::Scheduler;
use super::universe::Universe;

/// The round from which on people also remove what only looks stuck.
const PATIENCE: usize = 3;
/// After how many rounds, each twice as long as the one before it, no marker is fresh, whatever a clock was set to.
const MARKERS_GO_STALE: usize = 9;

impl Scheduler<'_> {
    /// Runs rounds of steps until every task has landed everywhere, and convicts a schedule that needs too many.
    pub(super) fn converge(&mut self) {
        let bound = {
            let mut universe = self.universe.borrow_mut();
            universe.calm = true;
            universe.faults = super::scenario::Faults::NONE;
            universe.clear_weather();
            universe.trace.note("judge", || "the faults stop".to_owned());
            universe.task_ids().len() * 3 + 6
        };
        let hosts = self.universe.borrow().hosts.len();
        for round in 0..bound {
            if !self.run_out() {
                self.stuck("a step does not end");
            }
            self.people_do_their_part(round);
            if self.is_convicted() {
                return;
            }
            if self.all_landed(round) {
                self.finish_retirements();
                return;
            }
            // Longer each time: a clock may have been set hours ahead when a lock or marker was written.
            self.universe.borrow_mut().clock += 1000 << round.min(8);
            for host in 0..hosts {
                if !self.run_alone(host) {
                    self.stuck("a step does not end");
                }
                if self.is_convicted() {
                    return;
                }
            }
        }
        self.stuck(&format!("not every task has landed after {bound} rounds"));
    }

    fn people_do_their_part(&mut self, round: usize) {
        let mut universe = self.universe.borrow_mut();
        let hosts = universe.hosts.len();
        for host in 0..hosts {
            universe.land_everything(host);
            universe.synchronise(host);
        }
        universe.clear_strands();
        for host in 0..hosts {
            universe.synchronise(host);
            universe.clear_what_needs_a_person(host);
            universe.tidy(host);
            if round >= PATIENCE && universe.scenario.person_frees_outdated {
                universe.free_outdated(host);
            }
        }
    }

    fn all_landed(&self, round: usize) -> bool {
        let mut universe = self.universe.borrow_mut();
        let landed = universe.unlanded().is_empty();
        if landed {
            let round = u64::try_from(round).unwrap_or(u64::MAX);
            universe.statistics.most_rounds = round;
        }
        landed
    }

    /// What a kill left of a worktree that was being retired is whole again, or gone, after a few more steps: who looked
    /// while it was out of its place does not see it put back, and a marker that a dead tower left keeps it until it is
    /// stale.
    fn finish_retirements(&mut self) {
        let hosts = self.universe.borrow().hosts.len();
        for round in 0..MARKERS_GO_STALE {
            for host in (0..hosts)
                .filter(|host| self.universe.borrow().is_half_retired(*host))
                .collect::<Vec<_>>()
            {
                if !self.run_alone(host) {
                    self.stuck("a step does not end");
                }
                if self.is_convicted() {
                    return;
                }
            }
            self.universe.borrow_mut().clock += 1000 << round;
        }
        if (0..hosts).any(|host| self.universe.borrow().is_half_retired(host)) {
            self.stuck("a worktree stays half retired");
        }
    }

    fn stuck(&self, why: &str) {
        let mut universe = self.universe.borrow_mut();
        universe.statistics.stuck += 1;
        let left = universe.unlanded().join(", ");
        universe.convict(Law::Convergence, || format!("{why}; left: {left}"));
    }
}

impl Universe {
    /// Returns whether a kill left something of a worktree that was being retired.
    fn is_half_retired(&self, host: usize) -> bool {
        let host = &self.hosts[host];
        host.retired > 0 || host.worktrees.values().any(|worktree| worktree.half_retired.is_some())
    }

    /// Returns what has not landed, in words.
    fn unlanded(&self) -> Vec<String> {
        let tasks = self.task_ids();
        let pairs = (0..self.hosts.len()).flat_map(|host| tasks.iter().map(move |task| (host, task)));
        pairs
            .filter(|(host, task)| !self.landed_on(*host, task))
            .map(|(host, task)| {
                let obstacles = self.obstacles(host, usize::MAX, task);
                let words: Vec<String> = obstacles.iter().map(ToString::to_string).collect();
                format!("task {task} on host {} ({})", host + 1, words.join("; "))
            })
            .collect()
    }
}
