//! The World of one machine: every observation looks, every effect acts.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::content::Content;
use orchestrate_core::evidence::{Base, History, Lease, Origin};
use orchestrate_core::fetch::{Fetch, FetchTerms};
use orchestrate_core::identifier::{BaseName, CommitId, Nonce, SpecId, TaskId, Unit, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::{BundleFile, Place};
use orchestrate_core::process::{Liveness, ProcessIdentity};
use orchestrate_core::pull_request::PullRequests;
use orchestrate_core::record::dispatch::{DispatchRecord, LaunchManner};
use orchestrate_core::record::fence::{self, Fence};
use orchestrate_core::time::{CommitTime, Timestamp};
use orchestrate_core::world::{
    Branches, Checkout, Fault, Pushed, Race, Reading, Retirement, Spawned, WorktreeFacts, World,
};

use crate::aside;
use crate::base::{self, BaseQuestion};
use crate::failpoint::reach;
use crate::fetch::{self, FetchState, FetchedClone};
use crate::forge::{self, ForgeSettings, ForgeStanding};
use crate::git;
use crate::history::Memory;
use crate::process::{self, DetachedStart, Handshake};
use crate::repository::{self, Repository};
use crate::window::Windows;
use crate::{
    branches, checkout, clock, content, files, identity, lease, library, obstacle, origin, promised, retire, worktree,
};

/// How long a worker runner may take to say that it holds the lease.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// What the World is told of its surroundings, read once by the command line.
#[derive(Debug, Clone, Default)]
pub struct WorldSettings {
    /// `PLANWRIGHT_BASE_REF`.
    pub base: Option<String>,
    /// `PLANWRIGHT_DISPATCH_FETCH_STATE_DIR`.
    pub fetch_directory: Option<Utf8PathBuf>,
    /// `PLANWRIGHT_ORCH_STATE_DIR`.
    pub marker_directory: Option<Utf8PathBuf>,
    /// What tells whether a forge could be asked.
    pub forge: ForgeSettings,
    /// This program, to start worker runners with.
    pub program: Utf8PathBuf,
    /// The git program, by an absolute path, so that no directory of a repository can supply one; none where there is
    /// none.
    pub git: Option<Utf8PathBuf>,
}

/// The real World.
pub struct RealWorld {
    repository: Repository,
    settings: WorldSettings,
    identity: ProcessIdentity,
    windows: Windows,
    memory: Memory,
}

impl Drop for RealWorld {
    /// Keeps what was compared, now that nobody waits for it and no lock is held.
    fn drop(&mut self) {
        self.memory.keep(&self.repository.layout);
    }
}

impl RealWorld {
    /// Opens the World around a directory.
    ///
    /// # Errors
    /// When there is no repository that can be used, or this process cannot be identified.
    pub fn open(start: &Utf8Path, settings: WorldSettings) -> Result<Self, Fault> {
        library::set_up();
        let mut repository = repository::discover(start)?;
        repository.layout.marker_override.clone_from(&settings.marker_directory);
        Ok(Self {
            repository,
            settings,
            identity: identity::current()?,
            windows: Windows::default(),
            memory: Memory::default(),
        })
    }

    /// Returns the repository.
    #[must_use]
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Returns the git program.
    #[must_use]
    pub fn git(&self) -> Option<&Utf8Path> {
        self.settings.git.as_deref()
    }

    /// Fetches origin, unless that was done a moment ago, with the stamp of the checkout at `top`: the primary one, or a
    /// linked worktree of it.
    pub fn fetch_for(&self, top: &Utf8Path, terms: &FetchTerms) -> Fetch {
        fetch::fetch(&self.clone_at(top), terms)
    }

    /// Returns what is known of the fetches of this clone, without asking origin.
    #[must_use]
    pub fn fetch_state(&self) -> FetchState {
        fetch::state(&self.clone_at(&self.repository.layout.primary))
    }

    /// Returns whether there is a forge to ask for pull requests, without asking it.
    #[must_use]
    pub fn forge(&self) -> ForgeStanding {
        forge::standing(&self.repository, &self.settings.forge)
    }

    /// Returns what lies in the way of a bundle's task branches among git's own files.
    ///
    /// # Errors
    /// With what lies in the way of all of them, or cannot be looked at.
    pub fn obstacles(&self, spec: &SpecId) -> Result<BTreeMap<Unit, Why>, Why> {
        Ok(obstacle::find(&self.repository.git, spec)?.by_unit)
    }

    fn clone_at<'a>(&'a self, top: &'a Utf8Path) -> FetchedClone<'a> {
        FetchedClone {
            git: &self.repository.git,
            layout: &self.repository.layout,
            top,
            state_directory: self.settings.fetch_directory.as_deref(),
            program: self.settings.git.as_deref(),
        }
    }

    fn runner_arguments(record: &DispatchRecord) -> Vec<String> {
        let words = ["plumbing", "run-worker", record.spec.as_str()];
        let mut arguments: Vec<String> = words.into_iter().map(str::to_owned).collect();
        arguments.extend([
            record.unit.to_string(),
            "--attempt".to_owned(),
            record.attempt.to_string(),
        ]);
        arguments
    }
}

impl World for RealWorld {
    fn now(&self) -> Timestamp {
        clock::now()
    }

    fn identity(&self) -> ProcessIdentity {
        self.identity.clone()
    }

    fn nonce(&mut self) -> Result<Nonce, Fault> {
        nonce()
    }

    fn liveness(&self, process: &ProcessIdentity) -> Observed<Liveness> {
        identity::liveness(process)
    }

    fn read(&self, place: &Place) -> Reading {
        files::read(&self.repository.layout, place)
    }

    fn list(&self, place: &Place) -> Observed<Vec<String>> {
        files::list(&self.repository.layout, place)
    }

    fn command_aside(&self, place: &Place) -> String {
        let layout = &self.repository.layout;
        aside::command(layout, &layout.path(place))
    }

    fn base(&self, configured: Option<&BaseName>) -> Result<Base, Fault> {
        let remote_head = || fetch::kept_head(&self.repository.layout);
        let question = BaseQuestion {
            environment: self.settings.base.as_deref(),
            configured,
            remote_head: &remote_head,
        };
        base::resolve_base(&self.repository.git, &question)
    }

    fn history(&self, spec: &SpecId, base: &Base) -> Observed<History> {
        git::history(&self.repository, &self.memory, spec, base)
    }

    fn branches(&self, spec: &SpecId, base: &Base, starts: &BTreeMap<Unit, CommitId>) -> Observed<Branches> {
        branches::branches(&self.repository, &self.memory, spec, base, starts)
    }

    fn pull_requests(&self, spec: &SpecId, units: &BTreeSet<Unit>) -> Observed<PullRequests> {
        forge::pull_requests(&self.repository, &self.settings.forge, (spec, units), self.now())
    }

    fn commit_times(&self, commits: &BTreeSet<CommitId>) -> BTreeMap<CommitId, CommitTime> {
        git::commit_times(&self.repository.git, commits)
    }

    fn content(&self, tip: &CommitId, base: &Base) -> Observed<Content> {
        content::compare(&self.repository, &self.memory, tip, base)
    }

    fn contains(&self, descendant: &CommitId, ancestor: &CommitId) -> Observed<bool> {
        git::contains(&self.repository.git, descendant, ancestor)
    }

    fn committed(&self, commit: &CommitId, spec: &SpecId, file: BundleFile) -> Observed<Vec<u8>> {
        let repository = &self.repository;
        let found = git::committed(&repository.git, commit, spec, file);
        match (found, &self.settings.git) {
            (Observed::Unknown(why), Some(program)) if promised::is_partial(&repository.git) => {
                git::committed_at_origin(
                    &repository.git,
                    (program, &repository.layout.primary),
                    commit,
                    spec,
                    file,
                )
                .unwrap_or(Observed::Unknown(why))
            }
            (found, _) => found,
        }
    }

    fn worktree(&self, name: &UnitName) -> Observed<WorktreeFacts> {
        worktree::facts(&self.repository, name)
    }

    fn leases(&self, spec: &SpecId) -> Observed<BTreeMap<Unit, Observed<Lease>>> {
        let registrations = match self.repository.registrations() {
            Ok(registrations) => registrations,
            Err(fault) => return Observed::Unknown(Why::new(fault.to_string())),
        };
        let mut leases: BTreeMap<Unit, Observed<Lease>> = BTreeMap::new();
        for registration in registrations {
            // A worker may leave its branch, and a person may check it out elsewhere: the lease stays where it was taken.
            let by_branch = registration
                .branch
                .as_deref()
                .and_then(|branch| UnitName::from_branch(branch).ok());
            let by_name = UnitName::from_worktree(spec, registration.git_directory.file_name().unwrap_or_default());
            for name in [by_branch, by_name]
                .into_iter()
                .flatten()
                .filter(|name| name.spec == *spec)
            {
                let probed = lease::probe(&lease::path(&registration.git_directory));
                leases
                    .entry(name.unit)
                    .and_modify(|known| *known = stronger(known.clone(), probed.clone()))
                    .or_insert(probed);
            }
        }
        Observed::Known(leases)
    }

    fn occupants(&self, name: &UnitName) -> Observed<Vec<String>> {
        match self.repository.registration(name) {
            Ok(Some(registration)) => identity::occupants(&registration.path),
            Ok(None) => Observed::Absent(Why::new("it has no worktree")),
            Err(fault) => Observed::Unknown(Why::new(fault.to_string())),
        }
    }

    fn retirement(&self, name: &UnitName, tip: &CommitId) -> Observed<Retirement> {
        retire::retirement(&self.repository, self.git(), name, tip)
    }

    fn fetch(&mut self, terms: &FetchTerms) -> Fetch {
        self.fetch_for(&self.repository.layout.primary, terms)
    }

    fn clone_id(&self) -> Nonce {
        origin::clone_id(&self.repository.layout.common)
    }

    fn origin(&self, spec: &SpecId, base: &Base) -> Observed<Origin> {
        origin::ask(&self.repository, self.settings.git.as_deref(), spec, base)
    }

    fn enter_window(&mut self, spec: &SpecId) -> Result<Race, Fault> {
        self.windows.enter(&self.repository.layout, spec)
    }

    fn leave_window(&mut self, spec: &SpecId) {
        self.windows.leave(spec);
    }

    fn create_directory(&mut self, place: &Place) -> Result<(), Fault> {
        files::create_directory(&self.repository.layout, place)
    }

    fn write(&mut self, place: &Place, bytes: &[u8]) -> Result<(), Fault> {
        files::write(&self.repository.layout, place, bytes)
    }

    fn replace(&mut self, place: &Place, expected: &[u8], bytes: &[u8]) -> Result<Race, Fault> {
        files::replace_read(&self.repository.layout, place, expected, bytes)
    }

    fn publish(&mut self, from: &Place, to: &Place) -> Result<Race, Fault> {
        files::publish(&self.repository.layout, from, to)
    }

    fn remove(&mut self, place: &Place) -> Result<(), Fault> {
        files::remove(&self.repository.layout, place)
    }

    fn touch(&mut self, place: &Place) -> Result<(), Fault> {
        files::touch(&self.repository.layout, place)
    }

    fn create_fence(&mut self, fence: &Fence) -> Result<CommitId, Fault> {
        reach("create-fence.before");
        let commit = origin::create(&self.repository, fence)?;
        reach("create-fence.after");
        Ok(commit)
    }

    fn push_fences(
        &mut self,
        spec: &SpecId,
        fences: &BTreeMap<TaskId, CommitId>,
    ) -> Result<BTreeMap<TaskId, Pushed>, Fault> {
        reach("push-fences.before");
        let by_reference = fences
            .iter()
            .map(|(task, commit)| (fence::reference(spec, task), commit.clone()))
            .collect();
        let pushed = origin::push(&self.repository, self.settings.git.as_deref(), &by_reference);
        reach("push-fences.after");
        let named = |(reference, answer): (String, Pushed)| Some((fence::task_of(spec, &reference)?, answer));
        Ok(pushed?.into_iter().filter_map(named).collect())
    }

    fn delete_fence(&mut self, spec: &SpecId, task: &TaskId, fence: &CommitId) -> Result<(), Fault> {
        reach("delete-fence.before");
        let fences = BTreeMap::from([(fence::reference(spec, task), fence.clone())]);
        origin::delete(&self.repository, self.settings.git.as_deref(), &fences)?;
        reach("delete-fence.after");
        Ok(())
    }

    fn create_branch(&mut self, name: &UnitName, at: &CommitId) -> Result<Race, Fault> {
        reach("create-branch.before");
        let race = git::create_branch(&self.repository.git, name, at)?;
        reach("create-branch.after");
        Ok(race)
    }

    fn advance_branch(&mut self, name: &UnitName, from: &CommitId, to: &CommitId) -> Result<Race, Fault> {
        reach("advance-branch.before");
        let race = git::advance_branch(&self.repository.git, name, from, to)?;
        reach("advance-branch.after");
        Ok(race)
    }

    fn register_worktree(&mut self, name: &UnitName) -> Result<Race, Fault> {
        worktree::register(&self.repository, name, &nonce()?)
    }

    fn retire_worktree(&mut self, name: &UnitName, tip: &CommitId) -> Result<Retirement, Fault> {
        retire::retire(&self.repository, self.git(), name, tip, &nonce()?)
    }

    fn clear_retired(&mut self) -> Result<(), Fault> {
        retire::clear(&self.repository)
    }

    fn checkout(&mut self, name: &UnitName) -> Result<Checkout, Fault> {
        match &self.settings.git {
            Some(git) => checkout::checkout(&self.repository, git, name),
            None => Err(
                Fault::new("cannot check out a worktree", "git is not on the search path")
                    .with_hint("install git, or add its directory to PATH by an absolute path"),
            ),
        }
    }

    fn spawn(&mut self, record: &DispatchRecord) -> Result<Spawned, Fault> {
        reach("spawn.before");
        let arguments = Self::runner_arguments(record);
        let (program, directory) = (&self.settings.program, &self.repository.layout.primary);
        let spawned = match record.launch.manner {
            LaunchManner::Foreground => {
                let status = process::run_foreground(program, &arguments, directory)?;
                Spawned::Ended {
                    status: process::describe_end(status),
                }
            }
            LaunchManner::Background | LaunchManner::Printed => {
                let log = self.repository.layout.log(&record.name());
                let start = DetachedStart {
                    program,
                    arguments: &arguments,
                    directory,
                    log: &log,
                    timeout: START_TIMEOUT,
                };
                match process::spawn_detached(&start)? {
                    Handshake::Started { pid } => Spawned::Started { pid },
                    Handshake::Refused { why } => Spawned::Refused { why },
                }
            }
        };
        reach("spawn.after");
        Ok(spawned)
    }
}

/// Of two leases of one unit, a held one says more than one that cannot be read, and that more than a free one.
fn stronger(left: Observed<Lease>, right: Observed<Lease>) -> Observed<Lease> {
    match (left, right) {
        (held @ Observed::Known(Lease::Held { .. }), _) | (_, held @ Observed::Known(Lease::Held { .. })) => held,
        (unknown @ Observed::Unknown(_), _) | (_, unknown @ Observed::Unknown(_)) => unknown,
        (left, _) => left,
    }
}

fn nonce() -> Result<Nonce, Fault> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| Fault::new("cannot make a token", error.to_string()))?;
    Ok(Nonce::from_bytes(bytes))
}
