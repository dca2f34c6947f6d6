//! The fences at origin of this repository's bundles: own ones, those of other clones, and those that nobody answers for.
//!
//! Asked once and bounded; where origin does not answer, that is said and nothing is concluded (law L4).

use std::collections::BTreeMap;

use orchestrate_config::FencePolicy;
use orchestrate_core::evidence::{Base, Origin};
use orchestrate_core::identifier::{CommitId, SpecId, TaskId, Unit};
use orchestrate_core::observed::Observed;
use orchestrate_core::place::Place;
use orchestrate_core::record::fence::{OriginFence, OwnFences, owner, parts};
use orchestrate_core::words::count;
use orchestrate_core::world::World;
use orchestrate_host::origin;
use orchestrate_host::shell::word;
use orchestrate_tower::gather;

use super::finding::{Finding, Looked, Mend, Weight};
use super::surroundings::{Ground, Surroundings};

type Intents = BTreeMap<TaskId, Observed<OwnFences>>;

pub(super) fn look(surroundings: &Surroundings<'_>) -> Looked {
    let Some(ground) = surroundings.ground else {
        return Looked::nothing();
    };
    let mut findings = unreadable_intents(&ground);
    let is_off = ground.settings.dispatch_fence.value == FencePolicy::Off;
    if surroundings.offline || is_off {
        let why = if is_off { "dispatch_fence is off" } else { "offline" };
        return Looked::new(format!("origin was not asked: {why}"), findings);
    }
    match origin::fences_and_obstacles(ground.world.repository(), ground.world.git()) {
        Observed::Known(fences) => {
            let at = format!("{} at origin", count(fences.len(), "fence"));
            findings.extend(of_listing(&ground, &fences));
            Looked::new(at, findings)
        }
        Observed::Absent(why) => Looked::new(why.reason, findings),
        Observed::Unknown(why) => {
            let problem = format!("which units are fenced cannot be told: {why}");
            let mend = Mend::provided("shows whether it answers", "git ls-remote origin");
            findings.push(Finding::new(Weight::Warning, "origin", problem, mend));
            Looked::new("origin does not answer", findings)
        }
    }
}

/// Intents that cannot be read: each holds its task, where there is an origin.
fn unreadable_intents(ground: &Ground<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for spec in ground.specs {
        let read = match gather::own_fences(ground.world, spec) {
            Observed::Known(intents) => intents,
            Observed::Absent(_) => continue,
            Observed::Unknown(why) => {
                let directory = Place::IntentDirectory(spec.clone());
                let command = ground.world.command_aside(&directory);
                let mend = Mend::provided("if no tower of this clone is at work", command);
                findings.push(Finding::new(Weight::Fault, ground.shown(&directory), why.reason, mend));
                continue;
            }
        };
        for (task, intent) in read {
            if let Observed::Unknown(why) = intent {
                let place = ground.shown(&Place::Intent(spec.clone(), task));
                let mend = Mend::of_hint(why.hint.as_deref().unwrap_or("look at it and move it away"));
                findings.push(Finding::new(Weight::Fault, place, why.reason, mend));
            }
        }
    }
    findings
}

fn of_listing(ground: &Ground<'_>, fences: &BTreeMap<String, CommitId>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for reference in fences.keys() {
        let remove = format!("git push origin {}", word(&format!(":{reference}")));
        let Some((spec, unit)) = parts(reference) else {
            let problem = "its name stands where fences have to be, so origin takes none beneath it";
            let mend = Mend::provided("if nobody knows it", remove);
            findings.push(Finding::new(Weight::Fault, reference, problem, mend));
            continue;
        };
        let Ok(of) = Unit::parse(unit) else {
            let problem = "its name says no unit, so nobody collects it";
            let mend = Mend::provided("if nobody knows it", remove);
            findings.push(Finding::new(Weight::Note, reference, problem, mend));
            continue;
        };
        if of.tasks().count() > 1 {
            let problem = "it fences a range, and towers fence each task: it keeps nobody from them";
            let mend = Mend::provided("if nobody works on it", remove);
            findings.push(Finding::new(Weight::Note, reference, problem, mend));
        } else if !ground.specs.contains(&spec) {
            let problem = format!("this checkout has no bundle specs/{spec}");
            let mend = Mend::provided("if no clone has it", collect(ground, &spec, unit));
            findings.push(Finding::new(Weight::Note, reference, problem, mend));
        }
    }
    // Without a base, which is a finding of its own, no task can be looked at.
    let Ok(base) = ground.world.base(ground.settings.base_branch.value.as_ref()) else {
        return findings;
    };
    for spec in ground.specs {
        let is_of_spec = |reference: &String| parts(reference).is_some_and(|(of, _)| of == *spec);
        if fences.keys().any(is_of_spec) || has_remote_branches(ground, spec) {
            findings.extend(of_bundle(ground, spec, &base));
        }
    }
    findings
}

fn has_remote_branches(ground: &Ground<'_>, spec: &SpecId) -> bool {
    let pattern = format!("refs/remotes/origin/planwright/{spec}/task-*");
    let git = &ground.world.repository().git;
    git.references_glob(&pattern)
        .is_ok_and(|mut found| found.next().is_some())
}

