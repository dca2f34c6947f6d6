//! The simulation: towers on simulated hosts under a seeded scheduler, and the judge of the product's laws
//! (architecture §2, §9).
//!
//! A schedule is a function of its seed. In it, several towers run the product's own synchronous code over a
//! [`World`](orchestrate_core::world::World) whose every call hands control to the scheduler, which decides who runs
//! next, what is read as unknown, how each effect ends, and who is killed where. Workers, a person and reference
//! towers act between the calls. Every effect is judged when it happens; at the end the faults stop and everything
//! has to converge. Owns no state beyond one schedule.

mod act;
mod call;
mod commits;
mod convergence;
mod driver;
mod host;
mod law;
mod laws;
mod ledger;
mod mind;
mod network;
mod observe;
mod obstacles;
mod origin;
mod peer;
mod person;
mod random;
mod scenario;
mod scheduler;
mod statistics;
#[cfg(test)]
mod tests;
mod trace;
mod universe;
mod worker;
mod world;

pub use driver::{Tower, TowerEnd, fingerprint, run_many, run_schedule};
pub use law::{Law, Violation};
pub use random::Random;
pub use scenario::{Faults, LawScope, RunnerRules, Scenario};
pub use statistics::{RunReport, Statistics};
