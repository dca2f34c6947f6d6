//! A small correct tower over the product's own core, and the same tower with one flaw: the judge has to acquit the
//! first and convict every other.

use std::collections::BTreeMap;

use orchestrate_core::derive::{SpecState, derive};
use orchestrate_core::evidence::{Base, Evidence, Lease, Markers, UnitRecords};
use orchestrate_core::graph::{Effort, TaskGraph, TaskNode};
use orchestrate_core::identifier::{BackendName, CommitId, Nonce, SpecId, TaskId, Unit, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::{BundleFile, LockDirectory, MarkerHome, Place};
use orchestrate_core::plan::{self, BranchAct, WorktreeAct};
use orchestrate_core::process::Liveness;
use orchestrate_core::record::dispatch::{Attempt, DispatchRecord, LaunchManner, LaunchOrder};
use orchestrate_core::record::launch::LaunchRecord;
use orchestrate_core::record::lock_owner::{LockKind, LockOwner};
use orchestrate_core::record::marker;
use orchestrate_core::time::Timestamp;
use orchestrate_core::world::{Checkout, Fault, Race, Reading, Spawned, World, WorktreeFacts};
use orchestrate_spec::BundleTexts;
use orchestrate_spec::brief::{Freshness, freshness, parse_sign_off};

use crate::simulation::TowerEnd;

const STALE_SECONDS: i64 = 900;

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
    IgnoresLeases,
    IgnoresOccupants,
    IgnoresMarkers,
    NoLookUnderTheLock,
    NoLookAfterTheRecord,
    GateBeforeTheLock,
    NoGate,
    IgnoresDependencies,
    WritesTheBundle,
    MovesEveryBranch,
    NeverReusesWorktrees,
    Panics,
}

/// Why a step dispatched nothing.
struct Stop(String);

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

fn stop<T>(why: impl Into<String>) -> Result<T, Stop> {
    Err(Stop(why.into()))
}

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
    let before = choose(world, &spec, &graph, flaw)?;
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
    let name = |unit| UnitName { spec: spec.clone(), unit };
    match plan::intend(name, &graph, &state, 3) {
        Ok(intent) => Ok(Choice { name: intent.name, evidence, state }),
        Err(reason) => stop(format!("{reason:?}")),
    }
}

fn gather(world: &dyn World, spec: &SpecId, flaw: Flaw) -> Result<Evidence, Stop> {
    let base = world.base(None)?;
    let records = records(world, spec, flaw);
    let mut starts = BTreeMap::new();
    if let Observed::Known(records) = &records {
        for (unit, records) in records {
            if let Observed::Known(record) = &records.dispatch {
                starts.insert(unit.clone(), record.start.clone());
            }
        }
    }
    let mut branches = world.branches(spec, &base, &starts);
    if flaw == Flaw::UnknownBranchesAreNone && matches!(branches, Observed::Unknown(_)) {
        branches = Observed::Known(BTreeMap::new());
    }
    let mut leases = world.leases(spec);
    if flaw == Flaw::IgnoresLeases {
        leases = Observed::Known(BTreeMap::new());
    }
    if flaw == Flaw::UnknownLeasesAreFree {
        leases = match leases {
            Observed::Known(leases) => Observed::Known(
                leases
                    .into_iter()
                    .filter(|(_, lease)| !matches!(lease, Observed::Unknown(_)))
                    .collect(),
            ),
            Observed::Absent(_) | Observed::Unknown(_) => Observed::Known(BTreeMap::new()),
        };
    }
    Ok(Evidence {
        history: world.history(spec, &base),
        branches,
        pull_requests: world.pull_requests(),
        leases,
        markers: markers(world, spec, flaw),
        records,
        now: world.now(),
        stale_marker_seconds: STALE_SECONDS,
        base,
    })
}

fn observed<T>(reading: Reading, parse: impl Fn(&[u8]) -> Result<T, String>) -> Observed<T> {
    match reading {
        Reading::Absent => Observed::Absent(Why::new("nothing is there")),
        Reading::File { bytes, .. } => match parse(&bytes) {
            Ok(value) => Observed::Known(value),
            Err(why) => Observed::Unknown(Why::new(why)),
        },
        Reading::Unreadable(why) => Observed::Unknown(Why::new(why)),
        Reading::Directory { .. } | Reading::Symlink | Reading::Special => {
            Observed::Unknown(Why::new("it is no file"))
        }
    }
}

