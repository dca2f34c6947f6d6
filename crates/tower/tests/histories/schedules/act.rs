//! What can happen, and what it makes true.

use orchestrate_core::pull_request::PullRequestState;
use orchestrate_testkit::histories::{Claim, Depot, Oid, Story, Style, TrailerPlace, fast_forward, rebase};
use orchestrate_testkit::simulation::Random;

use super::model::{Landing, Pieces, Proposal, Universe, commit, pieces};
use crate::case::MAIN;

/// Lets one thing happen, and tells what; nothing where chance chose something that is not possible now.
pub(super) fn happen(universe: &mut Universe, random: &mut Random) -> Option<String> {
    let unit = random.below(universe.works.len());
    match random.below(26) {
        0..5 => work(universe, random, unit),
        5..9 => land_here(universe, random, unit),
        9 => land_half(universe, unit),
        10..13 => revert(universe, random),
        13 => others(universe, random),
        14 => fetch(universe),
        15 => pull(universe),
        16 => push_main(universe),
        17..19 => push_branch(universe, unit),
        19 => delete(universe, random, unit),
        20 => move_branch(universe, random, unit),
        21 => merge_main_into(universe, unit),
        22 => open(universe, unit),
        23 => merge_or_close(universe, random, unit),
        24 => land_at_origin(universe, random, unit),
        _ => peer(universe, unit),
    }
}

fn message(trailer: bool, subject: &str, task: &str) -> String {
    let place = if trailer {
        TrailerPlace::Last
    } else {
        TrailerPlace::Nowhere
    };
    place.message(subject, &format!("alpha/{task}"))
}

/// A commit of the unit on its branch, which is made where it is not there.
fn work(universe: &mut Universe, random: &mut Random, unit: usize) -> Option<String> {
    let (trailer, start_only) = (random.chance(150), random.chance(150));
    let here = &universe.history.here;
    let work = &mut universe.works[unit];
    let (task, branch) = (work.task, work.branch.clone());
    let mut said = String::new();
    if here.find(&branch).is_none() {
        let start = here.tip(MAIN);
        here.branch(&branch, start);
        work.life += 1;
        work.start = pieces(here, start, task);
        if work.dispatched && work.life == 1 {
            work.recorded = true;
            Claim::WorkerEnded.leave(universe.world(), &format!("alpha:task-{task}"), start);
        }
        if start_only {
            return Some(format!("task-{task} is made"));
        }
        said = "is made and ".to_owned();
    }
    let here = &universe.history.here;
    let work = &mut universe.works[unit];
    work.pieces += 1;
    let path = format!("work/{task}/{}.txt", work.pieces);
    let text = format!("{path}\n");
    let made = here.commit(
        &branch,
        &[(&path, &text)],
        &message(trailer, &format!("add {path}"), task),
    );
    if trailer {
        work.promises.push((made, Pieces::from([path.clone()])));
    }
    Some(format!("task-{task} {said}gets {path}, trailer {trailer}"))
}

fn style(random: &mut Random) -> Style {
    Style::ALL[random.below(Style::ALL.len())]
}

