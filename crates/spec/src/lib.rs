//! Reads a spec bundle: Markdown texts in, a [`Bundle`] or [`Diagnostic`]s out.
//!
//! Also owns the content anchor ([`anchor`]) and the sign-off records of the kickoff brief ([`brief`]). No clock,
//! file, environment or process is touched here; the texts come from a checkout or from a commit, which is the
//! caller's affair. Owns no state.
//!
//! A bundle is read by the line rules of `contract/core.md §1`. Where those rules and CommonMark, which is what people
//! see rendered, disagree so that a task or a dependency would appear or vanish, the bundle is refused with its line.

pub mod anchor;
mod baseline;
mod block;
pub mod brief;
mod bundle;
mod changelog;
mod check;
mod citation;
mod citing;
mod commonmark;
mod date;
mod dependencies;
mod design;
mod diagnostic;
pub mod drawing;
pub mod edit;
mod examine;
mod excerpt;
mod field;
mod files;
mod gates;
mod header;
pub mod ledger;
mod lookalike;
pub mod migration;
mod mirror;
mod misspelling;
pub mod outline;
pub mod park;
mod parking;
pub mod placement;
mod relations;
pub mod render;
mod requirements;
mod section;
pub mod selection;
mod source;
mod task_heading;
mod tasks;
pub mod template;
mod test_spec;
mod text;

pub use baseline::compare_with_baseline;
pub use bundle::{Bundle, FormatVersion, Status};
pub use changelog::ChangelogEntry;
pub use check::checks;
pub use date::Date;
pub use design::Decision;
pub use diagnostic::{Class, Diagnostic, Severity};
pub use examine::{Examination, examine, parse_bundle};
pub use excerpt::with_excerpts;
pub use files::{BundleFiles, BundleTexts, FileText, LARGEST_FILE};
pub use gates::{Atom, Confidence, Gate, GateCondition};
pub use orchestrate_core::place::BundleFile;
pub use parking::ReferenceBullet;
pub use requirements::Requirement;
pub use section::{Annotation, AnnotationKind, Completion, Section};
pub use tasks::Task;
pub use test_spec::TestEntry;
pub use text::Span;
