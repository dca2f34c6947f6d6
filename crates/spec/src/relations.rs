//! What must hold between the tasks of a bundle: unique ids, dependencies that exist and make no circle.

use std::collections::{BTreeMap, BTreeSet};

use orchestrate_core::identifier::TaskId;

use crate::BundleFile;
use crate::diagnostic::Findings;
use crate::tasks::{Task, TaskList};

/// Adds a finding for everything that does not hold. In a list that lacks a task nothing can be said about ids that are
/// not in it.
pub(crate) fn check(list: &TaskList, findings: &mut Findings<'_>) {
    if !list.is_complete {
        return;
    }
    check_ids(&list.tasks, findings);
    check_dependencies(&list.tasks, findings);
    check_circles(&list.tasks, findings);
    check_parked(list, findings);
}

fn check_ids(tasks: &[Task], findings: &mut Findings<'_>) {
    // Ids that share a number stand side by side; of the same number the earlier line is the first.
    let mut sorted: Vec<&Task> = tasks.iter().collect();
    sorted.sort_by(|left, right| left.id.cmp(&right.id).then(left.line.cmp(&right.line)));
    for pair in sorted.windows(2) {
        let [left, right] = pair else { continue };
        if !left.id.same_sort_key(&right.id) {
            continue;
        }
        let (first, second) = if left.line <= right.line {
            (left, right)
        } else {
            (right, left)
        };
        let place = (BundleFile::Tasks, Some(second.line));
        if first.id == second.id {
            let message = format!("task {} is defined a second time, after line {}", second.id, first.line);
            findings.add("task-duplicate", place, message, "give it an id of its own");
        } else {
            let message = format!(
                "task {} has the same number as task {} at line {}",
                second.id, first.id, first.line
            );
            findings.add(
                "task-duplicate",
                place,
                message,
                "give it a number of its own: `7` and `007`, or `2` and `2.0`, are one number",
            );
        }
    }
}

fn check_dependencies(tasks: &[Task], findings: &mut Findings<'_>) {
    let known: BTreeSet<&TaskId> = tasks.iter().map(|task| &task.id).collect();
    for task in tasks {
        let place = (BundleFile::Tasks, Some(task.dependencies_line));
        for dependency in &task.dependencies {
            if *dependency == task.id {
                findings.add(
                    "dependency-self",
                    place,
                    format!("task {} depends on itself", task.id),
                    "delete the id",
                );
            } else if !known.contains(dependency) {
                let message = format!("task {} depends on task {dependency}, which does not exist", task.id);
                let meant = known.iter().find(|other| other.same_sort_key(dependency));
                let help = meant.map_or_else(
                    || "name a task of this bundle, or `none`".to_owned(),
                    |meant| format!("write `{meant}`"),
                );
                findings.add("dependency-dangling", place, message, &help);
            }
        }
    }
}

fn check_circles(tasks: &[Task], findings: &mut Findings<'_>) {
    let mut waiting: BTreeMap<&TaskId, &Task> = tasks.iter().map(|task| (&task.id, task)).collect();
    // Tasks that wait for nothing in the map leave it, until only circles and what waits for them are left.
    loop {
        let is_free = |task: &Task| {
            !task
                .dependencies
                .iter()
                .any(|other| other != &task.id && waiting.contains_key(other))
        };
        let free: Vec<&TaskId> = waiting
            .values()
            .filter(|task| is_free(task))
            .map(|task| &task.id)
            .collect();
        if free.is_empty() {
            break;
        }
        for id in free {
            waiting.remove(id);
        }
    }
    let Some(start) = tasks.iter().find(|task| waiting.contains_key(&task.id)) else {
        return;
    };
    let circle = walk(start, &waiting);
    let names: Vec<String> = circle
        .iter()
        .chain(circle.first())
        .map(|task| task.id.to_string())
        .collect();
    let line = circle.first().map(|task| task.dependencies_line);
    let message = format!("tasks depend on each other in a circle: {}", names.join(" → "));
    findings.add(
        "dependency-circle",
        (BundleFile::Tasks, line),
        message,
        "delete one of these dependencies",
    );
}

/// Follows dependencies inside the map until a task comes again, and returns the tasks of that circle.
fn walk<'a>(start: &'a Task, waiting: &BTreeMap<&'a TaskId, &'a Task>) -> Vec<&'a Task> {
    let mut path: Vec<&Task> = vec![start];
    let mut positions: BTreeMap<&TaskId, usize> = BTreeMap::from([(&start.id, 0)]);
    let mut here = start;
    while let Some(next) = here
        .dependencies
        .iter()
        .filter(|other| **other != here.id)
        .find_map(|other| waiting.get(other).copied())
    {
        if let Some(position) = positions.get(&next.id) {
            return path.split_off(*position);
        }
        positions.insert(&next.id, path.len());
        path.push(next);
        here = next;
    }
    path
}

fn check_parked(list: &TaskList, findings: &mut Findings<'_>) {
    let known: BTreeSet<&TaskId> = list.tasks.iter().map(|task| &task.id).collect();
    let mut seen: BTreeMap<&TaskId, u32> = BTreeMap::new();
    for reference in &list.parked {
        let place = (BundleFile::Tasks, Some(reference.line));
        if !known.contains(&reference.task) {
            let message = format!("reference bullet names task {}, which does not exist", reference.task);
            findings.add("reference-bullet", place, message, "name a task under `## Tasks`");
        }
        if let Some(first) = seen.insert(&reference.task, reference.line) {
            let message = format!(
                "task {} is named by a second reference bullet, after line {first}",
                reference.task
            );
            findings.add(
                "reference-bullet",
                place,
                message,
                "keep one bullet for each parked task",
            );
        }
    }
}