/// Returns the command that removes the fence of a unit.
fn collect(ground: &Ground<'_>, spec: &SpecId, unit: &str) -> String {
    let checkout = word(ground.layout().primary.as_str());
    format!("orchestrate plumbing fleet-fence gc --checkout {checkout} --spec {spec} {unit}")
}

fn of_bundle(ground: &Ground<'_>, spec: &SpecId, base: &Base) -> Vec<Finding> {
    let origin = match ground.world.origin(spec, base) {
        Observed::Known(origin) => origin,
        Observed::Absent(_) => return Vec::new(),
        Observed::Unknown(why) => {
            let problem = format!("whose the fences of specs/{spec} are cannot be told: {why}");
            let mend = Mend::provided("shows whether it answers", "git ls-remote origin");
            return vec![Finding::new(Weight::Warning, "origin", problem, mend)];
        }
    };
    let situation = Situation::of(ground, spec, base, &origin);
    let mut findings: Vec<Finding> = origin
        .fences
        .iter()
        .filter_map(|(task, fence)| of_fence(ground, &situation, task, fence))
        .collect();
    for (task, intent) in &situation.intents {
        let is_left = !origin.fences.contains_key(task) && !situation.has_record(task) && !situation.has_landed(task);
        let is_wanted = matches!(intent, Observed::Known(own) if own.current().is_some());
        if is_wanted && is_left {
            let place = ground.shown(&Place::Intent(spec.clone(), task.clone()));
            let problem = "this clone was about to fence the unit, and origin has no such fence; the next step that takes \
                           the unit uses it";
            let mend = Mend::provided("if no tower of this clone is at work", format!("rm {}", word(&place)));
            findings.push(Finding::new(Weight::Note, place, problem, mend));
        }
    }
    for (unit, tip) in &origin.branches {
        let is_spoken_for = unit
            .tasks()
            .any(|task| origin.fences.contains_key(task) || situation.has_record(task) || situation.has_landed(task));
        let is_on_base = ground.world.contains(base.gated(), tip) == Observed::Known(true);
        if !is_spoken_for && !is_on_base {
            let place = format!("planwright/{spec}/task-{unit} at origin");
            let problem = "no fence and no record here speaks of it: it was made by a person, or by a tower that takes no \
                           fences, such as a planwright from before them";
            let mend = Mend::ByHand(
                "let only towers dispatch that fence: orchestrate everywhere, or a planwright that has fleet-fence"
                    .to_owned(),
            );
            findings.push(Finding::new(Weight::Note, place, problem, mend));
        }
    }
    findings
}

/// What is known here of a bundle's units.
struct Situation<'a> {
    spec: &'a SpecId,
    origin: &'a Origin,
    intents: Intents,
    recorded: Vec<TaskId>,
    landed: Vec<TaskId>,
}

impl<'a> Situation<'a> {
    fn of(ground: &Ground<'_>, spec: &'a SpecId, base: &Base, origin: &'a Origin) -> Self {
        let intents = match gather::own_fences(ground.world, spec) {
            Observed::Known(intents) => intents,
            // Told of beside this.
            Observed::Absent(_) | Observed::Unknown(_) => Intents::new(),
        };
        let recorded = match gather::records(ground.world, spec) {
            Observed::Known(records) => records.keys().flat_map(|unit| unit.tasks().cloned()).collect(),
            Observed::Absent(_) | Observed::Unknown(_) => Vec::new(),
        };
        let landed = match ground.world.history(spec, base) {
            Observed::Known(history) => history.trailers.into_keys().collect(),
            Observed::Absent(_) | Observed::Unknown(_) => Vec::new(),
        };
        Self {
            spec,
            origin,
            intents,
            recorded,
            landed,
        }
    }

    fn has_record(&self, task: &TaskId) -> bool {
        self.recorded.contains(task)
    }

    fn has_landed(&self, task: &TaskId) -> bool {
        self.landed.contains(task)
    }

    fn is_own(&self, task: &TaskId, fence: &OriginFence) -> bool {
        match self.intents.get(task) {
            Some(Observed::Known(own)) => own.owns(&fence.commit),
            Some(Observed::Absent(_) | Observed::Unknown(_)) | None => false,
        }
    }
}

/// A fence of another clone of whose work nothing is seen. So every unit looks from here while its worker is at work there
/// and has pushed nothing; that its tower has ended says nothing, because a tower ends when it has dispatched.
fn of_fence(ground: &Ground<'_>, situation: &Situation<'_>, task: &TaskId, fence: &OriginFence) -> Option<Finding> {
    let is_at_work = situation.origin.branches.keys().any(|unit| unit.contains(task));
    if situation.is_own(task, fence) || is_at_work || situation.has_landed(task) {
        return None;
    }
    let problem = format!(
        "{} has fenced it, its worker may be at work in that tower's clone, and nothing of its work is at origin yet",
        owner(&fence.commit, fence.message.as_deref())
    );
    let spec = situation.spec;
    let mend = Mend::provided("if that clone is gone for good", collect(ground, spec, task.as_str()));
    let place = format!("the fence of task {task} of specs/{spec}");
    Some(Finding::new(Weight::Note, place, problem, mend))
}
