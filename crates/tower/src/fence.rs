//! The fence: among the towers of all clones of one origin, one at most takes a unit (architecture §6, law L3).
//!
//! In the locked window, after everything that can refuse and before the branch (law L2). What this clone is about to
//! push it writes down first, so that it knows its own fence after a crash, by the commit and by nothing else; a fence
//! that anybody else made is never taken over, and never removed while its unit has not landed at origin.

use std::collections::BTreeMap;

use orchestrate_config::FencePolicy;
use orchestrate_core::derive::{Row, SpecState, TaskReport, TaskState};
use orchestrate_core::evidence::{Base, BranchSide, Evidence, Origin};
use orchestrate_core::identifier::{CommitId, SpecId, TaskId, Unit, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::Place;
use orchestrate_core::plan::{HoldReason, NoDispatch};
use orchestrate_core::record::fence::{Fence, FenceIntent, ForeignFences, OriginFence, OwnFences, owner};
use orchestrate_core::world::{Fault, Pushed, Reading, World};

use crate::fetch::Freshness;
use crate::gate::{self, Passed};
use crate::lock::Held;
use crate::step::{StepRequest, Survey, machine};

/// What is known of the unit that is to be fenced.
pub(crate) struct Fencing<'a> {
    pub(crate) name: &'a UnitName,
    pub(crate) base: &'a Base,
    pub(crate) evidence: &'a Evidence,
    pub(crate) state: &'a SpecState,
}

/// A fence that is held, as far as this run has made it.
#[derive(Debug, Default)]
#[must_use = "a fence whose dispatch fails is given back"]
pub(crate) struct Fenced {
    /// The intents that this run has written. Older ones are not given back: an earlier attempt of this clone may have
    /// come further than its tower lived to tell.
    made: BTreeMap<TaskId, FenceIntent>,
}

/// Asks origin, as the policy wants it. Where it could not be fetched it is not asked: nothing will be dispatched, and
/// the fetch has the reason. A dry run takes what the last step saw.
pub(crate) fn ask(world: &dyn World, request: &StepRequest, base: &Base, freshness: &Freshness) -> Observed<Origin> {
    let spec = &request.spec;
    match (request.fence, freshness) {
        (FencePolicy::Off, _) => Observed::Absent(Why::new("dispatch_fence is off, so no fence is looked for")),
        (FencePolicy::Auto | FencePolicy::On, Freshness::NotAsked) => remembered(world, spec),
        (FencePolicy::Auto | FencePolicy::On, Freshness::Stale { .. } | Freshness::Refused(_)) => {
            Observed::Absent(Why::new("origin cannot be fetched, so nothing will be dispatched"))
        }
        (FencePolicy::Auto, Freshness::Current) => world.origin(spec, base),
        (FencePolicy::On, Freshness::Current) => match world.origin(spec, base) {
            Observed::Absent(why) => Observed::Unknown(
                Why::new(format!("{why}, and dispatch_fence is on"))
                    .with_hint("git remote add origin ADDRESS, or set dispatch_fence: auto"),
            ),
            answer @ (Observed::Known(_) | Observed::Unknown(_)) => answer,
        },
    }
}

/// Returns what the last step saw of other clones' fences: who only looks does not wait for origin.
pub(crate) fn remembered(world: &dyn World, spec: &SpecId) -> Observed<Origin> {
    let unreadable = |cause: String| {
        let why = Why::new(format!("the fences that the last step saw cannot be read: {cause}"));
        Observed::Unknown(why.with_hint("the next step asks origin and writes them again"))
    };
    match world.read(&Place::ForeignFences(spec.clone())) {
        Reading::Absent => Observed::Absent(Why::new("no step has seen one of another clone")),
        Reading::File { bytes, .. } => match ForeignFences::parse(&bytes) {
            Ok(seen) => Observed::Known(Origin {
                fences: seen.fences(),
                ..Origin::default()
            }),
            Err(fault) => unreadable(fault.to_string()),
        },
        Reading::Directory { .. } | Reading::Symlink | Reading::Special => unreadable("it is no file".to_owned()),
        Reading::Unreadable(cause) => unreadable(cause),
    }
}

