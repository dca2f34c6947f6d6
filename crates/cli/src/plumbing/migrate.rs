//! `migrate-format-version [specs-root|spec-dir]` (`contract/core.md §8.6`): the rule is the spec crate's; here it is
//! locked, read and written.

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::{SpecId, printable};
use orchestrate_core::place::{BundleFile, Place};
use orchestrate_core::world::{Fault, Reading, World};
use orchestrate_spec::BundleTexts;
use orchestrate_spec::migration::{Migration, Refusal, WRITING_ORDER, migrate};
use orchestrate_tower::lock::{self, LockRefusal};

use super::FAIL_CLOSED;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::Session;

const REFUSED: u8 = 1;

/// Why a bundle was left as it is.
enum Obstacle {
    /// The rule does not say how to migrate it.
    Rule(Refusal),
    /// Its lock is taken, or the disk refuses.
    Machine { why: String, hint: Option<String> },
}

impl From<Fault> for Obstacle {
    fn from(fault: Fault) -> Self {
        Self::Machine {
            why: fault.to_string(),
            hint: fault.hint,
        }
    }
}

#[derive(Default)]
struct Tally {
    migrated: usize,
    repaired: usize,
    unchanged: usize,
    refused: usize,
    hints: Vec<String>,
}

pub(crate) fn run(target: Option<&Utf8Path>, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    let refuse = |message: String| Failure::failed(format!("migrate-format-version: {message}")).with_exit(FAIL_CLOSED);
    let start = environment.absolute(target.unwrap_or(Utf8Path::new(".")));
    let physical = start
        .canonicalize_utf8()
        .map_err(|error| refuse(format!("cannot open {start}: {error}")))?;
    let mut session =
        Session::open(environment, &physical, printer).map_err(|failure| failure.with_exit(FAIL_CLOSED))?;
    let specs = session.world.repository().layout.primary.join("specs");
    let names = if target.is_none() || physical == specs {
        children(&specs).map_err(|error| refuse(format!("cannot list {specs}: {error}")))?
    } else if physical.is_dir() && physical.parent() == Some(&specs) {
        physical.file_name().map(str::to_owned).into_iter().collect()
    } else {
        return Err(refuse(format!(
            "{start} is not the directory specs of the primary checkout, nor a bundle in it"
        ))
        .with_hint("bundles are migrated where towers take their locks: run this on the primary checkout"));
    };
    let mut tally = Tally::default();
    for name in names {
        one(&mut session, &specs, &name, &mut tally, printer);
    }
    let Tally {
        migrated,
        repaired,
        unchanged,
        refused,
        hints,
    } = tally;
    printer.line(&format!(
        "migrate-format-version: {migrated} migrated, {repaired} repaired, {unchanged} unchanged, {refused} refused"
    ));
    for hint in hints {
        printer.talk(&format!("hint: {hint}"));
    }
    Ok(if refused == 0 { 0 } else { REFUSED })
}

