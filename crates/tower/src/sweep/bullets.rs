//! A bundle that is being edited by a sweep: every edit is checked against what was signed, and all are written together.

use std::fmt;

use orchestrate_core::graph::ParkingPlace;
use orchestrate_core::identifier::{SpecId, TaskId, Unit};
use orchestrate_core::place::{BundleFile, Place};
use orchestrate_core::plan::HaltReason;
use orchestrate_core::world::{Fault, Race, World};
use orchestrate_spec::anchor::content_anchor;
use orchestrate_spec::park::{ParkError, park, unpark};
use orchestrate_spec::placement::{PlacementError, park_block, unpark_block};
use orchestrate_spec::{BundleFiles, BundleTexts, FormatVersion};

use super::lift::{Lifted, without_halt};
use super::{Parked, Placed, Swept};
use crate::lock::Held;
use crate::preflight::whole_bundle;

/// One task that is to be parked.
pub(super) struct Entry {
    pub(super) unit: Unit,
    pub(super) task: TaskId,
    /// What happened, for whoever is told so because it cannot be parked.
    pub(super) what: String,
    /// What the bullet says: that, and the command that removes the bullet again.
    pub(super) note: String,
    pub(super) halted: Vec<HaltReason>,
}

/// Why a task that waits for a person was not parked: the others are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    task: TaskId,
    what: String,
    why: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { task, what, why } = self;
        write!(
            formatter,
            "task {task} waits for a person ({what}), and cannot be parked: {why}"
        )
    }
}

impl Entry {
    pub(super) fn parked(self) -> Parked {
        Parked {
            unit: self.unit,
            task: self.task,
            note: self.note,
            halted: self.halted,
        }
    }
}

/// A bundle with the edits of one sweep.
#[derive(Debug, Clone)]
pub struct Edited {
    spec: SpecId,
    version: FormatVersion,
    before: BundleTexts,
    after: BundleTexts,
    placed: Vec<BundleFile>,
    parked: Vec<Parked>,
    lifted: Vec<Lifted>,
}

impl Edited {
    pub(super) fn unchanged(spec: SpecId, version: FormatVersion, texts: &BundleTexts) -> Self {
        Self {
            spec,
            version,
            before: texts.clone(),
            after: texts.clone(),
            placed: Vec::new(),
            parked: Vec::new(),
            lifted: Vec::new(),
        }
    }

    pub(super) fn is_unchanged(&self) -> bool {
        self.before == self.after
    }

    pub(super) fn place(&mut self, placed: Placed) {
        self.placed.extend(placed.files);
        self.after = placed.texts;
    }

    pub(super) fn swept(self, dry_run: bool) -> Swept {
        Swept {
            spec: self.spec,
            placed: self.placed,
            parked: self.parked,
            lifted: self.lifted,
            dry_run,
        }
    }

    /// Writes every file that changed, the one that declares the status last. Each is replaced whole; a step that dies
    /// in between leaves what the next one brings up to date. What somebody wrote meanwhile is not overwritten.
    ///
    /// # Errors
    /// When a file is no longer as it was read, or the machine refuses.
    pub(super) fn write(&self, world: &mut dyn World, held: &Held<'_>) -> Result<(), Fault> {
        debug_assert!(*held.spec() == self.spec);
        let files = self.before.files().into_iter().zip(self.after.files()).rev();
        for ((file, before), (_, after)) in files {
            if before == after {
                continue;
            }
            let place = Place::BundleFile(self.spec.clone(), file);
            match world.replace(&place, before, after)? {
                Race::Won => {}
                Race::Lost => {
                    let fault = Fault::new(format!("cannot write {place}"), "it has changed since it was read");
                    return Err(fault.with_hint("step again"));
                }
            }
        }
        Ok(())
    }

    fn park(&mut self, entry: Entry) -> Result<(), String> {
        let place = ParkingPlace::AwaitingInput;
        let tasks = match self.version {
            FormatVersion::Two => park(&self.after.tasks, &entry.task, place, &entry.note),
            FormatVersion::One => match park_block(&self.after.tasks, &entry.task, place, &entry.note) {
                Ok(tasks) => Ok(tasks),
                Err(PlacementError::NoSection(place)) => Err(ParkError::NoSection(place)),
                Err(error) => return Err(error.to_string()),
            },
        };
        let tasks = match tasks {
            Ok(tasks) => tasks,
            Err(ParkError::NoSection(place)) => {
                let (section, spec, tasks) = (place.section(), &self.spec, BundleFile::Tasks);
                return Err(format!(
                    "specs/{spec}/{tasks} has no section `## {section}`; add it, with the line `(none yet)`: the next step \
                     parks it there"
                ));
            }
            // Once is enough, wherever it is.
            Err(ParkError::Parked { .. }) => return Ok(()),
            Err(error) => return Err(error.to_string()),
        };
        self.take(tasks)?;
        self.parked.push(entry.parked());
        Ok(())
    }

