//! The pure core of `orchestrate`: names, record formats, evidence, derivation, selection, gates and plans.
//!
//! No clock, file, environment or process can be named here (`no_std`); everything a decision may look at is an
//! argument, and every map is ordered, so that the same evidence gives the same plan. Owns no state.
#![no_std]

extern crate alloc;

mod answer;
mod branch;
mod chains;
pub mod completion;
pub mod content;
mod decision;
pub mod declaration;
pub mod derive;
pub mod evidence;
pub mod exit;
pub mod fetch;
pub mod finding;
pub mod finished;
pub mod graph;
pub mod identifier;
pub mod observed;
pub mod orphan;
pub mod place;
pub mod plan;
pub mod process;
pub mod pull_request;
mod reason;
pub mod record;
mod remark;
pub mod revert;
mod row;
pub mod select;
pub mod standing;
pub mod subject;
pub mod time;
pub mod trailer;
mod unit;
pub mod words;
pub mod world;
