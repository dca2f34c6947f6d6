//! The command line's grammar. Plain data: nothing is looked up or decided here.

mod fence;
pub(crate) mod slip;
mod subjects;

use camino::Utf8PathBuf;
use clap::{Args, Parser, Subcommand, ValueEnum};
use orchestrate_core::graph::ParkingPlace;

pub(crate) use fence::{FenceFeedback, FencePlace, FenceSweeper, FenceVerb};
pub(crate) use subjects::{SubjectKind, SubjectSource};

/// A stateless, disposable control tower for coding agents.
///
/// Advances one signed spec by one unit and exits. With --watch it goes on until nothing is ready.
#[derive(Debug, Parser)]
#[command(
    name = "orchestrate",
    version,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) step: StepArguments,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Human,
    /// For machines, versioned by "schema".
    Json,
}

/// How a task graph is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum GraphFormat {
    /// For a terminal.
    #[default]
    #[value(alias = "human")]
    Text,
    /// For Graphviz.
    Dot,
    /// For Mermaid, as Markdown viewers show it.
    Mermaid,
    /// One SVG document for a browser.
    Svg,
    /// For machines, versioned by "schema".
    Json,
}

/// When colours are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What is drawn, and how.
#[derive(Debug, Args)]
pub(crate) struct GraphArguments {
    /// The spec: specs/NAME, NAME, or the directory of any bundle. It may be a draft.
    pub(crate) spec: Option<String>,
    /// How to draw it.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: GraphFormat,
    /// Draw with ASCII characters only. Implied where the locale is not UTF-8.
    #[arg(long)]
    pub(crate) ascii: bool,
    /// When to write colours.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: ColorChoice,
    /// Draw the bundle alone, without looking at how far its tasks are.
    #[arg(long)]
    pub(crate) no_state: bool,
}

/// One step, or the loop of steps.
#[derive(Debug, Args)]
pub(crate) struct StepArguments {
    /// The spec: specs/NAME or NAME. Without it: the one of the current task branch, or the only open one.
    pub(crate) spec: Option<String>,
    /// Step again and again until nothing is ready or a person is needed.
    #[arg(long)]
    pub(crate) watch: bool,
    /// The worker backend for this run, instead of the configured one.
    #[arg(long, value_name = "BACKEND")]
    pub(crate) backend: Option<String>,
    /// Take this task before the head of the critical path, once it is ready. May be given several times.
    #[arg(long, value_name = "ID")]
    pub(crate) prefer: Vec<String>,
    /// Take these two consecutive tasks as one unit, when both are ready. May be given several times.
    #[arg(long, value_name = "A-B")]
    pub(crate) bundle: Vec<String>,
    /// Never prompt, and write down what waits for a person. Implied where there is no terminal.
    #[arg(long)]
    pub(crate) unattended: bool,
    /// Decide and print, but take no lock and write nothing. With --watch it looks once.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// How to print the result.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Tell idle (10), capped (11) and held (12) apart by the exit code.
    #[arg(long)]
    pub(crate) detailed_exitcode: bool,
}

/// What the doctor may do.
#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Mend what is harmless: ignore rules, stale locks, and what killed processes left and is nobody's.
    #[arg(long)]
    pub(crate) fix: bool,
    /// With --fix: say what would be mended, and write nothing.
    #[arg(long, requires = "fix")]
    pub(crate) dry_run: bool,
    /// Ask neither origin nor the forge.
    #[arg(long)]
    pub(crate) offline: bool,
    /// How to print the result.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Tell warnings (14) from none by the exit code.
    #[arg(long)]
    pub(crate) detailed_exitcode: bool,
}