    /// Takes away what a halt of every unit wrote.
    ///
    /// # Errors
    /// Why it stays.
    pub(super) fn lift(&mut self, lifted: Lifted) -> Result<(), String> {
        let tasks = without_halt(&self.after.tasks, &lifted)?;
        self.take(tasks)?;
        self.lifted.push(lifted);
        Ok(())
    }

    fn take(&mut self, tasks: Vec<u8>) -> Result<(), String> {
        let after = BundleTexts {
            tasks,
            ..self.after.clone()
        };
        refuse_other_content(&self.spec, &self.before, &after)?;
        self.after = after;
        Ok(())
    }
}

/// Parks every task that is not parked yet. What cannot be parked keeps nobody else from it.
pub(super) fn park_all(edited: &mut Edited, entries: impl IntoIterator<Item = Entry>) -> Vec<Refused> {
    let mut refused = Vec::new();
    for entry in entries {
        let (task, what) = (entry.task.clone(), entry.what.clone());
        if let Err(why) = edited.park(entry) {
            refused.push(Refused { task, what, why });
        }
    }
    refused
}

impl Swept {
    /// Returns `tasks.md` as it was before this sweep, of what it is now: parking and unparking are inverse (decision 83).
    ///
    /// # Errors
    /// Why it cannot be told, in words.
    pub fn before(&self, version: FormatVersion, mut tasks: Vec<u8>) -> Result<Vec<u8>, String> {
        for parked in self.parked.iter().rev() {
            tasks = unparked(version, &tasks, &parked.task)?;
        }
        let place = ParkingPlace::AwaitingInput;
        for Lifted { task, note } in self.lifted.iter().rev() {
            // Nothing of version 1 is taken back.
            tasks = park(&tasks, task, place, note).map_err(|error| error.to_string())?;
        }
        Ok(tasks)
    }
}

/// Returns `tasks.md` without what parks a task.
pub(super) fn unparked(version: FormatVersion, tasks: &[u8], task: &TaskId) -> Result<Vec<u8>, String> {
    match version {
        FormatVersion::One => unpark_block(tasks, task).map_err(|error| error.to_string()),
        FormatVersion::Two => unpark(tasks, task).map_err(|error| error.to_string()),
    }
}

/// Whatever a sweep writes, the bundle reads as before and what was signed is the same.
pub(super) fn refuse_other_content(spec: &SpecId, before: &BundleTexts, after: &BundleTexts) -> Result<(), String> {
    whole_bundle(spec, BundleFiles::from(after.clone()))
        .map_err(|_| "the bundle could not be read afterwards".to_owned())?;
    let anchor = |texts: &BundleTexts| content_anchor(texts).map_err(|error| error.to_string());
    if anchor(before)? == anchor(after)? {
        Ok(())
    } else {
        Err("it would touch what was signed".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_section_is_missing_it_is_to_be_added() {
        for version in [FormatVersion::One, FormatVersion::Two] {
            let heading = if version == FormatVersion::One {
                "Forward plan"
            } else {
                "Tasks"
            };
            let texts = BundleTexts {
                requirements: Vec::new(),
                design: Vec::new(),
                tasks: format!("# A\n\n## {heading}\n\n### Task 1 — a\n").into_bytes(),
                test_spec: Vec::new(),
            };
            let task = TaskId::parse("1").expect("an id");
            let mut edited = Edited::unchanged(SpecId::parse("alpha").expect("a name"), version, &texts);
            let entry = Entry {
                unit: Unit::single(task.clone()),
                task,
                what: "halted: x".to_owned(),
                note: "halted: x; then orchestrate unpark alpha 1".to_owned(),
                halted: Vec::new(),
            };
            let refused: Vec<String> = park_all(&mut edited, [entry]).iter().map(ToString::to_string).collect();
            assert_eq!(
                refused,
                [
                    "task 1 waits for a person (halted: x), and cannot be parked: specs/alpha/tasks.md has no section `## \
                     Awaiting input`; add it, with the line `(none yet)`: the next step parks it there"
                ]
            );
            assert!(edited.is_unchanged());
        }
    }
}
