//! Everything a round happens in: one repository, or several clones of one origin.
//!
//! With several hosts, two clones more: `desk`, where the person merges, and `peers`, where towers of the reference's
//! kind work.

use std::path::{Path, PathBuf};

use crate::failure::{Context, Result};
use crate::repository::bundle;

use super::journal::Journal;
use super::origin::Origin;
use super::place::{Place, SPEC, copy_tree, make_directory, write};
use super::plan::Plan;
use super::processes::Processes;

/// Which worker a round's units get.
#[derive(Clone, Copy)]
pub(super) struct Worker<'a> {
    /// This program.
    pub(super) program: &'a Path,
    pub(super) seed: u64,
    pub(super) round: u64,
}

impl Worker<'_> {
    /// Returns the command that every backend of the round starts.
    pub(super) fn command(&self, folder: &Path) -> [String; 5] {
        [
            self.program.display().to_string(),
            "torture-worker".to_owned(),
            folder.display().to_string(),
            self.seed.to_string(),
            self.round.to_string(),
        ]
    }
}

/// A round's repositories.
pub(super) struct Scene {
    /// The round's folder.
    pub(super) folder: PathBuf,
    pub(super) journal: Journal,
    pub(super) processes: Processes,
    /// Where our towers run.
    pub(super) hosts: Vec<Place>,
    /// What several hosts share.
    pub(super) shared: Option<Shared>,
}

/// What several hosts share.
pub(super) struct Shared {
    pub(super) origin: Origin,
    /// Where the person merges.
    pub(super) desk: Place,
    /// Where towers of the reference's kind work.
    pub(super) peers: Place,
}

impl Scene {
    /// Makes a round's repositories: copies of the template with a signed bundle and the settings of this machine.
    pub(super) fn make(first: Place, template: &Place, hosts: usize, plan: &Plan, worker: Worker<'_>) -> Result<Self> {
        for folder in ["live", "output"] {
            make_directory(&first.folder.join(folder))?;
        }
        make_directory(&first.home())?;
        copy_tree(&template.repository, &first.repository)?;
        let dependency = |task: usize| plan.dependency_text(task);
        for (path, text) in bundle::files(SPEC, plan.tasks(), dependency)? {
            write(&first.repository.join(path), &text)?;
        }
        write(&first.repository.join(".gitignore"), ".claude/planwright.local.yml\n")?;
        first.git(&["add", "--all"])?;
        first.git(&["commit", "--quiet", "-m", "docs: the signed bundle"])?;
        let origin = if hosts > 1 { Some(Origin::of(&first)?) } else { None };
        set_up(&first, plan, worker)?;
        let another = |name: &str| -> Result<Place> {
            let place = Place::new(&first.folder, name, &first.binary, &first.processes);
            make_directory(&place.home())?;
            copy_tree(&first.repository, &place.repository)?;
            Ok(place)
        };
        let shared = match origin {
            Some(origin) => Some(Shared {
                origin,
                desk: another("desk")?,
                peers: another("peers")?,
            }),
            None => None,
        };
        let others: Vec<Place> = (1..hosts).map(|number| another(&host(number))).collect::<Result<_>>()?;
        Ok(Self {
            folder: first.folder.clone(),
            journal: first.journal.clone(),
            processes: first.processes.clone(),
            hosts: [vec![first], others].concat(),
            shared,
        })
    }

    /// Returns a host; numbers go round.
    pub(super) fn host(&self, number: u64) -> &Place {
        let index = usize::try_from(number).unwrap_or(0) % self.hosts.len();
        &self.hosts[index]
    }

    /// Returns every checkout.
    pub(super) fn places(&self) -> impl Iterator<Item = &Place> {
        let shared = self.shared.iter().flat_map(|shared| [&shared.desk, &shared.peers]);
        self.hosts.iter().chain(shared)
    }

    /// Returns every checkout in which towers of any kind run.
    pub(super) fn working_places(&self) -> impl Iterator<Item = &Place> {
        self.hosts.iter().chain(self.shared.iter().map(|shared| &shared.peers))
    }

    /// Returns where the person merges.
    pub(super) fn desk(&self) -> &Place {
        self.shared.as_ref().map_or(&self.hosts[0], |shared| &shared.desk)
    }

    /// Runs git where everybody's refs meet: in the origin, or in the only repository.
    pub(super) fn git_at_origin(&self, arguments: &[&str]) -> Result<String> {
        match &self.shared {
            Some(shared) => {
                let there = shared.origin.path().to_string_lossy();
                shared.desk.git(&[&["--git-dir", &there], arguments].concat())
            }
            None => self.desk().git(arguments),
        }
    }

    /// Returns the commit that everybody's main is at.
    pub(super) fn main(&self) -> Result<String> {
        self.git_at_origin(&["rev-parse", "--verify", "refs/heads/main"])
    }
}

/// Returns the name of a host.
pub(super) fn host(number: usize) -> String {
    format!("host-{number}")
}

/// Makes the repository that each round copies: so many files, packed, without a bundle. A checkout of them takes long
/// enough to be interrupted; that of the one in the middle goes through the filter that may kill.
pub(super) fn make_template(place: &Place, files: u64) -> Result<()> {
    make_directory(&place.repository.join("files"))?;
    make_directory(&place.home())?;
    place.git(&["init", "--quiet", "--template=", "--initial-branch=main"])?;
    for setting in ["gc.auto=0", "maintenance.auto=false", "core.fsync=none"] {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        place.git(&["config", "--local", key, value])?;
    }
    write(
        &place.repository.join(".gitattributes"),
        &format!("files/{}.txt filter=torture\n", files / 2),
    )?;
    for number in 0..files {
        let text = format!("line of file {number}\n").repeat(40);
        write(&place.repository.join(format!("files/{number}.txt")), &text)?;
        if number % 60 == 59 {
            place.git(&["add", "--all"])?;
            place.git(&["commit", "--quiet", "-m", "chore: more files"])?;
        }
    }
    place.git(&["repack", "-a", "-d", "--quiet"])?;
    place.git(&["pack-refs", "--all"]).map(drop)
}

/// Gives a checkout its filter and its settings.
fn set_up(place: &Place, plan: &Plan, worker: Worker<'_>) -> Result<()> {
    let filter = format!(
        "'{}' torture-filter '{}'",
        worker.program.display(),
        place.folder.display()
    );
    place.git(&["config", "--local", "filter.torture.smudge", &filter])?;
    let words = serde_json::to_string(&worker.command(&place.folder));
    let words = words.context(|| "cannot name the worker".to_owned())?;
    let Plan { cap, fetched_for, .. } = plan;
    write(
        &place.repository.join(".claude/planwright.local.yml"),
        &format!(
            "dispatch_backend: command\ncommand_backend: {words}\nbase_branch: main\nmax_parallel_units: {cap}\n\
             dispatch_fetch_ttl: {fetched_for}m\nwatch_interval_seconds: 1\n"
        ),
    )
}
