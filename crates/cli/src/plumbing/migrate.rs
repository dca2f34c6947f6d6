//! `migrate-format-version [specs-root|spec-dir]` (`contract/core.md §8.6`): the rule is the spec crate's; here it is
//! locked, read and written.

mod resume;

use camino::{Utf8Path, Utf8PathBuf};
use orchestrate_core::identifier::{SpecId, printable};
use orchestrate_core::place::{BundleFile, Place};
use orchestrate_core::world::{Fault, Race, Reading, World};
use orchestrate_host::layout::Layout;
use orchestrate_host::unfinished::{self, Change};
use orchestrate_spec::BundleTexts;
use orchestrate_spec::migration::{Migration, Refusal, WRITING_ORDER, migrate};
use orchestrate_tower::lock::{self, LockRefusal};

use self::resume::{Resume, resume};
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

/// What came of a bundle.
enum Outcome {
    /// What the rule says was done.
    Ruled(Migration),
    /// A migration that was cut short was completed.
    Completed,
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
        Ok(Outcome::Ruled(Migration::Migrated { .. })) => {
            tally.migrated += 1;
            printer.line(&format!("migrated: {shown}"));
        }
        Ok(Outcome::Completed) => {
            tally.migrated += 1;
            printer.line(&format!("migrated: {shown} (an earlier run was cut short; completed)"));
        }
        Ok(Outcome::Ruled(Migration::Repaired { .. })) => {
            tally.repaired += 1;
            printer.line(&format!("repaired: {shown} (missing re-anchor entry appended)"));
        }
        Ok(Outcome::Ruled(Migration::AlreadyVersion2)) => {
            tally.unchanged += 1;
            printer.line(&format!("unchanged (already format-version 2): {shown}"));
        }
        Ok(Outcome::Ruled(Migration::NotLive(status))) => {
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
fn under_lock(session: &mut Session, spec: &SpecId, printer: &mut Printer) -> Result<Outcome, Obstacle> {
    let stale_minutes = session.settings.stale_lock_threshold.value.seconds() / 60;
    let layout = session.world.repository().layout.clone();
    let released = lock::with(&mut session.world, spec, stale_minutes, |world, _| {
        let date: String = world.now().to_string().chars().take("2026-01-01".len()).collect();
        let (texts, brief) = read(world, spec)?;
        if completed(world, &layout, spec, (&texts, brief.as_deref()))? {
            return Ok(Outcome::Completed);
        }
        let migration = migrate(spec, &texts, brief.as_deref(), &date).map_err(Obstacle::Rule)?;
        write(world, &layout, spec, &migration, (&texts, brief.as_deref()))?;
        Ok(Outcome::Ruled(migration))
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

/// Completes a migration that was cut short, where there is one; returns whether there was.
fn completed(
    world: &mut dyn World,
    layout: &Layout,
    spec: &SpecId,
    (texts, brief): (&BundleTexts, Option<&[u8]>),
) -> Result<bool, Obstacle> {
    let Some(changes) = unfinished::read(layout, spec)? else {
        return Ok(false);
    };
    let current = |file| match file {
        BundleFile::KickoffBrief => brief,
        BundleFile::Requirements | BundleFile::Design | BundleFile::Tasks | BundleFile::TestSpec => {
            Some(text_of(texts, file))
        }
    };
    match resume(&changes, current) {
        Resume::Obsolete => {
            unfinished::forget(layout, spec)?;
            Ok(false)
        }
        Resume::Complete(missing) if missing.is_empty() => {
            unfinished::forget(layout, spec)?;
            Ok(false)
        }
        Resume::Complete(missing) => {
            let order = WRITING_ORDER.into_iter().chain([BundleFile::KickoffBrief]);
            for file in order.filter(|file| missing.contains(file)) {
                if let Some(change) = changes.iter().find(|change| change.file == file) {
                    replace(world, spec, change)?;
                }
            }
            unfinished::forget(layout, spec)?;
            Ok(true)
        }
        Resume::Blocked(files) => {
            let names: Vec<&str> = files.iter().map(|file| file.name()).collect();
            let (names, kept) = (names.join(", "), unfinished::directory(layout, spec));
            Err(Obstacle::Machine {
                why: format!(
                    "an earlier migration was cut short, and since then {names} changed: neither as before it nor as \
                     it was to be"
                ),
                hint: Some(format!(
                    "keep a copy of your {names} elsewhere, copy the same from {kept}/before to specs/{spec}, migrate \
                     again, then make your edit once more"
                )),
            })
        }
    }
}

/// Writes what a migration changes: the files in the contract's order, the brief last. What is about to be written is
/// kept first, so that a later run completes what a kill cuts short. When one cannot be written, those that were are put
/// back.
fn write(
    world: &mut dyn World,
    layout: &Layout,
    spec: &SpecId,
    migration: &Migration,
    (before, brief_before): (&BundleTexts, Option<&[u8]>),
) -> Result<(), Obstacle> {
    let (texts, brief) = match migration {
        Migration::Migrated { texts, brief } => (texts, brief.as_ref()),
        Migration::Repaired { brief } => {
            let change = Change {
                file: BundleFile::KickoffBrief,
                before: brief_before.unwrap_or_default().to_vec(),
                after: brief.clone(),
            };
            return replace(world, spec, &change).map_err(Obstacle::from);
        }
        Migration::AlreadyVersion2 | Migration::NotLive(_) => return Ok(()),
    };
    let authored = WRITING_ORDER.map(|file| Change {
        file,
        before: text_of(before, file).to_vec(),
        after: text_of(texts, file).to_vec(),
    });
    let brief = brief.zip(brief_before).map(|(after, before)| Change {
        file: BundleFile::KickoffBrief,
        before: before.to_vec(),
        after: after.clone(),
    });
    let changes: Vec<Change> = authored.into_iter().chain(brief).collect();
    unfinished::keep(layout, spec, &changes)?;
    let mut tried = 0;
    let result = changes.iter().try_for_each(|change| {
        tried += 1;
        replace(world, spec, change)
    });
    if let Err(fault) = result {
        // The last write may have happened all the same. What a person wrote meanwhile is theirs, and stays.
        for change in changes.iter().take(tried).rev() {
            let place = Place::BundleFile(spec.clone(), change.file);
            if let Err(second) = world.replace(&place, &change.after, &change.before) {
                return Err(Obstacle::Machine {
                    why: format!("{fault}; and {} could not be put back: {second}", change.file),
                    hint: Some(format!(
                        "migrate again when the disk can be written: that completes it; all files as they were are kept \
                         in {}/before",
                        unfinished::directory(layout, spec)
                    )),
                });
            }
        }
        unfinished::forget(layout, spec)?;
        return Err(fault.into());
    }
    unfinished::forget(layout, spec).map_err(Obstacle::from)
}

/// Writes a change, if the file still holds what was read of it.
fn replace(world: &mut dyn World, spec: &SpecId, change: &Change) -> Result<(), Fault> {
    let place = Place::BundleFile(spec.clone(), change.file);
    match world.replace(&place, &change.before, &change.after)? {
        Race::Won => Ok(()),
        Race::Lost => Err(
            Fault::new(format!("cannot write {place}"), "it has changed since it was read")
                .with_hint("migrate again, when it is saved"),
        ),
    }
}

fn text_of(texts: &BundleTexts, file: BundleFile) -> &[u8] {
    let found = texts.files().into_iter().find(|(name, _)| *name == file);
    found.map_or(&[], |(_, bytes)| bytes)
}
