//! What a unit's worker is started with: the backend that is configured, the prompt, and the guard on the result.

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_config::Settings;
use orchestrate_core::identifier::{BackendName, TaskId, UnitName};
use orchestrate_core::observed::Why;
use orchestrate_core::plan::HaltReason;
use orchestrate_core::world::Fault;
use orchestrate_host::layout::Layout;
use orchestrate_host::repository;
use orchestrate_spec::Bundle;
use orchestrate_workers::backend::{self, CommandBackend, OrderRequest};
use orchestrate_workers::guard::launch_guard;
use orchestrate_workers::programs::Programs;
use orchestrate_workers::{runner, worker_settings};

use crate::prompt;
use crate::step::{Launch, Launcher};

/// Composes launches from the settings of this run.
pub struct BackendLauncher<'a> {
    /// Where worktrees and records lie.
    pub layout: Layout,
    /// The settings.
    pub settings: Settings,
    /// The backend named for this run only.
    pub backend: Option<BackendName>,
    /// The worker's rules, or why a document of the dispatch path cannot be resolved.
    pub rules: Result<String, HaltReason>,
    /// Whether the skill `/execute-task` is installed for Claude Code.
    pub has_skill: bool,
    /// What finds programs.
    pub programs: &'a dyn Programs,
    /// Asks a person a question with yes or no for an answer; none where nobody can be asked.
    pub confirm: Option<&'a dyn Fn(&str) -> bool>,
}

impl BackendLauncher<'_> {
    fn configured(&self, name: &UnitName) -> Result<BackendName, HaltReason> {
        if let Some(backend) = &self.backend {
            return Ok(backend.clone());
        }
        let choice = self.settings.dispatch_backend_for(&name.spec).choice.to_string();
        BackendName::parse(&choice).map_err(|error| HaltReason::Backend {
            backend: choice,
            why: Why::new(error.to_string()),
        })
    }

    /// Returns the unit's worktree and its git directory: the registered one, else where it will be registered.
    fn worktree(&self, name: &UnitName) -> (Utf8PathBuf, Utf8PathBuf) {
        let registered = repository::discover(&self.layout.primary).and_then(|found| found.registration(name));
        match registered {
            Ok(Some(registration)) => (registration.path, registration.git_directory),
            Ok(None) | Err(_) => (
                self.layout.worktree(name),
                self.layout.common.join("worktrees").join(name.worktree()),
            ),
        }
    }
}

impl Launcher for BackendLauncher<'_> {
    fn rules(&self) -> Result<(), HaltReason> {
        self.rules.as_ref().map(|_| ()).map_err(Clone::clone)
    }

    fn order(&self, bundle: &Bundle, name: &UnitName) -> Result<Launch, HaltReason> {
        let rules = self.rules.as_ref().map_err(Clone::clone)?;
        if self.programs.resolve("git").is_none() {
            let fault = Fault::new("cannot check out a worktree", "git is not on the search path");
            return Err(HaltReason::Machine(
                fault.with_hint("install git, or add its directory to PATH by an absolute path"),
            ));
        }
        let configured = self.configured(name)?;
        let refused = |why| HaltReason::Backend {
            backend: configured.to_string(),
            why,
        };
        let command = &self.settings.command_backend.value;
        let resolved = backend::resolve(&configured, command, self.programs).map_err(refused)?;
        // Only Claude Code knows the skill; any other program gets the whole text.
        let starts_claude = resolved.backend.name() != CommandBackend::NAME;
        let prompt = if self.has_skill && starts_claude {
            prompt::skill_command(name)
        } else {
            prompt::own_text(bundle, name, rules)
        };
        let (worktree, git_directory) = self.worktree(name);
        let request = OrderRequest {
            name,
            prompt: &prompt,
            worktree: &worktree,
            prompt_file: &runner::prompt_file(&git_directory),
            settings_file: &settings_file(&self.layout),
        };
        let order = resolved.backend.order(&request, self.programs).map_err(refused)?;
        if !order.argv.is_empty() {
            let judged = launch_guard(&order.argv, &|path| settings_text(&self.layout, path));
            judged.map_err(|why| HaltReason::LaunchRefused {
                backend: configured.to_string(),
                why,
            })?;
        }
        Ok(Launch {
            order,
            note: resolved.note,
        })
    }

    fn may_reuse(&self, worktree: &str) -> bool {
        self.confirm.is_none_or(|ask| {
            ask(&format!(
                "use the clean worktree {worktree} of an earlier attempt again?"
            ))
        })
    }

    fn may_part(&self, task: &TaskId, why: &str) -> bool {
        self.confirm
            .is_none_or(|ask| ask(&format!("{why}. Dispatch task {task} alone?")))
    }
}

/// Returns where the permission settings of Claude Code workers lie.
#[must_use]
pub fn settings_file(layout: &Layout) -> Utf8PathBuf {
    layout.state().join("worker-settings.json")
}

/// Ours is judged by the text it will have; it may not have been written yet.
fn settings_text(layout: &Layout, path: &str) -> Option<String> {
    if Utf8Path::new(path) == settings_file(layout) {
        return Some(worker_settings().to_owned());
    }
    std::fs::read_to_string(path).ok()
}
