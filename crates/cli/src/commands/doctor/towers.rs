//! Other towers: those that run in this clone now, planwright's where one is installed.

use camino::Utf8PathBuf;
use clap::Parser;
use orchestrate_core::observed::Observed;
use orchestrate_core::words::count;
use orchestrate_host::identity::{self, Running};

use super::finding::{Finding, Looked, Mend, Weight};
use super::surroundings::{Ground, Surroundings};
use crate::arguments::{Arguments, Command};

/// So many running programs are looked at.
const MOST_PROCESSES: usize = 200;

pub(super) fn look(surroundings: &Surroundings<'_>) -> Looked {
    let mut said = Vec::new();
    let mut findings = Vec::new();
    if let Some(installed) = surroundings
        .layers
        .installed_doctrine()
        .iter()
        .find(|directory| directory.is_dir())
    {
        let root = installed.parent().unwrap_or(installed);
        said.push(format!("planwright is installed at {root}"));
    }
    let Some(ground) = surroundings.ground else {
        said.push("not in a repository".to_owned());
        return Looked::new(said.join("; "), findings);
    };
    let program = surroundings.environment.program.file_name().unwrap_or("orchestrate");
    match identity::running(&["orchestrate", program]) {
        Observed::Known(running) => {
            let checkouts = checkouts(&ground);
            let towers: Vec<String> = running
                .iter()
                .take(MOST_PROCESSES)
                .filter(|one| is_in(&checkouts, one))
                .filter_map(tower)
                .collect();
            said.push(count(towers.len(), "running tower"));
            said.extend(towers);
        }
        Observed::Absent(why) | Observed::Unknown(why) => {
            let problem = format!("which towers run here cannot be told: {why}");
            let mend = Mend::ByHand("look for them with ps".to_owned());
            findings.push(Finding::new(Weight::Note, "processes", problem, mend));
        }
    }
    Looked::new(said.join("; "), findings)
}

/// Returns whether a process works in this clone, or in a worktree of it. Its directory is compared and never opened:
/// other repositories are none of our business, and may hold anything.
fn is_in(checkouts: &[Utf8PathBuf], running: &Running) -> bool {
    let directory = running.directory.as_ref();
    directory.is_some_and(|directory| checkouts.iter().any(|checkout| directory.starts_with(checkout)))
}

/// Returns where this clone is checked out.
fn checkouts(ground: &Ground<'_>) -> Vec<Utf8PathBuf> {
    // What cannot be listed is told of with the worktrees; towers work in the primary checkout nearly always.
    let registrations = ground.world.repository().registrations().unwrap_or_default();
    let mut checkouts: Vec<Utf8PathBuf> = registrations.into_iter().map(|one| one.path).collect();
    checkouts.push(ground.layout().primary.clone());
    checkouts
}

/// Returns the words for a process that steps, as its command line is understood by the program itself.
fn tower(running: &Running) -> Option<String> {
    let arguments = Arguments::try_parse_from(&running.arguments).ok()?;
    let spec = arguments.step.spec.as_deref().unwrap_or("the only bundle");
    let pid = running.pid;
    match arguments.command {
        None if arguments.step.watch => Some(format!("pid {pid} watches {spec}")),
        None => Some(format!("pid {pid} steps {spec}")),
        Some(Command::Demo { .. }) => Some(format!("pid {pid} plays the demo")),
        Some(_) => None,
    }
}
