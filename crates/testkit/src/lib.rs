//! Test tools, dev only: bundle fixtures, a loopback GitHub, real repositories with a history, and the simulated World
//! that judges the product's laws.
//!
//! Owns no state; nothing of it is in the product.

pub mod bundle;
pub mod github;
pub mod histories;
pub mod simulation;
