//! Reading all evidence of one bundle from the World.
//!
//! The order is that in which a unit progresses (claim, lease, launch, commits, landing): what moves on while we read
//! is then seen at a later place, and never missed at both.

mod changes;
mod forge;

use std::collections::{BTreeMap, BTreeSet};

use orchestrate_core::content::Content;
use orchestrate_core::derive::derive;
use orchestrate_core::evidence::{Base, Evidence, Lease, Markers, Origin, UnitRecords};
use orchestrate_core::graph::TaskGraph;
use orchestrate_core::identifier::{CommitId, SpecId, TaskId, Unit, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::{MarkerHome, Place, intent_task};
use orchestrate_core::process::Liveness;
use orchestrate_core::pull_request::{PullRequestState, PullRequests};
use orchestrate_core::record::dispatch::DispatchRecord;
use orchestrate_core::record::fence::{FenceIntent, OwnFences};
use orchestrate_core::record::launch::LaunchRecord;
use orchestrate_core::record::{marker, redo};
use orchestrate_core::world::{Reading, World};

/// What is gathered for.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The bundle.
    pub spec: &'a SpecId,
    /// Its task graph.
    pub graph: &'a TaskGraph,
    /// The base.
    pub base: &'a Base,
    /// `stale_marker_threshold`, in seconds.
    pub stale_marker_seconds: i64,
    /// What origin answered to this step's question about fences.
    pub origin: &'a Observed<Origin>,
    /// The forge's answer of an earlier gathering of the same step, which asks it once.
    pub asked: Option<&'a Observed<PullRequests>>,
    /// Of which landed units the forge is asked too.
    pub beside: Beside,
}

/// The landed units of which the forge is asked in the same request. No state depends on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// None.
    Nobody,
    /// All, for people to see.
    Landed,
    /// Those whose worktree stays because of commits that git does not show to have landed.
    Kept,
}

/// Returns all evidence of a bundle, as it is now.
pub fn gather(world: &dyn World, question: &Question<'_>) -> Evidence {
    let Question { spec, graph, base, .. } = *question;
    let own_fences = match question.origin {
        Observed::Known(_) => own_fences(world, spec),
        Observed::Absent(why) | Observed::Unknown(why) => Observed::Absent(why.clone()),
    };
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
        pull_requests: Observed::Absent(Why::new("the forge was not asked")),
        leases,
        markers,
        content: BTreeMap::new(),
        times: BTreeMap::new(),
        records,
        redo: redo(world, spec),
        origin: question.origin.clone(),
        own_fences,
        stale_marker_seconds: question.stale_marker_seconds,
    };
    let answer = match question.asked {
        Some(answer) => answer.clone(),
        None => forge::ask(world, graph, &evidence, question.beside),
    };
    if let Observed::Known(answer) = &answer {
        // It is asked after the rest was read, and nothing that was seen lies ahead of the look.
        evidence.now = evidence.now.max(answer.asked);
    }
    evidence.pull_requests = answer.map(|answer| forge::with_relations(world, answer, &evidence.branches));
    evidence.content = changes::compare(world, graph, &evidence);
    evidence.times = world.commit_times(&nameable(&evidence));
    evidence
}

