//! Everything that can stand against a start, asked before anything is written.

use camino::Utf8Path;
use orchestrate_core::identifier::{Nonce, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::Place;
use orchestrate_core::record::dispatch::{DispatchRecord, LaunchManner};
use orchestrate_core::world::Fault;
use orchestrate_host::failpoint::reach;
use orchestrate_host::layout::Layout;
use orchestrate_host::lease::{self, LeaseHold, LeaseHolder};
use orchestrate_host::repository::{self, Registration, Repository};
use orchestrate_host::{clock, identity};

use super::{RunRequest, read_launch, read_record};
use crate::guard::launch_guard;

/// A start that nothing stands against, and the lease that keeps it so.
pub(super) struct Admitted {
    pub(super) layout: Layout,
    pub(super) registration: Registration,
    pub(super) record: DispatchRecord,
    /// Held until this process has ended; the client inherits it.
    _lease: LeaseHold,
}

/// Returns the admitted start, or why it is refused.
pub(super) fn admit(request: &RunRequest) -> Result<Result<Admitted, Why>, Fault> {
    let repository = repository::discover(&request.directory)?;
    let registration = match registered(&repository, &request.name)? {
        Ok(registration) => registration,
        Err(why) => return Ok(Err(why)),
    };
    let Some(mut lease) = lease::take(&lease::path(&registration.git_directory))? else {
        return Ok(Err(busy(&registration)));
    };
    reach("worker.leased");
    // What was read before the lease was a guess.
    let registration = match registered(&repository, &request.name)? {
        Ok(again) if again.git_directory == registration.git_directory => again,
        Ok(_) => {
            return Ok(Err(Why::new(
                "the unit's worktree was replaced while its lease was taken",
            )));
        }
        Err(why) => return Ok(Err(why)),
    };
    let record = match current_record(&repository.layout, &request.name, request.attempt.as_ref()) {
        Ok(record) => record,
        Err(why) => return Ok(Err(why)),
    };
    if let Err(why) = not_started_before(&repository.layout, &record)
        .and_then(|()| is_at_its_start(&repository, &record))
        .and_then(|()| may_be_launched(&record))
        .and_then(|()| nobody_inside(&registration.path, record.launch.manner))
    {
        return Ok(Err(why));
    }
    lease.describe(&LeaseHolder {
        pid: std::process::id(),
        runner: identity::current().ok(),
        started: clock::now(),
        attempt: record.attempt.clone(),
    })?;
    Ok(Ok(Admitted {
        layout: repository.layout,
        registration,
        record,
        _lease: lease,
    }))
}

/// Returns the worktree registered for exactly the unit's branch, if a worker may work there.
fn registered(repository: &Repository, name: &UnitName) -> Result<Result<Registration, Why>, Fault> {
    let Some(registration) = repository.registration(name)? else {
        return Ok(Err(Why::new(format!(
            "no worktree is registered for {}",
            name.branch()
        ))
        .with_hint(format!("step {} again", name.spec))));
    };
    if registration.path == repository.layout.primary || registration.git_directory == repository.layout.common {
        return Ok(Err(Why::new(format!(
            "{} is checked out in the primary checkout",
            name.branch()
        ))));
    }
    if !registration.path.is_dir() {
        return Ok(Err(Why::new(format!(
            "the worktree {} is not there",
            registration.path
        ))));
    }
    if !registration.has_index {
        return Ok(Err(Why::new(format!(
            "the checkout of {} is not complete",
            registration.path
        ))
        .with_hint(format!("step {} again", name.spec))));
    }
    // The directory must also say that it is this worktree: another repository may have been put in its place.
    match repository::discover(&registration.path) {
        Ok(found) if is_worktree_of(&found, &registration) => Ok(Ok(registration)),
        Ok(_) => Ok(Err(Why::new(format!(
            "{} is not the worktree that git has registered there",
            registration.path
        )))),
        Err(fault) => Ok(Err(Why::new(fault.to_string()))),
    }
}

fn is_worktree_of(found: &Repository, registration: &Registration) -> bool {
    let git_directory = Utf8Path::from_path(found.git.path()).and_then(|path| path.canonicalize_utf8().ok());
    git_directory.is_some() && git_directory == registration.git_directory.canonicalize_utf8().ok()
}

fn busy(registration: &Registration) -> Why {
    use orchestrate_core::evidence::Lease;
    let holder = match lease::probe(&lease::path(&registration.git_directory)) {
        Observed::Known(Lease::Held { holder, .. }) => holder,
        Observed::Known(Lease::Free) | Observed::Absent(_) | Observed::Unknown(_) => "a worker".to_owned(),
    };
    Why::new(format!("a worker holds the lease of {} ({holder})", registration.path))
        .with_hint("let it end, or stop it; a unit has one worker")
}

/// Returns the dispatch record, if it is of the attempt that is meant.
fn current_record(layout: &Layout, name: &UnitName, attempt: Option<&Nonce>) -> Result<DispatchRecord, Why> {
    let place = Place::DispatchRecord(name.clone());
    let bytes = read_record(layout, &place)?.ok_or_else(|| {
        Why::new(format!("{name} is not dispatched: there is no {place}"))
            .with_hint(format!("step {} again: it writes a new record", name.spec))
    })?;
    let record = DispatchRecord::parse(&bytes).map_err(|error| Why::new(format!("{place}: {error}")))?;
    if record.name() != *name {
        return Err(Why::new(format!("{place} is the record of {}", record.name())));
    }
    match attempt {
        Some(attempt) if *attempt != record.attempt => Err(Why::new(
            "this attempt is superseded: the unit was dispatched again since",
        )),
        Some(_) | None if record.given_up => Err(Why::new("its tower has given this attempt up before the launch")
            .with_hint(format!("step {} again: it writes a new record", name.spec))),
        Some(_) | None => Ok(record),
    }
}

fn not_started_before(layout: &Layout, record: &DispatchRecord) -> Result<(), Why> {
    let launch = read_launch(layout, &Place::LaunchRecord(record.name()))?;
    match launch.filter(|launch| launch.attempt == record.attempt) {
        Some(launch) if launch.runner.is_some() => {
            let how = launch
                .ended
                .map_or_else(|| "its end was not recorded".to_owned(), |end| end.status);
            let tasks: Vec<String> = record.unit.tasks().map(ToString::to_string).collect();
            Err(Why::new(format!("this attempt was started at {} already ({how})", launch.launched)).with_hint(format!(
                "look at the worker's log; orchestrate plumbing orchestrate-marker clear specs/{} {} lets the unit be dispatched again",
                record.spec,
                tasks.join(" ")
            )))
        }
        Some(_) | None => Ok(()),
    }
}

/// Refuses when the branch is not where the dispatch recorded it: somebody has worked on the unit since, or has given
/// the branch up.
fn is_at_its_start(repository: &Repository, record: &DispatchRecord) -> Result<(), Why> {
    let name = record.name();
    let tip = repository
        .git
        .find_reference(&name.reference())
        .and_then(|found| found.peel_to_commit());
    match tip {
        Ok(tip) if tip.id().to_string() == record.start.as_str() => Ok(()),
        Ok(tip) => Err(Why::new(format!(
            "{} is at {}, and the dispatch recorded {}",
            name.branch(),
            tip.id().to_string().get(..7).unwrap_or_default(),
            record.start.short()
        ))
        .with_hint(format!("step {} again", record.spec))),
        Err(error) => Err(Why::new(format!("cannot read {}: {}", name.branch(), error.message()))),
    }
}

/// Judges the very arguments that will be started, with the settings as they are now.
fn may_be_launched(record: &DispatchRecord) -> Result<(), Why> {
    let argv = &record.launch.argv;
    if argv.is_empty() {
        return Err(
            Why::new("the dispatch names no program, because no agent was installed").with_hint(
                "give the text of the prompt file to an agent in the worktree, or configure a backend and step again",
            ),
        );
    }
    if !argv.first().is_some_and(|program| program.starts_with('/')) {
        return Err(Why::new("the dispatch record names its program by a relative path"));
    }
    launch_guard(argv, &|file| std::fs::read_to_string(file).ok())
}

/// Refuses while a process works in the worktree: what a killed worker left does not hold its lease.
///
/// Where a person starts the worker, the shell that they typed in, and whatever started that, is not in the way.
fn nobody_inside(worktree: &Utf8Path, manner: LaunchManner) -> Result<(), Why> {
    let mut ours = vec![std::process::id()];
    match manner {
        LaunchManner::Background => {}
        LaunchManner::Foreground | LaunchManner::Printed => {
            ours.extend(identity::ancestors().map_err(|fault| Why::new(fault.to_string()))?);
        }
    }
    let found = match identity::processes_in(worktree) {
        Observed::Known(found) => found,
        Observed::Absent(_) => Vec::new(),
        Observed::Unknown(why) => return Err(Why::new(format!("cannot tell who works in {worktree}: {why}"))),
    };
    let others: Vec<String> = found
        .iter()
        .filter(|process| !ours.contains(&process.pid))
        .map(ToString::to_string)
        .collect();
    if others.is_empty() {
        return Ok(());
    }
    Err(
        Why::new(format!("processes still run in {worktree}: {}", others.join(", ")))
            .with_hint("let them end, or end them"),
    )
}