/// Notes a landing of a branch that was at `tip` and of the given life; `before` is where base was.
fn note(
    universe: &mut Universe,
    (unit, style): (usize, Style),
    at_origin: bool,
    (before, after, tip): (Oid, Oid, Oid),
    (trailer, life, pull_request): (bool, Option<u32>, Option<u64>),
) {
    let depot = if at_origin {
        universe.history.origin()
    } else {
        &universe.history.here
    };
    let task = universe.works[unit].task;
    let earlier = if at_origin {
        depot
            .git
            .merge_base(tip, before)
            .map(|fork| pieces(depot, fork, task))
            .unwrap_or_default()
    } else {
        universe.works[unit].start.clone()
    };
    let whole: Pieces = pieces(depot, tip, task).difference(&earlier).cloned().collect();
    let (old, new) = (pieces(depot, before, task), pieces(depot, after, task));
    let brought: Pieces = new.difference(&old).cloned().collect();
    let mut commits = vec![after];
    if !style.has_message() {
        commits = depot.beyond(after, before);
        commits.reverse();
    }
    let promised = |(made, _): &(Oid, Pieces)| depot.contains(after, *made);
    let promised = match style {
        Style::Squash | Style::MergedFirstSquashed => false,
        // The message of what is picked is kept.
        Style::Picked | Style::Rebase => universe.works[unit]
            .promises
            .iter()
            .any(|(_, part)| part.is_subset(&brought)),
        Style::MergeCommit | Style::FastForward | Style::Octopus | Style::Foxtrot | Style::MergedFirst => {
            universe.works[unit].promises.iter().any(promised)
        }
    };
    let said = trailer && style.has_message();
    universe.revertible.push(commits);
    let landings = &mut universe.works[unit].landings;
    if said {
        let word = brought.is_empty().then_some(after);
        landings.push(Landing {
            needed: brought,
            at_origin,
            word,
            trailer: true,
            life,
            pull_request,
        });
    }
    if whole.is_subset(&new) && !whole.is_empty() {
        let trailer = said || promised;
        landings.push(Landing {
            needed: whole,
            at_origin,
            word: None,
            trailer,
            life,
            pull_request,
        });
    }
}

fn land_here(universe: &mut Universe, random: &mut Random, unit: usize) -> Option<String> {
    let (style, trailer) = (style(random), random.chance(350));
    let here = &universe.history.here;
    let (task, branch) = (universe.works[unit].task, universe.works[unit].branch.clone());
    let mut tip = here.find(&branch)?;
    let before = here.tip(MAIN);
    let name = format!("alpha/{task}");
    let story = story(&branch, &name, style);
    let text = message(trailer, &format!("land task-{task}"), task);
    let after = story.try_land(here, &text);
    // A rebase leaves out what is on base already, and with it what told that it is.
    let left = !here.contains(here.tip(&branch), tip);
    if left {
        universe.works[unit].life += 1;
        let main = pieces(here, before, task);
        universe.works[unit].start.extend(main);
        tip = here.tip(&branch);
    }
    let life = universe.works[unit].life;
    let Some(after) = after else {
        return Some(format!("task-{task} cannot land here as {style:?}"));
    };
    note(
        universe,
        (unit, style),
        false,
        (before, after, tip),
        (trailer, Some(life), None),
    );
    Some(format!("task-{task} lands here as {style:?}, trailer {trailer}"))
}

fn story<'a>(branch: &'a str, task: &'a str, style: Style) -> Story<'a> {
    Story {
        base: MAIN,
        branch,
        task,
        style,
        trailer: TrailerPlace::Nowhere,
    }
}

/// Only the first commit that base lacks is picked.
fn land_half(universe: &mut Universe, unit: usize) -> Option<String> {
    let here = &universe.history.here;
    let work = &universe.works[unit];
    let (tip, before) = (here.find(&work.branch)?, here.tip(MAIN));
    let commits = here.beyond(tip, before);
    if commits.len() < 2 {
        return None;
    }
    let first = *commits.first()?;
    let picked = here.pick(MAIN, first, None)?;
    let task = work.task;
    universe.revertible.push(vec![picked]);
    let _ = (tip, before);
    Some(format!("the first commit of task-{task} is picked here"))
}

fn revert(universe: &mut Universe, random: &mut Random) -> Option<String> {
    let at_origin = random.chance(400);
    let depot = if at_origin {
        universe.history.origin()
    } else {
        &universe.history.here
    };
    let commits = universe
        .revertible
        .get(random.below(universe.revertible.len()))?
        .clone();
    let whole = random.chance(750);
    let mut reverts = Vec::new();
    for one in commits.iter().take(if whole { usize::MAX } else { 1 }) {
        if depot.git.find_commit(*one).is_ok() && depot.contains(depot.tip(MAIN), *one) {
            reverts.extend(depot.revert(MAIN, *one));
        }
    }
    if reverts.is_empty() {
        return None;
    }
    reverts.reverse();
    let shown: Vec<String> = commits.iter().map(|one| one.to_string()[..7].to_owned()).collect();
    universe.revertible.push(reverts);
    Some(format!(
        "{} reverted, at origin {at_origin}, all {whole}",
        shown.join(" ")
    ))
}