/// Returns the commits that a row may name, so that it can say how old its evidence is.
fn nameable(evidence: &Evidence) -> BTreeSet<CommitId> {
    let mut commits = BTreeSet::new();
    if let Observed::Known(history) = &evidence.history {
        // A row names the newest trailer that stands, or the newest one there is.
        let stands = |commit: &&CommitId| !history.reverts.commits.contains_key(*commit);
        for named in history.trailers.values() {
            commits.extend(named.first().into_iter().chain(named.iter().find(stands)).cloned());
        }
        let reverting = history.reverts.commits.values();
        commits.extend(reverting.chain(history.reverts.pull_requests.values()).cloned());
    }
    if let Observed::Known(branches) = &evidence.branches {
        commits.extend(branches.by_unit.values().flatten().map(|facts| facts.tip.clone()));
    }
    for content in evidence.content.values() {
        match content {
            Observed::Known(Content::Rebased(on_base)) => commits.extend(on_base.last().cloned()),
            Observed::Known(Content::Squashed(commit)) => drop(commits.insert(commit.clone())),
            // Every file is on base: when it came there nothing tells.
            Observed::Known(Content::Contained | Content::Different) | Observed::Absent(_) | Observed::Unknown(_) => {}
        }
    }
    if let Observed::Known(answer) = &evidence.pull_requests {
        let found = answer.by_unit.values().filter_map(|found| match found {
            Observed::Known(found) => Some(found),
            Observed::Absent(_) | Observed::Unknown(_) => None,
        });
        for one in found.flatten() {
            if let PullRequestState::Merged(commit) = &one.state {
                commits.insert(commit.as_ref().unwrap_or(&one.head).clone());
            }
        }
    }
    commits
}

/// Returns the tasks that nothing in the evidence shows landed.
fn open_tasks<'a>(graph: &'a TaskGraph, evidence: &Evidence) -> BTreeSet<&'a TaskId> {
    let landed = derive(graph, evidence).landed();
    let tasks = graph.tasks.iter().map(|task| &task.id);
    tasks.filter(|task| !landed.contains_key(*task)).collect()
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

/// Returns the markers of a bundle, those of tasks that it does not have included.
pub fn markers(world: &dyn World, spec: &SpecId) -> Observed<BTreeMap<TaskId, Markers>> {
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

/// Returns our own records of a bundle, those of tasks that it does not have included, and who of their writers lives.
pub fn records(world: &dyn World, spec: &SpecId) -> Observed<BTreeMap<Unit, UnitRecords>> {
    dispatches(world, spec).map(|dispatches| with_launches(world, spec, dispatches))
}

/// Returns what this clone has pushed as its fences, or was about to. One of another clone, which came here with a copy
/// of its git directory, is none of ours.
pub fn own_fences(world: &dyn World, spec: &SpecId) -> Observed<BTreeMap<TaskId, Observed<OwnFences>>> {
    let names = match world.list(&Place::IntentDirectory(spec.clone())).known() {
        Ok(names) => names.unwrap_or_default(),
        Err(why) => return Observed::Unknown(why),
    };
    let tasks: BTreeSet<TaskId> = names.iter().filter_map(|name| intent_task(name)).collect();
    let read = |task: TaskId| {
        let intent = own_fence(world, &Place::Intent(spec.clone(), task.clone()));
        let given_back = own_fence(world, &Place::GivenBack(spec.clone(), task.clone()));
        let own = match (intent.known(), given_back.known()) {
            (Ok(intent), Ok(given_back)) => Observed::Known(OwnFences { intent, given_back }),
            (Err(why), _) | (_, Err(why)) => Observed::Unknown(why),
        };
        (task, own)
    };
    Observed::Known(tasks.into_iter().map(read).collect())
}

fn own_fence(world: &dyn World, place: &Place) -> Observed<FenceIntent> {
    let intent = record(world, place, |bytes| {
        FenceIntent::parse(bytes).map_err(|fault| fault.to_string())
    });
    match intent {
        Observed::Known(intent) if intent.fence.clone != world.clone_id() => {
            Observed::Absent(Why::new(format!("{place} is of another clone")))
        }
        Observed::Unknown(why) => {
            let hint = format!("if no tower of this clone is at work: {}", world.command_aside(place));
            Observed::Unknown(why.with_hint(hint))
        }
        Observed::Known(_) | Observed::Absent(_) => intent,
    }
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
            // This tower takes one step at a time: an earlier one that led to no launch is over.
            Observed::Known(record) if record.tower == world.identity() => Observed::Known(Liveness::Dead),
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
