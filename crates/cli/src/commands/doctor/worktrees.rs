//! Worktrees of units that a person must do something about. What a step completes or cleans by itself is only noted.

use camino::Utf8Path;
use orchestrate_core::identifier::{SpecId, UnitName};
use orchestrate_core::observed::Observed;
use orchestrate_core::process::Liveness;
use orchestrate_core::words::count;
use orchestrate_core::world::{WorktreeFacts, World};
use orchestrate_host::repository::Registration;
use orchestrate_host::shell::word;
use orchestrate_host::{aside, retire};
use orchestrate_tower::gather;

use super::finding::{Finding, Looked, Mend, Weight};
use super::surroundings::{Ground, Surroundings};

/// So many directories are looked at.
const MOST_NAMES: usize = 1000;

pub(super) fn look(surroundings: &Surroundings<'_>) -> Looked {
    let Some(ground) = surroundings.ground else {
        return Looked::nothing();
    };
    let repository = ground.world.repository();
    let both = repository
        .registrations()
        .and_then(|registrations| Ok((registrations, repository.leftovers()?)));
    let (registrations, leftovers) = match both {
        Ok(both) => both,
        Err(fault) => return Looked::new("worktrees", vec![Finding::unseen(".git/worktrees", &fault)]),
    };
    let mut findings = Vec::new();
    let mut number = 0;
    for registration in &registrations {
        let name = unit_of(&ground, registration);
        let is_below = registration.path.starts_with(ground.layout().worktrees());
        if name.is_none() && !is_below {
            // A person's own.
            continue;
        }
        number += 1;
        findings.extend(of_registration(&ground, registration, name.as_ref()));
    }
    for left in leftovers {
        let problem = "a killed git left it; a unit of that name cannot get a worktree";
        let place = ground.layout().shown(&left);
        // Not by `git worktree prune`: it takes away each registration whose directory is away, as on another disk.
        let command = aside::command_into(ground.layout(), &left, &ground.layout().common);
        findings.push(Finding::new(Weight::Warning, place, problem, Mend::command(command)));
    }
    findings.extend(unregistered(&ground, &registrations));
    Looked::new(count(number, "worktree"), findings)
}

/// Returns the unit that a worktree belongs to, by its branch or its name.
fn unit_of(ground: &Ground<'_>, registration: &Registration) -> Option<UnitName> {
    let by_branch = registration
        .branch
        .as_deref()
        .and_then(|branch| UnitName::from_branch(branch).ok());
    let name = registration.git_directory.file_name().unwrap_or_default();
    let by_name = || ground.specs.iter().find_map(|spec| UnitName::from_worktree(spec, name));
    by_branch.or_else(by_name)
}

fn of_registration(ground: &Ground<'_>, registration: &Registration, name: Option<&UnitName>) -> Option<Finding> {
    let place = ground.layout().shown(&registration.path);
    if !registration.path.is_dir() && !registration.is_unfinished() {
        return missing(ground, registration, &place);
    }
    let name = name?;
    if registration.is_unfinished() {
        return unfinished(ground, name, place);
    }
    match ground.world.worktree(name) {
        Observed::Known(WorktreeFacts::Strayed { on, has_branch, .. }) => {
            Some(strayed(&place, name, on.as_deref(), has_branch))
        }
        Observed::Known(WorktreeFacts::BranchElsewhere { path }) => {
            let problem = format!(
                "{} is checked out here, so its unit cannot get a worktree",
                name.branch()
            );
            let directory = if path == "the primary checkout" {
                "."
            } else {
                path.as_str()
            };
            let command = format!("git -C {} switch --detach", word(directory));
            let mend = Mend::provided("if nobody works there", command);
            Some(Finding::new(Weight::Warning, path.clone(), problem, mend))
        }
        Observed::Known(WorktreeFacts::Ours(_)) if is_without_spec(&registration.path, name) => {
            let problem = "planwright made it: its name says no bundle, so that another bundle's task of that number \
                           cannot have one";
            let command = format!(
                "git worktree move {} .claude/worktrees/{}",
                word(&place),
                name.worktree()
            );
            let mend = Mend::provided("if nobody works in it", command);
            Some(Finding::new(Weight::Note, place, problem, mend))
        }
        Observed::Known(WorktreeFacts::Ours(_) | WorktreeFacts::Free | WorktreeFacts::Taken { .. })
        | Observed::Absent(_) => None,
        Observed::Unknown(why) => {
            let mend = Mend::of_hint(why.hint.as_deref().unwrap_or("git worktree repair"));
            Some(Finding::new(Weight::Warning, place, why.reason, mend))
        }
    }
}