fn others(universe: &mut Universe, random: &mut Random) -> Option<String> {
    universe.number += 1;
    let path = format!("others/{}.txt", universe.number);
    let at_origin = random.chance(600);
    let depot = if at_origin {
        universe.history.origin()
    } else {
        &universe.history.here
    };
    let made = depot.commit(MAIN, &[(&path, "other\n")], "somebody else's work\n");
    universe.revertible.push(vec![made]);
    Some(format!("somebody else commits, at origin {at_origin}"))
}

fn fetch(universe: &mut Universe) -> Option<String> {
    universe.history.fetch();
    Some("fetch".to_owned())
}

fn pull(universe: &mut Universe) -> Option<String> {
    universe.history.fetch();
    if universe.history.pull().is_some() {
        return Some("pull".to_owned());
    }
    let here = &universe.history.here;
    let theirs = here.tip("refs/remotes/origin/main");
    // A pull that merges makes what was here the first parent.
    here.merge(MAIN, &[theirs], "Merge branch 'main' of origin\n")
        .map(|_| "pull with a merge".to_owned())
}

fn push_main(universe: &mut Universe) -> Option<String> {
    let (here, origin) = (universe.history.here.tip(MAIN), universe.history.origin().tip(MAIN));
    let is_forward =
        universe.history.here.git.find_commit(origin).is_ok() && universe.history.here.contains(here, origin);
    (is_forward && here != origin).then(|| {
        universe.history.push(MAIN);
        "main is pushed".to_owned()
    })
}

fn push_branch(universe: &mut Universe, unit: usize) -> Option<String> {
    let work = &mut universe.works[unit];
    let tip = universe.history.here.find(&work.branch)?;
    universe.history.push(&work.branch);
    for proposal in &mut work.proposals {
        if matches!(proposal.state, PullRequestState::Open { .. }) {
            proposal.head = tip;
        }
    }
    Some(format!("task-{} is pushed", work.task))
}

fn delete(universe: &mut Universe, random: &mut Random, unit: usize) -> Option<String> {
    let work = &universe.works[unit];
    let (here, origin) = (random.chance(700), random.chance(500));
    if here {
        universe.history.here.delete(&work.branch);
    }
    let is_open = |proposal: &Proposal| matches!(proposal.state, PullRequestState::Open { .. });
    let origin = origin && !work.proposals.iter().any(is_open);
    if origin {
        universe.history.push_deletion(&work.branch);
    }
    Some(format!(
        "task-{} is deleted, here {here}, at origin {origin}",
        work.task
    ))
}

/// The branch is pulled along, reset or rebased to main.
fn move_branch(universe: &mut Universe, random: &mut Random, unit: usize) -> Option<String> {
    let how = random.below(3);
    let here = &universe.history.here;
    let main = here.tip(MAIN);
    let branch = universe.works[unit].branch.clone();
    let tip = here.find(&branch)?;
    let said = match how {
        0 => fast_forward(here, &branch, MAIN).map(|_| "is pulled along with main")?,
        1 => {
            here.point(&branch, main, "reset: moving to main");
            "is reset to main"
        }
        _ => {
            rebase(here, MAIN, &branch)?;
            "is rebased onto main"
        }
    };
    let left = !here.contains(here.tip(&branch), tip);
    let work = &mut universe.works[unit];
    work.life += u32::from(left);
    let main = pieces(&universe.history.here, main, work.task);
    work.start.extend(main);
    Some(format!("task-{} {said}", work.task))
}

fn merge_main_into(universe: &mut Universe, unit: usize) -> Option<String> {
    let here = &universe.history.here;
    let work = &universe.works[unit];
    let _ = here.find(&work.branch)?;
    let _ = here.merge(&work.branch, &[here.tip(MAIN)], "Merge branch 'main' into the work\n")?;
    Some(format!("main is merged into task-{}", work.task))
}