/// Keeps what this step has seen of other clones' fences, where it has changed.
fn remember(world: &mut dyn World, spec: &SpecId, evidence: &Evidence) -> Result<(), Fault> {
    let Observed::Known(origin) = &evidence.origin else {
        return Ok(());
    };
    let is_foreign =
        |(task, fence): &(&TaskId, &OriginFence)| own_fences(evidence, task).is_none_or(|own| !own.owns(&fence.commit));
    let foreign = ForeignFences::new(origin.fences.iter().filter(is_foreign));
    let place = Place::ForeignFences(spec.clone());
    let bytes = foreign.render();
    match world.read(&place) {
        Reading::Absent if foreign.is_empty() => Ok(()),
        Reading::File { bytes: before, .. } if before == bytes => Ok(()),
        Reading::Absent
        | Reading::File { .. }
        | Reading::Directory { .. }
        | Reading::Symlink
        | Reading::Special
        | Reading::Unreadable(_) => {
            world.create_directory(&Place::IntentDirectory(spec.clone()))?;
            world.write(&place, &bytes)
        }
    }
}

/// Takes the fence of every task of the unit, or of none.
///
/// # Errors
/// Why the unit is not this tower's: another one has it, origin has moved on, or it cannot be told.
pub(crate) fn take<'window>(
    world: &mut dyn World,
    _: (&Held<'window>, &Passed<'window>),
    fencing: &Fencing<'_>,
) -> Result<Fenced, NoDispatch> {
    let Fencing {
        name, base, evidence, ..
    } = fencing;
    let origin = match &evidence.origin {
        Observed::Known(origin) => origin,
        Observed::Absent(_) => return Ok(Fenced::default()),
        Observed::Unknown(why) => return Err(unread(why.clone())),
    };
    if let Some(ahead) = unseen(world, evidence, origin, &name.unit) {
        return Err(NoDispatch::Hold(ahead));
    }
    remove_given_back(world, fencing, origin)?;
    let (fences, fenced) = intend(world, name, evidence).map_err(machine)?;
    let pushed = world.push_fences(&name.spec, &fences);
    // Whatever became of an unanswered push: its intent is there, and the next step finds out.
    let pushed = pushed.map_err(|fault| unread(unanswered(&fault)))?;
    let now = match world.origin(&name.spec, base) {
        Observed::Known(now) => now,
        Observed::Absent(why) | Observed::Unknown(why) => return Err(unread(why)),
    };
    let ahead = || unseen(world, evidence, &now, &name.unit).map(NoDispatch::Hold);
    let is_given_back =
        |task: &TaskId, fence: &CommitId| own_fences(evidence, task).is_some_and(|own| own.has_given_back(fence));
    let refused = lost((&name.unit, &pushed), &fences, &now, is_given_back).or_else(ahead);
    match refused {
        None => {
            forget_landed(world, fencing, &now);
            Ok(fenced)
        }
        Some(reason) => {
            drop_fences(world, name, &fenced, &now);
            Err(reason)
        }
    }
}

/// Removes the intents of tasks that have landed and have no fence any more. Under the lock, so that no tower of this
/// clone is about to push one of them; what is left over is removed by a later dispatch.
fn forget_landed(world: &mut dyn World, fencing: &Fencing<'_>, now: &Origin) {
    let spec = &fencing.name.spec;
    let is_over = |task: &TaskId| {
        let report = fencing.state.tasks.get(task);
        let has_landed = report.is_some_and(|report| matches!(report.state, TaskState::Landed { .. }));
        has_landed && !now.fences.contains_key(task) && !fencing.name.unit.contains(task)
    };
    if let Observed::Known(own) = &fencing.evidence.own_fences {
        for task in own.keys().filter(|task| is_over(task)) {
            let _ = world.remove(&Place::GivenBack(spec.clone(), task.clone()));
            let _ = world.remove(&Place::Intent(spec.clone(), task.clone()));
        }
    }
}

