//! What our own tower leaves of a dispatch: marker, dispatch record, launch record.

use orchestrate_core::identifier::{BackendName, BaseName, CommitId, Nonce, UnitName};
use orchestrate_core::place::{MarkerHome, Place};
use orchestrate_core::process::ProcessIdentity;
use orchestrate_core::record::dispatch::{Attempt, DispatchRecord, LaunchManner, LaunchOrder};
use orchestrate_core::record::launch::{LaunchRecord, WorkerEnd};
use orchestrate_core::record::marker;
use orchestrate_core::time::Timestamp;
use orchestrate_core::world::World;
use orchestrate_host::world::RealWorld;

use git2::Oid;

/// How far a dispatch came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// The tower died before it started a worker.
    TowerDied,
    /// A worker was started and has ended.
    WorkerEnded,
}

impl Claim {
    /// Writes what a dispatch of the unit from that commit left behind.
    ///
    /// # Panics
    /// When the machine refuses.
    pub fn leave(self, world: &mut RealWorld, unit: &str, start: Oid) {
        let name = UnitName::parse(unit).expect("a unit's name");
        let attempt = Nonce::from_bytes([7; 16]);
        // No process has the number 0, so nobody with this identity lives.
        let gone = ProcessIdentity {
            pid: 0,
            start: 1,
            ..world.identity()
        };
        let at = Timestamp::from_seconds(world.now().seconds() - 60);
        let record = DispatchRecord::new(
            name.clone(),
            BaseName::parse("main").expect("a base's name"),
            CommitId::parse(&start.to_string()).expect("a commit"),
            "anchor".to_owned(),
            Attempt {
                tower: gone.clone(),
                attempt: attempt.clone(),
                dispatched: at,
                launched_before: None,
            },
            LaunchOrder {
                backend: BackendName::parse("command").expect("a backend's name"),
                manner: LaunchManner::Background,
                argv: vec!["/bin/worker".to_owned()],
                prompt: "work".to_owned(),
            },
        );
        let write = |world: &mut RealWorld, place: &Place, bytes: &[u8]| {
            world.write(place, bytes).expect("a record is written");
        };
        world
            .create_directory(&Place::RecordDirectory(name.spec.clone()))
            .expect("a directory is made");
        write(world, &Place::DispatchRecord(name.clone()), &record.render());
        let home = MarkerHome::ALL.into_iter().next().expect("a home of markers");
        world
            .create_directory(&Place::MarkerDirectory(name.spec.clone(), home))
            .expect("a directory is made");
        for task in name.unit.tasks() {
            write(
                world,
                &Place::Marker(name.spec.clone(), task.clone(), home),
                &marker::render(at),
            );
        }
        match self {
            Self::TowerDied => {}
            Self::WorkerEnded => {
                let mut launch = LaunchRecord::new(attempt, at, Some(gone));
                launch.ended = Some(WorkerEnd {
                    at,
                    status: "exit 0".to_owned(),
                });
                write(world, &Place::LaunchRecord(name), &launch.render());
            }
        }
    }
}
