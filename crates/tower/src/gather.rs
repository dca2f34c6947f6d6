//! Reading all evidence of one bundle from the World.
//!
//! The order is that in which a unit progresses (claim, lease, launch, commits, landing): what moves on while we read
//! is then seen at a later place, and never missed at both.

use std::collections::{BTreeMap, BTreeSet};

use orchestrate_core::content::{self, Content};
use orchestrate_core::derive::derive;
use orchestrate_core::evidence::{Base, BranchFacts, Evidence, Lease, Markers, UnitRecords};
use orchestrate_core::graph::TaskGraph;
use orchestrate_core::identifier::{CommitId, SpecId, TaskId, Unit, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::{MarkerHome, Place};
use orchestrate_core::pull_request::{PullRequestState, PullRequests, TipRelation};
use orchestrate_core::record::dispatch::DispatchRecord;
use orchestrate_core::record::launch::LaunchRecord;
use orchestrate_core::record::{marker, redo};
use orchestrate_core::world::{Branches, Reading, WorktreeFacts, World};

/// Where the pull requests of a gathering come from: a step asks the forge once.
#[derive(Debug, Clone, Copy)]
pub enum Forge<'a> {
    /// It is asked, for the tasks of this graph that git does not show landed.
    Ask(&'a TaskGraph),
    /// It was asked in this step; only the branches are compared anew.
    Asked(&'a Observed<PullRequests>),
}

/// Returns all evidence of a bundle, as it is now.
pub fn gather(world: &dyn World, spec: &SpecId, base: &Base, stale_marker_seconds: i64, forge: Forge<'_>) -> Evidence {
    let markers = markers(world, spec);
    let dispatches = dispatches(world, spec);
    let leases: Observed<BTreeMap<Unit, Observed<Lease>>> = world.leases(spec);
    let records = dispatches.map(|dispatches| with_launches(world, spec, dispatches));
    let starts = recorded_starts(&records);
    let mut evidence = Evidence {
        spec: spec.clone(),
        now: world.now(),
        base: base.clone(),
        branches: world.branches(spec, base, &starts),
        history: world.history(spec, base),
        pull_requests: Observed::Absent(Why::new("every task has landed, so the forge was not asked")),
        leases,
        markers,
        content: BTreeMap::new(),
        records,
        redo: redo(world, spec),
        stale_marker_seconds,
    };
    let answer = match forge {
        Forge::Ask(graph) => {
            let units = units_to_ask(graph, &evidence);
            if units.is_empty() {
                return evidence;
            }
            world.pull_requests(spec, &units)
        }
        Forge::Asked(answer) => answer.clone(),
    };
    evidence.pull_requests = answer.map(|answer| with_relations(world, answer, &evidence.branches));
    evidence.content = contents(world, &evidence);
    evidence
}

/// Compares by content what nothing cheaper tells: branches with commits of their own that nobody works on.
fn contents(world: &dyn World, evidence: &Evidence) -> BTreeMap<Unit, Observed<Content>> {
    let Observed::Known(branches) = &evidence.branches else {
        return BTreeMap::new();
    };
    let compare = |(unit, branches): (&Unit, &Vec<BranchFacts>)| {
        let facts = content::comparable(branches)?;
        let content = match at_rest(world, evidence, unit) {
            Ok(()) => world.content(&facts.tip, &evidence.base),
            Err(why) => Observed::Absent(why),
        };
        Some((unit.clone(), content))
    };
    branches.iter().filter_map(compare).collect()
}

/// Returns why more may come from a unit: then what is on base is not asked for.
fn at_rest(world: &dyn World, evidence: &Evidence, unit: &Unit) -> Result<(), Why> {
    let lease = match &evidence.leases {
        Observed::Known(leases) => leases.get(unit),
        Observed::Absent(_) => None,
        Observed::Unknown(why) => return Err(why.clone()),
    };
    match lease {
        Some(Observed::Known(Lease::Held { .. })) => return Err(Why::new("a worker is at work")),
        Some(Observed::Unknown(why)) => return Err(why.clone()),
        Some(Observed::Known(Lease::Free) | Observed::Absent(_)) | None => {}
    }
    if has_open_pull_request(evidence, unit) {
        return Err(Why::new("its pull request is open"));
    }
    let name = UnitName {
        spec: evidence.spec.clone(),
        unit: unit.clone(),
    };
    match world.worktree(&name) {
        Observed::Known(WorktreeFacts::Free) => Ok(()),
        Observed::Known(WorktreeFacts::Ours(worktree)) => match &worktree.changes {
            Observed::Known(changes) if changes.is_empty() => Ok(()),
            Observed::Known(_) => Err(Why::new("its worktree holds uncommitted work")),
            Observed::Absent(why) | Observed::Unknown(why) => Err(why.clone()),
        },
        Observed::Known(WorktreeFacts::BranchElsewhere { path }) => {
            Err(Why::new(format!("its branch is checked out at {path}")))
        }
        Observed::Known(WorktreeFacts::Taken { by }) => Err(Why::new(by)),
        Observed::Absent(why) | Observed::Unknown(why) => Err(why),
    }
}

fn has_open_pull_request(evidence: &Evidence, unit: &Unit) -> bool {
    let Observed::Known(answer) = &evidence.pull_requests else {
        return false;
    };
    let Some(Observed::Known(found)) = answer.by_unit.get(unit) else {
        return false;
    };
    found
        .iter()
        .any(|one| matches!(one.state, PullRequestState::Open { .. }))
}

/// Every unit whose work is not shown by git to have landed: a merge may be known to the forge alone.
fn units_to_ask(graph: &TaskGraph, evidence: &Evidence) -> BTreeSet<Unit> {
    let landed = derive(graph, evidence).landed();
    let open = |task: &TaskId| !landed.contains_key(task);
    let tasks = graph.tasks.iter().map(|task| &task.id).filter(|task| open(task));
    let mut units: BTreeSet<Unit> = tasks.cloned().map(Unit::single).collect();
    if let Observed::Known(branches) = &evidence.branches {
        units.extend(branches.keys().filter(|unit| unit.tasks().any(open)).cloned());
    }
    if let Observed::Known(records) = &evidence.records {
        units.extend(records.keys().filter(|unit| unit.tasks().any(open)).cloned());
    }
    units
}

fn with_relations(world: &dyn World, mut answer: PullRequests, branches: &Observed<Branches>) -> PullRequests {
    answer.relations.clear();
    let Observed::Known(branches) = branches else {
        return answer;
    };
    for (unit, found) in &answer.by_unit {
        let (Observed::Known(found), Some(branches)) = (found, branches.get(unit)) else {
            continue;
        };
        for pull_request in found {
            if matches!(pull_request.state, PullRequestState::Merged(_)) {
                let compare = |facts: &BranchFacts| (facts.side, relation(world, &pull_request.head, &facts.tip));
                let relations = branches.iter().filter(|facts| facts.ahead > 0).map(compare);
                answer.relations.insert(pull_request.number, relations.collect());
            }
        }
    }
    answer
}

fn relation(world: &dyn World, head: &CommitId, tip: &CommitId) -> Observed<TipRelation> {
    match world.contains(head, tip) {
        Observed::Known(true) => Observed::Known(TipRelation::Within),
        Observed::Known(false) => world.contains(tip, head).map(|beyond| {
            if beyond {
                TipRelation::Beyond
            } else {
                TipRelation::Apart
            }
        }),
        Observed::Absent(why) => Observed::Absent(why),
        Observed::Unknown(why) => Observed::Unknown(why),
    }
}

fn recorded_starts(records: &Observed<BTreeMap<Unit, UnitRecords>>) -> BTreeMap<Unit, CommitId> {
    let Observed::Known(records) = records else {
        return BTreeMap::new();
    };
    let start = |(unit, records): (&Unit, &UnitRecords)| match &records.dispatch {
        Observed::Known(record) => Some((unit.clone(), record.start.clone())),
        Observed::Absent(_) | Observed::Unknown(_) => None,
    };
    records.iter().filter_map(start).collect()
}

fn markers(world: &dyn World, spec: &SpecId) -> Observed<BTreeMap<TaskId, Markers>> {
    let mut found: BTreeMap<TaskId, Markers> = BTreeMap::new();
    for home in MarkerHome::ALL {
        let names = match world.list(&Place::MarkerDirectory(spec.clone(), home)).known() {
            Ok(names) => names.unwrap_or_default(),
            Err(why) => return Observed::Unknown(why),
        };
        // Names outside the id grammar are no claims.
        for task in names.iter().filter_map(|name| TaskId::parse(name).ok()) {
            let marker = record(world, &Place::Marker(spec.clone(), task.clone(), home), |bytes| {
                marker::parse(bytes).map_err(|fault| fault.to_string())
            });
            found.entry(task).or_default().push(marker);
        }
    }
    Observed::Known(found)
}

/// Returns what a person wants done again. What cannot be read is not wanted: the task stays held.
fn redo(world: &dyn World, spec: &SpecId) -> BTreeMap<TaskId, BTreeSet<CommitId>> {
    let Observed::Known(names) = world.list(&Place::RedoDirectory(spec.clone())) else {
        return BTreeMap::new();
    };
    let read = |task: TaskId| {
        let wanted = record(world, &Place::Redo(spec.clone(), task.clone()), |bytes| {
            redo::parse(bytes).map_err(|fault| fault.to_string())
        });
        match wanted {
            Observed::Known(reverts) => Some((task, reverts)),
            Observed::Absent(_) | Observed::Unknown(_) => None,
        }
    };
    names
        .iter()
        .filter_map(|name| TaskId::parse(name).ok())
        .filter_map(read)
        .collect()
}

fn dispatches(world: &dyn World, spec: &SpecId) -> Observed<BTreeMap<Unit, Observed<DispatchRecord>>> {
    let names = match world.list(&Place::RecordDirectory(spec.clone())).known() {
        Ok(names) => names.unwrap_or_default(),
        Err(why) => return Observed::Unknown(why),
    };
    let unit = |name: &String| Unit::parse(name.strip_suffix(".json")?).ok();
    let read = |unit: Unit| {
        let place = Place::DispatchRecord(UnitName {
            spec: spec.clone(),
            unit: unit.clone(),
        });
        let found = record(world, &place, |bytes| {
            DispatchRecord::parse(bytes).map_err(|fault| fault.to_string())
        });
        (unit, found)
    };
    Observed::Known(names.iter().filter_map(unit).map(read).collect())
}

fn with_launches(
    world: &dyn World,
    spec: &SpecId,
    dispatches: BTreeMap<Unit, Observed<DispatchRecord>>,
) -> BTreeMap<Unit, UnitRecords> {
    let complete = |(unit, dispatch): (Unit, Observed<DispatchRecord>)| {
        let launch = launch_record(
            world,
            &UnitName {
                spec: spec.clone(),
                unit: unit.clone(),
            },
        );
        let tower = match &dispatch {
            Observed::Known(record) => world.liveness(&record.tower),
            Observed::Absent(why) => Observed::Absent(why.clone()),
            Observed::Unknown(why) => Observed::Unknown(why.clone()),
        };
        let runner = match &launch {
            Observed::Known(LaunchRecord {
                runner: Some(runner), ..
            }) => world.liveness(runner),
            Observed::Known(_) => Observed::Absent(Why::new("nobody has started it")),
            Observed::Absent(why) => Observed::Absent(why.clone()),
            Observed::Unknown(why) => Observed::Unknown(why.clone()),
        };
        (
            unit,
            UnitRecords {
                dispatch,
                launch,
                tower,
                runner,
            },
        )
    };
    dispatches.into_iter().map(complete).collect()
}

/// Returns the launch record of a unit.
pub fn launch_record(world: &dyn World, name: &UnitName) -> Observed<LaunchRecord> {
    record(world, &Place::LaunchRecord(name.clone()), |bytes| {
        LaunchRecord::parse(bytes).map_err(|fault| fault.to_string())
    })
}

/// Reads one record. Anything there that is not a readable record is unknown: a claim we cannot read is a claim.
fn record<T>(world: &dyn World, place: &Place, parse: impl Fn(&[u8]) -> Result<T, String>) -> Observed<T> {
    let unreadable = |cause: &str| Observed::Unknown(Why::new(format!("{place} cannot be read: {cause}")));
    match world.read(place) {
        Reading::Absent => Observed::Absent(Why::new(format!("there is no {place}"))),
        Reading::File { bytes, .. } => match parse(&bytes) {
            Ok(value) => Observed::Known(value),
            Err(cause) => unreadable(&cause),
        },
        Reading::Directory { .. } => unreadable("it is a directory"),
        Reading::Symlink => unreadable("it is a symbolic link"),
        Reading::Special => unreadable("it is no regular file"),
        Reading::Unreadable(cause) => unreadable(&cause),
    }
}
