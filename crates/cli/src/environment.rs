//! The only reader of environment variables (`contract/core.md §20.7`).

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_host::forge::ForgeSettings;
use orchestrate_host::world::WorldSettings;
use orchestrate_workers::programs::{Programs, SearchPath};

use crate::failure::Failure;

/// What this process was given by its surroundings.
#[derive(Debug, Clone)]
pub(crate) struct Environment {
    /// Where it was started.
    pub(crate) directory: Utf8PathBuf,
    /// This program.
    pub(crate) program: Utf8PathBuf,
    /// `PLANWRIGHT_BASE_REF`.
    pub(crate) base: Option<String>,
    /// `PLANWRIGHT_ORCH_STATE_DIR`.
    pub(crate) marker_directory: Option<Utf8PathBuf>,
    /// The variables of the fetch.
    pub(crate) fetch: FetchVariables,
    /// `PLANWRIGHT_REPO_ROOT`.
    pub(crate) repository_root: Option<Utf8PathBuf>,
    /// `PLANWRIGHT_LOCAL_CONFIG`.
    pub(crate) local_configuration: Option<Utf8PathBuf>,
    /// `PLANWRIGHT_CONFIG_DEFAULTS`.
    pub(crate) default_configuration: Option<Utf8PathBuf>,
    /// `PLANWRIGHT_ROOT`, then `CLAUDE_PLUGIN_ROOT`.
    pub(crate) core_roots: Vec<Utf8PathBuf>,
    /// `PLANWRIGHT_ADOPTER_OVERLAY`, else `CLAUDE_PLUGIN_DATA/overlay`.
    pub(crate) adopter_overlay: Option<Utf8PathBuf>,
    /// `CLAUDE_DIR`, else `HOME/.claude`.
    pub(crate) claude_directory: Option<Utf8PathBuf>,
    /// `XDG_CACHE_HOME`, else `HOME/.cache`: where files lie that can be made again at any time.
    pub(crate) cache_directory: Option<Utf8PathBuf>,
    /// What tells whether a forge could be asked.
    pub(crate) forge: ForgeSettings,
    /// The git program; a dispatch needs one.
    pub(crate) git: Option<Utf8PathBuf>,
    /// The programs of the search path.
    pub(crate) programs: SearchPath,
    /// Whether a person can be asked: standard input, output and error are terminals, and `CI` is not set
    /// (`contract/fleet.md §10.4`).
    pub(crate) has_terminal: bool,
    /// Whether a person reads and answers here: standard input and standard output are terminals.
    pub(crate) has_reader: bool,
}

/// The variables of the fetch, as they are set (`contract/core.md §7.1`).
#[derive(Debug, Clone)]
pub(crate) struct FetchVariables {
    /// `PLANWRIGHT_DISPATCH_FETCH_TTL`.
    pub(crate) fresh_seconds: Option<String>,
    /// `PLANWRIGHT_DISPATCH_FETCH_RETRIES`.
    pub(crate) retries: Option<String>,
    /// `PLANWRIGHT_DISPATCH_FETCH_RETRY_SLEEP`.
    pub(crate) pause_seconds: Option<String>,
    /// `PLANWRIGHT_DISPATCH_FETCH_STATE_DIR`.
    pub(crate) state_directory: Option<Utf8PathBuf>,
}

impl Environment {
    /// Reads the environment.
    ///
    /// # Errors
    /// When the current directory or this program's own path cannot be told.
    pub(crate) fn read() -> Result<Self, Failure> {
        let directory = std::env::current_dir()
            .map_err(|error| Failure::failed(format!("cannot tell the current directory: {error}")))
            .and_then(utf8)?;
        let program = std::env::current_exe()
            .map_err(|error| Failure::failed(format!("cannot tell this program's path: {error}")))
            .and_then(utf8)?;
        let absolute = |name: &str| path(name).map(|path| directory.join(path));
        let claude_directory = absolute("CLAUDE_DIR").or_else(|| absolute("HOME").map(|home| home.join(".claude")));
        let adopter_overlay = absolute("PLANWRIGHT_ADOPTER_OVERLAY")
            .or_else(|| absolute("CLAUDE_PLUGIN_DATA").map(|data| data.join("overlay")));
        let cache_directory = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
        let forge_directory = absolute("GH_CONFIG_DIR")
            .or_else(|| absolute("XDG_CONFIG_HOME").map(|config| config.join("gh")))
            .or_else(|| absolute("HOME").map(|home| home.join(".config").join("gh")));
        let programs = SearchPath::new(text("PATH").as_deref().map(std::ffi::OsStr::new));
        let forge = ForgeSettings {
            gh: programs.resolve("gh"),
            directory: forge_directory,
            has_token: text("GH_TOKEN").or_else(|| text("GITHUB_TOKEN")).is_some(),
            enterprise_host: text("GH_HOST"),
            repository: text("GH_REPO"),
        };
        Ok(Self {
            base: text("PLANWRIGHT_BASE_REF"),
            marker_directory: absolute("PLANWRIGHT_ORCH_STATE_DIR"),
            fetch: FetchVariables {
                fresh_seconds: text("PLANWRIGHT_DISPATCH_FETCH_TTL"),
                retries: text("PLANWRIGHT_DISPATCH_FETCH_RETRIES"),
                pause_seconds: text("PLANWRIGHT_DISPATCH_FETCH_RETRY_SLEEP"),
                state_directory: absolute("PLANWRIGHT_DISPATCH_FETCH_STATE_DIR"),
            },
            repository_root: absolute("PLANWRIGHT_REPO_ROOT"),
            local_configuration: absolute("PLANWRIGHT_LOCAL_CONFIG"),
            default_configuration: absolute("PLANWRIGHT_CONFIG_DEFAULTS"),
            core_roots: ["PLANWRIGHT_ROOT", "CLAUDE_PLUGIN_ROOT"]
                .into_iter()
                .filter_map(absolute)
                .collect(),
            adopter_overlay,
            claude_directory,
            cache_directory,
            forge,
            git: programs.resolve("git"),
            programs,
            has_reader: rustix::termios::isatty(std::io::stdin()) && rustix::termios::isatty(std::io::stdout()),
            has_terminal: rustix::termios::isatty(std::io::stdin())
                && rustix::termios::isatty(std::io::stdout())
                && rustix::termios::isatty(std::io::stderr())
                && text("CI").is_none(),
            directory,
            program,
        })
    }

    /// Returns what the World is told.
    pub(crate) fn world_settings(&self) -> WorldSettings {
        WorldSettings {
            base: self.base.clone(),
            fetch_directory: self.fetch.state_directory.clone(),
            marker_directory: self.marker_directory.clone(),
            forge: self.forge.clone(),
            program: self.program.clone(),
            git: self.git.clone(),
        }
    }

    /// Returns a path as seen from where this process was started.
    pub(crate) fn absolute(&self, path: &Utf8Path) -> Utf8PathBuf {
        self.directory.join(path)
    }
}

/// Returns a variable's text; an empty one counts as not set.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that reads the environment"
)]
pub(crate) fn text(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

fn path(name: &str) -> Option<Utf8PathBuf> {
    text(name).map(Utf8PathBuf::from)
}

fn utf8(path: std::path::PathBuf) -> Result<Utf8PathBuf, Failure> {
    Utf8PathBuf::from_path_buf(path)
        .map_err(|path| Failure::failed(format!("a path that is not UTF-8 cannot be used: {}", path.display())))
}
