//! Row 9 of the evidence table: dispatch markers and our own dispatch records.
//!
//! A claim we cannot read is a claim. What frees a unit is knowledge (its tower is dead and never reached the
//! launch) or, for a readable marker without a record of ours, age.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::answer::{Answer, Finding, Progress, ProgressKind};
use crate::evidence::{BranchFacts, BranchSide, Evidence, Lease, UnitRecords};
use crate::identifier::{SpecId, TaskId, Unit};
use crate::observed::Observed;
use crate::process::Liveness;
use crate::record::dispatch::DispatchRecord;
use crate::record::launch::LaunchRecord;
use crate::time::Timestamp;

/// Returns what markers and records say of the task.
pub(super) fn answer(task: &TaskId, evidence: &Evidence) -> Answer {
    let records = match &evidence.records {
        Observed::Known(records) => records,
        Observed::Absent(why) => return Answer::No(why.reason.clone()),
        Observed::Unknown(why) => return Answer::Unknown(why.clone()),
    };
    let markers = match &evidence.markers {
        Observed::Known(markers) => markers.get(task).map(Vec::as_slice).unwrap_or_default(),
        Observed::Absent(_) => &[],
        Observed::Unknown(why) => return Answer::Unknown(why.clone()),
    };
    let ours: Vec<OurClaim> = records
        .iter()
        .filter(|(unit, _)| unit.contains(task))
        .filter_map(|(unit, records)| our_claim(unit, records, evidence))
        .collect();
    let mut said = "no dispatch marker".to_string();
    for claim in &ours {
        if let Some(progress) = claim.without_marker(task, &evidence.spec) {
            return in_progress(progress);
        }
    }
    for marker in markers {
        match marker_holds(task, marker, &ours, evidence) {
            Verdict::Holds(progress) => return in_progress(progress),
            Verdict::Void(why) => said = why,
        }
    }
    Answer::No(said)
}

fn in_progress(progress: Progress) -> Answer {
    Answer::Yes(Finding::InProgress(progress))
}

/// How far one of our dispatches is known to have come.
enum OurClaim {
    /// The record or the launch record is there and cannot be read.
    Unreadable(String),
    /// The tower is at work, or cannot be shown not to be.
    TowerAtWork { at: Timestamp, tower: String, lives: bool },
    /// The tower died before it reached the launch: the claim is void.
    Abandoned { at: Timestamp },
    /// The unit was handed over.
    Launched {
        at: Timestamp,
        progress: Progress,
        late: bool,
    },
}

impl OurClaim {
    /// Returns the hold that needs no marker beside it. A launched unit without its marker was cleared by a person.
    fn without_marker(&self, task: &TaskId, spec: &SpecId) -> Option<Progress> {
        match self {
            Self::Unreadable(why) => Some(unreadable(task, spec, why)),
            Self::TowerAtWork { at, tower, lives } => Some(at_work((task, spec), tower, *lives, *at)),
            Self::Launched {
                progress, late: true, ..
            } => Some(progress.clone()),
            Self::Abandoned { .. } | Self::Launched { late: false, .. } => None,
        }
    }

    fn at(&self) -> Option<Timestamp> {
        match self {
            Self::Unreadable(_) => None,
            Self::TowerAtWork { at, .. } | Self::Abandoned { at } | Self::Launched { at, .. } => Some(*at),
        }
    }
}

