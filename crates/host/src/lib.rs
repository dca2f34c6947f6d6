//! The real World: git, files, kernel locks, processes and the clock of one machine.
//!
//! Moves bytes and asks questions; what the answers mean is decided in `orchestrate-core`. Owns the layout of the
//! tower's files on disk.

pub mod aside;
pub mod authored;
mod base;
mod branches;
pub mod cache;
mod checkout;
pub mod clock;
pub mod commit;
mod content;
pub mod excluded;
pub mod failpoint;
pub mod fetch;
pub mod files;
pub mod forge;
mod git;
mod git_directories;
mod git_error;
pub mod git_setup;
mod history;
pub mod identity;
pub mod layout;
pub mod lease;
pub mod library;
pub mod litter;
pub mod messages;
mod obstacle;
pub mod origin;
pub mod overlay;
mod own;
pub mod process;
mod promised;
mod reference_lock;
mod reflog;
mod remains;
pub mod repository;
pub mod retire;
pub mod shell;
pub mod specs;
pub mod standing;
pub mod unfinished;
pub mod unreadable_refs;
mod window;
mod worktree;
pub mod world;