fn open(universe: &mut Universe, unit: usize) -> Option<String> {
    let head = universe.history.origin().find(&universe.works[unit].branch)?;
    universe.number += 1;
    let number = universe.number;
    let work = &mut universe.works[unit];
    let state = PullRequestState::Open { draft: false };
    if work.proposals.iter().any(|proposal| proposal.state == state) {
        return None;
    }
    work.proposals.push(Proposal {
        number,
        state,
        head,
        merge: None,
    });
    Some(format!("PR #{number} of task-{} is opened", work.task))
}

fn merge_or_close(universe: &mut Universe, random: &mut Random, unit: usize) -> Option<String> {
    let (close, trailer) = (random.chance(200), random.chance(300));
    let style = [Style::MergeCommit, Style::Squash, Style::Picked][random.below(3)];
    let origin = universe.history.origin();
    let work = &mut universe.works[unit];
    let (task, branch) = (work.task, work.branch.clone());
    let is_open = |proposal: &&mut Proposal| matches!(proposal.state, PullRequestState::Open { .. });
    let proposal = work.proposals.iter_mut().find(is_open)?;
    let number = proposal.number;
    if close {
        proposal.state = PullRequestState::Closed;
        return Some(format!("PR #{number} of task-{task} is closed"));
    }
    let (tip, before) = (origin.find(&branch)?, origin.tip(MAIN));
    let name = format!("alpha/{task}");
    let text = message(trailer, &format!("land task-{task} (#{number})"), task);
    let after = story(&branch, &name, style).try_land(origin, &text)?;
    proposal.head = tip;
    proposal.state = PullRequestState::Merged(Some(commit(after)));
    proposal.merge = Some(after);
    let life = same_branch(universe, unit, tip);
    note(
        universe,
        (unit, style),
        true,
        (before, after, tip),
        (trailer, life, Some(number)),
    );
    Some(format!(
        "PR #{number} of task-{task} is merged as {style:?}, trailer {trailer}"
    ))
}

/// Returns the life of the local branch, where what origin has is of it.
fn same_branch(universe: &Universe, unit: usize, tip: Oid) -> Option<u32> {
    let here: &Depot = &universe.history.here;
    let work = &universe.works[unit];
    let local = here.find(&work.branch)?;
    (here.git.find_commit(tip).is_ok() && here.contains(local, tip)).then_some(work.life)
}

fn land_at_origin(universe: &mut Universe, random: &mut Random, unit: usize) -> Option<String> {
    let trailer = random.chance(400);
    let style = [Style::MergeCommit, Style::FastForward, Style::Squash, Style::Picked][random.below(4)];
    let origin = universe.history.origin();
    let (task, branch) = (universe.works[unit].task, universe.works[unit].branch.clone());
    let (tip, before) = (origin.find(&branch)?, origin.tip(MAIN));
    let name = format!("alpha/{task}");
    let text = message(trailer, &format!("land task-{task}"), task);
    let after = story(&branch, &name, style).try_land(origin, &text)?;
    let life = same_branch(universe, unit, tip);
    note(
        universe,
        (unit, style),
        true,
        (before, after, tip),
        (trailer, life, None),
    );
    Some(format!("task-{task} lands at origin as {style:?}, trailer {trailer}"))
}

/// Another clone works on the branch at origin.
fn peer(universe: &mut Universe, unit: usize) -> Option<String> {
    let origin = universe.history.origin();
    let work = &mut universe.works[unit];
    if origin.find(&work.branch).is_none() {
        origin.branch(&work.branch, origin.tip(MAIN));
    }
    work.pieces += 1;
    let path = format!("work/{}/{}.txt", work.task, work.pieces);
    let head = origin.commit(&work.branch, &[(&path, "theirs\n")], &format!("add {path}\n"));
    for proposal in &mut work.proposals {
        if matches!(proposal.state, PullRequestState::Open { .. }) {
            proposal.head = head;
        }
    }
    Some(format!("another clone adds {path} to task-{} at origin", work.task))
}