fn our_claim(unit: &Unit, records: &UnitRecords, evidence: &Evidence) -> Option<OurClaim> {
    let record = match &records.dispatch {
        Observed::Known(record) => record,
        Observed::Absent(_) => return None,
        Observed::Unknown(why) => return Some(OurClaim::Unreadable(why.reason.clone())),
    };
    match &records.launch {
        Observed::Unknown(why) => Some(OurClaim::Unreadable(why.reason.clone())),
        Observed::Known(launch) if record.was_launched(launch) => {
            let progress = if launch.runner.is_some() {
                launched(unit, record, launch, records, evidence)
            } else {
                printed(record, launch)
            };
            Some(OurClaim::Launched {
                at: record.dispatched,
                progress,
                late: record.is_late(launch),
            })
        }
        Observed::Known(_) | Observed::Absent(_) => Some(match &records.tower {
            _ if record.given_up => OurClaim::Abandoned { at: record.dispatched },
            Observed::Known(Liveness::Dead) => OurClaim::Abandoned { at: record.dispatched },
            liveness @ (Observed::Known(Liveness::Alive) | Observed::Absent(_) | Observed::Unknown(_)) => {
                OurClaim::TowerAtWork {
                    at: record.dispatched,
                    tower: record.tower.to_string(),
                    lives: *liveness == Observed::Known(Liveness::Alive),
                }
            }
        }),
    }
}

fn printed(record: &DispatchRecord, launch: &LaunchRecord) -> Progress {
    let worktree = record.name().worktree();
    if record.launch.argv.is_empty() {
        return Progress {
            kind: ProgressKind::Claimed,
            detail: "no agent was installed, so it was left to a person to start one".to_string(),
            hint: Some(format!(
                "start an agent in .claude/worktrees/{worktree} with the prompt in \
                 .git/worktrees/{worktree}/orchestrate.prompt.md, or let it be dispatched again: {}",
                clear_command(&record.unit, &record.spec)
            )),
            at: Some(launch.launched),
        };
    }
    Progress {
        kind: ProgressKind::Claimed,
        detail: "its launch command was printed and nobody has started it".to_string(),
        hint: Some(format!(
            "start it: orchestrate plumbing run-worker {} {}, or give it up: {}",
            record.spec,
            record.unit,
            clear_command(&record.unit, &record.spec)
        )),
        at: Some(launch.launched),
    }
}

/// What a launched unit looks like: nothing is said of its worker's end, or of its work, that is not known.
fn launched(
    unit: &Unit,
    record: &DispatchRecord,
    launch: &LaunchRecord,
    records: &UnitRecords,
    evidence: &Evidence,
) -> Progress {
    let going_on = |detail: String| Progress {
        kind: ProgressKind::Claimed,
        detail,
        hint: None,
        at: Some(launch.launched),
    };
    if let Observed::Known(leases) = &evidence.leases
        && let Some(Observed::Known(Lease::Held { .. })) = leases.get(unit)
    {
        return going_on("a worker was launched for it".to_string());
    }
    let how = match (&launch.ended, &records.runner, &launch.runner) {
        (Some(end), _, _) => end.status.clone(),
        (None, Observed::Known(Liveness::Dead), _) => "its end was not recorded".to_string(),
        (None, Observed::Known(Liveness::Alive), Some(runner)) => {
            return going_on(format!("its worker runner lives ({runner})"));
        }
        (None, Observed::Known(Liveness::Alive) | Observed::Absent(_) | Observed::Unknown(_), _) => {
            return Progress {
                hint: Some(format!("if it does not: {}", clear_command(unit, &record.spec))),
                ..going_on("whether its worker still runs cannot be told".to_string())
            };
        }
    };
    let log = format!("look at .git/orchestrate/logs/{}-task-{unit}.log", record.spec);
    let again = format!(
        "{log}, then let it be dispatched again: {}",
        clear_command(unit, &record.spec)
    );
    let (detail, hint) = match local_branch(unit, evidence) {
        Some(Some(facts)) if facts.tip == record.start => (
            format!("its worker ended and left no commit on its branch ({how})"),
            again,
        ),
        Some(Some(facts)) => (
            format!("its worker ended ({how}), and its branch is at {}", facts.tip.short()),
            again,
        ),
        Some(None) => (
            format!("its worker ended ({how}) and its branch is gone: whether its work landed cannot be told"),
            format!(
                "look in {} first: if the work is there, land an empty commit with its trailer; if not: {}",
                evidence.base.name,
                clear_command(unit, &record.spec)
            ),
        ),
        None => (format!("its worker ended ({how})"), again),
    };
    Progress {
        kind: ProgressKind::Ended,
        detail,
        hint: Some(hint),
        at: Some(launch.ended.as_ref().map_or(launch.launched, |end| end.at)),
    }
}

