//! What a run of schedules amounted to, so that "nothing was violated" can be told from "nothing happened".

use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

/// Sums over schedules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Schedules run to their end.
    pub schedules: u64,
    /// Tower steps started.
    pub steps: u64,
    /// Observations answered.
    pub reads: u64,
    /// Observations answered with "unknown" or a fault.
    pub unknown: u64,
    /// Effects asked for.
    pub effects: u64,
    /// Effects that did not happen.
    pub not_applied: u64,
    /// Effects that happened and were reported failed.
    pub applied_but_failed: u64,
    /// Effects that happened in part.
    pub torn: u64,
    /// Fetches that origin answered.
    pub fetches: u64,
    /// Fetches that brought nothing although origin had more.
    pub fetches_behind: u64,
    /// Fetches reported failed, done or not.
    pub fetches_failed: u64,
    /// Towers killed.
    pub kills: u64,
    /// Hosts restarted.
    pub restarts: u64,
    /// Runners started, whether they began to work or refused.
    pub runners: u64,
    /// Workers that began to work.
    pub workers: u64,
    /// Workers among them that began to work on two tasks as one unit.
    pub pairs: u64,
    /// Runners that refused.
    pub refused: u64,
    /// Locks taken by towers.
    pub locks: u64,
    /// Locks of others taken away by towers.
    pub locks_broken: u64,
    /// Locks that a reference tower took away from a live tower by its age rule.
    pub locks_lost_to_peers: u64,
    /// Tasks that towers parked.
    pub parked: u64,
    /// Tasks that towers put back, because what had halted every one had passed.
    pub lifted: u64,
    /// Fences won at origin.
    pub fences: u64,
    /// Worktrees of landed units that towers retired.
    pub retired: u64,
    /// Outages of origin, for one host or all.
    pub outages: u64,
    /// Calls of towers that origin did not answer for an outage.
    pub origin_unanswered: u64,
    /// Looks at origin that a replica answered which lagged.
    pub stale_looks: u64,
    /// Pushes of a fence that were reported failed and arrived later.
    pub late_pushes: u64,
    /// Pushes of a free fence that were refused.
    pub refused_free: u64,
    /// Fences that were made and reported refused.
    pub untrue_refused: u64,
    /// Fences that were reported made and were not.
    pub untrue_made: u64,
    /// Fences that were reported deleted and were not.
    pub untrue_deleted: u64,
    /// Fences that reference towers took.
    pub peer_fences: u64,
    /// Workers that reference towers started.
    pub peer_workers: u64,
    /// Fences that reference towers left without a worker, and a person removed.
    pub strands: u64,
    /// Claims that a person cleared.
    pub cleared: u64,
    /// Outdated worktrees without commits that a person removed so that their unit could start again.
    pub freed: u64,
    /// Tasks landed at the end, counted once for each schedule.
    pub landed: u64,
    /// Tasks there were.
    pub tasks: u64,
    /// Workers started although one lived. Stays 0: the first one is a violation.
    pub double_dispatches: u64,
    /// Commits lost. Stays 0: the first one is a violation.
    pub lost_commits: u64,
    /// Schedules that did not converge. Stays 0: the first one is a violation.
    pub stuck: u64,
    /// The largest number of rounds that a schedule needed to converge.
    pub most_rounds: u64,
}

