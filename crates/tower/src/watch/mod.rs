//! `--watch`: a pure machine that decides, and a driver that performs.

pub mod driver;
mod machine;

pub use machine::{Effect, Event, IllegalEvent, StepClass, StopReason, Watch};
