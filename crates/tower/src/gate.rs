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
    let halt = |reason| NoDispatch::Halt(vec![reason]);
    let sign_off_fault = |fault: String| {
        halt(HaltReason::SignOff {
            spec: spec.to_string(),
            fault,
        })
    };
    let brief = match world.committed(&base.commit, spec, BundleFile::KickoffBrief) {
        Observed::Known(brief) => brief,
        Observed::Absent(why) => return Err(sign_off_fault(why.reason)),
        Observed::Unknown(why) => return Err(unread(why)),
    };
    let record = parse_sign_off(spec, &brief).map_err(|error| sign_off_fault(format!("{error} (at {})", base.name)))?;
    let texts = texts_at(world, spec, &base.commit)?;
    let at = format!("{} at {}", base.name, base.commit.short());
    let changed = |signed: String, now: String, pre_change: bool| {
        halt(HaltReason::Changed {
            spec: spec.to_string(),
            signed,
            now,
            at: at.clone(),
            pre_change,
        })
    };
    match freshness(&record, &texts).map_err(|error| sign_off_fault(error.to_string()))? {
        Freshness::Matches => {}
        Freshness::Changed { recorded, now } => return Err(changed(recorded, now, false)),
        Freshness::PreChange { recorded, now } => return Err(changed(recorded, now, true)),
    }
    let anchor_of = |texts: &BundleTexts| content_anchor(texts).map_err(|error| sign_off_fault(error.to_string()));
    let signed = anchor_of(&texts)?;
    if anchor_of(working)? != signed {
        return Err(halt(HaltReason::WorkingCopyDiffers {
            spec: spec.to_string(),
            base: base.name.to_string(),
        }));
    }
    if *start != base.commit && anchor_of(&texts_at(world, spec, start)?)? != signed {
        return Err(halt(outdated_worktree(
            name,
            start,
            "the spec there is not the signed one",
        )));
    }
    Ok(Passed {
        start: start.clone(),
        anchor: record.anchor,
        window: PhantomData,
    })
}

fn texts_at(world: &dyn World, spec: &SpecId, commit: &CommitId) -> Result<BundleTexts, NoDispatch> {
    match committed_texts(world, commit, spec) {
        Ok(Observed::Known(texts)) => Ok(texts),
        Ok(Observed::Absent(why) | Observed::Unknown(why)) => {
            let fault = format!("the bundle is not complete there: {why}");
            Err(NoDispatch::Halt(vec![HaltReason::SignOff {
                spec: spec.to_string(),
                fault,
            }]))
        }
        Err(why) => Err(unread(why)),
    }
}

fn unread(why: Why) -> NoDispatch {
    NoDispatch::Hold(HoldReason::Evidence {
        of: "whether the signed spec is unchanged".to_owned(),
        why,
    })
}
