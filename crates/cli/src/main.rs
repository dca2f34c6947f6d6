//! The `orchestrate` binary.
fn main() {}
