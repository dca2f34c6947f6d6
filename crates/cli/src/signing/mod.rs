//! Signing a bundle: what is shown to a person, what they answer, and what is written then.
//!
//! Everything here but [`terminal`] is pure: texts and answers in, [`walk::Effect`]s out, so that it is tested without a
//! terminal. `commands/sign.rs` reads, performs the effects and writes. There is no way to sign but this walk (law L9).

mod changelog;
pub(crate) mod pages;
pub(crate) mod progress;
mod questions;
pub(crate) mod record;
pub(crate) mod sections;
pub(crate) mod subject;
pub(crate) mod terminal;
mod unseen;
pub(crate) mod walk;

#[cfg(test)]
mod tests;