/// Returns the names in the directory that may be bundles, in byte order. What is no directory is none, unless it is a
/// link to one.
fn children(specs: &Utf8Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in specs.read_dir()? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with(['.', '_']) && entry.path().is_dir() {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Migrates one bundle and says what came of it.
fn one(session: &mut Session, specs: &Utf8PathBuf, name: &str, tally: &mut Tally, printer: &mut Printer) {
    let shown = printable(name);
    let is_link = specs.join(name).is_symlink();
    let outcome = match SpecId::parse(name) {
        Ok(_) if is_link => Err(stays("it is a symbolic link, and bundles are real directories")),
        Ok(spec) => under_lock(session, &spec, printer),
        Err(error) => Err(stays(&format!("its name is {error}"))),
    };
    match outcome {
        Ok(Migration::Migrated { .. }) => {
            tally.migrated += 1;
            printer.line(&format!("migrated: {shown}"));
        }
        Ok(Migration::Repaired { .. }) => {
            tally.repaired += 1;
            printer.line(&format!("repaired: {shown} (missing re-anchor entry appended)"));
        }
        Ok(Migration::AlreadyVersion2) => {
            tally.unchanged += 1;
            printer.line(&format!("unchanged (already format-version 2): {shown}"));
        }
        Ok(Migration::NotLive(status)) => {
            tally.unchanged += 1;
            printer.line(&format!("unchanged (not live): {shown} ({status})"));
        }
        Err(obstacle) => {
            tally.refused += 1;
            let (why, hint) = match obstacle {
                Obstacle::Rule(refusal) => (refusal.to_string(), refusal.remedy(name)),
                Obstacle::Machine { why, hint } => (why, hint),
            };
            printer.talk(&format!("refused: {shown} — {why}"));
            tally.hints.extend(hint.filter(|hint| !tally.hints.contains(hint)));
        }
    }
}

fn stays(why: &str) -> Obstacle {
    Obstacle::Machine {
        why: why.to_owned(),
        hint: None,
    }
}

/// The lock is held over the whole reading and writing (`contract/core.md §6.1`).
fn under_lock(session: &mut Session, spec: &SpecId, printer: &mut Printer) -> Result<Migration, Obstacle> {
    let stale_minutes = session.settings.stale_lock_threshold.value.seconds() / 60;
    let released = lock::with(&mut session.world, spec, stale_minutes, |world, _| {
        let date: String = world.now().to_string().chars().take("2026-01-01".len()).collect();
        let (texts, brief) = read(world, spec)?;
        let migration = migrate(spec, &texts, brief.as_deref(), &date).map_err(Obstacle::Rule)?;
        write(world, spec, &migration, &texts)?;
        Ok(migration)
    });
    match released {
        Ok(released) => {
            if let Some(fault) = released.kept {
                printer.talk(&format!("migrate-format-version: the lock was not released: {fault}"));
            }
            released.value
        }
        Err(LockRefusal::Busy(why)) => Err(Obstacle::Machine {
            why: format!("its lock is held: {}", why.reason),
            hint: why.hint,
        }),
        Err(LockRefusal::Fault(fault)) => Err(fault.into()),
    }
}

fn read(world: &dyn World, spec: &SpecId) -> Result<(BundleTexts, Option<Vec<u8>>), Obstacle> {
    let optional = |file: BundleFile| {
        let unreadable = |cause: &str| {
            Obstacle::Rule(Refusal::Unreadable {
                file,
                cause: cause.to_owned(),
            })
        };
        match world.read(&Place::BundleFile(spec.clone(), file)) {
            Reading::File { bytes, .. } => Ok(Some(bytes)),
            Reading::Absent => Ok(None),
            Reading::Symlink => Err(Obstacle::Rule(Refusal::Symlink(file))),
            Reading::Directory { .. } => Err(unreadable("it is a directory")),
            Reading::Special => Err(unreadable("it is no regular file")),
            Reading::Unreadable(cause) => Err(unreadable(&cause)),
        }
    };
    let required = |file| optional(file)?.ok_or(Obstacle::Rule(Refusal::Missing(file)));
    let texts = BundleTexts {
        requirements: required(BundleFile::Requirements)?,
        design: required(BundleFile::Design)?,
        tasks: required(BundleFile::Tasks)?,
        test_spec: required(BundleFile::TestSpec)?,
    };
    Ok((texts, optional(BundleFile::KickoffBrief)?))
}

/// Writes what a migration changes: the files in the contract's order, the brief last. When one cannot be written, those
/// that were are put back.
fn write(world: &mut dyn World, spec: &SpecId, migration: &Migration, before: &BundleTexts) -> Result<(), Obstacle> {
    let (texts, brief) = match migration {
        Migration::Migrated { texts, brief } => (Some(texts), brief.as_ref()),
        Migration::Repaired { brief } => (None, Some(brief)),
        Migration::AlreadyVersion2 | Migration::NotLive(_) => return Ok(()),
    };
    let place = |file| Place::BundleFile(spec.clone(), file);
    let mut written = Vec::new();
    let result = texts
        .into_iter()
        .flat_map(|texts| WRITING_ORDER.map(|file| (file, text_of(texts, file))))
        .chain(brief.map(|brief| (BundleFile::KickoffBrief, brief.as_slice())))
        .try_for_each(|(file, bytes)| {
            written.push(file);
            world.write(&place(file), bytes)
        });
    let Err(fault) = result else { return Ok(()) };
    // The last write may have happened all the same; the brief has no earlier state that could be torn.
    let authored = written
        .into_iter()
        .rev()
        .filter(|file| *file != BundleFile::KickoffBrief);
    for file in authored {
        let original = text_of(before, file);
        let is_there = matches!(world.read(&place(file)), Reading::File { bytes, .. } if bytes == original);
        if !is_there && let Err(second) = world.write(&place(file), original) {
            return Err(Obstacle::Machine {
                why: format!("{fault}; and {file} could not be put back: {second}"),
                hint: Some(format!("git restore -- specs/{spec} brings the committed files back")),
            });
        }
    }
    Err(fault.into())
}

fn text_of(texts: &BundleTexts, file: BundleFile) -> &[u8] {
    let found = texts.files().into_iter().find(|(name, _)| *name == file);
    found.map_or(&[], |(_, bytes)| bytes)
}
