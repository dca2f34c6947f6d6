//! What must hold between the tasks of a bundle: numbers of their own, dependencies that exist and make no circle.
//!
//! Every check looks at each task and each dependency a fixed number of times, so that ten thousand tasks are no load.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use orchestrate_core::identifier::TaskId;

use crate::BundleFile;
use crate::check::Check;
use crate::diagnostic::{Findings, Spot};
use crate::tasks::{Task, TaskList};

/// Adds a finding for everything that does not hold. In a list that lacks a task nothing can be said about ids that are
/// not in it.
pub(crate) fn check(list: &TaskList, findings: &mut Findings) {
    if !list.is_complete {
        return;
    }
    check_numbers(&list.tasks, findings);
    let positions: BTreeMap<&str, usize> = list
        .tasks
        .iter()
        .enumerate()
        .map(|(position, task)| (task.id.as_str(), position))
        .collect();
    let graph = check_dependencies(&list.tasks, &positions, findings);
    check_circles(&list.tasks, &graph, findings);
}

/// Returns the place of a task's n-th dependency.
fn dependency_spot(task: &Task, index: usize) -> Spot {
    let span = task.dependency_spans.get(index);
    Spot::span(BundleFile::Tasks, span.unwrap_or(&task.id_span).clone())
}

/// Refuses two ids that the anchor's extraction takes for one number.
fn check_numbers(tasks: &[Task], findings: &mut Findings) {
    // Ids that share a number stand side by side.
    let mut sorted: Vec<&Task> = tasks.iter().collect();
    sorted.sort_by(|left, right| left.id.cmp(&right.id).then(left.line.cmp(&right.line)));
    for pair in sorted.windows(2) {
        let [left, right] = pair else { continue };
        if left.id == right.id || !left.id.same_sort_key(&right.id) {
            continue;
        }
        let (first, second) = if left.line <= right.line {
            (left, right)
        } else {
            (right, left)
        };
        let message = format!(
            "task {} has the same number as task {} at line {}",
            second.id, first.id, first.line
        );
        findings.add(
            Check::TaskNumber,
            Spot::span(BundleFile::Tasks, second.id_span.clone()),
            message,
            "give it a number of its own: `7` and `007`, or `2` and `2.0`, are one number",
        );
    }
}

/// Returns for each task the positions of the other tasks that it depends on. What it cannot depend on is a finding.
fn check_dependencies(tasks: &[Task], positions: &BTreeMap<&str, usize>, findings: &mut Findings) -> Vec<Vec<usize>> {
    // Ids by number are looked up only for the help of a finding.
    let by_number: LazyCell<BTreeSet<&TaskId>, _> = LazyCell::new(|| tasks.iter().map(|task| &task.id).collect());
    let mut graph = vec![Vec::new(); tasks.len()];
    for (task, known) in tasks.iter().zip(&mut graph) {
        for (index, dependency) in task.dependencies.iter().enumerate() {
            if *dependency == task.id {
                let message = format!("task {} depends on itself", task.id);
                findings.add(
                    Check::DependencySelf,
                    dependency_spot(task, index),
                    message,
                    "delete the id",
                );
            } else if let Some(position) = positions.get(dependency.as_str()) {
                known.push(*position);
            } else {
                let message = format!("task {} depends on task {dependency}, which does not exist", task.id);
                let help = same_number(dependency, &by_number).map_or_else(
                    || "name a task of this bundle, or `none`".to_owned(),
                    |meant| format!("write `{meant}`"),
                );
                findings.add(Check::DependencyDangling, dependency_spot(task, index), message, &help);
            }
        }
    }
    graph
}

/// Returns a task whose id is the same number, written otherwise: in the order of ids it stands right beside.
fn same_number<'a>(id: &TaskId, ids: &BTreeSet<&'a TaskId>) -> Option<&'a TaskId> {
    let before = ids.range::<TaskId, _>(..id).next_back();
    let after = ids.range::<TaskId, _>(id..).next();
    [before, after]
        .into_iter()
        .flatten()
        .find(|other| other.same_sort_key(id))
        .copied()
}

fn check_circles(tasks: &[Task], graph: &[Vec<usize>], findings: &mut Findings) {
    let (waiting, _) = waiting_for_each_other(graph);
    let Some(start) = waiting.iter().position(|is_waiting| *is_waiting) else {
        return;
    };
    let circle = walk(start, graph, &waiting);
    let named: Vec<&Task> = circle.iter().filter_map(|position| tasks.get(*position)).collect();
    let Some(first) = named.first() else { return };
    let names: Vec<&str> = named.iter().chain(named.first()).map(|task| task.id.as_str()).collect();
    let next = names.get(1).copied().unwrap_or_default();
    let index = first.dependencies.iter().position(|other| other.as_str() == next);
    findings.add(
        Check::DependencyCircle,
        dependency_spot(first, index.unwrap_or_default()),
        format!("tasks depend on each other in a circle: {}", shortened(&names)),
        "delete one of these dependencies",
    );
}

/// Returns the tasks in the order of the circle, of a long one the start and the end.
fn shortened(names: &[&str]) -> String {
    const SHOWN: usize = 12;
    match names {
        [start @ .., last] if start.len() > SHOWN => {
            let shown: Vec<&str> = start.iter().copied().take(SHOWN).collect();
            format!("{} → … → {last} ({} tasks)", shown.join(" → "), start.len())
        }
        short => short.join(" → "),
    }
}

