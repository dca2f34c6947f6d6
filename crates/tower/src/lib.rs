//! The tower: gather → derive → plan → apply, one unit per step, over a [`World`](orchestrate_core::world::World).
//!
//! Holds no state between steps; everything a step knows it has read in that step (law L11).

mod advance;
pub mod apply;
pub mod claims;
mod fence;
pub mod fetch;
mod fitness;
pub mod gate;
pub mod gather;
mod hand_over;
pub mod launch;
pub mod lock;
mod neighbours;
pub mod preflight;
pub mod preview;
pub mod prompt;
pub mod step;
pub mod sweep;
pub mod watch;
mod window;
