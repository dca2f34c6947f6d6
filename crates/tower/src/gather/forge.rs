//! Asking the forge: which units, in which order, and how their branches lie to what it says.

use std::collections::BTreeSet;

use orchestrate_core::derive::{TaskState, derive};
use orchestrate_core::evidence::{BranchFacts, Evidence};
use orchestrate_core::finished::kept_by_commits;
use orchestrate_core::graph::TaskGraph;
use orchestrate_core::identifier::{CommitId, TaskId, Unit};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::pull_request::{PullRequestState, PullRequests, TipRelation};
use orchestrate_core::world::{Branches, World};

use super::{Beside, open_tasks};

/// How many units one request asks for.
const MOST_UNITS: usize = 100;

/// Asks for the units whose work git does not show to have landed: a merge may be known to the forge alone.
///
/// Where they are too many for one request, those that are blocked come last, and are asked for only when what the
/// forge said of the others lets them start.
///
/// `beside` asks in the room that is left for units that git shows landed.
pub(super) fn ask(world: &dyn World, graph: &TaskGraph, evidence: &Evidence, beside: Beside) -> Observed<PullRequests> {
    let open = open_tasks(graph, evidence);
    let mut left = units(graph, evidence, |task| open.contains(task));
    let mut landed = match beside {
        Beside::Nobody => BTreeSet::new(),
        Beside::Landed => units(graph, evidence, |task| !open.contains(task)),
        Beside::Kept => kept_by_commits(evidence, &derive(graph, evidence)),
    };
    landed.retain(|unit| !left.contains(unit));
    if left.is_empty() {
        return ask_of_landed(world, evidence, &landed);
    }
    let mut evidence = evidence.clone();
    let mut answer: Option<PullRequests> = None;
    loop {
        // Where there is room for all, none has to wait for what is said of others.
        let blocked = if answer.is_none() && left.len() <= MOST_UNITS {
            BTreeSet::new()
        } else {
            blocked_tasks(graph, &evidence)
        };
        let may_start = |unit: &&Unit| unit.tasks().any(|task| !blocked.contains(task));
        let mut now: BTreeSet<Unit> = left.iter().filter(may_start).take(MOST_UNITS).cloned().collect();
        if now.is_empty() && answer.is_some() {
            break;
        }
        let room = MOST_UNITS - now.len();
        now.extend(left.iter().filter(|unit| !may_start(unit)).take(room).cloned());
        left.retain(|unit| !now.contains(unit));
        let room = MOST_UNITS - now.len();
        let shown: BTreeSet<Unit> = std::mem::take(&mut landed).into_iter().take(room).collect();
        now.extend(shown.iter().cloned());
        let mut more = match world.pull_requests(&evidence.spec, &now) {
            Observed::Known(more) => more,
            other @ (Observed::Absent(_) | Observed::Unknown(_)) => return other,
        };
        set_aside(&mut more, &shown);
        let whole = match answer.take() {
            Some(mut whole) => {
                whole.by_unit.extend(more.by_unit);
                whole.beside.extend(more.beside);
                whole.requests += more.requests;
                whole
            }
            None => more,
        };
        evidence.pull_requests = Observed::Known(with_relations(world, whole.clone(), &evidence.branches));
        answer = Some(whole);
        if left.is_empty() {
            break;
        }
    }
    answer.map_or_else(
        || Observed::Absent(Why::new("the forge was not asked")),
        |mut answer| {
            let why = Why::new("not asked while it is blocked: there are too many units for one request");
            answer
                .by_unit
                .extend(left.into_iter().map(|unit| (unit, Observed::Absent(why.clone()))));
            Observed::Known(answer)
        },
    )
}

/// Asks where no state depends on it. Without an answer nothing is missing but what people would be shown.
fn ask_of_landed(world: &dyn World, evidence: &Evidence, landed: &BTreeSet<Unit>) -> Observed<PullRequests> {
    let needless = "every task has landed, so the forge was not asked";
    let landed: BTreeSet<Unit> = landed.iter().take(MOST_UNITS).cloned().collect();
    if landed.is_empty() {
        return Observed::Absent(Why::new(needless));
    }
    match world.pull_requests(&evidence.spec, &landed) {
        Observed::Known(mut answer) => {
            set_aside(&mut answer, &landed);
            Observed::Known(answer)
        }
        Observed::Absent(why) => Observed::Absent(why),
        Observed::Unknown(why) => Observed::Absent(Why::new(format!(
            "every task has landed, so no answer is needed ({})",
            why.reason
        ))),
    }
}

/// Takes out of the evidence what was asked for people alone.
fn set_aside(answer: &mut PullRequests, shown: &BTreeSet<Unit>) {
    for unit in shown {
        if let Some(Observed::Known(found)) = answer.by_unit.remove(unit) {
            answer.beside.insert(unit.clone(), found);
        }
    }
}

fn units(graph: &TaskGraph, evidence: &Evidence, is_meant: impl Fn(&TaskId) -> bool) -> BTreeSet<Unit> {
    let is_open = |unit: &&Unit| unit.tasks().any(&is_meant);
    let tasks = graph.tasks.iter().map(|task| task.id.clone());
    let mut units: BTreeSet<Unit> = tasks.map(Unit::single).filter(|unit| is_open(&unit)).collect();
    if let Observed::Known(branches) = &evidence.branches {
        units.extend(branches.units().filter(is_open).cloned());
    }
    if let Observed::Known(records) = &evidence.records {
        units.extend(records.keys().filter(is_open).cloned());
    }
    units
}

fn blocked_tasks(graph: &TaskGraph, evidence: &Evidence) -> BTreeSet<TaskId> {
    let state = derive(graph, evidence);
    let is_blocked = |(task, report): (TaskId, orchestrate_core::derive::TaskReport)| {
        matches!(report.state, TaskState::Blocked { .. }).then_some(task)
    };
    state.tasks.into_iter().filter_map(is_blocked).collect()
}

/// Adds how the branches here lie to the heads of merged pull requests.
pub(super) fn with_relations(
    world: &dyn World,
    mut answer: PullRequests,
    branches: &Observed<Branches>,
) -> PullRequests {
    answer.relations.clear();
    let Observed::Known(branches) = branches else {
        return answer;
    };
    for (unit, found) in &answer.by_unit {
        let (Observed::Known(found), Some(branches)) = (found, branches.by_unit.get(unit)) else {
            continue;
        };
        for pull_request in found {
            if matches!(pull_request.state, PullRequestState::Merged(_)) {
                let compare = |facts: &BranchFacts| (facts.side, relation(world, &pull_request.head, &facts.tip));
                let relations = branches.iter().filter(|facts| facts.ahead > 0).map(compare);
                answer.relations.insert(pull_request.number, relations.collect());
            }
        }
    }
    answer
}

fn relation(world: &dyn World, head: &CommitId, tip: &CommitId) -> Observed<TipRelation> {
    match world.contains(head, tip) {
        Observed::Known(true) => Observed::Known(TipRelation::Within),
        Observed::Known(false) => world.contains(tip, head).map(|beyond| {
            if beyond {
                TipRelation::Beyond
            } else {
                TipRelation::Apart
            }
        }),
        Observed::Absent(why) => Observed::Absent(why),
        Observed::Unknown(why) => Observed::Unknown(why),
    }
}