/// Gives the fence back when nothing else of the dispatch has happened. A fence that cannot be given back stays this
/// clone's, and its next step goes on from it.
pub(crate) fn give_back(world: &mut dyn World, fencing: &Fencing<'_>, fenced: &Fenced) {
    if fenced.made.is_empty() {
        return;
    }
    let Fencing { name, base, .. } = fencing;
    let Observed::Known(branches) = world.branches(&name.spec, base, &BTreeMap::new()) else {
        return;
    };
    let mut of_unit = branches.by_unit.get(&name.unit).into_iter().flatten();
    if of_unit.any(|facts| facts.side == BranchSide::Local) || branches.unreadable.contains_key(&name.unit) {
        return;
    }
    if let Observed::Known(now) = world.origin(&name.spec, base) {
        drop_fences(world, name, fenced, &now);
    }
}

/// Keeps what was seen of fences, and removes those of units that have landed on origin's base for every clone to see,
/// whoever made them. Returns what failed or waits for a person, in words: a dispatch needs neither.
pub(crate) fn keep_house(world: &mut dyn World, spec: &SpecId, survey: &Survey) -> Vec<String> {
    let remembered = remember(world, spec, &survey.evidence);
    let mut failed = collect(world, spec, survey);
    failed.extend(remembered.err().map(|fault| fault.to_string()));
    failed
}

fn collect(world: &mut dyn World, spec: &SpecId, survey: &Survey) -> Vec<String> {
    let Survey { evidence, state, .. } = survey;
    let Observed::Known(origin) = &evidence.origin else {
        return Vec::new();
    };
    let Some(there) = origin
        .base
        .as_ref()
        .filter(|there| is_seen(world, &evidence.base, there))
    else {
        return Vec::new();
    };
    let landed = state.tasks.iter().filter_map(|(task, report)| {
        let is_there = |commit: &CommitId| matches!(world.contains(there, commit), Observed::Known(true));
        let landing = match &report.state {
            TaskState::Landed { commit } => Some(commit),
            TaskState::InProgress(_) | TaskState::Unknown(_) | TaskState::Ready | TaskState::Blocked { .. } => None,
        };
        let fence = origin.fences.get(task).filter(|_| landing.is_some_and(is_there))?;
        Some((task, fence, report))
    });
    let (told, untold): (Vec<_>, Vec<_>) = landed.partition(|(_, _, report)| is_told_to_all(report));
    let mut failed: Vec<String> = untold
        .into_iter()
        .map(|(task, _, _)| untold_note(spec, task, &gate::push(world, &evidence.base)))
        .collect();
    for (task, fence, _) in told {
        if let Err(fault) = world.delete_fence(spec, task, &fence.commit) {
            failed.push(format!("the fence of task {task}, which has landed, stays: {fault}"));
        }
    }
    failed
}

/// Returns whether every clone can see that the task has landed. What a branch of this clone tells is unknown to the
/// others: without the fence they would begin it again.
fn is_told_to_all(report: &TaskReport) -> bool {
    matches!(report.decided_by, Some(Row::MergedPullRequest | Row::Trailer))
}

fn untold_note(spec: &SpecId, task: &TaskId, push: &str) -> String {
    format!(
        "task {task} has landed, but neither a trailer nor a merged pull request tells the other clones: its fence stays \
         until origin has a commit that does: git commit --allow-empty -m \"chore: task {task} has landed\" \
         -m \"Planwright-Task: {spec}/{task}\", then {push}"
    )
}

/// Removes what this clone has given back, and origin shows still: a new fence could not be made beside it.
fn remove_given_back(world: &mut dyn World, fencing: &Fencing<'_>, origin: &Origin) -> Result<(), NoDispatch> {
    let Fencing { name, evidence, .. } = fencing;
    for task in name.unit.tasks() {
        let Some(fence) = origin.fences.get(task) else { continue };
        if own_fences(evidence, task).is_some_and(|own| own.has_given_back(&fence.commit)) {
            let removed = world.delete_fence(&name.spec, task, &fence.commit);
            removed.map_err(|fault| unread(unanswered(&fault)))?;
        }
    }
    Ok(())
}

