//! The arguments of `plumbing fleet-fence` (`contract/later.md §2.3`).

use camino::Utf8PathBuf;
use clap::{Args, Subcommand};

/// What is done with fences.
#[derive(Debug, Subcommand)]
pub(crate) enum FenceVerb {
    /// Print the ref of a unit's fence.
    Refname {
        /// The spec's name.
        #[arg(long)]
        spec: String,
        /// The unit's id.
        unit: String,
    },
    /// Say by the exit number whether a unit is fenced.
    Check {
        #[command(flatten)]
        at: FencePlace,
        /// The unit's id.
        unit: String,
    },
    /// Take the fences of all these units, or of none.
    Fence {
        #[command(flatten)]
        at: FencePlace,
        /// The ids.
        #[arg(required = true)]
        units: Vec<String>,
    },
    /// Remove the fences of these units, whether they are done or not: who runs it says that nobody works on them.
    Gc {
        #[command(flatten)]
        at: FencePlace,
        #[command(flatten)]
        feedback: FenceFeedback,
        /// The ids.
        #[arg(required = true)]
        units: Vec<String>,
    },
    /// Print the fences at origin.
    List {
        /// A checkout of the repository, as an absolute path.
        #[arg(long)]
        checkout: Utf8PathBuf,
        /// Only those of this spec.
        #[arg(long)]
        spec: Option<String>,
    },
    /// Remove the fences of units that have landed, and name those that nobody answers for.
    Sweep {
        #[command(flatten)]
        at: FencePlace,
        #[command(flatten)]
        by: FenceSweeper,
        /// For how long, in seconds, a fence without an owner is only watched.
        #[arg(long, default_value = "30")]
        grace: String,
        /// For how long, in seconds, a fence is not told of again.
        #[arg(long, default_value = "30")]
        min_interval: String,
        #[command(flatten)]
        feedback: FenceFeedback,
    },
}

/// Whose fences.
#[derive(Debug, Args)]
pub(crate) struct FencePlace {
    /// A checkout of the repository, as an absolute path.
    #[arg(long)]
    pub(crate) checkout: Utf8PathBuf,
    /// The spec's name.
    #[arg(long)]
    pub(crate) spec: String,
}

/// Who sweeps.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct FenceSweeper {
    /// The session.
    #[arg(long)]
    pub(crate) session_id: Option<String>,
    /// The process.
    #[arg(long)]
    pub(crate) pid: Option<String>,
}

/// What is told of units that are done.
#[derive(Debug, Args)]
pub(crate) struct FenceFeedback {
    /// The key of the selection.
    #[arg(long)]
    pub(crate) alloc_key: Option<String>,
    /// The scope of the observation.
    #[arg(long)]
    pub(crate) obs_scope: Option<String>,
    /// The directory of observations.
    #[arg(long)]
    pub(crate) obs_dir: Option<String>,
}
