//! Other towers: those that run in this clone now, planwright's where one is installed.

use clap::Parser;
use orchestrate_core::observed::Observed;
use orchestrate_core::words::count;
use orchestrate_host::identity::{self, Running};
use orchestrate_host::repository;

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
            let towers: Vec<String> = running
                .iter()
                .take(MOST_PROCESSES)
                .filter(|one| is_in(&ground, one))
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

/// Returns whether a process was started in this clone, or in a worktree of it.
fn is_in(ground: &Ground<'_>, running: &Running) -> bool {
    let found = running
        .directory
        .as_ref()
        .and_then(|directory| repository::discover(directory).ok());
    found.is_some_and(|found| found.layout.common == ground.layout().common)
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
