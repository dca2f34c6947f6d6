//! The freshness gate (`contract/core.md §3.8`): what is dispatched is what a person signed.
//!
//! Passing it gives a token bound to the lock's window; without the token no dispatch can be applied, and there is no
//! other way to make one (law L9).

use std::marker::PhantomData;

use orchestrate_core::evidence::{AtOrigin, Base};
use orchestrate_core::identifier::{CommitId, SpecId};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::{BundleFile, Place};
use orchestrate_core::plan::{HaltReason, HoldReason, NoDispatch};
use orchestrate_core::world::{Reading, World};
use orchestrate_spec::BundleTexts;
use orchestrate_spec::anchor::content_anchor;
use orchestrate_spec::brief::{Freshness, freshness, parse_sign_off};

use crate::fetch::Fetched;
use crate::lock::Held;
use crate::preflight::{committed_texts, review_and_sign};

/// Proof that the content of base and of the working copy is the content that was signed, valid inside one lock window.
#[derive(Debug, PartialEq, Eq)]
pub struct Passed<'window> {
    anchor: String,
    window: PhantomData<fn(&'window ()) -> &'window ()>,
}

impl Passed<'_> {
    /// Returns the signed content's anchor.
    #[must_use]
    pub fn anchor(&self) -> &str {
        &self.anchor
    }
}

/// Passes the gate under the lock. It compares with what was fetched, and takes the proof that it was.
///
/// # Errors
/// As [`compare`].
pub fn pass<'window>(
    held: &Held<'window>,
    world: &dyn World,
    base: &Base,
    working: &BundleTexts,
    _: &Fetched,
) -> Result<Passed<'window>, NoDispatch> {
    let anchor = compare(world, held.spec(), base, working)?;
    Ok(Passed {
        anchor,
        window: PhantomData,
    })
}

/// Compares the sign-off on base, where there is an origin on origin's, with the content there and the working copy's,
/// and returns the signed content's anchor.
///
/// # Errors
/// The halt or hold, when they are not the same or cannot be read.
pub fn compare(world: &dyn World, spec: &SpecId, base: &Base, working: &BundleTexts) -> Result<String, NoDispatch> {
    if base.origin == AtOrigin::Lacks {
        return Err(halt(HaltReason::NotAtOrigin {
            base: base.name.to_string(),
        }));
    }
    not_behind(world, spec, base)?;
    let signed = match signed_content(world, spec, base, base.gated()) {
        Err(NoDispatch::Halt(_)) if !is_brief_committed(world, spec, base.gated()) => {
            return Err(differs(world, spec, base));
        }
        other => other?,
    };
    if signed.texts == *working {
        return Ok(signed.anchor);
    }
    let working = content_anchor(working).map_err(|error| sign_off_fault(spec, error.to_string()))?;
    if working == signed.anchor {
        Ok(signed.anchor)
    } else {
        Err(differs(world, spec, base))
    }
}

/// Holds the step when origin's base has another version of the bundle, and the local base lacks it: the spec may have
/// been changed, parked or retired there, and what is read here is the working copy (`contract/core.md §20.5`).
fn not_behind(world: &dyn World, spec: &SpecId, base: &Base) -> Result<(), NoDispatch> {
    let Some(counterpart) = base
        .counterpart
        .as_ref()
        .filter(|counterpart| **counterpart != base.commit)
    else {
        return Ok(());
    };
    match world.contains(&base.commit, counterpart) {
        Observed::Known(true) => return Ok(()),
        Observed::Known(false) => {}
        Observed::Absent(why) | Observed::Unknown(why) => return Err(unread(why)),
    }
    for file in BundleFile::ALL {
        let (here, there) = (
            world.committed(&base.commit, spec, file),
            world.committed(counterpart, spec, file),
        );
        match (here, there) {
            (Observed::Unknown(why), _) | (_, Observed::Unknown(why)) => return Err(unread(why)),
            (Observed::Known(here), Observed::Known(there)) if here == there => {}
            (Observed::Absent(_), Observed::Absent(_)) => {}
            (Observed::Known(_) | Observed::Absent(_), Observed::Known(_) | Observed::Absent(_)) => {
                let (spec, base) = (spec.to_string(), base.name.to_string());
                return Err(NoDispatch::Hold(HoldReason::BaseBehind { spec, base }));
            }
        }
    }
    Ok(())
}

