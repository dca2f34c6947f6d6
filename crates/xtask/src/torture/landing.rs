//! How a person lands a unit's branch: in the only repository, or at a desk, whence main is pushed to origin.
//!
//! Nobody else may move main; the person remembers where it was left.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::failure::{Context, Result};

use super::journal::Event;
use super::place::{Place, SPEC, write};
use super::processes::End;
use super::random::Random;
use super::scene::Scene;

/// What has landed, and where every main was left.
pub(super) struct Landings<'a> {
    scene: &'a Scene,
    /// Where main was left.
    main: String,
    /// Where main was left in each clone.
    clones: BTreeMap<String, String>,
    landed: BTreeSet<String>,
}

impl<'a> Landings<'a> {
    pub(super) fn new(scene: &'a Scene) -> Result<Self> {
        let main = scene.main()?;
        let clones = scene.hosts.iter().filter(|_| scene.shared.is_some());
        Ok(Self {
            clones: clones.map(|place| (place.name.clone(), main.clone())).collect(),
            scene,
            main,
            landed: BTreeSet::new(),
        })
    }

    /// Returns the units that a person has landed.
    pub(super) fn landed(&self) -> &BTreeSet<String> {
        &self.landed
    }

    /// Notes when main is not where the person left it, at origin or in a clone.
    pub(super) fn check_main(&mut self, faults: &mut Vec<String>) -> Result<()> {
        let now = self.scene.main()?;
        if now != self.main {
            faults.push(format!(
                "main moved from {} to {now}, and the person did not do it",
                self.main
            ));
            self.main = now;
        }
        Ok(())
    }

    /// Notes when main of a clone is not where the person left it.
    pub(super) fn check_clones(&self, faults: &mut Vec<String>) -> Result<()> {
        for place in &self.scene.hosts {
            let now = place.main()?;
            if let Some(left) = self.clones.get(&place.name).filter(|left| **left != now) {
                faults.push(format!(
                    "main of {} moved from {left} to {now}, and the person did not do it",
                    place.name
                ));
            }
        }
        Ok(())
    }

    /// Brings main of a clone up to date; what stands in the way is looked at another time.
    pub(super) fn pull(&mut self, place: &Place) -> Result<()> {
        place.run_git(None, &["pull", "--quiet", "--ff-only", "origin", "main"])?;
        self.clones.insert(place.name.clone(), place.main()?);
        Ok(())
    }

    /// Commits something that belongs to no task.
    pub(super) fn commit_elsewhere(&mut self, number: u64) -> Result<()> {
        let desk = self.scene.desk();
        write(&desk.repository.join(format!("other/{number}.txt")), "by a person\n")?;
        desk.git(&["add", "--", "other"])?;
        desk.git(&["commit", "--quiet", "-m", "chore: something else"])?;
        self.publish()
    }

    /// Lands an empty commit that says that a unit has landed, where nothing else of it says so to other clones.
    pub(super) fn vouch(&mut self, unit: &str) -> Result<()> {
        let said = [
            &format!("chore: task {unit} has landed"),
            "-m",
            &format!("Planwright-Task: {SPEC}/{unit}"),
        ];
        let arguments = [&["commit", "--quiet", "--allow-empty", "-m"], &said[..]].concat();
        self.scene.desk().git(&arguments)?;
        self.scene.journal.add(&Event::Helped {
            unit: unit.to_owned(),
            act: "said on main that it has landed".to_owned(),
        })?;
        self.publish()
    }

    /// Removes a branch that was pushed before anything was committed on it, and of which no clone knows any more.
    pub(super) fn remove_empty_branch(&self, unit: &str) -> Result<()> {
        let has_work = |event: &Event| matches!(event, Event::Committed { unit: other, .. } if other == unit);
        if self.scene.shared.is_none() || self.scene.journal.read()?.iter().any(has_work) {
            return Ok(());
        }
        let mut person = self.scene.desk().clone();
        "person".clone_into(&mut person.name);
        let branch = format!(":refs/heads/{}", Place::branch(unit));
        let removed = person.run_git(None, &["push", "--quiet", "origin", &branch])?;
        if removed.end != End::Exit(0) {
            return Ok(());
        }
        for place in self.scene.working_places() {
            place.git(&["fetch", "--quiet", "--prune", "origin"])?;
        }
        self.scene.journal.add(&Event::Helped {
            unit: unit.to_owned(),
            act: "removed the branch that was pushed empty".to_owned(),
        })
    }