fn read_record(world: &dyn World, name: &UnitName) -> Observed<DispatchRecord> {
    observed(world.read(&Place::DispatchRecord(name.clone())), |bytes| {
        DispatchRecord::parse(bytes).map_err(|fault| fault.to_string())
    })
}

fn records(world: &dyn World, spec: &SpecId, flaw: Flaw) -> Observed<BTreeMap<Unit, UnitRecords>> {
    let names = match world.list(&Place::RecordDirectory(spec.clone())) {
        Observed::Known(names) => names,
        Observed::Absent(_) => return Observed::Known(BTreeMap::new()),
        Observed::Unknown(why) => return Observed::Unknown(why),
    };
    let mut records = BTreeMap::new();
    for unit in names.iter().filter_map(|name| Unit::parse(name.strip_suffix(".json")?).ok()) {
        let name = UnitName { spec: spec.clone(), unit: unit.clone() };
        let mut dispatch = read_record(world, &name);
        if flaw == Flaw::UnreadableRecordIsNoRecord && matches!(dispatch, Observed::Unknown(_)) {
            dispatch = Observed::Absent(Why::new("unreadable"));
        }
        let launch = observed(world.read(&Place::LaunchRecord(name)), |bytes| {
            LaunchRecord::parse(bytes).map_err(|fault| fault.to_string())
        });
        let tower = match &dispatch {
            Observed::Known(record) => world.liveness(&record.tower),
            Observed::Absent(why) | Observed::Unknown(why) => Observed::Absent(why.clone()),
        };
        records.insert(unit, UnitRecords { dispatch, launch, tower });
    }
    Observed::Known(records)
}

fn markers(world: &dyn World, spec: &SpecId, flaw: Flaw) -> Observed<BTreeMap<TaskId, Markers>> {
    let mut markers: BTreeMap<TaskId, Markers> = BTreeMap::new();
    if flaw == Flaw::IgnoresMarkers {
        return Observed::Known(markers);
    }
    for home in MarkerHome::ALL {
        let names = match world.list(&Place::MarkerDirectory(spec.clone(), home)) {
            Observed::Known(names) => names,
            Observed::Absent(_) => continue,
            Observed::Unknown(why) => return Observed::Unknown(why),
        };
        for task in names.iter().filter_map(|name| TaskId::parse(name).ok()) {
            let reading = world.read(&Place::Marker(spec.clone(), task.clone(), home));
            let mut read = observed(reading, |bytes| marker::parse(bytes).map_err(|fault| fault.to_string()));
            if flaw == Flaw::UnreadableMarkerIsNoMarker && matches!(read, Observed::Unknown(_)) {
                read = Observed::Absent(Why::new("unreadable"));
            }
            markers.entry(task).or_default().push(read);
        }
    }
    Observed::Known(markers)
}

fn lock(world: &mut dyn World, spec: &SpecId, flaw: Flaw) -> Result<Nonce, Stop> {
    let nonce = world.nonce()?;
    if flaw != Flaw::BreaksWithoutWindow && world.enter_window(spec)? == Race::Lost {
        return stop("another tower is in the window");
    }
    let taken = clear_stale_lock(world, spec, &nonce, flaw).and_then(|()| publish_lock(world, spec, &nonce));
    if taken.is_err() {
        world.leave_window(spec);
    }
    taken.map(|()| nonce)
}

fn publish_lock(world: &mut dyn World, spec: &SpecId, nonce: &Nonce) -> Result<(), Stop> {
    let staging = LockDirectory::Staging(spec.clone(), nonce.clone());
    let owner = LockOwner::new(LockKind::Process, world.identity(), nonce.clone());
    world.create_directory(&staging.place())?;
    world.write(&staging.owner(), &owner.render())?;
    match world.publish(&staging.place(), &Place::Lock(spec.clone())) {
        Ok(Race::Won) => Ok(()),
        Ok(Race::Lost) => {
            // A left-over prepared lock is harmless.
            let _ = world.remove(&staging.place());
            stop("somebody else took the lock")
        }
        Err(fault) if owns(world, spec, nonce) => {
            let _ = fault;
            Ok(())
        }
        Err(fault) => Err(fault.into()),
    }
}

fn owner_of(world: &dyn World, spec: &SpecId) -> Observed<LockOwner> {
    let place = LockDirectory::Published(spec.clone()).owner();
    observed(world.read(&place), |bytes| LockOwner::parse(bytes).map_err(|fault| fault.to_string()))
}

