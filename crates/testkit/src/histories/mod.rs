//! Real repositories with a history, built commit by commit through libgit2: no git process, no checkout, no setting of
//! the machine, and a clock that steps a minute with each commit.
//!
//! [`Depot`] is one repository and what can be done in it; [`History`] is a person's clone, with an origin where one is
//! wanted; [`Story`] is a unit's work, and how it lands. What is written to reflogs is what git writes there.

mod claims;
mod depot;
mod history;
mod landing;
mod message;
mod shallow;

pub use claims::Claim;
pub use depot::{Clock, Depot, file_entry};
pub use git2::Oid;
pub use history::History;
pub use landing::{Story, Style, fast_forward, pick_each, rebase};
pub use message::TrailerPlace;
