//! What follows a signature: the commit, or the commands for it, and where the tower looks for it.

use orchestrate_core::exit;
use orchestrate_core::identifier::SpecId;
use orchestrate_core::observed::Observed;
use orchestrate_core::place::{BundleFile, Place};
use orchestrate_core::words::count;
use orchestrate_core::world::{Reading, World};
use orchestrate_host::commit::{by_hand, commit_bundle};
use orchestrate_spec::BundleTexts;
use orchestrate_spec::brief::{Freshness, freshness, parse_sign_off};

use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::Session;

/// When it was signed, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signed {
    /// In an earlier run; what follows may not have been done.
    Before,
    /// Just now.
    Now,
    /// Just now, by a record about the wording.
    ReAnchored,
}

/// Returns what will follow the signature, before it is given.
pub(super) fn announced(session: &Session, spec: &SpecId) -> String {
    if session.settings.commit_on_kickoff.value {
        format!("Then this is committed, and nothing else than the files of specs/{spec} (commit_on_kickoff: true).")
    } else {
        "Then the git commands that commit it are printed (commit_on_kickoff: false).".to_owned()
    }
}

/// Commits what was signed, or prints how to.
pub(super) fn finish(
    session: &Session,
    spec: &SpecId,
    signed: Signed,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let uncommitted = uncommitted(session, spec);
    if uncommitted == 0 {
        if signed == Signed::Before {
            printer.line("nothing to do: it is committed");
        }
        tell_where(session, spec, printer);
        return Ok(exit::DONE);
    }
    let subject = match signed {
        Signed::ReAnchored => format!("docs({spec}): re-anchor the sign-off"),
        Signed::Now | Signed::Before => format!("docs({spec}): sign off the bundle"),
    };
    if !session.settings.commit_on_kickoff.value {
        printer.line("it is not committed yet, and the tower reads commits:");
        for command in by_hand(&session.world.repository().layout, spec, &subject) {
            printer.line(&format!("  {command}"));
        }
        return Ok(exit::DONE);
    }
    let layout = &session.world.repository().layout;
    let Some(git) = &environment.git else {
        return Err(Failure::failed("cannot commit: git is not on the search path")
            .with_hint("install git; what was signed is written, and only the commit is missing"));
    };
    if let Err(fault) = commit_bundle(git, layout, spec, &subject) {
        printer.line("it is not committed yet; when what git says is mended, sign again or do it by hand:");
        for command in by_hand(layout, spec, &subject) {
            printer.line(&format!("  {command}"));
        }
        return Err(fault.into());
    }
    let files = count(uncommitted, "file");
    printer.line(&format!("committed {files} of specs/{spec}: {subject}"));
    signs_the_commit(session, spec)?;
    tell_where(session, spec, printer);
    Ok(exit::DONE)
}

/// Returns how many of the five files HEAD does not have as they lie in the checkout.
fn uncommitted(session: &Session, spec: &SpecId) -> usize {
    let Observed::Known(head) = session.world.repository().head() else {
        return BundleFile::ALL.len();
    };
    let differs = |file: &BundleFile| {
        let here = session.world.read(&Place::BundleFile(spec.clone(), *file));
        match (here, session.world.committed(&head, spec, *file)) {
            (Reading::File { bytes, .. }, Observed::Known(committed)) => bytes != committed,
            (_, _) => true,
        }
    };
    BundleFile::ALL.iter().filter(|file| differs(file)).count()
}

/// Checks that the record signs what was committed: git may have changed the bytes on their way.
fn signs_the_commit(session: &Session, spec: &SpecId) -> Result<(), Failure> {
    let unread = |why: String| Failure::failed(format!("cannot read the commit again: {why}"));
    let head = match session.world.repository().head() {
        Observed::Known(head) => head,
        Observed::Absent(why) | Observed::Unknown(why) => return Err(unread(why.to_string())),
    };
    let at = |file: BundleFile| match session.world.committed(&head, spec, file) {
        Observed::Known(bytes) => Ok(bytes),
        Observed::Absent(why) | Observed::Unknown(why) => Err(unread(why.to_string())),
    };
    let texts = BundleTexts {
        requirements: at(BundleFile::Requirements)?,
        design: at(BundleFile::Design)?,
        tasks: at(BundleFile::Tasks)?,
        test_spec: at(BundleFile::TestSpec)?,
    };
    let record = parse_sign_off(spec, &at(BundleFile::KickoffBrief)?).map_err(|error| unread(error.to_string()))?;
    match freshness(&record, &texts) {
        Ok(Freshness::Matches) => Ok(()),
        Ok(Freshness::Changed { .. } | Freshness::PreChange { .. }) | Err(_) => Err(Failure::failed(
            "the commit holds other bytes than the files that were signed, so the record does not sign it",
        )
        .with_hint("git converts these files (line ends, a filter, a hook): keep specs/ out of that, then sign again")),
    }
}

/// Says where the tower looks, when the signature is not there yet.
fn tell_where(session: &Session, spec: &SpecId, printer: &mut Printer) {
    let next = format!("orchestrate specs/{spec} --dry-run");
    printer.line(&match elsewhere(session) {
        None => format!("next: {next}"),
        Some(Elsewhere { base, .. }) => format!("next: bring it to {base}, where the tower reads it; then {next}"),
    });
}

/// The tower does not look where the checkout is.
struct Elsewhere {
    /// The branch that it reads.
    base: String,
    /// Where the checkout is, in words.
    here: String,
}

/// Returns where the tower looks when that is another branch than the one that is checked out.
fn elsewhere(session: &Session) -> Option<Elsewhere> {
    let base = session.world.base(session.settings.base_branch.value.as_ref()).ok()?;
    let standing = session.world.repository().standing().ok();
    let branch = standing.and_then(|standing| standing.branch);
    if branch == Some(format!("refs/heads/{}", base.name)) {
        return None;
    }
    let here = branch.as_deref().map_or("no branch", |branch| {
        branch.strip_prefix("refs/heads/").unwrap_or(branch)
    });
    Some(Elsewhere {
        base: base.name.to_string(),
        here: here.to_owned(),
    })
}

/// Returns what a person should know of the place before reading.
pub(super) fn remarks(session: &Session) -> Vec<String> {
    let told = |Elsewhere { base, here }| {
        format!(
            "the tower reads {base}, and this checkout is on {here}: what is signed here counts when it is on {base}."
        )
    };
    elsewhere(session).map(told).into_iter().collect()
}