fn differs(world: &dyn World, spec: &SpecId, base: &Base) -> NoDispatch {
    let push = (base.origin == AtOrigin::Has).then(|| push(world, base));
    halt(HaltReason::WorkingCopyDiffers {
        spec: spec.to_string(),
        base: base.gated_name(),
        push,
        is_committed: is_committed(world, spec, &base.commit, &BundleFile::ALL),
    })
}

/// Returns the command with which a person brings the local base to origin's. Where origin's has commits that the local
/// one lacks, git refuses the push until a person has brought both together, which the tower never does (law L1).
#[must_use]
pub fn push(world: &dyn World, base: &Base) -> String {
    let name = &base.name;
    let is_behind = base
        .counterpart
        .as_ref()
        .is_some_and(|counterpart| world.contains(&base.commit, counterpart) == Observed::Known(false));
    if is_behind {
        format!("where {name} is checked out: git pull --no-rebase origin {name} && git push origin {name}")
    } else {
        format!("git push origin {name}")
    }
}

/// Returns whether these files of the bundle are in that commit as they are in the working copy: for people alone, as
/// what cannot be read is answered with no.
#[must_use]
pub fn is_committed(world: &dyn World, spec: &SpecId, at: &CommitId, files: &[BundleFile]) -> bool {
    files.iter().all(|&file| {
        let working = world.read(&Place::BundleFile(spec.clone(), file));
        matches!(
            (working, world.committed(at, spec, file)),
            (Reading::File { bytes, .. }, Observed::Known(committed)) if bytes == committed
        )
    })
}

/// Tells a sign-off that is wrong from one that only has not come there yet.
fn is_brief_committed(world: &dyn World, spec: &SpecId, at: &CommitId) -> bool {
    let working = world.read(&Place::BundleFile(spec.clone(), BundleFile::KickoffBrief));
    match (working, world.committed(at, spec, BundleFile::KickoffBrief)) {
        (Reading::File { bytes, .. }, Observed::Known(committed)) => bytes == committed,
        (Reading::File { .. }, Observed::Absent(_)) => false,
        (_, _) => true,
    }
}

/// A commit's bundle that the sign-off in that same commit signs.
pub(crate) struct Signed {
    /// The content's anchor.
    pub(crate) anchor: String,
    texts: BundleTexts,
}

/// Returns a commit's bundle, if the sign-off in that same commit signs it.
pub(crate) fn signed_content(
    world: &dyn World,
    spec: &SpecId,
    base: &Base,
    commit: &CommitId,
) -> Result<Signed, NoDispatch> {
    let brief = match world.committed(commit, spec, BundleFile::KickoffBrief) {
        Observed::Known(brief) => brief,
        Observed::Absent(why) => return Err(sign_off_fault(spec, why.reason)),
        Observed::Unknown(why) => return Err(unread(why)),
    };
    let at = format!("{} at {}", base.gated_name(), commit.short());
    let record = parse_sign_off(spec, &brief).map_err(|error| {
        halt(HaltReason::SignOff {
            spec: spec.to_string(),
            fault: format!("{error} ({at})"),
            remedy: error.reason.remedy(spec),
        })
    })?;
    let texts = texts_at(world, spec, commit)?;
    let (signed, now, pre_change) =
        match freshness(&record, &texts).map_err(|error| sign_off_fault(spec, error.to_string()))? {
            Freshness::Matches => {
                let anchor = content_anchor(&texts).map_err(|error| sign_off_fault(spec, error.to_string()))?;
                return Ok(Signed { anchor, texts });
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
        remedy: review_and_sign(spec),
    })
}

fn unread(why: Why) -> NoDispatch {
    NoDispatch::unread("whether the signed spec is unchanged", why)
}
