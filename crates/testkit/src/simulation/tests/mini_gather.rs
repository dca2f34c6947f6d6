//! How the small tower looks at everything.

use std::collections::{BTreeMap, BTreeSet};

use orchestrate_core::evidence::{Evidence, Markers, Origin, UnitRecords};
use orchestrate_core::identifier::{SpecId, TaskId, Unit, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::{MarkerHome, Place};
use orchestrate_core::record::dispatch::DispatchRecord;
use orchestrate_core::record::launch::LaunchRecord;
use orchestrate_core::record::marker;
use orchestrate_core::world::{Branches, Reading, World};

use super::mini_fence;
use super::mini_tower::{Flaw, Stop};

const STALE_SECONDS: i64 = 900;

pub(super) fn gather(world: &dyn World, spec: &SpecId, flaw: Flaw) -> Result<Evidence, Stop> {
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
        branches = Observed::Known(Branches::new());
    }
    let mut leases = world.leases(spec);
    if flaw == Flaw::IgnoresWorkers {
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
    let origin = origin(world.origin(spec, &base), flaw);
    let own_fences = match &origin {
        Observed::Absent(why) | Observed::Unknown(why) => Observed::Absent(why.clone()),
        Observed::Known(_) => mini_fence::own_fences(world, spec),
    };
    Ok(Evidence {
        spec: spec.clone(),
        history: world.history(spec, &base),
        branches,
        pull_requests: world.pull_requests(spec, &BTreeSet::new()),
        leases,
        markers: markers(world, spec, flaw),
        records,
        content: BTreeMap::new(),
        times: BTreeMap::new(),
        redo: BTreeMap::new(),
        origin,
        own_fences,
        now: world.now(),
        stale_marker_seconds: STALE_SECONDS,
        base,
    })
}

fn origin(answer: Observed<Origin>, flaw: Flaw) -> Observed<Origin> {
    let blind = matches!(flaw, Flaw::TakesTheFenceAway | Flaw::AdoptsThePeersFence);
    match answer {
        Observed::Known(origin) if blind => Observed::Known(Origin {
            fences: BTreeMap::new(),
            ..origin
        }),
        answer @ (Observed::Known(_) | Observed::Absent(_) | Observed::Unknown(_)) => answer,
    }
}

pub(super) fn observed<T>(reading: Reading, parse: impl Fn(&[u8]) -> Result<T, String>) -> Observed<T> {
    match reading {
        Reading::Absent => Observed::Absent(Why::new("nothing is there")),
        Reading::File { bytes, .. } => match parse(&bytes) {
            Ok(value) => Observed::Known(value),
            Err(why) => Observed::Unknown(Why::new(why)),
        },
        Reading::Unreadable(why) => Observed::Unknown(Why::new(why)),
        Reading::Directory { .. } | Reading::Symlink | Reading::Special => Observed::Unknown(Why::new("it is no file")),
    }
}

fn read_record(world: &dyn World, name: &UnitName) -> Observed<DispatchRecord> {
    observed(world.read(&Place::DispatchRecord(name.clone())), |bytes| {
        DispatchRecord::parse(bytes).map_err(|fault| fault.to_string())
    })
}

pub(super) fn read_launch(world: &dyn World, name: &UnitName) -> Observed<LaunchRecord> {
    observed(world.read(&Place::LaunchRecord(name.clone())), |bytes| {
        LaunchRecord::parse(bytes).map_err(|fault| fault.to_string())
    })
}

fn records(world: &dyn World, spec: &SpecId, flaw: Flaw) -> Observed<BTreeMap<Unit, UnitRecords>> {
    let names = match world.list(&Place::RecordDirectory(spec.clone())) {
        Observed::Known(names) => names,
        Observed::Absent(_) => return Observed::Known(BTreeMap::new()),
        Observed::Unknown(why) => return Observed::Unknown(why),
    };
    let mut records = BTreeMap::new();
    for unit in names
        .iter()
        .filter_map(|name| Unit::parse(name.strip_suffix(".json")?).ok())
    {
        let name = UnitName {
            spec: spec.clone(),
            unit: unit.clone(),
        };
        let mut dispatch = read_record(world, &name);
        if flaw == Flaw::UnreadableRecordIsNoRecord && matches!(dispatch, Observed::Unknown(_)) {
            dispatch = Observed::Absent(Why::new("unreadable"));
        }
        let launch = read_launch(world, &name);
        let tower = match &dispatch {
            Observed::Known(record) => world.liveness(&record.tower),
            Observed::Absent(why) | Observed::Unknown(why) => Observed::Absent(why.clone()),
        };
        let runner = match &launch {
            Observed::Known(LaunchRecord {
                runner: Some(runner), ..
            }) => world.liveness(runner),
            Observed::Known(_) => Observed::Absent(Why::new("nobody has started it")),
            Observed::Absent(why) | Observed::Unknown(why) => Observed::Absent(why.clone()),
        };
        records.insert(
            unit,
            UnitRecords {
                dispatch,
                launch,
                tower,
                runner,
            },
        );
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
