//! Workers: held leases, leases that cannot be read, and processes in worktrees whose lease nobody holds.

use camino::Utf8Path;
use orchestrate_core::evidence::Lease;
use orchestrate_core::observed::Observed;
use orchestrate_core::words::count;
use orchestrate_host::repository::Registration;
use orchestrate_host::{aside, identity, lease};

use super::finding::{Finding, Looked, Mend, Weight};
use super::surroundings::{Ground, Surroundings};

pub(super) fn look(surroundings: &Surroundings<'_>) -> Looked {
    let Some(ground) = surroundings.ground else {
        return Looked::nothing();
    };
    let registrations = match ground.world.repository().registrations() {
        Ok(registrations) => registrations,
        Err(fault) => return Looked::new("leases", vec![Finding::unseen(".git/worktrees", &fault)]),
    };
    let (mut held, mut findings) = (Vec::new(), Vec::new());
    let mut unheld: Vec<&Registration> = Vec::new();
    for registration in &registrations {
        let path = lease::path(&registration.git_directory);
        match lease::probe(&path) {
            Observed::Known(Lease::Held { holder, .. }) => held.push(format!(
                "a worker in {} ({holder})",
                registration.path.file_name().unwrap_or_default()
            )),
            Observed::Known(Lease::Free) => unheld.push(registration),
            Observed::Absent(why) | Observed::Unknown(why) => {
                let command = aside::command(ground.layout(), &path);
                let mend = Mend::provided("if no worker lives there", command);
                let problem = format!("whether a worker lives cannot be told: {why}");
                findings.push(Finding::new(
                    Weight::Warning,
                    ground.layout().shown(&path),
                    problem,
                    mend,
                ));
            }
        }
    }
    findings.extend(occupied(&ground, &unheld));
    findings.extend(in_place_of_logs(&ground));
    let at = if held.is_empty() {
        count(0, "worker")
    } else {
        held.join("; ")
    };
    Looked::new(at, findings)
}

/// What is no file where workers write: a unit whose log cannot be written is not dispatched.
fn in_place_of_logs(ground: &Ground<'_>) -> Vec<Finding> {
    let directory = ground.layout().logs();
    let in_the_way = |path: &Utf8Path| {
        let mend = Mend::command(aside::command(ground.layout(), path));
        let problem = "it stands in the place of what workers write";
        Finding::new(Weight::Fault, ground.layout().shown(path), problem, mend)
    };
    match directory.symlink_metadata() {
        Ok(found) if !found.is_dir() => return vec![in_the_way(&directory)],
        Ok(_) => {}
        // Nothing has been written yet.
        Err(_) => return Vec::new(),
    }
    let Ok(entries) = directory.read_dir_utf8() else {
        return Vec::new();
    };
    let is_log = |name: &str| Utf8Path::new(name).extension() == Some("log");
    let entries = entries.filter_map(Result::ok);
    let mut found: Vec<Finding> = entries
        .filter(|entry| is_log(entry.file_name()) && entry.file_type().is_ok_and(|kind| !kind.is_file()))
        .map(|entry| in_the_way(entry.path()))
        .collect();
    found.sort_by(|left, right| left.place.cmp(&right.place));
    found
}

/// A process in a worktree that no worker holds: the unit is held until it ends, and nobody may know of it.
fn occupied(ground: &Ground<'_>, unheld: &[&Registration]) -> Vec<Finding> {
    let below = ground.layout().worktrees();
    // All at once first: there is seldom anybody.
    match identity::processes_in(&below) {
        Observed::Known(processes) if processes.is_empty() => return Vec::new(),
        Observed::Known(_) => {}
        Observed::Absent(_) => return Vec::new(),
        Observed::Unknown(why) => {
            let problem = format!("who works there cannot be told: {why}");
            let mend = Mend::ByHand("run it as the user whose workers these are, on the machine itself".to_owned());
            return vec![Finding::new(Weight::Warning, ".claude/worktrees", problem, mend)];
        }
    }
    // Whoever started this process is at work here, and knows it.
    let mut own = identity::ancestors().unwrap_or_default();
    own.push(std::process::id());
    let mut findings = Vec::new();
    for registration in unheld.iter().filter(|one| one.path.starts_with(&below)) {
        let Observed::Known(processes) = identity::processes_in(&registration.path) else {
            continue;
        };
        for process in processes.into_iter().filter(|process| !own.contains(&process.pid)) {
            let problem = format!("{process} works in it and holds no lease: the unit is held until it ends");
            let mend = Mend::provided("if nobody needs it", format!("kill {}", process.pid));
            let place = ground.layout().shown(&registration.path);
            findings.push(Finding::new(Weight::Warning, place, problem, mend));
        }
    }
    findings
}