/// Writes down what is to be pushed, for every task that this clone has no intent of. An older intent is kept: its push
/// may have happened, or may happen yet. One that was given back is followed by a new one.
fn intend(
    world: &mut dyn World,
    name: &UnitName,
    evidence: &Evidence,
) -> Result<(BTreeMap<TaskId, CommitId>, Fenced), Fault> {
    let mut fences = BTreeMap::new();
    let mut fenced = Fenced::default();
    let mut new: Option<FenceIntent> = None;
    for task in name.unit.tasks() {
        if let Some(earlier) = own_fences(evidence, task).and_then(OwnFences::current) {
            // Git may have thrown away the commit, to which no ref here leads.
            let _ = world.create_fence(&earlier.fence)?;
            fences.insert(task.clone(), earlier.commit.clone());
            continue;
        }
        let intent = match &new {
            Some(intent) => intent.clone(),
            None => {
                let fence = Fence::new(world.identity(), world.clone_id(), world.nonce()?, world.now());
                let commit = world.create_fence(&fence)?;
                world.create_directory(&Place::IntentDirectory(name.spec.clone()))?;
                new.insert(FenceIntent::new(fence, commit)).clone()
            }
        };
        world.write(&Place::Intent(name.spec.clone(), task.clone()), &intent.render())?;
        fences.insert(task.clone(), intent.commit.clone());
        fenced.made.insert(task.clone(), intent);
    }
    Ok((fences, fenced))
}

/// Returns this clone's fences of the task. What could not be read of them has held the unit (row 10).
fn own_fences<'a>(evidence: &'a Evidence, task: &TaskId) -> Option<&'a OwnFences> {
    match &evidence.own_fences {
        Observed::Known(own) => match own.get(task) {
            Some(Observed::Known(own)) => Some(own),
            Some(Observed::Absent(_) | Observed::Unknown(_)) | None => None,
        },
        Observed::Absent(_) | Observed::Unknown(_) => None,
    }
}

/// Returns why this clone does not hold every fence. What stands at origin decides, whatever the push was told: a refusal
/// may be reported falsely, and a write that was acknowledged may be lost when another machine takes over. That origin
/// shows the fence also proves that the look is not older than the push.
fn lost(
    (unit, pushed): (&Unit, &BTreeMap<TaskId, Pushed>),
    fences: &BTreeMap<TaskId, CommitId>,
    now: &Origin,
    is_given_back: impl Fn(&TaskId, &CommitId) -> bool,
) -> Option<NoDispatch> {
    fences
        .iter()
        .find_map(|(task, own)| match (now.fences.get(task), pushed.get(task)) {
            (Some(fence), _) if fence.commit == *own => None,
            (Some(fence), _) if is_given_back(task, &fence.commit) => Some(unread(still_shown(task))),
            (Some(fence), _) => Some(NoDispatch::Hold(HoldReason::Fenced {
                task: task.clone(),
                owner: owner(&fence.commit, fence.message.as_deref()),
            })),
            (None, Some(Pushed::Refused { why })) => {
                let (unit, why) = (unit.clone(), why.clone());
                Some(NoDispatch::Hold(HoldReason::FenceRefused { unit, why }))
            }
            (None, Some(Pushed::Made | Pushed::Same) | None) => Some(unread(not_shown(task))),
        })
}

/// Returns what origin has that the evidence of this clone cannot have seen: then the unit may have been done, or begun,
/// elsewhere.
///
/// A branch is seen when it was there, at that commit, when the evidence was taken. That its commit is in base says nothing
/// of it: a person may have announced the work by an empty branch.
fn unseen(world: &dyn World, evidence: &Evidence, origin: &Origin, unit: &Unit) -> Option<HoldReason> {
    let base = &evidence.base;
    let ahead = |what: String| Some(HoldReason::OriginAhead { what });
    if let Some(there) = origin.base.as_ref().filter(|there| !is_seen(world, base, there)) {
        return ahead(format!("{} at {}", base.name, there.short()));
    }
    let shared = |other: &Unit| other.tasks().any(|task| unit.contains(task));
    let is_known = |other: &Unit, tip: &CommitId| match &evidence.branches {
        Observed::Known(branches) => {
            let mut facts = branches.by_unit.get(other).into_iter().flatten();
            facts.any(|facts| facts.side == BranchSide::Remote && facts.tip == *tip)
        }
        Observed::Absent(_) | Observed::Unknown(_) => false,
    };
    let mut branches = origin.branches.iter().filter(|(other, _)| shared(other));
    let (other, tip) = branches.find(|(other, tip)| !is_known(other, tip))?;
    ahead(format!("a branch of task-{other} at {}", tip.short()))
}