/// What can be done besides stepping.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show each task of a spec: its state, the evidence, and what it waits for.
    Status {
        /// The spec: specs/NAME or NAME.
        spec: Option<String>,
        /// Show every task, however many there are.
        #[arg(long)]
        all: bool,
        /// Print ASCII characters only. Implied where the locale is not UTF-8.
        #[arg(long)]
        ascii: bool,
        /// How to print the result.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Draw the task graph of a spec: layers, the critical path, and how far each task is.
    Graph(GraphArguments),
    /// Explain a task's state: every row of the evidence table with its answer.
    Why {
        /// The spec: specs/NAME or NAME.
        spec: String,
        /// The task's id.
        task: String,
        /// Print ASCII characters only. Implied where the locale is not UTF-8.
        #[arg(long)]
        ascii: bool,
        /// How to print the result.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Show the configuration: each key's value and where it comes from.
    Config {
        #[command(subcommand)]
        verb: ConfigVerb,
    },
    /// Look for what is wrong with the surroundings, and say what mends it. Ends with 1 when there is a fault.
    Doctor(DoctorArguments),
    /// Watch five tasks land in a throw-away repository, with a scripted worker and a scripted person.
    Demo {
        /// Where to make the repository; a temporary directory without it.
        directory: Option<Utf8PathBuf>,
        /// Act as the demo's scripted worker, inside a unit's worktree.
        #[arg(long, hide = true)]
        worker: bool,
    },
    /// Check bundles: what is wrong in which line, and what helps. Ends with 1 when there is an error.
    Validate {
        /// A bundle's directory, a spec's name, or a directory of bundles. Without it: specs of this checkout.
        targets: Vec<String>,
        /// The earlier state to compare with, instead of origin/main.
        #[arg(long, value_name = "REF")]
        baseline: Option<String>,
        /// How to print the result.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Make a bundle to go on from: four short files that read as a Draft.
    New {
        /// The spec's name: lower-case letters, digits and hyphens.
        spec: String,
        /// Its title, instead of its name.
        #[arg(long)]
        title: Option<String>,
    },
    /// Take a task out of selection: write the bullet that parks it, or move its block in format version 1.
    Park {
        /// The spec: specs/NAME or NAME.
        spec: String,
        /// The task's id.
        task: String,
        /// The section that says what it waits for.
        #[arg(long = "in", value_enum, value_name = "SECTION")]
        section: ParkingSection,
        /// Why, in one line.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Read a bundle part by part and sign it. Needs a person at a terminal.
    ///
    /// Shows everything, or what changed since it was signed last, and writes the record that the tower asks for. It can
    /// be left at every prompt and goes on where it was left.
    Sign {
        /// The spec: specs/NAME or NAME.
        spec: String,
    },
    /// Put a parked task back: remove its bullet, or move its block back.
    Unpark {
        /// The spec: specs/NAME or NAME.
        spec: String,
        /// The task's id.
        task: String,
    },
    /// The reference's scripts under their names, with their records and exit numbers.
    Plumbing {
        #[command(subcommand)]
        verb: Plumbing,
    },
}

/// What can be asked of the configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigVerb {
    /// Print the value of one key.
    Get {
        /// The key.
        key: String,
        /// Say where the value comes from, what each layer says, and what the key means.
        #[arg(long)]
        explain: bool,
        /// How to print the result.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Print every key with its value and where it comes from.
    List {
        /// How to print the result.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
}

/// The sections in which a bullet parks a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ParkingSection {
    /// It waits for an answer or an act of a person.
    AwaitingInput,
    /// It is put off.
    Deferred,
    /// It will not be done.
    OutOfScope,
}

impl ParkingSection {
    /// Returns the place in the task graph.
    pub(crate) const fn place(self) -> ParkingPlace {
        match self {
            Self::AwaitingInput => ParkingPlace::AwaitingInput,
            Self::Deferred => ParkingPlace::Deferred,
            Self::OutOfScope => ParkingPlace::OutOfScope,
        }
    }
}

/// The plumbing verbs (`contract/core.md §20.6`).
#[derive(Debug, Subcommand)]
pub(crate) enum Plumbing {
    /// Print the raw value of a configuration key.
    ConfigGet {
        /// Print the layer that sets it as well.
        #[arg(long)]
        explain: bool,
        /// The key.
        key: String,
    },
    /// Print a catalog, merged from its layers.
    ResolveCatalog {
        /// Print each entry's id with the layer it comes from instead.
        #[arg(long)]
        explain: bool,
        /// The catalog's name.
        name: String,
    },
    /// Print a configuration key's value, checked against a type.
    ResolveConfigKnob {
        /// The key.
        #[arg(long)]
        key: String,
        /// What values it takes.
        #[arg(long = "type", value_enum)]
        kind: KnobType,
        /// The words of an enum, with blanks between.
        #[arg(long)]
        values: Option<String>,
        /// The value when no layer sets the key.
        #[arg(long)]
        fallback: String,
    },
    /// Print the root of a layer's overlay, or where a path below a root leads.
    ResolveOverlayRoot {
        /// The layer.
        #[arg(value_enum, required_unless_present = "contain")]
        layer: Option<OverlayLayer>,
        /// Print the physical path of PATH below ROOT, if it stays there.
        #[arg(long, num_args = 2, value_names = ["ROOT", "PATH"], conflicts_with = "layer")]
        contain: Option<Vec<Utf8PathBuf>>,
    },
    /// Print the file of a rule document.
    ResolveRuleDoc {
        /// Print the layer it comes from as well.
        #[arg(long)]
        explain: bool,
        /// Pass over every overlay and every installed planwright.
        #[arg(long)]
        built_in: bool,
        /// The document's name, with or without .md.
        name: String,
    },
    /// Fetch origin unless it was fetched a moment ago, and print the anchor of a bundle there.
    DispatchFetch {
        /// The bundle whose anchor is printed, as specs/NAME.
        #[arg(long, value_name = "SPEC")]
        spec: Option<String>,
        /// Try once only, for a caller that goes on without.
        #[arg(long)]
        best_effort: bool,
        /// A checkout of the repository.
        repository_root: Utf8PathBuf,
    },
    /// Print the derived state of every task as records.
    OrchestrateState {
        /// The bundle's directory.
        spec_directory: Utf8PathBuf,
    },
    /// Print the task to dispatch next, or the critical path.
    OrchestrateSelect {
        /// Print the critical path over all tasks instead.
        #[arg(long)]
        critical_path: bool,
        /// The bundle's directory.
        spec_directory: Utf8PathBuf,
    },
    /// Take or release a bundle's lock.
    OrchestrateLock {
        /// What to do.
        verb: LockVerb,
        /// The bundle's directory.
        spec_directory: Utf8PathBuf,
    },
    /// Write or clear the dispatch markers of tasks.
    OrchestrateMarker {
        /// What to do.
        verb: MarkerVerb,
        /// The bundle's directory.
        spec_directory: Utf8PathBuf,
        /// The task ids.
        #[arg(required = true)]
        tasks: Vec<String>,
    },
    /// Check that the subjects of commits, or of lines on standard input, are conventional.
    CheckCommitMsgs {
        /// The most bytes that a subject may have.
        #[arg(long, value_name = "N", value_parser = subjects::positive)]
        max_length: Option<usize>,
        /// Check where [pending-sign-off] stands: last in a commit's subject, nowhere in a pull request's title.
        #[arg(long, value_enum, conflicts_with = "range")]
        marker: Option<SubjectKind>,
        #[command(flatten)]
        source: SubjectSource,
    },
    /// Check the structure of task lists.
    CheckLedger {
        /// The files; without any, the tasks.md of every bundle.
        files: Vec<Utf8PathBuf>,
    },
    /// Take, look at and remove the fences of units at origin.
    FleetFence {
        /// What to do.
        #[command(subcommand)]
        verb: FenceVerb,
    },
    /// Bring bundles of format version 1 to version 2, by rule or not at all.
    MigrateFormatVersion {
        /// The directory of all bundles, or of one; without it, all bundles of this repository.
        target: Option<Utf8PathBuf>,
    },
    /// Print the commit message on standard input with a trailer for each task.
    PlanwrightCommitTrailers {
        /// The tasks, as SPEC/ID.
        #[arg(required = true, value_name = "SPEC/ID", allow_hyphen_values = true)]
        references: Vec<String>,
    },
    /// Bring the stored placement and status of format version 1 up to date; without a verb, as a hook that reads which
    /// command was run.
    TasksPrSync {
        /// What is brought up to date.
        verb: Option<SyncVerb>,
        /// The bundle's directory.
        spec_directory: Option<Utf8PathBuf>,
    },
    /// Print the content anchor of a bundle.
    SpecAnchor {
        /// The bundle's directory.
        spec_directory: Utf8PathBuf,
    },
    /// Print the task graph with the place of each box as records.
    SpecGraph {
        /// The bundle's directory.
        spec_directory: Utf8PathBuf,
    },
    /// Print everything a bundle says as records.
    SpecModel {
        /// The bundle's directory.
        spec_directory: Utf8PathBuf,
    },
    /// Print the status of a bundle and its tasks for people.
    SpecStatus {
        /// The bundle's directory.
        spec_directory: Utf8PathBuf,
    },
    /// Check one bundle or a directory of bundles, or a spec's name.
    SpecValidate {
        /// The earlier state to compare with, instead of origin/main.
        #[arg(long, value_name = "REF", allow_hyphen_values = true)]
        baseline: Option<String>,
        /// Say by the exit number whether this is a spec's name, and nothing else.
        #[arg(long, value_name = "IDENTIFIER", allow_hyphen_values = true, conflicts_with_all = ["baseline", "target"])]
        check_id: Option<String>,
        /// The bundle's directory, or the directory of bundles.
        #[arg(required_unless_present = "check_id")]
        target: Option<String>,
    },
    /// Run the worker of a recorded dispatch under its kernel lease.
    RunWorker {
        /// The spec's name.
        spec: String,
        /// The unit: a task id, or two joined by '-'.
        unit: String,
        /// Run only this attempt; a later one supersedes it.
        #[arg(long)]
        attempt: Option<String>,
    },
    /// Print the names of the verbs that are scripts of the reference.
    List,
}

/// The types of `resolve-config-knob`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KnobType {
    /// One of the words in --values.
    Enum,
    /// A whole number from 1, of at most 15 digits.
    Posint,
}

/// The layers of `resolve-overlay-root`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OverlayLayer {
    /// What the product ships.
    Core,
    /// What lies over it for every repository on this machine.
    Adopter,
    /// What the repository commits.
    RepoTracked,
    /// What one person has in one checkout.
    MachineLocal,
}

/// The verbs of `orchestrate-lock`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LockVerb {
    /// Take it, and keep it after this process has ended.
    Acquire,
    /// Release it, unless a living process holds it.
    Release,
}

