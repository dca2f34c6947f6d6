//! How git is set up where the laws depend on it: what history is here, and whether branches remember where they came from.

use orchestrate_core::world::Fault;

use crate::git_error;
use crate::promised;
use crate::repository::Repository;

/// What the repository's own git is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitSetup {
    /// History before some commits is not here: what is not found may be there all the same.
    pub is_shallow: bool,
    /// Some objects are at origin alone.
    pub is_partial: bool,
    /// Branches keep a log of where they were, by which own work is told from what was merged.
    pub keeps_reflogs: bool,
    /// The setting by which git throws these logs away at once, where there is one: its name and value.
    pub drops_reflogs: Option<(&'static str, String)>,
}

/// Looks at the settings of every layer, as git itself would read them.
///
/// # Errors
/// When they cannot be read.
pub fn look(repository: &Repository) -> Result<GitSetup, Fault> {
    let unreadable = |error: git2::Error| git_error::fault("cannot read git's settings", &error);
    let git = &repository.git;
    let config = git
        .config()
        .and_then(|mut config| config.snapshot())
        .map_err(unreadable)?;
    // A repository with a checkout keeps them unless it is told not to; `always` is no boolean.
    let keeps_reflogs = config.get_bool("core.logAllRefUpdates").unwrap_or(true);
    let drops_reflogs = ["gc.reflogExpire", "gc.reflogExpireUnreachable"]
        .into_iter()
        .find_map(|name| {
            let value = config.get_string(name).ok()?;
            matches!(value.as_str(), "now" | "all" | "0").then_some((name, value))
        });
    Ok(GitSetup {
        is_shallow: git.is_shallow(),
        is_partial: promised::is_partial(git),
        keeps_reflogs,
        drops_reflogs,
    })
}