/// Returns whether a commit of origin is in what the evidence was taken from.
fn is_seen(world: &dyn World, base: &Base, commit: &CommitId) -> bool {
    let mut here = core::iter::once(&base.commit).chain(&base.counterpart);
    here.any(|here| here == commit || matches!(world.contains(here, commit), Observed::Known(true)))
}

/// Gives back this run's fences that stand at origin. Written down first: from then on they are never pushed again,
/// whatever becomes of the removal, and the clone knows as its own what is left of it.
fn drop_fences(world: &mut dyn World, name: &UnitName, fenced: &Fenced, now: &Origin) {
    for (task, own) in &fenced.made {
        let stands = now.fences.get(task).is_some_and(|fence| fence.commit == own.commit);
        let place = Place::GivenBack(name.spec.clone(), task.clone());
        if stands && world.write(&place, &own.render()).is_ok() {
            // One that stays is removed before the task's next fence.
            let _ = world.delete_fence(&name.spec, task, &own.commit);
        }
    }
}

fn unread(why: Why) -> NoDispatch {
    NoDispatch::unread("whether another tower has the unit", why)
}

fn not_shown(task: &TaskId) -> Why {
    Why::new(format!(
        "origin did not refuse the fence of task {task}, and does not show it"
    ))
    .with_hint("step again; if origin lags it will show it, and it is this clone's own")
}

fn still_shown(task: &TaskId) -> Why {
    Why::new(format!(
        "origin still shows a fence of task {task} that this clone has given back"
    ))
    .with_hint("step again; it is removed before the next one is made")
}

fn unanswered(fault: &Fault) -> Why {
    Why::new(fault.to_string())
        .with_hint("step again when origin answers; if the fence was made, it is this clone's own")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Verifies REQ-D2.1.
    #[test]
    fn what_origin_shows_decides_whatever_it_says() {
        let task = TaskId::parse("1").expect("a task id");
        let unit = Unit::single(task.clone());
        let commit = |digit: &str| CommitId::parse(&digit.repeat(40)).expect("a commit id");
        let own = BTreeMap::from([(task.clone(), commit("a"))]);
        let refused = || Pushed::Refused {
            why: "[remote rejected]".to_owned(),
        };
        let said = [None, Some(Pushed::Made), Some(Pushed::Same), Some(refused())];
        for answer in said {
            let pushed = answer.iter().map(|answer| (task.clone(), answer.clone())).collect();
            let verdict = |shown: Option<&str>| {
                let fence = |digit| OriginFence {
                    commit: commit(digit),
                    message: None,
                };
                let now = Origin {
                    fences: shown.map(|digit| (task.clone(), fence(digit))).into_iter().collect(),
                    ..Origin::default()
                };
                lost((&unit, &pushed), &own, &now, |_, fence| *fence == commit("c"))
            };
            assert_eq!(verdict(Some("a")), None, "{answer:?}");
            let others = verdict(Some("b"));
            assert!(
                matches!(others, Some(NoDispatch::Hold(HoldReason::Fenced { .. }))),
                "{answer:?}: {others:?}"
            );
            let given_back = verdict(Some("c"));
            assert!(
                given_back.is_some() && !matches!(given_back, Some(NoDispatch::Hold(HoldReason::Fenced { .. }))),
                "{answer:?}: {given_back:?}"
            );
            let nobodys = verdict(None);
            let says_so = matches!(nobodys, Some(NoDispatch::Hold(HoldReason::FenceRefused { .. })));
            assert_eq!(says_so, answer == Some(refused()), "{answer:?}: {nobodys:?}");
            assert!(nobodys.is_some(), "{answer:?}");
        }
    }
}
