//! The records and markers of units that have landed: they go, branch and worktree stay for a person.

use orchestrate_core::identifier::{TaskId, UnitName};
use orchestrate_core::observed::Observed;
use orchestrate_core::place::Place;
use orchestrate_core::world::{Fault, World};

use crate::claims;
use crate::lock::Held;

/// Returns whether nobody works in the unit's worktree, if it has one.
pub(super) fn is_left(world: &dyn World, name: &UnitName) -> bool {
    match world.occupants(name) {
        Observed::Known(processes) => processes.is_empty(),
        Observed::Absent(_) => true,
        Observed::Unknown(_) => false,
    }
}

/// Clears what claimed the unit: the markers before the record that speaks for them, and the launch record last, so that
/// the attempt can be started again at no moment.
pub(super) fn clear(world: &mut dyn World, held: &Held<'_>, name: &UnitName) -> Result<(), Fault> {
    debug_assert!(*held.spec() == name.spec);
    let tasks: Vec<TaskId> = name.unit.tasks().cloned().collect();
    let records = [Place::DispatchRecord(name.clone()), Place::LaunchRecord(name.clone())];
    claims::markers(&name.spec, &tasks)
        .iter()
        .chain(&records)
        .try_for_each(|place| world.remove(place))
}
