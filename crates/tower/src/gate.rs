//! The freshness gate (`contract/core.md §3.8`): what is dispatched is what a person signed.
//!
//! Passing it gives a token bound to the lock's window; without the token no dispatch can be applied, and there is no
//! other way to make one (law L9).

use std::marker::PhantomData;

use orchestrate_core::evidence::Base;
use orchestrate_core::identifier::{CommitId, SpecId, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::BundleFile;
use orchestrate_core::plan::{HaltReason, HoldReason, NoDispatch};
use orchestrate_core::world::World;
use orchestrate_spec::BundleTexts;
use orchestrate_spec::anchor::content_anchor;
use orchestrate_spec::brief::{Freshness, freshness, parse_sign_off};

use crate::lock::Held;
use crate::preflight::committed_texts;
use crate::window::outdated_worktree;

/// Proof that the content at a commit is the content that was signed, valid inside one lock window.
#[derive(Debug, PartialEq, Eq)]
pub struct Passed<'window> {
    start: CommitId,
    anchor: String,
    window: PhantomData<fn(&'window ()) -> &'window ()>,
}

impl Passed<'_> {
    /// Returns the commit that was compared, at which the branch has to start.
    #[must_use]
    pub fn start(&self) -> &CommitId {
        &self.start
    }

    /// Returns the signed anchor.
    #[must_use]
    pub fn anchor(&self) -> &str {
        &self.anchor
    }
}

/// Compares the sign-off on base with base's content, the start commit's, and the working copy's.
///
/// # Errors
/// The halt or hold, when they are not the same or cannot be read.
pub fn check<'window>(
    held: &Held<'window>,
    world: &dyn World,
    name: &UnitName,
    base: &Base,
    start: &CommitId,
    working: &BundleTexts,
) -> Result<Passed<'window>, NoDispatch> {
    let spec = held.spec();
    let signed = signed_content(world, spec, base, &base.commit)?;
    let working = content_anchor(working).map_err(|error| sign_off_fault(spec, error.to_string()))?;
    if working != signed {
        let base = base.name.to_string();
        let spec = spec.to_string();
        return Err(halt(HaltReason::WorkingCopyDiffers { spec, base }));
    }
    if *start != base.commit {
        let older = |what: &str| halt(outdated_worktree(name, start, what));
        match signed_content(world, spec, base, start) {
            Ok(older_content) if older_content == signed => {}
            Ok(_) => return Err(older("the spec there is not the signed one")),
            Err(NoDispatch::Halt(_)) => return Err(older("the spec there is not validly signed")),
            Err(other) => return Err(other),
        }
    }
    Ok(Passed {
        start: start.clone(),
        anchor: signed,
        window: PhantomData,
    })
}

/// Returns the content anchor of a commit's bundle, if the sign-off in that same commit signs it.
fn signed_content(world: &dyn World, spec: &SpecId, base: &Base, commit: &CommitId) -> Result<String, NoDispatch> {
    let brief = match world.committed(commit, spec, BundleFile::KickoffBrief) {
        Observed::Known(brief) => brief,
        Observed::Absent(why) => return Err(sign_off_fault(spec, why.reason)),
        Observed::Unknown(why) => return Err(unread(why)),
    };
    let at = format!("{} at {}", base.name, commit.short());
    let record = parse_sign_off(spec, &brief).map_err(|error| sign_off_fault(spec, format!("{error} ({at})")))?;
    let texts = texts_at(world, spec, commit)?;
    let (signed, now, pre_change) =
        match freshness(&record, &texts).map_err(|error| sign_off_fault(spec, error.to_string()))? {
            Freshness::Matches => {
                return content_anchor(&texts).map_err(|error| sign_off_fault(spec, error.to_string()));
            }
            Freshness::Changed { recorded, now } => (recorded, now, false),
            Freshness::PreChange { recorded, now } => (recorded, now, true),
        };
    let spec = spec.to_string();
    Err(halt(HaltReason::Changed {
        spec,
        signed,
        now,
        at,
        pre_change,
    }))
}

fn texts_at(world: &dyn World, spec: &SpecId, commit: &CommitId) -> Result<BundleTexts, NoDispatch> {
    match committed_texts(world, commit, spec) {
        Ok(Observed::Known(texts)) => Ok(texts),
        Ok(Observed::Absent(why) | Observed::Unknown(why)) => {
            Err(sign_off_fault(spec, format!("the bundle is not complete there: {why}")))
        }
        Err(why) => Err(unread(why)),
    }
}

fn halt(reason: HaltReason) -> NoDispatch {
    NoDispatch::Halt(vec![reason])
}

fn sign_off_fault(spec: &SpecId, fault: String) -> NoDispatch {
    halt(HaltReason::SignOff {
        spec: spec.to_string(),
        fault,
    })
}

fn unread(why: Why) -> NoDispatch {
    NoDispatch::Hold(HoldReason::Evidence {
        of: "whether the signed spec is unchanged".to_owned(),
        why,
    })
}
