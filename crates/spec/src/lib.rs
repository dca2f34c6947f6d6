//! Reads a spec bundle: Markdown texts in, a [`Bundle`] or [`Diagnostic`]s out.
//!
//! Also owns the content anchor ([`anchor`]) and the sign-off records of the kickoff brief ([`brief`]). No clock,
//! file, environment or process is touched here; the texts come from a checkout or from a commit, which is the
//! caller's affair. Owns no state.
//!
//! A bundle is read by the line rules of `contract/core.md §1`. Where those rules and CommonMark, which is what people
//! see rendered, disagree so that a task or a dependency would appear or vanish, the bundle is refused with its line.

pub mod anchor;
mod block;
pub mod brief;
mod bundle;
mod commonmark;
mod dependencies;
mod design;
mod diagnostic;
mod header;
mod lookalike;
mod mirror;
mod parking;
mod relations;
mod requirements;
mod tasks;
mod text;

pub use bundle::{Bundle, BundleTexts, Status, parse_bundle};
pub use design::Decision;
pub use diagnostic::Diagnostic;
pub use orchestrate_core::place::BundleFile;
pub use parking::ReferenceBullet;
pub use requirements::Requirement;
pub use tasks::Task;