impl AddAssign for Statistics {
    fn add_assign(&mut self, other: Self) {
        let pairs = [
            (&mut self.schedules, other.schedules),
            (&mut self.steps, other.steps),
            (&mut self.reads, other.reads),
            (&mut self.unknown, other.unknown),
            (&mut self.effects, other.effects),
            (&mut self.not_applied, other.not_applied),
            (&mut self.applied_but_failed, other.applied_but_failed),
            (&mut self.torn, other.torn),
            (&mut self.fetches, other.fetches),
            (&mut self.fetches_behind, other.fetches_behind),
            (&mut self.fetches_failed, other.fetches_failed),
            (&mut self.kills, other.kills),
            (&mut self.restarts, other.restarts),
            (&mut self.runners, other.runners),
            (&mut self.workers, other.workers),
            (&mut self.pairs, other.pairs),
            (&mut self.refused, other.refused),
            (&mut self.locks, other.locks),
            (&mut self.locks_broken, other.locks_broken),
            (&mut self.locks_lost_to_peers, other.locks_lost_to_peers),
            (&mut self.parked, other.parked),
            (&mut self.lifted, other.lifted),
            (&mut self.fences, other.fences),
            (&mut self.retired, other.retired),
            (&mut self.outages, other.outages),
            (&mut self.origin_unanswered, other.origin_unanswered),
            (&mut self.stale_looks, other.stale_looks),
            (&mut self.late_pushes, other.late_pushes),
            (&mut self.refused_free, other.refused_free),
            (&mut self.untrue_refused, other.untrue_refused),
            (&mut self.untrue_made, other.untrue_made),
            (&mut self.untrue_deleted, other.untrue_deleted),
            (&mut self.peer_fences, other.peer_fences),
            (&mut self.peer_workers, other.peer_workers),
            (&mut self.strands, other.strands),
            (&mut self.cleared, other.cleared),
            (&mut self.freed, other.freed),
            (&mut self.landed, other.landed),
            (&mut self.tasks, other.tasks),
            (&mut self.double_dispatches, other.double_dispatches),
            (&mut self.lost_commits, other.lost_commits),
            (&mut self.stuck, other.stuck),
        ];
        for (sum, more) in pairs {
            *sum += more;
        }
        self.most_rounds = self.most_rounds.max(other.most_rounds);
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} schedules, {} steps, {} reads ({} unknown), {} effects ({} not applied, {} reported failed, {} torn), \
             {} fetches ({} behind, {} failed), {} kills, {} restarts, {} locks ({} broken, {} lost to peers), {} runners ({} worked, {} of them on pairs, {} refused), \
             {} tasks parked ({} lifted), {} fences won ({} of peers, {} peer workers, {} strands), {} worktrees retired, {} outages ({} calls unanswered), {} stale looks, {} late pushes, \
             {} free fences refused, {} untruly refused, {} untruly made, {} untruly deleted, {} claims cleared, {} worktrees freed, {} of {} tasks landed, {} double dispatches, {} lost commits, {} stuck, \
             at most {} rounds to converge",
            self.schedules,
            self.steps,
            self.reads,
            self.unknown,
            self.effects,
            self.not_applied,
            self.applied_but_failed,
            self.torn,
            self.fetches,
            self.fetches_behind,
            self.fetches_failed,
            self.kills,
            self.restarts,
            self.locks,
            self.locks_broken,
            self.locks_lost_to_peers,
            self.runners,
            self.workers,
            self.pairs,
            self.refused,
            self.parked,
            self.lifted,
            self.fences,
            self.peer_fences,
            self.peer_workers,
            self.strands,
            self.retired,
            self.outages,
            self.origin_unanswered,
            self.stale_looks,
            self.late_pushes,
            self.refused_free,
            self.untrue_refused,
            self.untrue_made,
            self.untrue_deleted,
            self.cleared,
            self.freed,
            self.landed,
            self.tasks,
            self.double_dispatches,
            self.lost_commits,
            self.stuck,
            self.most_rounds,
        )
    }
}

/// The sums of a run and how long it took.
#[derive(Debug, Clone, Copy)]
pub struct RunReport {
    /// The sums.
    pub statistics: Statistics,
    /// Wall-clock time.
    pub took: Duration,
}

impl RunReport {
    /// Returns the schedules per second, rounded down.
    #[must_use]
    pub fn rate(&self) -> u64 {
        let milliseconds = u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX).max(1);
        self.statistics.schedules.saturating_mul(1000) / milliseconds
    }
}

impl fmt::Display for RunReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} schedules per second; {}", self.rate(), self.statistics)
    }
}
