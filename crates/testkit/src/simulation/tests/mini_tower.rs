//! A small correct tower over the product's own core, and the same tower with one flaw: the judge has to acquit the
//! first and convict every other.

use std::collections::BTreeMap;
use std::time::Duration;

use orchestrate_core::declaration::Declarations;
use orchestrate_core::derive::{SpecState, derive};
use orchestrate_core::evidence::{Evidence, Lease};
use orchestrate_core::fetch::{Fetch, FetchTerms};
use orchestrate_core::graph::{Effort, TaskGraph, TaskNode};
use orchestrate_core::identifier::{BackendName, CommitId, SpecId, TaskId, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::{BundleFile, MarkerHome, Place};
use orchestrate_core::plan::{self, BranchAct, WorktreeAct};
use orchestrate_core::record::dispatch::{Attempt, DispatchRecord, LaunchManner, LaunchOrder};
use orchestrate_core::record::marker;
use orchestrate_core::time::Timestamp;
use orchestrate_core::world::{Checkout, Fault, Race, Reading, Spawned, WorktreeFacts, World};
use orchestrate_spec::BundleTexts;
use orchestrate_spec::brief::{Freshness, freshness, parse_sign_off};

use super::mini_fence;
use super::mini_gather::{gather, read_launch};
use super::mini_lock::{lock, unlock};
use crate::simulation::TowerEnd;

/// What is wrong with a tower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    Nothing,
    NoLock,
    MarkerBeforeBranch,
    RegistersAfterMarker,
    UnreadableMarkerIsNoMarker,
    UnreadableRecordIsNoRecord,
    UnknownBranchesAreNone,
    UnknownLeasesAreFree,
    BreaksEveryLock,
    BreaksWithoutWindow,
    BreaksFreshBareLocks,
    ForgetsTheLock,
    NeverBreaksLocks,
    SpawnsInsideTheLock,
    ChecksOutInsideTheLock,
    SpawnsBeforeCheckout,
    IgnoresWorkers,
    IgnoresOccupants,
    IgnoresMarkers,
    NoLookUnderTheLock,
    NoLookAfterTheRecord,
    LeavesMarkersBehind,
    GateBeforeTheLock,
    NoGate,
    IgnoresDependencies,
    WritesTheBundle,
    MovesEveryBranch,
    NeverReusesWorktrees,
    FetchesNothing,
    IgnoresFailedFetches,
    ParksTheLiving,
    ParksTheUnread,
    ParksTwice,
    ParksAndDispatches,
    DispatchesTheParked,
    NoFence,
    BranchBeforeFence,
    PushesBeforeTheIntent,
    TakesTheFenceAway,
    AdoptsThePeersFence,
    ForgetsItsFence,
    NoLookAtOriginAgain,
    UnknownOriginHasNotMoved,
    CollectsBeforeOriginHasIt,
    RetiresTheUnlanded,
    RetiresTheKept,
    RetiresTheUnread,
    RetiresBeforeItLooks,
    RetiresWithoutTheLock,
    ClearsInsideTheLock,
    TrustsAMadeAnswer,
    ForgetsWhatWasRefused,
    TrustsADeletion,
    PushesAGivenBackFenceAgain,
    TakesTheTipFenceAway,
    Panics,
}

/// Why a step dispatched nothing.
pub(super) struct Stop(pub(super) String);

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self(fault.to_string())
    }
}

impl From<Why> for Stop {
    fn from(why: Why) -> Self {
        Self(why.reason)
    }
}

pub(super) fn stop<T>(why: impl Into<String>) -> Result<T, Stop> {
    Err(Stop(why.into()))
}

const TERMS: FetchTerms = FetchTerms {
    fresh_seconds: 0,
    attempts: 1,
    attempt_limit: Duration::ZERO,
    pause: Duration::ZERO,
    future_is_fresh: false,
};

/// One step.
pub(super) fn step(world: &mut dyn World, flaw: Flaw) -> TowerEnd {
    match attempt(world, flaw) {
        Ok(name) => TowerEnd::Dispatched(name),
        Err(Stop(why)) => TowerEnd::Nothing(why),
    }
}