    fn publish(&mut self) -> Result<()> {
        if self.scene.shared.is_some() {
            self.scene.desk().git(&["push", "--quiet", "origin", "main"])?;
        }
        self.main = self.scene.main()?;
        Ok(())
    }

    /// Lands a unit's branch in one of the ways people land branches, if there is something to land.
    pub(super) fn land(
        &mut self,
        from: &Place,
        unit: &str,
        random: &mut Random,
        faults: &mut Vec<String>,
    ) -> Result<()> {
        let desk = self.scene.desk();
        let Some(branch) = self.bring(from, unit)? else {
            return Ok(());
        };
        self.scene.journal.add(&Event::Landing {
            unit: unit.to_owned(),
            place: from.name.clone(),
        })?;
        let messages = desk.git(&["log", "--format=%B", &format!("{}..{branch}", self.main)])?;
        let trailer = format!("Planwright-Task: {SPEC}/{unit}");
        let says_so = messages.lines().any(|line| line == trailer);
        // With one repository the branch is kept, and tells; other clones do not see it.
        let must_say = self.scene.shared.is_some() && !says_so && random.percent(60);
        let can_move_on = !must_say && desk.git(&["merge-base", &self.main, &branch])? == self.main;
        let merged = match random.below(3) {
            0 if can_move_on => desk.run_git(None, &["merge", "--quiet", "--ff-only", &branch])?,
            1 => {
                let squashed = desk.run_git(None, &["merge", "--quiet", "--squash", &branch])?;
                let message = format!("feat: unit {unit}\n\nSquashed.\n\n{trailer}\n");
                if squashed.end == End::Exit(0) {
                    desk.git(&["commit", "--quiet", "-m", &message])?;
                }
                squashed
            }
            _ => {
                let last = if must_say { trailer } else { "A merge.".to_owned() };
                let message = format!("Merge unit {unit}\n\n{last}\n");
                desk.run_git(None, &["merge", "--quiet", "--no-ff", "-m", &message, &branch])?
            }
        };
        if merged.end != End::Exit(0) {
            faults.push(format!(
                "unit {unit} of {} cannot be merged: {}",
                from.name, merged.stdout
            ));
            return desk.git(&["reset", "--quiet", "--hard"]).map(drop);
        }
        self.publish()?;
        self.landed.insert(unit.to_owned());
        self.scene.journal.add(&Event::Landed { unit: unit.to_owned() })
    }

    /// Returns what is to be merged, at the desk; nothing where a clone has nothing of the unit, or its worker lives.
    fn bring(&self, from: &Place, unit: &str) -> Result<Option<String>> {
        let branch = Place::branch(unit);
        let Some(shared) = &self.scene.shared else {
            return Ok(Some(branch));
        };
        if self.has_worker(unit)? || from.tip(&format!("refs/heads/{branch}"))?.is_none() {
            return Ok(None);
        }
        let landing = format!("refs/landing/{unit}");
        let path = from.repository.to_string_lossy();
        let fetch = ["fetch", "--quiet", "--no-tags", &path];
        shared
            .desk
            .git(&[&fetch[..], &[&format!("+refs/heads/{branch}:{landing}")]].concat())?;
        let own = shared
            .desk
            .git(&["rev-list", "--count", &landing, &format!("^{}", self.main)])?;
        let own: usize = own.parse().context(|| "cannot count what is to be landed".to_owned())?;
        Ok((own > 0 && !self.is_squashed(&landing)?).then_some(landing))
    }

    /// Returns whether a worker of the unit lives.
    fn has_worker(&self, unit: &str) -> Result<bool> {
        let events = self.scene.journal.read()?;
        let lives = |event: &Event| {
            matches!(event, Event::Started { unit: other, pid, .. }
                if other == unit && Path::new("/proc").join(pid.to_string()).exists())
        };
        Ok(events.iter().any(lives))
    }

    /// Returns whether main holds the branch's changes already: it was squashed.
    fn is_squashed(&self, landing: &str) -> Result<bool> {
        let desk = self.scene.desk();
        let merged = desk.run_git(None, &["merge-tree", "--write-tree", &self.main, landing])?;
        let tree = desk.git(&["rev-parse", &format!("{}^{{tree}}", self.main)])?;
        Ok(merged.end == End::Exit(0) && merged.stdout.trim() == tree)
    }
}