/// The verbs of `orchestrate-marker`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MarkerVerb {
    /// Write markers of now.
    Write,
    /// Give the units up: remove their markers and our dispatch records.
    Clear,
}

/// The verbs of `tasks-pr-sync`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SyncVerb {
    /// Where the task blocks stand, and the stored status.
    Reconcile,
    /// The stored status only.
    ReconcileStatus,
}

impl Arguments {
    /// Returns how the result is to be printed.
    pub(crate) fn format(&self) -> Format {
        match &self.command {
            Some(Command::Config {
                verb: ConfigVerb::Get { format, .. } | ConfigVerb::List { format },
            }) => *format,
            Some(
                Command::Doctor(DoctorArguments { format, .. })
                | Command::Status { format, .. }
                | Command::Why { format, .. }
                | Command::Validate { format, .. },
            ) => *format,
            Some(Command::Graph(graph)) if graph.format == GraphFormat::Json => Format::Json,
            Some(
                Command::Demo { .. }
                | Command::Graph(_)
                | Command::New { .. }
                | Command::Park { .. }
                | Command::Sign { .. }
                | Command::Unpark { .. }
                | Command::Plumbing { .. },
            ) => Format::Human,
            None => self.step.format,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the first page shows is accepted whole: with everything that a command needs, and in values that there are.
    #[test]
    fn the_commands_of_the_first_page_are_whole() {
        let page = include_str!("../../../README.md");
        let shown: Vec<&str> = page.lines().filter(|line| line.starts_with("orchestrate ")).collect();
        assert!(shown.len() >= 10, "{shown:?}");
        for line in shown {
            // What follows two blanks is a remark.
            let command = line.split("  ").next().unwrap_or_default();
            let parsed = Arguments::try_parse_from(command.split_whitespace());
            assert!(parsed.is_ok(), "{command}: {parsed:?}");
        }
    }
}
