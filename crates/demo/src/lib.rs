//! `orchestrate demo`: a throw-away repository in which the real tower advances a real spec.
//!
//! The tower, its steps, locks, worktrees and evidence are the product's own, started as a child process. Played are
//! only the two it cannot be: the *person*, who signs and merges, and the *worker*, who edits by a script. This is the
//! only crate in which something is merged (law L1), and it acts nowhere but in a repository that it made itself and
//! marked as such. Owns that repository, and the bundle `specs/hello-tower`.

mod check;
mod event;
mod git;
mod person;
mod project;
mod repository;
mod run;
mod summary;
mod timeline;
mod tower;
mod waiting;
mod worker;

#[cfg(test)]
mod play;

pub use event::{DemoEvent, Happening, Landing};
pub use run::Demo;
pub use summary::{DemoSummary, Symbols};
pub use worker::{WorkerInput, worker};
