//! Comparing branches with base by what they change: the dearest look, for what nothing else tells.

use std::collections::BTreeMap;

use orchestrate_core::content::{self, Content};
use orchestrate_core::evidence::{BranchFacts, Evidence, Lease};
use orchestrate_core::graph::TaskGraph;
use orchestrate_core::identifier::{Unit, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::pull_request::PullRequestState;
use orchestrate_core::world::{WorktreeFacts, World};

use super::open_tasks;

/// Compares by content what nothing cheaper tells: branches with commits of their own that nobody works on.
pub(super) fn compare(world: &dyn World, graph: &TaskGraph, evidence: &Evidence) -> BTreeMap<Unit, Observed<Content>> {
    let open = open_tasks(graph, evidence);
    let Observed::Known(branches) = &evidence.branches else {
        return BTreeMap::new();
    };
    let compare = |(unit, branches): (&Unit, &Vec<BranchFacts>)| {
        let facts = content::comparable(branches)?;
        if !unit.tasks().any(|task| open.contains(task)) {
            return None;
        }
        let content = match at_rest(world, evidence, unit) {
            Ok(()) => world.content(&facts.tip, &evidence.base),
            Err(why) => Observed::Absent(why),
        };
        Some((unit.clone(), content))
    };
    branches.by_unit.iter().filter_map(compare).collect()
}

/// Returns why more may come from a unit: then what is on base is not asked for.
fn at_rest(world: &dyn World, evidence: &Evidence, unit: &Unit) -> Result<(), Why> {
    let lease = match &evidence.leases {
        Observed::Known(leases) => leases.get(unit),
        Observed::Absent(_) => None,
        Observed::Unknown(why) => return Err(why.clone()),
    };
    match lease {
        Some(Observed::Known(Lease::Held { .. })) => return Err(Why::new("a worker is at work")),
        Some(Observed::Unknown(why)) => return Err(why.clone()),
        Some(Observed::Known(Lease::Free) | Observed::Absent(_)) | None => {}
    }
    if has_open_pull_request(evidence, unit) {
        return Err(Why::new("its pull request is open"));
    }
    let name = UnitName {
        spec: evidence.spec.clone(),
        unit: unit.clone(),
    };
    match world.worktree(&name) {
        Observed::Known(WorktreeFacts::Free) => Ok(()),
        Observed::Known(WorktreeFacts::Ours(worktree)) => match &worktree.changes {
            Observed::Known(changes) if changes.is_empty() => Ok(()),
            Observed::Known(_) => Err(Why::new("its worktree holds uncommitted work")),
            Observed::Absent(why) | Observed::Unknown(why) => Err(why.clone()),
        },
        Observed::Known(WorktreeFacts::BranchElsewhere { path }) => {
            Err(Why::new(format!("its branch is checked out at {path}")))
        }
        Observed::Known(WorktreeFacts::Strayed { path, .. }) => Err(Why::new(format!("{path} is not on its branch"))),
        Observed::Known(WorktreeFacts::Taken { by }) => Err(Why::new(by)),
        Observed::Absent(why) | Observed::Unknown(why) => Err(why),
    }
}

fn has_open_pull_request(evidence: &Evidence, unit: &Unit) -> bool {
    let Observed::Known(answer) = &evidence.pull_requests else {
        return false;
    };
    let Some(Observed::Known(found)) = answer.by_unit.get(unit) else {
        return false;
    };
    found
        .iter()
        .any(|one| matches!(one.state, PullRequestState::Open { .. }))
}