/// Returns which tasks are in a circle or wait for one, and how many tasks and dependencies were looked at.
///
/// Tasks that wait for nothing are taken away, then those that waited for these alone, and so on.
fn waiting_for_each_other(graph: &[Vec<usize>]) -> (Vec<bool>, usize) {
    let mut looked_at = 0;
    let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); graph.len()];
    let mut open: Vec<usize> = graph.iter().map(Vec::len).collect();
    for (position, dependencies) in graph.iter().enumerate() {
        looked_at += 1 + dependencies.len();
        for dependency in dependencies {
            if let Some(dependents) = dependents.get_mut(*dependency) {
                dependents.push(position);
            }
        }
    }
    let mut waiting = vec![true; graph.len()];
    let is_free = |(position, open): (usize, &usize)| (*open == 0).then_some(position);
    let mut free: Vec<usize> = open.iter().enumerate().filter_map(is_free).collect();
    while let Some(position) = free.pop() {
        looked_at += 1;
        if let Some(waiting) = waiting.get_mut(position) {
            *waiting = false;
        }
        for dependent in dependents.get(position).map_or(&[][..], Vec::as_slice) {
            looked_at += 1;
            if let Some(open) = open.get_mut(*dependent) {
                *open = open.saturating_sub(1);
                if *open == 0 {
                    free.push(*dependent);
                }
            }
        }
    }
    (waiting, looked_at)
}

/// Follows dependencies among waiting tasks until a task comes again, and returns the tasks of that circle.
fn walk(start: usize, graph: &[Vec<usize>], waiting: &[bool]) -> Vec<usize> {
    let mut path = vec![start];
    let mut places: BTreeMap<usize, usize> = BTreeMap::from([(start, 0)]);
    let mut here = start;
    while let Some(next) = graph.get(here).and_then(|dependencies| {
        let is_waiting = |other: &&usize| waiting.get(**other).copied().unwrap_or(false);
        dependencies.iter().find(is_waiting).copied()
    }) {
        if let Some(place) = places.get(&next) {
            return path.split_off(*place);
        }
        places.insert(next, path.len());
        path.push(next);
        here = next;
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The plainest meaning: a task waits for ever when one of its dependencies does, or is on the way to it.
    fn reaches(graph: &[Vec<usize>], from: usize, to: usize, seen: &mut Vec<usize>) -> bool {
        graph[from].iter().any(|next| {
            if *next == to {
                return true;
            }
            if seen.contains(next) {
                return false;
            }
            seen.push(*next);
            reaches(graph, *next, to, seen)
        })
    }

    fn model(graph: &[Vec<usize>]) -> Vec<bool> {
        let in_circle: Vec<bool> = (0..graph.len())
            .map(|task| reaches(graph, task, task, &mut Vec::new()))
            .collect();
        (0..graph.len())
            .map(|task| {
                in_circle[task]
                    || (0..graph.len()).any(|other| in_circle[other] && reaches(graph, task, other, &mut Vec::new()))
            })
            .collect()
    }

    proptest! {
        #[test]
        fn circles_match_the_model(edges in proptest::collection::vec((0_usize..7, 0_usize..7), 0..16)) {
            let mut graph = vec![Vec::new(); 7];
            for (from, to) in edges {
                if from != to && !graph[from].contains(&to) {
                    graph[from].push(to);
                }
            }
            let (waiting, looked_at) = waiting_for_each_other(&graph);
            prop_assert_eq!(&waiting, &model(&graph));
            let size = graph.len() + graph.iter().map(Vec::len).sum::<usize>();
            prop_assert!(looked_at <= 2 * size);
            if let Some(start) = waiting.iter().position(|waiting| *waiting) {
                let circle = walk(start, &graph, &waiting);
                for (position, task) in circle.iter().enumerate() {
                    let next = circle[(position + 1) % circle.len()];
                    prop_assert!(graph[*task].contains(&next), "{:?}", circle);
                }
            }
        }
    }

    #[test]
    fn ten_thousand_tasks_are_looked_at_a_fixed_number_of_times() {
        // Each depends on up to sixty before it; then the same with the last in a circle with the first.
        let mut graph: Vec<Vec<usize>> = (0..10_000_usize)
            .map(|task| (task.saturating_sub(60)..task).collect())
            .collect();
        let size = |graph: &[Vec<usize>]| graph.len() + graph.iter().map(Vec::len).sum::<usize>();
        let (waiting, looked_at) = waiting_for_each_other(&graph);
        assert!(!waiting.contains(&true));
        assert!(looked_at <= 2 * size(&graph), "{looked_at}");
        graph[0].push(9_999);
        let (waiting, looked_at) = waiting_for_each_other(&graph);
        assert!(!waiting.contains(&false));
        assert!(looked_at <= 2 * size(&graph), "{looked_at}");
        assert!(walk(0, &graph, &waiting).len() > 1);
    }

    #[test]
    fn long_circles_are_shown_in_part() {
        let names: Vec<String> = (1..=15).map(|number| number.to_string()).collect();
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.push("1");
        assert_eq!(
            shortened(&names),
            "1 → 2 → 3 → 4 → 5 → 6 → 7 → 8 → 9 → 10 → 11 → 12 → … → 1 (15 tasks)"
        );
    }
}
