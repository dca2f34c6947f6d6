//! What every backend keeps, checked over all of them with hostile requests.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::{BackendName, UnitName};
use orchestrate_core::record::dispatch::LaunchManner;
use proptest::prelude::*;

use super::{Backend, CommandBackend, HeadlessOneshot, InSession, NAMES, OrderRequest, Print, resolve};
use crate::guard::launch_guard;
use crate::programs::Programs;

/// Programs that exist in a test only.
pub(super) struct Installed(BTreeSet<String>);

impl Installed {
    pub(super) fn only(names: &[&str]) -> Self {
        Self(names.iter().map(|name| (*name).to_owned()).collect())
    }
}

impl Programs for Installed {
    fn resolve(&self, name: &str) -> Option<Utf8PathBuf> {
        self.0.contains(name).then(|| Utf8Path::new("/bin").join(name))
    }
}

/// Calls with a request for the unit 1-2 of alpha.
pub(super) fn with_request<T>(worktree: &str, prompt: &str, use_it: impl FnOnce(&OrderRequest<'_>) -> T) -> T {
    let name = UnitName::parse("alpha:task-1-2").expect("name");
    use_it(&OrderRequest {
        name: &name,
        prompt,
        worktree: Utf8Path::new(worktree),
        prompt_file: Utf8Path::new("/g/orchestrate.prompt.md"),
        settings_file: Utf8Path::new("/g/settings.json"),
    })
}

fn all() -> Vec<Box<dyn Backend>> {
    let command: Vec<String> = ["agent", "--in", "{worktree}", "{prompt_file}"]
        .into_iter()
        .map(str::to_owned)
        .collect();
    vec![
        Box::new(HeadlessOneshot),
        Box::new(CommandBackend::new(command.clone())),
        Box::new(InSession),
        Box::new(Print::new(command.clone())),
    ]
}

#[test]
fn every_name_of_this_build_is_a_backend_and_resolves_to_itself() {
    let names: Vec<&str> = all().iter().map(|backend| backend.name()).collect();
    assert_eq!(names, NAMES);
    for name in NAMES {
        let checked = BackendName::parse(name).expect("the grammar of contract/fleet.md §4.1");
        let resolved = resolve(&checked, &["agent".to_owned()], &Installed::only(&["claude", "agent"]));
        assert_eq!(resolved.expect("present").backend.name(), name);
    }
}

#[test]
fn a_missing_program_is_an_answer_before_anything_is_done() {
    for backend in all() {
        with_request("/w", "do it", |request| {
            match (backend.order(request, &Installed::only(&[])), backend.manner()) {
                (Ok(order), LaunchManner::Printed) => assert!(order.argv.is_empty()),
                (Err(why), LaunchManner::Background | LaunchManner::Foreground) => {
                    assert!(why.hint.is_some(), "{}: {why}", backend.name());
                }
                (outcome, manner) => panic!("{} ({manner:?}): {outcome:?}", backend.name()),
            }
        });
    }
}

proptest! {
    /// Whatever the prompt and the path hold, they never change how many arguments there are, the prompt is none of
    /// them, and the launch guard lets the result pass.
    #[test]
    fn an_order_is_composed_word_by_word(prompt in "\\PC{20,40}", worktree in "/[^\\x00]{0,30}") {
        let programs = Installed::only(&["claude", "agent"]);
        for backend in all() {
            let plain = with_request("/w", "do it", |request| backend.order(request, &programs)).expect("order");
            let order = with_request(&worktree, &prompt, |request| backend.order(request, &programs)).expect("order");
            prop_assert_eq!(&order, &with_request(&worktree, &prompt, |request| backend.order(request, &programs)).expect("order"));
            prop_assert_eq!((order.backend.as_str(), order.manner), (backend.name(), backend.manner()));
            prop_assert_eq!(order.argv.len(), plain.argv.len());
            prop_assert!(order.argv[0].starts_with('/'));
            prop_assert!(!order.argv.iter().any(|argument| argument.contains(&prompt)));
            prop_assert_eq!(&order.prompt, &prompt);
            prop_assert!(!order.argv.iter().any(|argument| argument == "--bare"));
            let settings = |file: &str| (file == "/g/settings.json").then(|| crate::worker_settings().to_owned());
            prop_assert_eq!(launch_guard(&order.argv, &settings), Ok(()));
        }
    }
}