fn attempt(world: &mut dyn World, flaw: Flaw) -> Result<UnitName, Stop> {
    let spec = SpecId::parse("demo").map_err(|fault| Stop(fault.to_string()))?;
    let graph = graph(world, &spec)?;
    if flaw != Flaw::FetchesNothing
        && let Fetch::Failed { why, .. } = world.fetch(&TERMS)
        && flaw != Flaw::IgnoresFailedFetches
    {
        return Err(why.into());
    }
    super::mini_park::sweep(world, &spec, &graph, flaw)?;
    super::mini_retire::sweep(world, &spec, &graph, flaw)?;
    let before = choose(world, &spec, &graph, flaw)?;
    mini_fence::collect(world, &spec, &before.evidence, &before.state, flaw);
    assert!(flaw != Flaw::Panics, "a tower with a slip");
    if flaw == Flaw::WritesTheBundle {
        world.write(&Place::BundleFile(spec.clone(), BundleFile::Tasks), b"dispatched")?;
    }
    if flaw == Flaw::GateBeforeTheLock {
        gate(world, &spec, &before.evidence.base.commit)?;
    }
    if flaw == Flaw::NoLock {
        let record = record(world, &spec, &graph, before, flaw)?;
        return hand_over(world, &record, flaw);
    }
    let nonce = lock(world, &spec, flaw)?;
    let recorded = record(world, &spec, &graph, before, flaw);
    let inside = matches!(flaw, Flaw::SpawnsInsideTheLock | Flaw::ChecksOutInsideTheLock);
    if let (true, Ok(record)) = (inside, &recorded) {
        let handed = hand_over(world, record, flaw);
        unlock(world, &spec, &nonce, flaw);
        return handed;
    }
    let released = unlock(world, &spec, &nonce, flaw);
    let record = recorded?;
    if !released {
        return stop("the lock cannot be released");
    }
    hand_over(world, &record, flaw)
}

fn graph(world: &dyn World, spec: &SpecId) -> Result<TaskGraph, Stop> {
    let place = Place::BundleFile(spec.clone(), BundleFile::Tasks);
    let Reading::File { bytes, .. } = world.read(&place) else {
        return stop("tasks.md cannot be read");
    };
    let text = String::from_utf8_lossy(&bytes);
    let mut graph = TaskGraph::default();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("### Task ") {
            let id = rest.split(' ').next().unwrap_or_default();
            graph.tasks.push(TaskNode {
                id: TaskId::parse(id).map_err(|fault| Stop(fault.to_string()))?,
                title: rest.to_owned(),
                dependencies: Vec::new(),
                effort: Effort::ONE_DAY,
            });
        }
        let dependencies = line.strip_prefix("- **Dependencies:** ");
        if let (Some(list), Some(task)) = (dependencies, graph.tasks.last_mut()) {
            task.dependencies = list.split(", ").filter_map(|id| TaskId::parse(id).ok()).collect();
        }
    }
    Ok(graph)
}

/// What a look at everything gave.
struct Choice {
    name: UnitName,
    evidence: Evidence,
    state: SpecState,
}

fn choose(world: &dyn World, spec: &SpecId, graph: &TaskGraph, flaw: Flaw) -> Result<Choice, Stop> {
    let evidence = gather(world, spec, flaw)?;
    let mut graph = graph.clone();
    if flaw == Flaw::IgnoresDependencies {
        graph.tasks.iter_mut().for_each(|task| task.dependencies.clear());
    }
    let state = derive(&graph, &evidence);
    let name = |unit| UnitName {
        spec: spec.clone(),
        unit,
    };
    let selection = plan::Selection {
        graph: &graph,
        state: &state,
        declarations: &Declarations::default(),
        cap: 3,
    };
    match plan::intend(name, &selection, &std::collections::BTreeSet::new()) {
        Ok(intent) => Ok(Choice {
            name: intent.name,
            evidence,
            state,
        }),
        Err(reason) => stop(format!("{reason:?}")),
    }
}

