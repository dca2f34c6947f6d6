//! Workers: which backend starts them, what exactly is started, and the runner that stays with them to the end.
//!
//! A backend composes the start, word by word, before anything durable happens; the runner ([`runner::run_worker`])
//! is a process of its own that holds the worker's lease. The kernel owns who is alive; the records are core's.

pub mod backend;
pub mod guard;
pub mod paste;
pub mod programs;
pub mod runner;

/// Returns the permission settings that every worker of Claude Code is started with, as the text of a settings file.
///
/// They let it edit and commit in its worktree and run the usual tests, and deny what a person does: merging, marking
/// ready, rewriting and forcing (law L1, `contract/fleet.md §8.3`). A prompt that they do not answer is denied, not
/// asked, since nobody sits before such a worker.
#[must_use]
pub fn worker_settings() -> &'static str {
    include_str!("worker_settings.json")
}
