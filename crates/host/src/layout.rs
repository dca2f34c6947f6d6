//! Where each [`Place`] lies on disk.

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::UnitName;
use orchestrate_core::place::{LockDirectory, MarkerHome, Place, given_back_name};

/// The prompt of a unit's worker, in its worktree's git directory.
pub const PROMPT_FILE: &str = "orchestrate.prompt.md";

/// The two roots under which everything lies, and the tests' override of the marker directory.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The primary checkout, physical.
    pub primary: Utf8PathBuf,
    /// The git common directory, physical.
    pub common: Utf8PathBuf,
    /// `PLANWRIGHT_ORCH_STATE_DIR`: one marker directory for all bundles instead of every other.
    pub marker_override: Option<Utf8PathBuf>,
}

impl Layout {
    /// Returns the path of a place.
    #[must_use]
    pub fn path(&self, place: &Place) -> Utf8PathBuf {
        let specs = self.primary.join("specs");
        match place {
            Place::BundleFile(spec, file) => specs.join(spec.as_str()).join(file.name()),
            Place::Lock(spec) => specs.join(spec.as_str()).join(".orchestrate.lock"),
            Place::LockStaging(spec, nonce) => specs.join(spec.as_str()).join(format!(".orchestrate.lock.new-{nonce}")),
            Place::LockAside(spec, nonce) => specs.join(spec.as_str()).join(format!(".orchestrate.lock.old-{nonce}")),
            Place::OwnerIn(directory) => self.lock_directory(directory).join("owner"),
            Place::MarkerDirectory(spec, home) => match (home, &self.marker_override) {
                // It is the only directory then, whoever writes and reads.
                (MarkerHome::Bundle | MarkerHome::Shared, Some(directory)) => directory.clone(),
                (MarkerHome::Bundle, None) => specs.join(spec.as_str()).join(".orchestrate").join("markers"),
                (MarkerHome::Shared, None) => self
                    .common
                    .join("planwright")
                    .join("orchestrate")
                    .join(spec.as_str())
                    .join("markers"),
            },
            Place::Marker(spec, task, home) => self
                .path(&Place::MarkerDirectory(spec.clone(), *home))
                .join(task.as_str()),
            Place::RecordDirectory(spec) => self.state().join("dispatch").join(spec.as_str()),
            Place::DispatchRecord(name) => self.record(name, "json"),
            Place::LaunchRecord(name) => self.record(name, "launch.json"),
            Place::RedoDirectory(spec) => self.state().join("redo").join(spec.as_str()),
            Place::Redo(spec, task) => self.path(&Place::RedoDirectory(spec.clone())).join(task.as_str()),
            Place::IntentDirectory(spec) => self.state().join("intent").join(spec.as_str()),
            Place::Intent(spec, task) => self.path(&Place::IntentDirectory(spec.clone())).join(task.as_str()),
            Place::GivenBack(spec, task) => self
                .path(&Place::IntentDirectory(spec.clone()))
                .join(given_back_name(task)),
            Place::ForeignFences(spec) => self.path(&Place::IntentDirectory(spec.clone())).join("foreign.json"),
            Place::FenceSightings(spec) => self.path(&Place::IntentDirectory(spec.clone())).join("sightings.json"),
        }
    }

    /// Returns our own directory inside the git common directory.
    #[must_use]
    pub fn state(&self) -> Utf8PathBuf {
        self.common.join("orchestrate")
    }

    /// Returns the directory of what may be thrown away at any time: it is only ever computed anew.
    #[must_use]
    pub fn cache(&self) -> Utf8PathBuf {
        self.state().join("cache")
    }

    /// Returns the directory in which a registration is prepared. It is beside git's own, and not in our state, so that
    /// one rename brings it there even where our state is a filesystem of its own.
    #[must_use]
    pub(crate) fn staging(&self) -> Utf8PathBuf {
        self.common.join("orchestrate-staging")
    }

    /// Returns where the unit's worktree belongs.
    #[must_use]
    pub fn worktree(&self, name: &UnitName) -> Utf8PathBuf {
        self.worktrees().join(name.worktree())
    }

    /// Returns the directory of all task worktrees.
    #[must_use]
    pub fn worktrees(&self) -> Utf8PathBuf {
        self.primary.join(".claude").join("worktrees")
    }

    /// Returns where the unit's worker writes what it prints.
    #[must_use]
    pub fn log(&self, name: &UnitName) -> Utf8PathBuf {
        self.logs().join(format!("{}.log", name.worktree()))
    }

    /// Returns the directory of what workers print.
    #[must_use]
    pub fn logs(&self) -> Utf8PathBuf {
        self.state().join("logs")
    }

    /// Returns how a path is named for people and in a bundle: from the primary checkout on, so that it says nothing of
    /// this machine. The primary checkout itself is called that.
    #[must_use]
    pub fn shown(&self, path: &Utf8Path) -> String {
        let mut up = String::new();
        for above in self.primary.ancestors() {
            match path.strip_prefix(above) {
                Ok(rest) if rest.as_str().is_empty() && up.is_empty() => return "the primary checkout".to_owned(),
                Ok(rest) => return format!("{up}{rest}"),
                Err(_) => up.push_str("../"),
            }
        }
        path.to_string()
    }

    /// Returns the root that a path must stay under: the nearest of ours.
    #[must_use]
    pub(crate) fn root_of(&self, path: &Utf8Path) -> Option<&Utf8Path> {
        let roots = [
            Some(self.common.as_path()),
            Some(self.primary.as_path()),
            self.marker_override.as_deref(),
        ];
        roots.into_iter().flatten().find(|root| path.starts_with(root))
    }

    fn record(&self, name: &UnitName, extension: &str) -> Utf8PathBuf {
        self.path(&Place::RecordDirectory(name.spec.clone()))
            .join(format!("{}.{extension}", name.unit))
    }

    fn lock_directory(&self, directory: &LockDirectory) -> Utf8PathBuf {
        self.path(&directory.place())
    }
}

#[cfg(test)]
impl Layout {
    /// Returns the layout of a temporary folder that holds nothing but an empty git directory.
    pub(crate) fn of_an_empty_place() -> (tempfile::TempDir, Self) {
        let directory = tempfile::tempdir().expect("a directory");
        let root = Utf8Path::from_path(directory.path()).expect("UTF-8");
        let primary = root.canonicalize_utf8().expect("there");
        let common = primary.join(".git");
        std::fs::create_dir(&common).expect("made");
        let layout = Self {
            primary,
            common,
            marker_override: None,
        };
        (directory, layout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_named_from_the_primary_checkout_on() {
        let layout = Layout {
            primary: "/home/me/repository".into(),
            common: "/home/me/repository/.git".into(),
            marker_override: None,
        };
        for (path, shown) in [
            ("/home/me/repository", "the primary checkout"),
            (
                "/home/me/repository/.claude/worktrees/a-task-1",
                ".claude/worktrees/a-task-1",
            ),
            ("/home/me/mine", "../mine"),
            ("/srv/mine", "../../../srv/mine"),
        ] {
            assert_eq!(layout.shown(path.into()), shown);
        }
    }
}
