//! A person's clone, its origin, and the World that looks at it.

use camino::{Utf8Path, Utf8PathBuf};
use git2::{FetchOptions, FetchPrune, Oid};
use orchestrate_core::identifier::UnitName;
use orchestrate_host::world::{RealWorld, WorldSettings};
use tempfile::TempDir;

use super::depot::{Clock, Depot};

/// A clone in a directory of its own, removed with it.
pub struct History {
    // Removed when the history is dropped.
    _directory: TempDir,
    root: Utf8PathBuf,
    /// The person's clone.
    pub here: Depot,
    origin: Option<Depot>,
    clock: Clock,
    base: String,
}

impl History {
    /// Makes a repository with one commit on a branch of that short name.
    ///
    /// # Panics
    /// When the machine refuses.
    #[must_use]
    pub fn new(base: &str) -> Self {
        let directory = temporary_directory();
        let root = Utf8Path::from_path(directory.path())
            .expect("its path is UTF-8")
            .to_path_buf();
        let clock = Clock::default();
        let here = Depot::create(&root.join("here"), base, false, &clock);
        let base = format!("refs/heads/{base}");
        let files = [("readme.txt", "a project\n"), ("shared.txt", "a\nb\nc\n")];
        let _ = here.commit(&base, &files, "first commit\n");
        Self {
            _directory: directory,
            root,
            here,
            origin: None,
            clock,
            base,
        }
    }

    /// Makes a bare repository beside this one, pushes base to it, and fetches, as a clone would know it.
    ///
    /// # Panics
    /// When the machine refuses.
    pub fn add_origin(&mut self) {
        let short = self.base.trim_start_matches("refs/heads/").to_owned();
        let path = self.root.join("origin.git");
        self.origin = Some(Depot::create(&path, &short, true, &self.clock));
        let _ = self
            .here
            .git
            .remote("origin", path.as_str())
            .expect("a remote is added");
        self.push(&self.base.clone());
        let target = format!("refs/remotes/origin/{short}");
        let head = "refs/remotes/origin/HEAD";
        let _ = self
            .here
            .git
            .reference_symbolic(head, &target, true, "clone")
            .expect("origin's HEAD is set");
    }

    /// Returns the origin.
    ///
    /// # Panics
    /// When it has none.
    #[must_use]
    #[track_caller]
    pub fn origin(&self) -> &Depot {
        self.origin.as_ref().expect("it has an origin")
    }

    /// Returns the full name of the base branch.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Returns the directory of everything.
    #[must_use]
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// Returns the clock of the next commits.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Pushes a branch as it is, whatever origin had; nothing when origin has no such place for it.
    ///
    /// # Panics
    /// When git refuses.
    pub fn push(&self, reference: &str) {
        let tip = self.here.tip(reference);
        let mut origin = self.remote();
        origin
            .push(&[format!("+{reference}:{reference}")], None)
            .expect("it is pushed");
        self.here.point(&tracking(reference), tip, "update by push");
    }

    /// Removes a branch at origin, and what is known of it here.
    pub fn push_deletion(&self, reference: &str) {
        self.origin().delete(reference);
        self.here.delete(&tracking(reference));
    }

    /// Fetches every branch, and forgets those that are gone.
    ///
    /// # Panics
    /// When git refuses.
    pub fn fetch(&self) {
        let mut options = FetchOptions::new();
        options.prune(FetchPrune::On).download_tags(git2::AutotagOption::None);
        let refspecs = ["+refs/heads/*:refs/remotes/origin/*"];
        self.remote()
            .fetch(&refspecs, Some(&mut options), None)
            .expect("it is fetched");
    }

    /// Moves the local base to where origin's was last seen, as `git pull --ff-only` does.
    pub fn pull(&self) -> Option<Oid> {
        super::landing::fast_forward(&self.here, &self.base, &tracking(&self.base))
    }

    /// Says that origin lies on github.com, as `o/r`. What is pushed and fetched still goes to the neighbour.
    ///
    /// # Panics
    /// When git refuses.
    pub fn say_origin_is_on_github(&self) {
        self.here
            .git
            .remote_set_url("origin", "https://github.com/o/r.git")
            .expect("a url is set");
    }

    /// Registers a linked worktree of a new branch and returns its directory.
    ///
    /// # Panics
    /// When git refuses.
    #[must_use]
    pub fn linked_worktree(&self) -> Utf8PathBuf {
        let path = self.root.join("linked");
        let _ = self
            .here
            .git
            .worktree("linked", path.as_std_path(), None)
            .expect("a worktree is made");
        path
    }

    /// Opens the real World in a directory of the history.
    ///
    /// # Panics
    /// When it cannot be opened.
    #[must_use]
    pub fn world_at(&self, directory: &Utf8Path, settings: WorldSettings) -> RealWorld {
        RealWorld::open(directory, settings).expect("the World opens")
    }

    /// Opens the real World in the clone.
    #[must_use]
    pub fn world(&self, settings: WorldSettings) -> RealWorld {
        self.world_at(&self.root.join("here"), settings)
    }

    /// Returns the full name of a unit's branch.
    ///
    /// # Panics
    /// When the texts are no names.
    #[must_use]
    pub fn branch_of(unit: &str) -> String {
        UnitName::parse(unit).expect("a unit's name").reference()
    }

    fn remote(&self) -> git2::Remote<'_> {
        let path = self.root.join("origin.git");
        self.here
            .git
            .remote_anonymous(path.as_str())
            .expect("the neighbour is there")
    }
}

/// Makes a directory, in memory where the system has such a place: a history is thousands of small files.
fn temporary_directory() -> TempDir {
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix("orchestrate-history-");
    let in_memory = builder.tempdir_in("/dev/shm");
    in_memory.or_else(|_| builder.tempdir()).expect("a directory is made")
}

/// Returns where a branch of origin is remembered.
fn tracking(reference: &str) -> String {
    reference.replacen("refs/heads/", "refs/remotes/origin/", 1)
}
