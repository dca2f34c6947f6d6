//! `dispatch-fetch [--spec specs/NAME] [--best-effort] <repo-root>` (`contract/core.md §7`).

use camino::Utf8Path;
use orchestrate_core::evidence::{AtOrigin, Base};
use orchestrate_core::fetch::Fetch;
use orchestrate_core::identifier::{CommitId, SpecId, quoted};
use orchestrate_core::observed::Observed;
use orchestrate_core::world::World;
use orchestrate_host::repository::top_of;
use orchestrate_host::world::RealWorld;
use orchestrate_spec::anchor::content_anchor;
use orchestrate_tower::preflight::committed_texts;

use super::FAIL_CLOSED;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::fetch_terms::Caller;
use crate::printer::Printer;
use crate::session::Session;

const DONE: u8 = 0;
const NO_REMOTE: u8 = 3;
const NOT_FETCHED: u8 = 4;
const NO_ANCHOR: u8 = 5;

pub(crate) fn run(
    spec: Option<&str>,
    best_effort: bool,
    root: &Utf8Path,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let refuse = |message: String| Failure::failed(format!("dispatch-fetch: {message}")).with_exit(FAIL_CLOSED);
    let spec = spec.map(named).transpose().map_err(refuse)?;
    let root = environment.absolute(root);
    let top = top_of(&root).ok_or_else(|| refuse(format!("{root} is in no git work tree")))?;
    let session = Session::open(environment, &top, printer).map_err(|failure| failure.with_exit(FAIL_CLOSED))?;
    let caller = if best_effort { Caller::VerbOnce } else { Caller::Verb };
    let (terms, note) = session.fetch_terms(caller);
    if let Some(note) = note {
        printer.talk(&format!("dispatch-fetch: note: {note}"));
    }
    let fetch = session.world.fetch_for(&top, &terms);
    printer.record(&["fetch", fetch.word()]);
    let done = match &fetch {
        Fetch::Fetched | Fetch::Fresh => DONE,
        Fetch::NoRemote => NO_REMOTE,
        Fetch::Failed { why, .. } => {
            printer.talk(&format!("dispatch-fetch: origin cannot be fetched: {why}"));
            return Ok(NOT_FETCHED);
        }
        Fetch::Refused(fault) => {
            printer.talk(&format!("dispatch-fetch: {fault}"));
            return Ok(NOT_FETCHED);
        }
    };
    let Some(spec) = spec else {
        return Ok(done);
    };
    let base = session.world.base(session.settings.base_branch.value.as_ref());
    let base = base.map_err(|fault| fault.to_string());
    let found = if fetch == Fetch::NoRemote {
        here(&session.world, &spec, base)
    } else {
        at_origin(&session.world, &spec, base)
    };
    match found {
        Ok((anchor, reference)) => {
            printer.record(&["anchor", &anchor, &reference]);
            Ok(done)
        }
        Err(why) => {
            printer.talk(&format!("dispatch-fetch: no anchor of specs/{spec}: {why}"));
            Ok(NO_ANCHOR)
        }
    }
}

fn named(text: &str) -> Result<SpecId, String> {
    let name = text.strip_prefix("specs/").map(SpecId::parse);
    match name {
        Some(Ok(spec)) => Ok(spec),
        Some(Err(_)) | None => Err(format!("--spec is {}, and has to be specs/NAME", quoted(text))),
    }
}

/// Returns the anchor at origin's base, and the ref it was computed at.
fn at_origin(world: &RealWorld, spec: &SpecId, base: Result<Base, String>) -> Result<(String, String), String> {
    let base = base?;
    if base.origin != AtOrigin::Has {
        return Err(format!("origin has no branch {}", base.name));
    }
    anchor_at(world, spec, base.gated()).map(|anchor| (anchor, format!("origin/{}", base.name)))
}

/// Returns the anchor at the local base, else at HEAD, and the ref it was computed at.
fn here(world: &RealWorld, spec: &SpecId, base: Result<Base, String>) -> Result<(String, String), String> {
    let at_base = base.and_then(|base| {
        let anchor = anchor_at(world, spec, &base.commit)?;
        Ok((anchor, base.name.to_string()))
    });
    at_base.or_else(|why| {
        let Observed::Known(head) = world.repository().head() else {
            return Err(why);
        };
        anchor_at(world, spec, &head).map(|anchor| (anchor, "HEAD".to_owned()))
    })
}

fn anchor_at(world: &RealWorld, spec: &SpecId, commit: &CommitId) -> Result<String, String> {
    match committed_texts(world, commit, spec) {
        Ok(Observed::Known(texts)) => content_anchor(&texts).map_err(|error| error.to_string()),
        Ok(Observed::Absent(why) | Observed::Unknown(why)) | Err(why) => Err(why.to_string()),
    }
}