/// Returns the unit's own branch here, `Some(None)` when there is none, nothing when the branches cannot be read.
fn local_branch<'a>(unit: &Unit, evidence: &'a Evidence) -> Option<Option<&'a BranchFacts>> {
    match &evidence.branches {
        Observed::Known(branches) => {
            let all = branches.of(unit).known().ok()?.unwrap_or_default();
            Some(all.iter().find(|facts| facts.side == BranchSide::Local))
        }
        Observed::Absent(_) => Some(None),
        Observed::Unknown(_) => None,
    }
}

fn clear_command(unit: &Unit, spec: &SpecId) -> String {
    let tasks: Vec<String> = unit.tasks().map(ToString::to_string).collect();
    format!(
        "orchestrate plumbing orchestrate-marker clear specs/{spec} {}",
        tasks.join(" ")
    )
}

enum Verdict {
    Holds(Progress),
    Void(String),
}

fn marker_holds(task: &TaskId, marker: &Observed<Timestamp>, ours: &[OurClaim], evidence: &Evidence) -> Verdict {
    let spec = &evidence.spec;
    let at = match marker {
        Observed::Known(at) => *at,
        Observed::Absent(why) => return Verdict::Void(why.reason.clone()),
        Observed::Unknown(why) => return Verdict::Holds(unreadable(task, spec, &why.reason)),
    };
    // Our record was written when everything before it had been found void, and a tower that dies before it renews the
    // markers leaves the old ones beside it: what is not newer than the record is spoken for by the record.
    if let Some(own) = ours
        .iter()
        .find(|claim| claim.at().is_some_and(|recorded| at <= recorded))
    {
        return match own {
            OurClaim::Launched { progress, .. } => Verdict::Holds(progress.clone()),
            OurClaim::Abandoned { .. } => Verdict::Void("its tower died before the launch".to_string()),
            OurClaim::Unreadable(why) => Verdict::Holds(unreadable(task, spec, why)),
            OurClaim::TowerAtWork { at, tower, lives } => Verdict::Holds(at_work((task, spec), tower, *lives, *at)),
        };
    }
    let age = evidence.now.seconds_since(at);
    if age > evidence.stale_marker_seconds {
        return Verdict::Void(format!("a marker of {} is stale", at.ago_at(evidence.now)));
    }
    if age < -evidence.stale_marker_seconds {
        return Verdict::Holds(unreadable(task, spec, "the marker lies in the future"));
    }
    Verdict::Holds(Progress {
        kind: ProgressKind::Claimed,
        detail: "dispatched by a tower that keeps no record here".to_string(),
        hint: None,
        at: Some(at),
    })
}

/// A tower that cannot be shown to be dead holds the unit; where it cannot be shown to live either, a person decides.
fn at_work((task, spec): (&TaskId, &SpecId), tower: &str, lives: bool, at: Timestamp) -> Progress {
    Progress {
        kind: ProgressKind::Claimed,
        detail: format!("a tower is dispatching it ({tower})"),
        hint: (!lives).then(|| clear_hint(task, spec)),
        at: Some(at),
    }
}

fn unreadable(task: &TaskId, spec: &SpecId, why: &str) -> Progress {
    Progress {
        kind: ProgressKind::Unreadable,
        detail: why.to_string(),
        hint: Some(clear_hint(task, spec)),
        at: None,
    }
}

fn clear_hint(task: &TaskId, spec: &SpecId) -> String {
    format!("if nobody works on it: orchestrate plumbing orchestrate-marker clear specs/{spec} {task}")
}