/// Everything that happens under the lock.
fn record(
    world: &mut dyn World,
    spec: &SpecId,
    graph: &TaskGraph,
    before: Choice,
    flaw: Flaw,
) -> Result<DispatchRecord, Stop> {
    let choice = if flaw == Flaw::NoLookUnderTheLock {
        before
    } else {
        choose(world, spec, graph, flaw)?
    };
    let Choice { name, evidence, state } = choice;
    let (start, branch, worktree) = places(world, &name, &evidence, flaw)?;
    for dependency in graph
        .task(&only_task(&name))
        .into_iter()
        .flat_map(|task| &task.dependencies)
    {
        let landed = state.landed();
        let Some(commit) = landed.get(dependency) else { continue };
        let contained = world.contains(&start, commit);
        if contained != Observed::Known(true) {
            return stop(format!("dependency {dependency}: {contained:?}"));
        }
    }
    if flaw != Flaw::GateBeforeTheLock && flaw != Flaw::NoGate {
        gate(world, spec, &start)?;
    }
    if flaw == Flaw::MarkerBeforeBranch {
        write_markers(world, &name, evidence.now)?;
    }
    if flaw != Flaw::NoFence && flaw != Flaw::BranchBeforeFence {
        mini_fence::take(world, &name, &evidence, flaw)?;
    }
    make_branch(world, &name, &start, &branch)?;
    if flaw == Flaw::BranchBeforeFence {
        mini_fence::take(world, &name, &evidence, flaw)?;
    }
    if worktree == WorktreeAct::Register && flaw != Flaw::RegistersAfterMarker {
        let _ = world.register_worktree(&name)?;
    }
    let record = write_record(world, &name, &evidence, &start)?;
    if flaw != Flaw::NoLookAfterTheRecord {
        let looked = look_again(world, &name, &evidence, &start);
        if looked.is_err() && flaw == Flaw::LeavesMarkersBehind {
            world.remove(&Place::DispatchRecord(name.clone()))?;
        }
        looked?;
    }
    write_markers(world, &name, record.dispatched)?;
    if flaw == Flaw::RegistersAfterMarker {
        let _ = world.register_worktree(&name)?;
    }
    Ok(record)
}

fn only_task(name: &UnitName) -> TaskId {
    name.unit.tasks().next().expect("a unit has a task").clone()
}

fn places(
    world: &dyn World,
    name: &UnitName,
    evidence: &Evidence,
    flaw: Flaw,
) -> Result<(CommitId, BranchAct, WorktreeAct), Stop> {
    let facts = match world.worktree(name) {
        Observed::Known(facts) => facts,
        Observed::Absent(why) | Observed::Unknown(why) => return Err(why.into()),
    };
    if flaw == Flaw::NeverReusesWorktrees && facts != WorktreeFacts::Free {
        return stop("there is a worktree already");
    }
    let occupants = if matches!(flaw, Flaw::IgnoresOccupants | Flaw::IgnoresWorkers) {
        Observed::Known(Vec::new())
    } else {
        world.occupants(name)
    };
    let worktree = plan::worktree(name, &facts, &occupants).map_err(|reason| Stop(format!("{reason:?}")))?;
    let branches = match &evidence.branches {
        Observed::Known(branches) => branches.by_unit.get(&name.unit).map(Vec::as_slice).unwrap_or_default(),
        Observed::Absent(_) | Observed::Unknown(_) => &[],
    };
    let base = &evidence.base;
    let facts = if flaw == Flaw::MovesEveryBranch {
        &WorktreeFacts::Free
    } else {
        &facts
    };
    let (start, branch) = plan::start(branches, base, facts).map_err(|reason| Stop(format!("{reason:?}")))?;
    Ok((start, branch, worktree))
}

fn gate(world: &dyn World, spec: &SpecId, at: &CommitId) -> Result<(), Stop> {
    let read = |file| match world.committed(at, spec, file) {
        Observed::Known(bytes) => Ok(bytes),
        Observed::Absent(why) | Observed::Unknown(why) => Err(Stop::from(why)),
    };
    let texts = BundleTexts {
        requirements: read(BundleFile::Requirements)?,
        design: read(BundleFile::Design)?,
        tasks: read(BundleFile::Tasks)?,
        test_spec: read(BundleFile::TestSpec)?,
    };
    let brief = read(BundleFile::KickoffBrief)?;
    let record = parse_sign_off(spec, &brief).map_err(|fault| Stop(fault.to_string()))?;
    match freshness(&record, &texts) {
        Ok(Freshness::Matches) => Ok(()),
        other => stop(format!("not signed: {other:?}")),
    }
}

