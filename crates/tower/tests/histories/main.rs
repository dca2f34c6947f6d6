//! Real repositories, each with a history that happens to people, and the state that the evidence table
//! (architecture §7) gives it, with the row that decides. What is expected is read from the architecture.
//!
//! The repositories are made by the testkit without a git process and looked at through the real World, in this
//! process; pull requests are asked for by the real `gh` of a GitHub on a socket.

mod bases;
mod bundles;
mod case;
mod chains;
mod claims;
mod clones;
mod forge;
mod landings;
mod proposals;
mod reverts;
mod schedules;