fn is_without_spec(path: &Utf8Path, name: &UnitName) -> bool {
    path.file_name().is_some_and(|directory| directory != name.worktree())
}

/// A registration whose directory is not there: removed, or moved together with the repository.
fn missing(ground: &Ground<'_>, registration: &Registration, place: &str) -> Option<Finding> {
    let moved = registration
        .path
        .file_name()
        .map(|name| ground.layout().worktrees().join(name))
        .filter(|path| *path != registration.path && path.join(".git").is_file());
    if let Some(moved) = moved {
        let here = ground.layout().shown(&moved);
        let problem = format!("git believes that it lies at {}, and it lies here", registration.path);
        let command = format!("git worktree repair {}", word(&here));
        return Some(Finding::new(Weight::Warning, here, problem, Mend::command(command)));
    }
    // A person who locks a worktree says that its disk is away.
    if registration.locked.is_some() && !registration.is_locked_by_us() {
        return None;
    }
    let problem = "it is registered, and its directory is gone";
    let path = word(registration.path.as_str());
    let unlock = if registration.is_locked_by_us() {
        format!("git worktree unlock {path} && ")
    } else {
        String::new()
    };
    let command = format!("{unlock}git worktree remove {path}");
    let mend = Mend::provided("if it was removed on purpose", command);
    Some(Finding::new(Weight::Warning, place, problem, mend))
}

/// A checkout that was not completed, unless a tower is at it.
fn unfinished(ground: &Ground<'_>, name: &UnitName, place: String) -> Option<Finding> {
    if let Observed::Known(records) = gather::records(ground.world, &name.spec)
        && let Some(records) = records.get(&name.unit)
        && records.tower == Observed::Known(Liveness::Alive)
    {
        return None;
    }
    let problem = "its checkout was cut short; the step that goes on with the unit completes it";
    let mend = Mend::command(format!("orchestrate specs/{}", name.spec));
    Some(Finding::new(Weight::Note, place, problem, mend))
}

fn strayed(place: &str, name: &UnitName, on: Option<&str>, has_branch: bool) -> Finding {
    let git = format!("git -C {}", word(place));
    let (branch, unit) = (name.branch(), &name.unit);
    let on_what = on.map_or_else(|| "on a detached HEAD".to_owned(), |on| format!("on {on}"));
    let (provided, command) = match (on, has_branch) {
        (Some(_), true) => ("its commits stay where they are", format!("{git} switch {branch}")),
        (None, true) => (
            "keeps its commits as a branch",
            format!("{git} branch rescue-{unit} && {git} switch {branch}"),
        ),
        (Some(_) | None, false) => (
            "makes its branch of what is there",
            format!("{git} switch --create {branch}"),
        ),
    };
    let problem = format!("it is {on_what} and not on {branch}: commits may be there that no branch of the unit has");
    Finding::new(Weight::Warning, place, problem, Mend::provided(provided, command))
}

/// Directories where units' worktrees belong that are none.
fn unregistered(ground: &Ground<'_>, registrations: &[Registration]) -> Vec<Finding> {
    let below = ground.layout().worktrees();
    // Where there is no such directory no unit has a worktree.
    let Ok(entries) = below.read_dir_utf8() else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for entry in entries.take(MOST_NAMES).filter_map(Result::ok) {
        let path = entry.path();
        let is_registered = registrations
            .iter()
            .any(|one| one.path == path || one.git_directory.file_name() == path.file_name());
        // What is between its place and the bin is the next step's.
        if is_registered || is_empty(path) || retire::is_on_its_way(entry.file_name()) {
            continue;
        }
        let is_of_a_unit = |spec: &SpecId| UnitName::from_worktree(spec, entry.file_name()).is_some();
        let (weight, problem) = if ground.specs.iter().any(is_of_a_unit) {
            (
                Weight::Warning,
                "it is no worktree of this repository, and stands where a unit's belongs",
            )
        } else {
            (Weight::Note, "it is no worktree of this repository")
        };
        let place = ground.layout().shown(path);
        let command = aside::command_into(ground.layout(), path, &ground.layout().primary);
        findings.push(Finding::new(weight, place, problem, Mend::command(command)));
    }
    findings.sort_by(|left, right| left.place.cmp(&right.place));
    findings
}

fn is_empty(path: &Utf8Path) -> bool {
    path.read_dir_utf8().is_ok_and(|mut entries| entries.next().is_none())
}