fn owns(world: &dyn World, spec: &SpecId, nonce: &Nonce) -> bool {
    matches!(owner_of(world, spec), Observed::Known(owner) if &owner.nonce == nonce)
}

fn clear_stale_lock(world: &mut dyn World, spec: &SpecId, nonce: &Nonce, flaw: Flaw) -> Result<(), Stop> {
    let modified = match world.read(&Place::Lock(spec.clone())) {
        Reading::Absent => return Ok(()),
        Reading::Directory { modified } => modified,
        other => return stop(format!("the lock is {other:?}")),
    };
    if flaw == Flaw::NeverBreaksLocks {
        return stop("locked");
    }
    if flaw != Flaw::BreaksEveryLock {
        let old = world.now().seconds_since(modified).div_euclid(60) > 15;
        let stale = match owner_of(world, spec) {
            Observed::Known(owner) if owner.kind == LockKind::Process => {
                matches!(world.liveness(&owner.process), Observed::Known(Liveness::Dead))
            }
            Observed::Known(_) | Observed::Absent(_) => old || flaw == Flaw::BreaksFreshBareLocks,
            Observed::Unknown(why) => return Err(why.into()),
        };
        if !stale {
            return stop("the lock is held");
        }
    }
    let aside = Place::LockAside(spec.clone(), nonce.clone());
    if world.publish(&Place::Lock(spec.clone()), &aside)? == Race::Lost {
        return stop("somebody else broke the lock");
    }
    Ok(world.remove(&aside)?)
}

/// Returns whether the lock is no longer ours.
fn unlock(world: &mut dyn World, spec: &SpecId, nonce: &Nonce, flaw: Flaw) -> bool {
    let mut released = flaw == Flaw::ForgetsTheLock;
    for _ in 0..4 {
        match owner_of(world, spec) {
            _ if released => break,
            Observed::Known(owner) if &owner.nonce == nonce => {
                released = world.remove(&Place::Lock(spec.clone())).is_ok();
            }
            Observed::Unknown(_) => {}
            Observed::Known(_) | Observed::Absent(_) => released = true,
        }
    }
    world.leave_window(spec);
    released
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
    for dependency in graph.task(&only_task(&name)).into_iter().flat_map(|task| &task.dependencies) {
        let landed = state.landed();
        let Some(commit) = landed.get(dependency) else { continue };
        match world.contains(&start, commit) {
            Observed::Known(true) => {}
            other => return stop(format!("dependency {dependency}: {other:?}")),
        }
    }
    if flaw != Flaw::GateBeforeTheLock && flaw != Flaw::NoGate {
        gate(world, spec, &start)?;
    }
    if flaw == Flaw::MarkerBeforeBranch {
        write_markers(world, &name, evidence.now)?;
    }
    make_branch(world, &name, &start, &branch)?;
    if worktree == WorktreeAct::Register && flaw != Flaw::RegistersAfterMarker {
        let _ = world.register_worktree(&name)?;
    }
    let record = write_record(world, &name, &evidence, &start)?;
    if flaw != Flaw::NoLookAfterTheRecord {
        look_again(world, &name, &evidence.base, &start)?;
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
    let occupants = if flaw == Flaw::IgnoresOccupants {
        Observed::Known(Vec::new())
    } else {
        world.occupants(name)
    };
    let worktree = plan::worktree(&facts, &occupants).map_err(|reason| Stop(format!("{reason:?}")))?;
    let branches = match &evidence.branches {
        Observed::Known(branches) => branches.get(&name.unit).map(Vec::as_slice).unwrap_or_default(),
        Observed::Absent(_) | Observed::Unknown(_) => &[],
    };
    let base = &evidence.base;
    let facts = if flaw == Flaw::MovesEveryBranch { &WorktreeFacts::Free } else { &facts };
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
fn look_again(world: &dyn World, name: &UnitName, base: &Base, start: &CommitId) -> Result<(), Stop> {
    let leases = match world.leases(&name.spec) {
        Observed::Known(leases) => leases,
        Observed::Absent(why) | Observed::Unknown(why) => return Err(why.into()),
    };
    match leases.get(&name.unit) {
        None | Some(Observed::Known(Lease::Free)) => {}
        Some(other) => return stop(format!("a late worker: {other:?}")),
    }
    let branches = match world.branches(&name.spec, base, &BTreeMap::new()) {
        Observed::Known(branches) => branches,
        Observed::Absent(why) | Observed::Unknown(why) => return Err(why.into()),
    };
    let facts = branches.get(&name.unit).map(Vec::as_slice).unwrap_or_default();
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
