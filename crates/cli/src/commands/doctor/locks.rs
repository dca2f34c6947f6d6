//! The lock of each bundle: who holds it, whether that one lives, and whether the next tower breaks it.

use orchestrate_core::identifier::SpecId;
use orchestrate_core::observed::Observed;
use orchestrate_core::place::Place;
use orchestrate_core::process::Liveness;
use orchestrate_core::record::lock_owner::LockKind;
use orchestrate_core::words::count;
use orchestrate_core::world::World;
use orchestrate_tower::lock::{Standing, Taken, inspect};

use super::finding::{Finding, Looked, Mend, Weight};
use super::repair::Repair;
use super::surroundings::{Ground, Surroundings};

pub(super) fn look(surroundings: &Surroundings<'_>) -> Looked {
    let Some(ground) = surroundings.ground else {
        return Looked::nothing();
    };
    let mut held = Vec::new();
    let mut findings = Vec::new();
    for spec in ground.specs {
        match inspect(ground.world, spec, ground.stale_lock_minutes()) {
            Standing::Free => {}
            Standing::Strange(what) => findings.push(strange(&ground, spec, what)),
            Standing::Taken(taken) => match of_taken(&ground, spec, &taken) {
                Ok(holder) => held.push(holder),
                Err(finding) => findings.push(*finding),
            },
        }
    }
    let at = if held.is_empty() {
        count(findings.len(), "lock")
    } else {
        held.join("; ")
    };
    Looked::new(at, findings)
}

fn place(spec: &SpecId) -> String {
    Place::Lock(spec.clone()).to_string()
}

fn strange(ground: &Ground<'_>, spec: &SpecId, what: &str) -> Finding {
    let place = place(spec);
    let lock = Place::Lock(spec.clone());
    let command = if ground.layout().path(&lock).is_symlink() {
        format!("rm {place}")
    } else {
        ground.world.command_aside(&lock)
    };
    let problem = format!("{what}: no tower can take the lock");
    Finding::new(
        Weight::Fault,
        place,
        problem,
        Mend::provided("if nobody works on the bundle", command),
    )
}

/// Returns who holds the lock as it should be, or what is to be said of it.
fn of_taken(ground: &Ground<'_>, spec: &SpecId, taken: &Taken) -> Result<String, Box<Finding>> {
    let since = taken.since.ago_at(ground.now());
    let release = format!("orchestrate plumbing orchestrate-lock release specs/{spec}");
    let (holder, command) = match &taken.owner {
        Some(owner) if owner.kind == LockKind::Process => {
            (format!("the tower {}", owner.process), format!("rm -r {}", place(spec)))
        }
        Some(owner) => (format!("orchestrate-lock acquire ({})", owner.process), release),
        None => ("a tower that leaves no name, such as planwright's".to_owned(), release),
    };
    let is_of_a_process = taken
        .owner
        .as_ref()
        .is_some_and(|owner| owner.kind == LockKind::Process);
    let finding = |weight, problem, mend| Err(Box::new(Finding::new(weight, place(spec), problem, mend)));
    let Some(why) = &taken.kept else {
        let what = match taken.liveness {
            Observed::Known(Liveness::Dead) if is_of_a_process => format!("{holder} is dead and left it"),
            Observed::Known(_) | Observed::Absent(_) | Observed::Unknown(_) => {
                format!("{holder} took it {since}, and it counts as stale")
            }
        };
        let problem = format!("{what}; the next step breaks it");
        let repair = Repair::BreakLock(spec.clone(), ground.stale_lock_minutes());
        return finding(Weight::Note, problem, Mend::Fix(repair));
    };
    if is_of_a_process && taken.liveness == Observed::Known(Liveness::Alive) {
        return Ok(format!("specs/{spec} is held by {holder} since {since}"));
    }
    let is_future = ground.now().seconds_since(taken.since) < 0;
    let weight = if is_future || is_of_a_process {
        Weight::Warning
    } else {
        Weight::Note
    };
    let problem = format!("{holder} holds it: {why}");
    finding(
        weight,
        problem,
        Mend::provided("if nobody works on the bundle", command),
    )
}