fn make_branch(world: &mut dyn World, name: &UnitName, start: &CommitId, act: &BranchAct) -> Result<(), Stop> {
    let race = match act {
        BranchAct::Create => world.create_branch(name, start)?,
        BranchAct::Keep => Race::Won,
        BranchAct::Advance { from } => world.advance_branch(name, from, start)?,
    };
    match race {
        Race::Won => Ok(()),
        Race::Lost => stop("the branch moved"),
    }
}

fn write_record(
    world: &mut dyn World,
    name: &UnitName,
    evidence: &Evidence,
    start: &CommitId,
) -> Result<DispatchRecord, Stop> {
    let attempt = Attempt {
        tower: world.identity(),
        attempt: world.nonce()?,
        dispatched: world.now(),
        launched_before: match &evidence.records {
            Observed::Known(records) => match records.get(&name.unit).map(|records| &records.launch) {
                Some(Observed::Known(launch)) => Some(launch.attempt.clone()),
                Some(Observed::Absent(_) | Observed::Unknown(_)) | None => None,
            },
            Observed::Absent(_) | Observed::Unknown(_) => None,
        },
    };
    let launch = LaunchOrder {
        backend: BackendName::parse("mini").expect("a name"),
        manner: LaunchManner::Background,
        argv: vec!["/bin/true".to_owned()],
        prompt: "work".to_owned(),
    };
    let base = evidence.base.name.clone();
    let record = DispatchRecord::new(name.clone(), base, start.clone(), String::new(), attempt, launch);
    world.create_directory(&Place::RecordDirectory(name.spec.clone()))?;
    world.write(&Place::DispatchRecord(name.clone()), &record.render())?;
    Ok(record)
}

/// A late runner of an earlier attempt may have started before the record superseded it; after the record none can.
/// The lease comes first: a runner that let it go before has written the launch record before.
fn look_again(world: &dyn World, name: &UnitName, evidence: &Evidence, start: &CommitId) -> Result<(), Stop> {
    let base = &evidence.base;
    let leases = match world.leases(&name.spec) {
        Observed::Known(leases) => leases,
        Observed::Absent(why) | Observed::Unknown(why) => return Err(why.into()),
    };
    match leases.get(&name.unit) {
        None | Some(Observed::Known(Lease::Free)) => {}
        Some(other) => return stop(format!("a late worker: {other:?}")),
    }
    let launch = read_launch(world, name);
    let before = match &evidence.records {
        Observed::Known(records) => records.get(&name.unit).map(|records| records.launch.clone()),
        Observed::Absent(_) | Observed::Unknown(_) => None,
    };
    if before.is_some_and(|before| before != launch) || matches!(launch, Observed::Unknown(_)) {
        return stop("a late worker has started");
    }
    let branches = match world.branches(&name.spec, base, &BTreeMap::new()) {
        Observed::Known(branches) => branches,
        Observed::Absent(why) | Observed::Unknown(why) => return Err(why.into()),
    };
    let facts = branches.by_unit.get(&name.unit).map(Vec::as_slice).unwrap_or_default();
    if facts.iter().any(|facts| facts.tip != *start) {
        return stop("a late worker has committed");
    }
    Ok(())
}

fn write_markers(world: &mut dyn World, name: &UnitName, at: Timestamp) -> Result<(), Stop> {
    for home in MarkerHome::ALL {
        world.create_directory(&Place::MarkerDirectory(name.spec.clone(), home))?;
        for task in name.unit.tasks() {
            let place = Place::Marker(name.spec.clone(), task.clone(), home);
            world.write(&place, &marker::render(at))?;
        }
    }
    Ok(())
}

fn hand_over(world: &mut dyn World, record: &DispatchRecord, flaw: Flaw) -> Result<UnitName, Stop> {
    let name = record.name();
    if flaw != Flaw::SpawnsBeforeCheckout && flaw != Flaw::SpawnsInsideTheLock {
        match world.checkout(&name)? {
            Checkout::Complete => {}
            Checkout::InTheWay { paths } => return stop(format!("in the way: {paths:?}")),
        }
    }
    match world.spawn(record)? {
        Spawned::Started { .. } | Spawned::Ended { .. } => Ok(name),
        Spawned::Refused { why } => stop(format!("the runner refused: {why}")),
    }
}
