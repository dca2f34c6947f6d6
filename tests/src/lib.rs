//! What the end-to-end tests stand on: a sandbox with a home, a repository and a scripted worker of its own.
//!
//! The tests themselves are in `e2e/`. Everything here acts inside a temporary directory only; nothing of the machine
//! (its git settings, its home, its clock zone) reaches the programs that are started.

pub mod listing;
pub mod output;
pub mod repository;
pub mod running;
pub mod sandbox;
pub mod surroundings;
pub mod terminal;
pub mod worker;
